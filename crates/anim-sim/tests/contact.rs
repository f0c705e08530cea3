//! Colliders: nothing inside, nothing too fast, friction by Coulomb's law.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use std::sync::Arc;

use anim_geom::mesh_bvh::MeshBvh;
use anim_geom::tet::{Split, lattice};
use anim_geom::{Collider, DistanceField, HeightField, Mesh, Shape, Vertices, primitives};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::element::Material;
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{Drive, Model, ModelSpec, Solver, State, Xpbd};
use common::{run, sheet};

fn ball(center: Vec3, radius: f32) -> Collider {
    let mut ball = Collider::new(
        Shape::Sphere { radius },
        Affine {
            translation: center,
            ..Affine::IDENTITY
        },
    );
    ball.friction = 0.8;
    ball
}

/// One free particle that keeps 1 mm off, with friction `mu`.
fn particle(position: Vec3, mu: f32) -> Model {
    Model::new(ModelSpec {
        positions: vec![position],
        inverse_masses: vec![10.0],
        thickness: 0.001,
        friction: mu,
        ..ModelSpec::default()
    })
    .unwrap()
}

/// A plane through the origin that falls towards +x by `degrees`.
fn slope(degrees: f32, mu: f32) -> Collider {
    let rotation = quat::from_axis_angle(Vec3::z(), -degrees.to_radians());
    let mut plane = Collider::new(
        Shape::Plane,
        Affine::from(Transform {
            rotation,
            ..Transform::IDENTITY
        }),
    );
    plane.friction = mu;
    plane
}

#[test]
fn a_sheet_draped_on_a_ball_stays_outside_and_comes_to_rest() {
    let model = cloth::build(&ClothSpec {
        damping: 2.0,
        ..sheet(24, false)
    })
    .unwrap();
    let mut state = State::new(&model);
    let colliders = [ball(Vec3::new(0.5, -0.35, 0.5), 0.3), {
        let mut floor = Collider::new(
            Shape::Plane,
            Affine {
                translation: Vec3::new(0.0, -0.65, 0.0),
                ..Affine::IDENTITY
            },
        );
        floor.friction = 0.8;
        floor
    }];
    let drive = Drive {
        colliders: &colliders,
        ..Drive::default()
    };
    let mut solver = Xpbd::new(&model, 10);
    for _ in 0..300 {
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        for position in &state.positions {
            for collider in &colliders {
                let distance = collider.contact(*position).distance;
                assert!(distance > 0.005 - 2e-4, "{distance}");
            }
        }
    }
    let squares: f32 = state.velocities.iter().map(|v| v.norm_squared()).sum();
    let speed = (squares / state.velocities.len() as f32).sqrt();
    assert!(speed < 1e-3, "{speed}");
    let top = state.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
    assert!((top - (-0.05 + 0.005)).abs() < 0.01, "{top}");
}

#[test]
fn a_ball_of_triangles_carries_a_sheet_as_a_round_one_does() {
    let mesh = MeshBvh::new(&primitives::sphere(0.3, 32, 16)).unwrap();
    let center = Vec3::new(0.5, -0.35, 0.5);
    let round = ball(center, 0.3);
    let faceted = Collider {
        shape: Shape::Mesh(Arc::new(mesh)),
        ..round.clone()
    };
    let model = cloth::build(&sheet(16, false)).unwrap();
    let tops = [round, faceted].map(|collider| {
        let mut state = State::new(&model);
        let drive = Drive {
            colliders: std::slice::from_ref(&collider),
            ..Drive::default()
        };
        run(&model, 8, &drive, 40, &mut state);
        for position in &state.positions {
            let distance = collider.contact(*position).distance;
            assert!(distance > 0.005 - 2e-4, "{distance}");
        }
        state.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max)
    });
    // The facets lie up to r (1 − cos π/32) inside the ball.
    assert!((tops[0] - tops[1]).abs() < 0.01, "{tops:?}");
}

#[test]
fn friction_holds_below_its_angle() {
    // μ = 0.5 holds up to 26.565 degrees.
    let plane = slope(26.0, 0.5);
    let start = plane.contact(Vec3::zeros()).normal * 0.001;
    let model = particle(start, 0.5);
    let mut state = State::new(&model);
    let drive = Drive {
        colliders: &[plane],
        ..Drive::default()
    };
    run(&model, 20, &drive, 120, &mut state);
    let moved = (state.positions[0] - start).norm();
    assert!(moved < 1e-3, "{moved}");
}

