//! Quaternion algebra: the short arc, logarithm and exponential, swing and twist, weighted means.
//!
//! nalgebra's own `slerp` panics at half turns and its `new_normalize` makes NaN of zero; these functions are total.
//!
//! ```
//! use anim_math::{Quat, Vec3, quat};
//!
//! let turned = quat::from_axis_angle(Vec3::y(), 1.0);
//! let half = quat::slerp(Quat::identity(), turned, 0.5);
//! assert!((quat::log(half) - Vec3::new(0.0, 0.5, 0.0)).norm() < 1e-6);
//! ```

use nalgebra::{Matrix4, Quaternion, SymmetricEigen, Vector4};

use crate::{Quat, Vec3};

/// Below this half angle, rad, sin(x)/x is 1 to f32 precision: x²/6 < 2⁻²⁴.
const SMALL: f32 = 5.0e-4;

/// The rotation about a unit `axis` by `angle`, rad; portable, unlike nalgebra's constructor.
#[inline]
pub fn from_axis_angle(axis: Vec3, angle: f32) -> Quat {
    exp(axis * angle)
}

/// The unit quaternion along `xyzw`, or `None` if that is zero or not finite.
pub fn from_xyzw(xyzw: [f32; 4]) -> Option<Quat> {
    let coords = Vector4::from(xyzw).cast::<f64>();
    let norm = coords.norm();
    (norm.is_finite() && norm > 1e-30)
        .then(|| Quat::new_unchecked(Quaternion::from_vector((coords / norm).cast())))
}

/// Interpolates at constant angular speed along the short arc; `alpha` 0 is `from`, 1 is `to`.
///
/// One quaternion is negated if their dot product is negative; nearly equal ones are interpolated linearly and
/// normalised, whose error there is below f32 precision. At exactly half a turn either way is as short: the result is
/// still a unit quaternion on one of them.
///
/// Source: Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985.
#[inline]
pub fn slerp(from: Quat, to: Quat, alpha: f32) -> Quat {
    let dot = from.coords.dot(&to.coords);
    let to = if dot < 0.0 { -to.coords } else { to.coords };
    // The half-chord form keeps its precision at small angles, where acos(dot) has none left.
    let half_chord = (to - from.coords).norm() * 0.5;
    let angle = 2.0 * libm::asinf(half_chord.min(1.0));
    if angle < SMALL {
        return normalize(from.coords * (1.0 - alpha) + to * alpha);
    }
    let sine = libm::sinf(angle);
    let a = libm::sinf((1.0 - alpha) * angle) / sine;
    let b = libm::sinf(alpha * angle) / sine;
    normalize(from.coords * a + to * b)
}

/// Interpolates linearly along the short arc and normalises: cheaper than [`slerp`], the same path, uneven speed.
#[inline]
pub fn nlerp(from: Quat, to: Quat, alpha: f32) -> Quat {
    let dot = from.coords.dot(&to.coords);
    let to = if dot < 0.0 { -to.coords } else { to.coords };
    normalize(from.coords * (1.0 - alpha) + to * alpha)
}

/// The rotation vector of `q`, rad: axis × angle, with the angle in [0, π].
pub fn log(q: Quat) -> Vec3 {
    let coords = if q.coords.w < 0.0 {
        -q.coords
    } else {
        q.coords
    };
    let sine = coords.xyz().norm();
    if sine < SMALL {
        return coords.xyz() * 2.0;
    }
    coords.xyz() * (2.0 * libm::atan2f(sine, coords.w) / sine)
}

/// The rotation by `rotation_vector`, rad: axis × angle, any length.
pub fn exp(rotation_vector: Vec3) -> Quat {
    let half = rotation_vector.norm() * 0.5;
    let (sine_over_angle, cosine) = if half < SMALL {
        (0.5, 1.0 - half * half * 0.5)
    } else {
        (libm::sinf(half) / (2.0 * half), libm::cosf(half))
    };
    let v = rotation_vector * sine_over_angle;
    normalize(Vector4::new(v.x, v.y, v.z, cosine))
}

/// The angle between two rotations, rad, in [0, π].
pub fn angle_between(a: Quat, b: Quat) -> f32 {
    log(a.inverse() * b).norm()
}

/// The shortest rotation that takes direction `from` to direction `to`; identity if either is zero or not finite.
///
/// Opposite directions turn about an axis at a right angle to `from`, always the same one.
#[inline]
pub fn between(from: Vec3, to: Vec3) -> Quat {
    between_or(from, to, Vec3::zeros())
}

