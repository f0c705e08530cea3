//! Sheets: static answers, the law of bending, and what must not depend on mesh, step, threads or stiffness.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

mod common;

use anim_geom::{Collider, Shape};
use anim_math::{Affine, Vec3, quat};
use anim_sim::cloth::{self, Bending, ClothSpec, Weave};
use anim_sim::element::{Area, Cluster, Hinge, Material, Tet, Volume};
use anim_sim::{Drive, Model, ModelSpec, Solver, State, Xpbd};
use common::{edges_only, hash, run, sheet};

/// A square metre that hangs from its upper edge, at rest where it would be without weight.
fn hanging(n: u32) -> ClothSpec {
    let down = quat::from_axis_angle(Vec3::x(), std::f32::consts::FRAC_PI_2);
    let mut spec = sheet(n, true);
    for x in &mut spec.positions {
        *x = down * *x;
    }
    ClothSpec {
        bend_compliance: f32::INFINITY,
        max_stretch: f32::INFINITY,
        damping: 4.0,
        drag: 0.0,
        ..spec
    }
}

#[test]
fn a_hanging_sheet_of_threads_strains_by_its_weight() {
    let n = 12;
    let model = cloth::build(&ClothSpec {
        weave: Some(Weave {
            warp: Vec3::y() * -3.0,
            stiffness: [50.0, 50.0, 10.0],
            limits: [0.0, f32::INFINITY],
        }),
        ..hanging(n)
    })
    .unwrap();
    let mut state = State::new(&model);
    run(&model, 30, &Drive::default(), 120, &mut state);
    let strain = |row: u32| {
        let mean = (0..n)
            .map(|c| {
                let [a, b] = [row, row + 1].map(|r| state.positions[(r * n + c) as usize]);
                (a - b).norm()
            })
            .sum::<f32>()
            / n as f32;
        mean * (n - 1) as f32 - 1.0
    };
    // ρ g L / 2k = 1.96 % on average, twice that at the edge that carries all; Green's strain shows e as e + 1.5 e².
    let mean = (0..n - 1).map(strain).sum::<f32>() / (n - 1) as f32;
    assert!((mean / 0.0192 - 1.0).abs() < 0.05, "{mean}");
    let (first, last) = (strain(0), strain(n - 2));
    assert!((first / 0.0365 - 1.0).abs() < 0.05, "{first}");
    assert!(last.abs() < 0.003, "{last}");
    let measures = model.measure(&state, Vec3::zeros());
    assert!(
        (measures.max_strain - f64::from(first)).abs() < 2e-3,
        "{measures:?}"
    );
}

#[test]
fn cloth_hangs_as_long_at_any_frame_rate() {
    let model = cloth::build(&ClothSpec {
        stretch_compliance: 2e-2,
        ..hanging(12)
    })
    .unwrap();
    let lengths = [30u16, 60, 144].map(|rate| {
        let mut state = State::new(&model);
        let mut solver = Xpbd::new(&model, 10);
        for _ in 0..4 * rate {
            solver.step(&model, &Drive::default(), 1.0 / f32::from(rate), &mut state);
        }
        -state.positions[140].y
    });
    // A particle falls g h² before the first link holds it: that much of the stretch depends on the step.
    assert!(lengths[0] > 1.01, "{lengths:?}");
    for length in lengths {
        assert!((length / lengths[2] - 1.0).abs() < 0.008, "{lengths:?}");
    }
}

#[test]
fn cloth_of_any_stiffness_and_weight_is_stable() {
    for stiffness in [1.0f32, 1e3, 1e6] {
        for density in [0.2, 0.002] {
            let model = cloth::build(&ClothSpec {
                stretch_compliance: 1.0 / stiffness,
                density,
                bend_compliance: f32::INFINITY,
                max_stretch: f32::INFINITY,
                damping: 0.0,
                drag: 0.0,
                ..sheet(20, true)
            })
            .unwrap();
            let mut state = State::new(&model);
            let mut solver = Xpbd::new(&model, 10);
            let mut fastest = 0.0;
            for _ in 0..60 {
                solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
                fastest = state
                    .velocities
                    .iter()
                    .map(|v| v.norm())
                    .fold(fastest, f32::max);
            }
            // A second of free fall, which a sheet of 1 N/m nearly is, ends at 9.8 m/s; so do whips.
            assert!(fastest < 12.0, "{stiffness} {density}: {fastest}");
        }
    }
}

