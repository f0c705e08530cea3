//! Transitions: how a machine leaves a state, enters another and gets from one pose to the other without a pop.

use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Layer, Mode, Pose, blend, blend_deltas, difference};

use crate::advance::Context;
use crate::evaluate::lerp;
use crate::graph::{Graph, Part};
use crate::machine_spec::{Start, TransitionKind};
use crate::machine_state::{Fade, Smoothing, Source};
use crate::state::GraphState;

/// Seconds after which a pose that runs on has lost half of its velocity.
const HALF_LIFE: f32 = 0.1;

impl GraphState {
    pub(crate) fn walk_machine(&mut self, graph: &Graph, machine: usize, context: Context) {
        if let Some(transition) = self.choose(graph, machine) {
            self.fire(graph, machine, transition);
        }
        let model = &graph.machines[machine];
        let state = &mut self.machines[machine];
        // Where time runs backwards the clips do; how long a machine has been somewhere still grows.
        let dt = context.dt * context.rate.abs();
        state.seconds += dt;
        state.shown.since += dt;
        state.dt = dt;
        state.motion = context.motion;
        state.coasting = 0.0;
        let current = model.states[state.current].node;
        let fade = state.fade.take().and_then(|mut fade| {
            let transition = &model.transitions[fade.transition];
            fade.seconds += dt;
            let progress = (fade.seconds / transition.duration) as f32;
            fade.weight = transition.easing.apply(progress).clamp(0.0, 1.0);
            (fade.seconds < transition.duration).then_some(fade)
        });
        state.fade = fade;
        let Some(fade) = fade else {
            return self.walk(graph, current, context);
        };
        match fade.source {
            Source::Live(from) => {
                let both = context.in_scope(model.transitions[fade.transition].scope);
                self.walk(graph, model.states[from].node, both.part(1.0 - fade.weight));
                self.walk(graph, current, both.part(fade.weight));
            }
            Source::Held | Source::Smoothed => {
                // The character goes on as fast as it was, ever less so.
                let coast = after(state.velocity, dt);
                state.coasting = context.motion * (1.0 - fade.weight);
                self.deltas.push((coast, state.coasting));
                let mut target = context.part(fade.weight);
                if fade.source == Source::Smoothed {
                    target.weight = context.weight;
                }
                target.share = context.share;
                self.walk(graph, current, target);
            }
        }
    }

    /// Leaves the current state of a machine for that of a transition.
    fn fire(&mut self, graph: &Graph, machine: usize, index: usize) {
        let model = &graph.machines[machine];
        let transition = &model.transitions[index];
        self.take_triggers(&transition.when);
        let velocity = self.velocity(graph, machine);
        let from = self.machines[machine].current;
        let kept = self.leader(&model.states[from].part);
        let kept = kept.map(|leaf| (leaf, self.leaves[leaf].time));

        let state = &mut self.machines[machine];
        let interrupts = state.fade.is_some() || state.smoothing != Smoothing::None;
        let is_live =
            transition.kind == TransitionKind::Crossfade && !interrupts && transition.to != from;
        let smoothing = match transition.kind {
            TransitionKind::Crossfade | TransitionKind::Frozen => Smoothing::None,
            TransitionKind::Inertialize => Smoothing::Inertialization,
            TransitionKind::DeadBlend => Smoothing::DeadBlend,
        };
        let source = match smoothing {
            _ if is_live => Source::Live(from),
            Smoothing::None => Source::Held,
            _ => Source::Smoothed,
        };
        // Without a pose that was shown there is nothing to fade from, and nobody to see it.
        let fades = transition.duration > 0.0 && (is_live || state.shown.count > 0);
        state.fade = fades.then_some(Fade {
            transition: index,
            seconds: 0.0,
            weight: 0.0,
            source,
        });
        state.smoothing = if fades { smoothing } else { Smoothing::None };
        state.is_pending = true;
        if fades && source == Source::Held {
            state.held.copy_from(&state.shown.poses[1]);
        }
        state.velocity = velocity;
        state.current = transition.to;
        state.seconds = 0.0;
        self.enter(
            graph,
            &model.states[transition.to].part,
            transition.start,
            transition.scope,
            kept,
        );
    }

    /// Brings clips and machines to where a state starts; `kept` is a clip of the old state and its time.
    fn enter(
        &mut self,
        graph: &Graph,
        part: &Part,
        start: Start,
        scope: Option<usize>,
        kept: Option<(usize, f64)>,
    ) {
        if start == Start::Resume {
            return;
        }
        for machine in part.machines.clone() {
            self.machines[machine].reset(&graph.machines[machine]);
        }
        for leaf in part.leaves.clone() {
            let model = &graph.leaves[leaf];
            let at_phase = |phase: f64| phase * f64::from(model.duration);
            let time = match (start, kept) {
                (Start::Time(time), _) => f64::from(time),
                (Start::Phase(phase), _) => at_phase(f64::from(phase)),
                (Start::KeepPhase, Some((old, time))) => {
                    let old = &graph.leaves[old];
                    let lanes = scope.and_then(|scope| old.lane(scope).zip(model.lane(scope)));
                    match lanes {
                        Some((from, to)) => to.time_at(from.phase_at(time)),
                        None if old.duration > 0.0 => {
                            let inside = old.wrap.apply(time, old.duration);
                            at_phase(f64::from(inside / old.duration))
                        }
                        None => model.start,
                    }
                }
                (Start::Beginning | Start::KeepPhase | Start::Resume, _) => model.start,
            };
            let time = model.within(time);
            let state = &mut self.leaves[leaf];
            state.time = time;
            state.entered_at = time;
            state.is_fresh = true;
            state.passage.from = time;
            state.passage.to = time;
        }
    }

