//! Baking: turning exact curves into uniform samples, as few as keep every joint within a tolerance.
//!
//! The error is measured where it is seen, as an [`ObjectError`], at all source keys, between them and between the
//! samples. It includes the rounding to 16 bits. For tools; a second of a human's motion takes some milliseconds.

use anim_curves::Interpolation;
use anim_math::Transform;
use anim_math::lanes::LANES;
use anim_math::nalgebra::Vector4;

use crate::clip::{Clip, Part, RotationKey, StepTrack, UNIT, VectorTrack};
use crate::clip_parts::sample_rate;
use crate::{ClipSpec, Deviation, JointId, JointTrack, ObjectError, Pose, Skeleton, SkeletonError};

/// How faithful a baked clip must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeOptions {
    /// The largest error allowed, in the model's unit of length, model space.
    pub tolerance: f32,
    /// Distance from each joint of the points the error is measured at: where its skin may be; in the model's unit.
    pub shell: f32,
    /// The highest rate to try, samples per second.
    pub max_rate: f32,
    /// Bytes that samples may take beyond [64 times what the keys take](Clip::bake): a bound on what a stray key far in
    /// the future can cost.
    pub spare_bytes: usize,
}

impl Default for BakeOptions {
    /// Half a millimetre, measured up to 10 cm from each joint, for models in metres of about human size.
    fn default() -> Self {
        Self {
            tolerance: 0.0005,
            shell: 0.1,
            max_rate: 480.0,
            spare_bytes: 4 << 20,
        }
    }
}

impl BakeOptions {
    /// The default for a model `size` units tall, for models that are not in metres, or a mouse's or a giant's.
    ///
    /// Tolerance and shell scale with `size / 1.8`; a size that is not positive and finite changes nothing.
    pub fn for_size(size: f32) -> Self {
        let human = Self::default();
        let factor = if size.is_finite() && size > 0.0 {
            size / 1.8
        } else {
            1.0
        };
        Self {
            tolerance: human.tolerance * factor,
            shell: human.shell * factor,
            ..human
        }
    }
}

/// What baking came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeReport {
    /// Samples per second; 0 if nothing moves.
    pub rate: f32,
    /// Number of samples.
    pub samples: usize,
    /// Bytes in memory.
    pub bytes: usize,
    /// The largest error met, in the model's unit of length, model space. A clip with so many keys and samples that
    /// they, times the joints, come to more than four million is checked at evenly chosen ones of these times.
    pub max_error: f32,
    /// The joint it was met at; `None` if there is no error.
    pub worst_joint: Option<JointId>,
    /// The time it was met at, s.
    pub worst_time: f32,
    /// True if the error is within the tolerance.
    pub reached: bool,
}

/// The most memory that samples may take, bytes.
const MAX_SAMPLE_BYTES: usize = 64 << 20;
/// And how many times the memory of the keys, besides [`BakeOptions::spare_bytes`].
const BYTES_A_KEY_BYTE: usize = 64;
/// Joints compared in one measurement at most, over all its times.
const MAX_COMPARED: usize = 4 << 20;

/// What a channel may stray and still count as constant, as a part of the tolerance.
const CONSTANT_PART: f32 = 0.01;

/// If the tolerance is out of reach: a rate will do whose error is this many times that of the highest.
const NEAR_BEST: f32 = 1.1;

/// Where in an interval the difference between mixing and turning evenly is largest, and the middle.
const INTERVAL_CHECKS: [f64; 3] = [0.2113, 0.5, 0.7887];

impl Clip {
    /// Bakes `spec`: the fewest uniform samples that are within `options.tolerance`, of the rates tried.
    ///
    /// Those are the source's own key rate halved and doubled, and common frame rates, up to `options.max_rate`
    /// and to a memory of 64 times that of the keys and `options.spare_bytes`, at most 64 MB. If none will do, the lowest that is about as good as the highest, and `reached` is false. Joints and
    /// properties without channels rest. Stepped channels switch exactly at their keys. Morph channels count for the
    /// duration and are otherwise left out.
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
        let source = Source::new(spec, skeleton, options);
        let (clip, error) = source.baked(options);
        let report = BakeReport {
            rate: clip.rate(),
            samples: clip.samples(),
            bytes: clip.bytes(),
            max_error: error.distance,
            worst_joint: error.joint,
            worst_time: error.time,
            reached: error.distance <= options.tolerance,
        };
        Ok((clip, report))
    }
}

