//! Direct delta mush: the look of [`delta_mush`](crate::delta_mush) without its passes, from rigid blends alone.
//!
//! For each vertex and joint a symmetric 4×4 matrix Ω holds how the smoothed surface around the vertex follows the joint:
//! its weight, centroid and second moments. A frame sums the matrices moved by the joints and takes the nearest rotation.
//! Rigid weights, one joint a vertex, are enough. What joints stretch or mirror goes before the rotation, by the weighted
//! mean S of their stretches: R is then that of the matrices times S, which is a rotation times S (Σ Ω) S.
//! Smoothing solves (D + λ L) x = D b, symmetric and positive definite on any mesh, so the weights sum to one: the
//! factorisation is why this module needs the feature `solve`.
//!
//! ```
//! # use anim_geom::primitives;
//! # use anim_math::{Affine, Transform};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::*;
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = primitives::sphere(1.0, 12, 8);
//! # let influences = Influences::rigid(mesh.vertex_count());
//! # let skin = SkinnedMesh::new(&mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &influences, &[])?;
//! let mush = DirectDeltaMush::new(&skin, &DirectDeltaMushOptions::default())?;
//! let palette = skin.palette_buffer();
//! let mut motions = DualPalette::new(palette.len());
//! skin.dual_palette(&palette, &mut motions);
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! mush.deform(skin.rest(), &palette, &motions, &mut surface);
//! assert!((surface.position(5) - skin.rest().position(5)).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_geom::sparse::Cholesky;
use anim_math::lanes::{LANES, Lanes, Level, Simd, SimdBase, SimdFloat, dispatch, f32x8};
use anim_math::nalgebra::{Matrix3, Vector3};

use crate::linear::{cofactors, product};
use crate::nearest_rotation::nearest_rotation;
use crate::surface_graph::SurfaceGraph;
use crate::vectors::{self, difference, dot, resized_or, scale, turned};
use crate::{DualPalette, Palette, SkinError, SkinnedMesh, VertexBlock, VertexBlocks};

/// How much is smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectDeltaMushOptions {
    /// p: how many times the surface is smoothed.
    pub steps: u32,
    /// λ ≥ 0: how much at once; smoothing reaches some √(p λ) rings far.
    pub smoothing: f64,
    /// κ ≥ 0: the same for the weights that translations follow.
    pub translation_smoothing: f64,
    /// α in [0, 1]: how far translations follow these weights, and rotations the surface alone.
    pub translation: f64,
    /// Joints whose share of a vertex is below this are left out.
    pub negligible: f64,
}

impl Default for DirectDeltaMushOptions {
    fn default() -> Self {
        Self {
            steps: 4,
            smoothing: 3.0,
            translation_smoothing: 1.0,
            translation: 0.0,
            negligible: 1e-4,
        }
    }
}

/// The matrices Ω of one [`SkinnedMesh`], in blocks of eight vertices like its weights.
#[derive(Clone, Debug)]
pub struct DirectDeltaMush {
    joint_count: usize,
    vertex_count: usize,
    level: Level,
    /// A block: where its joints end.
    ends: Vec<usize>,
    joints: Vec<u16>,
    omegas: Vec<OmegaLanes>,
    centers: Vec<CenterBlock>,
    influence_count: usize,
    sum_error: f64,
}

/// Ω of one joint for eight vertices, about the smoothed rest position of each: the parts of [`Moments`].
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct OmegaLanes([Lanes; 10]);

/// The smoothed rest positions that Ω is relative to, and the means of what truncation left of the first moments.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct CenterBlock {
    center: [Lanes; 3],
    offset: [Lanes; 3],
}

