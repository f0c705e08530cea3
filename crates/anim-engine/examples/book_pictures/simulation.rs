//! Chapters 11 and 12: stretch by substeps, a drape, a cantilever by stiffness.

use std::error::Error;
use std::sync::Arc;

use anim_engine::geom::tet::{Split, lattice};
use anim_engine::geom::{Collider, MeshBvh, Shape, normals, primitives};
use anim_engine::sim::cloth::{self, ClothSpec};
use anim_engine::sim::element::Material;
use anim_engine::sim::soft::{self, SoftSpec};
use anim_engine::sim::{Drive, Model, SelfContact, Solver, State, Xpbd, quasi_static};
use anim_math::{Affine, Transform, Vec3};
use anim_view::{Camera, Canvas, Image, Style, sheet};

use crate::{BLUE, ORANGE, Picture, plot};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("11-substeps", substeps()?),
        ("11-drape", drape()?),
        ("12-cantilever", cantilever()?),
    ])
}

/// A square metre of n × n vertices, held along one edge.
fn hanging(n: u32) -> ClothSpec {
    let mesh = primitives::grid(n - 1, n - 1, 1.0 / (n - 1) as f32);
    ClothSpec {
        pinned: (0..n).collect(),
        positions: mesh.rest.positions,
        triangles: mesh.triangles,
        stretch_compliance: 1e-3,
        bend_compliance: f32::INFINITY,
        max_stretch: f32::INFINITY,
        damping: 0.0,
        drag: 0.0,
        ..ClothSpec::default()
    }
}

/// Mean stretch in per cent, a second after a sheet of 50 × 50 begins to swing, with all sweeps in substeps of their own,
/// or in one step.
fn substeps() -> Result<Image, Box<dyn Error>> {
    let model = cloth::build(&hanging(50))?;
    let stretch = |substeps: u32, iterations: u32| {
        let mut state = State::new(&model);
        let mut solver = Xpbd::with_iterations(&model, substeps, iterations);
        for _ in 0..60 {
            solver.step(&model, &Drive::default(), 1.0 / 60.0, &mut state);
        }
        let links = &model.spec().links;
        let along = links.iter().filter(|link| {
            let [a, b] = link.vertices.map(|v| model.rest()[v as usize]);
            a.x == b.x
        });
        let strains: Vec<f32> = along
            .map(|link| {
                let [a, b] = link.vertices.map(|v| state.positions[v as usize]);
                (b - a).norm() / link.rest_length - 1.0
            })
            .collect();
        100.0 * strains.iter().sum::<f32>() / strains.len() as f32
    };
    let sweeps = [5, 7, 10, 14, 20, 28, 40];
    let log = |value: f32| libm::log10f(value.max(1e-3));
    let small: Vec<_> = sweeps.map(|n| [n as f32, log(stretch(n, 1))]).to_vec();
    let large: Vec<_> = sweeps.map(|n| [n as f32, log(stretch(1, n))]).to_vec();
    Ok(plot(
        "Sweeps are better spent on smaller steps",
        ["sweeps a frame", "log10 of mean stretch, per cent"],
        &[("one step", large, ORANGE), ("a step each", small, BLUE)],
        640,
    )?)
}

/// A cloth on a ball and a box, at four moments.
fn drape() -> Result<Image, Box<dyn Error>> {
    let grid = primitives::grid(64, 48, 0.03);
    let lift = |p: &Vec3| p + Vec3::y() * 0.95;
    let model = cloth::build(&ClothSpec {
        positions: grid.rest.positions.iter().map(lift).collect(),
        triangles: grid.triangles,
        thickness: 0.008,
        // Off itself, and off the edges of the box.
        self_contact: Some(SelfContact {
            thickness: 0.008,
            ..SelfContact::default()
        }),
        ..ClothSpec::default()
    })?;
    let at = |x: f32, y: f32| Affine::from(Transform::from_translation(Vec3::new(x, y, 0.0)));
    let cuboid = MeshBvh::new(&primitives::cuboid(Vec3::new(0.22, 0.35, 0.22)))?;
    let rough = |shape: Shape, world_from_shape: Affine| Collider {
        friction: 0.5,
        ..Collider::new(shape, world_from_shape)
    };
    let colliders = [
        rough(Shape::Plane, Affine::IDENTITY),
        rough(Shape::Sphere { radius: 0.3 }, at(-0.35, 0.5)),
        rough(Shape::Mesh(Arc::new(cuboid)), at(0.35, 0.351)),
    ];
    let drive = Drive {
        colliders: &colliders,
        ..Drive::default()
    };
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 15);
    let mut images = Vec::new();
    for frame in 0..=120 {
        if frame % 40 == 0 {
            images.push(scene(&model, &state, &colliders[1..], [0.62, 0.12, 0.10])?);
        }
        solver.step(&model, &drive, 1.0 / 60.0, &mut state);
    }
    let labels = ["0 s", "0.67 s", "1.33 s", "2 s"].map(str::to_owned);
    Ok(sheet(&images, &labels, 4))
}

/// A bar of 1 m under its weight, at rest, for three moduli.
fn cantilever() -> Result<Image, Box<dyn Error>> {
    let mesh = lattice([24, 4, 4], Vec3::new(1.0, 0.16, 0.16), Split::Five);
    let pinned: Vec<u32> = (0..mesh.positions.len() as u32)
        .filter(|v| mesh.positions[*v as usize].x == 0.0)
        .collect();
    let mut images = Vec::new();
    for young in [1e6, 2e5, 6e4] {
        let bar = soft::build(&SoftSpec {
            mesh: mesh.clone(),
            material: Material {
                young,
                poisson: 0.4,
                ..Material::default()
            },
            pinned: pinned.clone(),
            ..SoftSpec::default()
        })?;
        let mut state = State::new(&bar);
        quasi_static::solve(
            &bar,
            &Drive::default(),
            &mut state,
            &quasi_static::QuasiStaticOptions::default(),
        );
        images.push(scene(&bar, &state, &[], [0.10, 0.32, 0.60])?);
    }
    let labels = ["1 MPa", "200 kPa", "60 kPa"].map(str::to_owned);
    Ok(sheet(&images, &labels, 3))
}

fn scene(
    model: &Model,
    state: &State,
    colliders: &[Collider],
    color: [f32; 3],
) -> Result<Image, Box<dyn Error>> {
    let mut canvas = Canvas::new(360, 340, 2)?;
    let (low, high) = match colliders.is_empty() {
        true => (Vec3::new(0.0, -0.75, -0.1), Vec3::new(1.0, 0.2, 0.3)),
        false => (Vec3::new(-0.95, 0.0, -0.7), Vec3::new(0.95, 1.0, 0.7)),
    };
    let camera = Camera::framing(low, high, 0.5, 0.3, 360.0 / 340.0);
    if !colliders.is_empty() {
        canvas.ground_grid(&camera, 0.0, 4.0);
    }
    let grey = Style {
        color: [0.35, 0.35, 0.38],
        ..Style::default()
    };
    for collider in colliders {
        canvas.collider(&camera, collider, &grey);
    }
    let triangles = &model.spec().triangles;
    let mut smooth = vec![Vec3::y(); state.positions.len()];
    normals::smooth(&state.positions, triangles, &mut smooth);
    let style = Style {
        color,
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(&camera, &state.positions, &smooth, triangles, &style);
    Ok(canvas.finish())
}
