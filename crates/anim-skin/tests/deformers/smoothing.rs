//! Delta mush and its direct form.

use super::*;

#[test]
fn delta_mush_opens_no_seam_and_smooths_rigid_weights() {
    let mesh = primitives::cylinder(0.5, 2.0, 32, 64);
    let influences = Influences {
        per_vertex: 1,
        joints: mesh
            .rest
            .positions
            .iter()
            .map(|p| u16::from(p.y > 0.0))
            .collect(),
        weights: vec![1.0; mesh.vertex_count()],
    };
    let deformers = Deformers::new(bind(&mesh, 2, &influences, &[]));
    let palette = turned(Vec3::y(), 60.0);
    let rest = deformers.skin.rest();
    let on_side = |v: &u32| rest.position(*v as usize).y.abs() < 1.5;
    let longest = |surface: &VertexBlocks| {
        let triangles = deformers.skin.triangles().iter();
        let edges = triangles
            .filter(|corners| corners.iter().all(on_side))
            .flat_map(|[a, b, c]| [(*a, *b), (*b, *c), (*c, *a)]);
        edges
            .map(|(a, b)| (surface.position(a as usize) - surface.position(b as usize)).norm())
            .fold(0.0, f32::max)
    };
    let positions: Vec<Vec3> = (0..rest.len()).map(|v| rest.position(v)).collect();
    let welded = topology::weld(&positions);
    let linear = longest(&deformers.named("linear", &palette));
    let smoothers: &[&str] = if cfg!(feature = "solve") {
        &["mush", "direct"]
    } else {
        &["mush"]
    };
    for name in smoothers {
        let surface = deformers.named(name, &palette);
        // Sixty degrees over one ring are 0.5 m, over the eight or so that smoothing reaches less than half of that.
        assert!(
            longest(&surface) < 0.6 * linear,
            "{name}: {} {linear}",
            longest(&surface)
        );
        for (vertex, first) in welded.iter().enumerate() {
            let gap = surface.position(vertex) - surface.position(*first as usize);
            assert!(gap.norm() < 1e-6, "{name}");
        }
    }
}

#[cfg(feature = "solve")]
#[test]
fn direct_delta_mush_weights_sum_to_one_on_an_irregular_mesh() {
    use anim_skin::{DirectDeltaMush, DirectDeltaMushOptions};
    // Poles of valence 12 among vertices of valence 6, and two parts.
    let mut mesh = primitives::sphere(1.0, 12, 9);
    let first = mesh.vertex_count() as u32;
    let other = primitives::cuboid(Vec3::new(0.3, 0.5, 0.7));
    mesh.rest.positions.extend(other.rest.positions);
    mesh.rest.normals.extend(other.rest.normals);
    mesh.uvs.clear();
    mesh.triangles.extend(
        other
            .triangles
            .iter()
            .map(|corners| corners.map(|v| v + first)),
    );
    let skin = two_joints(&mesh);
    for translation in [0.0, 0.8] {
        let options = DirectDeltaMushOptions {
            steps: 20,
            translation,
            ..Default::default()
        };
        let mush = DirectDeltaMush::new(&skin, &options).unwrap();
        assert!(mush.sum_error() < 1e-12, "{}", mush.sum_error());
    }
}

#[cfg(feature = "solve")]
#[test]
fn direct_delta_mush_takes_fifty_thousand_vertices() {
    use anim_skin::{DirectDeltaMush, DirectDeltaMushOptions};
    let skin = two_joints(&primitives::tube(0.5, 2.0, 160, 312));
    assert!(skin.vertex_count() > 50_000);
    let options = DirectDeltaMushOptions {
        steps: 2,
        ..Default::default()
    };
    let mush = DirectDeltaMush::new(&skin, &options).unwrap();
    // Of two joints no more than two matrices a vertex can be kept.
    assert!(mush.influence_count() <= 2 * skin.vertex_count());
    assert!(mush.sum_error() < 1e-12, "{}", mush.sum_error());
    // Two joints a block of 320 bytes and their numbers, the centres and an end: 107 bytes a vertex.
    let blocks = skin.vertex_count().div_ceil(8);
    assert!(mush.memory_bytes() <= blocks * (2 * (320 + 2) + 192 + size_of::<usize>()));
}

#[cfg(feature = "solve")]
#[test]
fn a_hinge_of_two_triangles_at_rest_stays_at_rest() {
    use anim_skin::{DirectDeltaMush, DirectDeltaMushOptions};
    let mesh = Mesh {
        rest: anim_geom::Vertices {
            positions: vec![Vec3::zeros(), Vec3::y(), Vec3::x(), -Vec3::x()],
            normals: vec![Vec3::z(); 4],
        },
        triangles: vec![[0, 2, 1], [0, 1, 3]],
        ..Mesh::default()
    };
    let influences = Influences {
        per_vertex: 1,
        joints: vec![0, 0, 0, 1],
        weights: vec![1.0; 4],
    };
    let skin = bind(&mesh, 2, &influences, &[]);
    let mush = DirectDeltaMush::new(&skin, &DirectDeltaMushOptions::default()).unwrap();
    let mut out = VertexBlocks::new(4);
    mush.deform(
        skin.rest(),
        &Palette::new(2),
        &DualPalette::new(2),
        &mut out,
    );
    assert!(distance(&out, skin.rest()) < 1e-6);
    assert!(matches!(
        DirectDeltaMush::new(
            &skin,
            &DirectDeltaMushOptions {
                smoothing: -1.0,
                ..Default::default()
            }
        ),
        Err(SkinError::Mesh(_))
    ));
}
