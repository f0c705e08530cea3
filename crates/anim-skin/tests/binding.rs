//! What binding a mesh makes of good, bad and hostile data.

mod common;

use anim_geom::{GeomError, Mesh, Vertices};
use anim_math::{Affine, Transform, Vec3};
use anim_skeleton::Globals;
use anim_skin::{
    Influences, MorphTarget, Palette, SkinError, SkinnedMesh, VertexBlocks, WeightFault,
};
use common::{bind, cloud, joints, random_mesh};
use proptest::prelude::*;

#[test]
fn every_bad_row_is_repaired_and_reported_by_vertex_and_kind() {
    let influences = Influences {
        per_vertex: 2,
        joints: vec![0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1],
        weights: vec![
            0.5,
            0.5,
            0.3,
            0.3,
            0.0,
            0.0,
            1.2,
            -0.2,
            0.6,
            0.4,
            f32::NAN,
            1.0,
        ],
    };
    let rest = (0..6).map(|x| Vec3::new(x as f32, 0.0, 0.0)).collect();
    let skin = bind(&cloud(rest, vec![Vec3::y(); 6]), 2, &influences, &[]);
    let faults = [
        (1, WeightFault::Sum),
        (2, WeightFault::Empty),
        (3, WeightFault::Negative),
        (3, WeightFault::Sum),
        (4, WeightFault::RepeatedJoint),
        (5, WeightFault::NotFinite),
    ];
    assert_eq!(skin.report().faults, faults);
    assert_eq!(skin.report().count(WeightFault::Sum), 2);

    let mut palette = Palette::new(2);
    palette.set(1, Transform::from_translation(4.0 * Vec3::y()).into());
    let mut blocks = VertexBlocks::new(6);
    skin.linear(skin.rest(), &palette, &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    let heights: Vec<f32> = vertices.positions.iter().map(|p| p.y).collect();
    assert_eq!(heights, [2.0, 2.0, 0.0, 0.0, 4.0, 4.0]);
}

#[test]
fn block_order_is_a_permutation_and_everything_follows_it() {
    let (mut mesh, influences) = random_mesh(203, 30, 4, 31);
    mesh.uvs = (0..203).map(|v| [v as f32, 0.5]).collect();
    mesh.triangles = vec![[0, 1, 2], [200, 201, 202], [5, 100, 150]];
    let skin = bind(&mesh, 30, &influences, &[]);
    let (to, from) = (skin.vertex_from_source(), skin.source_from_vertex());
    for (source, vertex) in to.iter().enumerate() {
        let vertex = *vertex as usize;
        assert_eq!(from[vertex] as usize, source);
        assert_eq!(skin.uvs()[vertex], mesh.uvs[source]);
        assert_eq!(skin.rest().position(vertex), mesh.rest.positions[source]);
    }
    for (found, source) in skin.triangles().iter().zip(&mesh.triangles) {
        assert_eq!(*found, source.map(|v| to[v as usize]));
    }
}

#[test]
fn vertices_of_one_joint_set_share_blocks() {
    // Two sets of 16 vertices each, interleaved in the source.
    let influences = Influences {
        per_vertex: 2,
        joints: [0, 1, 2, 3].repeat(16),
        weights: vec![0.5; 64],
    };
    let mesh = cloud(vec![Vec3::zeros(); 32], vec![Vec3::y(); 32]);
    let skin = bind(&mesh, 4, &influences, &[]);
    assert_eq!(skin.report().mean_joints_per_block, 2.0);
}

#[test]
fn a_mesh_without_vertices_is_a_skin_without_vertices() {
    let skin = bind(
        &Mesh::default(),
        2,
        &Influences::default(),
        &[MorphTarget::default()],
    );
    let mut blocks = VertexBlocks::new(0);
    skin.morph(&[1.0], &mut blocks);
    skin.linear(skin.rest(), &Palette::new(2), &mut blocks);
    let mut vertices = Vertices::default();
    skin.to_source_order(&blocks, &mut vertices);
    assert_eq!(vertices, Vertices::default());
    assert_eq!(skin.report().mean_joints_per_block, 0.0);
}

#[test]
fn influences_of_zero_weight_may_name_any_joint() {
    let influences = Influences {
        per_vertex: 2,
        joints: vec![1, u16::MAX],
        weights: vec![1.0, 0.0],
    };
    let skin = bind(
        &cloud(vec![Vec3::x()], vec![Vec3::y()]),
        2,
        &influences,
        &[],
    );
    assert!(skin.report().faults.is_empty());
}

#[test]
fn negligible_influences_are_left_out_and_counted() {
    let influences = Influences {
        per_vertex: 3,
        joints: vec![0, 1, 2],
        weights: vec![0.5, 5e-5, 0.49995],
    };
    let skin = bind(
        &cloud(vec![Vec3::x()], vec![Vec3::y()]),
        3,
        &influences,
        &[],
    );
    assert_eq!(skin.report().negligible, 1);
    assert_eq!(skin.report().mean_joints_per_block, 2.0);
    assert!(skin.report().faults.is_empty());
}

#[test]
fn wrong_data_are_errors_that_name_the_place() {
    let (_, joints) = joints(2);
    let mesh = cloud(vec![Vec3::x(); 3], vec![Vec3::y(); 3]);
    let binds = [Affine::IDENTITY; 2];
    let rigid = Influences::rigid(3);
    let build = |influences: &Influences, target: MorphTarget| {
        SkinnedMesh::new(&mesh, &joints, &binds, influences, &[target]).map(|_| ())
    };
    let target = |vertices: &[u32], positions: &[Vec3], normals: &[Vec3]| MorphTarget {
        name: None,
        vertices: vertices.to_vec(),
        positions: positions.to_vec(),
        normals: normals.to_vec(),
    };
    let none = MorphTarget::default;

    let empty = SkinnedMesh::new(&mesh, &[], &[], &rigid, &[]).map(|_| ());
    assert_eq!(empty, Err(SkinError::NoJoints));
    let short = SkinnedMesh::new(&mesh, &joints, &binds[..1], &rigid, &[]).map(|_| ());
    assert_eq!(
        short,
        Err(SkinError::BindCount {
            found: 1,
            joint_count: 2
        })
    );
    let mut broken = binds;
    broken[1].translation.x = f32::NAN;
    let broken = SkinnedMesh::new(&mesh, &joints, &broken, &rigid, &[]).map(|_| ());
    assert_eq!(
        broken,
        Err(SkinError::NotFinite {
            what: "bind matrix",
            index: 1
        })
    );
    let bare = Mesh {
        rest: Vertices {
            normals: vec![],
            ..mesh.rest.clone()
        },
        ..Mesh::default()
    };
    let bare = SkinnedMesh::new(&bare, &joints, &binds, &rigid, &[]).map(|_| ());
    let counts = GeomError::Count {
        what: "normals",
        found: 0,
        vertex_count: 3,
    };
    assert_eq!(bare, Err(SkinError::Mesh(counts)));

    let beyond = Influences {
        joints: vec![0, 2, 0],
        ..rigid.clone()
    };
    let error = SkinError::NoJoint {
        vertex: 1,
        joint: 2,
        joint_count: 2,
    };
    assert_eq!(build(&beyond, none()), Err(error));
    for (joints, weights, what, found) in [
        (4, 4, "joints", 4),
        (3, 2, "weights", 2),
        (0, 0, "joints", 0),
    ] {
        let influences = Influences {
            per_vertex: 1,
            joints: vec![0; joints],
            weights: vec![1.0; weights],
        };
        let error = SkinError::Count {
            what,
            found,
            vertex_count: 3,
        };
        assert_eq!(build(&influences, none()), Err(error));
    }

    let error = SkinError::TargetCount {
        target: 0,
        what: "positions",
        found: 1,
        expected: 2,
    };
    assert_eq!(
        build(&rigid, target(&[0, 1], &[Vec3::x()], &[])),
        Err(error)
    );
    let error = SkinError::TargetCount {
        target: 0,
        what: "normals",
        found: 2,
        expected: 1,
    };
    assert_eq!(
        build(&rigid, target(&[0], &[Vec3::x()], &[Vec3::x(); 2])),
        Err(error)
    );
    let error = SkinError::NoVertex {
        target: 0,
        vertex: 3,
        vertex_count: 3,
    };
    assert_eq!(build(&rigid, target(&[3], &[Vec3::x()], &[])), Err(error));
    let error = SkinError::NotFinite {
        what: "morph target",
        index: 0,
    };
    assert_eq!(
        build(&rigid, target(&[0], &[Vec3::x() * f32::INFINITY], &[])),
        Err(error)
    );
}

#[test]
fn a_rest_pose_without_binds_lands_on_the_joints() {
    let (skeleton, joints) = joints(2);
    let mesh = cloud(vec![Vec3::zeros()], vec![Vec3::y()]);
    let binds = [Affine::IDENTITY; 2];
    let influences = Influences {
        per_vertex: 1,
        joints: vec![1],
        weights: vec![1.0],
    };
    let skin = SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[]).unwrap();
    let mut globals = Globals::new(&skeleton);
    globals.set(joints[1], Transform::from_translation(Vec3::z()).into());
    let mut palette = Palette::new(2);
    skin.palette(&globals, &mut palette);
    let (position, normal) = skin.linear_vertex(0, skin.rest(), &palette);
    assert_eq!((position, normal), (Vec3::z(), Vec3::y()));
}

