//! Which weights of a set of shapes explain a tracked face: a box-constrained least-squares problem, solved each frame.
//!
//! Markers on a face, or all vertices of a tracked mesh, are displaced by d; the shapes displace them by S·w. The best w
//! within its limits follows from the n × n matrix SᵀS, which is computed once. Priors decide what markers cannot: small
//! weights, few weights, weights near those of the frame before, and equal sides.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skin::MorphTarget;
//! use anim_skin::morph::{ShapeSolver, SolveOptions};
//!
//! let open = MorphTarget { vertices: vec![4, 7], positions: vec![Vec3::x(), Vec3::y()], ..MorphTarget::default() };
//! let mut solver = ShapeSolver::new(&[open], &[7], &SolveOptions::default())?;
//! assert!(solver.solve(&[Vec3::new(0.0, 0.25, 0.0)]).converged);
//! assert!((solver.weights()[0] - 0.25).abs() < 1e-3);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::Vec3;
use anim_math::lanes::{Level, Select, Simd, SimdBase, dispatch, f64x8};

pub use super::solve_options::SolveOptions;

use super::block_rows::{Block, LANES, add_row, add_rows, at, at_mut};
use super::free_weights::FreeWeights;
use crate::{MorphTarget, SkinError};

/// How one frame's solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeOutcome {
    /// Whether `residual` came below 1e-9.
    pub converged: bool,
    /// Largest violation of the optimality conditions, relative to the mean diagonal of SᵀS.
    pub residual: f64,
    /// Sweeps over all weights.
    pub sweeps: usize,
    /// Markers without a position in this frame.
    pub missing: usize,
}

/// n shapes seen at m markers, ready to be solved for; remembers the last frame's weights.
#[derive(Clone, Debug)]
pub struct ShapeSolver {
    options: SolveOptions,
    shape_count: usize,
    marker_count: usize,
    /// Blocks in a row of n numbers.
    stride: usize,
    /// 3m rows: what each shape does to x, y and z of each marker.
    rows: Vec<Block>,
    /// n rows: Sᵀ·W·S of all markers.
    gram: Vec<Block>,
    /// The mean of its diagonal, or 1.
    scale: f64,
    /// 3m: this frame's displacements by their trust.
    pulls: Vec<f64>,
    /// n rows: this frame's Gram and priors.
    system: Vec<Block>,
    /// A row: right-hand side minus system times weights, halved negative gradient.
    descent: Vec<Block>,
    /// The descent before a step.
    before: Vec<Block>,
    /// One over the diagonal of `system`, 0 where neither markers nor priors say anything. As many as a row has, as are all
    /// that follow.
    inverse: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    weights: Vec<f64>,
    /// What the weights were before a step, less what they are.
    moves: Vec<f64>,
    free: FreeWeights,
    level: Level,
}

/// Violation of the optimality conditions at which the solve ends.
const TOLERANCE: f64 = 1e-9;

/// How far weights go towards their best value; 1 stops there, from 2 on nothing converges.
const RELAXATION: f64 = 1.2;

