//! A mesh from an OBJ gets a rig by itself: `cargo run --example 15_automatic_rig [PICTURE.png]`.
//!
//! The first picture is what a modeller hands over, a mesh and where the bones are; the second the weights that binding by
//! distance through the body made of it, a colour a joint; the last two are the mesh in poses of clips.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Instant;

use anim_engine::asset::{Document, builtin, obj};
use anim_engine::geom::{Mesh, Vertices};
use anim_engine::math::Vec3;
use anim_engine::skeleton::{Globals, JointId};
use anim_engine::skin::weights::{self, Bone, Bones, SkinWeights, VoxelOptions};
use anim_engine::skin::{SkinnedMesh, VertexBlocks};
use anim_view::{Image, Style, sheet};
use common::{INK, Outcome, announce, camera, floor, write};

const CELL: [u32; 2] = [300, 400];
const CLAY: [f32; 3] = [0.55, 0.45, 0.36];

fn main() -> Outcome {
    let person = builtin::humanoid();
    let mesh = obj::read_mesh(as_obj(&person).as_bytes())?.mesh;
    let skin = &person.skins[0];
    let bones = person.bones(skin)?;
    // The root stands on the ground between the feet: it carries the character, and is no part of the body.
    let is_body = |bone: &&Bone| {
        person.nodes[skin.joints[usize::from(bone.joint)]]
            .parent
            .is_some()
    };
    let segments = bones.segments().iter().filter(is_body).copied();
    let bones = Bones::new(segments.collect(), bones.joint_count())?;

    let start = Instant::now();
    let (weights, report) = weights::voxel(&mesh, &bones, &VoxelOptions::default())?;
    announce(&format!(
        "{} vertices follow {} bones, at most {} joints each, after {:.2} s; {} islands, {} joints without vertices",
        mesh.vertex_count(),
        bones.segments().len(),
        weights.max_influences(),
        start.elapsed().as_secs_f64(),
        report.islands.len(),
        report.unreachable.len(),
    ));

    let skeleton = person.skeleton()?;
    let joints: Vec<JointId> = skin
        .joints
        .iter()
        .map(|node| skeleton.joint(*node))
        .collect();
    let influences = weights.to_influences();
    let skinned = SkinnedMesh::new(&mesh, &joints, &skin.joint_from_bind, &influences, &[])?;
    let mut palette = skinned.palette_buffer();
    let mut blocks = VertexBlocks::new(skinned.vertex_count());
    let mut posed = |clip: usize, time: f32| {
        let mut pose = skeleton.rest().clone();
        person.clips[clip].sample(&skeleton, time, &mut pose);
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        skinned.palette(&globals, &mut palette);
        skinned.linear(skinned.rest(), &palette, &mut blocks);
        let mut out = Vertices::default();
        skinned.to_source_order(&blocks, &mut out);
        // Clips walk away; pictures stay where they are.
        let away = globals.get(joints[0]).translation;
        out.positions
            .iter_mut()
            .for_each(|p| *p -= Vec3::new(away.x, 0.0, away.z));
        out
    };
    let colors = painted(&weights);
    let clay = vec![CLAY; mesh.vertex_count()];
    let pictures = [
        picture(&mesh, &mesh.rest, &clay, bones.segments())?,
        picture(&mesh, &mesh.rest, &colors, &[])?,
        picture(&mesh, &posed(0, 0.25), &colors, &[])?,
        picture(&mesh, &posed(2, 1.6), &clay, &[])?,
    ];
    let labels = ["a mesh and bones", "weights", "a step", "a wave"].map(str::to_owned);
    write("15_automatic_rig", &sheet(&pictures, &labels, 4))
}

/// The body without its rig, all parts as one.
fn as_obj(person: &Document) -> String {
    let (mut text, mut first) = (String::new(), 1);
    let parts = person.meshes[0].primitives.iter().map(|part| &part.mesh);
    for mesh in parts {
        for p in &mesh.rest.positions {
            let _ = writeln!(text, "v {} {} {}", p.x, p.y, p.z);
        }
        for [a, b, c] in mesh.triangles.iter().map(|t| t.map(|v| v + first)) {
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        first += mesh.vertex_count() as u32;
    }
    text
}

/// Each vertex in the colours of its joints, blended by its weights.
fn painted(weights: &SkinWeights) -> Vec<[f32; 3]> {
    let used: BTreeSet<u16> = (0..weights.vertex_count())
        .flat_map(|v| weights.row(v).map(|(joint, _)| joint))
        .collect();
    let used: Vec<u16> = used.into_iter().collect();
    // Hues a golden angle apart, so that neighbours in the list differ most.
    let hue = |joint: u16| {
        let place = used.iter().position(|j| *j == joint).unwrap_or(0) as f32;
        let turn = std::f32::consts::TAU * 0.618_034 * place;
        [0.0, 2.1, 4.2].map(|phase: f32| 0.35 + 0.33 * (turn + phase).cos())
    };
    let color = |vertex: usize| {
        weights
            .row(vertex)
            .fold([0.0; 3], |sum: [f32; 3], (joint, weight)| {
                let hue = hue(joint);
                std::array::from_fn(|c| sum[c] + weight as f32 * hue[c])
            })
    };
    (0..weights.vertex_count()).map(color).collect()
}

fn picture(mesh: &Mesh, surface: &Vertices, colors: &[[f32; 3]], bones: &[Bone]) -> Outcome<Image> {
    let aspect = CELL[0] as f32 / CELL[1] as f32;
    let (middle, half) = (Vec3::new(0.0, 0.86, 0.0), Vec3::new(0.62, 0.92, 0.3));
    let camera = camera(middle, half, 0.45, 0.12, aspect);
    let mut canvas = floor(CELL[0], CELL[1], &camera, 4.0)?;
    let (positions, normals) = (&surface.positions, &surface.normals);
    for bone in bones {
        canvas.line(&camera, bone.head, bone.tail, INK, 2.5);
        canvas.point(&camera, bone.head, 0.014, [0.75, 0.05, 0.02]);
    }
    // A film over its bones, or solid.
    let style = Style {
        opacity: if bones.is_empty() { 1.0 } else { 0.5 },
        ..Style::default()
    };
    canvas.painted_mesh(&camera, positions, normals, &mesh.triangles, colors, &style);
    Ok(canvas.finish())
}
