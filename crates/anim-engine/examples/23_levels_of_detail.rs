//! Levels of detail of a walking figure: `cargo run --example 23_levels_of_detail [PICTURE.png]`.
//!
//! Triangles are taken away where they are missed least in poses of the walk, and the farthest level follows fewer joints,
//! too. Which level is drawn follows from its error in pixels; as it changes, both are drawn for a quarter of a second, one
//! fading in over the other. Above are the levels close by, below what is chosen as the figure walks away.

mod common;

use std::sync::Arc;

use anim_engine::asset::{MeshSpec, builtin};
use anim_engine::geom::Mesh;
use anim_engine::math::{Affine, Vec3};
use anim_engine::skeleton::{Globals, SkeletonLod};
use anim_engine::skin::lod::pixels_per_metre;
use anim_engine::skin::simplify::{SkinLodOptions, simplify_skinned};
use anim_engine::skin::weights::{kept_ancestors, merge_joints};
use anim_engine::skin::{Influences, LodState, MeshLod, SkinWeights, SkinnedMesh, VertexBlocks};
use anim_engine::{Actor, Character, Config, Engine};
use anim_view::{Camera, Canvas, Image, Style, sheet};
use common::{Outcome, announce, caption, stacked, write};

/// Triangles of the levels after the source, of its own.
const RATIOS: [f32; 4] = [0.5, 0.25, 0.12, 0.12];
/// Generations of joints, counted from the root, that the last level follows.
const DEPTH: usize = 8;
/// Poses of the walk in which errors are judged.
const POSES: u32 = 6;
/// Of the screen that the figure walks away on, pixels.
const SCREEN: f32 = 1080.0;
/// 1 / tan(half of 45°): the field of view.
const FOCAL: f32 = 2.414;
/// Where pictures are taken, m.
const SHOWN: [f32; 6] = [2.0, 9.0, 17.0, 31.0, 60.0, 150.0];
/// The figure walks away this fast for a picture, m/s.
const SPEED: f32 = 20.0;
const FRAME: f32 = 1.0 / 60.0;
/// One a level, linear RGB.
const COLORS: [[f32; 3]; 5] = [
    [0.55, 0.40, 0.30],
    [0.10, 0.30, 0.60],
    [0.12, 0.40, 0.16],
    [0.75, 0.35, 0.05],
    [0.45, 0.10, 0.40],
];

fn main() -> Outcome {
    let mut figure = Figure::new()?;
    let near = figure.levels_close_by()?;
    let (away, changes) = figure.walk_away()?;
    announce(&changes);
    let heading = format!("levels of detail: {changes}");
    let width = near.width.max(away.width);
    write(
        "23_levels_of_detail",
        &stacked(&[caption(width, &heading), near, away]),
    )
}

/// One level, ready to be skinned, and how many joints move it.
struct Level {
    mesh: SkinnedMesh,
    error: f32,
    joint_count: usize,
}

/// A figure that walks, with the levels of its body.
struct Figure {
    engine: Engine,
    id: anim_engine::ActorId,
    levels: Vec<Level>,
    lod: MeshLod,
}

