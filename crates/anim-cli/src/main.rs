//! The binary `anim`: one verb a file, one contract for all.
//!
//! Every verb takes `--json` and then prints exactly one object on stdout. Diagnostics go to stderr, one a line, as
//! `error: FILE: WHERE: WHAT`. Exit codes: 0 fine, 1 done with findings of severity error or goals
//! not met, 2 input or call unusable.

mod bake;
mod cache;
mod check;
mod compress;
mod contact_sheet;
mod convert;
mod demo;
mod grown;
mod ik;
mod ik_solve;
mod info;
mod input;
mod output;
mod picture;
mod play;
mod progress;
mod render;
mod sample;
mod shapes;
mod shapes_curves;
mod simulate;
mod skin;
mod still;
mod threads;
mod weights;
mod weights_picture;
mod weights_rig;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::Exit;

/// Characters that play, reach, drape and are skinned.
#[derive(Debug, Parser)]
#[command(name = "anim", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// What is in a file.
    Info(info::Args),
    /// What is wrong with a file.
    Check(check::Args),
    /// Exact numbers at times.
    Sample(sample::Args),
    /// The whole frame over a clip or a scene.
    Play(play::Args),
    /// A picture of one moment.
    Render(render::Args),
    /// What clips take on disk, and at which error.
    Compress(compress::Args),
    /// Goals solved on a posed character.
    Ik(ik::Args),
    /// Deformers side by side.
    Skin(skin::Args),
    /// Face shapes: their names, sizes and weights.
    Shapes(shapes::Args),
    /// A mesh bound to a skeleton.
    Weights(weights::Args),
    /// From one format to another.
    Convert(convert::Args),
    /// A scene's simulation, with energies, strains and penetrations.
    Simulate(simulate::Args),
    /// The built-in scene.
    Demo(demo::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let outcome = match cli.verb {
        Verb::Info(args) => info::run(&args),
        Verb::Check(args) => check::run(&args),
        Verb::Sample(args) => sample::run(&args),
        Verb::Play(args) => play::run(&args),
        Verb::Render(args) => render::run(&args),
        Verb::Compress(args) => compress::run(&args),
        Verb::Ik(args) => ik::run(&args),
        Verb::Skin(args) => skin::run(&args),
        Verb::Shapes(args) => shapes::run(&args),
        Verb::Weights(args) => weights::run(&args),
        Verb::Convert(args) => convert::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Demo(args) => demo::run(&args),
    };
    match outcome {
        Ok(Exit::Fine) => ExitCode::SUCCESS,
        Ok(Exit::Findings) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}
