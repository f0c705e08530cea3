//! What geodesic voxel binding makes of bodies, gaps, loose parts and soups.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

mod common;

use anim_geom::{Mesh, Vertices, primitives};
use anim_math::Vec3;
use anim_skin::SkinWeights;
use anim_skin::weights::{Bone, Bones, VoxelDistances, VoxelOptions, voxel};
use common::cloud;
use proptest::prelude::*;

fn moved(mut mesh: Mesh, by: Vec3) -> Mesh {
    for position in &mut mesh.rest.positions {
        *position += by;
    }
    mesh
}

fn mirrored(mesh: &Mesh) -> Mesh {
    let mut mesh = mesh.clone();
    for vector in mesh.rest.positions.iter_mut().chain(&mut mesh.rest.normals) {
        vector.x = -vector.x;
    }
    for triangle in &mut mesh.triangles {
        triangle.swap(1, 2);
    }
    mesh
}

fn joined(parts: &[Mesh]) -> Mesh {
    let mut out = Mesh::default();
    for part in parts {
        let first = out.vertex_count() as u32;
        out.rest.positions.extend(&part.rest.positions);
        out.rest.normals.extend(&part.rest.normals);
        out.triangles
            .extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    out
}

fn bones(segments: &[(Vec3, Vec3)]) -> Bones {
    let bones = (0..).zip(segments).map(|(joint, (head, tail))| Bone {
        head: *head,
        tail: *tail,
        joint,
    });
    Bones::new(bones.collect(), segments.len()).unwrap()
}

fn options(resolution: u32) -> VoxelOptions {
    VoxelOptions {
        resolution,
        ..VoxelOptions::default()
    }
}

/// Two legs under hips, `gap` apart, each with a bone.
fn legs(gap: f32) -> (Mesh, Bones) {
    let x = 0.2 + 0.5 * gap;
    let leg = moved(primitives::cuboid(Vec3::new(0.2, 1.0, 0.2)), Vec3::x() * x);
    let hips = moved(
        primitives::cuboid(Vec3::new(0.4 + 0.5 * gap, 0.2, 0.2)),
        Vec3::y() * 1.15,
    );
    let mesh = joined(&[leg.clone(), mirrored(&leg), hips]);
    let bone = |x: f32| (Vec3::new(x, 0.9, 0.0), Vec3::new(x, -0.9, 0.0));
    (mesh, bones(&[bone(x), bone(-x)]))
}

#[test]
fn nothing_leaks_from_leg_to_leg_one_voxel_apart() {
    // 2.35 m in 41 cells of 0.059 m: the gap holds one cell and a half.
    let (mesh, bones) = legs(0.13);
    for smoothing in [0.0, 1.5] {
        let options = VoxelOptions {
            smoothing,
            ..options(41)
        };
        let (weights, report) = voxel(&mesh, &bones, &options).unwrap();
        assert!(report.islands.is_empty());
        for (vertex, position) in mesh.rest.positions.iter().enumerate() {
            if position.y < -0.9 {
                let own = u16::from(position.x < 0.0);
                assert!(
                    weights.weight(vertex, own) > 0.97,
                    "{position:?} {smoothing}"
                );
            }
        }
    }
}

#[test]
fn mirrored_bodies_get_mirrored_weights_to_the_bit() {
    let half = moved(primitives::sphere(0.5, 13, 9), Vec3::new(0.37, 0.1, 0.05));
    let mesh = joined(&[half.clone(), mirrored(&half)]);
    let bones = bones(&[
        (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.6, 0.2, 0.1)),
        (Vec3::new(-0.1, 0.0, 0.0), Vec3::new(-0.6, 0.2, 0.1)),
        (Vec3::y() * -0.2, Vec3::y() * 0.3),
        (Vec3::y() * 2.0, Vec3::y() * 3.0),
    ]);
    let options = VoxelOptions {
        smoothing: 0.7,
        influences: 8,
        ..options(31)
    };
    let (weights, _) = voxel(&mesh, &bones, &options).unwrap();
    let count = half.vertex_count();
    for vertex in 0..count {
        for (joint, other) in [(0, 1), (1, 0), (2, 2), (3, 3)] {
            let difference = weights.weight(vertex, joint) - weights.weight(vertex + count, other);
            // Distances are the same bits; a row's sum runs in the order of its joints.
            assert!(difference.abs() < 4.0 * f64::EPSILON);
        }
    }
}

#[test]
fn in_a_convex_body_distances_are_straight() {
    let ball = primitives::sphere(1.0, 32, 16);
    let points = [Vec3::new(0.3, 0.2, 0.0), Vec3::new(-0.4, -0.1, 0.3)];
    let bones = bones(&points.map(|p| (p, p)));
    let options = VoxelOptions {
        falloff: 0.0,
        ..options(65)
    };
    let (weights, _) = voxel(&ball, &bones, &options).unwrap();
    let mut worst = 0.0_f64;
    for (vertex, position) in ball.rest.positions.iter().enumerate() {
        let [d0, d1] = points.map(|p| f64::from((position - p).norm()));
        let expected = d1 * d1 / (d0 * d0 + d1 * d1);
        worst = worst.max((weights.weight(vertex, 0) - expected).abs());
    }
    // Upwind differences are of the first order, and a point source is their worst: d is some 6 % long, its square 12 %.
    assert!(worst < 0.06, "{worst}");
}

