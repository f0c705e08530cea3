//! Easing: how a motion between two states spends its time, from 0 at 0 to 1 at 1.
//!
//! [`Easing::apply`] bends the alpha of any interpolation. The shapes are those every motion-graphics tool offers;
//! [`CubicBezier`] is the CSS timing function that designers hand over. For motion between many keys use a cubic
//! [`Track`](crate::Track) instead, which is smooth across them.
//!
//! ```
//! use anim_curves::{CubicBezier, Easing, Interpolate, Shape};
//!
//! let gentle = Easing::InOut(Shape::Cubic);
//! assert_eq!(10.0_f32.lerp(20.0, gentle.apply(0.5)), 15.0);
//! let css = Easing::Bezier(CubicBezier::new([0.25, 0.1], [0.25, 1.0])?);
//! assert_eq!((css.apply(0.0), css.apply(1.0)), (0.0, 1.0));
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use std::f32::consts::{FRAC_PI_4, TAU};

use serde::{Deserialize, Serialize};

use crate::CurveError;
use crate::bezier::solve_rising;

/// A function of alpha that is exactly 0 at 0 and 1 at 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Easing {
    /// t.
    #[default]
    Linear,
    /// f(t): starts slowly.
    In(Shape),
    /// 1 − f(1 − t): ends slowly.
    Out(Shape),
    /// In at half size, f(2t)/2, then out: slow at both ends.
    InOut(Shape),
    /// The CSS timing function.
    Bezier(CubicBezier),
}

/// The f(t) of an [`Easing`], as it starts from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// 1 − cos(πt/2).
    Sine,
    /// t².
    Quad,
    /// t³.
    Cubic,
    /// t⁴.
    Quart,
    /// t⁵.
    Quint,
    /// (2¹⁰ᵗ − 1) / 1023: continuous, where the usual 2¹⁰⁽ᵗ⁻¹⁾ jumps by 2⁻¹⁰ at 0.
    Expo,
    /// 1 − √(1 − t²), a quarter of a circle.
    Circ,
    /// (s + 1) t³ − s t², which pulls back a tenth first: s = 1.70158, and 1.525 times that in and out.
    Back,
    /// −(2¹⁰ᵗ − 1)/1023 · sin(2π (t − 1 − p/4) / p), a spring wound up: p = 0.3, and 0.45 in and out.
    Elastic,
    /// Four parabolas 7.5625 t² of a ball that bounces at ever greater height, played backward.
    Bounce,
}

impl Easing {
    /// The eased alpha of `t`, clamped to [0, 1] first; back and elastic leave [0, 1] in between. NaN is 0.
    pub fn apply(self, t: f32) -> f32 {
        if t.is_nan() || t <= 0.0 {
            return 0.0;
        }
        if t >= 1.0 {
            return 1.0;
        }
        match self {
            Self::Linear => t,
            Self::In(shape) => shape.rise(t, 1.70158, 0.3),
            Self::Out(shape) => 1.0 - shape.rise(1.0 - t, 1.70158, 0.3),
            Self::InOut(shape) => {
                let rise = |t| shape.rise(t, 1.70158 * 1.525, 0.45) * 0.5;
                if t < 0.5 {
                    rise(2.0 * t)
                } else {
                    1.0 - rise(2.0 - 2.0 * t)
                }
            }
            Self::Bezier(curve) => curve.value(t),
        }
    }
}

impl Shape {
    /// f(t) for t in [0, 1], with the overshoot s of back and the period p of elastic.
    fn rise(self, t: f32, overshoot: f32, period: f32) -> f32 {
        let exponential = || (libm::exp2f(10.0 * t) - 1.0) / 1023.0;
        match self {
            // 1 − cos x = 2 sin²(x/2), which does not cancel at small x.
            Self::Sine => {
                let sine = libm::sinf(FRAC_PI_4 * t);
                2.0 * sine * sine
            }
            Self::Quad => t * t,
            Self::Cubic => t * t * t,
            Self::Quart => t * t * t * t,
            Self::Quint => t * t * t * t * t,
            Self::Expo => exponential(),
            Self::Circ => t * t / (1.0 + (1.0 - t * t).sqrt()),
            Self::Back => t * t * ((overshoot + 1.0) * t - overshoot),
            Self::Elastic => -exponential() * libm::sinf(TAU * (t - 1.0 - period * 0.25) / period),
            Self::Bounce => 1.0 - bounce(1.0 - t),
        }
    }
}

