//! Steps a head of hair: cuts the step, moves the root, and runs groups of eight strands, each on one thread.
//!
//! Strands do not wait for each other inside a step: what they feel of each other is settled once, at its beginning
//! ([`HairVolume`](super::HairVolume)). So threads share nothing but what they read.

use anim_geom::{Collider, chunks};
use anim_math::lanes::{LANES, Lanes, Level, dispatch};
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Transform, Vec3};

use super::contact::{self, Contact, Obstacles, Scene};
use super::model::{Group, Hair, HairState, put};
use super::path::{self, Path, PathPart};
use super::rod::{self, Action, Answer, Inputs, Node, RootMotion, Strands};
use super::volume::Volume;
use crate::Outcome;

/// A step is not cut into more substeps than this.
const MAX_SUBSTEPS: f32 = 64.0;
/// Nothing goes faster, m/s: about the speed of sound.
const MAX_SPEED: f32 = 340.0;

/// The inputs of one step.
#[derive(Clone, Copy, Debug)]
pub struct HairDrive<'a> {
    /// Where the root (the head) is at the end of the step; its scale is not used.
    pub world_from_root: Transform,
    /// Where it was at the beginning. On the way it moves straight and turns evenly the short way.
    pub previous_world_from_root: Transform,
    /// For hair on skin that deforms: where the root of each guide is at the end of the step, from the space of the groom.
    /// Guides beyond its end move with `world_from_root`. A guide's state is relative to its own root, and so are strands
    /// that [follow](super::Followers) it; [`HairVolume`](super::HairVolume) takes neighbours to have about the same.
    pub world_from_roots: &'a [Transform],
    /// Where the roots of the same index were at the beginning; those missing rest.
    pub previous_world_from_roots: &'a [Transform],
    /// m/s², world space.
    pub gravity: Vec3,
    /// Velocity of the air, m/s, world space.
    pub wind: Vec3,
    /// Vertices and the forces on them, N, world space; forces on one vertex add up, those on a root are not felt.
    pub loads: &'a [(u32, Vec3)],
    /// What hair must stay out of, where it is at the end of the step.
    pub colliders: &'a [Collider],
    /// Where the colliders of the same index were at its beginning; those missing rest.
    pub previous_colliders: &'a [Collider],
}

impl Default for HairDrive<'_> {
    /// Gravity of the Earth on a head that rests at the origin.
    fn default() -> Self {
        Self {
            world_from_root: Transform::IDENTITY,
            previous_world_from_root: Transform::IDENTITY,
            world_from_roots: &[],
            previous_world_from_roots: &[],
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Vec3::zeros(),
            loads: &[],
            colliders: &[],
            previous_colliders: &[],
        }
    }
}

impl HairDrive<'_> {
    /// Where the root of a guide is at the beginning and at the end of the step.
    pub(super) fn root(&self, guide: usize) -> [Transform; 2] {
        match self.world_from_roots.get(guide) {
            Some(end) => {
                let start = self.previous_world_from_roots.get(guide);
                [*start.unwrap_or(end), *end]
            }
            None => [self.previous_world_from_root, self.world_from_root],
        }
    }
}

/// Moves hair in time; owns the scratch of one head.
///
/// After the first step, stepping allocates nothing, unless there are more colliders or substeps than ever before.
#[derive(Clone, Debug)]
pub struct HairSolver {
    level: Level,
    groups: Vec<Lane8>,
    obstacles: Obstacles,
    loads: Vec<Vec3>,
    volume: Volume,
}

impl HairSolver {
    /// Scratch for one head of hair.
    pub fn new(hair: &Hair) -> Self {
        Self {
            level: Level::new(),
            groups: hair.groups.iter().map(Lane8::new).collect(),
            obstacles: Obstacles::default(),
            loads: vec![Vec3::zeros(); hair.vertex_count()],
            volume: Volume::default(),
        }
    }

