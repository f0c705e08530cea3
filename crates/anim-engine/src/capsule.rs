//! The body as capsules that move with its joints: what cloth lies on and hair falls over.

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId};

use crate::world::Passing;

/// A capsule that moves with a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyCapsule {
    /// Which joint.
    pub joint: JointId,
    /// One end of the axis, in the joint's space, m.
    pub from: Vec3,
    /// The other end.
    pub to: Vec3,
    /// Metres.
    pub radius: f32,
}

/// A posed skeleton in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posed<'a> {
    pub(crate) globals: &'a Globals,
    pub(crate) world_from_model: Affine,
}

impl Posed<'_> {
    pub(crate) fn world_from_joint(&self, joint: JointId) -> Affine {
        self.world_from_model * self.globals.get(joint)
    }
}

/// Capsules on their way through a frame, and the rest of the world with them.
#[derive(Debug)]
pub(crate) struct MovingCapsules {
    before: Vec<Place>,
    after: Vec<Place>,
    /// At the end of a step.
    pub(crate) to: Vec<Collider>,
    /// At its beginning.
    pub(crate) from: Vec<Collider>,
}

/// Where a capsule is.
#[derive(Clone, Copy, Debug)]
struct Place {
    ends: [Vec3; 2],
    /// Its own y is its axis; it turns with its joint, so that friction carries along what lies on it.
    rotation: Quat,
}

impl MovingCapsules {
    pub(crate) fn new(body: &[BodyCapsule]) -> Self {
        let place = Place {
            ends: [Vec3::zeros(); 2],
            rotation: Quat::identity(),
        };
        Self {
            before: vec![place; body.len()],
            after: vec![place; body.len()],
            to: Vec::new(),
            from: Vec::new(),
        }
    }

    /// Finds where the capsules are now.
    pub(crate) fn follow(&mut self, body: &[BodyCapsule], posed: &Posed<'_>) {
        for (place, capsule) in self.after.iter_mut().zip(body) {
            let world_from_joint = posed.world_from_joint(capsule.joint);
            let turned = quat::between(Vec3::y(), capsule.to - capsule.from);
            *place = Place {
                ends: [capsule.from, capsule.to].map(|end| world_from_joint.transform_point(end)),
                rotation: world_from_joint.to_transform().rotation * turned,
            };
        }
    }

    /// The capsules alone as they are now.
    pub(crate) fn places(&self, body: &[BodyCapsule]) -> Vec<Collider> {
        let places = body.iter().zip(&self.after);
        let colliders = places.map(|(c, place)| collider(place.ends, place.rotation, c.radius));
        colliders.collect()
    }

    /// Goes on from where the capsules are.
    pub(crate) fn settle(&mut self) {
        self.before.copy_from_slice(&self.after);
    }

    /// Moves on to a fraction `alpha` of the way through this frame.
    pub(crate) fn advance(&mut self, body: &[BodyCapsule], passing: &Passing<'_>, alpha: f32) {
        std::mem::swap(&mut self.from, &mut self.to);
        self.to.clear();
        let ways = self.before.iter().zip(&self.after);
        for (capsule, (from, to)) in body.iter().zip(ways) {
            let end = |i: usize| from.ends[i] + (to.ends[i] - from.ends[i]) * alpha;
            let rotation = quat::slerp(from.rotation, to.rotation, alpha);
            self.to
                .push(collider([end(0), end(1)], rotation, capsule.radius));
        }
        passing.append_colliders(alpha, &mut self.to);
    }
}

/// A capsule between two points, turned as little as that takes, world space.
fn collider([from, to]: [Vec3; 2], rotation: Quat, radius: f32) -> Collider {
    let axis = to - from;
    let rotation = quat::between(rotation * Vec3::y(), axis) * rotation;
    let world_from_shape = Affine {
        linear: rotation.to_rotation_matrix().into_inner(),
        translation: (from + to) * 0.5,
    };
    let shape = Shape::Capsule {
        radius,
        half_length: axis.norm() * 0.5,
    };
    Collider::new(shape, world_from_shape)
}
