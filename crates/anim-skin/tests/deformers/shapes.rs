//! What is shaped by hand: corrective shapes, regions, muscles; and tangents.

use super::*;

#[test]
fn an_elbow_gets_its_volume_back_from_a_sculpt_at_ninety_degrees() {
    let mesh = primitives::cylinder(0.5, 2.0, 32, 64);
    let bare = two_joints(&mesh);
    let bent = turned(Vec3::z(), 90.0);
    // The sculpt is what dual quaternions make of the bend.
    let deformers = Deformers::new(bare);
    let sculpt = deformers.named("dual", &bent);
    let target = deformers.skin.corrective(&bent, &sculpt);
    assert!(target.vertices.len() > 500 && target.vertices.len() < mesh.vertex_count());
    let linear = deformers.named("linear", &bent);
    let rest = volume(&deformers.skin, deformers.skin.rest());
    let elbow = |degrees: f32| [quat::from_axis_angle(Vec3::z(), degrees.to_radians())];
    let space =
        PoseSpace::new(&elbow(0.0), &[elbow(90.0).to_vec()], &[1.0], Kernel::Linear).unwrap();

    let weights = mesh.rest.positions.iter().flat_map(|p| {
        let s = (0.5 + 0.5 * p.y).clamp(0.0, 1.0);
        let s = s * s * (3.0 - 2.0 * s);
        [1.0 - s, s]
    });
    let influences = Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(mesh.vertex_count()),
        weights: weights.collect(),
    };
    let skin = bind(&mesh, 2, &influences, &[target]);
    let mut out = VertexBlocks::new(skin.vertex_count());
    let mut at = |degrees: f32| {
        let mut weights = [0.0];
        let mut morphed = VertexBlocks::new(skin.vertex_count());
        space.weights(&elbow(degrees), &mut weights);
        skin.morph(&weights, &mut morphed);
        skin.linear(&morphed, &turned(Vec3::z(), degrees), &mut out);
        out.clone()
    };
    // A ridge of 1e-6, and roundings through an inverse whose condition is √2.
    assert!(distance(&at(90.0), &sculpt) < 1e-5);
    assert!(distance(&at(0.0), skin.rest()) < 1e-5);
    let lost = 1.0 - volume(&skin, &linear) / rest;
    let halfway = at(60.0);
    let uncorrected = deformers.named("linear", &turned(Vec3::z(), 60.0));
    assert!(lost > 0.06 && volume(&skin, &halfway) > volume(&skin, &uncorrected));
}

#[test]
fn a_sculpt_comes_back_normals_too_by_dual_quaternions_and_linearly() {
    let mesh = primitives::cylinder(0.5, 2.0, 32, 64);
    let skin = two_joints(&mesh);
    let mut bent = turned(Vec3::z(), 120.0);
    // Rigid joints, and one stretched by a half.
    let mut stretched = bent.clone();
    let scale = Affine {
        linear: Mat3::from_diagonal(&Vec3::new(1.5, 1.0, 1.0)),
        ..Affine::IDENTITY
    };
    stretched.set(1, bent.get(1) * scale);
    bent.set(0, Transform::from_translation(Vec3::y()).into());
    for (palette, is_linear) in [
        (&bent, false),
        (&stretched, false),
        (&bent, true),
        (&stretched, true),
    ] {
        let mut motions = DualPalette::new(2);
        skin.dual_palette(palette, &mut motions);
        let skinned_from = |source: &VertexBlocks| {
            let mut out = VertexBlocks::new(skin.vertex_count());
            if is_linear {
                skin.linear(source, palette, &mut out);
            } else {
                skin.dual_quaternion(source, &motions, &mut out);
            }
            out
        };
        let skinned = skinned_from(skin.rest());
        // A bump at the elbow, with normals that lean.
        let mut sculpt = skinned.clone();
        let bumped = (0..sculpt.len()).filter(|v| skin.rest().position(*v).y.abs() < 0.5);
        for vertex in bumped.clone() {
            let normal = skinned.normal(vertex);
            sculpt.set_position(vertex, skinned.position(vertex) + normal * 0.1);
            sculpt.set_normal(vertex, (normal + Vec3::new(0.2, 0.1, 0.3)).normalize());
        }
        let target = if is_linear {
            skin.corrective(palette, &sculpt)
        } else {
            skin.corrective_dual_quaternion(&motions, &sculpt)
        };
        assert_eq!(target.vertices.len(), bumped.count());
        let mut morphed = skin.rest().clone();
        for (place, source) in target.vertices.iter().enumerate() {
            let vertex = skin.vertex_from_source()[*source as usize] as usize;
            morphed.set_position(vertex, morphed.position(vertex) + target.positions[place]);
            morphed.set_normal(vertex, morphed.normal(vertex) + target.normals[place]);
        }
        let skinned = skinned_from(&morphed);
        for vertex in 0..sculpt.len() {
            // Some twenty roundings of size 2 to 4.
            let error = (skinned.position(vertex) - sculpt.position(vertex)).norm();
            assert!(error < 1e-5, "{vertex}: {error}");
            let error = (skinned.normal(vertex) - sculpt.normal(vertex)).norm();
            assert!(error < 1e-5, "normal {vertex}: {error}");
        }
    }
}

