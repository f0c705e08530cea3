//! Where the shared data lie.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a broken test should say where"
)]

use std::path::{Path, PathBuf};

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
