//! Boxes hold what they must, and not much more.

mod common;

use anim_math::{Affine, Mat3, Transform, Vec3, quat};
use anim_skin::{
    Aabb, DualPalette, Influences, JointBounds, MorphTarget, MotionBounds, Palette, SkinnedMesh,
    VertexBlocks,
};
use common::{Numbers, bind, cloud, joints, random_mesh, rigid_palette};
use proptest::prelude::*;

fn exact(skin: &SkinnedMesh, source: &VertexBlocks, palette: &Palette) -> Aabb {
    let mut out = VertexBlocks::new(skin.vertex_count());
    skin.linear(source, palette, &mut out);
    out.bounds()
}

fn holds(outer: &Aabb, inner: &Aabb) -> bool {
    outer.union(inner) == *outer
}

/// Any matrices: rotations, stretches, shears and mirrors, near and far.
fn any_palette(joint_count: usize, numbers: &mut Numbers) -> Palette {
    let mut palette = Palette::new(joint_count);
    for place in 0..joint_count {
        let columns = [numbers.vector(), numbers.vector(), numbers.vector()];
        let far = if numbers.unit() < 0.3 { 1e4 } else { 1.0 };
        palette.set(
            place,
            Affine {
                linear: Mat3::from_columns(&columns),
                translation: numbers.vector() * far,
            },
        );
    }
    palette
}

fn targets(vertex_count: usize, numbers: &mut Numbers) -> Vec<MorphTarget> {
    let target = |_| MorphTarget {
        vertices: (0..vertex_count as u32).step_by(3).collect(),
        positions: (0..vertex_count)
            .step_by(3)
            .map(|_| numbers.vector() * 0.3)
            .collect(),
        ..MorphTarget::default()
    };
    (0..3).map(target).collect()
}

proptest! {
    #[test]
    fn every_skinned_vertex_is_inside(seed in any::<u64>(), vertices in 1_usize..60, joints in 1_usize..9) {
        let (mesh, influences) = random_mesh(vertices, joints, 4, seed);
        let numbers = &mut Numbers::new(seed);
        let skin = bind(&mesh, joints, &influences, &[]);
        let bounds = JointBounds::new(&skin, 0.0..=1.0);
        for palette in [rigid_palette(joints, seed), any_palette(joints, numbers), Palette::new(joints)] {
            let exact = exact(&skin, skin.rest(), &palette);
            prop_assert!(holds(&bounds.bounds(&palette), &exact), "{exact:?}");
        }
    }

    #[test]
    fn every_vertex_that_dual_quaternions_move_is_inside(
        seed in any::<u64>(), vertices in 1_usize..60, count in 1_usize..9, per_vertex in 1_usize..6,
    ) {
        let (mesh, influences) = random_mesh(vertices, count, per_vertex, seed);
        let foreign = bind(&mesh, count, &influences, &[]);
        let skeleton = joints(count).0;
        let bounds = MotionBounds::new(&foreign, 0.0..=1.0);
        let rest = bounds.bounds(&DualPalette::new(count));
        let slack = (rest.half_extents() - foreign.rest().bounds().half_extents()).norm();
        prop_assert!(slack < 1e-4, "{slack}");
        let mirror = Affine { linear: Mat3::from_diagonal(&Vec3::new(1.0, -1.0, 1.0)), ..Affine::IDENTITY };
        let scaled = Affine { linear: Mat3::identity() * 100.0, ..Affine::IDENTITY };
        for skin in [foreign.clone(), foreign.with_skeleton(&skeleton)] {
            let rigid = rigid_palette(count, seed);
            let stretched = any_palette(count, &mut Numbers::new(seed));
            for (mut palette, image) in [
                (rigid.clone(), Affine::IDENTITY),
                (rigid.clone(), mirror),
                (rigid, scaled),
                (stretched, Affine::IDENTITY),
            ] {
                (0..count).for_each(|place| palette.set(place, image * palette.get(place)));
                let mut motions = DualPalette::new(count);
                skin.dual_palette(&palette, &mut motions);
                let mut out = VertexBlocks::new(vertices);
                skin.dual_quaternion(skin.rest(), &motions, &mut out);
                let found = bounds.bounds(&motions);
                prop_assert!(holds(&found, &out.bounds()), "{found:?}");
            }
        }
    }

    #[test]
    fn every_morphed_vertex_is_inside(seed in any::<u64>(), low in -1.0_f32..0.0, high in 0.0_f32..2.0) {
        let (vertices, joints) = (40, 5);
        let (mesh, influences) = random_mesh(vertices, joints, 3, seed);
        let numbers = &mut Numbers::new(seed);
        let skin = bind(&mesh, joints, &influences, &targets(vertices, numbers));
        let bounds = JointBounds::new(&skin, low..=high);
        let palette = any_palette(joints, numbers);
        let mut morphed = VertexBlocks::new(vertices);
        for extreme in 0..9 {
            let weight = |target: u32| match extreme {
                8 => low + (high - low) * numbers.unit(),
                corner if corner >> target & 1 == 0 => low,
                _ => high,
            };
            let weights: Vec<f32> = (0..3).map(weight).collect();
            skin.morph(&weights, &mut morphed);
            let exact = exact(&skin, &morphed, &palette);
            prop_assert!(holds(&bounds.bounds(&palette), &exact), "{weights:?}");
        }
    }

    #[test]
    fn exact_bounds_are_those_of_a_plain_loop(seed in any::<u64>(), vertices in 0_usize..40) {
        let numbers = &mut Numbers::new(seed);
        let mut blocks = VertexBlocks::new(vertices);
        let mut expected = Aabb::EMPTY;
        for vertex in 0..vertices {
            // None near the origin, where spare lanes are.
            let position = numbers.vector() + Vec3::repeat(5.0);
            blocks.set_position(vertex, position);
            expected.min = expected.min.inf(&position);
            expected.max = expected.max.sup(&position);
        }
        prop_assert_eq!(blocks.bounds(), expected);
        prop_assert_eq!(expected.is_empty(), vertices == 0);
    }
}