    /// Advances `state` by `dt`, s. If `dt` is not positive and finite, nothing changes.
    ///
    /// Inside a rayon pool groups of strands share its threads; the result is the same to the bit for any number. Inputs
    /// that are not finite are taken as none, a root that is not as resting at the other end of the step, or at the
    /// origin. A guide whose state is not finite, before or after, goes back to the groom.
    ///
    /// [`Outcome::slowed`] counts vertices beyond the speed of sound, [`Outcome::pinched`] those that colliders leave no way
    /// out: all others end a step outside.
    ///
    /// # Panics
    ///
    /// If the solver or the state was made for other hair.
    pub fn step(
        &mut self,
        hair: &Hair,
        drive: &HairDrive<'_>,
        dt: f32,
        state: &mut HairState,
    ) -> Outcome {
        state.check(hair);
        assert!(
            self.groups.len() == hair.groups.len() && self.loads.len() == hair.vertex_count(),
            "the solver was made for other hair"
        );
        if !(dt > 0.0 && dt.is_finite()) {
            return Outcome::default();
        }
        let substeps = (dt / hair.spec.max_substep).ceil().clamp(1.0, MAX_SUBSTEPS);
        let h = dt / substeps;
        let substeps = substeps as usize;
        for strand in &hair.strands {
            if !state.is_usable(strand) {
                state.reset_guide(hair, strand);
            }
        }
        // Near the roots, where f32 is finest.
        let origin = path::usable(drive.root(0))[0].translation;
        self.obstacles
            .plan(drive, origin, hair.spec.friction, substeps);
        self.loads.fill(Vec3::zeros());
        for (vertex, force) in drive.loads {
            if let Some(load) = self.loads.get_mut(*vertex as usize) {
                *load += finite_or_zero(*force);
            }
        }
        if let Some(volume) = &hair.spec.volume {
            self.volume.relax(volume, hair, dt, state);
        }

        let spec = &hair.spec;
        let step = Step {
            level: self.level,
            hair,
            drive,
            origin,
            substeps,
            obstacles: &self.obstacles,
            loads: &self.loads,
            inputs: Inputs {
                h,
                drag: spec.material.drag,
                damping: spec.material.damping,
                gravity: finite_or_zero(drive.gravity).into(),
                wind: finite_or_zero(drive.wind).into(),
                is_held: spec.hold > 0.0,
            },
        };
        let before: &HairState = state;
        chunks::for_each_large_mut(&mut self.groups, |index, lane8| {
            step.run(&hair.groups[index], before, lane8);
        });

        let mut outcome = Outcome {
            iterations: substeps as u32,
            ..Outcome::default()
        };
        for (lane8, group) in self.groups.iter().zip(&hair.groups) {
            lane8.store(hair, group, state);
            outcome.slowed += lane8.slowed;
            outcome.pinched += lane8.pinched;
        }
        outcome
    }
}

/// What every group shares in a step.
struct Step<'a> {
    level: Level,
    hair: &'a Hair,
    drive: &'a HairDrive<'a>,
    /// What positions are relative to.
    origin: Vec3,
    substeps: usize,
    obstacles: &'a Obstacles,
    loads: &'a [Vec3],
    inputs: Inputs,
}

/// Eight strands on their way through a step.
#[derive(Clone, Debug)]
pub(super) struct Lane8 {
    pub(super) now: Vec<Node>,
    pub(super) next: Vec<Node>,
    pub(super) actions: Vec<Action>,
    pub(super) loads: Vec<[Lanes; 3]>,
    pub(super) contacts: Vec<Contact>,
    /// For each vertex and strand, which colliders it touches.
    pub(super) touched: Vec<[u32; LANES]>,
    answers: Vec<Answer>,
    /// World from the root of each strand.
    roots: [Quat; LANES],
    slowed: u32,
    pinched: u32,
}

