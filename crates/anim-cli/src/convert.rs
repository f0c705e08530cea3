//! `anim convert`: from one format to another.

use std::path::PathBuf;

use serde_json::json;

use crate::output::{Exit, Failure};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    input: PathBuf,
    /// What to write; the extension is the format: .glb, .gltf or .pack.
    output: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let format = output::character_format(&args.output)?;
    let document = input::document(&args.input)?;
    let target = args.output.display().to_string();
    output::file(&args.output, &anim_asset::encode(&document, format))?;
    if args.json {
        let lost = [
            "textures and materials but the base colour",
            "cameras",
            "lights",
        ];
        let value = json!({
            "out": target,
            "lossy": lost,
            "findings": output::findings_json(&document.findings),
        });
        output::json("convert", value)?;
    } else {
        output::findings(&args.input.display().to_string(), &document.findings);
    }
    Ok(Exit::Fine)
}
