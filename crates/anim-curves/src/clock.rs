//! Frame clocks and shutters: when frames are, and at what times a blurred one is sampled.
//!
//! Rates are fractions, because 29.97 frames a second means 30000/1001; times are f64 and computed from the frame's number,
//! never by adding steps, so that hour-long takes do not drift.
//!
//! ```
//! use anim_curves::{Filter, FrameClock, Shutter};
//!
//! let clock = FrameClock::NTSC;
//! assert_eq!(clock.time_of(30_000), 1001.0);
//! assert_eq!(clock.frame_at(1001.0), 30_000);
//!
//! // A shutter of half a turn, open around the frame's time: four samples of motion blur.
//! let shutter = Shutter::centred(std::f64::consts::PI, 4)?;
//! let times: Vec<f64> = shutter.times(&FrameClock::FILM, 0).map(|t| t * 24.0).collect();
//! assert_eq!(times, [-0.1875, -0.0625, 0.0625, 0.1875]);
//!
//! // What moves evenly is seen, blurred, where it is in the middle of the exposure.
//! let seen = shutter.blurred(Filter::Triangle, &FrameClock::FILM, 12, |time| 6.0 * time as f32);
//! assert_eq!(seen, 3.0);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use crate::{CurveError, Linear};

/// Frames numbered from time 0 at a rate that is a fraction, frames/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct FrameClock {
    numerator: u32,
    denominator: u32,
}

impl FrameClock {
    /// 24 frames/s.
    pub const FILM: Self = Self::whole(24);
    /// 25 frames/s.
    pub const PAL: Self = Self::whole(25);
    /// 30 frames/s.
    pub const FPS_30: Self = Self::whole(30);
    /// 60 frames/s.
    pub const FPS_60: Self = Self::whole(60);
    /// 90 frames/s, for headsets.
    pub const FPS_90: Self = Self::whole(90);
    /// 144 frames/s, for fast monitors.
    pub const FPS_144: Self = Self::whole(144);
    /// 30000/1001 frames/s, written 29.97.
    pub const NTSC: Self = Self {
        numerator: 30_000,
        denominator: 1001,
    };
    /// 60000/1001 frames/s, written 59.94.
    pub const NTSC_60: Self = Self {
        numerator: 60_000,
        denominator: 1001,
    };
    /// 24000/1001 frames/s, written 23.976.
    pub const NTSC_FILM: Self = Self {
        numerator: 24_000,
        denominator: 1001,
    };

    const fn whole(rate: u32) -> Self {
        Self {
            numerator: rate,
            denominator: 1,
        }
    }

