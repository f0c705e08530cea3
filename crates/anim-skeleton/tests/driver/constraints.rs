//! Aim, orient, parent, point, scale and pole.

use std::f32::consts::{FRAC_PI_2, PI};

use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::driver::{
    Aim, DriverKind, DriverSpec, Orient, Parent, Point, Pole, Scale, Source, Space, Toward, Up,
};
use anim_skeleton::{JointSpec, Skeleton};

use crate::common::Random;
use crate::{Rig, at, bone, check};

fn aim(up: Option<Up>) -> Aim {
    Aim {
        joint: "eye".into(),
        axis: Vec3::z(),
        sources: vec![Source::new("target")],
        up,
    }
}

fn eye_and_target() -> Vec<JointSpec> {
    vec![
        bone("eye", None, at(0.0, 1.0, 0.0)),
        bone("target", None, at(0.0, 1.0, 5.0)),
    ]
}

#[test]
fn an_aim_turns_by_the_angle_to_its_target() {
    let mut rig = Rig::one(eye_and_target(), aim(None));
    rig.put("target", Vec3::new(3.0, 1.0, 3.0));
    rig.run(0.0);
    check(rig.turned("eye"), Vec3::y() * (PI / 4.0), 1e-6);
}

#[test]
fn half_the_weight_turns_half_the_angle_along_the_short_arc() {
    let orient = Orient {
        joint: "eye".into(),
        sources: vec![Source::new("target")],
        space: Space::Model,
        keep_offset: true,
        axes: [true; 3],
    };
    let kinds: [DriverKind; 2] = [aim(None).into(), orient.into()];
    for kind in kinds {
        for weight in [0.0, 0.25, 0.5, 1.0] {
            let spec = DriverSpec {
                weight,
                ..DriverSpec::new("driver", kind.clone())
            };
            let mut rig = Rig::new(eye_and_target(), vec![spec]);
            rig.put("target", Vec3::new(4.0, 1.0, -3.0));
            let angle = libm::atan2f(4.0, -3.0);
            // Written the long way round: the other sign of the quaternion.
            let long = quat::from_axis_angle(Vec3::y(), angle - 2.0 * PI);
            rig.pose.set_rotation(rig.joint("target"), long);
            rig.run(0.0);
            check(rig.turned("eye"), Vec3::y() * (angle * weight), 2e-6);
        }
    }
}

#[test]
fn an_aim_is_exact_under_parents_that_stretch_shear_and_mirror() {
    let mut random = Random(5);
    for _ in 0..200 {
        let mut any = || Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: random.vector() * 2.0 + Vec3::repeat(0.05),
        };
        let joints = vec![
            bone("hips", None, any()),
            bone("head", Some(0), any()),
            bone("eye", Some(1), any()),
            bone("target", None, any()),
        ];
        let up = Up {
            axis: Vec3::y(),
            toward: Toward::Direction(Vec3::new(0.1, 1.0, -0.2)),
        };
        let mut rig = Rig::one(joints, aim(Some(up)));
        rig.run(0.0);
        let eye = rig.globals.get(rig.joint("eye"));
        let to_target = (rig.position("target") - eye.translation).normalize();
        let parent = rig.globals.get(rig.joint("head")).linear;
        let stretch = parent.norm() * parent.try_inverse().unwrap().norm();
        let view = (eye.linear * Vec3::z()).normalize();
        // The condition of the parent's matrix is what its inverse loses.
        let tolerance = 1e-6 * stretch;
        check(view, to_target, tolerance);
        // The up axis is on the up direction's side of the view, in one plane with it.
        let across = |v: Vec3| (v - view * view.dot(&v)).normalize();
        let wanted = across(Vec3::new(0.1, 1.0, -0.2));
        let up = eye.linear * Vec3::y();
        let steep = up.norm() / (up - view * view.dot(&up)).norm();
        check(across(up), wanted, tolerance * 8.0 * steep);
    }
}

