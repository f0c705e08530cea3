//! Forward kinematics: where every joint is in model space.
//!
//! Eight joints at a time, local transforms become 3×4 matrices; then one breadth-first pass multiplies each by its
//! parent. Neighbours in that order rarely depend on each other, so the processor works on several at once. The result
//! is matrices and not transforms, because a rotation under a non-uniform scale shears.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0)), bone(Some(1))])?;
//! let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//! skeleton.globals(&pose, &mut globals);
//!
//! let middle = skeleton.joint(1);
//! pose.set_translation(middle, Vec3::x());
//! skeleton.globals_below(middle, &pose, &mut globals); // only what hangs on it
//! assert_eq!(globals.get(skeleton.joint(2)).translation, Vec3::new(1.0, 2.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::ops::{Add, Mul, Range, Sub};

use anim_math::lanes::{
    LANES, Level, Simd, SimdBase, dispatch, f32x4, f32x8, f32x16, mask32x16, u8x64,
};
use anim_math::{Affine, Mat3, Transform, Vec3};

use crate::kernel::load;
use crate::{JointId, Pose, PoseBlock, Skeleton};

/// A row-major 3×4 matrix in a 64-byte slot; the fourth row is 0 0 0 1, so that it uploads as it lies.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct GlobalSlot(pub [[f32; 4]; 4]);

impl GlobalSlot {
    /// The identity.
    pub const IDENTITY: Self = Self([
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        LAST_ROW,
    ]);
}

pub(crate) const LAST_ROW: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

impl From<GlobalSlot> for Affine {
    fn from(GlobalSlot([x, y, z, _]): GlobalSlot) -> Self {
        Self {
            linear: Mat3::new(x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]),
            translation: Vec3::new(x[3], y[3], z[3]),
        }
    }
}

impl From<Affine> for GlobalSlot {
    fn from(affine: Affine) -> Self {
        let row = |r: usize| {
            let l = affine.linear;
            [l[(r, 0)], l[(r, 1)], l[(r, 2)], affine.translation[r]]
        };
        Self([row(0), row(1), row(2), LAST_ROW])
    }
}

/// `model_from_joint` of all joints, breadth-first; shear is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Globals(Vec<GlobalSlot>);

impl Globals {
    /// Identities for the joints of `skeleton`.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self(vec![GlobalSlot::IDENTITY; skeleton.len()])
    }

    /// `model_from_joint`.
    pub fn get(&self, joint: JointId) -> Affine {
        self.0[joint.index()].into()
    }

    /// `model_from_joint` as translation, rotation and scale, and how much the three fail to say.
    ///
    /// Without shear they say all, up to rounding. A rotation under a non-uniform scale shears, and then they do not: a
    /// point at distance d from the joint lands up to d times the second number (the Frobenius norm of the difference
    /// of the linear parts) beside where the matrix takes it. Mirrors come back as a negative x scale.
    pub fn transform(&self, joint: JointId) -> (Transform, f32) {
        let affine = self.get(joint);
        let transform = affine.to_transform();
        let residual = (Affine::from(transform).linear - affine.linear).norm();
        (transform, residual)
    }

    /// Sets `model_from_joint`; children do not follow.
    pub fn set(&mut self, joint: JointId, model_from_joint: Affine) {
        self.0[joint.index()] = model_from_joint.into();
    }

    /// J slots, breadth-first.
    pub fn slots(&self) -> &[GlobalSlot] {
        &self.0
    }

    /// J slots, for kernels.
    pub fn slots_mut(&mut self) -> &mut [GlobalSlot] {
        &mut self.0
    }
}

impl Skeleton {
    /// Forward kinematics: writes `model_from_joint = model_from_parent · parent_from_joint` for all joints.
    ///
    /// O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals(&self, pose: &Pose, out: &mut Globals) {
        self.globals_on(Level::new(), pose, out);
    }

    /// As [`globals`](Self::globals), on a given instruction set; all give the same bits.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals_on(&self, level: Level, pose: &Pose, out: &mut Globals) {
        self.check_sizes(pose, out);
        let (parents, blocks) = (self.parents(), pose.blocks());
        dispatch!(level, simd => update(simd, parents, blocks, 0..parents.len(), &mut out.0));
    }

    /// Recomputes `joint` and everything below it after an edit of its local transform, to the bits of a full pass.
    ///
    /// O(joints below it); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn globals_below(&self, joint: JointId, pose: &Pose, out: &mut Globals) {
        self.check_sizes(pose, out);
        dispatch!(Level::new(), simd => update_below(simd, self, joint, pose.blocks(), &mut out.0));
    }

    pub(crate) fn check_sizes(&self, pose: &Pose, out: &Globals) {
        assert_eq!(pose.len(), self.len(), "pose of another skeleton");
        assert_eq!(out.0.len(), self.len(), "globals of another skeleton");
    }
}

