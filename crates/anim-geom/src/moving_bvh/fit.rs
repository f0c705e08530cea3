//! Fits the boxes to a motion: of everything, or of what has changed.

use anim_math::Vec3;
use anim_math::lanes::{LANES, Lanes, Simd, SimdBase, dispatch, f32x8};

use super::MovingBvh;
use super::boxes::MovingBox;
use crate::mesh_bvh::LARGEST;

impl MovingBvh {
    pub(super) fn fit(&mut self, margin: f32, is_finite: bool) {
        let half = (margin * 0.5).clamp(0.0, LARGEST);
        let extent = dispatch!(self.level, simd => self.fit_lanes(simd, half, is_finite));
        let count: usize = self.levels.iter().map(Vec::len).sum();
        self.size = extent - 3.0 * 2.0 * half * count as f32;
        if self.built_size == f32::INFINITY {
            self.built_size = self.size;
        }
    }

    /// Computes every box from what is below it; answers the sum of the extents of all that hold others, at the start.
    #[inline(always)]
    fn fit_lanes<S: Simd>(&mut self, simd: S, half_margin: f32, is_finite: bool) -> f32 {
        let (none_low, none_high) = MovingBox::EMPTY.load(simd);
        let half_margin = f32x8::splat(simd, half_margin);
        let zero = f32x8::splat(simd, 0.0);
        let mut extents = zero;
        let mut below = self.triangles.len();
        for (level, blocks) in self.levels.iter_mut().enumerate() {
            for (index, block) in blocks.iter_mut().enumerate() {
                let first = index * LANES;
                let range = first..below.min(first + LANES);
                let (mut low, mut high) = ([none_low; LANES], [none_high; LANES]);
                if level > 0 {
                    for (lane, whole) in self.wholes[range].iter().enumerate() {
                        (low[lane], high[lane]) = whole.load(simd);
                    }
                } else {
                    for (lane, triangle) in self.triangles[range].iter().enumerate() {
                        let rows = triangle.map(|v| &self.vertices[v as usize]);
                        if is_finite || rows.iter().all(|row| !row[0].is_nan()) {
                            (low[lane], high[lane]) = around(simd, rows, half_margin);
                        }
                    }
                }
                let (whole_low, whole_high) = block.pack(&low, &high);
                let whole = &mut self.wholes[index];
                whole_low.store_slice(&mut whole.low);
                whole_high.store_slice(&mut whole.high);
                extents += (whole_high - whole_low).max(zero);
            }
            below = blocks.len();
        }
        let extents: Lanes = extents.into();
        extents[0] + extents[1] + extents[2]
    }

    /// Computes the boxes of what has changed, and those about them.
    #[inline(always)]
    pub(super) fn fit_changed<S: Simd>(&mut self, simd: S, half_margin: f32) {
        let (none_low, none_high) = MovingBox::EMPTY.load(simd);
        let half_margin = f32x8::splat(simd, half_margin);
        for level in 0..self.levels.len() {
            for index in 0..self.levels[level].len() {
                if self.changed[level][index] == 0 {
                    continue;
                }
                let mut whole = MovingBox::EMPTY;
                if level > 0 {
                    whole = self.levels[level][index].whole();
                } else {
                    let first = index * LANES;
                    let range = first..self.triangles.len().min(first + LANES);
                    let (mut low, mut high) = ([none_low; LANES], [none_high; LANES]);
                    for (lane, triangle) in self.triangles[range].iter().enumerate() {
                        let rows = triangle.map(|v| &self.vertices[v as usize]);
                        if rows.iter().all(|row| !row[0].is_nan()) {
                            (low[lane], high[lane]) = around(simd, rows, half_margin);
                        }
                    }
                    let (whole_low, whole_high) = self.levels[0][index].pack(&low, &high);
                    whole_low.store_slice(&mut whole.low);
                    whole_high.store_slice(&mut whole.high);
                }
                if let Some(above) = self.levels.get_mut(level + 1) {
                    above[index / LANES].set(index % LANES, &whole);
                    self.changed[level + 1][index / LANES] |= 1 << (index % LANES);
                }
            }
        }
    }
}

/// x, y, z at the start, 0, x, y, z at the end, 0; NaN first where any of them is not finite.
#[inline(always)]
pub(super) fn moving_vertex(start: &Vec3, end: &Vec3) -> Lanes {
    let mut vertex = [start.x, start.y, start.z, 0.0, end.x, end.y, end.z, 0.0];
    let sum = (start.x + start.y + start.z + end.x + end.y + end.z) * 0.0;
    if sum != 0.0 && vertex.iter().any(|c| !c.is_finite()) {
        vertex[0] = f32::NAN;
    }
    vertex
}

/// The box of a triangle and its margin.
#[inline(always)]
fn around<S: Simd>(simd: S, rows: [&Lanes; 3], half_margin: f32x8<S>) -> (f32x8<S>, f32x8<S>) {
    let [a, b, c] = [
        f32x8::from_slice(simd, rows[0]),
        f32x8::from_slice(simd, rows[1]),
        f32x8::from_slice(simd, rows[2]),
    ];
    (a.min(b).min(c) - half_margin, a.max(b).max(c) + half_margin)
}
