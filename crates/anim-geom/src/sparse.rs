//! Sparse symmetric positive definite systems, factored once and solved many times.
//!
//! Laplacians of meshes and lattices, stiffness matrices: anything with a few entries a row. One type over faer's supernodal
//! LLᵀ with a fill-reducing order, in `f64` and on one thread, so that the same system always gives the same bits on the same
//! machine; instruction sets differ in the last bits. Behind the feature `solve`: tools need it, frames do not.
//!
//! ```
//! use anim_geom::sparse::Cholesky;
//!
//! // 2x − y = 1, −x + 2y = 1.
//! let mut matrix = Cholesky::new(2, &[(0, 0, 2.0), (1, 0, -1.0), (1, 1, 2.0)])?;
//! let mut x = [1.0, 1.0];
//! matrix.solve_in_place(&mut x);
//! assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-15);
//!
//! // The same pattern with other values costs no new analysis.
//! matrix.refactor(&[4.0, -2.0, 4.0])?;
//! # Ok::<(), anim_geom::GeomError>(())
//! ```

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::cholesky::{LltRef, SymbolicCholesky, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

use crate::GeomError;

/// The LLᵀ factor of an n × n matrix; keeps its pattern for [`refactor`](Self::refactor).
pub struct Cholesky {
    size: usize,
    /// Lower triangle, compressed columns.
    column_starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
    /// For each triplet, its place in `values`.
    places: Vec<usize>,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
}

impl std::fmt::Debug for Cholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cholesky")
            .field("size", &self.size)
            .field("entries", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl Cholesky {
    /// Factors the symmetric matrix whose lower triangle is given as `(row, column, value)`; entries of one place add up.
    ///
    /// Every diagonal entry must be there. Costs an analysis and a factorisation.
    ///
    /// # Errors
    ///
    /// [`GeomError::NotPositiveDefinite`] if it is not, holds a value that is not finite or is too large to factor.
    ///
    /// # Panics
    ///
    /// If an entry lies above the diagonal or outside the matrix.
    pub fn new(size: usize, lower: &[(u32, u32, f64)]) -> Result<Self, GeomError> {
        assert!(
            lower
                .iter()
                .all(|(row, column, _)| column <= row && (*row as usize) < size),
            "entries of the lower triangle"
        );
        let by_row = sorted(size, 0..lower.len() as u32, |entry| lower[entry as usize].0);
        let order = sorted(size, by_row.iter().copied(), |entry| {
            lower[entry as usize].1
        });
        let mut column_starts = vec![0; size + 1];
        let mut rows: Vec<usize> = Vec::new();
        let mut places = vec![0; lower.len()];
        let mut last = None;
        for entry in order {
            let (row, column, _) = lower[entry as usize];
            if last != Some((row, column)) {
                last = Some((row, column));
                rows.push(row as usize);
                column_starts[column as usize + 1] += 1;
            }
            places[entry as usize] = rows.len() - 1;
        }
        for column in 0..size {
            column_starts[column + 1] += column_starts[column];
        }
        let pattern = SymbolicSparseColMatRef::new_checked(size, size, &column_starts, None, &rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            Default::default(),
            Default::default(),
        )
        .map_err(|_| GeomError::NotPositiveDefinite)?;
        let mut out = Self {
            size,
            values: vec![0.0; rows.len()],
            factor: vec![0.0; symbolic.len_val()],
            column_starts,
            rows,
            places,
            symbolic,
        };
        let values: Vec<f64> = lower.iter().map(|(_, _, value)| *value).collect();
        out.refactor(&values)?;
        Ok(out)
    }

    /// Factors a matrix of the same pattern: `values` in the order of the triplets that [`new`](Self::new) had.
    ///
    /// # Errors
    ///
    /// [`GeomError::NotPositiveDefinite`]; the factor is then of no use until another one succeeds.
    ///
    /// # Panics
    ///
    /// If there are more or fewer values than triplets.
    pub fn refactor(&mut self, values: &[f64]) -> Result<(), GeomError> {
        assert_eq!(values.len(), self.places.len(), "values of another pattern");
        self.values.fill(0.0);
        for (place, value) in self.places.iter().zip(values) {
            self.values[*place] += value;
        }
        if !self.values.iter().all(|value| value.is_finite()) {
            return Err(GeomError::NotPositiveDefinite);
        }
        let pattern = SymbolicSparseColMatRef::new_checked(
            self.size,
            self.size,
            &self.column_starts,
            None,
            &self.rows,
        );
        let scratch = self
            .symbolic
            .factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                SparseColMatRef::new(pattern, &self.values),
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
                Spec::default(),
            )
            .map_err(|_| GeomError::NotPositiveDefinite)?;
        Ok(())
    }

    /// Number of rows, n.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Solves A·X = B: `columns` holds right-hand sides of n values one after the other, and then the solutions.
    ///
    /// Many at once cost much less than one by one. Allocates scratch; [`solve_with`](Self::solve_with) keeps it.
    ///
    /// # Panics
    ///
    /// If `columns` is no whole number of columns.
    pub fn solve_in_place(&self, columns: &mut [f64]) {
        self.solve_with(&mut SolveScratch::default(), columns);
    }

    /// As [`solve_in_place`](Self::solve_in_place), in scratch that is kept from solve to solve.
    ///
    /// Allocates only if no solve with this scratch was as large before.
    ///
    /// # Panics
    ///
    /// If `columns` is no whole number of columns.
    pub fn solve_with(&self, scratch: &mut SolveScratch, columns: &mut [f64]) {
        let count = columns.len().checked_div(self.size).unwrap_or(0);
        assert_eq!(count * self.size, columns.len(), "whole columns");
        let needed = self.symbolic.solve_in_place_scratch::<f64>(count, Par::Seq);
        LltRef::<'_, usize, f64>::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(columns, self.size, count),
            Par::Seq,
            MemStack::new(scratch.holding(needed)),
        );
    }
}

