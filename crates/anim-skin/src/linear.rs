//! Linear blend skinning: each vertex goes where the weighted mean of its joints' matrices takes it.
//!
//! The default deformer: any matrices, mirrors and shears included, and the fastest. Where joints twist by more than a
//! quarter turn the mean of rotations shrinks (at half weights and angle θ a tube keeps cos(θ/2) of its radius); use
//! twist joints or another deformer there.
//!
//! Normals turn with the blended matrix, and with its cofactors where a matrix of the block scales unevenly or shears:
//! `n′ = normalise(sign(det M) · cof(M) · n)`, which is the inverse transpose without its division, points outward under
//! mirrors, and stays finite where M collapses. The change of the weights along the surface is neglected, as everywhere.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Mat3, Transform, Vec3};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{Influences, Palette, SkinnedMesh, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let slope = Vec3::new(1.0, 1.0, 0.0).normalize();
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::x()], normals: vec![slope] },
//!     ..Mesh::default()
//! };
//! let joints = [skeleton.joint(0)];
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &Influences::rigid(1), &[])?;
//! let mut palette = Palette::new(1);
//! palette.set(0, Affine { linear: Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 1.0)), ..Affine::IDENTITY });
//! let mut surface = VertexBlocks::new(1);
//! skin.linear(skin.rest(), &palette, &mut surface);
//! // Stretched along y, a slope grows steep and its normal turns towards x.
//! assert!((surface.normal(0) - Vec3::new(2.0, 1.0, 0.0).normalize()).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, SimdFloat, dispatch, f32x4, f32x8};
use anim_math::{Affine, Vec3};
use anim_skeleton::globals::GlobalSlot;
use rayon::prelude::*;

use crate::palette::kind;
use crate::rigid_blend::mean_matrix;
use crate::skin_blocks::{JointList, MAX_DEPARTURES, SkinBlocks, WeightLanes};
use crate::vectors::{self, Vectors, cross, dot, resized_or, scale};
use crate::{Palette, SkinnedMesh, VertexBlock, VertexBlocks};

/// Blocks that one task skins: 16,384 vertices, some 25 µs.
const CHUNK: usize = 2048;

impl SkinnedMesh {
    /// Linear blend skinning of `source` (the rest vertices, or morphed ones) into `out`; O(V · joints per block).
    ///
    /// Normals come out of unit length; one that the matrices collapse is kept as it was in `source`. Meshes of more
    /// than 32,768 vertices are shared out in fixed chunks inside a rayon pool, with the same bits for any number of
    /// threads. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If `source` or `out` has another number of vertices than this mesh, or `palette` another number of joints.
    pub fn linear(&self, source: &VertexBlocks, palette: &Palette, out: &mut VertexBlocks) {
        assert_eq!(source.len(), self.vertex_count(), "source of another mesh");
        assert_eq!(out.len(), self.vertex_count(), "vertices of another mesh");
        assert_eq!(
            palette.len(),
            self.joints().len(),
            "palette of another skin"
        );
        let (source, out) = (source.blocks(), out.blocks_mut());
        if out.len() <= 2 * CHUNK || !chunks::in_pool() {
            self.linear_chunk(0, source, palette, out);
            return;
        }
        let chunks = source.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK));
        chunks.enumerate().for_each(|(chunk, (source, out))| {
            self.linear_chunk(chunk * CHUNK, source, palette, out);
        });
    }

    /// Where [`linear`](Self::linear) takes one vertex (block order), to the bit: its position and normal.
    ///
    /// For the few vertices that something else hangs from, such as the pins of a cloth.
    ///
    /// # Panics
    ///
    /// If `vertex` does not exist, or `source` or `palette` is of another size than this mesh's.
    pub fn linear_vertex(
        &self,
        vertex: usize,
        source: &VertexBlocks,
        palette: &Palette,
    ) -> (Vec3, Vec3) {
        assert!(
            vertex < self.vertex_count(),
            "vertex {vertex} does not exist"
        );
        assert_eq!(source.len(), self.vertex_count(), "source of another mesh");
        assert_eq!(
            palette.len(),
            self.joints().len(),
            "palette of another skin"
        );
        let block = vertex / LANES;
        let mut out = [VertexBlock::default()];
        self.linear_chunk(block, &source.blocks()[block..=block], palette, &mut out);
        let lane = |parts: [Lanes; 3]| Vec3::from(parts.map(|part| part[vertex % LANES]));
        (lane(out[0].position), lane(out[0].normal))
    }

    /// Skins blocks from `first` on.
    pub(crate) fn linear_chunk(
        &self,
        first: usize,
        source: &[VertexBlock],
        palette: &Palette,
        out: &mut [VertexBlock],
    ) {
        let blocks = self.skin_blocks();
        let kinds = palette.kinds().iter().fold(0, |all, kind| all | kind);
        if kind::needs_cofactors(kinds) {
            dispatch!(self.level(), simd => blend_blocks::<_, true>(simd, blocks, first, source, palette, out));
        } else {
            dispatch!(self.level(), simd => blend_blocks::<_, false>(simd, blocks, first, source, palette, out));
        }
    }
}

