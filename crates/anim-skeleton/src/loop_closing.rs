//! Closing the seam of a clip that shall loop: captured motion never ends quite as it began.
//!
//! Half of the difference between the last and the first frame is taken off the end and half added to the beginning, and
//! fades into the clip; so does the difference in velocity. Take root motion out first, with
//! [`RootMotion::extract`](crate::RootMotion::extract), or name the joints that travel.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Channel, ClipSpec, JointSpec, JointTrack, LoopOptions, Skeleton, close_loop};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let keys = [(0.0, 0.0), (1.0, 0.5), (2.0, 0.2)].map(|(time, x)| Key::new(time, Vec3::x() * x));
//! let track = JointTrack::Translation(Track::new(keys.to_vec(), Interpolation::Linear)?);
//! let open = ClipSpec { channels: vec![Channel { joint: 0, track }], ..ClipSpec::default() };
//!
//! let closed = close_loop(&open, &skeleton, &LoopOptions::default())?;
//! let mut pose = skeleton.rest().clone();
//! for end in [0.0, 2.0] {
//!     closed.sample(&skeleton, end, &mut pose);
//!     assert!((pose.translation(skeleton.joint(0)).x - 0.1).abs() < 1e-6);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_curves::{CurveError, Interpolate, Interpolation, Key, Track};
use anim_math::{Quat, Vec3, quat};

use crate::inertialize::decayed;
use crate::resample::EvenTimes;
use crate::{Channel, ClipSpec, JointId, JointTrack, Skeleton, SkeletonError};

/// How a loop is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopOptions {
    /// Seconds from either end within which the difference fades; at most the clip.
    pub window: f32,
    /// Keys per second that the curves get, besides their own; clips that would get over 65536 get fewer.
    pub rate: f32,
    /// The joints to close; all without.
    pub joints: Option<Vec<JointId>>,
    /// Joints whose translations are left alone because they travel.
    pub travelling: Vec<JointId>,
}

impl Default for LoopOptions {
    /// All joints, within half a second from the ends, 60 keys a second.
    fn default() -> Self {
        Self {
            window: 0.5,
            rate: 60.0,
            joints: None,
            travelling: Vec::new(),
        }
    }
}

/// Makes a clip end as it begins, in value and in velocity.
///
/// Both ends become their middle: positions, rotations along the short arc and scales, and the mean of their velocities.
/// What was added to either end fades along (1 − s)⁴ (x₀ (1 + 4 s) + v₀ T s), s = t / T, with T the window. Curves that
/// change become linear keys; stepped curves and morph weights stay as they are. For tools; O(keys).
///
/// Source: the two-sided fade of Holden, "Creating looping animations from motion capture", 2022, theorangeduck.com.
///
/// # Errors
///
/// [`SkeletonError::NoJoint`] for channels of joints that `skeleton` lacks; [`SkeletonError::BadTrack`] if values overflow.
pub fn close_loop(
    spec: &ClipSpec,
    skeleton: &Skeleton,
    options: &LoopOptions,
) -> Result<ClipSpec, SkeletonError> {
    spec.check(skeleton)?;
    let mut closed = spec.clone();
    let Some(seam) = Seam::new(spec.duration(), options) else {
        return Ok(closed);
    };
    for channel in &mut closed.channels {
        let joint = skeleton.joint(channel.joint);
        let is_chosen = match &options.joints {
            Some(joints) => joints.contains(&joint),
            None => true,
        };
        let travels = options.travelling.contains(&joint)
            && matches!(channel.track, JointTrack::Translation(_));
        if is_chosen && !travels && channel.track.interpolation() != Interpolation::Step {
            seam.close(channel)?;
        }
    }
    Ok(closed)
}

/// The ends of a clip, a step of the new keys and a window inside it.
struct Seam {
    duration: f32,
    times: EvenTimes,
    window: f32,
}

/// What an end is off by, and how fast that changes, per second; rotation vectors for rotations.
#[derive(Clone, Copy, Default, PartialEq)]
struct Gap {
    offset: Vec3,
    velocity: Vec3,
}

impl Seam {
    /// `None` if there is nothing to close.
    fn new(duration: f32, options: &LoopOptions) -> Option<Self> {
        if !(duration > 0.0 && options.window > 0.0) {
            return None;
        }
        Some(Self {
            duration,
            times: EvenTimes::new(duration, options.rate),
            window: options.window.min(duration),
        })
    }

    fn close(&self, channel: &mut Channel) -> Result<(), SkeletonError> {
        let joint = channel.joint;
        let bad = |error| SkeletonError::BadTrack { joint, error };
        match &mut channel.track {
            JointTrack::Translation(track) | JointTrack::Scale(track) => {
                let add = |value: Vec3, gap: Vec3| value + gap;
                *track = self
                    .faded(track, self.vector_gaps(track), add)
                    .map_err(bad)?;
            }
            JointTrack::Rotation(track) => {
                let turn = |value: Quat, gap: Vec3| quat::exp(gap) * value;
                *track = self
                    .faded(track, self.turn_gaps(track), turn)
                    .map_err(bad)?;
            }
        }
        Ok(())
    }

    /// The track with what both ends are off by faded into it.
    fn faded<T: Interpolate>(
        &self,
        track: &Track<T>,
        [start, end]: [Gap; 2],
        apply: impl Fn(T, Vec3) -> T,
    ) -> Result<Track<T>, CurveError> {
        if start == Gap::default() && end == Gap::default() {
            return Ok(track.clone());
        }
        let times = self.times.with_keys(track.times().iter().copied());
        let keys = times.into_iter().map(|time| {
            let gap = decayed(start.offset, start.velocity, time, self.window)
                // Time runs backwards from the end.
                + decayed(end.offset, -end.velocity, self.duration - time, self.window);
            let value = track.sample(time);
            let value = if gap == Vec3::zeros() {
                value
            } else {
                apply(value, gap)
            };
            Key::new(time, value)
        });
        Track::new(keys.collect(), Interpolation::Linear)
    }

    fn vector_gaps(&self, track: &Track<Vec3>) -> [Gap; 2] {
        let [first, second, before_last, last] = self.ends(track);
        let half = (last - first) * 0.5;
        let change = ((last - before_last) - (second - first)) / self.times.step() * 0.5;
        [
            Gap {
                offset: half,
                velocity: change,
            },
            Gap {
                offset: -half,
                velocity: -change,
            },
        ]
    }

    fn turn_gaps(&self, track: &Track<Quat>) -> [Gap; 2] {
        let [first, second, before_last, last] = self.ends(track);
        if first == last && second == before_last && first == second {
            return [Gap::default(); 2];
        }
        let way = |from: Quat, to: Quat| quat::log(to * from.inverse());
        let middle = quat::exp(way(first, last) * 0.5) * first;
        let turn = (way(first, second) + way(before_last, last)) * 0.5;
        // What the ends are off by now, and a step further into the clip.
        let start = way(first, middle);
        let after = way(second, quat::exp(turn) * middle);
        let end = way(last, middle);
        let before = way(before_last, quat::exp(-turn) * middle);
        [
            Gap {
                offset: start,
                velocity: (after - start) / self.times.step(),
            },
            Gap {
                offset: end,
                velocity: (end - before) / self.times.step(),
            },
        ]
    }

    /// The first two samples and the last two.
    fn ends<T: Interpolate>(&self, track: &Track<T>) -> [T; 4] {
        let (step, last) = (self.times.step(), self.duration);
        [0.0, step, last - step, last].map(|time| track.sample(time))
    }
}
