//! Joint limits against closed forms and their own promises.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

use std::f32::consts::{FRAC_PI_2, PI};

use anim_math::nalgebra::Vector2;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{JointLimit, JointLimitSpec, SkeletonError, Swing};
use proptest::prelude::*;

/// Single-precision quaternions hold angles to about 2e-7.
const EPS: f32 = 1e-6;

fn limit(spec: JointLimitSpec) -> JointLimit {
    JointLimit::new(spec).unwrap()
}

fn hinge(axis: Vec3, range: [f32; 2]) -> JointLimit {
    limit(JointLimitSpec::Hinge { axis, range })
}

fn ball(swing: Swing, twist: [f32; 2]) -> JointLimit {
    limit(JointLimitSpec::Ball {
        axis: Vec3::y(),
        swing,
        twist,
    })
}

fn about(axis: Vec3, angle: f32) -> Quat {
    quat::from_axis_angle(axis, angle)
}

fn near(a: Quat, b: Quat) -> bool {
    quat::angle_between(a, b) < EPS
}

#[test]
fn a_hinge_stops_at_the_ends_of_its_range() {
    let knee = hinge(Vec3::x(), [-0.5, 2.0]);
    let rest = about(Vec3::new(0.6, 0.0, 0.8), 1.1);
    for (angle, expected) in [(-1.0, -0.5), (-0.5, -0.5), (0.3, 0.3), (2.5, 2.0)] {
        let (clamped, excess) = knee.clamp_rotation(rest, rest * about(Vec3::x(), angle));
        assert!(near(clamped, rest * about(Vec3::x(), expected)));
        assert!((excess - (angle - expected).abs()).abs() < EPS);
    }
    // Beyond the middle of what is forbidden the other end is nearer.
    let (clamped, excess) = knee.clamp_rotation(rest, rest * about(Vec3::x(), -2.5));
    assert!(near(clamped, rest * about(Vec3::x(), 2.0)));
    assert!((excess - (2.0 * PI - 4.5)).abs() < EPS);
}

#[test]
fn a_hinge_takes_away_every_swing() {
    let elbow = hinge(Vec3::new(0.0, 3.0, 0.0), [-1.0, 1.0]);
    let swung = about(Vec3::x(), 0.4) * about(Vec3::y(), 0.7);
    let (clamped, excess) = elbow.clamp_rotation(Quat::identity(), swung);
    assert!(near(clamped, about(Vec3::y(), 0.7)));
    assert!((excess - 0.4).abs() < EPS);
}

#[test]
fn a_range_may_lie_around_half_a_turn_or_be_no_limit() {
    let back = hinge(Vec3::z(), [PI - 0.2, PI + 0.3]);
    for angle in [PI - 0.1, PI, -PI + 0.25, 3.0 * PI + 0.1] {
        assert_eq!(
            back.clamp_rotation(Quat::identity(), about(Vec3::z(), angle))
                .1,
            0.0
        );
    }
    let (clamped, excess) = back.clamp_rotation(Quat::identity(), about(Vec3::z(), -PI + 0.5));
    assert!(near(clamped, about(Vec3::z(), PI + 0.3)));
    assert!((excess - 0.2).abs() < EPS);

    let wheel = hinge(Vec3::z(), [-PI, PI]);
    for step in -20..20 {
        let angle = step as f32 * 0.333;
        let turned = about(Vec3::z(), angle);
        assert_eq!(
            wheel.clamp_rotation(Quat::identity(), turned),
            (turned, 0.0)
        );
    }
}

#[test]
fn a_cone_bounds_how_far_the_axis_leans_and_keeps_the_direction_and_the_twist() {
    let shoulder = ball(Swing::Cone { angle: 0.5 }, [-1.0, 1.0]);
    let lean = |angle: f32| about(Vec3::new(0.8, 0.0, -0.6), angle);
    let (clamped, excess) =
        shoulder.clamp_rotation(Quat::identity(), lean(1.3) * about(Vec3::y(), 0.4));
    assert!(near(clamped, lean(0.5) * about(Vec3::y(), 0.4)));
    assert!((excess - 0.8).abs() < EPS);
    // The axis itself leans by as much.
    assert!((Vec3::y().dot(&(clamped * Vec3::y())) - libm::cosf(0.5)).abs() < EPS);
}

