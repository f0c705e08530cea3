//! Switches of clips: what moved goes on moving, and the new clip is reached to the bit.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

mod common;

use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{DeadBlend, Inertialization, Pose, Skeleton};
use common::{Random, human};
use proptest::prelude::*;

const DURATION: f32 = 0.3;

/// Eleven joints that swing smoothly, each its own way.
fn swinging(skeleton: &Skeleton, seed: u64, time: f32) -> Pose {
    let mut random = Random(seed);
    let mut pose = skeleton.rest().clone();
    for joint in skeleton.joints() {
        let mut wave = |size: f32| {
            let (way, phase) = (random.vector() * size, random.signed() * 3.0);
            way * (4.0 * time + phase).sin()
        };
        let rest = skeleton.rest().get(joint);
        let moved = Transform {
            translation: rest.translation + wave(0.5),
            rotation: quat::exp(wave(1.0)) * rest.rotation,
            scale: rest.scale + wave(0.2),
        };
        pose.set(joint, moved);
    }
    pose
}

/// The largest difference in any part of any joint.
fn apart(skeleton: &Skeleton, a: &Pose, b: &Pose) -> f32 {
    skeleton.joints().fold(0.0, |most: f32, joint| {
        let (a, b) = (a.get(joint), b.get(joint));
        most.max((a.translation - b.translation).norm())
            .max((a.scale - b.scale).norm())
            .max(quat::angle_between(a.rotation, b.rotation))
    })
}

fn skeleton_of(count: usize) -> Skeleton {
    Skeleton::new(human(count)).unwrap()
}

/// Straight on from two poses a step apart.
fn extrapolated(before: &Pose, now: &Pose, skeleton: &Skeleton) -> Pose {
    let mut next = now.clone();
    for joint in skeleton.joints() {
        let (before, now) = (before.get(joint), now.get(joint));
        let ahead = Transform {
            translation: now.translation * 2.0 - before.translation,
            rotation: now.rotation * before.rotation.inverse() * now.rotation,
            scale: now.scale * 2.0 - before.scale,
        };
        next.set(joint, ahead);
    }
    next
}

/// A switch at one second between two motions: shows a frame of the new one.
trait Transition {
    fn begin(&mut self, from: [&Pose; 2], to: [&Pose; 2], dt: f32);
    fn show(&mut self, dt: f32, pose: &mut Pose);
}

impl Transition for Inertialization {
    fn begin(&mut self, from: [&Pose; 2], to: [&Pose; 2], dt: f32) {
        self.start(from, to, dt, DURATION);
    }
    fn show(&mut self, dt: f32, pose: &mut Pose) {
        self.apply(dt, pose);
    }
}

impl Transition for DeadBlend {
    fn begin(&mut self, from: [&Pose; 2], _: [&Pose; 2], dt: f32) {
        self.start(from, dt, DURATION, 0.1);
    }
    fn show(&mut self, dt: f32, pose: &mut Pose) {
        self.apply(dt, pose);
    }
}

fn both(count: usize) -> [Box<dyn Transition>; 2] {
    [
        Box::new(Inertialization::new(count)),
        Box::new(DeadBlend::new(count)),
    ]
}

#[test]
fn the_first_frame_after_a_switch_goes_on_as_before_to_second_order() {
    let skeleton = skeleton_of(11);
    for (name, mut transition) in ["inertialisation", "dead blending"]
        .into_iter()
        .zip(both(11))
    {
        let mut jump = |dt: f32| {
            let old = |time| swinging(&skeleton, 1, time);
            let new = |time| swinging(&skeleton, 2, time);
            let (before, now) = (old(1.0 - dt), old(1.0));
            transition.begin([&before, &now], [&new(1.0 - dt), &new(1.0)], dt);
            let mut held = new(1.0);
            transition.show(0.0, &mut held);
            assert!(
                apart(&skeleton, &held, &now) < 1e-5,
                "{name}: the value jumps"
            );
            let mut next = new(1.0 + dt);
            transition.show(dt, &mut next);
            apart(&skeleton, &next, &extrapolated(&before, &now, &skeleton))
        };
        let (coarse, fine) = (jump(1.0 / 32.0), jump(1.0 / 64.0));
        // A jump in velocity would shrink with dt, not with its square.
        assert!(fine < 0.3 * coarse, "{name}: {coarse} {fine}");
        assert!(fine < 0.05, "{name}: {fine}");
    }
}

