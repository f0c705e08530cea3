//! Key reduction: dropping the keys that a tolerance does not need.
//!
//! Captured and baked motion has a key at every frame; most say what their neighbours imply. What stays is a choice of
//! the source's own keys, the first and the last among them, so that times and poses an animator set survive. Where keys
//! may be moved, [`fit()`](crate::fit()) makes do with far fewer. For whole characters use anim-skeleton's reduction, which
//! knows what an error of a shoulder does to a finger.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, reduce};
//!
//! let hat = |n: u32| Key::new(n as f32, (10.0 - n as f32).abs());
//! let dense = Track::new((0..=20).map(hat).collect(), Interpolation::Linear)?;
//! let few = reduce(&dense, 1e-3)?;
//! assert_eq!(few.times(), [0.0, 10.0, 20.0]);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use anim_math::{Quat, quat};
use nalgebra::SVector;

use crate::{CurveError, Interpolate, Interpolation, Key, Track};

/// How far two values are apart.
pub trait Distance: Interpolate {
    /// Absolute for numbers, the length of the difference for vectors, the angle in [0, π], rad, for rotations.
    fn distance(self, other: Self) -> f32;
}

impl Distance for f32 {
    fn distance(self, other: Self) -> f32 {
        (self - other).abs()
    }
}

impl<const N: usize> Distance for SVector<f32, N> {
    fn distance(self, other: Self) -> f32 {
        (self - other).norm()
    }
}

impl Distance for Quat {
    fn distance(self, other: Self) -> f32 {
        quat::angle_between(self, other)
    }
}

/// Keeps few keys of `track` such that every sample stays within `tolerance` by [`Distance::distance`].
///
/// The first and the last key stay. Each kept key is followed by the farthest that a doubling search finds within reach;
/// the result has rarely more keys than [`reduce_to_fewest`]. Checked are all keys of the source and points between them
/// (one for linear tracks, seven for cubic ones); between keys a linear vector's error is never larger than at them. Cubic
/// keys keep their velocities; of step tracks only keys that repeat the value before them go, whatever the tolerance.
///
/// O(n log n) for n keys where the kept ones are about evenly many apart.
///
/// # Errors
///
/// [`CurveError::Tolerance`] if `tolerance` is negative or NaN.
pub fn reduce<T: Distance>(track: &Track<T>, tolerance: f32) -> Result<Track<T>, CurveError> {
    reduce_by(track, tolerance, T::distance)
}

/// As [`reduce`], with a distance of your own: what is seen, in steps of the display, in millimetres at the fingertip.
///
/// `error(source, reduced)` must be zero for equal values; NaN counts as too far.
///
/// # Errors
///
/// As [`reduce`].
pub fn reduce_by<T: Interpolate>(
    track: &Track<T>,
    tolerance: f32,
    error: impl Fn(T, T) -> f32,
) -> Result<Track<T>, CurveError> {
    reduce_along(track, tolerance, error, |spans| spans.farthest_keys())
}

/// As [`reduce`], but no choice of the track's keys that includes the first and last has fewer.
///
/// The shortest path over all spans within the tolerance, by dynamic programming: up to n² / 2 spans are looked at, each at
/// up to all of its keys. For some thousands of keys, once.
///
/// # Errors
///
/// As [`reduce`].
pub fn reduce_to_fewest<T: Distance>(
    track: &Track<T>,
    tolerance: f32,
) -> Result<Track<T>, CurveError> {
    let key_count = track.times().len();
    reduce_along(track, tolerance, T::distance, |spans| {
        // For each key the fewest spans that reach it, and where the last of them starts.
        let mut paths = vec![(0, 0)];
        for to in 1..key_count {
            let mut best = (paths[to - 1].0 + 1, to - 1);
            for (from, (spans_before, _)) in paths[..to - 1].iter().enumerate() {
                if spans_before + 1 < best.0 && spans.is_within(from, to) {
                    best = (spans_before + 1, from);
                }
            }
            paths.push(best);
        }
        let mut kept = vec![key_count - 1];
        while kept[kept.len() - 1] > 0 {
            kept.push(paths[kept[kept.len() - 1]].1);
        }
        kept.reverse();
        kept
    })
}

/// The keys that [`reduce_by`] keeps of dense samples, looking halfway between them; `tolerance` is zero or more.
pub(crate) fn farthest_samples<T: Interpolate>(
    samples: &Track<T>,
    tolerance: f32,
    error: impl Fn(T, T) -> f32,
) -> Vec<usize> {
    Spans::new(samples, 2, tolerance, error).farthest_keys()
}

