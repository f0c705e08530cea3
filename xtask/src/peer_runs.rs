//! `cargo xtask bench --peers`: other programs solve the problems of our benches, on this machine, in the same run.
//!
//! A figure measured elsewhere ([`crate::peers`]) says little about this machine and these problems. A bench leaves its
//! problems in target/peers; the scripts of xtask/peers solve them with packages from PyPI in an environment of their
//! own, and one judge that belongs to no solver measures what each one reached. A program that cannot be had is skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::bench::time;
use crate::workspace::root;
use crate::{peer_sheets, peer_weights};

/// A script of xtask/peers and the packages that it needs.
struct Script {
    file: &'static str,
    packages: &'static [&'static str],
}

/// The first one judges ours.
const SCRIPTS: [Script; 3] = [
    Script {
        file: "arm7.py",
        packages: &["numpy==2.4.6"],
    },
    Script {
        file: "arm_pin.py",
        packages: &["numpy==2.4.6", "pin==4.1.0"],
    },
    Script {
        file: "arm_mink.py",
        packages: &[
            "numpy==2.4.6",
            "mink==1.3.0",
            "mujoco==4.0.0",
            "daqp==0.11.0",
        ],
    },
];

/// What the judge calls us.
const OURS: &str = "anim-ik";

/// How one solver did on all problems.
#[derive(Debug, PartialEq)]
struct Score {
    solver: String,
    /// Further starts that each solve may take.
    restarts: f64,
    solves: f64,
    reached: f64,
    /// Nanoseconds.
    mean: f64,
    /// Nanoseconds that 99 of 100 solves stay below.
    p99: f64,
    /// Metres, over all solves, reached or not.
    position_error: f64,
    /// Radians.
    rotation_error: f64,
}

/// Makes benches leave their problems below `target`; what an earlier run left is gone.
pub(crate) fn ask_for_problems(benches: &mut Command, target: &Path) -> Result<(), String> {
    let folder = folder(target);
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    for problem in [problems(target), peer_sheets::problem(target)]
        .into_iter()
        .chain(peer_weights::problems(target))
    {
        if problem.exists() {
            fs::remove_file(&problem).map_err(|why| format!("{}: {why}", problem.display()))?;
        }
    }
    benches.env("ANIM_PEERS_OUT", folder);
    Ok(())
}

/// Runs every script on the problems that the benches left below `target` and prints how all did.
pub(crate) fn run(target: &Path) {
    let has_others = [peer_weights::run, peer_sheets::run].map(|run| run(target));
    let problems = problems(target);
    if !problems.exists() {
        if !has_others.contains(&true) {
            println!(
                "no peers: only the benches of anim-ik, anim-skin and anim-sim leave problems for them"
            );
        }
        return;
    }
    let problems = [problems];
    let mut scores = Vec::new();
    for script in &SCRIPTS {
        let installed = install(target, script.packages);
        match installed.and_then(|python| solve(&python, script.file, &problems)) {
            Ok(printed) => scores.extend(printed.lines().filter_map(read_score)),
            Err(why) => println!("skipped {}: {why}", script.file),
        }
    }
    if !scores.is_empty() {
        for line in table(&scores) {
            println!("{line}");
        }
    }
}

pub(crate) fn folder(target: &Path) -> PathBuf {
    target.join("peers")
}

fn problems(target: &Path) -> PathBuf {
    folder(target).join("arm7.json")
}

/// The interpreter of an environment that holds `packages`.
pub(crate) fn install(target: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let environment = folder(target).join("python");
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = environment.join(programs).join("python");
    if !python
        .with_extension(std::env::consts::EXE_EXTENSION)
        .exists()
    {
        let mut create = Command::new("python3");
        output(create.args(["-m", "venv"]).arg(&environment))?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet"])
        .arg("--disable-pip-version-check")
        .args(packages);
    output(&mut pip)?;
    Ok(python)
}

/// What a script of xtask/peers prints; on one thread, as ours.
pub(crate) fn solve(python: &Path, file: &str, problems: &[PathBuf]) -> Result<String, String> {
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(root().join("xtask/peers").join(file))
        .args(problems)
        .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"].map(|name| (name, "1")));
    output(&mut command)
}

/// What a command prints, or the last line that it complains with.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|why| format!("{program} does not start: {why}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().rfind(|line| !line.trim().is_empty());
    Err(last.unwrap_or("it failed without a word").to_owned())
}

