//! The graph as data: what an author writes, in Rust or in JSON.
//!
//! A [`GraphSpec`] is a list of parameters and of named nodes that refer to each other by name; [`Graph::new`] checks it
//! against a skeleton and a library of clips. Nodes form a tree when they run: a node that is named in two places is two
//! nodes, each with its own time. The JSON form wants a self-describing format, as entries flatten their kind.
//!
//! ```
//! use anim_graph::GraphSpec;
//!
//! let spec: GraphSpec = serde_json::from_str(
//!     r#"{
//!         "parameters": [{ "name": "speed", "float": { "default": 0.0, "range": [0.0, 5.0] } }],
//!         "nodes": [
//!             { "name": "walk", "clip": { "clip": "Walk" } },
//!             { "name": "run", "clip": { "clip": "Run" } },
//!             { "name": "move", "blend_1d": {
//!                 "parameter": "speed", "points": [[1.5, "walk"], [4.0, "run"]], "sync": "phase" } }
//!         ],
//!         "root": "move"
//!     }"#,
//! )?;
//! assert_eq!(spec.nodes.len(), 3);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! [`Graph::new`]: crate::Graph::new

use anim_skeleton::{MaskSpec, Wrap};
use serde::{Deserialize, Serialize};

use crate::machine_spec::MachineSpec;

/// A graph, or a part of one used as a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// What steers it.
    #[serde(default)]
    pub parameters: Vec<ParameterSpec>,
    /// Masks for its layers, in names of joints.
    #[serde(default)]
    pub masks: Vec<MaskEntry>,
    /// Its nodes, in any order; names are unique.
    pub nodes: Vec<NodeEntry>,
    /// Name of the node whose pose is the result.
    pub root: String,
}

/// A parameter: a named input of the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParameterSpec {
    /// Unique within the graph.
    pub name: String,
    /// What it holds.
    #[serde(flatten)]
    pub kind: ParameterKind,
}

/// What a parameter holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// A finite number.
    Float {
        /// Its value at the start.
        #[serde(default)]
        default: f32,
        /// Values set are clamped to this interval, lowest first.
        #[serde(default)]
        range: Option<[f32; 2]>,
    },
    /// Yes or no.
    Bool {
        /// Its value at the start.
        #[serde(default)]
        default: bool,
    },
    /// One of a list of words.
    Choice {
        /// The words, at least one, unique.
        options: Vec<String>,
        /// The word at the start; the first of `options` if absent.
        #[serde(default)]
        default: Option<String>,
    },
    /// Set once, and gone with the transition that it fires.
    Trigger {
        /// Seconds after which it is forgotten if no transition took it; kept for ever if absent.
        #[serde(default)]
        forget_after: Option<f32>,
    },
}

/// A mask with its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MaskEntry {
    /// Unique within the graph.
    pub name: String,
    /// Which joints it takes.
    #[serde(flatten)]
    pub mask: MaskSpec,
}

/// A node with its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEntry {
    /// Unique within the graph.
    pub name: String,
    /// What it does.
    #[serde(flatten)]
    pub node: NodeSpec,
}

/// A number that is fixed or follows a float parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Always this.
    Constant(f32),
    /// The parameter of this name.
    Parameter(String),
}

/// What makes a pose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeSpec {
    /// The skeleton's rest pose.
    Rest {},
    /// A clip of the library.
    Clip(ClipNode),
    /// Poses along a line, mixed by one float parameter.
    #[serde(rename = "blend_1d")]
    Blend1(Blend1Spec),
    /// Poses in a plane, mixed by two float parameters.
    #[serde(rename = "blend_2d")]
    Blend2(Blend2Spec),
    /// Poses on top of each other.
    Layers(LayersSpec),
    /// One of several states, and the ways between them.
    Machine(MachineSpec),
    /// A graph with parameters of its own.
    Graph(SubgraphSpec),
    /// A node whose time runs faster or slower.
    Speed {
        /// Whose time.
        node: String,
        /// Seconds of the node a second, up to a million; negative plays clips backwards.
        factor: Value,
    },
    /// A node with left and right exchanged.
    Mirror {
        /// Whose pose.
        node: String,
        /// A bool parameter that says when; always if absent.
        #[serde(default)]
        when: Option<String>,
    },
    /// What must be added to one pose to get another, for additive layers.
    Difference {
        /// The pose to get.
        node: String,
        /// The pose to start from, such as a clip of speed 0.
        reference: String,
        /// Where turns are seen.
        #[serde(default)]
        space: DifferenceSpace,
    },
}

