//! How a value moves between two keys: each type interpolates in its own space.
//!
//! Numbers and vectors go straight, rotations along the short arc, switches not at all; colours are in
//! [`color`](crate::color), factors in [`log_scale`](crate::log_scale), angles in [`angle`](crate::angle). Implement
//! [`Interpolate`] for a type of your own to put it on a track.
//!
//! ```
//! use anim_curves::Interpolate;
//!
//! assert_eq!(2.0_f32.lerp(6.0, 0.25), 3.0);
//! // A cubic with the slope of the line is the line.
//! assert_eq!(f32::hermite((0.0, 4.0), (8.0, 4.0), 2.0, 0.25), 2.0);
//! ```

use std::fmt;
use std::ops::{Add, Mul, Sub};

use anim_math::{Quat, quat};
use nalgebra::{Quaternion, SVector, Vector4};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that can sit on a [`Track`](crate::Track).
pub trait Interpolate: Copy + fmt::Debug + PartialEq + Serialize + DeserializeOwned {
    /// The derivative by time, 1/s: scalar and vector for themselves, four components for a rotation (as in glTF).
    type Velocity: Linear;

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

    /// The derivative by time, 1/s, of [`hermite`](Self::hermite) with the same arguments; of a rotation, that of the
    /// normalised one, so at a right angle to it in four dimensions.
    fn hermite_velocity(
        from: (Self, Self::Velocity),
        to: (Self, Self::Velocity),
        span: f32,
        alpha: f32,
    ) -> Self::Velocity;

    /// True if no component is NaN or infinite, and a rotation is not of length zero.
    fn is_finite(&self) -> bool;

    /// What a track keeps of a finite key: rotations are made unit here, everything else stays as it is.
    ///
    /// Files store rotations rounded, to as little as eight bits a component. What is unit to 1e-6 is not touched.
    fn normalized(self) -> Self {
        self
    }

    /// True if no component of a velocity is NaN or infinite.
    fn is_velocity_finite(velocity: &Self::Velocity) -> bool;
}

