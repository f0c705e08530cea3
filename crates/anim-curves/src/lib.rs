//! Keyframe tracks: exact step, linear and cubic interpolation as glTF 2.0 defines it, frame clocks and shutters.
//!
//! A [`Track`] is the exact curve that tools edit and the run-time clip is baked from; it interpolates every value in
//! its own space through [`Interpolate`]. [`WideTrack`] does the same for k scalars a key, such as morph weights.
//!
//! [`tangents`] gives keys their velocities, [`Outside`] says how a curve goes on past them, and [`Easing`] bends a single
//! move. Paths in space are [`Bezier`], [`BSpline`] or a track; [`ArcLength`] travels them at an even speed. [`squad`] is
//! the smooth way through rotations. [`reduce()`] drops the keys that a tolerance does not need, [`fit()`]
//! makes few cubic ones of many samples, and [`Timecode`] names frames.
//!
//! ```
//! use anim_curves::{Interpolation, Key, Track};
//!
//! let track = Track::new(
//!     vec![Key::new(0.0, 1.0_f32), Key::new(2.0, 5.0)],
//!     Interpolation::Linear,
//! )?;
//! assert_eq!(track.sample(0.5), 2.0);
//! assert_eq!(track.sample(9.0), 5.0); // clamped past the last key
//! # Ok::<(), anim_curves::CurveError>(())
//! ```

pub mod arc_length;
pub mod b_spline;
mod banded;
pub mod bezier;
pub mod clock;
pub mod dense;
pub mod easing;
mod error;
pub mod extrapolate;
pub mod fit;
pub mod interpolate;
pub mod range_coder;
pub mod reduce;
pub mod squad;
pub mod tangents;
pub mod timecode;
pub mod track;
pub mod wavelet;
pub mod wide;

pub use arc_length::ArcLength;
pub use b_spline::{BSpline, BSplineSpec};
pub use bezier::{Bezier, WeightedSpan};
pub use clock::{Filter, FrameClock, Shutter};
pub use dense::DenseTrack;
pub use easing::{CubicBezier, Easing, Shape};
pub use error::CurveError;
pub use extrapolate::{Extrapolation, Mapped, Outside};
pub use fit::{Fit, fit};
pub use interpolate::{Interpolate, Linear};
pub use reduce::{Distance, reduce, reduce_by, reduce_to_fewest};
pub use tangents::Tcb;
pub use timecode::{Timecode, TimecodeFormat};
pub use track::{Cursor, Interpolation, Key, Track, TrackSpec};
pub use wide::{WideTrack, WideTrackSpec};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
