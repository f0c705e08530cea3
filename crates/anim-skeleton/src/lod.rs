//! Levels of detail: fewer joints for those who are far away.
//!
//! Parents come first, so the first n joints are a skeleton of their own. At a coarse level only these are sampled, blended
//! and solved; the rest follow them rigidly, as they rest, so that skins need no change. Breadth-first order cuts by depth:
//! fingers, toes and faces go first. To update less often instead, or besides, see
//! [`RateReducer`](crate::RateReducer).
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{Globals, JointSpec, Mask, Skeleton, SkeletonLod};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0)), bone(Some(1))])?;
//! let [body, hand, finger] = [0, 1, 2].map(|source| skeleton.joint(source));
//!
//! let mut far = Mask::uniform(&skeleton, 0.0);
//! far.set(hand, 1.0);
//! let lod = SkeletonLod::new(&skeleton, &[far]);
//! assert_eq!(lod.joint_counts(), [3, 2]);
//!
//! let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//! pose.set_translation(body, Vec3::x());
//! pose.set_translation(finger, Vec3::zeros()); // unseen from afar
//! skeleton.globals_prefix(lod.joint_count(1), &pose, &mut globals);
//! assert_eq!(globals.get(finger).translation, Vec3::new(1.0, 2.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::iter::successors;

use anim_math::lanes::{Level, dispatch};

use crate::globals::update_range;
use crate::{Clip, Globals, Mask, Pose, Skeleton};

/// How many joints each level of detail has; level 0 has all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkeletonLod {
    joint_counts: Vec<usize>,
}

impl SkeletonLod {
    /// Makes a level of each mask, finest first: the joints up to the last that has a factor above 0.
    ///
    /// What is above a joint is always kept, and so are joints that breadth-first order puts before it. A level never has
    /// more joints than the one before.
    ///
    /// # Panics
    ///
    /// If a mask is of another skeleton's size.
    pub fn new(skeleton: &Skeleton, keep: &[Mask]) -> Self {
        let count = |mask: &Mask| {
            let factors = mask.as_slice();
            assert_eq!(factors.len(), skeleton.len(), "mask of another skeleton");
            let last = factors.iter().rposition(|factor| *factor > 0.0);
            last.map_or(0, |last| last + 1)
        };
        Self::falling(skeleton, keep.iter().map(count))
    }

    /// Makes levels of whole generations: `depths[0]` of them, counted from the roots, at level 1, and so on.
    pub fn by_depth(skeleton: &Skeleton, depths: &[usize]) -> Self {
        let count = |depth: &usize| {
            let roots = 0..skeleton.roots().len();
            let generations = successors(Some(roots), |generation| {
                Some(skeleton.children_of(generation.clone()))
            });
            let some = generations.take_while(|joints| !joints.is_empty());
            some.take(*depth).map(|joints| joints.len()).sum()
        };
        Self::falling(skeleton, depths.iter().map(count))
    }

    fn falling(skeleton: &Skeleton, counts: impl Iterator<Item = usize>) -> Self {
        let mut joint_counts = vec![skeleton.len()];
        let mut finer = skeleton.len();
        for count in counts {
            finer = finer.min(count);
            joint_counts.push(finer);
        }
        Self { joint_counts }
    }

    /// Joints of each level, none rising.
    pub fn joint_counts(&self) -> &[usize] {
        &self.joint_counts
    }

    /// Joints of `level`; of the coarsest if there are fewer levels.
    pub fn joint_count(&self, level: usize) -> usize {
        let coarsest = self.joint_counts.len() - 1;
        self.joint_counts[level.min(coarsest)]
    }
}

impl Skeleton {
    /// Forward kinematics of the first `joint_count` joints; the others follow rigidly, as they rest.
    ///
    /// Local transforms of those others are not read, so they need not be sampled. The first have the bits of
    /// [`globals`](Self::globals). O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals_prefix(&self, joint_count: usize, pose: &Pose, out: &mut Globals) {
        self.check_sizes(pose, out);
        let (parents, count) = (self.parents(), joint_count.min(self.len()));
        let (moved, rest, slots) = (pose.blocks(), self.rest().blocks(), out.slots_mut());
        dispatch!(Level::new(), simd => {
            update_range(simd, parents, moved, 0..count, slots);
            update_range(simd, parents, rest, count..parents.len(), slots);
        });
    }
}

impl Clip {
    /// As [`sample`](Self::sample), for the first `joint_count` joints alone; those behind them in the last block of eight
    /// may be written too.
    ///
    /// O(`joint_count`) and O(moving translations, scales and steps); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `out` has another number of joints than the clip.
    pub fn sample_prefix(&self, joint_count: usize, time: f32, out: &mut Pose) {
        self.sample_first(Level::new(), joint_count, time, out);
    }
}
