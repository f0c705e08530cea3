//! Documents that other programs wrote carelessly, made into characters.
#![cfg(feature = "asset")]

use anim_asset::{Document, MeshSpec, Node, Primitive};
use anim_engine::geom::{Mesh, Vertices};
use anim_engine::math::{Transform, Vec3};
use anim_engine::skeleton::BakeOptions;
use anim_engine::skeleton::driver::{Breathe, DriverSpec};
use anim_engine::{Character, EngineError, asset};

/// One mesh of `vertices` at `nodes` places.
fn shared(vertices: usize, nodes: usize) -> Document {
    let rest = Vertices {
        positions: (0..vertices).map(|v| Vec3::x() * v as f32).collect(),
        normals: vec![Vec3::y(); vertices],
    };
    let mesh = Mesh {
        rest,
        ..Mesh::default()
    };
    let primitive = Primitive {
        mesh,
        ..Primitive::default()
    };
    let mesh = MeshSpec {
        primitives: vec![primitive],
        ..MeshSpec::default()
    };
    let node = Node {
        mesh: Some(0),
        ..Node::default()
    };
    Document {
        nodes: vec![node; nodes],
        meshes: vec![mesh],
        ..Document::default()
    }
}

#[test]
fn nodes_may_share_a_mesh_but_not_fill_the_memory_with_it() {
    let options = BakeOptions::default();
    let character = Character::from_document(&shared(1000, 10), &options).unwrap();
    assert_eq!(character.surfaces().len(), 10);
    // The first thousand vertices are the file's own.
    let refused = Character::from_document(&shared(200_000, 60_000), &options);
    assert!(matches!(
        refused,
        Err(EngineError::TooManyVertices { node: 11, .. })
    ));
}

#[test]
fn the_drivers_of_a_document_are_those_of_its_character() {
    let mut document = asset::builtin::humanoid();
    let chest = Breathe {
        output: true,
        ..Breathe::new(0)
    };
    document.drivers = vec![DriverSpec::new("breath", chest)];
    let character = Character::from_document(&document, &BakeOptions::default()).unwrap();
    assert_eq!(character.drivers().names(), ["breath"]);
    document.drivers = vec![DriverSpec::new("breath", Breathe::new("nobody"))];
    let refused = Character::from_document(&document, &BakeOptions::default());
    assert!(matches!(refused, Err(EngineError::Driver(_))));
}

#[test]
fn clips_are_as_exact_as_the_character_is_large() {
    let document = asset::builtin::humanoid();
    let human = Character::bake_options(&document).unwrap();
    assert!((0.0003..0.0008).contains(&human.tolerance), "{human:?}");
    let mut giant = document.clone();
    for node in giant.nodes.iter_mut().filter(|node| node.parent.is_none()) {
        node.rest.scale *= 100.0;
    }
    let giant = Character::bake_options(&giant).unwrap();
    let ratio = giant.tolerance / human.tolerance;
    assert!((ratio - 100.0).abs() < 1e-2, "{ratio}");
}

#[test]
fn many_clips_share_the_memory_that_stray_keys_may_take() {
    let mut document = Document {
        nodes: vec![Node {
            rest: Transform::IDENTITY,
            ..Node::default()
        }],
        ..Document::default()
    };
    let one = Character::bake_options(&document).unwrap();
    assert_eq!(one, BakeOptions::default());
    document.clips = vec![Default::default(); 1000];
    let each = Character::bake_options(&document).unwrap().spare_bytes;
    assert_eq!(each, 64 * 1024 * 1024 / 1000);
}
