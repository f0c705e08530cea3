//! The Levenberg-Marquardt method with limits as bounds and restarts: the solver to use.
//!
//! Each step minimises the damped linear model within the limits: what stands at a limit and would leave it is held, and the
//! rest takes over its share, where clamping afterwards would throw that share away. The damping follows how well the model
//! foretold the last step. Where errors stay, out of reach or against a posture, steps gain little until the model is of
//! second order; then the least of all is found in a few. A descent that stops gaining ground starts again elsewhere, at places drawn from a counter, so
//! that the answer depends on the seed and nothing else.
//!
//! ```
//! use anim_ik::{Goal, IkProblem, IkReport, IkSolver, IkStatus, LevenbergMarquardt, Mechanism, MechanismJoint, SearchOptions};
//! use anim_math::Vec3;
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! let hinge = |axis| JointLimit::new(JointLimitSpec::Hinge { axis, range: [-2.5, 2.5] });
//! let link = Isometry3::translation(0.0, 0.4, 0.0);
//! let arm = Mechanism::new(vec![
//!     MechanismJoint::new(None, Isometry3::identity(), hinge(Vec3::y())?),
//!     MechanismJoint::new(Some(0), Isometry3::identity(), hinge(Vec3::x())?),
//!     MechanismJoint::new(Some(1), link, hinge(Vec3::x())?),
//!     MechanismJoint::new(Some(2), link, JointLimit::new(JointLimitSpec::Fixed)?),
//! ])?;
//! let goals = [Goal::position(3, Vector3::new(0.3, 0.2, 0.4))];
//! let mut solver = LevenbergMarquardt::new(SearchOptions::default());
//! let (mut at, mut report) = (arm.rest(), IkReport::default());
//! let status = solver.solve(&IkProblem::new(&arm, &goals), &mut at, &mut report);
//! assert_eq!(status, IkStatus::Reached);
//! assert!(report.residuals[0].position < 1e-5 && arm.is_within(&at));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::random::Random;

use crate::descent::{Descent, STATIONARY};
use crate::{Configuration, IkProblem, IkReport, IkSolver, IkStatus};

/// Of |e|², so that damping vanishes with the error, and something where it has.
const LEAST_DAMPING: f64 = 1e-12;

/// A model that foretells no more than this part of the cost foretells rounding errors.
const NOISE: f64 = 1e-14;

/// Preferences are settled when a step was to gain no more than this part of the cost: the next gains its square.
const SETTLED: f64 = 1e-3;

/// Where goals and preferences are at odds, a gradient of no more than this part of errors and Jacobian is none.
const RELATIVE: f64 = 1e-7;

/// Where goals and preferences are at odds, so many steps in turn that gain less than this part of the cost are the end.
const CRAWL: (u32, f64) = (3, 1e-9);

/// A step that gains less than this part of the cost is followed by one of second order.
const SLOW: f64 = 1e-2;

/// A start that has not made this factor of its cost in so many steps is left for another.
const PACE: (u32, f64) = (5, 0.5);

/// How hard to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// Steps at most from each start.
    pub max_iterations: u32,
    /// Starts at most beyond the first, drawn from within the limits; 0 follows the first to its end.
    ///
    /// For a goal that moves a little each frame 0 is right; 50 find what can be found.
    pub restarts: u32,
    /// Of the draws.
    pub seed: u64,
    /// λ of a start; the damping of a step is λ |e|².
    pub damping: f64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            max_iterations: 100,
            restarts: 0,
            seed: 0,
            damping: 0.1,
        }
    }
}

/// (Jᵀ J + μ I) y = −Jᵀ e within bounds on y, μ = λ |e|² + 10⁻¹².
///
/// λ falls to 0.3 of itself after a step that lowers the cost as foretold and grows fourfold after one that does not lower
/// it, which is not taken. Some 20 µs for an arm of seven joints; allocates nothing after the first solves of a size. A goal
/// out of reach costs some 30 steps: the nearest place is found to the end, and then whether it is a saddle.
///
/// Sources: Marquardt, "An algorithm for least-squares estimation of nonlinear parameters", J. SIAM 11, 1963; Sugihara,
/// "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27, 2011, for a
/// damping in proportion to |e|²; Erleben and Andrews, "Solving inverse kinematics using exact Hessian matrices", Computers &
/// Graphics 78, 2019, for second derivatives.
#[derive(Clone, Debug, Default)]
pub struct LevenbergMarquardt {
    /// How hard to look.
    pub options: SearchOptions,
    pub(crate) work: Descent,
}

impl LevenbergMarquardt {
    /// A solver without scratch yet.
    pub fn new(options: SearchOptions) -> Self {
        Self {
            options,
            work: Descent::default(),
        }
    }

    /// Follows one start down. An impatient descent gives up where it stops gaining ground.
    pub(crate) fn descend(&mut self, problem: &IkProblem<'_>, impatient: bool) -> IkStatus {
        let status = self.follow(problem, impatient);
        if self.work.is_reached(problem) {
            IkStatus::Reached
        } else {
            status
        }
    }