/// A strip clamped at one end that bends under its weight: how far its tip sinks, in lengths.
fn sag(size: f32, bending: Bending, load: f32) -> f32 {
    let (long, wide) = (9, 3);
    let cell = size / (long - 1) as f32;
    let stiffness = 0.2 * 9.81 * size * size * size / load;
    // The two pinned rows clamp it where the second lies.
    let spec = ClothSpec {
        positions: (0..(long + 1) * wide)
            .map(|v| Vec3::new((v % wide) as f32, 0.0, (v / wide) as f32 - 1.0) * cell)
            .collect(),
        triangles: (0..long * wide)
            .filter(|v| v % wide != wide - 1)
            .flat_map(|v| match (v / wide + v) % 2 {
                0 => [[v, v + wide, v + 1], [v + 1, v + wide, v + wide + 1]],
                _ => [[v, v + wide, v + wide + 1], [v, v + wide + 1, v + 1]],
            })
            .collect(),
        pinned: (0..2 * wide).collect(),
        bending: match bending {
            Bending::Isometric(k) => Bending::Isometric(k * stiffness),
            Bending::Dihedral(c) => Bending::Dihedral(c / stiffness),
            Bending::Springs => Bending::Springs,
        },
        stretch_compliance: 0.0,
        max_stretch: f32::INFINITY,
        damping: 3.0 / size.sqrt(),
        drag: 0.0,
        ..ClothSpec::default()
    };
    let model = cloth::build(&spec).unwrap();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 60);
    for _ in 0..150 {
        solver.step(&model, &Drive::default(), size.sqrt() / 60.0, &mut state);
    }
    -state.positions[(long * wide) as usize].y / size
}

#[test]
fn a_clamped_strip_sags_as_the_elastica_does() {
    // Self-weight w L³ / EI = 1 sinks the tip by 0.12347 L, and a chain of n rigid cells that bends by EI / cell at its
    // root as well by 1 + 3/2n + 1/2n² of that. One projection a substep leaves some per cent.
    let expected = 0.12347 * (1.0 + 1.5 / 8.0 + 0.5 / 64.0);
    let found = sag(1.0, Bending::Isometric(1.0), 1.0);
    assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
}

#[test]
fn bending_is_the_same_law_at_a_metre_and_at_a_centimetre() {
    for bending in [Bending::Isometric(1.0), Bending::Dihedral(1.0)] {
        let [large, small] = [1.0, 0.01].map(|size| sag(size, bending, 2.0));
        assert!(large > 0.02, "{large}");
        assert!(
            (small / large - 1.0).abs() < 0.02,
            "{bending:?}: {large} {small}"
        );
    }
}

/// Everything there is, in one body.
fn zoo() -> Model {
    let n = 80;
    let spec = ClothSpec {
        bending: Bending::Isometric(1e-4),
        weave: Some(Weave {
            warp: Vec3::new(1.0, 0.0, 0.3),
            stiffness: [500.0, 300.0, 50.0],
            limits: [0.0, 1.1],
        }),
        shear_compliance: 1e-2,
        skip_compliance: 1e-3,
        seams: vec![[n * n - 1, n * n - n]],
        viscosity: 1e-4,
        lift: 0.05,
        ..sheet(n, true)
    };
    let mut spec = ModelSpec::from(cloth::build(&spec).unwrap());
    let first = spec.positions.len() as u32;
    let corners = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
    for block in 0..4u8 {
        let at = Vec3::new(f32::from(block), 2.0, 0.0);
        spec.positions.extend(corners.map(|c| at + c * 0.5));
        spec.inverse_masses.extend([4.0; 4]);
        let v = first + 4 * u32::from(block);
        spec.tets.push(Tet {
            vertices: [v, v + 1, v + 2, v + 3],
            material: 0,
        });
        spec.areas.push(Area {
            vertices: [v, v + 1, v + 2],
            rest_area: 0.1,
            compliance: 1e-3,
        });
        spec.hinges.push(Hinge {
            vertices: [v, v + 1, v + 2, v + 3],
            rest_angle: 1.0,
            compliance: 1e-2,
        });
    }
    spec.materials.push(Material {
        damping: 1e-3,
        ..Material::default()
    });
    spec.volumes.push(Volume {
        triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
            .map(|t: [u32; 3]| t.map(|v| v + first))
            .to_vec(),
        rest_volume: 0.03,
        compliance: 1e-4,
    });
    spec.clusters.push(Cluster {
        vertices: (first + 6..first + 12).collect(),
        compliance: 1e-4,
    });
    Model::new(spec).unwrap()
}

