//! Pictures of scenes: characters, ground, particles and targets, with the camera that finds them.

use anim_engine::geom::{Shape, Vertices, normals};
use anim_engine::math::Vec3;
use anim_engine::skeleton::Globals;
use anim_engine::skin::VertexBlocks;
use anim_engine::{Actor, Body, Character, Scene};
use anim_view::{Camera, Canvas, Image, Style};

use crate::bake::{GROUND_COLOR, to_world};
use crate::output::Failure;

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

/// Linear RGB of particles and targets.
const DUST: [f32; 3] = [0.78, 0.70, 0.55];
/// Linear RGB of obstacles, and of bodies in turn.
const OBSTACLE: [f32; 3] = [0.35, 0.35, 0.38];
const BODIES: [[f32; 3]; 5] = [
    [0.62, 0.12, 0.10],
    [0.10, 0.32, 0.60],
    [0.70, 0.50, 0.10],
    [0.12, 0.45, 0.20],
    [0.45, 0.18, 0.50],
];
const TARGET: [f32; 3] = [0.95, 0.55, 0.05];
/// Linear RGB of earlier moments.
const GHOST: [f32; 3] = [0.10, 0.25, 0.70];
/// What the whitest surface reflects: files give white to what a texture colours.
const ALBEDO: f32 = 0.7;

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

/// A box that moves with the first actor and keeps its size, so that a character walks in place in a row of pictures.
pub(crate) fn following(scene: &Scene, (low, high): (Vec3, Vec3), start: Vec3) -> (Vec3, Vec3) {
    let first = scene.actors.first().and_then(|id| scene.engine.actor(*id));
    let way = first.map_or(Vec3::zeros(), |actor| {
        actor.world_from_model().translation - start
    });
    (low + way, high + way)
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
    let mut canvas = canvas(look)?;
    let (low, high) = bounds(scene);
    match &scene.ground {
        Some(ground) => canvas.mesh(
            camera,
            &ground.rest.positions,
            &ground.rest.normals,
            &ground.triangles,
            &Style {
                color: GROUND_COLOR,
                ..Style::default()
            },
        ),
        None => canvas.ground_grid(camera, look.floor, 3.0 * (high - low).amax()),
    }
    for (_, actor) in scene.engine.actors() {
        draw_actor(&mut canvas, camera, actor, look);
    }
    draw_obstacles(&mut canvas, camera, scene);
    for (index, (_, body)) in scene.engine.bodies().enumerate() {
        draw_body(&mut canvas, camera, body, BODIES[index % BODIES.len()]);
    }
    for (index, ghost) in earlier.iter().enumerate() {
        let opacity = 0.35 * (index + 1) as f32 / (earlier.len() + 1) as f32;
        ghost.draw(&mut canvas, camera, scene, opacity);
    }
    for particles in scene.engine.all_particles() {
        for (position, (age, lifetime)) in particles
            .positions
            .iter()
            .zip(particles.ages.iter().zip(&particles.lifetimes))
        {
            let left = (1.0 - age / lifetime).clamp(0.0, 1.0);
            canvas.disc(camera, *position, 0.012 * (0.4 + 0.6 * left), DUST);
        }
    }
    for target in scene.targets() {
        canvas.disc(camera, target, 0.04, TARGET);
    }
    Ok(canvas.finish())
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

/// Draws the surfaces of an actor, and its bones if asked for.
fn draw_actor(canvas: &mut Canvas, camera: &Camera, actor: &Actor, look: &Look) {
    let style = Style {
        wire: look.wire,
        two_sided: true,
        ..Style::default()
    };
    draw_surfaces(
        canvas,
        camera,
        actor.character(),
        &world_surfaces(actor, actor.surfaces()),
        None,
        &style,
    );
    if look.skeleton || actor.surfaces().is_empty() {
        let skeleton = actor.character().skeleton();
        let mut world = Globals::new(skeleton);
        for joint in skeleton.joints() {
            world.set(joint, actor.world_from_joint(joint));
        }
        canvas.skeleton(camera, skeleton, &world);
    }
}

/// Draws what is in the way, but for planes, which the floor shows.
fn draw_obstacles(canvas: &mut Canvas, camera: &Camera, scene: &Scene) {
    let style = Style {
        color: OBSTACLE,
        ..Style::default()
    };
    for index in &scene.obstacles {
        let collider = &scene.engine.world.colliders[*index];
        if !matches!(collider.shape, Shape::Plane) {
            canvas.collider(camera, collider, &style);
        }
    }
}

/// Draws a simulated body: its surface, or its links.
fn draw_body(canvas: &mut Canvas, camera: &Camera, body: &Body, color: [f32; 3]) {
    let spec = body.model().spec();
    let positions = body.positions();
    if spec.triangles.is_empty() {
        for link in &spec.links {
            let [from, to] = link.vertices.map(|v| positions[v as usize]);
            canvas.line(camera, from, to, color, 3.0);
        }
        return;
    }
    let mut normals = vec![Vec3::y(); positions.len()];
    normals::smooth(positions, &spec.triangles, &mut normals);
    let style = Style {
        color,
        two_sided: true,
        ..Style::default()
    };
    canvas.mesh(camera, positions, &normals, &spec.triangles, &style);
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
fn world_surfaces(actor: &Actor, surfaces: &[VertexBlocks]) -> Vec<Vertices> {
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

    fn draw(&self, canvas: &mut Canvas, camera: &Camera, scene: &Scene, opacity: f32) {
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
