//! Vectors, symmetric matrices and quaternions of eight strands side by side.

use anim_math::lanes::{self, Lanes, Simd, SimdFloat, f32x8};

/// Eight vectors.
pub(super) type Vec3s<S> = [f32x8<S>; 3];
/// Eight quaternions, xyzw.
pub(super) type Quats<S> = [f32x8<S>; 4];
/// Eight matrices, by rows.
pub(super) type Mat3s<S> = [Vec3s<S>; 3];
/// Eight symmetric matrices: xx, xy, xz, yy, yz, zz.
pub(super) type Syms<S> = [f32x8<S>; 6];

/// One vector in all lanes.
#[inline(always)]
pub(super) fn splat3<S: Simd>(simd: S, v: [f32; 3]) -> Vec3s<S> {
    [
        lanes::splat(simd, v[0]),
        lanes::splat(simd, v[1]),
        lanes::splat(simd, v[2]),
    ]
}

#[inline(always)]
pub(super) fn load3<S: Simd>(simd: S, v: &[Lanes; 3]) -> Vec3s<S> {
    [
        lanes::load(simd, &v[0]),
        lanes::load(simd, &v[1]),
        lanes::load(simd, &v[2]),
    ]
}

#[inline(always)]
pub(super) fn load4<S: Simd>(simd: S, v: &[Lanes; 4]) -> Quats<S> {
    [
        lanes::load(simd, &v[0]),
        lanes::load(simd, &v[1]),
        lanes::load(simd, &v[2]),
        lanes::load(simd, &v[3]),
    ]
}

#[inline(always)]
pub(super) fn load6<S: Simd>(simd: S, m: &[Lanes; 6]) -> Syms<S> {
    [
        lanes::load(simd, &m[0]),
        lanes::load(simd, &m[1]),
        lanes::load(simd, &m[2]),
        lanes::load(simd, &m[3]),
        lanes::load(simd, &m[4]),
        lanes::load(simd, &m[5]),
    ]
}

#[inline(always)]
pub(super) fn load_rows<S: Simd>(simd: S, m: &[[Lanes; 3]; 3]) -> Mat3s<S> {
    [load3(simd, &m[0]), load3(simd, &m[1]), load3(simd, &m[2])]
}

#[inline(always)]
pub(super) fn store_rows<S: Simd>(m: Mat3s<S>, out: &mut [[Lanes; 3]; 3]) {
    lanes::store_all(m[0], &mut out[0]);
    lanes::store_all(m[1], &mut out[1]);
    lanes::store_all(m[2], &mut out[2]);
}

