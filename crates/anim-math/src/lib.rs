//! The mathematics every floor above stands on: transforms, quaternions, Euler angles, dual quaternions, integrators,
//! random numbers and the helpers of the SIMD kernels.
//!
//! # Conventions
//!
//! Right-handed, +Y up, metres, seconds, kilograms, radians. Column vectors, matrices on the left, so transforms are
//! named `destination_from_source` and compose where neighbours match. Quaternions are stored and written `xyzw`, as in
//! glTF. Single precision at run time.
//!
//! Everything here is bit-identical on every x86-64 machine: only correctly rounded operations (`+ - * / sqrt`) and the
//! portable functions of [`libm`] are used, never the platform's `sin` or a fused multiply-add.
//!
//! ```
//! use anim_math::{Affine, Transform, Vec3, quat};
//!
//! let parent_from_child = Transform {
//!     translation: Vec3::new(0.0, 1.0, 0.0),
//!     rotation: quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_2),
//!     ..Transform::IDENTITY
//! };
//! let tip = Affine::from(parent_from_child).transform_point(Vec3::x());
//! assert!((tip - Vec3::new(0.0, 2.0, 0.0)).norm() < 1e-6);
//! ```

pub mod affine;
pub mod dual_quat;
pub mod euler;
pub mod lanes;
pub mod ode;
pub mod quat;
pub mod random;
pub mod transform;

pub use affine::Affine;
pub use dual_quat::DualQuat;
pub use euler::EulerOrder;
pub use nalgebra;
pub use random::Random;
pub use transform::Transform;

/// A point or direction: 3 × f32, metres where it is a length.
pub type Vec3 = nalgebra::Vector3<f32>;
/// A unit quaternion, `xyzw` in memory and in files; q and −q are the same rotation.
pub type Quat = nalgebra::UnitQuaternion<f32>;
/// A 3×3 matrix, column-major.
pub type Mat3 = nalgebra::Matrix3<f32>;
/// A 4×4 matrix, column-major.
pub type Mat4 = nalgebra::Matrix4<f32>;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
