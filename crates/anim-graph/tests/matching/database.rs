//! What a database says of its clips, and what it finds.

use anim_graph::matching::{
    ClipEnds, Current, FeatureKind, FeatureSpec, MatchingClip, MatchingError, MotionDatabase,
    Search, TrajectoryPoint,
};
use anim_math::{Random, Vec3};
use anim_skeleton::{BakeOptions, Clip, ClipSpec, Skeleton};

use crate::walkers::{RATE, Walk, features, once, skeleton};

/// Baked rotations are right to 2⁻¹⁶ rad or so, which moves what is a few metres away by less than this.
const BAKED: f32 = 3e-4;

fn build(skeleton: &Skeleton, clips: &[MatchingClip<'_>], spec: &FeatureSpec) -> MotionDatabase {
    MotionDatabase::new(skeleton, clips, spec, RATE).unwrap()
}

/// Straight on, and more slowly left and right, four seconds each.
fn three(skeleton: &Skeleton) -> [Clip; 3] {
    [(1.5, 0.0), (1.2, 1.0), (1.2, -1.0)]
        .map(|(speed, turn_rate)| Walk::new(speed, turn_rate, 4.0).clip(skeleton))
}

fn three_ways(spec: &FeatureSpec) -> MotionDatabase {
    let skeleton = skeleton();
    let [straight, left, right] = three(&skeleton);
    let clips = [
        once("straight", &straight),
        once("left", &left),
        once("right", &right),
    ];
    build(&skeleton, &clips, spec)
}

/// Asks for the way of `walk`.
fn trajectory(database: &MotionDatabase, walk: &Walk) -> Vec<TrajectoryPoint> {
    let point = |time: &f32| {
        let (position, turn) = walk.way(*time);
        TrajectoryPoint {
            position,
            direction: [turn.sin(), turn.cos()],
        }
    };
    database.trajectory_times().iter().map(point).collect()
}

fn feature(database: &MotionDatabase, kind: FeatureKind) -> usize {
    let mut features = database.features().iter();
    features.position(|feature| feature.kind == kind).unwrap()
}

fn check(found: impl Iterator<Item = f32>, expected: &[f32], tolerance: f32, what: &str) {
    let found: Vec<f32> = found.collect();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() < tolerance,
            "{what}: {found:?}, expected {expected:?}"
        );
    }
}

#[test]
fn asking_for_a_turn_finds_that_turn() {
    let database = three_ways(&features());
    for (turn_rate, name) in [
        (0.0, "straight"),
        (1.0, "left"),
        (-1.0, "right"),
        (1.5, "left"),
    ] {
        let mut query = database.query_of(0);
        let asked = trajectory(&database, &Walk::new(1.5, turn_rate, 1.0));
        database.set_trajectory(&asked, &mut query);
        let found = database.search(&query, &Search::default()).unwrap();
        assert_eq!(database.clips()[found.clip].name, name, "{turn_rate}");
    }
}

#[test]
fn features_of_a_circle_are_those_of_the_circle_everywhere_in_the_model() {
    let skeleton = skeleton();
    let walk = Walk {
        start: Vec3::new(3.0, 0.0, -2.0),
        heading: 2.5,
        ..Walk::new(1.5, 1.2, 3.0)
    };
    let (clip, other) = (
        walk.clip(&skeleton),
        Walk::new(0.5, -0.3, 3.0).clip(&skeleton),
    );
    let spec = FeatureSpec {
        min_remaining: 1.0,
        ..features()
    };
    let database = build(
        &skeleton,
        &[once("circle", &clip), once("other", &other)],
        &spec,
    );
    let position = feature(&database, FeatureKind::TrajectoryPosition);
    let direction = feature(&database, FeatureKind::TrajectoryDirection);
    let hips = feature(&database, FeatureKind::JointVelocity(skeleton.joint(0)));
    let foot = feature(&database, FeatureKind::JointPosition(skeleton.joint(1)));
    let asked = trajectory(&database, &walk);
    let positions: Vec<f32> = asked.iter().flat_map(|point| point.position).collect();
    let directions: Vec<f32> = asked.iter().flat_map(|point| point.direction).collect();
    // Also within a second of the end, where the arc is carried on.
    for frame in database.clips()[0].frames.clone() {
        let time = frame as f32 / RATE;
        check(
            database.values(frame, position),
            &positions,
            BAKED,
            "positions",
        );
        check(
            database.values(frame, direction),
            &directions,
            BAKED,
            "directions",
        );
        let swing = 0.3 * (std::f32::consts::TAU * walk.pace * time).sin();
        check(
            database.values(frame, foot),
            &[0.1, 0.1, swing],
            BAKED,
            "foot",
        );
        if !(1..database.clips()[0].frames.end - 1).contains(&frame) {
            // One-sided differences at the ends lag half a frame.
            continue;
        }
        check(
            database.values(frame, hips),
            &[0.0, 0.0, walk.speed],
            1e-3,
            "hips",
        );
    }
}

