//! Where a state machine is, and which of its transitions fires.

use anim_math::Vec3;
use anim_skeleton::{DeadBlend, Inertialization, Pose, Wrap};

use crate::graph::{Graph, Leaf, Machine, Part, Test};
use crate::machine_spec::{Interrupt, TransitionKind};
use crate::state::{GraphState, LeafState, MachineStatus, TransitionStatus};

/// One machine of one character.
#[derive(Clone, Debug)]
pub(crate) struct MachineState {
    pub(crate) current: usize,
    /// Since the current state was entered.
    pub(crate) seconds: f64,
    pub(crate) fade: Option<Fade>,
    /// Seconds of the last advance.
    pub(crate) dt: f64,
    /// Its say in the root motion in the last advance.
    pub(crate) motion: f32,
    /// How fast the character went when the source of the fade was left, m/s and rad/s, and its say in the last advance.
    pub(crate) velocity: [Vec3; 2],
    pub(crate) coasting: f32,
    pub(crate) shown: Shown,
    /// The pose a fade starts from.
    pub(crate) held: Pose,
    /// What smooths the current pose.
    pub(crate) smoothing: Smoothing,
    /// True until `smoothing` has seen its first pose.
    pub(crate) is_pending: bool,
    pub(crate) inertialization: Option<Inertialization>,
    pub(crate) dead_blend: Option<DeadBlend>,
}

/// A transition under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fade {
    pub(crate) transition: usize,
    pub(crate) seconds: f64,
    /// The eased progress.
    pub(crate) weight: f32,
    pub(crate) source: Source,
}

/// What a transition leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A state that plays on.
    Live(usize),
    /// The pose that was shown last.
    Held,
    /// Nothing: what is left of it is in the smoothing.
    Smoothed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Smoothing {
    None,
    Inertialization,
    DeadBlend,
}

/// Seconds between poses from which their velocity is known.
const SHORTEST_STEP: f64 = 1e-5;

/// The last two poses of a machine.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// The last but one, and the last.
    pub(crate) poses: [Pose; 2],
    /// How many of them there are since the machine was entered.
    pub(crate) count: usize,
    /// Seconds between them.
    pub(crate) dt: f64,
    /// Seconds since the last.
    pub(crate) since: f64,
}

impl Shown {
    /// Keeps another pose.
    pub(crate) fn push(&mut self, pose: &Pose) {
        self.poses.swap(0, 1);
        self.poses[1].copy_from(pose);
        self.count = (self.count + 1).min(2);
        self.dt = self.since;
        self.since = 0.0;
    }

    /// True if the poses tell how fast they moved: not after steps so short that a difference is only rounding.
    pub(crate) fn has_velocity(&self) -> bool {
        self.count > 1 && self.dt > SHORTEST_STEP
    }
}

impl MachineState {
    pub(crate) fn new(model: &Machine, joints: usize) -> Self {
        let uses = |kind| {
            model
                .transitions
                .iter()
                .any(|transition| transition.kind == kind)
        };
        // A machine that never leaves its state needs to remember no poses.
        let kept = if model.transitions.is_empty() {
            0
        } else {
            joints
        };
        Self {
            current: model.initial,
            seconds: 0.0,
            fade: None,
            dt: 0.0,
            motion: 0.0,
            velocity: [Vec3::zeros(); 2],
            coasting: 0.0,
            shown: Shown {
                poses: [Pose::identity(kept), Pose::identity(kept)],
                count: 0,
                dt: 0.0,
                since: 0.0,
            },
            held: Pose::identity(kept),
            smoothing: Smoothing::None,
            is_pending: false,
            inertialization: uses(TransitionKind::Inertialize)
                .then(|| Inertialization::new(joints)),
            dead_blend: uses(TransitionKind::DeadBlend).then(|| DeadBlend::new(joints)),
        }
    }

    /// Back to the beginning.
    pub(crate) fn reset(&mut self, model: &Machine) {
        self.current = model.initial;
        self.seconds = 0.0;
        self.fade = None;
        self.dt = 0.0;
        self.motion = 0.0;
        self.coasting = 0.0;
        self.shown.count = 0;
        self.smoothing = Smoothing::None;
    }

