//! How a value moves between two keys: each type interpolates in its own space.

use std::fmt;

use anim_math::{Quat, Vec3, quat};
use nalgebra::{Quaternion, Vector4};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that can sit on a [`Track`](crate::Track).
pub trait Interpolate: Copy + fmt::Debug + PartialEq + Serialize + DeserializeOwned {
    /// The derivative by time, 1/s: scalar and vector for themselves, four components for a rotation (as in glTF).
    type Velocity: Copy + fmt::Debug + PartialEq + Serialize + DeserializeOwned;

    /// Between two keys; `alpha` 0 is `self`, 1 is `to`. Rotations take the short arc at constant speed.
    fn lerp(self, to: Self, alpha: f32) -> Self;

    /// The cubic Hermite spline between two keys `span` seconds apart; rotations are normalised, never sign-flipped.
    ///
    /// v = (2α³−3α²+1) v₀ + T(α³−2α²+α) b₀ + (−2α³+3α²) v₁ + T(α³−α²) a₁, with b₀ the velocity on leaving the first key
    /// and a₁ on reaching the second. Source: glTF 2.0, appendix C.
    fn hermite(
        from: (Self, Self::Velocity),
        to: (Self, Self::Velocity),
        span: f32,
        alpha: f32,
    ) -> Self;

    /// True if no component is NaN or infinite.
    fn is_finite(&self) -> bool;

    /// True if no component of a velocity is NaN or infinite.
    fn is_velocity_finite(velocity: &Self::Velocity) -> bool;
}

/// The weights of v₀, b₀, v₁ and a₁ at `alpha`, with the span multiplied in.
pub(crate) fn hermite_weights(span: f32, alpha: f32) -> [f32; 4] {
    let (a2, a3) = (alpha * alpha, alpha * alpha * alpha);
    [
        2.0 * a3 - 3.0 * a2 + 1.0,
        span * (a3 - 2.0 * a2 + alpha),
        -2.0 * a3 + 3.0 * a2,
        span * (a3 - a2),
    ]
}

impl Interpolate for f32 {
    type Velocity = f32;

    fn lerp(self, to: Self, alpha: f32) -> Self {
        self * (1.0 - alpha) + to * alpha
    }

    fn hermite(from: (Self, f32), to: (Self, f32), span: f32, alpha: f32) -> Self {
        let [v0, b0, v1, a1] = hermite_weights(span, alpha);
        from.0 * v0 + from.1 * b0 + to.0 * v1 + to.1 * a1
    }

    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }

    fn is_velocity_finite(velocity: &f32) -> bool {
        velocity.is_finite()
    }
}

impl Interpolate for Vec3 {
    type Velocity = Vec3;

    fn lerp(self, to: Self, alpha: f32) -> Self {
        self * (1.0 - alpha) + to * alpha
    }

    fn hermite(from: (Self, Vec3), to: (Self, Vec3), span: f32, alpha: f32) -> Self {
        let [v0, b0, v1, a1] = hermite_weights(span, alpha);
        from.0 * v0 + from.1 * b0 + to.0 * v1 + to.1 * a1
    }

    fn is_finite(&self) -> bool {
        self.iter().all(|v| v.is_finite())
    }

    fn is_velocity_finite(velocity: &Vec3) -> bool {
        velocity.iter().all(|v| v.is_finite())
    }
}

impl Interpolate for Quat {
    type Velocity = Vector4<f32>;

    fn lerp(self, to: Self, alpha: f32) -> Self {
        quat::slerp(self, to, alpha)
    }

    fn hermite(
        from: (Self, Vector4<f32>),
        to: (Self, Vector4<f32>),
        span: f32,
        alpha: f32,
    ) -> Self {
        let [v0, b0, v1, a1] = hermite_weights(span, alpha);
        let coords = from.0.coords * v0 + from.1 * b0 + to.0.coords * v1 + to.1 * a1;
        // The spline can pass through zero, where no rotation is right; the nearer key stands in.
        quat::from_xyzw(coords.into()).unwrap_or(if alpha < 0.5 { from.0 } else { to.0 })
    }

    fn is_finite(&self) -> bool {
        Quaternion::norm_squared(self).is_finite()
    }

    fn is_velocity_finite(velocity: &Vector4<f32>) -> bool {
        velocity.iter().all(|v| v.is_finite())
    }
}
