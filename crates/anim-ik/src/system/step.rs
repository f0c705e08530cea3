//! Solving for one step: damped, within bounds, with inequalities that hold on the way.

use super::System;
use crate::cholesky;

/// Solutions of one step at most, each with what the last one would break.
const PASSES: usize = 3;

impl System {
    /// Sets `step` to the minimum with a damping of `mu` on every number, each bound heeded; false if there is none.
    ///
    /// What a solution would take beyond a bound is put on it, an inequality it would break becomes a row, and the rest is
    /// solved again, twice at most, then clamped.
    pub(crate) fn solve(&mut self, mu: f64) -> bool {
        self.step.fill(0.0);
        self.release();
        self.active.clear();
        let mut is_solved = true;
        for pass in 0..PASSES {
            is_solved = self.solve_free(mu);
            let is_last = pass + 1 == PASSES;
            if !is_solved || !(self.hold_at_bounds(is_last) | self.meet_inequalities()) {
                break;
            }
        }
        for slack in self.active.drain(..) {
            self.jacobian.set_slack(slack, false);
        }
        is_solved
    }

    /// Puts what is beyond a bound on it; true if there was any. In the last pass nothing is held for another.
    fn hold_at_bounds(&mut self, is_last: bool) -> bool {
        let mut is_any = false;
        for dof in 0..self.step.len() {
            let bounded = self.bounded(dof, self.step[dof]);
            if bounded != self.step[dof] {
                self.step[dof] = bounded;
                self.free[dof] = is_last;
                is_any = true;
            }
        }
        is_any
    }

    /// Takes up the inequalities that hold now and would not after the step; true if there were any.
    fn meet_inequalities(&mut self) -> bool {
        let before = self.active.len();
        for slack in 0..self.jacobian.rows.slacks.len() {
            if !self.active.contains(&slack) && self.shortfall(slack) > 0.0 {
                self.active.push(slack);
                self.jacobian.set_slack(slack, true);
            }
        }
        self.active.len() > before
    }

    /// By how much the step overdraws a slack.
    fn shortfall(&self, slack: usize) -> f64 {
        let dof = self.step.len();
        let row = &self.jacobian.slack_rows[slack * dof..(slack + 1) * dof];
        -(self.jacobian.rows.slacks[slack].1 + dot(row, &self.step))
    }

    /// The step of steepest descent with the length that is best for the linear model: α = |g|² / |J g|², bounds heeded.
    ///
    /// For goals alone g = Jᵀe, and this is ⟨e, J Jᵀ e⟩ / |J Jᵀ e|². Source: Buss 2004, equation 10.
    pub(crate) fn solve_gradient(&mut self) {
        for dof in 0..self.step.len() {
            let along = if self.free[dof] {
                self.gradient[dof]
            } else {
                0.0
            };
            self.step[dof] = -along * self.flexibility[dof];
        }
        let slope = -dot(&self.step, &self.gradient);
        let curvature = 2.0 * (self.predicted_decrease() - slope).abs();
        let length = if curvature > 0.0 {
            slope / curvature
        } else {
            0.0
        };
        for dof in 0..self.step.len() {
            self.step[dof] = self.bounded(dof, self.step[dof] * length);
        }
    }

    /// Shortens the step so that no joint turns by more than a radian or moves by more than a metre.
    pub(crate) fn cap(&mut self) {
        let largest = self.step.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        if largest > 1.0 {
            self.step.iter_mut().for_each(|y| *y /= largest);
        }
    }

    /// By how much the linear model lowers the cost along `step`: −g·y − ½|J y|² − ½ Σ dᵢ yᵢ².
    pub(crate) fn predicted_decrease(&mut self) -> f64 {
        self.image.clear();
        self.image.resize(self.jacobian.rows.errors.len(), 0.0);
        let mut sum = 0.0;
        for (dof, y) in self.step.iter().enumerate().filter(|(_, y)| **y != 0.0) {
            let (first, part) = self.jacobian.part(dof);
            for (image, value) in self.image[first..].iter_mut().zip(part) {
                *image += value * y;
            }
            let bend = self.diagonal[dof] * y + self.bend(dof, &self.step);
            sum -= (self.gradient[dof] + 0.5 * bend) * y;
        }
        let slacks = 0..self.jacobian.rows.slacks.len();
        let overdrawn = slacks.map(|slack| self.shortfall(slack).max(0.0));
        let overdrawn: f64 = overdrawn.map(|short| short * short).sum();
        sum - 0.5 * (dot(&self.image, &self.image) + overdrawn)
    }

