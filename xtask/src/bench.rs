//! `cargo xtask bench [crate]`: runs the benches and prints what they mean.
//!
//! Criterion's own report compares a machine with itself an hour ago. This one puts each median beside other programs'
//! figures ([`crate::peers`]), our targets and the baseline kept in docs/baseline.json. Quote ratios, not times.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use clap::Args;
use serde_json::Value;

use crate::metrics::{self, Metrics};
use crate::peer_runs;
use crate::peers::{COMPARED, work};
use crate::workspace::{array, cargo, metadata, packages, root, run_reading, text};

/// What to run and what to keep.
#[derive(Args)]
pub(crate) struct Options {
    /// The crate whose benches to run; all of them if absent.
    package: Option<String>,
    /// Write the medians to docs/baseline.json.
    #[arg(long)]
    save: bool,
    /// Print the last results without running anything.
    #[arg(long)]
    no_run: bool,
    /// Run other programs on the problems of the benches too; installs them from PyPI into target/peers.
    #[arg(long)]
    peers: bool,
}

/// The median of one bench.
struct Measured {
    id: String,
    /// Nanoseconds an iteration.
    nanoseconds: f64,
    /// Elements in an iteration, if the bench says so.
    elements: Option<f64>,
    /// Of the samples, nanoseconds an iteration.
    fastest: f64,
}

impl Measured {
    /// True if the machine was doing something else too: the fastest sample is far below the median.
    fn is_noisy(&self) -> bool {
        self.fastest < QUIET * self.nanoseconds
    }
}

/// Benches of other crates on which the figures of a crate rest, or that bring it problems from files: they run and are
/// shown with its own.
const BELOW: [(&str, &str); 2] = [("anim-sim", "collide"), ("anim-skin", "binding")];

/// Whether a bench runs, of which package it is and how it is called.
fn is_chosen(chosen: &[&str], package: &str, bench: &str) -> bool {
    let is_below = |(above, below): &(&str, &str)| *below == bench && chosen.contains(above);
    chosen.contains(&package) || BELOW.iter().any(is_below)
}

/// Runs the bench targets of the chosen packages, and those below them.
///
/// Always of the whole workspace: cargo would build the dependencies anew for one package with its own set of features.
fn bench_command(metadata: &Value, chosen: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["bench", "--workspace"]);
    for package in packages(metadata) {
        let of_package = array(&package["targets"]).iter().filter(|t| is_bench(t));
        for bench in of_package.map(|target| text(&target["name"])) {
            if is_chosen(chosen, text(&package["name"]), bench) {
                command.args(["--bench", bench]);
            }
        }
    }
    command.args(["--", "--warm-up-time", "0.5", "--measurement-time", "2"]);
    command
}

/// How far below the median the fastest sample of a quiet machine stays.
const QUIET: f64 = 0.8;

/// Runs the benches, prints the table and keeps it if asked.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let metadata = metadata()?;
    let start = SystemTime::now();
    let chosen: Vec<&str> = packages(&metadata)
        .iter()
        .filter(|package| array(&package["targets"]).iter().any(is_bench))
        .map(|package| text(&package["name"]))
        .filter(|name| {
            options
                .package
                .as_deref()
                .is_none_or(|chosen| chosen == *name)
        })
        .collect();
    if chosen.is_empty() {
        return Err("no such crate has benches".into());
    }
    let mut metrics = Metrics::new();
    let target = Path::new(text(&metadata["target_directory"]));
    let kept = target.join("anim-metrics.json");
    if !options.no_run {
        let mut command = bench_command(&metadata, &chosen);
        if options.peers {
            peer_runs::ask_for_problems(&mut command, target)?;
        }
        run_reading(&mut command, |line| metrics::read(line, &mut metrics))?;
        metrics::keep(&kept, &metrics)?;
    } else {
        metrics = metrics::recall(&kept);
    }
    let since = (!options.no_run).then_some(start);
    let criterion = target.join("criterion");
    let mut results = measured(&criterion, since);
    results.extend(metrics::timed(&metrics).map(|(id, nanoseconds)| Measured {
        id: id.to_owned(),
        nanoseconds,
        elements: None,
        fastest: nanoseconds,
    }));
    results.sort_by(|a, b| a.id.cmp(&b.id));
    // What lies below has run now, and what an earlier run left of it is not asked for.
    results.retain(|result| {
        let package = result.id.split('/').next().unwrap_or_default();
        chosen.contains(&package) || !options.no_run
    });
    let path = root().join("docs/baseline.json");
    let mut baseline = read_baseline(&path)?;
    for line in table(&results, &baseline, &metrics) {
        println!("{line}");
    }
    if options.peers {
        peer_runs::run(target);
    }
    if options.save {
        baseline.extend(
            results
                .into_iter()
                .map(|result| (result.id, result.nanoseconds)),
        );
        let json = serde_json::to_string_pretty(&baseline).map_err(|why| why.to_string())?;
        fs::create_dir_all(root().join("docs")).map_err(|why| format!("docs: {why}"))?;
        fs::write(&path, json + "\n").map_err(|why| format!("docs/baseline.json: {why}"))?;
    }
    Ok(())
}