#[test]
fn shapes_have_their_own_poses_whatever_the_kernel() {
    let pose = |x: f32, y: f32| {
        vec![
            quat::from_axis_angle(Vec3::x(), x),
            quat::from_axis_angle(Vec3::y(), y),
        ]
    };
    let poses = [
        pose(1.0, 0.0),
        pose(0.0, 1.2),
        pose(1.0, 1.0),
        pose(-0.5, 0.3),
    ];
    for kernel in [Kernel::Linear, Kernel::Gaussian] {
        let space = PoseSpace::new(&pose(0.0, 0.0), &poses, &[1.0, 2.0], kernel).unwrap();
        let mut weights = [0.0; 4];
        for (place, at) in [pose(0.0, 0.0)].iter().chain(&poses).enumerate() {
            space.weights(at, &mut weights);
            for (shape, weight) in weights.iter().enumerate() {
                let expected = if shape + 1 == place { 1.0 } else { 0.0 };
                assert!(
                    (weight - expected).abs() < 1e-4,
                    "{kernel:?} {place} {weights:?}"
                );
            }
            // A quaternion and its negative are one pose.
            let negative: Vec<Quat> = at
                .iter()
                .map(|q| Quat::new_unchecked(-q.into_inner()))
                .collect();
            let mut again = [0.0; 4];
            space.weights(&negative, &mut again);
            assert_eq!(again, weights);
        }
        let twice = [pose(1.0, 0.0), pose(1.0, 0.0)];
        let error = PoseSpace::new(&pose(0.0, 0.0), &twice, &[1.0; 2], kernel);
        assert_eq!(
            error,
            Err(SkinError::SamePose {
                pose: 1,
                other: Some(0)
            })
        );
        let error = PoseSpace::new(&pose(0.0, 0.0), &[pose(0.0, 0.0)], &[1.0; 2], kernel);
        assert_eq!(
            error,
            Err(SkinError::SamePose {
                pose: 0,
                other: None
            })
        );
    }
}

#[test]
fn masks_give_each_vertex_its_deformer() {
    let deformers = cylinder();
    let palette = turned(Vec3::y(), 120.0);
    let surface = deformers.named("blended", &palette);
    let (linear, dual) = (
        deformers.named("linear", &palette),
        deformers.named("dual", &palette),
    );
    for vertex in 0..surface.len() {
        let factor = deformers.mask.factor(vertex);
        let expected = linear.position(vertex).lerp(&dual.position(vertex), factor);
        assert!((surface.position(vertex) - expected).norm() < 1e-6);
    }
    let skin = &deformers.skin;
    for (factor, expected) in [(0.0, &linear), (1.0, &dual)] {
        let mask = RegionMask::new(skin, &vec![factor; skin.vertex_count()]).unwrap();
        let mut motions = DualPalette::new(2);
        skin.dual_palette(&palette, &mut motions);
        let mut out = VertexBlocks::new(skin.vertex_count());
        skin.dual_quaternion_blended(skin.rest(), &palette, &motions, &mask, &mut out);
        assert_eq!(&out, expected);
    }
    assert!(matches!(
        RegionMask::new(skin, &[1.0]),
        Err(SkinError::Count { .. })
    ));
}