#[test]
fn twist_is_limited_without_a_change_of_the_swing() {
    let wrist = ball(Swing::Cone { angle: 1.0 }, [-0.25, 0.5]);
    let lean = about(Vec3::z(), 0.75);
    let (clamped, excess) = wrist.clamp_rotation(Quat::identity(), lean * about(Vec3::y(), -1.25));
    assert!(near(clamped, lean * about(Vec3::y(), -0.25)));
    assert!((excess - 1.0).abs() < EPS);
}

#[test]
fn an_ellipse_is_a_cone_if_its_angles_are_equal_and_a_hinge_if_one_is_zero() {
    let cone = ball(Swing::Cone { angle: 0.7 }, [0.0, 0.0]);
    let ellipse = |angles| {
        let about = Vec3::new(1.0, 5.0, 0.0);
        ball(Swing::Ellipse { about, angles }, [0.0, 0.0])
    };
    let leant = quat::exp(Vec3::new(1.2, 0.0, -0.9));
    let (a, _) = cone.clamp_rotation(Quat::identity(), leant);
    let (b, _) = ellipse([0.7, 0.7]).clamp_rotation(Quat::identity(), leant);
    assert!(near(a, b));
    let (flat, excess) = ellipse([0.7, 0.0]).clamp_rotation(Quat::identity(), leant);
    assert!(near(flat, about(Vec3::x(), 0.7)));
    assert!((excess - (0.5_f32 * 0.5 + 0.9 * 0.9).sqrt()).abs() < EPS);
}

#[test]
fn the_nearest_swing_of_an_ellipse_is_that_of_a_dense_search() {
    let angles = [1.2_f32, 0.3];
    let hip = ball(
        Swing::Ellipse {
            about: Vec3::x(),
            angles,
        },
        [0.0, 0.0],
    );
    // `y` × `x` is −z: the ellipse lies in the plane of x and z.
    let on_ellipse = |s: f64| {
        (
            f64::from(angles[0]) * s.cos(),
            f64::from(angles[1]) * s.sin(),
        )
    };
    for (x, z) in [
        (1.5, 0.1),
        (0.9, -0.9),
        (-0.2, 1.4),
        (0.0, 0.5),
        (2.0, 0.0),
        (-1e-4, 0.31),
    ] {
        let (clamped, excess) =
            hip.clamp_rotation(Quat::identity(), quat::exp(Vec3::new(x, 0.0, z)));
        let distance = |s: f64| {
            let (a, b) = on_ellipse(s);
            ((a - f64::from(x)).powi(2) + (b - f64::from(z)).powi(2)).sqrt()
        };
        let steps = 100_000;
        let best = (0..steps)
            .map(|step| distance(std::f64::consts::TAU * f64::from(step) / f64::from(steps)))
            .fold(f64::INFINITY, f64::min);
        // The step is 6e-5, and the distance changes with its square: 1e-9.
        assert!(
            (f64::from(excess) - best).abs() < 1e-6,
            "{x} {z}: {excess} {best}"
        );
        let v = quat::log(clamped);
        let height = (v.x / angles[0]).powi(2) + (v.z / angles[1]).powi(2);
        assert!((height - 1.0).abs() < 2.0 * EPS / angles[1]);
    }
}

#[test]
fn swing_and_twist_join_to_what_was_split() {
    let about = Vec3::x();
    let ellipse = Swing::Ellipse {
        about,
        angles: [0.6, 1.3],
    };
    let turns = ball(ellipse, [-1.0, 2.0]).turns().unwrap();
    for n in 0..200 {
        let angle = f64::from(n) * 0.7;
        let swing = Vector2::new(angle.cos(), angle.sin()) * (0.01 * angle);
        let joined = turns.join(swing, angle.sin() * 3.0);
        let (split, twist) = turns.split(joined);
        assert!((split - swing).norm() < 1e-12 && (twist - angle.sin() * 3.0).abs() < 1e-12);
        let nearest = turns.nearest_swing(swing);
        let inside = (swing.x / 0.6).powi(2) + (swing.y / 1.3).powi(2) < 1.0 - 1e-6;
        assert_eq!(nearest == swing, inside);
    }
    assert_eq!(JointLimit::FREE.turns(), None);
}

