//! The validator says everything that is wrong, where, and what would be right.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_graph::{Graph, GraphError, GraphSpec};
use common::{library, skeleton, still};

const WRONG: &str = r#"{
  "parameters": [
    { "name": "speed", "float": { "default": 1, "range": [5, 0] } },
    { "name": "speed", "bool": {} },
    { "name": "go", "trigger": { "forget_after": -1 } },
    { "name": "stance", "choice": { "options": ["stand", "crouch"], "default": "crawl" } }
  ],
  "masks": [{ "name": "arms", "include": ["*Wing"] }],
  "nodes": [
    { "name": "walk", "clip": { "clip": "Walk", "start": -1 } },
    { "name": "run", "clip": { "clip": "Runn" } },
    { "name": "move", "blend_1d": { "parameter": "stance", "points": [[0, "walk"], [0, "sprint"]] } },
    { "name": "plane", "blend_2d": { "parameters": ["speed", "sped"], "points": [] } },
    { "name": "loop", "speed": { "node": "pool", "factor": "go" } },
    { "name": "pool", "mirror": { "node": "loop" } },
    { "name": "stack", "layers": { "base": "walk", "layers": [{ "node": "run", "mask": "legs", "weight": "stance" }] } },
    { "name": "inner", "graph": {
        "parameters": [["x", "go"], ["z", "speed"]],
        "graph": { "parameters": [{ "name": "x", "float": {} }], "nodes": [{ "name": "r", "rest": {} }], "root": "rr" } } },
    { "name": "machine", "machine": {
        "initial": "A",
        "states": [{ "name": "A", "node": "walk" }, { "name": "B", "node": "run" }, { "name": "C", "node": "rn" }],
        "transitions": [
          { "from": "A", "to": "B", "when": { "compare": ["go", ">", 1] }, "duration": -0.5 },
          { "to": "D", "when": { "all": [{ "is": ["stance", "sit"] }, { "not": { "bool": "missing" } }] } },
          { "from": "B", "to": "B", "when": { "after": -2 }, "start": { "phase": -1 } }
        ] } }
  ],
  "root": "machin"
}"#;

fn errors(json: &str) -> String {
    let spec: GraphSpec = serde_json::from_str(json).unwrap();
    let clips = vec![still("Walk", 0.0, 1.0), still("Run", 1.0, 1.0)];
    match Graph::new(&spec, &skeleton(), &library(clips)) {
        Err(error) => error.to_string(),
        Ok(graph) => graph.warnings().to_string(),
    }
}

#[test]
fn every_problem_is_reported_with_its_place() {
    insta::assert_snapshot!(errors(WRONG));
}

#[test]
fn a_state_that_nothing_leads_to_is_a_warning() {
    let json = r#"{
        "nodes": [
            { "name": "r", "rest": {} },
            { "name": "m", "machine": { "initial": "A",
                "states": [{ "name": "A", "node": "r" }, { "name": "B", "node": "r" }] } },
            { "name": "spare", "rest": {} }
        ],
        "root": "m" }"#;
    assert_eq!(
        errors(json),
        "m/B: warning: no transition leads to this state\nspare: warning: the root does not lead to this node"
    );
}

#[test]
fn a_graph_that_grows_without_bounds_is_refused() {
    // Each node is two of the one before: 2³⁰ in all.
    let mut nodes = vec![r#"{ "name": "n0", "rest": {} }"#.to_owned()];
    for n in 1..=30 {
        let below = n - 1;
        nodes.push(format!(
            r#"{{ "name": "n{n}", "layers": {{ "base": "n{below}", "layers": [{{ "node": "n{below}" }}] }} }}"#
        ));
    }
    let graph = |root: &str, nodes: &[String]| {
        let nodes = nodes.join(",");
        let json = format!(r#"{{ "nodes": [{nodes}], "root": "{root}" }}"#);
        let spec: GraphSpec = serde_json::from_str(&json).unwrap();
        Graph::new(&spec, &skeleton(), &library(vec![]))
    };
    assert!(matches!(
        graph("n30", &nodes),
        Err(GraphError::TooManyNodes { .. })
    ));
    let chain = |n: usize| {
        format!(
            r#"{{ "name": "n{}", "speed": {{ "node": "n{n}", "factor": 1 }} }}"#,
            n + 1
        )
    };
    let mut nodes = vec![r#"{ "name": "n0", "rest": {} }"#.to_owned()];
    nodes.extend((0..1000).map(chain));
    assert!(matches!(
        graph("n1000", &nodes),
        Err(GraphError::TooDeep { .. })
    ));
    assert!(graph("n40", &nodes).is_ok());
}

#[test]
fn clips_of_another_skeleton_are_refused() {
    let spec: GraphSpec =
        serde_json::from_str(r#"{ "nodes": [{ "name": "r", "rest": {} }], "root": "r" }"#).unwrap();
    let other = anim_skeleton::Skeleton::new(vec![]).unwrap();
    let library = library(vec![still("Walk", 0.0, 1.0)]);
    let error = Graph::new(&spec, &other, &library).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("library: clip 'Walk' has 5 joints, the skeleton has 0")
    );
}
