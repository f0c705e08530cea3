//! Rotations as rows of three or four numbers, and back to the 16-bit keys of a run-time clip.

use anim_curves::wavelet::Row;
use anim_math::lanes::{
    LANES, Lanes, Level, Select, Simd, SimdBase, SimdFloat, dispatch, f32x8, lanes_from_rows,
};
use anim_math::nalgebra::{Quaternion, Vector4};

use crate::SkeletonError;
use crate::clip::{Part, RotationKey, UNIT};
use crate::kernel::{dot, normalize, store};

/// A rotation near `first` is kept as the three imaginary numbers of `first⁻¹ · q` while the real one is at least this:
/// up to 120 degrees away, where rounding the three moves the fourth by no more than twice as much.
const MIN_REAL: f32 = 0.5;

/// Chooses the sign of each quaternion to be near the one before.
pub(crate) fn continuous(rows: &mut [Row]) {
    for row in 1..rows.len() {
        let before = Vector4::from(rows[row - 1]);
        if before.dot(&Vector4::from(rows[row])) < 0.0 {
            rows[row] = rows[row].map(|part| -part);
        }
    }
}

/// The rows relative to `first`, if all are near it; the fourth number is 0.
pub(crate) fn around(first: Row, rows: &[Row]) -> Option<Vec<Row>> {
    let back = quaternion(first).conjugate();
    let relative = rows.iter().map(|row| {
        let q = back * quaternion(*row);
        (q.w >= MIN_REAL).then_some([q.i, q.j, q.k, 0.0])
    });
    relative.collect()
}

/// Made unit; the identity if that fails.
pub(crate) fn unit(row: Row) -> Row {
    let q = Vector4::from(row);
    let length = q.norm();
    if length > 1e-12 && length.is_finite() {
        (q / length).into()
    } else {
        [0.0, 0.0, 0.0, 1.0]
    }
}

fn quaternion(row: Row) -> Quaternion<f32> {
    Quaternion::from_vector(Vector4::from(row))
}

/// How a joint's rows are to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// What the rows are relative to; the identity where they are not.
    pub(crate) first: Row,
    /// True if the fourth number follows from the other three.
    pub(crate) is_relative: bool,
    /// The unit they were rounded to.
    pub(crate) step: f32,
}

impl Lane {
    /// The identity, from rows of zeros.
    pub(crate) const STILL: Self = Self {
        first: [0.0, 0.0, 0.0, 1.0],
        is_relative: true,
        step: 1.0,
    };

    /// The value that a row stands for.
    pub(crate) fn row(&self, part: Part, row: Row) -> Row {
        let [x, y, z, _] = row;
        match part {
            Part::Rotation if self.is_relative => {
                let real = (1.0 - (x * x + y * y + z * z)).max(0.0).sqrt();
                let q = quaternion(self.first) * Quaternion::new(real, x, y, z);
                unit(q.coords.into())
            }
            Part::Rotation => unit(row),
            _ => row,
        }
    }
}

/// Rows whose imaginary part has at most this square are less than a quarter turn apart, as quaternions.
const NEAR: f32 = 0.49;
/// Tried lengths of a 16-bit quaternion; sampling normalises, so the length is free, and the nearest in direction is kept.
const LENGTHS: u8 = 4;
/// Beside coarser steps than this, six units of the last place, the rounding to 16 bits is lost, and one length will do.
const COARSE: f32 = 2e-4;
/// They differ by this many units of the last place each; in all by less than 0.01 %.
const SHORTER: f32 = 0.7;

/// Writes the rows of one joint to lane `lane` of keys that are `stride` apart.
///
/// # Errors
///
/// [`SkeletonError::BrokenClip`] if two neighbouring rotations are nearly opposite, so that no mix of them is a rotation.
pub(crate) fn write_keys(
    track: Lane,
    rows: &[Row],
    lane: usize,
    keys: &mut [RotationKey],
    stride: usize,
) -> Result<(), SkeletonError> {
    let are_near =
        dispatch!(Level::new(), simd => write_keys_on(simd, track, rows, lane, keys, stride));
    if are_near || are_mixable(lane, keys.iter().step_by(stride)) {
        Ok(())
    } else {
        Err(SkeletonError::BrokenClip { what: "rotation" })
    }
}

