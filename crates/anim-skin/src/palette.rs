//! The matrix palette: where each joint of a skin takes the vertices bound to it.
//!
//! `model_from_bind = model_from_joint · joint_from_bind`. With each matrix goes whether it is a similarity (rotation,
//! uniform scale, perhaps a mirror), because only then does it turn normals as it turns the surface.
//!
//! ```
//! use anim_math::{Affine, Mat3, Vec3};
//! use anim_skin::Palette;
//!
//! let stretch = Affine { linear: Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 1.0)), ..Affine::IDENTITY };
//! let mut palette = Palette::new(2);
//! palette.set(1, stretch);
//! assert_eq!(palette.get(0), Affine::IDENTITY);
//! assert_eq!(palette.get(1), stretch);
//! ```

use anim_math::Affine;
use anim_math::lanes::{LANES, Level, Simd, SimdBase, dispatch, f32x4};
use anim_skeleton::globals::GlobalSlot;
use anim_skeleton::{Globals, JointId};

use crate::SkinnedMesh;
use crate::vectors::{self, cross, dot};

/// Relative departure of M·Mᵀ from a multiple of the identity (sum of absolute entries) up to which M is a similarity.
///
/// Normals that skip the cofactors are off by less than that, 0.06°; the rounding of deep chains is far below it.
const SIMILAR: f32 = 1e-3;

/// Kinds of linear maps, as bits: how the matrices of a block turn normals.
pub(crate) mod kind {
    /// Rotation and uniform scale.
    pub(crate) const PROPER: u8 = 1;
    /// Rotation, uniform scale and a mirror.
    pub(crate) const MIRRORED: u8 = 2;
    /// Non-uniform scale or shear.
    pub(crate) const SKEWED: u8 = 4;

    /// True if normals under a blend of these kinds need the cofactors of the matrix.
    #[inline(always)]
    pub(crate) fn needs_cofactors(kinds: u8) -> bool {
        kinds & SKEWED != 0 || kinds == PROPER | MIRRORED
    }
}

/// `model_from_bind` of each joint of a skin's list, row-major 3×4 in 64-byte slots, uploadable as it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    slots: Vec<GlobalSlot>,
    kinds: Vec<u8>,
}

impl Palette {
    /// Identities for a skin with `joint_count` joints.
    pub fn new(joint_count: usize) -> Self {
        Self {
            slots: vec![GlobalSlot::IDENTITY; joint_count],
            kinds: vec![kind::PROPER; joint_count],
        }
    }

    /// Number of matrices.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True without matrices.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The matrices, in the order of the skin's joint list.
    pub fn slots(&self) -> &[GlobalSlot] {
        &self.slots
    }

    /// `model_from_bind` of the joint at `place` of the skin's list.
    pub fn get(&self, place: usize) -> Affine {
        self.slots[place].into()
    }

    /// Sets `model_from_bind` of the joint at `place` of the skin's list.
    pub fn set(&mut self, place: usize, model_from_bind: Affine) {
        self.slots[place] = model_from_bind.into();
        let (slot, kind) = (&self.slots[place..=place], &mut self.kinds[place..=place]);
        dispatch!(Level::new(), simd => classify(simd, slot, kind));
    }

    /// The kind of each matrix.
    pub(crate) fn kinds(&self) -> &[u8] {
        &self.kinds
    }
}

impl SkinnedMesh {
    /// Writes `model_from_bind = model_from_joint · joint_from_bind` for the joints of this skin; O(joints).
    ///
    /// # Panics
    ///
    /// If `globals` belongs to a skeleton without one of the joints, or `out` to a skin with another number of joints.
    pub fn palette(&self, globals: &Globals, out: &mut Palette) {
        assert_eq!(out.len(), self.joints().len(), "palette of another skin");
        let (joints, binds) = (self.joints(), self.joint_from_bind());
        dispatch!(self.level(), simd => products(simd, joints, binds, globals.slots(), &mut out.slots));
        dispatch!(self.level(), simd => classify(simd, &out.slots, &mut out.kinds));
    }
}

