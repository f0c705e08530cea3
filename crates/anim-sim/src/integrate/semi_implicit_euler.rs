//! Semi-implicit Euler: first the velocity, then the position with it. First order, symplectic.
//!
//! The same cost as explicit Euler, and the energy of undamped springs stays within bounds for Δt < 2/ω, where ω is the
//! highest frequency of the system: √(2k/m) for two equal masses on one spring, below √(8k/m) in a square grid of them.

use anim_math::ode;

use super::{DVec3, Integrator, Motion, System, begins, one_step};
use crate::Outcome;

/// v′ = v + Δt·a(x, v), x′ = x + Δt·v′.
#[derive(Clone, Debug, Default)]
pub struct SemiImplicitEuler {
    accelerations: Vec<DVec3>,
}

impl Integrator for SemiImplicitEuler {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        self.accelerations
            .resize(system.vertex_count(), DVec3::zeros());
        system.accelerations(motion, &mut self.accelerations);
        let moving = motion.positions.iter_mut().zip(&mut motion.velocities);
        for ((x, v), a) in moving.zip(&self.accelerations) {
            (*x, *v) = ode::semi_implicit_euler(*x, *v, dt, |_, _| *a);
        }
        motion.time += dt;
        one_step()
    }
}
