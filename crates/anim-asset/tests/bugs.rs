//! Files that reproduce bugs seen in other engines, with what is right.

#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use anim_asset::{Document, SurfaceSpec, load};
use anim_math::nalgebra::{Vector3, Vector4};
use anim_skeleton::{ClipSpec, Pose};

use common::reference;
use serde_json::Value;

/// Expected values are written with six decimals, of positions below 100.
const TOLERANCE: f64 = 5e-6;

/// The document and the expected values of bug `number`.
fn open(number: &str) -> Option<(Document, Value)> {
    let bugs = common::beside_data("bugs")?;
    let starts = format!("{number}-");
    let directory = std::fs::read_dir(bugs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(&starts)
        })
        .unwrap();
    let file = common::files(&directory, &[".glb"]).remove(0);
    let expected = common::json(&directory.join("expected.json"));
    Some((load(&file).unwrap(), expected))
}

fn clip(document: &Document) -> Option<&ClipSpec> {
    document.clips.first()
}

fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    std::array::from_fn(|at| value[at].as_f64().unwrap())
}

/// Compares local transforms and world positions of nodes.
fn check_samples(document: &Document, expected: &Value) {
    let skeleton = document.skeleton().unwrap();
    for sample in expected["samples"].as_array().unwrap() {
        let time = sample["t"].as_f64().unwrap() as f32;
        let node = sample["node"].as_u64().unwrap() as usize;
        let mut pose = Pose::identity(skeleton.len());
        clip(document).unwrap().sample(&skeleton, time, &mut pose);
        let found = pose.get(skeleton.joint(node));
        let rotation = found.rotation.coords.cast::<f64>();
        assert!((rotation.norm() - 1.0).abs() < 1e-6, "{time} s: {rotation}");
        let expected_rotation = Vector4::from(numbers::<4>(&sample["rotation"]));
        let near = |a: Vector4<f64>| (a - expected_rotation).norm() < TOLERANCE;
        assert!(near(rotation) || near(-rotation), "{time} s: {rotation}");
        let near = |found: Vector3<f64>, name: &str| {
            let error = (found - Vector3::from(numbers::<3>(&sample[name]))).norm();
            assert!(error < TOLERANCE, "{time} s, node {node}: {name} {found}");
        };
        near(found.translation.cast(), "translation");
        near(found.scale.cast(), "scale");
        let world = reference::worlds(document, clip(document), time)[node];
        near(world.fixed_view::<3, 1>(0, 3).into_owned(), "world_pos");
    }
}

/// Compares positions, and normals where there are some, of the first primitive at `node`.
fn check_vertices(document: &Document, node: usize, expected: &Value) {
    let surface = SurfaceSpec {
        node,
        mesh: document.nodes[node].mesh.unwrap(),
        primitive: 0,
        skin: document.nodes[node].skin,
    };
    for sample in expected.as_array().unwrap() {
        let time = sample["t"].as_f64().unwrap() as f32;
        let worlds = reference::worlds(document, clip(document), time);
        let weights = reference::weights(document, clip(document), time, node);
        let vertices = reference::vertices(document, surface, &worlds, &weights);
        for (vertex, expected) in sample["positions"].as_object().unwrap() {
            let (found, _) = vertices[vertex.parse::<usize>().unwrap()];
            let error = (found - Vector3::from(numbers::<3>(expected))).norm();
            assert!(error < TOLERANCE, "{time} s, vertex {vertex}: {found}");
        }
        let normals = sample.get("normals").and_then(Value::as_object);
        for (vertex, expected) in normals.into_iter().flatten() {
            let (_, found) = vertices[vertex.parse::<usize>().unwrap()];
            let error = (found - Vector3::from(numbers::<3>(expected))).norm();
            assert!(
                error < TOLERANCE,
                "{time} s, vertex {vertex}: normal {found}"
            );
        }
    }
}

/// The node that carries a mesh.
fn mesh_node(document: &Document) -> usize {
    let has_mesh = |node: &anim_asset::Node| node.mesh.is_some();
    document.nodes.iter().position(has_mesh).unwrap()
}

fn named(document: &Document, name: &str) -> usize {
    let has_name = |node: &anim_asset::Node| node.name.as_deref() == Some(name);
    document.nodes.iter().position(has_name).unwrap()
}

#[test]
fn cubic_rotations_are_normalised() {
    if let Some((document, expected)) = open("01") {
        check_samples(&document, &expected);
    }
}

#[test]
fn cubic_tangents_are_velocities() {
    if let Some((document, expected)) = open("02") {
        check_samples(&document, &expected);
    }
}

#[test]
fn normalised_integers_are_fractions() {
    if let Some((document, expected)) = open("04") {
        check_samples(&document, &expected);
        check_vertices(&document, mesh_node(&document), &expected["skinned"]);
    }
}

#[test]
fn absent_bind_matrices_are_identities() {
    if let Some((document, expected)) = open("06") {
        check_vertices(&document, mesh_node(&document), &expected["rest"]);
    }
}

#[test]
fn the_node_of_a_skinned_mesh_does_not_move_it() {
    if let Some((document, expected)) = open("07") {
        check_vertices(&document, mesh_node(&document), &expected["rest"]);
    }
}

#[test]
fn bad_weights_are_named_by_vertex() {
    let Some((document, _)) = open("09") else {
        return;
    };
    let check = |code: &str, vertex: usize| {
        let starts = format!("vertex {vertex}:");
        let names = |finding: &anim_asset::Finding| {
            finding.code == code && finding.message.starts_with(&starts)
        };
        assert!(document.findings.iter().any(names), "{code} of {vertex}");
    };
    check("ACCESSOR_WEIGHTS_NON_NORMALIZED", 1);
    check("ACCESSOR_WEIGHTS_NON_NORMALIZED", 2);
    check("ACCESSOR_WEIGHTS_NEGATIVE", 3);
    check("ACCESSOR_JOINTS_INDEX_DUPLICATE", 4);
    check("ACCESSOR_INVALID_FLOAT", 5);
    let of_vertex_0 = |finding: &anim_asset::Finding| finding.message.starts_with("vertex 0:");
    assert!(!document.findings.iter().any(of_vertex_0));
    let influences = document.meshes[0].primitives[0]
        .influences
        .as_ref()
        .unwrap();
    assert!(influences.weights.iter().all(|weight| weight.is_finite()));
}

#[test]
fn joints_past_255_keep_their_index() {
    if let Some((document, expected)) = open("10") {
        check_vertices(&document, mesh_node(&document), &expected["skinned"]);
    }
}

#[test]
fn every_node_has_its_own_morph_weights() {
    if let Some((document, expected)) = open("12") {
        for name in ["A", "B", "B2"] {
            check_vertices(&document, named(&document, name), &expected[name]);
        }
    }
}

#[test]
fn targets_without_normals_leave_normals_alone() {
    if let Some((document, expected)) = open("13") {
        check_vertices(&document, mesh_node(&document), &expected["samples"]);
    }
}

#[test]
fn what_is_not_animated_rests() {
    if let Some((document, expected)) = open("15") {
        check_samples(&document, &expected);
    }
}

#[test]
fn keys_of_either_sign_turn_the_short_way() {
    if let Some((document, expected)) = open("16") {
        check_samples(&document, &expected);
    }
}
