//! Forward kinematics: where every joint is in model space.

use anim_math::{Affine, Mat3, Vec3};

use crate::{JointId, Pose, Skeleton};

/// A row-major 3×4 matrix in a 64-byte slot; the fourth row is 0 0 0 1, so that it uploads as it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct GlobalSlot(pub [[f32; 4]; 4]);

impl GlobalSlot {
    /// The identity.
    pub const IDENTITY: Self = Self([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]);
}

impl From<GlobalSlot> for Affine {
    fn from(GlobalSlot([x, y, z, _]): GlobalSlot) -> Self {
        Self {
            linear: Mat3::new(x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]),
            translation: Vec3::new(x[3], y[3], z[3]),
        }
    }
}

impl From<Affine> for GlobalSlot {
    fn from(affine: Affine) -> Self {
        let row = |r: usize| {
            let l = affine.linear;
            [l[(r, 0)], l[(r, 1)], l[(r, 2)], affine.translation[r]]
        };
        Self([row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]])
    }
}

/// `model_from_joint` of all joints, breadth-first; shear is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Globals(Vec<GlobalSlot>);

impl Globals {
    /// Identities for the joints of `skeleton`.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self(vec![GlobalSlot::IDENTITY; skeleton.len()])
    }

    /// `model_from_joint`.
    pub fn get(&self, joint: JointId) -> Affine {
        self.0[joint.index()].into()
    }

    /// Sets `model_from_joint`; children do not follow.
    pub fn set(&mut self, joint: JointId, model_from_joint: Affine) {
        self.0[joint.index()] = model_from_joint.into();
    }

    /// J slots, breadth-first.
    pub fn slots(&self) -> &[GlobalSlot] {
        &self.0
    }

    /// J slots, for kernels.
    pub fn slots_mut(&mut self) -> &mut [GlobalSlot] {
        &mut self.0
    }
}

impl Skeleton {
    /// Forward kinematics: writes `model_from_joint = model_from_parent · parent_from_joint` for all joints.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals(&self, pose: &Pose, out: &mut Globals) {
        assert_eq!(pose.len(), self.len(), "pose of another skeleton");
        assert_eq!(out.0.len(), self.len(), "globals of another skeleton");
        for joint in self.joints() {
            self.update_global(joint, pose, out);
        }
    }

    /// Recomputes `joint` and everything below it after an edit of its local transform; O(joints after it).
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals_below(&self, joint: JointId, pose: &Pose, out: &mut Globals) {
        assert_eq!(pose.len(), self.len(), "pose of another skeleton");
        assert_eq!(out.0.len(), self.len(), "globals of another skeleton");
        self.update_global(joint, pose, out);
        for other in self.joints().skip(joint.index() + 1) {
            if self.is_below(other, joint) {
                self.update_global(other, pose, out);
            }
        }
    }

    /// True if `joint` is a child of `ancestor`, or a child's child, and so on.
    pub fn is_below(&self, joint: JointId, ancestor: JointId) -> bool {
        let mut at = self.parent(joint);
        while let Some(parent) = at.filter(|parent| *parent >= ancestor) {
            if parent == ancestor {
                return true;
            }
            at = self.parent(parent);
        }
        false
    }

    fn update_global(&self, joint: JointId, pose: &Pose, out: &mut Globals) {
        let parent_from_joint = Affine::from(pose.get(joint));
        let model_from_joint = match self.parent(joint) {
            Some(parent) => out.get(parent) * parent_from_joint,
            None => parent_from_joint,
        };
        out.set(joint, model_from_joint);
    }
}
