//! One joint's motion in double precision: its values, its tangent space and its limits.

use std::f64::consts::{PI, TAU};

use anim_math::Vec3;
use anim_math::nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector2, Vector3};
use anim_math::random::Random;
use anim_skeleton::{JointLimit, JointLimitSpec, Turns};

use crate::configuration::JointValue;
use crate::lie;

/// An angle this near to half a turn or a whole one, rad, is that: limits are single precision.
const ROUNDING: f64 = 1e-6;

/// A swing or twist this far beyond its limit, rad, is on it: it was computed.
const ROUNDINGS: f64 = 1e-12;

/// A joint limit with its axes and ranges widened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum JointModel {
    Fixed,
    /// Unlimited if the range is infinite.
    Hinge {
        axis: Vector3<f64>,
        range: [f64; 2],
    },
    Prismatic {
        axis: Vector3<f64>,
        range: [f64; 2],
    },
    Universal(Turns),
    /// Any rotation.
    FreeBall,
    Ball(Turns),
    Free,
}

impl JointModel {
    pub(crate) fn new(limit: &JointLimit) -> Self {
        let wide = |axis: Vec3| axis.cast::<f64>().normalize();
        match (*limit.spec(), limit.turns()) {
            (JointLimitSpec::Fixed, _) => Self::Fixed,
            (JointLimitSpec::Hinge { axis, range }, _) => Self::Hinge {
                axis: wide(axis),
                range: unless_a_turn(range.map(f64::from)),
            },
            (JointLimitSpec::Prismatic { axis, range }, _) => Self::Prismatic {
                axis: wide(axis),
                range: range.map(f64::from),
            },
            (JointLimitSpec::Universal { .. }, Some(turns)) => Self::Universal(turns),
            (JointLimitSpec::Ball { .. }, Some(mut turns)) => {
                turns.twist = unless_a_turn(turns.twist);
                let swings = turns.swing.iter().all(|angle| *angle >= PI - ROUNDING);
                if swings && turns.twist[1] == f64::INFINITY {
                    Self::FreeBall
                } else {
                    Self::Ball(turns)
                }
            }
            _ => Self::Free,
        }
    }

