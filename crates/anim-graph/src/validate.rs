//! The validator: finds everything that is wrong with a graph before anything plays.
//!
//! Every definition is looked at once, reachable or not, so an author sees all mistakes together.

use anim_skeleton::Skeleton;

use crate::blend_space::{BlendSpace1, BlendSpace2};
use crate::compile::DEEPEST;
use crate::library::ClipLibrary;
use crate::report::Report;
use crate::spec::{
    ClipNode, LayersSpec, NodeSpec, ParameterKind, ParameterSpec, SubgraphSpec, Value,
};
use crate::{GraphError, GraphSpec, validate_machine};

/// All problems of `spec` with a skeleton and a library.
pub(crate) fn validate(spec: &GraphSpec, skeleton: &Skeleton, library: &ClipLibrary) -> Report {
    let mut report = Report::default();
    check_library(skeleton, library, &mut report);
    let scene = Scene {
        spec,
        skeleton,
        library,
        place: String::new(),
        depth: 0,
    };
    scene.check(&mut report);
    report
}

fn check_library(skeleton: &Skeleton, library: &ClipLibrary, report: &mut Report) {
    let joints = skeleton.len();
    for clip in &library.clips {
        let count = clip.clip.joint_count();
        if count != joints {
            let name = clip.name.clone();
            let error = GraphError::JointCount {
                name,
                count,
                joints,
            };
            report.error("library", error);
        }
    }
    check_unique("clip", "library", clip_names(library), report);
}

fn clip_names(library: &ClipLibrary) -> impl Iterator<Item = &str> + Clone {
    library.clips.iter().map(|clip| clip.name.as_str())
}

/// Reports each name that comes again.
pub(crate) fn check_unique<'a>(
    kind: &str,
    place: &str,
    names: impl Iterator<Item = &'a str>,
    report: &mut Report,
) {
    let mut sorted: Vec<_> = names.collect();
    sorted.sort_unstable();
    let mut again: Vec<_> = sorted
        .windows(2)
        .filter(|pair| pair[0] == pair[1])
        .map(|pair| pair[0])
        .collect();
    again.dedup();
    for name in again {
        report.error(
            place,
            format_args!("there is more than one {kind} '{name}'"),
        );
    }
}

/// Reports a name that none of `known` is.
pub(crate) fn check_known<'a>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    place: &str,
    report: &mut Report,
) {
    if !known.clone().any(|other| other == name) {
        report.error(place, GraphError::unknown(kind, name, known));
    }
}

/// Reports a number that is not finite or below `least`.
pub(crate) fn check_number(what: &str, value: f32, least: f32, place: &str, report: &mut Report) {
    if !value.is_finite() {
        report.error(place, format_args!("{what} {value} is not finite"));
    } else if value < least {
        report.error(place, format_args!("{what} {value} is less than {least}"));
    }
}

/// One graph, the outermost or an inner one.
pub(crate) struct Scene<'a> {
    pub(crate) spec: &'a GraphSpec,
    skeleton: &'a Skeleton,
    library: &'a ClipLibrary,
    /// With a slash at the end unless it is the outermost.
    place: String,
    depth: usize,
}

