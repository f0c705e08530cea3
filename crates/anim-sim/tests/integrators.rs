//! Integrators against closed forms: an oscillator, drag, an orbit, a fall.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use std::f64::consts::TAU;

use anim_math::nalgebra::Matrix3;
use anim_math::ode;
use anim_sim::force::{Drag, Force, Spring, Springs};
use anim_sim::integrate::{
    AdaptiveOptions, Bdf2, DVec3, Damped, DormandPrince, ExplicitEuler, ImplicitEuler,
    ImplicitMidpoint, Integrator, Jacobian, Motion, NewtonOptions, RungeKutta4, SemiImplicitEuler,
    StormerVerlet, Substeps, System, VelocityVerlet,
};

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

fn run(integrator: &mut dyn Integrator, system: &System, dt: f64, steps: u32, motion: &mut Motion) {
    for _ in 0..steps {
        integrator.step(system, dt, motion);
    }
}

/// Distance from cos 10 after 10 s.
fn error_at_10(integrator: &mut dyn Integrator, steps: u32) -> f64 {
    let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
    let dt = 10.0 / f64::from(steps);
    run(integrator, &system, dt, steps, &mut motion);
    (motion.positions[1].x - 10_f64.cos()).abs()
}

type Make = fn() -> Box<dyn Integrator>;

fn make<I: Integrator + Default + 'static>() -> Box<dyn Integrator> {
    Box::new(I::default())
}

const EXPLICIT: Make = make::<ExplicitEuler>;
const SEMI_IMPLICIT: Make = make::<SemiImplicitEuler>;
const VERLET: Make = make::<VelocityVerlet>;
const STORMER: Make = make::<StormerVerlet>;
const RK4: Make = make::<RungeKutta4>;
const IMPLICIT: Make = make::<ImplicitEuler>;
const MIDPOINT: Make = make::<ImplicitMidpoint>;
const BDF2: Make = make::<Bdf2>;

#[test]
fn the_error_of_ten_seconds_is_as_known_and_falls_with_the_order() {
    let cases = [
        (EXPLICIT, 4.32e-2, 1.0),
        (SEMI_IMPLICIT, 2.74e-3, 1.0),
        (VERLET, 2.27e-5, 2.0),
        (STORMER, 2.27e-5, 2.0),
        (RK4, 4.48e-10, 4.0),
        (IMPLICIT, 4.08e-2, 1.0),
        (MIDPOINT, 4.53e-5, 2.0),
        // Of BDF2 only the order is known beforehand.
        (BDF2, error_at_10(&mut Bdf2::default(), 1000), 2.0),
    ];
    for (make, expected, order) in cases {
        let [error, finer] = [1000, 2000].map(|steps| error_at_10(make().as_mut(), steps));
        assert!(
            (error / expected - 1.0).abs() < 3e-3,
            "{error:e} for {expected:e}"
        );
        let measured = (error / finer).log2();
        assert!((measured - order).abs() < 0.1, "{measured} for {order}");
    }
}

#[test]
fn the_energy_of_ten_seconds_strays_as_known() {
    let cases = [
        (EXPLICIT, 0.105, 0.02),
        (SEMI_IMPLICIT, 5.0e-3, 0.02),
        (VERLET, 2.5e-5, 0.02),
        (RK4, 1.4e-11, 0.05),
        (IMPLICIT, 0.095, 0.02),
    ];
    for (make, expected, tolerance) in cases {
        let stray = largest_stray(make);
        assert!(
            (stray / expected - 1.0).abs() < tolerance,
            "{stray:e} for {expected:e}"
        );
    }
    // A thousand steps of rounding, each of an ulp or less.
    assert!(largest_stray(MIDPOINT) < 1e-13);
}

fn largest_stray(make: Make) -> f64 {
    let (system, mut motion, mut integrator) = (oscillator(1.0, 0.0), drawn_out(), make());
    (0..1000)
        .map(|_| {
            integrator.step(&system, 0.01, &mut motion);
            (system.energy(&motion) / 0.5 - 1.0).abs()
        })
        .fold(0.0, f64::max)
}

