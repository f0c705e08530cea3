//! What a curve does before its first and after its last key: hold, go on straight, repeat, or swing back and forth.
//!
//! A [`Track`] itself holds. [`Extrapolation::map_time`] brings any time back between the keys and says how often the
//! curve has gone round, for values of every kind; [`Outside::sample`] also adds what straight lines and cycles with
//! offset need, for numbers and vectors.
//!
//! ```
//! use anim_curves::{Extrapolation, Interpolation, Key, Outside, Track};
//!
//! let stride = Track::new(vec![Key::new(0.0, 0.0_f32), Key::new(1.0, 2.0)], Interpolation::Linear)?;
//! let walk = Outside { before: Extrapolation::Hold, after: Extrapolation::CycleOffset };
//! assert_eq!(walk.sample(&stride, 10.25), 20.5); // ten strides and a quarter
//! assert_eq!(walk.sample(&stride, -3.0), 0.0);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{Interpolation, Linear, Track};

/// How a curve goes on past its keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extrapolation {
    /// The end key's value.
    #[default]
    Hold,
    /// Straight on with the velocity at the end key.
    Linear,
    /// Again from the other end; jumps if the ends differ.
    Cycle,
    /// Again, each time starting from the value where the last ended: a walk that gets ahead.
    CycleOffset,
    /// Back and forth.
    Mirror,
}

/// A time brought between the keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapped {
    /// Where to sample, s, in [start, end].
    pub time: f32,
    /// Whole rounds left out: 0 between the keys, negative before them; saturates.
    pub cycles: i32,
}

impl Extrapolation {
    /// Brings `time`, s, into the keys' range from `start` to `end`.
    ///
    /// Both ends belong to the range; past it, each round of a cycle holds its own start and not its end. Hold and linear
    /// map to the nearer end with 0 cycles, and so does everything if the range is empty or endless or `time` infinite; NaN
    /// maps to `start`. Computed in f64, so that the first rounds lose no digits.
    pub fn map_time(self, start: f32, end: f32, time: f32) -> Mapped {
        if time.is_nan() || time <= start || time >= end {
            self.map_outside(start, end, time)
        } else {
            Mapped { time, cycles: 0 }
        }
    }

    fn map_outside(self, start: f32, end: f32, time: f32) -> Mapped {
        let past = f64::from(time) - f64::from(start);
        let period = f64::from(end) - f64::from(start);
        let is_cyclic = !matches!(self, Self::Hold | Self::Linear);
        let is_end = time == start || time == end;
        let is_endless = !past.is_finite() || !period.is_finite();
        if is_end || !is_cyclic || is_endless || period <= 0.0 {
            let time = if time > start { end.max(start) } else { start };
            return Mapped { time, cycles: 0 };
        }
        let cycles = (past / period).floor();
        // Rounding may leave the remainder a hair outside [0, period].
        let within = (past - cycles * period).clamp(0.0, period);
        let is_backward = self == Self::Mirror && cycles % 2.0 != 0.0;
        let within = if is_backward { period - within } else { within };
        Mapped {
            time: ((f64::from(start) + within) as f32).clamp(start, end),
            cycles: cycles as i32,
        }
    }
}

/// How a track goes on on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Before the first key.
    #[serde(default)]
    pub before: Extrapolation,
    /// After the last key.
    #[serde(default)]
    pub after: Extrapolation,
}

impl Outside {
    /// The value of `track` at any `time`, s; between its keys that of [`Track::sample`]. O(log keys).
    ///
    /// Straight on means the velocity of an end key into the track if it is cubic, the slope of the first or last span if
    /// it is linear, and holding if it is stepped or has one key. An infinite time holds.
    pub fn sample<T: Linear>(self, track: &Track<T>, time: f32) -> T {
        let (times, values) = (track.times(), track.values());
        let last = times.len() - 1;
        let ends = [(times[0], values[0]), (times[last], values[last])];
        let inside = |time| track.sample(time);
        self.extend(ends, time, inside, |is_last| end_velocity(track, is_last))
    }

    /// The value at `time` of a curve that is `inside` between its `ends` and leaves them with `end_velocity(is last)`.
    pub(crate) fn extend<T: Linear>(
        self,
        [(start, first), (end, last)]: [(f32, T); 2],
        time: f32,
        inside: impl FnOnce(f32) -> T,
        end_velocity: impl FnOnce(bool) -> T,
    ) -> T {
        let (mode, key) = if time < start {
            (self.before, start)
        } else if time > end {
            (self.after, end)
        } else {
            return inside(time);
        };
        let mapped = mode.map_time(start, end, time);
        let value = inside(mapped.time);
        match mode {
            Extrapolation::Linear if time.is_finite() => {
                value + end_velocity(time > end) * (time - key)
            }
            Extrapolation::CycleOffset => value + (last - first) * mapped.cycles as f32,
            _ => value,
        }
    }
}