fn is_bench(target: &Value) -> bool {
    array(&target["kind"]).iter().any(|kind| kind == "bench")
}

/// Nanoseconds an iteration, by bench.
fn read_baseline(path: &Path) -> Result<BTreeMap<String, f64>, String> {
    match fs::read_to_string(path) {
        Ok(json) => serde_json::from_str(&json).map_err(|why| format!("docs/baseline.json: {why}")),
        Err(_) => Ok(BTreeMap::new()),
    }
}

/// Every result below `folder` that is newer than `since`, by id.
fn measured(folder: &Path, since: Option<SystemTime>) -> Vec<Measured> {
    let mut results = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(
            entries
                .map(|entry| entry.path())
                .filter(|path| path.is_dir()),
        );
        if folder.ends_with("new") && since.is_none_or(|since| is_newer(&folder, since)) {
            results.extend(read_result(&folder));
        }
    }
    results.sort_by(|a, b| a.id.cmp(&b.id));
    results
}

fn is_newer(folder: &Path, since: SystemTime) -> bool {
    fs::metadata(folder.join("estimates.json"))
        .and_then(|metadata| metadata.modified())
        .is_ok_and(|modified| modified >= since)
}

/// Reads what criterion wrote about one bench.
fn read_result(folder: &Path) -> Option<Measured> {
    let json = |name: &str| -> Option<Value> {
        let path: PathBuf = folder.join(name);
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    };
    parse_result(
        &json("benchmark.json")?,
        &json("estimates.json")?,
        &json("sample.json")?,
    )
}

fn parse_result(benchmark: &Value, estimates: &Value, samples: &Value) -> Option<Measured> {
    let nanoseconds = estimates["median"]["point_estimate"].as_f64()?;
    let numbers = |name: &str| array(&samples[name]).iter().filter_map(Value::as_f64);
    let fastest = numbers("times")
        .zip(numbers("iters"))
        .map(|(time, iterations)| time / iterations)
        .fold(f64::INFINITY, f64::min);
    Some(Measured {
        id: benchmark["full_id"].as_str()?.to_owned(),
        nanoseconds,
        elements: benchmark["throughput"]["Elements"].as_f64(),
        fastest,
    })
}

