//! Springs: Hooke's law between two particles, and dampers beside it.
//!
//! A stretched spring pulls its ends together and a squeezed one pushes them apart, each with the same force, so momentum and
//! angular momentum stay. The damper acts along the spring: it takes the speed at which the length changes, and leaves a
//! rigid motion alone. (Damping the whole relative velocity would stop things that merely turn; [`Damping::Isotropic`] does.)
//!
//! Source: Baraff, Witkin, "Large steps in cloth simulation", SIGGRAPH 1998, eqs. 7 and 11; Choi, Ko, "Stable but
//! responsive cloth", SIGGRAPH 2002, for which part of the stiffness to leave out of squeezed springs.

use anim_math::nalgebra::Matrix3;
use anim_math::random::Random;
use serde::{Deserialize, Serialize};

use super::Force;
use crate::SimError;
use crate::check::{check_range, check_vertices};
use crate::element::Link;
use crate::integrate::{DVec3, Jacobian, Motion};

/// A spring with a damper.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spring {
    /// The two particles; must differ.
    pub vertices: [u32; 2],
    /// m, not negative; 0 pulls the two together.
    pub rest_length: f64,
    /// N/m, not negative.
    pub stiffness: f64,
    /// N·s/m, not negative.
    pub damping: f64,
}

impl Default for Spring {
    /// From the first particle to the second, of length 0, 100 N/m, undamped.
    fn default() -> Self {
        Self {
            vertices: [0, 1],
            rest_length: 0.0,
            stiffness: 100.0,
            damping: 0.0,
        }
    }
}

impl From<Link> for Spring {
    /// The stiffness is the inverse of the compliance: a rigid link is an infinitely stiff spring, which no system accepts.
    fn from(link: Link) -> Self {
        Self {
            vertices: link.vertices,
            rest_length: link.rest_length.into(),
            stiffness: 1.0 / f64::from(link.compliance),
            damping: 0.0,
        }
    }
}

/// What a spring's damper acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Damping {
    /// The speed at which the length changes.
    #[default]
    Axial,
    /// The whole velocity of one end against the other; slows rotations down, and angular momentum with them.
    Isotropic,
}

/// Any number of springs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Springs {
    /// In any order; forces add up in this one.
    pub springs: Vec<Spring>,
    /// Of all of them.
    pub damping: Damping,
}

impl From<Vec<Spring>> for Springs {
    fn from(springs: Vec<Spring>) -> Self {
        Self {
            springs,
            damping: Damping::Axial,
        }
    }
}

/// The ends of a spring nearer than this part of its rest length have no direction of their own.
const DEGENERATE: f64 = 1e-9;

impl Spring {
    /// How long it is, and the direction from its second end to its first.
    ///
    /// Where the ends coincide the direction is one that depends on nothing but their numbers: a squeezed spring pushes
    /// them apart all the same, and different ones in different directions.
    fn axis(&self, motion: &Motion) -> (f64, DVec3) {
        let [a, b] = self.vertices;
        let offset = motion.positions[a as usize] - motion.positions[b as usize];
        let length = offset.norm();
        if length <= DEGENERATE * self.rest_length {
            let direction = Random::new(u64::from(a), u64::from(b), 0).on_sphere();
            return (0.0, direction.cast::<f64>().normalize());
        }
        (length, offset / length)
    }

    /// The velocity of the first end against the second.
    fn relative_velocity(&self, motion: &Motion) -> DVec3 {
        let [a, b] = self.vertices.map(|vertex| vertex as usize);
        motion.velocities[a] - motion.velocities[b]
    }
}

impl Force for Springs {
    fn check(&self, vertex_count: usize) -> Result<(), SimError> {
        for (index, spring) in self.springs.iter().enumerate() {
            check_vertices("spring", index, &spring.vertices, vertex_count)?;
            let [a, b] = spring.vertices;
            if a == b {
                return Err(SimError::Repeated {
                    what: "spring",
                    index,
                    vertex: a,
                });
            }
            let length = spring.rest_length as f32;
            check_range("spring's rest length", index, length, f32::MAX)?;
            let stiffness = spring.stiffness as f32;
            check_range("spring's stiffness", index, stiffness, f32::MAX)?;
            check_range("spring's damping", index, spring.damping as f32, f32::MAX)?;
        }
        Ok(())
    }

    fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
        for spring in &self.springs {
            let (length, axis) = spring.axis(motion);
            let mut force = -spring.stiffness * (length - spring.rest_length) * axis;
            if spring.damping > 0.0 {
                let velocity = spring.relative_velocity(motion);
                force -= spring.damping
                    * match self.damping {
                        Damping::Axial => velocity.dot(&axis) * axis,
                        Damping::Isotropic => velocity,
                    };
            }
            let [a, b] = spring.vertices.map(|vertex| vertex as usize);
            forces[a] += force;
            forces[b] -= force;
        }
    }

    fn add_jacobian(&self, motion: &Motion, jacobian: &mut Jacobian) {
        for spring in &self.springs {
            let (length, axis) = spring.axis(motion);
            let along = axis * axis.transpose();
            let across = Matrix3::identity() - along;
            // Turning the spring costs what its tension does: less than nothing where it is squeezed.
            let mut tension = if length > 0.0 {
                1.0 - spring.rest_length / length
            } else {
                f64::from(spring.rest_length == 0.0)
            };
            if jacobian.is_definite() {
                tension = tension.max(0.0);
            }
            let by_position = -spring.stiffness * (along + tension * across);
            let by_velocity = -spring.damping
                * match self.damping {
                    Damping::Axial => along,
                    Damping::Isotropic => Matrix3::identity(),
                };
            jacobian.add_pair(spring.vertices, &by_position, &by_velocity);
        }
    }

    fn energy(&self, motion: &Motion) -> f64 {
        let of_spring = |spring: &Spring| {
            let stretch = spring.axis(motion).0 - spring.rest_length;
            0.5 * spring.stiffness * stretch * stretch
        };
        self.springs.iter().map(of_spring).sum()
    }
}
