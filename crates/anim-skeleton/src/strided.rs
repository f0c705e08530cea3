//! Clips with fewer keys where little happens: for calm motion less than half the memory of a [`Clip`], and slower.
//!
//! The samples of each block of eight joints are cut into segments of sixteen, and each segment keeps every first, second,
//! fourth, eighth or sixteenth, as the tolerance allows. Sampling finds its two keys by a division, so any time costs the
//! same and needs no state, as with [`Clip`]. Use it where many long clips must stay in memory: noise, and clips of a
//! second or two, leave next to nothing to leave out. On disk a [`CompressedClip`](crate::CompressedClip) is far smaller
//! than either.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Vec3, quat};
//! use anim_skeleton::{BakeOptions, Channel, ClipSpec, JointSpec, JointTrack, Skeleton, StridedClip};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Default::default() }])?;
//! let turn = |frame: u16| Key::new(f32::from(frame) / 30.0, quat::from_axis_angle(Vec3::y(), f32::from(frame / 30)));
//! let track = Track::new((0..=600).map(turn).collect(), Interpolation::Linear)?;
//! let spec = ClipSpec {
//!     channels: vec![Channel { joint: 0, track: JointTrack::Rotation(track) }],
//!     ..ClipSpec::default()
//! };
//! let (clip, report) = StridedClip::bake(&spec, &skeleton, &BakeOptions::default())?;
//! assert!(report.reached && clip.keys() < 300);
//!
//! let mut pose = skeleton.rest().clone();
//! clip.sample(2.5, &mut pose);
//! assert!((pose.rotation(skeleton.joint(0)).angle() - 2.0).abs() < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::lanes::{LANES, Level, Simd, dispatch};
use anim_math::nalgebra::Vector4;

use crate::bake::Source;
use crate::clip::{RotationKey, turn_block};
use crate::levers::Levers;
use crate::object_error::{Deviation, ObjectError};
use crate::{BakeOptions, BakeReport, Clip, ClipSpec, Pose, PoseBlock, Skeleton, SkeletonError};

/// Samples in a segment.
const SEGMENT: usize = 16;
/// What uniform sampling may use of the tolerance; the rest is for leaving out keys.
const SAMPLING_PART: f32 = 0.5;
/// Parts of the tolerance that leaving out a key may use at each joint, the largest first: errors of a chain add up.
const SHARES: [f32; 6] = [0.5, 0.35, 0.25, 0.17, 0.1, 0.05];

/// A clip ready to play, in less memory: immutable, shared by any number of characters.
#[derive(Clone, Debug, PartialEq)]
pub struct StridedClip {
    /// Everything but the rotations that move.
    still: Clip,
    /// For each block of joints a bit a lane, as [`Clip`] has.
    moving: Vec<u8>,
    /// For each moving block its segments, rising.
    segments: Vec<Segment>,
    /// For each moving block the keys of its segments and its last sample.
    keys: Vec<RotationKey>,
}

/// Sixteen samples of a block of joints, or what is left of them at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    /// Place of its first key.
    first: u32,
    /// Samples from one key to the next.
    stride: u32,
}

impl StridedClip {
    /// Bakes `spec` as [`Clip::bake`] does, within half the tolerance, and leaves out keys within the other half.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`] if a channel names a joint that `skeleton` lacks.
    pub fn bake(
        spec: &ClipSpec,
        skeleton: &Skeleton,
        options: &BakeOptions,
    ) -> Result<(Self, BakeReport), SkeletonError> {
        spec.check(skeleton)?;
        let sampling = BakeOptions {
            tolerance: options.tolerance * SAMPLING_PART,
            ..*options
        };
        let source = Source::new(spec, skeleton, &sampling);
        let (dense, _) = source.baked(&sampling);
        let levers = Levers::measure(skeleton, &source.exact, &source.key_times, options.shell);
        let (mut clip, mut error) = (None, Deviation::default());
        for share in SHARES.into_iter().chain([0.0]) {
            let strided = Self::from_dense(&dense, &levers.reach, options.tolerance * share);
            error = strided.measure(&source, options.shell);
            clip = Some(strided);
            if error.distance <= options.tolerance {
                break;
            }
        }
        let clip = clip.unwrap_or_else(|| Self::from_dense(&dense, &levers.reach, 0.0));
        let report = BakeReport {
            rate: dense.rate(),
            samples: dense.samples(),
            bytes: clip.bytes(),
            max_error: error.distance,
            worst_joint: error.joint,
            worst_time: error.time,
            reached: error.distance <= options.tolerance,
        };
        Ok((clip, report))
    }