#[test]
fn after_its_duration_a_transition_changes_no_bit() {
    let skeleton = skeleton_of(11);
    let (before, now, new) = (
        swinging(&skeleton, 1, 0.0),
        swinging(&skeleton, 1, 0.1),
        swinging(&skeleton, 2, 0.1),
    );
    for mut transition in both(11) {
        transition.begin([&before, &now], [&new, &new], 0.1);
        let mut shown = new.clone();
        transition.show(DURATION * 0.9, &mut shown);
        assert_ne!(shown, new);
        for _ in 0..2 {
            let mut shown = new.clone();
            transition.show(DURATION * 0.11, &mut shown);
            assert_eq!(shown, new);
        }
    }
}

#[test]
fn the_end_comes_without_a_jolt() {
    let skeleton = skeleton_of(11);
    let still = swinging(&skeleton, 2, 0.0);
    let (before, now) = (
        swinging(&skeleton, 1, 0.0),
        swinging(&skeleton, 1, 1.0 / 60.0),
    );
    let mut transition = Inertialization::new(11);
    transition.start([&before, &now], [&still, &still], 1.0 / 60.0, DURATION);
    let mut shown = still.clone();
    transition.apply(DURATION * 0.99, &mut shown);
    // (1 − s)⁴ at s = 0.99, times offsets of up to 5 x₀ + v₀ T, some metres.
    assert!(apart(&skeleton, &shown, &still) < 1e-6);
}

#[test]
fn a_closed_form_offset_decays_as_the_quintic() {
    let skeleton = skeleton_of(1);
    let only = skeleton.joint(0);
    let at = |x: f32| {
        let mut pose = skeleton.rest().clone();
        pose.set_translation(only, Vec3::new(x, 0.0, 0.0));
        pose
    };
    let mut transition = Inertialization::new(1);
    // x₀ = 1 m, v₀ = −2 m/s, T = 1 s: (1 − s)⁴ (1 + 2 s).
    transition.start([&at(1.25), &at(1.0)], [&at(0.0), &at(0.0)], 0.125, 1.0);
    for quarter in 1..4 {
        let mut pose = at(0.0);
        transition.apply(0.25, &mut pose);
        let s = quarter as f32 * 0.25;
        let expected = (1.0 - s).powi(4) * (1.0 + 2.0 * s);
        assert!((pose.translation(only).x - expected).abs() < 1e-6);
    }
}

#[test]
fn nothing_overshoots_however_fast_it_comes_home() {
    let skeleton = skeleton_of(1);
    let only = skeleton.joint(0);
    let at = |x: f32| {
        let mut pose = skeleton.rest().clone();
        pose.set_translation(only, Vec3::new(x, 0.0, 0.0));
        pose
    };
    for speed in [1.0, 10.0, 100.0] {
        let mut transition = Inertialization::new(1);
        transition.start(
            [&at(1.0 + speed * 0.01), &at(1.0)],
            [&at(0.0), &at(0.0)],
            0.01,
            1.0,
        );
        let mut last = 1.0;
        for _ in 0..1000 {
            let mut pose = at(0.0);
            transition.apply(0.001, &mut pose);
            let x = pose.translation(only).x;
            assert!((0.0..=last).contains(&x), "{speed}: {x} after {last}");
            last = x;
        }
    }
}

#[test]
fn equal_poses_need_no_transition() {
    let skeleton = skeleton_of(11);
    let pose = swinging(&skeleton, 1, 0.0);
    let mut transition = Inertialization::new(11);
    assert!(!transition.is_active());
    transition.start([&pose, &pose], [&pose, &pose], 0.016, DURATION);
    let mut shown = pose.clone();
    transition.apply(0.016, &mut shown);
    assert!(apart(&skeleton, &shown, &pose) < 1e-6);
}

