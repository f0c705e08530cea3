//! `anim simulate`: a scene's simulation, frame by frame, with what can be measured of it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anim_asset::alembic::{self, AbcFrame, AbcObject, AbcScene, AbcShape};
use anim_asset::obj::{self, ObjObject};
use anim_engine::geom::Vertices;
use anim_engine::geom::intersect::self_intersections;
use anim_engine::math::Vec3;
use anim_engine::sim::{Measures, Model, State};
use anim_engine::{Scene, Stage};
use serde_json::{Value, json};

use crate::bake::{Baker, to_world};
use crate::cache::Cache;
use crate::contact_sheet::Sheet;
use crate::grown;
use crate::output;
use crate::output::{Exit, Failure};
use crate::picture::Look;
use crate::play::{self, Show};
use crate::progress::Progress;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A scene (.json), or a character that plays a clip.
    file: PathBuf,
    /// Number of frames; as many as the scene lasts.
    #[arg(long)]
    frames: Option<u32>,
    /// Frames per second; the scene's own.
    #[arg(long)]
    fps: Option<f32>,
    /// Threads; results do not depend on them.
    #[arg(long)]
    threads: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// No progress bar, no table.
    #[arg(long)]
    quiet: bool,
    /// Write the frames: .glb, .gltf or .pack as one character, .abc as moving meshes, .obj as one file a frame.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Write a contact sheet.
    #[arg(long, visible_alias = "png")]
    sheet: Option<PathBuf>,
    /// Keep frames in this folder, and go on from those that are there.
    #[arg(long)]
    cache: Option<PathBuf>,
}

/// What one frame was like.
#[derive(Clone, Debug, Default)]
struct Row {
    time: f64,
    milliseconds: f64,
    measures: Measures,
    penetrations: usize,
    residual: f32,
    slowed: u32,
    pinched: u32,
    hair: Vec<grown::HairRow>,
    muscles: Vec<grown::MuscleRow>,
}

