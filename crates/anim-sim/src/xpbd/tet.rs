//! Tetrahedra of rubber: stable Neo-Hookean solids as two constraints, solved together.
//!
//! Ψ = μ/2 (tr FᵀF − 3) + λ′/2 (J − 1 − μ/λ′)² with λ′ = λ + μ, whose small strains are exactly those of Lamé's constants
//! μ and λ, down to a Poisson ratio of 0. C₁ = |F|, α₁ = 1/μV; C₂ = J − 1 − μ/λ′, α₂ = 1/λ′V. At rest the two push with
//! equal force against each other: solved together they cancel to the last bits, one after the other they would not.
//!
//! F = D B, with B the inverse of the rest edges. It is kept for rest edges turned into a triangular frame, since
//! neither constraint sees rotations: six numbers instead of nine.
//!
//! Source: Macklin, Müller, "A constraint-based formulation of stable neo-Hookean materials", MIG 2021; Smith, de Goes,
//! Kim, "Stable neo-Hookean flesh simulation", TOG 2018, for the energy.

use anim_math::Vec3;
use anim_math::nalgebra::{Matrix3, Vector3};

use super::batch::{Kind, Row};
use super::real::{Real, add, cross, dot, negate, scale, sub};
use crate::element::Material;

/// Of parameters: the upper triangle of B by columns, α₁, α₂, 1 + μ/λ′, damping time.
pub(crate) struct Tet;

impl Tet {
    pub(crate) const PARAMETERS: usize = 10;

    /// * `corners`: at rest; the volume is positive.
    pub(crate) fn parameters(corners: [Vec3; 4], material: &Material) -> [f32; Self::PARAMETERS] {
        let [a, b, c, d] = corners.map(|x| x.cast::<f64>());
        let edges = Matrix3::from_columns(&[b - a, c - a, d - a]);
        let volume = edges.determinant() / 6.0;
        let inverse = upper_triangular(&edges)
            .try_inverse()
            .unwrap_or_else(Matrix3::zeros);
        let [shear, first] = material.lame().map(f64::from);
        let bulk = first + shear;
        [
            inverse[(0, 0)],
            inverse[(0, 1)],
            inverse[(1, 1)],
            inverse[(0, 2)],
            inverse[(1, 2)],
            inverse[(2, 2)],
            1.0 / (shear * volume),
            1.0 / (bulk * volume),
            1.0 + shear / bulk,
            f64::from(material.damping),
        ]
        .map(|p| p as f32)
    }

    /// The columns of F, in the triangular frame.
    #[inline(always)]
    pub(crate) fn gradient<T: Real>(rest: &[T; 10], x: &[[T; 3]; 4]) -> [[T; 3]; 3] {
        let [b00, b01, b11, b02, b12, b22, ..] = *rest;
        let (p, q, r) = (sub(x[1], x[0]), sub(x[2], x[0]), sub(x[3], x[0]));
        [
            scale(p, b00),
            add(scale(p, b01), scale(q, b11)),
            add(add(scale(p, b02), scale(q, b12)), scale(r, b22)),
        ]
    }
}

/// R of E = QR, with the right-handedness of E: R has a positive determinant if E has.
fn upper_triangular(edges: &Matrix3<f64>) -> Matrix3<f64> {
    let [p, q, r] = [edges.column(0), edges.column(1), edges.column(2)].map(Vector3::from);
    let e0 = p / p.norm();
    let e2 = p.cross(&q).normalize();
    let e1 = e2.cross(&e0);
    let turned = |v: Vector3<f64>| Vector3::new(e0.dot(&v), e1.dot(&v), e2.dot(&v));
    let mut upper = Matrix3::from_columns(&[turned(p), turned(q), turned(r)]);
    (upper[(1, 0)], upper[(2, 0)], upper[(2, 1)]) = (0.0, 0.0, 0.0);
    upper
}

