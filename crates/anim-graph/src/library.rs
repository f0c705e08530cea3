//! What a graph may name: clips with their events, sync markers and root motion.
//!
//! A [`Graph`](crate::Graph) keeps what it needs, so the library need not outlive it; the clips themselves are shared.
//!
//! ```
//! use anim_graph::{ClipLibrary, LibraryClip};
//! use anim_skeleton::{BakeOptions, Clip, ClipSpec, Event, Events, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![])?;
//! let (walk, _) = Clip::bake(&ClipSpec::default(), &skeleton, &BakeOptions::default())?;
//! let foot = |time, name: &str| Event { time, name: name.into() };
//! let walk = LibraryClip {
//!     markers: Events::new(vec![foot(0.1, "left"), foot(0.6, "right")])?,
//!     ..LibraryClip::new("Walk", walk)
//! };
//! let library = ClipLibrary { clips: vec![walk], ..ClipLibrary::default() };
//! assert_eq!(library.clips[0].markers.as_slice().len(), 2);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::sync::Arc;

use anim_math::Vec3;
use anim_skeleton::{Clip, Events, Mirror, RootMotion};

/// The clips of one skeleton.
#[derive(Clone, Debug, Default)]
pub struct ClipLibrary {
    /// Names are unique.
    pub clips: Vec<LibraryClip>,
    /// What exchanges left and right, for mirror nodes.
    pub mirror: Option<LibraryMirror>,
}

/// A mirror of the skeleton.
#[derive(Clone, Debug)]
pub struct LibraryMirror {
    /// For poses.
    pub mirror: Mirror,
    /// Normal of the mirror's plane, of any length, for root motion.
    pub plane_normal: Vec3,
}

/// A clip, and what belongs to it.
#[derive(Clone, Debug)]
pub struct LibraryClip {
    /// What graphs call it.
    pub name: String,
    /// Its poses.
    pub clip: Arc<Clip>,
    /// What happens in it.
    pub events: Events,
    /// Moments that clips keep in step at, such as each foot coming down.
    pub markers: Events,
    /// The way the character travels, taken out of the clip.
    pub motion: Option<RootMotion>,
}

impl LibraryClip {
    /// A clip without events, markers and root motion.
    pub fn new(name: impl Into<String>, clip: impl Into<Arc<Clip>>) -> Self {
        Self {
            name: name.into(),
            clip: clip.into(),
            events: Events::default(),
            markers: Events::default(),
            motion: None,
        }
    }
}
