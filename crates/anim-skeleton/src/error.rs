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
    /// An event at a time that is negative or not a number.
    #[error("event {event}: time {time} s is not finite and positive")]
    EventTime {
        /// Index in the list given.
        event: usize,
        /// Its time, s.
        time: f32,
    },
    /// A joint that is not of the skeleton it was used with.
    #[error("joint {joint} is of another skeleton")]
    ForeignJoint {
        /// Index in breadth-first order.
        joint: usize,
    },
    /// Keys that were computed and do not make a curve.
    #[error("joint {joint}: {error}")]
    BadTrack {
        /// Index in source order.
        joint: usize,
        /// What is wrong with the keys.
        error: CurveError,
    },
    /// A pattern that no joint's name matches.
    #[error("no joint is named '{pattern}'{}", nearest(.near))]
    NoName {
        /// What was looked for.
        pattern: String,
        /// The names most like it, nearest first.
        near: Vec<String>,
    },
    /// A factor of a mask outside of [0, 1].
    #[error("mask factor {place} is {factor}, which is not in [0, 1]")]
    BadFactor {
        /// Breadth-first place of the joint.
        place: usize,
        /// What it is.
        factor: f32,
    },
    /// A plane without a normal.
    #[error("the mirror plane's normal has no direction")]
    BadPlane,
    /// A joint with two reflections, or one that is paired with itself.
    #[error("joint {joint}: in more than one mirror pair")]
    PairedTwice {
        /// Index in source order.
        joint: usize,
    },
    /// A mirror pair whose parents are not each other's reflection.
    #[error("joints {left} and {right}: a mirror pair whose parents are not one")]
    NotPartners {
        /// Index in source order.
        left: usize,
        /// Index in source order.
        right: usize,
    },
    /// A joint limit that says nothing.
    #[error("bad joint limit: {what}")]
    BadLimit {
        /// What is wrong with it.
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

fn nearest(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("; the nearest are {}", quoted.join(", "))
}
