//! The sharp edges and corners of a solid: what pokes through the faces of a cloth whose vertices all stay outside.

use anim_math::Vec3;

use super::face::Face;
use crate::topology::half_edges;

/// The cosine of the turn from which an edge or a corner is sharp, 20°.
///
/// Over a flatter one the middle of a segment of length e, whose ends keep a distance, comes nearer by at most
/// e / 2 · tan 10° = 0.09 e.
const SHARP: f32 = 0.939_692_6;

/// A sharp edge that points outwards, or a sharp corner without one: then both ends are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ridge {
    /// Its ends, space of the mesh.
    pub ends: [Vec3; 2],
    /// Which of its ends are corners of no ridge before it in the list.
    pub owns: [bool; 2],
}

impl Ridge {
    /// True if it is a corner alone.
    pub fn is_point(&self) -> bool {
        self.ends[0] == self.ends[1]
    }
}

/// The ridges of a closed surface.
///
/// * `faces`: those with an area. * `triangles`: of the mesh, welded. * `count`: of its vertices.
pub(super) fn ridges(faces: &[Face], triangles: &[[u32; 3]], count: usize) -> Vec<Ridge> {
    let corners_of: Vec<[u32; 3]> = faces
        .iter()
        .map(|face| triangles[face.triangle as usize])
        .collect();
    let mut is_owned = vec![false; count];
    let mut own = |v: u32| !std::mem::replace(&mut is_owned[v as usize], true);
    let mut ridges = Vec::new();
    for shared in half_edges(&corners_of).chunk_by(|a, b| a.ends == b.ends) {
        let [first, second] = shared else { continue };
        let [a, b] = [first, second].map(|half| &faces[half.triangle as usize]);
        let side = usize::from(first.side);
        let base = a.corners[side];
        let beyond = b.corners[(usize::from(second.side) + 2) % 3];
        if a.normal.dot(&b.normal) > SHARP || (beyond - base).dot(&a.normal) >= 0.0 {
            continue;
        }
        let ends = [side, (side + 1) % 3];
        let triangle = corners_of[first.triangle as usize];
        ridges.push(Ridge {
            ends: ends.map(|corner| a.corners[corner]),
            owns: ends.map(|corner| own(triangle[corner])),
        });
    }
    // A corner is sharp where one of its faces turns away, and points outwards where all of them lie below.
    let mut turns = vec![(1.0f32, true); count];
    for (face, triangle) in faces.iter().zip(&corners_of) {
        for corner in 0..3 {
            let normal = face.corner_normals[corner];
            let (least, is_below) = &mut turns[triangle[corner] as usize];
            *least = least.min(face.normal.dot(&normal));
            *is_below &= [1, 2].iter().all(|next| {
                (face.corners[(corner + next) % 3] - face.corners[corner]).dot(&normal) < 0.0
            });
        }
    }
    for (face, triangle) in faces.iter().zip(&corners_of) {
        for (corner, vertex) in triangle.iter().enumerate() {
            let (least, is_below) = turns[*vertex as usize];
            if least < SHARP && is_below && own(*vertex) {
                ridges.push(Ridge {
                    ends: [face.corners[corner]; 2],
                    owns: [true, false],
                });
            }
        }
    }
    ridges
}

#[cfg(test)]
mod tests {
    use crate::{Mesh, MeshBvh, Vertices, primitives};
    use anim_math::Vec3;

    #[test]
    fn a_cuboid_has_twelve_edges_and_eight_corners() {
        let half = Vec3::new(0.5, 0.7, 0.3);
        let bvh = MeshBvh::new(&primitives::cuboid(half)).unwrap();
        assert_eq!(bvh.ridges().len(), 12);
        let owned = bvh.ridges().iter().flat_map(|r| r.owns).filter(|o| *o);
        assert_eq!(owned.count(), 8);
        for ridge in bvh.ridges() {
            let along = ridge.ends[1] - ridge.ends[0];
            let sides = along.iter().zip(half.iter());
            let whole = sides.filter(|(a, h)| a.abs() == 2.0 * **h);
            assert_eq!(whole.count(), 1, "no diagonal of a face: {along}");
            assert_eq!(along.iter().filter(|a| **a == 0.0).count(), 2);
        }
    }

    #[test]
    fn round_things_sheets_and_notches_have_none() {
        let sphere = MeshBvh::new(&primitives::sphere(1.0, 48, 24)).unwrap();
        assert_eq!(sphere.ridges(), []);
        let sheet = MeshBvh::new(&primitives::grid(2, 2, 0.5)).unwrap();
        assert_eq!(sheet.ridges(), []);
        // The inside of a box, seen from inside, turns inwards everywhere.
        let mut cuboid = primitives::cuboid(Vec3::repeat(1.0));
        cuboid.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        assert_eq!(MeshBvh::new(&cuboid).unwrap().ridges(), []);
    }

    #[test]
    fn the_tip_of_a_cone_is_a_ridge_of_its_own() {
        let n = 64;
        let ring = |i: u32| {
            let angle = std::f32::consts::TAU * i as f32 / n as f32;
            Vec3::new(angle.cos(), 0.0, -angle.sin())
        };
        let mut positions: Vec<Vec3> = (0..n).map(ring).collect();
        positions.extend([Vec3::y(), Vec3::zeros()]);
        let triangles = (0..n)
            .flat_map(|i| [[i, (i + 1) % n, n], [(i + 1) % n, i, n + 1]])
            .collect();
        let normals = vec![Vec3::y(); positions.len()];
        let bvh = MeshBvh::new(&Mesh {
            rest: Vertices { positions, normals },
            uvs: Vec::new(),
            triangles,
        })
        .unwrap();
        let points: Vec<_> = bvh.ridges().iter().filter(|r| r.is_point()).collect();
        let edges = bvh.ridges().len() - points.len();
        assert_eq!((points.len(), edges), (1, n as usize));
        assert_eq!(points[0].ends[0], Vec3::y());
    }
}
