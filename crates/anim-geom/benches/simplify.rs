//! Simplification, one thread.

use std::hint::black_box;

use anim_geom::primitives;
use anim_geom::simplify::{SimplifyGoal, simplify, simplify_deforming};
use anim_math::Vec3;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A sphere with dents: 43,000 vertices, no part of it flat.
fn rough_sphere() -> anim_geom::Mesh {
    let mut mesh = primitives::sphere(1.0, 208, 206);
    for position in &mut mesh.rest.positions {
        let dent = libm::sinf(9.0 * position.x) * libm::sinf(7.0 * position.y + 5.0 * position.z);
        *position *= 1.0 + 0.05 * dent;
    }
    mesh
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    let mesh = rough_sphere();
    let target = mesh.triangles.len() / 10;
    let goal = SimplifyGoal::triangles(target);
    group.sample_size(10);
    group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
    group.bench_function("simplify/43k", |b| {
        b.iter(|| simplify(black_box(&mesh), &goal));
    });
    let stretched = |pose: u8| -> Vec<Vec3> {
        let stretch = Vec3::new(1.0, 1.0 + 0.1 * f32::from(pose), 1.0);
        let positions = mesh.rest.positions.iter();
        positions.map(|p| p.component_mul(&stretch)).collect()
    };
    let shapes: Vec<Vec<Vec3>> = (0..8).map(stretched).collect();
    group.bench_function("simplify_deforming/43k/8_shapes", |b| {
        b.iter(|| simplify_deforming(black_box(&mesh), &shapes, &[], &[goal]));
    });
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
