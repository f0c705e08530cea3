//! The equilibria that constraints have, and what does not change them.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use anim_geom::primitives;
use anim_math::{Vec3, quat};
use anim_sim::element::{Area, Cluster, Membrane, Volume};
use anim_sim::{Drive, Link, Model, ModelSpec, Solver, State, Xpbd};
use common::{STILL, hash, run};

#[test]
fn stiffness_depends_on_neither_step_nor_iterations() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::y(), Vec3::zeros()],
        inverse_masses: vec![0.0, 1.0],
        links: vec![Link {
            vertices: [0, 1],
            rest_length: 1.0,
            compliance: 0.01,
        }],
        damping: 4.0,
        ..ModelSpec::default()
    })
    .unwrap();
    for (dt, substeps, iterations) in [
        (1.0 / 30.0, 1, 1),
        (1.0 / 60.0, 1, 20),
        (1.0 / 60.0, 4, 5),
        (1.0 / 144.0, 2, 2),
    ] {
        let mut state = State::new(&model);
        let mut solver = Xpbd::with_iterations(&model, substeps, iterations);
        for _ in 0..(8.0 / dt) as u32 {
            solver.step(&model, &Drive::default(), dt, &mut state);
        }
        let stretch = -state.positions[1].y;
        assert!(
            (stretch - 0.0981).abs() < 1e-4,
            "{dt} {substeps} {iterations}: {stretch}"
        );
    }
}

#[test]
fn a_plain_projection_would_stiffen_with_iterations() {
    // What position-based dynamics did before compliance: moving by a share k of the violation leaves (1 − k)ⁿ of it, so
    // its material is that of the iteration count.
    let k = 0.3f64;
    let left = |n: u32| (0..n).fold(1.0, |violation, _| violation * (1.0 - k));
    for n in [1, 5, 20] {
        let effective = 1.0 - left(n);
        let expected = 1.0 - libm::pow(1.0 - k, f64::from(n));
        assert!((effective - expected).abs() < 1e-12);
    }
    assert!(1.0 - left(20) > 3.0 * (1.0 - left(1)));
}

#[test]
fn viscosity_damps_stretching_and_not_spinning_nor_equilibria() {
    let pair = |viscosity, pinned| {
        Model::new(ModelSpec {
            positions: vec![Vec3::y(), Vec3::zeros()],
            inverse_masses: vec![if pinned { 0.0 } else { 1.0 }, 1.0],
            links: vec![Link {
                vertices: [0, 1],
                rest_length: 1.0,
                compliance: 0.01,
            }],
            viscosity,
            ..ModelSpec::default()
        })
        .unwrap()
    };
    // A mass on a spring of ω = 10/s with viscosity τ decays as e^(−ω²τt/2).
    let model = pair(0.02, true);
    let mut state = State::new(&model);
    run(&model, 40, &Drive::default(), 480, &mut state);
    assert!(
        (state.positions[1].y + 0.0981).abs() < 1e-3,
        "{:?}",
        state.positions[1]
    );
    assert!(
        state.velocities[1].norm() < 2e-2,
        "{:?}",
        state.velocities[1]
    );

    let spin = |viscosity| {
        let model = pair(viscosity, false);
        let mut state = State::new(&model);
        // At the radius where the spring carries the turning: k (2r − 1) = m ω² r with ω = 1.
        let radius = 100.0 / (200.0 - 1.0);
        state.positions = vec![Vec3::y() * radius, Vec3::y() * -radius];
        state.velocities = vec![Vec3::x() * radius, Vec3::x() * -radius];
        run(&model, 4, &STILL, 120, &mut state);
        let v = (state.velocities[0] - state.velocities[1]).norm() / 2.0;
        v / radius
    };
    let (free, damped) = (spin(0.0), spin(0.1));
    assert!((damped - free).abs() < 2e-3, "{damped} {free}");
}

