//! What an actor plays: layers, events, root motion, graphs, levels of detail.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::graph::GraphSpec;
use anim_engine::math::{Affine, Vec3, quat};
use anim_engine::skeleton::{Mask, Playback, Pose, SkeletonLod, Wrap};
use anim_engine::{
    Actor, ActorId, ActorLayer, Character, Detail, Engine, LayerMode, LayerSource, Stage,
};
use common::{engine, event, figure, rigid_distance, walker};

/// Steps the pose alone.
fn animate(engine: &mut Engine, frames: usize, dt: f32) {
    for _ in 0..frames {
        engine.run(Stage::Animate, dt);
        engine.run(Stage::Ik, dt);
    }
}

fn spawn(engine: &mut Engine, character: &Arc<Character>, layers: Vec<ActorLayer>) -> ActorId {
    let id = engine.spawn(Arc::clone(character));
    engine.actor_mut(id).expect("the actor").layers = layers;
    id
}

fn actor(engine: &Engine, id: ActorId) -> &Actor {
    engine.actor(id).expect("the actor")
}

fn looping(character: &Character, clip: &str) -> ActorLayer {
    let clip = character.clip_named(clip).expect("a clip");
    ActorLayer::clip(clip, Playback::new(1.0, Wrap::Loop))
}

fn live(pose: &Pose) -> ActorLayer {
    ActorLayer::new(LayerSource::Live(pose.clone()))
}

#[test]
fn a_masked_override_moves_what_it_masks_and_no_other_bit() {
    let character = figure();
    let skeleton = character.skeleton();
    let shoulder = character.joint_named("upper_arm_r").expect("an arm");
    let arm = Mask::subtree(skeleton, shoulder, 0);
    let wave = ActorLayer {
        mode: LayerMode::Override,
        mask: Some(Arc::new(arm.clone())),
        ..looping(&character, "wave")
    };
    let walk = looping(&character, "walk");
    let mut engine = engine(1);
    let both = spawn(&mut engine, &character, vec![walk.clone(), wave.clone()]);
    let below = spawn(&mut engine, &character, vec![walk]);
    let above = spawn(
        &mut engine,
        &character,
        vec![ActorLayer { mask: None, ..wave }],
    );
    animate(&mut engine, 7, 1.0 / 30.0);
    for joint in skeleton.joints() {
        let source = if arm.get(joint) == 1.0 { above } else { below };
        let expected = actor(&engine, source).pose().get(joint);
        assert_eq!(actor(&engine, both).pose().get(joint), expected);
    }
}

#[test]
fn the_difference_of_two_poses_added_to_one_is_the_other() {
    let character = figure();
    let sample = |clip: &str| {
        let clip = character.clip_named(clip).expect("a clip");
        let mut pose = character.skeleton().rest().clone();
        character.clips()[clip].clip.sample(0.3, &mut pose);
        pose
    };
    let (idle, wave) = (sample("idle"), sample("wave"));
    for mode in [LayerMode::Additive, LayerMode::AdditiveInModel] {
        let added = ActorLayer {
            mode,
            reference: Some(Arc::new(idle.clone())),
            ..live(&wave)
        };
        let mut engine = engine(1);
        let id = spawn(&mut engine, &character, vec![live(&idle), added]);
        animate(&mut engine, 1, 0.1);
        for joint in character.skeleton().joints() {
            let got = actor(&engine, id).pose().rotation(joint);
            // Products of a handful of unit quaternions.
            assert!(quat::angle_between(got, wave.rotation(joint)) < 1e-5);
        }
    }
}

#[test]
fn no_layer_is_lost_however_many_there_are() {
    let character = walker();
    let hips = character.joint_named("hips").expect("hips");
    let layer = |n: u8| {
        let mut pose = character.skeleton().rest().clone();
        pose.set_translation(hips, Vec3::x() * f32::from(n));
        ActorLayer {
            weight: 0.025,
            ..live(&pose)
        }
    };
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, (0..40).map(layer).collect());
    animate(&mut engine, 1, 0.1);
    // The mean of 0 to 39; forty roundings of up to 39.
    let x = actor(&engine, id).pose().translation(hips).x;
    assert!((x - 19.5).abs() < 1e-3, "{x}");
}