    /// A clock of `numerator / denominator` frames/s.
    ///
    /// # Errors
    ///
    /// [`CurveError::FrameRate`] if either is zero.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self, CurveError> {
        if numerator == 0 || denominator == 0 {
            return Err(CurveError::FrameRate {
                numerator,
                denominator,
            });
        }
        Ok(Self {
            numerator,
            denominator,
        })
    }

    /// The clock that a rate in frames/s stands for: a whole rate, or n·1000/1001 for 23.976, 29.97, 59.94 and their kind,
    /// or else thousandths.
    ///
    /// # Errors
    ///
    /// [`CurveError::FrameRate`] unless `rate` is from 0.001 to 1e6.
    pub fn from_rate(rate: f64) -> Result<Self, CurveError> {
        // Negative and not-a-number rates become 0, huge ones the largest u32.
        let thousandths = (rate * 1000.0).round() as u32;
        if !(0.001..=1e6).contains(&rate) {
            return Err(CurveError::FrameRate {
                numerator: thousandths,
                denominator: 1000,
            });
        }
        let nearest = rate.round();
        let broadcast = (rate * 1.001).round();
        if (rate - nearest).abs() < 1e-4 {
            Self::new(nearest as u32, 1)
        } else if (rate - broadcast / 1.001).abs() < 1e-3 {
            Self::new(broadcast as u32 * 1000, 1001)
        } else {
            Self::new(thousandths, 1000)
        }
    }

    /// Frames/s.
    pub fn rate(&self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Length of a frame, s.
    pub fn frame_length(&self) -> f64 {
        f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// When frame `frame` begins, s: n · denominator / numerator, rounded once for frames below 2²¹.
    pub fn time_of(&self, frame: i64) -> f64 {
        frame as f64 * f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// The frame shown at `time`, s: the last that begins at or before it. The exact inverse of [`time_of`](Self::time_of).
    pub fn frame_at(&self, time: f64) -> i64 {
        let guess = (time * f64::from(self.numerator) / f64::from(self.denominator)).floor() as i64;
        if self.time_of(guess.saturating_add(1)) <= time {
            guess.saturating_add(1)
        } else if self.time_of(guess) > time {
            guess.saturating_sub(1)
        } else {
            guess
        }
    }

    /// How many frames begin in [0, `duration`), s: 24 in a second of film.
    ///
    /// Durations are often stored as f32, so a frame that would begin in the last hundredth of a frame is not counted.
    pub fn frame_count(&self, duration: f64) -> u64 {
        (duration * self.rate() - 0.01).ceil().max(0.0) as u64
    }

    /// The times of the frames that begin in [0, `duration`), s.
    pub fn times(self, duration: f64) -> impl ExactSizeIterator<Item = f64> {
        let count = self.frame_count(duration).min(u64::from(u32::MAX)) as usize;
        (0..count).map(move |frame| self.time_of(frame as i64))
    }
}

/// How much of its light a shutter lets through over the exposure, as film or sensor sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// All of it from opening to closing: streaks with hard ends.
    #[default]
    Box,
    /// Rising to the middle and falling again: streaks that fade at both ends.
    Triangle,
}

impl Filter {
    /// The part of the light of the whole exposure that comes in until `place`, 0 to 1, of it.
    fn light_until(self, place: f64) -> f64 {
        match self {
            Self::Box => place,
            Self::Triangle if place < 0.5 => 2.0 * place * place,
            Self::Triangle => 1.0 - 2.0 * (1.0 - place) * (1.0 - place),
        }
    }
}

/// When a camera's shutter is open, and how often its light is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(f64, f64, u32)", into = "(f64, f64, u32)")]
pub struct Shutter {
    open: f64,
    exposure: f64,
    samples: u32,
}

impl Shutter {
    /// Open for `exposure` frames from `open` frames after the frame's time on; at least one sample.
    ///
    /// # Errors
    ///
    /// [`CurveError::Shutter`] if `exposure` is negative or either is not finite.
    pub fn new(open: f64, exposure: f64, samples: u32) -> Result<Self, CurveError> {
        if !(open.is_finite() && exposure.is_finite() && exposure >= 0.0) {
            return Err(CurveError::Shutter { open, exposure });
        }
        Ok(Self {
            open,
            exposure,
            samples: samples.max(1),
        })
    }

    /// A rotary shutter of `angle`, rad (2π is open all the time, π the usual half), that opens on the frame's time.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn from_angle(angle: f64, samples: u32) -> Result<Self, CurveError> {
        Self::new(0.0, angle / TAU, samples)
    }

    /// A rotary shutter of `angle`, rad, whose exposure is centred on the frame's time: blur then leans to neither side.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn centred(angle: f64, samples: u32) -> Result<Self, CurveError> {
        Self::new(-0.5 * angle / TAU, angle / TAU, samples)
    }

    /// The times at which to sample `frame`, s, rising: the middles of equal parts of the exposure, so that the plain mean
    /// of the samples integrates motion that is linear in time exactly.
    pub fn times(self, clock: &FrameClock, frame: i64) -> impl ExactSizeIterator<Item = f64> {
        let (start, length) = (clock.time_of(frame), clock.frame_length());
        (0..self.samples).map(move |sample| {
            let middle = (f64::from(sample) + 0.5) / f64::from(self.samples);
            start + length * (self.open + self.exposure * middle)
        })
    }

    /// One weight for each of [`times`](Self::times): the part of the light that comes in around it. They sum to 1.
    pub fn weights(self, filter: Filter) -> impl ExactSizeIterator<Item = f64> {
        let until =
            move |sample: u32| filter.light_until(f64::from(sample) / f64::from(self.samples));
        (0..self.samples).map(move |sample| until(sample + 1) - until(sample))
    }

    /// What the shutter sees of something that changes: the weighted mean of `value` at the sample times of `frame`, s.
    ///
    /// Exact for motion that is linear in time; otherwise the error falls with the square of the number of samples.
    pub fn blurred<T: Linear>(
        self,
        filter: Filter,
        clock: &FrameClock,
        frame: i64,
        mut value: impl FnMut(f64) -> T,
    ) -> T {
        let times = self.times(clock, frame).zip(self.weights(filter));
        let parts = times.map(|(time, weight)| value(time) * weight as f32);
        // There is always a sample: the shutter's constructor sees to it.
        parts
            .reduce(|sum, part| sum + part)
            .unwrap_or_else(|| value(clock.time_of(frame)))
    }
}

