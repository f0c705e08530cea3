//! k scalars a key, such as the weights of all morph targets of a mesh.
//!
//! One search serves all k, and the values lie as glTF stores them.
//!
//! ```
//! use anim_curves::{Interpolation, WideTrack, WideTrackSpec};
//!
//! let weights = WideTrack::new(WideTrackSpec {
//!     width: 2,
//!     times: vec![0.0, 1.0],
//!     values: vec![0.0, 1.0, 1.0, 0.0],
//!     interpolation: Interpolation::Linear,
//! })?;
//! let mut out = [0.0; 2];
//! weights.sample(0.25, &mut out);
//! assert_eq!(out, [0.25, 0.75]);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::cursor::span_at;
use crate::interpolate::{fraction, hermite_weights};
use crate::track::check_times;
use crate::{CurveError, Interpolation};

/// What a [`WideTrack`] is made of, in glTF's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WideTrackSpec {
    /// Scalars a key, k.
    pub width: usize,
    /// Strictly rising times, s.
    pub times: Vec<f32>,
    /// keys × k values; for cubic, each key has k velocities in, k values, k velocities out.
    pub values: Vec<f32>,
    /// The way between keys.
    #[serde(default)]
    pub interpolation: Interpolation,
}

/// A validated track of k scalars a key; each interpolates on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WideTrackSpec", into = "WideTrackSpec")]
pub struct WideTrack(WideTrackSpec);

impl WideTrack {
    /// Validates `spec`.
    ///
    /// # Errors
    ///
    /// As [`Track::new`](crate::Track::new), and [`CurveError::ValueCount`] if the number of values is wrong.
    pub fn new(spec: WideTrackSpec) -> Result<Self, CurveError> {
        check_times(spec.times.iter().copied())?;
        let stride = parts(spec.interpolation).saturating_mul(spec.width);
        let expected = stride.saturating_mul(spec.times.len());
        if spec.values.len() != expected {
            return Err(CurveError::ValueCount {
                keys: spec.times.len(),
                width: spec.width,
                expected,
                found: spec.values.len(),
            });
        }
        if let Some(bad) = spec.values.iter().position(|v| !v.is_finite()) {
            return Err(CurveError::NotFinite { key: bad / stride });
        }
        Ok(Self(spec))
    }

    /// Writes the k values at `time`, s, to the front of `out`; clamped to the first and last key.
    ///
    /// Where `out` is shorter than k, the rest is left out; where it is longer, it is left alone.
    pub fn sample(&self, time: f32, out: &mut [f32]) {
        let Self(spec) = self;
        let span = span_at(&spec.times, time, 0);
        let parts = parts(spec.interpolation);
        // Part 0 of a cubic key are its velocities in, part 1 its values, part 2 its velocities out.
        let lanes = |key: usize, part: usize| {
            let first = (key * parts + part) * spec.width;
            &spec.values[first..first + spec.width]
        };
        let value = parts / 2;
        let is_between = time > spec.times[span] && span + 1 < spec.times.len();
        if !is_between || spec.interpolation == Interpolation::Step {
            for (out, value) in out.iter_mut().zip(lanes(span, value)) {
                *out = *value;
            }
            return;
        }
        let (start, end) = (spec.times[span], spec.times[span + 1]);
        let alpha = fraction(start, end, time);
        let values = lanes(span, value).iter().zip(lanes(span + 1, value));
        if spec.interpolation == Interpolation::Linear {
            for (out, (from, to)) in out.iter_mut().zip(values) {
                *out = from * (1.0 - alpha) + to * alpha;
            }
            return;
        }
        let [v0, b0, v1, a1] = hermite_weights(end - start, alpha);
        let velocities = lanes(span, 2).iter().zip(lanes(span + 1, 0));
        for ((out, (from, to)), (leave, reach)) in out.iter_mut().zip(values).zip(velocities) {
            *out = from * v0 + leave * b0 + to * v1 + reach * a1;
        }
    }

    /// Scalars a key.
    pub fn width(&self) -> usize {
        self.0.width
    }

    /// Time of the last key, s.
    pub fn end(&self) -> f32 {
        self.0.times[self.0.times.len() - 1]
    }

    /// The keys and values it was made of.
    pub fn spec(&self) -> &WideTrackSpec {
        &self.0
    }
}

/// Rows of k values stored a key.
fn parts(interpolation: Interpolation) -> usize {
    match interpolation {
        Interpolation::Cubic => 3,
        _ => 1,
    }
}

impl TryFrom<WideTrackSpec> for WideTrack {
    type Error = CurveError;

    fn try_from(spec: WideTrackSpec) -> Result<Self, CurveError> {
        Self::new(spec)
    }
}

impl From<WideTrack> for WideTrackSpec {
    fn from(track: WideTrack) -> Self {
        track.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Key, Track};

    fn spec(
        width: usize,
        times: &[f32],
        values: &[f32],
        interpolation: Interpolation,
    ) -> WideTrackSpec {
        WideTrackSpec {
            width,
            times: times.to_vec(),
            values: values.to_vec(),
            interpolation,
        }
    }

