//! Fitting: few cubic keys for many samples.
//!
//! Motion capture, simulation and baked rigs give a value at every frame; animators and small files want a few keys and
//! smooth curves between. Unlike [`reduce()`](crate::reduce()), fitting may move the values of the keys and choose their velocities,
//! and a smooth curve needs far fewer cubic keys than straight spans. What is smooth stays smooth: a key's velocity is the
//! same on both sides, except at corners and jumps of the samples.
//!
//! 1. Each sample gets the velocity of the parabola through its neighbours; corners stand out as samples whose parabolas
//!    on both sides disagree, and get one of each.
//! 2. Keys are chosen as far apart as that cubic allows within a tolerance.
//! 3. Their values and velocities are moved to fit all samples by least squares, all keys at once.
//! 4. The result is compared with all samples. Fitting lowers the error, so the choice of keys may be looser than what is
//!    asked for; how much is found by bisection.
//!
//! Source: after Schneider, "An algorithm for automatically fitting digitized curves", Graphics Gems, 1990, for curves
//! over time instead of in the plane, with the keys' velocities from the whole curve instead of one span at a time.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, fit};
//!
//! let cubic = |t: f32| t * t * t - 3.0 * t;
//! let samples = (0..=100).map(|n| n as f32 * 0.03).map(|t| Key::new(t, cubic(t)));
//! let samples = Track::new(samples.collect(), Interpolation::Linear)?;
//! let fitted = fit(&samples, 1e-3)?;
//! assert_eq!(fitted.times(), [0.0, 3.0]);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use anim_math::Quat;
use nalgebra::SVector;

use crate::banded::BandedSystem;
use crate::interpolate::{fraction, hermite_weights};
use crate::reduce::farthest_samples;
use crate::{CurveError, Distance, Interpolate, Interpolation, Key, Linear, Track, tangents};

/// A value that cubic keys can be fitted to: it has coordinates in the vector space of its velocities.
pub trait Fit: Distance<Velocity: Linear + Distance> {
    /// Its coordinates.
    fn coordinates(self) -> Self::Velocity;

    /// Of several ways to write the same value, the nearest to `before`: q or −q.
    fn aligned(self, before: Self) -> Self {
        let _ = before;
        self
    }

    /// The key whose value is nearest to `coordinates`.
    fn key(time: f32, coordinates: Self::Velocity, velocity: [Self::Velocity; 2]) -> Key<Self>;
}

impl Fit for f32 {
    fn coordinates(self) -> f32 {
        self
    }

    fn key(time: f32, value: f32, velocity: [f32; 2]) -> Key<f32> {
        linear_key(time, value, velocity)
    }
}

impl<const N: usize> Fit for SVector<f32, N> {
    fn coordinates(self) -> Self {
        self
    }

    fn key(time: f32, value: Self, velocity: [Self; 2]) -> Key<Self> {
        linear_key(time, value, velocity)
    }
}

impl Fit for Quat {
    fn coordinates(self) -> Self::Velocity {
        self.coords
    }

    fn aligned(self, before: Self) -> Self {
        if self.coords.dot(&before.coords) < 0.0 {
            Quat::new_unchecked(-self.into_inner())
        } else {
            self
        }
    }

    fn key(time: f32, coordinates: Self::Velocity, velocity: [Self::Velocity; 2]) -> Key<Self> {
        // The curve is normalised where it is sampled, so its length is free.
        let unit = 1.0 / coordinates.norm();
        Key {
            time,
            value: Quat::new_unchecked((coordinates * unit).into()),
            velocity: Some(velocity.map(|velocity| velocity * unit)),
        }
    }
}

fn linear_key<T: Linear>(time: f32, value: T, velocity: [T; 2]) -> Key<T> {
    Key {
        time,
        value,
        velocity: Some(velocity),
    }
}

