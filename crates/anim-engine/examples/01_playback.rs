//! Plays a clip and reads what a renderer needs: `cargo run --example 01_playback [FILE [CLIP]]`.
#![allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]

use std::path::PathBuf;
use std::sync::Arc;

use anim_engine::skeleton::BakeOptions;
use anim_engine::{Character, Config, Engine, EngineError, asset};

fn main() -> Result<(), EngineError> {
    let mut arguments = std::env::args().skip(1);
    let document = match arguments.next().map(PathBuf::from) {
        Some(file) => asset::load(&file).map_err(|source| EngineError::Asset {
            file: file.display().to_string(),
            source,
        })?,
        None => asset::builtin::humanoid(),
    };
    for finding in &document.findings {
        println!("{}: {}", finding.location, finding.message);
    }
    let character = Arc::new(Character::from_document(
        &document,
        &BakeOptions::default(),
    )?);
    let clip = match arguments.next() {
        Some(name) => character.clip_named(&name)?,
        None => 0,
    };

    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    if let Some(actor) = engine.actor_mut(id) {
        actor.play_clip(clip);
    }
    for frame in 0..60 {
        engine.step(1.0 / 60.0);
        let Some(actor) = engine.actor(id) else { break };
        if frame % 15 == 0 {
            // A graphics card takes the matrices as they lie; a CPU renderer takes the vertices.
            let matrices = actor.globals().slots();
            let vertices: usize = actor.surfaces().iter().map(|surface| surface.len()).sum();
            let at = matrices
                .last()
                .map(|slot| [slot.0[0][3], slot.0[1][3], slot.0[2][3]]);
            println!(
                "frame {frame}: {} matrices, {vertices} vertices, the last joint at {at:.3?}",
                matrices.len()
            );
        }
    }
    println!(
        "{:.3} ms in the last frame",
        engine.timings().total() * 1000.0
    );
    Ok(())
}
