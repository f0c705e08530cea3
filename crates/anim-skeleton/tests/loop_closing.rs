//! Closing loops: the seam is gone, the middle of the clip is not touched.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Vec3, quat};
use anim_skeleton::{
    Channel, ClipSpec, JointTrack, LoopOptions, Pose, Skeleton, SkeletonError, close_loop,
};
use common::{Random, human, motion};

const COUNT: usize = 20;

/// Two and a bit periods of waves that do not fit into the clip; the seam is open in every part.
fn open() -> (Skeleton, ClipSpec) {
    let skeleton = Skeleton::new(human(COUNT)).unwrap();
    let mut random = Random(5);
    let times: Vec<_> = (0..=240).map(|frame| frame as f32 / 120.0).collect();
    let mut channels = Vec::new();
    for joint in 0..COUNT {
        let mut wave = |size: f32| {
            let (way, phase) = (random.vector() * size, random.signed() * 3.0);
            move |time: f32| way * (5.0 * time + phase).sin()
        };
        let (way, turn, growth) = (wave(0.1), wave(0.5), wave(0.1));
        let linear = |value: &dyn Fn(f32) -> Vec3| {
            let keys = times.iter().map(|time| Key::new(*time, value(*time)));
            Track::new(keys.collect(), Interpolation::Linear).unwrap()
        };
        let keys = times
            .iter()
            .map(|time| Key::new(*time, quat::exp(turn(*time))));
        let rotation = Track::new(keys.collect(), Interpolation::Linear).unwrap();
        let tracks = [
            JointTrack::Translation(linear(&way)),
            JointTrack::Rotation(rotation),
            JointTrack::Scale(linear(&|time| Vec3::repeat(1.0) + growth(time))),
        ];
        channels.extend(tracks.map(|track| Channel { joint, track }));
    }
    let spec = ClipSpec {
        channels,
        ..ClipSpec::default()
    };
    (skeleton, spec)
}

fn at(spec: &ClipSpec, skeleton: &Skeleton, time: f32) -> Pose {
    let mut pose = skeleton.rest().clone();
    spec.sample(skeleton, time, &mut pose);
    pose
}

/// For each joint the way between two poses: of its position, its turn and its scale.
fn ways(from: &Pose, to: &Pose, skeleton: &Skeleton) -> Vec<[Vec3; 3]> {
    let way = |joint| {
        let (from, to) = (from.get(joint), to.get(joint));
        [
            to.translation - from.translation,
            quat::log(to.rotation * from.rotation.inverse()),
            to.scale - from.scale,
        ]
    };
    skeleton.joints().map(way).collect()
}

fn largest(ways: &[[Vec3; 3]]) -> f32 {
    ways.iter()
        .flatten()
        .fold(0.0, |most: f32, way| most.max(way.norm()))
}

/// How much the velocity jumps at the seam, per second, over steps of `step` seconds.
fn kink(spec: &ClipSpec, skeleton: &Skeleton, step: f32) -> f32 {
    let pose = |time| at(spec, skeleton, time);
    let first = ways(&pose(0.0), &pose(step), skeleton);
    let last = ways(&pose(2.0 - step), &pose(2.0), skeleton);
    let pairs = first.iter().flatten().zip(last.iter().flatten());
    pairs.fold(0.0, |most: f32, (a, b)| most.max((a - b).norm() / step))
}

#[test]
fn a_closed_clip_goes_on_at_its_seam_in_value_and_velocity() {
    let (skeleton, spec) = open();
    let seam = |spec: &ClipSpec| {
        largest(&ways(
            &at(spec, &skeleton, 0.0),
            &at(spec, &skeleton, 2.0),
            &skeleton,
        ))
    };
    assert!(seam(&spec) > 0.3 && kink(&spec, &skeleton, 1.0 / 120.0) > 1.0);
    let kinks = [60.0, 120.0, 240.0].map(|rate| {
        let options = LoopOptions {
            rate,
            ..LoopOptions::default()
        };
        let closed = close_loop(&spec, &skeleton, &options).unwrap();
        assert!(seam(&closed) < 2e-6);
        assert_eq!(closed.duration(), spec.duration());
        kink(&closed, &skeleton, 1.0 / rate)
    });
    // What is left of the kink is the bend within a step: 8 v₀ h / T.
    assert!(kinks[2] < 0.3 && kinks[1] < 0.6 * kinks[0], "{kinks:?}");
}

