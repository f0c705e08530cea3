//! XPBD with small steps: each frame is cut into substeps, and each constraint is projected once in each.
//!
//! Substeps cost what iterations cost and converge faster. Default to 20 for cloth of up to about 100 vertices across
//! and 30 above. Use it for anything that must look right at a fixed price; stiff solids want an implicit method.
//!
//! One substep of length h, for each block of particles:
//!
//! 1. predict: v ← v e^(−ch) + gh, x ← x + vh. Damping comes before gravity, so that it does not move the equilibrium;
//!    pinned particles move at the constant speed that brings them to their goal.
//! 2. project the links, first those inside the blocks, then those inside blocks shifted by half.
//! 3. tethers, then colliders, last so that nothing ends inside; v ← v + (x − x_predicted) / h.
//!
//! Source: Macklin, Storey, Lu, Terdiman, Chentanez, Jeschke, Müller, "Small steps in physics simulation", SCA 2019,
//! algorithm 1.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_sim::{Drive, Link, Model, ModelSpec, Solver, State, Xpbd};
//!
//! // A kilogram on a spring of 100 N/m stretches it by its weight / 100 N/m, whatever the substeps.
//! let spring = Model::new(ModelSpec {
//!     positions: vec![Vec3::zeros(), Vec3::y() * -1.0],
//!     inverse_masses: vec![0.0, 1.0],
//!     links: vec![Link { vertices: [0, 1], rest_length: 1.0, compliance: 0.01 }],
//!     damping: 4.0,
//!     ..ModelSpec::default()
//! })?;
//! let mut state = State::new(&spring);
//! let mut solver = Xpbd::new(&spring, 2);
//! for _ in 0..480 {
//!     solver.step(&spring, &Drive::default(), 1.0 / 60.0, &mut state);
//! }
//! assert!((state.positions[1].y + 1.0981).abs() < 1e-3);
//! # Ok::<(), anim_sim::SimError>(())
//! ```

pub(crate) mod distance;
mod substep;

use anim_geom::chunks;
use anim_math::Vec3;
use anim_math::lanes::Level;
use rayon::prelude::*;

use crate::collide::MovingCollider;
use crate::contact::{Contact, Moment};
use crate::drive::{Drive, Outcome, Solver};
use crate::model::{Model, State};
use substep::{Block, Part, Substep};

/// Below this many particles a second thread costs more than it saves.
const PARALLEL_VERTICES: usize = 6 * 1024;

/// Pins further out than this are ignored, metres: their speed could overflow.
const MAX_COORDINATE: f32 = 1e9;

/// The XPBD solver; owns the scratch of one body.
///
/// After the first step, stepping allocates nothing, unless there are more colliders than ever before.
#[derive(Clone, Debug)]
pub struct Xpbd {
    substeps: u32,
    level: Level,
    /// P by slot: x, y, z and the inverse mass of this step.
    positions: Vec<[f32; 4]>,
    /// P by slot: where particles would be if nothing held them.
    predicted: Vec<[f32; 4]>,
    /// P by slot; the last lane is 0.
    velocities: Vec<[f32; 4]>,
    /// P by slot: unit normal, and the share of the air's speed across the surface taken in a substep.
    air: Vec<[f32; 4]>,
    /// Where the anchors of the tethers are at the end of the substep.
    anchors: Vec<Vec3>,
    colliders: Vec<MovingCollider>,
    /// `None` where the surface does not keep off itself.
    contact: Option<Box<Contact>>,
    /// Positions here are relative to this point near the body, where f32 is finest.
    origin: Vec3,
}

impl Xpbd {
    /// Scratch for one body; `substeps` a step, at least 1.
    pub fn new(model: &Model, substeps: u32) -> Self {
        let count = model.vertex_count();
        Self {
            substeps: substeps.max(1),
            level: Level::new(),
            positions: vec![[0.0; 4]; count],
            predicted: vec![[0.0; 4]; count],
            velocities: vec![[0.0; 4]; count],
            air: vec![[0.0; 4]; count],
            anchors: vec![Vec3::zeros(); model.anchors.len()],
            colliders: Vec::new(),
            contact: Contact::new(model).map(Box::new),
            origin: Vec3::zeros(),
        }
    }

    /// Substeps a step.
    pub fn substeps(&self) -> u32 {
        self.substeps
    }
}