#[test]
fn up_may_be_another_joint_or_an_axis_of_it() {
    let joints = || {
        let mut joints = eye_and_target();
        joints.push(bone("above", None, at(7.0, 1.0, 0.0)));
        joints
    };
    let up = |toward| Up {
        axis: Vec3::y(),
        toward,
    };
    let mut rig = Rig::one(joints(), aim(Some(up(Toward::Joint("above".into())))));
    rig.run(0.0);
    // Up leans to +x: a quarter turn about the view, clockwise.
    check(rig.turned("eye"), Vec3::z() * -FRAC_PI_2, 1e-6);

    let toward = Toward::Axis {
        joint: "above".into(),
        axis: Vec3::y(),
    };
    let mut rig = Rig::one(joints(), aim(Some(up(toward))));
    rig.turn("above", Vec3::z() * 0.4);
    rig.run(0.0);
    check(rig.turned("eye"), Vec3::z() * 0.4, 1e-6);
}

#[test]
fn an_aim_at_what_is_behind_turns_about_its_up_axis() {
    let up = Up {
        axis: Vec3::y(),
        toward: Toward::Direction(Vec3::y()),
    };
    let mut rig = Rig::one(eye_and_target(), aim(Some(up)));
    rig.put("target", Vec3::new(0.0, 1.0, -2.0));
    rig.run(0.0);
    check(rig.turned("eye"), Vec3::y() * PI, 1e-6);
}

#[test]
fn several_sources_count_by_their_weights_and_none_leave_the_joint_alone() {
    let joints = || {
        vec![
            bone("follower", None, at(1.0, 2.0, 3.0)),
            bone("a", None, at(0.0, 0.0, 0.0)),
            bone("b", None, at(4.0, 0.0, 8.0)),
        ]
    };
    let point = |a: f32, b: f32| Point {
        joint: "follower".into(),
        sources: vec![
            Source {
                weight: a,
                ..Source::new("a")
            },
            Source {
                weight: b,
                ..Source::new("b")
            },
        ],
        keep_offset: false,
        axes: [true; 3],
    };
    for (a, b, expected) in [
        (3.0, 1.0, Vec3::new(1.0, 0.0, 2.0)),
        (0.0, 2.0, Vec3::new(4.0, 0.0, 8.0)),
        (0.0, 0.0, Vec3::new(1.0, 2.0, 3.0)),
    ] {
        let mut rig = Rig::one(joints(), point(a, b));
        rig.run(0.0);
        assert_eq!(rig.position("follower"), expected);
    }
}

#[test]
fn a_point_keeps_its_offset_and_follows_along_chosen_axes() {
    let joints = vec![
        bone(
            "arm",
            None,
            Transform::from_rotation(quat::exp(Vec3::x() * 0.7)),
        ),
        bone("shadow", Some(0), at(0.5, 0.0, 0.0)),
        bone("ball", None, at(0.0, 2.0, 0.0)),
    ];
    let point = Point {
        joint: "shadow".into(),
        sources: vec![Source::new("ball")],
        keep_offset: true,
        axes: [true, false, true],
    };
    let mut rig = Rig::one(joints, point);
    rig.run(0.0);
    check(rig.position("shadow"), Vec3::new(0.5, 0.0, 0.0), 1e-6);
    rig.put("ball", Vec3::new(3.0, 9.0, -1.0));
    rig.run(0.0);
    check(rig.position("shadow"), Vec3::new(3.5, 0.0, -1.0), 1e-6);
}

#[test]
fn a_parented_joint_moves_as_if_it_hung_there() {
    let mut random = Random(8);
    for _ in 0..50 {
        let mut any = || Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: Vec3::repeat(1.0),
        };
        let joints = vec![
            bone("belt", None, any()),
            bone("sword", Some(0), any()),
            bone("arm", None, any()),
            bone("hand", Some(2), any()),
        ];
        let parent = Parent {
            joint: "sword".into(),
            sources: vec![Source::new("hand")],
            keep_offset: true,
        };
        let mut rig = Rig::one(joints, parent);
        rig.run(0.0);
        let hand_from_sword = {
            let hand = rig.globals.get(rig.joint("hand"));
            hand.inverse().unwrap() * rig.globals.get(rig.joint("sword"))
        };
        let (belt, arm) = (rig.joint("belt"), rig.joint("arm"));
        rig.pose.set(belt, any());
        rig.pose.set(arm, any());
        rig.run(0.0);
        let expected = rig.globals.get(rig.joint("hand")) * hand_from_sword;
        let sword = rig.globals.get(rig.joint("sword"));
        check(sword.translation, expected.translation, 5e-6);
        assert!((sword.linear - expected.linear).norm() < 5e-6);
    }
}

