//! Chapter 1: the wagon wheel, shutters, the error of baking.

use std::error::Error;
use std::f32::consts::{PI, TAU};

use anim_curves::{Filter, FrameClock, Interpolation, Key, Shutter, Track, edit};
use anim_geom::primitives;
use anim_math::Vec3;
use anim_view::{Camera, Canvas, Image, Style, ViewError, color, sheet};

use crate::{BLUE, INK, ORANGE, Picture, RED, crosses, graph, plot};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("01-wagon-wheel", wagon_wheel()?),
        ("01-shutter", shutter()?),
        ("01-bake-error", bake_error()?),
    ])
}

/// A wheel that makes 16 turns a second, as film shows it.
fn wagon_wheel() -> Result<Image, ViewError> {
    let mut frames = Vec::new();
    let mut labels = Vec::new();
    for frame in 0..8 {
        let mut canvas = Canvas::new(112, 112, 4)?;
        let camera = facing(Vec3::zeros(), 2.4);
        let rim = |n: u32| direction(n as f32 * TAU / 64.0);
        for n in 0..64 {
            canvas.line(&camera, rim(n), rim(n + 1), INK, 3.0);
        }
        let angle = 0.5 * PI + 16.0 * TAU * FrameClock::FILM.time_of(frame) as f32;
        canvas.line(&camera, Vec3::zeros(), direction(angle), RED, 4.0);
        canvas.point(&camera, Vec3::zeros(), 5.0, INK);
        frames.push(canvas.finish());
        labels.push(format!("frame {frame}"));
    }
    Ok(sheet(&frames, &labels, 8))
}

/// A ball that flies past at 24 m/s, seen through a half-open shutter.
fn shutter() -> Result<Image, Box<dyn Error>> {
    let samples = 96;
    let open = Shutter::centred(std::f64::consts::PI, samples)?;
    let at = |time: f64| ball(24.0 * time as f32);
    let blurred = |filter| -> Result<Image, ViewError> {
        let mut light = Vec::new();
        let mut size = (0, 0);
        for (time, weight) in open.times(&FrameClock::FILM, 0).zip(open.weights(filter)) {
            let image = at(time)?;
            size = (image.width, image.height);
            light.resize(image.pixels.len(), [0.0; 3]);
            for (sum, pixel) in light.iter_mut().zip(&image.pixels) {
                let seen = color::decode(*pixel);
                *sum = std::array::from_fn(|channel| sum[channel] + seen[channel] * weight as f32);
            }
        }
        let mut image = Image::new(size.0, size.1, [0; 3]);
        image.pixels = light.into_iter().map(color::encode).collect();
        Ok(image)
    };
    let frames = [at(0.0)?, blurred(Filter::Box)?, blurred(Filter::Triangle)?];
    let labels = ["no exposure", "box", "triangle"].map(str::to_owned);
    Ok(sheet(&frames, &labels, 1))
}

fn ball(x: f32) -> Result<Image, ViewError> {
    let mut canvas = Canvas::new(640, 120, 3)?;
    canvas.background = [[0.035, 0.045, 0.06]; 2];
    let mesh = primitives::sphere(0.11, 48, 32);
    let place = |p: &Vec3| p + Vec3::x() * x;
    let positions: Vec<_> = mesh.rest.positions.iter().map(place).collect();
    let style = Style {
        color: [0.8, 0.75, 0.6],
        ..Style::default()
    };
    let camera = facing(Vec3::zeros(), 0.32);
    canvas.mesh(
        &camera,
        &positions,
        &mesh.rest.normals,
        &mesh.triangles,
        &style,
    );
    Ok(canvas.finish())
}

/// What straight lines between even samples of a sine make of it, and the bound of the chapter.
fn bake_error() -> Result<Image, Box<dyn Error>> {
    let steps = 4800;
    let sine = |n: u32| {
        let time = n as f32 / steps as f32;
        Key::new(time, libm::sinf(TAU * time))
    };
    let exact = Track::new((0..=steps).map(sine).collect(), Interpolation::Linear)?;
    let mut measured = Vec::new();
    for rate in (4..12).chain((12..=120).step_by(6)) {
        let baked = edit::bake(&exact, &FrameClock::new(rate, 1)?)?;
        let stray = |(time, value): (&f32, &f32)| (baked.sample(*time) - value).abs();
        let worst = exact.times().iter().zip(exact.values()).map(stray);
        measured.push([rate as f32, libm::log10f(worst.fold(0.0, f32::max))]);
    }
    let bound = graph(4.0, 120.0, 200, |rate| {
        libm::log10f(TAU * TAU / (8.0 * rate * rate))
    });
    let axes = ["samples a second", "log10 of the largest error"];
    let lines = [
        ("bound", bound, ORANGE),
        ("measured", crosses(measured, [0.9, 0.04]), BLUE),
    ];
    Ok(plot("A sine of 1 Hz, baked", axes, &lines, 640)?)
}

/// An orthographic camera that looks along −z and sees `height` m.
pub(crate) fn facing(center: Vec3, height: f32) -> Camera {
    Camera {
        eye: center + Vec3::z() * 10.0,
        target: center,
        up: Vec3::y(),
        fov_y: 0.0,
        height,
        near: 1e-3,
    }
}

/// The unit vector at `angle`, rad, from +x towards +y.
pub(crate) fn direction(angle: f32) -> Vec3 {
    Vec3::new(libm::cosf(angle), libm::sinf(angle), 0.0)
}
