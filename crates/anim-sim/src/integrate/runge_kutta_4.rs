//! The classical Runge-Kutta method. Fourth order, four evaluations a step.
//!
//! For smooth motion over short times, and where a reference is wanted. It is not symplectic: over many periods energy
//! drains, by a part proportional to Δt⁵ in each.
//!
//! Source: Kutta, "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen", 1901.

use super::stages::Stages;
use super::{Integrator, Motion, System, begins, one_step};
use crate::Outcome;

/// y′ = y + Δt/6·(k₁ + 2k₂ + 2k₃ + k₄).
#[derive(Clone, Debug, Default)]
pub struct RungeKutta4 {
    stages: Stages<4>,
}

/// Where each stage is taken: the part of the step, and the weights of the slopes before it.
const STAGES: [(f64, &[f64]); 4] = [
    (0.0, &[]),
    (0.5, &[0.5]),
    (0.5, &[0.0, 0.5]),
    (1.0, &[0.0, 0.0, 1.0]),
];

const WEIGHTS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

impl Integrator for RungeKutta4 {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        for (stage, (node, weights)) in STAGES.into_iter().enumerate() {
            self.stages.aim(motion, dt, node, weights);
            self.stages.evaluate(system, stage);
        }
        self.stages.aim(motion, dt, 1.0, &WEIGHTS);
        std::mem::swap(motion, &mut self.stages.trial);
        one_step()
    }
}
