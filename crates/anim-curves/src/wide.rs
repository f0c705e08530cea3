//! k scalars a key, such as the weights of all morph targets of a mesh.

use serde::{Deserialize, Serialize};

use crate::interpolate::hermite_weights;
use crate::track::{check_times, span_at};
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
        let stride = stride(&spec);
        let expected = spec.times.len().saturating_mul(stride);
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
        let value = |key: usize, part: usize, lane: usize| {
            let parts = stride(spec) / spec.width.max(1);
            spec.values[(key * parts + part) * spec.width + lane]
        };
        let middle = usize::from(spec.interpolation == Interpolation::Cubic);
        let between = time > spec.times[span] && span + 1 < spec.times.len();
        for (lane, out) in out.iter_mut().enumerate().take(spec.width) {
            let first = value(span, middle, lane);
            *out = first;
            if !between {
                continue;
            }
            let length = spec.times[span + 1] - spec.times[span];
            let alpha = (time - spec.times[span]) / length;
            match spec.interpolation {
                Interpolation::Step => {}
                Interpolation::Linear => {
                    *out = first * (1.0 - alpha) + value(span + 1, 0, lane) * alpha;
                }
                Interpolation::Cubic => {
                    let [v0, b0, v1, a1] = hermite_weights(length, alpha);
                    *out = first * v0
                        + value(span, 2, lane) * b0
                        + value(span + 1, 1, lane) * v1
                        + value(span + 1, 0, lane) * a1;
                }
            }
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

/// Values stored a key.
fn stride(spec: &WideTrackSpec) -> usize {
    match spec.interpolation {
        Interpolation::Cubic => spec.width.saturating_mul(3),
        _ => spec.width,
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
