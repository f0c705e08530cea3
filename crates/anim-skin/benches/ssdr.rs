//! Skinning decomposition of a galloping quadruped of some 6,000 vertices, 20 bones and 48 frames.
//!
//! One run takes seconds and is the same to the bit each time, so each is run once. `anim-metric` lines on the error
//! stream tell time and error, which `cargo xtask bench` prints beside what we aim at.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a benchmark prints, and may fail"
)]

#[path = "../tests/common/gallop.rs"]
mod gallop;

use std::time::Instant;

use anim_skin::weights::{SsdrOptions, ssdr};

fn main() {
    // Tests of all targets run benches too, without this argument.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (mesh, _, frames) = gallop::gallop(4, 48);
    for smoothing in [0.0, 1e-6] {
        for threads in [2, 1] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let options = SsdrOptions {
                bone_count: gallop::BONES,
                smoothing,
                ..SsdrOptions::default()
            };
            let start = Instant::now();
            let result = pool
                .build()
                .unwrap()
                .install(|| ssdr(&mesh, &frames, &options));
            let seconds = start.elapsed().as_secs_f64();
            let result = result.unwrap();
            let name = match (smoothing > 0.0, threads) {
                (false, 1) => "ssdr",
                (false, _) => "ssdr_2_threads",
                (true, 1) => "ssdr_smooth",
                (true, _) => "ssdr_smooth_2_threads",
            };
            for (key, value) in [
                ("seconds", format!("{seconds:.3}")),
                (
                    "rmse-percent",
                    format!("{:.4}", result.report.rmse_percent_of_diagonal),
                ),
                ("rounds", (result.history.len() - 1).to_string()),
            ] {
                eprintln!("anim-metric: anim-skin/{name}/6k_48 {key} {value}");
            }
            if threads == 2 {
                let history: Vec<String> =
                    result.history.iter().map(|e| format!("{e:.4}")).collect();
                println!(
                    "{} vertices, {} bones, smoothing {smoothing:e}, error after each round: {}",
                    mesh.vertex_count(),
                    result.weights.joint_count(),
                    history.join(" ")
                );
            }
        }
    }
}