fn reduce_along<T: Interpolate, E: Fn(T, T) -> f32>(
    track: &Track<T>,
    tolerance: f32,
    error: E,
    choose: impl FnOnce(&mut Spans<'_, T, E>) -> Vec<usize>,
) -> Result<Track<T>, CurveError> {
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(CurveError::Tolerance { tolerance });
    }
    let kept = match track.interpolation() {
        Interpolation::Step => changes(track.values()),
        Interpolation::Linear => choose(&mut Spans::new(track, 2, tolerance, error)),
        Interpolation::Cubic => choose(&mut Spans::new(track, 8, tolerance, error)),
    };
    let keys = kept.into_iter().map(|key| Key {
        time: track.times()[key],
        value: track.values()[key],
        velocity: track.velocities().get(key).copied(),
    });
    Track::new(keys.collect(), track.interpolation())
}

/// The first key, those that differ from the one before, and the last.
fn changes<T: PartialEq>(values: &[T]) -> Vec<usize> {
    let last = values.len() - 1;
    (0..=last)
        .filter(|key| *key == 0 || *key == last || values[*key] != values[*key - 1])
        .collect()
}

/// Tells which spans between two keys of a track may do without the keys between.
struct Spans<'a, T: Interpolate, E> {
    track: &'a Track<T>,
    tolerance: f32,
    error: E,
    /// Times and values to compare, `per_span` from each key on but the last.
    checks: Vec<(f32, T)>,
    per_span: usize,
    /// The check that failed last, which is likely to fail again for a neighbouring span.
    failed: usize,
}

impl<'a, T: Interpolate, E: Fn(T, T) -> f32> Spans<'a, T, E> {
    fn new(track: &'a Track<T>, per_span: usize, tolerance: f32, error: E) -> Self {
        let times = track.times().windows(2).flat_map(|pair| {
            let step = (pair[1] - pair[0]) / per_span as f32;
            (0..per_span).map(move |n| pair[0] + step * n as f32)
        });
        Self {
            track,
            tolerance,
            error,
            checks: times.map(|time| (time, track.sample(time))).collect(),
            per_span,
            failed: 0,
        }
    }

    fn is_within(&mut self, from: usize, to: usize) -> bool {
        let checks = from * self.per_span + 1..to * self.per_span;
        let is_near = |check: &usize| {
            let (time, exact) = self.checks[*check];
            (self.error)(exact, self.track.between(from, to, time)) <= self.tolerance
        };
        if to - from == 1 {
            return true;
        }
        if checks.contains(&self.failed) && !is_near(&self.failed) {
            return false;
        }
        let failed = checks.clone().find(|check| !is_near(check));
        self.failed = failed.unwrap_or(self.failed);
        failed.is_none()
    }

    fn farthest_keys(&mut self) -> Vec<usize> {
        let last = self.track.times().len() - 1;
        let mut kept = vec![0];
        let mut from = 0;
        while from < last {
            from = self.farthest(from, last);
            kept.push(from);
        }
        kept
    }

    /// A key after `from` that is within reach, found by doubling the distance, halving the doubt, and looking as far again.
    fn farthest(&mut self, from: usize, last: usize) -> usize {
        let (mut within, mut beyond) = (from + 1, last + 1);
        let mut reach = 2;
        while within < last && beyond > last {
            let to = last.min(from + reach);
            if self.is_within(from, to) {
                within = to;
            } else {
                beyond = to;
            }
            reach *= 2;
        }
        while beyond <= last && beyond - within > 1 {
            let middle = within.midpoint(beyond);
            if self.is_within(from, middle) {
                within = middle;
            } else {
                beyond = middle;
            }
        }
        // A span may be within reach where a shorter one is not: across an inflection, for one.
        let farthest = last.min(from + 2 * (within - from));
        let farther = (within + 1..=farthest)
            .rev()
            .find(|to| self.is_within(from, *to));
        farther.unwrap_or(within)
    }
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;

    fn sampled(count: usize, step: f32, value: impl Fn(f32) -> f32) -> Track<f32> {
        let keys = (0..count)
            .map(|n| n as f32 * step)
            .map(|t| Key::new(t, value(t)));
        Track::new(keys.collect(), Interpolation::Linear).unwrap()
    }

    /// The largest distance at the source's keys and at nine points between each two.
    fn worst<T: Distance>(source: &Track<T>, reduced: &Track<T>) -> f32 {
        let between = source
            .times()
            .windows(2)
            .flat_map(|pair| (0..10).map(move |n| pair[0] + (pair[1] - pair[0]) * 0.1 * n as f32));
        let times = between.chain([source.end()]);
        let distance = |time| source.sample(time).distance(reduced.sample(time));
        times.map(distance).fold(0.0, f32::max)
    }

