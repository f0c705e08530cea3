//! A scene's frames as one document: joints as curves, cloth, hair and what muscles lift as morph targets, the ground as it is.

use std::path::Path;

use anim_asset::baked::{clip_of_poses, vertex_animation};
use anim_asset::{Document, MeshSpec, Node, Primitive};
use anim_engine::geom::{Mesh, Vertices, normals};
use anim_engine::math::{Affine, Transform, Vec3};
use anim_engine::skeleton::{ClipSpec, MorphChannel, Pose};
use anim_engine::{Actor, ActorHair, Body, CharacterHair, Scene};

use crate::output::{self, Failure};

/// Frames between two keys of what is baked as shapes.
const CLOTH_EVERY: usize = 3;
/// Linear RGB of simulated bodies.
const BODY_COLOR: [f32; 3] = [0.62, 0.12, 0.10];
/// Linear RGB of the ground.
pub(crate) const GROUND_COLOR: [f32; 3] = [0.36, 0.33, 0.27];

/// Collects frames while a scene plays.
#[derive(Debug)]
pub(crate) struct Baker {
    fps: f32,
    actors: Vec<Frames>,
    /// One list of frames a body that has a surface, world space.
    bodies: Vec<Vec<Vertices>>,
    /// One list of frames a head of hair, world space: tubes about its guides.
    hairs: Vec<Vec<Vertices>>,
}

/// The frames of one actor.
#[derive(Debug)]
struct Frames {
    document: Document,
    poses: Vec<Pose>,
    /// One list of frames a surface that joints alone do not move, world space, source order.
    freed: Vec<Vec<Vertices>>,
}

impl Baker {
    /// `documents`: the file of each actor of the scene.
    pub(crate) fn new(fps: f32, documents: Vec<Document>) -> Self {
        let frames = |document| Frames {
            document,
            poses: Vec::new(),
            freed: Vec::new(),
        };
        Self {
            fps,
            actors: documents.into_iter().map(frames).collect(),
            bodies: Vec::new(),
            hairs: Vec::new(),
        }
    }

    /// Takes the frame that the scene shows now.
    pub(crate) fn take(&mut self, scene: &Scene) {
        for (frames, id) in self.actors.iter_mut().zip(&scene.actors) {
            if let Some(actor) = scene.engine.actor(*id) {
                frames.poses.push(world_pose(actor));
                frames.take_freed(actor);
            }
        }
        for (index, (model, hair)) in hairs(scene).enumerate() {
            if index == self.hairs.len() {
                self.hairs.push(Vec::new());
            }
            let mut tubes = Vertices::default();
            hair.guide_tubes(model, guide_radius(model), &mut tubes);
            self.hairs[index].push(tubes);
        }
        let bodies = scene.engine.bodies().map(|(_, body)| body);
        for (index, body) in bodies.filter(|body| has_surface(body)).enumerate() {
            if index == self.bodies.len() {
                self.bodies.push(Vec::new());
            }
            let positions = body.positions().to_vec();
            let mut normals = vec![Vec3::y(); positions.len()];
            normals::smooth(&positions, &body.model().spec().triangles, &mut normals);
            self.bodies[index].push(Vertices { positions, normals });
        }
    }

    /// Writes all frames; the extension is the format.
    pub(crate) fn write(self, scene: &Scene, path: &Path) -> Result<(), Failure> {
        let format = output::character_format(path)?;
        let mut all = Document::default();
        let mut clip = ClipSpec {
            name: Some("baked".to_owned()),
            ..ClipSpec::default()
        };
        for (frames, id) in self.actors.into_iter().zip(&scene.actors) {
            if let Some(actor) = scene.engine.actor(*id) {
                frames.append(actor, self.fps, &mut all, &mut clip)?;
            }
        }
        let bodies = scene.engine.bodies().map(|(_, body)| body);
        let bodies = bodies.filter(|body| has_surface(body));
        for (body, frames) in bodies.zip(self.bodies) {
            let mesh = Mesh {
                rest: Vertices::default(),
                uvs: Vec::new(),
                triangles: body.model().spec().triangles.clone(),
            };
            add_animated(
                &mut all,
                &mut clip,
                body.name(),
                mesh,
                BODY_COLOR,
                self.fps,
                &frames,
            )?;
        }
        for ((model, _), frames) in hairs(scene).zip(self.hairs) {
            let mesh = Mesh {
                rest: Vertices::default(),
                uvs: Vec::new(),
                triangles: model.guide_triangles(),
            };
            let (color, fps) = (model.color, self.fps);
            add_animated(&mut all, &mut clip, "hair", mesh, color, fps, &frames)?;
        }
        if let Some(ground) = &scene.ground {
            let mesh = add_mesh(&mut all, "ground", ground.clone(), GROUND_COLOR);
            add_node(&mut all, "ground", mesh);
        }
        let roots = (0..all.nodes.len()).filter(|node| all.nodes[*node].parent.is_none());
        all.scenes = vec![roots.collect()];
        all.clips = vec![clip];
        output::file(path, &anim_asset::encode(&all, format))
    }
}

impl Frames {
    fn take_freed(&mut self, actor: &Actor) {
        let freed = freed(actor);
        self.freed.resize_with(freed.len(), Vec::new);
        for (frames, surface) in self.freed.iter_mut().zip(freed) {
            let mesh = &actor.character().surfaces()[surface].mesh;
            let mut vertices = Vertices::default();
            mesh.to_source_order(&actor.surfaces()[surface], &mut vertices);
            to_world(&mut vertices, &actor.world_from_model());
            frames.push(vertices);
        }
    }

