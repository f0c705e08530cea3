//! A sparse symmetric matrix of 3×3 blocks, and conjugate gradients on it.

use anim_geom::chunks;

use crate::fem::{Mat3d, Vec3d};

/// Block rows, both triangles, columns ascending.
#[derive(Clone, Debug)]
pub(super) struct BlockMatrix {
    /// First block of each row, and the number of blocks.
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<Mat3d>,
    /// The block on the diagonal of each row.
    diagonal: Vec<u32>,
}

impl BlockMatrix {
    /// With a place for each pair and for the diagonal.
    pub(super) fn new(size: usize, pairs: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut pairs: Vec<[u32; 2]> = pairs.chain((0..size as u32).map(|i| [i, i])).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; size + 1];
        for [row, _] in &pairs {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..size {
            starts[row + 1] += starts[row];
        }
        let mut out = Self {
            starts,
            values: vec![Mat3d::zeros(); pairs.len()],
            columns: pairs.iter().map(|[_, column]| *column).collect(),
            diagonal: Vec::new(),
        };
        out.diagonal = (0..size as u32).map(|i| out.place(i, i)).collect();
        out
    }

    /// Where the block of a pair is.
    pub(super) fn place(&self, row: u32, column: u32) -> u32 {
        let start = self.starts[row as usize];
        let columns = &self.columns[self.row(row as usize)];
        start + columns.partition_point(|c| *c < column) as u32
    }

    pub(super) fn block_mut(&mut self, place: u32) -> &mut Mat3d {
        &mut self.values[place as usize]
    }

    pub(super) fn diagonal_mut(&mut self, row: usize) -> &mut Mat3d {
        &mut self.values[self.diagonal[row] as usize]
    }

    pub(super) fn diagonal(&self, row: usize) -> &Mat3d {
        &self.values[self.diagonal[row] as usize]
    }

    pub(super) fn clear(&mut self) {
        self.values.fill(Mat3d::zeros());
    }

    /// `out` = A·`x`, in parallel over rows.
    pub(super) fn multiply(&self, x: &[Vec3d], out: &mut [Vec3d]) {
        chunks::for_each_mut(out, |first, rows| {
            for (row, out) in (first..).zip(rows) {
                let range = self.row(row);
                let blocks = self.columns[range.clone()].iter().zip(&self.values[range]);
                *out = blocks.fold(Vec3d::zeros(), |sum, (column, block)| {
                    sum + block * x[*column as usize]
                });
            }
        });
    }

    /// Row, column and value of each block.
    #[cfg(feature = "solve")]
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u32, u32, &Mat3d)> {
        (0..self.diagonal.len()).flat_map(|row| {
            let range = self.row(row);
            let blocks = self.columns[range.clone()].iter().zip(&self.values[range]);
            blocks.map(move |(column, value)| (row as u32, *column, value))
        })
    }

    fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }
}

/// Σ aᵢ·bᵢ, the same for any number of threads.
pub(super) fn dot(a: &[Vec3d], b: &[Vec3d]) -> f64 {
    chunks::ordered_reduce(
        a,
        0.0,
        |first, a| {
            let zipped = a.iter().zip(&b[first..]);
            zipped.fold(0.0, |sum, (a, b)| sum + a.dot(b))
        },
        |a, b| a + b,
    )
}

/// Scratch of conjugate gradients, preconditioned with the inverses of the diagonal blocks.
///
/// Source: Saad, "Iterative methods for sparse linear systems", 2nd edition, algorithm 9.1.
#[derive(Clone, Debug)]
pub(super) struct ConjugateGradients {
    inverses: Vec<Mat3d>,
    residual: Vec<Vec3d>,
    preconditioned: Vec<Vec3d>,
    direction: Vec<Vec3d>,
    image: Vec<Vec3d>,
}

