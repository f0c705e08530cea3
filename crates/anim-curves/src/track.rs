//! One animated value: sorted keys and the way between them.
//!
//! Sampling is defined for every time: before the first key the first value holds, after the last key the last. A sample
//! depends on the time alone; a [`Cursor`] only makes finding it cheaper.
//!
//! ```
//! use anim_curves::{Cursor, Interpolation, Key, Track};
//!
//! let keys = vec![Key::new(0.0, 0.0_f32), Key::new(1.0, 10.0), Key::new(4.0, 40.0)];
//! let track = Track::new(keys, Interpolation::Linear)?;
//! let mut cursor = Cursor::default();
//! for frame in 0..120 {
//!     let time = frame as f32 / 30.0;
//!     assert_eq!(track.sample_from(time, &mut cursor), track.sample(time));
//! }
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::interpolate::fraction;
use crate::{CurveError, Interpolate};

/// The way from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interpolation {
    /// Hold each key until the next.
    Step,
    /// Straight, or along the short arc.
    #[default]
    Linear,
    /// Cubic Hermite with the velocities stored in the keys (glTF's CUBICSPLINE).
    Cubic,
}

/// A value at a time, with its velocities if the track is cubic.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct Key<T: Interpolate> {
    /// Seconds; negative ones are allowed, and glTF's refusal of them is its importer's to check.
    pub time: f32,
    /// The value there.
    pub value: T,
    /// Velocity on reaching and on leaving the key, 1/s.
    #[serde(default)]
    pub velocity: Option<[T::Velocity; 2]>,
}

impl<T: Interpolate> Key<T> {
    /// A key without velocities.
    pub fn new(time: f32, value: T) -> Self {
        Self {
            time,
            value,
            velocity: None,
        }
    }
}

/// What a [`Track`] is made of, for editing and serde.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "", deny_unknown_fields)]
pub struct TrackSpec<T: Interpolate> {
    /// Strictly rising times.
    pub keys: Vec<Key<T>>,
    /// The way between them.
    #[serde(default)]
    pub interpolation: Interpolation,
}

impl<T: Interpolate> TrackSpec<T> {
    /// What a lenient importer makes of careless keys: sorted by time, keys without a finite time dropped, and of several
    /// at one time the last stands there while the first moves to just before it, so that the value jumps.
    pub fn repaired(mut self) -> Self {
        self.keys.retain(|key| key.time.is_finite());
        self.keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut keys: Vec<Key<T>> = Vec::with_capacity(self.keys.len());
        for same in self.keys.chunk_by(|a, b| a.time == b.time) {
            let jump = same[0].time.next_down();
            let room = jump.is_finite() && keys.last().is_none_or(|before| before.time < jump);
            if same.len() > 1 && room {
                keys.push(Key {
                    time: jump,
                    ..same[0]
                });
            }
            keys.push(same[same.len() - 1]);
        }
        Self { keys, ..self }
    }
}

/// Where a sampler last was in a track, so that playback does not search; any value is valid for any track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(u32);

/// A validated curve: at least one key, times strictly rising, everything finite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TrackSpec<T>", into = "TrackSpec<T>", bound = "")]
pub struct Track<T: Interpolate> {
    times: Vec<f32>,
    values: Vec<T>,
    velocities: Vec<[T::Velocity; 2]>,
    interpolation: Interpolation,
}

