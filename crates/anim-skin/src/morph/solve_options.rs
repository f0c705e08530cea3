//! What a solve for shape weights is told beside the markers: limits, trust and priors.

use crate::SkinError;

/// What decides where markers leave weights open; strengths are relative to the mean diagonal of SᵀS, so units cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveOptions {
    /// Strength of |w|².
    pub ridge: f64,
    /// Strength of Σ|w|, which turns small weights off.
    pub sparsity: f64,
    /// Strength of |w − w of the frame before|².
    pub temporal: f64,
    /// Strength of (left − right)² for each of `pairs`.
    pub symmetry: f64,
    /// Shapes that mirror each other.
    pub pairs: Vec<[usize; 2]>,
    /// Smallest and largest weight of each shape; empty stands for 0 to 1.
    pub limits: Vec<[f64; 2]>,
    /// Trust in each marker, not negative; empty stands for 1.
    pub marker_weights: Vec<f64>,
    /// Sweeps over all weights before giving up.
    pub max_sweeps: usize,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            ridge: 1e-4,
            sparsity: 0.0,
            temporal: 0.0,
            symmetry: 0.0,
            pairs: Vec::new(),
            limits: Vec::new(),
            marker_weights: Vec::new(),
            max_sweeps: 1000,
        }
    }
}

impl SolveOptions {
    /// Refuses what makes no sense for so many shapes and markers.
    pub(crate) fn check(&self, shape_count: usize, marker_count: usize) -> Result<(), SkinError> {
        let is_strength = |value: &f64| value.is_finite() && *value >= 0.0;
        let option = |what| Err(SkinError::WrongOption { what });
        let strengths = [self.ridge, self.sparsity, self.temporal, self.symmetry];
        if !strengths.iter().all(is_strength) {
            return option("a prior's strength is negative or not finite");
        }
        if ![0, shape_count].contains(&self.limits.len()) {
            return option("as many limits as shapes, or none");
        }
        if ![0, marker_count].contains(&self.marker_weights.len()) {
            return option("as many marker weights as markers, or none");
        }
        for pair in &self.pairs {
            if pair[0] == pair[1] || pair.iter().any(|shape| *shape >= shape_count) {
                let (shape, what) = (pair[0].max(pair[1]), "its pair does not exist");
                return Err(SkinError::BadShape { shape, what });
            }
        }
        let is_range = |[low, high]: &[f64; 2]| low.is_finite() && high.is_finite() && low <= high;
        if let Some(shape) = self.limits.iter().position(|limits| !is_range(limits)) {
            let what = "its limits are not finite and ascending";
            return Err(SkinError::BadShape { shape, what });
        }
        if let Some(marker) = self.marker_weights.iter().position(|w| !is_strength(w)) {
            let what = "its weight is negative or not finite";
            return Err(SkinError::BadMarker { marker, what });
        }
        Ok(())
    }
}
