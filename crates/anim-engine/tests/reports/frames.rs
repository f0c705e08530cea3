//! Reports about frames: what mixes, what is no number, and what is not there.

use std::sync::Arc;

use anim_engine::asset::Document;
use anim_engine::curves::{Interpolation, Key, Track};
use anim_engine::ik::LookAt;
use anim_engine::math::{Quat, Transform, Vec3, quat};
use anim_engine::skeleton::{
    BakeOptions, Channel, ClipSpec, JointTrack, MorphChannel, RootMotionOptions,
};
use anim_engine::{Character, EngineError, Goal, asset, curves};

use crate::support::*;

/// A character with a clip that smiles and one that frowns as it turns, and one that does neither.
fn moody() -> Arc<Character> {
    let build = morphing("STEP", &[0.], &[1., 0., 0.]);
    let mut document = build.read().unwrap();
    let mood = |angle: f32, weights: Option<[f32; 3]>| {
        let turn = Key::new(0.0, quat::from_axis_angle(Vec3::y(), angle));
        let track = Track::new(vec![turn], Interpolation::Step).unwrap();
        let spec = |weights: [f32; 3]| curves::WideTrackSpec {
            width: 3,
            times: vec![0.0],
            values: weights.to_vec(),
            interpolation: Interpolation::Step,
        };
        ClipSpec {
            channels: vec![Channel {
                joint: 0,
                track: JointTrack::Rotation(track),
            }],
            morphs: weights
                .map(|weights| MorphChannel {
                    joint: 0,
                    track: curves::WideTrack::new(spec(weights)).unwrap(),
                })
                .into_iter()
                .collect(),
            ..ClipSpec::default()
        }
    };
    document.clips = vec![
        mood(0.2, Some([1.0, 0.0, 0.0])),
        mood(-0.6, Some([0.0, 0.0, 1.0])),
        mood(0.4, None),
    ];
    character(&document)
}

// godot#97836, and the sums of weights of ozz-animation#119
#[test]
fn faces_mix_by_the_shares_of_the_poses_in_any_order() {
    let character = moody();
    let joint = character.skeleton().joint(0);
    let mixed = |layers: &[(usize, f32)]| {
        let layers = layers
            .iter()
            .map(|(clip, weight)| clip_layer(*clip, 0.0, *weight));
        let mut out = (Quat::identity(), [0.0; 3]);
        still(&character, layers.collect(), |actor| {
            out = (
                actor.pose().rotation(joint),
                actor.weights().try_into().unwrap(),
            );
        });
        out
    };
    let near = |a: [f32; 3], b: [f32; 3]| (Vec3::from(a) - Vec3::from(b)).amax() < 1e-6;
    // Too much weight is half of each, for pose and face; too little is filled up by the rest.
    let even = mixed(&[(0, 0.5), (1, 0.5)]);
    assert!(near(even.1, [0.5, 0.0, 0.5]));
    for weights in [[0.8, 0.8], [3.0, 3.0]] {
        let other = mixed(&[(0, weights[0]), (1, weights[1])]);
        assert!(near(even.1, other.1) && quat::angle_between(even.0, other.0) < 1e-6);
    }
    assert!(near(mixed(&[(0, 0.25), (1, 0.25)]).1, [0.25, 0.0, 0.25]));
    // A clip without a curve has the actor's own weights, as it has the rest pose of joints without one.
    assert!(near(mixed(&[(0, 0.5), (2, 0.5)]).1, [0.5, 0.0, 0.0]));
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let all = [(0, 0.7), (1, 0.5), (2, 0.2)];
    let [first, others @ ..] = orders.map(|order| mixed(&order.map(|place| all[place])));
    for other in others {
        assert!(near(first.1, other.1) && quat::angle_between(first.0, other.0) < 1e-6);
    }
    for nothing in [f32::NAN, f32::INFINITY, -1.0, 0.0] {
        assert_eq!(mixed(&[(0, 0.5), (1, nothing)]), mixed(&[(0, 0.5)]));
    }
}

