//! Motion alone, of models from files: 10,000 characters each sample two clips, blend them and find their globals.
//!
//! The files are looked for in the folder that `ANIM_DATA` names, or beside the project; without them there is nothing
//! to measure. Size and error of the clips are printed beside the times, since speed is to be compared at equal error.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    missing_docs,
    reason = "a benchmark without its model is none, criterion makes undocumented functions and has no place for sizes"
)]

use std::path::{Path, PathBuf};

use anim_engine::Character;
use anim_engine::asset::{Document, load};
use anim_engine::skeleton::{Clip, Globals, Layer, Mode, Skeleton, blend};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rayon::prelude::*;

const CHARACTERS: usize = 10_000;
/// Characters in one task.
const CHUNK: usize = 64;

criterion_group!(benches, motion);
criterion_main!(benches);

fn motion(criterion: &mut Criterion) {
    for name in ["Fox", "kaykit_knight"] {
        let path = data().join(format!("gltf/{name}.glb"));
        match load(&path) {
            Ok(document) => measure(criterion, name, &document),
            Err(why) => eprintln!("skipped: {why}"),
        }
    }
}

fn data() -> PathBuf {
    let beside_project = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("ANIM_DATA").map_or_else(beside_project, PathBuf::from)
}

fn measure(criterion: &mut Criterion, name: &str, document: &Document) {
    let skeleton = document.skeleton().expect("a skeleton");
    let options = Character::bake_options(document).expect("options");
    let bake = |clip| Clip::bake(clip, &skeleton, &options).expect("a clip");
    let [(walk, walk_report), (run, run_report)] = [0, 1].map(|clip| bake(&document.clips[clip]));
    let bytes = walk_report.bytes + run_report.bytes;
    let error = walk_report.max_error.max(run_report.max_error);
    let mut globals = vec![Globals::new(&skeleton); CHARACTERS];
    let mut group = criterion.benchmark_group("anim-engine");
    group.throughput(Throughput::Elements(CHARACTERS as u64));
    group.sample_size(20);
    for (kind, threads) in [("motion_10000", 1), ("motion_10000_2_threads", 2)] {
        let id = format!("{kind}/{name}");
        for (key, value) in [
            ("joints", skeleton.len().to_string()),
            ("bytes", bytes.to_string()),
            ("max-error", format!("{error:.2e}")),
            ("tolerance", format!("{:.2e}", options.tolerance)),
        ] {
            eprintln!("anim-metric: anim-engine/{id} {key} {value}");
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().expect("threads");
        let mut now = 0.0;
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                now += 1.0 / 60.0;
                pool.install(|| frame(&skeleton, [&walk, &run], now, &mut globals));
            });
        });
    }
    group.finish();
}

fn frame(skeleton: &Skeleton, [walk, run]: [&Clip; 2], now: f32, globals: &mut [Globals]) {
    let scratch = || [(); 3].map(|()| skeleton.rest().clone());
    let chunks = globals.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each_init(scratch, |[walking, running, out], (chunk, globals)| {
        for (index, globals) in globals.iter_mut().enumerate() {
            let phase = (chunk * CHUNK + index) as f32 * 0.013;
            walk.sample((now + phase) % walk.duration(), walking);
            run.sample((now * 1.5 + phase * 1.7) % run.duration(), running);
            let layer = |pose, weight| Layer {
                pose,
                weight,
                mask: None,
                mode: Mode::Override,
            };
            let layers = [layer(walking, 0.3), layer(running, 0.7)];
            blend(skeleton.rest(), &layers, out);
            skeleton.globals(out, globals);
        }
    });
}
