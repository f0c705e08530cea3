//! Crowds: eight characters of one skeleton side by side, one a lane.
//!
//! A pose keeps eight joints of one character together; here the same joint of eight characters is kept together, so
//! that forward kinematics is the same arithmetic in every lane, without shuffles. The matrices have the bits of
//! [`Skeleton::globals`].
//!
//! It pays where poses are made in lanes or matrices are used in lanes, not as a detour: nanoseconds a joint with 60
//! joints on one core of a Xeon (Sapphire Rapids),
//!
//! | | AVX-512 | AVX2 | SSE2 |
//! |---|---|---|---|
//! | [`globals`](Skeleton::globals) of eight, one by one | 4.4 | 5.7 | 6.7 |
//! | [`CrowdPose`] to [`CrowdGlobals`] | 1.7 | 1.8 | 3.6 |
//! | [`CrowdPose`] to eight [`Globals`] | 3.0 | 4.1 | 5.2 |
//! | eight [`Pose`]s to eight [`Globals`], by way of a [`CrowdPose`] | 4.7 | 5.8 | 7.1 |
//!
//! With 24 joints, which leave room in the first cache, the last line is 3.8, 4.8 and 6.6 where one by one takes 4.8, 5.9
//! and 6.6. In a frame of 1000 characters that sample two clips, blend and find their globals the detour changes nothing
//! with AVX-512 (0.58 µs a character either way) and costs 6 to 9 % with AVX2 and SSE2.
//!
//! ```
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{CrowdGlobals, CrowdPose, Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0))])?;
//! let poses = [skeleton.rest(), skeleton.rest(), skeleton.rest()]; // at most eight
//! let mut globals = vec![Globals::new(&skeleton); 3];
//!
//! let (mut crowd, mut matrices) = (CrowdPose::new(&skeleton), CrowdGlobals::new(&skeleton));
//! crowd.load(&poses);
//! skeleton.crowd_globals_each(&crowd, &mut matrices, &mut globals);
//! assert_eq!(globals[2].get(skeleton.joint(1)).translation, Vec3::new(0.0, 2.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::borrow::{Borrow, BorrowMut};

use anim_math::lanes::{
    LANES, Lanes, Level, Simd, SimdBase, SimdCombine, SimdSplit, dispatch, f32x4, f32x8, f32x16,
};
use anim_math::{Affine, Transform};

use crate::globals::{GlobalSlot, LAST_ROW, matrix_rows};
use crate::kernel::load;
use crate::{Globals, JointId, Pose, PoseBlock, Skeleton};

/// The local transforms of eight characters of one skeleton; lanes that no character has hold the identity.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdPose {
    joint_count: usize,
    /// J rounded up to whole blocks of a pose.
    joints: Vec<PoseBlock>,
}

impl CrowdPose {
    /// Eight times the identity for the joints of `skeleton`.
    pub fn new(skeleton: &Skeleton) -> Self {
        let blocks = skeleton.len().div_ceil(LANES);
        Self {
            joint_count: skeleton.len(),
            joints: vec![PoseBlock::IDENTITY; blocks * LANES],
        }
    }

    /// J joints, breadth-first; in each one lane a character.
    pub fn joints(&self) -> &[PoseBlock] {
        &self.joints[..self.joint_count]
    }

    /// J joints, for kernels; rotations must stay unit.
    pub fn joints_mut(&mut self) -> &mut [PoseBlock] {
        &mut self.joints[..self.joint_count]
    }

    /// The local transform of `joint` of the character in `lane`.
    ///
    /// # Panics
    ///
    /// If `lane` is not below 8.
    pub fn get(&self, lane: usize, joint: JointId) -> Transform {
        self.joints()[joint.index()].get(lane)
    }

    /// Makes `pose` that of the character in `lane`. To set several, [`load`](Self::load) is faster.
    ///
    /// # Panics
    ///
    /// If `lane` is not below 8, or `pose` is of another number of joints.
    pub fn set(&mut self, lane: usize, pose: &Pose) {
        assert_eq!(pose.len(), self.joint_count, "pose of another skeleton");
        let chunks = self.joints.as_chunks_mut::<LANES>().0;
        for (joints, block) in chunks.iter_mut().zip(pose.blocks()) {
            for (from, joint) in joints.iter_mut().enumerate() {
                for (to, parts) in parts_mut(joint).zip(parts(block)) {
                    to[lane] = parts[from];
                }
            }
        }
    }

    /// Makes the poses those of the characters in lanes 0, 1, 2, …, and the identity that of the others.
    ///
    /// O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are more than eight poses, or one is of another number of joints.
    pub fn load(&mut self, poses: &[impl Borrow<Pose>]) {
        self.load_on(Level::new(), poses);
    }

