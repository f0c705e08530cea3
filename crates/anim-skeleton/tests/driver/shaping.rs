//! Twist and corrective joints.

use std::f32::consts::FRAC_PI_2;

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::JointSpec;
use anim_skeleton::driver::{Corrective, DriverSpec, Effect, Measure, Share, Twist};

use crate::{Rig, at, bone, check};

/// A forearm along x with a hand and a helper whose own axes at rest are turned against it.
fn arm() -> Vec<JointSpec> {
    let turned = Transform {
        rotation: quat::exp(Vec3::new(0.3, 1.2, -0.4)),
        ..at(0.1, 0.0, 0.0)
    };
    vec![
        bone("forearm", None, at(0.0, 1.0, 0.0)),
        bone("helper", Some(0), turned),
        bone("hand", Some(0), at(0.25, 0.0, 0.0)),
    ]
}

fn twist(fraction: f32) -> Twist {
    Twist {
        source: "hand".into(),
        axis: Vec3::x() * 2.0,
        helpers: vec![Share {
            joint: "helper".into(),
            fraction,
        }],
    }
}

/// How the helper is turned from rest, in the forearm's axes.
fn helper_turn(rig: &Rig) -> Vec3 {
    let helper = rig.joint("helper");
    let rest = rig.skeleton.rest().rotation(helper);
    quat::log(rig.pose.rotation(helper) * rest.inverse())
}

#[test]
fn half_of_ninety_degrees_of_twist_is_forty_five() {
    let mut rig = Rig::one(arm(), twist(0.5));
    rig.turn("hand", Vec3::x() * FRAC_PI_2);
    rig.run(0.0);
    check(helper_turn(&rig), Vec3::x() * (FRAC_PI_2 / 2.0), 1e-6);
}

#[test]
fn helpers_go_with_the_twist_all_the_way_to_half_a_turn_on_either_side() {
    let mut rig = Rig::one(arm(), twist(0.25));
    for degrees in -179..=179 {
        let angle = (degrees as f32).to_radians();
        // A swing on top changes nothing.
        let hand = rig.joint("hand");
        let swing = quat::exp(Vec3::new(0.0, 0.7, -0.5));
        let twist = quat::from_axis_angle(Vec3::x(), angle);
        rig.pose.set_rotation(hand, swing * twist);
        rig.run(0.0);
        check(helper_turn(&rig), Vec3::x() * (angle * 0.25), 4e-6);
    }
}

#[test]
fn a_helper_on_the_twisting_joint_holds_back() {
    let joints = vec![
        bone("upper arm", None, at(0.0, 1.0, 0.0)),
        bone("roll", Some(0), at(0.1, 0.0, 0.0)),
    ];
    let twist = Twist {
        source: "upper arm".into(),
        axis: Vec3::x(),
        helpers: vec![Share {
            joint: "roll".into(),
            fraction: -0.75,
        }],
    };
    let mut rig = Rig::one(joints, twist);
    rig.turn("upper arm", Vec3::x() * 2.0);
    rig.run(0.0);
    let linear = rig.globals.get(rig.joint("roll")).linear;
    let left = quat::from_axis_angle(Vec3::x(), 0.5);
    assert!((linear - left.to_rotation_matrix().into_inner()).norm() < 1e-6);
}

#[test]
fn a_pose_at_rest_moves_no_helper() {
    let mut rig = Rig::one(arm(), twist(1.0));
    rig.run(0.0);
    check(helper_turn(&rig), Vec3::zeros(), 1e-6);
}

fn corrective(measure: Measure, effect: Effect) -> Corrective {
    let keys = vec![Key::new(0.5, 0.0), Key::new(1.5, 2.0)];
    Corrective {
        measure,
        curve: Track::new(keys, Interpolation::Linear).unwrap(),
        effect,
    }
}

fn bend(name: &str) -> Measure {
    Measure::Twist {
        joint: name.into(),
        axis: Vec3::z(),
    }
}

#[test]
fn a_corrective_does_what_its_curve_says() {
    let helper = || "helper".into();
    let effects = [
        Effect::Translation {
            joint: helper(),
            offset: Vec3::new(0.0, 0.01, 0.0),
        },
        Effect::Rotation {
            joint: helper(),
            turn: Vec3::new(0.2, 0.0, 0.0),
        },
        Effect::Scale {
            joint: helper(),
            factor: Vec3::new(1.0, 1.5, 1.0),
        },
    ];
    for (bent, amount) in [(0.2, 0.0), (1.0, 1.0), (1.25, 1.5), (2.5, 2.0)] {
        let spec = |effect: &Effect| {
            let name = format!("{effect:?}");
            DriverSpec::new(name, corrective(bend("hand"), effect.clone()))
        };
        let mut rig = Rig::new(arm(), effects.iter().map(spec).collect());
        let rest = rig.skeleton.rest().get(rig.joint("helper"));
        rig.turn("hand", Vec3::z() * bent);
        rig.run(0.0);
        let now = rig.pose.get(rig.joint("helper"));
        let moved = now.translation - rest.translation;
        check(moved, Vec3::new(0.0, 0.01 * amount, 0.0), 1e-6);
        let turn = quat::log(rest.rotation.inverse() * now.rotation);
        check(turn, Vec3::new(0.2 * amount, 0.0, 0.0), 1e-6);
        check(now.scale, Vec3::new(1.0, 1.0 + 0.5 * amount, 1.0), 1e-6);
    }
}

#[test]
fn outputs_are_read_by_name_and_scaled_by_weight() {
    let half = DriverSpec {
        weight: 0.5,
        ..DriverSpec::new("elbow bulge", corrective(bend("hand"), Effect::Output))
    };
    let pose = Measure::Pose {
        joint: "hand".into(),
        turn: Vec3::z() * 1.25,
        radius: 0.5,
    };
    let cone = DriverSpec::new("reach", corrective(pose, Effect::Output));
    let mut rig = Rig::new(arm(), vec![half, cone]);
    rig.turn("hand", Vec3::z());
    rig.run(0.0);
    assert_eq!(rig.drivers.output_names(), ["elbow bulge", "reach"]);
    let outputs = rig.drivers.outputs(&rig.state);
    // The curve makes 1 of an angle of 1; the example is half its radius away, of which the curve makes 0.
    assert!((outputs[0] - 0.5).abs() < 1e-6);
    assert!(outputs[1].abs() < 2e-6);

    rig.state.weights[0] = 0.0;
    rig.turn("hand", Vec3::z() * 1.25);
    rig.run(0.0);
    let outputs = rig.drivers.outputs(&rig.state);
    assert_eq!(outputs[0], 0.0);
    assert!((outputs[1] - 1.0).abs() < 1e-5);
}
