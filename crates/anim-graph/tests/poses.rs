//! What the pose, the motion and the events of a frame are.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_graph::{GraphState, LibraryClip};
use anim_math::{Vec3, quat};
use common::{clip, events, graph, moved, sample_of, skeleton, steps, still, stride, turned, x};

#[test]
fn a_plane_of_poses_mixes_the_three_around_the_point() {
    let json = r#"{
        "parameters": [{ "name": "x", "float": {} }, { "name": "y", "float": {} }],
        "nodes": [
            { "name": "a", "clip": { "clip": "a" } }, { "name": "b", "clip": { "clip": "b" } },
            { "name": "c", "clip": { "clip": "c" } }, { "name": "d", "clip": { "clip": "d" } },
            { "name": "plane", "blend_2d": { "parameters": ["x", "y"],
                "points": [[[0, 0], "a"], [[2, 0], "b"], [[0, 2], "c"], [[2, 2], "d"]] } }
        ],
        "root": "plane" }"#;
    // Each clip's x is 10 times its place's x plus its y, so the mix is that of the point.
    let clips = [("a", 0.0), ("b", 20.0), ("c", 2.0), ("d", 22.0)];
    let clips = clips.map(|(name, value)| still(name, value, 1.0));
    let graph = graph(json, clips.to_vec());
    let mut state = GraphState::new(&graph);
    for (px, py) in [(0.0, 0.0), (2.0, 2.0), (1.0, 1.0), (0.3, 1.1), (1.9, 0.2)] {
        state.parameters.set("x", px).unwrap();
        state.parameters.set("y", py).unwrap();
        state.step(&graph, 0.1);
        assert!(
            (x(&state) - (10.0 * px + py)).abs() < 2e-5,
            "{px} {py}: {}",
            x(&state)
        );
        let sum: f32 = state.samples().iter().map(|sample| sample.weight).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
}

fn layered(layers: &str) -> anim_graph::Graph {
    let json = format!(
        r#"{{
        "parameters": [{{ "name": "w", "float": {{}} }}],
        "masks": [{{ "name": "arms", "include": ["*Arm"] }}, {{ "name": "upper", "subtree": ["Spine"] }}],
        "nodes": [
            {{ "name": "base", "clip": {{ "clip": "base" }} }},
            {{ "name": "top", "clip": {{ "clip": "top" }} }},
            {{ "name": "start", "clip": {{ "clip": "base", "speed": 0 }} }},
            {{ "name": "added", "difference": {{ "node": "top", "reference": "start" }} }},
            {{ "name": "turned", "difference": {{ "node": "top", "reference": "start", "space": "model" }} }},
            {{ "name": "all", "layers": {{ "base": "base", "layers": [{layers}] }} }}
        ],
        "root": "all" }}"#
    );
    let pose = |name: &str, hips: f32, angle: f32| {
        let place = Vec3::new(hips, 1.0, 0.0);
        clip(
            name,
            vec![
                moved(0, &[(0.0, place), (1.0, place)]),
                turned(2, Vec3::z(), &[(0.0, angle), (1.0, angle)]),
            ],
        )
    };
    graph(&json, vec![pose("base", 1.0, 0.2), pose("top", 3.0, 1.0)])
}

