//! Delta mush: smooths what another deformer made, then puts the detail of the rest shape back.
//!
//! Forgives rough weights: creases and dents go, while a smooth base keeps its shape. It costs a pass over all neighbours a
//! step, so it is for few characters; [`DirectDeltaMush`](crate::direct_delta_mush) needs no passes. Detail is kept in a
//! frame a point, made of its normal and its first edge on the smoothed surface. Borders stay where the base has them.
//!
//! What joints stretch, or mirror, they do to the detail, too: by the weighted mean of their stretches, which does not
//! shrink where joints twist, as the surface does. A frame of the stretched rest surface takes it to the posed one.
//!
//! ```
//! # use anim_geom::primitives;
//! # use anim_math::{Affine, Transform};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{Influences, SkinnedMesh, VertexBlocks};
//! use anim_skin::{DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let mesh = primitives::sphere(1.0, 12, 8);
//! # let influences = Influences::rigid(mesh.vertex_count());
//! # let skin = SkinnedMesh::new(&mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &influences, &[])?;
//! let mush = DeltaMush::new(&skin, &DeltaMushOptions::default());
//! let mut scratch = DeltaMushScratch::default();
//! let mut base = VertexBlocks::new(skin.vertex_count());
//! let mut surface = base.clone();
//! skin.linear(skin.rest(), &skin.palette_buffer(), &mut base);
//! let mut motions = DualPalette::new(1);
//! skin.dual_palette(&skin.palette_buffer(), &mut motions);
//! mush.deform(&skin, &base, &motions, &mut scratch, &mut surface);
//! assert!((surface.position(5) - skin.rest().position(5)).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_geom::chunks;
use anim_math::lanes::LANES;
use anim_math::{Mat3, Vec3, quat};

use crate::rigid_blend::{cofactors, mean_stretch, turned_normal};
use crate::surface_graph::SurfaceGraph;
use crate::{DualPalette, SkinnedMesh, VertexBlocks};

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
    /// P: the normal and the first edge of each smoothed point at rest.
    rest: Vec<Axes>,
    /// V: from the smoothed point to the vertex, and its normal, in the point's frame.
    details: Vec<Detail>,
}

/// What a frame of a point is made of, of any length.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axes {
    normal: Vec3,
    edge: Vec3,
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
            rest: Vec::with_capacity(graph.len()),
            graph,
            details: Vec::new(),
        };
        let mut scratch = DeltaMushScratch::default();
        mush.smooth(skin.rest(), &mut scratch);
        let points = 0..mush.graph.len();
        let rest = points.map(|point| mush.axes(point, &scratch.points));
        mush.rest = rest.collect();
        mush.details = (0..skin.vertex_count())
            .map(|vertex| {
                let point = mush.graph.point_of_vertex[vertex] as usize;
                let frame = mush.rest[point].frame();
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
    /// * `motions`: of the palette that `base` was made with, for what it stretches or mirrors.
    ///
    /// O(V · steps); the same bits for any number of threads. Allocates nothing once `scratch` has held as large a mesh.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh or skin.
    pub fn deform(
        &self,
        skin: &SkinnedMesh,
        base: &VertexBlocks,
        motions: &DualPalette,
        scratch: &mut DeltaMushScratch,
        out: &mut VertexBlocks,
    ) {
        let vertex_count = self.details.len();
        assert_eq!(skin.vertex_count(), vertex_count, "another mesh");
        assert_eq!(base.len(), vertex_count, "vertices of another mesh");
        self.smooth(base, scratch);
        let points = &scratch.points;
        skin.for_each_block(motions, out, |block, influences, out| {
            for lane in 0..LANES {
                let vertex = (block * LANES + lane).min(vertex_count - 1);
                let point = self.graph.point_of_vertex[vertex] as usize;
                let frame = self.axes(point, points).frame();
                let Detail { offset, normal } = if motions.any_stretched() {
                    let stretch = mean_stretch(influences.of(lane), motions).linear;
                    self.details[vertex].stretched(&stretch, &self.rest[point])
                } else {
                    self.details[vertex]
                };
                // Seen in a mirror triangles face the other way, and so do the normals of frames.
                let facing = if motions.is_mirrored() { -1.0 } else { 1.0 };
                let seen = |local: Vec3| frame * Vec3::new(local.x, local.y, local.z * facing);
                let (position, normal) = (points[point] + seen(offset), seen(normal));
                for axis in 0..3 {
                    out.position[axis][lane] = position[axis];
                    out.normal[axis][lane] = normal[axis];
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

    /// The summed normals of the triangles at `point`, and its first edge.
    fn axes(&self, point: usize, points: &[Vec3]) -> Axes {
        let here = points[point];
        let start = point
            .checked_sub(1)
            .map_or(0, |before| self.fan_ends[before]);
        let fans = self.fans[start..self.fan_ends[point]].iter();
        let normal = fans.fold(Vec3::zeros(), |sum, [a, b]| {
            sum + (points[*a as usize] - here).cross(&(points[*b as usize] - here))
        });
        let edge = match self.graph.neighbors(point).first() {
            Some(other) => points[*other as usize] - here,
            None => Vec3::zeros(),
        };
        Axes { normal, edge }
    }
}

impl Axes {
    /// Tangent, bitangent and normal as columns; any frame where the surface has collapsed.
    fn frame(&self) -> Mat3 {
        let normal = self
            .normal
            .try_normalize(f32::MIN_POSITIVE)
            .unwrap_or_else(Vec3::z);
        let along = self.edge - normal * normal.dot(&self.edge);
        let tangent = along
            .try_normalize(f32::MIN_POSITIVE)
            .unwrap_or_else(|| quat::any_perpendicular(normal));
        Mat3::from_columns(&[tangent, normal.cross(&tangent), normal])
    }
}

impl Detail {
    /// The detail of a rest surface that `stretch` has changed, in the frame that the surface then has.
    fn stretched(&self, stretch: &Mat3, rest: &Axes) -> Self {
        let frame = rest.frame();
        let changed = Axes {
            normal: cofactors(stretch) * rest.normal,
            edge: stretch * rest.edge,
        };
        let changed = changed.frame();
        Self {
            offset: changed.tr_mul(&(stretch * (frame * self.offset))),
            normal: changed.tr_mul(&turned_normal(stretch, frame * self.normal)),
        }
    }
}
