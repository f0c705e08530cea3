//! Motion databases and matchers over walkers whose paths are known in closed form.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod database;
mod hostile;
mod matcher;
mod walkers;
