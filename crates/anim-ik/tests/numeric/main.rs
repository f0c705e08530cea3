//! The numeric solvers: derivatives, known answers, limits, obstacles, batches.
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

mod arm;
mod jacobian;
mod limits;
mod obstacles;
mod priorities;
mod reach;
mod recovery;
mod tolerances;