impl Kind<4, 10, 2> for Tet {
    #[inline(always)]
    fn rows<T: Real>(rest: &[T; 10], x: &[[T; 3]; 4]) -> [Row<T, 4>; 2] {
        let f = Self::gradient(rest, x);
        let cofactor = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])];
        let norm = (dot(f[0], f[0]) + dot(f[1], f[1]) + dot(f[2], f[2])).sqrt();
        let per_norm = norm.inverse_or_zero();
        let unit = [
            scale(f[0], per_norm),
            scale(f[1], per_norm),
            scale(f[2], per_norm),
        ];
        [
            Row {
                value: norm,
                gradient: corners(rest, &unit),
                compliance: rest[6],
            },
            Row {
                value: dot(f[0], cofactor[0]) - rest[8],
                gradient: corners(rest, &cofactor),
                compliance: rest[7],
            },
        ]
    }

    #[inline(always)]
    fn viscosity<T: Real>(rest: &[T; 10], _shared: T) -> T {
        rest[9]
    }
}

/// ∂C/∂x of each corner from the columns of ∂C/∂F: those of ∂C/∂F Bᵀ, and what makes their sum zero.
#[inline(always)]
fn corners<T: Real>(rest: &[T; 10], columns: &[[T; 3]; 3]) -> [[T; 3]; 4] {
    let [b00, b01, b11, b02, b12, b22, ..] = *rest;
    let g1 = add(
        add(scale(columns[0], b00), scale(columns[1], b01)),
        scale(columns[2], b02),
    );
    let g2 = add(scale(columns[1], b11), scale(columns[2], b12));
    let g3 = scale(columns[2], b22);
    [negate(add(add(g1, g2), g3)), g1, g2, g3]
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::check_gradients;
    use super::*;

    const CORNERS: [[f64; 3]; 4] = [
        [0.1, 0.0, 0.2],
        [1.1, 0.1, 0.0],
        [0.0, 0.9, 0.1],
        [0.2, 0.1, 1.3],
    ];

    fn parameters(material: &Material) -> [f32; 10] {
        Tet::parameters(CORNERS.map(|x| Vec3::from(x.map(|c| c as f32))), material)
    }

    #[test]
    fn gradients_are_derivatives_where_it_is_bent_stretched_and_inside_out() {
        let rest = parameters(&Material::default());
        check_gradients::<Tet, 4, 10, 2>(rest, CORNERS);
        let mut x = CORNERS;
        (x[3], x[1]) = ([0.3, 0.4, -0.7], [1.5, 0.4, 0.2]);
        check_gradients::<Tet, 4, 10, 2>(rest, x);
    }

    #[test]
    fn it_neither_sees_rotation_nor_pushes_at_rest() {
        let material = Material {
            poisson: 0.0,
            ..Material::default()
        };
        let rest = parameters(&material).map(f64::from);
        let turned = CORNERS.map(|[x, y, z]| [-z + 3.0, x, -y]);
        let rows = Tet::rows(&rest, &turned);
        assert!((rows[0].value - 3f64.sqrt()).abs() < 1e-6);
        let force = |v: usize| -> f64 {
            let share = |row: &Row<f64, 4>| row.gradient[v][0] * row.value / row.compliance;
            share(&rows[0]) + share(&rows[1])
        };
        for v in 0..4 {
            assert!(
                force(v).abs() < 1e-6 * material.young as f64,
                "{}",
                force(v)
            );
        }
    }

    #[test]
    fn small_strains_cost_what_linear_elasticity_says() {
        for poisson in [0.0, 0.3, 0.49] {
            let material = Material {
                poisson,
                ..Material::default()
            };
            let rest = parameters(&material).map(f64::from);
            let energy = |x: &[[f64; 3]; 4]| -> f64 {
                let rows = Tet::rows(&rest, x);
                rows.iter()
                    .map(|r| 0.5 * r.value * r.value / r.compliance)
                    .sum()
            };
            let strain = 1e-3;
            let along = |s: f64| CORNERS.map(|[x, y, z]| [x * (1.0 + s), y, z]);
            let second = energy(&along(strain)) + energy(&along(-strain)) - 2.0 * energy(&CORNERS);
            let [shear, first] = material.lame().map(f64::from);
            let edges = |k: usize| sub(CORNERS[k], CORNERS[0]);
            let volume = dot(edges(1), cross(edges(2), edges(3))) / 6.0;
            let expected = (first + 2.0 * shear) * strain * strain * volume;
            assert!(
                (second / expected - 1.0).abs() < 1e-4,
                "{poisson}: {}",
                second / expected
            );
        }
    }
}
