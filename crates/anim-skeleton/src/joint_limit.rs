//! Joint limits: what a joint can do, beyond where it rests.
//!
//! A joint moves from its rest transform: `parent_from_joint = rest · motion`, so every axis here is one of the joint at
//! rest. Rotations are split into `swing · twist` about the joint's own axis, and each is limited where it lives: the twist
//! in an interval, the swing in a cone or an ellipse of rotation vectors. Euler angles are never limited: their boxes pinch
//! near a quarter turn and depend on an order.
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! let knee = JointLimit::new(JointLimitSpec::Hinge { axis: Vec3::x(), range: [0.0, 2.4] })?;
//! let rest = Transform::from_rotation(quat::from_axis_angle(Vec3::z(), 0.3));
//! let bent = |angle| rest.rotation * quat::from_axis_angle(Vec3::x(), angle);
//!
//! assert_eq!(knee.clamp_rotation(rest.rotation, bent(1.0)), (bent(1.0), 0.0));
//! let (straight, excess) = knee.clamp_rotation(rest.rotation, bent(-0.2));
//! assert!(quat::angle_between(straight, rest.rotation) < 1e-6);
//! assert!((excess - 0.2).abs() < 1e-6);
//! assert_eq!(knee.degrees_of_freedom(), 1);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::f64::consts::PI;

use anim_math::nalgebra::{Quaternion, UnitQuaternion, Vector2, Vector3};
use anim_math::{Quat, Transform, Vec3};
use serde::{Deserialize, Serialize};

use crate::SkeletonError;

/// What counts as within a limit: rotations by angles in radians, lengths as a part of the lengths involved.
///
/// Single-precision quaternions hold angles to about 2e-7.
pub const TOLERANCE: f32 = 1e-6;

/// How far a ball joint swings: the angle by which its axis may lean, rad, in [0, π].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Swing {
    /// The same to all sides.
    Cone {
        /// Half the opening of the cone.
        angle: f32,
    },
    /// More to some sides than to others.
    Ellipse {
        /// The axis the first angle is about; what of it is along the joint's axis is left out.
        about: Vec3,
        /// How far the joint turns, either way, about that axis and about the one perpendicular to it.
        angles: [f32; 2],
    },
}

/// What a joint can do; axes in the joint's own frame at rest, of any length but zero; ranges `[low, high]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointLimitSpec {
    /// Turns and moves at will.
    #[default]
    Free,
    /// Stays where it rests.
    Fixed,
    /// Turns about one axis.
    Hinge {
        /// Direction of the axis.
        axis: Vec3,
        /// Angles, rad; a whole turn or more is no limit, and a range may lie around half a turn.
        range: [f32; 2],
    },
    /// Slides along one axis.
    Prismatic {
        /// Direction of the axis.
        axis: Vec3,
        /// Distances from rest, in the model's unit of length.
        range: [f32; 2],
    },
    /// Leans to all sides and never twists, as a constant-velocity joint.
    Universal {
        /// The axis that leans, usually along the bone.
        axis: Vec3,
        /// How far.
        swing: Swing,
    },
    /// Leans to all sides and twists.
    Ball {
        /// The axis that leans and that the joint twists about, usually along the bone.
        axis: Vec3,
        /// How far it leans.
        swing: Swing,
        /// Angles of the twist, rad; a whole turn or more is no limit.
        twist: [f32; 2],
    },
}

/// A checked [`JointLimitSpec`]: axes are unit, and an ellipse's is perpendicular to the joint's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "JointLimitSpec", into = "JointLimitSpec")]
pub struct JointLimit(JointLimitSpec);

impl JointLimit {
    /// No limit.
    pub const FREE: Self = Self(JointLimitSpec::Free);

    /// Checks `spec`.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BadLimit`] if an axis has no direction, a range is empty, reversed or not finite, or a swing's angle
    /// is not in [0, π].
    pub fn new(spec: JointLimitSpec) -> Result<Self, SkeletonError> {
        use JointLimitSpec as Spec;
        Ok(Self(match spec {
            Spec::Free | Spec::Fixed => spec,
            Spec::Hinge { axis, range } => Spec::Hinge {
                axis: unit(axis)?,
                range: interval(range)?,
            },
            Spec::Prismatic { axis, range } => Spec::Prismatic {
                axis: unit(axis)?,
                range: interval(range)?,
            },
            Spec::Universal { axis, swing } => Spec::Universal {
                axis: unit(axis)?,
                swing: checked_swing(unit(axis)?, swing)?,
            },
            Spec::Ball { axis, swing, twist } => Spec::Ball {
                axis: unit(axis)?,
                swing: checked_swing(unit(axis)?, swing)?,
                twist: interval(twist)?,
            },
        }))
    }

