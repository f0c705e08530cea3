//! Mechanisms that tests share.

use anim_ik::{Configuration, Frames, Mechanism, MechanismJoint};
use anim_math::Vec3;
use anim_math::nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use anim_math::random::Random;
use anim_skeleton::{JointLimit, JointLimitSpec, Swing};

pub(crate) fn limit(spec: JointLimitSpec) -> JointLimit {
    JointLimit::new(spec).unwrap()
}

pub(crate) fn hinge(axis: Vec3, range: [f32; 2]) -> JointLimit {
    limit(JointLimitSpec::Hinge { axis, range })
}

pub(crate) fn ball(swing: f32, twist: f32) -> JointLimit {
    let swing = Swing::Cone { angle: swing };
    limit(JointLimitSpec::Ball {
        axis: Vec3::x(),
        swing,
        twist: [-twist, twist],
    })
}

pub(crate) fn fixed() -> JointLimit {
    limit(JointLimitSpec::Fixed)
}

pub(crate) fn link(x: f64, y: f64, z: f64) -> Isometry3<f64> {
    Isometry3::translation(x, y, z)
}

/// Links of length 1 along x, hinges about z, and a tip.
pub(crate) fn planar(lengths: &[f64], range: [f32; 2]) -> Mechanism {
    let mut joints = vec![MechanismJoint::new(
        None,
        link(0.0, 0.0, 0.0),
        hinge(Vec3::z(), range),
    )];
    for (joint, length) in lengths.iter().enumerate() {
        let is_tip = joint + 1 == lengths.len();
        let limit = if is_tip {
            fixed()
        } else {
            hinge(Vec3::z(), range)
        };
        joints.push(MechanismJoint::new(
            Some(joint),
            link(*length, 0.0, 0.0),
            limit,
        ));
    }
    Mechanism::new(joints).unwrap()
}

/// An arm of seven hinges and a tool: shoulder, elbow and wrist 0.36, 0.42, 0.40 and 0.126 m apart.
pub(crate) fn seven() -> Mechanism {
    let degrees = [170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0_f32];
    let offsets = [0.0, 0.36, 0.0, 0.42, 0.0, 0.40, 0.0];
    let axes = [
        Vec3::z(),
        Vec3::y(),
        Vec3::z(),
        -Vec3::y(),
        Vec3::z(),
        Vec3::y(),
        Vec3::z(),
    ];
    let each = degrees.into_iter().zip(offsets).zip(axes).enumerate();
    let mut joints: Vec<_> = each
        .map(|(joint, ((degrees, up), axis))| {
            let range = degrees.to_radians();
            let limit = hinge(axis, [-range, range]);
            MechanismJoint::new(joint.checked_sub(1), link(0.0, 0.0, up), limit)
        })
        .collect();
    joints.push(MechanismJoint::new(Some(6), link(0.0, 0.0, 0.126), fixed()));
    Mechanism::new(joints).unwrap()
}

/// Every kind of joint, branching.
pub(crate) fn tree() -> Mechanism {
    let (axis, about) = (Vec3::new(0.6, 0.0, 0.8), Vec3::y());
    let ellipse = Swing::Ellipse {
        about,
        angles: [0.7, 1.3],
    };
    let cone = Swing::Cone { angle: 1.1 };
    let any = Swing::Cone {
        angle: std::f32::consts::PI,
    };
    let turn = std::f32::consts::PI;
    let limits = [
        JointLimitSpec::Free,
        JointLimitSpec::Ball {
            axis,
            swing: ellipse,
            twist: [-0.4, 0.9],
        },
        JointLimitSpec::Hinge {
            axis,
            range: [-0.5, 2.1],
        },
        JointLimitSpec::Universal { axis, swing: cone },
        JointLimitSpec::Prismatic {
            axis,
            range: [-0.2, 0.3],
        },
        JointLimitSpec::Ball {
            axis,
            swing: any,
            twist: [-turn, turn],
        },
        JointLimitSpec::Hinge {
            axis: about,
            range: [-1.0, 1.0],
        },
        JointLimitSpec::Universal {
            axis,
            swing: ellipse,
        },
    ];
    let parents = [
        None,
        Some(0),
        Some(1),
        Some(2),
        Some(1),
        Some(4),
        Some(5),
        Some(3),
    ];
    let mut random = Random::new(11, 0, 0);
    let joints = parents
        .into_iter()
        .zip(limits)
        .map(|(parent, spec)| MechanismJoint::new(parent, placement(&mut random), limit(spec)));
    Mechanism::new(joints.collect()).unwrap()
}

pub(crate) fn vector(random: &mut Random) -> Vector3<f64> {
    random.in_ball().cast()
}

pub(crate) fn placement(random: &mut Random) -> Isometry3<f64> {
    let turn = vector(random) * 2.5;
    Isometry3::from_parts(
        Translation3::from(vector(random)),
        UnitQuaternion::new(turn),
    )
}

pub(crate) fn frames(mechanism: &Mechanism, at: &Configuration) -> Frames {
    let mut frames = Frames::new(mechanism);
    mechanism.forward(at, &mut frames);
    frames
}

pub(crate) fn drawn(mechanism: &Mechanism, seed: u64) -> Configuration {
    let mut at = mechanism.rest();
    mechanism.randomize(&mut Random::new(seed, 0, 0), &mut at);
    at
}
