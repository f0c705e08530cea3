//! `anim skin`: deformers side by side, by speed, volume and how far they move vertices from the linear blend.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anim_engine::skeleton::Globals;
use anim_engine::skin::{Palette, SkinnedMesh, VertexBlocks};
use anim_engine::{Actor, Deform, Deformer, deformer};
use anim_view::sheet;
use serde_json::{Value, json};

use crate::output::{Exit, Failure};
use crate::picture::{self, Look};
use crate::{input, output, play, threads};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Which deformers, several with commas or several times; all if left out.
    #[arg(long, value_delimiter = ',', value_parser = deform)]
    method: Vec<Deform>,
    /// Number or name of the clip; the first if left out.
    #[arg(long)]
    clip: Option<String>,
    /// Seconds into the clip.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    time: f32,
    /// Draw the results side by side.
    #[arg(long, visible_alias = "png")]
    out: Option<PathBuf>,
    /// Of each result, pixels.
    #[arg(long, default_value_t = 400)]
    width: u32,
    /// Of each result, pixels.
    #[arg(long, default_value_t = 480)]
    height: u32,
    /// Turn of the camera about +Y, degrees; 0 faces a character that looks along +Z.
    #[arg(long, allow_negative_numbers = true)]
    yaw: Option<f32>,
    /// How far the camera looks down, degrees.
    #[arg(long, allow_negative_numbers = true)]
    pitch: Option<f32>,
    /// Draw the edges of triangles.
    #[arg(long)]
    wire: bool,
    /// Threads, on which nanoseconds a vertex depend and results do not.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Results in a row of the picture at most.
const COLUMNS: usize = 4;
/// How long each deformer is run for its time, and how often at least.
const PATIENCE: Duration = Duration::from_millis(30);
const ROUNDS: u32 = 3;
/// Volumes below this share of the cube of the size are none: rounding of a flat surface.
const FLAT: f64 = 1e-6;

/// A deformer by its name.
fn deform(name: &str) -> Result<Deform, String> {
    let names = || Deform::ALL.iter().map(|deform| deform.name());
    Deform::named(name)
        .ok_or_else(|| format!("not one of {}", names().collect::<Vec<_>>().join(", ")))
}

/// One surface as it is posed, before it is deformed.
struct Posed<'a> {
    mesh: &'a SkinnedMesh,
    morphed: VertexBlocks,
    palette: Palette,
    /// At rest, with the same morphs, as the linear blend has it.
    rest: VertexBlocks,
    linear: VertexBlocks,
}

/// What came of one deformer.
struct Row {
    deform: Deform,
    surfaces: Vec<VertexBlocks>,
    ns_per_vertex: f64,
    prepare_ms: f64,
    /// Of the posed surfaces to those at rest; `None` where these enclose nothing.
    volume_ratio: Option<f64>,
    /// Farthest of a vertex from where the linear blend puts it.
    max_offset: f32,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    check(args)?;
    let mut show = play::open(&args.file, args.clip.as_deref(), Some(1))?;
    show.scene.step(0.0);
    show.scene.step(args.time);
    let name = args.file.display().to_string();
    let first = show.scene.actors.first().copied();
    let actor = first
        .and_then(|id| show.scene.engine.actor(id))
        .filter(|actor| actor.surfaces().iter().any(|surface| !surface.is_empty()))
        .ok_or_else(|| Failure::new(&name, "/meshes", "no surface to deform"))?;
    let posed = posed(actor);
    let methods = match args.method.as_slice() {
        [] => Deform::ALL,
        several => several,
    };
    let rows = threads::within(Some(args.threads), || {
        let rows = methods.iter().map(|deform| row(*deform, &posed));
        rows.collect::<Result<Vec<Row>, _>>()
    })?;
    let rows = rows.map_err(|error| Failure::new(&name, "/meshes", error))?;

    if let Some(out) = &args.out {
        let look = Look {
            width: args.width,
            height: args.height,
            yaw_deg: args.yaw.unwrap_or(show.spec.camera.yaw_deg),
            pitch_deg: args.pitch.unwrap_or(show.spec.camera.pitch_deg),
            skeleton: false,
            wire: args.wire,
            floor: picture::floor(picture::bounds(&show.scene)),
        };
        let camera = picture::camera(picture::bounds(&show.scene), &look);
        let images = rows
            .iter()
            .map(|row| picture::draw_deformed(actor, &row.surfaces, &camera, &look));
        let images = images.collect::<Result<Vec<_>, _>>()?;
        let labels: Vec<String> = rows.iter().map(caption).collect();
        output::file(out, &sheet(&images, &labels, COLUMNS).to_png())?;
    }
    let findings = show.documents.first().map(|document| &*document.findings);
    if args.json {
        let counts = |count: &dyn Fn(&Posed<'_>) -> usize| posed.iter().map(count).sum::<usize>();
        output::json(
            "skin",
            json!({
                "file": input::file_name(&args.file),
                "time_s": args.time,
                "surfaces": posed.len(),
                "threads": args.threads,
                "vertices": counts(&|surface| surface.mesh.vertex_count()),
                "joints": counts(&|surface| surface.mesh.joints().len()),
                "methods": rows.iter().map(value).collect::<Vec<Value>>(),
                "out": args.out.as_ref().map(|out| out.display().to_string()),
                "findings": output::findings_json(findings.unwrap_or_default()),
            }),
        )?;
    } else {
        output::findings(&name, findings.unwrap_or_default());
        output::text(&table(&rows))?;
    }
    Ok(Exit::Fine)
}

/// Refuses what no file could make right.
fn check(args: &Args) -> Result<(), Failure> {
    if !args.time.is_finite() {
        let message = format!("{} is not a time", args.time);
        return Err(Failure::option("--time", message));
    }
    let angles = [args.yaw, args.pitch];
    if !angles.iter().flatten().all(|angle| angle.is_finite()) {
        return Err(Failure::option("--yaw, --pitch", "not an angle"));
    }
    let extension = args.file.extension();
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        let file = args.file.display().to_string();
        return Err(Failure::new(file, "extension", "a scene is no character"));
    }
    match &args.out {
        Some(out) => output::check_picture(out),
        None => Ok(()),
    }
}

