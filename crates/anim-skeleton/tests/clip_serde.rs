//! Clips in files: what is written is read back, what is broken is refused, nothing panics.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::Vec3;
use anim_skeleton::{BakeOptions, Channel, Clip, JointTrack, Pose, Skeleton};
use common::{Random, human, motion};
use serde_json::{Value, json};

fn clip() -> Clip {
    let skeleton = Skeleton::new(human(11)).unwrap();
    let mut spec = motion(10, 0.5, 30.0);
    let keys = vec![Key::new(0.0, Vec3::x()), Key::new(0.2, Vec3::y())];
    spec.channels.push(Channel {
        joint: 4,
        track: JointTrack::Scale(Track::new(keys, Interpolation::Step).unwrap()),
    });
    Clip::bake(&spec, &skeleton, &BakeOptions::default())
        .unwrap()
        .0
}

#[test]
fn a_clip_survives_serialisation() {
    let clip = clip();
    let text = serde_json::to_string(&clip).unwrap();
    assert_eq!(serde_json::from_str::<Clip>(&text).unwrap(), clip);
    let config = bincode::config::standard();
    let bytes = bincode::serde::encode_to_vec(&clip, config).unwrap();
    let (read, used): (Clip, usize) = bincode::serde::decode_from_slice(&bytes, config).unwrap();
    assert_eq!((read, used), (clip, bytes.len()));
}

#[test]
fn broken_clips_are_refused() {
    let whole = serde_json::to_value(clip()).unwrap();
    assert!(serde_json::from_value::<Clip>(whole.clone()).is_ok());
    let faults: [(&str, Value); 10] = [
        ("/duration", json!(-1.0)),
        ("/duration", json!(0.0)),
        ("/samples", json!(0)),
        ("/samples", json!(u64::MAX)),
        ("/moving", json!([255])),
        ("/rotations", json!([])),
        ("/vectors", json!([])),
        ("/vector_tracks/0/joint", json!(11)),
        ("/steps/0/joint", json!(65535)),
        ("/base", json!([])),
    ];
    for (place, fault) in faults {
        let mut broken = whole.clone();
        *broken.pointer_mut(place).unwrap() = fault;
        assert!(serde_json::from_value::<Clip>(broken).is_err(), "{place}");
    }
}

#[test]
fn rotations_that_would_mix_to_nothing_are_refused() {
    for key in [[0, 0, 0, 0], [0, 0, 0, -32767]] {
        let mut broken = serde_json::to_value(clip()).unwrap();
        for (part, value) in key.into_iter().enumerate() {
            // The third sample of the first joint, of two blocks a sample.
            broken["rotations"][4][part][0] = json!(value);
        }
        let found = serde_json::from_value::<Clip>(broken);
        assert!(found.is_err());
    }
}

#[test]
fn noise_in_a_file_neither_panics_nor_makes_poses_that_do() {
    let config = bincode::config::standard().with_limit::<1_000_000>();
    let bytes = bincode::serde::encode_to_vec(clip(), config).unwrap();
    let mut random = Random(17);
    let mut read = 0;
    for _ in 0..400 {
        let mut noisy = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let place = random.below(noisy.len());
            noisy[place] = random.next() as u8;
        }
        let found = bincode::serde::decode_from_slice::<Clip, _>(&noisy, config);
        if let Ok((clip, _)) = found {
            read += 1;
            let mut pose = Pose::identity(clip.joint_count());
            for time in [-1.0, 0.0, 0.2, clip.duration(), f32::MAX, f32::NAN] {
                clip.sample(time, &mut pose);
            }
        }
    }
    assert!(read > 0);
}
