//! Rows of the simplex that make a biharmonic energy least, all joints at once.

use anim_geom::{chunks, sparse::Cholesky};
use rayon::prelude::*;

use super::BiharmonicOptions;
use crate::SkinError;
use crate::weights::simplex;

/// Columns solved together; fixed, so that the bits do not depend on the number of threads.
const COLUMNS: usize = 12;
/// Over-relaxation; 1.5 to 1.8 is usual.
const RELAXATION: f64 = 1.7;
/// The first penalty, of the mean diagonal of Q.
const FIRST_PENALTY: f64 = 0.02;
/// What keeps the energy without bounds positive definite in spite of rounding, of the mean diagonal of Q.
const LEAST_PENALTY: f64 = 1.0e-9;
/// Iterations before the first look at the penalty; the next ones come ever later, so that the iteration settles.
const FIRST_LOOK: usize = 10;

/// min Σⱼ ½ wⱼᵀ Q wⱼ − rⱼᵀ wⱼ over F rows of m weights, each on the simplex.
pub(super) struct Problem<'a> {
    /// F.
    pub(super) rows: usize,
    /// m.
    pub(super) columns: usize,
    /// The lower triangle of Q, entries of one place to be added up.
    pub(super) lower: &'a [(u32, u32, f64)],
    /// F × m, column by column: what the fixed rows pull with.
    pub(super) pull: &'a [f64],
}

/// Where the iteration ended.
pub(super) struct Solution {
    /// F × m, column by column; every row on the simplex.
    pub(super) weights: Vec<f64>,
    /// F × m, column by column, on no simplex: where the slope of the energy is that of the multipliers.
    pub(super) dual: Vec<f64>,
    pub(super) iterations: usize,
    pub(super) factorizations: usize,
    pub(super) primal_residual: f64,
    pub(super) dual_residual: f64,
}

/// Alternates between the energy without bounds (one solve for all columns) and the simplex (one projection a row).
///
/// Source: Boyd et al., "Distributed optimization and statistical learning via the alternating direction method of
/// multipliers", 2011, sections 3.1, 3.3 and 3.4.
pub(super) fn solve(
    problem: &Problem<'_>,
    options: &BiharmonicOptions,
) -> Result<Solution, SkinError> {
    let Problem { rows, columns, .. } = *problem;
    let mut diagonal = vec![0.0; rows];
    for (row, column, value) in problem.lower {
        if row == column {
            diagonal[*row as usize] += value;
        }
    }
    let mean = diagonal.iter().sum::<f64>() / rows.max(1) as f64;
    let mut penalty = FIRST_PENALTY * mean;
    let mut system = System::new(problem, penalty)?;
    // The start: the energy without bounds, put on the simplex.
    let mut x = problem.pull.to_vec();
    system.set_penalty(LEAST_PENALTY * mean)?;
    system.solve(&mut x);
    let mut z = x.clone();
    project_rows(&mut z, rows, columns);
    system.set_penalty(penalty)?;
    let mut u = vec![0.0; rows * columns];
    let mut before = z.clone();
    let mut out = Solution {
        weights: Vec::new(),
        dual: Vec::new(),
        iterations: 0,
        factorizations: 3,
        primal_residual: 0.0,
        dual_residual: 0.0,
    };
    let mut next_look = FIRST_LOOK;
    while out.iterations < options.max_iterations.max(1) && rows * columns > 0 {
        out.iterations += 1;
        for (((x, pull), z), u) in x.iter_mut().zip(problem.pull).zip(&z).zip(&u) {
            *x = pull + penalty * (z - u);
        }
        system.solve(&mut x);
        std::mem::swap(&mut z, &mut before);
        for (((z, x), u), before) in z.iter_mut().zip(&x).zip(&mut u).zip(&before) {
            *u += RELAXATION * x + (1.0 - RELAXATION) * before;
            *z = *u;
        }
        project_rows(&mut z, rows, columns);
        let mut sums = [0.0; 5];
        for (((z, x), u), before) in z.iter().zip(&x).zip(&mut u).zip(&before) {
            *u -= z;
            let parts = [x - z, z - before, *x, *z, *u];
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum += part * part;
            }
        }
        let [apart, moved, x_norm, z_norm, u_norm] = sums.map(f64::sqrt);
        out.primal_residual = apart / x_norm.max(z_norm);
        out.dual_residual = moved / u_norm.max(f64::MIN_POSITIVE);
        if out.primal_residual <= options.tolerance && out.dual_residual <= options.tolerance {
            break;
        }
        if out.iterations == next_look {
            next_look += next_look / 2;
            let ratio = out.primal_residual / out.dual_residual.max(f64::MIN_POSITIVE);
            if !(0.2..=5.0).contains(&ratio) {
                let factor = ratio.sqrt().clamp(0.1, 10.0);
                penalty *= factor;
                u.iter_mut().for_each(|u| *u /= factor);
                system.set_penalty(penalty)?;
                out.factorizations += 1;
            }
        }
    }
    for ((x, pull), u) in x.iter_mut().zip(problem.pull).zip(&u) {
        *x = pull - penalty * u;
    }
    system.set_penalty(LEAST_PENALTY * mean)?;
    system.solve(&mut x);
    out.dual = x;
    out.weights = z;
    Ok(out)
}

/// Q + ρ I.
struct System {
    matrix: Cholesky,
    values: Vec<f64>,
    rows: usize,
}

impl System {
    fn new(problem: &Problem<'_>, penalty: f64) -> Result<Self, SkinError> {
        let mut lower = problem.lower.to_vec();
        lower.extend((0..problem.rows as u32).map(|row| (row, row, penalty)));
        Ok(Self {
            matrix: Cholesky::new(problem.rows, &lower)?,
            values: lower.iter().map(|(_, _, value)| *value).collect(),
            rows: problem.rows,
        })
    }

    fn set_penalty(&mut self, penalty: f64) -> Result<(), SkinError> {
        let first = self.values.len() - self.rows;
        self.values[first..].fill(penalty);
        Ok(self.matrix.refactor(&self.values)?)
    }

    fn solve(&self, columns: &mut [f64]) {
        let size = (self.rows * COLUMNS).max(1);
        if chunks::in_pool() {
            columns
                .par_chunks_mut(size)
                .for_each(|columns| self.matrix.solve_in_place(columns));
        } else {
            columns
                .chunks_mut(size)
                .for_each(|columns| self.matrix.solve_in_place(columns));
        }
    }
}

/// Puts each row of a matrix that is stored column by column on the simplex.
fn project_rows(matrix: &mut [f64], rows: usize, columns: usize) {
    let mut row = vec![0.0; columns];
    for first in 0..rows {
        for (value, out) in matrix[first..].iter().step_by(rows).zip(&mut row) {
            *out = *value;
        }
        simplex::project(&mut row);
        for (value, out) in row.iter().zip(matrix[first..].iter_mut().step_by(rows)) {
            *out = *value;
        }
    }
}
