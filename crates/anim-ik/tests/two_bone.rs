//! Known answers of the two-bone solver.

mod limb;

use anim_ik::{IkError, TwoBone, TwoBoneGoal};
use anim_math::random::Random;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Skeleton};
use limb::{Limb, angle};

#[test]
fn distances_from_folded_to_straight_give_the_known_angles() {
    // Target distance, knee interior, hip to target (degrees), distance left; bones of 3 and 2.
    let cases = [
        (5.0, 180.0, 0.0, 0.0),
        (5.001, 180.0, 0.0, 0.001),
        (6.0, 180.0, 0.0, 1.0),
        (4.0, 104.477_51, 28.955_024, 0.0),
        (1.0, 0.0, 0.0, 0.0),
        (1.0001, 0.330_806, 0.661_557, 0.0),
        (0.5, 0.0, 0.0, 0.5),
        (0.0, 0.0, 0.0, 1.0),
        (3.605_551, 90.0, 33.690_068, 0.0),
    ];
    let directions = [
        Vec3::x(),
        -Vec3::x(),
        Vec3::y(),
        -Vec3::z(),
        Vec3::new(2.0, -1.0, 2.0) / 3.0,
    ];
    for (distance, knee, hip, left) in cases {
        for start in [0.0, 1.0, -2.0, std::f32::consts::PI] {
            for pole in [None, Some(Vec3::new(0.0, 7.0, 1.0)), Some(Vec3::x())] {
                for direction in directions {
                    let mut limb = Limb::planar(3.0, 2.0, start);
                    let target = direction * distance;
                    let outcome = limb.solve(&TwoBoneGoal {
                        pole,
                        ..TwoBoneGoal::new(target)
                    });
                    let case = format!(
                        "{distance} from {start} to {direction:?} pole {pole:?}: {outcome:?}"
                    );
                    // Ends are within 1e-5 of the limb's length; where the limb is nearly straight or folded, an
                    // error of eps in its length is one of its root in the angle: 0.06 degrees.
                    assert!((outcome.residual - left).abs() < 1e-5 * 5.0, "{case}");
                    assert_eq!(outcome.reached, left == 0.0, "{case}");
                    assert!(
                        (limb.knee_interior().to_degrees() - knee).abs() < 0.06,
                        "{case}"
                    );
                    let [a, b, c] = limb.positions();
                    let hip_to_target = if distance > 0.0 {
                        angle(b - a, target)
                    } else {
                        angle(b - a, c - a)
                    };
                    assert!((hip_to_target.to_degrees() - hip).abs() < 0.06, "{case}");
                    let [l1, l2] = limb.lengths();
                    assert!((l1 - 3.0).abs() < 3e-6 && (l2 - 2.0).abs() < 3e-6, "{case}");
                    limb.check_globals_agree();
                }
            }
        }
    }
}

#[test]
fn three_four_five_bends_by_a_right_angle_on_the_side_of_the_pose() {
    for side in [1.0, -1.0] {
        let mut limb = Limb::planar(3.0, 4.0, 0.5 * side);
        assert!(limb.reach(Vec3::new(5.0, 0.0, 0.0)).reached);
        let [_, elbow, _] = limb.positions();
        assert!(
            (elbow - Vec3::new(1.8, -2.4 * side, 0.0)).norm() < 5e-6,
            "{elbow}"
        );
        let [root, mid] = limb.rotations().map(quat::log);
        assert!((root.z - -0.927_295_2 * side).abs() < 2e-6);
        assert!((mid.z - std::f32::consts::FRAC_PI_2 * side).abs() < 2e-6);
    }
}

#[test]
fn equal_bones_close_on_their_own_root() {
    let mut limb = Limb::planar(1.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::zeros());
    assert!(outcome.reached && limb.pose.is_finite(), "{outcome:?}");
}

