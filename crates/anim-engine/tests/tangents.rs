//! Tangents of surfaces that are normal-mapped, frame by frame: skinned, morphed and simulated.
#![cfg(feature = "asset")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail by panicking"
)]

mod common;

use std::sync::Arc;

use anim_asset::{Document, TangentSpec};
use anim_engine::geom::Vertices;
use anim_engine::math::{Transform, Vec3, quat};
use anim_engine::sim::cloth::ClothSpec;
use anim_engine::skeleton::BakeOptions;
use anim_engine::skin::tangents::TangentTarget;
use anim_engine::skin::{MorphTarget, SkinError};
use anim_engine::{
    ActorId, Character, ClothOptions, Deform, Engine, EngineError, Pins, SurfaceTangents, asset,
};

/// Perpendicular to a normal, and of either handedness.
fn tangent(vertex: usize, normal: &Vec3) -> [f32; 4] {
    let mut across = Vec3::zeros();
    across[normal.iamin()] = 1.0;
    let [x, y, z] = normal.cross(&across).normalize().into();
    [x, y, z, if vertex.is_multiple_of(3) { -1.0 } else { 1.0 }]
}

/// The person with tangents on the primitives that `choose` picks.
fn person(choose: impl Fn(usize, usize) -> bool) -> Document {
    let mut document = asset::builtin::humanoid();
    for (mesh, spec) in document.meshes.iter().enumerate() {
        for (number, primitive) in spec.primitives.iter().enumerate() {
            if choose(mesh, number) {
                let normals = primitive.mesh.rest.normals.iter().enumerate();
                document.tangents.push(TangentSpec {
                    mesh,
                    primitive: number,
                    rest: normals.map(|(vertex, n)| tangent(vertex, n)).collect(),
                    targets: Vec::new(),
                });
            }
        }
    }
    document
}

fn engine_with(character: Character) -> (Engine, ActorId) {
    let mut engine = common::engine(1);
    let id = engine.spawn(Arc::new(character));
    (engine, id)
}

#[test]
fn they_lie_on_the_surface_in_every_frame_whatever_moves_it() {
    let document = person(|_, primitive| primitive == 0);
    let count = document.meshes[0].primitives[0].mesh.vertex_count();
    let shares: Vec<f32> = (0..count).map(|vertex| (vertex % 5) as f32 / 4.0).collect();
    for (deform, region) in [
        (Deform::Linear, None),
        (Deform::DualQuaternion, None),
        (Deform::DeltaMush, None),
        (Deform::Linear, Some(Deform::DualQuaternion)),
    ] {
        let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
        let mut character = character.with_deformer(deform).unwrap();
        if let Some(region) = region {
            character = character.with_region(0, region, &shares).unwrap();
        }
        let (mut engine, id) = engine_with(character);
        engine.actor_mut(id).unwrap().play_clip(0);
        for _ in 0..10 {
            engine.step(0.1);
            let actor = engine.actor(id).unwrap();
            for (index, surface) in actor.character().surfaces().iter().enumerate() {
                assert_eq!(actor.tangents(index).is_some(), surface.source.1 == 0);
                let Some(tangents) = actor.tangents(index) else {
                    continue;
                };
                let rest = surface.tangents.as_ref().unwrap().rest();
                for vertex in 0..tangents.len() {
                    let [x, y, z, handedness] = tangents.tangent(vertex);
                    let tangent = Vec3::new(x, y, z);
                    let normal = actor.surfaces()[index].normal(vertex);
                    assert!((tangent.norm() - 1.0).abs() < 1e-6);
                    assert!(tangent.dot(&normal).abs() < 1e-5, "{deform:?} {vertex}");
                    assert_eq!(handedness, rest.tangent(vertex)[3], "no joint mirrors");
                }
            }
        }
    }
}