    /// What it was made of, with unit axes.
    pub fn spec(&self) -> &JointLimitSpec {
        &self.0
    }

    /// Number of independent motions: 6 if free, 3 for a ball, 2 for a universal joint, 1 for a hinge or slide, 0 if fixed.
    pub fn degrees_of_freedom(&self) -> usize {
        match self.0 {
            JointLimitSpec::Free => 6,
            JointLimitSpec::Fixed => 0,
            JointLimitSpec::Hinge { .. } | JointLimitSpec::Prismatic { .. } => 1,
            JointLimitSpec::Universal { .. } => 2,
            JointLimitSpec::Ball { .. } => 3,
        }
    }

    /// The rotation nearest to `local` that the joint can do, part by part, and how far away that is, rad.
    ///
    /// Twist and swing are limited on their own, each to the nearest it may be. What is within the limits by
    /// [`TOLERANCE`] comes back as it was, to the bit, with 0. Both arguments are `parent_from_joint` rotations.
    /// Some 100 ns; allocates nothing.
    pub fn clamp_rotation(&self, rest: Quat, local: Quat) -> (Quat, f32) {
        let Some(turns) = self.turns() else {
            return (local, 0.0);
        };
        let rest = wide(rest);
        let motion = rest.inverse() * wide(local);
        match turns.clamp(motion) {
            Some((motion, excess)) => (narrow(rest * motion), excess as f32),
            None => (local, 0.0),
        }
    }

    /// As [`clamp_rotation`](Self::clamp_rotation), with the translation: it is that of rest but for slides and free joints.
    ///
    /// Scale is left alone. The second value is the larger of the excess angle, rad, and the excess distance, in the model's
    /// unit; 0 if the joint is within its limits.
    pub fn clamp(&self, rest: &Transform, local: &Transform) -> (Transform, f32) {
        let (rotation, turned) = self.clamp_rotation(rest.rotation, local.rotation);
        let (translation, moved) = self.clamp_translation(rest, local.translation);
        let clamped = Transform {
            translation,
            rotation,
            scale: local.scale,
        };
        (clamped, turned.max(moved))
    }

    /// True if [`clamp`](Self::clamp) would leave `local` as it is.
    pub fn is_within(&self, rest: &Transform, local: &Transform) -> bool {
        self.clamp(rest, local).1 == 0.0
    }

    fn clamp_translation(&self, rest: &Transform, local: Vec3) -> (Vec3, f32) {
        let (start, local_wide) = (rest.translation.cast::<f64>(), local.cast());
        let slide = match self.0 {
            JointLimitSpec::Free => return (local, 0.0),
            JointLimitSpec::Prismatic { axis, range } => {
                let axis = wide(rest.rotation) * axis.cast().normalize();
                let [low, high] = range.map(f64::from);
                axis * axis.dot(&(local_wide - start)).clamp(low, high)
            }
            _ => Vector3::zeros(),
        };
        let excess = (local_wide - start - slide).norm();
        let size = start.norm() + slide.norm();
        if excess <= f64::from(TOLERANCE) * size {
            return (local, 0.0);
        }
        ((start + slide).cast(), excess as f32)
    }

    /// The limits of rotation, for solvers; `None` for [`FREE`](Self::FREE), which has none.
    pub fn turns(&self) -> Option<Turns> {
        let still = Turns {
            axis: Vector3::x(),
            twist: [0.0, 0.0],
            about: Vector3::y(),
            swing: [0.0, 0.0],
        };
        let leaning = |axis: Vec3, swing, twist: [f32; 2]| {
            let axis = axis.cast().normalize();
            let (about, angles) = match swing {
                Swing::Cone { angle } => (any_perpendicular(axis), [angle; 2]),
                Swing::Ellipse { about, angles } => (across(axis, about).normalize(), angles),
            };
            Turns {
                axis,
                twist: twist.map(f64::from),
                about,
                swing: angles.map(f64::from),
            }
        };
        Some(match self.0 {
            JointLimitSpec::Free => return None,
            JointLimitSpec::Fixed | JointLimitSpec::Prismatic { .. } => still,
            JointLimitSpec::Hinge { axis, range } => {
                leaning(axis, Swing::Cone { angle: 0.0 }, range)
            }
            JointLimitSpec::Universal { axis, swing } => leaning(axis, swing, [0.0, 0.0]),
            JointLimitSpec::Ball { axis, swing, twist } => leaning(axis, swing, twist),
        })
    }
}

