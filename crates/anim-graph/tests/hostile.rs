//! Graphs, parameters and steps of any kind: no panic, no NaN, unit rotations, the same bits again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_curves::{Easing, Shape};
use anim_graph::{
    Blend1Spec, Blend2Spec, ClipNode, Comparison, Condition, DifferenceSpace, Graph, GraphSpec,
    GraphState, Interrupt, LayerMode, LayerSpec, LayersSpec, LibraryClip, MachineSpec, NodeEntry,
    NodeSpec, ParameterKind, ParameterSpec, Start, StateSpec, SubgraphSpec, SyncBy, TransitionKind,
    TransitionSpec, Value,
};
use anim_math::Vec3;
use anim_skeleton::Wrap;
use common::{clip, events, library, moved, skeleton, still, stride};
use proptest::prelude::*;

fn clips() -> Vec<LibraryClip> {
    let marks = [(0.0, "left"), (0.25, "right")];
    let marked = |clip: LibraryClip| LibraryClip {
        markers: events(&marks),
        events: events(&marks),
        ..clip
    };
    vec![
        marked(stride("0", 1.0, 1.5, 0.7)),
        marked(stride("1", 0.4, -3.0, -0.2)),
        still("2", 1.0, 2.0),
        clip("3", vec![moved(0, &[(0.0, Vec3::y())])]), // without length
    ]
}

/// Numbers that a graph is made of, taken one after the other.
struct Dice<'a>(std::slice::Iter<'a, u32>);

impl Dice<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |n| *n as usize % count)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn number(&mut self) -> f32 {
        self.pick(&[0.0, 1.0, 0.5, -1.0, 2.5, 1e-3, -1e30, 1e30, 3.0])
    }

    fn value(&mut self) -> Value {
        match self.below(3) {
            0 => Value::Constant(self.number()),
            _ => Value::Parameter(self.float()),
        }
    }

    fn float(&mut self) -> String {
        self.pick(&["x", "y"]).to_owned()
    }

    fn sync(&mut self) -> Option<SyncBy> {
        // Markers need them on every clip that joins.
        self.pick(&[None, Some(SyncBy::Phase)])
    }

    fn condition(&mut self, depth: usize) -> Condition {
        match self.below(if depth > 0 { 11 } else { 8 }) {
            0 => Condition::Compare(self.float(), Comparison::Greater, self.number()),
            1 => Condition::Bool("b".into()),
            2 => Condition::Trigger("t".into()),
            3 => Condition::Finished,
            4 => Condition::After(self.number().abs()),
            5 => Condition::Phase(self.number().abs()),
            6 => Condition::Event("left".into()),
            7 => Condition::Is("c".into(), "two".into()),
            8 => Condition::Not(Box::new(self.condition(depth - 1))),
            9 => Condition::Any(vec![self.condition(depth - 1), self.condition(depth - 1)]),
            _ => Condition::All(vec![self.condition(depth - 1), self.condition(depth - 1)]),
        }
    }

    fn transition(&mut self, states: usize) -> TransitionSpec {
        let state = |n: usize| n.to_string();
        TransitionSpec {
            from: match self.below(3) {
                0 => None,
                _ => Some(state(self.below(states))),
            },
            duration: self.pick(&[0.0, 0.1, 0.5, 1e-30, 1e30]),
            easing: self.pick(&[Easing::Linear, Easing::Out(Shape::Back)]),
            kind: self.pick(&[
                TransitionKind::Crossfade,
                TransitionKind::Frozen,
                TransitionKind::Inertialize,
                TransitionKind::DeadBlend,
            ]),
            start: self.pick(&[
                Start::Beginning,
                Start::Time(0.3),
                Start::Phase(1e30),
                Start::KeepPhase,
                Start::Resume,
            ]),
            sync: self.sync(),
            interrupt: self.pick(&[Interrupt::Any, Interrupt::Higher, Interrupt::Never]),
            ..TransitionSpec::new("", state(self.below(states)), self.condition(2))
        }
    }

    /// A node that refers to those before it.
    fn node(&mut self, before: usize, depth: usize) -> NodeSpec {
        let kinds = if before == 0 { 2 } else { 10 };
        let child = |dice: &mut Self| format!("n{}", dice.below(before.max(1)));
        match self.below(kinds) {
            0 => NodeSpec::Rest {},
            1 => NodeSpec::Clip(ClipNode {
                speed: self.number(),
                wrap: self.pick(&[Wrap::Loop, Wrap::Clamp, Wrap::PingPong]),
                start: self.pick(&[None, Some(0.7), Some(1e20)]),
                scrub: match self.below(4) {
                    0 => Some(self.value()),
                    _ => None,
                },
                ..ClipNode::new(self.below(4).to_string())
            }),
            2 => NodeSpec::Blend1(Blend1Spec {
                parameter: self.float(),
                points: (0..=self.below(3))
                    .map(|n| (n as f32, child(self)))
                    .collect(),
                sync: self.sync(),
            }),
            3 => NodeSpec::Blend2(Blend2Spec {
                parameters: [self.float(), "y".into()],
                points: (0..=self.below(5))
                    .map(|n| ([(n % 2) as f32, (n / 2) as f32], child(self)))
                    .collect(),
                sync: self.sync(),
            }),
            4 | 5 => NodeSpec::Layers(LayersSpec {
                base: child(self),
                layers: (0..self.below(3))
                    .map(|_| LayerSpec {
                        node: child(self),
                        mask: self.pick(&[None, Some("m")]).map(str::to_owned),
                        weight: self.value(),
                        mode: self.pick(&[
                            LayerMode::Override,
                            LayerMode::Additive,
                            LayerMode::AdditiveInModel,
                        ]),
                    })
                    .collect(),
            }),
            6 | 7 => {
                let states = 1 + self.below(3);
                let state = |n: usize, node| StateSpec {
                    name: n.to_string(),
                    node,
                };
                NodeSpec::Machine(MachineSpec {
                    initial: self.below(states).to_string(),
                    states: (0..states).map(|n| state(n, child(self))).collect(),
                    transitions: (0..self.below(5))
                        .map(|_| self.transition(states))
                        .collect(),
                })
            }
            8 => match self.below(3) {
                0 => NodeSpec::Mirror {
                    node: child(self),
                    when: self.pick(&[None, Some("b")]).map(str::to_owned),
                },
                1 => NodeSpec::Speed {
                    node: child(self),
                    factor: self.value(),
                },
                _ => NodeSpec::Difference {
                    node: child(self),
                    reference: child(self),
                    space: self.pick(&[DifferenceSpace::Local, DifferenceSpace::Model]),
                },
            },
            _ if depth > 0 => NodeSpec::Graph(SubgraphSpec {
                graph: Box::new(self.graph(depth - 1)),
                parameters: vec![("x".into(), "y".into()), ("t".into(), "t".into())],
            }),
            _ => NodeSpec::Rest {},
        }
    }

    fn graph(&mut self, depth: usize) -> GraphSpec {
        let count = 2 + self.below(6);
        let parameter = |name: &str, kind| ParameterSpec {
            name: name.to_owned(),
            kind,
        };
        let free = || ParameterKind::Float {
            default: 0.0,
            range: None,
        };
        GraphSpec {
            parameters: vec![
                parameter("x", free()),
                parameter("y", free()),
                parameter("b", ParameterKind::Bool { default: false }),
                parameter("t", ParameterKind::Trigger { forget_after: None }),
                parameter(
                    "c",
                    ParameterKind::Choice {
                        options: vec!["one".into(), "two".into()],
                        default: None,
                    },
                ),
            ],
            masks: vec![anim_graph::MaskEntry {
                name: "m".into(),
                mask: anim_skeleton::MaskSpec {
                    subtree: vec!["Spine".into()],
                    ..Default::default()
                },
            }],
            nodes: (0..count)
                .map(|n| NodeEntry {
                    name: format!("n{n}"),
                    node: self.node(n, depth),
                })
                .collect(),
            root: format!("n{}", count - 1),
        }
    }
}

