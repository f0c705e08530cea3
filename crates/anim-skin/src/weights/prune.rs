//! Fewer influences: dropping small weights, and choosing the ones whose loss shows least.
//!
//! [`below`] drops what is small and [`SkinWeights::limited`] keeps the largest. Both cut each vertex by itself, so that
//! neighbours which lose different joints move apart; [`limited_smoothly`] spends some time on the same number of influences
//! and changes the weights' curvature over the surface as little as possible.
//!
//! ```
//! use anim_skin::weights::{SkinWeights, prune};
//!
//! let weights = SkinWeights::from_dense(3, &[0.9, 0.09, 0.01])?;
//! let (pruned, dropped) = prune::below(&weights, 0.05);
//! assert_eq!(pruned.max_influences(), 2);
//! assert!((dropped - 0.01).abs() < 1e-15);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Laplacian;

use super::rows::{Row, RowMixer};
use super::{SkinWeights, SurfaceGraph};
use crate::SkinError;

/// Drops weights below `least` and divides the rows by their sums; the largest share that a row lost comes second.
///
/// The largest weight of a row stays in any case, of equal ones the lowest joint. O(V k).
pub fn below(weights: &SkinWeights, least: f64) -> (SkinWeights, f64) {
    let mut dropped_most = 0.0_f64;
    let edited = weights.edit_rows(|vertex, row| {
        let most = weights.dominant_joint(vertex);
        let before = row.len();
        let mut dropped = 0.0;
        row.retain(|(joint, weight)| {
            let is_kept = *joint == most || *weight >= least;
            if !is_kept {
                dropped += weight;
            }
            is_kept
        });
        dropped_most = dropped_most.max(dropped);
        row.len() < before
    });
    // The largest weight is left in every row, so no row is refused.
    (edited.unwrap_or_else(|_| weights.clone()), dropped_most)
}

/// What [`limited_smoothly`] achieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PruneReport {
    /// The energy with the largest weights kept, as [`SkinWeights::limited`] does.
    pub plain_energy: f64,
    /// The energy of the answer, never higher.
    pub energy: f64,
}

/// At most `per_vertex` (at least 1) influences a vertex, with as little change of curvature as possible.
///
/// Minimises Σⱼ (Lxⱼ − Lwⱼ)ᵀ M⁻¹ (Lxⱼ − Lwⱼ) over rows of the simplex with at most K entries: L is the intrinsic Delaunay
/// Laplacian, M its areas, as parts of their mean. Starts from the largest weights and goes over the vertices `sweeps` times.
/// Each visit takes the exact optimum of one row while the others stand, which for this energy is a projection onto the
/// sparse simplex, so the energy never rises; the optimum of all rows at once is not promised. O(sweeps · E k).
///
/// Source: Landreneau and Schaefer, "Poisson-based weight reduction of animated meshes", CGF 29(6), 2010; the projection by
/// Kyrillidis et al., "Sparse projections onto the simplex", ICML 2013.
///
/// # Errors
///
/// [`SkinError::Count`] if weights and mesh differ in their number of vertices, [`SkinError::Mesh`] if the mesh is too large.
pub fn limited_smoothly(
    weights: &SkinWeights,
    graph: &SurfaceGraph,
    per_vertex: usize,
    sweeps: u32,
) -> Result<(SkinWeights, PruneReport), SkinError> {
    weights.check_vertices(graph.vertex_count())?;
    let (plain, _) = weights.limited(per_vertex);
    let laplacian = Laplacian::intrinsic_delaunay(graph.positions(), graph.triangles())?;
    let mut descent = Descent::new(weights, &plain, &laplacian);
    let plain_energy = descent.energy();
    for _ in 0..sweeps {
        for vertex in 0..graph.vertex_count() {
            descent.improve(vertex, per_vertex.max(1));
        }
    }
    let rows = &descent.rows;
    let edited = plain.edit_rows(|vertex, row| {
        // The other vertices of a seam follow the first where they had its row.
        let place = graph.place(vertex);
        if !weights.row(vertex).eq(weights.row(place)) || *row == rows[place] {
            return false;
        }
        row.clone_from(&rows[place]);
        true
    })?;
    let energy = descent.energy();
    Ok((
        edited,
        PruneReport {
            plain_energy,
            energy,
        },
    ))
}

