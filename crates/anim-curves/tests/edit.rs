//! Editing keeps the curve where it says so, and changes it as it says elsewhere.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy.toml excuses inside tests only"
)]

use anim_curves::edit::{
    bake, concatenate, delete_key, insert_key, move_key, offset, paste, scale_time, shift, trim,
};
use anim_curves::{
    CurveError, FrameClock, Interpolate, Interpolation, Key, LogScale, Track, rotation, tangents,
};
use anim_math::{Quat, Vec3, quat};
use proptest::prelude::*;

const MODES: [Interpolation; 3] = [
    Interpolation::Step,
    Interpolation::Linear,
    Interpolation::Cubic,
];

/// Velocities up to 9/s, values up to 5, spans up to 2 s; everything in a cubic is below 5 + 2 · 9.
const SIZE: f32 = 23.0;

fn track(keys: &[(f32, f32)], interpolation: Interpolation) -> Track<f32> {
    let key = |(time, value): &(f32, f32)| Key {
        velocity: Some([1.0, 2.0]),
        ..Key::new(*time, *value)
    };
    Track::new(keys.iter().map(key).collect(), interpolation).unwrap()
}

fn any_track() -> impl Strategy<Value = Track<f32>> {
    let key = (0.05_f32..2.0, -5.0_f32..5.0, -9.0_f32..9.0, -9.0_f32..9.0);
    (prop::collection::vec(key, 1..9), 0..3_usize).prop_map(|(keys, mode)| {
        let mut time = -1.0;
        let key = |(span, value, reach, leave)| {
            time += span;
            Key {
                velocity: Some([reach, leave]),
                ..Key::new(time, value)
            }
        };
        Track::new(keys.into_iter().map(key).collect(), MODES[mode]).unwrap()
    })
}

/// Turns by 1.4 `turn` rad or so from key to key.
fn turning(turn: f32) -> Track<Quat> {
    let axes = [Vec3::x(), Vec3::y(), Vec3::new(0.3, 0.2, 1.1), Vec3::z()];
    let mut keys: Vec<_> = (0..)
        .zip(axes)
        .map(|(n, v)| Key::new(n as f32, quat::exp(v * turn)))
        .collect();
    rotation::fill_tangents(&mut keys, tangents::catmull_rom);
    Track::new(keys, Interpolation::Cubic).unwrap()
}

#[test]
fn an_inserted_key_has_the_values_and_slope_of_the_cubic() {
    // v(t) = t³ on [0, 2], cut at 1: value 1, slope 3.
    let keys = [(0.0, 0.0, 0.0), (2.0, 8.0, 12.0)].map(|(time, value, v)| Key {
        velocity: Some([v, v]),
        ..Key::new(time, value)
    });
    let cubic = Track::new(keys.to_vec(), Interpolation::Cubic).unwrap();
    let finer = insert_key(&cubic, 1.0).unwrap();
    assert_eq!(finer.values(), [0.0, 1.0, 8.0]);
    assert_eq!(finer.velocities()[1], [3.0, 3.0]);
    assert_eq!(insert_key(&finer, 1.0).unwrap(), finer);
    let error = insert_key(&cubic, f32::NAN).unwrap_err();
    assert!(matches!(error, CurveError::NotFinite { .. }));
}

#[test]
fn a_linear_rotation_keeps_its_way() {
    let keys = [Vec3::x(), Vec3::y() * 2.0].map(quat::exp);
    let keys = vec![Key::new(0.0, keys[0]), Key::new(1.0, keys[1])];
    let arc = Track::new(keys, Interpolation::Linear).unwrap();
    let finer = insert_key(&insert_key(&arc, 0.3).unwrap(), 0.7).unwrap();
    for n in 0..=100 {
        let time = n as f32 * 0.01;
        let error = quat::angle_between(arc.sample(time), finer.sample(time));
        assert!(error < 8.0 * f32::EPSILON, "{error}");
    }
}

#[test]
fn a_cubic_rotation_keeps_its_key_and_stays_near() {
    let worst = |turn: f32| {
        let track = turning(turn);
        let finer = insert_key(&track, 1.4).unwrap();
        assert!(quat::angle_between(finer.sample(1.4), track.sample(1.4)) < 4.0 * f32::EPSILON);
        let errors = (0..=100).map(|n| n as f32 * 0.03);
        errors
            .map(|time| quat::angle_between(track.sample(time), finer.sample(time)))
            .fold(0.0, f32::max)
    };
    assert!(worst(1.0) < 0.01 && worst(0.5) < worst(1.0) / 6.0);
}

