//! The first half of a frame: machines change state, weights go down the tree, clocks run.
//!
//! Everything below an active node advances, whatever its weight, so that nothing depends on a weight being exactly 0.
//! States that a machine is not in do not.

use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Transform, Vec3};
use anim_skeleton::{Passage, Wrap, blend_deltas};

use crate::graph::{Graph, Layer, Node};
use crate::spec::LayerMode;
use crate::state::{GraphState, LeafState, MOST_EVENTS, Met, Sample};
use crate::sync::{Member, Step};

/// Seconds; longer steps are cut, so that no sum overflows.
const LONGEST_STEP: f32 = 1e9;
/// Seconds a second that speed nodes can come to.
const FASTEST: f64 = 1e6;

/// What a node is told from above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context {
    /// Its say in the pose.
    pub(crate) weight: f32,
    /// Its say in the root motion.
    pub(crate) motion: f32,
    /// Seconds of the frame.
    pub(crate) dt: f64,
    /// Seconds of the node a second.
    pub(crate) rate: f64,
    /// Which clips are kept in step.
    pub(crate) scope: Option<usize>,
    /// Its weight among those.
    pub(crate) share: f32,
    pub(crate) is_mirrored: bool,
    pub(crate) is_additive: bool,
}

impl Context {
    /// For a child that has `weight` of this node.
    pub(crate) fn part(self, weight: f32) -> Self {
        Self {
            weight: self.weight * weight,
            motion: self.motion * weight,
            share: self.share * weight,
            ..self
        }
    }

    /// Inside a scope of synchronisation, unless one around it rules already.
    pub(crate) fn in_scope(self, scope: Option<usize>) -> Self {
        match (self.scope, scope) {
            (None, Some(_)) => Self {
                scope,
                share: 1.0,
                ..self
            },
            _ => self,
        }
    }
}

impl GraphState {
    /// Moves everything on by `dt` seconds, without making a pose: enough for characters that are not seen.
    ///
    /// A step that is negative or not finite counts as 0, and one of over 1e9 s as that. Of each machine at most one transition fires.
    ///
    /// # Panics
    ///
    /// If the state was made for a graph with other nodes.
    pub fn advance(&mut self, graph: &Graph, dt: f32) {
        let own = (self.leaves.len(), self.machines.len(), self.slots.len());
        let others = (graph.leaves.len(), graph.machines.len(), graph.slots);
        assert_eq!(own, others, "state of another graph");
        let dt = if dt.is_finite() {
            dt.clamp(0.0, LONGEST_STEP)
        } else {
            0.0
        };
        self.frame += 1;
        self.active.clear();
        self.deltas.clear();
        let whole = Context {
            weight: 1.0,
            motion: 1.0,
            dt: f64::from(dt),
            rate: 1.0,
            scope: None,
            share: 1.0,
            is_mirrored: false,
            is_additive: false,
        };
        self.walk(graph, graph.root(), whole);
        self.parameters.age(dt);
        self.run_clocks(graph, f64::from(dt));
        self.gather(graph, dt);
    }

    pub(crate) fn walk(&mut self, graph: &Graph, node: usize, context: Context) {
        match &graph.nodes[node] {
            Node::Rest => {}
            Node::Clip { leaf } => self.walk_clip(graph, *leaf, context),
            Node::Blend {
                space,
                children,
                slot,
                scope,
            } => {
                let weights = *slot..slot + children.len();
                self.slots[weights.clone()].fill(0.0);
                for (child, weight) in space.weights(&self.parameters).iter() {
                    self.slots[slot + child] = weight;
                }
                for (child, slot) in children.iter().zip(weights) {
                    let context = context.in_scope(*scope).part(self.slots[slot]);
                    self.walk(graph, *child, context);
                }
            }
            Node::Layers { base, layers, slot } => {
                self.walk_layers(graph, *base, layers, *slot, context);
            }
            Node::Machine { machine } => self.walk_machine(graph, *machine, context),
            Node::Speed { child, factor } => {
                let rate = context.rate * f64::from(factor.get(&self.parameters));
                let rate = rate.clamp(-FASTEST, FASTEST);
                self.walk(graph, *child, Context { rate, ..context });
            }
            Node::Mirror { child, when, slot } => {
                let mirrors = when.is_none_or(|when| self.parameters.is_set(when));
                self.slots[*slot] = f32::from(u8::from(mirrors));
                let is_mirrored = context.is_mirrored != mirrors;
                let context = Context {
                    is_mirrored,
                    ..context
                };
                self.walk(graph, *child, context);
            }
            Node::Difference {
                child, reference, ..
            } => {
                let added = Context {
                    is_additive: true,
                    motion: 0.0,
                    ..context
                };
                self.walk(graph, *child, added);
                self.walk(
                    graph,
                    *reference,
                    Context {
                        weight: 0.0,
                        ..added
                    },
                );
            }
        }
    }

