//! Solids from surfaces: what stuffing promises, and surfaces that follow solids.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use anim_geom::tet::{Embedding, Split, StuffOptions, lattice, stuff};
use anim_geom::topology::{half_edges, is_closed};
use anim_geom::{GeomError, Mesh, MeshBvh, TetMesh, Vertices, normals, primitives};
use anim_math::{Mat3, Vec3};
use std::f32::consts::TAU;

/// A torus about y.
fn torus(major: f32, minor: f32, sides: u32) -> Mesh {
    let mut mesh = Mesh::default();
    for i in 0..sides * sides {
        let (u, v) = (
            (i / sides) as f32 / sides as f32 * TAU,
            (i % sides) as f32 / sides as f32 * TAU,
        );
        let normal = Vec3::new(u.cos() * v.cos(), v.sin(), u.sin() * v.cos());
        mesh.rest
            .positions
            .push(Vec3::new(u.cos(), 0.0, u.sin()) * major + normal * minor);
        mesh.rest.normals.push(normal);
        let at = |s: u32, t: u32| s % sides * sides + t % sides;
        let (s, t) = (i / sides, i % sides);
        let [a, b, c, d] = [at(s, t), at(s + 1, t), at(s, t + 1), at(s + 1, t + 1)];
        mesh.triangles.extend([[a, c, d], [a, d, b]]);
    }
    mesh
}

fn volume(mesh: &Mesh) -> f64 {
    let at = |v: u32| mesh.rest.positions[v as usize].cast::<f64>();
    mesh.triangles
        .iter()
        .map(|t| at(t[0]).dot(&at(t[1]).cross(&at(t[2]))) / 6.0)
        .sum()
}

fn euler_characteristic(triangles: &[[u32; 3]]) -> i64 {
    let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let edges = half_edges(triangles)
        .chunk_by(|a, b| a.ends == b.ends)
        .count();
    vertices.len() as i64 - edges as i64 + triangles.len() as i64
}

fn assert_sound(mesh: &TetMesh, name: &str) {
    assert!(
        mesh.volumes().all(|volume| volume > 0.0),
        "{name}: inverted"
    );
    for angle in mesh.dihedral_angles().flatten().map(f64::to_degrees) {
        assert!((10.7..164.8).contains(&angle), "{name}: {angle}");
    }
    assert!(is_closed(&mesh.surface()), "{name}: open");
    let vertices = mesh.tets.iter().flatten().max().unwrap();
    assert_eq!(*vertices as usize + 1, mesh.positions.len(), "{name}");
}

#[test]
fn solids_have_sound_tetrahedra_the_topology_and_the_volume_of_their_surface() {
    let cases = [
        ("sphere", primitives::sphere(0.7, 64, 32), 2),
        ("torus", torus(0.8, 0.3, 48), 0),
        ("capsule", primitives::capsule(0.3, 0.6, 32, 8), 2),
        ("box", primitives::cuboid(Vec3::new(0.5, 0.3, 0.2)), 2),
    ];
    for (name, surface, characteristic) in cases {
        let mesh = stuff(&surface, &StuffOptions { resolution: 14 }).unwrap();
        assert_sound(&mesh, name);
        assert_eq!(
            euler_characteristic(&mesh.surface()),
            characteristic,
            "{name}"
        );
        let (found, expected) = (mesh.volume(), volume(&surface));
        assert!(
            (found - expected).abs() < 0.03 * expected,
            "{name}: {found} {expected}"
        );
        let bvh = MeshBvh::new(&surface).unwrap();
        for vertex in mesh.surface().iter().flatten() {
            let distance = bvh.nearest(mesh.positions[*vertex as usize]).distance.abs();
            assert!(distance < 2e-4 * 2.2 / 14.0, "{name}: {distance}");
        }
    }
}

#[test]
fn the_volume_of_a_ball_converges_to_the_second_order() {
    let surface = primitives::sphere(1.0, 192, 96);
    let error = |resolution| {
        let mesh = stuff(&surface, &StuffOptions { resolution }).unwrap();
        (volume(&surface) - mesh.volume()) / volume(&surface)
    };
    let (coarse, fine) = (error(8), error(16));
    assert!(coarse > 0.0 && coarse < 0.06, "{coarse}");
    assert!((3.0..5.5).contains(&(coarse / fine)), "{coarse} {fine}");
}

#[test]
fn surfaces_with_holes_and_parts_that_cross_are_filled() {
    let mut open = primitives::sphere(1.0, 32, 16);
    let positions = open.rest.positions.clone();
    open.triangles.retain(|t| positions[t[0] as usize].y < 0.8);
    let mesh = stuff(&open, &StuffOptions { resolution: 12 }).unwrap();
    assert_sound(&mesh, "open");
    assert!((mesh.volume() - 4.19).abs() < 0.35, "{}", mesh.volume());

    let mut two = primitives::sphere(0.5, 32, 16);
    let offset = two.vertex_count() as u32;
    let Vertices { positions, normals } = two.rest.clone();
    two.rest
        .positions
        .extend(positions.iter().map(|p| p + Vec3::x() * 0.5));
    two.rest.normals.extend(normals);
    two.uvs.clear();
    let second: Vec<_> = two
        .triangles
        .iter()
        .map(|t| t.map(|v| v + offset))
        .collect();
    two.triangles.extend(second);
    let mesh = stuff(&two, &StuffOptions { resolution: 20 }).unwrap();
    assert_sound(&mesh, "two");
    // Two balls less the lens π(4r + d)(2r − d)²/12 that they share.
    let expected = 2.0 * volume(&primitives::sphere(0.5, 32, 16)) - 0.1636;
    assert!(
        (mesh.volume() - expected).abs() < 0.02,
        "{} {expected}",
        mesh.volume()
    );

    for triangle in &mut two.triangles {
        triangle.swap(1, 2);
    }
    let turned = stuff(&two, &StuffOptions { resolution: 20 }).unwrap();
    assert!(
        (turned.volume() - mesh.volume()).abs() < 1e-5,
        "inside out is as solid"
    );
}

