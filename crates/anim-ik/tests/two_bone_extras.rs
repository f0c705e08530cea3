//! What a limb can do besides reaching: stretch, remember its plane, weigh its rotation apart, come from a file; and limbs of
//! three bones.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

mod limb;

use anim_ik::{BendPlane, IkError, Outcome, ThreeBone, TwoBone, TwoBoneGoal};
use anim_math::random::Random;
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};
use limb::{Limb, angle};

fn stretched(target: Vec3, softness: f32) -> TwoBoneGoal {
    TwoBoneGoal {
        softness,
        stretch: 1.5,
        ..TwoBoneGoal::new(target)
    }
}

#[test]
fn stretching_reaches_up_to_its_factor_and_shares_it_by_length() {
    for softness in [0.0, 0.1] {
        let mut limb = Limb::planar(3.0, 2.0, 0.4);
        // Twice, since the first solve's lengths must not count for the second's.
        for _ in 0..2 {
            let outcome = limb.solve(&stretched(Vec3::new(0.0, 6.0, 0.0), softness));
            assert!(outcome.reached, "{outcome:?}");
            limb.check_globals_agree();
        }
        let [upper, lower] = limb.lengths();
        assert!((upper / lower - 1.5).abs() < 1e-5);
        let outcome = limb.solve(&stretched(Vec3::new(0.0, 9.0, 0.0), softness));
        assert!(!outcome.reached);
        let sum = limb.lengths().iter().sum::<f32>();
        assert!((sum - 7.5).abs() < 1e-5, "{sum}");
        if softness == 0.0 {
            assert!((outcome.residual - 1.5).abs() < 1e-5);
        }
        assert!(
            limb.solve(&stretched(Vec3::new(0.0, 4.0, 0.0), softness))
                .reached
        );
        let [upper, lower] = limb.lengths();
        assert!((upper - 3.0).abs() < 3e-6 && (lower - 2.0).abs() < 3e-6);
    }
}

#[test]
fn soft_stretching_moves_the_end_as_the_target_moves() {
    let mut before = Vec3::zeros();
    for n in 100..280 {
        let mut limb = Limb::planar(1.0, 1.0, 0.3);
        let target = Vec3::new(n as f32 * 0.01, 0.0, 0.0);
        limb.solve(&stretched(target, 0.1));
        let end = limb.positions()[2];
        assert!((end - target).norm() < 2e-5, "{n}: {end}");
        assert!(n == 100 || ((end - before).norm() - 0.01).abs() < 4e-5);
        before = end;
    }
}

#[test]
fn a_weight_of_one_half_stretches_by_half_the_factor() {
    let mut limb = Limb::planar(3.0, 2.0, 0.0);
    let goal = TwoBoneGoal {
        weight: 0.5,
        ..stretched(Vec3::new(6.0, 0.0, 0.0), 0.0)
    };
    limb.solve(&goal);
    assert!((limb.lengths()[0] - 3.0 * 1.1).abs() < 1e-5);
}

#[test]
fn without_stretch_bones_keep_their_bits() {
    let mut limb = Limb::planar(3.0, 2.0, 0.4);
    let translations = |limb: &Limb| [1, 2].map(|n| limb.pose.translation(limb.skeleton.joint(n)));
    let before = translations(&limb);
    limb.solve(&TwoBoneGoal {
        softness: 0.1,
        ..TwoBoneGoal::new(Vec3::new(9.0, 0.0, 1.0))
    });
    assert_eq!(translations(&limb), before);
}

#[test]
fn rotation_and_position_have_weights_of_their_own() {
    let wanted = quat::exp(Vec3::new(0.4, -1.0, 0.5));
    let target = Vec3::new(0.9, 0.8, -0.3);
    let goal = |weight, rotation_weight| TwoBoneGoal {
        rotation: Some(wanted),
        rotation_weight,
        weight,
        ..TwoBoneGoal::new(target)
    };
    let turn = |limb: &Limb| limb.globals.get(limb.solver.end).to_transform().rotation;
    let mut turned = Limb::planar(1.0, 0.8, 0.7);
    let before = (turned.rotations(), turn(&turned));
    let outcome = turned.solve(&goal(0.0, Some(0.5)));
    assert_eq!(turned.rotations(), before.0);
    assert_eq!(outcome.iterations, 1);
    let half = 0.5 * quat::angle_between(before.1, wanted);
    assert!((quat::angle_between(turn(&turned), wanted) - half).abs() < 1e-6);

    let mut moved = Limb::planar(1.0, 0.8, 0.7);
    let local = moved.pose.rotation(moved.solver.end);
    assert!(moved.solve(&goal(1.0, Some(0.0))).reached);
    assert_eq!(moved.pose.rotation(moved.solver.end), local);

    let mut both = Limb::planar(1.0, 0.8, 0.7);
    both.solve(&goal(1.0, None));
    assert!(quat::angle_between(turn(&both), wanted) < 2e-6);
}