/// Fits a cubic track to `samples` that meets each of them within `tolerance` by [`Distance::distance`].
///
/// The first and last sample are met exactly, and all keys stand at times of samples. Between samples the result is as
/// smooth as the keys; the way `samples` interpolates makes no difference. Rotations may be sampled with any signs.
/// Samples must be dense enough that neighbouring parabolas tell corners from curves, some ten to a bend; and noise
/// larger than the tolerance is fitted like motion.
///
/// O(n log n) for n samples, times a constant number of trials. For tools.
///
/// # Errors
///
/// [`CurveError::Tolerance`] if `tolerance` is negative or NaN, [`CurveError::NotFinite`] if differences of the samples
/// overflow.
pub fn fit<T: Fit>(samples: &Track<T>, tolerance: f32) -> Result<Track<T>, CurveError> {
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(CurveError::Tolerance { tolerance });
    }
    let samples = Samples::new(samples, tolerance);
    let dense = samples.track(&samples.keys)?;
    let mut best = dense.clone();
    if samples.keys.len() == 1 {
        return Ok(best);
    }
    let (mut tight, mut loose) = (0.0, LOOSEST);
    for _ in 0..TRIALS {
        let factor = 0.5 * (tight + loose);
        let kept = farthest_samples(&dense, tolerance * factor, T::distance);
        let fitted = samples.track(&samples.least_squares(&kept));
        match fitted {
            Ok(fitted) if samples.are_within(&fitted, tolerance) => {
                best = fitted;
                tight = factor;
            }
            _ => loose = factor,
        }
    }
    Ok(best)
}

/// Keys are chosen with a tolerance up to this many times as large as what is asked for.
const LOOSEST: f32 = 8.0;
/// Halvings of that range.
const TRIALS: usize = 8;
/// A corner's parabolas disagree by this many tolerances a sample...
const CORNER_SIZE: f32 = 4.0;
/// ...and by this many times as much as three samples away, where they do not see the corner.
const CORNER_CONTRAST: f32 = 8.0;
/// What a change of a velocity costs, as a part of what a whole span of samples does: enough to leave a velocity alone
/// that no sample tells.
const STIFFNESS: f64 = 1e-6;

/// What is to be fitted.
struct Samples<'a, T: Fit> {
    track: &'a Track<T>,
    /// All samples, as keys in the space of coordinates, with the velocities of parabolas.
    keys: Vec<Key<T::Velocity>>,
}

