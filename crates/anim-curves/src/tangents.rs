//! Velocities for keys that have none: what an animator's "auto", "flat" or "no overshoot" tangents are.
//!
//! Each function fills [`Key::velocity`] for an [`Interpolation::Cubic`](crate::Interpolation::Cubic) track from the
//! times and values alone. [`catmull_rom`] is the smooth default; [`monotone`] where a value must stay between its keys,
//! such as a planted foot or a weight in 0..1; [`kochanek_bartels`] where the animator shapes each key. Times may be
//! uneven. They touch neither times nor values, allocate nothing, cost O(keys), and leave it to
//! [`Track::new`](crate::Track::new) to refuse keys that are unsorted or not finite.
//!
//! Notation: a key has the spans h₋ and h₊, s, to its neighbours, and the slopes d₋ and d₊ of the straight lines to them.
//! A single key is at rest.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, tangents};
//!
//! let mut keys = vec![Key::new(0.0, 0.0_f32), Key::new(1.0, 1.0), Key::new(3.0, 9.0)];
//! tangents::catmull_rom(&mut keys);
//! let track = Track::new(keys, Interpolation::Cubic)?;
//! assert!((track.sample(2.0) - 4.0).abs() < 1e-5); // the keys lie on t², and so does the curve
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{Key, Linear};

/// Shapes one key of [`kochanek_bartels`]; all zero is the neutral spline. Usually each is in [−1, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tcb {
    /// How tight the bend: 1 stops at the key, −1 doubles the velocity.
    pub tension: f32,
    /// How sharp the corner: 0 is smooth, −1 is that of straight lines, 1 is a corner the other way.
    pub continuity: f32,
    /// Where the bend is: 1 overshoots after the key, −1 swings out before it.
    pub bias: f32,
}

/// Every key is at rest: the value eases in and out of each.
pub fn flat<T: Linear>(keys: &mut [Key<T>]) {
    for key in keys {
        let rest = key.value * 0.0;
        key.velocity = Some([rest, rest]);
    }
}

/// The mean of both slopes, v = (d₋ + d₊) / 2; the slope itself at the ends.
pub fn finite_difference<T: Linear>(keys: &mut [Key<T>]) {
    fill(keys, |keys, key| {
        let (before, after) = slopes(keys, key);
        smooth((before.rate + after.rate) * 0.5)
    });
}

/// The velocity of the parabola through each key and its neighbours, v = (h₊d₋ + h₋d₊) / (h₋ + h₊).
///
/// The ends take that of the parabola through their three nearest keys, so that keys on a parabola give the parabola;
/// with evenly spaced times v = (next − previous) / 2h, the classic Catmull-Rom.
///
/// Source: Catmull and Rom, "A class of local interpolating splines", 1974; uneven times by Barry and Goldman, "A
/// recursive evaluation algorithm for a class of Catmull-Rom splines", SIGGRAPH 1988, differentiated at its knots.
pub fn catmull_rom<T: Linear>(keys: &mut [Key<T>]) {
    fill(keys, |keys, key| smooth(parabola(keys, key)));
}

/// Tension, continuity and bias for each key, `shape(key index)`; the velocities in and out differ where it says so.
///
/// With p₋ and p₊ the differences of value to the neighbours, and t, c, b the shape:
/// in = (1−t) [(1−c)(1+b) p₋ + (1+c)(1−b) p₊] / (h₋ + h₊),
/// out = (1−t) [(1+c)(1+b) p₋ + (1−c)(1−b) p₊] / (h₋ + h₊).
/// An end key has its one span on both sides.
///
/// Source: Kochanek and Bartels, "Interpolating splines with local tension, continuity, and bias control", SIGGRAPH
/// 1984: the incoming and outgoing tangents DS and DD, adjusted for uneven times, as velocities a second.
pub fn kochanek_bartels<T: Linear>(keys: &mut [Key<T>], shape: impl Fn(usize) -> Tcb) {
    fill(keys, |keys, key| {
        let Tcb {
            tension: t,
            continuity: c,
            bias: b,
        } = shape(key);
        let (before, after) = slopes(keys, key);
        let both = before.span + after.span;
        // Differences of value over both spans.
        let before = before.rate * ((1.0 - t) * (1.0 + b) * (before.span / both));
        let after = after.rate * ((1.0 - t) * (1.0 - b) * (after.span / both));
        [
            before * (1.0 - c) + after * (1.0 + c),
            before * (1.0 + c) + after * (1.0 - c),
        ]
    });
}

