//! The implicit midpoint rule: the slope of the middle, all along the step. Second order, symplectic, stable for any step.
//!
//! It keeps the energy of linear springs exactly and that of others within bounds, and it damps nothing: what it cannot
//! follow rings at the wrong frequency for ever. Bodies with some damping of their own look livelier in it than in
//! [`ImplicitEuler`](super::ImplicitEuler).
//!
//! Source: Hairer, Lubich, Wanner, "Geometric Numerical Integration", sections IV.2.1 and VI.4.

use super::newton::Newton;
use super::{Integrator, Motion, NewtonOptions, System, begins};
use crate::Outcome;

/// Half a step of implicit Euler to the middle, then as far again along the slope found there.
#[derive(Debug, Default)]
pub struct ImplicitMidpoint {
    newton: Newton,
}

impl ImplicitMidpoint {
    /// With other options for its equations.
    pub fn new(options: NewtonOptions) -> Self {
        Self {
            newton: Newton::new(options),
        }
    }
}

impl Integrator for ImplicitMidpoint {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        self.newton.motion.copy_from(motion);
        self.newton.motion.time += 0.5 * dt;
        let outcome = self.newton.solve(system, 0.5 * dt);
        let moving = motion.positions.iter_mut().zip(&mut motion.velocities);
        for ((x, v), middle) in moving.zip(&self.newton.motion.velocities) {
            *x += dt * middle;
            *v = 2.0 * middle - *v;
        }
        motion.time += dt;
        outcome
    }
}
