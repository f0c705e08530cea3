//! The analytic geometric Jacobian of all goals: how a step of each degree of freedom changes each error.
//!
//! A degree of freedom is a twist (an axis and where it passes), an error a wrench, and their power is the entry: it is
//! non-zero only where the joint is above what the goal is about, so that a column costs what hangs on it. Errors and
//! derivatives are of one frame each, never mixed: positions in that of the model, rotations in that of the target.
//!
//! ```
//! use anim_ik::{Goal, IkProblem, Jacobian, Mechanism, MechanismJoint};
//! use anim_math::Vec3;
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! // A crank of 2 m that turns about z.
//! let hinge = JointLimit::new(JointLimitSpec::Hinge { axis: Vec3::z(), range: [-1.0, 1.0] })?;
//! let fixed = JointLimit::new(JointLimitSpec::Fixed)?;
//! let crank = Mechanism::new(vec![
//!     MechanismJoint::new(None, Isometry3::identity(), hinge),
//!     MechanismJoint::new(Some(0), Isometry3::translation(2.0, 0.0, 0.0), fixed),
//! ])?;
//! let goals = [Goal::position(1, Vector3::new(1.5, 0.5, 0.0))];
//! let mut jacobian = Jacobian::default();
//! jacobian.compute(&IkProblem::new(&crank, &goals), &crank.rest());
//! assert_eq!(jacobian.errors(), [0.5, -0.5, 0.0]);
//! assert_eq!(jacobian.column(0), [0.0, 2.0, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares
//! methods", 2004, section 2.

use std::ops::Range;

use anim_math::nalgebra::{SMatrix, SVector, Vector2, Vector3};

use crate::joint_model::JointModel;
use crate::rows::Rows;
use crate::{Configuration, IkProblem, JointValue};

/// The motion of all that hangs on a degree of freedom: angular velocity, and the velocity at the model's origin.
pub(crate) type Twist = (Vector3<f64>, Vector3<f64>);

/// Weighted errors of a problem at a configuration and their derivatives; reusable, then allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    pub(crate) rows: Rows,
    pub(crate) twists: Vec<Twist>,
    /// One a degree of freedom, each of as many numbers as there are errors.
    pub(crate) columns: Vec<f64>,
    /// The rows of the slacks, taken out of the columns; n numbers each.
    pub(crate) slack_rows: Vec<f64>,
    /// The rows between which a column is not zero.
    pub(crate) spans: Vec<(usize, usize)>,
}

impl Jacobian {
    /// Computes errors and derivatives at `configuration`, m rows for n degrees of freedom.
    ///
    /// The steps it is the derivative by are those of [`Configuration::integrate`]. O(J + m · depth).
    ///
    /// # Panics
    ///
    /// If the configuration is not one of the problem's mechanism or the problem fails [`IkProblem::check`].
    pub fn compute(&mut self, problem: &IkProblem<'_>, configuration: &Configuration) {
        self.rows.evaluate(problem, configuration);
        self.derive(problem, configuration);
    }

    /// The errors, m: each goal's in turn, then what the obstacles add; times their weights, rotations in metres.
    ///
    /// An inequality that holds is a row of zeros.
    pub fn errors(&self) -> &[f64] {
        &self.rows.errors
    }

    /// The derivatives of the m errors by degree of freedom `dof`.
    pub fn column(&self, dof: usize) -> &[f64] {
        let count = self.rows.errors.len();
        &self.columns[dof * count..(dof + 1) * count]
    }

    /// What of a column may be non-zero, and where that starts.
    pub(crate) fn part(&self, dof: usize) -> (usize, &[f64]) {
        let (first, end) = self.spans[dof];
        (first, &self.column(dof)[first..end])
    }

