//! Breath: a chest that swells and shoulders that rise, again and again.
//!
//! Breathing in, out and pausing take their parts of a breath, each move a half cosine, so that nothing ever jerks. How fast
//! and how deep a character breathes is its [`Breath`], which may change at any time: breathing goes on from where it is.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::Breathe;
//!
//! let chest = Breathe {
//!     rate: 0.25, // fifteen breaths a minute
//!     inhale: 0.4,
//!     scale: Breathe::tidal_scale(0.5, 6.0, Vec3::new(0.25, 0.0, 0.75)), // half a litre more of six
//!     turn: Vec3::new(-0.02, 0.0, 0.0),
//!     ..Breathe::new("chest")
//! };
//! assert_eq!(chest.depth(0.0), 0.0);
//! assert_eq!(chest.depth(1.6), 1.0);
//! assert!((chest.scale.product() - 6.5 / 6.0).abs() < 1e-6);
//! ```

use std::f32::consts::PI;

use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Scales and turns a joint with the breath, from nothing to all and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breathe<J = JointRef> {
    /// What breathes.
    pub joint: J,
    /// Breaths a second, ≥ 0, at a pace of 1.
    pub rate: f32,
    /// Where in a breath time 0 is, in breaths: 0 is out, `inhale` is in.
    #[serde(default)]
    pub phase: f32,
    /// The part of a breath that goes in, above 0.
    #[serde(default = "half")]
    pub inhale: f32,
    /// The part of a breath in which all is out, ≥ 0; what the two leave of 1, which must be something, goes out.
    #[serde(default)]
    pub pause: f32,
    /// Factors with all the breath in, along the joint's own axes.
    #[serde(default = "unscaled")]
    pub scale: Vec3,
    /// Turn with all the breath in, in the joint's own axes, rotation vector, rad.
    #[serde(default = "Vec3::zeros")]
    pub turn: Vec3,
    /// True makes how much is in an output of the drivers, for a morph of the driver's name.
    #[serde(default)]
    pub output: bool,
}

/// How a character breathes now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breath {
    /// The clock of its breath, s.
    pub time: f64,
    /// How fast that runs: 2 breathes twice as often; ≥ 0.
    pub pace: f32,
    /// How much of each full breath is taken: 1 is all. Fade it, or change it while all is out.
    pub depth: f32,
}

impl Default for Breath {
    /// As specified.
    fn default() -> Self {
        Self {
            time: 0.0,
            pace: 1.0,
            depth: 1.0,
        }
    }
}

impl Breath {
    /// Goes on by `dt`, s.
    pub(super) fn advance(&mut self, dt: f32) {
        let step = f64::from(dt) * f64::from(self.pace);
        self.time += if step > 0.0 && step.is_finite() {
            step
        } else {
            0.0
        };
    }
}

fn half() -> f32 {
    0.5
}

fn unscaled() -> Vec3 {
    Vec3::repeat(1.0)
}

impl<J> Breathe<J> {
    /// How much of a full breath is in at `time`, s: (1 − cos π p / inhale) / 2 on the way in, and its mirror image on the way
    /// out, p being the part of a breath since it began.
    ///
    /// Whole breaths are dropped in f64, so it is as smooth after a day as at the start.
    pub fn depth(&self, time: f64) -> f32 {
        let breaths = f64::from(self.rate) * time + f64::from(self.phase);
        let part = (breaths - breaths.floor()) as f32;
        let exhale = 1.0 - self.inhale - self.pause;
        let turned = match part < self.inhale {
            true => part / self.inhale,
            false => 1.0 + ((part - self.inhale) / exhale).min(1.0),
        };
        (1.0 - libm::cosf(PI * turned)) * 0.5
    }
}

impl Breathe {
    /// A quarter of a breath a second, even in and out, that moves nothing yet.
    pub fn new(joint: impl Into<JointRef>) -> Self {
        Self {
            joint: joint.into(),
            rate: 0.25,
            phase: 0.0,
            inhale: half(),
            pause: 0.0,
            scale: unscaled(),
            turn: Vec3::zeros(),
            output: false,
        }
    }

    /// The [`scale`](Self::scale) at which a chest of `volume` has taken in `tidal` more, in the same unit, and grown by
    /// `shares` along its axes; shares sum to 1. Adults at rest take in half a litre.
    pub fn tidal_scale(tidal: f32, volume: f32, shares: Vec3) -> Vec3 {
        let growth = libm::logf(1.0 + tidal / volume);
        shares.map(|share| libm::expf(growth * share))
    }

    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Breathe<JointId>, DriverError> {
        binder.require((0.0..=f32::MAX).contains(&self.rate), "rate")?;
        binder.require(self.phase.is_finite(), "phase")?;
        binder.require(self.inhale > 0.0 && self.inhale < 1.0, "inhale")?;
        let left = 1.0 - self.inhale;
        binder.require(self.pause >= 0.0 && self.pause < left, "pause")?;
        binder.finite(self.scale, "scale")?;
        binder.finite(self.turn, "turn")?;
        Ok(Breathe {
            joint: binder.joint(&self.joint)?,
            rate: self.rate,
            phase: self.phase,
            inhale: self.inhale,
            pause: self.pause,
            scale: self.scale,
            turn: self.turn,
            output: self.output,
        })
    }
}

impl Breathe<JointId> {
    fn turns(&self) -> bool {
        self.turn != Vec3::zeros()
    }

    fn scales(&self) -> bool {
        self.scale != unscaled()
    }

    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        if self.turns() {
            touched.write(self.joint, Part::Rotation);
        }
        if self.scales() {
            touched.write(self.joint, Part::Scale);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let depth = self.depth(scene.breath.time) * scene.breath.depth;
        if self.output {
            *scene.output = depth * scene.weight;
        }
        let local = scene.pose.get(self.joint);
        let growth = (self.scale - unscaled()) * depth + unscaled();
        let target = Target {
            translation: None,
            rotation: self
                .turns()
                .then(|| local.rotation * quat::exp(self.turn * depth)),
            scale: self.scales().then(|| local.scale.component_mul(&growth)),
        };
        scene.write(self.joint, target);
    }
}
