//! Delta mush: smooths what another deformer made, then puts the detail of the rest shape back.
//!
//! Forgives rough weights: creases and dents go, while a smooth base keeps its shape. It costs a pass over all neighbours a
//! step, so it is for few characters; [`DirectDeltaMush`](crate::direct_delta_mush) needs no passes. Detail is kept in a
//! frame a point, made of its normal and its first edge on the smoothed surface. Borders stay where the base has them.
//!
//! ```
//! # use anim_geom::primitives;
//! # use anim_math::{Affine, Transform};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::{DeltaMush, DeltaMushOptions, DeltaMushScratch, Influences, SkinnedMesh, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = primitives::sphere(1.0, 12, 8);
//! # let influences = Influences::rigid(mesh.vertex_count());
//! # let skin = SkinnedMesh::new(&mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &influences, &[])?;
//! let mush = DeltaMush::new(&skin, &DeltaMushOptions::default());
//! let mut scratch = DeltaMushScratch::default();
//! let mut base = VertexBlocks::new(skin.vertex_count());
//! let mut surface = base.clone();
//! skin.linear(skin.rest(), &skin.palette_buffer(), &mut base);
//! mush.deform(&base, &mut scratch, &mut surface);
//! assert!((surface.position(5) - skin.rest().position(5)).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::lanes::LANES;
use anim_math::{Mat3, Vec3, quat};

use crate::surface_graph::SurfaceGraph;
use crate::{SkinnedMesh, VertexBlocks};

/// How much is smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaMushOptions {
    /// Passes; each reaches one ring of neighbours farther.
    pub steps: u32,
    /// How far a pass moves a point towards the mean of its neighbours, in [0, 1].
    pub step: f32,
}

impl Default for DeltaMushOptions {
    fn default() -> Self {
        Self {
            steps: 10,
            step: 0.5,
        }
    }
}

/// The neighbours of one [`SkinnedMesh`] and its detail.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaMush {
    options: DeltaMushOptions,
    graph: SurfaceGraph,
    fan_ends: Vec<usize>,
    /// The two other corners of the triangles at each point, in their order.
    fans: Vec<[u32; 2]>,
    /// V: from the smoothed point to the vertex, and its normal, in the point's frame.
    details: Vec<Detail>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Detail {
    offset: Vec3,
    normal: Vec3,
}

/// Room for the smoothed points of any mesh; grows on first use.
#[derive(Clone, Debug, Default)]
pub struct DeltaMushScratch {
    points: Vec<Vec3>,
    next: Vec<Vec3>,
}

impl DeltaMush {
    /// Smooths the rest vertices of `skin` and keeps the difference; O(V · steps).
    ///
    /// Vertices at the same place are one point, so seams do not open. A step out of [0, 1] is clamped.
    ///
    /// Source: Mancewicz, Derksen, Rijpkema, Wilson, "Delta mush: smoothing deformations while preserving detail",
    /// DigiPro 2014.
    pub fn new(skin: &SkinnedMesh, options: &DeltaMushOptions) -> Self {
        let graph = SurfaceGraph::new(skin);
        let mut fans: Vec<(u32, [u32; 2])> = Vec::with_capacity(graph.triangles.len() * 3);
        for [a, b, c] in &graph.triangles {
            fans.extend([(*a, [*b, *c]), (*b, [*c, *a]), (*c, [*a, *b])]);
        }
        fans.sort_unstable();
        let points = 0..graph.len() as u32;
        let fan_ends = points.map(|point| fans.partition_point(|fan| fan.0 <= point));
        let mut mush = Self {
            options: DeltaMushOptions {
                step: options.step.clamp(0.0, 1.0),
                ..*options
            },
            fan_ends: fan_ends.collect(),
            fans: fans.into_iter().map(|fan| fan.1).collect(),
            graph,
            details: Vec::new(),
        };
        let mut scratch = DeltaMushScratch::default();
        mush.smooth(skin.rest(), &mut scratch);
        mush.details = (0..skin.vertex_count())
            .map(|vertex| {
                let point = mush.graph.point_of_vertex[vertex] as usize;
                let frame = mush.frame(point, &scratch.points);
                Detail {
                    offset: frame.tr_mul(&(skin.rest().position(vertex) - scratch.points[point])),
                    normal: frame.tr_mul(&skin.rest().normal(vertex)),
                }
            })
            .collect();
        mush
    }