#[test]
fn outside_its_window_a_closed_clip_keeps_its_bits() {
    let (skeleton, spec) = open();
    let closed = close_loop(&spec, &skeleton, &LoopOptions::default()).unwrap();
    for key in 61..180 {
        let time = key as f32 / 120.0;
        assert_eq!(at(&closed, &skeleton, time), at(&spec, &skeleton, time));
    }
    assert_ne!(at(&closed, &skeleton, 0.25), at(&spec, &skeleton, 0.25));
}

#[test]
fn nothing_jumps_inside_a_closed_clip() {
    let (skeleton, spec) = open();
    for window in [0.2, 1.0, 9.0] {
        let options = LoopOptions {
            window,
            ..LoopOptions::default()
        };
        let closed = close_loop(&spec, &skeleton, &options).unwrap();
        let mut last = at(&closed, &skeleton, 0.0);
        for step in 1..=240 {
            let pose = at(&closed, &skeleton, step as f32 / 120.0);
            // 2.5 rad/s of the waves and half a gap of 1 rad at twice its mean speed in 0.2 s.
            assert!(largest(&ways(&last, &pose, &skeleton)) < 8.0 / 120.0);
            last = pose;
        }
    }
}

#[test]
fn travelling_joints_and_those_not_chosen_are_left_alone() {
    let (skeleton, spec) = (
        Skeleton::new(human(COUNT)).unwrap(),
        motion(COUNT, 2.0, 30.0),
    );
    let hips = skeleton.joint(0);
    let options = LoopOptions {
        travelling: vec![hips],
        ..LoopOptions::default()
    };
    let closed = close_loop(&spec, &skeleton, &options).unwrap();
    for time in [0.0, 0.1, 1.9, 2.0] {
        let (was, is) = (at(&spec, &skeleton, time), at(&closed, &skeleton, time));
        assert_eq!(was.translation(hips), is.translation(hips));
        assert_ne!(was.rotation(hips), is.rotation(hips));
    }
    let options = LoopOptions {
        joints: Some(vec![skeleton.joint(3)]),
        ..LoopOptions::default()
    };
    let closed = close_loop(&spec, &skeleton, &options).unwrap();
    for (was, is) in spec.channels.iter().zip(&closed.channels) {
        assert_eq!(was == is, was.joint != 3);
    }
}

#[test]
fn what_is_closed_already_or_stepped_or_short_is_not_touched() {
    let skeleton = Skeleton::new(human(1)).unwrap();
    let of = |values: &[f32], interpolation| {
        let keys = values.iter().enumerate();
        let keys = keys.map(|(time, x)| Key::new(time as f32, Vec3::x() * *x));
        let track = JointTrack::Translation(Track::new(keys.collect(), interpolation).unwrap());
        ClipSpec {
            channels: vec![Channel { joint: 0, track }],
            ..ClipSpec::default()
        }
    };
    let specs = [
        of(&[1.0, 1.0, 1.0], Interpolation::Linear),
        of(&[0.0, 1.0, 2.0], Interpolation::Step),
        of(&[1.0], Interpolation::Linear),
        ClipSpec::default(),
    ];
    for spec in specs {
        assert_eq!(
            close_loop(&spec, &skeleton, &LoopOptions::default()).unwrap(),
            spec
        );
    }
    let spec = of(&[0.0, 1.0], Interpolation::Linear);
    for window in [0.0, -1.0, f32::NAN] {
        let options = LoopOptions {
            window,
            ..LoopOptions::default()
        };
        assert_eq!(close_loop(&spec, &skeleton, &options).unwrap(), spec);
    }
    let refused = close_loop(&motion(3, 1.0, 30.0), &skeleton, &LoopOptions::default());
    assert!(matches!(refused, Err(SkeletonError::NoJoint { .. })));
}