#[test]
fn a_cubic_factor_keeps_its_way() {
    let mut keys = [1.0, 8.0, 2.0]
        .map(LogScale)
        .map(|scale| Key::new(scale.0, scale))
        .to_vec();
    keys.sort_by(|a, b| a.time.total_cmp(&b.time));
    for key in &mut keys {
        key.velocity = Some([0.5, -0.25]);
    }
    let track = Track::new(keys, Interpolation::Cubic).unwrap();
    let finer = insert_key(&track, 4.5).unwrap();
    for n in 0..=100 {
        let time = 1.0 + n as f32 * 0.07;
        let ratio = track.sample(time).0 / finer.sample(time).0;
        // The logarithm, up to 2.1 + 6 s · 0.5/s, is rounded some eight times.
        assert!((ratio - 1.0).abs() < 8.0 * 5.1 * f32::EPSILON);
    }
}

#[test]
fn keys_are_deleted_and_moved_by_number() {
    let track = track(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)], Interpolation::Linear);
    assert_eq!(delete_key(&track, 1).unwrap().times(), [0.0, 2.0]);
    let no_key = CurveError::NoKey { key: 3, keys: 3 };
    assert_eq!(delete_key(&track, 3).unwrap_err(), no_key);
    assert_eq!(move_key(&track, 3, (0.0, 0.0)).unwrap_err(), no_key);
    let moved = move_key(&track, 1, (1.5, 9.0)).unwrap();
    assert_eq!(
        (moved.times(), moved.values()),
        (&[0.0, 1.5, 2.0][..], &[1.0, 9.0, 3.0][..])
    );
    let past = move_key(&track, 1, (2.0, 9.0)).unwrap_err();
    assert!(matches!(past, CurveError::Unsorted { key: 2, .. }));
    let one = delete_key(&delete_key(&track, 0).unwrap(), 0).unwrap();
    assert_eq!(delete_key(&one, 0).unwrap_err(), CurveError::Empty);
}

#[test]
fn slowing_down_divides_velocities() {
    let track = track(&[(1.0, 0.0), (2.0, 5.0)], Interpolation::Cubic);
    let slow = scale_time(&track, 2.0, 1.0).unwrap();
    assert_eq!(
        (slow.times(), slow.velocities()[0]),
        (&[1.0, 3.0][..], [0.5, 1.0])
    );
    let backward = scale_time(&track, -2.0, 1.0).unwrap();
    assert_eq!(
        (backward.times(), backward.values()),
        (&[-1.0, 1.0][..], &[5.0, 0.0][..])
    );
    assert_eq!(backward.velocities()[0], [-1.0, -0.5]);
    assert!(matches!(
        scale_time(&track, 0.0, 0.0),
        Err(CurveError::Factor { .. })
    ));
    assert!(matches!(
        scale_time(&track, 1e-30, 9.0),
        Err(CurveError::Unsorted { .. } | CurveError::NotFinite { .. })
    ));
}

#[test]
fn joined_tracks_meet_or_jump() {
    let up = track(&[(0.0, 0.0), (1.0, 1.0)], Interpolation::Linear);
    let down = track(&[(5.0, 1.0), (6.0, 0.0)], Interpolation::Linear);
    let hill = concatenate(&up, &down).unwrap();
    assert_eq!(
        (hill.times(), hill.values()),
        (&[0.0, 1.0, 2.0][..], &[0.0, 1.0, 0.0][..])
    );
    let saw = concatenate(&up, &up).unwrap();
    assert_eq!(saw.times(), [0.0, 1.0_f32.next_down(), 1.0, 2.0]);
    assert_eq!((saw.sample(1.0), saw.sample(1.5)), (0.0, 0.5));
    let cubic = track(&[(0.0, 1.0), (1.0, 2.0)], Interpolation::Cubic);
    let error = concatenate(&up, &cubic).unwrap_err();
    assert!(matches!(error, CurveError::Interpolations { .. }));
    let smooth = concatenate(
        &cubic,
        &track(&[(0.0, 2.0), (1.0, 4.0)], Interpolation::Cubic),
    );
    assert_eq!(smooth.unwrap().velocities()[1], [1.0, 2.0]);
}