impl DirectDeltaMush {
    /// Smooths the products of weights and rest positions over the surface: `Ψᵢⱼ = Σₖ Bᵢₖ wₖⱼ uₖ uₖᵀ` with
    /// `B = (I + λ D⁻¹ L)⁻ᵖ` and `Ω = (1 − α) Ψ + α w′ (p, 1)(p, 1)ᵀ`, of which only p-relative values are kept.
    ///
    /// Vertices at the same place are one point. Two factorisations, and p solves of eleven columns a joint; memory
    /// is that of the factors, of the kept matrices (44 bytes each, and as much again while they are sorted into blocks)
    /// and of one joint's columns (88 bytes a vertex), whatever the number of joints.
    ///
    /// Source: Le and Lewis, "Direct delta mush skinning and variants", SIGGRAPH 2019, eq. 7 to 14.
    ///
    /// # Errors
    ///
    /// [`SkinError::Mesh`] if λ or κ is negative or not finite, so that smoothing is not positive definite.
    pub fn new(skin: &SkinnedMesh, options: &DirectDeltaMushOptions) -> Result<Self, SkinError> {
        let graph = SurfaceGraph::new(skin);
        let surface = Smoother::new(&graph, options.smoothing, options.steps)?;
        let weights = Smoother::new(&graph, options.translation_smoothing, options.steps)?;
        let count = graph.len();
        let rest = |point: usize| {
            let vertex = graph.vertex_of_point[point] as usize;
            skin.rest().position(vertex).cast::<f64>()
        };
        let mut centers: Vec<f64> = (0..3)
            .flat_map(|axis| (0..count).map(move |point| (axis, point)))
            .map(|(axis, point)| rest(point)[axis])
            .collect();
        surface.apply(&mut centers);
        let center = |point: usize| {
            Vector3::new(
                centers[point],
                centers[count + point],
                centers[2 * count + point],
            )
        };
        let mut rows: Vec<Vec<(u16, [f32; 10])>> = vec![Vec::new(); count];
        let mut sums = vec![0.0; count];
        let columns = joint_columns(skin, &graph);
        for (joint, column) in columns.into_iter().enumerate() {
            if column.is_empty() {
                continue;
            }
            let mut moments = vec![0.0; 10 * count];
            let mut plain = vec![0.0; count];
            for (point, weight) in column {
                plain[point] = weight;
                let parts = Moments::of(rest(point)).0;
                for (part, value) in parts.iter().enumerate() {
                    moments[part * count + point] = weight * value;
                }
            }
            surface.apply(&mut moments);
            weights.apply(&mut plain);
            for point in 0..count {
                let parts = std::array::from_fn(|part| moments[part * count + point]);
                let omega = Moments(parts)
                    .about(center(point))
                    .blended(options.translation, plain[point]);
                sums[point] += omega.0[0];
                if omega.0[0] > options.negligible {
                    rows[point].push((joint as u16, omega.0.map(|part| part as f32)));
                }
            }
        }
        let mut out = Self {
            joint_count: skin.joints().len(),
            vertex_count: skin.vertex_count(),
            level: skin.level(),
            ends: Vec::with_capacity(skin.rest().blocks().len()),
            joints: Vec::new(),
            omegas: Vec::new(),
            centers: Vec::with_capacity(skin.rest().blocks().len()),
            influence_count: 0,
            sum_error: sums
                .iter()
                .fold(0.0, |most, sum: &f64| most.max((sum - 1.0).abs())),
        };
        for points in graph.point_of_vertex.chunks(LANES) {
            let point = |lane: usize| points[lane.min(points.len() - 1)] as usize;
            out.push_block(std::array::from_fn(|lane| &*rows[point(lane)]));
            let kept = points.iter().map(|point| rows[*point as usize].len());
            out.influence_count += kept.sum::<usize>();
            if let Some(block) = out.centers.last_mut() {
                for lane in 0..LANES {
                    let center = center(point(lane));
                    for (part, value) in block.center.iter_mut().zip(center.iter()) {
                        part[lane] = *value as f32;
                    }
                }
            }
        }
        Ok(out)
    }

    /// Adds a block of vertices with these matrices, scaled so that what is kept of each vertex sums to one.
    fn push_block(&mut self, rows: [&[(u16, [f32; 10])]; LANES]) {
        let mut union: Vec<u16> = rows
            .iter()
            .flat_map(|row| row.iter())
            .map(|entry| entry.0)
            .collect();
        union.sort_unstable();
        union.dedup();
        let start = self.joints.len();
        self.joints.extend_from_slice(&union);
        self.omegas
            .resize(self.joints.len(), OmegaLanes([[0.0; LANES]; 10]));
        self.ends.push(self.joints.len());
        let mut centers = CenterBlock::default();
        for (lane, row) in rows.iter().enumerate() {
            let kept: f32 = row.iter().map(|(_, omega)| omega[0]).sum();
            for (joint, omega) in *row {
                let place = union.partition_point(|other| other < joint);
                let block = &mut self.omegas[start + place].0;
                for (part, value) in block.iter_mut().zip(omega) {
                    part[lane] = value / kept;
                }
                for (sum, first) in centers.offset.iter_mut().zip(&block[1..4]) {
                    sum[lane] += first[lane];
                }
            }
        }
        self.centers.push(centers);
    }

    /// The largest |Σⱼ Ω₄₄ − 1| over all vertices, before joints were left out: rounding only.
    pub fn sum_error(&self) -> f64 {
        self.sum_error
    }

    /// Number of matrices kept, over all vertices.
    pub fn influence_count(&self) -> usize {
        self.influence_count
    }

