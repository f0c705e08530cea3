//! Crowds: eight characters of one skeleton side by side, one a lane.
//!
//! A pose keeps eight joints of one character together; here the same joint of eight characters is kept together, so
//! that forward kinematics needs no shuffles and never waits for a parent. The matrices have the bits of
//! [`Skeleton::globals`].
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
//! skeleton.crowd_globals(&crowd, &mut matrices);
//! matrices.store(&mut globals);
//! assert_eq!(globals[2].get(skeleton.joint(1)).translation, Vec3::new(0.0, 2.0, 0.0));
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::borrow::{Borrow, BorrowMut};

use anim_math::lanes::{
    LANES, Lanes, Level, Simd, SimdBase, SimdCombine, SimdSplit, dispatch, f32x4, f32x8, f32x16,
};
use anim_math::{Affine, Mat3, Quat, Transform, Vec3};
use nalgebra::{Quaternion, Vector4};

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
        let joint = &self.joints()[joint.index()];
        let rotation = joint.rotation.each_ref().map(|part| part[lane]);
        Transform {
            translation: Vec3::from(joint.translation.each_ref().map(|part| part[lane])),
            rotation: Quat::new_unchecked(Quaternion::from_vector(Vector4::from(rotation))),
            scale: Vec3::from(joint.scale.each_ref().map(|part| part[lane])),
        }
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
        let [x, y, z] = self.0[joint.index()]
            .0
            .map(|row| row.map(|column| column[lane]));
        Affine {
            linear: Mat3::new(x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]),
            translation: Vec3::new(x[3], y[3], z[3]),
        }
    }

    /// J matrices, breadth-first; for kernels that go on in lanes.
    pub fn joints(&self) -> &[CrowdMatrix] {
        &self.0
    }

    /// Writes the matrices of the characters in lanes 0, 1, 2, … to `out`.
    ///
    /// O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `out` has more than eight items, or one is of another number of joints.
    pub fn store(&self, out: &mut [impl BorrowMut<Globals>]) {
        self.store_on(Level::new(), out);
    }

    /// As [`store`](Self::store), on a given instruction set.
    ///
    /// # Panics
    ///
    /// If `out` has more than eight items, or one is of another number of joints.
    pub fn store_on(&self, level: Level, out: &mut [impl BorrowMut<Globals>]) {
        assert!(out.len() <= LANES, "more than eight globals");
        let mut characters: [&mut [GlobalSlot]; LANES] = Default::default();
        for (slots, globals) in characters.iter_mut().zip(out) {
            *slots = globals.borrow_mut().slots_mut();
            assert_eq!(slots.len(), self.0.len(), "globals of another skeleton");
        }
        dispatch!(level, simd => slots_from_lanes(simd, &self.0, characters));
    }
}

impl Skeleton {
    /// Forward kinematics of eight characters, each to the bits of [`globals`](Self::globals).
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
        assert_eq!(pose.joint_count, self.len(), "pose of another skeleton");
        assert_eq!(out.0.len(), self.len(), "globals of another skeleton");
        let (parents, joints) = (self.parents(), pose.joints());
        dispatch!(level, simd => update(simd, parents, joints, &mut out.0));
    }
}

