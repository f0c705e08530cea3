//! The second half of a frame: clips are sampled and mixed, children first, what weighs nothing left out.

use anim_skeleton::{
    Layer as PoseLayer, Mode, Pose, add_in_model_space, blend, difference,
    difference_in_model_space,
};

use crate::graph::{Graph, Layer, Node};
use crate::spec::{DifferenceSpace, LayerMode};
use crate::state::GraphState;

impl GraphState {
    /// Makes the pose of where [`advance`](Self::advance) came to. O(joints × clips with weight); allocates nothing.
    ///
    /// # Panics
    ///
    /// If the state was made for a graph with other nodes or joints.
    pub fn evaluate(&mut self, graph: &Graph) {
        let pose = self.pose_of(graph, graph.root());
        let before = std::mem::replace(&mut self.pose, pose);
        self.give(before);
    }

    pub(crate) fn pose_of(&mut self, graph: &Graph, node: usize) -> Pose {
        match &graph.nodes[node] {
            Node::Rest => self.rest(graph),
            Node::Clip { leaf } => {
                let mut pose = self.take(graph);
                let model = &graph.leaves[*leaf];
                let state = &self.leaves[*leaf];
                let time = if self.is_rewound {
                    state.passage.from
                } else {
                    state.time
                };
                let time = model.wrap.apply(time, model.duration);
                graph.clips[model.clip].clip.sample(time, &mut pose);
                pose
            }
            Node::Blend { children, slot, .. } => self.mix(graph, children, *slot),
            Node::Layers { base, layers, slot } => self.stack(graph, *base, layers, *slot),
            Node::Machine { machine } => self.machine_pose(graph, *machine),
            Node::Speed { child, .. } => self.pose_of(graph, *child),
            Node::Mirror { child, slot, .. } => {
                let pose = self.pose_of(graph, *child);
                match &graph.mirror {
                    Some(mirror) if self.slots[*slot] > 0.0 => {
                        let mut out = self.take(graph);
                        mirror.mirror.apply(&pose, &mut out);
                        self.give(pose);
                        out
                    }
                    _ => pose,
                }
            }
            Node::Difference {
                child,
                reference,
                space,
            } => {
                let pose = self.pose_of(graph, *child);
                let from = self.pose_of(graph, *reference);
                let mut out = self.take(graph);
                match space {
                    DifferenceSpace::Local => difference(&from, &pose, &mut out),
                    DifferenceSpace::Model => {
                        let (skeleton, mut scratch) = (&graph.skeleton, self.take(graph));
                        difference_in_model_space(skeleton, &from, &pose, &mut scratch, &mut out);
                        self.give(scratch);
                    }
                }
                self.give(pose);
                self.give(from);
                out
            }
        }
    }

    /// The children of a blend space by their weights, of which three at most are not 0.
    fn mix(&mut self, graph: &Graph, children: &[usize], slot: usize) -> Pose {
        let mut parts: [Option<(Pose, f32)>; 3] = [const { None }; 3];
        let mut free = parts.iter_mut();
        for (child, slot) in children.iter().zip(slot..) {
            let weight = self.slots[slot];
            if weight > 0.0
                && let Some(part) = free.next()
            {
                *part = Some((self.pose_of(graph, *child), weight));
            }
        }
        let [first, second, third] = parts;
        let Some((first, _)) = first else {
            return self.rest(graph);
        };
        let Some((second, weight)) = second else {
            return first;
        };
        let mut out = self.take(graph);
        match third {
            None => lerp(&first, &second, weight, &mut out),
            Some((third, third_weight)) => {
                let layers = [over(&second, weight), over(&third, third_weight)];
                blend(&first, &layers, &mut out);
                self.give(third);
            }
        }
        self.give(first);
        self.give(second);
        out
    }

    fn stack(&mut self, graph: &Graph, base: usize, layers: &[Layer], slot: usize) -> Pose {
        // What a whole layer covers is not seen.
        let hides = |(layer, weight): (&Layer, &f32)| {
            layer.mode == LayerMode::Override && layer.mask.is_none() && *weight >= 1.0
        };
        let weights = &self.slots[slot..slot + layers.len()];
        let lowest = layers.iter().zip(weights).rposition(hides);
        let (bottom, first) = match lowest {
            Some(place) => (layers[place].node, place + 1),
            None => (base, 0),
        };
        let mut pose = self.pose_of(graph, bottom);
        for (place, layer) in layers.iter().enumerate().skip(first) {
            let weight = self.slots[slot + place];
            if weight == 0.0 {
                continue;
            }
            let top = self.pose_of(graph, layer.node);
            let mut out = self.take(graph);
            let mut over = PoseLayer {
                pose: &top,
                weight,
                mask: layer.mask.map(|mask| graph.masks[mask].as_slice()),
                mode: Mode::Additive,
            };
            if layer.mode == LayerMode::AdditiveInModel {
                add_in_model_space(&graph.skeleton, &over, &mut out, &mut pose);
                self.give(top);
                self.give(out);
                continue;
            }
            if layer.mode == LayerMode::Override {
                over.mode = Mode::Override;
            }
            // What is below takes the place of the rest pose, which fills up the weights to 1.
            blend(&pose, &[over], &mut out);
            self.give(top);
            self.give(std::mem::replace(&mut pose, out));
        }
        pose
    }

    fn rest(&mut self, graph: &Graph) -> Pose {
        let mut pose = self.take(graph);
        pose.copy_from(graph.skeleton.rest());
        pose
    }

    /// A pose of any content; the pool holds as many as can be needed at once.
    pub(crate) fn take(&mut self, graph: &Graph) -> Pose {
        self.pool
            .pop()
            .unwrap_or_else(|| graph.skeleton.rest().clone())
    }

    pub(crate) fn give(&mut self, pose: Pose) {
        self.pool.push(pose);
    }
}

/// From one pose to another by `weight`, in [0, 1].
pub(crate) fn lerp(from: &Pose, to: &Pose, weight: f32, out: &mut Pose) {
    blend(from, &[over(to, weight)], out);
}

fn over(pose: &Pose, weight: f32) -> PoseLayer<'_> {
    PoseLayer {
        pose,
        weight,
        mask: None,
        mode: Mode::Override,
    }
}
