//! Spring bones against the algorithm of their specification, closed forms and themselves at other frame rates.

use std::f32::consts::{PI, TAU};

use anim_math::{Affine, Transform, Vec3, quat};
use anim_skeleton::driver::{
    Breathe, DriverError, DriverSpec, Drivers, SpringBone, SpringCollider, SpringJoint,
    SpringShape, SpringTip,
};
use anim_skeleton::{JointSpec, Skeleton};
use proptest::prelude::*;

use crate::{Rig, at, bone, check};

/// A root and a chain of `count` bones of `length`, m, along −y.
fn strand(count: usize, length: f32) -> Vec<JointSpec> {
    let mut joints = vec![bone("root", None, at(0.0, 0.0, 0.0))];
    for index in 0..count {
        let rest = match index {
            0 => at(0.0, 0.0, 0.0),
            _ => at(0.0, -length, 0.0),
        };
        joints.push(bone(&format!("bone {index}"), Some(index), rest));
    }
    joints
}

fn spring(count: usize, length: f32, joint: &SpringJoint) -> SpringBone {
    let named = |index: usize| SpringJoint {
        joint: format!("bone {index}").as_str().into(),
        ..joint.clone()
    };
    SpringBone {
        joints: (0..count).map(named).collect(),
        ..SpringBone::new(SpringTip::Offset(Vec3::new(0.0, -length, 0.0)))
    }
}

fn lock(stiffness: f32, drag: f32) -> SpringJoint {
    SpringJoint {
        stiffness,
        drag,
        ..SpringJoint::new("")
    }
}

/// Poses the rig at rest with the root at `place`, and runs a frame.
fn frame(rig: &mut Rig, place: Vec3, dt: f32) {
    let rest = rig.skeleton.rest().clone();
    rig.pose.copy_from(&rest);
    rig.put("root", place);
    rig.run(dt);
}

/// The ends of `count` bones of `length`, from the root's first.
fn tails(rig: &Rig, count: usize, length: f32) -> Vec<Vec3> {
    let end = |index| {
        let joint = rig.joint(&format!("bone {index}"));
        let tip = Vec3::new(0.0, -length, 0.0);
        rig.globals.get(joint).transform_point(tip)
    };
    (0..count).map(end).collect()
}

/// A smooth start from rest, then to and fro.
fn sway(time: f32) -> Vec3 {
    let ease = 1.0 - (-3.0 * time * time).exp();
    Vec3::new(
        (4.0 * time).sin(),
        0.2 * (7.0 * time).sin(),
        (3.0 * time).cos() - 1.0,
    ) * (0.3 * ease)
}

/// The specification's algorithm, whose drag and force are those of its 60 Hz at any step `h`.
struct Reference {
    tails: Vec<[Vec3; 2]>,
    length: f32,
    joint: SpringJoint,
}

impl Reference {
    fn new(count: usize, length: f32, joint: &SpringJoint) -> Self {
        let end = |index: usize| [Vec3::new(0.0, -length * (index + 1) as f32, 0.0); 2];
        Self {
            tails: (0..count).map(end).collect(),
            length,
            joint: joint.clone(),
        }
    }

    fn step(&mut self, root: Vec3, h: f32) {
        let kept = (1.0 - self.joint.drag).powf(60.0 * h);
        let share = match self.joint.drag > 0.0 {
            true => (1.0 - kept) / self.joint.drag,
            false => 60.0 * h,
        };
        let (mut head, mut toward) = (root, -Vec3::y());
        for [now, before] in &mut self.tails {
            let pull = toward * self.joint.stiffness + self.joint.gravity;
            let next = *now + (*now - *before) * kept + pull * (share * h);
            let next = head + (next - head).normalize() * self.length;
            *before = *now;
            *now = next;
            toward = (next - head).normalize();
            head = next;
        }
    }
}

