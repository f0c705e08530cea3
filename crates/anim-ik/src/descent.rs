//! What every solver of this crate shares: a checked start, the best iterate, the report, and the plain descent loop.

use anim_math::nalgebra::Isometry3;
use anim_math::random::Random;

use crate::rows::Rows;
use crate::system::System;
use crate::{Configuration, IkProblem, IkReport, IkStatus};

/// A gradient this small, weighted metres a rad, is none.
pub(crate) const STATIONARY: f64 = 4e-9;

/// Iterations without a better iterate after which a plain descent gives up.
const PATIENCE: u32 = 30;

/// Scratch of a solve.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    pub(crate) system: System,
    /// Rows of `candidate`.
    pub(crate) trial: Rows,
    pub(crate) current: Configuration,
    pub(crate) candidate: Configuration,
    pub(crate) best: Configuration,
    /// Where to return to.
    pub(crate) anchor: Configuration,
    pub(crate) best_cost: f64,
    pub(crate) iterations: u32,
}

impl Default for Descent {
    fn default() -> Self {
        let none = || Configuration::new(Vec::new());
        Self {
            system: System::default(),
            trial: Rows::default(),
            current: none(),
            candidate: none(),
            best: none(),
            anchor: none(),
            best_cost: f64::INFINITY,
            iterations: 0,
        }
    }
}

impl Descent {
    /// Starts at `configuration`, within limits, finite; false if the problem is not one.
    pub(crate) fn begin(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &Configuration,
        report: &mut IkReport,
    ) -> bool {
        let mechanism = problem.mechanism;
        assert_eq!(
            configuration.values().len(),
            mechanism.len(),
            "a value a joint"
        );
        if problem.check().is_err() {
            report.status = IkStatus::BadProblem;
            report.residuals.clear();
            report.limits_hit.clear();
            (report.cost, report.gradient, report.penetration) = (0.0, 0.0, 0.0);
            (report.iterations, report.restarts) = (0, 0);
            return false;
        }
        self.current.assign(configuration);
        if !configuration.is_finite() {
            // Only what is broken is reset.
            let models = mechanism.models().iter();
            for (value, model) in self.current.values_mut().iter_mut().zip(models) {
                if !value.is_finite() {
                    *value = model.rest();
                }
            }
            if !crate::configuration::is_finite(&self.current.base) {
                self.current.base = Isometry3::identity();
            }
        }
        mechanism.clamp(&mut self.current);
        self.candidate.assign(&self.current);
        self.best.assign(&self.current);
        self.best_cost = f64::INFINITY;
        self.iterations = 0;
        self.evaluate(problem);
        true
    }

    /// Evaluates `current`, and keeps it if it is the best.
    pub(crate) fn evaluate(&mut self, problem: &IkProblem<'_>) {
        self.system.jacobian.rows.evaluate(problem, &self.current);
        self.keep_best();
    }

    pub(crate) fn keep_best(&mut self) {
        let cost = self.cost();
        if cost <= self.best_cost {
            self.best_cost = cost;
            self.best.assign(&self.current);
        }
    }

    /// Moves to the `start`-th random place of those of `seed`, but for what is locked.
    pub(crate) fn restart(&mut self, problem: &IkProblem<'_>, seed: u64, start: u32) {
        let mut random = Random::new(seed, 0, start);
        self.current.assign(&self.best);
        problem.mechanism.randomize(&mut random, &mut self.current);
        let values = self.current.values_mut().iter_mut().zip(self.best.values());
        for ((value, best), stiffness) in values.zip(problem.stiffness) {
            if *stiffness >= 1.0 {
                *value = *best;
            }
        }
        self.evaluate(problem);
    }

    pub(crate) fn cost(&self) -> f64 {
        self.system.jacobian.rows.cost
    }

    pub(crate) fn is_reached(&self, problem: &IkProblem<'_>) -> bool {
        self.system.jacobian.rows.is_reached(problem.goals)
    }

    /// Leaves the best in `configuration` and what is left of it in `report`.
    pub(crate) fn finish(
        &mut self,
        problem: &IkProblem<'_>,
        status: IkStatus,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        let mechanism = problem.mechanism;
        // Of two that are near enough the last is the one that was found to be.
        let found = if status == IkStatus::Reached {
            &self.current
        } else {
            &self.best
        };
        configuration.assign(found);
        self.system.jacobian.rows.evaluate(problem, configuration);
        self.system.derive(problem, configuration);
        self.system.jacobian.rows.share_room(&mut self.trial);
        let rows = &self.system.jacobian.rows;
        report.status = if rows.is_reached(problem.goals) {
            IkStatus::Reached
        } else {
            status
        };
        report.residuals.clear();
        report.residuals.extend_from_slice(&rows.residuals);
        report.penetration = rows.penetration;
        report.cost = rows.cost;
        report.gradient = self.system.free_gradient();
        report.limits_hit.clear();
        let at_limit = |joint: &usize| self.system.is_at_limit(mechanism.dofs(*joint));
        report
            .limits_hit
            .extend((0..mechanism.len()).filter(at_limit));
        report.iterations = self.iterations;
        report.restarts = 0;
        report.status
    }

    /// Takes the steps of `rule` until goals are met, nothing changes any more, or iterations run out.
    ///
    /// Steps need not go downhill: the best iterate is what counts. `rule` is false if it found no step.
    pub(crate) fn run(
        &mut self,
        problem: &IkProblem<'_>,
        max_iterations: u32,
        rule: impl Fn(&mut System) -> bool,
    ) -> IkStatus {
        let mut since_best = 0;
        for _ in 0..max_iterations {
            if self.is_reached(problem) && problem.is_all_hard() {
                return IkStatus::Reached;
            }
            self.system.derive(problem, &self.current);
            if self.system.free_gradient() <= STATIONARY {
                return IkStatus::Infeasible;
            }
            if since_best >= PATIENCE || !rule(&mut self.system) {
                return IkStatus::Stalled;
            }
            self.system.cap();
            self.system
                .apply(problem, &self.current, &mut self.candidate);
            std::mem::swap(&mut self.current, &mut self.candidate);
            let before = self.best_cost;
            self.evaluate(problem);
            since_best = if self.best_cost < before {
                0
            } else {
                since_best + 1
            };
            self.iterations += 1;
        }
        IkStatus::IterationLimit
    }
}