#[test]
fn a_joint_that_is_oriented_in_model_space_turns_as_its_source_does_there() {
    let mut random = Random(9);
    for mirror in [1.0, -1.0] {
        let mut any = || Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: Vec3::repeat(1.0),
        };
        let mut joints = vec![
            bone("left", None, any()),
            bone("follower", Some(0), any()),
            bone("right", None, any()),
            bone("leader", Some(2), any()),
        ];
        joints[0].rest.scale.x = mirror;
        let orient = Orient {
            joint: "follower".into(),
            sources: vec![Source::new("leader")],
            space: Space::Model,
            keep_offset: true,
            axes: [true; 3],
        };
        let mut rig = Rig::one(joints, orient);
        rig.run(0.0);
        let linear = |rig: &Rig, name| rig.globals.get(rig.joint(name)).linear;
        let rest = [linear(&rig, "leader"), linear(&rig, "follower")];
        for name in ["left", "right", "leader"] {
            rig.turn(name, Vec3::new(0.5, -0.9, 0.3));
        }
        rig.run(0.0);
        let now = [linear(&rig, "leader"), linear(&rig, "follower")];
        let turns = [0, 1].map(|i| now[i] * rest[i].try_inverse().unwrap());
        assert!((turns[0] - turns[1]).norm() < 5e-6, "{turns:?}");
    }
}

#[test]
fn without_an_offset_the_very_rotation_is_taken_over() {
    let turn = Transform::from_rotation(quat::exp(Vec3::new(0.2, 0.3, -0.4)));
    for space in [Space::Local, Space::Model] {
        let joints = vec![
            bone("parent", None, turn),
            bone("follower", Some(0), Transform::IDENTITY),
            bone("leader", None, at(0.0, 0.0, 0.0)),
        ];
        let orient = Orient {
            joint: "follower".into(),
            sources: vec![Source::new("leader")],
            space,
            keep_offset: false,
            axes: [true; 3],
        };
        let mut rig = Rig::one(joints, orient);
        rig.turn("leader", Vec3::y());
        rig.run(0.0);
        let follower = match space {
            Space::Local => rig.pose.rotation(rig.joint("follower")),
            Space::Model => turn.rotation * rig.pose.rotation(rig.joint("follower")),
        };
        check(quat::log(follower), Vec3::y(), 1e-6);
    }
}

#[test]
fn only_the_chosen_axes_of_a_rotation_follow() {
    let joints = vec![
        bone("follower", None, at(0.0, 0.0, 0.0)),
        bone("leader", None, at(0.0, 0.0, 0.0)),
    ];
    let orient = Orient {
        joint: "follower".into(),
        sources: vec![Source::new("leader")],
        space: Space::Local,
        keep_offset: true,
        axes: [false, true, false],
    };
    let mut rig = Rig::one(joints, orient);
    rig.turn("leader", Vec3::new(0.3, 0.6, -0.2));
    rig.turn("follower", Vec3::new(0.1, 0.2, 0.4));
    rig.run(0.0);
    check(rig.turned("follower"), Vec3::new(0.1, 0.6, 0.4), 1e-6);
}

#[test]
fn scale_follows_from_rest() {
    let scaled = |x, y, z| Transform {
        scale: Vec3::new(x, y, z),
        ..Transform::IDENTITY
    };
    let joints = vec![
        bone("follower", None, scaled(2.0, 2.0, -2.0)),
        bone("leader", None, scaled(0.5, 1.0, 1.0)),
    ];
    let scale = Scale {
        joint: "follower".into(),
        sources: vec![Source::new("leader")],
        keep_offset: true,
    };
    let mut rig = Rig::one(joints, scale);
    let leader = rig.joint("leader");
    rig.pose.set_scale(leader, Vec3::new(1.0, 3.0, 0.5));
    rig.run(0.0);
    let follower = rig.pose.scale(rig.joint("follower"));
    assert_eq!(follower, Vec3::new(4.0, 6.0, -1.0));
}

fn limb() -> (Skeleton, Pole) {
    let joints = vec![
        bone("thigh", None, at(1.0, 2.0, 0.0)),
        bone("shin", Some(0), at(0.0, -1.0, 0.0)),
        bone("foot", Some(1), at(0.0, -1.0, 0.0)),
        bone("pole", None, at(0.0, 0.0, 0.0)),
    ];
    let pole = Pole {
        joint: "pole".into(),
        limb: ["thigh".into(), "shin".into(), "foot".into()],
        bend: Vec3::z(),
        distance: 0.5,
    };
    (Skeleton::new(joints).unwrap(), pole)
}

