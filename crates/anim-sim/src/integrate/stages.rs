//! The stages of a Runge-Kutta method: slopes at trial moments within the step, weighted by a table.

use super::{DVec3, Motion, System};

/// The slopes of up to `N` stages, and the trial that the next one is taken at.
#[derive(Clone, Debug)]
pub(super) struct Stages<const N: usize> {
    pub(super) trial: Motion,
    pub(super) slopes: [Slope; N],
}

/// The derivatives of positions and velocities.
#[derive(Clone, Debug, Default)]
pub(super) struct Slope {
    pub(super) velocities: Vec<DVec3>,
    pub(super) accelerations: Vec<DVec3>,
}

impl<const N: usize> Default for Stages<N> {
    fn default() -> Self {
        Self {
            trial: Motion::default(),
            slopes: std::array::from_fn(|_| Slope::default()),
        }
    }
}

impl<const N: usize> Stages<N> {
    /// Puts the trial at `motion` + `dt`·Σ `weights`ᵢ·slopeᵢ, at time + `node`·`dt`.
    pub(super) fn aim(&mut self, motion: &Motion, dt: f64, node: f64, weights: &[f64]) {
        self.trial.copy_from(motion);
        self.trial.time += node * dt;
        for (weight, slope) in weights.iter().zip(&self.slopes) {
            if *weight != 0.0 {
                let part = dt * weight;
                add_scaled(&mut self.trial.positions, part, &slope.velocities);
                add_scaled(&mut self.trial.velocities, part, &slope.accelerations);
            }
        }
    }

    /// Finds the slope of `stage` at the trial.
    pub(super) fn evaluate(&mut self, system: &System, stage: usize) {
        let slope = &mut self.slopes[stage];
        slope.velocities.clone_from(&self.trial.velocities);
        slope
            .accelerations
            .resize(system.vertex_count(), DVec3::zeros());
        system.accelerations(&self.trial, &mut slope.accelerations);
    }
}

fn add_scaled(to: &mut [DVec3], factor: f64, what: &[DVec3]) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += factor * what;
    }
}
