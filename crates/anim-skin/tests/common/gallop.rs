//! A galloping quadruped: a mesh of tubes, twenty bones, true linear skinning with at most four influences.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "shared by a test and a bench; a helper may fail as its test may"
)]

use std::f32::consts::{PI, TAU};

use anim_geom::{Mesh, primitives};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skin::weights::SkinWeights;

/// Parent, head and tail of a bone, and its swing: amplitude and phase.
type BoneSpec = (usize, [f32; 3], [f32; 3], f32, f32);

pub(crate) const BONES: usize = 20;

/// Mesh, true weights and `frame_count` frames; about `24 · 11 · density²` vertices.
pub(crate) fn gallop(density: u32, frame_count: usize) -> (Mesh, SkinWeights, Vec<Vec<Vec3>>) {
    let bones = bones();
    let mut mesh = Mesh::default();
    let body = [bones[0].1, bones[5].2];
    add_tube(&mut mesh, body, 0.22, 8 * density, 16 * density);
    add_tube(
        &mut mesh,
        [bones[6].1, bones[7].2],
        0.05,
        4 * density,
        8 * density,
    );
    for leg in 0..4 {
        let first = 8 + 3 * leg;
        let ends = [bones[first].1, bones[first + 2].2];
        add_tube(&mut mesh, ends, 0.08, 4 * density, 12 * density);
    }
    let rows: Vec<Vec<(u16, f64)>> = mesh.rest.positions.iter().map(|v| row(v, &bones)).collect();
    let weights = SkinWeights::from_rows(BONES, rows).unwrap();
    let frames = (0..frame_count)
        .map(|frame| {
            let pose = pose(&bones, frame as f32 / frame_count as f32);
            skinned(&mesh.rest.positions, &weights, &pose)
        })
        .collect();
    (mesh, weights, frames)
}

/// The linear blend of `pose`, in f64.
pub(crate) fn skinned(rest: &[Vec3], weights: &SkinWeights, pose: &[Affine]) -> Vec<Vec3> {
    let blend = |(vertex, v): (usize, &Vec3)| {
        let v = v.cast::<f64>();
        let moved = weights.row(vertex).map(|(joint, weight)| {
            let map = pose[usize::from(joint)];
            (map.linear.cast::<f64>() * v + map.translation.cast::<f64>()) * weight
        });
        moved
            .sum::<anim_math::nalgebra::Vector3<f64>>()
            .cast::<f32>()
    };
    rest.iter().enumerate().map(blend).collect()
}

fn bones() -> Vec<BoneSpec> {
    let mut bones: Vec<BoneSpec> = vec![
        (0, [-0.8, 1.0, 0.0], [-0.4, 1.0, 0.0], 0.15, 0.0),
        (0, [-0.4, 1.0, 0.0], [0.0, 1.05, 0.0], 0.25, 0.6),
        (1, [0.0, 1.05, 0.0], [0.4, 1.05, 0.0], 0.25, 1.2),
        (2, [0.4, 1.05, 0.0], [0.7, 1.05, 0.0], 0.2, 1.8),
        (3, [0.7, 1.05, 0.0], [1.0, 1.2, 0.0], 0.3, 2.4),
        (4, [1.0, 1.2, 0.0], [1.3, 1.3, 0.0], 0.3, 3.0),
        (0, [-0.8, 1.05, 0.0], [-1.1, 1.1, 0.0], 0.4, 1.0),
        (6, [-1.1, 1.1, 0.0], [-1.4, 1.1, 0.0], 0.5, 0.2),
    ];
    for (parent, x, z, phase) in [
        (0, -0.7, 0.2, 0.0),
        (0, -0.7, -0.2, 0.5),
        (3, 0.6, 0.2, PI),
        (3, 0.6, -0.2, PI + 0.5),
    ] {
        let first = bones.len();
        bones.push((parent, [x, 0.95, z], [x, 0.6, z], 0.7, phase));
        bones.push((first, [x, 0.6, z], [x, 0.25, z], 0.6, phase + 1.5));
        bones.push((first + 1, [x, 0.25, z], [x, 0.0, z], 0.5, phase + 2.5));
    }
    bones
}

/// `model_from_bind` of each bone at `time` of a cycle.
fn pose(bones: &[BoneSpec], time: f32) -> Vec<Affine> {
    let mut pose: Vec<Affine> = Vec::new();
    for (index, (parent, head, _, amplitude, phase)) in bones.iter().enumerate() {
        let angle = amplitude * (TAU * time + phase).sin();
        let sway = 0.15 * (TAU * time + 2.0 * phase).cos();
        let turn: Quat =
            quat::from_axis_angle(Vec3::z(), angle) * quat::from_axis_angle(Vec3::y(), sway);
        let about = Affine::from(Transform::from_rotation(turn));
        let head = Vec3::from(*head);
        let local = Affine {
            translation: head - about.linear * head,
            ..about
        };
        pose.push(if index == 0 {
            let travel = Vec3::new(3.0 * time, 0.2 * (2.0 * TAU * time).sin(), 0.0);
            Affine::from(Transform::from_translation(travel)) * local
        } else {
            pose[*parent] * local
        });
    }
    pose
}

/// Weights that fall with the fourth power of the distance, of the four nearest bones.
fn row(v: &Vec3, bones: &[BoneSpec]) -> Vec<(u16, f64)> {
    let mut row: Vec<(u16, f64)> = (0_u16..)
        .zip(bones)
        .map(|(bone, (_, head, tail, ..))| {
            let (head, along) = (Vec3::from(*head), Vec3::from(*tail) - Vec3::from(*head));
            let t = ((v - head).dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
            let distance = f64::from((v - head - along * t).norm());
            (bone, (distance * distance + 1e-3).powi(-3))
        })
        .collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(4);
    row
}

fn add_tube(mesh: &mut Mesh, [from, to]: [[f32; 3]; 2], radius: f32, sides: u32, rings: u32) {
    let (from, to) = (Vec3::from(from), Vec3::from(to));
    let along = to - from;
    let tube = primitives::tube(radius, 0.5 * along.norm(), sides, rings);
    let turn =
        Quat::rotation_between(&Vec3::y(), &along).unwrap_or(quat::from_axis_angle(Vec3::x(), PI));
    let first = mesh.rest.positions.len() as u32;
    let center = (from + to) * 0.5;
    let places = tube.rest.positions.iter().map(|v| turn * v + center);
    mesh.rest.positions.extend(places);
    mesh.rest
        .normals
        .extend(tube.rest.normals.iter().map(|n| turn * n));
    let corners = tube.triangles.iter().map(|t| t.map(|v| v + first));
    mesh.triangles.extend(corners);
}