#[test]
fn a_loaded_membrane_strains_as_its_threads_say() {
    // A square pulled along the warp by p N/m: StVK, k₀ E (1 + e) = p with E = e + e²/2.
    let square = |pull_weft: bool| {
        let spec = ModelSpec {
            positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::x() + Vec3::y()],
            inverse_masses: vec![20.0; 4],
            membranes: [[0, 1, 2], [3, 2, 1]]
                .map(|vertices| Membrane {
                    vertices,
                    material: vertices.map(|v: u32| [(v % 2) as f32, (v / 2) as f32]),
                    stiffness: [400.0, 100.0, 50.0],
                    limits: [0.0, f32::INFINITY],
                })
                .to_vec(),
            damping: 8.0,
            ..ModelSpec::default()
        };
        let model = Model::new(spec).unwrap();
        let mut state = State::new(&model);
        // Half of the pull of each edge at each of its ends.
        let axis = if pull_weft { Vec3::y() } else { Vec3::x() };
        let loads: Vec<(u32, Vec3)> = model
            .rest()
            .iter()
            .enumerate()
            .map(|(v, x)| {
                (
                    v as u32,
                    axis * (if x.dot(&axis) > 0.5 { 10.0 } else { -10.0 }),
                )
            })
            .collect();
        let drive = Drive {
            loads: &loads,
            ..STILL
        };
        run(&model, 20, &drive, 240, &mut state);
        let across = if pull_weft { Vec3::x() } else { Vec3::y() };
        let extent = |axis: &Vec3| {
            let along = state.positions.iter().map(|x| x.dot(axis));
            along.clone().fold(f32::MIN, f32::max) - along.fold(f32::MAX, f32::min)
        };
        (extent(&axis), extent(&across))
    };
    for (pull_weft, k) in [(false, 400.0), (true, 100.0)] {
        let (along, across) = square(pull_weft);
        let stress = k * 0.5 * (along * along - 1.0) * along;
        assert!((stress - 20.0).abs() < 0.2, "{pull_weft}: {along} {stress}");
        assert!((across - 1.0).abs() < 2e-3, "{pull_weft}: {across}");
    }
}

#[test]
fn a_membrane_stops_at_its_limit() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y() * -1.0],
        inverse_masses: vec![0.0, 0.0, 1.0],
        membranes: vec![Membrane {
            vertices: [0, 1, 2],
            material: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
            stiffness: [0.1, 0.1, 0.1],
            limits: [0.9, 1.1],
        }],
        damping: 2.0,
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    run(&model, 20, &Drive::default(), 300, &mut state);
    let x = state.positions[2];
    // The line along which it stretches most measures 1.1 of its rest.
    let warp = Vec3::x();
    let weft = -x;
    let (a, b, d) = (warp.norm_squared(), warp.dot(&weft), weft.norm_squared());
    let most = ((a + d) / 2.0 + (((a - d) / 2.0).powi(2) + b * b).sqrt()).sqrt();
    assert!((most - 1.1).abs() < 2e-3, "{most} at {x:?}");
}