/// The velocity with which the curve leaves its first key backward, or its last forward.
fn end_velocity<T: Linear>(track: &Track<T>, is_last: bool) -> T {
    let (times, values) = (track.times(), track.values());
    let count = times.len();
    if count < 2 || track.interpolation() == Interpolation::Step {
        return values[0] * 0.0;
    }
    if track.interpolation() == Interpolation::Cubic {
        // The outer velocities of the end keys shape nothing and are often left zero, so the inner ones count.
        return if is_last {
            track.velocities()[count - 1][0]
        } else {
            track.velocities()[0][1]
        };
    }
    let from = if is_last { count - 2 } else { 0 };
    (values[from + 1] - values[from]) * (1.0 / (times[from + 1] - times[from]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Key, tangents};

    const ALL: [Extrapolation; 5] = [
        Extrapolation::Hold,
        Extrapolation::Linear,
        Extrapolation::Cycle,
        Extrapolation::CycleOffset,
        Extrapolation::Mirror,
    ];

    fn both(mode: Extrapolation) -> Outside {
        Outside {
            before: mode,
            after: mode,
        }
    }

    fn ramp() -> Track<f32> {
        let keys = vec![Key::new(1.0, 10.0), Key::new(3.0, 14.0)];
        Track::new(keys, Interpolation::Linear).unwrap()
    }

    #[test]
    fn each_mode_has_its_closed_form_on_a_ramp() {
        let times = [-3.5, 0.5, 1.0, 2.0, 3.0, 3.5, 5.0, 8.5];
        let expected = [
            [10.0, 10.0, 10.0, 12.0, 14.0, 14.0, 14.0, 14.0],
            [1.0, 9.0, 10.0, 12.0, 14.0, 15.0, 18.0, 25.0],
            [13.0, 13.0, 10.0, 12.0, 14.0, 11.0, 10.0, 13.0],
            [1.0, 9.0, 10.0, 12.0, 14.0, 15.0, 18.0, 25.0],
            [11.0, 11.0, 10.0, 12.0, 14.0, 13.0, 10.0, 11.0],
        ];
        for (mode, expected) in ALL.into_iter().zip(expected) {
            let found = times.map(|time| both(mode).sample(&ramp(), time));
            assert_eq!(found, expected, "{mode:?}");
        }
    }

    #[test]
    fn rounds_are_counted_on_both_sides() {
        let cycles = |time| Extrapolation::Cycle.map_time(1.0, 3.0, time).cycles;
        let times = [-1.5, -1.0, 0.5, 1.0, 3.0, 3.5, 5.0, 1e30];
        assert_eq!(times.map(cycles), [-2, -1, -1, 0, 0, 1, 2, i32::MAX]);
    }

    #[test]
    fn a_cubic_goes_on_with_the_velocity_it_has_inside() {
        let mut keys = vec![Key::new(0.0, 0.0), Key::new(1.0, 1.0), Key::new(2.0, 4.0)];
        tangents::catmull_rom(&mut keys);
        keys[0].velocity = Some([99.0, 0.0]);
        keys[2].velocity = Some([4.0, 99.0]);
        let parabola = Track::new(keys, Interpolation::Cubic).unwrap();
        let straight = both(Extrapolation::Linear);
        assert_eq!(straight.sample(&parabola, -5.0), 0.0);
        assert_eq!(straight.sample(&parabola, 3.0), 8.0);
    }

    #[test]
    fn one_key_and_steps_hold_in_every_mode_that_does_not_move_them() {
        let one = Track::new(vec![Key::new(2.0, 7.0_f32)], Interpolation::Linear).unwrap();
        for mode in ALL {
            for time in [-9.0, 2.0, 9.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
                assert_eq!(both(mode).sample(&one, time), 7.0);
            }
        }
        let keys = vec![Key::new(0.0, 1.0_f32), Key::new(1.0, 2.0)];
        let step = Track::new(keys, Interpolation::Step).unwrap();
        assert_eq!(both(Extrapolation::Linear).sample(&step, 5.0), 2.0);
    }

    proptest! {
        #[test]
        fn any_time_maps_into_the_keys(start: f32, end: f32, time: f32, mode in 0..5_usize) {
            let mapped = ALL[mode].map_time(start, end, time);
            prop_assume!(start.is_finite() && end.is_finite());
            let (start, end) = (start.min(end), start.max(end));
            prop_assert!(mapped.time >= start && mapped.time <= end);
        }

        #[test]
        fn a_whole_period_later_a_cycle_is_the_same_and_a_mirror_is_turned(
            quarters in -400_i16..400, period in 1_u8..20,
        ) {
            // Quarters of seconds are exact, so that equality is.
            let period = f32::from(period);
            let time = f32::from(quarters) * 0.25 + 0.125;
            let at = |mode: Extrapolation, time| mode.map_time(0.0, period, time);
            let (now, later) = (at(Extrapolation::Cycle, time), at(Extrapolation::Cycle, time + period));
            prop_assert_eq!(now.time, later.time);
            prop_assert_eq!(now.cycles + 1, later.cycles);
            let mirrored = at(Extrapolation::Mirror, time + period).time;
            prop_assert_eq!(at(Extrapolation::Mirror, time).time, period - mirrored);
        }
    }
}
