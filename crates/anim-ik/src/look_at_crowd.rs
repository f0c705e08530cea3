//! One gaze of many characters: the arithmetic of [`LookAt::aim`] for eight at a time, one a lane.
//!
//! What is out of the ordinary (a limit, an eye aside, part of a weight, a twist, a view near the pole or half a turn away) is
//! left to [`LookAt::aim`] itself, one by one, so that every character gets the bits it would get alone.

use std::borrow::BorrowMut;

use anim_math::Vec3;
use anim_math::lanes::{self, LANES, Lanes, Level, Select, Simd, dispatch, store_all};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

use crate::frame::{columns, even_axes, is_finite, position, turned};
use crate::look_at::gaze;
use crate::real::{Real, dot, load_three, put, sub};
use crate::{LookAt, LookAtGoal, Outcome};

impl LookAt {
    /// As [`aim`](Self::aim) for this joint of N characters of one skeleton, each to the same bits, in less than half the time.
    ///
    /// ```
    /// use anim_ik::{LookAt, LookAtGoal, Outcome};
    /// use anim_math::{Transform, Vec3};
    /// use anim_skeleton::{Globals, JointSpec, Skeleton};
    ///
    /// let head = JointSpec { name: None, parent: None, rest: Transform::from_translation(Vec3::y()) };
    /// let skeleton = Skeleton::new(vec![head])?;
    /// let mut poses = vec![skeleton.rest().clone(); 100];
    /// let mut globals = vec![Globals::new(&skeleton); 100];
    /// for (pose, globals) in poses.iter().zip(&mut globals) {
    ///     skeleton.globals(pose, globals);
    /// }
    /// let goals: Vec<_> = (0..100).map(|n| LookAtGoal::new(Vec3::new(0.02 * n as f32 - 1.0, 1.2, 2.0))).collect();
    /// let mut outcomes = [Outcome::default(); 100];
    ///
    /// let gaze = LookAt::new(skeleton.joint(0), Vec3::z(), Vec3::y(), 4.0)?;
    /// gaze.aim_crowd(&skeleton, &goals, &mut poses, &mut globals, &mut outcomes);
    /// assert!(outcomes.iter().all(|outcome| outcome.reached));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If the four lists differ in length, or skeleton, poses, globals and joint do not belong together.
    pub fn aim_crowd(
        &self,
        skeleton: &Skeleton,
        goals: &[LookAtGoal],
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
            self.aim_eight(skeleton, &mut eight, goals, poses, globals, outcomes);
        }
    }

    /// As [`aim_crowd`](Self::aim_crowd), for at most eight.
    fn aim_eight(
        &self,
        skeleton: &Skeleton,
        eight: &mut Eight,
        goals: &[LookAtGoal],
        poses: &mut [impl BorrowMut<Pose>],
        globals: &mut [impl BorrowMut<Globals>],
        outcomes: &mut [Outcome],
    ) {
        let characters = goals.iter().zip(poses.iter()).zip(globals.iter());
        let parent = skeleton.parent(self.joint);
        for (lane, ((goal, pose), globals)) in characters.enumerate() {
            eight.set(
                self.joint,
                parent,
                lane,
                goal,
                pose.borrow(),
                globals.borrow(),
            );
        }
        let axes = [self.forward, self.up].map(|axis| axis.into());
        dispatch!(Level::new(), simd => turn(simd, eight, axes));
        let is_plain = self.is_plain();
        let characters = goals.iter().zip(poses).zip(globals).zip(outcomes);
        for (lane, (((goal, pose), globals), outcome)) in characters.enumerate() {
            let (pose, globals) = (pose.borrow_mut(), globals.borrow_mut());
            if !(is_plain && goal.is_plain() && eight.is_usual[lane] > 0.0) {
                *outcome = self.aim(skeleton, goal, pose, globals);
                continue;
            }
            let (block, own) = (self.joint.index() / LANES, self.joint.index() % LANES);
            let parts = &mut pose.blocks_mut()[block].rotation;
            for (to, from) in parts.iter_mut().zip(&eight.rotation) {
                to[own] = from[lane];
            }
            let to_target = goal.target - position(globals, self.joint);
            skeleton.globals_below(self.joint, pose, globals);
            *outcome = self.outcome(globals, to_target, true);
        }
    }
}

impl LookAtGoal {
    /// True if all of it is asked for and no twist.
    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.weight >= 1.0 && self.twist == 0.0 && is_finite(&self.pole)
    }
}

/// Joints and goals of eight characters; what lanes without one hold does not matter.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Eight {
    /// Where the joint is, model space, m.
    joint: [Lanes; 3],
    target: [Lanes; 3],
    pole: [Lanes; 3],
    /// The rows of the joint's own space.
    rows: [[Lanes; 3]; 3],
    /// The columns of the space that it is posed in.
    space: [[Lanes; 3]; 3],
    /// The local one, x, y, z, w; before and after.
    rotation: [Lanes; 4],
    /// 1 where the rotation is to be used.
    is_usual: Lanes,
}

impl Eight {
    /// Takes up a character.
    #[inline(always)]
    fn set(
        &mut self,
        joint: JointId,
        parent: Option<JointId>,
        lane: usize,
        goal: &LookAtGoal,
        pose: &Pose,
        globals: &Globals,
    ) {
        put(&mut self.target, lane, goal.target.into());
        put(&mut self.pole, lane, goal.pole.into());
        let [x, y, z, _] = &globals.slots()[joint.index()].0;
        put(&mut self.joint, lane, [x[3], y[3], z[3]]);
        for (to, row) in self.rows.iter_mut().zip([x, y, z]) {
            put(to, lane, [row[0], row[1], row[2]]);
        }
        let axes = match parent {
            Some(parent) => columns(globals, parent),
            None => [Vec3::x(), Vec3::y(), Vec3::z()],
        };
        for (to, axis) in self.space.iter_mut().zip(axes) {
            put(to, lane, axis.into());
        }
        let (block, own) = (joint.index() / LANES, joint.index() % LANES);
        let parts = &pose.blocks()[block].rotation;
        put(
            &mut self.rotation,
            lane,
            parts.each_ref().map(|part| part[own]),
        );
    }
}

/// Turns the joint of all eight.
///
/// * `axes`: forward and up, in its own space.
#[inline(always)]
fn turn<S: Simd>(simd: S, eight: &mut Eight, axes: [[f32; 3]; 2]) {
    let rows = load_three(simd, &eight.rows);
    let [forward, up] = axes.map(|axis| axis.map(|part| lanes::splat(simd, part)));
    let view = [
        dot(rows[0], forward),
        dot(rows[1], forward),
        dot(rows[2], forward),
    ];
    let up = [dot(rows[0], up), dot(rows[1], up), dot(rows[2], up)];
    let way = sub(
        lanes::load_all(simd, &eight.target),
        lanes::load_all(simd, &eight.joint),
    );
    let pole = lanes::load_all(simd, &eight.pole);
    let (turn, is_usual) = gaze([view, up], way, dot(way, way), pole);
    let (space, is_even) = even_axes(load_three(simd, &eight.space));
    let two = lanes::splat(simd, 2.0);
    let rotation = lanes::load_all(simd, &eight.rotation);
    let rotation = turned(space, turn, two * turn.w.sqrt(), rotation);
    store_all(rotation, &mut eight.rotation);
    let (one, zero) = (lanes::splat(simd, 1.0), lanes::splat(simd, 0.0));
    let is_usual = is_usual & is_even;
    lanes::store(is_usual.select(one, zero), &mut eight.is_usual);
}
