//! Levels of detail keep what the skin bends.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

mod common;

use anim_geom::simplify::deviation;
use anim_geom::{Mesh, MeshBvh, primitives};
use anim_math::{Affine, Mat3, Transform, Vec3, quat};
use anim_skin::{
    Influences, MorphTarget, SkinError, SkinLevel, SkinLodOptions, SkinWeights, simplify_skinned,
};
use common::{Numbers, random_mesh};
use proptest::prelude::*;

/// An arm of two metres along y, 0.2 m thick, whose elbow at the origin blends over half a metre.
fn arm() -> (Mesh, Influences) {
    let mesh = primitives::tube(0.1, 1.0, 24, 60);
    let weight = |p: &Vec3| (0.5 + 2.0 * p.y).clamp(0.0, 1.0);
    let positions = mesh.rest.positions.iter();
    let influences = Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(mesh.vertex_count()),
        weights: positions
            .flat_map(|p| [1.0 - weight(p), weight(p)])
            .collect(),
    };
    (mesh, influences)
}

fn bent(degrees: f32) -> Vec<Affine> {
    let turn = quat::from_axis_angle(Vec3::z(), degrees.to_radians());
    vec![Affine::IDENTITY, Transform::from_rotation(turn).into()]
}

fn posed(mesh: &Mesh, influences: &Influences, palette: &[Affine]) -> Mesh {
    let (weights, _) = SkinWeights::from_influences(influences, palette.len()).unwrap();
    let place = |(vertex, position): (usize, &Vec3)| -> Vec3 {
        let row = weights.row(vertex);
        row.map(|(joint, w)| palette[usize::from(joint)].transform_point(*position) * w as f32)
            .sum()
    };
    let mut mesh = mesh.clone();
    mesh.rest.positions = mesh.rest.positions.iter().enumerate().map(place).collect();
    mesh
}

/// The largest distance of the source's vertices to a level in one pose.
fn error_in(source: (&Mesh, &Influences), level: &SkinLevel, palette: &[Affine]) -> f32 {
    let surface = MeshBvh::new(&posed(&level.mesh, &level.influences, palette)).unwrap();
    deviation(&posed(source.0, source.1, palette).rest.positions, &surface)
}

/// As few triangles as a micrometre of error allows.
fn exact() -> SkinLodOptions {
    SkinLodOptions {
        max_error: 1e-6,
        ..options(&[0.0])
    }
}

fn options(ratios: &[f32]) -> SkinLodOptions {
    SkinLodOptions {
        ratios: ratios.to_vec(),
        ..SkinLodOptions::default()
    }
}

#[test]
fn poses_make_a_bent_elbow_better_than_the_rest_pose_does() {
    let (mesh, influences) = arm();
    let poses = [bent(0.0), bent(60.0), bent(120.0)];
    let make = |poses: &[Vec<Affine>]| {
        let options = options(&[0.3, 0.1]);
        simplify_skinned(&mesh, &influences, 2, &[], poses, &options).unwrap()
    };
    let (aware, blind) = (make(&poses), make(&[]));
    for (aware, blind) in aware.iter().zip(&blind) {
        assert!(aware.mesh.triangles.len() <= blind.mesh.triangles.len() + 2);
        let errors = poses
            .each_ref()
            .map(|pose| [aware, blind].map(|level| error_in((&mesh, &influences), level, pose)));
        let [good, bad] = errors[2];
        assert!(good < 0.6 * bad, "bent by 120°: {good} m against {bad} m");
        // What is reported is what was measured.
        let largest = errors.iter().map(|e| e[0]).fold(0.0, f32::max);
        assert!(
            (aware.error - largest).abs() < 1e-5,
            "{} {largest}",
            aware.error
        );
    }
}