#[test]
fn parts_without_a_bone_follow_their_nearest_and_are_reported() {
    let tube = primitives::tube(0.3, 1.0, 16, 8);
    let cube = moved(
        primitives::cuboid(Vec3::repeat(0.2)),
        Vec3::new(1.5, 0.8, 0.0),
    );
    let mesh = joined(&[tube.clone(), cube]);
    let bones = bones(&[(-Vec3::y(), Vec3::zeros()), (Vec3::zeros(), Vec3::y())]);
    let (weights, report) = voxel(&mesh, &bones, &options(65)).unwrap();
    assert_eq!(report.components, 2);
    assert!(weights.max_sum_error() < 1e-12);
    assert_eq!(report.islands.len(), 1);
    for island in &report.islands {
        assert_eq!(island.joint, 1);
        assert!(island.first_vertex as usize >= tube.vertex_count());
    }
    assert!(report.unreachable.is_empty());
}

#[test]
fn units_and_the_falloff_change_nothing_that_is_kept() {
    let body = moved(
        primitives::capsule(0.31, 0.93, 20, 7),
        Vec3::new(0.3, 0.7, 0.1),
    );
    let segments = [
        (Vec3::new(0.3, 0.0, 0.1), Vec3::new(0.3, 0.7, 0.1)),
        (Vec3::new(0.3, 0.7, 0.1), Vec3::new(0.3, 1.5, 0.1)),
    ];
    let distances = VoxelDistances::new(&body, &bones(&segments), &options(33)).unwrap();
    let (weights, _) = distances.weights(0.6, 4).unwrap();
    let again = VoxelOptions {
        falloff: 0.6,
        ..options(33)
    };
    assert_eq!(voxel(&body, &bones(&segments), &again).unwrap().0, weights);
    for scale in [1.0 / 1024.0, 1024.0] {
        let mut scaled = body.clone();
        for position in &mut scaled.rest.positions {
            *position *= scale;
        }
        let bones = bones(&segments.map(|(a, b)| (a * scale, b * scale)));
        let (found, _) = voxel(&scaled, &bones, &again).unwrap();
        assert!(found.mean_difference(&weights) < 1e-6);
    }
}

#[test]
fn threads_and_the_order_of_vertices_change_no_bit() {
    let (mesh, bones) = legs(0.3);
    let bind = |mesh: &Mesh, threads: usize| -> SkinWeights {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| voxel(mesh, &bones, &options(41)))
            .unwrap()
            .0
    };
    let weights = bind(&mesh, 1);
    assert_eq!(weights, bind(&mesh, 3));
    let last = mesh.vertex_count() - 1;
    let mut reversed = mesh.clone();
    reversed.rest.positions.reverse();
    reversed.rest.normals.reverse();
    for triangle in &mut reversed.triangles {
        *triangle = triangle.map(|v| last as u32 - v);
    }
    let found = bind(&reversed, 2);
    for vertex in 0..=last {
        assert!(found.row(last - vertex).eq(weights.row(vertex)));
    }
}

#[test]
fn points_single_vertices_and_flat_sheets_are_bound() {
    let bones = bones(&[(Vec3::zeros(), Vec3::x()), (Vec3::x(), Vec3::x() * 2.0)]);
    for mesh in [
        Mesh::default(),
        cloud(vec![Vec3::x() * 3.0], vec![Vec3::y()]),
    ] {
        let (weights, report) = voxel(&mesh, &bones, &options(9)).unwrap();
        assert_eq!(report.unreferenced, mesh.vertex_count());
        assert!((0..mesh.vertex_count()).all(|v| weights.weight(v, 1) == 1.0));
    }
    let sheet = primitives::grid(8, 8, 0.25);
    let (weights, report) = voxel(&sheet, &bones, &options(17)).unwrap();
    assert_eq!((weights.vertex_count(), report.components), (81, 1));
    let dot = Mesh {
        triangles: vec![[0, 0, 0]],
        ..cloud(vec![Vec3::x() * 3.0], vec![Vec3::y()])
    };
    assert_eq!(
        voxel(&dot, &bones, &options(9))
            .unwrap()
            .0
            .dominant_joint(0),
        1
    );
}

#[test]
fn absurd_grids_are_errors() {
    let (mesh, bones) = legs(0.3);
    assert!(voxel(&mesh, &bones, &options(u32::MAX)).is_err());
    assert!(voxel(&mesh, &bones, &options(0)).is_ok());
}

fn any_point() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        8 => prop::array::uniform3(-2.0_f32..2.0),
        1 => prop::array::uniform3(-1e14_f32..1e14),
        1 => Just([0.5; 3]),
    ]
    .prop_map(Vec3::from)
}

proptest! {
    #[test]
    fn soups_always_get_rows_on_the_simplex(
        positions in prop::collection::vec(any_point(), 1..24),
        triangles in prop::collection::vec(prop::array::uniform3(0_u32..24), 0..16),
        ends in prop::collection::vec((any_point(), any_point()), 1..4),
        smoothing in 0.0_f32..1.5,
    ) {
        let count = positions.len() as u32;
        let triangles = triangles.into_iter().map(|t| t.map(|v| v % count)).collect();
        let normals = vec![Vec3::y(); positions.len()];
        let mesh = Mesh { rest: Vertices { positions, normals }, triangles, ..Mesh::default() };
        let options = VoxelOptions { smoothing, ..options(11) };
        let (weights, report) = voxel(&mesh, &bones(&ends), &options).unwrap();
        prop_assert_eq!(weights.vertex_count(), mesh.vertex_count());
        prop_assert!(weights.max_sum_error() < 1e-12);
        prop_assert!(report.dropped_mass_max < 1.0);
    }
}
