//! What edits do with rows: mix them, and keep the ones they do not change to the bit.

use super::SkinWeights;
use crate::SkinError;

/// The entries of a vertex while an edit is at work: joints and weights.
pub(crate) type Row = Vec<(u16, f64)>;

/// A sum of scaled rows, dense over joints while it grows and sparse when it is taken.
#[derive(Debug)]
pub(crate) struct RowMixer {
    sums: Vec<f64>,
    touched: Vec<u16>,
}

impl RowMixer {
    /// An empty sum over `joint_count` joints.
    pub(crate) fn new(joint_count: usize) -> Self {
        Self {
            sums: vec![0.0; joint_count],
            touched: Vec::new(),
        }
    }

    /// Adds `factor` times a row.
    pub(crate) fn add(&mut self, row: impl IntoIterator<Item = (u16, f64)>, factor: f64) {
        for (joint, weight) in row {
            let sum = &mut self.sums[usize::from(joint)];
            if *sum == 0.0 {
                self.touched.push(joint);
            }
            *sum += factor * weight;
        }
    }

    /// Writes the entries of the sum that are not 0, joints ascending, and empties it.
    pub(crate) fn take(&mut self, row: &mut Row) {
        row.clear();
        self.touched.sort_unstable();
        self.touched.dedup();
        for joint in self.touched.drain(..) {
            let sum = std::mem::take(&mut self.sums[usize::from(joint)]);
            if sum != 0.0 {
                row.push((joint, sum));
            }
        }
    }

    /// [`take`](Self::take) without what is negative: the row of weights nearest to an overshoot, before its division.
    pub(crate) fn take_positive(&mut self, row: &mut Row) {
        self.take(row);
        row.retain(|(_, weight)| *weight > 0.0);
    }
}

/// That 16 bits can name each of `joint_count` joints.
pub(crate) fn check_joint_count(joint_count: usize) -> Result<(), SkinError> {
    if joint_count <= 1 << 16 {
        return Ok(());
    }
    Err(SkinError::TooManyJoints { joint_count })
}

impl SkinWeights {
    /// New weights of which `edit` has replaced the rows for which it answers true; the others stay to the bit.
    ///
    /// # Errors
    ///
    /// As [`from_rows`](Self::from_rows), for what the edit left.
    pub(crate) fn edit_rows(
        &self,
        mut edit: impl FnMut(usize, &mut Row) -> bool,
    ) -> Result<Self, SkinError> {
        let mut out = Self {
            joint_count: self.joint_count,
            ends: Vec::with_capacity(self.ends.len()),
            joints: Vec::with_capacity(self.joints.len()),
            weights: Vec::with_capacity(self.weights.len()),
        };
        let mut row = Vec::new();
        for vertex in 0..self.vertex_count() {
            row.clear();
            row.extend(self.row(vertex));
            if edit(vertex, &mut row) {
                out.push(vertex, &mut row)?;
            } else {
                let range = self.range(vertex);
                out.joints.extend(&self.joints[range.clone()]);
                out.weights.extend(&self.weights[range]);
                out.ends.push(out.joints.len());
            }
        }
        Ok(out)
    }

    /// That `joint` is below [`joint_count`](Self::joint_count).
    pub(crate) fn check_joint(&self, joint: u16) -> Result<(), SkinError> {
        if usize::from(joint) < self.joint_count {
            return Ok(());
        }
        Err(SkinError::NoSuchJoint {
            joint: usize::from(joint),
            joint_count: self.joint_count,
        })
    }

    /// That there is a row for each of `vertex_count` vertices.
    pub(crate) fn check_vertices(&self, vertex_count: usize) -> Result<(), SkinError> {
        if self.vertex_count() == vertex_count {
            return Ok(());
        }
        Err(SkinError::Count {
            what: "weights",
            found: self.vertex_count(),
            vertex_count,
        })
    }
}
