//! Temporal aliasing: what moves too far from one frame to the next to be seen moving.
//!
//! Frames show where things are, not how they got there. A wheel that turns by more than half a turn a frame seems to turn
//! backward, and what jumps by more than its own size seems to be in two places at once. This measures the way itself, at
//! times between the frames, and lists the joints that need a higher frame rate, a longer shutter or a slower motion.
//!
//! ```
//! use anim_curves::{FrameClock, Interpolation, Key, Track};
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{AliasingOptions, Channel, ClipSpec, JointSpec, JointTrack, Skeleton};
//!
//! // A wheel at 16 turns a second: two thirds of a turn a frame, which film shows as a third of a turn backward.
//! let turn = |n: u8| quat::from_axis_angle(Vec3::z(), f32::from(n) * std::f32::consts::FRAC_PI_2);
//! let keys = (0..=64).map(|n| Key::new(f32::from(n) / 64.0, turn(n))).collect();
//! let track = JointTrack::Rotation(Track::new(keys, Interpolation::Linear)?);
//! let wheel = ClipSpec { channels: vec![Channel { joint: 0, track }], ..ClipSpec::default() };
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//!
//! let options = AliasingOptions::default();
//! let film = wheel.aliasing(&skeleton, FrameClock::FILM, &options)?;
//! assert!(film[0].seems_to_turn_backward());
//! let games = wheel.aliasing(&skeleton, FrameClock::FPS_60, &options)?;
//! assert!(!games[0].seems_to_turn_backward());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::f32::consts::PI;

use anim_curves::FrameClock;
use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use crate::globals::GlobalSlot;
use crate::{ClipSpec, Globals, JointId, Pose, Skeleton, SkeletonError};

/// What counts as too far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AliasingOptions {
    /// Distance from each joint of the points whose travel is measured: where its skin may be; in the model's unit.
    pub shell: f32,
    /// How far a point may travel between frames, in the model's unit.
    pub max_travel: f32,
    /// Looks between two frames, at least one; turns of more than half as many turns a frame are not followed.
    pub steps: u32,
}

impl Default for AliasingOptions {
    /// Points 10 cm from each joint that travel 25 cm a frame, looked at 16 times a frame, for models in metres.
    fn default() -> Self {
        Self {
            shell: 0.1,
            max_travel: 0.25,
            steps: 16,
        }
    }
}

/// The most of something between two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// How much.
    pub amount: f32,
    /// From this frame to the next; the first of equals.
    pub frame: i64,
}

/// What one joint does between frames, in model space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointAliasing {
    /// The joint.
    pub joint: JointId,
    /// The largest turn, rad: the length of the sum of all small turns, whole turns included.
    pub turn: Peak,
    /// The longest way of the joint, in the model's unit.
    pub travel: Peak,
    /// The longest way of one of the points around it, in the model's unit.
    pub shell_travel: Peak,
    /// True if the joint or a point around it travels farther than allowed.
    pub travels_too_far: bool,
}

impl JointAliasing {
    /// True if the joint turns by half a turn a frame or more, but for rounding: from then on, frames tell neither how far
    /// nor which way.
    pub fn seems_to_turn_backward(&self) -> bool {
        self.turn.amount > PI * (1.0 - 1e-4)
    }

    /// True if anything is too much.
    pub fn is_flagged(&self) -> bool {
        self.travels_too_far || self.seems_to_turn_backward()
    }
}

impl ClipSpec {
    /// What each joint does between the frames of `clock`, one entry a joint, breadth-first.
    ///
    /// Frames are those from time 0 to the end of the clip, both included. For tools; `options.steps` samples a frame.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoJoint`] if a channel names a joint that `skeleton` lacks.
    pub fn aliasing(
        &self,
        skeleton: &Skeleton,
        clock: FrameClock,
        options: &AliasingOptions,
    ) -> Result<Vec<JointAliasing>, SkeletonError> {
        self.check(skeleton)?;
        let duration = f64::from(self.duration());
        // Durations are rounded to f32: a last frame that begins a hundredth of a frame late still counts.
        let last = clock.frame_at(duration + 0.01 * clock.frame_length());
        let sample = |time: f32, pose: &mut Pose| self.sample(skeleton, time, pose);
        Ok(aliasing(skeleton, clock, 0..last, options, sample))
    }
}

