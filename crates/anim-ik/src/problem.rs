//! A question for a numeric solver: a mechanism, goals, and what else to heed.

use anim_math::nalgebra::Vector3;

use crate::obstacles::Obstacles;
use crate::{Configuration, Goal, IkError, IkReport, IkStatus, Mechanism};

/// A pull toward a configuration on all joints.
#[derive(Clone, Copy, Debug)]
pub struct Posture<'a> {
    /// Where joints would rather be: a rest pose, or the last frame's.
    pub target: &'a Configuration,
    /// Factor on each joint's error, rad or metres: 1e-4 settles what goals leave open and moves them by less than 1e-6.
    pub weight: f64,
}

/// A mass on a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMass {
    /// Kilograms.
    pub mass: f64,
    /// Its centre in the joint's frame, metres.
    pub centre: Vector3<f64>,
}

/// What a solver is asked; plain data that borrows what it speaks of.
///
/// ```
/// use anim_ik::{Goal, IkProblem, Mechanism, MechanismJoint, Posture};
/// use anim_math::nalgebra::{Isometry3, Vector3};
/// use anim_skeleton::JointLimit;
///
/// let joints = vec![MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE)];
/// let mechanism = Mechanism::new(joints)?;
/// let (rest, goals) = (mechanism.rest(), [Goal::position(0, Vector3::x())]);
/// let problem = IkProblem {
///     posture: Some(Posture { target: &rest, weight: 1e-4 }),
///     ..IkProblem::new(&mechanism, &goals)
/// };
/// problem.check()?;
/// # Ok::<(), anim_ik::IkError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IkProblem<'a> {
    /// What moves.
    pub mechanism: &'a Mechanism,
    /// What is wanted.
    pub goals: &'a [Goal],
    /// What is preferred where goals leave a choice.
    pub posture: Option<Posture<'a>>,
    /// One a joint, in [0, 1]: how unwilling to move it is, 1 is locked. None at all: all move alike.
    pub stiffness: &'a [f64],
    /// One a joint, for centre-of-mass goals. None at all: every joint weighs the same.
    pub masses: &'a [PointMass],
    /// What limbs keep clear of.
    pub obstacles: Obstacles<'a>,
    /// What a radian weighs, metres: errors of position and of rotation are summed as one.
    pub metres_per_radian: f64,
}

impl<'a> IkProblem<'a> {
    /// Goals and nothing else; a radian weighs half a metre.
    pub fn new(mechanism: &'a Mechanism, goals: &'a [Goal]) -> Self {
        Self {
            mechanism,
            goals,
            posture: None,
            stiffness: &[],
            masses: &[],
            obstacles: Obstacles::default(),
            metres_per_radian: 0.5,
        }
    }

    /// Checks every number and index. Solvers do, and answer [`IkStatus::BadProblem`] without moving anything.
    ///
    /// # Errors
    ///
    /// [`IkError::GoalJoint`] and [`IkError::BadGoal`] with the goal's index, [`IkError::BadLimb`] with the limb's, and
    /// [`IkError::Count`] if a list or the posture is not one a joint or holds what is not a number.
    pub fn check(&self) -> Result<(), IkError> {
        let expected = self.mechanism.len();
        for (goal, spec) in self.goals.iter().enumerate() {
            for joint in spec.kind.joints().into_iter().flatten() {
                if joint >= expected {
                    return Err(IkError::GoalJoint { goal, joint });
                }
            }
            if let Some(what) = spec.problem() {
                return Err(IkError::BadGoal { goal, what });
            }
            if spec.kind.is_foreign(self.mechanism) {
                let what = "its value is of another kind than its joint's";
                return Err(IkError::BadGoal { goal, what });
            }
        }
        let one_a_joint = |what, found: usize, is_good: bool| {
            if found == 0 || (found == expected && is_good) {
                return Ok(());
            }
            Err(IkError::Count {
                what,
                found,
                expected,
            })
        };
        let stiffness = self.stiffness.iter().all(|s| (0.0..=1.0).contains(s));
        one_a_joint("stiffnesses in [0, 1]", self.stiffness.len(), stiffness)?;
        let weighs = |m: &PointMass| m.mass >= 0.0 && m.mass.is_finite();
        let masses = self
            .masses
            .iter()
            .all(|m| weighs(m) && m.centre.iter().all(|v| v.is_finite()));
        one_a_joint("finite masses", self.masses.len(), masses)?;
        if let Some(posture) = self.posture {
            let is_good = posture.target.is_finite() && posture.weight.is_finite();
            one_a_joint(
                "finite values of the posture",
                posture.target.values().len(),
                is_good,
            )?;
        }
        self.obstacles.check(self.mechanism)
    }
}

/// A solver: a small value with its options and its scratch, one a thread.
///
/// All keep limits, weights and tolerances and lock what is stiff by 1. Besides that
///
/// | solver | goals | priorities | posture, obstacles, masses | other starts |
/// |---|---|---|---|---|
/// | [`LevenbergMarquardt`](crate::LevenbergMarquardt) | all | strict | yes | seeded |
/// | [`GaussNewton`](crate::GaussNewton), [`DampedLeastSquares`](crate::DampedLeastSquares), [`Gradient`](crate::Gradient) | all | a thousandth of the weight a step | yes | no |
/// | [`Ccd`](crate::Ccd) | position, orientation, pose, aim | a thousandth of the weight a step | no | seeded |
/// | [`Fabrik`](crate::Fabrik) | position, orientation, pose | a thousandth of the weight a step | no | no |
///
/// Goals that a solver does not work toward are still in its report.
pub trait IkSolver: Send {
    /// Moves `configuration` toward the goals of `problem` and says in `report` how far that went.
    ///
    /// Starts from `configuration`, clamped to the limits, and leaves the best that was found; a configuration that is not
    /// finite starts from rest. Allocates nothing once problems have stopped growing. Never panics on numbers: a problem
    /// that fails [`IkProblem::check`] moves nothing.
    ///
    /// # Panics
    ///
    /// If `configuration` is of another mechanism.
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus;
}

impl IkProblem<'_> {
    /// True if nothing is left to improve once all goals are within their tolerance.
    pub(crate) fn is_all_hard(&self) -> bool {
        self.posture.is_none() && self.is_exact()
    }

    /// True if no goal is a mere preference.
    pub(crate) fn is_exact(&self) -> bool {
        self.goals.iter().all(|goal| goal.tolerance < f64::INFINITY)
    }
}
