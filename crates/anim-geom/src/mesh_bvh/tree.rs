//! The boxes of a mesh's hierarchy, flat and in depth-first order, and the ray that walks them.
//!
//! The crate bvh chooses the splits by surface area. Its tree is then flattened: up to four neighbouring leaves become
//! one, and every box is recomputed from its triangles, as bvh leaves boxes empty where all candidate splits have no
//! surface.

use std::ops::Range;

use anim_math::Vec3;
use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::BHShape;
use bvh::bvh::{Bvh, BvhNode, rayon_executor};
use nalgebra::Point3;

use crate::chunks;

/// Triangles in a leaf, at most.
const LEAF: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

/// A box; the left child of an inner node follows it.
#[derive(Clone, Copy, Debug)]
struct Node {
    low: Vec3,
    high: Vec3,
    /// Right child of an inner node, first triangle of a leaf.
    link: u32,
    /// Triangles of a leaf, 0 for an inner node.
    count: u32,
}

impl Tree {
    /// The hierarchy of at least one triangle, and the order in which its leaves hold them.
    pub(crate) fn new(triangles: &[[Vec3; 3]]) -> (Self, Vec<usize>) {
        let mut boxes: Vec<Bounds> = triangles.iter().map(Bounds::new).collect();
        // Where a node lies follows from the number of leaves before it, whichever thread writes it.
        let splits = if chunks::in_pool() {
            Bvh::build_with_executor(&mut boxes, rayon_executor).nodes
        } else {
            Bvh::build(&mut boxes).nodes
        };
        // Children come after their parent, so a backward sweep sees them first.
        let mut leaf_counts = vec![1; splits.len()];
        for (index, node) in splits.iter().enumerate().rev() {
            if let BvhNode::Node {
                child_l_index,
                child_r_index,
                ..
            } = node
            {
                leaf_counts[index] = leaf_counts[*child_l_index] + leaf_counts[*child_r_index];
            }
        }
        let mut tree = Self { nodes: Vec::new() };
        let mut order = Vec::with_capacity(triangles.len());
        tree.flatten(&splits, &leaf_counts, 0, &mut order);
        tree.fit(triangles, &order);
        (tree, order)
    }

    pub(crate) fn root(&self) -> usize {
        0
    }

    /// The triangles of a leaf, or `None` for an inner node.
    #[inline]
    pub(crate) fn leaf(&self, node: usize) -> Option<Range<usize>> {
        let Node { link, count, .. } = self.nodes[node];
        (count > 0).then_some(link as usize..(link + count) as usize)
    }

    #[inline]
    pub(crate) fn children(&self, node: usize) -> (usize, usize) {
        (node + 1, self.nodes[node].link as usize)
    }

    /// The squared distance from `point` to a node's box, 0 inside.
    #[inline]
    pub(crate) fn distance_squared(&self, node: usize, point: Vec3) -> f32 {
        let Node { low, high, .. } = &self.nodes[node];
        box_distance_squared([low, high], point)
    }

    /// Where a ray enters a node's box, metres, or `None` if it misses it.
    #[inline]
    pub(super) fn entry(&self, node: usize, ray: &Ray) -> Option<f32> {
        let Node { low, high, .. } = &self.nodes[node];
        ray.enters([low, high])
    }

    fn flatten(
        &mut self,
        splits: &[BvhNode<f32, 3>],
        leaf_counts: &[usize],
        split: usize,
        order: &mut Vec<usize>,
    ) {
        let index = self.nodes.len();
        let first = order.len() as u32;
        self.nodes.push(Node {
            low: Vec3::zeros(),
            high: Vec3::zeros(),
            link: first,
            count: leaf_counts[split] as u32,
        });
        if leaf_counts[split] <= LEAF {
            // A subtree's nodes are contiguous, and n leaves make 2n − 1 nodes.
            let subtree = &splits[split..split + 2 * leaf_counts[split] - 1];
            order.extend(subtree.iter().filter_map(BvhNode::shape_index));
        } else if let BvhNode::Node {
            child_l_index,
            child_r_index,
            ..
        } = splits[split]
        {
            self.flatten(splits, leaf_counts, child_l_index, order);
            self.nodes[index].link = self.nodes.len() as u32;
            self.nodes[index].count = 0;
            self.flatten(splits, leaf_counts, child_r_index, order);
        }
    }

    /// Computes every box from the triangles below it.
    fn fit(&mut self, triangles: &[[Vec3; 3]], order: &[usize]) {
        for index in (0..self.nodes.len()).rev() {
            let (mut low, mut high) = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
            if let Some(range) = self.leaf(index) {
                for corner in order[range].iter().flat_map(|t| triangles[*t]) {
                    low = low.inf(&corner);
                    high = high.sup(&corner);
                }
            } else {
                let (left, right) = self.children(index);
                for child in [&self.nodes[left], &self.nodes[right]] {
                    low = low.inf(&child.low);
                    high = high.sup(&child.high);
                }
            }
            self.nodes[index].low = low;
            self.nodes[index].high = high;
        }
    }
}

