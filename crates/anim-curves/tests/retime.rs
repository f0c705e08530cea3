//! Time warps: closed forms, inverses, and retimed tracks against playing through the warp.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

use anim_curves::{CurveError, Easing, Interpolation, Key, Shape, TimeWarp, Track, tangents};
use anim_math::{Quat, Vec3, quat};
use proptest::prelude::*;

const MODES: [Interpolation; 3] = [
    Interpolation::Step,
    Interpolation::Linear,
    Interpolation::Cubic,
];

fn line(keys: &[(f32, f32)]) -> Track<f32> {
    let keys = keys.iter().map(|(time, value)| Key::new(*time, *value));
    Track::new(keys.collect(), Interpolation::Linear).unwrap()
}

/// Times in quarters of a second, so that warps by powers of two are exact; values up to 5, velocities up to 4/s.
fn any_track() -> impl Strategy<Value = Track<f32>> {
    let key = (1_u8..6, -5.0_f32..5.0, -4.0_f32..4.0, -4.0_f32..4.0);
    (prop::collection::vec(key, 1..8), 0..3_usize).prop_map(|(keys, mode)| {
        let mut time = 0.0;
        let key = |(quarters, value, reach, leave)| {
            time += f32::from(quarters) * 0.25;
            Key {
                velocity: Some([reach, leave]),
                ..Key::new(time, value)
            }
        };
        Track::new(keys.into_iter().map(key).collect(), MODES[mode]).unwrap()
    })
}

/// Values of a cubic: 5 + 1.5 s · 4/s, with room for the rounding of its weights.
const SIZE: f32 = 11.0;

#[test]
fn an_even_acceleration_is_a_parabola() {
    let warp = TimeWarp::from_speed(&line(&[(1.0, 0.0), (3.0, 4.0)]), 10.0);
    for n in 0..=20 {
        let time = n as f32 * 0.1;
        let source = warp.source_at(1.0 + time);
        assert!((source - (10.0 + time * time)).abs() < 2.0 * 14.0 * f32::EPSILON);
        assert!((warp.play_at(10.0 + time * time) - (1.0 + time)).abs() < 1e-3);
    }
    // The end speeds go on: none before, four after.
    assert_eq!([-7.0, 4.0].map(|play| warp.source_at(play)), [10.0, 18.0]);
    assert_eq!(warp.play_at(18.0), 4.0);
    assert_eq!(warp.play_at(10.0), 1.0);
    assert_eq!(warp.play_range(), [1.0, 3.0]);
}

#[test]
fn a_cubic_speed_is_integrated_exactly() {
    // v(t) = t³ on [0, 2]: the source is t⁴/4.
    let keys = [(0.0, 0.0, 0.0), (2.0, 8.0, 12.0)].map(|(time, value, v)| Key {
        velocity: Some([v, v]),
        ..Key::new(time, value)
    });
    let speed = Track::new(keys.to_vec(), Interpolation::Cubic).unwrap();
    let warp = TimeWarp::from_speed(&speed, 0.0);
    for n in 0..=20 {
        let time = n as f32 * 0.1;
        let expected = time * time * time * time / 4.0;
        assert!((warp.source_at(time) - expected).abs() < 4.0 * 4.0 * f32::EPSILON);
    }
}

#[test]
fn stepped_speeds_are_gears_and_one_key_is_one_speed() {
    let keys = vec![
        Key::new(0.0, 2.0_f32),
        Key::new(1.0, 0.0),
        Key::new(2.0, -1.0),
    ];
    let warp = TimeWarp::from_speed(&Track::new(keys, Interpolation::Step).unwrap(), 0.0);
    let plays = [-1.0, 0.5, 1.0, 1.7, 2.0, 4.0];
    let sources = [-2.0, 1.0, 2.0, 2.0, 2.0, 0.0];
    assert_eq!(plays.map(|play| warp.source_at(play)), sources);
    let double = TimeWarp::from_speed(&line(&[(1.0, 2.0)]), 5.0);
    assert_eq!(
        [0.0, 1.0, 2.0].map(|play| double.source_at(play)),
        [3.0, 5.0, 7.0]
    );
    assert_eq!(double.play_at(3.0), 0.0);
}

