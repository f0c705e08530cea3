//! Orient: a joint that turns as others turn.
//!
//! ```
//! use anim_skeleton::driver::{DriverSpec, Orient, Source, Space};
//!
//! // A skirt joint that takes over what both thighs do, half each, but about its x axis only.
//! let spec = DriverSpec::new("skirt", Orient {
//!     joint: "skirt front".into(),
//!     sources: vec![Source::new("thigh.L"), Source::new("thigh.R")],
//!     space: Space::Local,
//!     keep_offset: true,
//!     axes: [true, false, false],
//! });
//! ```

use anim_math::{Quat, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target, mean_rotation};
use super::spec::{Binder, JointRef, Source};
use crate::JointId;

/// Gives a joint the mean rotation of its sources.
///
/// In local space with the offset kept it is the rotation constraint of VRM 1.0 on a joint that is posed at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orient<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// What it follows, at least one; in model space none may hang on the joint.
    pub sources: Vec<Source<J>>,
    /// Whose rotation is taken over.
    #[serde(default)]
    pub space: Space,
    /// True takes over how the sources are turned from their rest; false their very rotation.
    #[serde(default = "yes")]
    pub keep_offset: bool,
    /// Which components follow, of the rotation vector from the joint's rest, in its own axes; the others stay as posed.
    #[serde(default = "all")]
    pub axes: [bool; 3],
}

/// Where rotations are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Each joint's own parent.
    #[default]
    Local,
    /// The model. Shear is ignored; turns keep their sense under mirrors.
    Model,
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn all() -> [bool; 3] {
    [true; 3]
}

impl Orient {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Orient<JointId>, DriverError> {
        Ok(Orient {
            joint: binder.joint(&self.joint)?,
            sources: binder.sources(&self.sources)?,
            space: self.space,
            keep_offset: self.keep_offset,
            axes: self.axes,
        })
    }
}

impl Orient<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Rotation);
        for source in &self.sources {
            touched.read(source.joint, Part::Rotation);
            if self.space == Space::Model {
                touched.read_parent(source.joint);
            }
        }
        if self.space == Space::Model {
            touched.read_parent(self.joint);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let Some(followed) = self.followed(scene) else {
            return;
        };
        let rest = scene.rest_rotation(self.joint);
        let rotation = if self.axes == [true; 3] {
            followed
        } else {
            let (to, from) = (
                quat::log(rest.inverse() * followed),
                quat::log(scene.turn_from_rest(self.joint)),
            );
            let choose = |i: usize| if self.axes[i] { to[i] } else { from[i] };
            rest * quat::exp(Vec3::new(choose(0), choose(1), choose(2)))
        };
        scene.write(self.joint, Target::rotation(rotation));
    }

    /// The local rotation if all axes follow.
    fn followed(&self, scene: &Scene<'_>) -> Option<Quat> {
        let mean = |rotation: &dyn Fn(JointId) -> Quat| mean_rotation(&self.sources, rotation);
        match (self.space, self.keep_offset) {
            (Space::Local, true) => {
                let turn = mean(&|source| scene.turn_from_rest(source))?;
                Some(scene.rest_rotation(self.joint) * turn)
            }
            (Space::Local, false) => mean(&|source| scene.pose.rotation(source)),
            (Space::Model, true) => {
                let turn = mean(&|source| scene.model_turn_from_rest(source))?;
                Some(scene.local_of_model_turn(self.joint, turn))
            }
            (Space::Model, false) => {
                let rotation = mean(&|source| scene.frame(source))?;
                Some(scene.parent_frame(self.joint).inverse() * rotation)
            }
        }
    }
}
