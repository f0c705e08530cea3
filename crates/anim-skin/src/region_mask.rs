//! Masks: how far each vertex follows one deformer or another.
//!
//! A mask of painted weights mixes two results vertex by vertex: dual quaternions in the shoulders and the linear blend
//! elsewhere ([`SkinnedMesh::dual_quaternion_blended`]), or any deformer in one region ([`RegionMask::mix`]). Where a mask
//! jumps from 0 to 1 between neighbours the surface tears by as much as the two results differ: let it fall off over some
//! rings of vertices, within what one joint moves if possible, where most deformers agree.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::{Influences, RegionMask, SkinnedMesh};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = Mesh {
//! #     rest: Vertices { positions: vec![Vec3::zeros(); 2], normals: vec![Vec3::z(); 2] }, ..Mesh::default() };
//! # let skin = SkinnedMesh::new(
//! #     &mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(2), &[])?;
//! let mask = RegionMask::new(&skin, &[0.0, 0.25])?;
//! let mut surface = skin.rest().clone();
//! let mut other = surface.clone();
//! other.set_position(0, Vec3::x());
//! other.set_position(1, Vec3::x());
//! mask.mix(&skin, &other, &mut surface);
//! assert_eq!(surface.position(0), Vec3::zeros());
//! assert_eq!(surface.position(1), 0.25 * Vec3::x());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, dispatch, f32x8};

use crate::vectors::{self, Vectors, difference, resized_or};
use crate::{DualPalette, Palette, SkinError, SkinnedMesh, VertexBlock, VertexBlocks};

/// Blocks that are mixed while they are in the first-level cache.
const RUN: usize = 64;

/// A factor in [0, 1] for each vertex of one mesh, block order inside.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionMask {
    vertex_count: usize,
    factors: Vec<Lanes>,
}

impl RegionMask {
    /// A mask of `factors` in source order; they are clamped to [0, 1].
    ///
    /// # Errors
    ///
    /// [`SkinError::Count`] if they are not one a vertex, [`SkinError::NotFinite`] if one is NaN or infinite.
    pub fn new(skin: &SkinnedMesh, factors: &[f32]) -> Result<Self, SkinError> {
        check_factors("mask", skin, factors)?;
        let blocks = skin.source_from_vertex().chunks(LANES).map(|sources| {
            let source = |lane: usize| sources[lane.min(sources.len() - 1)] as usize;
            std::array::from_fn(|lane| factors[source(lane)].clamp(0.0, 1.0))
        });
        Ok(Self {
            vertex_count: factors.len(),
            factors: blocks.collect(),
        })
    }

    /// The factor of `vertex`, block order.
    pub fn factor(&self, vertex: usize) -> f32 {
        self.factors[vertex / LANES][vertex % LANES]
    }

    /// Moves `out` towards `other` by each vertex's factor; normals stay unit. O(V), allocates nothing.
    ///
    /// Where the factor is 0, `out` keeps its bits, and where it is 1 it gets those of `other`.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh.
    pub fn mix(&self, skin: &SkinnedMesh, other: &VertexBlocks, out: &mut VertexBlocks) {
        assert_eq!(
            self.vertex_count,
            skin.vertex_count(),
            "mask of another mesh"
        );
        assert_eq!(other.len(), self.vertex_count, "vertices of another mesh");
        assert_eq!(out.len(), self.vertex_count, "vertices of another mesh");
        let other = other.blocks();
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            let (factors, other) = (&self.factors[first..], &other[first..]);
            dispatch!(skin.level(), simd => mix_blocks(simd, factors, other, out));
        });
    }
}