/// Reads a line that a script prints; `None` if it is none of ours.
fn read_score(line: &str) -> Option<Score> {
    let line: Value = serde_json::from_str(line).ok()?;
    let number = |name: &str| line[name].as_f64();
    Some(Score {
        solver: line["solver"].as_str()?.to_owned(),
        restarts: number("restarts")?,
        solves: number("solves").filter(|solves| *solves > 0.0)?,
        reached: number("reached")?,
        mean: 1e3 * number("mean_us")?,
        p99: 1e3 * number("p99_us")?,
        position_error: number("position_error")?,
        rotation_error: number("rotation_error")?,
    })
}

/// One line a solver; times also as multiples of ours with as many restarts.
fn table(scores: &[Score]) -> Vec<String> {
    let mut lines = vec![
        "arm of 7 hinges: the same reachable poses and starts, 1e-5 m and rad, limits kept".into(),
        line([
            "solver", "restarts", "reached", "mean", "", "p99", "", "m off", "rad off",
        ]),
    ];
    for score in scores {
        let ours = scores
            .iter()
            .find(|ours| ours.solver == OURS && ours.restarts == score.restarts);
        let ratio = |of: fn(&Score) -> f64| {
            ours.map(|ours| format!("{:.0}x", of(score) / of(ours)))
                .unwrap_or_default()
        };
        lines.push(line([
            &score.solver,
            &score.restarts.to_string(),
            &format!("{:.1} %", 100.0 * score.reached / score.solves),
            &time(score.mean),
            &ratio(|score| score.mean),
            &time(score.p99),
            &ratio(|score| score.p99),
            &format!("{:.1e}", score.position_error),
            &format!("{:.1e}", score.rotation_error),
        ]));
    }
    lines.push("x: as many times as long as ours; peers are called from Python".into());
    lines
}

fn line(cells: [&str; 9]) -> String {
    let [
        solver,
        restarts,
        reached,
        mean,
        mean_ratio,
        p99,
        p99_ratio,
        position,
        rotation,
    ] = cells;
    format!(
        "{solver:<40} {restarts:>8} {reached:>8} {mean:>9} {mean_ratio:>6} {p99:>9} {p99_ratio:>6} {position:>8} {rotation:>8}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(solver: &str, restarts: u32, microseconds: f64) -> String {
        format!(
            r#"{{"solver": "{solver}", "restarts": {restarts}, "solves": 200, "reached": 199, "mean_us": {microseconds},
            "p99_us": 90.5, "position_error": 2e-6, "rotation_error": 3e-6}}"#
        )
    }

    #[test]
    fn a_score_is_what_a_script_prints() {
        let expected = Score {
            solver: "anim-ik".into(),
            restarts: 20.0,
            solves: 200.0,
            reached: 199.0,
            mean: 25_000.0,
            p99: 90_500.0,
            position_error: 2e-6,
            rotation_error: 3e-6,
        };
        assert_eq!(read_score(&printed("anim-ik", 20, 25.0)), Some(expected));
    }

    #[test]
    fn other_lines_are_no_scores() {
        let nothing_solved = printed("a", 0, 1.0).replace("200", "0");
        let not_a_number = printed("a", 0, 1.0).replace("90.5", "NaN");
        let incomplete = printed("a", 0, 1.0).replace("reached", "found");
        for line in [
            "",
            "warning: slow",
            "7",
            &nothing_solved,
            &not_a_number,
            &incomplete,
        ] {
            assert_eq!(read_score(line), None, "{line}");
        }
    }

    #[test]
    fn peers_stand_beside_ours_with_as_many_restarts() {
        let scores: Vec<_> = [
            ("anim-ik", 0, 10.0),
            ("anim-ik", 20, 25.0),
            ("b", 20, 250.0),
            ("b", 3, 9.0),
        ]
        .iter()
        .filter_map(|&(solver, restarts, mean)| read_score(&printed(solver, restarts, mean)))
        .collect();
        let lines = table(&scores);
        assert_eq!(lines.len(), 7, "a title, a head, four solvers, a foot");
        for part in ["99.5 %", "250 µs", " 10x", "90.5 µs", " 1x", "2.0e-6"] {
            assert!(lines[4].contains(part), "{part} in {}", lines[4]);
        }
        assert!(!lines[5].contains('x'), "nothing of ours to compare with");
    }

    #[test]
    fn what_cannot_run_says_why() {
        assert!(output(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}
