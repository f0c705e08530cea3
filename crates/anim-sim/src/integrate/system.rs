//! Particles, their masses and all the forces on them: what an integrator moves.

use super::{DVec3, Motion};
use crate::SimError;
use crate::check::check_range;
use crate::force::Force;

/// Masses and forces, checked; its [`Motion`]s are apart, so that one system serves any number of them.
#[derive(Debug)]
pub struct System {
    inverse_masses: Vec<f64>,
    gravity: DVec3,
    forces: Vec<Box<dyn Force>>,
}

impl System {
    /// Puts P particles under forces, which add up.
    ///
    /// * `inverse_masses`: P, 1/kg, not negative. A particle of 0 is held: no force moves it, it keeps its velocity.
    /// * `gravity`: m/s².
    ///
    /// # Errors
    ///
    /// [`SimError::Empty`] without particles; [`SimError::OutOfRange`] for a mass or gravity; what [`Force::check`] says.
    pub fn new(
        inverse_masses: Vec<f64>,
        gravity: DVec3,
        forces: Vec<Box<dyn Force>>,
    ) -> Result<Self, SimError> {
        if inverse_masses.is_empty() {
            return Err(SimError::Empty);
        }
        for (index, mass) in inverse_masses.iter().enumerate() {
            check_range("inverse mass", index, *mass as f32, f32::MAX)?;
        }
        for (index, component) in gravity.iter().enumerate() {
            check_range("gravity", index, component.abs() as f32, f32::MAX)?;
        }
        for force in &forces {
            force.check(inverse_masses.len())?;
        }
        Ok(Self {
            inverse_masses,
            gravity,
            forces,
        })
    }

    /// Number of particles, P.
    pub fn vertex_count(&self) -> usize {
        self.inverse_masses.len()
    }

    /// P, 1/kg; 0 is held.
    pub fn inverse_masses(&self) -> &[f64] {
        &self.inverse_masses
    }

    /// All the forces but gravity, in the order in which they add up.
    pub fn forces(&self) -> &[Box<dyn Force>] {
        &self.forces
    }

    /// The acceleration of each particle, m/s²; zero where it is held.
    ///
    /// # Panics
    ///
    /// If `motion` or `out` does not have P particles.
    pub fn accelerations(&self, motion: &Motion, out: &mut [DVec3]) {
        assert_eq!(
            out.len(),
            self.vertex_count(),
            "one acceleration a particle"
        );
        out.fill(DVec3::zeros());
        for force in &self.forces {
            force.add(motion, out);
        }
        for (acceleration, inverse_mass) in out.iter_mut().zip(&self.inverse_masses) {
            *acceleration = if *inverse_mass > 0.0 {
                self.gravity + *acceleration * *inverse_mass
            } else {
                DVec3::zeros()
            };
        }
    }

    /// Kinetic and potential energy, J; held particles have none of their own.
    pub fn energy(&self, motion: &Motion) -> f64 {
        let own: f64 = self
            .free(motion)
            .map(|(mass, x, v)| mass * (0.5 * v.norm_squared() - self.gravity.dot(x)))
            .sum();
        own + self
            .forces
            .iter()
            .map(|force| force.energy(motion))
            .sum::<f64>()
    }

    /// Of the particles that are not held, kg·m/s.
    pub fn momentum(&self, motion: &Motion) -> DVec3 {
        self.free(motion).map(|(mass, _, v)| mass * v).sum()
    }

    /// Of the particles that are not held, about the origin, kg·m²/s.
    pub fn angular_momentum(&self, motion: &Motion) -> DVec3 {
        self.free(motion)
            .map(|(mass, x, v)| mass * x.cross(v))
            .sum()
    }

    /// Mass, position and velocity of the particles that are not held.
    fn free<'a>(&'a self, motion: &'a Motion) -> impl Iterator<Item = (f64, &'a DVec3, &'a DVec3)> {
        self.inverse_masses
            .iter()
            .zip(motion.positions.iter().zip(&motion.velocities))
            .filter(|(inverse_mass, _)| **inverse_mass > 0.0)
            .map(|(inverse_mass, (x, v))| (1.0 / inverse_mass, x, v))
    }
}
