//! Springs, drag, wind, networks and ropes: signs, conservation, derivatives, closed forms.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use anim_geom::primitives;
use anim_math::Vec3;
use anim_math::random::Random;
use anim_sim::force::{Damping, Drag, Force, Network, Spring, Springs, Wind};
use anim_sim::integrate::{
    DVec3, DormandPrince, ImplicitEuler, ImplicitMidpoint, Integrator, LinearSolve, Motion,
    NewtonOptions, SemiImplicitEuler, System, VelocityVerlet,
};
use anim_sim::rope::{self, RopeSpec};
use anim_sim::{Drive, Model, ModelSpec, SimError, Solver, State, Xpbd};
use proptest::prelude::*;

fn forces_of(force: &dyn Force, motion: &Motion) -> Vec<DVec3> {
    let mut forces = vec![DVec3::zeros(); motion.positions.len()];
    force.add(motion, &mut forces);
    forces
}

fn system(masses: &[f64], force: impl Force + 'static) -> System {
    let inverse_masses = masses.iter().map(|mass| 1.0 / mass).collect();
    System::new(inverse_masses, DVec3::zeros(), vec![Box::new(force)]).unwrap()
}

/// A cloud of particles in motion, and springs between each and its next three.
fn cloud(count: u32, damping: f64) -> (Vec<f64>, Springs, Motion) {
    let mut random = Random::new(7, 0, 0);
    let mut points = || random.in_ball().cast::<f64>();
    let motion = Motion {
        time: 0.0,
        positions: (0..count).map(|_| points()).collect(),
        velocities: (0..count).map(|_| points()).collect(),
    };
    let springs = (0..count)
        .flat_map(|a| (1..4).map(move |next| [a, (a + next) % count]))
        .map(|vertices| Spring {
            vertices,
            rest_length: 0.6,
            stiffness: 40.0,
            damping,
        })
        .collect::<Vec<_>>();
    let masses = (0..count).map(|n| 1.0 + f64::from(n % 3)).collect();
    (masses, Springs::from(springs), motion)
}

#[test]
fn springs_conserve_both_momenta_over_ten_thousand_steps() {
    for damping in [0.0, 0.5] {
        let (masses, springs, mut motion) = cloud(12, damping);
        let system = system(&masses, springs);
        let before = (system.momentum(&motion), system.angular_momentum(&motion));
        let mut verlet = VelocityVerlet::default();
        for _ in 0..10_000 {
            verlet.step(&system, 0.005, &mut motion);
        }
        let after = (system.momentum(&motion), system.angular_momentum(&motion));
        assert!((after.0 - before.0).norm() < 1e-12 * before.0.norm().max(1.0));
        // The cloud moves away meanwhile: x × mv cancels what grows with the distance.
        let scale = motion.positions[0].norm() * before.0.norm().max(1.0);
        assert!((after.1 - before.1).norm() < 1e-12 * scale.max(1.0));
    }
}

#[test]
fn a_damper_along_the_spring_lets_a_rotation_be() {
    // Two masses of 1 kg on a spring that the rotation keeps taut: k·(ℓ − ℓ₀) = m·ω²·ℓ/2.
    let (stiffness, omega) = (100.0, 2.0);
    let length = stiffness / (stiffness - 0.5 * omega * omega);
    let spring = Spring {
        rest_length: 1.0,
        stiffness,
        damping: 5.0,
        ..Spring::default()
    };
    let turning = Motion {
        time: 0.0,
        positions: vec![DVec3::x() * (0.5 * length), -DVec3::x() * (0.5 * length)],
        velocities: vec![
            DVec3::y() * (0.5 * omega * length),
            -DVec3::y() * (0.5 * omega * length),
        ],
    };
    let left = |damping: Damping| {
        let springs = Springs {
            springs: vec![spring],
            damping,
        };
        let (system, mut motion) = (system(&[1.0, 1.0], springs), turning.clone());
        let before = system.energy(&motion);
        DormandPrince::default().step(&system, 10.0, &mut motion);
        system.energy(&motion) / before
    };
    // The integrator strays by its tolerance a step.
    assert!((left(Damping::Axial) - 1.0).abs() < 1e-6);
    assert!(left(Damping::Isotropic) < 1e-3);
}