#[test]
fn a_turned_joint_turns_them() {
    let document = person(|_, _| true);
    let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
    let (mut engine, id) = engine_with(character);
    let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.2);
    let actor = engine.actor_mut(id).unwrap();
    let skeleton = actor.character().skeleton();
    let mut pose = skeleton.rest().clone();
    let root = skeleton.joint(0);
    pose.set_rotation(root, turn * pose.rotation(root));
    actor.layers = vec![anim_engine::ActorLayer::new(
        anim_engine::LayerSource::Live(pose),
    )];
    engine.step(0.0);
    let actor = engine.actor(id).unwrap();
    for (index, surface) in actor.character().surfaces().iter().enumerate() {
        let rest = surface.tangents.as_ref().unwrap().rest();
        for vertex in 0..rest.len() {
            let direction = |[x, y, z, _]: [f32; 4]| Vec3::new(x, y, z);
            let expected = turn * direction(rest.tangent(vertex));
            let found = direction(actor.tangents(index).unwrap().tangent(vertex));
            assert!((found - expected).norm() < 1e-5, "{index} {vertex}");
        }
    }
}

#[test]
fn targets_displace_them_with_the_weights_of_the_frame() {
    let mut document = person(|mesh, primitive| (mesh, primitive) == (0, 0));
    let count = document.meshes[0].primitives.len();
    for primitive in 0..count {
        document.meshes[0].primitives[primitive].targets = vec![MorphTarget::default(); 2];
    }
    document.meshes[0].weights = vec![0.0; 2];
    let rest = document.tangents[0].rest.clone();
    let normals = document.meshes[0].primitives[0].mesh.rest.normals.clone();
    // Half of it turns by 45 degrees about the normal.
    let bitangent = |vertex: usize| {
        let [x, y, z, _] = rest[vertex];
        normals[vertex].cross(&Vec3::new(x, y, z))
    };
    document.tangents[0].targets = vec![
        TangentTarget::default(),
        TangentTarget {
            vertices: vec![7],
            tangents: vec![2.0 * bitangent(7)],
        },
    ];
    let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
    let (mut engine, id) = engine_with(character);
    engine.actor_mut(id).unwrap().morph_weights[1] = 0.5;
    engine.step(0.0);
    let actor = engine.actor(id).unwrap();
    let surface = &actor.character().surfaces()[0];
    let mut found = Vec::new();
    let tangents = actor.tangents(0).unwrap();
    surface.mesh.tangents_to_source_order(tangents, &mut found);
    for (vertex, found) in found.iter().enumerate() {
        let [x, y, z, handedness] = rest[vertex];
        let tangent = Vec3::new(x, y, z);
        let turned = (tangent + bitangent(7)).normalize();
        let expected = if vertex == 7 { turned } else { tangent };
        let [x, y, z, sign] = *found;
        assert!((Vec3::new(x, y, z) - expected).norm() < 1e-5, "{vertex}");
        assert_eq!(sign, handedness);
    }
}

#[test]
fn lists_that_do_not_fit_are_told() {
    let document = person(|_, _| false);
    let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
    let mesh = &character.surfaces()[0].mesh;
    let rest = vec![[1.0, 0.0, 0.0, 1.0]; mesh.vertex_count()];
    let moving = TangentTarget {
        vertices: vec![0],
        tangents: vec![Vec3::x()],
    };
    assert_eq!(
        SurfaceTangents::new(mesh, &rest, &[moving]).unwrap_err(),
        SkinError::TangentTargets {
            found: 1,
            expected: 0
        }
    );
    let mut document = person(|mesh, _| mesh == 0);
    document.tangents[0].rest.pop();
    let refused = Character::from_document(&document, &BakeOptions::default());
    assert!(matches!(
        refused,
        Err(EngineError::Skin {
            node: _,
            primitive: 0,
            ..
        })
    ));
}

/// ∂p/∂u of a triangle; the length does not matter.
fn along_u(points: [Vec3; 3], uvs: [[f32; 2]; 3]) -> Vec3 {
    let [a, b, c] = points;
    let [[ua, va], [ub, vb], [uc, vc]] = uvs;
    let (e, f) = (b - a, c - a);
    let area = (ub - ua) * (vc - va) - (uc - ua) * (vb - va);
    (e * (vc - va) - f * (vb - va)) / area
}

