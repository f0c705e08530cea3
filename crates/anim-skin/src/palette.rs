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
use anim_math::lanes::{Simd, SimdBase, dispatch, f32x4};
use anim_skeleton::globals::GlobalSlot;
use anim_skeleton::{Globals, JointId};

use crate::SkinnedMesh;

/// Relative departure of M·Mᵀ from a multiple of the identity up to which M counts as a similarity.
///
/// It bounds the error of normals that skip the cofactors by half of it, 0.03°, far above the rounding of deep chains.
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
        self.kinds[place] = kind_of(&self.slots[place]);
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
        for (kind, slot) in out.kinds.iter_mut().zip(&out.slots) {
            *kind = kind_of(slot);
        }
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

/// The kind bit of a matrix; collapsed and non-finite ones count as skewed.
fn kind_of(GlobalSlot([x, y, z, _]): &GlobalSlot) -> u8 {
    let dot = |a: &[f32; 4], b: &[f32; 4]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let lengths = [dot(x, x), dot(y, y), dot(z, z)];
    let angles = [dot(x, y), dot(y, z), dot(z, x)];
    let mean = (lengths[0] + lengths[1] + lengths[2]) / 3.0;
    let tolerance = SIMILAR * mean;
    let similar = mean > 0.0
        && lengths.iter().all(|l| (l - mean).abs() <= tolerance)
        && angles.iter().all(|a| a.abs() <= tolerance);
    let cross = [
        y[1] * z[2] - y[2] * z[1],
        y[2] * z[0] - y[0] * z[2],
        y[0] * z[1] - y[1] * z[0],
        0.0,
    ];
    match (similar, dot(x, &cross) < 0.0) {
        (false, _) => kind::SKEWED,
        (true, false) => kind::PROPER,
        (true, true) => kind::MIRRORED,
    }
}
