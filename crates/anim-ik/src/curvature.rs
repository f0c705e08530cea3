//! What Gauss-Newton leaves out of second derivatives: errors that stay, times how lever arms turn.
//!
//! Half a sum of squares has the second derivatives JᵀJ + Σ eᵣ ∂²eᵣ. The sum is nothing where errors vanish; out of reach they
//! do not, and a limb that is stretched toward its target is held straight by that sum alone: steps without it are too long,
//! are damped until they are short enough, and then joints that do little hardly move at all. For a force f = Σ eᵣ fᵣ at a
//! point p, or the moment m of a rotation error, and two joints i above j,
//!
//! ```text
//! ∂²(f·p)/∂qᵢ∂qⱼ = f · (ωᵢ × ∂p/∂qⱼ)        m · (ωᵢ × ωⱼ) / 2 + (g(θ) − h(θ)) w² ωᵢ⊥ · ωⱼ⊥
//! ```
//!
//! where the last term is how geodesics of rotations spread: ⊥ is across the axis of an error of θ, g = θ/2 cot θ/2 what the
//! squared angle has there and h = (θ/2 / sin θ/2)² what the squared Jacobian makes of it. What is relative to another joint
//! is left as it was.
//!
//! Source: Erleben and Andrews, "Solving inverse kinematics using exact Hessian matrices", Computers & Graphics 78, 2019.

use anim_math::nalgebra::Vector3;

use crate::jacobian::Twist;
use crate::rows::LoadKind;
use crate::{Jacobian, Mechanism};

/// Moments of less, weighted metres, have no axis to speak of, and no curvature.
const LEAST_MOMENT: f64 = 1e-9;

impl Jacobian {
    /// Σ eᵣ ∂²eᵣ in the coordinates of the columns, n × n; O(loads · depth²).
    pub(crate) fn curvature(&self, mechanism: &Mechanism, out: &mut Vec<f64>) {
        let dof = mechanism.dof();
        out.clear();
        out.resize(dof * dof, 0.0);
        let errors = &self.rows.errors;
        let mut loads = self.rows.loads.iter().peekable();
        while let Some(load) = loads.next() {
            let error = errors[load.row];
            let (mut force, mut moment) = (load.force * error, load.moment * error);
            let mut squares = error * error;
            // The rows of one point or of one rotation belong together.
            while let Some(more) =
                loads.next_if(|next| next.joint == load.joint && next.kind == load.kind)
            {
                let error = errors[more.row];
                force += more.force * error;
                moment += more.moment * error;
                squares += error * error;
            }
            match load.kind {
                LoadKind::Point(at) if force != Vector3::zeros() => {
                    self.each_pair(mechanism, load.joint, out, |upper, lower| {
                        let velocity = lower.1 + lower.0.cross(&at);
                        force.dot(&upper.0.cross(&velocity))
                    });
                }
                LoadKind::Turn if moment.norm() > LEAST_MOMENT => {
                    // w² θ² over w² θ.
                    let angle = squares / moment.norm();
                    let axis = moment.normalize();
                    let half = 0.5 * angle;
                    let (sine, cosine) = (libm::sin(half), libm::cos(half));
                    let ratio = half / sine;
                    let spread = (ratio * cosine - ratio * ratio) * moment.norm() / angle;
                    self.each_pair(mechanism, load.joint, out, |upper, lower| {
                        let (a, b) = (upper.0, lower.0);
                        let across = a.dot(&b) - a.dot(&axis) * b.dot(&axis);
                        0.5 * moment.dot(&a.cross(&b)) + spread * across
                    });
                }
                _ => {}
            }
        }
    }