#[test]
fn friction_slows_by_coulombs_law_above_its_angle() {
    let plane = slope(45.0, 0.5);
    let model = particle(plane.contact(Vec3::zeros()).normal * 0.001, 0.5);
    let mut state = State::new(&model);
    let drive = Drive {
        colliders: &[plane],
        ..Drive::default()
    };
    run(&model, 20, &drive, 60, &mut state);
    // a = g (sin θ − μ cos θ) for one second.
    let expected = 9.81 * (1.0 - 0.5) * std::f32::consts::FRAC_1_SQRT_2;
    let speed = state.velocities[0].norm();
    assert!(
        (speed - expected).abs() < 0.01 * expected,
        "{speed} {expected}"
    );
}

#[test]
fn without_friction_it_slides_as_if_falling_along_the_slope() {
    let plane = slope(30.0, 0.0);
    let model = particle(plane.contact(Vec3::zeros()).normal * 0.001, 0.5);
    let mut state = State::new(&model);
    let drive = Drive {
        colliders: &[plane],
        ..Drive::default()
    };
    run(&model, 20, &drive, 60, &mut state);
    let speed = state.velocities[0].norm();
    assert!((speed - 9.81 * 0.5).abs() < 0.05, "{speed}");
}

#[test]
fn a_bullet_does_not_pass_a_thin_ball() {
    let target = ball(Vec3::zeros(), 0.02);
    let model = particle(Vec3::new(-1.0, 0.0, 0.0), 0.5);
    let mut state = State::new(&model);
    state.velocities[0] = Vec3::x() * 300.0;
    let drive = Drive {
        colliders: &[target],
        ..Drive::default()
    };
    run(&model, 4, &drive, 1, &mut state);
    assert!(state.positions[0].x < 0.0, "{:?}", state.positions[0]);
    assert!(
        state.velocities[0].norm() < 1.0,
        "{:?}",
        state.velocities[0]
    );
}

