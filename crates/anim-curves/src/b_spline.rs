//! Cubic B-splines: curves that pass near their control points, with continuous acceleration.
//!
//! Use them where smoothness matters more than meeting each point, such as camera paths and hair; a track of
//! [`catmull_rom`](crate::tangents::catmull_rom) velocities meets its keys, but its acceleration jumps there. Each control
//! point moves four spans of the curve and no more, and the curve stays within the hull of the four around it.
//!
//! ```
//! use anim_curves::BSpline;
//! use anim_math::Vec3;
//!
//! let line: Vec<_> = (0..5).map(|n| Vec3::x() * n as f32).collect();
//! let path = BSpline::uniform(line)?;
//! assert_eq!(path.domain(), [0.0, 2.0]); // two spans of four control points each
//! assert!((path.point(0.5) - Vec3::x() * 1.5).norm() < 1e-6);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{CurveError, Linear};

/// What a [`BSpline`] is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct BSplineSpec<T: Linear> {
    /// n ≥ 4 control points.
    pub controls: Vec<T>,
    /// n + 4 knots that never fall; the curve runs from knot 3 to knot n.
    pub knots: Vec<f32>,
}

/// A validated cubic B-spline over its knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BSplineSpec<T>", into = "BSplineSpec<T>", bound = "")]
pub struct BSpline<T: Linear>(BSplineSpec<T>);

impl<T: Linear> BSpline<T> {
    /// Validates `spec`.
    ///
    /// # Errors
    ///
    /// [`CurveError::Controls`] for fewer than four control points, [`CurveError::Knots`] unless there are four more knots
    /// than controls, which never fall, are finite, and rise between knot 3 and knot n; [`CurveError::NotFinite`] for a
    /// control point that is NaN or infinite.
    pub fn new(spec: BSplineSpec<T>) -> Result<Self, CurveError> {
        let (count, knots) = (spec.controls.len(), &spec.knots);
        if count < 4 {
            return Err(CurveError::Controls { found: count });
        }
        let is_rising = knots.is_sorted() && knots.iter().all(|knot| knot.is_finite());
        if knots.len() != count + 4 || !is_rising || knots[3] >= knots[count] {
            return Err(CurveError::Knots {
                expected: count + 4,
                found: knots.len(),
            });
        }
        if let Some(key) = spec.controls.iter().position(|c| !c.is_finite()) {
            return Err(CurveError::NotFinite { key });
        }
        Ok(Self(spec))
    }

    /// With even knots: the n control points make n − 3 spans, over [0, n − 3], and the ends are not met.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn uniform(controls: Vec<T>) -> Result<Self, CurveError> {
        let knots = (0..controls.len() + 4).map(|n| n as f32 - 3.0).collect();
        Self::new(BSplineSpec { controls, knots })
    }

    /// As [`uniform`](Self::uniform), but starting at the first control point and ending at the last: the outer knots
    /// coincide.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn clamped(controls: Vec<T>) -> Result<Self, CurveError> {
        let spans = controls.len().saturating_sub(3) as f32;
        let knots = (0..controls.len() + 4).map(|n| (n as f32 - 3.0).clamp(0.0, spans));
        let knots = knots.collect();
        Self::new(BSplineSpec { controls, knots })
    }

    /// The point at parameter `u`, clamped to [`domain`](Self::domain); NaN is its start. O(log n).
    ///
    /// Source: de Boor, "On calculating with B-splines", J. Approx. Theory 6, 1972.
    pub fn point(&self, u: f32) -> T {
        let Self(BSplineSpec { controls, knots }) = self;
        let [start, end] = self.domain();
        let u = if u.is_nan() {
            start
        } else {
            u.clamp(start, end)
        };
        // The last span of positive length that starts at or before u; the end belongs to the last of all.
        let inner = &knots[3..=controls.len()];
        let after = inner.partition_point(|knot| *knot <= u && *knot < end);
        let span = after + 2;
        let mut points: [T; 4] = std::array::from_fn(|n| controls[span - 3 + n]);
        for level in 1..4 {
            for n in (level..4).rev() {
                let (low, high) = (knots[span - 3 + n], knots[span + 1 + n - level]);
                let alpha = (u - low) / (high - low);
                points[n] = points[n - 1].lerp(points[n], alpha);
            }
        }
        points[3]
    }

    /// The parameters of the curve's start and end.
    pub fn domain(&self) -> [f32; 2] {
        [self.0.knots[3], self.0.knots[self.0.controls.len()]]
    }

    /// The control points and knots it was made of.
    pub fn spec(&self) -> &BSplineSpec<T> {
        &self.0
    }
}

