//! What textbooks say about springs and steps, the right way round where they have it wrong.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use anim_math::Vec3;
use anim_sim::force::{Damping, Drag, Force, Spring, Springs};
use anim_sim::integrate::{
    DVec3, ExplicitEuler, ImplicitEuler, Integrator, Motion, SemiImplicitEuler, StormerVerlet,
    Substeps, System,
};
use anim_sim::{Drive, Link, Model, ModelSpec, Solver, State, Xpbd};

fn forces_of(springs: Springs, motion: &Motion) -> Vec<DVec3> {
    let mut forces = vec![DVec3::zeros(); motion.positions.len()];
    springs.add(motion, &mut forces);
    forces
}

/// A mass of 1 kg on a spring, against a wall at the origin.
fn oscillator(stiffness: f64, damping: f64) -> System {
    let spring = Spring {
        stiffness,
        damping,
        ..Spring::default()
    };
    let springs = Box::new(Springs::from(vec![spring]));
    System::new(vec![0.0, 1.0], DVec3::zeros(), vec![springs]).unwrap()
}

fn drawn_out() -> Motion {
    Motion::at_rest(vec![DVec3::zeros(), DVec3::x()])
}

/// Energy after `steps` steps as a part of that before.
fn left(integrator: &mut dyn Integrator, system: &System, dt: f64, steps: u32) -> f64 {
    let mut motion = drawn_out();
    let before = system.energy(&motion);
    for _ in 0..steps {
        integrator.step(system, dt, &mut motion);
    }
    system.energy(&motion) / before
}

#[test]
fn exercise_14_4_a_stretched_spring_pulls() {
    // ℓ₀ = 1, ℓ = 1.5, k = 100: 50 N on the first, toward the second. A force of −50 along that direction would push.
    let spring = Spring {
        rest_length: 1.0,
        ..Spring::default()
    };
    let motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x() * 1.5]);
    let toward_second = DVec3::x();
    let forces = forces_of(vec![spring].into(), &motion);
    assert_eq!(forces[0], 50.0 * toward_second);
    assert_eq!(forces[1], -50.0 * toward_second);
    // Squeezed to a half it pushes.
    let squeezed = Motion::at_rest(vec![DVec3::zeros(), DVec3::x() * 0.5]);
    assert_eq!(
        forces_of(vec![spring].into(), &squeezed)[0],
        -50.0 * toward_second
    );
}

#[test]
fn exercise_14_7_the_limit_of_two_over_omega_is_not_that_of_explicit_euler() {
    // k = 10000 and m = 1: ω = 100, and 2/ω = 0.02.
    let system = oscillator(1e4, 0.0);
    for dt in [0.019_f64, 0.002, 0.0002] {
        // A step multiplies the energy by 1 + ω²Δt², whatever Δt is.
        let expected = (1.0 + 1e4 * dt * dt).powi(200);
        let grown = left(&mut ExplicitEuler::default(), &system, dt, 200);
        assert!((grown / expected - 1.0).abs() < 1e-9, "{dt}: {grown}");
        assert!(grown > 1.0);
    }
    // It is that of semi-implicit Euler and of Verlet.
    let semi_implicit = |dt| left(&mut SemiImplicitEuler::default(), &system, dt, 500);
    assert!(semi_implicit(0.0199) < 500.0);
    assert!(semi_implicit(0.0201) > 1e50);
    let verlet = |dt| left(&mut StormerVerlet::default(), &system, dt, 500);
    assert!(verlet(0.0199) < 500.0);
    assert!(verlet(0.0201) > 1e50);
}

#[test]
fn damping_alone_makes_explicit_euler_stable_below_damping_over_stiffness() {
    // c² < 4km: underdamped, and |λ|² = 1 − cΔt/m + kΔt²/m < 1 exactly if Δt < c/k.
    let system = oscillator(100.0, 2.0);
    let explicit = |dt| left(&mut ExplicitEuler::default(), &system, dt, 5000);
    assert!(explicit(0.0199) < 0.6, "{}", explicit(0.0199));
    assert!(explicit(0.0201) > 2.0, "{}", explicit(0.0201));
}

