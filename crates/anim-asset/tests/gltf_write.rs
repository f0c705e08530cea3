//! What is written obeys glTF 2.0: by its own counts, and by the official validator where that is installed.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod samples;

use std::path::{Path, PathBuf};
use std::process::Command;

use anim_asset::{Document, Format, MeshSpec, Node, Primitive, SkinSpec, baked, encode, gltf};
use anim_curves::{Interpolation, Key, Track};
use anim_geom::{Mesh, Vertices};
use anim_math::{Quat, Transform, Vec3};
use anim_skeleton::{Channel, ClipSpec, JointTrack, MorphChannel};
use anim_skin::{Influences, MorphTarget};
use serde_json::Value;

/// The JSON chunk of a GLB, whose container is checked on the way.
fn json_of(glb: &[u8]) -> Value {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&glb[..4], word(4), word(8)), (&b"glTF"[..], 2, glb.len()));
    assert_eq!(&glb[16..20], b"JSON");
    let json_end = 20 + word(12);
    assert_eq!(json_end % 4, 0);
    if json_end < glb.len() {
        assert_eq!(&glb[json_end + 4..json_end + 8], b"BIN\0");
        assert_eq!(word(json_end) + json_end + 8, glb.len());
    }
    serde_json::from_slice(&glb[20..json_end]).unwrap()
}

/// A document of everything glTF forbids.
fn impossible() -> Document {
    let mut document = samples::everything();
    document.nodes.push(Node {
        rest: Transform::from_translation(Vec3::repeat(f32::NAN)),
        mesh: Some(1),
        skin: Some(1),
        weights: vec![1.0; 7],
        ..Node::default()
    });
    document.nodes[0].rest.rotation = Quat::new_unchecked(Quat::identity().into_inner() * 3.0);
    document.scenes = vec![vec![1, 0, 0, 2, 99], vec![]];
    document.meshes.push(MeshSpec {
        primitives: vec![Primitive::default()],
        ..MeshSpec::default()
    });
    document.skins.push(SkinSpec::default());
    // Parents in a circle, one that does not exist, and a skin of two trees.
    let first = document.nodes.len();
    document
        .nodes
        .extend([first + 1, first, 999].map(|parent| Node {
            parent: Some(parent),
            ..Node::default()
        }));
    document.skins[0].joints[1] = first;
    let primitive = &mut document.meshes[0].primitives[0];
    primitive.mesh.rest.normals[0] = Vec3::zeros();
    primitive.mesh.uvs[0] = [f32::NAN, 0.0];
    primitive.color = [2.0, -1.0, f32::NAN];
    if let Some(influences) = &mut primitive.influences {
        influences.weights[..6].fill(0.0);
        influences.weights[6] = -1.0;
        influences.joints[12] = 60_000;
    }
    primitive.targets.push(MorphTarget {
        vertices: vec![5, 2],
        positions: vec![Vec3::x(); 2],
        ..MorphTarget::default()
    });
    let early = vec![Key::new(-1.0, Vec3::x()), Key::new(0.0, Vec3::y())];
    let single = Key {
        time: 0.0,
        value: Vec3::x(),
        velocity: Some([Vec3::y(); 2]),
    };
    let track =
        |keys, interpolation| JointTrack::Translation(Track::new(keys, interpolation).unwrap());
    let channel = |joint, track| Channel { joint, track };
    document.clips[0].channels.extend([
        channel(1, track(early, Interpolation::Linear)),
        channel(2, track(vec![single], Interpolation::Cubic)),
        channel(77, track(vec![single], Interpolation::Cubic)),
    ]);
    document.clips[0].morphs[0].joint = 0;
    document.clips.push(ClipSpec::default());
    document
}

