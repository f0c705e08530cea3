//! Morph weights follow what their clips have of the pose, through layers and graphs alike.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::sync::Arc;

use anim_engine::asset::{Document, MeshSpec, Node, Primitive};
use anim_engine::curves::{Interpolation, WideTrack, WideTrackSpec};
use anim_engine::geom::primitives;
use anim_engine::math::Vec3;
use anim_engine::skeleton::{ClipSpec, MorphChannel, Playback, Wrap};
use anim_engine::skin::MorphTarget;
use anim_engine::{ActorLayer, Character, LayerMode, Stage};
use common::engine;

/// A cube whose clip "smile" holds its only morph at 0.8, and "sleep" has no curve.
fn face() -> Arc<Character> {
    let target = MorphTarget {
        name: Some("smile".to_owned()),
        vertices: vec![0],
        positions: vec![Vec3::x()],
        normals: Vec::new(),
    };
    let track = WideTrack::new(WideTrackSpec {
        width: 1,
        times: vec![0.0, 1.0],
        values: vec![0.8, 0.8],
        interpolation: Interpolation::Linear,
    });
    let morph = MorphChannel {
        joint: 0,
        track: track.expect("a track"),
    };
    let clip = |name: &str, morphs| ClipSpec {
        name: Some(name.to_owned()),
        morphs,
        ..ClipSpec::default()
    };
    let document = Document {
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        scenes: vec![vec![0]],
        meshes: vec![MeshSpec {
            primitives: vec![Primitive {
                mesh: primitives::cuboid(Vec3::repeat(1.0)),
                targets: vec![target],
                ..Primitive::default()
            }],
            ..MeshSpec::default()
        }],
        clips: vec![clip("smile", vec![morph]), clip("sleep", Vec::new())],
        ..Document::default()
    };
    let character = Character::from_document(&document, &Default::default());
    Arc::new(character.expect("a face"))
}

/// A layer's clip, weight and mode.
type Part = (usize, f32, LayerMode);

/// The morph weight that layers make where the actor's own is 0.2.
fn weight(layers: &[Part]) -> f32 {
    let mut engine = engine(1);
    let id = engine.spawn(face());
    let actor = engine.actor_mut(id).expect("the actor");
    actor.morph_weights = vec![0.2];
    actor.layers = layers
        .iter()
        .map(|(clip, weight, mode)| ActorLayer {
            weight: *weight,
            mode: *mode,
            ..ActorLayer::clip(*clip, Playback::new(1.0, Wrap::Loop))
        })
        .collect();
    engine.run(Stage::Animate, 0.1);
    engine.actor(id).expect("the actor").weights()[0]
}

#[test]
fn layers_take_of_a_face_what_they_take_of_the_pose() {
    use LayerMode::{Additive, Mix, Override};
    let cases: [(&[Part], f32); 7] = [
        (&[], 0.2),
        (&[(0, 1.0, Mix)], 0.8),
        (&[(0, 0.5, Mix)], 0.5),
        (&[(0, 3.0, Mix), (1, 1.0, Mix)], 0.65),
        (&[(0, 1.0, Mix), (1, 1.0, Override)], 0.2),
        (&[(1, 1.0, Mix), (0, 0.25, Override)], 0.35),
        // Added to the actor's own, from the rest weight of 0.
        (&[(1, 1.0, Mix), (0, 0.5, Additive)], 0.6),
    ];
    for (layers, expected) in cases {
        let got = weight(layers);
        assert!((got - expected).abs() < 1e-6, "{layers:?}: {got}");
    }
}

#[test]
fn a_graph_drives_a_face_by_the_weights_of_its_clips() {
    let character = face();
    let spec = serde_json::from_str(
        r#"{
            "parameters": [{ "name": "mood", "float": { "range": [0, 1] } }],
            "nodes": [
                { "name": "smile", "clip": { "clip": "smile" } },
                { "name": "sleep", "clip": { "clip": "sleep" } },
                { "name": "face", "blend_1d": { "parameter": "mood", "points": [[0, "sleep"], [1, "smile"]] } }
            ],
            "root": "face"
        }"#,
    );
    let graph = character
        .graph(&spec.expect("a graph"))
        .expect("a valid graph");
    let mut engine = engine(1);
    let id = engine.spawn(character);
    engine.actor_mut(id).expect("the actor").play_graph(graph);
    for mood in [0.0, 0.25, 1.0] {
        let actor = engine.actor_mut(id).expect("the actor");
        actor.set("mood", mood).expect("a float");
        engine.run(Stage::Animate, 0.1);
        let got = engine.actor(id).expect("the actor").weights()[0];
        assert!((got - 0.8 * mood).abs() < 1e-6, "{mood}: {got}");
    }
}
