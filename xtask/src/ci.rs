//! `cargo xtask ci`: what must pass before a merge, cheapest first.
//!
//! `.ci/run` and the GitHub workflow call this and nothing else, so a green run here is a green run there.

use std::time::Instant;

use crate::tidy;
use crate::workspace::{cargo, root, run as run_command};

/// The test command that the README tells its readers.
const TEST: [&str; 2] = ["test", "--workspace"];

type Step = (&'static str, fn() -> Result<(), String>);

const STEPS: [Step; 6] = [
    ("format", || {
        run_command(cargo().args(["fmt", "--all", "--check"]))
    }),
    ("tidy", tidy::run),
    ("readme", readme_names_the_test_command),
    ("lints", || {
        let arguments = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ];
        run_command(cargo().args(arguments))
    }),
    ("tests", || run_command(cargo().args(TEST))),
    ("docs", || {
        let arguments = ["doc", "--workspace", "--no-deps"];
        run_command(cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
    }),
];

/// Runs every step, saying how long each took, and stops at the first that fails.
pub(crate) fn run() -> Result<(), String> {
    let start = Instant::now();
    for (name, step) in STEPS {
        println!("\n== {name}");
        let begun = Instant::now();
        step().map_err(|why| format!("{name}: {why}"))?;
        println!("== {name}: {:.1} s", begun.elapsed().as_secs_f64());
    }
    println!("\n== all passed in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// The gate must run what readers are told to run.
fn readme_names_the_test_command() -> Result<(), String> {
    let readme = std::fs::read_to_string(root().join("README.md"))
        .map_err(|why| format!("README.md: {why}"))?;
    let command = format!("cargo {}", TEST.join(" "));
    if readme.contains(&command) {
        Ok(())
    } else {
        Err(format!(
            "README.md does not say `{command}`, which is what ci runs"
        ))
    }
}
