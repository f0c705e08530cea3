//! Strided clips: less memory, the promised error, no state.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::lanes::Level;
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{
    BakeOptions, Channel, Clip, ClipSpec, JointTrack, ObjectError, Skeleton, StridedClip,
};
use common::{Random, human, motion, synth60};

/// Turns that are smooth but for a burst in the middle.
fn burst(count: usize) -> (Skeleton, ClipSpec) {
    let channel = |joint: usize| {
        let angle = |time: f32| {
            let fast = if (time - 4.0).abs() < 0.5 {
                0.2 * (40.0 * time).sin()
            } else {
                0.0
            };
            0.4 * (0.5 * time + joint as f32).sin() + fast
        };
        let keys = (0..=240).map(|frame| {
            let time = frame as f32 / 30.0;
            Key::new(
                time,
                quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle(time)),
            )
        });
        let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
        Channel {
            joint,
            track: JointTrack::Rotation(track),
        }
    };
    let channels = (0..count).map(channel).collect();
    (
        Skeleton::new(human(count)).unwrap(),
        ClipSpec {
            channels,
            ..ClipSpec::default()
        },
    )
}

fn options(tolerance: f32) -> BakeOptions {
    BakeOptions {
        tolerance,
        ..BakeOptions::default()
    }
}

#[test]
fn calm_segments_take_fewer_keys_within_the_tolerance() {
    let (skeleton, spec) = burst(20);
    let (dense, _) = Clip::bake(&spec, &skeleton, &options(0.001)).unwrap();
    let (strided, report) = StridedClip::bake(&spec, &skeleton, &options(0.001)).unwrap();
    assert!(report.reached && report.max_error <= 0.001, "{report:?}");
    assert_eq!(report.bytes, strided.bytes());
    assert!(
        strided.bytes() * 2 < dense.bytes(),
        "{} of {}",
        strided.bytes(),
        dense.bytes()
    );
    // And measured here, between the samples of either.
    let mut error = ObjectError::new(&skeleton, 0.1);
    let (mut exact, mut pose) = (skeleton.rest().clone(), skeleton.rest().clone());
    for step in 0..1000 {
        let time = step as f32 * 0.00801;
        spec.sample(&skeleton, time, &mut exact);
        strided.sample(time, &mut pose);
        error.add(time, &exact, &pose);
    }
    assert!(error.worst().distance <= 0.00105, "{:?}", error.worst());
}

#[test]
fn without_anything_to_leave_out_the_bits_are_those_of_the_dense_clip() {
    let mut random = Random(5);
    let keys = |random: &mut Random| {
        (0..50)
            .map(|key| Key::new(key as f32 / 30.0, random.rotation()))
            .collect()
    };
    let channels = (0..11).map(|joint| {
        let track = Track::new(keys(&mut random), Interpolation::Linear).unwrap();
        Channel {
            joint,
            track: JointTrack::Rotation(track),
        }
    });
    let spec = ClipSpec {
        channels: channels.collect(),
        ..ClipSpec::default()
    };
    let skeleton = Skeleton::new(human(12)).unwrap();
    let (strided, report) = StridedClip::bake(&spec, &skeleton, &options(1e-9)).unwrap();
    let sampling = options(0.5e-9);
    let (dense, _) = Clip::bake(&spec, &skeleton, &sampling).unwrap();
    assert_eq!(dense.samples(), report.samples);
    let (mut a, mut b) = (skeleton.rest().clone(), skeleton.rest().clone());
    for step in -3..200 {
        let time = step as f32 * 0.0091;
        strided.sample(time, &mut a);
        dense.sample(time, &mut b);
        assert_eq!(a, b, "{time} s");
    }
}

#[test]
fn any_order_of_times_and_any_instruction_set_give_the_same_bits() {
    let (skeleton, spec) = burst(13);
    let (clip, _) = StridedClip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    let mut pose = skeleton.rest().clone();
    let times: Vec<f32> = (0..400).map(|step| step as f32 * 0.0203 - 0.02).collect();
    let forwards: Vec<_> = times
        .iter()
        .map(|time| {
            clip.sample(*time, &mut pose);
            pose.clone()
        })
        .collect();
    let mut random = Random(9);
    for _ in 0..2000 {
        let step = random.below(times.len());
        clip.sample_on(Level::baseline(), times[step], &mut pose);
        assert_eq!(pose, forwards[step]);
    }
}

#[test]
fn steps_translations_and_what_rests_are_those_of_the_dense_clip() {
    let (skeleton, mut spec) = burst(20);
    spec.channels.remove(7);
    let jump = vec![
        Key::new(0.0, Quat::identity()),
        Key::new(3.1, quat::from_axis_angle(Vec3::x(), 1.0)),
    ];
    spec.channels.push(Channel {
        joint: 7,
        track: JointTrack::Rotation(Track::new(jump, Interpolation::Step).unwrap()),
    });
    let travel = vec![Key::new(0.0, Vec3::zeros()), Key::new(8.0, Vec3::z())];
    spec.channels.push(Channel {
        joint: 0,
        track: JointTrack::Translation(Track::new(travel, Interpolation::Linear).unwrap()),
    });
    let (clip, _) = StridedClip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    let (mut exact, mut pose) = (skeleton.rest().clone(), skeleton.rest().clone());
    for time in [0.0, 2.0, 3.09, 3.1, 5.0, 8.0, 9.0] {
        spec.sample(&skeleton, time, &mut exact);
        clip.sample(time, &mut pose);
        let joint = skeleton.joint(7);
        assert_eq!(pose.rotation(joint), exact.rotation(joint), "{time} s");
        let root = skeleton.joint(0);
        assert!((pose.translation(root) - exact.translation(root)).norm() < 1e-5);
    }
}

#[test]
fn clips_without_motion_or_time_are_fine() {
    let skeleton = Skeleton::new(human(9)).unwrap();
    let (clip, report) =
        StridedClip::bake(&ClipSpec::default(), &skeleton, &BakeOptions::default()).unwrap();
    let mut pose = skeleton.rest().clone();
    clip.sample(1.0, &mut pose);
    assert_eq!(
        (&pose, clip.keys(), report.max_error),
        (skeleton.rest(), 0, 0.0)
    );
    let (clip, report) =
        StridedClip::bake(&motion(9, 0.04, 30.0), &skeleton, &BakeOptions::default()).unwrap();
    clip.sample(0.02, &mut pose);
    assert!(report.reached && pose.is_finite());
}

#[test]
fn noise_costs_memory_and_nothing_else() {
    let (skeleton, spec) = synth60();
    let (strided, report) = StridedClip::bake(&spec, &skeleton, &options(0.001)).unwrap();
    let (dense, _) = Clip::bake(&spec, &skeleton, &options(0.001)).unwrap();
    assert!(report.reached && strided.bytes() < dense.bytes() + dense.bytes() / 50);
}
