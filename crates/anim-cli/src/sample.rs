//! `anim sample`: exact numbers at times, for comparison with any other program.

use std::path::PathBuf;

use anim_asset::Document;
use anim_engine::math::{Affine, Vec3};
use anim_engine::skeleton::{Clip, ClipSpec, Globals, Pose, Skeleton};
use anim_engine::skin::Palette;
use anim_engine::{Character, Surface};
use serde_json::{Map, Value, json};

use crate::output::{Exit, Failure};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Number or name of the clip; the first if left out.
    #[arg(long)]
    clip: Option<String>,
    /// Seconds, separated by commas.
    #[arg(
        long,
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "0"
    )]
    times: Vec<f32>,
    /// Sample the run-time clip instead of the exact curves, and print the largest error between them.
    #[arg(long)]
    baked: bool,
    /// Object-space error that the run-time clip may have, m; 0.0005 for a human, more for giants, less for mice.
    #[arg(long)]
    tolerance: Option<f32>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if let Some(time) = args.times.iter().find(|time| !time.is_finite()) {
        return Err(Failure::option("--times", format!("{time} is not a time")));
    }
    let positive = |length: &f32| length.is_finite() && *length > 0.0;
    if let Some(length) = args.tolerance.filter(|length| !positive(length)) {
        return Err(Failure::option(
            "--tolerance",
            format!("{length} m is not a positive length"),
        ));
    }
    let document = input::document(&args.file)?;
    let name = args.file.display().to_string();
    let clip = input::clip(&document.clips, args.clip.as_deref())?;
    let unusable = |error: &dyn std::error::Error| Failure::new(name.as_str(), "/", error);
    let skeleton = document.skeleton().map_err(|error| unusable(&error))?;
    let mut options = Character::bake_options(&document).map_err(|error| unusable(&error))?;
    options.tolerance = args.tolerance.unwrap_or(options.tolerance);
    let baked = match clip.filter(|_| args.baked) {
        Some((_, spec)) => {
            Some(Clip::bake(spec, &skeleton, &options).map_err(|error| unusable(&error))?)
        }
        None => None,
    };
    // Surfaces only: the clips are sampled here, exactly.
    let bare = Document {
        clips: Vec::new(),
        ..document.clone()
    };
    let character = Character::from_document(&bare, &options).map_err(|error| unusable(&error))?;
    let mut sampler = Sampler::new(&character, &skeleton);
    let pose = |sampler: &mut Sampler<'_>, time: f32| {
        let spec = clip.map(|(_, spec)| spec);
        sampler.pose(spec, baked.as_ref().map(|(clip, _)| clip), time);
    };
    let mut value = json!({
        "file": input::file_name(&args.file),
        "clip": clip.map(|(index, spec)| input::clip_name(index, spec)),
        "clips": document.clips.len(),
        "duration": clip.map_or(0.0, |(_, spec)| spec.duration()),
        "findings": output::findings_json(&document.findings),
    });
    if let (Some((_, report)), Value::Object(object)) = (&baked, &mut value) {
        object.insert(
            "baked_error_mm".to_owned(),
            json!(report.max_error * 1000.0),
        );
        object.insert("baked_rate_hz".to_owned(), json!(report.rate));
        object.insert("baked_bytes".to_owned(), json!(report.bytes));
    }
    if args.json {
        let samples = args.times.iter().map(|time| {
            pose(&mut sampler, *time);
            sampler.value(*time)
        });
        output::json_with_list("sample", value, "samples", samples)?;
    } else {
        output::text(&summary(&value))?;
        for time in &args.times {
            pose(&mut sampler, *time);
            output::text(&sampler.table(*time))?;
        }
    }
    Ok(Exit::Fine)
}

/// Buffers for one pose after another.
struct Sampler<'a> {
    character: &'a Character,
    skeleton: &'a Skeleton,
    pose: Pose,
    globals: Globals,
    weights: Vec<f32>,
}

impl<'a> Sampler<'a> {
    fn new(character: &'a Character, skeleton: &'a Skeleton) -> Self {
        Self {
            character,
            skeleton,
            pose: skeleton.rest().clone(),
            globals: Globals::new(skeleton),
            weights: character.rest_weights().to_vec(),
        }
    }

