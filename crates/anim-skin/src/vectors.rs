//! Eight 3-vectors in lanes: the few operations that the kernels share.
//!
//! All are `#[inline(always)]` functions over arrays written out. A closure, even one given to `array::map`, may stay
//! outside the function that the dispatch compiles for an instruction set, which costs a factor of eight.

use anim_math::lanes::{Lanes, Simd, SimdBase, SimdFloat, f32x8};

/// Eight vectors: x, y and z of all.
pub(crate) type Vectors<S> = [f32x8<S>; 3];

#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, [x, y, z]: &[Lanes; 3]) -> Vectors<S> {
    [
        f32x8::from_slice(simd, x),
        f32x8::from_slice(simd, y),
        f32x8::from_slice(simd, z),
    ]
}

#[inline(always)]
pub(crate) fn store<S: Simd>(vectors: Vectors<S>, out: &mut [Lanes; 3]) {
    vectors[0].store_slice(&mut out[0]);
    vectors[1].store_slice(&mut out[1]);
    vectors[2].store_slice(&mut out[2]);
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
pub(crate) fn scale<S: Simd>(vectors: Vectors<S>, factor: f32x8<S>) -> Vectors<S> {
    [
        vectors[0] * factor,
        vectors[1] * factor,
        vectors[2] * factor,
    ]
}

#[inline(always)]
pub(crate) fn difference<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `vectors` turned by quaternions of any length |q|, `imag` and `real`, with `twice` = 2 / |q|².
#[inline(always)]
pub(crate) fn turned<S: Simd>(
    vectors: Vectors<S>,
    imag: Vectors<S>,
    real: f32x8<S>,
    twice: f32x8<S>,
) -> Vectors<S> {
    let bent = cross(imag, vectors);
    let bent = [
        bent[0] + real * vectors[0],
        bent[1] + real * vectors[1],
        bent[2] + real * vectors[2],
    ];
    let bent = cross(imag, bent);
    [
        vectors[0] + twice * bent[0],
        vectors[1] + twice * bent[1],
        vectors[2] + twice * bent[2],
    ]
}

/// `vectors` with the length (and sign) `length`, or `otherwise` where they are too short to have a direction.
#[inline(always)]
pub(crate) fn resized_or<S: Simd>(
    simd: S,
    vectors: Vectors<S>,
    length: f32x8<S>,
    otherwise: Vectors<S>,
) -> Vectors<S> {
    let length_squared = dot(vectors, vectors);
    let resized = scale(vectors, length / length_squared.sqrt());
    let has_direction = simd.simd_ge_f32x8(length_squared, f32x8::splat(simd, f32::MIN_POSITIVE));
    // A branch that is almost never taken is cheaper than three selections.
    if simd.any_false_mask32x8(has_direction) {
        return [
            simd.select_f32x8(has_direction, resized[0], otherwise[0]),
            simd.select_f32x8(has_direction, resized[1], otherwise[1]),
            simd.select_f32x8(has_direction, resized[2], otherwise[2]),
        ];
    }
    resized
}
