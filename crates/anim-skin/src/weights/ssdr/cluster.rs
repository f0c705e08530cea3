//! The start of a decomposition: vertices that move alike, by splitting the cluster that fits worst.
//!
//! A cluster is a rigid motion and the vertices that it takes nearest to their own; edges play no part, so that seams and
//! separate shells neither stop a cluster nor start one. Splits go where one motion fails, until there are enough or none
//! helps: a mesh that moves as one stays one.
//!
//! Source: Linde, Buzo, Gray, "An algorithm for vector quantizer design", 1980, with the rigid fits of Le and Deng 2012,
//! section 4.1.

use anim_geom::chunks;
use anim_math::nalgebra::Vector4;

use super::super::bone_fit::{BoneMoments, identity};
use super::super::examples::{PoseMoments, Row};
use super::super::motion::{Map, Motion};

/// Rounds of assigning and fitting after each split.
const PASSES: usize = 4;
/// A cluster of fewer vertices says nothing about a rotation.
const LEAST_VERTICES: usize = 3;
/// Mean squared error over frames, in squared diagonals, below which a vertex needs no cluster of its own.
pub(super) const EXACT: f64 = 1e-14;

/// Rows of one entry, and the maps of at most `bone_count` (≥ 1) clusters, joint by joint.
pub(super) fn cluster(motion: &Motion, bone_count: usize) -> (Vec<Row>, Vec<Map>) {
    let mut rows: Vec<Row> = vec![vec![(0, 1.0)]; motion.vertex_count()];
    let mut errors = vec![0.0; rows.len()];
    let mut maps = vec![identity(); motion.frame_count()];
    fit(motion, &rows, &mut maps);
    assign(motion, &maps, &mut rows, &mut errors);
    loop {
        let before = maps.len();
        let room = bone_count - before / motion.frame_count();
        split(motion, &rows, &errors, room, &mut maps);
        if maps.len() == before {
            break;
        }
        for _ in 0..PASSES {
            assign(motion, &maps, &mut rows, &mut errors);
            fit(motion, &rows, &mut maps);
        }
        assign(motion, &maps, &mut rows, &mut errors);
        drop_small(motion, &mut rows, &mut maps);
        if maps.len() <= before {
            break;
        }
    }
    (rows, maps)
}

/// The rigid motion of each cluster.
fn fit(motion: &Motion, rows: &[Row], maps: &mut [Map]) {
    let joint_count = maps.len() / motion.frame_count();
    BoneMoments::new(motion, rows, joint_count).sweep(maps, 1);
}

/// Moves each vertex to the cluster that takes it nearest to its goals, the lowest of several.
fn assign(motion: &Motion, maps: &[Map], rows: &mut [Row], errors: &mut [f64]) {
    let moments = PoseMoments::new(motion, maps);
    chunks::for_each_pair_mut(rows, errors, |first, rows, errors| {
        let mut each = vec![0.0; moments.joint_count()];
        for ((vertex, row), error) in (first..).zip(rows).zip(errors) {
            moments.rigid_errors(motion, vertex, &mut each);
            let mut best = (0, f64::INFINITY);
            for (joint, found) in (0..=u16::MAX).zip(&each) {
                // Motions that agree to rounding are one.
                if *found < best.1 - 1e-16 {
                    best = (joint, *found);
                }
            }
            *row = vec![(best.0, 1.0)];
            *error = best.1;
        }
    });
}

/// Adds a motion to each cluster whose error is near the largest, worst first, up to `room`.
fn split(motion: &Motion, rows: &[Row], errors: &[f64], room: usize, maps: &mut Vec<Map>) {
    let joint_count = maps.len() / motion.frame_count();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); joint_count];
    for (vertex, row) in rows.iter().enumerate() {
        members[usize::from(row[0].0)].push(vertex);
    }
    let total = |members: &[usize]| members.iter().map(|v| errors[*v]).sum::<f64>();
    let mut order: Vec<(f64, &Vec<usize>)> = members.iter().map(|m| (total(m), m)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = order[0].0 * 0.25;
    for (error, members) in order.iter().take(room) {
        if *error < least || members.len() < 2 * LEAST_VERTICES {
            continue;
        }
        let count = members.len() as f64;
        let center = members
            .iter()
            .map(|v| motion.rest[*v])
            .sum::<Vector4<f64>>()
            / count;
        let score = |v: usize| errors[v] * (motion.rest[v] - center).norm_squared();
        let seed = members.iter().copied().max_by(|a, b| {
            let by_score = score(*a).total_cmp(&score(*b));
            by_score.then(b.cmp(a))
        });
        if let Some(seed) = seed.filter(|seed| errors[*seed] > EXACT) {
            let nearest = (members.len() / 8).max(2 * LEAST_VERTICES);
            maps.extend(motion_near(motion, members, seed, nearest));
        }
    }
}

/// The rigid motion of the `count` of `members` that rest nearest to `seed`, frame by frame.
pub(super) fn motion_near(
    motion: &Motion,
    members: &[usize],
    seed: usize,
    count: usize,
) -> Vec<Map> {
    let away = |v: usize| (motion.rest[v] - motion.rest[seed]).norm_squared();
    let mut near: Vec<(f64, usize)> = members.iter().map(|v| (away(*v), *v)).collect();
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut rows = vec![Vec::new(); motion.vertex_count()];
    for (_, vertex) in near.iter().take(count) {
        rows[*vertex].push((0, 1.0));
    }
    let mut maps = vec![identity(); motion.frame_count()];
    fit(motion, &rows, &mut maps);
    maps
}

/// Removes clusters of few vertices, which move to the best of the others; at least one stays.
fn drop_small(motion: &Motion, rows: &mut [Row], maps: &mut Vec<Map>) {
    let frames = motion.frame_count();
    let mut counts = vec![0; maps.len() / frames];
    for row in rows.iter() {
        counts[usize::from(row[0].0)] += 1;
    }
    let largest = counts.iter().copied().max().unwrap_or(0);
    let least = LEAST_VERTICES.min(largest);
    if counts.iter().all(|count| *count >= least) {
        return;
    }
    let kept = maps
        .chunks_exact(frames)
        .zip(&counts)
        .filter(|(_, count)| **count >= least);
    *maps = kept.flat_map(|(of_joint, _)| of_joint.to_vec()).collect();
    let mut errors = vec![0.0; rows.len()];
    assign(motion, maps, rows, &mut errors);
}