impl<T: Interpolate> Track<T> {
    /// Builds a track of `keys`.
    ///
    /// # Errors
    ///
    /// [`CurveError::Empty`] without keys, [`CurveError::Unsorted`] if times do not rise strictly,
    /// [`CurveError::NotFinite`] for NaN, infinity or a rotation of length zero, [`CurveError::NoVelocity`] if a cubic key
    /// has no velocities. Files that are not so careful go through [`TrackSpec::repaired`] first.
    pub fn new(keys: Vec<Key<T>>, interpolation: Interpolation) -> Result<Self, CurveError> {
        check_times(keys.iter().map(|key| key.time))?;
        let mut velocities = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let velocities_finite = key
                .velocity
                .iter()
                .flatten()
                .all(|v| T::is_velocity_finite(v));
            if !(key.value.is_finite() && velocities_finite) {
                return Err(CurveError::NotFinite { key: index });
            }
            if interpolation == Interpolation::Cubic {
                velocities.push(key.velocity.ok_or(CurveError::NoVelocity { key: index })?);
            }
        }
        Ok(Self {
            times: keys.iter().map(|key| key.time).collect(),
            values: keys.iter().map(|key| key.value.normalized()).collect(),
            velocities,
            interpolation,
        })
    }

    /// The value at `time`, s; clamped to the first and last key. O(log keys), stateless.
    ///
    /// Where keys coincide with `time` the value is exactly the key's. NaN holds the first key.
    pub fn sample(&self, time: f32) -> T {
        self.at(span_at(&self.times, time, 0), time)
    }

    /// As [`sample`](Self::sample), but starts looking where `cursor` stands: amortised O(1) in playback either way.
    pub fn sample_from(&self, time: f32, cursor: &mut Cursor) -> T {
        let span = span_at(&self.times, time, cursor.0 as usize);
        cursor.0 = span as u32;
        self.at(span, time)
    }

    fn at(&self, span: usize, time: f32) -> T {
        let is_between = time > self.times[span] && span + 1 < self.times.len();
        if is_between {
            self.between(span, span + 1, time)
        } else {
            self.values[span]
        }
    }

    /// The value at `time` were there no keys between keys `from` and `to`, which are around it.
    pub(crate) fn between(&self, from: usize, to: usize, time: f32) -> T {
        let (start, end) = (self.times[from], self.times[to]);
        let alpha = fraction(start, end, time);
        let (first, last) = (self.values[from], self.values[to]);
        match self.interpolation {
            Interpolation::Step => first,
            Interpolation::Linear => first.lerp(last, alpha),
            Interpolation::Cubic => T::hermite(
                (first, self.velocities[from][1]),
                (last, self.velocities[to][0]),
                end - start,
                alpha,
            ),
        }
    }

    /// Key times, s, strictly rising, at least one.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// One value a key.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Velocities on reaching and leaving each key; empty unless cubic.
    pub fn velocities(&self) -> &[[T::Velocity; 2]] {
        &self.velocities
    }

    /// The way between keys.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Time of the last key, s.
    pub fn end(&self) -> f32 {
        self.times[self.times.len() - 1]
    }
}

/// Refuses no times, times that do not rise strictly, and times that are not finite.
pub(crate) fn check_times(times: impl ExactSizeIterator<Item = f32>) -> Result<(), CurveError> {
    if times.len() == 0 {
        return Err(CurveError::Empty);
    }
    let mut before = f32::NEG_INFINITY;
    for (key, time) in times.enumerate() {
        if !time.is_finite() {
            return Err(CurveError::NotFinite { key });
        }
        if time <= before {
            return Err(CurveError::Unsorted { key, time });
        }
        before = time;
    }
    Ok(())
}

/// The last key not after `time`, or 0; looks near `hint` first.
pub(crate) fn span_at(times: &[f32], time: f32, hint: usize) -> usize {
    let holds = |span: usize| {
        times.get(span).is_some_and(|t| *t <= time) && times.get(span + 1).is_none_or(|t| time < *t)
    };
    if holds(hint) {
        return hint;
    }
    if holds(hint + 1) {
        return hint + 1;
    }
    if hint > 0 && holds(hint - 1) {
        return hint - 1;
    }
    times.partition_point(|t| *t <= time).saturating_sub(1)
}

impl<T: Interpolate> TryFrom<TrackSpec<T>> for Track<T> {
    type Error = CurveError;

    fn try_from(spec: TrackSpec<T>) -> Result<Self, CurveError> {
        Self::new(spec.keys, spec.interpolation)
    }
}