#[test]
fn layers_cover_what_is_below_by_weight_and_mask() {
    let arm = skeleton().joint(2);
    let angle = |state: &GraphState| state.pose().rotation(arm).angle();
    let graph = layered(r#"{ "node": "top", "weight": "w", "mask": "arms" }"#);
    let mut state = GraphState::new(&graph);
    for (weight, expected) in [(0.0, 0.2), (0.5, 0.6), (1.0, 1.0), (7.0, 1.0)] {
        state.parameters.set("w", weight).unwrap();
        state.step(&graph, 0.1);
        // 16 bits a key.
        assert!((angle(&state) - expected).abs() < 2e-4, "{}", angle(&state));
        assert_eq!(x(&state), 1.0);
    }
    let graph = layered(r#"{ "node": "top", "weight": 0.25 }"#);
    let mut state = GraphState::new(&graph);
    state.step(&graph, 0.1);
    assert!((x(&state) - 1.5).abs() < 1e-6);
    let weights: Vec<_> = state.samples().iter().map(|sample| sample.weight).collect();
    assert_eq!(weights, [0.75, 0.25]);
}

#[test]
fn a_difference_adds_to_what_is_below_and_a_negative_weight_takes_it_off() {
    let arm = skeleton().joint(2);
    for (mode, node) in [("additive", "added"), ("additive_in_model", "turned")] {
        let graph = layered(&format!(
            r#"{{ "node": "{node}", "weight": "w", "mode": "{mode}" }}"#
        ));
        let mut state = GraphState::new(&graph);
        for (weight, hips, angle) in [(0.0, 1.0, 0.2), (0.5, 2.0, 0.6), (1.0, 3.0, 1.0)] {
            state.parameters.set("w", weight).unwrap();
            state.step(&graph, 0.1);
            assert!((x(&state) - hips).abs() < 1e-6);
            assert!(
                (state.pose().rotation(arm).angle() - angle).abs() < 3e-4,
                "{mode} {weight}"
            );
        }
        state.parameters.set("w", -0.5).unwrap();
        state.step(&graph, 0.1);
        assert!((x(&state) - 0.0).abs() < 1e-6);
        assert!(
            state
                .samples()
                .iter()
                .filter(|sample| sample.is_additive)
                .count()
                == 1
        );
    }
}

#[test]
fn a_mirror_exchanges_the_arms_and_reflects_the_motion() {
    let json = r#"{
        "parameters": [{ "name": "left", "bool": {} }],
        "nodes": [
            { "name": "w", "clip": { "clip": "walk" } },
            { "name": "m", "mirror": { "node": "w", "when": "left" } }
        ],
        "root": "m" }"#;
    let graph = graph(json, vec![stride("walk", 1.0, 1.5, 0.5)]);
    let joints = skeleton();
    let run = |mirrored: bool| {
        let mut state = GraphState::new(&graph);
        state.parameters.set("left", mirrored).unwrap();
        steps(&mut state, &graph, 0.1, 3);
        state
    };
    let (plain, seen) = (run(false), run(true));
    let turn = |state: &GraphState, joint| quat::log(state.pose().rotation(joints.joint(joint)));
    // Reflection in x keeps a turn about x.
    assert!((turn(&plain, 2).x - turn(&seen, 3).x).abs() < 1e-5);
    assert!(turn(&plain, 2).norm() > 0.05 && turn(&seen, 2).norm() < 1e-5);
    let (a, b) = (plain.motion(), seen.motion());
    assert!((a.translation.x + b.translation.x).abs() < 1e-6 && a.translation.x != 0.0);
    assert!((a.translation.z - b.translation.z).abs() < 1e-6);
    assert!((quat::log(a.rotation) + quat::log(b.rotation)).norm() < 1e-6);
    assert!(seen.samples()[0].is_mirrored);
}

#[test]
fn the_motion_of_a_blend_has_the_weights_of_its_pose() {
    let json = r#"{
        "parameters": [{ "name": "s", "float": {} }],
        "nodes": [
            { "name": "w", "clip": { "clip": "walk" } },
            { "name": "r", "clip": { "clip": "run" } },
            { "name": "both", "blend_1d": { "parameter": "s", "points": [[0, "w"], [1, "r"]], "sync": "phase" } }
        ],
        "root": "both" }"#;
    // A stride of the walk is 1.5 m in 1 s, one of the run 2.4 m in 0.6 s: halfway 1.95 m in 0.8 s.
    let graph = graph(
        json,
        vec![stride("walk", 1.0, 1.5, 0.0), stride("run", 0.6, 4.0, 0.0)],
    );
    let mut state = GraphState::new(&graph);
    state.parameters.set("s", 0.5).unwrap();
    let mut way = 0.0;
    for _ in 0..80 {
        state.step(&graph, 0.1);
        way += state.motion().translation.z;
    }
    assert!((way - 19.5).abs() < 1e-3, "{way}");
}

#[test]
fn a_clip_that_turns_walks_a_circle() {
    let json = r#"{ "nodes": [{ "name": "w", "clip": { "clip": "walk" } }], "root": "w" }"#;
    let turn = std::f32::consts::TAU / 8.0;
    let graph = graph(json, vec![stride("walk", 1.0, 1.5, turn)]);
    let mut state = GraphState::new(&graph);
    let mut at = anim_math::Affine::IDENTITY;
    let mut farthest = 0.0_f32;
    for _ in 0..256 {
        state.step(&graph, 1.0 / 32.0);
        at = at * anim_math::Affine::from(state.motion());
        farthest = farthest.max(at.translation.norm());
    }
    assert!(at.translation.norm() < 1e-3, "{}", at.translation);
    assert!(farthest > 3.0);
}

