//! A bounding volume hierarchy over a mesh that moves: which triangles come near each other during a motion.
//!
//! Each node has a box at the start and a box at the end of a linear motion. Two nodes stay apart if one axis and side
//! separates them at both ends, so what moves along together makes no pairs, however fast it goes. Eight boxes lie side by
//! side and are tested at once. The splits are chosen once; a refit costs a few nanoseconds a triangle, and the tree is
//! rebuilt when motion has blown up its boxes.
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

mod boxes;
mod fit;
mod order;
mod search;

use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Level, Simd, dispatch};

use crate::GeomError;
use crate::mesh::check_triangles;
use crate::mesh_bvh::LARGEST;
use boxes::{Boxes, MovingBox, Probe};
use fit::moving_vertex;
use order::cluster;
use search::Search;

/// A tree whose boxes have grown to this multiple of their size is built anew.
const DECAY: f32 = 1.5;

/// The triangles of one mesh during a motion; owns its scratch.
#[derive(Clone, Debug)]
pub struct MovingBvh {
    level: Level,
    /// The index of each triangle of the tree's order, by eights; the last may be short of some.
    order: Vec<[u32; LANES]>,
    /// F in the tree's order.
    triangles: Vec<[u32; 3]>,
    /// F, where each triangle stands in that order.
    place: Vec<u32>,
    /// V: x, y, z at the start, 0, x, y, z at the end, 0; NaN where any of them is not finite.
    vertices: Vec<Lanes>,
    /// Boxes of the triangles, of eights of them, of eights of those, up to the one about all; empty without triangles.
    levels: Vec<Vec<Boxes>>,
    /// For each eight of each level a bit for each that the last [`refit_some`](Self::refit_some) has changed.
    changed: Vec<Vec<u8>>,
    /// Of the last refit, metres.
    margin: f32,
    /// Scratch of a refit: the boxes of one level, each by itself.
    wholes: Vec<MovingBox>,
    /// Sum of the extents of the boxes above triangles when the tree was built, metres.
    built_size: f32,
    /// The same after the last refit.
    size: f32,
    stack: Vec<(Node, Node)>,
}

