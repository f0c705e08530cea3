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
use anim_math::lanes::{Level, Simd, dispatch};

use crate::{MorphTarget, SkinError};

/// What decides where markers leave weights open; strengths are relative to the mean diagonal of SᵀS, so units cancel.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveOptions {
    /// Strength of |w|².
    pub ridge: f64,
    /// Strength of Σ|w|, which turns small weights off.
    pub sparsity: f64,
    /// Strength of |w − w of the frame before|².
    pub temporal: f64,
    /// Strength of (left − right)² for each of `pairs`.
    pub symmetry: f64,
    /// Shapes that mirror each other.
    pub pairs: Vec<[usize; 2]>,
    /// Smallest and largest weight of each shape; empty stands for 0 to 1.
    pub limits: Vec<[f64; 2]>,
    /// Trust in each marker, not negative; empty stands for 1.
    pub marker_weights: Vec<f64>,
    /// Sweeps over all weights before giving up.
    pub max_sweeps: usize,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            ridge: 1e-4,
            sparsity: 0.0,
            temporal: 0.0,
            symmetry: 0.0,
            pairs: Vec::new(),
            limits: Vec::new(),
            marker_weights: Vec::new(),
            max_sweeps: 1000,
        }
    }
}

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
    /// n, rounded up to whole lanes; all rows are so long, with zeros at the end.
    stride: usize,
    /// 3m rows: what each shape does to x, y and z of each marker.
    rows: Vec<f64>,
    /// n rows: Sᵀ·W·S of all markers.
    gram: Vec<f64>,
    /// The mean of its diagonal, or 1.
    scale: f64,
    /// n rows: this frame's Gram and priors.
    system: Vec<f64>,
    /// A row: right-hand side minus system times weights, halved negative gradient.
    descent: Vec<f64>,
    /// n: one over the diagonal of `system`, 0 where neither markers nor priors say anything.
    inverse: Vec<f64>,
    weights: Vec<f64>,
    level: Level,
}

/// Violation of the optimality conditions at which sweeping stops.
const TOLERANCE: f64 = 1e-9;

/// How far weights go towards their best value; 1 stops there, from 2 on nothing converges.
const RELAXATION: f64 = 1.2;

