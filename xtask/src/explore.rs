//! `cargo xtask explore`: the property tests with many other cases than the gate's.
//!
//! The gate draws the same cases every time (`.cargo/config.toml` fixes the seed), so that a change is judged by what it
//! changes. Cases that nobody has seen yet are looked for here, on purpose, with time to think about what they find.

use clap::Args;

use crate::workspace::{cargo, run as run_command};

/// How far to look.
#[derive(Args)]
pub(crate) struct Options {
    /// Only this crate.
    package: Option<String>,
    /// Cases for each property that does not set its own number.
    #[arg(long, default_value_t = 4000)]
    cases: u32,
    /// What to draw them from; another one each time if not given.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs the tests and says how to see the same cases again.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let seed = options.seed.unwrap_or_else(now);
    let mut command = cargo();
    command.args(["test", "--no-fail-fast"]);
    match &options.package {
        Some(package) => command.args(["--package", package]),
        None => command.arg("--workspace"),
    };
    command
        .env("PROPTEST_CASES", options.cases.to_string())
        .env("PROPTEST_RNG_SEED", seed.to_string());
    println!("drawn from {seed}: `--seed {seed}` draws the same again");
    run_command(&mut command)
}

/// Some number that was not there before.
fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
