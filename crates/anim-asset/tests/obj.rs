//! Meshes that nobody here made, as OBJ.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod common;

use std::io::Read;

use anim_asset::{load, obj};
use anim_geom::topology;
use common::data_file;

#[test]
fn published_meshes_have_the_vertices_and_faces_that_their_files_name() {
    // Positions and triangles counted in the files; vertices as position, texture coordinate and normal name them apart.
    for (name, positions, triangles) in [
        ("cube_5", 152, 300),
        ("cylinder_unit_box", 382, 760),
        ("plane_30x30", 961, 1800),
        ("sphere", 382, 760),
        ("torus", 400, 800),
    ] {
        let Some(path) = data_file(&format!("mesh/{name}.obj")) else {
            return;
        };
        let obj = obj::read_mesh(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(obj.findings, [], "{name}");
        assert_eq!(obj.mesh.check(), Ok(()));
        assert_eq!(obj.position_from_vertex.last(), Some(&(positions - 1)));
        assert_eq!(obj.mesh.triangles.len(), triangles, "{name}");
        assert_eq!(obj.mesh.uvs.len(), obj.mesh.vertex_count());
        let first = topology::weld(&obj.mesh.rest.positions);
        let welded = obj
            .mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| first[v as usize]));
        let is_closed = topology::is_closed(&welded.collect::<Vec<_>>());
        assert_eq!(is_closed, name != "plane_30x30", "{name}");
        let document = load(&path).unwrap();
        assert_eq!(document.check(), Ok(()));
        assert_eq!(document.meshes[0].primitives[0].mesh, obj.mesh);
    }
}

#[test]
fn a_published_human_of_quads_is_read_with_its_seams() {
    let Some(path) = data_file("mesh/mpfb/base.obj.gz") else {
        return;
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).unwrap();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    let obj = obj::read_mesh(&bytes).unwrap();
    assert_eq!(obj.findings, []);
    assert_eq!(obj.mesh.check(), Ok(()));
    assert_eq!(obj.position_from_vertex.last(), Some(&19157));
    assert_eq!(obj.mesh.triangles.len(), 2 * 18486);
    // Pairs of position and texture coordinate, counted in the file.
    assert_eq!(obj.mesh.vertex_count(), 21833);
}
