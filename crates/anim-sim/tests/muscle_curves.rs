//! Muscle curves, activation and force against MuJoCo's, as constants.
//!
//! Measured with `mujoco` 4.0.0 from PyPI: `mju_muscleGain` and `mju_muscleBias` with range 0.75 to 1.05, force 1, lmin 0.5,
//! lmax 1.6, vmax 1.5, fpmax 1.3, fvmax 1.2 and a length range of 0 to 1; `mju_muscleDynamics` with 10 and 40 ms.

use anim_sim::muscle::{Activation, Curves};

/// Length, active force, passive force.
const BY_LENGTH: [(f64, f64, f64); 30] = [
    (0.500, 0.0, 0.0),
    (0.550, 0.02, 0.0),
    (0.600, 0.08, 0.0),
    (0.625, 0.125, 0.0),
    (0.650, 0.18, 0.0),
    (0.700, 0.32, 0.0),
    (0.740, 0.4608, 0.0),
    (0.750, 0.5, 0.0),
    (0.760, 0.5392, 0.0),
    (0.800, 0.68, 0.0),
    (0.870, 0.8648, 0.0),
    (0.900, 0.92, 0.0),
    (0.950, 0.98, 0.0),
    (0.990, 0.9992, 0.0),
    (1.000, 1.0, 0.0),
    (1.020, 0.997_777_778, 0.002_888_889),
    (1.050, 0.986_111_111, 0.018_055_556),
    (1.100, 0.944_444_444, 0.072_222_222),
    (1.150, 0.875, 0.1625),
    (1.200, 0.777_777_778, 0.288_888_889),
    (1.250, 0.652_777_778, 0.451_388_889),
    (1.280, 0.564_444_444, 0.566_222_222),
    (1.300, 0.5, 0.65),
    (1.350, 0.347_222_222, 0.866_666_667),
    (1.400, 0.222_222_222, 1.083_333_333),
    (1.450, 0.125, 1.3),
    (1.500, 0.055_555_556, 1.516_666_667),
    (1.550, 0.013_888_889, 1.733_333_333),
    (1.600, 0.0, 1.95),
    (0.400, 0.0, 0.0),
];

/// Lengthening speed, factor.
const BY_VELOCITY: [(f64, f64); 28] = [
    (-1.2, 0.0),
    (-1.0, 0.0),
    (-0.9, 0.01),
    (-0.8, 0.04),
    (-0.75, 0.0625),
    (-0.6, 0.16),
    (-0.5, 0.25),
    (-0.4, 0.36),
    (-0.3, 0.49),
    (-0.25, 0.5625),
    (-0.2, 0.64),
    (-0.1, 0.81),
    (-0.05, 0.9025),
    (-0.01, 0.9801),
    (0.0, 1.0),
    (0.01, 1.0195),
    (0.03, 1.0555),
    (0.05, 1.0875),
    (0.06, 1.102),
    (0.08, 1.128),
    (0.1, 1.15),
    (0.12, 1.168),
    (0.15, 1.1875),
    (0.17, 1.1955),
    (0.19, 1.1995),
    (0.2, 1.2),
    (0.25, 1.2),
    (0.5, 1.2),
];

/// Excitation, activation, its rate.
const BY_EXCITATION: [(f64, f64, f64); 12] = [
    (1.0, 0.0, 200.0),
    (1.0, 0.5, 40.0),
    (0.0, 1.0, -50.0),
    (0.0, 0.5, -15.625),
    (0.3, 0.1, 30.769_230_769),
    (0.6, 0.6, 0.0),
    (0.2, 0.9, -32.375),
    (0.9, 0.2, 87.5),
    (0.5, 0.25, 28.571_428_571),
    (1.0, 1.0, 0.0),
    (0.0, 0.0, 0.0),
    (0.75, 0.8, -2.125),
];

/// The constants have nine decimals.
const ROUNDING: f64 = 1e-9;

#[test]
fn force_by_length_is_that_of_mujoco() {
    let curves = Curves::default();
    for (length, active, passive) in BY_LENGTH {
        assert!((curves.active_length(length).value - active).abs() < ROUNDING);
        assert!((curves.passive_length(length).value - passive).abs() < ROUNDING);
    }
}

#[test]
fn force_by_velocity_is_that_of_mujoco() {
    let curves = Curves::default();
    for (velocity, factor) in BY_VELOCITY {
        assert!((curves.velocity(velocity).value - factor).abs() < ROUNDING);
    }
}

#[test]
fn the_rate_of_activation_is_that_of_mujoco() {
    let dynamics = Activation::default();
    for (excitation, activation, rate) in BY_EXCITATION {
        let found = dynamics.rate(activation, excitation);
        assert!((found - rate).abs() < ROUNDING * 200.0, "{found} {rate}");
    }
}
