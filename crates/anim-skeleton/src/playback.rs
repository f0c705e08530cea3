//! Where a clip is being played: a time, a speed, and what happens at the ends.
//!
//! Each [`advance`](Playback::advance) tells as a [`Passage`] what it went over; [`Events`](crate::Events) and
//! [`RootMotion`](crate::RootMotion) answer to that.
//!
//! ```
//! use anim_skeleton::{Playback, Wrap};
//!
//! let mut playback = Playback::new(-1.0, Wrap::Loop);
//! assert_eq!(playback.advance(2.5, 1.0).loops(), -3); // backwards over the start, three times
//! assert_eq!(playback.time, 0.5);
//! ```

use serde::{Deserialize, Serialize};

use crate::Passage;

/// What a time outside a clip means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wrap {
    /// Hold the first or last frame.
    #[default]
    Clamp,
    /// Start over; the end is the start.
    Loop,
    /// Turn back at the end, and again at the start: a period is there and back.
    PingPong,
}

impl Wrap {
    /// The time inside a clip of `duration` seconds: in [0, duration], or in [0, duration) if it loops.
    ///
    /// A time that is not finite is 0, and so is every time of a clip without length.
    pub fn apply(self, time: f64, duration: f32) -> f32 {
        let length = f64::from(duration);
        let inside = self.wrap(time, length);
        let inside = match self {
            // Whichever of the way there and the way back is the shorter.
            Self::PingPong => inside.min((2.0 * length - inside).max(0.0)) as f32,
            Self::Clamp | Self::Loop => inside as f32,
        };
        // Rounding to f32 may reach the end, which is the start.
        if self == Self::Loop && inside >= duration {
            0.0
        } else {
            inside
        }
    }

    /// The same moment in the first period: [0, duration], [0, duration) or [0, 2 · duration).
    pub(crate) fn wrap(self, time: f64, duration: f64) -> f64 {
        if !(time.is_finite() && duration.is_finite() && duration > 0.0) {
            return 0.0;
        }
        match self {
            Self::Clamp => time.clamp(0.0, duration),
            Self::Loop | Self::PingPong => match time.rem_euclid(self.period(duration)) {
                inside if inside < self.period(duration) => inside,
                _ => 0.0,
            },
        }
    }

    /// How long until all repeats, s.
    pub(crate) fn period(self, duration: f64) -> f64 {
        match self {
            Self::Clamp | Self::Loop => duration,
            Self::PingPong => 2.0 * duration,
        }
    }
}

/// One clip being played by one character.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Playback {
    /// Seconds into the clip; in ping-pong up to twice its duration, the way back included.
    pub time: f64,
    /// Clip seconds per second; negative plays backwards.
    pub speed: f32,
    /// What happens at the ends.
    pub wrap: Wrap,
    /// True once a step has crossed the moment at `time`.
    entered: bool,
}

impl Default for Playback {
    /// At the start, at normal speed, once.
    fn default() -> Self {
        Self::new(1.0, Wrap::Clamp)
    }
}

impl Playback {
    /// At time 0, not yet running. To start a clip at its end, to play it backwards once, [`seek`](Self::seek) there.
    pub const fn new(speed: f32, wrap: Wrap) -> Self {
        Self {
            time: 0.0,
            speed,
            wrap,
            entered: false,
        }
    }

    /// Moves on by `dt` seconds, either way, in a clip of `duration` seconds, and tells what was crossed.
    ///
    /// The first step that is not 0 after the start or a seek also crosses the moment it starts from. A step that is not
    /// finite is left out: its passage is empty.
    pub fn advance(&mut self, dt: f32, duration: f32) -> Passage {
        let length = f64::from(duration);
        let from = self.wrap.wrap(self.time, length);
        let step = match f64::from(dt) * f64::from(self.speed) {
            step if step.is_finite() => step,
            _ => 0.0,
        };
        let target = from + step;
        self.time = self.wrap.wrap(target, length);
        let has_length = length.is_finite() && length > 0.0;
        let to = if self.wrap == Wrap::Clamp || !has_length {
            self.time
        } else {
            target
        };
        let enters = step != 0.0 && !self.entered;
        self.entered |= enters;
        Passage {
            from,
            to,
            includes_from: enters,
            duration,
            wrap: self.wrap,
        }
    }

    /// Goes to `time`, s, as if playback had started there: what lies between is not crossed, and what lies exactly there
    /// is crossed by the next step.
    pub fn seek(&mut self, time: f64) {
        self.time = time;
        self.entered = false;
    }

