//! Muscles against closed forms, differences and the conservation of energy.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_sim::SimError;
use anim_sim::muscle::{
    Attachment, Belly, BellySpec, Contraction, Curves, Muscle, MuscleSpec, Path, PathSpec, Route,
    Tendon, Turn, Wrap, WrapShape,
};
use proptest::prelude::*;

fn pennate() -> MuscleSpec {
    MuscleSpec {
        max_force: 900.0,
        optimal_length: 0.06,
        pennation: 0.35,
        tendon_length: 0.2,
        ..MuscleSpec::default()
    }
}

fn elastic() -> MuscleSpec {
    MuscleSpec {
        tendon: Some(Tendon::default()),
        curves: Curves::Smooth,
        ..pennate()
    }
}

fn muscle(spec: MuscleSpec) -> Muscle {
    Muscle::new(spec).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    let difference = (found - expected).abs();
    assert!(difference <= tolerance, "{found} instead of {expected}");
}

#[test]
fn fibers_keep_their_thickness_and_their_power() {
    let muscle = muscle(pennate());
    let thickness = 0.06 * 0.35_f64.sin();
    for along in [0.03, 0.05, 0.07] {
        for velocity in [-0.2, 0.0, 0.1] {
            let c = muscle.contract(0.2 + along, velocity, 0.7);
            close(c.fiber_length, along.hypot(thickness), 1e-15);
            close(c.cosine, along / c.fiber_length, 1e-14);
            // What the fibres give arrives at the tendon.
            close(c.power, -c.force * velocity, 1e-12 * 900.0);
        }
    }
}

#[test]
fn force_is_the_product_of_the_curves() {
    let muscle = muscle(pennate());
    let (length, velocity, activation) = (0.2 + 0.065, 0.08, 0.6);
    let c = muscle.contract(length, velocity, activation);
    let curves = Curves::default();
    let active = curves.active_length(c.fiber_length / 0.06).value;
    let passive = curves.passive_length(c.fiber_length / 0.06).value;
    let speed = curves.velocity(velocity * c.cosine / 0.6).value;
    let expected = 900.0 * (activation * active * speed + passive) * c.cosine;
    close(c.force, expected, 1e-12 * expected);
}

#[test]
fn stiffness_is_the_derivative_of_the_force() {
    for curves in [Curves::default(), Curves::Smooth] {
        let muscle = muscle(MuscleSpec {
            curves,
            ..pennate()
        });
        for along in [0.035, 0.052, 0.066] {
            for velocity in [-0.2, 0.03, 0.1] {
                let force = |l: f64| muscle.contract(l, velocity, 0.8).force;
                let (l, step) = (0.2 + along, 1e-7);
                let difference = (force(l + step) - force(l - step)) / (2.0 * step);
                let found = muscle.contract(l, velocity, 0.8).stiffness;
                // Rounding: 900 N · 2⁻⁵² / step; truncation: step² times a third derivative of about 1e10 N/m³.
                close(found, difference, 1e-5 * 900.0 / 0.06);
            }
        }
    }
}

#[test]
fn braking_takes_power_and_food_is_always_spent() {
    let muscle = muscle(pennate());
    for velocity in [-1.0, -0.3, -0.1, 0.1, 0.3, 1.0] {
        let c = muscle.contract(0.26, velocity, 0.5);
        assert!(c.power * velocity <= 0.0);
        assert!(c.metabolic_rate > 0.0);
        assert!(c.power <= c.metabolic_rate, "no more work than food");
    }
    let rest = muscle.contract(0.25, 0.0, 0.0);
    assert_eq!((rest.power, rest.metabolic_rate), (0.0, 0.0));
}

#[test]
fn a_settled_muscle_balances_its_tendon() {
    let muscle = muscle(elastic());
    for activation in [0.0, 0.01, 0.3, 1.0] {
        for length in [0.24, 0.26, 0.28, 0.3] {
            let fiber = muscle.rest_length(length, activation);
            let c = muscle.settle(length, fiber, activation, 1e6);
            let curves = Curves::Smooth;
            let active = activation * curves.active_length(c.fiber_length / 0.06).value;
            let passive = curves.passive_length(c.fiber_length / 0.06).value;
            let fibers = 900.0 * (active + passive) * c.cosine;
            // The tendon has 9e5 N/m, and lengths 1e-15 of 0.3 m.
            close(c.force, fibers, 1e-8);
            close(c.fiber_velocity, 0.0, 1e-7);
        }
    }
}

