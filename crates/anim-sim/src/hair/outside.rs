//! Keeps strands that are drawn out of bodies: what guides part around, the mean of them may run through.
//!
//! A strand is walked from its root on, as in [folding](super::fold): each segment whose end is inside of a body is turned out
//! of it by the smallest angle that is enough, and what lies beyond is carried along. Lengths hold, and a strand that
//! is outside stays as it is. Nothing is remembered from frame to frame, so that the result depends on the places alone.

use anim_geom::Collider;
use anim_geom::shape::Placed;
use anim_math::{Vec3, quat};

use super::contact::clearance;
use super::fold::{SLACK, TURNS, raise, side};
use crate::collide::MESH_DEPTH;

/// Bodies that are looked up fast; those beyond cost more.
const FAST: usize = 32;

/// What strands are kept out of, ready for many points.
pub(super) struct Bodies<'a> {
    placed: [Option<Placed<'a>>; FAST],
    others: &'a [Collider],
    is_empty: bool,
    /// How far strands stay out, m.
    clearance: f32,
}

impl<'a> Bodies<'a> {
    /// * `colliders`: in the space of the strands. * `clearance`: how far strands stay out, m.
    pub(super) fn new(colliders: &'a [Collider], clearance: f32) -> Self {
        let (first, others) = colliders.split_at(colliders.len().min(FAST));
        let mut placed = [None; FAST];
        for (place, collider) in placed.iter_mut().zip(first) {
            *place = collider.placed();
        }
        Self {
            placed,
            others,
            is_empty: colliders.is_empty(),
            clearance,
        }
    }

    fn iter(&self) -> impl Iterator<Item = Placed<'a>> {
        let others = self.others.iter().filter_map(Collider::placed);
        self.placed.iter().flatten().copied().chain(others)
    }

    /// The end of the farthest look, m: what is that far away is far.
    fn look(&self) -> f32 {
        self.clearance.max(MESH_DEPTH)
    }
}

/// One strand on its way out of bodies, from the root on.
pub(super) struct Walk<'a> {
    bodies: &'a Bodies<'a>,
    root: Vec3,
    strand: u32,
    along: f32,
    /// How far the strand may go on before it can meet each of the first bodies.
    free: [f32; FAST],
}

impl<'a> Walk<'a> {
    pub(super) fn new(bodies: &'a Bodies<'a>, root: Vec3, strand: u32) -> Self {
        Self {
            bodies,
            root,
            strand,
            along: 0.0,
            free: [0.0; FAST],
        }
    }

    /// Where the segment from `joint` that wants to go this `way` ends.
    pub(super) fn step(&mut self, joint: Vec3, way: Vec3) -> Vec3 {
        let mut point = joint + way;
        if self.bodies.is_empty {
            return point;
        }
        let length = way.norm();
        self.along += length;
        let mut near = 0_u32;
        for (body, free) in self.free.iter_mut().enumerate() {
            // Distance changes no faster than the way along a strand.
            *free -= length;
            near |= u32::from(*free <= 0.0) << body;
        }
        let Some(mut direction) = way.try_normalize(0.0) else {
            return point;
        };
        for _ in 0..TURNS {
            let Some((depth, normal)) = self.deepest(point, near) else {
                return point;
            };
            let turned = quat::between(Vec3::z(), direction);
            direction = raise(direction, normal, depth / length, || {
                side(&turned, self.strand)
            });
            point = joint + direction * length;
        }
        self.free.fill(0.0);
        point
    }

    /// How far out a point should be of the body that it is deepest in, m, and which way; `None` if it is out of all.
    ///
    /// * `near`: a bit for each body that is to be looked at.
    fn deepest(&mut self, point: Vec3, near: u32) -> Option<(f32, Vec3)> {
        let (bodies, look) = (self.bodies, self.bodies.look());
        let mut deepest: Option<(f32, Vec3)> = None;
        for (index, body) in bodies.iter().enumerate() {
            if index < FAST && near & (1 << index) == 0 {
                continue;
            }
            let contact = body.contact_within(point, look);
            let distance = contact.map_or(look, |contact| contact.distance);
            if let Some(free) = self.free.get_mut(index) {
                *free = distance - bodies.clearance;
            }
            let Some(contact) = contact.filter(|_| distance + SLACK < bodies.clearance) else {
                continue;
            };
            let reach = self.along + bodies.clearance;
            let root = body.contact_within(self.root, reach.max(MESH_DEPTH));
            let root_distance = root.map_or(reach, |root| root.distance);
            let depth = clearance(bodies.clearance, root_distance, self.along) - distance;
            if depth > SLACK && deepest.is_none_or(|(most, _)| depth > most) {
                deepest = Some((depth, contact.normal));
            }
        }
        deepest
    }
}
