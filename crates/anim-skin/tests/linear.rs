//! Linear blend skinning against closed forms, symmetries and an f64 reference.

mod common;

use anim_geom::{Mesh, Vertices};
use anim_math::lanes::Level;
use anim_math::{Affine, Mat3, Transform, Vec3, quat};
use anim_skeleton::Globals;
use anim_skin::{Influences, Palette, SkinnedMesh, VertexBlocks};
use rayon::ThreadPoolBuilder;

use common::{Numbers, bind, blended, cloud, joints, random_mesh, rigid_palette};

fn skinned(skin: &SkinnedMesh, palette: &Palette) -> Vertices {
    let mut blocks = VertexBlocks::new(skin.vertex_count());
    skin.linear(skin.rest(), palette, &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    vertices
}

/// Two joints at half weight each.
fn halves(vertex_count: usize) -> Influences {
    Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(vertex_count),
        weights: vec![0.5; 2 * vertex_count],
    }
}

#[test]
fn identities_give_the_rest_positions_back_bit_for_bit() {
    // Weights are multiples of 2^-24 that sum to 1, so the blended matrix is exactly the identity.
    let (mesh, influences) = random_mesh(1003, 9, 6, 1);
    let skin = bind(&mesh, 9, &influences, &[]);
    let vertices = skinned(&skin, &Palette::new(9));
    assert_eq!(vertices.positions, mesh.rest.positions);
    for (normal, rest) in vertices.normals.iter().zip(&mesh.rest.normals) {
        assert!((normal - rest).norm() < 4.0 * f32::EPSILON);
    }
}

#[test]
fn a_common_rigid_motion_moves_every_vertex_rigidly() {
    let (mesh, influences) = random_mesh(500, 7, 4, 2);
    let skin = bind(&mesh, 7, &influences, &[]);
    let motion = Affine::from(Transform {
        translation: Vec3::new(1.0, -2.0, 0.5),
        rotation: quat::from_axis_angle(Vec3::new(1.0, 2.0, -1.0).normalize(), 2.0),
        ..Transform::IDENTITY
    });
    let mut palette = Palette::new(7);
    (0..7).for_each(|place| palette.set(place, motion));
    let vertices = skinned(&skin, &palette);
    for (vertex, rest) in mesh.rest.positions.iter().enumerate() {
        let expected = motion.transform_point(*rest);
        assert!((vertices.positions[vertex] - expected).norm() < 8.0 * 4.0 * f32::EPSILON);
        let expected = motion.transform_vector(mesh.rest.normals[vertex]);
        assert!((vertices.normals[vertex] - expected).norm() < 8.0 * f32::EPSILON);
    }
}

#[test]
fn twist_by_theta_keeps_the_cosine_of_its_half_of_the_radius() {
    let skin = bind(&cloud(vec![Vec3::y()], vec![Vec3::y()]), 2, &halves(1), &[]);
    for (degrees, radius) in [
        (0.0, 1.0),
        (45.0, 0.923_879_5),
        (90.0, std::f32::consts::FRAC_1_SQRT_2),
        (135.0, 0.382_683_4),
        (180.0, 0.0),
    ] {
        let mut palette = Palette::new(2);
        let twist = quat::from_axis_angle(Vec3::x(), f32::to_radians(degrees));
        palette.set(1, Transform::from_rotation(twist).into());
        let vertices = skinned(&skin, &palette);
        let normal = vertices.normals[0];
        assert!(
            (vertices.positions[0].norm() - radius).abs() < 4.0 * f32::EPSILON,
            "{degrees}"
        );
        assert!(
            (normal.norm() - 1.0).abs() < 4.0 * f32::EPSILON,
            "{degrees}: {normal}"
        );
    }
}

#[test]
fn rows_that_summed_to_0_98_stay_put_ten_kilometres_away() {
    // Unrepaired, 2 % of 10 km would be 200 m.
    let offset = Vec3::new(1e4, -1e4, 1e4);
    let influences = Influences {
        per_vertex: 3,
        joints: vec![0, 1, 2],
        weights: vec![0.5, 0.3, 0.18],
    };
    let skin = bind(
        &cloud(vec![Vec3::x()], vec![Vec3::y()]),
        3,
        &influences,
        &[],
    );
    let mut palette = Palette::new(3);
    (0..3).for_each(|place| palette.set(place, Transform::from_translation(offset).into()));
    let vertices = skinned(&skin, &palette);
    // The rounding of a sum of three coordinates of 10 km.
    assert!((vertices.positions[0] - offset - Vec3::x()).amax() <= 3.0 * 1e4 * f32::EPSILON);
}

