//! One character's place in a graph, and what a frame of it gives.
//!
//! Each frame set [`GraphState::parameters`] and call [`GraphState::step`]: clocks run, machines change state, poses mix.
//! The result is a pose, how far the character travelled, the events met and which clips played at what weight. A state
//! allocates nothing after its construction; it belongs to the graph it was made for.
//!
//! ```
//! # use anim_graph::{ClipLibrary, Graph, GraphSpec, GraphState, LibraryClip};
//! # use anim_math::Vec3;
//! # use anim_skeleton::{BakeOptions, Channel, Clip, ClipSpec, JointSpec, JointTrack, Skeleton};
//! # use anim_curves::{Interpolation, Key, Track};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Default::default() }])?;
//! # let rise = Track::new(vec![Key::new(0.0, Vec3::zeros()), Key::new(2.0, Vec3::y())], Interpolation::Linear)?;
//! # let rise = Channel { joint: 0, track: JointTrack::Translation(rise) };
//! # let rise = ClipSpec { channels: vec![rise], ..ClipSpec::default() };
//! # let (rise, _) = Clip::bake(&rise, &skeleton, &BakeOptions::default())?;
//! # let library = ClipLibrary { clips: vec![LibraryClip::new("rise", rise)], ..ClipLibrary::default() };
//! let spec: GraphSpec = serde_json::from_str(
//!     r#"{ "nodes": [{ "name": "up", "clip": { "clip": "rise", "speed": 0.5 } }], "root": "up" }"#,
//! )?;
//! let graph = Graph::new(&spec, &skeleton, &library)?;
//! let mut state = GraphState::new(&graph);
//! state.step(&graph, 1.0); // half a second of the clip's two
//! assert_eq!(state.pose().translation(skeleton.joint(0)), Vec3::new(0.0, 0.25, 0.0));
//! assert_eq!(state.samples()[0].time, 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Transform;
use anim_skeleton::{Passage, Pose};

use crate::graph::{Graph, Leaf, Part};
use crate::machine_state::MachineState;
use crate::parameters::Parameters;

/// Events of one frame, at most; what is met beyond is counted by [`GraphState::lost_events`].
pub const MOST_EVENTS: usize = 128;

/// One character playing a graph.
#[derive(Clone, Debug)]
pub struct GraphState {
    /// What steers it; set before each step.
    pub parameters: Parameters,
    /// Counts advances.
    pub(crate) frame: u64,
    pub(crate) leaves: Vec<LeafState>,
    pub(crate) machines: Vec<MachineState>,
    /// What nodes keep from an advance to the evaluation.
    pub(crate) slots: Vec<f32>,
    /// Clips that the last advance met, in the order of the tree.
    pub(crate) active: Vec<usize>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) met: Vec<Met>,
    pub(crate) lost: usize,
    pub(crate) deltas: Vec<(Transform, f32)>,
    /// As `deltas`, of one machine.
    pub(crate) travelled: Vec<(Transform, f32)>,
    pub(crate) motion: Transform,
    /// True while poses are wanted as they were before the last advance.
    pub(crate) is_rewound: bool,
    pub(crate) pool: Vec<Pose>,
    pub(crate) pose: Pose,
}

/// A clip that played in the last frame; what morph curves and sounds are mixed by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Place in [`Graph::clips`].
    pub clip: usize,
    /// Seconds into the clip.
    pub time: f32,
    /// Its say in the pose, above 0 and, unless it is additive, at most 1; a masked layer's is that of its strongest joint, and takes away from what it covers
    /// what it takes of the first joint.
    pub weight: f32,
    /// Clip seconds a second.
    pub speed: f32,
    /// True if it is part of something added on top.
    pub is_additive: bool,
    /// True if left and right are exchanged.
    pub is_mirrored: bool,
}

/// An event that was met in the last frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FiredEvent<'a> {
    /// What happens.
    pub name: &'a str,
    /// Place of its clip in [`Graph::clips`].
    pub clip: usize,
    /// Its place in the clip's events.
    pub index: usize,
    /// The clip's say in the pose when it was met.
    pub weight: f32,
    /// True if the clip runs backwards.
    pub backward: bool,
}

/// Where a state machine is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineStatus<'a> {
    /// The state it is in, or fades to.
    pub state: &'a str,
    /// Seconds since that state was entered.
    pub seconds: f64,
    /// The transition that is under way.
    pub transition: Option<TransitionStatus<'a>>,
}

/// How far a transition is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TransitionStatus<'a> {
    /// The state that still plays; `None` if its last pose is held.
    pub from: Option<&'a str>,
    /// Its place in [`MachineSpec::transitions`](crate::MachineSpec::transitions).
    pub index: usize,
    /// How much of its time is over, in [0, 1).
    pub progress: f32,
    /// The eased progress: the weight of the new state in a crossfade.
    pub weight: f32,
}

/// An event as the state keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Met {
    pub(crate) leaf: usize,
    pub(crate) index: usize,
    pub(crate) weight: f32,
    pub(crate) backward: bool,
}

