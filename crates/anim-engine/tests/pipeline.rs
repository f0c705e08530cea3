//! One frame, seen from outside: what each stage hands to the next.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::ik::TwoBone;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{BakeOptions, Globals, Wrap};
use anim_engine::{Actor, ActorLayer, Character, Config, Engine, Goal, LayerSource, Stage, asset};

fn humanoid() -> Arc<Character> {
    let document = asset::builtin::humanoid();
    Arc::new(Character::from_document(&document, &BakeOptions::default()).expect("a character"))
}

fn engine() -> Engine {
    let config = Config {
        threads: Some(1),
        ..Config::default()
    };
    Engine::new(config).expect("an engine")
}

/// Steps one actor of the built-in figure by frames of 1/60 s.
fn run(set_up: impl FnOnce(&mut Actor), frames: usize) -> Engine {
    let mut engine = engine();
    let id = engine.spawn(humanoid());
    set_up(engine.actor_mut(id).expect("the actor"));
    (0..frames).for_each(|_| engine.step(1.0 / 60.0));
    engine
}

fn only(engine: &Engine) -> &Actor {
    engine.actors().next().expect("one actor").1
}

#[test]
fn without_layers_an_actor_rests() {
    let engine = run(|_| {}, 3);
    let actor = only(&engine);
    assert_eq!(actor.pose(), actor.character().skeleton().rest());
}

#[test]
fn the_stages_run_one_by_one_are_the_frame() {
    let mut whole = run(|actor| actor.play("walk").expect("a walk"), 0);
    let mut apart = run(|actor| actor.play("walk").expect("a walk"), 0);
    for _ in 0..30 {
        whole.step(1.0 / 60.0);
        Stage::ALL
            .iter()
            .for_each(|stage| apart.run(*stage, 1.0 / 60.0));
    }
    assert_eq!(whole.hash(), apart.hash());
}

#[test]
fn root_motion_travels_the_same_way_in_every_loop() {
    let travel = |loops: f32| {
        let character = humanoid();
        let walk = character.clip_named("walk").expect("a walk");
        let duration = character.clips()[walk].clip.duration();
        let root = character.joint_named("root").expect("a root");
        let mut engine = engine();
        let id = engine.spawn(character);
        let actor = engine.actor_mut(id).expect("the actor");
        actor.play("walk").expect("a walk");
        actor.root_motion = Some(root);
        engine.step(duration * loops);
        only(&engine).world_from_model().translation
    };
    let once = travel(1.0);
    assert!(once.z > 0.5, "{once:?}");
    for loops in [-2.0, 3.0, 10.0] {
        // Sums of ten strides round to a few ulps of ten metres.
        assert!(
            (travel(loops) - once * loops).norm() < 1e-4,
            "{loops} loops"
        );
    }
}

#[test]
fn a_reach_ends_where_its_target_is_in_the_same_frame() {
    let character = humanoid();
    let hand = character.joint_named("hand_l").expect("a hand");
    let chain = TwoBone::new(character.skeleton(), hand).expect("an arm");
    let mut engine = engine();
    let id = engine.spawn(character);
    let actor = engine.actor_mut(id).expect("the actor");
    actor.play("walk").expect("a walk");
    actor.placement = Affine {
        linear: quat::from_axis_angle(Vec3::y(), 0.7)
            .to_rotation_matrix()
            .into_inner(),
        translation: Vec3::new(2.0, 0.0, -3.0),
    };
    actor.goals.push(Goal::Reach {
        chain,
        target: Vec3::zeros(),
        rotation: None,
        pole: None,
        softness: 0.0,
        weight: 1.0,
    });
    for frame in 0..30 {
        let actor = engine.actor_mut(id).expect("the actor");
        let shoulder = actor
            .world_from_model()
            .transform_point(Vec3::new(0.25, 1.3, 0.25));
        let target = shoulder + Vec3::y() * (0.003 * frame as f32);
        actor.goals[0].set_target(target);
        engine.step(1.0 / 60.0);
        let actor = engine.actor(id).expect("the actor");
        let reached = actor.world_from_joint(hand).translation;
        if actor.outcomes()[0].reached {
            assert!(
                (reached - target).norm() < 1e-4,
                "frame {frame}: {reached:?}, {target:?}"
            );
        }
    }
    assert!(engine.actor(id).expect("the actor").outcomes()[0].reached);
}

#[test]
fn a_live_pose_is_a_layer_like_any_other() {
    let character = humanoid();
    let head = character.joint_named("head").expect("a head");
    let mut live = character.skeleton().rest().clone();
    live.set_rotation(head, quat::from_axis_angle(Vec3::y(), 0.8));
    let engine = run(
        |actor| {
            actor.layers.push(ActorLayer {
                source: LayerSource::Live(live.clone()),
                weight: 0.5,
            });
            actor.layers.push(ActorLayer {
                source: LayerSource::Live(actor.character().skeleton().rest().clone()),
                weight: 0.5,
            });
        },
        1,
    );
    let rest = only(&engine).character().skeleton().rest().rotation(head);
    let turned = only(&engine).pose().rotation(head);
    let half = quat::slerp(rest, live.rotation(head), 0.5);
    assert!(quat::angle_between(turned, half) < 1e-3);
}

