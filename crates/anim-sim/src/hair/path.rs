//! Where roots go in a step: the head's, or those of the guides one by one.

use anim_math::lanes::LANES;
use anim_math::{Transform, Vec3, quat};

use super::model::put;
use super::rod::RootMotion;
use super::solver::put3;

/// Of a root through a step: straight, and turning evenly the short way.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub(super) start: Transform,
    end: Transform,
}

/// Of a root through a substep.
#[derive(Clone, Copy)]
pub(super) struct PathPart {
    pub(super) before: Transform,
    pub(super) after: Transform,
    /// The rotation vector between them, rad.
    turn: Vec3,
}

impl Path {
    /// * `origin`: what its places will be relative to.
    pub(super) fn new(ends: [Transform; 2], origin: Vec3) -> Self {
        let [start, end] = usable(ends).map(|at| Transform {
            translation: at.translation - origin,
            ..at
        });
        Self { start, end }
    }

    pub(super) fn part(&self, index: usize, count: usize) -> PathPart {
        let [before, after] = [index, index + 1].map(|index| self.at(index, count));
        let turn = if before.rotation == after.rotation {
            Vec3::zeros()
        } else {
            quat::log(after.rotation * before.rotation.inverse())
        };
        PathPart {
            before,
            after,
            turn,
        }
    }

    fn at(&self, index: usize, count: usize) -> Transform {
        let (start, end) = (&self.start, &self.end);
        let alpha = index as f32 / count as f32;
        let rotation = if index == 0 || start.rotation == end.rotation {
            start.rotation
        } else {
            quat::slerp(start.rotation, end.rotation, alpha)
        };
        Transform {
            translation: start.translation + (end.translation - start.translation) * alpha,
            rotation,
            ..Transform::IDENTITY
        }
    }
}

/// What the equations of eight strands know of their roots.
pub(super) fn root_motion(
    parts: &[PathPart; LANES],
    places: &[[Vec3; 2]; LANES],
    h: f32,
) -> RootMotion {
    let mut motion = RootMotion::default();
    for (lane, (part, [from, to])) in parts.iter().zip(places).enumerate() {
        put(&mut motion.before, lane, part.before.rotation);
        put(&mut motion.after, lane, part.after.rotation);
        put3(&mut motion.turn, lane, part.turn);
        put3(&mut motion.velocity, lane, (to - from) / h);
    }
    motion
}

/// Both ends of a root's path, finite and rigid.
pub(super) fn usable([start, end]: [Transform; 2]) -> [Transform; 2] {
    let is_usable = |t: &Transform| {
        let squared = t.rotation.coords.norm_squared();
        t.translation.iter().all(|c| c.abs() < 1e9) && (0.5..2.0).contains(&squared)
    };
    match (is_usable(&start), is_usable(&end)) {
        (true, true) => [start, end],
        (true, false) => [start, start],
        (false, true) => [end, end],
        (false, false) => [Transform::IDENTITY, Transform::IDENTITY],
    }
}