/// How the frames are written.
enum Writer {
    Nothing,
    Character(Baker),
    Alembic(AbcScene),
    Sequence,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let has = |path: &Path, extension: &str| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case(extension))
    };
    if let Some(path) = &args.out
        && !has(path, "obj")
        && !has(path, "abc")
    {
        output::character_format(path)?;
    }
    args.sheet
        .as_deref()
        .map_or(Ok(()), output::check_picture)?;
    let mut show = play::open(&args.file, None, args.threads)?;
    let fps = args.fps.unwrap_or(show.spec.fps);
    if !(fps > 0.0 && fps <= 1000.0) {
        let message = format!("{fps} is not in (0, 1000]");
        return Err(Failure::option("--fps", message));
    }
    let frames = play::frames_of(args.frames, show.spec.duration, fps)?;
    let cache = args
        .cache
        .as_deref()
        .map(|folder| cache(folder, &show, fps))
        .transpose()?;
    let mut writer = match &args.out {
        None => Writer::Nothing,
        Some(path) if has(path, "obj") => Writer::Sequence,
        Some(path) if has(path, "abc") => Writer::Alembic(AbcScene {
            step: 1.0 / f64::from(fps),
            ..AbcScene::default()
        }),
        Some(_) => Writer::Character(Baker::new(fps, std::mem::take(&mut show.documents))),
    };
    let look = Look {
        width: 400,
        height: 480,
        yaw_deg: show.spec.camera.yaw_deg,
        pitch_deg: show.spec.camera.pitch_deg,
        skeleton: false,
        wire: false,
        floor: 0.0,
    };
    let mut sheet = args.sheet.as_ref().map(|_| Sheet::new(frames, look));
    let progress = Progress::new(frames, args.json || args.quiet);
    let mut rows: Vec<Row> = Vec::with_capacity(frames as usize);
    let mut written: Vec<String> = Vec::new();
    let like = show.scene.engine.kept();
    let mut recalled = 0;
    for frame in 0..frames {
        // The first frame shows time 0.
        let dt = if frame == 0 { 0.0 } else { 1.0 / fps };
        let start = Instant::now();
        let kept = cache
            .as_ref()
            .filter(|_| recalled == frame)
            .and_then(|cache| cache.recall(frame, &like));
        match kept {
            Some(states) => {
                show.scene.step_to(dt, &states);
                recalled += 1;
            }
            None => {
                show.scene.step(dt);
                if let Some(cache) = &cache {
                    cache.keep(frame, &show.scene.engine.kept())?;
                }
            }
        }
        let timings = show.scene.engine.timings();
        let milliseconds = if recalled > frame {
            start.elapsed().as_secs_f64() * 1000.0
        } else {
            timings.of(Stage::Simulate) * 1000.0
        };
        rows.push(measure(&show.scene, milliseconds));
        match (&mut writer, &args.out) {
            (Writer::Character(baker), _) => baker.take(&show.scene),
            (Writer::Alembic(scene), _) => take(&show.scene, scene),
            (Writer::Sequence, Some(path)) => {
                let path = numbered(path, frame);
                let objects = seen(&show.scene).into_iter().map(|seen| seen.object);
                let objects: Vec<ObjObject> = objects.collect();
                output::file(&path, obj::write(&objects).as_bytes())?;
                written.push(path.display().to_string());
            }
            _ => {}
        }
        if let Some(sheet) = &mut sheet {
            sheet.take(&show.scene, frame);
        }
        progress.advance();
    }
    progress.finish();
    match (writer, &args.out) {
        (Writer::Character(baker), Some(path)) => {
            baker.write(&show.scene, path)?;
            written.push(path.display().to_string());
        }
        (Writer::Alembic(scene), Some(path)) => {
            let bytes = alembic::write(&scene).map_err(|error| {
                Failure::new(path.display().to_string(), error.location, error.message)
            })?;
            output::file(path, &bytes)?;
            written.push(path.display().to_string());
        }
        _ => {}
    }
    if let (Some(sheet), Some(path)) = (sheet, &args.sheet) {
        output::file(path, &sheet.picture(&show.scene)?.to_png())?;
        written.push(path.display().to_string());
    }
    let engine = &show.scene.engine;
    let stopped = engine.quarantined().count()
        + engine
            .bodies()
            .filter(|(_, body)| body.is_quarantined())
            .count();
    let hash = format!("{:016x}", engine.hash());
    if args.json {
        let report = json!({
            "frames": rows.iter().map(row_json).collect::<Vec<_>>(),
            "fps": fps,
            "resumed_frames": recalled,
            "quarantined": stopped,
            "hash": hash,
            "out": args.out.as_ref().map(|path| path.display().to_string()),
            "files": written,
        });
        output::json("simulate", report)?;
    } else if !args.quiet {
        output::text(&table(&rows, recalled, stopped, &hash, &written))?;
    }
    Ok(Exit::Fine)
}

/// The kept frames of this scene: its file, the files that it names and the frame rate decide them.
fn cache(folder: &Path, show: &Show, fps: f32) -> Result<Cache, Failure> {
    let spec = serde_json::to_vec(&show.spec)
        .map_err(|error| Failure::new(folder.display().to_string(), "key", error))?;
    let documents = show.documents.iter();
    let documents: Vec<Vec<u8>> = documents
        .map(|document| anim_asset::encode(document, anim_asset::Format::Pack))
        .collect();
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let fps = fps.to_le_bytes();
    let parts = [version, &fps[..], &spec[..]];
    Cache::new(
        folder,
        parts.into_iter().chain(documents.iter().map(Vec::as_slice)),
    )
}

/// `drape.obj` becomes `drape.000042.obj`.
fn numbered(path: &Path, frame: u32) -> PathBuf {
    path.with_extension(format!("{frame:06}.obj"))
}

/// All that is simulated: cloths of actors, then bodies.
fn simulated(scene: &Scene) -> impl Iterator<Item = (&Model, &[[u32; 3]], &State)> {
    let cloths = scene.engine.actors().flat_map(|(_, actor)| {
        let cloths = actor.character().cloths().iter().enumerate();
        cloths.map(|(index, cloth)| (cloth.model(), cloth.triangles(), actor.cloth_state(index)))
    });
    let bodies = scene.engine.bodies().map(|(_, body)| {
        let triangles = body.model().spec().triangles.as_slice();
        (&**body.model(), triangles, body.state())
    });
    cloths.chain(bodies)
}

