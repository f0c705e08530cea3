//! All deformers side by side: volumes, rigid motions, normals, and the same bits everywhere.
#![allow(clippy::unwrap_used, reason = "a helper may fail as its test may")]

#[path = "../common/mod.rs"]
mod common;
mod shapes;
mod smoothing;

use anim_geom::{Mesh, primitives, topology};
use anim_math::lanes::Level;
use anim_math::{Affine, Mat3, Quat, Transform, Vec3, quat};
use anim_skin::{
    Aabb, Bulge, DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, Influences,
    JointBounds, Kernel, LogMotions, MorphTarget, MotionBounds, Palette, PoseSpace, RegionMask,
    RotationCenterOptions, RotationCenters, SkinError, SkinnedMesh, TangentBlocks, TangentMorphs,
    TangentTarget, VertexBlocks,
};
use rayon::ThreadPoolBuilder;

use common::{bind, rigid_palette};

/// Everything a frame needs, for one mesh.
struct Deformers {
    skin: SkinnedMesh,
    centers: RotationCenters,
    mask: RegionMask,
    mush: DeltaMush,
    #[cfg(feature = "solve")]
    direct: anim_skin::DirectDeltaMush,
}

impl Deformers {
    fn new(skin: SkinnedMesh) -> Self {
        let factors: Vec<f32> = (0..skin.vertex_count())
            .map(|v| (v % 3) as f32 / 2.0)
            .collect();
        Self {
            centers: RotationCenters::new(&skin, &RotationCenterOptions::default()),
            mask: RegionMask::new(&skin, &factors).unwrap(),
            mush: DeltaMush::new(&skin, &DeltaMushOptions::default()),
            #[cfg(feature = "solve")]
            direct: anim_skin::DirectDeltaMush::new(&skin, &Default::default()).unwrap(),
            skin,
        }
    }

    fn run(&self, palette: &Palette) -> Vec<(&'static str, VertexBlocks)> {
        let skin = &self.skin;
        let source = skin.rest();
        let motions = &mut DualPalette::new(palette.len());
        skin.dual_palette(palette, motions);
        let mut results = Vec::new();
        let mut add = |name, deform: &dyn Fn(&mut VertexBlocks)| {
            let mut out = VertexBlocks::new(skin.vertex_count());
            deform(&mut out);
            results.push((name, out));
        };
        add("linear", &|out| skin.linear(source, palette, out));
        add("dual", &|out| skin.dual_quaternion(source, motions, out));
        add("center", &|out| {
            self.centers.deform(skin, source, palette, motions, out)
        });
        add("blended", &|out| {
            skin.dual_quaternion_blended(source, palette, motions, &self.mask, out);
        });
        add("trs", &|out| skin.trs_blend(source, motions, out));
        add("spherical", &|out| {
            skin.spherical_blend(source, motions, out)
        });
        add("log", &|out| {
            let mut logs = LogMotions::new(palette.len());
            logs.set(motions);
            skin.log_blend(source, motions, &logs, out);
        });
        add("mush", &|out| {
            let mut base = VertexBlocks::new(skin.vertex_count());
            skin.linear(source, palette, &mut base);
            let scratch = &mut DeltaMushScratch::default();
            self.mush.deform(skin, &base, motions, scratch, out);
        });
        #[cfg(feature = "solve")]
        add("direct", &|out| {
            self.direct.deform(source, palette, motions, out)
        });
        results
    }

