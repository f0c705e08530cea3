//! `anim play`: the whole frame over a clip or a scene.

use std::path::{Path, PathBuf};

use anim_asset::{AssetError, Document};
use anim_engine::scene::CharacterSpec;
use anim_engine::skeleton::{ClipSpec, Wrap};
use anim_engine::{Config, EngineError, Scene, SceneSpec, Stage};
use serde_json::{Value, json};

use crate::bake::Baker;
use crate::contact_sheet::Sheet;
use crate::output::{Exit, Failure};
use crate::picture::Look;
use crate::progress::Progress;
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character (.glb, .gltf, .pack) or a scene (.json).
    file: PathBuf,
    /// Number or name of the clip of a character; the first if left out.
    #[arg(long)]
    clip: Option<String>,
    #[command(flatten)]
    run: RunArgs,
}

/// How a scene is run, shared by `play` and `demo`.
#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Frames per second; the scene's own, or 30.
    #[arg(long)]
    pub(crate) fps: Option<f32>,
    /// Number of frames; as many as the clip or scene lasts.
    #[arg(long)]
    pub(crate) frames: Option<u32>,
    /// Threads; results do not depend on them.
    #[arg(long)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress bar, no table.
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Write the frames as a character that any program plays.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Write a contact sheet.
    #[arg(long, visible_alias = "png")]
    pub(crate) sheet: Option<PathBuf>,
}

/// A scene with the files of its actors.
#[derive(Debug)]
pub(crate) struct Show {
    pub(crate) scene: Scene,
    pub(crate) spec: SceneSpec,
    pub(crate) documents: Vec<Document>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let show = open(&args.file, args.clip.as_deref(), args.run.threads)?;
    perform(show, &args.run, "play")
}

/// A scene file, or a character that plays a clip.
pub(crate) fn open(
    path: &Path,
    clip: Option<&str>,
    threads: Option<usize>,
) -> Result<Show, Failure> {
    match scene_text(path)? {
        Some(text) => {
            if clip.is_some() {
                return Err(Failure::option("--clip", "a scene names its own clips"));
            }
            let mut spec = parse(&text, &path.display().to_string())?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            read_graphs(&mut spec, &folder)?;
            set_up(spec, &path.display().to_string(), threads, &mut |file| {
                load(&folder, file)
            })
        }
        None => {
            let mut document = input::document(path)?;
            let clip = input::clip(&document.clips, clip)?;
            let clip = clip.map(|(_, clip)| clip.clone());
            let spec = SceneSpec {
                duration: clip.as_ref().map_or(0.0, ClipSpec::duration),
                characters: vec![CharacterSpec {
                    file: input::file_name(path),
                    ..CharacterSpec::default()
                }],
                ..SceneSpec::default()
            };
            // Only what plays is baked.
            document.clips = clip.into_iter().collect();
            let mut show = set_up(spec, &path.display().to_string(), threads, &mut |_| {
                Ok(document.clone())
            })?;
            let id = show.scene.actors.first().copied();
            if let Some(actor) = id.and_then(|id| show.scene.engine.actor_mut(id)) {
                actor.play_clip(0);
                // The end of a clip is its last pose and not the first.
                if let Some(playback) = actor.layers[0].playback_mut() {
                    playback.wrap = Wrap::Clamp;
                }
            }
            Ok(show)
        }
    }
}

/// The text of a scene file; `None` if the file is something else.
fn scene_text(path: &Path) -> Result<Option<String>, Failure> {
    if path
        .extension()
        .is_none_or(|extension| !extension.eq_ignore_ascii_case("json"))
    {
        return Ok(None);
    }
    let fail = |error: std::io::Error| Failure::new(path.display().to_string(), "read", error);
    std::fs::read_to_string(path).map(Some).map_err(fail)
}

/// Reads the graphs that lie in files beside the scene.
fn read_graphs(spec: &mut SceneSpec, folder: &Path) -> Result<(), Failure> {
    for character in &mut spec.characters {
        if let (None, Some(file)) = (&character.graph, &character.graph_file) {
            let path = folder.join(file);
            let name = path.display().to_string();
            let text = std::fs::read_to_string(&path)
                .map_err(|error| Failure::new(name.as_str(), "read", error))?;
            let graph = serde_json::from_str(&text).map_err(|error| misread(&error, &name))?;
            character.graph = Some(graph);
        }
    }
    Ok(())
}

