//! Walks set going over waves and stairs, as they are and with their feet locked: `cargo run --example 09_foot_lock
//! [PICTURE.png]`.
//!
//! The built-in figure, and a knight, a fox and a human where the shared data is there (`ANIM_DATA`). Dots are where feet
//! stand; the human has no clip and walks as the knight does.

mod common;
#[path = "common/walkers.rs"]
mod walkers;

use std::sync::Arc;

use anim_engine::geom::{Collider, Shape};
use anim_engine::ik::{FootLockOptions, FootLockReport, FootMotion};
use anim_engine::math::{Affine, Transform, Vec3};
use anim_engine::skeleton::BakeOptions;
use anim_engine::{ActorLayer, Character, Config, Engine, LayerSource};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{Outcome, announce, caption, draw, stacked, write};
use walkers::{
    FIGURE, FOX, FPS, HUMAN, KNIGHT, TERRAINS, Terrain, Walk, Walker, data, ground, land,
};

const CELL: [u32; 2] = [640, 230];
const GREEN: [f32; 3] = [0.02, 0.55, 0.10];
const EARTH: [f32; 3] = [0.42, 0.38, 0.30];

fn main() -> Outcome {
    let mut parts = Vec::new();
    // A knight is as wide as its way is long.
    for (walker, times) in [(FIGURE, 4), (KNIGHT, 2), (FOX, 4), (HUMAN, 4)] {
        if walker.files().all(|file| data(file).is_some()) {
            let rows = rows(&walker, times)?;
            parts.push(caption(
                rows.width,
                &format!("{}: as it is, and locked", walker.name),
            ));
            parts.push(rows);
        }
    }
    write("09_foot_lock", &stacked(&parts))
}

/// Waves and stairs side by side, unlocked above, locked below; each shows the character `times` times.
fn rows(walker: &Walker, times: usize) -> Outcome<Image> {
    let rounds = if walker.files().next().is_none() {
        1.0
    } else {
        3.0
    };
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for (name, terrain) in &TERRAINS[1..] {
        let mut walk = Walk::of_rounds(walker, rounds)?;
        let mut document = walk.document.clone();
        document.clips.clear();
        let character = Character::from_document(&document, &BakeOptions::default())?;
        let character = Arc::new(character);
        above.push(picture(
            &walk,
            &character,
            *terrain,
            &FootLockReport::default(),
            times,
        )?);
        let motion = FootMotion {
            fps: FPS,
            world_from_model: &walk.placements,
            round: None,
            ground: &ground(*terrain, walk.leg),
        };
        let options = FootLockOptions::default();
        let report = walk
            .feet
            .lock(&walk.skeleton, &motion, &options, &mut walk.poses);
        announce(&format!(
            "{} on {name}: {} plants, slides by {:.5} of a leg, hips down by {:.3}",
            walker.name,
            report.plants.iter().map(Vec::len).sum::<usize>(),
            report.slide / walk.leg,
            report.drop / walk.leg
        ));
        below.push(picture(&walk, &character, *terrain, &report, times)?);
    }
    above.append(&mut below);
    Ok(sheet(&above, &[], 2))
}

/// The character on its way, from its right.
fn picture(
    walk: &Walk,
    character: &Arc<Character>,
    terrain: Terrain,
    report: &FootLockReport,
    times: usize,
) -> Outcome<Image> {
    let mut engine = Engine::new(Config::default())?;
    let mut actors = Vec::new();
    for n in 0..times {
        let frame = (2 * n + 1) * walk.poses.len() / (2 * times);
        let id = engine.spawn(Arc::clone(character));
        if let Some(actor) = engine.actor_mut(id) {
            actor.placement = walk.placements[frame];
            actor.layers = vec![ActorLayer::new(LayerSource::Live(
                walk.poses[frame].clone(),
            ))];
            actors.push((frame, id));
        }
    }
    engine.step(0.0);
    let bodies = || actors.iter().filter_map(|(_, id)| engine.actor(*id));
    let (mut low, mut high) = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
    for actor in bodies() {
        for surface in actor.surfaces() {
            for vertex in 0..surface.len() {
                let at = actor
                    .world_from_model()
                    .transform_point(surface.position(vertex));
                (low, high) = (low.inf(&at), high.sup(&at));
            }
        }
    }
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let side = -std::f32::consts::FRAC_PI_2;
    let camera = Camera::framing_orthographic(low, high, side, 0.1, aspect);
    let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
    let land = land(terrain, walk.leg, low, high);
    let earth = Style {
        color: EARTH,
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(&camera, &land.rest.positions, &[], &land.triangles, &earth);
    bodies().for_each(|actor| draw(&mut canvas, &camera, actor));
    let dot = Style {
        color: GREEN,
        on_top: true,
        ..Style::default()
    };
    let radius = 0.012 * camera.height;
    for (frame, _) in &actors {
        let plants = report.plants.iter().flatten();
        for plant in plants.filter(|plant| plant.frames.contains(frame)) {
            let place = Affine::from(Transform::from_translation(plant.position));
            let ball = Collider::new(Shape::Sphere { radius }, place);
            canvas.collider(&camera, &ball, &dot);
        }
    }
    Ok(canvas.finish())
}
