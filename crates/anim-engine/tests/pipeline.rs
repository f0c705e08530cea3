//! One frame, seen from outside: what each stage hands to the next.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::curves::{Interpolation, Key, Track};
use anim_engine::ik::TwoBone;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{
    BakeOptions, Channel, ClipSpec, Globals, JointTrack, Playback, RootMotionOptions, Wrap,
};
use anim_engine::{Actor, ActorLayer, Character, Config, Engine, Goal, LayerSource, Stage, asset};

fn humanoid() -> Arc<Character> {
    let document = asset::builtin::humanoid();
    Arc::new(Character::from_document(&document, &BakeOptions::default()).expect("a character"))
}

/// The figure whose root moves it over the ground.
fn traveller() -> Arc<Character> {
    let document = asset::builtin::humanoid();
    let bake = BakeOptions::default();
    let character = Character::from_document(&document, &bake).expect("a character");
    let root = RootMotionOptions::new(character.joint_named("root").expect("a root"));
    let moved = character.with_root_motion(&document.clips, &root, &bake);
    Arc::new(moved.expect("root motion"))
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
        let character = traveller();
        let walk = character.clip_named("walk").expect("a walk");
        let duration = character.clips()[walk].clip.duration();
        let mut engine = engine();
        let id = engine.spawn(character);
        let actor = engine.actor_mut(id).expect("the actor");
        actor.play("walk").expect("a walk");
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
            let rest = actor.character().skeleton().rest().clone();
            actor.layers = [live.clone(), rest]
                .map(|pose| ActorLayer {
                    weight: 0.5,
                    ..ActorLayer::new(LayerSource::Live(pose))
                })
                .into();
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
    actor
        .layers
        .push(ActorLayer::new(LayerSource::Live(broken)));
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
            let playback = actor.layers[0].playback_mut().expect("a clip");
            *playback = Playback::new(10.0, Wrap::Clamp);
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
                let ground = scene
                    .engine
                    .world
                    .ground_below(at, 2.0)
                    .expect("ground")
                    .height;
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

#[test]
fn every_stage_sees_what_the_stages_before_did_in_the_same_frame() {
    // A shoulder, an elbow and a hand along +x, with a sword on the hand; a second arm, 1 m behind, reaches for its tip.
    let joint = |name: &str, parent, at: [f32; 3]| asset::Node {
        name: Some(name.to_owned()),
        parent,
        rest: Transform::from_translation(Vec3::from(at)),
        ..asset::Node::default()
    };
    let turn = |frame: u16| {
        let angle = 10.0_f32.to_radians() * f32::from(frame);
        Key::new(
            f32::from(frame) / 60.0,
            quat::from_axis_angle(Vec3::z(), angle),
        )
    };
    let track = Track::new((0..=10).map(turn).collect(), Interpolation::Linear).expect("a track");
    let document = asset::Document {
        nodes: vec![
            joint("shoulder", None, [0.0, 0.0, 0.0]),
            joint("elbow", Some(0), [1.0, 0.0, 0.0]),
            joint("hand", Some(1), [1.0, 0.0, 0.0]),
            joint("sword", Some(2), [0.0, 0.5, 0.0]),
            joint("shoulder2", None, [1.0, 0.0, -1.0]),
            joint("elbow2", Some(4), [1.0, 0.2, 0.0]),
            joint("hand2", Some(5), [1.0, -0.2, 0.0]),
        ],
        clips: vec![ClipSpec {
            name: Some("swing".to_owned()),
            channels: vec![Channel {
                joint: 0,
                track: JointTrack::Rotation(track),
            }],
            ..ClipSpec::default()
        }],
        ..asset::Document::default()
    };
    let character =
        Character::from_document(&document, &BakeOptions::default()).expect("a character");
    let character = Arc::new(character);
    let named = |name| character.joint_named(name).expect("a joint");
    let reach = |end| Goal::Reach {
        chain: TwoBone::new(character.skeleton(), end).expect("an arm"),
        target: Vec3::zeros(),
        rotation: None,
        pole: None,
        softness: 0.0,
        weight: 1.0,
    };
    for threads in [1, 2] {
        let config = Config {
            threads: Some(threads),
            ..Config::default()
        };
        let mut engine = Engine::new(config).expect("an engine");
        let id = engine.spawn(Arc::clone(&character));
        let actor = engine.actor_mut(id).expect("the actor");
        actor.play("swing").expect("a clip");
        actor
            .goals
            .extend([reach(named("hand")), reach(named("hand2"))]);
        for frame in 0..8 {
            let target = Vec3::new(1.2, 0.3 + 0.1 * frame as f32, 0.0);
            engine.run(Stage::Animate, if frame == 0 { 0.0 } else { 1.0 / 60.0 });
            engine.actor_mut(id).expect("the actor").goals[0].set_target(target);
            engine.run(Stage::Ik, 1.0 / 60.0);
            // The tip is where this frame's arm put it; the second goal follows in the same frame.
            let tip = engine
                .actor(id)
                .expect("the actor")
                .world_from_joint(named("sword"))
                .translation;
            engine.actor_mut(id).expect("the actor").goals[1].set_target(tip);
            engine.run(Stage::Ik, 1.0 / 60.0);
            let actor = engine.actor(id).expect("the actor");
            let at = |name| actor.world_from_joint(named(name)).translation;
            assert!((at("hand") - target).norm() < 1e-5, "frame {frame}");
            let offset = actor
                .world_from_joint(named("hand"))
                .transform_point(Vec3::new(0.0, 0.5, 0.0));
            assert!((at("sword") - offset).norm() < 1e-6, "frame {frame}");
            assert!((at("hand2") - at("sword")).norm() < 1e-5, "frame {frame}");
        }
    }
}

#[test]
fn the_cape_stays_whole_on_its_pins_and_outside_the_body() {
    let mut scene = common::scene(1);
    let id = scene.actors[0];
    let character = Arc::clone(scene.engine.actor(id).expect("the actor").character());
    let surface = &character.surfaces()[character.cloths()[0].surface];
    let edges: Vec<(usize, usize, f32)> = surface
        .mesh
        .triangles()
        .iter()
        .flat_map(|[a, b, c]| [(*a, *b), (*b, *c), (*c, *a)])
        .map(|(a, b)| {
            let at = |v: u32| surface.mesh.rest().position(v as usize);
            (a as usize, b as usize, (at(a) - at(b)).norm())
        })
        .collect();
    let hips = character.joint_named("hips").expect("hips");
    for frame in 0..300 {
        scene.step(1.0 / 60.0);
        let actor = scene.engine.actor(id).expect("the actor");
        let cape = &actor.surfaces()[character.cloths()[0].surface];
        for (a, b, rest) in &edges {
            let length = (cape.position(*a) - cape.position(*b)).norm();
            // Diagonals give as cloth shears; nothing explodes.
            assert!(
                length < 2.0 * rest,
                "frame {frame}: an edge of {rest} m is {length} m"
            );
        }
        let inside = actor.globals().get(hips).translation;
        let nearest = (0..cape.len())
            .map(|v| (cape.position(v) - inside).norm())
            .fold(f32::MAX, f32::min);
        assert!(
            nearest > 0.1,
            "frame {frame}: the cape is {nearest} m from the middle of the hips"
        );
    }
    assert_eq!(scene.engine.quarantined().count(), 0);
}

#[test]
fn dust_rises_where_feet_land_and_settles() {
    let mut scene = common::scene(1);
    let mut most = 0;
    for _ in 0..180 {
        scene.step(1.0 / 60.0);
        most = most.max(scene.engine.all_particles().map(|p| p.len()).sum());
    }
    assert!(most >= 60, "{most}");
    for particles in scene.engine.all_particles() {
        for position in &particles.positions {
            let ground = scene
                .engine
                .world
                .ground_below(*position, 2.0)
                .expect("ground")
                .height;
            assert!(position.y > ground - 0.02, "{position:?} is below {ground}");
        }
    }
}

#[test]
fn an_actor_that_is_removed_is_gone_and_its_id_stays_unused() {
    let character = humanoid();
    let mut engine = engine();
    let first = engine.spawn(Arc::clone(&character));
    let second = engine.spawn(character);
    engine.remove(first);
    engine.step(1.0 / 60.0);
    assert!(engine.actor(first).is_none());
    assert!(engine.actor(second).is_some());
    assert_eq!(engine.actors().count(), 1);
    let third = engine.spawn(humanoid());
    assert!(third != first && third != second);
}

#[test]
fn more_threads_than_any_machine_has_are_refused() {
    let config = Config {
        threads: Some(100_000),
        ..Config::default()
    };
    assert!(Engine::new(config).is_err());
}