/// A clip, and how it is played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipNode {
    /// Its name in the library.
    pub clip: String,
    /// Clip seconds a second; negative plays backwards, 0 holds.
    #[serde(default = "one")]
    pub speed: f32,
    /// What happens at the ends.
    #[serde(default = "looping")]
    pub wrap: Wrap,
    /// Where it starts, s; absent: its beginning, or its end if it plays backwards and is clamped.
    #[serde(default)]
    pub start: Option<f32>,
    /// True to keep in step with the clips around it where a blend or a transition synchronises; for looping clips.
    #[serde(default = "yes")]
    pub sync: bool,
    /// Places the clip by hand, as a fraction of its duration; it then has no events and no root motion.
    #[serde(default)]
    pub scrub: Option<Value>,
}

impl ClipNode {
    /// The clip `name`, looping at its own speed.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            clip: name.into(),
            speed: 1.0,
            wrap: Wrap::Loop,
            start: None,
            sync: true,
            scrub: None,
        }
    }
}

/// How clips of different lengths keep in step.
///
/// One turn of the blend takes the mean of the clips' durations, by weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncBy {
    /// All are at the same fraction of their length.
    Phase,
    /// All are between the same two markers, at the same fraction of the way; marker names must come in the same cyclic
    /// order in all of the clips.
    Markers,
}

/// Poses along a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blend1Spec {
    /// A float parameter.
    pub parameter: String,
    /// Places and the nodes that are there; at most two have any weight.
    pub points: Vec<(f32, String)>,
    /// Keeps the clips below in step.
    #[serde(default)]
    pub sync: Option<SyncBy>,
}

/// Poses in a plane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blend2Spec {
    /// Two float parameters.
    pub parameters: [String; 2],
    /// Places and the nodes that are there; at most three have any weight.
    pub points: Vec<([f32; 2], String)>,
    /// Keeps the clips below in step.
    #[serde(default)]
    pub sync: Option<SyncBy>,
}

/// Poses on top of each other, each covering those before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayersSpec {
    /// Node at the bottom.
    pub base: String,
    /// What lies on it, lowest first.
    pub layers: Vec<LayerSpec>,
}

/// One of [`LayersSpec::layers`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerSpec {
    /// Its node.
    pub node: String,
    /// A mask of the graph: joint by joint a factor of the weight.
    #[serde(default)]
    pub mask: Option<String>,
    /// Clamped to [0, 1] if overriding, else to [−4, 4]; an additive layer of negative weight takes off instead.
    #[serde(default = "always")]
    pub weight: Value,
    /// How it meets what is below.
    #[serde(default)]
    pub mode: LayerMode,
}

/// How a layer meets what is below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerMode {
    /// Covers it.
    #[default]
    Override,
    /// Adds to it; the node's pose is a difference of two, in local space.
    Additive,
    /// As [`LayerMode::Additive`], with a difference in model space: turns keep their direction in the model, however what
    /// is below has turned.
    AdditiveInModel,
}

/// Where the turns of a difference are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceSpace {
    /// On the joint's own side, for [`LayerMode::Additive`].
    #[default]
    Local,
    /// In the model, for [`LayerMode::AdditiveInModel`].
    Model,
}

/// A graph inside a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubgraphSpec {
    /// The graph itself.
    pub graph: Box<GraphSpec>,
    /// Pairs of a parameter of the inner graph and the parameter around it, of the same kind, that it follows. An inner
    /// parameter without one is set as `node/parameter`.
    #[serde(default)]
    pub parameters: Vec<(String, String)>,
}

impl NodeSpec {
    /// The nodes it names.
    pub(crate) fn children(&self) -> Vec<&str> {
        match self {
            Self::Rest {} | Self::Clip(_) | Self::Graph(_) => Vec::new(),
            Self::Blend1(blend) => blend.points.iter().map(|p| p.1.as_str()).collect(),
            Self::Blend2(blend) => blend.points.iter().map(|p| p.1.as_str()).collect(),
            Self::Layers(layers) => std::iter::once(layers.base.as_str())
                .chain(layers.layers.iter().map(|layer| layer.node.as_str()))
                .collect(),
            Self::Machine(machine) => machine.states.iter().map(|s| s.node.as_str()).collect(),
            Self::Speed { node, .. } | Self::Mirror { node, .. } => vec![node],
            Self::Difference {
                node, reference, ..
            } => vec![node, reference],
        }
    }
}

fn one() -> f32 {
    1.0
}

fn always() -> Value {
    Value::Constant(1.0)
}

fn looping() -> Wrap {
    Wrap::Loop
}

fn yes() -> bool {
    true
}