impl Step<'_> {
    fn run(&self, group: &Group, state: &HairState, lane8: &mut Lane8) {
        let paths = group
            .strands
            .map(|strand| Path::new(self.drive.root(strand as usize), self.origin));
        lane8.roots = paths.map(|path| path.start.rotation);
        lane8.load(self.hair, group, state, self.loads);
        for index in 0..self.substeps {
            let part = |path: Path| path.part(index, self.substeps);
            let parts = if self.drive.world_from_roots.is_empty() {
                [part(paths[0]); LANES]
            } else {
                paths.map(part)
            };
            lane8.roots = parts.map(|part| part.after.rotation);
            let roots = self.root_places(group, &parts);
            let motion = path::root_motion(&parts, &roots, self.inputs.h);
            self.advance(group, &motion, lane8);
            if !self.obstacles.is_empty() {
                let scene = Scene {
                    obstacles: self.obstacles,
                    substep: index,
                    roots: &roots,
                    thickness: self.hair.spec.thickness,
                    h: self.inputs.h,
                };
                for _ in 0..contact::ROUNDS {
                    if !contact::settle(&scene, group, lane8) {
                        break;
                    }
                    self.advance(group, &motion, lane8);
                }
                lane8.pinched = contact::finish(&scene, group, lane8);
            }
            lane8.slowed = lane8.limit_speed(group.used);
            std::mem::swap(&mut lane8.now, &mut lane8.next);
        }
    }

    fn advance(&self, group: &Group, root: &RootMotion, lane8: &mut Lane8) {
        let strands = Strands {
            group,
            root,
            actions: &lane8.actions,
            now: &lane8.now,
        };
        let (inputs, answers, next) = (&self.inputs, &mut lane8.answers, &mut lane8.next);
        dispatch!(self.level, simd => rod::advance(simd, inputs, strands, answers, next));
    }

    /// Where the roots of a group are before and after a substep.
    fn root_places(&self, group: &Group, parts: &[PathPart; LANES]) -> [[Vec3; 2]; LANES] {
        std::array::from_fn(|lane| {
            let strand = &self.hair.strands[group.strands[lane] as usize];
            let root = self.hair.points[strand.first_vertex];
            let PathPart { before, after, .. } = &parts[lane];
            [before, after].map(|at| at.translation + at.rotation * root)
        })
    }
}

impl Lane8 {
    fn new(group: &Group) -> Self {
        let count = group.segments.len();
        Self {
            now: vec![Node::default(); count],
            next: vec![Node::default(); count],
            actions: vec![Action::default(); count],
            loads: vec![[[0.0; LANES]; 3]; count],
            contacts: Vec::with_capacity(count * LANES),
            touched: vec![[0; LANES]; count],
            answers: vec![Answer::default(); count],
            roots: [Quat::identity(); LANES],
            slowed: 0,
            pinched: 0,
        }
    }

    fn load(&mut self, hair: &Hair, group: &Group, state: &HairState, loads: &[Vec3]) {
        for (lane, strand) in group.strands.iter().enumerate() {
            let root = self.roots[lane];
            let strand = hair.strands[*strand as usize];
            let mut offset = Vec3::zeros();
            for (index, node) in self.now.iter_mut().enumerate() {
                let segment = strand.first_segment + index;
                let vertex = strand.first_vertex + index + 1;
                let orientation = root * state.orientations[segment];
                offset += orientation * Vec3::z() * group.segments[index].length[lane];
                put(&mut node.orientation, lane, orientation);
                put3(&mut node.offset, lane, offset);
                put3(&mut node.velocity, lane, root * state.velocities[vertex]);
                node.tension[lane] = state.tensions[segment];
                put3(&mut self.loads[index], lane, loads[vertex]);
                put3(&mut self.actions[index].force, lane, loads[vertex]);
            }
        }
    }

