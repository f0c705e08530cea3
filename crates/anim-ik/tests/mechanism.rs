//! Mechanisms: forward kinematics, steps between configurations, limits, and poses to and from.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use std::f64::consts::PI;

use anim_ik::{Configuration, Frames, IkError, Mechanism, MechanismJoint};
use anim_math::nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use anim_math::random::Random;
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointLimit, JointLimitSpec, JointSpec, Pose, Skeleton, Swing};

fn limits() -> Vec<JointLimit> {
    let (axis, about) = (Vec3::new(0.6, 0.0, 0.8), Vec3::y());
    let ellipse = Swing::Ellipse {
        about,
        angles: [0.6, 1.3],
    };
    let cone = Swing::Cone { angle: 1.1 };
    let free = Swing::Cone {
        angle: std::f32::consts::PI,
    };
    [
        JointLimitSpec::Free,
        JointLimitSpec::Ball {
            axis,
            swing: ellipse,
            twist: [-0.4, 0.9],
        },
        JointLimitSpec::Hinge {
            axis,
            range: [-0.2, 2.1],
        },
        JointLimitSpec::Universal { axis, swing: cone },
        JointLimitSpec::Prismatic {
            axis,
            range: [-0.1, 0.3],
        },
        JointLimitSpec::Fixed,
        JointLimitSpec::Ball {
            axis,
            swing: free,
            twist: [-3.2, 3.2],
        },
        JointLimitSpec::Hinge {
            axis,
            range: [2.0, 4.5],
        },
        JointLimitSpec::Universal {
            axis,
            swing: ellipse,
        },
    ]
    .into_iter()
    .map(|spec| JointLimit::new(spec).unwrap())
    .collect()
}

fn placement(random: &mut Random) -> Isometry3<f64> {
    let turn = random.on_sphere().cast::<f64>() * f64::from(random.range(0.0, 3.0));
    Isometry3::from_parts(
        Translation3::from(random.in_ball().cast::<f64>()),
        UnitQuaternion::new(turn),
    )
}

/// A branching tree of all kinds of joints.
fn tree() -> Mechanism {
    let mut random = Random::new(1, 0, 0);
    let joints = limits().into_iter().cycle().take(24).enumerate();
    let joints = joints.map(|(joint, limit)| {
        let parent = joint.checked_sub(1 + joint % 3);
        MechanismJoint::new(parent, placement(&mut random), limit)
    });
    Mechanism::new(joints.collect()).unwrap()
}