/// Rows on their way down the energy.
struct Descent {
    rows: Vec<Row>,
    /// L(X − W), a row a vertex.
    residuals: Vec<Row>,
    diagonal: Vec<f64>,
    neighbors: Vec<Vec<(u32, f64)>>,
    /// M⁻¹ with a mean area of 1.
    inverse_mass: Vec<f64>,
    mixer: RowMixer,
}

impl Descent {
    fn new(weights: &SkinWeights, start: &SkinWeights, laplacian: &Laplacian) -> Self {
        let count = weights.vertex_count();
        let mut neighbors = vec![Vec::new(); count];
        for edge in laplacian.edges() {
            let [a, b] = edge.ends;
            neighbors[a as usize].push((b, edge.weight));
            neighbors[b as usize].push((a, edge.weight));
        }
        let mean = laplacian.mass().iter().sum::<f64>() / count.max(1) as f64;
        // Slivers must not outweigh the whole surface.
        let inverse = |mass: &f64| mean / mass.max(1e-6 * mean);
        let inverse_mass = laplacian
            .mass()
            .iter()
            .map(|mass| if mean > 0.0 { inverse(mass) } else { 1.0 });
        let diagonal = laplacian.diagonal();
        let mut mixer = RowMixer::new(weights.joint_count());
        let mut residuals = Vec::with_capacity(count);
        for vertex in 0..count {
            let mut add = |of: usize, factor: f64| {
                mixer.add(start.row(of), factor);
                mixer.add(weights.row(of), -factor);
            };
            add(vertex, diagonal[vertex]);
            for (neighbor, weight) in &neighbors[vertex] {
                add(*neighbor as usize, -weight);
            }
            let mut residual = Vec::new();
            mixer.take(&mut residual);
            residuals.push(residual);
        }
        Self {
            rows: (0..count)
                .map(|vertex| start.row(vertex).collect())
                .collect(),
            residuals,
            diagonal,
            neighbors,
            inverse_mass: inverse_mass.collect(),
            mixer,
        }
    }

    fn energy(&self) -> f64 {
        let of_row = |(row, inverse): (&Row, &f64)| {
            inverse * row.iter().map(|(_, value)| value * value).sum::<f64>()
        };
        self.residuals
            .iter()
            .zip(&self.inverse_mass)
            .map(of_row)
            .sum()
    }

    /// The optimum of one row: x ← P(x − g / Q) with Q = (L M⁻¹ L) on the diagonal and g the gradient.
    fn improve(&mut self, vertex: usize, per_vertex: usize) {
        let (diagonal, own) = (self.diagonal[vertex], self.inverse_mass[vertex]);
        let around = &self.neighbors[vertex];
        let of_neighbor = |(n, w): &(u32, f64)| w * w * self.inverse_mass[*n as usize];
        let curvature = diagonal * diagonal * own + around.iter().map(of_neighbor).sum::<f64>();
        if curvature <= 0.0 {
            return;
        }
        self.mixer.add(self.rows[vertex].iter().copied(), 1.0);
        self.mixer.add(
            self.residuals[vertex].iter().copied(),
            -diagonal * own / curvature,
        );
        for (neighbor, weight) in around {
            let factor = weight * self.inverse_mass[*neighbor as usize] / curvature;
            self.mixer
                .add(self.residuals[*neighbor as usize].iter().copied(), factor);
        }
        let mut row = Vec::new();
        self.mixer.take(&mut row);
        project(&mut row, per_vertex);
        let mut change = Vec::new();
        self.mixer.add(row.iter().copied(), 1.0);
        self.mixer.add(self.rows[vertex].iter().copied(), -1.0);
        self.mixer.take(&mut change);
        self.rows[vertex] = row;
        let own = (vertex as u32, -diagonal);
        for (other, weight) in std::iter::once(&own).chain(around) {
            let residual = &mut self.residuals[*other as usize];
            self.mixer.add(residual.iter().copied(), 1.0);
            self.mixer.add(change.iter().copied(), -weight);
            self.mixer.take(residual);
        }
    }
}

