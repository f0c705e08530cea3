//! Morph targets: sparse displacements added before the skin.

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

/// One shape as displacements of the vertices that it moves, source order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MorphTarget {
    /// Optional.
    #[serde(default)]
    pub name: Option<String>,
    /// The vertices that move, ascending.
    pub vertices: Vec<u32>,
    /// Their displacements at weight 1, metres.
    pub positions: Vec<Vec3>,
    /// Their normals' displacements at weight 1, or empty.
    #[serde(default)]
    pub normals: Vec<Vec3>,
}
