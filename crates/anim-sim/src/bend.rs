//! Resistance to bending: each pair of triangles on an edge keeps its two far corners at their distance.
//!
//! The distance across the edge is shortened by bending alone, up to second order in the angle, so a distance constraint
//! resists bending without a constraint of another kind, conserves both momenta, and does not depend on the scale of
//! the mesh. It also spans two triangles, which spreads corrections faster. It resists stretch across the edge too:
//! cloth that must stretch freely and resist bending wants a dihedral angle instead.
//!
//! Source: Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", VRIPHYS 2006, section 4.1 gives the
//! dihedral form; the distance across is Provot's flexion spring (Graphics Interface 1995) on any mesh.

use anim_math::Vec3;

/// The edges of a triangle mesh, and its inner edges with the corners across them; each sorted and once.
///
/// An inner edge is as in [`Hinge::vertices`](crate::element::Hinge::vertices). Triangles that name a vertex twice have no
/// area and are left out. An edge of more than two triangles pairs each with the next.
pub(crate) fn edges_and_hinges(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 4]>) {
    // Sorted ends, far corner, and the ends in the order of the triangle.
    let mut sides: Vec<([u32; 2], u32, [u32; 2])> = triangles
        .iter()
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .flat_map(|&[a, b, c]| [([a, b], c), ([b, c], a), ([c, a], b)])
        .map(|([a, b], corner)| (sorted(a, b), corner, [a, b]))
        .collect();
    sides.sort_unstable();
    let mut edges: Vec<_> = sides.iter().map(|(edge, ..)| *edge).collect();
    edges.dedup();
    let mut hinges: Vec<_> = sides
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
        .map(|pair| {
            let [a, b] = pair[0].2;
            [a, b, pair[0].1, pair[1].1]
        })
        .collect();
    hinges.dedup();
    // In a tetrahedron the corners across one edge are themselves an edge, which already keeps its length.
    hinges.retain(|[.., c, d]| edges.binary_search(&sorted(*c, *d)).is_err());
    (edges, hinges)
}

/// The pairs of corners across edges; each sorted and once.
pub(crate) fn crossings(hinges: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<_> = hinges.iter().map(|[.., c, d]| sorted(*c, *d)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The second diagonals of quadrilaterals: corners across an edge that is the longest of both its triangles.
pub(crate) fn diagonals(hinges: &[[u32; 4]], length: impl Fn([u32; 2]) -> f64) -> Vec<[u32; 2]> {
    let is_diagonal = |&[a, b, c, d]: &[u32; 4]| {
        let sides = [[a, c], [b, c], [a, d], [b, d]].map(&length);
        sides.iter().all(|side| *side < length([a, b]))
    };
    let diagonals: Vec<_> = hinges.iter().copied().filter(is_diagonal).collect();
    crossings(&diagonals)
}

/// Pairs of vertices two edges apart, straight on: the next coarser net of a mesh.
pub(crate) fn skips(edges: &[[u32; 2]], positions: &[Vec3]) -> Vec<[u32; 2]> {
    let mut neighbors = vec![Vec::new(); positions.len()];
    for &[a, b] in edges {
        neighbors[a as usize].push(b);
        neighbors[b as usize].push(a);
    }
    let mut pairs = Vec::new();
    for (middle, around) in neighbors.iter().enumerate() {
        let toward = |v: u32| (positions[v as usize] - positions[middle]).cast::<f64>();
        for (place, &u) in around.iter().enumerate() {
            for &w in &around[..place] {
                let (a, b) = (toward(u), toward(w));
                // Within 18° of straight.
                if a.dot(&b) < -0.95 * a.norm() * b.norm() {
                    pairs.push(sorted(u, w));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs.retain(|pair| edges.binary_search(pair).is_err());
    pairs
}

fn sorted(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_has_five_edges_and_one_crossing() {
        let (edges, hinges) = edges_and_hinges(&[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(hinges, [[1, 2, 0, 3]]);
        assert_eq!(crossings(&hinges), [[0, 3]]);
    }

    #[test]
    fn repeated_and_degenerate_triangles_add_nothing() {
        let (edges, hinges) = edges_and_hinges(&[[0, 1, 2], [0, 1, 2], [1, 1, 2]]);
        assert_eq!(edges.len(), 3);
        assert!(hinges.is_empty());
    }

    #[test]
    fn a_grid_has_one_second_diagonal_a_cell_and_skips_straight_on() {
        let grid: Vec<Vec3> = (0..9u8)
            .map(|v| Vec3::new(f32::from(v % 3), 0.0, f32::from(v / 3)))
            .collect();
        let triangles: Vec<[u32; 3]> = [0u32, 1, 3, 4]
            .iter()
            .flat_map(|v| [[*v, v + 3, v + 1], [v + 1, v + 3, v + 4]])
            .collect();
        let (edges, hinges) = edges_and_hinges(&triangles);
        let length = |[a, b]: [u32; 2]| f64::from((grid[a as usize] - grid[b as usize]).norm());
        assert_eq!(diagonals(&hinges, length), [[0, 4], [1, 5], [3, 7], [4, 8]]);
        // Three rows, three columns, one diagonal of two cells.
        assert_eq!(skips(&edges, &grid).len(), 7);
    }
}
