//! Builds, checks and measures the workspace: `cargo xtask ci | tidy | explore | bench | assets | book`.
//!
//! Everything a contributor or a server runs beyond plain cargo lives here, so that both run the same thing. Depends on
//! no crate of the workspace, so that it works while they do not build.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks through its streams"
)]

mod assets;
mod bench;
mod book;
mod ci;
mod explore;
mod floors;
mod metrics;
mod peer_arms;
mod peer_runs;
mod peer_sheets;
mod peer_weights;
mod peers;
mod peers_skin;
mod source;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Build, check and measure the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must pass before a merge: format, house rules, lints, tests, docs.
    Ci,
    /// The house rules that no lint knows: floors, module docs, forbidden calls, lengths.
    Tidy,
    /// The property tests with cases that the gate does not draw.
    Explore(explore::Options),
    /// Run the benches and compare them with other programs and with docs/baseline.json.
    Bench(bench::Options),
    /// Write the assets that tests and the demo use.
    Assets,
    /// Draw the pictures of the book.
    Book,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Tidy => tidy::run(),
        Task::Explore(options) => explore::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Assets => assets::write(),
        Task::Book => book::draw(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}