#[test]
fn a_pose_that_is_no_number_is_put_back_and_listed() {
    let character = humanoid();
    let spine = character.joint_named("spine").expect("a spine");
    let mut broken = character.skeleton().rest().clone();
    broken.set(
        spine,
        Transform::from_translation(Vec3::new(f32::NAN, 0.0, 0.0)),
    );
    let mut engine = engine();
    let id = engine.spawn(character);
    engine.step(1.0 / 60.0);
    let actor = engine.actor_mut(id).expect("the actor");
    actor.layers.push(ActorLayer {
        source: LayerSource::Live(broken),
        weight: 1.0,
    });
    engine.step(1.0 / 60.0);
    assert_eq!(engine.quarantined().collect::<Vec<_>>(), [id]);
    let actor = engine.actor_mut(id).expect("the actor");
    assert!(actor.pose().is_finite());
    let finite = |block: &anim_engine::skin::VertexBlock| {
        block.position.as_flattened().iter().all(|v| v.is_finite())
    };
    assert!(
        actor
            .surfaces()
            .iter()
            .all(|surface| surface.blocks().iter().all(finite))
    );
    actor.layers.clear();
    actor.restart();
    engine.step(1.0 / 60.0);
    assert_eq!(engine.quarantined().count(), 0);
}

#[test]
fn a_clip_that_does_not_repeat_holds_its_last_pose() {
    let engine = run(
        |actor| {
            actor.play("walk").expect("a walk");
            if let LayerSource::Clip { wrap, speed, .. } = &mut actor.layers[0].source {
                *wrap = Wrap::Clamp;
                *speed = 10.0;
            }
        },
        60,
    );
    let actor = only(&engine);
    let walk = actor.character().clip_named("walk").expect("a walk");
    let clip = &actor.character().clips()[walk].clip;
    let mut last = actor.character().skeleton().rest().clone();
    clip.sample(clip.duration(), &mut last);
    assert_eq!(actor.pose(), &last);
}

#[test]
fn unknown_names_are_errors_that_list_what_there_is() {
    let character = humanoid();
    let error = character.clip_named("wlak").expect_err("no such clip");
    assert!(error.to_string().contains("walk"), "{error}");
    let error = character.joint_named("tail").expect_err("no such joint");
    assert!(error.to_string().contains("hips"), "{error}");
}

#[test]
fn planted_feet_stand_on_the_hills_and_do_not_slide() {
    let mut scene = common::scene(1);
    let id = scene.actors[0];
    let character = Arc::clone(scene.engine.actor(id).expect("the actor").character());
    let joint = |name| character.joint_named(name).expect("a joint");
    let feet = [("foot_l", "toes_l"), ("foot_r", "toes_r")].map(|(a, b)| (joint(a), joint(b)));
    let rest = |joint| {
        let mut globals = Globals::new(character.skeleton());
        character
            .skeleton()
            .globals(character.skeleton().rest(), &mut globals);
        globals.get(joint).translation.y
    };
    let (mut planted, mut still) = (0, 0);
    let mut before: [Option<Vec3>; 2] = [None; 2];
    for frame in 0..300 {
        scene.step(1.0 / 60.0);
        let actor = scene.engine.actor(id).expect("the actor");
        for (side, contact) in actor.contacts().iter().enumerate() {
            let (ankle, ball) = feet[side];
            let lift = |joint| {
                let at = actor.world_from_joint(joint).translation;
                let ground = scene.engine.world.ground_below(at, 2.0).expect("ground").0;
                at.y - ground - rest(joint)
            };
            let (heel_lift, ball_lift) = (lift(ankle), lift(ball));
            // A foot's rigid map is exact where it touches; the ground bends by less over the length of a foot.
            let bend = 0.01;
            assert!(
                heel_lift > -bend && ball_lift > -bend,
                "frame {frame}: below the ground"
            );
            let at = actor.world_from_joint(ball).translation;
            if contact.planted {
                planted += 1;
                assert!(
                    heel_lift.min(ball_lift) < 0.05,
                    "frame {frame}: planted in the air"
                );
            }
            // While the ball of the foot rests, it rests in one place.
            if contact.planted && ball_lift < 1e-3 {
                if let Some(before) = before[side] {
                    still += 1;
                    assert!(
                        (at - before).norm() < 2e-3,
                        "frame {frame}: slides {}",
                        (at - before).norm()
                    );
                }
                before[side] = Some(at);
            } else {
                before[side] = None;
            }
        }
    }
    assert!(
        planted > 300 && still > 200,
        "{planted} planted, {still} still"
    );
}
