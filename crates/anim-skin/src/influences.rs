//! Which joints move a vertex, and how much.

use serde::{Deserialize, Serialize};

/// The influences of V vertices, k each, in source order; joints are places in the skin's joint list.
///
/// Raw, as files have them: weights need not sum to 1, joints may repeat, a weight may be zero. Building a skin cleans
/// them: a vertex without any weight above zero follows joint 0 of the list, and
/// [`SkinnedMesh::report`](crate::SkinnedMesh::report) tells it ([`WeightFault::Empty`](crate::WeightFault::Empty)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Influences {
    /// k: influences a vertex.
    pub per_vertex: usize,
    /// V × k, vertex by vertex.
    pub joints: Vec<u16>,
    /// V × k, vertex by vertex.
    pub weights: Vec<f32>,
}

impl Influences {
    /// Every one of `vertex_count` vertices follows joint 0 alone.
    pub fn rigid(vertex_count: usize) -> Self {
        Self {
            per_vertex: 1,
            joints: vec![0; vertex_count],
            weights: vec![1.0; vertex_count],
        }
    }

    /// Number of vertices, V; 0 if k is 0.
    pub fn vertex_count(&self) -> usize {
        self.joints.len().checked_div(self.per_vertex).unwrap_or(0)
    }
}
