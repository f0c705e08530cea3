//! Sizes and errors of compressed clips beside those of other libraries, and the time to expand them.
#![allow(
    missing_docs,
    reason = "criterion's macros make undocumented functions"
)]
#![allow(clippy::unwrap_used, reason = "a bench may fail like a test")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "criterion has no place for sizes and errors"
)]

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/ozz.rs"]
mod ozz;

use std::hint::black_box;

use anim_skeleton::{BakeOptions, Clip, CompressOptions, CompressedClip, Skeleton, StridedClip};
use common::{Random, human, motion, synth60};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// What ozz-animation 0.16 and ACL 2.1 take at a millimetre 10 cm from each joint, where it was measured.
const PEERS: [(&str, Option<(usize, usize)>); 4] = [
    ("synth60", Some((159_345, 58_663))),
    ("pab_walk_raw", Some((11_081, 6_050))),
    ("pab_run_raw", None),
    ("pab_jog_raw", None),
];

fn sizes(_: &mut Criterion) {
    eprintln!(
        "bytes of               raw    ozz    ACL   disk  ratio  dense strided; errors mm: disk dense strided"
    );
    let data = ozz::data();
    for (name, peers) in PEERS {
        let (skeleton, spec) = match (name, &data) {
            ("synth60", _) => synth60(),
            (_, Some(data)) => ozz::load(data, name),
            _ => continue,
        };
        let options = CompressOptions::default();
        let (_, report) = CompressedClip::new(&spec, &skeleton, &options).unwrap();
        let resident = BakeOptions {
            tolerance: options.tolerance,
            shell: options.shell,
            ..BakeOptions::default()
        };
        let (_, dense) = Clip::bake(&spec, &skeleton, &resident).unwrap();
        let (_, strided) = StridedClip::bake(&spec, &skeleton, &resident).unwrap();
        let peer = |bytes: Option<usize>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
        eprintln!(
            "{name:18} {:>7} {:>6} {:>6} {:>6} {:>6.1} {:>6} {:>7} {:>19.3} {:.3} {:.3}",
            report.raw_bytes,
            peer(peers.map(|(ozz, _)| ozz)),
            peer(peers.map(|(_, acl)| acl)),
            report.disk_bytes,
            report.raw_bytes as f64 / report.disk_bytes as f64,
            dense.bytes,
            strided.bytes,
            report.max_error * 1000.0,
            dense.max_error * 1000.0,
            strided.max_error * 1000.0,
        );
    }
}

fn sample(c: &mut Criterion) {
    let (skeleton, spec) = synth60();
    let options = BakeOptions {
        tolerance: 0.003,
        ..BakeOptions::default()
    };
    let (dense, _) = Clip::bake(&spec, &skeleton, &options).unwrap();
    let (strided, _) = StridedClip::bake(&spec, &skeleton, &options).unwrap();
    eprintln!("sample: {} and {} bytes", dense.bytes(), strided.bytes());
    let mut random = Random(7);
    let mut pose = skeleton.rest().clone();
    let times: Vec<f32> = (0..4096).map(|_| (random.signed() + 1.0) * 5.0).collect();
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Elements(1));
    let mut next = times.iter().cycle();
    group.bench_function("sample_dense_random/60", |b| {
        b.iter(|| dense.sample(black_box(*next.next().unwrap()), &mut pose));
    });
    group.bench_function("sample_strided_random/60", |b| {
        b.iter(|| strided.sample(black_box(*next.next().unwrap()), &mut pose));
    });
    group.finish();
}

fn expand(c: &mut Criterion) {
    let skeleton = Skeleton::new(human(60)).unwrap();
    // A sample is eight blocks of 64 bytes and a vector.
    let frames = (1 << 20) / (8 * 64 + 12);
    let spec = motion(60, frames as f32 / 30.0, 30.0);
    let (compressed, report) =
        CompressedClip::new(&spec, &skeleton, &CompressOptions::default()).unwrap();
    eprintln!(
        "expand/1MB: {} bytes to {}",
        report.disk_bytes, report.resident_bytes
    );
    let mut group = c.benchmark_group("anim-skeleton");
    group.throughput(Throughput::Bytes(report.resident_bytes as u64));
    group.bench_function("expand/1MB", |b| {
        b.iter(|| black_box(&compressed).expand(&skeleton).unwrap());
    });
    group.finish();
}

criterion_group!(benches, sizes, sample, expand);
criterion_main!(benches);
