//! Least squares on the simplex: the exact weights of one vertex, and the best of few.
//!
//! min ‖A·w − b‖² over w ≥ 0, Σ w = 1 is the question behind every fit of skin weights: the columns of A are where each
//! joint would take the vertex in all poses, b is where it went. It is answered from the n × n normal equations by an
//! active set whose answer meets the optimality conditions, not by a fixed number of steps; and if at most k weights may
//! differ from 0, by removing the cheapest and exchanging until no exchange helps.
//!
//! ```
//! use anim_skin::weights::{Quadratic, SimplexFit};
//!
//! // The point of the triangle (0, 0), (4, 0), (0, 4) that is nearest to (1, 5): (0, 4).
//! let (gram, linear) = Quadratic::of_least_squares(&[0.0, 4.0, 0.0, 0.0, 0.0, 4.0], &[1.0, 5.0]);
//! let mut row = Vec::new();
//! SimplexFit::default().solve(Quadratic { gram: &gram, linear: &linear }, &[0, 1, 2], 3, &mut row);
//! assert_eq!(row, [(2, 1.0)]);
//! ```

/// The objective ½ wᵀ·G·w − cᵀ·w of n weights.
#[derive(Clone, Copy, Debug)]
pub struct Quadratic<'a> {
    /// G, n × n, symmetric and positive semidefinite.
    pub gram: &'a [f64],
    /// c, n.
    pub linear: &'a [f64],
}

impl Quadratic<'_> {
    /// G = AᵀA and c = Aᵀb of ‖A·w − b‖² / 2, less the constant ‖b‖² / 2; `a` holds m rows of n entries, `b` m.
    ///
    /// # Panics
    ///
    /// If `a` is no m × n matrix.
    pub fn of_least_squares(a: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = a.len().checked_div(b.len()).unwrap_or(0);
        assert_eq!(n * b.len(), a.len(), "rows of A for entries of b");
        let (mut gram, mut linear) = (vec![0.0; n * n], vec![0.0; n]);
        for (row, b) in a.chunks_exact(n.max(1)).zip(b) {
            for (j, a_j) in row.iter().enumerate() {
                linear[j] += a_j * b;
                for (k, a_k) in row.iter().enumerate() {
                    gram[j * n + k] += a_j * a_k;
                }
            }
        }
        (gram, linear)
    }

    fn entry(&self, j: u16, k: u16) -> f64 {
        self.gram[usize::from(j) * self.linear.len() + usize::from(k)]
    }

    /// G·w − c at `joint`.
    pub fn gradient(&self, row: &[(u16, f64)], joint: u16) -> f64 {
        let product: f64 = row.iter().map(|(k, w)| self.entry(joint, *k) * w).sum();
        product - self.linear[usize::from(joint)]
    }

    /// The objective at `row`.
    pub fn value(&self, row: &[(u16, f64)]) -> f64 {
        row.iter()
            .map(|(j, w)| {
                let linear = self.linear[usize::from(*j)];
                w * 0.5 * (self.gradient(row, *j) - linear)
            })
            .sum()
    }
}

/// Solves one small simplex problem after another; owns the scratch.
#[derive(Clone, Debug, Default)]
pub struct SimplexFit {
    /// Lower triangular factor of the free weights' matrix.
    factor: Vec<f64>,
    target: Vec<f64>,
    ones: Vec<f64>,
    blocked: Vec<u16>,
}

/// Entries of a row: joints, each once, with their weights.
type Row = Vec<(u16, f64)>;

impl SimplexFit {
    /// Finds the row that minimises `objective` over the simplex of `candidates`, with at most `at_most` (≥ 1) entries.
    ///
    /// `row` is the start, by its entries that are candidates, and becomes the answer: joints ascending, weights above 0
    /// whose sum is 1 but for rounding. Returns the objective there. Without a binding `at_most` the answer is the
    /// optimum, to a gradient of 10⁻¹³ of the largest entry of G; with one it is no worse than the optimum over the
    /// start's own entries, and no single exchange with the steepest candidates improves it. No candidates leave no entries.
    ///
    /// Some 2 µs for 20 candidates. Candidates whose columns differ by less than 10⁻⁷ of their size count as one.
    ///
    /// Source: Wolfe, "Finding the nearest point in a polytope", 1976 (the active set, for its linear term extended);
    /// Lawson and Hanson, "Solving least squares problems", 1974, chapter 23.
    pub fn solve(
        &mut self,
        objective: Quadratic<'_>,
        candidates: &[u16],
        at_most: usize,
        row: &mut Row,
    ) -> f64 {
        let at_most = at_most.max(1);
        row.retain(|(joint, weight)| *weight > 0.0 && candidates.contains(joint));
        let start = row.clone();
        let mut value = self.active_set(objective, candidates, row);
        if row.len() > at_most {
            value = self.eliminate(objective, at_most, row);
            if (1..=at_most).contains(&start.len()) {
                let mut kept = start;
                let support: Vec<u16> = kept.iter().map(|(joint, _)| *joint).collect();
                let kept_value = self.active_set(objective, &support, &mut kept);
                if kept_value < value {
                    (value, *row) = (kept_value, kept);
                }
            }
            value = self.exchange(objective, candidates, at_most, row, value);
        }
        row.sort_by_key(|(joint, _)| *joint);
        value
    }

