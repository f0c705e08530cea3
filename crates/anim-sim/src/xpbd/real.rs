//! Numbers that constraints are written in: eight lanes in the solver, f64 where they are measured and checked.
//!
//! A constraint's value and gradients are one generic function, so what is measured, what the tests differentiate and
//! what the solver projects cannot drift apart.

use std::ops::{Add, Div, Mul, Neg, Sub};

use anim_math::lanes::{Select, Simd, SimdBase, SimdFloat, f32x8};

/// A number, or several side by side.
pub(crate) trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// A constant of the kind of `self`.
    fn constant(self, value: f32) -> Self;
    fn sqrt(self) -> Self;
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    /// 1 / `self` if it is positive, else 0, for NaN as well.
    fn inverse_or_zero(self) -> Self;
    /// The angle of (`x`, `self`) in [−π, π].
    fn atan2(self, x: Self) -> Self;
    /// `if_positive` where `self` is positive, else `otherwise`.
    fn choose(self, if_positive: Self, otherwise: Self) -> Self;
}

impl Real for f64 {
    fn constant(self, value: f32) -> Self {
        f64::from(value)
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }
    fn inverse_or_zero(self) -> Self {
        if self > 0.0 { 1.0 / self } else { 0.0 }
    }
    fn atan2(self, x: Self) -> Self {
        libm::atan2(self, x)
    }
    fn choose(self, if_positive: Self, otherwise: Self) -> Self {
        if self > 0.0 { if_positive } else { otherwise }
    }
}

impl<S: Simd> Real for f32x8<S> {
    #[inline(always)]
    fn constant(self, value: f32) -> Self {
        f32x8::splat(self.simd, value)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        SimdFloat::sqrt(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        SimdBase::min(self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        SimdBase::max(self, other)
    }
    #[inline(always)]
    fn inverse_or_zero(self) -> Self {
        let zero = self.constant(0.0);
        self.simd_gt(zero).select(self.constant(1.0) / self, zero)
    }
    #[inline(always)]
    fn atan2(self, x: Self) -> Self {
        let (y, zero) = (self, self.constant(0.0));
        let (ax, ay) = (Real::max(x, -x), Real::max(y, -y));
        let (long, short) = (Real::max(ax, ay), Real::min(ax, ay));
        let t = short * long.inverse_or_zero();
        let mut angle = t * polynomial(t * t, &ARC_TANGENT);
        angle = ay
            .simd_gt(ax)
            .select(self.constant(std::f32::consts::FRAC_PI_2) - angle, angle);
        angle = x
            .simd_lt(zero)
            .select(self.constant(std::f32::consts::PI) - angle, angle);
        y.simd_lt(zero).select(-angle, angle)
    }
    #[inline(always)]
    fn choose(self, if_positive: Self, otherwise: Self) -> Self {
        self.simd_gt(self.constant(0.0))
            .select(if_positive, otherwise)
    }
}

/// atan(t)/t in t² on [0, 1], interpolated at Chebyshev points: wrong by less than 1e-8.
const ARC_TANGENT: [f32; 10] = [
    1.0,
    -0.33333278,
    0.19998075,
    -0.14260016,
    0.10932341,
    -0.08349725,
    0.057089556,
    -0.030351864,
    0.01048765,
    -0.0017011701,
];

#[inline(always)]
fn polynomial<T: Real, const N: usize>(x: T, coefficients: &[f32; N]) -> T {
    let mut sum = x.constant(coefficients[N - 1]);
    for c in coefficients[..N - 1].iter().rev() {
        sum = sum * x + x.constant(*c);
    }
    sum
}

#[inline(always)]
pub(crate) fn add<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<T: Real>(a: [T; 3], s: T) -> [T; 3] {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn negate<T: Real>(a: [T; 3]) -> [T; 3] {
    [-a[0], -a[1], -a[2]]
}

#[inline(always)]
pub(crate) fn dot<T: Real>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<T: Real>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_math::lanes::{Lanes, Level, dispatch};

    #[inline(always)]
    fn angles<S: Simd>(simd: S, y: &Lanes, x: &Lanes) -> Lanes {
        f32x8::from_slice(simd, y)
            .atan2(f32x8::from_slice(simd, x))
            .into()
    }

    #[test]
    fn the_angle_is_that_of_the_library_in_every_quadrant() {
        for k in 0..500 {
            let exact: [f64; 8] =
                std::array::from_fn(|lane| (k * 8 + lane) as f64 / 2000.0 * 3.1 - 3.1);
            let y = exact.map(|a| (a.sin() * 0.37) as f32);
            let x = exact.map(|a| (a.cos() * 0.37) as f32);
            let found = dispatch!(Level::new(), simd => angles(simd, &y, &x));
            let plain = dispatch!(Level::baseline(), simd => angles(simd, &y, &x));
            assert_eq!(found, plain);
            for lane in 0..8 {
                let expected = libm::atan2(f64::from(y[lane]), f64::from(x[lane]));
                // An ulp of π, and one of each operation.
                assert!(
                    (f64::from(found[lane]) - expected).abs() < 6e-7,
                    "{expected}"
                );
            }
        }
        let flat = dispatch!(Level::new(), simd => angles(simd, &[0.0; 8], &[1.0; 8]));
        assert_eq!(flat, [0.0; 8]);
    }
}