/// Blocks whose normals are made unit together, while they are in the first-level cache: a root and a division take half as
/// long as blending a block does, and only side by side do they not wait for each other.
const GROUP: usize = 32;

/// Skins `source`; without `COFACTORS` no matrix of the palette needs them.
///
/// At two joints a block some 70 vector operations and one root and division, against 57 bytes a vertex: two to three times as
/// long as copying the vertices. Blocks with one list of joints go through together, so that the list is looked at once.
#[inline(always)]
fn blend_blocks<S: Simd, const COFACTORS: bool>(
    simd: S,
    blocks: &SkinBlocks,
    first: usize,
    source: &[VertexBlock],
    palette: &Palette,
    out: &mut [VertexBlock],
) {
    let one = f32x8::splat(simd, 1.0);
    let slots = palette.slots();
    let (mut start, mut ends) = blocks.ends_from(first);
    let mut lists = blocks.lists_from(first);
    let mut departures = [GlobalSlot::IDENTITY; MAX_DEPARTURES];
    let mut is_first = true;
    for (source, out) in source.chunks(GROUP).zip(out.chunks_mut(GROUP)) {
        let (mut from, mut to) = (source, &mut *out);
        while let ([end, ..], [list, ..]) = (ends, lists)
            && !from.is_empty()
        {
            let joints = &blocks.joints()[start..*end];
            let is_repeated = |list: &&JointList| **list == JointList::Repeated;
            let repeats = lists[1..from.len()].iter().take_while(is_repeated);
            let count = 1 + repeats.count();
            let end = start + count * joints.len();
            let weights = blocks.weights()[start..end].chunks_exact(joints.len());
            let (run, rest) = from.split_at(count);
            let (run_out, rest_out) = std::mem::take(&mut to).split_at_mut(count);
            let parts = run.iter().zip(run_out).zip(weights);
            let cofactors = COFACTORS && kind::needs_cofactors(kinds_of(joints, palette.kinds()));
            if *list == JointList::Mixed {
                for ((source, out), weights) in parts {
                    let matrices = blend(simd, joints, weights, slots);
                    transform(simd, matrices, cofactors, source, out);
                }
            } else {
                if is_first || *list == JointList::Anchored {
                    depart(simd, joints, slots, &mut departures);
                }
                let anchor = &slots[usize::from(joints[0])];
                for ((source, out), weights) in parts {
                    let matrices = blend_departures(simd, anchor, &departures, &weights[1..]);
                    transform(simd, matrices, cofactors, source, out);
                }
            }
            is_first = false;
            (from, to, start) = (rest, rest_out, end);
            (ends, lists) = (&ends[count..], &lists[count..]);
        }
        for (source, out) in source.iter().zip(out) {
            let turned = vectors::load(simd, &out.normal);
            let rest = vectors::load(simd, &source.normal);
            vectors::store(resized_or(simd, turned, one, rest), &mut out.normal);
        }
    }
}

/// Moves positions and turns normals, which keep whatever length comes out.
#[inline(always)]
fn transform<S: Simd>(
    simd: S,
    [[a, b, c, x], [d, e, f, y], [g, h, i, z]]: [[f32x8<S>; 4]; 3],
    by_cofactors: bool,
    source: &VertexBlock,
    out: &mut VertexBlock,
) {
    let linear = [[a, b, c], [d, e, f], [g, h, i]];
    let position = product(linear, vectors::load(simd, &source.position));
    let position = [position[0] + x, position[1] + y, position[2] + z];
    vectors::store(position, &mut out.position);
    let normal = vectors::load(simd, &source.normal);
    let turned = if by_cofactors {
        let cofactors = cofactors(linear);
        let outward = f32x8::splat(simd, 1.0).copysign(dot(linear[0], cofactors[0]));
        scale(product(cofactors, normal), outward)
    } else {
        product(linear, normal)
    };
    vectors::store(turned, &mut out.normal);
}

