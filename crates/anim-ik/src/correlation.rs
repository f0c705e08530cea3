//! The turn that brings directions nearest to others: Wahba's problem, one axis at a time.

use anim_math::nalgebra::{Matrix3, UnitQuaternion, Vector3};

use crate::joint_model::JointModel;
use crate::{JointValue, lie};

/// Σ w u vᵀ over pairs of vectors, of which each u should be turned to its v.
///
/// All that a rotation R can do about Σ w |R u − v|² is to raise Σ w (R u)·v = tr(R · Σ w u vᵀ), so nothing else of the pairs
/// need be kept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Correlation(Matrix3<f64>);

impl Correlation {
    pub(crate) fn add(&mut self, u: Vector3<f64>, v: Vector3<f64>, weight: f64) {
        self.0 += u * (v.transpose() * weight);
    }

    /// Σ w u × v: the direction about which turning helps most.
    pub(crate) fn torque(&self) -> Vector3<f64> {
        let m = &self.0;
        Vector3::new(m.m23 - m.m32, m.m31 - m.m13, m.m12 - m.m21)
    }

    /// The best angle about a unit axis, rad: the sum is constant + A cos θ + B sin θ. 0 if all angles are as good.
    pub(crate) fn angle_about(&self, axis: &Vector3<f64>) -> f64 {
        let a = self.0.trace() - axis.dot(&(self.0 * axis));
        libm::atan2(axis.dot(&self.torque()), a)
    }

    /// A unit axis to turn about and the best angle about it, rad.
    ///
    /// For one pair that is the shortest arc, and what is left after it is nothing. Where no axis helps at first and yet half
    /// a turn does, as for opposite directions, one of those axes, always the same.
    pub(crate) fn best_turn(&self) -> Option<(Vector3<f64>, f64)> {
        let torque = self.torque();
        let size = self.0.norm();
        let axis = torque.try_normalize(1e-14 * size).or_else(|| {
            let symmetric = (self.0 + self.0.transpose()) * 0.5;
            // A half turn about n adds 2 (nᵀ B n − tr B).
            let eigen = symmetric.symmetric_eigen();
            let best = eigen.eigenvalues.imax();
            let gain = eigen.eigenvalues[best] - self.0.trace();
            (gain > 1e-9 * size).then(|| eigen.eigenvectors.column(best).into_owned())
        })?;
        Some((axis, self.angle_about(&axis)))
    }

    /// The rotation that serves all pairs best: exact for one pair, the limit of a quick ascent for several.
    pub(crate) fn best_rotation(&self) -> UnitQuaternion<f64> {
        let mut left = *self;
        let mut turned = UnitQuaternion::identity();
        for _ in 0..MOST_TURNS {
            let Some((axis, angle)) = left.best_turn() else {
                break;
            };
            let turn = lie::exp(axis * angle);
            turned = lie::normalized((turn * turned).into_inner());
            left.0 = turn.to_rotation_matrix() * left.0;
            if angle.abs() < 1e-12 {
                break;
            }
        }
        turned
    }
}

impl Correlation {
    /// The pairs with each u turned by `rotation`, and each v less `from` of the sum `u_sum` of all w u.
    pub(crate) fn carried(
        &self,
        rotation: &UnitQuaternion<f64>,
        u_sum: Vector3<f64>,
        from: Vector3<f64>,
    ) -> Self {
        Self(rotation.to_rotation_matrix() * (self.0 - u_sum * from.transpose()))
    }

    /// The three axes of one rotation and of another.
    pub(crate) fn add_rotation(
        &mut self,
        now: &UnitQuaternion<f64>,
        target: &UnitQuaternion<f64>,
        weight: f64,
    ) {
        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
            self.add(now * axis, target * axis, weight);
        }
    }

    /// The value of a joint that serves the pairs best, within its limits; slides stay.
    ///
    /// * `rotation`: `model_from_joint` at `value`. * `step`: of the best angle, rad, what to turn.
    pub(crate) fn improve(
        &self,
        model: &JointModel,
        value: &JointValue,
        rotation: &UnitQuaternion<f64>,
        step: impl Fn(f64) -> f64,
    ) -> JointValue {
        match model {
            JointModel::Fixed | JointModel::Prismatic { .. } => *value,
            JointModel::Hinge { axis, .. } => {
                let angle = self.angle_about(&(rotation * axis));
                model.clamp(&value.plus(&[step(angle)]))
            }
            _ => match self.best_rotation().axis_angle() {
                Some((axis, angle)) => {
                    let own = rotation.inverse() * axis.into_inner();
                    model.turned(value, &lie::exp(own * step(angle)))
                }
                None => *value,
            },
        }
    }
}

/// One pair needs one turn, several some five.
const MOST_TURNS: usize = 24;

#[cfg(test)]
mod tests {
    use anim_math::random::Random;

    use super::*;

    fn direction(random: &mut Random) -> Vector3<f64> {
        random.on_sphere().cast::<f64>().normalize()
    }

    #[test]
    fn one_pair_turns_by_the_shortest_arc_even_from_opposite() {
        let mut random = Random::new(1, 0, 0);
        for n in 0..1000 {
            let u = direction(&mut random);
            let v = if n % 5 == 0 {
                -u
            } else {
                direction(&mut random)
            };
            let mut pairs = Correlation::default();
            pairs.add(u * 0.3, v * 2.0, 1.5);
            let turn = pairs.best_rotation();
            assert!((turn * u - v).norm() < 1e-12);
            let arc = libm::atan2(u.cross(&v).norm(), u.dot(&v));
            assert!((turn.angle() - arc).abs() < 1e-9);
        }
    }

    #[test]
    fn many_pairs_find_the_rotation_that_made_them() {
        let mut random = Random::new(2, 0, 0);
        for _ in 0..500 {
            let turn = lie::exp(direction(&mut random) * f64::from(random.range(0.0, 3.1)));
            let mut pairs = Correlation::default();
            for _ in 0..4 {
                let u = direction(&mut random);
                pairs.add(u, turn * u, f64::from(random.range(0.2, 2.0)));
            }
            let served =
                |rotation: &UnitQuaternion<f64>| (rotation.to_rotation_matrix() * pairs.0).trace();
            // The ascent is linear, slow only where little is to be gained.
            assert!(served(&pairs.best_rotation()) > served(&turn) * (1.0 - 1e-3));
        }
    }
}
