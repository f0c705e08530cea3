//! Bad input is refused with its place, and nothing that a frame can contain breaks a state.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use anim_math::{Transform, Vec3, quat};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::{Drive, Link, Model, ModelSpec, SimError, Solver, State, Tether, Xpbd};
use common::{hash, run, sheet};
use proptest::prelude::*;

#[test]
fn the_same_bits_come_from_any_number_of_threads() {
    let model = cloth::build(&sheet(80, true)).unwrap();
    let hashes = [1, 2, 4].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut state = State::new(&model);
        let drive = Drive {
            wind: Vec3::new(0.5, 0.0, 2.0),
            ..Drive::default()
        };
        pool.install(|| run(&model, 2, &drive, 300, &mut state));
        assert!(state.is_finite());
        hash(&state)
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[test]
fn pins_are_met_exactly_and_at_their_speed() {
    let model = cloth::build(&sheet(6, true)).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 7);
    let goals: Vec<_> = (0..6)
        .map(|v| (v, model.rest()[v as usize] + Vec3::new(0.1, 0.2, 0.3)))
        .collect();
    let drive = Drive {
        pins: &goals,
        ..Drive::default()
    };
    solver.step(&model, &drive, 0.1, &mut state);
    for (vertex, goal) in &goals {
        assert_eq!(state.positions[*vertex as usize], *goal);
        let speed = state.velocities[*vertex as usize] - Vec3::new(1.0, 2.0, 3.0);
        assert!(speed.norm() < 1e-5);
    }
}

#[test]
fn pins_that_jump_ten_metres_break_nothing() {
    let model = cloth::build(&sheet(16, true)).unwrap();
    let mut state = State::new(&model);
    let far: Vec<_> = (0..16)
        .map(|v| (v, model.rest()[v as usize] + Vec3::x() * 10.0))
        .collect();
    let drive = Drive {
        pins: &far,
        ..Drive::default()
    };
    run(&model, 20, &drive, 300, &mut state);
    for position in &state.positions {
        assert!(position.iter().all(|c| c.is_finite()));
        assert!(
            (position - Vec3::new(10.5, 0.0, 0.0)).norm() < 1.3,
            "{position:?}"
        );
    }
}

#[test]
fn a_teleport_moves_the_shape_and_its_motion_rigidly() {
    let model = cloth::build(&sheet(8, true)).unwrap();
    let mut state = State::new(&model);
    run(&model, 10, &Drive::default(), 10, &mut state);
    let before = state.clone();
    let world_from_old = Transform {
        translation: Vec3::new(10.0, 0.0, 0.0),
        rotation: quat::from_axis_angle(Vec3::y(), 1.0),
        ..Transform::IDENTITY
    };
    state.teleport(&world_from_old);
    for i in 1..model.vertex_count() {
        let distance = |s: &State| (s.positions[i] - s.positions[0]).norm();
        assert!((distance(&state) - distance(&before)).abs() < 4e-6);
        assert!((state.velocities[i].norm() - before.velocities[i].norm()).abs() < 1e-5);
    }
}

#[test]
fn a_pause_changes_no_bit() {
    let model = cloth::build(&sheet(6, true)).unwrap();
    let mut state = State::new(&model);
    run(&model, 3, &Drive::default(), 5, &mut state);
    let before = hash(&state);
    let mut solver = Xpbd::new(&model, 3);
    for dt in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        solver.step(&model, &Drive::default(), dt, &mut state);
        assert_eq!(hash(&state), before);
    }
}

#[test]
fn what_is_not_finite_does_not_spread() {
    let model = cloth::build(&sheet(6, true)).unwrap();
    let mut state = State::new(&model);
    state.positions[20] = Vec3::new(f32::NAN, 0.0, 0.0);
    state.velocities[21] = Vec3::new(0.0, f32::INFINITY, 0.0);
    let drive = Drive {
        pins: &[(0, Vec3::new(f32::NAN, 0.0, 0.0)), (99, Vec3::zeros())],
        ..Drive::default()
    };
    run(&model, 5, &drive, 10, &mut state);
    assert!(state.is_finite());
    let broken = Drive {
        gravity: Vec3::new(f32::NAN, f32::INFINITY, 0.0),
        wind: Vec3::new(f32::NAN, 0.0, 0.0),
        ..Drive::default()
    };
    run(&model, 5, &broken, 10, &mut state);
    assert!(state.is_finite());
}