#[test]
fn agrees_with_f64_for_any_number_of_influences() {
    for (per_vertex, joint_count) in [(1, 5), (2, 60), (4, 60), (8, 60), (20, 30)] {
        let (mesh, influences) = random_mesh(333, joint_count, per_vertex, per_vertex as u64);
        let skin = bind(&mesh, joint_count, &influences, &[]);
        let palette = rigid_palette(joint_count, 3);
        let vertices = skinned(&skin, &palette);
        for vertex in 0..mesh.vertex_count() {
            let (linear, translation) = blended(&influences, vertex, &palette);
            let expected = linear * mesh.rest.positions[vertex].cast::<f64>() + translation;
            // Roundings of up to `per_vertex` additions of matrices of size 1, then of four products of size 1.7;
            // weights below 1e-4 are left out.
            let tolerance = f64::from(f32::EPSILON) * (per_vertex as f64 + 8.0) * 2.0;
            let dropped = if per_vertex > 1 { 1e-4 * 3.5 } else { 0.0 };
            let error = (vertices.positions[vertex].cast::<f64>() - expected).norm();
            let has_small = influences.weights[vertex * per_vertex..][..per_vertex]
                .iter()
                .any(|weight| *weight < 1e-4 * per_vertex as f32);
            assert!(
                error < tolerance + if has_small { dropped } else { 0.0 },
                "{per_vertex}: {error}"
            );
            let turned = linear * mesh.rest.normals[vertex].cast::<f64>();
            let error = (vertices.normals[vertex].cast::<f64>() - turned.normalize()).norm();
            let bound = (tolerance + if has_small { dropped } else { 0.0 }) / turned.norm();
            assert!(error < 2.0 * bound, "{per_vertex}: {error}");
        }
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let (mesh, influences) = random_mesh(777, 40, 4, 5);
    let best = bind(&mesh, 40, &influences, &[]);
    let baseline = best.clone().with_level(Level::baseline());
    let mut palette = rigid_palette(40, 6);
    for stretched in [false, true] {
        if stretched {
            let linear = Mat3::new(1.0, 0.2, 0.0, 0.0, 2.0, 0.0, 0.3, 0.0, 0.5);
            palette.set(
                3,
                Affine {
                    linear,
                    ..Affine::IDENTITY
                },
            );
        }
        assert_eq!(skinned(&best, &palette), skinned(&baseline, &palette));
    }
}

#[test]
fn large_meshes_are_the_same_for_any_number_of_threads_and_one_by_one() {
    let (mesh, influences) = random_mesh(40_000, 12, 2, 8);
    let skin = bind(&mesh, 12, &influences, &[]);
    let palette = rigid_palette(12, 9);
    let skin_on = |threads| {
        let mut blocks = VertexBlocks::new(skin.vertex_count());
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap()
            .install(|| skin.linear(skin.rest(), &palette, &mut blocks));
        blocks
    };
    let blocks = skin_on(1);
    assert_eq!(skin_on(3), blocks);
    for vertex in (0..skin.vertex_count()).step_by(61) {
        let (position, normal) = skin.linear_vertex(vertex, skin.rest(), &palette);
        assert_eq!(position, blocks.position(vertex));
        assert_eq!(normal, blocks.normal(vertex));
    }
}

/// A bumpy sheet over [0, 1]², 17 × 17 vertices, all with the same influences, and its geometric normals.
fn sheet(influences: (Vec<u16>, Vec<f32>)) -> (Mesh, Influences) {
    const SIDE: usize = 17;
    let mut mesh = Mesh::default();
    for v in 0..SIDE {
        for u in 0..SIDE {
            let (x, z) = (u as f32 / 16.0, v as f32 / 16.0);
            // y = x² - x z / 2 has the upward normal (-2x + z/2, 1, x/2).
            mesh.rest
                .positions
                .push(Vec3::new(x, x * x - 0.5 * x * z, z));
            mesh.rest
                .normals
                .push(Vec3::new(-2.0 * x + 0.5 * z, 1.0, 0.5 * x).normalize());
        }
    }
    let (joints, weights) = influences;
    let count = mesh.vertex_count();
    let influences = Influences {
        per_vertex: joints.len(),
        joints: joints.repeat(count),
        weights: weights.repeat(count),
    };
    (mesh, influences)
}

/// The largest cosine between a skinned normal and the two tangents of the surface there, moved by the blended matrix.
fn worst_slant(mesh: &Mesh, influences: &Influences, palette: &Palette) -> f64 {
    let skin = bind(mesh, palette.len(), influences, &[]);
    let vertices = skinned(&skin, palette);
    let mut worst: f64 = 0.0;
    for (vertex, rest) in mesh.rest.positions.iter().enumerate() {
        let (linear, _) = blended(influences, vertex, palette);
        let rest = rest.cast::<f64>();
        let tangents = [
            Vec3::new(1.0, (2.0 * rest.x - 0.5 * rest.z) as f32, 0.0),
            Vec3::new(0.0, (-0.5 * rest.x) as f32, 1.0),
        ];
        let normal = vertices.normals[vertex].cast::<f64>();
        for tangent in tangents {
            let tangent = (linear * tangent.cast::<f64>()).normalize();
            worst = worst.max(normal.dot(&tangent).abs());
        }
        let outward = linear * mesh.rest.normals[vertex].cast::<f64>();
        assert!(
            normal.dot(&outward) > 0.0,
            "normal of vertex {vertex} points inward"
        );
    }
    worst
}

fn scaled(x: f32, y: f32, z: f32) -> Affine {
    let turn = quat::from_axis_angle(Vec3::new(1.0, -1.0, 2.0).normalize(), 0.9);
    Affine::from(Transform::from_rotation(turn))
        * Affine::from(Transform {
            scale: Vec3::new(x, y, z),
            ..Transform::IDENTITY
        })
}

#[test]
fn normals_stay_perpendicular_under_uneven_scale_shear_and_mirrors() {
    let shear = Affine {
        linear: Mat3::new(1.0, 0.7, 0.0, 0.0, 1.0, -0.4, 0.0, 0.0, 1.0),
        ..Affine::IDENTITY
    };
    let single = (vec![0], vec![1.0]);
    for matrix in [
        scaled(1.0, 3.0, 0.5),
        shear,
        scaled(-1.0, 1.0, 1.0),
        scaled(-1.0, 2.0, 1.0),
        scaled(-2.0, -2.0, -2.0),
    ] {
        let (mesh, influences) = sheet(single.clone());
        let mut palette = Palette::new(1);
        palette.set(0, matrix);
        // Cofactors of entries up to 3 carry a few roundings of size 9, divided by a length of at least 0.5.
        let slant = worst_slant(&mesh, &influences, &palette);
        assert!(
            slant < 64.0 * f64::from(f32::EPSILON),
            "{matrix:?}: {slant}"
        );
    }
}

#[test]
fn normals_follow_the_inverse_transpose_of_the_blended_matrix() {
    let (mesh, influences) = sheet((vec![0, 1, 2], vec![0.5, 0.3, 0.2]));
    let mut palette = rigid_palette(3, 4);
    palette.set(1, scaled(1.0, 2.5, 0.8));
    let slant = worst_slant(&mesh, &influences, &palette);
    assert!(slant < 64.0 * f64::from(f32::EPSILON), "{slant}");
}

#[test]
fn scales_too_even_for_cofactors_turn_normals_by_less_than_a_milliradian() {
    let (mesh, influences) = sheet((vec![0], vec![1.0]));
    for uneven in [1.0, 1.0002, 1.0005, 1.001, 1.01] {
        let mut palette = Palette::new(1);
        palette.set(0, scaled(1.0, uneven, 1.0));
        let slant = worst_slant(&mesh, &influences, &palette);
        assert!(slant < 1e-3, "{uneven}: {slant}");
    }
}

#[test]
fn a_blend_of_mirrored_and_proper_joints_keeps_normals_perpendicular() {
    let (mesh, influences) = sheet((vec![0, 1], vec![0.7, 0.3]));
    let mut palette = Palette::new(2);
    palette.set(
        1,
        Affine {
            linear: Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0)),
            ..Affine::IDENTITY
        },
    );
    let slant = worst_slant(&mesh, &influences, &palette);
    assert!(slant < 64.0 * f64::from(f32::EPSILON), "{slant}");
}

