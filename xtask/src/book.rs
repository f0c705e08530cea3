//! `cargo xtask book`: draws the pictures of the book.

use crate::workspace::{cargo, run};

/// Runs the example of anim-engine that writes `docs/book/img`.
pub(crate) fn draw() -> Result<(), String> {
    run(cargo().args(["run", "-p", "anim-engine", "--example", "book_pictures"]))
}
