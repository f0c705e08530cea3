//! Affine maps: a 3×3 linear part and a translation, closed under products.
//!
//! Forward kinematics and skinning work on these, because a product of scaled rotations may shear.

use std::ops::Mul;

use serde::{Deserialize, Serialize};

use crate::{Mat3, Mat4, Quat, Transform, Vec3};

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
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.linear * point + self.translation
    }

    /// Maps a direction (translation does not apply); the length is not kept.
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
        .or_else(|| y.or(z).map(any_perpendicular))
        .unwrap_or_else(Vec3::x);
    let reject = |v: Vec3| (v - x * x.dot(&v)).try_normalize(1e-6);
    let y = y
        .and_then(reject)
        .or_else(|| z.and_then(|z| z.cross(&x).try_normalize(1e-6)))
        .unwrap_or_else(|| any_perpendicular(x));
    let z = x.cross(&y);
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(Mat3::from_columns(&[x, y, z]));
    Quat::from_rotation_matrix(&rotation)
}

/// A unit vector at a right angle to the unit vector `axis`.
fn any_perpendicular(axis: Vec3) -> Vec3 {
    let other = if axis.x.abs() < 0.6 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    axis.cross(&other).normalize()
}

impl From<Transform> for Affine {
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
