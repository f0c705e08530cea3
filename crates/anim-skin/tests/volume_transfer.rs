//! Weights carried by volume: linear across a gap, and padding that is squeezed as the room for it is.
#![cfg(feature = "solve")]
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

use anim_geom::{Mesh, primitives};
use anim_math::nalgebra::Vector3;
use anim_math::{Affine, Transform, Vec3, quat};
use anim_skin::weights::transfer::{Correspondence, TransferOptions, TransferReport, transfer};
use anim_skin::{Palette, SkinWeights};

const BY_VOLUME: TransferOptions = TransferOptions {
    correspondence: Correspondence::Volume,
    max_distance: 0.05,
    max_angle: 0.5,
};

/// The nearest point, however far and whatever its side.
const ANYWHERE: TransferOptions = TransferOptions {
    correspondence: Correspondence::Surface,
    max_distance: 1e3,
    max_angle: std::f64::consts::PI,
};

fn joined(mut a: Mesh, b: &Mesh) -> Mesh {
    let first = a.vertex_count() as u32;
    a.rest.positions.extend(&b.rest.positions);
    a.rest.normals.extend(&b.rest.normals);
    a.uvs.clear();
    a.triangles
        .extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn moved(mut mesh: Mesh, motion: &Affine) -> Mesh {
    for (position, normal) in mesh.rest.positions.iter_mut().zip(&mut mesh.rest.normals) {
        *position = motion.transform_point(*position);
        *normal = motion.transform_vector(*normal);
    }
    mesh
}

/// Parts that follow a joint each.
fn rigid_parts(parts: [Mesh; 2]) -> (Mesh, SkinWeights) {
    let [first, second] = parts;
    let ends = first.vertex_count();
    let mesh = joined(first, &second);
    let rows = (0..mesh.vertex_count()).map(|vertex| [(u16::from(vertex >= ends), 1.0)]);
    let weights = SkinWeights::from_rows(2, rows).unwrap();
    (mesh, weights)
}

/// Two walls a metre apart, so wide that every direction meets one: the floor follows joint 0, the ceiling joint 1.
fn walls() -> (Mesh, SkinWeights) {
    let wall = |height| {
        let lift = Transform::from_translation(Vec3::new(0.0, height, 0.0));
        moved(primitives::grid(2, 2, 150.0), &lift.into())
    };
    rigid_parts([wall(-0.5), wall(0.5)])
}

fn carried(
    (source, weights): &(Mesh, SkinWeights),
    target: &Mesh,
    options: &TransferOptions,
) -> (SkinWeights, TransferReport) {
    transfer(weights, source, target, options).unwrap()
}

/// Where linear skinning puts a vertex, in f64.
fn posed(mesh: &Mesh, weights: &SkinWeights, palette: &Palette, vertex: u32) -> Vector3<f64> {
    let position = mesh.rest.positions[vertex as usize];
    let parts = weights.row(vertex as usize).map(|(joint, weight)| {
        let joint = palette.get(usize::from(joint));
        joint.transform_point(position).cast::<f64>() * weight
    });
    parts.sum()
}

/// What the skinned mesh encloses.
fn volume(mesh: &Mesh, weights: &SkinWeights, palette: &Palette) -> f64 {
    let triangles = mesh.triangles.iter().map(|corners| {
        let [a, b, c] = corners.map(|vertex| posed(mesh, weights, palette, vertex));
        a.dot(&b.cross(&c)) / 6.0
    });
    triangles.sum()
}

fn palette(second: Transform) -> Palette {
    let mut palette = Palette::new(2);
    palette.set(1, second.into());
    palette
}

#[test]
fn weights_are_linear_between_two_walls() {
    let walls = walls();
    let column = primitives::tube(0.2, 0.45, 8, 12);
    let (weights, report) = carried(&walls, &column, &BY_VOLUME);
    assert_eq!(report.accepted, column.vertex_count());
    for (vertex, position) in column.rest.positions.iter().enumerate() {
        let expected = f64::from(position.y) + 0.5;
        // Rays go up to 64 m in f32.
        assert!((weights.weight(vertex, 1) - expected).abs() < 1e-4);
    }
}

/// A cushion from 0.1 m below the middle to 0.1 m above it, and a ceiling that comes down by 0.3 of 1 m.
#[test]
fn a_cushion_loses_the_part_that_the_gap_loses() {
    let walls = walls();
    let cushion = primitives::cuboid(Vec3::new(0.3, 0.1, 0.2));
    let lowered = palette(Transform::from_translation(Vec3::new(0.0, -0.3, 0.0)));
    let kept = |options| {
        let (weights, _) = carried(&walls, &cushion, options);
        let rest = volume(&cushion, &weights, &Palette::new(2));
        volume(&cushion, &weights, &lowered) / rest
    };
    // 1 − u/D.
    assert!((kept(&BY_VOLUME) - 0.7).abs() < 1e-3);
    // Nearest points give all of the 0.3 m to 0.2 m of cushion, which turns inside out: 1 − 0.3/0.2.
    assert!((kept(&ANYWHERE) + 0.5).abs() < 1e-3);
}

/// Three sheets of a quilt between two legs, which come together until half of the gap is left.
#[test]
fn layers_between_two_legs_stay_in_their_order() {
    let leg = |x| {
        let aside = Transform::from_translation(Vec3::new(x, 0.0, 0.0));
        moved(primitives::capsule(0.1, 0.4, 24, 8), &aside.into())
    };
    let legs = rigid_parts([leg(-0.2), leg(0.2)]);
    let upright = quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_2);
    let sheet = |x| {
        let motion = Transform {
            rotation: upright,
            ..Transform::from_translation(Vec3::new(x, 0.0, 0.0))
        };
        moved(primitives::grid(8, 8, 0.05), &motion.into())
    };
    let quilt = joined(joined(sheet(-0.03), &sheet(0.01)), &sheet(0.05));
    let count = quilt.vertex_count() as u32 / 3;
    let closed = palette(Transform::from_translation(Vec3::new(-0.1, 0.0, 0.0)));
    let thinnest = |options| {
        let (weights, _) = carried(&legs, &quilt, options);
        let gaps = (0..2 * count).map(|vertex| {
            let x = |vertex| posed(&quilt, &weights, &closed, vertex).x;
            x(vertex + count) - x(vertex)
        });
        gaps.fold(f64::INFINITY, f64::min)
    };
    // 0.04 m at rest. Between walls 0.02 would be left; between round legs weights are steeper half-way, and 0.009 is.
    let kept = thinnest(&BY_VOLUME);
    assert!(kept > 0.005, "{kept}");
    let torn = thinnest(&ANYWHERE);
    assert!((torn + 0.06).abs() < 1e-6, "{torn}");
}

#[test]
fn a_mesh_carried_to_itself_by_volume_is_the_same() {
    let walls = walls();
    let (same, report) = carried(&walls, &walls.0, &BY_VOLUME);
    assert_eq!(report.accepted, walls.0.vertex_count());
    assert!(same.mean_difference(&walls.1) < 1e-6);
}

/// Directions come in all eight octants alike.
#[test]
fn a_mirrored_target_has_mirrored_weights() {
    let legs = rigid_parts([-0.2, 0.2].map(|x| {
        let aside = Transform::from_translation(Vec3::new(x, 0.0, 0.0));
        moved(primitives::sphere(0.1, 24, 8), &aside.into())
    }));
    let at = |x: f32| {
        let mut point = Mesh::default();
        point.rest.positions = vec![Vec3::new(x, 0.02, 0.01)];
        point.rest.normals = vec![Vec3::y()];
        carried(&legs, &point, &BY_VOLUME).0
    };
    for x in [0.0, 0.03, 0.08, 0.5] {
        // Rays in f32, that graze either sphere where they graze the other.
        assert!(
            (at(x).weight(0, 1) - at(-x).weight(0, 0)).abs() < 1e-4,
            "{x}"
        );
    }
}
