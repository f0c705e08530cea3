//! Dual quaternion skinning against closed forms, symmetries, the linear blend and an f64 reference.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

mod common;

use anim_geom::Vertices;
use anim_math::lanes::Level;
use anim_math::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use anim_math::{Affine, Mat3, Transform, Vec3, quat};
use anim_skeleton::{JointSpec, Skeleton};
use anim_skin::{DualPalette, Influences, Palette, SkinnedMesh, VertexBlocks};
use rayon::ThreadPoolBuilder;

use common::{Numbers, bind, cloud, joints, random_mesh, rigid_palette};

fn blocks(skin: &SkinnedMesh, palette: &Palette) -> VertexBlocks {
    let mut motions = DualPalette::new(palette.len());
    let mut blocks = VertexBlocks::new(skin.vertex_count());
    skin.dual_palette(palette, &mut motions);
    skin.dual_quaternion(skin.rest(), &motions, &mut blocks);
    blocks
}

fn skinned(skin: &SkinnedMesh, palette: &Palette) -> Vertices {
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks(skin, palette), &mut vertices);
    vertices
}

fn linear(skin: &SkinnedMesh, palette: &Palette) -> Vertices {
    let mut blocks = VertexBlocks::new(skin.vertex_count());
    skin.linear(skin.rest(), palette, &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    vertices
}

/// One row of weights for every vertex, of joints 0, 1, 2...
fn shared(vertex_count: usize, weights: &[f32]) -> Influences {
    let joints: Vec<u16> = (0..weights.len() as u16).collect();
    Influences {
        per_vertex: weights.len(),
        joints: joints.repeat(vertex_count),
        weights: weights.repeat(vertex_count),
    }
}

/// Uneven and sheared maps with translations of size 1; `sign` −1 mirrors.
fn uneven_palette(joint_count: usize, seed: u64, sign: f32) -> Palette {
    let mut numbers = Numbers::new(seed);
    let mut palette = Palette::new(joint_count);
    for place in 0..joint_count {
        let turn = numbers.rotation().to_rotation_matrix().into_inner();
        let scale = Vec3::new(
            sign * (0.5 + numbers.unit()),
            0.5 + numbers.unit(),
            0.5 + numbers.unit(),
        );
        let shear = Mat3::new(
            1.0,
            0.3 * numbers.signed(),
            0.0,
            0.0,
            1.0,
            0.0,
            0.0,
            0.0,
            1.0,
        );
        let matrix = Affine {
            linear: turn * Mat3::from_diagonal(&scale) * shear,
            translation: numbers.vector(),
        };
        palette.set(place, matrix);
    }
    palette
}

fn assert_close(found: &Vertices, expected: &Vertices, tolerance: f32) {
    for vertex in 0..expected.positions.len() {
        let error = (found.positions[vertex] - expected.positions[vertex]).norm();
        assert!(error < tolerance, "vertex {vertex}: {error}");
        let error = (found.normals[vertex] - expected.normals[vertex]).norm();
        assert!(error < tolerance, "normal {vertex}: {error}");
    }
}

#[test]
fn half_weights_turn_by_half_the_twist_and_keep_the_radius() {
    let start = Vec3::new(1.0, 0.5, 0.0);
    let skin = bind(
        &cloud(vec![start], vec![Vec3::x()]),
        2,
        &shared(1, &[0.5, 0.5]),
        &[],
    );
    for (degrees, expected) in [
        (0.0, [1.0, 0.5, 0.0]),
        (60.0, [0.866_025, 0.5, -0.5]),
        (120.0, [0.5, 0.5, -0.866_025]),
        (170.0, [0.087_156, 0.5, -0.996_195]),
        (179.0, [0.008_727, 0.5, -0.999_962]),
        // Past half a turn the short way is backward.
        (190.0, [0.087_156, 0.5, 0.996_195]),
        (350.0, [0.996_195, 0.5, 0.087_156]),
    ] {
        let mut palette = Palette::new(2);
        let twist = quat::from_axis_angle(Vec3::y(), f32::to_radians(degrees));
        palette.set(1, Transform::from_rotation(twist).into());
        let vertices = skinned(&skin, &palette);
        // The expected values are rounded to 1e-6.
        let [x, y, z] = expected;
        assert!(
            (vertices.positions[0] - Vec3::new(x, y, z)).norm() < 2e-6,
            "{degrees}"
        );
        assert!(
            (vertices.normals[0] - Vec3::new(x, 0.0, z)).norm() < 2e-6,
            "{degrees}"
        );
        let radius = vertices.positions[0].xz().norm();
        assert!((radius - 1.0).abs() < 1e-6, "{degrees}: {radius}");
    }
}

#[test]
fn a_general_blend_matches_its_reference_in_any_order_of_joints() {
    let lift = Affine::from(Transform::from_translation(Vec3::y()));
    let turn = quat::from_axis_angle(Vec3::z(), 90_f32.to_radians())
        * quat::from_axis_angle(Vec3::x(), 30_f32.to_radians());
    let turn = Affine::from(Transform {
        rotation: turn,
        ..Transform::from_translation(Vec3::new(2.0, 0.0, 1.0))
    });
    for (weights, matrices) in [([0.3, 0.7], [lift, turn]), ([0.7, 0.3], [turn, lift])] {
        let start = Vec3::new(0.5, 0.5, 0.5);
        let skin = bind(
            &cloud(vec![start], vec![Vec3::x()]),
            2,
            &shared(1, &weights),
            &[],
        );
        let mut palette = Palette::new(2);
        palette.set(0, matrices[0]);
        palette.set(1, matrices[1]);
        let position = skinned(&skin, &palette).positions[0];
        let expected = Vec3::new(1.244_434, 0.603_822, 1.467_171);
        assert!((position - expected).norm() < 2e-6, "{position}");
    }
}

#[test]
fn identities_give_the_rest_positions_back_bit_for_bit() {
    let (mesh, influences) = random_mesh(1003, 9, 6, 1);
    let skin = bind(&mesh, 9, &influences, &[]);
    assert_eq!(&blocks(&skin, &Palette::new(9)), skin.rest());
}

#[test]
fn a_common_matrix_moves_every_vertex_by_it_mirrored_or_not() {
    let (mesh, influences) = random_mesh(500, 7, 4, 2);
    let (_, joints) = joints(7);
    let mut numbers = Numbers::new(3);
    let binds: Vec<Affine> = (0..7)
        .map(|_| Transform::from_translation(numbers.vector()).into())
        .collect();
    let skin = SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[]).unwrap();
    let matrices = [
        rigid_palette(1, 4).get(0),
        uneven_palette(1, 5, 1.0).get(0),
        uneven_palette(1, 6, -1.0).get(0),
    ];
    for matrix in matrices {
        let mut palette = Palette::new(7);
        (0..7).for_each(|place| palette.set(place, matrix));
        // Some thirty roundings of numbers up to 4.
        assert_close(
            &skinned(&skin, &palette),
            &linear(&skin, &palette),
            64.0 * f32::EPSILON,
        );
    }
}

