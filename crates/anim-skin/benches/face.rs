//! Faces: 52 shapes summed on 10,000 and 50,000 vertices, weights solved from 120 markers, principal shapes; throughput in
//! vertices.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros document nothing, and a benchmark may fail"
)]

use std::hint::black_box;
use std::time::Duration;

use anim_geom::{Mesh, Vertices};
use anim_math::{Affine, Transform, Vec3};
use anim_skeleton::{JointSpec, Skeleton};
use anim_skin::morph::pca::shape_matrix;
use anim_skin::morph::{ShapePca, ShapeSolver, SolveOptions};
use anim_skin::{Influences, MorphTarget, SkinnedMesh, VertexBlocks};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const SHAPES: usize = 52;
const MARKERS: usize = 120;

/// Numbers in [0, 1) that are the same in every run.
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next()) - Vec3::repeat(0.5)
    }
}

/// Shapes that each move the `share` of a square sheet, row after row, that is nearest to a point of it.
fn shapes(side: usize, share: f32, normals: bool) -> Vec<MorphTarget> {
    let mut numbers = Numbers(1);
    let place = |v: usize| ((v % side) as f32, (v / side) as f32);
    (0..SHAPES)
        .map(|_| {
            let center = (numbers.next() * side as f32, numbers.next() * side as f32);
            let distance = |v: &u32| {
                let (x, y) = place(*v as usize);
                (x - center.0).powi(2) + (y - center.1).powi(2)
            };
            let mut vertices: Vec<u32> = (0..(side * side) as u32).collect();
            vertices.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            vertices.truncate((share * vertices.len() as f32) as usize);
            vertices.sort_unstable();
            let count = vertices.len();
            MorphTarget {
                name: None,
                vertices,
                positions: (0..count).map(|_| 0.02 * numbers.vector()).collect(),
                normals: (0..if normals { count } else { 0 })
                    .map(|_| 0.2 * numbers.vector())
                    .collect(),
            }
        })
        .collect()
}

/// A sheet on one joint.
fn face(side: usize, targets: &[MorphTarget]) -> SkinnedMesh {
    let joint = JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    };
    let skeleton = Skeleton::new(vec![joint]).unwrap();
    let positions = (0..side * side).map(|v| Vec3::new((v % side) as f32, (v / side) as f32, 0.0));
    let mesh = Mesh {
        rest: Vertices {
            positions: positions.collect(),
            normals: vec![Vec3::z(); side * side],
        },
        ..Mesh::default()
    };
    let influences = Influences::rigid(side * side);
    SkinnedMesh::new(
        &mesh,
        &[skeleton.joint(0)],
        &[Affine::IDENTITY],
        &influences,
        targets,
    )
    .unwrap()
}

fn morph(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-skin");
    let weights: Vec<f32> = (1..=SHAPES).map(|n| n as f32 / SHAPES as f32).collect();
    for (size, side) in [("10k", 100), ("50k", 224)] {
        group.throughput(Throughput::Elements((side * side) as u64));
        for (name, share, normals) in [
            ("shapes52_sparse", 0.1, true),
            ("shapes52_sparse_positions", 0.1, false),
            ("shapes52_dense", 1.0, true),
            ("shapes52_dense_positions", 1.0, false),
        ] {
            let skin = face(side, &shapes(side, share, normals));
            let mut out = VertexBlocks::new(skin.vertex_count());
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| skin.morph(black_box(&weights), &mut out));
            });
        }
    }
    group.finish();
}

fn solve(criterion: &mut Criterion) {
    // A tenth of 10,000 vertices a shape; the markers are spread evenly, and every frame is another face.
    let side = 100;
    let targets = shapes(side, 0.1, false);
    let markers: Vec<u32> = (0..MARKERS).map(|m| (m * 83 + 41) as u32).collect();
    let options = SolveOptions {
        ridge: 1e-3,
        ..SolveOptions::default()
    };
    let mut solver = ShapeSolver::new(&targets, &markers, &options).unwrap();
    let mut numbers = Numbers(7);
    let frames: Vec<Vec<Vec3>> = (0..64)
        .map(|_| {
            let mut seen = vec![Vec3::zeros(); side * side];
            for target in &targets {
                let weight = (1.5 * numbers.next() - 0.5).max(0.0);
                for (vertex, delta) in target.vertices.iter().zip(&target.positions) {
                    seen[*vertex as usize] += weight * delta;
                }
            }
            let noisy = |m: &u32| seen[*m as usize] + 2e-4 * numbers.vector();
            markers.iter().map(noisy).collect()
        })
        .collect();
    // Nobody's face is another each frame: `tracked` passes through the same faces, and back, in steps of a twentieth.
    let mut tracked: Vec<Vec<Vec3>> = Vec::new();
    for pair in [
        &frames[0..2],
        &frames[1..3],
        &frames[2..4],
        &[frames[3].clone(), frames[0].clone()],
    ] {
        for step in 0..20 {
            let part = step as f32 / 20.0;
            let between = pair[0].iter().zip(&pair[1]).map(|(a, b)| a.lerp(b, part));
            tracked.push(between.collect());
        }
    }
    let mut occluded = frames.clone();
    for frame in &mut occluded {
        frame[..6].fill(Vec3::repeat(f32::NAN));
    }
    let mut group = criterion.benchmark_group("anim-skin");
    for (name, frames) in [
        ("solve/52x120", &frames),
        ("solve_tracked/52x120", &tracked),
        ("solve_6_missing/52x120", &occluded),
    ] {
        let mut frame = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                frame = (frame + 1) % frames.len();
                black_box(solver.solve(&frames[frame]))
            });
        });
    }
    let matrix = shape_matrix(&targets, side * side).unwrap();
    group.bench_function("pca/52", |bencher| {
        bencher.iter(|| ShapePca::new(black_box(&matrix)).unwrap());
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .nresamples(5000)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = morph, solve
}
criterion_main!(benches);
