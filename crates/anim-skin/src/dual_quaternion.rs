//! Dual quaternion skinning: blends rigid motions instead of matrices, so that twisting joints keep their volume.
//!
//! Use it where [`linear`](crate::linear) collapses, in shoulders, wrists and necks; it takes twice as long. Its own
//! fault is a bulge at sharp bends. A quaternion and its negative are one motion, so signs must be chosen. A mesh that
//! knows its [skeleton](SkinnedMesh::with_skeleton) has them along the hierarchy: a chain twisted by 0°, 120° and 240° turns
//! evenly. Without one each vertex takes its joints' with the sign nearest to that of its heaviest joint (the first in
//! the list of equally heavy ones); three joints that twist by more than 180° among themselves then have no consistent
//! signs, and where their weights cross, neighbours may turn opposite ways. Either way no frame depends on the one before.
//!
//! Joints that scale or shear stretch the vertices first, Σ wⱼ (s pⱼ + Sⱼ (v − pⱼ)) about the joints' places pⱼ in the bind
//! pose, then move them rigidly; s is the scale that the joints [share](crate::dual_palette), 1 for most figures. So one joint alone, or all with one matrix, give what [`linear`](crate::linear) gives,
//! whatever the matrix.
//! If all matrices mirror, the result is the mirror image of that without the mirror. If only some do, their S = −P is
//! negative (P positive definite) and the stretch passes through zero where they meet the others, as linear blends do.
//!
//! ```
//! # use anim_geom::{Mesh, Vertices};
//! # use anim_math::{Affine, Transform, Vec3, quat};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualPalette, Influences, Palette, SkinnedMesh, VertexBlocks};
//! # let joint = JointSpec { name: None, parent: None, rest: Transform::IDENTITY };
//! # let skeleton = Skeleton::new(vec![joint; 2])?;
//! # let joints = [skeleton.joint(0), skeleton.joint(1)];
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::y()], normals: vec![Vec3::y()] },
//!     ..Mesh::default()
//! };
//! let halves = Influences { per_vertex: 2, joints: vec![0, 1], weights: vec![0.5, 0.5] };
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY; 2], &halves, &[])?;
//! let twist = quat::from_axis_angle(Vec3::x(), 170_f32.to_radians());
//! let mut palette = skin.palette_buffer();
//! palette.set(1, Transform::from_rotation(twist).into());
//!
//! let mut motions = DualPalette::new(palette.len());
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! skin.dual_palette(&palette, &mut motions);
//! skin.dual_quaternion(skin.rest(), &motions, &mut surface);
//! // The linear blend would leave 9 % of the radius.
//! assert!((surface.position(0).norm() - 1.0).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::lanes::{Simd, SimdBase, SimdFloat, dispatch, f32x8};
use rayon::prelude::*;

use crate::dual_palette::MotionSlot;
use crate::linear::{blend, cofactors, product};
use crate::skin_blocks::{SkinBlocks, WeightLanes};
use crate::vectors::{self, Vectors, cross, dot, resized_or, turned};
use crate::{DualPalette, SkinnedMesh, VertexBlock, VertexBlocks};

/// Blocks that one task skins: 16,384 vertices, some 50 µs.
const CHUNK: usize = 2048;

/// Blends of [aligned](DualPalette::is_aligned) quaternions shorter than the root of this, an eighth, have no direction worth
/// keeping: rounding would show. The heaviest joint then gives the signs.
pub(crate) const SHORT: f32 = 1.0 / 64.0;

/// cos 45°, rounded up: quaternions within that angle of one have no obtuse angle among themselves.
const CONE: f32 = 0.7072;

