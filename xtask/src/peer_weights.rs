//! Other programs bind the meshes of anim-skin's benches: a part of `cargo xtask bench --peers`.
//!
//! The benches leave meshes, bones and our own answers; the scripts of xtask/peers solve the same, and one judge measures
//! every answer. Times stand beside ours as ratios, with what each answer is wrong by.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::time;
use crate::peer_runs::{Script, folder, print_answers};

const PROBLEMS: [&str; 4] = ["heat", "bbw", "geodesic", "human"];

/// Judges ours, of every problem.
const JUDGE: Script = Script {
    file: "binding.py",
    packages: &["numpy"],
};

const BLENDER: Script = Script {
    file: "binding_bpy.py",
    packages: &["numpy", "bpy==5.0.1"],
};

const LIBIGL: Script = Script {
    file: "binding_igl.py",
    packages: &["numpy", "scipy", "libigl==2.6.3"],
};

const POTPOURRI: Script = Script {
    file: "binding_pp3d.py",
    packages: &["numpy", "potpourri3d==1.4.0"],
};

/// Problems, and a script that solves each: one run each, so that patience is for each.
const SCRIPTS: [(&str, Script); 5] = [
    ("heat", BLENDER),
    ("bbw", LIBIGL),
    ("geodesic", POTPOURRI),
    ("human", BLENDER),
    ("human", LIBIGL),
];

/// How a program is called, how the task begins, and how many times our time of the processor it shall take at least.
const ASKED: (&str, &str, f64) = ("libigl", "bounded biharmonic weights", 3.0);

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
    /// From what an artist painted: the mean L1 difference of rows divided by their sums.
    from_authored: Option<f64>,
    /// Of bounded biharmonic weights, on the nodes of our lattice.
    energy: Option<f64>,
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
        from_authored: number("from_authored"),
        energy: number("energy"),
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
        lines.push(line([
            "", "time", "", "sum off", "empty", "error", "painted", "energy",
        ]));
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
                &score
                    .from_authored
                    .map_or(String::new(), |l1| format!("{l1:.3}")),
                &score
                    .energy
                    .map_or(String::new(), |energy| format!("{energy:.2}")),
            ]));
            lines.extend(ratio.and_then(|ratio| asked(score, ratio)));
        }
    }
    if !lines.is_empty() {
        lines.push("x: as many times of the processor's time as ours".into());
        lines.push("painted: mean L1 difference from the artist's weights, 0 to 2".into());
        lines.push(
            "energy: of rows divided by their sums, by the graph Laplacian of our lattice".into(),
        );
    }
    lines
}

/// Whether the program took as many times our time as was asked of us, in a sentence.
fn asked(score: &Score, ratio: f64) -> Option<String> {
    let (program, task, times) = ASKED;
    let is_asked = score.program.starts_with(program) && score.task.starts_with(task);
    let end = match ratio >= times {
        true => "met".to_owned(),
        false => format!("MISSED, {program} takes {ratio:.1}x"),
    };
    is_asked
        .then(|| format!("    asked: {times}x less time of the processor than {program}: {end}"))
}

fn line(cells: [&str; 8]) -> String {
    let [program, time, ratio, sum, empty, error, painted, energy] = cells;
    let line = format!(
        "  {program:<44} {time:>9} {ratio:>8} {sum:>8} {empty:>6} {error:>8} {painted:>8} {energy:>9}"
    );
    line.trim_end().to_owned()
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
            from_authored: None,
            energy: None,
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
            12,
            "two titles and heads, five programs, three lines of foot"
        );
        assert!(lines[4].contains(" 4.0x"), "{}", lines[4]);
        assert!(lines[8].contains(" 2.5x"), "{}", lines[8]);
    }

    #[test]
    fn three_times_less_than_libigl_is_met_or_said_to_be_missed() {
        for (seconds, end) in [(3.5, "met"), (2.0, "MISSED, libigl takes 2.0x")] {
            let task = "bounded biharmonic weights, hand";
            let scores = [("anim-skin, bbw", 1.0), ("libigl, bbw", seconds)];
            let scores = scores.map(|(program, s)| read_score(&printed(task, program, s)).unwrap());
            let lines = table(&scores);
            assert!(lines[4].ends_with(end), "{}", lines[4]);
        }
    }
}
