//! Implicit Euler: the slope of the end, all along the step. First order, stable for any step.
//!
//! What it cannot follow it stops: an oscillation of frequency ω shrinks by 1/√(1 + ω²Δt²) a step, whatever the material
//! says. That makes it the robust choice for stiff cloth and soft bodies, and with long steps the way to a static
//! equilibrium.

use super::newton::Newton;
use super::{Integrator, Motion, NewtonOptions, System, begins};
use crate::Outcome;

/// x′ = x + Δt·v′, v′ = v + Δt·a(x′, v′).
#[derive(Debug, Default)]
pub struct ImplicitEuler {
    newton: Newton,
}

impl ImplicitEuler {
    /// With other options for its equations.
    pub fn new(options: NewtonOptions) -> Self {
        Self {
            newton: Newton::new(options),
        }
    }
}

impl Integrator for ImplicitEuler {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        self.newton.motion.copy_from(motion);
        self.newton.motion.time += dt;
        let outcome = self.newton.solve(system, dt);
        motion.copy_from(&self.newton.motion);
        outcome
    }
}
