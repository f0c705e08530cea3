//! One limb of many characters: the arithmetic of [`TwoBone::solve`] for eight at a time, one a lane.
//!
//! What is out of the ordinary (part of a weight, stretched bones, near straight or half a turn away) is left to
//! [`TwoBone::solve`] itself, one by one, so that every character gets the bits it would get alone.

use std::borrow::BorrowMut;

use anim_math::lanes::{LANES, Lanes, Level, Select, Simd, SimdBase, dispatch, store_all};
use anim_math::{Vec3, lanes};
use anim_skeleton::{Globals, Pose, Skeleton};

use crate::frame::{columns, even_axes, position, turned};
use crate::limb::{Bones, Way, eased};
use crate::real::{load_three, put, sub};
use crate::{Outcome, TwoBone, TwoBoneGoal};

impl TwoBone {
    /// As [`solve`](Self::solve) for this limb of N characters of one skeleton, each to the same bits, some half as long.
    ///
    /// Fastest where the goals of neighbours are alike: all with a pole or all without, at full weight, without stretch.
    /// The forward kinematics of what hangs on the limb are most of what is left.
    ///
    /// ```
    /// use anim_ik::{Outcome, TwoBone, TwoBoneGoal};
    /// use anim_math::{Transform, Vec3};
    /// use anim_skeleton::{Globals, JointSpec, Skeleton};
    ///
    /// let bone = |parent, x: f32, y: f32| JointSpec {
    ///     name: None,
    ///     parent,
    ///     rest: Transform::from_translation(Vec3::new(x, y, 0.0)),
    /// };
    /// let leg = vec![bone(None, 0.0, 1.0), bone(Some(0), 0.1, -0.5), bone(Some(1), -0.1, -0.5)];
    /// let skeleton = Skeleton::new(leg)?;
    /// let mut poses = vec![skeleton.rest().clone(); 100];
    /// let mut globals = vec![Globals::new(&skeleton); 100];
    /// for (pose, globals) in poses.iter().zip(&mut globals) {
    ///     skeleton.globals(pose, globals);
    /// }
    /// let goals: Vec<_> = (0..100).map(|n| TwoBoneGoal::new(Vec3::new(0.005 * n as f32, 0.3, 0.1))).collect();
    /// let mut outcomes = [Outcome::default(); 100];
    ///
    /// let leg = TwoBone::new(&skeleton, skeleton.joint(2))?;
    /// leg.solve_crowd(&skeleton, &goals, &mut poses, &mut globals, &mut outcomes);
    /// assert!(outcomes.iter().all(|outcome| outcome.reached));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the four lists differ in length, or skeleton, poses, globals and limb do not belong together.
    pub fn solve_crowd(
        &self,
        skeleton: &Skeleton,
        goals: &[TwoBoneGoal],
        poses: &mut [impl BorrowMut<Pose>],
        globals: &mut [impl BorrowMut<Globals>],
        outcomes: &mut [Outcome],
    ) {
        assert_eq!(poses.len(), goals.len(), "a pose a goal");
        assert_eq!(globals.len(), goals.len(), "globals a goal");
        assert_eq!(outcomes.len(), goals.len(), "an outcome a goal");
        let groups = goals.chunks(LANES).zip(poses.chunks_mut(LANES));
        let groups = groups.zip(globals.chunks_mut(LANES));
        let mut eight = Eight::default();
        for (((goals, poses), globals), outcomes) in groups.zip(outcomes.chunks_mut(LANES)) {
            self.solve_eight(skeleton, &mut eight, goals, poses, globals, outcomes);
        }
    }

    /// As [`solve_crowd`](Self::solve_crowd), for at most eight.
    fn solve_eight(
        &self,
        skeleton: &Skeleton,
        eight: &mut Eight,
        goals: &[TwoBoneGoal],
        poses: &mut [impl BorrowMut<Pose>],
        globals: &mut [impl BorrowMut<Globals>],
        outcomes: &mut [Outcome],
    ) {
        let characters = goals.iter().zip(poses.iter()).zip(globals.iter());
        for (lane, ((goal, pose), globals)) in characters.enumerate() {
            eight.set(self, lane, skeleton, goal, pose.borrow(), globals.borrow());
        }
        let is_poled = goals[0].pole.is_some();
        let is_soft = goals.iter().any(|goal| goal.softness > 0.0);
        dispatch!(Level::new(), simd => turn(simd, eight, is_poled, is_soft));
        let characters = goals.iter().zip(poses).zip(globals).zip(outcomes);
        for (lane, (((goal, pose), globals), outcome)) in characters.enumerate() {
            let (pose, globals) = (pose.borrow_mut(), globals.borrow_mut());
            let is_plain = goal.is_plain() && goal.pole.is_some() == is_poled;
            if !(is_plain && eight.is_usual[lane] > 0.0) {
                *outcome = self.solve(skeleton, goal, pose, globals);
                continue;
            }
            eight.write(self, lane, pose);
            skeleton.globals_below(self.root, pose, globals);
            *outcome = self.finish(skeleton, goal, true, eight.length[lane], pose, globals);
        }
    }
}