/// From so many neighbours on, converting whole blocks costs less than converting joints one by one.
const FEW: usize = 4;

#[inline(always)]
fn update_below<S: Simd>(
    simd: S,
    skeleton: &Skeleton,
    joint: JointId,
    blocks: &[PoseBlock],
    out: &mut [GlobalSlot],
) {
    let mut generation = joint.index()..joint.index() + 1;
    while !generation.is_empty() {
        let next = skeleton.children_of(generation.clone());
        update_range(simd, skeleton.parents(), blocks, generation, out);
        generation = next;
    }
}

/// As [`update`], for ranges that may be short.
#[inline(always)]
pub(crate) fn update_range<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    blocks: &[PoseBlock],
    range: Range<usize>,
    out: &mut [GlobalSlot],
) {
    if range.len() < FEW {
        update_few(simd, parents, blocks, range, out);
    } else {
        update(simd, parents, blocks, range, out);
    }
}

/// As [`update`], joint by joint in the same order of operations, for the same bits: a block of eight is more work than a
/// few joints, and reading it whole right after a single lane was written stalls the processor.
#[inline(always)]
fn update_few<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    blocks: &[PoseBlock],
    range: Range<usize>,
    out: &mut [GlobalSlot],
) {
    let composer = Composer::new(simd);
    for joint in range {
        let (block, lane) = (&blocks[joint / LANES], joint % LANES);
        let local = matrix_rows(
            block.rotation.each_ref().map(|part| part[lane]),
            block.translation.each_ref().map(|part| part[lane]),
            block.scale.each_ref().map(|part| part[lane]),
            1.0,
        );
        composer.place(parents[joint], joint, local.each_ref(), out);
    }
}

/// Updates the joints in `range`, whose parents are up to date or earlier in it.
#[inline(always)]
fn update<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    blocks: &[PoseBlock],
    range: Range<usize>,
    out: &mut [GlobalSlot],
) {
    let composer = Composer::new(simd);
    let mut first = range.start;
    let mut locals = LocalRows([[[0.0; 4]; LANES]; 3]);
    while first < range.end {
        let block = first / LANES;
        local_rows(simd, &blocks[block], &mut locals);
        let last = range.end.min((block + 1) * LANES);
        for (joint, parent) in (first..last).zip(&parents[first..last]) {
            let lane = joint % LANES;
            let [x, y, z] = locals.0.each_ref().map(|row| &row[lane]);
            composer.place(*parent, joint, [x, y, z], out);
        }
        first = last;
    }
}

/// Multiplies a parent's matrix by a child's local one.
///
/// Row r is p_r0 L_0 + p_r1 L_1 + p_r2 L_2 + (0, 0, 0, p_r3), in that order whether rows are taken one by one or all at
/// once, so both ways give the same bits.
#[derive(Clone, Copy)]
struct Composer<S: Simd> {
    simd: S,
    /// Bytes that spread column 0, 1 or 2 over each row.
    spread: [u8x64<S>; 3],
    last_column: mask32x16<S>,
    upper_rows: mask32x16<S>,
}

impl<S: Simd> Composer<S> {
    /// A matrix fits one vector, and columns can be spread within its rows; two halves of eight would cost more than rows.
    const IS_WIDE: bool = <S::f32s as SimdBase<S>>::LEN > 8;

    #[inline(always)]
    fn new(simd: S) -> Self {
        let spread = |column: usize| {
            let bytes: [u8; 64] = std::array::from_fn(|byte| (column * 4 + byte % 4) as u8);
            u8x64::from_slice(simd, &bytes)
        };
        let cell = f32x16::from_fn(simd, |cell| (cell % 4) as f32);
        let row = f32x16::from_fn(simd, |cell| (cell / 4) as f32);
        let three = f32x16::splat(simd, 3.0);
        Self {
            simd,
            spread: [spread(0), spread(1), spread(2)],
            last_column: cell.simd_eq(three),
            upper_rows: row.simd_lt(three),
        }
    }

