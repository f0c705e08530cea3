//! Baking and sampling, against exact curves.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::lanes::Level;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{
    BakeOptions, BakeReport, Channel, Clip, ClipSpec, Globals, JointSpec, JointTrack, Pose,
    Skeleton, SkeletonError, Wrap,
};
use common::{Random, human, motion};
use proptest::prelude::*;

/// How far a component may be off after rounding to 16 bits, mixing and normalising.
const ROUNDING: f32 = 4.0 / 32767.0;

fn single(rest: Transform) -> Skeleton {
    Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest,
    }])
    .unwrap()
}

/// Thirty joints, two seconds at 30 Hz.
fn moving() -> (Skeleton, ClipSpec) {
    (Skeleton::new(human(30)).unwrap(), motion(30, 2.0, 30.0))
}

fn rotation(joint: usize, keys: &[(f32, Quat)], way: Interpolation) -> Channel {
    let keys = keys
        .iter()
        .map(|(time, value)| Key::new(*time, *value))
        .collect();
    let track = JointTrack::Rotation(Track::new(keys, way).unwrap());
    Channel { joint, track }
}

fn translation(joint: usize, keys: &[(f32, Vec3)], way: Interpolation) -> Channel {
    let keys = keys
        .iter()
        .map(|(time, value)| Key::new(*time, *value))
        .collect();
    let track = JointTrack::Translation(Track::new(keys, way).unwrap());
    Channel { joint, track }
}

fn spec(channels: Vec<Channel>) -> ClipSpec {
    ClipSpec {
        channels,
        ..ClipSpec::default()
    }
}

fn bake(spec: &ClipSpec, skeleton: &Skeleton) -> (Clip, BakeReport) {
    Clip::bake(spec, skeleton, &BakeOptions::default()).unwrap()
}

fn about_y(angle: f32) -> Quat {
    quat::from_axis_angle(Vec3::y(), angle)
}

fn bits(pose: &Pose) -> Vec<u32> {
    let lanes = pose.blocks().iter().flat_map(|block| {
        block
            .rotation
            .iter()
            .chain(&block.translation)
            .chain(&block.scale)
    });
    lanes.flatten().map(|v| v.to_bits()).collect()
}

#[test]
fn a_joint_without_keys_keeps_its_rest_pose_to_the_bit() {
    let rest = Transform {
        translation: Vec3::new(0.1, 0.2, 0.3),
        rotation: quat::exp(Vec3::new(0.3, -0.2, 0.9)),
        scale: Vec3::new(-1.43, 1.0, 1.0),
    };
    let joint = |parent| JointSpec {
        name: None,
        parent,
        rest,
    };
    let skeleton = Skeleton::new(vec![joint(None), joint(Some(0)), joint(Some(0))]).unwrap();
    let moves = [(0.0, Vec3::zeros()), (1.0, Vec3::x())];
    let turns = [(0.0, about_y(0.0)), (1.0, about_y(1.0))];
    let spec = spec(vec![
        translation(1, &moves, Interpolation::Linear),
        rotation(2, &turns, Interpolation::Linear),
    ]);
    let (clip, _) = bake(&spec, &skeleton);
    let mut pose = Pose::identity(3);
    for time in [0.0, 0.3, 1.0] {
        clip.sample(time, &mut pose);
        assert_eq!(pose.get(skeleton.joint(0)), rest);
        assert_eq!(pose.get(skeleton.joint(1)).rotation, rest.rotation);
        assert_eq!(pose.get(skeleton.joint(1)).scale, rest.scale);
        assert_eq!(pose.get(skeleton.joint(2)).translation, rest.translation);
    }
}

#[test]
fn spare_lanes_stay_the_identity() {
    let skeleton = Skeleton::new(human(11)).unwrap();
    let (clip, _) = bake(&motion(11, 1.0, 30.0), &skeleton);
    let mut pose = skeleton.rest().clone();
    clip.sample(0.4, &mut pose);
    for lane in 3..8 {
        assert_eq!(
            pose.blocks()[1].rotation.map(|part| part[lane]),
            [0.0, 0.0, 0.0, 1.0]
        );
        assert_eq!(pose.blocks()[1].scale.map(|part| part[lane]), [1.0; 3]);
    }
}

