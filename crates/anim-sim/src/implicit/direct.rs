//! Newton's equations by factoring: exact, and faster than iterating on small or slender bodies.

use anim_geom::sparse::Cholesky;

use super::matrix::BlockMatrix;
use crate::fem::Vec3d;

/// The factor of a block matrix; its pattern is analysed once.
#[derive(Debug)]
pub(super) struct Direct {
    /// `None` if the pattern could not be analysed.
    factor: Option<Cholesky>,
    values: Vec<f64>,
    columns: Vec<f64>,
}

impl Direct {
    pub(super) fn new(matrix: &BlockMatrix) -> Self {
        let mut lower = Vec::new();
        for (row, column, _) in matrix.blocks().filter(|(row, column, _)| column <= row) {
            for (i, j) in entries(row == column) {
                let (row, column) = (row * 3 + i as u32, column * 3 + j as u32);
                lower.push((row, column, f64::from(u8::from(row == column))));
            }
        }
        let size = lower
            .iter()
            .map(|(row, ..)| *row as usize + 1)
            .max()
            .unwrap_or(0);
        Self {
            factor: Cholesky::new(size, &lower).ok(),
            values: vec![0.0; lower.len()],
            columns: vec![0.0; size],
        }
    }

    /// Solves A·x = b with x = 0 in fixed rows; false if A is not positive definite.
    pub(super) fn solve(
        &mut self,
        matrix: &BlockMatrix,
        fixed: &[bool],
        b: &[Vec3d],
        x: &mut [Vec3d],
    ) -> bool {
        let Some(factor) = &mut self.factor else {
            return false;
        };
        // Free particles and floating bodies have directions that cost nothing; this makes them cost next to nothing.
        let trace: f64 = (0..b.len()).map(|row| matrix.diagonal(row).trace()).sum();
        let shift = 1e-12 * trace / (3 * b.len()) as f64;
        let mut values = self.values.iter_mut();
        for (row, column, block) in matrix.blocks().filter(|(row, column, _)| column <= row) {
            let is_fixed = fixed[row as usize] || fixed[column as usize];
            for ((i, j), value) in entries(row == column).zip(&mut values) {
                let on_diagonal = row == column && i == j;
                *value = match (is_fixed, on_diagonal) {
                    (true, _) => f64::from(u8::from(on_diagonal)),
                    (false, true) => block[(i, j)] + shift,
                    (false, false) => block[(i, j)],
                };
            }
        }
        if factor.refactor(&self.values).is_err() {
            return false;
        }
        for (column, b) in self.columns.chunks_exact_mut(3).zip(b) {
            column.copy_from_slice(b.as_slice());
        }
        factor.solve_in_place(&mut self.columns);
        for (x, column) in x.iter_mut().zip(self.columns.chunks_exact(3)) {
            *x = Vec3d::new(column[0], column[1], column[2]);
        }
        true
    }
}

/// The entries of a block that lie in the lower triangle.
fn entries(on_diagonal: bool) -> impl Iterator<Item = (usize, usize)> {
    (0..9)
        .map(|k| (k / 3, k % 3))
        .filter(move |(i, j)| !on_diagonal || j <= i)
}