#[test]
fn the_pole_of_a_bent_knee_is_ahead_of_it() {
    let (skeleton, pole) = limb();
    let mut rig = Rig::of(skeleton, vec![DriverSpec::new("pole", pole)]).unwrap();
    // A right angle: the knee is forward and half way down, the foot below the hip.
    rig.turn("thigh", Vec3::x() * -PI / 4.0);
    rig.turn("shin", Vec3::x() * FRAC_PI_2);
    rig.run(0.0);
    let knee = rig.position("shin");
    let half = 0.5_f32.sqrt();
    check(knee, Vec3::new(1.0, 2.0 - half, half), 1e-6);
    check(rig.position("pole"), knee + Vec3::z() * 0.5, 1e-6);
}

#[test]
fn a_straight_knee_has_its_pole_where_it_would_bend_to() {
    let (skeleton, pole) = limb();
    let mut rig = Rig::of(skeleton, vec![DriverSpec::new("pole", pole)]).unwrap();
    rig.turn("thigh", Vec3::y() * FRAC_PI_2);
    rig.run(0.0);
    check(rig.position("pole"), Vec3::new(1.5, 1.0, 0.0), 1e-6);
    // Folded onto itself the limb has no direction: the pole stays.
    rig.turn("shin", Vec3::x() * PI);
    rig.run(0.0);
    check(rig.position("pole"), Vec3::new(1.5, 1.0, 0.0), 1e-6);
}

#[test]
fn under_a_flat_parent_a_joint_stays_as_posed() {
    let flat = Transform {
        scale: Vec3::new(1.0, 0.0, 1.0),
        ..Transform::IDENTITY
    };
    let joints = vec![
        bone("flat", None, flat),
        bone("eye", Some(0), at(0.0, 1.0, 0.0)),
        bone("target", None, at(1.0, 0.0, 0.0)),
    ];
    let mut rig = Rig::one(joints, aim(None));
    rig.run(0.0);
    assert_eq!(rig.pose.rotation(rig.joint("eye")), Quat::identity());
    assert!(Affine::is_finite(&rig.globals.get(rig.joint("eye"))));
}

#[test]
fn rounding_decides_neither_an_aim_nor_its_roll() {
    let turned = |x| Transform {
        rotation: quat::exp(Vec3::new(0.3, -0.8, 0.5)),
        ..at(x, 0.7, -0.3)
    };
    let joints = || {
        vec![
            bone("hips", None, turned(0.3)),
            bone("eye", Some(0), turned(0.1)),
            bone("target", None, turned(2.0)),
        ]
    };
    // At itself there is no direction.
    let mut own = aim(None);
    own.sources = vec![Source::new("eye")];
    let mut rig = Rig::one(joints(), own);
    rig.run(0.0);
    assert_eq!(&rig.pose, rig.skeleton.rest());
    // Up toward the very joint it aims at is no direction either: the same as no up.
    let up = Up {
        axis: Vec3::y(),
        toward: Toward::Joint("target".into()),
    };
    let poses = [Some(up), None].map(|up| {
        let mut rig = Rig::one(joints(), aim(up));
        rig.run(0.0);
        rig.pose
    });
    assert_eq!(poses[0], poses[1]);
}

#[test]
fn a_mean_rotation_does_not_depend_on_the_signs_of_quaternions() {
    let joints = vec![
        bone("follower", None, at(0.0, 0.0, 0.0)),
        bone("a", None, at(0.0, 0.0, 0.0)),
        bone("b", None, at(0.0, 0.0, 0.0)),
    ];
    let orient = Orient {
        joint: "follower".into(),
        sources: vec![Source::new("a"), Source::new("b")],
        space: Space::Model,
        keep_offset: true,
        axes: [true; 3],
    };
    let mut rig = Rig::one(joints, orient);
    rig.turn("a", Vec3::x() * 0.4);
    for long_way in [0.0, 2.0 * PI] {
        let b = rig.joint("b");
        rig.pose
            .set_rotation(b, quat::from_axis_angle(Vec3::x(), 1.0 - long_way));
        rig.run(0.0);
        check(rig.turned("follower"), Vec3::x() * 0.7, 1e-6);
    }
}