/// The surfaces of an actor, with what its last frame would deform them by.
fn posed(actor: &Actor) -> Vec<Posed<'_>> {
    let character = actor.character();
    let skeleton = character.skeleton();
    let mut at_rest = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut at_rest);
    let surfaces = character.surfaces().iter();
    surfaces
        .map(|surface| {
            let mesh = &surface.mesh;
            let mut morphed = mesh.rest().clone();
            if mesh.target_count() > 0 {
                mesh.morph(&actor.weights()[surface.weights.clone()], &mut morphed);
            }
            let mut palette = mesh.palette_buffer();
            let (mut rest, mut linear) = (morphed.clone(), morphed.clone());
            mesh.palette(&at_rest, &mut palette);
            mesh.linear(&morphed, &palette, &mut rest);
            mesh.palette(actor.globals(), &mut palette);
            mesh.linear(&morphed, &palette, &mut linear);
            Posed {
                mesh,
                morphed,
                palette,
                rest,
                linear,
            }
        })
        .collect()
}

fn row(deform: Deform, posed: &[Posed<'_>]) -> Result<Row, anim_engine::skin::SkinError> {
    let start = Instant::now();
    let deformers = posed
        .iter()
        .map(|surface| Deformer::new(deform, surface.mesh))
        .collect::<Result<Vec<_>, _>>()?;
    let prepare_ms = start.elapsed().as_secs_f64() * 1e3;
    let scratches = posed.iter().zip(&deformers);
    let mut scratches: Vec<_> = scratches
        .map(|(surface, deformer)| deformer.scratch(surface.mesh))
        .collect();
    let mut surfaces: Vec<_> = posed.iter().map(|surface| surface.rest.clone()).collect();
    let (start, mut fastest, mut rounds) = (Instant::now(), f64::INFINITY, 0);
    while rounds < ROUNDS || start.elapsed() < PATIENCE {
        let round = Instant::now();
        let parts = posed.iter().zip(&deformers).zip(&mut scratches);
        for (((surface, way), scratch), out) in parts.zip(&mut surfaces) {
            let Posed {
                mesh,
                morphed,
                palette,
                ..
            } = surface;
            way.deform(mesh, morphed, palette, scratch, out);
        }
        fastest = fastest.min(round.elapsed().as_secs_f64());
        rounds += 1;
    }
    let vertices: usize = posed
        .iter()
        .map(|surface| surface.mesh.vertex_count())
        .sum();
    let (mut volume, mut rest_volume, mut max_offset, mut size) = (0.0, 0.0, 0.0_f32, 0.0_f64);
    for (surface, out) in posed.iter().zip(&surfaces) {
        volume += deformer::volume(surface.mesh, out);
        rest_volume += deformer::volume(surface.mesh, &surface.rest);
        let bounds = surface.rest.bounds();
        if !bounds.is_empty() {
            size = size.max(f64::from((bounds.max - bounds.min).norm()));
        }
        for vertex in 0..out.len() {
            let offset = out.position(vertex) - surface.linear.position(vertex);
            max_offset = max_offset.max(offset.norm());
        }
    }
    let has_volume = f64::abs(rest_volume) > FLAT * size.powi(3);
    Ok(Row {
        deform,
        surfaces,
        ns_per_vertex: fastest * 1e9 / vertices.max(1) as f64,
        prepare_ms,
        volume_ratio: has_volume.then(|| volume / rest_volume),
        max_offset,
    })
}

fn value(row: &Row) -> Value {
    json!({
        "name": row.deform.name(),
        "ns_per_vertex": row.ns_per_vertex,
        "prepare_ms": row.prepare_ms,
        "volume_ratio": row.volume_ratio,
        "max_offset_m": row.max_offset,
    })
}

fn caption(row: &Row) -> String {
    let name = row.deform.name();
    match row.volume_ratio {
        Some(ratio) => format!("{name}: volume {ratio:.3}"),
        None => name.to_owned(),
    }
}

/// The same for people: a line a deformer.
fn table(rows: &[Row]) -> String {
    let mut text = "method      ns/vertex  prepare ms  volume  from lbs m\n".to_owned();
    for row in rows {
        let ratio = row.volume_ratio;
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}"));
        text.push_str(&format!(
            "{:<10} {:>10.2} {:>11.1} {ratio:>7} {:>11.4}\n",
            row.deform.name(),
            row.ns_per_vertex,
            row.prepare_ms,
            row.max_offset
        ));
    }
    text
}