/// A particle this far inside an obstacle has passed its surface, m: ten roundings of a position ten metres away.
pub(crate) const TOUCH: f32 = 1e-5;

fn measure(scene: &Scene, milliseconds: f64) -> Row {
    let mut row = Row {
        time: scene.time(),
        milliseconds,
        ..Row::default()
    };
    let world = &scene.engine.world;
    let (mut strains, mut parts) = (0.0, 0);
    for (model, triangles, state) in simulated(scene) {
        let one = model.measure(state, world.gravity);
        let all = &mut row.measures;
        all.kinetic_j += one.kinetic_j;
        all.potential_j += one.potential_j;
        all.elastic_j += one.elastic_j;
        all.max_strain = all.max_strain.max(one.max_strain);
        strains += one.mean_strain;
        parts += 1;
        // What is too crowded to be listed is counted as one.
        row.penetrations += self_intersections(&state.positions, triangles).map_or(1, |p| p.len());
        let inside = |position: &&Vec3| {
            let mut colliders = world.colliders.iter();
            colliders.any(|collider| collider.contact(**position).distance < -TOUCH)
        };
        row.penetrations += state.positions.iter().filter(inside).count();
    }
    row.measures.mean_strain = strains / f64::from(parts.max(1));
    for (_, body) in scene.engine.bodies() {
        let outcome = body.outcome();
        row.residual = row.residual.max(outcome.residual);
        row.slowed += outcome.slowed;
        row.pinched += outcome.pinched;
    }
    for (_, actor) in scene.engine.actors() {
        row.hair.extend(grown::hair(actor));
        row.muscles.extend(grown::muscles(actor));
    }
    for hair in &row.hair {
        row.penetrations += hair.penetrations;
        row.slowed += hair.slowed;
        row.pinched += hair.pinched;
    }
    row
}

fn row_json(row: &Row) -> Value {
    json!({
        "t_s": row.time,
        "ms": row.milliseconds,
        "kinetic_j": row.measures.kinetic_j,
        "potential_j": row.measures.potential_j,
        "elastic_j": row.measures.elastic_j,
        "mean_strain": row.measures.mean_strain,
        "max_strain": row.measures.max_strain,
        "penetrations": row.penetrations,
        "residual": row.residual,
        "slowed": row.slowed,
        "pinched": row.pinched,
        "hair": row.hair.iter().map(grown::HairRow::json).collect::<Vec<_>>(),
        "muscles": row.muscles.iter().map(grown::MuscleRow::json).collect::<Vec<_>>(),
    })
}

/// Rows of the table at most.
const TABLE_ROWS: usize = 12;

fn table(rows: &[Row], recalled: u32, stopped: usize, hash: &str, written: &[String]) -> String {
    let mut text = format!(
        "{:>8} {:>9} {:>11} {:>11} {:>10} {:>10} {:>12} {:>7}\n",
        "t (s)", "ms", "kinetic J", "potential J", "mean %", "max %", "penetrations", "slowed"
    );
    let every = rows.len().div_ceil(TABLE_ROWS).max(1);
    for row in rows.iter().step_by(every) {
        text.push_str(&format!(
            "{:>8.3} {:>9.3} {:>11.4} {:>11.4} {:>10.3} {:>10.3} {:>12} {:>7}\n",
            row.time,
            row.milliseconds,
            row.measures.kinetic_j,
            row.measures.potential_j,
            row.measures.mean_strain * 100.0,
            row.measures.max_strain * 100.0,
            row.penetrations,
            row.slowed,
        ));
    }
    if let Some(last) = rows.last() {
        text.push_str(&grown::table(&last.hair, &last.muscles));
    }
    if recalled > 0 {
        text.push_str(&format!("went on after {recalled} kept frames\n"));
    }
    if stopped > 0 {
        text.push_str(&format!("stopped, as not finite: {stopped}\n"));
    }
    text.push_str(&format!("hash {hash}\n"));
    match written {
        [first, .., last] => text.push_str(&format!("wrote {first} to {last}\n")),
        [only] => text.push_str(&format!("wrote {only}\n")),
        [] => {}
    }
    text
}

