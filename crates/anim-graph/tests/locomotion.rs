//! A third-person character from a file: idle, walk and run, jump and land, waving and leaning.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_graph::{Graph, GraphSpec, GraphState, LibraryClip};
use anim_math::{Affine, Vec3};
use common::{clip, events, graph, skeleton, steps, still, stride, turned};

const FILE: &str = include_str!("data/locomotion.json");

fn clips() -> Vec<LibraryClip> {
    let marked = |clip: LibraryClip, left: f32, right: f32| {
        let marks = [(left, "left"), (right, "right")];
        LibraryClip {
            markers: events(&marks),
            events: events(&marks),
            ..clip
        }
    };
    let arm = |name: &str, joint, axis, angle: f32, duration: f32| {
        let keys = [(0.0, 0.0), (duration * 0.5, angle), (duration, 0.0)];
        clip(name, vec![turned(joint, axis, &keys)])
    };
    vec![
        still("idle", 0.0, 3.0),
        marked(stride("walk", 1.0, 1.5, 0.0), 0.1, 0.6),
        marked(stride("run", 0.6, 4.0, 0.0), 0.4, 0.1),
        arm("jump", 2, Vec3::x(), 1.2, 0.5),
        arm("fall", 2, Vec3::z(), 0.8, 1.0),
        arm("land", 1, Vec3::x(), 0.6, 0.4),
        arm("wave", 3, Vec3::z(), -1.5, 0.8),
        clip(
            "lean",
            vec![turned(1, Vec3::z(), &[(0.0, 0.0), (1.0, 0.4)])],
        ),
    ]
}

#[test]
fn the_file_reads_and_writes_to_the_same() {
    let spec: GraphSpec = serde_json::from_str(FILE).unwrap();
    let written = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<GraphSpec>(&written).unwrap(), spec);
    let again: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(again["nodes"][10]["blend_1d"]["points"][1][1], "walk");
}

#[test]
fn misspelt_fields_are_refused() {
    for (right, wrong) in [
        ("\"sync\": false", "\"sink\": false"),
        ("\"duration\": 0.3", "\"time\": 0.3"),
        ("\"blend_1d\"", "\"blend\""),
        ("\"mode\": \"additive_in_model\"", "\"mode\": \"add\""),
    ] {
        assert!(FILE.contains(right));
        let file = FILE.replace(right, wrong);
        assert!(serde_json::from_str::<GraphSpec>(&file).is_err(), "{wrong}");
    }
}

fn state_of(graph: &Graph, state: &GraphState) -> String {
    state
        .machine(graph, "body/locomotion")
        .unwrap()
        .state
        .to_owned()
}

#[test]
fn a_character_walks_runs_jumps_and_lands() {
    let graph = graph(FILE, clips());
    assert!(graph.warnings().problems.is_empty(), "{}", graph.warnings());
    let mut state = GraphState::new(&graph);
    let dt = 1.0 / 60.0;
    let mut at = Affine::IDENTITY;
    let mut run = |state: &mut GraphState, frames: usize| {
        let mut feet = Vec::new();
        for _ in 0..frames {
            state.step(&graph, dt);
            at = at * Affine::from(state.motion());
            let heard = state.events(&graph, 0.5);
            feet.extend(heard.map(|event| event.name.to_owned()));
        }
        (at.translation.z, feet)
    };
    assert_eq!(run(&mut state, 30).0, 0.0);
    state.parameters.set("speed", 1.5).unwrap();
    let (walked, feet) = run(&mut state, 120);
    assert!((walked - 3.0).abs() < 0.02, "{walked}");
    // Each foot once a turn, of the clip that is heard.
    assert_eq!(feet, ["right", "left", "right", "left"]);
    state.parameters.set("speed", 4.0).unwrap();
    let ran = run(&mut state, 60).0 - walked;
    assert!((ran - 4.0).abs() < 0.02, "{ran}");

    state.parameters.fire("jump").unwrap();
    state.parameters.set("grounded", false).unwrap();
    state.step(&graph, dt);
    assert_eq!(state_of(&graph, &state), "jump");
    steps(&mut state, &graph, dt, 40);
    assert_eq!(state_of(&graph, &state), "fall");
    state.parameters.set("grounded", true).unwrap();
    steps(&mut state, &graph, dt, 2);
    assert_eq!(state_of(&graph, &state), "land");
    steps(&mut state, &graph, dt, 30);
    assert_eq!(state_of(&graph, &state), "ground");
}

#[test]
fn waving_moves_the_right_arm_only_and_leaning_is_seen_in_the_model() {
    let graph = graph(FILE, clips());
    let joints = skeleton();
    let pose = |wave: f32, lean: f32| {
        let mut state = GraphState::new(&graph);
        state.parameters.set("wave", wave).unwrap();
        state.parameters.set("lean", lean).unwrap();
        steps(&mut state, &graph, 0.1, 4);
        state.pose().clone()
    };
    let (plain, waving) = (pose(0.0, 0.0), pose(1.0, 0.0));
    for joint in joints.joints() {
        let moved = plain.rotation(joint).angle_to(&waving.rotation(joint)) > 1e-3;
        assert_eq!(moved, joint == joints.joint(3));
    }
    for lean in [-1.0, 1.0] {
        let spine = pose(0.0, lean).rotation(joints.joint(1));
        let angle = anim_math::quat::log(spine).z;
        assert!((angle - 0.4 * lean).abs() < 1e-3, "{angle}");
    }
}

#[test]
fn the_graph_of_the_readme_plays() {
    let readme = include_str!("../README.md");
    let json = readme
        .split("```json")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let names = [
        ("idle", "Idle"),
        ("walk", "Walk"),
        ("run", "Run"),
        ("jump", "Jump"),
        ("wave", "Wave"),
    ];
    let mut clips = clips();
    for clip in &mut clips {
        if let Some((_, name)) = names.iter().find(|pair| pair.0 == clip.name) {
            clip.name = (*name).to_owned();
        }
    }
    let graph = graph(json.unwrap(), clips);
    assert!(graph.warnings().problems.is_empty());
    let mut state = GraphState::new(&graph);
    state.parameters.set("speed", 3.2).unwrap();
    state.parameters.fire("jump").unwrap();
    steps(&mut state, &graph, 1.0 / 60.0, 90);
    assert_eq!(state.machine(&graph, "body/legs").unwrap().state, "ground");
}
