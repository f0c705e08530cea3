//! Why a solver does not fit a skeleton.

use anim_skeleton::{JointId, Skeleton};
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
    /// A link of a planar arm has no length.
    #[error("link {link}: {length} m is not a length")]
    Link {
        /// Its place in the arm.
        link: usize,
        /// What was asked for, m.
        length: f64,
    },
    /// The eye of a look-at is nowhere.
    #[error("joint {joint}: the offset of its eye is not finite")]
    Offset {
        /// Index of the joint.
        joint: usize,
    },
    /// A share that is negative or not finite, or 0 for the joint that looks.
    #[error("joint {joint}: {share} is not a share of a turn")]
    Share {
        /// Index of the joint.
        joint: usize,
        /// What was asked for.
        share: f32,
    },
    /// A joint of a mechanism that comes before its parent.
    #[error("joint {joint}: parent {parent} does not come before it")]
    ParentOrder {
        /// Index of the joint.
        joint: usize,
        /// What it names as its parent.
        parent: usize,
    },
    /// A rest frame with NaN or infinity.
    #[error("joint {joint}: rest frame is not finite")]
    NotFinite {
        /// Index of the joint.
        joint: usize,
    },
    /// One value a joint, or none at all.
    #[error("{found} {what} for {expected} joints")]
    Count {
        /// What there are too few or too many of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many joints there are.
        expected: usize,
    },
    /// A goal for a joint that the mechanism does not have.
    #[error("goal {goal}: joint {joint} does not exist in this mechanism")]
    GoalJoint {
        /// Index of the goal.
        goal: usize,
        /// What it names as its joint.
        joint: usize,
    },
    /// A goal with NaN, infinity or an axis without direction.
    #[error("goal {goal}: {what}")]
    BadGoal {
        /// Index of the goal.
        goal: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A limb of an obstacle set that does not fit the mechanism.
    #[error("limb {limb}: {what}")]
    BadLimb {
        /// Index of the limb, or of the pair of limbs.
        limb: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// Checks that `joints` are the skeleton's and that each is below the one before.
pub(crate) fn check_line(
    skeleton: &Skeleton,
    joints: impl IntoIterator<Item = JointId>,
) -> Result<(), IkError> {
    let mut above: Option<JointId> = None;
    for joint in joints {
        if joint.index() >= skeleton.len() {
            return Err(IkError::NoJoint {
                joint: joint.index(),
            });
        }
        if let Some(ancestor) = above
            && !skeleton.is_below(joint, ancestor)
        {
            return Err(IkError::NotBelow {
                joint: joint.index(),
                ancestor: ancestor.index(),
            });
        }
        above = Some(joint);
    }
    Ok(())
}
