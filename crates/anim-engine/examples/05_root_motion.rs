//! A walk moves its character along two circles, seen from above with foot prints: `cargo run --example 05_root_motion`.
//!
//! The clip walks straight on; the game turns the placement, and root motion goes where it points.

mod common;

use std::f32::consts::FRAC_PI_2;
use std::sync::Arc;

use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{Event, Events, RootMotionOptions};
use anim_engine::{Character, Config, Engine, EngineError, asset};
use anim_view::{Camera, Canvas};
use common::{BLUE, INK, ORANGE, Outcome, announce, caption, draw, stacked, write};

/// rad/s: circles of 1.5 m at the speed of the walk.
const TURN: f32 = 0.8;
const FPS: f32 = 60.0;

fn main() -> Outcome {
    let character = walker()?;
    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    engine.actor_mut(id).ok_or("gone")?.play("walk")?;

    let aspect = 1.8;
    let (low, high) = (Vec3::new(-3.4, 0.0, -1.9), Vec3::new(3.4, 0.5, 1.9));
    let camera = Camera::framing_orthographic(low, high, 0.0, FRAC_PI_2 - 0.02, aspect);
    let mut canvas = Canvas::new(1260, 700, 2)?;
    canvas.ground_grid(&camera, 0.0, 8.0);

    let turn = std::f32::consts::TAU / TURN;
    let frames = (2.0 * turn * FPS).round() as u16;
    let mut before: Option<Vec3> = None;
    let mut prints = 0;
    for frame in 0..=frames {
        let time = f32::from(frame) / FPS;
        let actor = engine.actor_mut(id).ok_or("gone")?;
        // To the left on the first circle, to the right on the second.
        let rate = if time < turn { TURN } else { -TURN };
        let steer = quat::from_axis_angle(Vec3::y(), rate / FPS);
        if frame > 0 {
            actor.placement = actor.placement * Affine::from(Transform::from_rotation(steer));
        }
        engine.step(if frame == 0 { 0.0 } else { 1.0 / FPS });

        let actor = engine.actor(id).ok_or("gone")?;
        let place = actor.world_from_model().translation + Vec3::y() * 0.01;
        if let Some(before) = before {
            canvas.line(&camera, before, place, INK, 1.5);
        }
        before = Some(place);
        for event in actor.events() {
            let color = if event.name == "l" { BLUE } else { ORANGE };
            let joint = |stem: &str| character.joint_named(&format!("{stem}_{}", event.name));
            let heel = actor.world_from_joint(joint("foot")?).translation;
            let ball = actor.world_from_joint(joint("toes")?).translation;
            let sole = [heel, ball, ball + (ball - heel) * 0.35].map(|p| Vec3::new(p.x, 0.01, p.z));
            canvas.line(&camera, sole[0], sole[1], color, 7.0);
            canvas.line(&camera, sole[1], sole[2], color, 9.0);
            prints += 1;
        }
        if frame % 236 == 118 {
            draw(&mut canvas, &camera, actor);
        }
    }
    let end = engine.actor(id).ok_or("gone")?.world_from_model();
    let off = end.translation.norm();
    let text = format!(
        "two circles of {turn:.2} s: {prints} steps, {:.1} cm from the start",
        off * 100.0
    );
    let picture = canvas.finish();
    let key = caption(
        picture.width,
        "seen from above; prints where events of the clip are met: left blue, right orange",
    );
    let picture = stacked(&[caption(picture.width, &text), picture, key]);

    // Straight on, one step of a minute is where 3600 steps of a sixtieth of a second are.
    let [long, short] =
        [(60.0, 1), (1.0 / FPS, 3600)].map(|(dt, count)| straight(&character, dt, count));
    let (long, short) = (long?, short?);
    announce(&format!(
        "a minute's walk in one step {long:.4} m, in 3600 steps {short:.4} m"
    ));
    write("05_root_motion", &picture)
}

/// The figure whose root moves it, with an event in the middle of each stance.
fn walker() -> Outcome<Arc<Character>> {
    let document = asset::builtin::humanoid();
    let bake = Default::default();
    let character = Character::from_document(&document, &bake)?;
    let root = RootMotionOptions::new(character.joint_named("root")?);
    let character = character.with_root_motion(&document.clips, &root, &bake)?;
    let walk = character.clip_named("walk")?;
    let duration = character.clips()[walk].clip.duration();
    let event = |phase: f32, name: &str| Event {
        time: phase * duration,
        name: name.to_owned(),
    };
    let steps = Events::new(vec![event(0.22, "l"), event(0.72, "r")])?;
    Ok(Arc::new(character.with_events("walk", steps)?))
}

/// How far the walk goes in `count` steps of `dt` seconds, m.
fn straight(character: &Arc<Character>, dt: f32, count: u16) -> Result<f32, EngineError> {
    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(character));
    if let Some(actor) = engine.actor_mut(id) {
        actor.play("walk")?;
    }
    for _ in 0..count {
        engine.run(anim_engine::Stage::Animate, dt);
    }
    let place = engine
        .actor(id)
        .map(|actor| actor.world_from_model().translation.z);
    Ok(place.unwrap_or_default())
}
