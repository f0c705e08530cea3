//! A scene as it looks at one moment, kept to be drawn later by a camera that knows all moments.

use std::sync::Arc;

use anim_engine::geom::{Collider, Shape, Vertices, normals};
use anim_engine::math::Vec3;
use anim_engine::skeleton::Globals;
use anim_engine::{Actor, Body, Character, Scene};
use anim_view::{Camera, Image, Style};

use crate::bake::GROUND_COLOR;
use crate::output::Failure;
use crate::picture::{self, ALBEDO, Ghost, Look};

/// Linear RGB of particles and targets.
const DUST: [f32; 3] = [0.78, 0.70, 0.55];
const TARGET: [f32; 3] = [0.95, 0.55, 0.05];
/// Linear RGB of obstacles, and of bodies in turn.
const OBSTACLE: [f32; 3] = [0.35, 0.35, 0.38];
const BODIES: [[f32; 3]; 5] = [
    [0.62, 0.12, 0.10],
    [0.10, 0.32, 0.60],
    [0.70, 0.50, 0.10],
    [0.12, 0.45, 0.20],
    [0.45, 0.18, 0.50],
];

/// What is to be seen.
#[derive(Debug, Default)]
pub(crate) struct Still {
    meshes: Vec<(Vertices, Vec<[u32; 3]>, Style)>,
    lines: Vec<([Vec3; 2], [f32; 3])>,
    skeletons: Vec<(Arc<Character>, Globals)>,
    obstacles: Vec<Collider>,
    discs: Vec<(Vec3, f32, [f32; 3])>,
    /// How far the floor reaches, m.
    extent: f32,
}

impl Still {
    /// What a scene shows now.
    pub(crate) fn of(scene: &Scene, look: &Look) -> Self {
        let (low, high) = picture::bounds(scene);
        let mut still = Self {
            extent: 3.0 * (high - low).amax(),
            obstacles: obstacles(scene).cloned().collect(),
            ..Self::default()
        };
        for (_, actor) in scene.engine.actors() {
            still.add_actor(actor, look);
        }
        for (index, (_, body)) in scene.engine.bodies().enumerate() {
            still.add_body(body, BODIES[index % BODIES.len()]);
        }
        for particles in scene.engine.all_particles() {
            let lives = particles.ages.iter().zip(&particles.lifetimes);
            for (position, (age, lifetime)) in particles.positions.iter().zip(lives) {
                let left = (1.0 - age / lifetime).clamp(0.0, 1.0);
                let radius = 0.012 * (0.4 + 0.6 * left);
                still.discs.push((*position, radius, DUST));
            }
        }
        let targets = scene.targets().map(|target| (target, 0.04, TARGET));
        still.discs.extend(targets);
        still
    }

    /// Draws it over earlier moments, first to last, ever less faint.
    pub(crate) fn draw(
        &self,
        scene: &Scene,
        camera: &Camera,
        look: &Look,
        earlier: &[Ghost],
    ) -> Result<Image, Failure> {
        let mut canvas = picture::canvas(look)?;
        match &scene.ground {
            Some(ground) => {
                let Vertices { positions, normals } = &ground.rest;
                let style = Style {
                    color: GROUND_COLOR,
                    ..Style::default()
                };
                canvas.mesh(camera, positions, normals, &ground.triangles, &style);
            }
            None => canvas.ground_grid(camera, look.floor, self.extent),
        }
        for (Vertices { positions, normals }, triangles, style) in &self.meshes {
            canvas.mesh(camera, positions, normals, triangles, style);
        }
        for (character, world) in &self.skeletons {
            canvas.skeleton(camera, character.skeleton(), world);
        }
        let style = Style {
            color: OBSTACLE,
            ..Style::default()
        };
        for obstacle in &self.obstacles {
            canvas.collider(camera, obstacle, &style);
        }
        for ([from, to], color) in &self.lines {
            canvas.line(camera, *from, *to, *color, 3.0);
        }
        for (index, ghost) in earlier.iter().enumerate() {
            let opacity = 0.35 * (index + 1) as f32 / (earlier.len() + 1) as f32;
            ghost.draw(&mut canvas, camera, scene, opacity);
        }
        for (position, radius, color) in &self.discs {
            canvas.disc(camera, *position, *radius, *color);
        }
        Ok(canvas.finish())
    }

