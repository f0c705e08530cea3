//! Wrapping: the shortest way around a sphere or a cylinder, in closed form.
//!
//! A taut string that would pass through the obstacle leaves it along two tangents and an arc between them: a great circle
//! on a sphere, a helix on a cylinder. Where the straight line is free the arc has shrunk to nothing, so the length is
//! continuous and so is its first derivative.
//!
//! ```
//! use anim_math::{Affine, Vec3};
//! use anim_sim::muscle::{Attachment, Path, PathSpec, Route, Turn, Wrap, WrapShape};
//!
//! let knuckle = Wrap {
//!     strand: 0,
//!     bone: 0,
//!     shape: WrapShape::Sphere,
//!     center: Vec3::zeros(),
//!     axis: Vec3::z(),
//!     radius: 1.0,
//!     turn: Turn::Shortest,
//! };
//! let at = |x| Attachment { bone: 0, point: Vec3::x() * x };
//! let path = Path::new(PathSpec { points: vec![at(-2.0), at(2.0)], wraps: vec![knuckle] })?;
//! let mut route = Route::default();
//! path.follow(&[Affine::IDENTITY], &mut route);
//! let around = 2.0 * 3.0_f64.sqrt() + std::f64::consts::FRAC_PI_3; // two tangents and 60° of arc
//! assert!((route.length() - around).abs() < 1e-12);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

use std::f64::consts::{PI, TAU};

use anim_math::{Vec3, nalgebra::Vector3};
use serde::{Deserialize, Serialize};

/// An obstacle on the way from one point of a path to the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrap {
    /// Which part of the path it is in the way of: 0 from point 0 to point 1. At most one obstacle each.
    pub strand: usize,
    /// Index of the bone that it is a part of.
    pub bone: usize,
    /// Sphere or cylinder.
    pub shape: WrapShape,
    /// In the bone's frame, m.
    pub center: Vec3,
    /// Along the cylinder, in the bone's frame, not zero; of no use to a sphere.
    #[serde(default = "Vec3::z")]
    pub axis: Vec3,
    /// m, positive, in the bone's unit: scaled by the bone's mean scale.
    pub radius: f32,
    /// On which side the path passes.
    #[serde(default)]
    pub turn: Turn,
}

/// What a path wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrapShape {
    /// A ball; the path stays in the plane of its ends and the center.
    Sphere,
    /// A cylinder without ends.
    Cylinder,
}

/// On which side of a cylinder a path passes, seen from the tip of its axis; spheres have no sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// The nearer one: it jumps across where both are as near.
    #[default]
    Shortest,
    /// From the first point to the second counter-clockwise, up to three quarters of a turn.
    Counterclockwise,
    /// From the first point to the second clockwise, up to three quarters of a turn.
    Clockwise,
}

/// Where a taut string touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contact {
    /// Tangent points next to the first and to the second end.
    pub(super) points: [Vector3<f64>; 2],
    /// Length on the surface between them.
    pub(super) arc: f64,
}

/// An obstacle in world space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obstacle {
    pub(super) shape: WrapShape,
    pub(super) center: Vector3<f64>,
    /// Unit.
    pub(super) axis: Vector3<f64>,
    pub(super) radius: f64,
    pub(super) turn: Turn,
}