#[test]
fn a_damped_spring_rings_down_as_its_closed_form() {
    // x = e^(−γt)·(cos ω′t + γ/ω′·sin ω′t), γ = c/2m, ω′² = k/m − γ².
    let spring = Spring {
        stiffness: 50.0,
        damping: 2.0,
        ..Spring::default()
    };
    let springs = Box::new(Springs::from(vec![spring]));
    let system = System::new(vec![0.0, 1.0], DVec3::zeros(), vec![springs]).unwrap();
    let gamma = 1.0_f64;
    let omega = (50.0 - gamma * gamma).sqrt();
    let exact =
        |t: f64| (-gamma * t).exp() * ((omega * t).cos() + gamma / omega * (omega * t).sin());
    let error = |integrator: &mut dyn Integrator, steps: u32| {
        // Not through the origin, where a spring without length has no axis.
        let mut motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x()]);
        let dt = 2.0 / f64::from(steps);
        for _ in 0..steps {
            integrator.step(&system, dt, &mut motion);
        }
        (motion.positions[1].x - exact(2.0)).abs()
    };
    assert!(error(&mut DormandPrince::default(), 1) < 1e-8);
    // Second order also with a force that depends on the velocity.
    let verlet = [500, 1000].map(|n| error(&mut VelocityVerlet::default(), n));
    assert!((verlet[0] / verlet[1] - 4.0).abs() < 0.3, "{verlet:?}");
    let midpoint = [500, 1000].map(|n| error(&mut ImplicitMidpoint::default(), n));
    assert!(
        (midpoint[0] / midpoint[1] - 4.0).abs() < 0.3,
        "{midpoint:?}"
    );
}

/// Integrators' Jacobians by differences: of the forces, against what a step of Newton makes of them.
#[test]
fn newton_converges_at_once_where_forces_are_linear_and_soon_where_not() {
    let (masses, springs, mut motion) = cloud(10, 0.0);
    let system = system(&masses, springs);
    let mut euler = ImplicitEuler::default();
    let outcome = euler.step(&system, 0.02, &mut motion);
    // Quadratic: 1e-1, 1e-3, 1e-6, 1e-12. A Jacobian that is off by a term needs dozens.
    assert!(outcome.iterations <= 7, "{}", outcome.iterations);
    assert!(outcome.residual <= 1e-10);
    let drag = self::system(&[1.0], Drag { coefficient: 7.0 });
    let mut moving = Motion {
        velocities: vec![DVec3::x()],
        ..Motion::at_rest(vec![DVec3::zeros()])
    };
    assert!(
        ImplicitEuler::default()
            .step(&drag, 1.0, &mut moving)
            .iterations
            <= 2
    );
}

#[test]
fn long_steps_through_squeezed_springs_converge() {
    for stiffness in [1e2, 1e4, 1e5] {
        let spring = Spring {
            rest_length: 1.0,
            stiffness,
            ..Spring::default()
        };
        let springs: Vec<_> = (0..5)
            .map(|n| Spring {
                vertices: [n, n + 1],
                ..spring
            })
            .collect();
        let system = system(&[1.0; 6], Springs::from(springs));
        // Squeezed to a tenth and not quite straight.
        let mut motion = Motion::at_rest(
            (0..6)
                .map(|n| DVec3::new(0.1 * f64::from(n), 0.01 * f64::from(n % 2), 0.0))
                .collect(),
        );
        let mut euler = ImplicitEuler::default();
        for _ in 0..100 {
            let outcome = euler.step(&system, 0.1, &mut motion);
            assert!(outcome.residual < 1e-6, "{stiffness:e}: {outcome:?}");
        }
        let gaps = motion
            .positions
            .windows(2)
            .map(|ends| (ends[1] - ends[0]).norm());
        for gap in gaps {
            assert!((gap - 1.0).abs() < 0.05, "{stiffness:e}: {gap}");
        }
    }
}

