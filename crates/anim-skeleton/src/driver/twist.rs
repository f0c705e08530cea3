//! Twist joints: spreading the turn of a hand or a shoulder about its bone over the helpers along it.
//!
//! Without them linear skinning wrings a forearm like a candy wrapper. A forearm's helpers hang on the forearm and take a
//! positive part of the hand's twist; an upper arm's hang on the upper arm itself, which already twists them whole, and
//! take a negative part of its twist to hold back.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{DriverSpec, Share, Twist};
//!
//! let spec = DriverSpec::new("upper arm.L", Twist {
//!     source: "upper arm.L".into(),
//!     axis: Vec3::x(),
//!     helpers: vec![
//!         Share { joint: "shoulder roll.L".into(), fraction: -0.75 }, // a quarter is left near the shoulder
//!         Share { joint: "upper arm roll.L".into(), fraction: -0.25 },
//!     ],
//! });
//! ```

use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::measure::twist_angle;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// Turns helpers about the bone by parts of how far a joint is twisted from its rest.
///
/// The twist is that of swing · twist about `axis`, an angle in (−π, π]: the driver has no memory, so helpers jump by
/// their fraction of a whole turn where it passes half a turn, and nowhere else. A helper turns about the direction that
/// the axis has at rest, from its own rest. The twist of a swing of half a turn is taken as 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twist<J = JointRef> {
    /// Whose twist is measured.
    pub source: J,
    /// Along the bone, in the source's own axes; need not be unit.
    pub axis: Vec3,
    /// Who takes parts of it, at least one.
    pub helpers: Vec<Share<J>>,
}

/// A helper and its part of the twist.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// Its part, in [−1, 1].
    pub fraction: f32,
}

impl Twist {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Twist<JointId>, DriverError> {
        binder.not_empty(&self.helpers, "helpers")?;
        let bind = |share: &Share| {
            binder.require((-1.0..=1.0).contains(&share.fraction), "a fraction")?;
            Ok(Share {
                joint: binder.joint(&share.joint)?,
                fraction: share.fraction,
            })
        };
        Ok(Twist {
            source: binder.joint(&self.source)?,
            axis: binder.axis(self.axis, "axis")?,
            helpers: self.helpers.iter().map(bind).collect::<Result<_, _>>()?,
        })
    }
}

impl Twist<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.read(self.source, Part::Rotation);
        for share in &self.helpers {
            touched.write(share.joint, Part::Rotation);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let angle = twist_angle(scene.turn_from_rest(self.source), self.axis);
        let model_axis = scene.rest.frame(self.source) * self.axis;
        for share in &self.helpers {
            let axis = scene.rest.frame(share.joint).inverse() * model_axis;
            let turn = quat::from_axis_angle(axis, share.fraction * angle);
            let rotation = scene.rest_rotation(share.joint) * turn;
            scene.write(share.joint, Target::rotation(rotation));
        }
    }
}
