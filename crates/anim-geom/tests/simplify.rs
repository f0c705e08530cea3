//! Fewer triangles, the same surface.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

use anim_geom::simplify::{
    SimplifiedMesh, SimplifyGoal, deviation, simplify, simplify_deforming, simplify_placed,
};
use anim_geom::{Mesh, MeshBvh, Vertices, primitives, topology};
use anim_math::Vec3;
use proptest::prelude::*;

fn welded(mesh: &Mesh) -> Vec<[u32; 3]> {
    let welded = topology::weld(&mesh.rest.positions);
    let named = mesh.triangles.iter().map(|t| t.map(|v| welded[v as usize]));
    named
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect()
}

/// V − E + F of the welded surface.
fn euler_characteristic(mesh: &Mesh) -> i64 {
    let triangles = welded(mesh);
    let mut vertices: Vec<u32> = triangles.iter().flatten().copied().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let edges = topology::half_edges(&triangles);
    let edges = edges.chunk_by(|a, b| a.ends == b.ends).count();
    vertices.len() as i64 - edges as i64 + triangles.len() as i64
}

/// The larger of the distances from one's vertices to the other.
fn hausdorff(source: &Mesh, simplified: &Mesh) -> f32 {
    let [a, b] = [source, simplified].map(|mesh| MeshBvh::new(mesh).unwrap());
    deviation(&source.rest.positions, &b).max(deviation(&simplified.rest.positions, &a))
}

/// A ring of `sides` × `sides` quads in the plane-free shape of a doughnut.
fn torus(sides: u32) -> Mesh {
    let angle = |i: u32| std::f32::consts::TAU * (i % sides) as f32 / sides as f32;
    let mut mesh = Mesh::default();
    for (i, j) in (0..sides).flat_map(|i| (0..sides).map(move |j| (i, j))) {
        let (around, across) = (angle(i), angle(j));
        let radius = 1.0 + 0.3 * across.cos();
        let outward = Vec3::new(
            across.cos() * around.cos(),
            across.sin(),
            -across.cos() * around.sin(),
        );
        mesh.rest.positions.push(Vec3::new(
            radius * around.cos(),
            0.3 * across.sin(),
            -radius * around.sin(),
        ));
        mesh.rest.normals.push(outward);
        let at = |i: u32, j: u32| (i % sides) * sides + j % sides;
        let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        mesh.triangles.push([quad[0], quad[1], quad[2]]);
        mesh.triangles.push([quad[0], quad[2], quad[3]]);
    }
    mesh
}

fn check_sources(source: &Mesh, simplified: &SimplifiedMesh) {
    let mesh = &simplified.mesh;
    mesh.check().unwrap();
    assert_eq!(mesh.vertex_count(), simplified.source_vertex.len());
    for (vertex, from) in simplified.source_vertex.iter().enumerate() {
        let from = *from as usize;
        assert_eq!(mesh.rest.positions[vertex], source.rest.positions[from]);
        assert_eq!(mesh.rest.normals[vertex], source.rest.normals[from]);
        assert_eq!(
            simplified.vertex_from_source[from],
            Some(vertex as u32),
            "a vertex that stays stands for itself"
        );
    }
}

#[test]
fn a_sphere_keeps_its_topology_and_its_error_is_the_one_measured() {
    let sphere = primitives::sphere(1.0, 72, 72);
    let coarse = simplify(&sphere, &SimplifyGoal::triangles(1000));
    check_sources(&sphere, &coarse);
    let count = coarse.mesh.triangles.len();
    assert!((990..=1000).contains(&count), "{count} triangles");
    assert!(topology::is_closed(&welded(&coarse.mesh)));
    assert_eq!(euler_characteristic(&coarse.mesh), 2);
    let measured = hausdorff(&sphere, &coarse.mesh);
    // 1000 equal triangles have a circumradius of 0.098, and the sphere bulges out of them by half its square, 0.0048.
    assert!(measured < 4.0 * 0.0048, "{measured} m");
    let ratio = measured / coarse.error;
    assert!(
        (0.5..4.0).contains(&ratio),
        "measured {measured} m, reported {} m",
        coarse.error
    );
}

#[test]
fn optimal_places_lower_the_error_of_a_sphere() {
    let sphere = primitives::sphere(1.0, 48, 48);
    let goal = SimplifyGoal::triangles(500);
    let (chosen, placed) = (simplify(&sphere, &goal), simplify_placed(&sphere, &goal));
    assert_eq!(chosen.mesh.triangles, placed.mesh.triangles);
    let [on_source, free] = [&chosen, &placed].map(|s| hausdorff(&sphere, &s.mesh));
    assert!(free < 0.85 * on_source, "{free} m against {on_source} m");
    assert!(topology::is_closed(&welded(&placed.mesh)));
}