fn play(graph: &Graph, frames: &[(f32, f32, f32, u8)]) -> Result<GraphState, TestCaseError> {
    let mut state = GraphState::new(graph);
    for &(x, y, dt, bits) in frames {
        let accepted = state.parameters.set("x", x).is_ok();
        prop_assert_eq!(accepted, x.is_finite());
        // A refused value changes nothing.
        let _ = state.parameters.set("y", y);
        state.parameters.set("b", bits & 1 > 0).unwrap();
        if bits & 2 > 0 {
            state.parameters.fire("t").unwrap();
        }
        let word = if bits & 4 > 0 { "one" } else { "two" };
        state.parameters.set("c", word).unwrap();
        match bits & 8 {
            0 => state.step(graph, dt),
            _ => state.advance(graph, dt),
        }
        let pose = state.pose();
        prop_assert!(pose.is_finite());
        for joint in skeleton().joints() {
            prop_assert!((pose.rotation(joint).norm() - 1.0).abs() < 1e-3);
        }
        prop_assert!(state.motion().is_finite());
        for sample in state.samples() {
            prop_assert!(sample.time.is_finite() && sample.speed.is_finite());
            let most = if sample.is_additive { f32::MAX } else { 1.0 };
            prop_assert!(sample.weight > 0.0 && sample.weight <= most);
        }
    }
    Ok(state)
}

fn any_step() -> impl Strategy<Value = f32> {
    prop_oneof![
        8 => 0.0_f32..0.2,
        1 => 0.2_f32..100.0,
        1 => prop::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 1e-40, 1e20, f32::MAX,
        ]),
    ]
}

fn any_float() -> impl Strategy<Value = f32> {
    prop_oneof![8 => -1.0_f32..3.0, 1 => prop::num::f32::ANY]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_graph_steered_anyhow_gives_sound_poses_and_the_same_ones_again(
        dice in prop::collection::vec(any::<u32>(), 20..200),
        frames in prop::collection::vec((any_float(), any_float(), any_step(), any::<u8>()), 1..30),
    ) {
        let spec = Dice(dice.iter()).graph(1);
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(&serde_json::from_str::<GraphSpec>(&json).unwrap(), &spec);
        let graph = match Graph::new(&spec, &skeleton(), &library(clips())) {
            Ok(graph) => graph,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let (once, again) = (play(&graph, &frames)?, play(&graph, &frames)?);
        prop_assert_eq!(once.pose(), again.pose());
        prop_assert_eq!(once.motion(), again.motion());
    }
}
