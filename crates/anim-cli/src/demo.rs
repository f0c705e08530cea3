//! `anim demo`: the built-in scene, without any file.

use std::path::{Path, PathBuf};

use crate::output::{Exit, Failure};
use crate::play::{self, RunArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder to write demo.glb and demo.png into.
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Number of frames; as many as the scene lasts.
    #[arg(long)]
    frames: Option<u32>,
    /// Threads; results do not depend on them.
    #[arg(long)]
    threads: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// No progress bar, no table.
    #[arg(long)]
    quiet: bool,
}

/// A humanoid in a cape walks over hills, looks at a moving light, and kicks up dust.
const SCENE: &str = include_str!("demo.scene.json");

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let spec = play::parse(SCENE, "demo.scene.json")?;
    let show = play::set_up(spec, "demo.scene.json", args.threads, &mut |file| {
        play::load(Path::new(""), file)
    })?;
    let run = RunArgs {
        fps: None,
        frames: args.frames,
        threads: args.threads,
        json: args.json,
        quiet: args.quiet,
        out: Some(args.out.join("demo.glb")),
        sheet: Some(args.out.join("demo.png")),
    };
    play::perform(show, &run, "demo")
}
