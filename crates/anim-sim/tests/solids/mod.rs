//! Bars of tetrahedra, and what is measured on them.
#![allow(dead_code, reason = "each test binary uses some of these")]

use anim_geom::TetMesh;
use anim_math::Vec3;
use anim_sim::element::Material;
use anim_sim::soft::{self, SoftSpec};
use anim_sim::{Model, State};

/// A bar from the wall at x = 0.
pub(crate) fn bar(mesh: TetMesh, material: Material) -> Model {
    let pinned = (0..mesh.positions.len() as u32)
        .filter(|v| mesh.positions[*v as usize].x == 0.0)
        .collect();
    soft::build(&SoftSpec {
        mesh,
        material,
        pinned,
        ..SoftSpec::default()
    })
    .unwrap()
}

/// The vertices furthest along x.
pub(crate) fn end(model: &Model) -> impl Iterator<Item = u32> {
    let furthest = model.rest().iter().fold(0.0f32, |most, x| most.max(x.x));
    (0..model.vertex_count() as u32).filter(move |v| model.rest()[*v as usize].x == furthest)
}

/// How much of the far face belongs to each of its vertices; sums to 1.
fn shares(model: &Model) -> Vec<(u32, f32)> {
    let rest = |v: u32| model.rest()[v as usize];
    let widest = end(model).fold(0.0f32, |most, v| most.max(rest(v).y));
    let rim = |c: f32| {
        if c < 1e-6 || c > widest - 1e-6 {
            0.5
        } else {
            1.0
        }
    };
    let share = |v: u32| rim(rest(v).y) * rim(rest(v).z);
    let total: f32 = end(model).map(share).sum();
    end(model).map(|v| (v, share(v) / total)).collect()
}

/// A force on the far end, shared out as a uniform traction is.
pub(crate) fn end_loads(model: &Model, force: Vec3) -> Vec<(u32, Vec3)> {
    let shares = shares(model).into_iter();
    shares.map(|(v, share)| (v, force * share)).collect()
}

/// How far the far end has moved.
pub(crate) fn tip(model: &Model, state: &State) -> Vec3 {
    let moved = |v: u32| state.positions[v as usize] - model.rest()[v as usize];
    let shares = shares(model).into_iter();
    shares.fold(Vec3::zeros(), |sum, (v, share)| sum + moved(v) * share)
}

/// Of the tetrahedra of a model, m³.
pub(crate) fn volume(model: &Model, positions: &[Vec3]) -> f64 {
    let tets = model.spec().tets.iter().map(|tet| tet.vertices);
    TetMesh {
        positions: positions.to_vec(),
        tets: tets.collect(),
    }
    .volume()
}