#[test]
fn what_comes_after_the_end_is_a_choice() {
    let skeleton = skeleton();
    let [straight, left, right] = three(&skeleton);
    let clips = [
        once("straight", &straight),
        once("left", &left),
        once("right", &right),
    ];
    let hold = FeatureSpec {
        ends: ClipEnds::Hold,
        ..features()
    };
    let database = build(&skeleton, &clips, &hold);
    let last = database.clips()[0].frames.end - 1;
    let position = feature(&database, FeatureKind::TrajectoryPosition);
    check(database.values(last, position), &[0.0; 6], BAKED, "held");
    let half_second = last - 30;
    let expected = [0.0, 0.5, 0.0, 0.75, 0.0, 0.75];
    check(
        database.values(half_second, position),
        &expected,
        BAKED,
        "held",
    );

    let whole = FeatureSpec {
        min_remaining: 1.0,
        ..features()
    };
    let database = build(&skeleton, &clips, &whole);
    for clip in database.clips() {
        let frames = clip.frames.clone();
        let found = frames
            .clone()
            .filter(|frame| database.can_find(*frame, 0))
            .count();
        assert_eq!(found, frames.len() - 60);
    }
}

#[test]
fn a_loop_goes_on_where_it_ends() {
    let skeleton = skeleton();
    // Half a circle: where it ends is not where it started, and it faces the other way.
    let walk = Walk {
        pace: 2.0,
        ..Walk::new(1.5, std::f32::consts::PI / 3.0, 3.0)
    };
    let (clip, other) = (
        walk.clip(&skeleton),
        Walk::new(0.5, -0.3, 3.0).clip(&skeleton),
    );
    let round = MatchingClip {
        looping: true,
        ..once("circle", &clip)
    };
    let spec = features();
    let database = build(&skeleton, &[round, once("other", &other)], &spec);
    let circle = database.clips()[0].clone();
    assert_eq!((circle.frames.len(), circle.looping), (180, true));
    let position = feature(&database, FeatureKind::TrajectoryPosition);
    let hips = feature(&database, FeatureKind::JointVelocity(skeleton.joint(0)));
    let asked = trajectory(&database, &walk);
    let positions: Vec<f32> = asked.iter().flat_map(|point| point.position).collect();
    for frame in circle.frames {
        assert!(database.can_find(frame, 0));
        check(
            database.values(frame, position),
            &positions,
            BAKED,
            "positions",
        );
        check(
            database.values(frame, hips),
            &[0.0, 0.0, walk.speed],
            1e-3,
            "hips",
        );
    }
    assert_eq!(database.frame(0, 3.0), 0);
    assert_eq!(database.frame(0, 2.99), 179);
}

#[test]
fn rows_have_zero_mean_and_the_deviation_of_their_weights() {
    let database = three_ways(&features());
    let frames = database.len() as f64;
    for feature in database.features() {
        assert!(feature.varies, "{feature:?}");
        let mut squares = 0.0;
        for dimension in feature.dimensions.clone() {
            let values = || {
                (0..database.len())
                    .map(|frame| f64::from(database.row(frame).nth(dimension).unwrap()))
            };
            let mean = values().sum::<f64>() / frames;
            assert!(mean.abs() < 1e-6, "{feature:?}: mean {mean}");
            squares += values().map(|value| value * value).sum::<f64>() / frames;
        }
        let deviation = (squares / feature.dimensions.len() as f64).sqrt();
        assert!(
            (deviation / f64::from(feature.weight) - 1.0).abs() < 1e-6,
            "{feature:?}: {deviation}"
        );
    }
}

#[test]
fn a_frame_asked_for_is_found_and_costs_nothing() {
    let database = three_ways(&features());
    for frame in (0..database.len()).filter(|frame| database.can_find(*frame, 0)) {
        let query = database.query_of(frame);
        let found = database.search(&query, &Search::default()).unwrap();
        // A walk repeats itself: the frame, or one before it that is the same.
        assert_eq!(found.cost, 0.0);
        assert!(found.frame <= frame);
        assert!(database.row(found.frame).eq(database.row(frame)));
        let (clip, time) = database.locate(found.frame);
        assert_eq!((found.clip, found.time), (clip, time));
        assert_eq!(database.frame(clip, time), found.frame);
    }
}