/// A cape whose tangents follow its texture at rest is thrown about for two seconds: they follow it still.
#[test]
fn a_cape_carries_them_with_its_texture() {
    let mut document = person(|_, _| false);
    let mut nodes = document.nodes.iter();
    let cape = nodes
        .position(|node| node.name.as_deref() == Some("cape"))
        .unwrap();
    let mesh = document.nodes[cape].mesh.unwrap();
    let source = document.meshes[mesh].primitives[0].mesh.clone();
    // What the texture says: the mean over the triangles at a vertex, laid on its normal.
    let by_texture = |vertices: &Vertices| -> Vec<Vec3> {
        let mut sums = vec![Vec3::zeros(); vertices.positions.len()];
        for triangle in &source.triangles {
            let points = triangle.map(|v| vertices.positions[v as usize]);
            let u = along_u(points, triangle.map(|v| source.uvs[v as usize]));
            triangle.iter().for_each(|v| sums[*v as usize] += u);
        }
        let flat = sums.iter().zip(&vertices.normals);
        flat.map(|(sum, n)| (sum - n * n.dot(sum)).normalize())
            .collect()
    };
    let rest = by_texture(&source.rest);
    document.tangents = vec![TangentSpec {
        mesh,
        primitive: 0,
        rest: rest.iter().map(|t| [t.x, t.y, t.z, -1.0]).collect(),
        targets: Vec::new(),
    }];
    let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
    let mut surfaces = character.surfaces().iter();
    let surface = surfaces.position(|s| s.source == (cape, 0)).unwrap();
    let character = character
        .with_cloth(ClothOptions {
            surface,
            pins: Pins::Top(0.06),
            material: ClothSpec::default(),
            substeps: 10,
            body: Vec::new(),
        })
        .unwrap();
    let (mut engine, id) = engine_with(character);
    engine.actor_mut(id).unwrap().play_clip(0);
    engine.world.wind = Vec3::new(4.0, 1.0, -3.0);
    let (mut off, mut off_by_joints, mut count) = (0.0, 0.0, 0);
    for frame in 0..120 {
        let turn = quat::from_axis_angle(Vec3::y(), (frame as f32 * 0.1).sin());
        engine.actor_mut(id).unwrap().placement = Transform::from_rotation(turn).into();
        engine.step(1.0 / 60.0);
        let actor = engine.actor(id).unwrap();
        let mesh = &actor.character().surfaces()[surface].mesh;
        let mut vertices = Vertices::default();
        mesh.to_source_order(&actor.surfaces()[surface], &mut vertices);
        let mut carried = Vec::new();
        mesh.tangents_to_source_order(actor.tangents(surface).unwrap(), &mut carried);
        // What the joints alone would make of them.
        let mut palette = mesh.palette_buffer();
        mesh.palette(actor.globals(), &mut palette);
        let at_rest = actor.character().surfaces()[surface].tangents.as_ref();
        let mut skinned = at_rest.unwrap().rest().clone();
        mesh.tangents(
            &skinned.clone(),
            &palette,
            &actor.surfaces()[surface],
            &mut skinned,
        );
        let expected = by_texture(&vertices);
        for (vertex, [x, y, z, handedness]) in carried.into_iter().enumerate() {
            assert_eq!(handedness, -1.0);
            let (tangent, normal) = (Vec3::new(x, y, z), vertices.normals[vertex]);
            assert!(tangent.dot(&normal).abs() < 1e-5 && (tangent.norm() - 1.0).abs() < 1e-6);
            let place = mesh.vertex_from_source()[vertex] as usize;
            let [x, y, z, _] = skinned.tangent(place);
            off += tangent.angle(&expected[vertex]);
            off_by_joints += Vec3::new(x, y, z).angle(&expected[vertex]);
            count += 1;
        }
    }
    let [off, off_by_joints] = [off, off_by_joints].map(|sum| (sum / count as f32).to_degrees());
    println!("mean angle from the texture: {off:.2} degrees, by the joints {off_by_joints:.2}");
    // One triangle's edges against the mean of six, on cells of 2 cm of a cloth that folds.
    assert!(off < 3.0, "{off}");
    assert!(off_by_joints > 5.0 * off, "{off_by_joints}");
}
