//! Jiggle: ears, bellies, tails and antennae that lag behind and swing out.
//!
//! A point mass hangs by a damped spring on the place where the joint's tip is posed; the joint turns toward the mass.
//! The motion of the mass is solved exactly for a target that moves evenly during the frame, so it neither explodes nor
//! depends on the frame rate, however stiff the spring.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::Jiggle;
//!
//! let ear = Jiggle { frequency: 3.0, damping: 0.3, ..Jiggle::new("ear.L", Vec3::new(0.0, 0.12, 0.0)) };
//! ```

use std::f64::consts::TAU;

use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Turns a joint toward a mass that follows its tip by a damped spring.
///
/// With y the mass relative to where the tip is posed: ÿ + 2ζω ẏ + ω² y = g, ω = 2π · frequency. Only the direction to
/// the mass counts; the bone keeps its length. Chains follow from one jiggle for each joint: they run from root to tip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jiggle<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// Where the mass is, in the joint's own space, m; not at its origin.
    pub tip: Vec3,
    /// Of the undamped spring, Hz, in (0, 1000].
    pub frequency: f32,
    /// ζ, ≥ 0: 0 swings forever, 1 returns without swinging over, above 1 creeps back.
    pub damping: f32,
    /// In world space, m/s²: the mass hangs gravity / ω² below its target at rest. Zero for poses that were drawn with
    /// gravity in mind.
    #[serde(default = "Vec3::zeros")]
    pub gravity: Vec3,
    /// The furthest turn from the pose, rad, ≥ 0; the mass is stopped there.
    #[serde(default)]
    pub limit: Option<f32>,
    /// A move of the posed tip in one frame, m, ≥ 0, above which it has jumped rather than moved: the mass goes along and
    /// is at rest.
    #[serde(default)]
    pub teleport: Option<f32>,
}

impl Jiggle {
    /// A spring of 2 Hz and ζ = 0.5 without gravity and limits.
    pub fn new(joint: impl Into<JointRef>, tip: Vec3) -> Self {
        Self {
            joint: joint.into(),
            tip,
            frequency: 2.0,
            damping: 0.5,
            gravity: Vec3::zeros(),
            limit: None,
            teleport: None,
        }
    }

    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Jiggle<JointId>, DriverError> {
        let is_size = |v: f32| v >= 0.0;
        binder.axis(self.tip, "tip")?;
        binder.require(
            self.frequency > 0.0 && self.frequency <= 1000.0,
            "frequency",
        )?;
        binder.require((0.0..=f32::MAX).contains(&self.damping), "damping")?;
        binder.finite(self.gravity, "gravity")?;
        binder.require(self.limit.is_none_or(is_size), "limit")?;
        binder.require(self.teleport.is_none_or(is_size), "teleport")?;
        Ok(Jiggle {
            joint: binder.joint(&self.joint)?,
            tip: self.tip,
            frequency: self.frequency,
            damping: self.damping,
            gravity: self.gravity,
            limit: self.limit,
            teleport: self.teleport,
        })
    }
}

/// The mass of one jiggle, in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spring {
    /// Where the tip was posed in the last frame, m.
    target: Vec3,
    /// The mass relative to that, m.
    lag: Vec3,
    /// Of the mass, m/s.
    velocity: Vec3,
}

