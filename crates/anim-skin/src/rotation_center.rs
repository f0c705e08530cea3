//! Optimised centres of rotation: every vertex turns about a point of its own, which moves as the linear blend does.
//!
//! Twists keep their volume as under [`dual_quaternion`](crate::dual_quaternion), and sharp bends do not bulge. The centre
//! of a vertex is the mean of the surface whose weights resemble its own; it is found once from the rest mesh and its
//! weights, so edited weights need new centres. Takes rotations from a [`DualPalette`] and the centres' places from the
//! [`Palette`] it was made of; joints that stretch stretch the offset from the centre before it turns.
//!
//! ```
//! # use anim_geom::primitives;
//! # use anim_math::{Affine, Transform, Vec3, quat};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::{DualPalette, Influences, RotationCenterOptions, RotationCenters, SkinnedMesh, VertexBlocks};
//! # let joint = JointSpec { name: None, parent: None, rest: Transform::IDENTITY };
//! # let skeleton = Skeleton::new(vec![joint; 2])?;
//! # let joints = [skeleton.joint(0), skeleton.joint(1)];
//! let mesh = primitives::tube(0.5, 2.0, 16, 16);
//! let weights = mesh.rest.positions.iter().flat_map(|p| [0.5 - 0.25 * p.y, 0.5 + 0.25 * p.y]).collect();
//! let influences = Influences { per_vertex: 2, joints: [0, 1].repeat(mesh.vertex_count()), weights };
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY; 2], &influences, &[])?;
//! let centers = RotationCenters::new(&skin, &RotationCenterOptions::default());
//!
//! let mut palette = skin.palette_buffer();
//! palette.set(1, Transform::from_rotation(quat::from_axis_angle(Vec3::y(), 3.0)).into());
//! let mut motions = DualPalette::new(palette.len());
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! skin.dual_palette(&palette, &mut motions);
//! centers.deform(&skin, skin.rest(), &palette, &motions, &mut surface);
//! for vertex in 0..surface.len() {
//!     assert!((surface.position(vertex).xz().norm() - 0.5).abs() < 1e-3);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use anim_geom::chunks;
use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, SimdFloat, dispatch, f32x8};
use anim_math::nalgebra::Vector3;
use rayon::prelude::*;

use crate::dual_quaternion::{any_of, blend_motions};
use crate::linear::{blend, cofactors, product};
use crate::vectors::{self, difference, dot, resized_or, turned};
use crate::{DualPalette, Palette, SkinnedMesh, VertexBlock, VertexBlocks};

/// Blocks that one task skins: 16,384 vertices, some 60 µs.
const CHUNK: usize = 2048;

/// Below this share of the surface's area nothing resembles a vertex, and it is its own centre.
const NOTHING: f64 = 1e-12;

/// How centres are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RotationCenterOptions {
    /// σ, the width of the similarity of weights; 0.1 as in the paper.
    pub falloff: f32,
    /// Triangles whose mean weights fall into one cell of this size count as one; 0 takes every triangle by itself.
    pub cluster: f32,
}

impl Default for RotationCenterOptions {
    fn default() -> Self {
        Self {
            falloff: 0.1,
            cluster: 0.01,
        }
    }
}

