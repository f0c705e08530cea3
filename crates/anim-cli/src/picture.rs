//! Pictures of scenes: characters, ground, particles and targets, with the camera that finds them.

use anim_engine::geom::Vertices;
use anim_engine::math::Vec3;
use anim_engine::skin::VertexBlocks;
use anim_engine::{Actor, Character, Scene};
use anim_view::{Camera, Canvas, Image, Style};

use crate::bake::to_world;
use crate::output::Failure;
use crate::still::Still;

/// How a picture is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) yaw_deg: f32,
    pub(crate) pitch_deg: f32,
    /// Draw the bones over the surface.
    pub(crate) skeleton: bool,
    /// Draw the edges of triangles.
    pub(crate) wire: bool,
    /// Height of the floor of a scene without ground, m.
    pub(crate) floor: f32,
}

/// Linear RGB of earlier moments.
const GHOST: [f32; 3] = [0.10, 0.25, 0.70];
/// What the whitest surface reflects: files give white to what a texture colours.
pub(crate) const ALBEDO: f32 = 0.7;

/// The box around all actors as they are now, world space; a unit box around nothing.
pub(crate) fn bounds(scene: &Scene) -> (Vec3, Vec3) {
    let (mut low, mut high) = (Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY));
    let mut take = |point: Vec3| {
        if point.iter().all(|c| c.is_finite()) {
            low = low.inf(&point);
            high = high.sup(&point);
        }
    };
    for (_, actor) in scene.engine.actors() {
        let world_from_model = actor.world_from_model();
        for surface in actor.surfaces() {
            (0..surface.len())
                .for_each(|v| take(world_from_model.transform_point(surface.position(v))));
        }
        if actor.surfaces().is_empty() {
            let skeleton = actor.character().skeleton();
            skeleton
                .joints()
                .for_each(|joint| take(actor.world_from_joint(joint).translation));
        }
    }
    for (_, actor) in scene.engine.actors() {
        let strands = actor.hairs().iter().flat_map(|hair| hair.strands());
        strands.copied().for_each(&mut take);
    }
    for (_, body) in scene.engine.bodies() {
        body.positions().iter().copied().for_each(&mut take);
    }
    if low.x <= high.x {
        (low, high)
    } else {
        (Vec3::repeat(-0.5), Vec3::repeat(0.5))
    }
}

/// Where the floor lies: at 0, or under a model that reaches far below that, such as a head about the origin.
pub(crate) fn floor((low, high): (Vec3, Vec3)) -> f32 {
    if low.y < -0.1 * (high.y - low.y) {
        low.y
    } else {
        0.0
    }
}

/// A camera that sees a box.
pub(crate) fn camera((low, high): (Vec3, Vec3), look: &Look) -> Camera {
    let aspect = look.width as f32 / look.height.max(1) as f32;
    Camera::framing(
        low,
        high,
        look.yaw_deg.to_radians(),
        look.pitch_deg.to_radians(),
        aspect,
    )
}

/// Draws a scene as it is now.
pub(crate) fn draw(scene: &Scene, camera: &Camera, look: &Look) -> Result<Image, Failure> {
    draw_over(scene, camera, look, &[])
}

/// Draws a scene as it is now over earlier moments, first to last, ever less faint.
pub(crate) fn draw_over(
    scene: &Scene,
    camera: &Camera,
    look: &Look,
    earlier: &[Ghost],
) -> Result<Image, Failure> {
    Still::of(scene, look).draw(scene, camera, look, earlier)
}

/// Draws an actor alone with `surfaces` in the place of its own.
pub(crate) fn draw_deformed(
    actor: &Actor,
    surfaces: &[VertexBlocks],
    camera: &Camera,
    look: &Look,
) -> Result<Image, Failure> {
    let mut canvas = canvas(look)?;
    canvas.ground_grid(camera, look.floor, 10.0);
    let style = Style {
        wire: look.wire,
        two_sided: true,
        ..Style::default()
    };
    let surfaces = world_surfaces(actor, surfaces);
    draw_surfaces(
        &mut canvas,
        camera,
        actor.character(),
        &surfaces,
        None,
        &style,
    );
    Ok(canvas.finish())
}

/// A canvas of the picture's size.
pub(crate) fn canvas(look: &Look) -> Result<Canvas, Failure> {
    Canvas::new(look.width, look.height, 2)
        .map_err(|error| Failure::option("--width, --height", error))
}

/// Draws surfaces of a character, each in its own colour unless tinted.
fn draw_surfaces(
    canvas: &mut Canvas,
    camera: &Camera,
    character: &Character,
    surfaces: &[Vertices],
    tint: Option<[f32; 3]>,
    style: &Style,
) {
    for (vertices, surface) in surfaces.iter().zip(character.surfaces()) {
        let style = Style {
            color: tint.unwrap_or(surface.color.map(|channel| channel * ALBEDO)),
            ..*style
        };
        let Vertices { positions, normals } = vertices;
        canvas.mesh(camera, positions, normals, surface.mesh.triangles(), &style);
    }
}

/// Surfaces of an actor, its own or others of its meshes, in the world, skin-block order.
pub(crate) fn world_surfaces(actor: &Actor, surfaces: &[VertexBlocks]) -> Vec<Vertices> {
    let surface = |blocks: &VertexBlocks| {
        let mut vertices = Vertices {
            positions: (0..blocks.len()).map(|v| blocks.position(v)).collect(),
            normals: (0..blocks.len()).map(|v| blocks.normal(v)).collect(),
        };
        to_world(&mut vertices, &actor.world_from_model());
        vertices
    };
    surfaces.iter().map(surface).collect()
}

/// The surfaces of all actors at an earlier moment.
#[derive(Debug)]
pub(crate) struct Ghost(Vec<Vec<Vertices>>);

impl Ghost {
    /// The moment that the scene shows now.
    pub(crate) fn of(scene: &Scene) -> Self {
        Self(
            scene
                .engine
                .actors()
                .map(|(_, actor)| world_surfaces(actor, actor.surfaces()))
                .collect(),
        )
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas, camera: &Camera, scene: &Scene, opacity: f32) {
        let style = Style {
            opacity,
            ..Style::default()
        };
        for (surfaces, (_, actor)) in self.0.iter().zip(scene.engine.actors()) {
            draw_surfaces(
                canvas,
                camera,
                actor.character(),
                surfaces,
                Some(GHOST),
                &style,
            );
        }
    }
}
