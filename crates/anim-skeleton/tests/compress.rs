//! Compressed clips: as small as promised, as exact as promised, and safe to read.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they skip"
)]

mod common;
#[path = "common/ozz.rs"]
mod ozz;

use std::sync::OnceLock;

use anim_curves::{Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Channel, Clip, ClipSpec, CompressOptions, CompressReport, CompressedClip, JointTrack,
    MorphChannel, ObjectError, Skeleton, SkeletonError,
};
use common::{Random, human, motion, random_joints, synth60};
use proptest::prelude::*;

fn compressed(
    (skeleton, spec): &(Skeleton, ClipSpec),
    tolerance: f32,
) -> (CompressedClip, CompressReport) {
    let options = CompressOptions {
        tolerance,
        ..CompressOptions::default()
    };
    CompressedClip::new(spec, skeleton, &options).unwrap()
}

/// The largest distance between the exact curves and what `sample` gives, at source keys and between them.
fn error_of(skeleton: &Skeleton, spec: &ClipSpec, clip: &Clip) -> f32 {
    let mut error = ObjectError::new(skeleton, 0.1);
    let (mut exact, mut other) = (skeleton.rest().clone(), skeleton.rest().clone());
    let mut times: Vec<f32> = spec
        .channels
        .iter()
        .flat_map(|channel| channel.track.times())
        .copied()
        .collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    let between =
        |pair: &[f32]| [0.0, 0.23, 0.5, 0.81].map(|part| pair[0] + (pair[1] - pair[0]) * part);
    let between: Vec<f32> = times.windows(2).flat_map(between).collect();
    for time in between.into_iter().chain(times.last().copied()) {
        spec.sample(skeleton, time, &mut exact);
        clip.sample(time, &mut other);
        error.add(time, &exact, &other);
    }
    error.worst().distance
}

/// Compresses to a millimetre at 10 cm and checks the size and, independently, the error.
fn check(name: &str, figure: &(Skeleton, ClipSpec), most_bytes: usize) {
    let (skeleton, spec) = figure;
    let (compressed, report) = compressed(figure, 0.001);
    let clip = compressed.expand(skeleton).unwrap();
    let error = error_of(skeleton, spec, &clip);
    println!(
        "{name}: {} of {} bytes, {} resident, {error} m",
        report.disk_bytes, report.raw_bytes, report.resident_bytes
    );
    assert!(
        report.reached && error <= 0.001,
        "{name}: {error} m, {report:?}"
    );
    assert_eq!(report.disk_bytes, compressed.bytes().len());
    assert_eq!(report.resident_bytes, clip.bytes());
    assert!(report.disk_bytes <= most_bytes, "{name}: {report:?}");
}

#[test]
fn noisy_curves_take_less_than_half_of_what_the_animation_compression_library_needs() {
    check("synth60", &synth60(), 58_663 / 2);
}

#[test]
fn captured_clips_take_less_than_half_of_what_the_animation_compression_library_needs() {
    let Some(data) = ozz::data() else { return };
    check("walk", &ozz::load(&data, "pab_walk_raw"), 6_050 / 2);
    check("run", &ozz::load(&data, "pab_run_raw"), 2_000);
    check("jog", &ozz::load(&data, "pab_jog_raw"), 2_000);
}

#[test]
fn a_tenth_of_a_millimetre_is_reached_on_captured_clips() {
    let Some(data) = ozz::data() else { return };
    let (skeleton, spec) = ozz::load(&data, "pab_walk_raw");
    let options = CompressOptions {
        tolerance: 0.0001,
        shell: 0.03,
        ..CompressOptions::default()
    };
    let (_, report) = CompressedClip::new(&spec, &skeleton, &options).unwrap();
    println!("{report:?}");
    assert!(report.reached && report.disk_bytes < 7_385, "{report:?}");
}

