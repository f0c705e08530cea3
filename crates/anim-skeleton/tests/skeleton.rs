//! Hierarchies of any shape, and their source order.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::{Transform, Vec3};
use anim_skeleton::{Globals, JointSpec, Skeleton, SkeletonError};
use common::{Random, random_joints};

fn joint(parent: Option<usize>) -> JointSpec {
    JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::y()),
    }
}

fn parents(parents: &[Option<usize>]) -> Result<Skeleton, SkeletonError> {
    Skeleton::new(parents.iter().copied().map(joint).collect())
}

#[test]
fn parents_precede_children_and_source_order_is_kept() {
    for seed in 0..20 {
        let joints = random_joints(50, &mut Random(seed));
        let skeleton = Skeleton::new(joints.clone()).unwrap();
        for joint in skeleton.joints() {
            assert!(skeleton.parent(joint).is_none_or(|parent| parent < joint));
            let spec = &joints[skeleton.source(joint)];
            assert_eq!(skeleton.joint(skeleton.source(joint)), joint);
            assert_eq!(
                skeleton.parent(joint).map(|parent| skeleton.source(parent)),
                spec.parent
            );
            assert_eq!(skeleton.rest().get(joint), spec.rest);
        }
        assert_eq!(Vec::from(skeleton), joints);
    }
}

#[test]
fn children_are_those_who_name_the_parent() {
    let skeleton = Skeleton::new(random_joints(80, &mut Random(4))).unwrap();
    for joint in skeleton.joints() {
        let named: Vec<_> = skeleton
            .joints()
            .filter(|other| skeleton.parent(*other) == Some(joint))
            .collect();
        assert_eq!(skeleton.children(joint).collect::<Vec<_>>(), named);
        for child in named {
            assert!(skeleton.is_below(child, joint));
            assert!(!skeleton.is_below(joint, child));
        }
    }
}

#[test]
fn cycles_are_refused() {
    assert_eq!(
        parents(&[Some(0)]).unwrap_err(),
        SkeletonError::Cycle { joint: 0 }
    );
    let refused = parents(&[None, Some(2), Some(3), Some(1)]).unwrap_err();
    assert_eq!(refused, SkeletonError::Cycle { joint: 1 });
}

#[test]
fn missing_parents_and_broken_rests_are_refused() {
    assert_eq!(
        parents(&[None, Some(7)]).unwrap_err(),
        SkeletonError::NoParent {
            joint: 1,
            parent: 7
        }
    );
    let mut broken = joint(None);
    broken.rest.scale.y = f32::NAN;
    assert_eq!(
        Skeleton::new(vec![broken]).unwrap_err(),
        SkeletonError::NotFinite { joint: 0 }
    );
}

#[test]
fn no_joints_and_many_roots_are_fine() {
    let empty = parents(&[]).unwrap();
    let mut globals = Globals::new(&empty);
    empty.globals(empty.rest(), &mut globals);
    assert!(empty.is_empty() && globals.slots().is_empty());

    let forest = parents(&[None, None, Some(1), None, Some(0)]).unwrap();
    let mut globals = Globals::new(&forest);
    forest.globals(forest.rest(), &mut globals);
    for (source, height) in [1.0, 1.0, 2.0, 1.0, 2.0].into_iter().enumerate() {
        let translation = globals.get(forest.joint(source)).translation;
        assert_eq!(translation, Vec3::new(0.0, height, 0.0));
    }
}

#[test]
fn names_are_optional_and_may_repeat() {
    let names = [None, Some("bone"), Some("bone"), None];
    let named = |name: Option<&str>| JointSpec {
        name: name.map(str::to_owned),
        ..joint(None)
    };
    let skeleton = Skeleton::new(names.into_iter().map(named).collect()).unwrap();
    assert_eq!(skeleton.find("bone"), Some(skeleton.joint(1)));
    assert_eq!(skeleton.find("none"), None);
    assert_eq!(skeleton.name(skeleton.joint(2)), Some("bone"));
    assert_eq!(skeleton.name(skeleton.joint(3)), None);
}

#[test]
fn ids_hold_65535_joints_and_no_more() {
    let chain = |count: usize| {
        (0..count)
            .map(|joint| joint.checked_sub(1))
            .collect::<Vec<_>>()
    };
    let skeleton = parents(&chain(65_535)).unwrap();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let last = skeleton.joints().next_back().unwrap();
    assert_eq!(globals.get(last).translation, Vec3::new(0.0, 65_535.0, 0.0));
    skeleton.globals_below(skeleton.joint(60_000), skeleton.rest(), &mut globals);
    assert_eq!(globals.get(last).translation, Vec3::new(0.0, 65_535.0, 0.0));
    assert_eq!(
        parents(&chain(65_536)).unwrap_err(),
        SkeletonError::TooManyJoints { count: 65_536 }
    );
}

#[test]
fn a_skeleton_survives_serialisation_and_a_broken_one_is_refused() {
    let skeleton = Skeleton::new(random_joints(30, &mut Random(1))).unwrap();
    let text = serde_json::to_string(&skeleton).unwrap();
    assert_eq!(serde_json::from_str::<Skeleton>(&text).unwrap(), skeleton);
    assert!(serde_json::from_str::<Skeleton>(r#"[{"parent": 0}]"#).is_err());
    assert!(serde_json::from_str::<Skeleton>(r#"[{"parent": 5}]"#).is_err());
}
