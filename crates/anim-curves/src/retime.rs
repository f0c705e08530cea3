//! Retiming: which moment of an animation is shown when, for slow motion, speed ramps, holds and playing backward.
//!
//! A [`TimeWarp`] maps play time to source time. Draw it as the source's speed ([`TimeWarp::from_speed`], integrated exactly),
//! as moments to be met ([`TimeWarp::through`], which never runs backward between rising ones), as any curve of time
//! ([`TimeWarp::from_times`]), or as one eased stretch. Play through it with [`TimeWarp::source_at`], find when a moment is
//! shown with [`TimeWarp::play_at`], or make the retimed track with [`TimeWarp::apply`].
//!
//! ```
//! use anim_curves::{Interpolation, Key, TimeWarp, Track};
//!
//! // From full speed down to none over two seconds.
//! let speed = Track::new(vec![Key::new(0.0, 1.0_f32), Key::new(2.0, 0.0)], Interpolation::Linear)?;
//! let warp = TimeWarp::from_speed(&speed, 0.0);
//! assert_eq!([0.0, 1.0, 2.0, 9.0].map(|play| warp.source_at(play)), [0.0, 0.75, 1.0, 1.0]);
//! assert!((warp.play_at(0.75) - 1.0).abs() < 1e-6);
//!
//! let fall = Track::new(vec![Key::new(0.0, 2.0_f32), Key::new(1.0, 0.0)], Interpolation::Linear)?;
//! let slowed = warp.apply(&fall, 1e-3)?;
//! assert!((slowed.sample(1.0) - 0.5).abs() < 2e-3);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use crate::edit::key_at;
use crate::track::check_times;
use crate::{CurveError, Easing, Interpolate, Interpolation, Key, Track, tangents};

/// A quarter of a span is halved this often at most, where an easing has a vertical end.
const DEPTH: u32 = 10;

/// A continuous map from play time to source time, both s.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeWarp {
    /// At least one, each starting where and at what the one before ends.
    spans: Vec<Span>,
    /// Seconds of source a second of play, before the first span and after the last.
    outside: [f64; 2],
}

/// A stretch of a warp, in f64 as a sum of many.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    play: [f64; 2],
    source: [f64; 2],
    way: Way,
}

/// How source time goes over a span, by α from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// From the source's start by c₁α + c₂α² + c₃α³ + c₄α⁴.
    Polynomial([f64; 4]),
    /// From start to end by this.
    Eased(Easing),
}

impl TimeWarp {
    /// The warp whose speed is `speed`, seconds of source a second of play, and which shows `source_start` at the first
    /// key. 1 is as it was, 0 holds, negative runs backward; outside the keys the end speeds go on.
    ///
    /// The integral is exact: a speed that is linear between keys gives a quadratic, a cubic one a quartic.
    pub fn from_speed(speed: &Track<f32>, source_start: f32) -> Self {
        let (times, values) = (speed.times(), speed.values());
        let mut source = f64::from(source_start);
        let start = f64::from(times[0]);
        let mut spans = vec![Span::still([start; 2], source)];
        for (span, pair) in times.windows(2).enumerate() {
            let play = [pair[0], pair[1]].map(f64::from);
            let length = play[1] - play[0];
            // ∫ Σ dₙ αⁿ dt = h Σ dₙ αⁿ⁺¹ / (n + 1)
            let [d0, d1, d2, d3] = powers(speed, span);
            let way = [d0, d1 / 2.0, d2 / 3.0, d3 / 4.0].map(|c| c * length);
            let end = source + way.iter().sum::<f64>();
            spans.push(Span {
                play,
                source: [source, end],
                way: Way::Polynomial(way),
            });
            source = end;
        }
        let outside = [values[0], values[values.len() - 1]].map(f64::from);
        Self { spans, outside }
    }

    /// The warp that is the curve `times`: its values are source times, s, and it holds outside its keys.
    ///
    /// Where that curve falls, the source runs backward.
    ///
    /// # Errors
    ///
    /// [`CurveError::SteppedTime`] for a stepped track of several keys: time does not jump. To show every second frame,
    /// [`bake`](crate::edit::bake) at half the rate.
    pub fn from_times(times: &Track<f32>) -> Result<Self, CurveError> {
        let values = times.values();
        if times.interpolation() == Interpolation::Step && values.len() > 1 {
            return Err(CurveError::SteppedTime);
        }
        let start = f64::from(times.times()[0]);
        let mut spans = vec![Span::still([start; 2], f64::from(values[0]))];
        spans.extend(times.times().windows(2).enumerate().map(|(span, pair)| {
            let [_, c1, c2, c3] = powers(times, span);
            Span {
                play: [pair[0], pair[1]].map(f64::from),
                source: [values[span], values[span + 1]].map(f64::from),
                way: Way::Polynomial([c1, c2, c3, 0.0]),
            }
        }));
        let outside = [0.0; 2];
        Ok(Self { spans, outside })
    }

