//! What all verbs write: one JSON object, diagnostics, whole files.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anim_asset::{Finding, Severity};
use serde_json::{Value, json};

/// How a verb that ran ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Nothing to complain about: exit code 0.
    Fine,
    /// Done, with findings of severity error: exit code 1.
    Findings,
}

/// Why a verb could not run: exit code 2.
#[derive(Debug)]
pub(crate) struct Failure {
    file: String,
    place: String,
    message: String,
}

impl Failure {
    /// Something about a file, at a place in it.
    pub(crate) fn new(
        file: impl Into<String>,
        place: impl Into<String>,
        message: impl ToString,
    ) -> Self {
        Self {
            file: file.into(),
            place: place.into(),
            message: message.to_string(),
        }
    }

    /// Something about an option of the call.
    pub(crate) fn option(name: &str, message: impl ToString) -> Self {
        Self::new("anim", name, message)
    }

    /// Prints the failure.
    pub(crate) fn report(&self) -> ExitCode {
        diagnostic("error", &self.file, &self.place, &self.message);
        ExitCode::from(2)
    }
}

/// One line on stderr: `LEVEL: FILE: WHERE: WHAT`.
pub(crate) fn diagnostic(level: &str, file: &str, place: &str, message: &str) {
    let line = [file, place, message].map(|part| part.replace(char::is_control, " "));
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "{level}: {}", line.join(": "));
}

/// The findings of a file as diagnostics.
pub(crate) fn findings(file: &str, findings: &[Finding]) {
    for finding in findings {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => continue,
        };
        diagnostic(
            level,
            file,
            &finding.location,
            &format!("{} [{}]", finding.message, finding.code),
        );
    }
}

/// A call that clap refuses, or its help.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let what = text.split("Usage:").next().unwrap_or_default();
    let what: Vec<&str> = what.split_whitespace().collect();
    let what = what.join(" ");
    let message = format!("{}; see --help", what.trim_start_matches("error: "));
    diagnostic("error", "anim", "call", &message);
    ExitCode::from(2)
}

/// Prints one JSON object, with its schema.
///
/// A reader that went away is no error of ours.
pub(crate) fn json(verb: &str, value: Value) -> Result<(), Failure> {
    let mut object = json!({ "schema": format!("anim.{verb}/1") });
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, value) {
        object.extend(fields);
    }
    text(&format!("{object}\n"))
}

/// Prints text on stdout.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new("stdout", "write", error))
        }
        _ => Ok(()),
    }
}

/// The findings as JSON.
pub(crate) fn findings_json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        json!({
            "code": finding.code,
            "severity": finding.severity,
            "where": finding.location,
            "message": finding.message,
        })
    };
    findings.iter().map(one).collect()
}

/// Writes a file whole or not at all: under a temporary name first, then renamed.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |error: io::Error| Failure::new(path.display().to_string(), "write", error);
    // A device or pipe is written to; a file of the same name would take its place.
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return std::fs::write(path, bytes).map_err(fail);
    }
    let name = path.file_name().ok_or_else(|| {
        Failure::new(
            path.display().to_string(),
            "write",
            "not the name of a file",
        )
    })?;
    let mut temporary = name.to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let written =
        std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    written.map_err(|error| {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&temporary);
        fail(error)
    })
}
