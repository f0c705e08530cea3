//! Plays a clip, reads what a renderer needs and draws it: `cargo run --example 01_playback [PICTURE.png] [FILE [CLIP]]`.

mod common;

use std::path::PathBuf;
use std::sync::Arc;

use anim_engine::math::Vec3;
use anim_engine::{Character, Config, Engine, EngineError, asset};
use common::{Outcome, announce, draw, floor, write};

fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1).filter(|a| !a.ends_with(".png"));
    let document = match arguments.next().map(PathBuf::from) {
        Some(file) => asset::load(&file).map_err(|source| EngineError::Asset {
            file: file.display().to_string(),
            source,
        })?,
        None => asset::builtin::humanoid(),
    };
    for finding in &document.findings {
        announce(&format!("{}: {}", finding.location, finding.message));
    }
    let options = Character::bake_options(&document)?;
    let character = Arc::new(Character::from_document(&document, &options)?);
    let clip = match arguments.next() {
        Some(name) => character.clip_named(&name)?,
        None => 0,
    };

    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    engine.actor_mut(id).ok_or("gone")?.play_clip(clip);
    let mut pictures = Vec::new();
    let mut labels = Vec::new();
    let mut view = None;
    for frame in 0..48_u8 {
        engine.step(if frame == 0 { 0.0 } else { 1.0 / 60.0 });
        let actor = engine.actor(id).ok_or("gone")?;
        if frame % 8 != 0 {
            continue;
        }
        // A graphics card takes the matrices as they lie; a CPU renderer takes the vertices.
        let matrices = actor.globals().slots();
        let vertices: usize = actor.surfaces().iter().map(|surface| surface.len()).sum();
        let count = matrices.len();
        announce(&format!(
            "frame {frame}: {count} matrices, {vertices} vertices"
        ));

        let points = actor.surfaces().iter();
        let points = points.flat_map(|surface| (0..surface.len()).map(|v| surface.position(v)));
        let corners = points.fold(None, |corners: Option<(Vec3, Vec3)>, point| {
            let (low, high) = corners.unwrap_or((point, point));
            Some((low.inf(&point), high.sup(&point)))
        });
        let (low, high) = corners.unwrap_or((Vec3::zeros(), Vec3::repeat(1.0)));
        // As large as in the first picture, wherever the clip goes.
        let half = *view.get_or_insert((high - low) * 0.55);
        let camera = common::camera((low + high) * 0.5, half, 0.6, 0.15, 0.8);
        let mut canvas = floor(220, 275, &camera, 20.0 * half.amax())?;
        draw(&mut canvas, &camera, actor);
        pictures.push(canvas.finish());
        labels.push(format!("{:.2} s", f32::from(frame) / 60.0));
    }
    let milliseconds = engine.timings().total() * 1000.0;
    announce(&format!("{milliseconds:.3} ms in the last frame"));
    write("01_playback", &anim_view::sheet(&pictures, &labels, 6))
}
