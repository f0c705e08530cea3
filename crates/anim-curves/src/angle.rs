//! Angles on a track: numbers in radians, interpolated as they stand, so that two turns stay two turns.
//!
//! A wheel, a knob or an Euler channel is a `Track<f32>`: going from 0 to 4π is two full turns, which no rotation can
//! tell from none. Angles that were measured, or read off rotations, jump by a turn where they wrap; [`unwrap`] takes
//! those jumps out first. For orientations use a track of rotations, which takes the short arc by itself.
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

use std::f64::consts::TAU;

use crate::Key;

/// Adds whole turns to each value, rad, so that none is more than half a turn from the one before; the first stays.
///
/// Keys a half turn apart stay as they are. Velocities are left alone, as a whole turn does not change them; so is a
/// value that is not finite, for [`Track::new`](crate::Track::new) to refuse.
pub fn unwrap(keys: &mut [Key<f32>]) {
    for key in 1..keys.len() {
        let jump = f64::from(keys[key].value) - f64::from(keys[key - 1].value);
        // Half a turn either way is kept: rounding away from zero would turn it into the other one.
        let turns = if jump.abs() * (1.0 - f64::from(f32::EPSILON)) <= 0.5 * TAU {
            0.0
        } else {
            libm::round(jump / TAU)
        };
        if turns.is_finite() {
            keys[key].value = (f64::from(keys[key].value) - turns * TAU) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{PI, TAU};

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

    proptest! {
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