/// As [`between`], but exactly opposite directions turn about the axis `half_turn`, if that is not along `from` or zero.
#[inline]
pub fn between_or(from: Vec3, to: Vec3, half_turn: Vec3) -> Quat {
    match (from.try_normalize(1e-18), to.try_normalize(1e-18)) {
        (Some(from), Some(to)) => between_equal(from, to, half_turn),
        _ => Quat::identity(),
    }
}

/// As [`between_or`], for vectors that have the same length but for rounding: it need not be divided out.
///
/// Takes the half-angle form q = normalise(from × to, |from|·|to| + from · to) through the sum s = from + to, whose |s|²/2
/// is the real part and from × s the imaginary one: no digits cancel near opposite directions, and a difference in length
/// changes the result in its square only.
#[inline]
pub fn between_equal(from: Vec3, to: Vec3, half_turn: Vec3) -> Quat {
    let sum = from + to;
    let sum2 = sum.norm_squared();
    let from2 = from.norm_squared();
    if sum2 > 2e-13 * from2 {
        let v = from.cross(&sum);
        return normalize(Vector4::new(v.x, v.y, v.z, sum2 * 0.5));
    }
    half_turn_about(from, half_turn)
}

/// Half a turn about what of `axis` is at a right angle to `from`, or any such axis.
#[cold]
fn half_turn_about(from: Vec3, axis: Vec3) -> Quat {
    let Some(from) = from.try_normalize(1e-18) else {
        return Quat::identity();
    };
    let axis = axis
        .try_normalize(1e-18)
        .map(|axis| axis - from * from.dot(&axis))
        .and_then(|axis| axis.try_normalize(1e-3))
        .unwrap_or_else(|| any_perpendicular(from));
    normalize(Vector4::new(axis.x, axis.y, axis.z, 0.0))
}

/// The rotation about the unit `axis` that brings `from` into the half-plane of `axis` and `to`, the shorter way.
///
/// Neither need be unit or at a right angle to the axis; identity if either is along it.
#[inline]
pub fn around(axis: Vec3, from: Vec3, to: Vec3) -> Quat {
    let sine = axis.dot(&from.cross(&to));
    let cosine = from.dot(&to) - axis.dot(&from) * axis.dot(&to);
    let norm = (sine * sine + cosine * cosine).sqrt();
    // tan(θ/2) = sin / (norm + cos) = (norm − cos) / sin: whichever does not cancel.
    let (v, w) = if cosine < 0.0 {
        (norm - cosine, sine)
    } else {
        (sine, norm + cosine)
    };
    normalize(Vector4::new(axis.x * v, axis.y * v, axis.z * v, w))
}

/// A unit vector at a right angle to the unit vector `axis`, always the same one.
#[inline]
pub fn any_perpendicular(axis: Vec3) -> Vec3 {
    let other = if axis.x.abs() < 0.6 {
        Vec3::x()
    } else {
        Vec3::y()
    };
    axis.cross(&other).normalize()
}

/// Splits `q` into `swing · twist`, where `twist` turns about the unit `axis` and `swing` about a perpendicular one.
///
/// After a swing of exactly half a turn the twist is undefined: it is identity then.
pub fn swing_twist(q: Quat, axis: Vec3) -> (Quat, Quat) {
    let along = axis * q.coords.xyz().dot(&axis);
    let twist = Vector4::new(along.x, along.y, along.z, q.coords.w);
    let twist = if twist.norm() < 1e-6 {
        Quat::identity()
    } else {
        normalize(twist)
    };
    (q * twist.inverse(), twist)
}

/// The weighted mean of rotations, whatever their signs and order: the largest eigenvector of Σ wᵢ qᵢ qᵢᵀ.
///
/// `None` if there are no rotations or no positive weight. Source: Markley, Cheng, Crassidis, Oshman, "Averaging
/// quaternions", JGCD 2007, eq. 12.
pub fn mean(rotations: &[(Quat, f32)]) -> Option<Quat> {
    let mut sum = Matrix4::<f64>::zeros();
    for (q, weight) in rotations {
        let coords = q.coords.cast::<f64>();
        sum += coords * coords.transpose() * f64::from(*weight);
    }
    if !(sum.iter().all(|v| v.is_finite()) && sum.trace() > 0.0) {
        return None;
    }
    let eigen = SymmetricEigen::new(sum);
    let largest = eigen.eigenvalues.imax();
    let coords = eigen.eigenvectors.column(largest);
    let sign = if coords[3] < 0.0 { -1.0 } else { 1.0 };
    from_xyzw([0, 1, 2, 3].map(|i| (coords[i] * sign) as f32))
}

