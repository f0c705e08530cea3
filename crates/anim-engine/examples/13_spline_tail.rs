//! A tail of sixteen bones on a curve that waves: `cargo run --example 13_spline_tail [PICTURE.png]`.
//!
//! Above, bones keep their length, and the tail ends where it ends; below, they stretch by up to a third to end where the
//! curve does. The blue fins show each bone's own up: nothing twists.

mod common;

use anim_engine::curves::BSpline;
use anim_engine::ik::{SplineGoal, SplineIk, SplinePath};
use anim_engine::math::{Transform, Vec3};
use anim_engine::skeleton::{Globals, JointSpec, Skeleton};
use anim_view::{Image, sheet};
use common::{BLUE, INK, ORANGE, Outcome, announce, bone, camera, caption, floor, stacked, write};

const CELL: [u32; 2] = [320, 250];
const BONES: usize = 16;
const LENGTH: f32 = 0.1;
const GREEN: [f32; 3] = [0.05, 0.45, 0.10];

fn main() -> Outcome {
    let joint = |n: usize| JointSpec {
        name: None,
        parent: n.checked_sub(1),
        rest: Transform::from_translation(Vec3::x() * if n == 0 { 0.0 } else { LENGTH }),
    };
    let skeleton = Skeleton::new((0..=BONES).map(joint).collect())?;
    let tail = SplineIk::new(&skeleton, skeleton.joint(0), skeleton.joint(BONES))?;

    let stiff = frames(&skeleton, &tail, 1.0)?;
    let elastic = frames(&skeleton, &tail, 1.34)?;
    write(
        "13_spline_tail",
        &stacked(&[
            caption(stiff.width, "bones keep their length"),
            stiff,
            caption(elastic.width, "bones stretch to where the curve ends"),
            elastic,
        ]),
    )
}

fn frames(skeleton: &Skeleton, tail: &SplineIk, stretch: f32) -> Outcome<Image> {
    let goal = SplineGoal {
        stretch,
        ..SplineGoal::default()
    };
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(skeleton);
    let (mut pictures, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..4_u8 {
        let path = SplinePath::new(curve(0.25 * f32::from(frame))?, 1e-5)?;
        skeleton.globals(&pose, &mut globals);
        let outcome = tail.solve(skeleton, &path, &goal, &mut pose, &mut globals);
        let places: Vec<Vec3> = tail
            .joints()
            .iter()
            .map(|joint| globals.get(*joint).translation)
            .collect();
        let lengths = || places.windows(2).map(|pair| (pair[1] - pair[0]).norm());
        let (shortest, longest) = (
            lengths().fold(f32::INFINITY, f32::min),
            lengths().fold(0.0, f32::max),
        );
        announce(&format!(
            "stretch {stretch}: curve {:.3} m, bones {shortest:.4} to {longest:.4} m, {:.2} mm off the curve, {:.1} mm from its end",
            path.length(),
            off(&path, &places) * 1e3,
            outcome.residual * 1e3
        ));
        pictures.push(picture(&path, tail, &globals)?);
        labels.push(format!("{:.0} mm from the end", outcome.residual * 1e3));
    }
    Ok(sheet(&pictures, &labels, pictures.len()))
}

/// Waves sideways and up as the phase goes from 0 to 1, more toward the tip.
fn curve(phase: f32) -> Outcome<BSpline<Vec3>> {
    let control = |n: u8| {
        let along = f32::from(n) / 7.0;
        let angle = std::f32::consts::TAU * (phase - 0.9 * along);
        let swing = 0.45 * along;
        Vec3::new(
            1.45 * along,
            0.6 + swing * angle.cos(),
            0.8 * swing * angle.sin(),
        )
    };
    Ok(BSpline::clamped((0..8).map(control).collect())?)
}

/// How far the joint that is farthest from the curve is from it, m, within a tenth of a millimetre.
fn off(path: &SplinePath, places: &[Vec3]) -> f32 {
    let steps = (path.length() * 1e4) as u16;
    let nearest = |place: &Vec3| {
        (0..=steps)
            .map(|n| (path.point(f32::from(n) * 1e-4) - place).norm())
            .fold(f32::INFINITY, f32::min)
    };
    places.iter().map(nearest).fold(0.0, f32::max)
}

fn picture(path: &SplinePath, tail: &SplineIk, globals: &Globals) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let (middle, half) = (Vec3::new(0.75, 0.6, 0.0), Vec3::new(0.85, 0.5, 0.35));
    let camera = camera(middle, half, 0.5, 0.3, aspect);
    let mut canvas = floor(CELL[0], CELL[1], &camera, 3.0)?;
    let frames: Vec<_> = tail
        .joints()
        .iter()
        .map(|joint| globals.get(*joint))
        .collect();
    for (n, pair) in frames.windows(2).enumerate() {
        let ends = [pair[0].translation, pair[1].translation];
        let thickness = 0.045 * (1.0 - 0.75 * n as f32 / BONES as f32);
        let shade = if n % 2 == 0 { 1.0 } else { 0.6 };
        bone(
            &mut canvas,
            &camera,
            ends,
            thickness,
            ORANGE.map(|c| c * shade),
        );
        let middle = (ends[0] + ends[1]) * 0.5;
        let up = pair[0].linear.column(1) * 0.11;
        canvas.line(&camera, middle, middle + up, BLUE, 2.5);
    }
    let points: Vec<Vec3> = (0..=80_u8)
        .map(|n| path.point(path.length() * f32::from(n) / 80.0))
        .collect();
    for pair in points.windows(2) {
        canvas.line(&camera, pair[0], pair[1], INK, 1.5);
    }
    let end = path.point(path.length());
    bone(&mut canvas, &camera, [end, end], 0.03, GREEN);
    Ok(canvas.finish())
}
