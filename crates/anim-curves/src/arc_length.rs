//! Arc length: where on a curve in space one is after a given way, for motion at an even or directed speed.
//!
//! Curves are drawn by a parameter that says nothing about distance. [`ArcLength`] tabulates the distance once, to a stated
//! accuracy, and answers both ways in O(log entries) after. Use it for a camera or a creature on a path, with an
//! [`Easing`](crate::Easing) for its speed.
//!
//! The parameter's range is halved until, over each piece, the chord of the piece and those of its halves agree and the
//! halves are equally long, both within the accuracy; a piece's length is then Richardson's extrapolation of its chords,
//! (4 · halves − whole) / 3. Source: the adaptive subdivision of Guenter and Parent, "Computing the arc length of parametric
//! curves", IEEE CG&A 10(3), 1990, with chords for their quadrature, since a curve here has no derivative.
//!
//! ```
//! use anim_curves::ArcLength;
//! use anim_math::Vec3;
//!
//! let uneven = |u: f32| Vec3::new(3.0 * u * u, 4.0 * u * u, 0.0);
//! let way = ArcLength::new(uneven, 0.0, 1.0, 1e-3)?;
//! assert!((way.length() - 5.0).abs() < 1e-3);
//! let half = uneven(way.parameter_at(2.5));
//! assert!((half - Vec3::new(1.5, 2.0, 0.0)).norm() < 2e-3);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```
//!
//! Any curve will do as a closure. Along a spline, starting and stopping gently and at an even speed but for that:
//!
//! ```
//! use anim_curves::{ArcLength, BSpline, Easing, Shape};
//! use anim_math::Vec3;
//!
//! let corners = [[0.0; 3], [1.0, 0.0, 0.0], [1.5, 2.0, 0.0], [6.0, 2.0, 1.0], [6.0, 5.0, 3.0]];
//! let path = BSpline::clamped(corners.map(Vec3::from).to_vec())?;
//! let [start, end] = path.domain();
//! let way = ArcLength::new(|u| path.point(u), start, end, 1e-4)?;
//! let travel = |alpha| path.point(way.parameter_at(way.length() * Easing::InOut(Shape::Sine).apply(alpha)));
//!
//! assert_eq!(travel(1.0), Vec3::new(6.0, 5.0, 3.0));
//! // In the middle of a sine easing the speed is π/2 times the mean one.
//! let speed = (travel(0.501) - travel(0.499)).norm() / 0.002;
//! let fastest = way.length() * std::f32::consts::FRAC_PI_2;
//! assert!((speed / fastest - 1.0).abs() < 0.02);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use anim_math::Vec3;

use crate::{CurveError, Track};

/// Even pieces looked at before any is halved, so that a curve is not taken for a line by its symmetry.
const PIECES: usize = 8;

/// A piece is halved this often at most, where a jump or a corner never becomes straight.
const DEPTH: u32 = 12;

/// A table of the length of a curve by its parameter, and the other way.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcLength {
    parameters: Vec<f32>,
    /// m, from the start to each parameter; never falling, the first 0.
    lengths: Vec<f64>,
}

impl ArcLength {
    /// Measures `curve`, m, from parameter `start` to `end`, within `accuracy`, m, over its whole length.
    ///
    /// The points' own rounding, about 1e-7 of their distance from the origin, limits what can be reached. Details that
    /// fall between all points looked at (17 at the least) are not seen. Cost: two points a piece; the
    /// number of pieces grows with 1/√accuracy.
    ///
    /// # Errors
    ///
    /// [`CurveError::ArcLength`] unless start < end, both finite, and accuracy > 0; [`CurveError::Point`] where the curve
    /// is NaN or infinite.
    pub fn new(
        curve: impl Fn(f32) -> Vec3,
        start: f32,
        end: f32,
        accuracy: f32,
    ) -> Result<Self, CurveError> {
        let is_range = start.is_finite() && end.is_finite() && start < end;
        if !(is_range && accuracy > 0.0) {
            return Err(CurveError::ArcLength {
                start,
                end,
                accuracy,
            });
        }
        Self::measure(&curve, &even(start, end), accuracy)
    }

