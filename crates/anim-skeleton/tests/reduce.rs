//! Reduced clips stay within the tolerance of their source, with fewer keys.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::nalgebra::Vector4;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Channel, ClipSpec, JointSpec, JointTrack, KeyChoice, ObjectError, ReduceOptions, Skeleton,
    SkeletonError,
};
use common::{Random, random_joints, synth60};

/// The largest error at `parts` points between all keys, measured anew.
fn worst(source: &ClipSpec, reduced: &ClipSpec, skeleton: &Skeleton, parts: usize) -> f32 {
    let mut times: Vec<f32> = Vec::new();
    for channel in &source.channels {
        times.extend(channel.track.times());
    }
    times.sort_by(f32::total_cmp);
    times.dedup();
    let between = times.windows(2).flat_map(|pair| {
        (0..parts).map(move |n| pair[0] + (pair[1] - pair[0]) * n as f32 / parts as f32)
    });
    let mut error = ObjectError::new(skeleton, ReduceOptions::default().shell);
    let (mut a, mut b) = (skeleton.rest().clone(), skeleton.rest().clone());
    for time in between.chain(times.last().copied()) {
        source.sample(skeleton, time, &mut a);
        reduced.sample(skeleton, time, &mut b);
        error.add(time, &a, &b);
    }
    error.worst().distance
}

fn channel(joint: usize, track: JointTrack) -> Channel {
    Channel { joint, track }
}

fn clip(channels: Vec<Channel>) -> ClipSpec {
    ClipSpec {
        channels,
        ..ClipSpec::default()
    }
}

fn chain(count: usize) -> Skeleton {
    let joints = (0..count).map(|joint: usize| JointSpec {
        name: None,
        parent: joint.checked_sub(1),
        rest: Transform::from_translation(Vec3::y()),
    });
    Skeleton::new(joints.collect()).unwrap()
}

fn vectors(of: &[(f32, f32)], interpolation: Interpolation) -> Track<Vec3> {
    let keys = of.iter().map(|(time, x)| Key::new(*time, Vec3::x() * *x));
    Track::new(keys.collect(), interpolation).unwrap()
}

#[test]
fn a_human_is_within_the_tolerance_with_fewer_keys() {
    let (skeleton, source) = synth60();
    let untouched = source.clone();
    let mut before = usize::MAX;
    for tolerance in [0.001, 0.01] {
        let options = ReduceOptions {
            tolerance,
            ..ReduceOptions::default()
        };
        let (reduced, report) = source.reduce(&skeleton, &options).unwrap();
        let error = worst(&source, &reduced, &skeleton, 2);
        assert!(error <= tolerance, "{error}");
        assert_eq!(error, report.max_error);
        assert_eq!(report.keys_before, 61 * 301);
        assert!(report.keys_after < before, "{report:?}");
        assert_eq!(reduced.duration(), source.duration());
        before = report.keys_after;
    }
    assert!(before < 61 * 301 * 2 / 5, "{before}");
    assert_eq!(source, untouched);
}

#[test]
fn a_finger_may_err_where_a_shoulder_may_not() {
    // The same small tremble at both ends of a chain of ten bones of a metre.
    let skeleton = chain(10);
    let tremble = || {
        let keys = (0_u8..=60).map(|n| {
            let angle = if n % 2 == 0 { 0.004 } else { -0.004 };
            Key::new(f32::from(n), quat::from_axis_angle(Vec3::z(), angle))
        });
        JointTrack::Rotation(Track::new(keys.collect(), Interpolation::Linear).unwrap())
    };
    let source = clip(vec![channel(0, tremble()), channel(9, tremble())]);
    let (reduced, report) = source.reduce(&skeleton, &ReduceOptions::default()).unwrap();
    let keys: Vec<_> = reduced
        .channels
        .iter()
        .map(|c| c.track.times().len())
        .collect();
    assert_eq!(keys, [61, 1], "{report:?}");
    assert!(report.max_error <= 0.001);
}

