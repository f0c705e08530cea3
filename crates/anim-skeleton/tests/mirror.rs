//! Mirrored poses against reflections of their joints.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "helpers of tests may fail like tests, and say what they skip or find"
)]

mod common;

use std::path::{Path, PathBuf};

use anim_asset::{Document, builtin, load};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{
    Globals, JointId, JointSpec, Mirror, Pose, SideNames, Skeleton, SkeletonError,
};
use common::Random;
use proptest::prelude::*;

fn by_names(skeleton: &Skeleton) -> Mirror {
    let pairs = skeleton.side_pairs(&SideNames::common());
    Mirror::new(skeleton, &pairs, Vec3::x()).unwrap()
}

fn places(skeleton: &Skeleton, pose: &Pose) -> Vec<Vec3> {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(pose, &mut globals);
    let place = |joint| globals.get(joint).translation;
    skeleton.joints().map(place).collect()
}

/// The largest distance of a joint from the reflection of its partner.
fn miss(skeleton: &Skeleton, mirror: &Mirror, pose: &Pose, mirrored: &Pose, normal: Vec3) -> f32 {
    let (before, after) = (places(skeleton, pose), places(skeleton, mirrored));
    let miss = |joint: JointId| {
        let at = before[mirror.partner(joint).index()];
        let image = at - normal * (2.0 * normal.dot(&at));
        (after[joint.index()] - image).norm()
    };
    skeleton.joints().map(miss).fold(0.0, f32::max)
}

/// The largest difference of a local transform; rotations count as angles.
fn difference(a: &Pose, b: &Pose, joints: impl Iterator<Item = JointId>) -> f32 {
    let difference = |joint| {
        let (a, b) = (a.get(joint), b.get(joint));
        let moved = (a.translation - b.translation).norm();
        let scaled = (a.scale - b.scale).norm();
        moved + scaled + quat::angle_between(a.rotation, b.rotation)
    };
    joints.map(difference).fold(0.0, f32::max)
}

