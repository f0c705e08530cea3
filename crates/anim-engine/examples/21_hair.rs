//! A head of hair that shakes: `cargo run --example 21_hair [PICTURE.png]`.
//!
//! Some sixty guides are simulated as elastic rods, which never stretch; the strands between them follow, each with a style
//! of its own. The head is in their way; it turns on a stand.

mod common;

use std::f32::consts::{PI, TAU};

use anim_engine::geom::{Collider, Shape};
use anim_engine::math::{Affine, Random, Transform, Vec3, quat};
use anim_engine::sim::hair::style::{self, Frizz};
use anim_engine::sim::hair::{
    Followers, GuideTurns, Hair, HairDrive, HairSolver, HairSpec, HairState, HairVolume,
};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{Outcome, announce, bone, caption, stacked, write};

const CELL: [u32; 2] = [280, 300];
const FPS: u32 = 60;
const FRAMES: u32 = 120;
/// When pictures are taken, frames.
const SHOWN: [u32; 10] = [0, 10, 18, 26, 34, 42, 50, 60, 80, 120];
const HEAD: f32 = 0.095;
/// Segments of a groomed strand.
const STEPS: u8 = 24;
const SKIN: [f32; 3] = [0.50, 0.31, 0.22];
const STAND: [f32; 3] = [0.20, 0.21, 0.23];

fn main() -> Outcome {
    let guides = strands(60);
    let hair = Hair::new(HairSpec {
        segments: Some(16),
        thickness: 0.003,
        hold: 1.0,
        volume: Some(HairVolume {
            cell: 0.025,
            ..HairVolume::default()
        }),
        guides: guides.clone(),
        ..HairSpec::default()
    })?;
    let mut groom = strands(1500);
    style::clump(&mut groom, &strands(220), 0.6, 1.5);
    let frizz = Frizz {
        amplitude: 0.004,
        frequency: 18.0,
    };
    style::frizz(&mut groom, &frizz, 3);
    let followers = Followers::new(&hair, &groom, 3)?;

    let mut state = HairState::new(&hair);
    let mut solver = HairSolver::new(&hair);
    let mut turns = GuideTurns::new(&hair);
    let mut placed = vec![Vec3::zeros(); followers.vertex_count()];
    let (mut stretch, mut inside) = (0.0_f32, 0.0_f32);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..=FRAMES {
        let (before, now) = (head(frame.saturating_sub(1)), head(frame));
        if frame > 0 {
            let drive = HairDrive {
                world_from_root: now,
                previous_world_from_root: before,
                colliders: &[skull(now)],
                previous_colliders: &[skull(before)],
                ..HairDrive::default()
            };
            solver.step(&hair, &drive, 1.0 / FPS as f32, &mut state);
        }
        for guide in 0..hair.guide_count() {
            let range = hair.guide(guide);
            let (rest, now) = (&hair.groom()[range.clone()], &state.positions[range]);
            for (rest, now) in rest.windows(2).zip(now.windows(2)) {
                let ratio = (now[1] - now[0]).norm() / (rest[1] - rest[0]).norm();
                stretch = stretch.max((ratio - 1.0).abs());
            }
            let depths = now.iter().skip(1).map(|p| HEAD - p.norm());
            inside = inside.max(depths.fold(0.0, f32::max));
        }
        if SHOWN.contains(&frame) {
            turns.update(&hair, &state);
            followers.place(&hair, &turns, &mut placed);
            images.push(picture(&followers, &placed, now)?);
            labels.push(format!("{:.2} s", frame as f32 / FPS as f32));
        }
    }
    let line = format!(
        "{} guides of 16 segments, {} strands: segments stretch by {stretch:.1e} at most, guides are at most {:.1} mm inside the head",
        hair.guide_count(),
        followers.len(),
        1e3 * inside
    );
    announce(&line);
    let sheet = sheet(&images, &labels, SHOWN.len() / 2);
    write("21_hair", &stacked(&[caption(sheet.width, &line), sheet]))
}