#[test]
fn times_that_make_no_sense_make_no_transition() {
    let skeleton = skeleton_of(11);
    let (old, new) = (swinging(&skeleton, 1, 0.0), swinging(&skeleton, 2, 0.0));
    for bad in [0.0, -1.0, f32::NAN] {
        let mut inertial = Inertialization::new(11);
        inertial.start([&new, &old], [&old, &new], bad, bad);
        let mut dead = DeadBlend::new(11);
        dead.start([&new, &old], bad, bad, bad);
        let mut shown = new.clone();
        inertial.apply(0.016, &mut shown);
        dead.apply(0.016, &mut shown);
        assert_eq!(shown, new);
        // No time between the poses: no velocity, but a transition all the same.
        inertial.start([&new, &old], [&old, &new], bad, DURATION);
        inertial.apply(bad, &mut shown);
        assert!(shown.is_finite());
        assert!(apart(&skeleton, &shown, &old) < 1e-5);
        let mut shown = new.clone();
        dead.start([&new, &old], bad, DURATION, bad);
        dead.apply(bad, &mut shown);
        assert!(apart(&skeleton, &shown, &old) < 1e-5);
    }
}

#[test]
fn a_step_too_short_to_show_motion_has_no_velocity() {
    let skeleton = skeleton_of(11);
    let poses = [0.0, 0.1].map(|time| swinging(&skeleton, 3, time));
    for dt in [0.0, f32::from_bits(1), 1e-40, f32::MIN_POSITIVE, 1e-7] {
        for mut transition in both(11) {
            let mut shown = skeleton.rest().clone();
            transition.begin([&poses[0], &poses[1]], [&poses[1], &poses[1]], dt);
            transition.show(0.1, &mut shown);
            assert!(shown.is_finite());
            let mut still = skeleton.rest().clone();
            transition.begin([&poses[1], &poses[1]], [&poses[1], &poses[1]], 1.0);
            transition.show(0.1, &mut still);
            assert_eq!(shown, still);
        }
    }
}

#[test]
fn a_dead_blend_follows_a_target_past_half_a_turn_without_a_snap() {
    let skeleton = skeleton_of(1);
    let only = skeleton.joint(0);
    let turned = |angle: f32| {
        let mut pose = skeleton.rest().clone();
        pose.set_rotation(only, quat::from_axis_angle(Vec3::y(), angle));
        pose
    };
    let mut transition = DeadBlend::new(1);
    transition.start([&turned(0.0), &turned(0.0)], 0.01, 1.0, 0.1);
    let mut last = turned(0.0);
    for frame in 1..=200 {
        // From 2 to 5 rad away while fading.
        let mut pose = turned(2.0 + 0.03 * frame as f32);
        transition.apply(0.01, &mut pose);
        let step = quat::angle_between(last.rotation(only), pose.rotation(only));
        // The target's 3 rad/s and 1.5 · 5 rad/s of fading.
        assert!(step < 0.11, "{frame}: {step}");
        last = pose;
    }
}

proptest! {
    #[test]
    fn no_frame_of_a_transition_jumps(seed in any::<u64>()) {
        let skeleton = skeleton_of(11);
        let dt = 1.0 / 60.0;
        for mut transition in both(11) {
            let old = |time| swinging(&skeleton, seed, time);
            let new = |time| swinging(&skeleton, seed ^ 5, time);
            transition.begin([&old(-dt), &old(0.0)], [&new(-dt), &new(0.0)], dt);
            let mut last = old(0.0);
            for frame in 1..30 {
                let mut pose = new(frame as f32 * dt);
                transition.show(dt, &mut pose);
                prop_assert!(pose.is_finite());
                // Motions of up to 7 rad/s each, and an offset of π in 0.3 s at up to twice its mean speed.
                prop_assert!(apart(&skeleton, &last, &pose) < 0.75, "{} {}", frame, apart(&skeleton, &last, &pose));
                last = pose;
            }
        }
    }
}
