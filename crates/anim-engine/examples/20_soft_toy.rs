//! A toy that is dropped, squeezed and let go, a bar under its weight by four laws, and a bar that is twisted:
//! `cargo run -p anim-engine --features solve --example 20_soft_toy [PICTURE.png]`.
//!
//! The toy is eleven balls that cross each other. Tetrahedra are stuffed into them, simulated, and carry the balls along:
//! what is drawn is finer than what is simulated.

mod common;

use std::sync::Arc;

use anim_engine::geom::tet::{Embedding, Split, StuffOptions, lattice, stuff};
use anim_engine::geom::{Collider, Mesh, MeshBvh, Shape, TetMesh, primitives, topology};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::sim::element::{Law, Material};
use anim_engine::sim::soft::{self, SoftSpec};
use anim_engine::sim::{Drive, Model, QuasiStaticOptions, Solver, State, Xpbd, quasi_static};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{Outcome, announce, caption, draw_triangles, stacked, write};

const FUR: [f32; 3] = [0.42, 0.22, 0.08];
const RUBBER: [f32; 3] = [0.08, 0.30, 0.58];
const PRESS: [f32; 3] = [0.35, 0.36, 0.40];
/// Balls of the toy: x (also on the other side), y, z and radius, m.
const BALLS: [[f32; 4]; 8] = [
    [0.0, 0.24, 0.0, 0.19],
    [0.0, 0.51, 0.04, 0.145],
    [0.0, 0.485, 0.155, 0.06],
    [0.11, 0.635, 0.0, 0.06],
    [0.205, 0.33, 0.05, 0.085],
    [0.12, 0.10, 0.11, 0.10],
    [0.0, 0.20, 0.03, 0.19],
    [0.0, 0.09, -0.13, 0.09],
];
const FPS: u32 = 60;
/// When pictures are taken, frames.
const SHOWN: [u32; 6] = [0, 16, 60, 105, 132, 210];

fn main() -> Outcome {
    let (toy, toy_line) = toy()?;
    let (bent, bent_line) = cantilevers()?;
    let (twisted, twisted_line) = twisted()?;
    let mut parts = Vec::new();
    for (image, line) in [(toy, toy_line), (bent, bent_line), (twisted, twisted_line)] {
        announce(&line);
        parts.extend([caption(image.width, &line), image]);
    }
    write("20_soft_toy", &stacked(&parts))
}