#[test]
fn errors_of_a_chain_do_not_add_up() {
    // Eight joints, each of which bends the same way.
    let skeleton = chain(8);
    let bend = |joint| {
        let keys = (0_u8..=100).map(|n| {
            let time = f32::from(n) * 0.05;
            Key::new(
                time,
                quat::from_axis_angle(Vec3::z(), 0.05 * (time * 2.0).sin()),
            )
        });
        let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
        channel(joint, JointTrack::Rotation(track))
    };
    let source = clip((0..8).map(bend).collect());
    for keys in [KeyChoice::Keep, KeyChoice::Fit] {
        let options = ReduceOptions {
            tolerance: 0.05,
            keys,
            ..ReduceOptions::default()
        };
        let (reduced, report) = source.reduce(&skeleton, &options).unwrap();
        assert!(worst(&source, &reduced, &skeleton, 2) <= 0.05);
        assert!(report.keys_after < report.keys_before / 2, "{report:?}");
    }
}

#[test]
fn constant_tracks_become_one_key_and_those_at_rest_may_go() {
    let skeleton = chain(3);
    let rest = Track::new(
        (0_u8..10)
            .map(|n| Key::new(f32::from(n), Vec3::y()))
            .collect(),
        Interpolation::Linear,
    );
    let rest = JointTrack::Translation(rest.unwrap());
    let away = JointTrack::Translation(vectors(
        &[(0.0, 2.0), (4.0, 2.0), (9.0, 2.0)],
        Interpolation::Linear,
    ));
    let moving = JointTrack::Translation(vectors(&[(0.0, 2.0), (9.0, 3.0)], Interpolation::Linear));
    let source = clip(vec![channel(0, moving), channel(1, rest), channel(2, away)]);
    let keys = |options: &ReduceOptions| -> Vec<_> {
        let (reduced, report) = source.reduce(&skeleton, options).unwrap();
        assert_eq!(report.max_error, 0.0);
        let channels = reduced.channels.iter();
        channels.map(|c| (c.joint, c.track.times().len())).collect()
    };
    let keep = ReduceOptions::default();
    assert_eq!(keys(&keep), [(0, 2), (1, 1), (2, 1)]);
    let drop = ReduceOptions {
        drop_rest: true,
        ..keep
    };
    assert_eq!(keys(&drop), [(0, 2), (2, 1)]);
}

#[test]
fn a_clip_that_stands_still_lasts_as_long() {
    let skeleton = chain(2);
    let still = |joint, end| {
        let track = vectors(&[(0.0, 0.0), (1.0, 0.0), (end, 0.0)], Interpolation::Linear);
        channel(joint, JointTrack::Translation(track))
    };
    let source = clip(vec![still(0, 3.0), still(1, 5.0)]);
    let options = ReduceOptions {
        drop_rest: true,
        ..ReduceOptions::default()
    };
    let (reduced, report) = source.reduce(&skeleton, &options).unwrap();
    assert_eq!(reduced.duration(), 5.0);
    assert_eq!(report.keys_after, 3);
    // Nothing at all is fine too.
    let (nothing, report) = ClipSpec::default().reduce(&skeleton, &options).unwrap();
    assert_eq!((nothing, report.keys_after), (ClipSpec::default(), 0));
}

#[test]
fn steps_switch_at_their_times_and_cubic_tracks_stay_cubic() {
    let skeleton = chain(2);
    let step = vectors(
        &[
            (0.0, 1.0),
            (0.4, 1.0),
            (1.0, 1.0001),
            (1.5, 1.0001),
            (2.0, 1.0001),
        ],
        Interpolation::Step,
    );
    let still = Vector4::zeros();
    let turn = |n: u8| {
        let angle = f32::from(n) * 0.1;
        let half = 0.05_f32 * 4.0;
        let leave = Vector4::new(
            0.0,
            0.0,
            (angle * 0.5).cos() * half,
            -(angle * 0.5).sin() * half,
        );
        let q = quat::from_axis_angle(Vec3::z(), angle);
        Key {
            time: f32::from(n) * 0.25,
            value: q,
            velocity: Some([leave + still, leave]),
        }
    };
    let turn: Track<Quat> = Track::new((0..=8).map(turn).collect(), Interpolation::Cubic).unwrap();
    let source = clip(vec![
        channel(0, JointTrack::Translation(step)),
        channel(1, JointTrack::Rotation(turn)),
    ]);
    let (reduced, report) = source.reduce(&skeleton, &ReduceOptions::default()).unwrap();
    assert_eq!(reduced.channels[0].track.times(), [0.0, 1.0, 2.0]);
    let cubic = &reduced.channels[1].track;
    assert_eq!(cubic.interpolation(), Interpolation::Cubic);
    assert!(cubic.times().len() <= 3, "{report:?}");
    assert!(worst(&source, &reduced, &skeleton, 16) <= 0.001);
}

