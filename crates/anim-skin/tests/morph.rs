//! Morph targets against closed forms and an f64 reference.

mod common;

use std::f32::consts::FRAC_1_SQRT_2;

use anim_geom::Vertices;
use anim_math::lanes::Level;
use anim_math::{Transform, Vec3};
use anim_skin::{Influences, MorphTarget, Palette, SkinnedMesh, VertexBlocks};
use common::{Numbers, bind, cloud, random_mesh};

fn morphed(skin: &SkinnedMesh, weights: &[f32]) -> Vertices {
    let mut blocks = VertexBlocks::new(skin.vertex_count());
    skin.morph(weights, &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    vertices
}

/// Targets that each move a share of the vertices, half of them with normals.
fn random_targets(vertex_count: usize, count: usize, share: f32, seed: u64) -> Vec<MorphTarget> {
    let mut numbers = Numbers::new(seed);
    let mut vectors = |count: usize, size: f32| -> Vec<Vec3> {
        (0..count).map(|_| numbers.vector() * size).collect()
    };
    let mut chosen = Numbers::new(seed + 1);
    (0..count)
        .map(|target| {
            let vertices: Vec<u32> = (0..vertex_count as u32)
                .filter(|_| chosen.unit() < share)
                .collect();
            let normals = if target % 2 == 0 { vertices.len() } else { 0 };
            MorphTarget {
                name: None,
                positions: vectors(vertices.len(), 0.1),
                normals: vectors(normals, 0.1),
                vertices,
            }
        })
        .collect()
}

fn near(found: Vec3, expected: [f32; 3], tolerance: f32) -> bool {
    (found - Vec3::from(expected)).amax() <= tolerance
}

#[test]
fn a_flap_turns_its_normals_by_displacements_and_renormalises() {
    // A square hinged on its left edge; target 0 lifts the right edge and tilts all normals, target 1 has no normals.
    let mesh = cloud(
        vec![
            Vec3::zeros(),
            Vec3::x(),
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::y(),
        ],
        vec![Vec3::z(); 4],
    );
    let tilt = Vec3::new(-FRAC_1_SQRT_2, 0.0, -0.292_893_23);
    let targets = [
        MorphTarget {
            vertices: vec![0, 1, 2, 3],
            positions: vec![Vec3::zeros(), Vec3::z(), Vec3::z(), Vec3::zeros()],
            normals: vec![tilt; 4],
            ..MorphTarget::default()
        },
        MorphTarget {
            vertices: vec![2, 3],
            positions: vec![Vec3::y(); 2],
            ..MorphTarget::default()
        },
    ];
    let skin = bind(&mesh, 1, &Influences::rigid(4), &targets);
    let half = [-0.382_683_4, 0.0, 0.923_879_5];
    let whole = [-FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];
    let cases = [
        ([0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
        ([0.5, 0.0], [1.0, 1.0, 0.5], half),
        ([1.0, 0.0], [1.0, 1.0, 1.0], whole),
        ([0.5, 1.0], [1.0, 2.0, 0.5], half),
    ];
    for (weights, corner, normal) in cases {
        let vertices = morphed(&skin, &weights);
        assert_eq!(vertices.positions[0], Vec3::zeros());
        assert!(near(vertices.positions[2], corner, f32::EPSILON));
        for vertex in [0, 2] {
            let found = vertices.normals[vertex];
            assert!(
                near(found, normal, 2.0 * f32::EPSILON),
                "{weights:?}: {found}"
            );
        }
    }
}

#[test]
fn a_cube_becomes_a_sphere_whose_normals_are_right_before_and_after_the_skin() {
    // One face of a cube, 5 × 5; its target is the sphere that touches the corners, its normals' displacements are
    // differences and not the sphere's normals themselves.
    let steps = [-1.0, -0.5, 0.0, 0.5, 1.0_f32];
    let face: Vec<Vec3> = steps
        .iter()
        .flat_map(|x| steps.map(|y| Vec3::new(*x, y, 1.0)))
        .collect();
    let sphere: Vec<Vec3> = face.iter().map(|p| p.normalize()).collect();
    let radius = 3.0_f32.sqrt();
    let target = MorphTarget {
        vertices: (0..25).collect(),
        positions: face
            .iter()
            .zip(&sphere)
            .map(|(p, n)| n * radius - p)
            .collect(),
        normals: sphere.iter().map(|n| n - Vec3::z()).collect(),
        ..MorphTarget::default()
    };
    let mesh = cloud(face, vec![Vec3::z(); 25]);
    let skin = bind(&mesh, 1, &Influences::rigid(25), &[target]);
    let tolerance = 4.0 * f32::EPSILON;
    assert_eq!(morphed(&skin, &[0.0]).normals, mesh.rest.normals);
    let whole = morphed(&skin, &[1.0]);
    let half = morphed(&skin, &[0.5]);
    for (vertex, normal) in sphere.iter().enumerate() {
        assert!(near(
            whole.positions[vertex],
            (normal * radius).into(),
            tolerance
        ));
        assert!(near(whole.normals[vertex], (*normal).into(), tolerance));
        let between = (normal + Vec3::z()).normalize();
        assert!(near(half.normals[vertex], between.into(), tolerance));
    }
    // The skin comes after: a joint that stretches the sphere makes it an ellipsoid, normals S⁻¹·n.
    let stretch = Vec3::new(1.0, 3.0, 0.5);
    let mut palette = Palette::new(1);
    palette.set(
        0,
        Transform {
            scale: stretch,
            ..Transform::IDENTITY
        }
        .into(),
    );
    let mut blocks = VertexBlocks::new(25);
    let mut skinned = VertexBlocks::new(25);
    skin.morph(&[1.0], &mut blocks);
    skin.linear(&blocks, &palette, &mut skinned);
    let mut vertices = Vertices::default();
    skin.to_source_order(&skinned, &mut vertices);
    for (normal, found) in sphere.iter().zip(&vertices.normals) {
        let expected = normal.component_div(&stretch).normalize();
        assert!(
            near(*found, expected.into(), 8.0 * f32::EPSILON),
            "{found} {expected}"
        );
    }
}

#[test]
fn meshes_with_four_and_two_targets_do_not_mix() {
    let mesh = cloud(vec![Vec3::zeros()], vec![Vec3::z()]);
    let target = |displacement| MorphTarget {
        vertices: vec![0],
        positions: vec![displacement],
        ..MorphTarget::default()
    };
    let four = [Vec3::x(), Vec3::y(), Vec3::z(), 5.0 * Vec3::z()].map(target);
    let two = [7.0 * Vec3::y(), 7.0 * Vec3::x()].map(target);
    let four = bind(&mesh, 1, &Influences::rigid(1), &four);
    let two = bind(&mesh, 1, &Influences::rigid(1), &two);
    let position = |skin, weights: &[f32]| morphed(skin, weights).positions[0];
    let tolerance = 8.0 * f32::EPSILON;
    assert!(near(
        position(&four, &[0.5, 0.25, 0.125, 0.05]),
        [0.5, 0.25, 0.375],
        tolerance
    ));
    assert!(near(
        position(&four, &[1.0, 0.5, 0.25, 0.1]),
        [1.0, 0.5, 0.75],
        tolerance
    ));
    assert!(near(
        position(&two, &[0.1, 0.0]),
        [0.0, 0.7, 0.0],
        tolerance
    ));
    assert!(near(
        position(&two, &[0.2, 0.3]),
        [2.1, 1.4, 0.0],
        tolerance
    ));
    assert!(near(
        position(&two, &[0.0, 1.0]),
        [7.0, 0.0, 0.0],
        tolerance
    ));
}

#[test]
fn agrees_with_an_f64_sum_over_sparse_targets() {
    let (mesh, influences) = random_mesh(1203, 20, 3, 21);
    let targets = random_targets(1203, 12, 0.1, 22);
    let skin = bind(&mesh, 20, &influences, &targets);
    let weights = [0.3, 0.0, -0.5, 1.5, 0.0, 1.0, 0.7, 0.1, 0.0, 0.0, 0.9, 0.2];
    let vertices = morphed(&skin, &weights);
    let wide = |v: &Vec3| v.cast::<f64>();
    let mut positions: Vec<_> = mesh.rest.positions.iter().map(wide).collect();
    let mut normals: Vec<_> = mesh.rest.normals.iter().map(wide).collect();
    for (target, weight) in targets.iter().zip(weights) {
        for (entry, vertex) in target.vertices.iter().enumerate() {
            let vertex = *vertex as usize;
            positions[vertex] += wide(&target.positions[entry]) * f64::from(weight);
            if let Some(normal) = target.normals.get(entry) {
                normals[vertex] += wide(normal) * f64::from(weight);
            }
        }
    }
    // One rounding of a coordinate below 2 for each of at most 12 targets, and a few of the normalisation.
    let tolerance = 16.0 * f64::from(f32::EPSILON);
    for vertex in 0..mesh.vertex_count() {
        let error = wide(&vertices.positions[vertex]) - positions[vertex];
        assert!(error.amax() < tolerance, "position {vertex}: {error}");
        let error = wide(&vertices.normals[vertex]) - normals[vertex].normalize();
        assert!(error.amax() < tolerance, "normal {vertex}: {error}");
    }
}

#[test]
fn whatever_was_in_the_output_is_overwritten() {
    let (mesh, influences) = random_mesh(2000, 20, 3, 23);
    let targets = random_targets(2000, 3, 0.01, 24);
    let skin = bind(&mesh, 20, &influences, &targets);
    let mut blocks = VertexBlocks::new(2000);
    skin.morph(&[1.0, 1.0, 1.0], &mut blocks);
    assert_ne!(&blocks, skin.rest());
    skin.morph(&[0.0, 0.0, 0.0], &mut blocks);
    assert_eq!(&blocks, skin.rest());
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let (mesh, influences) = random_mesh(999, 20, 3, 25);
    let targets = random_targets(999, 8, 0.3, 26);
    let best = bind(&mesh, 20, &influences, &targets);
    let baseline = best.clone().with_level(Level::baseline());
    let weights = [0.1, 0.2, 0.3, 0.0, -0.4, 0.5, 0.0, 2.0];
    assert_eq!(morphed(&best, &weights), morphed(&baseline, &weights));
}

#[test]
fn the_order_in_which_a_target_lists_its_vertices_does_not_matter() {
    let (mesh, influences) = random_mesh(100, 5, 2, 27);
    let target = random_targets(100, 1, 0.5, 28).remove(0);
    let mut reversed = target.clone();
    reversed.vertices.reverse();
    reversed.positions.reverse();
    reversed.normals.reverse();
    let skins = [target, reversed].map(|target| bind(&mesh, 5, &influences, &[target]));
    assert_eq!(morphed(&skins[0], &[0.4]), morphed(&skins[1], &[0.4]));
}

#[test]
fn a_vertex_listed_twice_moves_by_the_sum() {
    let mesh = cloud(vec![Vec3::zeros(); 3], vec![Vec3::z(); 3]);
    let target = MorphTarget {
        vertices: vec![2, 1, 2],
        positions: vec![Vec3::x(), Vec3::y(), Vec3::z()],
        ..MorphTarget::default()
    };
    let skin = bind(&mesh, 1, &Influences::rigid(3), &[target]);
    let vertices = morphed(&skin, &[2.0]);
    let expected = [
        Vec3::zeros(),
        2.0 * Vec3::y(),
        2.0 * (Vec3::x() + Vec3::z()),
    ];
    assert_eq!(vertices.positions, expected);
}

#[test]
fn spare_lanes_repeat_the_last_vertex() {
    let (mesh, influences) = random_mesh(12, 3, 2, 29);
    let skin = bind(&mesh, 3, &influences, &random_targets(12, 4, 0.9, 30));
    let mut blocks = VertexBlocks::new(12);
    skin.morph(&[0.5; 4], &mut blocks);
    let block = blocks.blocks()[1];
    for part in block.position.iter().chain(&block.normal) {
        assert_eq!(part[4..], [part[3]; 4]);
    }
}
