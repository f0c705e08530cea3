//! Any integrator in equal parts of each step.

use super::{Integrator, Motion, System, begins};
use crate::Outcome;

/// Divides each step into `count` of the integrator inside.
///
/// The [`Outcome`] has the sum of the iterations and the largest residual.
#[derive(Clone, Debug, Default)]
pub struct Substeps<I> {
    /// 0 does nothing at all.
    pub count: u32,
    /// What moves the particles.
    pub inner: I,
}

impl<I: Integrator> Integrator for Substeps<I> {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        let mut outcome = Outcome::default();
        if !begins(system, dt, motion) {
            return outcome;
        }
        for _ in 0..self.count {
            let part = self.inner.step(system, dt / f64::from(self.count), motion);
            outcome.iterations += part.iterations;
            outcome.residual = outcome.residual.max(part.residual);
        }
        outcome
    }
}