/// As [`catmull_rom`], limited so that no component leaves the range between two keys, nor turns back between them.
///
/// A key higher or lower than both its neighbours, or level with one, is at rest in that component; elsewhere the
/// velocity is limited to 3 min(|d₋|, |d₊|). This is the square [0, 3]² inside the paper's region of monotonicity M; its
/// circle of radius 3 would make each key depend on the limits of the next.
///
/// Source: Fritsch and Carlson, "Monotone piecewise cubic interpolation", SIAM J. Numer. Anal. 17, 1980.
pub fn monotone<T: Linear>(keys: &mut [Key<T>]) {
    fill(keys, |keys, key| {
        let (before, after) = slopes(keys, key);
        let limit = before.rate.zip_with(after.rate, |before, after| {
            if (before > 0.0) == (after > 0.0) {
                let least = before.abs().min(after.abs());
                3.0 * least.copysign(before)
            } else {
                0.0
            }
        });
        smooth(parabola(keys, key).zip_with(limit, |velocity, limit| {
            velocity.clamp(limit.min(0.0), limit.max(0.0))
        }))
    });
}

/// A straight line between two keys.
#[derive(Clone, Copy)]
struct Slope<T> {
    /// Seconds.
    span: f32,
    /// Change of value a second.
    rate: T,
}

fn fill<T: Linear>(keys: &mut [Key<T>], velocity: impl Fn(&[Key<T>], usize) -> [T; 2]) {
    if keys.len() < 2 {
        return flat(keys);
    }
    for key in 0..keys.len() {
        keys[key].velocity = Some(velocity(keys, key));
    }
}

fn smooth<T: Copy>(velocity: T) -> [T; 2] {
    [velocity, velocity]
}

fn slope<T: Linear>(from: &Key<T>, to: &Key<T>) -> Slope<T> {
    let span = to.time - from.time;
    Slope {
        span,
        rate: (to.value - from.value) * (1.0 / span),
    }
}

/// The slopes before and after `key`; the one there is, twice, at an end.
fn slopes<T: Linear>(keys: &[Key<T>], key: usize) -> (Slope<T>, Slope<T>) {
    let before = |key: usize| slope(&keys[key - 1], &keys[key]);
    if key == 0 {
        (before(1), before(1))
    } else if key + 1 == keys.len() {
        (before(key), before(key))
    } else {
        (before(key), before(key + 1))
    }
}

