//! Keyframe tracks: exact step, linear and cubic interpolation as glTF 2.0 defines it, frame clocks and shutters.
//!
//! A [`Track`] is the exact curve that tools edit and the run-time clip is baked from; it interpolates every value in
//! its own space through [`Interpolate`]. [`WideTrack`] does the same for k scalars a key, such as morph weights.
//!
//! [`tangents`] gives keys their velocities, [`rotation`] rotations theirs, [`Outside`] says how a curve goes on past its
//! keys, and [`Easing`] bends a single move. [`FCurve`] is the film tools' curve with weighted handles; [`edit`] changes
//! tracks and [`TimeWarp`] their time. Paths in space are [`Bezier`], [`BSpline`] or a track; [`ArcLength`] travels them at
//! an even speed. [`SquadTrack`] is the other smooth way through rotations. Colours ([`color`]), factors ([`LogScale`]),
//! angles ([`angle`]) and switches (`bool`) sit on tracks too, each interpolated in its own space. [`reduce()`] drops the
//! keys that a tolerance does not need, [`fit()`] makes few cubic ones of many samples, and [`Timecode`] names frames.
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

pub mod angle;
pub mod arc_length;
pub mod b_spline;
mod banded;
pub mod bezier;
pub mod clock;
pub mod color;
mod cursor;
pub mod dense;
pub mod easing;
pub mod edit;
mod error;
pub mod extrapolate;
pub mod f_curve;
mod f_curve_insert;
mod f_curve_track;
pub mod fit;
pub mod interpolate;
pub mod log_scale;
pub mod range_coder;
pub mod reduce;
pub mod retime;
pub mod rotation;
pub mod squad;
pub mod squad_track;
pub mod tangents;
pub mod timecode;
pub mod track;
pub mod wavelet;
pub mod wide;

pub use arc_length::ArcLength;
pub use b_spline::{BSpline, BSplineSpec};
pub use bezier::{Bezier, WeightedSpan};
pub use clock::{Filter, FrameClock, Shutter};
pub use color::{LinearRgb, OkLab};
pub use cursor::Cursor;
pub use dense::DenseTrack;
pub use easing::{CubicBezier, Easing, Shape};
pub use error::CurveError;
pub use extrapolate::{Extrapolation, Mapped, Outside};
pub use f_curve::{FCurve, FCurveSpec, FKey, Handle};
pub use fit::{Fit, fit};
pub use interpolate::{Interpolate, Linear};
pub use log_scale::LogScale;
pub use reduce::{Distance, reduce, reduce_by, reduce_to_fewest};
pub use retime::TimeWarp;
pub use squad_track::SquadTrack;
pub use tangents::Tcb;
pub use timecode::{Timecode, TimecodeFormat};
pub use track::{Interpolation, Key, Track, TrackSpec};
pub use wide::{WideTrack, WideTrackSpec};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
