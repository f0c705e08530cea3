//! What spring bones stay out of, or inside: balls, capsules and half-spaces that joints carry along.
//!
//! The end of a bone moves on a sphere about its start, so a contact is solved for the direction of the bone rather than for
//! the place of its end: one turn brings it to just touch, and the bone keeps its length.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{SpringCollider, SpringShape};
//!
//! let skull: SpringCollider = SpringCollider {
//!     joint: "head".into(),
//!     shape: SpringShape::Ball { center: Vec3::new(0.0, 0.08, 0.0), radius: 0.11, inside: false },
//! };
//! ```

use anim_math::{Affine, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::spec::{Binder, JointRef};
use crate::JointId;

/// A shape that a joint carries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringCollider<J = JointRef> {
    /// Who carries it; must not hang on the bones that it holds off.
    pub joint: J,
    /// In the space of `joint`.
    pub shape: SpringShape,
}

/// A ball, a capsule or a half-space in the space of a joint, m; sizes grow with the joint.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum SpringShape {
    /// A ball.
    Ball {
        /// Its middle.
        center: Vec3,
        /// ≥ 0.
        radius: f32,
        /// True keeps bones in rather than out.
        #[serde(default)]
        inside: bool,
    },
    /// All that is within the radius of a line from one point to another.
    Capsule {
        /// The two points.
        ends: [Vec3; 2],
        /// ≥ 0.
        radius: f32,
        /// True keeps bones in rather than out.
        #[serde(default)]
        inside: bool,
    },
    /// The half-space behind a plane.
    Plane {
        /// A point of the plane.
        point: Vec3,
        /// Toward where bones may be; need not be unit.
        normal: Vec3,
    },
}

impl SpringCollider {
    pub(super) fn bind(&self, binder: &Binder<'_>) -> Result<SpringCollider<JointId>, DriverError> {
        let is_size = |radius: f32| (0.0..=f32::MAX).contains(&radius);
        match self.shape {
            SpringShape::Ball { center, radius, .. } => {
                binder.finite(center, "a collider's center")?;
                binder.require(is_size(radius), "a collider's radius")?;
            }
            SpringShape::Capsule { ends, radius, .. } => {
                binder.finite(ends[0], "a collider's end")?;
                binder.finite(ends[1], "a collider's end")?;
                binder.require(is_size(radius), "a collider's radius")?;
            }
            SpringShape::Plane { point, normal } => {
                binder.finite(point, "a collider's point")?;
                binder.axis(normal, "a collider's normal")?;
            }
        }
        Ok(SpringCollider {
            joint: binder.joint(&self.joint)?,
            shape: self.shape,
        })
    }
}

/// A shape in world space, from the root of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Placed {
    /// A capsule; a ball is one whose ends are the same.
    Round {
        ends: [Vec3; 2],
        radius: f32,
        inside: bool,
    },
    Plane {
        point: Vec3,
        /// Unit.
        normal: Vec3,
    },
    /// What is nowhere: of a flat joint.
    Nothing,
}

impl Placed {
    /// Where `shape` is under `root_from_joint`.
    pub(super) fn new(shape: &SpringShape, root_from_joint: &Affine) -> Self {
        let at = |point| root_from_joint.transform_point(point);
        let columns = root_from_joint.linear.column_iter();
        let growth = columns.map(|axis| axis.norm()).fold(0.0, f32::max);
        match *shape {
            SpringShape::Ball {
                center,
                radius,
                inside,
            } => Self::Round {
                ends: [at(center); 2],
                radius: radius * growth,
                inside,
            },
            SpringShape::Capsule {
                ends,
                radius,
                inside,
            } => Self::Round {
                ends: ends.map(at),
                radius: radius * growth,
                inside,
            },
            SpringShape::Plane { point, normal } => {
                let inverse = root_from_joint.inverse();
                let normal = inverse.map(|inverse| inverse.linear.tr_mul(&normal));
                match normal.and_then(|normal| normal.try_normalize(1e-18)) {
                    Some(normal) => Self::Plane {
                        point: at(point),
                        normal,
                    },
                    None => Self::Nothing,
                }
            }
        }
    }

    /// Moves it as a rigid body: turned and then shifted.
    pub(super) fn moved(self, motion: &Affine) -> Self {
        match self {
            Self::Round {
                ends,
                radius,
                inside,
            } => Self::Round {
                ends: ends.map(|end| motion.transform_point(end)),
                radius,
                inside,
            },
            Self::Plane { point, normal } => Self::Plane {
                point: motion.transform_point(point),
                normal: motion.transform_vector(normal),
            },
            Self::Nothing => Self::Nothing,
        }
    }

