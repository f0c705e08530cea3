//! Where the shared data lie.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a broken test should say where"
)]

pub(crate) mod build;
pub(crate) mod reference;

use std::path::{Path, PathBuf};

use anim_asset::Document;

/// The data directory, or `None`, with a printed line, if it is not there and `ANIM_REQUIRE_DATA` does not demand it.
pub(crate) fn data() -> Option<PathBuf> {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    if directory.is_dir() {
        return Some(directory);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no data at {}", directory.display());
    eprintln!("skipped: no data at {}", directory.display());
    None
}

/// The file `name` of the data, or `None`, with a printed line, if it is not there and `ANIM_REQUIRE_DATA` does not demand it.
pub(crate) fn data_file(name: &str) -> Option<PathBuf> {
    let file = data()?.join(name);
    if file.is_file() {
        return Some(file);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no {}", file.display());
    eprintln!("skipped: no {}", file.display());
    None
}

/// The directory `name` beside the data.
pub(crate) fn beside_data(name: &str) -> Option<PathBuf> {
    let directory = data()?.join("..").join(name);
    directory.is_dir().then_some(directory)
}

/// All files below `directory` whose names end in one of `endings`, sorted.
pub(crate) fn files(directory: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Reads and parses a JSON file.
pub(crate) fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What every consumer of a document relies on.
pub(crate) fn check(document: &Document, file: &str) {
    let skeleton = document.skeleton().unwrap();
    for surface in document.surfaces() {
        let primitive = &document.meshes[surface.mesh].primitives[surface.primitive];
        if let Some(skin) = surface.skin {
            let joint_count = document.skins[skin].joints.len();
            let influences = primitive.influences.iter();
            for joint in influences.flat_map(|influences| &influences.joints) {
                assert!(usize::from(*joint) < joint_count.max(1), "{file}");
            }
        }
        let weights = document.rest_weights(surface.node).len();
        assert!(weights == 0 || weights == primitive.targets.len(), "{file}");
    }
    for primitive in document.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        primitive.mesh.check().unwrap();
        for normal in &primitive.mesh.rest.normals {
            assert!((normal.norm() - 1.0).abs() < 1e-5, "{file}: {normal}");
        }
        for target in &primitive.targets {
            assert!(target.vertices.is_sorted_by(|a, b| a < b), "{file}");
            assert_eq!(target.positions.len(), target.vertices.len(), "{file}");
        }
    }
    for clip in &document.clips {
        clip.check(&skeleton).unwrap();
    }
}