#[test]
fn collapsed_matrices_give_finite_unit_normals() {
    let (mesh, influences) = random_mesh(50, 2, 2, 11);
    let skin = bind(&mesh, 2, &influences, &[]);
    for linear in [
        Mat3::zeros(),
        Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 0.0)),
        Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 1.0)),
    ] {
        let mut palette = Palette::new(2);
        (0..2).for_each(|place| {
            palette.set(
                place,
                Affine {
                    linear,
                    ..Affine::IDENTITY
                },
            )
        });
        let vertices = skinned(&skin, &palette);
        for normal in &vertices.normals {
            assert!(
                (normal.norm() - 1.0).abs() < 4.0 * f32::EPSILON,
                "{linear}: {normal}"
            );
        }
    }
}

#[test]
fn the_palette_is_global_times_bind() {
    let (skeleton, joints) = joints(5);
    let mut numbers = Numbers::new(12);
    let mut globals = Globals::new(&skeleton);
    let mut affine = || {
        Affine::from(Transform {
            translation: numbers.vector(),
            rotation: numbers.rotation(),
            scale: numbers.vector(),
        })
    };
    let binds: Vec<Affine> = joints.iter().map(|_| affine()).collect();
    joints
        .iter()
        .for_each(|joint| globals.set(*joint, affine()));
    // The skin lists its joints in another order than the skeleton, and one of them twice.
    let listed = [joints[3], joints[0], joints[4], joints[3]];
    let binds = &binds[..4];
    let mesh = cloud(vec![Vec3::x()], vec![Vec3::y()]);
    let skin = SkinnedMesh::new(&mesh, &listed, binds, &Influences::rigid(1), &[]).unwrap();
    let mut palette = Palette::new(4);
    skin.palette(&globals, &mut palette);
    for (place, (joint, bind)) in listed.iter().zip(binds).enumerate() {
        let expected = globals.get(*joint) * *bind;
        let found = palette.get(place);
        // Four products of numbers below 2.
        let tolerance = 16.0 * f32::EPSILON;
        assert!((found.linear - expected.linear).amax() < tolerance);
        assert!((found.translation - expected.translation).amax() < tolerance);
        assert_eq!(palette.slots()[place].0[3], [0.0, 0.0, 0.0, 1.0]);
    }
}