#[test]
fn out_of_reach_is_straight_and_too_near_is_folded() {
    let mut limb = Limb::planar(1.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::new(3.0, 0.0, 0.0));
    assert!(!outcome.reached && (outcome.residual - 1.0).abs() < 1e-6);
    assert!((limb.positions()[2] - Vec3::new(2.0, 0.0, 0.0)).norm() < 1e-6);
    let mut limb = Limb::planar(3.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::new(1.0, 0.0, 0.0));
    assert!(!outcome.reached && (outcome.residual - 1.0).abs() < 2e-6);
    assert!((limb.positions()[2] - Vec3::new(2.0, 0.0, 0.0)).norm() < 2e-6);
}

#[test]
fn the_middle_goes_toward_the_pole() {
    let mut random = Random::new(3, 0, 0);
    for _ in 0..1000 {
        let mut limb = Limb::planar(1.0, 0.8, random.range(-2.0, 2.0));
        let target = random.on_sphere() * random.range(0.4, 1.6);
        let pole = random.on_sphere() * 3.0;
        let outcome = limb.solve(&TwoBoneGoal {
            pole: Some(pole),
            ..TwoBoneGoal::new(target)
        });
        assert!(outcome.reached);
        let line = target.normalize();
        let beside = |v: Vec3| v - line * line.dot(&v);
        let off = beside(limb.positions()[1]);
        assert!(angle(off, beside(pole)) < 1e-4, "{off} {pole}");
    }
}

#[test]
fn a_straight_limb_bends_where_its_rest_pose_bends() {
    let mut limb = Limb::planar(1.0, 1.0, 0.4);
    limb.pose.set_rotation(limb.solver.mid, Quat::identity());
    limb.skeleton.globals(&limb.pose, &mut limb.globals);
    limb.reach(Vec3::new(1.2, 0.0, 0.0));
    // Rest bends the lower bone toward +y, so the middle goes toward −y.
    let [_, mid, _] = limb.positions();
    assert!((mid - Vec3::new(0.6, -0.8, 0.0)).norm() < 3e-6, "{mid}");
}

#[test]
fn a_limb_that_rests_straight_bends_its_middle_toward_z() {
    let leg = |x: f32, y: f32, z: f32| {
        let bone = Transform::from_translation(Vec3::new(x, y, z));
        Limb::new(&[Transform::IDENTITY, bone, bone])
    };
    let mut hanging = leg(0.0, -1.0, 0.0);
    hanging.reach(Vec3::new(0.0, -1.0, 0.0));
    assert!(hanging.positions()[1].z > 0.8);
    let mut forward = leg(0.0, 0.0, 1.0);
    forward.reach(Vec3::new(0.0, 0.0, 1.0));
    assert!(forward.positions()[1].y > 0.8);
}

#[test]
fn a_target_already_reached_moves_nothing() {
    let mut random = Random::new(4, 0, 0);
    for _ in 0..500 {
        let mut limb = Limb::planar(1.0, 0.7, random.range(0.1, 3.0));
        let twist = quat::from_axis_angle(Vec3::x(), random.range(-3.0, 3.0));
        limb.pose
            .set_rotation(limb.solver.root, quat::exp(random.on_sphere()) * twist);
        limb.skeleton.globals(&limb.pose, &mut limb.globals);
        let before = limb.rotations();
        limb.reach(limb.positions()[2]);
        for (before, after) in before.into_iter().zip(limb.rotations()) {
            // Close to folded, rounding of 1e-7 in the distance is 1e-3 of an angle at most.
            assert!(quat::angle_between(before, after) < 1e-3);
        }
    }
}

#[test]
fn bones_do_not_twist_when_the_target_stays_in_plane() {
    let mut limb = Limb::planar(1.0, 0.8, 0.7);
    let tilt = quat::exp(Vec3::new(0.4, -0.3, 0.8));
    limb.pose.set_rotation(limb.solver.root, tilt);
    limb.skeleton.globals(&limb.pose, &mut limb.globals);
    let [root, mid] = limb.rotations();
    limb.reach(tilt * Vec3::new(0.3, -0.9, 0.0));
    let [root_after, mid_after] = limb.rotations();
    for delta in [root.inverse() * root_after, mid.inverse() * mid_after] {
        let turn = quat::log(delta);
        assert!(turn.xy().norm() < 1e-5, "about the hinge only: {turn}");
    }
}

