//! Events are met exactly once, whichever way and in whatever steps time goes.
#![allow(clippy::unwrap_used, reason = "helpers of tests may fail like tests")]

use anim_skeleton::{Event, Events, Passage, Playback, SkeletonError, Wrap};
use proptest::prelude::*;

const WRAPS: [Wrap; 3] = [Wrap::Clamp, Wrap::Loop, Wrap::PingPong];

fn events(times: &[f32]) -> Events {
    let named = |(place, time): (usize, &f32)| Event {
        time: *time,
        name: format!("event {place}"),
    };
    Events::new(times.iter().enumerate().map(named).collect()).unwrap()
}

/// Times met, in order, and when.
fn met(events: &Events, passage: &Passage) -> Vec<(f32, f64)> {
    let crossed = events.crossed(passage);
    crossed.map(|met| (met.event.time, met.at)).collect()
}

fn counts<'a>(events: &'a Events, passages: impl IntoIterator<Item = &'a Passage>) -> Vec<usize> {
    let mut counts = vec![0; events.as_slice().len()];
    for passage in passages {
        for met in events.crossed(passage) {
            assert_eq!(met.event, &events.as_slice()[met.index]);
            counts[met.index] += 1;
        }
    }
    counts
}

#[test]
fn a_clip_played_once_meets_its_first_and_last_event_once() {
    let events = events(&[0.0, 1.0]);
    let mut playback = Playback::new(1.0, Wrap::Clamp);
    let steps: Vec<_> = (0..6)
        .map(|_| met(&events, &playback.advance(0.4, 1.0)))
        .collect();
    let expected = [
        vec![(0.0, 0.0)],
        vec![],
        vec![(1.0, 1.0)],
        vec![],
        vec![],
        vec![],
    ];
    assert_eq!(steps, expected);
}

#[test]
fn events_are_met_in_the_order_played_through_every_turn() {
    let events = events(&[0.25, 0.75]);
    let forward = Passage::new(0.5, 2.5, 1.0, Wrap::Loop);
    let expected = [(0.75, 0.75), (0.25, 1.25), (0.75, 1.75), (0.25, 2.25)];
    assert_eq!(met(&events, &forward), expected);
    let backward = Passage::new(2.5, 0.5, 1.0, Wrap::Loop);
    let mut reversed = expected;
    reversed.reverse();
    assert_eq!(met(&events, &backward), reversed);
    assert!(events.crossed(&backward).all(|met| met.backward));
    let there_and_back = Passage::new(0.0, 2.0, 1.0, Wrap::PingPong);
    let expected = [(0.25, 0.25), (0.75, 0.75), (0.75, 1.25), (0.25, 1.75)];
    assert_eq!(met(&events, &there_and_back), expected);
}

#[test]
fn the_two_ends_of_a_loop_are_one_moment_met_once_a_turn() {
    let events = events(&[0.0, 1.0]);
    let onto_the_seam = Passage::new(0.5, 1.0, 1.0, Wrap::Loop);
    assert_eq!(met(&events, &onto_the_seam), [(1.0, 1.0), (0.0, 1.0)]);
    assert_eq!(met(&events, &Passage::new(0.0, 0.5, 1.0, Wrap::Loop)), []);
    assert_eq!(met(&events, &Passage::new(1.0, 0.5, 1.0, Wrap::Loop)), []);
    let back_onto_it = Passage::new(1.5, 1.0, 1.0, Wrap::Loop);
    assert_eq!(met(&events, &back_onto_it), [(0.0, 1.0), (1.0, 1.0)]);
}

#[test]
fn a_loop_that_starts_has_not_ended() {
    let events = events(&[0.0, 1.0]);
    let start = Passage::new(0.0, 0.5, 1.0, Wrap::Loop).including_from();
    assert_eq!(met(&events, &start), [(0.0, 0.0)]);
    let start_backwards = Passage::new(0.0, -0.5, 1.0, Wrap::Loop).including_from();
    assert_eq!(met(&events, &start_backwards), [(0.0, 0.0), (1.0, 0.0)]);
}

#[test]
fn turning_points_are_met_once_a_turn() {
    let events = events(&[0.0, 0.5, 1.0]);
    let round = Passage::new(0.0, 20.0, 1.0, Wrap::PingPong);
    assert_eq!(counts(&events, [&round]), [10, 20, 10]);
    let back = Passage::new(20.0, 0.0, 1.0, Wrap::PingPong);
    assert_eq!(counts(&events, [&back]), [10, 20, 10]);
    let from_the_turn = Passage::new(1.0, 1.25, 1.0, Wrap::PingPong).including_from();
    assert_eq!(met(&events, &from_the_turn), [(1.0, 1.0)]);
}

#[test]
fn a_seek_meets_what_is_there_and_nothing_between() {
    let events = events(&[0.25, 0.5, 0.75]);
    for (speed, expected) in [(1.0, [0.5, 0.75]), (-1.0, [0.5, 0.25])] {
        let mut playback = Playback::new(speed, Wrap::Loop);
        playback.advance(0.125, 1.0);
        playback.seek(0.5);
        let passage = playback.advance(0.3, 1.0);
        assert_eq!(
            met(&events, &passage)
                .iter()
                .map(|met| met.0)
                .collect::<Vec<_>>(),
            expected
        );
    }
}

