//! The surface of a model as contact sees it: who owns which vertex and edge, what surrounds each vertex, and the boxes.

use anim_geom::topology::half_edges;
use anim_geom::{GeomError, MovingBvh};
use anim_math::Vec3;

use super::lines::Lines;
use crate::model::Model;

/// Pairs of triangles in a list, for each triangle: more would mean that the whole surface is in one place.
const MAX_PAIRS: usize = 256;

/// Vertices that most triangles reach: in a regular mesh twelve.
pub(super) const RING: usize = 16;

/// Triangles by slot, and what is fixed about them.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) triangles: Vec<[u32; 3]>,
    /// P by slot, where the vertices rest.
    pub(super) rest: Vec<Vec3>,
    /// Of each triangle: which corners (bits 0 to 2) and which sides (bits 3 to 5) it answers for.
    pub(super) owned: Vec<u8>,
    /// Each once.
    pub(super) edges: Vec<[u32; 2]>,
    /// Of each side of each triangle: the edge.
    pub(super) edges_of: Vec<[u32; 3]>,
    /// Of each side of each triangle: the other triangle there, or `u32::MAX`.
    pub(super) across: Vec<[u32; 3]>,
    /// The triangles around each vertex: those of vertex v are `around[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    around: Vec<u32>,
    /// By slot: its triangles are one fan, at most two at each edge.
    pub(super) is_fan: Vec<bool>,
    /// Vertices of the triangles around each triangle, its own among them: those of triangle t are
    /// `reached[reach_first[t]..reach_first[t + 1]]`.
    reach_first: Vec<u32>,
    reached: Vec<u32>,
    /// The same of each triangle in a fixed number.
    pub(super) ring: Vec<Ring>,
    /// Mean length of the edges at rest, m.
    pub(super) edge_length: f32,
    pub(super) bvh: MovingBvh,
    positions: [Vec<Vec3>; 2],
    found: Vec<[u32; 2]>,
}

/// The vertices that a triangle reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// How many there are.
    pub(super) count: usize,
    /// The first of them; where they are fewer, some repeatedly.
    pub(super) slots: [u32; RING],
}

impl Surface {
    /// `None` if the model has no triangles or rests beyond what boxes can hold.
    pub(super) fn new(model: &Model) -> Option<Self> {
        let rest: Vec<Vec3> = model
            .vertex_of_slot
            .iter()
            .map(|v| model.spec.positions[*v as usize])
            .collect();
        let triangles: Vec<[u32; 3]> = model
            .triangles
            .iter()
            .copied()
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .collect();
        let bvh = MovingBvh::new(&rest, &triangles)
            .ok()
            .filter(|b| b.triangle_count() > 0)?;
        let mut owned = vec![0u8; triangles.len()];
        let mut is_taken = vec![false; rest.len()];
        let mut first = vec![0u32; rest.len() + 1];
        for (owned, triangle) in owned.iter_mut().zip(&triangles) {
            for (corner, v) in triangle.iter().enumerate() {
                if !std::mem::replace(&mut is_taken[*v as usize], true) {
                    *owned |= 1 << corner;
                }
                first[*v as usize + 1] += 1;
            }
        }
        for v in 0..rest.len() {
            first[v + 1] += first[v];
        }
        let mut next = first.clone();
        let mut around = vec![0; 3 * triangles.len()];
        for (index, triangle) in triangles.iter().enumerate() {
            for v in triangle {
                around[next[*v as usize] as usize] = index as u32;
                next[*v as usize] += 1;
            }
        }
        let mut across = vec![[u32::MAX; 3]; triangles.len()];
        let mut is_fan = vec![true; rest.len()];
        let mut borders = vec![0u32; rest.len()];
        let mut length = 0.0;
        let (mut edges, mut edges_of) = (Vec::new(), vec![[0; 3]; triangles.len()]);
        for shared in half_edges(&triangles).chunk_by(|a, b| a.ends == b.ends) {
            let edge = shared[0];
            owned[edge.triangle as usize] |= 8 << edge.side;
            length += (rest[edge.ends[0] as usize] - rest[edge.ends[1] as usize]).norm();
            for half in shared {
                edges_of[half.triangle as usize][usize::from(half.side)] = edges.len() as u32;
            }
            edges.push(edge.ends);
            match shared {
                [a, b] if a.forward != b.forward => {
                    across[a.triangle as usize][usize::from(a.side)] = b.triangle;
                    across[b.triangle as usize][usize::from(b.side)] = a.triangle;
                }
                [_] => edge.ends.iter().for_each(|v| borders[*v as usize] += 1),
                _ => edge.ends.iter().for_each(|v| is_fan[*v as usize] = false),
            }
        }
        for (is_fan, borders) in is_fan.iter_mut().zip(&borders) {
            *is_fan &= *borders == 0 || *borders == 2;
        }
        let mut reach_first = vec![0u32];
        let mut reached = Vec::new();
        for triangle in &triangles {
            let begin = reached.len();
            for v in triangle.map(|v| v as usize) {
                for near in &around[first[v] as usize..first[v + 1] as usize] {
                    reached.extend(triangles[*near as usize]);
                }
            }
            reached[begin..].sort_unstable();
            let mut kept = begin;
            for index in begin..reached.len() {
                if index == begin || reached[index] != reached[kept - 1] {
                    reached[kept] = reached[index];
                    kept += 1;
                }
            }
            reached.truncate(kept);
            reach_first.push(kept as u32);
        }
        let ring = reach_first
            .windows(2)
            .map(|range| {
                let all = &reached[range[0] as usize..range[1] as usize];
                Ring {
                    count: all.len(),
                    slots: std::array::from_fn(|i| all[i % all.len()]),
                }
            })
            .collect();
        let edge_length = length / edges.len().max(1) as f32;
        Some(Self {
            reach_first,
            reached,
            ring,
            edges,
            edges_of,
            positions: [rest.clone(), rest.clone()],
            found: Vec::new(),
            edge_length,
            triangles,
            rest,
            owned,
            across,
            first,
            around,
            is_fan,
            bvh,
        })
    }