impl<T: Linear> TryFrom<BSplineSpec<T>> for BSpline<T> {
    type Error = CurveError;

    fn try_from(spec: BSplineSpec<T>) -> Result<Self, CurveError> {
        Self::new(spec)
    }
}

impl<T: Linear> From<BSpline<T>> for BSplineSpec<T> {
    fn from(spline: BSpline<T>) -> Self {
        spline.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Bezier;

    #[test]
    fn even_knots_weigh_a_sixth_two_thirds_and_a_sixth() {
        for (n, weight) in [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0, 0.0]
            .into_iter()
            .enumerate()
        {
            let mut controls = vec![0.0; 4];
            controls[n] = 1.0;
            let spline = BSpline::uniform(controls).unwrap();
            assert!((spline.point(0.0) - weight).abs() < 2.0 * f32::EPSILON);
            let ends = [spline.point(-5.0), spline.point(f32::NAN)];
            assert_eq!(ends, [spline.point(0.0); 2]);
            assert_eq!(spline.point(9.0), spline.point(1.0));
        }
    }

    #[test]
    fn four_clamped_controls_are_a_bezier() {
        let controls = [1.0, -2.0, 4.0, 3.0];
        let spline = BSpline::clamped(controls.to_vec()).unwrap();
        for n in 0..=16 {
            let u = n as f32 / 16.0;
            assert_eq!(spline.point(u), Bezier(controls).point(u));
        }
    }

    #[test]
    fn controls_at_the_blossom_of_a_cubic_give_the_cubic() {
        // The polar form of t³ is the product of three arguments: the controls are products of three knots in a row.
        let knots = vec![-1.0, 0.0, 0.5, 1.0, 1.5, 3.0, 3.0, 4.0, 4.5, 6.0, 7.0];
        let controls = (0..7).map(|n| knots[n + 1] * knots[n + 2] * knots[n + 3]);
        let controls = controls.collect();
        let spline = BSpline::new(BSplineSpec { controls, knots }).unwrap();
        assert_eq!(spline.domain(), [1.0, 4.0]);
        for n in 0..=30 {
            let u = 1.0 + n as f32 * 0.1;
            // Twelve roundings of controls up to 4 · 4.5 · 6.
            assert!((spline.point(u) - u * u * u).abs() < 12.0 * 108.0 * f32::EPSILON);
        }
    }

    #[test]
    fn too_few_controls_and_falling_knots_are_refused() {
        let few = BSpline::uniform(vec![1.0; 3]).unwrap_err();
        assert_eq!(few, CurveError::Controls { found: 3 });
        let controls = vec![0.0; 4];
        for knots in [
            vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            vec![0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 5.0, 7.0],
            vec![0.0; 8],
            vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, f32::NAN],
        ] {
            let spec = BSplineSpec {
                controls: controls.clone(),
                knots,
            };
            assert!(matches!(BSpline::new(spec), Err(CurveError::Knots { .. })));
        }
        let nan = BSpline::uniform(vec![0.0, 0.0, f32::NAN, 0.0]).unwrap_err();
        assert_eq!(nan, CurveError::NotFinite { key: 2 });
    }

    proptest! {
        #[test]
        fn the_curve_stays_in_the_hull_for_any_knots(
            controls in prop::collection::vec(-1.0_f32..1.0, 4..9), steps in prop::collection::vec(0_u8..3, 13), at in 0.0_f32..=1.0,
        ) {
            let mut knot = 0.0;
            let knots = steps[..controls.len() + 4].iter().map(|step| { knot += f32::from(*step); knot }).collect();
            let Ok(spline) = BSpline::new(BSplineSpec { controls, knots }) else { return Ok(()) };
            let [start, end] = spline.domain();
            let value = spline.point(start + (end - start) * at);
            let (low, high) = spline.spec().controls.iter().fold((1.0_f32, -1.0_f32), |(low, high), c| (low.min(*c), high.max(*c)));
            prop_assert!(value >= low - 12.0 * f32::EPSILON && value <= high + 12.0 * f32::EPSILON);
        }
    }
}
