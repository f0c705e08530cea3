//! Tetrahedral meshes: the solids that are simulated inside surfaces.
//!
//! A [`TetMesh`] is positions and right-handed tetrahedra. [`lattice()`] fills a box, which is what known answers are
//! stated for; [`stuff()`] fills any surface; an [`Embedding`] then carries the surface along with the solid.
//!
//! ```
//! use anim_geom::tet::{Split, lattice};
//! use anim_math::Vec3;
//!
//! let bar = lattice([10, 1, 1], Vec3::new(1.0, 0.1, 0.1), Split::Five);
//! assert_eq!((bar.positions.len(), bar.tets.len()), (44, 50));
//! assert!((bar.volume() - 0.01).abs() < 1e-7);
//! assert_eq!(bar.surface().len(), 84);
//! ```

mod embedding;
mod lattice;
mod manifold;
mod stencil;
mod stuffing;

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

pub use embedding::Embedding;
pub use lattice::{Split, lattice};
pub use stuffing::{StuffOptions, stuff};

/// Tetrahedra that share corners.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetMesh {
    /// P, metres.
    pub positions: Vec<Vec3>,
    /// Right-handed: (b − a)·((c − a)×(d − a)) is positive.
    pub tets: Vec<[u32; 4]>,
}

/// The faces of a right-handed tetrahedron, counter-clockwise from outside; face i is opposite corner i.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl TetMesh {
    /// The sum of the signed volumes, m³.
    pub fn volume(&self) -> f64 {
        self.volumes().sum()
    }

    /// The signed volume of each tetrahedron, m³.
    pub fn volumes(&self) -> impl Iterator<Item = f64> {
        self.tets.iter().map(|tet| {
            let [a, b, c, d] = tet.map(|v| self.positions[v as usize].cast::<f64>());
            (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
        })
    }

    /// The six angles between the faces of each tetrahedron, rad: at the edges 01, 02, 03, 12, 13, 23.
    pub fn dihedral_angles(&self) -> impl Iterator<Item = [f64; 6]> {
        self.tets.iter().map(|tet| {
            let corners = tet.map(|v| self.positions[v as usize].cast::<f64>());
            [
                [0, 1, 2, 3],
                [0, 2, 1, 3],
                [0, 3, 1, 2],
                [1, 2, 0, 3],
                [1, 3, 0, 2],
                [2, 3, 0, 1],
            ]
            .map(|edge| {
                let [a, b, c, d] = edge.map(|corner: usize| corners[corner]);
                let (left, right) = ((b - a).cross(&(c - a)), (b - a).cross(&(d - a)));
                libm::atan2(left.cross(&right).norm(), left.dot(&right))
            })
        })
    }

    /// The faces that belong to one tetrahedron only, counter-clockwise from outside, in the order of the tetrahedra.
    /// O(T log T).
    pub fn surface(&self) -> Vec<[u32; 3]> {
        let faces = self.sorted_faces();
        let mut outer: Vec<u32> = faces
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() == 1)
            .map(|same| same[0].1)
            .collect();
        outer.sort_unstable();
        outer
            .into_iter()
            .map(|face| {
                let tet = self.tets[face as usize / 4];
                FACES[face as usize % 4].map(|corner| tet[corner])
            })
            .collect()
    }

    /// Every face as its vertices in ascending order and 4 · tetrahedron + side, sorted, so that shared ones are
    /// neighbours.
    fn sorted_faces(&self) -> Vec<([u32; 3], u32)> {
        let mut faces: Vec<([u32; 3], u32)> = Vec::with_capacity(self.tets.len() * 4);
        for (index, tet) in self.tets.iter().enumerate() {
            for (side, face) in FACES.iter().enumerate() {
                let mut key = face.map(|corner| tet[corner]);
                key.sort_unstable();
                faces.push((key, (index * 4 + side) as u32));
            }
        }
        faces.sort_unstable();
        faces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::is_closed;

    #[test]
    fn the_surface_of_a_lattice_is_closed_and_holds_its_volume() {
        for split in [Split::Five, Split::Six] {
            let mesh = lattice([3, 2, 4], Vec3::new(0.3, 0.1, 0.8), split);
            let surface = mesh.surface();
            assert!(is_closed(&surface), "{split:?}");
            let volume: f64 = surface
                .iter()
                .map(|t| {
                    let [a, b, c] = t.map(|v| mesh.positions[v as usize].cast::<f64>());
                    a.dot(&b.cross(&c)) / 6.0
                })
                .sum();
            assert!((volume - 0.024).abs() < 1e-8, "{split:?}: {volume}");
        }
    }

    #[test]
    fn every_tetrahedron_of_a_lattice_is_right_handed() {
        for split in [Split::Five, Split::Six] {
            let mesh = lattice([2, 3, 2], Vec3::new(1.0, 1.0, 1.0), split);
            assert!(mesh.volumes().all(|volume| volume > 0.01), "{split:?}");
            assert!((mesh.volume() - 1.0).abs() < 1e-6);
        }
    }
}
