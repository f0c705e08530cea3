//! Cost of one frame of hanging cloth: a square metre of 0.2 kg/m², one edge pinned, one thread unless said otherwise.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_sim::cloth::{self, Bending, ClothSpec, Weave};
use anim_sim::{Drive, Model, SelfContact, Solver, State, Xpbd};
use criterion::{Criterion, criterion_group, criterion_main};

fn sheet(n: u32) -> ClothSpec {
    ClothSpec {
        stretch_compliance: 1e-3,
        ..common::sheet(n, true)
    }
}

fn frame(
    criterion: &mut Criterion,
    name: &str,
    size: &str,
    model: &Model,
    substeps: u32,
    drive: &Drive<'_>,
    threads: usize,
) {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads");
    let mut state = State::new(model);
    let mut solver = Xpbd::new(model, substeps);
    for _ in 0..30 {
        solver.step(model, drive, 1.0 / 60.0, &mut state);
    }
    criterion.bench_function(&format!("{name}/{size}"), |bencher| {
        bencher
            .iter(|| pool.install(|| solver.step(model, drive, 1.0 / 60.0, black_box(&mut state))));
    });
}

fn xpbd_cloth(criterion: &mut Criterion) {
    let drive = Drive::default();
    let build = |spec: &ClothSpec| cloth::build(spec).expect("a valid sheet");
    let mut run = |name: &str, size: &str, model: &Model, substeps, threads| {
        let name = format!("anim-sim/{name}");
        frame(criterion, &name, size, model, substeps, &drive, threads);
    };
    let [small, medium, large] = [64, 100, 200].map(|n| build(&sheet(n)));
    run("xpbd_cloth", "64x64", &small, 20, 1);
    run("xpbd_cloth", "100x100", &medium, 20, 1);
    run("xpbd_cloth_2_threads", "100x100", &medium, 20, 2);
    run("xpbd_cloth", "200x200", &large, 30, 1);
    run("xpbd_cloth_2_threads", "200x200", &large, 30, 2);

    let [medium, large, huge] = [100, 200, 1000].map(|n| build(&common::edges_only(n)));
    run("xpbd_edges_only", "100x100", &medium, 20, 1);
    run("xpbd_edges_only_2_threads", "100x100", &medium, 20, 2);
    run("xpbd_edges_only", "200x200", &large, 30, 1);
    run("xpbd_edges_only_2_threads", "200x200", &large, 30, 2);
    // A vertex costs the same in a sheet of any size.
    let middle = build(&common::edges_only(316));
    run("xpbd_per_vertex", "10k", &medium, 20, 1);
    run("xpbd_per_vertex", "100k", &middle, 20, 1);
    run("xpbd_per_vertex", "1M", &huge, 20, 1);

    let isometric = ClothSpec {
        bending: Bending::Isometric(1e-4),
        ..common::edges_only(100)
    };
    run("xpbd_isometric", "100x100", &build(&isometric), 20, 1);
    let dihedral = ClothSpec {
        bending: Bending::Dihedral(1e4),
        ..common::edges_only(100)
    };
    run("xpbd_dihedral", "100x100", &build(&dihedral), 20, 1);
    let woven = ClothSpec {
        weave: Some(Weave {
            warp: Vec3::x(),
            stiffness: [1e3, 1e3, 1e2],
            limits: [0.0, f32::INFINITY],
        }),
        ..common::edges_only(100)
    };
    run("xpbd_membranes", "100x100", &build(&woven), 20, 1);

    let keeping_off = ClothSpec {
        self_contact: Some(SelfContact::default()),
        ..sheet(100)
    };
    run("self_contact", "100x100", &build(&keeping_off), 20, 1);

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
        &small,
        20,
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
