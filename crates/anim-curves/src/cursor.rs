//! Finding the span of keys around a time, from where playback last was.
//!
//! Playback asks for times close to each other, so that the span is nearly always that of the time before, or the next one.
//! Anything else is searched for by halving; the answer does not depend on where the search started.

/// Where a sampler last was in a track, so that playback does not search; any value is valid for any track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(pub(crate) u32);

impl Cursor {
    /// The last of `times` that is not after `time`, or 0, and moves there.
    pub(crate) fn find(&mut self, times: &[f32], time: f32) -> usize {
        let span = span_at(times, time, self.0 as usize);
        self.0 = span as u32;
        span
    }
}

/// The last key not after `time`, or 0; looks near `hint` first.
pub(crate) fn span_at(times: &[f32], time: f32, hint: usize) -> usize {
    let holds = |span: usize| {
        times.get(span).is_some_and(|t| *t <= time) && times.get(span + 1).is_none_or(|t| time < *t)
    };
    if holds(hint) {
        return hint;
    }
    if holds(hint + 1) {
        return hint + 1;
    }
    if hint > 0 && holds(hint - 1) {
        return hint - 1;
    }
    times.partition_point(|t| *t <= time).saturating_sub(1)
}
