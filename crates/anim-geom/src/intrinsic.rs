//! Intrinsic Delaunay triangulations: the same surface, cut along other geodesics, so that no cotangent weight is negative.
//!
//! A triangulation is edge lengths and how sides are glued; an edge that is not Delaunay is flipped inside its two triangles
//! laid flat, and no vertex moves. What is not a closed, consistently oriented manifold is first covered twice, front and
//! back of each triangle glued to their neighbours in their order around the edge (the tufted cover), and what has no area is
//! given some by lengthening all edges by the same tiny amount. Any triangle soup therefore has one.
//!
//! Source: Bobenko and Springborn, "A discrete Laplace–Beltrami operator for simplicial surfaces", DCG 38, 2007; Sharp and
//! Crane, "A Laplacian for nonmanifold triangle meshes", SGP 2020, sections 3 and 4.

use anim_math::Vec3;
use nalgebra::Vector3;

use crate::topology::{HalfEdge, half_edges, is_paired};

/// How much longer two sides of a triangle are than the third, at least, in mean edge lengths.
const SLACK: f64 = 1.0e-6;

/// Triangles by slots, three a triangle: slot 3f + s is the side from corner s to corner s + 1 of triangle f.
#[derive(Clone, Debug)]
pub(crate) struct Intrinsic {
    /// For each slot, the vertex that it starts from.
    pub(crate) origins: Vec<u32>,
    /// For each slot, its length, metres.
    pub(crate) lengths: Vec<f64>,
    /// For each slot, the cotangent of the angle opposite.
    pub(crate) cotangents: Vec<f64>,
    /// What one triangle counts for: ½ where the surface is covered twice.
    pub(crate) share: f64,
    /// For each slot, the other side of its edge.
    twins: Vec<u32>,
}

impl Intrinsic {
    /// The Delaunay triangulation of checked triangles, of which those that name a vertex twice are left out.
    pub(crate) fn delaunay(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let triangles = proper(triangles);
        let lengths = mollified_lengths(positions, &triangles);
        let mut out = Self::glued(positions, &triangles, &lengths);
        out.flip_to_delaunay();
        out
    }

    /// The slot after `slot` in its triangle.
    #[inline]
    pub(crate) fn next(slot: usize) -> usize {
        if slot % 3 == 2 { slot - 2 } else { slot + 1 }
    }

    /// The other side of the edge of `slot`.
    #[inline]
    pub(crate) fn twin(&self, slot: usize) -> usize {
        self.twins[slot] as usize
    }

    /// Glues the triangles along their edges, once or as a double cover.
    fn glued(positions: &[Vec3], triangles: &[[u32; 3]], lengths: &[[f64; 3]]) -> Self {
        let edges = half_edges(triangles);
        let closed = edges.chunk_by(|a, b| a.ends == b.ends).all(is_paired);
        let copies = if closed { 1 } else { 2 };
        let slots = triangles.len() * 3 * copies;
        let mut out = Self {
            origins: Vec::with_capacity(slots),
            lengths: Vec::with_capacity(slots),
            cotangents: vec![0.0; slots],
            share: 1.0 / copies as f64,
            twins: vec![0; slots],
        };
        for ([a, b, c], [ab, bc, ca]) in triangles.iter().zip(lengths) {
            out.origins.extend([a, b, c]);
            out.lengths.extend([ab, bc, ca]);
            if !closed {
                out.origins.extend([a, c, b]);
                out.lengths.extend([ca, bc, ab]);
            }
        }
        let side = |edge: &HalfEdge, front: bool| {
            let slot = usize::from(edge.side);
            edge.triangle as usize * 3 * copies + if front { slot } else { 5 - slot }
        };
        let mut around = Vec::new();
        for shared in edges.chunk_by(|a, b| a.ends == b.ends) {
            if closed {
                out.glue(side(&shared[0], true), side(&shared[1], true));
                continue;
            }
            around.clear();
            around.extend(shared.iter().map(|edge| (0.0, *edge)));
            if shared.len() > 2 {
                sort_around(positions, triangles, &mut around);
            }
            for (place, (_, edge)) in around.iter().enumerate() {
                let (_, after) = &around[(place + 1) % around.len()];
                // The side of one triangle that faces the other across the wedge between them.
                out.glue(side(edge, edge.forward), side(after, !after.forward));
            }
        }
        for triangle in 0..slots / 3 {
            out.measure(triangle);
        }
        out
    }

