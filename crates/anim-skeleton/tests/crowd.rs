//! Eight characters in lanes against one at a time.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::lanes::{LANES, Level};
use anim_math::{Transform, Vec3};
use anim_skeleton::{CrowdGlobals, CrowdPose, Globals, Pose, Skeleton};
use common::{Random, bits, human, random_joints};
use proptest::prelude::*;

/// The rest pose with every joint turned, moved and scaled; some scales are negative or 0, some numbers −0.
fn random_pose(skeleton: &Skeleton, random: &mut Random) -> Pose {
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        let mut scale = random.vector() * 2.0;
        if random.below(4) == 0 {
            scale[random.below(3)] = if random.below(2) == 0 { 0.0 } else { -0.0 };
        }
        let mut translation = random.vector();
        if random.below(4) == 0 {
            translation = Vec3::new(-0.0, 0.0, -0.0);
        }
        let transform = Transform {
            translation,
            rotation: random.rotation(),
            scale,
        };
        pose.set(joint, transform);
    }
    pose
}

fn levels() -> Vec<Level> {
    let mut levels = vec![Level::new(), Level::baseline()];
    #[cfg(target_arch = "x86_64")]
    levels.extend(Level::new().as_avx2().map(Level::Avx2));
    levels
}

/// What [`Skeleton::globals`] gives for each.
fn one_by_one(skeleton: &Skeleton, poses: &[Pose]) -> Vec<Globals> {
    let mut globals = vec![Globals::new(skeleton); poses.len()];
    for (pose, globals) in poses.iter().zip(&mut globals) {
        skeleton.globals(pose, globals);
    }
    globals
}

fn in_lanes(level: Level, skeleton: &Skeleton, poses: &[Pose]) -> Vec<Globals> {
    let mut crowd = CrowdPose::new(skeleton);
    let mut matrices = CrowdGlobals::new(skeleton);
    let mut globals = vec![Globals::new(skeleton); poses.len()];
    crowd.load_on(level, poses);
    skeleton.crowd_globals_each_on(level, &crowd, &mut matrices, &mut globals);
    for (lane, globals) in globals.iter().enumerate() {
        for joint in skeleton.joints() {
            assert_eq!(matrices.get(lane, joint), globals.get(joint));
        }
    }
    globals
}

fn all_bits(globals: &[Globals]) -> Vec<Vec<u32>> {
    globals.iter().map(bits).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_crowd_has_the_bits_of_its_characters(
        joints in 0_usize..90,
        characters in 0_usize..=LANES,
        seed: u64,
    ) {
        let mut random = Random(seed);
        let skeleton = Skeleton::new(random_joints(joints, &mut random)).unwrap();
        let poses: Vec<_> = (0..characters).map(|_| random_pose(&skeleton, &mut random)).collect();
        let expected = all_bits(&one_by_one(&skeleton, &poses));
        for level in levels() {
            let found = all_bits(&in_lanes(level, &skeleton, &poses));
            prop_assert_eq!(&found, &expected);
        }
    }
}

#[test]
fn poses_loaded_and_poses_set_are_those_got() {
    let skeleton = Skeleton::new(human(60)).unwrap();
    let mut random = Random(4);
    let poses: Vec<_> = (0..LANES)
        .map(|_| random_pose(&skeleton, &mut random))
        .collect();
    let (mut loaded, mut set) = (CrowdPose::new(&skeleton), CrowdPose::new(&skeleton));
    loaded.load(&poses);
    for (lane, pose) in poses.iter().enumerate() {
        set.set(lane, pose);
        for joint in skeleton.joints() {
            assert_eq!(loaded.get(lane, joint), pose.get(joint));
        }
    }
    assert_eq!(loaded, set);
}

#[test]
fn spare_lanes_are_the_identity_again() {
    let skeleton = Skeleton::new(human(30)).unwrap();
    let mut random = Random(5);
    let poses: Vec<_> = (0..LANES)
        .map(|_| random_pose(&skeleton, &mut random))
        .collect();
    let mut crowd = CrowdPose::new(&skeleton);
    crowd.load(&poses);
    crowd.load(&poses[..3]);
    for joint in skeleton.joints() {
        assert_eq!(crowd.get(2, joint), poses[2].get(joint));
        for spare in 3..LANES {
            assert_eq!(crowd.get(spare, joint), Transform::IDENTITY);
        }
    }
}

#[test]
fn characters_may_be_kept_apart() {
    let skeleton = Skeleton::new(human(12)).unwrap();
    let mut random = Random(6);
    let mut actors: Vec<_> = (0..5)
        .map(|_| (random_pose(&skeleton, &mut random), Globals::new(&skeleton)))
        .collect();
    let poses: Vec<_> = actors.iter().map(|(pose, _)| pose.clone()).collect();
    let mut crowd = CrowdPose::new(&skeleton);
    let mut matrices = CrowdGlobals::new(&skeleton);
    let borrowed: Vec<&Pose> = actors.iter().map(|(pose, _)| pose).collect();
    crowd.load(&borrowed);
    let mut borrowed: Vec<&mut Globals> = actors.iter_mut().map(|(_, globals)| globals).collect();
    skeleton.crowd_globals_each(&crowd, &mut matrices, &mut borrowed);
    let expected = one_by_one(&skeleton, &poses);
    for ((_, found), expected) in actors.iter().zip(&expected) {
        assert_eq!(bits(found), bits(expected));
    }
}
