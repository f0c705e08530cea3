//! Blending: shares, short arcs, additive layers.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::lanes::Level;
use anim_math::nalgebra::Quaternion;
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Globals, JointId, JointSpec, Layer, Mode, Pose, Skeleton, blend, blend_on, difference,
};
use common::{Random, human};

const EPS: f32 = 1e-6;

fn layer(pose: &Pose, weight: f32) -> Layer<'_> {
    Layer {
        pose,
        weight,
        mask: None,
        mode: Mode::Override,
    }
}

fn additive(pose: &Pose, weight: f32) -> Layer<'_> {
    Layer {
        mode: Mode::Additive,
        ..layer(pose, weight)
    }
}

fn single(rest: Transform) -> (Skeleton, JointId) {
    let skeleton = Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest,
    }])
    .unwrap();
    let joint = skeleton.joint(0);
    (skeleton, joint)
}

fn turned(skeleton: &Skeleton, rotation: Quat) -> Pose {
    let mut pose = skeleton.rest().clone();
    pose.set_rotation(skeleton.joint(0), rotation);
    pose
}

fn random_pose(skeleton: &Skeleton, random: &mut Random) -> Pose {
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        pose.set(
            joint,
            Transform {
                translation: random.vector(),
                rotation: random.rotation(),
                scale: random.vector() + Vec3::new(1.5, 1.5, 1.5),
            },
        );
    }
    pose
}

fn blended(rest: &Pose, layers: &[Layer<'_>]) -> Pose {
    let mut out = Pose::identity(rest.len());
    blend(rest, layers, &mut out);
    out
}

/// The largest difference of parts, whatever the sign of rotations.
fn distance(a: &Pose, b: &Pose, skeleton: &Skeleton) -> f32 {
    let joints = skeleton.joints().map(|joint| {
        let (a, b) = (a.get(joint), b.get(joint));
        let (p, q) = (a.rotation.coords, b.rotation.coords);
        let turn = (p - q).norm().min((p + q).norm());
        turn.max((a.translation - b.translation).norm())
            .max((a.scale - b.scale).norm())
    });
    joints.fold(0.0, f32::max)
}

#[test]
fn half_and_half_is_half_way() {
    let (skeleton, joint) = single(Transform::IDENTITY);
    let turn = |angle| quat::from_axis_angle(Vec3::z(), angle);
    let (mut a, mut b) = (turned(&skeleton, turn(0.2)), turned(&skeleton, turn(1.0)));
    a.set_translation(joint, Vec3::x());
    b.set_scale(joint, Vec3::new(3.0, 1.0, 1.0));
    for weight in [0.5, 0.8, 4.0] {
        let out = blended(skeleton.rest(), &[layer(&a, weight), layer(&b, weight)]);
        assert!(quat::angle_between(out.rotation(joint), turn(0.6)) < EPS);
        assert!((out.translation(joint) - Vec3::x() * 0.5).norm() < EPS);
        assert!((out.scale(joint) - Vec3::new(2.0, 1.0, 1.0)).norm() < EPS);
    }
}

#[test]
fn the_rest_pose_fills_up_to_one() {
    let (skeleton, joint) = single(Transform::from_translation(Vec3::y()));
    let mut pose = skeleton.rest().clone();
    pose.set_translation(joint, Vec3::y() * 3.0);
    for weight in [0.0, 0.25, 0.75, 1.0] {
        let out = blended(skeleton.rest(), &[layer(&pose, weight)]);
        assert!((out.translation(joint).y - (1.0 + 2.0 * weight)).abs() < EPS);
    }
    assert_eq!(blended(skeleton.rest(), &[]), *skeleton.rest());
}

#[test]
fn layers_of_weight_zero_change_no_bit() {
    let mut random = Random(2);
    let skeleton = Skeleton::new(human(21)).unwrap();
    let (a, b) = (
        random_pose(&skeleton, &mut random),
        random_pose(&skeleton, &mut random),
    );
    let nothing: Vec<_> = (0..21)
        .map(|joint| [0.0, -3.0, f32::NAN][joint % 3])
        .collect();
    for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        // A negative weight of an additive layer subtracts.
        let added = if weight == -1.0 { 0.0 } else { weight };
        let layers = [layer(&a, 1.0), layer(&b, weight), additive(&b, added)];
        assert_eq!(blended(skeleton.rest(), &layers), a);
    }
    for mode in [Mode::Override, Mode::Additive] {
        let masked = Layer {
            mask: Some(&nothing),
            mode,
            ..layer(&b, 1.0)
        };
        assert_eq!(blended(skeleton.rest(), &[layer(&a, 1.0), masked]), a);
        assert_eq!(blended(skeleton.rest(), &[masked]), *skeleton.rest());
    }
}

