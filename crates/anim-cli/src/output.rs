//! What all verbs write: one JSON object, diagnostics, whole files.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anim_asset::{Finding, Format, Severity};
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
    let line = [file, place, message].map(printable);
    // A closed stderr leaves nobody to tell.
    let _ = writeln!(io::stderr(), "{level}: {}", line.join(": "));
}

/// Text of a file for a line of ours: control characters, which could forge lines or colours, become spaces.
pub(crate) fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
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
    use clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if !error.use_stderr() || error.kind() == DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    let text = error.render().to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message).trim();
    Failure::option("arguments", format!("{message} (--help lists them)")).report()
}

/// Prints one JSON object, with its schema first.
///
/// A reader that went away is no error of ours.
pub(crate) fn json(verb: &str, value: Value) -> Result<(), Failure> {
    text(&format!("{}\n", with_schema(verb, value)))
}

/// Prints one JSON object, with its schema and a list `key` that is written item by item and never held whole.
pub(crate) fn json_with_list(
    verb: &str,
    value: Value,
    key: &str,
    items: impl Iterator<Item = Value>,
) -> Result<(), Failure> {
    let head = with_schema(verb, value).to_string();
    let head = head.strip_suffix('}').unwrap_or(&head);
    text(&format!("{head},\"{key}\":["))?;
    for (index, item) in items.enumerate() {
        let comma = if index > 0 { "," } else { "" };
        text(&format!("{comma}{item}"))?;
    }
    text("]}\n")
}

fn with_schema(verb: &str, value: Value) -> Value {
    let mut object = json!({ "schema": format!("anim.{verb}/1") });
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, value) {
        object.extend(fields);
    }
    object
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

/// The picture's format, told by its extension.
pub(crate) fn check_picture(path: &Path) -> Result<(), Failure> {
    match path.extension() {
        Some(extension) if !extension.eq_ignore_ascii_case("png") => Err(Failure::new(
            path.display().to_string(),
            "extension",
            "not .png",
        )),
        _ => Ok(()),
    }
}

/// The format of a character file, told by its extension.
pub(crate) fn character_format(path: &Path) -> Result<Format, Failure> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    Format::from_extension(&extension).ok_or_else(|| {
        let wanted = "not one of .glb, .gltf, .pack";
        Failure::new(path.display().to_string(), "extension", wanted)
    })
}

/// Writes a file whole or not at all: under a temporary name first, then renamed.
///
/// What is no file, a device or a pipe, is written to and stays what it is.
pub(crate) fn file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fail = |error: io::Error| Failure::new(path.display().to_string(), "write", error);
    if std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
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
