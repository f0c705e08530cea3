//! One animated value: sorted keys and the way between them.

use serde::{Deserialize, Serialize};

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
#[serde(bound = "")]
pub struct Key<T: Interpolate> {
    /// Seconds.
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
#[serde(bound = "")]
pub struct TrackSpec<T: Interpolate> {
    /// Strictly rising times.
    pub keys: Vec<Key<T>>,
    /// The way between them.
    #[serde(default)]
    pub interpolation: Interpolation,
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
    /// [`CurveError::NotFinite`] for NaN or infinity, [`CurveError::NoVelocity`] if a cubic key has no velocities.
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
            values: keys.iter().map(|key| key.value).collect(),
            velocities,
            interpolation,
        })
    }

    /// The value at `time`, s; clamped to the first and last key. O(log keys), stateless.
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
        let first = self.values[span];
        // Also true of NaN, which holds the first key.
        if !(time > self.times[span]) || span + 1 == self.times.len() {
            return first;
        }
        let length = self.times[span + 1] - self.times[span];
        let alpha = (time - self.times[span]) / length;
        match self.interpolation {
            Interpolation::Step => first,
            Interpolation::Linear => first.lerp(self.values[span + 1], alpha),
            Interpolation::Cubic => T::hermite(
                (first, self.velocities[span][1]),
                (self.values[span + 1], self.velocities[span + 1][0]),
                length,
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
    if holds(hint.wrapping_add(1)) {
        return hint + 1;
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
