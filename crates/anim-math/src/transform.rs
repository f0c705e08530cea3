//! Translation, rotation and scale: how a joint sits in its parent.
//!
//! A [`Transform`] is what artists key and what blends. Products of transforms with non-uniform scale shear, which
//! translation, rotation and scale cannot hold: compose with [`Affine`](crate::Affine).
//!
//! ```
//! use anim_math::{Affine, Transform, Vec3};
//!
//! let mut hand = Transform::from_translation(Vec3::new(0.3, 0.0, 0.0));
//! hand.scale = Vec3::new(2.0, 2.0, 2.0);
//! assert_eq!(Affine::from(hand).transform_point(Vec3::x()), Vec3::new(2.3, 0.0, 0.0));
//! ```

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Affine, quat};

    #[test]
    fn the_identity_is_the_identity_matrix() {
        assert_eq!(Affine::from(Transform::IDENTITY), Affine::IDENTITY);
        assert_eq!(Transform::default(), Transform::IDENTITY);
    }

    #[test]
    fn pure_parts_leave_the_others_alone() {
        let lift = Transform::from_translation(Vec3::y());
        assert_eq!(
            (lift.rotation, lift.scale),
            (Quat::identity(), Vec3::repeat(1.0))
        );
        let turn = quat::from_axis_angle(Vec3::x(), 1.0);
        let turn = Transform::from_rotation(turn);
        assert_eq!(
            (turn.translation, turn.scale),
            (Vec3::zeros(), Vec3::repeat(1.0))
        );
    }

    #[test]
    fn one_bad_component_is_not_finite() {
        assert!(Transform::IDENTITY.is_finite());
        let mut broken = [Transform::IDENTITY; 3];
        broken[0].translation.y = f32::NAN;
        broken[1].scale.z = f32::INFINITY;
        broken[2].rotation.as_mut_unchecked().coords.w = f32::NAN;
        assert!(broken.iter().all(|transform| !transform.is_finite()));
    }
}
