//! The official glTF validator's own test files, each with the validator's verdict beside it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a broken test should say where"
)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use anim_asset::{Severity, load};

/// Code and place of everything of severity error, with how many of each.
type Errors = BTreeMap<(String, String), usize>;

/// What the validator says.
fn expected(report: &Path) -> Errors {
    let mut errors = Errors::new();
    let report = common::json(report);
    let messages = report["issues"]["messages"].as_array().unwrap();
    for message in messages.iter().filter(|message| message["severity"] == 0) {
        let place = match message["pointer"].as_str() {
            Some(pointer) => pointer.to_owned(),
            None => format!("byte {}", message["offset"]),
        };
        let code = message["code"].as_str().unwrap().to_owned();
        *errors.entry((code, place)).or_default() += 1;
    }
    errors
}

/// What we say.
fn found(file: &Path) -> (bool, Errors) {
    match load(file) {
        Ok(document) => {
            let mut errors = Errors::new();
            let findings = document.findings.into_iter();
            for finding in findings.filter(|finding| finding.severity == Severity::Error) {
                *errors.entry((finding.code, finding.location)).or_default() += 1;
            }
            (true, errors)
        }
        Err(error) => {
            let error = ((error.code.to_owned(), error.location), 1);
            (false, Errors::from([error]))
        }
    }
}

#[test]
fn verdicts_agree_with_the_official_validator() {
    let Some(data) = common::data() else {
        return;
    };
    let reports = common::files(&data, &[".report.json"]);
    let (mut broken, mut same_place, mut same_all) = (0, 0, 0);
    let mut wrong = Vec::new();
    for report in &reports {
        let file = report.to_string_lossy().replace(".report.json", "");
        let expected = expected(report);
        let (loads, found) = found(Path::new(&file));
        if expected.is_empty() != found.is_empty() || (expected.is_empty() && !loads) {
            wrong.push(format!("{file}: expected {expected:?}, found {found:?}"));
        }
        broken += usize::from(!expected.is_empty());
        let shared = expected.keys().any(|key| found.contains_key(key));
        same_place += usize::from(shared);
        same_all += usize::from(expected == found);
        if expected != found {
            println!("{file}:\n  expected {expected:?}\n  found    {found:?}");
        }
    }
    println!(
        "{} files, {broken} of them broken: {same_place} with an error of the same code and place, \
         {same_all} files with exactly the same errors",
        reports.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