#[test]
fn morph_weights_that_are_no_numbers_or_not_there_are_those_at_rest() {
    let character = moody();
    let mut engine = engine();
    let id = engine.spawn(character);
    engine.actor_mut(id).unwrap().morph_weights = vec![0.5, f32::NAN];
    engine.step(0.1);
    assert_eq!(engine.actor(id).unwrap().weights(), [0.5, 0.0, 0.0]);
    engine.actor_mut(id).unwrap().morph_weights = vec![0.25; 9];
    engine.step(0.1);
    assert_eq!(engine.actor(id).unwrap().weights(), [0.25; 3]);
}

// A bad step of time must leave nothing behind, in no stage.
#[test]
fn frames_of_no_length_in_numbers_leave_no_trace() {
    let (mut clean, mut disturbed) = (crate::common::scene(1), crate::common::scene(1));
    for frame in 0..20 {
        if frame % 10 == 5 {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                disturbed.engine.step(bad);
            }
        }
        clean.engine.step(1.0 / 60.0);
        disturbed.engine.step(1.0 / 60.0);
        assert_eq!(
            clean.engine.hash(),
            disturbed.engine.hash(),
            "frame {frame}"
        );
    }
    assert_eq!(disturbed.engine.quarantined().count(), 0);
}

#[test]
fn a_joint_of_another_skeleton_carries_nobody() {
    let stranger = asset::builtin::humanoid().skeleton().unwrap();
    let document = Document {
        nodes: vec![asset::Node::default()],
        clips: vec![ClipSpec::default()],
        ..Document::default()
    };
    let bake = BakeOptions::default();
    let character = Character::from_document(&document, &bake).unwrap();
    let options = RootMotionOptions::new(stranger.joints().last().unwrap());
    let refused = character.with_root_motion(&document.clips, &options, &bake);
    assert!(matches!(refused, Err(EngineError::Skeleton(_))));
}

#[test]
fn nothing_at_all_is_a_character_too() {
    let character =
        Character::from_document(&Document::default(), &BakeOptions::default()).unwrap();
    assert!(character.skeleton().is_empty());
    let mut engine = engine();
    let id = engine.spawn(Arc::new(character));
    engine.actor_mut(id).unwrap().play_clip(0);
    engine.step(0.1);
    assert!(engine.actor(id).unwrap().pose().is_empty());
}

// The up axis of a joint below a flat one may be what rounding left of it, which is nothing to roll a head by.
#[test]
fn a_head_below_a_flat_joint_looks_by_a_unit_rotation() {
    let node = |parent, at: [f32; 3], scale: [f32; 3]| asset::Node {
        parent,
        rest: Transform {
            translation: Vec3::from(at),
            scale: Vec3::from(scale),
            ..Transform::IDENTITY
        },
        ..asset::Node::default()
    };
    let document = Document {
        nodes: vec![
            node(None, [-3.8, 1.5, 0.0], [0.865, 0.0, 0.5]),
            node(Some(0), [0.1, 0.4, 0.0], [1.0; 3]),
        ],
        ..Document::default()
    };
    let character = character(&document);
    let head = character.skeleton().joint(1);
    let mut engine = engine();
    let id = engine.spawn(character);
    let up_axes = [Vec3::y(), Vec3::new(1e-20, 1.0, 0.0), Vec3::x()];
    for target in [Vec3::new(1.0, 0.0, 1.0), Vec3::new(-1.0, 9.0, -1.0)] {
        for up in up_axes {
            let look = LookAt::new(head, Vec3::z(), up, 1.0).unwrap();
            let goal = Goal::LookAt {
                look,
                target,
                weight: 1.0,
            };
            engine.actor_mut(id).unwrap().goals = vec![goal];
            engine.step(0.0);
            let norm = engine
                .actor(id)
                .unwrap()
                .pose()
                .rotation(head)
                .coords
                .norm();
            assert!((norm - 1.0).abs() < 1e-6, "{up}: {norm}");
        }
    }
}
