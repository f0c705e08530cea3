//! Masks from names and subtrees, and in a blend.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::Vec3;
use anim_skeleton::{JointSpec, Layer, Mask, MaskSpec, Mode, Skeleton, SkeletonError, blend};
use common::{Random, random_joints};
use proptest::prelude::*;

fn body() -> Skeleton {
    let joint = |name: Option<&str>, parent| JointSpec {
        name: name.map(str::to_owned),
        parent,
        rest: Default::default(),
    };
    Skeleton::new(vec![
        joint(Some("Hips"), None),
        joint(Some("Spine"), Some(0)),
        joint(Some("Spine1"), Some(1)),
        joint(Some("Arm_L"), Some(2)),
        joint(Some("Arm_L_twist"), Some(3)),
        joint(Some("Hand_L"), Some(3)),
        joint(None, Some(5)),
        joint(Some("Leg_L"), Some(0)),
    ])
    .unwrap()
}

/// In source order.
fn factors(skeleton: &Skeleton, mask: &Mask) -> Vec<f32> {
    let joints = (0..skeleton.len()).map(|source| skeleton.joint(source));
    joints.map(|joint| mask.get(joint)).collect()
}

fn resolved(json: &str) -> Vec<f32> {
    let spec: MaskSpec = serde_json::from_str(json).unwrap();
    factors(&body(), &spec.resolve(&body()).unwrap())
}

#[test]
fn a_spec_is_included_names_and_feathered_subtrees_but_for_exclusions() {
    assert_eq!(resolved("{}"), [1.0; 8]);
    assert_eq!(
        resolved(r#"{"include": ["Spine*", "Hips"]}"#),
        [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    );
    assert_eq!(
        resolved(r#"{"subtree": ["Spine1"], "feather": 3, "exclude": ["*_twist"]}"#),
        [0.0, 0.0, 0.25, 0.5, 0.0, 0.75, 1.0, 0.0]
    );
    assert_eq!(
        resolved(r#"{"exclude": ["Arm_?"]}"#),
        [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    );
}

#[test]
fn a_subtree_in_a_subtree_takes_the_larger_factor() {
    // "Spine*" is two subtrees; the inner starts at 1/3 where the outer is at 2/3 already.
    assert_eq!(
        resolved(r#"{"subtree": ["Spine*"], "feather": 2}"#),
        [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    );
}

#[test]
fn a_pattern_without_a_match_is_named_with_its_nearest() {
    let error = Mask::named(&body(), "spine_1").unwrap_err();
    let SkeletonError::NoName { pattern, near } = &error else {
        unreachable!("{error}");
    };
    assert_eq!((pattern.as_str(), near[0].as_str()), ("spine_1", "Spine1"));
    for json in [
        r#"{"include": ["x"]}"#,
        r#"{"subtree": ["x"]}"#,
        r#"{"exclude": ["x"]}"#,
    ] {
        let spec: MaskSpec = serde_json::from_str(json).unwrap();
        assert!(spec.resolve(&body()).is_err());
    }
    let nameless = Skeleton::new(random_joints(3, &mut Random(1))).unwrap();
    let error = Mask::named(&nameless, "*").unwrap_err();
    assert_eq!(error.to_string(), "no joint is named '*'");
}

#[test]
fn misspelt_fields_and_bad_factors_are_refused() {
    assert!(serde_json::from_str::<MaskSpec>(r#"{"subtrees": []}"#).is_err());
    for bad in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
        let error = Mask::new(vec![1.0, bad]).unwrap_err();
        assert!(matches!(error, SkeletonError::BadFactor { place: 1, .. }));
    }
    assert!(serde_json::from_str::<Mask>("[0.5, 2.0]").is_err());
    let mask: Mask = serde_json::from_str("[0.5, 1.0]").unwrap();
    assert_eq!(serde_json::to_string(&mask).unwrap(), "[0.5,1.0]");
}

#[test]
fn a_mask_says_which_joints_a_layer_moves() {
    let skeleton = body();
    let spine = skeleton.find("Spine").unwrap();
    let mask = Mask::subtree(&skeleton, spine, 1);
    let mut lifted = skeleton.rest().clone();
    for joint in skeleton.joints() {
        lifted.set_translation(joint, Vec3::y());
    }
    let layer = Layer {
        pose: &lifted,
        weight: 1.0,
        mask: Some(mask.as_slice()),
        mode: Mode::Override,
    };
    let mut out = skeleton.rest().clone();
    blend(skeleton.rest(), &[layer], &mut out);
    for joint in skeleton.joints() {
        assert_eq!(out.translation(joint).y, mask.get(joint));
    }
}

proptest! {
    #[test]
    fn a_subtree_and_its_inverse_are_everything_once(seed in any::<u64>(), feather in 0_usize..5) {
        let random = &mut Random(seed);
        let skeleton = Skeleton::new(random_joints(30, random)).unwrap();
        let joint = skeleton.joint(random.below(30));
        let mask = Mask::subtree(&skeleton, joint, feather);
        for other in skeleton.joints() {
            let is_in = other == joint || skeleton.is_below(other, joint);
            prop_assert_eq!(mask.get(other) > 0.0, is_in);
            // Factors never fall on the way down.
            if let Some(parent) = skeleton.parent(other) {
                prop_assert!(mask.get(other) >= mask.get(parent));
            }
        }
        let mut rest = mask.clone();
        rest.invert();
        let sum = |(a, b): (&f32, &f32)| a + b;
        prop_assert!(mask.as_slice().iter().zip(rest.as_slice()).map(sum).all(|s| s == 1.0));

        let (mut both, mut either) = (mask.clone(), mask.clone());
        both.multiply(&rest);
        either.max(&rest);
        for other in skeleton.joints() {
            let (a, b) = (mask.get(other), rest.get(other));
            prop_assert_eq!((both.get(other), either.get(other)), (a * b, a.max(b)));
        }
    }
}