/// The centre of rotation of each vertex of one [`SkinnedMesh`].
#[derive(Clone, Debug, PartialEq)]
pub struct RotationCenters {
    vertex_count: usize,
    centers: Vec<CenterBlock>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
struct CenterBlock([Lanes; 3]);

impl RotationCenters {
    /// Finds the centres: `p = Σ s(w, w_t) a_t c_t / Σ s(w, w_t) a_t` over triangles of area a, centroid c and mean weights
    /// w_t, with `s(a, b) = Σ_{j≠k} aⱼ aₖ bⱼ bₖ exp(−(aⱼ bₖ − aₖ bⱼ)² / σ²)`.
    ///
    /// A vertex that nothing resembles, such as one with a single joint, is its own centre: it moves as the linear blend
    /// does. Triangles are grouped by their joints, since only two shared joints make weights similar. A group is
    /// reduced to the cells of [`cluster`](RotationCenterOptions::cluster) where that halves it at least; without cells
    /// the result is that of all triangles. O(V · cells with two joints in common), parallel over vertices.
    ///
    /// Source: Le and Hodgins, "Real-time skeletal skinning with optimized centers of rotation", SIGGRAPH 2016, eq. 1
    /// and 2.
    pub fn new(skin: &SkinnedMesh, options: &RotationCenterOptions) -> Self {
        let rows = rows(skin);
        let groups = groups(skin, &rows, f64::from(options.cluster));
        let total: f64 = groups
            .iter()
            .flat_map(|group| &group.1)
            .map(|s| s.area)
            .sum();
        let falloff = f64::from(options.falloff);
        let mut points: Vec<Vec3> = (0..skin.vertex_count())
            .map(|vertex| skin.rest().position(vertex))
            .collect();
        chunks::for_each_mut(&mut points, |first, points| {
            for (vertex, point) in (first..).zip(points) {
                if let Some(center) = center(&rows[vertex], &groups, falloff, total * NOTHING) {
                    *point = center.cast();
                }
            }
        });
        let mut centers = vec![CenterBlock::default(); points.len().div_ceil(LANES)];
        for (block, points) in centers.iter_mut().zip(points.chunks(LANES)) {
            for lane in 0..LANES {
                let point = points[lane.min(points.len() - 1)];
                for (part, value) in block.0.iter_mut().zip(point.iter()) {
                    part[lane] = *value;
                }
            }
        }
        Self {
            vertex_count: points.len(),
            centers,
        }
    }

    /// The centre of `vertex`, block order, bind space.
    pub fn center(&self, vertex: usize) -> Vec3 {
        Vec3::from(
            self.centers[vertex / LANES]
                .0
                .map(|part| part[vertex % LANES]),
        )
    }

    /// The largest distance of a rest vertex of `skin` from its centre, metres; O(V), for loading.
    ///
    /// Where joints are rigid, a vertex is nowhere farther than twice that from where the linear blend takes it, so a box of
    /// [`JointBounds`](crate::JointBounds) grown by as much on each side holds the mesh; displacements by morphs add to it.
    ///
    /// # Panics
    ///
    /// If `skin` is another mesh than that of these centres.
    pub fn reach(&self, skin: &SkinnedMesh) -> f32 {
        assert_eq!(
            self.vertex_count,
            skin.vertex_count(),
            "centres of another mesh"
        );
        let vertices = 0..self.vertex_count;
        vertices.fold(0.0, |most: f32, vertex| {
            most.max((skin.rest().position(vertex) - self.center(vertex)).norm())
        })
    }

    /// Moves `source` (the rest vertices of `skin`, or morphed ones) into `out`: `v′ = R(q) (v − p) + Σ wⱼ Mⱼ p`.
    ///
    /// q is the sum of the joints' quaternions, with signs as in [`dual_quaternion`](crate::dual_quaternion), and
    /// Mⱼ the matrices of `palette`; `motions` must come from the same palette. Normals turn by R. Meshes of more than
    /// 32,768 vertices are shared out in fixed chunks inside a rayon pool, with the same bits for any number of
    /// threads. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin than these centres.
    pub fn deform(
        &self,
        skin: &SkinnedMesh,
        source: &VertexBlocks,
        palette: &Palette,
        motions: &DualPalette,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(
            self.vertex_count,
            skin.vertex_count(),
            "centres of another mesh"
        );
        assert_eq!(source.len(), self.vertex_count, "source of another mesh");
        assert_eq!(out.len(), self.vertex_count, "vertices of another mesh");
        assert_eq!(
            palette.len(),
            skin.joints().len(),
            "palette of another skin"
        );
        assert_eq!(motions.len(), palette.len(), "dual palette of another skin");
        let frame = Frame {
            skin,
            palette,
            motions,
        };
        let (source, out) = (source.blocks(), out.blocks_mut());
        if out.len() <= 2 * CHUNK || !chunks::in_pool() {
            return frame.deform(0, source, &self.centers, out);
        }
        let chunks = source.par_chunks(CHUNK).zip(self.centers.par_chunks(CHUNK));
        let chunks = chunks.zip(out.par_chunks_mut(CHUNK)).enumerate();
        chunks.for_each(|(chunk, ((source, centers), out))| {
            frame.deform(chunk * CHUNK, source, centers, out);
        });
    }
}

/// What a frame moves vertices with.
#[derive(Clone, Copy)]
struct Frame<'a> {
    skin: &'a SkinnedMesh,
    palette: &'a Palette,
    motions: &'a DualPalette,
}

