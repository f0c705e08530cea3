//! Morph weights follow what their clips have of the pose, through layers and graphs alike.
#![cfg(feature = "asset")]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they measured"
)]

mod common;
#[path = "common/data.rs"]
mod data;

use std::sync::Arc;

use anim_engine::asset::{Document, MeshSpec, Node, Primitive};
use anim_engine::curves::{Interpolation, WideTrack, WideTrackSpec};
use anim_engine::geom::primitives;
use anim_engine::math::Vec3;
use anim_engine::skeleton::{ClipSpec, MorphChannel, Playback, Wrap};
use anim_engine::skin::MorphTarget;
use anim_engine::skin::morph::{CompactShapes, ShapeSolver, SolveOptions, StandIns, arkit};
use anim_engine::{ActorLayer, Character, LayerMode, Stage};
use common::engine;
use data::data;

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

/// The targets of a published face, or `None` if it is not there.
fn published_face() -> Option<Vec<MorphTarget>> {
    let file = data("face/ict_face_arkit51.glb")?;
    let mut document = anim_engine::asset::load(&file).expect("a face");
    let targets = std::mem::take(&mut document.meshes[0].primitives[0].targets);
    Some(targets)
}

fn names(targets: &[MorphTarget]) -> Vec<String> {
    let name = |target: &MorphTarget| target.name.clone().unwrap_or_default();
    targets.iter().map(name).collect()
}

#[test]
fn a_published_face_has_all_shapes_but_the_tongue() {
    let Some(targets) = published_face() else {
        return;
    };
    let report = arkit::match_names(&names(&targets));
    let missing: Vec<_> = report.missing.iter().map(|m| arkit::NAMES[*m]).collect();
    assert_eq!((report.found.len(), missing), (51, vec!["tongueOut"]));
    assert!(report.extra.is_empty());
    let stand_ins = StandIns::new(&names(&targets));
    assert!(stand_ins.approximated.is_empty());
    assert_eq!(stand_ins.missing, [(51, None)]);
    // Both sides of every pair move about as much.
    let size = |shape: usize| {
        let found = report.found.iter().find(|f| f.0 == shape);
        let target = &targets[found.expect("a pair").1];
        target
            .positions
            .iter()
            .map(|d| d.norm_squared())
            .sum::<f32>()
            .sqrt()
    };
    for [left, right] in arkit::pairs() {
        let ratio = size(left) / size(right);
        assert!(
            (0.7..1.4).contains(&ratio),
            "{}: {ratio}",
            arkit::NAMES[left]
        );
    }
}

#[test]
fn a_published_face_takes_two_fifths_of_its_bytes() {
    let Some(targets) = published_face() else {
        return;
    };
    let compact = CompactShapes::new(&targets, 1e-5).expect("finite targets");
    let vectors: usize = targets
        .iter()
        .map(|t| t.positions.len() + t.normals.len())
        .sum();
    let indices: usize = targets.iter().map(|t| t.vertices.len()).sum();
    let raw = 12 * vectors + 4 * indices;
    eprintln!(
        "{raw} bytes, compact {}, off by {} m",
        compact.bytes(),
        compact.error()
    );
    assert!(
        100 * compact.bytes() < 41 * raw,
        "{} of {raw}",
        compact.bytes()
    );
    // Ten micrometres are left out; 16 bits of the largest displacements, some centimetres, are finer than that.
    assert!(compact.error() < 1e-5, "{}", compact.error());
    for (target, decoded) in targets.iter().zip(compact.decode()) {
        assert_eq!(target.name, decoded.name);
        assert!(decoded.vertices.len() <= target.vertices.len());
    }
}

#[test]
fn markers_on_a_published_face_give_its_weights_back() {
    let Some(targets) = published_face() else {
        return;
    };
    // As many markers as tracked faces have, on vertices that shapes move, spread evenly over their order.
    let mut moved: Vec<u32> = targets
        .iter()
        .flat_map(|t| t.vertices.iter().copied())
        .collect();
    moved.sort_unstable();
    moved.dedup();
    let markers: Vec<u32> = (0..120).map(|m| moved[m * moved.len() / 120]).collect();
    let options = SolveOptions {
        ridge: 1e-9,
        max_sweeps: 20_000,
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &markers, &options).expect("a solver");
    assert!(solver.idle_markers().is_empty() && solver.unseen_shapes().is_empty());
    // Numbers from 0 to 1, a third of them 0.
    let mut state = 1_u32;
    let mut weight = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (1.5 * (state >> 8) as f32 / (1 << 24) as f32 - 0.5).max(0.0)
    };
    for _ in 0..3 {
        let expected: Vec<f32> = targets.iter().map(|_| weight()).collect();
        let mut seen = vec![Vec3::zeros(); markers.len()];
        for (target, weight) in targets.iter().zip(&expected) {
            for (seen, marker) in seen.iter_mut().zip(&markers) {
                if let Ok(entry) = target.vertices.binary_search(marker) {
                    *seen += target.positions[entry] * *weight;
                }
            }
        }
        let outcome = solver.solve(&seen);
        let errors = solver.weights().iter().zip(&expected);
        let worst = errors.fold(0.0, |worst: f64, (a, b)| {
            worst.max((a - f64::from(*b)).abs())
        });
        eprintln!("{outcome:?}, weights off by {worst}");
        assert!(outcome.converged && worst < 0.02, "{outcome:?}: {worst}");
    }
}
