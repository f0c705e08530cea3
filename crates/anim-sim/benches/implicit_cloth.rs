//! Cost of one frame of the implicit solvers, on one thread: a hanging square metre of 0.2 kg/m², edges only, one edge
//! pinned, and a cantilever of 12,800 tetrahedra. `tests/projective.rs` prints what stretch goes with it.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion makes undocumented items; a bench may panic"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use anim_geom::tet::{Split, lattice};
use anim_math::Vec3;
use anim_sim::cloth;
use anim_sim::element::{Material, Tet};
use anim_sim::{Drive, Model, ModelSpec, Solver, State, Vbd, VbdOptions};
use criterion::{Criterion, criterion_group, criterion_main};

/// 1 × 0.2 × 0.2 m of 1000 kg/m³, held at x = 0.
fn cantilever() -> Model {
    let mesh = lattice([40, 8, 8], Vec3::new(1.0, 0.2, 0.2), Split::Five);
    let mut masses = vec![0.0; mesh.positions.len()];
    for (tet, volume) in mesh.tets.iter().zip(mesh.volumes()) {
        for v in tet {
            masses[*v as usize] += volume * 250.0;
        }
    }
    let places = mesh.positions.iter().zip(&masses);
    Model::new(ModelSpec {
        inverse_masses: places
            .map(|(x, mass)| if x.x == 0.0 { 0.0 } else { (1.0 / mass) as f32 })
            .collect(),
        tets: mesh
            .tets
            .iter()
            .map(|tet| Tet {
                vertices: *tet,
                material: 0,
            })
            .collect(),
        positions: mesh.positions,
        materials: vec![Material {
            young: 2e5,
            poisson: 0.4,
            ..Material::default()
        }],
        ..ModelSpec::default()
    })
    .expect("a valid bar")
}

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
    let bar = cantilever();
    let mut solver = Vbd::new(&bar, ten_sweeps);
    frame(criterion, "anim-sim/vbd_tets/12800", &bar, &mut solver);
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
