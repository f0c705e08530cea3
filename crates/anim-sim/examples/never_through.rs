//! Runs each scene of cloth that must not pass through itself for many frames, and prints what an exact test counts.
//!
//! `cargo run --release -p anim-sim --example never_through -- [frames] [scene]`
#![allow(clippy::print_stdout, reason = "the counts are its purpose")]

#[path = "../tests/common/scenes.rs"]
mod scenes;

use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let frames: u32 = arguments.next().map_or(Ok(10_000), |a| a.parse())?;
    let only = arguments.next().unwrap_or_default();
    let all = [
        scenes::shot(31, 0.05)?,
        scenes::shot(31, 0.006)?,
        scenes::wrung(25)?,
        scenes::stacked(17)?,
        scenes::cape(25)?,
    ];
    for scene in all.iter().filter(|scene| scene.name.contains(&only)) {
        let began = Instant::now();
        let mut reports = 0;
        let verdict = scenes::judge(scene, frames, |frame, _, outcome, crossed| {
            if (crossed > 0 || outcome.pinched > 0) && reports < 20 {
                reports += 1;
                println!("  frame {frame}: {crossed} pairs crossed, {outcome:?}");
            }
        })?;
        println!(
            "{}: {frames} frames in {:.1} s\n  {verdict:?}",
            scene.name,
            began.elapsed().as_secs_f32()
        );
    }
    Ok(())
}
