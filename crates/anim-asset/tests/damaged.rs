//! Random and randomly damaged files: never a panic, and never a document that breaks its own promises.

#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use std::path::Path;

use anim_asset::gltf;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A small file with everything in it, as JSON and the bytes of its buffer.
fn sample() -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut views = Vec::new();
    let mut view = |data: &[u8], target: Option<u32>| {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        views.push(view);
        bytes.extend_from_slice(data);
    };
    let floats = |values: &[f32]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    view(
        &floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0., 1., 1., 0.]),
        Some(34962),
    );
    view(&[0, 0, 1, 0, 2, 0, 2, 0, 1, 0, 3, 0], Some(34963));
    view(
        &[0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
        Some(34962),
    );
    view(
        &[128, 127, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0],
        Some(34962),
    );
    view(&[1, 3], None);
    view(&floats(&[0., 0., 1., 0., 0., 2.]), None);
    view(&floats(&[0., 1., 2.]), None);
    view(
        &floats(&[
            0., 0., 0., 1., 0., 0., 0.5, 0.8660254, 0., 0., 0.8660254, 0.5,
        ]),
        None,
    );
    view(
        &floats(
            &[
                0., 0., 0., 1., 1., 1., 0., 0., 0., 2., 2., 2., 0., 0., 0., 3., 3., 3.,
            ]
            .repeat(2)[..27],
        ),
        None,
    );
    view(&floats(&[0., 0.5, 1.]), None);
    let mut matrix = [0.0; 16];
    [0, 5, 10, 15].iter().for_each(|at| matrix[*at] = 1.0);
    view(&floats(&[matrix, matrix].concat()), None);
    let root = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 2]}],
        "nodes": [
            {"name": "root", "children": [1], "translation": [0, 1, 0]},
            {"name": "tip", "rotation": [0, 0, 0, 1], "scale": [1, 2, 1]},
            {"mesh": 0, "skin": 0, "weights": [0.5]}
        ],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 10, "skeleton": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0, 1]}}],
        "meshes": [{
            "extras": {"targetNames": ["smile"]},
            "weights": [0],
            "primitives": [{
                "attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3},
                "indices": 1, "material": 0, "mode": 4,
                "targets": [{"POSITION": 4}]
            }]
        }],
        "animations": [{
            "channels": [
                {"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                {"sampler": 1, "target": {"node": 0, "path": "translation"}},
                {"sampler": 2, "target": {"node": 2, "path": "weights"}}
            ],
            "samplers": [
                {"input": 5, "output": 6},
                {"input": 5, "output": 7, "interpolation": "CUBICSPLINE"},
                {"input": 5, "output": 8, "interpolation": "STEP"}
            ]
        }],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": 6},
            {"bufferView": 2, "componentType": 5121, "type": "VEC4", "count": 4},
            {"bufferView": 3, "componentType": 5121, "type": "VEC4", "count": 4, "normalized": true},
            {"componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [0, 0, 2], "sparse": {
                "count": 2,
                "indices": {"bufferView": 4, "componentType": 5121},
                "values": {"bufferView": 5}
            }},
            {"bufferView": 6, "componentType": 5126, "type": "SCALAR", "count": 3, "min": [0], "max": [2]},
            {"bufferView": 7, "componentType": 5126, "type": "VEC4", "count": 3},
            {"bufferView": 8, "componentType": 5126, "type": "VEC3", "count": 9},
            {"bufferView": 9, "componentType": 5126, "type": "SCALAR", "count": 3},
            {},
            {"bufferView": 10, "componentType": 5126, "type": "MAT4", "count": 2}
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": bytes.len(), "uri": "sample.bin"}]
    });
    let mut root = root;
    root["accessors"][9] = json!({"componentType": 5121, "type": "MAT3", "count": 1});
    (root, bytes)
}

fn read(text: &[u8], bytes: &[u8]) -> Result<anim_asset::Document, anim_asset::AssetError> {
    let document = gltf::read(text, &mut |_| Ok(bytes.to_vec()))?;
    common::check(&document, &String::from_utf8_lossy(text));
    Ok(document)
}

/// Every place in a JSON value.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                pointers(element, &format!("{at}/{index}"), out);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &format!("{at}/{name}"), out);
            }
        }
        _ => {}
    }
}