#[test]
fn a_smaller_tolerance_takes_more_bytes() {
    let figure = (Skeleton::new(human(20)).unwrap(), motion(20, 2.0, 30.0));
    let bytes = [0.01, 0.003, 0.001].map(|tolerance| {
        let (_, report) = compressed(&figure, tolerance);
        assert!(report.reached && report.max_error <= tolerance);
        report.disk_bytes
    });
    assert!(bytes.is_sorted() && bytes[0] * 2 < bytes[2], "{bytes:?}");
}

#[test]
fn a_tolerance_out_of_reach_is_reported() {
    let figure = (Skeleton::new(human(8)).unwrap(), motion(8, 0.5, 30.0));
    let (_, report) = compressed(&figure, 1e-7);
    assert!(!report.reached && report.max_error > 1e-7);
    let options = CompressOptions {
        tolerance: f32::NAN,
        ..CompressOptions::default()
    };
    let refused = CompressedClip::new(&figure.1, &figure.0, &options);
    assert!(matches!(refused, Err(SkeletonError::Tolerance { .. })));
}

fn still(spec: ClipSpec) -> (Skeleton, ClipSpec) {
    (Skeleton::new(human(30)).unwrap(), spec)
}

#[test]
fn what_rests_is_not_stored_and_stays_the_skeletons() {
    let (skeleton, _) = still(ClipSpec::default());
    let channels = (0..30).map(|joint| {
        let rest = skeleton.rest().rotation(skeleton.joint(joint));
        let track = Track::new(
            vec![Key::new(0.0, rest), Key::new(3.0, rest)],
            Interpolation::Linear,
        )
        .unwrap();
        Channel {
            joint,
            track: JointTrack::Rotation(track),
        }
    });
    let figure = still(ClipSpec {
        channels: channels.collect(),
        ..ClipSpec::default()
    });
    let (compressed, report) = compressed(&figure, 0.001);
    assert!(report.disk_bytes < 50, "{report:?}");
    let mut pose = skeleton.rest().clone();
    compressed.expand(&skeleton).unwrap().sample(1.0, &mut pose);
    assert_eq!(pose, *skeleton.rest());
    // Of another skeleton with as many joints, what rests is that one's.
    let other = Skeleton::new(random_joints(30, &mut Random(3))).unwrap();
    compressed.expand(&other).unwrap().sample(1.0, &mut pose);
    assert_eq!(pose, *other.rest());
}

#[test]
fn steps_names_and_durations_are_kept_exactly() {
    let keys = [(0.0, 0.0), (0.7, 0.3), (1.31, 0.1)]
        .map(|(time, x)| Key::new(time, Vec3::new(x, 1.0, 0.0)));
    let figure = still(ClipSpec {
        name: Some("Größe 2".to_owned()),
        channels: vec![Channel {
            joint: 4,
            track: JointTrack::Translation(Track::new(keys.to_vec(), Interpolation::Step).unwrap()),
        }],
        ..ClipSpec::default()
    });
    let (compressed, report) = compressed(&figure, 0.001);
    assert_eq!(report.max_error, 0.0);
    assert_eq!(compressed.to_spec(&figure.0).unwrap(), figure.1);
    assert_eq!(compressed.expand(&figure.0).unwrap().duration(), 1.31);
}

