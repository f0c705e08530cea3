//! From curves with weighted handles to cubic tracks, exactly where that can be and within a tolerance elsewhere.
//!
//! A weighted span is a Bézier curve in time and value, whose value is no polynomial of time; it is halved until the cubic
//! with the same values and slopes at both ends fits. See [`FCurve::to_track`].

use std::cell::Cell;

use crate::f_curve::{chord, weighted};
use crate::interpolate::fraction;
use crate::{Bezier, CurveError, FCurve, FKey, Interpolation, Key, Linear, Track};

/// A span is halved this often at most, where a vertical tangent never becomes a cubic of time.
const DEPTH: u32 = 12;

impl<T: Linear> FCurve<T> {
    /// The track that is this curve between its first and last key, within `tolerance` in every component.
    ///
    /// It is exact, to rounding, where it can be: a curve of steps gives a stepped track, of lines a linear one, and
    /// otherwise a cubic one, in which unweighted spans (handles of a third) and lines are one piece, a step jumps just
    /// before the next key, and weighted spans are halved until a cubic fits. A vertical tangent is halved twelve times
    /// and then taken for a line; times are f32, so that a cliff is as steep as those can tell.
    ///
    /// # Errors
    ///
    /// [`CurveError::Tolerance`] if it is negative or not a number; [`CurveError::NotFinite`] if a slope overflows.
    pub fn to_track(&self, tolerance: f32) -> Result<Track<T>, CurveError> {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(CurveError::Tolerance { tolerance });
        }
        let keys = self.keys();
        let first = keys[0].interpolation;
        let ways = &keys[..keys.len() - 1];
        if first != Interpolation::Cubic && ways.iter().all(|key| key.interpolation == first) {
            let keys = keys.iter().map(|key| Key::new(key.time, key.value));
            return Track::new(keys.collect(), first);
        }
        let rest = keys[0].value * 0.0;
        let mut pieces = Pieces {
            keys: vec![Key {
                velocity: Some([rest; 2]),
                ..Key::new(keys[0].time, keys[0].value)
            }],
            tolerance,
        };
        for pair in keys.windows(2) {
            pieces.add_span(&pair[0], &pair[1]);
        }
        Track::new(pieces.keys, Interpolation::Cubic)
    }
}

/// A cubic span by its parameter u, 0 to 1.
pub(crate) struct Timed<T: Linear> {
    /// Seconds.
    start: f64,
    /// Seconds.
    span: f64,
    /// Where the handles end, 0 to 1 over the span.
    alphas: [f64; 2],
    values: Bezier<T>,
}

impl<T: Linear> Timed<T> {
    pub(crate) fn new(from: &FKey<T>, to: &FKey<T>) -> Self {
        let (alphas, values) = weighted(from, to).parts();
        let start = f64::from(from.time);
        Self {
            start,
            span: f64::from(to.time) - start,
            alphas,
            values,
        }
    }

    fn time(&self, u: f64) -> f32 {
        let [x1, x2] = self.alphas;
        let v = 1.0 - u;
        let alpha = 3.0 * v * u * (v * x1 + u * x2) + u * u * u;
        (self.start + self.span * alpha) as f32
    }

    /// dv/dt = (dv/du) / (dt/du); at the ends towards the first control point that is apart in time.
    pub(crate) fn velocity(&self, u: f64) -> T {
        let [x1, x2] = self.alphas;
        let [p0, p1, p2, p3] = self.values.0;
        // Below this share of the span a handle has no direction that f32 can tell.
        let least = 1e-6;
        let towards = |near: (f64, T), far: (f64, T), end: (f64, T)| {
            let pick = [near, far].into_iter().find(|(x, _)| *x > least);
            let (x, change) = pick.unwrap_or(end);
            change * ((1.0 / (x * self.span)) as f32)
        };
        if u <= 0.0 {
            towards((x1, p1 - p0), (x2, p2 - p0), (1.0, p3 - p0))
        } else if u >= 1.0 {
            towards((1.0 - x2, p3 - p2), (1.0 - x1, p3 - p1), (1.0, p3 - p0))
        } else {
            let v = 1.0 - u;
            let rate = 3.0 * (v * v * x1 + 2.0 * v * u * (x2 - x1) + u * u * (1.0 - x2));
            self.values.derivative(u as f32) * ((1.0 / (rate.max(least) * self.span)) as f32)
        }
    }
}

/// The keys of a cubic track so far.
struct Pieces<T: Linear> {
    keys: Vec<Key<T>>,
    tolerance: f32,
}