    fn glue(&mut self, a: usize, b: usize) {
        self.twins[a] = b as u32;
        self.twins[b] = a as u32;
    }

    fn measure(&mut self, triangle: usize) {
        let slots = 3 * triangle..3 * triangle + 3;
        if let [a, b, c] = self.lengths[slots.clone()] {
            self.cotangents[slots].copy_from_slice(&cotangents([a, b, c]));
        }
    }

    fn flip_to_delaunay(&mut self) {
        let slots = self.origins.len();
        let mut queued = vec![true; slots];
        let mut queue: Vec<usize> = (0..slots).rev().collect();
        // Flips end in exact arithmetic; the bound is for rounding.
        let mut left = 50 * slots;
        while let Some(slot) = queue.pop() {
            queued[slot] = false;
            if left == 0 || !self.flip(slot) {
                continue;
            }
            left -= 1;
            let (f, g) = (slot / 3 * 3, self.twins[slot / 3 * 3 + 2] as usize / 3 * 3);
            for outer in [f, f + 1, g, g + 1] {
                if !queued[outer] {
                    queued[outer] = true;
                    queue.push(outer);
                }
            }
        }
    }

    /// Flips the edge of `slot` if its opposite angles sum to more than π; the new edge is then slot 2 of both triangles.
    fn flip(&mut self, slot: usize) -> bool {
        let twin = self.twins[slot] as usize;
        let (alpha, beta) = (self.cotangents[slot], self.cotangents[twin]);
        // Rounding must not flip the diagonal of a square back and forth.
        let is_delaunay = alpha + beta >= -1.0e-10 * (1.0 + alpha.abs() + beta.abs());
        let (f, g) = (slot / 3, twin / 3);
        if is_delaunay || f == g {
            return false;
        }
        let (jk, im) = (Self::next(slot), Self::next(twin));
        let (ki, mj) = (Self::next(jk), Self::next(im));
        let along = self.lengths[slot];
        let place = |from: f64, to: f64| {
            let x = (along * along + from * from - to * to) / (2.0 * along);
            (x, 2.0 * area([along, from, to]) / along)
        };
        let (kx, ky) = place(self.lengths[ki], self.lengths[jk]);
        let (mx, my) = place(self.lengths[im], self.lengths[mj]);
        let across = (kx - mx).hypot(ky + my);
        let sides = [ki, im, mj, jk].map(|side| self.lengths[side]);
        let is_triangle = |a: f64, b: f64| across > 0.0 && across < a + b && (a - b).abs() < across;
        if !(is_triangle(sides[0], sides[1]) && is_triangle(sides[2], sides[3])) {
            return false;
        }
        let (k, m) = (self.origins[ki], self.origins[mj]);
        let (i, j) = (self.origins[slot], self.origins[twin]);
        let moved = [(ki, 3 * f), (im, 3 * f + 1), (mj, 3 * g), (jk, 3 * g + 1)];
        let outer = moved.map(|(old, new)| {
            let twin = self.twins[old] as usize;
            let inside = moved.iter().find(|(old, _)| *old == twin);
            (new, inside.map_or(twin, |(_, new)| *new))
        });
        for (a, b) in outer {
            self.glue(a, b);
        }
        self.glue(3 * f + 2, 3 * g + 2);
        self.origins[3 * f..3 * f + 3].copy_from_slice(&[k, i, m]);
        self.origins[3 * g..3 * g + 3].copy_from_slice(&[m, j, k]);
        self.lengths[3 * f..3 * f + 3].copy_from_slice(&[sides[0], sides[1], across]);
        self.lengths[3 * g..3 * g + 3].copy_from_slice(&[sides[2], sides[3], across]);
        self.measure(f);
        self.measure(g);
        true
    }
}

/// The triangles that name three different vertices.
pub(crate) fn proper(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let is_proper = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    triangles.iter().copied().filter(is_proper).collect()
}