/// Dropped, squeezed and let go.
fn toy() -> Outcome<(Image, String)> {
    let drop = Vec3::y() * 0.35;
    let surface = balls(drop);
    let solid = stuff(&surface, &StuffOptions { resolution: 14 })?;
    let embedding = Embedding::new(&solid, &surface.rest.positions)?;
    let model = soft::build(&SoftSpec {
        mesh: solid.clone(),
        material: Material {
            young: 2.5e4,
            poisson: 0.45,
            density: 150.0,
            damping: 0.02,
            ..Material::default()
        },
        // Plush on felt.
        friction: 4.0,
        damping: 0.5,
        ..SoftSpec::default()
    })?;
    let mut state = State::new(&model);
    let mut solver = Xpbd::new(&model, 20);
    let half = Vec3::new(0.02, 0.34, 0.24);
    let plate = Shape::Mesh(Arc::new(MeshBvh::new(&primitives::cuboid(half))?));
    let colliders = |frame: u32| {
        let place = |side: f32| {
            let at = Vec3::new(side * press(frame), 0.36, 0.0);
            Affine::from(Transform::from_translation(at))
        };
        [
            Collider::new(Shape::Plane, Affine::IDENTITY),
            Collider::new(plate.clone(), place(-1.0)),
            Collider::new(plate.clone(), place(1.0)),
        ]
    };

    let camera = Camera::framing(
        Vec3::new(-0.42, 0.0, -0.25),
        Vec3::new(0.42, 1.06, 0.4),
        0.12,
        0.15,
        200.0 / 240.0,
    );
    // The seams of the balls are sewn up, so that they are shaded as one.
    let welded = topology::weld(&surface.rest.positions);
    let triangles: Vec<[u32; 3]> = surface
        .triangles
        .iter()
        .map(|triangle| triangle.map(|v| welded[v as usize]))
        .collect();
    let mut carried = surface.rest.positions.clone();
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    let mut least = 1.0_f64;
    for frame in 0..=SHOWN[SHOWN.len() - 1] {
        if frame > 0 {
            let drive = Drive {
                colliders: &colliders(frame),
                previous_colliders: &colliders(frame - 1),
                ..Drive::default()
            };
            solver.step(&model, &drive, 1.0 / FPS as f32, &mut state);
        }
        let ratio = volume_ratio(&solid, &state);
        least = least.min(ratio);
        if SHOWN.contains(&frame) {
            embedding.apply(&state.positions, &mut carried);
            let mut canvas = Canvas::new(200, 240, 2)?;
            canvas.ground_grid(&camera, 0.0, 3.0);
            draw_triangles(&mut canvas, &camera, &carried, &triangles, FUR);
            let style = Style {
                color: PRESS,
                ..Style::default()
            };
            let plates = &colliders(frame)[1..];
            plates
                .iter()
                .for_each(|plate| canvas.collider(&camera, plate, &style));
            images.push(canvas.finish());
            labels.push(format!(
                "{:.2} s: volume {ratio:.3}",
                frame as f32 / FPS as f32
            ));
        }
    }
    let inside_out = moved(&solid, &state)
        .volumes()
        .filter(|v| *v <= 0.0)
        .count();
    let line = format!(
        "a toy of {} tetrahedra under {} triangles: least volume {least:.3} of that at rest, {inside_out} tetrahedra inside out at the end",
        solid.tets.len(),
        triangles.len(),
    );
    Ok((sheet(&images, &labels, images.len()), line))
}

