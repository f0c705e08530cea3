//! Affine maps: a 3×3 linear part and a translation, closed under products.
//!
//! Forward kinematics and skinning work on these, because a product of scaled rotations may shear.
//!
//! ```
//! use anim_math::{Affine, Transform, Vec3, quat};
//!
//! let stretched = Affine::from(Transform { scale: Vec3::new(2.0, 1.0, 1.0), ..Transform::IDENTITY });
//! let turned = Affine::from(Transform::from_rotation(quat::from_axis_angle(Vec3::z(), 0.5)));
//! let sheared = stretched * turned;
//! let back = sheared.inverse().expect("not singular") * sheared;
//! assert!((back.transform_point(Vec3::x()) - Vec3::x()).norm() < 1e-6);
//! ```

use std::ops::Mul;

use serde::{Deserialize, Serialize};

use crate::{Mat3, Mat4, Quat, Transform, Vec3, quat};

/// `destination = linear · source + translation`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Affine {
    /// Rotation, scale and shear; columns are the images of the source's axes.
    pub linear: Mat3,
    /// Where the source's origin goes, metres.
    pub translation: Vec3,
}

impl Affine {
    /// Maps every point to itself.
    pub const IDENTITY: Self = Self {
        linear: Mat3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        translation: Vec3::new(0.0, 0.0, 0.0),
    };

    /// Maps a point (translation applies).
    #[inline]
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.linear * point + self.translation
    }

    /// Maps a direction (translation does not apply); the length is not kept.
    #[inline]
    pub fn transform_vector(&self, vector: Vec3) -> Vec3 {
        self.linear * vector
    }

    /// The inverse map, or `None` if the linear part is singular or not finite.
    ///
    /// Computed in f64, so that bind matrices far from the origin lose nothing.
    pub fn inverse(&self) -> Option<Self> {
        let linear = self.linear.cast::<f64>().try_inverse()?;
        let translation = -(linear * self.translation.cast::<f64>());
        let inverse = Self {
            linear: linear.cast(),
            translation: translation.cast(),
        };
        inverse.is_finite().then_some(inverse)
    }

    /// The nearest translation, rotation and scale; exact if there is no shear.
    ///
    /// Axes are orthonormalised x first (Gram-Schmidt); a mirrored map gets a negative x scale. A zero axis keeps scale
    /// 0 and gets a direction that completes the frame. Lossy where the map shears.
    pub fn to_transform(&self) -> Transform {
        let columns = [0, 1, 2].map(|c| self.linear.column(c).into_owned());
        let mut scale = Vec3::new(columns[0].norm(), columns[1].norm(), columns[2].norm());
        if self.linear.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        Transform {
            translation: self.translation,
            rotation: rotation_of_axes(columns, scale),
            scale,
        }
    }

    /// The column-major 4×4 matrix whose last row is 0 0 0 1.
    pub fn to_mat4(&self) -> Mat4 {
        let mut matrix = Mat4::identity();
        matrix.fixed_view_mut::<3, 3>(0, 0).copy_from(&self.linear);
        matrix
            .fixed_view_mut::<3, 1>(0, 3)
            .copy_from(&self.translation);
        matrix
    }

    /// The upper three rows of a 4×4 matrix; the last row is taken to be 0 0 0 1.
    pub fn from_mat4(matrix: &Mat4) -> Self {
        Self {
            linear: matrix.fixed_view::<3, 3>(0, 0).into_owned(),
            translation: matrix.fixed_view::<3, 1>(0, 3).into_owned(),
        }
    }

    /// True if no component is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.linear.iter().all(|v| v.is_finite()) && self.translation.iter().all(|v| v.is_finite())
    }
}

/// The rotation whose axes are `columns` divided by `scale`, orthonormalised.
fn rotation_of_axes(columns: [Vec3; 3], scale: Vec3) -> Quat {
    let unit = |c: usize| {
        (scale[c] != 0.0)
            .then(|| columns[c] / scale[c])
            .and_then(|axis| axis.try_normalize(0.0))
    };
    let (x, y, z) = (unit(0), unit(1), unit(2));
    let x = x
        .or_else(|| y.zip(z).and_then(|(y, z)| y.cross(&z).try_normalize(1e-12)))
        .or_else(|| y.or(z).map(quat::any_perpendicular))
        .unwrap_or_else(Vec3::x);
    let reject = |v: Vec3| (v - x * x.dot(&v)).try_normalize(1e-6);
    let y = y
        .and_then(reject)
        .or_else(|| z.and_then(|z| z.cross(&x).try_normalize(1e-6)))
        .unwrap_or_else(|| quat::any_perpendicular(x));
    let z = x.cross(&y);
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(Mat3::from_columns(&[x, y, z]));
    Quat::from_rotation_matrix(&rotation)
}

impl From<Transform> for Affine {
    #[inline]
    fn from(transform: Transform) -> Self {
        let rotation = transform.rotation.to_rotation_matrix().into_inner();
        Self {
            linear: rotation * Mat3::from_diagonal(&transform.scale),
            translation: transform.translation,
        }
    }
}

impl Mul for Affine {
    type Output = Self;

    #[inline]
    fn mul(self, source: Self) -> Self {
        Self {
            linear: self.linear * source.linear,
            translation: self.linear * source.translation + self.translation,
        }
    }
}

