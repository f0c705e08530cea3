//! What every automatic binding method owes: whole rows, symmetry, no dependence on units, order or threads, no failure.
#![cfg(feature = "solve")]
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

mod common;

use anim_geom::{Mesh, Vertices, primitives};
use anim_math::Vec3;
use anim_skin::SkinError;
use anim_skin::weights::{
    self, BiharmonicOptions, BindReport, Bone, Bones, GeodesicMethod, GeodesicOptions, HeatOptions,
    InverseDistanceOptions, NearestOptions, SkinWeights, VoxelOptions,
};
use common::Numbers;
use proptest::prelude::*;

type Bound = Result<(SkinWeights, BindReport), SkinError>;
type Method = fn(&Mesh, &Bones) -> Bound;

/// Every method, with all influences kept; those that work on the surface first.
const METHODS: [(&str, Method); 9] = [
    ("nearest", |mesh, bones| {
        weights::nearest(mesh, bones, &NearestOptions::default())
    }),
    ("visible", |mesh, bones| {
        weights::nearest(mesh, bones, &NearestOptions { visible_only: true })
    }),
    ("inverse distance", |mesh, bones| {
        let options = InverseDistanceOptions {
            influences: None,
            ..Default::default()
        };
        weights::inverse_distance(mesh, bones, &options)
    }),
    ("heat", heat),
    ("edges", |mesh, bones| {
        geodesic(mesh, bones, GeodesicMethod::Dijkstra)
    }),
    ("marching", |mesh, bones| {
        geodesic(mesh, bones, GeodesicMethod::FastMarching)
    }),
    ("heat distance", |mesh, bones| {
        geodesic(mesh, bones, GeodesicMethod::Heat)
    }),
    ("voxel", |mesh, bones| {
        let options = VoxelOptions {
            resolution: 33,
            influences: usize::MAX,
            ..Default::default()
        };
        weights::voxel(mesh, bones, &options)
    }),
    ("biharmonic", |mesh, bones| {
        let options = BiharmonicOptions {
            nodes: 500,
            influences: None,
            ..Default::default()
        };
        let (weights, report) = weights::biharmonic(mesh, bones, &options)?;
        Ok((weights, report.bind))
    }),
];

/// How many of them work on the surface, whatever lies between its parts and however far it is; what a solid of cells makes
/// of soups has tests of its own.
const ON_SURFACE: usize = 7;

fn heat(mesh: &Mesh, bones: &Bones) -> Bound {
    let options = HeatOptions {
        influences: None,
        ..Default::default()
    };
    weights::heat(mesh, bones, &options)
}

fn geodesic(mesh: &Mesh, bones: &Bones, method: GeodesicMethod) -> Bound {
    let options = GeodesicOptions {
        method,
        influences: None,
        ..Default::default()
    };
    weights::geodesic(mesh, bones, &options)
}

fn bones(places: &[[Vec3; 2]]) -> Bones {
    let segments = (0..).zip(places).map(|(joint, [head, tail])| Bone {
        head: *head,
        tail: *tail,
        joint,
    });
    Bones::new(segments.collect(), places.len()).unwrap()
}

/// `count` bones in a row along y, from `low` to `high`.
fn chain(count: usize, low: f32, high: f32) -> Bones {
    let place = |i: usize| Vec3::y() * (low + (high - low) * i as f32 / count as f32);
    bones(
        &(0..count)
            .map(|i| [place(i), place(i + 1)])
            .collect::<Vec<_>>(),
    )
}

fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    Mesh {
        rest: Vertices {
            normals: vec![Vec3::y(); positions.len()],
            positions,
        },
        uvs: Vec::new(),
        triangles,
    }
}

fn append(mesh: &mut Mesh, other: &Mesh, offset: Vec3) {
    let first = mesh.vertex_count() as u32;
    mesh.triangles
        .extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
    mesh.rest
        .positions
        .extend(other.rest.positions.iter().map(|p| p + offset));
    mesh.rest.normals.extend(&other.rest.normals);
    mesh.uvs.clear();
}

/// A cylinder with bumps, its seams still closed.
fn bumpy() -> Mesh {
    let mut mesh = primitives::cylinder(0.3, 1.3, 20, 24);
    let bump = |p: &Vec3| 1.0 + 0.2 * (7.0 * p.y + 3.0 * p.x).sin() * (5.0 * p.z).cos();
    for p in &mut mesh.rest.positions {
        *p = Vec3::new(p.x * bump(p), p.y, p.z * bump(p));
    }
    mesh
}