#[test]
fn the_energy_of_a_hundred_seconds_is_as_known() {
    let cases = [
        (EXPLICIT, 10_479.6, 0.05),
        (SEMI_IMPLICIT, 0.5213, 5e-5),
        (VERLET, 0.4997, 5e-5),
        (RK4, 0.499_993, 5e-7),
        (IMPLICIT, 2.386e-5, 5e-9),
        (MIDPOINT, 0.5, 1e-12),
    ];
    for (make, expected, tolerance) in cases {
        let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
        run(make().as_mut(), &system, 0.1, 1000, &mut motion);
        let energy = system.energy(&motion);
        assert!(
            (energy - expected).abs() < tolerance,
            "{energy} for {expected}"
        );
    }
}

#[test]
fn verlet_shortens_the_period_as_known() {
    // The step turns by θ where sin(θ/2) = ωΔt/2, so T/T₀ = (ωΔt/2) / asin(ωΔt/2).
    for (dt, ratio) in [(0.1_f64, 0.999_583), (0.5, 0.989_393), (1.0, 0.954_930)] {
        let theta = 2.0 * (0.5 * dt).asin();
        assert!((dt / theta - ratio).abs() < 5e-7);
        for make in [VERLET, STORMER] {
            let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
            run(make().as_mut(), &system, dt, 100, &mut motion);
            let expected = (100.0 * theta).cos();
            assert!((motion.positions[1].x - expected).abs() < 1e-11);
        }
    }
}

#[test]
fn symplectic_steps_are_stable_up_to_two_over_omega() {
    for make in [SEMI_IMPLICIT, VERLET, STORMER] {
        let farthest = |dt: f64| {
            let (system, mut motion, mut integrator) = (oscillator(1.0, 0.0), drawn_out(), make());
            let farthest = (0..1000).map(|_| {
                integrator.step(&system, dt, &mut motion);
                motion.positions[1].x.abs()
            });
            farthest.fold(0.0, f64::max)
        };
        assert!(farthest(1.99) < 20.0);
        // At the limit the two eigenvalues meet at −1 and motion grows with the number of steps, at most.
        assert!(farthest(2.0) <= 4001.0);
        // λ + 1/λ = 2 − 2.01², so |λ| = 1.2214 and λ¹⁰⁰⁰ = 6e86, which is an energy of 1e173 and more.
        assert!((1e84..1e90).contains(&farthest(2.01)));
    }
}

#[test]
fn implicit_steps_are_stable_whatever_the_stiffness() {
    for make in [IMPLICIT, MIDPOINT, BDF2] {
        let (system, mut motion) = (oscillator(1e8, 0.0), drawn_out());
        let start = system.energy(&motion);
        let mut integrator = make();
        for _ in 0..1000 {
            integrator.step(&system, 0.1, &mut motion);
            assert!(system.energy(&motion) < start * (1.0 + 1e-9));
        }
    }
}

#[test]
fn the_midpoint_rule_turns_by_its_arc_tangent() {
    // (1 + iωΔt/2) / (1 − iωΔt/2) turns by 2·atan(ωΔt/2) exactly.
    let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
    run(
        &mut ImplicitMidpoint::default(),
        &system,
        0.7,
        50,
        &mut motion,
    );
    let angle = 50.0 * 2.0 * 0.35_f64.atan();
    assert!((motion.positions[1].x - angle.cos()).abs() < 1e-12);
    assert!((motion.velocities[1].x + angle.sin()).abs() < 1e-12);
}

#[test]
fn backward_differences_lose_far_less_than_implicit_euler() {
    let left = |make: Make| {
        let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
        run(make().as_mut(), &system, 0.1, 1000, &mut motion);
        (2.0 * system.energy(&motion)).sqrt()
    };
    // A part of (ωΔt)⁴/4 a step and one step of Euler to begin with; Euler's (ωΔt)²/2 leaves e⁻⁵.
    let expected = (-0.025_f64).exp() / 1.01_f64.sqrt();
    assert!((left(BDF2) - expected).abs() < 3e-3, "{}", left(BDF2));
    assert!((left(IMPLICIT) - 0.0069).abs() < 1e-4);
}

