//! Roll: a joint that takes over how another turns about one axis, as VRM 1.0 constrains nodes.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{DriverSpec, Roll};
//!
//! let kind = Roll { joint: "J_Roll_L_LowerArm".into(), source: "hand.L".into(), axis: Vec3::x() };
//! let spec = DriverSpec::new("forearm.L", kind);
//! ```

use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Turns a joint from its rest by the twist of a source about an axis of the joint.
///
/// With q the source's and r the joint's local rotation: turn = r₀⁻¹ (q q₀⁻¹) r₀, and the joint becomes r₀ · twist(turn).
/// The parents of the two are taken to be aligned. The driver's weight is the share; unlike [`Twist`](super::Twist) it
/// takes the short arc, to one helper, and its axis is the helper's.
///
/// Source: the VRM consortium's VRMC_node_constraint 1.0, roll constraint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roll<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// What it follows.
    pub source: J,
    /// In the joint's own axes; need not be unit.
    pub axis: Vec3,
}

impl Roll {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Roll<JointId>, DriverError> {
        Ok(Roll {
            joint: binder.joint(&self.joint)?,
            source: binder.joint(&self.source)?,
            axis: binder.axis(self.axis, "axis")?,
        })
    }
}

impl Roll<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Rotation);
        touched.read(self.source, Part::Rotation);
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let rest = scene.rest_rotation(self.joint);
        let source_rest = scene.rest_rotation(self.source);
        let turn = scene.pose.rotation(self.source) * source_rest.inverse();
        let (_, twist) = quat::swing_twist(rest.inverse() * turn * rest, self.axis);
        scene.write(self.joint, Target::rotation(rest * twist));
    }
}