#[test]
fn one_influence_is_the_linear_blend_for_any_matrix() {
    let (mesh, influences) = random_mesh(400, 24, 1, 8);
    let (_, joints) = joints(24);
    let mut numbers = Numbers::new(9);
    let binds: Vec<Affine> = (0..24)
        .map(|_| Transform::from_translation(numbers.vector()).into())
        .collect();
    let skin = SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[]).unwrap();
    let mut palette = uneven_palette(24, 10, 1.0);
    let mirrored = uneven_palette(24, 11, -1.0);
    let rigid = rigid_palette(24, 12);
    for place in 0..8 {
        palette.set(place, mirrored.get(place));
        palette.set(8 + place, rigid.get(place));
    }
    assert_close(
        &skinned(&skin, &palette),
        &linear(&skin, &palette),
        64.0 * f32::EPSILON,
    );
}

#[test]
fn stretches_blend_before_the_motion() {
    // Joint 1, at (0, 1, 0), doubles x and triples its height; joint 0 twists by 90 degrees about y.
    let start = Vec3::new(1.0, 2.0, 0.0);
    let slope = Vec3::new(1.0, 1.0, 0.0).normalize();
    let (_, joints) = joints(2);
    let binds = [
        Affine::IDENTITY,
        Transform::from_translation(-Vec3::y()).into(),
    ];
    let mesh = cloud(vec![start], vec![slope]);
    let skin = SkinnedMesh::new(&mesh, &joints, &binds, &shared(1, &[0.5, 0.5]), &[]).unwrap();
    let mut palette = Palette::new(2);
    let twist = quat::from_axis_angle(Vec3::y(), 90_f32.to_radians());
    palette.set(0, Transform::from_rotation(twist).into());
    let stretch = Affine::from(Transform {
        scale: Vec3::new(2.0, 3.0, 1.0),
        ..Transform::IDENTITY
    });
    let lift = Affine::from(Transform::from_translation(Vec3::y()));
    palette.set(1, lift * stretch * binds[1]);
    let vertices = skinned(&skin, &palette);
    // Half of (1, 2, 0) and half of (2, 4, 0), turned by 45 degrees; the mean stretch is (1.5, 2, 1).
    let half = 0.5_f32.sqrt();
    let expected = Vec3::new(1.5 * half, 3.0, -1.5 * half);
    assert!((vertices.positions[0] - expected).norm() < 16.0 * f32::EPSILON);
    let turned = Vec3::new(half / 1.5, 0.5, -half / 1.5).normalize();
    assert!((vertices.normals[0] - turned).norm() < 16.0 * f32::EPSILON);
}