#[test]
fn a_mask_splits_the_body() {
    let mut random = Random(3);
    let skeleton = Skeleton::new(human(30)).unwrap();
    let (legs, arms) = (
        random_pose(&skeleton, &mut random),
        random_pose(&skeleton, &mut random),
    );
    let is_upper: Vec<_> = skeleton
        .joints()
        .map(|joint| joint.index() % 3 == 0)
        .collect();
    let upper: Vec<_> = is_upper.iter().map(|upper| f32::from(*upper)).collect();
    let lower: Vec<_> = upper.iter().map(|upper| 1.0 - upper).collect();
    let layers = [
        Layer {
            mask: Some(&lower),
            ..layer(&legs, 1.0)
        },
        Layer {
            mask: Some(&upper),
            ..layer(&arms, 1.0)
        },
    ];
    let out = blended(skeleton.rest(), &layers);
    for (joint, upper) in skeleton.joints().zip(is_upper) {
        let expected = if upper { &arms } else { &legs };
        assert_eq!(out.get(joint), expected.get(joint));
    }
}

#[test]
fn a_mask_of_ones_is_no_mask() {
    let mut random = Random(4);
    let skeleton = Skeleton::new(human(27)).unwrap();
    let poses = [(); 3].map(|()| random_pose(&skeleton, &mut random));
    let ones = vec![1.0; 27];
    let weights = [0.2, 0.5, 0.1];
    let plain = [0, 1, 2].map(|i| layer(&poses[i], weights[i]));
    let masked = plain.map(|plain| Layer {
        mask: Some(&ones),
        ..plain
    });
    let (plain, masked) = (
        blended(skeleton.rest(), &plain),
        blended(skeleton.rest(), &masked),
    );
    assert!(distance(&plain, &masked, &skeleton) < 4.0 * EPS);
}

#[test]
fn the_order_of_layers_makes_no_difference() {
    let mut random = Random(5);
    let skeleton = Skeleton::new(human(40)).unwrap();
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for weights in [
        [0.2, 0.3, 0.5],
        [0.4, 0.4, 0.2],
        [1.0 / 3.0; 3],
        [0.1, 0.1, 0.1],
        [2.0; 3],
    ] {
        let poses = [(); 3].map(|()| random_pose(&skeleton, &mut random));
        let first = blended(
            skeleton.rest(),
            &[0, 1, 2].map(|i| layer(&poses[i], weights[i])),
        );
        for order in orders {
            let layers = order.map(|i| layer(&poses[i], weights[i]));
            let out = blended(skeleton.rest(), &layers);
            // Averages of rotations far apart may be short before normalising, which magnifies rounding.
            assert!(distance(&first, &out, &skeleton) < 100.0 * EPS);
        }
    }
}

#[test]
fn turning_one_layer_all_the_way_round_moves_the_blend_by_bounded_steps() {
    let (skeleton, joint) = single(Transform::IDENTITY);
    let turn = |degrees: f32| quat::from_axis_angle(Vec3::z(), degrees.to_radians());
    let (a, b) = (turned(&skeleton, turn(0.0)), turned(&skeleton, turn(40.0)));
    let weights = [0.5, 0.3, 0.2];
    let mut last = None;
    let mut jumps = 0;
    for degree in 0..=360 {
        let c = turned(&skeleton, turn(degree as f32));
        let layers = [
            layer(&a, weights[0]),
            layer(&b, weights[1]),
            layer(&c, weights[2]),
        ];
        let now = blended(skeleton.rest(), &layers).rotation(joint);
        if let Some(last) = last {
            let step = quat::angle_between(last, now).to_degrees();
            // Half a turn from the reference the short arc changes sides; the layer's share bounds the jump.
            jumps += usize::from(step > 1.0);
            assert!(step < 4.0 * (0.2_f32 / 0.75).atan().to_degrees());
        }
        last = Some(now);
    }
    assert_eq!(jumps, 1);
}

#[test]
fn a_crossfade_never_jumps() {
    let (skeleton, joint) = single(Transform::IDENTITY);
    let turn = |degrees: f32| quat::from_axis_angle(Vec3::x(), degrees.to_radians());
    let (a, b) = (
        turned(&skeleton, turn(179.0)),
        turned(&skeleton, turn(-170.0)),
    );
    let mut last = turn(179.0);
    for step in 0..=1000 {
        let weight = step as f32 / 1000.0;
        let out = blended(
            skeleton.rest(),
            &[layer(&a, 1.0 - weight), layer(&b, weight)],
        );
        assert!(quat::angle_between(last, out.rotation(joint)) < 0.001);
        last = out.rotation(joint);
    }
    assert!(quat::angle_between(last, turn(-170.0)) < EPS);
}

#[test]
fn a_mirrored_joint_stays_mirrored_in_a_blend() {
    let rest = Transform {
        scale: Vec3::new(1.0, 1.0, -1.0),
        ..Transform::IDENTITY
    };
    let (skeleton, joint) = single(rest);
    let turn = |degrees: f32| quat::from_axis_angle(Vec3::y(), degrees.to_radians());
    let (a, b) = (turned(&skeleton, turn(20.0)), turned(&skeleton, turn(80.0)));
    for (weight, x, z) in [
        (0.0, -0.34202, -0.939693),
        (0.25, -0.573576, -0.819152),
        (0.5, -0.766044, -0.642788),
        (0.75, -0.906308, -0.422618),
        (1.0, -0.984808, -0.173648),
    ] {
        let pose = blended(
            skeleton.rest(),
            &[layer(&a, 1.0 - weight), layer(&b, weight)],
        );
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        let model_from_joint: Affine = globals.get(joint);
        assert!((model_from_joint.linear.determinant() + 1.0).abs() < EPS);
        // Mixing is as even as nlerp over 60 degrees: 0.4 degrees off at a quarter.
        let tip = model_from_joint.transform_vector(Vec3::z());
        assert!((tip - Vec3::new(x, 0.0, z)).norm() < 0.008);
    }
}