#[test]
fn boxes_find_what_an_exhaustive_search_finds() {
    let database = three_ways(&features());
    let mut random = Random::new(5, 0, 0);
    let mut query = database.query();
    for round in 0..300 {
        let at = random.range(0.0, database.len() as f32) as usize;
        database.set_pose(at, &mut query);
        let asked = Walk::new(random.range(0.0, 3.0), random.range(-2.0, 2.0), 1.0);
        database.set_trajectory(&trajectory(&database, &asked), &mut query);
        let ignore = [at..at + 20, 0..5];
        let current = Current {
            frame: at,
            bias: random.range(0.0, 2.0),
        };
        let search = Search {
            tags: 0,
            ignore: &ignore,
            current: (round % 2 == 0).then_some(current),
        };
        let found = database.search(&query, &search).unwrap();
        assert_eq!(Some(found), database.search_exhaustive(&query, &search));
        let costs = database.explain(found.frame, &query);
        assert_eq!(costs.fold(0.0, |sum, (_, cost)| sum + cost), found.cost);
        assert_eq!(database.cost(found.frame, &query), found.cost);
        let ignored = ignore.iter().any(|range| range.contains(&found.frame));
        assert!(found.frame == at || !ignored);
    }
}

#[test]
fn the_current_frame_stays_unless_another_is_better_by_the_bias() {
    let database = three_ways(&features());
    let query = database.query_of(300);
    let cost = database.cost(100, &query);
    let search = |bias| {
        let current = Some(Current { frame: 100, bias });
        database
            .search(
                &query,
                &Search {
                    current,
                    ..Search::default()
                },
            )
            .unwrap()
    };
    assert_eq!(search(cost * 1.01).frame, 100);
    assert_eq!(search(cost * 1.01).cost, cost);
    assert_eq!(search(cost * 0.99).cost, 0.0);
    assert_eq!(search(f32::NAN).frame, 100);
}

#[test]
fn tags_bound_what_is_found() {
    let skeleton = skeleton();
    let [straight, left, right] = three(&skeleton);
    let tagged = |name, clip, tags| MatchingClip {
        tags,
        ..once(name, clip)
    };
    let clips = [
        tagged("straight", &straight, 1),
        tagged("left", &left, 2),
        tagged("right", &right, 3),
    ];
    let database = build(&skeleton, &clips, &features());
    let query = database.query_of(10);
    let found = |tags| {
        let search = Search {
            tags,
            ..Search::default()
        };
        let found = database.search(&query, &search)?;
        Some(database.clips()[found.clip].name.as_str())
    };
    assert_eq!(found(1), Some("straight"));
    assert_eq!(found(3), Some("right"));
    assert_eq!(found(4), None);
    let current = Some(Current {
        frame: 10,
        bias: 1e9,
    });
    let search = Search {
        tags: 2,
        current,
        ..Search::default()
    };
    assert_ne!(database.search(&query, &search).unwrap().clip, 0);
}

#[test]
fn stills_and_single_frames_have_no_nan() {
    let skeleton = skeleton();
    let bake = |spec: &ClipSpec| {
        Clip::bake(spec, &skeleton, &BakeOptions::default())
            .unwrap()
            .0
    };
    let still = bake(&ClipSpec::default());
    let standing = Walk {
        pace: 0.0,
        ..Walk::new(0.0, 0.0, 1.0)
    }
    .clip(&skeleton);
    let spec = FeatureSpec {
        min_remaining: 0.0,
        ..features()
    };
    let round = MatchingClip {
        looping: true,
        ..once("round", &still)
    };
    for clips in [
        vec![once("one frame", &still)],
        vec![once("still", &standing), once("one frame", &still), round],
    ] {
        let database = build(&skeleton, &clips, &spec);
        assert!(database.features().iter().all(|feature| !feature.varies));
        for frame in 0..database.len() {
            assert!(database.row(frame).all(|value| value == 0.0));
            for feature in 0..database.features().len() {
                assert!(database.values(frame, feature).all(f32::is_finite));
            }
        }
        let mut query = database.query();
        let asked = trajectory(&database, &Walk::new(5.0, 1.0, 1.0));
        database.set_trajectory(&asked, &mut query);
        let found = database.search(&query, &Search::default()).unwrap();
        assert_eq!((found.frame, found.cost), (0, 0.0));
    }
}

#[test]
fn a_still_that_loops_can_always_be_found() {
    let skeleton = skeleton();
    let (still, _) = Clip::bake(&ClipSpec::default(), &skeleton, &BakeOptions::default()).unwrap();
    let walk = Walk::new(1.5, 0.0, 2.0).clip(&skeleton);
    let round = MatchingClip {
        looping: true,
        ..once("stand", &still)
    };
    let database = build(&skeleton, &[once("walk", &walk), round], &features());
    let mut query = database.query_of(0);
    let asked = trajectory(&database, &Walk::new(0.0, 0.0, 1.0));
    database.set_trajectory(&asked, &mut query);
    let found = database.search(&query, &Search::default()).unwrap();
    assert_eq!((found.clip, found.time), (1, 0.0));
}

