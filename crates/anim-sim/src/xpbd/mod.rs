//! XPBD with small steps: each frame is cut into substeps, and each constraint is projected once in each.
//!
//! Substeps cost what iterations cost and converge faster. Default to 20 for cloth of up to about 100 vertices across
//! and 30 above. Use it for anything that must look right at a fixed price; stiff solids want an implicit method.
//!
//! It honours links, seams, tethers, hinges, flexes, areas, membranes and their limits, tetrahedra, volumes and clusters.
//! It keeps surfaces off themselves where the model asks for it. Every law of a solid is taken for the stable Neo-Hookean
//! one, with small strains of the right stiffness; nothing yields. Fibres are other solvers' business and change nothing here.
//!
//! One substep of length h, for each block of particles:
//!
//! 1. predict: v ← v e^(−ch) + gh, x ← x + vh. Damping comes before gravity, so that it does not move the equilibrium;
//!    pinned particles move at the constant speed that brings them to their goal.
//! 2. project the elements, first those inside the blocks, then those inside blocks shifted by half; in each colour by
//!    colour, where no two elements of one colour share a particle, whatever their kinds.
//! 3. volumes, then clusters, one after the other: they are few, and as large as they like.
//! 4. tethers, then colliders, last so that nothing ends inside; v ← v + (x − x_predicted) / h;
//! 5. where something is viscous, the elements of all blocks damp the velocities: apart from the projections, so that it moves
//!    no equilibrium either.
//!
//! A solid that has nearly collapsed at the beginning of a step gets twice the substeps for it, and four times if
//! anything is inside out; [`Outcome::iterations`] tells.
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

pub(crate) mod area;
pub(crate) mod batch;
mod blocks;
pub(crate) mod cluster;
mod distance;
pub(crate) mod elements;
pub(crate) mod flex;
pub(crate) mod hinge;
pub(crate) mod membrane;
mod pace;
pub(crate) mod real;
mod substep;
pub(crate) mod sweep;
pub(crate) mod tet;
pub(crate) mod volume;

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use anim_geom::chunks;
use anim_math::lanes::{Lanes, Level};
use anim_math::{Quat, Vec3};

use crate::collide::MovingCollider;
use crate::contact::{Contact, Moment};
use crate::drive::{Drive, Outcome, Solver};
use crate::model::{Model, State};
use blocks::{Blocks, Half, Slots};
use pace::{Passage, Schedule};
use substep::{Air, Part, Substep};
use sweep::Sweep;

/// Below this many particles a second thread costs more than it saves.
const PARALLEL_VERTICES: usize = 6 * 1024;

/// Pins further out than this are ignored, metres: their speed could overflow.
const MAX_COORDINATE: f32 = 1e9;

/// Substeps that go through a large body together: the cache holds about as many blocks.
const WAVE: usize = 8;

/// What drives the particles, at the end of a substep.
#[derive(Clone, Debug, Default)]
struct Frame {
    /// Where the anchors of the tethers are.
    anchors: Vec<Vec3>,
    colliders: Vec<MovingCollider>,
}

/// The XPBD solver; owns the scratch of one body.
///
/// After the first step, stepping allocates nothing, unless there are more colliders or more of the surface is near itself
/// than ever before, or the surface has changed so much that its tree of boxes is built anew.
#[derive(Clone, Debug)]
pub struct Xpbd {
    substeps: u32,
    iterations: u32,
    level: Level,
    /// P by slot: x, y, z and the inverse mass of this step.
    positions: Vec<[f32; 4]>,
    /// P by slot: where particles would be if nothing held them.
    predicted: Vec<[f32; 4]>,
    /// P by slot; the last lane is 0.
    velocities: Vec<[f32; 4]>,
    /// P by slot.
    air: Vec<Air>,
    /// P by slot: accelerations of this step's loads.
    loads: Vec<[f32; 4]>,
    has_loads: bool,
    /// What each element's constraints pushed in this substep, for each even and each odd block; empty for one iteration.
    multipliers: [Vec<Vec<Lanes>>; 2],
    /// Of each cluster, in this step.
    rotations: Vec<Option<Quat>>,
    /// Of the largest volume.
    gradients: Vec<Vec3>,
    /// What drives the body, at the ends of some substeps in a row.
    frames: Vec<Frame>,
    /// The last of them.
    latest: usize,
    /// `None` where the surface does not keep off itself.
    contact: Option<Box<Contact>>,
    /// Positions here are relative to this point near the body, where f32 is finest.
    origin: Vec3,
}

