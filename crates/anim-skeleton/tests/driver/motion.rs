//! Breath, sway and jiggle over time.

use std::f32::consts::{PI, TAU};

use anim_math::{Transform, Vec3, quat};
use anim_skeleton::driver::{Breathe, Jiggle, Sway};
use anim_skeleton::{JointSpec, Pose};

use crate::{Rig, at, bone, check};

const RATES: [u32; 3] = [30, 60, 144];

fn root() -> Vec<JointSpec> {
    vec![bone("joint", None, at(0.0, 0.0, 0.0))]
}

/// Poses the rig at rest and runs a frame, `frames` times.
fn play(rig: &mut Rig, frames: u32, dt: f32) {
    for _ in 0..frames {
        rig.pose.copy_from(&rig.skeleton.rest().clone());
        rig.run(dt);
    }
}

#[test]
fn breath_is_a_raised_cosine_at_any_frame_rate() {
    let breathe = Breathe {
        rate: 0.3,
        phase: 0.1,
        scale: Vec3::new(1.2, 1.0, 0.9),
        turn: Vec3::new(0.0, 0.4, 0.0),
        ..Breathe::new("joint")
    };
    for rate in RATES {
        let mut rig = Rig::one(root(), breathe.clone());
        play(&mut rig, 2 * rate, 1.0 / rate as f32);
        let depth = 0.5 - 0.5 * (TAU * (0.3 * 2.0 + 0.1)).cos();
        check(rig.turned("joint"), Vec3::y() * (0.4 * depth), 1e-5);
        let scale = rig.pose.scale(rig.joint("joint"));
        let expected = Vec3::new(1.0 + 0.2 * depth, 1.0, 1.0 - 0.1 * depth);
        check(scale, expected, 1e-5);
    }
}

#[test]
fn breath_is_smooth_after_a_day() {
    let breathe = Breathe::new("joint");
    let day = 86_400.0;
    for frame in 0..100 {
        let time = f64::from(frame) / 60.0;
        let difference = breathe.depth(time) - breathe.depth(day + time);
        assert!(difference.abs() < 1e-6);
    }
}

#[test]
fn in_out_and_pause_take_their_parts_and_nothing_jerks() {
    let breathe = Breathe {
        inhale: 0.3,
        pause: 0.2,
        phase: 0.7,
        ..Breathe::new("joint")
    };
    // Four seconds a breath, of which 1.2 s have passed: the last of them in the pause.
    let depth = |t: f64| breathe.depth(1.2 + t);
    for (t, expected) in [
        (0.0, 0.0),
        (0.6, 0.5),
        (1.2, 1.0),
        (2.2, 0.5),
        (3.2, 0.0),
        (3.7, 0.0),
    ] {
        assert!((depth(t) - expected).abs() < 1e-6, "{t}: {}", depth(t));
    }
    let step = 1e-3;
    for index in 0..4000 {
        let t = f64::from(index) * step;
        let bend = depth(t + step) - 2.0 * depth(t) + depth(t - step);
        // Half cosines bend by at most ½ (π / duration)², the shortest being 1.2 s; rounding is 2⁻²³ of 4.
        assert!(bend.abs() < 0.5 * (PI / 1.2).powi(2) * 1.1e-6 + 1e-6, "{t}");
    }
}

#[test]
fn breath_goes_on_from_where_it_is_when_the_pace_changes() {
    let breathe = Breathe {
        turn: Vec3::x(),
        output: true,
        ..Breathe::new("joint")
    };
    for rate in RATES {
        let mut rig = Rig::one(root(), breathe.clone());
        let dt = 1.0 / rate as f32;
        let mut before = 0.0;
        for index in 0..4 * rate {
            rig.state.breath.pace = if index < 2 * rate { 1.0 } else { 3.0 };
            play(&mut rig, 1, dt);
            let depth = rig.turned("joint").x;
            // At most π · rate · pace a second.
            assert!((depth - before).abs() < PI * 0.25 * 3.0 * dt + 1e-5);
            assert!((rig.drivers.outputs(&rig.state)[0] - depth).abs() < 1e-6);
            before = depth;
        }
        // Two seconds at a quarter and two at three quarters of a breath a second: all is out.
        assert!(before.abs() < 1e-6, "{before}");
        rig.state.breath.depth = 0.5;
        rig.state.breath.pace = 1.0;
        play(&mut rig, 2 * rate, dt);
        assert!((rig.turned("joint").x - 0.5).abs() < 1e-5);
    }
}