impl Frame<'_> {
    /// Moves blocks from `first` on.
    fn deform(
        self,
        first: usize,
        source: &[VertexBlock],
        centers: &[CenterBlock],
        out: &mut [VertexBlock],
    ) {
        let level = self.skin.level();
        if self.motions.any_stretched() {
            dispatch!(level, simd => turn_blocks::<_, true>(simd, self, first, source, centers, out));
        } else {
            dispatch!(level, simd => turn_blocks::<_, false>(simd, self, first, source, centers, out));
        }
    }
}

/// Moves `source`; without `STRETCH` all joints of the palette are rigid.
#[inline(always)]
fn turn_blocks<S: Simd, const STRETCH: bool>(
    simd: S,
    frame: Frame<'_>,
    first: usize,
    source: &[VertexBlock],
    centers: &[CenterBlock],
    out: &mut [VertexBlock],
) {
    let Frame {
        skin,
        palette,
        motions,
    } = frame;
    let blocks = skin.skin_blocks();
    let mirror = f32x8::splat(simd, if motions.is_mirrored() { -1.0 } else { 1.0 });
    let two = f32x8::splat(simd, 2.0);
    let (mut start, ends) = blocks.ends_from(first);
    let vertices = source.iter().zip(centers).zip(out);
    for (((source, center), out), end) in vertices.zip(ends) {
        let joints = &blocks.joints()[start..*end];
        let weights = &blocks.weights()[start..*end];
        start = *end;
        let center = vectors::load(simd, &center.0);
        let mut offset = difference(vectors::load(simd, &source.position), center);
        let mut normal = vectors::load(simd, &source.normal);
        if STRETCH && any_of(joints, motions.stretched()) {
            let [[a, b, c, _], [d, e, f, _], [g, h, i, _]] =
                blend(simd, joints, weights, motions.stretches());
            let linear = [[a, b, c], [d, e, f], [g, h, i]];
            let cofactors = cofactors(linear);
            let outward = f32x8::splat(simd, 1.0).copysign(dot(linear[0], cofactors[0]));
            offset = product(linear, offset);
            normal = resized_or(simd, product(cofactors, normal), outward, normal);
        }
        let [x, y, z, w] = blend_motions::<_, 4>(simd, joints, weights, motions);
        let imag = [x, y, z];
        let twice = two / (dot(imag, imag) + w * w);
        let offset = turned(offset, imag, w, twice);
        let normal = turned(normal, imag, w, twice);
        let [[a, b, c, x], [d, e, f, y], [g, h, i, z]] =
            blend(simd, joints, weights, palette.slots());
        let center = product([[a, b, c], [d, e, f], [g, h, i]], center);
        let moved = [
            center[0] + x + offset[0] * mirror,
            center[1] + y + offset[1],
            center[2] + z + offset[2],
        ];
        vectors::store(moved, &mut out.position);
        vectors::store([normal[0] * mirror, normal[1], normal[2]], &mut out.normal);
    }
}

/// The weights of one vertex or triangle, joints ascending.
type Row = Vec<(u16, f64)>;

/// A piece of surface: one triangle, or several with nearly the same weights.
#[derive(Clone, Debug)]
struct Sample {
    /// One weight a joint of the group.
    weights: Vec<f64>,
    area: f64,
    centroid: Vector3<f64>,
}

/// The weights of all vertices.
fn rows(skin: &SkinnedMesh) -> Vec<Row> {
    let blocks = skin.skin_blocks();
    let mut rows = vec![Row::new(); skin.vertex_count()];
    let (mut start, ends) = blocks.ends_from(0);
    for (rows, end) in rows.chunks_mut(LANES).zip(ends) {
        for entry in start..*end {
            let joint = blocks.joints()[entry];
            for (row, weight) in rows.iter_mut().zip(blocks.weights()[entry].0) {
                if weight > 0.0 {
                    row.push((joint, f64::from(weight)));
                }
            }
        }
        start = *end;
    }
    rows
}

