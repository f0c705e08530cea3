//! From a valid spec to a graph: names become places in lists, and nodes named twice become two.

use std::sync::Arc;

use anim_skeleton::{Mask, Skeleton, Wrap};

use crate::blend_space::{BlendSpace1, BlendSpace2};
use crate::graph::{
    Graph, Layer, Leaf, Machine, Node, Number, Part, Space, State, Test, Transition,
};
use crate::library::ClipLibrary;
use crate::machine_spec::{Condition, MachineSpec, TransitionSpec};
use crate::parameters::{ParameterId, ParameterTable};
use crate::report::Report;
use crate::spec::{
    ClipNode, LayersSpec, NodeSpec, ParameterKind, ParameterSpec, SubgraphSpec, SyncBy, Value,
};
use crate::sync::{Candidate, lanes};
use crate::{GraphError, GraphSpec};

/// Nodes of the tree, at most.
const MOST_NODES: usize = 1 << 14;
/// Nodes inside each other, at most.
pub(crate) const DEEPEST: usize = 48;

/// Builds the graph of a spec that was found valid.
pub(crate) fn compile(
    spec: &GraphSpec,
    skeleton: &Skeleton,
    library: &ClipLibrary,
    report: Report,
) -> Result<Graph, GraphError> {
    let mut compiler = Compiler {
        skeleton,
        library,
        masks: Vec::new(),
        parameters: spec.parameters.clone(),
        nodes: Vec::new(),
        leaves: Vec::new(),
        machines: Vec::new(),
        slots: 0,
        scopes: 0,
        report,
    };
    let outermost = Scene {
        spec,
        place: String::new(),
        parameters: (0..spec.parameters.len()).map(ParameterId).collect(),
        masks: compiler.masks(spec)?,
    };
    let root = compiler.node(&outermost, &spec.root, &spec.root, 0)?;
    if !compiler.report.is_valid() {
        return Err(GraphError::Invalid(compiler.report));
    }
    Ok(Graph {
        parameters: Arc::new(ParameterTable(compiler.parameters)),
        skeleton: skeleton.clone(),
        clips: library.clips.clone(),
        masks: compiler.masks,
        mirror: library.mirror.clone(),
        nodes: compiler.nodes,
        leaves: compiler.leaves,
        machines: compiler.machines,
        slots: compiler.slots,
        poses: root.poses,
        warnings: compiler.report,
    })
}

/// A graph, and where its parameters are in the whole.
struct Scene<'a> {
    spec: &'a GraphSpec,
    /// With a slash at the end unless it is the outermost.
    place: String,
    parameters: Vec<ParameterId>,
    /// Where its first mask is in the whole.
    masks: usize,
}

impl Scene<'_> {
    fn parameter(&self, name: &str) -> Result<ParameterId, GraphError> {
        let specs = &self.spec.parameters;
        let place = place_of(
            "parameter",
            name,
            specs.iter().map(|spec| spec.name.as_str()),
        )?;
        Ok(self.parameters[place])
    }

    fn number(&self, value: &Value) -> Result<Number, GraphError> {
        Ok(match value {
            Value::Constant(value) => Number::Constant(*value),
            Value::Parameter(name) => Number::Parameter(self.parameter(name)?),
        })
    }
}

/// A node that was built.
struct Built {
    /// Its place in the list.
    node: usize,
    part: Part,
    /// Poses that evaluating it holds at once, its own included.
    poses: usize,
}

struct Compiler<'a> {
    skeleton: &'a Skeleton,
    library: &'a ClipLibrary,
    masks: Vec<Mask>,
    parameters: Vec<ParameterSpec>,
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    machines: Vec<Machine>,
    slots: usize,
    scopes: usize,
    report: Report,
}

