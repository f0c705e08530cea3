//! Morph targets: sparse displacements added before the skin.
//!
//! Faces, correctives and breathing. A target stores only the vertices that it moves; a mesh regroups them by blocks of
//! eight and keeps them in the order a frame reads them, so a target at weight 0 costs nothing and one that moves a tenth
//! of the mesh a tenth. Normals are displaced too and made unit again: `n′ = normalise(n + Σ w · Δn)`; a target without
//! normals leaves them alone.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{Influences, MorphTarget, SkinnedMesh, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let joints = [skeleton.joint(0)];
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::zeros(); 2], normals: vec![Vec3::z(); 2] },
//!     ..Mesh::default()
//! };
//! let raise = MorphTarget { vertices: vec![1], positions: vec![Vec3::y()], ..MorphTarget::default() };
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &Influences::rigid(2), &[raise])?;
//! let mut morphed = VertexBlocks::new(skin.vertex_count());
//! skin.morph(&[0.25], &mut morphed);
//! assert_eq!(morphed.position(1), Vec3::new(0.0, 0.25, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arkit;
mod block_rows;
pub mod compact;
pub mod corrective;
pub mod csv;
pub mod face_mix;
pub mod facs;
mod free_weights;
pub mod in_between;
pub mod one_euro;
pub mod pca;
pub mod rig;
pub mod solve;
mod solve_options;
pub mod stand_ins;
pub mod vrm;
pub mod weight_curves;

pub use compact::{CompactShape, CompactShapes};
pub use csv::WeightFrames;
pub use one_euro::{OneEuro, OneEuroState};
pub use pca::ShapePca;
pub use rig::{RigSpec, ShapeRig};
pub use solve::{ShapeOutcome, ShapeSolver, SolveOptions};
pub use stand_ins::StandIns;

use std::ops::Range;

use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, dispatch, f32x8};
use serde::{Deserialize, Serialize};

use crate::vectors::{self, resized_or, scale};
use crate::{SkinError, SkinnedMesh, VertexBlock, VertexBlocks};

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

impl MorphTarget {
    /// Checks counts, vertices and finiteness; `target` names this one in the error.
    pub(crate) fn check(&self, target: usize, vertex_count: usize) -> Result<(), SkinError> {
        let expected = self.vertices.len();
        let counts = [
            ("positions", self.positions.len(), false),
            ("normals", self.normals.len(), self.normals.is_empty()),
        ];
        for (what, found, optional) in counts {
            if found != expected && !optional {
                return Err(SkinError::TargetCount {
                    target,
                    what,
                    found,
                    expected,
                });
            }
        }
        if let Some(vertex) = self.vertices.iter().find(|v| **v as usize >= vertex_count) {
            return Err(SkinError::NoVertex {
                target,
                vertex: *vertex,
                vertex_count,
            });
        }
        let finite = |v: &Vec3| v.iter().all(|c| c.is_finite());
        if !self.positions.iter().chain(&self.normals).all(finite) {
            return Err(SkinError::NotFinite {
                what: "morph target",
                index: target,
            });
        }
        Ok(())
    }
}

impl SkinnedMesh {
    /// Writes the rest vertices displaced by the morph targets: `x + Σ w · Δx` and `normalise(n + Σ w · Δn)`.
    ///
    /// * `weights`: one a target; 0 is skipped, any other value counts, negative and above 1 included.
    ///
    /// All of `out` is written: blocks that no target with weight moves are copies of the rest, to the bit. Costs a copy
    /// of the mesh plus the blocks of the targets with weight; allocates nothing. A frame whose weights are all 0 may
    /// skin [`rest`](Self::rest) itself.
    ///
    /// # Panics
    ///
    /// If `weights` is not one a target, or `out` has another number of vertices than this mesh.
    pub fn morph(&self, weights: &[f32], out: &mut VertexBlocks) {
        assert_eq!(weights.len(), self.target_count(), "one weight a target");
        assert_eq!(out.len(), self.vertex_count(), "vertices of another mesh");
        let (rest, blocks) = (self.rest().blocks(), self.morph_blocks());
        dispatch!(self.level(), simd => displace(simd, blocks, weights, rest, out.blocks_mut()));
    }
}

/// Blocks that are displaced together: they stay in the first-level cache, and their bits fit one word.
const CHUNK: usize = 64;

/// x, y, z displacements of eight vertices.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Delta([Lanes; 3]);

impl Delta {
    const ZERO: Self = Self([[0.0; LANES]; 3]);

    fn add(&mut self, lane: usize, displacement: Vec3) {
        for (part, value) in self.0.iter_mut().zip(displacement.iter()) {
            part[lane] += value;
        }
    }
}

/// The blocks of one chunk that one target moves.
#[derive(Clone, Debug)]
struct Run {
    target: u32,
    /// Places in `blocks` and `positions`.
    entries: Range<usize>,
    /// Place of the first entry in `normals`, if the target moves normals.
    normals: Option<usize>,
}

/// All targets of a mesh: chunk by chunk, then target by target, then block by block.
#[derive(Clone, Debug, Default)]
pub(crate) struct MorphBlocks {
    chunk_ends: Vec<usize>,
    runs: Vec<Run>,
    /// Which block of its chunk an entry moves.
    blocks: Vec<u8>,
    positions: Vec<Delta>,
    normals: Vec<Delta>,
}

