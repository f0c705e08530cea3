//! A progress bar for long runs.

use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on a terminal, once work has lasted a second.
pub(crate) struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    pub(crate) fn new(frames: u32, hidden: bool) -> Self {
        let bar =
            ProgressBar::with_draw_target(Some(u64::from(frames)), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} frames, {eta} left") {
            bar.set_style(style);
        }
        if hidden {
            bar.finish_and_clear();
        }
        Self {
            bar,
            start: Instant::now(),
        }
    }

    pub(crate) fn advance(&self) {
        if self.bar.is_finished() {
            return;
        }
        if self.bar.is_hidden() && self.start.elapsed().as_secs() >= 1 {
            // indicatif draws nothing where stderr is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
