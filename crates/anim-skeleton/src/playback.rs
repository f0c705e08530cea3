//! Where a clip is being played: a time, a speed, and what happens at the ends.
//!
//! ```
//! use anim_skeleton::{Playback, Wrap};
//!
//! let mut playback = Playback { time: 0.0, speed: -1.0, wrap: Wrap::Loop };
//! assert_eq!(playback.advance(2.5, 1.0), -3); // backwards over the start, three times
//! assert_eq!(playback.time, 0.5);
//! ```

use serde::{Deserialize, Serialize};

/// What a time outside a clip means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wrap {
    /// Hold the first or last frame.
    #[default]
    Clamp,
    /// Start over; the end is the start.
    Loop,
}

impl Wrap {
    /// The time inside a clip of `duration` seconds: in [0, duration], or in [0, duration) if it loops.
    ///
    /// A time that is not finite is 0, and so is every time of a clip without length.
    pub fn apply(self, time: f64, duration: f32) -> f32 {
        let inside = self.wrap(time, f64::from(duration)) as f32;
        // Rounding to f32 may reach the end, which is the start.
        if self == Self::Loop && inside >= duration {
            0.0
        } else {
            inside
        }
    }

    fn wrap(self, time: f64, duration: f64) -> f64 {
        if !(time.is_finite() && duration.is_finite() && duration > 0.0) {
            return 0.0;
        }
        match self {
            Self::Clamp => time.clamp(0.0, duration),
            Self::Loop => match time.rem_euclid(duration) {
                inside if inside < duration => inside,
                _ => 0.0,
            },
        }
    }
}

/// One clip being played by one character.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Playback {
    /// Seconds into the clip.
    pub time: f64,
    /// Clip seconds per second; negative plays backwards.
    pub speed: f32,
    /// What happens at the ends.
    pub wrap: Wrap,
}

impl Default for Playback {
    /// At the start, at normal speed, once.
    fn default() -> Self {
        Self {
            time: 0.0,
            speed: 1.0,
            wrap: Wrap::Clamp,
        }
    }
}

impl Playback {
    /// Moves on by `dt` seconds, either way, in a clip of `duration` seconds, and tells how often it started over.
    ///
    /// Backwards that number is negative; it is 0 if the clip does not loop or has no length. A step that is not finite
    /// is left out.
    pub fn advance(&mut self, dt: f32, duration: f32) -> i64 {
        let step = f64::from(dt) * f64::from(self.speed);
        let target = self.time + if step.is_finite() { step } else { 0.0 };
        let length = f64::from(duration);
        self.time = self.wrap.wrap(target, length);
        let turns = (target / length).floor();
        if self.wrap == Wrap::Loop && turns.is_finite() {
            turns as i64
        } else {
            0
        }
    }

    /// The time to sample a clip of `duration` seconds at.
    pub fn sample_time(&self, duration: f32) -> f32 {
        self.wrap.apply(self.time, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playing(speed: f32, wrap: Wrap) -> Playback {
        Playback {
            time: 0.0,
            speed,
            wrap,
        }
    }

    #[test]
    fn a_clip_played_once_stops_at_its_end() {
        let mut playback = playing(1.0, Wrap::Clamp);
        for _ in 0..4 {
            assert_eq!(playback.advance(0.4, 1.0), 0);
        }
        assert_eq!(playback.time, 1.0);
        assert_eq!(playback.sample_time(1.0), 1.0);
    }

    #[test]
    fn a_clip_without_length_stays_at_its_start() {
        for wrap in [Wrap::Clamp, Wrap::Loop] {
            let mut playback = playing(1.0, wrap);
            for _ in 0..100 {
                assert_eq!(playback.advance(0.016, 0.0), 0);
                assert_eq!(playback.time, 0.0);
            }
        }
    }

    #[test]
    fn a_long_step_backwards_wraps_as_often_as_it_must() {
        let mut playback = playing(-1.0, Wrap::Loop);
        assert_eq!(playback.advance(2.5, 1.0), -3);
        assert_eq!(playback.time, 0.5);
        assert_eq!(playback.advance(-2.5, 1.0), 3);
        assert_eq!(playback.time, 0.0);
    }

    #[test]
    fn steps_and_speeds_that_are_not_finite_change_nothing() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut playback = playing(1.0, Wrap::Loop);
            playback.advance(0.25, 1.0);
            playback.advance(bad, 1.0);
            assert_eq!(playback.time, 0.25);
            playback.speed = bad;
            playback.advance(0.1, 1.0);
            assert_eq!(playback.time, 0.25);
        }
    }

    #[test]
    fn the_end_of_a_loop_is_its_start() {
        assert_eq!(Wrap::Loop.apply(2.0, 2.0), 0.0);
        assert_eq!(Wrap::Clamp.apply(2.0, 2.0), 2.0);
        assert_eq!(Wrap::Loop.apply(-1e-30, 2.0), 0.0);
        assert_eq!(Wrap::Loop.apply(7.5, 2.0), 1.5);
        assert_eq!(Wrap::Loop.apply(-0.5, 2.0), 1.5);
    }

    #[test]
    fn no_time_and_no_duration_leave_the_clip() {
        for time in [0.0, -3.7, 1e300, f64::NAN, f64::INFINITY] {
            for duration in [
                0.0,
                1e-40,
                0.1,
                3.0,
                f32::MAX,
                f32::NAN,
                f32::INFINITY,
                -1.0,
            ] {
                for wrap in [Wrap::Clamp, Wrap::Loop] {
                    let inside = wrap.apply(time, duration);
                    assert!(inside == 0.0 || (0.0..=duration).contains(&inside));
                }
            }
        }
    }
}