/// Divides by the length; the callers' sums are never zero, but rounding is not worth a NaN.
#[inline]
fn normalize(coords: Vector4<f32>) -> Quat {
    let norm = coords.norm();
    if norm > 0.0 {
        Quat::new_unchecked(Quaternion::from_vector(coords / norm))
    } else {
        Quat::identity()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI};

    use super::*;

    fn any_quat() -> impl Strategy<Value = Quat> {
        let part = || -1.0_f32..1.0;
        (part(), part(), part(), part()).prop_filter_map("too short", |(x, y, z, w)| {
            (x * x + y * y + z * z + w * w > 1e-3).then(|| from_xyzw([x, y, z, w]))?
        })
    }

    fn any_direction() -> impl Strategy<Value = Vec3> {
        any_quat().prop_map(|q| q * Vec3::x())
    }

    fn negated(q: Quat) -> Quat {
        Quat::new_unchecked(-q.into_inner())
    }

    fn is_unit(q: Quat) -> bool {
        (q.coords.norm() - 1.0).abs() < 3e-7
    }

    #[test]
    fn a_quarter_turn_about_z_has_known_components() {
        let q = from_axis_angle(Vec3::z(), FRAC_PI_2);
        let expected = Vector4::new(0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2);
        assert!((q.coords - expected).norm() < 1e-7);
        assert!((q * Vec3::x() - Vec3::y()).norm() < 2e-7);
        assert!((log(q) - Vec3::new(0.0, 0.0, FRAC_PI_2)).norm() < 3e-7);
    }

    #[test]
    fn components_are_normalised_or_refused() {
        let q = from_xyzw([0.0, 3.0, 0.0, 4.0]).unwrap();
        assert_eq!(q.coords, Vector4::new(0.0, 0.6, 0.0, 0.8));
        assert!(from_xyzw([0.0; 4]).is_none());
        assert!(from_xyzw([f32::NAN, 0.0, 0.0, 1.0]).is_none());
        assert!(from_xyzw([f32::INFINITY, 0.0, 0.0, 1.0]).is_none());
        assert!(is_unit(from_xyzw([f32::MAX; 4]).unwrap()));
        assert!(is_unit(from_xyzw([1e-25; 4]).unwrap()));
    }

    #[test]
    fn slerp_takes_the_short_arc() {
        // 21 degrees apart, written 339 degrees apart.
        let to = from_axis_angle(Vec3::y(), 21_f32.to_radians());
        let half = slerp(Quat::identity(), negated(to), 0.5);
        let angle = angle_between(Quat::identity(), half);
        assert!((angle - 10.5_f32.to_radians()).abs() < 1e-6);
    }

    #[test]
    fn slerp_between_opposite_rotations_is_still_a_rotation() {
        for to in [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| from_axis_angle(axis, PI)) {
            for step in 0..=10 {
                let alpha = step as f32 * 0.1;
                let q = slerp(Quat::identity(), to, alpha);
                assert!(is_unit(q));
                let angle = angle_between(Quat::identity(), q);
                assert!((angle - alpha * PI).abs() < 1e-6);
            }
        }
        let q = from_axis_angle(Vec3::x(), 1.0);
        assert!(angle_between(slerp(q, negated(q), 0.5), q) < 1e-6);
    }

    #[test]
    fn nearly_opposite_directions_are_met() {
        for exponent in 1..9 {
            let to = Vec3::new(-1.0, 10_f32.powi(-exponent), 0.0);
            let met = between(Vec3::x(), to) * Vec3::x();
            assert!((met - to.normalize()).norm() < 5e-7, "1e-{exponent}: {met}");
        }
    }

    #[test]
    fn opposite_directions_turn_about_the_axis_asked_for() {
        let q = between_or(Vec3::x(), -Vec3::x(), Vec3::y());
        assert_eq!(q.coords, Vector4::new(0.0, 1.0, 0.0, 0.0));
        let q = between_or(Vec3::x(), -Vec3::x(), Vec3::x());
        assert!((q * Vec3::x() + Vec3::x()).norm() < 1e-6);
        assert_eq!(between(Vec3::zeros(), Vec3::x()), Quat::identity());
        assert_eq!(
            between(Vec3::new(f32::NAN, 0.0, 0.0), Vec3::x()),
            Quat::identity()
        );
    }

    #[test]
    fn around_an_axis_half_and_quarter_turns_are_known() {
        let quarter = around(
            Vec3::z(),
            Vec3::new(2.0, 0.0, 5.0),
            Vec3::new(0.0, 3.0, -1.0),
        );
        assert!((log(quarter) - Vec3::z() * FRAC_PI_2).norm() < 3e-7);
        let half = around(Vec3::z(), Vec3::x(), Vec3::new(-3.0, 0.0, 7.0));
        assert_eq!(half.coords, Vector4::new(0.0, 0.0, 1.0, 0.0));
        assert_eq!(around(Vec3::z(), Vec3::z(), Vec3::x()), Quat::identity());
    }

    #[test]
    fn twist_of_a_half_turn_swing_is_identity() {
        let swing = from_axis_angle(Vec3::x(), PI);
        let (_, twist) = swing_twist(swing, Vec3::y());
        assert!(angle_between(twist, Quat::identity()) < 1e-6);
    }

    #[test]
    fn mean_of_two_is_half_way_whatever_the_signs() {
        let (a, b) = (
            from_axis_angle(Vec3::x(), 0.2),
            from_axis_angle(Vec3::x(), 1.0),
        );
        for b in [b, negated(b)] {
            let mean = mean(&[(a, 0.5), (b, 0.5)]).unwrap();
            assert!((log(mean) - Vec3::new(0.6, 0.0, 0.0)).norm() < 1e-6);
        }
        assert!(mean(&[]).is_none());
        assert!(mean(&[(a, 0.0)]).is_none());
        assert!(mean(&[(a, f32::NAN)]).is_none());
    }

    proptest! {
        #[test]
        fn slerp_turns_at_constant_speed(a in any_quat(), b in any_quat(), alpha in 0.0_f32..1.0) {
            let q = slerp(a, b, alpha);
            prop_assert!(is_unit(q));
            let whole = angle_between(a, b);
            // Near half a turn the way depends on the last bit.
            prop_assume!(whole < PI - 1e-3);
            prop_assert!((angle_between(a, q) - alpha * whole).abs() < 2e-6);
            prop_assert!((angle_between(q, b) - (1.0 - alpha) * whole).abs() < 2e-6);
            // nlerp walks the same arc: it is at most 0.15 rad ahead or behind there, and nowhere beside it.
            let n = nlerp(a, b, alpha);
            prop_assert!((angle_between(a, n) + angle_between(n, b) - whole).abs() < 4e-6);
        }

        #[test]
        fn exp_undoes_log(q in any_quat()) {
            prop_assert!(angle_between(exp(log(q)), q) < 1e-6);
            prop_assert!(log(q).norm() <= PI + 1e-6);
        }

        #[test]
        fn log_undoes_exp(axis in any_direction(), angle in 0.0_f32..3.1) {
            prop_assert!((log(exp(axis * angle)) - axis * angle).norm() < 2e-6);
        }

        #[test]
        fn log_of_small_turns_keeps_its_digits(axis in any_direction(), exponent in -12_i32..-1) {
            let v = axis * 10_f32.powi(exponent);
            prop_assert!((log(exp(v)) - v).norm() < 1e-6 * v.norm());
        }

        #[test]
        fn between_meets_its_goal(from in any_direction(), to in any_direction()) {
            let q = between(from, to);
            prop_assert!((q * from - to).norm() < 1e-6);
            // The shortest rotation turns by the angle between the directions.
            let angle = libm::atan2f(from.cross(&to).norm(), from.dot(&to));
            prop_assert!((log(q).norm() - angle).abs() < 2e-6);
        }

        #[test]
        fn around_turns_about_its_axis_alone(axis in any_direction(), from in any_direction(), to in any_direction()) {
            let q = around(axis, from, to);
            prop_assert!(is_unit(q));
            prop_assert!(q.coords.xyz().cross(&axis).norm() < 1e-6);
            let beside = |v: Vec3| v - axis * axis.dot(&v);
            let (met, wanted) = (beside(q * from), beside(to));
            prop_assume!(met.norm() > 0.1 && wanted.norm() > 0.1);
            prop_assert!((met.normalize() - wanted.normalize()).norm() < 1e-5);
        }

        #[test]
        fn swing_and_twist_recompose(q in any_quat(), axis in any_direction()) {
            let (swing, twist) = swing_twist(q, axis);
            prop_assert!(angle_between(swing * twist, q) < 1e-6);
            prop_assert!(twist.coords.xyz().cross(&axis).norm() < 1e-6);
            prop_assume!(twist.coords.w.abs() > 1e-3);
            prop_assert!(swing.coords.xyz().dot(&axis).abs() < 1e-6);
        }

        #[test]
        fn mean_turns_with_its_rotations(a in any_quat(), b in any_quat(), c in any_quat(), turn in any_quat()) {
            let weights = [0.6, 0.3, 0.1];
            let of = |qs: [Quat; 3]| mean(&[(qs[0], weights[0]), (qs[1], weights[1]), (qs[2], weights[2])]).unwrap();
            let turned = of([turn * a, turn * b, turn * c]);
            prop_assert!(angle_between(turned, turn * of([a, b, c])) < 1e-3);
        }
    }
}