    /// A muscle that swells as a pose says, between the linear blend and centres by a mask; and boxes around either.
    fn shaped_and_mixed(&self, palette: &Palette) -> (f32, VertexBlocks, [Aabb; 3]) {
        let skin = &self.skin;
        let pose = |place| [palette.get(place).to_transform().rotation];
        let space = PoseSpace::new(&pose(0), &[pose(1).to_vec()], &[1.0], Kernel::Linear).unwrap();
        let half = [quat::slerp(pose(0)[0], pose(1)[0], 0.5)];
        let mut weights = [0.0];
        space.weights(&half, &mut weights);
        let bellies: Vec<f32> = (0..skin.vertex_count()).map(|v| (v % 5) as f32).collect();
        let bulge = Bulge::new(skin, &bellies, 0.01).unwrap();
        let mut source = skin.rest().clone();
        bulge.apply(1.0 - 0.5 * weights[0], &mut source);
        let [mut out, mut other] = [(); 2].map(|()| VertexBlocks::new(skin.vertex_count()));
        let motions = &mut DualPalette::new(palette.len());
        skin.dual_palette(palette, motions);
        skin.linear(&source, palette, &mut out);
        (self.centers).deform(skin, &source, palette, motions, &mut other);
        self.mask.mix(skin, &other, &mut out);
        let boxes = [
            JointBounds::new(skin, 0.0..=1.0).bounds(palette),
            MotionBounds::new(skin, 0.0..=1.0).bounds(motions),
            out.bounds(),
        ];
        (weights[0], out, boxes)
    }

    fn named(&self, name: &str, palette: &Palette) -> VertexBlocks {
        let mut results = self.run(palette).into_iter();
        results.find(|result| result.0 == name).unwrap().1
    }
}

/// Two joints at the origin, whose weights pass over in |y| < 1 by a smooth step.
fn weights_along_y(mesh: &Mesh) -> Influences {
    let weights = mesh.rest.positions.iter().flat_map(|p| {
        let s = (0.5 + 0.5 * p.y).clamp(0.0, 1.0);
        let s = s * s * (3.0 - 2.0 * s);
        [1.0 - s, s]
    });
    Influences {
        per_vertex: 2,
        joints: [0, 1].repeat(mesh.vertex_count()),
        weights: weights.collect(),
    }
}

fn two_joints(mesh: &Mesh) -> SkinnedMesh {
    bind(mesh, 2, &weights_along_y(mesh), &[])
}

fn turned(axis: Vec3, degrees: f32) -> Palette {
    let mut palette = Palette::new(2);
    let turn = quat::from_axis_angle(axis, degrees.to_radians());
    palette.set(1, Transform::from_rotation(turn).into());
    palette
}

fn volume(skin: &SkinnedMesh, surface: &VertexBlocks) -> f64 {
    let triangles = skin.triangles().iter().map(|corners| {
        let [a, b, c] = corners.map(|v| surface.position(v as usize).cast::<f64>());
        a.dot(&b.cross(&c)) / 6.0
    });
    triangles.sum()
}

fn distance(a: &VertexBlocks, b: &VertexBlocks) -> f32 {
    let vertices = 0..a.len();
    vertices.fold(0.0, |most, v| {
        most.max((a.position(v) - b.position(v)).norm())
    })
}

fn moved(motion: &Affine, blocks: &VertexBlocks) -> VertexBlocks {
    let mut out = blocks.clone();
    for vertex in 0..out.len() {
        out.set_position(vertex, motion.transform_point(blocks.position(vertex)));
        out.set_normal(vertex, motion.transform_vector(blocks.normal(vertex)));
    }
    out
}

fn cylinder() -> Deformers {
    Deformers::new(two_joints(&primitives::cylinder(0.5, 2.0, 32, 64)))
}

#[test]
fn a_twist_keeps_the_radius_in_the_middle_unless_blended_linearly() {
    let deformers = cylinder();
    let middle: Vec<usize> = (0..deformers.skin.vertex_count())
        .filter(|v| deformers.skin.rest().position(*v).y.abs() < 1e-6)
        .collect();
    assert_eq!(middle.len(), 33);
    for (degrees, linear) in [
        (45.0, 0.923_88),
        (90.0, std::f32::consts::FRAC_1_SQRT_2),
        (135.0, 0.382_683),
        (179.0, 0.008_727),
    ] {
        let palette = turned(Vec3::y(), degrees);
        for (name, expected) in [
            ("linear", linear),
            ("dual", 1.0),
            ("center", 1.0),
            ("spherical", 1.0),
            ("log", 1.0),
        ] {
            let surface = deformers.named(name, &palette);
            for vertex in &middle {
                let radius = surface.position(*vertex).xz().norm() / 0.5;
                // The expected values have six digits; centres lie on the axis to the rounding of their means.
                assert!(
                    (radius - expected).abs() < 4e-6,
                    "{name} {degrees}: {radius}"
                );
            }
        }
    }
}

