//! Contact of deforming surfaces, one thread: refit, pairs, time of impact, exact intersection.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

use std::hint::black_box;

use anim_geom::ccd::Features;
use anim_geom::{MovingBvh, intersect};
use anim_math::Vec3;
use criterion::{Criterion, criterion_group, criterion_main};

/// A wavy square metre of n × n vertices, and its triangles.
fn sheet(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let at = |i: u32| i as f32 / (n - 1) as f32;
    let wave = |x: f32, z: f32| 0.1 * libm::sinf(20.0 * x) * libm::cosf(15.0 * z);
    let positions = (0..n * n)
        .map(|v| (at(v % n), at(v / n)))
        .map(|(x, z)| Vec3::new(x, wave(x, z), z));
    let triangles = (0..n * n)
        .filter(|v| v % n != n - 1 && v / n != n - 1)
        .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]]);
    (positions.collect(), triangles.collect())
}

fn collide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    for (n, label) in [(100, "20k"), (200, "80k")] {
        let (start, triangles) = sheet(n);
        let end: Vec<Vec3> = start.iter().map(|p| p + Vec3::y() * 0.07).collect();
        let mut bvh = MovingBvh::new(&start, &triangles).expect("a sheet");
        let margin = 0.5 / (n - 1) as f32;
        group.bench_function(format!("bvh_refit/{label}"), |b| {
            b.iter(|| bvh.refit(black_box(&start), &end, margin));
        });
        let mut pairs = Vec::new();
        group.bench_function(format!("self_pairs/{label}"), |b| {
            b.iter(|| {
                pairs.clear();
                bvh.self_pairs(usize::MAX, &mut pairs).expect("no limit");
                pairs.len()
            });
        });
        group.bench_function(format!("bvh_build/{label}"), |b| {
            b.iter(|| MovingBvh::new(black_box(&start), &triangles));
        });
    }
    let (positions, triangles) = sheet(100);
    group.bench_function("self_intersections/20k", |b| {
        b.iter(|| intersect::self_intersections(black_box(&positions), &triangles));
    });
    let point = |y: f32| [Vec3::new(0.2, y, 0.3), Vec3::zeros(), Vec3::x(), Vec3::z()];
    let edges = |y: f32| {
        [
            Vec3::new(0.0, y, 0.3),
            Vec3::new(1.0, y, 0.1),
            Vec3::zeros(),
            Vec3::x() + Vec3::z(),
        ]
    };
    for (features, name, [start, end]) in [
        (
            Features::PointTriangle,
            "point_triangle",
            [point(1.0), point(-1.0)],
        ),
        (Features::EdgeEdge, "edge_edge", [edges(1.0), edges(-1.0)]),
    ] {
        group.bench_function(format!("time_of_impact/{name}"), |b| {
            b.iter(|| features.time_of_impact(black_box(&start), black_box(&end), 1e-4));
        });
        group.bench_function(format!("impact_interval/{name}"), |b| {
            b.iter(|| features.impact_interval(black_box(&start), black_box(&end), 0.0, 1e-6));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = collide
}
criterion_main!(benches);
