//! How a tetrahedron of the body-centred lattice is filled, once the surface has cut its edges.
//!
//! A corner is inside, outside or on the surface; an edge from inside to outside is cut. What is left of the inside is a
//! tetrahedron, a pyramid or a prism, whose quadrilaterals are shared with the neighbours: the diagonal of each depends
//! on that face alone. It ends at the cut of the long edge if there is one, and otherwise at the corner that a parity
//! of the face chooses.
//!
//! Source: Labelle and Shewchuk, "Isosurface stuffing: fast tetrahedral meshes with good dihedral angles", SIGGRAPH
//! 2007, figure 5.

/// Where a corner lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Inside,
    Outside,
    On,
}

/// A tetrahedron of the lattice: corners 0 and 1 are the ends of one long edge, 2 and 3 of the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut<'a> {
    pub(super) places: [Place; 4],
    /// The vertices of the output at corners that are not outside.
    pub(super) corners: [u32; 4],
    /// The vertices of the output on edges between corners.
    pub(super) cuts: &'a [[u32; 4]; 4],
    /// For the two ends of a long edge and a third corner, which of the two the diagonal adjoins.
    pub(super) parity: &'a [[bool; 4]; 4],
}

impl Cut<'_> {
    /// Calls `emit` with each tetrahedron of the inside; orientations vary.
    pub(super) fn fill(&self, mut emit: impl FnMut([u32; 4])) {
        let mut lists = [[0; 4]; 3];
        let mut counts = [0; 3];
        for (corner, place) in self.places.iter().enumerate() {
            let list = match place {
                Place::Inside => 0,
                Place::Outside => 1,
                Place::On => 2,
            };
            lists[list][counts[list]] = corner;
            counts[list] += 1;
        }
        let [inside, outside, on] = lists;
        let vertex = |corner: usize| self.corners[corner];
        match (counts[0], counts[1]) {
            (0, _) => {}
            (_, 0) => emit(self.corners),
            (1, outsiders) => {
                let apex = inside[0];
                let mut tet = [vertex(apex); 4];
                for (slot, &corner) in tet[1..].iter_mut().zip(&outside[..outsiders]) {
                    *slot = self.cuts[apex][corner];
                }
                for (slot, &corner) in tet[1 + outsiders..].iter_mut().zip(&on[..3 - outsiders]) {
                    *slot = vertex(corner);
                }
                emit(tet);
            }
            (2, 1) => {
                let [mut a, mut b] = [inside[0], inside[1]];
                let (m, apex) = (outside[0], vertex(on[0]));
                if !self.diagonal_from(a, b, m) {
                    (a, b) = (b, a);
                }
                let (cut_a, cut_b) = (self.cuts[a][m], self.cuts[b][m]);
                emit([vertex(a), vertex(b), cut_b, apex]);
                emit([vertex(a), cut_b, cut_a, apex]);
            }
            (2, _) => {
                let [a, b] = [inside[0], inside[1]];
                let [r, s] = [outside[0], outside[1]];
                let below = [vertex(a), self.cuts[a][r], self.cuts[a][s]];
                let above = [vertex(b), self.cuts[b][r], self.cuts[b][s]];
                let [over_r, over_s] = [self.diagonal_from(a, b, r), self.diagonal_from(a, b, s)];
                // The quadrilateral of cuts is on the surface, so that its diagonal is free: the one that leaves no cycle.
                prism(below, above, [over_r, !over_r, !over_s], &mut emit);
            }
            (_, _) => {
                let [a, b, c] = [inside[0], inside[1], inside[2]];
                let m = outside[0];
                let below = [a, b, c].map(vertex);
                let above = [a, b, c].map(|corner| self.cuts[corner][m]);
                let diagonals = [
                    self.diagonal_from(a, b, m),
                    self.diagonal_from(b, c, m),
                    self.diagonal_from(c, a, m),
                ];
                prism(below, above, diagonals, &mut emit);
            }
        }
    }

    /// True if the quadrilateral of corners `a`, `b` and their cuts towards `m` is divided from `a` to the cut of b–m.
    fn diagonal_from(&self, a: usize, b: usize, m: usize) -> bool {
        if is_long(a, m) {
            false
        } else if is_long(b, m) {
            true
        } else {
            self.parity[a][m]
        }
    }
}

fn is_long(a: usize, b: usize) -> bool {
    a / 2 == b / 2
}

/// Three tetrahedra of a prism whose side i, between corners i and i + 1 mod 3, has its diagonal from `below[i]` if
/// `rising[i]`, else from `below[i + 1]`.
fn prism(below: [u32; 3], above: [u32; 3], rising: [bool; 3], emit: &mut impl FnMut([u32; 4])) {
    // True if the diagonal between i and j leaves from below i.
    let leaves = |i: usize, j: usize| {
        if (i + 1) % 3 == j {
            rising[i]
        } else {
            !rising[j]
        }
    };
    for i in 0..3 {
        for (j, k) in [((i + 1) % 3, (i + 2) % 3), ((i + 2) % 3, (i + 1) % 3)] {
            if leaves(i, j) && leaves(i, k) && leaves(j, k) {
                emit([below[i], above[i], above[j], above[k]]);
                emit([below[i], below[j], above[j], above[k]]);
                emit([below[i], below[j], below[k], above[k]]);
                return;
            }
        }
    }
}
