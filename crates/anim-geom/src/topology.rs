//! What hangs together in a triangle mesh: coincident vertices and shared edges.
//!
//! Files split vertices where texture coordinates or normals jump; geometry that must see one closed surface (signed
//! distances, weights, smoothing) welds them back by position first.
//!
//! ```
//! use anim_geom::{primitives, topology};
//!
//! let tube = primitives::tube(1.0, 2.0, 8, 1);
//! let welded = topology::weld(&tube.rest.positions);
//! assert_eq!(welded[8], 0, "the seam closes");
//! ```

use anim_math::Vec3;

/// For each vertex, the first vertex at exactly the same position.
///
/// `out[v] <= v`, and `out[out[v]] == out[v]`; 0 and −0 are the same coordinate. O(V log V).
pub fn weld(positions: &[Vec3]) -> Vec<u32> {
    // Adding zero turns −0 into 0.
    let key = |vertex: u32| positions[vertex as usize].map(|c| (c + 0.0).to_bits());
    let compare = |a: &u32, b: &u32| {
        let (p, q) = (key(*a), key(*b));
        (p.x, p.y, p.z, *a).cmp(&(q.x, q.y, q.z, *b))
    };
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_unstable_by(compare);
    let mut welded = vec![0; positions.len()];
    let mut first = 0;
    for (rank, &vertex) in order.iter().enumerate() {
        if rank == 0 || key(vertex) != key(first) {
            first = vertex;
        }
        welded[vertex as usize] = first;
    }
    welded
}

/// One side of one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfEdge {
    /// The ends, the smaller vertex first.
    pub ends: [u32; 2],
    /// The triangle.
    pub triangle: u32,
    /// Its side: from corner `side` to corner (`side` + 1) mod 3.
    pub side: u8,
    /// True if the triangle runs along it from `ends[0]` to `ends[1]`.
    pub forward: bool,
}

/// Every side of every triangle, sorted by its ends, so that the sides that share an edge are neighbours.
///
/// O(F log F). Triangles that repeat a vertex have sides whose ends are equal; they are left out.
pub fn half_edges(triangles: &[[u32; 3]]) -> Vec<HalfEdge> {
    let mut edges = Vec::with_capacity(triangles.len() * 3);
    for (index, corners) in triangles.iter().enumerate() {
        for side in 0..3u8 {
            let from = corners[usize::from(side)];
            let to = corners[usize::from((side + 1) % 3)];
            if from != to {
                edges.push(HalfEdge {
                    ends: [from.min(to), from.max(to)],
                    triangle: index as u32,
                    side,
                    forward: from < to,
                });
            }
        }
    }
    // Stable: sides of one edge stay in the order of their triangles.
    edges.sort_by_key(|edge| {
        let [low, high] = edge.ends.map(u64::from);
        low << 32 | high
    });
    edges
}

/// True if every edge is shared by exactly two triangles that run along it in opposite directions.
///
/// Such a surface encloses a volume. `triangles` must name welded vertices ([`weld`]); no triangles are not closed.
pub fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = half_edges(triangles);
    !edges.is_empty() && edges.chunk_by(|a, b| a.ends == b.ends).all(is_paired)
}

/// True if an edge's sides are two that run in opposite directions.
pub(crate) fn is_paired(shared: &[HalfEdge]) -> bool {
    matches!(shared, [a, b] if a.forward != b.forward)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welding_names_the_first_vertex_at_each_place() {
        let positions = [
            Vec3::x(),
            Vec3::zeros(),
            Vec3::x(),
            -Vec3::zeros(),
            Vec3::y(),
        ];
        assert_eq!(weld(&positions), [0, 1, 0, 1, 4]);
        assert!(weld(&[]).is_empty());
    }

    #[test]
    fn a_tetrahedron_is_closed_and_a_flipped_face_opens_it() {
        let mut faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        assert!(is_closed(&faces));
        assert_eq!(half_edges(&faces).len(), 12);
        faces[0] = [0, 1, 2];
        assert!(!is_closed(&faces));
        assert!(!is_closed(&[]));
    }
}
