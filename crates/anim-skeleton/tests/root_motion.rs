//! Root motion: what is taken out and what is left make the clip, over loops, backwards and blended.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use std::f32::consts::{PI, TAU};

use anim_curves::{Interpolation, Key, Track};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{
    Channel, ClipSpec, Globals, JointTrack, MotionReference, MotionSample, Passage, Playback,
    RootMotion, RootMotionOptions, Skeleton, SkeletonError, Wrap, blend_deltas,
};
use common::{Random, human, motion, synth60};
use proptest::prelude::*;

/// A clip of one turning and travelling joint: keys of (time, position, yaw).
fn clip(joint: usize, keys: &[(f32, Vec3, f32)]) -> ClipSpec {
    let turn = |yaw| quat::from_axis_angle(Vec3::y(), yaw);
    let positions = keys.iter().map(|key| Key::new(key.0, key.1)).collect();
    let rotations = keys
        .iter()
        .map(|key| Key::new(key.0, turn(key.2)))
        .collect();
    let translation = Track::new(positions, Interpolation::Linear).unwrap();
    let rotation = Track::new(rotations, Interpolation::Linear).unwrap();
    let tracks = [
        JointTrack::Translation(translation),
        JointTrack::Rotation(rotation),
    ];
    ClipSpec {
        channels: tracks.map(|track| Channel { joint, track }).to_vec(),
        ..ClipSpec::default()
    }
}

/// A walk along a circle of `radius` about the y axis through (−radius, 0, 0), by `angle` in a second.
fn arc(radius: f32, angle: f32) -> ClipSpec {
    let keys: Vec<_> = (0..=60)
        .map(|frame| {
            let (time, yaw) = (frame as f32 / 60.0, angle * frame as f32 / 60.0);
            let position = Vec3::new(yaw.cos() - 1.0, 0.0, -yaw.sin()) * radius;
            (time, position + Vec3::new(0.0, 0.9, 0.0), yaw)
        })
        .collect();
    clip(0, &keys)
}

fn one_joint() -> Skeleton {
    Skeleton::new(human(1)).unwrap()
}

fn extract(spec: &ClipSpec, skeleton: &Skeleton) -> (RootMotion, ClipSpec) {
    let options = RootMotionOptions::new(skeleton.joint(0));
    RootMotion::extract(spec, skeleton, &options).unwrap()
}

fn models(spec: &ClipSpec, skeleton: &Skeleton, time: f32) -> Globals {
    let mut pose = skeleton.rest().clone();
    spec.sample(skeleton, time, &mut pose);
    let mut globals = Globals::new(skeleton);
    skeleton.globals(&pose, &mut globals);
    globals
}

fn distance(a: &Affine, b: &Affine) -> f32 {
    (a.linear - b.linear)
        .norm()
        .max((a.translation - b.translation).norm())
}

fn apart(a: &Transform, b: &Transform) -> f32 {
    distance(&Affine::from(*a), &Affine::from(*b))
}

/// Composes as callers do, but in f64.
struct Walker {
    yaw: f64,
    position: [f64; 2],
}

impl Walker {
    fn step(&mut self, delta: &Transform) {
        let [x, z] = [delta.translation.x, delta.translation.z].map(f64::from);
        let (sine, cosine) = self.yaw.sin_cos();
        self.position[0] += cosine * x + sine * z;
        self.position[1] += cosine * z - sine * x;
        let coords = delta.rotation.coords.cast::<f64>();
        self.yaw += 2.0 * coords.y.atan2(coords.w);
    }
}

#[test]
fn a_circle_walked_in_random_steps_is_where_the_formula_says() {
    let skeleton = one_joint();
    for angle in [0.0, 0.3, PI * 0.5, 1.9, TAU] {
        let (motion, _) = extract(&arc(2.0, angle), &skeleton);
        let mut random = Random(7);
        let mut walker = Walker {
            yaw: 0.0,
            position: [0.0; 2],
        };
        let mut playback = Playback::new(1.0, Wrap::Loop);
        let mut seconds = 0.0;
        for _ in 0..200 {
            // Also steps over many loops and back.
            let dt = random.signed() * 2.0 + 0.1;
            seconds += f64::from(dt);
            walker.step(&motion.delta(&playback.advance(dt, 1.0)));
        }
        // Whole turns, for the clip itself runs on chords between its keys.
        let turns = seconds.floor();
        let at = f64::from(angle) * turns;
        let inside = motion.at((seconds - turns) as f32).translation;
        let (sine, cosine) = at.sin_cos();
        let [x, z] = [inside.x, inside.z].map(f64::from);
        let expected = [
            2.0 * (cosine - 1.0) + cosine * x + sine * z,
            -2.0 * sine + cosine * z - sine * x,
        ];
        for (is, expected) in walker.position.iter().zip(expected) {
            assert!((is - expected).abs() < 1e-4, "{angle}: {is} {expected}");
        }
    }
}

