//! Muscle in a solid: a stress along the fibres that grows with activation and depends on their length.
//!
//! With d the fibres' direction at rest and l = |F d| their length in units of the optimum, the energy density is the
//! integral of max_stress (a·FL(l) + FP(l)) over l, so muscle is one more elastic material, and contracts at the energy's
//! minimum. FL, the bell of active force, and FP, the passive force of stretched tissue, are piecewise quadratic. Force
//! does not depend on speed here.
//!
//! Source: the transversely isotropic form as in Blemker, Pinsky, Delp, "A 3D model of muscle reveals the causes of
//! nonuniform strains in the biceps brachii", J. Biomechanics 2005; curves of MuJoCo's muscle actuator.

use super::{Mat3d, Vec3d};

/// Lengths at which active force vanishes.
const LEAST: f64 = 0.5;
const MOST: f64 = 1.6;
/// Where the quadratic pieces meet.
const RISE: f64 = 0.5 * (LEAST + 1.0);
const FALL: f64 = 0.5 * (1.0 + MOST);
/// Passive force at the longest active length, over twice of it at the end of its first piece.
const PASSIVE: f64 = 1.3;

/// The fibres of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fiber {
    /// At rest, of unit length.
    pub direction: Vec3d,
    /// Pa, at full activation and optimal length.
    pub max_stress: f64,
}

impl Fiber {
    /// J/m³; 0 at rest for any activation, and negative where fibres have shortened by their own force.
    pub fn energy(&self, f: &Mat3d, activation: f64) -> f64 {
        let length = (f * self.direction).norm();
        self.max_stress * (activation * active_work(length) + passive_work(length))
    }

    /// First Piola stress, Pa.
    pub fn stress(&self, f: &Mat3d, activation: f64) -> Mat3d {
        let along = f * self.direction;
        let length = along.norm();
        let force = activation * active(length).0 + passive(length).0;
        if force == 0.0 {
            return Mat3d::zeros();
        }
        along * self.direction.transpose() * (self.max_stress * force / length)
    }

    /// The change of force on the fibre with its vector F d, Pa; without its negative part unless `exact`.
    pub(crate) fn stiffness(&self, f: &Mat3d, activation: f64, exact: bool) -> Mat3d {
        let along = f * self.direction;
        let length = along.norm();
        let (active, passive) = (active(length), passive(length));
        let force = activation * active.0 + passive.0;
        let slope = activation * active.1 + passive.1;
        if force == 0.0 && slope == 0.0 {
            return Mat3d::zeros();
        }
        let slope = if exact { slope } else { slope.max(0.0) };
        let unit = along / length;
        let outer = unit * unit.transpose();
        (outer * slope + (Mat3d::identity() - outer) * (force / length)) * self.max_stress
    }
}

/// FL and its slope.
fn active(length: f64) -> (f64, f64) {
    let rising = (length - LEAST) / (RISE - LEAST);
    let falling = (MOST - length) / (MOST - FALL);
    let (below, above) = ((1.0 - length) / (1.0 - RISE), (length - 1.0) / (FALL - 1.0));
    if length <= LEAST || length >= MOST {
        (0.0, 0.0)
    } else if length <= RISE {
        (0.5 * rising * rising, rising / (RISE - LEAST))
    } else if length <= 1.0 {
        (1.0 - 0.5 * below * below, below / (1.0 - RISE))
    } else if length <= FALL {
        (1.0 - 0.5 * above * above, -above / (FALL - 1.0))
    } else {
        (0.5 * falling * falling, -falling / (MOST - FALL))
    }
}

/// ∫ FL from 1.
fn active_work(length: f64) -> f64 {
    let length = length.clamp(LEAST, MOST);
    let cube = |x: f64| x * x * x / 6.0;
    // From the optimum to where the next piece begins, the bell has an area of 5/6 of its base.
    if length <= RISE {
        let width = RISE - LEAST;
        -(1.0 - RISE) * 5.0 / 6.0 - width / 6.0 + width * cube((length - LEAST) / width)
    } else if length <= 1.0 {
        let width = 1.0 - RISE;
        (length - 1.0) + width * cube((1.0 - length) / width)
    } else if length <= FALL {
        let width = FALL - 1.0;
        (length - 1.0) - width * cube((length - 1.0) / width)
    } else {
        let width = MOST - FALL;
        (FALL - 1.0) * 5.0 / 6.0 + width / 6.0 - width * cube((MOST - length) / width)
    }
}

/// FP and its slope.
fn passive(length: f64) -> (f64, f64) {
    let x = ((length - 1.0) / (FALL - 1.0)).max(0.0);
    if x <= 1.0 {
        (PASSIVE * 0.5 * x * x, PASSIVE * x / (FALL - 1.0))
    } else {
        (PASSIVE * (x - 0.5), PASSIVE / (FALL - 1.0))
    }
}

/// ∫ FP from 1.
fn passive_work(length: f64) -> f64 {
    let x = ((length - 1.0) / (FALL - 1.0)).max(0.0);
    let work = if x <= 1.0 {
        x * x * x / 6.0
    } else {
        0.5 * x * (x - 1.0) + 1.0 / 6.0
    };
    PASSIVE * (FALL - 1.0) * work
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_those_of_mujoco() {
        let table = [
            (0.5, 0.0),
            (0.625, 0.125),
            (0.75, 0.5),
            (0.9, 0.92),
            (1.0, 1.0),
            (1.05, 0.986_111),
            (1.2, 0.777_778),
            (1.3, 0.5),
            (1.45, 0.125),
            (1.6, 0.0),
        ];
        for (length, force) in table {
            assert!((active(length).0 - force).abs() < 1e-6, "{length}");
        }
        let table = [
            (1.0, 0.0),
            (1.05, 0.018_056),
            (1.2, 0.288_889),
            (1.3, 0.65),
            (1.45, 1.3),
            (1.6, 1.95),
        ];
        for (length, force) in table {
            assert!((passive(length).0 - force).abs() < 1e-6, "{length}");
        }
    }

    #[test]
    fn work_is_the_integral_of_force_and_stress_its_gradient() {
        let e = 1e-5;
        for k in 0..120 {
            let l = 0.403 + 0.0121 * f64::from(k);
            let slope = |work: fn(f64) -> f64| (work(l + e) - work(l - e)) / (2.0 * e);
            assert!((slope(active_work) - active(l).0).abs() < 1e-8, "{l}");
            assert!((slope(passive_work) - passive(l).0).abs() < 1e-8, "{l}");
        }
        let fiber = Fiber {
            direction: Vec3d::new(0.6, 0.0, 0.8),
            max_stress: 3.0,
        };
        let f = Mat3d::new(1.1, 0.2, 0.1, 0.0, 0.9, 0.3, 0.2, 0.1, 0.8);
        let stiffness = fiber.stiffness(&f, 0.7, true);
        for entry in 0..9 {
            let mut d = Mat3d::zeros();
            d[entry] = e;
            let slope = (fiber.energy(&(f + d), 0.7) - fiber.energy(&(f - d), 0.7)) / (2.0 * e);
            assert!((slope - fiber.stress(&f, 0.7)[entry]).abs() < 1e-8);
            let change = (fiber.stress(&(f + d), 0.7) - fiber.stress(&(f - d), 0.7)) / (2.0 * e);
            let expected = stiffness * (d / e) * fiber.direction * fiber.direction.transpose();
            assert!((change - expected).norm() < 1e-7);
        }
    }
}
