//! Published files that tests read and the project does not ship.
#![allow(clippy::print_stderr, reason = "a skipped test should say so")]

use std::path::{Path, PathBuf};

/// The file `name` of the shared data, or `None`, with a printed line, if it is not there and `ANIM_REQUIRE_DATA` does not
/// demand it.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    let file = directory.join(name);
    if file.is_file() {
        return Some(file);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no {}", file.display());
    eprintln!("skipped: no {}", file.display());
    None
}
