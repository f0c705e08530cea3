//! Skeletons, poses, forward kinematics and clips.
//!
//! A [`Skeleton`] is breadth-first inside, so that one pass over it meets parents before children, and speaks the
//! source's node order outside. A [`Pose`] holds local transforms in blocks of eight joints, [`Globals`] the
//! `model_from_joint` matrices. A [`ClipSpec`] is the exact curves of a clip, a [`Clip`] what is sampled at run time,
//! wherever [`Playback`] stands; [`blend()`] makes one pose of several. What a step of playback went over is a [`Passage`],
//! which [`Events`] and [`RootMotion`] answer to; [`Inertialization`] and [`DeadBlend`] carry a pose over to another clip.
//!
//! Tools measure what they do to a motion as an [`ObjectError`]; [`ClipSpec::reduce`] drops the keys that a tolerance does
//! not need, and [`ClipSpec::aliasing`] finds what moves too far between frames.
//!
//! What runs each frame allocates nothing, has no state but what is named here, and gives the same bits on every
//! instruction set.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::y()),
//! };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0))])?;
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(skeleton.rest(), &mut globals);
//! assert_eq!(globals.get(skeleton.joint(1)).translation, Vec3::new(0.0, 2.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

pub mod aliasing;
pub mod bake;
pub mod binding;
pub mod blend;
pub mod clip;
mod clip_parts;
pub mod clip_spec;
pub mod compress;
pub mod crowd;
pub mod dead_blend;
pub mod dirty;
pub mod driver;
mod error;
pub mod events;
pub mod extract;
pub mod globals;
pub mod hierarchy;
pub mod inertialize;
pub mod joint_limit;
mod kernel;
mod levers;
pub mod lod;
pub mod loop_closing;
pub mod mask;
pub mod mirror;
pub mod model_space;
pub mod object_error;
pub mod passage;
pub mod pattern;
pub mod playback;
pub mod pose;
pub mod rate;
pub mod reduce;
mod resample;
pub mod root_motion;
pub mod side_names;
pub mod skeleton;
pub mod strided;
mod thinning;

pub use aliasing::{AliasingOptions, JointAliasing, Peak, aliasing};
pub use bake::{BakeOptions, BakeReport};
pub use binding::{Ambiguity, BindReport, Binding};
pub use blend::{Layer, Mode, blend, blend_on, difference};
pub use clip::Clip;
pub use clip_spec::{Channel, ClipSpec, JointTrack, MorphChannel};
pub use compress::{CompressOptions, CompressReport, CompressedClip};
pub use crowd::{CrowdGlobals, CrowdPose};
pub use dead_blend::DeadBlend;
pub use driver::{DriverError, DriverSpec, DriverState, Drivers};
pub use error::SkeletonError;
pub use events::{Crossed, Event, Events};
pub use extract::{MotionReference, RootMotionOptions};
pub use globals::Globals;
pub use inertialize::Inertialization;
pub use joint_limit::{JointLimit, JointLimitSpec, Swing, Turns};
pub use lod::SkeletonLod;
pub use loop_closing::{LoopOptions, close_loop};
pub use mask::{Mask, MaskSpec};
pub use mirror::Mirror;
pub use model_space::{add_in_model_space, difference_in_model_space};
pub use object_error::{Deviation, ObjectError, point_distance};
pub use passage::Passage;
pub use playback::{Playback, Wrap};
pub use pose::{Pose, PoseBlock};
pub use rate::{RateReducer, ReductionError, reduction_error};
pub use reduce::{KeyChoice, ReduceOptions, ReduceReport};
pub use root_motion::{MotionSample, RootMotion, blend_deltas};
pub use side_names::{Position, SideNames};
pub use skeleton::{JointId, JointSpec, Skeleton};
pub use strided::StridedClip;