#[test]
fn steps_and_differences_undo_each_other_up_to_half_a_turn() {
    let tree = tree();
    let (mut from, mut to) = (tree.rest(), tree.rest());
    for n in 0..200 {
        let mut random = Random::new(2, n, 0);
        tree.randomize(&mut random, &mut from);
        let length = [1e-9, 0.1, 2.0, PI - 1e-6][n as usize % 4];
        // Three numbers are a vector at most this long, so that every rotation is.
        let step: Vec<f64> = (0..tree.dof())
            .map(|_| f64::from(random.range(-1.0, 1.0)) * length / 3_f64.sqrt())
            .collect();
        from.integrate(&tree, &step, &mut to);
        let mut back = vec![0.0; tree.dof()];
        from.difference(&tree, &to, &mut back);
        for (a, b) in step.iter().zip(&back) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn a_rotation_just_short_of_half_a_turn_comes_back_whole() {
    let ball = Mechanism::new(vec![MechanismJoint::new(
        None,
        Isometry3::identity(),
        limits()[6],
    )])
    .unwrap();
    let (from, mut to) = (ball.rest(), ball.rest());
    for n in 0..100 {
        let axis = Random::new(3, n, 0).on_sphere().cast::<f64>().normalize();
        let step = axis * (PI - 1e-6);
        from.integrate(&ball, step.as_slice(), &mut to);
        let mut back = [0.0; 3];
        from.difference(&ball, &to, &mut back);
        assert!((Vector3::from(back) - step).norm() < 1e-12);
    }
}

#[test]
fn a_long_chain_is_the_product_of_its_matrices() {
    let limits = limits();
    let mut random = Random::new(4, 0, 0);
    let joints = (0..1000usize).map(|joint| {
        let mut rest = placement(&mut random);
        rest.translation.vector *= 1e-3;
        MechanismJoint::new(joint.checked_sub(1), rest, limits[joint % limits.len()])
    });
    let chain = Mechanism::new(joints.collect()).unwrap();
    let mut configuration = chain.rest();
    chain.randomize(&mut random, &mut configuration);
    let mut frames = Frames::new(&chain);
    chain.forward(&configuration, &mut frames);
    // Each joint on its own is its motion: put it on a chain of one.
    let mut product = anim_math::nalgebra::Matrix4::identity();
    for (joint, value) in chain.joints().iter().zip(configuration.values()) {
        let spec = MechanismJoint {
            parent: None,
            ..joint.clone()
        };
        let alone = Mechanism::new(vec![spec]).unwrap();
        let mut at = alone.rest();
        at.values_mut()[0] = *value;
        let mut frame = Frames::new(&alone);
        alone.forward(&at, &mut frame);
        product *= frame.get(0).to_homogeneous();
    }
    assert!((frames.get(999).to_homogeneous() - product).amax() < 1e-12);
}

#[test]
fn random_configurations_are_within_limits_and_clamping_keeps_them() {
    let tree = tree();
    let mut configuration = tree.rest();
    for n in 0..500 {
        tree.randomize(&mut Random::new(5, n, 0), &mut configuration);
        assert!(tree.is_within(&configuration));
        let before = configuration.clone();
        assert!(!tree.clamp(&mut configuration));
        assert_eq!(configuration, before);
        // Any step, clamped, is within limits again, and clamping again changes nothing.
        let mut moved = configuration.clone();
        let step: Vec<f64> = (0..tree.dof())
            .map(|dof| libm::sin((dof as f64 + 1.0) * (n as f64 + 2.0)) * 1.7)
            .collect();
        configuration.integrate(&tree, &step, &mut moved);
        tree.clamp(&mut moved);
        assert!(tree.is_within(&moved));
    }
}

#[test]
fn parents_come_first_and_frames_are_finite() {
    let joint = |parent, x: f64| {
        MechanismJoint::new(
            parent,
            Isometry3::translation(x, 0.0, 0.0),
            JointLimit::FREE,
        )
    };
    assert_eq!(
        Mechanism::new(vec![joint(None, 0.0), joint(Some(1), 0.0)]),
        Err(IkError::ParentOrder {
            joint: 1,
            parent: 1
        })
    );
    assert_eq!(
        Mechanism::new(vec![joint(None, f64::NAN)]),
        Err(IkError::NotFinite { joint: 0 })
    );
}

/// A root, a scaled spine, two arms.
fn skeleton(scale: f32) -> Skeleton {
    let mut random = Random::new(6, 0, 0);
    let bones =
        [None, Some(0), Some(1), Some(1), Some(2), Some(3), Some(4)].map(|parent| JointSpec {
            name: Some(format!("{parent:?}")),
            parent,
            rest: Transform {
                translation: random.in_ball(),
                rotation: quat::exp(random.on_sphere()),
                scale: Vec3::repeat(if parent == Some(0) { scale } else { 1.0 }),
            },
        });
    Skeleton::new(bones.into()).unwrap()
}

fn moved_pose(skeleton: &Skeleton, seed: u64) -> Pose {
    let mut random = Random::new(seed, 0, 0);
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        let turn = quat::exp(random.on_sphere() * 1.5);
        pose.set_rotation(joint, pose.rotation(joint) * turn);
    }
    pose.set_translation(skeleton.joint(0), random.in_ball());
    pose
}

fn assert_frames_are_globals(
    mechanism: &Mechanism,
    at: &Configuration,
    skeleton: &Skeleton,
    pose: &Pose,
) {
    let mut frames = Frames::new(mechanism);
    mechanism.forward(at, &mut frames);
    let mut globals = Globals::new(skeleton);
    skeleton.globals(pose, &mut globals);
    for joint in 0..mechanism.len() {
        let id = mechanism.skeleton_joint(joint).unwrap();
        assert_eq!(mechanism.joint_of(id), Some(joint));
        let expected = globals.get(id);
        let frame = frames.get(joint);
        let off = frame.translation.vector.cast::<f32>() - expected.translation;
        assert!(off.norm() < 1e-5, "joint {joint}: {off}");
        let turn = frame.rotation.to_rotation_matrix().matrix().cast::<f32>();
        let scale = expected.linear.column(0).norm();
        assert!((turn - expected.linear / scale).norm() < 1e-5);
    }
}

#[test]
fn frames_are_the_globals_of_the_pose_read_and_written() {
    for scale in [1.0, 2.5] {
        let skeleton = skeleton(scale);
        for root in [None, Some(skeleton.joint(1)), Some(skeleton.joint(3))] {
            let mechanism = Mechanism::from_skeleton(&skeleton, &[], root).unwrap();
            let pose = moved_pose(&skeleton, 7);
            let mut at = mechanism.rest();
            mechanism.read(&pose, &mut at);
            assert_frames_are_globals(&mechanism, &at, &skeleton, &pose);

            let mut written = moved_pose(&skeleton, 8);
            mechanism.read(&written, &mut at);
            mechanism.randomize(&mut Random::new(9, 0, 0), &mut at);
            mechanism.write(&at, &mut written);
            assert_frames_are_globals(&mechanism, &at, &skeleton, &written);
        }
    }
}

#[test]
fn joints_read_what_their_kind_can_do() {
    let skeleton = skeleton(1.0);
    let hinge = JointLimitSpec::Hinge {
        axis: Vec3::x(),
        range: [2.0, 4.5],
    };
    let mut limits = vec![JointLimit::FREE; skeleton.len()];
    limits[2] = JointLimit::new(hinge).unwrap();
    let mechanism = Mechanism::from_skeleton(&skeleton, &limits, None).unwrap();
    assert_eq!(mechanism.dof(), 6 + 1 + 3 * 5);
    let mut pose = skeleton.rest().clone();
    let joint = mechanism.skeleton_joint(2).unwrap();
    let bent = pose.rotation(joint) * quat::from_axis_angle(Vec3::x(), -3.0);
    pose.set_rotation(joint, bent);
    let mut at = mechanism.rest();
    mechanism.read(&pose, &mut at);
    let anim_ik::JointValue::Angle(angle) = at.values()[2] else {
        panic!()
    };
    // The turn that lies in the range.
    assert!((angle - (2.0 * PI - 3.0)).abs() < 1e-6);
    assert!(matches!(
        Mechanism::from_skeleton(&skeleton, &limits[1..], None),
        Err(IkError::Count {
            found: 6,
            expected: 7,
            ..
        })
    ));
}