    /// The derivatives of the rows last evaluated.
    pub(crate) fn derive(&mut self, problem: &IkProblem<'_>, configuration: &Configuration) {
        let mechanism = problem.mechanism;
        let (count, dof) = (self.rows.errors.len(), mechanism.dof());
        self.columns.clear();
        self.columns.resize(count * dof, 0.0);
        self.spans.clear();
        self.spans.resize(dof, (count, 0));
        self.twists.clear();
        let Some(frames) = &self.rows.frames else {
            return;
        };
        let joints = mechanism.models().iter().zip(configuration.values());
        for ((model, value), frame) in joints.zip(frames.as_slice()) {
            let origin = frame.translation.vector;
            let mut turn = |axis: Vector3<f64>| {
                let axis = frame.rotation * axis;
                self.twists.push((axis, origin.cross(&axis)));
            };
            match (model, value) {
                (JointModel::Hinge { axis, .. }, _) => turn(*axis),
                (JointModel::Prismatic { axis, .. }, _) => {
                    self.twists.push((Vector3::zeros(), frame.rotation * axis));
                }
                (JointModel::Universal(turns), JointValue::Swing(swing)) => {
                    let chart = JointModel::chart(turns, Vector2::new(swing.x, swing.y), 0.0);
                    turn(chart.column(0).into_owned());
                    turn(chart.column(1).into_owned());
                }
                (JointModel::FreeBall | JointModel::Ball(_), _) => {
                    (0..3).for_each(|axis| turn(Vector3::ith(axis, 1.0)));
                }
                (JointModel::Free, JointValue::Placement(placement)) => {
                    let rest = frame.rotation * placement.rotation.inverse();
                    for axis in 0..3 {
                        let along = rest * Vector3::ith(axis, 1.0);
                        self.twists.push((Vector3::zeros(), along));
                    }
                    for axis in 0..3 {
                        let axis = frame.rotation * Vector3::ith(axis, 1.0);
                        self.twists.push((axis, origin.cross(&axis)));
                    }
                }
                _ => {}
            }
        }
        for load in &self.rows.loads {
            for joint in mechanism.ancestry(load.joint) {
                for dof in mechanism.dofs(joint) {
                    let (turning, moving) = &self.twists[dof];
                    let power = load.moment.dot(turning) + load.force.dot(moving);
                    self.columns[dof * count + load.row] += power;
                    widen(&mut self.spans[dof], load.row);
                }
            }
        }
        for entry in &self.rows.entries {
            self.columns[entry.dof * count + entry.row] += entry.value;
            widen(&mut self.spans[entry.dof], entry.row);
        }
        self.slack_rows.clear();
        for (row, _) in &self.rows.slacks {
            for entry in self.columns[*row..].iter_mut().step_by(count) {
                self.slack_rows.push(std::mem::take(entry));
            }
        }
        for span in self.spans.iter_mut().filter(|span| span.1 == 0) {
            *span = (0, 0);
        }
    }

    /// Puts the row of a slack back into the columns, or takes it out again.
    pub(crate) fn set_slack(&mut self, slack: usize, is_active: bool) {
        let (count, dof) = (self.rows.errors.len(), self.twists.len());
        let row = self.rows.slacks[slack].0;
        let values = &self.slack_rows[slack * dof..(slack + 1) * dof];
        let entries = self.columns[row..].iter_mut().step_by(count);
        for ((entry, value), span) in entries.zip(values).zip(&mut self.spans) {
            *entry = if is_active { *value } else { 0.0 };
            if *value != 0.0 {
                if span.1 == 0 {
                    span.0 = row;
                }
                widen(span, row);
            }
        }
    }

    /// Replaces the columns of `dofs` by combinations of them: their block times `matrix`.
    pub(crate) fn combine<const N: usize>(
        &mut self,
        dofs: Range<usize>,
        matrix: &SMatrix<f64, N, N>,
    ) {
        let count = self.rows.errors.len();
        let columns = &mut self.columns[dofs.start * count..dofs.end * count];
        let spans = &mut self.spans[dofs.clone()];
        let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
        let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
        spans.fill((first, end));
        for row in first..end {
            let old = SVector::<f64, N>::from_fn(|i, _| columns[i * count + row]);
            for (j, value) in matrix.tr_mul(&old).iter().enumerate() {
                columns[j * count + row] = *value;
            }
        }
        let twists = &mut self.twists[dofs.clone()];
        let old: [Twist; N] = std::array::from_fn(|i| twists[i]);
        for (twist, weights) in twists.iter_mut().zip(matrix.column_iter()) {
            let sum = |of: fn(&Twist) -> &Vector3<f64>| {
                let each = old.iter().zip(weights.iter());
                each.fold(Vector3::zeros(), |sum, (twist, w)| sum + of(twist) * *w)
            };
            *twist = (sum(|twist| &twist.0), sum(|twist| &twist.1));
        }
        let dof = self.twists.len();
        for row in self.slack_rows.chunks_exact_mut(dof) {
            let part = &mut row[dofs.clone()];
            let new = matrix.tr_mul(&SVector::<f64, N>::from_column_slice(part));
            part.copy_from_slice(new.as_slice());
        }
    }
}

fn widen(span: &mut (usize, usize), row: usize) {
    *span = (span.0.min(row), span.1.max(row + 1));
}
