//! Errors of goals, and the wrench behind each: what a motion of a joint does to an error.
//!
//! Every error here is moved by rigid motions of joints, so that its derivative is a wrench (a moment and a force) on each
//! joint it depends on; the Jacobian's entry is then that wrench's power under the twist of a degree of freedom. All
//! wrenches and twists are in one frame, that of the model, about its origin.

use anim_math::nalgebra::{Matrix3, UnitQuaternion, Vector3};

use crate::{Configuration, Frames, Goal, IkProblem, Residual, lie};

/// A part of one row: on `joint` and so on all above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) row: usize,
    pub(crate) joint: usize,
    /// About the model's origin.
    pub(crate) moment: Vector3<f64>,
    pub(crate) force: Vector3<f64>,
    pub(crate) kind: LoadKind,
}

/// What is known of how a load changes as joints turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LoadKind {
    /// The force keeps its direction and acts here.
    Point(Vector3<f64>),
    /// It is the pull of a rotation toward another.
    Turn,
    /// Nothing.
    Other,
}

/// The entry of a row that depends on a joint's own value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) row: usize,
    pub(crate) dof: usize,
    pub(crate) value: f64,
}

/// What the axes of a vector error count, and how far off they may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisRules {
    /// 0 leaves an axis free.
    pub(crate) weights: [f64; 3],
    pub(crate) tolerances: [f64; 3],
}

/// Weighted errors at one configuration, and their wrenches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) frames: Option<Frames>,
    /// Weighted.
    pub(crate) errors: Vec<f64>,
    /// What is added to the first errors: the multipliers of goals that come first.
    pub(crate) multipliers: Vec<f64>,
    /// The first row of each goal, and the end of the last one's.
    pub(crate) starts: Vec<usize>,
    pub(crate) loads: Vec<Load>,
    pub(crate) entries: Vec<Entry>,
    /// Rows of inequalities that hold, by how much, weighted: they cost nothing until a step would use that up.
    pub(crate) slacks: Vec<(usize, f64)>,
    /// One a goal.
    pub(crate) residuals: Vec<Residual>,
    /// The tangent step from the preferred posture; empty if there is none.
    pub(crate) posture: Vec<f64>,
    pub(crate) penetration: f64,
    /// Half the weighted sum of squares, posture included.
    pub(crate) cost: f64,
}

impl Rows {
    /// Forward kinematics and all errors; O(J + rows), allocates nothing once problems have stopped growing.
    pub(crate) fn evaluate(&mut self, problem: &IkProblem<'_>, configuration: &Configuration) {
        let mechanism = problem.mechanism;
        let mut frames = match self.frames.take() {
            Some(frames) if frames.as_slice().len() == mechanism.len() => frames,
            _ => Frames::new(mechanism),
        };
        mechanism.forward(configuration, &mut frames);
        self.errors.clear();
        self.starts.clear();
        self.loads.clear();
        self.entries.clear();
        self.slacks.clear();
        self.residuals.clear();
        self.penetration = 0.0;
        for goal in problem.goals {
            self.starts.push(self.errors.len());
            let residual = self.goal(problem, goal, configuration, &frames);
            self.residuals.push(residual);
        }
        self.starts.push(self.errors.len());
        self.penetration = problem.obstacles.evaluate(&frames, self);
        self.frames = Some(frames);
        self.cost = 0.5 * self.errors.iter().map(|e| e * e).sum::<f64>();
        self.posture.clear();
        if let Some(posture) = problem.posture {
            self.posture.resize(mechanism.dof(), 0.0);
            posture
                .target
                .difference(mechanism, configuration, &mut self.posture);
            let squares = self.posture.iter().map(|e| e * e).sum::<f64>();
            self.cost += 0.5 * posture.weight * posture.weight * squares;
        }
    }

    /// Gives both as much room as either has had use for: which of two that change places holds the largest problem is then
    /// no matter, and a later solve allocates nothing.
    pub(crate) fn share_room(&mut self, other: &mut Self) {
        even_out(&mut self.errors, &mut other.errors);
        even_out(&mut self.loads, &mut other.loads);
        even_out(&mut self.entries, &mut other.entries);
        even_out(&mut self.slacks, &mut other.slacks);
    }

    /// True if every goal is met and limbs are clear.
    pub(crate) fn is_reached(&self, goals: &[Goal]) -> bool {
        let mut each = self.residuals.iter().zip(goals);
        let met = |(r, goal): (&Residual, &Goal)| {
            r.position <= goal.tolerance && r.rotation <= goal.tolerance
        };
        each.all(met) && self.penetration <= CLEAR
    }

    /// The rows of one axis: the error itself, or how far it is from either end of its tolerance; what of it counts.
    ///
    /// `load` adds the derivative of the row, times the number that it is given.
    pub(crate) fn axis(
        &mut self,
        error: f64,
        rules: &AxisRules,
        k: usize,
        load: impl Fn(&mut Self, usize, f64),
    ) -> f64 {
        let (weight, tolerance) = (rules.weights[k], rules.tolerances[k]);
        if weight <= 0.0 {
            return 0.0;
        }
        if tolerance <= 0.0 {
            let row = self.push(error * weight);
            load(self, row, weight);
            return error;
        }
        for sign in [1.0, -1.0] {
            let row = self.push_gap((tolerance + sign * error) * weight);
            load(self, row, sign * weight);
        }
        error - error.clamp(-tolerance, tolerance)
    }