/// How far two seconds of swaying are from the specification's in `parts` steps a frame of 60 Hz, at most, m.
fn deviation(joint: &SpringJoint, parts: u32) -> f32 {
    let mut rig = Rig::one(strand(3, 0.1), spring(3, 0.1, joint));
    let mut reference = Reference::new(3, 0.1, joint);
    // Both start where the driver settles.
    frame(&mut rig, Vec3::zeros(), 0.0);
    for _ in 0..20_000 {
        reference.step(Vec3::zeros(), 1e-3);
    }
    let mut worst = 0.0_f32;
    for index in 1..=120 {
        let time = index as f32 / 60.0;
        // The driver sees frames and moves evenly between them.
        let [from, to] = [sway(time - 1.0 / 60.0), sway(time)];
        for part in 1..=parts {
            let place = from + (to - from) * (part as f32 / parts as f32);
            reference.step(place, 1.0 / 60.0 / parts as f32);
        }
        frame(&mut rig, to, 1.0 / 60.0);
        for (found, expected) in tails(&rig, 3, 0.1).iter().zip(&reference.tails) {
            worst = worst.max((found - expected[0]).norm());
        }
    }
    worst
}

#[test]
fn the_specification_is_a_first_order_step_of_it() {
    let gravity = Vec3::new(0.1, -0.4, 0.0);
    for (stiffness, drag) in [(1.0, 0.4), (0.3, 0.2), (2.0, 0.7)] {
        let joint = SpringJoint {
            gravity,
            ..lock(stiffness, drag)
        };
        let [coarse, middle, fine] = [1, 4, 16].map(|parts| deviation(&joint, parts));
        // At 60 Hz it looks alike: within a sixth of a strand of 30 cm that is waved about.
        assert!(coarse < 0.05, "{coarse}");
        assert!(
            middle < 0.4 * coarse && fine < 0.4 * middle,
            "{coarse} {middle} {fine}"
        );
        assert!(fine < 0.003, "{fine}");
    }
}

#[test]
fn motion_does_not_depend_on_the_frame_rate() {
    let joint = SpringJoint {
        gravity: Vec3::new(0.0, -0.3, 0.0),
        ..lock(1.0, 0.4)
    };
    let run = |rate: u32| {
        let mut rig = Rig::one(strand(4, 0.08), spring(4, 0.08, &joint));
        frame(&mut rig, Vec3::zeros(), 0.0);
        let mut seen = Vec::new();
        for index in 1..=2 * rate {
            frame(
                &mut rig,
                sway(index as f32 / rate as f32),
                1.0 / rate as f32,
            );
            if index % (rate / 6) == 0 {
                seen.push(tails(&rig, 4, 0.08));
            }
        }
        seen
    };
    let fine = run(960);
    for (rate, bound) in [(24, 2e-3), (30, 1.2e-3), (60, 3e-4), (144, 6e-5)] {
        let pairs = run(rate).into_iter().flatten().zip(fine.iter().flatten());
        let worst = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        // Second order in the frame, of which the pose is seen at its ends only: 2 mm of a strand of 32 cm at 24 Hz, and
        // (24 / rate)² of that at others.
        assert!(worst < bound, "{worst} at {rate} Hz");
    }
}

#[test]
fn a_bone_without_drag_swings_with_the_period_of_a_pendulum() {
    let (stiffness, length, amplitude) = (0.5_f32, 0.2_f32, 0.2_f32);
    let mut rig = Rig::one(strand(1, length), spring(1, length, &lock(stiffness, 0.0)));
    // Settle at an angle by turning the root, then turn it back: the bone is let go.
    rig.turn("root", Vec3::z() * amplitude);
    rig.run(0.0);
    let rate = 240.0;
    let (mut times, mut before) = (Vec::new(), amplitude);
    for index in 1..=480 {
        frame(&mut rig, Vec3::zeros(), 1.0 / rate);
        let angle = rig.turned("bone 0").z;
        if before > 0.0 && angle <= 0.0 {
            times.push((index as f32 - angle / (angle - before)) / rate);
        }
        assert!(angle.abs() < amplitude * 1.01, "no energy is gained");
        before = angle;
    }
    let found = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f32;
    // The field is 60 · stiffness; finite swings take 1 + θ²/16 longer, substeps are off by (ωh)²/24 < 2e-4.
    let period = TAU * (length / (60.0 * stiffness)).sqrt() * (1.0 + amplitude * amplitude / 16.0);
    assert!((found - period).abs() < 1e-3 * period, "{found} {period}");
}

