//! Additive layers in model space: directions are kept, nothing stays nothing, and both sides are what they say.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Globals, JointSpec, Layer, Mode, Pose, Skeleton, add_in_model_space, blend, difference,
    difference_in_model_space,
};
use common::{Random, human};

fn turned_by(random: &mut Random, skeleton: &Skeleton) -> Pose {
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        let local = Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: Vec3::repeat(1.0) + random.vector() * 0.5,
        };
        pose.set(joint, local);
    }
    pose
}

fn taken(skeleton: &Skeleton, reference: &Pose, pose: &Pose) -> Pose {
    let (mut scratch, mut delta) = (pose.clone(), pose.clone());
    difference_in_model_space(skeleton, reference, pose, &mut scratch, &mut delta);
    delta
}

fn added(skeleton: &Skeleton, base: &Pose, layer: Layer<'_>) -> Pose {
    let (mut scratch, mut out) = (base.clone(), base.clone());
    add_in_model_space(skeleton, &layer, &mut scratch, &mut out);
    out
}

fn layer(pose: &Pose, weight: f32) -> Layer<'_> {
    Layer {
        pose,
        weight,
        mask: None,
        mode: Mode::Additive,
    }
}

fn apart(skeleton: &Skeleton, a: &Pose, b: &Pose) -> f32 {
    skeleton.joints().fold(0.0, |most: f32, joint| {
        let (a, b) = (Affine::from(a.get(joint)), Affine::from(b.get(joint)));
        let error = (a.linear - b.linear).norm() + (a.translation - b.translation).norm();
        most.max(error)
    })
}

/// Hips, spine and chest in a row, and the way the chest points in the model.
fn torso() -> Skeleton {
    let joint = |parent| JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::y()),
    };
    Skeleton::new(vec![joint(None), joint(Some(0)), joint(Some(1))]).unwrap()
}

fn pointing(skeleton: &Skeleton, pose: &Pose) -> Quat {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(pose, &mut globals);
    globals.get(skeleton.joint(2)).to_transform().rotation
}

#[test]
fn an_aim_offset_keeps_its_direction_when_the_hips_turn() {
    let skeleton = torso();
    let [spine, chest] = [1, 2].map(|joint| skeleton.joint(joint));
    let mut aim = skeleton.rest().clone();
    // 60 degrees to the left in two joints.
    aim.set_rotation(spine, quat::from_axis_angle(Vec3::y(), 0.4));
    aim.set_rotation(chest, quat::from_axis_angle(Vec3::y(), 0.6));
    let delta = taken(&skeleton, skeleton.rest(), &aim);
    let mut local_delta = aim.clone();
    difference(skeleton.rest(), &aim, &mut local_delta);
    let offset = quat::from_axis_angle(Vec3::y(), 1.0);
    let mut random = Random(4);
    for _ in 0..20 {
        let mut base = skeleton.rest().clone();
        for joint in skeleton.joints() {
            base.set_rotation(joint, random.rotation());
        }
        let wanted = offset * pointing(&skeleton, &base);
        let in_model = added(&skeleton, &base, layer(&delta, 1.0));
        assert!(quat::angle_between(pointing(&skeleton, &in_model), wanted) < 2e-6);
        // The hips, which do not aim, keep their bits.
        let hips = skeleton.joint(0);
        assert_eq!(in_model.get(hips), base.get(hips));
        let mut local = base.clone();
        let base = Layer {
            mode: Mode::Override,
            ..layer(&base, 1.0)
        };
        blend(
            skeleton.rest(),
            &[base, layer(&local_delta, 1.0)],
            &mut local,
        );
        assert!(quat::angle_between(pointing(&skeleton, &local), wanted) > 0.05);
    }
}

#[test]
fn a_difference_in_model_space_added_to_its_reference_gives_the_pose() {
    let mut random = Random(6);
    let skeleton = Skeleton::new(human(33)).unwrap();
    let [reference, pose] = [(); 2].map(|()| turned_by(&mut random, &skeleton));
    let out = added(
        &skeleton,
        &reference,
        layer(&taken(&skeleton, &reference, &pose), 1.0),
    );
    // Ten joints deep.
    assert!(apart(&skeleton, &out, &pose) < 1e-5);
}

#[test]
fn differences_of_nothing_and_weights_of_nothing_change_no_bit() {
    let mut random = Random(7);
    let skeleton = Skeleton::new(human(33)).unwrap();
    let [base, pose] = [(); 2].map(|()| turned_by(&mut random, &skeleton));
    let nothing = taken(&skeleton, &pose, &pose);
    assert_eq!(nothing, Pose::identity(33));
    assert_eq!(added(&skeleton, &base, layer(&nothing, 0.7)), base);
    let delta = taken(&skeleton, &base, &pose);
    for weight in [0.0, f32::NAN, f32::INFINITY] {
        assert_eq!(added(&skeleton, &base, layer(&delta, weight)), base);
    }
    let mask: Vec<_> = (0..33)
        .map(|joint| [0.0, -3.0, f32::NAN][joint % 3])
        .collect();
    let masked = Layer {
        mask: Some(&mask),
        ..layer(&delta, 1.0)
    };
    assert_eq!(added(&skeleton, &base, masked), base);
}

#[test]
fn in_model_space_too_a_negative_weight_undoes_a_positive_one() {
    let mut random = Random(8);
    let skeleton = Skeleton::new(human(33)).unwrap();
    let [base, delta] = [(); 2].map(|()| turned_by(&mut random, &skeleton));
    for weight in [0.4, 1.0] {
        let there = added(&skeleton, &base, layer(&delta, weight));
        let back = added(&skeleton, &there, layer(&delta, -weight));
        assert!(apart(&skeleton, &back, &base) < 1e-5);
    }
}

#[test]
fn a_masked_joint_and_what_is_below_it_stay_where_they_were_in_the_model() {
    let skeleton = torso();
    let mut random = Random(9);
    let [base, pose] = [(); 2].map(|()| turned_by(&mut random, &skeleton));
    let delta = taken(&skeleton, &base, &pose);
    let only_spine = [0.0, 1.0, 0.0];
    let masked = Layer {
        mask: Some(&only_spine),
        ..layer(&delta, 1.0)
    };
    let out = added(&skeleton, &base, masked);
    let turn = |pose: &Pose, place| pose.rotation(skeleton.joint(place));
    let chest = |pose: &Pose| turn(pose, 0) * turn(pose, 1) * turn(pose, 2);
    assert!(quat::angle_between(chest(&out), chest(&base)) < 2e-6);
    let spine = |pose: &Pose| turn(pose, 0) * turn(pose, 1);
    assert!(quat::angle_between(spine(&out), spine(&base)) > 0.1);
}