    /// True if a clip of `duration` seconds that is played once has come to the end it moves towards.
    ///
    /// A clip that stands still or repeats never finishes.
    pub fn is_finished(&self, duration: f32) -> bool {
        let length = f64::from(duration);
        let inside = self.wrap.wrap(self.time, length);
        self.wrap == Wrap::Clamp
            && ((self.speed > 0.0 && inside >= length) || (self.speed < 0.0 && inside <= 0.0))
    }

    /// The time to sample a clip of `duration` seconds at.
    pub fn sample_time(&self, duration: f32) -> f32 {
        self.wrap.apply(self.time, duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_played_once_stops_at_its_end() {
        let mut playback = Playback::new(1.0, Wrap::Clamp);
        for _ in 0..3 {
            assert!(!playback.is_finished(1.0));
            assert_eq!(playback.advance(0.4, 1.0).loops(), 0);
        }
        assert!(playback.is_finished(1.0));
        assert_eq!(playback.time, 1.0);
        assert_eq!(playback.sample_time(1.0), 1.0);
    }

    #[test]
    fn a_clip_without_length_stays_at_its_start() {
        for wrap in [Wrap::Clamp, Wrap::Loop, Wrap::PingPong] {
            let mut playback = Playback::new(1.0, wrap);
            for _ in 0..100 {
                assert_eq!(playback.advance(0.016, 0.0).loops(), 0);
                assert_eq!(playback.time, 0.0);
            }
        }
    }

    #[test]
    fn a_long_step_backwards_wraps_as_often_as_it_must() {
        let mut playback = Playback::new(-1.0, Wrap::Loop);
        assert_eq!(playback.advance(2.5, 1.0).loops(), -3);
        assert_eq!(playback.time, 0.5);
        assert_eq!(playback.advance(-2.5, 1.0).loops(), 3);
        assert_eq!(playback.time, 0.0);
    }

    #[test]
    fn ping_pong_turns_at_both_ends() {
        let expected = [0.75, 0.5, 0.0, 0.5, 1.0, 0.75];
        for (time, inside) in [0.75, 1.5, 2.0, 2.5, 3.0, -0.75].into_iter().zip(expected) {
            assert_eq!(Wrap::PingPong.apply(time, 1.0), inside);
        }
        let mut playback = Playback::new(1.0, Wrap::PingPong);
        assert_eq!(playback.advance(5.5, 1.0).loops(), 2);
        assert_eq!(playback.time, 1.5);
        assert_eq!(playback.sample_time(1.0), 0.5);
    }

    #[test]
    fn a_clip_played_backwards_once_finishes_at_its_start() {
        let mut playback = Playback::new(-1.0, Wrap::Clamp);
        playback.seek(1.0);
        assert!(!playback.is_finished(1.0));
        let passage = playback.advance(5.0, 1.0);
        assert_eq!((passage.from, passage.to), (1.0, 0.0));
        assert!(playback.is_finished(1.0));
    }

    #[test]
    fn a_seek_crosses_nothing_but_where_it_goes() {
        let mut playback = Playback::new(1.0, Wrap::Loop);
        assert!(playback.advance(0.25, 1.0).includes_from);
        playback.seek(0.75);
        assert!(playback.advance(0.0, 1.0).is_empty());
        let passage = playback.advance(0.125, 1.0);
        assert_eq!((passage.from, passage.to), (0.75, 0.875));
        assert!(passage.includes_from);
        assert!(!playback.advance(0.125, 1.0).includes_from);
    }

    #[test]
    fn playback_is_stored_with_whether_it_has_begun() {
        let read = |text: &str| serde_json::from_str::<Playback>(text).unwrap();
        assert_eq!(read("{}"), Playback::default());
        let mut playback = read(r#"{"time": 0.5, "speed": 2.0, "wrap": "pingpong"}"#);
        assert!(playback.advance(0.1, 1.0).includes_from);
        let mut copy = read(&serde_json::to_string(&playback).unwrap());
        assert_eq!(copy, playback);
        assert!(!copy.advance(0.1, 1.0).includes_from);
    }

    #[test]
    fn steps_and_speeds_that_are_not_finite_change_nothing() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut playback = Playback::new(1.0, Wrap::Loop);
            playback.advance(0.25, 1.0);
            assert!(playback.advance(bad, 1.0).is_empty());
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
                for wrap in [Wrap::Clamp, Wrap::Loop, Wrap::PingPong] {
                    let inside = wrap.apply(time, duration);
                    assert!(inside == 0.0 || (0.0..=duration).contains(&inside));
                }
            }
        }
    }
}
