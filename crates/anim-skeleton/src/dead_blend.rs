//! Dead blending: a switch of clips that lets the old pose run on by itself while it fades.
//!
//! The old pose is extrapolated with a velocity that dies away, and crossfaded with the new clip. Like
//! [`Inertialization`](crate::Inertialization) it needs one clip at a time, but whatever the velocities and however far
//! the poses are apart, what is shown lies between two plausible poses.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{DeadBlend, JointSpec, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let (joint, before) = (skeleton.joint(0), skeleton.rest().clone());
//! let (mut now, dt) = (before.clone(), 1.0 / 64.0);
//! now.set_translation(joint, Vec3::x() * dt); // 1 m/s
//!
//! let mut transition = DeadBlend::new(skeleton.len());
//! transition.start([&before, &now], dt, 0.5, 0.25);
//! let mut shown = skeleton.rest().clone(); // the new clip stands still at 0
//! transition.apply(dt, &mut shown);
//! assert!((shown.translation(joint).x - 2.0 * dt).abs() < 1e-3); // runs on
//! transition.apply(0.5, &mut shown);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::f32::consts::LN_2;

use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Vec3, quat};

use crate::inertialize::velocity;
use crate::{JointId, Pose};

/// A pose that runs on while it fades; one per character.
///
/// x(t) = x₀ + v₀ (1 − e^(−λt)) / λ with λ = ln 2 / half-life, mixed with the new clip by 3 s² − 2 s³, s = t / T. Rotations
/// go from one to the other on the side they began on, even past half a turn. Source: Holden, "Dead blending", 2023,
/// theorangeduck.com.
#[derive(Clone, Debug, PartialEq)]
pub struct DeadBlend {
    elapsed: f32,
    duration: f32,
    half_life: f32,
    joints: Vec<Fading>,
}

impl DeadBlend {
    /// At rest, for a skeleton of `joint_count` joints.
    pub fn new(joint_count: usize) -> Self {
        Self {
            elapsed: 0.0,
            duration: 0.0,
            half_life: 0.0,
            joints: vec![Fading::default(); joint_count],
        }
    }

    /// Begins a transition of `duration` seconds.
    ///
    /// * `from`: what was shown, the last frame but one and the last. * `dt`: seconds between them; without a positive one
    ///   there is no velocity. * `half_life`: seconds after which half of the velocity is gone, such as 0.1; without a
    ///   positive one all is gone at once.
    ///
    /// O(J), allocates nothing.
    ///
    /// # Panics
    ///
    /// If poses are of another number of joints.
    pub fn start(&mut self, from: [&Pose; 2], dt: f32, duration: f32, half_life: f32) {
        for pose in from {
            assert_eq!(pose.len(), self.joints.len(), "pose of another skeleton");
        }
        self.elapsed = 0.0;
        self.duration = duration;
        self.half_life = half_life;
        for (joint, fading) in self.joints.iter_mut().enumerate() {
            let [before, now] = from.map(|pose| pose.get(JointId(joint as u16)));
            *fading = Fading {
                translation: now.translation,
                rotation: now.rotation,
                scale: now.scale,
                velocity: velocity(now.translation - before.translation, dt),
                spin: velocity(quat::log(now.rotation * before.rotation.inverse()), dt),
                growth: velocity(now.scale - before.scale, dt),
                way: None,
            };
        }
    }

    /// Mixes what is left of the old pose into `pose`, the new clip `dt` seconds after the last call or the start.
    ///
    /// After the duration no bit is changed. Negative steps and those not finite are left out. O(J), allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` is of another number of joints.
    pub fn apply(&mut self, dt: f32, pose: &mut Pose) {
        assert_eq!(pose.len(), self.joints.len(), "pose of another skeleton");
        if dt > 0.0 && dt.is_finite() {
            self.elapsed += dt;
        }
        if !self.is_active() {
            return;
        }
        let s = self.elapsed / self.duration;
        let alpha = s * s * (3.0 - 2.0 * s);
        let seconds = run_on(self.elapsed, self.half_life);
        for (joint, fading) in self.joints.iter_mut().enumerate() {
            let joint = JointId(joint as u16);
            let mut target = pose.get(joint);
            let mix = |from: Vec3, velocity: Vec3, to: Vec3| {
                let from = from + velocity * seconds;
                from + (to - from) * alpha
            };
            target.translation = mix(fading.translation, fading.velocity, target.translation);
            target.scale = mix(fading.scale, fading.growth, target.scale);
            target.rotation = fading.turn_to(target.rotation, seconds, alpha);
            pose.set(joint, target);
        }
    }

    /// True until the transition is over.
    pub fn is_active(&self) -> bool {
        self.elapsed < self.duration
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Fading {
    translation: Vec3,
    rotation: Quat,
    scale: Vec3,
    velocity: Vec3,
    /// rad/s, on the parent's side.
    spin: Vec3,
    growth: Vec3,
    /// From the old rotation to the new as of the last frame; its sign tells on which side it began.
    way: Option<Vector4<f32>>,
}

impl Fading {
    fn turn_to(&mut self, target: Quat, seconds: f32, alpha: f32) -> Quat {
        let from = quat::exp(self.spin * seconds) * self.rotation;
        let mut way = (target * from.inverse()).coords;
        // The short way at first, then whichever is near the last.
        if way.dot(&self.way.unwrap_or(Vector4::w())) < 0.0 {
            way = -way;
        }
        self.way = Some(way);
        part_of(way, alpha) * from
    }
}

/// A part of the turn of a unit quaternion that is not made the nearer of ±q: its angle is in [0, 2π].
fn part_of(turn: Vector4<f32>, part: f32) -> Quat {
    let sine = turn.xyz().norm();
    let (part_sine, cosine) = libm::sincosf(part * libm::atan2f(sine, turn.w));
    let ratio = if sine < 1e-6 { part } else { part_sine / sine };
    let [x, y, z] = (turn.xyz() * ratio).into();
    Quat::new_unchecked(Quaternion::new(cosine, x, y, z))
}

/// The seconds of undiminished velocity that equal `time` seconds of a dying one.
fn run_on(time: f32, half_life: f32) -> f32 {
    if half_life > 0.0 {
        let rate = LN_2 / half_life;
        -libm::expm1f(-rate * time) / rate
    } else {
        0.0
    }
}