/// The largest turn of either joint and of the plane from frame to frame, degrees, for a target that sweeps past the pole.
fn largest_jump(plane: Option<BendPlane>, beside: f32) -> f32 {
    let (mut plane, mut largest, mut before) = (plane, 0.0_f32, None);
    for n in -300..300 {
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        // The pole is straight above; the target passes below it, a quarter of a degree a frame.
        let (sine, cosine) = (n as f32 * 0.25_f32.to_radians()).sin_cos();
        let goal = TwoBoneGoal {
            pole: Some(Vec3::y() * 2.0),
            ..TwoBoneGoal::new(Vec3::new(sine, cosine, beside) * 1.2)
        };
        let outcome = match &mut plane {
            Some(plane) => limb.solve_steadily(&goal, plane),
            None => limb.solve(&goal),
        };
        assert!(outcome.reached, "{outcome:?}");
        if let Some(before) = before.replace(limb.rotations()) {
            for (a, b) in std::iter::zip(before, limb.rotations()) {
                largest = largest.max(quat::angle_between(a, b).to_degrees());
            }
        }
    }
    largest
}

#[test]
fn ozz_187_and_172_a_remembered_plane_does_not_flip_past_the_pole() {
    for beside in [0.0, 1e-4, -1e-3, 0.01] {
        assert!(largest_jump(None, beside) > 10.0);
        let jump = largest_jump(Some(BendPlane::default()), beside);
        assert!(jump < 10.0, "{beside}: {jump}");
    }
}

#[test]
fn a_remembered_plane_ends_where_the_pole_says_and_repeats_its_bits() {
    let goal = TwoBoneGoal {
        pole: Some(Vec3::new(0.0, 1.0, 2.0)),
        ..TwoBoneGoal::new(Vec3::new(1.2, 0.1, 0.0))
    };
    let settle = || {
        let mut plane = BendPlane {
            last: Some([Vec3::x(), Vec3::z()]),
            ..BendPlane::default()
        };
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        for _ in 0..30 {
            limb.solve_steadily(&goal, &mut plane);
        }
        (limb.pose.clone(), limb.positions(), plane)
    };
    let (pose, [_, mid, _], plane) = settle();
    assert_eq!((pose, plane), (settle().0, settle().2));
    let mut plain = Limb::planar(1.0, 0.8, 0.7);
    plain.solve(&goal);
    assert!((plain.positions()[1] - mid).norm() < 1e-5);
}

#[test]
fn a_plane_that_is_none_counts_as_none() {
    let goal = TwoBoneGoal::new(Vec3::new(1.2, 0.1, 0.3));
    let mut plain = Limb::planar(1.0, 0.8, 0.7);
    plain.solve(&goal);
    for wild in [f32::NAN, 0.0, 1e20] {
        let mut plane = BendPlane {
            last: Some([Vec3::repeat(wild); 2]),
            ..BendPlane::default()
        };
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        assert!(limb.solve_steadily(&goal, &mut plane).reached);
        assert!((limb.positions()[1] - plain.positions()[1]).norm() < 1e-5);
    }
}

#[test]
fn a_target_sweeping_out_along_x_moves_softly() {
    let mut before = None;
    for n in 100..=3000 {
        let mut limb = Limb::planar(1.0, 1.0, 0.3);
        limb.solve(&TwoBoneGoal {
            softness: 0.02,
            ..TwoBoneGoal::new(Vec3::new(n as f32 * 1e-3, 0.0, 0.0))
        });
        if let Some(before) = before.replace(limb.rotations()) {
            for (a, b) in std::iter::zip(before, limb.rotations()) {
                assert!(quat::angle_between(a, b) < 3_f32.to_radians(), "{n}");
            }
        }
    }
}

