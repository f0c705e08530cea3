//! The binary, run as a person or a script runs it.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests fail by panicking, and say what they skip"
)]

mod compress;
mod contract;
mod ik;
mod oracle;
mod run;
mod shapes;
mod shared_files;
mod simulate;
mod skin;
mod weights;