impl Obstacle {
    /// How a string from `from` to `to` lies on the obstacle; `None` if it is straight, which it is, too, if an end is inside.
    pub(super) fn contact(&self, from: Vector3<f64>, to: Vector3<f64>) -> Option<Contact> {
        let (from, to) = (from - self.center, to - self.center);
        let (axis, turn) = match self.shape {
            WrapShape::Cylinder => (self.axis, self.turn),
            WrapShape::Sphere => (normal(from, to), Turn::Shortest),
        };
        let heights = [from, to].map(|end| match self.shape {
            WrapShape::Cylinder => axis.dot(&end),
            WrapShape::Sphere => 0.0,
        });
        let flat = [from - axis * heights[0], to - axis * heights[1]];
        let distances = [flat[0].norm(), flat[1].norm()];
        if distances.iter().any(|distance| *distance <= self.radius) {
            return None;
        }
        // Angles from each end to where its tangent touches, and the one between the ends, the way it turns.
        let opening = distances.map(|distance| libm::acos(self.radius / distance));
        let between = libm::atan2(axis.dot(&flat[0].cross(&flat[1])), flat[0].dot(&flat[1]));
        let sense = match turn {
            Turn::Counterclockwise => 1.0,
            Turn::Clockwise => -1.0,
            Turn::Shortest if between < 0.0 => -1.0,
            Turn::Shortest => 1.0,
        };
        let mut turned = sense * between;
        if turned < -PI / 2.0 {
            turned += TAU;
        }
        let angle = turned - opening[0] - opening[1];
        if angle.is_nan() || angle <= 0.0 {
            return None;
        }
        let start = spin(flat[0], axis, sense * opening[0]) * (self.radius / distances[0]);
        let end = spin(start, axis, sense * angle);
        // Unrolled, the way is straight: it rises evenly with the distance on the flat.
        let tangents = distances.map(|d| (d * d - self.radius * self.radius).sqrt());
        let around = self.radius * angle;
        let whole = tangents[0] + around + tangents[1];
        let rise = (heights[1] - heights[0]) / whole;
        let height = |way: f64| axis * (heights[0] + rise * way);
        Some(Contact {
            points: [
                self.center + start + height(tangents[0]),
                self.center + end + height(tangents[0] + around),
            ],
            arc: around * (1.0 + rise * rise).sqrt(),
        })
    }

    /// A point of the surface between two tangent points, `fraction` of the way.
    pub(super) fn along(&self, contact: &Contact, fraction: f64) -> Vector3<f64> {
        let [from, to] = contact.points.map(|point| point - self.center);
        let axis = match self.shape {
            WrapShape::Cylinder => self.axis,
            WrapShape::Sphere => normal(from, to),
        };
        let heights = [from, to].map(|end| match self.shape {
            WrapShape::Cylinder => axis.dot(&end),
            WrapShape::Sphere => 0.0,
        });
        let rise = heights[1] - heights[0];
        let around = (contact.arc * contact.arc - rise * rise).max(0.0).sqrt();
        let flat = [from - axis * heights[0], to - axis * heights[1]];
        // The arc may be more than half a turn, which its ends do not tell: try which sense brings one to the other.
        let angle = around / self.radius;
        let ends = [1.0, -1.0].map(|sense| spin(flat[0], axis, sense * angle) - flat[1]);
        let sense = match ends[0].norm_squared() <= ends[1].norm_squared() {
            true => 1.0,
            false => -1.0,
        };
        let height = axis * (heights[0] + rise * fraction);
        self.center + spin(flat[0], axis, sense * angle * fraction) + height
    }
}

/// At a right angle to two vectors; to one and anything if they are in line.
fn normal(a: Vector3<f64>, b: Vector3<f64>) -> Vector3<f64> {
    let cross = a.cross(&b);
    let tiny = 1e-12 * a.norm() * b.norm();
    cross.try_normalize(tiny).unwrap_or_else(|| {
        let least = a.iamin();
        let mut other = Vector3::zeros();
        other[least] = 1.0;
        a.cross(&other)
            .try_normalize(0.0)
            .unwrap_or_else(Vector3::z)
    })
}

