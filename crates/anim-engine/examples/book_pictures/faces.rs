//! Chapter 9: two shapes and their corrective, lids with stops, an elbow that keeps its volume.

use std::error::Error;

use anim_geom::{Mesh, normals, primitives};
use anim_math::{Vec3, quat};
use anim_skin::morph::corrective::corrective;
use anim_skin::morph::in_between::stop_weights;
use anim_skin::{Kernel, MorphTarget, PoseSpace, VertexBlocks};
use anim_view::{Canvas, Image, Style, ViewError, sheet};

use crate::frames::facing;
use crate::skinning::{Deformer, Limb, step};
use crate::{BLUE, GREEN, ORANGE, Picture, RED, graph, plot};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("09-corrective", corrected()?),
        ("09-lid", lid()?),
        ("09-elbow", elbow()?),
    ])
}

/// Height of the closed mouth, m.
const MOUTH: f32 = -0.42;

/// A bell of width 1.
fn bell(x: f32, y: f32) -> f32 {
    libm::expf(-(x * x + y * y))
}

/// A head of 1 m radius that looks along +z, with a nose.
fn head() -> Mesh {
    let mut mesh = primitives::sphere(1.0, 200, 150);
    for p in &mut mesh.rest.positions {
        *p = Vec3::new(0.78 * p.x, p.y, 0.8 * p.z);
        if p.z > 0.0 {
            p.z += 0.2 * bell(p.x / 0.12, (p.y + 0.06) / 0.17);
        }
    }
    mesh
}

/// The colour of the head at rest: eyes, brows and lips.
fn paint(p: &Vec3) -> [f32; 3] {
    let within = |x: f32, y: f32, width: f32, height: f32| {
        let (x, y) = ((p.x.abs() - x) / width, (p.y - y) / height);
        x * x + y * y < 1.0
    };
    if p.z < 0.0 {
        [0.2, 0.1, 0.05]
    } else if within(0.0, MOUTH, 0.3, 0.012) || within(0.3, 0.2, 0.055, 0.055) {
        [0.03, 0.02, 0.02]
    } else if within(0.0, MOUTH, 0.34, 0.07) {
        [0.5, 0.1, 0.09]
    } else if within(0.3, 0.2, 0.13, 0.1) {
        [0.9, 0.9, 0.88]
    } else if within(0.3, 0.42, 0.18, 0.03) || p.y > 0.78 - 0.3 * p.x * p.x {
        [0.2, 0.1, 0.05]
    } else {
        [0.8, 0.52, 0.38]
    }
}

/// A shape that moves the front of the head.
fn shape(rest: &[Vec3], displacement: impl Fn(&Vec3) -> Vec3) -> MorphTarget {
    let mut target = MorphTarget::default();
    for (vertex, p) in (0..).zip(rest).filter(|(_, p)| p.z > 0.0) {
        let moved = displacement(p);
        if moved.norm() > 1e-4 {
            target.vertices.push(vertex);
            target.positions.push(moved);
        }
    }
    target
}

fn smile(p: &Vec3) -> Vec3 {
    let near = bell((p.x.abs() - 0.32) / 0.17, (p.y - MOUTH) / 0.2);
    Vec3::new(0.13 * p.x.signum(), 0.2, -0.04) * near
}

/// The jaw falls; what is between the lips is stretched.
fn open(p: &Vec3) -> Vec3 {
    let below = (0.5 + (MOUTH - p.y) / 0.024).clamp(0.0, 1.0);
    let fade = 1.0 - 0.55 * ((MOUTH - p.y) / 0.6).clamp(0.0, 1.0);
    Vec3::new(0.0, -0.3, -0.05) * (below * fade * bell(p.x / 0.27, 0.0))
}

/// What a smile with an open mouth should be: less at the corners, wider between the lips.
fn laugh(p: &Vec3) -> Vec3 {
    let wider = Vec3::new(0.72 * p.x, p.y, p.z);
    let cheeks = Vec3::new(0.0, 0.06, 0.05) * bell((p.x.abs() - 0.42) / 0.16, p.y + 0.1);
    smile(p) * 0.5 + open(&wider) * 0.85 + cheeks
}

fn corrected() -> Result<Image, Box<dyn Error>> {
    let mesh = head();
    let rest = &mesh.rest.positions;
    let colors: Vec<[f32; 3]> = rest.iter().map(paint).collect();
    let shapes = [shape(rest, smile), shape(rest, open)];
    let sculpt = shape(rest, laugh);
    let added = |targets: &[&MorphTarget]| {
        let mut positions = rest.clone();
        for target in targets {
            for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
                positions[*vertex as usize] += displacement;
            }
        }
        positions
    };
    let fix = corrective(rest, &added(&[&sculpt]), &shapes, 1e-5)?;
    let [smile, open] = &shapes;
    let panels: [(&str, &[&MorphTarget]); 5] = [
        ("rest", &[]),
        ("smile", &[smile]),
        ("open", &[open]),
        ("sum of both", &[smile, open]),
        ("and corrective", &[smile, open, &fix]),
    ];
    let (mut frames, mut labels) = (Vec::new(), Vec::new());
    for (name, targets) in panels {
        frames.push(portrait(&mesh, added(targets), &colors)?);
        labels.push(name.to_owned());
    }
    Ok(sheet(&frames, &labels, 5))
}