    /// The smooth warp through `moments`, each (play time, source time), that turns back only where they do: by
    /// [`monotone`](tangents::monotone) velocities. It holds outside.
    ///
    /// # Errors
    ///
    /// Those of [`Track::new`] for keys.
    pub fn through(moments: &[(f32, f32)]) -> Result<Self, CurveError> {
        check_times(moments.iter().map(|moment| moment.0))?;
        let key = |(play, source): &(f32, f32)| Key::new(*play, *source);
        let mut keys: Vec<_> = moments.iter().map(key).collect();
        tangents::monotone(&mut keys);
        Self::from_times(&Track::new(keys, Interpolation::Cubic)?)
    }

    /// From `source` start to end while playing from `play` start to end, each \[start, end\], s, at the pace of `easing`; it
    /// holds outside.
    ///
    /// Only the easings that swing past their ends (back, elastic), and bounce, run backward in between.
    ///
    /// # Errors
    ///
    /// [`CurveError::Range`] unless `play` rises, and all are finite.
    pub fn eased(play: [f32; 2], source: [f32; 2], easing: Easing) -> Result<Self, CurveError> {
        let [start, end] = play;
        let is_finite = play.iter().chain(&source).all(|time| time.is_finite());
        if !is_finite || start >= end {
            return Err(CurveError::Range { start, end });
        }
        let span = Span {
            play: play.map(f64::from),
            source: source.map(f64::from),
            way: Way::Eased(easing),
        };
        let (spans, outside) = (vec![span], [0.0; 2]);
        Ok(Self { spans, outside })
    }

    /// The play times it was made for, \[start, end\], s.
    pub fn play_range(&self) -> [f32; 2] {
        let (first, last) = self.ends();
        [first.play[0] as f32, last.play[1] as f32]
    }

    /// The source time, s, shown at `play`, s. NaN is taken for the start. O(log spans).
    pub fn source_at(&self, play: f32) -> f32 {
        let (first, last) = self.ends();
        let play = f64::from(play);
        if play.is_nan() || play <= first.play[0] {
            return beyond(first.source[0], play - first.play[0], self.outside[0]) as f32;
        }
        if play >= last.play[1] {
            return beyond(last.source[1], play - last.play[1], self.outside[1]) as f32;
        }
        let span = self.spans.partition_point(|span| span.play[1] <= play);
        let span = &self.spans[span];
        span.source((play - span.play[0]) / (span.play[1] - span.play[0])) as f32
    }

    /// The earliest play time, s, at which `source`, s, is shown: the inverse of [`source_at`](Self::source_at). O(spans).
    ///
    /// A moment that is never shown gives the end of the play range whose source is nearer; NaN gives the start. Of a
    /// stretch that itself swings past its ends only what lies between those is looked for.
    pub fn play_at(&self, source: f32) -> f32 {
        let (first, last) = self.ends();
        let source = f64::from(source);
        let (before, after) = (source - first.source[0], source - last.source[1]);
        if source.is_nan() {
            return first.play[0] as f32;
        }
        let since_start = reached(before, self.outside[0]);
        if since_start < 0.0 {
            return (first.play[0] + since_start) as f32;
        }
        let is_within = |span: &&Span| {
            let [from, to] = span.source;
            (from <= source && source <= to) || (to <= source && source <= from)
        };
        if let Some(span) = self.spans.iter().find(is_within) {
            return span.play_at(source) as f32;
        }
        let since_end = reached(after, self.outside[1]);
        if since_end > 0.0 {
            return (last.play[1] + since_end) as f32;
        }
        let is_start = before.abs() <= after.abs();
        (if is_start {
            first.play[0]
        } else {
            last.play[1]
        }) as f32
    }

