//! Inertialisation: a switch of clips without a crossfade, as if limbs had mass.
//!
//! At the switch the difference between what was shown and the new clip is recorded, with its velocity, and from then on
//! added to the new clip while it decays. Only one clip is evaluated during the transition, feet do not slide between two
//! gaits, and a switch in the middle of another is just one more. See [`DeadBlend`](crate::DeadBlend) for transitions
//! between very different poses, where offsets reach far.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Inertialization, JointSpec, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let (joint, old) = (skeleton.joint(0), skeleton.rest().clone());
//! let mut new = old.clone();
//! new.set_translation(joint, Vec3::x());
//!
//! let mut transition = Inertialization::new(skeleton.len());
//! transition.start([&old, &old], [&new, &new], 1.0 / 60.0, 0.25);
//! let mut shown = new.clone();
//! transition.apply(1.0 / 60.0, &mut shown);
//! assert!(shown.translation(joint).x < 0.1); // hardly moved yet
//! transition.apply(0.25, &mut new);
//! assert_eq!(new.translation(joint), Vec3::x()); // arrived, to the bit
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::f32::consts::TAU;

use anim_math::{Vec3, quat};

use crate::{JointId, Pose};

/// What is left of the pose before a switch; one per character.
///
/// Each offset x decays along x(t) = (1 − s)⁴ (x₀ (1 + 4 s) + v₀ T s), s = t / T: the quintic that starts at x₀ with
/// velocity v₀ and ends without value, velocity, acceleration and jerk. Where the velocity points home, T is shortened to
/// 5 |x₀|² / −(x₀ · v₀), so that nothing overshoots. Rotations decay along their rotation vector. Source: Bollo,
/// "Inertialization: high-performance animation transitions in Gears of War", GDC 2018; unlike there, velocities that
/// point away are kept, and those of the new clip are taken off, so that the motion goes on smoothly.
#[derive(Clone, Debug, PartialEq)]
pub struct Inertialization {
    elapsed: f32,
    duration: f32,
    offsets: Vec<Offset>,
}

impl Inertialization {
    /// At rest, for a skeleton of `joint_count` joints.
    pub fn new(joint_count: usize) -> Self {
        Self {
            elapsed: 0.0,
            duration: 0.0,
            offsets: vec![Offset::default(); joint_count],
        }
    }

    /// Begins a transition of at most `duration` seconds.
    ///
    /// * `from`: what was shown, the last frame but one and the last. * `to`: the new clip at the same two moments; clips
    ///   can be sampled at any time. Twice the same pose leaves the new clip's velocity out. * `dt`: seconds between them;
    ///   with one below a microsecond there is no velocity.
    ///
    /// A transition that was under way is over: it is part of what was shown. O(J), allocates nothing.
    ///
    /// # Panics
    ///
    /// If poses are of another number of joints.
    pub fn start(&mut self, from: [&Pose; 2], to: [&Pose; 2], dt: f32, duration: f32) {
        for pose in from.iter().chain(&to) {
            assert_eq!(pose.len(), self.offsets.len(), "pose of another skeleton");
        }
        self.elapsed = 0.0;
        self.duration = duration;
        for (joint, offset) in self.offsets.iter_mut().enumerate() {
            let joint = JointId(joint as u16);
            let turn =
                |n: usize| quat::log(from[n].rotation(joint) * to[n].rotation(joint).inverse());
            let way = |n: usize| from[n].translation(joint) - to[n].translation(joint);
            let growth = |n: usize| from[n].scale(joint) - to[n].scale(joint);
            let decay = |before, now| Decay::new(before, now, dt, duration);
            *offset = Offset {
                translation: decay(way(0), way(1)),
                rotation: decay(nearest_turn(turn(0), turn(1)), turn(1)),
                scale: decay(growth(0), growth(1)),
            };
        }
    }

    /// Adds to `pose`, the new clip `dt` seconds after the last call or the start, what is left of the old one.
    ///
    /// What has decayed changes no bit. Negative steps and those not finite are left out. O(J), allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` is of another number of joints.
    pub fn apply(&mut self, dt: f32, pose: &mut Pose) {
        assert_eq!(pose.len(), self.offsets.len(), "pose of another skeleton");
        if dt > 0.0 && dt.is_finite() {
            self.elapsed += dt;
        }
        if !self.is_active() {
            return;
        }
        for (joint, offset) in self.offsets.iter().enumerate() {
            let joint = JointId(joint as u16);
            if let Some(way) = offset.translation.at(self.elapsed) {
                pose.set_translation(joint, pose.translation(joint) + way);
            }
            if let Some(turn) = offset.rotation.at(self.elapsed) {
                pose.set_rotation(joint, quat::exp(turn) * pose.rotation(joint));
            }
            if let Some(growth) = offset.scale.at(self.elapsed) {
                pose.set_scale(joint, pose.scale(joint) + growth);
            }
        }
    }

    /// True until the whole of the transition has decayed.
    pub fn is_active(&self) -> bool {
        self.elapsed < self.duration
    }
}

/// What a joint has too much of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Offset {
    translation: Decay,
    /// Rotation vectors, rad, on the parent's side.
    rotation: Decay,
    scale: Decay,
}

/// One decaying offset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Decay {
    offset: Vec3,
    velocity: Vec3,
    duration: f32,
}

impl Decay {
    fn new(before: Vec3, offset: Vec3, dt: f32, duration: f32) -> Self {
        let velocity = velocity(offset - before, dt);
        if offset == Vec3::zeros() && velocity == Vec3::zeros() {
            return Self::default();
        }
        let away = offset.dot(&velocity);
        let duration = if away < 0.0 {
            duration.min(-5.0 * offset.norm_squared() / away)
        } else {
            duration
        };
        Self {
            offset,
            velocity,
            duration,
        }
    }

    /// What is left after `time` seconds, if anything.
    fn at(&self, time: f32) -> Option<Vec3> {
        (time < self.duration).then(|| decayed(self.offset, self.velocity, time, self.duration))
    }
}

/// Steps shorter than this show rounding and no motion, s.
const SHORTEST_STEP: f32 = 1e-6;

/// `way` over `dt` seconds; none where `dt` is no step.
pub(crate) fn velocity(way: Vec3, dt: f32) -> Vec3 {
    if dt >= SHORTEST_STEP {
        way / dt
    } else {
        Vec3::zeros()
    }
}

/// What is left after `time` seconds of an offset that had this velocity, per second, and is gone after `duration`.
pub(crate) fn decayed(offset: Vec3, velocity: Vec3, time: f32, duration: f32) -> Vec3 {
    if time >= duration {
        return Vec3::zeros();
    }
    let s = time / duration;
    let left = (1.0 - s) * (1.0 - s);
    (offset * (1.0 + 4.0 * s) + velocity * time) * (left * left)
}

/// The rotation vector of the same rotation as `turn` that is nearest to `other`: past half a turn the short way changes.
fn nearest_turn(turn: Vec3, other: Vec3) -> Vec3 {
    let angle = turn.norm();
    if angle == 0.0 {
        return turn;
    }
    let long_way = turn * ((angle - TAU) / angle);
    if (long_way - other).norm_squared() < (turn - other).norm_squared() {
        long_way
    } else {
        turn
    }
}