impl Xpbd {
    /// Scratch for one body; `substeps` a step, at least 1.
    pub fn new(model: &Model, substeps: u32) -> Self {
        Self::with_iterations(model, substeps, 1)
    }

    /// The same, with each element projected `iterations` times a substep, at least once.
    ///
    /// Stiffness is the same for any number; more substeps nearly always converge faster at the same cost. Volumes and
    /// clusters are projected once.
    pub fn with_iterations(model: &Model, substeps: u32, iterations: u32) -> Self {
        let count = model.vertex_count();
        let multipliers = |sweep: &Sweep| match iterations {
            0 | 1 => Vec::new(),
            _ => vec![[0.0; 8]; sweep.multipliers],
        };
        let still = Air {
            normal: Vec3::zeros(),
            drag: 0.0,
            lift: 0.0,
        };
        let largest = model.volumes.iter().map(volume::Volume::len).max();
        Self {
            substeps: substeps.max(1),
            iterations: iterations.max(1),
            level: Level::new(),
            positions: vec![[0.0; 4]; count],
            predicted: vec![[0.0; 4]; count],
            velocities: vec![[0.0; 4]; count],
            air: vec![still; count],
            loads: vec![[0.0; 4]; count],
            has_loads: false,
            multipliers: [&model.even, &model.odd]
                .map(|blocks| blocks.iter().map(multipliers).collect()),
            rotations: vec![None; model.clusters.len()],
            gradients: vec![Vec3::zeros(); largest.unwrap_or(0)],
            frames: vec![Frame::default(); WAVE],
            latest: 0,
            contact: Contact::new(model).map(Box::new),
            origin: Vec3::zeros(),
        }
    }

    /// Substeps a step.
    pub fn substeps(&self) -> u32 {
        self.substeps
    }

    /// Projections of each element a substep.
    pub fn iterations(&self) -> u32 {
        self.iterations
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
        self.begin_frames(model, drive);
        let mut substeps = self.substeps;
        if let Some(contact) = &mut self.contact {
            let (positions, velocities) = (&self.positions, &self.velocities);
            let colliders = &self.frames[0].colliders;
            contact.begin(&state.positions, positions, velocities, colliders, dt);
            substeps = pace::substeps_for_speed(
                substeps,
                contact.edge_length(),
                positions,
                velocities,
                contact.solid_paths(),
                dt,
            );
        }
        substeps *= pace::caution(model, state);
        let h = dt / substeps as f32;
        self.feel_air(model, h);
        self.rotations.fill(None);
        let mut slowed = 0;
        let schedule = Schedule {
            substeps,
            is_damped: is_damped(model),
        };
        let together = if self.goes_in_waves(model) { WAVE } else { 1 };
        for first in (0..schedule.len()).step_by(together) {
            let places = first..schedule.len().min(first + together as u32);
            self.advance_frames(model, h, schedule, places.clone());
            let counts = [const { AtomicU32::new(0) }; WAVE];
            let frames = std::mem::take(&mut self.frames);
            let passages: [Substep<'_>; WAVE] = std::array::from_fn(|place| {
                let place = place.min(places.len() - 1);
                let Passage { ends, begins, .. } = schedule.passage(first + place as u32);
                Substep {
                    level: self.level,
                    h,
                    damping: libm::expf(-model.spec.damping * h),
                    gravity: finite_or_zero(drive.gravity),
                    wind: finite_or_zero(drive.wind),
                    has_air: has_air(model),
                    has_loads: self.has_loads,
                    viscosity: model.spec.viscosity,
                    seam_step: model.spec.seam_speed * h,
                    is_damped: schedule.is_damped,
                    thickness: model.spec.thickness,
                    anchors: &frames[place].anchors,
                    colliders: &frames[place].colliders,
                    ends,
                    part: Part::Whole,
                    begins,
                    slowed: &counts[place],
                }
            });
            if let [passage] = &passages[..places.len()] {
                let left = substeps - schedule.passage(first).index;
                self.pass(model, passage, left as f32 * h);
            } else {
                let blocks = self.blocks(model);
                blocks.in_waves(places.len(), |place, half, block| {
                    passages[place].take(half, block);
                });
            }
            slowed = counts.iter().fold(slowed, |most, count| {
                most.max(count.load(Ordering::Relaxed))
            });
            self.frames = frames;
        }
        self.store(model, drive, state);
        let contact = self.contact.as_mut();
        let [cut, pinched] = contact.map_or([0; 2], |contact| contact.end(&state.positions));
        Outcome {
            residual: residual(model, state),
            iterations: substeps,
            slowed: slowed + cut,
            pinched,
        }
    }
}

