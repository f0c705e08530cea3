//! Translation, rotation and scale: how a joint sits in its parent.
//!
//! A [`Transform`] is what artists key and what blends. Products of transforms with non-uniform scale shear, which
//! translation, rotation and scale cannot hold: compose with [`Affine`](crate::Affine).

use serde::{Deserialize, Serialize};

use crate::{Quat, Vec3};

/// A local transform, applied scale first: `parent_from_child = T · R · S`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Transform {
    /// Metres.
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Factors along the child's axes; negative ones mirror.
    pub scale: Vec3,
}

impl Transform {
    /// No translation, no rotation, scale 1.
    pub const IDENTITY: Self = Self {
        translation: Vec3::new(0.0, 0.0, 0.0),
        rotation: Quat::new_unchecked(nalgebra::Quaternion::from_vector(nalgebra::Vector4::new(
            0.0, 0.0, 0.0, 1.0,
        ))),
        scale: Vec3::new(1.0, 1.0, 1.0),
    };

    /// A pure translation, metres.
    pub fn from_translation(translation: Vec3) -> Self {
        Self {
            translation,
            ..Self::IDENTITY
        }
    }

    /// A pure rotation.
    pub fn from_rotation(rotation: Quat) -> Self {
        Self {
            rotation,
            ..Self::IDENTITY
        }
    }

    /// True if no component is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.translation.iter().all(|v| v.is_finite())
            && self.rotation.coords.iter().all(|v| v.is_finite())
            && self.scale.iter().all(|v| v.is_finite())
    }
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}
