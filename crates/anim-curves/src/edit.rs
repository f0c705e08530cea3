//! Editing tracks: every function takes tracks and gives a new one, so that undo is keeping the old.
//!
//! What an editor does to keys ([`delete_key`], [`move_key`], [`offset`], [`shift`], [`scale_time`], [`paste`]) changes the
//! curve and says so; what it does to look closer ([`insert_key`], [`trim`], [`concatenate`]) keeps it. For one value of a
//! key, edit the keys of a [`TrackSpec`] instead. A stretch of time that is not even is a [`TimeWarp`](crate::TimeWarp).
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track, edit, tangents};
//!
//! let mut keys = vec![Key::new(0.0, 0.0_f32), Key::new(2.0, 8.0), Key::new(3.0, 5.0)];
//! tangents::catmull_rom(&mut keys);
//! let track = Track::new(keys, Interpolation::Cubic)?;
//!
//! let finer = edit::insert_key(&track, 0.7)?;
//! assert_eq!(finer.times(), [0.0, 0.7, 2.0, 3.0]);
//! assert!((finer.sample(1.3) - track.sample(1.3)).abs() < 1e-5);
//!
//! let backward = edit::scale_time(&track, -1.0, 1.5)?; // about the middle of 0 to 3
//! assert_eq!(backward.sample(0.0), 5.0);
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

use crate::cursor::span_at;
use crate::interpolate::fraction;
use crate::{CurveError, FrameClock, Interpolate, Interpolation, Key, Linear, Track, TrackSpec};

/// More frames than this, 2²⁴, cannot be told apart by times in f32.
const MAX_FRAMES: u64 = 1 << 24;

/// `track` with a key at `time`, s, and the curve as it was, also past its ends; the track itself if it has one there.
///
/// Step and linear keep their samples for every type. A cubic keeps them to rounding for numbers, vectors and factors:
/// half a Hermite span with the curve's own velocity at the cut is the same cubic. Of a cubic rotation only the key and
/// its angular velocity are kept exactly, since the normalised curve has no such parts: with keys a quarter turn apart
/// the ways differ by up to 0.01 rad, and by an eighth of that for half the turn.
///
/// # Errors
///
/// [`CurveError::NotFinite`] if `time` is not finite.
pub fn insert_key<T: Interpolate>(track: &Track<T>, time: f32) -> Result<Track<T>, CurveError> {
    let mut keys: Vec<_> = track
        .times()
        .iter()
        .map(|time| key_at(track, *time))
        .collect();
    let place = keys.partition_point(|key| key.time < time);
    if keys.get(place).is_some_and(|key| key.time == time) {
        return Ok(track.clone());
    }
    keys.insert(place, key_at(track, time));
    Track::new(keys, track.interpolation())
}

/// `track` without its `key`-th key.
///
/// # Errors
///
/// [`CurveError::NoKey`] if there is none, [`CurveError::Empty`] if it is the only one.
pub fn delete_key<T: Interpolate>(track: &Track<T>, key: usize) -> Result<Track<T>, CurveError> {
    let mut keys = keys_of(track);
    check_key(&keys, key)?;
    keys.remove(key);
    Track::new(keys, track.interpolation())
}

/// `track` with its `key`-th key at another `time`, s, and `value`; its velocities stay.
///
/// # Errors
///
/// [`CurveError::NoKey`] if there is none, [`CurveError::Unsorted`] if it would meet or pass a neighbour,
/// [`CurveError::NotFinite`] for a time or value that is not.
pub fn move_key<T: Interpolate>(
    track: &Track<T>,
    key: usize,
    (time, value): (f32, T),
) -> Result<Track<T>, CurveError> {
    let mut keys = keys_of(track);
    check_key(&keys, key)?;
    keys[key] = Key {
        time,
        value,
        ..keys[key]
    };
    Track::new(keys, track.interpolation())
}

/// `track` later by `time`, s.
///
/// # Errors
///
/// [`CurveError::NotFinite`] if `time` is not, [`CurveError::Unsorted`] if keys fall together so far from 0.
pub fn shift<T: Interpolate>(track: &Track<T>, time: f32) -> Result<Track<T>, CurveError> {
    let by = f64::from(time);
    with_times(
        keys_of(track),
        |time| (f64::from(time) + by) as f32,
        track.interpolation(),
    )
}