fn sway(period: Option<f32>) -> Sway {
    Sway {
        joint: "joint".into(),
        frequency: 0.5,
        turn: Vec3::new(0.1, 0.2, 0.0),
        offset: Vec3::new(0.0, 0.0, 0.05),
        seed: 4,
        period,
    }
}

#[test]
fn sway_is_bounded_in_size_and_in_speed_and_alive() {
    let sway = sway(None);
    let step = 1.0 / 256.0;
    // Four sines of at most 0.5 Hz: no faster than 2π · 0.5, and half the variance of one in four.
    let fastest = TAU * 0.5 * step as f32 + 1e-5;
    for axis in 0..6 {
        let mut sum = 0.0;
        for frame in 0..25_600 {
            let time = f64::from(frame) * step;
            let now = sway.wave(axis, time);
            assert!(now.abs() <= 1.0);
            assert!((sway.wave(axis, time + step) - now).abs() <= fastest);
            sum += f64::from(now * now);
        }
        let variance = sum / 25_600.0;
        assert!((variance - 0.125).abs() < 0.03, "{variance}");
    }
}

#[test]
fn sway_with_a_period_repeats_to_the_bit() {
    let sway = sway(Some(8.0));
    let mut most = 0_f32;
    for frame in 0..800 {
        let time = f64::from(frame) / 64.0;
        assert_eq!(sway.wave(2, time), sway.wave(2, time + 8.0 * 1000.0));
        most = most.max((sway.wave(2, time) - sway.wave(2, time + 4.0)).abs());
    }
    assert!(most > 0.1, "it moves within its period");
}

#[test]
fn sway_depends_on_time_and_seed_alone() {
    let places = RATES.map(|rate| {
        let mut rig = Rig::one(root(), sway(None));
        play(&mut rig, 3 * rate, 1.0 / rate as f32);
        (rig.turned("joint"), rig.position("joint"))
    });
    for (turn, position) in places {
        check(turn, places[0].0, 1e-5);
        check(position, places[0].1, 1e-6);
    }
    let other = Sway {
        seed: 5,
        ..sway(None)
    };
    let mut rig = Rig::one(root(), other);
    play(&mut rig, 90, 1.0 / 30.0);
    assert!((rig.turned("joint") - places[0].0).norm() > 1e-3);
}

/// A bone that stands upright, 1 m long.
fn upright(frequency: f32, damping: f32) -> Jiggle {
    Jiggle {
        frequency,
        damping,
        ..Jiggle::new("joint", Vec3::y())
    }
}

/// A rig whose joint has just been moved by `step` along x and stands still from then on: a pure step of the target.
fn stepped(jiggle: Jiggle, step: f32) -> Rig {
    let mut rig = Rig::one(root(), jiggle);
    rig.run(0.0);
    rig.put("joint", Vec3::x() * step);
    rig.run(0.0);
    rig
}

/// Runs frames with the joint posed at `step`; returns how far the mass is behind, from the angle of the bone.
fn lag(rig: &mut Rig, step: f32, frames: u32, dt: f32) -> f32 {
    for _ in 0..frames {
        rig.pose.copy_from(&rig.skeleton.rest().clone());
        rig.put("joint", Vec3::x() * step);
        rig.run(dt);
    }
    rig.turned("joint").z.tan()
}

/// What is left of a step after `t`, by the textbook's three cases.
fn step_response(frequency: f32, damping: f32, t: f32) -> f32 {
    let (omega, zeta, t) = (
        f64::from(frequency) * std::f64::consts::TAU,
        f64::from(damping),
        f64::from(t),
    );
    let left = if zeta < 1.0 {
        let damped = omega * (1.0 - zeta * zeta).sqrt();
        let decay = (-zeta * omega * t).exp();
        decay * ((damped * t).cos() + zeta * omega / damped * (damped * t).sin())
    } else if zeta == 1.0 {
        (-omega * t).exp() * (1.0 + omega * t)
    } else {
        let root = (zeta * zeta - 1.0).sqrt();
        let (slow, fast) = (-omega * (zeta - root), -omega * (zeta + root));
        (fast * (slow * t).exp() - slow * (fast * t).exp()) / (fast - slow)
    };
    left as f32
}

