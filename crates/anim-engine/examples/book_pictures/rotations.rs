//! Chapter 3: slerp and nlerp, the Euler filter, paths, smooth rotations.

use std::error::Error;

use anim_curves::{
    CurveError, Interpolation, Key, SquadTrack, Track, angle, rotation, squad, tangents,
};
use anim_geom::primitives;
use anim_math::{EulerOrder, Quat, Vec3, euler, quat};
use anim_view::{Camera, Canvas, Image, Style, ViewError};

use crate::{BLUE, GREEN, GREY, ORANGE, Picture, RED, graph, plot, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![
        ("03-slerp-nlerp", slerp_nlerp()?),
        ("03-euler-filter", euler_filter()?),
        ("03-euler-path", euler_path()?),
        ("03-smooth", smooth()?),
    ])
}

/// Speed along the arc, 1 being the mean.
fn slerp_nlerp() -> Result<Image, ViewError> {
    let speed = |degrees: f32, between: fn(Quat, Quat, f32) -> Quat| {
        let to = quat::from_axis_angle(Vec3::y(), degrees.to_radians());
        let at = move |alpha| {
            quat::angle_between(Quat::identity(), between(Quat::identity(), to, alpha))
        };
        let step = 0.005;
        graph(step, 1.0 - step, 200, move |alpha| {
            (at(alpha + step) - at(alpha - step)) / (2.0 * step * degrees.to_radians())
        })
    };
    let lines = [
        ("slerp", speed(170.0, quat::slerp), GREY),
        ("nlerp, 60 deg", speed(60.0, quat::nlerp), GREEN),
        ("120 deg", speed(120.0, quat::nlerp), ORANGE),
        ("170 deg", speed(170.0, quat::nlerp), RED),
    ];
    plot("Speed along an arc", ["alpha", "speed / mean"], &lines, 640)
}

/// A tumble whose middle angle comes near a quarter turn.
fn tumble(time: f32) -> Quat {
    quat::exp(Vec3::y() * 1.3) * quat::exp(Vec3::new(2.2, 0.5, 0.0) * time)
}

fn euler_filter() -> Result<Image, ViewError> {
    let order = EulerOrder::Xyz;
    let times = (0..=240).map(|n| n as f32 / 60.0);
    let key = |time: f32| Key::new(time, Vec3::from(euler::from_quat(tumble(time), order)));
    let converted: Vec<_> = times.map(key).collect();
    let mut filtered = converted.clone();
    angle::unwrap_euler(&mut filtered, order);
    let panel = |title, keys: &[Key<Vec3>]| {
        let channel = |axis: usize| {
            let point = |key: &Key<Vec3>| [key.time, key.value[axis].to_degrees()];
            keys.iter().map(point).collect()
        };
        let lines = [
            ("x", channel(0), RED),
            ("y", channel(1), GREEN),
            ("z", channel(2), BLUE),
        ];
        plot(title, ["time, s", "angle, deg"], &lines, 400)
    };
    Ok(row(&[
        panel("as converted", &converted)?,
        panel("after the Euler filter", &filtered)?,
    ]))
}

/// Where the tip of a bone goes between two keys.
fn euler_path() -> Result<Image, ViewError> {
    let order = EulerOrder::Yxz; // heading, elevation, roll
    let [from, aside] =
        [-80.0_f32, 80.0].map(|heading| euler::to_quat([heading.to_radians(), -0.87, 0.0], order));
    // The shortest turn that brings the tip there.
    let to = quat::between(from * Vec3::z(), aside * Vec3::z()) * from;
    let angles = [from, to].map(|rotation| euler::from_quat(rotation, order));
    let by_angles = |alpha: f32| {
        let mixed = Vec3::from(angles[0]).lerp(&angles[1].into(), alpha);
        euler::to_quat(mixed.into(), order)
    };
    let mut canvas = Canvas::new(420, 350, 2)?;
    let ball = primitives::sphere(1.0, 64, 48);
    // From where both paths are seen.
    let tips = [from, to, by_angles(0.5), quat::slerp(from, to, 0.5)];
    let middle: Vec3 = tips.iter().map(|rotation| rotation * Vec3::z()).sum();
    let camera = Camera {
        eye: middle.normalize() * 4.6,
        target: Vec3::zeros(),
        up: Vec3::y(),
        fov_y: 0.48,
        ..Camera::default()
    };
    let style = Style {
        color: [0.55, 0.57, 0.6],
        ..Style::default()
    };
    canvas.mesh(
        &camera,
        &ball.rest.positions,
        &ball.rest.normals,
        &ball.triangles,
        &style,
    );
    let mut path = |rotation: &dyn Fn(f32) -> Quat, color| {
        let tip = |n: u32| rotation(n as f32 / 96.0) * Vec3::z() * 1.01;
        for n in 0..96 {
            canvas.line(&camera, tip(n), tip(n + 1), color, 4.0);
            if n % 8 == 0 {
                canvas.point(&camera, tip(n), 5.0, color);
            }
        }
    };
    path(&by_angles, RED);
    path(&|alpha| quat::slerp(from, to, alpha), BLUE);
    for end in [from, to] {
        canvas.point(&camera, end * Vec3::z() * 1.02, 8.0, [0.9; 3]);
    }
    canvas.text(10, 10, "slerp", 7, BLUE);
    canvas.text(10, 24, "three Euler channels", 7, RED);
    Ok(canvas.finish())
}

/// Angular speed through five keys at uneven times.
fn smooth() -> Result<Image, Box<dyn Error>> {
    let turns = [
        Vec3::zeros(),
        Vec3::x(),
        Vec3::new(1.0, 0.8, 0.0),
        Vec3::new(0.2, 1.0, 0.5),
        Vec3::new(-0.6, 0.4, 0.9),
    ];
    let times = [0.0, 1.0, 2.6, 3.4, 4.4];
    let keys: Vec<_> = times
        .into_iter()
        .zip(turns)
        .map(|(time, turn)| Key::new(time, quat::exp(turn)))
        .collect();
    let linear = Track::new(keys.clone(), Interpolation::Linear)?;
    let cubic = || -> Result<_, CurveError> {
        let mut keys = keys;
        rotation::fill_tangents(&mut keys, tangents::catmull_rom);
        Track::new(keys, Interpolation::Cubic)
    };
    let (cubic, smooth) = (cubic()?, SquadTrack::new(&linear));
    // With inner rotations made for even times.
    let shoemake = |time: f32| {
        let span = times.partition_point(|key| *key <= time).clamp(1, 4) - 1;
        let around = [span.saturating_sub(1), span, span + 1, (span + 2).min(4)];
        let alpha = (time - times[span]) / (times[span + 1] - times[span]);
        squad::between(around.map(|key| quat::exp(turns[key])), alpha)
    };
    let speed = |sample: &dyn Fn(f32) -> Quat| {
        let step = 0.005;
        graph(0.01, 4.39, 600, |time| {
            quat::angle_between(sample(time - step), sample(time + step)) / (2.0 * step)
        })
    };
    let lines = [
        ("linear", speed(&|time| linear.sample(time)), ORANGE),
        ("cubic", speed(&|time| cubic.sample(time)), BLUE),
        ("squad", speed(&|time| smooth.sample(time)), GREEN),
        ("Shoemake's squad", speed(&shoemake), RED),
    ];
    let axes = ["time, s", "angular speed, rad/s"];
    Ok(plot("Keys at 0, 1, 2.6, 3.4 and 4.4 s", axes, &lines, 640)?)
}
