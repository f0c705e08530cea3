//! Vertex block descent: the answers of statics, what is conserved, and that nothing breaks it.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

#[path = "../common/mod.rs"]
mod common;
mod robust;

use anim_geom::tet::{Split, TetMesh, lattice};
use anim_math::{Vec3, nalgebra};
use anim_sim::cloth::{self, ClothSpec};
use anim_sim::element::{Area, Flex, Hinge, Material, Membrane, Tet};
use anim_sim::{Drive, Link, Model, ModelSpec, Solver, State, Vbd, VbdOptions, Xpbd};
use common::sheet;

const STILL: Drive<'static> = Drive {
    gravity: Vec3::new(0.0, 0.0, 0.0),
    wind: Vec3::new(0.0, 0.0, 0.0),
    pins: &[],
    loads: &[],
    activations: &[],
    colliders: &[],
    previous_colliders: &[],
};

fn options(substeps: u32, iterations: u32) -> VbdOptions {
    VbdOptions {
        substeps,
        iterations,
        spectral_radius: 0.0,
    }
}

fn run(model: &Model, options: VbdOptions, drive: &Drive<'_>, frames: u32, state: &mut State) {
    let mut solver = Vbd::new(model, options);
    for _ in 0..frames {
        solver.step(model, drive, 1.0 / 60.0, state);
    }
}

/// A chain along −y from a pinned particle, 0.1 m a link, 1 kg a particle.
fn chain(links: u32, compliance: f32, damping: f32) -> ModelSpec {
    ModelSpec {
        positions: (0..=links).map(|i| Vec3::y() * (-0.1 * i as f32)).collect(),
        inverse_masses: (0..=links)
            .map(|i| if i == 0 { 0.0 } else { 1.0 })
            .collect(),
        links: (0..links)
            .map(|i| Link {
                vertices: [i, i + 1],
                rest_length: 0.1,
                compliance,
            })
            .collect(),
        damping,
        ..ModelSpec::default()
    }
}

/// A bar of tetrahedra along x whose end at x = 0 is pinned if asked, of 1000 kg/m³.
fn bar(cells: [u32; 3], size: Vec3, material: Material, is_pinned: bool) -> Model {
    let mesh = lattice(cells, size, Split::Five);
    let mut masses = vec![0.0; mesh.positions.len()];
    for (tet, volume) in mesh.tets.iter().zip(mesh.volumes()) {
        for v in tet {
            masses[*v as usize] += volume * 1000.0 / 4.0;
        }
    }
    let inverse_mass = |(x, mass): (&Vec3, &f64)| {
        if is_pinned && x.x == 0.0 {
            0.0
        } else {
            (1.0 / mass) as f32
        }
    };
    let places = mesh.positions.iter().zip(&masses);
    Model::new(ModelSpec {
        inverse_masses: places.map(inverse_mass).collect(),
        tets: mesh
            .tets
            .iter()
            .map(|tet| Tet {
                vertices: *tet,
                material: 0,
            })
            .collect(),
        positions: mesh.positions,
        materials: vec![material],
        ..ModelSpec::default()
    })
    .unwrap()
}

fn volume(model: &Model, state: &State) -> f64 {
    TetMesh {
        positions: state.positions.clone(),
        tets: model.spec().tets.iter().map(|tet| tet.vertices).collect(),
    }
    .volume()
}

fn momenta(model: &Model, state: &State) -> [nalgebra::Vector3<f64>; 2] {
    let mut momenta = [nalgebra::Vector3::zeros(); 2];
    for (w, (x, v)) in model
        .spec()
        .inverse_masses
        .iter()
        .zip(state.positions.iter().zip(&state.velocities))
    {
        let momentum = v.cast::<f64>() / f64::from(*w);
        momenta[0] += momentum;
        momenta[1] += x.cast::<f64>().cross(&momentum);
    }
    momenta
}

#[test]
fn a_hanging_mass_stretches_by_its_weight_times_the_compliance_for_any_step_and_damping() {
    for (dt, substeps, iterations, radius, damping) in [
        (1.0 / 30.0, 1, 1, 0.0, 4.0),
        (1.0 / 60.0, 1, 20, 0.0, 1.0),
        (1.0 / 60.0, 20, 1, 0.0, 10.0),
        (1.0 / 144.0, 5, 5, 0.9, 4.0),
    ] {
        let model = Model::new(chain(1, 0.01, damping)).unwrap();
        let mut state = State::new(&model);
        let mut solver = Vbd::new(
            &model,
            VbdOptions {
                substeps,
                iterations,
                spectral_radius: radius,
            },
        );
        let mut outcome = None;
        for _ in 0..(12.0 / dt) as u32 {
            outcome = Some(solver.step(&model, &Drive::default(), dt, &mut state));
        }
        let stretch = -state.positions[1].y - 0.1;
        assert!(
            (stretch - 0.0981).abs() < 1e-5,
            "{dt} {substeps}: {stretch}"
        );
        assert!(outcome.unwrap().residual < 1e-6);
    }
}