#[test]
fn it_starts_and_ends_where_stiffness_and_gravity_balance() {
    let joint = SpringJoint {
        gravity: Vec3::new(0.6, 0.0, 0.0),
        ..lock(0.8, 0.5)
    };
    let mut rig = Rig::one(strand(2, 0.1), spring(2, 0.1, &joint));
    let first = Vec3::new(0.6, -0.8, 0.0);
    let second = (first * 0.8 + joint.gravity).normalize();
    for index in 0..200 {
        let jolt = if index == 1 { 0.3 } else { 0.0 };
        frame(&mut rig, Vec3::x() * jolt, 1.0 / 60.0);
        if index == 0 || index == 199 {
            let ends = tails(&rig, 2, 0.1);
            check(ends[0], first * 0.1, 1e-5);
            check(ends[1], (first + second) * 0.1, 1e-5);
        }
    }
}

#[test]
fn all_of_a_chain_moves_in_one_frame_and_keeps_its_lengths() {
    let mut rig = Rig::one(strand(5, 0.1), spring(5, 0.1, &lock(0.2, 0.3)));
    frame(&mut rig, Vec3::zeros(), 0.0);
    frame(&mut rig, Vec3::x() * 0.05, 1.0 / 60.0);
    let ends = tails(&rig, 5, 0.1);
    let mut head = Vec3::x() * 0.05;
    for (index, end) in ends.iter().enumerate() {
        assert!(((end - head).norm() - 0.1).abs() < 1e-6);
        assert!(end.x < 0.05, "bone {index} lags behind");
        head = *end;
    }
}

#[test]
fn what_moves_with_its_center_does_not_swing() {
    let mut spring_bone = spring(3, 0.1, &lock(0.5, 0.4));
    spring_bone.center = Some("root".into());
    let mut rig = Rig::one(strand(3, 0.1), spring_bone);
    for index in 0..60 {
        // The root turns and travels, and gravity there is none.
        let rest = rig.skeleton.rest().clone();
        rig.pose.copy_from(&rest);
        rig.put("root", sway(index as f32 / 20.0));
        rig.turn("root", Vec3::new(0.0, 0.1, 0.2) * index as f32);
        rig.run(1.0 / 60.0);
        for bone in ["bone 0", "bone 1", "bone 2"] {
            check(rig.turned(bone), Vec3::zeros(), 2e-3);
        }
    }
}

#[test]
fn a_jump_leaves_it_at_rest() {
    let mut spring_bone = spring(3, 0.1, &lock(0.5, 0.4));
    spring_bone.teleport = Some(1.0);
    let mut rig = Rig::one(strand(3, 0.1), spring_bone);
    frame(&mut rig, Vec3::zeros(), 0.01);
    frame(&mut rig, Vec3::x() * 0.2, 0.01);
    assert!(rig.turned("bone 0").norm() > 0.1);
    frame(&mut rig, Vec3::x() * 10.0, 0.01);
    check(rig.turned("bone 0"), Vec3::zeros(), 1e-4);
    frame(&mut rig, Vec3::x() * 10.2, 0.01);
    assert!(rig.turned("bone 0").norm() > 0.1);
    rig.state.settle();
    frame(&mut rig, Vec3::x() * 10.5, 0.01);
    check(rig.turned("bone 0"), Vec3::zeros(), 1e-4);
}