impl Jiggle<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.read_position(self.joint);
        touched.read(self.joint, Part::Scale);
        touched.write(self.joint, Part::Rotation);
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let world_from_parent = match scene.skeleton.parent(self.joint) {
            Some(parent) => scene.world_from_model * scene.globals.get(parent),
            None => scene.world_from_model,
        };
        let Some(parent_from_world) = world_from_parent.inverse() else {
            return;
        };
        let local = scene.pose.get(self.joint);
        let posed = local.rotation * self.tip.component_mul(&local.scale);
        let target = world_from_parent.transform_point(local.translation + posed);
        let (mut spring, target_velocity) = self.advance(*scene.spring, target, scene.dt);
        let mass = posed + parent_from_world.transform_vector(spring.lag);
        let mut turn = quat::between(posed, mass);
        if let Some(stopped) = self.stopped(turn) {
            turn = stopped;
            let place = turn * posed * (mass.norm() / posed.norm());
            spring.stop(
                world_from_parent.transform_vector(place - posed),
                target_velocity,
            );
        }
        *scene.spring = spring.is_finite().then_some(spring);
        scene.write(self.joint, Target::rotation(turn * local.rotation));
    }

    /// Moves the mass by `dt`, s, during which its target moves evenly to `target`, with the velocity that is returned too.
    fn advance(&self, spring: Option<Spring>, target: Vec3, dt: f32) -> (Spring, Vec3) {
        let omega = TAU * f64::from(self.frequency);
        let sag = self.gravity * (1.0 / (omega * omega)) as f32;
        let limit = self.teleport.unwrap_or(f32::INFINITY);
        let near = |spring: &Spring| (target - spring.target).norm() <= limit;
        let Some(spring) = spring.filter(near) else {
            let settled = Spring {
                target,
                lag: sag,
                velocity: Vec3::zeros(),
            };
            return (settled, Vec3::zeros());
        };
        if dt <= 0.0 {
            // Time stands still: so does the mass, wherever the pose is taken.
            let lag = spring.lag + (spring.target - target);
            let held = Spring {
                target,
                lag,
                ..spring
            };
            return (held, Vec3::zeros());
        }
        let target_velocity = (target - spring.target) / dt;
        let [a, b, c, d] =
            oscillate(omega, f64::from(self.damping), f64::from(dt)).map(|v| v as f32);
        let (lag, velocity) = (spring.lag - sag, spring.velocity - target_velocity);
        let moved = Spring {
            target,
            lag: lag * a + velocity * b + sag,
            velocity: lag * c + velocity * d + target_velocity,
        };
        (moved, target_velocity)
    }

    /// As much of `turn` as the limit allows, if that is not all of it.
    fn stopped(&self, turn: Quat) -> Option<Quat> {
        let (limit, rotation_vector) = (self.limit?, quat::log(turn));
        let angle = rotation_vector.norm();
        (angle > limit).then(|| quat::exp(rotation_vector * (limit / angle)))
    }
}

impl Spring {
    /// Puts the mass back to `lag`, where something that moves with the target has stopped it.
    fn stop(&mut self, lag: Vec3, target_velocity: Vec3) {
        if let Some(outward) = (self.lag - lag).try_normalize(1e-18) {
            let speed = outward.dot(&(self.velocity - target_velocity));
            self.velocity -= outward * speed.max(0.0);
        }
        self.lag = lag;
    }

    fn is_finite(&self) -> bool {
        let parts = [self.target, self.lag, self.velocity];
        parts.iter().flatten().all(|v| v.is_finite())
    }
}

/// The matrix [a b; c d] that takes place and velocity of a damped oscillator `t` seconds on, by its closed form.
///
/// With δ = ζω and β² = |ω² − δ²|: a = e^(−δt) (C + δS), b = e^(−δt) S, c = −ω² b, d = e^(−δt) (C − δS), where C and S are
/// cos βt and sin βt / β for ζ < 1, their hyperbolic twins for ζ > 1 and 1 and t between.
fn oscillate(omega: f64, zeta: f64, t: f64) -> [f64; 4] {
    let delta = zeta * omega;
    let beta2 = (omega - delta) * (omega + delta);
    let beta = beta2.abs().sqrt();
    // C and S with the decay multiplied in.
    let (c, s) = if beta * t < 1e-4 {
        let decay = libm::exp(-delta * t);
        let half = beta2 * t * t * 0.5;
        (decay * (1.0 - half), decay * t * (1.0 - half / 3.0))
    } else if beta2 > 0.0 {
        let decay = libm::exp(-delta * t);
        (
            decay * libm::cos(beta * t),
            decay * libm::sin(beta * t) / beta,
        )
    } else {
        // δ − β cancels where damping is strong: it is ω² / (δ + β).
        let slow = libm::exp(-omega * (omega / (delta + beta)) * t);
        let fast = libm::exp(-(delta + beta) * t);
        ((slow + fast) * 0.5, (slow - fast) * 0.5 / beta)
    };
    [c + delta * s, s, -omega * omega * s, c - delta * s]
}
