//! What holds for the solvers of many joints that turn along: spines that look, tails on curves.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

use std::f32::consts::{FRAC_PI_2, PI};

use anim_curves::{BSpline, Bezier};
use anim_ik::{
    IkError, LookAt, LookAtGoal, Outcome, SpineJoint, SpineLook, SplineGoal, SplineIk, SplinePath,
};
use anim_math::random::Random;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};

/// A chain of joints, each `bone` from the one before and turned at random by up to `turn`, rad.
struct Chain {
    skeleton: Skeleton,
    pose: Pose,
    globals: Globals,
}

impl Chain {
    fn new(joints: usize, bone: Vec3, turn: f32, random: &mut Random) -> Self {
        let joint = |n: usize| JointSpec {
            name: None,
            parent: n.checked_sub(1),
            rest: Transform {
                translation: bone,
                rotation: quat::exp(random.on_sphere() * turn),
                ..Transform::IDENTITY
            },
        };
        let skeleton = Skeleton::new((0..joints).map(joint).collect()).unwrap();
        let (pose, globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
        let mut chain = Self {
            skeleton,
            pose,
            globals,
        };
        chain.skeleton.globals(&chain.pose, &mut chain.globals);
        chain
    }

    fn position(&self, joint: usize) -> Vec3 {
        self.globals.get(self.skeleton.joint(joint)).translation
    }

    fn rotation(&self, joint: usize) -> Quat {
        self.globals
            .get(self.skeleton.joint(joint))
            .to_transform()
            .rotation
    }

    fn look(&mut self, spine: &SpineLook, goal: &LookAtGoal) -> Outcome {
        spine.solve(&self.skeleton, goal, &mut self.pose, &mut self.globals)
    }

    fn lay(&mut self, path: &SplinePath, goal: &SplineGoal) -> Outcome {
        let last = self.skeleton.joint(self.skeleton.len() - 1);
        let chain = SplineIk::new(&self.skeleton, self.skeleton.joint(0), last).unwrap();
        chain.solve(
            &self.skeleton,
            path,
            goal,
            &mut self.pose,
            &mut self.globals,
        )
    }

    fn check_globals_agree(&self) {
        let mut fresh = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.pose, &mut fresh);
        assert_eq!(fresh, self.globals);
    }
}

fn spine(chain: &Chain, shares: &[f32], limit: f32, head_limit: f32) -> SpineLook {
    let head = chain.skeleton.joint(shares.len());
    let joint = |(n, share): (usize, &f32)| SpineJoint {
        joint: chain.skeleton.joint(n),
        share: *share,
        limit,
    };
    let joints = shares.iter().enumerate().map(joint).collect();
    let head = LookAt::new(head, Vec3::z(), Vec3::y(), head_limit).unwrap();
    SpineLook::new(&chain.skeleton, joints, 1.0, head).unwrap()
}

#[test]
fn the_head_looks_exactly_however_the_turn_is_shared() {
    let mut random = Random::new(1, 0, 0);
    for _ in 0..3000 {
        let mut chain = Chain::new(4, Vec3::y() * 0.2, 0.3, &mut random);
        let shares: [f32; 3] = std::array::from_fn(|_| random.uniform());
        let spine = spine(&chain, &shares, PI, PI);
        let goal = LookAtGoal::new(random.on_sphere() * 3.0);
        let outcome = chain.look(&spine, &goal);
        assert!(outcome.reached, "{outcome:?}");
        chain.check_globals_agree();
        let view = (goal.target - chain.position(3)).normalize();
        if view.y.abs() < 0.97 {
            let up = chain.rotation(3) * Vec3::y();
            assert!(up.dot(&view.cross(&Vec3::y()).normalize()).abs() < 1e-5 && up.y > 0.0);
        }
    }
}

#[test]
fn a_turn_about_the_spine_is_shared_as_asked() {
    let mut random = Random::new(2, 0, 0);
    let mut chain = Chain::new(4, Vec3::y() * 0.2, 0.0, &mut random);
    let spine = spine(&chain, &[0.5, 1.0, 1.5], PI, PI);
    let goal = LookAtGoal::new(Vec3::new(3.0, 0.8, 0.0));
    assert!(chain.look(&spine, &goal).reached);
    for (joint, share) in [0.125, 0.25, 0.375, 0.25].into_iter().enumerate() {
        let turn = quat::log(chain.pose.rotation(chain.skeleton.joint(joint)));
        assert!(
            (turn - Vec3::y() * (share * FRAC_PI_2)).norm() < 1e-6,
            "{joint}: {turn}"
        );
    }
}

