//! Motion matching: a character plays, out of a library of clips, the frames that suit where it is asked to go.
//!
//! A [`MotionDatabase`] keeps a row of features for every frame of its clips: where the character will be, and how its feet
//! and hips move, as it sees them. A [`Query`] has the same features: the trajectory asked for, and the pose that plays now.
//! The frame whose row is nearest looks like a continuation of the pose and goes where it should. There are no states and no
//! transitions to draw; what a library lacks, a character cannot do. A [`MotionMatcher`] decides when to search and plays on
//! between; [`Locomotion`] makes trajectories from a stick.
//!
//! Searches are exact and take microseconds; every choice can be explained, feature by feature.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_graph::matching::{
//!     FeatureSpec, MatchingClip, MotionDatabase, Search, TrajectoryPoint,
//! };
//! use anim_math::Vec3;
//! use anim_skeleton::{BakeOptions, Channel, Clip, ClipSpec, JointSpec, JointTrack, Skeleton};
//!
//! let bone = |name: &str, parent| JointSpec {
//!     name: Some(name.to_owned()),
//!     parent,
//!     rest: Default::default(),
//! };
//! let skeleton = Skeleton::new(vec![
//!     bone("hips", None),
//!     bone("left foot", Some(0)),
//!     bone("right foot", Some(0)),
//! ])?;
//! // Two clips: walking two metres ahead in two seconds, and running ten.
//! let mut clips = Vec::new();
//! for metres in [2.0, 10.0] {
//!     let keys = vec![Key::new(0.0, Vec3::zeros()), Key::new(2.0, Vec3::new(0.0, 0.0, metres))];
//!     let track = JointTrack::Translation(Track::new(keys, Interpolation::Linear)?);
//!     let spec = ClipSpec { channels: vec![Channel { joint: 0, track }], ..ClipSpec::default() };
//!     clips.push(Clip::bake(&spec, &skeleton, &BakeOptions::default())?.0);
//! }
//! let clip = |name, clip| MatchingClip { name, clip, tags: 0, looping: false };
//! let library = [clip("walk", &clips[0]), clip("run", &clips[1])];
//! let spec = FeatureSpec::biped("hips", "left foot", "right foot");
//! let database = MotionDatabase::new(&skeleton, &library, &spec, 60.0)?;
//!
//! // Ask for five metres in the next second, straight ahead.
//! let ahead = |seconds: &f32| TrajectoryPoint { position: [0.0, 5.0 * seconds], direction: [0.0, 1.0] };
//! let trajectory: Vec<_> = database.trajectory_times().iter().map(ahead).collect();
//! let mut query = database.query();
//! database.set_trajectory(&trajectory, &mut query);
//! let found = database.search(&query, &Search::default()).expect("some frame is nearest");
//! assert_eq!(database.clips()[found.clip].name, "run");
//!
//! // And why: what each feature adds to the cost.
//! let costs = database.explain(found.frame, &query).map(|(_, cost)| cost);
//! assert_eq!(costs.fold(0.0, |sum, cost| sum + cost), found.cost);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: Clavet, "Motion matching and the road to next-gen animation", GDC 2016; Holden, Kanoun, Perepichka, Popa,
//! "Learned Motion Matching", SIGGRAPH 2020, section 3.

mod build;
mod database;
mod error;
mod features;
mod ground;
mod index;
mod locomotion;
mod matcher;
mod motion;
mod spec;

pub use database::{Current, DatabaseClip, Match, MatchingClip, MotionDatabase, Query, Search};
pub use error::MatchingError;
pub use features::{Feature, FeatureKind};
pub use locomotion::{Locomotion, Steering, TrajectoryPoint};
pub use matcher::{MatcherOptions, MatcherStep, MotionMatcher};
pub use spec::{ClipEnds, FeatureSpec, JointFeature, TrajectorySpec};