#[test]
fn the_ways_out_of_stiffness_work() {
    let stiff = oscillator(1e6, 0.0);
    // A frame of 1/60 s is eight times too long.
    assert!(left(&mut SemiImplicitEuler::default(), &stiff, 1.0 / 60.0, 30) > 1e50);
    let mut substeps = Substeps {
        count: 10,
        inner: SemiImplicitEuler::default(),
    };
    assert!(left(&mut substeps, &stiff, 1.0 / 60.0, 100) < 10.0);
    assert!(left(&mut ImplicitEuler::default(), &stiff, 1.0 / 60.0, 100) < 1.0);
}

#[test]
fn drag_as_a_force_overshoots_from_two_masses_over_the_coefficient_on() {
    let drag = Box::new(Drag { coefficient: 4.0 });
    let system = System::new(vec![0.5], DVec3::zeros(), vec![drag]).unwrap();
    let speed = |dt: f64| {
        let mut motion = Motion {
            velocities: vec![DVec3::x()],
            ..Motion::at_rest(vec![DVec3::zeros()])
        };
        for _ in 0..1000 {
            ExplicitEuler::default().step(&system, dt, &mut motion);
        }
        motion.velocities[0].norm()
    };
    // 2m/k_d = 1 s.
    assert!(speed(0.99) < 1e-8 && speed(1.01) > 1e8);
}

#[test]
fn a_damper_along_the_spring_does_not_feel_a_rotation() {
    let spring = Spring {
        rest_length: 1.0,
        damping: 3.0,
        ..Spring::default()
    };
    let turning = Motion {
        velocities: vec![DVec3::zeros(), DVec3::y() * 2.0],
        ..drawn_out()
    };
    assert_eq!(forces_of(vec![spring].into(), &turning)[1], DVec3::zeros());
    // The whole relative velocity, as −c·(vᵢ − vⱼ), brakes it.
    let isotropic = Springs {
        springs: vec![spring],
        damping: Damping::Isotropic,
    };
    assert_eq!(forces_of(isotropic, &turning)[1], -DVec3::y() * 6.0);
}

#[test]
fn the_plain_form_of_verlet_breaks_when_the_step_changes() {
    // A particle in free flight at 1 m/s: steps of 10 ms, then of 20 ms.
    let system = System::new(vec![1.0], DVec3::zeros(), Vec::new()).unwrap();
    let mut motion = Motion {
        velocities: vec![DVec3::x()],
        ..Motion::at_rest(vec![DVec3::zeros()])
    };
    let mut stormer = StormerVerlet::default();
    let (mut plain, mut before) = (0.0, -0.01);
    for n in 0..100 {
        stormer.step(&system, if n < 50 { 0.01 } else { 0.02 }, &mut motion);
        (plain, before) = (2.0 * plain - before, plain);
    }
    assert!((motion.positions[0].x - 1.5).abs() < 1e-12);
    assert!(
        (plain - 1.0_f64).abs() < 1e-12,
        "the plain form lost a third of the way"
    );
}

#[test]
fn each_end_of_a_constraint_moves_by_its_share_of_the_inverse_masses() {
    // Δxᵢ = −wᵢ C ∇ᵢC / Σ w|∇C|²: without wᵢ the pinned end would move, and the momentum of the others change.
    for (masses, shares) in [([0.0, 1.0], [0.0, -0.5]), ([1.0, 3.0], [0.125, -0.375])] {
        let model = Model::new(ModelSpec {
            positions: vec![Vec3::zeros(), Vec3::x() * 1.5],
            inverse_masses: masses.to_vec(),
            links: vec![Link {
                vertices: [0, 1],
                rest_length: 1.0,
                compliance: 0.0,
            }],
            ..ModelSpec::default()
        })
        .unwrap();
        let mut state = State::new(&model);
        let still = Drive {
            gravity: Vec3::zeros(),
            ..Drive::default()
        };
        Xpbd::new(&model, 1).step(&model, &still, 0.01, &mut state);
        for (vertex, share) in shares.into_iter().enumerate() {
            let moved = state.positions[vertex] - model.rest()[vertex];
            // Products of a few roundings each.
            assert!((moved - Vec3::x() * share).norm() < 5e-7, "{moved}");
        }
    }
}