/// The height of a ball dropped towards 1: unit of time 2.75 half-bounces, so that it lands at 1, 2, 2.5 and 2.75.
fn bounce(t: f32) -> f32 {
    let t = t * 2.75;
    let (middle, height) = if t < 1.0 {
        (0.0, 0.0)
    } else if t < 2.0 {
        (1.5, 0.75)
    } else if t < 2.5 {
        (2.25, 0.9375)
    } else {
        (2.625, 0.984_375)
    };
    (t - middle) * (t - middle) + height
}

/// The CSS `cubic-bezier(x1, y1, x2, y2)`: the Bézier curve through (0, 0), two handles and (1, 1) as y of x.
///
/// Source: W3C, "CSS Easing Functions Level 1", section 2.3.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "[[f32; 2]; 2]", into = "[[f32; 2]; 2]")]
pub struct CubicBezier([[f32; 2]; 2]);

impl CubicBezier {
    /// With the handles' ends `first` and `second`, each (x, y); y may leave [0, 1], x may not.
    ///
    /// # Errors
    ///
    /// [`CurveError::Handle`] if an x is outside [0, 1], where y would not be a function of x, or a y is not finite.
    pub fn new(first: [f32; 2], second: [f32; 2]) -> Result<Self, CurveError> {
        for (handle, [x, y]) in [first, second].into_iter().enumerate() {
            if !((0.0..=1.0).contains(&x) && y.is_finite()) {
                return Err(CurveError::Handle { handle, x, y });
            }
        }
        Ok(Self([first, second]))
    }

    /// y where x is `t`, inside (0, 1).
    fn value(self, t: f32) -> f32 {
        let [[x1, y1], [x2, y2]] = self.0.map(|handle| handle.map(f64::from));
        let u = solve_rising(x1, x2, f64::from(t));
        let v = 1.0 - u;
        (3.0 * v * v * u * y1 + 3.0 * v * u * u * y2 + u * u * u) as f32
    }
}

impl TryFrom<[[f32; 2]; 2]> for CubicBezier {
    type Error = CurveError;

    fn try_from([first, second]: [[f32; 2]; 2]) -> Result<Self, CurveError> {
        Self::new(first, second)
    }
}

impl From<CubicBezier> for [[f32; 2]; 2] {
    fn from(curve: CubicBezier) -> Self {
        curve.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHAPES: [Shape; 10] = [
        Shape::Sine,
        Shape::Quad,
        Shape::Cubic,
        Shape::Quart,
        Shape::Quint,
        Shape::Expo,
        Shape::Circ,
        Shape::Back,
        Shape::Elastic,
        Shape::Bounce,
    ];

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 8.0 * f32::EPSILON
    }

    fn bezier(x1: f32, y1: f32, x2: f32, y2: f32) -> Easing {
        Easing::Bezier(CubicBezier::new([x1, y1], [x2, y2]).unwrap())
    }

    #[test]
    fn every_easing_is_exact_at_its_ends_and_continuous_there() {
        for shape in SHAPES {
            for easing in [Easing::In(shape), Easing::Out(shape), Easing::InOut(shape)] {
                let ends = [f32::NAN, -1.0, 0.0, 1.0, 2.0].map(|t| easing.apply(t));
                assert_eq!(ends, [0.0, 0.0, 0.0, 1.0, 1.0]);
                // The steepest end is that of the circle, √(2t).
                let (near, far) = (easing.apply(1e-6), easing.apply(1.0 - 1e-6));
                assert!(near.abs() < 2e-3 && (far - 1.0).abs() < 2e-3, "{easing:?}");
            }
        }
    }