    /// As [`load`](Self::load), on a given instruction set.
    ///
    /// # Panics
    ///
    /// If there are more than eight poses, or one is of another number of joints.
    pub fn load_on(&mut self, level: Level, poses: &[impl Borrow<Pose>]) {
        assert!(poses.len() <= LANES, "more than eight poses");
        let mut characters: [&[PoseBlock]; LANES] = [&[]; LANES];
        for (blocks, pose) in characters.iter_mut().zip(poses) {
            let pose = pose.borrow();
            assert_eq!(pose.len(), self.joint_count, "pose of another skeleton");
            *blocks = pose.blocks();
        }
        let joints = self.joints.as_chunks_mut().0;
        dispatch!(level, simd => lanes_from_poses(simd, characters, joints));
    }
}

/// 3×4 matrices of one joint of eight characters: rows of columns of lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct CrowdMatrix(pub [[Lanes; 4]; 3]);

/// `model_from_joint` of all joints of eight characters, breadth-first; shear is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct CrowdGlobals(Vec<CrowdMatrix>);

impl CrowdGlobals {
    /// Zeros for the joints of `skeleton`.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self(vec![CrowdMatrix([[[0.0; LANES]; 4]; 3]); skeleton.len()])
    }

    /// `model_from_joint` of the character in `lane`.
    ///
    /// # Panics
    ///
    /// If `lane` is not below 8.
    pub fn get(&self, lane: usize, joint: JointId) -> Affine {
        let CrowdMatrix(rows) = &self.0[joint.index()];
        let [x, y, z] = rows.map(|row| row.map(|column| column[lane]));
        GlobalSlot([x, y, z, LAST_ROW]).into()
    }

    /// J matrices, breadth-first; for kernels that go on in lanes.
    pub fn joints(&self) -> &[CrowdMatrix] {
        &self.0
    }
}

impl Skeleton {
    /// Forward kinematics of eight characters, each to the bits of [`globals`](Self::globals); the matrices stay in lanes.
    ///
    /// O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn crowd_globals(&self, pose: &CrowdPose, out: &mut CrowdGlobals) {
        self.crowd_globals_on(Level::new(), pose, out);
    }

    /// As [`crowd_globals`](Self::crowd_globals), on a given instruction set; all give the same bits.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` belongs to a skeleton with another number of joints.
    pub fn crowd_globals_on(&self, level: Level, pose: &CrowdPose, out: &mut CrowdGlobals) {
        self.update_crowd(level, pose, out, Default::default());
    }

    /// As [`crowd_globals`](Self::crowd_globals), and copies the matrices of the characters in lanes 0, 1, 2, … to `out`.
    ///
    /// # Panics
    ///
    /// If there are more than eight of `out`, or anything belongs to a skeleton with another number of joints.
    pub fn crowd_globals_each(
        &self,
        pose: &CrowdPose,
        lanes: &mut CrowdGlobals,
        out: &mut [impl BorrowMut<Globals>],
    ) {
        self.crowd_globals_each_on(Level::new(), pose, lanes, out);
    }

    /// As [`crowd_globals_each`](Self::crowd_globals_each), on a given instruction set; all give the same bits.
    ///
    /// # Panics
    ///
    /// If there are more than eight of `out`, or anything belongs to a skeleton with another number of joints.
    pub fn crowd_globals_each_on(
        &self,
        level: Level,
        pose: &CrowdPose,
        lanes: &mut CrowdGlobals,
        out: &mut [impl BorrowMut<Globals>],
    ) {
        assert!(out.len() <= LANES, "more than eight globals");
        let mut characters = Characters::default();
        for (slots, globals) in characters.iter_mut().zip(out) {
            *slots = globals.borrow_mut().slots_mut();
            assert_eq!(slots.len(), self.len(), "globals of another skeleton");
        }
        self.update_crowd(level, pose, lanes, characters);
    }

    fn update_crowd(
        &self,
        level: Level,
        pose: &CrowdPose,
        lanes: &mut CrowdGlobals,
        characters: Characters<'_>,
    ) {
        assert_eq!(pose.joint_count, self.len(), "pose of another skeleton");
        assert_eq!(lanes.0.len(), self.len(), "globals of another skeleton");
        let (parents, joints) = (self.parents(), pose.joints());
        dispatch!(level, simd => update(simd, parents, joints, &mut lanes.0, characters));
    }
}

/// The slots of each character; none where there is no character.
type Characters<'a> = [&'a mut [GlobalSlot]; LANES];