    /// The optimum over the simplex of `candidates`, from `row` or, without entries, from the best single candidate.
    fn active_set(&mut self, objective: Quadratic<'_>, candidates: &[u16], row: &mut Row) -> f64 {
        let scale = scale_of(objective, candidates);
        let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
        row.iter_mut().for_each(|(_, weight)| *weight /= sum);
        if row.is_empty() {
            let alone = |j: &u16| 0.5 * objective.entry(*j, *j) - objective.linear[usize::from(*j)];
            let best = candidates
                .iter()
                .min_by(|a, b| alone(a).total_cmp(&alone(b)));
            row.extend(best.map(|joint| (*joint, 1.0)));
        }
        self.blocked.clear();
        self.descend(objective, scale, row);
        let mut value = objective.value(row);
        // Every pass lowers the objective, so no set of free weights comes back; the bound is against rounding.
        for _ in 0..4 * candidates.len() {
            let Some(joint) = self.steepest(objective, candidates, scale, row) else {
                break;
            };
            let before = row.clone();
            row.push((joint, 0.0));
            self.descend(objective, scale, row);
            let lower = objective.value(row);
            if lower < value {
                value = lower;
            } else {
                row.clone_from(&before);
                self.blocked.push(joint);
            }
        }
        value
    }

    /// The candidate outside of `row` along which the objective falls most, beyond rounding.
    fn steepest(
        &self,
        objective: Quadratic<'_>,
        candidates: &[u16],
        scale: f64,
        row: &Row,
    ) -> Option<u16> {
        let level: f64 = row
            .iter()
            .map(|(joint, weight)| weight * objective.gradient(row, *joint))
            .sum();
        let mut best = (None, level - 1e-13 * scale);
        for joint in candidates {
            let outside =
                !self.blocked.contains(joint) && row.iter().all(|(other, _)| other != joint);
            let slope = objective.gradient(row, *joint);
            if outside && slope < best.1 {
                best = (Some(*joint), slope);
            }
        }
        best.0
    }

    /// Minimises over the entries of `row`, dropping those that would turn negative on the way.
    fn descend(&mut self, objective: Quadratic<'_>, scale: f64, row: &mut Row) {
        while row.len() > 1 {
            if !self.factorise(objective, scale, row) {
                // The newest entry adds nothing to the others.
                if let Some((joint, weight)) = row.pop() {
                    self.blocked.push(joint);
                    row.iter_mut().for_each(|(_, w)| *w /= 1.0 - weight);
                }
                continue;
            }
            self.target.clear();
            self.target
                .extend(row.iter().map(|(j, _)| objective.linear[usize::from(*j)]));
            self.solve_factored_target();
            let spare = 1.0 - self.target.iter().sum::<f64>();
            let share = spare / self.ones.iter().sum::<f64>();
            let mut step = 1.0;
            let mut stops = None;
            for (place, ((_, weight), (y, one))) in row
                .iter()
                .zip(self.target.iter_mut().zip(&self.ones))
                .enumerate()
            {
                *y += share * one;
                if *y <= 0.0 {
                    let reach = if *weight > 0.0 {
                        *weight / (*weight - *y)
                    } else {
                        0.0
                    };
                    if reach < step || stops.is_none() {
                        (step, stops) = (reach, Some(place));
                    }
                }
            }
            for ((_, weight), y) in row.iter_mut().zip(&self.target) {
                *weight += step * (*y - *weight);
            }
            let Some(place) = stops else {
                return;
            };
            row.remove(place);
            row.iter_mut().for_each(|(_, w)| *w = w.max(0.0));
            let sum: f64 = row.iter().map(|(_, w)| w).sum();
            row.iter_mut().for_each(|(_, w)| *w /= sum);
        }
        row.iter_mut().for_each(|(_, weight)| *weight = 1.0);
    }

