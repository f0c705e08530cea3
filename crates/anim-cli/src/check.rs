//! `anim check`: what is wrong with a file, and where.

use std::path::PathBuf;

use anim_asset::Severity;
use serde_json::json;

use crate::output::{Exit, Failure};
use crate::{input, output};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A character: .glb, .gltf or .pack.
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let document = input::document(&args.file)?;
    let count = |severity: Severity| {
        document
            .findings
            .iter()
            .filter(|f| f.severity == severity)
            .count()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if args.json {
        let value = json!({
            "file": input::file_name(&args.file),
            "errors": errors,
            "warnings": warnings,
            "findings": output::findings_json(&document.findings),
        });
        output::json("check", value)?;
    } else {
        output::findings(&args.file.display().to_string(), &document.findings);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        output::text(&format!(
            "{errors} error{}, {warnings} warning{}\n",
            plural(errors),
            plural(warnings)
        ))?;
    }
    Ok(if errors > 0 {
        Exit::Findings
    } else {
        Exit::Fine
    })
}
