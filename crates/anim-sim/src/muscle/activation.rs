//! Activation: how the force of a muscle follows the nerve, fast up and slow down.
//!
//! The rate is that of MuJoCo's muscles, (u − a) / τ(a) with a time constant that grows with activation on the way up and
//! shrinks with it on the way down. At rest a rise begins at 200/s, so one explicit step of a 60 Hz frame would overshoot
//! to 3.3; here a step is the exact solution, and any number of small steps is one long one.
//!
//! ```
//! use anim_sim::muscle::Activation;
//!
//! let dynamics = Activation::default();
//! let after_a_frame = dynamics.advance(0.0, 1.0, 1.0 / 60.0);
//! assert!((0.5..1.0).contains(&after_a_frame));
//! ```

use serde::{Deserialize, Serialize};

use crate::SimError;

/// First-order activation dynamics.
///
/// da/dt = (u − a) / τ, τ = rise · (½ + 3a/2) where u > a, and fall / (½ + 3a/2) elsewhere.
///
/// Source: Millard et al., "Flexing computational muscle", J. Biomech. Eng. 2013, as MuJoCo has it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Activation {
    /// Time constant of activation, s, ≥ 0; 0 follows at once.
    pub rise: f64,
    /// Time constant of deactivation, s, ≥ 0; 0 follows at once.
    pub fall: f64,
}

impl Default for Activation {
    /// 10 ms up, 40 ms down.
    fn default() -> Self {
        Self {
            rise: 0.01,
            fall: 0.04,
        }
    }
}

impl Activation {
    /// da/dt, 1/s, infinite for a time constant of 0; what is outside [0, 1] counts as its end, what is not a number as 0.
    pub fn rate(&self, activation: f64, excitation: f64) -> f64 {
        let (a, u) = (unit(activation), unit(excitation));
        let factor = 0.5 + 1.5 * a;
        match u > a {
            true => (u - a) / (self.rise * factor),
            false => (u - a) * factor / self.fall,
        }
    }

    /// Activation after `dt`, s, of steady excitation: the exact solution, in [0, 1] for any step.
    ///
    /// Steps compose: two halves are a whole to rounding. A step that is not positive changes nothing.
    pub fn advance(&self, activation: f64, excitation: f64, dt: f64) -> f64 {
        let (a, u) = (unit(activation), unit(excitation));
        if dt > 0.0 && u > a {
            risen(a, u, dt / self.rise)
        } else if dt > 0.0 && u < a {
            fallen(a, u, dt / self.fall)
        } else {
            a
        }
    }

    pub(super) fn check(&self) -> Result<(), SimError> {
        for time in [self.rise, self.fall] {
            if !(0.0..1e6).contains(&time) {
                return Err(SimError::OutOfRange {
                    what: "activation's time constant",
                    index: 0,
                    value: time as f32,
                });
            }
        }
        Ok(())
    }
}

/// `x` in [0, 1]; what is not a number is 0.
pub(super) fn unit(x: f64) -> f64 {
    if x > 0.0 { x.min(1.0) } else { 0.0 }
}

/// Solves k·s − (3/2)(u − a)(1 − e⁻ˢ) = t, k = ½ + 3u/2, for the s by whose exponential the gap u − a has closed.
///
/// The left side rises by at least ½ a unit and is convex, so Newton's method from the right comes down to the root and
/// never passes it.
fn risen(a: f64, u: f64, t: f64) -> f64 {
    let gap = u - a;
    let k = 0.5 + 1.5 * u;
    let mut s = (t + 1.5 * gap) / k;
    if s > 700.0 {
        return u;
    }
    for _ in 0..32 {
        let left = gap * libm::exp(-s);
        let step = (k * s - 1.5 * (gap - left) - t) / (k - 1.5 * left);
        s -= step;
        if step.abs() <= 1e-15 * s {
            break;
        }
    }
    (u - gap * libm::exp(-s)).clamp(a, u)
}

/// The gap w = a − u falls as dw/dt = −w (k + 3w/2): logistic.
fn fallen(a: f64, u: f64, t: f64) -> f64 {
    let gap = a - u;
    let k = 0.5 + 1.5 * u;
    let q = gap / (k + 1.5 * gap) * libm::exp(-k * t);
    (u + k * q / (1.0 - 1.5 * q)).clamp(u, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(f64, f64); 6] = [
        (0.0, 1.0),
        (1.0, 0.0),
        (0.2, 0.7),
        (0.9, 0.4),
        (0.0, 1e-6),
        (0.5, 0.5),
    ];

    #[test]
    fn a_step_is_many_small_euler_steps() {
        let dynamics = Activation::default();
        for (start, excitation) in PAIRS {
            for dt in [0.001, 1.0 / 60.0, 0.2] {
                let mut stepped: f64 = start;
                let count = 200_000;
                for _ in 0..count {
                    stepped += dynamics.rate(stepped, excitation) * dt / f64::from(count);
                }
                // Euler's error is about dt · (rate of change, below 1e5/s²) · step.
                let tolerance = 1e5 * dt.min(0.02) * dt / f64::from(count) + 1e-9;
                let exact = dynamics.advance(start, excitation, dt);
                assert!((exact - stepped).abs() < tolerance, "{exact} {stepped}");
            }
        }
    }

    #[test]
    fn steps_compose() {
        let dynamics = Activation::default();
        for (start, excitation) in PAIRS {
            let whole = dynamics.advance(start, excitation, 0.03);
            let mut parts = start;
            for _ in 0..30 {
                parts = dynamics.advance(parts, excitation, 0.001);
            }
            assert!((whole - parts).abs() < 1e-13, "{whole} {parts}");
        }
    }

    #[test]
    fn no_step_leaves_the_range_or_passes_the_goal() {
        let dynamics = Activation::default();
        let instant = Activation {
            rise: 0.0,
            fall: 0.0,
        };
        for (start, excitation) in PAIRS {
            for dt in [0.0, 1e-9, 1.0, 1e9, f64::INFINITY] {
                let (low, high) = (start.min(excitation), start.max(excitation));
                let a = dynamics.advance(start, excitation, dt);
                assert!((low..=high).contains(&a), "{a}");
                let at_once = instant.advance(start, excitation, dt);
                assert_eq!(at_once, if dt > 0.0 { excitation } else { start });
            }
        }
        assert_eq!(dynamics.advance(f64::NAN, f64::NAN, f64::NAN), 0.0);
        assert_eq!(dynamics.advance(7.0, 9.0, 0.1), 1.0);
    }
}