/// One line a bench, one more for each further peer and one for what the bench says about itself; then what was missed.
fn table(results: &[Measured], baseline: &BTreeMap<String, f64>, metrics: &Metrics) -> Vec<String> {
    let mut lines = vec![line(["bench", "ours", "target", "was", "theirs", "", ""])];
    let mut missed = Vec::new();
    for result in results {
        let work = work(&result.id);
        let (count, unit) = match (work, result.elements) {
            (Some(work), _) => (work.count, work.unit),
            (None, Some(elements)) => (elements, "element"),
            (None, None) => (1.0, "iteration"),
        };
        let ours = result.nanoseconds / count;
        let was = baseline
            .get(&result.id)
            .map(|was| format!("{:.2}x", result.nanoseconds / was));
        let target = metrics::target_at_level(metrics, &result.id)
            .or_else(|| work.and_then(|work| work.target));
        let met = target.map(|target| {
            let mark = match ours <= target {
                true => "met",
                false if result.is_noisy() && result.fastest / count <= target => "met once",
                false => {
                    let (ours, target) = (time(ours), time(target));
                    missed.push(format!("{} takes {ours}/{unit}, asked {target}", result.id));
                    "MISSED"
                }
            };
            format!("{} {mark}", time(target))
        });
        let head = [
            result.id.clone(),
            format!(
                "{}{}/{unit}",
                if result.is_noisy() { "~" } else { "" },
                time(ours)
            ),
            met.unwrap_or_default(),
            was.unwrap_or_default(),
        ];
        let peers = work.map_or(&[][..], |work| work.peers);
        let theirs = |peer: &crate::peers::Peer| {
            let ratio = format!("{:.2}x", peer.nanoseconds / ours);
            [time(peer.nanoseconds), ratio, peer.source.to_owned()]
        };
        let first = peers.first().map(theirs).unwrap_or_default();
        lines.push(row(&head, &first));
        for peer in peers.iter().skip(1) {
            lines.push(row(&Default::default(), &theirs(peer)));
        }
        if result.is_noisy() {
            lines.push(format!(
                "  {} in the fastest sample",
                time(result.fastest / count)
            ));
        }
        lines.extend(beside(result, results));
        if let Some((told, above)) = metrics::told(metrics, &result.id) {
            lines.push(format!("  {told}"));
            missed.extend(above);
        }
    }
    lines.extend(missed.into_iter().map(|what| format!("missed: {what}")));
    if results.iter().any(Measured::is_noisy) {
        lines.push(
            "~ the fastest sample is a fifth below the median: measure again on a quiet machine"
                .into(),
        );
    }
    lines
}

/// The bench as a multiple of others of ours.
fn beside(result: &Measured, results: &[Measured]) -> impl Iterator<Item = String> {
    let pairs = COMPARED.iter().filter(|(id, ..)| *id == result.id);
    pairs.filter_map(|(_, with, what)| {
        let other = results.iter().find(|other| other.id == *with)?;
        // Fastest by fastest, so that one busy moment does not make a ratio.
        let ratio = result.fastest / other.fastest;
        Some(format!("  {ratio:.2}x {with}: {what}"))
    })
}

fn row(head: &[String; 4], tail: &[String; 3]) -> String {
    let [id, ours, target, was] = head.each_ref().map(String::as_str);
    let [theirs, ratio, source] = tail.each_ref().map(String::as_str);
    line([id, ours, target, was, theirs, ratio, source])
}

fn line(cells: [&str; 7]) -> String {
    let [id, ours, target, was, theirs, ratio, source] = cells;
    let line =
        format!("{id:<48} {ours:>20} {target:>15} {was:>7} {theirs:>9} {ratio:>8}  {source}");
    line.trim_end().to_owned()
}