#[test]
fn keys_on_samples_are_met_to_rounding() {
    let (skeleton, spec) = moving();
    let options = BakeOptions {
        tolerance: 0.0002,
        ..BakeOptions::default()
    };
    let (clip, report) = Clip::bake(&spec, &skeleton, &options).unwrap();
    assert!(report.reached, "{report:?}");
    assert_eq!(report.samples, 61);
    let (mut exact, mut baked) = (skeleton.rest().clone(), skeleton.rest().clone());
    for frame in 0..=60 {
        let time = frame as f32 / 30.0;
        spec.sample(&skeleton, time, &mut exact);
        clip.sample(time, &mut baked);
        for joint in skeleton.joints() {
            let turn = quat::angle_between(exact.rotation(joint), baked.rotation(joint));
            assert!(turn < ROUNDING);
        }
    }
}

#[test]
fn a_short_turn_is_never_taken_the_long_way() {
    let turn = std::f32::consts::TAU / 12.0;
    let keys: Vec<_> = (0..13)
        .map(|key| {
            let q = about_y(key as f32 * turn);
            (
                key as f32,
                if key % 2 == 1 {
                    Quat::new_unchecked(-q.into_inner())
                } else {
                    q
                },
            )
        })
        .collect();
    let skeleton = single(Transform::IDENTITY);
    let (clip, _) = bake(
        &spec(vec![rotation(0, &keys, Interpolation::Linear)]),
        &skeleton,
    );
    let mut last = clip.sample_joint(skeleton.joint(0), 0.0).rotation;
    for step in 1..=1200 {
        let now = clip
            .sample_joint(skeleton.joint(0), step as f32 * 0.01)
            .rotation;
        assert!(
            last.coords.dot(&now.coords) > 0.99,
            "a sign flips at step {step}"
        );
        assert!(quat::angle_between(last, now) < turn * 0.015);
        last = now;
    }
}

#[test]
fn steps_switch_exactly_at_their_keys() {
    let keys = [
        (0.0, Vec3::zeros()),
        (0.4, Vec3::x()),
        (0.7, Vec3::new(5.0, 6.0, 7.0)),
    ];
    let turns = [
        (0.0, about_y(0.1)),
        (0.3, about_y(2.0)),
        (1.0, about_y(-1.0)),
    ];
    let slope = [(0.0, about_y(0.0)), (1.0, about_y(1.0))];
    let skeleton = Skeleton::new(human(9)).unwrap();
    let spec = spec(vec![
        translation(0, &keys, Interpolation::Step),
        rotation(1, &turns, Interpolation::Step),
        rotation(2, &slope, Interpolation::Linear),
    ]);
    let (clip, report) = bake(&spec, &skeleton);
    assert!(report.reached);
    let (mut exact, mut baked) = (skeleton.rest().clone(), skeleton.rest().clone());
    for time in [0.4_f32, 0.7, 0.3, 1.0] {
        for time in [time.next_down(), time, time.next_up()] {
            spec.sample(&skeleton, time, &mut exact);
            clip.sample(time, &mut baked);
            let (a, b) = (skeleton.joint(0), skeleton.joint(1));
            assert_eq!(baked.translation(a), exact.translation(a));
            assert_eq!(baked.rotation(b), exact.rotation(b));
        }
    }
}

#[test]
fn a_loop_ends_where_it_starts_and_a_clip_played_once_does_not() {
    let skeleton = single(Transform::IDENTITY);
    let joint = skeleton.joint(0);
    let keys = [0.0, 1.0, 2.0, 3.0].map(|time| (time, Vec3::x() * time));
    for way in [Interpolation::Step, Interpolation::Linear] {
        let (clip, _) = bake(&spec(vec![translation(0, &keys, way)]), &skeleton);
        let at = |wrap: Wrap, time| clip.sample_joint(joint, wrap.apply(time, clip.duration()));
        assert_eq!(at(Wrap::Loop, 3.0), at(Wrap::Loop, 0.0));
        assert_eq!(at(Wrap::Loop, 7.5), at(Wrap::Loop, 1.5));
        assert_eq!(at(Wrap::Loop, -1.5), at(Wrap::Loop, 1.5));
        assert_eq!(at(Wrap::Clamp, 3.0).translation, Vec3::x() * 3.0);
        assert_eq!(at(Wrap::Clamp, 99.0).translation, Vec3::x() * 3.0);
        assert_eq!(at(Wrap::Clamp, -1.0).translation, Vec3::zeros());
    }
}