    /// The steps of a descent, until it ends for one reason or another.
    fn follow(&mut self, problem: &IkProblem<'_>, impatient: bool) -> IkStatus {
        let is_all_hard = problem.is_all_hard();
        let is_exact = problem.is_exact();
        let work = &mut self.work;
        let mut damping = self.options.damping;
        let mut milestone = work.cost();
        let mut foretold = f64::INFINITY;
        let mut is_derived = false;
        let mut crawling = 0;
        let mut is_slow = false;
        for iteration in 0..self.options.max_iterations {
            let cost = work.cost();
            let is_reached = work.is_reached(problem);
            if is_reached && (is_all_hard || foretold.abs() <= SETTLED * cost) {
                return IkStatus::Reached;
            }
            if impatient && iteration > 0 && iteration % PACE.0 == 0 {
                if cost > PACE.1 * milestone {
                    return IkStatus::Stalled;
                }
                milestone = cost;
            }
            if !is_derived {
                work.system.derive(problem, &work.current);
                is_derived = true;
                // What is met has no errors to speak of.
                if is_slow && !(is_reached && is_exact) {
                    work.system.add_curvature(problem);
                }
                let is_traded = !is_all_hard && !is_reached;
                if work.system.free_gradient() <= STATIONARY
                    || (is_traded && work.system.is_stationary(RELATIVE))
                {
                    return IkStatus::Infeasible;
                }
            }
            work.iterations += 1;
            if !work.system.solve(damping * 2.0 * cost + LEAST_DAMPING) {
                damping = (damping * 4.0).max(1e-6);
                continue;
            }
            work.system.cap();
            foretold = work.system.predicted_decrease();
            work.system
                .apply(problem, &work.current, &mut work.candidate);
            work.trial.evaluate(problem, &work.candidate);
            let decrease = cost - work.trial.cost;
            // Bounds may have cut the step to one that the model itself says is worse.
            let is_noise = foretold.abs() <= NOISE * cost;
            if decrease > 1e-4 * foretold.max(0.0) || (is_noise && decrease >= -NOISE * cost) {
                std::mem::swap(&mut work.current, &mut work.candidate);
                std::mem::swap(&mut work.system.jacobian.rows, &mut work.trial);
                if is_noise && work.cost() <= work.best_cost * (1.0 + NOISE) {
                    // The cost no longer tells which is nearer to the minimum, the steps do.
                    work.best_cost = work.best_cost.max(work.cost());
                }
                work.keep_best();
                is_derived = false;
                is_slow = decrease < SLOW * cost;
                crawling = if decrease > CRAWL.1 * cost {
                    0
                } else {
                    crawling + 1
                };
                if crawling >= CRAWL.0 && !is_all_hard && !work.is_reached(problem) {
                    // Or just leaving a saddle, which the caller tries.
                    return IkStatus::Infeasible;
                }
                // Where the model promises too much, as at a large residual, less damping would promise more.
                damping *= match decrease / foretold {
                    ratio if ratio > 0.75 => 0.3,
                    ratio if ratio > 0.25 => 1.0,
                    _ => 2.0,
                };
            } else if is_noise || damping > 1e9 {
                return IkStatus::Stalled;
            } else {
                damping *= 4.0;
            }
        }
        IkStatus::IterationLimit
    }

    /// Tries whether a stationary place is a minimum: from a small way off, does descent come back?
    ///
    /// A straight limb with a goal on its line is stationary and no minimum: only bending helps, and that in second order.
    /// Without a lower cost everything is left as it was, so that joints no goal is about do not drift.
    fn escape(&mut self, problem: &IkProblem<'_>) -> IkStatus {
        let work = &mut self.work;
        let cost = work.best_cost;
        work.anchor.assign(&work.best);
        work.current.assign(&work.best);
        work.evaluate(problem);
        work.system.derive(problem, &work.current);
        work.system.kick(&mut Random::new(self.options.seed, 1, 0));
        work.system
            .apply(problem, &work.current, &mut work.candidate);
        std::mem::swap(&mut work.current, &mut work.candidate);
        work.evaluate(problem);
        let status = self.descend(problem, false);
        let work = &mut self.work;
        if status != IkStatus::Reached && work.best_cost >= cost * (1.0 - 1e-6) {
            work.best.assign(&work.anchor);
            return IkStatus::Infeasible;
        }
        status
    }
}

impl IkSolver for LevenbergMarquardt {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let restarts = self.options.restarts;
        let mut start = 0;
        let mut status = self.descend(problem, restarts > 0);
        while status != IkStatus::Reached && start < restarts {
            start += 1;
            self.work.restart(problem, self.options.seed, start);
            status = self.descend(problem, true);
        }
        if status != IkStatus::Reached && restarts > 0 {
            // The best start, followed to its end.
            let work = &mut self.work;
            work.current.assign(&work.best);
            work.evaluate(problem);
            status = self.descend(problem, false);
        }
        if status == IkStatus::Infeasible {
            status = self.escape(problem);
        }
        self.settle_priorities(problem, status);
        status = self.work.finish(problem, status, configuration, report);
        report.restarts = start;
        status
    }
}
