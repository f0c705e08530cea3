//! Baked clips: uniform samples, so that any time costs the same and needs no state.
//!
//! Rotations are kept eight joints together, 16 bits a component, one key of 64 bytes each `duration / (n − 1)`
//! seconds; sampling loads two neighbouring keys, mixes and normalises. What does not move is kept once, in a base pose
//! that starts as the rest pose. Translations and scales that move are 32-bit samples of single joints. Stepped curves
//! are kept as they are: between uniform samples a step would become a slope. The exact curves live on in
//! [`ClipSpec`](crate::ClipSpec); morph weights are theirs alone.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Vec3, quat};
//! use anim_skeleton::{BakeOptions, Channel, Clip, ClipSpec, JointSpec, JointTrack, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Default::default() }])?;
//! let turn = |angle| quat::from_axis_angle(Vec3::y(), angle);
//! let track = Track::new(vec![Key::new(0.0, turn(0.0)), Key::new(2.0, turn(1.0))], Interpolation::Linear)?;
//! let spec = ClipSpec {
//!     channels: vec![Channel { joint: 0, track: JointTrack::Rotation(track) }],
//!     ..ClipSpec::default()
//! };
//! let (clip, report) = Clip::bake(&spec, &skeleton, &BakeOptions::default())?;
//! assert!(report.reached);
//!
//! let mut pose = skeleton.rest().clone();
//! clip.sample(1.0, &mut pose);
//! assert!((pose.rotation(skeleton.joint(0)).angle() - 0.5).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::lanes::{LANES, Level, Simd, SimdBase, dispatch, f32x8};
use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Transform, Vec3};
use serde::{Deserialize, Serialize};

use crate::clip_parts::ClipParts;
use crate::kernel::{copy, normalize, store};
use crate::{JointId, Pose, PoseBlock};

/// A clip ready to play: immutable, shared by any number of characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ClipParts", into = "ClipParts")]
pub struct Clip {
    /// Seconds.
    pub(crate) duration: f32,
    /// Samples, n; at least 1.
    pub(crate) samples: usize,
    /// Samples per second; 0 if there is only one.
    pub(crate) rate: f64,
    /// What does not move.
    pub(crate) base: Pose,
    /// For each block of joints a bit a lane: set where `rotations` has samples, and in spare lanes beside them.
    pub(crate) moving: Vec<u8>,
    /// n × A keys, A the number of blocks with a moving rotation, ascending.
    pub(crate) rotations: Vec<RotationKey>,
    /// V curves of translations and scales.
    pub(crate) vector_tracks: Vec<VectorTrack>,
    /// n × V values.
    pub(crate) vectors: Vec<[f32; 3]>,
    /// Curves that uniform samples cannot hold.
    pub(crate) steps: Vec<StepTrack>,
}

/// The rotations of eight joints at one time, x, y, z, w, in units of 1/32767.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct RotationKey(pub(crate) [[i16; LANES]; 4]);

impl RotationKey {
    /// Eight identities; normalising a power of two is exact.
    pub(crate) const IDENTITY: Self = Self([[0; LANES], [0; LANES], [0; LANES], [1 << 14; LANES]]);
}

/// What a component of 1 is stored as.
pub(crate) const UNIT: f32 = i16::MAX as f32;

/// What of a joint a curve moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Translation,
    Rotation,
    Scale,
}

/// Whose translation or scale moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct VectorTrack {
    pub(crate) joint: JointId,
    pub(crate) part: Part,
}

/// A curve that holds each value until the next key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StepTrack {
    pub(crate) joint: JointId,
    pub(crate) part: Part,
    /// Seconds, rising.
    pub(crate) times: Vec<f32>,
    /// One a key; a vector leaves the last component alone.
    pub(crate) values: Vec<[f32; 4]>,
}

impl StepTrack {
    fn sample(&self, time: f32) -> [f32; 4] {
        self.values[self
            .times
            .partition_point(|key| *key <= time)
            .saturating_sub(1)]
    }
}

/// Two neighbouring samples and the way between them.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: usize,
    to: usize,
    /// In [0, 1].
    alpha: f32,
}

impl Clip {
    /// Writes the pose at `time`, s, clamped to the clip; NaN is 0.
    ///
    /// The same time gives the same bits, whatever was sampled before and on every machine. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `out` has another number of joints than the clip.
    pub fn sample(&self, time: f32, out: &mut Pose) {
        self.sample_on(Level::new(), time, out);
    }