    /// Bytes that a frame reads: 320 for each joint of each block of eight vertices, and 192 a block.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.ends[..])
            + size_of_val(&self.joints[..])
            + size_of_val(&self.omegas[..])
            + size_of_val(&self.centers[..])
    }

    /// Moves `source` (the rest vertices, or morphed ones) into `out`, each by a rigid motion after a stretch; normals too.
    ///
    /// `motions` must come from `palette`. O(V · joints per block), and a 3×3 rotation a vertex; the same bits for any number of
    /// threads. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin.
    pub fn deform(
        &self,
        source: &VertexBlocks,
        palette: &Palette,
        motions: &DualPalette,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(source.len(), self.vertex_count, "source of another mesh");
        assert_eq!(out.len(), self.vertex_count, "vertices of another mesh");
        assert_eq!(palette.len(), self.joint_count, "palette of another skin");
        assert_eq!(
            motions.len(),
            self.joint_count,
            "dual palette of another skin"
        );
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            let source = &source.blocks()[first..];
            if motions.any_stretched() {
                dispatch!(self.level, simd => move_blocks::<_, true>(simd, self, first, source, palette, motions, out));
            } else {
                dispatch!(self.level, simd => move_blocks::<_, false>(simd, self, first, source, palette, motions, out));
            }
        });
    }
}

/// Moves the blocks from `first` on: x′ = R (x − c − o) + q with Σ Mⱼ Ωⱼ = [Q q; oᵀ 1] about the centre c, and R the rotation
/// nearest to Q − q oᵀ. With `STRETCH` some joint stretches: x′ = R S (x − c − o) + q, and R is nearest to (Q − q oᵀ) Sᵀ.
#[inline(always)]
fn move_blocks<S: Simd, const STRETCH: bool>(
    simd: S,
    mush: &DirectDeltaMush,
    first: usize,
    source: &[VertexBlock],
    palette: &Palette,
    motions: &DualPalette,
    out: &mut [VertexBlock],
) {
    let zero = f32x8::splat(simd, 0.0);
    let two = f32x8::splat(simd, 2.0);
    let mirror = f32x8::splat(simd, if motions.is_mirrored() { -1.0 } else { 1.0 });
    let mut start = first.checked_sub(1).map_or(0, |before| mush.ends[before]);
    let blocks = source.iter().zip(out);
    let blocks = blocks.zip(&mush.centers[first..]).zip(&mush.ends[first..]);
    for (((source, out), centers), end) in blocks {
        let center = vectors::load(simd, &centers.center);
        let offset = vectors::load(simd, &centers.offset);
        let mut moments = [[zero; 3]; 3];
        let mut place = [zero; 3];
        let mut guess = [zero; 4];
        let mut heaviest = zero;
        let mut stretch = [[zero; 3]; 3];
        let entries = mush.joints[start..*end]
            .iter()
            .zip(&mush.omegas[start..*end]);
        start = *end;
        for (joint, OmegaLanes([w, x, y, z, xx, xy, xz, yy, yz, zz])) in entries {
            let weight = f32x8::from_slice(simd, w);
            let mean = [
                f32x8::from_slice(simd, x),
                f32x8::from_slice(simd, y),
                f32x8::from_slice(simd, z),
            ];
            let (xx, xy) = (f32x8::from_slice(simd, xx), f32x8::from_slice(simd, xy));
            let (xz, yy) = (f32x8::from_slice(simd, xz), f32x8::from_slice(simd, yy));
            let (yz, zz) = (f32x8::from_slice(simd, yz), f32x8::from_slice(simd, zz));
            let rows = palette.slots()[usize::from(*joint)].0.iter();
            let sums = moments.iter_mut().zip(&mut place);
            for ([a, b, c, d], (sums, place)) in rows.zip(sums) {
                let moved = center[0] * *a + center[1] * *b + center[2] * *c + *d;
                sums[0] += xx * *a + xy * *b + xz * *c + moved * mean[0];
                sums[1] += xy * *a + yy * *b + yz * *c + moved * mean[1];
                sums[2] += xz * *a + yz * *b + zz * *c + moved * mean[2];
                *place += mean[0] * *a + mean[1] * *b + mean[2] * *c + moved * weight;
            }
            let heavier = simd.simd_gt_f32x8(weight, heaviest);
            heaviest = simd.select_f32x8(heavier, weight, heaviest);
            let motion = &motions.motions[usize::from(*joint)].0;
            for (part, value) in guess.iter_mut().zip(motion) {
                *part = simd.select_f32x8(heavier, f32x8::splat(simd, *value), *part);
            }
            if STRETCH {
                let rows = motions.stretches()[usize::from(*joint)].0.iter();
                for ([a, b, c, _], sums) in rows.zip(&mut stretch) {
                    sums[0] += weight * *a;
                    sums[1] += weight * *b;
                    sums[2] += weight * *c;
                }
            }
        }
        for (row, place) in moments.iter_mut().zip(place) {
            for (moment, offset) in row.iter_mut().zip(offset) {
                *moment -= place * offset;
            }
        }
        let arm = difference(vectors::load(simd, &source.position), center);
        let mut arm = difference(arm, offset);
        let mut normal = vectors::load(simd, &source.normal);
        if STRETCH {
            for row in &mut moments {
                *row = product(stretch, *row);
            }
            arm = product(stretch, arm);
            let cofactors = cofactors(stretch);
            let outward = f32x8::splat(simd, 1.0).copysign(dot(stretch[0], cofactors[0]));
            normal = resized_or(simd, product(cofactors, normal), outward, normal);
        }
        moments[0] = scale(moments[0], mirror);
        let [x, y, z, w] = nearest_rotation(simd, moments, guess);
        let imag = [x, y, z];
        let twice = two / (dot(imag, imag) + w * w);
        let arm = turned(arm, imag, w, twice);
        let moved = [
            place[0] + mirror * arm[0],
            place[1] + arm[1],
            place[2] + arm[2],
        ];
        vectors::store(moved, &mut out.position);
        let [x, y, z] = turned(normal, imag, w, twice);
        vectors::store([x * mirror, y, z], &mut out.normal);
    }
}

