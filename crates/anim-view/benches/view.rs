//! How long a picture takes: a ball of 10 k triangles with its shadow on the ground, and its PNG.

use anim_math::Vec3;
use anim_view::{Camera, Canvas, Style};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A unit ball on the ground: 100 × 50 quads.
fn ball() -> (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>) {
    let (around, down) = (100, 50);
    let mut normals = Vec::new();
    for ring in 0..=down {
        let (sin, cos) = libm::sincosf(std::f32::consts::PI * ring as f32 / down as f32);
        for place in 0..around {
            let (x, z) = libm::sincosf(std::f32::consts::TAU * place as f32 / around as f32);
            normals.push(Vec3::new(sin * x, -cos, sin * z));
        }
    }
    let quads = (0..down).flat_map(|ring| (0..around).map(move |place| (ring, place)));
    let triangles = quads.flat_map(|(ring, place)| {
        let (a, b) = (ring * around + place, ring * around + (place + 1) % around);
        [[a, b, b + around], [a, b + around, a + around]]
    });
    let positions = normals.iter().map(|normal| normal + Vec3::y()).collect();
    (positions, normals.clone(), triangles.collect())
}

fn finish(criterion: &mut Criterion) {
    let (positions, normals, triangles) = ball();
    let Ok(mut canvas) = Canvas::new(1280, 720, 2) else {
        return;
    };
    let camera = Camera::framing(
        Vec3::new(-1.0, 0.0, -1.0),
        Vec3::new(1.0, 2.0, 1.0),
        0.5,
        0.25,
        canvas.aspect(),
    );
    canvas.ground_grid(&camera, 0.0, 5.0);
    canvas.mesh(&camera, &positions, &normals, &triangles, &Style::default());
    let picture = canvas.finish();
    let mut group = criterion.benchmark_group("anim-view");
    group.throughput(Throughput::Elements(1280 * 720));
    group.sample_size(20);
    group.bench_function("finish/10k", |bencher| bencher.iter(|| canvas.finish()));
    group.bench_function("png/720p", |bencher| bencher.iter(|| picture.to_png()));
    group.finish();
}

criterion_group!(benches, finish);
criterion_main!(benches);
