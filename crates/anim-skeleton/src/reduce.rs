//! Key reduction of whole clips: the fewest keys that keep every joint within a tolerance, where it is seen.
//!
//! A shoulder carries a hand, so it must turn more exactly than a finger. Each track is first thinned on its own, within a
//! share of the tolerance that is translated by its lever arm: how far the points are that it moves. Then the clip is
//! compared with its source as an [`ObjectError`], and wherever errors of a chain add up to too much, the track that is most
//! at fault gets a key back, until every joint is within the tolerance at every key of the source and between. Large shares
//! leave much to repair and small ones too many keys, so a few are tried. For tools, before
//! [`Clip::bake`](crate::Clip::bake), export or hand-editing; a second of a human's motion takes some twenty milliseconds,
//! and ten times as long if keys are fitted.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Channel, ClipSpec, JointSpec, JointTrack, ReduceOptions, Skeleton};
//!
//! let joint = JointSpec { name: None, parent: None, rest: Transform::IDENTITY };
//! let skeleton = Skeleton::new(vec![joint])?;
//! let bounce = |n: u8| Key::new(f32::from(n) / 24.0, Vec3::y() * (1.0 - f32::from(n) / 24.0).abs());
//! let track = Track::new((0..=48).map(bounce).collect(), Interpolation::Linear)?;
//! let channel = Channel { joint: 0, track: JointTrack::Translation(track) };
//! let clip = ClipSpec { channels: vec![channel], ..ClipSpec::default() };
//!
//! let (reduced, report) = clip.reduce(&skeleton, &ReduceOptions::default())?;
//! assert_eq!(reduced.channels[0].track.times(), [0.0, 1.0, 2.0]);
//! assert_eq!((report.keys_before, report.keys_after), (49, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;

use anim_curves::Interpolation;

use crate::bake::last_channels;
use crate::levers::Levers;
use crate::thinning::Thinning;
use crate::{
    Channel, ClipSpec, Deviation, JointId, JointTrack, ObjectError, Skeleton, SkeletonError,
};

/// What becomes of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyChoice {
    /// Keys of the source stay or go; nothing moves, and tracks stay linear or cubic as they are.
    #[default]
    Keep,
    /// New cubic keys for dense samples, where these make fewer; stepped tracks as with `Keep`.
    Fit,
}

/// How faithful a reduced clip must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceOptions {
    /// The largest error allowed, in the model's unit of length, model space.
    pub tolerance: f32,
    /// Distance from each joint of the points the error is measured at: where its skin may be; in the model's unit.
    pub shell: f32,
    /// Whether to leave out tracks that hold what the rest pose holds anyway. Another skeleton may rest otherwise.
    pub drop_rest: bool,
    /// What becomes of the keys.
    pub keys: KeyChoice,
}

impl Default for ReduceOptions {
    /// A millimetre, measured up to 10 cm from each joint, for models in metres of about human size; tracks at rest stay.
    fn default() -> Self {
        Self {
            tolerance: 0.001,
            shell: 0.1,
            drop_rest: false,
            keys: KeyChoice::Keep,
        }
    }
}

/// What reducing came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReduceReport {
    /// Keys of all joint channels of the source.
    pub keys_before: usize,
    /// Keys of all joint channels of the result.
    pub keys_after: usize,
    /// The largest error met, in the model's unit of length, model space: within the tolerance, unless the source
    /// itself is not finite somewhere.
    pub max_error: f32,
    /// The joint it was met at; `None` if there is no error.
    pub worst_joint: Option<JointId>,
    /// The time it was met at, s.
    pub worst_time: f32,
}

/// Parts of the tolerance that each track may use on its own, the likeliest first: an attempt that comes to more keys than
/// one before it is given up.
const SHARES: [f32; 7] = [0.35, 0.6, 1.0, 0.2, 0.12, 0.07, 0.04];

/// Tracks that seem to move nothing may do so at poses that were not looked at.
const LEAST_LEVER: f32 = 1e-3;

