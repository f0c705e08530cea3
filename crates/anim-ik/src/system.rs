//! The bounded linear system of one step: what to solve for, and where joints must stop.
//!
//! Around a configuration the problem is min ½|e + J y|² + ½ Σ dᵢ (φᵢ + yᵢ)² with bounds on every yᵢ, where rows of
//! inequalities count only as far as they fail. Steps y are in the
//! coordinates in which limits are simple: a limited ball is turned into its swing, along and across the edge of its
//! ellipse, and its twist. Every solver of this crate takes its steps here.

use std::ops::Range;

use anim_math::nalgebra::{Matrix2, SMatrix, SVector, Vector2};
use anim_math::random::Random;
use anim_skeleton::Turns;

use crate::joint_model::{JointModel, nearest_angle};
use crate::{Configuration, IkProblem, Jacobian, JointValue, cholesky};

/// A swing within this part of the ellipse's edge stands on it: what was put there comes apart with a few roundings.
const EDGE: f64 = 1e-9;

/// Solutions of one step at most, each with what the last one would break.
const PASSES: usize = 3;

/// Rad or metres at most, to either side.
const KICK: f32 = 0.1;

/// A joint whose coordinates are its swing and perhaps its twist.
#[derive(Clone, Copy, Debug)]
struct Chart {
    joint: usize,
    swing: Vector2<f64>,
    twist: f64,
    /// Its columns are what the first two numbers of a step do to the swing: outward and along the edge.
    axes: Matrix2<f64>,
}

/// The step problem, and scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) jacobian: Jacobian,
    charts: Vec<Chart>,
    /// Of the cost.
    pub(crate) gradient: Vec<f64>,
    /// What of it is the posture's.
    own_gradient: Vec<f64>,
    /// Second derivatives of the posture's cost.
    diagonal: Vec<f64>,
    /// How far a step may go.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Willingness to move, 1 − stiffness.
    flexibility: Vec<f64>,
    /// What the next step may move.
    free: Vec<bool>,
    pub(crate) step: Vec<f64>,
    /// J · step.
    image: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    places: Vec<usize>,
    /// Slacks that the step being solved for would overdraw.
    active: Vec<usize>,
}

impl System {
    /// Derives the system at `configuration`, whose rows stand in the Jacobian.
    pub(crate) fn derive(&mut self, problem: &IkProblem<'_>, configuration: &Configuration) {
        let mechanism = problem.mechanism;
        let dof = mechanism.dof();
        self.jacobian.derive(problem, configuration);
        let weight = problem.posture.map_or(0.0, |posture| posture.weight);
        let weight = weight * weight;
        for (buffer, value) in [
            (&mut self.lower, f64::NEG_INFINITY),
            (&mut self.upper, f64::INFINITY),
            (&mut self.flexibility, 1.0),
            (&mut self.diagonal, weight),
            (&mut self.gradient, 0.0),
            (&mut self.step, 0.0),
        ] {
            buffer.clear();
            buffer.resize(dof, value);
        }
        for (sum, off) in self.gradient.iter_mut().zip(&self.jacobian.rows.posture) {
            *sum = off * weight;
        }
        for (joint, stiffness) in problem.stiffness.iter().enumerate() {
            self.flexibility[mechanism.dofs(joint)].fill(1.0 - stiffness);
        }
        self.charts.clear();
        let joints = mechanism.models().iter().zip(configuration.values());
        for (joint, (model, value)) in joints.enumerate() {
            let first = mechanism.dofs(joint).start;
            match (model, value) {
                (
                    JointModel::Hinge {
                        range: [low, high], ..
                    },
                    JointValue::Angle(at),
                )
                | (
                    JointModel::Prismatic {
                        range: [low, high], ..
                    },
                    JointValue::Distance(at),
                ) => {
                    self.lower[first] = room(low - at);
                    self.upper[first] = room(high - at);
                }
                (JointModel::Universal(turns), JointValue::Swing(swing)) => {
                    let chart = self.bound_swing(turns, joint, first, *swing);
                    self.change_coordinates(first, &chart.axes, weight);
                }
                (JointModel::Ball(turns), JointValue::Rotation(rotation)) => {
                    let (swing, twist) = turns.split(*rotation);
                    let chart = self.bound_swing(turns, joint, first, swing);
                    let twist = nearest_angle(twist, turns.twist);
                    if let Some(last) = self.charts.last_mut() {
                        last.twist = twist;
                    }
                    self.lower[first + 2] = room(turns.twist[0] - twist);
                    self.upper[first + 2] = room(turns.twist[1] - twist);
                    let mut matrix = JointModel::chart(turns, swing, twist);
                    let leaning = matrix.fixed_columns::<2>(0) * chart.axes;
                    matrix.fixed_columns_mut::<2>(0).copy_from(&leaning);
                    self.change_coordinates(first, &matrix, weight);
                }
                _ => {}
            }
        }
        self.own_gradient.clear();
        self.own_gradient.extend_from_slice(&self.gradient);
        for (dof, sum) in self.gradient.iter_mut().enumerate() {
            let (first, part) = self.jacobian.part(dof);
            *sum += dot(part, &self.jacobian.rows.errors[first..]);
        }
        self.release();
    }

