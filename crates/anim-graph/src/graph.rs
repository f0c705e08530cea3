//! The validated graph: a tree of nodes with all names resolved, shared by every character that plays it.
//!
//! Whatever can be wrong is found here, once, so that nothing that runs each frame can fail.
//!
//! ```
//! use anim_graph::{ClipLibrary, Graph, GraphError, GraphSpec};
//! use anim_skeleton::Skeleton;
//!
//! let spec: GraphSpec = serde_json::from_str(
//!     r#"{ "nodes": [{ "name": "walk", "clip": { "clip": "Wlak" } }], "root": "walk" }"#,
//! )?;
//! let error = Graph::new(&spec, &Skeleton::new(vec![])?, &ClipLibrary::default()).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the graph is not valid:\nwalk: clip 'Wlak' does not exist; there are: none"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use anim_curves::Easing;
use anim_skeleton::{Mask, Skeleton, Wrap};

use crate::blend_space::{BlendSpace1, BlendSpace2, Corners};
use crate::compile::compile;
use crate::library::{ClipLibrary, LibraryClip, LibraryMirror};
use crate::machine_spec::{Comparison, Interrupt, Start, TransitionKind};
use crate::parameters::{ParameterId, ParameterTable, Parameters};
use crate::report::Report;
use crate::spec::{DifferenceSpace, LayerMode};
use crate::sync::Lane;
use crate::validate::validate;
use crate::{GraphError, GraphSpec};

/// A graph ready to play: immutable, shared by any number of [`GraphState`](crate::GraphState)s.
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) parameters: Arc<ParameterTable>,
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Vec<LibraryClip>,
    pub(crate) masks: Vec<Mask>,
    pub(crate) mirror: Option<LibraryMirror>,
    /// Children before parents; the root is last.
    pub(crate) nodes: Vec<Node>,
    /// Clips in the order a walk over the tree meets them, so that those of a node are neighbours.
    pub(crate) leaves: Vec<Leaf>,
    /// In the same order.
    pub(crate) machines: Vec<Machine>,
    /// Numbers that nodes keep for a frame: weights of children, flags.
    pub(crate) slots: usize,
    /// Poses that may be needed at once.
    pub(crate) poses: usize,
    pub(crate) warnings: Report,
}

impl Graph {
    /// Checks a graph and resolves its names.
    ///
    /// # Errors
    ///
    /// [`GraphError::Invalid`] with everything that is wrong; [`GraphError::TooManyNodes`] above 16384 and
    /// [`GraphError::TooDeep`] above 48 nodes inside each other.
    pub fn new(
        spec: &GraphSpec,
        skeleton: &Skeleton,
        library: &ClipLibrary,
    ) -> Result<Self, GraphError> {
        let report = validate(spec, skeleton, library);
        if !report.is_valid() {
            return Err(GraphError::Invalid(report));
        }
        compile(spec, skeleton, library, report)
    }

    /// What the graph is allowed but hardly meant to have, such as states that nothing leads to.
    pub fn warnings(&self) -> &Report {
        &self.warnings
    }

    /// The parameter of that name; one of an inner graph that is not bound is `node/parameter`.
    pub fn parameter(&self, name: &str) -> Option<ParameterId> {
        self.parameters.find(name)
    }

    /// The clips of the library, in its order.
    pub fn clips(&self) -> &[LibraryClip] {
        &self.clips
    }

    /// The places of all state machines, such as `body/locomotion`: names of nodes and states from the root inwards.
    pub fn machines(&self) -> impl Iterator<Item = &str> {
        self.machines.iter().map(|machine| machine.place.as_str())
    }

    /// Number of joints, J.
    pub fn joint_count(&self) -> usize {
        self.skeleton.len()
    }

    pub(crate) fn root(&self) -> usize {
        self.nodes.len() - 1
    }
}

/// A number that is fixed or follows a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Constant(f32),
    Parameter(ParameterId),
}

