//! Skinning: any mesh, any number of influences, morph targets first, normals right.
//!
//! [`SkinnedMesh`] is the model: vertices in blocks of eight that share a joint list, with everything a frame needs
//! remapped once. [`VertexBlocks`] is what a frame writes.

mod error;
pub mod influences;
pub mod morph;
pub mod vertex_blocks;

pub use error::SkinError;
pub use influences::Influences;
pub use morph::MorphTarget;
pub use vertex_blocks::{VertexBlock, VertexBlocks};