    #[test]
    fn cubic_keys_are_velocities_in_then_values_then_velocities_out() {
        let values = [
            [9.0, 9.0, 9.0],
            [0.0, 1.0, 2.0],
            [1.0, 0.0, -1.0],
            [1.0, 0.0, 3.0],
            [4.0, 5.0, 6.0],
            [9.0, 9.0, 9.0],
        ];
        let track = spec(3, &[0.0, 1.0], values.as_flattened(), Interpolation::Cubic);
        let track = WideTrack::new(track).unwrap();
        let mut out = [0.0; 3];
        // At the middle: (v₀ + v₁)/2 + (b₀ − a₁)/8.
        track.sample(0.5, &mut out);
        assert_eq!(out, [2.0, 3.0, 3.5]);
        track.sample(-1.0, &mut out);
        assert_eq!(out, [0.0, 1.0, 2.0]);
        track.sample(2.0, &mut out);
        assert_eq!(out, [4.0, 5.0, 6.0]);
    }

    #[test]
    fn step_and_linear_keys_are_values_alone() {
        let values = [0.0, 10.0, 20.0, 4.0, 14.0, 24.0];
        let mut out = [0.0; 3];
        let linear = WideTrack::new(spec(3, &[0.0, 2.0], &values, Interpolation::Linear)).unwrap();
        linear.sample(0.5, &mut out);
        assert_eq!(out, [1.0, 11.0, 21.0]);
        let step = WideTrack::new(spec(3, &[0.0, 2.0], &values, Interpolation::Step)).unwrap();
        step.sample(1.9, &mut out);
        assert_eq!(out, [0.0, 10.0, 20.0]);
        assert_eq!((step.width(), step.end()), (3, 2.0));
    }

    #[test]
    fn a_short_or_long_output_is_filled_as_far_as_both_go() {
        let track = spec(2, &[0.0], &[1.0, 2.0], Interpolation::Linear);
        let track = WideTrack::new(track).unwrap();
        let mut long = [7.0; 3];
        track.sample(0.0, &mut long);
        assert_eq!(long, [1.0, 2.0, 7.0]);
        let mut short = [7.0; 1];
        track.sample(0.0, &mut short);
        assert_eq!(short, [1.0]);
    }

    #[test]
    fn wrong_counts_and_numbers_are_refused() {
        let error = WideTrack::new(spec(3, &[0.0, 1.0], &[0.0; 6], Interpolation::Cubic));
        let wrong = CurveError::ValueCount {
            keys: 2,
            width: 3,
            expected: 18,
            found: 6,
        };
        assert_eq!(error.unwrap_err(), wrong);
        let huge = WideTrack::new(spec(usize::MAX, &[0.0, 1.0], &[], Interpolation::Cubic));
        assert!(matches!(huge, Err(CurveError::ValueCount { .. })));
        let broken = WideTrack::new(spec(
            2,
            &[0.0, 1.0],
            &[0.0, 0.0, 0.0, f32::NAN],
            Interpolation::Step,
        ));
        assert_eq!(broken.unwrap_err(), CurveError::NotFinite { key: 1 });
        let none = WideTrack::new(spec(0, &[0.0], &[], Interpolation::Cubic)).unwrap();
        none.sample(0.0, &mut []);
    }

    proptest! {
        #[test]
        fn each_lane_is_a_track_of_its_own(
            values in prop::collection::vec(-5.0_f32..5.0, 3 * 3 * 4), time in -1.0_f32..4.0, mode in 0..3,
        ) {
            let interpolation = [Interpolation::Step, Interpolation::Linear, Interpolation::Cubic][mode as usize];
            let parts = parts(interpolation);
            let times = [0.0, 0.5, 3.0];
            let wide = WideTrack::new(spec(4, &times, &values[..3 * parts * 4], interpolation)).unwrap();
            let mut out = [0.0; 4];
            wide.sample(time, &mut out);
            for (lane, value) in out.into_iter().enumerate() {
                let at = |key: usize, part: usize| values[(key * parts + part) * 4 + lane];
                let keys = (0..3).map(|key| Key {
                    time: times[key],
                    value: at(key, parts / 2),
                    velocity: (parts == 3).then(|| [at(key, 0), at(key, 2)]),
                });
                let single = Track::new(keys.collect(), interpolation).unwrap();
                prop_assert_eq!(value, single.sample(time));
            }
        }

        #[test]
        fn any_spec_either_fails_or_samples(
            width in 0_usize..4, times in prop::collection::vec(any::<f32>(), 0..4),
            values in prop::collection::vec(any::<f32>(), 0..12), time: f32, mode in 0..3,
        ) {
            let interpolation = [Interpolation::Step, Interpolation::Linear, Interpolation::Cubic][mode as usize];
            if let Ok(track) = WideTrack::new(spec(width, &times, &values, interpolation)) {
                track.sample(time, &mut [0.0; 4]);
            }
        }
    }
}
