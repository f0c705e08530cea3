//! What can be wrong with a graph.

use thiserror::Error;

use crate::report::Report;

/// Why a graph cannot be built or a parameter not set.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GraphError {
    /// Everything that is wrong with a graph, each with its place.
    #[error("the graph is not valid:\n{0}")]
    Invalid(Report),
    /// Written out as a tree, with each node as often as it is named, the graph is too large.
    #[error("the graph has more than {most} nodes, counting each as often as it is named")]
    TooManyNodes {
        /// How many there may be.
        most: usize,
    },
    /// Nodes inside nodes inside nodes.
    #[error("nodes are nested more than {most} deep")]
    TooDeep {
        /// How deep they may be.
        most: usize,
    },
    /// A blend space without places.
    #[error("a blend space needs at least one point")]
    EmptySpace,
    /// A blend space with more places than are sensible.
    #[error("a blend space with {count} points, more than {most}")]
    TooManyPlaces {
        /// How many there were.
        count: usize,
        /// How many there may be.
        most: usize,
    },
    /// A place with NaN or infinity.
    #[error("point {point} of a blend space is not finite")]
    PlaceNotFinite {
        /// Its index.
        point: usize,
    },
    /// Two places that are the same, or too near for single precision.
    #[error("points {first} and {second} of a blend space are the same place")]
    SamePlace {
        /// Index of one.
        first: usize,
        /// Index of the other, larger.
        second: usize,
    },
    /// Nothing has that name.
    #[error("{kind} '{name}' does not exist; there are: {known}")]
    Unknown {
        /// What was looked for: a clip, a node, a parameter…
        kind: &'static str,
        /// The name.
        name: String,
        /// What there is, comma separated.
        known: String,
    },
    /// A parameter of another kind.
    #[error("parameter '{name}' is a {is}, not a {wanted}")]
    WrongKind {
        /// The parameter.
        name: String,
        /// Its kind.
        is: &'static str,
        /// The kind that was given or is needed.
        wanted: &'static str,
    },
    /// A float parameter set to NaN or infinity.
    #[error("parameter '{name}': {value} is not finite")]
    ValueNotFinite {
        /// The parameter.
        name: String,
        /// The value.
        value: f32,
    },
    /// A mask that names no joint.
    #[error(transparent)]
    Skeleton(#[from] anim_skeleton::SkeletonError),
    /// A clip of a skeleton with another number of joints.
    #[error("clip '{name}' has {count} joints, the skeleton has {joints}")]
    JointCount {
        /// The clip.
        name: String,
        /// Its joints.
        count: usize,
        /// The skeleton's joints.
        joints: usize,
    },
}

/// Names that an error lists, at most.
const MOST_NAMES: usize = 32;

impl GraphError {
    /// Of a name that none of `known` is.
    pub(crate) fn unknown<'a>(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut names: Vec<_> = known.into_iter().take(MOST_NAMES + 1).collect();
        if names.len() > MOST_NAMES {
            names[MOST_NAMES] = "…";
        }
        let known = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        Self::Unknown {
            kind,
            name: name.to_owned(),
            known,
        }
    }
}
