use thiserror::Error;

/// Why joints or axes do not make a solver; every variant names the joint, by its place in breadth-first order.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum IkError {
    /// The joint belongs to another skeleton.
    #[error("joint {joint} does not exist in this skeleton")]
    NoJoint {
        /// Its index.
        joint: usize,
    },
    /// A two-bone chain needs a parent and a grandparent.
    #[error("joint {joint} has no parent and grandparent to bend")]
    NoParents {
        /// Index of the end joint.
        joint: usize,
    },
    /// The joints of a chain do not lie below one another.
    #[error("joint {joint} is not below joint {ancestor}")]
    NotBelow {
        /// Index of the lower joint.
        joint: usize,
        /// Index of what should be above it.
        ancestor: usize,
    },
    /// An axis is zero or not finite, or up is along forward.
    #[error("joint {joint}: forward and up do not span a plane")]
    Axes {
        /// Index of the joint.
        joint: usize,
    },
    /// A limit that is negative or not a number.
    #[error("joint {joint}: limit of {limit} rad is not an angle")]
    Limit {
        /// Index of the joint.
        joint: usize,
        /// What was asked for, rad.
        limit: f32,
    },
}
