//! SIMD lanes: eight f32 side by side, and the instruction set to run them on.
//!
//! Kernels are generic `#[inline(always)] fn kernel<S: Simd>(simd: S, …)`, entered once a batch through [`dispatch!`].
//! They use no fused multiply-add, so every instruction set gives the same bits. A closure that is called twice is not
//! inlined into the dispatched function and runs without its instruction set: use `#[inline(always)]` functions.
//!
//! ```
//! use anim_math::lanes::{self, Lanes, Level, Simd, dispatch};
//!
//! #[inline(always)]
//! fn double<S: Simd>(simd: S, blocks: &mut [Lanes]) {
//!     for block in blocks {
//!         let value = lanes::load(simd, block);
//!         lanes::store(value + value, block);
//!     }
//! }
//!
//! let mut blocks = [[1.5; 8]; 3];
//! dispatch!(Level::new(), simd => double(simd, &mut blocks));
//! assert_eq!(blocks, [[3.0; 8]; 3]);
//! ```

pub use fearless_simd::{
    Level, Select, Simd, SimdBase, SimdCombine, SimdFloat, SimdMask, SimdSplit, dispatch, f32x4,
    f32x8, f32x16, f64x8, mask32x16, u8x64,
};

/// Lanes in a block: joints of a pose and vertices of a skin are stored in blocks of this many.
pub const LANES: usize = 8;

/// One value for each of eight neighbours.
pub type Lanes = [f32; LANES];

/// The eight values of a block.
#[inline(always)]
pub fn load<S: Simd>(simd: S, lanes: &Lanes) -> f32x8<S> {
    f32x8::from_slice(simd, lanes)
}

/// One value in all eight lanes.
#[inline(always)]
pub fn splat<S: Simd>(simd: S, value: f32) -> f32x8<S> {
    f32x8::splat(simd, value)
}

/// Writes eight values to a block.
#[inline(always)]
pub fn store<S: Simd>(value: f32x8<S>, lanes: &mut Lanes) {
    *lanes = value.into();
}

/// Loads N blocks, such as x, y, z.
#[inline(always)]
pub fn load_all<S: Simd, const N: usize>(simd: S, blocks: &[Lanes; N]) -> [f32x8<S>; N] {
    std::array::from_fn(|n| f32x8::from_slice(simd, &blocks[n]))
}

/// Stores N blocks, such as x, y, z.
#[inline(always)]
pub fn store_all<S: Simd, const N: usize>(values: [f32x8<S>; N], blocks: &mut [Lanes; N]) {
    for (value, block) in values.into_iter().zip(blocks) {
        *block = value.into();
    }
}

/// Transposes lanes to rows: `rows[lane][part] = parts[part][lane]`.
#[inline(always)]
pub fn rows_from_lanes<S: Simd>(simd: S, parts: [f32x8<S>; 4]) -> [[f32; 4]; LANES] {
    let [(a0, a1), (b0, b1), (c0, c1), (d0, d1)] = parts.map(|part| simd.split_f32x8(part));
    let mut halves = [[0.0; 16]; 2];
    simd.store_four_interleaved_f32x4([a0, b0, c0, d0], &mut halves[0]);
    simd.store_four_interleaved_f32x4([a1, b1, c1, d1], &mut halves[1]);
    let mut rows = [[0.0; 4]; LANES];
    rows.as_flattened_mut()
        .copy_from_slice(halves.as_flattened());
    rows
}

/// Transposes rows to lanes: `parts[part][lane] = rows[lane][part]`.
#[inline(always)]
pub fn lanes_from_rows<S: Simd>(simd: S, rows: &[[f32; 4]; LANES]) -> [f32x8<S>; 4] {
    let mut halves = [[0.0; 16]; 2];
    halves
        .as_flattened_mut()
        .copy_from_slice(rows.as_flattened());
    let [a0, b0, c0, d0] = simd.load_four_interleaved_f32x4(&halves[0]);
    let [a1, b1, c1, d1] = simd.load_four_interleaved_f32x4(&halves[1]);
    [
        simd.combine_f32x4(a0, a1),
        simd.combine_f32x4(b0, b1),
        simd.combine_f32x4(c0, c1),
        simd.combine_f32x4(d0, d1),
    ]
}

/// The dot product of four components, in a fixed order of addition.
#[inline(always)]
pub fn dot4<S: Simd>(a: [f32x8<S>; 4], b: [f32x8<S>; 4]) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + (a[2] * b[2] + a[3] * b[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Interpolates quaternions along the short arc: every kind of operation the kernels use.
    #[inline(always)]
    fn nlerp<S: Simd>(
        simd: S,
        from: &[Lanes; 4],
        to: &[Lanes; 4],
        alpha: f32,
        out: &mut [Lanes; 4],
    ) {
        let (from, to) = (load_all(simd, from), load_all(simd, to));
        let dot = dot4(from, to);
        let alpha = splat(simd, alpha);
        let alpha = dot
            .simd_lt(splat(simd, 0.0))
            .select(splat(simd, 0.0) - alpha, alpha);
        let keep = splat(simd, 1.0) - alpha.abs();
        let sum: [f32x8<S>; 4] = std::array::from_fn(|n| from[n] * keep + to[n] * alpha);
        let inverse = splat(simd, 1.0) / dot4(sum, sum).sqrt();
        store_all(sum.map(|part| part * inverse), out);
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        let mut random = Random::new(1, 0, 0);
        for _ in 0..100 {
            let mut quaternions =
                || std::array::from_fn(|_| std::array::from_fn(|_| random.range(-1.0, 1.0)));
            let (from, to) = (quaternions(), quaternions());
            let mut best = [[0.0; LANES]; 4];
            let mut baseline = best;
            dispatch!(Level::new(), simd => nlerp(simd, &from, &to, 0.3, &mut best));
            dispatch!(Level::baseline(), simd => nlerp(simd, &from, &to, 0.3, &mut baseline));
            assert_eq!(
                best.as_flattened()
                    .iter()
                    .map(|v| v.to_bits())
                    .collect::<Vec<_>>(),
                baseline
                    .as_flattened()
                    .iter()
                    .map(|v| v.to_bits())
                    .collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn transposes_undo_each_other() {
        let rows: [[f32; 4]; LANES] =
            std::array::from_fn(|lane| std::array::from_fn(|part| (10 * lane + part) as f32));
        #[inline(always)]
        fn there_and_back<S: Simd>(
            simd: S,
            rows: &[[f32; 4]; LANES],
        ) -> ([Lanes; 4], [[f32; 4]; LANES]) {
            let parts = lanes_from_rows(simd, rows);
            (parts.map(Into::into), rows_from_lanes(simd, parts))
        }
        let (parts, back) = dispatch!(Level::new(), simd => there_and_back(simd, &rows));
        assert_eq!(parts[3], [3.0, 13.0, 23.0, 33.0, 43.0, 53.0, 63.0, 73.0]);
        assert_eq!(back, rows);
    }
}