    /// Factors G + σ·11ᵀ over the entries of `row`, and solves it for 1; false if they are affinely dependent.
    ///
    /// The added term is constant on the simplex, and makes the matrix definite even where b is hit exactly.
    fn factorise(&mut self, objective: Quadratic<'_>, scale: f64, row: &Row) -> bool {
        let n = row.len();
        self.factor.clear();
        self.factor.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                let mut sum = objective.entry(row[i].0, row[j].0) + scale;
                for k in 0..j {
                    sum -= self.factor[i * n + k] * self.factor[j * n + k];
                }
                if i > j {
                    self.factor[i * n + j] = sum / self.factor[j * n + j];
                } else if sum > 4.0 * f64::EPSILON * n as f64 * scale {
                    self.factor[i * n + i] = sum.sqrt();
                } else {
                    return false;
                }
            }
        }
        self.ones.clear();
        self.ones.resize(n, 1.0);
        back_substitute(&self.factor, &mut self.ones);
        true
    }

    fn solve_factored_target(&mut self) {
        back_substitute(&self.factor, &mut self.target);
    }

    /// Removes the entry whose loss costs least, until `at_most` are left; returns the objective.
    fn eliminate(&mut self, objective: Quadratic<'_>, at_most: usize, row: &mut Row) -> f64 {
        while row.len() > at_most {
            let joints: Vec<u16> = row.iter().map(|(joint, _)| *joint).collect();
            let cheapest = self.cheapest(objective, scale_of(objective, &joints), row);
            row.remove(cheapest);
            let support: Vec<u16> = row.iter().map(|(joint, _)| *joint).collect();
            self.active_set(objective, &support, row);
        }
        objective.value(row)
    }

    /// The entry of an optimal `row` whose removal raises the objective least: by w² / 2N, N the projected inverse's diagonal.
    fn cheapest(&mut self, objective: Quadratic<'_>, scale: f64, row: &Row) -> usize {
        let factored = self.factorise(objective, scale, row);
        let total: f64 = self.ones.iter().sum();
        let mut best = (0, f64::INFINITY);
        for (place, (_, weight)) in row.iter().enumerate() {
            let mut cost = weight * weight;
            if factored {
                self.target.clear();
                self.target.resize(row.len(), 0.0);
                self.target[place] = 1.0;
                self.solve_factored_target();
                let one = self.ones[place];
                cost /= (self.target[place] - one * one / total).max(f64::MIN_POSITIVE);
            }
            if cost < best.1 {
                best = (place, cost);
            }
        }
        best.0
    }

    /// Lets the steepest candidates in, one at a time, while the best `at_most` of the larger set are better.
    fn exchange(
        &mut self,
        objective: Quadratic<'_>,
        candidates: &[u16],
        at_most: usize,
        row: &mut Row,
        mut value: f64,
    ) -> f64 {
        let scale = scale_of(objective, candidates);
        let mut tried: Vec<u16> = Vec::new();
        while tried.len() < EXCHANGES {
            self.blocked.clone_from(&tried);
            let Some(joint) = self.steepest(objective, candidates, scale, row) else {
                break;
            };
            tried.push(joint);
            let mut trial = row.clone();
            trial.push((joint, 0.0));
            let support: Vec<u16> = trial.iter().map(|(joint, _)| *joint).collect();
            trial.pop();
            self.active_set(objective, &support, &mut trial);
            let lower = self.eliminate(objective, at_most, &mut trial);
            if lower < value - 1e-12 * value.abs() {
                (value, *row) = (lower, trial);
            }
        }
        value
    }
}

/// How many candidates an answer of few entries is tried to be exchanged with.
const EXCHANGES: usize = 3;

/// The largest entry of G and c among `candidates`; never 0.
fn scale_of(objective: Quadratic<'_>, candidates: &[u16]) -> f64 {
    candidates.iter().fold(f64::MIN_POSITIVE * 1e20, |most, j| {
        let linear = objective.linear[usize::from(*j)].abs();
        most.max(objective.entry(*j, *j)).max(linear)
    })
}

