//! SIMD lanes: eight f32 side by side, and the instruction set to run them on.
//!
//! Kernels are generic `#[inline(always)] fn kernel<S: Simd>(simd: S, …)`, entered once a batch through [`dispatch!`].
//! They use no fused multiply-add, so every instruction set gives the same bits.

pub use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f32x4, f32x8};

/// Lanes in a block: joints of a pose and vertices of a skin are stored in blocks of this many.
pub const LANES: usize = 8;

/// One value for each of eight neighbours.
pub type Lanes = [f32; LANES];