    fn walk_clip(&mut self, graph: &Graph, leaf: usize, context: Context) {
        let model = &graph.leaves[leaf];
        let state = &mut self.leaves[leaf];
        state.frame = self.frame;
        state.weight = context.weight;
        state.motion = context.motion;
        state.rate = context.rate * f64::from(model.speed);
        let lane = context.scope.filter(|scope| model.lane(*scope).is_some());
        state.scope = lane.filter(|_| state.rate > 0.0);
        state.share = context.share;
        state.is_mirrored = context.is_mirrored;
        state.is_additive = context.is_additive;
        self.active.push(leaf);
    }

    fn walk_layers(
        &mut self,
        graph: &Graph,
        base: usize,
        layers: &[Layer],
        slot: usize,
        context: Context,
    ) {
        let mut uncovered = 1.0;
        for (layer, slot) in layers.iter().zip(slot..) {
            let weight = layer.weight.get(&self.parameters);
            self.slots[slot] = match layer.mode {
                LayerMode::Override => weight.clamp(0.0, 1.0),
                LayerMode::Additive | LayerMode::AdditiveInModel => weight.clamp(-4.0, 4.0),
            };
            uncovered *= 1.0 - covers(layer, self.slots[slot]);
        }
        self.walk(graph, base, context.part(uncovered));
        for (place, layer) in layers.iter().enumerate() {
            let weight = self.slots[slot + place];
            let above = layers.iter().zip(&self.slots[slot..]).skip(place + 1);
            let uncovered: f32 = above
                .map(|(layer, weight)| 1.0 - covers(layer, *weight))
                .product();
            let mut part = context.part(weight * uncovered);
            part.motion *= layer.at_root;
            if layer.mode != LayerMode::Override {
                part.weight = context.weight * weight.abs();
                part.motion = 0.0;
                part.is_additive = true;
            }
            self.walk(graph, layer.node, part);
        }
    }

    /// Moves all clips on: those in step together, the others by themselves.
    fn run_clocks(&mut self, graph: &Graph, dt: f64) {
        for place in 0..self.active.len() {
            let leaf = self.active[place];
            let Some(scope) = self.leaves[leaf].scope else {
                self.run_alone(graph, leaf, dt);
                continue;
            };
            let before = &self.active[..place];
            if before
                .iter()
                .any(|leaf| self.leaves[*leaf].scope == Some(scope))
            {
                continue;
            }
            let (active, leaves) = (&self.active[place..], &self.leaves);
            let member = |leaf: usize| {
                let state = &leaves[leaf];
                (state.scope == Some(scope)).then_some(())?;
                Some(Member {
                    lane: graph.leaves[leaf].lane(scope)?,
                    weight: state.share,
                    rate: state.rate,
                    time: state.time,
                })
            };
            let members = active.iter().filter_map(|leaf| member(*leaf));
            let Some(step) = Step::new(members, dt) else {
                continue;
            };
            for place in place..self.active.len() {
                let leaf = self.active[place];
                let state = &mut self.leaves[leaf];
                let lane = graph.leaves[leaf].lane(scope);
                let (Some(lane), true) = (lane, state.scope == Some(scope)) else {
                    continue;
                };
                let member = Member {
                    lane,
                    weight: state.share,
                    rate: state.rate,
                    time: state.time,
                };
                let (from, to, jumps) = step.passage(member, dt);
                state.is_fresh |= jumps;
                state.go(from, to);
            }
        }
    }