    /// Writes `model_from_joint`; each way straight to its slot, in the widest stores there are, because the children read
    /// it back at once.
    #[inline(always)]
    fn place(
        &self,
        parent: Option<JointId>,
        joint: usize,
        local: [&[f32; 4]; 3],
        out: &mut [GlobalSlot],
    ) {
        let (before, out) = out.split_at_mut(joint);
        let out = &mut out[0].0;
        match parent {
            None => *out = [*local[0], *local[1], *local[2], LAST_ROW],
            Some(parent) if Self::IS_WIDE => {
                self.all_rows(&before[parent.index()].0, local, out);
            }
            Some(parent) => {
                let [x, y, z, _] = &before[parent.index()].0;
                let l = local.map(|row| f32x4::load_array(self.simd, *row));
                *out = [self.row(x, l), self.row(y, l), self.row(z, l), LAST_ROW];
            }
        }
    }

    #[inline(always)]
    fn all_rows(&self, parent: &[[f32; 4]; 4], local: [&[f32; 4]; 3], out: &mut [[f32; 4]; 4]) {
        let simd = self.simd;
        let p = f32x16::from_slice(simd, parent.as_flattened());
        let l0 = f32x16::block_splat(f32x4::load_array(simd, *local[0]));
        let l1 = f32x16::block_splat(f32x4::load_array(simd, *local[1]));
        let l2 = f32x16::block_splat(f32x4::load_array(simd, *local[2]));
        let [p0, p1, p2] = self.columns(p);
        // The last row must stay 0 0 0 1 even beside infinities.
        let zero = f32x16::splat(simd, 0.0);
        let turned = simd.select_f32x16(self.upper_rows, p0 * l0 + p1 * l1, zero);
        let moved = simd.select_f32x16(self.upper_rows, p2 * l2, zero)
            + simd.select_f32x16(self.last_column, p, zero);
        (turned + moved).store_slice(out.as_flattened_mut());
    }

    /// The first three columns, each spread over its rows.
    #[inline(always)]
    fn columns(&self, p: f32x16<S>) -> [f32x16<S>; 3] {
        let [x, y, z] = self.spread;
        [
            self.simd.swizzle_dyn_within_blocks_f32x16(p, x),
            self.simd.swizzle_dyn_within_blocks_f32x16(p, y),
            self.simd.swizzle_dyn_within_blocks_f32x16(p, z),
        ]
    }

    #[inline(always)]
    fn row(&self, p: &[f32; 4], [l0, l1, l2]: [f32x4<S>; 3]) -> [f32; 4] {
        let simd = self.simd;
        let turned = l0 * f32x4::splat(simd, p[0]) + l1 * f32x4::splat(simd, p[1]);
        let moved = l2 * f32x4::splat(simd, p[2]) + f32x4::load_array(simd, [0.0, 0.0, 0.0, p[3]]);
        (turned + moved).into()
    }
}

/// `parent_from_joint` of eight joints: for each row of the matrices, eight times four columns.
///
/// Whole cache lines, because a store that straddles two is slow to read back.
#[repr(align(64))]
struct LocalRows([[[f32; 4]; LANES]; 3]);

#[inline(always)]
fn local_rows<S: Simd>(simd: S, block: &PoseBlock, out: &mut LocalRows) {
    let rows = matrix_rows(
        load(simd, &block.rotation),
        load(simd, &block.translation),
        load(simd, &block.scale),
        f32x8::splat(simd, 1.0),
    );
    for ([a, b, c, d], out) in rows.into_iter().zip(&mut out.0) {
        let ((ac0, ac1), (bd0, bd1)) = (a.interleave(c), b.interleave(d));
        let ((joints01, joints23), (joints45, joints67)) =
            (ac0.interleave(bd0), ac1.interleave(bd1));
        let rows = [joints01, joints23, joints45, joints67];
        for (pair, out) in rows.into_iter().zip(out.as_chunks_mut::<2>().0) {
            pair.store_slice(out.as_flattened_mut());
        }
    }
}

/// The 3×4 matrix of T · R · S; `rotation` is unit, xyzw.
#[inline(always)]
pub(crate) fn matrix_rows<T>(
    [x, y, z, w]: [T; 4],
    translation: [T; 3],
    scale: [T; 3],
    one: T,
) -> [[T; 4]; 3]
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
{
    let (x2, y2, z2) = (x + x, y + y, z + z);
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    let [sx, sy, sz] = scale;
    let [tx, ty, tz] = translation;
    [
        [(one - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, tx],
        [(xy + wz) * sx, (one - (xx + zz)) * sy, (yz - wx) * sz, ty],
        [(xz - wy) * sx, (yz + wx) * sy, (one - (xx + yy)) * sz, tz],
    ]
}