#[inline(always)]
fn update<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    pose: &[PoseBlock],
    lanes: &mut [CrowdMatrix],
    mut characters: Characters<'_>,
) {
    let has_characters = !characters[0].is_empty();
    for (joint, (parent, local)) in parents.iter().zip(pose).enumerate() {
        place(simd, *parent, joint, local, lanes);
        // A joint later than it is written: reading a matrix back at once would wait for it.
        if has_characters && joint > 0 {
            copy_out(simd, joint - 1, &lanes[joint - 1], &mut characters);
        }
    }
    if let Some(last) = lanes.len().checked_sub(1).filter(|_| has_characters) {
        copy_out(simd, last, &lanes[last], &mut characters);
    }
}

/// Writes the matrices of one joint, whose parent's are up to date.
#[inline(always)]
fn place<S: Simd>(
    simd: S,
    parent: Option<JointId>,
    joint: usize,
    local: &PoseBlock,
    lanes: &mut [CrowdMatrix],
) {
    let [x, y, z] = matrix_rows(
        load(simd, &local.rotation),
        load(simd, &local.translation),
        load(simd, &local.scale),
        f32x8::splat(simd, 1.0),
    );
    let rows = [Row::new(x), Row::new(y), Row::new(z)];
    let (before, out) = lanes.split_at_mut(joint);
    let CrowdMatrix([x, y, z]) = &mut out[0];
    match parent {
        None => {
            rows[0].store(x);
            rows[1].store(y);
            rows[2].store(z);
        }
        Some(parent) => {
            let CrowdMatrix([px, py, pz]) = &before[parent.index()];
            compose(simd, px, &rows).store(x);
            compose(simd, py, &rows).store(y);
            compose(simd, pz, &rows).store(z);
        }
    }
}

/// A row of eight matrices.
#[derive(Clone, Copy)]
struct Row<S: Simd> {
    /// Columns 0 and 1.
    left: f32x16<S>,
    /// Columns 2 and 3.
    right: f32x16<S>,
}

impl<S: Simd> Row<S> {
    #[inline(always)]
    fn new([a, b, c, d]: [f32x8<S>; 4]) -> Self {
        Self {
            left: a.combine(b),
            right: c.combine(d),
        }
    }

    #[inline(always)]
    fn store(self, out: &mut [Lanes; 4]) {
        let out = out.as_flattened_mut();
        self.left.store_slice(&mut out[..16]);
        self.right.store_slice(&mut out[16..]);
    }
}

/// A row of a parent's matrices times the local matrices of a child: p₀ L₀ + p₁ L₁ + p₂ L₂ + (0, 0, 0, p₃).
#[inline(always)]
fn compose<S: Simd>(simd: S, [p0, p1, p2, p3]: &[Lanes; 4], [x, y, z]: &[Row<S>; 3]) -> Row<S> {
    let (p0, p1, p2) = (twice(simd, p0), twice(simd, p1), twice(simd, p2));
    let zero = f32x8::splat(simd, 0.0);
    // Adding zero turns −0 into 0, as for a single character.
    let left = zero.combine(zero);
    let right = zero.combine(f32x8::load_array_ref(simd, p3));
    Row {
        left: p0 * x.left + p1 * y.left + (p2 * z.left + left),
        right: p0 * x.right + p1 * y.right + (p2 * z.right + right),
    }
}

#[inline(always)]
fn twice<S: Simd>(simd: S, lanes: &Lanes) -> f32x16<S> {
    let lanes = f32x8::load_array_ref(simd, lanes);
    lanes.combine(lanes)
}

/// From joints in lanes to characters in lanes.
#[inline(always)]
fn lanes_from_poses<S: Simd>(
    simd: S,
    characters: [&[PoseBlock]; LANES],
    joints: &mut [[PoseBlock; LANES]],
) {
    for (index, joints) in joints.iter_mut().enumerate() {
        let blocks = characters.map(|blocks| blocks.get(index).unwrap_or(&PoseBlock::IDENTITY));
        for part in 0..4 {
            let from = blocks.map(|block| &block.rotation[part]);
            let to = joints.each_mut().map(|joint| &mut joint.rotation[part]);
            transpose(simd, from, to);
        }
        for part in 0..3 {
            let from = blocks.map(|block| &block.translation[part]);
            let to = joints.each_mut().map(|joint| &mut joint.translation[part]);
            transpose(simd, from, to);
        }
        for part in 0..3 {
            let from = blocks.map(|block| &block.scale[part]);
            let to = joints.each_mut().map(|joint| &mut joint.scale[part]);
            transpose(simd, from, to);
        }
    }
}

/// `to[i][k] = from[k][i]`.
#[inline(always)]
fn transpose<S: Simd>(simd: S, from: [&Lanes; LANES], to: [&mut Lanes; LANES]) {
    if <S::f32s as SimdBase<S>>::LEN > LANES {
        transpose_whole(simd, from, to);
    } else {
        transpose_by_quarters(simd, from, to);
    }
}