#[test]
fn a_layer_of_another_skeleton_rests_instead_of_failing() {
    let character = walker();
    let foreign = figure();
    let mask = Mask::uniform(foreign.skeleton(), 1.0);
    let layers = vec![
        live(foreign.skeleton().rest()),
        ActorLayer {
            mask: Some(Arc::new(mask)),
            mode: LayerMode::Additive,
            ..looping(&character, "walk")
        },
        ActorLayer::clip(99, Playback::default()),
    ];
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, layers);
    animate(&mut engine, 3, 0.1);
    assert_eq!(actor(&engine, id).pose(), character.skeleton().rest());
}

#[test]
fn events_come_once_however_time_is_cut() {
    let character = walker();
    for (frames, dt) in [(1, 4.0), (40, 0.1), (400, 0.01)] {
        let mut engine = engine(1);
        let walk = looping(&character, "walk");
        let id = spawn(&mut engine, &character, vec![walk]);
        let mut met = Vec::new();
        for _ in 0..frames {
            engine.run(Stage::Animate, dt);
            let events = actor(&engine, id).events();
            met.extend(events.map(|event| (event.name.to_owned(), event.weight)));
        }
        // Four turns of two steps; the sums of frame times may end a hair before or after the last moment, where none is.
        let step = |name: &str| (name.to_owned(), 1.0);
        let expected: Vec<_> = (0..4).flat_map(|_| [step("left"), step("right")]).collect();
        assert_eq!(met, expected, "{frames} frames");
    }
}

#[test]
fn events_tell_their_layer_weight_and_direction() {
    let character = walker();
    let mut back = looping(&character, "walk");
    *back.playback_mut().expect("a clip") = Playback::new(-1.0, Wrap::Loop);
    let silent = ActorLayer {
        weight: 0.0,
        ..looping(&character, "walk")
    };
    let quarter = ActorLayer {
        weight: 0.25,
        ..back
    };
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, vec![silent, quarter]);
    engine.run(Stage::Animate, 0.5);
    let events: Vec<_> = actor(&engine, id).events().collect();
    assert_eq!(events.len(), 1);
    let met = events[0];
    assert_eq!((met.name, met.layer, met.weight), ("right", 1, 0.25));
    assert!(met.backward);
}

#[test]
fn more_events_than_there_is_room_for_are_counted() {
    let character = walker();
    let mut engine = engine(1);
    let walk = looping(&character, "walk");
    let id = spawn(&mut engine, &character, vec![walk]);
    engine.run(Stage::Animate, 1e6);
    let actor = actor(&engine, id);
    assert_eq!(actor.events().count(), anim_engine::MOST_EVENTS);
    assert_eq!(actor.lost_events(), anim_engine::MOST_EVENTS);
}

#[test]
fn four_quarter_turns_of_a_walk_end_where_they_began() {
    let character = walker();
    let place = |dt: f32, frames: usize| {
        let mut engine = engine(1);
        let curve = looping(&character, "curve");
        let id = spawn(&mut engine, &character, vec![curve]);
        animate(&mut engine, frames, dt);
        actor(&engine, id).world_from_model()
    };
    assert!((place(1.0, 1).translation - Vec3::new(1.0, 0.0, 1.0)).norm() < 1e-4);
    // A circle of 1 m in steps of any length, a hundred turns of it in one step.
    for (dt, frames) in [(4.0, 1), (0.25, 16), (0.016, 250), (400.0, 1)] {
        let off = rigid_distance(&place(dt, frames), &Affine::IDENTITY);
        assert!(off < 1e-3, "{frames} frames of {dt} s: {off}");
    }
}

#[test]
fn ten_thousand_turning_steps_keep_an_actor_rigid() {
    let character = walker();
    let mut engine = engine(1);
    let curve = looping(&character, "curve");
    let id = spawn(&mut engine, &character, vec![curve]);
    for _ in 0..10_000 {
        engine.run(Stage::Animate, 0.0137);
    }
    let linear = actor(&engine, id).world_from_model().linear;
    let off = (linear.transpose() * linear - anim_engine::math::Mat3::identity()).amax();
    assert!(off < 1e-5, "{off}");
}

