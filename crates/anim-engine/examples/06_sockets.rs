//! A sword in a hand that reaches, and a light at the tip of the sword: `cargo run --example 06_sockets [PICTURE.png]`.
//!
//! What hangs on a socket is placed when its carrier has been through inverse kinematics, so nothing lags by a frame.

mod common;

use std::sync::Arc;

use anim_engine::geom::{Mesh, primitives};
use anim_engine::ik::TwoBone;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::{Character, Config, Engine, Goal, Socket, asset};
use common::{Outcome, announce, caption, draw, floor, stacked, write};

fn main() -> Outcome {
    let document = asset::builtin::humanoid();
    let fencer = Character::from_document(&document, &Default::default())?;
    let hand = fencer.joint_named("hand_r")?;
    // The palm lies 7 cm along the arm, which rests 40 degrees below the horizon.
    let along_arm = Vec3::new(-0.766, -0.643, 0.0);
    let grip = Socket {
        name: "grip".to_owned(),
        joint: hand,
        joint_from_socket: Affine::from(Transform {
            translation: along_arm * 0.07 + Vec3::z() * 0.015,
            ..Transform::from_rotation(quat::between(Vec3::y(), Vec3::new(-0.25, 0.35, 0.9)))
        }),
    };
    let fencer = Arc::new(fencer.with_sockets([grip])?);
    let sword = Arc::new(sword()?);
    let light = Arc::new(prop(vec![(
        primitives::sphere(0.035, 16, 8),
        Vec3::zeros(),
        [0.9, 0.6, 0.05],
    )])?);

    let mut engine = Engine::new(Config::default())?;
    let light = engine.spawn(light);
    let sword_id = engine.spawn(Arc::clone(&sword));
    let id = engine.spawn(Arc::clone(&fencer));
    engine.attach(sword_id, id, fencer.socket_named("grip")?)?;
    engine.attach(light, sword_id, sword.socket_named("tip")?)?;
    let actor = engine.actor_mut(id).ok_or("gone")?;
    actor.play("idle")?;
    actor.goals.push(Goal::Reach {
        chain: TwoBone::new(fencer.skeleton(), hand)?,
        target: Vec3::zeros(),
        rotation: None,
        pole: Some(Vec3::new(-0.8, 0.6, -0.6)),
        softness: 0.02,
        weight: 1.0,
    });

    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    let mut worst = 0.0_f32;
    for frame in 0..=50_u8 {
        let phase = f32::from(frame) / 50.0;
        let target = Vec3::new(-0.45 + 0.15 * phase, 0.95 + 0.4 * phase, 0.3);
        let actor = engine.actor_mut(id).ok_or("gone")?;
        actor.goals[0].set_target(target);
        engine.step(1.0 / 30.0);

        let fencer = engine.actor(id).ok_or("gone")?;
        let held = engine.actor(sword_id).ok_or("gone")?;
        let gap = held.world_from_model().translation - fencer.world_from_socket(0).translation;
        worst = worst.max(gap.norm());
        if frame % 10 == 0 {
            let camera = common::camera(
                Vec3::new(-0.2, 0.98, 0.2),
                Vec3::new(0.5, 1.0, 0.6),
                0.55,
                0.1,
                0.8,
            );
            let mut canvas = floor(230, 288, &camera, 10.0)?;
            for (_, actor) in engine.actors() {
                draw(&mut canvas, &camera, actor);
            }
            pictures.push(canvas.finish());
            labels.push(format!("frame {frame}"));
        }
    }
    announce(&format!(
        "sword and socket were never further apart than {:.1e} m",
        worst
    ));
    let strip = anim_view::sheet(&pictures, &labels, 6);
    let title = "the hand reaches, and the sword and the light at its tip follow in the same frame";
    write(
        "06_sockets",
        &stacked(&[caption(strip.width, title), strip]),
    )
}

/// Blade, guard and grip, with a socket at the tip.
fn sword() -> Outcome<Character> {
    let steel = [0.6, 0.62, 0.66];
    let bar = |x: f32, y: f32, z: f32| primitives::cuboid(Vec3::new(x, y, z));
    let character = prop(vec![
        (bar(0.022, 0.34, 0.005), Vec3::y() * 0.40, steel),
        (bar(0.09, 0.010, 0.014), Vec3::y() * 0.06, [0.5, 0.35, 0.08]),
        (
            primitives::cylinder(0.014, 0.07, 12, 1),
            Vec3::y() * -0.01,
            [0.2, 0.1, 0.05],
        ),
    ])?;
    let tip = Socket {
        name: "tip".to_owned(),
        joint: character.joint_named("prop")?,
        joint_from_socket: Affine::from(Transform::from_translation(Vec3::y() * 0.74)),
    };
    Ok(character.with_sockets([tip])?)
}

/// A rigid thing: meshes at places, each in a colour.
fn prop(parts: Vec<(Mesh, Vec3, [f32; 3])>) -> Outcome<Character> {
    let primitives = parts.into_iter().map(|(mut mesh, place, color)| {
        mesh.rest
            .positions
            .iter_mut()
            .for_each(|position| *position += place);
        asset::Primitive {
            mesh,
            color,
            ..asset::Primitive::default()
        }
    });
    let document = asset::Document {
        nodes: vec![asset::Node {
            name: Some("prop".to_owned()),
            mesh: Some(0),
            ..asset::Node::default()
        }],
        scenes: vec![vec![0]],
        meshes: vec![asset::MeshSpec {
            primitives: primitives.collect(),
            ..asset::MeshSpec::default()
        }],
        ..asset::Document::default()
    };
    Ok(Character::from_document(&document, &Default::default())?)
}
