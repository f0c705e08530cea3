//! Fast marching: a front that crosses triangles as a straight line, one vertex after the other.
//!
//! It runs on the intrinsic Delaunay triangulation, whose triangles are the best there are. An angle that is obtuse even so
//! would hide where the front comes from; there the triangles beyond are laid flat until one of their vertices splits it.
//!
//! Source: Kimmel and Sethian, "Computing geodesic paths on manifolds", PNAS 95(15), 1998.

use anim_math::Vec3;

use super::Geodesics;
use super::front::Front;
use crate::GeomError;
use crate::intrinsic::{Intrinsic, area};
use crate::laplacian::check;

/// Triangles to lay flat before an obtuse angle is left as it is.
const UNFOLDED: usize = 16;

/// Where each vertex can be reached from.
#[derive(Clone, Debug)]
pub struct FastMarching {
    vertex_count: usize,
    /// For each vertex, where its stencils start in `uses`; V + 1.
    starts: Vec<u32>,
    /// Stencils that a vertex supports.
    uses: Vec<u32>,
    stencils: Vec<Stencil>,
}

/// A triangle, real or laid flat, over which a front reaches its target.
#[derive(Clone, Copy, Debug)]
struct Stencil {
    target: u32,
    supports: [u32; 2],
    /// With the target at the origin, the supports' squared lengths and their dot product, m².
    squares: [f64; 2],
    dot: f64,
}