#[test]
fn a_thousand_loops_in_one_step_are_composed_not_added() {
    let skeleton = one_joint();
    let (motion, _) = extract(&arc(2.0, PI * 0.5), &skeleton);
    let around = motion.delta(&Passage::new(0.0, 1000.0, 1.0, Wrap::Loop));
    // 250 whole circles; the stored yaw is right to 1e-7 rad a loop.
    assert!(apart(&around, &Transform::IDENTITY) < 5e-4);
    let quarter = motion.delta(&Passage::new(0.0, 1001.0, 1.0, Wrap::Loop));
    assert!((quarter.translation - Vec3::new(-2.0, 0.0, -2.0)).norm() < 5e-4);
    let straight = extract(&arc(2.0, 0.0), &skeleton).0;
    assert_eq!(
        straight.delta(&Passage::new(0.0, 1e15, 1.0, Wrap::Loop)),
        Transform::IDENTITY
    );
}

#[test]
fn motion_times_what_is_left_is_the_clip() {
    let (skeleton, spec) = synth60();
    let (motion, left) = extract(&spec, &skeleton);
    let mut strays = 0.0_f32;
    for frame in 0..=300 {
        let time = frame as f32 / 30.0;
        let carried = Affine::from(motion.at(time));
        let (was, is) = (
            models(&spec, &skeleton, time),
            models(&left, &skeleton, time),
        );
        for joint in skeleton.joints() {
            let error = distance(&was.get(joint), &(carried * is.get(joint)));
            // The hips travel 12 m.
            assert!(error < 1e-5, "{joint:?} at {time}: {error}");
        }
        let hips = is.get(skeleton.joint(0)).translation;
        strays = strays.max(Vec3::new(hips.x, 0.0, hips.z).norm());
    }
    assert!(strays < 1e-5, "{strays}");
    assert!((motion.speed() - 1.2).abs() < 1e-3);
}

#[test]
fn between_keys_the_joint_strays_less_than_a_hundredth_of_a_millimetre() {
    let (skeleton, spec) = synth60();
    let (motion, left) = extract(&spec, &skeleton);
    let hips = skeleton.joint(0);
    for step in 0..1000 {
        let time = step as f32 * 0.01;
        let was = models(&spec, &skeleton, time).get(hips);
        let is = Affine::from(motion.at(time)) * models(&left, &skeleton, time).get(hips);
        assert!((was.translation - is.translation).norm() < 1e-5, "{time}");
        // Yaw is not quite even between keys: θ²/8 at θ = 0.06 rad a sample.
        assert!((was.linear - is.linear).norm() < 5e-4, "{time}");
    }
}

#[test]
fn a_joint_below_turned_scaled_and_moving_parents_is_carried_in_model_space() {
    let mut random = Random(3);
    for mirror in [1.0, -1.0] {
        let mut joints = human(8);
        joints[0].rest.scale = Vec3::new(0.01 * mirror, 0.01, 0.01);
        joints[0].rest.rotation = random.rotation();
        let skeleton = Skeleton::new(joints).unwrap();
        let mut spec = motion(3, 1.0, 30.0);
        let keys = [
            (0.0, Vec3::zeros(), 0.0),
            (0.5, random.vector() * 100.0, 1.0),
            (1.0, random.vector() * 100.0, 2.5),
        ];
        spec.channels.retain(|channel| channel.joint != 2);
        spec.channels.extend(clip(2, &keys).channels);
        for reference in [MotionReference::Rest, MotionReference::FirstFrame] {
            let options = RootMotionOptions {
                reference,
                ..RootMotionOptions::new(skeleton.joint(2))
            };
            let (motion, left) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
            let mut rest = Globals::new(&skeleton);
            skeleton.globals(skeleton.rest(), &mut rest);
            for frame in 0..=30 {
                let time = frame as f32 / 30.0;
                let (was, is) = (
                    models(&spec, &skeleton, time),
                    models(&left, &skeleton, time),
                );
                let carried = Affine::from(motion.at(time));
                for joint in [2, 3, 4].map(|joint| skeleton.joint(joint)) {
                    let error = distance(&was.get(joint), &(carried * is.get(joint)));
                    assert!(error < 1e-5, "{joint:?} at {time}: {error}");
                }
                // The clip on the spot stands at its reference, over the ground.
                let stands = match reference {
                    MotionReference::Rest => rest.get(skeleton.joint(2)),
                    MotionReference::FirstFrame => {
                        models(&spec, &skeleton, 0.0).get(skeleton.joint(2))
                    }
                };
                let way = is.get(skeleton.joint(2)).translation - stands.translation;
                assert!(way.x.abs() < 1e-5 && way.z.abs() < 1e-5);
                // The parent is left alone.
                assert_eq!(was.get(skeleton.joint(1)), is.get(skeleton.joint(1)));
            }
            let starts = apart(&motion.at(0.0), &Transform::IDENTITY);
            assert_eq!(starts == 0.0, reference == MotionReference::FirstFrame);
        }
    }
}