    /// The shape on its way to `to`.
    pub(super) fn lerp(self, to: Self, alpha: f32) -> Self {
        let mix = |a: Vec3, b: Vec3| a + (b - a) * alpha;
        match (self, to) {
            (
                Self::Round { ends, radius, .. },
                Self::Round {
                    ends: to_ends,
                    radius: to_radius,
                    inside,
                },
            ) => Self::Round {
                ends: [0, 1].map(|end| mix(ends[end], to_ends[end])),
                radius: radius + (to_radius - radius) * alpha,
                inside,
            },
            (
                Self::Plane { point, normal },
                Self::Plane {
                    point: to_point,
                    normal: to_normal,
                },
            ) => Self::Plane {
                point: mix(point, to_point),
                normal: mix(normal, to_normal)
                    .try_normalize(1e-6)
                    .unwrap_or(to_normal),
            },
            _ => to,
        }
    }

    /// The direction, nearest to the unit `direction`, in which a bone of `length` from `head` with a ball of radius `hit` at
    /// its end stays out of the shape, or inside, and the unit direction in which it was pushed; `None` if it does already.
    ///
    /// Where no direction does, the one that is least wrong.
    pub(super) fn push(
        &self,
        head: Vec3,
        direction: Vec3,
        length: f32,
        hit: f32,
    ) -> Option<(Vec3, Vec3)> {
        match *self {
            Self::Nothing => None,
            Self::Plane { point, normal } => {
                let least = (hit - normal.dot(&(head - point))) / length;
                let pushed = turned_to(direction, normal, least, true)?;
                Some((pushed, normal))
            }
            Self::Round {
                ends,
                radius,
                inside,
            } => {
                let reach = match inside {
                    true => (radius - hit).max(0.0),
                    false => radius + hit,
                };
                let mut pushed = direction;
                // The nearest point of a capsule changes as the bone turns; three rounds are within a thousandth of it.
                let rounds = if ends[0] == ends[1] { 1 } else { 3 };
                for _ in 0..rounds {
                    let to = nearest(ends, head + pushed * length) - head;
                    let distance = to.norm();
                    let Some(axis) = to.try_normalize(1e-9) else {
                        break;
                    };
                    // |tail − center|² = length² + distance² − 2 length distance cos.
                    let cosine = (length * length + distance * distance - reach * reach)
                        / (2.0 * length * distance);
                    if let Some(turned) = turned_to(pushed, axis, cosine, inside) {
                        pushed = turned;
                    }
                }
                let tail = head + pushed * length;
                let out = (tail - nearest(ends, tail)).try_normalize(1e-9);
                let out = out? * if inside { -1.0 } else { 1.0 };
                (pushed != direction).then_some((pushed, out))
            }
        }
    }

    /// How fast the point at `place` of the shape moves, m/s, if it came from `before` in `1 / rate` seconds.
    pub(super) fn velocity(&self, before: &Self, rate: f32) -> Vec3 {
        match (self, before) {
            (Self::Round { ends, .. }, Self::Round { ends: from, .. }) => {
                (ends[0] + ends[1] - from[0] - from[1]) * (0.5 * rate)
            }
            (Self::Plane { point, .. }, Self::Plane { point: from, .. }) => (point - from) * rate,
            _ => Vec3::zeros(),
        }
    }
}

/// `direction` turned in the plane of both until its cosine with `axis` is at least `cosine`, or at most.
fn turned_to(direction: Vec3, axis: Vec3, cosine: f32, at_least: bool) -> Option<Vec3> {
    let now = direction.dot(&axis);
    let is_fine = match at_least {
        true => now >= cosine,
        false => now <= cosine,
    };
    if is_fine || cosine.is_nan() {
        return None;
    }
    let cosine = cosine.clamp(-1.0, 1.0);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let across = (direction - axis * now)
        .try_normalize(1e-6)
        .unwrap_or_else(|| quat::any_perpendicular(axis));
    Some(axis * cosine + across * sine)
}

/// The point between two that is nearest to `point`.
fn nearest(ends: [Vec3; 2], point: Vec3) -> Vec3 {
    let along = ends[1] - ends[0];
    let squared = along.norm_squared();
    if squared <= 0.0 {
        return ends[0];
    }
    let t = (point - ends[0]).dot(&along) / squared;
    ends[0] + along * t.clamp(0.0, 1.0)
}
