//! Keeps particles out of moving colliders, with friction.
//!
//! Each particle is stopped where its path through the substep, as seen from the moving collider, first meets the
//! surface: signed distance bounds how far it may go before it looks again, so nothing is too fast to be caught. Then
//! it is pushed to its thickness from the surface, and slides by Coulomb's law relative to the surface. A push out of a
//! penetration that was there before gives no speed, so a body that starts inside does not explode out.

use anim_geom::shape::Placed;
use anim_geom::{Collider, Contact, Ridge, Shape};
use anim_math::{Affine, Transform, Vec3, quat};

/// Paths are followed at least this closely where the model has no thickness, metres.
const MIN_MARGIN: f32 = 1e-4;
/// Looks along one path; grazing paths that need more are stopped there.
const MAX_LOOKS: u32 = 32;

/// Particles deeper than this inside a mesh are not pushed out, metres; searching deeper would cost all others.
pub(crate) const MESH_DEPTH: f32 = 0.1;

/// Where a contact leaves a particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    pub(crate) position: Vec3,
    /// How far to move where it came from, so that its displacement is its speed after the contact times h.
    pub(crate) shift: Vec3,
}

/// A collider on its way through one step.
#[derive(Clone, Debug)]
pub(crate) struct MovingCollider {
    start: Transform,
    end: Transform,
    end_affine: Affine,
    rests: bool,
    friction: f32,
    /// Where it is at the end of the substep.
    now: Collider,
    /// Takes a point that is fixed to it from the beginning of the substep to its end.
    carry: Affine,
}

impl MovingCollider {
    /// * `previous`: where it was at the beginning of the step; `None`: it rests.
    /// * `origin`: the point that particles are relative to. * `body_friction`: of the particles.
    pub(crate) fn new(
        previous: Option<&Collider>,
        current: &Collider,
        origin: Vec3,
        body_friction: f32,
    ) -> Self {
        let near = |collider: &Collider| Affine {
            translation: collider.world_from_shape.translation - origin,
            ..collider.world_from_shape
        };
        let end_affine = near(current);
        let start_affine = previous.map_or(end_affine, near);
        let mut now = current.clone();
        now.world_from_shape = start_affine;
        Self {
            start: start_affine.to_transform(),
            end: end_affine.to_transform(),
            end_affine,
            rests: start_affine == end_affine,
            friction: (body_friction * current.friction).max(0.0).sqrt(),
            now,
            carry: Affine::IDENTITY,
        }
    }

    /// Moves it on to the fraction `alpha` of the step.
    pub(crate) fn advance(&mut self, alpha: f32) {
        if self.rests {
            return;
        }
        let before = self.now.world_from_shape;
        self.now.world_from_shape = if alpha >= 1.0 {
            self.end_affine
        } else {
            let (start, end) = (&self.start, &self.end);
            Affine::from(Transform {
                translation: start.translation + (end.translation - start.translation) * alpha,
                rotation: quat::slerp(start.rotation, end.rotation, alpha),
                scale: start.scale + (end.scale - start.scale) * alpha,
            })
        };
        self.carry = before
            .inverse()
            .map_or(Affine::IDENTITY, |shape_from_before| {
                self.now.world_from_shape * shape_from_before
            });
    }

    pub(crate) fn friction(&self) -> f32 {
        self.friction
    }

    /// Where it is now.
    pub(crate) fn now(&self) -> &Collider {
        &self.now
    }

    /// Where it is at the end of the step.
    pub(crate) fn end(&self) -> &Affine {
        &self.end_affine
    }

    /// What surfaces must not be pierced by: the axis of a ball or a capsule, the sharp edges and corners of a mesh.
    pub(crate) fn cores(&self) -> impl Iterator<Item = Core> {
        let (round, ridges) = match &self.now.shape {
            Shape::Sphere { radius } => (Some((0.0, *radius)), [].as_slice()),
            Shape::Capsule {
                radius,
                half_length,
            } => (Some((half_length.max(0.0), *radius)), [].as_slice()),
            Shape::Mesh(mesh) => (None, mesh.ridges()),
            _ => (None, [].as_slice()),
        };
        let round = round.filter(|(reach, radius)| reach.is_finite() && *radius > 0.0);
        let is_there = self.now.placed().is_some();
        round
            .map(Core::round)
            .into_iter()
            .chain(ridges.iter().map(Core::ridge))
            .filter(move |_| is_there)
    }

    /// The collider made ready for many particles in this substep, or `None` if its frame is degenerate.
    pub(crate) fn obstacle(&self) -> Option<Obstacle<'_>> {
        Some(Obstacle {
            collider: self,
            placed: self.now.placed()?,
        })
    }
}

/// A segment that belongs to a collider, or a point: both ends are the same; in its space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core {
    pub(crate) ends: [Vec3; 2],
    /// How thick it is around them.
    pub(crate) radius: f32,
    /// Which ends no other core answers for.
    pub(crate) owns: [bool; 2],
}

impl Core {
    fn round((reach, radius): (f32, f32)) -> Self {
        Self {
            ends: [-reach, reach].map(|y| Vec3::y() * y),
            radius,
            owns: [true, reach > 0.0],
        }
    }

    fn ridge(ridge: &Ridge) -> Self {
        Self {
            ends: ridge.ends,
            radius: 0.0,
            owns: ridge.owns,
        }
    }
}