/// Half the distance of the plates: they close from 1.0 to 1.75 s, and open from 2.2 s.
fn press(frame: u32) -> f32 {
    let time = frame as f32 / FPS as f32;
    let smooth = |t: f32| {
        let t = t.clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    0.40 - 0.18 * (smooth((time - 1.0) / 0.75) - smooth((time - 2.2) / 0.8))
}

/// All balls as one surface that crosses itself.
fn balls(offset: Vec3) -> Mesh {
    let mut all = Mesh::default();
    for [x, y, z, radius] in BALLS {
        let sides: &[f32] = if x == 0.0 { &[0.0] } else { &[-1.0, 1.0] };
        for side in sides {
            let ball = primitives::sphere(radius, 32, 24);
            let first = all.rest.positions.len() as u32;
            let center = Vec3::new(side * x, y, z) + offset;
            let positions = ball.rest.positions.iter().map(|p| p + center);
            all.rest.positions.extend(positions);
            all.rest.normals.extend(ball.rest.normals);
            all.uvs.extend(ball.uvs);
            let triangles = ball.triangles.iter().map(|t| t.map(|v| v + first));
            all.triangles.extend(triangles);
        }
    }
    all
}

/// A bar of 1 m, held at one end, at rest under its weight, by law.
fn cantilevers() -> Outcome<(Image, String)> {
    let laws = [
        ("linear", Law::Linear),
        ("corotational", Law::Corotational),
        ("stable Neo-Hookean", Law::StableNeoHookean),
        ("St. Venant", Law::StVenantKirchhoff),
    ];
    let mesh = bar();
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for (name, law) in laws {
        let model = held(&mesh, law, |x| x.x == 0.0)?;
        let mut state = State::new(&model);
        let options = QuasiStaticOptions::default();
        quasi_static::solve(&model, &Drive::default(), &mut state, &options);
        let tip = state.positions.last().copied().unwrap_or_default();
        let ratio = volume_ratio(&mesh, &state);
        let line = format!("{name}: {:.2} m, volume {ratio:.3}", 0.16 - tip.y);
        announce(&line);
        images.push(bar_picture(&model, &state, -0.75)?);
        labels.push(line);
    }
    let line = "a bar of 800 kPa under its weight, how far its end sinks: the linear law swells as it turns".to_owned();
    Ok((sheet(&images, &labels, images.len()), line))
}

/// A bar whose far end is turned about its axis.
fn twisted() -> Outcome<(Image, String)> {
    let mesh = bar();
    let model = held(&mesh, Law::StableNeoHookean, |x| x.x == 0.0 || x.x == 1.0)?;
    let axis = Vec3::new(0.0, 0.08, 0.08);
    let degrees = [0.0_f32, 90.0, 180.0, 270.0];
    let pins = |turned: f32| {
        let rotation = quat::from_axis_angle(Vec3::x(), turned.to_radians());
        let ends = (0_u32..).zip(&mesh.positions);
        let ends = ends.filter(|(_, x)| x.x == 1.0);
        ends.map(|(v, x)| (v, rotation * (x - axis) + axis))
            .collect::<Vec<_>>()
    };
    // In steps small enough that each equilibrium leads to the next.
    let steps = (0..=18_u8).map(|step| pins(15.0 * f32::from(step)));
    let drive = Drive {
        gravity: Vec3::zeros(),
        ..Drive::default()
    };
    let found = quasi_static::sweep(&model, steps, &drive, &QuasiStaticOptions::default());
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    let mut worst = 0.0_f64;
    for (degrees, equilibrium) in degrees.iter().zip(found.iter().step_by(6)) {
        let mut state = State::new(&model);
        state.positions.clone_from(&equilibrium.positions);
        let ratio = volume_ratio(&mesh, &state);
        worst = worst.max((ratio - 1.0).abs());
        images.push(bar_picture(&model, &state, -0.12)?);
        labels.push(format!("turned by {degrees}: volume {ratio:.3}"));
    }
    let line = format!("the bar twisted, without weight: volume within {worst:.3} of that at rest");
    Ok((sheet(&images, &labels, images.len()), line))
}

fn bar() -> TetMesh {
    lattice([20, 4, 4], Vec3::new(1.0, 0.16, 0.16), Split::Five)
}

/// A solid of 800 kPa, pinned where `is_held` says.
fn held(mesh: &TetMesh, law: Law, is_held: impl Fn(&Vec3) -> bool) -> Outcome<Model> {
    let vertices = (0_u32..).zip(&mesh.positions);
    let pinned = vertices.filter(|(_, x)| is_held(x)).map(|(v, _)| v);
    Ok(soft::build(&SoftSpec {
        mesh: mesh.clone(),
        pinned: pinned.collect(),
        material: Material {
            law,
            young: 8e5,
            poisson: 0.4,
            ..Material::default()
        },
        ..SoftSpec::default()
    })?)
}

fn bar_picture(model: &Model, state: &State, lowest: f32) -> Outcome<Image> {
    let low = Vec3::new(0.0, lowest, -0.05);
    let camera = Camera::framing(low, Vec3::new(1.1, 0.28, 0.21), 0.35, 0.2, 1.2);
    let mut canvas = Canvas::new(300, 250, 2)?;
    let triangles = &model.spec().triangles;
    draw_triangles(&mut canvas, &camera, &state.positions, triangles, RUBBER);
    Ok(canvas.finish())
}

/// The solid where it is now.
fn moved(rest: &TetMesh, state: &State) -> TetMesh {
    TetMesh {
        positions: state.positions.clone(),
        tets: rest.tets.clone(),
    }
}

/// Volume now against that at rest.
fn volume_ratio(rest: &TetMesh, state: &State) -> f64 {
    moved(rest, state).volume() / rest.volume()
}