#[test]
fn ends_that_coincide_are_pushed_apart() {
    let spring = Spring {
        rest_length: 1.0,
        ..Spring::default()
    };
    let both = Motion::at_rest(vec![DVec3::new(1.0, 2.0, 3.0); 2]);
    let forces = forces_of(&Springs::from(vec![spring]), &both);
    assert!((forces[0].norm() - 100.0).abs() < 1e-9, "the whole of k·ℓ₀");
    assert_eq!(forces[0], -forces[1]);
    let other = Spring {
        vertices: [1, 0],
        ..spring
    };
    let others = forces_of(&Springs::from(vec![other]), &both);
    assert!(
        forces[0].cross(&others[0]).norm() > 1.0,
        "each pair its own way"
    );
    let [mut explicit, mut implicit] = [both.clone(), both];
    let system = system(&[1.0, 1.0], Springs::from(vec![spring]));
    for _ in 0..200 {
        VelocityVerlet::default().step(&system, 0.01, &mut explicit);
        ImplicitEuler::default().step(&system, 0.01, &mut implicit);
    }
    assert!(explicit.is_finite());
    let length = (implicit.positions[0] - implicit.positions[1]).norm();
    assert!((length - 1.0).abs() < 0.2, "{length}");
}

#[test]
fn two_equal_masses_swing_at_the_root_of_twice_the_stiffness() {
    let spring = Spring {
        rest_length: 1.0,
        stiffness: 8.0,
        ..Spring::default()
    };
    let system = system(&[2.0, 2.0], Springs::from(vec![spring]));
    let mut motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x() * 1.1]);
    // ω = √(2k/m) = 2.83; a quarter of a period goes through the rest length.
    let quarter = std::f64::consts::FRAC_PI_2 / 8_f64.sqrt();
    DormandPrince::default().step(&system, quarter, &mut motion);
    let length = (motion.positions[1] - motion.positions[0]).x;
    assert!((length - 1.0).abs() < 1e-8);
}

#[test]
fn a_grid_is_stable_up_to_the_root_of_eight() {
    // The fastest mode of a square grid moves neighbours against each other along both axes: ω² → 8k/m from below.
    let (n, stiffness) = (16_u32, 1.0);
    let grid = primitives::grid(n, n, 1.0);
    let positions: Vec<DVec3> = grid.rest.positions.iter().map(|x| x.cast()).collect();
    let network = Network {
        structural: stiffness,
        shear: 0.0,
        bending: 0.0,
        damping: 0.0,
    };
    let mut springs = network.grid(n, n, &positions).unwrap();
    // Springs without length are linear in every direction, as the analysis has them.
    for spring in &mut springs {
        spring.rest_length = 0.0;
    }
    let system = system(&vec![1.0; positions.len()], Springs::from(springs));
    let grown = |dt: f64| {
        let checkered = |(v, _): (usize, &DVec3)| {
            let v = v as u32;
            DVec3::y()
                * if (v % (n + 1) + v / (n + 1)).is_multiple_of(2) {
                    1e-6
                } else {
                    -1e-6
                }
        };
        let mut motion = Motion::at_rest(positions.iter().enumerate().map(checkered).collect());
        let mut euler = SemiImplicitEuler::default();
        for _ in 0..400 {
            euler.step(&system, dt, &mut motion);
        }
        motion
            .positions
            .iter()
            .map(|x| x.norm())
            .fold(0.0, f64::max)
    };
    let limit = 2.0 / 8_f64.sqrt();
    assert!((limit - 0.707).abs() < 1e-3);
    assert!(grown(limit) < 1e-3, "{}", grown(limit));
    assert!(grown(1.03 * limit) > 1e3, "{}", grown(1.03 * limit));
}

#[test]
fn networks_have_the_springs_of_their_squares_and_triangles() {
    let grid = primitives::grid(4, 3, 0.5);
    let positions: Vec<DVec3> = grid.rest.positions.iter().map(|x| x.cast()).collect();
    let network = Network::default();
    let springs = network.grid(4, 3, &positions).unwrap();
    let count = |stiffness: f64| springs.iter().filter(|s| s.stiffness == stiffness).count();
    assert_eq!(count(network.structural), 4 * 4 + 5 * 3);
    assert_eq!(count(network.shear), 2 * 4 * 3);
    assert_eq!(count(network.bending), 3 * 4 + 5 * 2);
    let lengths = [0.5, 0.5_f64.sqrt(), 1.0];
    for spring in &springs {
        assert!(
            lengths
                .iter()
                .any(|length| (spring.rest_length - length).abs() < 1e-6)
        );
    }
    let of_mesh = network.mesh(&positions, &grid.triangles).unwrap();
    let edges = of_mesh
        .iter()
        .filter(|s| s.stiffness == network.structural)
        .count();
    // Euler: V − E + F = 1, and across each inner edge a spring or an edge that is there already.
    assert_eq!(edges, 20 + 24 - 1);
    assert!(matches!(
        network.grid(4, 4, &positions),
        Err(SimError::Count { .. })
    ));
    assert!(network.mesh(&positions, &[[0, 1, 99]]).is_err());
}

