//! `cargo xtask bench --peers`: other programs solve the problems of our benches, on this machine, in the same run.
//!
//! A figure measured elsewhere ([`crate::peers`]) says little about this machine and these problems. A bench leaves its
//! problems in target/peers; the scripts of xtask/peers solve them with packages from PyPI in an environment of their
//! own, and one judge that belongs to no solver measures what each one reached. A program that cannot be had is skipped,
//! and one that does not end is stopped.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::workspace::root;
use crate::{peer_arms, peer_sheets, peer_weights};

/// What a script may take before it is stopped; what it has printed until then counts.
const PATIENCE: Duration = Duration::from_secs(420);

/// A script of xtask/peers and the packages that it needs.
pub(crate) struct Script {
    pub(crate) file: &'static str,
    pub(crate) packages: &'static [&'static str],
}

/// Makes benches leave their problems below `target`; what an earlier run left is gone.
pub(crate) fn ask_for_problems(benches: &mut Command, target: &Path) -> Result<(), String> {
    let folder = folder(target);
    fs::create_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let problems = [
        peer_arms::problems(target),
        peer_sheets::problems(target),
        peer_weights::problems(target),
    ];
    for problem in problems.concat() {
        if problem.exists() {
            fs::remove_file(&problem).map_err(|why| format!("{}: {why}", problem.display()))?;
        }
    }
    benches.env("ANIM_PEERS_OUT", folder);
    Ok(())
}

/// Runs every script on the problems that the benches left below `target` and prints how all did.
pub(crate) fn run(target: &Path) {
    let runs = [peer_weights::run, peer_sheets::run, peer_arms::run];
    if !runs.map(|run| run(target)).contains(&true) {
        println!(
            "no peers: only the benches of anim-ik, anim-skin and anim-sim leave problems for them"
        );
    }
}

/// Where problems, answers and the environment of the scripts are.
pub(crate) fn folder(target: &Path) -> PathBuf {
    target.join("peers")
}

/// Runs each script on its problems and prints the table of all scores that they print, and why any was skipped.
pub(crate) fn print_answers<'a, Score>(
    target: &Path,
    runs: impl Iterator<Item = (&'a Script, &'a [PathBuf])>,
    read_score: fn(&str) -> Option<Score>,
    table: fn(&[Score]) -> Vec<String>,
) {
    let mut scores = Vec::new();
    for (script, problems) in runs {
        let Script { file, packages } = script;
        let answers = install(target, packages).and_then(|python| solve(&python, file, problems));
        let (lines, end) = answers.unwrap_or_else(|why| (Vec::new(), Err(why)));
        for line in lines {
            match line.strip_prefix(NOTE) {
                Some(note) => println!("{file}: {note}"),
                None => scores.extend(read_score(&line)),
            }
        }
        if let Err(why) = end {
            println!("skipped {file}: {why}");
        }
    }
    if !scores.is_empty() {
        for line in table(&scores) {
            println!("{line}");
        }
    }
}

/// How a script begins a line that is for the reader and no score.
const NOTE: &str = "note: ";

/// The interpreter of an environment that holds `packages`.
fn install(target: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    let environment = folder(target).join("python");
    let programs = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = environment.join(programs).join("python");
    if !python
        .with_extension(std::env::consts::EXE_EXTENSION)
        .exists()
    {
        let mut create = Command::new("python3");
        succeed(create.args(["-m", "venv"]).arg(&environment))?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet"])
        .arg("--disable-pip-version-check")
        .args(packages);
    succeed(&mut pip)?;
    Ok(python)
}

/// The lines that a script of xtask/peers prints, and how it ended; on one thread, as ours.
fn solve(
    python: &Path,
    file: &str,
    problems: &[PathBuf],
) -> Result<(Vec<String>, Result<(), String>), String> {
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(root().join("xtask/peers").join(file))
        .args(problems)
        .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"].map(|name| (name, "1")));
    output(&mut command, PATIENCE)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    output(command, PATIENCE)?.1
}

/// The lines that a command prints, and how it ended: well, or with the last line that it complained with, or stopped.
fn output(
    command: &mut Command,
    patience: Duration,
) -> Result<(Vec<String>, Result<(), String>), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("{program} does not start: {why}"))?;
    // Both streams are read while it runs, or it would wait for room in a full one.
    let printed = child.stdout.take().map(lines_in_background);
    let complained = child.stderr.take().map(lines_in_background);
    let end = wait(&mut child, patience);
    let [printed, complained] = [printed, complained].map(|lines| {
        lines
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    });
    let end = match end {
        None => Err(format!("stopped after {} s", patience.as_secs())),
        Some(true) => Ok(()),
        Some(false) => {
            let last = complained.iter().rfind(|line| !line.trim().is_empty());
            Err(last.map_or("it failed without a word".into(), String::clone))
        }
    };
    Ok((printed, end))
}

fn lines_in_background(stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<String>> {
    thread::spawn(move || {
        BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .collect()
    })
}

/// Whether it ended well; `None` if it had to be stopped.
fn wait(child: &mut Child, patience: Duration) -> Option<bool> {
    let begin = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.success()),
            Ok(None) if begin.elapsed() < patience => thread::sleep(Duration::from_millis(50)),
            Ok(None) | Err(_) => break,
        }
    }
    // It may have ended in the meantime, which is as good.
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_run_says_why() {
        assert!(succeed(&mut Command::new("no-such-program-anywhere")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_does_not_end_is_stopped_and_what_it_printed_counts() {
        let mut endless = Command::new("sh");
        endless.args(["-c", "echo early; exec sleep 60"]);
        let (printed, end) = output(&mut endless, Duration::from_millis(300)).unwrap();
        assert_eq!(printed, ["early"]);
        assert!(end.unwrap_err().starts_with("stopped"));
    }
}