#[test]
fn fitted_keys_are_fewer_where_motion_is_smooth() {
    let skeleton = chain(4);
    let swing = |joint: usize| {
        let keys = (0_u8..=120).map(|n| {
            let time = f32::from(n) / 30.0;
            let angle = 0.6 * (2.0 * time + joint as f32).sin();
            Key::new(time, quat::from_axis_angle(Vec3::x(), angle))
        });
        let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
        channel(joint, JointTrack::Rotation(track))
    };
    let source = clip((0..4).map(swing).collect());
    let keep = ReduceOptions {
        tolerance: 0.005,
        ..ReduceOptions::default()
    };
    let fit = ReduceOptions {
        keys: KeyChoice::Fit,
        ..keep
    };
    let (_, kept) = source.reduce(&skeleton, &keep).unwrap();
    let (reduced, fitted) = source.reduce(&skeleton, &fit).unwrap();
    assert!(
        fitted.keys_after * 3 < kept.keys_after,
        "{fitted:?} {kept:?}"
    );
    assert!(worst(&source, &reduced, &skeleton, 2) <= 0.005);
}

#[test]
fn random_clips_stay_within_any_tolerance() {
    let mut random = Random(7);
    for round in 0..30 {
        let count = 1 + random.below(20);
        let skeleton = Skeleton::new(random_joints(count, &mut random)).unwrap();
        let mut channels = Vec::new();
        for _ in 0..random.below(2 * count + 1) {
            let interpolation = [
                Interpolation::Step,
                Interpolation::Linear,
                Interpolation::Cubic,
            ][random.below(3)];
            let mut time = 0.0;
            let keys = 1 + random.below(20);
            let mut times = || {
                time += 0.05 + 0.05 * (random.below(4) as f32);
                time
            };
            let times: Vec<_> = (0..keys).map(|_| times()).collect();
            let mut vectors = |size: f32| {
                let keys = times.iter().map(|time| Key {
                    time: *time,
                    value: Vec3::repeat(1.0) + random.vector() * size,
                    velocity: Some([random.vector(), random.vector()]),
                });
                Track::new(keys.collect(), interpolation).unwrap()
            };
            let track = match channels.len() % 3 {
                0 => JointTrack::Translation(vectors(0.5)),
                1 => JointTrack::Scale(vectors(0.2)),
                _ => {
                    let mut q = random.rotation();
                    let keys = times.iter().map(|time| {
                        q = quat::exp(random.vector() * 0.3) * q;
                        let velocity = Vector4::repeat(random.signed());
                        Key {
                            time: *time,
                            value: q,
                            velocity: Some([velocity, velocity]),
                        }
                    });
                    JointTrack::Rotation(Track::new(keys.collect(), interpolation).unwrap())
                }
            };
            channels.push(channel(random.below(count), track));
        }
        let source = clip(channels);
        let options = ReduceOptions {
            tolerance: [0.0, 0.003, 0.1, 1.0][round % 4],
            drop_rest: round % 2 == 0,
            keys: [KeyChoice::Keep, KeyChoice::Fit][round % 3 % 2],
            ..ReduceOptions::default()
        };
        let (reduced, report) = source.reduce(&skeleton, &options).unwrap();
        let error = worst(&source, &reduced, &skeleton, 2);
        assert!(error <= options.tolerance, "{round}: {error} {report:?}");
        assert!(report.keys_after <= report.keys_before);
        // A channel that is overridden does not count.
        let durations = [source.duration(), reduced.duration()];
        assert!(durations[1] <= durations[0]);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let skeleton = chain(1);
    for tolerance in [-1.0, f32::NAN] {
        let options = ReduceOptions {
            tolerance,
            ..ReduceOptions::default()
        };
        let error = ClipSpec::default().reduce(&skeleton, &options).unwrap_err();
        assert!(matches!(error, SkeletonError::Tolerance { .. }));
    }
    let lost = clip(vec![channel(
        1,
        JointTrack::Scale(vectors(&[(0.0, 1.0)], Interpolation::Step)),
    )]);
    let error = lost
        .reduce(&skeleton, &ReduceOptions::default())
        .unwrap_err();
    assert_eq!(
        error,
        SkeletonError::NoJoint {
            channel: 0,
            joint: 1
        }
    );
}