impl SkinnedMesh {
    /// Dual quaternion skinning of `source` (the rest vertices, or morphed ones) into `out`; O(V · joints per block).
    ///
    /// Normals keep their length of 1 or 0. Meshes of more than 32,768 vertices are shared out in fixed chunks inside a
    /// rayon pool, with the same bits for any number of threads. Allocates nothing.
    ///
    /// Source: Kavan, Collins, Žára, O'Sullivan, "Geometric skinning with approximate dual quaternion blending", TOG
    /// 2008 (dual quaternion linear blending); its normalisation is the one division by |r|² here.
    ///
    /// # Panics
    ///
    /// If `source` or `out` has another number of vertices than this mesh, or `palette` another number of joints.
    pub fn dual_quaternion(
        &self,
        source: &VertexBlocks,
        palette: &DualPalette,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(source.len(), self.vertex_count(), "source of another mesh");
        assert_eq!(out.len(), self.vertex_count(), "vertices of another mesh");
        assert_eq!(
            palette.len(),
            self.joints().len(),
            "palette of another skin"
        );
        let (source, out) = (source.blocks(), out.blocks_mut());
        if out.len() <= 2 * CHUNK || !chunks::in_pool() {
            self.dual_quaternion_chunk(0, source, palette, out);
            return;
        }
        let chunks = source.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK));
        chunks.enumerate().for_each(|(chunk, (source, out))| {
            self.dual_quaternion_chunk(chunk * CHUNK, source, palette, out);
        });
    }

    /// Skins blocks from `first` on.
    pub(crate) fn dual_quaternion_chunk(
        &self,
        first: usize,
        source: &[VertexBlock],
        palette: &DualPalette,
        out: &mut [VertexBlock],
    ) {
        let blocks = self.skin_blocks();
        if palette.any_stretched() {
            dispatch!(self.level(), simd => move_blocks::<_, true>(simd, blocks, first, source, palette, out));
        } else {
            dispatch!(self.level(), simd => move_blocks::<_, false>(simd, blocks, first, source, palette, out));
        }
    }
}

/// Skins `source`; without `STRETCH` all joints of the palette are rigid.
#[inline(always)]
fn move_blocks<S: Simd, const STRETCH: bool>(
    simd: S,
    blocks: &SkinBlocks,
    first: usize,
    source: &[VertexBlock],
    palette: &DualPalette,
    out: &mut [VertexBlock],
) {
    let mirror = f32x8::splat(simd, if palette.is_mirrored() { -1.0 } else { 1.0 });
    let two = f32x8::splat(simd, 2.0);
    let (mut start, ends) = blocks.ends_from(first);
    for ((source, out), end) in source.iter().zip(out).zip(ends) {
        let joints = &blocks.joints()[start..*end];
        let weights = &blocks.weights()[start..*end];
        start = *end;
        let mut position = vectors::load(simd, &source.position);
        let mut normal = vectors::load(simd, &source.normal);
        if STRETCH && any_of(joints, palette.stretched()) {
            [position, normal] = stretch(simd, joints, weights, palette, position, normal);
        }

        let [rx, ry, rz, rw, dx, dy, dz, dw] =
            blend_motions::<_, 8>(simd, joints, weights, palette);
        let (real, dual) = ([rx, ry, rz], [dx, dy, dz]);
        // With v = imag r and d = imag d, all over |r|²: x′ = x + 2 (v × (v × x + r_w x + d) + r_w d − d_w v).
        let twice = two / (dot(real, real) + rw * rw);
        let bent = cross(real, position);
        let bent = [
            bent[0] + rw * position[0] + dx,
            bent[1] + rw * position[1] + dy,
            bent[2] + rw * position[2] + dz,
        ];
        let bent = cross(real, bent);
        let moved = [
            position[0] + twice * (bent[0] + (rw * dual[0] - dw * rx)),
            position[1] + twice * (bent[1] + (rw * dual[1] - dw * ry)),
            position[2] + twice * (bent[2] + (rw * dual[2] - dw * rz)),
        ];
        vectors::store([moved[0] * mirror, moved[1], moved[2]], &mut out.position);

        let turned = turned(normal, real, rw, twice);
        vectors::store([turned[0] * mirror, turned[1], turned[2]], &mut out.normal);
    }
}

/// True if any of some joints has its flag set.
#[inline(always)]
pub(crate) fn any_of(joints: &[u16], flags: &[bool]) -> bool {
    let mut any = false;
    for joint in joints {
        any |= flags[usize::from(*joint)];
    }
    any
}

/// The positions and normals under the weighted sums of stretches.
#[inline(always)]
fn stretch<S: Simd>(
    simd: S,
    joints: &[u16],
    weights: &[WeightLanes],
    palette: &DualPalette,
    position: Vectors<S>,
    normal: Vectors<S>,
) -> [Vectors<S>; 2] {
    let [[a, b, c, x], [d, e, f, y], [g, h, i, z]] =
        blend(simd, joints, weights, palette.stretches());
    let linear = [[a, b, c], [d, e, f], [g, h, i]];
    let stretched = product(linear, position);
    let cofactors = cofactors(linear);
    let outward = f32x8::splat(simd, 1.0).copysign(dot(linear[0], cofactors[0]));
    [
        [stretched[0] + x, stretched[1] + y, stretched[2] + z],
        resized_or(simd, product(cofactors, normal), outward, normal),
    ]
}

