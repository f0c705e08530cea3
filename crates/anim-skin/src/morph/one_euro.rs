//! Tracked weights smoothed without lag: a low-pass whose cutoff rises with speed (the 1€ filter).
//!
//! Jitter is seen where a face holds still, lag where it moves fast, so the filter is slow for the one and quick for the
//! other. Tune it in two steps: lower [`min_cutoff`](OneEuro::min_cutoff) at rest until nothing trembles, then raise
//! [`beta`](OneEuro::beta) in fast motion until nothing trails. It knows the past only; recordings may be smoothed
//! both ways, with no lag at all.
//!
//! ```
//! use anim_skin::morph::one_euro::{OneEuro, OneEuroState};
//!
//! let filter = OneEuro::default();
//! let mut state = OneEuroState::new(2);
//! filter.update(&[0.25, 0.5], 1.0 / 60.0, &mut state);
//! assert_eq!(state.weights(), [0.25, 0.5]);
//! // The second shape is lost for a frame and holds; the first follows in part.
//! filter.update(&[0.75, f32::NAN], 1.0 / 60.0, &mut state);
//! assert!(state.weights()[0] > 0.25 && state.weights()[0] < 0.75);
//! assert_eq!(state.weights()[1], 0.5);
//! ```

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// How much is smoothed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OneEuro {
    /// Cutoff at rest, Hz: the less, the less jitter. 0 or less holds the first value for ever.
    pub min_cutoff: f32,
    /// How much the cutoff rises with speed, Hz for one unit a second, at least 0: the more, the less lag. 0 is a plain low-pass.
    pub beta: f32,
    /// Cutoff of the speed itself, Hz.
    pub derivative_cutoff: f32,
}

impl Default for OneEuro {
    /// For weights from 0 to 1: 1.5 Hz at rest; a blink of 10 a second passes at 21.5 Hz.
    fn default() -> Self {
        Self {
            min_cutoff: 1.5,
            beta: 2.0,
            derivative_cutoff: 1.0,
        }
    }
}

/// What the filter of one face remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct OneEuroState {
    weights: Vec<f32>,
    tracks: Vec<Track>,
}

/// One weight; `tracked` is NaN until it was first seen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Track {
    tracked: f64,
    /// Seconds since `tracked`.
    age: f64,
    speed: f64,
    value: f64,
}

impl Track {
    const UNSEEN: Self = Self {
        tracked: f64::NAN,
        age: 0.0,
        speed: 0.0,
        value: 0.0,
    };
}

impl OneEuroState {
    /// Nothing seen yet of `count` weights: all are 0.
    pub fn new(count: usize) -> Self {
        Self {
            weights: vec![0.0; count],
            tracks: vec![Track::UNSEEN; count],
        }
    }

    /// The smoothed weights, never outside of what was tracked.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Forgets all, for a cut: the next frame is taken as it is.
    pub fn restart(&mut self) {
        self.tracks.fill(Track::UNSEEN);
    }
}

impl OneEuro {
    /// Smooths the next frame, `dt` seconds after the last: x̂ ← x̂ + α (x − x̂), α = dt / (dt + τ), τ = 1 / 2πf,
    /// f = min_cutoff + β |ẋ|.
    ///
    /// * `tracked`: one a weight, any unit. One that is no number holds its weight, and the next that is one counts for the
    ///   whole time. The first is taken as it is. * `dt`: may vary; a frame of no length, or of none that is a number,
    ///   changes nothing.
    ///
    /// A ramp of speed v is followed at the distance v·τ whatever the frame rate, white noise loses all but α / (2 − α) of
    /// its variance. The speed ẋ is that of the tracked values, smoothed by its own cutoff; the paper takes the difference
    /// from the smoothed value, which makes it depend on the frame rate. O(weights), in f64; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `tracked` is not one a weight of `state`.
    ///
    /// Source: Casiez, Roussel, Vogel, "1€ filter: a simple speed-based low-pass filter for noisy input in interactive
    /// systems", CHI 2012, algorithm 1.
    pub fn update(&self, tracked: &[f32], dt: f32, state: &mut OneEuroState) {
        assert_eq!(tracked.len(), state.tracks.len(), "one weight each");
        if dt.is_nan() || dt <= 0.0 {
            return;
        }
        let [min_cutoff, beta, derivative_cutoff] =
            [self.min_cutoff, self.beta, self.derivative_cutoff].map(|v| f64::from(v.max(0.0)));
        let tracks = state.tracks.iter_mut().zip(&mut state.weights);
        for ((track, weight), tracked) in tracks.zip(tracked) {
            track.age += f64::from(dt);
            if !tracked.is_finite() {
                continue;
            }
            let tracked = f64::from(*tracked);
            if track.tracked.is_nan() {
                *track = Track {
                    tracked,
                    value: tracked,
                    ..Track::UNSEEN
                };
            } else {
                let speed = (tracked - track.tracked) / track.age;
                track.speed += share(derivative_cutoff, track.age) * (speed - track.speed);
                let alpha = share(min_cutoff + beta * track.speed.abs(), track.age);
                let value = track.value + alpha * (tracked - track.value);
                // Rounding alone could leave the way between the two.
                track.value = value.clamp(track.value.min(tracked), track.value.max(tracked));
                (track.tracked, track.age) = (tracked, 0.0);
            }
            *weight = track.value as f32;
        }
    }
}