#[test]
fn jiggle_answers_a_step_as_a_damped_oscillator() {
    for (frequency, damping) in [
        (1.0, 0.1),
        (2.0, 0.5),
        (0.5, 1.0),
        (1.0, 1.0001),
        (0.7, 3.0),
    ] {
        for rate in RATES {
            let dt = 1.0 / rate as f32;
            let mut rig = stepped(upright(frequency, damping), 0.2);
            for quarter in 1..=4 {
                let left = lag(&mut rig, 0.2, rate / 4, dt);
                let time = (quarter * (rate / 4)) as f32 * dt;
                let expected = 0.2 * step_response(frequency, damping, time);
                assert!((left - expected).abs() < 1e-5, "{left} for {expected}");
            }
        }
    }
}

#[test]
fn a_second_of_jiggle_is_the_same_at_any_frame_rate() {
    let expected = 0.3 * step_response(1.5, 0.2, 1.0);
    for rate in [1, 7, 30, 60, 144, 1000] {
        let mut rig = stepped(upright(1.5, 0.2), 0.3);
        let left = lag(&mut rig, 0.3, rate, 1.0 / rate as f32);
        assert!((left - expected).abs() < 1e-4, "{rate} Hz");
    }
}

#[test]
fn jiggle_behind_an_even_motion_does_not_depend_on_the_frame_rate() {
    // From rest the target sets off at u: the lag is −u times the impulse response.
    let (omega, zeta, speed) = (TAU * 1.5, 0.3_f32, 0.5);
    let damped = omega * (1.0 - zeta * zeta).sqrt();
    let expected = -speed * (-zeta * omega).exp() * damped.sin() / damped;
    for rate in RATES {
        let mut rig = Rig::one(root(), upright(1.5, zeta));
        rig.run(0.0);
        for frame in 1..=rate {
            rig.pose.copy_from(&rig.skeleton.rest().clone());
            rig.put("joint", Vec3::x() * (speed * frame as f32 / rate as f32));
            rig.run(1.0 / rate as f32);
        }
        let lag = -rig.turned("joint").z.tan();
        assert!((lag - expected).abs() < 1e-4, "{lag} for {expected}");
    }
}

#[test]
fn jiggle_sags_by_gravity_over_omega_squared() {
    let jiggle = Jiggle {
        tip: Vec3::x() * 0.5,
        gravity: Vec3::y() * -9.81,
        ..upright(2.0, 0.5)
    };
    let mut rig = Rig::one(root(), jiggle);
    let sag = 9.81 / (TAU * 2.0).powi(2);
    play(&mut rig, 1, 0.01);
    check(rig.turned("joint"), Vec3::z() * -(sag / 0.5).atan(), 1e-5);
    play(&mut rig, 100, 0.01);
    check(rig.turned("joint"), Vec3::z() * -(sag / 0.5).atan(), 1e-5);
}

#[test]
fn jiggle_stops_at_its_limit_and_comes_back() {
    let jiggle = Jiggle {
        limit: Some(0.2),
        ..upright(1.0, 0.1)
    };
    let mut rig = stepped(jiggle, 5.0);
    assert!((rig.turned("joint").norm() - 0.2).abs() < 1e-5);
    let mut furthest_back = 0_f32;
    for _ in 0..120 {
        lag(&mut rig, 5.0, 1, 1.0 / 60.0);
        assert!(rig.turned("joint").norm() < 0.2 + 1e-5);
        furthest_back = furthest_back.min(rig.turned("joint").z);
    }
    assert!(furthest_back < -0.05, "it swings over: {furthest_back}");
}

#[test]
fn a_mass_that_was_stopped_falls_back_from_rest() {
    // Dragged faster than the spring can follow, an undamped mass hits its limit, a cone. What of its velocity goes
    // through the cone is taken, what goes along it, u sin α, stays; from there it swings freely.
    let jiggle = Jiggle {
        limit: Some(0.2),
        ..upright(1.0, 0.0)
    };
    let (dt, speed) = (1.0 / 240.0, 5.0);
    let mut rig = Rig::one(root(), jiggle);
    rig.run(0.0);
    let mut angles = Vec::new();
    for frame in 1..240 {
        lag(&mut rig, speed * dt * frame as f32, 1, dt);
        angles.push(rig.turned("joint").z);
    }
    let hit = angles.iter().position(|angle| *angle > 0.199).unwrap();
    let back = hit + angles[hit..].iter().position(|angle| *angle < 0.0).unwrap();
    let seconds = (back - hit) as f32 * dt;
    let (omega, lag, along) = (TAU, 0.2_f32.tan(), speed * 0.2_f32.sin().powi(2));
    let expected = (PI - (omega * lag / along).atan()) / omega;
    assert!(
        (seconds - expected).abs() < 2.0 * dt,
        "{seconds} s for {expected}"
    );
}

