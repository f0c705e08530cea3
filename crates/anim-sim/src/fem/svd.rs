//! The singular value decomposition of a 3×3 matrix, with rotations on both sides.
//!
//! The smallest singular value takes the sign of the determinant, so that it passes smoothly through zero when an
//! element inverts, and the rotation of an inverted element is the one that a person would see.
//!
//! Source: one-sided Jacobi, Hestenes, "Inversion of matrices by biorthogonalization", SIAM 1958; the signs as in
//! Irving, Teran, Fedkiw, "Invertible finite elements for robust simulation of large deformation", SCA 2004.

use super::{Mat3d, Vec3d};

/// F = left · diag(singular) · rightᵀ.
///
/// ```
/// use anim_sim::fem::{Mat3d, Svd};
///
/// let mirrored = Mat3d::from_diagonal(&[2.0, 1.0, -3.0].into());
/// let svd = Svd::new(&mirrored);
/// assert!((svd.singular - anim_sim::fem::Vec3d::new(3.0, 2.0, -1.0)).norm() < 1e-15);
/// assert!(svd.left.determinant() > 0.0 && svd.right.determinant() > 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd {
    /// A rotation.
    pub left: Mat3d,
    /// Descending by magnitude; the last has the sign of the determinant, the others are not negative.
    pub singular: Vec3d,
    /// A rotation.
    pub right: Mat3d,
}

/// Columns are orthogonal when the cosine between them is below this, squared.
const COSINE_SQUARED: f64 = 1e-31;
/// Convergence is quadratic: more than six sweeps are never needed for a finite matrix.
const MAX_SWEEPS: usize = 12;

impl Svd {
    /// Decomposes any finite matrix, singular ones too, to a few units in the last place of the largest value.
    pub fn new(matrix: &Mat3d) -> Self {
        let (mut scaled, mut right) = (*matrix, Mat3d::identity());
        for _ in 0..MAX_SWEEPS {
            let mut turned = false;
            for (p, q) in [(0, 1), (0, 2), (1, 2)] {
                turned |= orthogonalize(&mut scaled, &mut right, p, q);
            }
            if !turned {
                break;
            }
        }
        for (p, q) in [(0, 1), (1, 2), (0, 1)] {
            if scaled.column(p).norm_squared() < scaled.column(q).norm_squared() {
                for m in [&mut scaled, &mut right] {
                    m.swap_columns(p, q);
                    m.column_mut(q).neg_mut();
                }
            }
        }
        let column = |i: usize| -> Vec3d { scaled.column(i).into() };
        let first = column(0).try_normalize(0.0).unwrap_or_else(Vec3d::x);
        let second = column(1) - first * first.dot(&column(1));
        let second = second
            .try_normalize(f64::EPSILON * column(0).norm())
            .unwrap_or_else(|| across(&first));
        let third = first.cross(&second);
        Self {
            left: Mat3d::from_columns(&[first, second, third]),
            singular: Vec3d::new(
                first.dot(&column(0)),
                second.dot(&column(1)),
                third.dot(&column(2)),
            ),
            right,
        }
    }

    /// The rotation nearest to the matrix.
    pub fn rotation(&self) -> Mat3d {
        self.left * self.right.transpose()
    }
}

/// Turns columns `p` and `q` of both matrices until those of `scaled` are orthogonal; false if they are.
#[inline(always)]
fn orthogonalize(scaled: &mut Mat3d, right: &mut Mat3d, p: usize, q: usize) -> bool {
    let (a, b): (Vec3d, Vec3d) = (scaled.column(p).into(), scaled.column(q).into());
    let (aa, bb, ab) = (a.norm_squared(), b.norm_squared(), a.dot(&b));
    if ab * ab <= COSINE_SQUARED * aa * bb || !ab.is_finite() {
        return false;
    }
    let zeta = (bb - aa) / (2.0 * ab);
    let tangent = 1.0f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for m in [scaled, right] {
        let (a, b): (Vec3d, Vec3d) = (m.column(p).into(), m.column(q).into());
        m.set_column(p, &(a * cosine - b * sine));
        m.set_column(q, &(a * sine + b * cosine));
    }
    true
}

/// A unit vector across another.
fn across(unit: &Vec3d) -> Vec3d {
    let axis = if unit.x.abs() < 0.6 {
        Vec3d::x()
    } else {
        Vec3d::y()
    };
    unit.cross(&axis).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(matrix: &Mat3d) {
        let Svd {
            left,
            singular,
            right,
        } = Svd::new(matrix);
        let size = matrix.norm().max(f64::MIN_POSITIVE);
        let rebuilt = left * Mat3d::from_diagonal(&singular) * right.transpose();
        assert!((rebuilt - matrix).norm() <= 1e-14 * size, "{matrix}");
        for rotation in [left, right] {
            assert!((rotation.transpose() * rotation - Mat3d::identity()).norm() < 1e-13);
            assert!((rotation.determinant() - 1.0).abs() < 1e-13);
        }
        let slack = 1e-14 * size;
        assert!(singular.x >= singular.y - slack && singular.y >= singular.z.abs() - slack);
    }

    proptest! {
        #[test]
        fn any_matrix_is_rebuilt_from_two_rotations_and_a_stretch(
            entries in prop::array::uniform9(-2.0..2.0f64)
        ) {
            check(&Mat3d::from_row_slice(&entries));
        }
    }

    #[test]
    fn singular_and_repeated_values_are_no_special_case() {
        let axis = Vec3d::new(0.6, 0.0, 0.8);
        for matrix in [
            Mat3d::zeros(),
            Mat3d::identity(),
            -Mat3d::identity(),
            axis * axis.transpose(),
            axis * Vec3d::y().transpose() * 1e-100,
            Mat3d::identity() - axis * axis.transpose() * 2.0,
            Mat3d::repeat(1.0),
        ] {
            check(&matrix);
        }
    }
}