#[test]
fn a_sub_graph_follows_its_bindings_and_keeps_parameters_of_its_own() {
    let json = r#"{
        "parameters": [{ "name": "outer", "float": {} }],
        "nodes": [
            { "name": "z", "clip": { "clip": "zero" } },
            { "name": "arms", "graph": {
                "parameters": [["x", "outer"]],
                "graph": {
                    "parameters": [{ "name": "x", "float": {} }, { "name": "y", "float": {} }],
                    "nodes": [
                        { "name": "z", "clip": { "clip": "zero" } },
                        { "name": "o", "clip": { "clip": "one" } },
                        { "name": "t", "clip": { "clip": "two" } },
                        { "name": "xs", "blend_1d": { "parameter": "x", "points": [[0, "z"], [1, "o"]] } },
                        { "name": "ys", "blend_1d": { "parameter": "y", "points": [[0, "xs"], [1, "t"]] } }
                    ],
                    "root": "ys" } } }
        ],
        "root": "arms" }"#;
    let clips = vec![
        still("zero", 0.0, 1.0),
        still("one", 1.0, 1.0),
        still("two", 2.0, 1.0),
    ];
    let graph = graph(json, clips);
    let mut state = GraphState::new(&graph);
    state.parameters.set("outer", 0.5).unwrap();
    state.step(&graph, 0.1);
    assert!((x(&state) - 0.5).abs() < 1e-6);
    let own = graph.parameter("arms/y").unwrap();
    state.parameters.set(own, 1.0).unwrap();
    state.step(&graph, 0.1);
    assert_eq!(x(&state), 2.0);
    assert_eq!(graph.warnings().problems.len(), 1, "{}", graph.warnings());
}

#[test]
fn time_runs_as_speed_nodes_say_and_scrubbed_clips_are_placed_by_hand() {
    let json = r#"{
        "parameters": [{ "name": "rate", "float": { "default": 2 } }, { "name": "at", "float": {} }],
        "nodes": [
            { "name": "c", "clip": { "clip": "ramp", "wrap": "pingpong" } },
            { "name": "fast", "speed": { "node": "c", "factor": "rate" } },
            { "name": "hand", "clip": { "clip": "ramp", "scrub": "at", "wrap": "clamp" } },
            { "name": "all", "layers": { "base": "fast", "layers": [{ "node": "hand", "weight": 0.5 }] } }
        ],
        "root": "all" }"#;
    let ramp = LibraryClip {
        events: events(&[(0.25, "quarter")]),
        ..common::ramp("ramp", 1.0)
    };
    let graph = graph(json, vec![ramp]);
    let mut state = GraphState::new(&graph);
    state.parameters.set("at", 0.75).unwrap();
    state.step(&graph, 0.25);
    assert!((x(&state) - (0.5 + 0.75) / 2.0).abs() < 1e-6);
    let quarters = |state: &GraphState| state.events(&graph, 0.0).count();
    assert_eq!(quarters(&state), 1);
    state.step(&graph, 0.5);
    assert!(
        (x(&state) - (0.5 + 0.75) / 2.0).abs() < 1e-6,
        "there and back"
    );
    state.parameters.set("rate", -1.0).unwrap();
    state.step(&graph, 0.25);
    assert_eq!(sample_of(&graph, &state, "ramp").unwrap().speed, -1.0);
    assert_eq!(sample_of(&graph, &state, "ramp").unwrap().time, 0.75);
}

#[test]
fn more_events_than_fit_are_counted() {
    let json = r#"{ "nodes": [{ "name": "c", "clip": { "clip": "c" } }], "root": "c" }"#;
    let busy = LibraryClip {
        events: events(&[(0.5, "tick")]),
        ..still("c", 0.0, 1.0)
    };
    let graph = graph(json, vec![busy]);
    let mut state = GraphState::new(&graph);
    state.step(&graph, 140.0);
    assert_eq!(state.events(&graph, 0.0).count(), anim_graph::MOST_EVENTS);
    assert_eq!(state.lost_events(), 12);
    state.step(&graph, 1e9);
    assert_eq!(state.lost_events(), anim_graph::MOST_EVENTS);
}

#[test]
fn motion_follows_what_moves_the_first_joint() {
    let speed = |layer: &str| {
        let json = format!(
            r#"{{
            "masks": [{{ "name": "arms", "include": ["*Arm"] }}],
            "nodes": [
                {{ "name": "w", "clip": {{ "clip": "walk" }} }},
                {{ "name": "r", "clip": {{ "clip": "run" }} }},
                {{ "name": "d", "difference": {{ "node": "r", "reference": "w" }} }},
                {{ "name": "all", "layers": {{ "base": "w", "layers": [{layer}] }} }}
            ],
            "root": "all" }}"#
        );
        let clips = vec![stride("walk", 1.0, 1.5, 0.0), stride("run", 0.6, 4.0, 0.0)];
        let graph = graph(&json, clips);
        let mut state = GraphState::new(&graph);
        state.step(&graph, 0.125);
        state.motion().translation.z / 0.125
    };
    for (layer, expected) in [
        (r#"{ "node": "r", "weight": 0.5 }"#, 2.75),
        (r#"{ "node": "r", "mask": "arms" }"#, 1.5),
        (r#"{ "node": "d", "mode": "additive" }"#, 1.5),
        (r#"{ "node": "r" }"#, 4.0),
    ] {
        assert!(
            (speed(layer) - expected).abs() < 1e-4,
            "{layer}: {}",
            speed(layer)
        );
    }
}
