//! The change of stress with deformation, in the frame where an isotropic solid is simplest.
//!
//! With F = U Σ Vᵀ and D = Uᵀ dF V, an isotropic law changes its stress by dP = U Q Vᵀ, where the diagonal of Q depends
//! on the diagonal of D alone, and each pair of entries Qᵢⱼ, Qⱼᵢ on Dᵢⱼ, Dⱼᵢ alone: their symmetric part is scaled by a
//! *shear* modulus and their antisymmetric part by a *twist* modulus. So three numbers of each kind and one symmetric
//! 3×3 matrix of *stretch* moduli are the whole 9×9 Hessian, and the whole of its spectrum.
//!
//! Source: Smith, de Goes, Kim, "Analytic eigensystems for isotropic distortion energies", ACM TOG 2019, section 4;
//! in terms of singular values as in Stomakhin, Howes, Schroeder, Teran, "Energetically consistent invertible
//! elasticity", SCA 2012.

use super::{Mat3d, Svd, Vec3d};

/// The Hessian of an energy density with respect to F, Pa.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// U.
    pub left: Mat3d,
    /// V.
    pub right: Mat3d,
    /// ∂²ψ / ∂σᵢ∂σⱼ.
    pub stretch: Mat3d,
    /// (ψᵢ − ψⱼ) / (σᵢ − σⱼ) where k is the axis that is neither i nor j.
    pub shear: Vec3d,
    /// (ψᵢ + ψⱼ) / (σᵢ + σⱼ) where k is the axis that is neither i nor j.
    pub twist: Vec3d,
}

/// The two axes that are not the given one.
pub(super) const OTHERS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];

impl Stiffness {
    /// dP for a change dF.
    pub fn apply(&self, change: &Mat3d) -> Mat3d {
        let d = self.left.transpose() * change * self.right;
        let mut q = Mat3d::from_diagonal(&(self.stretch * d.diagonal()));
        for (axis, [i, j]) in OTHERS.into_iter().enumerate() {
            let symmetric = 0.5 * (d[(i, j)] + d[(j, i)]) * self.shear[axis];
            let antisymmetric = 0.5 * (d[(i, j)] - d[(j, i)]) * self.twist[axis];
            q[(i, j)] = symmetric + antisymmetric;
            q[(j, i)] = symmetric - antisymmetric;
        }
        self.left * q * self.right.transpose()
    }

    /// The nearest Hessian without negative eigenvalues, in the Frobenius norm.
    pub fn projected(self) -> Self {
        Self {
            stretch: semidefinite(&self.stretch),
            shear: self.shear.map(|modulus| modulus.max(0.0)),
            twist: self.twist.map(|modulus| modulus.max(0.0)),
            ..self
        }
    }

    /// How the force on one corner changes with another's place, ∂²ψ / ∂xₐ∂x_b, for all pairs a ≤ b of four corners.
    ///
    /// * `gradients`: of the corners' shape functions, 1/m; they sum to zero.
    pub(crate) fn blocks(&self, gradients: &[Vec3d; 4]) -> [[Mat3d; 4]; 4] {
        let turned = gradients.map(|gradient| self.right.tr_mul(&gradient));
        let mut blocks = [[Mat3d::zeros(); 4]; 4];
        for a in 1..4 {
            for b in a..4 {
                let inner = self.block(&turned[a], &turned[b]);
                blocks[a][b] = self.left * inner * self.left.transpose();
            }
        }
        // What moves all corners alike costs nothing, so each row of blocks sums to zero.
        let [_, [_, b1, c1, d1], [_, _, c2, d2], [.., d3]] = blocks;
        blocks[0][1] = -(b1 + c1.transpose() + d1.transpose());
        blocks[0][2] = -(c1 + c2 + d2.transpose());
        blocks[0][3] = -(d1 + d2 + d3);
        blocks[0][0] = -(blocks[0][1] + blocks[0][2] + blocks[0][3]);
        blocks
    }

    #[inline(always)]
    fn block(&self, g: &Vec3d, h: &Vec3d) -> Mat3d {
        let mut block = Mat3d::zeros();
        for i in 0..3 {
            block[(i, i)] = self.stretch[(i, i)] * g[i] * h[i];
        }
        for (axis, [i, j]) in OTHERS.into_iter().enumerate() {
            let same = 0.5 * (self.shear[axis] + self.twist[axis]);
            let crossed = 0.5 * (self.shear[axis] - self.twist[axis]);
            block[(i, i)] += same * g[j] * h[j];
            block[(j, j)] += same * g[i] * h[i];
            let stretch = self.stretch[(i, j)];
            block[(i, j)] = stretch * g[i] * h[j] + crossed * g[j] * h[i];
            block[(j, i)] = stretch * g[j] * h[i] + crossed * g[i] * h[j];
        }
        block
    }
}

/// The symmetric matrix with its negative eigenvalues made zero.
fn semidefinite(matrix: &Mat3d) -> Mat3d {
    let m = matrix;
    let minor = m[(0, 0)] * m[(1, 1)] - m[(0, 1)] * m[(0, 1)];
    if m[(0, 0)] > 0.0 && minor > 0.0 && m.determinant() > 0.0 {
        return *m;
    }
    // Shifted by more than its norm all eigenvalues are positive, and then singular values are eigenvalues.
    let shift = 2.0 * m.norm();
    let Svd {
        singular, right, ..
    } = Svd::new(&(m + Mat3d::identity() * shift));
    let eigenvalues = singular.map(|value| (value - shift).max(0.0));
    right * Mat3d::from_diagonal(&eigenvalues) * right.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_keeps_what_is_positive_and_drops_the_rest() {
        let turn = Svd::new(&Mat3d::new(1.0, 2.0, 0.5, -1.0, 0.3, 2.0, 0.2, 0.1, 4.0)).left;
        let of = |values: [f64; 3]| turn * Mat3d::from_diagonal(&values.into()) * turn.transpose();
        for values in [[3.0, 2.0, 1.0], [3.0, -2.0, 2.0], [-1.0, -1.0, -5.0]] {
            let kept = of(values.map(|value: f64| value.max(0.0)));
            assert!((semidefinite(&of(values)) - kept).norm() < 1e-14 * 10.0);
        }
    }
}
