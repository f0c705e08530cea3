//! Collects findings, and keeps a bad file from drowning the reader in them.
//!
//! The first few findings of one kind at one place are kept, the rest is counted; so are those past a limit a code. All
//! is deterministic: the order is the order of discovery.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use crate::{AssetError, Finding, Severity};

/// Findings kept of one code at one place.
const KEPT_AT_A_PLACE: usize = 8;
/// Findings kept of one code.
const KEPT_OF_A_CODE: usize = 200;

/// A growing list of findings; shared by all parts of one reader.
#[derive(Default)]
pub(super) struct Log(RefCell<State>);

#[derive(Default)]
struct State {
    findings: Vec<Finding>,
    first_error: Option<AssetError>,
    of_code: BTreeMap<&'static str, usize>,
    at_place: BTreeMap<(&'static str, String), usize>,
    /// How many were not kept, with the severity of the worst.
    dropped: BTreeMap<Group, (usize, Severity)>,
    /// The code and place of the last finding and the group that it was counted in, if it was not kept.
    last: Option<(&'static str, String, Group)>,
    /// The text of a location.
    location: String,
}

/// A code, and the place or nothing if it is found at many.
type Group = (&'static str, String);

impl Log {
    /// The format's rules are broken; `message` says what, and what was done.
    pub(super) fn error(&self, code: &'static str, location: impl Display, message: impl Display) {
        self.push(Severity::Error, code, location, message);
    }

    /// Allowed, but likely not what was meant.
    pub(super) fn warning(&self, code: &'static str, at: impl Display, message: impl Display) {
        self.push(Severity::Warning, code, at, message);
    }

    /// Worth knowing.
    pub(super) fn info(&self, code: &'static str, at: impl Display, message: impl Display) {
        self.push(Severity::Info, code, at, message);
    }

    /// Adds a finding, or counts it where there are many of its kind.
    pub(super) fn push(
        &self,
        severity: Severity,
        code: &'static str,
        location: impl Display,
        message: impl Display,
    ) {
        let state = &mut *self.0.borrow_mut();
        state.location.clear();
        // Writing to a string cannot fail.
        let _ = write!(state.location, "{location}");
        // Bad data repeat themselves a million times: the next of a kind costs no more than a comparison.
        if let Some(last) = &state.last
            && last.0 == code
            && last.1 == state.location
            && let Some((count, worst)) = state.dropped.get_mut(&last.2)
        {
            *count += 1;
            *worst = (*worst).min(severity);
            return;
        }
        state.last = None;
        let of_code = state.of_code.entry(code).or_default();
        let at_place = state.at_place.get(&(code, state.location.clone()));
        let at_place = at_place.copied().unwrap_or(0);
        let group = if at_place >= KEPT_AT_A_PLACE {
            Some((code, state.location.clone()))
        } else {
            (*of_code >= KEPT_OF_A_CODE).then_some((code, String::new()))
        };
        if let Some(group) = group {
            state.last = Some((code, state.location.clone(), group.clone()));
            let (count, worst) = state.dropped.entry(group).or_insert((0, severity));
            *count += 1;
            *worst = (*worst).min(severity);
            return;
        }
        *of_code += 1;
        let location = state.location.clone();
        state
            .at_place
            .insert((code, location.clone()), at_place + 1);
        let message = message.to_string();
        if severity == Severity::Error && state.first_error.is_none() {
            state.first_error = Some(AssetError {
                code,
                location: location.clone(),
                message: message.clone(),
            });
        }
        state.findings.push(Finding {
            code: code.to_owned(),
            severity,
            location,
            message,
        });
    }

    /// The first finding of severity error, as the reason to give up.
    pub(super) fn first_error(&self) -> Option<AssetError> {
        self.0.borrow().first_error.clone()
    }

    /// All findings, with one line for each group that was cut short.
    pub(super) fn finish(self) -> Vec<Finding> {
        let State {
            mut findings,
            dropped,
            ..
        } = self.0.into_inner();
        for ((code, location), (count, severity)) in dropped {
            let place = if location.is_empty() {
                "in the file"
            } else {
                "here"
            };
            findings.push(Finding {
                code: code.to_owned(),
                severity,
                message: format!("{count} more {place}"),
                location,
            });
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_a_kind_are_counted_rather_than_listed() {
        let log = Log::default();
        for vertex in 0..100_000 {
            log.error("BAD", "/accessors/3", format_args!("vertex {vertex}"));
        }
        let findings = log.finish();
        assert_eq!(findings.len(), KEPT_AT_A_PLACE + 1);
        assert_eq!(findings[0].message, "vertex 0");
        assert_eq!(findings[KEPT_AT_A_PLACE].message, "99992 more here");
    }

    #[test]
    fn many_places_are_counted_too() {
        let log = Log::default();
        for place in 0..5_000 {
            log.warning("BAD", format_args!("/nodes/{place}"), "bad");
        }
        let findings = log.finish();
        assert_eq!(findings.len(), KEPT_OF_A_CODE + 1);
        assert_eq!(findings[KEPT_OF_A_CODE].message, "4800 more in the file");
    }
}