/// The largest difference of a weight.
fn difference(a: &SkinWeights, b: &SkinWeights, map: impl Fn(usize, u16) -> (usize, u16)) -> f64 {
    let mut most = 0.0_f64;
    for vertex in 0..a.vertex_count() {
        for joint in 0..a.joint_count() as u16 {
            let (other, other_joint) = map(vertex, joint);
            most = most.max((a.weight(vertex, joint) - b.weight(other, other_joint)).abs());
        }
    }
    most
}

#[test]
fn rows_sum_to_one_and_follow_the_bones() {
    let (mesh, bones) = (bumpy(), chain(5, -1.1, 1.1));
    for (name, method) in METHODS {
        let (weights, report) = method(&mesh, &bones).unwrap();
        assert!(weights.max_sum_error() < 1e-12, "{name}");
        assert_eq!(report.components, 1, "{name}");
        assert!(
            report.islands.is_empty() && report.unreachable.is_empty(),
            "{name}"
        );
        for (vertex, place) in mesh.rest.positions.iter().enumerate() {
            let expected = ((place.y + 1.1) / 0.44).clamp(0.0, 4.99);
            let is_inside = (expected.fract() - 0.5).abs() < 0.2;
            let dominant = weights.dominant_joint(vertex);
            assert!(
                !is_inside || dominant == expected as u16,
                "{name}: {place:?} {dominant}"
            );
        }
    }
}

#[test]
fn mirrored_meshes_have_mirrored_weights() {
    // The lower half, jittered, and its mirror image, sharing the ring in the plane.
    let half = primitives::tube(0.3, 0.5, 16, 10);
    let mut numbers = Numbers::new(5);
    let mut positions: Vec<Vec3> = half
        .rest
        .positions
        .iter()
        .map(|p| p - Vec3::y() * 0.5)
        .collect();
    for p in positions.iter_mut().filter(|p| p.y < 0.0) {
        *p += numbers.vector() * 0.01;
    }
    let count = positions.len() as u32;
    let mut triangles = half.triangles.clone();
    triangles.extend(
        half.triangles
            .iter()
            .map(|[a, b, c]| [b + count, a + count, c + count]),
    );
    let mirror: Vec<Vec3> = positions
        .iter()
        .map(|p| Vec3::new(p.x, -p.y, p.z))
        .collect();
    positions.extend(mirror);
    let mesh = mesh(positions, triangles);
    let bones = bones(&[[Vec3::zeros(), -Vec3::y()], [Vec3::zeros(), Vec3::y()]]);
    for (name, method) in METHODS {
        let (weights, _) = method(&mesh, &bones).unwrap();
        let count = count as usize;
        let mirrored = difference(&weights, &weights, |vertex, joint| {
            (
                if vertex < count {
                    vertex + count
                } else {
                    vertex - count
                },
                1 - joint,
            )
        });
        assert!(mirrored < 1e-10, "{name}: {mirrored}");
        for (vertex, place) in mesh.rest.positions.iter().enumerate() {
            let in_plane = place.y == 0.0;
            assert!(
                !in_plane || (weights.weight(vertex, 0) - 0.5).abs() < 1e-10,
                "{name}"
            );
        }
    }
}

#[test]
fn units_do_not_matter() {
    let (mesh, segments) = (bumpy(), chain(4, -1.1, 1.1));
    for (name, method) in METHODS {
        let (weights, report) = method(&mesh, &segments).unwrap();
        for scale in [1e-3, 1e3] {
            let mut scaled = mesh.clone();
            scaled.rest.positions.iter_mut().for_each(|p| *p *= scale);
            let places = segments
                .segments()
                .iter()
                .map(|b| [b.head * scale, b.tail * scale]);
            let bones = bones(&places.collect::<Vec<_>>());
            let (other, other_report) = method(&scaled, &bones).unwrap();
            let off = difference(&weights, &other, |vertex, joint| (vertex, joint));
            // Positions are rounded to 6e-8 of the mesh, distances, of a fifth of it or more, to five times that, and the
            // fourth power of the ratio of two magnifies it by 8 w (1 − w) ≤ 2: 6e-7.
            assert!(off < 1e-6, "{name} x {scale}: {off}");
            assert_eq!(report.islands, other_report.islands);
        }
    }
}