/// True if all rows are surely near each other.
#[inline(always)]
fn write_keys_on<S: Simd>(
    simd: S,
    track: Lane,
    rows: &[Row],
    lane: usize,
    keys: &mut [RotationKey],
    stride: usize,
) -> bool {
    let mut keys = keys.iter_mut().step_by(stride);
    let mut are_near = track.is_relative;
    let (eights, rest) = rows.as_chunks();
    let mut last = [[0.0, 0.0, 0.0, 1.0]; LANES];
    last[..rest.len()].copy_from_slice(rest);
    for eight in eights.iter().chain([&last]) {
        let (rounded, imaginary) = eight_keys(simd, track, eight);
        are_near &= imaginary.iter().all(|square| *square <= NEAR);
        for (sample, key) in (0..LANES).zip(&mut keys) {
            for (number, part) in key.0.iter_mut().zip(&rounded) {
                number[lane] = part[sample].to_bits() as i16;
            }
        }
    }
    are_near
}

/// Eight rotations in 16 bits, with what rounds in f32 still added, and the squares of the rows' first three numbers.
#[inline(always)]
fn eight_keys<S: Simd>(simd: S, track: Lane, rows: &[Row; LANES]) -> ([Lanes; 4], Lanes) {
    let [x, y, z, w] = lanes_from_rows(simd, rows);
    let imaginary = x * x + y * y + z * z;
    let q = if track.is_relative {
        let real = f32x8::splat(simd, 1.0) - imaginary;
        let real = real.max(f32x8::splat(simd, 0.0)).sqrt();
        multiply(
            track.first.map(|part| f32x8::splat(simd, part)),
            [x, y, z, real],
        )
    } else {
        [x, y, z, w]
    };
    let q = normalize(simd, q);
    let mut best = rounded(simd, q, UNIT);
    let lengths = if track.step > COARSE { 1 } else { LENGTHS };
    for shorter in 1..lengths {
        let other = rounded(simd, q, UNIT - f32::from(shorter) * SHORTER);
        let is_nearer = other.1.simd_lt(best.1);
        for (best, other) in best.0.iter_mut().zip(other.0) {
            *best = is_nearer.select(other, *best);
        }
        best.1 = is_nearer.select(other.1, best.1);
    }
    let mut keys = [[0.0; LANES]; 4];
    store(best.0, &mut keys);
    (keys, imaginary.into())
}

/// Added to a small number, it leaves no room for a fraction: the low bits are the nearest integer.
const ROUNDING: f32 = 12_582_912.0;

/// `q · length` rounded, with [`ROUNDING`] added, and the square of its distance from the direction of `q`.
#[inline(always)]
fn rounded<S: Simd>(simd: S, q: [f32x8<S>; 4], length: f32) -> ([f32x8<S>; 4], f32x8<S>) {
    let (length, rounding) = (f32x8::splat(simd, length), f32x8::splat(simd, ROUNDING));
    let mut keys = q;
    let mut off = q;
    for (key, off) in keys.iter_mut().zip(&mut off) {
        *key = *key * length + rounding;
        *off = *key - rounding;
    }
    let along = dot(off, q);
    for (off, q) in off.iter_mut().zip(q) {
        *off -= q * along;
    }
    (keys, dot(off, off))
}

/// Eight quaternion products.
#[inline(always)]
fn multiply<S: Simd>(a: [f32x8<S>; 4], b: [f32x8<S>; 4]) -> [f32x8<S>; 4] {
    [
        a[3] * b[0] + a[0] * b[3] + (a[1] * b[2] - a[2] * b[1]),
        a[3] * b[1] + a[1] * b[3] + (a[2] * b[0] - a[0] * b[2]),
        a[3] * b[2] + a[2] * b[3] + (a[0] * b[1] - a[1] * b[0]),
        a[3] * b[3] - a[0] * b[0] - (a[1] * b[1] + a[2] * b[2]),
    ]
}

/// True if each of these quaternions and every mix of neighbours can be made unit.
fn are_mixable<'a>(lane: usize, keys: impl Iterator<Item = &'a RotationKey>) -> bool {
    let mut before = None;
    for key in keys {
        let q = Vector4::from(key.0.map(|part| f32::from(part[lane]) / UNIT));
        let dot = q.dot(&before.unwrap_or(q));
        if q.norm_squared() < 0.5 || dot < -0.05 {
            return false;
        }
        before = Some(q);
    }
    true
}
