//! A flag in gusts, from a scene file: `cargo run --example 19_flag [PICTURE.png]`.
//!
//! The scene is `assets/scenes/flag.json`: cloth held along a pole, in wind that is never quite the same. The air pushes
//! across each triangle and lifts along it, so that the flag flaps by itself.

mod common;

use std::path::Path;

use anim_engine::asset;
use anim_engine::geom::intersect::self_intersections;
use anim_engine::math::Vec3;
use anim_engine::{Config, Scene, SceneSpec};
use anim_view::plot::{Plot, Series};
use anim_view::{Camera, Canvas, Image, sheet};
use common::{
    BLUE, ORANGE, Outcome, announce, bone, bounds, caption, draw_triangles, edge_stretch, stacked,
    write,
};

const SCENE: &str = include_str!("../../../assets/scenes/flag.json");
const CELL: [u32; 2] = [300, 250];
const PICTURES: usize = 10;
const COLOR: [f32; 3] = [0.60, 0.05, 0.05];

fn main() -> Outcome {
    let spec: SceneSpec = serde_json::from_str(SCENE)?;
    let load = &mut |file: &str| asset::load(&Path::new("assets/scenes").join(file));
    let mut scene = Scene::new(&spec, Config::default(), load)?;
    let id = scene.bodies[0];
    let flag = scene.engine.body(id).ok_or("gone")?;
    let triangles = flag.model().spec().triangles.clone();
    let frames = (spec.duration * spec.fps) as usize;
    let mut shown: Vec<Vec<Vec3>> = Vec::new();
    let (mut wind, mut reach) = (Vec::new(), Vec::new());
    let (mut stretch, mut crossings) = (0.0_f32, 0);
    for frame in 1..=frames {
        scene.step(1.0 / spec.fps);
        let world = &scene.engine.world;
        let flag = scene.engine.body(id).ok_or("gone")?;
        let [of_edges, _] = edge_stretch(flag.model().rest(), flag.positions(), &triangles);
        stretch = stretch.max(of_edges);
        crossings = crossings.max(self_intersections(flag.positions(), &triangles)?.len());
        let time = scene.time() as f32;
        wind.push([time, 0.1 * world.wind.norm()]);
        let far = flag
            .positions()
            .iter()
            .map(|p| p.z)
            .fold(f32::MIN, f32::max);
        reach.push([time, far]);
        if frame % (frames / PICTURES) == 0 {
            shown.push(flag.positions().to_vec());
        }
    }
    let line = format!(
        "{} particles, {frames} frames: edges stretched by {:.1} % on average at worst; at most {crossings} crossings",
        shown[0].len(),
        100.0 * stretch
    );
    announce(&line);

    // One camera for all, so that pictures compare.
    let (low, high) = bounds(shown.iter().flatten());
    let low = Vec3::new(low.x, 0.0, low.z);
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let camera = Camera::framing(low, high, 1.15, 0.12, aspect);
    let pole = [Vec3::zeros(), Vec3::y() * (high.y + 0.05)];
    let pictures = shown.iter().map(|positions| -> Outcome<Image> {
        let mut canvas = Canvas::new(CELL[0], CELL[1], 2)?;
        canvas.ground_grid(&camera, 0.0, 6.0);
        bone(&mut canvas, &camera, pole, 0.02, [0.30, 0.30, 0.32]);
        draw_triangles(&mut canvas, &camera, positions, &triangles, COLOR);
        Ok(canvas.finish())
    });
    let pictures = pictures.collect::<Outcome<Vec<Image>>>()?;
    let every = frames / PICTURES;
    let labels: Vec<String> = (1..=PICTURES)
        .map(|n| format!("{:.1} s", (n * every) as f32 / spec.fps))
        .collect();
    let sheet = sheet(&pictures, &labels, 5);
    let series = |label, points, color| Series {
        label,
        points,
        color,
    };
    let plot = Plot {
        title: "the wind and the free end",
        x_label: "s",
        y_label: "",
        series: &[
            series("speed of the air, 10 m/s", &wind, BLUE),
            series("reach of the free end, m", &reach, ORANGE),
        ],
    };
    let plot = plot.draw(sheet.width, 220)?;
    write(
        "19_flag",
        &stacked(&[caption(sheet.width, &line), sheet, plot]),
    )
}
