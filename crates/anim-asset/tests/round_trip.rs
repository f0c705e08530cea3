//! What is written as glTF reads back as it was.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod samples;

use anim_asset::{Document, Severity, builtin, gltf};
use anim_skeleton::{ClipSpec, Skeleton};

fn read_back(document: &Document) -> Document {
    let glb = gltf::write(document);
    let mut read = gltf::read(&glb, &mut |uri| Err(format!("no {uri} here"))).unwrap();
    let (json, buffer) = gltf::write_json(document, Some("it's ü.bin"));
    let external = &mut |uri: &str| {
        assert_eq!(uri, "it's ü.bin");
        Ok(buffer.clone())
    };
    assert_eq!(gltf::read(json.as_bytes(), external).as_ref(), Ok(&read));
    let (json, _) = gltf::write_json(document, None);
    let within = gltf::read(json.as_bytes(), &mut |uri| Err(format!("no {uri} here")));
    assert_eq!(within.as_ref(), Ok(&read));
    let bad: Vec<_> = read
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error)
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
    read.findings.clear();
    assert_eq!(read.check(), Ok(()));
    read
}

/// The greatest difference of a component of any joint's transform over both clips, which may differ in the order of
/// channels and in the rounding of rotations.
fn difference(skeleton: &Skeleton, a: &ClipSpec, b: &ClipSpec) -> f32 {
    let (mut pose_a, mut pose_b) = (skeleton.rest().clone(), skeleton.rest().clone());
    let mut greatest = 0.0_f32;
    for step in 0..=40 {
        let time = a.duration() * step as f32 / 40.0;
        a.sample(skeleton, time, &mut pose_a);
        b.sample(skeleton, time, &mut pose_b);
        for joint in skeleton.joints() {
            let (a, b) = (pose_a.get(joint), pose_b.get(joint));
            greatest = greatest
                .max((a.translation - b.translation).amax())
                .max((a.rotation.coords - b.rotation.coords).amax())
                .max((a.scale - b.scale).amax());
        }
    }
    greatest
}

#[test]
fn characters_read_back_as_they_were() {
    for document in [
        builtin::arm(),
        builtin::tube(3),
        builtin::humanoid(),
        samples::everything(),
    ] {
        let read = read_back(&document);
        assert_eq!(read.nodes, document.nodes);
        assert_eq!(read.scenes, document.scenes);
        assert_eq!(read.skins, document.skins);
        assert_eq!(read.clips.len(), document.clips.len());
        for (read, clip) in read.clips.iter().zip(&document.clips) {
            assert_eq!((&read.name, &read.morphs), (&clip.name, &clip.morphs));
            assert_eq!(read.channels.len(), clip.channels.len());
            assert!(difference(&document.skeleton().unwrap(), read, clip) < 1e-6);
        }
        for (read, mesh) in read.meshes.iter().zip(&document.meshes) {
            assert_eq!((&read.name, &read.weights), (&mesh.name, &mesh.weights));
            for (read, primitive) in read.primitives.iter().zip(&mesh.primitives) {
                assert_eq!(read.mesh.triangles, primitive.mesh.triangles);
                assert_eq!(read.mesh.rest.positions, primitive.mesh.rest.positions);
                assert_eq!(read.mesh.uvs, primitive.mesh.uvs);
                for (read, normal) in read
                    .mesh
                    .rest
                    .normals
                    .iter()
                    .zip(&primitive.mesh.rest.normals)
                {
                    assert!((read - normal).norm() < 1e-6);
                }
                assert_eq!(read.color, primitive.color);
                for (read, target) in read.targets.iter().zip(&primitive.targets) {
                    assert_eq!(read.positions, target.positions);
                }
            }
        }
    }
}