impl MovingBvh {
    /// Chooses the splits for `triangles` where they are, at rest. O(F log F).
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
            order: by_eights(0..triangles.len() as u32),
            triangles: triangles.to_vec(),
            place: Vec::new(),
            vertices: vec![[0.0; LANES]; positions.len()],
            levels: Vec::new(),
            changed: Vec::new(),
            margin: 0.0,
            wholes: Vec::new(),
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
            *vertex = moving_vertex(s, e);
            is_finite &= !vertex[0].is_nan();
        }
        self.margin = margin;
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

    /// As [`refit`](Self::refit) by the same margin, where the corners of no other than these triangles have changed since.
    ///
    /// In proportion to their number, and to that of the boxes about them. Where the margin is another one, everything is
    /// refitted. Triangles beyond the last change nothing.
    ///
    /// # Panics
    ///
    /// As [`refit`](Self::refit).
    pub fn refit_some(&mut self, start: &[Vec3], end: &[Vec3], margin: f32, triangles: &[u32]) {
        if margin != self.margin {
            self.refit(start, end, margin);
        }
        assert_eq!(
            (start.len(), end.len()),
            (self.vertices.len(), self.vertices.len()),
            "a position for each vertex"
        );
        self.changed.iter_mut().for_each(|bits| bits.fill(0));
        for place in triangles.iter().filter_map(|t| self.place.get(*t as usize)) {
            let place = *place as usize;
            self.changed[0][place / LANES] |= 1 << (place % LANES);
            for vertex in self.triangles[place].map(|v| v as usize) {
                self.vertices[vertex] = moving_vertex(&start[vertex], &end[vertex]);
            }
        }
        let half = (margin * 0.5).clamp(0.0, LARGEST);
        dispatch!(self.level, simd => self.fit_changed(simd, half));
    }

    /// Adds those of the [`self_pairs`](Self::self_pairs) of which at least one triangle is among those of the last
    /// [`refit_some`](Self::refit_some).
    ///
    /// # Errors
    ///
    /// As [`self_pairs`](Self::self_pairs).
    pub fn changed_pairs(
        &mut self,
        limit: usize,
        out: &mut Vec<[u32; 2]>,
    ) -> Result<(), GeomError> {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        stack.extend(self.root().zip(self.root()));
        let mut search = Search::<true, true>::new(self, self, limit, out);
        let result = dispatch!(self.level, simd => search.run(simd, &mut stack));
        self.stack = stack;
        result
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
        stack.extend(self.root().zip(self.root()));
        let mut search = Search::<true, false>::new(self, self, limit, out);
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
        stack.extend(self.root().zip(other.root()));
        let mut search = Search::<false, false>::new(self, other, limit, out);
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
        self.stack.clear();
        self.stack.extend(self.root().map(|root| (root, root)));
        dispatch!(self.level, simd => {
            let probe = Probe::new(simd, &query);
            while let Some((node, _)) = self.stack.pop() {
                let mut hits = self.below(node).near(simd, &probe);
                while hits != 0 {
                    // The last comes first, so that the stack gives them back in order.
                    let lane = if node.level == 1 {
                        hits.trailing_zeros()
                    } else {
                        hits.ilog2()
                    };
                    hits &= !(1 << lane);
                    let child = node.child(lane);
                    if child.level == 0 {
                        out.push(self.order.as_flattened()[child.index as usize]);
                    } else {
                        self.stack.push((child, child));
                    }
                }
            }
        });
    }

    /// The box about everything; `None` without triangles.
    fn root(&self) -> Option<Node> {
        let level = self.levels.len().checked_sub(1)? as u32;
        Some(Node { level, index: 0 })
    }

    /// The eight boxes in a box that is no triangle's.
    #[inline(always)]
    fn below(&self, node: Node) -> &Boxes {
        &self.levels[node.level as usize - 1][node.index as usize]
    }

    #[inline(always)]
    fn probe<S: Simd>(&self, simd: S, node: Node) -> Probe<S> {
        let (block, lane) = (node.index as usize / LANES, node.index as usize % LANES);
        self.levels[node.level as usize][block].probe(simd, lane)
    }

    /// Chooses splits for where the triangles are now.
    fn rebuild(&mut self, positions: &[Vec3]) {
        if self.triangles.is_empty() {
            return;
        }
        let centers: Vec<Vec3> = self
            .triangles
            .iter()
            .map(|t| t.iter().map(|v| positions[*v as usize] / 3.0).sum())
            .collect();
        let mut order: Vec<u32> = (0..centers.len() as u32).collect();
        cluster(&centers, &mut order);
        self.triangles = order.iter().map(|t| self.triangles[*t as usize]).collect();
        let before = self.order.as_flattened();
        self.order = by_eights(order.iter().map(|t| before[*t as usize]));
        self.place.resize(self.triangles.len(), 0);
        let known = self.order.as_flattened().iter().take(self.triangles.len());
        for (place, triangle) in known.enumerate() {
            self.place[*triangle as usize] = place as u32;
        }
        self.levels.clear();
        self.changed.clear();
        let mut count = self.triangles.len();
        loop {
            let blocks = count.div_ceil(LANES);
            self.levels.push(vec![Boxes::EMPTY; blocks]);
            self.changed.push(vec![0; blocks]);
            if count == 1 && self.levels.len() > 1 {
                break;
            }
            count = blocks;
        }
        self.wholes.resize(self.levels[0].len(), MovingBox::EMPTY);
        self.built_size = f32::INFINITY;
    }
}

/// A box of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// 0 for triangles.
    level: u32,
    index: u32,
}

impl Node {
    #[inline(always)]
    fn child(self, lane: u32) -> Self {
        Self {
            level: self.level - 1,
            index: self.index * LANES as u32 + lane,
        }
    }
}

