//! What is measured between frames, against the closed forms of wheels, falls and fast hands.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use std::f32::consts::{PI, TAU};

use anim_curves::{FrameClock, Interpolation, Key, Track};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{
    AliasingOptions, Channel, ClipSpec, JointAliasing, JointSpec, JointTrack, Skeleton,
    SkeletonError, aliasing,
};

const CLOCK: FrameClock = FrameClock::FILM;
const OPTIONS: AliasingOptions = AliasingOptions {
    shell: 0.5,
    max_travel: 2.0,
    steps: 16,
};

/// An axle and a wheel on it, a metre away.
fn skeleton() -> Skeleton {
    let joint = |parent| JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::x()),
    };
    Skeleton::new(vec![joint(None), joint(Some(0))]).unwrap()
}

/// Joint `joint` at `turns` turns a frame, with 37 keys a turn, for 12 frames.
fn wheel(joint: usize, turns: f32) -> ClipSpec {
    let key_count = (12.0 * turns * 37.0).round() as usize;
    let time = |n: usize| n as f32 / key_count as f32 * 0.5;
    let angle = |n: usize| TAU * 12.0 * turns * n as f32 / key_count as f32;
    let keys =
        (0..=key_count).map(|n| Key::new(time(n), quat::from_axis_angle(Vec3::z(), angle(n))));
    let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
    ClipSpec {
        channels: vec![Channel {
            joint,
            track: JointTrack::Rotation(track),
        }],
        ..ClipSpec::default()
    }
}

fn measured(clip: &ClipSpec, options: &AliasingOptions) -> Vec<JointAliasing> {
    clip.aliasing(&skeleton(), CLOCK, options).unwrap()
}

#[test]
fn a_wheel_seems_to_turn_backward_from_half_a_turn_a_frame_on() {
    for (turns, backward) in [
        (0.4, false),
        (0.49, false),
        (0.5, true),
        (0.6, true),
        (1.0, true),
        (3.2, true),
    ] {
        let [axle, wheel] = measured(&wheel(1, turns), &OPTIONS)[..] else {
            panic!("two joints");
        };
        // Two hundred small turns, each rounded.
        assert!(
            (wheel.turn.amount - TAU * turns).abs() < 2e-5 * TAU * turns.max(1.0),
            "{turns}: {wheel:?}"
        );
        assert_eq!(wheel.seems_to_turn_backward(), backward, "{turns}");
        assert_eq!((axle.turn.amount, axle.is_flagged()), (0.0, false));
    }
}

#[test]
fn what_hangs_on_a_wheel_travels_its_circle() {
    let turns = 0.4;
    let [axle, rim] = measured(&wheel(0, turns), &OPTIONS)[..] else {
        panic!("two joints");
    };
    let arc = TAU * turns;
    // Sixteen chords for an arc of θ are shorter than it by θ²/(24 · 16²).
    let short = arc * arc / (24.0 * 256.0);
    for (length, radius) in [
        (axle.shell_travel.amount, 0.5),
        (rim.travel.amount, 1.0),
        (rim.shell_travel.amount, 1.5),
    ] {
        let exact = arc * radius;
        assert!(
            (exact * (1.0 - 1.5 * short)..=exact * 1.0001).contains(&length),
            "{length} {radius}"
        );
    }
    assert_eq!(axle.travel.amount, 0.0);
    assert!(
        (rim.turn.amount - arc).abs() < 1e-4,
        "it turns with the wheel"
    );
    assert!(!axle.travels_too_far && rim.travels_too_far);
    assert!(rim.is_flagged() && !rim.seems_to_turn_backward());
}

#[test]
fn a_stride_is_found_at_its_frame() {
    // A step of 3 m within frame 5, there and back, which the frames do not show.
    let at = |frame: f32, x: f32| Key::new(frame / 24.0, Vec3::x() * x);
    let keys = vec![
        at(0.0, 0.0),
        at(5.25, 0.0),
        at(5.5, 1.5),
        at(5.75, 0.0),
        at(10.0, 0.0),
    ];
    let track = Track::new(keys, Interpolation::Linear).unwrap();
    let clip = ClipSpec {
        channels: vec![Channel {
            joint: 1,
            track: JointTrack::Translation(track),
        }],
        ..ClipSpec::default()
    };
    let joint = measured(&clip, &OPTIONS)[1];
    assert!((joint.travel.amount - 3.0).abs() < 1e-4, "{joint:?}");
    assert_eq!(joint.travel.frame, 5);
    assert!(joint.travels_too_far);
    // Looking at the frames alone sees nothing.
    let frames_only = AliasingOptions {
        steps: 0,
        ..OPTIONS
    };
    let joint = measured(&clip, &frames_only)[1];
    assert!(joint.travel.amount < 1e-5 && !joint.is_flagged());
}

#[test]
fn a_trembling_hand_does_not_turn() {
    let mut keys = Vec::new();
    for n in 0_u8..=192 {
        let angle = if n % 2 == 0 { 0.5 } else { -0.5 };
        keys.push(Key::new(
            f32::from(n) / (24.0 * 16.0),
            quat::from_axis_angle(Vec3::y(), angle),
        ));
    }
    let track = Track::new(keys, Interpolation::Linear).unwrap();
    let mut clip = wheel(0, 0.1);
    clip.channels[0].track = JointTrack::Rotation(track);
    let joint = measured(&clip, &OPTIONS)[0];
    assert!(joint.turn.amount < 1e-4 && !joint.seems_to_turn_backward());
    // But its skin travels 16 arcs of a radian, half a metre from the joint.
    assert!(joint.shell_travel.amount > 7.0);
}

#[test]
fn what_does_not_move_or_last_is_not_flagged() {
    let still = ClipSpec::default();
    for joint in measured(&still, &OPTIONS) {
        assert!(!joint.is_flagged() && joint.turn.amount == 0.0 && joint.turn.frame == 0);
    }
    let mut broken = wheel(0, 0.3);
    broken.channels[0].joint = 2;
    let error = broken.aliasing(&skeleton(), CLOCK, &OPTIONS).unwrap_err();
    assert_eq!(
        error,
        SkeletonError::NoJoint {
            channel: 0,
            joint: 2
        }
    );
}

#[test]
fn whatever_poses_a_skeleton_is_measured() {
    let skeleton = skeleton();
    let wheel = skeleton.joint(1);
    let mut times = Vec::new();
    let found = aliasing(
        &skeleton,
        FrameClock::FPS_60,
        10..12,
        &OPTIONS,
        |time, pose| {
            times.push(time);
            pose.set_rotation(wheel, quat::from_axis_angle(Vec3::y(), time * time * 60.0));
        },
    );
    assert_eq!(times.len(), 33);
    assert!(times.is_sorted_by(|a, b| a < b) && times[0] == 10.0 / 60.0 && times[32] == 0.2);
    // t² rises faster later: from 11² to 12² sixtieths.
    assert_eq!(found[1].turn.frame, 11);
    assert!((found[1].turn.amount - 23.0 / 60.0).abs() < 1e-5);
}

#[test]
fn a_human_at_film_rate_is_not_flagged() {
    let (skeleton, clip) = common::synth60();
    let found = clip
        .aliasing(&skeleton, CLOCK, &AliasingOptions::default())
        .unwrap();
    assert_eq!(found.len(), 60);
    for joint in found {
        assert!((0.0..PI).contains(&joint.turn.amount) && joint.travel.amount < 1.0);
    }
}