/// How the matrices of `joints`, from the second on, differ from the first one's.
#[inline(always)]
fn depart<S: Simd>(
    simd: S,
    joints: &[u16],
    slots: &[GlobalSlot],
    departures: &mut [GlobalSlot; MAX_DEPARTURES],
) {
    let Some((anchor, others)) = joints.split_first() else {
        return;
    };
    let [x, y, z, _] = &slots[usize::from(*anchor)].0;
    let x = f32x4::from_slice(simd, x);
    let y = f32x4::from_slice(simd, y);
    let z = f32x4::from_slice(simd, z);
    for (joint, departure) in others.iter().zip(departures) {
        let [a, b, c, _] = &slots[usize::from(*joint)].0;
        let [out_x, out_y, out_z, _] = &mut departure.0;
        (f32x4::from_slice(simd, a) - x).store_slice(out_x);
        (f32x4::from_slice(simd, b) - y).store_slice(out_y);
        (f32x4::from_slice(simd, c) - z).store_slice(out_z);
    }
}

/// A + Σ wⱼ (Mⱼ − A), one a lane: Σ wⱼ Mⱼ, as weights sum to exactly 1, with a third fewer operations at two joints. Equal
/// matrices give themselves, to the bit.
#[inline(always)]
fn blend_departures<S: Simd>(
    simd: S,
    anchor: &GlobalSlot,
    departures: &[GlobalSlot; MAX_DEPARTURES],
    weights: &[WeightLanes],
) -> [[f32x8<S>; 4]; 3] {
    let mut sums = [[f32x8::splat(simd, 0.0); 4]; 3];
    let mut influences = departures.iter().zip(weights);
    // The anchor is the second operand of the first sums, where it costs no instruction of its own.
    if let Some((departure, weights)) = influences.next() {
        let weights = f32x8::from_slice(simd, &weights.0);
        for ((sums, values), starts) in sums.iter_mut().zip(&departure.0).zip(&anchor.0) {
            for ((sum, value), start) in sums.iter_mut().zip(values).zip(starts) {
                *sum = weights * *value + *start;
            }
        }
    } else {
        for (sums, starts) in sums.iter_mut().zip(&anchor.0) {
            for (sum, start) in sums.iter_mut().zip(starts) {
                *sum = f32x8::splat(simd, *start);
            }
        }
    }
    for (departure, weights) in influences {
        let weights = f32x8::from_slice(simd, &weights.0);
        for (sums, values) in sums.iter_mut().zip(&departure.0) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weights * *value;
            }
        }
    }
    sums
}

/// The weighted sums of matrices, one a lane.
#[inline(always)]
pub(crate) fn blend<S: Simd>(
    simd: S,
    joints: &[u16],
    weights: &[WeightLanes],
    slots: &[GlobalSlot],
) -> [[f32x8<S>; 4]; 3] {
    let mut sums = [[f32x8::splat(simd, 0.0); 4]; 3];
    let mut influences = joints.iter().zip(weights);
    // The first is written, not added to zero: twelve additions less of some ninety operations a block.
    if let Some((joint, weights)) = influences.next() {
        let weights = f32x8::from_slice(simd, &weights.0);
        for (sums, values) in sums.iter_mut().zip(&slots[usize::from(*joint)].0) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = weights * *value;
            }
        }
    }
    for (joint, weights) in influences {
        let weights = f32x8::from_slice(simd, &weights.0);
        for (sums, values) in sums.iter_mut().zip(&slots[usize::from(*joint)].0) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += weights * *value;
            }
        }
    }
    sums
}

/// Σ wⱼ Mⱼ of one vertex, block order.
pub(crate) fn lane_matrix(blocks: &SkinBlocks, palette: &Palette, vertex: usize) -> Affine {
    mean_matrix(blocks.influences(vertex), |joint| palette.get(joint))
}

/// True if [`SkinnedMesh::linear`] turns the normal of `vertex`, block order, with the cofactors of its matrix.
pub(crate) fn turns_by_cofactors(blocks: &SkinBlocks, palette: &Palette, vertex: usize) -> bool {
    let joints = blocks.influences(vertex);
    let kinds = joints.fold(0, |all, (joint, _)| all | palette.kinds()[joint]);
    kind::needs_cofactors(kinds)
}

/// The union of the kinds of some of a palette's matrices.
#[inline(always)]
fn kinds_of(joints: &[u16], kinds: &[u8]) -> u8 {
    let mut union = 0;
    for joint in joints {
        union |= kinds[usize::from(*joint)];
    }
    union
}

/// Eight matrices, by rows, times eight vectors.
#[inline(always)]
pub(crate) fn product<S: Simd>([x, y, z]: [Vectors<S>; 3], vectors: Vectors<S>) -> Vectors<S> {
    [dot(x, vectors), dot(y, vectors), dot(z, vectors)]
}

/// The cofactor matrices of eight matrices, by rows.
#[inline(always)]
pub(crate) fn cofactors<S: Simd>([x, y, z]: [Vectors<S>; 3]) -> [Vectors<S>; 3] {
    [cross(y, z), cross(z, x), cross(x, y)]
}
