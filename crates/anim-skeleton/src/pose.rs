//! Local transforms of all joints, in blocks of eight for the kernels.

use anim_math::lanes::{LANES, Lanes};
use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Transform, Vec3};

use crate::JointId;

/// Eight neighbouring joints, one lane each; spare lanes of the last block hold the identity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct PoseBlock {
    /// x, y, z, w.
    pub rotation: [Lanes; 4],
    /// x, y, z, metres.
    pub translation: [Lanes; 3],
    /// x, y, z.
    pub scale: [Lanes; 3],
}

impl PoseBlock {
    /// Eight identities.
    pub const IDENTITY: Self = Self {
        rotation: [[0.0; LANES], [0.0; LANES], [0.0; LANES], [1.0; LANES]],
        translation: [[0.0; LANES]; 3],
        scale: [[1.0; LANES]; 3],
    };

    /// The transform in one lane.
    ///
    /// # Panics
    ///
    /// If `lane` is not below 8.
    pub fn get(&self, lane: usize) -> Transform {
        let rotation = self.rotation.each_ref().map(|part| part[lane]);
        Transform {
            translation: Vec3::from(self.translation.each_ref().map(|part| part[lane])),
            rotation: Quat::new_unchecked(Quaternion::from_vector(Vector4::from(rotation))),
            scale: Vec3::from(self.scale.each_ref().map(|part| part[lane])),
        }
    }
}

/// The local transforms of a skeleton's joints, breadth-first.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    joint_count: usize,
    blocks: Vec<PoseBlock>,
}

impl Pose {
    /// Identities for `joint_count` joints.
    pub fn identity(joint_count: usize) -> Self {
        Self {
            joint_count,
            blocks: vec![PoseBlock::IDENTITY; joint_count.div_ceil(LANES)],
        }
    }

    /// Number of joints, J.
    pub fn len(&self) -> usize {
        self.joint_count
    }

    /// True without joints.
    pub fn is_empty(&self) -> bool {
        self.joint_count == 0
    }

    /// The ⌈J / 8⌉ blocks.
    pub fn blocks(&self) -> &[PoseBlock] {
        &self.blocks
    }

    /// The ⌈J / 8⌉ blocks, for kernels; rotations must stay unit and spare lanes the identity.
    pub fn blocks_mut(&mut self) -> &mut [PoseBlock] {
        &mut self.blocks
    }

    /// The local transform of `joint`.
    pub fn get(&self, joint: JointId) -> Transform {
        let (block, lane) = self.place(joint);
        block.get(lane)
    }

    /// Sets the local transform of `joint`.
    pub fn set(&mut self, joint: JointId, transform: Transform) {
        self.set_translation(joint, transform.translation);
        self.set_rotation(joint, transform.rotation);
        self.set_scale(joint, transform.scale);
    }

    /// Metres.
    pub fn translation(&self, joint: JointId) -> Vec3 {
        let (block, lane) = self.place(joint);
        Vec3::from(block.translation.each_ref().map(|part| part[lane]))
    }

    /// A unit quaternion.
    pub fn rotation(&self, joint: JointId) -> Quat {
        let (block, lane) = self.place(joint);
        let xyzw = block.rotation.each_ref().map(|part| part[lane]);
        Quat::new_unchecked(Quaternion::from_vector(Vector4::from(xyzw)))
    }

    /// Factors.
    pub fn scale(&self, joint: JointId) -> Vec3 {
        let (block, lane) = self.place(joint);
        Vec3::from(block.scale.each_ref().map(|part| part[lane]))
    }

    /// Sets the translation of `joint`, metres.
    pub fn set_translation(&mut self, joint: JointId, translation: Vec3) {
        let (block, lane) = self.place_mut(joint);
        for (part, value) in block.translation.iter_mut().zip(translation.iter()) {
            part[lane] = *value;
        }
    }

    /// Sets the rotation of `joint`.
    pub fn set_rotation(&mut self, joint: JointId, rotation: Quat) {
        let (block, lane) = self.place_mut(joint);
        for (part, value) in block.rotation.iter_mut().zip(rotation.coords.iter()) {
            part[lane] = *value;
        }
    }

    /// Sets the scale of `joint`.
    pub fn set_scale(&mut self, joint: JointId, scale: Vec3) {
        let (block, lane) = self.place_mut(joint);
        for (part, value) in block.scale.iter_mut().zip(scale.iter()) {
            part[lane] = *value;
        }
    }

    /// Copies another pose of the same skeleton.
    ///
    /// # Panics
    ///
    /// If the joint counts differ.
    pub fn copy_from(&mut self, other: &Self) {
        assert_eq!(
            self.joint_count, other.joint_count,
            "poses of two skeletons"
        );
        self.blocks.copy_from_slice(&other.blocks);
    }

    /// True if no component is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.blocks.iter().all(|block| {
            let lanes = block
                .rotation
                .iter()
                .chain(&block.translation)
                .chain(&block.scale);
            lanes.flatten().all(|v| v.is_finite())
        })
    }

    fn place(&self, joint: JointId) -> (&PoseBlock, usize) {
        (&self.blocks[joint.index() / LANES], joint.index() % LANES)
    }

    fn place_mut(&mut self, joint: JointId) -> (&mut PoseBlock, usize) {
        (
            &mut self.blocks[joint.index() / LANES],
            joint.index() % LANES,
        )
    }
}