impl Default for Affine {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix3, Vector3};
    use proptest::prelude::*;

    use super::*;

    fn any_transform() -> impl Strategy<Value = Transform> {
        let number = || -2.0_f32..2.0;
        let vector =
            move || (number(), number(), number()).prop_map(|(x, y, z)| Vec3::new(x, y, z));
        let scale =
            || (0.2_f32..3.0, any::<bool>()).prop_map(|(s, mirror)| if mirror { -s } else { s });
        let scale = (scale(), scale(), scale()).prop_map(|(x, y, z)| Vec3::new(x, y, z));
        (vector(), vector(), scale).prop_map(|(translation, turn, scale)| Transform {
            translation,
            rotation: quat::exp(turn),
            scale,
        })
    }

    fn difference(a: Affine, b: Affine) -> f32 {
        (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
    }

    #[test]
    fn scale_applies_before_rotation_before_translation() {
        let affine = Affine::from(Transform {
            translation: Vec3::new(10.0, 0.0, 0.0),
            rotation: quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_2),
            scale: Vec3::new(2.0, 3.0, 4.0),
        });
        let point = affine.transform_point(Vec3::new(1.0, 1.0, 1.0));
        assert!((point - Vec3::new(7.0, 2.0, 4.0)).norm() < 2e-6);
        let vector = affine.transform_vector(Vec3::x());
        assert!((vector - Vec3::new(0.0, 2.0, 0.0)).norm() < 1e-6);
    }

    #[test]
    fn a_product_under_uneven_scale_keeps_its_shear() {
        // The parent stretches x by two, the child turns by 45 degrees about z: compare with the product in f64.
        let parent = Affine::from(Transform {
            scale: Vec3::new(2.0, 1.0, 1.0),
            ..Transform::IDENTITY
        });
        let quarter = std::f32::consts::FRAC_PI_4;
        let child = Affine::from(Transform::from_rotation(quat::from_axis_angle(
            Vec3::z(),
            quarter,
        )));
        let c = 0.5_f64.sqrt();
        let expected = Matrix3::from_diagonal(&Vector3::new(2.0, 1.0, 1.0))
            * Matrix3::new(c, -c, 0.0, c, c, 0.0, 0.0, 0.0, 1.0);
        let product = (parent * child).linear;
        assert!((product.cast::<f64>() - expected).norm() < 5e-7);
        let columns = (
            product.column(0).into_owned(),
            product.column(1).into_owned(),
        );
        assert!(
            columns.0.dot(&columns.1).abs() > 1.0,
            "axes are no longer square"
        );
    }

    #[test]
    fn a_bind_matrix_far_away_loses_nothing() {
        let far = Affine::from(Transform {
            translation: Vec3::new(4096.0, -8192.0, 1024.0),
            rotation: quat::exp(Vec3::new(0.3, -0.2, 0.9)),
            scale: Vec3::new(1.0, 1.0, 1.0),
        });
        let back = far.inverse().unwrap() * far;
        // A unit in the last place of 8192 is 1e-3.
        assert!(difference(back, Affine::IDENTITY) < 2e-3);
    }

    #[test]
    fn singular_maps_have_no_inverse_but_still_a_transform() {
        for zeros in [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]] {
            let flat = Affine::from(Transform {
                rotation: quat::exp(Vec3::new(0.3, -0.2, 0.9)),
                scale: Vec3::from(zeros),
                ..Transform::IDENTITY
            });
            assert_eq!(flat.inverse(), None);
            let transform = flat.to_transform();
            assert!((transform.rotation.coords.norm() - 1.0).abs() < 1e-6);
            assert!(difference(Affine::from(transform), flat) < 1e-6);
        }
        let broken = Affine {
            translation: Vec3::new(f32::NAN, 0.0, 0.0),
            ..Affine::IDENTITY
        };
        assert_eq!(broken.inverse(), None);
        assert!(!broken.is_finite());
    }

    #[test]
    fn matrices_of_four_rows_round_trip() {
        let affine = Affine {
            linear: Mat3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0),
            translation: Vec3::new(-1.0, -2.0, -3.0),
        };
        let matrix = affine.to_mat4();
        assert_eq!(matrix[(0, 3)], -1.0);
        assert_eq!(
            matrix.row(3).iter().copied().collect::<Vec<_>>(),
            [0.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(Affine::from_mat4(&matrix), affine);
    }

    proptest! {
        #[test]
        fn a_transform_survives_its_matrix(transform in any_transform()) {
            let affine = Affine::from(transform);
            let back = affine.to_transform();
            prop_assert!(difference(Affine::from(back), affine) < 1e-5);
            // A mirror comes back on x, so only the product of the signs is kept.
            prop_assert!((back.scale.abs() - transform.scale.abs()).norm() < 1e-5);
            prop_assert!(back.scale.y > 0.0 && back.scale.z > 0.0);
            prop_assert_eq!(back.scale.x < 0.0, transform.scale.product() < 0.0);
        }

        #[test]
        fn an_inverse_undoes_its_map(a in any_transform(), b in any_transform()) {
            let product = Affine::from(a) * Affine::from(b);
            let back = product.inverse().unwrap() * product;
            // Scales of 0.2 to 3 twice: the condition number is at most 225.
            prop_assert!(difference(back, Affine::IDENTITY) < 225.0 * 1e-6);
        }

        #[test]
        fn products_compose_points(a in any_transform(), b in any_transform()) {
            let (a, b) = (Affine::from(a), Affine::from(b));
            let point = Vec3::new(0.3, -0.7, 1.1);
            let apart = (a * b).transform_point(point) - a.transform_point(b.transform_point(point));
            prop_assert!(apart.norm() < 2e-5);
        }
    }
}