impl TryFrom<(u32, u32)> for FrameClock {
    type Error = CurveError;

    fn try_from((numerator, denominator): (u32, u32)) -> Result<Self, CurveError> {
        Self::new(numerator, denominator)
    }
}

impl From<FrameClock> for (u32, u32) {
    fn from(clock: FrameClock) -> Self {
        (clock.numerator, clock.denominator)
    }
}

impl TryFrom<(f64, f64, u32)> for Shutter {
    type Error = CurveError;

    fn try_from((open, exposure, samples): (f64, f64, u32)) -> Result<Self, CurveError> {
        Self::new(open, exposure, samples)
    }
}

impl From<Shutter> for (f64, f64, u32) {
    fn from(shutter: Shutter) -> Self {
        (shutter.open, shutter.exposure, shutter.samples)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::f64::consts::PI;

    use anim_math::Vec3;

    use super::*;

    #[test]
    fn an_hour_of_broadcast_frames_does_not_drift() {
        // 107892 frames are an hour of drop-frame time code, 3.6 ms short of it.
        assert_eq!(
            FrameClock::NTSC.time_of(107_892),
            107_892.0 * 1001.0 / 30_000.0
        );
        assert_eq!(FrameClock::NTSC.time_of(30_000 * 3600), 1001.0 * 3600.0);
        assert_eq!(FrameClock::NTSC.frame_at(3600.0), 107_892);
    }

    #[test]
    fn written_rates_stand_for_their_fractions() {
        let cases = [
            (24.0, (24, 1)),
            (60.0, (60, 1)),
            (29.97, (30_000, 1001)),
            (23.976, (24_000, 1001)),
            (59.94, (60_000, 1001)),
            (119.88, (120_000, 1001)),
            (12.5, (12_500, 1000)),
            (0.5, (500, 1000)),
        ];
        for (rate, expected) in cases {
            let clock = FrameClock::from_rate(rate).unwrap();
            assert_eq!(<(u32, u32)>::from(clock), expected, "{rate}");
        }
        for rate in [0.0, -24.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
            assert!(FrameClock::from_rate(rate).is_err(), "{rate}");
        }
        assert!(FrameClock::new(0, 1).is_err() && FrameClock::new(1, 0).is_err());
    }

    #[test]
    fn frames_of_a_duration_are_counted_once() {
        assert_eq!(FrameClock::FILM.frame_count(1.0), 24);
        assert_eq!(FrameClock::FILM.frame_count(1.02), 25);
        assert_eq!(FrameClock::FILM.frame_count(0.0), 0);
        assert_eq!(FrameClock::FILM.frame_count(-1.0), 0);
        assert_eq!(FrameClock::FILM.frame_count(f64::NAN), 0);
        // 300 frames last 10.01 s, also after rounding to f32.
        assert_eq!(FrameClock::NTSC.frame_count(10.01), 300);
        assert_eq!(FrameClock::NTSC.frame_count(f64::from(10.01_f32)), 300);
        let times: Vec<f64> = FrameClock::PAL.times(0.1).collect();
        assert_eq!(times, [0.0, 0.04, 0.08]);
    }

    #[test]
    fn shutter_samples_are_the_middles_of_the_exposure() {
        let clock = FrameClock::new(10, 1).unwrap();
        let times = |shutter: Shutter| -> Vec<f64> { shutter.times(&clock, 20).collect() };
        // Half a turn at 10 frames/s: open from 2.0 s to 2.05 s.
        let half = times(Shutter::from_angle(PI, 2).unwrap());
        assert!((half[0] - 2.0125).abs() < 1e-12 && (half[1] - 2.0375).abs() < 1e-12);
        // One sample of a centred shutter is the frame itself.
        assert_eq!(times(Shutter::centred(PI, 1).unwrap()), [2.0]);
        // No exposure: every sample is when it opens.
        assert_eq!(times(Shutter::new(0.0, 0.0, 3).unwrap()), [2.0; 3]);
        assert_eq!(times(Shutter::new(0.0, 0.0, 0).unwrap()).len(), 1);
        assert!(Shutter::new(0.0, -1.0, 1).is_err());
        assert!(Shutter::from_angle(f64::NAN, 1).is_err());
    }

    #[test]
    fn the_mean_of_samples_integrates_linear_motion() {
        let shutter = Shutter::new(0.1, 0.6, 7).unwrap();
        let mean = shutter.times(&FrameClock::FILM, 5).sum::<f64>() / 7.0;
        assert!((mean - (5.0 + 0.1 + 0.3) / 24.0).abs() < 1e-15 * 8.0);
    }

    #[test]
    fn the_weights_of_a_filter_sum_to_one_and_peak_where_it_does() {
        for samples in [1, 2, 3, 8, 15, 1000] {
            let shutter = Shutter::centred(PI, samples).unwrap();
            for filter in [Filter::Box, Filter::Triangle] {
                let weights: Vec<f64> = shutter.weights(filter).collect();
                let sum: f64 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-15 * f64::from(samples.max(8)));
                let mirrored = weights.iter().zip(weights.iter().rev());
                assert!(mirrored.clone().all(|(a, b)| (a - b).abs() < 1e-15));
                let rising = &weights[..weights.len().div_ceil(2)];
                let rises = rising.windows(2).all(|pair| pair[0] < pair[1]);
                assert_eq!(
                    rises || rising.len() < 2,
                    filter == Filter::Triangle || rising.len() < 2
                );
            }
        }
        let four: Vec<f64> = Shutter::centred(PI, 4)
            .unwrap()
            .weights(Filter::Triangle)
            .collect();
        assert_eq!(four, [0.125, 0.375, 0.375, 0.125]);
    }