    /// Measures the path of `track` from its first key to its last, as [`new`](Self::new); the parameter is the time, s.
    ///
    /// A single key is a path of length 0. Steps count with the straight way they jump.
    ///
    /// # Errors
    ///
    /// [`CurveError::ArcLength`] unless accuracy > 0; [`CurveError::Point`] if the track overflows between its keys.
    pub fn of_track(track: &Track<Vec3>, accuracy: f32) -> Result<Self, CurveError> {
        let times = track.times();
        if accuracy.is_nan() || accuracy <= 0.0 {
            return Err(CurveError::ArcLength {
                start: times[0],
                end: track.end(),
                accuracy,
            });
        }
        // Corners are at keys, so pieces must not reach across them.
        let mut ends = vec![times[0]];
        for pair in times.windows(2) {
            ends.extend_from_slice(&even(pair[0], pair[1])[1..]);
        }
        Self::measure(&|time| track.sample(time), &ends, accuracy)
    }

    fn measure(
        curve: &impl Fn(f32) -> Vec3,
        ends: &[f32],
        accuracy: f32,
    ) -> Result<Self, CurveError> {
        let mut table = Self {
            parameters: vec![ends[0]],
            lengths: vec![0.0],
        };
        let mut from = point(curve, ends[0])?;
        // Half of the accuracy is for the length, shared by the pieces, and half for the place within one.
        let share = 0.5 * f64::from(accuracy) / ends.len() as f64;
        for end in &ends[1..] {
            let to = point(curve, *end)?;
            let allowed = Allowed {
                length: share,
                place: 0.5 * f64::from(accuracy),
            };
            table.add(curve, [from, to], allowed, DEPTH)?;
            from = to;
        }
        Ok(table)
    }

    fn add(
        &mut self,
        curve: &impl Fn(f32) -> Vec3,
        [from, to]: [Point; 2],
        allowed: Allowed,
        depth: u32,
    ) -> Result<(), CurveError> {
        let parameter = (0.5 * (f64::from(from.parameter) + f64::from(to.parameter))) as f32;
        let middle = point(curve, parameter)?;
        let whole = distance(from, to);
        let halves = [distance(from, middle), distance(middle, to)];
        let both = halves[0] + halves[1];
        // What rounding alone makes of three chords between points this far from the origin.
        let size = [from, middle, to].map(|point| point.position.amax());
        let noise = 4.0 * f64::from(f32::EPSILON) * f64::from(size.into_iter().fold(0.0, f32::max));
        let is_straight = both - whole <= allowed.length.max(noise);
        let is_even = (halves[0] - halves[1]).abs() <= 2.0 * allowed.place.max(noise);
        let is_split = from.parameter < parameter && parameter < to.parameter;
        if is_split && depth > 0 && !(is_straight && is_even) {
            let allowed = Allowed {
                length: 0.5 * allowed.length,
                ..allowed
            };
            self.add(curve, [from, middle], allowed, depth - 1)?;
            return self.add(curve, [middle, to], allowed, depth - 1);
        }
        // A corner that is left over has no error of curvature to extrapolate.
        let length = if is_straight {
            (4.0 * both - whole) / 3.0
        } else {
            both
        };
        self.parameters.push(to.parameter);
        self.lengths.push(self.length_in_full() + length);
        Ok(())
    }

    /// The whole length, m.
    pub fn length(&self) -> f32 {
        self.length_in_full() as f32
    }

    /// The parameter after `length`, m, from the start; clamped to the ends, and NaN is the start.
    ///
    /// The length there is `length` within the accuracy. Where the curve stands still, the first such parameter.
    pub fn parameter_at(&self, length: f32) -> f32 {
        let length = f64::from(length);
        let next = self.lengths.partition_point(|l| *l < length);
        if next == 0 || length.is_nan() {
            return self.parameters[0];
        }
        if next == self.lengths.len() {
            return self.parameters[next - 1];
        }
        let [from, to] = [self.lengths[next - 1], self.lengths[next]];
        let alpha = (length - from) / (to - from);
        let [from, to] = [self.parameters[next - 1], self.parameters[next]].map(f64::from);
        (from + (to - from) * alpha) as f32
    }

