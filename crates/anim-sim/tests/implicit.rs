//! Motion under implicit integration: orders of accuracy, what is conserved, and what no step may break.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;
mod solids;

use anim_geom::tet::{Split, lattice};
use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3};
use anim_sim::cloth;
use anim_sim::element::{Law, Material, Membrane};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{
    Drive, Implicit, ImplicitOptions, Link, Model, ModelSpec, Solver, State, TimeScheme,
};
use common::{hash, sheet};
use solids::{bar, end, tip, volume};

const FRAME: f32 = 1.0 / 60.0;

/// Nothing acts.
fn space<'a>() -> Drive<'a> {
    Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    }
}

/// A kilogram on a spring of 1 N/m of no length.
fn oscillator() -> Model {
    Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x()],
        inverse_masses: vec![0.0, 1.0],
        links: vec![Link {
            vertices: [0, 1],
            rest_length: 0.0,
            compliance: 1.0,
        }],
        ..ModelSpec::default()
    })
    .unwrap()
}

/// Distance in phase space from where an oscillator is after 10 s, (cos 10, −sin 10).
fn error(scheme: TimeScheme, substeps: u32) -> f32 {
    let model = oscillator();
    let mut state = State::new(&model);
    let mut solver = Implicit::new(
        &model,
        ImplicitOptions {
            substeps,
            scheme,
            ..ImplicitOptions::default()
        },
    );
    for _ in 0..20 {
        solver.step(&model, &space(), 0.5, &mut state);
    }
    let x = state.positions[1].x - 10f32.cos();
    let v = state.velocities[1].x + 10f32.sin();
    x.hypot(v)
}

#[test]
fn implicit_euler_is_of_first_order_and_bdf2_of_second() {
    let [coarse, fine] = [50, 100].map(|n| error(TimeScheme::ImplicitEuler, n));
    // Damps by 1/√(1 + h²) a step: e^(−hT/2) for h = 0.01 and T = 10.
    assert!((coarse - 0.0488).abs() < 0.005, "{coarse}");
    assert!((coarse / fine - 2.0).abs() < 0.1, "{coarse} {fine}");
    let [coarse, fine] = [10, 20].map(|n| error(TimeScheme::Bdf2, n));
    assert!((coarse / fine - 4.0).abs() < 0.4, "{coarse} {fine}");
    assert!(fine < error(TimeScheme::ImplicitEuler, 20) / 20.0);
}

#[test]
fn a_hanging_mass_stretches_by_its_weight_times_the_compliance_for_any_step() {
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::y() * -1.0],
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
    for (dt, scheme) in [
        (FRAME, TimeScheme::ImplicitEuler),
        (0.1, TimeScheme::Bdf2),
        (1.0, TimeScheme::ImplicitEuler),
    ] {
        let mut state = State::new(&model);
        let options = ImplicitOptions {
            scheme,
            tolerance: 1e-7,
            ..ImplicitOptions::default()
        };
        let mut solver = Implicit::new(&model, options);
        for _ in 0..(10.0 / dt) as u32 {
            solver.step(&model, &Drive::default(), dt, &mut state);
        }
        let stretch = -1.0 - state.positions[1].y;
        assert!((stretch - 0.0981).abs() < 1e-5, "{dt}: {stretch}");
    }
}

