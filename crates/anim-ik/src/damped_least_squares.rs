//! Damped least squares: Gauss-Newton with a constant damping that keeps steps short near singular poses.
//!
//! What games and robots have long used: steady, one number to choose, and slower to arrive the steadier it is. It is right
//! where motion per frame should be smooth rather than exact; [`LevenbergMarquardt`](crate::LevenbergMarquardt) chooses
//! the damping itself.
//!
//! ```
//! use anim_ik::{DampedLeastSquares, Goal, IkProblem, IkReport, IkSolver, IkStatus, Mechanism, MechanismJoint};
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::JointLimit;
//!
//! let joints = vec![MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE)];
//! let mechanism = Mechanism::new(joints)?;
//! let goals = [Goal::position(0, Vector3::new(0.1, 0.2, 0.3))];
//! let (mut at, mut report) = (mechanism.rest(), IkReport::default());
//! let mut solver = DampedLeastSquares::new(20, 0.1);
//! let status = solver.solve(&IkProblem::new(&mechanism, &goals), &mut at, &mut report);
//! assert_eq!(status, IkStatus::Reached);
//! # Ok::<(), anim_ik::IkError>(())
//! ```

use crate::descent::Descent;
use crate::{Configuration, IkProblem, IkReport, IkSolver, IkStatus};

/// (Jᵀ J + λ² I) y = −Jᵀ e, solved on the smaller side.
///
/// Source: Wampler, "Manipulator inverse kinematic solutions based on vector formulations and damped least-squares
/// methods", IEEE Trans. SMC 16, 1986, equation 21.
#[derive(Clone, Debug)]
pub struct DampedLeastSquares {
    /// Steps at most.
    pub max_iterations: u32,
    /// λ, weighted metres a rad, above 0: from 0.01 for exact to 1 for calm.
    pub damping: f64,
    work: Descent,
}

impl DampedLeastSquares {
    /// A solver that takes at most `max_iterations` steps, damped by `damping`.
    pub fn new(max_iterations: u32, damping: f64) -> Self {
        Self {
            max_iterations,
            damping,
            work: Descent::default(),
        }
    }
}

impl IkSolver for DampedLeastSquares {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let mu = self.damping * self.damping;
        let status = self
            .work
            .run(problem, self.max_iterations, |system| system.solve(mu));
        self.work.finish(problem, status, configuration, report)
    }
}
