//! Errors of goals, and the wrench behind each: what a motion of a joint does to an error.
//!
//! Every error here is moved by rigid motions of joints, so that its derivative is a wrench (a moment and a force) on each
//! joint it depends on; the Jacobian's entry is then that wrench's power under the twist of a degree of freedom. All
//! wrenches and twists are in one frame, that of the model, about its origin.

use anim_math::nalgebra::{Isometry3, Matrix3, UnitQuaternion, Vector3};

use crate::{Configuration, Frames, Goal, GoalKind, IkProblem, Residual, lie};

/// A part of one row: on `joint` and so on all above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) row: usize,
    pub(crate) joint: usize,
    /// About the model's origin.
    pub(crate) moment: Vector3<f64>,
    pub(crate) force: Vector3<f64>,
}

/// The entry of a row that depends on a joint's own value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) row: usize,
    pub(crate) dof: usize,
    pub(crate) value: f64,
}

/// Weighted errors at one configuration, and their wrenches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) frames: Option<Frames>,
    /// Weighted.
    pub(crate) errors: Vec<f64>,
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
        self.loads.clear();
        self.entries.clear();
        self.slacks.clear();
        self.residuals.clear();
        self.penetration = 0.0;
        for goal in problem.goals {
            let residual = self.goal(problem, goal, configuration, &frames);
            self.residuals.push(residual);
        }
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

    /// True if every goal is met and limbs are clear.
    pub(crate) fn is_reached(&self, goals: &[Goal]) -> bool {
        let mut each = self.residuals.iter().zip(goals);
        let met = |(r, goal): (&Residual, &Goal)| {
            r.position <= goal.tolerance && r.rotation <= goal.tolerance
        };
        each.all(met) && self.penetration <= CLEAR
    }

    fn goal(
        &mut self,
        problem: &IkProblem<'_>,
        goal: &Goal,
        configuration: &Configuration,
        frames: &Frames,
    ) -> Residual {
        let weight = goal.effective_weight();
        let length = weight * problem.metres_per_radian;
        let moving = goal.position_weights.map(|w| w * weight);
        let turning = goal.rotation_weights.map(|w| w * length);
        let axes = Matrix3::identity();
        match goal.kind {
            GoalKind::Position {
                joint,
                point,
                target,
            } => {
                let at = placed(frames.get(joint), point);
                let off = at - target;
                Residual {
                    position: self.point(joint, None, at, &axes, off, moving),
                    rotation: 0.0,
                }
            }
            GoalKind::Orientation { joint, target } => Residual {
                position: 0.0,
                rotation: self.turn(joint, None, &frames.get(joint).rotation, &target, turning),
            },
            GoalKind::Pose {
                joint,
                tool,
                target,
            } => {
                let at = frames.get(joint) * tool;
                let off = at.translation.vector - target.translation.vector;
                Residual {
                    position: self.point(joint, None, at.translation.vector, &axes, off, moving),
                    rotation: self.turn(joint, None, &at.rotation, &target.rotation, turning),
                }
            }
            GoalKind::Relative {
                joint,
                tool,
                reference,
                target,
            } => {
                let at = frames.get(joint) * tool;
                let holder = frames.get(reference);
                let axes = *holder.rotation.to_rotation_matrix().matrix();
                let wanted: Isometry3<f64> = holder * target;
                let p = at.translation.vector;
                let off = axes.tr_mul(&(p - wanted.translation.vector));
                let held = Some(reference);
                Residual {
                    position: self.point(joint, held, p, &axes, off, moving),
                    rotation: self.turn(joint, held, &at.rotation, &wanted.rotation, turning),
                }
            }
            GoalKind::Aim {
                joint,
                point,
                axis,
                target,
            } => {
                let frame = frames.get(joint);
                self.aim(joint, frame, point, axis, target, turning)
            }
            GoalKind::Distance {
                joint,
                point,
                from,
                range,
            } => {
                let at = placed(frames.get(joint), point);
                let off = at - from;
                let distance = off.norm();
                let away = if distance > 0.0 {
                    off / distance
                } else {
                    Vector3::x()
                };
                let [low, high] = range;
                let error = if low == high {
                    self.along(joint, at, away, distance - low, weight)
                } else {
                    let near = self.above(joint, at, away, distance - low, weight);
                    if high < f64::INFINITY {
                        near.max(self.above(joint, at, -away, high - distance, weight))
                    } else {
                        near
                    }
                };
                Residual {
                    position: error,
                    rotation: 0.0,
                }
            }
            GoalKind::Plane {
                joint,
                point,
                normal,
                offset,
                one_sided,
            } => {
                let at = placed(frames.get(joint), point);
                let normal = normal.normalize();
                let height = normal.dot(&at) - offset;
                let error = if one_sided {
                    self.above(joint, at, normal, height, weight)
                } else {
                    self.along(joint, at, normal, height, weight)
                };
                Residual {
                    position: error,
                    rotation: 0.0,
                }
            }
            GoalKind::CentreOfMass { target } => {
                self.centre_of_mass(problem, frames, target, moving)
            }
            GoalKind::Pole { limb, toward } => self.pole(frames, limb, toward, turning[0]),
            GoalKind::Posture { joint, target } => {
                let value = &configuration.values()[joint];
                let mut off = [0.0; 6];
                target.minus_into(value, &mut off);
                self.own_value(problem, joint, &off, weight, length)
            }
        }
    }

    /// A vector error e along the columns of `axes`: ė = axesᵀ · velocity of `at`; its length over the axes that count.
    fn point(
        &mut self,
        joint: usize,
        reference: Option<usize>,
        at: Vector3<f64>,
        axes: &Matrix3<f64>,
        error: Vector3<f64>,
        weights: [f64; 3],
    ) -> f64 {
        let mut squares = 0.0;
        for k in 0..3 {
            if weights[k] > 0.0 {
                squares += error[k] * error[k];
                let force = axes.column(k) * weights[k];
                let row = self.push(error[k] * weights[k]);
                self.pull(row, joint, reference, at.cross(&force), force);
            }
        }
        squares.sqrt()
    }

    /// The rotation error log(target⁻¹ · now), in the frames of both: ė = Jᵣ⁻¹(e) nowᵀ ω.
    fn turn(
        &mut self,
        joint: usize,
        reference: Option<usize>,
        now: &UnitQuaternion<f64>,
        target: &UnitQuaternion<f64>,
        weights: [f64; 3],
    ) -> f64 {
        if weights == [0.0; 3] {
            return 0.0;
        }
        let error = lie::log(&(target.inverse() * now));
        let rate = lie::right_jacobian_inverse(error);
        let mut squares = 0.0;
        for k in 0..3 {
            if weights[k] > 0.0 {
                squares += error[k] * error[k];
                let moment = now * (rate.row(k).transpose() * weights[k]);
                let row = self.push(error[k] * weights[k]);
                self.pull(row, joint, reference, moment, Vector3::zeros());
            }
        }
        squares.sqrt()
    }

    /// The chord from the direction to the target to the axis; it has no kink where the angle would.
    fn aim(
        &mut self,
        joint: usize,
        frame: &Isometry3<f64>,
        point: Vector3<f64>,
        axis: Vector3<f64>,
        target: Vector3<f64>,
        weights: [f64; 3],
    ) -> Residual {
        let start = placed(frame, point);
        let axis = frame.rotation * axis.normalize();
        let away = target - start;
        let distance = away.norm();
        if distance <= 0.0 {
            return Residual::default();
        }
        let wanted = away / distance;
        let error = axis - wanted;
        for k in 0..3 {
            if weights[k] > 0.0 {
                let unit = Vector3::ith(k, weights[k]);
                let force = (unit - wanted * wanted.dot(&unit)) / distance;
                let row = self.push(error[k] * weights[k]);
                self.pull(
                    row,
                    joint,
                    None,
                    axis.cross(&unit) + start.cross(&force),
                    force,
                );
            }
        }
        Residual {
            position: 0.0,
            rotation: libm::atan2(axis.cross(&wanted).norm(), axis.dot(&wanted)),
        }
    }

    /// One row for a motion of `at` along a unit direction; the size of its error.
    fn along(
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
            self.pull(row, joint, None, at.cross(&force), force);
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
            self.pull(row, joint, None, at.cross(&force), force);
        }
        (-gap).max(0.0)
    }

    fn centre_of_mass(
        &mut self,
        problem: &IkProblem<'_>,
        frames: &Frames,
        target: Vector3<f64>,
        weights: [f64; 3],
    ) -> Residual {
        let mass_of = |joint: usize| problem.masses.get(joint).map_or(1.0, |m| m.mass);
        let centre_of = |joint: usize| {
            let own = problem
                .masses
                .get(joint)
                .map_or(Vector3::zeros(), |m| m.centre);
            placed(frames.get(joint), own)
        };
        let count = problem.mechanism.len();
        let total: f64 = (0..count).map(mass_of).sum();
        if total <= 0.0 {
            return Residual::default();
        }
        let moment = |sum: Vector3<f64>, joint| sum + centre_of(joint) * mass_of(joint);
        let error = (0..count).fold(Vector3::zeros(), moment) / total - target;
        let mut squares = 0.0;
        for k in 0..3 {
            if weights[k] > 0.0 {
                squares += error[k] * error[k];
                let row = self.push(error[k] * weights[k]);
                for joint in (0..count).filter(|joint| mass_of(*joint) > 0.0) {
                    let force = Vector3::ith(k, weights[k] * mass_of(joint) / total);
                    self.pull(row, joint, None, centre_of(joint).cross(&force), force);
                }
            }
        }
        Residual {
            position: f64::sqrt(squares),
            rotation: 0.0,
        }
    }

    /// The angle about the limb's axis from the half plane of `toward` to that of its bend.
    ///
    /// It is a dihedral angle: with h the bend's arm from the axis a, its rate under the bend's motion is a × h / |h|²,
    /// and the ends take up what their share of the arm's foot on the axis leaves. Source: Blondel and Karplus, "New
    /// formulation for derivatives of torsion angles", J. Comput. Chem. 17, 1996.
    fn pole(
        &mut self,
        frames: &Frames,
        limb: [usize; 3],
        toward: Vector3<f64>,
        weight: f64,
    ) -> Residual {
        let [root, bend, tip] = limb.map(|joint| frames.get(joint).translation.vector);
        let along = tip - root;
        let length = along.norm();
        if length <= 0.0 || weight <= 0.0 {
            return Residual::default();
        }
        let axis = along / length;
        let foot = |p: Vector3<f64>| axis.dot(&(p - root)) / length;
        let arm = |p: Vector3<f64>| p - root - axis * axis.dot(&(p - root));
        let (h, w) = (arm(bend), arm(toward));
        let least = 1e-6 * length;
        if h.norm() < least || w.norm() < least {
            return Residual::default();
        }
        let angle = libm::atan2(axis.dot(&w.cross(&h)), w.dot(&h));
        let by_bend = axis.cross(&h) / h.norm_squared();
        let by_pole = axis.cross(&w) / w.norm_squared();
        let (at_bend, at_pole) = (foot(bend), foot(toward));
        let forces = [
            by_pole * (1.0 - at_pole) - by_bend * (1.0 - at_bend),
            by_bend,
            by_pole * at_pole - by_bend * at_bend,
        ];
        let row = self.push(angle * weight);
        for ((joint, at), force) in limb.into_iter().zip([root, bend, tip]).zip(forces) {
            let force = force * weight;
            self.pull(row, joint, None, at.cross(&force), force);
        }
        Residual {
            position: 0.0,
            rotation: angle.abs(),
        }
    }

    /// `off` is the tangent step from the wanted value: plain numbers, then rotation vectors.
    fn own_value(
        &mut self,
        problem: &IkProblem<'_>,
        joint: usize,
        off: &[f64; 6],
        weight: f64,
        turn_weight: f64,
    ) -> Residual {
        let dofs = problem.mechanism.dofs(joint);
        let model = &problem.mechanism.models()[joint];
        let (lengths, turns) = match (dofs.len(), model.translates()) {
            (count, false) => (0, count),
            (count, true) => (count.min(3), count.saturating_sub(3)),
        };
        for (k, error) in off.iter().enumerate().take(lengths) {
            let row = self.push(error * weight);
            let dof = dofs.start + k;
            self.entries.push(Entry {
                row,
                dof,
                value: weight,
            });
        }
        let rate = if turns == 3 {
            let vector = Vector3::from_column_slice(&off[lengths..lengths + 3]);
            lie::right_jacobian_inverse(vector)
        } else {
            Matrix3::identity()
        };
        for k in 0..turns {
            let row = self.push(off[lengths + k] * turn_weight);
            for other in 0..turns {
                let dof = dofs.start + lengths + other;
                let value = rate[(k, other)] * turn_weight;
                self.entries.push(Entry { row, dof, value });
            }
        }
        let norm = |part: &[f64]| part.iter().map(|v| v * v).sum::<f64>().sqrt();
        Residual {
            position: norm(&off[..lengths]),
            rotation: norm(&off[lengths..lengths + turns]),
        }
    }

    /// A new row of an inequality.
    pub(crate) fn push_gap(&mut self, gap: f64) -> usize {
        let row = self.push(gap.min(0.0));
        if gap > 0.0 {
            self.slacks.push((row, gap));
        }
        row
    }

    /// A new row.
    fn push(&mut self, error: f64) -> usize {
        self.errors.push(error);
        self.errors.len() - 1
    }

    /// A wrench on `joint`, and its opposite on the joint it is seen from.
    pub(crate) fn pull(
        &mut self,
        row: usize,
        joint: usize,
        reference: Option<usize>,
        moment: Vector3<f64>,
        force: Vector3<f64>,
    ) {
        self.loads.push(Load {
            row,
            joint,
            moment,
            force,
        });
        if let Some(joint) = reference {
            let (moment, force) = (-moment, -force);
            self.loads.push(Load {
                row,
                joint,
                moment,
                force,
            });
        }
    }
}

/// Limbs are clear within this, metres: colliders answer in single precision.
const CLEAR: f64 = 1e-5;

/// A point of a joint in model space.
fn placed(frame: &Isometry3<f64>, point: Vector3<f64>) -> Vector3<f64> {
    frame.rotation * point + frame.translation.vector
}