#[test]
fn a_collapsed_joint_pulls_its_vertices_to_it() {
    let skin = bind(
        &cloud(vec![Vec3::x()], vec![Vec3::x()]),
        2,
        &shared(1, &[0.75, 0.25]),
        &[],
    );
    let mut palette = Palette::new(2);
    let nothing = Transform {
        scale: Vec3::zeros(),
        ..Transform::IDENTITY
    };
    palette.set(1, nothing.into());
    let vertices = skinned(&skin, &palette);
    assert_close(&vertices, &linear(&skin, &palette), 4.0 * f32::EPSILON);
    assert!((vertices.positions[0].x - 0.75).abs() < 4.0 * f32::EPSILON);
}

#[test]
fn vertices_of_equal_weights_keep_their_distances() {
    let mut numbers = Numbers::new(13);
    let positions: Vec<Vec3> = (0..40).map(|_| numbers.vector() * 0.5).collect();
    let mesh = cloud(positions.clone(), vec![Vec3::z(); 40]);
    let skin = bind(&mesh, 4, &shared(40, &[0.4, 0.3, 0.2, 0.1]), &[]);
    for seed in 0..20 {
        let vertices = skinned(&skin, &rigid_palette(4, seed));
        for a in 0..40 {
            assert!((vertices.normals[a].norm() - 1.0).abs() < 1e-6);
            for b in 0..a {
                let distance = (vertices.positions[a] - vertices.positions[b]).norm();
                let rest = (positions[a] - positions[b]).norm();
                assert!((distance - rest).abs() < 1e-6, "{distance} {rest}");
            }
        }
    }
}

#[test]
fn a_mirrored_character_is_the_mirror_image() {
    let (mesh, influences) = random_mesh(300, 8, 3, 14);
    let skin = bind(&mesh, 8, &influences, &[]);
    let palette = rigid_palette(8, 15);
    // A plane other than the one the palette is mirrored in.
    let mirror = Affine::from(Transform {
        scale: Vec3::new(1.0, 1.0, -1.0),
        ..Transform::IDENTITY
    });
    let mut mirrored = Palette::new(8);
    (0..8).for_each(|place| mirrored.set(place, mirror * palette.get(place)));
    let mut expected = skinned(&skin, &palette);
    for vector in expected.positions.iter_mut().chain(&mut expected.normals) {
        vector.z = -vector.z;
    }
    // Quaternions of other rotations: rounding of size 4, up to the shortest blend (1/3).
    assert_close(&skinned(&skin, &mirrored), &expected, 128.0 * f32::EPSILON);
}

#[test]
fn a_motion_of_the_whole_pose_moves_the_skin_with_it() {
    let (mesh, influences) = random_mesh(300, 8, 4, 16);
    let skin = bind(&mesh, 8, &influences, &[]);
    let palette = rigid_palette(8, 17);
    let motion = rigid_palette(1, 18).get(0);
    let mut moved = Palette::new(8);
    (0..8).for_each(|place| moved.set(place, motion * palette.get(place)));
    let mut expected = skinned(&skin, &palette);
    for position in &mut expected.positions {
        *position = motion.transform_point(*position);
    }
    for normal in &mut expected.normals {
        *normal = motion.transform_vector(*normal);
    }
    // Rounding of size 4, up to the shortest blend (1/4).
    assert_close(&skinned(&skin, &moved), &expected, 128.0 * f32::EPSILON);

    // With signs along a skeleton, here of roots alone, blends may be half as long.
    let skin = skin.with_skeleton(&joints(8).0);
    let mut expected = skinned(&skin, &palette);
    for position in &mut expected.positions {
        *position = motion.transform_point(*position);
    }
    for normal in &mut expected.normals {
        *normal = motion.transform_vector(*normal);
    }
    assert_close(&skinned(&skin, &moved), &expected, 256.0 * f32::EPSILON);
}