#[test]
fn twists_and_bends_keep_the_volumes_of_the_table() {
    let deformers = cylinder();
    let rest = volume(&deformers.skin, deformers.skin.rest());
    let axes = [Vec3::y(), Vec3::z()];
    // Bends by half a turn are taken a little short of it, where the way round is not a matter of rounding.
    let table = [
        ("linear", [0.8707, 0.7425], [0.9354, 0.8898, 0.8708]),
        ("dual", [0.9989, 0.9973], [0.9996, 0.9991, 0.9984]),
        ("center", [0.9989, 0.9973], [0.9957, 0.9812, 0.9506]),
    ];
    let half_turn = 179.99;
    for (name, twist, bend) in table {
        let cases = [
            (axes[0], 90.0, twist[0]),
            (axes[0], half_turn, twist[1]),
            (axes[1], 90.0, bend[0]),
            (axes[1], 135.0, bend[1]),
            (axes[1], half_turn, bend[2]),
        ];
        for (axis, degrees, expected) in cases {
            let surface = deformers.named(name, &turned(axis, degrees));
            let found = volume(&deformers.skin, &surface) / rest;
            // The table has four digits of a mesh whose quads are split the other way: facets of 1/32 of a turn and of 1/16
            // of a radius differ by the square of that between the two diagonals.
            assert!(
                (found - expected).abs() < 1e-3,
                "{name} {degrees} about {axis:?}: {found}"
            );
        }
    }
}

#[test]
fn no_motion_changes_nothing() {
    let deformers = cylinder();
    for (name, surface) in deformers.run(&Palette::new(2)) {
        assert!(distance(&surface, deformers.skin.rest()) < 1e-6, "{name}");
    }
}

#[test]
fn one_motion_of_all_joints_is_that_motion() {
    let deformers = cylinder();
    let motion = rigid_palette(1, 5).get(0);
    let mut palette = Palette::new(2);
    (0..2).for_each(|place| palette.set(place, motion));
    let expected = moved(&motion, deformers.skin.rest());
    for (name, surface) in deformers.run(&palette) {
        // Some ten roundings of coordinates up to 4.
        assert!(distance(&surface, &expected) < 5e-6, "{name}");
        for vertex in 0..surface.len() {
            let error = (surface.normal(vertex) - expected.normal(vertex)).norm();
            assert!(error < 1e-5, "{name} {vertex}: {error}");
        }
    }
}

#[test]
fn a_motion_after_a_pose_moves_the_result() {
    let deformers = cylinder();
    let motion = rigid_palette(1, 6).get(0);
    let palette = turned(Vec3::new(0.6, 0.8, 0.0), 70.0);
    let mut after = Palette::new(2);
    (0..2).for_each(|place| after.set(place, motion * palette.get(place)));
    let results = deformers
        .run(&palette)
        .into_iter()
        .zip(deformers.run(&after));
    for ((name, before), (_, after)) in results {
        let error = distance(&after, &moved(&motion, &before));
        // Logarithms depend on the frame they are taken in.
        assert_eq!(error < 1e-5, name != "log", "{name}: {error}");
    }
}

