//! Angles on a track: numbers in radians, interpolated as they stand, so that two turns stay two turns.
//!
//! A wheel, a knob or an Euler channel is a `Track<f32>`: going from 0 to 4π is two full turns, which no rotation can
//! tell from none. Angles that were measured, or read off rotations, jump by a turn where they wrap; [`unwrap`] takes
//! those jumps out first, and [`unwrap_euler`] those of three Euler channels together, which also flip at gimbal lock. For
//! orientations use a track of rotations, which takes the short arc by itself.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, angle};
//!
//! let degrees = [170.0_f32, -170.0, -150.0];
//! let mut keys: Vec<_> = (0..).zip(degrees).map(|(n, d)| Key::new(n as f32, d.to_radians())).collect();
//! angle::unwrap(&mut keys);
//! let heading = Track::new(keys, Interpolation::Linear)?;
//! assert!((heading.sample(0.5).to_degrees() - 180.0).abs() < 1e-4); // not 0
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use std::f32::consts::PI;
use std::f64::consts::TAU;

use anim_math::{EulerOrder, Vec3};

use crate::Key;

/// Adds whole turns to each value, rad, so that none is more than half a turn from the one before; the first stays.
///
/// Keys a half turn apart stay as they are. Velocities are left alone, as a whole turn does not change them; so is a
/// value that is not finite, for [`Track::new`](crate::Track::new) to refuse.
pub fn unwrap(keys: &mut [Key<f32>]) {
    for key in 1..keys.len() {
        keys[key].value = nearest(keys[key].value, keys[key - 1].value);
    }
}

/// Replaces each key's Euler angles, rad, by those of the same rotation that are nearest to the key before; the first
/// stays. Animation tools call this the Euler filter.
///
/// Every rotation has two sets of angles besides whole turns: (a, b, c) is (a + π, π − b, c + π) about three different
/// axes, and (a + π, −b, c + π) if the first axis is the last. Velocities follow: that of the middle angle changes sign
/// with it.
pub fn unwrap_euler(keys: &mut [Key<Vec3>], order: EulerOrder) {
    let [first, _, last] = order.axes();
    let mirror = if first == last { 0.0 } else { PI };
    for key in 1..keys.len() {
        let before = keys[key - 1].value;
        let same = keys[key].value;
        let other = Vec3::new(same.x + PI, mirror - same.y, same.z + PI);
        let [same, other] = [same, other].map(|angles| angles.zip_map(&before, nearest));
        let key = &mut keys[key];
        if (other - before).norm_squared() < (same - before).norm_squared() {
            key.value = other;
            let mirrored = |v: Vec3| Vec3::new(v.x, -v.y, v.z);
            key.velocity = key.velocity.map(|sides| sides.map(mirrored));
        } else {
            key.value = same;
        }
    }
}

/// `value` with the whole turns that bring it to at most half a turn from `before`.
fn nearest(value: f32, before: f32) -> f32 {
    let jump = f64::from(value) - f64::from(before);
    // Half a turn either way is kept: rounding away from zero would turn it into the other one.
    let is_near = jump.abs() * (1.0 - f64::from(f32::EPSILON)) <= 0.5 * TAU;
    let turns = if is_near {
        0.0
    } else {
        libm::round(jump / TAU)
    };
    if turns.is_finite() {
        (f64::from(value) - turns * TAU) as f32
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use anim_math::{euler, quat};
    use proptest::prelude::*;

    use super::*;

    fn unwrapped(values: &[f32]) -> Vec<f32> {
        let mut keys: Vec<_> = (0..)
            .zip(values)
            .map(|(n, v)| Key::new(n as f32, *v))
            .collect();
        unwrap(&mut keys);
        keys.iter().map(|key| key.value).collect()
    }

    #[test]
    fn jumps_of_a_turn_are_taken_out_and_half_turns_kept() {
        let found = unwrapped(&[3.0, -3.0, 3.0, 3.0 + 4.0 * TAU]);
        for (found, expected) in found.iter().zip([3.0, TAU - 3.0, 3.0, 3.0]) {
            assert!((found - expected).abs() < 4.0 * TAU * f32::EPSILON);
        }
        assert_eq!(unwrapped(&[0.0, PI, 0.0, -PI]), [0.0, PI, 0.0, -PI]);
        assert_eq!(unwrapped(&[]), []);
    }

    #[test]
    fn senseless_values_are_left_for_the_track_to_refuse() {
        assert!(unwrapped(&[0.0, f32::INFINITY, 1.0])[1].is_infinite());
        assert!(unwrapped(&[0.0, f32::NAN, 1.0])[1].is_nan());
    }

    #[test]
    fn euler_angles_go_on_through_gimbal_lock() {
        for order in EulerOrder::ALL {
            // The middle angle turns right round, which read-off angles never do.
            let angles = |n: usize| Vec3::new(0.4, n as f32 * 0.1 + 0.05, -0.3);
            let turned = |n| euler::to_quat(angles(n).into(), order);
            let mut keys: Vec<_> = (0..60)
                .map(|n| Key::new(n as f32, Vec3::from(euler::from_quat(turned(n), order))))
                .collect();
            unwrap_euler(&mut keys, order);
            for (n, key) in keys.iter().enumerate() {
                // Near the lock the outer angles lose the digits of the middle one's cosine, down to 0.02.
                assert!((key.value - angles(n)).norm() < 1e-4, "{order:?} {n}");
            }
        }
    }

    proptest! {
        #[test]
        fn filtered_angles_are_the_same_rotations(
            angles in prop::collection::vec(prop::array::uniform3(-7.0_f32..7.0), 1..9), order in 0..12_usize,
        ) {
            let order = EulerOrder::ALL[order];
            let mut keys: Vec<_> = (0..).zip(&angles).map(|(n, a)| Key::new(n as f32, Vec3::from(*a))).collect();
            unwrap_euler(&mut keys, order);
            for (key, angles) in keys.iter().zip(angles) {
                let [found, given] = [key.value.into(), angles].map(|angles| euler::to_quat(angles, order));
                // Angles of up to a few turns in f32, three of them.
                prop_assert!(quat::angle_between(found, given) < 3.0 * 64.0 * f32::EPSILON);
            }
        }

        #[test]
        fn a_wrapped_ramp_is_a_ramp_again(start in -3.0_f32..3.0, step in -3.0_f32..3.0) {
            let angles: Vec<_> = (0..50).map(|n| start + step * n as f32).collect();
            let wrapped: Vec<_> = angles.iter().map(|a| libm::remainderf(*a, TAU)).collect();
            let offset = angles[0] - wrapped[0];
            for (found, angle) in unwrapped(&wrapped).iter().zip(&angles) {
                // Each is one of up to 25 turns, rounded, and wrapped with a 2π that is rounded too.
                prop_assert!((found + offset - angle).abs() < 150.0 * 4.0 * f32::EPSILON);
            }
        }
    }
}
