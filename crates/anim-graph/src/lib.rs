//! Animation graphs as data: which clips play, how they mix and when one gives way to another.

mod error;
pub mod matching;

pub use error::GraphError;