#[test]
fn only_shear_springs_hold_a_square_in_shape_and_only_bending_springs_hold_it_flat() {
    let at = |i: u32| DVec3::new(f64::from(i % 3), 0.0, f64::from(i / 3));
    let rest: Vec<DVec3> = (0..9).map(at).collect();
    let rhombus = rest
        .iter()
        .map(|x| DVec3::new(x.x + 0.6 * x.z, 0.0, 0.8 * x.z));
    let folded = rest
        .iter()
        .map(|x| DVec3::new(1.0 - (x.x - 1.0).abs(), 0.0, x.z));
    let [rhombus, folded] = [rhombus.collect(), folded.collect()].map(Motion::at_rest);
    let energy = |shear: f64, bending: f64, motion: &Motion| {
        let network = Network {
            shear,
            bending,
            ..Network::default()
        };
        Springs::from(network.grid(2, 2, &rest).unwrap()).energy(motion)
    };
    assert!(energy(0.0, 0.0, &rhombus) < 1e-20);
    assert!(energy(100.0, 0.0, &rhombus) > 1.0);
    assert!(energy(100.0, 0.0, &folded) < 1e-20);
    assert!(energy(100.0, 10.0, &folded) > 1.0);
}

/// A triangle of 1 m² in the xy plane, facing ±z.
fn plate(velocity: DVec3) -> Motion {
    let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]];
    Motion {
        time: 0.0,
        positions: corners
            .iter()
            .map(|[x, y]| DVec3::new(*x, *y, 0.0))
            .collect(),
        velocities: vec![velocity; 3],
    }
}

#[test]
fn wind_drags_and_lifts_a_plate() {
    let (speed, density) = (3.0, 1.2);
    let pressure = 0.5 * density * speed * speed;
    let sum = |drag: f64, lift: f64, toward: DVec3, triangle: [u32; 3]| {
        let wind = Wind {
            triangles: vec![triangle],
            velocity: toward * speed,
            density,
            drag,
            lift,
        };
        forces_of(&wind, &plate(DVec3::zeros()))
            .iter()
            .sum::<DVec3>()
    };
    let close = |a: DVec3, b: DVec3| assert!((a - b).norm() < 1e-12, "{a} {b}");
    for triangle in [[0, 1, 2], [0, 2, 1]] {
        // Face on: drag alone.
        close(
            sum(1.1, 0.4, DVec3::z(), triangle),
            DVec3::z() * (1.1 * pressure),
        );
        // Edge on: nothing.
        close(sum(1.1, 0.4, DVec3::x(), triangle), DVec3::zeros());
        // At 30° to the surface: drag·sin² along the flow, lift·sin·cos across it.
        let (sin, cos) = (0.5, 0.75_f64.sqrt());
        let toward = DVec3::new(cos, 0.0, sin);
        let across = DVec3::new(-sin, 0.0, cos);
        let expected = pressure * (1.1 * sin * sin * toward + 0.4 * sin * cos * across);
        close(sum(1.1, 0.4, toward, triangle), expected);
        // Equal coefficients press and do not rub.
        close(
            sum(0.7, 0.7, toward, triangle),
            DVec3::z() * (0.7 * pressure * sin),
        );
    }
    // Only the velocity against the air counts, and a third is on each corner.
    let wind = Wind {
        triangles: vec![[0, 1, 2]],
        velocity: DVec3::new(1.0, 2.0, 5.0),
        density,
        ..Wind::default()
    };
    assert_eq!(
        forces_of(&wind, &plate(wind.velocity)),
        vec![DVec3::zeros(); 3]
    );
    let moved = forces_of(&wind, &plate(wind.velocity - DVec3::z() * speed));
    close(moved[1], DVec3::z() * (pressure / 3.0));
}