/// A value of a vector space, which is its own velocity: numbers and vectors, not rotations.
pub trait Linear:
    Interpolate<Velocity = Self> + Add<Output = Self> + Sub<Output = Self> + Mul<f32, Output = Self>
{
    /// `combine` of each component of `self` with the same one of `other`.
    fn zip_with(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self;
}

impl Linear for f32 {
    fn zip_with(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        combine(self, other)
    }
}

impl<const N: usize> Linear for SVector<f32, N> {
    fn zip_with(self, other: Self, combine: impl Fn(f32, f32) -> f32) -> Self {
        self.zip_map(&other, combine)
    }
}

/// How far `time` is from `start` (0) to `end` (1); in f64, where no span of f32 overflows.
pub(crate) fn fraction(start: f32, end: f32, time: f32) -> f32 {
    let start = f64::from(start);
    ((f64::from(time) - start) / (f64::from(end) - start)) as f32
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

/// The weights of v₁ − v₀, b₀ and a₁ in the derivative by time at `alpha`.
pub(crate) fn hermite_velocity_weights(span: f32, alpha: f32) -> [f32; 3] {
    [
        6.0 * alpha * (1.0 - alpha) / span,
        (1.0 - alpha) * (1.0 - 3.0 * alpha),
        alpha * (3.0 * alpha - 2.0),
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

    fn hermite_velocity(from: (Self, f32), to: (Self, f32), span: f32, alpha: f32) -> f32 {
        let [change, b0, a1] = hermite_velocity_weights(span, alpha);
        (to.0 - from.0) * change + from.1 * b0 + to.1 * a1
    }

    fn is_finite(&self) -> bool {
        f32::is_finite(*self)
    }

    fn is_velocity_finite(velocity: &f32) -> bool {
        velocity.is_finite()
    }
}

impl<const N: usize> Interpolate for SVector<f32, N> {
    type Velocity = Self;

    fn lerp(self, to: Self, alpha: f32) -> Self {
        self * (1.0 - alpha) + to * alpha
    }

    fn hermite(from: (Self, Self), to: (Self, Self), span: f32, alpha: f32) -> Self {
        let [v0, b0, v1, a1] = hermite_weights(span, alpha);
        from.0 * v0 + from.1 * b0 + to.0 * v1 + to.1 * a1
    }

    fn hermite_velocity(from: (Self, Self), to: (Self, Self), span: f32, alpha: f32) -> Self {
        let [change, b0, a1] = hermite_velocity_weights(span, alpha);
        (to.0 - from.0) * change + from.1 * b0 + to.1 * a1
    }

    fn is_finite(&self) -> bool {
        self.iter().all(|v| v.is_finite())
    }

    fn is_velocity_finite(velocity: &Self) -> bool {
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
        let coords = Vector4::hermite((from.0.coords, from.1), (to.0.coords, to.1), span, alpha);
        // The spline can pass through zero, where no rotation is right; the nearer key stands in.
        quat::from_xyzw(coords.into()).unwrap_or(if alpha < 0.5 { from.0 } else { to.0 })
    }

    fn hermite_velocity(
        from: (Self, Vector4<f32>),
        to: (Self, Vector4<f32>),
        span: f32,
        alpha: f32,
    ) -> Vector4<f32> {
        let ends = (from.0.coords, from.1);
        let coords = Vector4::hermite(ends, (to.0.coords, to.1), span, alpha);
        let velocity = Vector4::hermite_velocity(ends, (to.0.coords, to.1), span, alpha);
        let norm = coords.norm();
        // Through zero the direction jumps, so that it has no velocity.
        if norm < 1e-6 {
            return Vector4::zeros();
        }
        let direction = coords / norm;
        (velocity - direction * direction.dot(&velocity)) / norm
    }

    fn is_finite(&self) -> bool {
        quat::from_xyzw(self.coords.into()).is_some()
    }

    fn normalized(self) -> Self {
        if (Quaternion::norm_squared(&self) - 1.0).abs() < 1e-6 {
            return self;
        }
        quat::from_xyzw(self.coords.into()).unwrap_or_else(Quat::identity)
    }

    fn is_velocity_finite(velocity: &Vector4<f32>) -> bool {
        velocity.iter().all(|v| v.is_finite())
    }
}

/// Visibility and other switches: held until the next key in every mode.
impl Interpolate for bool {
    /// A switch has no velocity; the number is ignored.
    type Velocity = f32;

    fn lerp(self, to: Self, alpha: f32) -> Self {
        if alpha < 1.0 { self } else { to }
    }

    fn hermite(from: (Self, f32), to: (Self, f32), _span: f32, alpha: f32) -> Self {
        from.0.lerp(to.0, alpha)
    }

    fn hermite_velocity(_: (Self, f32), _: (Self, f32), _span: f32, _alpha: f32) -> f32 {
        0.0
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn is_velocity_finite(velocity: &f32) -> bool {
        velocity.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use anim_math::Vec3;

    use super::*;
    use crate::{Interpolation, Key, Track};

    #[test]
    fn cubic_weights_meet_values_and_slopes() {
        assert_eq!(hermite_weights(2.0, 0.0), [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(hermite_weights(2.0, 1.0), [0.0, 0.0, 1.0, 0.0]);
        assert_eq!(hermite_weights(2.0, 0.5), [0.5, 0.25, 0.5, -0.25]);
    }

    #[test]
    fn cubic_reproduces_a_cubic() {
        // v(t) = t³ − t from 1 s to 3 s.
        let (value, slope) = (|t: f32| t * t * t - t, |t: f32| 3.0 * t * t - 1.0);
        for step in 0..=10 {
            let alpha = step as f32 * 0.1;
            let v = f32::hermite(
                (value(1.0), slope(1.0)),
                (value(3.0), slope(3.0)),
                2.0,
                alpha,
            );
            assert!((v - value(1.0 + 2.0 * alpha)).abs() < 24.0 * 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn cubic_velocity_is_that_of_the_cubic() {
        let (value, slope) = (|t: f32| t * t * t - t, |t: f32| 3.0 * t * t - 1.0);
        for step in 0..=10 {
            let alpha = step as f32 * 0.1;
            let v = f32::hermite_velocity(
                (value(1.0), slope(1.0)),
                (value(3.0), slope(3.0)),
                2.0,
                alpha,
            );
            assert!((v - slope(1.0 + 2.0 * alpha)).abs() < 26.0 * 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn cubic_rotation_velocity_is_the_difference_quotient() {
        let from = (Quat::identity(), Vector4::new(0.5, -0.2, 0.1, 0.3));
        let to = (
            quat::exp(Vec3::new(0.3, 1.0, -0.4)),
            Vector4::new(0.1, 0.4, 0.0, -0.2),
        );
        let (span, step) = (2.0, 1.0 / 256.0);
        for n in 1..8 {
            let alpha = n as f32 / 8.0;
            let at = |alpha| Quat::hermite(from, to, span, alpha).coords;
            let expected = (at(alpha + step) - at(alpha - step)) / (2.0 * step * span);
            let found = Quat::hermite_velocity(from, to, span, alpha);
            // Second order in the step, and two roundings of unit quaternions over it.
            assert!((found - expected).norm() < 1e-4);
            assert!(found.dot(&at(alpha)).abs() < 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn a_switch_holds_until_the_next_key_in_every_mode() {
        for interpolation in [
            Interpolation::Step,
            Interpolation::Linear,
            Interpolation::Cubic,
        ] {
            let keys = [(0.0, true), (1.0, false), (2.0, true)].map(|(time, value)| Key {
                velocity: Some([0.0; 2]),
                ..Key::new(time, value)
            });
            let visible = Track::new(keys.to_vec(), interpolation).unwrap();
            let samples = [-1.0, 0.0, 0.999, 1.0, 1.999, 2.0].map(|t| visible.sample(t));
            assert_eq!(samples, [true, true, true, false, false, true]);
        }
    }

    #[test]
    fn cubic_rotation_is_normalised() {
        let to = quat::from_axis_angle(Vec3::y(), FRAC_PI_2);
        let still = Vector4::zeros();
        for step in 0..=100 {
            let q = Quat::hermite(
                (Quat::identity(), still),
                (to, still),
                1.0,
                step as f32 * 0.01,
            );
            assert!((q.coords.norm() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn cubic_rotation_never_flips_a_sign() {
        // From q to −q with the appendix's formula as it stands: through zero, not staying at q.
        let q = Quat::identity();
        let opposite = Quat::new_unchecked(-q.into_inner());
        let still = Vector4::zeros();
        let before = Quat::hermite((q, still), (opposite, still), 1.0, 0.4);
        let after = Quat::hermite((q, still), (opposite, still), 1.0, 0.6);
        assert_eq!((before.w, after.w), (1.0, -1.0));
        let middle = Quat::hermite((q, still), (opposite, still), 1.0, 0.5);
        assert_eq!(middle, opposite, "where the sum is zero a key stands in");
    }

    #[test]
    fn rounded_rotations_are_made_unit_and_unit_ones_left_alone() {
        let rounded = Quat::new_unchecked(Quaternion::new(90.0 / 127.0, 90.0 / 127.0, 0.0, 0.0));
        assert!((rounded.normalized().coords.norm() - 1.0).abs() < 1e-7);
        let unit = quat::from_axis_angle(Vec3::y(), 1.0);
        assert_eq!(unit.normalized(), unit);
        let zero = Quat::new_unchecked(Quaternion::from_vector(Vector4::zeros()));
        assert!(!Interpolate::is_finite(&zero));
    }
}