#[test]
fn two_skins_bind_the_same_joint_differently() {
    let (skeleton, joints) = joints(4);
    let mesh = cloud(vec![Vec3::zeros()], vec![Vec3::y()]);
    let mut globals = Globals::new(&skeleton);
    globals.set(joints[3], Transform::from_translation(Vec3::x()).into());
    for bind in [Vec3::zeros(), Vec3::y()] {
        let joint_from_bind = [Transform::from_translation(bind).into()];
        let skin = SkinnedMesh::new(
            &mesh,
            &joints[3..],
            &joint_from_bind,
            &Influences::rigid(1),
            &[],
        )
        .unwrap();
        let mut palette = Palette::new(1);
        skin.palette(&globals, &mut palette);
        assert_eq!(skinned(&skin, &palette).positions, [Vec3::x() + bind]);
    }
}

#[test]
fn spare_lanes_repeat_the_last_vertex() {
    let (mesh, influences) = random_mesh(11, 5, 3, 13);
    let skin = bind(&mesh, 5, &influences, &[]);
    let mut blocks = VertexBlocks::new(11);
    skin.linear(skin.rest(), &rigid_palette(5, 14), &mut blocks);
    for part in blocks.blocks()[1]
        .position
        .iter()
        .chain(&blocks.blocks()[1].normal)
    {
        assert_eq!(part[3..], [part[2]; 5]);
    }
}