#[test]
fn a_stiff_tendon_is_a_rigid_one() {
    let stiff = muscle(MuscleSpec {
        tendon: Some(Tendon {
            strain: 1e-7,
            damping: 1e-9,
        }),
        ..elastic()
    });
    let rigid = muscle(MuscleSpec {
        tendon: None,
        ..elastic()
    });
    let mut fiber = stiff.rest_length(0.25, 0.5);
    let dt = 1e-4;
    for step in 1..=100 {
        let length = 0.25 + 1e-4 * f64::from(step);
        let c = stiff.settle(length, fiber, 0.5, dt);
        fiber = c.fiber_length;
        let expected = rigid.settle(length, c.fiber_length - c.fiber_velocity * dt, 0.5, dt);
        // The tendon gives 1e-7 of 0.2 m, the fibres' speed is that over a step.
        close(c.fiber_length, expected.fiber_length, 1e-7);
        close(c.force, expected.force, 1e-2 * expected.force);
    }
}

#[test]
fn halving_the_step_halves_the_error() {
    let muscle = muscle(elastic());
    let run = |steps: u32| {
        let dt = 0.2 / f64::from(steps);
        let mut fiber = muscle.rest_length(0.26, 0.1);
        let mut last = Contraction::default();
        for step in 1..=steps {
            let time = dt * f64::from(step);
            let length = 0.26 + 0.01 * (10.0 * time).sin();
            last = muscle.settle(length, fiber, 0.1 + 3.0 * time, dt);
            fiber = last.fiber_length;
        }
        last.force
    };
    let exact = run(20_000);
    let errors = [200, 400, 800].map(|steps| (run(steps) - exact).abs());
    assert!(errors[0] < 0.02 * exact, "{errors:?}");
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((1.8..2.3).contains(&ratio), "{errors:?}");
    }
}

#[test]
fn any_step_is_stable() {
    for spec in [
        elastic(),
        MuscleSpec {
            curves: Curves::default(),
            ..elastic()
        },
    ] {
        let muscle = muscle(spec);
        for dt in [1e-6, 1.0 / 60.0, 1.0] {
            let mut fiber = 0.06;
            for step in 0..60 {
                let activation = f64::from(step % 2);
                let length = [0.2, 0.3, 0.25, 0.0, 0.35][step as usize % 5];
                let c = muscle.settle(length, fiber, activation, dt);
                fiber = c.fiber_length;
                assert!(c.force >= 0.0 && c.force.is_finite());
                assert!(fiber > 0.0 && fiber < 0.4, "{fiber}");
            }
        }
    }
}

#[test]
fn impossible_lengths_are_slack() {
    for spec in [pennate(), elastic()] {
        let muscle = muscle(spec);
        for length in [f64::NAN, f64::INFINITY, -f64::INFINITY, -1.0, 0.0, 0.1] {
            let c = muscle.contract(length, 0.0, 1.0);
            assert_eq!(c.force, 0.0);
            let c = muscle.settle(length, 0.06, 1.0, 0.01);
            assert!(c.force == 0.0 && c.fiber_length > 0.0 && c.fiber_length.is_finite());
            for fiber in [f64::NAN, -1.0, 0.0, 1e9] {
                let c = muscle.settle(0.26, fiber, f64::NAN, 0.01);
                assert!(c.force.is_finite() && c.fiber_length.is_finite());
            }
        }
        assert_eq!(muscle.contract(0.26, f64::NAN, 1.0).force, 0.0);
    }
}

