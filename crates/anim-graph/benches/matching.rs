//! Motion matching among ten thousand frames, with boxes and without.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]
#![allow(clippy::unwrap_used, reason = "a bench may fail like a test")]

#[path = "../tests/matching/walkers.rs"]
mod walkers;

use std::hint::black_box;

use anim_graph::matching::{Match, MatchingClip, MotionDatabase, Query, Search, TrajectoryPoint};
use anim_math::Random;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use walkers::{RATE, Walk, features, skeleton};

/// Forty walks of four seconds, of any speed and turn.
fn library() -> MotionDatabase {
    let skeleton = skeleton();
    let mut random = Random::new(10, 0, 0);
    let clips: Vec<_> = (0..42)
        .map(|_| {
            let walk = Walk {
                pace: random.range(0.8, 2.5),
                ..Walk::new(random.range(0.0, 4.0), random.range(-2.0, 2.0), 4.0)
            };
            walk.clip(&skeleton)
        })
        .collect();
    let clips: Vec<_> = clips
        .iter()
        .map(|clip| MatchingClip {
            name: "walk",
            clip,
            tags: 0,
            looping: false,
        })
        .collect();
    MotionDatabase::new(&skeleton, &clips, &features(), RATE).unwrap()
}

/// Poses of the library on ways of their own.
fn queries(database: &MotionDatabase) -> Vec<Query> {
    let mut random = Random::new(11, 0, 0);
    (0..256)
        .map(|_| {
            let walk = Walk::new(random.range(0.0, 4.0), random.range(-2.0, 2.0), 1.0);
            let asked: Vec<_> = database
                .trajectory_times()
                .iter()
                .map(|time| {
                    let (position, turn) = walk.way(*time);
                    TrajectoryPoint {
                        position,
                        direction: [turn.sin(), turn.cos()],
                    }
                })
                .collect();
            let frame = random.range(0.0, database.len() as f32) as usize;
            let mut query = database.query_of(frame.min(database.len() - 1));
            database.set_trajectory(&asked, &mut query);
            query
        })
        .collect()
}

fn motion_match(c: &mut Criterion) {
    let database = library();
    let queries = queries(&database);
    let mut group = c.benchmark_group("anim-graph");
    group.throughput(Throughput::Elements(database.len() as u64));
    type Find = fn(&MotionDatabase, &Query, &Search<'_>) -> Option<Match>;
    let ways: [(&str, Find); 2] = [
        ("motion_match/10k", MotionDatabase::search),
        (
            "motion_match_exhaustive/10k",
            MotionDatabase::search_exhaustive,
        ),
    ];
    for (name, find) in ways {
        let mut queries = queries.iter().cycle();
        group.bench_function(name, |b| {
            b.iter(|| {
                find(
                    &database,
                    black_box(queries.next().unwrap()),
                    &Search::default(),
                )
            });
        });
    }
    group.finish();
}

criterion_group!(benches, motion_match);
criterion_main!(benches);