#[test]
fn fifty_thousand_random_reaches_hit_within_rounding() {
    let mut random = Random::new(11, 0, 0);
    let mut worst = 0.0_f32;
    let mut limb = Limb::planar(1.0, 0.7, 0.5);
    for _ in 0..50_000 {
        let distance = random.range(0.301, 1.699);
        let outcome = limb.reach(random.on_sphere() * distance);
        worst = worst.max(outcome.residual);
    }
    // Two rotations and their products: some thirty roundings of half an epsilon.
    assert!(worst < 16.0 * f32::EPSILON * 1.7, "{worst}");
}

#[test]
fn limbs_from_files_are_checked() {
    let limb = Limb::planar(1.0, 0.8, 0.7);
    let text = serde_json::to_string(&limb.solver).unwrap();
    assert_eq!(serde_json::from_str::<TwoBone>(&text).unwrap(), limb.solver);
    assert_eq!(limb.solver.check(&limb.skeleton), Ok(()));
    let good = serde_json::to_value(&limb.solver).unwrap();
    let edited = |key: &str, value: serde_json::Value| {
        let mut edited = good.clone();
        edited[key] = value;
        serde_json::from_value::<TwoBone>(edited)
    };
    assert!(edited("hinge", serde_json::json!([0.0, 0.0, 0.0])).is_err());
    assert!(edited("root", good["end"].clone()).is_err());
    let long = edited("hinge", serde_json::json!([0.0, 0.0, 5.0])).unwrap();
    assert_eq!(long.hinge, Vec3::z());
    let elsewhere = Limb::planar(1.0, 0.8, 0.7);
    let short = Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    }])
    .unwrap();
    assert_eq!(
        elsewhere.solver.check(&short),
        Err(IkError::NoJoint { joint: 1 })
    );
}

/// A hind leg that hangs down, knee forward and hock back.
struct Leg {
    skeleton: Skeleton,
    solver: ThreeBone,
    pose: Pose,
    globals: Globals,
}

const BONES: [Vec3; 3] = [
    Vec3::new(0.0, -0.3, 0.15),
    Vec3::new(0.0, -0.3, -0.2),
    Vec3::new(0.0, -0.25, 0.05),
];

