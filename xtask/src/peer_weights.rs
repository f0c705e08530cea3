//! Other programs bind the meshes of anim-skin's benches: a part of `cargo xtask bench --peers`.
//!
//! The benches leave meshes, bones and our own answers; the scripts of xtask/peers solve the same, and one judge measures
//! every answer. Times stand beside ours as ratios, with what each answer is wrong by.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::time;
use crate::peer_runs::{Script, folder, print_answers};

const PROBLEMS: [&str; 3] = ["heat", "bbw", "geodesic"];

/// Judges ours, of every problem.
const JUDGE: Script = Script {
    file: "binding.py",
    packages: &["numpy"],
};

/// Scripts and the problem that each solves.
const SCRIPTS: [(&str, Script); 3] = [
    (
        "heat",
        Script {
            file: "binding_bpy.py",
            packages: &["numpy", "bpy==5.0.1"],
        },
    ),
    (
        "bbw",
        Script {
            file: "binding_igl.py",
            packages: &["numpy", "libigl==2.6.3"],
        },
    ),
    (
        "geodesic",
        Script {
            file: "binding_pp3d.py",
            packages: &["numpy", "potpourri3d==1.4.0"],
        },
    ),
];

/// How one program did.
#[derive(Debug, PartialEq)]
struct Score {
    task: String,
    program: String,
    /// Nanoseconds.
    time: f64,
    /// The largest |sum - 1| of a row of weights.
    sum_error: Option<f64>,
    /// Rows without weight.
    empty: Option<f64>,
    /// |answer - exact| / |exact|, of distances.
    error: Option<f64>,
}

/// Where the benches leave their problems.
pub(crate) fn problems(target: &Path) -> Vec<PathBuf> {
    let folder = folder(target);
    PROBLEMS
        .map(|name| folder.join(format!("{name}.json")))
        .to_vec()
}

/// Runs every script whose problem a bench left and prints how all did; false if there is no problem.
pub(crate) fn run(target: &Path) -> bool {
    let there: Vec<PathBuf> = problems(target)
        .into_iter()
        .filter(|path| path.exists())
        .collect();
    if there.is_empty() {
        return false;
    }
    let others = SCRIPTS.iter().filter_map(|(name, script)| {
        let is_its = |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem == *name);
        let problem = there.iter().find(is_its)?;
        Some((script, std::slice::from_ref(problem)))
    });
    let runs = std::iter::once((&JUDGE, &there[..])).chain(others);
    print_answers(target, runs, read_score, table);
    true
}

/// Reads a line that a script prints; `None` if it is none of ours.
fn read_score(line: &str) -> Option<Score> {
    let line: Value = serde_json::from_str(line).ok()?;
    let number = |name: &str| line[name].as_f64();
    Some(Score {
        task: line["task"].as_str()?.to_owned(),
        program: line["program"].as_str()?.to_owned(),
        time: 1e9 * number("seconds").filter(|seconds| *seconds > 0.0)?,
        sum_error: number("sum_error"),
        empty: number("empty"),
        error: number("error"),
    })
}

/// Task by task; times also as multiples of that of ours whose name ends alike, or else of the first.
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
        lines.push(line(["", "time", "", "sum off", "empty", "error"]));
        let of_task: Vec<&Score> = scores.iter().filter(|s| s.task == task).collect();
        let ours = |score: &&Score| score.program.starts_with("anim-");
        let kind = |score: &Score| score.program.rsplit(' ').next().map(str::to_owned);
        for score in &of_task {
            let mut mine = of_task.iter().copied().filter(ours);
            let alike = mine.clone().find(|ours| kind(ours) == kind(score));
            let ratio = alike
                .or_else(|| mine.next())
                .map(|ours| score.time / ours.time);
            let number = |number: Option<f64>| number.map_or(String::new(), |n| format!("{n:.1e}"));
            lines.push(line([
                &score.program,
                &time(score.time),
                &ratio.map_or(String::new(), |ratio| format!("{ratio:.1}x")),
                &number(score.sum_error),
                &score.empty.map_or(String::new(), |empty| empty.to_string()),
                &number(score.error),
            ]));
        }
    }
    if !lines.is_empty() {
        lines.push("x: as many times as long as ours".into());
    }
    lines
}

fn line([program, time, ratio, sum, empty, error]: [&str; 6]) -> String {
    format!("  {program:<44} {time:>9} {ratio:>8} {sum:>8} {empty:>6} {error:>8}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(task: &str, program: &str, seconds: f64) -> String {
        format!(
            r#"{{"task": "{task}", "program": "{program}", "seconds": {seconds}, "error": 0.01}}"#
        )
    }

    #[test]
    fn a_score_is_what_a_script_prints() {
        let score = read_score(&printed("t", "p", 0.25));
        let expected = Score {
            task: "t".into(),
            program: "p".into(),
            time: 2.5e8,
            sum_error: None,
            empty: None,
            error: Some(0.01),
        };
        assert_eq!(score, Some(expected));
        assert_eq!(read_score(&printed("t", "p", 0.0)), None);
        assert_eq!(read_score("Blender 5.0.1 says hello"), None);
    }

    #[test]
    fn each_program_stands_beside_ours_of_its_task_and_kind() {
        let scores: Vec<Score> = [
            ("a", "anim-geom heat, once", 1.0),
            ("a", "anim-geom marching", 0.1),
            ("a", "other marching", 0.4),
            ("b", "anim-skin", 2.0),
            ("b", "other", 5.0),
        ]
        .iter()
        .filter_map(|(task, program, seconds)| read_score(&printed(task, program, *seconds)))
        .collect();
        let lines = table(&scores);
        assert_eq!(
            lines.len(),
            10,
            "two titles and heads, five programs, a foot"
        );
        assert!(lines[4].contains(" 4.0x"), "{}", lines[4]);
        assert!(lines[8].contains(" 2.5x"), "{}", lines[8]);
    }
}