impl Scene<'_> {
    fn check(&self, report: &mut Report) {
        let place = self.place.strip_suffix('/').unwrap_or("graph");
        if self.depth > DEEPEST {
            report.error(place, GraphError::TooDeep { most: DEEPEST });
            return;
        }
        let names = self.spec.parameters.iter().map(|spec| spec.name.as_str());
        check_unique("parameter", place, names, report);
        for parameter in &self.spec.parameters {
            check_parameter(&self.place, parameter, report);
        }
        let names = self.spec.masks.iter().map(|entry| entry.name.as_str());
        check_unique("mask", place, names, report);
        for entry in &self.spec.masks {
            if let Err(error) = entry.mask.resolve(self.skeleton) {
                report.error(&format!("{}{}", self.place, entry.name), error);
            }
        }
        check_unique("node", place, self.node_names(), report);
        self.check_node(&self.spec.root, place, report);
        for entry in &self.spec.nodes {
            self.node(
                &entry.node,
                &format!("{}{}", self.place, entry.name),
                report,
            );
        }
        self.references(report);
    }

    fn node(&self, node: &NodeSpec, place: &str, report: &mut Report) {
        for child in node.children() {
            self.check_node(child, place, report);
        }
        match node {
            NodeSpec::Rest {} | NodeSpec::Difference { .. } => {}
            NodeSpec::Clip(clip) => self.clip(clip, place, report),
            NodeSpec::Blend1(blend) => {
                self.parameter(&blend.parameter, "float", place, report);
                let places: Vec<_> = blend.points.iter().map(|point| point.0).collect();
                if let Err(error) = BlendSpace1::new(&places) {
                    report.error(place, error);
                }
            }
            NodeSpec::Blend2(blend) => {
                for name in &blend.parameters {
                    self.parameter(name, "float", place, report);
                }
                let places: Vec<_> = blend.points.iter().map(|point| point.0).collect();
                if let Err(error) = BlendSpace2::new(&places) {
                    report.error(place, error);
                }
            }
            NodeSpec::Layers(layers) => self.layers(layers, place, report),
            NodeSpec::Machine(machine) => validate_machine::check(self, machine, place, report),
            NodeSpec::Graph(graph) => self.subgraph(graph, place, report),
            NodeSpec::Speed { factor, .. } => self.value("factor", factor, place, report),
            NodeSpec::Mirror { when, .. } => {
                if self.library.mirror.is_none() {
                    report.error(place, "the library has no mirror");
                }
                if let Some(name) = when {
                    self.parameter(name, "bool", place, report);
                }
            }
        }
    }

    fn clip(&self, clip: &ClipNode, place: &str, report: &mut Report) {
        check_known("clip", &clip.clip, clip_names(self.library), place, report);
        check_number("speed", clip.speed, f32::MIN, place, report);
        if let Some(start) = clip.start {
            check_number("start", start, 0.0, place, report);
        }
        if let Some(scrub) = &clip.scrub {
            self.value("scrub", scrub, place, report);
        }
    }

    fn layers(&self, layers: &LayersSpec, place: &str, report: &mut Report) {
        let masks = self.spec.masks.iter().map(|entry| entry.name.as_str());
        for (index, layer) in layers.layers.iter().enumerate() {
            let place = format!("{place}: layer {index}");
            if let Some(mask) = &layer.mask {
                check_known("mask", mask, masks.clone(), &place, report);
            }
            self.value("weight", &layer.weight, &place, report);
        }
    }

    fn subgraph(&self, graph: &SubgraphSpec, place: &str, report: &mut Report) {
        let inner_names = graph.parameters.iter().map(|pair| pair.0.as_str());
        check_unique("binding of", place, inner_names, report);
        for (inner, outer) in &graph.parameters {
            let known = graph.graph.parameters.iter();
            let names = known.clone().map(|spec| spec.name.as_str());
            check_known("inner parameter", inner, names, place, report);
            let Some(inner) = known.clone().find(|spec| spec.name == *inner) else {
                continue;
            };
            self.parameter(outer, inner.kind.name(), place, report);
            let options = |kind: &ParameterKind| match kind {
                ParameterKind::Choice { options, .. } => Some(options.clone()),
                _ => None,
            };
            let outer = self.spec.parameters.iter().find(|spec| spec.name == *outer);
            let outer_options = outer.and_then(|spec| options(&spec.kind));
            if outer_options.is_some_and(|list| options(&inner.kind).is_some_and(|own| own != list))
            {
                let name = &inner.name;
                report.error(
                    place,
                    format_args!("parameter '{name}' has other options inside"),
                );
            }
        }
        let inner = Scene {
            spec: &graph.graph,
            skeleton: self.skeleton,
            library: self.library,
            place: format!("{place}/"),
            depth: self.depth + 1,
        };
        inner.check(report);
    }

    /// Reports a parameter that does not exist or is of another kind.
    pub(crate) fn parameter(
        &self,
        name: &str,
        wanted: &'static str,
        place: &str,
        report: &mut Report,
    ) {
        let parameters = &self.spec.parameters;
        match parameters.iter().find(|spec| spec.name == name) {
            None => {
                let names = parameters.iter().map(|spec| spec.name.as_str());
                report.error(place, GraphError::unknown("parameter", name, names));
            }
            Some(spec) if spec.kind.name() != wanted => {
                let (name, is) = (name.to_owned(), spec.kind.name());
                report.error(place, GraphError::WrongKind { name, is, wanted });
            }
            Some(_) => {}
        }
    }

    fn value(&self, what: &str, value: &Value, place: &str, report: &mut Report) {
        match value {
            Value::Constant(value) => check_number(what, *value, f32::MIN, place, report),
            Value::Parameter(name) => self.parameter(name, "float", place, report),
        }
    }

    fn check_node(&self, name: &str, place: &str, report: &mut Report) {
        check_known("node", name, self.node_names(), place, report);
    }

    fn node_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.spec.nodes.iter().map(|entry| entry.name.as_str())
    }

    /// Reports nodes that contain themselves and nodes that nothing leads to.
    fn references(&self, report: &mut Report) {
        let nodes = &self.spec.nodes;
        let find = |name: &str| nodes.iter().position(|entry| entry.name == name);
        let children: Vec<Vec<usize>> = nodes
            .iter()
            .map(|entry| entry.node.children().into_iter().filter_map(find).collect())
            .collect();
        // What has all of its children done is done; only what leads to a cycle never is.
        let mut done = vec![false; nodes.len()];
        loop {
            let is_ready = |node: &usize| !done[*node] && children[*node].iter().all(|c| done[*c]);
            let ready: Vec<_> = (0..nodes.len()).filter(is_ready).collect();
            if ready.is_empty() {
                break;
            }
            ready.into_iter().for_each(|node| done[node] = true);
        }
        if let Some(start) = done.iter().position(|done| !done) {
            let next = |node: usize| children[node].iter().copied().find(|child| !done[*child]);
            let mut path = vec![start];
            while let Some(child) = path.last().and_then(|node| next(*node)) {
                let met = path.iter().position(|node| *node == child);
                path.push(child);
                if let Some(met) = met {
                    path.drain(..met);
                    break;
                }
            }
            let names: Vec<_> = path.iter().map(|node| nodes[*node].name.as_str()).collect();
            let place = format!("{}{}", self.place, names[0]);
            report.error(
                &place,
                format_args!("a node inside itself: {}", names.join(" -> ")),
            );
        }
        let mut reached = vec![false; nodes.len()];
        let Some(root) = find(&self.spec.root) else {
            return;
        };
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached[node], true) {
                open.extend(&children[node]);
            }
        }
        for (entry, _) in nodes.iter().zip(reached).filter(|(_, reached)| !reached) {
            let place = format!("{}{}", self.place, entry.name);
            report.warn(&place, "the root does not lead to this node");
        }
    }
}

fn check_parameter(prefix: &str, parameter: &ParameterSpec, report: &mut Report) {
    let place = &format!("{prefix}{}", parameter.name);
    match &parameter.kind {
        ParameterKind::Float { default, range } => {
            check_number("default", *default, f32::MIN, place, report);
            if let Some([low, high]) = range
                && !(low.is_finite() && high.is_finite() && low <= high)
            {
                report.error(
                    place,
                    format_args!("range [{low}, {high}] is not an interval"),
                );
            }
        }
        ParameterKind::Bool { .. } => {}
        ParameterKind::Choice { options, default } => {
            if options.is_empty() {
                report.error(place, "a choice needs at least one option");
            }
            let words = options.iter().map(String::as_str);
            check_unique("option", place, words.clone(), report);
            if let Some(default) = default {
                check_known("option", default, words, place, report);
            }
        }
        ParameterKind::Trigger { forget_after } => {
            if let Some(seconds) = forget_after {
                check_number("forget_after", *seconds, 0.0, place, report);
            }
        }
    }
}
