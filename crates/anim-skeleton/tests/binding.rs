//! Clips of one skeleton on another.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_curves::{Interpolation, Key, Track, WideTrack, WideTrackSpec};
use anim_math::{Vec3, quat};
use anim_skeleton::{
    BakeOptions, Binding, Channel, Clip, ClipSpec, JointSpec, JointTrack, MorphChannel, Skeleton,
};
use common::{human, motion};

fn skeleton(joints: &[(&str, Option<usize>)]) -> Skeleton {
    let joint = |(name, parent): &(&str, Option<usize>)| JointSpec {
        name: (!name.is_empty()).then(|| (*name).to_owned()),
        parent: *parent,
        rest: Default::default(),
    };
    Skeleton::new(joints.iter().map(joint).collect()).unwrap()
}

/// Lifts each of the joints by its own index.
fn lifts(joints: impl IntoIterator<Item = usize>) -> ClipSpec {
    let channel = |joint| {
        let height = Vec3::new(0.0, joint as f32, 0.0);
        let track = Track::new(vec![Key::new(0.0, height)], Interpolation::Linear).unwrap();
        Channel {
            joint,
            track: JointTrack::Translation(track),
        }
    };
    ClipSpec {
        channels: joints.into_iter().map(channel).collect(),
        ..ClipSpec::default()
    }
}

#[test]
fn twenty_joints_play_a_clip_of_eighteen_tracks() {
    let target = Skeleton::new(human(20)).unwrap();
    let mut clip = motion(20, 1.0, 30.0);
    clip.channels
        .retain(|channel| channel.joint != 7 && channel.joint != 19);
    let (bound, report) = Binding::new(&target, &target).apply(&clip);
    assert_eq!(bound, clip);
    let silent = [7, 19].map(|joint| target.joint(joint));
    assert_eq!(report.extra.len(), 2);
    assert!(silent.iter().all(|joint| report.extra.contains(joint)));
    assert!(report.missing.is_empty() && report.ambiguous.is_empty());

    let (clip, _) = Clip::bake(&bound, &target, &BakeOptions::default()).unwrap();
    let mut pose = target.rest().clone();
    clip.sample(0.5, &mut pose);
    for joint in silent {
        assert_eq!(pose.get(joint), target.rest().get(joint));
    }
    let turned = |joint| quat::angle_between(pose.rotation(joint), target.rest().rotation(joint));
    assert!(
        target
            .joints()
            .filter(|joint| turned(*joint) > 1e-3)
            .count()
            == 18
    );
}

#[test]
fn joints_are_found_in_any_order_below_other_roots_and_with_other_prefixes() {
    let source = skeleton(&[
        ("mixamorig:Spine", Some(1)),
        ("mixamorig:Hips", None),
        ("mixamorig:LeftHand", Some(0)),
    ]);
    let target = skeleton(&[
        ("Armature", None),
        ("hips", Some(0)),
        ("SPINE", Some(1)),
        ("lefthand", Some(2)),
    ]);
    let (bound, report) = Binding::new(&source, &target).apply(&lifts([0, 1, 2]));
    let joints: Vec<_> = bound.channels.iter().map(|channel| channel.joint).collect();
    assert_eq!(joints, [2, 1, 3]);
    assert_eq!(report.extra, [target.joint(0)]);
    assert!(report.missing.is_empty() && report.ambiguous.is_empty());
}

#[test]
fn an_exact_name_is_never_taken_by_a_loose_one() {
    let target = skeleton(&[("Head", None), ("rig:head", None)]);
    let binding = Binding::from_paths(&["head", "rig:head", "Head"], &target);
    assert_eq!(binding.target(1), Some(target.joint(1)));
    assert_eq!(binding.target(2), Some(target.joint(0)));
    assert_eq!(binding.target(0), None);
}

#[test]
fn repeated_names_are_told_apart_by_their_paths() {
    let target = skeleton(&[
        ("root", None),
        ("left", Some(0)),
        ("right", Some(0)),
        ("hand", Some(2)),
        ("hand", Some(1)),
    ]);
    let binding = Binding::from_paths(&["root/left/hand", "right/hand"], &target);
    let (bound, report) = binding.apply(&lifts([0, 1]));
    assert_eq!(bound.channels[0].joint, 4);
    assert_eq!(bound.channels[1].joint, 3);
    assert!(report.ambiguous.is_empty());

    let itself = Binding::new(&target, &target);
    for joint in 0..target.len() {
        assert_eq!(itself.target(joint), Some(target.joint(joint)));
    }
    // A root is not its namesake further down.
    let nested = skeleton(&[("a", None), ("b", Some(0)), ("a", Some(1))]);
    let binding = Binding::from_paths(&["a", "b/a"], &nested);
    assert_eq!(binding.target(0), Some(nested.joint(0)));
    assert_eq!(binding.target(1), Some(nested.joint(2)));
}

#[test]
fn names_that_nothing_tells_apart_are_bound_in_order_and_reported() {
    let target = skeleton(&[("root", None), ("bone", Some(0)), ("bone", Some(0))]);
    let (bound, report) = Binding::new(&target, &target).apply(&lifts([1, 2]));
    assert_eq!(bound, lifts([1, 2]));
    let lines = report.ambiguous.iter();
    let lines: Vec<_> = lines
        .map(|line| (line.joint.as_str(), line.count))
        .collect();
    assert_eq!(lines, [("bone", 2), ("bone", 2)]);
}

#[test]
fn deep_chains_bind_in_little_memory() {
    let names: Vec<String> = (0..20_000).map(|joint| format!("link {joint}")).collect();
    let links = names.iter().enumerate();
    let links: Vec<_> = links
        .map(|(joint, name)| (name.as_str(), joint.checked_sub(1)))
        .collect();
    let chain = skeleton(&links);
    let binding = Binding::new(&chain, &chain);
    assert!((0..chain.len()).all(|joint| binding.target(joint) == Some(chain.joint(joint))));
}

#[test]
fn what_the_target_lacks_is_left_out_and_named() {
    let source = skeleton(&[("Hips", None), ("", Some(0)), ("Tail", Some(1))]);
    let target = skeleton(&[("Hips", None)]);
    let mut clip = lifts([0, 1, 2, 2, 9]);
    let weights = WideTrack::new(WideTrackSpec {
        width: 1,
        interpolation: Interpolation::Linear,
        times: vec![0.0],
        values: vec![0.5],
    })
    .unwrap();
    for joint in [0, 2] {
        clip.morphs.push(MorphChannel {
            joint,
            track: weights.clone(),
        });
    }
    let (bound, report) = Binding::new(&source, &target).apply(&clip);
    assert_eq!(report.missing, ["joint 1", "Tail", "joint 9"]);
    assert_eq!((bound.channels.len(), bound.morphs.len()), (1, 1));
    assert!(bound.check(&target).is_ok());
    assert!(report.extra.is_empty());
}
