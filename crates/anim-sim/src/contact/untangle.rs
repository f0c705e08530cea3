//! Brings a surface that has passed through itself apart again, by shortening the lines along which it crosses itself.
//!
//! Where an edge pierces a triangle, a line of intersection begins and runs into the edge's triangles along R. Moving the
//! edge by d relative to the pierced triangle, of normal N, moves that end by d − (d·N)/(E·N) E in the triangle, and so
//! lengthens the line by −d·Σ (R − (R·E)/(E·N) N): the edge moves along that sum, the triangle against it.
//!
//! Source: Volino and Magnenat-Thalmann, "Resolving surface collisions through intersection contour minimization",
//! SIGGRAPH 2006.

use anim_geom::ccd::Features;
use anim_geom::intersect;
use anim_math::Vec3;

use super::surface::Surface;
use super::{Contact, vector};

/// Speed at which crossed surfaces part, m/s.
const PARTING: f32 = 0.6;

/// An edge that pierces a triangle, by slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crossing {
    edge: [u32; 2],
    /// Far corners of the edge's triangles; the same twice at a border.
    tips: [u32; 2],
    triangle: [u32; 3],
}

/// The crossings of triangles that meet.
pub(super) fn collect(
    surface: &Surface,
    positions: &[Vec3],
    met: &[[u32; 2]],
    out: &mut Vec<Crossing>,
) {
    let at = |v: u32| positions[v as usize];
    for pair in met {
        for [own, other] in [*pair, [pair[1], pair[0]]] {
            let (corners, triangle) = (
                surface.triangles[own as usize],
                surface.triangles[other as usize],
            );
            for side in 0..3 {
                let edge = [corners[side], corners[(side + 1) % 3]];
                if edge.iter().any(|v| triangle.contains(v)) {
                    continue;
                }
                if !intersect::segment_triangle(edge.map(at), triangle.map(at)) {
                    continue;
                }
                let tip = corners[(side + 2) % 3];
                let across = surface.across[own as usize][side];
                let tips = [
                    tip,
                    surface.triangles.get(across as usize).map_or(tip, |t| {
                        t.iter().copied().find(|v| !edge.contains(v)).unwrap_or(tip)
                    }),
                ];
                let (edge, tips) = if edge[0] < edge[1] {
                    (edge, tips)
                } else {
                    ([edge[1], edge[0]], [tips[1], tips[0]])
                };
                out.push(Crossing {
                    edge,
                    tips,
                    triangle,
                });
            }
        }
    }
    out.sort_unstable();
    out.dedup_by_key(|crossing| (crossing.edge, crossing.triangle));
}

impl Contact {
    /// Moves the crossings that are left, without giving them speed.
    pub(super) fn untangle(&mut self, h: f32, predicted: &mut [[f32; 4]]) {
        for crossing in &self.crossings {
            let at = |v: u32| vector(self.points[v as usize]);
            let (edge, corners) = (crossing.edge.map(at), crossing.triangle.map(at));
            if !intersect::segment_triangle(edge, corners) {
                continue;
            }
            let Some(way) = parting_way(edge, crossing.tips.map(at), corners) else {
                continue;
            };
            let vertices = [
                crossing.triangle[0],
                crossing.triangle[1],
                crossing.triangle[2],
            ];
            let along = pierced_at(edge, corners);
            let hit = edge[0] + (edge[1] - edge[0]) * along;
            let on_triangle =
                Features::PointTriangle.weights(&[hit, corners[0], corners[1], corners[2]]);
            let shares = [
                (crossing.edge[0], 1.0 - along),
                (crossing.edge[1], along),
                (vertices[0], on_triangle[1]),
                (vertices[1], on_triangle[2]),
                (vertices[2], on_triangle[3]),
            ];
            let mobility: f32 = shares
                .iter()
                .map(|(v, w)| self.points[*v as usize][3] * w * w)
                .sum();
            if mobility <= 0.0 {
                continue;
            }
            let step = way * (PARTING * h / mobility);
            for (v, weight) in shares {
                let slot = v as usize;
                let moved = step * (weight * self.points[slot][3]);
                for axis in 0..3 {
                    self.points[slot][axis] += moved[axis];
                    predicted[slot][axis] += moved[axis];
                }
            }
        }
    }
}

/// The unit direction in which the edge has to move to shorten the line of intersection.
fn parting_way(edge: [Vec3; 2], tips: [Vec3; 2], corners: [Vec3; 3]) -> Option<Vec3> {
    let normal = (corners[1] - corners[0])
        .cross(&(corners[2] - corners[0]))
        .try_normalize(0.0)?;
    let along = (edge[1] - edge[0]).try_normalize(0.0)?;
    let steep = along.dot(&normal);
    let steep = if steep.abs() < 0.1 {
        libm::copysignf(0.1, steep)
    } else {
        steep
    };
    let tips = if tips[0] == tips[1] {
        &tips[..1]
    } else {
        &tips[..]
    };
    let mut sum = Vec3::zeros();
    for tip in tips {
        let into = (tip - edge[0]) - along * (tip - edge[0]).dot(&along);
        let face = along.cross(&into);
        let Some(mut line) = normal.cross(&face).try_normalize(0.0) else {
            continue;
        };
        if line.dot(&into) < 0.0 {
            line = -line;
        }
        sum += line - normal * (line.dot(&along) / steep);
    }
    sum.try_normalize(1e-3)
}

/// Where on the edge, 0 to 1, it pierces the plane of the triangle.
fn pierced_at(edge: [Vec3; 2], corners: [Vec3; 3]) -> f32 {
    let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
    let [below, above] = edge.map(|p| (p - corners[0]).dot(&normal));
    if below == above {
        0.5
    } else {
        (below / (below - above)).clamp(0.0, 1.0)
    }
}
