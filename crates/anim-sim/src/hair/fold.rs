//! Folds strands that a collider pushes along themselves: the last word of contact, which always holds.
//!
//! A strand that stands on its end has no side to give way to: to first order no turn of its segments shortens it, so that
//! the equations, of which [`contact`](super::contact) is a part, do not see how to yield. Here each segment in turn, from
//! the root to the tip, is turned out of what its end is inside of, by the smallest angle that is enough, and what lies
//! beyond is carried along. Lengths hold by construction, and a vertex that is outside leaves room for the next one to be.
//! Where a segment points straight into the surface it falls to a side of its own, which the number of its strand decides,
//! so that a tuft that is pressed down opens; from the next substep on the equations take it from there. Turns give no
//! speed: they only take away what leads into the collider.
//!
//! Source: the walk is that of Müller, Kim, Chentanez, "Fast simulation of inextensible hair and fur", VRIPHYS 2012, with
//! colliders in place of where the follower was.

use anim_math::lanes::LANES;
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3, quat};

use super::contact::Scene;
use super::model::{Group, put};
use super::solver::{Lane8, get3, put3};
use crate::collide::{MESH_DEPTH, Obstacle};

/// What the equations leave is not folded, m.
pub(super) const SLACK: f32 = 4e-6;
/// Turns of one segment, each out of the collider that it is deepest in.
pub(super) const TURNS: usize = 12;
/// A segment that leans less than this knows no side, rad.
const PLUMB: f32 = 1e-3;
/// Turn between the sides of strands that follow each other, rad: the golden angle, so that no two fall alike.
const BETWEEN_SIDES: f32 = 2.399_963_2;
/// A vertex that is farther inside than this all the same is pinched, m.
const PINCHED: f32 = 0.01;

/// Folds the strands of the lanes that are inside a collider; how many of their vertices have no way out.
pub(super) fn fold(
    scene: &Scene<'_>,
    group: &Group,
    touches: [bool; LANES],
    lane8: &mut Lane8,
) -> u32 {
    let mut pinched = 0;
    for (lane, is_deep) in deep(scene, group, touches, lane8).iter().enumerate() {
        if *is_deep {
            pinched += fold_strand(scene, group, lane, lane8);
        }
    }
    pinched
}

fn fold_strand(scene: &Scene<'_>, group: &Group, lane: usize, lane8: &mut Lane8) -> u32 {
    let [start, root] = scene.roots[lane];
    let mut pinched = 0;
    let (mut joint, mut along) = (root, 0.0);
    let nodes = lane8.now.iter().zip(&mut lane8.next);
    for (segment, (now, next)) in group.segments.iter().zip(nodes) {
        let length = segment.length[lane];
        along += length;
        let [x, y, z, w] = next.orientation.map(|lanes| lanes[lane]);
        let orientation = Quat::new_unchecked(Quaternion::new(w, x, y, z));
        let direction = orientation * Vec3::z();
        let mut turned = direction;
        let mut left = None;
        let mut velocity = get3(&next.velocity, lane);
        let from = start + get3(&now.offset, lane);
        for _ in 0..TURNS {
            left = deepest(scene, root, joint + turned * length, along);
            let Some(Inside {
                obstacle,
                depth,
                normal,
            }) = &left
            else {
                break;
            };
            let side = || side(&orientation, group.strands[lane]);
            turned = raise(turned, *normal, depth / length, side);
            // It goes with what pushes it, or faster.
            let carried = (obstacle.carried(from) - from) / scene.h;
            velocity += normal * (carried - velocity).dot(normal).max(0.0);
        }
        pinched += u32::from(left.is_some_and(|left| left.depth > PINCHED));
        if turned != direction {
            let turn = quat::between(direction, turned);
            put(&mut next.orientation, lane, turn * orientation);
            put3(&mut next.velocity, lane, velocity);
        }
        joint += turned * length;
        put3(&mut next.offset, lane, joint - root);
    }
    pinched
}

/// The collider that a vertex is inside of.
struct Inside<'a> {
    obstacle: Obstacle<'a>,
    /// How far out it should be, m.
    depth: f32,
    normal: Vec3,
}

/// The collider that a vertex is deepest in; `None` if it is out of all.
///
/// * `root`: of its strand. * `along`: how far from there along the strand.
fn deepest<'a>(scene: &Scene<'a>, root: Vec3, point: Vec3, along: f32) -> Option<Inside<'a>> {
    let inside = scene.obstacles().filter_map(|(obstacle, _)| {
        let contact = obstacle.contact(point, scene.thickness.max(MESH_DEPTH))?;
        // Less is asked of a vertex near a root that is inside itself, which takes another look.
        if contact.distance + SLACK >= scene.thickness {
            return None;
        }
        let clearance = scene.clearance(obstacle.distance(root, along + scene.thickness), along);
        let depth = clearance - contact.distance;
        (depth > SLACK).then_some(Inside {
            obstacle,
            depth,
            normal: contact.normal,
        })
    });
    inside.reduce(|a, b| if b.depth > a.depth { b } else { a })
}

/// Which of the strands that touch something are inside of it.
fn deep(scene: &Scene<'_>, group: &Group, touches: [bool; LANES], lane8: &Lane8) -> [bool; LANES] {
    let mut deep = [false; LANES];
    for (obstacle, _) in scene.obstacles() {
        for lane in (0..LANES).filter(|lane| touches[*lane]) {
            let root = scene.roots[lane][1];
            let root_distance = obstacle.distance(root, group.reach[lane] + scene.thickness);
            // Distance changes no faster than the way along a strand.
            let (mut free, mut along) = (root_distance - scene.thickness, 0.0);
            for (segment, node) in group.segments.iter().zip(&lane8.next) {
                let length = segment.length[lane];
                along += length;
                free -= length;
                if free > 0.0 {
                    continue;
                }
                let far = group.reach[lane] - along + scene.thickness;
                let distance =
                    obstacle.distance(root + get3(&node.offset, lane), far.max(MESH_DEPTH));
                free = distance - scene.thickness;
                deep[lane] |= distance + SLACK < scene.clearance(root_distance, along);
            }
        }
    }
    deep
}

/// The direction nearest to `direction`, all of unit length, that is further along the normal by `by`.
pub(super) fn raise(direction: Vec3, normal: Vec3, by: f32, side: impl Fn() -> Vec3) -> Vec3 {
    let along = direction.dot(&normal);
    let raised = (along + by).min(1.0);
    let flat = |v: Vec3| v - normal * v.dot(&normal);
    let across = flat(direction)
        .try_normalize(PLUMB)
        .or_else(|| flat(side()).try_normalize(PLUMB))
        .unwrap_or_default();
    let turned = normal * raised + across * (1.0 - raised * raised).max(0.0).sqrt();
    turned.try_normalize(0.0).unwrap_or(normal)
}

/// Across a segment, the side that a strand falls to.
pub(super) fn side(orientation: &Quat, strand: u32) -> Vec3 {
    let angle = (strand % 1024) as f32 * BETWEEN_SIDES;
    orientation * Vec3::new(libm::cosf(angle), libm::sinf(angle), 0.0)
}