#[test]
fn slides_move_along_their_axis_at_rest_and_others_stay() {
    let rest = Transform {
        translation: Vec3::new(0.0, 1.0, 0.0),
        rotation: about(Vec3::z(), FRAC_PI_2),
        scale: Vec3::repeat(2.0),
    };
    let drawer = limit(JointLimitSpec::Prismatic {
        axis: Vec3::x(),
        range: [0.0, 0.5],
    });
    // The joint's x is the parent's y.
    let pulled = Transform {
        translation: Vec3::new(0.3, 1.75, 0.0),
        ..rest
    };
    let (clamped, excess) = drawer.clamp(&rest, &pulled);
    assert!((clamped.translation - Vec3::new(0.0, 1.5, 0.0)).norm() < EPS);
    assert!((excess - (0.3_f32 * 0.3 + 0.25 * 0.25).sqrt()).abs() < EPS);
    assert_eq!(
        (clamped.rotation, clamped.scale),
        (rest.rotation, rest.scale)
    );
    assert!(drawer.is_within(&rest, &clamped));

    let fixed = limit(JointLimitSpec::Fixed);
    assert!(fixed.is_within(&rest, &rest));
    assert_eq!(fixed.clamp(&rest, &pulled).0.translation, rest.translation);
    assert!(JointLimit::FREE.is_within(&rest, &pulled));
}

#[test]
fn degrees_of_freedom_are_counted() {
    let axis = Vec3::x();
    let swing = Swing::Cone { angle: 1.0 };
    let (range, twist) = ([0.0, 1.0], [-1.0, 1.0]);
    let specs = [
        (JointLimitSpec::Free, 6),
        (JointLimitSpec::Fixed, 0),
        (JointLimitSpec::Hinge { axis, range }, 1),
        (JointLimitSpec::Prismatic { axis, range }, 1),
        (JointLimitSpec::Universal { axis, swing }, 2),
        (JointLimitSpec::Ball { axis, swing, twist }, 3),
    ];
    for (spec, expected) in specs {
        assert_eq!(limit(spec).degrees_of_freedom(), expected);
    }
}

#[test]
fn limits_are_data_and_bad_ones_are_refused() {
    let json =
        r#"{"ball":{"axis":[0.0,1.0,0.0],"swing":{"cone":{"angle":0.5}},"twist":[-0.1,0.2]}}"#;
    let limit: JointLimit = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&limit).unwrap(), json);
    assert_eq!(
        serde_json::from_str::<JointLimit>(r#""free""#).unwrap(),
        JointLimit::FREE
    );
    let bad = [
        r#"{"hinge":{"axis":[0,0,0],"range":[0,1]}}"#,
        r#"{"hinge":{"axis":[1,0,0],"range":[1,0]}}"#,
        r#"{"hinge":{"axis":[1,0,0],"range":[0,1e39]}}"#,
        r#"{"universal":{"axis":[1,0,0],"swing":{"cone":{"angle":-1}}}}"#,
        r#"{"universal":{"axis":[1,0,0],"swing":{"cone":{"angle":3.2}}}}"#,
        r#"{"universal":{"axis":[1,0,0],"swing":{"ellipse":{"about":[2,0,0],"angles":[1,1]}}}}"#,
        r#"{"hinge":{"axis":[1,0,0],"range":[0,1],"swing":1}}"#,
    ];
    for json in bad {
        assert!(serde_json::from_str::<JointLimit>(json).is_err(), "{json}");
    }
    let axis = Vec3::new(f32::NAN, 0.0, 0.0);
    let error = JointLimit::new(JointLimitSpec::Hinge {
        axis,
        range: [0.0, 1.0],
    });
    assert!(matches!(error, Err(SkeletonError::BadLimit { .. })));
}

fn any_direction() -> impl Strategy<Value = Vec3> {
    let part = || -1.0_f32..1.0;
    (part(), part(), part()).prop_filter_map("too short", |(x, y, z)| {
        Vec3::new(x, y, z).try_normalize(0.1)
    })
}