#[test]
fn steps_may_vary() {
    let uneven = |n: u32| 0.004 * f64::from(1 + n % 4);
    let exact = |motion: &Motion| (motion.positions[1].x - motion.time.cos()).abs();
    for (make, tolerance) in [(VERLET, 4e-5), (STORMER, 4e-5), (BDF2, 6e-4), (RK4, 1e-8)] {
        let (system, mut motion, mut integrator) = (oscillator(1.0, 0.0), drawn_out(), make());
        for n in 0..1000 {
            integrator.step(&system, uneven(n), &mut motion);
        }
        assert!(exact(&motion) < tolerance, "{:e}", exact(&motion));
    }
}

#[test]
fn both_forms_of_verlet_are_one_motion() {
    let system = oscillator(3.0, 0.0);
    let [mut a, mut b] = [drawn_out(), drawn_out()];
    let (mut velocity, mut stormer) = (VelocityVerlet::default(), StormerVerlet::default());
    for n in 0..1000 {
        let dt = 0.01 * f64::from(1 + n * n % 5);
        velocity.step(&system, dt, &mut a);
        stormer.step(&system, dt, &mut b);
        assert!((a.positions[1] - b.positions[1]).norm() < 1e-11);
        assert!((a.velocities[1] - b.velocities[1]).norm() < 1e-11);
    }
}

#[test]
fn a_motion_that_was_edited_starts_anew() {
    let system = oscillator(2.0, 0.5);
    let makes: [Make; 8] = [
        EXPLICIT,
        SEMI_IMPLICIT,
        VERLET,
        STORMER,
        RK4,
        BDF2,
        MIDPOINT,
        make::<DormandPrince>,
    ];
    for make in makes {
        let (mut used, mut motion) = (make(), drawn_out());
        run(used.as_mut(), &system, 0.03, 5, &mut motion);
        motion.velocities[1].y = 2.0;
        let mut again = motion.clone();
        used.step(&system, 0.03, &mut motion);
        make().step(&system, 0.03, &mut again);
        assert_eq!(motion, again);
    }
}

#[test]
fn small_and_large_systems_are_stepped_alike() {
    let (system, dt) = (oscillator(2.0, 0.0), 0.05);
    let slope = |_: f64, (x, v): (f64, f64)| (v, -2.0 * x);
    let (mut x, mut v, mut a) = (1.0, 0.0, -2.0);
    let mut pair = (1.0, 0.0);
    let [mut by_verlet, mut by_rk4] = [drawn_out(), drawn_out()];
    let (mut verlet, mut rk4) = (VelocityVerlet::default(), RungeKutta4::default());
    for _ in 0..100 {
        (x, v, a) = ode::velocity_verlet(x, v, a, dt, |x| -2.0 * x);
        pair = ode::runge_kutta_4(pair, 0.0, dt, slope);
        verlet.step(&system, dt, &mut by_verlet);
        rk4.step(&system, dt, &mut by_rk4);
    }
    assert!((by_verlet.positions[1].x - x).abs() < 1e-13);
    assert!((by_verlet.velocities[1].x - v).abs() < 1e-13);
    assert!((by_rk4.positions[1].x - pair.0).abs() < 1e-13);
}

#[test]
fn drag_has_the_limits_of_its_factor() {
    // A step multiplies the velocity by 1 − kΔt/m in explicit Euler and by 1/(1 + kΔt/m) in implicit Euler.
    let drag = Box::new(Drag { coefficient: 3.0 });
    let system = System::new(vec![1.0], DVec3::zeros(), vec![drag]).unwrap();
    let moving = Motion {
        velocities: vec![DVec3::x()],
        ..Motion::at_rest(vec![DVec3::zeros()])
    };
    let after = |integrator: &mut dyn Integrator, dt: f64, steps: u32| {
        let mut motion = moving.clone();
        run(integrator, &system, dt, steps, &mut motion);
        motion.velocities[0].x
    };
    let explicit = &mut ExplicitEuler::default();
    assert!((after(explicit, 0.67, 1) + 1.01).abs() < 1e-12);
    assert!((after(explicit, 0.67, 1000) - 1.01_f64.powi(1000)).abs() < 1e-6);
    assert!(
        after(explicit, 0.66, 1000).abs() < 1e-8,
        "stable below 2m/k"
    );
    assert!(after(explicit, 0.33, 1) > 0.0, "monotone below m/k");
    assert!(after(explicit, 0.34, 1) < 0.0);
    let implicit = after(&mut ImplicitEuler::default(), 0.67, 1);
    assert!((implicit - 1.0 / 3.01).abs() < 1e-12);
}

