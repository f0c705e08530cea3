//! The angle between two triangles.
//!
//! C = θ − rest, wrapped into (−π, π], with θ = atan2((n₁ × n₂)·ê, n₁·n₂), which knows its sign and every rest angle, as
//! the arc cosine of the usual formulation does not. The far corners have ∇θ = −|e| n / |n|² with the unnormalised
//! normal n, so stiffness does not depend on the size of the mesh; the ends of the edge take what keeps the sum and the
//! torque zero. A triangle without area turns nothing.
//!
//! Source: Bridson, Marino, Fedkiw, "Simulation of clothing with folds and wrinkles", SCA 2003, for the gradients.

use std::f32::consts::{PI, TAU};

use anim_math::Vec3;

use super::batch::{Kind, Row};
use super::real::{Real, add, cross, dot, negate, scale, sub};
use crate::element;

/// Of parameters: rest angle, compliance.
pub(crate) struct Hinge;

impl Kind<4, 2, 1> for Hinge {
    #[inline(always)]
    fn rows<T: Real>(rest: &[T; 2], x: &[[T; 3]; 4]) -> [Row<T, 4>; 1] {
        let [angle, compliance] = *rest;
        let edge = sub(x[1], x[0]);
        let (left, right) = (sub(x[2], x[0]), sub(x[3], x[0]));
        let normals = [cross(edge, left), cross(right, edge)];
        let squared = dot(edge, edge);
        let length = squared.sqrt();
        let (per_length, per_squared) = (length.inverse_or_zero(), squared.inverse_or_zero());
        let sine = dot(cross(normals[0], normals[1]), edge) * per_length;
        let theta = sine.atan2(dot(normals[0], normals[1]));
        let (g2, g3) = (away(normals[0], length), away(normals[1], length));
        // The feet of the far corners divide the edge.
        let (s2, s3) = (
            dot(left, edge) * per_squared,
            dot(right, edge) * per_squared,
        );
        let g1 = add(scale(g2, -s2), scale(g3, -s3));
        let g0 = negate(add(add(g2, g3), g1));
        [Row {
            value: wrap(theta - angle),
            gradient: [g0, g1, g2, g3],
            compliance,
        }]
    }
}

/// −|e| n / |n|².
#[inline(always)]
fn away<T: Real>(normal: [T; 3], length: T) -> [T; 3] {
    scale(normal, -(length * dot(normal, normal).inverse_or_zero()))
}

impl element::Hinge {
    /// The angle that the four vertices of a hinge make, radians in [−π, π].
    pub fn angle(corners: [Vec3; 4]) -> f32 {
        let corners = corners.map(|x| x.cast::<f64>().into());
        let [row] = Hinge::rows(&[0.0, 0.0], &corners);
        row.value.clamp(-f64::from(PI), f64::from(PI)) as f32
    }
}

/// Into [−π, π], from within a turn of it.
#[inline(always)]
fn wrap<T: Real>(angle: T) -> T {
    let (half, turn) = (angle.constant(PI), angle.constant(TAU));
    let low = (angle - half).choose(angle - turn, angle);
    (-low - half).choose(low + turn, low)
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::check_gradients;
    use super::*;

    /// Two unequal triangles folded by `angle`, which is positive for a ridge.
    fn folded(angle: f64) -> [[f64; 3]; 4] {
        let (s, c) = (libm::sin(angle), libm::cos(angle));
        [
            [0.0, 0.1, 0.0],
            [0.0, 1.2, 0.0],
            [-0.9, 0.4, 0.0],
            [0.7 * c, 0.9, -0.7 * s],
        ]
    }

    #[test]
    fn the_angle_is_signed_and_its_gradient_is_its_derivative() {
        for degrees in [
            -170.0, -120.0, -90.0, -20.0, 0.0, 20.0, 60.0, 100.0, 150.0, 170.0f64,
        ] {
            let angle = degrees.to_radians();
            let [row] = Hinge::rows(&[0.0, 0.0], &folded(angle));
            assert!(
                (row.value - angle).abs() < 1e-12,
                "{degrees}: {}",
                row.value
            );
            check_gradients::<Hinge, 4, 2, 1>([0.3, 0.0], folded(angle));
        }
    }

    #[test]
    fn the_difference_of_angles_takes_the_short_way() {
        let rest = 170f64.to_radians();
        let [row] = Hinge::rows(&[rest, 0.0], &folded(-rest));
        // Half a turn is that of f32.
        assert!(
            (row.value - 20f64.to_radians()).abs() < 1e-6,
            "{}",
            row.value
        );
    }

    #[test]
    fn the_gradient_goes_as_one_over_the_size() {
        let small = folded(0.4).map(|x| x.map(|c| c * 0.01));
        let [[large], [tiny]] = [folded(0.4), small].map(|x| Hinge::rows(&[0.0, 0.0], &x));
        assert!((tiny.gradient[2][2] / large.gradient[2][2] - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_triangle_without_area_turns_nothing() {
        let mut flat = folded(0.4);
        flat[2] = [0.0, 0.5, 0.0];
        let [row] = Hinge::rows(&[0.0, 0.0], &flat);
        assert_eq!(row.gradient[2], [0.0; 3]);
        assert!(row.gradient.iter().flatten().all(|g| g.is_finite()));
    }
}