fn any_rotation() -> impl Strategy<Value = Quat> {
    (any_direction(), 0.0_f32..=PI).prop_map(|(axis, angle)| about(axis, angle))
}

fn any_range() -> impl Strategy<Value = [f32; 2]> {
    (-4.0_f32..4.0, 0.0_f32..3.0).prop_map(|(low, span)| [low, low + span])
}

fn any_swing() -> impl Strategy<Value = Swing> {
    let angle = || prop_oneof![Just(0.0), 0.0_f32..=PI];
    prop_oneof![
        angle().prop_map(|angle| Swing::Cone { angle }),
        (any_direction(), angle(), angle()).prop_map(|(about, a, b)| Swing::Ellipse {
            about,
            angles: [a, b]
        }),
    ]
}

fn any_limit() -> impl Strategy<Value = JointLimit> {
    let spec = prop_oneof![
        Just(JointLimitSpec::Free),
        Just(JointLimitSpec::Fixed),
        (any_direction(), any_range())
            .prop_map(|(axis, range)| JointLimitSpec::Hinge { axis, range }),
        (any_direction(), any_range())
            .prop_map(|(axis, range)| JointLimitSpec::Prismatic { axis, range }),
        (any_direction(), any_swing())
            .prop_map(|(axis, swing)| JointLimitSpec::Universal { axis, swing }),
        (any_direction(), any_swing(), any_range())
            .prop_map(|(axis, swing, twist)| JointLimitSpec::Ball { axis, swing, twist }),
    ];
    spec.prop_filter_map("ellipse about the axis", |spec| JointLimit::new(spec).ok())
}

fn any_transform() -> impl Strategy<Value = Transform> {
    (any_direction(), 0.0_f32..3.0, any_rotation()).prop_map(|(direction, length, rotation)| {
        Transform {
            translation: direction * length,
            rotation,
            scale: Vec3::repeat(1.0),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_clamped_is_within_and_stays_to_the_bit(
        limit in any_limit(), rest in any_transform(), local in any_transform(),
    ) {
        let (clamped, excess) = limit.clamp(&rest, &local);
        prop_assert!((clamped.rotation.coords.norm() - 1.0).abs() < 3e-7);
        prop_assert_eq!(excess == 0.0, limit.is_within(&rest, &local));
        if excess == 0.0 {
            prop_assert_eq!(clamped, local);
        }
        prop_assert_eq!(limit.clamp(&rest, &clamped), (clamped, 0.0));
    }

    #[test]
    fn swings_and_twists_within_come_back_as_they_were(
        axis in any_direction(), twist in -3.0_f32..3.0, lean in any_direction(),
        angle in 0.0_f32..2.5, rest in any_rotation(),
    ) {
        let across = (lean - axis * axis.dot(&lean)).try_normalize(0.1);
        prop_assume!(across.is_some());
        let swing = about(across.unwrap(), angle);
        let local = rest * swing * about(axis, twist);
        // Four products in single precision; at 2.5 rad of swing the twist is known 1 / cos 1.25 = 3 times less well.
        let slack = 1e-5;
        let limit = limit(JointLimitSpec::Ball {
            axis,
            swing: Swing::Cone { angle: angle + slack },
            twist: [twist - slack, twist + slack],
        });
        prop_assert_eq!(limit.clamp_rotation(rest, local), (local, 0.0));
    }

    #[test]
    fn clamped_parts_are_within_their_limits_when_measured_anew(
        axis in any_direction(), cone in 0.0_f32..2.0, half in 0.0_f32..2.0, local in any_rotation(),
    ) {
        let limit = limit(JointLimitSpec::Ball { axis, swing: Swing::Cone { angle: cone }, twist: [-half, half] });
        let (clamped, _) = limit.clamp_rotation(Quat::identity(), local);
        let (swing, twist) = quat::swing_twist(clamped, axis);
        // Two roundings more than in the clamp itself: the measure is in single precision.
        prop_assert!(quat::log(swing).norm() <= cone + 2.0 * EPS);
        prop_assert!(quat::log(twist).norm() <= half + 2.0 * EPS);
    }
}
