//! A cape on the figure that walks and runs: `cargo run --example 18_cape [PICTURE.png]`.
//!
//! The cape is cloth that hangs on the shoulders and lies on capsules around trunk and limbs. It is simulated in fixed
//! steps, whatever the frame rate; what is printed is how far its edges are stretched and how many of its triangles
//! cross each other, found exactly.

mod common;

use std::f32::consts::PI;
use std::sync::Arc;

use anim_engine::asset::builtin::{athlete, humanoid_capsules};
use anim_engine::geom::intersect::self_intersections;
use anim_engine::math::Vec3;
use anim_engine::sim::SelfContact;
use anim_engine::sim::cloth::ClothSpec;
use anim_engine::skeleton::RootMotionOptions;
use anim_engine::{BodyCapsule, Character, ClothOptions, Config, Engine, Pins};
use anim_view::{Image, sheet};
use common::{Outcome, announce, camera, caption, draw, edge_stretch, floor, stacked, write};

const CELL: [u32; 2] = [230, 330];
const FPS: u32 = 60;
/// Frames from one picture to the next: they do not keep step with the gait.
const EVERY: u32 = 23;
const PICTURES: u32 = 7;
/// Frames that are not counted: the clip begins at once, from standing.
const SETTLED: u32 = 20;

fn main() -> Outcome {
    let character = caped()?;
    let mut parts = Vec::new();
    for clip in ["walk", "run"] {
        let (row, line) = row(&character, clip)?;
        announce(&line);
        parts.extend([caption(row.width, &line), row]);
    }
    write("18_cape", &stacked(&parts))
}

/// A figure that its root moves, its cape simulated.
fn caped() -> Outcome<Arc<Character>> {
    let document = athlete();
    let bake = Default::default();
    let character = Character::from_document(&document, &bake)?;
    let root = RootMotionOptions::new(character.joint_named("root")?);
    let character = character.with_root_motion(&document.clips, &root, &bake)?;
    let mut surfaces = character.surfaces().iter();
    let cape = surfaces.position(|surface| surface.name.as_deref() == Some("cape"));
    let body = humanoid_capsules().into_iter().map(|capsule| {
        Ok(BodyCapsule {
            joint: character.joint_named(&capsule.joint)?,
            from: capsule.from.into(),
            to: capsule.to.into(),
            radius: capsule.radius,
        })
    });
    let options = ClothOptions {
        surface: cape.ok_or("no cape")?,
        pins: Pins::Top(0.02),
        material: ClothSpec {
            density: 0.35,
            bend_compliance: 0.003,
            damping: 1.0,
            thickness: 0.02,
            self_contact: Some(SelfContact {
                thickness: 0.008,
                ..SelfContact::default()
            }),
            ..ClothSpec::default()
        },
        substeps: 8,
        body: body.collect::<Outcome<_>>()?,
    };
    Ok(Arc::new(character.with_cloth(options)?))
}

/// Moments of one clip, seen from behind, and what was measured in all frames.
fn row(character: &Arc<Character>, clip: &str) -> Outcome<(Image, String)> {
    let mut engine = Engine::new(Config::default())?;
    engine.world.wind = Vec3::new(0.3, 0.0, -0.6);
    let id = engine.spawn(Arc::clone(character));
    engine.actor_mut(id).ok_or("gone")?.play(clip)?;
    let cape = &character.cloths()[0];
    let (mut worst, mut mean, mut crossings) = (0.0_f32, 0.0, 0);
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    let frames = EVERY * PICTURES;
    for frame in 1..=frames {
        engine.step(1.0 / FPS as f32);
        let actor = engine.actor(id).ok_or("gone")?;
        let state = actor.cloth_state(0);
        if frame > SETTLED {
            let [of_edges, of_worst] =
                edge_stretch(cape.model().rest(), &state.positions, cape.triangles());
            mean += of_edges / (frames - SETTLED) as f32;
            worst = worst.max(of_worst);
            crossings =
                crossings.max(self_intersections(&state.positions, cape.triangles())?.len());
        }
        if frame % EVERY == 0 {
            let at = actor.placement.translation;
            let half = Vec3::new(0.42, 0.9, 0.55);
            let aspect = CELL[0] as f32 / CELL[1] as f32;
            let camera = camera(at + Vec3::y() * 0.88, half, PI - 0.75, 0.1, aspect);
            let mut canvas = floor(CELL[0], CELL[1], &camera, 12.0)?;
            draw(&mut canvas, &camera, actor);
            images.push(canvas.finish());
            labels.push(format!("{:.2} s", frame as f32 / FPS as f32));
        }
    }
    let line = format!(
        "{clip}: edges stretched by {:.2} % on average, {:.1} % at most; at most {crossings} crossings",
        100.0 * mean,
        100.0 * worst
    );
    Ok((sheet(&images, &labels, images.len()), line))
}
