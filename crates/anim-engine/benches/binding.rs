//! A published body and what an artist painted on it, for other programs to bind.
//!
//! If `ANIM_PEERS_OUT` names a folder and `ANIM_DATA` one with the shared files, the body, its bones, the painted weights and
//! our answers are left there as `human.json`: `cargo xtask bench anim-skin --peers`. Nothing is left without either.
#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a bench tells what it leaves out, and may fail"
)]

#[path = "../../anim-skin/benches/peers/mod.rs"]
mod peers;

use std::path::Path;

use anim_engine::asset::{self, Document};
use anim_engine::geom::Mesh;
use anim_engine::skin::SkinWeights;
use anim_engine::skin::weights::{self, BiharmonicOptions, HeatOptions, VoxelOptions};
use serde_json::json;

const BODY: &str = "gltf/mpfb_human_mixamo_names.glb";

fn main() {
    // Tests of all targets run benches too, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let beside_project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("ANIM_DATA").map_or(beside_project, Into::into);
    let file = folder.join(BODY);
    if !file.is_file() {
        eprintln!("skipped: no {}", file.display());
        return;
    }
    peers::leave("human", || {
        let document = asset::load(&file).unwrap();
        let (mesh, painted) = skinned(&document);
        let (mesh, from) = peers::welded_from(&mesh);
        let joint_count = document.skins[0].joints.len();
        let painted = from.iter().map(|vertex| painted[*vertex].clone());
        let painted = SkinWeights::from_rows(joint_count, painted.collect::<Vec<_>>()).unwrap();
        let bones = document.bones(&document.skins[0]).unwrap();

        let voxel = || {
            weights::voxel(&mesh, &bones, &VoxelOptions::default())
                .unwrap()
                .0
        };
        let heat = || {
            weights::heat(&mesh, &bones, &HeatOptions::default())
                .unwrap()
                .0
        };
        let options = BiharmonicOptions::default();
        let bbw = || weights::biharmonic(&mesh, &bones, &options).unwrap();
        let (voxel_seconds, voxel) = peers::fastest(voxel);
        let (heat_seconds, heat) = peers::fastest(heat);
        let (bbw_seconds, (bbw, report)) = peers::fastest(bbw);
        let nodes = weights::biharmonic_nodes(&mesh, &bones, &options).unwrap();

        let (vertices, segments) = (mesh.vertex_count(), bones.segments().len());
        let task = format!("a published human, {vertices} vertices, {segments} bones");
        let mut problem = peers::problem(&task, &mesh);
        problem["bones"] = peers::bones(&bones);
        problem["joints"] = peers::joints(&bones);
        problem["joint_count"] = json!(joint_count);
        problem["authored"] = peers::rows_alone(&painted);
        problem["lattice"] = peers::lattice(&nodes);
        let bbw_name = format!(
            "anim-skin, {} nodes, {:.0e}, bbw",
            report.nodes, options.tolerance
        );
        problem["ours"] = json!([
            peers::rows("anim-skin, voxel", voxel_seconds, &voxel),
            peers::rows("anim-skin, bone heat", heat_seconds, &heat),
            peers::rows(&bbw_name, bbw_seconds, &bbw),
        ]);
        problem
    });
}

/// All that hangs on the first skin as one mesh, and the rows of its weights.
fn skinned(document: &Document) -> (Mesh, Vec<Vec<(u16, f64)>>) {
    let (mut mesh, mut rows) = (Mesh::default(), Vec::new());
    let joint_count = document.skins[0].joints.len();
    for surface in document.surfaces().filter(|s| s.skin == Some(0)) {
        let primitive = &document.meshes[surface.mesh].primitives[surface.primitive];
        let influences = primitive.influences.as_ref().unwrap();
        let (weights, _) = SkinWeights::from_influences(influences, joint_count).unwrap();
        rows.extend((0..weights.vertex_count()).map(|v| weights.row(v).collect::<Vec<_>>()));
        let first = mesh.vertex_count() as u32;
        mesh.rest.positions.extend(&primitive.mesh.rest.positions);
        mesh.rest.normals.extend(&primitive.mesh.rest.normals);
        let triangles = primitive.mesh.triangles.iter();
        let moved = triangles.map(|t| t.map(|v| v + first));
        mesh.triangles.extend(moved);
    }
    (mesh, rows)
}
