//! Strict priorities: goals that come first are met as if the later ones were not there.
//!
//! Later goals weigh a thousandth, so a first descent leaves what comes first off by some millionth of a conflict. That is
//! then driven out by the method of multipliers: what is left of a row is added to it and the descent repeated, until the
//! pull of later goals is balanced by a multiplier instead of an error; they then move only in the null space of the earlier
//! ones, limits included. Rows of inequalities have multipliers of one sign. As later goals weigh little, the error shrinks by
//! the square of that weight each time, and one or two short descents do.
//!
//! Sources: Hestenes, "Multiplier and gradient methods", J. Optimization Theory and Applications 4, 1969; Rockafellar, "A dual
//! approach to solving nonlinear programming problems by unconstrained optimization", Mathematical Programming 5, 1973, for
//! inequalities.

use crate::rows::Rows;
use crate::{Goal, IkProblem, IkStatus, LevenbergMarquardt};

/// What a priority weighs against the one before.
const STEP: f64 = 1e-3;

/// Descents at most.
const ROUNDS: usize = 4;

/// Earlier goals count as met by half a squared error of this, weighted metres: rounding of a chain of metres.
const MET: f64 = 1e-24;

/// The factor on errors of goals of `priority`: it makes the heaviest of them weigh a thousandth of the lightest before.
pub(crate) fn level_factor(goals: &[Goal], priority: u8) -> f64 {
    let weights = |level: u8| {
        let of_level = goals.iter().filter(move |goal| goal.priority == level);
        of_level.map(|goal| goal.weight).filter(|w| *w > 0.0)
    };
    let (mut factor, mut least) = (1.0, f64::INFINITY);
    for level in 0..priority {
        least = weights(level).fold(least, |least, w| least.min(w * factor));
        let largest = weights(level + 1).fold(0.0, f64::max) * factor;
        factor *= STEP;
        if largest > 0.0 && least < f64::INFINITY {
            factor *= least / largest;
        }
    }
    factor
}

impl LevenbergMarquardt {
    /// Gives what comes first all of its way, from the place that a solve has found; nothing to do where all come alike.
    pub(crate) fn settle_priorities(&mut self, problem: &IkProblem<'_>, status: IkStatus) {
        let levels = || problem.goals.iter().map(|goal| goal.priority);
        let (Some(first), Some(last)) = (levels().min(), levels().max()) else {
            return;
        };
        if first == last {
            return;
        }
        let work = &mut self.work;
        if status != IkStatus::Reached {
            work.current.assign(&work.best);
        }
        work.evaluate(problem);
        let mut before = work.system.jacobian.rows.cost_before(problem.goals, last);
        for _ in 0..ROUNDS {
            if before <= MET {
                break;
            }
            let work = &mut self.work;
            work.anchor.assign(&work.current);
            work.system.jacobian.rows.hold(problem.goals, last);
            let multipliers = &work.system.jacobian.rows.multipliers;
            work.trial.multipliers.clone_from(multipliers);
            work.best_cost = f64::INFINITY;
            work.evaluate(problem);
            let status = self.descend(problem, false);
            let work = &mut self.work;
            if status != IkStatus::Reached {
                work.current.assign(&work.best);
            }
            let rows = &mut work.system.jacobian.rows;
            rows.evaluate(problem, &work.current);
            let after = rows.cost_before(problem.goals, last);
            // Later goals that were traded for earlier ones may lose a little; more is a place that got lost.
            if after.is_nan() || after > before * (1.0 + STEP) {
                work.current.assign(&work.anchor);
                break;
            }
            if after > 0.5 * before {
                break;
            }
            before = after;
        }
        let work = &mut self.work;
        work.system.jacobian.rows.multipliers.clear();
        work.trial.multipliers.clear();
        work.best.assign(&work.current);
    }
}

impl Rows {
    /// Makes the errors of goals before the priority `last` their multipliers.
    fn hold(&mut self, goals: &[Goal], last: u8) {
        let Self {
            multipliers,
            errors,
            starts,
            ..
        } = self;
        multipliers.clear();
        for (goal, rows) in goals.iter().zip(starts.windows(2)) {
            let held = if goal.priority < last { 1.0 } else { 0.0 };
            multipliers.extend(errors[rows[0]..rows[1]].iter().map(|e| e * held));
        }
    }

    /// Half the weighted squares of what is left of goals before the priority `last`, multipliers taken out.
    fn cost_before(&self, goals: &[Goal], last: u8) -> f64 {
        let mut sum = 0.0;
        for (goal, rows) in goals.iter().zip(self.starts.windows(2)) {
            if goal.priority < last {
                for row in rows[0]..rows[1] {
                    let multiplier = self.multipliers.get(row).copied().unwrap_or(0.0);
                    let error = self.errors[row] - multiplier;
                    sum += 0.5 * error * error;
                }
            }
        }
        sum
    }
}