impl ShapeSolver {
    /// Prepares for `markers`: the vertex, in source order, that each marker sits on.
    ///
    /// Costs 3·m·n².
    ///
    /// # Errors
    ///
    /// [`SkinError::TargetCount`] and [`SkinError::NotFinite`] for the targets; [`SkinError::BadShape`] for a pair or
    /// limit, [`SkinError::BadMarker`] for a marker weight, and [`SkinError::WrongOption`] for a strength or number of
    /// limits that makes no sense. A vertex that no target moves is no error: see [`idle_markers`](Self::idle_markers).
    pub fn new(
        targets: &[MorphTarget],
        markers: &[u32],
        options: &SolveOptions,
    ) -> Result<Self, SkinError> {
        for (index, target) in targets.iter().enumerate() {
            target.check(index, usize::MAX)?;
        }
        let n = targets.len();
        options.check(n, markers.len())?;
        let stride = n.div_ceil(LANES).max(1);
        let mut rows = vec![Block::ZERO; 3 * markers.len() * stride];
        for (shape, target) in targets.iter().enumerate() {
            let mut order: Vec<(u32, usize)> = target.vertices.iter().copied().zip(0..).collect();
            order.sort_unstable();
            for (rows, vertex) in rows.chunks_exact_mut(3 * stride).zip(markers) {
                let first = order.partition_point(|(v, _)| v < vertex);
                for (_, entry) in order[first..].iter().take_while(|(v, _)| v == vertex) {
                    let position = &target.positions[*entry];
                    for (row, value) in rows.chunks_exact_mut(stride).zip(position.iter()) {
                        *at_mut(row, shape) += f64::from(*value);
                    }
                }
            }
        }
        let (row, numbers) = (vec![Block::ZERO; stride], vec![0.0; stride * LANES]);
        let mut solver = Self {
            options: options.clone(),
            shape_count: n,
            marker_count: markers.len(),
            stride,
            rows,
            gram: vec![Block::ZERO; n * stride],
            scale: 1.0,
            pulls: vec![0.0; 3 * markers.len()],
            system: vec![Block::ZERO; stride * LANES * stride],
            descent: row.clone(),
            before: row,
            inverse: numbers.clone(),
            low: numbers.clone(),
            high: numbers.clone(),
            weights: numbers.clone(),
            moves: numbers,
            free: FreeWeights::new(n),
            level: Level::new(),
        };
        for shape in 0..n {
            let limits = options.limits.get(shape).copied().unwrap_or([0.0, 1.0]);
            [solver.low[shape], solver.high[shape]] = limits;
        }
        let mut gram = std::mem::take(&mut solver.gram);
        let level = solver.level;
        dispatch!(level, simd => {
            for marker in 0..markers.len() {
                solver.add_marker(simd, &mut gram, marker, 1.0);
            }
        });
        solver.gram = gram;
        let trace: f64 = (0..n).map(|shape| solver.seen(shape)).sum();
        if trace > 0.0 {
            solver.scale = trace / n as f64;
        }
        solver.reset();
        Ok(solver)
    }

    /// The same solver with the instructions of `level`; the results are the same bits.
    #[must_use]
    pub fn with_level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// n: the weights of the last solve.
    pub fn weights(&self) -> &[f64] {
        &self.weights[..self.shape_count]
    }

    /// Markers that no shape moves, ascending: a point of the skull, or a mistaken vertex. They have no say.
    pub fn idle_markers(&self) -> Vec<usize> {
        let is_still = |marker: &usize| {
            let rows = &self.rows[3 * marker * self.stride..3 * (marker + 1) * self.stride];
            rows.iter().all(|block| block.0 == [0.0; LANES])
        };
        (0..self.marker_count).filter(is_still).collect()
    }

    /// Shapes that move no marker with trust, ascending: only priors decide their weights.
    pub fn unseen_shapes(&self) -> Vec<usize> {
        (0..self.shape_count)
            .filter(|shape| self.seen(*shape) == 0.0)
            .collect()
    }

    /// Forgets the last frame: weights of 0, or the limit nearest to it.
    pub fn reset(&mut self) {
        let limits = self.low.iter().zip(&self.high);
        for (weight, (low, high)) in self.weights.iter_mut().zip(limits) {
            *weight = 0.0_f64.clamp(*low, *high);
        }
    }

    /// Finds the weights that minimise Σ m·|S·w − d|² and the priors, starting at those of the frame before.
    ///
    /// * `displacements`: m, in metres, of the markers from the rest face; one with NaN or infinity is missing from this
    ///   frame and has no say.
    ///
    /// Coordinate descent with over-relaxation: each weight in turn goes to its best value, and somewhat past it, within
    /// its limits. Once a sweep leaves the same weights at their limits, the others are solved for together, by Cholesky's
    /// factorisation, and that mostly is the end. The function is convex and every step lowers it, so the end is the
    /// optimum, to rounding. Costs 3·m·n, n² a sweep and f³ / 6 each time that f free weights are solved for; 3·n² more for
    /// each missing marker, or for each present one where these are fewer, and 3·m·n for each shape that the missing
    /// markers saw all but a thousandth of. Allocates nothing.
    ///
    /// Sources: Cryer, "The solution of a quadratic programming problem using systematic overrelaxation", 1971; Friedman,
    /// Hastie, Höfling, Tibshirani, "Pathwise coordinate optimization", 2007, section 2; Moré and Toraldo, "On the solution
    /// of large quadratic programming problems with bound constraints", 1991 (projections find the face, a subspace step ends).
    ///
    /// # Panics
    ///
    /// If `displacements` is not one a marker.
    pub fn solve(&mut self, displacements: &[Vec3]) -> ShapeOutcome {
        assert_eq!(
            displacements.len(),
            self.marker_count,
            "one displacement a marker"
        );
        let level = self.level;
        dispatch!(level, simd => self.descend(simd, displacements))
    }

