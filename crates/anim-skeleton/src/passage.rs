//! The stretch of clip time that one step crossed.
//!
//! Events and root motion need to know not where playback stands but what it went over, however often the clip started
//! over in one step and whichever way it ran. A [`Passage`] is that, on an unwrapped time line: a loop of 2 s that went
//! from 1.5 to 4.5 s crossed its seam twice. Consecutive passages meet without gap or overlap.
//!
//! ```
//! use anim_skeleton::{Passage, Wrap};
//!
//! let passage = Passage::new(1.5, 4.5, 2.0, Wrap::Loop);
//! assert_eq!(passage.loops(), 2);
//! ```

use crate::Wrap;

/// What one step crossed: forwards (from, to], backwards [to, from).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// Unwrapped clip time before the step, s.
    pub from: f64,
    /// Unwrapped clip time after it, s; less than `from` if the clip runs backwards.
    pub to: f64,
    /// True right after the start or a seek: what lies exactly at `from` is crossed too.
    pub includes_from: bool,
    /// Length of the clip, s.
    pub duration: f32,
    /// What unwrapped times mean.
    pub wrap: Wrap,
}

impl Passage {
    /// From one unwrapped time to another, s, without what lies exactly at `from`.
    ///
    /// For callers that keep their own time; [`Playback::advance`](crate::Playback::advance) makes passages too.
    pub const fn new(from: f64, to: f64, duration: f32, wrap: Wrap) -> Self {
        Self {
            from,
            to,
            includes_from: false,
            duration,
            wrap,
        }
    }

    /// The same with what lies exactly at `from`: the first step after the start or a seek.
    pub const fn including_from(self) -> Self {
        Self {
            includes_from: true,
            ..self
        }
    }

    /// True if nothing is crossed, not even a moment; also if a time is not finite.
    pub fn is_empty(&self) -> bool {
        !self.is_finite() || (self.from == self.to && !self.includes_from)
    }

    /// True if the clip ran towards its start.
    pub fn is_backward(&self) -> bool {
        self.to < self.from
    }

    /// How often a looping clip started over, or a ping-pong came back to its start; negative backwards, else 0.
    ///
    /// Backwards the start is passed when it is left behind, not when it is reached.
    pub fn loops(&self) -> i64 {
        if !self.is_finite() {
            return 0;
        }
        let turn = |time| {
            let leg = Moment::at(time, self.duration, self.wrap).leg;
            match self.wrap {
                Wrap::Clamp => 0,
                Wrap::Loop => leg,
                Wrap::PingPong => leg.div_euclid(2),
            }
        };
        turn(self.to).saturating_sub(turn(self.from))
    }

    /// True if both times are numbers.
    pub(crate) fn is_finite(&self) -> bool {
        self.from.is_finite() && self.to.is_finite()
    }
}

/// An unwrapped time as a run over the clip and the seconds since that run began.
///
/// Moments are ordered as their fields are. The second of a looping clip's last moment and the next run's first is used;
/// a clamped clip has one run only, which includes its end. Comparing moments instead of times is what lets passages meet
/// exactly: where a wrapped time is carried on, its moment differs in `leg` alone.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Moment {
    /// Which run over the clip; in ping-pong the odd ones go back.
    pub(crate) leg: i64,
    /// Seconds since the run began: in [0, duration), or [0, duration] if clamped.
    pub(crate) since: f64,
}

impl Moment {
    pub(crate) fn at(time: f64, duration: f32, wrap: Wrap) -> Self {
        let length = f64::from(duration);
        let inside = wrap.wrap(time, length);
        if wrap == Wrap::Clamp || !(length.is_finite() && length > 0.0) {
            return Self {
                leg: 0,
                since: inside,
            };
        }
        let period = wrap.period(length);
        // Whole but for rounding; the cast saturates.
        let turn = ((time - inside) / period).round() as i64;
        match wrap {
            Wrap::PingPong if inside >= length => Self {
                leg: turn.saturating_mul(2).saturating_add(1),
                since: inside - length,
            },
            Wrap::PingPong => Self {
                leg: turn.saturating_mul(2),
                since: inside,
            },
            _ => Self {
                leg: turn,
                since: inside,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_counts_its_seams_either_way() {
        let loops = |from, to| Passage::new(from, to, 1.0, Wrap::Loop).loops();
        assert_eq!(loops(0.0, 1.0), 1);
        assert_eq!(loops(0.25, 0.75), 0);
        assert_eq!(loops(0.5, 1e9), 1_000_000_000);
        assert_eq!(loops(0.0, -2.5), -3);
        assert_eq!(loops(0.5, 0.0), 0);
        assert_eq!(loops(0.0, f64::NAN), 0);
    }

    #[test]
    fn a_ping_pong_has_turned_when_it_is_back_and_a_held_clip_never() {
        assert_eq!(Passage::new(0.5, 1.5, 1.0, Wrap::PingPong).loops(), 0);
        assert_eq!(Passage::new(0.5, 4.0, 1.0, Wrap::PingPong).loops(), 2);
        assert_eq!(Passage::new(0.5, 9.0, 1.0, Wrap::Clamp).loops(), 0);
    }

    #[test]
    fn a_time_a_hair_before_the_seam_is_the_seam() {
        let hair = Moment::at(-1e-30, 1.0, Wrap::Loop);
        assert_eq!((hair.leg, hair.since), (0, 0.0));
        let far = Moment::at(1e300, 1.0, Wrap::PingPong);
        assert!((0.0..1.0).contains(&far.since));
    }
}
