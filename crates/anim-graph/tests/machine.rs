//! State machines: when transitions fire, and what they look like.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_graph::{Graph, GraphState};
use common::{clip, distance, events, graph, moved, sample_of, steps, still, stride, turned, x};

use anim_math::Vec3;

/// Two still states at x = 0 and 1, with one transition each way.
fn pair(transition: &str) -> Graph {
    let json = format!(
        r#"{{
        "parameters": [
            {{ "name": "go", "bool": {{}} }},
            {{ "name": "hit", "trigger": {{}} }},
            {{ "name": "speed", "float": {{}} }},
            {{ "name": "stance", "choice": {{ "options": ["stand", "crouch"] }} }}
        ],
        "nodes": [
            {{ "name": "a", "clip": {{ "clip": "zero" }} }},
            {{ "name": "b", "clip": {{ "clip": "one", "wrap": "clamp" }} }},
            {{ "name": "m", "machine": {{ "initial": "A",
                "states": [{{ "name": "A", "node": "a" }}, {{ "name": "B", "node": "b" }}],
                "transitions": [{transition}] }} }}
        ],
        "root": "m" }}"#
    );
    let one = anim_graph::LibraryClip {
        events: events(&[(0.5, "half")]),
        ..still("one", 1.0, 1.0)
    };
    graph(&json, vec![still("zero", 0.0, 1.0), one])
}

fn is_in(graph: &Graph, state: &GraphState, name: &str) -> bool {
    state.machine(graph, "m").unwrap().state == name
}

