//! Specs, clips and requests of any numbers: no panic, no NaN.

use std::sync::LazyLock;

use anim_graph::matching::{
    ClipEnds, Current, FeatureSpec, MatcherOptions, MatchingClip, MotionDatabase, MotionMatcher,
    Search, TrajectoryPoint,
};
use anim_math::Vec3;
use anim_skeleton::{BakeOptions, Clip, ClipSpec, Skeleton};
use proptest::prelude::*;

use crate::walkers::{Walk, features, skeleton};

/// A circle, something far off and very fast, a still, and a clip shorter than a frame.
static LIBRARY: LazyLock<(Skeleton, Vec<Clip>)> = LazyLock::new(|| {
    let skeleton = skeleton();
    let far = Walk {
        start: Vec3::new(1e30, 0.0, 0.0),
        ..Walk::new(1e25, 3.0, 0.5)
    };
    let (still, _) = Clip::bake(&ClipSpec::default(), &skeleton, &BakeOptions::default()).unwrap();
    let clips = vec![
        Walk::new(1.0, 2.0, 1.0).clip(&skeleton),
        far.clip(&skeleton),
        still,
        Walk::new(1.0, 0.0, 1.0 / 60.0).clip(&skeleton),
    ];
    (skeleton, clips)
});

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => 0.0_f32..2.0,
        1 => prop::sample::select(vec![
            0.0, -0.0, 1e-40, -1.0, 10.0, 240.0, 1e12, 1e30, f32::MAX, f32::INFINITY, f32::NAN,
        ]),
    ]
}

fn spec() -> impl Strategy<Value = FeatureSpec> {
    (
        prop::collection::vec(number(), 6),
        prop::collection::vec(number(), 0..3),
        any::<bool>(),
    )
        .prop_map(|(numbers, times, hold)| {
            let mut spec = features();
            spec.forward = Vec3::new(numbers[0], numbers[1], 1.0);
            spec.smoothing = numbers[2] * 0.2;
            spec.min_remaining = numbers[3] * 0.2;
            spec.trajectory.times = times;
            spec.trajectory.position_weight = numbers[4];
            spec.joints[0].velocity_weight = numbers[5];
            spec.ends = if hold {
                ClipEnds::Hold
            } else {
                ClipEnds::Extrapolate
            };
            spec
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_numbers_make_a_sound_database_or_an_error(
        spec in spec(),
        rate in prop_oneof![Just(30.0_f32), Just(7.3), number()],
        picks in prop::collection::vec((0_usize..4, any::<bool>(), any::<u32>()), 0..4),
        asked in prop::collection::vec(number(), 8),
    ) {
        let (skeleton, library) = &*LIBRARY;
        let clips: Vec<_> = picks
            .iter()
            .map(|(clip, looping, tags)| MatchingClip {
                name: "clip",
                clip: &library[*clip],
                tags: *tags,
                looping: *looping,
            })
            .collect();
        let Ok(database) = MotionDatabase::new(skeleton, &clips, &spec, rate) else {
            return Ok(());
        };
        for frame in 0..database.len() {
            prop_assert!(database.row(frame).all(f32::is_finite));
            prop_assert!(database.model_from_character(frame).is_finite());
        }
        let point = TrajectoryPoint { position: [asked[0], asked[1]], direction: [asked[2], asked[3]] };
        let trajectory = vec![point; database.trajectory_times().len()];
        let mut query = database.query();
        database.set_trajectory(&trajectory, &mut query);
        let current = Some(Current { frame: database.len() - 1, bias: asked[4] });
        for current in [None, current] {
            let search = Search { current, ..Search::default() };
            let found = database.search(&query, &search);
            prop_assert_eq!(found, database.search_exhaustive(&query, &search));
            let is_sound = query.values().iter().all(|value| value.abs() <= 1e12);
            prop_assert_eq!(found.is_some(), is_sound);
        }
        let options = MatcherOptions {
            interval: asked[4],
            change: asked[5],
            bias: asked[6],
            ignore: asked[7],
            history: asked[0],
        };
        let mut matcher = MotionMatcher::new(&database, options);
        for dt in asked {
            let step = matcher.step(&database, &trajectory, 0, dt);
            prop_assert!(step.time.is_finite() && step.frame < database.len());
        }
    }
}
