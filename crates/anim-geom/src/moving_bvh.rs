//! A bounding volume hierarchy over a mesh that moves: which triangles come near each other during a motion.
//!
//! Each node has a box at the start and a box at the end of a linear motion. Two nodes stay apart if one axis and side
//! separates them at both ends, so what moves along together makes no pairs, however fast it goes. The splits are
//! chosen once; a refit costs a few nanoseconds a triangle, and the tree is rebuilt when motion has blown up its boxes.
//! Use [`MeshBvh`](crate::MeshBvh) for a mesh at rest and for distances and rays.
//!
//! ```
//! use anim_geom::{MovingBvh, primitives};
//! use anim_math::Vec3;
//!
//! let sheet = primitives::grid(4, 4, 0.1);
//! let above: Vec<Vec3> = sheet.rest.positions.iter().map(|p| p + Vec3::y()).collect();
//! let below: Vec<Vec3> = above.iter().map(|p| p - Vec3::y() * 2.0).collect();
//! let mut floor = MovingBvh::new(&sheet.rest.positions, &sheet.triangles)?;
//! let mut falling = MovingBvh::new(&above, &sheet.triangles)?;
//! let mut pairs = Vec::new();
//! falling.refit(&above, &above, 0.01);
//! falling.pairs_with(&floor, 10_000, &mut pairs)?;
//! assert!(pairs.is_empty());
//! falling.refit(&above, &below, 0.01);
//! falling.pairs_with(&floor, 10_000, &mut pairs)?;
//! assert!(pairs.len() >= 32, "every triangle lands on its like");
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Level, Simd, SimdBase, dispatch, f32x4, f32x8};

use crate::GeomError;
use crate::mesh::check_triangles;
use crate::mesh_bvh::LARGEST;
use crate::mesh_bvh::tree::Tree;

/// A tree whose boxes have grown to this multiple of their size is built anew.
const DECAY: f32 = 1.5;

/// The triangles of one mesh during a motion; owns its scratch.
#[derive(Clone, Debug)]
pub struct MovingBvh {
    level: Level,
    /// `None` without triangles.
    tree: Option<Tree>,
    /// F, the index of each triangle of the tree's order.
    order: Vec<u32>,
    /// F in the tree's order.
    triangles: Vec<[u32; 3]>,
    /// V: x, y, z at the start, 0, x, y, z at the end, 0; NaN where any of them is not finite.
    vertices: Vec<Lanes>,
    /// Of each node.
    node_boxes: Vec<MovingBox>,
    /// Of each triangle in the tree's order.
    triangle_boxes: Vec<MovingBox>,
    /// Sum of the extents of the nodes when the tree was built, metres.
    built_size: f32,
    /// The same after the last refit.
    size: f32,
    stack: Vec<[u32; 2]>,
}

/// A box at the start and at the end of a motion; lanes as those of a vertex.
#[derive(Clone, Copy, Debug)]
struct MovingBox {
    low: Lanes,
    high: Lanes,
}

/// A box of nothing, apart from all others.
const EMPTY: MovingBox = MovingBox {
    low: [f32::INFINITY; LANES],
    high: [f32::NEG_INFINITY; LANES],
};

