//! Breath: a chest that swells and shoulders that rise, again and again.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::Breathe;
//!
//! let chest: Breathe = Breathe {
//!     joint: "chest".into(),
//!     rate: 0.25, // fifteen breaths a minute
//!     phase: 0.0,
//!     scale: Vec3::new(1.01, 1.0, 1.03),
//!     turn: Vec3::new(-0.02, 0.0, 0.0),
//! };
//! assert_eq!(chest.depth(0.0), 0.0);
//! assert_eq!(chest.depth(2.0), 1.0);
//! ```

use std::f32::consts::TAU;

use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Scales and turns a joint by a raised cosine of time, from nothing to all and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Breathe<J = JointRef> {
    /// What breathes.
    pub joint: J,
    /// Breaths a second, ≥ 0.
    pub rate: f32,
    /// Where in a breath time 0 is, in breaths: 0 is out, 0.5 is in.
    #[serde(default)]
    pub phase: f32,
    /// Factors with all the breath in, along the joint's own axes.
    #[serde(default = "unscaled")]
    pub scale: Vec3,
    /// Turn with all the breath in, in the joint's own axes, rotation vector, rad.
    #[serde(default = "Vec3::zeros")]
    pub turn: Vec3,
}

fn unscaled() -> Vec3 {
    Vec3::repeat(1.0)
}

impl<J> Breathe<J> {
    /// How much breath is in at `time`, s: (1 − cos 2π(rate · time + phase)) / 2.
    ///
    /// Whole breaths are dropped in f64, so it is as smooth after a day as at the start.
    pub fn depth(&self, time: f64) -> f32 {
        let breaths = f64::from(self.rate) * time + f64::from(self.phase);
        let part = (breaths - breaths.floor()) as f32;
        (1.0 - libm::cosf(TAU * part)) * 0.5
    }
}

impl Breathe {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Breathe<JointId>, DriverError> {
        binder.require((0.0..=f32::MAX).contains(&self.rate), "rate")?;
        binder.require(self.phase.is_finite(), "phase")?;
        binder.finite(self.scale, "scale")?;
        binder.finite(self.turn, "turn")?;
        Ok(Breathe {
            joint: binder.joint(&self.joint)?,
            rate: self.rate,
            phase: self.phase,
            scale: self.scale,
            turn: self.turn,
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
        let depth = self.depth(scene.time);
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
