//! A head of hair that turns fast: `cargo run --example 21_hair [PICTURE.png]`.
//!
//! The scene is `assets/scenes/hair.json`. Some sixty guides are simulated as elastic rods, which never stretch; the strands
//! between them follow, each with a style of its own. They fall over head, neck, shoulders and arms.

mod common;

use anim_engine::asset::builtin;
use anim_engine::math::{Random, Vec3};
use anim_engine::{Actor, Config, Scene, SceneSpec};
use anim_view::{Camera, Canvas, Image, sheet};
use common::{Outcome, announce, caption, draw, stacked, write};

const SCENE: &str = include_str!("../../../assets/scenes/hair.json");
const CELL: [u32; 2] = [280, 300];
const FPS: u16 = 60;
/// When pictures are taken, frames.
const SHOWN: [u16; 10] = [0, 26, 36, 46, 56, 68, 84, 100, 120, 180];
/// A point deeper than some roundings of two metres is inside, m.
const TOUCH: f32 = 1e-5;

fn main() -> Outcome {
    let spec: SceneSpec = serde_json::from_str(SCENE)?;
    let config = Config::default();
    let mut scene = Scene::new(&spec, config, &mut |_| Ok(builtin::humanoid()))?;
    let (mut stretch, mut inside) = (0.0_f32, 0);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..=SHOWN[SHOWN.len() - 1] {
        scene.step(f32::from(frame.min(1)) / f32::from(FPS));
        let actor = scene.engine.actor(scene.actors[0]).ok_or("nobody")?;
        let (model, hair) = (&actor.character().hairs()[0], &actor.hairs()[0]);
        stretch = stretch.max(hair.worst_stretch(model));
        inside = inside.max(hair.depths(model).filter(|depth| *depth > TOUCH).count());
        if SHOWN.contains(&frame) {
            images.push(picture(actor)?);
            labels.push(format!("{:.2} s", scene.time()));
        }
    }
    let actor = scene.engine.actor(scene.actors[0]).ok_or("nobody")?;
    let model = &actor.character().hairs()[0];
    let line = format!(
        "{} guides of 16 segments, {} strands: segments stretch by {stretch:.1e} at most, {inside} of {} points are inside the body at once at most",
        model.guides().guide_count(),
        model.followers().len(),
        model.guides().segment_count(),
    );
    announce(&line);
    let sheet = sheet(&images, &labels, SHOWN.len() / 2);
    write("21_hair", &stacked(&[caption(sheet.width, &line), sheet]))
}

fn picture(actor: &Actor) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let low = Vec3::new(-0.23, 1.36, -0.16);
    let camera = Camera::framing(low, Vec3::new(0.23, 1.80, 0.16), 0.5, 0.05, aspect);
    let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
    draw(&mut canvas, &camera, actor);
    // Strokes cover each other in the order in which they are drawn: from far to near.
    let mut strokes = Vec::new();
    let mut random = Random::new(5, 0, 0);
    let (followers, hair) = (actor.character().hairs()[0].followers(), &actor.hairs()[0]);
    for strand in 0..followers.len() {
        let shade = random.range(0.5, 1.3);
        let points = hair.strands()[followers.strand(strand)].windows(2);
        for (step, pair) in points.enumerate() {
            // Lighter where it lies across the light from above, and to the tips.
            let way = (pair[1] - pair[0]).normalize();
            let light = 0.45 + 0.8 * (1.0 - way.y * way.y) + 0.012 * step as f32;
            let color = [0.13, 0.052, 0.02].map(|c| c * shade * light);
            strokes.push(((pair[0] - camera.eye).norm(), [pair[0], pair[1]], color));
        }
    }
    strokes.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (_, [from, to], color) in strokes {
        canvas.line(&camera, from, to, color, 1.3);
    }
    Ok(canvas.finish())
}
