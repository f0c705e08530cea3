//! The rows of each kind of goal.

use anim_math::nalgebra::{Isometry3, Matrix3, Vector3};

use crate::priorities::level_factor;
use crate::rows::{AxisRules, Entry, LoadKind, Rows};
use crate::{Configuration, Frames, Goal, GoalKind, IkProblem, Residual, lie};

impl Rows {
    /// Adds the rows of `goal`; what is left of it.
    pub(crate) fn goal(
        &mut self,
        problem: &IkProblem<'_>,
        goal: &Goal,
        configuration: &Configuration,
        frames: &Frames,
    ) -> Residual {
        let weight = goal.weight * level_factor(problem.goals, goal.priority);
        let length = weight * problem.metres_per_radian;
        let moving = &AxisRules {
            weights: goal.position_weights.map(|w| w * weight),
            tolerances: goal.position_tolerances,
        };
        let turning = &AxisRules {
            weights: goal.rotation_weights.map(|w| w * length),
            tolerances: goal.rotation_tolerances,
        };
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
                self.aim(joint, frame, point, axis, target, turning.weights)
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
            GoalKind::Pole { limb, toward } => self.pole(frames, limb, toward, turning.weights[0]),
            GoalKind::Posture { joint, target } => {
                let value = &configuration.values()[joint];
                let mut off = [0.0; 6];
                target.minus_into(value, &mut off);
                self.own_value(problem, joint, &off, weight, length)
            }
        }
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
                self.twist(row, joint, None, axis.cross(&unit), LoadKind::Other);
                self.pull(row, joint, None, start, force);
            }
        }
        Residual {
            position: 0.0,
            rotation: libm::atan2(axis.cross(&wanted).norm(), axis.dot(&wanted)),
        }
    }

    fn centre_of_mass(
        &mut self,
        problem: &IkProblem<'_>,
        frames: &Frames,
        target: Vector3<f64>,
        rules: &AxisRules,
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
            let left = self.axis(error[k], rules, k, |rows, row, factor| {
                for joint in (0..count).filter(|joint| mass_of(*joint) > 0.0) {
                    let force = Vector3::ith(k, factor * mass_of(joint) / total);
                    rows.pull(row, joint, None, centre_of(joint), force);
                }
            });
            squares += left * left;
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
            self.pull(row, joint, None, at, force * weight);
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
}

/// A point of a joint in model space.
fn placed(frame: &Isometry3<f64>, point: Vector3<f64>) -> Vector3<f64> {
    frame.rotation * point + frame.translation.vector
}
