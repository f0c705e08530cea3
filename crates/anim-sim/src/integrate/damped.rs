//! Any integrator with drag that is exact for steps of any length.
//!
//! Drag as a force is one more stiff term: explicit steps with it are unstable from Δt = 2/rate on. Here the velocity falls
//! by e^(−rate·Δt/2) before and after the step of the integrator inside: exact alone, second order beside other forces, and
//! equilibria stay where they are.
//!
//! Source: Strang, "On the construction and comparison of difference schemes", SIAM J. Numer. Anal. 1968.

use super::{Integrator, Motion, System, begins};
use crate::Outcome;

/// Takes velocity from all particles that are not held.
#[derive(Clone, Debug, Default)]
pub struct Damped<I> {
    /// Part of the velocity that is lost in a short while, over that while, 1/s.
    pub rate: f64,
    /// What moves the particles.
    pub inner: I,
}

impl<I: Integrator> Integrator for Damped<I> {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        let factor = libm::exp(-0.5 * self.rate * dt);
        let slow = |motion: &mut Motion| {
            let moving = motion.velocities.iter_mut().zip(system.inverse_masses());
            for (v, _) in moving.filter(|(_, inverse_mass)| **inverse_mass > 0.0) {
                *v *= factor;
            }
        };
        slow(motion);
        let outcome = self.inner.step(system, dt, motion);
        slow(motion);
        outcome
    }
}
