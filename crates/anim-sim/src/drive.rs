//! What the world does to a body during one step, and the trait of whatever answers.

use anim_geom::Collider;
use anim_math::Vec3;

use crate::{Model, State};

/// The inputs of one step.
///
/// ```
/// use anim_sim::Drive;
///
/// let drive = Drive::default();
/// assert_eq!(drive.gravity.y, -9.81);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// m/s².
    pub gravity: Vec3,
    /// Velocity of the air, m/s; felt where the model has drag.
    pub wind: Vec3,
    /// Vertices, and where each must be at the end of the step, world space; on the way they move in a straight line.
    ///
    /// Any vertex may be pinned, for this step. A vertex that the model pins and this list does not name stays where it
    /// is. Vertices that do not exist and places that are not finite are ignored.
    pub pins: &'a [(u32, Vec3)],
    /// Vertices and the forces on them, N, world space; forces on one vertex add up.
    pub loads: &'a [(u32, Vec3)],
    /// Of each muscle, in [0, 1]; those missing are at rest.
    pub activations: &'a [f32],
    /// What the body must stay out of, where it is at the end of the step.
    pub colliders: &'a [Collider],
    /// Where the colliders of the same index were at its start; those missing rest.
    pub previous_colliders: &'a [Collider],
}

impl Default for Drive<'_> {
    /// Gravity of the Earth, no wind, nothing held and nothing in the way.
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Vec3::zeros(),
            pins: &[],
            loads: &[],
            activations: &[],
            colliders: &[],
            previous_colliders: &[],
        }
    }
}

/// What a step reports. Nothing in it is an error: the state is valid all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// How far the worst constraint is from holding, or for implicit solvers how far the worst particle is from where its
    /// equation would have it, m; 0 where a solver does not measure it.
    pub residual: f32,
    /// Substeps, or iterations of an implicit solver, that the step took.
    pub iterations: u32,
    /// Particles whose motion was cut: they were faster than the solver allows, or would have passed through something.
    pub slowed: u32,
    /// Particles that had no way out, because pinned surfaces or colliders closed on them.
    pub pinched: u32,
}

/// Moves a body in time; owns the scratch that this takes.
pub trait Solver: Send + std::fmt::Debug {
    /// Advances `state` by `dt`, s. If `dt` is not positive and finite, nothing changes.
    ///
    /// # Panics
    ///
    /// If the solver or the state was made for a model of another number of particles.
    fn step(&mut self, model: &Model, drive: &Drive<'_>, dt: f32, state: &mut State) -> Outcome;
}
