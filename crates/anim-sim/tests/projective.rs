//! The quality mode of cloth: inextensible, the answers of statics, and that nothing breaks it.
#![cfg(feature = "solve")]
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use anim_geom::tet::{Split, lattice};
use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3, nalgebra};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::element::{Flex, Hinge, Material, Membrane, Tet};
use anim_sim::{
    Drive, Link, Model, ModelSpec, Outcome, Projective, ProjectiveOptions, Solver, State, Vbd,
    VbdOptions,
};
use common::{hash, sheet};

fn options(substeps: u32, iterations: u32) -> ProjectiveOptions {
    ProjectiveOptions {
        substeps,
        iterations,
        tolerance: 1e-8,
        ..ProjectiveOptions::default()
    }
}

fn run(
    model: &Model,
    options: ProjectiveOptions,
    drive: &Drive<'_>,
    frames: u32,
    state: &mut State,
) -> Outcome {
    let mut solver = Projective::new(model, options);
    let mut outcome = Outcome::default();
    for _ in 0..frames {
        outcome = solver.step(model, drive, 1.0 / 60.0, state);
    }
    outcome
}

/// A chain along −y from a pinned particle, 0.1 m a link, 1 kg a particle.
fn chain(links: u32, compliance: f32, damping: f32) -> ModelSpec {
    ModelSpec {
        positions: (0..=links).map(|i| Vec3::y() * (-0.1 * i as f32)).collect(),
        inverse_masses: (0..=links)
            .map(|i| if i == 0 { 0.0 } else { 1.0 })
            .collect(),
        links: (0..links)
            .map(|i| Link {
                vertices: [i, i + 1],
                rest_length: 0.1,
                compliance,
            })
            .collect(),
        damping,
        ..ModelSpec::default()
    }
}

/// Edges only, as the sheet of other engines is measured.
fn edges_only(n: u32, stretch_compliance: f32) -> ClothSpec {
    ClothSpec {
        stretch_compliance,
        ..common::edges_only(n)
    }
}

/// Mean and greatest stretch of the edges in the hanging direction.
fn stretch(state: &State, n: u32) -> (f32, f32) {
    let count = (n * (n - 1)) as usize;
    let each = (0..count).map(|v| {
        (state.positions[v] - state.positions[v + n as usize]).norm() * (n - 1) as f32 - 1.0
    });
    (
        each.clone().sum::<f32>() / count as f32,
        each.fold(0.0, f32::max),
    )
}

#[test]
fn a_chain_stretches_at_each_link_by_the_weight_below_for_any_step_and_damping() {
    for (dt, substeps, damping) in [(1.0 / 30.0, 1, 4.0), (1.0 / 60.0, 3, 2.0)] {
        let model = Model::new(chain(8, 1e-3, damping)).unwrap();
        let mut state = State::new(&model);
        let mut solver = Projective::new(&model, options(substeps, 20));
        for _ in 0..(10.0 / dt) as u32 {
            solver.step(&model, &Drive::default(), dt, &mut state);
        }
        for link in 0..8 {
            let length = (state.positions[link] - state.positions[link + 1]).norm();
            let expected = 0.1 + 1e-3 * 9.81 * (8 - link) as f32;
            assert!((length - expected).abs() < 2e-6, "link {link}: {length}");
        }
    }
}

#[test]
fn a_hanging_sheet_does_not_stretch_beyond_its_material() {
    let n = 30;
    for compliance in [1e-3, 1e-5] {
        let model = cloth::build(&edges_only(n, compliance)).unwrap();
        let mut state = State::new(&model);
        let outcome = run(
            &model,
            ProjectiveOptions::default(),
            &Drive::default(),
            60,
            &mut state,
        );
        let (mean, most) = stretch(&state, n);
        println!("compliance {compliance}: stretch {mean:.5}, at most {most:.5}, {outcome:?}");
        // At rest it would be ρgL/2k: 0.098 % and 0.001 %.
        assert!(mean.abs() < 1e-3, "{mean}");
        assert!(most < 0.02, "{most}");
    }
}

#[test]
fn a_sheet_at_rest_has_the_static_strain() {
    let n = 20;
    let model = cloth::build(&ClothSpec {
        damping: 6.0,
        ..edges_only(n, 1e-3)
    })
    .unwrap();
    let mut state = State::new(&model);
    // Hung already, so that it does not crumple.
    for x in &mut state.positions {
        *x = Vec3::new(x.x, -x.z, 0.0);
    }
    let outcome = run(&model, options(1, 20), &Drive::default(), 240, &mut state);
    let (mean, most) = stretch(&state, n);
    // ρgL/2k in the mean, on n columns of springs for n − 1 columns of cells; the top edge carries nearly all.
    let columns = (n - 1) as f32 / n as f32;
    let expected = 0.2 * 9.81 / (2.0 * 1e3) * columns;
    assert!((mean / expected - 1.0).abs() < 0.01, "{mean} {expected}");
    assert!((most / expected - 2.0).abs() < 0.1, "{most} {expected}");
    assert!(outcome.residual < 1e-6, "{outcome:?}");
}