    /// As [`sample`](Self::sample), on a given instruction set; all give the same bits.
    ///
    /// # Panics
    ///
    /// If `out` has another number of joints than the clip.
    pub fn sample_on(&self, level: Level, time: f32, out: &mut Pose) {
        self.sample_first(level, self.joint_count(), time, out);
    }

    /// Samples the blocks of the first `joint_count` joints, and all that is not in blocks.
    pub(crate) fn sample_first(&self, level: Level, joint_count: usize, time: f32, out: &mut Pose) {
        assert_eq!(out.len(), self.joint_count(), "pose of another skeleton");
        let span = self.span(time);
        let blocks = joint_count.min(out.len()).div_ceil(LANES);
        let out_blocks = &mut out.blocks_mut()[..blocks];
        dispatch!(level, simd => sample_blocks(simd, self, span, out_blocks));
        let from = self.vectors_at(span.from);
        let to = self.vectors_at(span.to);
        for (track, (from, to)) in self.vector_tracks.iter().zip(from.iter().zip(to)) {
            write(track.part, mix(*from, *to, span.alpha), track.joint, out);
        }
        self.write_steps(time, out);
    }

    pub(crate) fn write_steps(&self, time: f32, out: &mut Pose) {
        let time = time.max(0.0);
        for track in &self.steps {
            write(track.part, track.sample(time), track.joint, out);
        }
    }

    /// The local transform of one joint at `time`, to the bits of [`sample`](Self::sample).
    ///
    /// # Panics
    ///
    /// If the clip has no such joint.
    pub fn sample_joint(&self, joint: JointId, time: f32) -> Transform {
        let mut out = self.base.get(joint);
        let span = self.span(time);
        if let Some([from, to]) = self.rotation_keys(joint, span) {
            out.rotation = mix_rotation(from, to, span.alpha);
        }
        let from = self.vectors_at(span.from);
        let to = self.vectors_at(span.to);
        for (track, (from, to)) in self.vector_tracks.iter().zip(from.iter().zip(to)) {
            if track.joint == joint {
                apply(track.part, mix(*from, *to, span.alpha), &mut out);
            }
        }
        let time = time.max(0.0);
        for track in self.steps.iter().filter(|track| track.joint == joint) {
            apply(track.part, track.sample(time), &mut out);
        }
        out
    }

    /// Seconds.
    pub fn duration(&self) -> f32 {
        self.duration
    }

    /// Number of joints, J.
    pub fn joint_count(&self) -> usize {
        self.base.len()
    }

    /// Number of samples, n; 1 if nothing moves.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Samples per second, (n − 1) / duration; 0 if nothing moves.
    pub fn rate(&self) -> f32 {
        self.rate as f32
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(self.base.blocks())
            + size_of_val(self.moving.as_slice())
            + size_of_val(self.rotations.as_slice())
            + size_of_val(self.vector_tracks.as_slice())
            + size_of_val(self.vectors.as_slice())
            + size_of_val(self.steps.as_slice())
            + self
                .steps
                .iter()
                .map(|track| 20 * track.times.len())
                .sum::<usize>()
    }

    /// `time` in samples, from the first to the last.
    pub(crate) fn place(&self, time: f32) -> f64 {
        // In f64 a time and the samples around it are exact enough that keys on samples are met at 0 or 1.
        (f64::from(time.max(0.0)) * self.rate).min((self.samples - 1) as f64)
    }

    fn span(&self, time: f32) -> Span {
        let last = self.samples - 1;
        let place = self.place(time);
        let from = (place as usize).min(last.saturating_sub(1));
        Span {
            from,
            to: (from + 1).min(last),
            alpha: (place - from as f64) as f32,
        }
    }

    pub(crate) fn rotations_at(&self, sample: usize) -> &[RotationKey] {
        let stride = self.rotations.len() / self.samples;
        &self.rotations[sample * stride..(sample + 1) * stride]
    }

    fn vectors_at(&self, sample: usize) -> &[[f32; 3]] {
        let stride = self.vector_tracks.len();
        &self.vectors[sample * stride..(sample + 1) * stride]
    }