/// As [`ClipSpec::aliasing`], for anything that poses a skeleton: `sample(time, pose)` between frames `frames.start` and
/// `frames.end`.
///
/// Sampled are `options.steps` times a frame, rising; the last is that of `frames.end`.
pub fn aliasing(
    skeleton: &Skeleton,
    clock: FrameClock,
    frames: std::ops::Range<i64>,
    options: &AliasingOptions,
    mut sample: impl FnMut(f32, &mut Pose),
) -> Vec<JointAliasing> {
    let steps = options.steps.max(1);
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(skeleton);
    let mut before = vec![Place::default(); skeleton.len()];
    let mut now = before.clone();
    let mut ways = vec![Way::default(); skeleton.len()];
    let mut peaks: Vec<_> = skeleton.joints().map(still).collect();
    let mut look = |frame: i64, part: f64, places: &mut [Place]| {
        let time = clock.time_of(frame) + clock.frame_length() * part;
        sample(time as f32, &mut pose);
        skeleton.globals(&pose, &mut globals);
        for (joint, slot) in skeleton.joints().zip(globals.slots()) {
            let local = pose.rotation(joint);
            let parent = skeleton.parent(joint);
            let rotation = parent.map_or(local, |parent| places[parent.index()].rotation * local);
            places[joint.index()] = Place {
                rotation,
                points: points(slot, options.shell),
            };
        }
    };
    if !frames.is_empty() {
        look(frames.start, 0.0, &mut before);
    }
    for frame in frames {
        ways.fill(Way::default());
        for step in 1..=steps {
            look(frame, f64::from(step) / f64::from(steps), &mut now);
            for (way, (from, to)) in ways.iter_mut().zip(before.iter().zip(&now)) {
                way.add(from, to);
            }
            std::mem::swap(&mut before, &mut now);
        }
        for (peaks, way) in peaks.iter_mut().zip(&ways) {
            let [center, around @ ..] = way.lengths;
            raise(&mut peaks.turn, way.turn.norm(), frame);
            raise(&mut peaks.travel, center, frame);
            raise(
                &mut peaks.shell_travel,
                around.into_iter().fold(0.0, f32::max),
                frame,
            );
        }
    }
    for peaks in &mut peaks {
        let farthest = peaks.travel.amount.max(peaks.shell_travel.amount);
        peaks.travels_too_far = farthest > options.max_travel;
    }
    peaks
}

/// Where a joint is in model space.
#[derive(Clone, Copy)]
struct Place {
    rotation: Quat,
    /// The joint and three points around it.
    points: [Vec3; 4],
}

impl Default for Place {
    fn default() -> Self {
        Self {
            rotation: Quat::identity(),
            points: [Vec3::zeros(); 4],
        }
    }
}

/// What a joint did since the last frame.
#[derive(Clone, Copy, Default)]
struct Way {
    /// The sum of small rotation vectors, rad.
    turn: Vec3,
    lengths: [f32; 4],
}

impl Way {
    fn add(&mut self, from: &Place, to: &Place) {
        self.turn += quat::log(to.rotation * from.rotation.inverse());
        let points = from.points.iter().zip(&to.points);
        for (length, (from, to)) in self.lengths.iter_mut().zip(points) {
            *length += (to - from).norm();
        }
    }
}

fn still(joint: JointId) -> JointAliasing {
    JointAliasing {
        joint,
        turn: Peak::default(),
        travel: Peak::default(),
        shell_travel: Peak::default(),
        travels_too_far: false,
    }
}

fn raise(peak: &mut Peak, amount: f32, frame: i64) {
    if amount > peak.amount {
        *peak = Peak { amount, frame };
    }
}

/// The joint, and the points `shell` away along its axes.
fn points(slot: &GlobalSlot, shell: f32) -> [Vec3; 4] {
    let column = |c: usize| Vec3::new(slot.0[0][c], slot.0[1][c], slot.0[2][c]);
    let origin = column(3);
    let along = |c| {
        column(c)
            .try_normalize(f32::MIN_POSITIVE)
            .unwrap_or_default()
    };
    [
        origin,
        origin + along(0) * shell,
        origin + along(1) * shell,
        origin + along(2) * shell,
    ]
}