#[test]
fn history_converges_where_plain_projective_dynamics_crawls() {
    let model = cloth::build(&edges_only(20, 1e-5)).unwrap();
    let after = |history, iterations| {
        let mut state = State::new(&model);
        let options = ProjectiveOptions {
            substeps: 1,
            iterations,
            tolerance: 0.0,
            history,
        };
        // It falls and swings: what is not converged lags behind.
        run(&model, options, &Drive::default(), 25, &mut state);
        state
    };
    let exact = after(16, 150);
    let error = |history| {
        let state = after(history, 20);
        let pairs = state.positions.iter().zip(&exact.positions);
        pairs.map(|(a, b)| (a - b).norm()).sum::<f32>() / 400.0
    };
    let (plain, quasi_newton) = (error(0), error(8));
    println!("mean error: plain {plain:.5} m, history {quasi_newton:.5} m");
    assert!(quasi_newton < 0.5 * plain, "{quasi_newton} {plain}");
}

#[test]
fn it_agrees_with_vertex_block_descent() {
    let mut spec = chain(6, 1e-3, 0.5);
    for (i, x) in spec.positions.iter_mut().enumerate() {
        *x = Vec3::x() * (0.1 * i as f32);
    }
    let model = Model::new(spec).unwrap();
    let mut states = [State::new(&model), State::new(&model)];
    run(
        &model,
        options(2, 200),
        &Drive::default(),
        30,
        &mut states[0],
    );
    let mut solver = Vbd::new(
        &model,
        VbdOptions {
            substeps: 2,
            iterations: 400,
            spectral_radius: 0.0,
        },
    );
    for _ in 0..30 {
        solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut states[1]);
    }
    let [a, b] = &states;
    for (a, b) in a.positions.iter().zip(&b.positions) {
        assert!((a - b).norm() < 1e-4, "{a} {b}");
    }
}

#[test]
fn solids_hinges_flexes_and_membranes_take_part() {
    // The same equilibrium as vertex block descent, which has its own tests of each.
    let bar = lattice([4, 1, 1], Vec3::new(0.4, 0.1, 0.1), Split::Five);
    let solid = ModelSpec {
        inverse_masses: bar
            .positions
            .iter()
            .map(|x| if x.x == 0.0 { 0.0 } else { 5.0 })
            .collect(),
        tets: bar
            .tets
            .iter()
            .map(|tet| Tet {
                vertices: *tet,
                material: 0,
            })
            .collect(),
        positions: bar.positions,
        materials: vec![Material {
            young: 1e5,
            poisson: 0.3,
            ..Material::default()
        }],
        damping: 4.0,
        ..ModelSpec::default()
    };
    let wing = |hinges, flexes| ModelSpec {
        positions: vec![
            Vec3::zeros(),
            Vec3::x(),
            Vec3::new(0.5, 0.0, -1.0),
            Vec3::new(0.5, 0.0, 1.0),
        ],
        inverse_masses: vec![0.0, 0.0, 0.0, 1.0],
        membranes: vec![Membrane {
            vertices: [1, 0, 3],
            material: [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]],
            stiffness: [1e4, 1e4, 1e3],
            limits: [0.0, f32::INFINITY],
        }],
        hinges,
        flexes,
        damping: 6.0,
        ..ModelSpec::default()
    };
    let vertices = [0, 1, 2, 3];
    let hinged = wing(
        vec![Hinge {
            vertices,
            rest_angle: 0.3,
            compliance: 0.05,
        }],
        Vec::new(),
    );
    let flexed = wing(
        Vec::new(),
        vec![Flex {
            vertices,
            stiffness: 20.0,
        }],
    );
    for spec in [solid, hinged, flexed] {
        let model = Model::new(spec).unwrap();
        let mut states = [State::new(&model), State::new(&model)];
        run(
            &model,
            options(1, 30),
            &Drive::default(),
            400,
            &mut states[0],
        );
        let mut solver = Vbd::new(
            &model,
            VbdOptions {
                substeps: 1,
                iterations: 30,
                spectral_radius: 0.0,
            },
        );
        for _ in 0..300 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut states[1]);
        }
        let moved = states[0].positions.iter().zip(model.rest());
        let moved = moved.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
        assert!(moved > 0.005, "{moved}");
        for (a, b) in states[0].positions.iter().zip(&states[1].positions) {
            assert!((a - b).norm() < 2e-3 * moved, "{a} {b}");
        }
    }
}