#[test]
fn what_has_no_inside_is_refused() {
    let sheet = primitives::grid(4, 4, 0.1);
    let missing = |result: Result<TetMesh, GeomError>| matches!(result, Err(GeomError::Empty(_)));
    assert!(missing(stuff(&sheet, &StuffOptions::default())));
    assert!(missing(stuff(&Mesh::default(), &StuffOptions::default())));
    let needle = primitives::cuboid(Vec3::new(1.0, 1e-3, 1e-3));
    let coarse = StuffOptions { resolution: 3 };
    assert!(
        stuff(&needle, &coarse).is_err()
            || stuff(&needle, &coarse).is_ok_and(|mesh| mesh.volume() > 0.0)
    );
    let huge = StuffOptions {
        resolution: u32::MAX,
    };
    assert!(matches!(
        stuff(&sheet, &huge),
        Err(GeomError::TooManyCells { .. })
    ));
}

#[test]
fn an_embedded_surface_follows_affine_motion_exactly() {
    let surface = primitives::sphere(0.5, 24, 12);
    let solid = stuff(&surface, &StuffOptions { resolution: 6 }).unwrap();
    let embedding = Embedding::new(&solid, &surface.rest.positions).unwrap();
    let linear = Mat3::new(1.2, 0.3, 0.0, -0.2, 0.8, 0.1, 0.4, 0.0, 1.1);
    let shift = Vec3::new(0.3, -0.2, 0.1);
    let moved: Vec<Vec3> = solid.positions.iter().map(|p| linear * p + shift).collect();
    let mut out = vec![Vec3::zeros(); embedding.len()];
    embedding.apply(&moved, &mut out);
    for (out, rest) in out.iter().zip(&surface.rest.positions) {
        assert!((out - (linear * rest + shift)).norm() < 1e-6);
    }
    let bound = embedding.bind_normals(&solid.positions, &surface.rest.normals);
    let mut turned = out.clone();
    embedding.apply_normals(&bound, &moved, &mut turned);
    let cofactors = linear.try_inverse().unwrap().transpose();
    for (normal, rest) in turned.iter().zip(&surface.rest.normals) {
        assert!((normal - (cofactors * rest).normalize()).norm() < 1e-5);
    }
    // Recomputed ones say the same, as nearly as the facets of the sphere do.
    let mut smooth = vec![Vec3::zeros(); out.len()];
    normals::smooth(&out, &surface.triangles, &mut smooth);
    let equator = 6 * 25 + 5;
    assert!((smooth[equator] - turned[equator]).norm() < 0.05);
}

#[test]
fn weights_sum_to_one_and_are_positive_inside() {
    let block = lattice([3, 3, 3], Vec3::repeat(1.0), Split::Six);
    let points: Vec<Vec3> = (0..200)
        .map(|i| {
            Vec3::new(i as f32 * 0.618, i as f32 * 0.755, i as f32 * 0.57)
                .map(|c| c.fract() * 1.4 - 0.2)
        })
        .collect();
    let embedding = Embedding::new(&block, &points).unwrap();
    for (index, point) in points.iter().enumerate() {
        let (vertices, weights) = embedding.weights(index);
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        let mixed: Vec3 = vertices
            .iter()
            .zip(weights)
            .map(|(v, w)| block.positions[*v as usize] * w)
            .sum();
        assert!((mixed - point).norm() < 1e-6);
        let inside = point.min() >= 0.0 && point.max() <= 1.0;
        assert!(
            !inside || weights.iter().all(|w| *w >= -1e-6),
            "{weights:?}"
        );
        // Outside, the tetrahedron is one that touches the nearest point of the block.
        let near = point.map(|c| c.clamp(0.0, 1.0));
        let nearest = Embedding::new(
            &TetMesh {
                positions: block.positions.clone(),
                tets: vec![vertices],
            },
            &[near],
        )
        .unwrap();
        assert!(
            nearest.weights(0).1.iter().all(|w| *w >= -1e-5),
            "{point:?}"
        );
    }
}

#[test]
fn what_cannot_hold_points_is_refused() {
    let flat = TetMesh {
        positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::x() + Vec3::y()],
        tets: vec![[0, 1, 2, 3]],
    };
    assert!(matches!(
        Embedding::new(&flat, &[]),
        Err(GeomError::OutOfRange { .. })
    ));
    assert_eq!(
        Embedding::new(&TetMesh::default(), &[]),
        Err(GeomError::Empty("tetrahedra"))
    );
    let missing = TetMesh {
        tets: vec![[0, 1, 2, 9]],
        ..flat
    };
    assert!(matches!(
        Embedding::new(&missing, &[]),
        Err(GeomError::VertexOutOfRange { vertex: 9, .. })
    ));
}
