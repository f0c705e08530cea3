//! Tangents and what morph targets do to them, from one file to the next and into a skin.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod samples;

use anim_asset::{Document, Severity, TangentSpec, gltf};
use anim_math::{Affine, Vec3};
use anim_skin::tangents::TangentMorphs;
use anim_skin::{Influences, SkinnedMesh, TangentBlocks};
use serde_json::Value;

fn read(file: &[u8]) -> Document {
    gltf::read(file, &mut |uri| Err(format!("no {uri} here"))).unwrap()
}

/// The file as JSON whose `edit` is read again.
fn edited(document: &Document, edit: impl FnOnce(&mut Value)) -> Document {
    let (json, _) = gltf::write_json(document, None);
    let mut json = serde_json::from_str(&json).unwrap();
    edit(&mut json);
    read(json.to_string().as_bytes())
}

fn codes(document: &Document) -> Vec<&str> {
    let errors = document.findings.iter();
    let errors = errors.filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.code.as_str()).collect()
}

#[test]
fn displacements_come_back_as_they_were() {
    let document = samples::everything();
    let back = read(&gltf::write(&document));
    assert_eq!(back.tangents, document.tangents);
    assert!(codes(&back).is_empty(), "{:?}", back.findings);
    let found = back.tangents_of(0, 0).unwrap();
    assert_eq!(found.targets[0].vertices, [3, 8]);
    assert_eq!(back.tangents_of(0, 1), None);
}

#[test]
fn a_skin_takes_them_as_they_are_read() {
    let document = read(&gltf::write(&samples::everything()));
    let primitive = &document.meshes[0].primitives[0];
    let skeleton = document.skeleton().unwrap();
    let skin = SkinnedMesh::new(
        &primitive.mesh,
        &[skeleton.joint(0)],
        &[Affine::IDENTITY],
        &Influences::rigid(primitive.mesh.vertex_count()),
        &primitive.targets,
    )
    .unwrap();
    let tangents = document.tangents_of(0, 0).unwrap();
    let rest = TangentBlocks::new(&skin, &tangents.rest).unwrap();
    let morphs = TangentMorphs::new(&skin, &tangents.targets).unwrap();
    let mut morphed = rest.clone();
    morphs.morph(&[0.5, 1.0], &rest, &mut morphed);
    let at = |source: usize| morphed.tangent(skin.vertex_from_source()[source] as usize);
    assert_eq!(at(3), [1.0, 0.0, 0.25, -1.0]);
    assert_eq!(at(8), [1.0, 0.0, -0.5, 1.0]);
    assert_eq!(at(4), [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn they_follow_a_primitive_that_moves_to_a_mesh_of_its_own() {
    let mut document = samples::everything();
    document.meshes[0].primitives.swap(0, 1);
    document.meshes[0].primitives[0].influences = None;
    let skinned = TangentSpec {
        primitive: 1,
        ..document.tangents[0].clone()
    };
    let rigid = TangentSpec {
        rest: vec![[0.0, 1.0, 0.0, -1.0]; skinned.rest.len()],
        targets: Vec::new(),
        ..document.tangents[0].clone()
    };
    document.tangents = vec![rigid.clone(), skinned.clone()];
    assert_eq!(document.check(), Ok(()));
    let back = read(&gltf::write(&document));
    assert_eq!(back.tangents_of(0, 0).unwrap().rest, skinned.rest);
    assert_eq!(back.tangents_of(1, 0).unwrap().rest, rigid.rest);
}

#[test]
fn what_is_no_tangent_is_named_and_mended() {
    let mut document = samples::everything();
    document.tangents[0].targets.clear();
    let (json, mut buffer) = gltf::write_json(&document, Some("it.bin"));
    let root: Value = serde_json::from_str(&json).unwrap();
    let attributes = &root["meshes"][0]["primitives"][0]["attributes"];
    let accessor = &root["accessors"][attributes["TANGENT"].as_u64().unwrap() as usize];
    let view = &root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
    let mut put = |float: usize, value: f32| {
        buffer[start + 4 * float..][..4].copy_from_slice(&value.to_le_bytes());
    };
    // Vertex 0 twice as long, vertex 1 without a direction, vertex 2 without a side.
    put(0, 2.0);
    put(4, 0.0);
    put(11, 0.0);
    let back = gltf::read(json.as_bytes(), &mut |_| Ok(buffer.clone())).unwrap();
    let expected = [
        "ACCESSOR_VECTOR3_NON_UNIT",
        "ACCESSOR_VECTOR3_NON_UNIT",
        "ACCESSOR_INVALID_SIGN",
    ];
    assert_eq!(codes(&back), expected);
    let rest = &back.tangents_of(0, 0).unwrap().rest;
    assert_eq!(rest[0], [1.0, 0.0, 0.0, 1.0]);
    let [x, y, z, sign] = rest[1];
    let across = Vec3::new(x, y, z);
    assert!((across.norm() - 1.0).abs() < 1e-6 && across.z.abs() < 1e-6 && sign == -1.0);
    assert_eq!(rest[2], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(back.check(), Ok(()));
}

#[test]
fn displacements_of_what_is_not_there_are_named() {
    let back = edited(&samples::everything(), |root| {
        let attributes = root["meshes"][0]["primitives"][0]["attributes"].as_object_mut();
        attributes.unwrap().remove("TANGENT");
    });
    assert_eq!(back.tangents, []);
    let expected = ["MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR"; 2];
    assert_eq!(codes(&back), expected);
}