#[test]
fn a_difference_added_to_its_reference_gives_the_pose() {
    let mut random = Random(6);
    let skeleton = Skeleton::new(human(33)).unwrap();
    let (base, pose) = (
        random_pose(&skeleton, &mut random),
        random_pose(&skeleton, &mut random),
    );
    let mut delta = Pose::identity(33);
    difference(&base, &pose, &mut delta);
    let out = blended(skeleton.rest(), &[layer(&base, 1.0), additive(&delta, 1.0)]);
    assert!(distance(&out, &pose, &skeleton) < 4.0 * EPS);
    difference(&base, &base, &mut delta);
    assert_eq!(delta, Pose::identity(33));
}

#[test]
fn a_negative_weight_undoes_a_positive_one() {
    let mut random = Random(16);
    let skeleton = Skeleton::new(human(21)).unwrap();
    let [base, delta] = [(); 2].map(|()| random_pose(&skeleton, &mut random));
    let mask: Vec<_> = (0..21).map(|_| random.signed()).collect();
    for mask in [None, Some(&mask[..])] {
        for weight in [0.3, 1.0] {
            let added = |weight| Layer {
                mask,
                ..additive(&delta, weight)
            };
            let back = [layer(&base, 1.0), added(weight), added(-weight)];
            let out = blended(skeleton.rest(), &back);
            assert!(distance(&out, &base, &skeleton) < 8.0 * EPS);
            let off = blended(skeleton.rest(), &[layer(&base, 1.0), added(-weight)]);
            let back = [layer(&off, 1.0), added(weight)];
            let out = blended(skeleton.rest(), &back);
            assert!(distance(&out, &base, &skeleton) < 8.0 * EPS);
        }
    }
}

#[test]
fn subtracting_all_of_a_scale_leaves_it() {
    let (skeleton, joint) = single(Transform::IDENTITY);
    let mut delta = Pose::identity(1);
    delta.set_scale(joint, Vec3::new(0.0, 2.0, 1.0));
    let out = blended(
        skeleton.rest(),
        &[layer(skeleton.rest(), 1.0), additive(&delta, -1.0)],
    );
    assert_eq!(out.scale(joint), Vec3::new(1.0, 0.5, 1.0));
}

#[test]
fn additive_layers_take_the_short_way_and_multiply_scales() {
    let (skeleton, joint) = single(Transform::IDENTITY);
    let turn = quat::from_axis_angle(Vec3::x(), 1.0);
    let mut delta = turned(&skeleton, Quat::new_unchecked(-turn.into_inner()));
    delta.set_scale(joint, Vec3::new(3.0, 1.0, 1.0));
    let mut base = skeleton.rest().clone();
    base.set_scale(joint, Vec3::new(2.0, 1.0, 1.0));
    let out = blended(skeleton.rest(), &[layer(&base, 1.0), additive(&delta, 0.5)]);
    assert!(quat::angle_between(out.rotation(joint), quat::from_axis_angle(Vec3::x(), 0.5)) < EPS);
    assert!((out.scale(joint).x - 4.0).abs() < EPS);
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let mut random = Random(8);
    let skeleton = Skeleton::new(human(45)).unwrap();
    let poses = [(); 3].map(|()| random_pose(&skeleton, &mut random));
    let mask: Vec<_> = (0..45).map(|_| random.signed().abs()).collect();
    let masked = Layer {
        mask: Some(&mask),
        ..layer(&poses[1], 0.9)
    };
    let cases: [&[Layer<'_>]; 4] = [
        &[layer(&poses[0], 0.3), layer(&poses[1], 0.7)],
        &[
            layer(&poses[0], 0.3),
            layer(&poses[1], 0.3),
            layer(&poses[2], 0.3),
        ],
        &[
            layer(&poses[0], 1.0),
            masked,
            additive(&poses[2], 0.4),
            additive(&poses[1], -0.3),
        ],
        &[layer(&poses[0], 0.5), masked],
    ];
    for layers in cases {
        let (mut best, mut baseline) = (Pose::identity(45), Pose::identity(45));
        blend_on(Level::new(), skeleton.rest(), layers, &mut best);
        blend_on(Level::baseline(), skeleton.rest(), layers, &mut baseline);
        assert_eq!(best, baseline);
        for block in best.blocks() {
            for lane in 0..8 {
                let q = Quaternion::from(block.rotation.map(|part| part[lane]));
                assert!((q.norm() - 1.0).abs() < EPS);
            }
        }
    }
}
