//! The laws of elastic solids: energy, stress and stiffness of a deformation gradient.
//!
//! With F the gradient of the deformation, J its determinant, σ its singular values, μ and λ Lamé's constants:
//!
//! | law | energy density ψ | |
//! |---|---|---|
//! | linear | μ ε:ε + λ/2 (tr ε)², ε = sym F − 1 | constant stiffness; wrong for large turns |
//! | corotational | μ Σ(σᵢ − 1)² + λ/2 (Σσᵢ − 3)² | linear in a frame that turns along |
//! | stable Neo-Hookean | μ/2 (‖F‖² − 3) − μ(J − 1) + (λ+μ)/2 (J − 1)² | keeps volume, recovers from inversion |
//! | Saint Venant-Kirchhoff | μ E:E + λ/2 (tr E)², E = ½(FᵀF − 1) | gives way under strong compression |
//!
//! Each is linear elasticity with the same μ and λ for small strain: that is why λ + μ stands where the paper of the
//! Neo-Hookean law has λ. Where ν is nearly 0 that law lets a tetrahedron collapse for nothing; take another one there.
//!
//! Source: as in [`Stiffness`]; of the Neo-Hookean law, Smith, de Goes, Kim, "Stable Neo-Hookean flesh simulation", ACM TOG
//! 2018, eq. 14, without its last term.

use super::neo_hookean::NeoHookean;
use super::stiffness::OTHERS;
use super::{Mat3d, Stiffness, Svd, Vec3d};
use crate::element::{Law, Material};

/// What deforming a unit of a material's volume costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elasticity {
    /// Which energy.
    pub law: Law,
    /// Lamé's μ, Pa.
    pub shear: f64,
    /// Lamé's λ, Pa.
    pub first: f64,
}

impl Elasticity {
    /// That of a material.
    pub fn new(material: &Material) -> Self {
        let (young, poisson) = (f64::from(material.young), f64::from(material.poisson));
        Self {
            law: material.law,
            shear: young / (2.0 * (1.0 + poisson)),
            first: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        }
    }

    /// ψ(F), J/m³; 0 at rest.
    pub fn energy(&self, f: &Mat3d) -> f64 {
        let (mu, lambda) = (self.shear, self.first);
        let quadratic = |strain: &Mat3d| {
            let trace = strain.trace();
            mu * strain.norm_squared() + 0.5 * lambda * trace * trace
        };
        match self.law {
            Law::Linear => quadratic(&small_strain(f)),
            Law::Corotational => {
                let strain = Svd::new(f).singular.add_scalar(-1.0);
                mu * strain.norm_squared() + 0.5 * lambda * strain.sum() * strain.sum()
            }
            Law::StableNeoHookean => NeoHookean::new(mu, lambda).energy(f),
            Law::StVenantKirchhoff => quadratic(&green_strain(f)),
        }
    }

    /// The first Piola stress P = ∂ψ/∂F, Pa.
    pub fn stress(&self, f: &Mat3d) -> Mat3d {
        let (mu, lambda) = (self.shear, self.first);
        let quadratic =
            |strain: &Mat3d| strain * (2.0 * mu) + Mat3d::identity() * (lambda * strain.trace());
        match self.law {
            Law::Linear => quadratic(&small_strain(f)),
            Law::Corotational => {
                let rotation = Svd::new(f).rotation();
                let stretch = rotation.dot(f) - 3.0;
                (f - rotation) * (2.0 * mu) + rotation * (lambda * stretch)
            }
            Law::StableNeoHookean => NeoHookean::new(mu, lambda).stress(f),
            Law::StVenantKirchhoff => f * quadratic(&green_strain(f)),
        }
    }