fn portrait(mesh: &Mesh, positions: Vec<Vec3>, colors: &[[f32; 3]]) -> Result<Image, ViewError> {
    let mut shading = vec![Vec3::zeros(); positions.len()];
    normals::smooth(&positions, &mesh.triangles, &mut shading);
    let mut canvas = Canvas::new(128, 160, 3)?;
    let camera = facing(Vec3::new(0.0, -0.05, 0.0), 2.3);
    let style = Style::default();
    canvas.painted_mesh(
        &camera,
        &positions,
        &shading,
        &mesh.triangles,
        colors,
        &style,
    );
    Ok(canvas.finish())
}

/// How deep the edge of a lid cuts into an eye of 12 mm radius, with more and more stops.
fn lid() -> Result<Image, ViewError> {
    let edge = |part: f32| {
        let angle = (40.0 - 80.0 * part).to_radians();
        Vec3::new(12.0 * libm::cosf(angle), 12.0 * libm::sinf(angle), 0.0)
    };
    let height = |knots: &[f32]| {
        graph(0.0, 1.0, 200, |control| {
            let mut weights = vec![0.0; knots.len()];
            stop_weights(knots, control, &mut weights);
            let moves = knots.iter().zip(&weights);
            let moved: Vec3 = moves
                .map(|(knot, weight)| (edge(*knot) - edge(0.0)) * *weight)
                .sum();
            (edge(0.0) + moved).norm() - 12.0
        })
    };
    let lines = [
        ("one shape", height(&[1.0]), RED),
        ("a stop at 1/2", height(&[0.5, 1.0]), ORANGE),
        (
            "stops at 1/4, 1/2, 3/4",
            height(&[0.25, 0.5, 0.75, 1.0]),
            BLUE,
        ),
    ];
    let axes = ["control: 0 open, 1 closed", "height over the eyeball, mm"];
    plot("The edge of a lid", axes, &lines, 640)
}

/// The volume of an elbow that bends, with correctives sculpted at 90° and at 45°.
fn elbow() -> Result<Image, Box<dyn Error>> {
    let limb = Limb::new(2.0, Vec3::zeros(), step(1.0))?;
    let bent = |degrees| limb.palette(Vec3::z(), degrees);
    let goal = |degrees| limb.deformed(Deformer::DualQuaternion, &bent(degrees));
    let corrective = |degrees| limb.skin.corrective(&bent(degrees), &goal(degrees));
    let fixes = [corrective(90.0), corrective(45.0)];
    let joint = |degrees: f32| vec![quat::from_axis_angle(Vec3::z(), degrees.to_radians())];
    let space = |poses: &[f32]| {
        let poses: Vec<_> = poses.iter().map(|degrees| joint(*degrees)).collect();
        PoseSpace::new(&joint(0.0), &poses, &[1.0], Kernel::Linear)
    };
    let (one, two) = (space(&[90.0])?, space(&[90.0, 45.0])?);
    let places = limb.skin.vertex_from_source();
    let whole = limb.volume(limb.skin.rest());
    let volume = |degrees: f32, weights: [f32; 2]| {
        let mut morphed = limb.skin.rest().clone();
        for (fix, weight) in fixes.iter().zip(weights) {
            for (source, displacement) in fix.vertices.iter().zip(&fix.positions) {
                let vertex = places[*source as usize] as usize;
                let position = morphed.position(vertex) + displacement * weight;
                morphed.set_position(vertex, position);
            }
        }
        let mut out = VertexBlocks::new(morphed.len());
        limb.skin.linear(&morphed, &bent(degrees), &mut out);
        limb.volume(&out) / whole
    };
    let curve = |weights: &dyn Fn(f32) -> [f32; 2]| {
        graph(0.0, 135.0, 54, |degrees| volume(degrees, weights(degrees)))
    };
    let fade = |degrees: f32| {
        let s = ((degrees - 45.0) / 45.0).clamp(0.0, 1.0);
        [s * s * (3.0 - 2.0 * s), 0.0]
    };
    let by_pose = |space: &PoseSpace, count: usize, degrees: f32| {
        let mut weights = [0.0; 2];
        space.weights(&joint(degrees), &mut weights[..count]);
        weights
    };
    let lines = [
        ("linear", curve(&|_| [0.0; 2]), ORANGE),
        ("faded in from 45 deg", curve(&fade), GREEN),
        ("by pose", curve(&|degrees| by_pose(&one, 1, degrees)), RED),
        (
            "two poses",
            curve(&|degrees| by_pose(&two, 2, degrees)),
            BLUE,
        ),
    ];
    let axes = ["angle of the elbow, deg", "volume / rest"];
    Ok(plot(
        "Correctives sculpted at 90 deg, and at 45",
        axes,
        &lines,
        640,
    )?)
}