#[test]
fn coincident_quads_on_two_bones_stay_apart() {
    let quad = primitives::grid(4, 4, 0.25);
    let count = quad.vertex_count();
    let mut both = quad.clone();
    both.rest.positions.extend(quad.rest.positions.iter());
    both.rest.normals.extend(quad.rest.normals.iter());
    both.uvs.extend(quad.uvs.iter());
    let moved = |t: &[u32; 3]| t.map(|v| v + count as u32);
    both.triangles.extend(quad.triangles.iter().map(moved));
    let influences = Influences {
        per_vertex: 1,
        joints: (0..2 * count).map(|v| (v / count) as u16).collect(),
        weights: vec![1.0; 2 * count],
    };
    // In the pose the second is a metre above the first.
    let pose = vec![
        Affine::IDENTITY,
        Transform::from_translation(Vec3::y()).into(),
    ];
    let levels = simplify_skinned(&both, &influences, 2, &[], &[pose], &exact()).unwrap();
    let level = &levels[0];
    assert_eq!(level.mesh.triangles.len(), 4, "two triangles a quad");
    assert!(level.error < 1e-6);
    for triangle in &level.mesh.triangles {
        let joints = triangle.map(|v| level.influences.joints[v as usize]);
        assert!(joints.iter().all(|joint| *joint == joints[0]));
    }
    // On one bone they are one surface of double triangles, where nothing may collapse.
    let one = Influences::rigid(2 * count);
    let levels = simplify_skinned(&both, &one, 1, &[], &[], &exact()).unwrap();
    assert_eq!(levels[0].mesh.triangles.len(), both.triangles.len());
}

#[test]
fn a_mesh_stored_a_hundred_times_too_large_gives_the_same_levels() {
    let (mesh, influences) = arm();
    let poses = [bent(0.0), bent(90.0)];
    let limit = SkinLodOptions {
        max_error: 0.004,
        ..options(&[0.5, 0.05])
    };
    let expected = simplify_skinned(&mesh, &influences, 2, &[], &poses, &limit).unwrap();
    for scale in [100.0, 128.0] {
        let mut large = mesh.clone();
        for position in &mut large.rest.positions {
            *position *= scale;
        }
        let bind = Affine {
            linear: Mat3::from_diagonal_element(1.0 / scale),
            ..Affine::IDENTITY
        };
        let palettes = poses.each_ref().map(|pose| {
            let palette = pose.iter().map(|matrix| *matrix * bind);
            palette.collect::<Vec<_>>()
        });
        let found = simplify_skinned(&large, &influences, 2, &[], &palettes, &limit).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            // Powers of two round alike; others settle ties differently.
            let counts = [found, expected].map(|level| level.mesh.triangles.len() as f32);
            assert!((counts[0] / counts[1] - 1.0).abs() < 0.1, "{counts:?}");
            let errors = [found.error, expected.error];
            assert!(errors[0] < 2.5 * errors[1] + 1e-4, "{errors:?} m");
            if scale == 128.0 {
                assert_eq!(found.mesh.triangles, expected.mesh.triangles);
            }
        }
    }
}