/// Values that have broken readers.
fn nasty() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(7),
        json!(255),
        json!(65535),
        json!(1_000_000_000),
        json!(4_294_967_295_u32),
        json!(u64::MAX),
        json!(1e300),
        json!(-1e39),
        json!(0.5),
        json!(5120),
        json!(5122),
        json!(5125),
        json!([]),
        json!([0, 0, 0]),
        json!([1e38, 1e38, 1e38]),
        json!([0, 0, 0, 0]),
        json!({}),
        json!(""),
        json!("MAT2"),
        json!("MAT4"),
        json!("VEC4"),
        json!("CUBICSPLINE"),
        json!("weights"),
        json!("scale"),
        json!("data:;base64,AAAA"),
        json!({"POSITION": 4, "NORMAL": 0, "JOINTS_0": 2, "JOINTS_1": 2, "WEIGHTS_1": 3}),
    ])
}

#[test]
fn the_sample_itself_is_legal() {
    let (root, bytes) = sample();
    let document = read(root.to_string().as_bytes(), &bytes).unwrap();
    let worse = |finding: &&anim_asset::Finding| finding.severity < anim_asset::Severity::Info;
    assert_eq!(document.findings.iter().find(worse), None);
    assert_eq!(document.clips[0].channels.len(), 2);
    assert_eq!(document.clips[0].morphs.len(), 1);
    let primitive = &document.meshes[0].primitives[0];
    assert_eq!(primitive.targets[0].vertices, [1, 3]);
    assert_eq!(primitive.targets[0].name.as_deref(), Some("smile"));
    assert_eq!(primitive.color, [1.0, 0.5, 0.0]);
    assert_eq!(primitive.mesh.triangles, [[0, 1, 2], [2, 1, 3]]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), glb in any::<bool>()) {
        let magic = if glb { b"glTF\x02\0\0\0".as_slice() } else { b"{" };
        let file = [magic, &bytes].concat();
        prop_assert!(read(&file, &[]).is_err());
    }

    #[test]
    fn a_sample_with_other_values_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), nasty()), 1..4),
    ) {
        let (mut root, bytes) = sample();
        for (place, value) in changes {
            let mut places = Vec::new();
            pointers(&root, "", &mut places);
            *root.pointer_mut(&places[place.index(places.len())]).unwrap() = value;
        }
        let _ = read(root.to_string().as_bytes(), &bytes);
    }

    #[test]
    fn a_sample_with_other_bytes_never_panics(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        cut in any::<prop::sample::Index>(),
    ) {
        let (root, bytes) = sample();
        let mut text = root.to_string().into_bytes();
        let mut data = bytes.clone();
        for (place, value) in &changes {
            let place = place.index(text.len() + data.len());
            match place.checked_sub(text.len()) {
                Some(place) => data[place] = *value,
                None => text[place] = *value,
            }
        }
        let _ = read(&text, &data);
        let _ = read(root.to_string().as_bytes(), &bytes[..cut.index(bytes.len())]);
    }
}

#[test]
fn real_files_with_other_bytes_never_panic() {
    let Some(data) = common::data() else {
        return;
    };
    let is_small = |file: &Path| std::fs::metadata(file).unwrap().len() < 40_000;
    let mut files = common::files(&data, &[".gltf", ".glb"]);
    files.extend(common::files(&data.join("../bugs"), &[".glb"]));
    // A linear congruential generator: the same damage every time.
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for file in files.iter().filter(|file| is_small(file)) {
        let original = std::fs::read(file).unwrap();
        if original.is_empty() {
            continue;
        }
        for _ in 0..20 {
            let mut damaged = original.clone();
            for _ in 0..1 + random(4) {
                let at = random(damaged.len());
                damaged[at] = random(256) as u8;
            }
            if random(4) == 0 {
                damaged.truncate(random(damaged.len()));
            }
            let mut beside = |uri: &str| {
                let path = file.parent().unwrap().join(uri);
                std::fs::read(path).map_err(|error| error.to_string())
            };
            if let Ok(document) = gltf::read(&damaged, &mut beside) {
                common::check(&document, &file.display().to_string());
            }
        }
    }
}
