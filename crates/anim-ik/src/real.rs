//! Numbers that the usual case of a limb is written in: one, or eight in lanes.
//!
//! What is generic over [`Real`] takes the same operations in the same order for one character and for eight, so that a
//! crowd gets the bits of its characters one by one. Comparisons are masks, of a single number `bool`: nothing branches.

use std::ops::{Add, BitAnd, Div, Mul, Sub};

use anim_math::Vec3;
use anim_math::lanes::{self, Lanes, Simd, SimdBase, SimdFloat, f32x8};
use anim_math::nalgebra::Quaternion;

/// A number, or eight side by side.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// What a comparison says.
    type Mask: Copy + BitAnd<Output = Self::Mask>;

    /// A constant of the kind of `self`.
    fn constant(self, value: f32) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    /// The larger; `other` if one is not a number.
    fn max(self, other: Self) -> Self;
    /// The smaller; `other` if one is not a number.
    fn min(self, other: Self) -> Self;
    /// The size of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// `self` > `other`.
    fn exceeds(self, other: Self) -> Self::Mask;
    /// `self` ≥ `other`.
    fn is_least(self, other: Self) -> Self::Mask;
}

impl Real for f32 {
    type Mask = bool;

    #[inline(always)]
    fn constant(self, value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f32::abs(self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        f32::copysign(self, sign)
    }
    #[inline(always)]
    fn exceeds(self, other: Self) -> bool {
        self > other
    }
    #[inline(always)]
    fn is_least(self, other: Self) -> bool {
        self >= other
    }
}

impl<S: Simd> Real for f32x8<S> {
    type Mask = <Self as SimdBase<S>>::Mask;

    #[inline(always)]
    fn constant(self, value: f32) -> Self {
        f32x8::splat(self.simd, value)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        SimdFloat::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        SimdBase::max(self, self.constant(0.0) - self)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        SimdBase::max(self, other)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        SimdBase::min(self, other)
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        SimdFloat::copysign(self, sign)
    }
    #[inline(always)]
    fn exceeds(self, other: Self) -> Self::Mask {
        self.simd_gt(other)
    }
    #[inline(always)]
    fn is_least(self, other: Self) -> Self::Mask {
        self.simd_ge(other)
    }
}

/// x, y and z.
pub(crate) type Vector<T> = [T; 3];

#[inline(always)]
pub(crate) fn add<T: Real>(a: Vector<T>, b: Vector<T>) -> Vector<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<T: Real>(a: Vector<T>, b: Vector<T>) -> Vector<T> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<T: Real>(a: Vector<T>, factor: T) -> Vector<T> {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline(always)]
pub(crate) fn dot<T: Real>(a: Vector<T>, b: Vector<T>) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<T: Real>(a: Vector<T>, b: Vector<T>) -> Vector<T> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// A quaternion times a positive factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<T> {
    pub(crate) w: T,
    pub(crate) v: Vector<T>,
}

impl<T: Real> Turn<T> {
    #[inline(always)]
    pub(crate) fn norm(&self) -> T {
        let [x, y, z] = self.v;
        ((x * x + z * z) + (y * y + self.w * self.w)).sqrt()
    }

    /// Its product with a quaternion of components x, y, z, w, in that order too.
    #[inline(always)]
    pub(crate) fn after(&self, [bx, by, bz, bw]: [T; 4]) -> [T; 4] {
        let (aw, [ax, ay, az]) = (self.w, self.v);
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    }
}

impl From<Turn<f32>> for Quaternion<f32> {
    #[inline(always)]
    fn from(Turn { w, v: [x, y, z] }: Turn<f32>) -> Self {
        Self::new(w, x, y, z)
    }
}

impl From<Quaternion<f32>> for Turn<f32> {
    #[inline(always)]
    fn from(q: Quaternion<f32>) -> Self {
        let v: Vec3 = q.imag();
        Self {
            w: q.w,
            v: v.into(),
        }
    }
}

/// Gives a lane its numbers.
#[inline(always)]
pub(crate) fn put<const N: usize>(parts: &mut [Lanes; N], lane: usize, values: [f32; N]) {
    for (part, value) in parts.iter_mut().zip(values) {
        part[lane] = value;
    }
}

/// Three vectors of eight.
#[inline(always)]
pub(crate) fn load_three<S: Simd>(simd: S, vectors: &[[Lanes; 3]; 3]) -> [Vector<f32x8<S>>; 3] {
    [
        lanes::load_all(simd, &vectors[0]),
        lanes::load_all(simd, &vectors[1]),
        lanes::load_all(simd, &vectors[2]),
    ]
}
