//! `anim render`: a picture of one moment, or an onion skin of several.

use std::path::PathBuf;

use anim_engine::scene::CharacterSpec;
use serde_json::json;

use crate::output::{Exit, Failure};
use crate::picture::{self, Look};
use crate::{output, play};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character (.glb, .gltf, .pack) or a scene (.json).
    file: PathBuf,
    /// Number or name of the clip of a character; the first if left out.
    #[arg(long)]
    clip: Option<String>,
    /// Seconds.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    time: f32,
    /// The picture to write.
    #[arg(long, visible_alias = "png")]
    out: PathBuf,
    /// Pixels.
    #[arg(long, default_value_t = 960)]
    width: u32,
    /// Pixels.
    #[arg(long, default_value_t = 960)]
    height: u32,
    /// Turn of the camera about +Y, degrees; 0 faces a character that looks along +Z.
    #[arg(long, allow_negative_numbers = true)]
    yaw: Option<f32>,
    /// How far the camera looks down, degrees.
    #[arg(long, allow_negative_numbers = true)]
    pitch: Option<f32>,
    /// Draw the bones.
    #[arg(long)]
    skeleton: bool,
    /// Draw the edges of triangles.
    #[arg(long)]
    wire: bool,
    /// Draw this many earlier moments too, ever fainter.
    #[arg(long, default_value_t = 0)]
    onion: u32,
    /// Seconds between them.
    #[arg(long, default_value_t = 0.1)]
    onion_step: f32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Scenes are played up to the moment at this rate, for their cloth and particles.
const RATE: f32 = 60.0;

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if !(args.time.is_finite() && args.onion_step.is_finite() && args.onion_step > 0.0) {
        return Err(Failure::option("--time, --onion-step", "not a time"));
    }
    let angles = [args.yaw, args.pitch];
    if !angles.iter().flatten().all(|angle| angle.is_finite()) {
        return Err(Failure::option("--yaw, --pitch", "not an angle"));
    }
    output::check_picture(&args.out)?;
    let mut show = play::open(&args.file, args.clip.as_deref(), None)?;
    let mut look = Look {
        width: args.width,
        height: args.height,
        yaw_deg: args.yaw.unwrap_or(show.spec.camera.yaw_deg),
        pitch_deg: args.pitch.unwrap_or(show.spec.camera.pitch_deg),
        skeleton: args.skeleton,
        wire: args.wire,
        floor: 0.0,
    };
    // Refuses a size that no picture can have before any work is done.
    picture::canvas(&look)?;
    let stateless = show.spec.particles.is_empty() && show.spec.characters.iter().all(is_stateless);
    if !stateless && args.time * RATE > play::MOST_FRAMES as f32 {
        let message = format!("{} s of simulation are too long to play up to", args.time);
        return Err(Failure::option("--time", message));
    }
    let rate = if stateless { 0.0 } else { RATE };
    let scene = &mut show.scene;
    scene.step(0.0);
    let mut earlier = Vec::new();
    for index in (1..=args.onion.min(MAX_ONION)).rev() {
        advance(
            scene,
            (args.time - args.onion_step * index as f32).max(0.0),
            rate,
        );
        earlier.push(picture::Ghost::of(scene));
    }
    advance(scene, args.time, rate);
    let bounds = picture::bounds(scene);
    look.floor = picture::floor(bounds);
    let camera = picture::camera(bounds, &look);
    let image = picture::draw_over(scene, &camera, &look, &earlier)?;
    output::file(&args.out, &image.to_png())?;
    if args.json {
        output::json(
            "render",
            json!({ "out": args.out.display().to_string(), "time": args.time }),
        )?;
    }
    Ok(Exit::Fine)
}

/// Earlier moments at most.
const MAX_ONION: u32 = 16;

/// True if how a character looks at a time does not depend on how it got there.
fn is_stateless(character: &CharacterSpec) -> bool {
    character.feet.is_none()
        && character.cloth.is_empty()
        && character.root_motion.is_none()
        && character.graph.is_none()
        && character.drivers.is_empty()
}

/// Plays on until `time`, s, in steps of at most 1 / `rate` s; in one step where `rate` is 0.
fn advance(scene: &mut anim_engine::Scene, time: f32, rate: f32) {
    let left = f64::from(time) - scene.time();
    let frames = (left.abs() * f64::from(rate)).ceil().max(1.0) as u32;
    for _ in 0..frames {
        scene.step((left / f64::from(frames)) as f32);
    }
}