    /// Adds a bilinear form of the twists of two degrees of freedom above `joint`, the upper one first.
    fn each_pair(
        &self,
        mechanism: &Mechanism,
        joint: usize,
        out: &mut [f64],
        form: impl Fn(&Twist, &Twist) -> f64,
    ) {
        let dof = mechanism.dof();
        for lower in mechanism.ancestry(joint) {
            for upper in mechanism.ancestry(lower) {
                for j in mechanism.dofs(lower) {
                    for i in mechanism.dofs(upper) {
                        let value = form(&self.twists[i], &self.twists[j]);
                        if upper != lower {
                            out[i * dof + j] += value;
                            out[j * dof + i] += value;
                        } else if self.twists[j].0 != Vector3::zeros() {
                            // Turns of one joint come half before and half after each other, slides beside them.
                            out[i * dof + j] += 0.5 * value;
                            out[j * dof + i] += 0.5 * value;
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use anim_math::nalgebra::{DMatrix, DVector, Isometry3, UnitQuaternion, Vector3};
    use anim_math::random::Random;
    use anim_skeleton::{JointLimit, JointLimitSpec};

    use crate::{Configuration, Goal, IkProblem, Jacobian, Mechanism, MechanismJoint};

    /// Hinges and a slide, whose numbers simply add up.
    fn arm() -> Mechanism {
        let mut random = Random::new(7, 0, 0);
        let joint = |n: usize| {
            let (axis, range) = (random.on_sphere(), [-3.0, 3.0]);
            let limit = match n {
                2 => JointLimitSpec::Prismatic { axis, range },
                _ => JointLimitSpec::Hinge { axis, range },
            };
            let turn = UnitQuaternion::from_scaled_axis(random.in_ball().cast::<f64>() * 2.0);
            let rest = Isometry3::from_parts(random.in_ball().cast::<f64>().into(), turn);
            MechanismJoint::new(n.checked_sub(1), rest, JointLimit::new(limit).unwrap())
        };
        Mechanism::new((0..6).map(joint).collect()).unwrap()
    }

    /// Jᵀe, JᵀJ and the curvature.
    fn derivatives(
        problem: &IkProblem<'_>,
        at: &Configuration,
    ) -> (DVector<f64>, DMatrix<f64>, DMatrix<f64>) {
        let mut jacobian = Jacobian::default();
        jacobian.compute(problem, at);
        let (rows, dof) = (jacobian.errors().len(), problem.mechanism.dof());
        let columns = DMatrix::from_column_slice(rows, dof, &jacobian.columns);
        let errors = DVector::from_column_slice(jacobian.errors());
        let mut curvature = Vec::new();
        jacobian.curvature(problem.mechanism, &mut curvature);
        (
            columns.tr_mul(&errors),
            columns.tr_mul(&columns),
            DMatrix::from_row_slice(dof, dof, &curvature),
        )
    }

    #[test]
    fn with_it_second_derivatives_are_the_central_differences_of_the_gradient() {
        const STEP: f64 = 1e-5;
        let arm = arm();
        let turn = UnitQuaternion::from_scaled_axis(Vector3::new(1.0, -0.4, 0.8));
        let target = Isometry3::from_parts(Vector3::new(2.0, 1.0, -3.0).into(), turn);
        for goal in [
            Goal::position(5, target.translation.vector),
            Goal::orientation(5, target.rotation),
            Goal::pose(4, target),
        ] {
            let goals = [goal];
            let problem = IkProblem::new(&arm, &goals);
            for seed in 0..20 {
                let mut at = arm.rest();
                arm.randomize(&mut Random::new(seed, 1, 0), &mut at);
                let (_, gauss_newton, curvature) = derivatives(&problem, &at);
                for dof in 0..arm.dof() {
                    let gradient = |way: f64| {
                        let mut step = vec![0.0; arm.dof()];
                        step[dof] = way;
                        let mut there = at.clone();
                        at.integrate(&arm, &step, &mut there);
                        derivatives(&problem, &there).0
                    };
                    let slope = (gradient(STEP) - gradient(-STEP)) / (2.0 * STEP);
                    let column = gauss_newton.column(dof) + curvature.column(dof);
                    // Step squared times fourth derivatives of the cost, of some hundred; rounding over the step is less.
                    assert!((slope - column).norm() < 1e-6, "{goal:?} {seed} {dof}");
                }
            }
        }
    }
}