impl Figure {
    fn new() -> Outcome<Self> {
        let document = builtin::humanoid();
        let character = Arc::new(Character::from_document(&document, &Default::default())?);
        let mut engine = Engine::new(Config::default())?;
        let id = engine.spawn(Arc::clone(&character));
        engine.actor_mut(id).ok_or("no actor")?.play("walk")?;
        let surface = &character.surfaces()[0];
        let (mesh, influences) = &body(&document.meshes[0])?;
        let binds = &document.skins[0].joint_from_bind;
        let joints = surface.mesh.joints();

        // What the joints do to the mesh in a few poses of the walk.
        let mut poses = Vec::new();
        for _ in 0..POSES {
            engine.step(1.0 / POSES as f32);
            let globals = engine.actor(id).ok_or("no actor")?.globals();
            poses.push(palette(globals, &surface.mesh));
        }
        let options = SkinLodOptions {
            ratios: RATIOS.to_vec(),
            ..SkinLodOptions::default()
        };
        let simplified = simplify_skinned(mesh, influences, joints.len(), &[], &poses, &options)?;

        let skeleton = character.skeleton();
        let bound = |mesh: &Mesh, influences: &Influences, error| -> Outcome<Level> {
            let weights = influences.weights.iter().zip(&influences.joints);
            let moving = weights.filter(|(weight, _)| **weight > 0.0);
            let mut used: Vec<u16> = moving.map(|(_, joint)| *joint).collect();
            used.sort_unstable();
            used.dedup();
            let mesh = SkinnedMesh::new(mesh, joints, binds, influences, &[])?;
            Ok(Level {
                mesh: mesh.with_skeleton(skeleton),
                error,
                joint_count: used.len(),
            })
        };
        let mut levels = vec![bound(mesh, influences, 0.0)?];
        for level in &simplified[..simplified.len() - 1] {
            levels.push(bound(&level.mesh, &level.influences, level.error)?);
        }
        // The last follows fewer joints; hands and feet then go with what they hang on, off by up to their own error.
        if let Some(far) = simplified.last() {
            let kept = SkeletonLod::by_depth(skeleton, &[DEPTH]).joint_count(1);
            let (weights, _) = SkinWeights::from_influences(&far.influences, joints.len())?;
            let merged = merge_joints(&weights, &kept_ancestors(skeleton, joints, kept))?;
            let mut level = bound(&far.mesh, &merged.to_influences(), far.error)?;
            level.error += farthest(&far.mesh, [&weights, &merged], &poses);
            levels.push(level);
        }
        let lod = MeshLod::new(levels.iter().map(|level| level.error).collect());
        Ok(Self {
            engine,
            id,
            levels,
            lod,
        })
    }

    fn actor(&self) -> Outcome<&Actor> {
        Ok(self.engine.actor(self.id).ok_or("no actor")?)
    }

    /// A level as the actor stands, model space.
    fn draw(&self, canvas: &mut Canvas, camera: &Camera, level: usize, style: Style) -> Outcome {
        let mesh = &self.levels[level].mesh;
        let mut palette = mesh.palette_buffer();
        mesh.palette(self.actor()?.globals(), &mut palette);
        let mut surface = VertexBlocks::new(mesh.vertex_count());
        mesh.linear(mesh.rest(), &palette, &mut surface);
        let vertices = || 0..surface.len();
        let positions: Vec<Vec3> = vertices().map(|v| surface.position(v)).collect();
        let normals: Vec<Vec3> = vertices().map(|v| surface.normal(v)).collect();
        canvas.mesh(camera, &positions, &normals, mesh.triangles(), &style);
        Ok(())
    }

    /// All levels with their triangles.
    fn levels_close_by(&self) -> Outcome<Image> {
        let size = [190, 340];
        let aspect = size[0] as f32 / size[1] as f32;
        let camera = self.camera(0.6, aspect)?;
        let mut pictures = Vec::new();
        let mut labels = Vec::new();
        for (place, level) in self.levels.iter().enumerate() {
            let mut canvas = Canvas::new(size[0], size[1], 2)?;
            let style = Style {
                color: COLORS[place],
                wire: true,
                ..Style::default()
            };
            self.draw(&mut canvas, &camera, place, style)?;
            pictures.push(canvas.finish());
            let triangles = level.mesh.triangles().len();
            let millimetres = 1e3 * level.error;
            labels.push(format!(
                "{place}: {triangles}, {} joints, {millimetres:.0} mm",
                level.joint_count
            ));
        }
        Ok(sheet(&pictures, &labels, pictures.len()))
    }

