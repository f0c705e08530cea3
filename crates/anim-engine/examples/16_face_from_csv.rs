//! A face that follows a recording of the 52 ARKit weights: `cargo run --example 16_face_from_csv [PICTURE.png]
//! [WEIGHTS.csv]`.
//!
//! Columns are found by name, and the character's shapes too, however they are spelt. The face is the ICT one where that
//! file is; else a cartoon of balls with a dozen shapes.

mod common;

use std::sync::Arc;

use anim_engine::asset::{self, Document, MeshSpec, Node, Primitive};
use anim_engine::geom::{Mesh, primitives};
use anim_engine::math::Vec3;
use anim_engine::skin::MorphTarget;
use anim_engine::skin::morph::{arkit, csv};
use anim_engine::{Actor, Character, Config, Engine};
use anim_view::{Camera, Canvas, Image, sheet};
use common::{Outcome, announce, data, draw, write};

const CELL: [u32; 2] = [230, 270];
const COLUMNS: usize = 4;
/// Frames of the recording that are shown at most.
const SHOWN: usize = 8;

fn main() -> Outcome {
    let document = match data("face/ict_face_arkit51.glb") {
        Some(file) => asset::load(&file)?,
        None => cartoon(),
    };
    let given = std::env::args().find(|argument| argument.ends_with(".csv"));
    let text = match given {
        Some(path) => std::fs::read_to_string(path)?,
        None => include_str!("16_face.csv").to_owned(),
    };
    let frames = csv::read(&text)?;

    let character = Arc::new(Character::from_document(&document, &Default::default())?);
    let names = character.weight_names().iter();
    let names: Vec<&str> = names.map(|name| name.as_deref().unwrap_or("")).collect();
    let report = arkit::match_names(&names);
    let missing: Vec<&str> = report.missing.iter().map(|n| arkit::NAMES[*n]).collect();
    announce(&format!(
        "{} of 52 shapes; without {}",
        report.found.len(),
        missing.join(", ")
    ));

    let mut engine = Engine::new(Config::default())?;
    let face = engine.spawn(Arc::clone(&character));
    engine.step(0.0);
    let camera = engine.actor(face).map(portrait).ok_or("no actor")?;
    let step = frames.len().div_ceil(SHOWN).max(1);
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for frame in (0..frames.len()).step_by(step) {
        let actor = engine.actor_mut(face).ok_or("no actor")?;
        for (known, shape) in &report.found {
            actor.morph_weights[*shape] = frames.weights(frame)[*known];
        }
        engine.step(0.0);
        let actor = engine.actor(face).ok_or("no actor")?;
        let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
        draw(&mut canvas, &camera, actor);
        pictures.push(canvas.finish());
        labels.push(label(&frames.timecodes, frame, frames.weights(frame)));
    }
    let picture: Image = sheet(&pictures, &labels, COLUMNS);
    write("16_face_from_csv", &picture)
}

/// When, and the strongest shape.
fn label(timecodes: &[String], frame: usize, weights: &[f32; 52]) -> String {
    let when = timecodes.get(frame).map_or("", String::as_str);
    let strongest = (0..52).max_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
    match strongest.filter(|shape| weights[*shape] > 0.0) {
        Some(shape) => format!("{when} {}", arkit::NAMES[shape]),
        None => format!("{when} neutral"),
    }
}

/// A camera before the face.
fn portrait(actor: &Actor) -> Camera {
    let surfaces = actor.surfaces().iter();
    let boxes = surfaces.map(|surface| surface.bounds());
    let (low, high) = boxes.fold(
        (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY)),
        |(low, high), around| (low.inf(&around.min), high.sup(&around.max)),
    );
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    Camera::framing(low, high, 0.25, 0.05, aspect)
}

/// A part of the cartoon: where its middle is, its half sizes and its colour; the head has a radius of 0.1 m.
struct Part {
    name: &'static str,
    middle: [f32; 3],
    half: [f32; 3],
    color: [f32; 3],
}

const DARK: [f32; 3] = [0.02, 0.02, 0.03];
#[rustfmt::skip]
static PARTS: [Part; 6] = [
    Part { name: "head", middle: [0.0, 0.0, 0.0], half: [0.09, 0.11, 0.1], color: [0.75, 0.45, 0.28] },
    Part { name: "nose", middle: [0.0, -0.005, 0.1], half: [0.014, 0.016, 0.016], color: [0.72, 0.38, 0.22] },
    Part { name: "eyes", middle: [0.034, 0.025, 0.088], half: [0.012, 0.014, 0.01], color: DARK },
    Part { name: "brows", middle: [0.035, 0.053, 0.081], half: [0.019, 0.0045, 0.01], color: [0.12, 0.05, 0.02] },
    Part { name: "mouth", middle: [0.0, -0.046, 0.086], half: [0.036, 0.005, 0.013], color: [0.30, 0.03, 0.03] },
    Part { name: "ears", middle: [0.09, 0.0, 0.0], half: [0.012, 0.025, 0.018], color: [0.72, 0.40, 0.24] },
];
const SHAPES: [&str; 17] = [
    "eyeBlinkLeft",
    "eyeBlinkRight",
    "eyeWideLeft",
    "eyeWideRight",
    "jawOpen",
    "mouthSmileLeft",
    "mouthSmileRight",
    "mouthFrownLeft",
    "mouthFrownRight",
    "mouthPucker",
    "cheekPuff",
    "browInnerUp",
    "browDownLeft",
    "browDownRight",
    "browOuterUpLeft",
    "browOuterUpRight",
    "noseSneerLeft",
];

