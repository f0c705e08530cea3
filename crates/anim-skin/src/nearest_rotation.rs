//! Eight nearest rotations at once: the polar decomposition of 3×3 matrices, without singular values.
//!
//! Newton's method on the rotation itself, from a guess: flat matrices are fine, reflections never come out, and
//! quaternions stay unit without trigonometry.

use anim_math::lanes::{Simd, SimdBase, SimdFloat, f32x8};

use crate::vectors::{Vectors, dot, scale};

/// Newton steps at most; from a joint's own rotation it takes two to four.
const STEPS: usize = 20;

/// Square of the step after which another would change nothing: Newton's error is that of the step squared, 10⁻⁷ rad.
const SMALL: f32 = 1e-7;

/// x, y, z, w of eight quaternions.
pub(crate) type Quaternions<S> = [f32x8<S>; 4];

/// The rotations R of largest tr(Rᵀ A) for eight matrices A, by rows, near `guess`, which stands where A is zero or not finite.
///
/// With H = A Rᵀ the gradient for a turn ω is the axial vector g of H − Hᵀ and the Hessian −(tr H − sym H). Lanes take the
/// same number of steps.
#[inline(always)]
pub(crate) fn nearest_rotation<S: Simd>(
    simd: S,
    matrix: [Vectors<S>; 3],
    guess: Quaternions<S>,
) -> Quaternions<S> {
    let one = f32x8::splat(simd, 1.0);
    let small = f32x8::splat(simd, SMALL);
    let size = dot(matrix[0], matrix[0]) + dot(matrix[1], matrix[1]) + dot(matrix[2], matrix[2]);
    let inverse = one / size.sqrt();
    let matrix = [
        scale(matrix[0], inverse),
        scale(matrix[1], inverse),
        scale(matrix[2], inverse),
    ];
    let mut turn = guess;
    for _ in 0..STEPS {
        let step = newton_step(simd, matrix, turn);
        let square = dot(step, step);
        // Half the turn's tangent, and no more than a radian at once: far away the surface is no parabola.
        let half = f32x8::splat(simd, 0.5) / square.sqrt().max(one);
        turn = turned(simd, scale(step, half), turn);
        if !simd.any_true_mask32x8(simd.simd_gt_f32x8(square, small)) {
            break;
        }
    }
    turn
}

/// The turn ω to the maximum of the parabola at `turn`, or along the gradient where that curves up; 0 if not finite.
#[inline(always)]
fn newton_step<S: Simd>(simd: S, matrix: [Vectors<S>; 3], turn: Quaternions<S>) -> Vectors<S> {
    let zero = f32x8::splat(simd, 0.0);
    let half = f32x8::splat(simd, 0.5);
    let [r0, r1, r2] = rows(simd, turn);
    let [a0, a1, a2] = matrix;
    let (h00, h01, h02) = (dot(a0, r0), dot(a0, r1), dot(a0, r2));
    let (h10, h11, h12) = (dot(a1, r0), dot(a1, r1), dot(a1, r2));
    let (h20, h21, h22) = (dot(a2, r0), dot(a2, r1), dot(a2, r2));
    let gradient = [h21 - h12, h02 - h20, h10 - h01];
    let trace = h00 + h11 + h22;
    let lift = trace + f32x8::splat(simd, 1e-6);
    let (k00, k11, k22) = (lift - h00, lift - h11, lift - h22);
    let k01 = zero - (h01 + h10) * half;
    let k02 = zero - (h02 + h20) * half;
    let k12 = zero - (h12 + h21) * half;
    // K = L D Lᵀ.
    let (l10, l20) = (k01 / k00, k02 / k00);
    let d1 = k11 - l10 * k01;
    let e = k12 - l20 * k01;
    let l21 = e / d1;
    let d2 = k22 - l20 * k02 - l21 * e;
    let y1 = gradient[1] - l10 * gradient[0];
    let y2 = gradient[2] - l20 * gradient[0] - l21 * y1;
    let z = y2 / d2;
    let y = y1 / d1 - l21 * z;
    let x = gradient[0] / k00 - l10 * y - l20 * z;
    let mut step = [x, y, z];
    let positive = simd.simd_gt_f32x8(k00.min(d1).min(d2), zero);
    if simd.any_false_mask32x8(positive) {
        let slope = f32x8::splat(simd, 1.0) / (trace.abs() + f32x8::splat(simd, 0.1));
        for (step, gradient) in step.iter_mut().zip(gradient) {
            *step = simd.select_f32x8(positive, *step, gradient * slope);
        }
    }
    let finite = simd.simd_lt_f32x8(dot(step, step), f32x8::splat(simd, f32::MAX));
    if simd.any_false_mask32x8(finite) {
        for step in &mut step {
            *step = simd.select_f32x8(finite, *step, zero);
        }
    }
    step
}

