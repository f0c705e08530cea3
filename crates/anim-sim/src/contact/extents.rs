//! The boxes of vertices, edges and triangles during a motion, and the pairs of features whose boxes come near each other.
//!
//! Two boxes stay apart if one axis and side separates them both at the start and at the end. So most pairs of features go
//! for the price of three loads, before anything is known of their shapes.

use anim_geom::ccd::Features;
use anim_math::Vec3;
use anim_math::lanes::{Lanes, Simd, SimdBase, f32x4, f32x8};

use super::surface::Surface;

/// Where vertices are at the start and at the end, by slot: x, y, z, 0 twice. Boxes are made of them where they are asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Extents {
    vertices: Vec<Lanes>,
}

/// The box of a feature at both ends.
#[derive(Clone, Copy)]
struct Extent<S: Simd> {
    low: f32x8<S>,
    high: f32x8<S>,
}

/// Two features, as those of [`Pair`](super::Pair).
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) features: Features,
    pub(super) vertices: [u32; 4],
}

impl Extents {
    /// Takes in the motion that the surface has been placed in.
    pub(super) fn place(&mut self, surface: &Surface) {
        let [from, to] = surface.motion();
        self.vertices.clear();
        self.vertices
            .extend(from.iter().zip(to).map(|(s, e)| row(s, e)));
    }

    /// The same where the motion of some vertices alone has changed; slots beyond are no vertices.
    pub(super) fn place_again(&mut self, surface: &Surface, slots: &[u32]) {
        let [from, to] = surface.motion();
        for slot in slots.iter().map(|v| *v as usize) {
            if let Some(vertex) = self.vertices.get_mut(slot) {
                *vertex = row(&from[slot], &to[slot]);
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
            if owned & 7 == 0 {
                continue;
            }
            let face = surface.triangles[other];
            let box_of_face = self.around(simd, face);
            for (corner, vertex) in surface.triangles[own].into_iter().enumerate() {
                if owned >> corner & 1 == 0 || face.contains(&vertex) {
                    continue;
                }
                let point = f32x8::from_slice(simd, &self.vertices[vertex as usize]);
                let point = Extent {
                    low: point,
                    high: point,
                };
                if !are_apart(simd, &point, &box_of_face, margin) {
                    out.push(Candidate {
                        features: Features::PointTriangle,
                        vertices: [vertex, face[0], face[1], face[2]],
                    });
                }
            }
        }
        if owned[0] >> 3 == 0 || owned[1] >> 3 == 0 {
            return;
        }
        let [first_corners, second_corners] = [a, b].map(|t| surface.triangles[t]);
        let second_boxes = [
            self.side(simd, second_corners, 0),
            self.side(simd, second_corners, 1),
            self.side(simd, second_corners, 2),
        ];
        for i in 0..3 {
            if owned[0] >> (3 + i) & 1 == 0 {
                continue;
            }
            let first = self.side(simd, first_corners, i);
            for (j, second) in second_boxes.iter().enumerate() {
                if owned[1] >> (3 + j) & 1 == 0 || are_apart(simd, &first, second, margin) {
                    continue;
                }
                let [p, q] = surface.edges[surface.edges_of[a][i] as usize];
                let [r, s] = surface.edges[surface.edges_of[b][j] as usize];
                if p != r && p != s && q != r && q != s {
                    out.push(Candidate {
                        features: Features::EdgeEdge,
                        vertices: [p, q, r, s],
                    });
                }
            }
        }
    }

    /// The box of three vertices.
    #[inline(always)]
    fn around<S: Simd>(&self, simd: S, corners: [u32; 3]) -> Extent<S> {
        let [a, b, c] = corners;
        let a = f32x8::from_slice(simd, &self.vertices[a as usize]);
        let b = f32x8::from_slice(simd, &self.vertices[b as usize]);
        let c = f32x8::from_slice(simd, &self.vertices[c as usize]);
        Extent {
            low: a.min(b).min(c),
            high: a.max(b).max(c),
        }
    }

    /// The box of a side of a triangle.
    #[inline(always)]
    fn side<S: Simd>(&self, simd: S, corners: [u32; 3], side: usize) -> Extent<S> {
        let [a, b] = [corners[side], corners[(side + 1) % 3]];
        let a = f32x8::from_slice(simd, &self.vertices[a as usize]);
        let b = f32x8::from_slice(simd, &self.vertices[b as usize]);
        Extent {
            low: a.min(b),
            high: a.max(b),
        }
    }
}

#[inline(always)]
fn row(start: &Vec3, end: &Vec3) -> Lanes {
    [start.x, start.y, start.z, 0.0, end.x, end.y, end.z, 0.0]
}

/// True if one axis and side keeps two boxes more than `margin` apart at both ends.
#[inline(always)]
fn are_apart<S: Simd>(simd: S, a: &Extent<S>, b: &Extent<S>, margin: f32x4<S>) -> bool {
    let (above_start, above_end) = simd.split_f32x8(b.low - a.high);
    let (below_start, below_end) = simd.split_f32x8(a.low - b.high);
    let gap = above_start.min(above_end).max(below_start.min(below_end));
    simd.any_true_mask32x4(simd.simd_gt_f32x4(gap, margin))
}
