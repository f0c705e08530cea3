//! Problems for other programs: a mesh, its bones, and what we make of them.
#![allow(dead_code, reason = "each bench uses a part")]

use std::path::Path;
use std::time::Instant;

use anim_geom::{Mesh, topology};
use anim_skin::SkinWeights;
use anim_skin::weights::{BiharmonicNodes, Bones};
use serde_json::{Value, json};

/// Writes the problem `name` to the folder that `ANIM_PEERS_OUT` names; makes none without it.
pub(crate) fn leave(name: &str, problem: impl Fn() -> Value) {
    if let Some(folder) = std::env::var_os("ANIM_PEERS_OUT") {
        let path = Path::new(&folder).join(format!("{name}.json"));
        std::fs::write(path, problem().to_string()).unwrap();
    }
}

/// The least time of three rounds on one thread, s, and the answer: what other programs take is time of the processor.
pub(crate) fn fastest<T: Send>(work: impl Fn() -> T + Sync) -> (f64, T) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.unwrap();
    let round = || {
        let start = Instant::now();
        let answer = pool.install(&work);
        (start.elapsed().as_secs_f64(), answer)
    };
    let rounds = [round(), round(), round()];
    let fastest = rounds.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    fastest.unwrap()
}

/// The mesh without seams and without triangles that weld to lines: other programs weld nothing.
pub(crate) fn welded(mesh: &Mesh) -> Mesh {
    welded_from(mesh).0
}

/// [`welded`], and for each vertex the one of `mesh` that it was.
pub(crate) fn welded_from(mesh: &Mesh) -> (Mesh, Vec<usize>) {
    let first = topology::weld(&mesh.rest.positions);
    let mut place = vec![0; first.len()];
    let (mut out, mut from) = (Mesh::default(), Vec::new());
    for (vertex, first) in first.iter().enumerate() {
        if *first as usize == vertex {
            place[vertex] = out.vertex_count() as u32;
            from.push(vertex);
            out.rest.positions.push(mesh.rest.positions[vertex]);
            out.rest.normals.push(mesh.rest.normals[vertex]);
        } else {
            place[vertex] = place[*first as usize];
        }
    }
    let named = mesh.triangles.iter().map(|t| t.map(|v| place[v as usize]));
    out.triangles = named
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    (out, from)
}

pub(crate) fn problem(task: &str, mesh: &Mesh) -> Value {
    let positions: Vec<[f32; 3]> = mesh.rest.positions.iter().map(|p| (*p).into()).collect();
    json!({ "task": task, "positions": positions, "triangles": mesh.triangles })
}

/// Heads and tails.
pub(crate) fn bones(bones: &Bones) -> Value {
    let ends = |head: anim_math::Vec3| <[f32; 3]>::from(head);
    let bones = bones
        .segments()
        .iter()
        .map(|b| [ends(b.head), ends(b.tail)]);
    json!(bones.collect::<Vec<_>>())
}

/// Of each bone.
pub(crate) fn joints(bones: &Bones) -> Value {
    let joints = bones.segments().iter().map(|bone| bone.joint);
    json!(joints.collect::<Vec<_>>())
}

pub(crate) fn rows(program: &str, seconds: f64, weights: &SkinWeights) -> Value {
    json!({ "program": program, "seconds": seconds, "rows": rows_alone(weights) })
}

pub(crate) fn rows_alone(weights: &SkinWeights) -> Value {
    let rows = (0..weights.vertex_count()).map(|v| weights.row(v).collect::<Vec<_>>());
    json!(rows.collect::<Vec<_>>())
}

/// The solid that bounded biharmonic weights are solved in, which bones hold what, and our answer there.
pub(crate) fn lattice(nodes: &BiharmonicNodes) -> Value {
    json!({
        "spacing": nodes.spacing,
        "positions": nodes.positions,
        "is_held": nodes.is_held,
        "rows": nodes.rows,
    })
}
