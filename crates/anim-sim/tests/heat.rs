//! Heat against closed forms.
#![cfg(feature = "solve")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use std::f64::consts::PI;

use anim_geom::TetMesh;
use anim_geom::tet::{Split, lattice};
use anim_math::Vec3;
use anim_sim::SimError;
use anim_sim::heat::{Capacity, Exchange, HeatModel, HeatSolver, HeatSpec, Scheme, Substance};

const UNIT: Substance = Substance {
    conductivity: 1.0,
    heat_capacity: 1.0,
    density: 1.0,
};

/// A metre of cubes.
fn bar(cells: u32) -> TetMesh {
    let width = 1.0 / cells as f32;
    lattice([cells, 1, 1], Vec3::new(1.0, width, width), Split::Six)
}

/// The vertices at x, held at `temperature`.
fn held(mesh: &TetMesh, x: f32, temperature: f64) -> impl Iterator<Item = (u32, f64)> {
    let at = (0..)
        .zip(&mesh.positions)
        .filter(move |(_, p)| (p.x - x).abs() < 1e-6);
    at.map(move |(vertex, _)| (vertex, temperature))
}

/// The outer faces that lie wholly at x.
fn faces_at(mesh: &TetMesh, x: f32) -> Vec<[u32; 3]> {
    let at = |v: &u32| (mesh.positions[*v as usize].x - x).abs() < 1e-6;
    mesh.surface()
        .into_iter()
        .filter(|t| t.iter().all(at))
        .collect()
}

#[test]
fn a_bar_between_two_temperatures_has_a_straight_profile() {
    let mesh = lattice([7, 2, 3], Vec3::new(1.0, 0.1, 0.1), Split::Five);
    let fixed = held(&mesh, 0.0, 20.0)
        .chain(held(&mesh, 1.0, 90.0))
        .collect();
    let spec = HeatSpec {
        mesh,
        fixed,
        ..HeatSpec::default()
    };
    let temperatures = HeatModel::new(&spec).unwrap().steady().unwrap();
    for (temperature, position) in temperatures.iter().zip(&spec.mesh.positions) {
        assert!((temperature - (20.0 + 70.0 * f64::from(position.x))).abs() < 1e-10);
    }
}

#[test]
fn flux_in_at_one_end_and_convection_out_at_the_other_balance() {
    let mesh = bar(5);
    let exchanges = vec![
        Exchange {
            triangles: faces_at(&mesh, 0.0),
            flux: 320.0,
            ..Exchange::default()
        },
        Exchange {
            triangles: faces_at(&mesh, 1.0),
            coefficient: 40.0,
            ambient: 20.0,
            ..Exchange::default()
        },
    ];
    let spec = HeatSpec {
        mesh,
        exchanges,
        ..HeatSpec::default()
    };
    let temperatures = HeatModel::new(&spec).unwrap().steady().unwrap();
    for (temperature, position) in temperatures.iter().zip(&spec.mesh.positions) {
        // 20 + q/h at the end, and q/k per metre up from there.
        let expected = 28.0 + 20.0 * (1.0 - f64::from(position.x));
        assert!(
            (temperature - expected).abs() < 1e-9,
            "{temperature} {expected}"
        );
    }
}

/// The largest error of the cosine that a bar with insulated ends keeps, relative to it, after `time`.
fn cosine_error(cells: u32, steps: u32, scheme: Scheme, capacity: Capacity) -> f64 {
    let time = 0.05;
    let spec = HeatSpec {
        mesh: bar(cells),
        substance: UNIT,
        capacity,
        ..HeatSpec::default()
    };
    let model = HeatModel::new(&spec).unwrap();
    let mode: Vec<f64> = spec
        .mesh
        .positions
        .iter()
        .map(|p| (PI * f64::from(p.x)).cos())
        .collect();
    let mut temperatures = mode.clone();
    let mut solver = HeatSolver::new(&model, time / f64::from(steps), scheme).unwrap();
    for _ in 0..steps {
        solver.step(&mut temperatures);
    }
    let decay = (-PI * PI * time).exp();
    let errors = temperatures
        .iter()
        .zip(&mode)
        .map(|(t, m)| (t - decay * m).abs() / decay);
    errors.fold(0.0, f64::max)
}

#[test]
fn a_cosine_decays_at_its_rate_to_the_order_of_the_scheme() {
    for capacity in [Capacity::Lumped, Capacity::Consistent] {
        let space = |cells| cosine_error(cells, 200, Scheme::CrankNicolson, capacity);
        let ratio = space(10) / space(20);
        assert!(
            space(20) < 5e-3 && (3.5..4.5).contains(&ratio),
            "{capacity:?} {} {ratio}",
            space(20)
        );
    }
    // In time, against a bar so fine that its own error does not show; and the difference of two steps where it does.
    let time = |steps, scheme| cosine_error(160, steps, scheme, Capacity::Lumped);
    let first = time(4, Scheme::ImplicitEuler) / time(8, Scheme::ImplicitEuler);
    assert!((1.8..2.2).contains(&first), "{first}");
    let second = time(2, Scheme::CrankNicolson) / time(4, Scheme::CrankNicolson);
    assert!((3.5..4.5).contains(&second), "{second}");
}