    /// Frees all that may move: what is not locked and would not leave its limits down the gradient.
    fn release(&mut self) {
        self.free.clear();
        for dof in 0..self.gradient.len() {
            let outward = (self.gradient[dof] > 0.0 && self.lower[dof] >= 0.0)
                || (self.gradient[dof] < 0.0 && self.upper[dof] <= 0.0);
            self.free.push(self.flexibility[dof] > 0.0 && !outward);
        }
    }

    /// True if a number of `dofs` that has room to move at all is at a limit.
    pub(crate) fn is_at_limit(&self, dofs: Range<usize>) -> bool {
        let mut dofs = dofs;
        dofs.any(|dof| {
            let (lower, upper) = (self.lower[dof], self.upper[dof]);
            lower < upper && (lower >= 0.0 || upper <= 0.0)
        })
    }

    /// Sets `step` to a small random one, to leave a place where the gradient vanishes.
    pub(crate) fn kick(&mut self, random: &mut Random) {
        for dof in 0..self.step.len() {
            let kick = f64::from(random.range(-KICK, KICK)) * self.flexibility[dof];
            self.step[dof] = self.bounded(dof, kick);
        }
    }

    fn bounded(&self, dof: usize, step: f64) -> f64 {
        step.clamp(self.lower[dof].min(0.0), self.upper[dof].max(0.0))
    }

    /// The largest part of the gradient that a step can follow.
    pub(crate) fn free_gradient(&self) -> f64 {
        let each = self.gradient.iter().zip(&self.free);
        let along = each.filter(|(_, free)| **free).map(|(g, _)| g.abs());
        along.fold(0.0, f64::max)
    }

