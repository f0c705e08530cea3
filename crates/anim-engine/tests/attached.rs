//! Drivers, sockets and what hangs on them: right in the same frame.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::curves::{Interpolation, Key, Track};
use anim_engine::ik::TwoBone;
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::DriverSpec;
use anim_engine::skeleton::driver::{Corrective, Effect, Measure, Share, Twist};
use anim_engine::skin::MorphTarget;
use anim_engine::{ActorLayer, Character, EngineError, Goal, LayerSource, Socket, Stage, asset};
use common::{engine, figure, rigid_distance};

/// The figure with a grip in each hand, and something to grip.
fn armed() -> (Arc<Character>, Arc<Character>) {
    let document = asset::builtin::humanoid();
    let character = Character::from_document(&document, &Default::default()).expect("a figure");
    let grip = |side: &str| Socket {
        name: format!("grip_{side}"),
        joint: character
            .joint_named(&format!("hand_{side}"))
            .expect("a hand"),
        joint_from_socket: Affine::from(Transform {
            translation: Vec3::new(0.02, -0.06, 0.01),
            ..Transform::from_rotation(quat::from_axis_angle(Vec3::x(), 0.5))
        }),
    };
    let grips = ["l", "r"].map(grip);
    let tip = asset::builtin::arm();
    let sword = Character::from_document(&tip, &Default::default()).expect("an arm");
    let last = sword.skeleton().joints().last().expect("a joint");
    let end = Socket {
        name: "end".to_owned(),
        joint: last,
        joint_from_socket: Affine::IDENTITY,
    };
    (
        Arc::new(character.with_sockets(grips).expect("sockets")),
        Arc::new(sword.with_sockets([end]).expect("a socket")),
    )
}

#[test]
fn a_sword_is_in_the_hand_that_reaches_in_the_same_frame() {
    let (figure, sword) = armed();
    let hand = figure.joint_named("hand_r").expect("a hand");
    let grip = figure.socket_named("grip_r").expect("a grip");
    for threads in [1, 2, 4] {
        let mut engine = engine(threads);
        // Spawned before what carries them, so that the order of ids is of no help.
        let tassel = engine.spawn(Arc::clone(&sword));
        let blade = engine.spawn(Arc::clone(&sword));
        let fencer = engine.spawn(Arc::clone(&figure));
        engine.attach(blade, fencer, grip).expect("a free hand");
        engine.attach(tassel, blade, 0).expect("an end");
        let actor = engine.actor_mut(fencer).expect("the fencer");
        actor.play("walk").expect("a walk");
        actor.goals.push(Goal::Reach {
            chain: TwoBone::new(figure.skeleton(), hand).expect("an arm"),
            target: Vec3::zeros(),
            rotation: None,
            pole: None,
            softness: 0.0,
            weight: 1.0,
        });
        for frame in 0..20_u8 {
            let target = Vec3::new(-0.3, 1.0 + 0.02 * f32::from(frame), 0.3);
            let actor = engine.actor_mut(fencer).expect("the fencer");
            actor.goals[0].set_target(target);
            engine.run(Stage::Animate, 1.0 / 60.0);
            engine.run(Stage::Ik, 1.0 / 60.0);
            let actor = |id| engine.actor(id).expect("an actor");
            let hand = actor(fencer).world_from_joint(hand);
            let expected = hand * figure.sockets()[grip].joint_from_socket;
            let off = rigid_distance(&actor(blade).world_from_model(), &expected);
            assert!(off < 1e-6, "frame {frame}: {off}");
            let end = actor(blade).world_from_socket(0);
            assert!(rigid_distance(&actor(tassel).world_from_model(), &end) < 1e-6);
        }
    }
}

#[test]
fn what_is_let_go_stays_where_it_is() {
    let (figure, sword) = armed();
    let mut engine = engine(1);
    let fencer = engine.spawn(figure);
    let blade = engine.spawn(sword);
    engine.attach(blade, fencer, 0).expect("a free hand");
    engine
        .actor_mut(fencer)
        .expect("it")
        .play("walk")
        .expect("walk");
    let place = |engine: &anim_engine::Engine| engine.actor(blade).expect("it").world_from_model();
    engine.step(0.3);
    assert_eq!(engine.attached_to(blade), Some((fencer, 0)));
    let held = place(&engine);
    engine.detach(blade);
    engine.step(0.3);
    assert_eq!(place(&engine), held);
    engine.attach(blade, fencer, 1).expect("the other hand");
    engine.step(0.3);
    let held = place(&engine);
    engine.remove(fencer);
    engine.step(0.3);
    assert_eq!((place(&engine), engine.attached_to(blade)), (held, None));
}