/// Something has viscosity.
fn is_damped(model: &Model) -> bool {
    let spec = &model.spec;
    spec.viscosity > 0.0 || spec.materials.iter().any(|m| m.damping > 0.0)
}

fn has_air(model: &Model) -> bool {
    model.spec.drag > 0.0 || model.spec.lift > 0.0
}

/// How far the worst rigid link is from its length, m.
fn residual(model: &Model, state: &State) -> f32 {
    let links = model.rigid_links.iter();
    links
        .map(|index| {
            let link = &model.spec.links[*index as usize];
            let [a, b] = link.vertices.map(|v| state.positions[v as usize]);
            ((a - b).norm() - link.rest_length).abs()
        })
        .fold(0.0, f32::max)
}

/// The pins that name a vertex of the model and a place that is finite and not absurd.
pub(crate) fn usable_pins<'a>(
    drive: &Drive<'a>,
    model: &Model,
) -> impl Iterator<Item = (u32, Vec3)> + use<'a> {
    let vertex_count = model.vertex_count();
    drive.pins.iter().copied().filter(move |(vertex, goal)| {
        (*vertex as usize) < vertex_count && goal.iter().all(|c| c.abs() < MAX_COORDINATE)
    })
}

/// A multiple of 16 m: subtracting it is exact for what lies around it.
pub(crate) fn nearest_origin(coordinate: f32) -> f32 {
    (coordinate / 16.0).round() * 16.0
}