#[test]
fn a_balloon_holds_its_pressure_against_its_skin() {
    let sphere = primitives::sphere(0.5, 16, 12);
    let positions = sphere.rest.positions.clone();
    let first = anim_geom::topology::weld(&positions);
    let triangles: Vec<[u32; 3]> = sphere
        .triangles
        .iter()
        .map(|t| t.map(|v| first[v as usize]))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let (skin, air) = (2e-4, 1e-3);
    let model = Model::new(ModelSpec {
        inverse_masses: vec![1.0; positions.len()],
        links: edges
            .iter()
            .map(|&[a, b]| Link {
                vertices: [a, b],
                rest_length: (positions[a as usize] - positions[b as usize]).norm(),
                compliance: skin,
            })
            .collect(),
        volumes: vec![Volume {
            triangles: triangles.clone(),
            rest_volume: 0.8,
            compliance: air,
        }],
        positions,
        damping: 8.0,
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    run(&model, 20, &STILL, 240, &mut state);
    let volume = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| state.positions[v as usize].cast::<f64>());
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum::<f64>();
    let pressure = (0.8 - volume) / f64::from(air);
    // Clausius: in equilibrium the forces' virial vanishes, Σ tension × length = 3 p V.
    let virial: f64 = model
        .spec()
        .links
        .iter()
        .map(|link| {
            let [a, b] = link
                .vertices
                .map(|v| state.positions[v as usize].cast::<f64>());
            let length = (a - b).norm();
            (length - f64::from(link.rest_length)) / f64::from(skin) * length
        })
        .sum();
    assert!(volume > 0.52 && pressure > 100.0, "{volume} {pressure}");
    let ratio = virial / (3.0 * pressure * volume);
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
}

#[test]
fn shape_matching_follows_every_rotation_of_solid_flat_and_straight_shapes() {
    let shapes: [Vec<Vec3>; 3] = [
        (0..8u8)
            .map(|i| {
                Vec3::new(
                    f32::from(i & 1),
                    f32::from(i >> 1 & 1) * 1.5,
                    f32::from(i >> 2) * 2.0,
                )
            })
            .collect(),
        (0..9u8)
            .map(|i| Vec3::new(f32::from(i % 3), f32::from(i / 3) * 0.7, 0.0))
            .collect(),
        (0..4u8).map(|i| Vec3::x() * f32::from(i)).collect(),
    ];
    for (name, positions) in shapes.into_iter().enumerate() {
        let count = positions.len();
        let model = Model::new(ModelSpec {
            inverse_masses: (0..count).map(|i| 0.5 + i as f32).collect(),
            clusters: vec![Cluster {
                vertices: (0..count as u32).collect(),
                compliance: 0.0,
            }],
            positions,
            ..ModelSpec::default()
        })
        .unwrap();
        let half_turn = std::f32::consts::PI;
        for (axis, angle) in [
            (Vec3::x(), half_turn),
            (Vec3::y(), half_turn),
            (Vec3::z(), half_turn),
            (Vec3::new(1.0, 1.0, 0.0).normalize(), half_turn),
            (Vec3::new(1.0, -2.0, 0.5).normalize(), 2.5),
            (Vec3::z(), 1.2),
        ] {
            let rotation = quat::from_axis_angle(axis, angle);
            let goal: Vec<Vec3> = model
                .rest()
                .iter()
                .map(|x| rotation * x + Vec3::x())
                .collect();
            let mut state = State::new(&model);
            state.reset(&goal);
            run(&model, 1, &STILL, 1, &mut state);
            for (x, goal) in state.positions.iter().zip(&goal) {
                assert!(
                    (x - goal).norm() < 2e-5,
                    "shape {name} axis {axis:?} {angle}: {x:?} {goal:?}"
                );
            }
        }
    }
}

#[test]
fn coincident_particles_part_in_a_way_that_repeats() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::x(); 2],
        inverse_masses: vec![1.0, 1.0],
        links: vec![Link {
            vertices: [0, 1],
            rest_length: 1.0,
            compliance: 0.0,
        }],
        ..ModelSpec::default()
    })
    .unwrap();
    let hashes = [0, 1].map(|_| {
        let mut state = State::new(&model);
        run(&model, 5, &STILL, 1, &mut state);
        assert!(state.is_finite());
        let [a, b] = [state.positions[0], state.positions[1]];
        assert!(((a - b).norm() - 1.0).abs() < 1e-3, "{a:?} {b:?}");
        hash(&state)
    });
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn a_seam_closes_at_its_speed_and_holds() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x()],
        inverse_masses: vec![1.0, 1.0],
        seams: vec![[0, 1]],
        seam_speed: 0.5,
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    run(&model, 10, &STILL, 30, &mut state);
    let gap = (state.positions[0] - state.positions[1]).norm();
    assert!(gap > 0.2 && gap < 0.8, "{gap}");
    run(&model, 10, &STILL, 300, &mut state);
    let gap = (state.positions[0] - state.positions[1]).norm();
    assert!(gap < 1e-5, "{gap}");
}

