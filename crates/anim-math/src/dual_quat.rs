//! Dual quaternions: rigid motions that can be averaged, so that twisting skin keeps its volume.
//!
//! A unit dual quaternion q = r + εd holds the rotation r and the translation t = 2·d·r*. Weighted sums of them, made
//! unit again, are rigid whatever the weights, where sums of matrices shrink. They hold no scale: take that out before
//! ([`Affine::to_transform`]), or blend matrices.
//!
//! ```
//! use anim_math::{DualQuat, Quat, Vec3, quat};
//!
//! let turned = DualQuat::new(quat::from_axis_angle(Vec3::y(), 2.0), Vec3::zeros());
//! let still = DualQuat::IDENTITY;
//! let half = DualQuat::blend(&[(still, 0.5), (turned, 0.5)]);
//! // The blend turns by half the angle and keeps the radius.
//! assert!((half.transform_point(Vec3::x()).norm() - 1.0).abs() < 1e-6);
//! ```

use std::ops::Mul;

use nalgebra::{Quaternion, Vector4};

use crate::{Affine, Quat, Vec3};

/// A rigid motion r + εd; r is unit and r·d = 0, and −q is the same motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualQuat {
    /// The rotation r.
    pub real: Quaternion<f32>,
    /// Half the translation times the rotation, d = ½·t·r, metres.
    pub dual: Quaternion<f32>,
}

impl DualQuat {
    /// No motion.
    pub const IDENTITY: Self = Self {
        real: Quaternion::from_vector(Vector4::new(0.0, 0.0, 0.0, 1.0)),
        dual: Quaternion::from_vector(Vector4::new(0.0, 0.0, 0.0, 0.0)),
    };

    /// Rotates, then translates, metres.
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        let real = rotation.into_inner();
        Self {
            real,
            dual: Quaternion::from_imag(translation * 0.5) * real,
        }
    }

    /// The rigid part of an affine map: its nearest rotation and its translation; scale is left out.
    pub fn from_affine_rigid(affine: &Affine) -> Self {
        let transform = affine.to_transform();
        Self::new(transform.rotation, transform.translation)
    }

    /// The rotation.
    pub fn rotation(&self) -> Quat {
        Quat::new_unchecked(self.real)
    }

    /// The translation, applied after the rotation, metres.
    pub fn translation(&self) -> Vec3 {
        (self.dual * self.real.conjugate()).imag() * 2.0
    }

    /// The same motion as a matrix.
    pub fn to_affine(&self) -> Affine {
        Affine {
            linear: self.rotation().to_rotation_matrix().into_inner(),
            translation: self.translation(),
        }
    }

    /// The inverse of a unit motion: r* + εd*.
    pub fn conjugate(&self) -> Self {
        Self {
            real: self.real.conjugate(),
            dual: self.dual.conjugate(),
        }
    }

    /// The nearest unit dual quaternion, or `None` if the real part is zero or not finite.
    ///
    /// Divides by |r| and takes the part of d along r away, without which the result would not be rigid.
    ///
    /// Source: Kavan, Collins, Žára, O'Sullivan, "Skinning with dual quaternions", I3D 2007, section 3.
    pub fn normalize(&self) -> Option<Self> {
        let norm = self.real.norm();
        if !(norm > 0.0 && norm.is_finite()) {
            return None;
        }
        let real = self.real / norm;
        let dual = self.dual / norm;
        let along = real.dot(&dual);
        Some(Self {
            real,
            dual: dual - real * along,
        })
    }

    /// The linear blend of motions: the normalised Σ wᵢ qᵢ, each qᵢ with the sign nearest to that of largest weight.
    ///
    /// Taking the sign from one reference makes the result independent of the signs and, but for rounding, of the order
    /// of `motions`. Weights need not sum to 1. If the sum vanishes, the motion of largest weight stands; without motions,
    /// the identity.
    ///
    /// Source: Kavan et al. 2007, algorithm 1 (DLB).
    pub fn blend(motions: &[(Self, f32)]) -> Self {
        let Some((first, rest)) = motions.split_first() else {
            return Self::IDENTITY;
        };
        let (reference, _) = rest.iter().fold(
            *first,
            |best, other| if other.1 > best.1 { *other } else { best },
        );
        let mut real = Quaternion::from_vector(Vector4::zeros());
        let mut dual = real;
        for (motion, weight) in motions {
            let weight = if motion.real.dot(&reference.real) < 0.0 {
                -weight
            } else {
                *weight
            };
            real += motion.real * weight;
            dual += motion.dual * weight;
        }
        Self { real, dual }.normalize().unwrap_or(reference)
    }

    /// Moves a point, metres.
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        let (v, w) = (self.real.imag(), self.real.w);
        point + v.cross(&(v.cross(&point) + point * w)) * 2.0 + self.translation()
    }

    /// Turns a direction.
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        let (v, w) = (self.real.imag(), self.real.w);
        vector + v.cross(&(v.cross(&vector) + vector * w)) * 2.0
    }
}

impl Mul for DualQuat {
    type Output = Self;