impl<'a, T: Fit> Samples<'a, T> {
    fn new(track: &'a Track<T>, tolerance: f32) -> Self {
        let mut before = track.values()[0];
        let values = track.values().iter().map(|value| {
            before = value.aligned(before);
            before.coordinates()
        });
        let keys = track.times().iter().zip(values);
        let mut keys: Vec<_> = keys.map(|(time, value)| Key::new(*time, value)).collect();
        for pair in corners(&keys, tolerance).windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let reached = keys[from].velocity;
            tangents::catmull_rom(&mut keys[from..=to]);
            if let (Some([reach, _]), Some([_, leave])) = (reached, keys[from].velocity) {
                keys[from].velocity = Some([reach, leave]);
            }
        }
        Self { track, keys }
    }

    /// The cubic track of keys given by coordinates.
    fn track(&self, keys: &[Key<T::Velocity>]) -> Result<Track<T>, CurveError> {
        let keys = keys.iter().filter_map(|key| {
            let velocity = key.velocity?;
            Some(T::key(key.time, key.value, velocity))
        });
        Track::new(keys.collect(), Interpolation::Cubic)
    }

    /// The samples `kept` as keys, values and velocities corrected so that Σ |sample − curve|² is least.
    ///
    /// The unknowns are the corrections: a value a key, but not of the first and last, and a velocity, or two at a corner.
    fn least_squares(&self, kept: &[usize]) -> Vec<Key<T::Velocity>> {
        let mut keys: Vec<_> = kept.iter().map(|sample| self.keys[*sample]).collect();
        let mut unknowns = 0;
        let places: Vec<_> = keys
            .iter()
            .map(|key| {
                let is_corner = key.velocity.is_some_and(|[reach, leave]| reach != leave);
                let value = unknowns;
                unknowns += 2 + usize::from(is_corner);
                Place {
                    value,
                    reach: value + 1,
                    leave: value + 1 + usize::from(is_corner),
                }
            })
            .collect();
        let zero = keys[0].value * 0.0;
        let mut system = BandedSystem::new(vec![zero; unknowns]);
        for (pair, (ends, places)) in kept.windows(2).zip(keys.windows(2).zip(places.windows(2))) {
            let (Some([_, leave]), Some([reach, _])) = (ends[0].velocity, ends[1].velocity) else {
                continue;
            };
            let (start, end) = (ends[0].time, ends[1].time);
            for sample in &self.keys[pair[0] + 1..=pair[1]] {
                let alpha = fraction(start, end, sample.time);
                let curve = T::Velocity::hermite(
                    (ends[0].value, leave),
                    (ends[1].value, reach),
                    end - start,
                    alpha,
                );
                let [v0, b0, v1, a1] = hermite_weights(end - start, alpha).map(f64::from);
                let terms = [
                    (places[0].value, v0),
                    (places[0].leave, b0),
                    (places[1].value, v1),
                    (places[1].reach, a1),
                ];
                system.add_equation(&terms, sample.value - curve);
            }
            let stiffness = STIFFNESS * f64::from(end - start).powi(2);
            system.add_diagonal(places[0].leave, stiffness);
            system.add_diagonal(places[1].reach, stiffness);
        }
        let last = keys.len() - 1;
        for end in [0, last] {
            // So stiff that it does not move.
            system.add_diagonal(places[end].value, 1.0 / STIFFNESS.powi(2));
        }
        let corrections = system.solve();
        for (n, (key, place)) in keys.iter_mut().zip(&places).enumerate() {
            if n != 0 && n != last {
                key.value = key.value + corrections[place.value];
            }
            if let Some([reach, leave]) = &mut key.velocity {
                *reach = *reach + corrections[place.reach];
                *leave = *leave + corrections[place.leave];
            }
        }
        keys
    }

    fn are_within(&self, fitted: &Track<T>, tolerance: f32) -> bool {
        let mut samples = self.track.times().iter().zip(self.track.values());
        samples.all(|(time, value)| value.distance(fitted.sample(*time)) <= tolerance)
    }
}

/// Where the unknowns of a key are.
struct Place {
    value: usize,
    reach: usize,
    leave: usize,
}

/// The first sample, those where the curve bends or jumps at once, and the last.
fn corners<V: Linear + Distance>(keys: &[Key<V>], tolerance: f32) -> Vec<usize> {
    let last = keys.len() - 1;
    let bends: Vec<_> = (0..=last).map(|key| bend(keys, key)).collect();
    let bend_at = |key: Option<usize>| key.and_then(|key| *bends.get(key)?);
    let is_corner = |key: &usize| {
        let Some(bend) = bends[*key] else {
            return false;
        };
        let beside = [key.checked_sub(1), Some(key + 1)].map(bend_at);
        let far = [key.checked_sub(3), Some(key + 3)].map(bend_at);
        let Some(far) = far.into_iter().flatten().reduce(f32::max) else {
            return false;
        };
        let beside = beside.into_iter().flatten().fold(0.0, f32::max);
        let span = |from: usize| keys[from + 1].time - keys[from].time;
        let span = span(key - 1).min(span(*key));
        // Beside a corner the parabolas see half of it; the two ends of a jump see as much of it.
        bend > 0.75 * beside
            && bend > CORNER_CONTRAST * far
            && bend * span > CORNER_SIZE * tolerance
    };
    let mut corners = vec![0];
    corners.extend((1..last).filter(is_corner));
    corners.push(last);
    corners
}

