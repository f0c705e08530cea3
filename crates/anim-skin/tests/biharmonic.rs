//! Bounded biharmonic weights of whole meshes.
#![cfg(feature = "solve")]
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use anim_geom::{Mesh, Vertices, primitives};
use anim_math::Vec3;
use anim_skin::weights::{self, BiharmonicOptions, Bone, Bones, SkinWeights};
use proptest::prelude::*;

fn options(nodes: usize) -> BiharmonicOptions {
    BiharmonicOptions {
        nodes,
        ..BiharmonicOptions::default()
    }
}

fn along_y(spans: &[(f32, f32)]) -> Bones {
    let segments = spans.iter().zip(0..).map(|((from, to), joint)| Bone {
        head: Vec3::y() * *from,
        tail: Vec3::y() * *to,
        joint,
    });
    Bones::new(segments.collect(), spans.len()).unwrap()
}

/// The weights of the places of `mesh`, each moved by `place`.
fn moved(mesh: &Mesh, place: impl Fn(Vec3) -> Vec3) -> Mesh {
    let mut mesh = mesh.clone();
    mesh.rest.positions.iter_mut().for_each(|p| *p = place(*p));
    mesh
}

fn largest_difference(a: &SkinWeights, b: &SkinWeights, joint: impl Fn(u16) -> u16) -> f64 {
    let rows = (0..a.vertex_count()).flat_map(|v| a.row(v).map(move |(j, w)| (v, j, w)));
    rows.map(|(v, j, w)| (w - b.weight(v, joint(j))).abs())
        .fold(0.0, f64::max)
}

#[test]
fn mirrored_bones_have_mirrored_weights_and_meet_at_a_half() {
    let mesh = primitives::cylinder(0.2, 1.0, 12, 16);
    let bones = along_y(&[(-0.9, -0.3), (0.3, 0.9)]);
    let (weights, _) = weights::biharmonic(&mesh, &bones, &options(900)).unwrap();
    let upside_down = moved(&mesh, |p| Vec3::new(p.x, -p.y, p.z));
    let (mirrored, _) = weights::biharmonic(&upside_down, &bones, &options(900)).unwrap();
    // What rounding makes of the order of elimination, through a dozen solves.
    assert!(largest_difference(&weights, &mirrored, |joint| 1 - joint) < 1e-10);
    let middle = (0..mesh.vertex_count()).filter(|v| mesh.rest.positions[*v].y == 0.0);
    assert!(middle.clone().count() > 0);
    for vertex in middle {
        assert!((weights.weight(vertex, 0) - 0.5).abs() < 1e-10);
    }
}

#[test]
fn units_do_not_matter() {
    let mesh = primitives::cylinder(0.2, 1.0, 12, 16);
    let bones = along_y(&[(-0.9, 0.0), (0.0, 0.9)]);
    let (weights, _) = weights::biharmonic(&mesh, &bones, &options(600)).unwrap();
    for unit in [1.0 / 1024.0, 1024.0] {
        let segments = bones.segments().iter().map(|bone| Bone {
            head: bone.head * unit,
            tail: bone.tail * unit,
            joint: bone.joint,
        });
        let scaled = Bones::new(segments.collect(), 2).unwrap();
        let mesh = moved(&mesh, |p| p * unit);
        let (again, _) = weights::biharmonic(&mesh, &scaled, &options(600)).unwrap();
        assert!(largest_difference(&weights, &again, |joint| joint) < 1e-12);
    }
}

#[test]
fn any_number_of_iterations_gives_whole_weights() {
    let mesh = primitives::sphere(1.0, 16, 12);
    let bones = along_y(&[(-0.8, -0.2), (0.2, 0.8)]);
    for max_iterations in [0, 1, 5] {
        let options = BiharmonicOptions {
            max_iterations,
            ..options(500)
        };
        let (weights, report) = weights::biharmonic(&mesh, &bones, &options).unwrap();
        assert!(report.iterations <= max_iterations.max(1));
        assert!(weights.max_sum_error() < 1e-12);
    }
}

