//! The stable Neo-Hookean law, ½ μ (‖F‖² − 3) − μ (J − 1) + ½ λ′ (J − 1)² a unit of volume, whoever asks for it.
//!
//! With λ′ = λ + μ the rest shape has no stress and small strains cost what Hooke's law says. J = det F is linear in each
//! corner of a tetrahedron alone, so a corner's block of the Hessian, μ|g|² 1 + λ′ (cof F g)(cof F g)ᵀ for the gradient g of
//! its shape function, is exact and positive for any shape, inverted ones too.
//!
//! Source: Smith, de Goes, Kim, "Stable Neo-Hookean flesh simulation", ACM TOG 2018, eq. 14, without its last term,
//! which Kim and Eberle, "Dynamic deformables", SIGGRAPH course 2022, show to be needless.

use super::stiffness::OTHERS;
use super::{Mat3d, Vec3d};

/// The two moduli, Pa, or J if they are times a volume; what comes out is in the same units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NeoHookean {
    /// μ.
    pub(crate) shear: f64,
    /// λ′ = λ + μ.
    pub(crate) bulk: f64,
}

impl NeoHookean {
    /// From Lamé's μ and λ.
    pub(crate) fn new(shear: f64, first: f64) -> Self {
        Self {
            shear,
            bulk: first + shear,
        }
    }

    /// ψ(F); 0 at rest.
    #[inline]
    pub(crate) fn energy(&self, f: &Mat3d) -> f64 {
        // In terms of F − 1 nothing large cancels near rest.
        let g = f - Mat3d::identity();
        let trace = g.trace();
        let second = 0.5 * (trace * trace - g.tr_dot(&g));
        let third = g.determinant();
        let swelling = trace + second + third;
        self.shear * (0.5 * g.norm_squared() - second - third)
            + 0.5 * self.bulk * swelling * swelling
    }

    /// ∂ψ/∂J at a J: by it the cofactors enter the stress.
    #[inline]
    pub(crate) fn pressure(&self, volume_ratio: f64) -> f64 {
        self.bulk * (volume_ratio - 1.0) - self.shear
    }

    /// ∂ψ/∂F = μ F + ∂ψ/∂J cof F.
    #[inline]
    pub(crate) fn stress(&self, f: &Mat3d) -> Mat3d {
        let (cofactor, volume_ratio) = cofactor(f);
        f * self.shear + cofactor * self.pressure(volume_ratio)
    }

    /// How the stress changes with stretches, shears and twists of the axes of F, by its singular values.
    pub(crate) fn moduli(&self, singular: &Vec3d) -> (Mat3d, Vec3d, Vec3d) {
        let s = singular;
        let pressure = self.pressure(s.product());
        let area = Vec3d::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let mut stretch = Mat3d::identity() * self.shear + area * area.transpose() * self.bulk;
        let (mut shear, mut twist) = (Vec3d::zeros(), Vec3d::zeros());
        for (axis, [i, j]) in OTHERS.into_iter().enumerate() {
            stretch[(i, j)] += pressure * s[axis];
            stretch[(j, i)] += pressure * s[axis];
            shear[axis] = self.shear - pressure * s[axis];
            twist[axis] = self.shear + pressure * s[axis];
        }
        (stretch, shear, twist)
    }
}

/// cof F = ∂J/∂F, and J.
#[inline]
pub(crate) fn cofactor(f: &Mat3d) -> (Mat3d, f64) {
    let [a, b, c]: [Vec3d; 3] = [0, 1, 2].map(|i| f.column(i).into());
    let areas = [b.cross(&c), c.cross(&a), a.cross(&b)];
    (Mat3d::from_columns(&areas), a.dot(&areas[0]))
}