    /// How the stress changes with F, exactly: with negative eigenvalues where the material gives way.
    pub fn stiffness(&self, f: &Mat3d) -> Stiffness {
        let (mu, lambda) = (self.shear, self.first);
        let constant = Mat3d::identity() * (2.0 * mu) + Mat3d::repeat(lambda);
        if self.law == Law::Linear {
            return Stiffness {
                left: Mat3d::identity(),
                right: Mat3d::identity(),
                stretch: constant,
                shear: Vec3d::repeat(2.0 * mu),
                twist: Vec3d::zeros(),
            };
        }
        let Svd {
            left,
            singular: s,
            right,
        } = Svd::new(f);
        let (mut stretch, mut shear, mut twist) = (constant, Vec3d::zeros(), Vec3d::zeros());
        match self.law {
            Law::Linear | Law::Corotational => {
                let along = 2.0 * (lambda * (s.sum() - 3.0) - 2.0 * mu);
                for (axis, [i, j]) in OTHERS.into_iter().enumerate() {
                    shear[axis] = 2.0 * mu;
                    twist[axis] = 2.0 * mu + along / away_from_zero(s[i] + s[j]);
                }
            }
            Law::StableNeoHookean => {
                (stretch, shear, twist) = NeoHookean::new(mu, lambda).moduli(&s);
            }
            Law::StVenantKirchhoff => {
                let swelling = 0.5 * lambda * (s.norm_squared() - 3.0);
                for (axis, [i, j]) in OTHERS.into_iter().enumerate() {
                    let (squares, product) = (s[i] * s[i] + s[j] * s[j] - 1.0, s[i] * s[j]);
                    shear[axis] = mu * (squares + product) + swelling;
                    twist[axis] = mu * (squares - product) + swelling;
                    stretch[(i, j)] = lambda * product;
                    stretch[(j, i)] = lambda * product;
                    let square = s[axis] * s[axis];
                    stretch[(axis, axis)] = mu * (3.0 * square - 1.0) + lambda * square + swelling;
                }
            }
        }
        Stiffness {
            left,
            right,
            stretch,
            shear,
            twist,
        }
    }
}

/// ε = sym F − 1.
fn small_strain(f: &Mat3d) -> Mat3d {
    (f + f.transpose()) * 0.5 - Mat3d::identity()
}

/// E = ½(FᵀF − 1): no rotation changes it.
pub(crate) fn green_strain(f: &Mat3d) -> Mat3d {
    let g = f - Mat3d::identity();
    (g + g.transpose() + g.tr_mul(&g)) * 0.5
}