#[test]
fn moments_are_met_and_time_turns_back_only_when_asked() {
    let warp =
        TimeWarp::through(&[(0.0, 0.0), (1.0, 0.1), (2.0, 5.0), (3.0, 5.0), (4.0, 2.0)]).unwrap();
    let met = [0.0, 1.0, 2.0, 3.0, 4.0].map(|play| warp.source_at(play));
    assert_eq!(met, [0.0, 0.1, 5.0, 5.0, 2.0]);
    let sources: Vec<_> = (0..=400).map(|n| warp.source_at(n as f32 * 0.01)).collect();
    assert!(sources[..=300].is_sorted());
    assert!(sources[300..].is_sorted_by(|a, b| a >= b));
    assert_eq!(warp.play_at(5.0), 2.0, "the earliest");
    assert_eq!(
        [-1.0, 9.0, f32::NAN].map(|source| warp.play_at(source)),
        [0.0, 4.0, 0.0]
    );
}

#[test]
fn eased_time_has_the_easings_closed_form() {
    let easing = Easing::InOut(Shape::Quad);
    let warp = TimeWarp::eased([1.0, 3.0], [10.0, 14.0], easing).unwrap();
    let plays = [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 9.0];
    let sources = [10.0, 10.0, 10.5, 12.0, 13.5, 14.0, 14.0];
    assert_eq!(plays.map(|play| warp.source_at(play)), sources);
    for (play, source) in plays.iter().zip(sources).skip(1).take(5) {
        // Easings are f32.
        assert!((warp.play_at(source) - play).abs() < 1e-6);
    }
    let refused = TimeWarp::eased([1.0, 1.0], [0.0, 1.0], easing).unwrap_err();
    assert_eq!(
        refused,
        CurveError::Range {
            start: 1.0,
            end: 1.0
        }
    );
}

#[test]
fn time_does_not_jump() {
    let keys = vec![Key::new(0.0, 0.0_f32), Key::new(1.0, 1.0)];
    let steps = Track::new(keys, Interpolation::Step).unwrap();
    assert_eq!(
        TimeWarp::from_times(&steps).unwrap_err(),
        CurveError::SteppedTime
    );
    assert!(TimeWarp::through(&[]).is_err());
    assert!(TimeWarp::through(&[(1.0, 0.0), (0.0, 0.0)]).is_err());
}

#[test]
fn half_speed_stretches_keys_and_halves_velocities() {
    let keys = [(0.0, 0.0), (1.0, 5.0)].map(|(time, value)| Key {
        velocity: Some([2.0, 4.0]),
        ..Key::new(time, value)
    });
    let track = Track::new(keys.to_vec(), Interpolation::Cubic).unwrap();
    let slow = TimeWarp::from_times(&line(&[(0.0, 0.0), (2.0, 1.0)])).unwrap();
    let slow = slow.apply(&track, 1.0).unwrap();
    assert_eq!(slow.times(), [0.0, 2.0]);
    assert_eq!(
        [slow.velocities()[0][1], slow.velocities()[1][0]],
        [2.0, 1.0]
    );
}

#[test]
fn steps_played_backward_keep_to_their_moments() {
    let keys = vec![
        Key::new(0.0, 1.0_f32),
        Key::new(1.0, 2.0),
        Key::new(2.0, 3.0),
    ];
    let track = Track::new(keys, Interpolation::Step).unwrap();
    let backward = TimeWarp::from_times(&line(&[(0.0, 3.0), (3.0, 0.0)])).unwrap();
    let backward = backward.apply(&track, 1e-3).unwrap();
    // Moment 2.5 is shown at 0.5, 1.5 at 1.5, 0.5 at 2.5.
    assert_eq!(
        [0.5, 1.5, 2.5].map(|play| backward.sample(play)),
        [3.0, 2.0, 1.0]
    );
    assert_eq!(backward.times(), [0.0, 1.0, 2.0]);
}

#[test]
fn rotations_are_eased_within_the_tolerance() {
    let keys = [Vec3::zeros(), Vec3::x(), Vec3::new(1.0, 1.0, 0.0)].map(quat::exp);
    let keys: Vec<_> = (0..)
        .zip(keys)
        .map(|(n, q)| Key::new(n as f32, q))
        .collect();
    let track: Track<Quat> = Track::new(keys, Interpolation::Linear).unwrap();
    for shape in [Shape::Sine, Shape::Circ, Shape::Back, Shape::Elastic] {
        let warp = TimeWarp::eased([0.0, 3.0], [0.0, 2.0], Easing::InOut(shape)).unwrap();
        let eased = warp.apply(&track, 1e-3).unwrap();
        for n in 0..=300 {
            let play = n as f32 * 0.01;
            let expected = track.sample(warp.source_at(play));
            // At most 1.1 rad/s; f32 keys of the steep circle add a few ulps of time.
            let error = quat::angle_between(eased.sample(play), expected);
            assert!(error < 1.1e-3 + 1e-4, "{shape:?} {play}: {error}");
        }
    }
}

