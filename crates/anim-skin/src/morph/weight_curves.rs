//! Recorded weights in few bytes: a face at 60 frames a second, each weight within a tolerance of what was recorded.
//!
//! The coding is that of [`DenseTrack`]; here weights become a track, and what was lost is measured. Half a hundredth is
//! below what a viewer sees, and a tenth of a tracker's noise.
//!
//! ```
//! use anim_skin::morph::weight_curves::compress;
//!
//! let smile = |frame: u16| (f32::from(frame) * 0.05).sin().max(0.0);
//! let frames: Vec<f32> = (0..600).flat_map(|frame| [smile(frame), 0.0]).collect();
//! let curves = compress(&frames, 2, 60.0, 0.005)?;
//! assert!(curves.error <= 0.005 && curves.track.bytes().len() < 300); // of 4800
//!
//! let mut weights = [0.0; 2];
//! curves.track.expand()?.sample(0.5, &mut weights); // at 30 frames
//! assert!((weights[0] - smile(30)).abs() <= 0.005);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_curves::{DenseTrack, Interpolation, WideTrack, WideTrackSpec};

use super::arkit;
use super::csv::WeightFrames;
use crate::SkinError;

/// Compressed weights and what they lost.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightCurves {
    /// The bytes, and the way back to a track to sample.
    pub track: DenseTrack,
    /// Largest difference between a recorded weight and the expanded one.
    pub error: f32,
}

/// Compresses F frames of k weights, frame by frame, within `tolerance`; frame f is at f / `rate` seconds.
///
/// O(F · k).
///
/// # Errors
///
/// [`SkinError::Curve`]: no frame, a length that is no multiple of k, a weight that is not finite, a rate that is no
/// positive number, a tolerance below about a millionth of the largest weight.
pub fn compress(
    frames: &[f32],
    shape_count: usize,
    rate: f32,
    tolerance: f32,
) -> Result<WeightCurves, SkinError> {
    let frame_count = frames.len().div_ceil(shape_count.max(1));
    let track = WideTrack::new(WideTrackSpec {
        width: shape_count,
        times: (0..frame_count)
            .map(|frame| (frame as f64 / f64::from(rate)) as f32)
            .collect(),
        values: frames.to_vec(),
        interpolation: Interpolation::Linear,
    })?;
    let dense = DenseTrack::new(&track, tolerance)?;
    let expanded = dense.expand()?;
    let pairs = expanded.spec().values.iter().zip(frames);
    Ok(WeightCurves {
        error: pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max),
        track: dense,
    })
}

impl WeightFrames {
    /// Compresses a recording of `rate` frames a second to curves of the 52 shapes.
    ///
    /// # Errors
    ///
    /// As [`compress`].
    pub fn compress(&self, rate: f32, tolerance: f32) -> Result<WeightCurves, SkinError> {
        let frames: Vec<f32> = (0..self.len()).flat_map(|f| *self.weights(f)).collect();
        compress(&frames, arkit::NAMES.len(), rate, tolerance)
    }
}