/// Half-sized body, arms of three joints, legs of two; axes and rolls of every joint at random, model space symmetric.
fn figure(random: &mut Random, normal: Vec3) -> (Skeleton, Vec<[JointId; 2]>) {
    let parents = [
        None,
        Some(0),
        Some(1),
        Some(2),
        Some(3),
        Some(0),
        Some(5),
        Some(1),
    ];
    let sides = [false, false, true, true, true, true, true, false];
    let reflected = |v: Vec3| v - normal * (2.0 * normal.dot(&v));
    let across = |v: Vec3| v - normal * normal.dot(&v);
    let mut places = Vec::new();
    let mut links = Vec::new();
    for (joint, (parent, is_side)) in parents.into_iter().zip(sides).enumerate() {
        let start = parent.map_or_else(Vec3::zeros, |parent: usize| places[parent]);
        let place = start + random.vector();
        places.push(if is_side { place } else { across(place) });
        links.push((parent, joint));
    }
    let mut partner_of: Vec<usize> = (0..parents.len()).collect();
    for joint in (0..parents.len()).filter(|joint| sides[*joint]) {
        let parent = parents[joint].map(|parent| partner_of[parent]);
        partner_of[joint] = places.len();
        places.push(reflected(places[joint]));
        links.push((parent, places.len() - 1));
    }
    let turns: Vec<_> = places.iter().map(|_| random.rotation()).collect();
    let joints = links.iter().map(|(parent, joint)| {
        let (turn, place) = (turns[*joint], places[*joint]);
        let rest = match parent {
            None => (place, turn),
            Some(parent) => {
                let back = turns[*parent].inverse();
                (back * (place - places[*parent]), back * turn)
            }
        };
        JointSpec {
            name: None,
            parent: *parent,
            rest: Transform {
                translation: rest.0,
                rotation: rest.1,
                ..Transform::IDENTITY
            },
        }
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let pairs = (0..parents.len()).filter(|joint| sides[*joint]);
    let pairs = pairs.map(|joint| [skeleton.joint(joint), skeleton.joint(partner_of[joint])]);
    let pairs = pairs.collect();
    (skeleton, pairs)
}

fn moved(skeleton: &Skeleton, random: &mut Random) -> Pose {
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        let rest = pose.get(joint);
        pose.set_rotation(joint, rest.rotation * random.rotation());
        pose.set_translation(joint, rest.translation + random.vector() * 0.2);
        pose.set_scale(joint, Vec3::repeat(1.0 + 0.4 * random.signed()));
    }
    pose
}

proptest! {
    #[test]
    fn joints_of_any_orientation_are_reflected_in_any_plane(seed in any::<u64>()) {
        let random = &mut Random(seed);
        let normal = random.rotation() * Vec3::x();
        let (skeleton, pairs) = figure(random, normal);
        let mirror = Mirror::new(&skeleton, &pairs, normal * 3.0).unwrap();
        prop_assert!(mirror.asymmetry().0 < 1e-5);

        let mut mirrored = skeleton.rest().clone();
        mirror.apply(skeleton.rest(), &mut mirrored);
        prop_assert!(difference(skeleton.rest(), &mirrored, skeleton.joints()) < 2e-6);

        let pose = moved(&skeleton, random);
        mirror.apply(&pose, &mut mirrored);
        prop_assert!(miss(&skeleton, &mirror, &pose, &mirrored, normal) < 3e-5);

        let mut twice = skeleton.rest().clone();
        mirror.apply(&mirrored, &mut twice);
        prop_assert!(difference(&pose, &twice, skeleton.joints()) < 4e-6);
    }
}

#[test]
fn a_wave_of_the_left_hand_becomes_a_wave_of_the_right() {
    let document = builtin::humanoid();
    let skeleton = document.skeleton().unwrap();
    let mirror = by_names(&skeleton);
    assert!(mirror.asymmetry().0 < 1e-6);
    let [left, right] = ["hand_l", "hand_r"].map(|name| skeleton.find(name).unwrap());
    assert_eq!((mirror.partner(left), mirror.partner(right)), (right, left));
    assert_eq!(
        skeleton.find("head").map(|head| mirror.partner(head)),
        skeleton.find("head")
    );

    for clip in &document.clips {
        let [mut pose, mut mirrored, mut twice] = [(); 3].map(|()| skeleton.rest().clone());
        let mut lift = 0.0_f32;
        for step in 0..20 {
            clip.sample(&skeleton, clip.duration() * step as f32 / 20.0, &mut pose);
            mirror.apply(&pose, &mut mirrored);
            assert!(miss(&skeleton, &mirror, &pose, &mirrored, Vec3::x()) < 1e-5);
            mirror.apply(&mirrored, &mut twice);
            assert!(difference(&pose, &twice, skeleton.joints()) < 2e-6);
            let height = |pose, joint: JointId| places(&skeleton, pose)[joint.index()].y;
            assert!((height(&pose, left) - height(&mirrored, right)).abs() < 1e-5);
            lift = lift.max((height(&pose, left) - height(&pose, right)).abs());
        }
        let is_wave = clip.name.as_deref() == Some("wave");
        assert!(!is_wave || lift > 0.3, "the wave is of one hand");
    }
}

/// The data directory, or `None`, with a printed line, if it is not there and `ANIM_REQUIRE_DATA` does not demand it.
fn data() -> Option<PathBuf> {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let directory = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    if directory.is_dir() {
        return Some(directory);
    }
    let demanded = std::env::var_os("ANIM_REQUIRE_DATA").is_some_and(|value| value == "1");
    assert!(!demanded, "no data at {}", directory.display());
    eprintln!("skipped: no data at {}", directory.display());
    None
}

fn size(skeleton: &Skeleton) -> f32 {
    let places = places(skeleton, skeleton.rest());
    places.iter().map(|place| place.norm()).fold(0.0, f32::max)
}

#[test]
fn published_characters_mirror_as_well_as_they_are_symmetric() {
    let Some(data) = data() else {
        return;
    };
    // File, a left joint, its partner, and how far from symmetric it rests at most, as a part of its size. The robot's
    // arms rest in different poses.
    let files = [
        ("kaykit_knight.glb", "hand.l", "hand.r", 1e-6),
        (
            "mpfb_human_mixamo_names.glb",
            "mixamorig:LeftHand",
            "mixamorig:RightHand",
            0.02,
        ),
        ("Fox.glb", "b_LeftForeArm_010", "b_RightForeArm_07", 1e-3),
        ("RobotExpressive.glb", "LowerArmL", "LowerArmR", 0.3),
    ];
    for (file, left, right, symmetric) in files {
        let document: Document = load(&data.join("gltf").join(file)).unwrap();
        let skeleton = document.skeleton().unwrap();
        let mirror = by_names(&skeleton);
        let joint = |name| skeleton.find(name).unwrap();
        assert_eq!(mirror.partner(joint(left)), joint(right), "{file}");

        let mut mirrored = skeleton.rest().clone();
        mirror.apply(skeleton.rest(), &mut mirrored);
        assert!(
            difference(skeleton.rest(), &mirrored, skeleton.joints()) < 1e-5,
            "{file}"
        );

        let (asymmetry, worst) = mirror.asymmetry();
        let worst = worst.and_then(|joint| skeleton.name(joint));
        println!(
            "{file}: rest {asymmetry} from symmetric, at {worst:?}, size {}",
            size(&skeleton)
        );
        assert!(asymmetry <= symmetric * size(&skeleton), "{file}");
        for clip in &document.clips {
            let [mut pose, mut twice] = [(); 2].map(|()| skeleton.rest().clone());
            clip.sample(&skeleton, clip.duration() * 0.4, &mut pose);
            mirror.apply(&pose, &mut mirrored);
            mirror.apply(&mirrored, &mut twice);
            let size = size(&skeleton);
            let miss = miss_of_followers(&skeleton, &mirror, &pose, &mirrored);
            assert!(miss <= 8.0 * asymmetry + 1e-5 * size, "{file}: {miss}");
            assert!(
                difference(&pose, &twice, skeleton.joints()) < 1e-5 * size.max(1.0),
                "{file}"
            );
        }
    }
}

/// As `miss`, without what hangs on one side alone, or belongs to nobody.
fn miss_of_followers(skeleton: &Skeleton, mirror: &Mirror, pose: &Pose, mirrored: &Pose) -> f32 {
    let (before, after) = (places(skeleton, pose), places(skeleton, mirrored));
    let is_paired = |joint: JointId| mirror.partner(joint) != joint;
    let pairs = skeleton.joints().filter(|joint| is_paired(*joint));
    let miss = |joint: JointId| {
        let at = before[mirror.partner(joint).index()];
        (after[joint.index()] - Vec3::new(-at.x, at.y, at.z)).norm()
    };
    pairs.map(miss).fold(0.0, f32::max)
}

#[test]
fn a_side_that_is_modelled_by_a_negative_scale_is_a_mirror_image_too() {
    let joint = |parent, x, scale| JointSpec {
        name: None,
        parent,
        rest: Transform {
            translation: Vec3::new(x, 0.5, 0.0),
            rotation: Default::default(),
            scale: Vec3::new(scale, 1.0, 1.0),
        },
    };
    let skeleton = Skeleton::new(vec![
        joint(None, 0.0, 1.0),
        joint(Some(0), 1.0, 1.0),
        joint(Some(1), 1.0, 1.0),
        joint(Some(0), -1.0, -1.0),
        joint(Some(3), 1.0, 1.0),
    ])
    .unwrap();
    let [_, left, left_tip, right, right_tip] = [0, 1, 2, 3, 4].map(|j| skeleton.joint(j));
    let mirror = Mirror::new(
        &skeleton,
        &[[left, right], [left_tip, right_tip]],
        Vec3::x(),
    )
    .unwrap();
    assert!(mirror.asymmetry().0 < 1e-6);
    let mut random = Random(4);
    for _ in 0..20 {
        let mut pose = skeleton.rest().clone();
        for joint in skeleton.joints() {
            pose.set_rotation(joint, random.rotation());
        }
        let mut mirrored = skeleton.rest().clone();
        mirror.apply(&pose, &mut mirrored);
        assert!(miss(&skeleton, &mirror, &pose, &mirrored, Vec3::x()) < 1e-5);
        // Inside such a limb local rotations are those of the other.
        let alike = quat::angle_between(mirrored.rotation(right_tip), pose.rotation(left_tip));
        assert!(alike < 1e-6);
    }
}

#[test]
fn a_sword_in_one_hand_stays_in_that_hand() {
    let joint = |name: &str, parent, x: f32| JointSpec {
        name: Some(name.to_owned()),
        parent,
        rest: Transform::from_translation(Vec3::new(x, 0.0, 0.0)),
    };
    let skeleton = Skeleton::new(vec![
        joint("root", None, 0.0),
        joint("hand_l", Some(0), 1.0),
        joint("hand_r", Some(0), -1.0),
        joint("sword", Some(2), -0.5),
        joint("edge_l", Some(3), 0.1),
        joint("edge_r", Some(3), -0.1),
    ])
    .unwrap();
    let mirror = by_names(&skeleton);
    let mut pose = skeleton.rest().clone();
    let kept = ["sword", "edge_l", "edge_r"].map(|name| skeleton.find(name).unwrap());
    for (step, joint) in kept.into_iter().enumerate() {
        pose.set_rotation(joint, quat::from_axis_angle(Vec3::y(), 0.3 + step as f32));
    }
    let mut mirrored = skeleton.rest().clone();
    mirror.apply(&pose, &mut mirrored);
    assert!(difference(&pose, &mirrored, kept.into_iter()) == 0.0);
}

#[test]
fn contradictory_pairs_are_refused() {
    let document = builtin::humanoid();
    let skeleton = document.skeleton().unwrap();
    let joint = |name| skeleton.find(name).unwrap();
    let [hand_l, hand_r, foot_r] = ["hand_l", "hand_r", "foot_r"].map(joint);
    let error = |pairs: &[[JointId; 2]], normal| Mirror::new(&skeleton, pairs, normal).unwrap_err();
    let twice = error(&[[hand_l, hand_r], [hand_l, foot_r]], Vec3::x());
    assert!(matches!(twice, SkeletonError::PairedTwice { .. }));
    let alone = error(&[[hand_l, hand_l]], Vec3::x());
    assert!(matches!(alone, SkeletonError::PairedTwice { .. }));
    let apart = error(&[[hand_l, hand_r]], Vec3::x());
    let (left, right) = (skeleton.source(hand_l), skeleton.source(hand_r));
    assert_eq!(apart, SkeletonError::NotPartners { left, right });
    for normal in [Vec3::zeros(), Vec3::repeat(f32::NAN)] {
        assert_eq!(error(&[], normal), SkeletonError::BadPlane);
    }
}