#[inline(always)]
fn products<S: Simd>(
    simd: S,
    joints: &[JointId],
    joint_from_bind: &[GlobalSlot],
    model_from_joint: &[GlobalSlot],
    out: &mut [GlobalSlot],
) {
    for ((joint, bind), out) in joints.iter().zip(joint_from_bind).zip(out) {
        let global = &model_from_joint[joint.index()].0;
        let x = f32x4::from_slice(simd, &bind.0[0]);
        let y = f32x4::from_slice(simd, &bind.0[1]);
        let z = f32x4::from_slice(simd, &bind.0[2]);
        let w = f32x4::from_slice(simd, &bind.0[3]);
        for ([a, b, c, d], out) in global[..3].iter().zip(&mut out.0) {
            (x * *a + y * *b + z * *c + w * *d).store_slice(out);
        }
    }
}

/// The kind bits of matrices, eight at a time; collapsed and non-finite ones count as skewed.
#[inline(always)]
fn classify<S: Simd>(simd: S, slots: &[GlobalSlot], kinds: &mut [u8]) {
    for (slots, kinds) in slots.chunks(LANES).zip(kinds.chunks_mut(LANES)) {
        let mut rows = [[[0.0; LANES]; 3]; 3];
        for (lane, slot) in slots.iter().enumerate() {
            for (row, values) in rows.iter_mut().zip(&slot.0) {
                for (part, value) in row.iter_mut().zip(values) {
                    part[lane] = *value;
                }
            }
        }
        let x = vectors::load(simd, &rows[0]);
        let y = vectors::load(simd, &rows[1]);
        let z = vectors::load(simd, &rows[2]);
        let (xx, yy, zz) = (dot(x, x), dot(y, y), dot(z, z));
        let mean = (xx + yy + zz) * (1.0 / 3.0);
        let uneven = (xx - mean).abs() + (yy - mean).abs() + (zz - mean).abs();
        let oblique = dot(x, y).abs() + dot(y, z).abs() + dot(z, x).abs();
        let mut excess = [0.0; LANES];
        let mut volume = [0.0; LANES];
        (uneven + oblique - mean * SIMILAR).store_slice(&mut excess);
        dot(x, cross(y, z)).store_slice(&mut volume);
        for ((kind, excess), volume) in kinds.iter_mut().zip(excess).zip(volume) {
            let similar = excess <= 0.0;
            *kind = match volume {
                positive if similar && positive > 0.0 => kind::PROPER,
                negative if similar && negative < 0.0 => kind::MIRRORED,
                _ => kind::SKEWED,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use anim_math::{Mat3, Transform, Vec3, quat};

    use super::*;

    fn kind_of(linear: Mat3) -> u8 {
        let mut palette = Palette::new(1);
        palette.set(
            0,
            Affine {
                linear,
                ..Affine::IDENTITY
            },
        );
        palette.kinds[0]
    }

    #[test]
    fn matrices_are_known_by_how_they_turn_normals() {
        let turn = quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 2.0).to_rotation_matrix();
        let turn = turn.into_inner();
        let scaled = |x, y, z| turn * Mat3::from_diagonal(&Vec3::new(x, y, z));
        assert_eq!(kind_of(turn), kind::PROPER);
        assert_eq!(kind_of(turn * 0.01), kind::PROPER);
        assert_eq!(kind_of(scaled(-1.0, -1.0, 1.0)), kind::PROPER);
        assert_eq!(kind_of(scaled(-3.0, 3.0, 3.0)), kind::MIRRORED);
        assert_eq!(kind_of(scaled(1.0, 1.01, 1.0)), kind::SKEWED);
        assert_eq!(kind_of(Mat3::zeros()), kind::SKEWED);
        assert_eq!(kind_of(turn * f32::NAN), kind::SKEWED);
        let shear = Mat3::new(1.0, 0.01, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
        assert_eq!(kind_of(shear), kind::SKEWED);
    }

    #[test]
    fn rounding_along_a_deep_chain_is_not_taken_for_shear() {
        let link = Affine::from(Transform {
            rotation: quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 0.37),
            ..Transform::IDENTITY
        });
        let tip = (0..1000).fold(Affine::IDENTITY, |chain, _| chain * link);
        assert_eq!(kind_of(tip.linear), kind::PROPER);
    }
}
