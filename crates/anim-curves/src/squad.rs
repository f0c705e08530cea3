//! Squad: rotations between keys without the kink that slerp has at each.
//!
//! Slerp goes from key to key at a constant speed and turns abruptly there. Squad bends the way towards inner rotations
//! computed from the neighbours, the sphere's counterpart of a Bézier curve, so that the angular velocity is continuous
//! where keys are evenly spaced in time. It takes the short arc from key to key: keep those under half a turn apart.
//!
//! Source: Shoemake, "Quaternion calculus and fast animation", SIGGRAPH course notes 10, 1987.
//!
//! ```
//! use anim_curves::squad;
//! use anim_math::{Vec3, quat};
//!
//! // Keys that turn evenly about one axis: squad keeps turning evenly.
//! let keys = [0.0, 0.5, 1.0, 1.5].map(|angle| quat::from_axis_angle(Vec3::y(), angle));
//! let middle = squad::between(keys, 0.5);
//! assert!((quat::log(middle) - Vec3::y() * 0.75).norm() < 1e-6);
//! ```

use anim_math::{Quat, quat};

/// The rotation between the middle two of four keys in a row; `alpha` 0 is the second, 1 the third, met to rounding.
///
/// At the end of a sequence repeat the end key.
pub fn between([before, from, to, after]: [Quat; 4], alpha: f32) -> Quat {
    let leave = inner([before, from, to]);
    let reach = inner([from, to, after]);
    squad([from, leave, reach, to], alpha)
}

/// The inner rotation of the middle one of three keys: s = q · exp(−(log(q⁻¹ next) + log(q⁻¹ previous)) / 4).
///
/// It is the key itself where its neighbours lie evenly on either side.
pub fn inner([previous, key, next]: [Quat; 3]) -> Quat {
    let inverse = key.inverse();
    let bend = quat::log(inverse * next) + quat::log(inverse * previous);
    key * quat::exp(bend * -0.25)
}

/// slerp(slerp(from, to, α), slerp(leave, reach, α), 2α(1 − α)), with the inner rotations `leave` and `reach`.
pub fn squad([from, leave, reach, to]: [Quat; 4], alpha: f32) -> Quat {
    let outer = quat::slerp(from, to, alpha);
    let inner = quat::slerp(leave, reach, alpha);
    quat::slerp(outer, inner, 2.0 * alpha * (1.0 - alpha))
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;

    use super::*;

    fn keys() -> [Quat; 5] {
        [
            Vec3::new(0.1, 0.2, 0.0),
            Vec3::new(0.9, -0.3, 0.4),
            Vec3::new(0.2, 1.1, -0.5),
            Vec3::new(-0.8, 0.6, 0.7),
            Vec3::new(0.0, -0.4, 1.2),
        ]
        .map(quat::exp)
    }

    fn four(keys: [Quat; 5], first: usize) -> [Quat; 4] {
        std::array::from_fn(|n| keys[first + n])
    }

    #[test]
    fn keys_are_met() {
        for (alpha, key) in [(0.0, 1), (1.0, 2)] {
            let q = between(four(keys(), 0), alpha);
            assert!(quat::angle_between(q, keys()[key]) < 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn about_one_axis_the_angle_is_shoemakes_cubic() {
        // With angles a, b and inner angles s, r: the lerps of lerps of the formula.
        let angles = [0.0_f32, 1.0, 1.4, 0.2];
        let q = angles.map(|angle| quat::from_axis_angle(Vec3::z(), angle));
        let inner = |[p, k, n]: [f32; 3]| k - ((n - k) + (p - k)) / 4.0;
        let s = inner([angles[0], angles[1], angles[2]]);
        let r = inner([angles[1], angles[2], angles[3]]);
        for n in 0..=10 {
            let t = n as f32 * 0.1;
            let outer = angles[1] + (angles[2] - angles[1]) * t;
            let expected = outer + (s + (r - s) * t - outer) * 2.0 * t * (1.0 - t);
            let found = quat::log(between(q, t)).z;
            assert!((found - expected).abs() < 16.0 * f32::EPSILON);
        }
    }

    #[test]
    fn angular_velocity_is_continuous_across_a_key() {
        let step = 1e-2;
        let key = keys()[2];
        let before = between(four(keys(), 0), 1.0 - step);
        let after = between(four(keys(), 1), step);
        let kink = |before: Quat, after: Quat| {
            let reach = quat::log(before.inverse() * key) / step;
            let leave = quat::log(key.inverse() * after) / step;
            (leave - reach).norm()
        };
        // One-sided differences err by step × angular acceleration, which is a few rad/s² here; slerp turns abruptly.
        assert!(kink(before, after) < 20.0 * step);
        let before = quat::slerp(keys()[1], key, 1.0 - step);
        let after = quat::slerp(key, keys()[3], step);
        assert!(kink(before, after) > 1.0);
    }

    #[test]
    fn the_sign_of_a_quaternion_does_not_matter() {
        let mut flipped = four(keys(), 0);
        for n in [0, 2] {
            flipped[n] = Quat::new_unchecked(-flipped[n].into_inner());
        }
        for n in 0..=10 {
            let alpha = n as f32 * 0.1;
            let (a, b) = (between(four(keys(), 0), alpha), between(flipped, alpha));
            assert!(quat::angle_between(a, b) < 8.0 * f32::EPSILON);
        }
    }
}