/// The weighted sums of motions, not yet unit, one a lane: x, y, z, w of the real parts (N = 4), then of the dual ones (8).
///
/// The real part is never shorter than the largest weight where signs come from the heaviest joint, since no other counts
/// against it, nor than an eighth where they are aligned.
#[inline(always)]
pub(crate) fn blend_motions<S: Simd, const N: usize>(
    simd: S,
    joints: &[u16],
    weights: &[WeightLanes],
    palette: &DualPalette,
) -> [f32x8<S>; N] {
    let motions = &palette.motions;
    if !palette.is_aligned() {
        return blend_signed(simd, joints, weights, motions);
    }
    let mut sums = blend_aligned::<_, N>(simd, joints, weights, motions);
    let length_squared =
        dot([sums[0], sums[1], sums[2]], [sums[0], sums[1], sums[2]]) + sums[3] * sums[3];
    let long = simd.simd_ge_f32x8(length_squared, f32x8::splat(simd, SHORT));
    if simd.any_false_mask32x8(long) {
        let pivoted = blend_pivoted::<_, N>(simd, joints, weights, motions);
        for (sum, pivoted) in sums.iter_mut().zip(pivoted) {
            *sum = simd.select_f32x8(long, *sum, pivoted);
        }
    }
    sums
}

/// [`blend_motions`] with the signs as they are.
#[inline(always)]
fn blend_aligned<S: Simd, const N: usize>(
    simd: S,
    joints: &[u16],
    weights: &[WeightLanes],
    motions: &[MotionSlot],
) -> [f32x8<S>; N] {
    let mut sums = [f32x8::splat(simd, 0.0); N];
    let mut influences = joints.iter().zip(weights);
    if let Some((joint, weights)) = influences.next() {
        let weights = f32x8::from_slice(simd, &weights.0);
        for (sum, value) in sums.iter_mut().zip(&motions[usize::from(*joint)].0) {
            *sum = weights * *value;
        }
    }
    for (joint, weights) in influences {
        let weights = f32x8::from_slice(simd, &weights.0);
        for (sum, value) in sums.iter_mut().zip(&motions[usize::from(*joint)].0) {
            *sum += weights * *value;
        }
    }
    sums
}

/// [`blend_motions`] with signs for each block, or for each lane where a block's motions lie far apart.
#[inline(always)]
fn blend_signed<S: Simd, const N: usize>(
    simd: S,
    joints: &[u16],
    block_weights: &[WeightLanes],
    motions: &[MotionSlot],
) -> [f32x8<S>; N] {
    let mut sums = [f32x8::splat(simd, 0.0); N];
    let mut influences = joints.iter().zip(block_weights);
    let Some((first, first_weights)) = influences.next() else {
        return sums;
    };
    let first = &motions[usize::from(*first)].0;
    let first_weights = f32x8::from_slice(simd, &first_weights.0);
    for (sum, value) in sums.iter_mut().zip(first) {
        *sum = first_weights * *value;
    }
    for (joint, weights) in influences {
        let motion = &motions[usize::from(*joint)].0;
        let cosine = (first[0] * motion[0] + first[1] * motion[1])
            + (first[2] * motion[2] + first[3] * motion[3]);
        // Two motions, or many close to one, have the same signs whichever is the heaviest.
        if joints.len() > 2 && cosine.abs() < CONE {
            return blend_pivoted(simd, joints, block_weights, motions);
        }
        let weights = f32x8::from_slice(simd, &weights.0) * 1_f32.copysign(cosine);
        for (sum, value) in sums.iter_mut().zip(motion) {
            *sum += weights * *value;
        }
    }
    sums
}

