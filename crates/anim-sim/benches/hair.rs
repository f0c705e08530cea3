//! Cost of one frame of hair: 1000 guides of 16 segments on a ball, one thread, four substeps; and of 20000 strands between.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

use std::hint::black_box;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Random, Transform, Vec3};
use anim_sim::hair::{
    Followers, GuideTurns, Hair, HairDrive, HairLevel, HairLod, HairLodSolver, HairLodSpec,
    HairLodState, HairSolver, HairSpec, HairState, HairVolume, Releases,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const FRAME: f32 = 1.0 / 60.0;
const SEGMENTS: u32 = 16;

/// Strands of 20 cm from a scalp of 10 cm, bent down.
fn strands(count: usize, seed: u64) -> Vec<Vec<Vec3>> {
    let mut random = Random::new(seed, 0, 0);
    (0..count)
        .map(|_| {
            let out = random.in_cone(Vec3::y(), 1.2);
            (0..=SEGMENTS)
                .map(|k| {
                    let along = k as f32 / SEGMENTS as f32;
                    out * (0.1 + 0.12 * along) - Vec3::y() * (0.14 * along * along)
                })
                .collect()
        })
        .collect()
}

fn spec() -> HairSpec {
    HairSpec {
        guides: strands(1000, 1),
        ..HairSpec::default()
    }
}

fn frame(criterion: &mut Criterion, name: &str, spec: HairSpec, drive: &HairDrive<'_>) {
    let hair = Hair::new(spec).expect("valid hair");
    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    for _ in 0..30 {
        solver.step(&hair, drive, FRAME, &mut state);
    }
    let mut group = criterion.benchmark_group(format!("anim-sim/{name}"));
    group.throughput(Throughput::Elements(hair.segment_count() as u64));
    group.bench_function("1000x16", |bencher| {
        bencher.iter(|| solver.step(&hair, drive, FRAME, black_box(&mut state)));
    });
}

fn hair(criterion: &mut Criterion) {
    let drive = HairDrive {
        wind: Vec3::new(2.0, 0.0, 1.0),
        ..HairDrive::default()
    };
    frame(criterion, "hair", spec(), &drive);
    let volume = HairSpec {
        volume: Some(HairVolume::default()),
        ..spec()
    };
    frame(criterion, "hair_volume", volume, &drive);
    let head = Collider::new(Shape::Sphere { radius: 0.1 }, Affine::IDENTITY);
    let on_head = HairDrive {
        colliders: &[head],
        ..drive
    };
    frame(criterion, "hair_on_head", spec(), &on_head);
}

fn followers(criterion: &mut Criterion) {
    let hair = Hair::new(spec()).expect("valid hair");
    let state = HairState::new(&hair);
    let mut turns = GuideTurns::new(&hair);
    let followers = Followers::new(&hair, &strands(20_000, 2), 4).expect("valid strands");
    let mut positions = vec![Vec3::zeros(); followers.vertex_count()];
    let mut group = criterion.benchmark_group("anim-sim/hair_followers");
    group.throughput(Throughput::Elements(followers.vertex_count() as u64));
    group.bench_function("20k", |bencher| {
        bencher.iter(|| {
            turns.update(&hair, &state);
            followers.place(&hair, &turns, black_box(&mut positions));
        });
    });
    group.finish();

    // A head with neck and shoulders; about half of the strands touch it.
    let capsule = |at: Vec3, radius, half_length| {
        let at = Affine::from(Transform::from_translation(at));
        Collider::new(
            Shape::Capsule {
                radius,
                half_length,
            },
            at,
        )
    };
    let body = [
        capsule(Vec3::zeros(), 0.098, 0.005),
        capsule(-Vec3::y() * 0.13, 0.066, 0.04),
        capsule(Vec3::new(0.08, -0.2, 0.0), 0.09, 0.02),
        capsule(Vec3::new(-0.08, -0.2, 0.0), 0.09, 0.02),
    ];
    let mut group = criterion.benchmark_group("anim-sim/hair_followers_outside");
    group.throughput(Throughput::Elements(followers.vertex_count() as u64));
    group.bench_function("20k", |bencher| {
        bencher.iter(|| {
            turns.update(&hair, &state);
            followers.place_outside(&hair, &turns, &body, 0.001, black_box(&mut positions));
        });
    });
    let mut releases = Releases::new(&followers);
    group.bench_function("20k_released", |bencher| {
        bencher.iter(|| {
            turns.update(&hair, &state);
            followers.place(&hair, &turns, &mut positions);
            releases.keep_outside(&followers, &body, 0.001, FRAME, black_box(&mut positions));
        });
    });
}

/// 20000 strands of a level that is not simulated.
fn sway(criterion: &mut Criterion) {
    let level = |guides, pixels| HairLevel {
        guides,
        segments: 8,
        pixels,
    };
    let lod = HairLod::new(&HairLodSpec {
        hair: spec(),
        followers: strands(20_000, 2),
        levels: vec![level(16, 100.0), level(0, 0.0)],
        ..HairLodSpec::default()
    })
    .expect("valid levels");
    let mut state = HairLodState::new(&lod);
    let mut solver = HairLodSolver::new(&lod);
    let mut positions = vec![Vec3::zeros(); lod.followers().vertex_count()];
    let drive = HairDrive {
        wind: Vec3::new(2.0, 0.0, 1.0),
        ..HairDrive::default()
    };
    let mut group = criterion.benchmark_group("anim-sim/hair_sway");
    group.throughput(Throughput::Elements(lod.followers().vertex_count() as u64));
    group.bench_function("20k", |bencher| {
        bencher.iter(|| {
            solver.step_at(&lod, &drive, 1, FRAME, &mut state);
            solver.place(&lod, &state, black_box(&mut positions));
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = hair, followers, sway
}
criterion_main!(benches);