/// A collider at the end of a substep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Obstacle<'a> {
    collider: &'a MovingCollider,
    placed: Placed<'a>,
}

impl Obstacle<'_> {
    /// False if nothing whose path lies in a ball can come within `margin` of the surface in this substep.
    pub(crate) fn may_touch(&self, center: Vec3, radius: f32, margin: f32) -> bool {
        let MovingCollider { rests, carry, .. } = self.collider;
        let mut reach = radius;
        if !rests {
            // Seen from the collider, paths begin in the ball that it carries along.
            let shift = (carry.transform_point(center) - center).norm();
            reach = reach.max(radius * carry.linear.column(0).norm() + shift);
        }
        if !(reach.is_finite() && center.iter().all(|c| c.is_finite())) {
            // The ball is not known: look.
            return true;
        }
        let limit = reach * 1.001 + margin;
        self.placed.contact_within(center, limit).is_some()
    }

    /// Signed distance of a point from the surface at the end of the substep, m; `max_distance` if it is not less.
    pub(crate) fn distance(&self, point: Vec3, max_distance: f32) -> f32 {
        let contact = self.contact(point, max_distance);
        contact.map_or(max_distance, |contact| contact.distance)
    }

    /// The nearest place of the surface at the end of the substep, or `None` if it is farther than `max_distance`, m.
    pub(crate) fn contact(&self, point: Vec3, max_distance: f32) -> Option<Contact> {
        self.placed.contact_within(point, max_distance)
    }

    /// Where a point that is fixed to the collider goes in the substep.
    pub(crate) fn carried(&self, point: Vec3) -> Vec3 {
        if self.collider.rests {
            point
        } else {
            self.collider.carry.transform_point(point)
        }
    }

    /// The surface near a point, if it is closer than `reach`, metres; where a particle that was at `previous` would be if
    /// it had been carried along; and the coefficient of friction.
    pub(crate) fn surface(
        &self,
        previous: Vec3,
        position: Vec3,
        reach: f32,
    ) -> Option<(Contact, Vec3, f32)> {
        let contact = self.placed.contact_within(position, reach)?;
        Some((contact, self.carried(previous), self.collider.friction))
    }

    /// Where a particle that wants to be at `position` ends up, or `None` if nothing stops it.
    ///
    /// * `previous`: where it was at the beginning of the substep. * `thickness`: its distance from the surface, metres.
    #[inline]
    pub(crate) fn resolve(
        &self,
        previous: Vec3,
        position: Vec3,
        thickness: f32,
    ) -> Option<Resolved> {
        let carried = self.carried(previous);
        let path = position - carried;
        let length = path.norm();
        let reach = length + thickness.max(MESH_DEPTH);
        let contact = self.placed.contact_within(position, reach)?;
        let margin = thickness.max(MIN_MARGIN);
        if length > margin
            && contact.distance < length
            && let Some((fraction, touch)) = self.first_touch(carried, path, length, margin)
        {
            let (position, kept) = self.impact(carried, path, fraction, touch, thickness);
            return Some(Resolved {
                position,
                shift: position - kept - carried,
            });
        }
        let depth = thickness - contact.distance;
        if depth <= 0.0 {
            return None;
        }
        let normal = contact.normal;
        let moved = path + normal * depth;
        let outward = moved.dot(&normal);
        let slide = moved - normal * outward;
        Some(Resolved {
            position: carried + normal * outward + self.rub(slide, depth),
            shift: normal * outward.clamp(0.0, depth),
        })
    }

    /// Where a path that touches at `fraction` ends, and how far it would go in a substep after that.
    fn impact(
        &self,
        start: Vec3,
        path: Vec3,
        fraction: f32,
        touch: Contact,
        thickness: f32,
    ) -> (Vec3, Vec3) {
        let inward = -path.dot(&touch.normal);
        let kept = self.rub(path + touch.normal * inward, inward);
        let end = start + path * fraction + kept * (1.0 - fraction);
        let push = match self.placed.contact_within(end, thickness.max(MESH_DEPTH)) {
            Some(contact) => contact.normal * (thickness - contact.distance).max(0.0),
            None => Vec3::zeros(),
        };
        (end + push, kept)
    }

    /// What friction leaves of a slide under a push of `depth`: none if it grips.
    fn rub(&self, slide: Vec3, depth: f32) -> Vec3 {
        let (distance, grip) = (slide.norm(), self.collider.friction * depth);
        if distance <= grip {
            Vec3::zeros()
        } else {
            slide * (1.0 - grip / distance)
        }
    }

    /// The fraction of the path at which it comes as near as half the margin while going in, and the contact there.
    fn first_touch(
        &self,
        start: Vec3,
        path: Vec3,
        length: f32,
        margin: f32,
    ) -> Option<(f32, Contact)> {
        let mut travelled = 0.0;
        let mut last = None;
        for _ in 0..MAX_LOOKS {
            let fraction = travelled / length;
            let limit = length - travelled + MESH_DEPTH;
            let contact = self.placed.contact_within(start + path * fraction, limit)?;
            last = Some((fraction, contact));
            if contact.distance < margin * 0.5 && contact.normal.dot(&path) < 0.0 {
                break;
            }
            travelled += contact.distance.max(margin * 0.5);
            if travelled >= length {
                return None;
            }
        }
        last
    }
}
