//! `anim compress`: what clips take on disk at an error that people choose.

use std::path::{Path, PathBuf};

use anim_engine::skeleton::{ClipSpec, CompressOptions, CompressReport, CompressedClip, Skeleton};
use serde_json::{Value, json};

use crate::output::{Exit, Failure};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Number or name of the clip; all of them if left out.
    #[arg(long)]
    clip: Option<String>,
    /// Object-space error that a clip may have, m.
    #[arg(long, default_value_t = 0.001)]
    tolerance: f32,
    /// Distance from each joint of the points the error is measured at, m.
    #[arg(long, default_value_t = 0.1)]
    shell: f32,
    /// Error that a morph weight may have.
    #[arg(long, default_value_t = 0.005)]
    weight_tolerance: f32,
    /// Write the compressed clip; needs --clip if there are several.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    for (option, length) in [
        ("--tolerance", args.tolerance),
        ("--shell", args.shell),
        ("--weight-tolerance", args.weight_tolerance),
    ] {
        if !(length.is_finite() && length > 0.0) {
            let what = format!("{length} is not a positive number");
            return Err(Failure::option(option, what));
        }
    }
    let document = input::document(&args.file)?;
    let unusable = |error: &dyn std::error::Error| {
        Failure::new(args.file.display().to_string(), "/animations", error)
    };
    let skeleton = document.skeleton().map_err(|error| unusable(&error))?;
    let clips: Vec<(usize, &ClipSpec)> = match &args.clip {
        Some(wanted) => input::clip(&document.clips, Some(wanted))?
            .into_iter()
            .collect(),
        None => document.clips.iter().enumerate().collect(),
    };
    if args.out.is_some() && clips.len() != 1 {
        let what = format!("{} clips: choose one with --clip", clips.len());
        return Err(Failure::option("--out", what));
    }
    let options = CompressOptions {
        tolerance: args.tolerance,
        shell: args.shell,
        weight_tolerance: args.weight_tolerance,
        ..CompressOptions::default()
    };
    let mut reports = Vec::with_capacity(clips.len());
    for (index, spec) in clips {
        let (compressed, report) =
            CompressedClip::new(spec, &skeleton, &options).map_err(|error| unusable(&error))?;
        if let Some(out) = &args.out {
            output::file(out, compressed.bytes())?;
        }
        reports.push((input::clip_name(index, spec), report));
    }
    let missed = reports.iter().any(|(_, report)| !report.reached);
    if args.json {
        let clips: Vec<Value> = reports
            .iter()
            .map(|(name, report)| row(name, report, &skeleton))
            .collect();
        let mut value = json!({
            "file": input::file_name(&args.file),
            "tolerance_mm": args.tolerance * 1000.0,
            "shell_mm": args.shell * 1000.0,
            "clips": clips,
            "findings": output::findings_json(&document.findings),
        });
        if let Some(out) = &args.out {
            value["out"] = json!(out.display().to_string());
        }
        output::json("compress", value)?;
    } else {
        output::text(&table(&reports, &skeleton, args.out.as_deref()))?;
    }
    Ok(if missed { Exit::Findings } else { Exit::Fine })
}

fn row(name: &str, report: &CompressReport, skeleton: &Skeleton) -> Value {
    json!({
        "name": name,
        "raw_bytes": report.raw_bytes,
        "disk_bytes": report.disk_bytes,
        "resident_bytes": report.resident_bytes,
        "ratio": ratio(report),
        "max_error_mm": report.max_error * 1000.0,
        "worst_joint": report.worst_joint.map(|joint| skeleton.source(joint)),
        "worst_time_s": report.worst_time,
        "reached": report.reached,
    })
}

/// How many times smaller the file is than plain numbers.
fn ratio(report: &CompressReport) -> f64 {
    report.raw_bytes as f64 / report.disk_bytes.max(1) as f64
}

/// The same for people: a line a clip.
fn table(reports: &[(String, CompressReport)], skeleton: &Skeleton, out: Option<&Path>) -> String {
    let mut text =
        "   raw B   disk B   ratio  resident B  error mm  worst joint  clip\n".to_owned();
    for (name, report) in reports {
        let joint = report.worst_joint.map_or_else(
            || "-".to_owned(),
            |joint| format!("#{}", skeleton.source(joint)),
        );
        text.push_str(&format!(
            "{:>8} {:>8} {:>7.1} {:>11} {:>9.4} {joint:>12}  {}{}\n",
            report.raw_bytes,
            report.disk_bytes,
            ratio(report),
            report.resident_bytes,
            report.max_error * 1000.0,
            output::printable(name),
            if report.reached {
                ""
            } else {
                ": tolerance missed"
            },
        ));
    }
    if let Some(out) = out {
        text.push_str(&format!(
            "wrote {}\n",
            output::printable(&out.display().to_string())
        ));
    }
    text
}