#[test]
fn stiff_joints_leave_their_turn_to_those_above_them() {
    let mut random = Random::new(3, 0, 0);
    let mut chain = Chain::new(4, Vec3::y() * 0.2, 0.0, &mut random);
    let goal = LookAtGoal::new(Vec3::new(3.0, 0.8, 0.0));
    let stiff = spine(&chain, &[1.0, 1.0, 1.0], 0.1, PI);
    assert!(chain.look(&stiff, &goal).reached);
    for joint in 0..3 {
        let turn = quat::log(chain.pose.rotation(chain.skeleton.joint(joint)));
        assert!((turn.norm() - 0.1).abs() < 1e-6);
    }
    // With a stiff head too, what is left is known.
    let mut chain = Chain::new(4, Vec3::y() * 0.2, 0.0, &mut random);
    let stiff = spine(&chain, &[1.0, 1.0, 1.0], 0.1, 0.2);
    let outcome = chain.look(&stiff, &goal);
    assert!(!outcome.reached && (outcome.residual - (FRAC_PI_2 - 0.5)).abs() < 2e-6);
}

#[test]
fn a_weight_scales_every_share_and_none_leaves_every_bit() {
    let mut random = Random::new(4, 0, 0);
    let mut chain = Chain::new(3, Vec3::y() * 0.2, 0.0, &mut random);
    let spine = spine(&chain, &[1.0, 2.0], PI, PI);
    let before = (chain.pose.clone(), chain.globals.clone());
    let goal = LookAtGoal::new(Vec3::new(3.0, 0.6, 0.0));
    for weight in [0.0, f32::NAN] {
        chain.look(&spine, &LookAtGoal { weight, ..goal });
    }
    chain.look(&spine, &LookAtGoal::new(Vec3::new(f32::NAN, 0.0, 0.0)));
    assert_eq!((&chain.pose, &chain.globals), (&before.0, &before.1));
    chain.look(
        &spine,
        &LookAtGoal {
            weight: 0.4,
            ..goal
        },
    );
    for (joint, share) in [0.25, 0.5, 0.25].into_iter().enumerate() {
        let turn = quat::log(chain.pose.rotation(chain.skeleton.joint(joint)));
        assert!((turn.y - 0.4 * share * FRAC_PI_2).abs() < 1e-6);
    }
}

#[test]
fn spines_that_are_none_are_refused() {
    let mut random = Random::new(5, 0, 0);
    let chain = Chain::new(3, Vec3::y(), 0.0, &mut random);
    let joint = |n| chain.skeleton.joint(n);
    let of = |joint, share, limit, head_share| {
        let head = LookAt::new(chain.skeleton.joint(1), Vec3::z(), Vec3::y(), 1.0).unwrap();
        let joints = vec![SpineJoint {
            joint,
            share,
            limit,
        }];
        SpineLook::new(&chain.skeleton, joints, head_share, head).map(|_| ())
    };
    assert_eq!(of(joint(0), 1.0, 1.0, 1.0), Ok(()));
    let not_below = IkError::NotBelow {
        joint: 1,
        ancestor: 2,
    };
    assert_eq!(of(joint(2), 1.0, 1.0, 1.0), Err(not_below));
    assert!(matches!(
        of(joint(0), -1.0, 1.0, 1.0),
        Err(IkError::Share { joint: 0, .. })
    ));
    assert!(matches!(
        of(joint(0), 1.0, f32::NAN, 1.0),
        Err(IkError::Limit { joint: 0, .. })
    ));
    assert!(matches!(
        of(joint(0), 1.0, 1.0, 0.0),
        Err(IkError::Share { joint: 1, .. })
    ));
}

fn wave() -> SplinePath {
    let controls = [
        [0.0, 0.0, 0.0],
        [1.0, 0.5, 0.0],
        [2.0, -1.0, 1.0],
        [3.0, 1.0, 0.5],
        [4.0, 0.0, 0.0],
    ];
    SplinePath::new(
        BSpline::clamped(controls.map(Vec3::from).to_vec()).unwrap(),
        1e-5,
    )
    .unwrap()
}

/// The distance from `point` to the path, from samples 1 mm apart.
fn off(path: &SplinePath, point: Vec3) -> f32 {
    let samples = (path.length() / 1e-3) as usize + 1000;
    (0..samples)
        .map(|n| (path.point(n as f32 * 1e-3) - point).norm())
        .fold(f32::MAX, f32::min)
}

