//! Every file that nobody here made, through `info`, `check` and `sample`: nothing panics, nothing hangs, legal files
//! load, broken ones get an error that names the place, and the official validator's verdicts are matched.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::run::{Run, anim, data, files};
use serde_json::Value;

fn is_gltf(path: &Path) -> bool {
    let extension = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or("");
    ["gltf", "glb", "vrm", "vrma"].contains(&extension)
}

/// One run, held to the contract of the binary.
fn run(verb: &str, path: &Path) -> Run {
    let run = anim([verb.as_ref(), path.as_os_str(), "--json".as_ref()]);
    let place = || {
        format!(
            "{verb} {}: exit {}\n{}",
            path.display(),
            run.code,
            run.stderr
        )
    };
    assert!((0..=2).contains(&run.code), "{}", place());
    assert!(!run.stderr.contains("panicked"), "{}", place());
    for line in run.stderr.lines() {
        let (level, rest) = line.split_once(": ").unwrap_or_default();
        assert!(["error", "warning"].contains(&level), "{}", place());
        // FILE: WHERE: WHAT
        assert!(rest.matches(": ").count() >= 2, "{}", place());
    }
    if run.code == 2 {
        assert!(
            run.stdout.is_empty() && !run.stderr.is_empty(),
            "{}",
            place()
        );
    } else {
        assert_eq!(
            run.json()["schema"],
            format!("anim.{verb}/1"),
            "{}",
            place()
        );
    }
    run
}

/// Runs `check` for every path on two threads and collects the complaints.
fn complaints(
    paths: &[PathBuf],
    check: impl Fn(&Path) -> Result<(), String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(check(path).err());
        }
        found
    };
    thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut found = work();
        found.extend(other.join().expect("a worker"));
        found
    })
}

#[test]
fn every_file_is_read_or_refused_with_a_place() {
    let Some(data) = data() else { return };
    let mut paths = files(&data);
    paths.extend(files(&data.join("../bugs")));
    let found = complaints(&paths, |path| {
        for verb in ["info", "check", "sample"] {
            run(verb, path);
        }
        Ok(())
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(paths.len() > 400, "{}", paths.len());
}

#[test]
fn legal_files_load() {
    let Some(data) = data() else { return };
    let legal = ["gltf", "face", "vrm", "apache2/blender-io"];
    let mut paths: Vec<PathBuf> = legal
        .iter()
        .flat_map(|folder| files(&data.join(folder)))
        .collect();
    paths.extend(files(&data.join("../bugs")));
    paths.retain(|path| is_gltf(path));
    let found = complaints(&paths, |path| {
        let run = run("sample", path);
        if run.code == 0 {
            Ok(())
        } else {
            Err(run.stderr)
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(paths.len() > 50, "{}", paths.len());
}

#[test]
fn what_the_official_validator_calls_an_error_is_reported_and_what_it_passes_loads() {
    let Some(data) = data() else { return };
    let mut paths = files(&data);
    paths.retain(|path| path.to_string_lossy().ends_with(".report.json"));
    let found = complaints(&paths, |report| {
        let name = report.to_string_lossy();
        let file = PathBuf::from(name.trim_end_matches(".report.json"));
        if !file.exists() {
            return Ok(());
        }
        let verdict: Value =
            serde_json::from_slice(&std::fs::read(report).expect("a file")).expect("JSON");
        let messages = verdict["issues"]["messages"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let errors: Vec<&Value> = messages
            .iter()
            .filter(|message| message["severity"] == 0)
            .collect();
        let code = run("check", &file).code;
        match (errors.as_slice(), code) {
            ([], 0) | ([_, ..], 1 | 2) => Ok(()),
            ([], code) => Err(format!("{}: passes, but exit {code}", file.display())),
            (errors, code) => Err(format!("{}: exit {code}, but {errors:?}", file.display())),
        }
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(paths.len() > 100, "{}", paths.len());
}
