//! Where the workspace is, what cargo knows about it, and how to run cargo in it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;

/// The folder of the root manifest.
pub(crate) fn root() -> PathBuf {
    // What cargo says now comes before what it said at compile time: working trees may share a target folder.
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let manifest = Path::new(&manifest);
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// The cargo that started this program, in the workspace.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Runs a command to its end, its output going where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|why| format!("{command:?} does not start: {why}"))?;
    succeeded(command, status)
}

/// As [`run`], but hands each line of the error stream to `takes` first and shows only those that it does not take.
pub(crate) fn run_reading(
    command: &mut Command,
    mut takes: impl FnMut(&str) -> bool,
) -> Result<(), String> {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("{command:?} does not start: {why}"))?;
    if let Some(errors) = child.stderr.take() {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if !takes(&line) {
                eprintln!("{line}");
            }
        }
    }
    let status = child.wait().map_err(|why| format!("{command:?}: {why}"))?;
    succeeded(command, status)
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<(), String> {
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?} failed: {status}"))
    }
}

/// `cargo metadata` of the workspace's own packages.
pub(crate) fn metadata() -> Result<Value, String> {
    let output = cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .map_err(|why| format!("cargo metadata does not start: {why}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|why| format!("cargo metadata: {why}"))
}

/// The packages of [`metadata`].
pub(crate) fn packages(metadata: &Value) -> &[Value] {
    array(&metadata["packages"])
}

/// The elements of a JSON array; none of anything else.
pub(crate) fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A JSON string; empty if it is anything else.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
