//! Partial forward kinematics: after a few edits, only what they move.
//!
//! For solvers and tools that touch several joints between two reads of the matrices. After a single joint,
//! [`Skeleton::globals_below`] is as good; after most of them, [`Skeleton::globals`].
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0)), bone(Some(1)), bone(Some(0))])?;
//! let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//! skeleton.globals(&pose, &mut globals);
//!
//! let elbow = skeleton.joint(1);
//! pose.set_translation(elbow, Vec3::x());
//! let mut dirty = vec![false; skeleton.len()];
//! dirty[elbow.index()] = true;
//! skeleton.globals_dirty(&mut dirty, &pose, &mut globals);
//! assert_eq!(globals.get(skeleton.joint(2)).translation, Vec3::new(1.0, 2.0, 0.0));
//! // What moved: the elbow and the hand on it, but neither the body nor its tail.
//! assert_eq!([0, 1, 2, 3].map(|source| dirty[skeleton.joint(source).index()]), [false, true, true, false]);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use anim_math::lanes::{Level, Simd, dispatch};

use crate::globals::{GlobalSlot, update_range};
use crate::{Globals, JointId, Pose, PoseBlock, Skeleton};

impl Skeleton {
    /// Recomputes the joints whose local transforms changed and everything below them, to the bits of a full pass.
    ///
    /// * `dirty`: J flags by [`JointId::index`]. In: the joints that changed. Out: those recomputed, which are these and
    ///   their descendants; clear them before the next edits.
    ///
    /// O(J) flags and O(recomputed) matrices; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `dirty`, `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals_dirty(&self, dirty: &mut [bool], pose: &Pose, out: &mut Globals) {
        self.check_sizes(pose, out);
        assert_eq!(dirty.len(), self.len(), "flags of another skeleton");
        spread(self.parents(), dirty);
        let (parents, blocks, slots) = (self.parents(), pose.blocks(), out.slots_mut());
        dispatch!(Level::new(), simd => update_runs(simd, parents, blocks, dirty, slots));
    }
}

/// Marks what hangs on marked joints; parents come first, so one pass meets all.
fn spread(parents: &[Option<JointId>], dirty: &mut [bool]) {
    for (joint, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent {
            dirty[joint] |= dirty[parent.index()];
        }
    }
}

#[inline(always)]
fn update_runs<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    blocks: &[PoseBlock],
    dirty: &[bool],
    out: &mut [GlobalSlot],
) {
    let mut start = 0;
    for run in dirty.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        if run[0] {
            update_range(simd, parents, blocks, start..end, out);
        }
        start = end;
    }
}