    /// True if what is left of the errors is at right angles to all that free joints can do about it, as far as the part
    /// `tolerance` of both.
    ///
    /// A large error has a large gradient until the last digit: out of reach, only the ratio tells that one is there.
    pub(crate) fn is_stationary(&self, tolerance: f64) -> bool {
        let rows = &self.jacobian.rows.errors;
        let columns = (0..self.free.len()).filter(|dof| self.free[*dof]);
        let squares = columns.map(|dof| {
            let (_, part) = self.jacobian.part(dof);
            dot(part, part)
        });
        let largest = squares.fold(0.0, f64::max);
        self.free_gradient() <= tolerance * (dot(rows, rows) * largest).sqrt()
    }

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
            sum -= self.gradient[dof] * y + 0.5 * self.diagonal[dof] * y * y;
        }
        let slacks = 0..self.jacobian.rows.slacks.len();
        let overdrawn = slacks.map(|slack| self.shortfall(slack).max(0.0));
        let overdrawn: f64 = overdrawn.map(|short| short * short).sum();
        sum - 0.5 * (dot(&self.image, &self.image) + overdrawn)
    }

    /// Takes the step from `from`, the configuration the system is of; within limits, to `to`.
    pub(crate) fn apply(
        &self,
        problem: &IkProblem<'_>,
        from: &Configuration,
        to: &mut Configuration,
    ) {
        let mechanism = problem.mechanism;
        to.base = from.base;
        let joints = mechanism.models().iter().zip(from.values());
        let mut charts = self.charts.iter().peekable();
        for (joint, ((model, value), out)) in joints.zip(to.values_mut()).enumerate() {
            let step = &self.step[mechanism.dofs(joint)];
            let chart = charts.next_if(|chart| chart.joint == joint);
            *out = match (model, chart) {
                _ if step.iter().all(|y| *y == 0.0) => *value,
                (JointModel::Universal(turns), Some(chart)) => {
                    let swing = chart.swing + chart.axes * Vector2::new(step[0], step[1]);
                    JointValue::Swing(turns.nearest_swing(swing))
                }
                (JointModel::Ball(turns), Some(chart)) => {
                    let swing = chart.swing + chart.axes * Vector2::new(step[0], step[1]);
                    let twist = nearest_angle(chart.twist + step[2], turns.twist);
                    JointValue::Rotation(turns.join(turns.nearest_swing(swing), twist))
                }
                _ => model.clamp(&value.plus(step)),
            };
        }
    }

    /// Bounds the swing of a joint and remembers its coordinates.
    fn bound_swing(
        &mut self,
        turns: &Turns,
        joint: usize,
        first: usize,
        swing: Vector2<f64>,
    ) -> Chart {
        let radii = Vector2::from(turns.swing);
        let mut axes = Matrix2::identity();
        if radii.min() <= 0.0 {
            for k in 0..2 {
                self.lower[first + k] = room(-radii[k] - swing[k]);
                self.upper[first + k] = room(radii[k] - swing[k]);
            }
        } else if swing.component_div(&radii).norm_squared() >= 1.0 - EDGE {
            let out = swing
                .component_div(&radii.component_mul(&radii))
                .normalize();
            axes = Matrix2::new(out.x, -out.y, out.y, out.x);
            self.upper[first] = 0.0;
        }
        let chart = Chart {
            joint,
            swing,
            twist: 0.0,
            axes,
        };
        self.charts.push(chart);
        chart
    }

    /// Takes the columns, the posture's gradient and its second derivatives to other coordinates of N numbers.
    fn change_coordinates<const N: usize>(
        &mut self,
        first: usize,
        matrix: &SMatrix<f64, N, N>,
        weight: f64,
    ) {
        let dofs = first..first + N;
        self.jacobian.combine(dofs.clone(), matrix);
        let gradient = &mut self.gradient[dofs.clone()];
        let new = matrix.tr_mul(&SVector::<f64, N>::from_column_slice(gradient));
        gradient.copy_from_slice(new.as_slice());
        for (diagonal, column) in self.diagonal[dofs].iter_mut().zip(matrix.column_iter()) {
            *diagonal = weight * column.norm_squared();
        }
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
        if self.places.is_empty() {
            return true;
        }
        if count <= self.places.len() {
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
            for (offset, other) in self.places[row..].iter().enumerate() {
                let (other_first, other_part) = self.jacobian.part(*other);
                let from = first.max(other_first);
                let to = end.min(other_first + other_part.len());
                if from < to {
                    let a = &part[from - first..to - first];
                    self.matrix[row * count + row + offset] =
                        dot(a, &other_part[from - other_first..]);
                }
            }
            self.matrix[row * count + row] += self.damping(*dof, mu);
            self.right
                .push(-self.own_gradient[*dof] - dot(part, &self.image[first..]));
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

/// The way to a bound; a rounding error away is there.
fn room(way: f64) -> f64 {
    if way.abs() < 1e-12 { 0.0 } else { way }
}

/// Σ aᵢ bᵢ over the shorter of the two, in four sums so that one addition need not wait for the last.
fn dot(a: &[f64], b: &[f64]) -> f64 {
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