    /// Solves for the free part of the step, on the smaller side; what is not free stays as it is.
    ///
    /// With D = (posture's second derivatives + μ) / flexibility², the step is −D⁻¹(r + Jᵀ w), where r is the part of the
    /// gradient that is not of rows and w = (I + J D⁻¹ Jᵀ)⁻¹ (e − J D⁻¹ r): no two large numbers cancel.
    fn solve_free(&mut self, mu: f64) -> bool {
        let count = self.jacobian.rows.errors.len();
        // The errors that the held part of the step leaves.
        self.image.clear();
        self.image.extend_from_slice(&self.jacobian.rows.errors);
        for slack in &self.active {
            let (row, gap) = self.jacobian.rows.slacks[*slack];
            self.image[row] = gap;
        }
        for (dof, y) in self.step.iter().enumerate() {
            if !self.free[dof] && *y != 0.0 {
                let (first, part) = self.jacobian.part(dof);
                axpy(&mut self.image[first..], *y, part);
            }
        }
        self.places.clear();
        self.places
            .extend((0..self.step.len()).filter(|dof| self.free[*dof]));
        for dof in &self.places {
            self.step[*dof] = 0.0;
        }
        if self.places.is_empty() {
            return true;
        }
        if count <= self.places.len() && self.curvature.is_empty() {
            self.solve_by_rows(mu)
        } else {
            self.solve_by_columns(mu)
        }
    }

    fn damping(&self, dof: usize, mu: f64) -> f64 {
        let flexibility = self.flexibility[dof];
        self.diagonal[dof] + mu / (flexibility * flexibility)
    }

    fn solve_by_rows(&mut self, mu: f64) -> bool {
        let count = self.jacobian.rows.errors.len();
        self.matrix.clear();
        self.matrix.resize(count * count, 0.0);
        self.right.clear();
        self.right.extend_from_slice(&self.image);
        // Everything times the damping, so that a small one makes no large numbers.
        let scale = self.places.iter().fold(f64::INFINITY, |least, dof| {
            least.min(self.damping(*dof, mu))
        });
        for dof in &self.places {
            let (first, part) = self.jacobian.part(*dof);
            let compliance = scale / self.damping(*dof, mu);
            let own = self.own_gradient[*dof];
            if own != 0.0 {
                axpy(&mut self.right[first..], -own * compliance / scale, part);
            }
            for (row, value) in part.iter().enumerate() {
                let at = (first + row) * count + first + row;
                axpy(&mut self.matrix[at..], value * compliance, &part[row..]);
            }
        }
        for row in 0..count {
            self.matrix[row * count + row] += scale;
        }
        if !cholesky::solve(&mut self.matrix, &mut self.right) {
            return false;
        }
        for place in 0..self.places.len() {
            let dof = self.places[place];
            let (first, part) = self.jacobian.part(dof);
            let pull = dot(part, &self.right[first..]) * scale;
            self.step[dof] = -(self.own_gradient[dof] + pull) / self.damping(dof, mu);
        }
        true
    }

    fn solve_by_columns(&mut self, mu: f64) -> bool {
        let count = self.places.len();
        self.matrix.clear();
        self.matrix.resize(count * count, 0.0);
        self.right.clear();
        for (row, dof) in self.places.iter().enumerate() {
            let (first, part) = self.jacobian.part(*dof);
            let end = first + part.len();
            let bends = self.curvature.chunks_exact(self.step.len()).nth(*dof);
            for (offset, other) in self.places[row..].iter().enumerate() {
                let entry = &mut self.matrix[row * count + row + offset];
                *entry = bends.map_or(0.0, |bends| bends[*other]);
                let (other_first, other_part) = self.jacobian.part(*other);
                let from = first.max(other_first);
                let to = end.min(other_first + other_part.len());
                if from < to {
                    let a = &part[from - first..to - first];
                    *entry += dot(a, &other_part[from - other_first..]);
                }
            }
            self.matrix[row * count + row] += self.damping(*dof, mu);
            let held = self.bend(*dof, &self.step);
            let own = self.own_gradient[*dof] + held;
            self.right.push(-own - dot(part, &self.image[first..]));
        }
        if !cholesky::solve(&mut self.matrix, &mut self.right) {
            return false;
        }
        for (dof, y) in self.places.iter().zip(&self.right) {
            self.step[*dof] = *y;
        }
        true
    }
}

/// Σ aᵢ bᵢ over the shorter of the two, in four sums so that one addition need not wait for the last.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (a[..length].chunks_exact(4), b[..length].chunks_exact(4));
    let rest = a.remainder().iter().zip(b.remainder());
    let rest = rest.fold(0.0, |sum, (a, b)| sum + a * b);
    let sums = a.zip(b).fold([0.0; 4], |sums, (a, b)| {
        std::array::from_fn(|k| sums[k] + a[k] * b[k])
    });
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// out += factor · values.
fn axpy(out: &mut [f64], factor: f64, values: &[f64]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out += factor * value;
    }
}