#[test]
fn damping_is_exact_for_any_step() {
    let free = System::new(vec![1.0], DVec3::zeros(), Vec::new()).unwrap();
    for (dt, steps) in [(0.01, 200), (2.0, 1)] {
        let mut motion = Motion {
            velocities: vec![DVec3::x()],
            ..Motion::at_rest(vec![DVec3::zeros()])
        };
        let mut damped = Damped {
            rate: 3.0,
            inner: SemiImplicitEuler::default(),
        };
        run(&mut damped, &free, dt, steps, &mut motion);
        assert!((motion.velocities[0].x / (-6_f64).exp() - 1.0).abs() < 1e-12);
    }
    // Falling, the speed tends to g/c with an error of second order: (cΔt)²/24.
    let falling = System::new(vec![1.0], DVec3::new(0.0, -9.81, 0.0), Vec::new()).unwrap();
    let mut motion = Motion::at_rest(vec![DVec3::zeros()]);
    let mut damped = Damped {
        rate: 3.0,
        inner: VelocityVerlet::default(),
    };
    run(&mut damped, &falling, 0.1, 200, &mut motion);
    let off = motion.velocities[0].y / -3.27 - 1.0;
    assert!(off.abs() < 0.3 * 0.3 / 6.0, "{off}");
}

#[test]
fn damping_leaves_equilibria_where_they_are() {
    let spring = Spring::default();
    let gravity = DVec3::new(0.0, -9.81, 0.0);
    let springs = Box::new(Springs::from(vec![spring]));
    let system = System::new(vec![0.0, 1.0], gravity, vec![springs]).unwrap();
    for rate in [2.0, 20.0] {
        let mut motion = Motion::at_rest(vec![DVec3::zeros(); 2]);
        let mut damped = Damped {
            rate,
            inner: SemiImplicitEuler::default(),
        };
        run(&mut damped, &system, 0.01, 5000, &mut motion);
        assert!((motion.positions[1].y + 0.0981).abs() < 1e-12);
    }
}

/// A star at the origin with G·M = 1, and planets of 1 kg.
#[derive(Debug)]
struct Star;

impl Force for Star {
    fn add(&self, motion: &Motion, forces: &mut [DVec3]) {
        for (force, x) in forces.iter_mut().zip(&motion.positions) {
            *force -= x / (x.norm() * x.norm_squared());
        }
    }

    fn add_jacobian(&self, motion: &Motion, jacobian: &mut Jacobian) {
        for (vertex, x) in (0..).zip(&motion.positions) {
            let radius = x.norm();
            let tide =
                3.0 * x * x.transpose() / radius.powi(5) - Matrix3::identity() / radius.powi(3);
            let by_position = if jacobian.is_definite() {
                Matrix3::zeros()
            } else {
                tide
            };
            jacobian.add([vertex, vertex], &by_position, &Matrix3::zeros());
        }
    }

    fn energy(&self, motion: &Motion) -> f64 {
        motion.positions.iter().map(|x| -1.0 / x.norm()).sum()
    }
}

/// An orbit of eccentricity ½ about it, of half axis 1 and period τ, from its perihelion.
fn orbit() -> (System, Motion) {
    let system = System::new(vec![1.0], DVec3::zeros(), vec![Box::new(Star)]).unwrap();
    let motion = Motion {
        time: 0.0,
        positions: vec![DVec3::x() * 0.5],
        velocities: vec![DVec3::y() * 3_f64.sqrt()],
    };
    (system, motion)
}

struct Strayed {
    position: f64,
    energy: f64,
    angular_momentum: f64,
}