/// Room to solve in.
#[derive(Default)]
pub struct SolveScratch {
    /// Its size in bytes, alignment included.
    buffer: Option<(MemBuffer, usize)>,
}

impl SolveScratch {
    fn holding(&mut self, needed: StackReq) -> &mut MemBuffer {
        let bytes = needed.unaligned_bytes_required();
        let fits = |(_, size): &(MemBuffer, usize)| bytes <= *size;
        let kept = self.buffer.take().filter(fits);
        let (buffer, _) = self
            .buffer
            .insert(kept.unwrap_or_else(|| (MemBuffer::new(needed), bytes)));
        buffer
    }
}

impl std::fmt::Debug for SolveScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.buffer.as_ref().map_or(0, |(_, bytes)| *bytes);
        f.debug_struct("SolveScratch")
            .field("bytes", &bytes)
            .finish()
    }
}

/// `entries` by their keys, which are below `size`; those of one key keep their order.
fn sorted(
    size: usize,
    entries: impl Iterator<Item = u32> + Clone,
    key: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let mut next = vec![0; size + 1];
    let mut count = 0;
    for entry in entries.clone() {
        next[key(entry) as usize + 1] += 1_usize;
        count += 1;
    }
    for place in 1..next.len() {
        next[place] += next[place - 1];
    }
    let mut out = vec![0; count];
    for entry in entries {
        let place = &mut next[key(entry) as usize];
        out[*place] = entry;
        *place += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −u″ = 1 on n + 1 cells with u = 0 at both ends: u = x(1 − x)/2, exact at the nodes.
    #[test]
    fn the_string_sags_as_a_parabola() {
        let n = 99;
        let h = 1.0 / (n + 1) as f64;
        let mut lower = Vec::new();
        for i in 0..n as u32 {
            // In two halves: entries of one place add up.
            lower.extend([(i, i, 1.0 / (h * h)), (i, i, 1.0 / (h * h))]);
            if i > 0 {
                lower.push((i, i - 1, -1.0 / (h * h)));
            }
        }
        let mut matrix = Cholesky::new(n, &lower).unwrap();
        let mut columns = vec![1.0; 2 * n];
        columns[n..].fill(2.0);
        matrix.solve_in_place(&mut columns);
        for i in 0..n {
            let x = (i + 1) as f64 * h;
            let sag = x * (1.0 - x) / 2.0;
            assert!((columns[i] - sag).abs() < 1e-12);
            assert!((columns[n + i] - 2.0 * sag).abs() < 1e-12);
        }
        let doubled: Vec<f64> = lower.iter().map(|(_, _, value)| 2.0 * value).collect();
        matrix.refactor(&doubled).unwrap();
        let mut half = vec![1.0; n];
        matrix.solve_in_place(&mut half);
        assert!((half[49] - 0.0625).abs() < 1e-12);
        // Scratch that was used for less and for more gives the same bits.
        let mut scratch = SolveScratch::default();
        for count in [1, 3, 2] {
            let mut kept = vec![1.0; n * count];
            matrix.solve_with(&mut scratch, &mut kept);
            let mut fresh = vec![1.0; n * count];
            matrix.solve_in_place(&mut fresh);
            assert_eq!(kept, fresh);
        }
    }

    #[test]
    fn what_has_no_factor_is_refused() {
        let indefinite = [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0)];
        assert_eq!(
            Cholesky::new(2, &indefinite).err(),
            Some(GeomError::NotPositiveDefinite)
        );
        assert_eq!(
            Cholesky::new(1, &[(0, 0, f64::NAN)]).err(),
            Some(GeomError::NotPositiveDefinite)
        );
        assert_eq!(
            Cholesky::new(1, &[(0, 0, 0.0)]).err(),
            Some(GeomError::NotPositiveDefinite)
        );
        let empty = Cholesky::new(0, &[]).unwrap();
        empty.solve_in_place(&mut []);
    }
}
