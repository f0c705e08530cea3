//! Skeletons, poses, forward kinematics and clips.
//!
//! A [`Skeleton`] is breadth-first inside, so that one pass over it meets parents before children, and speaks the
//! source's node order outside. A [`Pose`] holds local transforms in blocks of eight joints, [`Globals`] the
//! `model_from_joint` matrices. A [`ClipSpec`] is the exact curves of a clip, a [`Clip`] what is sampled at run time,
//! wherever [`Playback`] stands; [`blend()`] makes one pose of several.
//!
//! What runs each frame has no state of its own, allocates nothing and gives the same bits on every instruction set.
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

pub mod bake;
pub mod blend;
pub mod clip;
mod clip_parts;
pub mod clip_spec;
pub mod crowd;
pub mod dead_blend;
mod error;
pub mod events;
pub mod globals;
pub mod inertialize;
mod kernel;
pub mod model_space;
pub mod passage;
pub mod playback;
pub mod pose;
pub mod root_motion;
pub mod skeleton;

pub use bake::{BakeOptions, BakeReport};
pub use blend::{Layer, Mode, blend, blend_on, difference};
pub use clip::Clip;
pub use clip_spec::{Channel, ClipSpec, JointTrack, MorphChannel};
pub use crowd::{CrowdGlobals, CrowdPose};
pub use dead_blend::DeadBlend;
pub use error::SkeletonError;
pub use events::{Crossed, Event, Events};
pub use globals::Globals;
pub use inertialize::Inertialization;
pub use model_space::{add_in_model_space, difference_in_model_space};
pub use passage::Passage;
pub use playback::{Playback, Wrap};
pub use pose::{Pose, PoseBlock};
pub use root_motion::{MotionReference, RootMotion, RootMotionOptions, blend_deltas};
pub use skeleton::{JointId, JointSpec, Skeleton};