#[test]
fn bits_depend_on_no_number_of_threads() {
    let model = zoo();
    let wind = Vec3::new(0.5, 0.0, 2.0);
    let loads = [(100, Vec3::y() * 0.01)];
    let drive = Drive {
        wind,
        loads: &loads,
        ..Drive::default()
    };
    let hashes = [1, 2, 3, 8].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut state = State::new(&model);
        let mut solver = Xpbd::with_iterations(&model, 3, 2);
        pool.build().unwrap().install(|| {
            for _ in 0..8 {
                solver.step(&model, &drive, 1.0 / 60.0, &mut state);
            }
        });
        assert!(state.is_finite());
        hash(&state)
    });
    assert!(hashes.iter().all(|h| *h == hashes[0]), "{hashes:?}");
}

#[test]
fn substeps_that_go_through_a_body_together_are_those_that_go_one_after_the_other() {
    let n = 90;
    let mut spec = sheet(n, true);
    spec.viscosity = 1e-3;
    let model = cloth::build(&spec).unwrap();
    let ball = |x: f32| {
        let place = Affine {
            translation: Vec3::new(x, -0.1, 0.5),
            ..Affine::IDENTITY
        };
        Collider::new(Shape::Sphere { radius: 0.12 }, place)
    };
    let run = |threads: Option<usize>| {
        let mut state = State::new(&model);
        // No multiple of how many go together.
        let mut solver = Xpbd::new(&model, 11);
        let mut frames = || {
            for frame in 0..4 {
                let along = 0.1 * frame as f32;
                let pins: Vec<(u32, Vec3)> = (0..n)
                    .map(|v| (v, model.rest()[v as usize] + Vec3::new(along, along, 0.0)))
                    .collect();
                let drive = Drive {
                    wind: Vec3::z() * 3.0,
                    pins: &pins,
                    loads: &[(n * n - 1, Vec3::y() * -0.05)],
                    colliders: &[ball(0.3 + along)],
                    previous_colliders: &[ball(0.2 + along)],
                    ..Drive::default()
                };
                solver.step(&model, &drive, 1.0 / 60.0, &mut state);
            }
        };
        match threads {
            None => frames(),
            Some(count) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
                pool.build().unwrap().install(frames);
            }
        }
        hash(&state)
    };
    // A thread alone takes several substeps through the sheet at once; two share each.
    let alone = run(None);
    assert_eq!([alone; 2], [run(Some(1)), run(Some(2))]);
}

#[test]
fn a_state_alone_decides_what_follows() {
    let model = zoo();
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 3);
    for _ in 0..5 {
        solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
    }
    let mut again = state.clone();
    solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
    run(&model, 3, &Drive::default(), 1, &mut again);
    assert_eq!(hash(&state), hash(&again));
}

/// The mean and largest stretch of the edges of a hanging sheet along the way it hangs, %.
fn stretch(n: u32, state: &State) -> (f32, f32) {
    let rest = 1.0 / (n - 1) as f32;
    let of =
        |v: u32| (state.positions[v as usize] - state.positions[(v + n) as usize]).norm() / rest;
    let stretches = (0..n * (n - 1)).map(|v| 100.0 * (of(v) - 1.0));
    let mean = stretches.clone().sum::<f32>() / (n * (n - 1)) as f32;
    (mean, stretches.fold(0.0, f32::max))
}

#[test]
fn a_sheet_that_falls_for_a_second_hardly_stretches() {
    let n = 100;
    let model = cloth::build(&edges_only(n)).unwrap();
    let mut state = State::new(&model);
    run(&model, 20, &Drive::default(), 60, &mut state);
    let (mean, max) = stretch(n, &state);
    assert!((0.0..0.6).contains(&mean), "{mean} % {max} %");
    assert!(max < 20.0, "{max} %");
}

#[test]
fn substeps_beat_iterations_at_the_same_cost() {
    let n = 40;
    let model = cloth::build(&edges_only(n)).unwrap();
    let [steps, sweeps] = [(10, 1), (1, 10)].map(|(substeps, iterations)| {
        let mut state = State::new(&model);
        let mut solver = Xpbd::with_iterations(&model, substeps, iterations);
        for _ in 0..60 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        }
        stretch(n, &state).0
    });
    assert!(steps < 0.1 * sweeps, "{steps} % {sweeps} %");
}
