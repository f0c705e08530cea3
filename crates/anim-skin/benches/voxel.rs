//! Geodesic voxel binding of 43 k vertices to 60 joints at 129 cells, on two threads.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros document nothing, and a benchmark may fail"
)]

use std::hint::black_box;

use anim_geom::{Mesh, primitives};
use anim_math::Vec3;
use anim_skin::weights::{Bone, Bones, VoxelOptions, voxel};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Ten overlapping capsules in a fan, closed, of six bones each.
fn character() -> (Mesh, Bones) {
    let mut mesh = Mesh::default();
    let mut segments = Vec::new();
    for limb in 0..10_u16 {
        let part = primitives::capsule(0.12, 0.5, 64, 33);
        let turn = f32::from(limb) * 0.628;
        let along = Vec3::new(turn.cos(), turn.sin(), 0.0);
        let across = Vec3::new(-turn.sin(), turn.cos(), 0.0);
        let place = |p: Vec3| across * p.x + along * (p.y + 0.55) + Vec3::z() * p.z;
        let first = mesh.vertex_count() as u32;
        mesh.rest
            .positions
            .extend(part.rest.positions.iter().map(|p| place(*p)));
        mesh.rest
            .normals
            .extend(part.rest.normals.iter().map(|n| place(*n) - along * 0.55));
        mesh.triangles
            .extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
        for bone in 0..6_u16 {
            let head = along * (0.05 + f32::from(bone) / 6.0);
            let tail = head + along / 6.0;
            segments.push(Bone {
                head,
                tail,
                joint: limb * 6 + bone,
            });
        }
    }
    (mesh, Bones::new(segments, 60).unwrap())
}

fn bind(criterion: &mut Criterion) {
    let (mesh, bones) = character();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let mut group = criterion.benchmark_group("anim-skin");
    group.sample_size(10);
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function("voxel/43k", |bencher| {
        bencher.iter(|| pool.install(|| voxel(black_box(&mesh), &bones, &VoxelOptions::default())));
    });
    group.finish();
}

criterion_group!(benches, bind);
criterion_main!(benches);
