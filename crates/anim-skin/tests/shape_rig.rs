//! Controls of a face: limits, groups, stops and combinations.

use anim_skin::SkinError;
use anim_skin::morph::rig::{Combination, Control, Driver, Exclusion, Group, RigSpec, ShapeRig};
use proptest::prelude::*;

/// Three controls `a`, `b`, `c` of targets 0 to 2, whose combinations are targets 3 and 4.
fn spec(rule: Option<Exclusion>) -> RigSpec {
    let names = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let control = |(name, target): (&str, usize)| Control {
        name: name.to_owned(),
        limits: [0.0, 1.0],
        stops: vec![(1.0, target)],
    };
    let combination = |controls, target, driver| Combination {
        controls: names(controls),
        target,
        driver,
    };
    RigSpec {
        controls: [("a", 0), ("b", 1), ("c", 2)].map(control).to_vec(),
        groups: rule
            .map(|rule| Group {
                controls: names("ab"),
                rule,
            })
            .into_iter()
            .collect(),
        combinations: vec![
            combination("ab", 3, Driver::Product),
            combination("abc", 4, Driver::Min),
        ],
    }
}

#[test]
fn controls_are_limited_then_exclude_each_other_then_combine() {
    let cases = [
        (None, [0.5, 2.0, 0.25], [0.5, 1.0, 0.25, 0.5, 0.25]),
        (None, [f32::NAN, 1.0, -1.0], [0.0, 1.0, 0.0, 0.0, 0.0]),
        (
            Some(Exclusion::Share),
            [1.0, 1.0, 1.0],
            [0.5, 0.5, 1.0, 0.25, 0.5],
        ),
        (
            Some(Exclusion::Share),
            [0.25, 0.5, 0.0],
            [0.25, 0.5, 0.0, 0.125, 0.0],
        ),
        (
            Some(Exclusion::Winner),
            [0.25, 0.5, 1.0],
            [0.0, 0.5, 1.0, 0.0, 0.0],
        ),
        (
            Some(Exclusion::Winner),
            [0.5, 0.5, 1.0],
            [0.5, 0.0, 1.0, 0.0, 0.0],
        ),
    ];
    for (rule, controls, expected) in cases {
        let rig = ShapeRig::new(&spec(rule)).unwrap();
        let mut weights = [9.0; 5];
        rig.evaluate(&controls, &mut weights);
        assert_eq!(weights, expected, "{rule:?} {controls:?}");
    }
}

/// A way to break a rig.
type Change = fn(&mut RigSpec);

#[test]
fn a_wrong_rig_is_refused_by_name_and_place() {
    let refused = |change: Change| {
        let mut spec = spec(Some(Exclusion::Share));
        change(&mut spec);
        ShapeRig::new(&spec).unwrap_err()
    };
    let unknown = refused(|spec| spec.combinations[1].controls[2] = "d".to_owned());
    assert_eq!(
        unknown,
        SkinError::UnknownShape {
            name: "d".to_owned()
        }
    );
    let changes: [(Change, usize); 5] = [
        (|spec| spec.controls[2].name = "a".to_owned(), 2),
        (|spec| spec.controls[1].limits = [1.0, 0.0], 1),
        (|spec| spec.controls[1].stops[0].0 = 0.0, 1),
        (|spec| spec.groups.push(spec.groups[0].clone()), 1),
        (|spec| spec.combinations[0].controls.truncate(1), 0),
    ];
    for (change, place) in changes {
        assert!(matches!(refused(change), SkinError::BadShape { shape, .. } if shape == place));
    }
}

proptest! {
    #[test]
    fn weights_of_limited_controls_stay_within_limits(controls in prop::array::uniform3(-3.0..3.0_f32)) {
        for rule in [None, Some(Exclusion::Share), Some(Exclusion::Winner)] {
            let mut weights = [9.0; 5];
            ShapeRig::new(&spec(rule)).unwrap().evaluate(&controls, &mut weights);
            prop_assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
            // Sharing divides twice and adds once.
            prop_assert!(rule.is_none() || weights[0] + weights[1] <= 1.0 + 2.0 * f32::EPSILON);
        }
    }
}