    /// The keys of `joint` on both sides of `span`; `None` if its rotation does not move.
    fn rotation_keys(&self, joint: JointId, span: Span) -> Option<[[i16; 4]; 2]> {
        let (block, lane) = (joint.index() / LANES, joint.index() % LANES);
        if self.moving[block] >> lane & 1 == 0 {
            return None;
        }
        let place = self.moving[..block]
            .iter()
            .filter(|lanes| **lanes != 0)
            .count();
        let key = |sample| self.rotations_at(sample)[place].0.map(|part| part[lane]);
        Some([key(span.from), key(span.to)])
    }
}

#[inline(always)]
fn sample_blocks<S: Simd>(simd: S, clip: &Clip, span: Span, out: &mut [PoseBlock]) {
    let from = clip.rotations_at(span.from);
    let to = clip.rotations_at(span.to);
    let mut keys = from.iter().zip(to);
    let blocks = out.iter_mut().zip(clip.base.blocks());
    for ((out, base), moving) in blocks.zip(&clip.moving) {
        copy(simd, &base.translation, &mut out.translation);
        copy(simd, &base.scale, &mut out.scale);
        if *moving == 0 {
            copy(simd, &base.rotation, &mut out.rotation);
        } else if let Some((from, to)) = keys.next() {
            turn_block(simd, [from, to], span.alpha, (*moving, base), out);
        }
    }
}

/// The mix of two keys where `moving` has a bit, the rotation of `base` elsewhere.
#[inline(always)]
pub(crate) fn turn_block<S: Simd>(
    simd: S,
    [from, to]: [&RotationKey; 2],
    alpha: f32,
    (moving, base): (u8, &PoseBlock),
    out: &mut PoseBlock,
) {
    mix_block(simd, from, to, alpha, &mut out.rotation);
    if moving != u8::MAX {
        for lane in (0..LANES).filter(|lane| moving >> *lane & 1 == 0) {
            for (out, base) in out.rotation.iter_mut().zip(&base.rotation) {
                out[lane] = base[lane];
            }
        }
    }
}

#[inline(always)]
fn mix_block<S: Simd>(
    simd: S,
    from: &RotationKey,
    to: &RotationKey,
    alpha: f32,
    out: &mut [[f32; LANES]; 4],
) {
    let alpha = f32x8::splat(simd, alpha);
    let mut mixed = [alpha; 4];
    for ((mixed, from), to) in mixed.iter_mut().zip(&from.0).zip(&to.0) {
        let from = widen(simd, from);
        *mixed = from + (widen(simd, to) - from) * alpha;
    }
    // Lengths cancel here, so nothing is divided by 32767.
    store(normalize(simd, mixed), out);
}

#[inline(always)]
fn widen<S: Simd>(simd: S, key: &[i16; LANES]) -> f32x8<S> {
    let mut wide = [0.0; LANES];
    for (wide, key) in wide.iter_mut().zip(key) {
        *wide = f32::from(*key);
    }
    f32x8::load_array(simd, wide)
}

/// One lane of [`mix_block`], operation by operation.
fn mix_rotation(from: [i16; 4], to: [i16; 4], alpha: f32) -> Quat {
    let [from, to] = [from, to].map(|key| Vector4::from(key.map(f32::from)));
    let q = from + (to - from) * alpha;
    let length = (q.x * q.x + q.y * q.y + (q.z * q.z + q.w * q.w)).sqrt();
    quat_of((q * (1.0 / length)).into())
}

fn mix(from: [f32; 3], to: [f32; 3], alpha: f32) -> [f32; 4] {
    let part = |i: usize| from[i] * (1.0 - alpha) + to[i] * alpha;
    [part(0), part(1), part(2), 0.0]
}

pub(crate) fn write(part: Part, [x, y, z, w]: [f32; 4], joint: JointId, out: &mut Pose) {
    match part {
        Part::Translation => out.set_translation(joint, Vec3::new(x, y, z)),
        Part::Rotation => out.set_rotation(joint, quat_of([x, y, z, w])),
        Part::Scale => out.set_scale(joint, Vec3::new(x, y, z)),
    }
}

fn apply(part: Part, [x, y, z, w]: [f32; 4], out: &mut Transform) {
    match part {
        Part::Translation => out.translation = Vec3::new(x, y, z),
        Part::Rotation => out.rotation = quat_of([x, y, z, w]),
        Part::Scale => out.scale = Vec3::new(x, y, z),
    }
}

fn quat_of(xyzw: [f32; 4]) -> Quat {
    Quat::new_unchecked(Quaternion::from(xyzw))
}
