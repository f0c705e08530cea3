//! How long each stage took: the only clock that the engine reads.

use std::time::Instant;

use crate::Stage;

/// Seconds that each stage of the last frame took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    seconds: [f64; 4],
}

impl Timings {
    /// Seconds of one stage.
    pub fn of(&self, stage: Stage) -> f64 {
        self.seconds[stage as usize]
    }

    /// Seconds of all four.
    pub fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// Runs `work` and notes its time as that of `stage`.
    pub(crate) fn measure(&mut self, stage: Stage, work: impl FnOnce()) {
        let start = Instant::now();
        work();
        self.seconds[stage as usize] = start.elapsed().as_secs_f64();
    }
}
