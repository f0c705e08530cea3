//! `anim info`: what is in a file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anim_asset::{Document, SourceFormat};
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
    let loaded = anim_asset::load_as(&args.file);
    let (document, format) = loaded.map_err(|error| input::failure(&args.file, &error))?;
    let value = describe(&document, format, &input::file_name(&args.file));
    if args.json {
        output::json("info", value)?;
    } else {
        output::text(&table(&value))?;
    }
    Ok(Exit::Fine)
}

fn describe(document: &Document, format: SourceFormat, file: &str) -> Value {
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
        "format": match format {
            SourceFormat::Gltf => "gltf",
            SourceFormat::Pack => "pack",
            SourceFormat::Obj => "obj",
        },
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

/// The same for people: what there is in lines, then the clips, then what is wrong.
fn table(value: &Value) -> String {
    let count = |key: &str, one: &str| {
        let count = value[key].as_u64().unwrap_or_default();
        format!("{count} {one}{}", if count == 1 { "" } else { "s" })
    };
    let mut text = format!(
        "{}: {}, {}\n",
        plain(&value["file"]),
        plain(&value["format"]),
        plain(&value["up"])
    );
    let mut line = |name: &str, text_of: String| text.push_str(&format!("  {name:<9}{text_of}\n"));
    line(
        "nodes",
        format!("{}, {}", count("nodes", "node"), count("roots", "root")),
    );
    line(
        "skins",
        format!("{}, {}", count("skins", "skin"), count("joints", "joint")),
    );
    let sizes = [count("vertices", "vertex"), count("triangles", "triangle")];
    let sizes = sizes.join(", ").replace("vertexs", "vertices");
    line(
        "meshes",
        format!(
            "{}, {sizes}",
            count("meshes", "mesh").replace("meshs", "meshes")
        ),
    );
    let names: Vec<String> = rows(value, "morph_targets").map(plain).collect();
    if !names.is_empty() {
        line("shapes", format!("{}: {}", names.len(), names.join(", ")));
    }
    let clips: Vec<&Value> = rows(value, "clips").collect();
    line("clips", clips.len().to_string());
    let names: Vec<String> = clips
        .iter()
        .map(|clip| {
            clip["name"]
                .as_str()
                .map_or_else(String::new, output::printable)
        })
        .collect();
    let width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default()
        .min(40);
    for (clip, name) in clips.iter().zip(names) {
        text.push_str(&format!(
            "    #{:<3} {name:<width$} {:>9.3} s {:>6} channels {:>8} keys\n",
            plain(&clip["index"]),
            clip["duration_s"].as_f64().unwrap_or_default(),
            plain(&clip["channels"]),
            plain(&clip["keys"]),
        ));
    }
    for finding in rows(value, "findings") {
        let [severity, place, message, code] =
            ["severity", "where", "message", "code"].map(|key| plain(&finding[key]));
        text.push_str(&format!("  {severity}: {place}: {message} [{code}]\n"));
    }
    text
}

fn rows<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), output::printable)
}