#[test]
fn a_muscle_at_half_its_length_has_twice_the_cross_section() {
    let deformers = cylinder();
    let ones = vec![1.0; deformers.skin.vertex_count()];
    let bulge = Bulge::new(&deformers.skin, &ones, 0.5).unwrap();
    let mut out = deformers.skin.rest().clone();
    bulge.apply(0.5, &mut out);
    for vertex in 0..out.len() {
        let rest = deformers.skin.rest().position(vertex);
        if rest.y.abs() < 1.9 {
            assert!((out.position(vertex).xz().norm_squared() - 0.5).abs() < 1e-5);
        }
    }
    let mut still = deformers.skin.rest().clone();
    bulge.apply(1.0, &mut still);
    assert_eq!(&still, deformers.skin.rest());
}

#[test]
fn tangents_stay_on_the_surface_and_know_mirrors() {
    let mesh = primitives::sphere(1.0, 16, 12);
    let skin = two_joints(&mesh);
    let around = |n: &Vec3| {
        let t = quat::any_perpendicular(n.normalize());
        [t.x, t.y, t.z, 1.0]
    };
    let tangents: Vec<[f32; 4]> = mesh.rest.normals.iter().map(around).collect();
    let rest = TangentBlocks::new(&skin, &tangents).unwrap();
    for sign in [1.0, -1.0] {
        let mut palette = turned(Vec3::z(), 40.0);
        let scale = Affine {
            linear: Mat3::from_diagonal(&Vec3::new(sign, 2.0, 0.5)),
            ..Affine::IDENTITY
        };
        (0..2).for_each(|place| palette.set(place, palette.get(place) * scale));
        let mut surface = VertexBlocks::new(skin.vertex_count());
        skin.linear(skin.rest(), &palette, &mut surface);
        let mut out = rest.clone();
        skin.tangents(&rest, &palette, &surface, &mut out);
        for vertex in 0..skin.vertex_count() {
            let [x, y, z, w] = out.tangent(vertex);
            let tangent = Vec3::new(x, y, z);
            assert!((tangent.norm() - 1.0).abs() < 1e-6);
            assert!(tangent.dot(&surface.normal(vertex)).abs() < 1e-5);
            assert_eq!(w, sign);
        }
    }
}

/// A sheet whose target tilts it into a slope of 45°: displaced tangents follow the slope, and lie on it once skinned.
#[test]
fn tangents_of_a_target_follow_its_slope() {
    let sheet = primitives::grid(9, 7, 0.1);
    let count = sheet.vertex_count();
    let vertices: Vec<u32> = (0..count as u32).collect();
    let lifted = |v: &u32| Vec3::y() * sheet.rest.positions[*v as usize].x;
    let target = MorphTarget {
        name: None,
        positions: vertices.iter().map(lifted).collect(),
        normals: vec![-Vec3::x(); count],
        vertices: vertices.clone(),
    };
    let skin = bind(&sheet, 1, &Influences::rigid(count), &[target]);
    let rest = TangentBlocks::new(&skin, &vec![[1.0, 0.0, 0.0, -1.0]; count]).unwrap();
    let tilt = TangentTarget {
        vertices,
        tangents: vec![Vec3::y(); count],
    };
    let morphs = TangentMorphs::new(&skin, std::slice::from_ref(&tilt)).unwrap();
    let (mut morphed, mut out) = (rest.clone(), rest.clone());
    let mut surface = VertexBlocks::new(count);
    for (weight, slope) in [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (-2.0, -2.0_f32)] {
        skin.morph(&[weight], &mut surface);
        morphs.morph(&[weight], &rest, &mut morphed);
        skin.tangents(&morphed, &skin.palette_buffer(), &surface, &mut out);
        let length = (1.0 + slope * slope).sqrt();
        for vertex in 0..count {
            let [x, y, z, w] = out.tangent(vertex);
            let error = Vec3::new(x - 1.0 / length, y - slope / length, z).norm();
            assert!(error < 1e-6 && w == -1.0, "{error}");
        }
    }
    let beyond = TangentTarget {
        vertices: vec![count as u32],
        tangents: vec![Vec3::y()],
    };
    assert!(TangentMorphs::new(&skin, &[tilt, beyond]).is_err());
}
