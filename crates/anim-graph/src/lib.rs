//! Animation graphs as data: which clips play, how they mix and when one gives way to another.
//!
//! A [`GraphSpec`] names clips, blend spaces, layers and state machines; [`Graph::new`] checks it against a skeleton and a
//! [`ClipLibrary`] and reports everything that is wrong at once. A [`Graph`] is shared by all who play it, and each has a
//! [`GraphState`]: set its parameters, [`step`](GraphState::step) it, take the pose, the root motion and the events. A
//! frame allocates nothing. [`matching`] chooses clips by what they look like instead.
//!
//! ```
//! use anim_graph::{ClipLibrary, Graph, GraphSpec, GraphState, LibraryClip};
//! use anim_skeleton::{BakeOptions, Clip, ClipSpec, JointSpec, Skeleton};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Default::default() }])?;
//! let (idle, _) = Clip::bake(&ClipSpec::default(), &skeleton, &BakeOptions::default())?;
//! let library = ClipLibrary { clips: vec![LibraryClip::new("Idle", idle)], ..ClipLibrary::default() };
//! let spec: GraphSpec = serde_json::from_str(
//!     r#"{
//!         "parameters": [{ "name": "armed", "bool": {} }],
//!         "nodes": [
//!             { "name": "idle", "clip": { "clip": "Idle" } },
//!             { "name": "guard", "clip": { "clip": "Idle", "speed": 0.5 } },
//!             { "name": "body", "machine": {
//!                 "initial": "calm",
//!                 "states": [{ "name": "calm", "node": "idle" }, { "name": "armed", "node": "guard" }],
//!                 "transitions": [{ "from": "calm", "to": "armed", "when": { "bool": "armed" } }] } }
//!         ],
//!         "root": "body"
//!     }"#,
//! )?;
//! let graph = Graph::new(&spec, &skeleton, &library)?;
//! let mut state = GraphState::new(&graph);
//! state.parameters.set("armed", true)?;
//! state.step(&graph, 1.0 / 60.0);
//! assert_eq!(state.machine(&graph, "body").map(|status| status.state), Some("armed"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advance;
pub mod blend_space;
mod compile;
mod delaunay;
mod error;
mod evaluate;
pub mod graph;
pub mod library;
pub mod machine_spec;
mod machine_state;
pub mod matching;
pub mod parameters;
pub mod report;
pub mod spec;
pub mod state;
mod sync;
mod transition;
mod validate;
mod validate_machine;

pub use blend_space::{BlendSpace1, BlendSpace2, Corners};
pub use error::GraphError;
pub use graph::Graph;
pub use library::{ClipLibrary, LibraryClip, LibraryMirror};
pub use machine_spec::{
    Comparison, Condition, Interrupt, MachineSpec, Start, StateSpec, TransitionKind, TransitionSpec,
};
pub use parameters::{ParameterId, ParameterKey, ParameterValue, Parameters};
pub use report::{Problem, Report, Severity};
pub use spec::{
    Blend1Spec, Blend2Spec, ClipNode, DifferenceSpace, GraphSpec, LayerMode, LayerSpec, LayersSpec,
    MaskEntry, NodeEntry, NodeSpec, ParameterKind, ParameterSpec, SubgraphSpec, SyncBy, Value,
};
pub use state::{FiredEvent, GraphState, MOST_EVENTS, MachineStatus, Sample, TransitionStatus};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