    /// Pairs of triangles that a list may hold.
    pub(super) fn pair_limit(&self) -> usize {
        self.triangles.len().saturating_mul(MAX_PAIRS)
    }

    /// Where the motion of the next refit begins and where it ends: on lines at two times.
    pub(super) fn place(&mut self, lines: &Lines, span: [f32; 2]) {
        for (positions, time) in self.positions.iter_mut().zip(span) {
            for (slot, position) in positions.iter_mut().enumerate() {
                *position = lines.at(slot as u32, time);
            }
        }
    }

    /// The same for some vertices alone.
    pub(super) fn place_again(&mut self, lines: &Lines, span: [f32; 2], slots: &[u32]) {
        for (positions, time) in self.positions.iter_mut().zip(span) {
            for slot in slots {
                if let Some(position) = positions.get_mut(*slot as usize) {
                    *position = lines.at(*slot, time);
                }
            }
        }
    }

    /// Where the motion begins.
    pub(super) fn placed(&self) -> &[Vec3] {
        &self.positions[0]
    }

    /// Fits the boxes to the motion that was placed.
    pub(super) fn refit(&mut self, margin: f32) {
        let [from, to] = &self.positions;
        self.bvh.refit(from, to, margin);
    }

    /// The pairs of triangles that come near each other.
    pub(super) fn pairs(&mut self, limit: usize) -> Result<Vec<[u32; 2]>, GeomError> {
        let mut found = self.lend();
        self.bvh.self_pairs(limit, &mut found)?;
        Ok(found)
    }

    /// Fits the boxes to the motion of which nothing but that of some triangles has changed.
    pub(super) fn refit_some(&mut self, margin: f32, triangles: &[u32]) {
        let [from, to] = &self.positions;
        self.bvh.refit_some(from, to, margin, triangles);
    }

    /// The pairs that come near each other of which one at least has just been refitted.
    pub(super) fn changed_pairs(&mut self, limit: usize) -> Result<Vec<[u32; 2]>, GeomError> {
        let mut found = self.lend();
        self.bvh.changed_pairs(limit, &mut found)?;
        Ok(found)
    }

    /// An empty list for pairs of triangles.
    fn lend(&mut self) -> Vec<[u32; 2]> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found
    }

    /// Gives a list back, so that its memory serves again.
    pub(super) fn recycle(&mut self, found: Vec<[u32; 2]>) {
        self.found = found;
    }

    pub(super) fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.first[v] as usize..self.first[v + 1] as usize]
    }

    /// From where to where everything moves, by slot.
    pub(super) fn motion(&self) -> [&[Vec3]; 2] {
        let [from, to] = &self.positions;
        [from, to]
    }

    /// The vertices of the triangles around a triangle, its own among them.
    pub(super) fn reached_from(&self, triangle: usize) -> &[u32] {
        let range = self.reach_first[triangle] as usize..self.reach_first[triangle + 1] as usize;
        &self.reached[range]
    }

    /// True if a triangle is one of those around the vertices that another one reaches.
    #[inline(always)]
    pub(super) fn reaches(&self, from: u32, to: u32) -> bool {
        let [a, b, c] = self.triangles[to as usize];
        let is_corner = |v: u32| (v == a) | (v == b) | (v == c);
        let ring = &self.ring[from as usize];
        if ring.count > RING {
            let reached = self.reached_from(from as usize);
            return reached.iter().any(|v| is_corner(*v));
        }
        // Without a branch, so that all are compared at once.
        ring.slots.iter().fold(false, |any, v| any | is_corner(*v))
    }

    /// Flags the vertices of triangles, and those up to two edges farther.
    pub(super) fn mark_around(&self, pairs: &[[u32; 2]], flags: &mut [bool]) {
        let mut ring: Vec<u32> = pairs
            .iter()
            .flatten()
            .flat_map(|t| self.triangles[*t as usize])
            .collect();
        for _ in 0..3 {
            ring.sort_unstable();
            ring.dedup();
            ring.iter().for_each(|v| flags[*v as usize] = true);
            ring = ring
                .iter()
                .flat_map(|v| self.around(*v))
                .flat_map(|t| self.triangles[*t as usize])
                .filter(|v| !flags[*v as usize])
                .collect();
        }
    }
}