#[test]
fn a_falling_plate_reaches_its_terminal_speed() {
    // m·g = ½·ρ·A·C·v² for three corners of 0.1 kg.
    let wind = Wind {
        triangles: vec![[0, 1, 2]],
        ..Wind::default()
    };
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    let system = System::new(vec![10.0; 3], gravity, vec![Box::new(wind)]).unwrap();
    let expected = (2.0 * 0.3 * 9.81 / 1.2_f64).sqrt();
    let mut integrators: [Box<dyn Integrator>; 2] = [
        Box::new(DormandPrince::default()),
        Box::new(ImplicitEuler::default()),
    ];
    for integrator in &mut integrators {
        let mut motion = plate(DVec3::zeros());
        for _ in 0..100 {
            let outcome = integrator.step(&system, 0.1, &mut motion);
            assert!(outcome.residual < 1e-6);
        }
        assert!((motion.velocities[0].z + expected).abs() < 1e-6);
    }
}

/// Sag of the catenary of length 1.2 over a span of 1.
const SAG: f64 = 0.292_343_798;

/// Its parameter a: y = a·(cosh(x/a) − 1).
const PARAMETER: f64 = 0.469_541_523;

fn hung(segments: u32) -> RopeSpec {
    RopeSpec {
        points: (0..=segments)
            .map(|i| Vec3::x() * (i as f32 / segments as f32))
            .collect(),
        pinned: vec![0, segments],
        length: Some(1.2),
        density: 1.0,
        ..RopeSpec::default()
    }
}

#[test]
fn the_catenary_is_what_it_is_known_for() {
    // Length 2a·sinh(1/2a) = 1.2, sag a·(cosh(1/2a) − 1), slope sinh(1/2a).
    let half = 0.5 / PARAMETER;
    assert!((2.0 * PARAMETER * half.sinh() - 1.2).abs() < 1e-8);
    assert!((PARAMETER * (half.cosh() - 1.0) - SAG).abs() < 1e-8);
    assert!((half.sinh() - 1.277_842).abs() < 1e-6);
}

/// Sag of a rope of springs so stiff that its stretch does not show, at rest.
fn static_sag(segments: u32, linear: LinearSolve) -> f64 {
    let spec = RopeSpec {
        stiffness: 1e8,
        ..hung(segments)
    };
    let system = rope::system(&spec).unwrap();
    // Near the answer, so that it is the answer that is measured and not the way to it.
    let mut motion = Motion::at_rest(
        (0..=segments)
            .map(|i| {
                let x = f64::from(i) / f64::from(segments);
                let hang = ((x - 0.5) / PARAMETER).cosh() - (0.5 / PARAMETER).cosh();
                DVec3::new(x, PARAMETER * hang, 0.0)
            })
            .collect(),
    );
    let mut euler = ImplicitEuler::new(NewtonOptions {
        linear,
        ..NewtonOptions::default()
    });
    for _ in 0..400 {
        euler.step(&system, 0.05, &mut motion);
    }
    let speed = motion
        .velocities
        .iter()
        .map(|v| v.norm())
        .fold(0.0, f64::max);
    assert!(speed < 1e-5, "{speed}");
    -motion.positions[segments as usize / 2].y
}

#[test]
fn a_chain_tends_to_the_catenary_with_the_square_of_its_segments() {
    let errors = [8, 16, 32].map(|n| (static_sag(n, LinearSolve::ConjugateGradients) - SAG).abs());
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((ratio - 4.0).abs() < 0.3, "{errors:?}");
    }
    assert!(errors[2] < 1e-3, "{errors:?}");
}

#[test]
#[cfg(feature = "solve")]
fn both_linear_solvers_hang_a_rope_alike() {
    let direct = static_sag(8, LinearSolve::Cholesky);
    let iterated = static_sag(8, LinearSolve::ConjugateGradients);
    assert!((direct - iterated).abs() < 1e-7);
}

#[test]
fn a_rope_hangs_as_a_catenary_in_position_based_dynamics_too() {
    let spec = RopeSpec {
        damping: 3.0,
        ..hung(32)
    };
    let model = rope::build(&spec).unwrap();
    assert_eq!(model.spec().links.len(), 32);
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    for _ in 0..300 {
        solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
    }
    let sag = -f64::from(state.positions[16].y);
    // Static equilibria of f32 positions are right to about one per cent.
    assert!((sag - SAG).abs() < 0.01 * SAG, "{sag}");
}