impl ClipSpec {
    /// The clip with fewer keys, every joint within `options.tolerance` of the source at all times of its keys and halfway
    /// between them.
    ///
    /// The first and last key of each track stay, but constant tracks become one key; the duration of what counts stays.
    /// Steps switch at their exact times. Of two channels for one property of one joint only the later counts and comes
    /// out; channels are in breadth-first order; morph channels stay as they are. The source is not touched.
    ///
    /// Cost: some twenty times sampling all source keys, O(n log n) a track of n keys, and two passes of forward kinematics
    /// for each key that goes back.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`] if a channel names a joint that `skeleton` lacks, [`SkeletonError::Tolerance`] if the
    /// tolerance is negative or NaN.
    pub fn reduce(
        &self,
        skeleton: &Skeleton,
        options: &ReduceOptions,
    ) -> Result<(Self, ReduceReport), SkeletonError> {
        self.check(skeleton)?;
        let tolerance = options.tolerance;
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(SkeletonError::Tolerance { tolerance });
        }
        let mut reduction = Reduction::new(self, skeleton, options);
        let worst = reduction.run();
        let reduced = reduction.clip(self);
        let keys = |clip: &Self| {
            let channels = clip.channels.iter();
            channels.map(|channel| channel.track.times().len()).sum()
        };
        let report = ReduceReport {
            keys_before: keys(self),
            keys_after: keys(&reduced),
            max_error: worst.distance,
            worst_joint: worst.joint,
            worst_time: worst.time,
        };
        Ok((reduced, report))
    }
}

struct Reduction<'a> {
    skeleton: &'a Skeleton,
    options: ReduceOptions,
    /// All keys of the source and points between them, s, rising.
    times: Vec<f32>,
    /// By joint.
    channels: Vec<Thinning<'a>>,
}

impl<'a> Reduction<'a> {
    fn new(spec: &'a ClipSpec, skeleton: &'a Skeleton, options: &ReduceOptions) -> Self {
        let tracks = last_channels(spec, skeleton);
        let times = check_times(&tracks);
        let levers = Levers::measure(skeleton, &tracks, &times, options.shell);
        let ends = tracks.iter().filter_map(|(_, track)| track.times().last());
        let duration = ends.copied().fold(0.0, f32::max);
        let mut is_held = spec
            .morphs
            .iter()
            .any(|channel| channel.track.end() >= duration);
        let channels = tracks.into_iter().map(|(joint, source)| {
            let ends_last = source.times().last().is_some_and(|end| *end >= duration);
            let holds_duration = ends_last && !is_held;
            is_held |= holds_duration;
            let tolerance = options.tolerance / levers.of(joint, source).max(LEAST_LEVER);
            Thinning::new(joint, source, tolerance, holds_duration)
        });
        Self {
            skeleton,
            options: *options,
            times,
            channels: channels.collect(),
        }
    }

    /// Leaves the tracks with the fewest keys of several shares, and returns their largest error.
    fn run(&mut self) -> Deviation {
        let mut best: Option<Candidate> = None;
        for share in SHARES {
            let limit = best.as_ref().map_or(usize::MAX, |best| best.keys);
            best = self.attempt(share, limit).or(best);
        }
        let Some(best) = best else {
            return Deviation::default();
        };
        for (channel, track) in self.channels.iter_mut().zip(best.tracks) {
            channel.track = track;
        }
        best.worst
    }

    /// Thins all tracks within `share` of the tolerance and repairs them; `None` if it takes `limit` keys or more.
    fn attempt(&mut self, share: f32, limit: usize) -> Option<Candidate> {
        for channel in &mut self.channels {
            channel.thin(share, self.skeleton, &self.options);
        }
        let mut keys = self.channels.iter().map(Thinning::key_count).sum();
        let worst = self.repair(&mut keys, limit)?;
        let tracks = self.channels.iter().map(|channel| channel.track.clone());
        (keys < limit).then(|| Candidate {
            keys,
            worst,
            tracks: tracks.collect(),
        })
    }