#[test]
fn a_chain_lies_on_its_curve_and_keeps_its_lengths() {
    let mut random = Random::new(6, 0, 0);
    let path = wave();
    for _ in 0..20 {
        let mut chain = Chain::new(12, Vec3::new(0.1, 0.2, 0.1), 0.8, &mut random);
        let bone = Vec3::new(0.1, 0.2, 0.1).norm();
        chain.lay(&path, &SplineGoal::default());
        chain.check_globals_agree();
        for joint in 0..12 {
            assert!(off(&path, chain.position(joint)) < 1e-3);
            if joint > 0 {
                let length = (chain.position(joint) - chain.position(joint - 1)).norm();
                assert!((length - bone).abs() < 3e-6);
            }
        }
        assert!((chain.position(0) - path.point(0.0)).norm() < 1e-6);
    }
}

#[test]
fn a_stretched_chain_ends_where_its_curve_ends_however_often_it_is_solved() {
    let mut random = Random::new(7, 0, 0);
    let path = wave();
    let mut chain = Chain::new(20, Vec3::x() * 0.18, 0.3, &mut random);
    assert!(19.0 * 0.18 < path.length());
    assert!(!chain.lay(&path, &SplineGoal::default()).reached);
    let goal = SplineGoal {
        stretch: 2.0,
        ..SplineGoal::default()
    };
    for _ in 0..3 {
        assert!(chain.lay(&path, &goal).reached);
        let share = path.length() / 19.0;
        for joint in 1..20 {
            let length = (chain.position(joint) - chain.position(joint - 1)).norm();
            assert!(length < share * 1.000_1 && length > share * 0.98);
        }
    }
    // A stretch that does not suffice is used up, from rest and not from the last frame.
    let little = SplineGoal {
        stretch: 1.01,
        ..SplineGoal::default()
    };
    assert!(!chain.lay(&path, &little).reached);
    let length = (chain.position(8) - chain.position(7)).norm();
    assert!(length < 0.18 * 1.01 + 1e-5 && length > 0.18 * 0.98);
}

#[test]
fn a_straight_path_turns_every_bone_alike_and_rolls_are_shared_out() {
    let mut random = Random::new(8, 0, 0);
    let ends = [0.0, 1.0, 2.0, 3.0].map(|y| Vec3::y() * y);
    let path = SplinePath::new(BSpline::clamped(Bezier(ends).0.to_vec()).unwrap(), 1e-5).unwrap();
    let mut chain = Chain::new(6, Vec3::x() * 0.5, 0.0, &mut random);
    let goal = SplineGoal {
        roll: [0.5, 1.5],
        ..SplineGoal::default()
    };
    chain.lay(&path, &goal);
    // Longer than the path? No: 2.5 of 3 m; and beyond the end it goes on straight.
    for joint in 0..5 {
        let expected = 0.5 + joint as f32 / 4.0;
        let upright = quat::between(Vec3::x(), Vec3::y());
        let roll = quat::from_axis_angle(Vec3::y(), expected) * upright;
        assert!(
            quat::angle_between(chain.rotation(joint), roll) < 2e-6,
            "{joint}"
        );
    }
    let late = SplineGoal {
        start: 2.0,
        ..SplineGoal::default()
    };
    chain.lay(&path, &late);
    assert!((chain.position(5) - Vec3::y() * 4.5).norm() < 1e-5);
}

#[test]
fn bones_do_not_twist_along_a_curve() {
    let mut random = Random::new(9, 0, 0);
    let mut chain = Chain::new(30, Vec3::x() * 0.1, 0.0, &mut random);
    chain.lay(&wave(), &SplineGoal::default());
    for joint in 1..29 {
        // From bone to bone, the turn has no part about the bone.
        let turn = chain.pose.rotation(chain.skeleton.joint(joint));
        let (_, twist) = quat::swing_twist(turn, Vec3::x());
        assert!(quat::log(twist).norm() < 1e-5, "{joint}");
    }
}

#[test]
fn a_goal_that_is_not_finite_leaves_the_chain() {
    let mut random = Random::new(10, 0, 0);
    let mut chain = Chain::new(5, Vec3::x(), 0.5, &mut random);
    let before = chain.pose.clone();
    let goal = SplineGoal {
        start: f32::NAN,
        ..SplineGoal::default()
    };
    assert_eq!(chain.lay(&wave(), &goal).iterations, 0);
    assert_eq!(chain.pose, before);
}