#[test]
fn permuting_vertices_permutes_weights() {
    let (mesh, bones) = (bumpy(), chain(4, -1.1, 1.1));
    let count = mesh.vertex_count();
    // 7919 is prime and no divisor of the count.
    let to = |vertex: usize| (vertex * 7919 + 3) % count;
    let mut permuted = mesh.clone();
    for vertex in 0..count {
        permuted.rest.positions[to(vertex)] = mesh.rest.positions[vertex];
    }
    permuted
        .triangles
        .iter_mut()
        .flatten()
        .for_each(|v| *v = to(*v as usize) as u32);
    for (name, method) in METHODS {
        let (weights, _) = method(&mesh, &bones).unwrap();
        let (other, _) = method(&permuted, &bones).unwrap();
        let off = difference(&weights, &other, |vertex, joint| (to(vertex), joint));
        assert!(off < 1e-9, "{name}: {off}");
    }
}

#[test]
fn threads_do_not_matter_to_the_bit() {
    let mesh = primitives::cylinder(0.3, 1.2, 48, 60);
    let bones = chain(4, -1.1, 1.1);
    for (name, method) in METHODS {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| method(&mesh, &bones)).unwrap()
        };
        assert_eq!(on(1), on(2), "{name}");
        assert_eq!(on(1), method(&mesh, &bones).unwrap(), "{name}");
    }
}

#[test]
fn heat_on_a_strip_is_its_closed_form() {
    // Two bones end to end at a constant distance d above a strip of half length a: −w″ + w/d² = p/d² with w′ = 0 at the
    // ends gives w = 1 − cosh((a + x)/d) / 2cosh(a/d) for x < 0.
    let (half, cell, above) = (2.0_f64, 0.02_f64, 0.5_f64);
    let strip = primitives::grid(200, 1, cell as f32);
    let at = |x: f64| Vec3::new(x as f32, above as f32, 0.0);
    let bones = bones(&[[at(-half), at(0.0)], [at(0.0), at(half)]]);
    let (weights, _) = heat(&strip, &bones).unwrap();
    let distance = above.hypot(0.5 * cell);
    for (vertex, place) in strip.rest.positions.iter().enumerate() {
        let x = f64::from(place.x);
        let share = ((half - x.abs()) / distance).cosh() / (2.0 * (half / distance).cosh());
        let expected = if x < 0.0 { 1.0 - share } else { share };
        let found = weights.weight(vertex, 0);
        // The error of linear elements is h²/12d² of the second derivative, which is at most a half.
        assert!(
            (found - expected).abs() < cell * cell / distance / distance,
            "{x}: {found} {expected}"
        );
    }
}

#[test]
fn report_1_a_part_without_a_bone_is_anchored_and_named() {
    let mut mesh = primitives::cylinder(0.3, 1.2, 16, 12);
    let first = mesh.vertex_count();
    append(
        &mut mesh,
        &primitives::cuboid(Vec3::repeat(0.2)),
        Vec3::new(3.0, 0.6, 0.0),
    );
    for method in [heat, |mesh: &Mesh, bones: &Bones| {
        geodesic(mesh, bones, GeodesicMethod::default())
    }] {
        let (weights, report) = method(&mesh, &chain(3, -1.0, 1.0)).unwrap();
        assert!(weights.max_sum_error() < 1e-12);
        assert_eq!(report.components, 2);
        let [island] = report.islands[..] else {
            panic!("{report:?}");
        };
        assert_eq!((island.component, island.joint), (1, 2));
        assert_eq!(
            (island.first_vertex as usize, island.vertex_count),
            (first, 24)
        );
        for vertex in first..mesh.vertex_count() {
            assert_eq!(weights.row(vertex).collect::<Vec<_>>(), [(2, 1.0)]);
        }
    }
}

#[test]
fn report_3_coincident_vertices_have_identical_weights() {
    // Sharp edges: three vertices at each of eight corners.
    let cube = primitives::cuboid(Vec3::repeat(0.5));
    for (name, method) in METHODS {
        let (weights, report) = method(&cube, &chain(2, -0.4, 0.4)).unwrap();
        assert_eq!(report.components, 1, "{name}");
        for a in 0..cube.vertex_count() {
            let same = |b: &usize| cube.rest.positions[*b] == cube.rest.positions[a];
            for b in (0..cube.vertex_count()).filter(same) {
                assert!(weights.row(a).eq(weights.row(b)), "{name}");
            }
        }
    }
}

