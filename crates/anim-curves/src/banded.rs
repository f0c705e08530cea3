//! Symmetric equations whose unknowns know only their neighbours, as those of a spline's keys.
//!
//! Stores and factors the diagonal and the [`BAND`] places beside it, so that n unknowns cost O(n).

use crate::Linear;

/// How far apart two unknowns that meet in an equation may be: values and two velocities of two neighbouring keys.
pub(crate) const BAND: usize = 5;

/// A x = b, with A symmetric and positive definite; each unknown may be a number or a vector.
#[derive(Clone, Debug)]
pub(crate) struct BandedSystem<V> {
    /// `lower[i][d]` is A(i, i − d).
    lower: Vec<[f64; BAND]>,
    right: Vec<V>,
}

impl<V: Linear> BandedSystem<V> {
    /// A = 0 and b = `right`.
    pub(crate) fn new(right: Vec<V>) -> Self {
        Self {
            lower: vec![[0.0; BAND]; right.len()],
            right,
        }
    }

    /// Adds to A(i, i).
    pub(crate) fn add_diagonal(&mut self, unknown: usize, value: f64) {
        self.lower[unknown][0] += value;
    }

    /// Adds the equation Σ weight · unknown = `right`, to be met by least squares.
    pub(crate) fn add_equation(&mut self, terms: &[(usize, f64)], right: V) {
        for (row, weight) in terms {
            self.right[*row] = self.right[*row] + right * *weight as f32;
            for (column, other) in terms.iter().filter(|(column, _)| column <= row) {
                self.lower[*row][row - column] += weight * other;
            }
        }
    }

    /// x by Cholesky's factorisation A = L Lᵀ; not finite where A is not positive definite.
    pub(crate) fn solve(mut self) -> Vec<V> {
        let count = self.right.len();
        for row in 0..count {
            for column in row.saturating_sub(BAND - 1)..=row {
                let mut sum = self.lower[row][row - column];
                for k in row.saturating_sub(BAND - 1)..column {
                    sum -= self.lower[row][row - k] * self.lower[column][column - k];
                }
                self.lower[row][row - column] = if column == row {
                    sum.sqrt()
                } else {
                    sum / self.lower[column][0]
                };
            }
        }
        for row in 0..count {
            let mut sum = self.right[row];
            for column in row.saturating_sub(BAND - 1)..row {
                sum = sum - self.right[column] * self.lower[row][row - column] as f32;
            }
            self.right[row] = sum * (1.0 / self.lower[row][0]) as f32;
        }
        for row in (0..count).rev() {
            let mut sum = self.right[row];
            for below in row + 1..count.min(row + BAND) {
                sum = sum - self.right[below] * self.lower[below][below - row] as f32;
            }
            self.right[row] = sum * (1.0 / self.lower[row][0]) as f32;
        }
        self.right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_that_can_be_met_are() {
        let exact: Vec<f32> = (0..40).map(|n| (n as f32 * 0.7).sin()).collect();
        let mut system = BandedSystem::new(vec![0.0_f32; exact.len()]);
        for first in 0..=exact.len() - BAND {
            for turn in 0..BAND {
                let terms: Vec<_> = (0..BAND)
                    .map(|n| (first + n, 1.0 / (1 + (n + turn) % BAND) as f64))
                    .collect();
                let right = terms.iter().map(|(n, weight)| exact[*n] * *weight as f32);
                system.add_equation(&terms, right.sum());
            }
        }
        for (solved, exact) in system.solve().iter().zip(&exact) {
            assert!((solved - exact).abs() < 1e-4, "{solved} for {exact}");
        }
    }

    #[test]
    fn what_cannot_be_met_is_met_on_average() {
        let mut system = BandedSystem::new(vec![0.0_f32; 2]);
        for right in [1.0, 2.0, 6.0] {
            system.add_equation(&[(0, 1.0)], right);
        }
        system.add_diagonal(1, 1.0);
        let solved = system.solve();
        assert!((solved[0] - 3.0).abs() < 1e-6);
        assert_eq!(solved[1], 0.0);
    }
}
