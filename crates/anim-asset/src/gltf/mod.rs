//! glTF 2.0 and GLB.

pub mod write;

pub use write::{write, write_json};