    #[inline(always)]
    fn descend<S: Simd>(&mut self, simd: S, displacements: &[Vec3]) -> ShapeOutcome {
        let missing = self.assemble(simd, displacements);
        let (mut sweeps, mut residual) = (0, self.violation(simd));
        self.free.rows.clear();
        while residual > TOLERANCE && sweeps < self.options.max_sweeps {
            for block in 0..self.stride {
                if self.options.sparsity > 0.0 {
                    self.improve_block::<true, S>(simd, block);
                } else {
                    self.improve_block::<false, S>(simd, block);
                }
            }
            sweeps += 1;
            // Which weights end at a limit is likely known once a sweep changes none of them.
            if self.find_free() {
                self.settle(simd);
            }
            residual = self.violation(simd);
        }
        ShapeOutcome {
            converged: residual <= TOLERANCE,
            residual,
            sweeps,
            missing,
        }
    }

    /// Sets up the system and the descent direction at the current weights; gives the number of missing markers.
    #[inline(always)]
    fn assemble<S: Simd>(&mut self, simd: S, displacements: &[Vec3]) -> usize {
        let missing = displacements.iter().filter(|d| !is_seen(d)).count();
        let (n, stride) = (self.shape_count, self.stride);
        let few_missing = 2 * missing <= displacements.len();
        let mut system = std::mem::take(&mut self.system);
        // Rows of no shape stay empty.
        let rows = &mut system[..n * stride];
        if few_missing {
            rows.copy_from_slice(&self.gram);
        } else {
            rows.fill(Block::ZERO);
        }
        if missing > 0 {
            let sign = if few_missing { -1.0 } else { 1.0 };
            for (marker, displacement) in displacements.iter().enumerate() {
                if is_seen(displacement) != few_missing {
                    self.add_marker(simd, rows, marker, sign);
                }
            }
        }
        if few_missing && missing > 0 {
            for shape in 0..n {
                // Little is left of much: mostly rounding, where markers might see nothing at all.
                if at(&rows[shape * stride..], shape) < 1e-3 * self.seen(shape) {
                    self.sum_again(simd, rows, shape, displacements);
                }
            }
        }
        let SolveOptions {
            ridge,
            temporal,
            symmetry,
            ..
        } = self.options;
        for (shape, row) in rows.chunks_exact_mut(stride).enumerate() {
            *at_mut(row, shape) += (ridge + temporal) * self.scale;
        }
        let symmetry = symmetry * self.scale;
        for [left, right] in &self.options.pairs {
            *at_mut(&mut rows[left * stride..], *left) += symmetry;
            *at_mut(&mut rows[right * stride..], *right) += symmetry;
            *at_mut(&mut rows[left * stride..], *right) -= symmetry;
            *at_mut(&mut rows[right * stride..], *left) -= symmetry;
        }
        for (shape, row) in rows.chunks_exact(stride).enumerate() {
            let diagonal = at(row, shape);
            self.inverse[shape] = if diagonal > f64::MIN_POSITIVE {
                1.0 / diagonal
            } else {
                0.0
            };
        }
        self.system = system;
        self.pull(simd, displacements, temporal * self.scale);
        missing
    }