#[test]
fn a_hanging_chain_stretches_at_each_link_by_the_weight_below() {
    let model = Model::new(chain(8, 1e-3, 4.0)).unwrap();
    let mut state = State::new(&model);
    run(&model, options(1, 20), &Drive::default(), 480, &mut state);
    for link in 0..8 {
        let length = (state.positions[link] - state.positions[link + 1]).norm();
        let expected = 0.1 + 1e-3 * 9.81 * (8 - link) as f32;
        assert!((length - expected).abs() < 1e-5, "link {link}: {length}");
    }
}

#[test]
fn loads_add_to_gravity_and_pins_are_met() {
    let model = Model::new(chain(1, 0.01, 4.0)).unwrap();
    let mut state = State::new(&model);
    let drive = Drive {
        loads: &[(1, Vec3::y() * 5.0), (1, Vec3::y() * 4.81), (9, Vec3::x())],
        pins: &[(0, Vec3::new(0.0, 1.0, 0.0))],
        ..Drive::default()
    };
    run(&model, options(2, 4), &drive, 600, &mut state);
    assert_eq!(state.positions[0], Vec3::y());
    assert!(
        (state.positions[1] - Vec3::y() * 0.9).norm() < 1e-5,
        "{:?}",
        state.positions[1]
    );
}

#[test]
fn viscosity_moves_no_equilibrium() {
    let sag = |damping| {
        let material = Material {
            young: 2e5,
            poisson: 0.4,
            damping,
            ..Material::default()
        };
        let model = bar([6, 2, 2], Vec3::new(0.6, 0.2, 0.2), material, true);
        let mut state = State::new(&model);
        let mut solver = Vbd::new(&model, options(2, 30));
        for _ in 0..400 {
            solver.step(&model, &Drive::default(), 1.0 / 30.0, &mut state);
        }
        let fastest = state
            .velocities
            .iter()
            .map(|v| v.norm())
            .fold(0.0, f32::max);
        assert!(fastest < 1e-3, "{damping}: {fastest}");
        state.positions[6].y
    };
    let [dry, viscous] = [0.0, 0.05].map(sag);
    assert!(dry < -0.01, "{dry}");
    assert!((viscous / dry - 1.0).abs() < 2e-3, "{viscous} {dry}");
}

#[test]
fn a_swelling_viscous_ball_of_jelly_keeps_its_spin() {
    let material = Material {
        young: 1e4,
        poisson: 0.4,
        damping: 0.1,
        ..Material::default()
    };
    let model = bar([2, 2, 2], Vec3::new(0.2, 0.2, 0.2), material, false);
    let mut state = State::new(&model);
    let spin = Vec3::new(0.5, 1.0, -0.3);
    for (v, x) in state.velocities.iter_mut().zip(&state.positions) {
        *v = spin.cross(x) + Vec3::new(0.3, 0.2, 0.1);
    }
    let before = momenta(&model, &state);
    run(&model, options(4, 40), &STILL, 60, &mut state);
    let after = momenta(&model, &state);
    let lost = |i: usize| (after[i] - before[i]).norm() / before[i].norm();
    assert!(lost(0) < 1e-4, "{}", lost(0));
    // Implicit Euler loses ω²h²/2 a substep to the chord being shorter than the arc: 0.26 % a second at this rate.
    assert!(lost(1) < 5e-3, "{}", lost(1));
}

#[test]
fn energy_decays_when_nothing_drives_it() {
    let material = Material {
        young: 1e4,
        poisson: 0.3,
        ..Material::default()
    };
    let model = bar([3, 1, 1], Vec3::new(0.3, 0.1, 0.1), material, true);
    let mut state = State::new(&model);
    for v in &mut state.velocities {
        v.z = 1.0;
    }
    let kinetic = |state: &State| -> f32 {
        let masses = model.spec().inverse_masses.iter();
        let each = masses.zip(&state.velocities).filter(|(w, _)| **w > 0.0);
        each.map(|(w, v)| 0.5 * v.norm_squared() / w).sum()
    };
    let mut solver = Vbd::new(&model, options(2, 20));
    let mut most = kinetic(&state);
    for _ in 0..8 {
        let mut peak = 0.0f32;
        for _ in 0..60 {
            solver.step(&model, &STILL, 1.0 / 60.0, &mut state);
            peak = peak.max(kinetic(&state));
        }
        assert!(peak <= most, "{peak} {most}");
        most = peak;
    }
}

#[test]
fn at_equal_cost_position_based_cloth_stretches_less() {
    let n = 40;
    let model = cloth::build(&ClothSpec {
        stretch_compliance: 1e-3,
        bend_compliance: f32::INFINITY,
        max_stretch: f32::INFINITY,
        damping: 0.0,
        drag: 0.0,
        ..sheet(n, true)
    })
    .unwrap();
    let stretch = |solver: &mut dyn Solver| {
        let mut state = State::new(&model);
        for _ in 0..60 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        }
        let count = (n * (n - 1)) as usize;
        let lengths =
            (0..count).map(|v| (state.positions[v] - state.positions[v + n as usize]).norm());
        lengths.sum::<f32>() / count as f32 * (n - 1) as f32 - 1.0
    };
    // A sweep of vertex block descent visits each link twice.
    let xpbd = stretch(&mut Xpbd::new(&model, 20));
    let vbd = stretch(&mut Vbd::new(&model, options(10, 1)));
    println!("mean stretch: xpbd {xpbd:.4}, vbd {vbd:.4}");
    assert!(xpbd < vbd && vbd < 0.2, "{xpbd} {vbd}");
}