impl SkinnedMesh {
    /// [`linear`](Self::linear) where `mask` is 0, [`dual_quaternion`](Self::dual_quaternion) where it is 1, between them a
    /// straight mix of the two: the "weight blended" skins of modelling programs.
    ///
    /// Runs of 512 vertices that the mask leaves to one of the two cost only that one, others both. `motions` must come
    /// from `palette`. The same bits for any number of threads; allocates nothing.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin.
    pub fn dual_quaternion_blended(
        &self,
        source: &VertexBlocks,
        palette: &Palette,
        motions: &DualPalette,
        mask: &RegionMask,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(source.len(), self.vertex_count(), "source of another mesh");
        assert_eq!(out.len(), self.vertex_count(), "vertices of another mesh");
        assert_eq!(
            mask.vertex_count,
            self.vertex_count(),
            "mask of another mesh"
        );
        assert_eq!(
            palette.len(),
            self.joints().len(),
            "palette of another skin"
        );
        assert_eq!(motions.len(), palette.len(), "dual palette of another skin");
        let source = source.blocks();
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            for (run, out) in out.chunks_mut(RUN).enumerate() {
                let first = first + run * RUN;
                let blocks = first..first + out.len();
                let (source, factors) = (&source[blocks.clone()], &mask.factors[blocks]);
                if !all(factors, 1.0) {
                    self.linear_chunk(first, source, palette, out);
                }
                if all(factors, 1.0) {
                    self.dual_quaternion_chunk(first, source, motions, out);
                } else if !all(factors, 0.0) {
                    let other = &mut [VertexBlock::default(); RUN][..out.len()];
                    self.dual_quaternion_chunk(first, source, motions, other);
                    dispatch!(self.level(), simd => mix_blocks(simd, factors, other, out));
                }
            }
        });
    }
}

/// That there is one finite factor a vertex.
pub(crate) fn check_factors(
    what: &'static str,
    skin: &SkinnedMesh,
    factors: &[f32],
) -> Result<(), SkinError> {
    if factors.len() != skin.vertex_count() {
        return Err(SkinError::Count {
            what,
            found: factors.len(),
            vertex_count: skin.vertex_count(),
        });
    }
    match factors.iter().position(|factor| !factor.is_finite()) {
        Some(index) => Err(SkinError::NotFinite { what, index }),
        None => Ok(()),
    }
}

fn all(factors: &[Lanes], value: f32) -> bool {
    factors.iter().flatten().all(|factor| *factor == value)
}

/// `out` ← `out` + factor · (`other` − `out`); where the factor is 0 or 1, one of the two to the bit.
#[inline(always)]
fn mix_blocks<S: Simd>(simd: S, factors: &[Lanes], other: &[VertexBlock], out: &mut [VertexBlock]) {
    let one = f32x8::splat(simd, 1.0);
    for ((factors, other), out) in factors.iter().zip(other).zip(out) {
        let factor = f32x8::from_slice(simd, factors);
        let (from, to) = (
            vectors::load(simd, &out.position),
            vectors::load(simd, &other.position),
        );
        let mixed = between(from, to, factor);
        vectors::store(whole_or(simd, factor, from, to, mixed), &mut out.position);
        let (from, to) = (
            vectors::load(simd, &out.normal),
            vectors::load(simd, &other.normal),
        );
        let mixed = resized_or(simd, between(from, to, factor), one, from);
        vectors::store(whole_or(simd, factor, from, to, mixed), &mut out.normal);
    }
}

#[inline(always)]
fn between<S: Simd>(from: Vectors<S>, to: Vectors<S>, factor: f32x8<S>) -> Vectors<S> {
    let step = difference(to, from);
    [
        from[0] + step[0] * factor,
        from[1] + step[1] * factor,
        from[2] + step[2] * factor,
    ]
}

/// `from` where the factor is 0, `to` where it is 1, else `mixed`.
#[inline(always)]
fn whole_or<S: Simd>(
    simd: S,
    factor: f32x8<S>,
    from: Vectors<S>,
    to: Vectors<S>,
    mixed: Vectors<S>,
) -> Vectors<S> {
    let has_other = simd.simd_gt_f32x8(factor, f32x8::splat(simd, 0.0));
    let has_own = simd.simd_lt_f32x8(factor, f32x8::splat(simd, 1.0));
    let mixed = [
        simd.select_f32x8(has_own, mixed[0], to[0]),
        simd.select_f32x8(has_own, mixed[1], to[1]),
        simd.select_f32x8(has_own, mixed[2], to[2]),
    ];
    [
        simd.select_f32x8(has_other, mixed[0], from[0]),
        simd.select_f32x8(has_other, mixed[1], from[1]),
        simd.select_f32x8(has_other, mixed[2], from[2]),
    ]
}
