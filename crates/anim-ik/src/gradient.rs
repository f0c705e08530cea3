//! The Jacobian transpose method: steepest descent with the step length that suits the linear model.
//!
//! The cheapest step, a matrix factored nowhere, and the slowest to arrive: it is right for a nudge towards a goal each
//! frame, and as the yardstick for the others. Prefer [`LevenbergMarquardt`](crate::LevenbergMarquardt) to arrive.
//!
//! ```
//! use anim_ik::{Goal, Gradient, IkProblem, IkReport, IkSolver, IkStatus, Mechanism, MechanismJoint};
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::JointLimit;
//!
//! let joints = vec![MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE)];
//! let mechanism = Mechanism::new(joints)?;
//! let goals = [Goal::position(0, Vector3::new(1.0, 2.0, 3.0))];
//! let (mut at, mut report) = (mechanism.rest(), IkReport::default());
//! let status = Gradient::new(50).solve(&IkProblem::new(&mechanism, &goals), &mut at, &mut report);
//! assert_eq!(status, IkStatus::Reached);
//! # Ok::<(), anim_ik::IkError>(())
//! ```

use crate::descent::Descent;
use crate::{Configuration, IkProblem, IkReport, IkSolver, IkStatus};

/// y = −α Jᵀ e with α = ⟨e, J Jᵀ e⟩ / |J Jᵀ e|².
///
/// Source: Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares
/// methods", 2004, equation 10.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// Steps at most.
    pub max_iterations: u32,
    work: Descent,
}

impl Gradient {
    /// A solver that takes at most `max_iterations` steps.
    pub fn new(max_iterations: u32) -> Self {
        let work = Descent::default();
        Self {
            max_iterations,
            work,
        }
    }
}

impl IkSolver for Gradient {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let status = self.work.run(problem, self.max_iterations, |system| {
            system.solve_gradient();
            true
        });
        self.work.finish(problem, status, configuration, report)
    }
}