/// Limbs and goals of eight characters; what lanes without one hold does not matter.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Eight {
    /// Where root, mid and end are, model space, m.
    joints: [[Lanes; 3]; 3],
    target: [Lanes; 3],
    pole: [Lanes; 3],
    softness: Lanes,
    /// The columns of the spaces that root and mid are posed in.
    spaces: [[[Lanes; 3]; 3]; 2],
    /// The local ones of root and mid, x, y, z, w; before and after.
    rotations: [[Lanes; 4]; 2],
    /// Of the limb, m.
    length: Lanes,
    /// 1 where the rotations are to be used.
    is_usual: Lanes,
}

impl Eight {
    /// Takes up a character.
    #[inline(always)]
    fn set(
        &mut self,
        limb: &TwoBone,
        lane: usize,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        pose: &Pose,
        globals: &Globals,
    ) {
        for (to, joint) in self.joints.iter_mut().zip([limb.root, limb.mid, limb.end]) {
            put(to, lane, position(globals, joint).into());
        }
        put(&mut self.target, lane, goal.target.into());
        put(&mut self.pole, lane, goal.pole.unwrap_or_default().into());
        self.softness[lane] = goal.softness;
        let spaces = self.spaces.iter_mut().zip(&mut self.rotations);
        for ((columns_of, rotation), joint) in spaces.zip([limb.root, limb.mid]) {
            let axes = match skeleton.parent(joint) {
                Some(parent) => columns(globals, parent),
                None => [Vec3::x(), Vec3::y(), Vec3::z()],
            };
            for (to, axis) in columns_of.iter_mut().zip(axes) {
                put(to, lane, axis.into());
            }
            let (block, own) = (joint.index() / LANES, joint.index() % LANES);
            let parts = &pose.blocks()[block].rotation;
            put(rotation, lane, parts.each_ref().map(|part| part[own]));
        }
    }

    /// Gives a character its rotations.
    #[inline(always)]
    fn write(&self, limb: &TwoBone, lane: usize, pose: &mut Pose) {
        for (rotation, joint) in self.rotations.iter().zip([limb.root, limb.mid]) {
            let (block, own) = (joint.index() / LANES, joint.index() % LANES);
            let parts = &mut pose.blocks_mut()[block].rotation;
            for (to, from) in parts.iter_mut().zip(rotation) {
                to[own] = from[lane];
            }
        }
    }
}

/// Turns root and mid of all eight.
#[inline(always)]
fn turn<S: Simd>(simd: S, eight: &mut Eight, is_poled: bool, is_soft: bool) {
    let [root, mid, end] = [
        lanes::load_all(simd, &eight.joints[0]),
        lanes::load_all(simd, &eight.joints[1]),
        lanes::load_all(simd, &eight.joints[2]),
    ];
    let bones = Bones::new(sub(mid, root), sub(end, mid));
    let way = Way::new(sub(lanes::load_all(simd, &eight.target), root));
    let length = bones.l1 + bones.l2;
    lanes::store(length, &mut eight.length);
    let mut distance = way.far.min(length);
    if is_soft {
        let mut far: Lanes = way.far.into();
        let softness = eight.length.iter().zip(&eight.softness);
        for (far, (length, softness)) in far.iter_mut().zip(softness) {
            *far = eased(*far, *length, *softness);
        }
        distance = lanes::load(simd, &far);
    }
    let pole = if is_poled {
        Some(sub(lanes::load_all(simd, &eight.pole), root))
    } else {
        None
    };
    let ([swing, bend], is_usual) = bones.turns(&way, distance, pole);
    let (root_axes, is_root_even) = even_axes(load_three(simd, &eight.spaces[0]));
    let (mid_axes, is_mid_even) = even_axes(load_three(simd, &eight.spaces[1]));
    let rotation = lanes::load_all(simd, &eight.rotations[0]);
    let rotation = turned(root_axes, swing, swing.norm(), rotation);
    store_all(rotation, &mut eight.rotations[0]);
    let rotation = lanes::load_all(simd, &eight.rotations[1]);
    let rotation = turned(mid_axes, bend, bend.norm(), rotation);
    store_all(rotation, &mut eight.rotations[1]);
    let is_usual = is_usual & is_root_even & is_mid_even;
    let (one, zero) = (lanes::splat(simd, 1.0), lanes::splat(simd, 0.0));
    lanes::store(is_usual.select(one, zero), &mut eight.is_usual);
}
