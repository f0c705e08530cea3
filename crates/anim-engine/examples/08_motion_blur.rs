//! A fast wheel on film: still frames, a half-open shutter, and a full one that fades in and out.
//!
//! Still, a wheel of five spokes at 16 turns a second seems to stand or to turn backward; the aliasing report says so, and
//! a shutter shows that it is fast. `cargo run --example 08_motion_blur [PICTURE.png]`

mod common;

use std::f32::consts::{FRAC_PI_2, PI, TAU};
use std::sync::Arc;

use anim_engine::curves::clock::Filter;
use anim_engine::curves::{FrameClock, Interpolation, Key, Shutter, Track};
use anim_engine::geom::{Mesh, primitives};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skeleton::{AliasingOptions, Channel, ClipSpec, JointTrack};
use anim_engine::{ActorId, Character, Config, Engine, asset};
use anim_view::{Canvas, Image, color};
use common::{Outcome, caption, draw, stacked, write};

/// Frames of a row.
const FRAMES: i64 = 6;
/// Moments within an exposure.
const SAMPLES: u32 = 24;
/// Turns a second, and metres a second to the right.
const TURNS: f32 = 16.0;
const SPEED: f32 = 1.5;

fn main() -> Outcome {
    let document = wheel()?;
    let character = Arc::new(Character::from_document(&document, &Default::default())?);
    let skeleton = character.skeleton();
    let film = FrameClock::FILM;
    let report = document.clips[0].aliasing(skeleton, film, &AliasingOptions::default())?;
    let verdict = match report.iter().find(|joint| joint.seems_to_turn_backward()) {
        Some(joint) => format!(
            "aliasing report at 24 frames a second: turns {:.0} degrees a frame and seems to turn backward",
            joint.turn.amount.to_degrees()
        ),
        None => "aliasing report: nothing seems to turn backward".to_owned(),
    };

    let mut engine = Engine::new(Config::default())?;
    let id = engine.spawn(character);
    engine.actor_mut(id).ok_or("gone")?.play_clip(0);
    let half = Shutter::centred(f64::from(PI), SAMPLES)?;
    let full = Shutter::centred(f64::from(TAU), SAMPLES)?;
    let still = Shutter::centred(0.0, 1)?;
    let mut row = |shutter: Shutter, filter: Filter| -> Outcome<Image> {
        let frames = (1..=FRAMES).map(|frame| {
            let times = shutter.times(&film, frame);
            let moments = times.zip(shutter.weights(filter));
            exposed(&mut engine, id, moments)
        });
        let frames = frames.collect::<Outcome<Vec<Image>>>()?;
        let labels: Vec<String> = (1..=FRAMES).map(|n| format!("frame {n}")).collect();
        Ok(anim_view::sheet(&frames, &labels, FRAMES as usize))
    };
    let rows = [
        row(still, Filter::Box)?,
        row(half, Filter::Box)?,
        row(full, Filter::Triangle)?,
    ];
    let width = rows[0].width;
    let [sharp, boxed, faded] = rows;
    let picture = stacked(&[
        caption(width, &verdict),
        caption(width, "no shutter: one moment a frame"),
        sharp,
        caption(
            width,
            "180 degree shutter, box filter: 24 moments of equal weight over half a frame",
        ),
        boxed,
        caption(
            width,
            "360 degree shutter, triangle filter: 24 moments over a whole frame, fading in and out",
        ),
        faded,
    ]);
    write("08_motion_blur", &picture)
}

/// What film sees of several moments, each with its share of the light.
fn exposed(
    engine: &mut Engine,
    id: ActorId,
    moments: impl Iterator<Item = (f64, f64)>,
) -> Outcome<Image> {
    let camera = common::camera(Vec3::x() * 0.25, Vec3::new(0.62, 0.48, 0.05), 0.0, 0.0, 1.3);
    let mut light: Vec<[f32; 3]> = Vec::new();
    let mut image = Image::new(0, 0, [0; 3]);
    for (time, weight) in moments {
        let actor = engine.actor_mut(id).ok_or("gone")?;
        if let Some(playback) = actor.layers[0].playback_mut() {
            playback.seek(time);
        }
        actor.placement = Affine::from(Transform::from_translation(
            Vec3::x() * (SPEED * time as f32),
        ));
        engine.step(0.0);
        let mut canvas = Canvas::new(208, 160, 2)?;
        draw(&mut canvas, &camera, engine.actor(id).ok_or("gone")?);
        image = canvas.finish();
        light.resize(image.pixels.len(), [0.0; 3]);
        // Light adds up; the codes of pixels do not.
        for (sum, pixel) in light.iter_mut().zip(&image.pixels) {
            let pixel = color::decode(*pixel);
            (0..3).for_each(|n| sum[n] += weight as f32 * pixel[n]);
        }
    }
    for (pixel, light) in image.pixels.iter_mut().zip(light) {
        *pixel = color::encode(light);
    }
    Ok(image)
}

/// A rim, a hub and five spokes, one of them orange, that turn clockwise for a second.
fn wheel() -> Outcome<asset::Document> {
    let facing = quat::from_axis_angle(Vec3::x(), FRAC_PI_2);
    let turned = |mut mesh: Mesh, rotation, place: Vec3| {
        let map = Affine::from(Transform {
            translation: place,
            ..Transform::from_rotation(rotation)
        });
        for position in &mut mesh.rest.positions {
            *position = map.transform_point(*position);
        }
        for normal in &mut mesh.rest.normals {
            *normal = map.transform_vector(*normal);
        }
        mesh
    };
    let part = |mesh, color| asset::Primitive {
        mesh,
        color,
        ..asset::Primitive::default()
    };
    let dark = [0.06, 0.07, 0.09];
    let mut primitives = vec![part(
        turned(
            primitives::cylinder(0.05, 0.04, 24, 1),
            facing,
            Vec3::zeros(),
        ),
        dark,
    )];
    for side in 0..48_u8 {
        // The rim is a ring of short bars.
        let angle = f32::from(side) / 48.0 * TAU;
        let around = quat::from_axis_angle(Vec3::z(), angle);
        let bar = primitives::cuboid(Vec3::new(0.025, 0.027, 0.03));
        primitives.push(part(turned(bar, around, around * Vec3::x() * 0.38), dark));
    }
    for spoke in 0..5_u8 {
        let around = quat::from_axis_angle(Vec3::z(), f32::from(spoke) / 5.0 * TAU);
        let bar = primitives::cuboid(Vec3::new(0.17, 0.02, 0.015));
        let color = if spoke == 0 {
            [0.9, 0.3, 0.02]
        } else {
            [0.35, 0.37, 0.40]
        };
        primitives.push(part(turned(bar, around, around * Vec3::x() * 0.19), color));
    }
    let quarter = |n: u8| quat::from_axis_angle(Vec3::z(), -f32::from(n) * FRAC_PI_2);
    let quarters = 4 * TURNS as u8;
    let keys = (0..=quarters).map(|n| Key::new(f32::from(n) / f32::from(quarters), quarter(n)));
    let track = Track::new(keys.collect(), Interpolation::Linear)?;
    Ok(asset::Document {
        nodes: vec![asset::Node {
            name: Some("wheel".to_owned()),
            mesh: Some(0),
            ..asset::Node::default()
        }],
        scenes: vec![vec![0]],
        meshes: vec![asset::MeshSpec {
            primitives,
            ..asset::MeshSpec::default()
        }],
        clips: vec![ClipSpec {
            channels: vec![Channel {
                joint: 0,
                track: JointTrack::Rotation(track),
            }],
            ..ClipSpec::default()
        }],
        ..asset::Document::default()
    })
}