impl Leg {
    fn new(bones: [Vec3; 3]) -> Self {
        let joint = |(n, at): (usize, Vec3)| JointSpec {
            name: None,
            parent: n.checked_sub(1),
            rest: Transform::from_translation(at),
        };
        let places = std::iter::once(Vec3::zeros()).chain(bones);
        let skeleton = Skeleton::new(places.enumerate().map(joint).collect()).unwrap();
        let solver = ThreeBone::new(&skeleton, skeleton.joint(3)).unwrap();
        let (pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
        skeleton.globals(&pose, &mut globals);
        Self {
            skeleton,
            solver,
            pose,
            globals,
        }
    }

    fn solve(&mut self, goal: &TwoBoneGoal) -> Outcome {
        self.solver
            .solve(&self.skeleton, goal, &mut self.pose, &mut self.globals)
    }

    fn positions(&self) -> [Vec3; 4] {
        [0, 1, 2, 3].map(|n| self.globals.get(self.skeleton.joint(n)).translation)
    }
}

#[test]
fn a_hind_leg_reaches_and_both_its_joints_keep_their_sense() {
    let mut random = Random::new(12, 0, 0);
    let length: f32 = BONES.iter().map(|bone| bone.norm()).sum();
    for _ in 0..20_000 {
        let mut leg = Leg::new(BONES);
        let target = random.on_sphere() * random.range(0.05, 0.999) * length;
        let outcome = leg.solve(&TwoBoneGoal::new(target));
        assert!(outcome.reached, "{target}: {outcome:?}");
        let [a, b, c, d] = leg.positions();
        for (bone, (from, to)) in BONES.iter().zip([(a, b), (b, c), (c, d)]) {
            assert!((bone.norm() - (to - from).norm()).abs() < 1e-6);
        }
        let knee = (b - a).cross(&(c - b));
        let hock = (c - b).cross(&(d - c));
        // Folded further, the shank passes the thigh.
        let is_open = target.norm() > 0.4 * length;
        assert!(
            !is_open || knee.dot(&hock) <= 1e-6,
            "{target}: the hock bends against the knee"
        );
    }
}

#[test]
fn a_hind_leg_on_its_target_stays_and_opens_evenly() {
    let mut leg = Leg::new(BONES);
    let [_, _, _, end] = leg.positions();
    assert!(leg.solve(&TwoBoneGoal::new(end)).reached);
    for (joint, rest) in leg
        .skeleton
        .joints()
        .map(|j| (j, leg.skeleton.rest().rotation(j)))
    {
        assert!(quat::angle_between(leg.pose.rotation(joint), rest) < 1e-5);
    }
    // Out of reach it is straight; the way there is smooth with softness.
    let mut before: Option<[f32; 2]> = None;
    for n in 60..120 {
        let mut leg = Leg::new(BONES);
        leg.solve(&TwoBoneGoal {
            softness: 0.05,
            ..TwoBoneGoal::new(-Vec3::y() * (n as f32 * 0.01))
        });
        let [a, b, c, d] = leg.positions();
        let bends = [angle(b - a, c - b), angle(c - b, d - c)];
        if let Some(before) = before {
            assert!(std::iter::zip(before, bends).all(|(a, b)| b <= a + 1e-4 && a - b < 0.12));
        }
        before = Some(bends);
    }
    let mut leg = Leg::new(BONES);
    let outcome = leg.solve(&TwoBoneGoal::new(-Vec3::y() * 2.0));
    let length: f32 = BONES.iter().map(|bone| bone.norm()).sum();
    assert!((outcome.residual - (2.0 - length)).abs() < 2e-6);
}

#[test]
fn a_hind_leg_that_rests_straight_bends_both_joints_and_folds_without_harm() {
    let bone = Vec3::new(0.0, -0.4, 0.0);
    let mut leg = Leg::new([bone; 3]);
    assert_eq!(leg.solver.share, 0.5);
    assert!(leg.solve(&TwoBoneGoal::new(-Vec3::y() * 0.9)).reached);
    for target in [Vec3::zeros(), Vec3::y() * 1e-4, Vec3::x() * 0.01] {
        let mut leg = Leg::new([bone; 3]);
        let outcome = leg.solve(&TwoBoneGoal::new(target));
        assert!(leg.pose.is_finite() && outcome.reached, "{outcome:?}");
    }
    let before = Leg::new(BONES);
    let mut leg = Leg::new(BONES);
    leg.solve(&TwoBoneGoal::new(Vec3::new(f32::NAN, 0.0, 0.0)));
    leg.solve(&TwoBoneGoal {
        weight: 0.0,
        ..TwoBoneGoal::new(Vec3::y())
    });
    assert_eq!(leg.pose, before.pose);
}

#[test]
fn half_weight_turns_each_joint_of_a_hind_leg_half_way() {
    let goal = TwoBoneGoal::new(Vec3::new(0.2, -0.5, 0.3));
    let (mut full, mut half) = (Leg::new(BONES), Leg::new(BONES));
    full.solve(&goal);
    half.solve(&TwoBoneGoal {
        weight: 0.5,
        ..goal
    });
    for joint in full.skeleton.joints() {
        let whole = quat::angle_between(
            full.skeleton.rest().rotation(joint),
            full.pose.rotation(joint),
        );
        let part = quat::angle_between(
            full.skeleton.rest().rotation(joint),
            half.pose.rotation(joint),
        );
        assert!((part - 0.5 * whole).abs() < 2e-6);
    }
}

#[test]
fn poses_that_are_not_finite_do_no_harm() {
    for wild in [f32::NAN, f32::INFINITY] {
        let goal = TwoBoneGoal {
            pole: Some(Vec3::repeat(wild)),
            softness: 0.1,
            ..stretched(Vec3::new(0.3, -0.4, 0.2), 0.1)
        };
        for joint in 0..3 {
            let mut limb = Limb::planar(1.0, 0.8, 0.7);
            let at = limb.skeleton.joint(joint);
            limb.pose.set_translation(at, Vec3::new(wild, 0.0, 0.0));
            limb.skeleton.globals(&limb.pose, &mut limb.globals);
            assert!(!limb.solve(&goal).reached);
            assert!(!limb.reach(goal.target).reached);
            let mut leg = Leg::new(BONES);
            let at = leg.skeleton.joint(joint + 1);
            leg.pose.set_translation(at, Vec3::new(wild, 0.0, 0.0));
            leg.skeleton.globals(&leg.pose, &mut leg.globals);
            assert!(!leg.solve(&goal).reached);
        }
    }
}