    /// Leaves out the keys that move no joint's farthest point, `reach` away, by more than `stray`.
    fn from_dense(dense: &Clip, reach: &[f32], stray: f32) -> Self {
        let mut still = dense.clone();
        still.rotations = Vec::new();
        still.moving = vec![0; dense.moving.len()];
        let mut strided = Self {
            still,
            moving: dense.moving.clone(),
            segments: Vec::new(),
            keys: Vec::new(),
        };
        let last = dense.samples - 1;
        let moving = dense
            .moving
            .iter()
            .enumerate()
            .filter(|(_, lanes)| **lanes != 0);
        for (place, (block, _)) in moving.enumerate() {
            let reach = &reach[block * LANES..reach.len().min((block + 1) * LANES)];
            let key = |sample: usize| &dense.rotations_at(sample)[place];
            for from in (0..last).step_by(SEGMENT) {
                let to = last.min(from + SEGMENT);
                let fits = |stride: usize| {
                    (from..to).step_by(stride).all(|first| {
                        let last = to.min(first + stride);
                        (first + 1..last).all(|sample| {
                            let alpha = (sample - first) as f32 / (last - first) as f32;
                            let ends = [key(first), key(last)];
                            strays(ends, alpha, key(sample), reach) <= stray
                        })
                    })
                };
                let stride = [16, 8, 4, 2]
                    .into_iter()
                    .find(|stride| fits(*stride))
                    .unwrap_or(1);
                strided.segments.push(Segment {
                    first: strided.keys.len() as u32,
                    stride: stride as u32,
                });
                strided.keys.extend((from..to).step_by(stride).map(key));
            }
            strided.keys.push(*key(last));
        }
        strided
    }

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
        self.still.sample_on(level, time, out);
        if self.segments.is_empty() {
            return;
        }
        let base = self.still.base.blocks();
        let place = self.still.place(time);
        dispatch!(level, simd => self.turn(simd, place, base, out.blocks_mut()));
        self.still.write_steps(time, out);
    }

    #[inline(always)]
    fn turn<S: Simd>(&self, simd: S, place: f64, base: &[PoseBlock], out: &mut [PoseBlock]) {
        let last = self.still.samples() - 1;
        let sample = (place as usize).min(last - 1);
        let (segment, within) = (sample / SEGMENT, sample % SEGMENT);
        let from = segment * SEGMENT;
        let to = last.min(from + SEGMENT);
        let mut tables = self.segments.chunks_exact(last.div_ceil(SEGMENT));
        let blocks = out.iter_mut().zip(base).zip(&self.moving);
        for ((out, base), moving) in blocks.filter(|(_, moving)| **moving != 0) {
            let Some(table) = tables.next() else { return };
            let Segment { first, stride } = table[segment];
            let (key, stride) = (within / stride as usize, stride as usize);
            let start = from + key * stride;
            let span = to.min(start + stride) - start;
            let alpha = ((place - start as f64) / span as f64) as f32;
            let key = first as usize + key;
            let ends = [&self.keys[key], &self.keys[key + 1]];
            turn_block(simd, ends, alpha, (*moving, base), out);
        }
    }

    /// Seconds.
    pub fn duration(&self) -> f32 {
        self.still.duration()
    }

    /// Number of joints, J.
    pub fn joint_count(&self) -> usize {
        self.still.joint_count()
    }

    /// Number of keys that are kept, each of eight joints.
    pub fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Clip>()
            + self.still.bytes()
            + self.moving.len()
            + size_of_val(self.segments.as_slice())
            + size_of_val(self.keys.as_slice())
    }

    fn measure(&self, source: &Source<'_>, shell: f32) -> Deviation {
        let mut error = ObjectError::new(source.skeleton, shell);
        let (mut exact, mut pose) = (source.base.clone(), source.base.clone());
        for time in source.check_times(self.still.samples() - 1) {
            source.exact_pose(time, &mut exact);
            self.sample(time, &mut pose);
            error.add(time, &exact, &pose);
        }
        error.worst()
    }
}

/// How far the mix of `ends` takes a point at `reach` from where `key` has it, at most.
fn strays(ends: [&RotationKey; 2], alpha: f32, key: &RotationKey, reach: &[f32]) -> f32 {
    let lane_of =
        |key: &RotationKey, lane: usize| Vector4::from(key.0.map(|part| f32::from(part[lane])));
    let stray = |(lane, reach): (usize, &f32)| {
        let [from, to] = ends.map(|key| lane_of(key, lane));
        let mixed = (from + (to - from) * alpha).normalize();
        // Half the angle, nearly.
        2.0 * reach * (mixed - lane_of(key, lane).normalize()).norm()
    };
    reach.iter().enumerate().map(stray).fold(0.0, f32::max)
}
