//! Newton's method for the one equation that all implicit integrators here are made of.
//!
//! Find the velocity u after a step of h from a base (x̂, v̂):
//!
//! ```text
//! M·(u − v̂) = h·f(t′, x̂ + h·u, u)
//! ```
//!
//! Implicit Euler takes the present as its base; the midpoint rule is a half step of that and BDF2 another base. Each
//! iteration solves a linear system in the exact Jacobian. Where that is not positive definite (squeezed springs, long
//! steps) it solves with the definite one instead, and where a full step overshoots it takes a part of it, so that long
//! steps through strong bends converge too.
//!
//! Source: Baraff, Witkin, "Large steps in cloth simulation", SIGGRAPH 1998, section 3; Nocedal, Wright, "Numerical
//! Optimization", sections 3.1 and 3.4.

#[cfg(feature = "solve")]
use anim_geom::sparse::Cholesky;

use super::conjugate_gradients::{ConjugateGradients, dot};
use super::{DVec3, Jacobian, Motion, System};
use crate::Outcome;

/// How implicit integrators solve their equations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonOptions {
    /// Done when an iteration moves no particle farther than this, m.
    pub tolerance: f64,
    /// Iterations of one step, at most. What is left when they are used up is in the [`Outcome`].
    pub max_iterations: u32,
    /// For the linear system of each iteration.
    pub linear: LinearSolve,
}

impl Default for NewtonOptions {
    /// To rounding, and that is a few iterations.
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            max_iterations: 50,
            linear: LinearSolve::default(),
        }
    }
}

/// How to solve a sparse symmetric system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinearSolve {
    /// Iterations that only multiply with the matrix: for short steps and soft bodies.
    #[default]
    ConjugateGradients,
    /// A factorisation, analysed once: for stiff bodies and long steps, such as the way to a static equilibrium.
    #[cfg(feature = "solve")]
    Cholesky,
}

/// The smallest part of a Newton step that is tried.
const SMALLEST_PART: f64 = 1.0 / 64.0;

/// What the method works with.
#[derive(Debug, Default)]
pub(super) struct Newton {
    pub(super) options: NewtonOptions,
    /// The base before, the solution after [`solve`](Self::solve).
    pub(super) motion: Motion,
    base: Motion,
    /// h·f − M·(u − v̂), N·s.
    lack: Vec<DVec3>,
    change: Vec<DVec3>,
    before: Vec<DVec3>,
    jacobian: Jacobian,
    gradients: ConjugateGradients,
    #[cfg(feature = "solve")]
    factor: Option<Factor>,
}

/// A factorisation and the places of the entries that it was analysed for.
#[cfg(feature = "solve")]
#[derive(Debug)]
struct Factor {
    cholesky: Cholesky,
    places: Vec<(u32, u32)>,
}