#[test]
fn coincident_points_slivers_and_loose_vertices_are_accepted() {
    let model = cloth::build(&ClothSpec {
        positions: vec![
            Vec3::zeros(),
            Vec3::zeros(),
            Vec3::x(),
            Vec3::z(),
            Vec3::new(9.0, 9.0, 9.0),
        ],
        triangles: vec![[0, 1, 2], [1, 2, 3], [2, 2, 3], [0, 0, 0], [1, 2, 3]],
        pinned: vec![0, 0],
        ..ClothSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    run(&model, 10, &Drive::default(), 60, &mut state);
    assert!(state.is_finite());
    assert!(state.positions[4].y < 6.0, "a loose vertex falls");
}

#[test]
fn tethers_keep_a_long_rope_short_at_few_substeps() {
    let count = 60u32;
    let rope = |tethers: Vec<Tether>| {
        Model::new(ModelSpec {
            positions: (0..count).map(|i| Vec3::x() * (i as f32 * 0.05)).collect(),
            inverse_masses: (0..count)
                .map(|i| if i == 0 { 0.0 } else { 100.0 })
                .collect(),
            links: (1..count)
                .map(|i| Link {
                    vertices: [i - 1, i],
                    rest_length: 0.05,
                    compliance: 0.0,
                })
                .collect(),
            tethers,
            ..ModelSpec::default()
        })
        .unwrap()
    };
    let tethers = (1..count)
        .map(|vertex| Tether {
            vertex,
            anchor: 0,
            max_length: vertex as f32 * 0.05 * 1.01,
        })
        .collect();
    let [loose, tied] = [rope(Vec::new()), rope(tethers)].map(|model| {
        let mut state = State::new(&model);
        run(&model, 2, &Drive::default(), 120, &mut state);
        state.positions[count as usize - 1].norm()
    });
    assert!(tied <= 59.0 * 0.05 * 1.01 + 1e-5, "{tied}");
    assert!(tied < loose, "{tied} {loose}");
}

#[test]
fn a_model_survives_its_spec() {
    let model = cloth::build(&sheet(5, true)).unwrap();
    let again = Model::try_from(ModelSpec::from(model.clone())).unwrap();
    assert_eq!(again.spec(), model.spec());
}

#[test]
fn errors_name_the_place() {
    let build = |edit: fn(&mut ClothSpec)| {
        let mut spec = sheet(3, true);
        edit(&mut spec);
        cloth::build(&spec).err().unwrap()
    };
    assert_eq!(
        build(|s| s.positions[4].x = f32::NAN),
        SimError::NotFinite { vertex: 4 }
    );
    let out_of_range = |what, index, vertex| SimError::VertexOutOfRange {
        what,
        index,
        vertex,
        vertex_count: 9,
    };
    assert_eq!(
        build(|s| s.triangles[2][1] = 9),
        out_of_range("triangle", 2, 9)
    );
    assert_eq!(build(|s| s.pinned[1] = 10), out_of_range("pin", 1, 10));
    assert!(matches!(
        build(|s| s.density = 0.0),
        SimError::OutOfRange {
            what: "density",
            ..
        }
    ));
    assert!(matches!(
        build(|s| s.damping = f32::NAN),
        SimError::OutOfRange {
            what: "damping",
            ..
        }
    ));
    assert_eq!(
        cloth::build(&ClothSpec::default()).err(),
        Some(SimError::Empty)
    );
    let pair = ModelSpec {
        positions: vec![Vec3::zeros(), Vec3::x()],
        inverse_masses: vec![1.0, 1.0],
        ..ModelSpec::default()
    };
    let link = Link {
        vertices: [1, 1],
        rest_length: 1.0,
        compliance: 0.0,
    };
    let with_link = ModelSpec {
        links: vec![link],
        ..pair.clone()
    };
    assert_eq!(
        Model::new(with_link).err(),
        Some(SimError::SelfLink { link: 0, vertex: 1 })
    );
    let tether = Tether {
        vertex: 0,
        anchor: 1,
        max_length: 1.0,
    };
    let with_tether = ModelSpec {
        tethers: vec![tether],
        ..pair
    };
    assert_eq!(
        Model::new(with_tether).err(),
        Some(SimError::FreeAnchor {
            tether: 0,
            anchor: 1
        })
    );
}

#[test]
fn a_kilometre_away_cloth_hangs_as_long() {
    let length = |shift: Vec3| {
        let mut spec = sheet(16, true);
        for x in &mut spec.positions {
            *x += shift;
        }
        let model = cloth::build(&spec).unwrap();
        let mut state = State::new(&model);
        run(&model, 20, &Drive::default(), 180, &mut state);
        (state.positions[0] - state.positions[240]).norm()
    };
    // Positions of a state are rounded to 6e-5 m out there, once a step and not in each substep.
    let [near, far] = [Vec3::zeros(), Vec3::new(1024.0, 0.0, -1024.0)].map(length);
    assert!((near - far).abs() < 5e-3, "{near} {far}");
}

#[test]
fn a_tether_to_a_particle_that_is_pinned_to_skin_is_a_leash() {
    // Particle 1 may stray from where the skin is by 5 cm; particle 0 is where the skin is.
    let model = Model::new(ModelSpec {
        positions: vec![Vec3::zeros(); 2],
        inverse_masses: vec![0.0, 1.0],
        tethers: vec![Tether {
            vertex: 1,
            anchor: 0,
            max_length: 0.05,
        }],
        ..ModelSpec::default()
    })
    .unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 10);
    for frame in 1..=120 {
        let angle = frame as f32 * 0.1;
        let skin = Vec3::new(libm::cosf(angle) - 1.0, 0.0, libm::sinf(angle));
        let drive = Drive {
            pins: &[(0, skin)],
            ..Drive::default()
        };
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
        let strayed = (state.positions[1] - skin).norm();
        assert!(strayed < 0.05 + 1e-6, "{frame}: {strayed}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_soup_of_triangles_builds_and_runs_or_is_refused(
        positions in prop::collection::vec((-3i8..3, -3i8..3, -3i8..3), 0..12),
        triangles in prop::collection::vec([0u32..12, 0u32..12, 0u32..12], 0..30),
        pinned in prop::collection::vec(0u32..12, 0..4),
    ) {
        let spec = ClothSpec {
            positions: positions
                .iter()
                .map(|(x, y, z)| Vec3::new(f32::from(*x), f32::from(*y), f32::from(*z)))
                .collect(),
            triangles,
            pinned,
            ..ClothSpec::default()
        };
        if let Ok(model) = cloth::build(&spec) {
            let mut state = State::new(&model);
            run(&model, 3, &Drive::default(), 10, &mut state);
            prop_assert!(state.is_finite());
        }
    }
}
