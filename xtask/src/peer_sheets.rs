//! Other programs hang the sheet of anim-sim's bench: a part of `cargo xtask bench --peers`.
//!
//! The bench leaves sizes and our own answers; the scripts of xtask/peers simulate the same second, and one judge measures
//! the stretch that every program ends with. A time is worth what the cloth looks like, so each stands beside the
//! fastest of ours that stretches no more.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::time;
use crate::peer_runs::{Script, folder, print_answers};

/// The first one judges ours.
const SCRIPTS: [Script; 4] = [
    Script {
        file: "sheet.py",
        packages: &["numpy"],
    },
    Script {
        file: "sheet_pbd.py",
        packages: &["numpy", "pyPBD==2.2.2"],
    },
    Script {
        file: "sheet_newton.py",
        packages: &["numpy", "newton==1.8.0", "warp-lang==1.19.0"],
    },
    Script {
        file: "sheet_bpy.py",
        packages: &["numpy", "bpy==5.0.1"],
    },
];

/// What the judge calls us.
const OURS: &str = "anim-sim";

/// How one program did.
#[derive(Debug, PartialEq)]
struct Score {
    task: String,
    program: String,
    /// Nanoseconds of the processor a frame.
    time: f64,
    /// Of the edges that hang, as parts of their length: at the end, and the largest on the way.
    mean_stretch: f64,
    max_stretch: f64,
}

/// Where the bench leaves its problem.
pub(crate) fn problems(target: &Path) -> Vec<PathBuf> {
    vec![folder(target).join("sheet.json")]
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
        task: line["task"].as_str()?.to_owned(),
        program: line["program"].as_str()?.to_owned(),
        time: 1e9 * number("seconds").filter(|seconds| *seconds > 0.0)?,
        mean_stretch: number("mean_stretch")?,
        max_stretch: number("max_stretch")?,
    })
}

/// Task by task, in the order of the scores.
fn table(scores: &[Score]) -> Vec<String> {
    let mut tasks: Vec<&str> = Vec::new();
    for score in scores {
        if !tasks.contains(&score.task.as_str()) {
            tasks.push(&score.task);
        }
    }
    let mut lines = Vec::new();
    for task in tasks {
        lines.push(task.to_owned());
        lines.push(line(["", "a frame", "", "mean", "max"]));
        let of_task = || scores.iter().filter(|score| score.task == task);
        for score in of_task() {
            let is_ours = score.program.starts_with(OURS);
            let alike = of_task()
                .filter(|ours| ours.program.starts_with(OURS))
                .filter(|ours| !is_ours && ours.mean_stretch <= score.mean_stretch)
                .map(|ours| ours.time)
                .min_by(f64::total_cmp);
            let ratio = alike.map_or(String::new(), |ours| format!("{:.1}x", score.time / ours));
            let percent = |part: f64| format!("{:.2} %", 100.0 * part);
            lines.push(line([
                &score.program,
                &time(score.time),
                &ratio,
                &percent(score.mean_stretch),
                &percent(score.max_stretch),
            ]));
        }
    }
    if !lines.is_empty() {
        lines.push("x: as many times as long as ours that stretches no more".into());
    }
    lines
}

fn line([program, time, ratio, mean, max]: [&str; 5]) -> String {
    format!("  {program:<56} {time:>9} {ratio:>8} {mean:>9} {max:>9}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(program: &str, seconds: f64, stretch: f64) -> String {
        format!(
            r#"{{"task": "t", "program": "{program}", "seconds": {seconds}, "mean_stretch": {stretch}, "max_stretch": 1.0}}"#
        )
    }

    #[test]
    fn a_score_is_what_a_script_prints() {
        let score = read_score(&printed("p", 0.25, 0.5)).unwrap();
        assert_eq!((score.time, score.mean_stretch), (2.5e8, 0.5));
        assert_eq!(read_score(&printed("p", 0.0, 0.5)), None);
        assert_eq!(read_score("Warp 1.19.0 says hello"), None);
    }

    #[test]
    fn a_program_is_compared_with_ours_that_stretches_no_more() {
        let scores: Vec<Score> = [
            ("anim-sim fast", 1.0, 0.1),
            ("anim-sim stiff", 4.0, 0.01),
            ("loose", 8.0, 0.1),
            ("stiff", 8.0, 0.05),
            ("stiffest", 8.0, 0.001),
        ]
        .iter()
        .filter_map(|(program, seconds, stretch)| read_score(&printed(program, *seconds, *stretch)))
        .collect();
        let lines = table(&scores);
        assert_eq!(lines.len(), 8, "a title, a head, five programs, a foot");
        assert!(lines[4].contains(" 8.0x"), "{}", lines[4]);
        assert!(lines[5].contains(" 2.0x"), "{}", lines[5]);
        assert!(!lines[6].contains('x'), "{}", lines[6]);
    }
}