#[test]
fn a_fast_ball_carries_the_sheet_instead_of_passing_it() {
    let model = cloth::build(&sheet(20, true)).unwrap();
    let mut state = State::new(&model);
    let place = |x: f32| ball(Vec3::new(0.5, -0.5, x), 0.2);
    run(&model, 20, &Drive::default(), 120, &mut state);
    let mut solver = Xpbd::new(&model, 20);
    // Half a metre a frame, from the front of the hanging sheet to behind it.
    let mut previous = [place(1.0)];
    for frame in 1..=4 {
        let current = [place(1.0 - 0.5 * frame as f32)];
        let drive = Drive {
            colliders: &current,
            previous_colliders: &previous,
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        for position in &state.positions {
            let distance = current[0].contact(*position).distance;
            assert!(
                distance > 0.004 || position.y == 0.0,
                "frame {frame}: {distance}"
            );
        }
        previous = current;
    }
}

#[test]
fn a_particle_that_starts_inside_leaves_without_a_jump() {
    let model = particle(Vec3::new(0.1, 0.0, 0.0), 0.5);
    let mut state = State::new(&model);
    let drive = Drive {
        gravity: Vec3::zeros(),
        colliders: &[ball(Vec3::zeros(), 1.0)],
        ..Drive::default()
    };
    run(&model, 20, &drive, 2, &mut state);
    assert!((state.positions[0].norm() - 1.001).abs() < 1e-4);
    assert!(
        state.velocities[0].norm() < 1e-2,
        "{:?}",
        state.velocities[0]
    );
}

#[test]
fn a_rising_floor_lifts_what_lies_on_it_at_its_own_speed() {
    let model = particle(Vec3::new(0.0, 0.001, 0.0), 0.5);
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    let floor = |frame: u32| {
        [Collider::new(
            Shape::Plane,
            Affine {
                translation: Vec3::y() * (frame as f32 / 60.0),
                ..Affine::IDENTITY
            },
        )]
    };
    for frame in 0..60 {
        let drive = Drive {
            colliders: &floor(frame + 1),
            previous_colliders: &floor(frame),
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
    }
    assert!(
        (state.positions[0].y - 1.001).abs() < 1e-4,
        "{:?}",
        state.positions[0]
    );
    assert!(
        (state.velocities[0].y - 1.0).abs() < 1e-2,
        "{:?}",
        state.velocities[0]
    );
}

#[test]
fn a_turning_disc_takes_what_lies_on_it_around() {
    let model = particle(Vec3::new(0.2, 0.001, 0.0), 1.0);
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    let disc = |frame: u32| {
        let mut plane = Collider::new(
            Shape::Plane,
            Affine::from(Transform {
                rotation: quat::from_axis_angle(Vec3::y(), frame as f32 / 60.0),
                ..Transform::IDENTITY
            }),
        );
        plane.friction = 1.0;
        [plane]
    };
    for frame in 0..60 {
        let drive = Drive {
            colliders: &disc(frame + 1),
            previous_colliders: &disc(frame),
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
    }
    let expected = Vec3::new(0.2 * 1f32.cos(), 0.001, -0.2 * 1f32.sin());
    assert!(
        (state.positions[0] - expected).norm() < 2e-3,
        "{:?}",
        state.positions[0]
    );
}

/// A sheet dropped on ground, and how high it lies at the end.
fn drop_on(collider: &Collider) -> f32 {
    let model = cloth::build(&ClothSpec {
        damping: 2.0,
        ..sheet(16, false)
    })
    .unwrap();
    let mut state = State::new(&model);
    let drive = Drive {
        colliders: std::slice::from_ref(collider),
        ..Drive::default()
    };
    run(&model, 8, &drive, 120, &mut state);
    for position in &state.positions {
        let distance = collider.contact(*position).distance;
        assert!(distance > 0.005 - 2e-4, "{distance}");
    }
    state.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max)
}

#[test]
fn a_sheet_rests_on_a_distance_field_as_on_the_mesh_it_stands_for() {
    let mesh = primitives::sphere(0.3, 48, 24);
    let round = ball(Vec3::new(0.5, -0.35, 0.5), 0.3);
    let field = Collider {
        shape: Shape::Field(Arc::new(DistanceField::new(&mesh, 0.03).unwrap())),
        ..round.clone()
    };
    let tops = [drop_on(&round), drop_on(&field)];
    assert!((tops[0] - tops[1]).abs() < 0.01, "{tops:?}");
}

#[test]
fn a_sheet_rests_on_a_height_field() {
    // A hill with its top under the middle of the sheet.
    let heights = (0..81).map(|i| {
        let (x, z) = ((i % 9) as f32 - 4.0, (i / 9) as f32 - 4.0);
        0.3 - 0.04 * (x * x + z * z)
    });
    let mut ground = Collider::new(
        Shape::HeightField(Arc::new(
            HeightField::new(8, 8, 0.4, heights.collect()).unwrap(),
        )),
        Affine {
            translation: Vec3::new(0.5, -0.4, 0.5),
            ..Affine::IDENTITY
        },
    );
    ground.friction = 0.8;
    let top = drop_on(&ground);
    assert!((top + 0.1).abs() < 0.03, "{top}");
}

#[test]
fn a_slide_ends_after_the_square_of_its_speed_over_twice_its_braking() {
    let plane = slope(0.0, 0.5);
    let model = particle(Vec3::y() * 0.001, 0.5);
    let mut state = State::new(&model);
    state.velocities[0] = Vec3::x() * 3.0;
    let drive = Drive {
        colliders: &[plane],
        ..Drive::default()
    };
    // v / μg = 0.61 s.
    run(&model, 20, &drive, 60, &mut state);
    // v² / 2μg; the last substep of braking, v/2 · h, may or may not be gone through.
    let expected = 9.0 / (2.0 * 0.5 * 9.81);
    let way = state.positions[0].x;
    assert!((way - expected).abs() < 3.0 / 1200.0, "{way} {expected}");
    assert!(state.velocities[0].norm() < 1e-5);
}

#[test]
fn a_slab_rocks_on_a_square_of_four_vertices_without_falling_through() {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    let square = Mesh {
        rest: Vertices {
            positions: corners.map(|[x, z]| Vec3::new(x, 0.0, z)).to_vec(),
            normals: vec![Vec3::y(); 4],
        },
        triangles: vec![[0, 2, 1], [1, 2, 3]],
        ..Mesh::default()
    };
    let ground = Collider::new(
        Shape::Mesh(Arc::new(MeshBvh::new(&square).unwrap())),
        Affine::IDENTITY,
    );
    // Across the diagonal that its two triangles share, on one edge.
    let tilt = quat::from_axis_angle(Vec3::z(), 0.5);
    let mut mesh = lattice([6, 1, 6], Vec3::new(0.6, 0.02, 0.6), Split::Five);
    for x in &mut mesh.positions {
        *x = tilt * (*x - Vec3::new(0.3, 0.0, 0.3)) + Vec3::y() * 0.3;
    }
    let model = soft::build(&SoftSpec {
        mesh,
        material: Material {
            young: 1e5,
            ..Material::default()
        },
        ..SoftSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    let drive = Drive {
        colliders: &[ground],
        ..Drive::default()
    };
    for _ in 0..120 {
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        let lowest = state.positions.iter().map(|x| x.y).fold(f32::MAX, f32::min);
        assert!(lowest > 0.0, "{lowest}");
    }
    let highest = state.positions.iter().map(|x| x.y).fold(f32::MIN, f32::max);
    assert!(highest < 0.1, "it lies: {highest}");
}
