//! Other programs reach for the poses of anim-ik's arm of seven hinges: a part of `cargo xtask bench --peers`.
//!
//! The bench leaves poses, starts and our own answers; the scripts of xtask/peers solve the same, and one judge measures
//! what each one reached.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::time;
use crate::peer_runs::{Script, folder, print_answers};

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

/// Where the bench leaves its problem.
pub(crate) fn problems(target: &Path) -> Vec<PathBuf> {
    vec![folder(target).join("arm7.json")]
}

/// Runs every script if the bench left its problem, and prints how all did; false if it did not.
pub(crate) fn run(target: &Path) -> bool {
    let problems = problems(target);
    let there = problems.iter().all(|problem| problem.exists());
    if there {
        let runs = SCRIPTS.iter().map(|script| (script, &problems[..]));
        print_answers(target, runs, read_score, table);
    }
    there
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
}