/// The frame of an element that is flat in two directions is free to turn: its twist is as good as infinite.
fn away_from_zero(value: f64) -> f64 {
    if value.abs() < 1e-9 { 1e-9 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAWS: [Law; 4] = [
        Law::Linear,
        Law::Corotational,
        Law::StableNeoHookean,
        Law::StVenantKirchhoff,
    ];

    fn unit(law: Law) -> Elasticity {
        Elasticity {
            law,
            shear: 1.0,
            first: 2.5,
        }
    }

    /// Squashed, stretched, sheared, and inside out.
    fn deformations() -> [Mat3d; 4] {
        [
            Mat3d::new(1.2, 0.1, -0.3, 0.2, 0.9, 0.4, 0.1, -0.2, 1.1),
            Mat3d::new(0.5, 0.2, 0.0, -0.1, 0.6, 0.1, 0.3, 0.0, 0.7),
            Mat3d::new(0.1, -1.2, 0.2, 1.5, 0.3, 0.1, 0.2, 0.1, 0.8),
            Mat3d::new(1.0, 0.1, 0.2, 0.0, 0.9, 0.3, 0.1, 0.4, -0.6),
        ]
    }

    fn directions() -> impl Iterator<Item = Mat3d> {
        (0..9).map(|entry| {
            let mut direction = Mat3d::repeat(0.1);
            direction[entry] = 1.0;
            direction
        })
    }

    fn rotation() -> Mat3d {
        Svd::new(&deformations()[2]).rotation()
    }

    #[test]
    fn stress_is_the_gradient_of_energy() {
        for law in LAWS {
            for f in deformations() {
                for d in directions() {
                    let e = 1e-4;
                    let energy = |k: f64| unit(law).energy(&(f + d * (k * e)));
                    // Fourth order: its error is e⁴ ≈ 1e-16, and rounding eps / e ≈ 1e-12.
                    let slope = (8.0 * (energy(1.0) - energy(-1.0)) - energy(2.0) + energy(-2.0))
                        / (12.0 * e);
                    let exact = unit(law).stress(&f).dot(&d);
                    assert!((slope - exact).abs() < 1e-9, "{law:?}: {slope} {exact}");
                }
            }
        }
    }

    #[test]
    fn stiffness_is_the_gradient_of_stress() {
        for law in LAWS {
            for f in deformations() {
                for d in directions() {
                    let e = 1e-4;
                    let stress = |k: f64| unit(law).stress(&(f + d * (k * e)));
                    let slope = ((stress(1.0) - stress(-1.0)) * 8.0 - stress(2.0) + stress(-2.0))
                        / (12.0 * e);
                    let exact = unit(law).stiffness(&f).apply(&d);
                    assert!((slope - exact).norm() < 1e-8, "{law:?}: {slope} {exact}");
                }
            }
        }
    }

    #[test]
    fn projected_stiffness_is_symmetric_and_never_negative() {
        for law in LAWS {
            for f in deformations() {
                let stiffness = unit(law).stiffness(&f).projected();
                let mut hessian = anim_math::nalgebra::SMatrix::<f64, 9, 9>::zeros();
                for i in 0..9 {
                    let mut d = Mat3d::zeros();
                    d[i] = 1.0;
                    hessian.set_column(
                        i,
                        &anim_math::nalgebra::SVector::<f64, 9>::from_column_slice(
                            stiffness.apply(&d).as_slice(),
                        ),
                    );
                }
                assert!((hessian - hessian.transpose()).norm() < 1e-13);
                let least = hessian.symmetric_eigenvalues().min();
                assert!(least > -1e-13 * hessian.norm(), "{law:?}: {least}");
            }
        }
    }

    #[test]
    fn every_law_is_lames_for_small_strain() {
        for law in LAWS {
            for d in directions() {
                let strain = (d + d.transpose()) * 0.5;
                let expected = strain * 2.0 + Mat3d::identity() * (2.5 * strain.trace());
                let stress = unit(law).stiffness(&Mat3d::identity()).apply(&d);
                assert!((stress - expected).norm() < 1e-14, "{law:?}");
            }
        }
    }

    #[test]
    fn rest_and_its_rotations_cost_nothing() {
        for law in LAWS {
            let law = unit(law);
            assert_eq!(law.energy(&Mat3d::identity()), 0.0);
            assert_eq!(law.stress(&Mat3d::identity()), Mat3d::zeros());
            if law.law != Law::Linear {
                assert!(law.energy(&rotation()).abs() < 1e-14);
                assert!(law.stress(&rotation()).norm() < 1e-13);
            }
        }
    }

    #[test]
    fn rotations_do_not_change_the_energy_and_turn_the_stress() {
        for law in &LAWS[1..] {
            for f in deformations() {
                let law = unit(*law);
                let turned = rotation() * f;
                assert!((law.energy(&turned) - law.energy(&f)).abs() < 1e-13 * 10.0);
                let error = law.stress(&turned) - rotation() * law.stress(&f);
                assert!(error.norm() < 1e-12, "{law:?}");
            }
        }
    }

    #[test]
    fn no_deformation_costs_less_than_rest() {
        for law in LAWS {
            for k in 0..400 {
                // A spread of matrices from collapsed and mirrored to three times as large.
                let f = Mat3d::from_fn(|i, j| 3.0 * ((k * 9 + i * 3 + j) as f64 * 2.399).sin());
                assert!(unit(law).energy(&f) >= 0.0, "{law:?} {f}");
            }
        }
    }

    #[test]
    fn pressure_follows_the_bulk_modulus_and_holds_at_collapse() {
        for law in LAWS {
            let small = 1e-6;
            let stress = unit(law).stress(&(Mat3d::identity() * (1.0 + small)));
            // 3K = 2μ + 3λ for a strain in all directions.
            assert!((stress[(0, 0)] / small - 9.5).abs() < 1e-4, "{law:?}");
        }
        let neo_hookean = unit(Law::StableNeoHookean);
        assert_eq!(neo_hookean.energy(&Mat3d::zeros()), 0.5 * 2.5);
    }
}
