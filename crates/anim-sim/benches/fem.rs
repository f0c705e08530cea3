//! Cost of a frame of a falling cantilever by Newton's method, one thread: 1 × 0.2 × 0.2 m, 200 kPa, one end held.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

use std::hint::black_box;

use anim_geom::tet::{Split, lattice};
use anim_math::Vec3;
use anim_sim::element::{Law, Material};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{Drive, Implicit, ImplicitOptions, Model, Solver, State, TimeScheme};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn cantilever(cells: [u32; 3], law: Law) -> Model {
    let mesh = lattice(cells, Vec3::new(1.0, 0.2, 0.2), Split::Five);
    let is_held = |v: &u32| mesh.positions[*v as usize].x == 0.0;
    soft::build(&SoftSpec {
        pinned: (0..mesh.positions.len() as u32).filter(is_held).collect(),
        material: Material {
            law,
            young: 2e5,
            poisson: 0.4,
            ..Material::default()
        },
        mesh,
        ..SoftSpec::default()
    })
    .expect("a valid bar")
}

/// One frame after the other, begun anew after each three quarters of a second.
fn frame(criterion: &mut Criterion, id: &str, cells: [u32; 3], law: Law, scheme: TimeScheme) {
    let model = cantilever(cells, law);
    let options = ImplicitOptions {
        scheme,
        ..ImplicitOptions::default()
    };
    let mut solver = Implicit::new(&model, options);
    let mut state = State::new(&model);
    let mut frames = 0;
    let mut group = criterion.benchmark_group("anim-sim/implicit");
    group.throughput(Throughput::Elements(model.spec().tets.len() as u64));
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            if frames % 45 == 0 {
                state = State::new(&model);
            }
            frames += 1;
            black_box(solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state));
        });
    });
}

fn implicit(criterion: &mut Criterion) {
    let euler = TimeScheme::ImplicitEuler;
    frame(
        criterion,
        "1600_tets",
        [20, 4, 4],
        Law::StableNeoHookean,
        euler,
    );
    frame(
        criterion,
        "12800_tets",
        [40, 8, 8],
        Law::StableNeoHookean,
        euler,
    );
    frame(
        criterion,
        "12800_tets_bdf2",
        [40, 8, 8],
        Law::StableNeoHookean,
        TimeScheme::Bdf2,
    );
    frame(
        criterion,
        "12800_tets_corotational",
        [40, 8, 8],
        Law::Corotational,
        euler,
    );
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(45).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(5));
    targets = implicit
}
criterion_main!(benches);