/// The lengths of the sides 01, 12, 20 of each triangle, lengthened until each triangle has an area.
pub(crate) fn mollified_lengths(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[f64; 3]> {
    let position = |v: u32| positions[v as usize].cast::<f64>();
    let mut lengths: Vec<[f64; 3]> = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(position);
            [(b - a).norm(), (c - b).norm(), (a - c).norm()]
        })
        .collect();
    let mean = lengths.iter().flatten().sum::<f64>() / (3 * lengths.len()).max(1) as f64;
    // A mesh that is one point has to have some size.
    let wanted = if mean > 0.0 { SLACK * mean } else { 1.0 };
    let missing = lengths
        .iter()
        .flat_map(|[a, b, c]| {
            [
                wanted - (a + b - c),
                wanted - (b + c - a),
                wanted - (c + a - b),
            ]
        })
        .fold(0.0, f64::max);
    lengths.iter_mut().flatten().for_each(|l| *l += missing);
    lengths
}

/// The area of a triangle of these sides, without cancellation for slivers.
///
/// Source: Kahan, "Miscalculating area and angles of a needle-like triangle", 2014.
pub(crate) fn area(sides: [f64; 3]) -> f64 {
    let [mut a, mut b, mut c] = sides;
    if a < b {
        (a, b) = (b, a);
    }
    if b < c {
        (b, c) = (c, b);
    }
    if a < b {
        (a, b) = (b, a);
    }
    let product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
    product.max(0.0).sqrt() / 4.0
}

/// The cotangents of the angles opposite to three sides.
pub(crate) fn cotangents(sides: [f64; 3]) -> [f64; 3] {
    let [a, b, c] = sides.map(|side| side * side);
    let scale = 1.0 / (4.0 * area(sides)).max(f64::MIN_POSITIVE);
    [b + c - a, c + a - b, a + b - c].map(|cosine| (cosine * scale).clamp(-1.0e12, 1.0e12))
}

/// Sorts the triangles of an edge by their angle about it, counter-clockwise seen from its far end.
fn sort_around(positions: &[Vec3], triangles: &[[u32; 3]], around: &mut [(f64, HalfEdge)]) {
    let position = |v: u32| positions[v as usize].cast::<f64>();
    let [low, high] = around[0].1.ends.map(position);
    let along = high - low;
    let axis = Vector3::from_fn(|i, _| f64::from(i == along.iamin()));
    let x = along.cross(&axis);
    let y = along.cross(&x) / along.norm().max(f64::MIN_POSITIVE);
    for (angle, edge) in around.iter_mut() {
        let apex = triangles[edge.triangle as usize][(usize::from(edge.side) + 2) % 3];
        let out = position(apex) - low;
        *angle = libm::atan2(out.dot(&y), out.dot(&x));
    }
    around.sort_by(|a, b| a.0.total_cmp(&b.0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_keep_the_gluing_and_the_area() {
        // A flat fan of slivers about a far corner.
        let positions: Vec<Vec3> = (0..9)
            .map(|i| Vec3::new(i as f32 * 0.1, if i % 2 == 0 { 0.0 } else { 0.01 }, 0.0))
            .chain([Vec3::new(0.4, 3.0, 0.0)])
            .collect();
        let triangles: Vec<[u32; 3]> = (0..8).map(|i| [i, i + 1, 9]).collect();
        let total = |lengths: &[f64]| -> f64 {
            lengths
                .chunks_exact(3)
                .map(|l| area([l[0], l[1], l[2]]))
                .sum()
        };
        let sides = mollified_lengths(&positions, &triangles);
        let glued = Intrinsic::glued(&positions, &triangles, &sides);
        let flipped = Intrinsic::delaunay(&positions, &triangles);
        assert_ne!(glued.origins, flipped.origins);
        assert!((total(&glued.lengths) / total(&flipped.lengths) - 1.0).abs() < 1e-12);
        for slot in 0..flipped.origins.len() {
            let twin = flipped.twins[slot] as usize;
            assert_eq!(flipped.twins[twin] as usize, slot);
            assert_eq!(flipped.lengths[twin], flipped.lengths[slot]);
            assert_eq!(
                flipped.origins[twin],
                flipped.origins[Intrinsic::next(slot)]
            );
            assert!(flipped.cotangents[slot] + flipped.cotangents[twin] > -1e-9);
        }
    }
}
