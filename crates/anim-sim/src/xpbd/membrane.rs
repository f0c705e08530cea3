//! Triangles of woven cloth, and how far they may stretch.
//!
//! The strains along warp, weft and between them, E = ½(FᵀF − 1), are three constraints of one element, solved
//! together, with compliances 1/k₀A, 1/k₁A and 1/4k₂A. Limits are on the principal stretches σ of F = U Σ Vᵀ: each that
//! is outside is a rigid constraint with ∂σ/∂F = u vᵀ, which pulls the material line v straight to its limit.
//!
//! Source: Wang, O'Brien, Ramamoorthi, "Multi-resolution isotropic strain limiting", TOG 2010, for the limits; Müller,
//! Chentanez, Kim, Macklin, "Strain based dynamics", SCA 2014, for strains as constraints.

use super::batch::{Kind, Row};
use super::real::{Real, add, dot, negate, scale, sub};
use crate::element;

/// Of parameters: B by rows, the inverse of the edges in the material; α₀, α₁, α₂.
pub(crate) struct Membrane;

/// Of parameters: B by rows; least and largest stretch.
pub(crate) struct Limit;

/// What holds nothing, and still is a number when it is divided by h².
const LOOSEST: f64 = 1e20;

impl Membrane {
    pub(crate) fn parameters(membrane: &element::Membrane) -> [f32; 7] {
        let (inverse, area) = inverse_and_area(membrane);
        let [warp, weft, shear] = membrane.stiffness.map(f64::from);
        let compliance = |stiffness: f64| (1.0 / (stiffness * area)).min(LOOSEST);
        let [a, b, c, d] = inverse;
        [
            a,
            b,
            c,
            d,
            compliance(warp),
            compliance(weft),
            compliance(4.0 * shear),
        ]
        .map(|p| p as f32)
    }
}

impl Limit {
    /// `None` where nothing is limited.
    pub(crate) fn parameters(membrane: &element::Membrane) -> Option<[f32; 6]> {
        let [least, most] = membrane.limits;
        if least == 0.0 && most == f32::INFINITY {
            return None;
        }
        let [a, b, c, d] = inverse_and_area(membrane).0.map(|p| p as f32);
        Some([a, b, c, d, least, most.min(f32::MAX)])
    }
}

fn inverse_and_area(membrane: &element::Membrane) -> ([f64; 4], f64) {
    let [a, b, c] = membrane.material.map(|m| m.map(f64::from));
    let (p, q) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
    let determinant = p[0] * q[1] - p[1] * q[0];
    let inverse = [q[1], -q[0], -p[1], p[0]].map(|entry| entry / determinant);
    (inverse, 0.5 * determinant)
}

/// The columns of F: where a metre of warp and of weft go.
#[inline(always)]
pub(crate) fn gradient<T: Real>(inverse: [T; 4], x: &[[T; 3]; 3]) -> [[T; 3]; 2] {
    let (p, q) = (sub(x[1], x[0]), sub(x[2], x[0]));
    [
        add(scale(p, inverse[0]), scale(q, inverse[2])),
        add(scale(p, inverse[1]), scale(q, inverse[3])),
    ]
}

impl Kind<3, 7, 3> for Membrane {
    #[inline(always)]
    fn rows<T: Real>(rest: &[T; 7], x: &[[T; 3]; 3]) -> [Row<T, 3>; 3] {
        let [b00, b01, b10, b11, ..] = *rest;
        let inverse = [b00, b01, b10, b11];
        let [warp, weft] = gradient(inverse, x);
        let (half, one) = (b00.constant(0.5), b00.constant(1.0));
        let zero = [b00.constant(0.0); 3];
        [
            Row {
                value: (dot(warp, warp) - one) * half,
                gradient: corners(inverse, [warp, zero]),
                compliance: rest[4],
            },
            Row {
                value: (dot(weft, weft) - one) * half,
                gradient: corners(inverse, [zero, weft]),
                compliance: rest[5],
            },
            Row {
                value: dot(warp, weft) * half,
                gradient: corners(inverse, [scale(weft, half), scale(warp, half)]),
                compliance: rest[6],
            },
        ]
    }
}

