//! What the reader makes of each layout, and of each defect that leaves no doubt.

#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use anim_asset::{Document, Primitive};
use anim_curves::Interpolation;
use anim_math::{Quat, Vec3};
use anim_skeleton::{ClipSpec, JointTrack};
use common::build::{Build, errors};
use serde_json::{Value, json};

const FLOAT: u32 = 5126;
const SQUARE: [f64; 12] = [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.];

/// A file with one mesh of one primitive, positions first.
fn mesh(primitive: Value) -> Build {
    let mut build = Build::new(json!({"meshes": [{"primitives": [primitive]}]}));
    build.accessor("VEC3", FLOAT, &SQUARE);
    build
}

fn only(document: &Document) -> &Primitive {
    &document.meshes[0].primitives[0]
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn strips_and_fans_wind_like_lists() {
    let check = |mode: u32, expected: &[[u32; 3]]| {
        let primitive = json!({"attributes": {"POSITION": 0}, "mode": mode});
        let document = mesh(primitive).read().unwrap();
        assert_eq!(errors(&document), none());
        assert_eq!(only(&document).mesh.triangles, expected, "mode {mode}");
    };
    check(5, &[[0, 1, 2], [1, 3, 2]]);
    check(6, &[[1, 2, 0], [2, 3, 0]]);
    check(1, &[]);
    check(0, &[]);
}

#[test]
fn triangles_of_vertices_that_do_not_exist_are_left_out() {
    for code in [5121, 5123, 5125] {
        let mut build = mesh(json!({"attributes": {"POSITION": 0}, "indices": 1}));
        build.accessor("SCALAR", code, &[0., 1., 2., 0., 2., 9., 0., 2., 3.]);
        let document = build.read().unwrap();
        let place = "/meshes/0/primitives/0/indices";
        assert_eq!(errors(&document), [format!("ACCESSOR_INDEX_OOB@{place}")]);
        assert_eq!(only(&document).mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    }
}

#[test]
fn absent_normals_are_computed_and_broken_ones_replaced() {
    let indices = [0., 1., 2., 0., 2., 3.];
    let mut build = mesh(json!({"attributes": {"POSITION": 0}, "indices": 1}));
    build.accessor("SCALAR", 5121, &indices);
    let document = build.read().unwrap();
    assert_eq!(errors(&document), none());
    assert_eq!(only(&document).mesh.rest.normals, [Vec3::z(); 4]);

    let mut build = mesh(json!({"attributes": {"POSITION": 0, "NORMAL": 2}, "indices": 1}));
    build.accessor("SCALAR", 5121, &indices);
    build.accessor(
        "VEC3",
        FLOAT,
        &[0., 0., 0., 3., 0., 0., 0., 1., 0., 0., 1., 0.],
    );
    let document = build.read().unwrap();
    let expected = [Vec3::z(), Vec3::x(), Vec3::y(), Vec3::y()];
    assert_eq!(only(&document).mesh.rest.normals, expected);
    let place = "/meshes/0/primitives/0/attributes/NORMAL";
    let finding = format!("ACCESSOR_VECTOR3_NON_UNIT@{place}");
    assert_eq!(errors(&document), [finding.as_str(), &finding]);
}

#[test]
fn quantised_positions_are_read_whether_declared_or_not() {
    let read = |declared: bool| {
        let mut build = Build::new(json!({
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}]
        }));
        if declared {
            build.root["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
            build.root["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        }
        let positions = [-32768., 32767., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.];
        build.accessor("VEC3", 5122, &positions[..9]);
        build.root["accessors"][0]["normalized"] = json!(true);
        // Vertices start at multiples of four bytes, so six-byte ones need a stride.
        build.accessor("VEC4", 5122, &positions);
        build.root["accessors"][0]["bufferView"] = json!(1);
        build.root["bufferViews"][1]["byteStride"] = json!(8);
        build.root["accessors"][0]["min"] = json!([-32768, 0, 0]);
        build.root["accessors"][0]["max"] = json!([0, 32767, 0]);
        build.root["accessors"].as_array_mut().unwrap().truncate(1);
        build.read().unwrap()
    };
    let document = read(true);
    assert_eq!(errors(&document), none());
    assert_eq!(
        only(&document).mesh.rest.positions[0],
        Vec3::new(-1.0, 1.0, 0.0)
    );
    let document = read(false);
    let place = "/meshes/0/primitives/0/attributes/POSITION";
    let code = "MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT";
    assert_eq!(errors(&document), [format!("{code}@{place}")]);
    assert_eq!(
        only(&document).mesh.rest.positions[0],
        Vec3::new(-1.0, 1.0, 0.0)
    );
}

#[test]
fn sparse_elements_replace_those_of_the_base() {
    let mut build = mesh(json!({"attributes": {"POSITION": 0}}));
    build.accessor("SCALAR", 5121, &[2.]);
    build.accessor("VEC3", FLOAT, &[5., 6., 7.]);
    build.root["accessors"][0]["sparse"] = json!({
        "count": 1,
        "indices": {"bufferView": 1, "componentType": 5121},
        "values": {"bufferView": 2}
    });
    build.root["accessors"][0]["max"] = json!([5, 6, 7]);
    let document = build.read().unwrap();
    assert_eq!(errors(&document), none());
    let positions = &only(&document).mesh.rest.positions;
    assert_eq!(positions[1], Vec3::x());
    assert_eq!(positions[2], Vec3::new(5.0, 6.0, 7.0));
}

#[test]
fn morph_targets_keep_only_what_moves() {
    let mut build = mesh(json!({"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}));
    build.root["meshes"][0]["weights"] = json!([1, 2]);
    build.accessor(
        "VEC3",
        FLOAT,
        &[0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 2., 0.],
    );
    let document = build.read().unwrap();
    assert_eq!(
        errors(&document),
        ["MESH_INVALID_WEIGHTS_COUNT@/meshes/0/weights"]
    );
    let target = &only(&document).targets[0];
    assert_eq!(target.vertices, [1, 3]);
    assert_eq!(target.positions, [Vec3::x(), Vec3::y() * 2.0]);
    assert!(target.normals.is_empty());
    assert_eq!(document.meshes[0].weights, [1.0]);
}

#[test]
fn joints_beyond_the_skin_lose_their_weight() {
    let mut build = mesh(json!({"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}));
    build.root["nodes"] = json!([{}, {"mesh": 0, "skin": 0}]);
    build.root["skins"] = json!([{"joints": [0]}]);
    build.accessor("VEC4", 5121, &[0., 0., 0., 0.].repeat(4));
    build.accessor("VEC4", FLOAT, &[1., 0., 0., 0.].repeat(4));
    let document = build.read().unwrap();
    assert_eq!(errors(&document), none());

    let mut build = mesh(json!({"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}));
    build.root["nodes"] = json!([{}, {"mesh": 0, "skin": 0}]);
    build.root["skins"] = json!([{"joints": [0]}]);
    let joints = [
        0., 0., 0., 0., 7., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.,
    ];
    build.accessor("VEC4", 5123, &joints);
    build.accessor("VEC4", FLOAT, &[1., 0., 0., 0.].repeat(4));
    let document = build.read().unwrap();
    let place = "/meshes/0/primitives/0/attributes";
    let expected = [
        format!("ACCESSOR_JOINTS_INDEX_OOB@{place}/JOINTS_0"),
        format!("ACCESSOR_WEIGHTS_NON_NORMALIZED@{place}/WEIGHTS_0"),
    ];
    assert_eq!(errors(&document), expected);
    let influences = only(&document).influences.as_ref().unwrap();
    assert_eq!((influences.joints[4], influences.weights[4]), (0, 0.0));
}

/// A file with one animation of one node, whose times and values are accessors 0 and 1.
fn animation(path: &str, interpolation: &str) -> Build {
    Build::new(json!({
        "nodes": [{}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}]
        }]
    }))
}

fn translation(clip: &ClipSpec) -> (&[f32], Vec<f32>) {
    match &clip.channels[0].track {
        JointTrack::Translation(track) => (
            track.times(),
            track.values().iter().map(|value| value.x).collect(),
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn keys_out_of_order_are_sorted_and_the_last_of_equal_times_stays() {
    let mut build = animation("translation", "LINEAR");
    build.accessor("SCALAR", FLOAT, &[0., 2., 1., 1.]);
    build.accessor(
        "VEC3",
        FLOAT,
        &[0., 0., 0., 2., 0., 0., 8., 0., 0., 1., 0., 0.],
    );
    let document = build.read().unwrap();
    let expected = "ACCESSOR_ANIMATION_INPUT_NON_INCREASING@/animations/0/samplers/0/input";
    assert_eq!(errors(&document), [expected, expected]);
    let (times, values) = translation(&document.clips[0]);
    assert_eq!(times, [0.0, 1.0, 2.0]);
    assert_eq!(values, [0.0, 1.0, 2.0]);
}

#[test]
fn a_spline_of_one_key_is_constant() {
    let mut build = animation("translation", "CUBICSPLINE");
    build.accessor("SCALAR", FLOAT, &[0.]);
    build.accessor("VEC3", FLOAT, &[9., 9., 9., 3., 0., 0., 9., 9., 9.]);
    let document = build.read().unwrap();
    let expected =
        "ANIMATION_SAMPLER_INPUT_ACCESSOR_TOO_FEW_ELEMENTS@/animations/0/samplers/0/input";
    assert_eq!(errors(&document), [expected]);
    match &document.clips[0].channels[0].track {
        JointTrack::Translation(track) => {
            assert_eq!(track.interpolation(), Interpolation::Cubic);
            assert_eq!(track.sample(-1.0).x, 3.0);
            assert_eq!(track.sample(7.0).x, 3.0);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn quaternion_keys_are_normalised_and_zeros_left_out() {
    let mut build = animation("rotation", "LINEAR");
    build.accessor("SCALAR", FLOAT, &[0., 1., 2.]);
    build.accessor(
        "VEC4",
        FLOAT,
        &[0., 0., 0., 2., 0., 0., 0., 0., 0., 1., 0., 0.],
    );
    let document = build.read().unwrap();
    let code = "ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION";
    let expected = format!("{code}@/animations/0/channels/0/sampler");
    assert_eq!(errors(&document), [expected.as_str(), &expected]);
    match &document.clips[0].channels[0].track {
        JointTrack::Rotation(track) => {
            assert_eq!(track.times(), [0.0, 2.0]);
            assert_eq!(track.values()[0], Quat::identity());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_two_channels_with_one_target_the_later_is_used() {
    let mut build = animation("translation", "STEP");
    build.root["animations"][0]["channels"] = json!([
        {"sampler": 0, "target": {"node": 0, "path": "translation"}},
        {"sampler": 1, "target": {"node": 0, "path": "translation"}},
        {"sampler": 1, "target": {"path": "translation"}},
        {"sampler": 1, "target": {"node": 0, "path": "pointer"}}
    ]);
    build.root["animations"][0]["samplers"] = json!([
        {"input": 0, "output": 1}, {"input": 0, "output": 2}
    ]);
    build.accessor("SCALAR", FLOAT, &[0.]);
    build.accessor("VEC3", FLOAT, &[1., 0., 0.]);
    build.accessor("VEC3", FLOAT, &[2., 0., 0.]);
    let document = build.read().unwrap();
    let expected = "ANIMATION_DUPLICATE_TARGETS@/animations/0/channels/0/target";
    assert_eq!(errors(&document), [expected]);
    assert_eq!(document.clips[0].channels.len(), 1);
    assert_eq!(translation(&document.clips[0]).1, [2.0]);
}

#[test]
fn matrices_are_decomposed_and_shear_is_named() {
    let read = |matrix: [f64; 16]| {
        let build = Build::new(json!({"nodes": [{"matrix": matrix}]}));
        build.read().unwrap()
    };
    let document = read([
        0., 2., 0., 0., -3., 0., 0., 0., 0., 0., 4., 0., 5., 6., 7., 1.,
    ]);
    assert_eq!(errors(&document), none());
    let rest = document.nodes[0].rest;
    assert!((rest.scale - Vec3::new(2.0, 3.0, 4.0)).norm() < 1e-6);
    assert!((rest.rotation * Vec3::x() - Vec3::y()).norm() < 1e-6);
    assert_eq!(rest.translation, Vec3::new(5.0, 6.0, 7.0));
    let document = read([
        1., 0., 0., 0., 1., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ]);
    assert_eq!(errors(&document), ["NODE_MATRIX_NON_TRS@/nodes/0/matrix"]);
}

#[test]
fn rotations_that_are_none_are_the_identity() {
    let build =
        Build::new(json!({"nodes": [{"rotation": [0, 0, 0, 0]}, {"rotation": [0, 0, 0, 0.5]}]}));
    let document = build.read().unwrap();
    let expected = [
        "ROTATION_NON_UNIT@/nodes/0/rotation",
        "ROTATION_NON_UNIT@/nodes/1/rotation",
    ];
    assert_eq!(errors(&document), expected);
    for node in &document.nodes {
        assert_eq!(node.rest.rotation, Quat::identity());
    }
}

#[test]
fn required_extensions_are_refused_unless_they_mean_nothing_to_animation() {
    let read = |name: &str| {
        Build::new(json!({"extensionsUsed": [name], "extensionsRequired": [name]})).read()
    };
    for name in [
        "KHR_texture_transform",
        "KHR_materials_unlit",
        "KHR_mesh_quantization",
        "VRMC_vrm",
    ] {
        assert_eq!(errors(&read(name).unwrap()), none(), "{name}");
    }
    for name in [
        "KHR_draco_mesh_compression",
        "EXT_meshopt_compression",
        "ACME_other",
    ] {
        let error = read(name).unwrap_err();
        assert_eq!(error.code, "UNSUPPORTED_EXTENSION");
        assert_eq!(error.location, "/extensionsRequired/0");
        assert!(error.message.contains(name));
    }
}

#[test]
fn compressed_primitives_use_their_fallback_or_are_left_out() {
    let primitive = json!({
        "attributes": {"POSITION": 0},
        "extensions": {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}}
    });
    let mut build = mesh(primitive.clone());
    build.root["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    let document = build.read().unwrap();
    assert_eq!(errors(&document), none());
    assert_eq!(document.meshes[0].primitives.len(), 1);

    let mut build = mesh(primitive);
    build.root["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
    build.root["accessors"][0]
        .as_object_mut()
        .unwrap()
        .remove("bufferView");
    let document = build.read().unwrap();
    let place = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression";
    assert_eq!(
        errors(&document),
        [format!("UNSUPPORTED_EXTENSION@{place}")]
    );
    assert!(document.meshes[0].primitives.is_empty());
}

#[test]
fn a_short_buffer_is_named_and_what_fits_is_read() {
    let mut build = mesh(json!({"attributes": {"POSITION": 0}}));
    build.accessor("VEC3", FLOAT, &SQUARE);
    build.root["accessors"][1]["count"] = json!(3);
    let text = {
        build.root["buffers"] = json!([{"byteLength": 96, "uri": "short"}]);
        build.root.to_string()
    };
    let document = anim_asset::gltf::read(text.as_bytes(), &mut |_| Ok(vec![0; 60])).unwrap();
    assert!(errors(&document).contains(&"BUFFER_BYTE_LENGTH_MISMATCH@/buffers/0".to_owned()));
    assert_eq!(only(&document).mesh.vertex_count(), 4);
}

#[test]
fn a_buffer_that_cannot_be_had_is_an_error_at_its_uri() {
    let text = json!({
        "asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": "a%20b.bin"}]
    });
    let error = anim_asset::gltf::read(text.to_string().as_bytes(), &mut |uri| {
        Err(format!("no {uri}"))
    });
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "/buffers/0/uri: no a b.bin");
    assert_eq!(error.code, "IO_ERROR");
}