/// The last eight may be short of some, which are then out of any range.
fn by_eights(indices: impl Iterator<Item = u32>) -> Vec<[u32; LANES]> {
    let mut indices = indices.peekable();
    let mut eights = Vec::new();
    while indices.peek().is_some() {
        eights.push(std::array::from_fn(|_| indices.next().unwrap_or(u32::MAX)));
    }
    eights
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

    #[test]
    fn what_has_changed_finds_the_pairs_that_all_would_find() {
        let n = 24;
        let at = |v: u32| {
            let (x, z) = ((v % n) as f32, (v / n) as f32);
            Vec3::new(x, 2.0 * (0.9 * x).sin(), z) * 0.05
        };
        let mut start: Vec<Vec3> = (0..n * n).map(at).collect();
        let triangles: Vec<_> = (0..n * (n - 1))
            .filter(|v| v % n != n - 1)
            .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
            .collect();
        let mut end: Vec<Vec3> = start.iter().map(|p| p * 1.01).collect();
        let mut bvh = MovingBvh::new(&start, &triangles).unwrap();
        bvh.refit(&start, &end, 0.01);
        let before = sorted_pairs(&mut bvh);
        // A few vertices go elsewhere, one of them nowhere at all, and one triangle comes back.
        for v in [5, 77, 78, 300, 575] {
            end[v] += Vec3::new(0.1, -0.07, 0.2);
            start[v] += Vec3::y() * 0.05;
        }
        end[200].z = f32::NAN;
        for repeat in 0..2 {
            let moved = |v: &u32| [5, 77, 78, 300, 575, 200].contains(v);
            let changed: Vec<u32> = (0..triangles.len() as u32)
                .filter(|t| triangles[*t as usize].iter().any(moved))
                .collect();
            bvh.refit_some(&start, &end, 0.01, &changed);
            let mut found = Vec::new();
            bvh.changed_pairs(usize::MAX, &mut found).unwrap();
            found.sort_unstable();
            let mut fresh = MovingBvh::new(&start, &triangles).unwrap();
            fresh.refit(&start, &end, 0.01);
            let all = sorted_pairs(&mut fresh);
            let is_changed = |pair: &&[u32; 2]| pair.iter().any(|t| changed.contains(t));
            let expected: Vec<[u32; 2]> = all.iter().filter(is_changed).copied().collect();
            assert_eq!(found, expected, "{repeat}");
            assert_eq!(sorted_pairs(&mut bvh), all, "{repeat}");
            assert_ne!(all, before);
            end[200].z = at(200).z;
        }
        // Another margin, and nothing known.
        bvh.refit_some(&start, &end, 0.02, &[u32::MAX]);
        let mut found = Vec::new();
        bvh.changed_pairs(usize::MAX, &mut found).unwrap();
        assert_eq!(found, Vec::<[u32; 2]>::new());
        bvh.refit(&start, &end, 0.02);
        let all = sorted_pairs(&mut bvh);
        bvh.refit_some(
            &start,
            &end,
            0.02,
            &(0..triangles.len() as u32).collect::<Vec<_>>(),
        );
        bvh.changed_pairs(usize::MAX, &mut found).unwrap();
        found.sort_unstable();
        assert_eq!(found, all);
    }

    #[test]
    fn without_limit_of_distance_all_are_near() {
        // Eleven triangles: the last eight are short of five, which are near nothing.
        let positions: Vec<Vec3> = (0..13).map(|i| Vec3::x() * i as f32).collect();
        let triangles: Vec<_> = (0..11).map(|i| [i, i + 1, i + 2]).collect();
        let mut bvh = MovingBvh::new(&positions, &triangles).unwrap();
        bvh.refit(&positions, &positions, f32::INFINITY);
        assert_eq!(sorted_pairs(&mut bvh).len(), 11 * 10 / 2);
    }
}