impl Newton {
    pub(super) fn new(options: NewtonOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    /// Solves for the end of a step of `h` from the base that stands in `motion`, whose time is that of the end.
    pub(super) fn solve(&mut self, system: &System, h: f64) -> Outcome {
        self.base.copy_from(&self.motion);
        let mut outcome = Outcome::default();
        self.evaluate(system, h);
        while outcome.iterations < self.options.max_iterations {
            outcome.iterations += 1;
            if !(self.find_change(system, h, false) || self.find_change(system, h, true)) {
                outcome.residual = f32::INFINITY;
                break;
            }
            let norms = self.change.iter().map(|change| change.norm());
            let farthest = h.abs() * norms.fold(0.0, f64::max);
            self.before.clone_from(&self.motion.velocities);
            self.advance(1.0);
            if farthest <= self.options.tolerance {
                self.place(h);
                outcome.residual = farthest as f32;
                break;
            }
            // How much is missing along the step, before and after a part of it. Where forces have an energy it is the slope
            // that the step goes down, and one that has turned up again says that it went too far.
            let missing = dot(&self.lack, &self.change);
            let mut part = 1.0;
            self.evaluate(system, h);
            while !is_far_enough(dot(&self.lack, &self.change), missing) && part > SMALLEST_PART {
                part *= 0.5;
                self.advance(part);
                self.evaluate(system, h);
            }
            outcome.residual = (part * farthest) as f32;
        }
        outcome
    }

    /// The velocities of `part` of the way that the iteration found.
    fn advance(&mut self, part: f64) {
        let all = self.motion.velocities.iter_mut().zip(&self.before);
        for ((velocity, before), change) in all.zip(&self.change) {
            *velocity = before + part * change;
        }
    }

    /// x = x̂ + h·u.
    fn place(&mut self, h: f64) {
        let all = self.motion.positions.iter_mut().zip(&self.base.positions);
        for ((x, base), velocity) in all.zip(&self.motion.velocities) {
            *x = base + h * velocity;
        }
    }

    /// Finds what the equation lacks.
    fn evaluate(&mut self, system: &System, h: f64) {
        self.place(h);
        self.lack.resize(system.vertex_count(), DVec3::zeros());
        system.accelerations(&self.motion, &mut self.lack);
        let velocities = self.motion.velocities.iter().zip(&self.base.velocities);
        let all = self.lack.iter_mut().zip(velocities);
        for ((lack, (velocity, base)), inverse_mass) in all.zip(system.inverse_masses()) {
            let missing = h * *lack - (velocity - base);
            // Held particles keep their velocity, which the base has.
            *lack = if *inverse_mass > 0.0 {
                missing / *inverse_mass
            } else {
                DVec3::zeros()
            };
        }
    }

    /// The Newton step; false if the matrix is not positive definite.
    fn find_change(&mut self, system: &System, h: f64, is_definite: bool) -> bool {
        let jacobian = &mut self.jacobian;
        jacobian.reset(system.inverse_masses(), h, is_definite);
        for force in system.forces() {
            force.add_jacobian(&self.motion, jacobian);
        }
        self.change.clone_from(&self.lack);
        match self.options.linear {
            LinearSolve::ConjugateGradients => {
                self.gradients.solve(&self.jacobian, &mut self.change)
            }
            #[cfg(feature = "solve")]
            LinearSolve::Cholesky => self.solve_directly(),
        }
    }

    #[cfg(feature = "solve")]
    fn solve_directly(&mut self) -> bool {
        let places = self
            .jacobian
            .triplets()
            .map(|(row, column, _)| (row, column));
        let known = self.factor.take();
        let known = known.filter(|factor| places.eq(factor.places.iter().copied()));
        let values = self.jacobian.triplets().map(|(_, _, value)| value);
        let factor = match known {
            Some(mut factor) => {
                let values: Vec<f64> = values.collect();
                let is_done = factor.cholesky.refactor(&values).is_ok();
                self.factor = Some(factor);
                self.factor.as_ref().filter(|_| is_done)
            }
            None => {
                let lower: Vec<_> = self.jacobian.triplets().collect();
                self.factor = Cholesky::new(3 * self.change.len(), &lower)
                    .ok()
                    .map(|cholesky| Factor {
                        cholesky,
                        places: lower
                            .iter()
                            .map(|(row, column, _)| (*row, *column))
                            .collect(),
                    });
                self.factor.as_ref()
            }
        };
        let Some(factor) = factor else {
            return false;
        };
        let mut columns: Vec<f64> = self.change.iter().flat_map(|v| v.iter().copied()).collect();
        factor.cholesky.solve_in_place(&mut columns);
        for (change, column) in self.change.iter_mut().zip(columns.chunks_exact(3)) {
            *change = DVec3::from_column_slice(column);
        }
        true
    }
}

/// True unless the slope has turned up again almost as steeply as it went down, or is no number.
fn is_far_enough(now: f64, before: f64) -> bool {
    now >= -0.9 * before
}
