//! Automatic weights of a starfish of 20 arms and 60 bones; throughput in vertices.
//!
//! If `ANIM_PEERS_OUT` names a folder, two problems and our answers are left there for other programs to solve, `heat.json`
//! and `geodesic.json`: `cargo xtask bench --peers`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "criterion's macros document nothing, and a benchmark may fail"
)]

mod peers;

use std::hint::black_box;

use anim_geom::geodesic::{FastMarching, Geodesics, HeatGeodesics};
use anim_geom::{Mesh, normals, primitives};
use anim_math::Vec3;
use anim_skin::weights::transfer::{Correspondence, TransferOptions, transfer};
use anim_skin::weights::{
    self, Bone, Bones, GeodesicMethod, GeodesicOptions, HeatOptions, NearestOptions,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;

const ARMS: usize = 20;

/// Directions spread evenly over the sphere.
fn arms() -> impl Iterator<Item = Vec3> {
    (0..ARMS).map(|i| {
        let y = 1.0 - (2 * i + 1) as f32 / ARMS as f32;
        let (sin, cos) = (2.399_963 * i as f32).sin_cos();
        let radius = (1.0 - y * y).sqrt();
        Vec3::new(radius * cos, y, radius * sin)
    })
}

/// A ball of radius 1 with arms of length 2: `side`² vertices, of which neighbours hide many bones from each other.
fn starfish(side: u32) -> Mesh {
    let mut mesh = primitives::sphere(1.0, side, side);
    for p in &mut mesh.rest.positions {
        let arm = arms()
            .map(|arm| (arm - *p).norm_squared())
            .fold(f32::MAX, f32::min);
        *p *= 1.0 + 2.0 * (-arm / 0.05).exp();
    }
    mesh
}

/// Three bones an arm.
fn bones() -> Bones {
    let bone = |arm: Vec3, part: usize, joint: usize| Bone {
        head: arm * (0.1 + 0.9 * part as f32),
        tail: arm * (1.0 + 0.9 * part as f32),
        joint: joint as u16,
    };
    let all = arms().enumerate();
    let all = all.flat_map(|(i, arm)| (0..3).map(move |part| bone(arm, part, 3 * i + part)));
    Bones::new(all.collect(), 3 * ARMS).unwrap()
}

fn bind(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("anim-skin");
    group.sample_size(10);
    let bones = bones();
    for (side, label) in [(208, "43k"), (90, "8k")] {
        let mesh = starfish(side);
        group.throughput(Throughput::Elements(mesh.vertex_count() as u64));
        group.bench_function(format!("heat/{label}"), |b| {
            b.iter(|| weights::heat(black_box(&mesh), &bones, &HeatOptions::default()));
        });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
        let pool = pool.unwrap();
        group.bench_function(format!("heat_2_threads/{label}"), |b| {
            b.iter(|| {
                pool.install(|| weights::heat(black_box(&mesh), &bones, &HeatOptions::default()))
            });
        });
        group.bench_function(format!("nearest_visible/{label}"), |b| {
            let options = NearestOptions { visible_only: true };
            b.iter(|| weights::nearest(black_box(&mesh), &bones, &options));
        });
    }
    let mesh = starfish(90);
    for (method, name) in [
        (GeodesicMethod::Dijkstra, "geodesic_edges"),
        (GeodesicMethod::FastMarching, "geodesic_marching"),
        (GeodesicMethod::Heat, "geodesic_heat"),
    ] {
        let options = GeodesicOptions {
            method,
            ..Default::default()
        };
        group.bench_function(format!("{name}/8k"), |b| {
            b.iter(|| weights::geodesic(black_box(&mesh), &bones, &options));
        });
    }
    group.finish();
}

/// Weights carried to a cover over the starfish by surface and by volume, which casts 256 rays a vertex.
fn carry(criterion: &mut Criterion) {
    let source = starfish(90);
    let options = HeatOptions::default();
    let (weights, _) = weights::heat(&source, &bones(), &options).unwrap();
    let mut cover = starfish(100);
    let rest = &mut cover.rest;
    normals::smooth(&rest.positions, &cover.triangles, &mut rest.normals);
    for (position, normal) in rest.positions.iter_mut().zip(&rest.normals) {
        *position += normal * 0.05;
    }
    let mut group = criterion.benchmark_group("anim-skin");
    group.sample_size(10);
    group.throughput(Throughput::Elements(cover.vertex_count() as u64));
    for (correspondence, name) in [
        (Correspondence::Surface, "transfer_surface"),
        (Correspondence::Volume, "transfer_volume"),
    ] {
        let options = TransferOptions {
            correspondence,
            ..TransferOptions::default()
        };
        group.bench_function(format!("{name}/10k"), |b| {
            b.iter(|| transfer(&weights, black_box(&source), &cover, &options));
        });
    }
    group.finish();
}

/// The starfish by bone heat, and distances on a ball, both of 8,000 vertices.
fn peers(_: &mut Criterion) {
    let (mesh, bones) = (peers::welded(&starfish(90)), bones());
    peers::leave("heat", || {
        let solve = || {
            weights::heat(&mesh, &bones, &HeatOptions::default())
                .unwrap()
                .0
        };
        let (seconds, weights) = peers::fastest(solve);
        let mut problem = peers::problem("bone heat, starfish of 8k vertices, 60 bones", &mesh);
        problem["bones"] = peers::bones(&bones);
        problem["ours"] = json!([peers::rows("anim-skin, bone heat", seconds, &weights)]);
        problem
    });
    peers::leave("geodesic", || {
        let ball = peers::welded(&primitives::sphere(1.0, 90, 90));
        let (positions, triangles) = (&ball.rest.positions, &ball.triangles);
        let source = (ball.vertex_count() / 3) as u32;
        let distances = |solver: &dyn Geodesics| {
            let mut out = vec![0.0; ball.vertex_count()];
            solver.distances(&[(source, 0.0)], &mut out);
            out
        };
        let (setup, heat) = peers::fastest(|| HeatGeodesics::new(positions, triangles).unwrap());
        let (query, by_heat) = peers::fastest(|| distances(&heat));
        let (marcher_setup, marcher) =
            peers::fastest(|| FastMarching::new(positions, triangles).unwrap());
        let (march, by_marching) = peers::fastest(|| distances(&marcher));
        let mut problem = peers::problem("distances on a ball of 8k vertices", &ball);
        problem["source"] = json!(source);
        problem["ours"] = json!([
            {"program": "anim-geom heat, once", "seconds": setup + query, "distances": by_heat},
            {"program": "anim-geom heat, each further", "seconds": query, "distances": by_heat},
            {"program": "anim-geom marching", "seconds": marcher_setup + march, "distances": by_marching},
        ]);
        problem
    });
}

criterion_group!(benches, peers, bind, carry);
criterion_main!(benches);