#[test]
fn queries_that_are_not_finite_are_refused() {
    let database = three_ways(&features());
    for value in [f32::NAN, f32::INFINITY, f32::MIN] {
        let mut query = database.query();
        let last = database.features().len() - 1;
        database.set(last, &[0.0, value, 0.0], &mut query);
        assert_eq!(database.search(&query, &Search::default()), None);
        assert_eq!(database.search_exhaustive(&query, &Search::default()), None);
        database.set(last, &[0.0; 3], &mut query);
        assert!(database.search(&query, &Search::default()).is_some());
    }
}

#[test]
fn the_character_frame_puts_a_clip_under_its_character() {
    let skeleton = skeleton();
    let walk = Walk {
        start: Vec3::new(3.0, 0.0, -2.0),
        heading: 0.5,
        ..Walk::new(1.0, 0.4, 2.0)
    };
    let clip = walk.clip(&skeleton);
    let database = build(&skeleton, &[once("walk", &clip)], &features());
    for frame in [0, 30, 119] {
        let hips = clip.sample_joint(skeleton.joint(0), frame as f32 / RATE);
        let ground = database.model_from_character(frame);
        let off = hips.translation - ground.translation - Vec3::y();
        assert!(off.norm() < BAKED, "{off}");
        assert!(anim_math::quat::angle_between(hips.rotation, ground.rotation) < BAKED);
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let skeleton = skeleton();
    let clip = Walk::new(1.0, 0.0, 1.0).clip(&skeleton);
    let clips = [once("walk", &clip)];
    let error = |spec: &FeatureSpec, clips: &[MatchingClip<'_>], rate: f32| {
        MotionDatabase::new(&skeleton, clips, spec, rate).unwrap_err()
    };
    let spec = features();
    assert_eq!(error(&spec, &[], 60.0), MatchingError::NoFrames);
    let short = FeatureSpec {
        min_remaining: 2.0,
        ..features()
    };
    assert_eq!(error(&short, &clips, 60.0), MatchingError::NoFrames);
    let typo = FeatureSpec::biped("hips", "left foot", "right foo");
    assert_eq!(
        error(&typo, &clips, 60.0).to_string(),
        "no joint is called 'right foo'"
    );
    for rate in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(matches!(
            error(&spec, &clips, rate),
            MatchingError::OutOfRange { what: "rate", .. }
        ));
    }
    let up = FeatureSpec {
        forward: Vec3::y(),
        ..features()
    };
    assert_eq!(
        error(&up, &clips, 60.0),
        MatchingError::NoHeading {
            name: "hips".into()
        }
    );
    let mut nothing = features();
    nothing.joints.clear();
    nothing.trajectory.times.clear();
    assert_eq!(error(&nothing, &clips, 60.0), MatchingError::NoFeatures);
    let mut broken = features();
    broken.trajectory.times[1] = f32::NAN;
    assert!(matches!(
        error(&broken, &clips, 60.0),
        MatchingError::OutOfRange { .. }
    ));
    let other = Skeleton::new(vec![]).unwrap();
    let foreign = Clip::bake(&ClipSpec::default(), &other, &BakeOptions::default())
        .unwrap()
        .0;
    assert_eq!(
        error(&spec, &[clips[0], once("foreign", &foreign)], 60.0).to_string(),
        "clip 1 ('foreign') has 0 joints, the skeleton 3"
    );
}

#[test]
fn specs_survive_json_and_may_be_short() {
    let spec = features();
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<FeatureSpec>(&json).unwrap(), spec);
    let short: FeatureSpec = serde_json::from_str(
        r#"{ "root": "hips", "joints": [{ "joint": "left foot", "position_weight": 2 }] }"#,
    )
    .unwrap();
    assert_eq!(short.trajectory, spec.trajectory);
    assert_eq!((short.smoothing, short.ends), (spec.smoothing, spec.ends));
    assert!(serde_json::from_str::<FeatureSpec>(r#"{ "root": "hips", "rooot": 1 }"#).is_err());
}

#[test]
fn building_twice_gives_the_same_bits() {
    let rows = |database: &MotionDatabase| -> Vec<u32> {
        let frames = 0..database.len();
        frames
            .flat_map(|frame| database.row(frame))
            .map(f32::to_bits)
            .collect()
    };
    assert_eq!(
        rows(&three_ways(&features())),
        rows(&three_ways(&features()))
    );
}
