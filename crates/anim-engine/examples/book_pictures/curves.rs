//! Chapter 2: ways between keys, tangents, easing, arc length, reduction, colour.

use std::error::Error;

use anim_curves::{
    ArcLength, CurveError, Easing, Interpolate, Interpolation, Key, LinearRgb, OkLab, Shape, Tcb,
    Track, fit, reduce, tangents,
};
use anim_math::{Random, Vec3};
use anim_view::{Image, ViewError, sheet};

use crate::{BLUE, GREEN, GREY, INK, ORANGE, Picture, RED, crosses, graph, plot, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("02-interpolation", interpolation()?),
        ("02-tangents", shapes()?),
        ("02-easing", easing()?),
        ("02-arc-length", arc_length()?),
        ("02-reduce", reduction()?),
        ("02-color", color()?),
    ])
}

const AXES: [&str; 2] = ["time, s", "value"];

fn keys(of: &[[f32; 2]]) -> Vec<Key<f32>> {
    of.iter()
        .map(|[time, value]| Key::new(*time, *value))
        .collect()
}

fn drawn(track: &Track<f32>) -> Vec<[f32; 2]> {
    graph(0.0, track.end(), 400, |time| track.sample(time))
}

fn interpolation() -> Result<Image, Box<dyn Error>> {
    let points = [[0.0, 0.2], [1.0, 1.0], [2.2, 0.85], [3.0, 0.1], [4.0, 0.6]];
    let mut shaped = keys(&points);
    tangents::catmull_rom(&mut shaped);
    let track = |interpolation| Track::new(shaped.clone(), interpolation);
    let lines = [
        ("step", drawn(&track(Interpolation::Step)?), GREEN),
        ("linear", drawn(&track(Interpolation::Linear)?), ORANGE),
        ("cubic", drawn(&track(Interpolation::Cubic)?), BLUE),
        ("keys", crosses(points, [0.05, 0.03]), INK),
    ];
    Ok(plot("Three ways between keys", AXES, &lines, 640)?)
}

fn shapes() -> Result<Image, Box<dyn Error>> {
    let points = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.5, 1.0],
        [3.0, 1.0],
        [4.0, 0.4],
        [5.0, 0.6],
    ];
    let track = |tangents: &dyn Fn(&mut [Key<f32>])| -> Result<_, CurveError> {
        let mut keys = keys(&points);
        tangents(&mut keys);
        Ok(drawn(&Track::new(keys, Interpolation::Cubic)?))
    };
    let tight = |_| Tcb {
        tension: 0.8,
        ..Tcb::default()
    };
    let lines = [
        (
            "Catmull-Rom",
            track(&|keys| tangents::catmull_rom(keys))?,
            ORANGE,
        ),
        (
            "tension 0.8",
            track(&|keys| tangents::kochanek_bartels(keys, tight))?,
            GREEN,
        ),
        ("monotone", track(&|keys| tangents::monotone(keys))?, BLUE),
        ("keys", crosses(points, [0.06, 0.04]), INK),
    ];
    Ok(plot("Slopes from the keys alone", AXES, &lines, 640)?)
}

fn easing() -> Result<Image, ViewError> {
    let curve = |shape| graph(0.0, 1.0, 300, |t| Easing::InOut(shape).apply(t));
    let lines = [
        ("sine", curve(Shape::Sine), GREY),
        ("cubic", curve(Shape::Cubic), BLUE),
        ("back", curve(Shape::Back), GREEN),
        ("elastic", curve(Shape::Elastic), RED),
    ];
    plot("In and out", ["alpha", "eased"], &lines, 640)
}

/// The same path in even steps of its parameter and of its length.
fn arc_length() -> Result<Image, Box<dyn Error>> {
    let corners = [[0.0, 0.0], [0.1, 0.5], [1.1, 1.8], [2.2, 0.9], [2.5, 0.1]];
    let mut keys: Vec<_> = (0..)
        .zip(corners)
        .map(|(n, [x, z])| Key::new(n as f32, Vec3::new(x, 0.0, z)))
        .collect();
    tangents::catmull_rom(&mut keys);
    let path = Track::new(keys, Interpolation::Cubic)?;
    let way = ArcLength::of_track(&path, 1e-3)?;
    let place = |u: f32| {
        let point = path.sample(u);
        [point.x, point.z]
    };
    let line = || {
        (0..=300)
            .map(|n| place(path.end() * n as f32 / 300.0))
            .collect()
    };
    let panel = |title, steps: Vec<[f32; 2]>| {
        let lines = [
            ("path", line(), GREY),
            ("steps", crosses(steps, [0.035, 0.035]), RED),
        ];
        plot(title, ["x, m", "z, m"], &lines, 400)
    };
    let parts = || (0..=24).map(|n| n as f32 / 24.0);
    let by_parameter = parts().map(|part| place(path.end() * part)).collect();
    let by_length = parts()
        .map(|part| place(way.parameter_at(way.length() * part)))
        .collect();
    Ok(row(&[
        panel("even in the parameter", by_parameter)?,
        panel("even in the length", by_length)?,
    ]))
}

fn reduction() -> Result<Image, Box<dyn Error>> {
    let mut noise = Random::new(1, 0, 0);
    let value = |t: f32| libm::sinf(2.0 * t) + 0.3 * libm::cosf(5.0 * t);
    let dense = (0..=240).map(|n| n as f32 / 60.0);
    let dense = dense.map(|t| Key::new(t, value(t) + noise.range(-0.04, 0.04)));
    let dense = Track::new(dense.collect(), Interpolation::Linear)?;
    let panel = |title: &str, few: Track<f32>| {
        let marks = few.times().iter().zip(few.values()).map(|(t, v)| [*t, *v]);
        let lines = [
            ("capture", drawn(&dense), GREY),
            ("curve", drawn(&few), BLUE),
            ("keys", crosses(marks, [0.05, 0.06]), RED),
        ];
        let title = format!("{title}: {} keys of 241", few.times().len());
        plot(&title, AXES, &lines, 400)
    };
    Ok(row(&[
        panel("reduced", reduce(&dense, 0.08)?)?,
        panel("fitted", fit(&dense, 0.08)?)?,
    ]))
}

/// Gradients over three stops, mixed in three spaces.
fn color() -> Result<Image, ViewError> {
    let stops = [[0.85, 0.08, 0.08], [0.10, 0.75, 0.15], [0.12, 0.18, 0.90]];
    let strip = |mix: &dyn Fn([f32; 3], [f32; 3], f32) -> [f32; 3]| {
        let mut image = Image::new(640, 48, [0; 3]);
        for (place, pixel) in image.pixels.iter_mut().enumerate() {
            let along = (place % 640) as f32 / 639.0 * 2.0;
            let span = (along as usize).min(1);
            let mixed = mix(stops[span], stops[span + 1], along - span as f32);
            *pixel = mixed.map(|code| (code.clamp(0.0, 1.0) * 255.0 + 0.5) as u8);
        }
        image
    };
    let light = LinearRgb::from_srgb;
    let strips = [
        strip(&|a, b, alpha| Vec3::from(a).lerp(b.into(), alpha).into()),
        strip(&|a, b, alpha| light(a).lerp(light(b), alpha).to_srgb()),
        strip(&|a, b, alpha| {
            let mixed = OkLab::from(light(a)).lerp(light(b).into(), alpha);
            LinearRgb::from(mixed).to_srgb()
        }),
    ];
    let labels = ["sRGB codes", "linear light", "OkLab"].map(str::to_owned);
    Ok(sheet(&strips, &labels, 1))
}