#[test]
fn yaw_is_counted_through_more_than_a_turn_and_lean_stays_in_the_pose() {
    let skeleton = one_joint();
    let lean = quat::from_axis_angle(Vec3::x(), 0.3);
    let keys = (0..=40)
        .map(|frame| {
            let yaw = quat::from_axis_angle(Vec3::y(), frame as f32 * 0.25);
            Key::new(frame as f32 * 0.1, yaw * lean)
        })
        .collect();
    let track = JointTrack::Rotation(Track::new(keys, Interpolation::Linear).unwrap());
    let spec = ClipSpec {
        channels: vec![Channel { joint: 0, track }],
        ..ClipSpec::default()
    };
    let (motion, left) = extract(&spec, &skeleton);
    for step in 0..=100 {
        let time = step as f32 * 0.04;
        let expected = quat::from_axis_angle(Vec3::y(), time * 2.5);
        assert!(quat::angle_between(motion.at(time).rotation, expected) < 1e-4);
        let mut pose = skeleton.rest().clone();
        left.sample(&skeleton, time, &mut pose);
        assert!(quat::angle_between(pose.rotation(skeleton.joint(0)), lean) < 1e-4);
    }
}

#[test]
fn axes_that_do_not_carry_stay_in_the_pose() {
    let skeleton = one_joint();
    let spec = clip(
        0,
        &[
            (0.0, Vec3::zeros(), 0.0),
            (1.0, Vec3::new(1.0, 2.0, 3.0), 1.0),
        ],
    );
    let options = RootMotionOptions {
        translation: [false, false, true],
        yaw: false,
        ..RootMotionOptions::new(skeleton.joint(0))
    };
    let (motion, left) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    assert_eq!(
        motion.at(1.0),
        Transform::from_translation(Vec3::new(0.0, 0.0, 3.0))
    );
    let end = models(&left, &skeleton, 1.0).get(skeleton.joint(0));
    assert!((end.translation - Vec3::new(1.0, 2.0, 0.0)).norm() < 1e-6);
    let nothing = RootMotionOptions {
        translation: [false; 3],
        ..options
    };
    let (motion, left) = RootMotion::extract(&spec, &skeleton, &nothing).unwrap();
    assert_eq!((motion.at(0.5), left), (Transform::IDENTITY, spec));
}

#[test]
fn a_closed_motion_ends_where_it_began() {
    let skeleton = one_joint();
    let spec = arc(2.0, 6.0);
    let options = RootMotionOptions {
        close_loop: true,
        ..RootMotionOptions::new(skeleton.joint(0))
    };
    let (motion, left) = RootMotion::extract(&spec, &skeleton, &options).unwrap();
    assert_eq!(motion.at(1.0), motion.at(0.0));
    let far = motion.delta(&Passage::new(0.25, 1e9 + 0.25, 1.0, Wrap::Loop));
    assert!(apart(&far, &Transform::IDENTITY) < 1e-6);
    for frame in 0..=60 {
        let time = frame as f32 / 60.0;
        let was = models(&spec, &skeleton, time).get(skeleton.joint(0));
        let is = models(&left, &skeleton, time).get(skeleton.joint(0));
        assert!(distance(&was, &(Affine::from(motion.at(time)) * is)) < 1e-5);
    }
}

#[test]
fn ping_pong_comes_back_and_a_held_clip_stands() {
    let skeleton = one_joint();
    let (motion, _) = extract(&arc(2.0, 1.0), &skeleton);
    let round = motion.delta(&Passage::new(0.25, 6.25, 1.0, Wrap::PingPong));
    assert!(apart(&round, &Transform::IDENTITY) < 1e-6);
    let turned = motion.delta(&Passage::new(0.0, 1.25, 1.0, Wrap::PingPong));
    assert!(apart(&turned, &motion.at(0.75)) < 1e-6);
    let held = motion.delta(&Passage::new(0.0, 9.0, 1.0, Wrap::Clamp));
    assert!(apart(&held, &motion.at(1.0)) < 1e-6);
    assert_eq!(
        motion
            .delta(&Passage::new(3.0, 9.0, 1.0, Wrap::Clamp))
            .translation,
        Vec3::zeros()
    );
}