#[test]
fn who_hangs_on_himself_is_refused() {
    let (figure, sword) = armed();
    let mut engine = engine(1);
    let [a, b, c] = [&sword, &sword, &figure].map(|character| engine.spawn(Arc::clone(character)));
    engine.attach(a, b, 0).expect("b carries a");
    engine.attach(b, c, 0).expect("c carries b");
    for (actor, carrier, socket) in [(c, a, 0), (a, a, 0), (b, a, 0), (a, c, 99)] {
        let refused = engine.attach(actor, carrier, socket);
        assert!(matches!(refused, Err(EngineError::Attachment { .. })));
    }
    assert_eq!(engine.attached_to(a), Some((b, 0)));
}

#[test]
fn sockets_have_names_of_their_own() {
    let (figure, _) = armed();
    assert!(
        figure
            .socket_named("grip")
            .expect_err("none")
            .to_string()
            .contains("grip_l")
    );
    let twin = figure.sockets()[0].clone();
    let document = asset::builtin::arm();
    let arm = Character::from_document(&document, &Default::default()).expect("an arm");
    let joint = arm.skeleton().joints().next().expect("a joint");
    let own = Socket { joint, ..twin };
    let error = arm.with_sockets([own.clone(), own]).expect_err("twins");
    assert_eq!(error.to_string(), "socket 'grip_l' is there already");
}

#[test]
fn drivers_follow_the_joints_of_the_same_frame_and_drive_morphs_by_name() {
    let mut document = asset::builtin::humanoid();
    let cape = document.meshes.len() - 1;
    document.meshes[cape].primitives[0].targets = vec![MorphTarget {
        name: Some("bulge".to_owned()),
        vertices: vec![0],
        positions: vec![Vec3::z()],
        normals: Vec::new(),
    }];
    let curve = vec![Key::new(0.0, 0.0), Key::new(1.0, 1.0)];
    let drivers = vec![
        DriverSpec::new(
            "bulge",
            Corrective {
                measure: Measure::Twist {
                    joint: "hand_l".into(),
                    axis: Vec3::x(),
                },
                curve: Track::new(curve, Interpolation::Linear).expect("a curve"),
                effect: Effect::Output,
            },
        ),
        DriverSpec::new(
            "fingers",
            Twist {
                source: "hand_l".into(),
                axis: Vec3::x(),
                helpers: vec![Share {
                    joint: "hand_r".into(),
                    fraction: 0.5,
                }],
            },
        ),
    ];
    let character = Character::from_document(&document, &Default::default())
        .and_then(|character| character.with_drivers(drivers))
        .expect("a driven figure");
    let character = Arc::new(character);
    let weight = character
        .weight_names()
        .iter()
        .position(|name| name.as_deref() == Some("bulge"))
        .expect("a morph");
    let [left, right] = ["hand_l", "hand_r"].map(|name| character.joint_named(name).expect("it"));
    let mut engine = engine(1);
    let id = engine.spawn(Arc::clone(&character));
    for turn in [0.2_f32, 0.6, 0.4] {
        let mut pose = character.skeleton().rest().clone();
        pose.set_rotation(left, quat::from_axis_angle(Vec3::x(), turn));
        let actor = engine.actor_mut(id).expect("the actor");
        actor.layers = vec![ActorLayer::new(LayerSource::Live(pose))];
        engine.run(Stage::Animate, 1.0 / 60.0);
        engine.run(Stage::Ik, 1.0 / 60.0);
        let actor = engine.actor(id).expect("the actor");
        assert!((actor.weights()[weight] - turn).abs() < 1e-5);
        let half = quat::from_axis_angle(Vec3::x(), 0.5 * turn);
        let rest = character.skeleton().rest().rotation(right);
        assert!(quat::angle_between(actor.pose().rotation(right), rest * half) < 1e-5);
    }
}

#[test]
fn drivers_that_need_each_other_are_refused_by_name() {
    let document = asset::builtin::arm();
    let character = Character::from_document(&document, &Default::default()).expect("an arm");
    let unknown = Twist {
        source: "tail".into(),
        axis: Vec3::x(),
        helpers: Vec::new(),
    };
    let error = character.with_drivers(vec![DriverSpec::new("wag", unknown)]);
    assert!(error.expect_err("no tail").to_string().contains("wag"));
    assert!(figure().drivers().is_empty());
}
