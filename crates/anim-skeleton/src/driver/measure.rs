//! Measuring a joint against its rest: what correctives depend on.
//!
//! ```
//! use anim_math::{Quat, Vec3, quat};
//! use anim_skeleton::driver::measure::{cone, swing_angle, twist_angle};
//!
//! let turn = quat::from_axis_angle(Vec3::z(), 0.8) * quat::from_axis_angle(Vec3::x(), -0.3);
//! assert!((twist_angle(turn, Vec3::x()) + 0.3).abs() < 1e-6);
//! assert!((swing_angle(turn, Vec3::x()) - 0.8).abs() < 1e-6);
//! assert_eq!(cone(turn, turn, 0.5), 1.0);
//! assert_eq!(cone(turn, Quat::identity(), 0.5), 0.0);
//! ```

use std::f32::consts::PI;

use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::Scene;
use super::spec::{Binder, JointRef};
use crate::JointId;

/// A number that says how a joint is turned from its rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Measure<J = JointRef> {
    /// [`twist_angle`], rad: about the bone for a forearm, about the hinge for an elbow or a knee.
    Twist {
        /// What is measured.
        joint: J,
        /// In its own axes; need not be unit.
        axis: Vec3,
    },
    /// [`swing_angle`], rad: how far the bone points elsewhere than at rest.
    Swing {
        /// What is measured.
        joint: J,
        /// Along the bone, in its own axes; need not be unit.
        axis: Vec3,
    },
    /// [`cone`], in [0, 1]: how near the joint is to an example.
    Pose {
        /// What is measured.
        joint: J,
        /// The example, a turn from rest in the joint's own axes, rotation vector, rad.
        turn: Vec3,
        /// The angle from the example at which it counts for nothing any more, rad, in (0, π].
        radius: f32,
    },
}

impl Measure {
    pub(super) fn bind(&self, binder: &Binder<'_>) -> Result<Measure<JointId>, DriverError> {
        Ok(match self {
            Self::Twist { joint, axis } => Measure::Twist {
                joint: binder.joint(joint)?,
                axis: binder.axis(*axis, "axis")?,
            },
            Self::Swing { joint, axis } => Measure::Swing {
                joint: binder.joint(joint)?,
                axis: binder.axis(*axis, "axis")?,
            },
            Self::Pose {
                joint,
                turn,
                radius,
            } => {
                binder.finite(*turn, "turn")?;
                binder.require(*radius > 0.0 && *radius <= PI, "radius")?;
                Measure::Pose {
                    joint: binder.joint(joint)?,
                    turn: *turn,
                    radius: *radius,
                }
            }
        })
    }
}

impl Measure<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        let (Self::Twist { joint, .. } | Self::Swing { joint, .. } | Self::Pose { joint, .. }) =
            self;
        touched.read(*joint, Part::Rotation);
    }

    pub(super) fn value(&self, scene: &Scene<'_>) -> f32 {
        match self {
            Self::Twist { joint, axis } => twist_angle(scene.turn_from_rest(*joint), *axis),
            Self::Swing { joint, axis } => swing_angle(scene.turn_from_rest(*joint), *axis),
            Self::Pose {
                joint,
                turn,
                radius,
            } => cone(scene.turn_from_rest(*joint), quat::exp(*turn), *radius),
        }
    }
}

/// The angle of the twist of `turn` about the unit `axis`, rad, in (−π, π]; 0 after a swing of half a turn.
pub fn twist_angle(turn: Quat, axis: Vec3) -> f32 {
    let (sine, cosine) = (turn.imag().dot(&axis), turn.w);
    if sine * sine + cosine * cosine < 1e-12 {
        return 0.0;
    }
    // q and −q are one rotation: with a cosine ≥ 0, and at half a turn a sine > 0, both give one angle.
    let is_other_sign = cosine < 0.0 || (cosine == 0.0 && sine < 0.0);
    let sign = if is_other_sign { -1.0 } else { 1.0 };
    2.0 * libm::atan2f(sine * sign, cosine * sign)
}

/// The angle between the unit `axis` and where `turn` takes it, rad, in [0, π].
pub fn swing_angle(turn: Quat, axis: Vec3) -> f32 {
    let along = turn.imag().dot(&axis);
    let across = turn.imag() - axis * along;
    let cosine = (along * along + turn.w * turn.w).sqrt();
    2.0 * libm::atan2f(across.norm(), cosine)
}

/// 1 where `turn` is the `example`, 0 from the angle `radius` on, rad, and straight between.
pub fn cone(turn: Quat, example: Quat, radius: f32) -> f32 {
    (1.0 - quat::angle_between(turn, example) / radius).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negated(q: Quat) -> Quat {
        Quat::new_unchecked(-q.into_inner())
    }

    #[test]
    fn twist_does_not_depend_on_the_sign_of_the_quaternion_even_at_half_a_turn() {
        for degrees in [-180.0_f32, -179.9, -90.0, 0.0, 1.0, 90.0, 179.9, 180.0] {
            let turn = quat::from_axis_angle(Vec3::x(), degrees.to_radians());
            let angle = twist_angle(turn, Vec3::x());
            assert_eq!(angle, twist_angle(negated(turn), Vec3::x()));
            if degrees.abs() < 180.0 {
                assert!((angle - degrees.to_radians()).abs() < 1e-6);
            }
        }
        let exactly =
            Quat::new_unchecked(anim_math::nalgebra::Quaternion::new(0.0, -1.0, 0.0, 0.0));
        assert_eq!(twist_angle(exactly, Vec3::x()), PI);
    }

    #[test]
    fn swing_is_the_angle_between_the_axes() {
        let mut random = anim_math::Random::new(3, 0, 0);
        for _ in 0..200 {
            let (axis, turn) = (random.on_sphere(), quat::exp(random.in_ball() * 6.0));
            let turned = turn * axis;
            let expected = libm::atan2f(axis.cross(&turned).norm(), axis.dot(&turned));
            assert!((swing_angle(turn, axis) - expected).abs() < 2e-6);
        }
    }

    #[test]
    fn half_a_swing_has_no_twist() {
        let turn = quat::from_axis_angle(Vec3::z(), PI);
        assert_eq!(twist_angle(turn, Vec3::x()), 0.0);
        assert!((swing_angle(turn, Vec3::x()) - PI).abs() < 1e-6);
    }
}
