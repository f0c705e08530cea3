//! A mesh as edits walk it: which vertices are one place, and who is next to whom.
//!
//! Built once and used by every brush dab, smoothing and repair of that mesh. Vertices at one position, which files split
//! at seams of texture coordinates or normals, are one place here, so no edit tears a seam open.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::SurfaceGraph;
//!
//! let graph = SurfaceGraph::new(&primitives::grid(2, 2, 1.0))?;
//! assert_eq!(graph.neighbors(4).len(), 8, "every diagonal of this grid meets its middle");
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::{Mesh, topology};
use anim_math::Vec3;

use crate::{Aabb, SkinError};

/// The vertices of a mesh and their neighbours; immutable.
#[derive(Clone, Debug)]
pub struct SurfaceGraph {
    positions: Vec<Vec3>,
    /// For each vertex the first at its position.
    welded: Vec<u32>,
    /// Triangles of welded vertices; those of the mesh, in its order.
    triangles: Vec<[u32; 3]>,
    neighbors: Lists,
    mean_edge: f64,
}

/// Lists of numbers, one a vertex, one behind the other.
#[derive(Clone, Debug)]
struct Lists {
    ends: Vec<usize>,
    items: Vec<u32>,
}

impl SurfaceGraph {
    /// Indexes the edges of `mesh`. O(F log F).
    ///
    /// # Errors
    ///
    /// [`SkinError::Mesh`] with what [`Mesh::check`] finds.
    pub fn new(mesh: &Mesh) -> Result<Self, SkinError> {
        mesh.check()?;
        let positions = mesh.rest.positions.clone();
        let welded = topology::weld(&positions);
        let weld = |corners: &[u32; 3]| corners.map(|vertex| welded[vertex as usize]);
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(weld).collect();
        let sides = topology::half_edges(&triangles);
        let mut edges: Vec<[u32; 2]> = sides.iter().map(|side| side.ends).collect();
        edges.dedup();
        let length =
            |[a, b]: &[u32; 2]| f64::from((positions[*a as usize] - positions[*b as usize]).norm());
        let total: f64 = edges.iter().map(length).sum();
        let mean_edge = total / edges.len().max(1) as f64;
        let both = edges.iter().flat_map(|[a, b]| [(*a, *b), (*b, *a)]);
        Ok(Self {
            neighbors: Lists::new(positions.len(), both.collect()),
            positions,
            welded,
            triangles,
            mean_edge,
        })
    }

    /// Number of vertices, V.
    pub fn vertex_count(&self) -> usize {
        self.welded.len()
    }

    /// The vertices that share an edge with the place of `vertex`, ascending, one for each place: the first there.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, here and below.
    pub fn neighbors(&self, vertex: usize) -> &[u32] {
        self.neighbors.of(self.place(vertex))
    }

    /// The first vertex at the position of `vertex`.
    pub fn place(&self, vertex: usize) -> usize {
        self.welded[vertex] as usize
    }

    /// The mean length of edges, metres; 0 without edges.
    pub fn mean_edge(&self) -> f64 {
        self.mean_edge
    }

    /// Where the vertices rest, metres.
    pub(crate) fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// The triangles of the mesh in its order, their corners the first vertices at their positions.
    pub(crate) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

impl Lists {
    /// The second of each pair in the list of the first, ascending.
    fn new(count: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut ends = vec![0; count];
        for (list, _) in &pairs {
            ends[*list as usize] += 1;
        }
        for list in 1..count {
            ends[list] += ends[list - 1];
        }
        let items = pairs.into_iter().map(|(_, item)| item).collect();
        Self { ends, items }
    }

    fn of(&self, list: usize) -> &[u32] {
        let start = list.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[list]]
    }
}

/// The diagonal of the box around `points`, metres; 0 if there are none.
pub(crate) fn extent(points: &[Vec3]) -> f64 {
    let around = points
        .iter()
        .fold(Aabb::EMPTY, |all, point| all.union(&Aabb::at(*point)));
    if around.is_empty() {
        0.0
    } else {
        2.0 * around.half_extents().cast::<f64>().norm()
    }
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;

    use super::*;

    #[test]
    fn a_seam_is_no_border() {
        let graph = SurfaceGraph::new(&primitives::tube(1.0, 1.0, 8, 2)).unwrap();
        assert_eq!(graph.place(8), 0);
        assert_eq!(graph.neighbors(8), graph.neighbors(0));
        assert_eq!(graph.neighbors(0).len(), 4);
    }
}
