//! The curves of muscle: how force depends on length, on speed and on the stretch of the tendon.
//!
//! All are dimensionless: lengths in optimal fibre lengths, speeds in the largest shortening speed, forces in the largest
//! isometric force. Every curve returns its true derivative with its value, because equilibria are solved with it and a
//! stiffness that belongs to another curve makes the solver wander.
//!
//! ```
//! use anim_sim::muscle::Curves;
//!
//! let curves = Curves::default();
//! assert_eq!(curves.active_length(1.0).value, 1.0);
//! assert_eq!(curves.velocity(0.0).value, 1.0);
//! assert_eq!(curves.velocity(-1.0).value, 0.0, "no force at the largest shortening speed");
//! assert!(curves.passive_length(1.3).slope > 0.0);
//! ```

use serde::{Deserialize, Serialize};

use crate::SimError;
use crate::check::check_range;

/// A curve at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The value.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
}

impl Sample {
    const fn new(value: f64, slope: f64) -> Self {
        Self { value, slope }
    }
}

/// The three curves of the fibres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curves {
    /// Piecewise parabolas, C¹: those of MuJoCo, with its parameters.
    Parabolic(Parabolic),
    /// Functions without kinks where muscles work, for optimisers and stiff solvers: C² but at the one point where
    /// shortening is too fast for any force.
    ///
    /// * active: the Gaussian exp(−(l − 1)² / 0.45) of Thelen, "Adjustment of muscle mechanics model parameters", J. Biomech.
    ///   Eng. 2003; * passive: ((l − 1) / 0.6)³, which is 1 at Thelen's strain of 0.6; * velocity: the inverse
    ///   hyperbolic sine of De Groote et al., "Evaluation of direct collocation", Ann. Biomed. Eng. 2016, scaled to
    ///   pass through (−1, 0) and (0, 1) exactly.
    Smooth,
}

/// The parameters of [`Curves::Parabolic`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parabolic {
    /// Shortest length with active force, in (0, 1).
    pub min_length: f64,
    /// Longest length with active force, above 1.
    pub max_length: f64,
    /// Passive force at `max_length`, not counting the last third: MuJoCo's `fpmax`; ≥ 0.
    pub passive_force: f64,
    /// Force when stretched fast, > 1.
    pub stretch_force: f64,
}

impl Default for Parabolic {
    /// MuJoCo's defaults.
    fn default() -> Self {
        Self::MUJOCO
    }
}

impl Default for Curves {
    fn default() -> Self {
        Self::Parabolic(Parabolic::default())
    }
}

impl Curves {
    /// Active force at a fibre length, ≥ 0, 1 at length 1.
    pub fn active_length(&self, length: f64) -> Sample {
        match self {
            Self::Parabolic(p) => p.active_length(length),
            Self::Smooth => {
                let off = length - 1.0;
                let value = libm::exp(-off * off / 0.45);
                Sample::new(value, -2.0 * off / 0.45 * value)
            }
        }
    }

    /// Passive force at a fibre length, ≥ 0, 0 up to length 1.
    pub fn passive_length(&self, length: f64) -> Sample {
        match self {
            Self::Parabolic(p) => p.passive_length(length),
            Self::Smooth => {
                let strain = (length - 1.0).max(0.0) / 0.6;
                Sample::new(strain * strain * strain, 3.0 * strain * strain / 0.6)
            }
        }
    }

    /// The factor on active force at a lengthening speed, ≥ 0; 0 from −1 downward, 1 at rest.
    pub fn velocity(&self, velocity: f64) -> Sample {
        match self {
            Self::Parabolic(p) => p.velocity(velocity),
            Self::Smooth if velocity <= -1.0 => Sample::default(),
            Self::Smooth => smooth_velocity(velocity),
        }
    }

    pub(super) fn check(&self) -> Result<(), SimError> {
        let Self::Parabolic(p) = self else {
            return Ok(());
        };
        let require = |is_met: bool, what, value: f64| match is_met {
            true => Ok(()),
            false => Err(SimError::OutOfRange {
                what,
                index: 0,
                value: value as f32,
            }),
        };
        let (low, high) = (p.min_length, p.max_length);
        require(low > 0.0 && low < 1.0, "muscle's shortest length", low)?;
        require(high > 1.0 && high < 1e3, "muscle's longest length", high)?;
        let passive = p.passive_force as f32;
        check_range("muscle's passive force", 0, passive, 1e3)?;
        let stretch = p.stretch_force;
        require(
            stretch > 1.0 && stretch < 1e3,
            "muscle's stretch force",
            stretch,
        )
    }
}