#[test]
fn weights_come_along_within_their_tolerance() {
    let track = |interpolation, parts: usize| {
        let values = (0..parts * 60).map(|n| ((n % 7) as f32 * 0.1).sin());
        let spec = WideTrackSpec {
            width: 2,
            times: (0..30).map(|key| key as f32 / 10.0).collect(),
            values: values.collect(),
            interpolation,
        };
        WideTrack::new(spec).unwrap()
    };
    let tracks = [
        track(Interpolation::Linear, 1),
        track(Interpolation::Cubic, 3),
    ];
    let morphs = (3..).zip(&tracks).map(|(joint, track)| MorphChannel {
        joint,
        track: track.clone(),
    });
    let figure = still(ClipSpec {
        morphs: morphs.collect(),
        ..ClipSpec::default()
    });
    let (compressed, report) = compressed(&figure, 0.001);
    assert!(report.reached && report.disk_bytes < report.raw_bytes);
    let back = compressed.to_spec(&figure.0).unwrap();
    assert_eq!(back.duration(), figure.1.duration());
    for (morph, track) in back.morphs.iter().zip(&tracks) {
        let (mut sent, mut received) = ([0.0; 2], [0.0; 2]);
        // Times that both have keys at.
        for key in 0..30 {
            track.sample(key as f32 / 10.0, &mut sent);
            morph.track.sample(key as f32 / 10.0, &mut received);
            assert!(
                (0..2).all(|n| (sent[n] - received[n]).abs() < 0.0051),
                "{key}: {sent:?} {received:?}"
            );
        }
    }
}

#[test]
fn a_spin_of_many_turns_keeps_all_four_numbers() {
    let keys = (0..200).map(|frame| {
        let time = frame as f32 / 30.0;
        Key::new(
            time,
            quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 9.0 * time),
        )
    });
    let track = Track::new(keys.collect(), Interpolation::Linear).unwrap();
    let channels = vec![Channel {
        joint: 0,
        track: JointTrack::Rotation(track),
    }];
    let figure = still(ClipSpec {
        channels,
        ..ClipSpec::default()
    });
    check("spin", &figure, 1_500);
}

#[test]
fn scales_and_translations_are_kept_too() {
    let wave = |offset: f32| {
        let keys = (0..90).map(|frame| {
            let time = frame as f32 / 30.0;
            Key::new(
                time,
                Vec3::new(1.0, 1.0 + 0.3 * (3.0 * time + offset).sin(), 1.0),
            )
        });
        Track::new(keys.collect(), Interpolation::Linear).unwrap()
    };
    let channels = vec![
        Channel {
            joint: 2,
            track: JointTrack::Scale(wave(0.0)),
        },
        Channel {
            joint: 0,
            track: JointTrack::Translation(wave(1.0)),
        },
    ];
    check(
        "waves",
        &still(ClipSpec {
            channels,
            ..ClipSpec::default()
        }),
        500,
    );
}

#[test]
fn curves_and_clip_of_one_file_agree() {
    let figure = (Skeleton::new(human(20)).unwrap(), motion(20, 1.0, 30.0));
    let (compressed, _) = compressed(&figure, 0.001);
    let spec = compressed.to_spec(&figure.0).unwrap();
    // They differ by the rounding to 16 bits and by turning evenly between samples.
    let error = error_of(&figure.0, &spec, &compressed.expand(&figure.0).unwrap());
    assert!(error < 0.0002, "{error} m");
}

#[test]
fn the_same_file_comes_out_each_time() {
    let figure = (Skeleton::new(human(12)).unwrap(), motion(12, 1.0, 30.0));
    assert_eq!(compressed(&figure, 0.001), compressed(&figure, 0.001));
}

#[test]
fn another_skeletons_joint_count_is_refused() {
    let figure = (Skeleton::new(human(12)).unwrap(), motion(12, 0.5, 30.0));
    let (compressed, _) = compressed(&figure, 0.001);
    let other = Skeleton::new(human(13)).unwrap();
    let error = SkeletonError::BrokenClip {
        what: "joint count",
    };
    assert_eq!(compressed.expand(&other), Err(error));
}

/// A clip of every kind of curve, in bytes.
fn everything() -> (Skeleton, Vec<u8>) {
    static MADE: OnceLock<(Skeleton, Vec<u8>)> = OnceLock::new();
    MADE.get_or_init(make_everything).clone()
}