#[test]
fn pasted_keys_replace_those_in_their_range() {
    let base = track(
        &[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0), (3.0, 3.0)],
        Interpolation::Linear,
    );
    let over = track(&[(1.0, 7.0), (2.5, 8.0)], Interpolation::Linear);
    let pasted = paste(&base, &over).unwrap();
    assert_eq!(pasted.times(), [0.0, 1.0, 2.5, 3.0]);
    assert_eq!(pasted.values(), [0.0, 7.0, 8.0, 3.0]);
}

#[test]
fn baked_keys_are_at_frames_and_ends() {
    let track = track(&[(0.1, 0.0), (0.35, 5.0)], Interpolation::Step);
    let clock = FrameClock::new(10, 1).unwrap();
    let baked = bake(&track, &clock).unwrap();
    assert_eq!(baked.times(), [0.1, 0.2, 0.3, 0.35]);
    assert_eq!(
        (baked.interpolation(), baked.values()[2]),
        (Interpolation::Step, 0.0)
    );
    let fast = FrameClock::new(u32::MAX, 1).unwrap();
    let frames = bake(&track, &fast).unwrap_err();
    assert!(matches!(frames, CurveError::Frames { .. }));
    let smooth = bake(&turning(1.0), &FrameClock::FILM).unwrap();
    assert_eq!(
        (smooth.times().len(), smooth.interpolation()),
        (73, Interpolation::Linear)
    );
    assert_eq!(smooth.sample(0.5), turning(1.0).sample(0.5));
}

proptest! {
    #[test]
    fn an_inserted_key_keeps_the_curve(track in any_track(), times in prop::collection::vec(-3.0_f32..20.0, 1..4)) {
        let mut finer = track.clone();
        for time in &times {
            finer = insert_key(&finer, *time).unwrap();
        }
        for n in 0..100 {
            let time = n as f32 * 0.2 - 2.0;
            let error = (finer.sample(time) - track.sample(time)).abs();
            prop_assert!(error < 16.0 * SIZE * f32::EPSILON, "{error} at {time}");
        }
    }

    #[test]
    fn a_trimmed_track_is_the_same_inside(track in any_track(), start in -3.0_f32..9.0, length in 0.0_f32..9.0) {
        let end = start + length;
        let part = trim(&track, start, end).unwrap();
        prop_assert_eq!((part.times()[0], part.end()), (start, end));
        for n in 0..=100 {
            let time = (start + (end - start) * (n as f32 * 0.01)).min(end);
            let error = (part.sample(time) - track.sample(time)).abs();
            prop_assert!(error < 16.0 * SIZE * f32::EPSILON, "{error} at {time}");
        }
    }

    #[test]
    fn backward_twice_is_the_same_track(track in any_track()) {
        let backward = scale_time(&track, -1.0, 0.0).unwrap();
        prop_assert_eq!(&scale_time(&backward, -1.0, 0.0).unwrap(), &track);
        if track.interpolation() != Interpolation::Step {
            for n in 0..60 {
                let time = n as f32 * 0.2 - 2.0;
                let error = (backward.sample(-time) - track.sample(time)).abs();
                prop_assert!(error < 16.0 * SIZE * f32::EPSILON);
            }
        }
    }

    #[test]
    fn shifting_and_offsetting_move_the_curve_as_a_whole(track in any_track(), quarters in -20_i8..20) {
        let by = f32::from(quarters) * 0.25;
        let moved = offset(&shift(&track, by).unwrap(), by).unwrap();
        for (time, value) in track.times().iter().zip(track.values()) {
            prop_assert!((moved.sample(time + by) - value - by).abs() < 4.0 * SIZE * f32::EPSILON);
        }
    }

    #[test]
    fn any_numbers_either_fail_or_edit(track in any_track(), [a, b] in prop::array::uniform2(any::<f32>()), key in 0..10_usize) {
        let _ = insert_key(&track, a);
        let _ = move_key(&track, key, (a, b));
        let _ = shift(&track, a);
        let _ = offset(&track, a);
        let _ = scale_time(&track, a, b);
        if let Ok(part) = trim(&track, a, b) {
            prop_assert!(Interpolate::is_finite(&part.sample(0.0)));
        }
        let _ = concatenate(&track, &track).unwrap();
    }
}
