//! The boxes of vertices, edges and triangles during a motion, and the pairs of features whose boxes come near each other.
//!
//! Two boxes stay apart if one axis and side separates them both at the start and at the end. So most pairs of features go
//! for the price of three loads, before anything is known of their shapes.

use anim_geom::ccd::Features;
use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, f32x4, f32x8};

use super::surface::Surface;

/// Boxes at the start and at the end: x, y, z, 0 twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    /// By slot; vertices have no extent.
    vertices: Vec<Lanes>,
    edges: Vec<Extent>,
    triangles: Vec<Extent>,
}

#[derive(Clone, Copy, Debug)]
struct Extent {
    low: Lanes,
    high: Lanes,
}

/// Two features, as those of [`Pair`](super::Pair).
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) features: Features,
    pub(super) vertices: [u32; 4],
}

impl Extents {
    /// Takes in the motion that the surface has been placed in.
    #[inline(always)]
    pub(super) fn place<S: Simd>(&mut self, simd: S, surface: &Surface) {
        let [from, to] = surface.motion();
        self.vertices.clear();
        self.vertices
            .extend(from.iter().zip(to).map(|(s, e)| row(s, e)));
        self.edges.clear();
        for ends in &surface.edges {
            let extent = Extent::around(simd, &self.vertices, [ends[0], ends[1], ends[1]]);
            self.edges.push(extent);
        }
        self.triangles.clear();
        for corners in &surface.triangles {
            let extent = Extent::around(simd, &self.vertices, *corners);
            self.triangles.push(extent);
        }
    }

    /// The same where the motion has changed, at all corners of some triangles.
    #[inline(always)]
    pub(super) fn place_again<S: Simd>(&mut self, simd: S, surface: &Surface, triangles: &[u32]) {
        let [from, to] = surface.motion();
        for corners in triangles.iter().map(|t| surface.triangles[*t as usize]) {
            for v in corners.map(|v| v as usize) {
                self.vertices[v] = row(&from[v], &to[v]);
            }
        }
        for triangle in triangles.iter().map(|t| *t as usize) {
            let corners = surface.triangles[triangle];
            self.triangles[triangle] = Extent::around(simd, &self.vertices, corners);
            for edge in surface.edges_of[triangle].map(|e| e as usize) {
                let ends = surface.edges[edge];
                self.edges[edge] =
                    Extent::around(simd, &self.vertices, [ends[0], ends[1], ends[1]]);
            }
        }
    }

    /// Appends the pairs of features that two triangles answer for and that come within `margin` of each other along each
    /// axis; none that share a vertex.
    #[inline(always)]
    pub(super) fn sift<S: Simd>(
        &self,
        simd: S,
        surface: &Surface,
        pair: [u32; 2],
        margin: f32,
        out: &mut Vec<Candidate>,
    ) {
        let margin = f32x4::splat(simd, margin);
        let [a, b] = pair.map(|t| t as usize);
        let owned = [surface.owned[a], surface.owned[b]];
        for (own, other, owned) in [(a, b, owned[0]), (b, a, owned[1])] {
            let face = surface.triangles[other];
            for (corner, vertex) in surface.triangles[own].into_iter().enumerate() {
                if owned >> corner & 1 == 0 || face.contains(&vertex) {
                    continue;
                }
                let point = &self.vertices[vertex as usize];
                if !are_apart(simd, [point, point], &self.triangles[other], margin) {
                    out.push(Candidate {
                        features: Features::PointTriangle,
                        vertices: [vertex, face[0], face[1], face[2]],
                    });
                }
            }
        }
        let sides = |t: usize| surface.edges_of[t];
        for (i, first) in sides(a).into_iter().enumerate() {
            if owned[0] >> (3 + i) & 1 == 0 {
                continue;
            }
            let Extent { low, high } = &self.edges[first as usize];
            for (j, second) in sides(b).into_iter().enumerate() {
                if owned[1] >> (3 + j) & 1 == 0
                    || are_apart(simd, [low, high], &self.edges[second as usize], margin)
                {
                    continue;
                }
                let [p, q] = surface.edges[first as usize];
                let [r, s] = surface.edges[second as usize];
                if p != r && p != s && q != r && q != s {
                    out.push(Candidate {
                        features: Features::EdgeEdge,
                        vertices: [p, q, r, s],
                    });
                }
            }
        }
    }
}

#[inline(always)]
fn row(start: &Vec3, end: &Vec3) -> Lanes {
    [start.x, start.y, start.z, 0.0, end.x, end.y, end.z, 0.0]
}

impl Extent {
    /// The box of three vertices.
    #[inline(always)]
    fn around<S: Simd>(simd: S, vertices: &[Lanes], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|v| f32x8::from_slice(simd, &vertices[v as usize]));
        let (mut low, mut high) = ([0.0; LANES], [0.0; LANES]);
        a.min(b).min(c).store_slice(&mut low);
        a.max(b).max(c).store_slice(&mut high);
        Self { low, high }
    }
}

/// True if one axis and side keeps two boxes, the first from low to high, more than `margin` apart at both ends.
#[inline(always)]
fn are_apart<S: Simd>(simd: S, [low, high]: [&Lanes; 2], b: &Extent, margin: f32x4<S>) -> bool {
    let above = f32x8::from_slice(simd, &b.low) - f32x8::from_slice(simd, high);
    let below = f32x8::from_slice(simd, low) - f32x8::from_slice(simd, &b.high);
    let (above_start, above_end) = simd.split_f32x8(above);
    let (below_start, below_end) = simd.split_f32x8(below);
    let gap = above_start.min(above_end).max(below_start.min(below_end));
    simd.any_true_mask32x4(simd.simd_gt_f32x4(gap, margin))
}