impl Solver for Xpbd {
    fn step(&mut self, model: &Model, drive: &Drive<'_>, dt: f32, state: &mut State) -> Outcome {
        assert_eq!(
            self.positions.len(),
            model.vertex_count(),
            "the solver was made for another model"
        );
        assert_eq!(
            (state.positions.len(), state.velocities.len()),
            (model.vertex_count(), model.vertex_count()),
            "the state was made for another model"
        );
        if !(dt > 0.0 && dt.is_finite()) {
            return Outcome::default();
        }
        self.load(model, drive, dt, state);
        let h = dt / self.substeps as f32;
        self.feel_air(model, h);
        self.colliders.clear();
        let (origin, friction) = (self.origin, model.spec.friction);
        let previous = |i| drive.previous_colliders.get(i);
        self.colliders.extend(
            drive
                .colliders
                .iter()
                .enumerate()
                .map(|(i, collider)| MovingCollider::new(previous(i), collider, origin, friction)),
        );
        if let Some(contact) = &mut self.contact {
            let (positions, velocities) = (&self.positions, &self.velocities);
            contact.begin(&state.positions, positions, velocities, &self.colliders, dt);
        }
        for index in 0..=self.substeps {
            if index > 0 {
                self.advance_kinematics(model, index);
                self.touch(model, drive, index, h);
            }
            let part = if self.contact.is_some() {
                Part::Advance
            } else {
                Part::Whole
            };
            self.run_even(model, drive, index, h, part);
            if index < self.substeps {
                self.run_odd(model, h);
            }
        }
        self.store(model, drive, state);
        let contact = self.contact.as_mut();
        let [slowed, pinched] = contact.map_or([0; 2], |contact| contact.end(&state.positions));
        Outcome {
            iterations: self.substeps,
            slowed,
            pinched,
            ..Outcome::default()
        }
    }
}

/// The pins that name a vertex of the model and a place that is finite and not absurd.
fn usable_pins<'a>(
    drive: &Drive<'a>,
    model: &Model,
) -> impl Iterator<Item = (u32, Vec3)> + use<'a> {
    let vertex_count = model.vertex_count();
    drive.pins.iter().copied().filter(move |(vertex, goal)| {
        (*vertex as usize) < vertex_count && goal.iter().all(|c| c.abs() < MAX_COORDINATE)
    })
}

/// A multiple of 16 m: subtracting it is exact for what lies around it.
fn nearest_origin(coordinate: f32) -> f32 {
    (coordinate / 16.0).round() * 16.0
}

/// A force or wind that is not finite is none.
fn finite_or_zero(v: Vec3) -> Vec3 {
    if v.iter().all(|c| c.is_finite()) {
        v
    } else {
        Vec3::zeros()
    }
}

impl Xpbd {
    /// Brings the state into the solver's order. Particles that are not finite start again from rest.
    fn load(&mut self, model: &Model, drive: &Drive<'_>, dt: f32, state: &State) {
        let spec = &model.spec;
        let is_finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        let first = state.positions.iter().find(|x| is_finite(x));
        self.origin = first.map_or_else(Vec3::zeros, |x| x.map(nearest_origin));
        for (slot, vertex) in model.vertex_of_slot.iter().enumerate() {
            let vertex = *vertex as usize;
            let inverse_mass = spec.inverse_masses[vertex];
            let (mut x, mut v) = (state.positions[vertex], state.velocities[vertex]);
            if !(is_finite(&x) && is_finite(&v)) {
                (x, v) = (spec.positions[vertex], Vec3::zeros());
            }
            if inverse_mass == 0.0 {
                v = Vec3::zeros();
            }
            x -= self.origin;
            self.positions[slot] = [x.x, x.y, x.z, inverse_mass];
            self.velocities[slot] = [v.x, v.y, v.z, 0.0];
        }
        for (vertex, goal) in usable_pins(drive, model) {
            let slot = model.slot_of_vertex[vertex as usize] as usize;
            let [x, y, z, _] = self.positions[slot];
            let v = (goal - self.origin - Vec3::new(x, y, z)) / dt;
            self.positions[slot][3] = 0.0;
            self.velocities[slot] = [v.x, v.y, v.z, 0.0];
        }
    }

    /// Finds how the surface lies in the air: once a step, since folds move little in one.
    fn feel_air(&mut self, model: &Model, h: f32) {
        if model.spec.drag == 0.0 {
            return;
        }
        self.air.fill([0.0; 4]);
        let at = |slot: u32| {
            let [x, y, z, _] = self.positions[slot as usize];
            Vec3::new(x, y, z)
        };
        for triangle in &model.triangles {
            let [a, b, c] = triangle.map(at);
            let normal = (b - a).cross(&(c - a));
            for slot in triangle {
                let sum = &mut self.air[*slot as usize];
                sum[0] += normal.x;
                sum[1] += normal.y;
                sum[2] += normal.z;
            }
        }
        for (air, rate) in self.air.iter_mut().zip(&model.drag_rates) {
            let normal = Vec3::new(air[0], air[1], air[2])
                .try_normalize(0.0)
                .unwrap_or_default();
            // Implicit Euler: never more than the whole speed, however light the cloth.
            *air = [normal.x, normal.y, normal.z, rate * h / (1.0 + rate * h)];
        }
    }

    /// Moves colliders and anchors to the end of substep `index`, counted from 1.
    fn advance_kinematics(&mut self, model: &Model, index: u32) {
        let alpha = index as f32 / self.substeps as f32;
        for collider in &mut self.colliders {
            collider.advance(alpha);
        }
        for (anchor, slot) in self.anchors.iter_mut().zip(&model.anchors) {
            let [x, y, z, _] = self.positions[*slot as usize];
            *anchor = Vec3::new(x, y, z);
        }
    }

