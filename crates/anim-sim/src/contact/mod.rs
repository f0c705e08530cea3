//! How a surface keeps off itself, and off thin fast colliders.
//!
//! Once a step, the broad phase lists the pairs of features (a vertex and a triangle, two edges) that may come near each
//! other if every particle keeps to the straight line that it is expected to take, give or take some slack; sorted by how
//! near. Each substep then looks only at the first of them: as many as deviation from the lines can have brought together.
//! What leaves its line by more than the slack is given another, and its pairs are listed anew. Two passes answer for the
//! pairs. [`push`] moves apart what is nearer than the thickness, with friction,
//! before colliders have their say. [`keep`] is the last word: it cuts the motion of whatever would still pass through
//! the surface, so that a state without intersections is followed by another.
//!
//! The guarantee cuts motion pair by pair rather than bounding that of each particle by half the distance to its
//! nearest neighbour, as offset geometric contact does: in cloth that flies or swings, nearly all motion is shared by
//! both sides of a pair and is no danger, and an axis that separates them at both ends of a substep proves it for the
//! price of a few products. Only pairs without such an axis pay for collision detection in time.
//!
//! Everything runs in one thread in the order of the list, so results do not depend on the number of threads.
//!
//! Colliders take part as points and edges, [`Solid`]s: round ones as their axes, of their own thickness, so that a ball
//! smaller than a triangle does not slip between the vertices; closed meshes as their sharp edges and corners, so that none
//! pierces a triangle whose vertices are all outside.

mod candidates;
mod extents;
mod facing;
mod keep;
mod lines;
mod push;
mod surface;
mod untangle;

use anim_geom::ccd::Features;
use anim_geom::{Collider, intersect};
use anim_math::lanes::Level;
use anim_math::{Affine, Vec3};

use crate::collide::{Core, MovingCollider};
use crate::model::Model;
use extents::{Candidate, Extents};
use facing::Facing;
use lines::Lines;
use surface::Surface;
use untangle::Crossing;

/// The share of the distance to keep that must remain whatever happens.
const LAST_SHARE: f32 = 0.1;

/// Rounding of positions some tens of metres from their origin.
const ROUNDING: f32 = 4e-6;

/// Self-contact of one body; owns its scratch.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    level: Level,
    surface: Surface,
    facing: Facing,
    extents: Extents,
    candidates: Vec<Candidate>,
    thickness: f32,
    friction: f32,
    guarantee: bool,
    /// Distance that the vertices keep from colliders.
    collider_thickness: f32,
    /// P by slot, then two for each solid: x, y, z, inverse mass, at the beginning of the substep.
    start: Vec<[f32; 4]>,
    /// The same at its end, so far.
    points: Vec<[f32; 4]>,
    /// Where everything is expected to go.
    lines: Lines,
    /// What the lines have in common, m/s.
    drift: Vec3,
    /// How long the lines serve, s.
    horizon: f32,
    /// Where everything was at the beginning of the step.
    step_start: Vec<[f32; 4]>,
    /// P by slot, of the step before.
    mean_velocity: Vec<[f32; 4]>,
    /// Length of the step, s.
    step: f32,
    /// From the beginning of the lines to the end of the substep, s.
    line_time: f32,
    /// From the end of the substep to that of the step, s.
    remaining: f32,
    /// How far particles had left their lines at the beginning of the substep, m.
    deviated: f32,
    /// The same of the points as they are, if they have not moved since it was found.
    measured: Option<f32>,
    /// How far particles may leave their lines before they are drawn anew, m.
    slack: f32,
    /// What particles' ways differ from their lines by in common: no danger to any pair, m.
    common: Vec3,
    /// The same at the beginning of the substep.
    common_before: Vec3,
    /// What has left its line, by slot, in order.
    strays: Vec<u32>,
    /// How many lines have been drawn anew since all were.
    strayed: usize,
    /// By slot, solids included: pairs with it are to be listed.
    is_stray: Vec<bool>,
    /// Triangles of strays, in order.
    moved: Vec<u32>,
    /// Triangles near something.
    near: Vec<u32>,
    /// By how near they come on the lines, nearest first.
    pairs: Vec<Pair>,
    solids: Vec<Solid>,
    /// Where they are at the beginning of the substep.
    colliders: Vec<Collider>,
    /// Positions, world space, as the last step left them.
    left: Vec<Vec3>,
    /// Something was pushed apart in this step.
    has_touched: bool,
    /// The state may not be free of intersections.
    is_suspect: bool,
    crossings: Vec<Crossing>,
    /// By slot: part of surfaces that have passed through each other.
    tangled: Vec<bool>,
    /// By slot: the last step cut its motion.
    cut: Vec<bool>,
    /// By slot: had no way out in the last step.
    pinched: Vec<bool>,
    keeper: keep::Scratch,
}

