//! Solids at rest: answers of textbooks, and what no discretisation may change.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod solids;

use anim_geom::tet::{Split, lattice};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::element::{Fiber, Law, Material};
use anim_sim::quasi_static::{self, QuasiStaticOptions};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{Drive, Link, Model, ModelSpec, State};
use solids::{bar, end, end_loads, tip, volume};

/// A metre long, a tenth of it thick.
fn beam(cells: [u32; 3], split: Split, law: Law, poisson: f32) -> Model {
    let material = Material {
        law,
        young: 1e6,
        poisson,
        ..Material::default()
    };
    bar(lattice(cells, Vec3::new(1.0, 0.1, 0.1), split), material)
}

fn equilibrium(model: &Model, force: Vec3) -> State {
    let mut state = State::new(model);
    let loads = end_loads(model, force);
    let drive = Drive {
        gravity: Vec3::zeros(),
        loads: &loads,
        ..Drive::default()
    };
    let options = QuasiStaticOptions::default();
    let outcome = quasi_static::solve(model, &drive, &mut state, &options);
    assert!(outcome.residual <= options.tolerance, "{outcome:?}");
    state
}

#[test]
fn a_cantilever_of_linear_tetrahedra_bends_as_far_as_that_discretisation_does() {
    // Shares of the deflection of Euler and Bernoulli, F L³ / 3EI, which the exact discrete solutions have.
    let table = [
        (Split::Five, 0.3, [0.357, 0.679, 0.893]),
        (Split::Five, 0.45, [0.329, 0.643, 0.868]),
        (Split::Six, 0.3, [0.221, 0.508, 0.793]),
        (Split::Six, 0.45, [0.110, 0.301, 0.603]),
    ];
    let thin = 0.1 / (3.0 * 1e6 * 1e-4 / 12.0);
    for (split, poisson, shares) in table {
        for (across, share) in [1, 2, 4].into_iter().zip(shares) {
            let model = beam([10 * across, across, across], split, Law::Linear, poisson);
            let state = equilibrium(&model, Vec3::y() * -0.1);
            let ratio = -tip(&model, &state).y / thin;
            assert!(
                (ratio / share - 1.0).abs() < 0.01,
                "{split:?} {poisson} {across}: {ratio}"
            );
        }
    }
}

#[test]
fn all_laws_agree_where_the_load_is_small() {
    let sag = |law| {
        let model = beam([10, 2, 2], Split::Five, law, 0.3);
        tip(&model, &equilibrium(&model, Vec3::y() * -0.1)).y
    };
    let linear = sag(Law::Linear);
    for law in [
        Law::Corotational,
        Law::StableNeoHookean,
        Law::StVenantKirchhoff,
    ] {
        // Geometric terms are of the order of the slope squared, (6 mm / 1 m)².
        assert!((sag(law) / linear - 1.0).abs() < 1e-4, "{law:?}");
    }
}

#[test]
fn a_turned_bar_under_a_turned_load_is_the_same_bar() {
    let turn = Transform {
        rotation: quat::from_axis_angle(Vec3::new(0.36, 0.48, 0.8), 2.0),
        ..Transform::IDENTITY
    };
    let affine = Affine::from(turn);
    for law in [
        Law::Corotational,
        Law::StableNeoHookean,
        Law::StVenantKirchhoff,
    ] {
        let model = beam([8, 2, 2], Split::Six, law, 0.4);
        let force = Vec3::y() * -20.0;
        let straight = equilibrium(&model, force);
        assert!(tip(&model, &straight).y < -0.1);
        let mut turned = State::new(&model);
        turned.teleport(&turn);
        let pins: Vec<(u32, Vec3)> = (0..model.vertex_count() as u32)
            .filter(|v| model.spec().inverse_masses[*v as usize] == 0.0)
            .map(|v| (v, turned.positions[v as usize]))
            .collect();
        let loads = end_loads(&model, affine.linear * force);
        let drive = Drive {
            gravity: Vec3::zeros(),
            loads: &loads,
            pins: &pins,
            ..Drive::default()
        };
        quasi_static::solve(&model, &drive, &mut turned, &QuasiStaticOptions::default());
        for (a, b) in turned.positions.iter().zip(&straight.positions) {
            let error = (a - affine.transform_point(*b)).norm();
            // The pins are rounded to f32, and the load is.
            assert!(error < 2e-6, "{law:?}: {error}");
        }
    }
}