#[test]
fn a_giant_swings_as_its_model_does() {
    let joint = SpringJoint {
        gravity: Vec3::new(0.0, -0.2, 0.1),
        hit_radius: 0.02,
        ..lock(0.7, 0.3)
    };
    let ball = SpringCollider {
        joint: "root".into(),
        shape: SpringShape::Ball {
            center: Vec3::new(0.1, -0.2, 0.0),
            radius: 0.06,
            inside: false,
        },
    };
    let run = |size: f32| {
        let spring_bone = SpringBone {
            colliders: vec![ball.clone()],
            ..spring(3, 0.1, &joint)
        };
        let mut rig = Rig::one(strand(3, 0.1), spring_bone);
        rig.state.world_from_model = Affine::from(Transform {
            scale: Vec3::repeat(size),
            ..Transform::IDENTITY
        });
        (0..90)
            .map(|index| {
                frame(&mut rig, sway(index as f32 / 60.0), 1.0 / 60.0);
                rig.turned("bone 2")
            })
            .collect::<Vec<_>>()
    };
    let model = run(1.0);
    for size in [0.01, 8.0] {
        for (found, expected) in run(size).iter().zip(&model) {
            check(*found, *expected, 1e-3);
        }
    }
}

/// How far the ends are outside `shape`, at least; its joint stands at the origin.
fn clearance(ends: &[Vec3], shape: &SpringShape) -> f32 {
    let distance = |end: &Vec3| match shape {
        SpringShape::Ball {
            center,
            radius,
            inside,
        } => ((end - center).norm() - radius) * if *inside { -1.0 } else { 1.0 },
        SpringShape::Capsule {
            ends: [a, b],
            radius,
            inside,
        } => {
            let t = (end - a).dot(&(b - a)) / (b - a).norm_squared();
            let out = (end - a - (b - a) * t.clamp(0.0, 1.0)).norm() - radius;
            out * if *inside { -1.0 } else { 1.0 }
        }
        SpringShape::Plane { point, normal } => (end - point).dot(&normal.normalize()),
    };
    ends.iter().map(distance).fold(f32::INFINITY, f32::min)
}

#[test]
fn bones_stay_out_of_colliders_or_inside() {
    let shapes = [
        SpringShape::Ball {
            center: Vec3::new(0.02, -0.2, 0.0),
            radius: 0.08,
            inside: false,
        },
        SpringShape::Ball {
            center: Vec3::new(0.0, -0.1, 0.0),
            radius: 0.2,
            inside: true,
        },
        SpringShape::Capsule {
            ends: [Vec3::new(0.03, -0.2, -0.5), Vec3::new(0.03, -0.2, 0.5)],
            radius: 0.08,
            inside: false,
        },
        SpringShape::Capsule {
            ends: [Vec3::new(0.0, -0.5, 0.0), Vec3::new(0.0, 0.5, 0.0)],
            radius: 0.06,
            inside: true,
        },
        SpringShape::Plane {
            point: Vec3::new(-0.03, 0.0, 0.0),
            normal: Vec3::new(2.0, 0.0, 0.0),
        },
    ];
    let joint = SpringJoint {
        hit_radius: 0.02,
        ..lock(0.5, 0.3)
    };
    for shape in shapes {
        let mut joints = strand(3, 0.1);
        joints.push(bone("anchor", None, at(0.0, 0.0, 0.0)));
        let spring_bone = SpringBone {
            colliders: vec![SpringCollider {
                joint: "anchor".into(),
                shape,
            }],
            ..spring(3, 0.1, &joint)
        };
        let mut rig = Rig::one(joints, spring_bone);
        let mut touched = false;
        for index in 0..180 {
            let place = Vec3::x() * (0.04 * (index as f32 * 0.1).sin());
            frame(&mut rig, place, 1.0 / 60.0);
            let clear = clearance(&tails(&rig, 3, 0.1), &shape) - joint.hit_radius;
            // A capsule's nearest point moves as the bone turns: a thousandth of a bone.
            assert!(clear > -2e-4, "{clear} at frame {index} of {shape:?}");
            touched |= clear < 1e-3;
        }
        assert!(touched, "{shape:?}");
    }
}

