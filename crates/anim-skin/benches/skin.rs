//! Skinning and morphing of 10,000 and 50,000 vertices, positions and normals; throughput in vertices.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "criterion's macros document nothing, and a benchmark prints, and may fail"
)]

use std::hint::black_box;
use std::time::Duration;

use anim_geom::{Mesh, Vertices};
use anim_math::lanes::Level;
use anim_math::{Affine, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Skeleton};
use anim_skin::{
    DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, Influences, LogMotions,
    MorphTarget, Palette, RegionMask, RotationCenterOptions, RotationCenters, SkinnedMesh,
    TangentBlocks, VertexBlocks,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const LIMBS: usize = 10;
const JOINTS_A_LIMB: usize = 6;
const JOINTS: usize = LIMBS * JOINTS_A_LIMB;
const AROUND: usize = 25;
const RINGS: usize = 40;
const VERTICES: usize = LIMBS * RINGS * AROUND;

/// Ten tubes of six joints: weights pass from each joint to the next, three where limbs bend most.
fn character(around: usize) -> (Mesh, Influences) {
    let mut mesh = Mesh::default();
    let mut influences = Influences {
        per_vertex: 3,
        ..Influences::default()
    };
    for limb in 0..LIMBS {
        for ring in 0..RINGS {
            let along = ring as f32 / RINGS as f32 * (JOINTS_A_LIMB - 1) as f32;
            let joint = (along as usize).min(JOINTS_A_LIMB - 2);
            let part = along - joint as f32;
            let third = if ring % 3 == 0 { 0.1 } else { 0.0 };
            let other = (joint + 2).min(JOINTS_A_LIMB - 1);
            for step in 0..around {
                let turn = quat::from_axis_angle(
                    Vec3::y(),
                    step as f32 / around as f32 * std::f32::consts::TAU,
                );
                let normal = turn * Vec3::x();
                let base = Vec3::new(limb as f32, along * 0.2, 0.0);
                mesh.rest.positions.push(base + normal * 0.1);
                mesh.rest.normals.push(normal);
                let first = limb * JOINTS_A_LIMB;
                influences
                    .joints
                    .extend([joint, joint + 1, other].map(|j| (first + j) as u16));
                influences.weights.extend([1.0 - part, part, third]);
            }
        }
    }
    for limb in 0..LIMBS {
        for ring in 0..RINGS - 1 {
            for step in 0..around {
                let vertex = |ring: usize, step: usize| {
                    ((limb * RINGS + ring) * around + step % around) as u32
                };
                let [a, b] = [vertex(ring, step), vertex(ring, step + 1)];
                let [c, d] = [vertex(ring + 1, step), vertex(ring + 1, step + 1)];
                mesh.triangles.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    (mesh, influences)
}

/// Four joints a vertex without any coherence: the worst case.
fn random_influences() -> Influences {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as u16
    };
    Influences {
        per_vertex: 4,
        joints: (0..4 * VERTICES).map(|_| next() % JOINTS as u16).collect(),
        weights: (0..4 * VERTICES)
            .map(|_| f32::from(next() % 1000 + 1))
            .collect(),
    }
}

/// 52 shapes that each move a tenth of the mesh, normals too.
fn shapes() -> Vec<MorphTarget> {
    let moved = VERTICES / 10;
    (0..52)
        .map(|shape| {
            let first = shape * 173;
            MorphTarget {
                name: None,
                vertices: (first..first + moved)
                    .map(|v| (v % VERTICES) as u32)
                    .collect(),
                positions: vec![Vec3::new(0.01, 0.02, 0.0); moved],
                normals: vec![Vec3::new(0.1, 0.0, 0.05); moved],
            }
        })
        .collect()
}

fn skeleton() -> Skeleton {
    let joint = |joint: usize| JointSpec {
        name: None,
        parent: (!joint.is_multiple_of(JOINTS_A_LIMB)).then(|| joint - 1),
        rest: Transform {
            rotation: quat::from_axis_angle(Vec3::z(), 0.02 * joint as f32),
            ..Transform::from_translation(0.2 * Vec3::y())
        },
    };
    Skeleton::new((0..JOINTS).map(joint).collect()).unwrap()
}

fn bind(mesh: &Mesh, influences: &Influences, targets: &[MorphTarget]) -> SkinnedMesh {
    let skeleton = skeleton();
    let joints: Vec<_> = (0..JOINTS).map(|joint| skeleton.joint(joint)).collect();
    SkinnedMesh::new(
        mesh,
        &joints,
        &[Affine::IDENTITY; JOINTS],
        influences,
        targets,
    )
    .unwrap()
}

fn skin(criterion: &mut Criterion) {
    let (mesh, influences) = character(AROUND);
    let skeleton = skeleton();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);

    let foreign = bind(&mesh, &influences, &[]);
    let tubes = bind(&mesh, &influences, &shapes()).with_skeleton(&skeleton);
    let random = bind(&mesh, &random_influences(), &[]).with_skeleton(&skeleton);
    let mut palette = Palette::new(JOINTS);
    let mut out = VertexBlocks::new(VERTICES);
    tubes.palette(&globals, &mut palette);
    let mut stretched = palette.clone();
    for place in 0..JOINTS {
        let stretch = Transform {
            scale: Vec3::new(1.0, 1.2, 1.0),
            ..Transform::IDENTITY
        };
        stretched.set(place, palette.get(place) * Affine::from(stretch));
    }

    // What a machine without AVX-512 does.
    let avx2 = Level::new().as_avx2().map_or(Level::new(), Level::Avx2);
    let tubes_avx2 = tubes.clone().with_level(avx2);
    let mut group = criterion.benchmark_group("anim-skin");
    group.throughput(Throughput::Elements(VERTICES as u64));
    let cases = [
        ("linear/10k", &tubes, &palette),
        (
            "linear_baseline/10k",
            &tubes.clone().with_level(Level::baseline()),
            &palette,
        ),
        ("linear_avx2/10k", &tubes_avx2, &palette),
        ("linear_cofactors/10k", &tubes, &stretched),
        ("linear_random4/10k", &random, &palette),
    ];
    // What is asked of the linear blend depends on it.
    let level = match (Level::new().as_avx512(), Level::new().as_avx2()) {
        (Some(_), _) => "AVX-512",
        (None, Some(_)) => "AVX2",
        (None, None) => "SSE2",
    };
    for size in ["10k", "50k"] {
        eprintln!("anim-metric: anim-skin/linear/{size} level {level}");
    }
    for (name, skin, palette) in cases {
        group.bench_function(name, |bencher| {
            bencher.iter(|| skin.linear(skin.rest(), black_box(palette), &mut out));
        });
    }
    let mut motions = DualPalette::new(JOINTS);
    tubes.dual_palette(&palette, &mut motions);
    let mut stretched_motions = motions.clone();
    let mut foreign_motions = motions.clone();
    foreign.dual_palette(&palette, &mut foreign_motions);
    tubes.dual_palette(&stretched, &mut stretched_motions);
    let cases = [
        ("dual_quaternion/10k", &tubes, &motions),
        ("dual_quaternion_foreign/10k", &foreign, &foreign_motions),
        (
            "dual_quaternion_baseline/10k",
            &tubes.clone().with_level(Level::baseline()),
            &motions,
        ),
        ("dual_quaternion_stretched/10k", &tubes, &stretched_motions),
        ("dual_quaternion_random4/10k", &random, &motions),
    ];
    for (name, skin, motions) in cases {
        group.bench_function(name, |bencher| {
            bencher.iter(|| skin.dual_quaternion(skin.rest(), black_box(motions), &mut out));
        });
    }
    let centers = RotationCenters::new(&tubes, &RotationCenterOptions::default());
    let cases = [
        ("rotation_center/10k", tubes.clone(), &palette, &motions),
        (
            "rotation_center_baseline/10k",
            tubes.clone().with_level(Level::baseline()),
            &palette,
            &motions,
        ),
        (
            "rotation_center_stretched/10k",
            tubes.clone(),
            &stretched,
            &stretched_motions,
        ),
    ];
    for (name, skin, palette, motions) in &cases {
        group.bench_function(*name, |bencher| {
            let deform = |out: &mut _| centers.deform(skin, skin.rest(), palette, motions, out);
            bencher.iter(|| deform(black_box(&mut out)));
        });
    }
    let mask = RegionMask::new(&tubes, &vec![0.5; VERTICES]).unwrap();
    group.bench_function("dual_quaternion_blended/10k", |bencher| {
        bencher.iter(|| {
            tubes.dual_quaternion_blended(
                tubes.rest(),
                black_box(&palette),
                &motions,
                &mask,
                &mut out,
            );
        });
    });
    let mut logs = LogMotions::new(JOINTS);
    logs.set(&motions);
    group.bench_function("log_blend/10k", |bencher| {
        bencher.iter(|| tubes.log_blend(tubes.rest(), black_box(&motions), &logs, &mut out));
    });
    group.bench_function("spherical_blend/10k", |bencher| {
        bencher.iter(|| tubes.spherical_blend(tubes.rest(), black_box(&motions), &mut out));
    });
    group.bench_function("trs_blend/10k", |bencher| {
        bencher.iter(|| tubes.trs_blend(tubes.rest(), black_box(&motions), &mut out));
    });
    let mush = DeltaMush::new(&tubes, &DeltaMushOptions::default());
    let mut scratch = DeltaMushScratch::default();
    group.bench_function("delta_mush/10k", |bencher| {
        let base = tubes.rest();
        bencher.iter(|| mush.deform(&tubes, black_box(base), &motions, &mut scratch, &mut out));
    });
    #[cfg(feature = "solve")]
    {
        let options = anim_skin::DirectDeltaMushOptions::default();
        let mush = anim_skin::DirectDeltaMush::new(&tubes, &options).unwrap();
        group.bench_function("direct_delta_mush/10k", |bencher| {
            bencher.iter(|| mush.deform(tubes.rest(), black_box(&palette), &motions, &mut out));
        });
    }
    let (mesh, influences) = character(5 * AROUND);
    let large = bind(&mesh, &influences, &[]).with_skeleton(&skeleton);
    #[cfg(feature = "solve")]
    {
        let options = anim_skin::DirectDeltaMushOptions::default();
        let mush = anim_skin::DirectDeltaMush::new(&large, &options).unwrap();
        println!(
            "anim-skin/direct_delta_mush/50k: {:.1} MB, {} bytes a vertex, {:.2} joints a vertex",
            mush.memory_bytes() as f64 * 1e-6,
            mush.memory_bytes() / large.vertex_count(),
            mush.influence_count() as f64 / large.vertex_count() as f64,
        );
    }
    let large_centers = RotationCenters::new(&large, &RotationCenterOptions::default());
    let mut large_out = VertexBlocks::new(5 * VERTICES);
    group.throughput(Throughput::Elements(5 * VERTICES as u64));
    group.bench_function("linear/50k", |bencher| {
        bencher.iter(|| large.linear(large.rest(), black_box(&palette), &mut large_out));
    });
    group.bench_function("dual_quaternion/50k", |bencher| {
        bencher.iter(|| large.dual_quaternion(large.rest(), black_box(&motions), &mut large_out));
    });
    group.bench_function("rotation_center/50k", |bencher| {
        let (source, palette) = (large.rest(), black_box(&palette));
        bencher.iter(|| large_centers.deform(&large, source, palette, &motions, &mut large_out));
    });
    group.throughput(Throughput::Elements(VERTICES as u64));
    let tangents = TangentBlocks::new(&tubes, &[[0.0, 1.0, 0.0, 1.0]; VERTICES]).unwrap();
    let mut moved = tangents.clone();
    tubes.linear(tubes.rest(), &palette, &mut out);
    group.bench_function("tangents/10k", |bencher| {
        bencher.iter(|| tubes.tangents(&tangents, black_box(&palette), &out, &mut moved));
    });
    for (name, weight) in [("morph/10k", 0.5), ("morph_at_rest/10k", 0.0)] {
        let weights = [weight; 52];
        group.bench_function(name, |bencher| {
            bencher.iter(|| tubes.morph(black_box(&weights), &mut out));
        });
    }
    let mut vertices = Vertices::default();
    group.bench_function("to_source_order/10k", |bencher| {
        bencher.iter(|| tubes.to_source_order(black_box(tubes.rest()), &mut vertices));
    });
    group.throughput(Throughput::Elements(JOINTS as u64));
    group.bench_function("palette/60", |bencher| {
        bencher.iter(|| tubes.palette(black_box(&globals), &mut palette));
    });
    for (name, palette) in [
        ("dual_palette/60", &palette),
        ("dual_palette_stretched/60", &stretched),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| tubes.dual_palette(black_box(palette), &mut motions));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .nresamples(5000)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = skin
}
criterion_main!(benches);