/// Smoothing by p steps of (D + λ L) x = D b on a graph: rows of the smoothing matrix sum to one.
struct Smoother {
    steps: u32,
    degrees: Vec<f64>,
    factor: Cholesky,
}

impl Smoother {
    fn new(graph: &SurfaceGraph, amount: f64, steps: u32) -> Result<Self, SkinError> {
        let degrees: Vec<f64> = (0..graph.len())
            .map(|point| graph.neighbors(point).len().max(1) as f64)
            .collect();
        let mut lower = Vec::new();
        for (point, degree) in degrees.iter().enumerate() {
            let neighbors = graph.neighbors(point);
            let row = point as u32;
            lower.push((row, row, degree + amount * neighbors.len() as f64));
            let before = neighbors.iter().filter(|other| **other < row);
            lower.extend(before.map(|other| (row, *other, -amount)));
        }
        Ok(Self {
            steps,
            factor: Cholesky::new(graph.len(), &lower)?,
            degrees,
        })
    }

    /// Smooths columns of P values.
    fn apply(&self, columns: &mut [f64]) {
        if self.degrees.is_empty() {
            return;
        }
        for _ in 0..self.steps {
            for column in columns.chunks_mut(self.degrees.len()) {
                for (value, degree) in column.iter_mut().zip(&self.degrees) {
                    *value *= degree;
                }
            }
            self.factor.solve_in_place(columns);
        }
    }
}

/// The points and weights of each joint.
fn joint_columns(skin: &SkinnedMesh, graph: &SurfaceGraph) -> Vec<Vec<(usize, f64)>> {
    let blocks = skin.skin_blocks();
    let mut columns = vec![Vec::new(); skin.joints().len()];
    let (mut start, ends) = blocks.ends_from(0);
    let mut point = 0;
    for (block, end) in ends.iter().enumerate() {
        while let Some(vertex) = graph.vertex_of_point.get(point) {
            let lane = (*vertex as usize).wrapping_sub(block * LANES);
            if lane >= LANES {
                break;
            }
            for entry in start..*end {
                let weight = blocks.weights()[entry].0[lane];
                if weight > 0.0 {
                    columns[usize::from(blocks.joints()[entry])].push((point, f64::from(weight)));
                }
            }
            point += 1;
        }
        start = *end;
    }
    columns
}

/// The distinct entries of a symmetric 4×4 matrix: weight, first moments, second moments.
#[derive(Clone, Copy, Debug)]
struct Moments([f64; 10]);

impl Moments {
    /// (u, 1)(u, 1)ᵀ.
    fn of(u: Vector3<f64>) -> Self {
        let (x, y, z) = (u.x, u.y, u.z);
        Self([1.0, x, y, z, x * x, x * y, x * z, y * y, y * z, z * z])
    }

    /// The same with u relative to `center`.
    fn about(self, center: Vector3<f64>) -> Self {
        let [w, x, y, z, xx, xy, xz, yy, yz, zz] = self.0;
        let (p, first) = (center, Vector3::new(x, y, z));
        let second = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let cross = first * p.transpose();
        let s = second - cross - cross.transpose() + p * p.transpose() * w;
        let m = first - p * w;
        Self([w, m.x, m.y, m.z, s.m11, s.m12, s.m13, s.m22, s.m23, s.m33])
    }

    /// (1 − `alpha`) of this, and `alpha` of `weight` at the centre.
    fn blended(self, alpha: f64, weight: f64) -> Self {
        let mut parts = self.0.map(|part| part * (1.0 - alpha));
        parts[0] += alpha * weight;
        Self(parts)
    }
}