impl TryFrom<JointLimitSpec> for JointLimit {
    type Error = SkeletonError;

    fn try_from(spec: JointLimitSpec) -> Result<Self, SkeletonError> {
        Self::new(spec)
    }
}

impl From<JointLimit> for JointLimitSpec {
    fn from(limit: JointLimit) -> Self {
        limit.0
    }
}

/// Every kind of rotational limit is this one: an interval of twists and an ellipse of swings, perhaps empty but for 0.
///
/// In f64, so that what was clamped is within the limits after it was rounded to f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// What twists are about, in the joint's frame at rest; unit.
    pub axis: Vector3<f64>,
    /// Low and high, rad; a whole turn or more is no limit.
    pub twist: [f64; 2],
    /// What the first part of a swing is about; unit, perpendicular to `axis`. The second is about `axis` × `about`.
    pub about: Vector3<f64>,
    /// Semi-axes of the ellipse of rotation vectors, rad; π is no limit.
    pub swing: [f64; 2],
}

impl Turns {
    /// The nearest rotation within the limits and the larger of the angles taken from twist and swing; `None` if `q` is
    /// within them.
    fn clamp(&self, q: UnitQuaternion<f64>) -> Option<(UnitQuaternion<f64>, f64)> {
        let (swing, twist) = self.split(q);
        let nearest_twist = clamp_angle(twist, self.twist);
        let nearest_swing = self.nearest_swing(swing);
        let twisted = (twist - nearest_twist).abs();
        let swung = (swing - nearest_swing).norm();
        // Towards half a turn of swing the twist is known less and less: its error grows by the inverse of this cosine.
        let known = libm::cos(swing.norm() * 0.5);
        if swung.max(twisted * known) <= f64::from(TOLERANCE) {
            return None;
        }
        let nearest = self.join(nearest_swing, nearest_twist);
        Some((nearest, swung.max(twisted)))
    }

    /// The rotation that [`split`](Self::split) takes apart: swing · twist.
    pub fn join(&self, swing: Vector2<f64>, twist: f64) -> UnitQuaternion<f64> {
        let across = self.axis.cross(&self.about);
        exp(self.about * swing.x + across * swing.y) * exp(self.axis * twist)
    }

    /// The swing nearest to `swing` that is allowed; those that are come back to the bit.
    pub fn nearest_swing(&self, swing: Vector2<f64>) -> Vector2<f64> {
        nearest_in_ellipse(swing, self.swing)
    }

    /// The rotation vector of the swing, along `about` and across, and the angle of the twist in [−π, π]; swing · twist = q.
    pub fn split(&self, q: UnitQuaternion<f64>) -> (Vector2<f64>, f64) {
        let (v, w) = (q.imag(), q.w);
        let along = v.dot(&self.axis);
        // cos(s/2) of the swing's angle s; 0 after half a turn, where there is no telling the twist: it is 0 then.
        let cosine = (w * w + along * along).sqrt();
        let (twist_w, twist_v) = if cosine < 1e-7 {
            (1.0, 0.0)
        } else {
            (w / cosine, along / cosine)
        };
        // q · twist⁻¹ has no part along the axis.
        let across = v - self.axis * along;
        let leaning = across * twist_w - across.cross(&self.axis) * twist_v;
        let sine = leaning.norm();
        // The angle over the sine of its half; 2 in the limit.
        let factor = if sine > 0.0 {
            2.0 * libm::atan2(sine, cosine) / sine
        } else {
            2.0
        };
        let swing = Vector2::new(
            leaning.dot(&self.about),
            leaning.dot(&self.axis.cross(&self.about)),
        );
        (swing * factor, wrapped(2.0 * libm::atan2(twist_v, twist_w)))
    }
}

/// The angle nearest to `angle`, on the circle, in `[low, high]`; as close to `angle` as a number as it can be.
fn clamp_angle(angle: f64, [low, high]: [f64; 2]) -> f64 {
    let middle = 0.5 * (low + high);
    let half = 0.5 * (high - low);
    let off = wrapped(angle - middle);
    angle - (off - off.clamp(-half, half))
}

/// `angle` less whole turns, in [−π, π].
fn wrapped(angle: f64) -> f64 {
    angle - 2.0 * PI * libm::round(angle / (2.0 * PI))
}

