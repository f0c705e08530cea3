//! Forces on particles, in f64: springs, drag, wind, and networks of springs.
//!
//! A [`Force`] adds to the force on each particle of a [`Motion`], and for implicit integrators says how it changes. A
//! [`System`](crate::integrate::System) sums them. A force of your own is a type with one function:
//!
//! ```
//! use anim_sim::force::Force;
//! use anim_sim::integrate::{DVec3, Integrator, Motion, System, VelocityVerlet};
//!
//! /// A star of G·M = 1 at the origin, for planets of 1 kg.
//! #[derive(Debug)]
//! struct Star;
//!
//! impl Force for Star {
//!     fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
//!         for (force, x) in forces.iter_mut().zip(&motion.positions) {
//!             *force -= x / x.norm().powi(3);
//!         }
//!     }
//! }
//!
//! let system = System::new(vec![1.0], DVec3::zeros(), vec![Box::new(Star)])?;
//! let mut year = Motion { time: 0.0, positions: vec![DVec3::x()], velocities: vec![DVec3::y()] };
//! let mut verlet = VelocityVerlet::default();
//! for _ in 0..1000 {
//!     verlet.step(&system, std::f64::consts::TAU / 1000.0, &mut year);
//! }
//! assert!((year.positions[0] - DVec3::x()).norm() < 1e-4);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

mod drag;
pub mod network;
mod spring;
mod wind;

pub use drag::Drag;
pub use network::Network;
pub use spring::{Damping, Spring, Springs};
pub use wind::Wind;

use anim_math::nalgebra::Matrix3;

use crate::SimError;
use crate::integrate::{DVec3, Jacobian, Motion};

/// Pushes particles, depending on where they are, how they move and what time it is.
pub trait Force: std::fmt::Debug + Send + Sync {
    /// Whether it can act on that many particles.
    ///
    /// # Errors
    ///
    /// A particle that does not exist, or a quantity that is NaN or out of range.
    fn check(&self, _vertex_count: usize) -> Result<(), SimError> {
        Ok(())
    }

    /// Adds the force on each of the P particles, N.
    fn add(&self, motion: &Motion, forces: &mut [DVec3]);

    /// Adds how the forces change with positions and velocities.
    ///
    /// Implicit integrators reach the right answer whatever is left out, after more iterations: what is not symmetric, such
    /// as how the direction of damping turns, is.
    fn add_jacobian(&self, _motion: &Motion, _jacobian: &mut Jacobian) {}

    /// Potential energy, J; 0 for forces that have none.
    fn energy(&self, _motion: &Motion) -> f64 {
        0.0
    }
}

/// The symmetric part of a matrix that says how a force changes, without what makes energy fall where that is asked for.
fn symmetric(matrix: &Matrix3<f64>, jacobian: &Jacobian) -> Matrix3<f64> {
    let matrix = 0.5 * (matrix + matrix.transpose());
    if !jacobian.is_definite() {
        return matrix;
    }
    let mut eigen = matrix.symmetric_eigen();
    eigen.eigenvalues.apply(|value| *value = value.min(0.0));
    eigen.recompose()
}