    /// A vector error e along the columns of `axes`: ė = axesᵀ · velocity of `at`; its length over the axes that count.
    pub(crate) fn point(
        &mut self,
        joint: usize,
        reference: Option<usize>,
        at: Vector3<f64>,
        axes: &Matrix3<f64>,
        error: Vector3<f64>,
        rules: &AxisRules,
    ) -> f64 {
        let mut squares = 0.0;
        for k in 0..3 {
            let left = self.axis(error[k], rules, k, |rows, row, factor| {
                rows.pull(row, joint, reference, at, axes.column(k) * factor);
            });
            squares += left * left;
        }
        squares.sqrt()
    }

    /// The rotation error log(target⁻¹ · now), in the frames of both: ė = Jᵣ⁻¹(e) nowᵀ ω.
    pub(crate) fn turn(
        &mut self,
        joint: usize,
        reference: Option<usize>,
        now: &UnitQuaternion<f64>,
        target: &UnitQuaternion<f64>,
        rules: &AxisRules,
    ) -> f64 {
        if rules.weights == [0.0; 3] {
            return 0.0;
        }
        let error = lie::log(&(target.inverse() * now));
        let rate = lie::right_jacobian_inverse(error);
        let kind = match reference {
            None => LoadKind::Turn,
            Some(_) => LoadKind::Other,
        };
        let mut squares = 0.0;
        for k in 0..3 {
            let left = self.axis(error[k], rules, k, |rows, row, factor| {
                let moment = now * (rate.row(k).transpose() * factor);
                rows.twist(row, joint, reference, moment, kind);
            });
            squares += left * left;
        }
        squares.sqrt()
    }

    /// One row for a motion of `at` along a unit direction; the size of its error.
    pub(crate) fn along(
        &mut self,
        joint: usize,
        at: Vector3<f64>,
        direction: Vector3<f64>,
        error: f64,
        weight: f64,
    ) -> f64 {
        if weight > 0.0 {
            let force = direction * weight;
            let row = self.push(error * weight);
            self.pull(row, joint, None, at, force);
        }
        error.abs()
    }

    /// One row for `gap` ≥ 0, which a motion of `at` along a unit direction widens; by how much it fails.
    pub(crate) fn above(
        &mut self,
        joint: usize,
        at: Vector3<f64>,
        direction: Vector3<f64>,
        gap: f64,
        weight: f64,
    ) -> f64 {
        if weight > 0.0 {
            let force = direction * weight;
            let row = self.push_gap(gap * weight);
            self.pull(row, joint, None, at, force);
        }
        (-gap).max(0.0)
    }

    /// A new row of an inequality.
    pub(crate) fn push_gap(&mut self, gap: f64) -> usize {
        let row = self.errors.len();
        let gap = gap + self.multiplier(row);
        self.errors.push(gap.min(0.0));
        if gap > 0.0 {
            self.slacks.push((row, gap));
        }
        row
    }

    /// A new row.
    pub(crate) fn push(&mut self, error: f64) -> usize {
        let row = self.errors.len();
        self.errors.push(error + self.multiplier(row));
        row
    }

    fn multiplier(&self, row: usize) -> f64 {
        self.multipliers.get(row).copied().unwrap_or(0.0)
    }

    /// A force at a point of `joint`, and its opposite on the joint it is seen from.
    pub(crate) fn pull(
        &mut self,
        row: usize,
        joint: usize,
        reference: Option<usize>,
        at: Vector3<f64>,
        force: Vector3<f64>,
    ) {
        let moment = at.cross(&force);
        let kind = match reference {
            None => LoadKind::Point(at),
            Some(_) => LoadKind::Other,
        };
        for (joint, sign) in [(Some(joint), 1.0), (reference, -1.0)] {
            self.loads.extend(joint.map(|joint| Load {
                row,
                joint,
                moment: moment * sign,
                force: force * sign,
                kind,
            }));
        }
    }

    /// A moment on `joint`, and its opposite on the joint it is seen from.
    pub(crate) fn twist(
        &mut self,
        row: usize,
        joint: usize,
        reference: Option<usize>,
        moment: Vector3<f64>,
        kind: LoadKind,
    ) {
        for (joint, sign) in [(Some(joint), 1.0), (reference, -1.0)] {
            self.loads.extend(joint.map(|joint| Load {
                row,
                joint,
                moment: moment * sign,
                force: Vector3::zeros(),
                kind,
            }));
        }
    }
}

fn even_out<T>(a: &mut Vec<T>, b: &mut Vec<T>) {
    a.reserve_exact(b.capacity().saturating_sub(a.len()));
    b.reserve_exact(a.capacity().saturating_sub(b.len()));
}

/// Limbs are clear within this, metres: colliders answer in single precision.
const CLEAR: f64 = 1e-5;
