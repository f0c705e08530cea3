//! Skinning decomposition of a galloping quadruped of some 6,000 vertices, 20 bones and 48 frames; prints error beside time.
#![allow(
    missing_docs,
    clippy::print_stdout,
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
            println!(
                "anim-skin/ssdr/{}v_{}f_{}b smoothing {smoothing:e}, {threads} threads: {seconds:.2} s, rmse {:.5} % of the diagonal, {} rounds",
                mesh.vertex_count(),
                frames.len(),
                result.weights.joint_count(),
                result.report.rmse_percent_of_diagonal,
                result.history.len() - 1,
            );
            if threads == 2 {
                let history: Vec<String> =
                    result.history.iter().map(|e| format!("{e:.4}")).collect();
                println!("  {}", history.join(" "));
            }
        }
    }
}