/// `track` with `by` added to each value.
///
/// # Errors
///
/// [`CurveError::NotFinite`] if a sum is not.
pub fn offset<T: Linear>(track: &Track<T>, by: T) -> Result<Track<T>, CurveError> {
    let mut keys = keys_of(track);
    for key in &mut keys {
        key.value = key.value + by;
    }
    Track::new(keys, track.interpolation())
}

/// `track` slowed down by `factor` about the time `pivot`, s, which stays; velocities are divided by it.
///
/// A negative factor plays the keys backward: −1 about 0 negates times exactly, so that twice is the same track. A
/// stepped value then still holds from its own key on, as in every editor.
///
/// # Errors
///
/// [`CurveError::Factor`] unless `factor` is finite and not zero, [`CurveError::NotFinite`] if a time or a velocity is
/// not, [`CurveError::Unsorted`] if keys fall together.
pub fn scale_time<T: Interpolate>(
    track: &Track<T>,
    factor: f32,
    pivot: f32,
) -> Result<Track<T>, CurveError> {
    if !factor.is_finite() || factor == 0.0 {
        return Err(CurveError::Factor { factor });
    }
    let mut keys = keys_of(track);
    for key in &mut keys {
        let velocity = |v: T::Velocity| v * (1.0 / factor);
        key.velocity = key.velocity.map(|[reach, leave]| {
            if factor < 0.0 {
                [velocity(leave), velocity(reach)]
            } else {
                [velocity(reach), velocity(leave)]
            }
        });
    }
    if factor < 0.0 {
        keys.reverse();
    }
    let (factor, pivot) = (f64::from(factor), f64::from(pivot));
    let scaled = |time| (pivot + (f64::from(time) - pivot) * factor) as f32;
    with_times(keys, scaled, track.interpolation())
}

/// The part of `track` from `start` to `end`, s, with keys at both; it holds outside, and the times stay.
///
/// Inside, samples are those of the track; of cubic rotations as with [`insert_key`].
///
/// # Errors
///
/// [`CurveError::Range`] unless start ≤ end, both finite.
pub fn trim<T: Interpolate>(
    track: &Track<T>,
    start: f32,
    end: f32,
) -> Result<Track<T>, CurveError> {
    if !(start.is_finite() && end.is_finite() && start <= end) {
        return Err(CurveError::Range { start, end });
    }
    let is_inside = |time: &&f32| start < **time && **time < end;
    let inside = track.times().iter().filter(is_inside).copied();
    let times = [start]
        .into_iter()
        .chain(inside)
        .chain((start < end).then_some(end));
    let keys = times.map(|time| key_at(track, time)).collect();
    Track::new(keys, track.interpolation())
}

/// `first`, and then `second`, moved so that it starts where `first` ends.
///
/// Equal values become one key, reached as in `first` and left as in `second`. Different ones jump there: the last key of
/// `first` moves to just before.
///
/// # Errors
///
/// [`CurveError::Interpolations`] if the two differ in interpolation; [`CurveError::Unsorted`] if keys fall together.
pub fn concatenate<T: Interpolate>(
    first: &Track<T>,
    second: &Track<T>,
) -> Result<Track<T>, CurveError> {
    let interpolation = common_interpolation(first, second)?;
    let (mut keys, mut rest) = (keys_of(first), keys_of(second));
    let (end, start) = (first.end(), second.times()[0]);
    let by = f64::from(end) - f64::from(start);
    for key in &mut rest {
        key.time = (f64::from(key.time) + by) as f32;
    }
    rest[0].time = end;
    let last = keys.len() - 1;
    if keys[last].value == rest[0].value {
        let sides = keys[last].velocity.zip(rest[0].velocity);
        rest[0].velocity = sides.map(|([reach, _], [_, leave])| [reach, leave]);
        keys.pop();
    } else {
        keys[last].time = end.next_down();
    }
    keys.extend(rest);
    Track::new(keys, interpolation)
}