    #[test]
    fn a_line_keeps_its_ends() {
        let track = sampled(1000, 0.25, |t| 3.0 - 2.0 * t);
        for reduced in [reduce(&track, 1e-3), reduce_to_fewest(&track, 1e-3)] {
            assert_eq!(reduced.unwrap().times(), [0.0, 249.75]);
        }
    }

    #[test]
    fn a_parabola_keeps_a_key_every_two_roots_of_the_tolerance() {
        // A chord of length h leaves t² by h²/4.
        let (tolerance, step) = (1e-2_f32, 1.0 / 128.0);
        let track = sampled(1281, step, |t| t * t);
        let expected = 10.0 / (2.0 * tolerance.sqrt());
        let reduced = reduce(&track, tolerance).unwrap();
        let spans = (reduced.times().len() - 1) as f32;
        // Spans are whole numbers of steps, up to one too short.
        assert!(
            (expected..=expected * 1.06 + 1.0).contains(&spans),
            "{spans}"
        );
        assert!(worst(&track, &reduced) <= tolerance);
    }

    #[test]
    fn corners_stay_at_tolerance_zero() {
        let zigzag = sampled(101, 0.5, |t| if t as i32 % 2 == 0 { 0.0 } else { t });
        assert_eq!(reduce(&zigzag, 0.0).unwrap(), zigzag);
        assert_eq!(reduce_to_fewest(&zigzag, 0.0).unwrap(), zigzag);
    }

    #[test]
    fn a_turn_at_even_speed_keeps_what_the_short_arc_needs() {
        // Ten turns of 41 keys: slerp follows 20 spans of a turn, which are less than half of it.
        let keys = (0..=410).map(|n| {
            let turns = n as f32 / 41.0;
            let angle = std::f32::consts::TAU * turns;
            Key::new(turns, quat::from_axis_angle(Vec3::z(), angle))
        });
        let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
        let reduced = reduce_to_fewest(&track, 1e-4).unwrap();
        assert_eq!(reduced.times().len(), 1 + 410_usize.div_ceil(20));
        assert!(worst(&track, &reduced) <= 1e-4);
    }

    #[test]
    fn a_smooth_cubic_track_drops_keys_and_keeps_velocities() {
        // Four keys a second of a cubic polynomial, which two keys hold.
        let value = |t: f32| t * t * t - 3.0 * t;
        let keys = (0..=16).map(|n| n as f32 / 4.0).map(|t| Key {
            time: t,
            value: value(t),
            velocity: Some([3.0 * t * t - 3.0; 2]),
        });
        let track = Track::new(keys.collect(), Interpolation::Cubic).unwrap();
        let reduced = reduce(&track, 1e-4).unwrap();
        assert_eq!(reduced.times(), [0.0, 4.0]);
        assert_eq!(reduced.velocities(), [[-3.0; 2], [45.0; 2]]);
        assert!(worst(&track, &reduced) <= 1e-4);
    }

    #[test]
    fn a_bump_between_cubic_keys_is_seen() {
        let key = |time, slope| Key {
            time,
            value: 0.0,
            velocity: Some([slope; 2]),
        };
        let keys = vec![key(0.0, 0.0), key(1.0, 1.0), key(2.0, 0.0)];
        let track = Track::new(keys, Interpolation::Cubic).unwrap();
        // All values are zero, but the way between them leaves it by 4/27.
        assert_eq!(reduce(&track, 0.1).unwrap().times().len(), 3);
        assert_eq!(reduce(&track, 0.15).unwrap().times().len(), 2);
    }

    #[test]
    fn steps_lose_repeated_keys_only() {
        let values = [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.001, 1.001, 1.001];
        let keys = values
            .iter()
            .enumerate()
            .map(|(n, v)| Key::new(n as f32, *v));
        let track = Track::new(keys.collect(), Interpolation::Step).unwrap();
        let reduced = reduce(&track, 10.0).unwrap();
        assert_eq!(reduced.times(), [0.0, 3.0, 5.0, 6.0, 8.0]);
        for n in 0..100 {
            let time = n as f32 * 0.1;
            assert_eq!(track.sample(time), reduced.sample(time));
        }
    }

    #[test]
    fn the_distance_may_be_ones_own() {
        let track = sampled(101, 0.1, |t| t * t);
        let relative = |a: f32, b: f32| (a - b).abs() / (1.0 + a);
        let reduced = reduce_by(&track, 0.01, relative).unwrap();
        assert!(reduced.times().len() < reduce(&track, 0.01).unwrap().times().len());
        for (time, value) in track.times().iter().zip(track.values()) {
            assert!(relative(*value, reduced.sample(*time)) <= 0.01);
        }
        assert_eq!(reduce_by(&track, 1.0, |_, _| f32::NAN).unwrap(), track);
    }

