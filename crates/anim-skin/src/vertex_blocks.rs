//! Positions and normals in blocks of eight vertices: what skinning reads and writes.

use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes};

/// Eight neighbouring vertices, one lane each; spare lanes of the last block repeat the last vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct VertexBlock {
    /// x, y, z, metres.
    pub position: [Lanes; 3],
    /// x, y, z, unit length.
    pub normal: [Lanes; 3],
}

/// V vertices in skin-block order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexBlocks {
    vertex_count: usize,
    blocks: Vec<VertexBlock>,
}

impl VertexBlocks {
    /// Room for `vertex_count` vertices at the origin.
    pub fn new(vertex_count: usize) -> Self {
        Self {
            vertex_count,
            blocks: vec![VertexBlock::default(); vertex_count.div_ceil(LANES)],
        }
    }

    /// Number of vertices, V.
    pub fn len(&self) -> usize {
        self.vertex_count
    }

    /// True without vertices.
    pub fn is_empty(&self) -> bool {
        self.vertex_count == 0
    }

    /// The ⌈V / 8⌉ blocks.
    pub fn blocks(&self) -> &[VertexBlock] {
        &self.blocks
    }

    /// The ⌈V / 8⌉ blocks, for kernels.
    pub fn blocks_mut(&mut self) -> &mut [VertexBlock] {
        &mut self.blocks
    }

    /// The position of `vertex`, skin-block order.
    pub fn position(&self, vertex: usize) -> Vec3 {
        Vec3::from(
            self.blocks[vertex / LANES]
                .position
                .map(|part| part[vertex % LANES]),
        )
    }

    /// The normal of `vertex`, skin-block order.
    pub fn normal(&self, vertex: usize) -> Vec3 {
        Vec3::from(
            self.blocks[vertex / LANES]
                .normal
                .map(|part| part[vertex % LANES]),
        )
    }

    /// Sets the position of `vertex`, skin-block order.
    pub fn set_position(&mut self, vertex: usize, position: Vec3) {
        for (part, value) in self.blocks[vertex / LANES]
            .position
            .iter_mut()
            .zip(position.iter())
        {
            part[vertex % LANES] = *value;
        }
    }

    /// Sets the normal of `vertex`, skin-block order.
    pub fn set_normal(&mut self, vertex: usize, normal: Vec3) {
        for (part, value) in self.blocks[vertex / LANES]
            .normal
            .iter_mut()
            .zip(normal.iter())
        {
            part[vertex % LANES] = *value;
        }
    }
}