/// `v`, at a right angle to the unit `axis`, turned about it.
fn spin(v: Vector3<f64>, axis: Vector3<f64>, angle: f64) -> Vector3<f64> {
    v * libm::cos(angle) + axis.cross(&v) * libm::sin(angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn obstacle(shape: WrapShape, turn: Turn) -> Obstacle {
        Obstacle {
            shape,
            center: Vector3::new(0.1, 0.2, 0.3),
            axis: Vector3::z(),
            radius: 1.0,
            turn,
        }
    }

    fn length(obstacle: &Obstacle, from: Vector3<f64>, to: Vector3<f64>) -> f64 {
        let (a, b) = (from + obstacle.center, to + obstacle.center);
        match obstacle.contact(a, b) {
            Some(contact) => {
                let [p, q] = contact.points;
                (p - a).norm() + contact.arc + (q - b).norm()
            }
            None => (a - b).norm(),
        }
    }

    #[test]
    fn opposite_ends_take_two_tangents_and_the_arc_between() {
        let sphere = obstacle(WrapShape::Sphere, Turn::Shortest);
        let found = length(&sphere, Vector3::x() * 2.0, Vector3::x() * -2.0);
        // Tangents of √3 that touch at 60°, and 60° of arc.
        assert!((found - (2.0 * 3.0_f64.sqrt() + PI / 3.0)).abs() < 1e-14);
    }

    #[test]
    fn a_helix_is_straight_when_unrolled() {
        let cylinder = obstacle(WrapShape::Cylinder, Turn::Shortest);
        let flat = 2.0 * 3.0_f64.sqrt() + PI / 3.0;
        let found = length(
            &cylinder,
            Vector3::new(2.0, 1e-12, -0.4),
            Vector3::new(-2.0, 0.0, 1.1),
        );
        assert!((found - (flat * flat + 1.5 * 1.5).sqrt()).abs() < 1e-11);
    }

    #[test]
    fn the_string_leaves_along_tangents_and_stays_outside() {
        for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
            let obstacle = obstacle(shape, Turn::Shortest);
            let (a, b) = (
                Vector3::new(2.0, 0.3, -0.2) + obstacle.center,
                Vector3::new(-1.5, 0.4, 0.5) + obstacle.center,
            );
            let contact = obstacle.contact(a, b).unwrap();
            for (end, point) in [a, b].into_iter().zip(contact.points) {
                let mut outward = point - obstacle.center;
                if shape == WrapShape::Cylinder {
                    outward.z = 0.0;
                }
                assert!((outward.norm() - 1.0).abs() < 1e-12);
                assert!((end - point).dot(&outward).abs() < 1e-12);
            }
            // A polyline on the surface is nearly as long as the arc.
            let points = (0..=1000).map(|i| obstacle.along(&contact, f64::from(i) / 1000.0));
            let points: Vec<_> = points.collect();
            let sum: f64 = points.windows(2).map(|w| (w[1] - w[0]).norm()).sum();
            assert!((sum - contact.arc).abs() < 1e-6 * contact.arc);
            assert!((points[1000] - contact.points[1]).norm() < 1e-12);
        }
    }

    #[test]
    fn the_length_is_smooth_where_the_string_leaves() {
        let cylinder = obstacle(WrapShape::Cylinder, Turn::Shortest);
        let at = |y: f64| {
            length(
                &cylinder,
                Vector3::new(2.0, y, 0.0),
                Vector3::new(-2.0, y, 0.3),
            )
        };
        // Free above y = 1: value and slope meet there.
        assert!((at(1.0 + 1e-9) - at(1.0 - 1e-9)).abs() < 1e-8);
        let slope = (at(1.0 + 1e-5) - at(1.0 - 1e-5)) / 2e-5;
        assert!(slope.abs() < 1e-2, "{slope}");
    }

    #[test]
    fn a_side_is_kept_past_half_a_turn_and_free_before_none() {
        let cylinder = obstacle(WrapShape::Cylinder, Turn::Counterclockwise);
        let from = Vector3::new(2.0, 0.0, 0.0);
        let to = |angle: f64| Vector3::new(2.0 * angle.cos(), 2.0 * angle.sin(), 0.0);
        let opening = 2.0 * (0.5_f64).acos();
        for degrees in [-80.0_f64, -10.0, 10.0, 100.0] {
            let angle = degrees.to_radians();
            let found = length(&cylinder, from, to(angle));
            assert!((found - (from - to(angle)).norm()).abs() < 1e-12);
        }
        for degrees in [130.0_f64, 179.0, 181.0, 260.0] {
            let angle = degrees.to_radians();
            let expected = 2.0 * 3.0_f64.sqrt() + angle - opening;
            assert!((length(&cylinder, from, to(angle)) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn an_end_inside_or_out_of_the_numbers_is_straight() {
        let sphere = obstacle(WrapShape::Sphere, Turn::Shortest);
        for end in [
            Vector3::zeros(),
            Vector3::x() * 0.5,
            Vector3::repeat(f64::NAN),
        ] {
            assert!(
                sphere
                    .contact(sphere.center + end, Vector3::x() * -5.0)
                    .is_none()
            );
        }
    }
}
