//! Three ways to play several clips at once: a crossfade, a masked override, an additive lean.
//!
//! `cargo run --example 03_crossfade_mask_additive [PICTURE.png]`

mod common;

use std::sync::Arc;

use anim_engine::math::Vec3;
use anim_engine::skeleton::{Mask, Playback, Wrap};
use anim_engine::{ActorLayer, Character, Config, Engine, LayerMode, asset};
use common::{Outcome, caption, draw, floor, stacked, write};

/// Pictures of a row, and seconds between them.
const PICTURES: u8 = 8;
const STEP: f32 = 0.15;

fn main() -> Outcome {
    let document = asset::builtin::athlete();
    let character = Arc::new(Character::from_document(&document, &Default::default())?);
    let layer = |clip: &str| -> Outcome<ActorLayer> {
        let clip = character.clip_named(clip)?;
        Ok(ActorLayer::clip(clip, Playback::new(1.0, Wrap::Loop)))
    };

    // A crossfade is two layers that mix, one's weight falling as the other's rises.
    let crossfade = vec![layer("idle")?, layer("walk")?];
    let fade = |layers: &mut [ActorLayer], time: f32| {
        let weight = (time / (STEP * 7.0)).clamp(0.0, 1.0);
        (layers[0].weight, layers[1].weight) = (1.0 - weight, weight);
    };

    // A layer on top covers the joints of its mask; the mask comes in over two joints so that the shoulder does not break.
    let shoulder = character.joint_named("shoulder_r")?;
    let arm = Mask::subtree(character.skeleton(), shoulder, 1);
    let wave = ActorLayer {
        mode: LayerMode::Override,
        mask: Some(Arc::new(arm)),
        ..layer("wave")?
    };
    let masked = vec![layer("walk")?, wave];

    // An additive layer adds what a clip is more than a reference pose. In model space a lean to the left stays one,
    // however the hips turn below it.
    let lean = character.clip_named("lean")?;
    let mut upright = character.skeleton().rest().clone();
    character.clips()[lean].clip.sample(0.0, &mut upright);
    let lean = ActorLayer {
        mode: LayerMode::AdditiveInModel,
        reference: Some(Arc::new(upright)),
        ..ActorLayer::clip(lean, Playback::new(1.0, Wrap::PingPong))
    };
    let additive = vec![layer("run")?, lean];

    let still = |_: &mut [ActorLayer], _: f32| {};
    let rows = [
        row(&character, crossfade, &fade)?,
        row(&character, masked, &still)?,
        row(&character, additive, &still)?,
    ];
    let width = rows[0].width;
    let [first, second, third] = rows;
    let picture = stacked(&[
        caption(width, "mix: idle to walk in one second"),
        first,
        caption(
            width,
            "override: a wave over a walk, masked to the right arm",
        ),
        second,
        caption(
            width,
            "additive in model space: a lean to the left and back on a run",
        ),
        third,
    ]);
    write("03_crossfade_mask_additive", &picture)
}

/// A row of pictures of layers that play.
fn row(
    character: &Arc<Character>,
    layers: Vec<ActorLayer>,
    change: &dyn Fn(&mut [ActorLayer], f32),
) -> Outcome<anim_view::Image> {
    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(character));
    engine.actor_mut(id).ok_or("gone")?.layers = layers;
    let mut pictures = Vec::new();
    for picture in 0..PICTURES {
        let time = f32::from(picture) * STEP;
        let actor = engine.actor_mut(id).ok_or("gone")?;
        change(&mut actor.layers, time);
        engine.step(if picture == 0 { 0.0 } else { STEP });
        let actor = engine.actor(id).ok_or("gone")?;
        // These clips travel with their root: the camera goes along.
        let root = actor.world_from_joint(character.joint_named("root")?);
        let middle = root.translation + Vec3::y() * 0.95;
        let half = Vec3::new(0.5, 0.95, 0.4);
        let camera = common::camera(middle, half, 0.5, 0.12, 0.72);
        let mut canvas = floor(180, 250, &camera, 40.0)?;
        draw(&mut canvas, &camera, actor);
        pictures.push(canvas.finish());
    }
    let labels: Vec<String> = (0..PICTURES)
        .map(|n| format!("{:.2} s", f32::from(n) * STEP))
        .collect();
    Ok(anim_view::sheet(&pictures, &labels, usize::from(PICTURES)))
}