#[test]
fn a_seek_goes_nowhere_and_the_way_back_is_the_way() {
    let character = walker();
    let mut engine = engine(1);
    let curve = looping(&character, "curve");
    let id = spawn(&mut engine, &character, vec![curve]);
    animate(&mut engine, 13, 0.11);
    let before = actor(&engine, id).world_from_model();
    let playback = |engine: &mut Engine, change: &dyn Fn(&mut Playback)| {
        let actor = engine.actor_mut(id).expect("the actor");
        change(actor.layers[0].playback_mut().expect("a clip"));
    };
    let time = match &actor(&engine, id).layers[0].source {
        LayerSource::Clip { playback, .. } => playback.time,
        _ => 0.0,
    };
    playback(&mut engine, &|playback| playback.seek(0.77));
    engine.run(Stage::Animate, 0.0);
    assert_eq!(actor(&engine, id).root_delta(), Default::default());
    assert_eq!(actor(&engine, id).world_from_model(), before);
    playback(&mut engine, &|playback| {
        playback.seek(time);
        playback.speed = -1.0;
    });
    animate(&mut engine, 13, 0.11);
    let off = rigid_distance(&actor(&engine, id).world_from_model(), &Affine::IDENTITY);
    assert!(off < 1e-5, "{off}");
}

#[test]
fn half_a_walk_goes_half_as_far_and_an_own_hand_may_move_the_actor() {
    let character = walker();
    let half = ActorLayer {
        weight: 0.5,
        ..looping(&character, "walk")
    };
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, vec![half]);
    engine.run(Stage::Animate, 2.0);
    let way = Vec3::z();
    assert!((actor(&engine, id).world_from_model().translation - way).norm() < 1e-5);
    let held = engine.actor_mut(id).expect("the actor");
    held.follows_root_motion = false;
    engine.run(Stage::Animate, 2.0);
    assert!((actor(&engine, id).world_from_model().translation - way).norm() < 1e-5);
    assert!((actor(&engine, id).root_delta().translation - way).norm() < 1e-5);
}

#[test]
fn the_root_goes_on_the_spot_where_it_moves_the_actor() {
    let character = walker();
    let hips = character.joint_named("hips").expect("hips");
    let mut engine = engine(1);
    let walk = looping(&character, "walk");
    let id = spawn(&mut engine, &character, vec![walk]);
    for frame in 1..50 {
        animate(&mut engine, 1, 0.1);
        let actor = actor(&engine, id);
        let local = actor.globals().get(hips).translation;
        assert!((local.z).abs() < 1e-4, "{local:?}");
        // One metre a second, whoever carries it.
        let world = actor.world_from_joint(hips).translation.z;
        assert!((world - 0.1 * frame as f32).abs() < 1e-4);
    }
}

fn two_gaits() -> GraphSpec {
    let text = r#"{
        "parameters": [{ "name": "speed", "float": { "range": [0, 1] } }, { "name": "turn", "trigger": {} }],
        "nodes": [
            { "name": "stand", "rest": {} },
            { "name": "walk", "clip": { "clip": "walk" } },
            { "name": "curve", "clip": { "clip": "curve" } },
            { "name": "ground", "blend_1d": { "parameter": "speed", "points": [[0, "stand"], [1, "walk"]] } },
            { "name": "body", "machine": { "initial": "ground",
                "states": [{ "name": "ground", "node": "ground" }, { "name": "curve", "node": "curve" }],
                "transitions": [{ "from": "ground", "to": "curve", "when": { "trigger": "turn" }, "duration": 0 }] } }
        ],
        "root": "body"
    }"#;
    serde_json::from_str(text).expect("a graph")
}

#[test]
fn a_graph_steers_pose_motion_and_events_by_its_parameters() {
    let character = walker();
    let graph = character.graph(&two_gaits()).expect("a valid graph");
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, Vec::new());
    let player = engine.actor_mut(id).expect("the actor");
    player.play_graph(graph);
    player.set("speed", 0.5).expect("a float");
    engine.run(Stage::Animate, 1.0);
    let walked = actor(&engine, id);
    assert!((walked.world_from_model().translation.z - 0.5).abs() < 1e-5);
    let events: Vec<_> = walked.events().map(|e| (e.name, e.weight)).collect();
    assert_eq!(events, [("left", 0.5), ("right", 0.5)]);
    let player = engine.actor_mut(id).expect("the actor");
    player.fire("turn").expect("a trigger");
    let error = player.set("sped", 1.0).expect_err("no such parameter");
    assert!(error.to_string().contains("speed"), "{error}");
    engine.run(Stage::Animate, 0.1);
    let player = actor(&engine, id).graph().expect("a graph");
    let status = player.state.machine(player.graph(), "body");
    assert_eq!(status.map(|status| status.state), Some("curve"));
}

