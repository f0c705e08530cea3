//! Bounces: the earliest touch on each path, then the rest of the step in the new direction.

use anim_geom::chunks::{self, CHUNK};
use anim_geom::shape::Placed;
use anim_geom::{Collider, Contact};
use anim_math::Vec3;
use rayon::prelude::*;

use crate::effect::Effect;
use crate::particles::Particles;

/// Bounces in one step; a particle with more is in a corner and stops.
const MAX_BOUNCES: u32 = 4;
/// Looks along one path; a grazing path that needs more is stopped there.
const MAX_LOOKS: u32 = 32;
/// How near is touching, metres.
const TOUCH: f32 = 1e-4;
/// Colliders that are made ready at once, on the stack of each task; more are taken in groups, one after the other.
const GROUP: usize = 32;

/// One collider as one particle sees it.
type Obstacle<'a> = (Placed<'a>, f32);

/// A particle on its way through a step.
struct Path {
    start: Vec3,
    end: Vec3,
    /// Velocity at the end.
    velocity: Vec3,
    /// From start to end, s.
    time: f32,
}

/// Where a path touches.
struct Touch {
    fraction: f32,
    normal: Vec3,
    friction: f32,
}

/// What a path meets first.
enum Ahead {
    /// Nothing.
    Clear,
    /// It goes into nothing, but ends in something.
    Inside,
    Touch(Touch),
}

/// As [`Effect::collide`].
pub(crate) fn collide(effect: &Effect, dt: f32, colliders: &[Collider], particles: &mut Particles) {
    let Particles {
        positions,
        velocities,
        previous,
        ages,
        ..
    } = particles;
    for group in colliders.chunks(GROUP) {
        if positions.len() <= CHUNK || !chunks::in_pool() {
            collide_chunk(effect, dt, group, positions, velocities, previous, ages);
            continue;
        }
        positions
            .par_chunks_mut(CHUNK)
            .zip(velocities.par_chunks_mut(CHUNK))
            .zip(previous.par_chunks(CHUNK))
            .zip(ages.par_chunks(CHUNK))
            .for_each(|(((positions, velocities), previous), ages)| {
                collide_chunk(effect, dt, group, positions, velocities, previous, ages);
            });
    }
}