/// The force of a tendon by its strain, in units of the force at which it has the strain `at_one`; 0 where slack.
///
/// Its stiffness rises by a cubic step over the first two thirds of `at_one`, so the curve is C², and is constant beyond.
pub fn tendon(strain: f64, at_one: f64) -> Sample {
    let toe = at_one * (2.0 / 3.0);
    let stiffness = 1.5 / at_one;
    let x = (strain / toe).clamp(0.0, 1.0);
    let beyond = (strain - toe).max(0.0);
    let value = stiffness * (toe * x * x * x * (1.0 - 0.5 * x) + beyond);
    Sample::new(value, stiffness * x * x * (3.0 - 2.0 * x))
}

impl Parabolic {
    /// MuJoCo's defaults.
    pub const MUJOCO: Self = Self {
        min_length: 0.5,
        max_length: 1.6,
        passive_force: 1.3,
        stretch_force: 1.2,
    };

    /// Active force at an activation and passive force together.
    pub(crate) fn along_fiber(&self, length: f64, activation: f64) -> Sample {
        let (active, passive) = (self.active_length(length), self.passive_length(length));
        Sample::new(
            activation * active.value + passive.value,
            activation * active.slope + passive.slope,
        )
    }

    /// The integral of active force from length 1.
    pub(crate) fn active_work(&self, length: f64) -> f64 {
        let length = length.clamp(self.min_length, self.max_length);
        let (end, width, away) = match length <= 1.0 {
            true => (
                length - self.min_length,
                0.5 * (1.0 - self.min_length),
                -1.0,
            ),
            false => (self.max_length - length, 0.5 * (self.max_length - 1.0), 1.0),
        };
        let x = end / width;
        let cube = |x: f64| x * x * x / 6.0;
        // Half a bell has the area of a rectangle of half its base.
        match x <= 1.0 {
            true => away * width * (1.0 - cube(x)),
            false => away * width * (2.0 - x - cube(2.0 - x)),
        }
    }

    /// The integral of passive force from length 1.
    pub(crate) fn passive_work(&self, length: f64) -> f64 {
        let width = 0.5 * (self.max_length - 1.0);
        let x = ((length - 1.0) / width).max(0.0);
        let work = match x <= 1.0 {
            true => x * x * x / 6.0,
            false => 0.5 * x * (x - 1.0) + 1.0 / 6.0,
        };
        self.passive_force * width * work
    }

    fn active_length(&self, length: f64) -> Sample {
        let (low, high) = (self.min_length, self.max_length);
        if length <= low || length >= high {
            return Sample::default();
        }
        // Half a parabola up, half a parabola over, on each side of the optimum.
        let (end, width, away) = match length <= 1.0 {
            true => (length - low, 0.5 * (1.0 - low), 1.0),
            false => (high - length, 0.5 * (high - 1.0), -1.0),
        };
        let x = end / width;
        match x <= 1.0 {
            true => Sample::new(0.5 * x * x, away * x / width),
            false => Sample::new(1.0 - 0.5 * (2.0 - x) * (2.0 - x), away * (2.0 - x) / width),
        }
    }

    fn passive_length(&self, length: f64) -> Sample {
        let width = 0.5 * (self.max_length - 1.0);
        let x = ((length - 1.0) / width).max(0.0);
        let slope = self.passive_force / width;
        match x <= 1.0 {
            true => Sample::new(self.passive_force * 0.5 * x * x, slope * x),
            false => Sample::new(self.passive_force * (x - 0.5), slope),
        }
    }

    fn velocity(&self, velocity: f64) -> Sample {
        let rise = self.stretch_force - 1.0;
        if velocity <= -1.0 {
            Sample::default()
        } else if velocity <= 0.0 {
            Sample::new((velocity + 1.0) * (velocity + 1.0), 2.0 * (velocity + 1.0))
        } else if velocity <= rise {
            let left = rise - velocity;
            Sample::new(self.stretch_force - left * left / rise, 2.0 * left / rise)
        } else {
            Sample::new(self.stretch_force, 0.0)
        }
    }
}

