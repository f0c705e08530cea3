//! What can be wrong with a file.

use thiserror::Error;

/// Why a file cannot be used: what is wrong, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{location}: {message}")]
pub struct AssetError {
    /// A stable upper-case code, the validator's where it has one.
    pub code: &'static str,
    /// A JSON pointer, `line L column C`, or `byte N`.
    pub location: String,
    /// What is wrong, lower case.
    pub message: String,
}
