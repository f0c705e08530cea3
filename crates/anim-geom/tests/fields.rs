//! Distance fields and height fields against closed forms and against their own triangles.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "tests may panic and need no docs"
)]

use std::sync::Arc;

use anim_geom::{Collider, DistanceField, GeomError, HeightField, MeshBvh, Shape, primitives};
use anim_math::{Affine, Vec3};
use proptest::prelude::*;

/// Points spread evenly over a cube about the origin.
fn spread(count: u32, half: f32) -> impl Iterator<Item = Vec3> {
    (0..count).map(move |i| {
        Vec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5)
            .map(|step| ((i as f32 * step).fract() * 2.0 - 1.0) * half)
    })
}

#[test]
fn distances_to_a_ball_converge_to_the_second_order() {
    let mesh = primitives::sphere(1.0, 256, 128);
    let error = |cell: f32| {
        let field = DistanceField::new(&mesh, cell).unwrap();
        let near = spread(4000, 1.2).filter(|p| p.norm() > 0.6);
        let errors = near.map(|p| (field.sample(p).0 - (p.norm() - 1.0)).abs());
        errors.fold(0.0, f32::max)
    };
    let (coarse, fine) = (error(0.2), error(0.1));
    // Curvature 1/r in two directions, r ≥ 0.6: h²/8 · 2 · √… is below 3/8 h²/r; the mesh's own facets add 3e-4.
    assert!(coarse < 0.375 * 0.04 / 0.6, "{coarse}");
    assert!((2.8..5.0).contains(&(coarse / fine)), "{coarse} {fine}");
}

#[test]
fn the_sign_is_right_wherever_the_surface_is_farther_than_a_cell() {
    let half = Vec3::new(0.6, 0.4, 0.3);
    let field = DistanceField::new(&primitives::cuboid(half), 0.05).unwrap();
    for point in spread(5000, 1.0) {
        let q = point.abs() - half;
        let exact = q.sup(&Vec3::zeros()).norm() + q.max().min(0.0);
        let (distance, gradient) = field.sample(point);
        if exact.abs() > 0.05 {
            assert_eq!(distance < 0.0, exact < 0.0, "{point:?}");
        }
        let inside_grid = point.abs() < half.add_scalar(0.1);
        assert!(
            !inside_grid || (distance - exact).abs() < 0.05,
            "{point:?} {distance} {exact}"
        );
        // Beyond the grid it never says that the surface is farther than it is, but for the error at the border.
        assert!(distance < exact + 0.02, "{point:?} {distance} {exact}");
        assert!(gradient.norm() < 1.74);
    }
    assert_eq!(
        field.bytes(),
        field.size().iter().map(|n| *n as usize).product::<usize>() * 4
    );
}

#[test]
fn open_surfaces_are_closed_over_and_nonsense_is_refused() {
    let tube = DistanceField::new(&primitives::tube(0.3, 1.0, 24, 4), 0.1).unwrap();
    assert!(tube.sample(Vec3::zeros()).0 < -0.2);
    let ball = primitives::sphere(1.0, 8, 4);
    assert!(matches!(
        DistanceField::new(&ball, f32::NAN),
        Err(GeomError::OutOfRange { .. })
    ));
    assert!(matches!(
        DistanceField::new(&ball, 1e-6),
        Err(GeomError::TooManyCells { .. })
    ));
}

#[test]
fn a_field_is_a_collider_like_its_mesh() {
    let mesh = primitives::capsule(0.3, 0.4, 32, 8);
    let world = Affine {
        translation: Vec3::new(1.0, 2.0, 3.0),
        ..Affine::IDENTITY
    };
    let exact = Collider::new(Shape::Mesh(Arc::new(MeshBvh::new(&mesh).unwrap())), world);
    let field = Collider::new(
        Shape::Field(Arc::new(DistanceField::new(&mesh, 0.03).unwrap())),
        world,
    );
    for offset in spread(500, 0.8) {
        let point = world.translation + offset;
        let (a, b) = (exact.contact(point), field.contact(point));
        if a.distance.abs() < 0.05 {
            assert!((a.distance - b.distance).abs() < 2e-3, "{a:?} {b:?}");
            assert!(a.normal.dot(&b.normal) > 0.98, "{a:?} {b:?}");
        }
        let direction = -offset + Vec3::new(0.05, 0.1, -0.02);
        let hits = [&exact, &field].map(|collider| collider.ray(point, direction, 5.0));
        if let [Some(a), Some(b)] = hits {
            assert!(
                (a.distance - b.distance).abs() < 0.02,
                "{point:?} {a:?} {b:?}"
            );
        } else {
            assert!(hits[0].is_none() && hits[1].is_none(), "{point:?} {hits:?}");
        }
    }
}

