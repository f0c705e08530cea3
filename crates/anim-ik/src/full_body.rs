//! A whole body that reaches: several effectors at once, the root pinned or free, warm from frame to frame.
//!
//! Effectors are hands on a prop, feet on the floor, a head that keeps its place; each pulls with its weight, and what they
//! leave open stays as near as can be to the pose that was handed in, so that the clip's style survives. It is
//! [`LevenbergMarquardt`] on the skeleton's [`Mechanism`], fitted to the pose;
//! what it changed in the last frame is where it starts in the next, which is most of the way. For one limb
//! [`TwoBone`](crate::TwoBone) is a hundred times faster.
//!
//! ```
//! use anim_ik::{Effector, FullBody, IkStatus, Root};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{JointSpec, Skeleton};
//!
//! let joint = |parent, at: [f32; 3]| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::from(at)),
//! };
//! // Hips; on either side a leg of two bones.
//! let skeleton = Skeleton::new(vec![
//!     joint(None, [0.0, 0.9, 0.0]),
//!     joint(Some(0), [0.1, 0.0, 0.0]), joint(Some(1), [0.0, -0.43, 0.05]), joint(Some(2), [0.0, -0.43, -0.05]),
//!     joint(Some(0), [-0.1, 0.0, 0.0]), joint(Some(4), [0.0, -0.43, 0.05]), joint(Some(5), [0.0, -0.43, -0.05]),
//! ])?;
//! let mut body = FullBody::new(&skeleton, &[], Root::Free)?;
//! let mut pose = skeleton.rest().clone();
//! // A step to the side; the other foot stays.
//! let effectors = [
//!     Effector::at(skeleton.joint(3), Vec3::new(0.3, 0.1, 0.0)),
//!     Effector::at(skeleton.joint(6), Vec3::new(-0.1, 0.04, 0.0)),
//! ];
//! assert_eq!(body.solve(&effectors, &mut pose).status, IkStatus::Reached);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Quaternion, UnitQuaternion};
use anim_math::{Quat, Vec3};
use anim_skeleton::{JointId, JointLimit, Pose, Skeleton};

use crate::{
    Configuration, Goal, IkError, IkProblem, IkReport, IkSolver, LevenbergMarquardt, Mechanism,
    Posture, SearchOptions,
};

/// What becomes of the joints without a parent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Root {
    /// They keep the place and the rotation of the pose.
    Pinned,
    /// They move wherever it helps.
    #[default]
    Free,
}

/// A joint that should be somewhere, model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effector {
    /// Which.
    pub joint: JointId,
    /// Where, m; `None` for anywhere.
    pub position: Option<Vec3>,
    /// How turned; `None` for anyhow.
    pub rotation: Option<Quat>,
    /// How much it pulls where not all can be had: twice the weight counts four times.
    pub weight: f32,
}

impl Effector {
    /// At a place, turned anyhow, of weight 1.
    pub fn at(joint: JointId, position: Vec3) -> Self {
        Self {
            joint,
            position: Some(position),
            rotation: None,
            weight: 1.0,
        }
    }
}

/// The solver of one body, with what it remembers between frames; one an actor.
#[derive(Clone, Debug)]
pub struct FullBody {
    /// 0 for joints that move at will to 1 for those that do not, by [`JointId::index`].
    pub stiffness: Vec<f64>,
    /// How much joints would rather be as in the pose that is handed in: what goals lose by it is a millionth for 1e-3.
    pub posture: f64,
    /// An effector is met within this, m and rad.
    pub tolerance: f64,
    mechanism: Mechanism,
    solver: LevenbergMarquardt,
    start: Configuration,
    at: Configuration,
    /// What the last solve added to its pose, tangent.
    added: Vec<f64>,
    goals: Vec<Goal>,
    report: IkReport,
}

impl FullBody {
    /// A body that starts from the pose.
    ///
    /// * `limits`: one a joint by [`JointId::index`], or none at all.
    ///
    /// # Errors
    ///
    /// [`IkError::Count`] if limits are neither none nor one a joint.
    pub fn new(skeleton: &Skeleton, limits: &[JointLimit], root: Root) -> Result<Self, IkError> {
        let mechanism = Mechanism::from_skeleton(skeleton, limits, None)?;
        let mut stiffness = vec![0.0; skeleton.len()];
        if root == Root::Pinned {
            for joint in skeleton
                .joints()
                .filter(|joint| skeleton.parent(*joint).is_none())
            {
                stiffness[joint.index()] = 1.0;
            }
        }
        let options = SearchOptions {
            max_iterations: 60,
            ..SearchOptions::default()
        };
        Ok(Self {
            stiffness,
            posture: 1e-3,
            tolerance: 1e-4,
            start: mechanism.rest(),
            at: mechanism.rest(),
            added: vec![0.0; mechanism.dof()],
            mechanism,
            solver: LevenbergMarquardt::new(options),
            goals: Vec::new(),
            report: IkReport::default(),
        })
    }

    /// Moves `pose` so that the effectors are where they should be; globals are the caller's to renew.
    ///
    /// Starts from the pose and what the last call added to its own; [`forget`](Self::forget) after a cut. An effector of
    /// another skeleton or with NaN makes a bad problem, which moves nothing. The residuals of the report are two an
    /// effector that asks for both, position first. Allocates nothing once effectors have stopped growing in number.
    ///
    /// # Panics
    ///
    /// If `pose` is of another number of joints.
    pub fn solve(&mut self, effectors: &[Effector], pose: &mut Pose) -> &IkReport {
        self.mechanism.fit(pose);
        self.mechanism.read(pose, &mut self.start);
        self.mechanism.clamp(&mut self.start);
        self.start
            .integrate(&self.mechanism, &self.added, &mut self.at);
        self.goals.clear();
        for effector in effectors {
            // A joint that does not exist is for the problem's check to find.
            let joint = self
                .mechanism
                .joint_of(effector.joint)
                .unwrap_or(usize::MAX);
            let goal = |goal: Goal| Goal {
                weight: f64::from(effector.weight),
                tolerance: self.tolerance,
                ..goal
            };
            let position = effector.position;
            let position = position.map(|at| goal(Goal::position(joint, at.cast())));
            let rotation = effector.rotation.map(|turn| {
                let wide: Quaternion<f64> = turn.into_inner().cast();
                goal(Goal::orientation(
                    joint,
                    UnitQuaternion::new_normalize(wide),
                ))
            });
            self.goals.extend(position.into_iter().chain(rotation));
        }
        let posture = Posture {
            target: &self.start,
            weight: self.posture,
        };
        let problem = IkProblem {
            posture: (self.posture > 0.0).then_some(posture),
            stiffness: &self.stiffness,
            ..IkProblem::new(&self.mechanism, &self.goals)
        };
        if problem.check().is_err() {
            // Says so without having moved anything.
            self.solver.solve(&problem, &mut self.at, &mut self.report);
            self.forget();
            return &self.report;
        }
        self.solver.solve(&problem, &mut self.at, &mut self.report);
        self.start
            .difference(&self.mechanism, &self.at, &mut self.added);
        self.mechanism.write(&self.at, pose);
        &self.report
    }

    /// The next solve starts from its pose alone.
    pub fn forget(&mut self) {
        self.added.fill(0.0);
    }
}
