//! Walking the hierarchy: up to the roots, down to the leaves, from any joint to any other.
//!
//! Breadth-first order makes all of it cheap: a parent comes before its children, the children of a joint are
//! neighbours, and so is every generation below it. Nothing here but the functions that return a `Vec` allocates.
//!
//! ```
//! use anim_skeleton::{JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Default::default() };
//! // A body with two arms of two joints.
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0)), bone(Some(1)), bone(Some(0)), bone(Some(3))])?;
//! let [body, _, left_hand, right_arm, right_hand] = [0, 1, 2, 3, 4].map(|source| skeleton.joint(source));
//!
//! assert_eq!(skeleton.common_ancestor(left_hand, right_hand), Some(body));
//! assert_eq!(skeleton.chain(body, right_hand), Some(vec![body, right_arm, right_hand]));
//! assert_eq!(skeleton.path(left_hand, right_hand).map(|joints| joints.len()), Some(5));
//! assert_eq!(skeleton.descendants(body).count(), 4);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::iter::successors;
use std::ops::Range;

use crate::{JointId, Skeleton};

impl Skeleton {
    /// The joints without a parent.
    pub fn roots(&self) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator + use<> {
        // Joints whose parent comes before the first joint are those that have none.
        let count = self.children_of(0..0).start as u16;
        (0..count).map(JointId)
    }

    /// The parent of `joint`, its parent, and so on up to the root.
    pub fn ancestors(&self, joint: JointId) -> impl Iterator<Item = JointId> {
        successors(self.parent(joint), |at| self.parent(*at))
    }

    /// Number of ancestors; 0 for a root. O(depth).
    pub fn depth(&self, joint: JointId) -> usize {
        self.ancestors(joint).count()
    }

    /// Everything below `joint`, parents before children.
    pub fn descendants(&self, joint: JointId) -> impl Iterator<Item = JointId> {
        let below = self.generations(joint).skip(1).flatten();
        below.map(|place| JointId(place as u16))
    }

    /// The generations of a subtree as ranges of [`JointId::index`]: `joint` alone, its children, theirs, none empty.
    pub fn generations(&self, joint: JointId) -> impl Iterator<Item = Range<usize>> {
        successors(Some(joint.index()..joint.index() + 1), |generation| {
            let next = self.children_of(generation.clone());
            (!next.is_empty()).then_some(next)
        })
    }

    /// All joints, each followed by everything below it: the order in which an outline prints a tree. O(J) in all.
    pub fn depth_first(&self) -> impl Iterator<Item = JointId> {
        successors(self.roots().next(), |joint| {
            self.children(*joint).next().or_else(|| {
                successors(Some(*joint), |at| self.parent(*at)).find_map(|at| self.next_sibling(at))
            })
        })
    }

    /// The lowest joint that `a` and `b` both are or hang on; `None` if they have different roots. O(depth).
    pub fn common_ancestor(&self, mut a: JointId, mut b: JointId) -> Option<JointId> {
        // The later of two joints is never above the other.
        while a != b {
            let later = if a > b { &mut a } else { &mut b };
            *later = self.parent(*later)?;
        }
        Some(a)
    }

    /// The joints from `root` down to `end`, both included; `None` if `end` is neither `root` nor below it.
    pub fn chain(&self, root: JointId, end: JointId) -> Option<Vec<JointId>> {
        let mut chain = self.climb(end, root)?;
        chain.reverse();
        Some(chain)
    }

    /// The joints from `from` up to the common ancestor and down to `to`, all included, each once.
    ///
    /// `None` if they have different roots.
    pub fn path(&self, from: JointId, to: JointId) -> Option<Vec<JointId>> {
        let top = self.common_ancestor(from, to)?;
        let mut path = self.climb(from, top)?;
        let down = self.climb(to, top)?;
        path.extend(down.into_iter().rev().skip(1));
        Some(path)
    }

    /// From `joint` up to `top`, both included; `None` if it never gets there.
    fn climb(&self, joint: JointId, top: JointId) -> Option<Vec<JointId>> {
        let mut joints = vec![joint];
        let mut at = joint;
        while at != top {
            at = self.parent(at)?;
            joints.push(at);
        }
        Some(joints)
    }

    fn next_sibling(&self, joint: JointId) -> Option<JointId> {
        let next = joint.index() + 1;
        let parent = self.parents().get(next)?;
        (*parent == self.parent(joint)).then_some(JointId(next as u16))
    }
}