    /// The length, m, from the start to `parameter`, within the accuracy; clamped to the ends, and NaN is the start.
    pub fn length_at(&self, parameter: f32) -> f32 {
        let next = self.parameters.partition_point(|p| *p < parameter);
        if next == 0 || parameter.is_nan() {
            return 0.0;
        }
        if next == self.parameters.len() {
            return self.length();
        }
        let [from, to] = [self.parameters[next - 1], self.parameters[next]].map(f64::from);
        let alpha = (f64::from(parameter) - from) / (to - from);
        let [from, to] = [self.lengths[next - 1], self.lengths[next]];
        (from + (to - from) * alpha) as f32
    }

    fn length_in_full(&self) -> f64 {
        self.lengths[self.lengths.len() - 1]
    }
}

/// What one piece may be wrong by, m.
#[derive(Clone, Copy)]
struct Allowed {
    /// In its length.
    length: f64,
    /// In the length to a parameter within it.
    place: f64,
}

#[derive(Clone, Copy)]
struct Point {
    parameter: f32,
    position: Vec3,
}

fn point(curve: &impl Fn(f32) -> Vec3, parameter: f32) -> Result<Point, CurveError> {
    let position = curve(parameter);
    if position.iter().all(|v| v.is_finite()) {
        Ok(Point {
            parameter,
            position,
        })
    } else {
        Err(CurveError::Point { parameter })
    }
}

fn distance(a: Point, b: Point) -> f64 {
    (b.position.cast::<f64>() - a.position.cast::<f64>()).norm()
}