/// The rows of the matrices of unit quaternions.
#[inline(always)]
fn rows<S: Simd>(simd: S, [x, y, z, w]: Quaternions<S>) -> [Vectors<S>; 3] {
    let one = f32x8::splat(simd, 1.0);
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [one - (yy + zz), xy - wz, xz + wy],
        [xy + wz, one - (xx + zz), yz - wx],
        [xz - wy, yz + wx, one - (xx + yy)],
    ]
}

/// (half, 1) · q, made unit: q turned by twice the angle whose tangent is the length of `half`.
#[inline(always)]
fn turned<S: Simd>(simd: S, [a, b, c]: Vectors<S>, [x, y, z, w]: Quaternions<S>) -> Quaternions<S> {
    let product = [
        x + a * w + b * z - c * y,
        y + b * w + c * x - a * z,
        z + c * w + a * y - b * x,
        w - a * x - b * y - c * z,
    ];
    let imag = [product[0], product[1], product[2]];
    let inverse = f32x8::splat(simd, 1.0) / (dot(imag, imag) + product[3] * product[3]).sqrt();
    let [imag_x, imag_y, imag_z] = scale(imag, inverse);
    [imag_x, imag_y, imag_z, product[3] * inverse]
}

#[cfg(test)]
mod tests {
    use anim_math::lanes::{Level, dispatch};
    use anim_math::{Mat3, Quat, Vec3, quat};

    use super::*;

    #[inline(always)]
    fn in_lanes<S: Simd>(simd: S, matrix: &Mat3, guess: &Quat) -> [f32; 4] {
        let splat = |value: f32| f32x8::splat(simd, value);
        let rows =
            std::array::from_fn(|row| std::array::from_fn(|column| splat(matrix[(row, column)])));
        let found = nearest_rotation(
            simd,
            rows,
            std::array::from_fn(|part| splat(guess.coords[part])),
        );
        found.map(|part| {
            let mut lanes = [0.0; 8];
            part.store_slice(&mut lanes);
            lanes[3]
        })
    }

    fn nearest(matrix: Mat3, guess: Quat) -> Quat {
        let [x, y, z, w] = dispatch!(Level::new(), simd => in_lanes(simd, &matrix, &guess));
        Quat::new_unchecked(anim_math::nalgebra::Quaternion::new(w, x, y, z))
    }

    #[test]
    fn the_nearest_rotation_of_a_rotated_stretch_is_its_rotation() {
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0);
        for stretch in [[1.0, 1.0, 1.0], [1.0, 0.5, 0.0], [3.0, 0.02, 0.01]] {
            let matrix = turn.to_rotation_matrix().matrix() * Mat3::from_diagonal(&stretch.into());
            for guess in [Quat::identity(), turn] {
                let found = nearest(matrix, guess);
                // Rounding of 2⁻²⁴ over the weakest curvature, a hundredth.
                assert!(quat::angle_between(found, turn) < 1e-4, "{stretch:?}");
                assert!((found.norm() - 1.0).abs() < 4.0 * f32::EPSILON);
            }
        }
    }

    #[test]
    fn a_matrix_without_a_rotation_leaves_the_guess() {
        let guess = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 1.0);
        for matrix in [Mat3::zeros(), Mat3::identity() * f32::NAN] {
            let found = nearest(matrix, guess);
            assert!(quat::angle_between(found, guess) < 1e-3);
        }
    }
}