    /// The figure as it walks away, from as near in each picture; and where the levels change.
    fn walk_away(&mut self) -> Outcome<(Image, String)> {
        let mut state = LodState::default();
        let (mut pictures, mut labels, mut changes) = (Vec::new(), Vec::new(), Vec::new());
        let mut distance = 1.0;
        for shown in SHOWN {
            while distance < shown {
                distance += SPEED * FRAME;
                self.engine.step(FRAME);
                let pixels = pixels_per_metre(distance, FOCAL, SCREEN);
                let before = state.level;
                self.lod.update(pixels, FRAME, &mut state);
                if state.level != before {
                    changes.push(format!("{} at {distance:.0} m", state.level));
                }
            }
            pictures.push(self.faded(&state, 0.6)?);
            let seen = state.fade;
            labels.push(if state.level == state.previous {
                format!("{distance:.0} m: level {}", state.level)
            } else {
                format!(
                    "{distance:.0} m: {} to {}, {seen:.2}",
                    state.previous, state.level
                )
            });
        }
        let line = format!("an error of a pixel may be seen, so {}", changes.join(", "));
        Ok((sheet(&pictures, &labels, pictures.len()), line))
    }

    /// Both levels of a change, the new one by its opacity over the old one.
    fn faded(&self, state: &LodState, yaw: f32) -> Outcome<Image> {
        let size = [158, 260];
        let camera = self.camera(yaw, size[0] as f32 / size[1] as f32)?;
        let mut canvas = Canvas::new(size[0], size[1], 2)?;
        let style = |level: usize, opacity| Style {
            color: COLORS[level],
            opacity,
            ..Style::default()
        };
        self.draw(
            &mut canvas,
            &camera,
            state.previous,
            style(state.previous, 1.0),
        )?;
        if state.level != state.previous {
            let style = style(state.level, state.fade);
            self.draw(&mut canvas, &camera, state.level, style)?;
        }
        Ok(canvas.finish())
    }

    fn camera(&self, yaw: f32, aspect: f32) -> Outcome<Camera> {
        let bounds = self.actor()?.bounds().ok_or("no bounds")?;
        Ok(Camera::framing(bounds.min, bounds.max, yaw, 0.1, aspect))
    }
}

/// The parts of a mesh as one.
fn body(parts: &MeshSpec) -> Outcome<(Mesh, Influences)> {
    let (mut mesh, mut influences) = (Mesh::default(), Influences::default());
    for part in &parts.primitives {
        let first = mesh.vertex_count() as u32;
        let triangles = part.mesh.triangles.iter();
        mesh.triangles
            .extend(triangles.map(|corners| corners.map(|vertex| first + vertex)));
        mesh.rest.positions.extend(&part.mesh.rest.positions);
        mesh.rest.normals.extend(&part.mesh.rest.normals);
        let more = part.influences.as_ref().ok_or("no weights")?;
        influences.per_vertex = more.per_vertex;
        influences.joints.extend(&more.joints);
        influences.weights.extend(&more.weights);
    }
    Ok((mesh, influences))
}

/// `model_from_bind` of the joints of a skin.
fn palette(globals: &Globals, mesh: &SkinnedMesh) -> Vec<Affine> {
    let mut palette = mesh.palette_buffer();
    mesh.palette(globals, &mut palette);
    (0..palette.len()).map(|place| palette.get(place)).collect()
}

/// How far apart two sets of weights take any vertex in any of the poses, m.
fn farthest(mesh: &Mesh, weights: [&SkinWeights; 2], poses: &[Vec<Affine>]) -> f32 {
    let mut most = 0.0_f32;
    for pose in poses {
        for (vertex, place) in mesh.rest.positions.iter().enumerate() {
            let [a, b] = weights.map(|weights| -> Vec3 {
                let joints = weights.row(vertex);
                let moved = joints.map(|(joint, weight)| {
                    pose[usize::from(joint)].transform_point(*place) * weight as f32
                });
                moved.sum()
            });
            most = most.max((a - b).norm());
        }
    }
    most
}