    /// Dimension of the tangent space.
    pub(crate) fn dof(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Hinge { .. } | Self::Prismatic { .. } => 1,
            Self::Universal(_) => 2,
            Self::FreeBall | Self::Ball(_) => 3,
            Self::Free => 6,
        }
    }

    /// True for slides and free joints.
    pub(crate) fn translates(&self) -> bool {
        matches!(self, Self::Prismatic { .. } | Self::Free)
    }

    pub(crate) fn rest(&self) -> JointValue {
        match self {
            Self::Fixed => JointValue::Fixed,
            Self::Hinge { .. } => JointValue::Angle(0.0),
            Self::Prismatic { .. } => JointValue::Distance(0.0),
            Self::Universal(_) => JointValue::Swing(Vector2::zeros()),
            Self::FreeBall | Self::Ball(_) => JointValue::Rotation(UnitQuaternion::identity()),
            Self::Free => JointValue::Placement(Isometry3::identity()),
        }
    }

    /// `rest_from_joint`.
    pub(crate) fn motion(&self, value: &JointValue) -> Isometry3<f64> {
        let turn = |rotation| Isometry3::from_parts(Translation3::identity(), rotation);
        match (self, value) {
            (Self::Hinge { axis, .. }, JointValue::Angle(angle)) => turn(about(axis, *angle)),
            (Self::Prismatic { axis, .. }, JointValue::Distance(distance)) => {
                Isometry3::from_parts(
                    Translation3::from(axis * *distance),
                    UnitQuaternion::identity(),
                )
            }
            (Self::Universal(turns), JointValue::Swing(swing)) => turn(turns.join(*swing, 0.0)),
            (_, JointValue::Rotation(rotation)) => turn(*rotation),
            (_, JointValue::Placement(placement)) => *placement,
            _ => Isometry3::identity(),
        }
    }

    /// The value whose motion is the nearest to `motion` part by part; limits are not looked at.
    pub(crate) fn value(&self, motion: &Isometry3<f64>) -> JointValue {
        match self {
            Self::Fixed => JointValue::Fixed,
            Self::Hinge { axis, range } => {
                let q = &motion.rotation;
                let angle = 2.0 * libm::atan2(q.imag().dot(axis), q.w);
                JointValue::Angle(near_middle(angle, *range))
            }
            Self::Prismatic { axis, .. } => {
                JointValue::Distance(motion.translation.vector.dot(axis))
            }
            Self::Universal(turns) => JointValue::Swing(turns.split(motion.rotation).0),
            Self::FreeBall | Self::Ball(_) => JointValue::Rotation(motion.rotation),
            Self::Free => JointValue::Placement(*motion),
        }
    }

    /// The value after a turn in the joint's own frame, as near to it as the joint and its limits allow.
    pub(crate) fn turned(&self, value: &JointValue, turn: &UnitQuaternion<f64>) -> JointValue {
        let mut motion = self.motion(value);
        motion.rotation = lie::normalized(motion.rotation.into_inner() * turn.into_inner());
        self.clamp(&self.value(&motion))
    }

    /// The value nearest to `value` within the limits; what is within them comes back to the bit.
    pub(crate) fn clamp(&self, value: &JointValue) -> JointValue {
        match (self, value) {
            (Self::Hinge { range, .. }, JointValue::Angle(angle)) => {
                JointValue::Angle(nearest_angle(*angle, *range))
            }
            (
                Self::Prismatic {
                    range: [low, high], ..
                },
                JointValue::Distance(distance),
            ) => JointValue::Distance(distance.clamp(*low, *high)),
            (Self::Universal(turns), JointValue::Swing(swing)) => {
                let nearest = turns.nearest_swing(*swing);
                // What was put on the edge is beyond it by roundings, at times.
                if (nearest - swing).norm() < ROUNDINGS {
                    *value
                } else {
                    JointValue::Swing(nearest)
                }
            }
            (Self::Ball(turns), JointValue::Rotation(rotation)) => {
                let (swing, twist) = turns.split(*rotation);
                let nearest_swing = turns.nearest_swing(swing);
                let nearest_twist = nearest_angle(twist, turns.twist);
                // A rotation built of allowed parts comes apart into the same but for rounding.
                let off = (nearest_swing - swing)
                    .norm()
                    .max((nearest_twist - twist).abs());
                if off < ROUNDINGS || (off - TAU).abs() < ROUNDINGS {
                    *value
                } else {
                    JointValue::Rotation(turns.join(nearest_swing, nearest_twist))
                }
            }
            _ => *value,
        }
    }

    /// A value drawn from within the limits; where there are none, any turn, and placements stay where they are.
    pub(crate) fn random(&self, random: &mut Random, value: &JointValue) -> JointValue {
        let mut between = |[low, high]: [f64; 2]| {
            let alpha = f64::from(random.uniform());
            (low + (high - low) * alpha).clamp(low, high)
        };
        let turn = [-PI, PI];
        let angles = |range: [f64; 2]| if range[1].is_finite() { range } else { turn };
        match self {
            Self::Fixed => JointValue::Fixed,
            Self::Hinge { range, .. } => JointValue::Angle(between(angles(*range))),
            Self::Prismatic { range, .. } => JointValue::Distance(between(*range)),
            Self::Universal(turns) => JointValue::Swing(random_swing(random, turns)),
            Self::Ball(turns) => {
                let twist = between(angles(turns.twist));
                JointValue::Rotation(turns.join(random_swing(random, turns), twist))
            }
            Self::FreeBall => JointValue::Rotation(random_rotation(random)),
            Self::Free => {
                let mut placement = *value;
                if let JointValue::Placement(at) = &mut placement {
                    at.rotation = random_rotation(random);
                }
                placement
            }
        }
    }

    /// Body-frame angular velocity of each of a universal joint's two coordinates, or of the swing and twist of a ball:
    /// columns of d(exp(swing) · exp(twist)).
    pub(crate) fn chart(turns: &Turns, swing: Vector2<f64>, twist: f64) -> Matrix3<f64> {
        let across = turns.axis.cross(&turns.about);
        let leaning = lie::right_jacobian(turns.about * swing.x + across * swing.y);
        let back = about(&turns.axis, -twist);
        Matrix3::from_columns(&[
            back * (leaning * turns.about),
            back * (leaning * across),
            turns.axis,
        ])
    }
}

/// The rotation about a unit axis.
fn about(axis: &Vector3<f64>, angle: f64) -> UnitQuaternion<f64> {
    let (sine, cosine) = libm::sincos(0.5 * angle);
    let q = anim_math::nalgebra::Quaternion::from_parts(cosine, axis * sine);
    UnitQuaternion::new_unchecked(q)
}

fn unless_a_turn([low, high]: [f64; 2]) -> [f64; 2] {
    if high - low >= TAU - ROUNDING {
        [f64::NEG_INFINITY, f64::INFINITY]
    } else {
        [low, high]
    }
}

/// `angle` plus the whole turns that bring it within half a turn of the middle of the range.
fn near_middle(angle: f64, [low, high]: [f64; 2]) -> f64 {
    let middle = if high.is_finite() {
        0.5 * (low + high)
    } else {
        0.0
    };
    angle - TAU * libm::round((angle - middle) / TAU)
}

/// The angle of the range nearest to `angle` on the circle; one in the range keeps its bits.
pub(crate) fn nearest_angle(angle: f64, range: [f64; 2]) -> f64 {
    if range[0] <= angle && angle <= range[1] {
        return angle;
    }
    near_middle(angle, range).clamp(range[0], range[1])
}

/// Uniform in the ellipse of swings.
fn random_swing(random: &mut Random, turns: &Turns) -> Vector2<f64> {
    let disk = random.in_disk().cast::<f64>();
    let swing = Vector2::new(disk.x * turns.swing[0], disk.y * turns.swing[1]);
    turns.nearest_swing(swing)
}

/// Uniform over all rotations. Source: Muller, "A note on a method for generating points uniformly on n-dimensional
/// spheres", 1959.
fn random_rotation(random: &mut Random) -> UnitQuaternion<f64> {
    let [x, y, z, w] = std::array::from_fn(|_| f64::from(random.normal()));
    lie::normalized(anim_math::nalgebra::Quaternion::new(w, x, y, z))
}