    /// Smooths `base`, which any deformer of the same mesh made, and adds the detail: positions and normals.
    ///
    /// O(V · steps); the same bits for any number of threads. Allocates nothing once `scratch` has held as large a mesh.
    ///
    /// # Panics
    ///
    /// If `base` or `out` is of another mesh.
    pub fn deform(
        &self,
        base: &VertexBlocks,
        scratch: &mut DeltaMushScratch,
        out: &mut VertexBlocks,
    ) {
        assert_eq!(base.len(), self.details.len(), "vertices of another mesh");
        assert_eq!(out.len(), self.details.len(), "vertices of another mesh");
        self.smooth(base, scratch);
        let points = &scratch.points;
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            for (block, out) in (first..).zip(out) {
                for lane in 0..LANES {
                    let vertex = (block * LANES + lane).min(self.details.len() - 1);
                    let point = self.graph.point_of_vertex[vertex] as usize;
                    let frame = self.frame(point, points);
                    let detail = &self.details[vertex];
                    let position = points[point] + frame * detail.offset;
                    let normal = frame * detail.normal;
                    for axis in 0..3 {
                        out.position[axis][lane] = position[axis];
                        out.normal[axis][lane] = normal[axis];
                    }
                }
            }
        });
    }

    /// Leaves the smoothed points of `base` in `scratch.points`.
    fn smooth(&self, base: &VertexBlocks, scratch: &mut DeltaMushScratch) {
        let DeltaMushScratch { points, next } = scratch;
        points.clear();
        let vertices = self.graph.vertex_of_point.iter();
        points.extend(vertices.map(|vertex| base.position(*vertex as usize)));
        next.resize(points.len(), Vec3::zeros());
        for _ in 0..self.options.steps {
            chunks::for_each_mut(next, |first, next| {
                for (point, next) in (first..).zip(next) {
                    *next = self.smoothed(point, points);
                }
            });
            std::mem::swap(points, next);
        }
    }

    /// `point` after one pass over `points`.
    fn smoothed(&self, point: usize, points: &[Vec3]) -> Vec3 {
        let here = points[point];
        let neighbors = self.graph.neighbors(point);
        if neighbors.is_empty() || self.graph.is_border(point) {
            return here;
        }
        let sum = neighbors
            .iter()
            .fold(Vec3::zeros(), |sum, other| sum + points[*other as usize]);
        here + (sum / neighbors.len() as f32 - here) * self.options.step
    }

    /// Tangent, bitangent and normal of `point` as columns; any frame where the surface has collapsed.
    fn frame(&self, point: usize, points: &[Vec3]) -> Mat3 {
        let here = points[point];
        let start = point
            .checked_sub(1)
            .map_or(0, |before| self.fan_ends[before]);
        let fans = self.fans[start..self.fan_ends[point]].iter();
        let area = fans.fold(Vec3::zeros(), |sum, [a, b]| {
            sum + (points[*a as usize] - here).cross(&(points[*b as usize] - here))
        });
        let normal = area
            .try_normalize(f32::MIN_POSITIVE)
            .unwrap_or_else(Vec3::z);
        let edge = match self.graph.neighbors(point).first() {
            Some(other) => points[*other as usize] - here,
            None => Vec3::zeros(),
        };
        let along = edge - normal * normal.dot(&edge);
        let tangent = along
            .try_normalize(f32::MIN_POSITIVE)
            .unwrap_or_else(|| quat::any_perpendicular(normal));
        Mat3::from_columns(&[tangent, normal.cross(&tangent), normal])
    }
}