/// `base` with the keys of `over` in place of its own from `over`'s first key to its last.
///
/// The curve inside is that of `over`; towards the next keys of `base` on either side it is new.
///
/// # Errors
///
/// [`CurveError::Interpolations`] if the two differ in interpolation.
pub fn paste<T: Interpolate>(base: &Track<T>, over: &Track<T>) -> Result<Track<T>, CurveError> {
    let interpolation = common_interpolation(base, over)?;
    let (start, end) = (over.times()[0], over.end());
    let mut keys = keys_of(base);
    let after = keys.split_off(keys.partition_point(|key| key.time < start));
    keys.extend(keys_of(over));
    keys.extend(after.into_iter().filter(|key| key.time > end));
    Track::new(keys, interpolation)
}

/// `track` sampled at the frames of `clock` between its first key and its last, which are kept, for tools that know no
/// curves: linear between frames, and stepped if the track is.
///
/// # Errors
///
/// [`CurveError::Frames`] for more than 2²⁴ frames; [`CurveError::Unsorted`] if frames fall together in f32;
/// [`CurveError::NotFinite`] if the track overflows between its keys.
pub fn bake<T: Interpolate>(track: &Track<T>, clock: &FrameClock) -> Result<Track<T>, CurveError> {
    let (start, end) = (track.times()[0], track.end());
    let [first, last] = [start, end].map(|time| clock.frame_at(f64::from(time)));
    let frames = last.abs_diff(first);
    if frames > MAX_FRAMES {
        return Err(CurveError::Frames { frames });
    }
    let frames = (first..=last).map(|frame| clock.time_of(frame) as f32);
    let frames = frames.filter(|time| start < *time && *time < end);
    let times = [start]
        .into_iter()
        .chain(frames)
        .chain((start < end).then_some(end));
    let interpolation = match track.interpolation() {
        Interpolation::Step => Interpolation::Step,
        Interpolation::Linear | Interpolation::Cubic => Interpolation::Linear,
    };
    let keys = times
        .map(|time| Key::new(time, track.sample(time)))
        .collect();
    Track::new(keys, interpolation)
}

/// The key that `track` could have at `time`: its value and, if cubic, the velocities it arrives and leaves with, which
/// are zero where it holds.
pub(crate) fn key_at<T: Interpolate>(track: &Track<T>, time: f32) -> Key<T> {
    let (times, values, velocities) = (track.times(), track.values(), track.velocities());
    let velocity = (track.interpolation() == Interpolation::Cubic).then(|| {
        let rest = velocities[0][0] * 0.0;
        let (span, last) = (span_at(times, time, 0), times.len() - 1);
        let [reach, leave] = velocities[span];
        if time == times[span] {
            let reach = if span == 0 { rest } else { reach };
            [reach, if span == last { rest } else { leave }]
        } else if span == last || time.is_nan() || time < times[0] {
            [rest; 2]
        } else {
            let alpha = fraction(times[span], times[span + 1], time);
            let (from, to) = (
                (values[span], leave),
                (values[span + 1], velocities[span + 1][0]),
            );
            [T::hermite_velocity(from, to, times[span + 1] - times[span], alpha); 2]
        }
    });
    Key {
        time,
        value: track.sample(time),
        velocity,
    }
}

fn keys_of<T: Interpolate>(track: &Track<T>) -> Vec<Key<T>> {
    TrackSpec::from(track.clone()).keys
}

fn with_times<T: Interpolate>(
    mut keys: Vec<Key<T>>,
    moved: impl Fn(f32) -> f32,
    interpolation: Interpolation,
) -> Result<Track<T>, CurveError> {
    for key in &mut keys {
        key.time = moved(key.time);
    }
    Track::new(keys, interpolation)
}

fn check_key<T: Interpolate>(keys: &[Key<T>], key: usize) -> Result<(), CurveError> {
    if key < keys.len() {
        return Ok(());
    }
    let keys = keys.len();
    Err(CurveError::NoKey { key, keys })
}

fn common_interpolation<T: Interpolate>(
    a: &Track<T>,
    b: &Track<T>,
) -> Result<Interpolation, CurveError> {
    if a.interpolation() == b.interpolation() {
        return Ok(a.interpolation());
    }
    let found = [a.interpolation(), b.interpolation()];
    Err(CurveError::Interpolations { found })
}
