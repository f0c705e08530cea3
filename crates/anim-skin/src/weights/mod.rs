//! Skin weights as tools make, edit and compare them: V rows that are always on the simplex.
//!
//! [`SkinWeights`] is what every binding method answers with and every edit takes and returns: each row holds positive
//! weights of distinct joints, in `f64`, that sum to 1. [`Influences`] are what files hold and
//! [`SkinnedMesh`](crate::SkinnedMesh) takes; [`SkinWeights::from_influences`] and [`SkinWeights::to_influences`] are the
//! doors between the two. None of this runs in a frame.
//!
//! ```
//! use anim_skin::weights::SkinWeights;
//!
//! let weights = SkinWeights::from_rows(3, [vec![(2, 1.0), (0, 3.0)], vec![(1, 0.2)]])?;
//! assert_eq!(weights.row(0).collect::<Vec<_>>(), [(0, 0.75), (2, 0.25)]);
//! assert_eq!(weights.row(1).collect::<Vec<_>>(), [(1, 1.0)]);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

#[cfg(feature = "solve")]
pub mod biharmonic;
pub mod bone_fit;
pub mod bones;
pub mod brush;
pub mod examples;
pub mod geodesic;
pub mod gradient;
pub mod hammer;
#[cfg(feature = "solve")]
pub mod heat;
#[cfg(feature = "solve")]
mod inpaint;
pub mod inverse_distance;
pub mod locks;
#[cfg(feature = "solve")]
mod mean_value;
pub mod merge;
pub mod mirror;
mod motion;
pub mod nearest;
pub mod prune;
pub mod quantize;
pub mod report;
mod rows;
#[cfg(feature = "solve")]
mod sheets;
#[cfg(feature = "solve")]
mod simplex;
pub mod simplex_fit;
pub mod smooth;
pub mod ssdr;
mod surface;
pub mod surface_graph;
#[cfg(feature = "solve")]
pub mod transfer;
pub mod voxel;

#[cfg(feature = "solve")]
pub use biharmonic::{
    BiharmonicNodes, BiharmonicOptions, BiharmonicReport, biharmonic, biharmonic_nodes,
};
pub use bone_fit::fit_bones;
pub use bones::{Bone, Bones};
pub use brush::{Brush, Dab, DabMode, DabOutcome, Falloff};
pub use examples::{Candidates, ExampleOptions, FitReport, from_examples};
pub use geodesic::{GeodesicMethod, GeodesicOptions, geodesic};
#[cfg(feature = "solve")]
pub use heat::{HeatOptions, heat};
pub use inverse_distance::{InverseDistanceOptions, inverse_distance};
pub use locks::Locks;
pub use merge::{crossfade, kept_ancestors, merge_joints};
pub use nearest::{NearestOptions, nearest};
pub use quantize::{Influences4, Packed, QuantizeReport, StoredWeight};
pub use report::{BindReport, Island};
pub use simplex_fit::{Quadratic, SimplexFit};
pub use ssdr::{SsdrOptions, SsdrResult, ssdr};
pub use surface_graph::SurfaceGraph;
pub use voxel::{VoxelDistances, VoxelOptions, voxel};

use serde::{Deserialize, Serialize};

use crate::weight_rows::collect_row;
use crate::{Influences, SkinError, WeightReport};
use rows::check_joint_count;

/// The weights of V vertices over J joints: one row a vertex, joints ascending, each once, positive, summing to 1.
///
/// Sums are off by no more than k·2⁻⁵³ for a row of k. Joints are places in the skin's joint list. Immutable: edits give
/// new weights, so an edit that fails leaves the old ones whole. Rows are stored one behind the other, 10 bytes an
/// influence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SkinWeightsSpec", into = "SkinWeightsSpec")]
pub struct SkinWeights {
    joint_count: usize,
    /// Where each row ends.
    ends: Vec<usize>,
    joints: Vec<u16>,
    weights: Vec<f64>,
}

