//! Ancestors, descendants and paths against their definitions.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_skeleton::{JointId, JointSpec, Skeleton};
use common::{Random, human, random_joints};

fn forest() -> Skeleton {
    let joint = |name: &str, parent| JointSpec {
        name: Some(name.to_owned()),
        parent,
        rest: Default::default(),
    };
    // Two trees, in an order that is neither depth-first nor breadth-first.
    Skeleton::new(vec![
        joint("hand", Some(3)),
        joint("hips", None),
        joint("prop", None),
        joint("arm", Some(4)),
        joint("spine", Some(1)),
        joint("leg", Some(1)),
        joint("blade", Some(2)),
    ])
    .unwrap()
}

fn skeletons() -> Vec<Skeleton> {
    let random = |seed| random_joints(40, &mut Random(seed));
    [human(60), random(1), random(2), random(3), Vec::new()]
        .map(|joints| Skeleton::new(joints).unwrap())
        .into()
}

fn names(skeleton: &Skeleton, joints: impl IntoIterator<Item = JointId>) -> Vec<&str> {
    let name = |joint| skeleton.name(joint).unwrap();
    joints.into_iter().map(name).collect()
}

#[test]
fn a_known_forest_is_walked_as_drawn() {
    let skeleton = forest();
    let joint = |name| skeleton.find(name).unwrap();
    assert_eq!(names(&skeleton, skeleton.roots()), ["hips", "prop"]);
    assert_eq!(
        names(&skeleton, skeleton.ancestors(joint("hand"))),
        ["arm", "spine", "hips"]
    );
    assert_eq!(
        names(&skeleton, skeleton.descendants(joint("hips"))),
        ["spine", "leg", "arm", "hand"]
    );
    assert_eq!(
        names(&skeleton, skeleton.depth_first()),
        ["hips", "spine", "arm", "hand", "leg", "prop", "blade"]
    );
    assert_eq!(
        names(
            &skeleton,
            skeleton.path(joint("hand"), joint("leg")).unwrap()
        ),
        ["hand", "arm", "spine", "hips", "leg"]
    );
    assert_eq!(
        names(
            &skeleton,
            skeleton.chain(joint("spine"), joint("hand")).unwrap()
        ),
        ["spine", "arm", "hand"]
    );
    assert_eq!(skeleton.depth(joint("hand")), 3);
}

#[test]
fn joints_of_different_trees_have_nothing_in_common() {
    let skeleton = forest();
    let (hand, blade) = (
        skeleton.find("hand").unwrap(),
        skeleton.find("blade").unwrap(),
    );
    assert_eq!(skeleton.common_ancestor(hand, blade), None);
    assert_eq!(skeleton.path(hand, blade), None);
    assert_eq!(skeleton.chain(blade, hand), None);
    assert_eq!(skeleton.chain(hand, skeleton.find("arm").unwrap()), None);
}

#[test]
fn a_joint_is_its_own_common_ancestor_and_path() {
    let skeleton = forest();
    for joint in skeleton.joints() {
        assert_eq!(skeleton.common_ancestor(joint, joint), Some(joint));
        assert_eq!(skeleton.path(joint, joint), Some(vec![joint]));
        assert_eq!(skeleton.chain(joint, joint), Some(vec![joint]));
    }
}

#[test]
fn descendants_are_what_is_below_and_ancestors_what_is_above() {
    for skeleton in skeletons() {
        for joint in skeleton.joints() {
            let below: Vec<_> = skeleton.descendants(joint).collect();
            let all = skeleton.joints();
            assert_eq!(
                below,
                all.filter(|j| skeleton.is_below(*j, joint))
                    .collect::<Vec<_>>()
            );
            let mut above: Vec<_> = skeleton.ancestors(joint).collect();
            above.reverse();
            let all = skeleton.joints();
            assert_eq!(
                above,
                all.filter(|j| skeleton.is_below(joint, *j))
                    .collect::<Vec<_>>()
            );
            assert_eq!(skeleton.depth(joint), above.len());
        }
    }
}

#[test]
fn depth_first_meets_every_joint_once_with_its_subtree_behind_it() {
    for skeleton in skeletons() {
        let order: Vec<_> = skeleton.depth_first().collect();
        let mut sorted = order.clone();
        sorted.sort();
        assert_eq!(sorted, skeleton.joints().collect::<Vec<_>>());
        for (place, joint) in order.iter().enumerate() {
            let mut subtree: Vec<_> = skeleton.descendants(*joint).collect();
            let mut behind = order[place + 1..place + 1 + subtree.len()].to_vec();
            subtree.sort();
            behind.sort();
            assert_eq!(behind, subtree);
        }
    }
}

#[test]
fn paths_step_from_parent_to_child_and_back() {
    for skeleton in skeletons() {
        for from in skeleton.joints() {
            for to in skeleton.joints() {
                let Some(path) = skeleton.path(from, to) else {
                    assert_ne!(
                        skeleton.ancestors(from).last().unwrap_or(from),
                        skeleton.ancestors(to).last().unwrap_or(to)
                    );
                    continue;
                };
                assert_eq!((path.first(), path.last()), (Some(&from), Some(&to)));
                let linked = |pair: &[JointId]| {
                    skeleton.parent(pair[0]) == Some(pair[1])
                        || skeleton.parent(pair[1]) == Some(pair[0])
                };
                assert!(path.windows(2).all(linked));
                let top = skeleton.common_ancestor(from, to).unwrap();
                let depth = |joint| skeleton.depth(joint);
                assert_eq!(path.len(), depth(from) + depth(to) - 2 * depth(top) + 1);
            }
        }
    }
}
