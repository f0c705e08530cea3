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

use anim_skeleton::{CompressOptions, CompressedClip, Skeleton};
use common::{human, motion, synth60};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// What ozz-animation 0.16 and ACL 2.1 take at a millimetre 10 cm from each joint, where it was measured.
const PEERS: [(&str, Option<(usize, usize)>); 4] = [
    ("synth60", Some((159_345, 58_663))),
    ("pab_walk_raw", Some((11_081, 6_050))),
    ("pab_run_raw", None),
    ("pab_jog_raw", None),
];

fn sizes(_: &mut Criterion) {
    eprintln!("clip             raw    ozz    ACL   disk  ratio  resident  error mm");
    let data = ozz::data();
    for (name, peers) in PEERS {
        let (skeleton, spec) = match (name, &data) {
            ("synth60", _) => synth60(),
            (_, Some(data)) => ozz::load(data, name),
            _ => continue,
        };
        let options = CompressOptions::default();
        let (_, report) = CompressedClip::new(&spec, &skeleton, &options).unwrap();
        let [ozz, acl] = match peers {
            Some((ozz, acl)) => [ozz, acl].map(|bytes| bytes.to_string()),
            None => ["-".to_owned(), "-".to_owned()],
        };
        eprintln!(
            "{name:12} {:>7} {ozz:>6} {acl:>6} {:>6} {:>6.1} {:>9} {:>9.3}",
            report.raw_bytes,
            report.disk_bytes,
            report.raw_bytes as f64 / report.disk_bytes as f64,
            report.resident_bytes,
            report.max_error * 1000.0,
        );
    }
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

criterion_group!(benches, sizes, expand);
criterion_main!(benches);
