//! Which points of a skinned mesh are neighbours, with vertices at the same place as one point.

use anim_geom::topology;
use anim_math::Vec3;

use crate::SkinnedMesh;

/// P points and the edges between them; points and vertices are in block order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SurfaceGraph {
    /// V.
    pub(crate) point_of_vertex: Vec<u32>,
    /// P: the first vertex at each.
    pub(crate) vertex_of_point: Vec<u32>,
    /// Corners of the triangles.
    pub(crate) triangles: Vec<[u32; 3]>,
    ends: Vec<usize>,
    neighbors: Vec<u32>,
    border: Vec<bool>,
}

impl SurfaceGraph {
    pub(crate) fn new(skin: &SkinnedMesh) -> Self {
        let positions: Vec<Vec3> = (0..skin.vertex_count())
            .map(|vertex| skin.rest().position(vertex))
            .collect();
        let welded = topology::weld(&positions);
        let mut vertex_of_point = Vec::new();
        let mut point_of_vertex: Vec<u32> = Vec::with_capacity(welded.len());
        for (vertex, first) in welded.iter().enumerate() {
            if *first as usize == vertex {
                point_of_vertex.push(vertex_of_point.len() as u32);
                vertex_of_point.push(vertex as u32);
            } else {
                point_of_vertex.push(point_of_vertex[*first as usize]);
            }
        }
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| point_of_vertex[vertex as usize]);
        let triangles: Vec<[u32; 3]> = skin.triangles().iter().map(corners).collect();
        let sides = topology::half_edges(&triangles);
        let mut border = vec![false; vertex_of_point.len()];
        let mut pairs = Vec::new();
        for shared in sides.chunk_by(|a, b| a.ends == b.ends) {
            let [a, b] = shared[0].ends;
            pairs.extend([(a, b), (b, a)]);
            for end in [a, b] {
                border[end as usize] |= shared.len() != 2;
            }
        }
        pairs.sort_unstable();
        let points = 0..vertex_of_point.len() as u32;
        Self {
            ends: points
                .map(|point| pairs.partition_point(|pair| pair.0 <= point))
                .collect(),
            neighbors: pairs.iter().map(|pair| pair.1).collect(),
            point_of_vertex,
            vertex_of_point,
            triangles,
            border,
        }
    }

    /// Number of points, P.
    pub(crate) fn len(&self) -> usize {
        self.vertex_of_point.len()
    }

    /// The neighbours of `point`, ascending.
    pub(crate) fn neighbors(&self, point: usize) -> &[u32] {
        let start = point.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.neighbors[start..self.ends[point]]
    }

    /// True if an edge of `point` has not exactly two triangles.
    pub(crate) fn is_border(&self, point: usize) -> bool {
        self.border[point]
    }
}