#[test]
fn an_insulated_body_keeps_its_heat() {
    for capacity in [Capacity::Lumped, Capacity::Consistent] {
        let mesh = lattice([4, 3, 2], Vec3::new(0.4, 0.3, 0.2), Split::Five);
        let model = HeatModel::new(&HeatSpec {
            mesh,
            capacity,
            ..HeatSpec::default()
        })
        .unwrap();
        let mut temperatures: Vec<f64> = (0..model.vertex_count())
            .map(|v| (v * 37 % 101) as f64)
            .collect();
        let before = model.energy(&temperatures);
        let mut solver = HeatSolver::new(&model, 600.0, Scheme::ImplicitEuler).unwrap();
        for _ in 0..200 {
            solver.step(&mut temperatures);
        }
        assert!((model.energy(&temperatures) / before - 1.0).abs() < 1e-12);
        // ρ c V T at the end, everywhere the same.
        let mean = before / (8000.0 * 500.0 * 0.024);
        assert!(temperatures.iter().all(|t| (t / mean - 1.0).abs() < 1e-3));
    }
}

/// A spoon's handle, 150 × 8 × 2 mm, in air, its lower end in tea.
fn spoon(substance: Substance) -> HeatSpec {
    let mesh = lattice([60, 2, 1], Vec3::new(0.15, 0.008, 0.002), Split::Five);
    let below = faces_at(&mesh, 0.0);
    let tip = faces_at(&mesh, 0.15);
    let sides = mesh
        .surface()
        .into_iter()
        .filter(|t| !below.contains(t) && !tip.contains(t))
        .collect();
    let air = Exchange {
        triangles: sides,
        coefficient: 12.0,
        ambient: 20.0,
        flux: 0.0,
    };
    let fixed = held(&mesh, 0.0, 85.0).collect();
    HeatSpec {
        mesh,
        substance,
        fixed,
        exchanges: vec![air],
        ..HeatSpec::default()
    }
}

#[test]
fn the_handle_of_a_spoon_in_tea_is_a_fin() {
    let spec = spoon(Substance::STEEL);
    let temperatures = HeatModel::new(&spec).unwrap().steady().unwrap();
    let (perimeter, section) = (0.02, 1.6e-5);
    let m = (12.0 * perimeter / (16.0_f64 * section)).sqrt();
    for (temperature, position) in temperatures.iter().zip(&spec.mesh.positions) {
        let along = f64::from(position.x);
        let expected = 20.0 + 65.0 * (m * (0.15 - along)).cosh() / (m * 0.15).cosh();
        // Across the handle the fin's theory takes one temperature: off by h · 4 mm / 2k of the difference.
        assert!(
            (temperature - expected).abs() < 0.2,
            "{along}: {temperature} {expected}"
        );
    }
}

#[test]
fn silver_burns_the_fingers_while_steel_is_still_cool() {
    let after_a_minute = [Substance::STEEL, Substance::SILVER].map(|substance| {
        let spec = spoon(substance);
        let model = HeatModel::new(&spec).unwrap();
        let mut temperatures = vec![20.0; model.vertex_count()];
        let mut solver = HeatSolver::new(&model, 0.5, Scheme::ImplicitEuler).unwrap();
        for _ in 0..120 {
            solver.step(&mut temperatures);
        }
        assert!(temperatures.iter().all(|t| (19.999..85.001).contains(t)));
        held(&spec.mesh, 0.1, 0.0)
            .map(|(v, _)| temperatures[v as usize])
            .fold(0.0, f64::max)
    });
    assert!(
        after_a_minute[0] < 21.0 && after_a_minute[1] > 45.0,
        "{after_a_minute:?}"
    );
}

#[test]
fn what_has_no_answer_is_refused() {
    let insulated = HeatModel::new(&HeatSpec {
        mesh: bar(2),
        ..HeatSpec::default()
    })
    .unwrap();
    // Nothing says how warm it is.
    let steady = insulated.steady();
    assert!(
        matches!(steady, Err(SimError::Undetermined))
            || steady.is_ok_and(|t| t.iter().all(|t| t.abs() < 1e-6))
    );
    assert!(matches!(
        HeatModel::new(&HeatSpec::default()),
        Err(SimError::Empty)
    ));
    let mut spec = HeatSpec {
        mesh: bar(1),
        fixed: vec![(99, 1.0)],
        ..HeatSpec::default()
    };
    assert!(matches!(
        HeatModel::new(&spec),
        Err(SimError::VertexOutOfRange { vertex: 99, .. })
    ));
    spec.fixed.clear();
    spec.mesh.tets[2].swap(0, 1);
    assert!(matches!(
        HeatModel::new(&spec),
        Err(SimError::Inverted { index: 2, .. })
    ));
    spec.substance.density = -1.0;
    assert!(matches!(
        HeatModel::new(&spec),
        Err(SimError::OutOfRange {
            what: "density",
            ..
        })
    ));
    assert!(HeatSolver::new(&insulated, f64::NAN, Scheme::default()).is_err());
}
