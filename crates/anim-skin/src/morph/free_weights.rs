//! The weights that no limit holds, all at once: a dense Cholesky factorisation of their part of a system.
//!
//! Coordinate descent is quick to find out which weights end at a limit and slow to settle the others where shapes resemble
//! each other. Those solve a linear system, here with the right-hand side as one more column, which the elimination takes
//! along. Sums across lanes are in one fixed order, so every instruction set gives the same bits.

use anim_math::lanes::{Simd, SimdBase, f64x8};

use super::block_rows::{Block, LANES, add_row, at, at_mut};

/// Some rows of a symmetric system and what they are solved for; owns the scratch.
#[derive(Clone, Debug)]
pub(crate) struct FreeWeights {
    /// Which rows, ascending.
    pub(crate) rows: Vec<usize>,
    /// f rows of the upper triangle and the right-hand side, eliminated.
    upper: Vec<Block>,
    /// The same rows over their diagonals.
    scaled: Vec<Block>,
    /// Each diagonal of the system, then one over that of its elimination.
    inverse: Vec<f64>,
    /// The solution, one a free row.
    solution: Vec<Block>,
}

/// Rows that are eliminated together, so that each row above is loaded once for them.
const PANEL: usize = 4;

impl FreeWeights {
    /// Scratch for as many as `count` free weights.
    pub(crate) fn new(count: usize) -> Self {
        let blocks = count / LANES + 1;
        let empty = vec![Block::ZERO; count.next_multiple_of(PANEL) * blocks];
        Self {
            rows: Vec::with_capacity(count),
            scaled: empty.clone(),
            upper: empty,
            inverse: vec![0.0; count],
            solution: vec![Block::ZERO; blocks],
        }
    }

    /// Solves `system` · steps = `target` in the rows and columns `rows`; false if they depend on each other.
    ///
    /// * `system`: rows of as many blocks as `target`.
    ///
    /// Costs f³ / 6 multiplications. Allocates nothing.
    #[inline(always)]
    pub(crate) fn solve<S: Simd>(&mut self, simd: S, system: &[Block], target: &[Block]) -> bool {
        let blocks = self.rows.len() / LANES + 1;
        self.gather(system, target, blocks);
        for first in (0..self.rows.len()).step_by(PANEL) {
            for block in first / LANES..blocks {
                self.eliminate(simd, first, block, blocks);
            }
            if !self.factor_panel(simd, first, blocks) {
                return false;
            }
        }
        self.substitute(simd, blocks);
        true
    }

    /// The free rows and what each of them moves by, after [`solve`](Self::solve).
    #[inline(always)]
    pub(crate) fn steps(&self) -> impl Iterator<Item = (usize, f64)> {
        let steps = self.solution.iter().flat_map(|block| block.0);
        self.rows.iter().copied().zip(steps)
    }

    #[inline(always)]
    fn gather(&mut self, system: &[Block], target: &[Block], blocks: usize) {
        let (count, stride) = (self.rows.len(), target.len());
        self.upper[..count.next_multiple_of(PANEL) * blocks].fill(Block::ZERO);
        for (i, free) in self.rows.iter().enumerate() {
            let entries = &system[free * stride..(free + 1) * stride];
            let row = &mut self.upper[i * blocks..(i + 1) * blocks];
            for (column, free) in self.rows.iter().enumerate().skip(i) {
                *at_mut(row, column) = at(entries, *free);
            }
            *at_mut(row, count) = at(target, *free);
            self.inverse[i] = at(row, i);
        }
    }

    /// Takes all rows before `first` out of a block of the panel that starts there.
    #[inline(always)]
    fn eliminate<S: Simd>(&mut self, simd: S, first: usize, block: usize, blocks: usize) {
        let (above, panel) = self.upper.split_at_mut(first * blocks);
        let [mut a, mut b, mut c, mut d] =
            std::array::from_fn(|row| panel[row * blocks + block].load(simd));
        let above = above.iter().skip(block).step_by(blocks);
        let scaled = self.scaled.iter().skip(first / LANES).step_by(blocks);
        for (entries, scaled) in above.zip(scaled) {
            let entries = entries.load(simd);
            let factors = scaled.0.as_chunks::<PANEL>().0[first / PANEL % 2];
            let [e, f, g, h] = factors.map(|factor| f64x8::splat(simd, factor));
            a -= e * entries;
            b -= f * entries;
            c -= g * entries;
            d -= h * entries;
        }
        for (row, value) in [a, b, c, d].into_iter().enumerate() {
            panel[row * blocks + block].store(value);
        }
    }