/// A free block that turns and flies.
fn spinning(material: Material) -> (Model, State) {
    let mesh = lattice([3, 2, 2], Vec3::new(0.3, 0.2, 0.2), Split::Six);
    let model = soft::build(&SoftSpec {
        mesh,
        material,
        ..SoftSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let center = Vec3::new(0.15, 0.1, 0.1);
    for (x, v) in state.positions.iter().zip(&mut state.velocities) {
        *v = Vec3::new(1.0, 2.0, 0.5) + Vec3::new(0.0, 3.0, 0.0).cross(&(x - center));
    }
    (model, state)
}

/// Linear momentum, kg m/s, and angular momentum about the centre of mass, kg m²/s.
fn momenta(model: &Model, state: &State) -> (Vec3, Vec3) {
    let masses = model.spec().inverse_masses.iter().map(|w| 1.0 / w);
    let particles = || masses.clone().zip(&state.positions).zip(&state.velocities);
    let total: f32 = masses.clone().sum();
    let center = particles().fold(Vec3::zeros(), |c, ((m, x), _)| c + x * (m / total));
    let linear = particles().fold(Vec3::zeros(), |p, ((m, _), v)| p + v * m);
    let angular = particles().fold(Vec3::zeros(), |l, ((m, x), v)| {
        l + (x - center).cross(v) * m
    });
    (linear, angular)
}

#[test]
fn free_flight_keeps_momentum_and_viscosity_does_not_stop_a_spin() {
    let spin_left = |damping: f32| {
        let (model, mut state) = spinning(Material {
            young: 1e6,
            damping,
            ..Material::default()
        });
        let (linear, angular) = momenta(&model, &state);
        let options = ImplicitOptions {
            scheme: TimeScheme::Bdf2,
            tolerance: 1e-8,
            ..ImplicitOptions::default()
        };
        let mut solver = Implicit::new(&model, options);
        for _ in 0..60 {
            solver.step(&model, &space(), FRAME / 2.0, &mut state);
        }
        let (after, turning) = momenta(&model, &state);
        // A Newton step of 1e-8 m left in a frame is 1e-6 m/s of each particle at worst.
        assert!(
            (after - linear).norm() < 1e-5 * linear.norm(),
            "{after} {linear}"
        );
        turning.norm() / angular.norm()
    };
    let [without, with] = [0.0, 0.1].map(spin_left);
    // The scheme itself loses (ωh)³ of the spin a step and little more.
    assert!(without > 0.995, "{without}");
    assert!((with - without).abs() < 1e-3, "{with} {without}");
}

#[test]
fn a_plucked_bar_never_gains_energy() {
    let material = Material {
        law: Law::Corotational,
        young: 2e5,
        ..Material::default()
    };
    let model = bar(
        lattice([8, 2, 2], Vec3::new(0.4, 0.1, 0.1), Split::Five),
        material,
    );
    let mut state = State::new(&model);
    for (x, v) in model.rest().iter().zip(&mut state.velocities) {
        *v = Vec3::y() * (x.x * x.x * 20.0);
    }
    let mut solver = Implicit::new(&model, ImplicitOptions::default());
    let speed = |state: &State| -> f32 {
        let speeds = state.velocities.iter().zip(&model.spec().inverse_masses);
        speeds
            .filter(|(_, w)| **w > 0.0)
            .map(|(v, w)| 0.5 * v.norm_squared() / w)
            .sum()
    };
    // At the turning points all energy is elastic, so the peaks of kinetic energy must fall.
    let mut energies = vec![speed(&state)];
    for _ in 0..240 {
        solver.step(&model, &space(), FRAME, &mut state);
        energies.push(speed(&state));
    }
    let peaks: Vec<f32> = energies
        .windows(3)
        .filter(|w| w[1] > w[0] && w[1] > w[2])
        .map(|w| w[1])
        .collect();
    assert!(peaks.len() > 3, "{peaks:?}");
    assert!(peaks[0] < energies[0]);
    assert!(peaks.windows(2).all(|w| w[1] < w[0]), "{peaks:?}");
}

/// The cantilever that other solvers are measured on, coarser.
fn cantilever(young: f32, poisson: f32) -> Model {
    let material = Material {
        young,
        poisson,
        ..Material::default()
    };
    bar(
        lattice([10, 2, 2], Vec3::new(1.0, 0.2, 0.2), Split::Five),
        material,
    )
}

/// Three quarters of a second under gravity; the worst volume ratio on the way.
fn fall(model: &Model, options: ImplicitOptions) -> (State, f64) {
    let mut state = State::new(model);
    let mut solver = Implicit::new(model, options);
    let mut worst: f64 = 1.0;
    for _ in 0..45 {
        let outcome = solver.step(model, &Drive::default(), FRAME, &mut state);
        assert!(outcome.residual <= options.tolerance, "{outcome:?}");
        let ratio = volume(model, &state.positions) / 0.04;
        if (ratio - 1.0).abs() > (worst - 1.0).abs() {
            worst = ratio;
        }
    }
    (state, worst)
}

#[test]
fn stiff_solids_keep_their_volume_at_one_step_a_frame() {
    for (young, poisson) in [(2e6, 0.4), (2e6, 0.49), (2e8, 0.49)] {
        let model = cantilever(young, poisson);
        let (state, worst) = fall(&model, ImplicitOptions::default());
        assert!((worst - 1.0).abs() < 0.005, "{young} {poisson}: {worst}");
        let sag = -tip(&model, &state).y;
        assert!(sag > 0.0 && sag < 0.4, "{young} {poisson}: {sag}");
    }
}

#[test]
fn a_bar_comes_to_the_same_place_in_fewer_steps_of_the_second_order() {
    let model = cantilever(2e5, 0.4);
    let at = |scheme, substeps| {
        let options = ImplicitOptions {
            substeps,
            scheme,
            ..ImplicitOptions::default()
        };
        tip(&model, &fall(&model, options).0)
    };
    let exact = at(TimeScheme::Bdf2, 8);
    let [one, two] = [1, 2].map(|n| (at(TimeScheme::ImplicitEuler, n) - exact).norm());
    let second = (at(TimeScheme::Bdf2, 2) - exact).norm();
    assert!(two < 0.8 * one, "{one} {two}");
    assert!(second < 0.3 * two, "{two} {second}");
}

#[test]
fn what_yields_stays_longer_and_keeps_its_volume() {
    let material = Material {
        young: 1e5,
        poisson: 0.3,
        yield_strain: 0.05,
        creep: 100.0,
        damping: 0.02,
        ..Material::default()
    };
    let model = bar(
        lattice([6, 2, 2], Vec3::new(0.3, 0.1, 0.1), Split::Five),
        material,
    );
    let mut state = State::new(&model);
    let mut solver = Implicit::new(&model, ImplicitOptions::default());
    let pull = |state: &mut State, solver: &mut Implicit, stretch: f32| {
        for frame in 1..=30 {
            let way = Vec3::x() * (0.3 * stretch * frame as f32 / 30.0);
            let pins: Vec<_> = end(&model)
                .map(|v| (v, model.rest()[v as usize] + way))
                .collect();
            let drive = Drive {
                pins: &pins,
                ..space()
            };
            solver.step(&model, &drive, FRAME, state);
        }
        for _ in 0..120 {
            solver.step(&model, &space(), FRAME, state);
        }
    };
    // Below the yield it comes back.
    pull(&mut state, &mut solver, 0.02);
    assert!(tip(&model, &state).x.abs() < 1e-4);
    // Strain ‖S − 1‖ of a pull by 30 %, narrowing included, is a little above that; all but the yield stays.
    pull(&mut state, &mut solver, 0.3);
    let stays = tip(&model, &state).x / 0.3;
    assert!((0.2..0.28).contains(&stays), "{stays}");
    let ratio = volume(&model, &state.positions) / 0.003;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    solver.reset();
    state = State::new(&model);
    for _ in 0..10 {
        solver.step(&model, &space(), FRAME, &mut state);
    }
    assert!(tip(&model, &state).x.abs() < 1e-6);
}

#[test]
fn equilibria_do_not_depend_on_damping() {
    let at = |damping: f32, viscosity: f32| {
        let mesh = lattice([4, 2, 2], Vec3::new(0.2, 0.1, 0.1), Split::Five);
        let model = soft::build(&SoftSpec {
            pinned: (0..45)
                .filter(|v| mesh.positions[*v as usize].x == 0.0)
                .collect(),
            mesh,
            damping,
            material: Material {
                young: 1e5,
                damping: viscosity,
                ..Material::default()
            },
            ..SoftSpec::default()
        })
        .unwrap();
        let mut state = State::new(&model);
        let options = ImplicitOptions {
            tolerance: 1e-7,
            ..ImplicitOptions::default()
        };
        let mut solver = Implicit::new(&model, options);
        for _ in 0..400 {
            solver.step(&model, &Drive::default(), FRAME, &mut state);
        }
        tip(&model, &state).y
    };
    let plain = at(0.5, 0.0);
    assert!(plain < -1e-3);
    for (damping, viscosity) in [(3.0, 0.0), (0.0, 0.05)] {
        assert!((at(damping, viscosity) / plain - 1.0).abs() < 1e-3);
    }
}

#[test]
fn cloth_of_woven_triangles_hangs_by_its_weight() {
    let (n, k) = (9, 1e3f32);
    let mut spec = sheet(n, true);
    spec.positions
        .iter_mut()
        .for_each(|x| *x = Vec3::new(x.x, -x.z, 0.0));
    let links_only = cloth::build(&spec).unwrap();
    let membranes = spec
        .triangles
        .iter()
        .map(|[a, b, c]| [*a, *b, *c])
        .map(|vertices| Membrane {
            vertices,
            material: vertices.map(|v| {
                let x = spec.positions[v as usize];
                [x.x, x.y]
            }),
            stiffness: [k, k, 0.4 * k],
            limits: [0.0, f32::INFINITY],
        })
        .collect();
    let model = Model::new(ModelSpec {
        links: Vec::new(),
        tethers: Vec::new(),
        membranes,
        damping: 2.0,
        drag: 0.0,
        ..links_only.spec().clone()
    })
    .unwrap();
    let mut state = State::new(&model);
    let options = ImplicitOptions {
        tolerance: 1e-6,
        ..ImplicitOptions::default()
    };
    let mut solver = Implicit::new(&model, options);
    for _ in 0..240 {
        solver.step(&model, &Drive::default(), FRAME, &mut state);
    }
    // ρ g L² / 2k in all: 0.2 kg/m² over 1 m on 1000 N/m; lumping the masses loses none of it at the lower edge.
    let lowest = state.positions[(n * n - n / 2 - 1) as usize].y;
    assert!((-1.0 - lowest - 0.000_981).abs() < 2e-5, "{lowest}");
}

#[test]
fn bodies_stay_out_of_colliders_and_come_to_rest() {
    let mesh = lattice([3, 3, 3], Vec3::repeat(0.2), Split::Five);
    let model = soft::build(&SoftSpec {
        mesh,
        material: Material {
            young: 1e5,
            damping: 0.02,
            ..Material::default()
        },
        ..SoftSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    state.positions.iter_mut().for_each(|x| x.y += 0.5);
    let floor = Collider::new(Shape::Plane, Affine::IDENTITY);
    let drive = Drive {
        colliders: &[floor],
        ..Drive::default()
    };
    let mut solver = Implicit::new(&model, ImplicitOptions::default());
    for _ in 0..180 {
        solver.step(&model, &drive, FRAME, &mut state);
        assert!(state.positions.iter().all(|x| x.y > 0.0019));
    }
    let ratio = volume(&model, &state.positions) / 0.008;
    assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    assert!(state.velocities.iter().all(|v| v.norm() < 0.01));
}

#[test]
fn a_block_holds_on_a_slope_below_its_angle_of_friction_and_slides_above() {
    let mesh = lattice([2, 2, 2], Vec3::repeat(0.1), Split::Five);
    let model = soft::build(&SoftSpec {
        mesh,
        friction: 0.5,
        material: Material {
            young: 1e6,
            damping: 0.01,
            ..Material::default()
        },
        ..SoftSpec::default()
    })
    .unwrap();
    let mut floor = Collider::new(Shape::Plane, Affine::IDENTITY);
    floor.friction = 0.5;
    let floor = [floor];
    // Gravity is tilted in place of the slope: μ = 0.5 holds up to 26.6°.
    let slide = |degrees: f32| {
        let angle = degrees.to_radians();
        let drive = Drive {
            gravity: Vec3::new(angle.sin(), -angle.cos(), 0.0) * 9.81,
            colliders: &floor,
            ..Drive::default()
        };
        let mut state = State::new(&model);
        state.positions.iter_mut().for_each(|x| x.y += 0.002);
        let mut solver = Implicit::new(&model, ImplicitOptions::default());
        let mut mean = |frames: u32| {
            for _ in 0..frames {
                solver.step(&model, &drive, FRAME, &mut state);
            }
            let speeds = state.velocities.iter().map(|v| v.x);
            speeds.sum::<f32>() / state.velocities.len() as f32
        };
        [mean(30), mean(30)]
    };
    let [_, speed] = slide(20.0);
    assert!(speed.abs() < 0.01, "{speed}");
    let [before, after] = slide(35.0);
    let angle = 35f32.to_radians();
    let expected = 9.81 * (angle.sin() - 0.5 * angle.cos()) * 0.5;
    assert!(
        ((after - before) / expected - 1.0).abs() < 0.05,
        "{before} {after} {expected}"
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut material = Material {
        young: 1e5,
        damping: 0.01,
        ..Material::default()
    };
    material.poisson = 0.4;
    // More than one chunk of tetrahedra.
    let model = bar(
        lattice([16, 4, 4], Vec3::new(0.8, 0.2, 0.2), Split::Five),
        material,
    );
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut state = State::new(&model);
            let mut solver = Implicit::new(&model, ImplicitOptions::default());
            for _ in 0..5 {
                solver.step(&model, &Drive::default(), FRAME, &mut state);
            }
            hash(&state)
        })
    };
    let one = run(1);
    for threads in [2, 3] {
        assert_eq!(run(threads), one);
    }
}

#[test]
fn no_input_breaks_a_step() {
    let model = cantilever(1e5, 0.45);
    let mut state = State::new(&model);
    let mut solver = Implicit::new(&model, ImplicitOptions::default());
    state.positions[7] = Vec3::repeat(f32::NAN);
    state.velocities[9] = Vec3::repeat(f32::INFINITY);
    let loads = [(3, Vec3::repeat(f32::NAN)), (9999, Vec3::x())];
    let pins = [(4, Vec3::repeat(f32::NAN)), (9999, Vec3::x())];
    let drive = Drive {
        loads: &loads,
        pins: &pins,
        activations: &[f32::NAN],
        ..Drive::default()
    };
    solver.step(&model, &drive, FRAME, &mut state);
    assert!(state.is_finite());
    let before = state.clone();
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        solver.step(&model, &drive, dt, &mut state);
    }
    assert_eq!(state, before);
    // Turned inside out and flat: it recovers.
    state.positions.iter_mut().for_each(|x| x.x *= -0.3);
    state.positions.iter_mut().skip(40).for_each(|x| x.z = 0.0);
    for _ in 0..120 {
        solver.step(&model, &Drive::default(), FRAME, &mut state);
    }
    assert!(state.is_finite());
    let ratio = volume(&model, &state.positions) / 0.04;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}
