//! The backward differentiation formula of second order: the slope of the end, and a look back. Stable for any step.
//!
//! As robust as implicit Euler and far less lossy: an oscillation of frequency ω loses a part of about (ωΔt)⁴/4 of its
//! amplitude a step, and stiff modes still die at once. Steps may vary; the first one, and the first after a
//! jump, is implicit Euler's.
//!
//! Source: Choi, Ko, "Stable but responsive cloth", SIGGRAPH 2002, eq. 14; for varying steps Hairer, Nørsett, Wanner,
//! "Solving Ordinary Differential Equations I", section III.5.

use super::newton::Newton;
use super::{Integrator, Motion, NewtonOptions, System, begins};
use crate::Outcome;

/// y′ = (1 + ω)²/(1 + 2ω)·y − ω²/(1 + 2ω)·y₋ + (1 + ω)/(1 + 2ω)·Δt·f(y′), where ω = Δt/Δt₋.
#[derive(Debug, Default)]
pub struct Bdf2 {
    newton: Newton,
    /// Where the last step began and where it ended.
    previous: Motion,
    left: Motion,
}

impl Bdf2 {
    /// With other options for its equations.
    pub fn new(options: NewtonOptions) -> Self {
        Self {
            newton: Newton::new(options),
            ..Self::default()
        }
    }
}

impl Integrator for Bdf2 {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        let base = &mut self.newton.motion;
        base.copy_from(motion);
        base.time += dt;
        let mut h = dt;
        if self.left == *motion {
            let omega = dt / (motion.time - self.previous.time);
            let back = omega * omega / (1.0 + 2.0 * omega);
            h = dt * (1.0 + omega) / (1.0 + 2.0 * omega);
            let before = self
                .previous
                .positions
                .iter()
                .zip(&self.previous.velocities);
            let bases = base.positions.iter_mut().zip(&mut base.velocities);
            for ((x, v), (x_before, v_before)) in bases.zip(before) {
                *x += back * (*x - x_before);
                *v += back * (*v - v_before);
            }
        }
        let outcome = self.newton.solve(system, h);
        self.previous.copy_from(motion);
        motion.copy_from(&self.newton.motion);
        self.left.copy_from(motion);
        outcome
    }
}
