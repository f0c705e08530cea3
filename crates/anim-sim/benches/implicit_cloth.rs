//! Cost of one frame of the implicit solvers, on one thread: a hanging square metre of 0.2 kg/m², edges only, one edge
//! pinned. The bench `sheet` prints what stretch goes with it.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use anim_sim::cloth;
use anim_sim::{Drive, Model, Solver, State, Vbd, VbdOptions};
use criterion::{Criterion, criterion_group, criterion_main};

fn frame(criterion: &mut Criterion, name: &str, model: &Model, solver: &mut dyn Solver) {
    let mut state = State::new(model);
    let drive = Drive::default();
    for _ in 0..30 {
        solver.step(model, &drive, 1.0 / 60.0, &mut state);
    }
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| solver.step(model, &drive, 1.0 / 60.0, black_box(&mut state)));
    });
}

fn implicit_cloth(criterion: &mut Criterion) {
    let ten_sweeps = VbdOptions {
        substeps: 10,
        iterations: 1,
        spectral_radius: 0.0,
    };
    let cloth = cloth::build(&common::edges_only(100)).expect("a valid sheet");
    let mut solver = Vbd::new(&cloth, ten_sweeps);
    frame(
        criterion,
        "anim-sim/vbd_edges_only/100x100",
        &cloth,
        &mut solver,
    );
    #[cfg(feature = "solve")]
    {
        let options = anim_sim::ProjectiveOptions::default();
        let mut solver = anim_sim::Projective::new(&cloth, options);
        frame(
            criterion,
            "anim-sim/projective/100x100",
            &cloth,
            &mut solver,
        );
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = implicit_cloth
}
criterion_main!(benches);