/// A time with three digits and a unit.
pub(crate) fn time(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        ns if ns < 1.0e3 => (ns, "ns"),
        ns if ns < 1.0e6 => (ns / 1.0e3, "µs"),
        ns if ns < 1.0e9 => (ns / 1.0e6, "ms"),
        ns => (ns / 1.0e9, "s"),
    };
    let digits = if value < 10.0 {
        2
    } else if value < 100.0 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_have_three_digits() {
        let cases = [
            (0.5, "0.50 ns"),
            (12.34, "12.3 ns"),
            (4.4e5, "440 µs"),
            (7.3e6, "7.30 ms"),
            (2e9, "2.00 s"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(time(nanoseconds), expected);
        }
    }

    #[test]
    fn the_table_compares_with_peers_targets_and_the_baseline() {
        let result = |id: &str, elements: Value| {
            let benchmark = json!({ "full_id": id, "throughput": elements });
            let samples = json!({ "iters": [1.0, 10.0], "times": [95.0, 900.0] });
            parse_result(
                &benchmark,
                &json!({ "median": { "point_estimate": 91.0 } }),
                &samples,
            )
            .unwrap()
        };
        let results = [
            result("anim-skeleton/sample/60", json!(null)),
            result("new/thing/1", json!({ "Elements": 10 })),
        ];
        let baseline = BTreeMap::from([("anim-skeleton/sample/60".to_owned(), 182.0)]);
        let mut metrics = Metrics::new();
        for line in ["bytes 159345", "max-error-mm 0.42"] {
            let line = format!("anim-metric: anim-skeleton/sample/60 {line}");
            assert!(metrics::read(&line, &mut metrics));
        }
        let lines = table(&results, &baseline, &metrics);
        let count =
            "a head, three peers and a line of metrics of the first, no peers of the second";
        assert_eq!(lines.len(), 6, "{count}");
        for part in [
            "91.0 ns/pose",
            "100 ns met",
            "0.50x",
            "637 ns",
            "7.00x",
            "ozz-animation 0.16",
        ] {
            assert!(lines[1].contains(part), "{part} in {}", lines[1]);
        }
        assert!(lines[3].contains("ACL"));
        assert_eq!(lines[4], "  bytes 159345, max-error-mm 0.42");
        assert!(lines[5].contains("9.10 ns/element"));
    }

    #[test]
    fn a_missed_target_is_said_in_a_sentence() {
        let linear = |nanoseconds: f64| Measured {
            id: "anim-skin/linear/10k".into(),
            nanoseconds,
            elements: None,
            fastest: nanoseconds,
        };
        // On AVX-512 1.1 ns a vertex are asked, on AVX2 1.6.
        let cases = [
            ("AVX-512", 1.05e4, None),
            ("AVX2", 1.5e4, None),
            (
                "AVX-512",
                1.5e4,
                Some("missed: anim-skin/linear/10k takes 1.50 ns/vertex, asked 1.10 ns"),
            ),
        ];
        for (level, nanoseconds, expected) in cases {
            let mut metrics = Metrics::new();
            let line = format!("anim-metric: anim-skin/linear/10k level {level}");
            assert!(metrics::read(&line, &mut metrics));
            let lines = table(&[linear(nanoseconds)], &BTreeMap::new(), &metrics);
            let missed = lines.iter().find(|line| line.starts_with("missed"));
            assert_eq!(missed.map(String::as_str), expected);
        }
    }

    #[test]
    fn benches_below_run_with_the_crate_above_them() {
        assert!(is_chosen(&["anim-sim"], "anim-sim", "fem"));
        assert!(is_chosen(&["anim-sim"], "anim-geom", "collide"));
        assert!(!is_chosen(&["anim-sim"], "anim-geom", "geom"));
        assert!(!is_chosen(&["anim-skin"], "anim-geom", "collide"));
    }

    #[test]
    fn benches_stand_beside_others_of_ours() {
        let (id, with, what) = COMPARED[0];
        let result = |id: &str, nanoseconds: f64| Measured {
            id: id.to_owned(),
            nanoseconds,
            elements: None,
            fastest: nanoseconds,
        };
        let lines = table(
            &[result(id, 300.0), result(with, 200.0)],
            &BTreeMap::new(),
            &Metrics::new(),
        );
        let expected = format!("  1.50x {with}: {what}");
        assert!(lines.contains(&expected), "{lines:?}");
    }

    #[test]
    fn a_busy_machine_is_marked() {
        let samples = |fastest: f64| json!({ "iters": [10.0, 10.0], "times": [1000.0, fastest] });
        for (fastest, noisy) in [(900.0, false), (500.0, true)] {
            let estimates = json!({ "median": { "point_estimate": 100.0 } });
            let result = parse_result(
                &json!({ "full_id": "a/b/1" }),
                &estimates,
                &samples(fastest),
            )
            .unwrap();
            assert_eq!(result.is_noisy(), noisy);
            let lines = table(&[result], &BTreeMap::new(), &Metrics::new());
            assert_eq!(lines.last().unwrap().starts_with('~'), noisy);
        }
    }
}