fn any_vector() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        8 => prop::array::uniform3(-10.0_f32..10.0),
        1 => prop::array::uniform3(any::<f32>()),
    ]
    .prop_map(Vec3::from)
}

prop_compose! {
    fn any_influences(vertex_count: usize)(per_vertex in 0_usize..6)(
        per_vertex in Just(per_vertex),
        joints in prop::collection::vec(prop_oneof![0_u16..5, any::<u16>()], vertex_count * per_vertex),
        weights in prop::collection::vec(
            prop_oneof![Just(0.0), 0.0_f32..2.0, any::<f32>(), Just(f32::MAX), Just(1e-45)],
            vertex_count * per_vertex,
        ),
        extra in prop_oneof![9 => Just(0_usize), 1 => 1_usize..4],
    ) -> Influences {
        let mut joints = joints;
        joints.extend(std::iter::repeat_n(0, extra));
        Influences { per_vertex, joints, weights }
    }
}

proptest! {
    #[test]
    fn hostile_influences_are_errors_or_skins_that_keep_the_rest_pose(
        influences in (0_usize..40).prop_flat_map(any_influences),
        joint_count in 1_usize..7,
    ) {
        let count = influences.weights.len().checked_div(influences.per_vertex).unwrap_or(9);
        let positions: Vec<Vec3> = (0..count).map(|v| Vec3::new(v as f32, 1.0, -3.5)).collect();
        let mesh = cloud(positions.clone(), vec![Vec3::y(); count]);
        let (_, joints) = joints(joint_count);
        let binds = vec![Affine::IDENTITY; joint_count];
        if let Ok(skin) = SkinnedMesh::new(&mesh, &joints, &binds, &influences, &[]) {
            let mut blocks = VertexBlocks::new(count);
            skin.linear(skin.rest(), &Palette::new(joint_count), &mut blocks);
            let mut vertices = Vertices::default();
            skin.to_source_order(&blocks, &mut vertices);
            prop_assert_eq!(vertices.positions, positions);
            prop_assert_eq!(vertices.normals, vec![Vec3::y(); count]);
        }
    }

    #[test]
    fn hostile_meshes_and_targets_are_errors_or_skins(
        positions in prop::collection::vec(any_vector(), 0..20),
        normals in prop::collection::vec(any_vector(), 0..20),
        triangle in prop::array::uniform3(0_u32..20),
        vertices in prop::collection::vec(0_u32..20, 0..8),
        deltas in prop::collection::vec(any_vector(), 0..8),
        weight in -2.0_f32..2.0,
    ) {
        let count = positions.len();
        let same = normals.len().min(deltas.len()).is_multiple_of(2);
        let normals = if same { vec![Vec3::y(); count] } else { normals };
        let mut mesh = cloud(positions, normals);
        mesh.triangles.push(triangle);
        let target = MorphTarget { name: None, vertices, positions: deltas.clone(), normals: deltas };
        let (_, joints) = joints(1);
        let rigid = Influences::rigid(count);
        if let Ok(skin) = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &rigid, &[target]) {
            let mut blocks = VertexBlocks::new(count);
            skin.morph(&[weight], &mut blocks);
            skin.linear(&blocks.clone(), &Palette::new(1), &mut blocks);
        }
    }
}
