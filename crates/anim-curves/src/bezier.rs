//! Cubic Bézier curves, and function curves with weighted handles as film animation tools keep them.
//!
//! [`Bezier`] is a curve in space by four control points. [`WeightedSpan`] is the way between two keys of an animation
//! curve whose handles have lengths as well as slopes: a Bézier in the plane of time and value, asked for the value at a
//! time. A track of velocities ([`Interpolation::Cubic`](crate::Interpolation::Cubic)) is the case where every handle is
//! a third of its span long; it needs no solve, so tools bake the weighted form into it.
//!
//! ```
//! use anim_curves::Bezier;
//! use anim_math::Vec3;
//!
//! let arch = Bezier([Vec3::zeros(), Vec3::y(), Vec3::new(1.0, 1.0, 0.0), Vec3::x()]);
//! assert_eq!(arch.point(0.5), Vec3::new(0.5, 0.75, 0.0));
//! let [left, right] = arch.split(0.5);
//! assert_eq!(left.0[3], right.0[0]);
//! ```

use serde::{Deserialize, Serialize};

use crate::Linear;

/// A cubic Bézier curve by its control points; it starts at the first and ends at the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Bezier<T: Linear>(pub [T; 4]);

impl<T: Linear> Bezier<T> {
    /// The cubic between two keys `span` seconds apart, from their values and velocities: the same curve as
    /// [`Interpolate::hermite`](crate::Interpolate::hermite).
    pub fn from_hermite(from: (T, T), to: (T, T), span: f32) -> Self {
        let third = span / 3.0;
        Self([from.0, from.0 + from.1 * third, to.0 - to.1 * third, to.0])
    }

    /// The point at `u`, 0 to 1 and beyond, by de Casteljau's repeated interpolation.
    pub fn point(&self, u: f32) -> T {
        self.split(u)[0].0[3]
    }

    /// The derivative by u at `u`: 3 times the Bézier of the differences.
    pub fn derivative(&self, u: f32) -> T {
        let [a, b, c, d] = self.0;
        let (ab, bc, cd) = (b - a, c - b, d - c);
        ab.lerp(bc, u).lerp(bc.lerp(cd, u), u) * 3.0
    }

    /// The parts before and after `u`, each again from 0 to 1.
    pub fn split(&self, u: f32) -> [Self; 2] {
        let [a, b, c, d] = self.0;
        let (ab, bc, cd) = (a.lerp(b, u), b.lerp(c, u), c.lerp(d, u));
        let (abc, bcd) = (ab.lerp(bc, u), bc.lerp(cd, u));
        let middle = abc.lerp(bcd, u);
        [Self([a, ab, abc, middle]), Self([middle, bcd, cd, d])]
    }
}

/// The way between two keys with weighted handles, each (time, s; value).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct WeightedSpan<T: Linear> {
    /// The first key.
    pub from: (f32, T),
    /// Where the handle that leaves it ends.
    pub leave: (f32, T),
    /// Where the handle that reaches the second key starts.
    pub reach: (f32, T),
    /// The second key, later than the first.
    pub to: (f32, T),
}

impl<T: Linear> WeightedSpan<T> {
    /// The value at `time`, s; clamped to the keys, which are met exactly.
    ///
    /// Handles that stick out of the span in time would make the curve turn back; they are shortened to it along their
    /// own direction, as the tools do, so that every time has one value.
    pub fn sample(&self, time: f32) -> T {
        let ((start, from), (end, to)) = (self.from, self.to);
        if time.is_nan() || time <= start || end <= start {
            return from;
        }
        if time >= end {
            return to;
        }
        let (alphas, values) = self.parts();
        let span = f64::from(end) - f64::from(start);
        let alpha = ((f64::from(time) - f64::from(start)) / span).clamp(0.0, 1.0);
        let u = solve_rising(alphas[0], alphas[1], alpha);
        values.point(u as f32)
    }

    /// Where the shortened handles end, from 0 at the first key's time to 1 at the second's, and the curve of values.
    pub(crate) fn parts(&self) -> ([f64; 2], Bezier<T>) {
        let ((start, from), (end, to)) = (self.from, self.to);
        let (out_time, out_value) = shortened(self.from, self.leave, end - start);
        let (in_time, in_value) = shortened(self.to, self.reach, start - end);
        let span = f64::from(end) - f64::from(start);
        let alpha = |time: f32| ((f64::from(time) - f64::from(start)) / span).clamp(0.0, 1.0);
        let values = Bezier([from, out_value, in_value, to]);
        ([alpha(out_time), alpha(in_time)], values)
    }
}

/// The end of the handle from `key` to `end`, cut where it leaves the signed `span`; dropped where it points away from it.
fn shortened<T: Linear>(key: (f32, T), end: (f32, T), span: f32) -> (f32, T) {
    let reach = (end.0 - key.0) / span;
    if reach < 0.0 {
        key
    } else if reach > 1.0 {
        (key.0 + span, key.1.lerp(end.1, 1.0 / reach))
    } else {
        end
    }
}