/// A clip's clock, and its part in the last frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafState {
    /// Unwrapped clip time, s.
    pub(crate) time: f64,
    /// Where it started when its state was entered.
    pub(crate) entered_at: f64,
    /// True if no step has left `time` yet.
    pub(crate) is_fresh: bool,
    /// The frame it was last met in.
    pub(crate) frame: u64,
    pub(crate) weight: f32,
    /// Its say in the root motion.
    pub(crate) motion: f32,
    /// Clip seconds a second if it played alone.
    pub(crate) rate: f64,
    /// Where it is kept in step, and its weight among those.
    pub(crate) scope: Option<usize>,
    pub(crate) share: f32,
    pub(crate) is_mirrored: bool,
    pub(crate) is_additive: bool,
    pub(crate) passage: Passage,
    /// How far the character goes with it alone.
    pub(crate) delta: Transform,
}

impl GraphState {
    /// At the beginning of `graph`, in the rest pose until the first step.
    pub fn new(graph: &Graph) -> Self {
        let joints = graph.joint_count();
        let leaf = |leaf: &Leaf| LeafState {
            time: leaf.within(leaf.start),
            entered_at: leaf.within(leaf.start),
            is_fresh: true,
            frame: 0,
            weight: 0.0,
            motion: 0.0,
            rate: 0.0,
            scope: None,
            share: 0.0,
            is_mirrored: false,
            is_additive: false,
            passage: Passage::new(leaf.start, leaf.start, leaf.duration, leaf.wrap),
            delta: Transform::IDENTITY,
        };
        let machines = graph.machines.iter();
        let most_deltas = graph.nodes.len() + graph.machines.len();
        Self {
            parameters: Parameters::new(&graph.parameters),
            // No clip was met in the frame before the first.
            frame: 1,
            leaves: graph.leaves.iter().map(leaf).collect(),
            machines: machines
                .map(|model| MachineState::new(model, graph.joint_count()))
                .collect(),
            slots: vec![0.0; graph.slots],
            active: Vec::with_capacity(graph.leaves.len()),
            samples: Vec::with_capacity(graph.leaves.len()),
            met: Vec::with_capacity(MOST_EVENTS),
            lost: 0,
            deltas: Vec::with_capacity(most_deltas),
            travelled: Vec::with_capacity(most_deltas),
            motion: Transform::IDENTITY,
            is_rewound: false,
            pool: vec![Pose::identity(joints); graph.poses + 1],
            pose: graph.skeleton.rest().clone(),
        }
    }

    /// One frame of `dt` seconds: [`advance`](Self::advance), then [`evaluate`](Self::evaluate).
    ///
    /// # Panics
    ///
    /// If the state was made for a graph with other nodes.
    pub fn step(&mut self, graph: &Graph, dt: f32) {
        self.advance(graph, dt);
        self.evaluate(graph);
    }

    /// The pose of the last evaluation.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// How far the character went in the last advance, seen from where it stood: `world_from_model · motion` is where it
    /// stands now. The deltas of the clips, by their weights in the pose.
    pub fn motion(&self) -> Transform {
        self.motion
    }

    /// The clips that played in the last advance with any weight, in the order of the tree.
    ///
    /// Poses that are held while they fade out have no clip any more.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The events met in the last advance by clips of at least `least_weight`; weights are above 0 in any case.
    ///
    /// # Panics
    ///
    /// If the state was made for a graph with other nodes.
    pub fn events<'a>(
        &'a self,
        graph: &'a Graph,
        least_weight: f32,
    ) -> impl Iterator<Item = FiredEvent<'a>> {
        let heavy = move |met: &&Met| met.weight >= least_weight;
        self.met.iter().filter(heavy).map(|met| {
            let clip = graph.leaves[met.leaf].clip;
            FiredEvent {
                name: &graph.clips[clip].events.as_slice()[met.index].name,
                clip,
                index: met.index,
                weight: met.weight,
                backward: met.backward,
            }
        })
    }

    /// Events of the last advance beyond the first [`MOST_EVENTS`]; counted up to as many again.
    pub fn lost_events(&self) -> usize {
        self.lost
    }

    /// Where the machine at `place`, one of [`Graph::machines`], is.
    ///
    /// # Panics
    ///
    /// If the state was made for a graph with other nodes.
    pub fn machine<'a>(&self, graph: &'a Graph, place: &str) -> Option<MachineStatus<'a>> {
        let index = graph.machines().position(|other| other == place)?;
        Some(self.machines[index].status(&graph.machines[index]))
    }

    /// The heaviest clip that a part of the tree played in the last frame, the first of several; none of what is added on
    /// top.
    pub(crate) fn leader(&self, part: &Part) -> Option<usize> {
        part.leaves
            .clone()
            .filter(|leaf| self.was_met(*leaf) && !self.leaves[*leaf].is_additive)
            .reduce(|best, leaf| {
                let heavier = self.leaves[leaf].weight > self.leaves[best].weight;
                if heavier { leaf } else { best }
            })
    }

    /// True if the frame before this one played a clip.
    pub(crate) fn was_met(&self, leaf: usize) -> bool {
        self.leaves[leaf].frame + 1 == self.frame
    }
}