fn collide_chunk(
    effect: &Effect,
    dt: f32,
    colliders: &[Collider],
    positions: &mut [Vec3],
    velocities: &mut [Vec3],
    previous: &[Vec3],
    ages: &[f32],
) {
    let mut obstacles: [Option<Obstacle<'_>>; GROUP] = [None; GROUP];
    for (obstacle, collider) in obstacles.iter_mut().zip(colliders) {
        let friction = (effect.spec().friction * collider.friction).max(0.0).sqrt();
        *obstacle = collider.placed().map(|placed| (placed, friction));
    }
    let obstacles = &obstacles[..colliders.len()];
    let particles = positions.iter_mut().zip(velocities).zip(previous).zip(ages);
    for (((position, velocity), previous), age) in particles {
        let mut path = Path {
            start: *previous,
            end: *position,
            velocity: *velocity,
            time: age.min(dt),
        };
        if follow(effect, dt, obstacles, &mut path) {
            (*position, *velocity) = (path.end, path.velocity);
        }
    }
}

/// Bends the path where it meets obstacles; false if it meets none.
fn follow(effect: &Effect, dt: f32, obstacles: &[Option<Obstacle<'_>>], path: &mut Path) -> bool {
    let spec = effect.spec();
    for bounce in 0..=MAX_BOUNCES {
        let touch = match earliest(obstacles, spec.radius, path) {
            Ahead::Clear => return bounce > 0,
            Ahead::Inside => return push_out(obstacles, spec.radius, path) || bounce > 0,
            Ahead::Touch(touch) => touch,
        };
        let left = path.time * (1.0 - touch.fraction);
        let place = path.start + (path.end - path.start) * touch.fraction;
        let incoming = effect.flight(-left).velocity(path.velocity);
        let into = -incoming.dot(&touch.normal);
        let pull = -spec.gravity.dot(&touch.normal).min(0.0);
        // A bounce that would be back within two steps is none.
        if bounce == MAX_BOUNCES || spec.restitution * into <= pull * dt {
            stop(&touch, path);
            push_out(obstacles, spec.radius, path);
            return true;
        }
        let change = into * (1.0 + spec.restitution);
        let along = rub(incoming + touch.normal * into, touch.friction * change);
        let outgoing = along + touch.normal * (into * spec.restitution);
        let flight = effect.flight(left);
        *path = Path {
            start: place,
            end: flight.position(place, outgoing),
            velocity: flight.velocity(outgoing),
            time: left,
        };
    }
    true
}

/// Takes away what the rest of a path and its velocity have into a surface.
fn stop(touch: &Touch, path: &mut Path) {
    let rest = (path.end - path.start) * (1.0 - touch.fraction);
    path.end -= touch.normal * rest.dot(&touch.normal).min(0.0);
    let into = -path.velocity.dot(&touch.normal);
    if into > 0.0 {
        path.velocity = rub(path.velocity + touch.normal * into, touch.friction * into);
    }
}

/// Pushes the end of a path out of what it is in, and takes away the speed into that.
fn push_out(obstacles: &[Option<Obstacle<'_>>], radius: f32, path: &mut Path) -> bool {
    let mut is_bent = false;
    let length = (path.end - path.start).norm();
    for (placed, friction) in obstacles.iter().flatten() {
        let Some(contact) = placed.contact_within(path.end, length + radius) else {
            continue;
        };
        let depth = radius - contact.distance;
        if depth <= 0.0 {
            continue;
        }
        path.end += contact.normal * depth;
        let into = -path.velocity.dot(&contact.normal);
        if into > 0.0 {
            path.velocity = rub(path.velocity + contact.normal * into, friction * into);
        }
        is_bent = true;
    }
    is_bent
}

/// The first touch of a path with any obstacle that it goes into.
fn earliest(obstacles: &[Option<Obstacle<'_>>], radius: f32, path: &Path) -> Ahead {
    let mut best = Ahead::Clear;
    let mut nearest = f32::INFINITY;
    let length = (path.end - path.start).norm();
    for (placed, friction) in obstacles.iter().flatten() {
        // Signed distance changes by no more than the way: from farther away the path cannot have touched.
        let Some(contact) = placed.contact_within(path.end, length + radius) else {
            continue;
        };
        if let Some((fraction, contact)) = first_touch(placed, radius, path, length) {
            if fraction < nearest {
                nearest = fraction;
                best = Ahead::Touch(Touch {
                    fraction,
                    normal: contact.normal,
                    friction: *friction,
                });
            }
        } else if contact.distance < radius && matches!(best, Ahead::Clear) {
            best = Ahead::Inside;
        }
    }
    best
}

/// The fraction of a path at which it comes within the radius while going in.
fn first_touch(
    placed: &Placed<'_>,
    radius: f32,
    path: &Path,
    length: f32,
) -> Option<(f32, Contact)> {
    let way = path.end - path.start;
    let mut travelled = 0.0;
    for _ in 0..MAX_LOOKS {
        let point = path.start + way * (travelled / length);
        let contact = placed.contact_within(point, length - travelled + radius)?;
        let gap = contact.distance - radius;
        if gap < TOUCH && contact.normal.dot(&way) < 0.0 {
            return Some((travelled / length, contact));
        }
        // One that slides along or leaves moves on by its own size.
        travelled += if gap < TOUCH { radius.max(TOUCH) } else { gap };
        if travelled >= length || travelled.is_nan() {
            return None;
        }
    }
    let point = path.start + way * (travelled / length);
    Some((
        travelled / length,
        placed.contact_within(point, length + radius)?,
    ))
}

/// What friction leaves of a velocity along a surface: none if it grips.
fn rub(along: Vec3, grip: f32) -> Vec3 {
    let speed = along.norm();
    if speed <= grip {
        Vec3::zeros()
    } else {
        along * (1.0 - grip / speed)
    }
}
