//! What can be wrong with joints and curves.

use anim_curves::CurveError;
use thiserror::Error;

/// Why joints or curves do not make a skeleton or a clip; every variant names the place.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SkeletonError {
    /// Ids are 16 bits.
    #[error("{count} joints, more than 65535")]
    TooManyJoints {
        /// How many there were.
        count: usize,
    },
    /// Following parents from this joint never ends.
    #[error("joint {joint}: its parents form a cycle")]
    Cycle {
        /// Index in source order.
        joint: usize,
    },
    /// A parent that does not exist.
    #[error("joint {joint}: parent {parent} does not exist")]
    NoParent {
        /// Index in source order.
        joint: usize,
        /// What it names as its parent.
        parent: usize,
    },
    /// A rest transform with NaN or infinity.
    #[error("joint {joint}: rest transform is not finite")]
    NotFinite {
        /// Index in source order.
        joint: usize,
    },
    /// A channel that animates a joint that does not exist.
    #[error("channel {channel}: joint {joint} does not exist")]
    NoJoint {
        /// Index of the channel.
        channel: usize,
        /// What it names as its joint, source order.
        joint: usize,
    },
    /// A stored clip whose parts do not fit together.
    #[error("broken clip: {what} out of range")]
    BrokenClip {
        /// The part at fault.
        what: &'static str,
    },
    /// A tolerance that is negative, or not a number.
    #[error("tolerance {tolerance}: it must be zero or more")]
    Tolerance {
        /// What was asked for.
        tolerance: f32,
    },
    /// Morph weights that cannot be compressed.
    #[error("morph channel {channel}: {error}")]
    Weights {
        /// Index of the morph channel.
        channel: usize,
        /// Why.
        error: CurveError,
    },
}
