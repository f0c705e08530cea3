//! What a character plays.

use anim_graph::matching::{
    Locomotion, MatcherOptions, MatcherStep, MatchingClip, MotionDatabase, MotionMatcher, Steering,
    TrajectoryPoint,
};

use crate::walkers::{RATE, Walk, features, once, skeleton};

const DT: f32 = 1.0 / RATE;

/// Straight on (tag 1), left (tag 3) and right (tag 1) in loops, and a stumble that ends (tag 4).
fn library() -> MotionDatabase {
    let skeleton = skeleton();
    let walks = [0.0, 1.0, -1.0].map(|rate| Walk::new(1.5, rate, 4.0).clip(&skeleton));
    let stumble = Walk {
        pace: 3.0,
        ..Walk::new(0.3, 0.0, 1.0)
    }
    .clip(&skeleton);
    let round = |name, clip, tags| MatchingClip {
        tags,
        looping: true,
        ..once(name, clip)
    };
    let clips = [
        round("straight", &walks[0], 1),
        round("left", &walks[1], 3),
        round("right", &walks[2], 1),
        MatchingClip {
            tags: 4,
            ..once("stumble", &stumble)
        },
    ];
    MotionDatabase::new(&skeleton, &clips, &features(), RATE).unwrap()
}

fn trajectory(database: &MotionDatabase, turn_rate: f32) -> Vec<TrajectoryPoint> {
    let walk = Walk::new(1.5, turn_rate, 1.0);
    let point = |time: &f32| {
        let (position, turn) = walk.way(*time);
        TrajectoryPoint {
            position,
            direction: [turn.sin(), turn.cos()],
        }
    };
    database.trajectory_times().iter().map(point).collect()
}

fn name<'a>(database: &'a MotionDatabase, step: &MatcherStep) -> &'a str {
    &database.clips()[step.clip].name
}

#[test]
fn it_turns_when_asked_to_and_plays_on_when_content() {
    let database = library();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    for (turn_rate, expected) in [
        (0.0, "straight"),
        (1.0, "left"),
        (-1.0, "right"),
        (0.0, "straight"),
    ] {
        let asked = trajectory(&database, turn_rate);
        // What is asked for anew is searched for at once.
        let first = matcher.step(&database, &asked, 0, DT);
        assert_eq!(name(&database, &first), expected);
        let mut last = first;
        for _ in 0..300 {
            let step = matcher.step(&database, &asked, 0, DT);
            assert_eq!(step.jump, None);
            let length = 4.0;
            let played = (step.time - last.time).rem_euclid(length);
            assert!((played - DT).abs() < 1e-5, "{played}");
            last = step;
        }
    }
}

#[test]
fn a_jump_goes_on_with_the_pose() {
    let database = library();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    for _ in 0..50 {
        matcher.step(&database, &trajectory(&database, 0.0), 0, DT);
    }
    let step = matcher.step(&database, &trajectory(&database, 1.0), 0, DT);
    let jump = step.jump.unwrap();
    assert_eq!((jump.frame, jump.time), (step.frame, step.time));
    // The feet swing alike in all clips: the phase stays, to the nearest frame.
    let feet =
        |database: &MotionDatabase, frame, feature| database.values(frame, feature).nth(2).unwrap();
    let before = matcher.asked();
    let costs: f32 = database
        .explain(step.frame, before)
        .map(|(_, cost)| cost)
        .sum();
    assert_eq!(costs, jump.cost);
    let swing = feet(&database, step.frame, 2);
    let straight_on = 51;
    let expected = feet(&database, straight_on, 2);
    let per_frame = 0.3 * std::f32::consts::TAU * 1.5 * DT;
    assert!(
        (swing - expected).abs() < 2.0 * per_frame,
        "{swing} {expected}"
    );
}

#[test]
fn a_clip_that_ends_is_left() {
    let database = library();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    let asked = trajectory(&database, 0.0);
    let step = matcher.step(&database, &asked, 4, DT);
    assert_eq!(name(&database, &step), "stumble");
    // Alone with its tag: at the end it starts again somewhere.
    let mut restarted = false;
    for _ in 0..120 {
        let step = matcher.step(&database, &asked, 4, DT);
        assert_eq!(name(&database, &step), "stumble");
        restarted |= step.jump.is_some();
    }
    assert!(restarted);
    // Without the tag it is left at once.
    let step = matcher.step(&database, &asked, 1, DT);
    assert_eq!(name(&database, &step), "straight");
}

#[test]
fn tags_that_no_clip_has_change_nothing() {
    let database = library();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    let asked = trajectory(&database, 0.0);
    for count in 1..600 {
        let step = matcher.step(&database, &asked, 64, DT);
        assert_eq!((step.jump, step.clip), (None, 0));
        let expected = (count as f32 * DT).rem_euclid(4.0);
        assert!((step.time - expected).abs() < 1e-3 || expected < 1e-3);
    }
}

#[test]
fn steps_and_trajectories_that_are_not_finite_do_no_harm() {
    let database = library();
    let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
    let broken = vec![
        TrajectoryPoint {
            position: [f32::NAN; 2],
            direction: [f32::INFINITY; 2]
        };
        database.trajectory_times().len()
    ];
    for dt in [DT, f32::NAN, f32::INFINITY, -1.0, 1e30, DT] {
        let step = matcher.step(&database, &broken, 0, dt);
        assert!(step.time.is_finite() && step.jump.is_none());
    }
    let step = matcher.step(&database, &trajectory(&database, 1.0), 0, DT);
    assert_eq!(name(&database, &step), "left");
}

#[test]
fn steering_leads_through_the_library_the_same_way_each_time() {
    let database = library();
    let run = || {
        let mut matcher = MotionMatcher::new(&database, MatcherOptions::default());
        let mut character = Locomotion::default();
        let mut asked = vec![TrajectoryPoint::default(); database.trajectory_times().len()];
        let mut played = Vec::new();
        for frame in 0..600 {
            let heading = (frame / 100) as f32 * 1.3;
            let steering = Steering {
                velocity: [1.5 * heading.sin(), 1.5 * heading.cos()],
                heading,
                ..Steering::default()
            };
            character = character.after(&steering, DT);
            character.trajectory(&steering, database.trajectory_times(), &mut asked);
            let step = matcher.step(&database, &asked, 1, DT);
            played.push((step.clip, step.time.to_bits(), step.frame));
        }
        played
    };
    let played = run();
    assert_eq!(played, run());
    // Each turn to the left is played as one.
    for turn in 1..6 {
        assert!(
            played[turn * 100..turn * 100 + 30]
                .iter()
                .any(|(clip, ..)| *clip == 1)
        );
    }
    assert!(played.iter().all(|(clip, ..)| *clip != 3));
}