/// [`blend_motions`] for motions that lie far apart: in each lane the heaviest joint gives the signs.
#[inline(always)]
fn blend_pivoted<S: Simd, const N: usize>(
    simd: S,
    joints: &[u16],
    weights: &[WeightLanes],
    motions: &[MotionSlot],
) -> [f32x8<S>; N] {
    let zero = f32x8::splat(simd, 0.0);
    let mut pivot = [zero; 4];
    let mut heaviest = zero;
    for (joint, weights) in joints.iter().zip(weights) {
        let motion = &motions[usize::from(*joint)].0;
        let weights = f32x8::from_slice(simd, &weights.0);
        let heavier = simd.simd_gt_f32x8(weights, heaviest);
        heaviest = simd.select_f32x8(heavier, weights, heaviest);
        for (part, value) in pivot.iter_mut().zip(motion) {
            *part = simd.select_f32x8(heavier, f32x8::splat(simd, *value), *part);
        }
    }
    let mut sums = [zero; N];
    for (joint, weights) in joints.iter().zip(weights) {
        let motion = &motions[usize::from(*joint)].0;
        let weights = f32x8::from_slice(simd, &weights.0);
        let cosine = (pivot[0] * motion[0] + pivot[1] * motion[1])
            + (pivot[2] * motion[2] + pivot[3] * motion[3]);
        let opposite = simd.simd_lt_f32x8(cosine, zero);
        let weights = simd.select_f32x8(opposite, zero - weights, weights);
        for (sum, value) in sums.iter_mut().zip(motion) {
            *sum += weights * *value;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use anim_geom::{Mesh, Vertices};
    use anim_math::{Affine, Transform, Vec3, quat};
    use anim_skeleton::{JointSpec, Skeleton};

    use super::*;
    use crate::Influences;

    /// 64 vertices that follow four of six joints each, and motions up to 300° apart.
    fn scattered() -> (SkinnedMesh, DualPalette) {
        let joint = JointSpec {
            name: None,
            parent: None,
            rest: Transform::IDENTITY,
        };
        let skeleton = Skeleton::new(vec![joint; 6]).unwrap();
        let joints: Vec<_> = (0..6).map(|joint| skeleton.joint(joint)).collect();
        let mesh = Mesh {
            rest: Vertices {
                positions: (0..64)
                    .map(|v| Vec3::new(1.0, v as f32 * 0.1, 0.5))
                    .collect(),
                normals: vec![Vec3::x(); 64],
            },
            ..Mesh::default()
        };
        let influences = Influences {
            per_vertex: 4,
            joints: (0..256).map(|i| (i * 7 / 4 % 6) as u16).collect(),
            weights: (0..256).map(|i| 1.0 + (i * 5 % 11) as f32).collect(),
        };
        let skin =
            SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY; 6], &influences, &[]).unwrap();
        // Motions made without the skeleton have signs for each vertex.
        let mut palette = skin.palette_buffer();
        for place in 0..6 {
            let axis = Vec3::new(1.0, place as f32 - 2.0, 0.5).normalize();
            let transform = Transform {
                translation: axis,
                rotation: quat::from_axis_angle(axis, place as f32),
                ..Transform::IDENTITY
            };
            palette.set(place, transform.into());
        }
        let mut motions = DualPalette::new(6);
        skin.dual_palette(&palette, &mut motions);
        (skin.with_skeleton(&skeleton), motions)
    }

    fn skinned(skin: &SkinnedMesh, motions: &DualPalette) -> VertexBlocks {
        let mut out = VertexBlocks::new(skin.vertex_count());
        skin.dual_quaternion(skin.rest(), motions, &mut out);
        out
    }

    #[test]
    fn negating_the_dual_quaternion_of_any_joints_changes_no_bit() {
        let (skin, motions) = scattered();
        let expected = skinned(&skin, &motions);
        for negated in 1..64_u32 {
            let mut motions = motions.clone();
            for (place, motion) in motions.motions.iter_mut().enumerate() {
                if negated & (1 << place) != 0 {
                    motion.0 = motion.0.map(|part| -part);
                }
            }
            assert_eq!(skinned(&skin, &motions), expected, "{negated:b}");
        }
    }

    #[test]
    fn aligned_signs_do_not_depend_on_those_of_the_rotations() {
        let (skin, mut motions) = scattered();
        let unaligned = skinned(&skin, &motions);
        motions.align(skin.kin());
        let expected = skinned(&skin, &motions);
        assert_ne!(expected, unaligned);
        for negated in 1..64_u32 {
            let mut motions = motions.clone();
            for (place, motion) in motions.motions.iter_mut().enumerate() {
                if negated & (1 << place) != 0 {
                    motion.0 = motion.0.map(|part| -part);
                }
            }
            motions.align(skin.kin());
            assert_eq!(skinned(&skin, &motions), expected, "{negated:b}");
        }
    }
}