#[test]
fn a_slender_bar_bends_as_the_elastica_does() {
    let model = {
        let material = Material {
            law: Law::Corotational,
            young: 1e6,
            poisson: 0.0,
            ..Material::default()
        };
        bar(
            lattice([40, 2, 2], Vec3::new(1.0, 0.05, 0.05), Split::Five),
            material,
        )
    };
    // What small loads make of the mesh is its bending stiffness: 3EI / L³ = F / δ.
    let small = 1e-4;
    let stiffness = -small / tip(&model, &equilibrium(&model, Vec3::y() * -small)).y / 3.0;
    for (load, down, back) in [
        (0.5, 0.16214, 0.01592),
        (1.0, 0.30172, 0.05643),
        (2.0, 0.49346, 0.16064),
        (5.0, 0.71379, 0.38763),
        (10.0, 0.81061, 0.55500),
    ] {
        let state = equilibrium(&model, Vec3::y() * (-load * stiffness));
        let moved = tip(&model, &state);
        // Shear and stretch of a bar of this thickness are below one per cent, as is what bent elements stiffen.
        assert!(
            (-moved.y - down).abs() < 0.01 * down + 1e-3,
            "{load}: {moved}"
        );
        assert!(
            (-moved.x - back).abs() < 0.02 * back + 1e-3,
            "{load}: {moved}"
        );
    }
}