/// The nearest row of the simplex with at most `per_vertex` entries; joints stay ascending.
fn project(row: &mut Row, per_vertex: usize) {
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row.truncate(per_vertex);
    let (mut sum, mut shift) = (0.0, 0.0);
    for (place, (_, value)) in row.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (place + 1) as f64;
        if *value > candidate {
            shift = candidate;
        }
    }
    row.retain_mut(|(_, value)| {
        *value -= shift;
        *value > 0.0
    });
    row.sort_by_key(|(joint, _)| *joint);
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_nearest_sparse_row_is_the_simplex_projection_of_the_largest() {
        let mut row = vec![(0, 0.7), (1, 0.6), (2, -0.1), (3, 0.5)];
        project(&mut row, 2);
        for ((joint, weight), expected) in row.into_iter().zip([(0, 0.55), (1, 0.45)]) {
            assert!(joint == expected.0 && (weight - expected.1).abs() < 1e-15);
        }
        let mut far = vec![(0, 3.0), (1, 0.5)];
        project(&mut far, 2);
        assert_eq!(far, [(0, 1.0)]);
    }

    #[test]
    fn small_weights_go_and_the_largest_stays() {
        let weights = SkinWeights::from_rows(
            4,
            [
                vec![(0, 0.96), (1, 0.04)],
                vec![(0, 1.0), (1, 1.0), (2, 1.0)],
            ],
        )
        .unwrap();
        let (pruned, dropped) = below(&weights, 0.9);
        assert!(pruned.row(0).eq([(0, 1.0)]) && pruned.row(1).eq([(0, 1.0)]));
        assert!((dropped - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(below(&weights, 0.0).0, weights);
    }

    /// Four joints of a sheet, wide and smooth.
    fn smooth_weights(graph: &SurfaceGraph) -> SkinWeights {
        let places = [
            (-0.5, -0.5),
            (0.5, -0.4),
            (-0.4, 0.5),
            (0.5, 0.5),
            (0.1, 0.0),
        ];
        let rows = graph.positions().iter().map(|p| {
            let weight = |(x, z): (f64, f64)| {
                1.0 / (0.1 + (f64::from(p.x) - x).powi(2) + (f64::from(p.z) - z).powi(2))
            };
            (0_u16..).zip(places.map(weight))
        });
        SkinWeights::from_rows(5, rows).unwrap()
    }

    #[test]
    fn curvature_changes_less_than_by_plain_pruning() {
        let graph = SurfaceGraph::new(&primitives::grid(12, 12, 0.1)).unwrap();
        let weights = smooth_weights(&graph);
        let mut last = f64::INFINITY;
        for sweeps in [0, 1, 5, 20] {
            let (pruned, report) = limited_smoothly(&weights, &graph, 3, sweeps).unwrap();
            assert!(pruned.max_influences() <= 3 && pruned.max_sum_error() < 1e-15);
            assert!(report.energy <= last * (1.0 + 1e-12));
            last = report.energy;
            if sweeps == 0 {
                assert_eq!(pruned, weights.limited(3).0);
            }
            if sweeps == 20 {
                assert!(report.energy < 0.5 * report.plain_energy, "{report:?}");
            }
        }
    }

    #[test]
    fn rows_that_fit_are_left_alone() {
        let graph = SurfaceGraph::new(&primitives::grid(5, 5, 0.1)).unwrap();
        let weights = smooth_weights(&graph);
        let (same, report) = limited_smoothly(&weights, &graph, 5, 3).unwrap();
        assert!(same.mean_difference(&weights) < 1e-12 && report.energy < 1e-20);
    }

    proptest! {
        #[test]
        fn pruning_keeps_rows_on_the_simplex(
            raw in prop::collection::vec(prop_oneof![Just(0.0), 0.001..1.0], 45), least in 0.0..1.0, keep in 1_usize..4,
        ) {
            let rows = raw.chunks(5).map(|row| (0_u16..).zip(row.iter().map(|w| w + 1e-9)));
            let weights = SkinWeights::from_rows(5, rows).unwrap();
            let graph = SurfaceGraph::new(&primitives::grid(2, 2, 0.1)).unwrap();
            let (smoothly, report) = limited_smoothly(&weights, &graph, keep, 3).unwrap();
            prop_assert!(smoothly.max_influences() <= keep && report.energy <= report.plain_energy * (1.0 + 1e-12));
            for out in [smoothly, below(&weights, least).0] {
                prop_assert!(out.max_sum_error() < 1e-14);
                prop_assert!((0..9).all(|vertex| out.row(vertex).all(|(_, weight)| weight > 0.0)));
            }
        }
    }
}