#[test]
fn the_weight_of_a_crossfade_is_its_easing() {
    for (easing, expected) in [
        (r#""linear""#, 0.25),
        (r#"{ "in": "quad" }"#, 0.0625),
        (r#"{ "out": "cubic" }"#, 1.0 - 0.421_875),
    ] {
        let graph = pair(&format!(
            r#"{{ "from": "A", "to": "B", "when": {{ "bool": "go" }}, "duration": 0.5, "easing": {easing} }}"#
        ));
        let mut state = GraphState::new(&graph);
        steps(&mut state, &graph, 0.25, 2);
        assert_eq!(x(&state), 0.0);
        state.parameters.set("go", true).unwrap();
        state.step(&graph, 0.125);
        assert!((x(&state) - expected).abs() < 1e-6);
        let status = state.machine(&graph, "m").unwrap();
        let transition = status.transition.unwrap();
        assert_eq!((status.state, transition.from), ("B", Some("A")));
        assert_eq!(transition.progress, 0.25);
        assert!((transition.weight - expected).abs() < 1e-6);
        steps(&mut state, &graph, 0.125, 3);
        assert_eq!(x(&state), 1.0);
        assert_eq!(state.machine(&graph, "m").unwrap().transition, None);
        assert_eq!(state.samples().len(), 1);
    }
}

#[test]
fn conditions_say_when() {
    let first_frame = |when: &str, set: &dyn Fn(&mut GraphState)| {
        let graph = pair(&format!(
            r#"{{ "from": "A", "to": "B", "when": {when}, "duration": 0 }}"#
        ));
        let mut state = GraphState::new(&graph);
        set(&mut state);
        (0..100).find(|_| {
            state.step(&graph, 0.125);
            is_in(&graph, &state, "B")
        })
    };
    let fast = |state: &mut GraphState| state.parameters.set("speed", 2.0_f32).unwrap();
    let nothing = |_: &mut GraphState| {};
    assert_eq!(
        first_frame(r#"{ "compare": ["speed", ">", 1.5] }"#, &fast),
        Some(0)
    );
    assert_eq!(
        first_frame(r#"{ "compare": ["speed", "<=", 1.5] }"#, &fast),
        None
    );
    assert_eq!(
        first_frame(r#"{ "not": { "bool": "go" } }"#, &nothing),
        Some(0)
    );
    assert_eq!(
        first_frame(r#"{ "is": ["stance", "crouch"] }"#, &nothing),
        None
    );
    let crouch = |state: &mut GraphState| state.parameters.set("stance", "crouch").unwrap();
    assert_eq!(
        first_frame(r#"{ "is": ["stance", "crouch"] }"#, &crouch),
        Some(0)
    );
    // After two frames a quarter of a second has passed; the third tells.
    assert_eq!(first_frame(r#"{ "after": 0.25 }"#, &nothing), Some(2));
    assert_eq!(first_frame(r#"{ "phase": 0.5 }"#, &nothing), Some(4));
    assert_eq!(first_frame(r#""finished""#, &nothing), Some(8));
    assert_eq!(first_frame(r#"{ "any": [] }"#, &nothing), None);
    assert_eq!(first_frame(r#"{ "all": [] }"#, &nothing), Some(0));
    let both = r#"{ "all": [{ "after": 0.5 }, { "any": ["finished", { "phase": 0.75 }] }] }"#;
    assert_eq!(first_frame(both, &nothing), Some(6));
}

#[test]
fn an_event_that_the_state_met_fires_a_transition() {
    let graph = pair(
        r#"{ "from": "A", "to": "B", "when": { "bool": "go" }, "duration": 0 },
           { "from": "B", "to": "A", "when": { "event": "half" }, "duration": 0 }"#,
    );
    let mut state = GraphState::new(&graph);
    state.parameters.set("go", true).unwrap();
    steps(&mut state, &graph, 0.25, 2);
    assert!(is_in(&graph, &state, "B"));
    let met: Vec<_> = state.events(&graph, 0.0).map(|event| event.name).collect();
    assert_eq!(met, ["half"]);
    state.step(&graph, 0.25);
    assert!(is_in(&graph, &state, "A"));
}

#[test]
fn a_trigger_is_taken_by_the_transition_that_fires_and_waits_until_then() {
    let graph = pair(
        r#"{ "from": "A", "to": "B", "when": { "all": [{ "trigger": "hit" }, { "bool": "go" }] }, "duration": 0 },
           { "from": "B", "to": "A", "when": { "trigger": "hit" }, "duration": 0 }"#,
    );
    let mut state = GraphState::new(&graph);
    state.parameters.fire("hit").unwrap();
    steps(&mut state, &graph, 0.1, 3);
    assert!(is_in(&graph, &state, "A") && state.parameters.is_set("hit"));
    state.parameters.set("go", true).unwrap();
    steps(&mut state, &graph, 0.1, 3);
    assert!(is_in(&graph, &state, "B") && !state.parameters.is_set("hit"));
}

#[test]
fn a_trigger_with_patience_is_forgotten() {
    let json = r#"{
        "parameters": [{ "name": "hit", "trigger": { "forget_after": 0.2 } }],
        "nodes": [{ "name": "r", "rest": {} }], "root": "r" }"#;
    let graph = graph(json, vec![]);
    let mut state = GraphState::new(&graph);
    state.parameters.fire("hit").unwrap();
    state.step(&graph, 0.125);
    assert!(state.parameters.is_set("hit"));
    state.step(&graph, 0.125);
    assert!(!state.parameters.is_set("hit"));
}

#[test]
fn from_any_state_to_itself_changes_nothing() {
    let graph = pair(
        r#"{ "to": "B", "when": { "bool": "go" }, "duration": 0.5 },
           { "to": "A", "when": { "trigger": "hit" }, "duration": 0 }"#,
    );
    let mut state = GraphState::new(&graph);
    state.parameters.fire("hit").unwrap();
    state.step(&graph, 0.25);
    // The clip went on, the rest pose was not seen, the trigger still waits.
    assert_eq!(sample_of(&graph, &state, "zero").unwrap().time, 0.25);
    assert!(state.parameters.is_set("hit"));
    state.parameters.set("hit", false).unwrap();
    state.parameters.set("go", true).unwrap();
    steps(&mut state, &graph, 0.25, 3);
    assert_eq!(sample_of(&graph, &state, "one").unwrap().time, 0.75);
}

#[test]
fn order_is_priority_and_interruption_obeys_it() {
    let state_after = |interrupt: &str| {
        let graph = pair(&format!(
            r#"{{ "from": "B", "to": "A", "when": {{ "trigger": "hit" }}, "duration": 0 }},
               {{ "from": "A", "to": "B", "when": {{ "bool": "go" }}, "duration": 1, "interrupt": "{interrupt}" }},
               {{ "from": "B", "to": "A", "when": {{ "not": {{ "bool": "go" }} }}, "duration": 0 }}"#
        ));
        let run = |change: &dyn Fn(&mut GraphState)| {
            let mut state = GraphState::new(&graph);
            state.parameters.set("go", true).unwrap();
            state.step(&graph, 0.25);
            change(&mut state);
            state.step(&graph, 0.25);
            is_in(&graph, &state, "B")
        };
        let stays_if_hit = run(&|state| {
            // Level conditions would bring it back, so both change.
            state.parameters.fire("hit").unwrap();
            state.parameters.set("go", true).unwrap();
        });
        let stays_if_stopped = run(&|state| state.parameters.set("go", false).unwrap());
        [stays_if_hit, stays_if_stopped]
    };
    assert_eq!(state_after("any"), [false, false]);
    assert_eq!(state_after("higher"), [false, true]);
    assert_eq!(state_after("never"), [true, true]);
}

#[test]
fn states_start_where_the_transition_says() {
    let time_in = |start: &str| {
        let graph = pair(&format!(
            r#"{{ "from": "A", "to": "B", "when": {{ "after": 0.75 }}, "duration": 0.5, "start": {start} }}"#
        ));
        let mut state = GraphState::new(&graph);
        steps(&mut state, &graph, 0.25, 4);
        sample_of(&graph, &state, "one").unwrap().time
    };
    assert_eq!(time_in(r#""beginning""#), 0.25);
    assert_eq!(time_in(r#"{ "time": 0.5 }"#), 0.75);
    assert_eq!(time_in(r#"{ "phase": 0.25 }"#), 0.5);
    assert_eq!(time_in(r#""keep_phase""#), 1.0);
    assert_eq!(time_in(r#""resume""#), 0.25);
}

/// Two moving states, and a third; each kind of transition between the first two.
fn moving(kind: &str, duration: f32) -> Graph {
    let json = format!(
        r#"{{
        "parameters": [{{ "name": "go", "bool": {{}} }}, {{ "name": "hit", "trigger": {{}} }}],
        "nodes": [
            {{ "name": "a", "clip": {{ "clip": "sway" }} }},
            {{ "name": "b", "clip": {{ "clip": "wave" }} }},
            {{ "name": "c", "clip": {{ "clip": "twist" }} }},
            {{ "name": "m", "machine": {{ "initial": "A",
                "states": [{{ "name": "A", "node": "a" }}, {{ "name": "B", "node": "b" }}, {{ "name": "C", "node": "c" }}],
                "transitions": [
                    {{ "to": "C", "when": {{ "trigger": "hit" }}, "duration": {duration}, "kind": "{kind}" }},
                    {{ "from": "A", "to": "B", "when": {{ "bool": "go" }}, "duration": {duration}, "kind": "{kind}" }}
                ] }} }}
        ],
        "root": "m" }}"#
    );
    let swing = |name: &str, axis: Vec3, angle: f32, offset: f32| {
        let keys: Vec<_> = (0..=32)
            .map(|n| {
                let phase = n as f32 / 32.0;
                let turn = angle * (phase * std::f32::consts::TAU).sin();
                (phase, turn + offset)
            })
            .collect();
        let place = Vec3::new(offset, 1.0, 0.0);
        clip(
            name,
            vec![
                turned(2, axis, &keys),
                moved(0, &[(0.0, place), (1.0, place)]),
            ],
        )
    };
    let clips = vec![
        swing("sway", Vec3::x(), 0.6, 0.3),
        swing("wave", Vec3::z(), 0.5, -0.4),
        swing("twist", Vec3::y(), 0.4, 1.0),
    ];
    graph(&json, clips)
}

/// No clip turns faster than 0.6 · 2π rad/s; fades add the difference of poses over their duration, and inertialisation at
/// most 1.9 times as much (the steepest slope of its quintic).
const FASTEST: f32 = 4.0;
const APART: f32 = 2.5;

#[test]
fn no_kind_of_transition_pops_at_any_moment() {
    let (dt, duration) = (1.0 / 120.0, 0.3);
    let bound = dt * (FASTEST + 2.0 * APART / duration);
    for kind in ["crossfade", "frozen", "inertialize", "dead_blend"] {
        let graph = moving(kind, duration);
        for moment in (0..120).step_by(7) {
            // And a second transition in the middle of the first.
            for interruption in [1, 9, 20, 60] {
                let mut state = GraphState::new(&graph);
                steps(&mut state, &graph, dt, moment + 1);
                state.parameters.set("go", true).unwrap();
                let mut before = state.pose().clone();
                for frame in 0..120 {
                    if frame == interruption {
                        state.parameters.fire("hit").unwrap();
                    }
                    state.step(&graph, dt);
                    let jump = distance(&before, state.pose());
                    assert!(
                        jump < bound,
                        "{kind} at {moment}, {interruption}: {jump} in frame {frame}"
                    );
                    assert!(state.pose().is_finite());
                    before.copy_from(state.pose());
                }
                assert_eq!(state.machine(&graph, "m").unwrap().transition, None);
            }
        }
    }
}

#[test]
fn inertialisation_carries_on_the_velocity() {
    let dt = 1.0 / 240.0;
    for kind in ["inertialize", "dead_blend"] {
        let graph = moving(kind, 0.4);
        let arm = common::skeleton().joint(2);
        let mut state = GraphState::new(&graph);
        steps(&mut state, &graph, dt, 30);
        let mut poses = vec![state.pose().clone()];
        state.step(&graph, dt);
        poses.push(state.pose().clone());
        state.parameters.set("go", true).unwrap();
        for _ in 0..2 {
            state.step(&graph, dt);
            poses.push(state.pose().clone());
        }
        let turn = |n: usize| {
            let (from, to) = (poses[n].rotation(arm), poses[n + 1].rotation(arm));
            anim_math::quat::log(to * from.inverse()) / dt
        };
        // The clip turns at up to 3.8 rad/s, with accelerations of 24 rad/s²; 16 bits a key are 1e-4 rad.
        let kink = (turn(1) - turn(0)).norm().max((turn(2) - turn(1)).norm());
        assert!(kink < 0.6, "{kind}: {kink}");
    }
}

#[test]
fn at_the_end_of_every_transition_the_new_state_is_alone_to_the_bit() {
    for kind in ["crossfade", "frozen", "inertialize", "dead_blend"] {
        let graph = moving(kind, 0.25);
        let mut state = GraphState::new(&graph);
        steps(&mut state, &graph, 0.0625, 3);
        state.parameters.set("go", true).unwrap();
        steps(&mut state, &graph, 0.0625, 6);
        let time = sample_of(&graph, &state, "wave").unwrap().time;
        assert_eq!(time, 0.375);
        let mut expected = state.pose().clone();
        graph.clips()[1].clip.sample(time, &mut expected);
        assert_eq!(*state.pose(), expected, "{kind}");
    }
}

#[test]
fn the_character_does_not_stop_when_a_transition_is_interrupted() {
    let json = r#"{
        "parameters": [{ "name": "go", "bool": {} }, { "name": "back", "bool": {} }],
        "nodes": [
            { "name": "w", "clip": { "clip": "walk" } },
            { "name": "r", "clip": { "clip": "run" } },
            { "name": "m", "machine": { "initial": "W",
                "states": [{ "name": "W", "node": "w" }, { "name": "R", "node": "r" }],
                "transitions": [
                    { "from": "W", "to": "R", "when": { "bool": "go" }, "duration": 0.5 },
                    { "from": "R", "to": "W", "when": { "bool": "back" }, "duration": 0.5, "interrupt": "never" }
                ] } }
        ],
        "root": "m" }"#;
    let clips = vec![stride("walk", 1.0, 1.5, 0.0), stride("run", 0.6, 4.0, 0.0)];
    let graph = graph(json, clips);
    let mut state = GraphState::new(&graph);
    let dt = 1.0 / 64.0;
    let speed = |state: &GraphState| state.motion().translation.z / dt;
    steps(&mut state, &graph, dt, 20);
    assert!((speed(&state) - 1.5).abs() < 1e-3);
    state.parameters.set("go", true).unwrap();
    steps(&mut state, &graph, dt, 16);
    assert!((speed(&state) - 2.75).abs() < 1e-3);
    state.parameters.set("go", false).unwrap();
    state.parameters.set("back", true).unwrap();
    for frame in 1..=32 {
        state.step(&graph, dt);
        let expected = 2.75 + (1.5 - 2.75) * frame as f32 / 32.0;
        assert!((speed(&state) - expected).abs() < 1e-3, "{frame}");
    }
}

#[test]
fn machines_inside_states_start_over_when_the_state_is_entered() {
    let json = r#"{
        "parameters": [{ "name": "in", "bool": {} }, { "name": "next", "trigger": {} }],
        "nodes": [
            { "name": "z", "clip": { "clip": "zero" } },
            { "name": "o", "clip": { "clip": "one" } },
            { "name": "inner", "machine": { "initial": "first",
                "states": [{ "name": "first", "node": "z" }, { "name": "second", "node": "o" }],
                "transitions": [{ "from": "first", "to": "second", "when": { "trigger": "next" }, "duration": 0 }] } },
            { "name": "m", "machine": { "initial": "out",
                "states": [{ "name": "out", "node": "z" }, { "name": "in", "node": "inner" }],
                "transitions": [
                    { "from": "out", "to": "in", "when": { "bool": "in" }, "duration": 0 },
                    { "from": "in", "to": "out", "when": { "not": { "bool": "in" } }, "duration": 0 }
                ] } }
        ],
        "root": "m" }"#;
    let graph = graph(json, vec![still("zero", 0.0, 1.0), still("one", 1.0, 1.0)]);
    assert_eq!(graph.machines().collect::<Vec<_>>(), ["m", "m/in"]);
    let mut state = GraphState::new(&graph);
    state.parameters.fire("next").unwrap();
    state.step(&graph, 0.1);
    assert!(
        state.parameters.is_set("next"),
        "a machine that is not in use takes no trigger"
    );
    let inner = |state: &GraphState| state.machine(&graph, "m/in").unwrap().state.to_owned();
    state.parameters.set("in", true).unwrap();
    state.step(&graph, 0.1);
    assert_eq!(inner(&state), "second");
    state.parameters.set("in", false).unwrap();
    state.step(&graph, 0.1);
    state.parameters.set("in", true).unwrap();
    state.step(&graph, 0.1);
    assert_eq!(inner(&state), "first");
}

/// A clip whose x is its time fades into one that stays at x = 0, from time 0.5 on.
fn from_ramp(kind: &str, start: &str) -> Graph {
    let json = format!(
        r#"{{
        "nodes": [
            {{ "name": "r", "clip": {{ "clip": "ramp" }} }},
            {{ "name": "z", "clip": {{ "clip": "zero" }} }},
            {{ "name": "m", "machine": {{ "initial": "R",
                "states": [{{ "name": "R", "node": "r" }}, {{ "name": "Z", "node": "z" }}],
                "transitions": [
                    {{ "from": "R", "to": "Z", "when": {{ "phase": 0.5 }}, "duration": 0.25, "kind": "{kind}" }},
                    {{ "from": "Z", "to": "R", "when": {{ "after": 0.5 }}, "duration": 0, "start": "{start}" }}
                ] }} }}
        ],
        "root": "m" }}"#
    );
    graph(
        &json,
        vec![common::ramp("ramp", 1.0), still("zero", 0.0, 1.0)],
    )
}

#[test]
fn a_frozen_source_stands_still_and_a_live_one_plays_on() {
    for (kind, source) in [
        ("crossfade", [0.5625, 0.625, 0.6875]),
        ("frozen", [0.5, 0.5, 0.5]),
    ] {
        let graph = from_ramp(kind, "beginning");
        let mut state = GraphState::new(&graph);
        steps(&mut state, &graph, 0.0625, 8);
        assert_eq!(x(&state), 0.5);
        for (frame, source) in source.into_iter().enumerate() {
            state.step(&graph, 0.0625);
            let weight = (frame + 1) as f32 * 0.25;
            assert!(
                (x(&state) - (1.0 - weight) * source).abs() < 1e-6,
                "{kind}: {}",
                x(&state)
            );
        }
        state.step(&graph, 0.0625);
        assert_eq!(x(&state), 0.0);
    }
}

#[test]
fn a_state_that_resumes_goes_on_where_it_was() {
    for (start, expected) in [("resume", 0.5625), ("beginning", 0.0625)] {
        let graph = from_ramp("frozen", start);
        let mut state = GraphState::new(&graph);
        // 0.5 s of the ramp, 0.5 s of rest, and one step of the ramp again.
        steps(&mut state, &graph, 0.0625, 8 + 8 + 1);
        assert_eq!(state.machine(&graph, "m").unwrap().state, "R");
        assert!(
            (x(&state) - expected).abs() < 1e-6,
            "{start}: {}",
            x(&state)
        );
    }
}

#[test]
fn steps_too_short_to_tell_a_velocity_leave_it_out() {
    for kind in ["inertialize", "dead_blend"] {
        let graph = moving(kind, 0.3);
        for (before, after) in [(1e-40, 0.1), (0.1, 1e-40), (1e-40, 1e-40)] {
            let mut state = GraphState::new(&graph);
            steps(&mut state, &graph, 0.1, 2);
            steps(&mut state, &graph, before, 2);
            let shown = state.pose().clone();
            state.parameters.set("go", true).unwrap();
            state.step(&graph, after);
            assert!(
                distance(&shown, state.pose()) < 0.5,
                "{kind} {before} {after}"
            );
            steps(&mut state, &graph, 0.1, 4);
            assert!(state.pose().is_finite());
        }
    }
}