/// A skin of more joints than a byte counts, and more vertices than a short index reaches.
fn large() -> Document {
    let joints = 300;
    let mesh = samples::strip(40_000);
    let count = mesh.vertex_count();
    let targets = vec![MorphTarget {
        vertices: vec![70_000],
        positions: vec![Vec3::z()],
        ..MorphTarget::default()
    }];
    let primitive = Primitive {
        mesh,
        influences: Some(Influences {
            per_vertex: 1,
            joints: (0..count).map(|v| (v % joints) as u16).collect(),
            weights: vec![1.0; count],
        }),
        targets,
        color: [1.0; 3],
    };
    let mut nodes: Vec<Node> = (0..joints)
        .map(|joint: usize| Node {
            parent: joint.checked_sub(1),
            ..Node::default()
        })
        .collect();
    nodes.push(Node {
        mesh: Some(0),
        skin: Some(0),
        ..Node::default()
    });
    Document {
        nodes,
        meshes: vec![MeshSpec {
            primitives: vec![primitive],
            ..MeshSpec::default()
        }],
        skins: vec![SkinSpec {
            joints: (0..joints).collect(),
            ..SkinSpec::default()
        }],
        ..Document::default()
    }
}

/// A skinned primitive and one that follows the node, in one mesh.
fn partly_skinned() -> Document {
    let mut document = samples::everything();
    document.meshes[0].primitives[1].influences = None;
    document
}

/// A strip that bends freely, as a simulation would give it.
fn simulated() -> Document {
    let mesh = samples::strip(20);
    let frame = |frame: i32| {
        let bent = |p: &Vec3| p + Vec3::z() * p.y * p.y * 0.1 * frame as f32;
        Vertices {
            positions: mesh.rest.positions.iter().map(bent).collect(),
            normals: mesh.rest.normals.clone(),
        }
    };
    let frames: Vec<Vertices> = (0..10).map(frame).collect();
    let animation = baked::vertex_animation(&mesh.rest, 30.0, 3, &frames).unwrap();
    Document {
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        meshes: vec![MeshSpec {
            primitives: vec![Primitive {
                mesh,
                targets: animation.targets,
                ..Primitive::default()
            }],
            ..MeshSpec::default()
        }],
        clips: vec![ClipSpec {
            morphs: vec![MorphChannel {
                joint: 0,
                track: animation.weights,
            }],
            ..ClipSpec::default()
        }],
        ..Document::default()
    }
}

fn documents() -> Vec<(&'static str, Document)> {
    vec![
        ("empty", Document::default()),
        ("everything", samples::everything()),
        ("impossible", impossible()),
        ("large", large()),
        ("simulated", simulated()),
        ("partly_skinned", partly_skinned()),
        ("arm", anim_asset::builtin::arm()),
        ("humanoid", anim_asset::builtin::humanoid()),
    ]
}

