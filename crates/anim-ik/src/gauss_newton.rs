//! The Gauss-Newton method: full steps to the minimum of the linear model.
//!
//! Quadratic where it converges and wild where it does not: near singular poses and far goals steps are long, and only
//! their cap of a radian holds them. It is here for comparison and for small corrections; prefer
//! [`LevenbergMarquardt`](crate::LevenbergMarquardt).
//!
//! ```
//! use anim_ik::{GaussNewton, Goal, IkProblem, IkReport, IkSolver, IkStatus, Mechanism, MechanismJoint};
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::JointLimit;
//!
//! let joints = vec![MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE)];
//! let mechanism = Mechanism::new(joints)?;
//! let goals = [Goal::position(0, Vector3::new(0.1, 0.2, 0.3))];
//! let (mut at, mut report) = (mechanism.rest(), IkReport::default());
//! let status = GaussNewton::new(20).solve(&IkProblem::new(&mechanism, &goals), &mut at, &mut report);
//! assert_eq!((status, report.iterations), (IkStatus::Reached, 1));
//! # Ok::<(), anim_ik::IkError>(())
//! ```

use crate::descent::Descent;
use crate::{Configuration, IkProblem, IkReport, IkSolver, IkStatus};

/// What regularises a singular system: of the steps that are as good, the shortest.
const LEAST: f64 = 1e-12;

/// (Jᵀ J) y = −Jᵀ e.
#[derive(Clone, Debug)]
pub struct GaussNewton {
    /// Steps at most.
    pub max_iterations: u32,
    work: Descent,
}

impl GaussNewton {
    /// A solver that takes at most `max_iterations` steps.
    pub fn new(max_iterations: u32) -> Self {
        let work = Descent::default();
        Self {
            max_iterations,
            work,
        }
    }
}

impl IkSolver for GaussNewton {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let status = self
            .work
            .run(problem, self.max_iterations, |system| system.solve(LEAST));
        self.work.finish(problem, status, configuration, report)
    }
}