    /// Sets the descent at the current weights, to which `temporal` holds them.
    #[inline(always)]
    fn pull<S: Simd>(&mut self, simd: S, displacements: &[Vec3], temporal: f64) {
        let (pulls, _) = self.pulls.as_chunks_mut::<3>();
        for ((marker, displacement), pull) in displacements.iter().enumerate().zip(pulls) {
            let trust = self.options.marker_weights.get(marker).unwrap_or(&1.0);
            *pull = if is_seen(displacement) {
                displacement.map(|value| trust * f64::from(value)).into()
            } else {
                [0.0; 3]
            };
        }
        let (weights, _) = self.weights.as_chunks::<LANES>();
        for (descent, weights) in self.descent.iter_mut().zip(weights) {
            descent.store(f64x8::from_slice(simd, weights) * f64x8::splat(simd, temporal));
        }
        add_rows(simd, &mut self.descent, &self.pulls, &self.rows);
        for (moved, weight) in self.moves.iter_mut().zip(&self.weights) {
            *moved = -weight;
        }
        add_rows(simd, &mut self.descent, &self.moves, &self.system);
    }

    #[inline(always)]
    fn add_marker<S: Simd>(&self, simd: S, gram: &mut [Block], marker: usize, sign: f64) {
        let trust = sign * self.options.marker_weights.get(marker).unwrap_or(&1.0);
        let rows = &self.rows[3 * marker * self.stride..3 * (marker + 1) * self.stride];
        for (shape, sums) in gram.chunks_exact_mut(self.stride).enumerate() {
            for row in rows.chunks_exact(self.stride) {
                let value = at(row, shape);
                if value != 0.0 {
                    add_row(simd, sums, trust * value, row);
                }
            }
        }
    }

    /// Computes a row and column of the Gram from the seen markers, without subtraction.
    #[inline(always)]
    fn sum_again<S: Simd>(
        &self,
        simd: S,
        gram: &mut [Block],
        shape: usize,
        displacements: &[Vec3],
    ) {
        let stride = self.stride;
        let row = shape * stride..(shape + 1) * stride;
        gram[row.clone()].fill(Block::ZERO);
        let markers = self.rows.chunks_exact(3 * stride).zip(displacements);
        for (marker, (rows, _)) in markers.enumerate().filter(|(_, (_, d))| is_seen(d)) {
            let trust = self.options.marker_weights.get(marker).unwrap_or(&1.0);
            for seen in rows.chunks_exact(stride) {
                let factor = trust * at(seen, shape);
                add_row(simd, &mut gram[row.clone()], factor, seen);
            }
        }
        for other in 0..self.shape_count {
            let value = at(&gram[row.clone()], other);
            *at_mut(&mut gram[other * stride..], shape) = value;
        }
    }

    /// Moves the weights of one block of lanes, each in turn. What that does to the descent of the others waits until the
    /// block is done, so that only two operations lie between one weight and the next.
    #[inline(always)]
    fn improve_block<const SPARSE: bool, S: Simd>(&mut self, simd: S, block: usize) {
        let stride = self.stride;
        let rows = &self.system[block * LANES * stride..(block + 1) * LANES * stride];
        let [inverse, low, high] =
            [&self.inverse, &self.low, &self.high].map(|row| row.as_chunks::<LANES>().0[block]);
        let weights = &mut self.weights.as_chunks_mut::<LANES>().0[block];
        let mut slopes = self.descent[block].0;
        let threshold = 0.5 * self.options.sparsity * self.scale;
        let mut moves = [0.0; LANES];
        for lane in 0..LANES {
            let (old, slope) = (weights[lane], slopes[lane]);
            let goal = if SPARSE {
                sparse_goal(old, slope, inverse[lane], threshold)
            } else {
                old + slope * (RELAXATION * inverse[lane])
            };
            weights[lane] = clamped(goal, low[lane], high[lane]);
            moves[lane] = old - weights[lane];
            for (slope, entry) in slopes.iter_mut().zip(&rows[lane * stride + block].0) {
                *slope += moves[lane] * entry;
            }
        }
        add_rows(simd, &mut self.descent, &moves, rows);
    }

    /// Lists the weights that no limit holds, nor the kink of |w| at 0; true if they are the same as in the last list.
    #[inline(always)]
    fn find_free(&mut self) -> bool {
        let (mut count, mut is_same) = (0, true);
        for shape in 0..self.shape_count {
            let weight = self.weights[shape];
            let is_within = self.low[shape] < weight && weight < self.high[shape];
            if is_within
                && self.inverse[shape] > 0.0
                && (self.options.sparsity == 0.0 || weight != 0.0)
            {
                if self.free.rows.get(count) != Some(&shape) {
                    is_same = false;
                    self.free.rows.truncate(count);
                    self.free.rows.push(shape);
                }
                count += 1;
            }
        }
        is_same &= self.free.rows.len() == count;
        self.free.rows.truncate(count);
        is_same
    }

