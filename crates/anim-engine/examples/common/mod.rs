//! What the examples draw with: actors as pictures, pictures as strips, and where they are written.
#![allow(dead_code, reason = "each example uses a part")]

use std::error::Error;
use std::path::PathBuf;

use anim_engine::Actor;
use anim_engine::geom::{Collider, Shape, normals};
use anim_engine::math::{Affine, Transform, Vec3, quat};
use anim_engine::skin::{SkinnedMesh, VertexBlocks};
use anim_view::{Camera, Canvas, Image, Style};

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Pictures that only read what is drawn in them need no more.
pub(crate) const INK: [f32; 3] = [0.03, 0.035, 0.045];
/// Linear RGB.
pub(crate) const ORANGE: [f32; 3] = [0.85, 0.28, 0.03];
/// Linear RGB.
pub(crate) const BLUE: [f32; 3] = [0.05, 0.22, 0.65];

/// A camera that sees a box about `middle`, from `yaw` about +y and `pitch` down, rad.
pub(crate) fn camera(middle: Vec3, half: Vec3, yaw: f32, pitch: f32, aspect: f32) -> Camera {
    Camera::framing(middle - half, middle + half, yaw, pitch, aspect)
}

/// A canvas with a floor.
pub(crate) fn floor(width: u32, height: u32, camera: &Camera, extent: f32) -> Outcome<Canvas> {
    let mut canvas = Canvas::new(width, height, 2)?;
    canvas.ground_grid(camera, 0.0, extent);
    Ok(canvas)
}

/// Draws the surfaces of an actor where they are in the world.
pub(crate) fn draw(canvas: &mut Canvas, camera: &Camera, actor: &Actor) {
    draw_faintly(canvas, camera, actor, 1.0);
}

/// As [`draw`], `opacity` of it.
pub(crate) fn draw_faintly(canvas: &mut Canvas, camera: &Camera, actor: &Actor, opacity: f32) {
    let world_from_model = actor.world_from_model();
    for (blocks, surface) in actor.surfaces().iter().zip(actor.character().surfaces()) {
        let vertices = || 0..blocks.len();
        let positions: Vec<Vec3> = vertices()
            .map(|v| world_from_model.transform_point(blocks.position(v)))
            .collect();
        let normals: Vec<Vec3> = vertices()
            .map(|v| world_from_model.transform_vector(blocks.normal(v)))
            .collect();
        let style = Style {
            color: surface.color.map(|channel| channel * 0.7),
            two_sided: true,
            opacity,
            ..Style::default()
        };
        let triangles = surface.mesh.triangles();
        canvas.mesh(camera, &positions, &normals, triangles, &style);
    }
}

/// Draws a bone as thick as `radius`, m, from one point to another.
pub(crate) fn bone(
    canvas: &mut Canvas,
    camera: &Camera,
    [from, to]: [Vec3; 2],
    radius: f32,
    color: [f32; 3],
) {
    let shape = Shape::Capsule {
        radius,
        half_length: 0.5 * (to - from).norm(),
    };
    let world_from_shape = Affine::from(Transform {
        translation: (from + to) * 0.5,
        ..Transform::from_rotation(quat::between(Vec3::y(), to - from))
    });
    let style = Style {
        color,
        ..Style::default()
    };
    canvas.collider(camera, &Collider::new(shape, world_from_shape), &style);
}

/// Pictures one below the other, on white.
pub(crate) fn stacked(parts: &[Image]) -> Image {
    let width = parts.iter().map(|part| part.width).max().unwrap_or(0);
    let height = parts.iter().map(|part| part.height).sum();
    let mut all = Image::new(width, height, [245, 246, 248]);
    let mut y = 0;
    for part in parts {
        all.paste(0, y, part);
        y += part.height;
    }
    all
}

/// A line of text as wide as a picture.
pub(crate) fn caption(width: u32, text: &str) -> Image {
    let mut strip = Image::new(width, 26, [245, 246, 248]);
    strip.text(8, 8, text, 10, [25, 28, 34]);
    strip
}

/// Draws a surface of a mesh that is in the world as it is.
pub(crate) fn draw_surface(
    canvas: &mut Canvas,
    camera: &Camera,
    mesh: &SkinnedMesh,
    surface: &VertexBlocks,
    color: [f32; 3],
) {
    let vertices = || 0..surface.len();
    let positions: Vec<Vec3> = vertices().map(|v| surface.position(v)).collect();
    let normals: Vec<Vec3> = vertices().map(|v| surface.normal(v)).collect();
    let style = Style {
        color,
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(camera, &positions, &normals, mesh.triangles(), &style);
}

/// Draws triangles that are in the world as they are, from both sides and as smooth as they can be.
pub(crate) fn draw_triangles(
    canvas: &mut Canvas,
    camera: &Camera,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    color: [f32; 3],
) {
    let mut smooth = vec![Vec3::y(); positions.len()];
    normals::smooth(positions, triangles, &mut smooth);
    let style = Style {
        color,
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(camera, positions, &smooth, triangles, &style);
}

/// How far the edges of a sheet are stretched: length / rest − 1 where that is positive, on average and at most.
pub(crate) fn edge_stretch(rest: &[Vec3], now: &[Vec3], triangles: &[[u32; 3]]) -> [f32; 2] {
    let stretches = triangles.iter().flat_map(|[a, b, c]| {
        [[a, b], [b, c], [c, a]].map(|[from, to]| {
            let [from, to] = [*from as usize, *to as usize];
            let length = |positions: &[Vec3]| (positions[to] - positions[from]).norm();
            (length(now) / length(rest) - 1.0).max(0.0)
        })
    });
    let (sum, worst) = stretches.fold((0.0_f32, 0.0_f32), |(sum, worst), stretch| {
        (sum + stretch, worst.max(stretch))
    });
    [sum / (3 * triangles.len()).max(1) as f32, worst]
}

/// The lowest and the highest corner of the box around points.
pub(crate) fn bounds<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> (Vec3, Vec3) {
    let empty = (Vec3::repeat(f32::MAX), Vec3::repeat(f32::MIN));
    let grow = |(low, high): (Vec3, Vec3), point: &Vec3| (low.inf(point), high.sup(point));
    points.into_iter().fold(empty, grow)
}

/// A file that is not ours to ship: in the folder that `ANIM_DATA` names, or beside the project; `None`, said aloud, if it
/// is not there.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside_project = || PathBuf::from("../shared/data");
    let folder = std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from);
    let file = folder.join(name);
    if file.is_file() {
        return Some(file);
    }
    announce(&format!("left out: no {}", file.display()));
    None
}

/// Writes a picture to the path given on the command line, or to `target/examples/NAME.png`.
pub(crate) fn write(name: &str, image: &Image) -> Outcome {
    let given = std::env::args()
        .nth(1)
        .filter(|path| path.ends_with(".png"));
    let path = given.map_or_else(
        || PathBuf::from(format!("target/examples/{name}.png")),
        PathBuf::from,
    );
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, image.to_png())?;
    announce(&format!("wrote {}", path.display()));
    Ok(())
}

/// Says something on the terminal.
#[allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]
pub(crate) fn announce(text: &str) {
    println!("{text}");
}