impl ConjugateGradients {
    pub(super) fn new(size: usize) -> Self {
        Self {
            inverses: vec![Mat3d::zeros(); size],
            residual: vec![Vec3d::zeros(); size],
            preconditioned: vec![Vec3d::zeros(); size],
            direction: vec![Vec3d::zeros(); size],
            image: vec![Vec3d::zeros(); size],
        }
    }

    /// Solves A·x = b over the rows that are not `fixed`, where x is 0, until the preconditioned residual has shrunk to
    /// `tolerance` of what it was. Stops early where A is not positive. Returns the number of iterations.
    pub(super) fn solve(
        &mut self,
        matrix: &BlockMatrix,
        fixed: &[bool],
        b: &[Vec3d],
        tolerance: f64,
        x: &mut [Vec3d],
    ) -> u32 {
        for (row, inverse) in self.inverses.iter_mut().enumerate() {
            // Directions that nothing holds, as across a link at rest, have no stiffness to divide by.
            let diagonal = matrix.diagonal(row);
            let shifted = diagonal + Mat3d::identity() * (1e-8 * diagonal.trace());
            // A fixed row, and one without any stiffness, stays where it is.
            *inverse = match (fixed[row], shifted.try_inverse()) {
                (false, Some(inverse)) => inverse,
                _ => Mat3d::zeros(),
            };
        }
        x.fill(Vec3d::zeros());
        self.residual.copy_from_slice(b);
        let mut size = self.precondition();
        self.direction.copy_from_slice(&self.preconditioned);
        let target = size * tolerance * tolerance;
        let most = 20 * (x.len() as u32).max(100);
        for iteration in 0..most {
            if size <= target || size.is_nan() {
                return iteration;
            }
            matrix.multiply(&self.direction, &mut self.image);
            let curvature = dot(&self.direction, &self.image);
            if curvature <= 0.0 || curvature.is_nan() {
                return iteration;
            }
            let length = size / curvature;
            let moved = self.direction.iter().zip(&self.image);
            for ((x, r), (p, q)) in x.iter_mut().zip(&mut self.residual).zip(moved) {
                *x += p * length;
                *r -= q * length;
            }
            let next = self.precondition();
            let ratio = next / size;
            for (p, z) in self.direction.iter_mut().zip(&self.preconditioned) {
                *p = z + *p * ratio;
            }
            size = next;
        }
        most
    }

    /// Divides the residual by the diagonal blocks; returns its product with the result.
    fn precondition(&mut self) -> f64 {
        let Self {
            inverses,
            residual,
            preconditioned,
            ..
        } = self;
        chunks::for_each_mut(preconditioned, |first, chunk| {
            let rows = inverses[first..].iter().zip(&residual[first..]);
            for (out, (inverse, residual)) in chunk.iter_mut().zip(rows) {
                *out = inverse * residual;
            }
        });
        dot(&self.residual, &self.preconditioned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_of_blocks_is_solved_and_fixed_rows_stay() {
        let size = 50u32;
        let pairs = (1..size).flat_map(|i| [[i, i - 1], [i - 1, i]]);
        let mut matrix = BlockMatrix::new(size as usize, pairs);
        for i in 0..size {
            *matrix.diagonal_mut(i as usize) = Mat3d::identity() * 2.0;
            for j in [i.wrapping_sub(1), i + 1] {
                if j < size {
                    let place = matrix.place(i, j);
                    *matrix.block_mut(place) = -Mat3d::identity();
                }
            }
        }
        let mut fixed = vec![false; size as usize];
        (fixed[0], fixed[size as usize - 1]) = (true, true);
        let b = vec![Vec3d::repeat(1.0); size as usize];
        let mut x = vec![Vec3d::zeros(); size as usize];
        ConjugateGradients::new(size as usize).solve(&matrix, &fixed, &b, 1e-12, &mut x);
        for (i, x) in x.iter().enumerate() {
            // −u″ = 1 between the fixed ends.
            let expected = 0.5 * i as f64 * (49.0 - i as f64);
            assert!((x - Vec3d::repeat(expected)).norm() < 1e-9, "{i}");
        }
    }
}