/// Joints away from the origin: where they stretch from, a scale that they share must not show.
#[test]
fn a_scale_of_the_whole_figure_scales_the_result() {
    let mesh = primitives::cylinder(0.5, 2.0, 32, 64);
    let places = [Vec3::new(0.1, -2.0, 0.0), Vec3::new(0.2, 0.1, -0.1)];
    let binds = places.map(|place| Affine::from(Transform::from_translation(-place)));
    let two = two_joints(&mesh);
    let skin = SkinnedMesh::new(&mesh, two.joints(), &binds, &weights_along_y(&mesh), &[]).unwrap();
    let deformers = Deformers::new(skin);
    let turn = quat::from_axis_angle(Vec3::new(0.6, 0.8, 0.0), 1.2);
    let about = Transform {
        rotation: turn,
        ..Transform::from_translation(places[1] - turn * places[1])
    };
    let mut palette = Palette::new(2);
    palette.set(1, about.into());
    for scale in [0.01, 0.5, 3.0] {
        let motion = Affine::from(Transform {
            scale: Vec3::repeat(scale),
            ..rigid_palette(1, 6).get(0).to_transform()
        });
        let mut after = Palette::new(2);
        (0..2).for_each(|place| after.set(place, motion * palette.get(place)));
        let results = deformers.run(&palette).into_iter();
        for ((name, before), (_, after)) in results.zip(deformers.run(&after)) {
            let apart = (0..before.len()).map(|vertex| {
                let expected = motion.transform_point(before.position(vertex));
                (after.position(vertex) - expected).norm()
            });
            let error = apart.fold(0.0, f32::max);
            // Some tens of roundings of 2 m, scaled, and of how far the motion takes them; logarithms depend on their frame.
            let tolerance = 1e-5 * scale.max(1.0);
            assert_eq!(error < tolerance, name != "log", "{name} {scale}: {error}");
        }
    }
}

#[test]
fn uneven_scale_of_one_joint_turns_normals_by_the_cofactors() {
    let mesh = primitives::sphere(1.0, 16, 12);
    let deformers = Deformers::new(bind(&mesh, 1, &Influences::rigid(mesh.vertex_count()), &[]));
    for sign in [1.0, -1.0] {
        let scale = Vec3::new(sign, 3.0, 0.5);
        let mut palette = Palette::new(1);
        let turn = quat::from_axis_angle(Vec3::new(0.0, 0.6, 0.8), 1.0);
        let linear = turn.to_rotation_matrix().matrix() * Mat3::from_diagonal(&scale);
        palette.set(
            0,
            Affine {
                linear,
                ..Affine::IDENTITY
            },
        );
        for name in [
            "linear",
            "dual",
            "center",
            "blended",
            "trs",
            "spherical",
            "log",
            "mush",
            #[cfg(feature = "solve")]
            "direct",
        ] {
            let surface = deformers.named(name, &palette);
            for vertex in 0..surface.len() {
                let rest = deformers.skin.rest().normal(vertex);
                let expected = (turn * rest.component_div(&scale)).normalize();
                // Eight roundings, and the rotation found to 1e-6.
                let error = (surface.normal(vertex) - expected).norm();
                assert!(error < 1e-5, "{name} {vertex}: {error}");
                let place = linear * deformers.skin.rest().position(vertex);
                assert!(
                    (surface.position(vertex) - place).norm() < 1e-5,
                    "{name} {vertex}"
                );
            }
        }
    }
}