impl Number {
    pub(crate) fn get(self, parameters: &Parameters) -> f32 {
        match self {
            Self::Constant(value) => value,
            Self::Parameter(id) => parameters.float(id),
        }
    }
}

/// A node with its children's places in [`Graph::nodes`], and a slot where it keeps numbers for a frame.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Rest,
    Clip {
        leaf: usize,
    },
    Blend {
        space: Space,
        children: Vec<usize>,
        /// The weight of each child.
        slot: usize,
        scope: Option<usize>,
    },
    Layers {
        base: usize,
        layers: Vec<Layer>,
        /// The weight of each layer.
        slot: usize,
    },
    Machine {
        machine: usize,
    },
    Speed {
        child: usize,
        factor: Number,
    },
    Mirror {
        child: usize,
        when: Option<ParameterId>,
        /// 1 if it mirrors.
        slot: usize,
    },
    Difference {
        child: usize,
        reference: usize,
        space: DifferenceSpace,
    },
}

#[derive(Clone, Debug)]
pub(crate) enum Space {
    Line(BlendSpace1, ParameterId),
    Plane(BlendSpace2, [ParameterId; 2]),
}

impl Space {
    pub(crate) fn weights(&self, parameters: &Parameters) -> Corners {
        match self {
            Self::Line(space, x) => space.weights(parameters.float(*x)),
            Self::Plane(space, xy) => space.weights(xy.map(|id| parameters.float(id))),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) node: usize,
    /// Place in [`Graph::masks`].
    pub(crate) mask: Option<usize>,
    /// The mask at the first joint, which root motion goes by.
    pub(crate) at_root: f32,
    pub(crate) weight: Number,
    pub(crate) mode: LayerMode,
}

/// A clip at one place of the tree.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Place in [`Graph::clips`].
    pub(crate) clip: usize,
    pub(crate) place: String,
    /// Seconds.
    pub(crate) duration: f32,
    pub(crate) speed: f32,
    pub(crate) wrap: Wrap,
    /// Seconds.
    pub(crate) start: f64,
    pub(crate) scrub: Option<Number>,
    /// True if it may be kept in step.
    pub(crate) joins: bool,
    /// Its time in each scope of synchronisation that it belongs to.
    pub(crate) lanes: Vec<(usize, Lane)>,
}

impl Leaf {
    /// The same moment in the first period, s.
    pub(crate) fn within(&self, time: f64) -> f64 {
        let length = f64::from(self.duration);
        match self.wrap {
            _ if length <= 0.0 => 0.0,
            Wrap::Clamp => time.clamp(0.0, length),
            Wrap::Loop => time.rem_euclid(length),
            Wrap::PingPong => time.rem_euclid(2.0 * length),
        }
    }

    pub(crate) fn lane(&self, scope: usize) -> Option<&Lane> {
        let lane = self.lanes.iter().find(|lane| lane.0 == scope)?;
        Some(&lane.1)
    }
}

/// A part of the tree: its clips and machines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Part {
    pub(crate) leaves: Range<usize>,
    pub(crate) machines: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) place: String,
    pub(crate) initial: usize,
    pub(crate) states: Vec<State>,
    pub(crate) transitions: Vec<Transition>,
}

#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) node: usize,
    pub(crate) part: Part,
}

#[derive(Clone, Debug)]
pub(crate) struct Transition {
    /// `None`: any but `to`.
    pub(crate) from: Option<usize>,
    pub(crate) to: usize,
    pub(crate) when: Test,
    /// Seconds.
    pub(crate) duration: f64,
    pub(crate) easing: Easing,
    pub(crate) kind: TransitionKind,
    pub(crate) start: Start,
    pub(crate) scope: Option<usize>,
    pub(crate) interrupt: Interrupt,
}

/// A [`Condition`](crate::Condition) with its names resolved.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Compare(ParameterId, Comparison, f32),
    Bool(ParameterId),
    Is(ParameterId, usize),
    Trigger(ParameterId),
    Finished,
    After(f64),
    Phase(f64),
    Event(String),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
}
