//! The bounded linear system of one step: what to solve for, and where joints must stop.
//!
//! Around a configuration the problem is min ½|e + J y|² + ½ Σ dᵢ (φᵢ + yᵢ)² with bounds on every yᵢ, where rows of
//! inequalities count only as far as they fail. Steps y are in the
//! coordinates in which limits are simple: a limited ball is turned into its swing, along and across the edge of its
//! ellipse, and its twist. Every solver of this crate takes its steps here.

mod step;

use std::ops::Range;

use anim_math::nalgebra::{Matrix2, SMatrix, SVector, Vector2};
use anim_math::random::Random;
use anim_skeleton::Turns;

use self::step::dot;
use crate::joint_model::{JointModel, nearest_angle};
use crate::{Configuration, IkProblem, Jacobian, JointValue};

/// A swing within this part of the ellipse's edge stands on it: what was put there comes apart with a few roundings.
const EDGE: f64 = 1e-9;

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
    /// How the edge that it stands on bends, 1/rad; 0 inside.
    edge: f64,
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
    /// What the errors add to second derivatives, a row a number; empty where that is left out.
    curvature: Vec<f64>,
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
        // Room for what the first solve out of reach takes, which may come late.
        for square in [&mut self.curvature, &mut self.matrix] {
            square.clear();
            square.reserve(dof * dof);
        }
        self.own_gradient.clear();
        self.own_gradient.extend_from_slice(&self.gradient);
        for (dof, sum) in self.gradient.iter_mut().enumerate() {
            let (first, part) = self.jacobian.part(dof);
            *sum += dot(part, &self.jacobian.rows.errors[first..]);
        }
        self.release();
    }

    /// From a linear model to one of second order, for errors that stay.
    pub(crate) fn add_curvature(&mut self, problem: &IkProblem<'_>) {
        self.jacobian
            .curvature(problem.mechanism, &mut self.curvature);
        for chart in &self.charts {
            let out = problem.mechanism.dofs(chart.joint).start;
            // A step along the edge is brought back onto it, against what pulls outward.
            let pull = (-self.gradient[out]).max(0.0);
            let along = out + 1;
            self.curvature[along * self.step.len() + along] += pull * chart.edge;
        }
    }

    /// S y, what the curvature adds to the gradient along a step.
    fn bend(&self, dof: usize, step: &[f64]) -> f64 {
        let row = self.curvature.chunks_exact(step.len()).nth(dof);
        row.map_or(0.0, |row| dot(row, step))
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
        let (mut axes, mut edge) = (Matrix2::identity(), 0.0);
        if radii.min() <= 0.0 {
            for k in 0..2 {
                self.lower[first + k] = room(-radii[k] - swing[k]);
                self.upper[first + k] = room(radii[k] - swing[k]);
            }
        } else if swing.component_div(&radii).norm_squared() >= 1.0 - EDGE {
            let out = swing.component_div(&radii.component_mul(&radii));
            edge = 1.0 / (radii.product() * out.norm()).powi(2) / out.norm();
            let out = out.normalize();
            axes = Matrix2::new(out.x, -out.y, out.y, out.x);
            self.upper[first] = 0.0;
        }
        let chart = Chart {
            joint,
            swing,
            twist: 0.0,
            axes,
            edge,
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
}

/// The way to a bound; a rounding error away is there.
fn room(way: f64) -> f64 {
    if way.abs() < 1e-12 { 0.0 } else { way }
}
