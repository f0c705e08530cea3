//! Sampling, forward kinematics and blending of a human of 60 joints.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]
#![allow(clippy::unwrap_used, reason = "a bench may fail like a test")]
#![allow(
    clippy::print_stderr,
    reason = "criterion has no place for sizes and errors"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;

use anim_math::lanes::{LANES, Level};
use anim_skeleton::{
    BakeOptions, BakeReport, Clip, CrowdGlobals, CrowdPose, Globals, Layer, Mode, Pose, Skeleton,
    blend_on, difference,
};
use common::{Random, synth60};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;

fn setup() -> (Skeleton, Clip, BakeReport) {
    let (skeleton, spec) = synth60();
    let (clip, report) = Clip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    (skeleton, clip, report)
}

/// The best instruction set here, and those that others have, by the suffix of their benches.
fn levels() -> Vec<(&'static str, Level)> {
    let mut levels = vec![("", Level::new()), ("_baseline", Level::baseline())];
    #[cfg(target_arch = "x86_64")]
    levels.extend(
        Level::new()
            .as_avx2()
            .map(|avx2| ("_avx2", Level::Avx2(avx2))),
    );
    levels
}

/// Speed is to be compared at equal error and size: `cargo xtask bench` prints these beside the times.
fn print_report(id: &str, report: &BakeReport) {
    eprintln!("anim-metric: anim-skeleton/{id} bytes {}", report.bytes);
    eprintln!(
        "anim-metric: anim-skeleton/{id} max-error-mm {:.3}",
        report.max_error * 1e3
    );
}

fn sample(c: &mut Criterion) {
    let (skeleton, clip, report) = setup();
    let mut pose = skeleton.rest().clone();
    let mut random = Random(7);
    let sought: Vec<f32> = (0..4096).map(|_| (random.signed() + 1.0) * 5.0).collect();
    let played: Vec<f32> = (0..4096).map(|frame| frame as f32 / 60.0 % 10.0).collect();
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(1));
    for (name, times) in [("sample", &played), ("sample_random", &sought)] {
        for (suffix, level) in levels() {
            let id = format!("{name}{suffix}/60");
            print_report(&id, &report);
            let mut times = times.iter().cycle();
            group.bench_function(id, |b| {
                b.iter(|| {
                    let time = *times.next().unwrap();
                    clip.sample_on(level, black_box(time), &mut pose);
                });
            });
        }
    }
    group.finish();
}

fn globals(c: &mut Criterion) {
    let (skeleton, clip, _) = setup();
    let mut pose: Pose = skeleton.rest().clone();
    clip.sample(3.21, &mut pose);
    let mut globals = Globals::new(&skeleton);
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(skeleton.len() as u64));
    for (suffix, level) in levels() {
        group.bench_function(format!("globals{suffix}/60"), |b| {
            b.iter(|| skeleton.globals_on(level, black_box(&pose), &mut globals));
        });
    }
    group.finish();
}

/// Eight characters: one at a time, in lanes to matrices in lanes, to a matrix each, and from a pose each as well.
fn crowds(c: &mut Criterion) {
    let (skeleton, clip, _) = setup();
    let mut poses = vec![skeleton.rest().clone(); LANES];
    for (index, pose) in poses.iter_mut().enumerate() {
        clip.sample(1.1 * index as f32, pose);
    }
    let mut globals = vec![Globals::new(&skeleton); LANES];
    let mut crowd = CrowdPose::new(&skeleton);
    let mut matrices = CrowdGlobals::new(&skeleton);
    crowd.load(&poses);
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements((LANES * skeleton.len()) as u64));
    for (suffix, level) in levels() {
        group.bench_function(format!("globals_of_eight{suffix}/60"), |b| {
            b.iter(|| {
                for (pose, globals) in black_box(&poses).iter().zip(&mut globals) {
                    skeleton.globals_on(level, pose, globals);
                }
            });
        });
        group.bench_function(format!("globals_crowd_in_lanes{suffix}/60"), |b| {
            b.iter(|| skeleton.crowd_globals_on(level, black_box(&crowd), &mut matrices));
        });
        group.bench_function(format!("globals_crowd{suffix}/60"), |b| {
            b.iter(|| {
                skeleton.crowd_globals_each_on(
                    level,
                    black_box(&crowd),
                    &mut matrices,
                    &mut globals,
                );
            });
        });
        group.bench_function(format!("globals_crowd_from_poses{suffix}/60"), |b| {
            b.iter(|| {
                crowd.load_on(level, black_box(&poses));
                skeleton.crowd_globals_each_on(level, &crowd, &mut matrices, &mut globals);
            });
        });
    }
    group.finish();
}

