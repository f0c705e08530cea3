//! Direct delta mush: the look of [`delta_mush`](crate::delta_mush) without its passes, from rigid blends alone.
//!
//! For each vertex and joint a symmetric 4×4 matrix Ω holds how the smoothed surface around the vertex follows the joint:
//! its weight, centroid and second moments. A frame sums the matrices moved by the joints and takes the nearest rotation.
//! Rigid weights, one joint a vertex, are enough. Scale of joints is lost but for what it does to places.
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
use anim_math::lanes::LANES;
use anim_math::nalgebra::{Matrix3, Vector3};
use anim_math::{Mat3, Quat, Vec3, quat};

use crate::surface_graph::SurfaceGraph;
use crate::{DualPalette, Palette, SkinError, SkinnedMesh, VertexBlocks};

/// Newton steps to a rotation; from a joint's own it takes three or four.
const STEPS: usize = 20;

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

/// The matrices Ω of one [`SkinnedMesh`].
#[derive(Clone, Debug, PartialEq)]
pub struct DirectDeltaMush {
    joint_count: usize,
    ends: Vec<usize>,
    influences: Vec<Omega>,
    /// V: the smoothed rest position that Ω is relative to, and the mean of what truncation left of its first moments.
    centers: Vec<[Vec3; 2]>,
    sum_error: f64,
}

/// One joint's Ω about the smoothed rest position of a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Omega {
    joint: u16,
    /// Ω₄₄.
    weight: f32,
    /// The last column.
    first: Vec3,
    /// xx, xy, xz, yy, yz, zz, m².
    second: [f32; 6],
}

impl DirectDeltaMush {
    /// Smooths the products of weights and rest positions over the surface: `Ψᵢⱼ = Σₖ Bᵢₖ wₖⱼ uₖ uₖᵀ` with
    /// `B = (I + λ D⁻¹ L)⁻ᵖ` and `Ω = (1 − α) Ψ + α w′ (p, 1)(p, 1)ᵀ`, of which only p-relative values are kept.
    ///
    /// Vertices at the same place are one point. One factorisation, and p solves of eleven columns a joint; memory
    /// is that of the kept matrices and of one joint's columns.
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
        let mut rows: Vec<Vec<(u16, Moments)>> = vec![Vec::new(); count];
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
                    rows[point].push((joint as u16, omega));
                }
            }
        }
        let mut out = Self {
            joint_count: skin.joints().len(),
            ends: Vec::with_capacity(skin.vertex_count()),
            influences: Vec::new(),
            centers: Vec::with_capacity(skin.vertex_count()),
            sum_error: sums
                .iter()
                .fold(0.0, |most, sum: &f64| most.max((sum - 1.0).abs())),
        };
        for point in &graph.point_of_vertex {
            let point = *point as usize;
            let kept: f64 = rows[point].iter().map(|(_, omega)| omega.0[0]).sum();
            let omegas = rows[point]
                .iter()
                .map(|(joint, omega)| omega.rounded(*joint, kept));
            let start = out.influences.len();
            out.influences.extend(omegas);
            out.ends.push(out.influences.len());
            let offset = out.influences[start..]
                .iter()
                .fold(Vec3::zeros(), |sum, omega| sum + omega.first);
            out.centers.push([center(point).cast(), offset]);
        }
        Ok(out)
    }

    /// The largest |Σⱼ Ω₄₄ − 1| over all vertices, before joints were left out: rounding only.
    pub fn sum_error(&self) -> f64 {
        self.sum_error
    }

    /// Number of matrices kept, over all vertices.
    pub fn influence_count(&self) -> usize {
        self.influences.len()
    }

    /// Moves `source` (the rest vertices, or morphed ones) into `out`, each by a rigid motion; normals too.
    ///
    /// `motions` must come from `palette`. O(matrices), and a 3×3 rotation a vertex; the same bits for any number of
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
        assert_eq!(source.len(), self.ends.len(), "source of another mesh");
        assert_eq!(out.len(), self.ends.len(), "vertices of another mesh");
        assert_eq!(palette.len(), self.joint_count, "palette of another skin");
        assert_eq!(
            motions.len(),
            self.joint_count,
            "dual palette of another skin"
        );
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            for (block, out) in (first..).zip(out) {
                for lane in 0..LANES {
                    let vertex = (block * LANES + lane).min(self.ends.len() - 1);
                    let [center, offset] = self.centers[vertex];
                    let (turn, place) = self.motion(vertex, palette, motions);
                    let arm = source.position(vertex) - center - offset;
                    let position = place + turn * arm;
                    let normal = turn * source.normal(vertex);
                    for axis in 0..3 {
                        out.position[axis][lane] = position[axis];
                        out.normal[axis][lane] = normal[axis];
                    }
                }
            }
        });
    }

    /// The rotation of `vertex` and the place of its centre.
    fn motion(&self, vertex: usize, palette: &Palette, motions: &DualPalette) -> (Quat, Vec3) {
        let start = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        let [center, offset] = self.centers[vertex];
        let mut moments = Mat3::zeros();
        let mut place = Vec3::zeros();
        let mut heaviest = (0, 0.0);
        for omega in &self.influences[start..self.ends[vertex]] {
            let matrix = palette.get(usize::from(omega.joint));
            let moved = matrix.transform_point(center);
            let [xx, xy, xz, yy, yz, zz] = omega.second;
            let second = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            moments += matrix.linear * second + moved * omega.first.transpose();
            place += matrix.linear * omega.first + moved * omega.weight;
            if omega.weight > heaviest.1 {
                heaviest = (usize::from(omega.joint), omega.weight);
            }
        }
        let guess = motions.motion(heaviest.0).rotation();
        (
            nearest_rotation(moments - place * offset.transpose(), guess),
            place,
        )
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

    fn rounded(&self, joint: u16, sum: f64) -> Omega {
        let [w, x, y, z, second @ ..] = self.0.map(|part| (part / sum) as f32);
        Omega {
            joint,
            weight: w,
            first: Vec3::new(x, y, z),
            second,
        }
    }
}