    /// The motion `source`, then `self`.
    fn mul(self, source: Self) -> Self {
        Self {
            real: self.real * source.real,
            dual: self.real * source.dual + self.dual * source.real,
        }
    }
}

impl Default for DualQuat {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quat;

    fn motion(axis: Vec3, degrees: f32, translation: [f32; 3]) -> DualQuat {
        let rotation = quat::from_axis_angle(axis, degrees.to_radians());
        DualQuat::new(rotation, Vec3::from(translation))
    }

    fn negated(q: DualQuat) -> DualQuat {
        DualQuat {
            real: -q.real,
            dual: -q.dual,
        }
    }

    #[test]
    fn half_weights_turn_by_half_the_twist_and_keep_the_radius() {
        let cases = [
            (0.0, [1.0, 0.5, 0.0]),
            (60.0, [0.866_025, 0.5, -0.5]),
            (120.0, [0.5, 0.5, -0.866_025]),
            (170.0, [0.087_156, 0.5, -0.996_195]),
            (179.0, [0.008_727, 0.5, -0.999_962]),
            // Past half a turn the short way is backward.
            (190.0, [0.087_156, 0.5, 0.996_195]),
            (350.0, [0.996_195, 0.5, 0.087_156]),
        ];
        for (degrees, expected) in cases {
            let twisted = motion(Vec3::y(), degrees, [0.0; 3]);
            for twisted in [twisted, negated(twisted)] {
                let blend = DualQuat::blend(&[(DualQuat::IDENTITY, 0.5), (twisted, 0.5)]);
                let point = blend.transform_point(Vec3::new(1.0, 0.5, 0.0));
                // Expected values are rounded to 1e-6.
                let error = (point - Vec3::from(expected)).norm();
                assert!(error < 2e-6, "{degrees}: {point}");
            }
        }
    }

    #[test]
    fn a_general_blend_matches_its_reference() {
        let lift = motion(Vec3::x(), 0.0, [0.0, 1.0, 0.0]);
        let turn = quat::from_axis_angle(Vec3::z(), 90_f32.to_radians())
            * quat::from_axis_angle(Vec3::x(), 30_f32.to_radians());
        let turn = DualQuat::new(turn, Vec3::new(2.0, 0.0, 1.0));
        let expected = Vec3::new(1.244_434, 0.603_822, 1.467_171);
        let orders = [
            [(lift, 0.3), (turn, 0.7)],
            [(turn, 0.7), (lift, 0.3)],
            [(negated(lift), 0.3), (turn, 0.7)],
        ];
        for motions in orders {
            let point = DualQuat::blend(&motions).transform_point(Vec3::new(0.5, 0.5, 0.5));
            assert!((point - expected).norm() < 2e-6, "{point}");
        }
    }

    #[test]
    fn a_blend_is_rigid() {
        let motions = [
            (motion(Vec3::z(), 80.0, [1.0, 2.0, -3.0]), 0.2),
            (motion(Vec3::x(), -170.0, [-4.0, 0.5, 0.0]), 0.5),
            (
                motion(Vec3::new(1.0, 1.0, 1.0).normalize(), 45.0, [0.0, -1.0, 2.0]),
                0.3,
            ),
        ];
        let blend = DualQuat::blend(&motions);
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        for a in corners {
            for b in corners {
                let distance = (blend.transform_point(a) - blend.transform_point(b)).norm();
                assert!((distance - (a - b).norm()).abs() < 2e-6);
            }
        }
        assert!(
            blend.real.dot(&blend.dual).abs() < 1e-6,
            "the dual part is orthogonal to the real one"
        );
    }

    #[test]
    fn products_and_conjugates_agree_with_matrices() {
        let a = motion(Vec3::z(), 80.0, [1.0, 2.0, -3.0]);
        let b = motion(Vec3::x(), -130.0, [-4.0, 0.5, 0.0]);
        let point = Vec3::new(0.3, -0.2, 0.9);
        let expected = (a.to_affine() * b.to_affine()).transform_point(point);
        assert!(((a * b).transform_point(point) - expected).norm() < 5e-6);
        let back = (a.conjugate() * a).transform_point(point);
        assert!((back - point).norm() < 2e-6);
        assert!((a.translation() - Vec3::new(1.0, 2.0, -3.0)).norm() < 2e-6);
        let from_matrix = DualQuat::from_affine_rigid(&a.to_affine());
        assert!((from_matrix.transform_point(point) - a.transform_point(point)).norm() < 5e-6);
        let direction = a.transform_vector(point);
        assert!((direction - a.to_affine().transform_vector(point)).norm() < 1e-6);
    }

    #[test]
    fn opposite_halves_and_nothing_still_give_a_motion() {
        assert_eq!(DualQuat::blend(&[]), DualQuat::IDENTITY);
        assert_eq!(
            DualQuat::blend(&[(DualQuat::IDENTITY, 0.0)]),
            DualQuat::IDENTITY
        );
        let zero = DualQuat {
            real: Quaternion::from_vector(Vector4::zeros()),
            ..DualQuat::IDENTITY
        };
        assert_eq!(zero.normalize(), None);
    }
}
