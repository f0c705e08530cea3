//! Aim: eyes at a target, a piston at its other end, a muzzle at a mark.
//!
//! The joint turns by the shortest arc from where it is posed, then rolls about its aim until its up axis leans to where
//! it should. All is solved in the parent's space, where a joint's rotation acts, so the aim is exact under any parent
//! that is not flat: mirrored, stretched or sheared.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{Aim, DriverSpec, Source, Toward, Up};
//!
//! let spec = DriverSpec::new("eye.L", Aim {
//!     joint: "eye.L".into(),
//!     axis: Vec3::z(),
//!     sources: vec![Source::new("gaze")],
//!     up: Some(Up { axis: Vec3::y(), toward: Toward::Direction(Vec3::y()) }),
//! });
//! ```

use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target, mean_vector};
use super::spec::{Binder, JointRef, Source};
use crate::JointId;

/// Points an axis of a joint at the mean position of its sources.
///
/// Without `up` it is the aim constraint of VRM 1.0 on a joint that is posed at rest. A source on the joint itself, or a
/// parent that is flat, leave the joint as posed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aim<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// What should point at the sources, in its own axes; need not be unit.
    pub axis: Vec3,
    /// What it points at, at least one; none may hang on the joint.
    pub sources: Vec<Source<J>>,
    /// What decides the roll about the aim; without it, the shortest arc.
    #[serde(default = "none")]
    pub up: Option<Up<J>>,
}

/// Written out because serde would ask for a default joint.
fn none<T>() -> Option<T> {
    None
}

/// Which axis should lean where, as far as the aim allows; a direction along the aim decides nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Up<J = JointRef> {
    /// In the joint's own axes, at an angle to the aim; need not be unit.
    pub axis: Vec3,
    /// Where to.
    pub toward: Toward<J>,
}

/// A direction to lean to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Toward<J = JointRef> {
    /// Of model space.
    Direction(Vec3),
    /// From the aiming joint to another.
    Joint(J),
    /// Of another joint's own axes.
    Axis {
        /// Whose.
        joint: J,
        /// Which.
        axis: Vec3,
    },
}

impl Aim {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Aim<JointId>, DriverError> {
        let axis = binder.axis(self.axis, "axis")?;
        let up = self.up.map(|up| up.bind(axis, binder)).transpose()?;
        Ok(Aim {
            joint: binder.joint(&self.joint)?,
            axis,
            sources: binder.sources(&self.sources)?,
            up,
        })
    }
}

impl Up {
    fn bind(&self, aim: Vec3, binder: &Binder<'_>) -> Result<Up<JointId>, DriverError> {
        let axis = binder.axis(self.axis, "up axis")?;
        if axis.cross(&aim).norm() < 1e-3 {
            return Err(binder.no_axis("up axis"));
        }
        let toward = match &self.toward {
            Toward::Direction(to) => Toward::Direction(binder.axis(*to, "up direction")?),
            Toward::Joint(joint) => Toward::Joint(binder.joint(joint)?),
            Toward::Axis { joint, axis } => Toward::Axis {
                joint: binder.joint(joint)?,
                axis: binder.axis(*axis, "up direction")?,
            },
        };
        Ok(Up { axis, toward })
    }
}

impl Aim<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.read_position(self.joint);
        touched.read(self.joint, Part::Scale);
        touched.write(self.joint, Part::Rotation);
        for source in &self.sources {
            touched.read_position(source.joint);
        }
        match self.up.as_ref().map(|up| &up.toward) {
            Some(Toward::Joint(joint)) => touched.read_position(*joint),
            Some(Toward::Axis { joint, .. }) => touched.read_global(*joint),
            Some(Toward::Direction(_)) | None => {}
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let own = scene.position(self.joint);
        // What is nearer than rounding can tell is in no direction.
        let is_apart = |target: &Vec3| (target - own).norm() > 1e-6 * (target.norm() + own.norm());
        let target = mean_vector(&self.sources, |joint| scene.position(joint)).filter(is_apart);
        let parent_from_model = scene.parent_from_model(self.joint);
        let Some((target, parent_from_model)) = target.zip(parent_from_model) else {
            return;
        };
        let local = scene.pose.get(self.joint);
        let aim = parent_from_model.transform_point(target) - local.translation;
        let Some(aim) = aim.try_normalize(1e-18) else {
            return;
        };
        let posed = |axis: Vec3| local.rotation * axis.component_mul(&local.scale);
        let up = self.up.as_ref().map(|up| {
            let toward = match &up.toward {
                Toward::Direction(direction) => *direction,
                Toward::Joint(joint) => scene.position(*joint) - own,
                Toward::Axis { joint, axis } => scene.globals.get(*joint).transform_vector(*axis),
            };
            (posed(up.axis), parent_from_model.transform_vector(toward))
        });
        let half_turn = up.map_or_else(Vec3::zeros, |(up, _)| up);
        let arc = quat::between_or(posed(self.axis), aim, half_turn);
        // Nearly along the aim, rounding would choose the roll.
        let is_across =
            |(_, toward): &(Vec3, Vec3)| aim.cross(toward).norm() > 1e-5 * toward.norm();
        let roll = up
            .filter(is_across)
            .map_or_else(Quat::identity, |(up, toward)| {
                quat::around(aim, arc * up, toward)
            });
        let rotation = roll * arc * local.rotation;
        scene.write(self.joint, Target::rotation(rotation));
    }
}