/// The rotation R of largest tr(Rᵀ A), from `guess` by Newton steps; flat matrices are fine, and `guess` stands for zero.
///
/// With H = A Rᵀ the gradient for a turn ω is the axial vector g of H − Hᵀ, the Hessian −(tr H − sym H).
fn nearest_rotation(matrix: Mat3, guess: Quat) -> Quat {
    let size = matrix.norm();
    if !(size > f32::MIN_POSITIVE && size.is_finite()) {
        return guess;
    }
    let matrix = matrix / size;
    let mut turn = guess;
    for _ in 0..STEPS {
        let turned = matrix * turn.to_rotation_matrix().matrix().transpose();
        let axial = Vec3::new(
            turned.m32 - turned.m23,
            turned.m13 - turned.m31,
            turned.m21 - turned.m12,
        );
        let symmetric = (turned + turned.transpose()) * 0.5;
        let curvature = Mat3::identity() * (turned.trace() + 1e-6) - symmetric;
        // Far from the answer the surface may curve up: then a plain step along the gradient.
        let step = match curvature.cholesky() {
            Some(factor) => factor.solve(&axial),
            None => axial / (turned.trace().abs() + 0.1),
        };
        let angle = step.norm();
        if !angle.is_finite() {
            return turn;
        }
        turn = quat::exp(step * (1.0 / angle.max(1.0))) * turn;
        if angle < 1e-5 {
            break;
        }
    }
    turn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_rotation_of_a_rotated_stretch_is_its_rotation() {
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0);
        for stretch in [[1.0, 1.0, 1.0], [1.0, 0.5, 0.0], [3.0, 0.02, 0.01]] {
            let matrix = turn.to_rotation_matrix().matrix() * Mat3::from_diagonal(&stretch.into());
            for guess in [Quat::identity(), turn] {
                let found = nearest_rotation(matrix, guess);
                // Rounding of 2⁻²⁴ over the weakest curvature, a hundredth.
                assert!(quat::angle_between(found, turn) < 1e-4, "{stretch:?}");
            }
        }
    }
}
