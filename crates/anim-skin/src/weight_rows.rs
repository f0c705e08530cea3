//! Weight rows as a skin needs them: one row a vertex, each joint once, positive, summing to exactly 1.
//!
//! Files hold rows that sum to 0.98, repeat a joint, or are all zero. A row that does not sum to 1 pulls its vertex
//! towards the origin in proportion to the distance from it, so rows are repaired once, when a skin is built, and the
//! [`WeightReport`] says where.
//!
//! ```
//! use anim_geom::{Mesh, Vertices};
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_skeleton::{JointSpec, Skeleton};
//! use anim_skin::{Influences, SkinnedMesh, WeightFault};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::x()], normals: vec![Vec3::z()] },
//!     ..Mesh::default()
//! };
//! let influences = Influences { per_vertex: 2, joints: vec![0, 0], weights: vec![0.5, 0.48] };
//! let skin = SkinnedMesh::new(&mesh, &[skeleton.joint(0)], &[Affine::IDENTITY], &influences, &[])?;
//! assert_eq!(
//!     skin.report().faults,
//!     [(0, WeightFault::RepeatedJoint), (0, WeightFault::Sum)],
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Influences, SkinError};

/// Influences below this share of their row are left out; a bone that far off moves the vertex by as small a share.
const NEGLIGIBLE: f64 = 1e-4;
/// A row whose sum is farther than this from 1 is a fault worth telling.
const SUM_TOLERANCE: f64 = 1e-4;
/// Weights are multiples of 2⁻²⁴: all of [0, 1] in f32, and every partial sum of a row is exact.
const UNITS: f64 = 16_777_216.0;

/// What was wrong with a row of weights; all of it is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WeightFault {
    /// A weight was NaN or infinite, and counts as 0.
    NotFinite,
    /// A weight was negative, and counts as 0.
    Negative,
    /// A joint appeared twice with weight; its weights were added.
    RepeatedJoint,
    /// No weight was left: the vertex follows the first joint of the skin's list.
    Empty,
    /// The sum was off by more than 10⁻⁴, and was divided out.
    Sum,
}

/// What building a skin did to its weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightReport {
    /// Faults by source vertex, ascending; a vertex may have several.
    pub faults: Vec<(u32, WeightFault)>,
    /// Influences left out because they were below 10⁻⁴ of their row.
    pub negligible: usize,
    /// Mean length of the joint lists that eight neighbouring vertices share: what skinning time is proportional to.
    pub mean_joints_per_block: f32,
}

impl WeightReport {
    /// Number of vertices with that fault.
    pub fn count(&self, fault: WeightFault) -> usize {
        self.faults.iter().filter(|(_, f)| *f == fault).count()
    }
}

/// V cleaned rows, joints ascending.
#[derive(Debug, Default)]
pub(crate) struct WeightRows {
    ends: Vec<usize>,
    joints: Vec<u16>,
    weights: Vec<f32>,
}

impl WeightRows {
    /// Cleans `influences` of a skin with `joint_count` joints.
    pub(crate) fn new(
        influences: &Influences,
        vertex_count: usize,
        joint_count: usize,
    ) -> Result<(Self, WeightReport), SkinError> {
        check_count("joints", influences.joints.len(), influences, vertex_count)?;
        check_count(
            "weights",
            influences.weights.len(),
            influences,
            vertex_count,
        )?;
        let mut rows = Self::default();
        let mut report = WeightReport::default();
        let mut row = Vec::with_capacity(influences.per_vertex);
        for vertex in 0..vertex_count {
            let entries = vertex * influences.per_vertex..(vertex + 1) * influences.per_vertex;
            let (joints, weights) = (
                &influences.joints[entries.clone()],
                &influences.weights[entries],
            );
            collect_row(joints, weights, &mut row, |fault| {
                report.faults.push((vertex as u32, fault));
            });
            if let Some((joint, _)) = row.last().filter(|(j, _)| usize::from(*j) >= joint_count) {
                return Err(SkinError::NoJoint {
                    vertex,
                    joint: usize::from(*joint),
                    joint_count,
                });
            }
            report.negligible += rows.push(&mut row);
        }
        Ok((rows, report))
    }

    /// Number of rows, V.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The joints of `vertex`, ascending.
    pub(crate) fn joints(&self, vertex: usize) -> &[u16] {
        &self.joints[self.range(vertex)]
    }