/// α of a cutoff, Hz, for a frame of `dt` seconds: dt / (dt + τ).
fn share(cutoff: f64, dt: f64) -> f64 {
    if cutoff == 0.0 {
        return 0.0;
    }
    // By τ / dt, so that a frame without end makes no NaN.
    1.0 / (1.0 + 1.0 / (TAU * cutoff * dt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_math::Random;

    /// A plain low-pass.
    fn low_pass(cutoff: f32) -> OneEuro {
        OneEuro {
            min_cutoff: cutoff,
            beta: 0.0,
            ..OneEuro::default()
        }
    }

    /// One weight through `filter`, frame by frame.
    fn smoothed(filter: &OneEuro, frames: impl Iterator<Item = (f32, f32)>) -> Vec<f32> {
        let mut state = OneEuroState::new(1);
        let step = |(tracked, dt)| {
            filter.update(&[tracked], dt, &mut state);
            state.weights()[0]
        };
        frames.map(step).collect()
    }

    #[test]
    fn what_holds_still_is_kept_to_the_bit() {
        let frames = (0..100_u8).map(|frame| (0.3, 0.001 + f32::from(frame) * 0.001));
        let out = smoothed(&OneEuro::default(), frames);
        assert!(out.iter().all(|weight| *weight == 0.3));
    }

    #[test]
    fn a_step_is_followed_as_a_low_pass_of_first_order_does() {
        let (cutoff, dt) = (2.0_f32, 1.0 / 60.0_f32);
        let frames = (0..60_u8).map(|frame| (if frame == 0 { 0.0 } else { 1.0 }, dt));
        let out = smoothed(&low_pass(cutoff), frames);
        // What is left falls by τ / (τ + dt) a frame.
        let time = 1.0 / (TAU * f64::from(cutoff));
        let left = time / (time + f64::from(dt));
        for (frame, weight) in (0..).zip(&out) {
            let expected = 1.0 - left.powi(frame);
            // One rounding to f32.
            assert!(
                (f64::from(*weight) - expected).abs() < 1e-7,
                "{frame}: {weight} {expected}"
            );
        }
    }

    #[test]
    fn a_ramp_is_followed_at_its_speed_times_the_time_constant() {
        for (dt, speed) in [
            (1.0 / 60.0, 0.5_f32),
            (1.0 / 30.0, 2.0),
            (1.0 / 240.0, 10.0),
        ] {
            let filter = OneEuro::default();
            // Ten seconds are sixty time constants of the speed.
            let count = (10.0_f32 / dt).round() as u16;
            let ramp = |frame: u16| speed * f32::from(frame) * dt;
            let out = smoothed(&filter, (0..=count).map(|frame| (ramp(frame), dt)));
            let cutoff = f64::from(filter.min_cutoff) + f64::from(filter.beta * speed);
            let expected = f64::from(speed) / (TAU * cutoff);
            let lag = f64::from(ramp(count)) - f64::from(out[usize::from(count)]);
            // The ramp is rounded at 100, by 4e-6 at most; a frame's difference of that over dt is 2e-3 of the speed.
            assert!(
                (lag - expected).abs() < 4e-3 * expected + 8e-6,
                "{lag} {expected}"
            );
        }
    }

    /// Numbers that do not depend on each other, variance 1/12.
    fn noise() -> impl Iterator<Item = f32> + Clone {
        (0..).map(|frame| Random::new(7, frame, 0).uniform() - 0.5)
    }

    fn variance(values: &[f32]) -> f64 {
        let count = values.len() as f64;
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / count;
        let squares = values.iter().map(|v| (f64::from(*v) - mean).powi(2));
        squares.sum::<f64>() / count
    }

    /// Frames of noise: a variance is then known to about √(2 / frames · 1/α) of itself, less than 4 %.
    const FRAMES: usize = 20_000;

    #[test]
    fn white_noise_keeps_alpha_over_two_minus_alpha_of_its_variance() {
        let dt = 1.0 / 60.0;
        let out = smoothed(&low_pass(1.0), noise().take(FRAMES).map(|v| (v, dt)));
        let alpha = share(1.0, f64::from(dt));
        let expected = alpha / (2.0 - alpha) / 12.0;
        let found = variance(&out[100..]);
        assert!((found / expected - 1.0).abs() < 0.12, "{found} {expected}");
    }

    #[test]
    fn a_blink_trails_less_than_after_a_plain_low_pass_of_the_same_jitter() {
        let (dt, jitter) = (1.0 / 60.0_f32, 0.02);
        let filter = OneEuro::default();
        let at_rest = || noise().take(FRAMES).map(|v| (0.5 + jitter * v, dt));
        let tracked: Vec<f32> = at_rest().map(|frame| frame.0).collect();
        let ratio = variance(&smoothed(&filter, at_rest())[100..]) / variance(&tracked);
        // The low-pass of that jitter has α / (2 − α) = ratio.
        let alpha = 2.0 * ratio / (1.0 + ratio);
        let plain = alpha / (1.0 - alpha) / (TAU * f64::from(dt));
        assert!(
            plain < 3.0,
            "at rest the cutoff is near its least: {plain} Hz"
        );
        // A lid that closes in six frames, open for a second before.
        let lid = |frame: u16| (f32::from(frame.saturating_sub(60)) / 6.0).min(1.0);
        let trail = |filter: &OneEuro| {
            let out = smoothed(filter, (0..=66).map(|frame| (lid(frame), dt)));
            1.0 - f64::from(out[66])
        };
        let (ours, theirs) = (trail(&filter), trail(&low_pass(plain as f32)));
        assert!(ours < 0.6 * theirs, "{ours} {theirs}");
    }

    #[test]
    fn weights_stay_within_what_was_tracked() {
        let wild = noise().take(500).map(|v| if v > 0.0 { 1.0 } else { 0.0 });
        let times = noise().skip(1000).map(|v| (v + 0.5) * 0.2);
        for filter in [
            OneEuro::default(),
            low_pass(1e30),
            low_pass(f32::INFINITY),
            low_pass(-1.0),
            low_pass(f32::NAN),
        ] {
            let out = smoothed(&filter, wild.clone().zip(times.clone()));
            assert!(out.iter().all(|weight| (0.0..=1.0).contains(weight)));
        }
    }

    #[test]
    fn lost_values_hold_and_odd_frames_change_nothing() {
        let filter = OneEuro::default();
        let mut state = OneEuroState::new(1);
        filter.update(&[f32::NAN], 0.1, &mut state);
        assert_eq!(state.weights(), [0.0]);
        filter.update(&[0.5], 0.1, &mut state);
        for (tracked, dt) in [
            (1.0, 0.0),
            (1.0, f32::NAN),
            (1.0, -0.1),
            (f32::INFINITY, 0.1),
        ] {
            filter.update(&[tracked], dt, &mut state);
            assert_eq!(state.weights(), [0.5]);
        }
        // One frame was lost: the next counts for both.
        filter.update(&[1.0], 0.1, &mut state);
        let both = smoothed(&filter, [(0.5, 0.1), (1.0, 0.2)].into_iter());
        // Two summands of 0.1 are 0.2 to rounding.
        assert!((state.weights()[0] - both[1]).abs() < 1e-7);
        filter.update(&[0.0], f32::INFINITY, &mut state);
        assert_eq!(state.weights(), [0.0]);
        filter.update(&[f32::MAX], 1e-30, &mut state);
        filter.update(&[f32::MIN], 1e-30, &mut state);
        assert!(state.weights()[0].is_finite());
        state.restart();
        filter.update(&[0.75], 0.1, &mut state);
        assert_eq!(state.weights(), [0.75]);
    }
}
