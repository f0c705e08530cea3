//! What each kind of constraint conserves.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use anim_geom::tet::{Split, lattice};
use anim_math::Vec3;
use anim_math::nalgebra::Vector3;
use anim_math::random::Random;
use anim_sim::element::{Area, Cluster, Flex, Hinge, Material, Membrane, Tet, Volume};
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{Drive, Link, Model, ModelSpec, Solver, State, Xpbd};
use common::{STILL, run};

/// Four corners of a tetrahedron of about a metre, of unequal masses.
fn corners() -> ModelSpec {
    ModelSpec {
        positions: vec![
            Vec3::new(0.0, 0.1, 0.0),
            Vec3::new(0.1, 1.1, 0.0),
            Vec3::new(-0.8, 0.4, 0.2),
            Vec3::new(-0.4, 0.5, 1.1),
        ],
        inverse_masses: vec![1.0, 2.0, 0.5, 4.0],
        ..ModelSpec::default()
    }
}

/// One element of each kind over those corners, by name.
fn elements() -> Vec<(&'static str, ModelSpec)> {
    let vertices = [0, 1, 2, 3];
    let tetrahedron = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let spec = corners;
    vec![
        (
            "link",
            ModelSpec {
                links: vec![Link {
                    vertices: [0, 1],
                    rest_length: 1.2,
                    compliance: 1e-4,
                }],
                ..spec()
            },
        ),
        (
            "seam",
            ModelSpec {
                seams: vec![[2, 3]],
                seam_speed: 3.0,
                ..spec()
            },
        ),
        (
            "hinge",
            ModelSpec {
                hinges: vec![Hinge {
                    vertices,
                    rest_angle: 0.3,
                    compliance: 1e-3,
                }],
                ..spec()
            },
        ),
        (
            "flex",
            ModelSpec {
                flexes: vec![Flex {
                    vertices,
                    stiffness: 10.0,
                }],
                ..spec()
            },
        ),
        (
            "area",
            ModelSpec {
                areas: vec![Area {
                    vertices: [0, 1, 2],
                    rest_area: 0.5,
                    compliance: 1e-4,
                }],
                ..spec()
            },
        ),
        (
            "membrane",
            ModelSpec {
                membranes: vec![Membrane {
                    vertices: [0, 1, 2],
                    material: [[0.0, 0.0], [1.1, 0.0], [0.4, 0.9]],
                    stiffness: [200.0, 50.0, 20.0],
                    limits: [0.0, f32::INFINITY],
                }],
                ..spec()
            },
        ),
        (
            "limit",
            ModelSpec {
                membranes: vec![Membrane {
                    vertices: [0, 1, 2],
                    material: [[0.0, 0.0], [1.1, 0.0], [0.4, 0.9]],
                    stiffness: [0.0; 3],
                    limits: [0.95, 1.05],
                }],
                ..spec()
            },
        ),
        (
            "tetrahedron",
            ModelSpec {
                positions: vec![Vec3::zeros(), Vec3::z() * 0.9, Vec3::y(), Vec3::x()],
                tets: vec![Tet {
                    vertices: [0, 1, 2, 3].map(|v: u32| [0u32, 3, 2, 1][v as usize]),
                    material: 0,
                }],
                materials: vec![Material::default()],
                ..spec()
            },
        ),
        (
            "volume",
            ModelSpec {
                volumes: vec![Volume {
                    triangles: tetrahedron,
                    rest_volume: 0.3,
                    compliance: 1e-4,
                }],
                ..spec()
            },
        ),
        (
            "cluster",
            ModelSpec {
                clusters: vec![Cluster {
                    vertices: vec![0, 1, 2, 3],
                    compliance: 1e-4,
                }],
                ..spec()
            },
        ),
    ]
}

/// Momentum, and angular momentum about the origin with how large its parts are.
fn momenta(model: &Model, state: &State) -> (Vector3<f64>, Vector3<f64>, f64) {
    let (mut linear, mut angular, mut size) = (Vector3::zeros(), Vector3::zeros(), 0.0);
    let masses = model
        .spec()
        .inverse_masses
        .iter()
        .map(|w| f64::from(1.0 / w));
    for ((m, x), v) in masses.zip(&state.positions).zip(&state.velocities) {
        let (x, p) = (x.cast::<f64>(), v.cast::<f64>() * m);
        linear += p;
        angular += x.cross(&p);
        size += p.norm();
    }
    (linear, angular, size)
}

#[test]
fn each_kind_of_element_conserves_both_momenta() {
    for (name, spec) in elements() {
        let model = Model::new(spec).unwrap();
        let mut state = State::new(&model);
        let mut random = Random::new(3, 0, 0);
        for x in &mut state.positions {
            *x += random.in_ball() * 0.2;
        }
        let mut solver = Xpbd::new(&model, 1);
        let at_rest = momenta(&model, &state);
        assert_eq!(at_rest.2, 0.0);
        let dt = 1.0 / 240.0;
        solver.step(&model, &STILL, dt, &mut state);
        let (linear, angular, size) = momenta(&model, &state);
        assert!(size > 1e-3, "{name} does nothing: {size}");
        // Positions are rounded to 6e-8 m of the metre they measure; a velocity shows it divided by the step. The
        // torque counts from where the impulse was given, which a rounded position is not far from.
        let rounding = 4.0 * 2.0 * 6e-8 / f64::from(dt) * 2.0;
        assert!(
            linear.norm() < rounding + 1e-6 * size,
            "{name}: {linear:?} of {size}"
        );
        let moved: f64 = size * f64::from(dt);
        assert!(
            angular.norm() < rounding + 1e-6 * size,
            "{name}: {angular:?} of {size}, {moved}"
        );
    }
}