fn hills() -> impl Strategy<Value = HeightField> {
    (1u32..7, 1u32..7).prop_flat_map(|(columns, rows)| {
        let count = ((columns + 1) * (rows + 1)) as usize;
        prop::collection::vec(-1.0f32..1.0, count)
            .prop_map(move |heights| HeightField::new(columns, rows, 0.5, heights).unwrap())
    })
}

fn vector(size: f32) -> impl Strategy<Value = Vec3> {
    let c = -size..size;
    [c.clone(), c.clone(), c].prop_map(Vec3::from)
}

proptest! {
    #[test]
    fn a_height_field_answers_as_its_triangles_do(
        ground in hills(), point in vector(2.5), direction in vector(1.0),
    ) {
        let bvh = MeshBvh::new(&ground.mesh()).unwrap();
        let (found, exact) = (ground.nearest(point), bvh.nearest(point));
        prop_assert!((found.distance.abs() - exact.distance.abs()).abs() < 1e-5, "{:?} {:?}", found, exact);
        if let Some(height) = ground.height(point.x, point.z) {
            prop_assert_eq!(found.distance < 0.0, point.y < height);
            let below = bvh.ray(Vec3::new(point.x, 5.0, point.z), -Vec3::y(), 10.0).unwrap();
            prop_assert!((5.0 - below.distance - height).abs() < 1e-5);
        }
        let limit = found.distance.abs();
        prop_assert!(ground.nearest_within(point, limit * 1.001).is_some());
        let (found, exact) = (ground.ray(point, direction, 9.0), bvh.ray(point, direction, 9.0));
        prop_assert_eq!(found.map(|hit| hit.distance), exact.map(|hit| hit.distance));
    }

    #[test]
    fn rays_through_the_borders_of_cells_hit(ground in hills(), i in 0u32..7, j in 0u32..7, tilt in -0.5f32..0.5) {
        let bvh = MeshBvh::new(&ground.mesh()).unwrap();
        let corner = ground.mesh().rest.positions[((i * 7 + j) as usize) % ground.mesh().vertex_count()];
        let direction = Vec3::new(0.0, -1.0, tilt);
        let origin = corner - direction * 3.0;
        let hits = [ground.ray(origin, direction, 9.0).map(|h| h.distance), bvh.ray(origin, direction, 9.0).map(|h| h.distance)];
        prop_assert_eq!(hits[0], hits[1]);
        let contact = ground.nearest(corner);
        prop_assert!(contact.distance.abs() < 1e-6 && contact.normal.y > 0.0);
    }
}

#[test]
fn ground_is_solid_at_any_depth_and_ends_at_its_border() {
    let ground = Arc::new(HeightField::new(8, 8, 1.0, vec![0.0; 81]).unwrap());
    let collider = Collider::new(Shape::HeightField(ground), Affine::IDENTITY);
    let deep = collider
        .contact_within(Vec3::new(0.2, -3.0, 0.1), 0.01)
        .unwrap();
    assert!(deep.distance == -3.0 && (deep.normal - Vec3::y()).norm() < 1e-6);
    assert!(
        collider
            .contact_within(Vec3::new(0.0, 0.02, 0.0), 0.01)
            .is_none()
    );
    let beside = collider.contact(Vec3::new(7.0, -4.0, 0.0));
    assert_eq!(beside.distance, 5.0);
    let surface = collider.contact(Vec3::new(0.0, 0.0, 0.0));
    assert_eq!((surface.distance, surface.normal), (0.0, Vec3::y()));
}

#[test]
fn heights_that_make_no_ground_are_refused() {
    let count = HeightField::new(2, 2, 1.0, vec![0.0; 8]);
    assert!(matches!(
        count,
        Err(GeomError::Count {
            found: 8,
            vertex_count: 9,
            ..
        })
    ));
    assert_eq!(
        HeightField::new(0, 2, 1.0, vec![]),
        Err(GeomError::Empty("cells"))
    );
    assert_eq!(
        HeightField::new(1, 1, 1.0, vec![0.0, 0.0, f32::NAN, 0.0]),
        Err(GeomError::NotFinite { vertex: 2 })
    );
    assert!(matches!(
        HeightField::new(1, 1, 0.0, vec![0.0; 4]),
        Err(GeomError::OutOfRange { .. })
    ));
    assert!(matches!(
        HeightField::new(u32::MAX, u32::MAX, 1.0, vec![]),
        Err(GeomError::Count { .. })
    ));
}