#[test]
fn a_rigid_box_is_as_tight_as_a_box_can_be() {
    let corners = (0..8).map(|c: u8| {
        let side = |bit: u8| if c >> bit & 1 == 0 { -1.0 } else { 1.0 };
        Vec3::new(side(0), 2.0 * side(1), 3.0 * side(2))
    });
    let mesh = cloud(corners.collect(), vec![Vec3::y(); 8]);
    let skin = bind(&mesh, 1, &Influences::rigid(8), &[]);
    let mut palette = Palette::new(1);
    let turned = Transform {
        translation: Vec3::new(10.0, 0.0, 0.0),
        rotation: quat::from_axis_angle(Vec3::z(), std::f32::consts::FRAC_PI_2),
        ..Transform::IDENTITY
    };
    palette.set(0, turned.into());
    let found = JointBounds::new(&skin, 0.0..=1.0).bounds(&palette);
    // A quarter turn exchanges x and y.
    assert!((found.min - Vec3::new(8.0, -1.0, -3.0)).norm() < 1e-4);
    assert!((found.max - Vec3::new(12.0, 1.0, 3.0)).norm() < 1e-4);
}

#[test]
fn a_joint_far_away_widens_a_box_of_motions_by_no_more_than_its_weight() {
    let mesh = cloud(vec![Vec3::zeros(), Vec3::y()], vec![Vec3::y(); 2]);
    let influences = Influences {
        per_vertex: 2,
        joints: vec![0, 1, 0, 1],
        weights: vec![0.75, 0.25, 0.99, 0.01],
    };
    let skin = bind(&mesh, 2, &influences, &[]);
    let bounds = MotionBounds::new(&skin, 0.0..=1.0);
    let mut palette = Palette::new(2);
    palette.set(1, Transform::from_translation(10.0 * Vec3::x()).into());
    let mut motions = DualPalette::new(2);
    skin.dual_palette(&palette, &mut motions);
    let found = bounds.bounds(&motions);
    // A quarter of 10 m to either side, over 0.75, the least that a blend with a quarter of another quaternion is long.
    let expected = Vec3::new(0.25 * 10.0 / 0.75, 0.5 + 2.5 / 0.75, 2.5 / 0.75);
    let off = (found.half_extents() - expected).amax();
    assert!(off < 1e-3, "{off}");
}

#[test]
fn joints_without_vertices_do_not_count() {
    let mesh = cloud(vec![Vec3::x()], vec![Vec3::y()]);
    let skin = bind(&mesh, 2, &Influences::rigid(1), &[]);
    let mut palette = Palette::new(2);
    palette.set(1, Transform::from_translation(Vec3::repeat(1e6)).into());
    let found = JointBounds::new(&skin, 0.0..=1.0).bounds(&palette);
    assert!((found.center() - Vec3::x()).norm() < 1e-5 && found.half_extents().norm() < 1e-5);

    let empty = bind(
        &cloud(Vec::new(), Vec::new()),
        2,
        &Influences::rigid(0),
        &[],
    );
    let found = JointBounds::new(&empty, 0.0..=1.0).bounds(&palette);
    assert!(found.is_empty());
    assert!(!found.contains(Vec3::zeros()));
}