#[test]
fn weight_zero_and_wild_goals_leave_every_bit() {
    let wild = [
        TwoBoneGoal {
            weight: 0.0,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal {
            weight: f32::NAN,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal {
            softness: f32::NAN,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal::new(Vec3::new(f32::NAN, 0.0, 0.0)),
        TwoBoneGoal::new(Vec3::new(0.0, f32::INFINITY, 0.0)),
    ];
    for goal in wild {
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        let before = (limb.pose.clone(), limb.globals.clone());
        let outcome = limb.solve(&goal);
        assert!(!outcome.reached && outcome.iterations == 0);
        assert_eq!((limb.pose, limb.globals), before);
    }
}

#[test]
fn a_rotation_goal_turns_the_end_in_model_space() {
    let wanted = quat::exp(Vec3::new(1.0, -2.0, 0.5));
    for scale in [Vec3::repeat(1.0), Vec3::new(-2.0, 2.0, 2.0)] {
        let body = Transform {
            rotation: quat::exp(Vec3::new(0.2, 0.9, -0.4)),
            scale,
            ..Transform::IDENTITY
        };
        let bone = |bend| Transform {
            translation: Vec3::x(),
            rotation: quat::exp(Vec3::new(0.1, 0.0, bend)),
            ..Transform::IDENTITY
        };
        let mut limb = Limb::new(&[body, bone(0.2), bone(0.5), bone(0.1)]);
        let target = limb.positions()[0] + Vec3::new(0.7, 0.5, -0.6);
        let outcome = limb.solve(&TwoBoneGoal {
            rotation: Some(wanted),
            ..TwoBoneGoal::new(target)
        });
        assert!(outcome.reached, "{outcome:?}");
        let end = limb.globals.get(limb.solver.end).to_transform();
        assert!(quat::angle_between(end.rotation, wanted) < 3e-6);
        limb.check_globals_agree();
    }
}

#[test]
fn bones_without_length_point_as_well_as_they_can() {
    for (l1, l2) in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
        let mut limb = Limb::planar(l1, l2, 0.4);
        let outcome = limb.solve(&TwoBoneGoal {
            pole: Some(Vec3::z()),
            ..TwoBoneGoal::new(Vec3::y() * 2.0)
        });
        assert!(limb.pose.is_finite());
        assert!((outcome.residual - (2.0 - l1 - l2)).abs() < 1e-6);
    }
}

#[test]
fn siblings_stay_and_everything_below_follows() {
    let bone = |parent, y: f32| JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::new(0.0, y, 0.1)),
    };
    let joints = vec![
        bone(None, 1.0),
        bone(Some(0), -0.5),
        bone(Some(1), -0.5),
        bone(Some(2), -0.1),
        bone(None, 3.0),
    ];
    let skeleton = Skeleton::new(joints).unwrap();
    let leg = TwoBone::new(&skeleton, skeleton.joint(2)).unwrap();
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut globals);
    let other = globals.get(skeleton.joint(4));
    assert!(
        leg.solve(
            &skeleton,
            &TwoBoneGoal::new(Vec3::new(0.3, 0.4, 0.2)),
            &mut pose,
            &mut globals
        )
        .reached
    );
    assert_eq!(globals.get(skeleton.joint(4)), other);
    let mut fresh = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut fresh);
    assert_eq!(globals, fresh);
}

#[test]
fn joints_that_make_no_limb_are_refused() {
    let limb = Limb::planar(1.0, 1.0, 0.1);
    let [a, b, c] = [0, 1, 2].map(|n| limb.skeleton.joint(n));
    assert_eq!(
        TwoBone::new(&limb.skeleton, b),
        Err(IkError::NoParents { joint: 1 })
    );
    assert_eq!(
        TwoBone::of(&limb.skeleton, b, a, c),
        Err(IkError::NotBelow {
            joint: 0,
            ancestor: 1
        })
    );
    assert_eq!(
        TwoBone::of(&limb.skeleton, a, b, b),
        Err(IkError::NotBelow {
            joint: 1,
            ancestor: 1
        })
    );
    let short = Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    }])
    .unwrap();
    assert_eq!(TwoBone::new(&short, c), Err(IkError::NoJoint { joint: 2 }));
}
