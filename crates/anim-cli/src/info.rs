//! `anim info`: what is in a file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anim_asset::Document;
use serde_json::{Value, json};

use crate::output::{Exit, Failure};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let document = input::document(&args.file)?;
    let value = describe(&document, &input::file_name(&args.file));
    if args.json {
        output::json("info", value)?;
    } else {
        output::text(&table(&value))?;
    }
    Ok(Exit::Fine)
}

fn describe(document: &Document, file: &str) -> Value {
    let joints: BTreeSet<usize> = document
        .skins
        .iter()
        .flat_map(|skin| skin.joints.iter().copied())
        .collect();
    let primitives = || document.meshes.iter().flat_map(|mesh| &mesh.primitives);
    let targets = document
        .meshes
        .iter()
        .flat_map(|mesh| mesh.primitives.first());
    let names: Vec<String> = targets
        .flat_map(|primitive| primitive.targets.iter().enumerate())
        .map(|(index, target)| target.name.clone().unwrap_or_else(|| format!("#{index}")))
        .collect();
    let clip = |(index, clip): (usize, &anim_engine::skeleton::ClipSpec)| {
        json!({
            "index": index,
            "name": clip.name,
            "duration_s": clip.duration(),
            "channels": clip.channels.len() + clip.morphs.len(),
            "keys": input::key_count(clip),
        })
    };
    json!({
        "file": file,
        "format": "gltf",
        "nodes": document.nodes.len(),
        "roots": document.nodes.iter().filter(|node| node.parent.is_none()).count(),
        "joints": joints.len(),
        "skins": document.skins.len(),
        "meshes": document.meshes.len(),
        "vertices": primitives().map(|primitive| primitive.mesh.vertex_count()).sum::<usize>(),
        "triangles": primitives().map(|primitive| primitive.mesh.triangles.len()).sum::<usize>(),
        "morph_targets": names,
        "clips": document.clips.iter().enumerate().map(clip).collect::<Vec<_>>(),
        "unit_m": 1.0,
        "up": "+Y",
        "findings": output::findings_json(&document.findings),
    })
}

/// The object as lines of key and value, lists of objects as rows.
fn table(value: &Value) -> String {
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Array(rows) if rows.is_empty() => {}
            Value::Array(rows) => {
                text.push_str(&format!("{key} ({})\n", rows.len()));
                for row in rows {
                    let cells = row.as_object().map(|cells| {
                        cells
                            .iter()
                            .map(|(key, value)| format!("{key} {}", plain(value)))
                            .collect::<Vec<_>>()
                            .join("  ")
                    });
                    text.push_str(&format!("  {}\n", cells.unwrap_or_else(|| plain(row))));
                }
            }
            value => text.push_str(&format!("{key:<14}{}\n", plain(value))),
        }
    }
    text
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