fn revolve(integrator: &mut dyn Integrator, steps: u32, periods: u32) -> Strayed {
    let (system, mut motion) = orbit();
    let (start, energy) = (motion.clone(), system.energy(&motion));
    let turning = system.angular_momentum(&motion);
    let mut strayed = Strayed {
        position: 0.0,
        energy: 0.0,
        angular_momentum: 0.0,
    };
    for _ in 0..steps * periods {
        integrator.step(&system, TAU / f64::from(steps), &mut motion);
        let energy = (system.energy(&motion) / energy - 1.0).abs();
        strayed.energy = strayed.energy.max(energy);
        let turned = (system.angular_momentum(&motion) - turning).norm();
        strayed.angular_momentum = strayed.angular_momentum.max(turned);
    }
    strayed.position = (motion.positions[0] - start.positions[0]).norm();
    strayed
}

#[test]
fn an_orbit_strays_as_known() {
    let near = |found: f64, expected: f64| {
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found:e} for {expected:e}"
        );
    };
    let verlet = revolve(&mut VelocityVerlet::default(), 1000, 1);
    near(verlet.position, 1.770e-3);
    near(verlet.energy, 1.07e-4);
    near(
        revolve(&mut VelocityVerlet::default(), 2000, 1).energy,
        1.07e-4 / 4.0,
    );
    let euler = revolve(&mut SemiImplicitEuler::default(), 1000, 1);
    near(euler.position, 4.35e-3);
    near(euler.energy, 9.1e-3);
    let rk4 = revolve(&mut RungeKutta4::default(), 1000, 1);
    near(rk4.position, 3.15e-8);
    assert!((rk4.energy / 1.9e-9 - 1.0).abs() < 0.05, "{:e}", rk4.energy);
    near(
        revolve(&mut ExplicitEuler::default(), 1000, 1).energy,
        9.5e-2,
    );
}

#[test]
fn over_a_hundred_orbits_verlet_keeps_what_runge_kutta_loses() {
    let verlet = revolve(&mut VelocityVerlet::default(), 1000, 100);
    assert!((verlet.energy / 1.07e-4 - 1.0).abs() < 0.01);
    assert!(verlet.angular_momentum < 1e-13);
    let rk4 = revolve(&mut RungeKutta4::default(), 1000, 100);
    assert!((rk4.energy / 3.0e-8 - 1.0).abs() < 0.05, "{:e}", rk4.energy);
    assert!(
        (rk4.angular_momentum / 4e-9 - 1.0).abs() < 0.2,
        "{:e}",
        rk4.angular_momentum
    );
}

#[test]
fn the_midpoint_rule_keeps_an_orbit_within_bounds() {
    let once = revolve(&mut ImplicitMidpoint::default(), 1000, 1);
    let often = revolve(&mut ImplicitMidpoint::default(), 1000, 5);
    assert!((often.energy / once.energy - 1.0).abs() < 0.01);
    // Quadratic invariants are kept exactly, up to what Newton leaves.
    assert!(often.angular_momentum < 1e-9);
}

#[test]
fn the_adaptive_step_meets_its_tolerance_and_saves_steps() {
    let mut before = f64::INFINITY;
    for tolerance in [1e-5, 1e-7, 1e-9, 1e-11] {
        let (system, mut motion) = orbit();
        let mut adaptive = DormandPrince::new(AdaptiveOptions {
            absolute: tolerance,
            relative: tolerance,
            ..AdaptiveOptions::default()
        });
        let outcome = adaptive.step(&system, TAU, &mut motion);
        assert_eq!(motion.time, TAU);
        let error = (motion.positions[0] - DVec3::x() * 0.5).norm();
        // Errors of single steps add up and an orbit stretches them, by less than a hundred together with their number.
        assert!(
            error < 100.0 * tolerance * f64::from(outcome.iterations).sqrt(),
            "{error:e}"
        );
        assert!(f64::from(outcome.residual) <= 2.0 * tolerance);
        assert!(error < before / 10.0, "{error:e} after {before:e}");
        before = error;
        if tolerance == 1e-7 {
            // RK4 needs 680 steps, or 2720 evaluations, for the same error.
            assert!(outcome.iterations < 150, "{}", outcome.iterations);
        }
    }
}