/// Two features that may come near each other.
#[derive(Clone, Copy, Debug)]
struct Pair {
    vertices: [u32; 4],
    features: Features,
    /// Unit length, from the second feature to the first when last looked at.
    axis: Vec3,
    /// Distance to keep, m.
    reach: f32,
    /// Least distance on the expected lines beyond the reach, m.
    clearance: f32,
    friction: f32,
    /// Distance below which motion is cut, m.
    least: f32,
}

/// What of a collider must not pierce the surface: two points, what is between them and what surrounds them.
#[derive(Clone, Copy, Debug)]
struct Solid {
    /// In the space of its collider.
    core: Core,
    collider: u32,
    /// World space, m.
    radius: f32,
    friction: f32,
}

/// What a substep is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Length of the substep, s.
    pub(crate) h: f32,
    /// From its end to the end of the step, s.
    pub(crate) remaining: f32,
}

impl Contact {
    /// `None` if the model does not ask for contact or has no surface.
    pub(crate) fn new(model: &Model) -> Option<Self> {
        let spec = &model.spec;
        let contact = spec.self_contact?;
        let surface = Surface::new(model)?;
        let count = model.vertex_count();
        Some(Self {
            level: Level::new(),
            facing: Facing::new(&surface),
            extents: Extents::default(),
            candidates: Vec::new(),
            surface,
            thickness: contact.thickness,
            friction: contact.friction,
            guarantee: contact.guarantee,
            collider_thickness: spec.thickness,
            start: Vec::new(),
            points: Vec::new(),
            lines: Lines::default(),
            drift: Vec3::zeros(),
            horizon: 0.0,
            step_start: Vec::new(),
            mean_velocity: Vec::new(),
            step: 0.0,
            line_time: 0.0,
            remaining: 0.0,
            deviated: 0.0,
            measured: None,
            slack: 0.0,
            common: Vec3::zeros(),
            common_before: Vec3::zeros(),
            strays: Vec::new(),
            strayed: 0,
            is_stray: Vec::new(),
            moved: Vec::new(),
            near: Vec::new(),
            pairs: Vec::new(),
            solids: Vec::new(),
            colliders: Vec::new(),
            left: Vec::new(),
            has_touched: false,
            is_suspect: true,
            crossings: Vec::new(),
            tangled: vec![false; count],
            cut: vec![false; count],
            pinched: vec![false; count],
            keeper: keep::Scratch::new(count),
        })
    }

    /// Mean length of the surface's edges at rest, m.
    pub(crate) fn edge_length(&self) -> f32 {
        self.surface.edge_length
    }

    /// Begins a step of length `dt`, with particles and colliders where they are at its beginning.
    ///
    /// * `state`: P positions, world space, as the caller gave them.
    pub(crate) fn begin(
        &mut self,
        state: &[Vec3],
        positions: &[[f32; 4]],
        velocities: &[[f32; 4]],
        colliders: &[MovingCollider],
        dt: f32,
    ) {
        self.cut.fill(false);
        self.pinched.fill(false);
        self.has_touched = false;
        self.start.clear();
        self.start.extend_from_slice(positions);
        self.solids.clear();
        self.colliders.clear();
        for (index, collider) in colliders.iter().enumerate() {
            self.colliders.push(collider.now().clone());
            let now = &collider.now().world_from_shape;
            let scale = now.linear.column(1).norm();
            for core in collider.cores() {
                self.solids.push(Solid {
                    core,
                    collider: index as u32,
                    radius: core.radius * scale,
                    friction: collider.friction(),
                });
                self.start.extend(core.ends.map(|end| at_rest(now, end)));
            }
        }
        if self.is_suspect || self.left != state {
            self.find_crossings();
        }
        // What constraints make of the particles' own speeds shows in how they have moved, not in how they shake.
        if self.left != state {
            self.mean_velocity.clear();
            self.mean_velocity.extend_from_slice(velocities);
        }
        self.lines.velocity.clear();
        let rows = positions.iter().zip(velocities).zip(&self.mean_velocity);
        let expected = rows.map(|((p, v), mean)| if p[3] == 0.0 { *v } else { *mean });
        self.lines.velocity.extend(expected);
        // Wherever the colliders go, the lines of their points lead there at an even speed.
        let starts = &self.start[positions.len()..];
        for (solid, starts) in self.solids.iter().zip(starts.as_chunks::<2>().0) {
            let end = colliders[solid.collider as usize].end();
            let paths = solid.core.ends.iter().zip(starts);
            let velocities = paths.map(|(to, from)| rate(from, &at_rest(end, *to), dt));
            self.lines.velocity.extend(velocities);
        }
        self.step = dt;
        self.points.clone_from(&self.start);
        self.step_start.clone_from(&self.start);
        self.slack = (self.slack * 0.9).max(self.least_slack());
        self.draw_lines(dt, 0.0);
    }