    #[test]
    fn quarter_points_have_their_closed_form() {
        let quarter = |shape| Easing::In(shape).apply(0.25);
        assert!(close(
            quarter(Shape::Sine),
            1.0 - (3.0_f32 / 8.0 * TAU / 2.0).sin()
        ));
        assert_eq!(quarter(Shape::Quad), 0.0625);
        assert_eq!(quarter(Shape::Cubic), 0.015625);
        assert_eq!(quarter(Shape::Quart), 0.003_906_25);
        assert_eq!(quarter(Shape::Quint), 0.000_976_562_5);
        assert!(close(
            quarter(Shape::Expo),
            (32.0_f32.sqrt() - 1.0) / 1023.0
        ));
        assert!(close(quarter(Shape::Circ), 1.0 - 0.9375_f32.sqrt()));
        assert!(close(quarter(Shape::Back), 2.70158 / 64.0 - 1.70158 / 16.0));
        // t = 0.25 is 2.75 periods and a quarter before the end: sin of −2π · 2.75 is 1.
        assert!((quarter(Shape::Elastic) + quarter(Shape::Expo)).abs() < 1e-6);
        // 0.75 × 2.75 = 2.0625 is 0.1875 before the top of the second bounce, which is at 0.9375.
        assert!(close(
            Easing::Out(Shape::Bounce).apply(0.75),
            0.9375 + 0.1875 * 0.1875
        ));
    }

    #[test]
    fn back_pulls_back_a_tenth() {
        let lowest = (0..1000).map(|n| Easing::In(Shape::Back).apply(n as f32 * 1e-3));
        let lowest = lowest.fold(0.0, f32::min);
        assert!((lowest + 0.1).abs() < 1e-4, "{lowest}");
    }

    #[test]
    fn css_curves_have_their_closed_form() {
        // By symmetry of ease-in-out, and exact for the line.
        assert!(close(bezier(0.42, 0.0, 0.58, 1.0).apply(0.5), 0.5));
        assert!(close(bezier(0.3, 0.3, 0.7, 0.7).apply(0.2), 0.2));
        // x = u³, y = 3u(1−u)² + u³: at u = 1/2: x = 1/8, y = 1/2.
        assert!(close(bezier(0.0, 1.0, 0.0, 0.0).apply(0.125), 0.5));
        // The vertical tangent in the middle of x = 3u − 6u² + 4u³.
        assert!((bezier(1.0, 0.0, 0.0, 1.0).apply(0.5) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn handles_outside_the_unit_of_time_are_refused() {
        let refused = CubicBezier::new([0.0, 0.0], [1.5, 2.0]).unwrap_err();
        let expected = CurveError::Handle {
            handle: 1,
            x: 1.5,
            y: 2.0,
        };
        assert_eq!(refused, expected);
        assert!(CubicBezier::new([f32::NAN, 0.0], [1.0, 0.0]).is_err());
        assert!(CubicBezier::new([0.0, f32::INFINITY], [1.0, 0.0]).is_err());
    }

    proptest! {
        #[test]
        fn out_mirrors_in_and_in_out_mirrors_itself(t in 0.0_f32..1.0) {
            // 1 − t is rounded; the steepest slope among the shapes is 1/√ε of the circle, so it is left out.
            for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Circ) {
                let sum = Easing::In(shape).apply(t) + Easing::Out(shape).apply(1.0 - t);
                prop_assert!((sum - 1.0).abs() < 1e-5);
                let sum = Easing::InOut(shape).apply(t) + Easing::InOut(shape).apply(1.0 - t);
                prop_assert!((sum - 1.0).abs() < 1e-5);
            }
        }

        #[test]
        fn css_handles_inside_the_unit_square_never_turn_back(
            [x1, y1, x2, y2] in prop::array::uniform4(0.0_f32..=1.0), corner: bool,
        ) {
            let (x1, x2) = if corner { (x1.round(), x2.round()) } else { (x1, x2) };
            let easing = bezier(x1, y1, x2, y2);
            let values: Vec<_> = (0..=100).map(|n| easing.apply(n as f32 / 100.0)).collect();
            prop_assert!(values.windows(2).all(|pair| pair[1] >= pair[0] - f32::EPSILON));
        }
    }
}