    /// Adds this actor's nodes, meshes and curves to a document.
    fn append(
        self,
        actor: &Actor,
        fps: f32,
        all: &mut Document,
        clip: &mut ClipSpec,
    ) -> Result<(), Failure> {
        let character = actor.character();
        let (nodes, meshes, skins) = (all.nodes.len(), all.meshes.len(), all.skins.len());
        let motion = clip_of_poses(None, character.skeleton(), fps, &self.poses);
        clip.channels
            .extend(motion.channels.into_iter().map(|mut channel| {
                channel.joint += nodes;
                channel
            }));
        all.nodes
            .extend(self.document.nodes.into_iter().map(|mut node| {
                node.parent = node.parent.map(|parent| parent + nodes);
                node.mesh = node.mesh.map(|mesh| mesh + meshes);
                node.skin = node.skin.map(|skin| skin + skins);
                node
            }));
        all.meshes.extend(self.document.meshes);
        all.skins
            .extend(self.document.skins.into_iter().map(|mut skin| {
                skin.joints.iter_mut().for_each(|joint| *joint += nodes);
                skin
            }));
        for (surface, frames) in freed(actor).into_iter().zip(self.freed) {
            let (node, primitive) = character.surfaces()[surface].source;
            add_freed(all, clip, (nodes + node, primitive), fps, &frames)?;
        }
        Ok(())
    }
}

/// The surfaces that cloth or muscles move; of each node the last first, so that taking one out leaves the others in place.
fn freed(actor: &Actor) -> Vec<usize> {
    let character = actor.character();
    let cloths = character.cloths().iter().map(|cloth| cloth.surface);
    let mut all: Vec<usize> = cloths.chain(character.lifted_surfaces()).collect();
    all.sort_unstable_by_key(|surface| std::cmp::Reverse(*surface));
    all.dedup();
    all
}

/// Replaces a skinned primitive by one whose morph targets are the simulated frames.
fn add_freed(
    all: &mut Document,
    clip: &mut ClipSpec,
    (node, primitive): (usize, usize),
    fps: f32,
    frames: &[Vertices],
) -> Result<(), Failure> {
    if frames.is_empty() {
        return Ok(());
    }
    let Some(mesh) = all.nodes[node].mesh else {
        return Ok(());
    };
    let source = all.meshes[mesh].primitives.remove(primitive);
    if all.meshes[mesh].primitives.is_empty() {
        // A mesh needs a primitive: the node goes on without one.
        all.nodes
            .iter_mut()
            .filter(|n| n.mesh == Some(mesh))
            .for_each(|n| {
                n.mesh = None;
                n.skin = None;
                n.weights.clear();
            });
    }
    let name = all.nodes[node]
        .name
        .clone()
        .unwrap_or_else(|| "surface".to_owned());
    add_animated(all, clip, &name, source.mesh, source.color, fps, frames)
}

/// Adds a mesh whose morph targets are frames; where it rests is the first of them.
fn add_animated(
    all: &mut Document,
    clip: &mut ClipSpec,
    name: &str,
    mesh: Mesh,
    color: [f32; 3],
    fps: f32,
    frames: &[Vertices],
) -> Result<(), Failure> {
    let Some(first) = frames.first() else {
        return Ok(());
    };
    let animation = vertex_animation(first, fps, CLOTH_EVERY, frames)
        .ok_or_else(|| Failure::option("--fps", format!("{fps} is not a frame rate")))?;
    let shape = Mesh {
        rest: first.clone(),
        ..mesh
    };
    let mesh = add_mesh(all, name, shape, color);
    all.meshes[mesh].primitives[0].targets = animation.targets;
    let joint = add_node(all, name, mesh);
    clip.morphs.push(MorphChannel {
        joint,
        track: animation.weights,
    });
    Ok(())
}

/// All heads of hair.
fn hairs(scene: &Scene) -> impl Iterator<Item = (&CharacterHair, &ActorHair)> {
    let actors = scene.engine.actors();
    actors.flat_map(|(_, actor)| actor.character().hairs().iter().zip(actor.hairs()))
}

/// So thick that all guides cover what all strands do, m.
fn guide_radius(model: &CharacterHair) -> f32 {
    let strands = model.followers().len() as f32 / model.guides().guide_count() as f32;
    model.radius * strands.sqrt()
}

/// Ropes have none.
fn has_surface(body: &Body) -> bool {
    !body.model().spec().triangles.is_empty()
}

fn add_mesh(all: &mut Document, name: &str, mesh: Mesh, color: [f32; 3]) -> usize {
    all.meshes.push(MeshSpec {
        name: Some(name.to_owned()),
        primitives: vec![Primitive {
            mesh,
            color,
            ..Primitive::default()
        }],
        weights: Vec::new(),
    });
    all.meshes.len() - 1
}

fn add_node(all: &mut Document, name: &str, mesh: usize) -> usize {
    all.nodes.push(Node {
        name: Some(name.to_owned()),
        mesh: Some(mesh),
        rest: Transform::IDENTITY,
        ..Node::default()
    });
    all.nodes.len() - 1
}

/// The pose with the actor's place in the world given to its roots.
fn world_pose(actor: &Actor) -> Pose {
    let mut pose = actor.pose().clone();
    let skeleton = actor.character().skeleton();
    for joint in skeleton
        .joints()
        .filter(|joint| skeleton.parent(*joint).is_none())
    {
        let world_from_root = actor.world_from_model() * Affine::from(pose.get(joint));
        pose.set(joint, world_from_root.to_transform());
    }
    pose
}

/// Moves vertices from model to world space by a rigid map.
pub(crate) fn to_world(vertices: &mut Vertices, world_from_model: &Affine) {
    for position in &mut vertices.positions {
        *position = world_from_model.transform_point(*position);
    }
    for normal in &mut vertices.normals {
        *normal = world_from_model.transform_vector(*normal);
    }
}
