//! Even times over a clip, for tools that replace curves.

/// A clip's duration in even intervals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EvenTimes {
    duration: f32,
    intervals: usize,
}

/// What a stray key far in the future may cost.
const MAX_INTERVALS: f32 = 65536.0;

impl EvenTimes {
    /// About `rate` intervals a second, at least one; none for a clip without length.
    pub(crate) fn new(duration: f32, rate: f32) -> Self {
        let intervals = match duration > 0.0 {
            true => ((duration * rate).round().min(MAX_INTERVALS) as usize).max(1),
            false => 0,
        };
        Self {
            duration,
            intervals,
        }
    }

    /// Seconds an interval.
    pub(crate) fn step(&self) -> f32 {
        self.duration / self.intervals.max(1) as f32
    }

    /// From 0 to the duration.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = f32> {
        let intervals = self.intervals.max(1) as f64;
        (0..self.intervals + 1)
            .map(move |n| (f64::from(self.duration) * n as f64 / intervals) as f32)
    }

    /// These and those of `keys` that are not before 0, strictly rising.
    pub(crate) fn with_keys(self, keys: impl Iterator<Item = f32>) -> Vec<f32> {
        let mut times: Vec<_> = self.iter().chain(keys.filter(|time| *time > 0.0)).collect();
        times.sort_by(f32::total_cmp);
        times.dedup();
        times
    }
}