    /// From where to where the ends of each solid move in the step, and its radius, m; after [`begin`](Self::begin).
    pub(crate) fn solid_paths(&self) -> impl Iterator<Item = ([[Vec3; 2]; 2], f32)> {
        let count = self.vertex_count();
        self.solids.iter().enumerate().map(move |(index, solid)| {
            let path = [0, 1].map(|end| {
                let slot = (count + 2 * index + end) as u32;
                [0.0, self.step].map(|time| self.lines.at(slot, time))
            });
            (path, solid.radius)
        })
    }

    /// Begins a substep's contact: takes in where the particles are after all other constraints, and pushes apart.
    pub(crate) fn push_apart(
        &mut self,
        moment: Moment,
        positions: &mut [[f32; 4]],
        predicted: &mut [[f32; 4]],
        colliders: &[MovingCollider],
    ) {
        self.line_time += moment.h;
        self.remaining = moment.remaining;
        self.take(positions, predicted, colliders);
        self.slack = self.slack.min(self.most_slack());
        let count = self.near_count(moment.h, 0);
        self.has_touched |= count > 0;
        self.push_first(count, moment.h, predicted);
        self.untangle(moment.h, predicted);
        positions.copy_from_slice(&self.points[..positions.len()]);
    }

    /// Ends a substep's contact: cuts what would pass through the surface.
    pub(crate) fn keep_apart(
        &mut self,
        moment: Moment,
        positions: &mut [[f32; 4]],
        predicted: &[[f32; 4]],
        colliders: &[MovingCollider],
    ) {
        self.take(positions, predicted, colliders);
        self.measured = None;
        if self.guarantee {
            self.keep(moment.h);
            positions.copy_from_slice(&self.points[..positions.len()]);
        }
        self.deviated = match self.measured {
            Some(deviation) => deviation,
            None => self.deviation(),
        };
        self.common_before = self.common;
        // The points of the next substep are taken in whole.
        std::mem::swap(&mut self.start, &mut self.points);
        for (before, collider) in self.colliders.iter_mut().zip(colliders) {
            before.world_from_shape = collider.now().world_from_shape;
        }
    }

    /// Ends a step; answers how many particles were cut and how many had no way out.
    pub(crate) fn end(&mut self, state: &[Vec3]) -> [u32; 2] {
        self.mean_velocity.clear();
        let rows = self
            .step_start
            .iter()
            .zip(&self.start)
            .take(self.tangled.len());
        self.mean_velocity
            .extend(rows.map(|(from, to)| rate(from, to, self.step)));
        self.left.clear();
        self.left.extend_from_slice(state);
        self.is_suspect |= self.pinched.contains(&true)
            || !self.crossings.is_empty()
            || (self.has_touched && !self.guarantee);
        let count = |flags: &[bool]| flags.iter().filter(|f| **f).count() as u32;
        let stuck = self
            .pinched
            .iter()
            .zip(&self.tangled)
            .filter(|(p, t)| **p || **t);
        [count(&self.cut), stuck.count() as u32]
    }

    /// Small against both the thickness and the triangles, so that neighbours need no looking at.
    fn least_slack(&self) -> f32 {
        0.25 * self.thickness.min(0.4 * self.surface.edge_length)
    }

    /// Beyond this, neighbours would have to be looked at for nothing: a triangle is about 0.6 of its edges high.
    fn most_slack(&self) -> f32 {
        let room = 0.5 * (0.58 * self.surface.edge_length - self.thickness);
        room.clamp(self.least_slack(), 2.0 * self.least_slack())
    }

    fn vertex_count(&self) -> usize {
        self.tangled.len()
    }

