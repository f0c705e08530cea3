//! Triangles with the pseudonormals of their features, which decide the sign of a distance.
//!
//! An edge's pseudonormal is the sum of its faces' normals, a corner's their sum weighted by the faces' angles there:
//! on a closed surface the sign of (query − nearest point) · pseudonormal then is right everywhere, which it is not for
//! area weights or for the nearest face's own normal.
//!
//! Source: Bærentzen and Aanæs, "Signed distance computation using the angle weighted pseudonormal", IEEE TVCG 11(3),
//! 2005.

use anim_math::Vec3;

use crate::normals;
use crate::topology::{half_edges, is_paired};

/// A triangle with the normals of all its features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) corners: [Vec3; 3],
    pub(super) normal: Vec3,
    pub(super) edge_normals: [Vec3; 3],
    pub(super) corner_normals: [Vec3; 3],
    /// Its index in the mesh.
    pub(super) triangle: u32,
}

/// The triangles that have an area, with the pseudonormals of their features, and whether they enclose a volume.
pub(super) fn faces(positions: &[Vec3], triangles: &[[u32; 3]]) -> (Vec<Face>, bool) {
    let corners = |t: [u32; 3]| t.map(|v| positions[v as usize]);
    let face_normals: Vec<Option<Vec3>> = triangles
        .iter()
        .map(|t| normals::face(corners(*t)))
        .collect();
    let mut vertex_normals = vec![Vec3::zeros(); positions.len()];
    for (triangle, normal) in triangles.iter().zip(&face_normals) {
        if let Some(normal) = normal {
            let angles = normals::corner_angles(corners(*triangle));
            for (vertex, angle) in triangle.iter().zip(angles) {
                vertex_normals[*vertex as usize] += normal * angle;
            }
        }
    }
    let mut edge_normals = vec![[Vec3::zeros(); 3]; triangles.len()];
    let mut edges = half_edges(triangles);
    edges.retain(|edge| face_normals[edge.triangle as usize].is_some());
    let mut closed = true;
    for shared in edges.chunk_by(|a, b| a.ends == b.ends) {
        let normal = shared
            .iter()
            .filter_map(|e| face_normals[e.triangle as usize])
            .fold(Vec3::zeros(), |sum, normal| sum + normal);
        closed &= is_paired(shared);
        for edge in shared {
            edge_normals[edge.triangle as usize][usize::from(edge.side)] = normal;
        }
    }
    let faces = (0..).zip(triangles).filter_map(|(index, &triangle)| {
        let normal = face_normals[index as usize]?;
        // Two faces back to back cancel: each then speaks for itself.
        let unit = |sum: Vec3| sum.try_normalize(1.0e-6).unwrap_or(normal);
        Some(Face {
            corners: corners(triangle),
            normal,
            edge_normals: edge_normals[index as usize].map(unit),
            corner_normals: triangle.map(|v| unit(vertex_normals[v as usize])),
            triangle: index,
        })
    });
    (faces.collect(), closed)
}
