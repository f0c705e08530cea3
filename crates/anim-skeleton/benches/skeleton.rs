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

use anim_math::lanes::Level;
use anim_skeleton::{
    BakeOptions, Clip, Globals, Layer, Mode, Pose, Skeleton, blend_on, difference,
};
use common::{Random, synth60};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn setup() -> (Skeleton, Clip) {
    let (skeleton, spec) = synth60();
    let (clip, _) = Clip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    (skeleton, clip)
}

fn sample(c: &mut Criterion) {
    let (skeleton, clip) = setup();
    let mut pose = skeleton.rest().clone();
    let mut random = Random(7);
    let sought: Vec<f32> = (0..4096).map(|_| (random.signed() + 1.0) * 5.0).collect();
    let played: Vec<f32> = (0..4096).map(|frame| frame as f32 / 60.0 % 10.0).collect();
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(1));
    let cases = [
        ("sample/60", Level::new(), &played),
        ("sample_random/60", Level::new(), &sought),
        ("sample_baseline/60", Level::baseline(), &played),
        ("sample_random_baseline/60", Level::baseline(), &sought),
    ];
    for (name, level, times) in cases {
        let mut times = times.iter().cycle();
        group.bench_function(name, |b| {
            b.iter(|| {
                let time = *times.next().unwrap();
                clip.sample_on(level, black_box(time), &mut pose);
            });
        });
    }
    group.finish();
}

fn globals(c: &mut Criterion) {
    let (skeleton, clip) = setup();
    let mut pose: Pose = skeleton.rest().clone();
    clip.sample(3.21, &mut pose);
    let mut globals = Globals::new(&skeleton);
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(skeleton.len() as u64));
    for (name, level) in [
        ("globals/60", Level::new()),
        ("globals_baseline/60", Level::baseline()),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| skeleton.globals_on(level, black_box(&pose), &mut globals));
        });
    }
    group.finish();
}

fn blending(c: &mut Criterion) {
    let (skeleton, clip) = setup();
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
    let cases: [(&str, Level, &[Layer<'_>]); 5] = [
        ("blend/60", Level::new(), &two),
        ("blend_baseline/60", Level::baseline(), &two),
        ("blend_three/60", Level::new(), &three),
        ("blend_masked/60", Level::new(), &masked),
        ("blend_additive/60", Level::new(), &additive),
    ];
    for (name, level, layers) in cases {
        group.bench_function(name, |b| {
            b.iter(|| blend_on(level, skeleton.rest(), black_box(layers), &mut out));
        });
    }
    group.finish();
}

fn bake(c: &mut Criterion) {
    let (skeleton, spec) = synth60();
    let (_, report) = Clip::bake(&spec, &skeleton, &BakeOptions::default()).unwrap();
    let mut group = c.benchmark_group("anim-skeleton");
    group.sample_size(10);
    // Speed is to be compared at equal error and size.
    eprintln!("{report:?}");
    group.bench_function("bake/60", |b| {
        b.iter(|| Clip::bake(&spec, &skeleton, &BakeOptions::default()));
    });
    group.finish();
}

criterion_group!(benches, sample, globals, blending, bake);
criterion_main!(benches);
