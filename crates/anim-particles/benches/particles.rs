//! Cost of one step of a hundred thousand particles, one thread unless said otherwise.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

use std::hint::black_box;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_particles::{Effect, EffectSpec, Emission, Particles};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const COUNT: u32 = 100_000;

fn step(criterion: &mut Criterion) {
    let effect = Effect::new(EffectSpec {
        capacity: COUNT,
        // Lives end and begin all the time.
        lifetime: [0.5, 1.5],
        ..EffectSpec::default()
    })
    .expect("valid");
    let floor = Collider::new(Shape::Plane, Affine::IDENTITY);
    let ball = Collider::new(Shape::Sphere { radius: 0.5 }, Affine::IDENTITY);
    let emission = Emission {
        position: Vec3::y(),
        rate: COUNT as f32,
        ..Emission::default()
    };
    for (name, colliders, threads) in [
        ("step", &[][..], 1),
        ("step_2_threads", &[][..], 2),
        ("step_2_colliders", &[floor, ball][..], 1),
    ] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let mut particles = Particles::new(&effect);
        let mut step = || {
            pool.install(|| {
                effect.step(
                    1.0 / 60.0,
                    &[emission],
                    colliders,
                    black_box(&mut particles),
                )
            })
        };
        for _ in 0..180 {
            step();
        }
        let mut group = criterion.benchmark_group("anim-particles");
        group.throughput(Throughput::Elements(COUNT.into()));
        group.bench_function(format!("{name}/100k"), |bencher| bencher.iter(&mut step));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = step
}
criterion_main!(benches);
