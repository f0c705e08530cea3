//! The exact curves of a clip, as imported or edited.

use anim_curves::{Interpolation, Track, WideTrack};
use anim_math::{Quat, Transform, Vec3};
use serde::{Deserialize, Serialize};

use crate::{JointId, Pose, Skeleton, SkeletonError};

/// One animated property of one joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Channel {
    /// Index of the joint in source order.
    pub joint: usize,
    /// What moves, and how.
    pub track: JointTrack,
}

/// A curve for a part of a joint's local transform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JointTrack {
    /// Metres.
    Translation(Track<Vec3>),
    /// Unit quaternions.
    Rotation(Track<Quat>),
    /// Factors.
    Scale(Track<Vec3>),
}

impl JointTrack {
    /// Key times, s, strictly rising, at least one.
    pub fn times(&self) -> &[f32] {
        match self {
            Self::Translation(track) | Self::Scale(track) => track.times(),
            Self::Rotation(track) => track.times(),
        }
    }

    /// The way between keys.
    pub fn interpolation(&self) -> Interpolation {
        match self {
            Self::Translation(track) | Self::Scale(track) => track.interpolation(),
            Self::Rotation(track) => track.interpolation(),
        }
    }

    /// The value at `time`, s, clamped to the keys; the other parts are those of the identity.
    pub fn at(&self, time: f32) -> Transform {
        let mut transform = Transform::IDENTITY;
        match self {
            Self::Translation(track) => transform.translation = track.sample(time),
            Self::Rotation(track) => transform.rotation = track.sample(time),
            Self::Scale(track) => transform.scale = track.sample(time),
        }
        transform
    }

    /// Sets the part of `joint` that this curve moves.
    pub(crate) fn write(&self, time: f32, joint: JointId, out: &mut Pose) {
        match self {
            Self::Translation(track) => out.set_translation(joint, track.sample(time)),
            Self::Rotation(track) => out.set_rotation(joint, track.sample(time)),
            Self::Scale(track) => out.set_scale(joint, track.sample(time)),
        }
    }
}

/// The morph weights of the meshes at one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MorphChannel {
    /// Index of the joint that carries the mesh, source order.
    pub joint: usize,
    /// One weight a target.
    pub track: WideTrack,
}

/// A clip as exact curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClipSpec {
    /// Optional, and need not be unique.
    #[serde(default)]
    pub name: Option<String>,
    /// Joint curves; of two for the same property of the same joint the later wins.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// Morph weight curves.
    #[serde(default)]
    pub morphs: Vec<MorphChannel>,
}

impl ClipSpec {
    /// The time of the last key of all curves, s; 0 without curves. Clips start at 0.
    pub fn duration(&self) -> f32 {
        let joints = self
            .channels
            .iter()
            .filter_map(|channel| channel.track.times().last().copied());
        let morphs = self.morphs.iter().map(|channel| channel.track.end());
        joints.chain(morphs).fold(0.0, f32::max)
    }

    /// Checks that every channel names a joint of `skeleton`.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`], counting joint channels first, then morph channels.
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), SkeletonError> {
        let joints = self.channels.iter().map(|channel| channel.joint);
        let morphs = self.morphs.iter().map(|channel| channel.joint);
        for (channel, joint) in joints.chain(morphs).enumerate() {
            if joint >= skeleton.len() {
                return Err(SkeletonError::NoJoint { channel, joint });
            }
        }
        Ok(())
    }

    /// Writes the exact pose at `time`, s: the rest pose where nothing is animated. Times clamp to each curve's keys.
    ///
    /// Channels that name no joint of `skeleton` are left out. For tools; O(channels · log keys).
    ///
    /// # Panics
    ///
    /// If `out` belongs to a skeleton with another number of joints.
    pub fn sample(&self, skeleton: &Skeleton, time: f32, out: &mut Pose) {
        out.copy_from(skeleton.rest());
        for channel in self
            .channels
            .iter()
            .filter(|channel| channel.joint < skeleton.len())
        {
            channel
                .track
                .write(time, skeleton.joint(channel.joint), out);
        }
    }
}