impl SkinWeights {
    /// Builds rows from `(joint, weight)` entries in any order, which are divided by their sum.
    ///
    /// Entries of weight 0 are left out and weights of a joint that appears twice added.
    ///
    /// # Errors
    ///
    /// [`SkinError::TooManyJoints`] above 65,536, [`SkinError::NoJoint`] for a joint that is not below `joint_count`,
    /// [`SkinError::BadWeight`] for a negative or non-finite weight, [`SkinError::EmptyRow`] for a row without weight.
    pub fn from_rows<R>(
        joint_count: usize,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self, SkinError>
    where
        R: IntoIterator<Item = (u16, f64)>,
    {
        check_joint_count(joint_count)?;
        let mut out = Self::empty(joint_count);
        let mut entries = Vec::new();
        for (vertex, row) in rows.into_iter().enumerate() {
            entries.clear();
            entries.extend(row);
            out.push(vertex, &mut entries)?;
        }
        Ok(out)
    }

    /// Builds rows from a dense V × J matrix, vertex by vertex; entries of 0 are left out.
    ///
    /// # Errors
    ///
    /// [`SkinError::NoJoints`] if `joint_count` is 0, [`SkinError::Count`] if `weights` is no whole number of rows, and
    /// those of [`from_rows`](Self::from_rows).
    pub fn from_dense(joint_count: usize, weights: &[f64]) -> Result<Self, SkinError> {
        if joint_count == 0 {
            return Err(SkinError::NoJoints);
        }
        let rows = weights.chunks_exact(joint_count);
        if !rows.remainder().is_empty() {
            return Err(SkinError::Count {
                what: "weights",
                found: weights.len().div_ceil(joint_count),
                vertex_count: weights.len() / joint_count,
            });
        }
        Self::from_rows(
            joint_count,
            rows.map(|row| (0..=u16::MAX).zip(row.iter().copied())),
        )
    }

    /// Cleans what a file holds; what had to be repaired is in the report, and a row without weight follows joint 0.
    ///
    /// # Errors
    ///
    /// [`SkinError::TooManyJoints`] above 65,536, [`SkinError::NoJoint`] if an influence names a joint that is not below
    /// `joint_count`, [`SkinError::Count`] if the arrays differ in length.
    pub fn from_influences(
        influences: &Influences,
        joint_count: usize,
    ) -> Result<(Self, WeightReport), SkinError> {
        if influences.weights.len() != influences.joints.len() {
            return Err(SkinError::Count {
                what: "weights",
                found: influences.weights.len(),
                vertex_count: influences.joints.len(),
            });
        }
        let mut report = WeightReport::default();
        let mut rows = Vec::with_capacity(influences.vertex_count());
        let per_vertex = influences.per_vertex.max(1);
        let entries = influences.joints.chunks_exact(per_vertex);
        for (vertex, (joints, weights)) in entries
            .zip(influences.weights.chunks_exact(per_vertex))
            .enumerate()
        {
            let mut row = Vec::new();
            collect_row(joints, weights, &mut row, |fault| {
                report.faults.push((vertex as u32, fault));
            });
            rows.push(row);
        }
        Ok((Self::from_rows(joint_count, rows)?, report))
    }

    /// The rows as f32 influences of the longest row's length, shorter rows filled with weight 0 of joint 0.
    pub fn to_influences(&self) -> Influences {
        let per_vertex = self.max_influences();
        let mut out = Influences {
            per_vertex,
            joints: Vec::with_capacity(self.vertex_count() * per_vertex),
            weights: Vec::with_capacity(self.vertex_count() * per_vertex),
        };
        for vertex in 0..self.vertex_count() {
            for (joint, weight) in self.row(vertex) {
                out.joints.push(joint);
                out.weights.push(weight as f32);
            }
            out.joints.resize((vertex + 1) * per_vertex, 0);
            out.weights.resize((vertex + 1) * per_vertex, 0.0);
        }
        out
    }

    /// Number of vertices, V.
    pub fn vertex_count(&self) -> usize {
        self.ends.len()
    }

    /// Number of joints, J.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }

    /// The longest row's length, k.
    pub fn max_influences(&self) -> usize {
        (0..self.vertex_count())
            .map(|vertex| self.range(vertex).len())
            .max()
            .unwrap_or(0)
    }

    /// The joints and weights of `vertex`, joints ascending.
    ///
    /// # Panics
    ///
    /// If there is no such vertex, here and below.
    pub fn row(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f64)> + Clone {
        let range = self.range(vertex);
        let weights = self.weights[range.clone()].iter().copied();
        self.joints[range].iter().copied().zip(weights)
    }

    /// The weight of `joint` at `vertex`, 0 where it has none.
    pub fn weight(&self, vertex: usize, joint: u16) -> f64 {
        let range = self.range(vertex);
        match self.joints[range.clone()].binary_search(&joint) {
            Ok(place) => self.weights[range.start + place],
            Err(_) => 0.0,
        }
    }

    /// The joint of the largest weight, the lowest of several.
    pub fn dominant_joint(&self, vertex: usize) -> u16 {
        self.row(vertex)
            .fold(
                (0, 0.0),
                |most, entry| if entry.1 > most.1 { entry } else { most },
            )
            .0
    }

    /// New weights of which `edit` has changed the rows; it sees each vertex and its entries, joints ascending.
    ///
    /// # Errors
    ///
    /// Those of [`from_rows`](Self::from_rows), for what the edit left.
    pub fn map_rows(
        &self,
        mut edit: impl FnMut(usize, &mut Vec<(u16, f64)>),
    ) -> Result<Self, SkinError> {
        self.edit_rows(|vertex, row| {
            edit(vertex, row);
            true
        })
    }

    /// The `per_vertex` (at least 1) largest weights of each row, divided by their sum, and the largest share that a row lost.
    ///
    /// Of equal weights the lower joint stays. O(V k).
    pub fn limited(&self, per_vertex: usize) -> (Self, f64) {
        let mut out = Self::empty(self.joint_count);
        let mut dropped_most = 0.0_f64;
        let mut row = Vec::new();
        for vertex in 0..self.vertex_count() {
            row.clear();
            row.extend(self.row(vertex));
            dropped_most = dropped_most.max(out.push_limited(&mut row, per_vertex));
        }
        (out, dropped_most)
    }

    /// The mean over vertices of the L1 difference of two rows, between 0 (equal) and 2 (no joint in common).
    ///
    /// # Panics
    ///
    /// If the two differ in their number of vertices.
    pub fn mean_difference(&self, other: &Self) -> f64 {
        assert_eq!(
            self.vertex_count(),
            other.vertex_count(),
            "weights of another mesh"
        );
        let difference = |vertex: usize| -> f64 {
            let mine = self
                .row(vertex)
                .map(|(joint, w)| (w - other.weight(vertex, joint)).abs());
            let theirs = other
                .row(vertex)
                .filter(|(joint, _)| self.weight(vertex, *joint) == 0.0);
            mine.sum::<f64>() + theirs.map(|(_, w)| w).sum::<f64>()
        };
        let total: f64 = (0..self.vertex_count()).map(difference).sum();
        total / (self.vertex_count().max(1)) as f64
    }

    /// The largest |Σ w − 1| of a row.
    pub fn max_sum_error(&self) -> f64 {
        (0..self.vertex_count())
            .map(|vertex| (self.row(vertex).map(|(_, weight)| weight).sum::<f64>() - 1.0).abs())
            .fold(0.0, f64::max)
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        let start = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[vertex]
    }

    /// What [`from_rows`](Self::from_rows) and then [`limited`](Self::limited) give, without the whole rows in between.
    pub(crate) fn from_rows_limited(
        joint_count: usize,
        rows: impl IntoIterator<Item = Vec<(u16, f64)>>,
        per_vertex: usize,
    ) -> Result<(Self, f64), SkinError> {
        check_joint_count(joint_count)?;
        let (mut out, mut whole) = (Self::empty(joint_count), Self::empty(joint_count));
        let mut dropped_most = 0.0_f64;
        for (vertex, mut row) in rows.into_iter().enumerate() {
            whole.ends.clear();
            whole.joints.clear();
            whole.weights.clear();
            whole.push(vertex, &mut row)?;
            row.clear();
            row.extend(whole.row(0));
            dropped_most = dropped_most.max(out.push_limited(&mut row, per_vertex));
        }
        Ok((out, dropped_most))
    }

    fn empty(joint_count: usize) -> Self {
        Self {
            joint_count,
            ends: Vec::new(),
            joints: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Appends the `per_vertex` (at least 1) heaviest entries of a row that sums to 1; gives what the others weighed.
    fn push_limited(&mut self, row: &mut Vec<(u16, f64)>, per_vertex: usize) -> f64 {
        let keep = per_vertex.max(1);
        let mut dropped = 0.0;
        if row.len() > keep {
            row.select_nth_unstable_by(keep, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            dropped = row[keep..].iter().map(|(_, weight)| weight).sum();
            row.truncate(keep);
            row.sort_by_key(|(joint, _)| *joint);
        }
        self.push_clean(row);
        dropped
    }

    /// Checks, sorts and merges the entries of the next vertex, then appends them.
    fn push(&mut self, vertex: usize, row: &mut Vec<(u16, f64)>) -> Result<(), SkinError> {
        if let Some((joint, _)) = row.iter().find(|(_, w)| !w.is_finite() || *w < 0.0) {
            return Err(SkinError::BadWeight {
                vertex,
                joint: usize::from(*joint),
            });
        }
        row.retain(|(_, weight)| *weight > 0.0);
        row.sort_by_key(|(joint, _)| *joint);
        row.dedup_by(|(joint, weight), (kept, sum)| {
            let repeated = joint == kept;
            if repeated {
                *sum += *weight;
            }
            repeated
        });
        match row.last() {
            None => return Err(SkinError::EmptyRow { vertex }),
            Some((joint, _)) if usize::from(*joint) >= self.joint_count => {
                return Err(SkinError::NoJoint {
                    vertex,
                    joint: usize::from(*joint),
                    joint_count: self.joint_count,
                });
            }
            Some(_) => self.push_clean(row),
        }
        Ok(())
    }

    /// Appends a row with ascending joints and positive weights, divided by their sum.
    fn push_clean(&mut self, row: &[(u16, f64)]) {
        // The largest first, so that neither weights near 10³⁰⁰ overflow nor weights near 10⁻³²⁰ lose their digits.
        let largest = row.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        let sum: f64 = row.iter().map(|(_, weight)| weight / largest).sum();
        for (joint, weight) in row {
            let share = weight / largest / sum;
            if share > 0.0 {
                self.joints.push(*joint);
                self.weights.push(share);
            }
        }
        self.ends.push(self.joints.len());
    }
}

/// The serialised form of [`SkinWeights`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinWeightsSpec {
    /// J.
    pub joint_count: usize,
    /// V rows of joints and weights.
    pub rows: Vec<Vec<(u16, f64)>>,
}

impl TryFrom<SkinWeightsSpec> for SkinWeights {
    type Error = SkinError;

    fn try_from(spec: SkinWeightsSpec) -> Result<Self, SkinError> {
        Self::from_rows(spec.joint_count, spec.rows)
    }
}

impl From<SkinWeights> for SkinWeightsSpec {
    fn from(weights: SkinWeights) -> Self {
        Self {
            joint_count: weights.joint_count,
            rows: (0..weights.vertex_count())
                .map(|vertex| weights.row(vertex).collect())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_exercise_keeps_the_four_largest() {
        // Exercise 14.2: the row sums to 0.95, and its four largest to 0.9.
        let row = [0.3, 0.25, 0.2, 0.15, 0.05];
        let weights = SkinWeights::from_dense(5, &row).unwrap();
        let (four, dropped) = weights.limited(4);
        let expected = [0.3 / 0.9, 0.25 / 0.9, 0.2 / 0.9, 0.15 / 0.9];
        for ((_, found), expected) in four.row(0).zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!((dropped - 0.05 / 0.95).abs() < 1e-15);
    }

    #[test]
    fn of_equal_weights_the_lower_joints_stay() {
        let weights = SkinWeights::from_rows(9, [(0..9).map(|joint| (8 - joint, 1.0))]).unwrap();
        let (three, dropped) = weights.limited(3);
        assert_eq!(
            three.row(0).map(|(joint, _)| joint).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert!((dropped - 6.0 / 9.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_vertex() {
        let rows = |row: Vec<(u16, f64)>| SkinWeights::from_rows(2, [vec![(0, 1.0)], row]);
        assert_eq!(rows(vec![]), Err(SkinError::EmptyRow { vertex: 1 }));
        assert_eq!(rows(vec![(1, 0.0)]), Err(SkinError::EmptyRow { vertex: 1 }));
        let bad = SkinError::BadWeight {
            vertex: 1,
            joint: 1,
        };
        assert_eq!(rows(vec![(1, f64::NAN)]), Err(bad.clone()));
        assert_eq!(rows(vec![(1, -1e-9), (0, 1.0)]), Err(bad));
        let no_joint = SkinError::NoJoint {
            vertex: 1,
            joint: 2,
            joint_count: 2,
        };
        assert_eq!(rows(vec![(2, 1.0)]), Err(no_joint));
    }

    #[test]
    fn as_many_joints_as_16_bits_name_and_no_more() {
        let all = 1 << 16;
        let mut row = vec![0.0; all];
        row[all - 1] = 1.0;
        let weights = SkinWeights::from_dense(all, &row).unwrap();
        assert!(weights.row(0).eq([(u16::MAX, 1.0)]));
        let joint_count = all + 1;
        row.push(0.0);
        let too_many = SkinError::TooManyJoints { joint_count };
        let refused = |found: Option<SkinError>| assert_eq!(found, Some(too_many.clone()));
        refused(SkinWeights::from_dense(joint_count, &row).err());
        refused(SkinWeights::from_rows(joint_count, [[(0, 1.0)]]).err());
        let rigid = Influences::rigid(1);
        refused(SkinWeights::from_influences(&rigid, joint_count).err());
        let rows = vec![vec![(0, 1.0)]];
        refused(SkinWeights::from_rows_limited(joint_count, rows.clone(), 4).err());
        refused(SkinWeights::try_from(SkinWeightsSpec { joint_count, rows }).err());
        refused(mirror::JointMirror::from_pairs(joint_count, &[]).err());
        let bone = Bone {
            head: anim_math::Vec3::zeros(),
            tail: anim_math::Vec3::zeros(),
            joint: 0,
        };
        refused(Bones::new(vec![bone], joint_count).err());
        assert!(Bones::new(vec![bone], all).is_ok());
        let mirror = mirror::JointMirror::from_pairs(all, &[[0, u16::MAX]]).unwrap();
        assert_eq!((mirror.partner(0), mirror.partner(7)), (u16::MAX, 7));
    }

    #[test]
    fn differences_count_joints_of_either_side() {
        let a = SkinWeights::from_rows(3, [vec![(0, 0.5), (1, 0.5)], vec![(0, 1.0)]]).unwrap();
        let b = SkinWeights::from_rows(3, [vec![(1, 0.5), (2, 0.5)], vec![(0, 1.0)]]).unwrap();
        assert_eq!(a.mean_difference(&b), 0.5);
        assert_eq!(a.mean_difference(&a), 0.0);
    }

    proptest! {
        #[test]
        fn every_row_is_on_the_simplex(
            row in prop::collection::vec((0_u16..8, prop_oneof![Just(0.0), 1e-310..1e-300, 0.0..1.0, 1e290..1e300]), 1..12),
        ) {
            prop_assume!(row.iter().any(|(_, weight)| *weight > 0.0));
            let weights = SkinWeights::from_rows(8, [row.clone()]).unwrap();
            prop_assert!(weights.max_sum_error() <= row.len() as f64 * f64::EPSILON);
            prop_assert!(weights.row(0).all(|(_, weight)| weight > 0.0));
            let joints: Vec<u16> = weights.row(0).map(|(joint, _)| joint).collect();
            prop_assert!(joints.is_sorted_by(|a, b| a < b));
        }

        #[test]
        fn files_and_rows_agree(
            joints in prop::collection::vec(0_u16..5, 12),
            weights in prop::collection::vec(-0.1_f32..1.0, 12),
        ) {
            let influences = Influences { per_vertex: 3, joints, weights };
            let (rows, _) = SkinWeights::from_influences(&influences, 5).unwrap();
            let (again, _) = SkinWeights::from_influences(&rows.to_influences(), 5).unwrap();
            prop_assert!(rows.mean_difference(&again) < 1e-6);
        }
    }
}