#[test]
fn a_load_stretches_a_spring_by_force_times_compliance() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::x(), Vec3::zeros()],
        inverse_masses: vec![0.0, 1.0],
        links: vec![Link {
            vertices: [0, 1],
            rest_length: 1.0,
            compliance: 0.01,
        }],
        damping: 4.0,
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    // Loads on one vertex add up; those on a pinned vertex, on none and of no number do nothing.
    let loads = [
        (1, Vec3::x() * -7.0),
        (1, Vec3::x() * -3.0),
        (0, Vec3::y()),
        (7, Vec3::y()),
        (1, Vec3::y() * f32::NAN),
    ];
    let drive = Drive {
        loads: &loads,
        ..STILL
    };
    run(&model, 4, &drive, 480, &mut state);
    assert!(
        (state.positions[1] - Vec3::x() * -0.1).norm() < 1e-4,
        "{:?}",
        state.positions[1]
    );
}

#[test]
fn a_slanted_sheet_rises_in_the_wind() {
    let slant = quat::from_axis_angle(Vec3::z(), -std::f32::consts::FRAC_PI_4);
    let mut spec = common::sheet(6, false);
    for x in &mut spec.positions {
        *x = slant * *x;
    }
    spec.damping = 0.0;
    let built = anim_sim::cloth::build(&spec).unwrap();
    let gain = |drag, lift| {
        let model = Model::new(ModelSpec {
            drag,
            lift,
            ..built.spec().clone()
        })
        .unwrap();
        let mut state = State::new(&model);
        let drive = Drive {
            wind: Vec3::x() * 2.0,
            ..STILL
        };
        Xpbd::new(&model, 20).step(&model, &drive, 1.0 / 600.0, &mut state);
        let sum: Vec3 = state.velocities.iter().sum();
        sum / state.velocities.len() as f32 * 600.0
    };
    // The normal is (s, s, 0): lift at 45° is ρ u² s² ... of a coefficient c: c |u| / 2 upwards over 0.2 kg/m².
    let lift = gain(0.0, 0.1);
    assert!((lift.y - 0.5 * 0.1 * 2.0 / 0.2).abs() < 0.01, "{lift:?}");
    assert!(lift.x.abs() < 0.01, "no work on the air: {lift:?}");
    let drag = gain(0.1, 0.0);
    assert!((drag.x - drag.y).abs() < 0.01, "along the normal: {drag:?}");
}

#[test]
fn an_outcome_tells_violations_and_speeds() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x(), Vec3::x() * 5.0],
        inverse_masses: vec![0.0, 0.0, 1.0],
        links: vec![Link {
            vertices: [0, 1],
            rest_length: 0.75,
            compliance: 0.0,
        }],
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    state.velocities[2] = Vec3::x() * 5000.0;
    let outcome = Xpbd::new(&model, 3).step(&model, &STILL, 0.01, &mut state);
    assert_eq!(
        (outcome.residual, outcome.iterations, outcome.slowed),
        (0.25, 3, 1)
    );
}

#[test]
fn an_area_yields_by_force_times_compliance() {
    // On a base of 1 m, A = y/2, and a pull of F on the apex is (A − A₀) / α · ½.
    let (compliance, pull) = (0.01, 10.0);
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.4, 1.0, 0.0)],
        inverse_masses: vec![0.0, 0.0, 1.0],
        areas: vec![Area {
            vertices: [0, 1, 2],
            rest_area: 0.5,
            compliance,
        }],
        damping: 4.0,
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let drive = Drive {
        loads: &[(2, Vec3::y() * pull)],
        ..STILL
    };
    run(&model, 4, &drive, 480, &mut state);
    let height = state.positions[2].y;
    assert!(
        (height - (1.0 + 4.0 * compliance * pull)).abs() < 1e-3,
        "{height}"
    );
}