#[test]
fn a_bone_between_nodes_or_outside_the_mesh_still_holds_some() {
    let mesh = primitives::sphere(1.0, 16, 12);
    let point = |at: Vec3, joint| Bone {
        head: at,
        tail: at,
        joint,
    };
    let bones = vec![
        point(Vec3::new(0.013, 0.007, -0.011), 0),
        // Not alone within a cell.
        point(Vec3::new(0.013, 0.007, -0.011), 1),
        point(Vec3::new(0.0, 9.0, 0.0), 2),
    ];
    let bones = Bones::new(bones, 3).unwrap();
    let (_, report) = weights::biharmonic(&mesh, &bones, &options(300)).unwrap();
    assert!(report.handles >= 2);
    assert_eq!(report.bind.unreachable, Vec::<u16>::new());
}

#[test]
fn a_part_without_a_bone_follows_its_nearest_and_is_reported() {
    let mut mesh = primitives::cylinder(0.2, 1.0, 12, 8);
    mesh.uvs.clear();
    let far = moved(&primitives::cuboid(Vec3::repeat(0.2)), |p| {
        p + Vec3::new(2.0, 0.9, 0.0)
    });
    let first = mesh.vertex_count() as u32;
    mesh.rest.positions.extend(far.rest.positions);
    mesh.rest.normals.extend(far.rest.normals);
    mesh.triangles
        .extend(far.triangles.iter().map(|t| t.map(|v| v + first)));
    let bones = along_y(&[(-0.9, 0.0), (0.0, 0.9)]);
    let (weights, report) = weights::biharmonic(&mesh, &bones, &options(1500)).unwrap();
    assert_eq!(report.bind.islands.len(), 1);
    assert_eq!(report.bind.islands[0].first_vertex, first);
    for vertex in first as usize..mesh.vertex_count() {
        assert_eq!(weights.row(vertex).collect::<Vec<_>>(), [(1, 1.0)]);
    }
}

#[test]
fn threads_do_not_matter_to_the_bit() {
    let mesh = primitives::cylinder(0.2, 1.0, 12, 8);
    let spans: Vec<(f32, f32)> = (0..15)
        .map(|i| (i as f32 * 0.12 - 0.9, i as f32 * 0.12 - 0.82))
        .collect();
    let bones = along_y(&spans);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| weights::biharmonic(&mesh, &bones, &options(400)).unwrap())
    };
    assert_eq!(on(1), on(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_soup_makes_it_fail(
        positions in prop::collection::vec((-3_i8..4, -3_i8..4, -3_i8..4), 1..14),
        triangles in prop::collection::vec((0_u32..14, 0_u32..14, 0_u32..14), 0..16),
        heads in prop::collection::vec((-4_i8..5, -4_i8..5, -4_i8..5), 1..5),
    ) {
        let at = |(x, y, z): &(i8, i8, i8)| Vec3::new(f32::from(*x), f32::from(*y), f32::from(*z));
        let count = positions.len() as u32;
        let mesh = Mesh {
            rest: Vertices {
                positions: positions.iter().map(at).collect(),
                normals: vec![Vec3::z(); positions.len()],
            },
            uvs: Vec::new(),
            triangles: triangles.iter().map(|(a, b, c)| [a % count, b % count, c % count]).collect(),
        };
        let segments = heads.iter().zip(0..).map(|(head, joint)| Bone {
            head: at(head),
            tail: at(&heads[0]),
            joint,
        });
        let bones = Bones::new(segments.collect(), heads.len()).unwrap();
        let (weights, report) = weights::biharmonic(&mesh, &bones, &options(150)).unwrap();
        prop_assert_eq!(weights.vertex_count(), positions.len());
        prop_assert!(report.energy.is_finite() && weights.max_sum_error() < 1e-12);
    }
}
