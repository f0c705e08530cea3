//! The area of a triangle.
//!
//! C = A − rest with A = |n| / 2, and ∇A by a corner is half the opposite edge turned by a quarter in the plane:
//! n̂ × e / 2. A triangle without area has no plane to turn in and is left alone.

use super::batch::{Kind, Row};
use super::real::{Real, cross, dot, scale, sub};

/// Of parameters: rest area, compliance.
pub(crate) struct Area;

impl Kind<3, 2, 1> for Area {
    #[inline(always)]
    fn rows<T: Real>(rest: &[T; 2], x: &[[T; 3]; 3]) -> [Row<T, 3>; 1] {
        let [area, compliance] = *rest;
        let normal = cross(sub(x[1], x[0]), sub(x[2], x[0]));
        let length = dot(normal, normal).sqrt();
        let half = area.constant(0.5);
        let unit = scale(normal, length.inverse_or_zero() * half);
        [Row {
            value: length * half - area,
            gradient: [
                cross(unit, sub(x[2], x[1])),
                cross(unit, sub(x[0], x[2])),
                cross(unit, sub(x[1], x[0])),
            ],
            compliance,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::check_gradients;
    use super::*;

    #[test]
    fn the_gradient_is_the_derivative_of_the_area() {
        let x = [[0.1, 0.2, 0.3], [1.4, -0.2, 0.7], [0.3, 1.1, -0.6]];
        check_gradients::<Area, 3, 2, 1>([0.2, 0.0], x);
    }

    #[test]
    fn a_line_is_left_alone() {
        let [row] = Area::rows(&[0.5, 0.0], &[[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]);
        assert_eq!(row.value, -0.5);
        assert_eq!(row.gradient, [[0.0; 3]; 3]);
    }
}
