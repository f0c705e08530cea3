//! Principal shapes: a few directions that n shapes, or n frames of a face, are sums of.
//!
//! With 3V coordinates and n shapes the 3V × 3V covariance never fits; the n × n matrix SᵀS has the same eigenvalues, and
//! its eigenvectors lead to the components: u = S·v / σ (the method of snapshots, Sirovich 1987). Shapes are
//! displacements from the rest face, so no mean is subtracted.
//!
//! ```
//! use anim_math::nalgebra::DMatrix;
//! use anim_skin::morph::ShapePca;
//!
//! // Three shapes of one vertex, all in one direction.
//! let shapes = DMatrix::from_column_slice(3, 3, &[1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 3.0, 6.0, 0.0]);
//! let pca = ShapePca::new(&shapes)?;
//! assert_eq!(pca.components_for(0.95), 1);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::nalgebra::{DMatrix, SymmetricEigen};

use crate::{MorphTarget, SkinError};

/// Components of n shapes, strongest first.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapePca {
    /// 3V × r, orthonormal columns.
    components: DMatrix<f64>,
    /// r × n: how much of each component each shape has.
    coefficients: DMatrix<f64>,
    /// Share of all energy in the first 1, 2, …, r components.
    energies: Vec<f64>,
}

impl ShapePca {
    /// Analyses `shapes`: 3V × n, each column x, y, z of V displacements.
    ///
    /// Directions with less than 10⁻¹⁴ of the strongest one's energy are rounding and left out. Costs 3V·n² + n³.
    ///
    /// # Errors
    ///
    /// [`SkinError::NotFinite`] with the shape that is not.
    pub fn new(shapes: &DMatrix<f64>) -> Result<Self, SkinError> {
        let bad = |column: usize| shapes.column(column).iter().any(|x| !x.is_finite());
        if let Some(index) = (0..shapes.ncols()).find(|column| bad(*column)) {
            return Err(SkinError::NotFinite {
                what: "shape",
                index,
            });
        }
        let eigen = SymmetricEigen::new(shapes.tr_mul(shapes));
        let mut order: Vec<usize> = (0..shapes.ncols()).collect();
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let strongest = order.first().map_or(0.0, |first| eigen.eigenvalues[*first]);
        order.retain(|index| eigen.eigenvalues[*index] > 1e-14 * strongest.max(f64::MIN_POSITIVE));
        let mut components = shapes * eigen.eigenvectors.select_columns(&order);
        // Two passes of Gram-Schmidt: division by a small σ magnifies rounding, which would couple weak components.
        for column in 0..order.len() {
            for _ in 0..2 {
                for before in 0..column {
                    let part = components.column(before).dot(&components.column(column));
                    let direction = components.column(before).into_owned();
                    components.column_mut(column).axpy(-part, &direction, 1.0);
                }
            }
            let norm = components.column(column).norm();
            if norm > 0.0 {
                components.column_mut(column).unscale_mut(norm);
            }
        }
        let coefficients = components.tr_mul(shapes);
        let total = shapes.norm_squared();
        let mut sum = 0.0;
        let energies = (0..order.len())
            .map(|row| {
                sum += coefficients.row(row).norm_squared();
                sum / total
            })
            .collect();
        Ok(Self {
            components,
            coefficients,
            energies,
        })
    }

    /// 3V × r: the components, orthonormal.
    pub fn components(&self) -> &DMatrix<f64> {
        &self.components
    }

    /// r × n: how much of each component each shape has.
    pub fn coefficients(&self) -> &DMatrix<f64> {
        &self.coefficients
    }

    /// r: the share of all energy (Σ |Δ|²) that the first 1, 2, …, r components hold; ascending to 1.
    pub fn energies(&self) -> &[f64] {
        &self.energies
    }

    /// The fewest components that hold `share` of the energy, or all.
    pub fn components_for(&self, share: f64) -> usize {
        let below = self.energies.partition_point(|energy| *energy < share);
        (below + 1).min(self.energies.len())
    }

    /// 3V × n: all shapes from their first `count` components.
    pub fn reconstruct(&self, count: usize) -> DMatrix<f64> {
        let count = count.min(self.energies.len());
        self.components.columns(0, count) * self.coefficients.rows(0, count)
    }
}

/// The 3V × n matrix of displacements of sparse targets.
///
/// # Errors
///
/// [`SkinError::TargetCount`], [`SkinError::NoVertex`] and [`SkinError::NotFinite`] for a target that does not fit.
pub fn shape_matrix(
    targets: &[MorphTarget],
    vertex_count: usize,
) -> Result<DMatrix<f64>, SkinError> {
    let mut matrix = DMatrix::zeros(3 * vertex_count, targets.len());
    for (index, target) in targets.iter().enumerate() {
        target.check(index, vertex_count)?;
        for (vertex, displacement) in target.vertices.iter().zip(&target.positions) {
            for (axis, value) in displacement.iter().enumerate() {
                matrix[(3 * *vertex as usize + axis, index)] += f64::from(*value);
            }
        }
    }
    Ok(matrix)
}