#[test]
fn influences_are_merged_sorted_and_sum_to_one() {
    let glb = gltf::write(&samples::everything());
    let json = json_of(&glb);
    let attributes = &json["meshes"][0]["primitives"][0]["attributes"];
    // Six raw influences name three joints: one set is enough.
    assert!(attributes.get("WEIGHTS_1").is_none());
    let accessor = &json["accessors"][attributes["WEIGHTS_0"].as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let bin = 28 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let start = bin + view["byteOffset"].as_u64().unwrap() as usize;
    let length = view["byteLength"].as_u64().unwrap() as usize;
    let floats = glb[start..start + length].chunks_exact(4);
    let weights: Vec<f32> = floats
        .map(|f| f32::from_le_bytes(f.try_into().unwrap()))
        .collect();
    for four in weights.chunks_exact(4) {
        let sum: f64 = four.iter().map(|w| f64::from(*w)).sum();
        assert!((sum - 1.0).abs() < 4.0 * f64::from(f32::EPSILON));
        assert!(four.is_sorted_by(|a, b| a >= b));
    }
}

#[test]
fn small_targets_are_sparse_and_names_are_kept() {
    let json = json_of(&gltf::write(&samples::everything()));
    let mesh = &json["meshes"][0];
    let position = |target: usize| {
        let accessor = mesh["primitives"][0]["targets"][target]["POSITION"]
            .as_u64()
            .unwrap();
        &json["accessors"][accessor as usize]
    };
    assert_eq!(position(0)["sparse"]["count"], 2);
    assert!(position(0).get("bufferView").is_none());
    assert!(position(1).get("sparse").is_none());
    assert_eq!(
        mesh["extras"]["targetNames"],
        serde_json::json!(["bulge", ""])
    );
    assert_eq!(
        mesh["primitives"][1]["targets"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn key_times_are_shared_and_equal_colours_are_one_material() {
    let mut document = samples::everything();
    document.meshes[0].primitives[1].color = document.meshes[0].primitives[0].color;
    let json = json_of(&gltf::write(&document));
    assert_eq!(json["materials"].as_array().unwrap().len(), 1);
    let samplers = json["animations"][0]["samplers"].as_array().unwrap();
    let input = |sampler: usize| samplers[sampler]["input"].as_u64().unwrap();
    assert_eq!(samplers.len(), 4);
    assert_eq!(input(1), input(2)); // both curves of joint 1
    assert_eq!(samplers[0]["interpolation"], "CUBICSPLINE");
}

#[test]
fn json_refers_to_the_buffer_beside_it_or_holds_it() {
    let document = samples::everything();
    let (json, bytes) = gltf::write_json(&document, Some("my walk.bin"));
    let beside: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(beside["buffers"][0]["uri"], "my%20walk.bin");
    assert_eq!(beside["buffers"][0]["byteLength"], bytes.len());
    let inside: Value = serde_json::from_slice(&encode(&document, Format::Gltf)).unwrap();
    let uri = inside["buffers"][0]["uri"].as_str().unwrap();
    let digits = uri
        .strip_prefix("data:application/octet-stream;base64,")
        .unwrap();
    assert_eq!(digits.len(), bytes.len().div_ceil(3) * 4);
}

#[test]
fn a_mesh_without_vertices_is_left_out() {
    let document = Document {
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        meshes: vec![MeshSpec {
            primitives: vec![Primitive {
                mesh: Mesh::default(),
                ..Primitive::default()
            }],
            ..MeshSpec::default()
        }],
        ..Document::default()
    };
    let json = json_of(&gltf::write(&document));
    assert!(json.get("meshes").is_none() && json["nodes"][0].get("mesh").is_none());
}

/// Set `ANIM_GLTF_VALIDATOR` to a folder whose `node_modules` hold `gltf-validator`, or install that globally.
#[test]
fn the_official_validator_finds_no_error() {
    let Some(modules) = validator() else {
        eprintln!("gltf-validator is not installed: skipped");
        return;
    };
    let folder = std::env::temp_dir().join(format!("anim-gltf-write-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, document) in documents() {
        for (extension, format) in [("glb", Format::Glb), ("gltf", Format::Gltf)] {
            let path = folder.join(format!("{name}.{extension}"));
            std::fs::write(path, encode(&document, format)).unwrap();
        }
    }
    let errors = validate(&modules, &folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(errors, format!("{} files\n", 2 * documents().len()));
}

/// The folder that holds `gltf-validator`.
fn validator() -> Option<PathBuf> {
    let modules = match std::env::var_os("ANIM_GLTF_VALIDATOR") {
        Some(folder) => PathBuf::from(folder).join("node_modules"),
        None => {
            let npm = Command::new("npm").args(["root", "-g"]).output().ok()?;
            PathBuf::from(String::from_utf8(npm.stdout).ok()?.trim())
        }
    };
    modules.join("gltf-validator").is_dir().then_some(modules)
}

/// The messages of severity error over all files of a folder, one a line, then the number of files.
fn validate(modules: &Path, folder: &Path) -> String {
    let script = "
        const [modules, folder] = process.argv.slice(1);
        const validator = require(modules + '/gltf-validator'), fs = require('fs');
        (async () => {
            const files = fs.readdirSync(folder);
            for (const file of files) {
                const bytes = new Uint8Array(fs.readFileSync(folder + '/' + file));
                const report = await validator.validateBytes(bytes, { maxIssues: 1000 });
                for (const m of report.issues.messages)
                    if (m.severity === 0) console.log(file, m.code, m.pointer, m.message);
            }
            console.log(files.length + ' files');
        })();";
    let output = Command::new("node")
        .args(["-e", script])
        .args([modules, folder])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