#[test]
fn what_passes_between_two_frames_pushes_all_the_same() {
    let mut joints = strand(3, 0.1);
    joints.push(bone("fist", None, at(0.0, 0.0, 0.0)));
    let ball = SpringShape::Ball {
        center: Vec3::new(0.0, -0.25, 0.0),
        radius: 0.08,
        inside: false,
    };
    let spring_bone = SpringBone {
        colliders: vec![SpringCollider {
            joint: "fist".into(),
            shape: ball,
        }],
        ..spring(3, 0.1, &lock(0.5, 0.3))
    };
    let mut rig = Rig::one(joints, spring_bone);
    for place in [-0.25, -0.25, 0.25] {
        let rest = rig.skeleton.rest().clone();
        rig.pose.copy_from(&rest);
        rig.put("fist", Vec3::x() * place);
        rig.run(1.0 / 24.0);
    }
    // The fist was clear of the strand in each frame, on one side and then on the other.
    let end = tails(&rig, 3, 0.1)[2];
    assert!(end.x > 0.02, "{end}");
}

#[test]
fn what_cannot_be_is_refused() {
    let skeleton = Skeleton::new(strand(3, 0.1)).unwrap();
    let refuse = |spring_bone: SpringBone| {
        Drivers::new(&skeleton, vec![DriverSpec::new("hair", spring_bone)]).unwrap_err()
    };
    let base = spring(3, 0.1, &lock(1.0, 0.5));
    let mut backward = base.clone();
    backward.joints.reverse();
    let driver = || "hair".to_owned();
    assert_eq!(refuse(backward), DriverError::NotBelow { driver: driver() });
    let wild = spring(3, 0.1, &lock(1.0, 1.5));
    let what = "a drag";
    assert_eq!(
        refuse(wild),
        DriverError::OutOfRange {
            driver: driver(),
            what
        }
    );
    let ball = SpringCollider {
        joint: "bone 2".into(),
        shape: SpringShape::Ball {
            center: Vec3::zeros(),
            radius: 0.1,
            inside: false,
        },
    };
    let own = SpringBone {
        colliders: vec![ball],
        ..base.clone()
    };
    assert!(matches!(refuse(own), DriverError::Cycle { .. }));
    let empty = SpringBone {
        joints: vec![],
        ..base
    };
    assert!(matches!(refuse(empty), DriverError::Empty { .. }));
}

#[test]
fn joints_may_be_left_out_and_the_tip_may_be_one() {
    let spring_bone = SpringBone {
        joints: vec![SpringJoint {
            joint: "bone 0".into(),
            ..lock(0.5, 0.3)
        }],
        ..SpringBone::new(SpringTip::Joint("bone 2".into()))
    };
    let mut rig = Rig::one(strand(3, 0.1), spring_bone);
    frame(&mut rig, Vec3::zeros(), 0.0);
    frame(&mut rig, Vec3::x() * 0.1, 1.0 / 60.0);
    assert!(rig.turned("bone 0").norm() > 0.1);
    assert_eq!(rig.turned("bone 1"), Vec3::zeros());
    // The far end lags as one bone of twice the length: it has hardly left its height.
    assert!(rig.position("bone 2").x < 0.05);
}

#[test]
fn no_stiffness_and_no_frame_makes_it_explode() {
    for stiffness in [0.0, 1.0, 1e3, 1e6] {
        for drag in [0.0, 0.4, 1.0] {
            let joint = lock(stiffness, drag);
            let mut rig = Rig::one(strand(4, 0.05), spring(4, 0.05, &joint));
            for (index, dt) in [0.0, 0.016, 0.5, 1e-5, 0.016, 30.0, f32::NAN, -1.0, 0.016]
                .into_iter()
                .cycle()
                .take(200)
                .enumerate()
            {
                frame(&mut rig, sway(index as f32 * 0.05), dt);
                for end in tails(&rig, 4, 0.05) {
                    assert!(end.iter().all(|v| v.is_finite()));
                }
            }
            // Left alone, what has stiffness and drag comes to rest where it is posed.
            for _ in 0..600 {
                frame(&mut rig, Vec3::zeros(), 1.0 / 60.0);
            }
            if stiffness >= 1.0 && drag > 0.0 {
                let turn = rig.turned("bone 0").norm() + rig.turned("bone 3").norm();
                assert!(turn < 1e-2, "{turn} of {stiffness}, {drag}");
            }
        }
    }
}