    /// `track` as it looks through this warp over the play range, outside which it holds.
    ///
    /// Where the warp is straight the result is exact, to rounding: keys move, velocities are multiplied by the speed, and
    /// steps keep to their moments, backward too. Elsewhere the warp is first replaced by straight stretches, within
    /// `tolerance`, s of source time, of it, or 4096 a span where that is not enough; the values are off by that times the
    /// velocity at the most. Cubic rotations cut by such stretches are as near as in
    /// [`insert_key`](crate::edit::insert_key).
    ///
    /// # Errors
    ///
    /// [`CurveError::Tolerance`] if it is negative or not a number; [`CurveError::NotFinite`] where a time or velocity
    /// overflows.
    pub fn apply<T: Interpolate>(
        &self,
        track: &Track<T>,
        tolerance: f32,
    ) -> Result<Track<T>, CurveError> {
        if tolerance.is_nan() || tolerance < 0.0 {
            return Err(CurveError::Tolerance { tolerance });
        }
        let straight = self.straightened(f64::from(tolerance));
        let mut keys = Retimed::new(track.interpolation());
        for (n, stretch) in straight.iter().enumerate() {
            let speed_before = n
                .checked_sub(1)
                .map_or(0.0, |before| straight[before].speed());
            let speed = stretch.speed();
            keys.add(
                stretch.play[0],
                shown(track, stretch.source[0], [speed_before, speed]),
            );
            for time in stretch.met(track.times()) {
                keys.add(stretch.play_at(time), shown(track, time, [speed; 2]));
            }
        }
        let end = &straight[straight.len() - 1];
        keys.add(end.play[1], shown(track, end.source[1], [end.speed(), 0.0]));
        Track::new(keys.keys, track.interpolation())
    }

    /// Straight stretches within `tolerance`, s, of the warp.
    fn straightened(&self, tolerance: f64) -> Vec<Span> {
        let mut straight = Vec::new();
        for span in self.spans.iter().filter(|span| span.play[0] < span.play[1]) {
            if span.is_straight() {
                straight.push(*span);
            } else {
                // Quarters first, so that a curve is not taken for a line by its symmetry.
                for n in 0..4 {
                    let alphas = [n, n + 1].map(|n| f64::from(n) * 0.25);
                    span.straighten(alphas, tolerance, DEPTH, &mut straight);
                }
            }
        }
        if straight.is_empty() {
            straight.push(self.spans[0]);
        }
        straight
    }

    fn ends(&self) -> (&Span, &Span) {
        (&self.spans[0], &self.spans[self.spans.len() - 1])
    }
}

impl Span {
    fn still(play: [f64; 2], source: f64) -> Self {
        Self {
            play,
            source: [source; 2],
            way: Way::Polynomial([0.0; 4]),
        }
    }

    fn straight(play: [f64; 2], source: [f64; 2]) -> Self {
        Self {
            play,
            source,
            way: Way::Polynomial([source[1] - source[0], 0.0, 0.0, 0.0]),
        }
    }

    fn source(&self, alpha: f64) -> f64 {
        let [start, end] = self.source;
        match self.way {
            Way::Polynomial([c1, c2, c3, c4]) => {
                start + alpha * (c1 + alpha * (c2 + alpha * (c3 + alpha * c4)))
            }
            Way::Eased(easing) => start + (end - start) * f64::from(easing.apply(alpha as f32)),
        }
    }

    /// When `source`, between those of the ends, is shown; the earliest time if it stands still there.
    fn play_at(&self, source: f64) -> f64 {
        let [from, to] = self.source;
        let [start, end] = self.play;
        if source == from {
            return start;
        }
        if source == to {
            return end;
        }
        if self.is_straight() {
            return start + (end - start) * ((source - from) / (to - from));
        }
        let is_rising = from <= to;
        let (mut low, mut high) = (0.0, 1.0);
        // Halving gives f64's last digit, and needs no slope, which may be zero or endless.
        for _ in 0..53 {
            let middle = 0.5 * (low + high);
            let here = self.source(middle);
            let is_before = if is_rising {
                here < source
            } else {
                here > source
            };
            if is_before {
                low = middle;
            } else {
                high = middle;
            }
        }
        start + (end - start) * high
    }

    fn is_straight(&self) -> bool {
        match self.way {
            Way::Polynomial([_, c2, c3, c4]) => [c2, c3, c4] == [0.0; 3],
            Way::Eased(easing) => easing == Easing::Linear,
        }
    }

    /// Seconds of source a second of play, of a straight one.
    fn speed(&self) -> f64 {
        let length = self.play[1] - self.play[0];
        if length > 0.0 {
            (self.source[1] - self.source[0]) / length
        } else {
            0.0
        }
    }