/// De Groote's curve c₁ asinh(k v + s) + c₂ with c₁, c₂ such that it is 0 at −1 and 1 at 0.
fn smooth_velocity(velocity: f64) -> Sample {
    const STEEPNESS: f64 = 8.149;
    const SHIFT: f64 = 0.374;
    let at_rest = libm::asinh(SHIFT);
    let scale = 1.0 / (at_rest - libm::asinh(SHIFT - STEEPNESS));
    let x = STEEPNESS * velocity + SHIFT;
    let value = scale * (libm::asinh(x) - at_rest) + 1.0;
    Sample::new(value, scale * STEEPNESS / (1.0 + x * x).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences of a curve that is C¹ but for `kinks`; second derivatives are below 40.
    fn check_slope(curve: impl Fn(f64) -> Sample, from: f64, to: f64, kinks: &[f64]) {
        let step = 1e-5;
        for i in 0..=1000 {
            let x = from + (to - from) * f64::from(i) / 1000.0;
            if kinks.iter().any(|kink| (x - kink).abs() < 2.0 * step) {
                continue;
            }
            let difference = (curve(x + step).value - curve(x - step).value) / (2.0 * step);
            let error = (difference - curve(x).slope).abs();
            assert!(error < 20.0 * step, "{x}: {difference} and {:?}", curve(x));
        }
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_values() {
        for curves in [Curves::default(), Curves::Smooth] {
            check_slope(|x| curves.active_length(x), 0.3, 1.8, &[0.5, 1.6]);
            check_slope(|x| curves.passive_length(x), 0.3, 1.8, &[]);
            check_slope(|x| curves.velocity(x), -1.5, 1.0, &[-1.0]);
        }
        check_slope(|x| tendon(x, 0.049), -0.01, 0.1, &[]);
    }

    #[test]
    fn work_is_the_integral_of_force() {
        let p = Parabolic {
            min_length: 0.45,
            ..Parabolic::MUJOCO
        };
        let active = |x| Sample::new(p.active_work(x), p.active_length(x).value);
        let passive = |x| Sample::new(p.passive_work(x), p.passive_length(x).value);
        check_slope(active, 0.3, 1.8, &[]);
        check_slope(passive, 0.3, 1.8, &[]);
        assert_eq!((p.active_work(1.0), p.passive_work(1.0)), (0.0, 0.0));
    }

    #[test]
    fn the_smooth_curves_have_no_kinks() {
        let second = |curve: &dyn Fn(f64) -> Sample, x: f64| {
            (curve(x + 1e-6).slope - curve(x).slope) / 1e-6
                - (curve(x).slope - curve(x - 1e-6).slope) / 1e-6
        };
        let curves = Curves::Smooth;
        for i in 1..300 {
            let x = f64::from(i) * 0.01 - 1.0 + 1e-4;
            assert!(second(&|x| curves.active_length(x), x).abs() < 1e-3);
            assert!(second(&|x| curves.passive_length(x), x).abs() < 1e-3);
            assert!(second(&|x| curves.velocity(x), x).abs() < 1e-2);
        }
        assert!(second(&|x| tendon(x, 0.049), 0.0).abs() < 0.1);
        assert!(second(&|x| tendon(x, 0.049), 0.049 * 2.0 / 3.0).abs() < 0.1);
    }

    #[test]
    fn the_smooth_curves_pass_through_their_anchors() {
        let curves = Curves::Smooth;
        assert_eq!(curves.active_length(1.0).value, 1.0);
        assert_eq!(curves.passive_length(1.0).value, 0.0);
        assert!((curves.passive_length(1.6).value - 1.0).abs() < 1e-14);
        assert!((curves.velocity(0.0).value - 1.0).abs() < 1e-14);
        assert!(curves.velocity(-1.0 + 1e-12).value.abs() < 1e-11);
        assert!((tendon(0.033, 0.033).value - 1.0).abs() < 1e-14);
        assert_eq!(tendon(-0.1, 0.033), Sample::default());
    }
}