#[test]
fn hidden_bones_pull_less_than_those_in_sight() {
    // Two legs side by side, the bone of each nearer to the other's inner side than to its own outer one.
    let leg = primitives::cylinder(0.3, 1.2, 24, 20);
    let mut mesh = Mesh::default();
    append(&mut mesh, &leg, Vec3::x() * -0.301);
    append(&mut mesh, &leg, Vec3::x() * 0.301);
    let bone = |x: f32| [Vec3::new(x, 1.0, 0.0), Vec3::new(x, -1.0, 0.0)];
    let bones = bones(&[bone(-0.1), bone(0.1)]);
    for (name, method) in &METHODS[3..ON_SURFACE] {
        let (weights, _) = method(&mesh, &bones).unwrap();
        for vertex in 0..leg.vertex_count() {
            assert!(weights.weight(vertex, 0) > 0.999, "{name}");
        }
    }
}

#[test]
fn points_options_and_limits() {
    let cloud = common::cloud(vec![Vec3::x(), Vec3::zeros()], vec![Vec3::y(); 2]);
    let line = bones(&[[Vec3::x(), Vec3::x()], [Vec3::zeros(), Vec3::zeros()]]);
    for (name, method) in METHODS {
        let (weights, report) = method(&cloud, &line).unwrap();
        assert_eq!(report.unreferenced, 2, "{name}");
        assert_eq!(weights.row(0).collect::<Vec<_>>(), [(0, 1.0)], "{name}");
        let (none, _) = method(&Mesh::default(), &line).unwrap();
        assert_eq!(none.vertex_count(), 0);
    }
    let by_heat = |stiffness| {
        let options = HeatOptions {
            stiffness,
            ..Default::default()
        };
        weights::heat(&bumpy(), &chain(5, -1.1, 1.1), &options)
    };
    for outside in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e-300, 1e300] {
        let refused = SkinError::BadOption {
            option: "stiffness",
        };
        assert_eq!(by_heat(outside).err(), Some(refused), "{outside}");
    }
    for stiffness in [1e-6, 1e6] {
        let (weights, _) = by_heat(stiffness).unwrap();
        assert!(weights.max_sum_error() < 1e-14, "{stiffness}");
    }
    for power in [1e-300, 1e300] {
        let options = InverseDistanceOptions {
            power,
            ..Default::default()
        };
        let chain = chain(5, -1.1, 1.1);
        assert!(weights::inverse_distance(&bumpy(), &chain, &options).is_ok());
    }
    let options = HeatOptions {
        influences: Some(2),
        ..Default::default()
    };
    let (two, report) = weights::heat(&bumpy(), &chain(5, -1.1, 1.1), &options).unwrap();
    assert_eq!(two.max_influences(), 2);
    assert!(report.dropped_mass_max > 0.0 && report.dropped_mass_max < 0.3);
}

proptest! {
    #[test]
    fn no_soup_makes_any_method_fail(
        places in prop::collection::vec([0_i8..4, 0_i8..4, 0_i8..3], 1..14),
        corners in prop::collection::vec([0_u32..14, 0_u32..14, 0_u32..14], 0..24),
        ends in prop::collection::vec([0_i8..5, 0_i8..4, 0_i8..3], 2..8),
        shift in 0.0_f32..0.6,
        scale in prop_oneof![Just(0.0_f32), Just(1.0), Just(1e-20), Just(1e14), Just(1e25)],
    ) {
        let positions: Vec<Vec3> = places.iter().map(|p| Vec3::from(p.map(f32::from)) * scale).collect();
        let count = positions.len() as u32;
        let mesh = mesh(positions, corners.iter().map(|t| t.map(|v| v % count)).collect());
        let end = |p: &[i8; 3]| (Vec3::from(p.map(f32::from)) + Vec3::repeat(shift)) * scale;
        let bones = bones(&ends.chunks_exact(2).map(|e| [end(&e[0]), end(&e[1])]).collect::<Vec<_>>());
        for (name, method) in &METHODS[..ON_SURFACE] {
            let bound = method(&mesh, &bones);
            prop_assert!(bound.is_ok(), "{name}: {bound:?}");
            let (weights, report) = bound.unwrap();
            prop_assert_eq!(weights.vertex_count(), mesh.vertex_count());
            prop_assert!(weights.max_sum_error() < 1e-12);
            prop_assert!(report.islands.len() <= report.components);
        }
    }
}