#[inline(always)]
fn update<S: Simd>(
    simd: S,
    parents: &[Option<JointId>],
    pose: &[PoseBlock],
    out: &mut [CrowdMatrix],
) {
    for (joint, (parent, local)) in parents.iter().zip(pose).enumerate() {
        let [x, y, z] = matrix_rows(
            load(simd, &local.rotation),
            load(simd, &local.translation),
            load(simd, &local.scale),
            f32x8::splat(simd, 1.0),
        );
        let rows = [Row::new(x), Row::new(y), Row::new(z)];
        let (before, out) = out.split_at_mut(joint);
        let [x, y, z] = &mut out[0].0;
        match parent {
            None => {
                rows[0].store(x);
                rows[1].store(y);
                rows[2].store(z);
            }
            Some(parent) => {
                let [px, py, pz] = &before[parent.index()].0;
                compose(simd, px, &rows).store(x);
                compose(simd, py, &rows).store(y);
                compose(simd, pz, &rows).store(z);
            }
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
    fn load(simd: S, [a, b, c, d]: &[Lanes; 4]) -> Self {
        let lanes = [a, b, c, d].map(|column| f32x8::load_array_ref(simd, column));
        Self::new(lanes)
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
///
/// An interleave puts the bit that tells two vectors apart below the others of an element's place, and takes out the
/// highest one. After three the number of the character has replaced that of the joint.
#[inline(always)]
fn transpose<S: Simd>(simd: S, from: [&Lanes; LANES], to: [&mut Lanes; LANES]) {
    let [k01, k23, k45, k67] = [
        pair(simd, from[0], from[1]),
        pair(simd, from[2], from[3]),
        pair(simd, from[4], from[5]),
        pair(simd, from[6], from[7]),
    ];
    let (k04, k15) = k01.interleave(k45);
    let (k26, k37) = k23.interleave(k67);
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
fn pair<S: Simd>(simd: S, first: &Lanes, second: &Lanes) -> f32x16<S> {
    f32x8::load_array_ref(simd, first).combine(f32x8::load_array_ref(simd, second))
}

#[inline(always)]
fn store_pair<S: Simd>(pair: f32x16<S>, first: &mut Lanes, second: &mut Lanes) {
    let (low, high) = pair.split();
    low.store_array(first);
    high.store_array(second);
}

/// From eight characters in lanes to a matrix each; characters without slots are left out.
#[inline(always)]
fn slots_from_lanes<S: Simd>(
    simd: S,
    joints: &[CrowdMatrix],
    mut characters: [&mut [GlobalSlot]; LANES],
) {
    let (low, high) = characters.split_at_mut(LANES / 2);
    for (joint, CrowdMatrix([x, y, z])) in joints.iter().enumerate() {
        let (x_low, x_high) = rows(simd, x);
        let (y_low, y_high) = rows(simd, y);
        let (z_low, z_high) = rows(simd, z);
        store_four(simd, [x_low, y_low, z_low], joint, low);
        store_four(simd, [x_high, y_high, z_high], joint, high);
    }
}

/// One row of eight matrices: of the first four, and of the others.
#[inline(always)]
fn rows<S: Simd>(simd: S, row: &[Lanes; 4]) -> (f32x16<S>, f32x16<S>) {
    let Row { left, right } = Row::load(simd, row);
    let (even, odd) = left.interleave(right);
    even.interleave(odd)
}

#[inline(always)]
fn store_four<S: Simd>(
    simd: S,
    [x, y, z]: [f32x16<S>; 3],
    joint: usize,
    characters: &mut [&mut [GlobalSlot]],
) {
    let [a, b, c, d] = characters else { return };
    let (x, y, z) = (quarters(x), quarters(y), quarters(z));
    store_slot(simd, [x[0], y[0], z[0]], a.get_mut(joint));
    store_slot(simd, [x[1], y[1], z[1]], b.get_mut(joint));
    store_slot(simd, [x[2], y[2], z[2]], c.get_mut(joint));
    store_slot(simd, [x[3], y[3], z[3]], d.get_mut(joint));
}

#[inline(always)]
fn quarters<S: Simd>(rows: f32x16<S>) -> [f32x4<S>; 4] {
    let (low, high) = rows.split();
    let ((a, b), (c, d)) = (low.split(), high.split());
    [a, b, c, d]
}

#[inline(always)]
fn store_slot<S: Simd>(simd: S, [x, y, z]: [f32x4<S>; 3], slot: Option<&mut GlobalSlot>) {
    if let Some(GlobalSlot(rows)) = slot {
        let last = f32x4::load_array(simd, LAST_ROW);
        x.combine(y)
            .combine(z.combine(last))
            .store_slice(rows.as_flattened_mut());
    }
}

fn parts(block: &PoseBlock) -> impl Iterator<Item = &Lanes> {
    let vectors = block.translation.iter().chain(&block.scale);
    block.rotation.iter().chain(vectors)
}

fn parts_mut(block: &mut PoseBlock) -> impl Iterator<Item = &mut Lanes> {
    let vectors = block.translation.iter_mut().chain(&mut block.scale);
    block.rotation.iter_mut().chain(vectors)
}
