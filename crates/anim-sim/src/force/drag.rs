//! Drag: a force against the velocity of each particle.
//!
//! It brings whole bodies to rest, not their deformations alone, so it stands for the air or for a viscous medium. Explicit
//! steps with it are stable for Δt < 2m/coefficient and monotone for half of that; [`Damped`](crate::integrate::Damped) is exact
//! for any.

use anim_math::nalgebra::Matrix3;

use super::Force;
use crate::SimError;
use crate::check::check_range;
use crate::integrate::{DVec3, Jacobian, Motion};

/// f = −coefficient·v, on every particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// N·s/m, not negative.
    pub coefficient: f64,
}

impl Force for Drag {
    fn check(&self, _vertex_count: usize) -> Result<(), SimError> {
        check_range("drag", 0, self.coefficient as f32, f32::MAX)
    }

    fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
        for (force, velocity) in forces.iter_mut().zip(&motion.velocities) {
            *force -= self.coefficient * velocity;
        }
    }

    fn add_jacobian(&self, motion: &Motion, jacobian: &mut Jacobian) {
        let by_velocity = Matrix3::from_diagonal_element(-self.coefficient);
        for vertex in 0..motion.positions.len() as u32 {
            jacobian.add([vertex, vertex], &Matrix3::zeros(), &by_velocity);
        }
    }
}