/// How much the velocities at `key` of the parabolas on both sides of it disagree; `None` near the ends.
fn bend<V: Linear + Distance>(keys: &[Key<V>], key: usize) -> Option<f32> {
    let velocity_at = |end: usize, first: usize| {
        let mut piece = [keys[first], keys[first + 1], keys[first + 2]];
        tangents::catmull_rom(&mut piece);
        piece[end].velocity.map(|[velocity, _]| velocity)
    };
    if key < 2 || key + 2 >= keys.len() {
        return None;
    }
    Some(velocity_at(2, key - 2)?.distance(velocity_at(0, key)?))
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use anim_math::{Vec3, quat};
    use proptest::prelude::*;

    use super::*;

    fn sampled<T: Fit>(count: usize, duration: f32, value: impl Fn(f32) -> T) -> Track<T> {
        let times = (0..count).map(|n| duration * n as f32 / (count - 1) as f32);
        let keys = times.map(|t| Key::new(t, value(t)));
        Track::new(keys.collect(), Interpolation::Linear).unwrap()
    }

    fn worst<T: Fit>(samples: &Track<T>, fitted: &Track<T>) -> f32 {
        let samples = samples.times().iter().zip(samples.values());
        let distance = |(time, value): (&f32, &T)| value.distance(fitted.sample(*time));
        samples.map(distance).fold(0.0, f32::max)
    }

    /// Keys whose velocities differ on both sides.
    fn breaks<T: Fit>(track: &Track<T>) -> Vec<f32> {
        let keys = track.times().iter().zip(track.velocities());
        let broken = keys.filter(|(_, [reach, leave])| reach != leave);
        broken.map(|(time, _)| *time).collect()
    }

    #[test]
    fn a_cubic_gives_two_keys_with_its_velocities() {
        let cubic = |t: f32| Vec3::new(t * t * t, 1.0 - 2.0 * t * t, t);
        let samples = sampled(121, 2.0, cubic);
        let fitted = fit(&samples, 1e-4).unwrap();
        assert_eq!(fitted.times(), [0.0, 2.0]);
        assert_eq!(fitted.values(), [cubic(0.0), cubic(2.0)]);
        let exact = [Vec3::new(0.0, 0.0, 1.0), Vec3::new(12.0, -8.0, 1.0)];
        for ([reach, leave], exact) in fitted.velocities().iter().zip(exact) {
            assert!((leave - exact).norm() < 1e-3 && reach == leave, "{leave}");
        }
    }

    #[test]
    fn a_sine_takes_six_keys_a_period() {
        let samples = sampled(601, 10.0, |t| (TAU * t).sin());
        let fitted = fit(&samples, 1e-3).unwrap();
        assert!(worst(&samples, &fitted) <= 1e-3);
        assert!(fitted.times().len() <= 61, "{}", fitted.times().len());
        assert_eq!(breaks(&fitted), []);
        // And it is the sine between the samples.
        for n in 0..10_000 {
            let time = n as f32 * 0.001;
            assert!((fitted.sample(time) - (TAU * time).sin()).abs() < 1.2e-3);
        }
    }

    #[test]
    fn a_corner_and_a_jump_stay_sharp() {
        // A bounce at 1 s, a jump between 2 s and the next sample; parabolas between.
        let value = |t: f32| match t {
            ..1.0 => 1.0 - t * t,
            ..=2.0 => (t - 1.0) * (3.0 - t),
            _ => 5.0 + t * t * 0.1,
        };
        let samples = sampled(181, 3.0, value);
        let fitted = fit(&samples, 1e-3).unwrap();
        assert!(worst(&samples, &fitted) <= 1e-3);
        let corners = breaks(&fitted);
        assert_eq!(corners.len(), 3, "{corners:?}");
        assert_eq!(fitted.times().len(), 5, "{:?}", fitted.times());
        assert_eq!((corners[0], corners[1]), (1.0, 2.0));
    }

    #[test]
    fn a_turn_at_even_speed_takes_few_keys_and_any_signs() {
        let turn = |t: f32| {
            let q = quat::from_axis_angle(Vec3::z(), 3.0 * t);
            // Signs as a careless exporter writes them.
            if (t * 60.0).round() as i32 % 3 == 0 {
                Quat::new_unchecked(-q.into_inner())
            } else {
                q
            }
        };
        let samples = sampled(241, 4.0, turn);
        let fitted = fit(&samples, 1e-3).unwrap();
        assert!(worst(&samples, &fitted) <= 1e-3);
        assert!(fitted.times().len() <= 10, "{}", fitted.times().len());
        for n in 0..400 {
            let time = n as f32 * 0.01;
            let exact = quat::from_axis_angle(Vec3::z(), 3.0 * time);
            assert!(fitted.sample(time).distance(exact) < 1.5e-3);
        }
    }

    #[test]
    fn noise_within_the_tolerance_is_smoothed_away() {
        let noise = |t: f32| 1e-3 * (t * 1e5).sin();
        let samples = sampled(301, 1.0, |t| (2.0 * t).sin() + noise(t));
        let fitted = fit(&samples, 4e-3).unwrap();
        assert!(worst(&samples, &fitted) <= 4e-3);
        assert!(fitted.times().len() <= 4, "{}", fitted.times().len());
    }

    #[test]
    fn one_sample_and_two_are_keys() {
        let one = Track::new(vec![Key::new(3.0, 1.0_f32)], Interpolation::Linear).unwrap();
        assert_eq!(fit(&one, 0.1).unwrap().sample(0.0), 1.0);
        let two = vec![Key::new(0.0, 1.0_f32), Key::new(2.0, 5.0)];
        let two = Track::new(two, Interpolation::Linear).unwrap();
        let fitted = fit(&two, 0.0).unwrap();
        assert_eq!(fitted.sample(0.5), 2.0);
        for tolerance in [-1e-3, f32::NAN] {
            let error = fit(&two, tolerance).unwrap_err();
            assert!(matches!(error, CurveError::Tolerance { .. }));
        }
    }

    proptest! {
        #[test]
        fn every_sample_is_met_within_the_tolerance(
            steps in prop::collection::vec((0.01_f32..0.5, -1.0_f32..1.0, -1.0_f32..1.0), 1..80), tolerance in 0.0_f32..0.5,
        ) {
            let mut place = (0.0, Vec3::zeros());
            let keys: Vec<_> = steps.iter().map(|(step, x, y)| {
                place = (place.0 + step, place.1 + Vec3::new(*x, *y, x * y));
                Key::new(place.0, place.1)
            }).collect();
            let samples = Track::new(keys, Interpolation::Linear).unwrap();
            let fitted = fit(&samples, tolerance).unwrap();
            prop_assert!(worst(&samples, &fitted) <= tolerance);
            prop_assert_eq!(fitted.sample(-1.0), samples.values()[0]);
            prop_assert_eq!(fitted.end(), samples.end());
            prop_assert_eq!(fitted.sample(fitted.end()), samples.sample(samples.end()));
        }

        #[test]
        fn every_rotation_is_met_within_the_tolerance(
            turns in prop::collection::vec(any::<[i8; 3]>(), 1..60), tolerance in 0.0_f32..0.3,
        ) {
            let mut turned = Quat::identity();
            let keys = turns.iter().enumerate().map(|(n, turn)| {
                turned *= quat::exp(Vec3::from(turn.map(|part| f32::from(part) * 0.004)));
                Key::new(n as f32 * 0.1, turned)
            });
            let samples = Track::new(keys.collect(), Interpolation::Linear).unwrap();
            let fitted = fit(&samples, tolerance).unwrap();
            // At a tolerance of zero the samples themselves are the keys, but for the signs.
            prop_assert!(worst(&samples, &fitted) <= tolerance.max(1e-6));
        }
    }
}
