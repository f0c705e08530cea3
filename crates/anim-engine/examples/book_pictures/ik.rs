//! Chapter 6: how fast a knee turns, feet that stand.

use std::error::Error;

use anim_engine::ik::{FootLockOptions, FootLockReport, FootMotion};
use anim_engine::skeleton::Globals;
use anim_math::Vec3;
use anim_view::{Camera, Canvas, Image, Style, sheet};

use crate::walkers::{FIGURE, FPS, TERRAINS, Walk, ground, land};
use crate::{BLUE, GREEN, GREY, ORANGE, Picture, graph, plot, row};

pub(crate) fn pictures() -> Result<Vec<Picture>, Box<dyn Error>> {
    Ok(vec![("06-knee", knee()?), ("06-feet", feet()?)])
}

/// The bend of a knee between bones of the same length, and how it changes with the distance of hip and ankle.
fn knee() -> Result<Image, Box<dyn Error>> {
    let bend = |part: f32| 2.0 * libm::acosf(part);
    let rate = |part: f32| 2.0 / libm::sqrtf(1.0 - part * part);
    let degrees = |part: f32| bend(part).to_degrees();
    // Of 1 % of the leg.
    let jump = |part: f32| (0.01 * rate(part)).to_degrees();
    let bent = plot(
        "A knee opens",
        ["ankle from hip / leg", "bend, degrees"],
        &[("bend", graph(0.0, 1.0, 200, degrees), BLUE)],
        440,
    )?;
    let fast = plot(
        "and snaps at the end",
        ["ankle from hip / leg", "degrees for 1 % of the leg"],
        &[
            ("turn", graph(0.0, 0.995, 400, jump), ORANGE),
            ("reach 0.97", vec![[0.97, 0.0], [0.97, jump(0.995)]], GREY),
        ],
        440,
    )?;
    Ok(row(&[bent, fast]))
}

/// The built-in figure goes up stairs, as its clip has it and with its feet locked.
fn feet() -> Result<Image, Box<dyn Error>> {
    let mut walk = Walk::of_rounds(&FIGURE, 1.0)?;
    let before = exposures(&walk, &FootLockReport::default())?;
    let (_, stairs) = TERRAINS[2];
    let motion = FootMotion {
        fps: FPS,
        world_from_model: &walk.placements,
        round: None,
        ground: &ground(stairs, walk.leg),
    };
    let options = FootLockOptions::default();
    let report = walk
        .feet
        .lock(&walk.skeleton, &motion, &options, &mut walk.poses);
    let after = exposures(&walk, &report)?;
    let labels = ["as the clip has it", "feet locked"].map(str::to_owned);
    Ok(sheet(&[before, after], &labels, 1))
}

/// Some frames of a walk over the stairs, from the right; dots are where feet stand.
fn exposures(walk: &Walk, report: &FootLockReport) -> Result<Image, Box<dyn Error>> {
    let (_, stairs) = TERRAINS[2];
    let frames: Vec<usize> = (0..4).map(|n| n * (walk.poses.len() - 1) / 3).collect();
    let hips = |frame: usize| walk.at(frame, walk.feet.hips);
    let (first, last) = (hips(0), hips(walk.poses.len() - 1));
    let low = Vec3::new(-0.3, -0.1, first.z - 0.7);
    let high = Vec3::new(0.3, first.y + 0.8, last.z + 0.7);
    let side = -std::f32::consts::FRAC_PI_2;
    let camera = Camera::framing_orthographic(low, high, side, 0.12, 720.0 / 340.0);
    let mut canvas = Canvas::new(720, 340, 2)?;
    let land = land(stairs, walk.leg, low, high);
    let style = Style {
        color: [0.42, 0.38, 0.30],
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(&camera, &land.rest.positions, &[], &land.triangles, &style);
    for frame in frames {
        let globals: Globals = walk.globals(frame);
        // Without the joint on the ground that carries the hips.
        let hips = walk.feet.hips;
        let body = walk.skeleton.joints();
        for joint in body.filter(|joint| walk.skeleton.is_below(*joint, hips)) {
            let Some(parent) = walk.skeleton.parent(joint) else {
                continue;
            };
            let ends = [parent, joint].map(|joint| globals.get(joint).translation);
            let is_leg = walk
                .feet
                .feet
                .iter()
                .any(|foot| walk.skeleton.is_below(joint, foot.leg.root));
            let color = if is_leg { BLUE } else { GREY };
            canvas.line(&camera, ends[0], ends[1], color, 4.0);
        }
        for plant in report.plants.iter().flatten() {
            if plant.frames.contains(&frame) {
                canvas.point(&camera, plant.position, 5.0, GREEN);
            }
        }
    }
    Ok(canvas.finish())
}