impl FastMarching {
    /// Prepares the stencils. O(F log F).
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`] and [`GeomError::NotFinite`].
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        Self::with_unfolding(positions, triangles, UNFOLDED)
    }

    /// Lays at most so many triangles flat at each obtuse angle.
    fn with_unfolding(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        unfolded: usize,
    ) -> Result<Self, GeomError> {
        check(positions, triangles)?;
        let surface = Intrinsic::delaunay(positions, triangles);
        let mut stencils = Vec::with_capacity(surface.origins.len());
        for slot in 0..surface.origins.len() {
            push_stencils(&surface, slot, unfolded, &mut stencils);
        }
        let mut starts = vec![0; positions.len() + 1];
        for vertex in stencils.iter().flat_map(|stencil| stencil.supports) {
            starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..positions.len() {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut uses = vec![0; stencils.len() * 2];
        for (index, stencil) in (0..).zip(&stencils) {
            for vertex in stencil.supports {
                uses[next[vertex as usize] as usize] = index;
                next[vertex as usize] += 1;
            }
        }
        Ok(Self {
            vertex_count: positions.len(),
            starts,
            uses,
            stencils,
        })
    }
}

impl Geodesics for FastMarching {
    fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// O(F log V).
    fn distances(&self, sources: &[(u32, f64)], out: &mut [f64]) {
        let mut front = Front::start(sources, self.vertex_count, out);
        let mut passed = vec![false; self.vertex_count];
        while let Some((vertex, distance)) = front.pop(out) {
            let vertex = vertex as usize;
            passed[vertex] = true;
            let uses = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
            for index in &self.uses[uses] {
                let stencil = &self.stencils[*index as usize];
                if passed[stencil.target as usize] {
                    continue;
                }
                let own = usize::from(stencil.supports[0] as usize != vertex);
                let mut arrival = distance + stencil.squares[own].sqrt();
                let other = stencil.supports[1 - own] as usize;
                if passed[other] {
                    let [a, b] = stencil.supports.map(|v| out[v as usize]);
                    arrival = arrival.min(stencil.arrival(a, b));
                }
                front.improve(stencil.target, arrival, out);
            }
        }
    }
}

impl Stencil {
    /// When a straight front that passes the supports at `a` and `b` arrives; infinite if it does not come between them.
    ///
    /// The front's gradient g has g·p = a − t, g·q = b − t and length 1: a quadratic for t.
    #[inline]
    fn arrival(&self, a: f64, b: f64) -> f64 {
        let ([p, q], dot) = (self.squares, self.dot);
        let rise = b - a;
        let determinant = p * q - dot * dot;
        let along = p + q - 2.0 * dot;
        let half = (p - dot) * rise;
        let root = half * half - along * (p * rise * rise - determinant);
        if root < 0.0 || along <= 0.0 {
            return f64::INFINITY;
        }
        let late = (half + root.sqrt()) / along;
        let comes_between = q * late >= dot * (late - rise) && p * (late - rise) >= dot * late;
        if comes_between && late >= rise.max(0.0) {
            a + late
        } else {
            f64::INFINITY
        }
    }
}

/// The stencils of the vertex opposite to `slot`: its triangle, or the two halves of an obtuse angle.
fn push_stencils(surface: &Intrinsic, slot: usize, unfolded: usize, out: &mut Vec<Stencil>) {
    let (next, last) = (
        Intrinsic::next(slot),
        Intrinsic::next(Intrinsic::next(slot)),
    );
    let target = surface.origins[last];
    let lengths = [last, next].map(|side| surface.lengths[side]);
    let along = surface.lengths[slot];
    let dot = 0.5 * (lengths[0] * lengths[0] + lengths[1] * lengths[1] - along * along);
    // The target at the origin, the edge across from left to right.
    let height = 2.0 * area([along, lengths[0], lengths[1]]) / lengths[0];
    let left = Support {
        vertex: surface.origins[slot],
        place: [lengths[0], 0.0],
    };
    let right = Support {
        vertex: surface.origins[next],
        place: [dot / lengths[0], height],
    };
    let between = if surface.cotangents[slot] < 0.0 {
        surface.unfold(slot, [left, right], unfolded)
    } else {
        None
    };
    let mut push = |a: Support, b: Support| {
        // Flips can make a triangle that meets its target twice; what remains of it is an edge.
        let (a, b) = match [a, b].map(|support| support.vertex == target) {
            [false, false] => (a, b),
            [true, false] => (b, b),
            [false, true] => (a, a),
            [true, true] => return,
        };
        out.push(Stencil {
            target,
            supports: [a.vertex, b.vertex],
            squares: [a, b].map(|s| s.dot(&s)),
            dot: a.dot(&b),
        });
    };
    match between {
        Some(middle) => {
            push(left, middle);
            push(middle, right);
        }
        None => push(left, right),
    }
}

/// A vertex in the plane of its target.
#[derive(Clone, Copy, Debug)]
struct Support {
    vertex: u32,
    place: [f64; 2],
}

impl Support {
    fn dot(&self, other: &Self) -> f64 {
        self.place[0] * other.place[0] + self.place[1] * other.place[1]
    }
}

impl Intrinsic {
    /// The first vertex beyond `slot` whose direction makes acute angles with both `left` and `right`, at most so many
    /// triangles on.
    fn unfold(&self, slot: usize, [left, right]: [Support; 2], most: usize) -> Option<Support> {
        let (mut slot, mut near, mut far) = (slot, left, right);
        for _ in 0..most {
            // Seen from beyond, the edge runs from right to left.
            let twin = self.twin(slot);
            let (from_left, to_right) = (Self::next(twin), Self::next(Self::next(twin)));
            let along = self.lengths[twin];
            let (l, r) = (self.lengths[from_left], self.lengths[to_right]);
            let x = (along * along + l * l - r * r) / (2.0 * along * along);
            let y = 2.0 * area([along, l, r]) / (along * along);
            let step = [far.place[0] - near.place[0], far.place[1] - near.place[1]];
            let apex = Support {
                vertex: self.origins[to_right],
                place: [
                    near.place[0] + x * step[0] + y * step[1],
                    near.place[1] + x * step[1] - y * step[0],
                ],
            };
            if apex.dot(&left) < 0.0 {
                (slot, far) = (from_left, apex);
            } else if apex.dot(&right) < 0.0 {
                (slot, near) = (to_right, apex);
            } else {
                return Some(apex);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives;

    /// A flat square whose inner vertices lie anywhere: obtuse angles stay, however its edges are flipped.
    #[test]
    fn obtuse_angles_are_seen_through() {
        let cells = 40;
        let mut square = primitives::grid(cells, cells, 1.0 / cells as f32);
        let mut state = 1_u32;
        let mut step = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 24) as f32 - 0.5) * 0.9 / cells as f32
        };
        for position in &mut square.rest.positions {
            if position.x.abs().max(position.z.abs()) < 0.499 {
                *position += Vec3::new(step(), 0.0, step());
            }
        }
        let (positions, triangles) = (&square.rest.positions, &square.triangles);
        let error = |unfolded| {
            let front = FastMarching::with_unfolding(positions, triangles, unfolded).unwrap();
            let mut distances = vec![0.0; positions.len()];
            front.distances(&[(0, 0.0)], &mut distances);
            let places = positions.iter().zip(&distances);
            let errors = places.map(|(place, distance)| {
                (distance - f64::from((place - positions[0]).norm())).abs()
            });
            errors.sum::<f64>() / positions.len() as f64
        };
        let (seen, hidden) = (error(UNFOLDED), error(0));
        println!("mean error {seen:.2e} m, {hidden:.2e} without laying flat");
        assert!(seen < hidden, "{seen} {hidden}");
    }
}