/// `count` joints, each the child of the one before it.
fn chain(count: usize) -> Skeleton {
    let joint = |place: usize| JointSpec {
        name: None,
        parent: place.checked_sub(1),
        rest: Transform::IDENTITY,
    };
    Skeleton::new((0..count).map(joint).collect()).unwrap()
}

#[test]
fn a_chain_that_twists_by_240_degrees_turns_evenly_with_its_skeleton() {
    // A vertex each 5 cm along y, weighted by bells a metre wide about joints at -1, 0 and 1.
    let heights: Vec<f32> = (-40..=40).map(|ring| ring as f32 * 0.05).collect();
    let bell = |y: f32, joint: usize| (-0.5 * f64::from(y - joint as f32 + 1.0).powi(2)).exp();
    let mesh = cloud(
        heights.iter().map(|y| Vec3::new(1.0, *y, 0.0)).collect(),
        vec![Vec3::x(); heights.len()],
    );
    let weights = heights
        .iter()
        .flat_map(|y| [0, 1, 2].map(|joint| bell(*y, joint) as f32));
    let influences = Influences {
        per_vertex: 3,
        joints: [0, 1, 2].repeat(heights.len()),
        weights: weights.collect(),
    };
    let skeleton = chain(3);
    let joints: Vec<_> = (0..3).map(|joint| skeleton.joint(joint)).collect();
    let binds = [Affine::IDENTITY; 3];
    let foreign = SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[]).unwrap();
    let skin = foreign.clone().with_skeleton(&skeleton);
    let mut palette = Palette::new(3);
    for place in 0..3 {
        let turn = quat::from_axis_angle(Vec3::y(), (120.0 * place as f32).to_radians());
        palette.set(place, Transform::from_rotation(turn).into());
    }
    let angles = |skin: &SkinnedMesh| -> Vec<f64> {
        let positions = skinned(skin, &palette).positions;
        let angle = |p: &Vec3| {
            f64::from(-p.z)
                .atan2(f64::from(p.x))
                .to_degrees()
                .rem_euclid(360.0)
        };
        positions.iter().map(angle).collect()
    };
    let largest_step = |angles: &[f64]| {
        let steps = angles.windows(2).map(|pair| {
            let step = (pair[1] - pair[0]).rem_euclid(360.0);
            step.min(360.0 - step)
        });
        steps.fold(0.0, f64::max)
    };
    let found = angles(&skin);
    for (y, found) in heights.iter().zip(&found) {
        // Half angles of 0°, 60° and 120° in one plane.
        let [a, b, c] = [0, 1, 2].map(|joint| bell(*y, joint));
        let (along, across) = (a + 0.5 * b - 0.5 * c, 0.75_f64.sqrt() * (b + c));
        let expected = 2.0 * across.atan2(along).to_degrees();
        // Ten roundings of a unit circle.
        assert!((found - expected).abs() < 1e-4, "{y}: {found} {expected}");
    }
    let (even, torn) = (largest_step(&found), largest_step(&angles(&foreign)));
    assert!(even < 3.8 && torn > 4.0 * even, "{even} {torn}");
}

#[test]
fn opposite_ends_of_a_full_turn_fall_back_to_the_heaviest() {
    // Quaternions at 0°, 90° and 180°: halves of the first and the last cancel.
    let mesh = cloud(vec![Vec3::x()], vec![Vec3::x()]);
    let skeleton = chain(3);
    let joints: Vec<_> = (0..3).map(|joint| skeleton.joint(joint)).collect();
    let influences = shared(1, &[0.5, 0.0, 0.5]);
    let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY; 3], &influences, &[]).unwrap();
    let skin = skin.with_skeleton(&skeleton);
    let mut palette = Palette::new(3);
    let half_turn = quat::from_axis_angle(Vec3::y(), 179_f32.to_radians());
    palette.set(1, Transform::from_rotation(half_turn).into());
    palette.set(2, Transform::from_rotation(half_turn * half_turn).into());
    let position = skinned(&skin, &palette).positions[0];
    // Half of the 2° that are left, the short way.
    let one = 1_f32.to_radians();
    assert!(
        (position - Vec3::new(one.cos(), 0.0, one.sin())).norm() < 1e-5,
        "{position}"
    );
}