    /// Takes the rows of a panel out of each other; false if one is a combination of those before it.
    #[inline(always)]
    fn factor_panel<S: Simd>(&mut self, simd: S, first: usize, blocks: usize) -> bool {
        let start = first / LANES;
        for i in first..self.rows.len().min(first + PANEL) {
            let (above, row) = self.upper.split_at_mut(i * blocks);
            for k in first..i {
                let factor = -at(&self.scaled[k * blocks..], i);
                let pivot = &above[k * blocks + start..(k + 1) * blocks];
                add_row(simd, &mut row[start..], factor, pivot);
            }
            let pivot = at(row, i);
            // No more than rounding is left of one.
            if pivot > 1e-12 * self.inverse[i] {
                self.inverse[i] = 1.0 / pivot;
            } else {
                return false;
            }
            let scaled = &mut self.scaled[i * blocks + start..(i + 1) * blocks];
            scaled.fill(Block::ZERO);
            add_row(simd, scaled, self.inverse[i], &row[start..]);
        }
        true
    }

    /// Solves row by row from the last; the column of the right-hand side counts as solved, for −1.
    #[inline(always)]
    fn substitute<S: Simd>(&mut self, simd: S, blocks: usize) {
        let count = self.rows.len();
        for block in (0..blocks).rev() {
            // What is stored number by number is slow to load as a block, hence apart.
            let mut solved = [0.0; LANES];
            if block == count / LANES {
                solved[count % LANES] = -1.0;
            }
            for lane in (0..LANES.min(count - block * LANES)).rev() {
                let i = block * LANES + lane;
                let row = &self.upper[i * blocks + block..(i + 1) * blocks];
                let mut sums = f64x8::splat(simd, 0.0);
                for (entries, x) in row.iter().zip(&self.solution[block..]).skip(1) {
                    sums += entries.load(simd) * x.load(simd);
                }
                let [a, b, c, d, e, f, g, h]: [f64; LANES] = sums.into();
                let mut sum = ((a + e) + (c + g)) + ((b + f) + (d + h));
                for (entry, x) in row[0].0.iter().zip(solved).skip(lane + 1).rev() {
                    sum += entry * x;
                }
                solved[lane] = -sum * self.inverse[i];
            }
            self.solution[block] = Block(solved);
        }
    }
}

#[cfg(test)]
mod tests {
    use anim_math::lanes::{Level, dispatch};
    use anim_math::nalgebra::DMatrix;
    use anim_math::random::Random;

    use super::*;

    /// The system in rows of blocks, 1 as its right-hand side, and the steps of `rows`.
    fn steps(system: &DMatrix<f64>, rows: &[usize]) -> Option<Vec<f64>> {
        let (n, stride) = (system.nrows(), system.nrows() / LANES + 1);
        let mut blocks = vec![Block::ZERO; n * stride];
        for (row, blocks) in blocks.chunks_exact_mut(stride).enumerate() {
            for column in 0..n {
                *at_mut(blocks, column) = system[(row, column)];
            }
        }
        let ones = vec![Block([1.0; LANES]); stride];
        let mut free = FreeWeights::new(n);
        free.rows.extend_from_slice(rows);
        let solved = dispatch!(Level::new(), simd => free.solve(simd, &blocks, &ones));
        solved.then(|| free.steps().map(|(_, step)| step).collect())
    }

    #[test]
    fn steps_solve_their_rows_whatever_their_number() {
        let mut random = Random::new(3, 0, 0);
        let a = DMatrix::from_fn(40, 29, |_, _| f64::from(random.range(-1.0, 1.0)));
        let system = a.tr_mul(&a);
        for count in 0..=29 {
            // Every place of the last block and of the last panel comes up.
            let rows: Vec<usize> = (0..29).filter(|row| row * 7 % 29 < count).collect();
            let steps = steps(&system, &rows).unwrap();
            assert_eq!(steps.len(), count);
            for row in &rows {
                let sum: f64 = rows
                    .iter()
                    .zip(&steps)
                    .map(|(k, x)| system[(*row, *k)] * x)
                    .sum();
                // 29 sums of terms below 40 · |x|, each rounded.
                let size = steps.iter().fold(1.0_f64, |most, x| x.abs().max(most));
                assert!((sum - 1.0).abs() < 29.0 * 40.0 * size * f64::EPSILON * 29.0);
            }
        }
    }

    #[test]
    fn rows_that_depend_on_each_other_are_refused() {
        let same = DMatrix::from_element(6, 6, 2.0);
        assert_eq!(steps(&same, &[1, 4]), None);
        assert_eq!(steps(&same, &[4]), Some(vec![0.5]));
    }
}
