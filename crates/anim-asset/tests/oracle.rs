//! Against three.js: where it puts every node and every vertex of real files at some times.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken test should say where"
)]

mod common;

use std::path::Path;

use anim_asset::{Document, SurfaceSpec, load};
use anim_math::nalgebra::Vector3;
use anim_skeleton::ClipSpec;

use common::reference;
use serde_json::Value;

#[test]
fn nodes_and_vertices_are_where_three_js_puts_them() {
    let (Some(data), Some(oracle)) = (common::data(), common::beside_data("oracle")) else {
        return;
    };
    let files = common::files(&data, &[".gltf", ".glb"]);
    for path in common::files(&oracle, &[".json"]) {
        let expected = common::json(&path);
        let name = expected["file"].as_str().unwrap();
        let file = files
            .iter()
            .find(|file| file.file_name().unwrap() == name)
            .unwrap();
        let document = load(file).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let clip: usize = stem.rsplit('.').next().unwrap().parse().unwrap();
        check(&document, &document.clips[clip], &expected, &path);
    }
}

fn check(document: &Document, clip: &ClipSpec, expected: &Value, path: &Path) {
    // three.js makes up names for clips that have none.
    if let Some(name) = &clip.name {
        assert_eq!(Some(name.as_str()), expected["clip"].as_str());
    }
    assert_eq!(
        document.clips.len() as u64,
        expected["clips"].as_u64().unwrap()
    );
    let duration = expected["duration"].as_f64().unwrap();
    assert!((f64::from(clip.duration()) - duration).abs() < 1e-6);
    let (mut worst, mut compared) = (0.0_f64, 0);
    for sample in expected["samples"].as_array().unwrap() {
        let time = sample["time"].as_f64().unwrap() as f32;
        let worlds = reference::worlds(document, Some(clip), time);
        let size = size(sample);
        for (node, matrix) in sample["nodes"].as_object().unwrap() {
            let found = worlds[node.parse::<usize>().unwrap()];
            let expected = numbers(matrix);
            let columns = found.as_slice().chunks(4).zip(expected.chunks(4));
            for (column, (found, expected)) in columns.enumerate() {
                // The linear part has no length of its own; three of its columns meet the model's own coordinates.
                let size = if column == 3 {
                    size
                } else {
                    1.0_f64.max(norm(expected))
                };
                worst = worst.max(distance(found, expected) / size);
            }
            compared += 1;
        }
        for mesh in sample["meshes"].as_array().unwrap() {
            let node = mesh["node"].as_u64().unwrap() as usize;
            let surface = SurfaceSpec {
                node,
                mesh: document.nodes[node].mesh.unwrap(),
                primitive: mesh["primitive"].as_u64().unwrap() as usize,
                skin: document.nodes[node].skin,
            };
            let weights = reference::weights(document, Some(clip), time, node);
            let vertices = reference::vertices(document, surface, &worlds, &weights);
            assert_eq!(vertices.len() as u64, mesh["count"].as_u64().unwrap());
            let ids = mesh["ids"].as_array().unwrap();
            for (id, position) in ids.iter().zip(mesh["positions"].as_array().unwrap()) {
                let found = vertices[id.as_u64().unwrap() as usize].0;
                worst = worst.max(distance(found.as_slice(), &numbers(position)) / size);
                compared += 1;
            }
        }
    }
    println!("{}: {compared} compared, worst {worst:.1e}", path.display());
    // Some ten products of f32 numbers, each good to 6e-8, on either side.
    assert!(worst < 1e-5, "{}: {worst}", path.display());
}

/// The diagonal of the box around all vertices.
fn size(sample: &Value) -> f64 {
    let mut low = Vector3::repeat(f64::INFINITY);
    let mut high = -low;
    for mesh in sample["meshes"].as_array().unwrap() {
        for position in mesh["positions"].as_array().unwrap() {
            let position = Vector3::from_vec(numbers(position));
            low = low.inf(&position);
            high = high.sup(&position);
        }
    }
    (high - low).norm()
}

fn numbers(value: &Value) -> Vec<f64> {
    let elements = value.as_array().unwrap().iter();
    elements.map(|element| element.as_f64().unwrap()).collect()
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|c| c * c).sum::<f64>().sqrt()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&difference)
}