    /// The joints and weights of `vertex`.
    pub(crate) fn row(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> {
        let range = self.range(vertex);
        let weights = self.weights[range.clone()].iter().copied();
        self.joints[range].iter().copied().zip(weights)
    }

    fn range(&self, vertex: usize) -> std::ops::Range<usize> {
        let start = vertex.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[vertex]
    }

    /// Appends a row without its negligible influences, which it counts, scaled to sum to exactly 1.
    ///
    /// All weights are rounded down to whole units but the largest, which takes the rest and so can only grow.
    fn push(&mut self, row: &mut Vec<(u16, f64)>) -> usize {
        let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
        let largest = row.iter().fold(
            (0, 0.0),
            |most, entry| if entry.1 > most.1 { *entry } else { most },
        );
        let before = row.len();
        row.retain(|(joint, weight)| *weight >= NEGLIGIBLE * sum || *joint == largest.0);
        let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
        let start = self.joints.len();
        let mut left = UNITS;
        let mut most = start;
        for (joint, weight) in row.iter() {
            if *joint == largest.0 {
                most = self.joints.len();
            }
            let units = (weight / sum * UNITS).floor();
            left -= units;
            self.joints.push(*joint);
            self.weights.push((units / UNITS) as f32);
        }
        self.weights[most] += (left / UNITS) as f32;
        self.ends.push(self.joints.len());
        before - row.len()
    }
}

/// Collects the positive weights of one vertex, each joint once, ascending; never leaves `row` empty.
pub(crate) fn collect_row(
    joints: &[u16],
    weights: &[f32],
    row: &mut Vec<(u16, f64)>,
    mut fault: impl FnMut(WeightFault),
) {
    if weights.iter().any(|weight| !weight.is_finite()) {
        fault(WeightFault::NotFinite);
    }
    if weights
        .iter()
        .any(|weight| weight.is_finite() && *weight < 0.0)
    {
        fault(WeightFault::Negative);
    }
    row.clear();
    let entries = joints.iter().zip(weights);
    row.extend(
        entries
            .filter(|(_, weight)| weight.is_finite() && **weight > 0.0)
            .map(|(joint, weight)| (*joint, f64::from(*weight))),
    );
    row.sort_by_key(|(joint, _)| *joint);
    let before = row.len();
    row.dedup_by(|(joint, weight), (kept, sum)| {
        let repeated = joint == kept;
        if repeated {
            *sum += *weight;
        }
        repeated
    });
    if row.len() < before {
        fault(WeightFault::RepeatedJoint);
    }
    let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
    if row.is_empty() {
        fault(WeightFault::Empty);
        row.push((0, 1.0));
    } else if (sum - 1.0).abs() > SUM_TOLERANCE {
        fault(WeightFault::Sum);
    }
}

/// That an array holds `per_vertex` entries for each vertex.
fn check_count(
    what: &'static str,
    len: usize,
    influences: &Influences,
    vertex_count: usize,
) -> Result<(), SkinError> {
    let expected = vertex_count.checked_mul(influences.per_vertex);
    if expected == Some(len) {
        return Ok(());
    }
    let per_vertex = influences.per_vertex.max(1);
    let found = if expected.is_some_and(|expected| len > expected) {
        len.div_ceil(per_vertex)
    } else {
        len / per_vertex
    };
    Err(SkinError::Count {
        what,
        found,
        vertex_count,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(per_vertex: usize, joints: &[u16], weights: &[f32]) -> WeightRows {
        let influences = Influences {
            per_vertex,
            joints: joints.to_vec(),
            weights: weights.to_vec(),
        };
        let vertex_count = weights.len() / per_vertex;
        WeightRows::new(&influences, vertex_count, 20_000)
            .unwrap()
            .0
    }

    #[test]
    fn rows_sum_to_exactly_one_in_any_order() {
        let weights: Vec<f32> = (1..=300).map(|i| 1.0 / (i * i % 97 + 1) as f32).collect();
        let joints: Vec<u16> = (0..300).collect();
        for per_vertex in [1, 2, 3, 5, 10, 100, 300] {
            let rows = rows(per_vertex, &joints, &weights);
            for vertex in 0..rows.len() {
                let row: Vec<f32> = rows.row(vertex).map(|(_, weight)| weight).collect();
                assert_eq!(row.iter().sum::<f32>(), 1.0);
                assert_eq!(row.iter().rev().sum::<f32>(), 1.0);
                assert!(row.iter().all(|weight| *weight > 0.0));
            }
        }
    }

    #[test]
    fn proportions_survive_to_a_few_units() {
        // The row sums to 0.95.
        let weights = [0.3, 0.25, 0.2, 0.15, 0.05];
        for ((_, found), weight) in rows(5, &[4, 3, 2, 1, 0], &weights)
            .row(0)
            .zip(weights.iter().rev())
        {
            assert!((f64::from(found) - f64::from(*weight) / 0.95).abs() < 5.0 / UNITS);
        }
    }

    #[test]
    fn thousands_of_equal_influences_keep_their_largest() {
        let joints: Vec<u16> = (0..20_000).collect();
        let kept = rows(5000, &joints[..5000], &vec![1.0; 5000]);
        assert_eq!(kept.joints(0).len(), 5000);
        assert_eq!(kept.row(0).map(|(_, weight)| weight).sum::<f32>(), 1.0);
        let negligible = rows(20_000, &joints, &vec![1.0; 20_000]);
        assert_eq!(negligible.row(0).collect::<Vec<_>>(), [(0, 1.0)]);
    }
}
