//! What the kernels of this crate share: lanes in, lanes out, unit rotations.
//!
//! Everything is `#[inline(always)]`, as it must end up inside the function that was compiled for the instruction set.

use std::ops::{Add, Mul, Sub};

use anim_math::lanes::{Lanes, Simd, SimdBase, SimdFloat, f32x8};

/// Loads N parts of eight joints.
#[inline(always)]
pub(crate) fn load<S: Simd, const N: usize>(simd: S, parts: &[Lanes; N]) -> [f32x8<S>; N] {
    let mut loaded = [f32x8::splat(simd, 0.0); N];
    for (to, from) in loaded.iter_mut().zip(parts) {
        *to = f32x8::load_array_ref(simd, from);
    }
    loaded
}

/// Stores N parts of eight joints.
#[inline(always)]
pub(crate) fn store<S: Simd, const N: usize>(parts: [f32x8<S>; N], out: &mut [Lanes; N]) {
    for (from, to) in parts.into_iter().zip(out) {
        from.store_array(to);
    }
}

/// Copies N parts of eight joints; left to the compiler, an assignment goes through general registers.
#[inline(always)]
pub(crate) fn copy<S: Simd, const N: usize>(simd: S, from: &[Lanes; N], to: &mut [Lanes; N]) {
    for (from, to) in from.iter().zip(to) {
        f32x8::load_array_ref(simd, from).store_array(to);
    }
}

/// Σ aᵢ bᵢ of eight quaternions.
#[inline(always)]
pub(crate) fn dot<S: Simd>(a: [f32x8<S>; 4], b: [f32x8<S>; 4]) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + (a[2] * b[2] + a[3] * b[3])
}

/// Divides eight quaternions by their lengths.
#[inline(always)]
pub(crate) fn normalize<S: Simd>(simd: S, q: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    let scale = f32x8::splat(simd, 1.0) / dot(q, q).sqrt();
    [q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale]
}

/// The Hamilton product, paired so that conj(q) · q has no rounding in x, y and z.
#[inline(always)]
pub(crate) fn product<T>([ax, ay, az, aw]: [T; 4], [bx, by, bz, bw]: [T; 4]) -> [T; 4]
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
{
    [
        (aw * bx + ax * bw) + (ay * bz - az * by),
        (aw * by + ay * bw) + (az * bx - ax * bz),
        (aw * bz + az * bw) + (ax * by - ay * bx),
        aw * bw - (ax * bx + ay * by + az * bz),
    ]
}