#[test]
fn very_stiff_bones_follow_their_pose() {
    let mut rig = Rig::one(strand(3, 0.1), spring(3, 0.1, &lock(1e4, 0.5)));
    let mut most = 0.0_f32;
    for index in 0..300 {
        frame(&mut rig, sway(index as f32 / 60.0), 1.0 / 60.0);
        for bone in ["bone 0", "bone 1", "bone 2"] {
            most = most.max(rig.turned(bone).norm());
        }
    }
    assert!(most < 0.05, "{most}");
}

#[test]
fn a_pause_is_no_motion() {
    let mut rig = Rig::one(strand(3, 0.1), spring(3, 0.1, &lock(0.5, 0.3)));
    frame(&mut rig, Vec3::zeros(), 0.01);
    frame(&mut rig, Vec3::x() * 0.1, 0.01);
    let before = (rig.pose.clone(), rig.state.clone());
    frame(&mut rig, Vec3::x() * 0.1, 0.0);
    assert_eq!(before.0, rig.pose);
    assert_eq!(before.1, rig.state);
}

#[test]
fn it_waits_for_what_moves_its_root() {
    let breathe = Breathe {
        turn: Vec3::z() * 0.5,
        ..Breathe::new("root")
    };
    let specs = vec![
        DriverSpec::new("hair", spring(2, 0.1, &lock(1.0, 0.5))),
        DriverSpec::new("breath", breathe),
    ];
    let rig = Rig::new(strand(2, 0.1), specs);
    let order: Vec<_> = rig.drivers.order().collect();
    assert_eq!(order, ["breath", "hair"]);
}

#[test]
fn half_a_turn_is_no_flip() {
    // Gravity pulls right against the pose, and the root spins under it.
    let joint = SpringJoint {
        gravity: Vec3::new(0.0, 2.0, 0.0),
        ..lock(0.5, 0.3)
    };
    let mut rig = Rig::one(strand(2, 0.1), spring(2, 0.1, &joint));
    let mut before: Option<Vec<Vec3>> = None;
    for index in 0..240 {
        let rest = rig.skeleton.rest().clone();
        rig.pose.copy_from(&rest);
        rig.turn("root", Vec3::z() * (PI * index as f32 / 60.0));
        rig.run(1.0 / 60.0);
        let ends = tails(&rig, 2, 0.1);
        if let Some(before) = before {
            for (a, b) in ends.iter().zip(&before) {
                assert!((a - b).norm() < 0.05, "frame {index}");
            }
        }
        before = Some(ends);
        let joint = rig.joint("bone 1");
        assert!((rig.pose.rotation(joint).norm() - 1.0).abs() < 1e-5);
    }
    assert!(quat::log(rig.pose.rotation(rig.joint("bone 0"))).norm() < PI + 1e-3);
}

proptest! {
    #[test]
    fn any_spring_keeps_its_bones_together(
        stiffness in 0.0..100.0_f32, drag in 0.0..=1.0_f32, gravity in -50.0..50.0_f32,
        jolt in -5.0..5.0_f32, dt in 0.0..0.3_f32,
    ) {
        let joint = SpringJoint { gravity: Vec3::new(gravity, 0.3 * gravity, 0.0), ..lock(stiffness, drag) };
        let mut rig = Rig::one(strand(3, 0.1), spring(3, 0.1, &joint));
        for index in 0..20 {
            let place = Vec3::new(0.0, 0.0, if index % 3 == 0 { jolt } else { 0.0 });
            frame(&mut rig, place, dt);
            let mut head = place;
            for end in tails(&rig, 3, 0.1) {
                // Three rotations of a chain that is 5 m out, rounded.
                prop_assert!(((end - head).norm() - 0.1).abs() < 1e-5);
                head = end;
            }
        }
    }
}
