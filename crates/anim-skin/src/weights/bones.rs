//! Bones as binding methods see them: segments in the mesh's space, each moving with one joint.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::weights::Bones;
//!
//! let joint = |parent, y| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::new(0.0, y, 0.0)) };
//! let skeleton = Skeleton::new(vec![joint(None, 0.0), joint(Some(0), 1.0), joint(Some(1), 0.5)])?;
//! let bones = Bones::from_skeleton(&skeleton)?;
//! assert_eq!(bones.segments()[0].tail, Vec3::y());
//! assert_eq!(bones.segments().last().map(|bone| bone.joint), Some(2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Vec3;
use anim_skeleton::{Globals, Skeleton};
use serde::{Deserialize, Serialize};

use super::rows::check_joint_count;
use crate::SkinError;

/// A segment that moves with a joint; head and tail may coincide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bone {
    /// Where the joint turns, in the mesh's space.
    pub head: Vec3,
    /// The other end.
    pub tail: Vec3,
    /// Place in the skin's joint list.
    pub joint: u16,
}

/// Checked bones of a skin with J joints; a joint may have several, or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Bones {
    segments: Vec<Bone>,
    joint_count: usize,
}

impl Bones {
    /// Checks `segments` against a list of `joint_count` joints.
    ///
    /// # Errors
    ///
    /// [`SkinError::NoJoints`] without a segment, [`SkinError::TooManyJoints`] above 65,536, so that every binding method can
    /// name its joints, [`SkinError::NotFinite`] and [`SkinError::NoBoneJoint`] for a segment.
    pub fn new(segments: Vec<Bone>, joint_count: usize) -> Result<Self, SkinError> {
        if segments.is_empty() {
            return Err(SkinError::NoJoints);
        }
        check_joint_count(joint_count)?;
        for (index, bone) in segments.iter().enumerate() {
            if !bone
                .head
                .iter()
                .chain(bone.tail.iter())
                .all(|c| c.is_finite())
            {
                return Err(SkinError::NotFinite {
                    what: "bone",
                    index,
                });
            }
            if usize::from(bone.joint) >= joint_count {
                return Err(SkinError::NoBoneJoint {
                    bone: index,
                    joint: usize::from(bone.joint),
                    joint_count,
                });
            }
        }
        Ok(Self {
            segments,
            joint_count,
        })
    }

    /// The bones of a skeleton at rest, its joints in their own order: one from each joint to each of its children.
    ///
    /// A joint without children gets half of its parent's bone, carried on in the same direction, so that hands and heads
    /// are more than a point; a root without children stays a point.
    ///
    /// # Errors
    ///
    /// [`SkinError::NotFinite`] if the rest pose overflows.
    pub fn from_skeleton(skeleton: &Skeleton) -> Result<Self, SkinError> {
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let places: Vec<Vec3> = skeleton
            .joints()
            .map(|joint| globals.get(joint).translation)
            .collect();
        let mut segments = Vec::with_capacity(places.len());
        let mut has_child = vec![false; places.len()];
        for joint in skeleton.joints() {
            let Some(parent) = skeleton.parent(joint) else {
                continue;
            };
            has_child[parent.index()] = true;
            segments.push(Bone {
                head: places[parent.index()],
                tail: places[joint.index()],
                joint: parent.index() as u16,
            });
        }
        for joint in skeleton.joints().filter(|joint| !has_child[joint.index()]) {
            let head = places[joint.index()];
            let reach = skeleton
                .parent(joint)
                .map_or(Vec3::zeros(), |parent| head - places[parent.index()]);
            segments.push(Bone {
                head,
                tail: head + reach * 0.5,
                joint: joint.index() as u16,
            });
        }
        segments.sort_by_key(|bone| bone.joint);
        Self::new(segments, places.len())
    }

    /// The segments; never empty.
    pub fn segments(&self) -> &[Bone] {
        &self.segments
    }

    /// Number of joints, J.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }
}
