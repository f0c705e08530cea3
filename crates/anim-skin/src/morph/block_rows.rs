//! Rows of f64 in whole blocks of lanes, and the one thing that a least-squares solve does with them: adding them up.

use anim_math::lanes::{Simd, SimdBase, f64x8};

/// Numbers in a block.
pub(crate) const LANES: usize = 8;

/// Numbers side by side, on a cache line of their own; the last block of a row is filled with zeros.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [f64; LANES]);

impl Block {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S) -> f64x8<S> {
        f64x8::from_slice(simd, &self.0)
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, value: f64x8<S>) {
        self.0 = value.into();
    }
}

/// A number of a row.
#[inline(always)]
pub(crate) fn at(row: &[Block], index: usize) -> f64 {
    row[index / LANES].0[index % LANES]
}

/// A number of a row, to be changed.
#[inline(always)]
pub(crate) fn at_mut(row: &mut [Block], index: usize) -> &mut f64 {
    &mut row[index / LANES].0[index % LANES]
}

/// Adds to `sums` each of `rows`, which are as long, times its factor, four at a time: the order does not depend on the lanes.
#[inline(always)]
pub(crate) fn add_rows<S: Simd>(simd: S, sums: &mut [Block], factors: &[f64], rows: &[Block]) {
    let stride = sums.len();
    let (groups, rest) = factors.as_chunks::<4>();
    let mut rows = rows;
    for factors in groups {
        let [a, b, c, d] = factors.map(|factor| f64x8::splat(simd, factor));
        let (first, others) = rows.split_at(stride);
        let (second, others) = others.split_at(stride);
        let (third, others) = others.split_at(stride);
        let (fourth, others) = others.split_at(stride);
        let pairs = first.iter().zip(second).zip(third.iter().zip(fourth));
        for (sum, ((first, second), (third, fourth))) in sums.iter_mut().zip(pairs) {
            let left = a * first.load(simd) + b * second.load(simd);
            let right = c * third.load(simd) + d * fourth.load(simd);
            sum.store(sum.load(simd) + (left + right));
        }
        rows = others;
    }
    for (factor, row) in rest.iter().zip(rows.chunks_exact(stride)) {
        add_row(simd, sums, *factor, row);
    }
}

/// Adds `factor` times a row to another.
#[inline(always)]
pub(crate) fn add_row<S: Simd>(simd: S, sums: &mut [Block], factor: f64, row: &[Block]) {
    let factor = f64x8::splat(simd, factor);
    for (sum, row) in sums.iter_mut().zip(row) {
        sum.store(sum.load(simd) + factor * row.load(simd));
    }
}
