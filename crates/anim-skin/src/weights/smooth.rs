//! Smoothing and sharpening: each row drawn towards the mean of its neighbours, or away from it.
//!
//! For seams that bend too hard after painting or a rigid binding. Vertices count alike however long their edges are, so
//! a regular mesh smooths evenly; what must respect areas belongs to a binding method.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_skin::weights::{Locks, SkinWeights, SurfaceGraph, smooth};
//!
//! let graph = SurfaceGraph::new(&primitives::grid(4, 1, 1.0))?;
//! let step = (0..10).map(|vertex| [(u16::from(vertex % 5 >= 2), 1.0)]);
//! let weights = SkinWeights::from_rows(2, step)?;
//! let smoothed = smooth::smooth(&weights, &graph, 0.5, 3, &Locks::default())?;
//! assert!(smoothed.weight(2, 0) > 0.1 && smoothed.weight(2, 1) > 0.1);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use super::rows::{Row, RowMixer};
use super::{Locks, SkinWeights, SurfaceGraph};
use crate::SkinError;

/// W ← (1 − s)·W + s·D⁻¹A·W, `iterations` times: A joins vertices that share an edge, D counts them.
///
/// `strength` s is clamped to [0, 1]. Constant rows stay constant, symmetric weights of symmetric meshes symmetric up to
/// rounding; vertices without neighbours stay. Locked joints keep their weights. O(E k) an iteration.
///
/// # Errors
///
/// [`SkinError::Count`] if weights and mesh differ in their number of vertices.
pub fn smooth(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    strength: f64,
    iterations: u32,
    locks: &Locks,
) -> Result<SkinWeights, SkinError> {
    repeat(weights, graph, strength.clamp(0.0, 1.0), iterations, locks)
}

/// W ← W + s·(W − D⁻¹A·W), `iterations` times, without what becomes negative: the opposite of [`smooth`].
///
/// `strength` s is clamped to [0, 1].
///
/// # Errors
///
/// As [`smooth`].
pub fn sharpen(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    strength: f64,
    iterations: u32,
    locks: &Locks,
) -> Result<SkinWeights, SkinError> {
    repeat(weights, graph, -strength.clamp(0.0, 1.0), iterations, locks)
}

fn repeat(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    strength: f64,
    iterations: u32,
    locks: &Locks,
) -> Result<SkinWeights, SkinError> {
    weights.check_vertices(graph.vertex_count())?;
    let mut mixer = RowMixer::new(weights.joint_count());
    let (mut out, mut wanted) = (weights.clone(), Vec::new());
    for _ in 0..iterations {
        out = out.edit_rows(|vertex, row| {
            let asks = towards_mean(&out, graph, vertex, strength, &mut mixer, row, &mut wanted);
            let is_changed = asks && locks.hold(row, &mut wanted);
            if is_changed {
                std::mem::swap(row, &mut wanted);
            }
            is_changed
        })?;
    }
    Ok(out)
}

/// Writes to `wanted` the `row` of `vertex`, `strength` of the way to its neighbours' mean, or away from it; false if it is there already, as where there
/// are no neighbours.
pub(crate) fn towards_mean(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    vertex: usize,
    strength: f64,
    mixer: &mut RowMixer,
    row: &[(u16, f64)],
    wanted: &mut Row,
) -> bool {
    let neighbors = graph.neighbors(vertex);
    if neighbors.is_empty() || strength == 0.0 {
        return false;
    }
    mixer.add(row.iter().copied(), 1.0 - strength);
    for neighbor in neighbors {
        mixer.add(
            weights.row(*neighbor as usize),
            strength / neighbors.len() as f64,
        );
    }
    mixer.take_positive(wanted);
    Locks::default().hold(row, wanted)
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;

    use super::*;

    #[test]
    fn constant_rows_stay_constant() {
        let graph = SurfaceGraph::new(&primitives::capsule(0.2, 0.5, 9, 4)).unwrap();
        let row = [(0, 0.2), (1, 0.7), (3, 0.1)];
        let weights = SkinWeights::from_rows(4, vec![row; graph.vertex_count()]).unwrap();
        for edit in [smooth, sharpen] {
            let out = edit(&weights, &graph, 0.8, 5, &Locks::default()).unwrap();
            assert_eq!(out, weights, "what changes by rounding alone stays");
        }
    }

    #[test]
    fn a_symmetric_strip_stays_symmetric() {
        let graph = SurfaceGraph::new(&primitives::grid(6, 2, 1.0)).unwrap();
        let rows = (0..21).map(|vertex| match vertex % 7 {
            0..3 => vec![(0, 1.0)],
            3 => vec![(0, 0.5), (1, 0.5)],
            _ => vec![(1, 1.0)],
        });
        let weights = SkinWeights::from_rows(2, rows).unwrap();
        let out = smooth(&weights, &graph, 0.7, 4, &Locks::default()).unwrap();
        for vertex in 0..21 {
            let other = vertex / 7 * 7 + 6 - vertex % 7;
            assert!((out.weight(vertex, 0) - out.weight(other, 1)).abs() < 1e-14);
        }
        assert!((out.weight(10, 0) - 0.5).abs() < 1e-14);
    }

    #[test]
    fn locked_joints_keep_their_weights() {
        let graph = SurfaceGraph::new(&primitives::grid(3, 1, 1.0)).unwrap();
        let rows = (0..8).map(|v| vec![(0, 0.1 * f64::from(v)), (1, 1.0), (2, f64::from(v % 3))]);
        let weights = SkinWeights::from_rows(3, rows).unwrap();
        let out = smooth(&weights, &graph, 1.0, 2, &Locks::of(&[0])).unwrap();
        for vertex in 0..8 {
            assert!((out.weight(vertex, 0) - weights.weight(vertex, 0)).abs() < 1e-15);
        }
        assert!(out.mean_difference(&weights) > 0.05);
    }

    #[test]
    fn sharpening_undoes_smoothing_in_part() {
        let graph = SurfaceGraph::new(&primitives::grid(8, 1, 1.0)).unwrap();
        let step = (0..18).map(|vertex| [(u16::from(vertex % 9 >= 4), 1.0)]);
        let weights = SkinWeights::from_rows(2, step).unwrap();
        let soft = smooth(&weights, &graph, 0.5, 2, &Locks::default()).unwrap();
        let sharp = sharpen(&soft, &graph, 0.5, 2, &Locks::default()).unwrap();
        assert!(sharp.mean_difference(&weights) < 0.7 * soft.mean_difference(&weights));
    }
}
