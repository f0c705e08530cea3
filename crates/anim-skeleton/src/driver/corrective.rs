//! Correctives: a bent elbow pushes a helper out, a raised arm turns a shoulder blade, a smile brings a morph in.
//!
//! A joint is measured against its rest, a curve makes an amount of the measure, and the amount of an offset is added to
//! a helper's pose, or is an output to be read.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{Corrective, DriverSpec, Effect, Measure};
//!
//! // From 30 to 120 degrees of bend the tip of the elbow moves 2 cm back.
//! let keys = vec![Key::new(30_f32.to_radians(), 0.0), Key::new(120_f32.to_radians(), 1.0)];
//! let spec = DriverSpec::new("elbow.L", Corrective {
//!     measure: Measure::Twist { joint: "forearm.L".into(), axis: Vec3::z() },
//!     curve: Track::new(keys, Interpolation::Linear)?,
//!     effect: Effect::Translation { joint: "elbow.L".into(), offset: Vec3::new(0.0, 0.0, -0.02) },
//! });
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use anim_curves::Track;
use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use super::{DriverError, Measure};
use crate::JointId;

/// Adds as much of an offset as a curve makes of a measured angle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corrective<J = JointRef> {
    /// What it depends on.
    pub measure: Measure<J>,
    /// The amount, over the measure in place of time; its ends hold.
    pub curve: Track<f32>,
    /// What is done by that amount.
    pub effect: Effect<J>,
}

/// What an amount of 1 does; other amounts do it in proportion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Effect<J = JointRef> {
    /// Moves a joint.
    Translation {
        /// What moves.
        joint: J,
        /// In its parent's axes, m.
        offset: Vec3,
    },
    /// Turns a joint.
    Rotation {
        /// What turns.
        joint: J,
        /// In its own axes, rotation vector, rad.
        turn: Vec3,
    },
    /// Scales a joint by 1 + amount · (factor − 1).
    Scale {
        /// What is scaled.
        joint: J,
        /// Along its own axes.
        factor: Vec3,
    },
    /// Says amount × weight, under the driver's name.
    Output,
}

impl Corrective {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Corrective<JointId>, DriverError> {
        Ok(Corrective {
            measure: self.measure.bind(binder)?,
            curve: self.curve,
            effect: self.effect.bind(binder)?,
        })
    }
}

impl Effect {
    fn bind(&self, binder: &Binder<'_>) -> Result<Effect<JointId>, DriverError> {
        Ok(match self {
            Self::Translation { joint, offset } => {
                binder.finite(*offset, "offset")?;
                Effect::Translation {
                    joint: binder.joint(joint)?,
                    offset: *offset,
                }
            }
            Self::Rotation { joint, turn } => {
                binder.finite(*turn, "turn")?;
                Effect::Rotation {
                    joint: binder.joint(joint)?,
                    turn: *turn,
                }
            }
            Self::Scale { joint, factor } => {
                binder.finite(*factor, "factor")?;
                Effect::Scale {
                    joint: binder.joint(joint)?,
                    factor: *factor,
                }
            }
            Self::Output => Effect::Output,
        })
    }
}

impl Corrective<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        self.measure.touch(touched);
        match &self.effect {
            Effect::Translation { joint, .. } => touched.write(*joint, Part::Translation),
            Effect::Rotation { joint, .. } => touched.write(*joint, Part::Rotation),
            Effect::Scale { joint, .. } => touched.write(*joint, Part::Scale),
            Effect::Output => {}
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let amount = self.curve.sample(self.measure.value(scene));
        match &self.effect {
            Effect::Translation { joint, offset } => {
                let moved = scene.pose.translation(*joint) + offset * amount;
                scene.write(*joint, Target::translation(moved));
            }
            Effect::Rotation { joint, turn } => {
                let turned = scene.pose.rotation(*joint) * quat::exp(turn * amount);
                scene.write(*joint, Target::rotation(turned));
            }
            Effect::Scale { joint, factor } => {
                let growth = (factor - Vec3::repeat(1.0)) * amount + Vec3::repeat(1.0);
                let scaled = scene.pose.scale(*joint).component_mul(&growth);
                scene.write(*joint, Target::scale(scaled));
            }
            Effect::Output => *scene.output = amount * scene.weight,
        }
    }
}