    /// Where particles and colliders are now. A particle that is not finite has not moved; a pinned one is where it must be.
    fn take(
        &mut self,
        positions: &[[f32; 4]],
        predicted: &[[f32; 4]],
        colliders: &[MovingCollider],
    ) {
        let count = self.vertex_count();
        let (points, solids) = self.points.split_at_mut(count);
        let rows = positions.iter().zip(predicted).zip(&self.start);
        for (point, ((position, predicted), start)) in points.iter_mut().zip(rows) {
            *point = if position[3] == 0.0 {
                *predicted
            } else {
                *position
            };
            let [x, y, z, _] = *point;
            if !((x + y + z) * 0.0 == 0.0) {
                *point = *start;
            }
        }
        for (solid, points) in self.solids.iter().zip(solids.as_chunks_mut::<2>().0) {
            let now = &colliders[solid.collider as usize].now().world_from_shape;
            *points = solid.core.ends.map(|end| at_rest(now, end));
        }
    }

    /// How many of the pairs can be near each other now; draws lines anew where they no longer say.
    ///
    /// * `round`: of cutting; 0 before.
    fn near_count(&mut self, h: f32, round: u32) -> usize {
        let has_strayed = round == 0 && self.strayed > self.points.len();
        if has_strayed {
            self.slack = (1.5 * self.slack).min(self.most_slack());
        }
        if has_strayed || self.line_time > self.horizon {
            self.aim_on(h);
        }
        let mut deviation = self.deviation();
        self.measured = Some(deviation).filter(|d| *d <= self.slack);
        if deviation > self.slack {
            deviation = self.follow_strays(h);
        }
        if deviation > self.slack {
            self.slack = (1.5 * self.slack).min(self.most_slack());
        }
        if deviation > self.slack && round == 0 {
            self.aim_on(h);
            deviation = self.deviation();
        }
        if deviation > self.slack {
            self.aim_here(h, round > 1);
            deviation = self.deviation();
        }
        // On the way from the beginning of the substep to its end both count.
        let limit = 2.0 * deviation.max(self.deviated);
        self.pairs.partition_point(|pair| pair.clearance <= limit)
    }

    /// Finds out which triangles of the state meet, and takes their surroundings out of contact.
    fn find_crossings(&mut self) {
        self.is_suspect = false;
        self.crossings.clear();
        self.tangled.fill(false);
        self.lines.start.clone_from(&self.start);
        self.lines.velocity.clear();
        self.lines.velocity.resize(self.start.len(), [0.0; 4]);
        self.surface.place(&self.lines, [0.0; 2]);
        self.surface.refit(0.0);
        let limit = self.surface.pair_limit();
        let mut met = self.surface.pairs(limit).unwrap_or_default();
        let still = [0.0; 2];
        self.facing
            .look(&self.surface, &self.lines, still, ROUNDING);
        let positions = self.surface.placed();
        met.retain(|pair| {
            if self.facing.are_in_one_patch(&self.surface, *pair) {
                return false;
            }
            let triangles = pair.map(|t| self.surface.triangles[t as usize]);
            let is_held = triangles
                .iter()
                .flatten()
                .all(|v| self.start[*v as usize][3] == 0.0);
            !is_held && intersect::mesh_triangles(positions, triangles)
        });
        if !met.is_empty() {
            self.surface.mark_around(&met, &mut self.tangled);
            untangle::collect(&self.surface, positions, &met, &mut self.crossings);
        }
        self.surface.recycle(met);
    }
}

/// The velocity that takes `time` seconds from one point to another.
fn rate(from: &[f32; 4], to: &[f32; 4], time: f32) -> [f32; 4] {
    std::array::from_fn(|i| if i < 3 { (to[i] - from[i]) / time } else { 0.0 })
}

/// A point of a collider, which nothing moves but the collider.
fn at_rest(world_from_shape: &Affine, point: Vec3) -> [f32; 4] {
    let point = world_from_shape.transform_point(point);
    [point.x, point.y, point.z, 0.0]
}

#[inline]
fn vector([x, y, z, _]: [f32; 4]) -> Vec3 {
    Vec3::new(x, y, z)
}

/// The four points of a pair.
#[inline]
fn corners(points: &[[f32; 4]], vertices: [u32; 4]) -> [Vec3; 4] {
    // Spelled out, because `map` over arrays of this size is not inlined.
    let [a, b, c, d] = vertices;
    let at = |v: u32| vector(points[v as usize]);
    [at(a), at(b), at(c), at(d)]
}

#[inline]
fn combine(points: &[Vec3; 4], weights: &[f32; 4]) -> Vec3 {
    points[0] * weights[0]
        + points[1] * weights[1]
        + points[2] * weights[2]
        + points[3] * weights[3]
}
