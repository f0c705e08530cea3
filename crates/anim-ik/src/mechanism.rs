//! A tree of joints with true degrees of freedom, in double precision: what the numeric solvers solve on.
//!
//! A [`Skeleton`](anim_skeleton::Skeleton) turns every joint at will; a knee does not. A mechanism gives each joint the
//! motion its [`JointLimit`] allows (a hinge has one number, a ball three), so that solvers search only where joints can
//! go. Make one of a skeleton with [`Mechanism::from_skeleton`], or joint by joint for machines.
//!
//! ```
//! use anim_ik::{Frames, Mechanism, MechanismJoint};
//! use anim_math::Vec3;
//! use anim_math::nalgebra::Isometry3;
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! let hinge = JointLimit::new(JointLimitSpec::Hinge { axis: Vec3::z(), range: [-3.0, 3.0] })?;
//! let link = Isometry3::translation(1.0, 0.0, 0.0);
//! let arm = Mechanism::new(vec![
//!     MechanismJoint::new(None, Isometry3::identity(), hinge),
//!     MechanismJoint::new(Some(0), link, hinge),
//!     MechanismJoint::new(Some(1), link, JointLimit::new(JointLimitSpec::Fixed)?),
//! ])?;
//! assert_eq!(arm.dof(), 2);
//!
//! let mut frames = Frames::new(&arm);
//! arm.forward(&arm.rest(), &mut frames);
//! assert_eq!(frames.get(2).translation.x, 2.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::iter::successors;
use std::ops::Range;

use anim_math::nalgebra::Isometry3;
use anim_math::random::Random;
use anim_skeleton::JointLimit;

use crate::configuration::is_finite;
use crate::joint_model::JointModel;
use crate::skeleton_map::SkeletonMap;
use crate::{Configuration, IkError};

/// A joint of a [`Mechanism`].
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismJoint {
    /// Optional, and need not be unique.
    pub name: Option<String>,
    /// Index of the parent, smaller than the joint's own; `None` for a root.
    pub parent: Option<usize>,
    /// Where the joint rests in its parent, metres.
    pub parent_from_joint: Isometry3<f64>,
    /// How it moves from there.
    pub limit: JointLimit,
}

impl MechanismJoint {
    /// A joint without a name.
    pub fn new(
        parent: Option<usize>,
        parent_from_joint: Isometry3<f64>,
        limit: JointLimit,
    ) -> Self {
        Self {
            name: None,
            parent,
            parent_from_joint,
            limit,
        }
    }
}

/// `model_from_joint` of every joint of a mechanism, parents first.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames(Vec<Isometry3<f64>>);

impl Frames {
    /// Identities for the joints of `mechanism`.
    pub fn new(mechanism: &Mechanism) -> Self {
        Self(vec![Isometry3::identity(); mechanism.len()])
    }

    /// `model_from_joint`.
    pub fn get(&self, joint: usize) -> &Isometry3<f64> {
        &self.0[joint]
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Isometry3<f64>] {
        &self.0
    }
}

/// A validated tree, or forest, of joints; parents precede children.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    joints: Vec<MechanismJoint>,
    models: Vec<JointModel>,
    /// J + 1 places.
    first_dof: Vec<usize>,
    pub(crate) skeleton: Option<SkeletonMap>,
}

impl Mechanism {
    /// Checks `joints`.
    ///
    /// # Errors
    ///
    /// [`IkError::ParentOrder`] if a parent does not come first, [`IkError::NotFinite`] if a rest frame is not.
    pub fn new(joints: Vec<MechanismJoint>) -> Result<Self, IkError> {
        let mut first_dof = vec![0];
        let mut models = Vec::with_capacity(joints.len());
        let mut dof = 0;
        for (joint, spec) in joints.iter().enumerate() {
            if let Some(parent) = spec.parent.filter(|parent| *parent >= joint) {
                return Err(IkError::ParentOrder { joint, parent });
            }
            if !is_finite(&spec.parent_from_joint) {
                return Err(IkError::NotFinite { joint });
            }
            let model = JointModel::new(&spec.limit);
            dof += model.dof();
            first_dof.push(dof);
            models.push(model);
        }
        Ok(Self {
            joints,
            models,
            first_dof,
            skeleton: None,
        })
    }

    /// Number of joints, J.
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// True without joints.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[MechanismJoint] {
        &self.joints
    }

    /// The parent of `joint`; `None` for a root.
    pub fn parent(&self, joint: usize) -> Option<usize> {
        self.joints[joint].parent
    }

    /// `joint`, its parent, and so on up to the root.
    pub fn ancestry(&self, joint: usize) -> impl Iterator<Item = usize> {
        successors(Some(joint), |at| self.joints[*at].parent)
    }

    /// The first joint of that name.
    pub fn find(&self, name: &str) -> Option<usize> {
        let named = |joint: &MechanismJoint| joint.name.as_deref() == Some(name);
        self.joints.iter().position(named)
    }

    /// Degrees of freedom of the whole: the length of a tangent step.
    pub fn dof(&self) -> usize {
        self.first_dof[self.joints.len()]
    }

    /// The place of `joint` in a tangent step: hinge and slide 1, universal 2, ball 3 about its own axes, free 3 of
    /// translation along the axes at rest and 3 of rotation about its own.
    pub fn dofs(&self, joint: usize) -> Range<usize> {
        self.first_dof[joint]..self.first_dof[joint + 1]
    }

    /// Every joint at rest, which is zero: a range that excludes zero excludes rest.
    pub fn rest(&self) -> Configuration {
        Configuration::new(self.models.iter().map(JointModel::rest).collect())
    }

    /// Forward kinematics: `model_from_joint = model_from_parent · parent_from_joint at rest · motion`.
    ///
    /// O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `configuration` or `frames` are of another mechanism.
    pub fn forward(&self, configuration: &Configuration, frames: &mut Frames) {
        assert_eq!(configuration.values().len(), self.len(), "a value a joint");
        assert_eq!(frames.0.len(), self.len(), "a frame a joint");
        let each = self
            .joints
            .iter()
            .zip(&self.models)
            .zip(configuration.values());
        for (joint, ((spec, model), value)) in each.enumerate() {
            let rest = match spec.parent {
                Some(parent) => frames.0[parent] * spec.parent_from_joint,
                None => configuration.base * spec.parent_from_joint,
            };
            frames.0[joint] = rest * model.motion(value);
        }
    }

    /// Moves every joint to the nearest value within its limits; true if that changed any.
    ///
    /// Angles and distances are within their range exactly, balls within rounding of theirs (a few 1e-16 rad).
    pub fn clamp(&self, configuration: &mut Configuration) -> bool {
        let mut changed = false;
        for (model, value) in self.models.iter().zip(configuration.values_mut()) {
            let clamped = model.clamp(value);
            changed |= clamped != *value;
            *value = clamped;
        }
        changed
    }

    /// True if [`clamp`](Self::clamp) would change nothing.
    pub fn is_within(&self, configuration: &Configuration) -> bool {
        let mut each = self.models.iter().zip(configuration.values());
        each.all(|(model, value)| model.clamp(value) == *value)
    }

    /// Draws every joint from within its limits; unlimited rotations from all, while free joints keep their place.
    pub fn randomize(&self, random: &mut Random, configuration: &mut Configuration) {
        for (model, value) in self.models.iter().zip(configuration.values_mut()) {
            *value = model.random(random, value);
        }
    }

    pub(crate) fn models(&self) -> &[JointModel] {
        &self.models
    }
}