#[test]
fn a_bar_twisted_by_half_a_turn_is_twisted_by_a_quarter_in_its_middle() {
    let model = beam([20, 2, 2], Split::Five, Law::StableNeoHookean, 0.45);
    let center = Vec3::new(0.0, 0.05, 0.05);
    let twisted = |angle: f32| -> Vec<(u32, Vec3)> {
        let rotation = quat::from_axis_angle(Vec3::x(), angle);
        end(&model)
            .map(|v| (v, rotation * (model.rest()[v as usize] - center) + center))
            .collect()
    };
    let poses: Vec<_> = (1..=6)
        .map(|k| twisted(std::f32::consts::PI * k as f32 / 6.0))
        .collect();
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    let options = QuasiStaticOptions::default();
    let sweep = quasi_static::sweep(&model, &poses, &drive, &options);
    assert!(
        sweep
            .iter()
            .all(|e| e.outcome.residual <= options.tolerance)
    );
    let last = &sweep[5].positions;
    let quarter = quat::from_axis_angle(Vec3::x(), std::f32::consts::FRAC_PI_2);
    for (x, rest) in last
        .iter()
        .zip(model.rest())
        .filter(|(_, rest)| rest.x == 0.5)
    {
        let expected = quarter * (rest - center) + center;
        // Cross-sections of a square bar warp, and the mirrored cells of the mesh are not symmetric to the last digit.
        assert!((x - expected).norm() < 0.01, "{x} {expected}");
    }
    let ratio = volume(&model, last) / 0.01;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn nearly_incompressible_bars_keep_their_volume_when_pulled() {
    let model = beam([10, 2, 2], Split::Five, Law::StableNeoHookean, 0.49);
    let pull = |stretch: f32| -> Vec<(u32, Vec3)> {
        let place = |v: u32| model.rest()[v as usize] + Vec3::x() * (stretch - 1.0);
        end(&model).map(|v| (v, place(v))).collect()
    };
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    let options = QuasiStaticOptions::default();
    let sweep = quasi_static::sweep(&model, [pull(1.3), pull(0.9)], &drive, &options);
    for equilibrium in sweep {
        assert!(equilibrium.outcome.residual <= options.tolerance);
        let ratio = volume(&model, &equilibrium.positions) / 0.01;
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    }
}

#[test]
fn muscle_shortens_thickens_and_keeps_its_volume() {
    let mesh = lattice([10, 3, 3], Vec3::new(0.2, 0.04, 0.04), Split::Five);
    let fibers = (0..mesh.tets.len() as u32)
        .map(|tet| Fiber {
            tet,
            direction: Vec3::x(),
            muscle: 0,
            max_stress: 3e5,
        })
        .collect();
    let model = soft::build(&SoftSpec {
        pinned: vec![0],
        material: Material {
            young: 3e4,
            poisson: 0.49,
            ..Material::default()
        },
        fibers,
        mesh,
        ..SoftSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let mut length = 0.2;
    for activation in [0.0, 0.05, 0.2] {
        let drive = Drive {
            gravity: Vec3::zeros(),
            activations: &[activation],
            ..Drive::default()
        };
        quasi_static::solve(&model, &drive, &mut state, &QuasiStaticOptions::default());
        let shorter = (state.positions[10] - state.positions[0]).norm();
        if activation > 0.0 {
            assert!(shorter < 0.95 * length, "{activation}: {shorter}");
        } else {
            assert!((shorter - 0.2).abs() < 1e-6);
        }
        length = shorter;
        let ratio = volume(&model, &state.positions) / 3.2e-4;
        assert!((ratio - 1.0).abs() < 0.01, "{activation}: {ratio}");
    }
}

#[test]
fn a_chain_hangs_as_a_catenary() {
    let links = 48u32;
    let at = |i: u32| i as f32 / links as f32;
    let length = 1.2 / links as f32;
    let model = Model::new(ModelSpec {
        // Begins as a parabola of about that length.
        positions: (0..=links)
            .map(|i| Vec3::new(at(i), -1.15 * at(i) * (1.0 - at(i)), 0.0))
            .collect(),
        inverse_masses: (0..=links)
            .map(|i| if i == 0 || i == links { 0.0 } else { 100.0 })
            .collect(),
        links: (0..links)
            .map(|i| Link {
                vertices: [i, i + 1],
                rest_length: length,
                compliance: 1e-7,
            })
            .collect(),
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let options = QuasiStaticOptions::default();
    let outcome = quasi_static::solve(&model, &Drive::default(), &mut state, &options);
    assert!(outcome.residual <= options.tolerance, "{outcome:?}");
    let sag = -state.positions[links as usize / 2].y;
    // A chain of n links is off by O(1/n²) of its sag.
    assert!((sag - 0.292_344).abs() < 0.3 / (48.0 * 48.0), "{sag}");
}

#[test]
fn sweeps_are_the_same_on_any_number_of_threads_and_report_what_they_cannot_reach() {
    let model = beam([6, 2, 2], Split::Five, Law::StableNeoHookean, 0.4);
    let bent = |down: f32| -> Vec<(u32, Vec3)> {
        let place = |v: u32| model.rest()[v as usize] - Vec3::y() * down;
        end(&model).map(|v| (v, place(v))).collect()
    };
    let few = QuasiStaticOptions {
        max_iterations: 1,
        ..QuasiStaticOptions::default()
    };
    let run = |threads, options: QuasiStaticOptions| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let poses = [bent(0.2), bent(0.4), bent(-0.3)];
            quasi_static::sweep(&model, poses, &Drive::default(), &options)
        })
    };
    let one = run(1, QuasiStaticOptions::default());
    assert_eq!(one, run(3, QuasiStaticOptions::default()));
    assert!(one.iter().all(|e| e.outcome.residual <= 1e-6));
    assert!(run(1, few)[0].outcome.residual > 1e-6);
}
