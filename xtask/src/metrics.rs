//! What benches say about themselves beside criterion's times: bytes, errors, and times of work too long to repeat.
//!
//! A bench prints `anim-metric: id key value` to its error stream. The key `seconds` makes a row of the table by itself,
//! for work that criterion would have to run ten times; `level` names the instruction set that the bench ran on. The
//! last values are kept below the target folder, so that `--no-run` shows them again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::peers::{AT_LEVEL, LIMITS};

/// Keys and values by bench, in the order of printing.
pub(crate) type Metrics = BTreeMap<String, Vec<(String, String)>>;

/// Keeps a line `anim-metric: id key value`; false for any other.
pub(crate) fn read(line: &str, metrics: &mut Metrics) -> bool {
    let words = line
        .strip_prefix("anim-metric: ")
        .and_then(|metric| metric.split_once(' '))
        .and_then(|(id, metric)| Some((id, metric.split_once(' ')?)));
    let Some((id, (key, value))) = words else {
        return false;
    };
    let of_bench = metrics.entry(id.to_owned()).or_default();
    of_bench.push((key.to_owned(), value.to_owned()));
    true
}

/// Those of the last run of each bench.
pub(crate) fn recall(path: &Path) -> Metrics {
    // None yet is as good as none readable.
    let text = fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes them over those that earlier runs of the same benches left.
pub(crate) fn keep(path: &Path, metrics: &Metrics) -> Result<(), String> {
    let mut all = recall(path);
    all.extend(metrics.clone());
    let fail = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let json = serde_json::to_string(&all).map_err(|why| fail(&why))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|why| fail(&why))?;
    }
    fs::write(path, json).map_err(|why| fail(&why))
}

fn value<'a>(metrics: &'a Metrics, id: &str, key: &str) -> Option<&'a str> {
    let (_, value) = metrics.get(id)?.iter().find(|(name, _)| name == key)?;
    Some(value)
}

/// Benches that timed themselves, and the nanoseconds they took.
pub(crate) fn timed(metrics: &Metrics) -> impl Iterator<Item = (&str, f64)> {
    metrics.keys().filter_map(|id| {
        let seconds: f64 = value(metrics, id, "seconds")?.parse().ok()?;
        Some((id.as_str(), 1e9 * seconds))
    })
}

/// What we aim at on the instruction set that the bench says it ran on, ns a unit.
pub(crate) fn target_at_level(metrics: &Metrics, id: &str) -> Option<f64> {
    let level = value(metrics, id, "level")?;
    let mut targets = AT_LEVEL.iter();
    let (.., target) = targets.find(|(of, on, _)| *of == id && *on == level)?;
    Some(*target)
}

/// A bench's metrics in one line, and a sentence for each that is above its limit.
pub(crate) fn told(metrics: &Metrics, id: &str) -> Option<(String, Vec<String>)> {
    let (mut parts, mut missed) = (Vec::new(), Vec::new());
    for (key, value) in metrics.get(id)?.iter().filter(|(key, _)| key != "seconds") {
        let mut limits = LIMITS.iter();
        let limit = limits.find(|(of, name, _)| *of == id && name == key);
        let is_met = |limit: f64| value.parse::<f64>().is_ok_and(|value| value <= limit);
        let asked = limit.map_or(String::new(), |(.., limit)| match is_met(*limit) {
            true => format!(" (at most {limit}: met)"),
            false => {
                missed.push(format!("{id} has {key} {value}, asked at most {limit}"));
                format!(" (at most {limit}: MISSED)")
            }
        });
        parts.push(format!("{key} {value}{asked}"));
    }
    (!parts.is_empty()).then(|| (parts.join(", "), missed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(lines: &[&str]) -> Metrics {
        let mut metrics = Metrics::new();
        for line in lines {
            assert!(read(&format!("anim-metric: {line}"), &mut metrics));
        }
        metrics
    }

    #[test]
    fn other_lines_are_no_metrics() {
        let mut metrics = Metrics::new();
        for line in [
            "warning: unused",
            "anim-metric: a/b/1",
            "anim-metric: a/b/1 key",
        ] {
            assert!(!read(line, &mut metrics), "{line}");
        }
        assert!(metrics.is_empty());
    }

    #[test]
    fn a_bench_may_time_itself() {
        let metrics = metrics(&["a/b/1 seconds 2.5", "a/b/1 rounds 7", "c/d/1 bytes 3"]);
        assert_eq!(timed(&metrics).collect::<Vec<_>>(), [("a/b/1", 2.5e9)]);
        assert_eq!(told(&metrics, "a/b/1").unwrap().0, "rounds 7");
    }

    #[test]
    fn what_is_above_its_limit_is_said_to_be_missed() {
        let (id, key, limit) = LIMITS[0];
        for (value, sentences) in [(limit, 0), (limit * 1.01, 1)] {
            let metrics = metrics(&[&format!("{id} {key} {value}")]);
            let (line, missed) = told(&metrics, id).unwrap();
            assert_eq!(missed.len(), sentences, "{line}");
            assert_eq!(line.contains("MISSED"), sentences == 1, "{line}");
        }
    }

    #[test]
    fn a_target_is_that_of_the_instruction_set() {
        let (id, level, target) = AT_LEVEL[0];
        let on = |level: &str| target_at_level(&metrics(&[&format!("{id} level {level}")]), id);
        assert_eq!(on(level), Some(target));
        assert_eq!(on("none"), None);
    }

    #[test]
    fn metrics_of_other_benches_outlive_a_run() {
        let folder = std::env::temp_dir().join(format!("anim-metrics-{}", std::process::id()));
        let path = folder.join("metrics.json");
        keep(&path, &metrics(&["a bytes 1", "b bytes 2"])).unwrap();
        keep(&path, &metrics(&["b bytes 3"])).unwrap();
        assert_eq!(recall(&path), metrics(&["a bytes 1", "b bytes 3"]));
        fs::remove_dir_all(folder).unwrap();
    }
}
