//! Update-rate reduction: a new pose every few frames, and the way between them.
//!
//! For characters far away or in a crowd. A mix of two poses costs a fraction of sampling, blending and solving a new one.
//! What it costs in motion is known beforehand: [`reduction_error`] plays a clip both ways.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{JointSpec, RateReducer, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let joint = skeleton.joint(0);
//! let (mut out, mut evaluated) = (skeleton.rest().clone(), 0);
//! let mut reducer = RateReducer::new(4, skeleton.rest());
//! for frame in 0..9 {
//!     // The pose of four frames ahead, when it is asked for.
//!     reducer.update(&mut out, |pose| {
//!         evaluated += 1;
//!         pose.set_translation(joint, Vec3::x() * (frame + 4) as f32);
//!     });
//!     assert_eq!(out.translation(joint).x, frame as f32);
//! }
//! assert_eq!(evaluated, 3);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use crate::object_error::point_distance;
use crate::{Clip, Globals, JointId, Layer, Mode, Pose, Skeleton, blend};

/// Asks for a pose every k frames and gives the way between the last two.
#[derive(Clone, Debug)]
pub struct RateReducer {
    every: u32,
    /// Frames since the last pose was asked for.
    frame: u32,
    from: Pose,
    to: Pose,
}

impl RateReducer {
    /// A reducer that asks `every` frames (0 counts as 1), and starts at the pose `first`.
    pub fn new(every: u32, first: &Pose) -> Self {
        Self {
            every: every.max(1),
            frame: 0,
            from: first.clone(),
            to: first.clone(),
        }
    }

    /// True if the next [`update`](Self::update) asks for a pose.
    pub fn is_due(&self) -> bool {
        self.frame == 0
    }

    /// Writes the pose of this frame, and calls `evaluate` if it needs a new one, every k frames from the first on.
    ///
    /// * `evaluate` writes the pose of k frames ahead over an older one; the result is then in time. If only the present
    ///   pose is known, the result is k frames late.
    ///
    /// Rotations take the short arc. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `out` has another number of joints than the first pose.
    pub fn update(&mut self, out: &mut Pose, evaluate: impl FnOnce(&mut Pose)) {
        if self.is_due() {
            std::mem::swap(&mut self.from, &mut self.to);
            evaluate(&mut self.to);
        }
        let alpha = self.frame as f32 / self.every as f32;
        let layer = |pose, weight| Layer {
            pose,
            weight,
            mask: None,
            mode: Mode::Override,
        };
        let layers = [layer(&self.from, 1.0 - alpha), layer(&self.to, alpha)];
        blend(&self.from, &layers, out);
        self.frame = (self.frame + 1) % self.every;
    }

    /// Starts anew at `pose`, as after a cut; the next update asks for a pose.
    ///
    /// # Panics
    ///
    /// If `pose` has another number of joints than the first.
    pub fn restart(&mut self, pose: &Pose) {
        self.from.copy_from(pose);
        self.to.copy_from(pose);
        self.frame = 0;
    }
}

/// The largest error that a reduced rate makes in a clip, and where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReductionError {
    /// In the model's unit of length, model space.
    pub distance: f32,
    /// The joint it was met at; `None` if there is no error.
    pub joint: Option<JointId>,
    /// The time it was met at, s.
    pub time: f32,
}

/// Plays `clip` once at `fps` with and without a [`RateReducer`] of `every` frames, and compares all frames in model space.
///
/// * `shell`: distance from each joint of the points that are compared besides the joint itself, as in
///   [`BakeOptions`](crate::BakeOptions), in the model's unit.
///
/// The bound holds for the frames that were played, and for any playback of the clip at that rate that starts at a multiple
/// of `every` frames. For tools; O(frames × J). No more than a million frames are played.
///
/// # Panics
///
/// If `clip` has another number of joints than `skeleton`.
pub fn reduction_error(
    clip: &Clip,
    skeleton: &Skeleton,
    every: u32,
    fps: f32,
    shell: f32,
) -> ReductionError {
    let mut worst = ReductionError {
        distance: 0.0,
        joint: None,
        time: 0.0,
    };
    let mut pose = skeleton.rest().clone();
    clip.sample(0.0, &mut pose);
    let mut reducer = RateReducer::new(every, &pose);
    let mut reduced = pose.clone();
    let (mut exact, mut mixed) = (Globals::new(skeleton), Globals::new(skeleton));
    let frames = (f64::from(clip.duration()) * f64::from(fps)).clamp(0.0, MOST_FRAMES) as u32;
    for frame in 0..=frames {
        let time = |frame: u32| (f64::from(frame) / f64::from(fps)) as f32;
        let ahead = time(frame.saturating_add(every.max(1)));
        reducer.update(&mut reduced, |pose| clip.sample(ahead, pose));
        clip.sample(time(frame), &mut pose);
        skeleton.globals(&pose, &mut exact);
        skeleton.globals(&reduced, &mut mixed);
        let slots = exact.slots().iter().zip(mixed.slots());
        for (joint, (exact, mixed)) in skeleton.joints().zip(slots) {
            let distance = point_distance(exact, mixed, shell);
            if distance > worst.distance {
                worst = ReductionError {
                    distance,
                    joint: Some(joint),
                    time: time(frame),
                };
            }
        }
    }
    worst
}

/// So that a clip of years ends.
const MOST_FRAMES: f64 = 1e6;
