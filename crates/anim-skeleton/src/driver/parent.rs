//! Parent: a joint that follows others as if it hung on them, whatever it really hangs on.
//!
//! ```
//! use anim_skeleton::driver::{DriverSpec, Parent, Source};
//!
//! // A sword that is carried as it lay in the hand at rest; switch hands with two drivers and their weights.
//! let kind = Parent { joint: "sword".into(), sources: vec![Source::new("hand.R")], keep_offset: true };
//! let spec = DriverSpec::new("sword", kind);
//! ```

use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::orient::yes;
use super::scene::{Scene, Target, mean_rotation, mean_vector};
use super::spec::{Binder, JointRef, Source};
use crate::JointId;

/// Moves and turns a joint rigidly with the mean of its sources.
///
/// The scale of the sources is not followed, so the offset keeps its length; shear is ignored for the rotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parent<J = JointRef> {
    /// What moves.
    pub joint: J,
    /// What it follows, at least one; none may hang on the joint.
    pub sources: Vec<Source<J>>,
    /// True keeps the place relative to each source that it has at rest; false puts the joint on them.
    #[serde(default = "yes")]
    pub keep_offset: bool,
}

impl Parent {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Parent<JointId>, DriverError> {
        Ok(Parent {
            joint: binder.joint(&self.joint)?,
            sources: binder.sources(&self.sources)?,
            keep_offset: self.keep_offset,
        })
    }
}

impl Parent<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Translation);
        touched.write(self.joint, Part::Rotation);
        touched.read_parent(self.joint);
        for source in &self.sources {
            touched.read_position(source.joint);
            touched.read(source.joint, Part::Rotation);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let place = |source| {
            if self.keep_offset {
                let offset = scene.rest.position(self.joint) - scene.rest.position(source);
                scene.position(source) + scene.model_turn_from_rest(source) * offset
            } else {
                scene.position(source)
            }
        };
        let rotation = |source| {
            if self.keep_offset {
                scene.model_turn_from_rest(source)
            } else {
                scene.frame(source)
            }
        };
        let place = mean_vector(&self.sources, place);
        let rotation = mean_rotation(&self.sources, rotation);
        let parent_from_model = scene.parent_from_model(self.joint);
        let Some(((place, rotation), parent_from_model)) =
            place.zip(rotation).zip(parent_from_model)
        else {
            return;
        };
        let rotation = if self.keep_offset {
            scene.local_of_model_turn(self.joint, rotation)
        } else {
            scene.parent_frame(self.joint).inverse() * rotation
        };
        let target = Target {
            translation: Some(parent_from_model.transform_point(place)),
            rotation: Some(rotation),
            scale: None,
        };
        scene.write(self.joint, target);
    }
}