impl Compiler<'_> {
    fn node(
        &mut self,
        scene: &Scene<'_>,
        name: &str,
        place: &str,
        depth: usize,
    ) -> Result<Built, GraphError> {
        if depth >= DEEPEST {
            return Err(GraphError::TooDeep { most: DEEPEST });
        }
        if self.nodes.len() >= MOST_NODES {
            return Err(GraphError::TooManyNodes { most: MOST_NODES });
        }
        let names = scene.spec.nodes.iter().map(|entry| entry.name.as_str());
        let spec = &scene.spec.nodes[place_of("node", name, names)?].node;
        let first = (self.leaves.len(), self.machines.len());
        let inside = |child: &str| format!("{place}/{child}");
        let child =
            |compiler: &mut Self, name: &str| compiler.node(scene, name, &inside(name), depth + 1);
        let (node, poses) = match spec {
            NodeSpec::Rest {} => (Node::Rest, 1),
            NodeSpec::Clip(clip) => (self.clip(scene, clip, place)?, 1),
            NodeSpec::Blend1(blend) => {
                let places: Vec<_> = blend.points.iter().map(|point| point.0).collect();
                let space = BlendSpace1::new(&places)?;
                let space = Space::Line(space, scene.parameter(&blend.parameter)?);
                let children = blend.points.iter().map(|point| child(self, &point.1));
                let children = children.collect::<Result<Vec<_>, _>>()?;
                self.blend(space, &children, blend.sync, place)
            }
            NodeSpec::Blend2(blend) => {
                let places: Vec<_> = blend.points.iter().map(|point| point.0).collect();
                let space = BlendSpace2::new(&places)?;
                let [x, y] = &blend.parameters;
                let space = Space::Plane(space, [scene.parameter(x)?, scene.parameter(y)?]);
                let children = blend.points.iter().map(|point| child(self, &point.1));
                let children = children.collect::<Result<Vec<_>, _>>()?;
                self.blend(space, &children, blend.sync, place)
            }
            NodeSpec::Layers(layers) => {
                let base = child(self, &layers.base)?;
                let tops = layers.layers.iter().map(|layer| child(self, &layer.node));
                let tops = tops.collect::<Result<Vec<_>, _>>()?;
                self.layers(scene, layers, &base, &tops)?
            }
            NodeSpec::Machine(machine) => self.machine(scene, machine, place, depth)?,
            NodeSpec::Graph(graph) => return self.subgraph(scene, graph, name, place, depth),
            NodeSpec::Speed { node, factor } => {
                let Built { node, poses, .. } = child(self, node)?;
                let factor = scene.number(factor)?;
                let child = node;
                (Node::Speed { child, factor }, poses)
            }
            NodeSpec::Mirror { node, when } => {
                let built = child(self, node)?;
                let when = when
                    .as_ref()
                    .map(|name| scene.parameter(name))
                    .transpose()?;
                let slot = self.take_slots(1);
                let child = built.node;
                (Node::Mirror { child, when, slot }, built.poses.max(2))
            }
            NodeSpec::Difference {
                node,
                reference,
                space,
            } => {
                let built = child(self, node)?;
                let other = child(self, reference)?;
                let difference = Node::Difference {
                    child: built.node,
                    reference: other.node,
                    space: *space,
                };
                (difference, built.poses.max(other.poses + 1).max(4))
            }
        };
        self.nodes.push(node);
        Ok(Built {
            node: self.nodes.len() - 1,
            part: Part {
                leaves: first.0..self.leaves.len(),
                machines: first.1..self.machines.len(),
            },
            poses,
        })
    }

    fn clip(
        &mut self,
        scene: &Scene<'_>,
        spec: &ClipNode,
        place: &str,
    ) -> Result<Node, GraphError> {
        let clips = &self.library.clips;
        let clip = place_of(
            "clip",
            &spec.clip,
            clips.iter().map(|clip| clip.name.as_str()),
        )?;
        let duration = clips[clip].clip.duration();
        let from_end = spec.speed < 0.0 && spec.wrap == Wrap::Clamp;
        let start = spec.start.unwrap_or(if from_end { duration } else { 0.0 });
        let scrub = spec
            .scrub
            .as_ref()
            .map(|value| scene.number(value))
            .transpose()?;
        self.leaves.push(Leaf {
            clip,
            place: place.to_owned(),
            duration,
            speed: spec.speed,
            wrap: spec.wrap,
            start: f64::from(start),
            joins: spec.sync && spec.wrap == Wrap::Loop && duration > 0.0 && scrub.is_none(),
            scrub,
            lanes: Vec::new(),
        });
        let leaf = self.leaves.len() - 1;
        Ok(Node::Clip { leaf })
    }

    fn blend(
        &mut self,
        space: Space,
        children: &[Built],
        sync: Option<SyncBy>,
        place: &str,
    ) -> (Node, usize) {
        let parts: Vec<_> = children.iter().map(|child| &child.part).collect();
        let scope = sync.map(|by| self.scope(by, &parts, place));
        let deepest = children.iter().map(|child| child.poses).max().unwrap_or(0);
        let blend = Node::Blend {
            space,
            children: children.iter().map(|child| child.node).collect(),
            slot: self.take_slots(children.len()),
            scope,
        };
        // Two poses wait while the third is made, then the result is a fourth.
        (blend, (deepest + 2).max(4))
    }

    fn layers(
        &mut self,
        scene: &Scene<'_>,
        spec: &LayersSpec,
        base: &Built,
        tops: &[Built],
    ) -> Result<(Node, usize), GraphError> {
        let mut layers = Vec::new();
        for (layer, top) in spec.layers.iter().zip(tops) {
            let names = || scene.spec.masks.iter().map(|entry| entry.name.as_str());
            let place = |name: &String| place_of("mask", name, names());
            let mask = layer.mask.as_ref().map(place).transpose()?;
            let mask = mask.map(|place| scene.masks + place);
            let first = |mask: usize| self.masks[mask].as_slice().first().copied().unwrap_or(1.0);
            layers.push(Layer {
                node: top.node,
                mask,
                at_root: mask.map_or(1.0, first),
                weight: scene.number(&layer.weight)?,
                mode: layer.mode,
            });
        }
        let deepest = tops.iter().map(|top| top.poses + 1).max().unwrap_or(0);
        let node = Node::Layers {
            base: base.node,
            slot: self.take_slots(layers.len()),
            layers,
        };
        Ok((node, deepest.max(base.poses).max(3)))
    }

    fn machine(
        &mut self,
        scene: &Scene<'_>,
        spec: &MachineSpec,
        place: &str,
        depth: usize,
    ) -> Result<(Node, usize), GraphError> {
        let names = || spec.states.iter().map(|state| state.name.as_str());
        let find = |name: &str| place_of("state", name, names());
        // Its own place comes before those of the machines inside it.
        let machine = self.machines.len();
        self.machines.push(Machine {
            place: place.to_owned(),
            initial: find(&spec.initial)?,
            states: Vec::new(),
            transitions: Vec::new(),
        });
        let mut states = Vec::new();
        let mut deepest = 0;
        for state in &spec.states {
            let inside = format!("{place}/{}", state.name);
            let built = self.node(scene, &state.node, &inside, depth + 1)?;
            deepest = deepest.max(built.poses);
            states.push(State {
                name: state.name.clone(),
                node: built.node,
                part: built.part,
            });
        }
        let mut transitions = Vec::new();
        for transition in &spec.transitions {
            let from = transition
                .from
                .as_ref()
                .map(|name| find(name))
                .transpose()?;
            let to = find(&transition.to)?;
            let parts: Vec<_> = (0..states.len())
                .filter(|state| from.is_none_or(|from| from == *state) || *state == to)
                .map(|state| &states[state].part)
                .collect();
            let scope = transition.sync.map(|by| self.scope(by, &parts, place));
            transitions.push(self.transition(scene, transition, from, to, scope)?);
        }
        self.machines[machine].states = states;
        self.machines[machine].transitions = transitions;
        // Inertialisation needs the new pose, what it was a step before and the old pose's step.
        Ok((Node::Machine { machine }, (deepest + 2).max(4)))
    }

    fn transition(
        &self,
        scene: &Scene<'_>,
        spec: &TransitionSpec,
        from: Option<usize>,
        to: usize,
        scope: Option<usize>,
    ) -> Result<Transition, GraphError> {
        Ok(Transition {
            from,
            to,
            when: self.test(scene, &spec.when)?,
            duration: f64::from(spec.duration),
            easing: spec.easing,
            kind: spec.kind,
            start: spec.start,
            scope,
            interrupt: spec.interrupt,
        })
    }

    fn test(&self, scene: &Scene<'_>, condition: &Condition) -> Result<Test, GraphError> {
        let list = |conditions: &[Condition]| {
            let tests = conditions
                .iter()
                .map(|condition| self.test(scene, condition));
            tests.collect::<Result<Vec<_>, _>>()
        };
        Ok(match condition {
            Condition::Compare(name, comparison, value) => {
                Test::Compare(scene.parameter(name)?, *comparison, *value)
            }
            Condition::Bool(name) => Test::Bool(scene.parameter(name)?),
            Condition::Is(name, option) => {
                let id = scene.parameter(name)?;
                let options: &[String] = match &self.parameters[id.0].kind {
                    ParameterKind::Choice { options, .. } => options,
                    _ => &[],
                };
                let words = options.iter().map(String::as_str);
                Test::Is(id, place_of("option", option, words)?)
            }
            Condition::Trigger(name) => Test::Trigger(scene.parameter(name)?),
            Condition::Finished => Test::Finished,
            Condition::After(seconds) => Test::After(f64::from(*seconds)),
            Condition::Phase(turns) => Test::Phase(f64::from(*turns)),
            Condition::Event(name) => Test::Event(name.clone()),
            Condition::All(conditions) => Test::All(list(conditions)?),
            Condition::Any(conditions) => Test::Any(list(conditions)?),
            Condition::Not(condition) => Test::Not(Box::new(self.test(scene, condition)?)),
        })
    }

    fn subgraph(
        &mut self,
        scene: &Scene<'_>,
        spec: &SubgraphSpec,
        name: &str,
        place: &str,
        depth: usize,
    ) -> Result<Built, GraphError> {
        let inner_place = format!("{}{name}/", scene.place);
        let mut parameters = Vec::new();
        for inner in &spec.graph.parameters {
            let bound = spec.parameters.iter().find(|pair| pair.0 == inner.name);
            parameters.push(match bound {
                Some((_, outer)) => scene.parameter(outer)?,
                None => self.own_parameter(inner, &inner_place),
            });
        }
        let inner = Scene {
            spec: &spec.graph,
            place: inner_place,
            parameters,
            masks: self.masks(&spec.graph)?,
        };
        let root = &inner.spec.root;
        self.node(&inner, root, &format!("{place}/{root}"), depth + 1)
    }

    /// Resolves the masks of a graph; the place of the first.
    fn masks(&mut self, spec: &GraphSpec) -> Result<usize, GraphError> {
        let first = self.masks.len();
        for entry in &spec.masks {
            self.masks.push(entry.mask.resolve(self.skeleton)?);
        }
        Ok(first)
    }

    /// The parameter of an inner graph that follows none around it.
    fn own_parameter(&mut self, spec: &ParameterSpec, place: &str) -> ParameterId {
        let name = format!("{place}{}", spec.name);
        let known = self.parameters.iter().position(|other| other.name == name);
        ParameterId(known.unwrap_or_else(|| {
            let kind = spec.kind.clone();
            self.parameters.push(ParameterSpec { name, kind });
            self.parameters.len() - 1
        }))
    }

    /// Gives the clips of `parts` a common phase.
    fn scope(&mut self, by: SyncBy, parts: &[&Part], place: &str) -> usize {
        let scope = self.scopes;
        self.scopes += 1;
        let leaves = parts.iter().flat_map(|part| part.leaves.clone());
        let leaves: Vec<_> = leaves.filter(|leaf| self.leaves[*leaf].joins).collect();
        let candidate = |leaf: &usize| {
            let leaf = &self.leaves[*leaf];
            Candidate {
                place: &leaf.place,
                markers: self.library.clips[leaf.clip].markers.as_slice(),
                duration: leaf.duration,
            }
        };
        let candidates: Vec<_> = leaves.iter().map(candidate).collect();
        match lanes(by, &candidates) {
            Ok(lanes) => {
                for (leaf, lane) in leaves.into_iter().zip(lanes) {
                    self.leaves[leaf].lanes.push((scope, lane));
                }
            }
            Err(message) => self.report.error(place, message),
        }
        scope
    }

    fn take_slots(&mut self, count: usize) -> usize {
        self.slots += count;
        self.slots - count
    }
}

fn place_of<'a>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, GraphError> {
    let place = known.clone().position(|other| other == name);
    place.ok_or_else(|| GraphError::unknown(kind, name, known))
}