    /// Brings the result into the state; strands that came out not finite go back to the groom.
    fn store(&self, hair: &Hair, group: &Group, state: &mut HairState) {
        for (lane, strand) in group.strands.iter().enumerate().take(group.used) {
            let root_from_world = self.roots[lane].inverse();
            let strand = hair.strands[*strand as usize];
            let origin = hair.points[strand.first_vertex];
            state.positions[strand.first_vertex] = origin;
            for (index, node) in self.now.iter().enumerate() {
                let segment = strand.first_segment + index;
                let vertex = strand.first_vertex + index + 1;
                let xyzw = node.orientation.map(|lanes| lanes[lane]);
                let orientation = Quat::new_unchecked(Quaternion::from(xyzw));
                state.orientations[segment] = root_from_world * orientation;
                state.positions[vertex] = origin + root_from_world * get3(&node.offset, lane);
                state.velocities[vertex] = root_from_world * get3(&node.velocity, lane);
                state.tensions[segment] = node.tension[lane];
            }
            let finite = |node: &Node| {
                let [o, v] = [&node.offset, &node.velocity].map(|v| get3(v, lane));
                (o + v).iter().all(|c| c.is_finite()) && node.tension[lane].is_finite()
            };
            if !self.now.iter().all(finite) {
                state.reset_guide(hair, &strand);
            }
        }
    }

    /// Cuts speeds; how many it had to.
    fn limit_speed(&mut self, used: usize) -> u32 {
        let mut slowed = 0;
        for node in &mut self.next {
            let [vx, vy, vz] = &mut node.velocity;
            for (lane, ((x, y), z)) in vx.iter_mut().zip(vy).zip(vz).enumerate() {
                let squared = *x * *x + *y * *y + *z * *z;
                if squared > MAX_SPEED * MAX_SPEED {
                    let scale = MAX_SPEED / squared.sqrt();
                    *x *= scale;
                    *y *= scale;
                    *z *= scale;
                    slowed += u32::from(lane < used);
                }
            }
        }
        slowed
    }
}

/// Writes a vector to one lane.
pub(super) fn put3(lanes: &mut [Lanes; 3], lane: usize, v: Vec3) {
    for (lanes, value) in lanes.iter_mut().zip(v.iter()) {
        lanes[lane] = *value;
    }
}

/// The vector in one lane.
pub(super) fn get3(lanes: &[Lanes; 3], lane: usize) -> Vec3 {
    Vec3::new(lanes[0][lane], lanes[1][lane], lanes[2][lane])
}

fn finite_or_zero(v: Vec3) -> Vec3 {
    if v.iter().all(|c| c.abs() < 1e9) {
        v
    } else {
        Vec3::zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hair::{HairSpec, HairVolume};
    use anim_geom::Shape;
    use anim_math::{Affine, quat};

    /// Hair of several lengths on a ball, half a second into a turn of the head.
    fn flung(level: Level, threads: usize) -> HairState {
        let guides = (0..60)
            .map(|i| {
                let angle = i as f32 * 0.7;
                let out = Vec3::new(libm::cosf(angle), (i % 7) as f32 * 0.1, libm::sinf(angle));
                let root = out.normalize() * 0.1;
                let segments = 5 + i / 20 * 4;
                (0..=segments)
                    .map(|k| root * (1.0 + 0.2 * k as f32))
                    .collect()
            })
            .collect();
        let hair = Hair::new(HairSpec {
            guides,
            volume: Some(HairVolume::default()),
            ..HairSpec::default()
        })
        .unwrap();
        let head = Collider::new(Shape::Sphere { radius: 0.1 }, Affine::IDENTITY);
        let mut state = HairState::new(&hair);
        let mut solver = HairSolver::new(&hair);
        solver.level = level;
        let at = |frame: i32| {
            Transform::from_rotation(quat::from_axis_angle(Vec3::y(), frame as f32 * 0.05))
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            for frame in 0..30 {
                let drive = HairDrive {
                    previous_world_from_root: at(frame),
                    world_from_root: at(frame + 1),
                    colliders: std::slice::from_ref(&head),
                    ..HairDrive::default()
                };
                solver.step(&hair, &drive, 1.0 / 60.0, &mut state);
            }
        });
        state
    }

    #[test]
    fn every_instruction_set_and_number_of_threads_gives_the_same_bits() {
        let plain = flung(Level::baseline(), 1);
        assert!(plain.is_finite());
        for threads in [1, 2, 3] {
            assert_eq!(flung(Level::new(), threads), plain);
        }
    }
}
