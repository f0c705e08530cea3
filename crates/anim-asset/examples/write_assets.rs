//! Writes the built-in characters: `cargo run --example write_assets -- FOLDER` (default `assets`).

use std::fs;
use std::path::PathBuf;

use anim_asset::{Format, builtin, encode};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(
        std::env::args()
            .nth(1)
            .unwrap_or_else(|| "assets".to_owned()),
    );
    fs::create_dir_all(&folder)?;
    let documents = [
        ("arm", builtin::arm()),
        ("tube", builtin::tube(4)),
        ("humanoid", builtin::humanoid()),
    ];
    for (name, document) in documents {
        fs::write(
            folder.join(name).with_extension("glb"),
            encode(&document, Format::Glb),
        )?;
    }
    Ok(())
}
