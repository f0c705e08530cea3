//! The files under `assets/` are what the code makes.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use std::path::Path;

use anim_asset::{Format, builtin, encode};

#[test]
fn committed_assets_are_what_the_code_makes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets");
    for name in ["arm", "tube", "humanoid"] {
        let document = builtin::named(name).expect("a built-in character");
        let path = folder.join(name).with_extension("glb");
        let committed = std::fs::read(&path).expect("run `cargo xtask assets`");
        assert!(
            committed == encode(&document, Format::Glb),
            "{name}.glb is old: run `cargo xtask assets`"
        );
    }
}
