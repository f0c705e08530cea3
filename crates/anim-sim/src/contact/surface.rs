//! The surface of a model as contact sees it: who owns which vertex and edge, what surrounds each vertex, and the boxes.

use anim_geom::topology::half_edges;
use anim_geom::{GeomError, MovingBvh};
use anim_math::Vec3;

use crate::model::Model;

/// Pairs of triangles in a list, for each triangle: more would mean that the whole surface is in one place.
const MAX_PAIRS: usize = 256;

/// Triangles by slot, and what is fixed about them.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub(super) triangles: Vec<[u32; 3]>,
    /// P by slot, where the vertices rest.
    pub(super) rest: Vec<Vec3>,
    /// Of each triangle: which corners (bits 0 to 2) and which sides (bits 3 to 5) it answers for.
    pub(super) owned: Vec<u8>,
    /// Of each side of each triangle: the other triangle there, or `u32::MAX`.
    pub(super) across: Vec<[u32; 3]>,
    /// The triangles around each vertex: those of vertex v are `around[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    around: Vec<u32>,
    /// By slot: its triangles are one fan, at most two at each edge.
    is_fan: Vec<bool>,
    /// By slot: its triangles lie open throughout the expected motion.
    pub(super) is_open: Vec<bool>,
    /// Of each triangle: it and all triangles up to two vertices away face one way throughout the expected motion.
    is_smooth: Vec<bool>,
    /// Vertices of the triangles around each triangle, its own among them: those of triangle t are
    /// `reached[reach_first[t]..reach_first[t + 1]]`.
    reach_first: Vec<u32>,
    reached: Vec<u32>,
    /// By slot: which way its triangles face, and the chord from there to the farthest view in which all of them still do so
    /// throughout the motion; negative where there is none.
    views: Vec<(Vec3, f32)>,
    areas: Vec<Areas>,
    /// Mean length of the edges at rest, m.
    pub(super) edge_length: f32,
    pub(super) bvh: MovingBvh,
    positions: [Vec<Vec3>; 2],
    found: Vec<[u32; 2]>,
}