/// Appends the frame that the scene shows.
fn take(scene: &Scene, all: &mut AbcScene) {
    for (index, Seen { object, width }) in seen(scene).into_iter().enumerate() {
        let is_mesh = !object.triangles.is_empty();
        let (counts, points) = curves(&object.lines);
        let points: Vec<u32> = points.collect();
        if index == all.objects.len() {
            let shape = match is_mesh {
                true => AbcShape::Mesh {
                    faces: object.triangles.iter().map(|t| t.to_vec()).collect(),
                },
                false => AbcShape::Curves {
                    counts,
                    widths: width.map_or_else(Vec::new, |width| vec![width; points.len()]),
                },
            };
            all.objects.push(AbcObject {
                name: object.name.replace('/', "_"),
                shape,
                ..AbcObject::default()
            });
        }
        all.objects[index].frames.push(AbcFrame {
            positions: match is_mesh {
                true => object.positions,
                false => points
                    .iter()
                    .map(|v| object.positions[*v as usize])
                    .collect(),
            },
            normals: object.normals,
            ..AbcFrame::default()
        });
    }
}

/// Lines joined end to end: the number of points of each, and the points.
fn curves(lines: &[[u32; 2]]) -> (Vec<u32>, impl Iterator<Item = u32>) {
    let goes_on = |index: usize| index > 0 && lines[index - 1][1] == lines[index][0];
    let mut counts = Vec::new();
    for index in 0..lines.len() {
        match counts.last_mut() {
            Some(count) if goes_on(index) => *count += 1,
            _ => counts.push(2),
        }
    }
    let points = lines
        .iter()
        .enumerate()
        .flat_map(move |(index, [from, to])| {
            let first = (!goes_on(index)).then_some(*from);
            first.into_iter().chain([*to])
        });
    (counts, points)
}

/// A surface or lines, and how thick those are, m, if that is known.
struct Seen {
    object: ObjObject,
    width: Option<f32>,
}

/// Everything that is to be seen, world space: surfaces, strands of hair and ropes as lines.
fn seen(scene: &Scene) -> Vec<Seen> {
    let mut objects = Vec::new();
    let plain = |object| Seen {
        object,
        width: None,
    };
    for (index, (_, actor)) in scene.engine.actors().enumerate() {
        let surfaces = actor.surfaces().iter().zip(actor.character().surfaces());
        for (part, (blocks, surface)) in surfaces.enumerate() {
            let mut vertices = Vertices {
                positions: (0..blocks.len()).map(|v| blocks.position(v)).collect(),
                normals: (0..blocks.len()).map(|v| blocks.normal(v)).collect(),
            };
            to_world(&mut vertices, &actor.world_from_model());
            let name = surface.name.as_deref().unwrap_or("surface");
            objects.push(plain(ObjObject {
                name: format!("{index}.{part}.{name}"),
                positions: vertices.positions,
                normals: vertices.normals,
                triangles: surface.mesh.triangles().to_vec(),
                lines: Vec::new(),
            }));
        }
    }
    for (index, (_, actor)) in scene.engine.actors().enumerate() {
        let hairs = actor.hairs().iter().zip(actor.character().hairs());
        objects.extend(hairs.enumerate().map(|(part, (hair, model))| {
            let strands = (0..model.followers().len()).map(|s| model.followers().strand(s));
            let lines = strands.flat_map(|strand| {
                (strand.start..strand.end - 1).map(|point| [point as u32, point as u32 + 1])
            });
            let object = ObjObject {
                name: format!("{index}.hair.{part}"),
                positions: hair.strands().to_vec(),
                normals: Vec::new(),
                triangles: Vec::new(),
                lines: lines.collect(),
            };
            Seen {
                object,
                width: Some(2.0 * model.radius),
            }
        }));
    }
    for (index, (_, body)) in scene.engine.bodies().enumerate() {
        let spec = body.model().spec();
        let lines = match spec.triangles.is_empty() {
            true => spec.links.iter().map(|link| link.vertices).collect(),
            false => Vec::new(),
        };
        objects.push(plain(ObjObject {
            name: format!("{index}.{}", body.name()),
            positions: body.positions().to_vec(),
            normals: Vec::new(),
            triangles: spec.triangles.clone(),
            lines,
        }));
    }
    objects
}