/// The triangles by their joints, in cells of `size`; those of one joint are left out.
fn groups(skin: &SkinnedMesh, rows: &[Row], size: f64) -> Vec<(Vec<u16>, Vec<Sample>)> {
    let mut groups: BTreeMap<Vec<u16>, Vec<Sample>> = BTreeMap::new();
    for corners in skin.triangles() {
        let corners = corners.map(|corner| corner as usize);
        let mut mean: BTreeMap<u16, f64> = BTreeMap::new();
        for (joint, weight) in corners.iter().flat_map(|corner| &rows[*corner]) {
            *mean.entry(*joint).or_default() += weight / 3.0;
        }
        let [a, b, c] = corners.map(|corner| skin.rest().position(corner).cast::<f64>());
        let area = (b - a).cross(&(c - a)).norm() * 0.5;
        if mean.len() > 1 && area > 0.0 {
            groups
                .entry(mean.keys().copied().collect())
                .or_default()
                .push(Sample {
                    weights: mean.into_values().collect(),
                    area,
                    centroid: (a + b + c) / 3.0,
                });
        }
    }
    let reduce = |samples: Vec<Sample>| {
        if size > 0.0 {
            cells(samples, size)
        } else {
            samples
        }
    };
    let groups = groups.into_iter();
    groups
        .map(|(joints, samples)| (joints, reduce(samples)))
        .collect()
}

/// Means of the samples in each cell of weight space, or the samples if there are more than half as many cells.
fn cells(samples: Vec<Sample>, size: f64) -> Vec<Sample> {
    let mut cells: BTreeMap<Vec<i32>, Sample> = BTreeMap::new();
    for sample in &samples {
        let cell = sample
            .weights
            .iter()
            .map(|weight| (weight / size).round() as i32);
        let sums = cells.entry(cell.collect()).or_insert_with(|| Sample {
            weights: vec![0.0; sample.weights.len()],
            area: 0.0,
            centroid: Vector3::zeros(),
        });
        for (sum, weight) in sums.weights.iter_mut().zip(&sample.weights) {
            *sum += weight * sample.area;
        }
        sums.area += sample.area;
        sums.centroid += sample.centroid * sample.area;
    }
    if cells.len() * 2 > samples.len() {
        return samples;
    }
    let mean = |mut sums: Sample| {
        sums.weights
            .iter_mut()
            .for_each(|weight| *weight /= sums.area);
        sums.centroid /= sums.area;
        sums
    };
    cells.into_values().map(mean).collect()
}

/// The mean of the samples by their similarity to `row`; `None` if that sums to less than `least`.
fn center(
    row: &Row,
    groups: &[(Vec<u16>, Vec<Sample>)],
    falloff: f64,
    least: f64,
) -> Option<Vector3<f64>> {
    let mut shared = Vec::new();
    let mut sum = Vector3::zeros();
    let mut mass = 0.0;
    for (joints, samples) in groups {
        shared.clear();
        let places = row
            .iter()
            .filter_map(|(joint, weight)| Some((joints.binary_search(joint).ok()?, *weight)));
        shared.extend(places);
        if shared.len() < 2 {
            continue;
        }
        for sample in samples {
            let share = similarity(&shared, &sample.weights, falloff) * sample.area;
            sum += sample.centroid * share;
            mass += share;
        }
    }
    (mass > least).then(|| sum / mass)
}

/// s(a, b) over the joints that both have: (place in b, weight in a).
fn similarity(shared: &[(usize, f64)], weights: &[f64], falloff: f64) -> f64 {
    let mut sum = 0.0;
    for (rank, (j, a_j)) in shared.iter().enumerate() {
        for (k, a_k) in &shared[rank + 1..] {
            let (b_j, b_k) = (weights[*j], weights[*k]);
            let apart = (a_j * b_k - a_k * b_j) / falloff;
            sum += 2.0 * a_j * a_k * b_j * b_k * libm::exp(-apart * apart);
        }
    }
    sum
}
