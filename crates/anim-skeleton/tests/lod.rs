//! Fewer joints and fewer updates.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Transform, Vec3};
use anim_skeleton::{
    BakeOptions, Channel, Clip, ClipSpec, Globals, JointSpec, JointTrack, Mask, Pose, RateReducer,
    Skeleton, SkeletonLod, reduction_error,
};
use common::{Random, random_joints, synth60};
use proptest::prelude::*;

fn baked() -> (Skeleton, Clip) {
    let (skeleton, spec) = synth60();
    let (clip, _) = Clip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    (skeleton, clip)
}

fn slot_bits(globals: &Globals, place: usize) -> [[u32; 4]; 4] {
    globals.slots()[place].0.map(|row| row.map(f32::to_bits))
}

proptest! {
    #[test]
    fn the_first_joints_are_exact_and_the_others_rest_on_them(
        seed in any::<u64>(), count in 1_usize..60, kept in 0_usize..60,
    ) {
        let random = &mut Random(seed);
        let skeleton = Skeleton::new(random_joints(count, random)).unwrap();
        let mut pose = skeleton.rest().clone();
        let mut cut = pose.clone();
        for joint in skeleton.joints() {
            pose.set_rotation(joint, random.rotation());
            if joint.index() < kept {
                cut.set_rotation(joint, pose.rotation(joint));
            }
        }
        let [mut found, mut full] = [(); 2].map(|()| Globals::new(&skeleton));
        skeleton.globals_prefix(kept, &pose, &mut found);
        skeleton.globals(&pose, &mut full);
        for place in 0..count.min(kept) {
            prop_assert_eq!(slot_bits(&found, place), slot_bits(&full, place));
        }
        skeleton.globals(&cut, &mut full);
        for place in 0..count {
            prop_assert_eq!(slot_bits(&found, place), slot_bits(&full, place));
        }
    }
}

#[test]
fn levels_keep_what_masks_ask_for_and_never_grow() {
    let (skeleton, _) = baked();
    let joint = skeleton.joint(10);
    let mut near = Mask::uniform(&skeleton, 0.0);
    near.set(joint, 0.5);
    let none = Mask::uniform(&skeleton, 0.0);
    let all = Mask::uniform(&skeleton, 1.0);
    let lod = SkeletonLod::new(&skeleton, &[near, none, all]);
    assert_eq!(lod.joint_counts(), [60, joint.index() + 1, 0, 0]);
    assert_eq!((lod.joint_count(0), lod.joint_count(99)), (60, 0));
    let above: Vec<_> = skeleton.ancestors(joint).collect();
    assert!(above.iter().all(|above| above.index() < lod.joint_count(1)));

    let lod = SkeletonLod::by_depth(&skeleton, &[100, 3, 1, 0]);
    let depth = |joint| skeleton.depth(joint);
    let shallow = skeleton.joints().filter(|joint| depth(*joint) < 3).count();
    assert_eq!(lod.joint_counts(), [60, 60, shallow, 1, 0]);
}

#[test]
fn sampling_the_first_joints_gives_their_bits_and_leaves_later_blocks_alone() {
    let (skeleton, clip) = baked();
    let mut full = skeleton.rest().clone();
    clip.sample(3.21, &mut full);
    for count in [0, 1, 8, 9, 31, 60, 99] {
        let mut first: Pose = skeleton.rest().clone();
        let untouched = first.clone();
        clip.sample_prefix(count, 3.21, &mut first);
        for joint in skeleton.joints().take(count) {
            assert_eq!(first.rotation(joint), full.rotation(joint));
            assert_eq!(first.translation(joint), full.translation(joint));
        }
        for joint in skeleton.joints().skip(count.div_ceil(8) * 8) {
            assert_eq!(first.rotation(joint), untouched.rotation(joint));
        }
    }
}

#[test]
fn every_frame_reduced_by_one_is_the_clip_itself() {
    let (skeleton, clip) = baked();
    let error = reduction_error(&clip, &skeleton, 1, 30.0, 0.1);
    assert_eq!((error.distance, error.joint), (0.0, None));
}

#[test]
fn evaluated_frames_keep_their_bits() {
    let (skeleton, clip) = baked();
    let mut pose = skeleton.rest().clone();
    clip.sample(0.0, &mut pose);
    let mut reducer = RateReducer::new(3, &pose);
    let mut out = pose.clone();
    for frame in 0..31 {
        let ahead = (frame + 3) as f32 / 30.0;
        let is_due = reducer.is_due();
        assert_eq!(is_due, frame % 3 == 0);
        reducer.update(&mut out, |pose| clip.sample(ahead, pose));
        clip.sample(frame as f32 / 30.0, &mut pose);
        assert_eq!(out == pose, is_due, "{frame}");
    }
    reducer.restart(&pose);
    reducer.update(&mut out, |_| ());
    assert_eq!(out, pose);
}

#[test]
fn the_error_of_a_parabola_is_what_its_chords_cut_off() {
    let key = |step: i16| {
        let time = f32::from(step) / 100.0;
        Key::new(time, Vec3::x() * (time * time))
    };
    let parabola = Track::new((0..=200).map(key).collect(), Interpolation::Linear).unwrap();
    let joint = JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint.clone(), joint]).unwrap();
    let spec = ClipSpec {
        channels: vec![Channel {
            joint: 1,
            track: JointTrack::Translation(parabola),
        }],
        ..ClipSpec::default()
    };
    let options = BakeOptions {
        tolerance: 1e-5,
        ..BakeOptions::default()
    };
    let (clip, _) = Clip::bake(&spec, &skeleton, &options).unwrap();
    // A chord of x = t² that is s seconds long is (s / 2)² away from it at its middle; keys of 100 Hz are 2.5e-5 off.
    for (every, expected) in [(4, 0.04), (2, 0.01)] {
        let error = reduction_error(&clip, &skeleton, every, 10.0, 0.0);
        assert!((error.distance - expected).abs() < 1e-4, "{error:?}");
        assert_eq!(error.joint, Some(skeleton.joint(1)));
    }
}

#[test]
fn the_error_falls_as_poses_come_more_often() {
    let (skeleton, clip) = baked();
    let errors = [8, 4, 2].map(|every| reduction_error(&clip, &skeleton, every, 60.0, 0.1));
    assert!(errors[0].distance > errors[1].distance && errors[1].distance > errors[2].distance);
    assert!(
        errors
            .iter()
            .all(|error| error.distance > 0.0 && error.time <= 10.0)
    );
}
