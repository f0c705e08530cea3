//! Clips of different lengths keep in step, and go their own way again afterwards.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_graph::{Graph, GraphError, GraphSpec, GraphState, LibraryClip};
use common::{events, graph, library, ramp, sample_of, skeleton, steps, still};

/// Walk (1 s) and run (0.6 s) with a crossfade each way; that to the run brings the clips in step.
fn walk_and_run() -> Graph {
    let json = r#"{
        "parameters": [{ "name": "running", "bool": {} }],
        "nodes": [
            { "name": "walk", "clip": { "clip": "walk" } },
            { "name": "run", "clip": { "clip": "run" } },
            { "name": "m", "machine": { "initial": "walk",
                "states": [{ "name": "walk", "node": "walk" }, { "name": "run", "node": "run" }],
                "transitions": [
                    { "from": "walk", "to": "run", "when": { "bool": "running" }, "duration": 0.5, "sync": "phase" },
                    { "from": "run", "to": "walk", "when": { "not": { "bool": "running" } }, "duration": 0.5 },
                    { "to": "walk", "when": { "not": { "bool": "running" } } }
                ] } }
        ],
        "root": "m" }"#;
    graph(json, vec![ramp("walk", 1.0), ramp("run", 0.6)])
}

// three.js: a crossfade with warping left the clips at the wrong speed, and steps that are not finite broke it.
#[test]
fn speeds_and_weights_are_whole_again_after_a_crossfade_in_step() {
    let graph = walk_and_run();
    let mut state = GraphState::new(&graph);
    let dt = 1.0 / 128.0;
    let near = |a: f32, b: f32| assert!((a - b).abs() < 0.02, "{a} is not {b}");
    let of = |state: &GraphState, name| sample_of(&graph, state, name);
    steps(&mut state, &graph, dt, 128); // 1 s
    assert_eq!(of(&state, "walk").unwrap().speed, 1.0);
    state.parameters.set("running", true).unwrap();
    state.step(&graph, dt);
    near(of(&state, "walk").unwrap().speed, 1.0);
    near(of(&state, "run").unwrap().speed, 0.6);
    steps(&mut state, &graph, dt, 62); // just before 1.5 s
    near(of(&state, "walk").unwrap().speed, 1.0 / 0.6);
    near(of(&state, "run").unwrap().speed, 1.0);
    state.step(&graph, dt);
    assert_eq!(of(&state, "walk"), None);
    assert_eq!(of(&state, "run").unwrap().speed, 1.0);
    steps(&mut state, &graph, dt, 64); // 2 s
    let before = state.pose().clone();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.5] {
        state.step(&graph, bad);
        assert_eq!(*state.pose(), before);
    }
    steps(&mut state, &graph, dt, 128); // 3 s
    state.parameters.set("running", false).unwrap();
    state.step(&graph, dt);
    // Without synchronisation both keep their own speed.
    assert_eq!(of(&state, "run").unwrap().speed, 1.0);
    assert_eq!(of(&state, "walk").unwrap().speed, 1.0);
    steps(&mut state, &graph, dt, 255); // 5 s
    let walk = of(&state, "walk").unwrap();
    assert_eq!((walk.speed, walk.weight), (1.0, 1.0));
    assert_eq!(of(&state, "run"), None);
    // To the state it is in: nothing changes.
    let seconds = state.machine(&graph, "m").unwrap().seconds;
    state.step(&graph, dt);
    assert!(state.machine(&graph, "m").unwrap().seconds > seconds);
}

fn blend(sync: &str, clips: Vec<LibraryClip>) -> Graph {
    let json = format!(
        r#"{{
        "parameters": [{{ "name": "speed", "float": {{ "range": [0, 2] }} }}],
        "nodes": [
            {{ "name": "idle", "clip": {{ "clip": "idle", "sync": false }} }},
            {{ "name": "walk", "clip": {{ "clip": "walk" }} }},
            {{ "name": "run", "clip": {{ "clip": "run" }} }},
            {{ "name": "move", "blend_1d": {{ "parameter": "speed",
                "points": [[0, "idle"], [1, "walk"], [2, "run"]], "sync": {sync} }} }}
        ],
        "root": "move" }}"#
    );
    graph(&json, clips)
}

