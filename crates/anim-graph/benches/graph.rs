//! A frame of a third-person character of 60 joints.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]
#![allow(clippy::unwrap_used, reason = "a bench may fail like a test")]

#[path = "../../anim-skeleton/tests/common/mod.rs"]
mod human;

use std::hint::black_box;
use std::sync::Arc;

use anim_graph::{ClipLibrary, Graph, GraphSpec, GraphState, LibraryClip};
use anim_skeleton::{BakeOptions, Clip, Skeleton};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const GRAPH: &str = r#"{
    "parameters": [{ "name": "speed", "float": { "default": 2.2 } }, { "name": "go", "bool": {} }],
    "masks": [{ "name": "arm", "subtree": ["joint 16"] }],
    "nodes": [
        { "name": "idle", "clip": { "clip": "0" } },
        { "name": "walk", "clip": { "clip": "1" } },
        { "name": "run", "clip": { "clip": "2" } },
        { "name": "fall", "clip": { "clip": "3" } },
        { "name": "wave", "clip": { "clip": "4" } },
        { "name": "move", "blend_1d": { "parameter": "speed",
            "points": [[0, "idle"], [1.5, "walk"], [4, "run"]], "sync": "phase" } },
        { "name": "legs", "machine": { "initial": "move",
            "states": [{ "name": "move", "node": "move" }, { "name": "fall", "node": "fall" }],
            "transitions": [
                { "from": "move", "to": "fall", "when": { "bool": "go" }, "duration": 0.3, "kind": "inertialize" },
                { "from": "fall", "to": "move", "when": { "not": { "bool": "go" } }, "duration": 0.3 }
            ] } },
        { "name": "body", "layers": { "base": "legs", "layers": [{ "node": "wave", "mask": "arm", "weight": 0.5 }] } }
    ],
    "root": "body"
}"#;

fn graph() -> Graph {
    let skeleton = Skeleton::new(human::human(60)).unwrap();
    let clip = |n: usize| {
        let motion = human::motion(60, 1.0 + n as f32 * 0.3, 30.0);
        let (clip, _) = Clip::bake(&motion, &skeleton, &BakeOptions::default()).unwrap();
        LibraryClip::new(n.to_string(), Arc::new(clip))
    };
    let library = ClipLibrary {
        clips: (0..5).map(clip).collect(),
        ..ClipLibrary::default()
    };
    let spec: GraphSpec = serde_json::from_str(GRAPH).unwrap();
    Graph::new(&spec, &skeleton, &library).unwrap()
}

/// Three clips are sampled and two blends made a frame; the second case changes state every half second.
fn step(c: &mut Criterion) {
    let graph = graph();
    let go = graph.parameter("go").unwrap();
    let mut group = c.benchmark_group("anim-graph");
    group.throughput(Throughput::Elements(1));
    group.bench_function("advance/60", |b| {
        let mut state = GraphState::new(&graph);
        b.iter(|| state.advance(&graph, black_box(1.0 / 60.0)));
    });
    for (name, every) in [("step/60", u32::MAX), ("step_transitions/60", 30)] {
        group.bench_function(name, |b| {
            let mut state = GraphState::new(&graph);
            let mut frame = 0_u32;
            b.iter(|| {
                frame = frame.wrapping_add(1);
                let falls = frame / every % 2 == 1;
                state.parameters.set(go, falls).unwrap();
                state.step(&graph, black_box(1.0 / 60.0));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
