//! A limb to solve, for the tests of the two-bone solver.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]
#![allow(dead_code, reason = "each test binary uses its own part")]

use anim_ik::{BendPlane, Outcome, TwoBone, TwoBoneGoal};
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};

/// A posed limb whose last three joints are the chain.
pub(crate) struct Limb {
    pub(crate) skeleton: Skeleton,
    pub(crate) solver: TwoBone,
    pub(crate) pose: Pose,
    pub(crate) globals: Globals,
}

impl Limb {
    pub(crate) fn new(locals: &[Transform]) -> Self {
        let joints = locals.iter().enumerate().map(|(n, rest)| JointSpec {
            name: None,
            parent: n.checked_sub(1),
            rest: *rest,
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let solver = TwoBone::new(&skeleton, skeleton.joint(locals.len() - 1)).unwrap();
        let pose = skeleton.rest().clone();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        Self {
            skeleton,
            solver,
            pose,
            globals,
        }
    }

    /// Bones of lengths `l1`, `l2` along x from the origin, the second turned by `bend` about z.
    pub(crate) fn planar(l1: f32, l2: f32, bend: f32) -> Self {
        let turned = Transform {
            translation: Vec3::x() * l1,
            rotation: quat::from_axis_angle(Vec3::z(), bend),
            ..Transform::IDENTITY
        };
        Self::new(&[
            Transform::IDENTITY,
            turned,
            Transform::from_translation(Vec3::x() * l2),
        ])
    }

    pub(crate) fn solve(&mut self, goal: &TwoBoneGoal) -> Outcome {
        self.solver
            .solve(&self.skeleton, goal, &mut self.pose, &mut self.globals)
    }

    pub(crate) fn solve_steadily(&mut self, goal: &TwoBoneGoal, plane: &mut BendPlane) -> Outcome {
        self.solver.solve_steadily(
            &self.skeleton,
            goal,
            plane,
            &mut self.pose,
            &mut self.globals,
        )
    }

    pub(crate) fn reach(&mut self, target: Vec3) -> Outcome {
        self.solve(&TwoBoneGoal::new(target))
    }

    pub(crate) fn positions(&self) -> [Vec3; 3] {
        [self.solver.root, self.solver.mid, self.solver.end]
            .map(|j| self.globals.get(j).translation)
    }

    pub(crate) fn lengths(&self) -> [f32; 2] {
        let [a, b, c] = self.positions();
        [(b - a).norm(), (c - b).norm()]
    }

    pub(crate) fn knee_interior(&self) -> f32 {
        let [a, b, c] = self.positions();
        angle(a - b, c - b)
    }

    pub(crate) fn rotations(&self) -> [Quat; 2] {
        [self.solver.root, self.solver.mid].map(|j| self.pose.rotation(j))
    }

    pub(crate) fn check_globals_agree(&self) {
        let mut fresh = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.pose, &mut fresh);
        assert_eq!(fresh, self.globals);
    }
}

/// The angle between two directions, rad.
pub(crate) fn angle(a: Vec3, b: Vec3) -> f32 {
    a.cross(&b).norm().atan2(a.dot(&b))
}