/// How a triangle faces during a motion.
#[derive(Clone, Copy, Debug, Default)]
struct Areas {
    /// Twice its area times its normal, a quadratic function of time.
    bernstein: [Vec3; 3],
    /// Their directions.
    directions: [Vec3; 3],
    /// Length of the first and of the longest.
    size: f32,
    most: f32,
    /// What straying corners may take, as part of the shortest.
    need: f32,
    /// By how much it may change if the corners stray from their lines, m².
    stray: f32,
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
        let (mut length, mut edges) = (0.0, 0.0);
        for shared in half_edges(&triangles).chunk_by(|a, b| a.ends == b.ends) {
            let edge = shared[0];
            owned[edge.triangle as usize] |= 8 << edge.side;
            length += (rest[edge.ends[0] as usize] - rest[edge.ends[1] as usize]).norm();
            edges += 1.0;
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
        Some(Self {
            areas: vec![Areas::default(); triangles.len()],
            is_smooth: vec![false; triangles.len()],
            views: vec![(Vec3::zeros(), -1.0); rest.len()],
            reach_first,
            reached,
            is_open: vec![false; rest.len()],
            positions: [rest.clone(), rest.clone()],
            found: Vec::new(),
            edge_length: length / edges,
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

    /// Where the motion of the next refit begins and, after `time` seconds, ends.
    pub(super) fn place(&mut self, start: &[[f32; 4]], velocities: &[[f32; 4]], time: f32) {
        let [from, to] = &mut self.positions;
        for (slot, position) in from.iter_mut().enumerate() {
            *position = super::vector(start[slot]);
        }
        to.copy_from_slice(from);
        for (position, velocity) in to.iter_mut().zip(velocities) {
            *position += super::vector(*velocity) * time;
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
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        self.bvh.self_pairs(limit, &mut found)?;
        Ok(found)
    }

    /// Gives a list back, so that its memory serves again.
    pub(super) fn recycle(&mut self, found: Vec<[u32; 2]>) {
        self.found = found;
    }

    pub(super) fn around(&self, vertex: u32) -> &[u32] {
        let v = vertex as usize;
        &self.around[self.first[v] as usize..self.first[v + 1] as usize]
    }

    /// From where to where four vertices move.
    #[inline]
    pub(super) fn path(&self, vertices: [u32; 4]) -> [[Vec3; 4]; 2] {
        let [from, to] = &self.positions;
        [
            vertices.map(|v| from[v as usize]),
            vertices.map(|v| to[v as usize]),
        ]
    }

    /// True if the plane of one of two triangles keeps them more than `margin` apart throughout the motion; needs
    /// [`find_open`](Self::find_open).
    #[inline]
    pub(super) fn are_apart(&self, pair: [u32; 2], margin: f32) -> bool {
        let [a, b] = pair.map(|t| self.triangles[t as usize]);
        let [from, to] = &self.positions;
        let at = |positions: &[Vec3], t: [u32; 3]| t.map(|v| positions[v as usize]);
        let (a, b) = ([at(from, a), at(to, a)], [at(from, b), at(to, b)]);
        pair.iter().any(|t| {
            let normal = self.areas[*t as usize].bernstein[0];
            let margin = margin * self.areas[*t as usize].size;
            let [first, last] = [0, 1].map(|end: usize| {
                let base = a[end][0];
                let [_, a1, a2] = a[end].map(|p| (p - base).dot(&normal));
                let [b0, b1, b2] = b[end].map(|p| (p - base).dot(&normal));
                let (low, high) = (a1.min(a2).min(0.0), a1.max(a2).max(0.0));
                [low - b0.max(b1).max(b2), b0.min(b1).min(b2) - high]
            });
            first[0].min(last[0]).max(first[1].min(last[1])) > margin
        })
    }

    /// Finds the vertices whose triangles keep facing one way throughout the motion, even if each corner strays by `slack`.
    ///
    /// Seen from that way such a fan of triangles is a map without folds, so that none of them meets another. The area of a
    /// triangle in that view is quadratic in time; its three Bernstein coefficients bound it.
    ///
    /// Source of the criterion: Volino and Magnenat-Thalmann, "Efficient self-collision detection on smoothly discretized
    /// surface animations using geometrical shape regularity", Eurographics 1994.
    pub(super) fn find_open(&mut self, slack: f32) {
        let [from, to] = &self.positions;
        for (areas, triangle) in self.areas.iter_mut().zip(&self.triangles) {
            let sides = |positions: &[Vec3]| {
                let [a, b, c] = triangle.map(|v| positions[v as usize]);
                (b - a, c - a)
            };
            let ((u0, v0), (u1, v1)) = (sides(from), sides(to));
            let long = (u0.norm() + v0.norm()).max(u1.norm() + v1.norm());
            // Each side changes by what both of its ends stray.
            let stray = 2.0 * slack * long + 4.0 * slack * slack;
            let bernstein = [
                u0.cross(&v0),
                (u0.cross(&v1) + u1.cross(&v0)) * 0.5,
                u1.cross(&v1),
            ];
            let sizes = bernstein.map(|area| area.norm());
            let [a, b, c] = sizes;
            let shortest = a.min(b).min(c).max(f32::MIN_POSITIVE);
            *areas = Areas {
                directions: [0, 1, 2]
                    .map(|k: usize| bernstein[k] / sizes[k].max(f32::MIN_POSITIVE)),
                size: a,
                most: a.max(b).max(c),
                need: stray / shortest,
                bernstein,
                stray,
            };
        }
        for vertex in 0..self.rest.len() {
            self.is_open[vertex] = self.is_fan[vertex] && self.is_open_fan(vertex as u32);
            self.views[vertex] = if self.is_open[vertex] {
                self.view(vertex as u32)
            } else {
                (Vec3::zeros(), -1.0)
            };
        }
        for triangle in 0..self.triangles.len() {
            let (view, _) = self.views[self.triangles[triangle][0] as usize];
            let is_near = |v: &u32| {
                let (other, room) = self.views[*v as usize];
                room > 0.0 && (other - view).norm_squared() < room * room
            };
            self.is_smooth[triangle] = self.reached_from(triangle).iter().all(is_near);
        }
    }

    /// The mean direction in which the triangles around a vertex face, and how far from it others may look at them.
    ///
    /// Seen at the angle θ an area counts cos θ of its size, more than a half, and more than what straying corners take. The
    /// chord 2 sin θ/2 between unit vectors obeys the triangle inequality.
    fn view(&self, vertex: u32) -> (Vec3, f32) {
        let fan = self.around(vertex).iter().map(|t| &self.areas[*t as usize]);
        let sum = fan
            .clone()
            .fold(Vec3::zeros(), |sum, areas| sum + areas.bernstein[0]);
        let view = sum.try_normalize(0.0).unwrap_or_default();
        let (mut farthest, mut least_cosine) = (0.0f32, 0.5f32);
        for areas in fan {
            least_cosine = least_cosine.max(areas.need);
            for direction in &areas.directions {
                farthest = farthest.max((direction - view).norm_squared());
            }
        }
        let chord = (2.0 * (1.0 - least_cosine)).max(0.0).sqrt();
        (view, chord - farthest.sqrt())
    }

    fn reached_from(&self, triangle: usize) -> &[u32] {
        let range = self.reach_first[triangle] as usize..self.reach_first[triangle + 1] as usize;
        &self.reached[range]
    }

    /// True if two triangles lie in one patch that faces one way throughout the motion: seen from there it is a map without
    /// folds, too small to wind around, so that they cannot meet. Needs [`find_open`](Self::find_open).
    #[inline]
    pub(super) fn are_in_one_patch(&self, [a, b]: [u32; 2]) -> bool {
        let (a, b) = match self.is_smooth[a as usize] {
            true => (a, b),
            false => (b, a),
        };
        self.is_smooth[a as usize] && {
            let reached = self.reached_from(a as usize);
            let corners = self.triangles[b as usize];
            reached.iter().any(|v| corners.contains(v))
        }
    }

    fn is_open_fan(&self, vertex: u32) -> bool {
        let fan = self.around(vertex).iter().map(|t| &self.areas[*t as usize]);
        let sum = fan
            .clone()
            .flat_map(|areas| areas.bernstein)
            .fold(Vec3::zeros(), |sum, a| sum + a);
        let Some(view) = sum.try_normalize(0.0) else {
            return false;
        };
        fan.into_iter().all(|areas| {
            let least = areas
                .bernstein
                .iter()
                .map(|a| a.dot(&view))
                .fold(f32::INFINITY, f32::min);
            // Within 60 degrees of the view, angles do not grow so much that the fan could wind around twice.
            least > areas.stray && least > 0.5 * areas.most
        })
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
