//! Why an effect cannot run.

use thiserror::Error;

/// Why a spec does not make an effect; every variant names the quantity.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ParticleError {
    /// A quantity is NaN, infinite or outside its range.
    #[error("{what}: {value} is out of range")]
    OutOfRange {
        /// The quantity.
        what: &'static str,
        /// What it was.
        value: f32,
    },
    /// A vector has a component that is NaN or infinite.
    #[error("{what}: not finite")]
    NotFinite {
        /// The quantity.
        what: &'static str,
    },
    /// The direction has no length.
    #[error("direction: zero")]
    NoDirection,
    /// There is room for no particle.
    #[error("capacity: zero")]
    NoCapacity,
}