/// Solves 3(1−u)²u x₁ + 3(1−u)u² x₂ + u³ = x for u in [0, 1], with x₁, x₂ and x in [0, 1], where the left side rises.
///
/// Newton's method kept inside a bracket, which is halved whenever a step leaves it or gains less than half; vertical
/// tangents (x₁ = 1, x₂ = 0) therefore cost iterations, never correctness.
pub(crate) fn solve_rising(x1: f64, x2: f64, x: f64) -> f64 {
    let (c, b) = (3.0 * x1, 3.0 * (x2 - 2.0 * x1));
    let a = 1.0 - c - b;
    let (mut low, mut high) = (0.0, 1.0);
    let mut u = x;
    let mut step_before = 1.0;
    for _ in 0..100 {
        let error = ((a * u + b) * u + c) * u - x;
        if error == 0.0 {
            break;
        } else if error < 0.0 {
            low = u;
        } else {
            high = u;
        }
        let newton = u - error / ((3.0 * a * u + 2.0 * b) * u + c);
        let is_better = newton >= low && newton <= high && (newton - u).abs() < 0.5 * step_before;
        let next = if is_better {
            newton
        } else {
            0.5 * (low + high)
        };
        step_before = (next - u).abs();
        u = next;
        if step_before < 1e-15 {
            break;
        }
    }
    u
}

#[cfg(test)]
mod tests {
    use anim_math::Vec3;
    use proptest::prelude::*;

    use super::*;
    use crate::Interpolate;

    fn any_point() -> impl Strategy<Value = Vec3> {
        prop::array::uniform3(-4.0_f32..4.0).prop_map(Vec3::from)
    }

    #[test]
    fn thirds_of_a_line_run_at_constant_speed() {
        let line = Bezier([0.0, 1.0, 2.0, 3.0]);
        for n in 0..=8 {
            let u = n as f32 / 8.0;
            assert!((line.point(u) - 3.0 * u).abs() < 4.0 * f32::EPSILON * 3.0);
            assert_eq!(line.derivative(u), 3.0);
        }
    }

    #[test]
    fn handles_of_a_third_are_the_hermite_curve() {
        let span = WeightedSpan {
            from: (1.0, 2.0),
            leave: (2.0, 5.0),
            reach: (3.0, -1.0),
            to: (4.0, 0.0),
        };
        for n in 0..=30 {
            let alpha = n as f32 / 30.0;
            let expected = f32::hermite((2.0, 3.0), (0.0, 1.0), 3.0, alpha);
            assert!((span.sample(1.0 + 3.0 * alpha) - expected).abs() < 5.0 * 8.0 * f32::EPSILON);
        }
    }

    #[test]
    fn long_handles_are_cut_to_the_span_and_backward_ones_dropped() {
        let span = |leave, reach| WeightedSpan {
            from: (0.0, 0.0_f32),
            leave,
            reach,
            to: (1.0, 1.0),
        };
        let long = span((4.0, 8.0), (0.5, 1.0));
        let cut = span((1.0, 2.0), (0.5, 1.0));
        let backward = span((-3.0, 7.0), (2.0, 9.0));
        let none = span((0.0, 0.0), (1.0, 1.0));
        for n in 0..=10 {
            let time = n as f32 * 0.1;
            assert_eq!(long.sample(time), cut.sample(time));
            assert_eq!(backward.sample(time), none.sample(time));
            // Without handles the curve is the line at uneven speed, so value and time agree.
            assert!((none.sample(time) - time).abs() < 4.0 * f32::EPSILON);
        }
    }

    #[test]
    fn any_time_outside_holds_the_nearer_key() {
        let span = WeightedSpan {
            from: (1.0, 2.0),
            leave: (1.5, 3.0),
            reach: (1.5, 4.0),
            to: (2.0, 5.0),
        };
        let samples = [f32::NAN, f32::NEG_INFINITY, 1.0, 2.0, f32::INFINITY];
        assert_eq!(samples.map(|t| span.sample(t)), [2.0, 2.0, 2.0, 5.0, 5.0]);
    }

    proptest! {
        #[test]
        fn a_split_curve_is_the_same_curve(
            points in prop::array::uniform4(any_point()), cut in 0.0_f32..1.0, u in 0.0_f32..1.0,
        ) {
            let curve = Bezier(points);
            let [left, right] = curve.split(cut);
            let slack = 4.0 * 16.0 * f32::EPSILON;
            prop_assert!((left.point(u) - curve.point(cut * u)).norm() < slack);
            prop_assert!((right.point(u) - curve.point(cut + (1.0 - cut) * u)).norm() < slack);
        }

        #[test]
        fn the_solve_inverts_every_rising_cubic(x1 in 0.0_f64..=1.0, x2 in 0.0_f64..=1.0, x in 0.0_f64..=1.0, corner: bool) {
            let (x1, x2) = if corner { (x1.round(), x2.round()) } else { (x1, x2) };
            let u = solve_rising(x1, x2, x);
            prop_assert!((0.0..=1.0).contains(&u));
            let v = 1.0 - u;
            let back = 3.0 * v * v * u * x1 + 3.0 * v * u * u * x2 + u * u * u;
            prop_assert!((back - x).abs() < 16.0 * f64::EPSILON, "{back} for {x}");
        }
    }
}