    /// Those of `times` that are shown between the ends, in the order in which they are.
    fn met(&self, times: &[f32]) -> Vec<f64> {
        let [from, to] = self.source;
        let first = times.partition_point(|time| f64::from(*time) <= from.min(to));
        let inside = times[first..].iter().map(|time| f64::from(*time));
        let mut met: Vec<_> = inside.take_while(|time| *time < from.max(to)).collect();
        if to < from {
            met.reverse();
        }
        met
    }

    fn straighten(&self, [a, b]: [f64; 2], tolerance: f64, depth: u32, out: &mut Vec<Self>) {
        let source = [a, b].map(|alpha| self.source(alpha));
        let is_near = (1..8).all(|n| {
            let part = f64::from(n) / 8.0;
            let chord = source[0] + (source[1] - source[0]) * part;
            // A quarter of the tolerance is left for what lies between.
            (self.source(a + (b - a) * part) - chord).abs() <= 0.75 * tolerance
        });
        if is_near || depth == 0 {
            let [start, end] = self.play;
            let play = [a, b].map(|alpha| start + (end - start) * alpha);
            out.push(Self::straight(play, source));
        } else {
            let middle = 0.5 * (a + b);
            self.straighten([a, middle], tolerance, depth - 1, out);
            self.straighten([middle, b], tolerance, depth - 1, out);
        }
    }
}

/// The keys of a retimed track so far.
struct Retimed<T: Interpolate> {
    keys: Vec<Key<T>>,
    interpolation: Interpolation,
}

impl<T: Interpolate> Retimed<T> {
    fn new(interpolation: Interpolation) -> Self {
        let keys = Vec::new();
        Self {
            keys,
            interpolation,
        }
    }

    /// Adds `key` at `play`; keys that f32 cannot tell apart become one, reached as the first and left as the last.
    fn add(&mut self, play: f64, key: Key<T>) {
        let time = play as f32;
        let is_step = self.interpolation == Interpolation::Step;
        match self.keys.last_mut() {
            Some(last) if time <= last.time => {
                let sides = last.velocity.zip(key.velocity);
                last.velocity = sides.map(|([reach, _], [_, leave])| [reach, leave]);
                last.value = key.value;
            }
            Some(last) if is_step && last.value == key.value => {}
            _ => self.keys.push(Key { time, ..key }),
        }
    }
}

/// What is seen of `track` at `source` by one who arrives and leaves with these speeds.
fn shown<T: Interpolate>(track: &Track<T>, source: f64, [before, after]: [f64; 2]) -> Key<T> {
    let time = source as f32;
    let key = key_at(track, time);
    if track.interpolation() == Interpolation::Step && after < 0.0 {
        // Backward, a step is left at its own moment.
        return Key {
            value: track.sample(time.next_down()),
            ..key
        };
    }
    let velocity = key.velocity.map(|[reach, leave]| {
        // Backward, the sides change places.
        let (arriving, leaving) = (
            if before < 0.0 { leave } else { reach },
            if after < 0.0 { reach } else { leave },
        );
        [arriving * before as f32, leaving * after as f32]
    });
    Key { velocity, ..key }
}

/// `time` past an end at `speed`; an end that holds does so for ever.
fn beyond(source: f64, time: f64, speed: f64) -> f64 {
    if speed == 0.0 || time.is_nan() {
        source
    } else {
        source + time * speed
    }
}

/// How long `source` takes at `speed`; 0 for ever.
fn reached(source: f64, speed: f64) -> f64 {
    if speed == 0.0 { 0.0 } else { source / speed }
}

/// The span of a track by powers of α: Σ dₙ αⁿ.
fn powers(track: &Track<f32>, span: usize) -> [f64; 4] {
    let [start, end] = [span, span + 1].map(|key| f64::from(track.times()[key]));
    let [from, to] = [span, span + 1].map(|key| f64::from(track.values()[key]));
    match track.interpolation() {
        Interpolation::Step => [from, 0.0, 0.0, 0.0],
        Interpolation::Linear => [from, to - from, 0.0, 0.0],
        Interpolation::Cubic => {
            let velocities = track.velocities();
            let (change, length) = (to - from, end - start);
            let leave = f64::from(velocities[span][1]) * length;
            let reach = f64::from(velocities[span + 1][0]) * length;
            [
                from,
                leave,
                3.0 * change - 2.0 * leave - reach,
                leave + reach - 2.0 * change,
            ]
        }
    }
}