/// A clip's curves, sorted by what becomes of them.
pub(crate) struct Source<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) duration: f32,
    /// All curves, for the exact pose: of two for one property of one joint only the later.
    pub(crate) exact: Vec<(JointId, &'a JointTrack)>,
    /// What rests or does not move.
    pub(crate) base: Pose,
    pub(crate) rotations: Vec<(JointId, &'a JointTrack)>,
    pub(crate) vectors: Vec<(JointId, &'a JointTrack)>,
    pub(crate) steps: Vec<StepTrack>,
    /// Times of all keys inside the clip, rising.
    pub(crate) key_times: Vec<f32>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(spec: &'a ClipSpec, skeleton: &'a Skeleton, options: &BakeOptions) -> Self {
        let mut source = Self {
            skeleton,
            duration: spec.duration(),
            exact: last_channels(spec, skeleton),
            base: skeleton.rest().clone(),
            rotations: Vec::new(),
            vectors: Vec::new(),
            steps: Vec::new(),
            key_times: Vec::new(),
        };
        for &(joint, track) in &source.exact {
            let inside = |time: &f32| (0.0..=source.duration).contains(time);
            source
                .key_times
                .extend(track.times().iter().copied().filter(inside));
            track.write(0.0, joint, &mut source.base);
            if is_constant(track, source.duration, options) {
                continue;
            }
            match track {
                _ if track.interpolation() == Interpolation::Step => {
                    source.steps.push(step_track(joint, track));
                }
                JointTrack::Rotation(_) => source.rotations.push((joint, track)),
                _ => source.vectors.push((joint, track)),
            }
        }
        source.key_times.sort_by(f32::total_cmp);
        source.key_times.dedup();
        source
    }

    /// The fewest samples within the tolerance; if none will do, about as good as the most can be.
    pub(crate) fn baked(&self, options: &BakeOptions) -> (Clip, Deviation) {
        let candidates = self.candidates(options);
        self.first_within(options.tolerance, &candidates, options)
            .unwrap_or_else(|| self.nearly_best(&candidates, options))
    }

    /// Numbers of intervals to try, rising.
    fn candidates(&self, options: &BakeOptions) -> Vec<usize> {
        let moving = || self.rotations.iter().chain(&self.vectors);
        if moving().next().is_none() || self.duration <= 0.0 {
            return vec![0];
        }
        let rotations = self.moving().iter().filter(|lanes| **lanes != 0).count();
        let sample_bytes = rotations * size_of::<RotationKey>() + self.vectors.len() * 12;
        let keys: usize = moving().map(|(_, track)| track.times().len()).sum();
        let bytes = (keys * size_of::<[f32; 4]>())
            .saturating_mul(BYTES_A_KEY_BYTE)
            .saturating_add(options.spare_bytes)
            .min(MAX_SAMPLE_BYTES);
        let most = f64::from(options.max_rate) * f64::from(self.duration);
        let most = (most as usize).min(bytes / sample_bytes).max(1);
        let gap = moving()
            .map(|(_, track)| median_gap(track.times()))
            .fold(self.duration, f32::min);
        let key_intervals = f64::from(self.duration) / f64::from(gap);
        let halves_and_doubles = (-3..16).map(|power| key_intervals * 2_f64.powi(power));
        let frames = [
            12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 100.0, 120.0, 240.0,
        ];
        let frames = frames.map(|rate| f64::from(self.duration) * rate);
        let mut candidates: Vec<_> = halves_and_doubles
            .chain(frames)
            .map(|intervals| intervals.round() as usize)
            .filter(|intervals| (1..most).contains(intervals))
            .chain([most])
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
    }

    /// The first candidate within `limit`, with its error.
    fn first_within(
        &self,
        limit: f32,
        candidates: &[usize],
        options: &BakeOptions,
    ) -> Option<(Clip, Deviation)> {
        candidates.iter().find_map(|intervals| {
            let clip = self.bake(*intervals);
            let error = self.measure(&clip, options.shell, limit);
            (error.distance <= limit).then_some((clip, error))
        })
    }

    fn nearly_best(&self, candidates: &[usize], options: &BakeOptions) -> (Clip, Deviation) {
        let clip = self.bake(candidates.last().copied().unwrap_or(0));
        let error = self.measure(&clip, options.shell, f32::INFINITY);
        self.first_within(error.distance * NEAR_BEST, candidates, options)
            .unwrap_or((clip, error))
    }

    /// For each block of joints a bit a lane: those that turn.
    fn moving(&self) -> Vec<u8> {
        let mut moving = vec![0; self.base.blocks().len()];
        for (joint, _) in &self.rotations {
            moving[joint.index() / LANES] |= 1 << (joint.index() % LANES);
        }
        moving
    }

    fn bake(&self, intervals: usize) -> Clip {
        let samples = intervals + 1;
        let mut moving = self.moving();
        let spare = u8::MAX.checked_shl((self.base.len() % LANES) as u32);
        if let Some(lanes) = moving.last_mut().filter(|lanes| **lanes != 0) {
            *lanes |= if self.base.len().is_multiple_of(LANES) {
                0
            } else {
                spare.unwrap_or(0)
            };
        }
        let time_of = |sample: usize| {
            (f64::from(self.duration) * sample as f64 / intervals.max(1) as f64) as f32
        };
        let vector_tracks = self.vectors.iter().map(|(joint, track)| VectorTrack {
            joint: *joint,
            part: part_of(track),
        });
        let mut vectors = Vec::with_capacity(samples * self.vectors.len());
        for time in (0..samples).map(time_of) {
            let values = self.vectors.iter().map(|(_, track)| value_at(track, time));
            vectors.extend(values.map(|[x, y, z, _]| [x, y, z]));
        }
        Clip {
            duration: self.duration,
            samples,
            rate: sample_rate(self.duration, samples),
            base: self.base.clone(),
            rotations: self.rotation_keys(&moving, (0..samples).map(time_of)),
            moving,
            vector_tracks: vector_tracks.collect(),
            vectors,
            steps: self.steps.clone(),
        }
    }

    fn rotation_keys(
        &self,
        moving: &[u8],
        times: impl ExactSizeIterator<Item = f32>,
    ) -> Vec<RotationKey> {
        let places: Vec<_> = moving
            .iter()
            .scan(0, |next, lanes| {
                let place = *next;
                *next += usize::from(*lanes != 0);
                Some(place)
            })
            .collect();
        let stride = moving.iter().filter(|lanes| **lanes != 0).count();
        let mut keys = vec![RotationKey::IDENTITY; stride * times.len()];
        let mut before: Vec<_> = self
            .rotations
            .iter()
            .map(|(joint, _)| self.skeleton.rest().rotation(*joint).coords)
            .collect();
        for (time, keys) in times.zip(keys.chunks_exact_mut(stride.max(1))) {
            for ((joint, track), before) in self.rotations.iter().zip(&mut before) {
                let mut coords = track.at(time).rotation.coords;
                if coords.dot(before) < 0.0 {
                    coords = -coords;
                }
                *before = coords;
                let key = &mut keys[places[joint.index() / LANES]];
                for (part, value) in key.0.iter_mut().zip(quantize(coords)) {
                    part[joint.index() % LANES] = value;
                }
            }
        }
        keys
    }

    /// The largest error of `clip`, or the first above `limit`.
    fn measure(&self, clip: &Clip, shell: f32, limit: f32) -> Deviation {
        let mut error = ObjectError::new(self.skeleton, shell);
        let mut exact = self.base.clone();
        let mut baked = self.base.clone();
        for time in self.check_times(clip.samples - 1) {
            self.exact_pose(time, &mut exact);
            clip.sample(time, &mut baked);
            if error.add(time, &exact, &baked) > limit {
                break;
            }
        }
        error.worst()
    }

    /// Writes the pose of the exact curves.
    pub(crate) fn exact_pose(&self, time: f32, out: &mut Pose) {
        out.copy_from(self.skeleton.rest());
        for (joint, track) in &self.exact {
            track.write(time, *joint, out);
        }
    }

    /// All keys, their midpoints, and three times of each sample interval; evenly chosen ones if they are too many.
    pub(crate) fn check_times(&self, intervals: usize) -> impl Iterator<Item = f32> {
        let middles = self
            .key_times
            .windows(2)
            .map(|pair| pair[0] + (pair[1] - pair[0]) * 0.5);
        let step = f64::from(self.duration) / intervals.max(1) as f64;
        let between = (0..intervals).flat_map(move |interval| {
            INTERVAL_CHECKS.map(|part| ((interval as f64 + part) * step) as f32)
        });
        let times = self.key_times.iter().copied().chain(middles).chain(between);
        let count = 2 * self.key_times.len() + INTERVAL_CHECKS.len() * intervals;
        let every = (count * self.skeleton.len()).div_ceil(MAX_COMPARED).max(1);
        times.step_by(every)
    }
}

/// The 16-bit quaternion nearest in direction to `coords`, of some lengths.
///
/// Sampling normalises, so the length is free; trying a few makes rounding about three times smaller. They differ by
/// less than 0.04 %, so that neighbouring keys still mix evenly.
fn quantize(coords: Vector4<f32>) -> [i16; 4] {
    let rounded = |shorter: u8| (coords * (UNIT - f32::from(shorter) * 0.4)).map(f32::round);
    let square_sine = |q: Vector4<f32>| {
        let along = q.dot(&coords);
        (q - coords * along).norm_squared() / (along * along)
    };
    let mut best = rounded(0);
    for shorter in 1..32 {
        let other = rounded(shorter);
        if square_sine(other) < square_sine(best) {
            best = other;
        }
    }
    best.map(|part| part as i16).into()
}

/// The channels that count: of two for one property of one joint the later.
pub(crate) fn last_channels<'a>(
    spec: &'a ClipSpec,
    skeleton: &Skeleton,
) -> Vec<(JointId, &'a JointTrack)> {
    let mut last = vec![[None; 3]; skeleton.len()];
    for channel in &spec.channels {
        let property = part_of(&channel.track) as usize;
        last[skeleton.joint(channel.joint).index()][property] = Some(&channel.track);
    }
    let joints = skeleton.joints().zip(last);
    joints
        .flat_map(|(joint, tracks)| {
            tracks
                .into_iter()
                .flatten()
                .map(move |track| (joint, track))
        })
        .collect()
}

pub(crate) fn part_of(track: &JointTrack) -> Part {
    match track {
        JointTrack::Translation(_) => Part::Translation,
        JointTrack::Rotation(_) => Part::Rotation,
        JointTrack::Scale(_) => Part::Scale,
    }
}

pub(crate) fn value_at(track: &JointTrack, time: f32) -> [f32; 4] {
    match track {
        JointTrack::Translation(track) | JointTrack::Scale(track) => {
            track.sample(time).push(0.0).into()
        }
        JointTrack::Rotation(track) => track.sample(time).coords.into(),
    }
}

fn step_track(joint: JointId, track: &JointTrack) -> StepTrack {
    let times = track.times().to_vec();
    StepTrack {
        joint,
        part: part_of(track),
        values: times.iter().map(|time| value_at(track, *time)).collect(),
        times,
    }
}

/// True if `track` stays where it is at time 0, at its keys and between them.
fn is_constant(track: &JointTrack, duration: f32, options: &BakeOptions) -> bool {
    let stray = match track.interpolation() {
        Interpolation::Step => 0.0,
        _ => options.tolerance * CONSTANT_PART,
    };
    let angle = if options.shell > 0.0 {
        stray / options.shell
    } else {
        0.0
    };
    let first = track.at(0.0);
    let stays = |time: f32| {
        let now: Transform = track.at(time.clamp(0.0, duration));
        let (a, b) = (first.rotation.coords, now.rotation.coords);
        (now.translation - first.translation).norm() <= stray
            && 2.0 * (a - b).norm().min((a + b).norm()) <= angle
            && (now.scale - first.scale).norm() <= angle
    };
    let times = track.times();
    let between = |pair: &[f32]| {
        [0.25, 0.5, 0.75]
            .into_iter()
            .all(|part| stays(pair[0] + (pair[1] - pair[0]) * part))
    };
    times.iter().all(|time| stays(*time)) && times.windows(2).all(between)
}

/// The median time between keys; infinite if there is one key.
fn median_gap(times: &[f32]) -> f32 {
    let mut gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_by(f32::total_cmp);
    gaps.get(gaps.len() / 2).copied().unwrap_or(f32::INFINITY)
}