impl MovingBvh {
    /// Chooses the splits for `triangles` where they are, at rest. O(F log F), about 0.3 µs a triangle.
    ///
    /// * `positions`: V, metres. * `triangles`: F, may be none and may be without area.
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`]; [`GeomError::NotFinite`]; [`GeomError::TooFar`] for a coordinate beyond 10¹⁵ m.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        check_triangles(positions.len(), triangles)?;
        for (vertex, position) in positions.iter().enumerate() {
            if !position.iter().all(|c| c.is_finite()) {
                return Err(GeomError::NotFinite { vertex });
            }
            if position.amax() > LARGEST {
                return Err(GeomError::TooFar { vertex });
            }
        }
        let mut bvh = Self {
            level: Level::new(),
            tree: None,
            order: (0..triangles.len() as u32).collect(),
            triangles: triangles.to_vec(),
            vertices: vec![[0.0; LANES]; positions.len()],
            node_boxes: Vec::new(),
            triangle_boxes: vec![EMPTY; triangles.len()],
            built_size: 0.0,
            size: 0.0,
            stack: Vec::new(),
        };
        bvh.rebuild(positions);
        bvh.refit(positions, positions, 0.0);
        Ok(bvh)
    }

    /// Number of triangles, F.
    pub fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// Fits the boxes to a motion in a straight line from `start` to `end`, V positions each.
    ///
    /// Triangles count as near each other up to `margin` metres along each axis. Triangles with a corner that is not finite
    /// are near nothing. Allocates only where it rebuilds the tree, which it does when the boxes have grown by half since
    /// the last time; the pairs are the same either way.
    ///
    /// # Panics
    ///
    /// If there are not V positions in both.
    pub fn refit(&mut self, start: &[Vec3], end: &[Vec3], margin: f32) {
        assert_eq!(
            (start.len(), end.len()),
            (self.vertices.len(), self.vertices.len()),
            "a position for each vertex"
        );
        let mut is_finite = true;
        for (vertex, (s, e)) in self.vertices.iter_mut().zip(start.iter().zip(end)) {
            *vertex = [s.x, s.y, s.z, 0.0, e.x, e.y, e.z, 0.0];
            let sum = (s.x + s.y + s.z + e.x + e.y + e.z) * 0.0;
            if sum != 0.0 && vertex.iter().any(|c| !c.is_finite()) {
                vertex[0] = f32::NAN;
                is_finite = false;
            }
        }
        self.fit(margin, is_finite);
        if self.size > DECAY * self.built_size
            && is_finite
            && start.iter().all(|p| p.amax() < LARGEST)
        {
            self.rebuild(start);
            self.fit(margin, is_finite);
            self.built_size = self.size;
        }
    }

    /// Adds the pairs of triangles that come near each other, each once, the smaller index first, to `out`.
    ///
    /// Triangles that share vertices are pairs like others. The order is fixed by the tree.
    ///
    /// # Errors
    ///
    /// [`GeomError::TooManyPairs`] when `out` would hold more than `limit`; it holds `limit` of them then.
    pub fn self_pairs(&mut self, limit: usize, out: &mut Vec<[u32; 2]>) -> Result<(), GeomError> {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        if self.tree.is_some() {
            stack.push([0, 0]);
        }
        let mut search = Search {
            a: self,
            b: self,
            is_self: true,
            limit,
            out,
        };
        let result = dispatch!(self.level, simd => search.run(simd, &mut stack));
        self.stack = stack;
        result
    }

    /// Adds the pairs of a triangle of this mesh and one of `other` that come near each other to `out`.
    ///
    /// Both have to be refitted to the same span of time. The margins add up to half of each.
    ///
    /// # Errors
    ///
    /// As [`self_pairs`](Self::self_pairs).
    pub fn pairs_with(
        &mut self,
        other: &Self,
        limit: usize,
        out: &mut Vec<[u32; 2]>,
    ) -> Result<(), GeomError> {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        if self.tree.is_some() && other.tree.is_some() {
            stack.push([0, 0]);
        }
        let mut search = Search {
            a: self,
            b: other,
            is_self: false,
            limit,
            out,
        };
        let result = dispatch!(self.level, simd => search.run(simd, &mut stack));
        self.stack = stack;
        result
    }

    /// Adds the triangles that come near the hull of some points that move, to `out`, by index in the mesh.
    ///
    /// * `start`, `end`: low and high corners of a box about the points at the start and at the end.
    pub fn near(&mut self, start: [Vec3; 2], end: [Vec3; 2], out: &mut Vec<u32>) {
        let join = |s: Vec3, e: Vec3| [s.x, s.y, s.z, 0.0, e.x, e.y, e.z, 0.0];
        let query = MovingBox {
            low: join(start[0], end[0]),
            high: join(start[1], end[1]),
        };
        let Some(tree) = &self.tree else { return };
        self.stack.clear();
        self.stack.push([0, 0]);
        dispatch!(self.level, simd => {
            while let Some([node, _]) = self.stack.pop() {
                if is_apart(simd, &self.node_boxes[node as usize], &query) {
                    continue;
                }
                if let Some(range) = tree.leaf(node as usize) {
                    let hits = range.filter(|t| !is_apart(simd, &self.triangle_boxes[*t], &query));
                    out.extend(hits.map(|t| self.order[t]));
                } else {
                    let (left, right) = tree.children(node as usize);
                    self.stack.extend([[right as u32, 0], [left as u32, 0]]);
                }
            }
        });
    }

    /// Chooses splits for where the triangles are now.
    fn rebuild(&mut self, positions: &[Vec3]) {
        if self.triangles.is_empty() {
            return;
        }
        let corners: Vec<[Vec3; 3]> = self
            .triangles
            .iter()
            .map(|t| t.map(|v| positions[v as usize]))
            .collect();
        let (tree, order) = Tree::new(&corners);
        self.triangles = order.iter().map(|&t| self.triangles[t]).collect();
        self.order = order.iter().map(|&t| self.order[t]).collect();
        self.node_boxes.clear();
        self.node_boxes.resize(tree.node_count(), EMPTY);
        self.tree = Some(tree);
        self.built_size = f32::INFINITY;
    }

    fn fit(&mut self, margin: f32, is_finite: bool) {
        let Some(tree) = &self.tree else { return };
        let half = (margin * 0.5).max(0.0);
        let extent = dispatch!(self.level, simd => fit(simd, &mut Fit {
            tree,
            triangles: &self.triangles,
            vertices: &self.vertices,
            is_finite,
            node_boxes: &mut self.node_boxes,
            triangle_boxes: &mut self.triangle_boxes,
        }, half));
        self.size = extent - 3.0 * 2.0 * half * self.node_boxes.len() as f32;
        if self.built_size == f32::INFINITY {
            self.built_size = self.size;
        }
    }
}

/// What a refit reads and writes.
struct Fit<'a> {
    tree: &'a Tree,
    triangles: &'a [[u32; 3]],
    vertices: &'a [Lanes],
    is_finite: bool,
    node_boxes: &'a mut [MovingBox],
    triangle_boxes: &'a mut [MovingBox],
}

/// Computes every box from what is below it, children before parents; answers the sum of the nodes' extents at the start.
#[inline(always)]
fn fit<S: Simd>(simd: S, work: &mut Fit<'_>, half_margin: f32) -> f32 {
    let half_margin = f32x8::splat(simd, half_margin);
    let mut extents = f32x8::splat(simd, 0.0);
    for index in (0..work.node_boxes.len()).rev() {
        let (low, high);
        if let Some(range) = work.tree.leaf(index) {
            let (mut l, mut h) = (
                f32x8::splat(simd, f32::INFINITY),
                f32x8::splat(simd, f32::NEG_INFINITY),
            );
            let triangles = work.triangles[range.clone()].iter();
            for (triangle, bounds) in triangles.zip(&mut work.triangle_boxes[range]) {
                let rows = triangle.map(|v| &work.vertices[v as usize]);
                if !work.is_finite && rows.iter().any(|row| row[0].is_nan()) {
                    *bounds = EMPTY;
                    continue;
                }
                let [a, b, c] = [
                    f32x8::from_slice(simd, rows[0]),
                    f32x8::from_slice(simd, rows[1]),
                    f32x8::from_slice(simd, rows[2]),
                ];
                let triangle_low = a.min(b).min(c) - half_margin;
                let triangle_high = a.max(b).max(c) + half_margin;
                triangle_low.store_slice(&mut bounds.low);
                triangle_high.store_slice(&mut bounds.high);
                l = l.min(triangle_low);
                h = h.max(triangle_high);
            }
            (low, high) = (l, h);
        } else {
            let (left, right) = work.tree.children(index);
            let (left, right) = (&work.node_boxes[left], &work.node_boxes[right]);
            low = f32x8::from_slice(simd, &left.low).min(f32x8::from_slice(simd, &right.low));
            high = f32x8::from_slice(simd, &left.high).max(f32x8::from_slice(simd, &right.high));
        }
        low.store_slice(&mut work.node_boxes[index].low);
        high.store_slice(&mut work.node_boxes[index].high);
        extents += high - low;
    }
    let extents: Lanes = extents.into();
    extents[0] + extents[1] + extents[2]
}

/// True if one axis and side separates two boxes both at the start and at the end.
#[inline(always)]
fn is_apart<S: Simd>(simd: S, a: &MovingBox, b: &MovingBox) -> bool {
    let above = f32x8::from_slice(simd, &b.low) - f32x8::from_slice(simd, &a.high);
    let below = f32x8::from_slice(simd, &a.low) - f32x8::from_slice(simd, &b.high);
    let (above_start, above_end) = simd.split_f32x8(above);
    let (below_start, below_end) = simd.split_f32x8(below);
    let gap = above_start.min(above_end).max(below_start.min(below_end));
    simd.any_true_mask32x4(simd.simd_gt_f32x4(gap, f32x4::splat(simd, 0.0)))
}

/// A walk down two trees at once.
struct Search<'a> {
    a: &'a MovingBvh,
    b: &'a MovingBvh,
    is_self: bool,
    limit: usize,
    out: &'a mut Vec<[u32; 2]>,
}

impl Search<'_> {
    #[inline(always)]
    fn run<S: Simd>(&mut self, simd: S, stack: &mut Vec<[u32; 2]>) -> Result<(), GeomError> {
        let (Some(tree_a), Some(tree_b)) = (&self.a.tree, &self.b.tree) else {
            return Ok(());
        };
        while let Some([a, b]) = stack.pop() {
            let (a, b) = (a as usize, b as usize);
            let leaves = (tree_a.leaf(a), tree_b.leaf(b));
            if self.is_self && a == b {
                if let Some(range) = leaves.0 {
                    for i in range.clone() {
                        self.pair(simd, i, i + 1..range.end);
                    }
                } else {
                    let (left, right) = tree_a.children(a);
                    let (left, right) = (left as u32, right as u32);
                    stack.extend([[right, right], [left, left]]);
                    self.visit(simd, stack, left, right);
                }
                continue;
            }
            match leaves {
                (Some(range_a), Some(range_b)) => {
                    for i in range_a {
                        if !is_apart(simd, &self.a.triangle_boxes[i], &self.b.node_boxes[b]) {
                            self.pair(simd, i, range_b.clone());
                        }
                    }
                    if self.out.len() > self.limit {
                        let count = self.out.len();
                        self.out.truncate(self.limit);
                        return Err(GeomError::TooManyPairs {
                            count,
                            limit: self.limit,
                        });
                    }
                }
                (None, Some(_)) => {
                    let (left, right) = tree_a.children(a);
                    self.visit(simd, stack, right as u32, b as u32);
                    self.visit(simd, stack, left as u32, b as u32);
                }
                (Some(_), None) => {
                    let (left, right) = tree_b.children(b);
                    self.visit(simd, stack, a as u32, right as u32);
                    self.visit(simd, stack, a as u32, left as u32);
                }
                (None, None) => {
                    let ((al, ar), (bl, br)) = (tree_a.children(a), tree_b.children(b));
                    for [i, j] in [[ar, br], [ar, bl], [al, br], [al, bl]] {
                        self.visit(simd, stack, i as u32, j as u32);
                    }
                }
            }
        }
        Ok(())
    }

    /// Remembers two nodes that are not apart.
    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, stack: &mut Vec<[u32; 2]>, a: u32, b: u32) {
        if !is_apart(
            simd,
            &self.a.node_boxes[a as usize],
            &self.b.node_boxes[b as usize],
        ) {
            stack.push([a, b]);
        }
    }

    /// Adds the pairs of one triangle with those of a range that are not apart.
    #[inline(always)]
    fn pair<S: Simd>(&mut self, simd: S, i: usize, others: std::ops::Range<usize>) {
        for j in others {
            if is_apart(simd, &self.a.triangle_boxes[i], &self.b.triangle_boxes[j]) {
                continue;
            }
            let (i, j) = (self.a.order[i], self.b.order[j]);
            let pair = if self.is_self {
                [i.min(j), i.max(j)]
            } else {
                [i, j]
            };
            self.out.push(pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives;
    use proptest::prelude::*;

    /// What a full scan finds.
    fn scan(start: &[Vec3], end: &[Vec3], triangles: &[[u32; 3]], margin: f32) -> Vec<[u32; 2]> {
        let bounds = |positions: &[Vec3], t: [u32; 3]| {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            (
                a.inf(&b).inf(&c).add_scalar(-margin * 0.5),
                a.sup(&b).sup(&c).add_scalar(margin * 0.5),
            )
        };
        let mut pairs = Vec::new();
        for i in 0..triangles.len() {
            for j in i + 1..triangles.len() {
                let [a, b] =
                    [i, j].map(|t| [bounds(start, triangles[t]), bounds(end, triangles[t])]);
                let is_apart = (0..3).any(|axis| {
                    let above = (0..2).all(|k| a[k].0[axis] > b[k].1[axis]);
                    let below = (0..2).all(|k| b[k].0[axis] > a[k].1[axis]);
                    above || below
                });
                if !is_apart {
                    pairs.push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }

    fn sorted_pairs(bvh: &mut MovingBvh) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        bvh.self_pairs(usize::MAX, &mut pairs).unwrap();
        pairs.sort_unstable();
        pairs
    }

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        let c = -size..size;
        [c.clone(), c.clone(), c].prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn the_hierarchy_finds_what_a_full_scan_finds(
            points in proptest::collection::vec((vector(3.0), vector(1.0)), 3..60), margin in 0.0f32..0.3,
        ) {
            let start: Vec<Vec3> = points.iter().map(|p| p.0).collect();
            let end: Vec<Vec3> = points.iter().map(|p| p.0 + p.1).collect();
            let triangles: Vec<_> = (0..start.len() as u32 - 2).map(|i| [i, i + 1, i + 2]).collect();
            let mut bvh = MovingBvh::new(&start, &triangles).unwrap();
            bvh.refit(&start, &end, margin);
            prop_assert_eq!(sorted_pairs(&mut bvh), scan(&start, &end, &triangles, margin));
        }
    }

    #[test]
    fn what_moves_together_makes_no_pairs_but_those_at_rest() {
        let sheet = primitives::grid(20, 20, 0.1);
        let start = &sheet.rest.positions;
        let mut bvh = MovingBvh::new(start, &sheet.triangles).unwrap();
        let at_rest = sorted_pairs(&mut bvh);
        let end: Vec<Vec3> = start
            .iter()
            .map(|p| p + Vec3::new(64.0, -32.0, 128.0))
            .collect();
        bvh.refit(start, &end, 0.0);
        // Far away a coordinate is coarser, so boxes that touch at the start may part; none is added.
        assert!(
            sorted_pairs(&mut bvh)
                .iter()
                .all(|pair| at_rest.binary_search(pair).is_ok())
        );
    }

    #[test]
    fn two_sheets_that_pass_through_each_other_are_found() {
        let sheet = primitives::grid(10, 10, 0.1);
        let at = |y: f32| -> Vec<Vec3> {
            sheet
                .rest
                .positions
                .iter()
                .map(|p| p + Vec3::y() * y)
                .collect()
        };
        let [mut upper, mut lower] =
            [at(1.0), at(-1.0)].map(|p| MovingBvh::new(&p, &sheet.triangles).unwrap());
        let mut pairs = Vec::new();
        upper.refit(&at(1.0), &at(-1.0), 0.0);
        lower.refit(&at(-1.0), &at(1.0), 0.0);
        upper.pairs_with(&lower, usize::MAX, &mut pairs).unwrap();
        for triangle in 0..sheet.triangles.len() as u32 {
            assert!(pairs.contains(&[triangle, triangle]));
        }
        let mut near = Vec::new();
        upper.near([Vec3::zeros(); 2], [Vec3::zeros(); 2], &mut near);
        assert!(!near.is_empty() && near.len() < 40, "{}", near.len());
    }

    #[test]
    fn boxes_at_powers_of_two_do_not_overflow_any_stack() {
        let positions: Vec<Vec3> = (0..120)
            .flat_map(|i| {
                let s = libm::exp2f(i as f32 * 0.8 - 50.0);
                [
                    Vec3::repeat(s),
                    Vec3::new(s * 1.1, s, s),
                    Vec3::new(s, s * 1.1, s),
                ]
            })
            .collect();
        let triangles: Vec<_> = (0..120).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let mut bvh = MovingBvh::new(&positions, &triangles).unwrap();
        assert!(sorted_pairs(&mut bvh).is_empty());
    }

    #[test]
    fn points_that_are_not_finite_are_near_nothing_and_bad_meshes_are_refused() {
        let sheet = primitives::grid(4, 4, 0.1);
        let mut bvh = MovingBvh::new(&sheet.rest.positions, &sheet.triangles).unwrap();
        let mut broken = sheet.rest.positions.clone();
        broken[12] = Vec3::new(0.0, f32::NAN, f32::INFINITY);
        bvh.refit(&sheet.rest.positions, &broken, 0.1);
        for [a, b] in sorted_pairs(&mut bvh) {
            assert!(
                ![a, b]
                    .iter()
                    .any(|t| sheet.triangles[*t as usize].contains(&12))
            );
        }
        bvh.refit(&vec![Vec3::repeat(f32::NAN); 25], &broken, f32::NAN);
        assert!(sorted_pairs(&mut bvh).is_empty());
        assert_eq!(
            MovingBvh::new(&broken, &sheet.triangles).unwrap_err(),
            GeomError::NotFinite { vertex: 12 }
        );
        assert!(MovingBvh::new(&sheet.rest.positions, &[[0, 1, 99]]).is_err());
        assert!(sorted_pairs(&mut MovingBvh::new(&[], &[]).unwrap()).is_empty());
    }

    #[test]
    fn triangles_without_area_are_points_and_segments() {
        let positions = [Vec3::zeros(), Vec3::x(), Vec3::new(0.5, 0.0, 0.0)];
        let mut bvh =
            MovingBvh::new(&positions, &[[0, 0, 0], [0, 1, 1], [2, 2, 2], [1, 1, 1]]).unwrap();
        assert_eq!(sorted_pairs(&mut bvh), [[0, 1], [1, 2], [1, 3]]);
    }

    #[test]
    fn too_many_pairs_are_an_error_with_their_count() {
        let positions = vec![Vec3::zeros(); 3];
        let mut bvh = MovingBvh::new(&positions, &vec![[0, 1, 2]; 1000]).unwrap();
        let mut pairs = Vec::new();
        let error = bvh.self_pairs(5000, &mut pairs).unwrap_err();
        assert!(
            matches!(error, GeomError::TooManyPairs { count, limit: 5000 } if count > 5000),
            "{error}"
        );
        assert_eq!(pairs.len(), 5000);
    }

    #[test]
    fn a_vertex_that_flies_off_pairs_only_its_own_triangles() {
        let sheet = primitives::grid(30, 30, 0.1);
        let mut bvh = MovingBvh::new(&sheet.rest.positions, &sheet.triangles).unwrap();
        let before = sorted_pairs(&mut bvh).len();
        let mut end = sheet.rest.positions.clone();
        end[500] = Vec3::repeat(1e6);
        bvh.refit(&sheet.rest.positions, &end, 0.0);
        assert!(sorted_pairs(&mut bvh).len() < before + 8 * sheet.triangles.len());
    }

    #[test]
    fn a_mesh_that_is_shuffled_is_built_anew_and_finds_the_same() {
        let sheet = primitives::grid(20, 20, 0.1);
        let mut bvh = MovingBvh::new(&sheet.rest.positions, &sheet.triangles).unwrap();
        let shuffled: Vec<Vec3> = (0..21 * 21)
            .map(|v| sheet.rest.positions[v * 100 % 441])
            .collect();
        bvh.refit(&shuffled, &shuffled, 0.01);
        let mut fresh = MovingBvh::new(&shuffled, &sheet.triangles).unwrap();
        fresh.refit(&shuffled, &shuffled, 0.01);
        assert!(bvh.size <= fresh.size * 1.01, "{} {}", bvh.size, fresh.size);
        assert_eq!(sorted_pairs(&mut bvh), sorted_pairs(&mut fresh));
    }

    #[test]
    fn every_instruction_set_finds_the_same_pairs_in_the_same_order() {
        let sheet = primitives::sphere(1.0, 20, 20);
        let [best, plain] = [Level::new(), Level::baseline()].map(|level| {
            let mut bvh = MovingBvh::new(&sheet.rest.positions, &sheet.triangles).unwrap();
            bvh.level = level;
            bvh.refit(&sheet.rest.positions, &sheet.rest.positions, 0.2);
            let mut pairs = Vec::new();
            bvh.self_pairs(usize::MAX, &mut pairs).unwrap();
            pairs
        });
        assert_eq!(best, plain);
    }
}
