//! Resistance to bending: each pair of triangles on an edge keeps its two far corners at their distance.
//!
//! The distance across the edge is shortened by bending alone, up to second order in the angle, so a distance constraint
//! resists bending without a constraint of another kind, conserves both momenta, and does not depend on the scale of
//! the mesh. It also spans two triangles, which spreads corrections faster. It resists stretch across the edge too:
//! cloth that must stretch freely and resist bending wants a dihedral angle instead.
//!
//! Source: Müller, Heidelberger, Hennix, Ratcliff, "Position based dynamics", VRIPHYS 2006, section 4.1 gives the
//! dihedral form; the distance across is Provot's flexion spring (Graphics Interface 1995) on any mesh.

/// The edges of a triangle mesh, and the pairs of corners across its inner edges; each sorted and once.
///
/// Triangles that name a vertex twice have no area and are left out. An edge of more than two triangles pairs each with
/// the next.
pub(crate) fn edges_and_crossings(triangles: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 2]>) {
    let mut sides: Vec<([u32; 2], u32)> = triangles
        .iter()
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .flat_map(|&[a, b, c]| [(sorted(a, b), c), (sorted(b, c), a), (sorted(c, a), b)])
        .collect();
    sides.sort_unstable();
    let mut edges: Vec<_> = sides.iter().map(|(edge, _)| *edge).collect();
    edges.dedup();
    let mut crossings: Vec<_> = sides
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1)
        .map(|pair| sorted(pair[0].1, pair[1].1))
        .collect();
    crossings.sort_unstable();
    crossings.dedup();
    // In a tetrahedron the corners across one edge are themselves an edge, which already keeps its length.
    crossings.retain(|pair| edges.binary_search(pair).is_err());
    (edges, crossings)
}

fn sorted(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_has_five_edges_and_one_crossing() {
        let (edges, crossings) = edges_and_crossings(&[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(crossings, [[0, 3]]);
    }

    #[test]
    fn repeated_and_degenerate_triangles_add_nothing() {
        let (edges, crossings) = edges_and_crossings(&[[0, 1, 2], [0, 1, 2], [1, 1, 2]]);
        assert_eq!(edges.len(), 3);
        assert!(crossings.is_empty());
    }
}
