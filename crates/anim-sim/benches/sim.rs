//! Cost of one frame of hanging cloth: a square metre of 0.2 kg/m², one edge pinned, one thread unless said otherwise.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

use std::hint::black_box;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, SelfContact, Solver, State, Xpbd};
use criterion::{Criterion, criterion_group, criterion_main};

/// n × n vertices, each cell cut along the same diagonal.
fn sheet(n: u32) -> ClothSpec {
    let at = |i: u32| i as f32 / (n - 1) as f32;
    ClothSpec {
        positions: (0..n * n)
            .map(|v| Vec3::new(at(v % n), 0.0, at(v / n)))
            .collect(),
        triangles: (0..n * n)
            .filter(|v| v % n != n - 1 && v / n != n - 1)
            .flat_map(|v| [[v, v + n, v + 1], [v + 1, v + n, v + n + 1]])
            .collect(),
        pinned: (0..n).collect(),
        stretch_compliance: 1e-3,
        ..ClothSpec::default()
    }
}

/// Edges only, as other engines are measured.
fn edges_only(n: u32) -> ClothSpec {
    ClothSpec {
        bend_compliance: f32::INFINITY,
        max_stretch: f32::INFINITY,
        drag: 0.0,
        damping: 0.0,
        ..sheet(n)
    }
}

fn frame(
    criterion: &mut Criterion,
    name: &str,
    size: &str,
    spec: &ClothSpec,
    drive: &Drive<'_>,
    threads: usize,
) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let model = cloth::build(spec).expect("a valid sheet");
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    for _ in 0..30 {
        solver.step(&model, drive, 1.0 / 60.0, &mut state);
    }
    criterion.bench_function(&format!("{name}/{size}"), |bencher| {
        bencher.iter(|| {
            pool.install(|| solver.step(&model, drive, 1.0 / 60.0, black_box(&mut state)))
        });
    });
}

fn xpbd_cloth(criterion: &mut Criterion) {
    let drive = Drive::default();
    frame(
        criterion,
        "anim-sim/xpbd_cloth",
        "64x64",
        &sheet(64),
        &drive,
        1,
    );
    frame(
        criterion,
        "anim-sim/xpbd_cloth",
        "100x100",
        &sheet(100),
        &drive,
        1,
    );
    frame(
        criterion,
        "anim-sim/xpbd_cloth_2_threads",
        "100x100",
        &sheet(100),
        &drive,
        2,
    );
    frame(
        criterion,
        "anim-sim/xpbd_edges_only",
        "100x100",
        &edges_only(100),
        &drive,
        1,
    );
    frame(
        criterion,
        "anim-sim/xpbd_edges_only_2_threads",
        "100x100",
        &edges_only(100),
        &drive,
        2,
    );
    frame(
        criterion,
        "anim-sim/xpbd_edges_only",
        "200x200",
        &edges_only(200),
        &drive,
        1,
    );
    frame(
        criterion,
        "anim-sim/xpbd_edges_only_2_threads",
        "200x200",
        &edges_only(200),
        &drive,
        2,
    );

    let keeping_off = ClothSpec {
        self_contact: Some(SelfContact::default()),
        ..sheet(100)
    };
    let name = "anim-sim/self_contact";
    frame(criterion, name, "100x100", &keeping_off, &drive, 1);

    let mut ball = Collider::new(
        Shape::Sphere { radius: 0.3 },
        Affine {
            translation: Vec3::new(0.5, -0.5, 0.5),
            ..Affine::IDENTITY
        },
    );
    ball.friction = 0.5;
    let draped = Drive {
        colliders: &[ball],
        ..drive
    };
    frame(
        criterion,
        "anim-sim/xpbd_cloth_on_ball",
        "64x64",
        &sheet(64),
        &draped,
        1,
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = xpbd_cloth
}
criterion_main!(benches);