impl Kind<3, 6, 2> for Limit {
    #[inline(always)]
    fn rows<T: Real>(rest: &[T; 6], x: &[[T; 3]; 3]) -> [Row<T, 3>; 2] {
        let [b00, b01, b10, b11, least, most] = *rest;
        let inverse = [b00, b01, b10, b11];
        let f = gradient(inverse, x);
        let [most_along, least_along] = principal_lines(f);
        [
            limit(inverse, &f, most_along, [least, most]),
            limit(inverse, &f, least_along, [least, most]),
        ]
    }
}

/// The constraint that the material line (c, s) measures within its limits.
#[inline(always)]
fn limit<T: Real>(inverse: [T; 4], f: &[[T; 3]; 2], [c, s]: [T; 2], limits: [T; 2]) -> Row<T, 3> {
    let image = add(scale(f[0], c), scale(f[1], s));
    let stretch = dot(image, image).sqrt();
    let value = stretch - stretch.max(limits[0]).min(limits[1]);
    // A stretch within its limits pushes nothing, and is free to change.
    let active = (value * value).choose(stretch.inverse_or_zero(), stretch.constant(0.0));
    let unit = scale(image, active);
    Row {
        value,
        gradient: corners(inverse, [scale(unit, c), scale(unit, s)]),
        compliance: stretch.constant(0.0),
    }
}

/// The unit lines in the material that stretch most and least: the eigenvectors of FᵀF.
#[inline(always)]
fn principal_lines<T: Real>(f: [[T; 3]; 2]) -> [[T; 2]; 2] {
    let (a, b, d) = (dot(f[0], f[0]), dot(f[0], f[1]), dot(f[1], f[1]));
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let half_difference = (a - d) * a.constant(0.5);
    let root = (half_difference * half_difference + b * b).sqrt();
    // The row of FᵀF − σ² that is the longer one is free of cancellation.
    let is_first = half_difference;
    let c = is_first.choose(half_difference + root, b);
    let s = is_first.choose(b, root - half_difference);
    let length = (c * c + s * s).sqrt();
    let inverse = length.inverse_or_zero();
    let c = length.choose(c * inverse, one);
    let s = length.choose(s * inverse, zero);
    [[c, s], [-s, c]]
}

/// ∂C/∂x of each corner from the columns of ∂C/∂F.
#[inline(always)]
fn corners<T: Real>(inverse: [T; 4], columns: [[T; 3]; 2]) -> [[T; 3]; 3] {
    let g1 = add(scale(columns[0], inverse[0]), scale(columns[1], inverse[1]));
    let g2 = add(scale(columns[0], inverse[2]), scale(columns[1], inverse[3]));
    [negate(add(g1, g2)), g1, g2]
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::check_gradients;
    use super::*;

    fn cloth(limits: [f32; 2]) -> element::Membrane {
        element::Membrane {
            vertices: [0, 1, 2],
            material: [[0.1, 0.2], [1.2, 0.3], [0.0, 1.1]],
            stiffness: [100.0, 50.0, 10.0],
            limits,
        }
    }

    const BENT: [[f64; 3]; 3] = [[0.0, 0.1, 0.2], [1.3, 0.2, -0.3], [0.2, 1.4, 0.5]];

    #[test]
    fn gradients_are_derivatives() {
        check_gradients::<Membrane, 3, 7, 3>(Membrane::parameters(&cloth([0.0, 1.0])), BENT);
        let limits = Limit::parameters(&cloth([0.99, 1.01])).unwrap();
        check_gradients::<Limit, 3, 6, 2>(limits, BENT);
    }

    #[test]
    fn principal_stretches_are_singular_values() {
        let rest = Limit::parameters(&cloth([1.0, 1.0]))
            .unwrap()
            .map(f64::from);
        let found = Limit::rows(&rest, &BENT).map(|row| row.value + 1.0);
        let [p, q] = gradient([rest[0], rest[1], rest[2], rest[3]], &BENT);
        let f = anim_math::nalgebra::Matrix3x2::from_columns(&[p.into(), q.into()]);
        let expected = f.singular_values();
        assert!((found[0] - expected[0]).abs() < 1e-12, "{found:?}");
        assert!((found[1] - expected[1]).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn only_what_limits_is_a_limit() {
        assert_eq!(Limit::parameters(&cloth([0.0, f32::INFINITY])), None);
        let inside = Limit::parameters(&cloth([0.1, 5.0]))
            .unwrap()
            .map(f64::from);
        for row in Limit::rows(&inside, &BENT) {
            assert_eq!(row.value, 0.0);
            assert_eq!(row.gradient, [[0.0; 3]; 3]);
        }
    }
}