#[test]
fn a_graph_below_a_layer_is_a_layer_like_any_other() {
    let character = walker();
    let graph = character.graph(&two_gaits()).expect("a valid graph");
    let cover = ActorLayer {
        mode: LayerMode::Override,
        ..live(character.skeleton().rest())
    };
    let mut engine = engine(1);
    let id = spawn(&mut engine, &character, Vec::new());
    let player = engine.actor_mut(id).expect("the actor");
    player.play_graph(graph);
    player.set("speed", 1.0).expect("a float");
    player.layers.push(cover);
    engine.run(Stage::Animate, 1.0);
    assert_eq!(actor(&engine, id).pose(), character.skeleton().rest());
    assert_eq!(actor(&engine, id).events().count(), 0, "nothing is seen");
    assert_eq!(actor(&engine, id).root_delta(), Default::default());
}

#[test]
fn a_graph_of_what_does_not_exist_is_refused_with_every_place() {
    let mut spec = two_gaits();
    spec.root = "bdoy".to_owned();
    let error = walker().graph(&spec).expect_err("no such root");
    assert!(error.to_string().contains("bdoy"), "{error}");
}

#[test]
fn half_the_rate_samples_half_as_often_within_the_error_told() {
    let document = anim_engine::asset::builtin::humanoid();
    let character = Character::from_document(&document, &Default::default()).expect("a figure");
    let levels = SkeletonLod::by_depth(character.skeleton(), &[5]);
    let character = Arc::new(character.with_levels(levels));
    let walk = character.clip_named("walk").expect("a walk");
    let fps = 60.0;
    let details = [(0, 1), (0, 2), (0, 4), (1, 1), (1, 2)];
    for (level, every) in details {
        let detail = Detail {
            level,
            every,
            ..Detail::default()
        };
        let once = || vec![ActorLayer::clip(walk, Playback::new(1.0, Wrap::Clamp))];
        let mut engine = engine(1);
        let full = spawn(&mut engine, &character, once());
        let coarse = spawn(&mut engine, &character, once());
        engine.actor_mut(coarse).expect("the actor").detail = detail;
        let told = character.detail_error(walk, detail, fps, 0.1);
        let mut worst = 0.0_f32;
        for frame in 0..60 {
            animate(&mut engine, 1, if frame == 0 { 0.0 } else { 1.0 / fps });
            for joint in character.skeleton().joints() {
                let place = |id| actor(&engine, id).world_from_joint(joint).translation;
                worst = worst.max((place(full) - place(coarse)).norm());
            }
        }
        // Sums of 60 frame times are not their product.
        assert!(
            worst <= told.distance + 1e-5,
            "{detail:?}: {worst} {told:?}"
        );
        let sampled = |id| actor(&engine, id).sampled_clips();
        // One for the frame without length and one where the reducer begins.
        let expected = match u64::from(every) {
            1 => 60,
            every => 2 + 59_u64.div_ceil(every),
        };
        assert_eq!(
            (sampled(full), sampled(coarse)),
            (60, expected),
            "{detail:?}"
        );
        if (level, every) == (0, 1) {
            assert_eq!(told.distance, 0.0);
        }
    }
}

#[test]
fn coarse_levels_rest_what_they_leave_out() {
    let character = figure();
    let skeleton = character.skeleton();
    let mut engine = engine(1);
    let wave = looping(&character, "wave");
    let id = spawn(&mut engine, &character, vec![wave]);
    animate(&mut engine, 3, 0.1);
    engine.actor_mut(id).expect("the actor").detail.level = 1;
    animate(&mut engine, 1, 0.1);
    let count = character.levels().joint_count(1);
    assert!(count < skeleton.len());
    for joint in skeleton.joints().skip(count) {
        let pose = actor(&engine, id).pose().get(joint);
        assert_eq!(pose, skeleton.rest().get(joint));
    }
}

#[test]
fn clips_named_in_an_event_table_must_exist() {
    let document = anim_engine::asset::Document::default();
    let character = Character::from_document(&document, &Default::default()).expect("nobody");
    let events = anim_engine::skeleton::Events::new(vec![event(0.0, "x")]).expect("events");
    assert!(character.with_events("walk", events).is_err());
}