#[test]
fn a_torus_keeps_its_hole_down_to_the_last_collapse() {
    let torus = torus(24);
    let least = simplify(&torus, &SimplifyGoal::triangles(0));
    check_sources(&torus, &least);
    assert!(topology::is_closed(&welded(&least.mesh)));
    assert_eq!(euler_characteristic(&least.mesh), 0);
    // No triangulation of a torus has fewer than 14 triangles.
    assert!((14..200).contains(&least.mesh.triangles.len()));
}

#[test]
fn flat_regions_vanish_without_error() {
    let grid = primitives::grid(24, 17, 0.05);
    let flat = simplify(&grid, &SimplifyGoal::within(1e-6));
    assert_eq!(flat.mesh.triangles.len(), 2);
    assert!(hausdorff(&grid, &flat.mesh) < 1e-6);
    let area = |mesh: &Mesh| -> f32 {
        let corners = mesh.triangles.iter();
        corners
            .map(|t| t.map(|v| mesh.rest.positions[v as usize]))
            .map(|[a, b, c]| 0.5 * (b - a).cross(&(c - a)).norm())
            .sum()
    };
    // 816 triangles are summed in f32.
    assert!((area(&flat.mesh) / area(&grid) - 1.0).abs() < 816.0 * f32::EPSILON);
}

#[test]
fn open_borders_and_seams_stay() {
    let tube = primitives::tube(1.0, 2.0, 48, 20);
    let coarse = simplify(&tube, &SimplifyGoal::triangles(400));
    check_sources(&tube, &coarse);
    assert_eq!(
        euler_characteristic(&coarse.mesh),
        euler_characteristic(&tube)
    );
    let ends = |mesh: &Mesh| {
        let y = mesh.rest.positions.iter().map(|p| p.y);
        (
            y.clone().fold(f32::MAX, f32::min),
            y.fold(f32::MIN, f32::max),
        )
    };
    assert_eq!(ends(&coarse.mesh), ends(&tube));
    // The seam's two sides end at u = 0 and u = 1, and no triangle reaches across the texture.
    let seam = |u: f32| coarse.mesh.uvs.iter().filter(|uv| uv[0] == u).count();
    assert!(seam(0.0) >= 2 && seam(0.0) == seam(1.0));
    for triangle in &coarse.mesh.triangles {
        let u = triangle.map(|v| coarse.mesh.uvs[v as usize][0]);
        let spread =
            u.iter().fold(f32::MIN, |a, b| a.max(*b)) - u.iter().fold(f32::MAX, |a, b| a.min(*b));
        assert!(spread < 0.5, "{u:?}");
    }
    assert!(hausdorff(&tube, &coarse.mesh) < 0.05);
}

#[test]
fn sharp_edges_of_a_box_are_worth_more_than_its_faces() {
    let cuboid = primitives::cuboid(Vec3::new(0.5, 1.0, 2.0));
    let least = simplify(&cuboid, &SimplifyGoal::within(1e-3));
    assert_eq!(least.mesh.triangles.len(), 12);
}

#[test]
fn scale_changes_nothing_but_the_error() {
    let torus = torus(20);
    let mut large = torus.clone();
    for position in &mut large.rest.positions {
        *position *= 1024.0;
    }
    let goal = SimplifyGoal::triangles(200);
    let (a, b) = (simplify(&torus, &goal), simplify(&large, &goal));
    assert_eq!(a.mesh.triangles, b.mesh.triangles);
    assert!((b.error / a.error / 1024.0 - 1.0).abs() < 1e-5);
}

#[test]
fn levels_are_nested_and_their_errors_rise() {
    let torus = torus(32);
    let shapes = [torus.rest.positions.clone()];
    let goals = [1000, 500, 100].map(SimplifyGoal::triangles);
    let levels = simplify_deforming(&torus, &shapes, &[], &goals);
    assert_eq!(levels, simplify_deforming(&torus, &shapes, &[], &goals));
    assert_eq!(levels[0], simplify(&torus, &goals[0]));
    for pair in levels.windows(2) {
        assert!(pair[0].error < pair[1].error);
        let finer = &pair[0].source_vertex;
        assert!(pair[1].source_vertex.iter().all(|v| finer.contains(v)));
    }
}

