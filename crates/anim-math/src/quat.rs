//! Quaternion algebra: the short arc, logarithm and exponential, swing and twist, weighted means.
//!
//! nalgebra's own `slerp` panics at half turns and its `new_normalize` makes NaN of zero; these functions are total.

use nalgebra::{Matrix4, Quaternion, SymmetricEigen, Vector4};

use crate::{Quat, Vec3};

/// Below this half angle, rad, sin(x)/x is 1 to f32 precision: x²/6 < 2⁻²⁴.
const SMALL: f32 = 5.0e-4;

/// The rotation about a unit `axis` by `angle`, rad; portable, unlike nalgebra's constructor.
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

/// The shortest rotation that takes direction `from` to direction `to`; identity if either is zero.
///
/// Opposite directions turn about an axis at a right angle to `from`.
pub fn between(from: Vec3, to: Vec3) -> Quat {
    let (Some(from), Some(to)) = (from.try_normalize(1e-30), to.try_normalize(1e-30)) else {
        return Quat::identity();
    };
    // q = normalise(from × to, 1 + from · to), the half-angle form.
    let real = 1.0 + from.dot(&to);
    if real < 1e-6 {
        let other = if from.x.abs() < 0.6 {
            Vec3::x()
        } else {
            Vec3::y()
        };
        let axis = from.cross(&other);
        return normalize(Vector4::new(axis.x, axis.y, axis.z, 0.0));
    }
    let v = from.cross(&to);
    normalize(Vector4::new(v.x, v.y, v.z, real))
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
fn normalize(coords: Vector4<f32>) -> Quat {
    let norm = coords.norm();
    if norm > 0.0 {
        Quat::new_unchecked(Quaternion::from_vector(coords / norm))
    } else {
        Quat::identity()
    }
}