#[test]
fn each_kind_of_element_rests_at_rest() {
    for (name, spec) in elements() {
        if !["tetrahedron", "cluster"].contains(&name) {
            continue;
        }
        let model = Model::new(spec).unwrap();
        let mut state = State::new(&model);
        run(&model, 5, &STILL, 30, &mut state);
        for (x, rest) in state.positions.iter().zip(model.rest()) {
            assert!((x - rest).norm() < 1e-5, "{name}: {x:?}");
        }
    }
}

#[test]
fn a_hinge_in_free_flight_does_not_spin_and_opens_to_its_angle() {
    for degrees in [20.0, 60.0, 90.0, 120.0, 150.0, 170.0f32] {
        let rest = degrees.to_radians();
        let (s, c) = (libm::sinf(0.2), libm::cosf(0.2));
        let model = Model::new(ModelSpec {
            positions: vec![
                Vec3::new(0.0, -0.5, 0.0),
                Vec3::new(0.0, 0.5, 0.0),
                Vec3::new(-c, 0.1, -s),
                Vec3::new(c, -0.1, -s),
            ],
            inverse_masses: vec![1.0; 4],
            links: [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]]
                .map(|vertices| Link {
                    vertices,
                    rest_length: if vertices == [0, 1] {
                        1.0
                    } else if vertices == [0, 2] || vertices == [1, 3] {
                        (1.0 + 0.36f32).sqrt()
                    } else {
                        (1.0 + 0.16f32).sqrt()
                    },
                    compliance: 0.0,
                })
                .to_vec(),
            hinges: vec![Hinge {
                vertices: [0, 1, 2, 3],
                rest_angle: rest,
                compliance: 0.1,
            }],
            damping: 2.0,
            ..ModelSpec::default()
        })
        .unwrap();
        let mut state = State::new(&model);
        let mut solver = Xpbd::new(&model, 5);
        let mut largest = 0.0;
        for _ in 0..300 {
            solver.step(&model, &STILL, 1.0 / 60.0, &mut state);
            let (linear, angular, size) = momenta(&model, &state);
            largest = size.max(largest);
            // A speed is rounded by 6e-8 m / h a substep, maybe the same way each time, and damping forgets 150 of them.
            // Each projection turns nothing where it begins, but is carried on from where the one before it ended.
            assert!(
                linear.norm() < 2e-2 + 1e-3 * largest,
                "{degrees}: {linear:?}"
            );
            assert!(
                angular.norm() < 2e-2 + 3e-3 * largest,
                "{degrees}: {angular:?} of {largest}"
            );
        }
        let x = &state.positions;
        let n1 = (x[1] - x[0]).cross(&(x[2] - x[0])).normalize();
        let n2 = (x[0] - x[1]).cross(&(x[3] - x[1])).normalize();
        let edge = (x[1] - x[0]).normalize();
        let angle = libm::atan2f(n1.cross(&n2).dot(&edge), n1.dot(&n2));
        // Half a rounding of a position a substep is a moment of 1/10 rad/(N·m) times 0.1.
        assert!(
            (angle - rest).abs() < 1.5e-2,
            "{degrees}: {}",
            angle.to_degrees()
        );
    }
}

#[test]
fn a_crushed_solid_gets_more_substeps_and_recovers() {
    let (_, spec) = elements().remove(7);
    let model = Model::new(ModelSpec {
        damping: 5.0,
        ..spec
    })
    .unwrap();
    let mut state = State::new(&model);
    state.positions[3].x = -0.2;
    let mut solver = Xpbd::new(&model, 10);
    let outcome = solver.step(&model, &STILL, 1.0 / 60.0, &mut state);
    assert_eq!(outcome.iterations, 40);
    run(&model, 10, &STILL, 300, &mut state);
    let x = &state.positions;
    let volume = (x[3] - x[0]).dot(&(x[2] - x[0]).cross(&(x[1] - x[0])));
    assert!((volume / 0.9 - 1.0).abs() < 1e-2, "{volume}");
    let calm = solver.step(&model, &STILL, 1.0 / 60.0, &mut state);
    assert_eq!(calm.iterations, 10);
}

#[test]
fn a_solid_falls_alike_wherever_it_is_and_however_small_the_substeps() {
    // Eight times as far from the origin positions have eight times the last bit, and small substeps move by few of them.
    let bar = |at: f32| {
        let mut mesh = lattice([16, 3, 3], Vec3::new(1.0, 0.2, 0.2), Split::Five);
        let pinned = (0..mesh.positions.len() as u32)
            .filter(|v| mesh.positions[*v as usize].x == 0.0)
            .collect();
        for x in &mut mesh.positions {
            *x += Vec3::repeat(at);
        }
        soft::build(&SoftSpec {
            mesh,
            pinned,
            material: Material {
                young: 2e5,
                poisson: 0.4,
                ..Material::default()
            },
            ..SoftSpec::default()
        })
        .unwrap()
    };
    let tip = |at: f32, substeps: u32| {
        let model = bar(at);
        let mut state = State::new(&model);
        run(&model, substeps, &Drive::default(), 45, &mut state);
        let last = model.vertex_count() - 1;
        state.positions[last] - model.rest()[last]
    };
    let falls = tip(0.0, 60);
    assert!(falls.y < -0.5, "{falls}");
    // Each step rounds places in the state once more out there, by 2e-7 m.
    let elsewhere = (tip(4.0, 60) - falls).norm();
    assert!(elsewhere < 3e-4, "{elsewhere}");
    let finer = (tip(0.0, 240) - falls).norm();
    assert!(finer < 4e-3, "{finer}");
}