#[test]
fn a_flat_sheet_keeps_the_vertices_that_one_shape_bends() {
    let sheet = primitives::grid(20, 20, 0.1);
    let fold = |p: &Vec3| Vec3::new(p.x, p.x.abs(), p.z);
    let folded: Vec<Vec3> = sheet.rest.positions.iter().map(fold).collect();
    let shapes = [sheet.rest.positions.clone(), folded];
    let both = simplify_deforming(&sheet, &shapes, &[], &[SimplifyGoal::within(1e-5)]).remove(0);
    let crease = |p: &Vec3| p.x.abs() < 1e-6;
    assert!(
        both.mesh
            .rest
            .positions
            .iter()
            .filter(|p| crease(p))
            .count()
            >= 2
    );
    let flat = simplify(&sheet, &SimplifyGoal::within(1e-5));
    assert!(!flat.mesh.rest.positions.iter().any(crease));
}

#[test]
fn coincident_sheets_of_two_groups_are_not_joined() {
    let sheet = primitives::grid(4, 4, 0.1);
    let count = sheet.vertex_count() as u32;
    let mut both = sheet.clone();
    both.rest
        .positions
        .extend(sheet.rest.positions.iter().copied());
    both.rest.normals.extend(sheet.rest.normals.iter().copied());
    both.uvs.extend(sheet.uvs.iter().copied());
    both.triangles
        .extend(sheet.triangles.iter().map(|t| t.map(|v| v + count)));
    let groups: Vec<u32> = (0..2 * count).map(|v| v / count).collect();
    let shapes = [both.rest.positions.clone()];
    let goal = [SimplifyGoal::within(1e-6)];
    let apart = simplify_deforming(&both, &shapes, &groups, &goal).remove(0);
    let of = |group: u32| {
        apart
            .source_vertex
            .iter()
            .filter(move |v| **v / count == group)
    };
    assert!(of(0).count() >= 4 && of(0).count() == of(1).count());
    assert_eq!(apart.mesh.triangles.len(), 4);
}

#[test]
fn nothing_is_refused() {
    let empty = simplify(&Mesh::default(), &SimplifyGoal::triangles(0));
    assert_eq!(empty.mesh, Mesh::default());
    // A vertex that is not there, one that is not finite, a line, no normals.
    let mesh = Mesh {
        rest: Vertices {
            positions: vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::repeat(f32::NAN)],
            normals: Vec::new(),
        },
        triangles: vec![[0, 1, 2], [0, 1, 9], [1, 2, 3], [0, 0, 1]],
        ..Mesh::default()
    };
    let kept = simplify(&mesh, &SimplifyGoal::within(f32::NAN));
    assert_eq!(kept.mesh.triangles, [[0, 1, 2]]);
    assert_eq!(kept.vertex_from_source, [Some(0), Some(1), Some(2), None]);
}

proptest! {
    #[test]
    fn soups_of_any_kind_give_meshes(
        coordinates in prop::collection::vec((-2_i8..3, -2_i8..3, -1_i8..2), 1..40),
        corners in prop::collection::vec((0_u32..44, 0_u32..44, 0_u32..44), 0..120),
        target in 0_usize..40,
        max_error in prop_oneof![Just(f32::INFINITY), 0.0_f32..2.0],
    ) {
        // Few places, so that vertices coincide and triangles overlap and degenerate.
        let positions: Vec<Vec3> = coordinates.iter()
            .map(|(x, y, z)| Vec3::new(f32::from(*x), f32::from(*y), f32::from(*z)))
            .collect();
        let soup = Mesh {
            rest: Vertices { normals: vec![Vec3::z(); positions.len()], positions },
            triangles: corners.iter().map(|(a, b, c)| [*a, *b, *c]).collect(),
            ..Mesh::default()
        };
        let goal = SimplifyGoal { target_triangles: target, max_error };
        let out = simplify(&soup, &goal);
        prop_assert!(out.mesh.check().is_ok());
        prop_assert!(out.error.is_finite());
        prop_assert!(out.mesh.triangles.iter().all(|[a, b, c]| a != b && b != c && c != a));
        prop_assert!(out.vertex_from_source.iter().flatten().all(|v| (*v as usize) < out.source_vertex.len()));
        // Where the source is a surface, its characteristic stays.
        let sound = Mesh { triangles: soup.triangles.iter().filter(|t| t.iter().all(|v| (*v as usize) < soup.vertex_count())).copied().collect(), ..soup };
        let placed = simplify_placed(&sound, &goal);
        prop_assert!(placed.mesh.check().is_ok());
        prop_assert_eq!(euler_characteristic(&sound), euler_characteristic(&out.mesh));
    }
}