#[test]
fn a_single_key_is_a_clip_without_length() {
    let skeleton = single(Transform::IDENTITY);
    for way in [Interpolation::Step, Interpolation::Linear] {
        let spec = spec(vec![rotation(0, &[(0.0, about_y(0.7))], way)]);
        let (clip, report) = bake(&spec, &skeleton);
        assert_eq!(
            (clip.duration(), report.samples, report.rate),
            (0.0, 1, 0.0)
        );
        assert!(report.reached);
        for time in [-1.0, 0.0, 5.0, f32::NAN, f32::INFINITY] {
            assert_eq!(
                clip.sample_joint(skeleton.joint(0), time).rotation,
                about_y(0.7)
            );
        }
    }
}

#[test]
fn curves_hold_outside_their_keys() {
    let skeleton = Skeleton::new(human(2)).unwrap();
    let late = [(0.5, Vec3::x()), (1.0, Vec3::y())];
    let long = [(0.0, Vec3::zeros()), (2.0, Vec3::z())];
    let spec = spec(vec![
        translation(0, &late, Interpolation::Linear),
        translation(1, &long, Interpolation::Linear),
    ]);
    let (clip, report) = bake(&spec, &skeleton);
    assert!(report.reached);
    for (time, value) in [
        (0.0, Vec3::x()),
        (0.5, Vec3::x()),
        (1.0, Vec3::y()),
        (2.0, Vec3::y()),
    ] {
        let found = clip.sample_joint(skeleton.joint(0), time).translation;
        assert!((found - value).norm() < 0.0005);
    }
}

