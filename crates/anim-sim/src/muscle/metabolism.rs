//! What contraction costs in food: the chemical power of a muscle.
//!
//! Positive for any speed, so that holding and braking cost, too.
//!
//! ```
//! use anim_sim::muscle::metabolism;
//!
//! let [lifting, holding, braking] = [-0.2, 0.0, 0.2].map(|lengthening| metabolism::rate(lengthening, 1.0));
//! assert!(lifting > holding && holding > 0.0 && braking > 0.0);
//! ```

/// Chemical power in units of largest force times largest speed, ≥ 0.
///
/// * `velocity`: lengthening speed in largest shortening speeds; beyond ±1 it counts as ±1. * `activation`: in [0, 1].
///
/// Source: Minetti, Alexander, "A theory of metabolic costs for bipedal gaits", J. Theor. Biol. 1997: a rational function of
/// the shortening speed.
pub fn rate(velocity: f64, activation: f64) -> f64 {
    let v = (-velocity).clamp(-1.0, 1.0);
    let numerator = 0.054 + v * (0.506 + v * 2.46);
    let denominator = 1.0 + v * (-1.13 + v * (12.8 - v * 1.64));
    activation * numerator / denominator
}