/// Solves L·Lᵀ·x = b in place.
fn back_substitute(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        for k in 0..i {
            x[i] -= factor[i * n + k] * x[k];
        }
        x[i] /= factor[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= factor[k * n + i] * x[k];
        }
        x[i] /= factor[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fit(a: &[f64], b: &[f64], at_most: usize) -> (Row, f64) {
        let (gram, linear) = Quadratic::of_least_squares(a, b);
        let n = linear.len() as u16;
        let objective = Quadratic {
            gram: &gram,
            linear: &linear,
        };
        let mut row = Vec::new();
        let candidates: Vec<u16> = (0..n).collect();
        let value = SimplexFit::default().solve(objective, &candidates, at_most, &mut row);
        (row, 2.0 * value + b.iter().map(|b| b * b).sum::<f64>())
    }

    #[test]
    fn a_point_inside_a_tetrahedron_has_its_barycentric_coordinates() {
        let corners = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let (row, error) = fit(&corners, &[0.1, 0.2, 0.3], 4);
        for ((_, found), expected) in row.iter().zip([0.4, 0.1, 0.2, 0.3]) {
            assert!((found - expected).abs() < 1e-14);
        }
        assert!(error.abs() < 1e-14);
    }

    #[test]
    fn a_point_beyond_an_edge_lands_on_its_foot() {
        // The foot of (2, 3) on the line from (4, 0) to (0, 4) is (1.5, 2.5), √½ away.
        let (row, error) = fit(&[0.0, 4.0, 0.0, 0.0, 0.0, 4.0], &[2.0, 3.0], 3);
        assert_eq!(row.len(), 2);
        assert!((row[0].1 - 0.375).abs() < 1e-14 && (row[1].1 - 0.625).abs() < 1e-14);
        assert!((error - 0.5).abs() < 1e-13);
    }

    #[test]
    fn few_entries_are_the_best_of_all_choices_on_a_square() {
        // With three corners (0.75, 0.75) is inside; with two the diagonal passes through it.
        let square = [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let (row, error) = fit(&square, &[0.75, 0.75], 2);
        let joints: Vec<u16> = row.iter().map(|(joint, _)| *joint).collect();
        assert_eq!(joints, [0, 2]);
        assert!(error.abs() < 1e-14);
        assert_eq!(fit(&square, &[0.75, 0.75], 1).0, [(2, 1.0)]);
    }

    #[test]
    fn equal_columns_and_zero_problems_have_an_answer() {
        let (row, error) = fit(&[1.0, 1.0, 1.0], &[3.0], 3);
        assert!((row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((error - 4.0).abs() < 1e-14);
        assert_eq!(fit(&[0.0; 6], &[0.0; 2], 3).0.len(), 1);
        assert!(fit(&[], &[0.0; 2], 3).0.is_empty());
    }

    proptest! {
        #[test]
        fn the_answer_meets_the_optimality_conditions(
            a in prop::collection::vec(-1.0_f64..1.0, 12 * 9),
            b in prop::collection::vec(-2.0_f64..2.0, 12),
        ) {
            let (row, _) = fit(&a, &b, 9);
            let (gram, linear) = Quadratic::of_least_squares(&a, &b);
            let objective = Quadratic { gram: &gram, linear: &linear };
            let sum: f64 = row.iter().map(|(_, w)| w).sum();
            prop_assert!((sum - 1.0).abs() < 1e-14);
            let level = objective.gradient(&row, row[0].0);
            for joint in 0..9 {
                let slope = objective.gradient(&row, joint) - level;
                let weight = row.iter().find(|(j, _)| *j == joint).map(|(_, w)| *w);
                match weight {
                    Some(weight) => prop_assert!(weight > 0.0 && slope.abs() < 1e-10),
                    None => prop_assert!(slope > -1e-10),
                }
            }
        }

        #[test]
        fn few_entries_never_beat_many_nor_lose_to_their_start(
            a in prop::collection::vec(-1.0_f64..1.0, 8 * 6),
            b in prop::collection::vec(-0.5_f64..0.5, 8),
        ) {
            let (all, least) = fit(&a, &b, 6);
            let (row, error) = fit(&a, &b, 2);
            prop_assert!(row.len() <= 2 && error >= least - 1e-12);
            if all.len() <= 2 {
                prop_assert_eq!(&row, &all);
            }
            // From the optimum of any pair it ends no higher.
            let (gram, linear) = Quadratic::of_least_squares(&a, &b);
            let objective = Quadratic { gram: &gram, linear: &linear };
            for (j, k) in (0..6_u16).flat_map(|j| (0..j).map(move |k| (j, k))) {
                let mut row = Vec::new();
                let pair = SimplexFit::default().solve(objective, &[j, k], 2, &mut row);
                let value =
                    SimplexFit::default().solve(objective, &[0, 1, 2, 3, 4, 5], 2, &mut row);
                prop_assert!(row.len() <= 2 && value <= pair + 1e-12);
            }
        }
    }
}