#[test]
fn weights_stay_on_the_simplex_and_under_their_limit() {
    let (mesh, _) = arm();
    let mut numbers = Numbers::new(7);
    let count = mesh.vertex_count() * 6;
    let influences = Influences {
        per_vertex: 6,
        joints: (0..count).map(|i| (i % 6) as u16).collect(),
        weights: (0..count).map(|_| 0.1 + numbers.unit()).collect(),
    };
    let options = SkinLodOptions {
        per_vertex: 3,
        ..options(&[0.4, 0.2])
    };
    for level in simplify_skinned(&mesh, &influences, 6, &[], &[], &options).unwrap() {
        assert_eq!(level.influences.per_vertex, 3);
        assert_eq!(level.influences.vertex_count(), level.mesh.vertex_count());
        for row in level.influences.weights.chunks(3) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn targets_keep_the_displacements_of_the_vertices_that_stay() {
    let (mesh, influences) = arm();
    let moved: Vec<u32> = (0..mesh.vertex_count() as u32).step_by(2).collect();
    let target = MorphTarget {
        name: Some("flex".into()),
        positions: moved.iter().map(|v| Vec3::repeat(*v as f32)).collect(),
        normals: moved.iter().map(|v| Vec3::x() * *v as f32).collect(),
        vertices: moved,
    };
    let targets = [target, MorphTarget::default()];
    let levels = simplify_skinned(&mesh, &influences, 2, &targets, &[], &options(&[0.3])).unwrap();
    let level = &levels[0];
    assert_eq!(level.targets.len(), 2);
    let flex = &level.targets[0];
    assert_eq!(flex.name.as_deref(), Some("flex"));
    let even = level.source_vertex.iter().filter(|v| **v % 2 == 0).count();
    assert!(even > 0 && flex.vertices.len() == even);
    assert!(flex.vertices.is_sorted());
    for (entry, vertex) in flex.vertices.iter().enumerate() {
        let source = level.source_vertex[*vertex as usize] as f32;
        assert_eq!(flex.positions[entry], Vec3::repeat(source));
        assert_eq!(flex.normals[entry], Vec3::x() * source);
    }
}

#[test]
fn closed_lips_that_a_target_opens_are_not_sewn_up() {
    // Two sheets that touch along z = 0, with normals and weights alike.
    let upper = primitives::grid(6, 3, 0.1);
    let mut lips = upper.clone();
    for position in &mut lips.rest.positions {
        position.z += 0.15;
    }
    let count = upper.vertex_count() as u32;
    let below = upper.rest.positions.iter().map(|p| p - Vec3::z() * 0.15);
    lips.rest.positions.extend(below);
    lips.rest.normals.extend(upper.rest.normals.iter());
    lips.uvs.clear();
    let moved = |t: &[u32; 3]| t.map(|v| v + count);
    lips.triangles.extend(upper.triangles.iter().map(moved));
    for position in &mut lips.rest.positions {
        if position.z.abs() < 1e-6 {
            position.z = 0.0;
        }
    }
    let open = MorphTarget {
        vertices: (0..count).collect(),
        positions: vec![Vec3::y(); count as usize],
        ..MorphTarget::default()
    };
    let rigid = Influences::rigid(2 * count as usize);
    let simplified = |targets: &[MorphTarget]| {
        let levels = simplify_skinned(&lips, &rigid, 1, targets, &[], &exact());
        levels.unwrap().remove(0).mesh.triangles.len()
    };
    assert_eq!(simplified(&[open]), 4);
    assert_eq!(simplified(&[]), 2, "one sheet if nothing opens it");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let (mesh, influences) = arm();
    let make = |influences: &Influences, poses: &[Vec<Affine>]| {
        simplify_skinned(&mesh, influences, 2, &[], poses, &SkinLodOptions::default())
    };
    let few = make(&influences, &[bent(0.0), vec![Affine::IDENTITY]]);
    let expected = SkinError::PoseCount {
        pose: 1,
        found: 1,
        joint_count: 2,
    };
    assert_eq!(few, Err(expected));
    let mut broken = bent(0.0);
    broken[1].translation.x = f32::NAN;
    assert!(matches!(
        make(&influences, &[broken]),
        Err(SkinError::NotFinite { index: 0, .. })
    ));
    assert!(matches!(
        make(&Influences::rigid(3), &[]),
        Err(SkinError::Count { .. })
    ));
}

proptest! {
    #[test]
    fn any_soup_has_levels(
        seed in any::<u64>(),
        vertices in 1_usize..30,
        corners in prop::collection::vec((0_u32..30, 0_u32..30, 0_u32..30), 0..60),
    ) {
        let (joints, count) = (3, vertices as u32);
        let (mut mesh, influences) = random_mesh(vertices, joints, 3, seed);
        for position in &mut mesh.rest.positions {
            // Few places, so that many coincide.
            *position = position.map(|c| (c * 1.5).round());
        }
        mesh.triangles = corners.iter().map(|(a, b, c)| [a % count, b % count, c % count]).collect();
        let pose: Vec<Affine> = (0..joints).map(|j| Transform::from_translation(Vec3::x() * j as f32).into()).collect();
        let levels = simplify_skinned(&mesh, &influences, joints, &[], &[pose], &SkinLodOptions::default()).unwrap();
        prop_assert_eq!(levels.len(), 3);
        for level in levels {
            prop_assert!(level.mesh.check().is_ok() && level.error.is_finite());
            prop_assert_eq!(level.mesh.vertex_count(), level.source_vertex.len());
        }
    }
}