#[test]
fn the_adaptive_step_does_not_depend_on_how_often_it_is_asked() {
    let error = |calls: u32| {
        let (system, mut motion) = orbit();
        let mut adaptive = DormandPrince::default();
        run(
            &mut adaptive,
            &system,
            TAU / f64::from(calls),
            calls,
            &mut motion,
        );
        (motion.positions[0] - DVec3::x() * 0.5).norm()
    };
    assert!(error(1) < 1e-6 && error(60) < 1e-6);
}

#[test]
fn an_adaptive_step_that_gives_up_says_where() {
    let (system, mut motion) = orbit();
    let mut adaptive = DormandPrince::new(AdaptiveOptions {
        max_steps: 10,
        ..AdaptiveOptions::default()
    });
    let outcome = adaptive.step(&system, TAU, &mut motion);
    assert_eq!(outcome.iterations, 10);
    assert!(motion.time > 0.0 && motion.time < TAU && motion.is_finite());
}

#[test]
fn time_runs_backward_to_where_it_came_from() {
    for make in [VERLET, MIDPOINT] {
        let (system, start) = orbit();
        let mut motion = start.clone();
        let mut integrator = make();
        run(integrator.as_mut(), &system, 0.01, 300, &mut motion);
        run(integrator.as_mut(), &system, -0.01, 300, &mut motion);
        assert!((motion.positions[0] - start.positions[0]).norm() < 1e-9);
    }
}

#[test]
fn a_step_without_length_changes_no_bit() {
    let makes: [Make; 10] = [
        EXPLICIT,
        SEMI_IMPLICIT,
        VERLET,
        STORMER,
        RK4,
        IMPLICIT,
        MIDPOINT,
        BDF2,
        make::<DormandPrince>,
        make::<Substeps<Damped<VelocityVerlet>>>,
    ];
    for make in makes {
        let (system, mut motion) = (oscillator(1.0, 0.0), drawn_out());
        for dt in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(make().step(&system, dt, &mut motion).iterations, 0);
        }
        assert_eq!(motion, drawn_out());
    }
}

#[test]
fn substeps_are_steps() {
    let system = oscillator(1.0, 0.0);
    let [mut parts, mut steps] = [drawn_out(), drawn_out()];
    let mut substeps = Substeps {
        count: 8,
        inner: VelocityVerlet::default(),
    };
    assert_eq!(substeps.step(&system, 1.0, &mut parts).iterations, 8);
    run(
        &mut VelocityVerlet::default(),
        &system,
        0.125,
        8,
        &mut steps,
    );
    assert_eq!(parts, steps);
}

#[test]
fn a_fall_is_exact_where_the_order_allows_it() {
    let system = System::new(vec![1.0, 0.0], DVec3::new(0.0, -9.75, 0.0), Vec::new()).unwrap();
    for make in [
        VERLET,
        STORMER,
        RK4,
        MIDPOINT,
        make::<DormandPrince> as Make,
    ] {
        let mut motion = Motion {
            time: 0.0,
            positions: vec![DVec3::zeros(); 2],
            velocities: vec![DVec3::new(1.0, 2.0, 0.0); 2],
        };
        run(make().as_mut(), &system, 0.25, 8, &mut motion);
        // Two seconds: x = v·t + ½·g·t²; what is held goes on as it went.
        assert!((motion.positions[0] - DVec3::new(2.0, 4.0 - 19.5, 0.0)).norm() < 1e-12);
        assert!((motion.velocities[0] - DVec3::new(1.0, 2.0 - 19.5, 0.0)).norm() < 1e-12);
        assert!((motion.positions[1] - DVec3::new(2.0, 4.0, 0.0)).norm() < 1e-12);
        assert_eq!(motion.velocities[1], DVec3::new(1.0, 2.0, 0.0));
    }
}

#[test]
fn what_newton_cannot_do_is_an_outcome() {
    let system = oscillator(1e4, 0.0);
    let mut motion = drawn_out();
    let outcome = ImplicitEuler::new(NewtonOptions {
        max_iterations: 0,
        ..NewtonOptions::default()
    })
    .step(&system, 0.1, &mut motion);
    assert_eq!(outcome.iterations, 0);
    motion.positions[1].x = f64::NAN;
    let outcome = ImplicitEuler::default().step(&system, 0.1, &mut motion);
    assert_eq!(outcome.residual, f32::INFINITY);
}
