//! Forward kinematics against f64 matrices and against itself.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::lanes::Level;
use anim_math::nalgebra::{Matrix4, UnitQuaternion, Vector3};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};
use common::{Random, bits, human, random_joints};

/// T · R · S in f64.
fn matrix(transform: Transform) -> Matrix4<f64> {
    let rotation = UnitQuaternion::new_normalize(transform.rotation.into_inner().cast::<f64>());
    let scale: Vector3<f64> = transform.scale.cast();
    let translation: Vector3<f64> = transform.translation.cast();
    Matrix4::new_translation(&translation)
        * rotation.to_homogeneous()
        * Matrix4::new_nonuniform_scaling(&scale)
}

/// The largest difference from products of f64 matrices, relative to the size of the matrix.
fn error(skeleton: &Skeleton, pose: &Pose, globals: &Globals) -> f64 {
    let mut exact: Vec<Matrix4<f64>> = Vec::new();
    let mut worst = 0.0_f64;
    for joint in skeleton.joints() {
        let local = matrix(pose.get(joint));
        let parent = skeleton.parent(joint).map(|parent| exact[parent.index()]);
        let model_from_joint = parent.unwrap_or_else(Matrix4::identity) * local;
        let found: Matrix4<f64> = globals.get(joint).to_mat4().cast();
        worst = worst.max((found - model_from_joint).norm() / model_from_joint.norm());
        exact.push(model_from_joint);
    }
    worst
}

#[test]
fn globals_agree_with_products_of_f64_matrices() {
    for (seed, count) in [1, 2, 7, 8, 9, 60, 200].into_iter().enumerate() {
        let skeleton = Skeleton::new(random_joints(count, &mut Random(seed as u64))).unwrap();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        // A few roundings a joint and a chain of about ten; cancellation may cost a digit.
        assert!(error(&skeleton, skeleton.rest(), &globals) < 1e-5);
    }
}

#[test]
fn a_rotation_under_a_stretch_shears() {
    let joint = |parent, scale, angle| JointSpec {
        name: None,
        parent,
        rest: Transform {
            rotation: quat::from_axis_angle(Vec3::z(), angle),
            scale,
            ..Transform::IDENTITY
        },
    };
    let eighth = std::f32::consts::FRAC_PI_4;
    let one = Vec3::new(1.0, 1.0, 1.0);
    let joints = vec![
        joint(None, Vec3::new(2.0, 1.0, 1.0), 0.0),
        joint(Some(0), one, eighth),
    ];
    let skeleton = Skeleton::new(joints).unwrap();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let linear = globals.get(skeleton.joint(1)).linear;
    let half = std::f32::consts::FRAC_1_SQRT_2;
    assert!((linear.column(0) - Vec3::new(2.0 * half, half, 0.0)).norm() < 1e-6);
    assert!((linear.column(1) - Vec3::new(-2.0 * half, half, 0.0)).norm() < 1e-6);
    assert!(linear.column(0).dot(&linear.column(1)).abs() > 1.0);
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let skeleton = Skeleton::new(random_joints(77, &mut Random(5))).unwrap();
    let (mut best, mut baseline) = (Globals::new(&skeleton), Globals::new(&skeleton));
    skeleton.globals_on(Level::new(), skeleton.rest(), &mut best);
    skeleton.globals_on(Level::baseline(), skeleton.rest(), &mut baseline);
    assert_eq!(bits(&best), bits(&baseline));
}

#[test]
fn updating_below_a_joint_gives_the_bits_of_a_full_pass() {
    let mut random = Random(9);
    for joints in [human(60), random_joints(100, &mut Random(8))] {
        let skeleton = Skeleton::new(joints).unwrap();
        let mut pose = skeleton.rest().clone();
        let mut partial = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut partial);
        for joint in skeleton.joints() {
            pose.set_rotation(joint, random.rotation());
            skeleton.globals_below(joint, &pose, &mut partial);
            let mut full = Globals::new(&skeleton);
            skeleton.globals(&pose, &mut full);
            assert_eq!(bits(&partial), bits(&full));
        }
    }
}

#[test]
fn updating_below_a_joint_leaves_others_alone() {
    let skeleton = Skeleton::new(random_joints(50, &mut Random(3))).unwrap();
    for joint in skeleton.joints() {
        let mut globals = Globals::new(&skeleton);
        let untouched = globals.clone();
        skeleton.globals_below(joint, skeleton.rest(), &mut globals);
        for other in skeleton.joints() {
            let is_touched = globals.get(other) != untouched.get(other);
            assert_eq!(
                is_touched,
                other == joint || skeleton.is_below(other, joint)
            );
        }
    }
}
