//! Explicit Euler: the slope of now, all along the step. First order.
//!
//! Undamped, it is unstable for *every* step: an oscillation of frequency ω grows by |1 + iωΔt| = √(1 + ω²Δt²) a step.
//! Only damping makes it stable: a spring of stiffness k and damping c with Δt < c/k while it oscillates, pure drag k_d with
//! Δt < 2m/k_d. It is here to be compared with.

use anim_math::ode;

use super::{DVec3, Integrator, Motion, System, begins, one_step};
use crate::Outcome;

/// x′ = x + Δt·v, v′ = v + Δt·a(x, v).
#[derive(Clone, Debug, Default)]
pub struct ExplicitEuler {
    accelerations: Vec<DVec3>,
}

impl Integrator for ExplicitEuler {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        self.accelerations
            .resize(system.vertex_count(), DVec3::zeros());
        system.accelerations(motion, &mut self.accelerations);
        let Motion {
            time,
            positions,
            velocities,
        } = motion;
        for ((x, v), a) in positions
            .iter_mut()
            .zip(velocities)
            .zip(&self.accelerations)
        {
            (*x, *v) = ode::explicit_euler((*x, *v), *time, dt, |_, (_, v)| (v, *a));
        }
        *time += dt;
        one_step()
    }
}