    fn pose(&mut self, spec: Option<&ClipSpec>, baked: Option<&Clip>, time: f32) {
        self.weights.copy_from_slice(self.character.rest_weights());
        match spec {
            Some(spec) => {
                match baked {
                    Some(clip) => clip.sample(time, &mut self.pose),
                    None => spec.sample(self.skeleton, time, &mut self.pose),
                }
                for channel in &spec.morphs {
                    if let Some(range) = self.weights_of(channel.joint) {
                        channel.track.sample(time, &mut self.weights[range]);
                    }
                }
            }
            None => self.pose.copy_from(self.skeleton.rest()),
        }
        self.skeleton.globals(&self.pose, &mut self.globals);
    }

    /// The morph weights of the mesh at a node.
    fn weights_of(&self, node: usize) -> Option<std::ops::Range<usize>> {
        let mut surfaces = self.character.surfaces().iter();
        surfaces
            .find(|surface| surface.source.0 == node)
            .map(|surface| surface.weights.clone())
    }

    /// Where the nodes are, for people.
    fn table(&self, time: f32) -> String {
        let mut text = format!("time {time} s: node, world position m, name\n");
        for source in 0..self.skeleton.len() {
            let joint = self.skeleton.joint(source);
            let at = self.globals.get(joint).translation;
            let name = output::printable(self.skeleton.name(joint).unwrap_or(""));
            text.push_str(&format!(
                "  #{source:<4} {:>10.4} {:>10.4} {:>10.4}  {name}\n",
                at.x, at.y, at.z
            ));
        }
        text
    }

    fn value(&self, time: f32) -> Value {
        let mut nodes = Map::new();
        for source in 0..self.skeleton.len() {
            let world_from_node = self.globals.get(self.skeleton.joint(source));
            nodes.insert(source.to_string(), matrix(&world_from_node));
        }
        let meshes: Vec<Value> = self
            .character
            .surfaces()
            .iter()
            .map(|surface| self.surface(surface))
            .collect();
        json!({ "time": time, "nodes": nodes, "meshes": meshes })
    }

    fn surface(&self, surface: &Surface) -> Value {
        let mesh = &surface.mesh;
        let mut palette = Palette::new(mesh.joints().len());
        mesh.palette(&self.globals, &mut palette);
        let mut source = mesh.rest().clone();
        if mesh.target_count() > 0 {
            mesh.morph(&self.weights[surface.weights.clone()], &mut source);
        }
        let mut skinned = mesh.rest().clone();
        mesh.linear(&source, &palette, &mut skinned);
        let mut vertices = anim_engine::geom::Vertices::default();
        mesh.to_source_order(&skinned, &mut vertices);
        json!({
            "node": surface.source.0,
            "primitive": surface.source.1,
            "count": vertices.positions.len(),
            "positions": triples(&vertices.positions),
            "normals": triples(&vertices.normals),
            "bounds": bounds(&vertices.positions),
        })
    }
}

/// Column-major, 16 numbers.
fn matrix(affine: &Affine) -> Value {
    affine
        .to_mat4()
        .as_slice()
        .iter()
        .copied()
        .map(Value::from)
        .collect()
}

fn triples(vectors: &[Vec3]) -> Value {
    vectors.iter().map(|v| json!([v.x, v.y, v.z])).collect()
}

/// The corners of the box around the positions, `null` around nothing.
fn bounds(positions: &[Vec3]) -> Value {
    let low = positions.iter().copied().reduce(|a, b| a.inf(&b));
    let high = positions.iter().copied().reduce(|a, b| a.sup(&b));
    match (low, high) {
        (Some(low), Some(high)) => triples(&[low, high]),
        _ => Value::Null,
    }
}

/// Which clip it is and how exact, for people.
fn summary(value: &Value) -> String {
    let mut text = match value["clip"].as_str() {
        Some(clip) => format!(
            "clip '{}', one of {}, {:.3} s\n",
            output::printable(clip),
            value["clips"],
            value["duration"].as_f64().unwrap_or_default()
        ),
        None => "no clips: the rest pose\n".to_owned(),
    };
    if let Some(error) = value.get("baked_error_mm") {
        text.push_str(&format!(
            "baked at {:.1} Hz, {} bytes, largest error {:.3} mm\n",
            value["baked_rate_hz"].as_f64().unwrap_or_default(),
            value["baked_bytes"],
            error.as_f64().unwrap_or(f64::NAN)
        ));
    }
    text
}
