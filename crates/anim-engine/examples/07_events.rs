//! Foot steps along time: each step of a walk that becomes a run is met once, with its weight in the blend.
//!
//! `cargo run --example 07_events [PICTURE.png]`

mod common;

use std::sync::Arc;

use anim_engine::math::Vec3;
use anim_engine::skeleton::{Event, Events, Playback, RootMotionOptions, Wrap};
use anim_engine::{ActorLayer, Character, Config, Engine, asset};
use anim_view::plot::{Plot, Series};
use common::{BLUE, ORANGE, Outcome, caption, draw, floor, stacked, write};

const FPS: f32 = 60.0;

fn main() -> Outcome {
    let character = athlete()?;
    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    let clip = |name: &str| -> Outcome<ActorLayer> {
        let clip = character.clip_named(name)?;
        Ok(ActorLayer::clip(clip, Playback::new(1.0, Wrap::Loop)))
    };
    engine.actor_mut(id).ok_or("gone")?.layers = vec![clip("walk")?, clip("run")?];
    let feet = [
        character.joint_named("foot_l")?,
        character.joint_named("foot_r")?,
    ];

    let mut heights: [Vec<[f32; 2]>; 2] = Default::default();
    // Upright strokes, broken by what is no number.
    let mut strokes: [Vec<[f32; 2]>; 2] = Default::default();
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..240_u8 {
        let time = f32::from(frame) / FPS;
        let fade = ((time - 1.6) / 0.8).clamp(0.0, 1.0);
        let (walk, run) = (1.0 - fade, fade);
        let actor = engine.actor_mut(id).ok_or("gone")?;
        // Durations follow the blend, so that both clips stay in step: what graphs do where a blend is synchronised.
        let durations = [32.0 / 30.0, 20.0 / 30.0];
        let length = walk * durations[0] + run * durations[1];
        for (index, layer) in actor.layers.iter_mut().enumerate() {
            layer.weight = [walk, run][index];
            if let Some(playback) = layer.playback_mut() {
                playback.speed = durations[index] / length;
            }
        }
        engine.step(if frame == 0 { 0.0 } else { 1.0 / FPS });

        let actor = engine.actor(id).ok_or("gone")?;
        for side in 0..2 {
            let height = actor.world_from_joint(feet[side]).translation.y;
            heights[side].push([time, height]);
        }
        let mut step = None;
        for event in actor.events() {
            let side = usize::from(event.name == "right");
            let top = 0.5 * event.weight;
            strokes[side].extend([[time, 0.0], [time, top], [f32::NAN; 2]]);
            if event.weight >= 0.5 {
                step = Some(format!(
                    "{time:.2} s {} {:.0} %",
                    event.name,
                    event.weight * 100.0
                ));
            }
        }
        if let Some(label) = step {
            let stands = actor.world_from_model().translation;
            let middle = stands + Vec3::new(0.0, 0.92, 0.0);
            let camera = common::camera(middle, Vec3::new(0.4, 0.95, 0.5), 1.1, 0.1, 0.6);
            let mut canvas = floor(140, 233, &camera, 40.0)?;
            draw(&mut canvas, &camera, actor);
            pictures.push(canvas.finish());
            labels.push(label);
        }
    }
    let count = pictures.len().min(10);
    let strip = anim_view::sheet(&pictures[..count], &labels[..count], count);
    let curve = |label, points, color| Series {
        label,
        points,
        color,
    };
    let series = [
        curve("left ankle", &heights[0][..], BLUE),
        curve("right ankle", &heights[1], ORANGE),
        curve("left", &strokes[0], BLUE),
        curve("right", &strokes[1], ORANGE),
    ];
    let plot = Plot {
        title: "upright strokes: events, 0.5 m high for the whole weight",
        x_label: "time, s",
        y_label: "height of the ankle, m",
        series: &series,
    };
    let width = strip.width;
    let title = "a walk becomes a run from 1.6 to 2.4 s; each step is met once by each clip that has any weight";
    let parts = [caption(width, title), strip, plot.draw(width, 320)?];
    write("07_events", &stacked(&parts))
}

/// The figure whose root moves it, with an event where each foot comes down.
fn athlete() -> Outcome<Arc<Character>> {
    let document = asset::builtin::athlete();
    let bake = Default::default();
    let character = Character::from_document(&document, &bake)?;
    let root = RootMotionOptions::new(character.joint_named("root")?);
    let mut character = character.with_root_motion(&document.clips, &root, &bake)?;
    for clip in ["walk", "run"] {
        let place = character.clip_named(clip)?;
        let half = 0.5 * character.clips()[place].clip.duration();
        let event = |time: f32, name: &str| Event {
            time,
            name: name.to_owned(),
        };
        let steps = Events::new(vec![event(0.0, "left"), event(half, "right")])?;
        character = character.with_events(clip, steps)?;
    }
    Ok(Arc::new(character))
}
