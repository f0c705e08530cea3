//! Rotations and rotation vectors in double precision: exponential, logarithm and their derivatives.
//!
//! Solvers work in tangent spaces: a step is a rotation vector, and what a step does to an error is the derivative of the
//! logarithm. With single precision a Jacobian cannot be told from its neighbours.

use anim_math::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// Below this angle, rad, series to the fourth power are exact to rounding.
const SMALL: f64 = 1e-3;

/// The rotation by `v`, rad: axis × angle, any length.
pub(crate) fn exp(v: Vector3<f64>) -> UnitQuaternion<f64> {
    let squared = v.norm_squared();
    let angle = squared.sqrt();
    let (factor, real) = if angle < SMALL {
        let eighth = squared / 8.0;
        (0.5 - squared / 48.0, 1.0 - eighth + eighth * eighth / 6.0)
    } else {
        let (sine, cosine) = libm::sincos(0.5 * angle);
        (sine / angle, cosine)
    };
    normalized(Quaternion::from_parts(real, v * factor))
}

/// The rotation vector of `q`, rad, with an angle in [0, π].
pub(crate) fn log(q: &UnitQuaternion<f64>) -> Vector3<f64> {
    let (v, w) = if q.w < 0.0 {
        (-q.imag(), -q.w)
    } else {
        (q.imag(), q.w)
    };
    let sine = v.norm();
    if sine < 1e-9 {
        return v * 2.0;
    }
    v * (2.0 * libm::atan2(sine, w) / sine)
}

/// `q` scaled to length 1; the identity if it has none.
pub(crate) fn normalized(q: Quaternion<f64>) -> UnitQuaternion<f64> {
    let norm = q.norm();
    if norm > 0.0 {
        UnitQuaternion::new_unchecked(q / norm)
    } else {
        UnitQuaternion::identity()
    }
}

/// The matrix of v ×.
pub(crate) fn cross_matrix(v: Vector3<f64>) -> Matrix3<f64> {
    Matrix3::new(0.0, -v.z, v.y, v.z, 0.0, -v.x, -v.y, v.x, 0.0)
}

/// Jᵣ(v): exp(v + δ) = exp(v) · exp(Jᵣ(v) δ) to first order.
///
/// Jᵣ = I − (1 − cos θ)/θ² [v]× + (θ − sin θ)/θ³ [v]×². Source: Chirikjian, "Stochastic models, information theory, and Lie
/// groups", volume 2, equation 10.86.
pub(crate) fn right_jacobian(v: Vector3<f64>) -> Matrix3<f64> {
    let squared = v.norm_squared();
    let angle = squared.sqrt();
    let (a, b) = if angle < SMALL {
        (0.5 - squared / 24.0, 1.0 / 6.0 - squared / 120.0)
    } else {
        let (sine, cosine) = libm::sincos(angle);
        ((1.0 - cosine) / squared, (angle - sine) / (squared * angle))
    };
    let k = cross_matrix(v);
    Matrix3::identity() - k * a + k * k * b
}

/// Jᵣ(v)⁻¹: log(exp(v) · exp(δ)) = v + Jᵣ(v)⁻¹ δ to first order, for angles up to π.
///
/// Jᵣ⁻¹ = I + ½ [v]× + (1 − (θ/2) cot(θ/2))/θ² [v]×².
pub(crate) fn right_jacobian_inverse(v: Vector3<f64>) -> Matrix3<f64> {
    let squared = v.norm_squared();
    let angle = squared.sqrt();
    let b = if angle < SMALL {
        1.0 / 12.0 + squared / 720.0
    } else {
        let (sine, cosine) = libm::sincos(0.5 * angle);
        (1.0 - 0.5 * angle * cosine / sine) / squared
    };
    let k = cross_matrix(v);
    Matrix3::identity() + k * 0.5 + k * k * b
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use anim_math::random::Random;

    use super::*;

    fn vectors() -> impl Iterator<Item = Vector3<f64>> {
        (0..2000).map(|n| {
            let mut random = Random::new(5, n, 0);
            let lengths = [0.0, 1e-12, 1e-7, 0.9e-3, 1.1e-3, 0.5, 2.0, PI - 1e-6];
            random.on_sphere().cast::<f64>().normalize() * lengths[n as usize % 8]
        })
    }

    #[test]
    fn the_logarithm_undoes_the_exponential_up_to_half_a_turn() {
        for v in vectors() {
            assert!((log(&exp(v)) - v).norm() < 1e-14 * (1.0 + v.norm()));
        }
    }

    #[test]
    fn derivatives_are_those_of_the_exponential_and_of_each_other() {
        for v in vectors() {
            let product = right_jacobian(v) * right_jacobian_inverse(v);
            assert!((product - Matrix3::identity()).norm() < 1e-13);
            let h = 1e-6;
            for axis in 0..3 {
                let step = Vector3::ith(axis, h);
                let turned = log(&(exp(v - step).inverse() * exp(v + step))) / (2.0 * h);
                let column = right_jacobian(v).column(axis).into_owned();
                assert!((turned - column).norm() < 1e-9);
            }
        }
    }
}
