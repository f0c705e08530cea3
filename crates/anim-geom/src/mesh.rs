//! Triangle meshes: positions, normals and triangles.

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use crate::GeomError;

/// Positions and normals of the same vertices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vertices {
    /// V, metres.
    pub positions: Vec<Vec3>,
    /// V, unit length.
    pub normals: Vec<Vec3>,
}

/// A triangle mesh in the order of its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Where the vertices rest.
    pub rest: Vertices,
    /// V texture coordinates, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// Counter-clockwise seen from outside; may be empty (points, lines).
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Number of vertices, V.
    pub fn vertex_count(&self) -> usize {
        self.rest.positions.len()
    }

    /// Checks what every consumer relies on: counts agree, triangles name vertices that exist, all is finite.
    ///
    /// # Errors
    ///
    /// [`GeomError::Count`], [`GeomError::VertexOutOfRange`] or [`GeomError::NotFinite`], the first found.
    pub fn check(&self) -> Result<(), GeomError> {
        let vertex_count = self.vertex_count();
        if self.rest.normals.len() != vertex_count {
            return Err(GeomError::Count {
                what: "normals",
                found: self.rest.normals.len(),
                vertex_count,
            });
        }
        if !(self.uvs.is_empty() || self.uvs.len() == vertex_count) {
            return Err(GeomError::Count {
                what: "texture coordinates",
                found: self.uvs.len(),
                vertex_count,
            });
        }
        check_triangles(vertex_count, &self.triangles)?;
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        for vertex in 0..vertex_count {
            if !(finite(&self.rest.positions[vertex]) && finite(&self.rest.normals[vertex])) {
                return Err(GeomError::NotFinite { vertex });
            }
        }
        Ok(())
    }
}

/// [`GeomError::VertexOutOfRange`] for the first triangle that names a vertex which is not there.
pub(crate) fn check_triangles(
    vertex_count: usize,
    triangles: &[[u32; 3]],
) -> Result<(), GeomError> {
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(vertex) = corners.iter().find(|v| **v as usize >= vertex_count) {
            return Err(GeomError::VertexOutOfRange {
                triangle,
                vertex: *vertex,
                vertex_count,
            });
        }
    }
    Ok(())
}