/// Reads a scene.
pub(crate) fn parse(text: &str, file: &str) -> Result<SceneSpec, Failure> {
    serde_json::from_str(text).map_err(|error| misread(&error, file))
}

/// What is wrong with a JSON file, and where.
pub(crate) fn misread(error: &serde_json::Error, file: &str) -> Failure {
    let place = format!("line {} column {}", error.line(), error.column());
    // serde_json ends its message with the place, which has its own part here.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    Failure::new(file, place, message)
}

/// A character of a scene: a built-in one, or a file beside the scene.
pub(crate) fn load(folder: &Path, file: &str) -> Result<Document, AssetError> {
    match file.strip_prefix("builtin:") {
        Some(name) => anim_asset::builtin::named(name).ok_or_else(|| AssetError {
            code: "UNKNOWN_BUILTIN",
            location: "/".to_owned(),
            message: format!("no built-in character '{name}'"),
        }),
        None => anim_asset::load(&folder.join(file)),
    }
}

/// Makes a scene ready and keeps the files of its actors.
pub(crate) fn set_up(
    spec: SceneSpec,
    file: &str,
    threads: Option<usize>,
    load: &mut dyn FnMut(&str) -> Result<Document, AssetError>,
) -> Result<Show, Failure> {
    let config = Config {
        threads,
        ..Config::default()
    };
    let scene = Scene::new(&spec, config, load).map_err(|error| match &error {
        EngineError::Asset { file, source } => Failure::new(
            file.as_str(),
            source.location.clone(),
            format!("{} [{}]", source.message, source.code),
        ),
        EngineError::Scene { place, message } => Failure::new(file, place.as_str(), message),
        other => Failure::new(file, "/", other),
    })?;
    let documents = spec
        .characters
        .iter()
        .map(|character| load(&character.file));
    let documents = documents
        .collect::<Result<_, _>>()
        .map_err(|error: AssetError| Failure::new(file, error.location, error.message))?;
    Ok(Show {
        scene,
        spec,
        documents,
    })
}

/// Frames of one run at most: an hour at 24 a second and more.
pub(crate) const MOST_FRAMES: u32 = 100_000;

/// The frames to run: as many as were asked for, or as `duration` seconds have; at least one.
pub(crate) fn frames_of(asked: Option<u32>, duration: f32, fps: f32) -> Result<u32, Failure> {
    // A cast takes what is too large to the largest.
    let frames = asked.unwrap_or((duration * fps).round().max(1.0) as u32);
    if (1..=MOST_FRAMES).contains(&frames) {
        return Ok(frames);
    }
    let message = format!("{frames} frames are not in 1 to {MOST_FRAMES}");
    Err(Failure::option("--frames", message))
}

