//! The serialised form of a clip, checked on the way in.

use anim_math::Transform;
use anim_math::lanes::LANES;
use serde::{Deserialize, Serialize};

use crate::clip::{Part, RotationKey, StepTrack, VectorTrack};
use crate::{Clip, JointId, Pose, SkeletonError};

/// A clip's fields, without what follows from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ClipParts {
    duration: f32,
    samples: usize,
    base: Vec<Transform>,
    moving: Vec<u8>,
    rotations: Vec<[[i16; LANES]; 4]>,
    vector_tracks: Vec<VectorTrack>,
    vectors: Vec<[f32; 3]>,
    steps: Vec<StepTrack>,
}

impl TryFrom<ClipParts> for Clip {
    type Error = SkeletonError;

    fn try_from(parts: ClipParts) -> Result<Self, SkeletonError> {
        let broken = |what| SkeletonError::BrokenClip { what };
        let require = |holds: bool, what| if holds { Ok(()) } else { Err(broken(what)) };
        let joint_count = parts.base.len();
        let samples = parts.samples;
        require(joint_count <= usize::from(u16::MAX), "joint count")?;
        require(parts.base.iter().all(Transform::is_finite), "base pose")?;
        require(
            parts.duration.is_finite() && parts.duration >= 0.0,
            "duration",
        )?;
        require(
            samples == 1 || samples > 1 && parts.duration > 0.0,
            "sample count",
        )?;
        require(
            parts.moving.len() == joint_count.div_ceil(LANES),
            "moving lanes",
        )?;
        let stride = parts.moving.iter().filter(|lanes| **lanes != 0).count();
        require(
            samples.checked_mul(stride) == Some(parts.rotations.len()),
            "rotation count",
        )?;
        let vectors = samples.checked_mul(parts.vector_tracks.len());
        require(vectors == Some(parts.vectors.len()), "vector count")?;
        let joints = parts.vector_tracks.iter().map(|track| track.joint);
        let mut joints = joints.chain(parts.steps.iter().map(|track| track.joint));
        require(
            joints.all(|joint| joint.index() < joint_count),
            "joint of a curve",
        )?;
        require(
            parts.vectors.as_flattened().iter().all(|v| v.is_finite()),
            "vector",
        )?;
        require(
            parts
                .vector_tracks
                .iter()
                .all(|track| track.part != Part::Rotation),
            "part of a vector",
        )?;
        require(parts.steps.iter().all(is_whole), "step")?;
        let rotations: Vec<_> = parts.rotations.into_iter().map(RotationKey).collect();
        require(are_mixable(&parts.moving, &rotations), "rotation")?;
        let mut base = Pose::identity(joint_count);
        for (joint, transform) in parts.base.into_iter().enumerate() {
            base.set(JointId(joint as u16), transform);
        }
        Ok(Self {
            duration: parts.duration,
            samples,
            rate: sample_rate(parts.duration, samples),
            base,
            moving: parts.moving,
            rotations,
            vector_tracks: parts.vector_tracks,
            vectors: parts.vectors,
            steps: parts.steps,
        })
    }
}

impl From<Clip> for ClipParts {
    fn from(clip: Clip) -> Self {
        let joints = 0..clip.joint_count() as u16;
        Self {
            duration: clip.duration,
            samples: clip.samples,
            base: joints.map(|joint| clip.base.get(JointId(joint))).collect(),
            moving: clip.moving,
            rotations: clip.rotations.into_iter().map(|key| key.0).collect(),
            vector_tracks: clip.vector_tracks,
            vectors: clip.vectors,
            steps: clip.steps,
        }
    }
}

/// Samples per second; 0 if there is only one.
pub(crate) fn sample_rate(duration: f32, samples: usize) -> f64 {
    if samples > 1 {
        (samples - 1) as f64 / f64::from(duration)
    } else {
        0.0
    }
}

/// True if the keys of moving lanes are near unit length and no mix of neighbouring ones is near zero.
fn are_mixable(moving: &[u8], keys: &[RotationKey]) -> bool {
    let moving: Vec<u8> = moving.iter().copied().filter(|lanes| *lanes != 0).collect();
    let one = i64::from(i16::MAX).pow(2);
    keys.iter().enumerate().all(|(place, key)| {
        let next = keys.get(place + moving.len()).unwrap_or(key);
        let lengths = dots(key, key).map(|square| square > one / 8);
        let mixes = dots(key, next).map(|dot| dot > -one / 16);
        let lanes = moving[place % moving.len()];
        (0..LANES).all(|lane| lanes >> lane & 1 == 0 || lengths[lane] && mixes[lane])
    })
}

fn dots(a: &RotationKey, b: &RotationKey) -> [i64; LANES] {
    let mut dots = [0; LANES];
    for (a, b) in a.0.iter().zip(&b.0) {
        for (dot, (a, b)) in dots.iter_mut().zip(a.iter().zip(b)) {
            *dot += i64::from(*a) * i64::from(*b);
        }
    }
    dots
}

pub(crate) fn is_whole(track: &StepTrack) -> bool {
    let is_unit = |v: &[f32; 4]| (v.iter().map(|v| v * v).sum::<f32>() - 1.0).abs() < 1e-3;
    !track.times.is_empty()
        && track.times.len() == track.values.len()
        && track.times.is_sorted()
        && track.values.as_flattened().iter().all(|v| v.is_finite())
        && (track.part != Part::Rotation || track.values.iter().all(is_unit))
}
