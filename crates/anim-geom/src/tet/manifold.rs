//! Parts of a solid that touch only at a corner or along an edge, taken apart.
//!
//! Where a body is thinner than the lattice, tetrahedra may meet without sharing a face. Such a joint is a hinge for a
//! simulation and no closed surface for anything else.

use super::{FACES, TetMesh};
use crate::components::root;
use crate::topology::half_edges;

/// Makes the boundary a closed manifold: of the fans around an edge where more than two boundary faces meet the largest
/// stays, and every part of a vertex that shares no face with the others gets a vertex of its own.
pub(super) fn separate(mesh: &mut TetMesh) {
    loop {
        let surface = mesh.surface();
        let pinched: Vec<[u32; 2]> = half_edges(&surface)
            .chunk_by(|a, b| a.ends == b.ends)
            .filter(|sides| sides.len() != 2)
            .map(|sides| sides[0].ends)
            .collect();
        if pinched.is_empty() {
            break;
        }
        remove_smaller_fans(mesh, &pinched);
    }
    split_vertices(mesh);
    mesh.drop_unused();
}

fn remove_smaller_fans(mesh: &mut TetMesh, pinched: &[[u32; 2]]) {
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); pinched.len()];
    for (index, tet) in mesh.tets.iter().enumerate() {
        for (i, &a) in tet.iter().enumerate() {
            for &b in &tet[i + 1..] {
                if let Ok(edge) = pinched.binary_search(&[a.min(b), a.max(b)]) {
                    around[edge].push(index);
                }
            }
        }
    }
    let mut removed = vec![false; mesh.tets.len()];
    for (edge, tets) in pinched.iter().zip(&around) {
        let mut fans: Vec<u32> = (0..tets.len() as u32).collect();
        for (i, &a) in (0..).zip(tets) {
            for (j, &b) in (0..i).zip(tets) {
                let third = |v: &u32| !edge.contains(v) && mesh.tets[b].contains(v);
                if mesh.tets[a].iter().any(third) {
                    join(&mut fans, i, j);
                }
            }
        }
        let roots: Vec<u32> = (0..tets.len() as u32).map(|i| root(&mut fans, i)).collect();
        let size = |root: u32| roots.iter().filter(|r| **r == root).count();
        let largest = roots
            .iter()
            .copied()
            .max_by_key(|root| (size(*root), u32::MAX - root));
        for (&tet, &root) in tets.iter().zip(&roots) {
            removed[tet] |= Some(root) != largest;
        }
    }
    let mut index = 0;
    mesh.tets.retain(|_| {
        index += 1;
        !removed[index - 1]
    });
}

fn split_vertices(mesh: &mut TetMesh) {
    let mut corners: Vec<u32> = (0..4 * mesh.tets.len() as u32).collect();
    for shared in mesh.sorted_faces().chunk_by(|a, b| a.0 == b.0) {
        let [(_, first), (_, second)] = shared else {
            continue;
        };
        for corner in FACES[*first as usize % 4] {
            let (a, b) = (*first as usize / 4, *second as usize / 4);
            let vertex = mesh.tets[a][corner];
            if let Some(other) = mesh.tets[b].iter().position(|v| *v == vertex) {
                join(
                    &mut corners,
                    (4 * a + corner) as u32,
                    (4 * b + other) as u32,
                );
            }
        }
    }
    let mut vertex_of_root = vec![u32::MAX; mesh.tets.len() * 4];
    let mut taken = vec![false; mesh.positions.len()];
    for index in 0..mesh.tets.len() * 4 {
        let old = mesh.tets[index / 4][index % 4];
        let root = root(&mut corners, index as u32) as usize;
        if vertex_of_root[root] == u32::MAX {
            vertex_of_root[root] = if taken[old as usize] {
                mesh.positions.push(mesh.positions[old as usize]);
                mesh.positions.len() as u32 - 1
            } else {
                taken[old as usize] = true;
                old
            };
        }
        mesh.tets[index / 4][index % 4] = vertex_of_root[root];
    }
}

impl TetMesh {
    /// Leaves out the vertices that no tetrahedron names; the others keep their order.
    fn drop_unused(&mut self) {
        let mut used = vec![false; self.positions.len()];
        for vertex in self.tets.iter().flatten() {
            used[*vertex as usize] = true;
        }
        let mut count = 0;
        let new_index: Vec<u32> = used
            .iter()
            .map(|used| {
                count += u32::from(*used);
                count.wrapping_sub(1)
            })
            .collect();
        for vertex in self.tets.iter_mut().flatten() {
            *vertex = new_index[*vertex as usize];
        }
        let mut used = used.into_iter();
        self.positions.retain(|_| used.next().unwrap_or(false));
    }
}

fn join(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::is_closed;
    use anim_math::Vec3;

    /// Two tetrahedra that share `shared` vertices.
    fn pair(shared: usize) -> TetMesh {
        let first = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let second = [Vec3::zeros(), Vec3::x(), -Vec3::y(), -Vec3::z()];
        let mut positions = first.to_vec();
        positions.extend(&second[shared..]);
        let name = |i: usize| if i < shared { i } else { 4 + i - shared } as u32;
        TetMesh {
            positions,
            tets: vec![[0, 1, 2, 3], [name(0), name(1), name(2), name(3)]],
        }
    }

    #[test]
    fn two_that_touch_at_a_corner_part() {
        let mut mesh = pair(1);
        separate(&mut mesh);
        assert_eq!((mesh.positions.len(), mesh.tets.len()), (8, 2));
        assert!(is_closed(&mesh.surface()));
    }

    #[test]
    fn of_two_that_touch_along_an_edge_one_stays() {
        let mut mesh = pair(2);
        assert!(!is_closed(&mesh.surface()));
        separate(&mut mesh);
        assert_eq!((mesh.positions.len(), mesh.tets.len()), (4, 1));
        assert!(is_closed(&mesh.surface()));
    }
}
