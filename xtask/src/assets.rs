//! `cargo xtask assets`: writes the generated assets.

use crate::workspace::{cargo, run};

/// Runs the example of anim-asset that writes `assets/`.
pub(crate) fn write() -> Result<(), String> {
    let arguments = [
        "run",
        "-p",
        "anim-asset",
        "--example",
        "write_assets",
        "--",
        "assets",
    ];
    run(cargo().args(arguments))
}
