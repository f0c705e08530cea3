//! Factors that interpolate geometrically: halfway from 1 to 4 is 2.
//!
//! A scale, a zoom, an exposure or a frequency is felt in ratios. Between 1 and 100 a straight line races through the small
//! factors and crawls through the large ones; its logarithm goes at an even pace, and backward is forward's mirror.
//! Factors are positive: what is mirrored or passes through zero stays a plain number or vector.
//!
//! ```
//! use anim_curves::{Interpolation, Key, LogScale, Track};
//!
//! let zoom = Track::new(
//!     vec![Key::new(0.0, LogScale(1.0)), Key::new(2.0, LogScale(16.0))],
//!     Interpolation::Linear,
//! )?;
//! assert_eq!([0.5, 1.0, 1.5].map(|time| zoom.sample(time).0), [2.0, 4.0, 8.0]);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{Interpolate, Linear};

/// A positive factor, or a vector of one an axis; its velocity is that of the natural logarithm, 1/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct LogScale<T: Linear>(pub T);

impl<T: Linear> LogScale<T> {
    fn ln(self) -> T {
        map(self.0, libm::logf)
    }
}

impl<T: Linear> Interpolate for LogScale<T> {
    type Velocity = T;

    /// a^(1−α) b^α, to a rounding.
    fn lerp(self, to: Self, alpha: f32) -> Self {
        let alpha = f64::from(alpha);
        Self(self.0.zip_with(to.0, |from, to| {
            let (from, to) = (libm::log(f64::from(from)), libm::log(f64::from(to)));
            libm::exp(from * (1.0 - alpha) + to * alpha) as f32
        }))
    }

    fn hermite(from: (Self, T), to: (Self, T), span: f32, alpha: f32) -> Self {
        let ln = T::hermite((from.0.ln(), from.1), (to.0.ln(), to.1), span, alpha);
        Self(map(ln, libm::expf))
    }

    fn hermite_velocity(from: (Self, T), to: (Self, T), span: f32, alpha: f32) -> T {
        T::hermite_velocity((from.0.ln(), from.1), (to.0.ln(), to.1), span, alpha)
    }

    /// Also that it is positive.
    fn is_finite(&self) -> bool {
        self.0.is_finite() && self.ln().is_finite()
    }

    fn is_velocity_finite(velocity: &T) -> bool {
        velocity.is_finite()
    }
}

fn map<T: Linear>(value: T, f: impl Fn(f32) -> f32) -> T {
    value.zip_with(value, |component, _| f(component))
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;
    use crate::{CurveError, Interpolation, Key, Track};

    #[test]
    fn halfway_is_the_geometric_mean() {
        assert_eq!(LogScale(1.0).lerp(LogScale(4.0), 0.5), LogScale(2.0));
        let from = LogScale(Vec3::new(1.0, 2.0, 9.0));
        let to = LogScale(Vec3::new(16.0, 2.0, 1.0));
        assert_eq!(from.lerp(to, 0.5).0, Vec3::new(4.0, 2.0, 3.0));
    }

    #[test]
    fn cubic_with_an_even_rate_grows_exponentially() {
        let rate = 0.5;
        let (from, to) = (LogScale(2.0), LogScale(2.0 * libm::expf(rate * 3.0)));
        for n in 0..=10 {
            let alpha = n as f32 * 0.1;
            let value = LogScale::hermite((from, rate), (to, rate), 3.0, alpha).0;
            let expected = 2.0 * libm::expf(rate * 3.0 * alpha);
            // The logarithm, up to 2.2, is rounded a few times.
            assert!((value / expected - 1.0).abs() < 8.0 * 2.2 * f32::EPSILON);
            let velocity = LogScale::hermite_velocity((from, rate), (to, rate), 3.0, alpha);
            assert!((velocity - rate).abs() < 8.0 * f32::EPSILON);
        }
    }

    #[test]
    fn zero_and_negative_factors_are_refused() {
        for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let keys = vec![Key::new(0.0, LogScale(1.0)), Key::new(1.0, LogScale(wrong))];
            let error = Track::new(keys, Interpolation::Linear).unwrap_err();
            assert_eq!(error, CurveError::NotFinite { key: 1 });
        }
    }

    proptest! {
        #[test]
        fn any_factors_stay_between_and_mirror(from in 1e-30_f32..1e30, to in 1e-30_f32..1e30, alpha in 0.0_f32..=1.0) {
            let there = LogScale(from).lerp(LogScale(to), alpha).0;
            // A rounding past an end is possible in f64, and is lost in f32.
            prop_assert!(there >= from.min(to) && there <= from.max(to));
            let back = LogScale(to).lerp(LogScale(from), 1.0 - alpha).0;
            // 1 − α is rounded, which the ratio's logarithm, up to 138, multiplies.
            prop_assert!((there / back - 1.0).abs() < 140.0 * f32::EPSILON);
        }
    }
}
