//! Cost of a frame of a falling cantilever on one thread, 1 × 0.2 × 0.2 m, 200 kPa, one end held, and how far its tip goes astray.
//!
//! A tip is where it would be with steps so small that smaller ones move it no more, root mean square over 45 frames:
//! `anim-metric` lines on the error stream tell it, which `cargo xtask bench` prints beside the times.
#![allow(
    missing_docs,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "criterion makes undocumented items; a bench may panic, and shows what it measured"
)]

use std::hint::black_box;

use anim_geom::tet::{Split, lattice};
use anim_math::Vec3;
use anim_sim::element::{Law, Material};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{
    Drive, Implicit, ImplicitOptions, Model, Solver, State, TimeScheme, Vbd, VbdOptions, Xpbd,
};
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

/// Three quarters of a second.
const FRAMES: usize = 45;

/// One frame after the other, begun anew after each three quarters of a second.
fn frame(criterion: &mut Criterion, id: &str, model: &Model, solver: &mut dyn Solver) {
    let mut state = State::new(model);
    let mut frames = 0;
    let mut group = criterion.benchmark_group("anim-sim");
    group.throughput(Throughput::Elements(model.spec().tets.len() as u64));
    group.bench_function(id, |bencher| {
        bencher.iter(|| {
            if frames % FRAMES == 0 {
                state = State::new(model);
            }
            frames += 1;
            black_box(solver.step(model, &Drive::default(), 1.0 / 60.0, &mut state));
        });
    });
}

/// The middle of the free end, after each frame.
fn tips(model: &Model, solver: &mut dyn Solver) -> Vec<Vec3> {
    let mut state = State::new(model);
    let end: Vec<usize> = (0..model.vertex_count())
        .filter(|v| model.rest()[*v].x == 1.0)
        .collect();
    (0..FRAMES)
        .map(|_| {
            solver.step(model, &Drive::default(), 1.0 / 60.0, &mut state);
            end.iter().map(|v| state.positions[*v]).sum::<Vec3>() / end.len() as f32
        })
        .collect()
}

fn newton(model: &Model, scheme: TimeScheme, substeps: u32) -> Implicit {
    let options = ImplicitOptions {
        substeps,
        scheme,
        ..ImplicitOptions::default()
    };
    Implicit::new(model, options)
}

fn implicit(criterion: &mut Criterion) {
    let (euler, bdf2) = (TimeScheme::ImplicitEuler, TimeScheme::Bdf2);
    let small = cantilever([20, 4, 4], Law::StableNeoHookean);
    let mut solver = newton(&small, euler, 1);
    frame(criterion, "implicit/1600_tets", &small, &mut solver);
    let turning = cantilever([40, 8, 8], Law::Corotational);
    let mut solver = newton(&turning, euler, 1);
    frame(
        criterion,
        "implicit/12800_tets_corotational",
        &turning,
        &mut solver,
    );

    let bar = cantilever([40, 8, 8], Law::StableNeoHookean);
    let ten_sweeps = VbdOptions {
        substeps: 10,
        iterations: 1,
        spectral_radius: 0.0,
    };
    let mut solvers: [(&str, Box<dyn Solver>); 6] = [
        ("implicit/12800_tets", Box::new(newton(&bar, euler, 1))),
        ("implicit/12800_tets_bdf2", Box::new(newton(&bar, bdf2, 1))),
        (
            "implicit/12800_tets_bdf2_4_substeps",
            Box::new(newton(&bar, bdf2, 4)),
        ),
        ("xpbd_tets_20/12800", Box::new(Xpbd::new(&bar, 20))),
        ("xpbd_tets_50/12800", Box::new(Xpbd::new(&bar, 50))),
        ("vbd_tets/12800", Box::new(Vbd::new(&bar, ten_sweeps))),
    ];
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let exact = is_measuring.then(|| tips(&bar, &mut newton(&bar, bdf2, 16)));
    for (id, solver) in &mut solvers {
        frame(criterion, id, &bar, solver.as_mut());
        if let Some(exact) = &exact {
            let strayed = tips(&bar, solver.as_mut());
            let squares = strayed
                .iter()
                .zip(exact)
                .map(|(a, b)| (a - b).norm_squared());
            let mean = (squares.sum::<f32>() / FRAMES as f32).sqrt();
            eprintln!("anim-metric: anim-sim/{id} tip-off-mm {:.2}", 1e3 * mean);
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(45).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(5));
    targets = implicit
}
criterion_main!(benches);
