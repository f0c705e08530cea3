//! A hand follows a moving point while the head looks at it: `cargo run --example 02_reach_and_look`.
#![allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]

use std::sync::Arc;

use anim_engine::ik::{LookAt, TwoBone};
use anim_engine::math::Vec3;
use anim_engine::skeleton::BakeOptions;
use anim_engine::{Character, Config, Engine, EngineError, Goal, asset};

fn main() -> Result<(), EngineError> {
    let document = asset::builtin::humanoid();
    let character = Arc::new(Character::from_document(
        &document,
        &BakeOptions::default(),
    )?);
    let hand = character.joint_named("hand_r")?;
    let head = character.joint_named("head")?;
    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(Arc::clone(&character));
    let Some(actor) = engine.actor_mut(id) else {
        return Ok(());
    };
    actor.play("idle")?;
    actor.goals = vec![
        Goal::Reach {
            chain: TwoBone::new(character.skeleton(), hand)?,
            target: Vec3::zeros(),
            rotation: None,
            pole: None,
            softness: 0.02,
            weight: 1.0,
        },
        Goal::LookAt {
            look: LookAt::new(head, Vec3::z(), Vec3::y(), 1.2)?,
            target: Vec3::zeros(),
            weight: 1.0,
        },
    ];
    for frame in 0..8_u8 {
        let height = 1.0 + 0.1 * f32::from(frame);
        let target = Vec3::new(-0.3, height, 0.35);
        let Some(actor) = engine.actor_mut(id) else {
            break;
        };
        actor
            .goals
            .iter_mut()
            .for_each(|goal| goal.set_target(target));
        engine.step(1.0 / 30.0);
        let Some(actor) = engine.actor(id) else { break };
        let reached = actor.world_from_joint(hand).translation;
        // What is out of reach is an answer, not an error.
        let outcome = actor.outcomes()[0];
        println!(
            "target y {height:.1}: hand at ({:.3}, {:.3}, {:.3}), {:.1} mm away",
            reached.x,
            reached.y,
            reached.z,
            outcome.residual * 1000.0
        );
    }
    Ok(())
}