/// Files that store meshes in other units have the scale in their bind matrices, mirrored ones a reflection.
#[test]
fn a_mesh_bound_in_other_units_or_mirrored_is_deformed_the_same() {
    let mesh = primitives::tube(0.5, 4.0, 16, 32);
    let palette = turned(Vec3::new(0.6, 0.8, 0.0), 70.0);
    let expected = Deformers::new(two_joints(&mesh)).run(&palette);
    for stored in [
        Vec3::repeat(0.01),
        Vec3::repeat(100.0),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(-0.01, 0.01, 0.01),
        Vec3::new(2.0, 0.5, -1.0),
    ] {
        let mut other = mesh.clone();
        for position in &mut other.rest.positions {
            position.component_mul_assign(&stored);
        }
        for normal in &mut other.rest.normals {
            *normal = normal.component_div(&stored).normalize();
        }
        if stored.product() < 0.0 {
            other.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        // The weights are those of the first mesh: bound by the order of vertices.
        let skin = bind(&other, 2, &weights_along_y(&mesh), &[]);
        let back = Affine {
            linear: Mat3::from_diagonal(&stored.map(|scale| 1.0 / scale)),
            ..Affine::IDENTITY
        };
        let mut scaled = Palette::new(2);
        (0..2).for_each(|joint| scaled.set(joint, palette.get(joint) * back));
        for ((name, surface), (_, expected)) in
            Deformers::new(skin).run(&scaled).iter().zip(&expected)
        {
            // Stored unlike in different directions, triangles have other areas for centres, and a joint's logarithm is that of
            // another turn; normals by cofactors see that a mean of two rotations is none.
            let is_similar = stored.x.abs() == stored.y.abs() && stored.y.abs() == stored.z.abs();
            if !is_similar && ["center", "log", "linear", "blended"].contains(name) {
                continue;
            }
            for vertex in 0..surface.len() {
                // Some twenty roundings of numbers of 2 m, and a normal's by facets of a tenth of that.
                let error = (surface.position(vertex) - expected.position(vertex)).norm();
                assert!(error < 5e-6, "{name} {stored:?} {vertex}: {error}");
                let error = (surface.normal(vertex) - expected.normal(vertex)).norm();
                assert!(error < 5e-6, "{name} {stored:?} {vertex}: normal {error}");
            }
        }
    }
}

#[test]
fn instruction_sets_and_threads_change_no_bit() {
    let best = cylinder();
    let baseline = Deformers {
        skin: best.skin.clone().with_level(Level::baseline()),
        ..cylinder()
    };
    let palette = turned(Vec3::new(0.6, 0.8, 0.0), 100.0);
    assert!(best.run(&palette) == baseline.run(&palette));
    assert!(best.shaped_and_mixed(&palette) == baseline.shaped_and_mixed(&palette));

    // More than a chunk of 8,192 vertices, and for centres more than two of 16,384.
    let long = Deformers::new(two_joints(&primitives::tube(0.5, 4.0, 60, 140)));
    let skin = two_joints(&primitives::tube(0.5, 8.0, 100, 330));
    let centers = RotationCenters::new(&skin, &RotationCenterOptions::default());
    let mut motions = DualPalette::new(2);
    skin.dual_palette(&palette, &mut motions);
    let on = |threads| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let mut out = VertexBlocks::new(skin.vertex_count());
        pool.install(|| {
            centers.deform(&skin, skin.rest(), &palette, &motions, &mut out);
            (long.run(&palette), long.shaped_and_mixed(&palette), out)
        })
    };
    assert!(on(1) == on(2));
}

#[test]
fn centres_of_a_straight_tube_lie_on_its_axis() {
    let deformers = cylinder();
    let rest = deformers.skin.rest();
    let mut blended = 0;
    for vertex in 0..rest.len() {
        let (center, place) = (deformers.centers.center(vertex), rest.position(vertex));
        if place.y.abs() < 0.8 {
            blended += 1;
            assert!(center.xz().norm() < 1e-5, "{center}");
            // Similar weights reach some rings of 1/16 to both sides, farther where they change slowly.
            assert!(
                (center.y - place.y).abs() < 2.0 / 16.0,
                "{center} of {place}"
            );
        } else if place.y.abs() > 1.0 {
            assert_eq!(center, place);
        }
    }
    assert!(blended > 800);
}

#[test]
fn joint_boxes_grown_by_twice_the_reach_hold_what_turns_about_centres() {
    let deformers = cylinder();
    let boxes = JointBounds::new(&deformers.skin, 0.0..=1.0);
    let reach = deformers.centers.reach(&deformers.skin);
    // Half a metre to the axis; where weights fade out, what resembles them lies nearer the middle, at most a metre along.
    assert!((0.5..1.25_f32.sqrt()).contains(&reach), "{reach}");
    for seed in 0..40 {
        let palette = rigid_palette(2, seed);
        let mut grown = boxes.bounds(&palette);
        grown.min.add_scalar_mut(-2.0 * reach - 1e-5);
        grown.max.add_scalar_mut(2.0 * reach + 1e-5);
        let mut motions = DualPalette::new(2);
        let mut out = VertexBlocks::new(deformers.skin.vertex_count());
        deformers.skin.dual_palette(&palette, &mut motions);
        let (skin, centers) = (&deformers.skin, &deformers.centers);
        centers.deform(skin, skin.rest(), &palette, &motions, &mut out);
        assert_eq!(grown.union(&out.bounds()), grown, "{seed}");
    }
}