#[test]
fn a_rope_sags_alike_however_viscous_it_is() {
    let sag = |viscosity: f32| {
        let spec = RopeSpec {
            damping: 3.0,
            stiffness: 1e4,
            ..hung(16)
        };
        let elastic = rope::build(&spec).unwrap();
        let model = Model::new(ModelSpec {
            viscosity,
            ..elastic.spec().clone()
        })
        .unwrap();
        let mut state = State::new(&model);
        let mut solver = Xpbd::new(&model, 20);
        for _ in 0..480 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        }
        state.positions[8].y
    };
    let elastic = sag(0.0);
    for viscosity in [1e-3, 0.1, 1.0, 10.0] {
        // What rounding leaves of gravity at such steps is known to a hundredth, and differs by far less from run to run.
        let off = (sag(viscosity) / elastic - 1.0).abs();
        assert!(off < 5e-4, "{viscosity}: {off}");
    }
}

#[test]
fn a_rope_weighs_stretches_and_bends_the_same_in_any_number_of_segments() {
    for segments in [4, 16] {
        let spec = RopeSpec {
            bend_compliance: 0.1,
            ..hung(segments)
        };
        let model = rope::build(&spec).unwrap();
        let model = model.spec();
        assert_eq!(model.links.len() as u32, 2 * segments - 1);
        let compliance: f32 = model
            .links
            .iter()
            .take(segments as usize)
            .map(|l| l.compliance)
            .sum();
        assert!((compliance - 1.2 / spec.stiffness).abs() < 1e-9);
        let free = &model.inverse_masses[1..segments as usize];
        let mass: f32 = free.iter().map(|w| 1.0 / w).sum();
        // Half a segment at each end hangs on the pins.
        let expected = 1.2 * (1.0 - 1.0 / segments as f32);
        assert!((mass - expected).abs() < 1e-5);
        let far = model
            .tethers
            .iter()
            .map(|t| t.max_length)
            .fold(0.0, f32::max);
        assert!((far - 0.6 * 1.01).abs() < 1e-5, "{far}");
    }
}

#[test]
fn what_is_no_rope_is_refused() {
    let refused = |spec: RopeSpec| rope::build(&spec).unwrap_err();
    assert_eq!(refused(RopeSpec::default()), SimError::Empty);
    let pinned = vec![9];
    assert!(matches!(
        refused(RopeSpec { pinned, ..hung(4) }),
        SimError::VertexOutOfRange { .. }
    ));
    for length in [Some(0.0), Some(f32::NAN), Some(-1.0)] {
        assert!(matches!(
            refused(RopeSpec { length, ..hung(4) }),
            SimError::OutOfRange { .. }
        ));
    }
    let points = vec![Vec3::zeros(); 3];
    assert!(matches!(
        refused(RopeSpec {
            points,
            ..RopeSpec::default()
        }),
        SimError::OutOfRange { .. }
    ));
    let stiffness = f32::INFINITY;
    assert!(
        rope::build(&RopeSpec {
            stiffness,
            ..hung(4)
        })
        .is_ok()
    );
    assert!(
        rope::system(&RopeSpec {
            stiffness,
            ..hung(4)
        })
        .is_err()
    );
}

proptest! {
    #[test]
    fn a_spring_that_is_accepted_steps(
        vertices in any::<[u32; 2]>().prop_map(|pair| pair.map(|v| v % 4)),
        rest_length in prop_oneof![0.0..10.0, Just(f64::NAN), Just(-1.0)],
        stiffness in prop_oneof![0.0..1e9, Just(f64::INFINITY)],
        damping in 0.0..100.0_f64,
    ) {
        let spring = Spring { vertices, rest_length, stiffness, damping };
        let springs = Box::new(Springs::from(vec![spring]));
        let valid = vertices.iter().all(|v| *v < 3) && vertices[0] != vertices[1]
            && rest_length >= 0.0 && stiffness.is_finite();
        match System::new(vec![1.0, 0.0, 2.0], DVec3::zeros(), vec![springs]) {
            Ok(system) => {
                prop_assert!(valid);
                let mut motion = Motion::at_rest(vec![DVec3::zeros(), DVec3::x(), DVec3::x()]);
                ImplicitEuler::default().step(&system, 0.01, &mut motion);
                prop_assert!(motion.is_finite());
            }
            Err(_) => prop_assert!(!valid),
        }
    }
}
