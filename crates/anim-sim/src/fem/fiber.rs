//! Muscle in a solid: a stress along the fibres that grows with activation and depends on their length.
//!
//! With d the fibres' direction at rest and l = |F d| their length in units of the optimum, the energy density is the
//! integral of max_stress (a·FL(l) + FP(l)) over l, so muscle is one more elastic material, and contracts at the energy's
//! minimum. FL, the bell of active force, and FP, the passive force of stretched tissue, are those of
//! [`Parabolic`](crate::muscle::Parabolic) by default. Force does not depend on speed here.
//!
//! Source: the transversely isotropic form as in Blemker, Pinsky, Delp, "A 3D model of muscle reveals the causes of
//! nonuniform strains in the biceps brachii", J. Biomechanics 2005; curves of MuJoCo's muscle actuator.

use super::{Mat3d, Vec3d};
use crate::muscle::{Parabolic, Sample};

/// MuJoCo's, with its defaults.
const CURVES: Parabolic = Parabolic::MUJOCO;

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
        self.max_stress * (activation * CURVES.active_work(length) + CURVES.passive_work(length))
    }

    /// First Piola stress, Pa.
    pub fn stress(&self, f: &Mat3d, activation: f64) -> Mat3d {
        let along = f * self.direction;
        let length = along.norm();
        let force = CURVES.along_fiber(length, activation).value;
        if force == 0.0 {
            return Mat3d::zeros();
        }
        along * self.direction.transpose() * (self.max_stress * force / length)
    }

    /// The change of force on the fibre with its vector F d, Pa; without its negative part unless `exact`.
    pub(crate) fn stiffness(&self, f: &Mat3d, activation: f64, exact: bool) -> Mat3d {
        let along = f * self.direction;
        let length = along.norm();
        let Sample {
            value: force,
            slope,
        } = CURVES.along_fiber(length, activation);
        if force == 0.0 && slope == 0.0 {
            return Mat3d::zeros();
        }
        let slope = if exact { slope } else { slope.max(0.0) };
        let unit = along / length;
        let outer = unit * unit.transpose();
        (outer * slope + (Mat3d::identity() - outer) * (force / length)) * self.max_stress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stress_and_stiffness_are_the_energys_derivatives() {
        let e = 1e-5;
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