    /// Refines tracks until every joint is within the tolerance at all times, counting their keys, and returns the largest
    /// error left; `None` if it takes `limit` keys or more.
    fn repair(&mut self, keys: &mut usize, limit: usize) -> Option<Deviation> {
        let mut exact = self.skeleton.rest().clone();
        let mut reduced = self.skeleton.rest().clone();
        loop {
            let mut error = ObjectError::new(self.skeleton, self.options.shell);
            let mut is_changed = false;
            reduced.copy_from(self.skeleton.rest());
            for place in 0..self.times.len() {
                let time = self.times[place];
                for channel in &self.channels {
                    channel.source.write(time, channel.joint, &mut exact);
                    channel.write(time, &mut reduced);
                }
                error.add(time, &exact, &reduced);
                while let Some(joint) = self.first_beyond(&error)
                    && let Some(channel) = self.most_at_fault(joint, time)
                {
                    let channel = &mut self.channels[channel];
                    *keys -= channel.key_count();
                    channel.refine(time, self.skeleton, &self.options);
                    *keys += channel.key_count();
                    channel.write(time, &mut reduced);
                    error.add(time, &exact, &reduced);
                    is_changed = true;
                }
                if *keys >= limit {
                    return None;
                }
            }
            if !is_changed {
                return Some(error.worst());
            }
        }
    }

    /// The first joint that was beyond the tolerance in the last comparison: nothing above it is at fault alone.
    fn first_beyond(&self, error: &ObjectError<'_>) -> Option<JointId> {
        let mut joints = self.skeleton.joints().zip(error.distances());
        let (joint, _) = joints.find(|(_, distance)| *distance > self.options.tolerance)?;
        Some(joint)
    }

    /// The channel of `joint` or a joint above it whose own error at `time` is seen largest; `None` if none errs.
    fn most_at_fault(&self, joint: JointId, time: f32) -> Option<usize> {
        let above = |joint: &JointId| self.skeleton.parent(*joint);
        let chain = std::iter::successors(Some(joint), above);
        let channels = chain.flat_map(|joint| self.channels_of(joint));
        let mut most = (0.0, None);
        for channel in channels {
            let fault = self.channels[channel].fault(time, self.skeleton);
            if fault > most.0 {
                most = (fault, Some(channel));
            }
        }
        most.1
    }

    fn channels_of(&self, joint: JointId) -> Range<usize> {
        let first = self.channels.partition_point(|c| c.joint < joint);
        let count = self.channels[first..].partition_point(|c| c.joint == joint);
        first..first + count
    }

    fn clip(self, source: &ClipSpec) -> ClipSpec {
        let channels = self.channels.into_iter().filter_map(|channel| {
            Some(Channel {
                joint: self.skeleton.source(channel.joint),
                track: channel.track?,
            })
        });
        ClipSpec {
            name: source.name.clone(),
            channels: channels.collect(),
            morphs: source.morphs.clone(),
        }
    }
}

/// Tracks within the tolerance.
struct Candidate {
    keys: usize,
    worst: Deviation,
    tracks: Vec<Option<JointTrack>>,
}

/// All keys and evenly many points between each two, rising; more if there are cubic tracks, which bulge.
fn check_times(tracks: &[(JointId, &JointTrack)]) -> Vec<f32> {
    let tracks = tracks.iter().map(|(_, track)| track);
    let mut keys: Vec<_> = tracks
        .clone()
        .flat_map(|track| track.times().iter().copied())
        .collect();
    keys.sort_by(f32::total_cmp);
    keys.dedup();
    let has_cubic = tracks
        .clone()
        .any(|track| track.interpolation() == Interpolation::Cubic);
    let parts = if has_cubic { 4 } else { 2 };
    let between = keys.windows(2).flat_map(|pair| {
        let part = (pair[1] - pair[0]) / parts as f32;
        (0..parts).map(move |n| pair[0] + part * n as f32)
    });
    let mut times: Vec<_> = between.collect();
    times.extend(keys.last());
    times
}
