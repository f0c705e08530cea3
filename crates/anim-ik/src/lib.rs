//! Inverse kinematics: analytic limbs and look-at on a pose, and numeric solvers for whole bodies and machines.
//!
//! **Analytic**, in model space on a pose and its globals: [`TwoBone`], [`ThreeBone`], [`LookAt`], [`SpineLook`], [`SplineIk`]
//! and [`FootPlant`]. A solver is a small validated value that many actors share; a solve edits the local rotations of its
//! joints and brings the globals of everything below up to date, so that pose and globals agree before and after. Bone
//! lengths change only where a goal allows stretch. A goal out of reach is an answer, reported by [`Outcome`]: a straight
//! leg, not an error. Nothing allocates.
//!
//! **Numeric**, in double precision on a [`Mechanism`], a tree of joints with true degrees of freedom and limits: goals of
//! many kinds in an [`IkProblem`], answered by an [`IkSolver`] with an [`IkReport`] that says what is left and what stood in
//! the way. [`LevenbergMarquardt`] is the one to use for bodies, [`Fabrik`] and [`Ccd`] for chains; [`Gradient`],
//! [`GaussNewton`] and [`DampedLeastSquares`] share its parts. [`IkBatch`] solves many at once. Limits hold exactly and
//! answers are the same bits on any number of threads.
//!
//! ```
//! use anim_ik::{TwoBone, TwoBoneGoal};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent, x: f32, y: f32| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
//! };
//! // A hip, a knee and an ankle; thigh and shin are 0.5 m long.
//! let skeleton = Skeleton::new(vec![bone(None, 0.0, 1.0), bone(Some(0), 0.3, -0.4), bone(Some(1), -0.3, -0.4)])?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let ankle = skeleton.joint(2);
//! let leg = TwoBone::new(&skeleton, ankle)?;
//! let step = TwoBoneGoal::new(Vec3::new(0.2, 0.4, 0.1));
//! let outcome = leg.solve(&skeleton, &step, &mut pose, &mut globals);
//! assert!(outcome.reached);
//! assert!((globals.get(ankle).translation - step.target).norm() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arc;
pub mod batch;
pub mod bend_plane;
pub mod ccd;
mod cholesky;
pub mod configuration;
pub mod contact;
mod correlation;
mod curvature;
pub mod damped_least_squares;
mod descent;
mod error;
pub mod fabrik;
pub mod foot;
pub mod foot_lock;
mod frame;
pub mod full_body;
pub mod gauss_newton;
pub mod goal;
mod goal_rows;
pub mod gradient;
pub mod jacobian;
mod joint_model;
pub mod levenberg_marquardt;
mod lie;
mod limb;
pub mod look_at;
mod look_at_crowd;
pub mod mechanism;
pub mod obstacles;
pub mod planar_arm;
mod plants;
mod priorities;
pub mod problem;
mod real;
pub mod report;
mod rows;
mod skeleton_map;
pub mod spine_look;
pub mod spline;
mod stride;
mod system;
pub mod three_bone;
pub mod two_bone;
mod two_bone_crowd;

pub use batch::IkBatch;
pub use bend_plane::BendPlane;
pub use ccd::Ccd;
pub use configuration::{Configuration, JointValue};
pub use contact::{ContactOptions, contacts};
pub use damped_least_squares::DampedLeastSquares;
pub use error::IkError;
pub use fabrik::Fabrik;
pub use foot::{Foot, FootContact, FootPlant, Ground};
pub use foot_lock::{FootLockOptions, FootLockReport, FootMotion};
pub use full_body::{Effector, FullBody, Root};
pub use gauss_newton::GaussNewton;
pub use goal::{Goal, GoalKind};
pub use gradient::Gradient;
pub use jacobian::Jacobian;
pub use levenberg_marquardt::{LevenbergMarquardt, SearchOptions};
pub use look_at::{LookAt, LookAtGoal};
pub use mechanism::{Frames, Mechanism, MechanismJoint};
pub use obstacles::{Limb, Obstacles};
pub use planar_arm::{Elbow, PlanarArm};
pub use plants::Plant;
pub use problem::{IkProblem, IkSolver, PointMass, Posture};
pub use report::{IkReport, IkStatus, Residual};
pub use spine_look::{SpineJoint, SpineLook};
pub use spline::{SplineGoal, SplineIk, SplinePath};
pub use three_bone::ThreeBone;
pub use two_bone::{TwoBone, TwoBoneGoal};

/// What a solve came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// True if nothing but rounding is left between the joint and its goal.
    pub reached: bool,
    /// What is left: metres for positions, rad for directions.
    pub residual: f32,
    /// Steps taken: 1 for an analytic solve, 0 if the pose was left alone.
    pub iterations: u32,
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
