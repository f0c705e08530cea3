//! Bounded biharmonic weights of a hand: `anim-skin/biharmonic/<nodes>_<bones>`.
//!
//! If `ANIM_PEERS_OUT` names a folder, the hand and our answer are left there as `bbw.json` for another program to solve:
//! `cargo xtask bench --peers`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints what it measured"
)]

mod peers;

use std::hint::black_box;

use anim_geom::{Mesh, primitives};
use anim_math::{Quat, Vec3};
use anim_skin::weights::{self, BiharmonicOptions, Bone, Bones};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;

/// A palm of a box and five fingers of capsules that reach into it, 20 bones: four a finger, the first in the palm.
fn hand() -> (Mesh, Bones) {
    let mut mesh = Mesh::default();
    let mut add = |part: Mesh, place: &dyn Fn(Vec3) -> Vec3| {
        let first = mesh.vertex_count() as u32;
        mesh.rest
            .positions
            .extend(part.rest.positions.iter().map(|p| place(*p)));
        mesh.rest.normals.extend(part.rest.normals);
        let moved = part.triangles.iter().map(|t| t.map(|v| v + first));
        mesh.triangles.extend(moved);
    };
    add(primitives::cuboid(Vec3::new(0.042, 0.045, 0.014)), &|p| p);
    let mut segments = Vec::new();
    for finger in 0..5 {
        let (base, angle, length) = match finger {
            0 => (Vec3::new(0.035, -0.02, 0.0), -0.9, 0.06),
            _ => {
                let x = 0.033 - 0.022 * (finger - 1) as f32;
                (
                    Vec3::new(x, 0.04, 0.0),
                    0.08 * (finger as f32 - 2.5),
                    0.085 - 0.008 * (finger as f32 - 2.0).abs(),
                )
            }
        };
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), angle);
        let along = turn * Vec3::y();
        let radius = 0.009;
        add(primitives::capsule(radius, length * 0.5, 24, 20), &|p| {
            base + along * (length * 0.5) + turn * p
        });
        let wrist = Vec3::new(base.x * 0.3, -0.04, 0.0);
        let mut head = wrist;
        for bone in 0..4 {
            let tail = base + along * (length * bone as f32 / 3.0);
            segments.push(Bone {
                head,
                tail,
                joint: (finger * 4 + bone) as u16,
            });
            head = tail;
        }
    }
    (mesh, Bones::new(segments, 20).unwrap())
}

fn biharmonic(c: &mut Criterion) {
    let (mesh, bones) = hand();
    let options = BiharmonicOptions::default();
    let (weights, report) = weights::biharmonic(&mesh, &bones, &options).unwrap();
    println!(
        "vertices {}, sum error {:.1e}, {report:#?}",
        mesh.vertex_count(),
        weights.max_sum_error()
    );
    let mut group = c.benchmark_group("anim-skin");
    group.sample_size(10);
    group.bench_function("biharmonic/7k_20", |b| {
        b.iter(|| weights::biharmonic(black_box(&mesh), &bones, &options).unwrap());
    });
    group.finish();
}

/// The hand, to be solved in the solid and between the handles that ours is.
fn leave(_: &mut Criterion) {
    peers::leave("bbw", || {
        let (mesh, bones) = hand();
        let options = BiharmonicOptions::default();
        let solve = || weights::biharmonic(&mesh, &bones, &options).unwrap();
        let (seconds, (weights, report)) = peers::fastest(solve);
        let mut problem = peers::problem("bounded biharmonic weights, hand, 20 bones", &mesh);
        problem["bones"] = peers::bones(&bones);
        let nodes = weights::biharmonic_nodes(&mesh, &bones, &options).unwrap();
        problem["lattice"] = peers::lattice(&nodes);
        let name = format!(
            "anim-skin, {} nodes, {:.0e}, bbw",
            report.nodes, options.tolerance
        );
        problem["ours"] = json!([peers::rows(&name, seconds, &weights)]);
        problem
    });
}

criterion_group!(benches, leave, biharmonic);
criterion_main!(benches);