/// For machines that interleave sixteen lanes in one go.
///
/// An interleave makes the number of the vector the last bit of a lane's place and takes out the first one; after three
/// the number of the character stands where that of the joint was.
#[inline(always)]
fn transpose_whole<S: Simd>(simd: S, from: [&Lanes; LANES], to: [&mut Lanes; LANES]) {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = from.map(|lanes| f32x8::load_array_ref(simd, lanes));
    let (k04, k15) = k0.combine(k1).interleave(k4.combine(k5));
    let (k26, k37) = k2.combine(k3).interleave(k6.combine(k7));
    let (even_low, even_high) = k04.interleave(k26);
    let (odd_low, odd_high) = k15.interleave(k37);
    let (i01, i23) = even_low.interleave(odd_low);
    let (i45, i67) = even_high.interleave(odd_high);
    let [to0, to1, to2, to3, to4, to5, to6, to7] = to;
    store_pair(i01, to0, to1);
    store_pair(i23, to2, to3);
    store_pair(i45, to4, to5);
    store_pair(i67, to6, to7);
}

#[inline(always)]
fn store_pair<S: Simd>(pair: f32x16<S>, first: &mut Lanes, second: &mut Lanes) {
    let (low, high) = pair.split();
    low.store_array(first);
    high.store_array(second);
}

#[inline(always)]
fn transpose_by_quarters<S: Simd>(simd: S, from: [&Lanes; LANES], mut to: [&mut Lanes; LANES]) {
    for (from, column) in from.as_chunks::<HALF>().0.iter().zip([0, HALF]) {
        for (to, row) in to.as_chunks_mut::<HALF>().0.iter_mut().zip([0, HALF]) {
            let [a, b, c, d] = transposed(simd, *from, row);
            let [to_a, to_b, to_c, to_d] = to;
            a.store_slice(&mut to_a[column..column + HALF]);
            b.store_slice(&mut to_b[column..column + HALF]);
            c.store_slice(&mut to_c[column..column + HALF]);
            d.store_slice(&mut to_d[column..column + HALF]);
        }
    }
}

/// Copies the matrices of one joint to the slots of its characters.
#[inline(always)]
fn copy_out<S: Simd>(
    simd: S,
    joint: usize,
    CrowdMatrix([x, y, z]): &CrowdMatrix,
    characters: &mut Characters<'_>,
) {
    let halves = characters.as_chunks_mut::<HALF>().0;
    for (half, first) in halves.iter_mut().zip([0, HALF]) {
        let x = transposed(simd, x.each_ref(), first);
        let y = transposed(simd, y.each_ref(), first);
        let z = transposed(simd, z.each_ref(), first);
        let [a, b, c, d] = half;
        store_slot([x[0], y[0], z[0]], a.get_mut(joint));
        store_slot([x[1], y[1], z[1]], b.get_mut(joint));
        store_slot([x[2], y[2], z[2]], c.get_mut(joint));
        store_slot([x[3], y[3], z[3]], d.get_mut(joint));
    }
}

#[inline(always)]
fn store_slot<S: Simd>([x, y, z]: [f32x4<S>; 3], slot: Option<&mut GlobalSlot>) {
    if let Some(GlobalSlot(rows)) = slot {
        x.store_array(&mut rows[0]);
        y.store_array(&mut rows[1]);
        z.store_array(&mut rows[2]);
        rows[3] = LAST_ROW;
    }
}

const HALF: usize = LANES / 2;

/// Four lanes of four blocks, from `first` on, as four rows of one lane each.
#[inline(always)]
fn transposed<S: Simd>(simd: S, blocks: [&Lanes; HALF], first: usize) -> [f32x4<S>; HALF] {
    let [a, b, c, d] = blocks.map(|lanes| f32x4::from_slice(simd, &lanes[first..first + HALF]));
    let ((ac_low, ac_high), (bd_low, bd_high)) = (a.interleave(c), b.interleave(d));
    let ((row0, row1), (row2, row3)) = (ac_low.interleave(bd_low), ac_high.interleave(bd_high));
    [row0, row1, row2, row3]
}

fn parts(block: &PoseBlock) -> impl Iterator<Item = &Lanes> {
    let vectors = block.translation.iter().chain(&block.scale);
    block.rotation.iter().chain(vectors)
}

fn parts_mut(block: &mut PoseBlock) -> impl Iterator<Item = &mut Lanes> {
    let vectors = block.translation.iter_mut().chain(&mut block.scale);
    block.rotation.iter_mut().chain(vectors)
}