    /// Keeps the surface off itself at the end of the substep before `index`, with tethers and colliders in between.
    fn touch(&mut self, model: &Model, drive: &Drive<'_>, index: u32, h: f32) {
        let Some(mut contact) = self.contact.take() else {
            return;
        };
        let remaining = (self.substeps - index) as f32 * h;
        let moment = Moment { h, remaining };
        contact.push_apart(
            moment,
            &mut self.positions,
            &mut self.predicted,
            &self.colliders,
        );
        self.run_even(model, drive, index, h, Part::Settle);
        contact.keep_apart(
            moment,
            &mut self.positions,
            &self.predicted,
            &self.colliders,
        );
        self.contact = Some(contact);
    }

    /// Ends the substep before `index` and begins that one, in the blocks that begin at multiples of the block size.
    fn run_even(&mut self, model: &Model, drive: &Drive<'_>, index: u32, h: f32, part: Part) {
        let substep = Substep {
            level: self.level,
            h,
            damping: libm::expf(-model.spec.damping * h),
            gravity: finite_or_zero(drive.gravity),
            wind: finite_or_zero(drive.wind),
            has_air: model.spec.drag > 0.0,
            thickness: model.spec.thickness,
            anchors: &self.anchors,
            colliders: &self.colliders,
            ends: index > 0,
            part,
            begins: index < self.substeps,
        };
        let size = model.block;
        if is_parallel(model) {
            self.positions
                .par_chunks_mut(size)
                .zip(self.predicted.par_chunks_mut(size))
                .zip(self.velocities.par_chunks_mut(size))
                .zip(self.air.par_chunks(size))
                .zip(model.tethers.par_chunks(size))
                .zip(model.even.par_iter())
                .for_each(|zipped| substep.run(Block::from(zipped)));
        } else {
            self.positions
                .chunks_mut(size)
                .zip(self.predicted.chunks_mut(size))
                .zip(self.velocities.chunks_mut(size))
                .zip(self.air.chunks(size))
                .zip(model.tethers.chunks(size))
                .zip(model.even.iter())
                .for_each(|zipped| substep.run(Block::from(zipped)));
        }
    }

    /// Projects the links that cross the ends of the even blocks.
    fn run_odd(&mut self, model: &Model, h: f32) {
        let Some(positions) = self.positions.get_mut(model.block / 2..) else {
            return;
        };
        let (size, level) = (model.block, self.level);
        if is_parallel(model) {
            positions
                .par_chunks_mut(size)
                .zip(model.odd.par_iter())
                .for_each(|(positions, batches)| substep::project(level, batches, h, positions));
        } else {
            for (positions, batches) in positions.chunks_mut(size).zip(&model.odd) {
                substep::project(level, batches, h, positions);
            }
        }
    }

    /// Brings the result into the order of the vertices, with pins exactly where they must be.
    fn store(&self, model: &Model, drive: &Drive<'_>, state: &mut State) {
        for (slot, vertex) in model.vertex_of_slot.iter().enumerate() {
            let ([x, y, z, _], [vx, vy, vz, _]) = (self.positions[slot], self.velocities[slot]);
            state.positions[*vertex as usize] = Vec3::new(x, y, z) + self.origin;
            state.velocities[*vertex as usize] = Vec3::new(vx, vy, vz);
        }
        for (vertex, goal) in usable_pins(drive, model) {
            state.positions[vertex as usize] = goal;
        }
    }
}

fn is_parallel(model: &Model) -> bool {
    model.vertex_count() >= PARALLEL_VERTICES && chunks::in_pool()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::{ClothSpec, build};
    use anim_geom::{Collider, Shape};
    use anim_math::Affine;

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let n = 20;
        let model = build(&ClothSpec {
            positions: (0..n * n)
                .map(|v| Vec3::new((v % n) as f32, 0.0, (v / n) as f32) * 0.05)
                .collect(),
            triangles: (0..n * n)
                .filter(|v| v % n != n - 1 && v / n != n - 1)
                .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
                .collect(),
            pinned: vec![0, n - 1],
            ..ClothSpec::default()
        })
        .unwrap();
        let ball = Collider::new(Shape::Sphere { radius: 0.3 }, Affine::IDENTITY);
        let drive = Drive {
            wind: Vec3::x(),
            colliders: &[ball],
            ..Drive::default()
        };
        let [best, plain] = [Level::new(), Level::baseline()].map(|level| {
            let mut state = State::new(&model);
            let mut solver = Xpbd::new(&model, 5);
            solver.level = level;
            for _ in 0..60 {
                solver.step(&model, &drive, 1.0 / 60.0, &mut state);
            }
            state
        });
        assert_eq!(best, plain);
    }
}