/// The point nearest to `point` in an ellipse around the origin.
///
/// Outside, it is rᵢ²pᵢ / (rᵢ² + t) for the root t > 0 of Σ (rᵢpᵢ / (rᵢ² + t))² = 1. The sum falls and is convex, so
/// Newton's method from the left of the root climbs to it and never beyond. Source: Eberly, "Distance from a point to an
/// ellipse", 2013, whose bound t ≥ rᵢpᵢ − rᵢ² is the start.
fn nearest_in_ellipse(point: Vector2<f64>, radii: [f64; 2]) -> Vector2<f64> {
    let r = Vector2::from(radii);
    if r.min() <= 0.0 {
        return Vector2::new(point.x.clamp(-r.x, r.x), point.y.clamp(-r.y, r.y));
    }
    if point.component_div(&r).norm_squared() <= 1.0 {
        return point;
    }
    let r2 = r.component_mul(&r);
    let rp = r.component_mul(&point);
    let mut t = (rp.abs() - r2).max();
    for _ in 0..64 {
        let shares = rp.component_div(&r2.add_scalar(t));
        let squares = shares.component_mul(&shares);
        let slope = -2.0 * squares.component_div(&r2.add_scalar(t)).sum();
        let step = (1.0 - squares.sum()) / slope;
        if step <= 1e-15 * (t + r2.min()) {
            break;
        }
        t += step;
    }
    r2.component_mul(&point).component_div(&r2.add_scalar(t))
}

fn exp(rotation_vector: Vector3<f64>) -> UnitQuaternion<f64> {
    let angle = rotation_vector.norm();
    let factor = if angle > 0.0 {
        libm::sin(angle * 0.5) / angle
    } else {
        0.5
    };
    let q = Quaternion::from_parts(libm::cos(angle * 0.5), rotation_vector * factor);
    UnitQuaternion::new_normalize(q)
}

fn any_perpendicular(axis: Vector3<f64>) -> Vector3<f64> {
    let other = Vector3::ith(axis.iamin(), 1.0);
    axis.cross(&other).normalize()
}

/// What of `about` is perpendicular to `axis`, whose length is 1 but for rounding.
fn across(axis: Vector3<f64>, about: Vec3) -> Vector3<f64> {
    let about = about.cast();
    about - axis * (axis.dot(&about) / axis.norm_squared())
}

fn wide(q: Quat) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(q.into_inner().cast())
}

fn narrow(q: UnitQuaternion<f64>) -> Quat {
    Quat::new_unchecked(q.into_inner().cast())
}

fn unit(axis: Vec3) -> Result<Vec3, SkeletonError> {
    direction(axis.cast()).ok_or(SkeletonError::BadLimit {
        what: "an axis has no direction",
    })
}

/// Unit axes keep their bits, so that a limit read back is the limit written.
fn direction(axis: Vector3<f64>) -> Option<Vec3> {
    let length = axis.norm();
    if (length - 1.0).abs() < 1e-7 {
        return Some(axis.cast());
    }
    (length.is_finite() && length > 1e-30).then(|| (axis / length).cast())
}

fn interval([low, high]: [f32; 2]) -> Result<[f32; 2], SkeletonError> {
    if low.is_finite() && high.is_finite() && low <= high {
        return Ok([low, high]);
    }
    Err(SkeletonError::BadLimit {
        what: "a range is not low to high",
    })
}

fn checked_swing(axis: Vec3, swing: Swing) -> Result<Swing, SkeletonError> {
    let in_range = |angle: f32| (0.0..=std::f32::consts::PI).contains(&angle);
    let is_good = match swing {
        Swing::Cone { angle } => in_range(angle),
        Swing::Ellipse { angles, .. } => angles.into_iter().all(in_range),
    };
    if !is_good {
        return Err(SkeletonError::BadLimit {
            what: "a swing is not in [0, π]",
        });
    }
    match swing {
        Swing::Cone { .. } => Ok(swing),
        Swing::Ellipse { about, angles } => {
            let about = unit(about)?;
            let perpendicular = across(axis.cast(), about);
            // One that is perpendicular but for its rounding keeps its bits.
            let about = match perpendicular.norm() {
                short if short < 1e-3 => None,
                long if long > 1.0 - 1e-12 => Some(about),
                _ => direction(perpendicular),
            };
            about
                .map(|about| Swing::Ellipse { about, angles })
                .ok_or(SkeletonError::BadLimit {
                    what: "an ellipse is about the joint's own axis",
                })
        }
    }
}