    /// The surfaces and the hair of an actor, and its bones if asked for.
    fn add_actor(&mut self, actor: &Actor, look: &Look) {
        let character = actor.character();
        let surfaces = picture::world_surfaces(actor, actor.surfaces());
        for (vertices, surface) in surfaces.into_iter().zip(character.surfaces()) {
            let style = Style {
                color: surface.color.map(|channel| channel * ALBEDO),
                wire: look.wire,
                two_sided: true,
                ..Style::default()
            };
            let triangles = surface.mesh.triangles().to_vec();
            self.meshes.push((vertices, triangles, style));
        }
        for (model, hair) in character.hairs().iter().zip(actor.hairs()) {
            let mut tubes = Vertices::default();
            hair.tubes(model, &mut tubes);
            let style = Style {
                color: model.color,
                ..Style::default()
            };
            self.meshes.push((tubes, model.triangles().to_vec(), style));
        }
        if look.skeleton || actor.surfaces().is_empty() {
            let skeleton = character.skeleton();
            let mut world = Globals::new(skeleton);
            for joint in skeleton.joints() {
                world.set(joint, actor.world_from_joint(joint));
            }
            self.skeletons.push((Arc::clone(character), world));
        }
    }

    /// A simulated body: its surface, or its links.
    fn add_body(&mut self, body: &Body, color: [f32; 3]) {
        let spec = body.model().spec();
        let positions = body.positions().to_vec();
        if spec.triangles.is_empty() {
            let links = spec.links.iter();
            let ends = links.map(|link| link.vertices.map(|v| positions[v as usize]));
            self.lines.extend(ends.map(|ends| (ends, color)));
            return;
        }
        let mut normals = vec![Vec3::y(); positions.len()];
        normals::smooth(&positions, &spec.triangles, &mut normals);
        let style = Style {
            color,
            two_sided: true,
            ..Style::default()
        };
        let vertices = Vertices { positions, normals };
        self.meshes.push((vertices, spec.triangles.clone(), style));
    }
}

/// What is in the way, but for planes, which the floor shows.
pub(crate) fn obstacles(scene: &Scene) -> impl Iterator<Item = &Collider> {
    let colliders = &scene.engine.world.colliders;
    let obstacles = scene.obstacles.iter().map(|index| &colliders[*index]);
    obstacles.filter(|collider| !matches!(collider.shape, Shape::Plane))
}

/// The box around a round or closed collider; `None` for what goes on for ever.
pub(crate) fn collider_box(collider: &Collider) -> Option<(Vec3, Vec3)> {
    let place = &collider.world_from_shape;
    let around = |points: &[Vec3], radius: f32| {
        let points = points.iter().map(|point| place.transform_point(*point));
        let room = Vec3::repeat(radius * place.linear.column(0).norm());
        let boxes = points.map(|point| (point - room, point + room));
        boxes.reduce(|a, b| (a.0.inf(&b.0), a.1.sup(&b.1)))
    };
    match &collider.shape {
        Shape::Sphere { radius } => around(&[Vec3::zeros()], *radius),
        Shape::Capsule {
            radius,
            half_length,
        } => around(&[1.0, -1.0].map(|s| Vec3::y() * (s * half_length)), *radius),
        Shape::Mesh(mesh) => {
            let corners: Vec<Vec3> = mesh.triangles().flatten().collect();
            around(&corners, 0.0)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anim_engine::geom::{MeshBvh, primitives};
    use anim_engine::math::{Affine, Transform, quat};

    #[test]
    fn obstacles_are_in_their_boxes_and_planes_have_none() {
        let place = Affine::from(Transform {
            translation: Vec3::new(1.0, 2.0, 3.0),
            ..Transform::from_rotation(quat::from_axis_angle(
                Vec3::z(),
                std::f32::consts::FRAC_PI_2,
            ))
        });
        let boxed = |shape| collider_box(&Collider::new(shape, place));
        let close = |found: Option<(Vec3, Vec3)>, half: Vec3| {
            let (low, high) = found.unwrap();
            // Roundings of a few metres.
            assert!((low - (place.translation - half)).norm() < 1e-5, "{low}");
            assert!((high - (place.translation + half)).norm() < 1e-5, "{high}");
        };
        close(boxed(Shape::Sphere { radius: 0.5 }), Vec3::repeat(0.5));
        let capsule = Shape::Capsule {
            radius: 0.5,
            half_length: 2.0,
        };
        close(boxed(capsule), Vec3::new(2.5, 0.5, 0.5));
        let mesh = MeshBvh::new(&primitives::cuboid(Vec3::new(1.0, 2.0, 3.0))).unwrap();
        close(boxed(Shape::Mesh(Arc::new(mesh))), Vec3::new(2.0, 1.0, 3.0));
        assert_eq!(boxed(Shape::Plane), None);
    }
}