impl<T: Interpolate> From<Track<T>> for TrackSpec<T> {
    fn from(track: Track<T>) -> Self {
        let keys = (0..track.times.len())
            .map(|i| Key {
                time: track.times[i],
                value: track.values[i],
                velocity: track.velocities.get(i).copied(),
            })
            .collect();
        Self {
            keys,
            interpolation: track.interpolation,
        }
    }
}

#[cfg(test)]
mod tests {
    use anim_math::{Quat, Vec3, quat};
    use nalgebra::Vector4;
    use proptest::prelude::*;

    use super::*;

    fn track<T: Interpolate>(keys: &[(f32, T)], interpolation: Interpolation) -> Track<T> {
        let keys = keys.iter().map(|(time, value)| Key::new(*time, *value));
        Track::new(keys.collect(), interpolation).unwrap()
    }

    fn cubic(keys: &[(f32, f32, f32, f32)]) -> Track<f32> {
        let keys = keys.iter().map(|(time, velocity_in, value, out)| Key {
            time: *time,
            value: *value,
            velocity: Some([*velocity_in, *out]),
        });
        Track::new(keys.collect(), Interpolation::Cubic).unwrap()
    }

    #[test]
    fn step_holds_each_key_until_the_next() {
        let track = track(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)], Interpolation::Step);
        let samples = [-1.0, 0.0, 0.999, 1.0, 1.5, 2.0, 9.0].map(|t| track.sample(t));
        assert_eq!(samples, [1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn linear_is_straight_and_clamped() {
        let track = track(&[(0.5, 1.0), (2.5, 5.0)], Interpolation::Linear);
        let samples = [-1.0, 0.5, 1.0, 2.0, 2.5, 7.0].map(|t| track.sample(t));
        assert_eq!(samples, [1.0, 1.0, 2.0, 4.0, 5.0, 5.0]);
        assert_eq!(track.sample(f32::NAN), 1.0);
        assert_eq!(track.sample(f32::INFINITY), 5.0);
        assert_eq!(Interpolation::default(), Interpolation::Linear);
    }

    #[test]
    fn cubic_velocities_are_per_second() {
        // A ramp of slope 4 over 2 s is exactly the line.
        let ramp = cubic(&[(0.0, 4.0, 0.0, 4.0), (2.0, 4.0, 8.0, 4.0)]);
        for step in 0..=20 {
            let time = step as f32 * 0.1;
            assert!((ramp.sample(time) - 4.0 * time).abs() < 8.0 * 4.0 * f32::EPSILON);
        }
        // Flat values and a leaving velocity of 1: the bump at the middle is span / 8.
        for span in [0.5, 5.0] {
            let bump = cubic(&[(0.0, 0.0, 0.0, 1.0), (span, 0.0, 0.0, 0.0)]);
            assert!((bump.sample(span * 0.5) - span / 8.0).abs() < 1e-6);
        }
    }

    #[test]
    fn cubic_uses_the_leaving_and_the_reaching_velocity() {
        // The outer two velocities are nobody's.
        let a = cubic(&[(0.0, 99.0, 1.0, 2.0), (1.0, 3.0, 5.0, 99.0)]);
        let b = cubic(&[(0.0, -7.0, 1.0, 2.0), (1.0, 3.0, 5.0, -7.0)]);
        assert_eq!(a.sample(0.3), b.sample(0.3));
        // (1 + 5)/2 + (2 − 3)/8
        assert_eq!(a.sample(0.5), 2.875);
    }

    #[test]
    fn rotations_take_the_short_arc_without_turning_back() {
        let to = quat::from_axis_angle(Vec3::y(), 21_f32.to_radians());
        let to = Quat::new_unchecked(-to.into_inner());
        let track = track(&[(0.0, Quat::identity()), (1.0, to)], Interpolation::Linear);
        let angle = |time| quat::angle_between(Quat::identity(), track.sample(time));
        assert!((angle(0.5) - 10.5_f32.to_radians()).abs() < 1e-6);
        assert!((1..=100).all(|n| angle(n as f32 * 0.01) >= angle((n - 1) as f32 * 0.01)));
    }

    #[test]
    fn a_full_turn_in_quarter_keys_is_monotone() {
        // A spinning triangle: identity, 90, 180, 270 and 360 degrees about z, with the signs a file has.
        let s = std::f32::consts::FRAC_1_SQRT_2;
        let keys = [
            (0.0, [0.0, 0.0, 0.0, 1.0]),
            (0.25, [0.0, 0.0, s, s]),
            (0.5, [0.0, 0.0, 1.0, 0.0]),
            (0.75, [0.0, 0.0, s, -s]),
            (1.0, [0.0, 0.0, 0.0, 1.0]),
        ]
        .map(|(time, q)| (time, quat::from_xyzw(q).unwrap()));
        let track = track(&keys, Interpolation::Linear);
        for n in 0..100 {
            let [a, b] = [n, n + 1].map(|n| track.sample(n as f32 * 0.01));
            let turn = quat::log(a.inverse() * b).z;
            assert!((turn - std::f32::consts::TAU * 0.01).abs() < 1e-5);
        }
    }

    #[test]
    fn bad_keys_are_refused_with_their_index() {
        let times = |times: &[f32]| {
            let keys = times.iter().map(|t| Key::new(*t, 0.0_f32)).collect();
            Track::new(keys, Interpolation::Linear).unwrap_err()
        };
        assert_eq!(times(&[]), CurveError::Empty);
        let unsorted = CurveError::Unsorted { key: 2, time: 0.0 };
        assert_eq!(times(&[1.25, 2.5, 0.0, 1.25]), unsorted);
        assert_eq!(
            times(&[0.0, 1.0, 1.0, 2.0]),
            CurveError::Unsorted { key: 2, time: 1.0 }
        );
        assert_eq!(times(&[0.0, f32::NAN]), CurveError::NotFinite { key: 1 });
        let bad_value = vec![Key::new(0.0, f32::INFINITY)];
        let error = Track::new(bad_value, Interpolation::Linear).unwrap_err();
        assert_eq!(error, CurveError::NotFinite { key: 0 });
        let no_velocity = vec![Key::new(0.0, 0.0_f32)];
        let error = Track::new(no_velocity, Interpolation::Cubic).unwrap_err();
        assert_eq!(error, CurveError::NoVelocity { key: 0 });
        let zero = Quat::new_unchecked(nalgebra::Quaternion::from_vector(Vector4::zeros()));
        let error = Track::new(vec![Key::new(0.0, zero)], Interpolation::Linear).unwrap_err();
        assert_eq!(error, CurveError::NotFinite { key: 0 });
    }

    #[test]
    fn repaired_keys_are_sorted_and_jump_where_times_coincide() {
        let repaired = |keys: &[(f32, f32)]| {
            let spec = TrackSpec {
                keys: keys.iter().map(|(t, v)| Key::new(*t, *v)).collect(),
                interpolation: Interpolation::Linear,
            };
            Track::try_from(spec.repaired()).unwrap()
        };
        let jump = repaired(&[(0.0, 0.0), (1.0, 10.0), (1.0, 20.0), (2.0, 30.0)]);
        assert!((jump.sample(0.999) - 9.99).abs() < 1e-4);
        assert_eq!([1.0, 1.5].map(|t| jump.sample(t)), [20.0, 25.0]);
        let shuffled = repaired(&[(2.0, 4.0), (f32::NAN, 7.0), (0.0, 0.0)]);
        assert_eq!(shuffled.sample(1.0), 2.0);
    }

    #[test]
    fn one_key_is_a_constant() {
        for interpolation in [Interpolation::Step, Interpolation::Linear] {
            let track = track(&[(0.0, 3.0)], interpolation);
            assert_eq!([-1.0, 0.0, 5.0].map(|t| track.sample(t)), [3.0; 3]);
            assert_eq!(track.end(), 0.0);
        }
        let track = cubic(&[(0.0, 1.0, 3.0, 1.0)]);
        assert_eq!([-1.0, 0.0, 5.0].map(|t| track.sample(t)), [3.0; 3]);
    }

    fn any_track() -> impl Strategy<Value = Track<f32>> {
        let key = (0.01_f32..2.0, -5.0_f32..5.0, -5.0_f32..5.0, -5.0_f32..5.0);
        prop::collection::vec(key, 1..20).prop_map(|keys| {
            let mut time = -1.0;
            let keys: Vec<_> = keys
                .into_iter()
                .map(|(step, a, v, b)| {
                    time += step;
                    (time, a, v, b)
                })
                .collect();
            cubic(&keys)
        })
    }

    proptest! {
        #[test]
        fn a_sample_does_not_depend_on_history(
            track in any_track(), history in prop::collection::vec(-2.0_f32..40.0, 0..10), time in -2.0_f32..40.0, place: u32,
        ) {
            let mut cursor = Cursor(place);
            for before in history {
                track.sample_from(before, &mut cursor);
            }
            let value = track.sample_from(time, &mut cursor);
            prop_assert_eq!(value.to_bits(), track.sample(time).to_bits());
        }

        #[test]
        fn playback_backward_and_forward_is_the_same(track in any_track()) {
            let mut cursor = Cursor::default();
            for n in (0..400).chain((0..400).rev()) {
                let time = n as f32 * 0.1 - 1.0;
                prop_assert_eq!(track.sample_from(time, &mut cursor), track.sample(time));
            }
        }

        #[test]
        fn keys_are_met_exactly(track in any_track()) {
            for (time, value) in track.times().iter().zip(track.values()) {
                prop_assert_eq!(track.sample(*time), *value);
            }
        }

        #[test]
        fn any_numbers_either_fail_or_sample_finite(
            keys in prop::collection::vec((any::<f32>(), any::<f32>(), -1e9_f32..1e9, -1e9_f32..1e9), 0..6),
            times in prop::collection::vec(any::<f32>(), 4), wild: bool,
        ) {
            // Values that are themselves near the end of f32 may overflow in between; the constructor must still stand.
            let keys: Vec<_> = keys.into_iter().map(|(time, any, value, velocity)| Key {
                time,
                value: if wild { any } else { value },
                velocity: Some([velocity; 2]),
            }).collect();
            for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::Cubic] {
                let spec = TrackSpec { keys: keys.clone(), interpolation };
                for spec in [spec.clone(), spec.repaired()] {
                    let Ok(track) = Track::try_from(spec) else { continue };
                    for time in times.iter().chain(track.times()) {
                        let value = track.sample(*time);
                        let tame = !wild && interpolation != Interpolation::Cubic;
                        prop_assert!(!tame || (value.is_finite() && value.abs() <= 1e9 * 1.000_001));
                    }
                }
            }
        }

        #[test]
        fn any_rotation_keys_sample_unit(
            keys in prop::collection::vec((any::<f32>(), any::<[f32; 4]>()), 1..5), time: f32,
        ) {
            let keys: Vec<_> = keys.into_iter().enumerate().map(|(n, (velocity, q))| Key {
                time: n as f32,
                value: Quat::new_unchecked(nalgebra::Quaternion::from_vector(Vector4::from(q))),
                velocity: Some([Vector4::repeat(velocity); 2]),
            }).collect();
            for interpolation in [Interpolation::Step, Interpolation::Linear, Interpolation::Cubic] {
                if let Ok(track) = Track::new(keys.clone(), interpolation) {
                    for time in [time, 0.5, 1.25, 2.75] {
                        let norm = track.sample(time).coords.norm();
                        prop_assert!((norm - 1.0).abs() < 1e-5, "{}", norm);
                    }
                }
            }
        }

        #[test]
        fn a_track_survives_its_spec(track in any_track()) {
            let spec = TrackSpec::from(track.clone());
            prop_assert_eq!(Track::try_from(spec).unwrap(), track);
        }
    }
}