#[inline(always)]
pub(super) fn add<S: Simd>(a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn sub<S: Simd>(a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(super) fn scale<S: Simd>(a: Vec3s<S>, factor: f32x8<S>) -> Vec3s<S> {
    [a[0] * factor, a[1] * factor, a[2] * factor]
}

#[inline(always)]
pub(super) fn dot<S: Simd>(a: Vec3s<S>, b: Vec3s<S>) -> f32x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn cross<S: Simd>(a: Vec3s<S>, b: Vec3s<S>) -> Vec3s<S> {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// Row `r` of a symmetric matrix.
#[inline(always)]
pub(super) fn row<S: Simd>(m: &Syms<S>, r: usize) -> Vec3s<S> {
    match r {
        0 => [m[0], m[1], m[2]],
        1 => [m[1], m[3], m[4]],
        _ => [m[2], m[4], m[5]],
    }
}

#[inline(always)]
pub(super) fn sym_mul<S: Simd>(m: &Syms<S>, v: Vec3s<S>) -> Vec3s<S> {
    [dot(row(m, 0), v), dot(row(m, 1), v), dot(row(m, 2), v)]
}

#[inline(always)]
pub(super) fn mul<S: Simd>(m: &Mat3s<S>, v: Vec3s<S>) -> Vec3s<S> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

#[inline(always)]
pub(super) fn column<S: Simd>(m: &Mat3s<S>, c: usize) -> Vec3s<S> {
    [m[0][c], m[1][c], m[2][c]]
}

/// a v·vᵀ + b·1.
#[inline(always)]
pub(super) fn ray_and_ball<S: Simd>(a: f32x8<S>, v: Vec3s<S>, b: f32x8<S>) -> Syms<S> {
    let av = scale(v, a);
    [
        av[0] * v[0] + b,
        av[0] * v[1],
        av[0] * v[2],
        av[1] * v[1] + b,
        av[1] * v[2],
        av[2] * v[2] + b,
    ]
}

#[inline(always)]
pub(super) fn sym_add<S: Simd>(a: &Syms<S>, b: &Syms<S>) -> Syms<S> {
    [
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
    ]
}

/// The inverse of a positive definite matrix by LDLᵀ; pivots below `floor` are raised to it.
#[inline(always)]
pub(super) fn sym_inverse<S: Simd>(simd: S, m: &Syms<S>, floor: f32x8<S>) -> Syms<S> {
    let one = lanes::splat(simd, 1.0);
    let i0 = one / at_least(m[0], floor);
    let l1 = m[1] * i0;
    let l2 = m[2] * i0;
    let i1 = one / at_least(m[3] - l1 * m[1], floor);
    let below = m[4] - l1 * m[2];
    let l3 = below * i1;
    let i2 = one / at_least(m[5] - l2 * m[2] - l3 * below, floor);
    // The inverse of L has −l1, −l3 below its diagonal and l1 l3 − l2 in its corner.
    let corner = l1 * l3 - l2;
    let c2 = corner * i2;
    let l3i2 = l3 * i2;
    let l1i1 = l1 * i1;
    [
        i0 + l1 * l1i1 + corner * c2,
        -l1i1 - l3 * c2,
        c2,
        i1 + l3 * l3i2,
        -l3i2,
        i2,
    ]
}

/// The larger; `floor` where `value` is NaN, on every instruction set.
#[inline(always)]
pub(super) fn at_least<S: Simd>(value: f32x8<S>, floor: f32x8<S>) -> f32x8<S> {
    use anim_math::lanes::{Select, SimdBase};
    value.simd_gt(floor).select(value, floor)
}

/// The Hamilton product.
#[inline(always)]
pub(super) fn quat_mul<S: Simd>(a: Quats<S>, b: Quats<S>) -> Quats<S> {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

#[inline(always)]
pub(super) fn conjugate<S: Simd>(q: Quats<S>) -> Quats<S> {
    [-q[0], -q[1], -q[2], q[3]]
}

#[inline(always)]
pub(super) fn quat_normalize<S: Simd>(simd: S, q: Quats<S>) -> Quats<S> {
    let inverse = lanes::splat(simd, 1.0) / lanes::dot4(q, q).sqrt();
    [
        q[0] * inverse,
        q[1] * inverse,
        q[2] * inverse,
        q[3] * inverse,
    ]
}

/// Where q turns the z axis, times |q|².
#[inline(always)]
pub(super) fn z_axis<S: Simd>(q: Quats<S>) -> Vec3s<S> {
    let [x, y, z, w] = q;
    let (xz, yz) = (x * z + w * y, y * z - w * x);
    [xz + xz, yz + yz, w * w + z * z - (x * x + y * y)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_math::lanes::{Level, dispatch, splat};
    use anim_math::nalgebra::Matrix3;
    use anim_math::{Quat, Random, Vec3, quat};

    #[inline(always)]
    fn invert<S: Simd>(simd: S, m: [f32; 6]) -> [f32; 6] {
        let lanes = [
            splat(simd, m[0]),
            splat(simd, m[1]),
            splat(simd, m[2]),
            splat(simd, m[3]),
            splat(simd, m[4]),
            splat(simd, m[5]),
        ];
        sym_inverse(simd, &lanes, splat(simd, 1e-30)).map(|lane| Lanes::from(lane)[3])
    }

    fn matrix(m: [f32; 6]) -> Matrix3<f32> {
        Matrix3::new(m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5])
    }

    #[test]
    fn inverse_of_a_definite_matrix_undoes_it() {
        let mut random = Random::new(3, 0, 0);
        for _ in 0..50 {
            let root = Matrix3::from_fn(|_, _| random.range(-1.0, 1.0));
            let m = root * root.transpose() + Matrix3::identity() * 0.2;
            let packed = [m.m11, m.m12, m.m13, m.m22, m.m23, m.m33];
            let inverse = dispatch!(Level::new(), simd => invert(simd, packed));
            let product = matrix(packed) * matrix(inverse);
            assert!((product - Matrix3::identity()).norm() < 1e-4, "{product}");
        }
    }

    #[test]
    fn quaternions_multiply_and_turn_the_z_axis_as_the_scalar_ones_do() {
        #[inline(always)]
        fn product<S: Simd>(simd: S, a: Quat, b: Quat) -> ([f32; 4], [f32; 3]) {
            let load = |q: Quat| q.coords.as_slice().try_into().unwrap();
            let (a, b): ([f32; 4], [f32; 4]) = (load(a), load(b));
            let a = a.map(|c| splat(simd, c));
            let b = b.map(|c| splat(simd, c));
            let product = quat_mul(a, conjugate(b));
            (
                product.map(|c| Lanes::from(c)[0]),
                z_axis(product).map(|c| Lanes::from(c)[7]),
            )
        }
        let a = quat::exp(Vec3::new(0.4, -1.1, 0.3));
        let b = quat::exp(Vec3::new(-0.7, 0.2, 1.9));
        let expected = a * b.inverse();
        let (product, axis) = dispatch!(Level::new(), simd => product(simd, a, b));
        for (found, expected) in product.iter().zip(expected.coords.iter()) {
            assert!((found - expected).abs() < 1e-6);
        }
        assert!((Vec3::from(axis) - expected * Vec3::z()).norm() < 1e-6);
    }
}
