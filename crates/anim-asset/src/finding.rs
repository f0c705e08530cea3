//! What a reader found wrong with a file that it could still use.
//!
//! ```
//! use anim_asset::Severity;
//!
//! let worst = [Severity::Info, Severity::Error, Severity::Warning].into_iter().min();
//! assert_eq!(worst, Some(Severity::Error));
//! ```

use serde::{Deserialize, Serialize};

/// How bad a finding is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The format's rules are broken; the value was repaired or left out.
    Error,
    /// Allowed, but likely not what was meant.
    Warning,
    /// Worth knowing.
    Info,
}

/// One thing wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable upper-case code, the official glTF validator's where it has one.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// A JSON pointer, or `byte N`.
    #[serde(rename = "where")]
    pub location: String,
    /// What is wrong and what was done.
    pub message: String,
}