/// Runs a scene to its end and writes what was asked for.
pub(crate) fn perform(mut show: Show, args: &RunArgs, verb: &str) -> Result<Exit, Failure> {
    // A long run is not to fail at its end.
    args.out
        .as_deref()
        .map(output::character_format)
        .transpose()?;
    args.sheet
        .as_deref()
        .map_or(Ok(()), output::check_picture)?;
    let fps = args.fps.unwrap_or(show.spec.fps);
    if !(fps > 0.0 && fps <= 1000.0) {
        return Err(Failure::option(
            "--fps",
            format!("{fps} is not in (0, 1000]"),
        ));
    }
    let frames = frames_of(args.frames, show.spec.duration, fps)?;
    if let Some(path) = &args.out {
        output::character_format(path)?;
    }
    let look = Look {
        width: 400,
        height: 480,
        yaw_deg: show.spec.camera.yaw_deg,
        pitch_deg: show.spec.camera.pitch_deg,
        skeleton: false,
        wire: false,
        floor: 0.0,
    };
    let mut baker = args
        .out
        .as_ref()
        .map(|_| Baker::new(fps, std::mem::take(&mut show.documents)));
    let mut sheet = args.sheet.as_ref().map(|_| Sheet::new(frames, look));
    let progress = Progress::new(frames, args.json || args.quiet);
    let mut seconds: Vec<[f64; 4]> = Vec::with_capacity(frames as usize);
    for frame in 0..frames {
        // The first frame shows time 0.
        show.scene.step(if frame == 0 { 0.0 } else { 1.0 / fps });
        let timings = show.scene.engine.timings();
        seconds.push(Stage::ALL.map(|stage| timings.of(stage)));
        if let Some(baker) = &mut baker {
            baker.take(&show.scene);
        }
        if let Some(sheet) = &mut sheet {
            sheet.take(&show.scene, frame);
        }
        progress.advance();
    }
    progress.finish();
    let mut written: Vec<String> = Vec::new();
    if let (Some(baker), Some(path)) = (baker, &args.out) {
        baker.write(&show.scene, path)?;
        written.push(path.display().to_string());
    }
    if let (Some(sheet), Some(path)) = (sheet, &args.sheet) {
        output::file(path, &sheet.picture(&show.scene)?.to_png())?;
        written.push(path.display().to_string());
    }
    let report = report(&show, fps, &seconds, &written);
    if args.json {
        output::json(verb, report)?;
    } else if !args.quiet {
        output::text(&table(&report, &seconds))?;
    }
    Ok(Exit::Fine)
}

fn report(show: &Show, fps: f32, seconds: &[[f64; 4]], written: &[String]) -> Value {
    let mut totals: Vec<f64> = seconds
        .iter()
        .map(|stages| stages.iter().sum::<f64>() * 1000.0)
        .collect();
    totals.sort_by(f64::total_cmp);
    let at = |fraction: f64| {
        totals
            .get(((totals.len().max(1) - 1) as f64 * fraction).round() as usize)
            .copied()
    };
    let mean = |stage: usize| {
        // The sum of nothing is −0.
        let sum: f64 = seconds.iter().map(|stages| stages[stage]).sum();
        (sum + 0.0) * 1000.0 / seconds.len().max(1) as f64
    };
    let engine = &show.scene.engine;
    json!({
        "frames": seconds.len(),
        "fps": fps,
        "stages_ms": { "animate": mean(0), "ik": mean(1), "simulate": mean(2), "skin": mean(3) },
        "frame_ms": { "median": at(0.5), "p95": at(0.95), "max": at(1.0) },
        "quarantined": engine.quarantined().count(),
        "hash": format!("{:016x}", engine.hash()),
        "out": written.first(),
        "files": written,
    })
}

/// Rows of the frame table at most.
const TABLE_ROWS: usize = 12;

/// Milliseconds a stage, some frames and then the mean.
fn table(report: &Value, seconds: &[[f64; 4]]) -> String {
    let mut text = format!(
        "{:>6} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
        "frame", "animate", "ik", "simulate", "skin", "ms"
    );
    let every = seconds.len().div_ceil(TABLE_ROWS).max(1);
    for (frame, stages) in seconds.iter().enumerate().step_by(every) {
        let total: f64 = stages.iter().sum();
        text.push_str(&format!("{frame:>6}"));
        for value in stages.iter().chain([&total]) {
            text.push_str(&format!(" {:>9.3}", value * 1000.0));
        }
        text.push('\n');
    }
    let number = |a: &str, b: &str| report[a][b].as_f64().unwrap_or(0.0);
    text.push_str(&format!(
        "{:>6} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.3}  median {:.3}, 95 % {:.3}, max {:.3} ms a frame\n",
        "mean",
        number("stages_ms", "animate"),
        number("stages_ms", "ik"),
        number("stages_ms", "simulate"),
        number("stages_ms", "skin"),
        ["animate", "ik", "simulate", "skin"].iter().map(|stage| number("stages_ms", stage)).sum::<f64>() + 0.0,
        number("frame_ms", "median"),
        number("frame_ms", "p95"),
        number("frame_ms", "max"),
    ));
    text.push_str(&format!(
        "hash {}\n",
        report["hash"].as_str().unwrap_or_default()
    ));
    for file in report["files"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        text.push_str(&format!("wrote {file}\n"));
    }
    text
}