    fn run_alone(&mut self, graph: &Graph, leaf: usize, dt: f64) {
        let model = &graph.leaves[leaf];
        let state = &mut self.leaves[leaf];
        let length = f64::from(model.duration);
        if let Some(scrub) = model.scrub {
            let time = f64::from(scrub.get(&self.parameters)) * length;
            state.go(time, time);
            return;
        }
        let to = state.time + dt * state.rate;
        let to = match model.wrap {
            Wrap::Clamp => to.clamp(0.0, length),
            Wrap::Loop | Wrap::PingPong => to,
        };
        state.go(state.time, to);
    }

    /// Collects what the clips' passages give: samples, events, root motion.
    fn gather(&mut self, graph: &Graph, dt: f32) {
        self.samples.clear();
        self.met.clear();
        self.lost = 0;
        for leaf in &self.active {
            let state = &mut self.leaves[*leaf];
            let clip = &graph.clips[graph.leaves[*leaf].clip];
            state.delta = match &clip.motion {
                Some(motion) => motion.delta(&state.passage),
                None => Transform::IDENTITY,
            };
            if let (Some(mirror), true) = (&graph.mirror, state.is_mirrored) {
                state.delta = reflected(state.delta, mirror.plane_normal);
            }
            if state.motion > 0.0 {
                self.deltas.push((state.delta, state.motion));
            }
            if state.weight <= 0.0 {
                continue;
            }
            let Passage {
                from,
                to,
                wrap,
                duration,
                ..
            } = state.passage;
            self.samples.push(Sample {
                clip: graph.leaves[*leaf].clip,
                time: wrap.apply(to, duration),
                weight: state.weight,
                speed: if dt > 0.0 {
                    ((to - from) / f64::from(dt)).clamp(f64::from(f32::MIN), f64::from(f32::MAX))
                        as f32
                } else {
                    state.rate as f32
                },
                is_additive: state.is_additive,
                is_mirrored: state.is_mirrored,
            });
            for crossed in clip.events.crossed(&state.passage).take(2 * MOST_EVENTS) {
                if self.met.len() == MOST_EVENTS {
                    self.lost = (self.lost + 1).min(MOST_EVENTS);
                    continue;
                }
                self.met.push(Met {
                    leaf: *leaf,
                    index: crossed.index,
                    weight: state.weight,
                    backward: crossed.backward,
                });
            }
        }
        self.motion = blend_deltas(&self.deltas);
    }
}

impl LeafState {
    /// Notes a step between two unwrapped times; a moment once left is not met again.
    fn go(&mut self, from: f64, to: f64) {
        let moves = to != from;
        self.passage.from = from;
        self.passage.to = to;
        self.passage.includes_from = moves && self.is_fresh;
        self.is_fresh &= !moves;
        self.time = to;
    }
}

/// How much of the root motion below it a layer takes away.
fn covers(layer: &Layer, weight: f32) -> f32 {
    match layer.mode {
        LayerMode::Override => weight * layer.at_root,
        LayerMode::Additive | LayerMode::AdditiveInModel => 0.0,
    }
}

/// A motion as a mirror shows it: the way is reflected, and so is the axis of the turn, which is then left-handed.
fn reflected(delta: Transform, plane_normal: Vec3) -> Transform {
    let reflect =
        |v: Vec3| v - plane_normal * (2.0 * v.dot(&plane_normal) / plane_normal.norm_squared());
    let turn = delta.rotation.into_inner();
    let parts = Quaternion::from_parts(turn.w, -reflect(turn.imag()));
    Transform {
        translation: reflect(delta.translation),
        rotation: Quat::new_unchecked(parts),
        ..delta
    }
}