    pub(crate) fn status<'a>(&self, model: &'a Machine) -> MachineStatus<'a> {
        let name = |state: usize| model.states[state].name.as_str();
        let transition = |fade: Fade| TransitionStatus {
            from: match fade.source {
                Source::Live(state) => Some(name(state)),
                Source::Held | Source::Smoothed => None,
            },
            index: fade.transition,
            progress: (fade.seconds / model.transitions[fade.transition].duration) as f32,
            weight: fade.weight,
        };
        MachineStatus {
            state: name(self.current),
            seconds: self.seconds,
            transition: self.fade.map(transition),
        }
    }
}

impl GraphState {
    /// The transition of a machine that fires now, if any.
    pub(crate) fn choose(&self, graph: &Graph, machine: usize) -> Option<usize> {
        let model = &graph.machines[machine];
        let state = &self.machines[machine];
        let candidates = match state.fade.map(|fade| fade.transition) {
            None => model.transitions.len(),
            Some(under_way) => match model.transitions[under_way].interrupt {
                Interrupt::Any => model.transitions.len(),
                Interrupt::Higher => under_way,
                Interrupt::Never => 0,
            },
        };
        model.transitions[..candidates]
            .iter()
            .position(|transition| {
                let leaves = match transition.from {
                    Some(from) => from == state.current,
                    None => transition.to != state.current,
                };
                leaves && self.holds(graph, machine, &transition.when)
            })
    }

    fn holds(&self, graph: &Graph, machine: usize, test: &Test) -> bool {
        let state = &self.machines[machine];
        let part = &graph.machines[machine].states[state.current].part;
        match test {
            Test::Compare(id, comparison, value) => {
                self.parameters.compare(*id, *comparison, *value)
            }
            Test::Bool(id) | Test::Trigger(id) => self.parameters.is_set(*id),
            Test::Is(id, option) => self.parameters.is_option(*id, *option),
            Test::Finished => self.is_finished(graph, part),
            Test::After(seconds) => state.seconds >= *seconds,
            Test::Phase(turns) => {
                let leader = self.leader(part);
                leader.is_some_and(|leaf| {
                    played(&graph.leaves[leaf], &self.leaves[leaf], 0.0) >= *turns
                })
            }
            Test::Event(name) => self.met.iter().any(|met| {
                let clip = &graph.clips[graph.leaves[met.leaf].clip];
                part.leaves.contains(&met.leaf) && clip.events.as_slice()[met.index].name == *name
            }),
            Test::All(tests) => tests.iter().all(|test| self.holds(graph, machine, test)),
            Test::Any(tests) => tests.iter().any(|test| self.holds(graph, machine, test)),
            Test::Not(test) => !self.holds(graph, machine, test),
        }
    }

    /// True if the heaviest clip of a part has come to its end, or around if it repeats.
    fn is_finished(&self, graph: &Graph, part: &Part) -> bool {
        let Some(leaf) = self.leader(part) else {
            return part.leaves.is_empty();
        };
        let (model, state) = (&graph.leaves[leaf], &self.leaves[leaf]);
        if model.scrub.is_some() {
            return false;
        }
        match model.wrap {
            Wrap::Clamp if state.rate < 0.0 => state.time <= 0.0,
            Wrap::Clamp => state.time >= f64::from(model.duration),
            Wrap::Loop => played(model, state, state.entered_at) >= 1.0,
            Wrap::PingPong => played(model, state, state.entered_at) >= 2.0,
        }
    }

    /// Resets the triggers that a condition asks for.
    pub(crate) fn take_triggers(&mut self, test: &Test) {
        match test {
            Test::Trigger(id) => self.parameters.take(*id),
            Test::All(tests) | Test::Any(tests) => {
                tests.iter().for_each(|test| self.take_triggers(test));
            }
            _ => {}
        }
    }
}

/// Durations that a clip has played since `from`, s, or, played backwards, since it was entered; one without length is
/// always through.
fn played(model: &Leaf, state: &LeafState, from: f64) -> f64 {
    let seconds = if state.rate < 0.0 {
        state.entered_at - state.time
    } else {
        state.time - from
    };
    if model.duration > 0.0 {
        seconds / f64::from(model.duration)
    } else {
        f64::INFINITY
    }
}
