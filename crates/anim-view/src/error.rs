//! Why a picture cannot be taken.

use thiserror::Error;

/// Why a picture cannot be made.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// A picture without pixels, or with more than a picture may have.
    #[error(
        "a picture of {width} x {height} pixels: each side must be 1 to 16384, and their product at most 67108864"
    )]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// The side of the square of samples in a pixel.
    #[error("{supersample} x {supersample} samples a pixel: must be 1 to 4")]
    Supersample {
        /// What was asked for.
        supersample: u32,
    },
}
