//! `anim sample` agrees with three.js on every file and clip of the oracle.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::run::{anim, data, files};
use serde_json::Value;

/// Positions may differ by this part of the model's size, matrices by this much of their own.
///
/// Both programs compute in f32 through chains of a dozen products; files hold some five good digits.
const TOLERANCE: f64 = 1e-4;

#[test]
fn sample_agrees_with_three_js() {
    let Some(data) = data() else { return };
    let by_name: BTreeMap<String, PathBuf> = files(&data)
        .into_iter()
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .collect();
    let mut compared = 0;
    for path in files(&data.join("../oracle")) {
        let oracle: Value =
            serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
        let file = oracle["file"].as_str().expect("a name");
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        let clip = name.rsplit('.').next().expect("NAME.CLIP");
        compared += compare(&by_name[file], clip, &oracle);
    }
    println!("{compared} numbers agree");
    assert!(compared > 100_000, "{compared}");
}

fn compare(file: &PathBuf, clip: &str, oracle: &Value) -> usize {
    let samples = oracle["samples"].as_array().expect("samples");
    let times: Vec<String> = samples
        .iter()
        .map(|sample| sample["time"].to_string())
        .collect();
    let run = anim([
        "sample".as_ref(),
        file.as_os_str(),
        "--clip".as_ref(),
        clip.as_ref(),
        "--times".as_ref(),
        times.join(",").as_ref(),
        "--json".as_ref(),
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let ours = run.json();
    assert_eq!(ours["clips"], oracle["clips"]);
    assert_eq!(ours["clip"], oracle["clip"]);
    let duration = |value: &Value| value["duration"].as_f64().expect("a duration");
    assert!((duration(&ours) - duration(oracle)).abs() < 1e-6);
    let size = size(oracle);
    let mut compared = 0;
    let mut close = |ours: &Value, theirs: &Value, scale: f64, what: &dyn Fn() -> String| {
        let numbers = |value: &Value| -> Vec<f64> {
            let numbers = value.as_array().expect("numbers").iter();
            numbers
                .map(|number| number.as_f64().expect("a number"))
                .collect()
        };
        for (a, b) in numbers(ours).into_iter().zip(numbers(theirs)) {
            assert!(
                (a - b).abs() <= TOLERANCE * scale,
                "{}: {a} is not {b}",
                what()
            );
            compared += 1;
        }
    };
    for (index, theirs) in samples.iter().enumerate() {
        let ours = &ours["samples"][index];
        for (node, matrix) in theirs["nodes"].as_object().expect("nodes") {
            let scale = matrix
                .as_array()
                .expect("16")
                .iter()
                .map(|v| v.as_f64().expect("a number").abs());
            let scale = scale.fold(1.0, f64::max);
            close(&ours["nodes"][node], matrix, scale, &|| {
                format!("{file:?} sample {index} node {node}")
            });
        }
        for mesh in theirs["meshes"].as_array().expect("meshes") {
            let ours = ours["meshes"].as_array().expect("meshes").iter();
            let same =
                |m: &&Value| m["node"] == mesh["node"] && m["primitive"] == mesh["primitive"];
            let ours = ours
                .clone()
                .find(same)
                .unwrap_or_else(|| panic!("{file:?}: no mesh {}", mesh["node"]));
            assert_eq!(ours["count"], mesh["count"]);
            let ids = mesh["ids"].as_array().expect("ids").iter();
            for (id, position) in ids.zip(mesh["positions"].as_array().expect("positions")) {
                let ours = &ours["positions"][id.as_u64().expect("an id") as usize];
                close(ours, position, size, &|| {
                    format!("{file:?} sample {index} node {} vertex {id}", mesh["node"])
                });
            }
        }
    }
    compared
}

/// The largest extent of all positions.
fn size(oracle: &Value) -> f64 {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for sample in oracle["samples"].as_array().expect("samples") {
        for mesh in sample["meshes"].as_array().expect("meshes") {
            for position in mesh["positions"].as_array().expect("positions") {
                for axis in 0..3 {
                    let value = position[axis].as_f64().expect("a number");
                    low[axis] = low[axis].min(value);
                    high[axis] = high[axis].max(value);
                }
            }
        }
    }
    (0..3)
        .map(|axis| high[axis] - low[axis])
        .fold(0.0, f64::max)
}