#[test]
fn a_thousand_million_turns_are_counted_without_being_walked() {
    let events = events(&[0.5]);
    let far = Passage::new(0.0, 1e9, 1.0, Wrap::Loop);
    let third = events.crossed(&far).nth(2).unwrap();
    assert_eq!(third.at, 2.5);
    let none = Events::default();
    assert_eq!(
        none.crossed(&Passage::new(0.0, 1e300, 1.0, Wrap::PingPong))
            .count(),
        0
    );
    let beyond = Passage::new(0.0, 1e300, 0.25, Wrap::Loop);
    assert_eq!(events.crossed(&beyond).count(), 0);
}

#[test]
fn a_clip_without_length_meets_its_events_when_it_starts() {
    let events = events(&[0.0, 0.5]);
    for wrap in WRAPS {
        let mut playback = Playback::new(1.0, wrap);
        let passages: Vec<_> = (0..5).map(|_| playback.advance(0.1, 0.0)).collect();
        assert_eq!(counts(&events, &passages), [1, 0]);
    }
}

#[test]
fn times_that_are_not_finite_meet_nothing() {
    let events = events(&[0.0, 0.5]);
    for wrap in WRAPS {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for passage in [
                Passage::new(0.0, bad, 1.0, wrap),
                Passage::new(bad, 1.0, 1.0, wrap),
            ] {
                assert_eq!(events.crossed(&passage.including_from()).count(), 0);
            }
        }
        let no_length = Passage::new(0.0, 1.0, f32::NAN, wrap).including_from();
        assert_eq!(events.crossed(&no_length).count(), 0);
    }
}

#[test]
fn bad_times_are_refused_by_their_place() {
    let event = |time| Event {
        time,
        name: String::new(),
    };
    let refused = Events::new(vec![event(1.0), event(-0.5)]);
    assert_eq!(
        refused,
        Err(SkeletonError::EventTime {
            event: 1,
            time: -0.5
        })
    );
    let read: Result<Events, _> = serde_json::from_str(r#"[{"time": -1.0, "name": "a"}]"#);
    assert!(read.unwrap_err().to_string().contains("event 0"));
    let sorted: Events =
        serde_json::from_str(r#"[{"time": 1.0, "name": "b"}, {"time": 0.5, "name": "a"}]"#)
            .unwrap();
    assert_eq!(sorted.as_slice()[0].name, "a");
}

/// Sixty-fourths of a second: sums of them are exact.
fn tick() -> impl Strategy<Value = f32> {
    (0_u16..=128).prop_map(|ticks| f32::from(ticks) / 64.0)
}

fn any_wrap() -> impl Strategy<Value = Wrap> {
    prop::sample::select(WRAPS.to_vec())
}

proptest! {
    #[test]
    fn one_long_step_meets_what_short_steps_meet(
        times in prop::collection::vec(tick(), 0..8),
        duration in tick(),
        wrap in any_wrap(),
        speed in prop::sample::select(vec![-2.0_f32, -1.0, -0.5, 0.5, 1.0, 4.0]),
        start in tick(),
        steps in prop::collection::vec(tick(), 1..20),
    ) {
        let events = events(&times);
        let mut long = Playback::new(speed, wrap);
        long.seek(f64::from(start));
        let mut short = long;
        let passages: Vec<_> = steps.iter().map(|dt| short.advance(*dt, duration)).collect();
        let whole = long.advance(steps.iter().sum(), duration);
        prop_assert_eq!(counts(&events, [&whole]), counts(&events, &passages));
        prop_assert_eq!(long.time, short.time);
        let in_order: Vec<_> = passages.iter().flat_map(|p| events.crossed(p)).map(|met| met.index).collect();
        prop_assert_eq!(events.crossed(&whole).map(|met| met.index).collect::<Vec<_>>(), in_order);
    }

    #[test]
    fn passages_that_meet_share_nothing_and_miss_nothing(
        times in prop::collection::vec(0.0_f32..3.0, 0..8),
        duration in 0.01_f32..3.0,
        wrap in any_wrap(),
        mut cuts in prop::collection::vec(-20.0_f64..20.0, 2..12),
    ) {
        // The clip's own end is where mistakes would be.
        let events = events(&[&times[..], &[0.0, duration]].concat());
        cuts.extend([f64::from(duration), 0.0]);
        cuts.sort_by(f64::total_cmp);
        for backward in [false, true] {
            if backward {
                cuts.reverse();
            }
            let passages: Vec<_> = cuts.windows(2).map(|cut| Passage::new(cut[0], cut[1], duration, wrap)).collect();
            let whole = Passage::new(cuts[0], cuts[cuts.len() - 1], duration, wrap);
            prop_assert_eq!(counts(&events, [&whole]), counts(&events, &passages));
        }
    }

    #[test]
    fn there_and_back_meets_all_as_often_both_ways(
        times in prop::collection::vec(0.0_f32..3.0, 0..8),
        duration in 0.01_f32..3.0,
        wrap in any_wrap(),
        from in -20.0_f64..20.0,
        to in -20.0_f64..20.0,
    ) {
        // No event lies exactly at a random end, so the half-open ends do not show.
        let events = events(&times);
        let there = Passage::new(from, to, duration, wrap);
        let back = Passage::new(to, from, duration, wrap);
        let mut forward: Vec<_> = events.crossed(&there).map(|met| (met.index, met.at)).collect();
        forward.reverse();
        prop_assert_eq!(forward, events.crossed(&back).map(|met| (met.index, met.at)).collect::<Vec<_>>());
    }
}