    /// How fast the character goes by what a machine played in the last advance, m/s and rad/s.
    fn velocity(&mut self, graph: &Graph, machine: usize) -> [Vec3; 2] {
        let model = &graph.machines[machine];
        let state = &self.machines[machine];
        if state.dt <= 0.0 || state.motion <= 0.0 {
            return [Vec3::zeros(); 2];
        }
        let whole = state.motion;
        let live = state.fade.map(|fade| fade.source);
        let other = match live {
            Some(Source::Live(from)) => Some(from),
            _ => None,
        };
        self.travelled.clear();
        let coast = after(state.velocity, state.dt);
        self.travelled.push((coast, state.coasting / whole));
        for part in other.into_iter().chain([state.current]) {
            for leaf in model.states[part].part.leaves.clone() {
                if self.was_met(leaf) {
                    let leaf = &self.leaves[leaf];
                    self.travelled.push((leaf.delta, leaf.motion / whole));
                }
            }
        }
        let delta = blend_deltas(&self.travelled);
        let per_second = 1.0 / state.dt as f32;
        let velocity = [delta.translation, quat::log(delta.rotation)].map(|part| part * per_second);
        let is_finite = velocity.iter().flatten().all(|part| part.is_finite());
        if is_finite {
            velocity
        } else {
            [Vec3::zeros(); 2]
        }
    }

    /// Fades and smooths, and remembers what was shown.
    pub(crate) fn machine_pose(&mut self, graph: &Graph, machine: usize) -> Pose {
        let model = &graph.machines[machine];
        let current = model.states[self.machines[machine].current].node;
        let mut pose = self.pose_of(graph, current);
        if let Some(fade) = self.machines[machine].fade {
            let mut out = self.take(graph);
            match fade.source {
                Source::Live(from) => {
                    let old = self.pose_of(graph, model.states[from].node);
                    lerp(&old, &pose, fade.weight, &mut out);
                    self.give(std::mem::replace(&mut pose, out));
                    self.give(old);
                }
                Source::Held => {
                    lerp(&self.machines[machine].held, &pose, fade.weight, &mut out);
                    self.give(std::mem::replace(&mut pose, out));
                }
                Source::Smoothed => self.give(out),
            }
        }
        if self.is_rewound {
            return pose;
        }
        if self.machines[machine].smoothing != Smoothing::None {
            self.smooth(graph, machine, current, &mut pose);
        }
        if !model.transitions.is_empty() {
            self.machines[machine].shown.push(&pose);
        }
        pose
    }

    fn smooth(&mut self, graph: &Graph, machine: usize, node: usize, pose: &mut Pose) {
        let state = &mut self.machines[machine];
        let since = state.shown.since as f32;
        let begins = std::mem::take(&mut state.is_pending);
        let duration = state.fade.map_or(0.0, |fade| {
            graph.machines[machine].transitions[fade.transition].duration as f32
        });
        let is_active = match state.smoothing {
            Smoothing::DeadBlend => state.dead_blend.as_mut().is_some_and(|dead| {
                if begins {
                    let from = state.shown.poses.each_ref();
                    let dt = if state.shown.has_velocity() {
                        state.shown.dt as f32
                    } else {
                        0.0
                    };
                    dead.start(from, dt, duration, HALF_LIFE);
                }
                dead.apply(since, pose);
                dead.is_active()
            }),
            Smoothing::Inertialization => {
                if begins {
                    self.start_inertialization(graph, machine, node, pose, duration);
                }
                let step = if begins { 0.0 } else { since };
                let state = &mut self.machines[machine];
                state
                    .inertialization
                    .as_mut()
                    .is_some_and(|inertialization| {
                        inertialization.apply(step, pose);
                        inertialization.is_active()
                    })
            }
            Smoothing::None => false,
        };
        if !is_active {
            self.machines[machine].smoothing = Smoothing::None;
        }
    }

    /// The old pose is carried on by one step, so that both old and new are known at the same two moments.
    fn start_inertialization(
        &mut self,
        graph: &Graph,
        machine: usize,
        node: usize,
        pose: &Pose,
        duration: f32,
    ) {
        self.is_rewound = true;
        let mut before = self.pose_of(graph, node);
        self.is_rewound = false;
        let mut step = self.take(graph);
        let state = &mut self.machines[machine];
        let shown = &state.shown;
        let [older, last] = shown.poses.each_ref();
        let factor = shown.since / shown.dt;
        // Over a step much longer or shorter than the last the old velocity says nothing.
        if shown.has_velocity() && (0.125..8.0).contains(&factor) {
            difference(older, last, &mut step);
            let onward = Layer {
                pose: &step,
                weight: factor as f32,
                mask: None,
                mode: Mode::Additive,
            };
            blend(last, &[onward], &mut state.held);
        } else {
            state.held.copy_from(last);
            before.copy_from(pose);
        }
        if let Some(inertialization) = &mut state.inertialization {
            let (from, to) = ([last, &state.held], [&before, pose]);
            inertialization.start(from, to, shown.since as f32, duration);
        }
        self.give(before);
        self.give(step);
    }
}

/// Where a velocity, m/s and rad/s, leads in `dt` seconds.
fn after([linear, angular]: [Vec3; 2], dt: f64) -> Transform {
    let dt = dt as f32;
    let delta = Transform {
        translation: linear * dt,
        rotation: quat::exp(angular * dt),
        ..Transform::IDENTITY
    };
    if delta.is_finite() {
        delta
    } else {
        Transform::IDENTITY
    }
}