const CHARACTERS: usize = 10_000;
/// Characters in one task.
const CHUNK: usize = 64;

/// 10,000 characters: each samples two clips at times of its own, blends them and finds its globals.
fn frame(c: &mut Criterion) {
    let (skeleton, walk, report) = setup();
    let run = walk.clone();
    let mut globals = vec![Globals::new(&skeleton); CHARACTERS];
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(CHARACTERS as u64));
    group.sample_size(20);
    for (name, threads) in [("frame_10000/60", 1), ("frame_10000_2_threads/60", 2)] {
        print_report(name, &report);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        let mut now = 0.0;
        group.bench_function(name, |b| {
            b.iter(|| {
                now += 1.0 / 60.0;
                pool.install(|| {
                    let chunks = globals.par_chunks_mut(CHUNK).enumerate();
                    let scratch = || [(); 3].map(|()| skeleton.rest().clone());
                    chunks.for_each_init(scratch, |[walking, running, out], (chunk, globals)| {
                        for (index, globals) in globals.iter_mut().enumerate() {
                            let phase = (chunk * CHUNK + index) as f32 * 0.013;
                            walk.sample((now + phase) % 10.0, walking);
                            run.sample((now * 1.5 + phase * 1.7) % 10.0, running);
                            let layer = |pose, weight| Layer {
                                pose,
                                weight,
                                mask: None,
                                mode: Mode::Override,
                            };
                            let layers = [layer(walking, 0.3), layer(running, 0.7)];
                            blend_on(Level::new(), skeleton.rest(), &layers, out);
                            skeleton.globals(out, globals);
                        }
                    });
                });
            });
        });
    }
    group.finish();
}

fn blending(c: &mut Criterion) {
    let (skeleton, clip, _) = setup();
    let poses = [1.1, 3.3, 7.7].map(|time| {
        let mut pose = skeleton.rest().clone();
        clip.sample(time, &mut pose);
        pose
    });
    let layer = |place: usize, weight| Layer {
        pose: &poses[place],
        weight,
        mask: None,
        mode: Mode::Override,
    };
    let upper: Vec<f32> = (0..60).map(|joint| f32::from(joint > 20)).collect();
    let mut delta = skeleton.rest().clone();
    difference(&poses[1], &poses[2], &mut delta);
    let two = [layer(0, 0.3), layer(1, 0.7)];
    let three = [layer(0, 0.3), layer(1, 0.5), layer(2, 0.2)];
    let masked = [
        layer(0, 1.0),
        Layer {
            mask: Some(&upper),
            ..layer(1, 0.7)
        },
    ];
    let additive = [
        layer(0, 1.0),
        Layer {
            pose: &delta,
            mode: Mode::Additive,
            ..layer(0, 0.5)
        },
    ];
    let mut out = skeleton.rest().clone();
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(1));
    let cases: [(&str, &[Layer<'_>]); 4] = [
        ("blend", &two),
        ("blend_three", &three),
        ("blend_masked", &masked),
        ("blend_additive", &additive),
    ];
    for (name, layers) in cases {
        for (suffix, level) in levels() {
            group.bench_function(format!("{name}{suffix}/60"), |b| {
                b.iter(|| blend_on(level, skeleton.rest(), black_box(layers), &mut out));
            });
        }
    }
    group.finish();
}

fn bake(c: &mut Criterion) {
    let (skeleton, spec) = synth60();
    let mut group = c.benchmark_group("anim-skeleton");
    group.sample_size(10);
    group.bench_function("bake/60", |b| {
        b.iter(|| Clip::bake(&spec, &skeleton, &BakeOptions::default()));
    });
    group.finish();
}

criterion_group!(benches, sample, globals, crowds, blending, frame, bake);
criterion_main!(benches);