/// The ends of even pieces from `start` to `end`.
fn even(start: f32, end: f32) -> [f32; PIECES + 1] {
    let (from, span) = (f64::from(start), f64::from(end) - f64::from(start));
    std::array::from_fn(|n| match n {
        0 => start,
        PIECES => end,
        _ => (from + span * (n as f64 / PIECES as f64)) as f32,
    })
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{PI, TAU};

    use super::*;
    use crate::{Interpolation, Key, tangents};

    const ACCURACY: f32 = 1e-3;

    /// Compares both ways with the closed form `length` of the way to a parameter.
    fn check(curve: impl Fn(f32) -> Vec3, [start, end]: [f32; 2], length: impl Fn(f32) -> f32) {
        let way = ArcLength::new(curve, start, end, ACCURACY).unwrap();
        assert!((way.length() - length(end)).abs() <= ACCURACY);
        for n in 0..=100 {
            let alpha = n as f32 / 100.0;
            let parameter = start + (end - start) * alpha;
            let error = way.length_at(parameter) - length(parameter);
            assert!(error.abs() <= ACCURACY, "{error} m at {parameter}");
            let error = length(way.parameter_at(way.length() * alpha)) - way.length() * alpha;
            assert!(error.abs() <= ACCURACY, "{error} m after {alpha}");
        }
    }

    #[test]
    fn a_line_drawn_at_uneven_speed_has_its_length() {
        let along = Vec3::new(2.0, -3.0, 6.0);
        check(|u| along * (u * u * u), [0.0, 2.0], |u| 7.0 * u * u * u);
    }

    #[test]
    fn a_circle_drawn_at_even_and_uneven_speed_has_its_length() {
        let circle = |angle: f32| Vec3::new(2.0 * angle.cos(), 0.0, 2.0 * angle.sin());
        check(circle, [0.0, TAU], |angle| 2.0 * angle);
        check(|u| circle(u * u), [0.0, 2.0], |u| 2.0 * u * u);
    }

    #[test]
    fn a_parabola_has_its_length() {
        // ∫√(1 + 4u²) du = u√(1 + 4u²)/2 + asinh(2u)/4.
        let whole = |u: f32| u * (1.0 + 4.0 * u * u).sqrt() / 2.0 + (2.0 * u).asinh() / 4.0;
        let from_start = |u: f32| whole(u) - whole(-3.0);
        check(|u| Vec3::new(u, u * u, 0.0), [-3.0, 2.0], from_start);
    }

    #[test]
    fn a_track_is_measured_by_its_time_with_its_corners() {
        let at = |time, x, y| Key::new(time, Vec3::new(x, y, 0.0));
        let keys = vec![
            at(0.0, 0.0, 0.0),
            at(0.7, 3.0, 0.0),
            at(1.0, 3.0, 4.0),
            at(3.0, 3.0, 4.0),
        ];
        let square = Track::new(keys.clone(), Interpolation::Linear).unwrap();
        let way = ArcLength::of_track(&square, ACCURACY).unwrap();
        assert!((way.length() - 7.0).abs() <= ACCURACY);
        assert!((way.parameter_at(5.0) - 0.85).abs() <= ACCURACY * 0.1);
        // It stands still from 1 s on.
        assert!((way.parameter_at(7.0) - 1.0).abs() <= ACCURACY);
        assert_eq!(way.length_at(2.0), way.length_at(3.0));

        let step = Track::new(keys.clone(), Interpolation::Step).unwrap();
        let way = ArcLength::of_track(&step, ACCURACY).unwrap();
        assert!((way.length() - 7.0).abs() <= ACCURACY);

        let one = Track::new(keys[..1].to_vec(), Interpolation::Linear).unwrap();
        let still = ArcLength::of_track(&one, ACCURACY).unwrap();
        assert_eq!((still.length(), still.parameter_at(1.0)), (0.0, 0.0));
    }

    #[test]
    fn even_steps_along_a_smooth_track_are_even_in_space() {
        let corner = |n: f32| Vec3::new(libm::cosf(n), n * 0.2, libm::sinf(n));
        let times = [0.0, 0.2, 1.0, 1.5, 4.0];
        let keys = times.iter().enumerate();
        let mut keys: Vec<_> = keys.map(|(n, t)| Key::new(*t, corner(n as f32))).collect();
        tangents::catmull_rom(&mut keys);
        let track = Track::new(keys, Interpolation::Cubic).unwrap();
        let way = ArcLength::of_track(&track, 1e-4).unwrap();
        let step = way.length() / 200.0;
        let points = (0..=200).map(|n| track.sample(way.parameter_at(step * n as f32)));
        let points: Vec<_> = points.collect();
        for pair in points.windows(2) {
            // A chord is shorter than its arc by κ²s³/24, with s = 0.02 m far below the accuracy.
            assert!(((pair[1] - pair[0]).norm() - step).abs() < 3e-4);
        }
    }

    #[test]
    fn finer_accuracy_is_met_at_the_price_of_a_longer_table() {
        let half = |angle: f32| Vec3::new(angle.cos(), angle.sin(), 0.0);
        let lengths = [1e-2, 1e-3, 1e-4].map(|accuracy| {
            let way = ArcLength::new(half, 0.0, PI, accuracy).unwrap();
            assert!((way.length() - PI).abs() <= accuracy);
            way.lengths.len()
        });
        assert!(lengths[0] < lengths[1] && lengths[1] < lengths[2] && lengths[2] < 600);
    }

    #[test]
    fn outside_the_curve_the_ends_hold() {
        let way = ArcLength::new(|u| Vec3::x() * u, 1.0, 3.0, ACCURACY).unwrap();
        let parameters = [f32::NAN, -1.0, 0.0, 9.0, f32::INFINITY];
        let expected = [1.0, 1.0, 1.0, 3.0, 3.0];
        assert_eq!(parameters.map(|l| way.parameter_at(l)), expected);
        assert_eq!([f32::NAN, 0.0, 1.0].map(|u| way.length_at(u)), [0.0; 3]);
        assert_eq!(way.length_at(7.0), way.length());
    }

    #[test]
    fn senseless_ranges_and_points_are_refused() {
        let line = |u: f32| Vec3::x() * u;
        for (start, end, accuracy) in [(1.0, 1.0, 0.1), (0.0, f32::NAN, 0.1), (0.0, 1.0, 0.0)] {
            let error = ArcLength::new(line, start, end, accuracy).unwrap_err();
            assert!(matches!(error, CurveError::ArcLength { .. }));
        }
        let pole = ArcLength::new(|u| Vec3::x() / u, 0.0, 1.0, 0.1).unwrap_err();
        assert!(matches!(pole, CurveError::Point { parameter: 0.0 }));
    }
}
