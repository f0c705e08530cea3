//! A third-person character: idle, walk and run in a blend space, a jump, a wave on one arm, a lean on top.
//!
//! The graph is data, `locomotion.graph.json`; `anim play locomotion.scene.json` plays the same one without code.
//! `cargo run --example 04_locomotion_graph [PICTURE.png]`

mod common;

use std::sync::Arc;

use anim_engine::graph::GraphSpec;
use anim_engine::math::{Affine, Vec3};
use anim_engine::skeleton::RootMotionOptions;
use anim_engine::{Character, Config, Engine, asset};
use anim_view::plot::{Plot, Series};
use common::{BLUE, INK, ORANGE, Outcome, caption, draw, floor, stacked, write};

/// Frames per second.
const FPS: f32 = 60.0;

fn main() -> Outcome {
    let document = asset::builtin::athlete();
    let bake = Default::default();
    let character = Character::from_document(&document, &bake)?;
    // "root" moves over the ground in walk and run: it shall move the actor.
    let root = RootMotionOptions::new(character.joint_named("root")?);
    let character = Arc::new(character.with_root_motion(&document.clips, &root, &bake)?);
    let spec: GraphSpec = serde_json::from_str(include_str!("locomotion.graph.json"))?;
    let graph = character.graph(&spec)?;

    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    engine.actor_mut(id).ok_or("gone")?.play_graph(graph);

    let mut tracks: [Vec<[f32; 2]>; 4] = Default::default();
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..=360_u16 {
        let time = f32::from(frame) / FPS;
        let speed =
            ramp(time, 0.5, 1.2) * 1.2 + ramp(time, 2.2, 3.0) * 1.8 - ramp(time, 4.8, 5.6) * 3.0;
        let wave = ramp(time, 1.0, 1.3) - ramp(time, 2.2, 2.5);
        let lean = ramp(time, 2.4, 2.8) - ramp(time, 3.2, 3.6);

        // What a game's input would do.
        let actor = engine.actor_mut(id).ok_or("gone")?;
        actor.set("speed", speed)?;
        actor.set("wave", wave)?;
        actor.set("lean", lean)?;
        if frame == 222 {
            actor.fire("jump")?;
        }
        let player = actor.graph().ok_or("no graph")?;
        let state = player.state.machine(player.graph(), "body/legs");
        let state = state.map_or("", |status| status.state).to_owned();
        if state == "jump" || state == "land" {
            // The jump goes up and down; whoever controls the character carries it on.
            let way = Vec3::z() * (speed / FPS);
            actor.placement = actor.placement
                * Affine {
                    translation: way,
                    ..Affine::IDENTITY
                };
        }
        engine.step(if frame == 0 { 0.0 } else { 1.0 / FPS });

        let actor = engine.actor(id).ok_or("gone")?;
        let hips = actor.world_from_joint(character.joint_named("hips")?);
        for (track, value) in tracks
            .iter_mut()
            .zip([speed, wave, lean, hips.translation.y])
        {
            track.push([time, value]);
        }
        if frame % 30 == 15 {
            let stands = actor.world_from_model().translation;
            let middle = stands + Vec3::new(0.0, 1.0, 0.1);
            let camera = common::camera(middle, Vec3::new(0.4, 1.0, 0.5), 0.9, 0.1, 0.62);
            let mut canvas = floor(149, 240, &camera, 40.0)?;
            draw(&mut canvas, &camera, actor);
            pictures.push(canvas.finish());
            labels.push(format!("{time:.2} s {state}"));
        }
    }
    let strip = anim_view::sheet(&pictures, &labels, 12);
    let colors = [BLUE, ORANGE, [0.1, 0.4, 0.1], INK];
    let names = ["speed, m/s", "wave", "lean", "height of the hips, m"];
    let series: Vec<Series<'_>> = (0..4)
        .map(|n| Series {
            label: names[n],
            points: &tracks[n],
            color: colors[n],
        })
        .collect();
    let plot = Plot {
        title: "parameters, and what became of the jump",
        x_label: "time, s",
        y_label: "",
        series: &series,
    };
    let width = strip.width;
    let title =
        "one graph: speed blends idle, walk and run; a trigger jumps; wave and lean lie on top";
    let parts = [caption(width, title), strip, plot.draw(width, 300)?];
    write("04_locomotion_graph", &stacked(&parts))
}

/// 0 before `from`, 1 after `to`, straight between.
fn ramp(time: f32, from: f32, to: f32) -> f32 {
    ((time - from) / (to - from)).clamp(0.0, 1.0)
}