#[test]
fn chebyshev_brings_the_equilibrium_sooner() {
    let model = Model::new(chain(30, 1e-3, 0.0)).unwrap();
    let bottom = |spectral_radius| {
        let mut state = State::new(&model);
        let mut solver = Vbd::new(
            &model,
            VbdOptions {
                substeps: 1,
                iterations: 40,
                spectral_radius,
            },
        );
        // One step so long that inertia does not matter: the static answer, 9.81 · 30 · 31 / 2 mm.
        solver.step(&model, &Drive::default(), 100.0, &mut state);
        -state.positions[30].y - 3.0
    };
    let expected = 9.81e-3 * 465.0;
    let [plain, fast] = [0.0, 0.98].map(|radius| (bottom(radius) - expected).abs());
    assert!(fast < 0.7 * plain, "{fast} {plain}");
}

#[test]
fn bending_and_areas_and_membranes_hold_their_shape() {
    // Two triangles, the second folded by a right angle: they open to the rest angle of each element.
    let fold = |angle: f32| {
        vec![
            Vec3::zeros(),
            Vec3::x(),
            Vec3::new(0.5, 1.0, 0.0),
            Vec3::new(0.5, -angle.cos(), -angle.sin()),
        ]
    };
    let edges = [[0u32, 1], [0, 2], [1, 2], [0, 3], [1, 3]];
    let spec = ModelSpec {
        positions: fold(0.0),
        inverse_masses: vec![1.0; 4],
        links: edges
            .map(|vertices| Link {
                vertices,
                rest_length: if vertices == [0, 1] {
                    1.0
                } else {
                    1.25f32.sqrt()
                },
                compliance: 1e-5,
            })
            .to_vec(),
        damping: 4.0,
        ..ModelSpec::default()
    };
    let vertices = [0, 1, 2, 3];
    let angle_after = |spec: ModelSpec| {
        let model = Model::new(spec).unwrap();
        let mut state = State::new(&model);
        state.positions = fold(1.5);
        let before = momenta(&model, &state);
        run(&model, options(2, 20), &STILL, 300, &mut state);
        let after = momenta(&model, &state);
        // 4 kg that swing at up to a metre a second, in sweeps that stop before the last bit.
        assert!((after[0] - before[0]).norm() < 1e-4, "{}", after[0]);
        let [a, b, c, d] = state.positions[..] else {
            return f32::NAN;
        };
        let (left, right) = ((b - a).cross(&(c - a)), (d - a).cross(&(b - a)));
        left.cross(&right)
            .dot(&(b - a))
            .atan2((b - a).norm() * left.dot(&right))
    };
    let hinged = angle_after(ModelSpec {
        hinges: vec![Hinge {
            vertices,
            rest_angle: 0.8,
            compliance: 0.1,
        }],
        ..spec.clone()
    });
    assert!((hinged - 0.8).abs() < 1e-3, "{hinged}");
    let flexed = angle_after(ModelSpec {
        flexes: vec![Flex {
            vertices,
            stiffness: 10.0,
        }],
        ..spec.clone()
    });
    assert!(flexed.abs() < 1e-3, "{flexed}");

    let held = |areas, membranes| {
        let model = Model::new(ModelSpec {
            positions: vec![Vec3::zeros(), Vec3::x(), Vec3::z()],
            inverse_masses: vec![0.0, 0.0, 1.0],
            areas,
            membranes,
            damping: 4.0,
            ..ModelSpec::default()
        })
        .unwrap();
        let mut state = State::new(&model);
        let drive = Drive {
            gravity: Vec3::z() * 2.0,
            ..Drive::default()
        };
        run(&model, options(2, 10), &drive, 600, &mut state);
        state.positions[2]
    };
    let area = Area {
        vertices: [0, 1, 2],
        rest_area: 0.5,
        compliance: 0.01,
    };
    // 2 N pull at a lever of half the side: A − A₀ = 0.01 · 2 / 0.5.
    let z = held(vec![area], Vec::new()).z;
    assert!((z - 1.08).abs() < 1e-4, "{z}");
    let membrane = Membrane {
        vertices: [0, 1, 2],
        material: [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        stiffness: [100.0, 50.0, 10.0],
        limits: [0.0, f32::INFINITY],
    };
    // ½ · 50 · E · F = 2 with E = ½ (F² − 1).
    let stretch = held(Vec::new(), vec![membrane]).z;
    let force = 0.25 * 50.0 * (stretch * stretch - 1.0) * stretch;
    assert!((force - 2.0).abs() < 1e-3, "{force}");
}