/// Strands all over the scalp but the face, which is at +z: up and out of it, then down.
fn strands(count: u16) -> Vec<Vec<Vec3>> {
    let total = 2 * count;
    let golden = PI * (3.0 - libm::sqrtf(5.0));
    let mut random = Random::new(11, u64::from(count), 0);
    let mut strands = Vec::new();
    for n in 0..total {
        let y = 1.0 - 2.0 * (f32::from(n) + 0.5) / f32::from(total);
        let (sin, cos) = libm::sincosf(golden * f32::from(n));
        let around = libm::sqrtf(1.0 - y * y);
        let out = Vec3::new(around * cos, y, around * sin);
        // The hair line: from the forehead over the ears to the nape.
        if out.y < 0.55 * out.z + 0.12 - 0.35 * (1.0 - out.z).min(1.0) {
            continue;
        }
        // Parted in front, and combed back from the face.
        let side = if out.x < 0.0 { -0.35 } else { 0.35 };
        let level = Vec3::new(
            out.x + side * (out.z + 0.5).clamp(0.0, 1.0),
            0.0,
            out.z - 0.75,
        );
        let away = level.try_normalize(1e-6).unwrap_or(Vec3::x());
        let length = 0.26 * random.range(0.94, 1.0);
        let mut points = vec![out * HEAD];
        for step in 0..STEPS {
            let at = points[points.len() - 1];
            let along = f32::from(step) / f32::from(STEPS);
            let from_neck = Vec3::new(at.x, 0.0, at.z + 0.02);
            let drawn_in = 0.45 * ((from_neck.norm() - 0.075) / 0.04).clamp(0.0, 1.0);
            let mut way = out * (0.5 - 6.0 * along).max(0.0)
                + away * 0.9 * (1.0 - 2.6 * along).max(0.0)
                - Vec3::y() * (0.15 + (3.0 * along).min(1.0))
                - from_neck.normalize() * drawn_in * (3.0 * along).min(1.0);
            // It lies on the head.
            let up = at.normalize();
            let down = way.dot(&up).min(0.0);
            if at.norm() < HEAD + 0.006 {
                way -= up * down;
            }
            points.push(at + way.normalize() * (length / f32::from(STEPS)));
        }
        strands.push(points);
    }
    strands
}

/// Shakes twice in the first second, then rests.
fn head(frame: u32) -> Transform {
    let time = frame as f32 / FPS as f32;
    let swing = if time < 1.0 {
        libm::sinf(time * TAU) * libm::sinf(time * PI)
    } else {
        0.0
    };
    let shake = quat::from_axis_angle(Vec3::y(), 1.1 * swing);
    Transform::from_rotation(shake)
}

fn skull(head: Transform) -> Collider {
    Collider::new(Shape::Sphere { radius: HEAD }, Affine::from(head))
}

fn picture(followers: &Followers, strands: &[Vec3], head: Transform) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let low = Vec3::new(-0.2, -0.31, -0.16);
    let camera = Camera::framing(low, Vec3::new(0.2, 0.12, 0.16), 0.5, 0.05, aspect);
    let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
    let foot = Vec3::y() * -0.28;
    bone(&mut canvas, &camera, [foot, Vec3::zeros()], 0.022, STAND);
    bone(
        &mut canvas,
        &camera,
        [foot - Vec3::x() * 0.05, foot + Vec3::x() * 0.05],
        0.03,
        STAND,
    );
    let style = Style {
        color: SKIN,
        ..Style::default()
    };
    canvas.collider(&camera, &skull(head), &style);
    let world_from_head = Affine::from(head);
    let mut feature = |x: f32, y: f32, radius: f32, color| {
        let z = libm::sqrtf(HEAD * HEAD - x * x - y * y);
        let at = world_from_head.transform_point(Vec3::new(x, y, z));
        bone(&mut canvas, &camera, [at, at], radius, color);
    };
    feature(0.0, -0.02, 0.013, SKIN);
    feature(-0.034, 0.012, 0.009, common::INK);
    feature(0.034, 0.012, 0.009, common::INK);
    // Strokes cover each other in the order in which they are drawn: from far to near.
    let mut strokes = Vec::new();
    let mut random = Random::new(5, 0, 0);
    for strand in 0..followers.len() {
        let shade = random.range(0.5, 1.3);
        let points = strands[followers.strand(strand)].windows(2);
        for (step, pair) in points.enumerate() {
            // Lighter where it lies across the light from above, and to the tips.
            let way = (pair[1] - pair[0]).normalize();
            let light = 0.45 + 0.8 * (1.0 - way.y * way.y) + 0.012 * step as f32;
            let color = [0.22, 0.085, 0.03].map(|c| c * shade * light);
            let ends = [pair[0], pair[1]].map(|p| world_from_head.transform_point(p));
            strokes.push(((ends[0] - camera.eye).norm(), ends, color));
        }
    }
    strokes.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, [from, to], color) in strokes {
        canvas.line(&camera, from, to, color, 1.3);
    }
    Ok(canvas.finish())
}