#[test]
fn the_same_time_gives_the_same_bits_after_any_history() {
    let (skeleton, spec) = moving();
    let (clip, _) = bake(&spec, &skeleton);
    let mut played = skeleton.rest().clone();
    let mut random = Random(1);
    for _ in 0..200 {
        let time = (random.signed() + 1.0) * 1.1;
        let mut sought = Pose::identity(skeleton.len());
        clip.sample((random.signed() + 1.0) * 1.0, &mut played);
        clip.sample(time, &mut played);
        clip.sample(time, &mut sought);
        assert_eq!(bits(&played), bits(&sought));
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let (skeleton, spec) = moving();
    let (clip, _) = bake(&spec, &skeleton);
    let (mut best, mut baseline) = (skeleton.rest().clone(), skeleton.rest().clone());
    for step in 0..100 {
        let time = step as f32 * 0.0201;
        clip.sample_on(Level::new(), time, &mut best);
        clip.sample_on(Level::baseline(), time, &mut baseline);
        assert_eq!(bits(&best), bits(&baseline));
    }
}

#[test]
fn one_joint_alone_has_the_bits_it_has_in_the_pose() {
    let (skeleton, mut spec) = moving();
    spec.channels.push(translation(
        7,
        &[(0.0, Vec3::x()), (1.3, Vec3::y())],
        Interpolation::Step,
    ));
    let (clip, _) = bake(&spec, &skeleton);
    let mut pose = skeleton.rest().clone();
    for time in [0.0, 0.01, 1.3, 1.567, 2.0, 3.0] {
        clip.sample(time, &mut pose);
        for joint in skeleton.joints() {
            assert_eq!(clip.sample_joint(joint, time), pose.get(joint));
        }
    }
}

#[test]
fn the_last_of_two_channels_for_one_property_wins() {
    let skeleton = single(Transform::IDENTITY);
    let spec = spec(vec![
        translation(
            0,
            &[(0.0, Vec3::x()), (1.0, Vec3::y())],
            Interpolation::Linear,
        ),
        translation(0, &[(0.0, Vec3::z())], Interpolation::Linear),
    ]);
    let (clip, report) = bake(&spec, &skeleton);
    assert_eq!(
        clip.sample_joint(skeleton.joint(0), 0.5).translation,
        Vec3::z()
    );
    assert_eq!((clip.duration(), report.samples), (1.0, 1));
}

#[test]
fn fewer_channels_than_joints_play_and_missing_joints_are_refused() {
    let skeleton = Skeleton::new(human(20)).unwrap();
    let spec = motion(18, 1.0, 30.0);
    let (_, report) = bake(&spec, &skeleton);
    assert!(report.reached);
    let short = Skeleton::new(human(5)).unwrap();
    let refused = Clip::bake(&spec, &short, &BakeOptions::default());
    assert_eq!(
        refused.unwrap_err(),
        SkeletonError::NoJoint {
            channel: 5,
            joint: 5
        }
    );
}

#[test]
fn a_key_far_in_the_future_exhausts_neither_memory_nor_patience() {
    let skeleton = single(Transform::IDENTITY);
    for far in [1e6, 1e9, 1e30] {
        let keys = [
            (0.0, about_y(0.0)),
            (1.0, about_y(1.0)),
            (far, about_y(2.0)),
        ];
        let spec = spec(vec![rotation(0, &keys, Interpolation::Linear)]);
        let options = BakeOptions {
            spare_bytes: 1 << 16,
            ..BakeOptions::default()
        };
        let (_, report) = Clip::bake(&spec, &skeleton, &options).unwrap();
        assert!(!report.reached, "{far}");
        assert!(report.bytes <= 1 << 17, "{far}: {report:?}");
    }
}

#[test]
fn a_tolerance_out_of_reach_is_reported_and_costs_no_needless_samples() {
    let (skeleton, spec) = moving();
    let options = BakeOptions {
        tolerance: 1e-7,
        max_rate: 120.0,
        ..BakeOptions::default()
    };
    let (_, report) = Clip::bake(&spec, &skeleton, &options).unwrap();
    assert!(!report.reached);
    assert_eq!(report.samples, 61, "{report:?}");
}

#[test]
fn a_larger_model_may_err_as_much_as_it_is_larger() {
    let options = BakeOptions::for_size(180.0);
    assert!((options.tolerance / BakeOptions::default().tolerance - 100.0).abs() < 1e-4);
    assert!((options.shell / BakeOptions::default().shell - 100.0).abs() < 1e-4);
    assert_eq!(BakeOptions::for_size(f32::NAN), BakeOptions::default());
    assert_eq!(BakeOptions::for_size(0.0), BakeOptions::default());
}

/// The largest distance between joints in model space, at `steps` times.
fn largest_error(spec: &ClipSpec, clip: &Clip, skeleton: &Skeleton, steps: usize) -> f32 {
    let mut pose = skeleton.rest().clone();
    let (mut exact, mut baked) = (Globals::new(skeleton), Globals::new(skeleton));
    let mut worst = 0.0_f32;
    for step in 0..=steps {
        let time = clip.duration() * step as f32 / steps as f32;
        spec.sample(skeleton, time, &mut pose);
        skeleton.globals(&pose, &mut exact);
        clip.sample(time, &mut pose);
        skeleton.globals(&pose, &mut baked);
        for joint in skeleton.joints() {
            let (exact, baked) = (exact.get(joint).translation, baked.get(joint).translation);
            worst = worst.max((exact - baked).norm());
        }
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn random_clips_are_baked_within_the_tolerance(seed in any::<u64>()) {
        let mut random = Random(seed);
        let count = 2 + random.below(18);
        let skeleton = Skeleton::new(human(count)).unwrap();
        let mut channels = Vec::new();
        for joint in 0..count {
            let ways = [Interpolation::Linear, Interpolation::Step, Interpolation::Cubic];
            let way = ways[random.below(3)];
            let mut time = random.signed() * 0.2;
            let mut keys = Vec::new();
            for _ in 0..1 + random.below(6) {
                let value = quat::exp(random.vector() * 0.6);
                let velocity = [random.rotation().coords * 0.2, random.rotation().coords * 0.2];
                keys.push(Key { time, value, velocity: Some(velocity) });
                time += 0.1 + 0.3 * (random.signed() + 1.0);
            }
            let track = JointTrack::Rotation(Track::new(keys, way).unwrap());
            channels.push(Channel { joint, track });
            if random.below(4) == 0 {
                let keys = [(0.0, random.vector() * 0.2), (0.7, random.vector() * 0.2)];
                channels.push(translation(joint, &keys, Interpolation::Linear));
            }
        }
        let spec = spec(channels);
        let (clip, report) = bake(&spec, &skeleton);
        let worst = largest_error(&spec, &clip, &skeleton, 333);
        if report.reached {
            // Between the times that baking checks it may be a little worse.
            prop_assert!(worst <= 1.25 * BakeOptions::default().tolerance, "{worst} {report:?}");
        } else {
            prop_assert!(report.max_error > BakeOptions::default().tolerance);
        }
    }
}
