//! Neighbour search and mesh queries, one thread.

use std::hint::black_box;

use anim_geom::geodesic::{Dijkstra, FastMarching, Geodesics};
use anim_geom::tet::{Embedding, StuffOptions, stuff};
use anim_geom::{
    Collider, DistanceField, HeightField, MeshBvh, Neighbors, Shape, normals, primitives, topology,
};
use anim_math::{Affine, Vec3};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Points spread evenly over a cube in which each has about 28 others within 1 m.
fn points(count: usize) -> Vec<Vec3> {
    let side = libm::cbrtf(count as f32 * 4.19 / 28.0);
    // The plastic number's powers: a low-discrepancy sequence in three dimensions.
    let steps = [0.819_172_5, 0.671_043_6, 0.549_700_5];
    let coordinate = |i: usize, step: f64| ((i as f64 * step) % 1.0) as f32 * side;
    (0..count)
        .map(|i| Vec3::from(steps.map(|step| coordinate(i, step))))
        .collect()
}

fn count_all(neighbors: &Neighbors, points: &[Vec3]) -> u64 {
    let mut found = 0;
    for &point in points {
        neighbors.within(point, |_| found += 1);
    }
    found
}

fn neighbors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    for (size, label) in [(10_000, "10k"), (50_000, "50k")] {
        let points = points(size);
        group.throughput(Throughput::Elements(size as u64));
        let mut grid = Neighbors::default();
        group.bench_function(format!("neighbors_grid_rebuild/{label}"), |b| {
            b.iter(|| grid.rebuild(black_box(&points), 1.0));
        });
        group.bench_function(format!("neighbors_grid/{label}"), |b| {
            b.iter(|| count_all(black_box(&grid), &points));
        });
    }
    let points = points(10_000);
    group.throughput(Throughput::Elements(10_000));
    let mut tree = Neighbors::default();
    group.bench_function("neighbors_rstar_rebuild/10k", |b| {
        b.iter(|| tree.rebuild_tree(black_box(&points), 1.0));
    });
    group.bench_function("neighbors_rstar/10k", |b| {
        b.iter(|| count_all(black_box(&tree), &points));
    });
    group.finish();
}

fn mesh(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    let sphere = primitives::sphere(1.0, 224, 224);
    group.throughput(Throughput::Elements(sphere.triangles.len() as u64));
    group.bench_function("mesh_build/100k", |b| {
        b.iter(|| MeshBvh::new(black_box(&sphere)))
    });
    let mut out = vec![Vec3::zeros(); sphere.vertex_count()];
    group.bench_function("normals_smooth/100k", |b| {
        b.iter(|| {
            normals::smooth(
                &sphere.rest.positions,
                &sphere.triangles,
                black_box(&mut out),
            )
        });
    });
    group.bench_function("normals_smooth_by_area/100k", |b| {
        b.iter(|| {
            normals::smooth_by_area(
                &sphere.rest.positions,
                &sphere.triangles,
                black_box(&mut out),
            )
        });
    });
    let Ok(bvh) = MeshBvh::new(&sphere) else {
        return;
    };
    // Far: through the whole space around the mesh. Close: where contacts are, 2 cm off its surface.
    let far: Vec<Vec3> = points(1000)
        .iter()
        .map(|p| (p - Vec3::repeat(2.65)) * 0.6)
        .collect();
    let close: Vec<Vec3> = far.iter().map(|q| q.normalize() * 1.02).collect();
    group.throughput(Throughput::Elements(1000));
    for (name, queries) in [
        ("mesh_nearest/100k", &close),
        ("mesh_nearest_far/100k", &far),
    ] {
        group.bench_function(name, |b| {
            let distance = |q: &Vec3| bvh.nearest(black_box(*q)).distance;
            b.iter(|| queries.iter().map(distance).sum::<f32>());
        });
    }
    if let Ok(field) = DistanceField::new(&sphere, 0.02) {
        group.bench_function("distance_field/100k", |b| {
            let distance = |q: &Vec3| field.sample(black_box(*q)).0;
            b.iter(|| close.iter().map(distance).sum::<f32>());
        });
    }
    group.bench_function("mesh_ray/100k", |b| {
        let found = |q: &&Vec3| bvh.ray(black_box(**q), -**q, 10.0).is_some();
        b.iter(|| far.iter().filter(found).count());
    });
    let capsule = Shape::Capsule {
        radius: 0.3,
        half_length: 0.5,
    };
    let collider = Collider::new(capsule, Affine::IDENTITY);
    group.bench_function("capsule_contact/1000", |b| {
        let Some(placed) = collider.placed() else {
            return;
        };
        let found = |q: &&Vec3| placed.contact_within(black_box(**q), 0.01).is_some();
        b.iter(|| far.iter().filter(found).count());
    });
    group.finish();
}

fn solids(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    let ball = primitives::sphere(1.0, 64, 32);
    let options = StuffOptions { resolution: 24 };
    group.bench_function("tet_stuff/24", |b| {
        b.iter(|| stuff(black_box(&ball), &options))
    });
    if let Ok(solid) = stuff(&ball, &options)
        && let Ok(embedding) = Embedding::new(&solid, &ball.rest.positions)
    {
        let mut out = ball.rest.positions.clone();
        group.throughput(Throughput::Elements(out.len() as u64));
        group.bench_function("tet_embedding/2k", |b| {
            b.iter(|| embedding.apply(black_box(&solid.positions), &mut out));
        });
    }
    let heights = points(257 * 257).iter().map(|p| p.x * 0.1).collect();
    if let Ok(ground) = HeightField::new(256, 256, 0.5, heights) {
        let queries: Vec<Vec3> = points(1000)
            .iter()
            .map(|p| Vec3::new(p.x * 5.0, 0.5, p.z * 5.0))
            .collect();
        group.throughput(Throughput::Elements(1000));
        group.bench_function("height_field_nearest/65k", |b| {
            let distance = |q: &Vec3| ground.nearest(black_box(*q)).distance;
            b.iter(|| queries.iter().map(distance).sum::<f32>());
        });
    }
    group.finish();
}

fn geodesics(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-geom");
    group.sample_size(10);
    let sphere = primitives::sphere(1.0, 208, 208);
    let positions = &sphere.rest.positions;
    let welded = topology::weld(positions);
    let named = |t: &[u32; 3]| t.map(|v| welded[v as usize]);
    let triangles: Vec<[u32; 3]> = sphere.triangles.iter().map(named).collect();
    let mut out = vec![0.0; positions.len()];
    group.throughput(Throughput::Elements(positions.len() as u64));
    let mut query = |name: &str, method: &dyn Geodesics| {
        group.bench_function(format!("{name}/43k"), |b| {
            b.iter(|| method.distances(black_box(&[(20_000, 0.0)]), &mut out));
        });
    };
    if let Ok(edges) = Dijkstra::new(positions, &triangles) {
        query("geodesic_edges", &edges);
    }
    if let Ok(marching) = FastMarching::new(positions, &triangles) {
        query("geodesic_marching", &marching);
    }
    #[cfg(feature = "solve")]
    {
        use anim_geom::geodesic::HeatGeodesics;
        if let Ok(heat) = HeatGeodesics::new(positions, &triangles) {
            query("geodesic_heat", &heat);
        }
        group.bench_function("geodesic_heat_build/43k", |b| {
            b.iter(|| HeatGeodesics::new(black_box(positions), &triangles));
        });
    }
    group.finish();
}

criterion_group!(benches, neighbors, mesh, geodesics, solids);
criterion_main!(benches);
