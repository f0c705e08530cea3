//! What the validator found: every problem of a graph at once, each with its place.
//!
//! ```
//! use anim_graph::{Problem, Report, Severity};
//!
//! let spare = Problem {
//!     place: "spare".into(),
//!     severity: Severity::Warning,
//!     message: "the root does not lead to this node".into(),
//! };
//! let report = Report { problems: vec![spare] };
//! assert!(report.is_valid());
//! assert_eq!(report.to_string(), "spare: warning: the root does not lead to this node");
//! ```

use std::fmt;

/// How bad a [`Problem`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The graph works, but something in it does nothing.
    Warning,
    /// The graph cannot be built.
    Error,
}

/// Something wrong at one place of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Names from the outermost graph inwards, with slashes between: a node, one of its states…
    pub place: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// All problems of a graph, in the order of its parts; one a line when printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The problems.
    pub problems: Vec<Problem>,
}

impl Report {
    /// True if nothing in it stops the graph from being built.
    pub fn is_valid(&self) -> bool {
        let mut severities = self.problems.iter().map(|problem| problem.severity);
        severities.all(|severity| severity == Severity::Warning)
    }

    /// Adds an error.
    pub(crate) fn error(&mut self, place: &str, message: impl fmt::Display) {
        self.add(place, Severity::Error, message);
    }

    /// Adds a warning.
    pub(crate) fn warn(&mut self, place: &str, message: impl fmt::Display) {
        self.add(place, Severity::Warning, message);
    }

    fn add(&mut self, place: &str, severity: Severity, message: impl fmt::Display) {
        self.problems.push(Problem {
            place: place.to_owned(),
            severity,
            message: message.to_string(),
        });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            let severity = match problem.severity {
                Severity::Warning => "warning: ",
                Severity::Error => "",
            };
            write!(
                out,
                "{separator}{}: {severity}{}",
                problem.place, problem.message
            )?;
        }
        Ok(())
    }
}