impl MorphBlocks {
    /// Regroups checked `targets`; displacements of a vertex that is listed twice add up.
    pub(crate) fn new(targets: &[MorphTarget], vertex_from_source: &[u32]) -> Self {
        let mut blocks = Self::default();
        if targets.is_empty() {
            return blocks;
        }
        let vertex_count = vertex_from_source.len();
        // Each target's entries by the vertex that they move in block order.
        let mut sorted: Vec<Vec<(u32, u32)>> = targets
            .iter()
            .map(|target| {
                let vertices = target.vertices.iter().zip(0..);
                let mut moves: Vec<(u32, u32)> = vertices
                    .map(|(source, entry)| (vertex_from_source[*source as usize], entry))
                    .collect();
                moves.sort_unstable();
                moves
            })
            .collect();
        let mut rest: Vec<&mut [(u32, u32)]> = sorted.iter_mut().map(Vec::as_mut_slice).collect();
        for chunk in 0..vertex_count.div_ceil(CHUNK * LANES) {
            let end = (chunk + 1) * CHUNK * LANES;
            for (index, (target, rest)) in targets.iter().zip(&mut rest).enumerate() {
                let count = rest.partition_point(|(vertex, _)| (*vertex as usize) < end);
                let (moves, after) = std::mem::take(rest).split_at_mut(count);
                *rest = after;
                blocks.push_run(index, target, moves, vertex_count);
            }
            blocks.chunk_ends.push(blocks.runs.len());
        }
        blocks
    }

    /// Gives the weight, block and displacements of every block that a target with weight moves, target by target.
    pub(crate) fn for_each_moved(
        &self,
        weights: &[f32],
        mut visit: impl FnMut(f32, usize, &[Lanes; 3]),
    ) {
        self.for_each_entry(|target, block, deltas| {
            let weight = weights[target];
            if weight != 0.0 {
                visit(weight, block, deltas);
            }
        });
    }

    /// Gives the target, block and displacements of every block that a target moves, chunk by chunk, then target by target.
    pub(crate) fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, &[Lanes; 3])) {
        let mut start = 0;
        for (chunk, end) in self.chunk_ends.iter().enumerate() {
            for run in &self.runs[start..*end] {
                for entry in run.entries.clone() {
                    let block = chunk * CHUNK + usize::from(self.blocks[entry]);
                    visit(run.target as usize, block, &self.positions[entry].0);
                }
            }
            start = *end;
        }
    }

    /// Appends what `target` does to one chunk: `moves` are vertices in block order and their entries in the target.
    fn push_run(
        &mut self,
        index: usize,
        target: &MorphTarget,
        moves: &[(u32, u32)],
        vertex_count: usize,
    ) {
        let start = self.blocks.len();
        let normals = (!target.normals.is_empty()).then_some(self.normals.len());
        for (vertex, entry) in moves {
            let (vertex, entry) = (*vertex as usize, *entry as usize);
            let block = (vertex / LANES % CHUNK) as u8;
            if self.blocks.len() == start || self.blocks.last() != Some(&block) {
                self.blocks.push(block);
                self.positions.push(Delta::ZERO);
                self.normals.extend(normals.map(|_| Delta::ZERO));
            }
            let lane = vertex % LANES;
            // Spare lanes of the last block repeat the last vertex.
            let lanes = if vertex + 1 == vertex_count {
                lane..LANES
            } else {
                lane..lane + 1
            };
            for lane in lanes {
                if let Some(delta) = self.positions.last_mut() {
                    delta.add(lane, target.positions[entry]);
                }
                if let (Some(_), Some(delta)) = (normals, self.normals.last_mut()) {
                    delta.add(lane, target.normals[entry]);
                }
            }
        }
        if self.blocks.len() > start {
            self.runs.push(Run {
                target: index as u32,
                entries: start..self.blocks.len(),
                normals,
            });
        }
    }
}

#[inline(always)]
fn displace<S: Simd>(
    simd: S,
    blocks: &MorphBlocks,
    weights: &[f32],
    rest: &[VertexBlock],
    out: &mut [VertexBlock],
) {
    if blocks.chunk_ends.is_empty() {
        out.copy_from_slice(rest);
    }
    let one = f32x8::splat(simd, 1.0);
    let mut start = 0;
    let chunks = out.chunks_mut(CHUNK).zip(rest.chunks(CHUNK));
    for ((out, rest), end) in chunks.zip(&blocks.chunk_ends) {
        // Copied chunk by chunk, the vertices are still in the cache when they are displaced.
        out.copy_from_slice(rest);
        let mut turned = 0_u64;
        for run in &blocks.runs[start..*end] {
            let weight = weights[run.target as usize];
            if weight == 0.0 {
                continue;
            }
            let entries = &blocks.blocks[run.entries.clone()];
            let positions = &blocks.positions[run.entries.clone()];
            for (block, delta) in entries.iter().zip(positions) {
                add_scaled(simd, weight, delta, &mut out[usize::from(*block)].position);
            }
            if let Some(first) = run.normals {
                let normals = &blocks.normals[first..first + entries.len()];
                for (block, delta) in entries.iter().zip(normals) {
                    add_scaled(simd, weight, delta, &mut out[usize::from(*block)].normal);
                    turned |= 1 << block;
                }
            }
        }
        while turned != 0 {
            let normal = &mut out[turned.trailing_zeros() as usize].normal;
            let sum = vectors::load(simd, normal);
            vectors::store(resized_or(simd, sum, one, sum), normal);
            turned &= turned - 1;
        }
        start = *end;
    }
}

#[inline(always)]
fn add_scaled<S: Simd>(simd: S, weight: f32, delta: &Delta, out: &mut [Lanes; 3]) {
    let delta = scale(vectors::load(simd, &delta.0), f32x8::splat(simd, weight));
    let [x, y, z] = vectors::load(simd, out);
    vectors::store([x + delta[0], y + delta[1], z + delta[2]], out);
}