#[test]
fn half_walk_and_half_run_turn_at_the_mean_duration() {
    let clips = || vec![still("idle", 0.0, 3.0), ramp("walk", 1.0), ramp("run", 0.6)];
    let graph = blend(r#""phase""#, clips());
    let mut state = GraphState::new(&graph);
    state.parameters.set("speed", 1.5).unwrap();
    state.step(&graph, 0.2);
    let (walk, run) = (
        sample_of(&graph, &state, "walk"),
        sample_of(&graph, &state, "run"),
    );
    let (walk, run) = (walk.unwrap(), run.unwrap());
    assert!((walk.time - 0.25).abs() < 1e-6 && (run.time - 0.15).abs() < 1e-6);
    assert_eq!((walk.weight, run.weight), (0.5, 0.5));
    // What keeps its own time does.
    state.parameters.set("speed", 0.5).unwrap();
    state.step(&graph, 0.2);
    assert!((sample_of(&graph, &state, "idle").unwrap().time - 0.4).abs() < 1e-6);
    assert_eq!(sample_of(&graph, &state, "walk").unwrap().speed, 1.0);
}

#[test]
fn phases_stay_equal_however_the_weights_move() {
    let clips = vec![still("idle", 0.0, 3.0), ramp("walk", 1.0), ramp("run", 0.6)];
    let graph = blend(r#""phase""#, clips);
    let mut state = GraphState::new(&graph);
    for frame in 0..400 {
        let speed = 1.5 + 0.7 * (frame as f32 * 0.05).sin();
        state.parameters.set("speed", speed).unwrap();
        state.step(&graph, 0.031);
        let phase = |name, duration| sample_of(&graph, &state, name).map(|s| s.time / duration);
        if let (Some(walk), Some(run)) = (phase("walk", 1.0), phase("run", 0.6)) {
            let apart = (walk - run).rem_euclid(1.0);
            assert!(apart.min(1.0 - apart) < 1e-5, "{walk} and {run}");
        }
    }
}

fn marked(clip: LibraryClip, marks: &[(f32, &str)]) -> LibraryClip {
    LibraryClip {
        markers: events(marks),
        ..clip
    }
}

#[test]
fn between_markers_feet_come_down_together() {
    let clips = vec![
        still("idle", 0.0, 3.0),
        marked(ramp("walk", 1.0), &[(0.1, "left"), (0.6, "right")]),
        marked(ramp("run", 0.6), &[(0.05, "right"), (0.45, "left")]),
    ];
    let graph = blend(r#""markers""#, clips);
    // Seconds since the left foot came down, as a part of the way to the next foot.
    let lefts = |time: f32, left: f32, right: f32, duration: f32| {
        let since = (time - left).rem_euclid(duration);
        let to_right = (right - left).rem_euclid(duration);
        if since < to_right {
            since / to_right
        } else {
            1.0 + (since - to_right) / (duration - to_right)
        }
    };
    let mut state = GraphState::new(&graph);
    for frame in 0..300 {
        let speed = 1.5 + 0.45 * (frame as f32 * 0.07).sin();
        state.parameters.set("speed", speed).unwrap();
        state.step(&graph, 0.017);
        let walk = sample_of(&graph, &state, "walk").unwrap();
        let run = sample_of(&graph, &state, "run").unwrap();
        let apart = lefts(walk.time, 0.1, 0.6, 1.0) - lefts(run.time, 0.45, 0.05, 0.6);
        let apart = apart.rem_euclid(2.0);
        assert!(apart.min(2.0 - apart) < 1e-4, "frame {frame}: {apart}");
    }
}

#[test]
fn markers_that_do_not_agree_are_an_error_that_lists_them() {
    let json = r#"{
        "parameters": [{ "name": "s", "float": {} }],
        "nodes": [
            { "name": "w", "clip": { "clip": "walk" } },
            { "name": "r", "clip": { "clip": "run" } },
            { "name": "both", "blend_1d": { "parameter": "s", "points": [[0, "w"], [1, "r"]], "sync": "markers" } }
        ],
        "root": "both" }"#;
    let spec: GraphSpec = serde_json::from_str(json).unwrap();
    let walk = marked(ramp("walk", 1.0), &[(0.1, "left"), (0.6, "right")]);
    let message = |run| {
        let library = library(vec![walk.clone(), run]);
        match Graph::new(&spec, &skeleton(), &library) {
            Err(GraphError::Invalid(report)) => report.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        message(ramp("run", 0.6)),
        "both: both/r has no sync markers"
    );
    assert_eq!(
        message(marked(ramp("run", 0.6), &[(0.1, "left"), (0.3, "hop")])),
        "both: the sync markers do not come in the same order: both/w has left right, both/r has left hop"
    );
}

#[test]
fn events_are_met_once_each_turn_in_step_too() {
    let walk = LibraryClip {
        events: events(&[(0.0, "a"), (0.5, "b")]),
        ..ramp("walk", 1.0)
    };
    let run = LibraryClip {
        events: events(&[(0.0, "c")]),
        ..ramp("run", 0.6)
    };
    let graph = blend(r#""phase""#, vec![still("idle", 0.0, 3.0), walk, run]);
    let mut state = GraphState::new(&graph);
    state.parameters.set("speed", 1.25).unwrap();
    let mut counts = [0, 0, 0];
    // A turn takes 0.75 · 1 + 0.25 · 0.6 = 0.9 s; 9.5 s are ten and a half and some more.
    for _ in 0..950 {
        state.step(&graph, 0.01);
        for event in state.events(&graph, 0.0) {
            counts[usize::from(event.name.as_bytes()[0] - b'a')] += 1;
        }
    }
    assert_eq!(counts, [11, 11, 11]);
    assert_eq!(state.events(&graph, 0.9).count(), 0);
}

#[test]
fn a_state_may_start_at_the_marker_phase_of_the_one_before() {
    let json = r#"{
        "nodes": [
            { "name": "w", "clip": { "clip": "walk" } },
            { "name": "r", "clip": { "clip": "run" } },
            { "name": "m", "machine": { "initial": "w",
                "states": [{ "name": "w", "node": "w" }, { "name": "r", "node": "r" }],
                "transitions": [{ "from": "w", "to": "r", "when": { "after": 0.3 }, "duration": 0.2,
                    "kind": "inertialize", "start": "keep_phase", "sync": "markers" }] } }
        ],
        "root": "m" }"#;
    let clips = vec![
        marked(ramp("walk", 1.0), &[(0.1, "left"), (0.6, "right")]),
        marked(ramp("run", 0.6), &[(0.05, "right"), (0.45, "left")]),
    ];
    let graph = graph(json, clips);
    let mut state = GraphState::new(&graph);
    steps(&mut state, &graph, 0.05, 8);
    // At 0.35 s, or one step before or after, the walk was halfway between left and right; from 0.45 s to 0.65 s that is
    // 0.55 s of the run.
    let walked = state.machine(&graph, "m").unwrap().seconds;
    let at = f64::from(0.05_f32) * 8.0 - walked;
    let expected = 0.45 + (at - 0.1) / 0.5 * 0.2 + walked;
    let time = f64::from(sample_of(&graph, &state, "run").unwrap().time);
    assert!(
        (time - expected.rem_euclid(0.6)).abs() < 1e-5,
        "{time} is not {expected}"
    );
}

#[test]
fn a_transition_in_step_brings_whole_blends_in_step() {
    let json = r#"{
        "parameters": [{ "name": "s", "float": { "default": 0.5 } }],
        "nodes": [
            { "name": "a", "clip": { "clip": "a" } }, { "name": "b", "clip": { "clip": "b" } },
            { "name": "c", "clip": { "clip": "c" } },
            { "name": "ab", "blend_1d": { "parameter": "s", "points": [[0, "a"], [1, "b"]], "sync": "phase" } },
            { "name": "bc", "blend_1d": { "parameter": "s", "points": [[0, "b"], [1, "c"]], "sync": "phase" } },
            { "name": "m", "machine": { "initial": "ab",
                "states": [{ "name": "ab", "node": "ab" }, { "name": "bc", "node": "bc" }],
                "transitions": [{ "from": "ab", "to": "bc", "when": { "after": 0.3 }, "duration": 0.5, "sync": "phase" }] } }
        ],
        "root": "m" }"#;
    let durations = [1.0, 0.6, 1.7];
    let clips = [("a", 1.0), ("b", 0.6), ("c", 1.7)].map(|(name, duration)| ramp(name, duration));
    let graph = graph(json, clips.to_vec());
    let mut state = GraphState::new(&graph);
    let mut at_once = 0;
    for frame in 0..60 {
        state.step(&graph, 0.03);
        let phases = state
            .samples()
            .iter()
            .map(|sample| sample.time / durations[sample.clip]);
        let phases: Vec<_> = phases.collect();
        at_once = at_once.max(phases.len());
        for phase in &phases {
            let apart = (phase - phases[0]).rem_euclid(1.0);
            assert!(apart.min(1.0 - apart) < 1e-5, "frame {frame}: {phases:?}");
        }
    }
    assert_eq!(at_once, 4);
}