/// A force or wind that is not finite is none.
pub(crate) fn finite_or_zero(v: Vec3) -> Vec3 {
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
        if self.has_loads {
            self.loads.fill([0.0; 4]);
        }
        self.has_loads = !drive.loads.is_empty();
        for (vertex, force) in drive.loads {
            let Some(slot) = model.slot_of_vertex.get(*vertex as usize) else {
                continue;
            };
            let slot = *slot as usize;
            let gain = finite_or_zero(force * self.positions[slot][3]);
            for (sum, part) in self.loads[slot].iter_mut().zip(gain.iter()) {
                *sum += part;
            }
        }
    }

    /// Finds how the surface lies in the air: once a step, since folds move little in one.
    fn feel_air(&mut self, model: &Model, h: f32) {
        if !has_air(model) {
            return;
        }
        for air in &mut self.air {
            air.normal = Vec3::zeros();
        }
        let at = |slot: u32| {
            let [x, y, z, _] = self.positions[slot as usize];
            Vec3::new(x, y, z)
        };
        for triangle in &model.triangles {
            let [a, b, c] = triangle.map(at);
            let normal = (b - a).cross(&(c - a));
            for slot in triangle {
                self.air[*slot as usize].normal += normal;
            }
        }
        for (air, surface) in self.air.iter_mut().zip(&model.surface_rates) {
            air.normal = air.normal.try_normalize(0.0).unwrap_or_default();
            // Implicit Euler: never more than the whole speed, however light the cloth.
            let share = |coefficient: f32| {
                let rate = coefficient * surface * h;
                rate / (1.0 + rate)
            };
            (air.drag, air.lift) = (share(model.spec.drag), share(model.spec.lift));
        }
    }

    /// Puts colliders and anchors where they are at the beginning of the step.
    fn begin_frames(&mut self, model: &Model, drive: &Drive<'_>) {
        let Frame { anchors, colliders } = &mut self.frames[0];
        let positions = model.anchors.iter().map(|a| self.positions[*a as usize]);
        anchors.clear();
        anchors.extend(positions.map(|[x, y, z, _]| Vec3::new(x, y, z)));
        let (origin, friction) = (self.origin, model.spec.friction);
        colliders.clear();
        colliders.extend(drive.colliders.iter().enumerate().map(|(i, collider)| {
            MovingCollider::new(drive.previous_colliders.get(i), collider, origin, friction)
        }));
        self.latest = 0;
    }

    /// Finds where colliders and anchors are in some passages in a row, between substeps of length `h`.
    fn advance_frames(&mut self, model: &Model, h: f32, schedule: Schedule, places: Range<u32>) {
        self.frames.swap(0, self.latest);
        for (place, passage) in places.map(|p| schedule.passage(p)).enumerate() {
            if place > 0 {
                let (before, rest) = self.frames.split_at_mut(place);
                rest[0].anchors.clone_from(&before[place - 1].anchors);
                rest[0].colliders.clone_from(&before[place - 1].colliders);
            }
            self.latest = place;
            if !passage.ends {
                continue;
            }
            let frame = &mut self.frames[place];
            for collider in &mut frame.colliders {
                collider.advance(passage.index as f32 / schedule.substeps as f32);
            }
            // What is pinned moves at an even speed, exactly as `predict` moves it.
            for (anchor, slot) in frame.anchors.iter_mut().zip(&model.anchors) {
                let [x, y, z, _] = self.velocities[*slot as usize];
                *anchor += Vec3::new(x, y, z) * h;
            }
        }
    }

    /// Whether several substeps may go through the body together, each a block behind the one before it.
    fn goes_in_waves(&self, model: &Model) -> bool {
        self.contact.is_none()
            && self.iterations == 1
            && model.volumes.is_empty()
            && model.clusters.is_empty()
            && !is_parallel(model)
    }

    /// Passes from one substep to the next.
    ///
    /// * `remaining`: time left in the step, s.
    fn pass(&mut self, model: &Model, passage: &Substep<'_>, remaining: f32) {
        let mut part = Part::Whole;
        if let Some(mut contact) = self.contact.take() {
            if passage.ends {
                self.touch(&mut contact, model, passage, remaining);
            }
            part = Part::Advance;
            self.contact = Some(contact);
        }
        let passage = Substep { part, ..*passage };
        let blocks = self.blocks(model);
        blocks.for_each(is_parallel(model), &|half, block| passage.take(half, block));
        if passage.begins {
            for _ in 1..self.iterations {
                let blocks = self.blocks(model);
                blocks.for_each(is_parallel(model), &|_, block| {
                    passage.project(block, false)
                });
            }
            self.project_large(model, &passage);
        }
    }

    /// Keeps the surface off itself at the end of a substep, with tethers and colliders in between.
    ///
    /// * `remaining`: time left in the step, s.
    fn touch(
        &mut self,
        contact: &mut Contact,
        model: &Model,
        substep: &Substep<'_>,
        remaining: f32,
    ) {
        let moment = Moment {
            h: substep.h,
            remaining,
        };
        let colliders = substep.colliders;
        contact.push_apart(moment, &mut self.positions, &mut self.predicted, colliders);
        let settling = Substep {
            part: Part::Settle,
            ..*substep
        };
        let blocks = self.blocks(model);
        blocks.for_each(is_parallel(model), &|half, block| {
            if half == Half::Even {
                settling.run(block);
            }
        });
        contact.keep_apart(moment, &mut self.positions, &self.predicted, colliders);
    }

    fn blocks<'a>(&'a mut self, model: &'a Model) -> Blocks<'a> {
        let [even_multipliers, odd_multipliers] = &mut self.multipliers;
        Blocks {
            size: model.block,
            slots: Slots {
                positions: &mut self.positions,
                predicted: &mut self.predicted,
                velocities: &mut self.velocities,
                air: &self.air,
                loads: &self.loads,
                tethers: &model.tethers,
            },
            even_multipliers,
            odd_multipliers,
            even: &model.even,
            odd: &model.odd,
        }
    }

    /// Projects what is not cut into blocks.
    fn project_large(&mut self, model: &Model, substep: &Substep<'_>) {
        let pass = substep.pass();
        for volume in &model.volumes {
            volume.project(&pass, &mut self.gradients, &mut self.positions);
        }
        for (cluster, rotation) in model.clusters.iter().zip(&mut self.rotations) {
            cluster.project(&pass, rotation, &mut self.positions);
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