/// The velocity at `key` of the parabola through it and its two nearest keys.
fn parabola<T: Linear>(keys: &[Key<T>], key: usize) -> T {
    let last = keys.len() - 1;
    if last == 1 {
        return slope(&keys[0], &keys[1]).rate;
    }
    let middle = key.clamp(1, last - 1);
    let (before, after) = slopes(keys, middle);
    let both = before.span + after.span;
    let velocity = before.rate * (after.span / both) + after.rate * (before.span / both);
    // The parabola's slope over a span is the mean of the velocities at its ends.
    if key < middle {
        before.rate * 2.0 - velocity
    } else if key > middle {
        after.rate * 2.0 - velocity
    } else {
        velocity
    }
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;
    use crate::{Interpolation, Track};

    fn keys(of: &[(f32, f32)]) -> Vec<Key<f32>> {
        of.iter().map(|(t, v)| Key::new(*t, *v)).collect()
    }

    fn velocities(keys: &[Key<f32>]) -> Vec<[f32; 2]> {
        keys.iter().map(|key| key.velocity.unwrap()).collect()
    }

    const UNEVEN: [(f32, f32); 4] = [(0.0, 1.0), (1.0, 3.0), (3.0, 1.0), (3.5, 0.0)];

    #[test]
    fn catmull_rom_reproduces_a_parabola_at_uneven_times() {
        let value = |t: f32| Vec3::new(t * t, 3.0 * t - 2.0 * t * t, 5.0);
        let times = [-1.0, 0.5, 1.0, 4.0];
        let mut keys: Vec<_> = times.iter().map(|t| Key::new(*t, value(*t))).collect();
        catmull_rom(&mut keys);
        let track = Track::new(keys, Interpolation::Cubic).unwrap();
        for n in 0..=50 {
            let time = -1.0 + n as f32 * 0.1;
            // A few roundings of values up to 2·4² + 3·4.
            assert!((track.sample(time) - value(time)).norm() < 44.0 * 8.0 * f32::EPSILON);
        }
    }

    #[test]
    fn catmull_rom_at_even_times_is_half_the_chord_to_the_neighbours() {
        let mut even = keys(&[(0.0, 0.0), (0.5, 2.0), (1.0, 3.0), (1.5, -1.0)]);
        catmull_rom(&mut even);
        assert_eq!(velocities(&even)[1..3], [[3.0, 3.0], [-3.0, -3.0]]);
    }

    #[test]
    fn mean_slopes_are_one_sided_at_the_ends() {
        let mut keys = keys(&UNEVEN);
        finite_difference(&mut keys);
        let expected = [2.0, 0.5, -1.5, -2.0].map(smooth);
        assert_eq!(velocities(&keys), expected);
    }

    #[test]
    fn neutral_tcb_is_the_chord_between_the_neighbours() {
        let mut keys = keys(&UNEVEN);
        kochanek_bartels(&mut keys, |_| Tcb::default());
        let velocities = velocities(&keys);
        for (found, expected) in velocities.iter().zip([2.0, 0.0, -1.2, -2.0]) {
            assert!((found[0] - expected).abs() < 4.0 * f32::EPSILON);
            assert_eq!(found[0], found[1]);
        }
    }

    #[test]
    fn full_tension_rests_and_full_negative_continuity_is_straight() {
        let mut rest = keys(&UNEVEN);
        kochanek_bartels(&mut rest, |_| Tcb {
            tension: 1.0,
            ..Tcb::default()
        });
        assert!(velocities(&rest).iter().flatten().all(|v| *v == 0.0));

        let mut straight = keys(&[(0.0, 1.0), (1.0, 3.0), (2.0, -2.0)]);
        kochanek_bartels(&mut straight, |_| Tcb {
            continuity: -1.0,
            ..Tcb::default()
        });
        assert_eq!(
            velocities(&straight),
            [[2.0, 2.0], [2.0, -5.0], [-5.0, -5.0]]
        );
    }

    #[test]
    fn full_bias_looks_at_one_side_only() {
        let shaped = |bias: f32| {
            let mut keys = keys(&[(0.0, 1.0), (1.0, 3.0), (2.0, -2.0)]);
            kochanek_bartels(&mut keys, |_| Tcb {
                bias,
                ..Tcb::default()
            });
            velocities(&keys)[1]
        };
        assert_eq!(shaped(1.0), [2.0, 2.0]);
        assert_eq!(shaped(-1.0), [-5.0, -5.0]);
    }

    #[test]
    fn monotone_rests_at_peaks_and_plateaus_and_limits_slopes_elsewhere() {
        let mut keys = keys(&[(0.0, 0.0), (1.0, 1.0), (2.0, 11.0), (3.0, 11.0), (4.0, 0.0)]);
        monotone(&mut keys);
        // The mean slope at the second key, 5.5, is over three times the slope before it, 1.
        let expected = [0.0, 3.0, 0.0, 0.0, -16.5].map(smooth);
        assert_eq!(velocities(&keys), expected);
    }

    #[test]
    fn one_key_rests_and_two_keys_are_a_line() {
        for fill in [catmull_rom::<f32>, finite_difference, monotone] {
            let mut one = keys(&[(1.0, 7.0)]);
            fill(&mut one);
            assert_eq!(velocities(&one), [[0.0, 0.0]]);
            let mut two = keys(&[(1.0, 7.0), (3.0, 8.0)]);
            fill(&mut two);
            assert_eq!(velocities(&two), [[0.5, 0.5], [0.5, 0.5]]);
            fill(&mut []);
        }
    }

    proptest! {
        #[test]
        fn monotone_never_overshoots_nor_turns_back(
            spans in prop::collection::vec((0.01_f32..5.0, -1_i8..3, -10.0_f32..10.0), 2..12),
        ) {
            // Some spans are level, which random values alone never are.
            let (mut time, mut value) = (0.0, 0.0);
            let mut keys = vec![Key::new(time, value)];
            for (span, level, step) in spans {
                time += span;
                value += if level < 0 { 0.0 } else { step };
                keys.push(Key::new(time, value));
            }
            monotone(&mut keys);
            let track = Track::new(keys.clone(), Interpolation::Cubic).unwrap();
            for pair in keys.windows(2) {
                let (low, high) = (pair[0].value.min(pair[1].value), pair[0].value.max(pair[1].value));
                // Eight roundings of terms no larger than 3 × the larger value and slope × span.
                let slack = 24.0 * f32::EPSILON * (low.abs() + high.abs() + 1.0);
                let way = (pair[1].value - pair[0].value).signum();
                let mut before = pair[0].value;
                for n in 1..=64 {
                    let time = pair[0].time + (pair[1].time - pair[0].time) * (n as f32 / 64.0);
                    let value = track.sample(time);
                    prop_assert!(value >= low - slack && value <= high + slack);
                    prop_assert!((value - before) * way >= -slack);
                    before = value;
                }
            }
        }

        #[test]
        fn reversing_time_reverses_velocities(values in prop::collection::vec(-9.0_f32..9.0, 2..8)) {
            let forward: Vec<_> = values.iter().enumerate().map(|(n, v)| Key::new(n as f32, *v)).collect();
            let backward: Vec<_> = values.iter().rev().enumerate().map(|(n, v)| Key::new(n as f32, *v)).collect();
            for fill in [catmull_rom::<f32>, finite_difference, monotone] {
                let (mut forward, mut backward) = (forward.clone(), backward.clone());
                fill(&mut forward);
                fill(&mut backward);
                for (a, b) in velocities(&forward).iter().zip(velocities(&backward).iter().rev()) {
                    prop_assert!((a[0] + b[1]).abs() <= 36.0 * 4.0 * f32::EPSILON);
                }
            }
        }
    }
}