#[test]
fn what_is_out_of_range_is_refused_by_name() {
    let refused = |spec: MuscleSpec| match Muscle::new(spec) {
        Err(SimError::OutOfRange { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let base = MuscleSpec::default();
    let force = MuscleSpec {
        max_force: f64::NAN,
        ..base
    };
    assert_eq!(refused(force), "muscle's force");
    let steep = MuscleSpec {
        pennation: 1.5,
        ..base
    };
    assert_eq!(refused(steep), "pennation");
    let no_tendon = MuscleSpec {
        tendon: Some(Tendon::default()),
        ..base
    };
    assert_eq!(refused(no_tendon), "tendon's length");
    let empty = Path::new(PathSpec::default());
    assert!(matches!(empty, Err(SimError::OutOfRange { .. })));
    let belly = Belly::new(BellySpec {
        volume: -1.0,
        origin_tendon: 0.5,
    });
    assert!(matches!(belly, Err(SimError::OutOfRange { .. })));
}

fn at(bone: usize, x: f32, y: f32, z: f32) -> Attachment {
    Attachment {
        bone,
        point: Vec3::new(x, y, z),
    }
}

/// A wrapped path over three bones, the last beyond a hinge at the origin.
fn wrapped(shape: WrapShape) -> Path {
    let wrap = Wrap {
        strand: 1,
        bone: 1,
        shape,
        center: Vec3::new(0.0, -0.01, -0.02),
        axis: Vec3::new(1.0, 0.1, 0.2),
        radius: 0.04,
        turn: Turn::Shortest,
    };
    Path::new(PathSpec {
        points: vec![
            at(0, 0.01, 0.3, 0.02),
            at(0, 0.0, 0.2, 0.04),
            at(1, 0.02, -0.2, 0.05),
            at(1, -0.01, -0.3, 0.06),
        ],
        wraps: vec![wrap],
    })
    .unwrap()
}

fn hinge(axis: Vec3, angle: f32) -> [Affine; 2] {
    let turned = Transform::from_rotation(quat::from_axis_angle(axis, angle));
    [Affine::IDENTITY, Affine::from(turned)]
}

#[test]
fn a_moment_arm_is_the_derivative_of_the_length() {
    let mut route = Route::default();
    let axis = Vec3::new(0.9, 0.3, -0.1).normalize();
    for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
        let path = wrapped(shape);
        for step in -10..=10_i8 {
            let angle = f32::from(step) * 0.1;
            let mut length = |angle: f32| {
                path.follow(&hinge(axis, angle), &mut route);
                route.length()
            };
            let h = 1e-3;
            let difference = (length(angle + h) - length(angle - h)) / (2.0 * f64::from(h));
            path.follow(&hinge(axis, angle), &mut route);
            let arm = route.moment_arm(Vec3::zeros(), axis, |bone| bone == 1);
            // Rotations are f32: 6e-8 of 0.3 m over the step.
            close(arm, -difference, 6e-8 * 0.3 / f64::from(h) * 4.0);
            let speed = route.velocity(|bone, point| match bone {
                1 => axis.cross(&point) * 2.0,
                _ => Vec3::zeros(),
            });
            close(speed, -2.0 * arm, 1e-6);
        }
    }
}

#[test]
fn a_pulley_has_its_radius_as_moment_arm() {
    let pulley = Wrap {
        strand: 0,
        bone: 0,
        shape: WrapShape::Cylinder,
        center: Vec3::zeros(),
        axis: Vec3::z(),
        radius: 0.03,
        turn: Turn::Counterclockwise,
    };
    let path = Path::new(PathSpec {
        points: vec![at(0, 0.3, 0.0, 0.0), at(1, -0.2, 0.0, 0.1)],
        wraps: vec![pulley],
    })
    .unwrap();
    let mut route = Route::default();
    for angle in [-0.1, 0.0, 0.5, 1.0] {
        path.follow(&hinge(Vec3::z(), angle), &mut route);
        let arm = route.moment_arm(Vec3::zeros(), Vec3::z(), |bone| bone == 1);
        // A helix pulls along itself: the circle's share is what the unrolled way has of it.
        let flat = (route.length().powi(2) - 0.01).sqrt();
        close(arm, -0.03 * flat / route.length(), 1e-8);
    }
}

/// Angle of a hinge about x, lengths of a tendon over a sphere and over a cylinder, and their derivatives by the angle, by
/// `mujoco` 4.0.0 from PyPI: `ten_length` and `ten_J` of spatial tendons from (0.01, 0.25, −0.03) in the world to
/// (0.02, −0.2, −0.05) on the hinged body.
const MUJOCO_TENDONS: [(f32, [f64; 2], [f64; 2]); 7] = [
    (-1.2, [0.419_087_280; 2], [0.091_866_967; 2]),
    (-0.6, [0.454_916_834; 2], [0.026_634_431; 2]),
    (
        -0.2,
        [0.459_152_650, 0.459_483_549],
        [-0.015_592_687, -0.043_132_987],
    ),
    (
        0.0,
        [0.451_363_120, 0.450_639_931],
        [-0.052_391_336, -0.045_222_251],
    ),
    (0.2, [0.440_131_449; 2], [-0.063_087_276; 2]),
    (0.6, [0.406_405_934; 2], [-0.104_953_853; 2]),
    (1.0, [0.356_756_075; 2], [-0.142_413_652; 2]),
];

#[test]
fn paths_wrap_as_the_tendons_of_mujoco_do() {
    let obstacles = [
        (WrapShape::Sphere, Vec3::new(0.0, -0.01, -0.02), 0.04),
        (WrapShape::Cylinder, Vec3::new(0.0, 0.01, -0.015), 0.03),
    ];
    let mut route = Route::default();
    for (index, (shape, center, radius)) in obstacles.into_iter().enumerate() {
        let wrap = Wrap {
            strand: 0,
            bone: 0,
            shape,
            center,
            axis: Vec3::x(),
            radius,
            turn: Turn::Shortest,
        };
        let path = Path::new(PathSpec {
            points: vec![at(0, 0.01, 0.25, -0.03), at(1, 0.02, -0.2, -0.05)],
            wraps: vec![wrap],
        })
        .unwrap();
        for (angle, lengths, slopes) in MUJOCO_TENDONS {
            path.follow(&hinge(Vec3::x(), angle), &mut route);
            let arm = route.moment_arm(Vec3::zeros(), Vec3::x(), |bone| bone == 1);
            // Points and rotations are f32 here: 6e-8 of 0.4 m, and of what turns a tangent.
            close(route.length(), lengths[index], 1e-7);
            close(arm, -slopes[index], 1e-6);
        }
    }
}

#[test]
fn a_slide_arm_is_the_derivative_of_the_length() {
    let path = wrapped(WrapShape::Sphere);
    let mut route = Route::default();
    let axis = Vec3::new(0.0, 0.6, 0.8);
    let mut length = |shift: f32| {
        let moved = Affine::from(Transform::from_translation(axis * shift));
        path.follow(&[Affine::IDENTITY, moved], &mut route);
        (route.length(), route.slide_arm(axis, |bone| bone == 1))
    };
    let difference = (length(1e-3).0 - length(-1e-3).0) / 2e-3;
    close(length(0.0).1, -difference, 1e-4);
}

#[test]
fn a_muscle_pulls_no_body_by_its_own_hair() {
    let mut route = Route::default();
    for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
        for angle in [-0.8, 0.0, 0.7] {
            wrapped(shape).follow(&hinge(Vec3::x(), angle), &mut route);
            let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
            for pull in route.pulls(100.0) {
                force += pull.force;
                moment += pull.point.cross(&pull.force);
            }
            // Ten pulls of 100 N, rounded.
            assert!(force.norm() < 1e-4, "{force}");
            assert!(moment.norm() < 1e-4, "{moment}");
        }
    }
}

#[test]
fn length_does_not_depend_on_where_the_body_stands() {
    let body = Affine::from(Transform {
        translation: Vec3::new(3.0, -2.0, 1.0),
        rotation: Quat::from_euler_angles(0.3, 0.8, -1.2),
        ..Transform::IDENTITY
    });
    let mut route = Route::default();
    for shape in [WrapShape::Sphere, WrapShape::Cylinder] {
        let frames = hinge(Vec3::x(), 0.4);
        wrapped(shape).follow(&frames, &mut route);
        let here = route.length();
        wrapped(shape).follow(&frames.map(|frame| body * frame), &mut route);
        close(route.length(), here, 1e-6);
    }
}

#[test]
fn volume_stays_whatever_the_length_the_bend_and_the_mesh() {
    let belly = Belly::new(BellySpec {
        volume: 1.4e-4,
        origin_tendon: 0.5,
    })
    .unwrap();
    let (mut route, mut surface) = (Route::default(), Vec::new());
    for (rings, sides) in [(1, 3), (7, 8), (16, 12)] {
        let triangles = Belly::triangles(rings, sides);
        for angle in [-0.5, 0.0, 0.5] {
            wrapped(WrapShape::Sphere).follow(&hinge(Vec3::x(), angle), &mut route);
            for length in [0.15, 0.25, 0.4] {
                belly.surface(&route, length, rings, sides, &mut surface);
                let corner = |v: u32| (surface[v as usize] - surface[0]).cast::<f64>();
                let six_times =
                    |[a, b, c]: &[u32; 3]| corner(*a).dot(&corner(*b).cross(&corner(*c)));
                let volume = triangles.iter().map(six_times).sum::<f64>() / 6.0;
                close(volume, 1.4e-4, 1e-5 * 1.4e-4);
            }
        }
    }
    assert!(anim_geom::topology::is_closed(&Belly::triangles(5, 7)));
}

#[test]
fn the_profile_holds_the_volume() {
    let belly = Belly::new(BellySpec {
        volume: 2e-4,
        origin_tendon: 0.0,
    })
    .unwrap();
    // Simpson's rule is exact for the square of the radius.
    for length in [0.05, 0.2] {
        let area = |x: f64| std::f64::consts::PI * belly.radius_at(length, x).powi(2);
        let volume = length / 6.0 * (area(0.0) + 4.0 * area(0.5) + area(1.0));
        close(volume, 2e-4, 1e-6 * 2e-4);
    }
}

#[test]
fn skin_bulges_as_tissue_that_keeps_its_area() {
    let belly = Belly::new(BellySpec {
        volume: 1.4e-4,
        origin_tendon: 0.5,
    })
    .unwrap();
    let path = Path::new(PathSpec {
        points: vec![at(0, 0.0, 0.0, 0.0), at(1, 0.3, 0.0, 0.0)],
        wraps: vec![],
    })
    .unwrap();
    let mut route = Route::default();
    path.follow(&[Affine::IDENTITY; 2], &mut route);
    let rest = belly.radius(0.2) as f32;
    let skin = [
        Vec3::new(0.15, rest, 0.0),
        Vec3::new(0.15, 0.0, rest + 0.005),
        Vec3::new(0.15, 0.3, 0.0),
        Vec3::new(0.01, 0.03, 0.0),
    ];
    let binding = belly.bind(&route, 0.2, &skin, 1e3);
    assert_eq!(binding.len(), 3, "what is beyond the ends is not moved");
    let mut moved = skin;
    belly.bulge(&binding, &route, 0.2, &mut moved);
    for (before, after) in skin.iter().zip(&moved) {
        assert!((before - after).norm() < 1e-7, "nothing has swollen");
    }
    belly.bulge(&binding, &route, 0.12, &mut moved);
    close(f64::from(moved[0].y), belly.radius(0.12), 1e-6);
    let ring = f64::from(rest) + 0.005;
    let grown = belly.radius(0.12).powi(2) - belly.radius(0.2).powi(2);
    close(f64::from(moved[1].z), (ring * ring + grown).sqrt(), 1e-6);
    assert!(moved[2].y - 0.3 < 0.002, "far away there is little to see");
    let near = belly.bind(&route, 0.2, &skin, 0.02);
    assert_eq!(near.len(), 2, "the far side is out of reach");
}

/// A forearm on an elbow: flexion about −x in bone 0's frame, whose y is up.
struct Arm {
    biceps: (Muscle, Path),
    triceps: (Muscle, Path),
}

const INERTIA: f64 = 0.07;
const WEIGHT: f64 = 1.6 * 9.81;
const CENTER: f64 = 0.16;

impl Arm {
    fn new() -> Self {
        let flexor = PathSpec {
            points: vec![at(0, 0.0, 0.29, 0.02), at(1, 0.0, -0.045, 0.012)],
            wraps: vec![],
        };
        let extensor = PathSpec {
            points: vec![at(0, 0.0, 0.25, -0.02), at(1, 0.0, 0.02, -0.022)],
            wraps: vec![Wrap {
                strand: 0,
                bone: 0,
                shape: WrapShape::Cylinder,
                center: Vec3::zeros(),
                axis: Vec3::x(),
                radius: 0.018,
                turn: Turn::Clockwise,
            }],
        };
        let spec = |max_force, optimal_length, tendon_length| MuscleSpec {
            max_force,
            optimal_length,
            tendon_length,
            curves: Curves::Smooth,
            ..MuscleSpec::default()
        };
        Self {
            biceps: (muscle(spec(620.0, 0.12, 0.2)), Path::new(flexor).unwrap()),
            triceps: (
                muscle(spec(800.0, 0.11, 0.14)),
                Path::new(extensor).unwrap(),
            ),
        }
    }

    /// Angular acceleration, and the power of both muscles.
    fn rates(&self, angle: f64, speed: f64, activations: [f64; 2]) -> (f64, f64) {
        let frames = hinge(-Vec3::x(), angle as f32);
        let mut route = Route::default();
        let (mut torque, mut power) = (-WEIGHT * CENTER * angle.sin(), 0.0);
        let muscles = [&self.biceps, &self.triceps];
        for ((muscle, path), activation) in muscles.into_iter().zip(activations) {
            path.follow(&frames, &mut route);
            let arm = route.moment_arm(Vec3::zeros(), -Vec3::x(), |bone| bone == 1);
            let c = muscle.contract(route.length(), -arm * speed, activation);
            torque += c.force * arm;
            power += c.power;
        }
        (torque / INERTIA, power)
    }
}

#[test]
fn the_work_of_the_muscles_is_the_energy_of_the_arm() {
    let arm = Arm::new();
    let (mut angle, mut speed, mut work) = (0.6_f64, 0.0_f64, 0.0);
    let energy =
        |angle: f64, speed: f64| 0.5 * INERTIA * speed * speed - WEIGHT * CENTER * angle.cos();
    let start = energy(angle, speed);
    let dt = 1e-3;
    let mut most: f64 = 0.0;
    let activation = anim_sim::muscle::Activation::default();
    let mut activations = [0.05, 0.05];
    for step in 0..600 {
        let excited = match step < 300 {
            true => [0.35, 0.02],
            false => [0.05, 0.1],
        };
        for (a, u) in activations.iter_mut().zip(excited) {
            *a = activation.advance(*a, u, dt);
        }
        // The midpoint rule, for motion and work alike.
        let (a, _) = arm.rates(angle, speed, activations);
        let (middle, at_middle) = (angle + 0.5 * dt * speed, speed + 0.5 * dt * a);
        let (a, power) = arm.rates(middle, at_middle, activations);
        angle += dt * at_middle;
        speed += dt * a;
        work += dt * power;
        most = most.max(energy(angle, speed) - start);
        // The rule loses dt² of what it moves; lengths are f32: 3e-8 m of 600 N each step, at random.
        close(energy(angle, speed) - start, work, 1e-4);
        assert!((0.0..2.6).contains(&angle), "{angle}");
    }
    assert!(most > 1.0, "it lifted something: {most} J");
}

proptest! {
    #[test]
    fn no_muscle_pushes_or_breaks(
        length in -1.0..2.0_f64, fiber in -0.1..1.0_f64, velocity in -50.0..50.0_f64,
        activation in -1.0..2.0_f64, dt in 0.0..1.0_f64, smooth: bool,
    ) {
        let curves = if smooth { Curves::Smooth } else { Curves::default() };
        let rigid = muscle(MuscleSpec { curves, ..pennate() }).contract(length, velocity, activation);
        let soft = muscle(MuscleSpec { curves, ..elastic() }).settle(length, fiber, activation, dt);
        for c in [rigid, soft] {
            prop_assert!(c.force >= 0.0 && c.force.is_finite());
            prop_assert!(c.fiber_length > 0.0 && c.fiber_length.is_finite());
            prop_assert!(c.power.is_finite() && c.metabolic_rate >= 0.0);
        }
    }
}
