//! What can be wrong with keys.

use thiserror::Error;

use crate::Interpolation;
use crate::Timecode;

/// Why keys do not make a track, or numbers a clock; variants name the place.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CurveError {
    /// A track needs a key; a cubic one of glTF two, which is the importer's to check.
    #[error("the track has no keys")]
    Empty,
    /// Times must rise strictly: the key is not later than the one before it.
    #[error("key {key}: time {time} s is not after the key before it")]
    Unsorted {
        /// Index of the key.
        key: usize,
        /// Its time, s.
        time: f32,
    },
    /// A time, value or tangent is NaN or infinite, or a rotation has length zero.
    #[error("key {key}: not finite")]
    NotFinite {
        /// Index of the key.
        key: usize,
    },
    /// A cubic key lacks its velocities.
    #[error("key {key}: cubic interpolation needs the velocities of every key")]
    NoVelocity {
        /// Index of the key.
        key: usize,
    },
    /// The number of values is not keys × width (× 3 for cubic).
    #[error("{keys} keys of width {width} need {expected} values, found {found}")]
    ValueCount {
        /// Number of keys.
        keys: usize,
        /// Scalars a key.
        width: usize,
        /// keys × width, times 3 if cubic.
        expected: usize,
        /// Number of values given.
        found: usize,
    },
    /// A frame rate that is zero, or not a number.
    #[error("frame rate {numerator}/{denominator}: neither part may be zero")]
    FrameRate {
        /// Frames.
        numerator: u32,
        /// Seconds.
        denominator: u32,
    },
    /// A shutter that is open for a negative time, or not a number.
    #[error("shutter: opening at {open} for {exposure} frames is not finite and positive")]
    Shutter {
        /// When it opens, frames.
        open: f64,
        /// How long it stays open, frames.
        exposure: f64,
    },
    /// The handle of an easing curve: time must stay between the ends, and the value be finite.
    #[error("handle {handle}: ({x}, {y}) needs x from 0 to 1 and a finite y")]
    Handle {
        /// 0 for the first, 1 for the second.
        handle: usize,
        /// Its time, 0 to 1.
        x: f32,
        /// Its value.
        y: f32,
    },
    /// Arc length needs a range and an accuracy.
    #[error(
        "arc length from {start} to {end} within {accuracy} m needs start < end and an accuracy over zero"
    )]
    ArcLength {
        /// First parameter.
        start: f32,
        /// Last parameter.
        end: f32,
        /// Accuracy asked for, m.
        accuracy: f32,
    },
    /// A curve that is NaN or infinite somewhere.
    #[error("the curve's point at {parameter} is not finite")]
    Point {
        /// Where.
        parameter: f32,
    },
    /// A cubic B-spline needs four control points.
    #[error("a cubic B-spline needs 4 control points, found {found}")]
    Controls {
        /// Number of control points given.
        found: usize,
    },
    /// Knots of the wrong number, falling, not finite, or all at one place.
    #[error(
        "knots: {expected} finite ones that never fall and span a range are needed, found {found}"
    )]
    Knots {
        /// Four more than control points.
        expected: usize,
        /// Number of knots given.
        found: usize,
    },
    /// A cubic track, whose velocities have no place in a compressed one: sample it first.
    #[error("a cubic track cannot be compressed: sample it first")]
    NotSampled,
    /// A tolerance that the rounding of the values themselves exceeds.
    #[error("tolerance {tolerance} is finer than the values are")]
    TooFine {
        /// What was asked for.
        tolerance: f32,
    },
    /// A tolerance that is negative, or not a number.
    #[error("tolerance {tolerance}: it must be zero or more")]
    Tolerance {
        /// What was asked for.
        tolerance: f32,
    },
    /// A key asked for by a number that the track does not have.
    #[error("key {key}: the track has {keys} keys")]
    NoKey {
        /// Index asked for.
        key: usize,
        /// Number of keys.
        keys: usize,
    },
    /// A range of time that ends before it starts, or is not finite.
    #[error("range from {start} s to {end} s: both must be finite, the end not before the start")]
    Range {
        /// Start, s.
        start: f32,
        /// End, s.
        end: f32,
    },
    /// A factor that time cannot be scaled by.
    #[error("factor {factor}: time is scaled by a finite factor that is not zero")]
    Factor {
        /// The factor.
        factor: f32,
    },
    /// Two tracks joined that interpolate differently.
    #[error("tracks of {:?} and {:?} interpolation make no common one", found[0], found[1])]
    Interpolations {
        /// Those of the two tracks.
        found: [Interpolation; 2],
    },
    /// More frames than times in f32 can tell apart.
    #[error("{frames} frames are more than 16777216")]
    Frames {
        /// The number of frames.
        frames: u64,
    },
    /// A curve of time that jumps.
    #[error("a stepped track is no curve of time, which does not jump")]
    SteppedTime,
    /// A key asked for outside those of the curve.
    #[error("time {time} s is not between the first key at {start} s and the last at {end} s")]
    Outside {
        /// The time asked for, s.
        time: f32,
        /// Time of the first key, s.
        start: f32,
        /// Time of the last key, s.
        end: f32,
    },
    /// A stored track whose bytes do not fit together.
    #[error("broken track: {what} out of range")]
    BrokenTrack {
        /// The part at fault.
        what: &'static str,
    },
    /// A text or its parts that name no frame.
    #[error("timecode '{text}': {reason}")]
    Timecode {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A name that drop-frame counting leaves out.
    #[error("timecode {timecode}: drop-frame counting leaves this name out")]
    DroppedFrame {
        /// The name.
        timecode: Timecode,
    },
    /// A rate whose frames have no names.
    #[error(
        "timecode at {numerator}/{denominator} frames/s needs a rate n or n·1000/1001, and the latter with n a multiple of 30 to drop frames"
    )]
    TimecodeRate {
        /// Frames.
        numerator: u32,
        /// Seconds.
        denominator: u32,
        /// True if names were to be dropped.
        drop_frame: bool,
    },
}