#[test]
fn a_chain_that_twists_by_240_degrees_turns_ring_by_ring() {
    let mesh = primitives::tube(0.5, 2.0, 16, 64);
    // Hats of a metre about joints at -1, 0 and 1.
    let weights = mesh.rest.positions.iter().flat_map(|p| {
        let y = p.y.clamp(-1.0, 1.0);
        [(-y).max(0.0), 1.0 - y.abs(), y.max(0.0)]
    });
    let influences = Influences {
        per_vertex: 3,
        joints: [0, 1, 2].repeat(mesh.vertex_count()),
        weights: weights.collect(),
    };
    let deformers = Deformers::new(bind(&mesh, 3, &influences, &[]));
    let mut palette = Palette::new(3);
    for place in 0..3 {
        let turn = quat::from_axis_angle(Vec3::y(), (120.0 * place as f32).to_radians());
        palette.set(place, Transform::from_rotation(turn).into());
    }
    for name in ["dual", "center"] {
        let surface = deformers.named(name, &palette);
        let angle = |ring: usize| {
            let place = surface.position(deformers.skin.vertex_from_source()[ring * 17] as usize);
            assert!(
                (place.xz().norm() - 0.5).abs() < 1e-5,
                "{name} {ring}: {place}"
            );
            (-place.z).atan2(place.x)
        };
        let steps = (0..64).map(|ring| {
            (angle(ring + 1) - angle(ring))
                .to_degrees()
                .rem_euclid(360.0)
        });
        let (mut sum, mut most) = (0.0, 0.0_f32);
        for step in steps {
            let step = if step > 359.9 { step - 360.0 } else { step };
            sum += step;
            most = most.max(step);
        }
        // 120° over sixteen rings are 7.5° a ring; the quaternions' chord runs up to sin(60°)/cos(60°)/(π/3) times as fast
        // in its middle, 12.4°.
        assert!(
            (sum - 240.0).abs() < 0.1 && most < 12.5,
            "{name}: {sum} {most}"
        );
    }
}

#[test]
fn grouped_and_clustered_centres_are_those_of_all_triangles() {
    let deformers = cylinder();
    let (skin, centers) = (&deformers.skin, &deformers.centers);
    let exact = RotationCenterOptions {
        cluster: 0.0,
        ..RotationCenterOptions::default()
    };
    let exact = RotationCenters::new(skin, &exact);
    // The definition, over every triangle in the order of the mesh.
    let weight = |v: u32| {
        let s = (0.5 + 0.5 * f64::from(skin.rest().position(v as usize).y)).clamp(0.0, 1.0);
        s * s * (3.0 - 2.0 * s)
    };
    for vertex in (0..skin.vertex_count() as u32).step_by(37) {
        let w = weight(vertex);
        if !(0.01..0.99).contains(&w) {
            continue;
        }
        let (mut sum, mut mass) = (anim_math::nalgebra::Vector3::zeros(), 0.0);
        for corners in skin.triangles() {
            let t = corners.map(weight).iter().sum::<f64>() / 3.0;
            let [a, b, c] = corners.map(|v| skin.rest().position(v as usize).cast::<f64>());
            let apart = (w * (1.0 - t) - (1.0 - w) * t) / 0.1;
            let share = w
                * (1.0 - w)
                * t
                * (1.0 - t)
                * (-apart * apart).exp()
                * (b - a).cross(&(c - a)).norm();
            sum += (a + b + c) / 3.0 * share;
            mass += share;
        }
        let found = exact.center(vertex as usize).cast::<f64>();
        // Weights are stored in f32: 1e-7 over a falloff of 0.1.
        assert!((found - sum / mass).norm() < 1e-5, "{vertex}");
        // Cells of a tenth of the falloff move a centre by less than half a ring.
        let clustered = centers.center(vertex as usize).cast::<f64>();
        assert!((clustered - found).norm() < 0.02, "{vertex}");
    }
}