#[test]
fn a_free_sheet_keeps_its_momentum() {
    let model = cloth::build(&ClothSpec {
        damping: 0.0,
        drag: 0.0,
        ..sheet(10, false)
    })
    .unwrap();
    let mut state = State::new(&model);
    for (v, velocity) in state.velocities.iter_mut().enumerate() {
        let k = v as f32;
        *velocity = Vec3::new((k * 0.7).sin(), (k * 1.3).cos(), (k * 2.1).sin()) + Vec3::x();
    }
    let momentum = |state: &State| {
        let masses = model.spec().inverse_masses.iter().map(|w| 1.0 / w);
        let each = masses.zip(&state.velocities);
        each.map(|(m, v)| (v * m).cast::<f64>())
            .sum::<nalgebra::Vector3<f64>>()
    };
    let before = momentum(&state);
    let still = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    // A and the pairs of the history know no direction in space, so no iteration, however few, loses any.
    run(&model, options(2, 5), &still, 30, &mut state);
    let error = (momentum(&state) - before).norm() / before.norm();
    assert!(error < 1e-5, "{error}");
}

#[test]
fn pins_may_change_from_step_to_step_and_are_met() {
    let model = cloth::build(&sheet(8, true)).unwrap();
    let mut state = State::new(&model);
    let mut solver = Projective::new(&model, ProjectiveOptions::default());
    for frame in 0..20 {
        let goal = Vec3::new(1.0, 0.02 * frame as f32, 1.0);
        let pins = if frame % 4 < 2 {
            vec![(63, goal)]
        } else {
            Vec::new()
        };
        let drive = Drive {
            pins: &pins,
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        for (vertex, goal) in pins {
            assert_eq!(state.positions[vertex as usize], goal);
        }
        assert!(state.is_finite());
        assert!(state.velocities.iter().all(|v| v.norm() < 20.0));
    }
}

#[test]
fn it_is_stable_for_any_stiffness_and_mass() {
    for (stretch_compliance, density) in [(1.0, 0.2), (1e-3, 0.002), (1e-6, 0.2), (0.0, 2.0)] {
        let model = cloth::build(&ClothSpec {
            stretch_compliance,
            density,
            max_stretch: f32::INFINITY,
            ..sheet(14, true)
        })
        .unwrap();
        let mut state = State::new(&model);
        let mut solver = Projective::new(&model, options(1, 4));
        for _ in 0..120 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
            let speeds = state.velocities.iter().map(|v| v.norm());
            let fastest = speeds.fold(0.0, f32::max);
            assert!(fastest < 12.0, "{stretch_compliance} {density}: {fastest}");
        }
    }
}

#[test]
fn cloth_drapes_over_a_ball() {
    let model = cloth::build(&sheet(16, false)).unwrap();
    let mut state = State::new(&model);
    let mut ball = Collider::new(
        Shape::Sphere { radius: 0.3 },
        Affine {
            translation: Vec3::new(0.5, -0.4, 0.5),
            ..Affine::IDENTITY
        },
    );
    ball.friction = 1.0;
    let drive = Drive {
        colliders: &[ball],
        ..Drive::default()
    };
    run(&model, ProjectiveOptions::default(), &drive, 60, &mut state);
    let center = Vec3::new(0.5, -0.4, 0.5);
    for x in &state.positions {
        assert!((x - center).norm() > 0.305 - 1e-5, "{x}");
    }
    assert!(
        state.positions[8 * 16 + 8].y > -0.15,
        "it hangs on the ball"
    );
}

#[test]
fn the_same_bits_come_again_and_a_pause_changes_none() {
    let model = cloth::build(&sheet(20, true)).unwrap();
    let hashes = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut state = State::new(&model);
        pool.build().unwrap().install(|| {
            run(
                &model,
                ProjectiveOptions::default(),
                &Drive::default(),
                10,
                &mut state,
            )
        });
        let before = hash(&state);
        let mut solver = Projective::new(&model, ProjectiveOptions::default());
        for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            solver.step(&model, &Drive::default(), dt, &mut state);
            assert_eq!(hash(&state), before);
        }
        before
    });
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn what_is_not_finite_does_not_spread() {
    let model = cloth::build(&sheet(6, true)).unwrap();
    let mut state = State::new(&model);
    state.positions[20] = Vec3::new(f32::NAN, 0.0, 0.0);
    state.velocities[21] = Vec3::new(0.0, f32::INFINITY, 0.0);
    let broken = Drive {
        gravity: Vec3::new(f32::NAN, 0.0, 0.0),
        pins: &[(0, Vec3::new(f32::NAN, 0.0, 0.0)), (99, Vec3::zeros())],
        loads: &[(3, Vec3::x() * f32::NAN), (77, Vec3::x())],
        ..Drive::default()
    };
    run(
        &model,
        ProjectiveOptions::default(),
        &broken,
        10,
        &mut state,
    );
    assert!(state.is_finite());
    // Everything held: there is nothing to solve.
    let all: Vec<_> = (0..36).map(|v| (v, model.rest()[v as usize])).collect();
    let held = Drive {
        pins: &all,
        ..Drive::default()
    };
    run(&model, ProjectiveOptions::default(), &held, 2, &mut state);
    assert_eq!(state.positions, model.rest());
}