#[test]
fn the_tip_of_a_longer_bone_turns_by_less() {
    let mut joints = root();
    joints[0].rest.scale = Vec3::new(1.0, 3.0, 1.0);
    let mut rig = Rig::one(joints, upright(1.0, 0.1));
    rig.run(0.0);
    rig.put("joint", Vec3::x() * 0.6);
    rig.run(0.0);
    check(rig.turned("joint"), Vec3::z() * (0.2_f32).atan(), 1e-6);
}

#[test]
fn a_jump_is_no_motion() {
    let jiggle = Jiggle {
        teleport: Some(1.0),
        ..upright(1.0, 0.1)
    };
    let mut rig = stepped(jiggle.clone(), 5.0);
    assert_eq!(rig.turned("joint"), Vec3::zeros());
    assert!(lag(&mut rig, 5.0, 10, 0.01).abs() < 1e-6);

    let mut rig = stepped(jiggle, 0.5);
    assert!(rig.turned("joint").norm() > 0.1);
    rig.state.settle();
    assert!(lag(&mut rig, 0.5, 1, 0.01).abs() < 1e-6);
}

#[test]
fn a_jiggle_that_was_off_starts_at_rest() {
    let mut rig = stepped(upright(1.0, 0.1), 0.5);
    rig.state.weights[0] = 0.0;
    lag(&mut rig, 0.5, 1, 0.01);
    assert_eq!(rig.turned("joint"), Vec3::zeros());
    rig.state.weights[0] = 1.0;
    assert!(lag(&mut rig, 0.5, 1, 0.01).abs() < 1e-6);
}

#[test]
fn no_stiffness_and_no_frame_is_too_much() {
    for (frequency, damping, dt) in [
        (1000.0, 0.0, 0.1),
        (1000.0, 1e6, 0.1),
        (1e-3, 0.0, 1e6),
        (5.0, f32::MAX, 1.0),
        (5.0, 1.0, f32::MAX),
        (1.0, 0.5, f32::NAN),
        (1.0, 0.5, -1.0),
    ] {
        let mut rig = stepped(upright(frequency, damping), 0.2);
        let left = lag(&mut rig, 0.2, 20, dt);
        assert!(
            left.abs() < 0.2 + 1e-4,
            "{frequency} {damping} {dt}: {left}"
        );
    }
}

#[test]
fn a_walking_character_drags_its_ears_as_a_walking_root_does() {
    let joints = || {
        vec![
            bone("root", None, Transform::IDENTITY),
            bone("joint", Some(0), at(0.0, 1.0, 0.0)),
        ]
    };
    let turn = quat::exp(Vec3::new(0.1, 0.5, 0.2));
    let mut rigs = [(); 2].map(|()| Rig::one(joints(), upright(1.0, 0.2)));
    let mut poses: [Pose; 2] = rigs.each_ref().map(|rig| rig.pose.clone());
    for frame in 0..60 {
        let x = (frame as f32 * 0.1).sin();
        let root = Transform {
            translation: Vec3::new(x, 0.2 * x, 0.0),
            rotation: turn,
            ..Transform::IDENTITY
        };
        poses[0].set(rigs[0].joint("root"), root);
        rigs[1].state.world_from_model = root.into();
        for (rig, pose) in rigs.iter_mut().zip(&poses) {
            rig.pose.copy_from(pose);
            rig.run(1.0 / 60.0);
        }
        check(rigs[0].turned("joint"), rigs[1].turned("joint"), 1e-5);
    }
    assert!(rigs[0].turned("joint").norm() > 0.01);
}

#[test]
fn half_a_jiggle_is_half_the_angle() {
    let mut whole = stepped(upright(1.0, 0.2), 0.3);
    let mut half = stepped(upright(1.0, 0.2), 0.3);
    half.state.weights[0] = 0.5;
    for _ in 0..10 {
        lag(&mut whole, 0.3, 1, 0.02);
        lag(&mut half, 0.3, 1, 0.02);
        check(half.turned("joint"), whole.turned("joint") * 0.5, 1e-6);
    }
    assert!(whole.turned("joint").norm() < PI);
}