/// A head with a nose, eyes, brows, a mouth and ears, all balls.
fn cartoon() -> Document {
    let primitives = PARTS.iter().map(|part| {
        let is_pair = part.middle[0] != 0.0;
        let sides: &[f32] = if is_pair { &[1.0, -1.0] } else { &[1.0] };
        let mut mesh = Mesh::default();
        sides.iter().for_each(|side| add(&mut mesh, part, *side));
        let shape = |name: &&str| target(name, part, &mesh.rest.positions);
        Primitive {
            targets: SHAPES.iter().map(shape).collect(),
            color: part.color,
            mesh,
            ..Primitive::default()
        }
    });
    Document {
        meshes: vec![MeshSpec {
            primitives: primitives.collect(),
            ..MeshSpec::default()
        }],
        nodes: vec![Node {
            mesh: Some(0),
            ..Node::default()
        }],
        scenes: vec![vec![0]],
        ..Document::default()
    }
}

/// Adds one ball of a part, left for a `side` of 1 and right for -1.
fn add(mesh: &mut Mesh, part: &Part, side: f32) {
    let ball = primitives::sphere(1.0, 32, 24);
    let (half, mut middle) = (Vec3::from(part.half), Vec3::from(part.middle));
    middle.x *= side;
    let first = mesh.vertex_count() as u32;
    for (p, n) in ball.rest.positions.iter().zip(&ball.rest.normals) {
        mesh.rest.positions.push(middle + p.component_mul(&half));
        mesh.rest.normals.push(n.component_div(&half).normalize());
    }
    let triangles = ball.triangles.iter();
    mesh.triangles
        .extend(triangles.map(|corners| corners.map(|vertex| first + vertex)));
}

/// What a shape does to a part.
fn target(name: &str, part: &Part, positions: &[Vec3]) -> MorphTarget {
    let moved = positions.iter().map(|p| displacement(name, part, *p));
    let (vertices, positions) = (0..)
        .zip(moved)
        .filter(|(_, d)| *d != Vec3::zeros())
        .unzip();
    MorphTarget {
        name: Some(name.to_owned()),
        vertices,
        positions,
        normals: Vec::new(),
    }
}

/// How far a shape moves the point `p` of a part.
fn displacement(name: &str, part: &Part, p: Vec3) -> Vec3 {
    let middle = Vec3::from(part.middle);
    // Shapes of one side leave the other alone; they fade in across the mouth.
    let share = match (name.ends_with("Left"), name.ends_with("Right")) {
        (true, _) => (0.5 + p.x / 0.03).clamp(0.0, 1.0),
        (_, true) => (0.5 - p.x / 0.03).clamp(0.0, 1.0),
        _ => 1.0,
    };
    let corner = (p.x / 0.036).powi(2);
    let along = ((p.x.abs() - 0.016) / 0.038).clamp(0.0, 1.0);
    let height = p.y - middle.y;
    let stem = name.trim_end_matches("Left").trim_end_matches("Right");
    let whole = match (part.name, stem) {
        ("eyes", "eyeBlink") => Vec3::y() * (-0.88 * height),
        ("eyes", "eyeWide") => Vec3::y() * (0.35 * height),
        ("mouth", "jawOpen") => Vec3::y() * (if height < 0.0 { 6.0 } else { 1.0 } * height),
        ("mouth", "mouthSmile") => Vec3::new(0.15 * p.x, 0.016 * corner, -0.004 * corner),
        ("mouth", "mouthFrown") => Vec3::new(0.0, -0.014 * corner, 0.0),
        ("mouth", "mouthPucker") => Vec3::new(-0.6 * p.x, 1.2 * height, 0.006),
        ("brows", "browInnerUp") => Vec3::y() * (0.014 * (1.0 - along)),
        ("brows", "browDown") => Vec3::y() * (-0.004 - 0.012 * (1.0 - along)),
        ("brows", "browOuterUp") => Vec3::y() * (0.012 * along),
        ("nose", "noseSneer") => Vec3::new(0.2 * p.x, 0.3 * height, 0.0),
        ("head", "jawOpen") if p.y < 0.0 => Vec3::y() * (0.25 * p.y),
        _ => Vec3::zeros(),
    };
    whole * share
}