    #[test]
    fn senseless_tolerances_are_refused_and_one_key_is_left_alone() {
        let track = sampled(1, 1.0, |_| 4.0);
        for tolerance in [-1.0, f32::NAN] {
            let error = reduce(&track, tolerance).unwrap_err();
            assert!(matches!(error, CurveError::Tolerance { .. }));
        }
        assert_eq!(reduce(&track, 0.0).unwrap(), track);
        assert_eq!(reduce_to_fewest(&track, f32::INFINITY).unwrap(), track);
    }

    /// The fewest keys by trying every choice.
    fn fewest_by_force(track: &Track<f32>, tolerance: f32) -> usize {
        let count = track.times().len();
        let choices = 0_u32..1 << (count - 2);
        let kept = |choice: u32| {
            (0..count).filter(move |k| *k == 0 || *k == count - 1 || choice >> (k - 1) & 1 == 1)
        };
        let is_within = |choice: &u32| {
            let keys = kept(*choice).map(|k| Key::new(track.times()[k], track.values()[k]));
            let reduced = Track::new(keys.collect(), Interpolation::Linear).unwrap();
            let mut keys = track.times().iter().zip(track.values());
            keys.all(|(time, value)| (reduced.sample(*time) - value).abs() <= tolerance)
        };
        choices
            .filter(is_within)
            .map(|c| kept(c).count())
            .min()
            .unwrap()
    }

    proptest! {
        #[test]
        fn every_source_key_is_met_within_the_tolerance(
            steps in prop::collection::vec((0.01_f32..1.0, -1.0_f32..1.0, -2.0_f32..2.0), 1..60),
            tolerance in 0.0_f32..1.0, cubic: bool,
        ) {
            let mut place = (0.0, Vec3::zeros());
            let keys: Vec<_> = steps.iter().map(|(step, value, velocity)| {
                place = (place.0 + step, place.1 + Vec3::new(*value, value * value, 0.1));
                let velocity = Some([Vec3::repeat(*velocity), Vec3::repeat(*velocity)]);
                Key { time: place.0, value: place.1, velocity }
            }).collect();
            let interpolation = if cubic { Interpolation::Cubic } else { Interpolation::Linear };
            let track = Track::new(keys, interpolation).unwrap();
            let before = track.clone();
            for reduced in [reduce(&track, tolerance).unwrap(), reduce_to_fewest(&track, tolerance).unwrap()] {
                for (time, value) in track.times().iter().zip(track.values()) {
                    prop_assert!(reduced.sample(*time).distance(*value) <= tolerance);
                }
                // Between points that were checked a cubic may bulge by a little more.
                let slack = if cubic { 0.05 } else { 1e-5 };
                prop_assert!(worst(&track, &reduced) <= tolerance + slack);
                prop_assert_eq!(reduced.times()[0], track.times()[0]);
                prop_assert_eq!(reduced.end(), track.end());
                prop_assert!(reduced.times().iter().all(|time| track.times().contains(time)));
            }
            prop_assert_eq!(&track, &before);
        }

        #[test]
        fn rotations_stay_within_their_angle(
            turns in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0, -1.0_f32..1.0), 2..60), tolerance in 0.0_f32..0.5,
        ) {
            let mut turned = Quat::identity();
            let keys = turns.iter().enumerate().map(|(n, (x, y, z))| {
                turned = quat::exp(Vec3::new(*x, *y, *z) * 0.5) * turned;
                Key::new(n as f32, turned)
            });
            let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
            let reduced = reduce(&track, tolerance).unwrap();
            for (time, value) in track.times().iter().zip(track.values()) {
                prop_assert!(reduced.sample(*time).distance(*value) <= tolerance);
            }
        }

        #[test]
        fn the_fewest_keys_are_the_fewest_of_all_choices(
            values in prop::collection::vec(-1.0_f32..1.0, 2..11), tolerance in 0.0_f32..1.0,
        ) {
            let keys = values.iter().enumerate().map(|(n, v)| Key::new(n as f32, *v));
            let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
            let fewest = reduce_to_fewest(&track, tolerance).unwrap().times().len();
            // Points between keys are checked too, where rounding may forbid what is just allowed at the keys.
            prop_assert_eq!(fewest, fewest_by_force(&track, tolerance));
            prop_assert!(reduce(&track, tolerance).unwrap().times().len() >= fewest);
        }
    }
}