fn make_everything() -> (Skeleton, Vec<u8>) {
    let mut spec = motion(9, 0.5, 30.0);
    let spin = (0..16).map(|key| {
        Key::new(
            key as f32 / 30.0,
            quat::from_axis_angle(Vec3::z(), key as f32),
        )
    });
    spec.channels[3].track =
        JointTrack::Rotation(Track::new(spin.collect(), Interpolation::Linear).unwrap());
    let still = vec![Key::new(0.0, Vec3::new(2.0, 1.0, 1.0))];
    let steps = vec![
        Key::new(0.0, Quat::identity()),
        Key::new(0.2, quat::from_axis_angle(Vec3::x(), 1.0)),
    ];
    spec.channels.push(Channel {
        joint: 5,
        track: JointTrack::Scale(Track::new(still, Interpolation::Linear).unwrap()),
    });
    spec.channels.push(Channel {
        joint: 6,
        track: JointTrack::Rotation(Track::new(steps, Interpolation::Step).unwrap()),
    });
    let weights = WideTrackSpec {
        width: 3,
        times: vec![0.0, 0.3],
        values: vec![0.1; 6],
        interpolation: Interpolation::Linear,
    };
    spec.morphs.push(MorphChannel {
        joint: 2,
        track: WideTrack::new(weights).unwrap(),
    });
    let figure = (Skeleton::new(human(9)).unwrap(), spec);
    let (compressed, _) = compressed(&figure, 0.001);
    (figure.0, compressed.bytes().to_vec())
}

#[test]
fn a_cut_file_is_refused() {
    let (skeleton, bytes) = everything();
    for length in 0..bytes.len() {
        let cut = CompressedClip::from_bytes(bytes[..length].to_vec());
        assert!(
            cut.and_then(|clip| clip.expand(&skeleton)).is_err(),
            "{length}"
        );
    }
}

/// A clip in hand can be sampled anywhere, and every rotation is one.
fn assert_sound(skeleton: &Skeleton, clip: &Clip) {
    let mut pose = skeleton.rest().clone();
    for step in 0..40 {
        clip.sample(clip.duration() * step as f32 / 37.0, &mut pose);
        assert!(pose.is_finite());
        for joint in skeleton.joints() {
            assert!((pose.rotation(joint).norm() - 1.0).abs() < 1e-3);
        }
    }
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic(changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..8)) {
        let (skeleton, mut bytes) = everything();
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        if let Ok(clip) = CompressedClip::from_bytes(bytes) {
            if let Ok(clip) = clip.expand(&skeleton) {
                assert_sound(&skeleton, &clip);
            }
            let _ = clip.to_spec(&skeleton);
        }
    }

    #[test]
    fn forged_heads_cannot_ask_for_memory(tail in prop::collection::vec(any::<u8>(), 0..60)) {
        let bytes = [b"ANIMC\x01\x09\x00".as_slice(), &tail].concat();
        let skeleton = Skeleton::new(human(9)).unwrap();
        if let Ok(clip) = CompressedClip::from_bytes(bytes).and_then(|clip| clip.expand(&skeleton)) {
            prop_assert!(clip.bytes() < 16 << 20);
        }
    }
}

#[test]
fn models_in_any_unit_are_measured_in_theirs() {
    let scaled = |factor: f32| {
        let mut joints = human(12);
        for joint in &mut joints {
            joint.rest = Transform {
                translation: joint.rest.translation * factor,
                ..joint.rest
            };
        }
        let mut spec = motion(12, 1.0, 30.0);
        spec.channels.pop();
        (Skeleton::new(joints).unwrap(), spec)
    };
    let bytes = [1.0, 100.0].map(|factor| {
        let (skeleton, spec) = scaled(factor);
        let options = CompressOptions {
            tolerance: 0.001 * factor,
            shell: 0.1 * factor,
            ..CompressOptions::default()
        };
        let (_, report) = CompressedClip::new(&spec, &skeleton, &options).unwrap();
        assert!(report.reached);
        report.disk_bytes as f32
    });
    assert!((bytes[0] / bytes[1] - 1.0).abs() < 0.05, "{bytes:?}");
}
