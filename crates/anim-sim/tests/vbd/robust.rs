//! Nothing that a step can contain breaks a body.

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::element::Material;
use anim_sim::{Drive, Model, Solver, State, Tether, Vbd, VbdOptions};

use crate::common::{hash, sheet};
use crate::{STILL, bar, chain, options, run, volume};

#[test]
fn a_stiff_solid_never_collapses() {
    let material = Material {
        young: 2e6,
        poisson: 0.49,
        ..Material::default()
    };
    let model = bar([10, 2, 2], Vec3::new(1.0, 0.2, 0.2), material, true);
    let rest = volume(&model, &State::new(&model));
    for substeps in [5, 10] {
        let mut state = State::new(&model);
        let mut solver = Vbd::new(&model, options(substeps, 1));
        for _ in 0..45 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
            let ratio = volume(&model, &state) / rest;
            assert!((0.98..1.05).contains(&ratio), "{substeps}: {ratio}");
        }
    }
}

#[test]
fn a_solid_turned_inside_out_recovers() {
    let material = Material {
        young: 1e5,
        poisson: 0.4,
        damping: 0.01,
        ..Material::default()
    };
    let model = bar([2, 2, 2], Vec3::new(0.2, 0.2, 0.2), material, false);
    let mut state = State::new(&model);
    for x in &mut state.positions {
        x.y = -x.y;
    }
    assert!(volume(&model, &state) < 0.0);
    run(&model, options(2, 20), &STILL, 240, &mut state);
    let ratio = volume(&model, &state) / volume(&model, &State::new(&model));
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn one_substep_is_stable_for_any_stiffness_and_mass() {
    for (stretch_compliance, density) in [(1.0, 0.2), (1e-3, 0.002), (1e-6, 0.2), (0.0, 2.0)] {
        let model = cloth::build(&ClothSpec {
            stretch_compliance,
            density,
            max_stretch: f32::INFINITY,
            ..sheet(20, true)
        })
        .unwrap();
        let mut state = State::new(&model);
        let mut solver = Vbd::new(&model, options(1, 4));
        for _ in 0..120 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
            let fastest = state.velocities.iter().map(|v| v.norm());
            let fastest = fastest.fold(0.0, f32::max);
            assert!(fastest < 12.0, "{stretch_compliance} {density}: {fastest}");
        }
    }
    // Next to each other: a heavy stiff end on light soft links.
    let mut spec = chain(8, 1.0, 0.0);
    spec.links[7].compliance = 0.0;
    spec.inverse_masses[8] = 1e-3;
    spec.inverse_masses[3] = 1e4;
    spec.positions[8].x = 0.3;
    let model = Model::new(spec).unwrap();
    let mut state = State::new(&model);
    run(&model, options(1, 2), &Drive::default(), 60, &mut state);
    assert!(state.is_finite());
    assert!(state.velocities.iter().all(|v| v.norm() < 20.0));
}

#[test]
fn tethers_hold_what_soft_links_would_not() {
    let mut spec = chain(20, 0.1, 2.0);
    spec.tethers = (1..=20)
        .map(|vertex| Tether {
            vertex,
            anchor: 0,
            max_length: 0.1 * vertex as f32 * 1.01,
        })
        .collect();
    let model = Model::new(spec).unwrap();
    let mut state = State::new(&model);
    run(&model, options(2, 10), &Drive::default(), 120, &mut state);
    for (i, x) in state.positions.iter().enumerate() {
        assert!(x.norm() <= 0.1 * i as f32 * 1.01 + 1e-4, "{i}: {x:?}");
    }
}

#[test]
fn a_jelly_lands_on_the_ground_and_stays_above() {
    let material = Material {
        young: 5e4,
        damping: 0.02,
        ..Material::default()
    };
    let model = bar([2, 2, 2], Vec3::new(0.2, 0.2, 0.2), material, false);
    let mut state = State::new(&model);
    let ground = Collider::new(
        Shape::Plane,
        Affine {
            translation: Vec3::new(0.0, -0.5, 0.0),
            ..Affine::IDENTITY
        },
    );
    let drive = Drive {
        colliders: &[ground],
        ..Drive::default()
    };
    let mut solver = Vbd::new(&model, VbdOptions::default());
    for _ in 0..180 {
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        assert!(state.positions.iter().all(|x| x.y > -0.5 - 1e-5));
    }
    let top = state.positions.iter().map(|x| x.y).fold(-1.0, f32::max);
    assert!((-0.32..-0.28).contains(&top), "{top}");
    assert!(state.velocities.iter().all(|v| v.norm() < 0.02));
}

#[test]
fn the_same_bits_come_from_any_number_of_threads() {
    let model = cloth::build(&sheet(80, true)).unwrap();
    let hashes = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut state = State::new(&model);
        let drive = Drive {
            wind: Vec3::new(0.5, 0.0, 2.0),
            ..Drive::default()
        };
        pool.build()
            .unwrap()
            .install(|| run(&model, options(2, 2), &drive, 20, &mut state));
        assert!(state.is_finite());
        hash(&state)
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn what_is_not_finite_does_not_spread_and_a_pause_changes_no_bit() {
    let model = cloth::build(&sheet(6, true)).unwrap();
    let mut state = State::new(&model);
    state.positions[20] = Vec3::new(f32::NAN, 0.0, 0.0);
    state.velocities[21] = Vec3::new(0.0, f32::INFINITY, 0.0);
    let broken = Drive {
        gravity: Vec3::new(f32::NAN, 0.0, 0.0),
        pins: &[(0, Vec3::new(f32::NAN, 0.0, 0.0)), (99, Vec3::zeros())],
        loads: &[(3, Vec3::x() * f32::NAN)],
        ..Drive::default()
    };
    run(&model, options(3, 3), &broken, 10, &mut state);
    assert!(state.is_finite());
    let before = hash(&state);
    let mut solver = Vbd::new(&model, VbdOptions::default());
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        solver.step(&model, &Drive::default(), dt, &mut state);
        assert_eq!(hash(&state), before);
    }
}