proptest! {
    #[test]
    fn rising_moments_never_run_backward(steps in prop::collection::vec((0.05_f32..3.0, 0.0_f32..9.0), 1..9)) {
        let (mut play, mut source) = (0.0, 0.0);
        let moments: Vec<_> = steps.into_iter().map(|(dt, ds)| {
            play += dt;
            source += ds;
            (play, source)
        }).collect();
        let warp = TimeWarp::through(&moments).unwrap();
        let sources: Vec<_> = (0..=300).map(|n| warp.source_at(n as f32 * 0.1)).collect();
        // f64 polynomials wander by less than an ulp of the result in f32.
        prop_assert!(sources.windows(2).all(|pair| pair[1] >= pair[0] - pair[0].abs() * f32::EPSILON));
    }

    #[test]
    fn speeds_of_zero_and_more_never_run_backward_and_are_inverted(
        speeds in prop::collection::vec((0.05_f32..3.0, 0.0_f32..4.0), 1..9), smooth: bool,
    ) {
        let mut time = 0.0;
        let mut keys: Vec<_> = speeds.into_iter().map(|(dt, speed)| {
            time += dt;
            Key::new(time, speed)
        }).collect();
        tangents::monotone(&mut keys);
        let mode = if smooth { Interpolation::Cubic } else { Interpolation::Linear };
        let warp = TimeWarp::from_speed(&Track::new(keys, mode).unwrap(), -1.0);
        let mut before = f32::NEG_INFINITY;
        for n in 0..=300 {
            let source = warp.source_at(n as f32 * 0.1);
            prop_assert!(source >= before - before.abs() * f32::EPSILON);
            before = source;
            // Play times, below 30 s, are rounded to f32, and speeds are below 4.
            let again = warp.source_at(warp.play_at(source));
            prop_assert!((again - source).abs() < 120.0 * 2.0 * f32::EPSILON, "{} for {}", again, source);
        }
    }

    #[test]
    fn straight_warps_are_exact(track in any_track(), legs in prop::collection::vec((1_u8..5, -2_i8..3), 1..5)) {
        // Whole speeds and quarters of seconds: every key of the result is exact.
        let (mut play, mut source) = (0.0, 1.0);
        let mut moments = vec![(play, source)];
        for (quarters, speed) in legs {
            play += f32::from(quarters) * 0.25;
            source += f32::from(quarters) * 0.25 * f32::from(speed);
            moments.push((play, source));
        }
        let warp = TimeWarp::from_times(&line(&moments)).unwrap();
        let retimed = warp.apply(&track, 1e-3).unwrap();
        for n in 0..40 {
            // Between the 64ths, where no step is.
            let time = (n as f32 + 0.37) / 8.0;
            let expected = track.sample(warp.source_at(time));
            let error = (retimed.sample(time) - expected).abs();
            prop_assert!(error < 24.0 * SIZE * f32::EPSILON, "{error} at {time}");
        }
    }

    #[test]
    fn a_retimed_track_is_within_the_tolerance(track in any_track(), cubic in prop::collection::vec(-4.0_f32..4.0, 2..6)) {
        if track.interpolation() == Interpolation::Step {
            return Ok(());
        }
        let mut keys: Vec<_> = (0..).zip(&cubic).map(|(n, source)| Key::new(n as f32, *source)).collect();
        tangents::catmull_rom(&mut keys);
        let warp = TimeWarp::from_times(&Track::new(keys, Interpolation::Cubic).unwrap()).unwrap();
        let retimed = warp.apply(&track, 1e-2).unwrap();
        for n in 0..200 {
            let time = n as f32 * 0.03;
            // Velocities of a cubic: 1.5 times the chord's, of ten in a quarter second, and the keys' own.
            let error = (retimed.sample(time) - track.sample(warp.source_at(time))).abs();
            prop_assert!(error < 64.0 * (1e-2 + 1e-4), "{error} at {time}");
        }
    }

    #[test]
    fn any_numbers_either_fail_or_warp(
        moments in prop::collection::vec((any::<f32>(), any::<f32>()), 0..5), track in any_track(), time: f32,
    ) {
        let mut moments = moments;
        moments.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Ok(warp) = TimeWarp::through(&moments) {
            prop_assert!(!warp.source_at(time).is_nan());
            prop_assert!(!warp.play_at(time).is_nan());
            // What overflows is refused.
            let _ = warp.apply(&track, 1e-2);
        }
        let keys = moments.iter().map(|(time, speed)| Key::new(*time, *speed)).collect();
        if let Ok(speed) = Track::new(keys, Interpolation::Linear) {
            let warp = TimeWarp::from_speed(&speed, 0.0);
            prop_assert!(!warp.play_at(warp.source_at(time)).is_nan());
        }
    }
}