/// Rows are whole blocks of so many numbers.
const ROW_LANES: usize = 8;

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
        check(options, n, markers.len())?;
        let stride = n.next_multiple_of(ROW_LANES).max(ROW_LANES);
        let mut rows = vec![0.0; 3 * markers.len() * stride];
        for (shape, target) in targets.iter().enumerate() {
            let mut order: Vec<(u32, usize)> = target.vertices.iter().copied().zip(0..).collect();
            order.sort_unstable();
            for (marker, vertex) in markers.iter().enumerate() {
                let first = order.partition_point(|(v, _)| v < vertex);
                for (_, entry) in order[first..].iter().take_while(|(v, _)| v == vertex) {
                    for (axis, value) in target.positions[*entry].iter().enumerate() {
                        rows[(3 * marker + axis) * stride + shape] += f64::from(*value);
                    }
                }
            }
        }
        let mut solver = Self {
            options: options.clone(),
            shape_count: n,
            marker_count: markers.len(),
            stride,
            rows,
            gram: vec![0.0; n * stride],
            scale: 1.0,
            system: vec![0.0; n * stride],
            descent: vec![0.0; stride],
            inverse: vec![0.0; n],
            weights: vec![0.0; n],
            level: Level::new(),
        };
        let mut gram = std::mem::take(&mut solver.gram);
        for marker in 0..markers.len() {
            solver.add_marker(&mut gram, marker, 1.0);
        }
        let trace: f64 = (0..n).map(|shape| gram[shape * stride + shape]).sum();
        if trace > 0.0 {
            solver.scale = trace / n as f64;
        }
        solver.gram = gram;
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
        &self.weights
    }

    /// Markers that no shape moves, ascending: a point of the skull, or a mistaken vertex. They have no say.
    pub fn idle_markers(&self) -> Vec<usize> {
        let stride = self.stride;
        let is_still = |marker: &usize| {
            let rows = &self.rows[3 * marker * stride..3 * (marker + 1) * stride];
            rows.iter().all(|value| *value == 0.0)
        };
        (0..self.marker_count).filter(is_still).collect()
    }

    /// Shapes that move no marker with trust, ascending: only priors decide their weights.
    pub fn unseen_shapes(&self) -> Vec<usize> {
        let stride = self.stride;
        (0..self.shape_count)
            .filter(|shape| self.gram[shape * stride + shape] == 0.0)
            .collect()
    }

    /// Forgets the last frame: weights of 0, or the limit nearest to it.
    pub fn reset(&mut self) {
        for shape in 0..self.shape_count {
            let [low, high] = self.limits(shape);
            self.weights[shape] = 0.0_f64.clamp(low, high);
        }
    }

    /// Finds the weights that minimise Σ m·|S·w − d|² and the priors, starting at those of the frame before.
    ///
    /// * `displacements`: m, in metres, of the markers from the rest face; one with NaN or infinity is missing from this
    ///   frame and has no say.
    ///
    /// Coordinate descent with over-relaxation: each weight in turn goes to its best value, and somewhat past it, within
    /// its limits. The function is convex, so
    /// the end is the optimum. Costs 3·m·n, and n² a sweep; 3·n² more for each missing marker, or for each present one
    /// where these are fewer, and 3·m·n for each shape that the missing markers saw all but a thousandth of. Allocates
    /// nothing.
    ///
    /// Sources: Cryer, "The solution of a quadratic programming problem using systematic overrelaxation", 1971; Friedman, Hastie, Höfling, Tibshirani, "Pathwise coordinate optimization", 2007, section 2.
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

    /// The solve in loops that the compiler spreads over the lanes of `simd`; none of them sums across lanes.
    #[inline(always)]
    fn descend<S: Simd>(&mut self, _simd: S, displacements: &[Vec3]) -> ShapeOutcome {
        let missing = self.assemble(displacements);
        let (mut sweeps, mut residual) = (0, self.violation());
        while residual > TOLERANCE && sweeps < self.options.max_sweeps {
            for first in (0..self.stride).step_by(ROW_LANES) {
                self.improve_block(first);
            }
            sweeps += 1;
            residual = self.violation();
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
    fn assemble(&mut self, displacements: &[Vec3]) -> usize {
        let (n, stride) = (self.shape_count, self.stride);
        let missing = displacements.iter().filter(|d| !is_seen(d)).count();
        let mut system = std::mem::take(&mut self.system);
        let few_missing = 2 * missing <= displacements.len();
        if few_missing {
            system.copy_from_slice(&self.gram);
        } else {
            system.fill(0.0);
        }
        self.descent.fill(0.0);
        for (marker, displacement) in displacements.iter().enumerate() {
            if is_seen(displacement) {
                let trust = self.trust(marker);
                let values = displacement.map(|value| trust * f64::from(value));
                let rows = &self.rows[3 * marker * stride..3 * (marker + 1) * stride];
                add_scaled_rows(&mut self.descent, values.into(), rows);
                if !few_missing {
                    self.add_marker(&mut system, marker, 1.0);
                }
            } else if few_missing {
                self.add_marker(&mut system, marker, -1.0);
            }
        }
        if few_missing && missing > 0 {
            for shape in 0..n {
                // Little is left of much: mostly rounding, where markers might see nothing at all.
                if system[shape * stride + shape] < 1e-3 * self.gram[shape * stride + shape] {
                    self.sum_again(&mut system, shape, displacements);
                }
            }
        }
        let [ridge, temporal, symmetry] = [
            self.options.ridge,
            self.options.temporal,
            self.options.symmetry,
        ]
        .map(|strength| strength * self.scale);
        for shape in 0..n {
            system[shape * stride + shape] += ridge + temporal;
            self.descent[shape] += temporal * self.weights[shape];
        }
        for [left, right] in &self.options.pairs {
            system[left * stride + left] += symmetry;
            system[right * stride + right] += symmetry;
            system[left * stride + right] -= symmetry;
            system[right * stride + left] -= symmetry;
        }
        for (weight, row) in self.weights.iter().zip(system.chunks_exact(stride)) {
            if *weight != 0.0 {
                add_scaled(&mut self.descent, -weight, row);
            }
        }
        for (shape, inverse) in self.inverse.iter_mut().enumerate() {
            let diagonal = system[shape * stride + shape];
            *inverse = if diagonal > f64::MIN_POSITIVE {
                1.0 / diagonal
            } else {
                0.0
            };
        }
        self.system = system;
        missing
    }

    #[inline(always)]
    fn add_marker(&self, gram: &mut [f64], marker: usize, sign: f64) {
        let stride = self.stride;
        let trust = sign * self.trust(marker);
        for row in self.rows[3 * marker * stride..]
            .chunks_exact(stride)
            .take(3)
        {
            for (sums, value) in gram.chunks_exact_mut(stride).zip(row) {
                if *value != 0.0 {
                    add_scaled(sums, trust * value, row);
                }
            }
        }
    }

    /// Computes a row and column of the Gram from the seen markers, without subtraction.
    fn sum_again(&self, gram: &mut [f64], shape: usize, displacements: &[Vec3]) {
        let (n, stride) = (self.shape_count, self.stride);
        gram[shape * stride..(shape + 1) * stride].fill(0.0);
        for (marker, _) in displacements.iter().enumerate().filter(|(_, d)| is_seen(d)) {
            let trust = self.trust(marker);
            for row in self.rows[3 * marker * stride..]
                .chunks_exact(stride)
                .take(3)
            {
                add_scaled(
                    &mut gram[shape * stride..(shape + 1) * stride],
                    trust * row[shape],
                    row,
                );
            }
        }
        for other in 0..n {
            gram[other * stride + shape] = gram[shape * stride + other];
        }
    }

    /// Moves the weights of one block of lanes, each in turn. What that does to the descent of the others waits until the
    /// block is done, so that only eight numbers lie on the way from one weight to the next.
    #[inline(always)]
    fn improve_block(&mut self, first: usize) {
        let stride = self.stride;
        let (descents, _) = self.descent.as_chunks::<ROW_LANES>();
        let mut descent = descents[first / ROW_LANES];
        let mut moves = [0.0; ROW_LANES];
        let count = self.shape_count.saturating_sub(first).min(ROW_LANES);
        let rows = &self.system[first * stride..(first + count) * stride];
        for (lane, row) in rows.chunks_exact(stride).enumerate() {
            let shape = first + lane;
            let (old, new) = (self.weights[shape], self.improved(shape, descent[lane]));
            self.weights[shape] = new;
            moves[lane] = old - new;
            let (row, _) = row.as_chunks::<ROW_LANES>();
            for (sum, entry) in descent.iter_mut().zip(&row[first / ROW_LANES]) {
                *sum += moves[lane] * entry;
            }
        }
        let (descents, _) = self.descent.as_chunks_mut::<ROW_LANES>();
        for (block, sums) in descents.iter_mut().enumerate() {
            if block == first / ROW_LANES {
                *sums = descent;
                continue;
            }
            let mut total = *sums;
            for (row, factor) in rows.chunks_exact(stride).zip(&moves) {
                let (row, _) = row.as_chunks::<ROW_LANES>();
                for (sum, entry) in total.iter_mut().zip(&row[block]) {
                    *sum += factor * entry;
                }
            }
            *sums = total;
        }
    }

    /// Where one weight goes: past the value that is best while all others stay, which converges sooner.
    #[inline(always)]
    fn improved(&self, shape: usize, descent: f64) -> f64 {
        let (old, inverse) = (self.weights[shape], self.inverse[shape]);
        let threshold = 0.5 * self.options.sparsity * self.scale * inverse;
        let mut best = old + descent * inverse;
        let mut past = old + RELAXATION * (best - old);
        if threshold > 0.0 {
            best = (best.abs() - threshold).max(0.0).copysign(best);
            past = old + RELAXATION * (best - old);
            // Beyond the kink of |w| at 0 the weight would no longer get better.
            if past * best <= 0.0 {
                past = best;
            }
        }
        let [low, high] = self.limits(shape);
        past.clamp(low, high)
    }

    /// Largest violation of the Karush-Kuhn-Tucker conditions, relative to `scale`.
    #[inline(always)]
    fn violation(&self) -> f64 {
        let threshold = 0.5 * self.options.sparsity * self.scale;
        let n = self.shape_count;
        let mut worst = 0.0_f64;
        for shape in 0..n {
            if self.inverse[shape] == 0.0 {
                continue;
            }
            let (weight, descent) = (self.weights[shape], self.descent[shape]);
            let [low, high] = self.limits(shape);
            // Slopes of descent to the right and to the left of the weight.
            let up = descent - if weight >= 0.0 { threshold } else { -threshold };
            let down = -descent - if weight <= 0.0 { threshold } else { -threshold };
            if weight < high {
                worst = worst.max(up);
            }
            if weight > low {
                worst = worst.max(down);
            }
        }
        worst / self.scale
    }

    #[inline(always)]
    fn limits(&self, shape: usize) -> [f64; 2] {
        self.options
            .limits
            .get(shape)
            .copied()
            .unwrap_or([0.0, 1.0])
    }

    #[inline(always)]
    fn trust(&self, marker: usize) -> f64 {
        self.options
            .marker_weights
            .get(marker)
            .copied()
            .unwrap_or(1.0)
    }
}

/// Adds three rows, each times a factor, to another.
#[inline(always)]
fn add_scaled_rows(sums: &mut [f64], factors: [f64; 3], rows: &[f64]) {
    let (sums, _) = sums.as_chunks_mut::<ROW_LANES>();
    let (rows, _) = rows.as_chunks::<ROW_LANES>();
    let (first, others) = rows.split_at(sums.len());
    let (second, third) = others.split_at(sums.len());
    for (((sums, x), y), z) in sums.iter_mut().zip(first).zip(second).zip(third) {
        for (((sum, x), y), z) in sums.iter_mut().zip(x).zip(y).zip(z) {
            *sum = *sum + factors[0] * x + factors[1] * y + factors[2] * z;
        }
    }
}

/// Adds `factor` times a row to another.
#[inline(always)]
fn add_scaled(sums: &mut [f64], factor: f64, row: &[f64]) {
    let (sums, _) = sums.as_chunks_mut::<ROW_LANES>();
    let (row, _) = row.as_chunks::<ROW_LANES>();
    for (sums, row) in sums.iter_mut().zip(row) {
        for (sum, entry) in sums.iter_mut().zip(row) {
            *sum += factor * entry;
        }
    }
}

#[inline(always)]
fn is_seen(displacement: &Vec3) -> bool {
    displacement.iter().all(|part| part.is_finite())
}

fn check(options: &SolveOptions, shape_count: usize, marker_count: usize) -> Result<(), SkinError> {
    let is_strength = |value: &f64| value.is_finite() && *value >= 0.0;
    let option = |what| Err(SkinError::WrongOption { what });
    let strengths = [
        options.ridge,
        options.sparsity,
        options.temporal,
        options.symmetry,
    ];
    if !strengths.iter().all(is_strength) {
        return option("a prior's strength is negative or not finite");
    }
    if ![0, shape_count].contains(&options.limits.len()) {
        return option("as many limits as shapes, or none");
    }
    if ![0, marker_count].contains(&options.marker_weights.len()) {
        return option("as many marker weights as markers, or none");
    }
    for pair in &options.pairs {
        if pair[0] == pair[1] || pair.iter().any(|shape| *shape >= shape_count) {
            let (shape, what) = (pair[0].max(pair[1]), "its pair does not exist");
            return Err(SkinError::BadShape { shape, what });
        }
    }
    let is_range = |[low, high]: &[f64; 2]| low.is_finite() && high.is_finite() && low <= high;
    if let Some(shape) = options.limits.iter().position(|limits| !is_range(limits)) {
        let what = "its limits are not finite and ascending";
        return Err(SkinError::BadShape { shape, what });
    }
    if let Some(marker) = options.marker_weights.iter().position(|w| !is_strength(w)) {
        let what = "its weight is negative or not finite";
        return Err(SkinError::BadMarker { marker, what });
    }
    Ok(())
}