/// Where one vertex goes in f64: signs from the heaviest joint, then the blend made unit.
fn reference(
    motions: &[(UnitQuaternion<f64>, Vector3<f64>, f64)],
    point: Vector3<f64>,
) -> Vector3<f64> {
    let heaviest = motions.iter().fold(
        motions[0],
        |best, other| if other.2 > best.2 { *other } else { best },
    );
    let (mut real, mut dual) = (Quaternion::from_real(0.0), Quaternion::from_real(0.0));
    for (rotation, translation, weight) in motions {
        let sign = if rotation.coords.dot(&heaviest.0.coords) < 0.0 {
            -1.0
        } else {
            1.0
        };
        real += rotation.into_inner() * (sign * weight);
        dual += Quaternion::from_imag(*translation) * rotation.into_inner() * (0.5 * sign * weight);
    }
    let norm = real.norm();
    let translation = (dual * real.conjugate()).imag() * 2.0 / (norm * norm);
    UnitQuaternion::new_unchecked(real / norm) * point + translation
}

#[test]
fn agrees_with_f64_for_any_number_of_influences() {
    for (per_vertex, joint_count) in [(1, 5), (2, 60), (3, 4), (4, 60), (8, 60)] {
        let mut numbers = Numbers::new(per_vertex as u64);
        let (mesh, mut influences) = random_mesh(333, joint_count, per_vertex, 20);
        // Distinct joints, and whole weights, of which one is surely the heaviest.
        for (place, (joint, weight)) in influences
            .joints
            .iter_mut()
            .zip(&mut influences.weights)
            .enumerate()
        {
            let slot = place % per_vertex;
            let span = joint_count / per_vertex;
            *joint = (slot * span + numbers.below(span)) as u16;
            *weight = 1.0 + ((slot * 5 + place / per_vertex) % 8) as f32;
        }
        let palette = rigid_palette(joint_count, 21);
        let skin = bind(&mesh, joint_count, &influences, &[]);
        let vertices = skinned(&skin, &palette);
        for vertex in 0..mesh.vertex_count() {
            let row = vertex * per_vertex..(vertex + 1) * per_vertex;
            let motions: Vec<_> = influences.joints[row.clone()]
                .iter()
                .zip(&influences.weights[row])
                .map(|(joint, weight)| {
                    let matrix = palette.get(usize::from(*joint));
                    let transform = matrix.to_transform();
                    let rotation = UnitQuaternion::new_normalize(
                        transform.rotation.cast::<f64>().into_inner(),
                    );
                    (
                        rotation,
                        matrix.translation.cast::<f64>(),
                        f64::from(*weight),
                    )
                })
                .collect();
            let expected = reference(&motions, mesh.rest.positions[vertex].cast());
            let error = (vertices.positions[vertex].cast::<f64>() - expected).norm();
            // Matrices and blends round by some (8 + K) ε of size 3, up to a factor K for short blends.
            let count = per_vertex as f64;
            let tolerance = f64::from(f32::EPSILON) * (8.0 + count) * 3.0 * count;
            assert!(error < tolerance, "{per_vertex}, vertex {vertex}: {error}");
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let (mesh, influences) = random_mesh(777, 40, 4, 5);
    let best = bind(&mesh, 40, &influences, &[]);
    let baseline = best.clone().with_level(Level::baseline());
    for palette in [
        rigid_palette(40, 6),
        uneven_palette(40, 7, 1.0),
        uneven_palette(40, 8, -1.0),
    ] {
        assert_eq!(blocks(&best, &palette), blocks(&baseline, &palette));
    }
}

#[test]
fn every_number_of_threads_gives_the_same_bits() {
    let (mesh, influences) = random_mesh(40_000, 12, 3, 9);
    let skin = bind(&mesh, 12, &influences, &[]);
    let palette = uneven_palette(12, 10, 1.0);
    let alone = blocks(&skin, &palette);
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| blocks(&skin, &palette)), alone);
    }
}
