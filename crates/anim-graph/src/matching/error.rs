//! What can be wrong with a motion database.

use thiserror::Error;

/// Why clips and features do not make a motion database.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MatchingError {
    /// A number of the spec, or the frame rate, that is not finite or makes no sense.
    #[error("{what}: {value} is out of range")]
    OutOfRange {
        /// The field.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// Every weight is 0, or there are no trajectory times and joints.
    #[error("the spec compares nothing: no feature has a weight above 0")]
    NoFeatures,
    /// No joint of the skeleton has the name.
    #[error("no joint is called '{name}'")]
    NoJoint {
        /// What the spec asks for.
        name: String,
    },
    /// The rest pose flattens the root, or `forward` is zero or straight up.
    #[error("the root '{name}' faces nowhere in the rest pose")]
    NoHeading {
        /// The root joint.
        name: String,
    },
    /// A clip of another skeleton.
    #[error("clip {clip} ('{name}') has {found} joints, the skeleton {expected}")]
    JointCount {
        /// Index of the clip.
        clip: usize,
        /// Its name.
        name: String,
        /// Joints of the skeleton.
        expected: usize,
        /// Joints of the clip.
        found: usize,
    },
    /// More than sixteen million frames.
    #[error("clip {clip} ('{name}') takes the database beyond {limit} frames")]
    TooManyFrames {
        /// Index of the clip.
        clip: usize,
        /// Its name.
        name: String,
        /// The most there may be.
        limit: usize,
    },
    /// A pose so large that its features overflow.
    #[error("clip {clip} ('{name}'), frame {frame}: not finite")]
    NotFinite {
        /// Index of the clip.
        clip: usize,
        /// Its name.
        name: String,
        /// Index of the frame in the clip.
        frame: usize,
    },
    /// No clips, or all are shorter than `min_remaining`.
    #[error("no frame can be found: there are no clips, or all are shorter than min_remaining")]
    NoFrames,
}