    #[test]
    fn what_moves_evenly_is_seen_at_the_middle_of_the_exposure() {
        let shutter = Shutter::new(0.25, 0.5, 6).unwrap();
        let position = |time: f64| Vec3::new(3.0, -1.0, 2.0) * time as f32;
        for filter in [Filter::Box, Filter::Triangle] {
            let seen = shutter.blurred(filter, &FrameClock::FILM, 12, position);
            let middle = position(12.5 / 24.0);
            assert!((seen - middle).norm() < 8.0 * f32::EPSILON * middle.norm());
        }
        let one = Shutter::new(0.0, 1.0, 1).unwrap();
        assert_eq!(
            one.blurred(Filter::Box, &FrameClock::FPS_60, 3, |time| (time * 60.0)
                as f32),
            3.5
        );
    }

    #[test]
    fn a_square_is_seen_with_the_second_moment_of_the_filter() {
        // Over an exposure of one frame of 1 s around 0, the mean of t² is 1/12 for a box and 1/24 for a triangle.
        let second = FrameClock::new(1, 1).unwrap();
        for (filter, moment) in [(Filter::Box, 1.0 / 12.0), (Filter::Triangle, 1.0 / 24.0)] {
            for samples in [2, 4, 8, 16, 32] {
                let shutter = Shutter::centred(TAU, samples).unwrap();
                let seen = shutter.blurred(filter, &second, 0, |t| (t * t) as f32);
                // Each stratum is taken at its middle: 1/(12 n²) is missing for the box, half as much for the triangle at
                // most, whose light also lies off the middles.
                let bound = 1.0 / (12.0 * f64::from(samples * samples));
                assert!(
                    (f64::from(seen) - moment).abs() <= bound + 1e-7,
                    "{filter:?} {samples}: {seen}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn frame_at_undoes_time_of(frame in -2_000_000_i64..2_000_000, numerator in 1_u32..200_000, denominator in 1_u32..2000) {
            let clock = FrameClock::new(numerator, denominator).unwrap();
            let time = clock.time_of(frame);
            prop_assert_eq!(clock.frame_at(time), frame);
            prop_assert_eq!(clock.frame_at(time.next_down()), frame - 1);
        }

        #[test]
        fn any_time_has_a_frame(time: f64, numerator in 1_u32.., denominator in 1_u32..) {
            let clock = FrameClock::new(numerator, denominator).unwrap();
            clock.frame_at(time);
            clock.frame_count(time);
        }
    }
}
