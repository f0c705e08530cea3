//! Shortest paths along edges: fast, never shorter than the truth on the polyhedron, up to a tenth too long.

use anim_math::Vec3;

use super::Geodesics;
use super::front::Front;
use crate::GeomError;
use crate::intrinsic::proper;
use crate::laplacian::check;
use crate::topology::half_edges;

/// The edges of a mesh and their lengths.
#[derive(Clone, Debug)]
pub struct Dijkstra {
    /// Where each vertex's neighbours start; V + 1.
    starts: Vec<u32>,
    /// Neighbours and how far they are, metres.
    neighbors: Vec<(u32, f64)>,
}

impl Dijkstra {
    /// Collects the edges of the triangles. O(F log F).
    ///
    /// # Errors
    ///
    /// [`GeomError::VertexOutOfRange`] and [`GeomError::NotFinite`].
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Result<Self, GeomError> {
        check(positions, triangles)?;
        let mut edges: Vec<[u32; 2]> = half_edges(&proper(triangles))
            .iter()
            .map(|edge| edge.ends)
            .collect();
        edges.dedup();
        let mut starts = vec![0; positions.len() + 1];
        for vertex in edges.iter().flatten() {
            starts[*vertex as usize + 1] += 1;
        }
        for vertex in 0..positions.len() {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut neighbors = vec![(0, 0.0); edges.len() * 2];
        for [a, b] in edges {
            let [p, q] = [a, b].map(|v| positions[v as usize].cast::<f64>());
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut next[from as usize];
                neighbors[*place as usize] = (to, (p - q).norm());
                *place += 1;
            }
        }
        Ok(Self { starts, neighbors })
    }
}

impl Geodesics for Dijkstra {
    fn vertex_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// O(E log V).
    fn distances(&self, sources: &[(u32, f64)], out: &mut [f64]) {
        let mut front = Front::start(sources, self.vertex_count(), out);
        while let Some((vertex, distance)) = front.pop(out) {
            let vertex = vertex as usize;
            let around = self.starts[vertex] as usize..self.starts[vertex + 1] as usize;
            for (neighbor, length) in &self.neighbors[around] {
                front.improve(*neighbor, distance + length, out);
            }
        }
    }
}
