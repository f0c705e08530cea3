//! Where a mechanism is: one value a joint, and the steps between two of them.
//!
//! Values live on curved spaces, steps in flat ones: [`Configuration::integrate`] (boxplus) takes a step of
//! [`Mechanism::dof`] numbers along each joint's exponential map, [`Configuration::difference`] (boxminus) finds the step
//! between two configurations. They undo each other up to half a turn a joint.
//!
//! ```
//! use anim_ik::{Configuration, Mechanism, MechanismJoint};
//! use anim_math::Vec3;
//! use anim_math::nalgebra::Isometry3;
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! let elbow = JointLimitSpec::Hinge { axis: Vec3::z(), range: [0.0, 2.5] };
//! let arm = Mechanism::new(vec![
//!     MechanismJoint::new(None, Isometry3::identity(), JointLimit::FREE),
//!     MechanismJoint::new(Some(0), Isometry3::translation(0.3, 0.0, 0.0), JointLimit::new(elbow)?),
//! ])?;
//! let rest = arm.rest();
//! let mut moved = rest.clone();
//! let step = [0.1, 0.0, 0.0, 0.0, 0.0, 0.7, 1.2];
//! rest.integrate(&arm, &step, &mut moved);
//! let mut back = [0.0; 7];
//! rest.difference(&arm, &moved, &mut back);
//! assert!(step.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-15));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector2, Vector3};

use crate::{Mechanism, lie};

/// The value of one joint: what it moves from rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointValue {
    /// A joint that does not move.
    Fixed,
    /// A hinge's angle, rad.
    Angle(f64),
    /// A slide's distance, metres.
    Distance(f64),
    /// A universal joint's rotation vector, rad, about its two axes of swing.
    Swing(Vector2<f64>),
    /// A ball's rotation.
    Rotation(UnitQuaternion<f64>),
    /// A free joint's translation and rotation.
    Placement(Isometry3<f64>),
}

impl JointValue {
    /// The value a tangent step away; numbers that the kind of value does not have are not read.
    ///
    /// Rotations turn in the joint's own frame, placements move along the axes at rest.
    pub(crate) fn plus(&self, step: &[f64]) -> Self {
        let turned = |rotation: &UnitQuaternion<f64>, step: &[f64]| {
            lie::normalized(rotation.into_inner() * lie::exp(vector(step)).into_inner())
        };
        match self {
            Self::Fixed => Self::Fixed,
            Self::Angle(angle) => Self::Angle(angle + step[0]),
            Self::Distance(distance) => Self::Distance(distance + step[0]),
            Self::Swing(swing) => Self::Swing(swing + Vector2::new(step[0], step[1])),
            Self::Rotation(rotation) => Self::Rotation(turned(rotation, step)),
            Self::Placement(placement) => Self::Placement(Isometry3::from_parts(
                Translation3::from(placement.translation.vector + vector(step)),
                turned(&placement.rotation, &step[3..]),
            )),
        }
    }

    /// The step from here to `other`, written to the front of `out`; zero between values of two kinds.
    pub(crate) fn minus_into(&self, other: &Self, out: &mut [f64]) {
        let turn = |from: &UnitQuaternion<f64>, to| lie::log(&(from.inverse() * to));
        match (self, other) {
            (Self::Angle(from), Self::Angle(to)) | (Self::Distance(from), Self::Distance(to)) => {
                out[0] = to - from;
            }
            (Self::Swing(from), Self::Swing(to)) => {
                out[..2].copy_from_slice((to - from).as_slice());
            }
            (Self::Rotation(from), Self::Rotation(to)) => {
                out[..3].copy_from_slice(turn(from, to).as_slice());
            }
            (Self::Placement(from), Self::Placement(to)) => {
                let moved = to.translation.vector - from.translation.vector;
                out[..3].copy_from_slice(moved.as_slice());
                out[3..6].copy_from_slice(turn(&from.rotation, &to.rotation).as_slice());
            }
            _ => out.fill(0.0),
        }
    }

    /// True if no number of it is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Fixed => true,
            Self::Angle(value) | Self::Distance(value) => value.is_finite(),
            Self::Swing(swing) => swing.iter().all(|v| v.is_finite()),
            Self::Rotation(rotation) => rotation.coords.iter().all(|v| v.is_finite()),
            Self::Placement(placement) => is_finite(placement),
        }
    }
}

/// The state of a [`Mechanism`]: one [`JointValue`] a joint, and where the whole of it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The space that goals are in from the space that roots rest in; the identity for a whole skeleton.
    pub base: Isometry3<f64>,
    values: Vec<JointValue>,
}

impl Configuration {
    pub(crate) fn new(values: Vec<JointValue>) -> Self {
        Self {
            base: Isometry3::identity(),
            values,
        }
    }

    /// The values, parents first.
    pub fn values(&self) -> &[JointValue] {
        &self.values
    }

    /// The values; each must keep its kind.
    pub fn values_mut(&mut self) -> &mut [JointValue] {
        &mut self.values
    }

    /// Copies another configuration of the same mechanism; allocates nothing.
    ///
    /// # Panics
    ///
    /// If it is one of another mechanism, with another number of joints.
    pub fn copy_from(&mut self, other: &Self) {
        self.base = other.base;
        self.values.copy_from_slice(&other.values);
    }

    /// Becomes a copy of another of any mechanism; allocates nothing once it has held as many values.
    pub(crate) fn assign(&mut self, other: &Self) {
        self.base = other.base;
        self.values.clear();
        self.values.extend_from_slice(&other.values);
    }

    /// True if no value is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        is_finite(&self.base) && self.values.iter().all(JointValue::is_finite)
    }

    /// Boxplus: takes the tangent step `step`, [`Mechanism::dof`] numbers of rad and metres, from here to `out`.
    ///
    /// Limits are not looked at: see [`Mechanism::clamp`]. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If a length is not the mechanism's.
    pub fn integrate(&self, mechanism: &Mechanism, step: &[f64], out: &mut Self) {
        self.assert_fits(mechanism, step.len());
        assert_eq!(out.values.len(), mechanism.len(), "a value a joint");
        out.base = self.base;
        for (joint, (from, to)) in self.values.iter().zip(&mut out.values).enumerate() {
            *to = from.plus(&step[mechanism.dofs(joint)]);
        }
    }

    /// Boxminus: the tangent step from here to `to`, such that [`integrate`](Self::integrate) gives `to`.
    ///
    /// Of the two ways to turn, the shorter. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If a length is not the mechanism's.
    pub fn difference(&self, mechanism: &Mechanism, to: &Self, out: &mut [f64]) {
        self.assert_fits(mechanism, out.len());
        assert_eq!(to.values.len(), mechanism.len(), "a value a joint");
        for (joint, (from, to)) in self.values.iter().zip(&to.values).enumerate() {
            from.minus_into(to, &mut out[mechanism.dofs(joint)]);
        }
    }

    fn assert_fits(&self, mechanism: &Mechanism, dof: usize) {
        assert_eq!(self.values.len(), mechanism.len(), "a value a joint");
        assert_eq!(dof, mechanism.dof(), "a number a degree of freedom");
    }
}

pub(crate) fn is_finite(placement: &Isometry3<f64>) -> bool {
    let translation = placement.translation.vector.iter();
    let mut all = translation.chain(placement.rotation.coords.iter());
    all.all(|v| v.is_finite())
}

fn vector(step: &[f64]) -> Vector3<f64> {
    Vector3::new(step[0], step[1], step[2])
}