#[test]
fn clips_without_length_or_curves_do_not_move() {
    let skeleton = one_joint();
    let still = clip(0, &[(0.0, Vec3::new(1.0, 2.0, 3.0), 1.0)]);
    for spec in [ClipSpec::default(), still] {
        let (motion, _) = extract(&spec, &skeleton);
        assert_eq!(motion.at(0.5), Transform::IDENTITY);
        assert_eq!(motion.speed(), 0.0);
        for wrap in [Wrap::Clamp, Wrap::Loop, Wrap::PingPong] {
            let mut playback = Playback::new(1.0, wrap);
            assert_eq!(
                motion.delta(&playback.advance(0.5, 0.0)),
                Transform::IDENTITY
            );
        }
    }
    let (motion, _) = extract(&arc(2.0, 1.0), &skeleton);
    let bad = Passage::new(0.0, f64::NAN, 1.0, Wrap::Loop);
    assert_eq!(motion.delta(&bad), Transform::IDENTITY);
}

#[test]
fn a_motion_is_stored_and_a_broken_one_refused() {
    let (motion, _) = extract(&arc(2.0, 1.0), &one_joint());
    let text = serde_json::to_string(&motion).unwrap();
    assert_eq!(serde_json::from_str::<RootMotion>(&text).unwrap(), motion);
    let read = serde_json::from_str::<RootMotion>(r#"{"duration": 1.0, "samples": []}"#);
    assert!(read.unwrap_err().to_string().contains("samples"));
    let mut bad = MotionSample::default();
    for duration in [-1.0, f32::NAN, f32::INFINITY] {
        assert!(RootMotion::new(duration, vec![bad]).is_err());
    }
    bad.yaw = f32::NAN;
    assert!(RootMotion::new(1.0, vec![bad]).is_err());
}

#[test]
fn joints_of_another_skeleton_are_refused() {
    let (skeleton, small) = (Skeleton::new(human(9)).unwrap(), one_joint());
    let options = RootMotionOptions::new(skeleton.joint(8));
    let refused = RootMotion::extract(&ClipSpec::default(), &small, &options);
    let joint = skeleton.joint(8).index();
    assert_eq!(refused, Err(SkeletonError::ForeignJoint { joint }));
    let refused = RootMotion::extract(
        &motion(2, 1.0, 30.0),
        &small,
        &RootMotionOptions::new(small.joint(0)),
    );
    assert!(matches!(refused, Err(SkeletonError::NoJoint { .. })));
}

#[test]
fn a_key_far_in_the_future_costs_little() {
    let skeleton = one_joint();
    let spec = clip(0, &[(0.0, Vec3::zeros(), 0.0), (1e9, Vec3::x(), 0.0)]);
    let (motion, _) = extract(&spec, &skeleton);
    assert!((motion.at(5e8).translation.x - 0.5).abs() < 1e-5);
}

fn any_delta() -> impl Strategy<Value = Transform> {
    (any::<u64>()).prop_map(|seed| {
        let mut random = Random(seed);
        Transform {
            translation: random.vector(),
            rotation: random.rotation(),
            scale: Vec3::repeat(1.0),
        }
    })
}

#[test]
fn deltas_without_weight_stand_still() {
    let far = Transform::from_translation(Vec3::x());
    for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert_eq!(blend_deltas(&[(far, weight)]), Transform::IDENTITY);
    }
    assert_eq!(blend_deltas(&[]), Transform::IDENTITY);
    assert_eq!(blend_deltas(&[(far, 1.0), (far, f32::NAN)]), far);
}

proptest! {
    #[test]
    fn deltas_compose_and_reverse(
        angle in -7.0_f32..7.0,
        times in prop::array::uniform3(-20.0_f64..20.0),
        wrap in prop::sample::select(vec![Wrap::Clamp, Wrap::Loop, Wrap::PingPong]),
    ) {
        let (motion, _) = extract(&arc(1.5, angle), &one_joint());
        let [a, b, c] = times;
        let delta = |from, to| Affine::from(motion.delta(&Passage::new(from, to, 1.0, wrap)));
        // Straight on, 20 loops are 210 m.
        prop_assert!(distance(&(delta(a, b) * delta(b, c)), &delta(a, c)) < 5e-5);
        let back = delta(a, b).inverse().unwrap();
        prop_assert!(distance(&delta(b, a), &back) < 5e-5);
    }

    #[test]
    fn a_blend_does_not_depend_on_order_or_signs(a in any_delta(), b in any_delta(), weight in 0.0_f32..2.0) {
        let mixed = blend_deltas(&[(a, 0.5), (b, weight)]);
        let mut far_side = b;
        far_side.rotation = Quat::new_unchecked(-b.rotation.into_inner());
        let swapped = blend_deltas(&[(far_side, weight), (a, 0.5)]);
        prop_assert!(a.rotation.coords.dot(&b.rotation.coords).abs() < 1e-3 || apart(&mixed, &swapped) < 1e-4);
        prop_assert_eq!(mixed.scale, Vec3::repeat(1.0));
        prop_assert!((mixed.rotation.coords.norm() - 1.0).abs() < 1e-6);
    }
}