    /// Moves the free weights to where they are best together; those that would pass a limit, or the kink of |w| at 0, stop
    /// there. Undone if that is no gain, so that the sweeps still converge.
    #[inline(always)]
    fn settle<S: Simd>(&mut self, simd: S) {
        let threshold = 0.5 * self.options.sparsity * self.scale;
        self.before.copy_from_slice(&self.descent);
        for shape in &self.free.rows {
            *at_mut(&mut self.before, *shape) -= threshold.copysign(self.weights[*shape]);
        }
        if !self.free.solve(simd, &self.system, &self.before) {
            return;
        }
        self.before.copy_from_slice(&self.descent);
        self.moves.fill(0.0);
        for (shape, step) in self.free.steps() {
            let old = self.weights[shape];
            let mut new = clamped(old + step, self.low[shape], self.high[shape]);
            if threshold > 0.0 && new * old < 0.0 {
                new = 0.0;
            }
            self.moves[shape] = old - new;
            self.weights[shape] = new;
        }
        add_rows(simd, &mut self.descent, &self.moves, &self.system);
        let mut gain = 0.0;
        for shape in &self.free.rows {
            let (weight, moved) = (self.weights[*shape], self.moves[*shape]);
            let shrunk = (weight + moved).abs() - weight.abs();
            let slopes = at(&self.before, *shape) + at(&self.descent, *shape);
            gain += 2.0 * threshold * shrunk - moved * slopes;
        }
        if gain < 0.0 {
            self.descent.copy_from_slice(&self.before);
            for (weight, moved) in self.weights.iter_mut().zip(&self.moves) {
                *weight += moved;
            }
        }
    }

    /// Largest violation of the Karush-Kuhn-Tucker conditions, relative to `scale`.
    #[inline(always)]
    fn violation<S: Simd>(&self, simd: S) -> f64 {
        let zero = f64x8::splat(simd, 0.0);
        let threshold = f64x8::splat(simd, 0.5 * self.options.sparsity * self.scale);
        let mut worst = zero;
        for (block, descent) in self.descent.iter().enumerate() {
            let descent = descent.load(simd);
            let [weight, inverse, low, high] =
                [&self.weights, &self.inverse, &self.low, &self.high]
                    .map(|row| f64x8::from_slice(simd, &row.as_chunks::<LANES>().0[block]));
            // Slopes of descent to the right and to the left of the weight.
            let up = descent - weight.simd_ge(zero).select(threshold, -threshold);
            let down = -descent - weight.simd_le(zero).select(threshold, -threshold);
            let up = weight.simd_lt(high).select(up, zero);
            let down = weight.simd_gt(low).select(down, zero);
            worst = worst.max(inverse.simd_gt(zero).select(up.max(down), zero));
        }
        let worst: [f64; LANES] = worst.into();
        worst.iter().fold(0.0_f64, |most, value| most.max(*value)) / self.scale
    }

    /// What all markers see of a shape.
    fn seen(&self, shape: usize) -> f64 {
        at(&self.gram[shape * self.stride..], shape)
    }
}

/// Where a weight goes whose size has a price: to its best value and somewhat past it, but not past 0.
#[inline(always)]
fn sparse_goal(old: f64, descent: f64, inverse: f64, threshold: f64) -> f64 {
    let best = old + descent * inverse;
    let best = (best.abs() - threshold * inverse).max(0.0).copysign(best);
    let past = old + RELAXATION * (best - old);
    // Beyond the kink of |w| at 0 the weight would no longer get better.
    if past * best <= 0.0 { best } else { past }
}

/// As `f64::clamp`, which checks the limits and for NaN each time.
#[inline(always)]
fn clamped(value: f64, low: f64, high: f64) -> f64 {
    let value = if value < high { value } else { high };
    if value > low { value } else { low }
}

#[inline(always)]
fn is_seen(displacement: &Vec3) -> bool {
    displacement.iter().all(|part| part.is_finite())
}