impl<T: Linear> Pieces<T> {
    fn add_span(&mut self, from: &FKey<T>, to: &FKey<T>) {
        let rest = from.value * 0.0;
        let end = (to.time, to.value);
        match from.interpolation {
            Interpolation::Step => {
                let before = to.time.next_down();
                if before > from.time {
                    self.add((before, from.value), [rest; 2]);
                }
                self.add(end, [rest; 2]);
            }
            Interpolation::Linear => self.add(end, [chord(from, to); 2]),
            Interpolation::Cubic => {
                let curve = Timed::new(from, to);
                let last = end_of(&curve, 1.0, end);
                self.add_curve(
                    &curve,
                    [end_of(&curve, 0.0, (from.time, from.value)), last],
                    DEPTH,
                );
            }
        }
    }

    /// Adds the key `to` that is reached from the last one with the velocities `leave` and `reach`.
    fn add(&mut self, (time, value): (f32, T), [leave, reach]: [T; 2]) {
        if let Some(Key {
            velocity: Some([_, out]),
            ..
        }) = self.keys.last_mut()
        {
            *out = leave;
        }
        self.keys.push(Key {
            time,
            value,
            velocity: Some([reach, value * 0.0]),
        });
    }

    fn add_curve(&mut self, curve: &Timed<T>, [from, to]: [Place<T>; 2], depth: u32) {
        let middle = place(curve, 0.5 * (from.u + to.u));
        let is_split = from.time < middle.time && middle.time < to.time;
        if self.fits(curve, [&from, &to]) {
            self.add((to.time, to.value), [from.velocity, to.velocity]);
        } else if depth > 0 && is_split {
            self.add_curve(curve, [from, middle], depth - 1);
            self.add_curve(curve, [middle, to], depth - 1);
        } else {
            let slope = (to.value - from.value) * (1.0 / (to.time - from.time));
            self.add((to.time, to.value), [slope; 2]);
        }
    }

    /// True if the cubic between two places stays within the tolerance of the curve at seven more, with a quarter
    /// of it left for what lies between.
    fn fits(&self, curve: &Timed<T>, [from, to]: [&Place<T>; 2]) -> bool {
        let ends = ((from.value, from.velocity), (to.value, to.velocity));
        (1..8).all(|n| {
            let u = from.u + (to.u - from.u) * f64::from(n) / 8.0;
            let alpha = fraction(from.time, to.time, curve.time(u)).clamp(0.0, 1.0);
            let cubic = T::hermite(ends.0, ends.1, to.time - from.time, alpha);
            size(cubic - curve.values.point(u as f32)) <= 0.75 * self.tolerance
        })
    }
}

/// A point of a cubic span.
#[derive(Clone, Copy)]
struct Place<T> {
    u: f64,
    time: f32,
    value: T,
    velocity: T,
}

fn place<T: Linear>(curve: &Timed<T>, u: f64) -> Place<T> {
    end_of(curve, u, (curve.time(u), curve.values.point(u as f32)))
}

fn end_of<T: Linear>(curve: &Timed<T>, u: f64, (time, value): (f32, T)) -> Place<T> {
    Place {
        u,
        time,
        value,
        velocity: curve.velocity(u),
    }
}

/// The largest component, without its sign.
fn size<T: Linear>(value: T) -> f32 {
    let largest = Cell::new(0.0_f32);
    value.zip_with(value, |component, _| {
        largest.set(largest.get().max(component.abs()));
        component
    });
    largest.get()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::f_curve::tests::{any_curve, curve, key, mixed};

    #[test]
    fn curves_of_one_kind_become_tracks_of_that_kind() {
        for kind in [Interpolation::Step, Interpolation::Linear] {
            let track = curve(vec![key(0.0, 1.0, kind), key(1.0, 2.0, kind)]);
            let track = track.to_track(1e-3).unwrap();
            assert_eq!((track.interpolation(), track.times().len()), (kind, 2));
        }
        let error = curve(mixed()).to_track(f32::NAN).unwrap_err();
        assert!(matches!(error, CurveError::Tolerance { .. }));
    }

    #[test]
    fn steps_and_lines_are_exact_in_a_mixed_track() {
        let curve = curve(mixed());
        let track = curve.to_track(1e-3).unwrap();
        for time in [0.0, 0.5, 1.0_f32.next_down(), 1.0, 1.5, 1.9] {
            assert!((track.sample(time) - curve.sample(time)).abs() < 4.0 * 3.0 * f32::EPSILON);
        }
    }

    proptest! {
        #[test]
        fn the_track_stays_within_the_tolerance(curve in any_curve(), tolerance in 1e-3_f32..1e-1) {
            let track = curve.to_track(tolerance).unwrap();
            for pair in curve.keys().windows(2) {
                for n in 0..50 {
                    let time = pair[0].time + (pair[1].time - pair[0].time) * (n as f32 / 50.0);
                    let error = (track.sample(time) - curve.sample(time)).abs();
                    // Where a handle as long as its span makes a cliff, a time's rounding alone is worth more than that.
                    let (before, after) = (curve.sample(time - 1e-6), curve.sample(time + 1e-6));
                    let cliff = (after - before).abs();
                    prop_assert!(error <= tolerance + cliff + 1e-5, "{error} at {time}");
                }
            }
        }
    }
}