/// The squared distance from a point to a box, 0 inside.
#[inline]
pub(crate) fn box_distance_squared([low, high]: [&Vec3; 2], point: Vec3) -> f32 {
    (low - point)
        .sup(&(point - high))
        .sup(&Vec3::zeros())
        .norm_squared()
}

/// What the crate bvh asks of a shape.
struct Bounds {
    bounds: Aabb<f32, 3>,
    node: usize,
}

impl Bounds {
    fn new(corners: &[Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        let (low, high) = (a.inf(b).inf(c), a.sup(b).sup(c));
        Self {
            bounds: Aabb::with_bounds(Point3::from(low), Point3::from(high)),
            node: 0,
        }
    }
}

impl Bounded<f32, 3> for Bounds {
    fn aabb(&self) -> Aabb<f32, 3> {
        self.bounds
    }
}

impl BHShape<f32, 3> for Bounds {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

/// A ray with what its tests reuse.
pub(crate) struct Ray {
    origin: Vec3,
    /// Unit length.
    direction: Vec3,
    inverse: Vec3,
    /// The axes, the one along which the ray runs most last, ordered to keep the winding.
    axes: [usize; 3],
    /// Maps the direction to that last axis: x and y shear, z scale.
    shear: Vec3,
}

impl Ray {
    /// `None` if the direction is zero or anything is not finite.
    pub(crate) fn new(origin: Vec3, direction: Vec3) -> Option<Self> {
        let largest = direction.amax();
        // Scaling first keeps the length of tiny and of huge directions.
        let direction = (direction / largest).try_normalize(0.5)?;
        if !(origin.iter().chain(&direction).all(|c| c.is_finite())) {
            return None;
        }
        let z = direction.iamax();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            std::mem::swap(&mut x, &mut y);
        }
        let scale = 1.0 / direction[z];
        Some(Self {
            origin,
            direction,
            inverse: direction.map(|c| 1.0 / c),
            axes: [x, y, z],
            shear: Vec3::new(direction[x] * scale, direction[y] * scale, scale),
        })
    }

    /// Where it enters a box, metres, or `None` if it misses it.
    #[inline]
    pub(crate) fn enters(&self, [low, high]: [&Vec3; 2]) -> Option<f32> {
        let (mut enter, mut leave) = (0.0f32, f32::INFINITY);
        for axis in 0..3 {
            if self.direction[axis] == 0.0 {
                if self.origin[axis] < low[axis] || self.origin[axis] > high[axis] {
                    return None;
                }
                continue;
            }
            let a = (low[axis] - self.origin[axis]) * self.inverse[axis];
            let b = (high[axis] - self.origin[axis]) * self.inverse[axis];
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        // Each bound is off by at most three roundings; widening both sides keeps flat boxes and shared faces tight.
        (enter <= leave * (1.0 + 8.0 * f32::EPSILON)).then_some(enter * (1.0 - 8.0 * f32::EPSILON))
    }

    /// Where the ray meets a triangle from either side: metres and barycentric weights.
    #[inline]
    pub(crate) fn triangle(&self, corners: [Vec3; 3]) -> Option<(f32, [f32; 3])> {
        let [x, y, z] = self.axes;
        let relative = corners.map(|corner| corner - self.origin);
        let sheared = relative.map(|r| [r[x] - self.shear.x * r[z], r[y] - self.shear.y * r[z]]);
        let [a, b, c] = sheared;
        let mut weights = [cross(c, b), cross(a, c), cross(b, a)];
        if weights.contains(&0.0) {
            // In f64 the products are exact, so an edge is on the same side for both of its triangles.
            let [a, b, c] = sheared.map(|p| p.map(f64::from));
            let cross = |p: [f64; 2], q: [f64; 2]| (p[0] * q[1] - p[1] * q[0]) as f32;
            weights = [cross(c, b), cross(a, c), cross(b, a)];
        }
        let outside = weights.iter().any(|w| *w < 0.0) && weights.iter().any(|w| *w > 0.0);
        let determinant: f32 = weights.iter().sum();
        if outside || determinant == 0.0 {
            return None;
        }
        let barycentric = weights.map(|w| w / determinant);
        let depth: f32 = barycentric
            .iter()
            .zip(relative)
            .map(|(w, r)| w * r[z])
            .sum();
        let distance = depth * self.shear.z;
        (distance >= 0.0 && distance.is_finite()).then_some((distance, barycentric))
    }
}

fn cross(p: [f32; 2], q: [f32; 2]) -> f32 {
    p[0] * q[1] - p[1] * q[0]
}
