//! Point: a joint that stays where others are.
//!
//! ```
//! use anim_skeleton::driver::{DriverSpec, Point, Source};
//!
//! // Half way between the hands.
//! let spec = DriverSpec::new("grip", Point {
//!     joint: "grip".into(),
//!     sources: vec![Source::new("hand.L"), Source::new("hand.R")],
//!     keep_offset: false,
//!     axes: [true; 3],
//! });
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::orient::{all, yes};
use super::scene::{Scene, Target, mean_vector};
use super::spec::{Binder, JointRef, Source};
use crate::JointId;

/// Puts a joint at the mean position of its sources, in model space.
///
/// A parent that is flat leaves the joint as posed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point<J = JointRef> {
    /// What moves.
    pub joint: J,
    /// What it follows, at least one; none may hang on the joint.
    pub sources: Vec<Source<J>>,
    /// True keeps the distance of the rest pose, along the model's axes.
    #[serde(default = "yes")]
    pub keep_offset: bool,
    /// Which of the model's axes it follows along; along the others it stays as posed.
    #[serde(default = "all")]
    pub axes: [bool; 3],
}

impl Point {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Point<JointId>, DriverError> {
        Ok(Point {
            joint: binder.joint(&self.joint)?,
            sources: binder.sources(&self.sources)?,
            keep_offset: self.keep_offset,
            axes: self.axes,
        })
    }
}

impl Point<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Translation);
        touched.read_parent(self.joint);
        for source in &self.sources {
            touched.read_position(source.joint);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let place = |source| {
            if self.keep_offset {
                let offset = scene.rest.position(self.joint) - scene.rest.position(source);
                scene.position(source) + offset
            } else {
                scene.position(source)
            }
        };
        let followed = mean_vector(&self.sources, place);
        let Some((followed, parent_from_model)) = followed.zip(scene.parent_from_model(self.joint))
        else {
            return;
        };
        let posed = scene.position(self.joint);
        let choose = |i: usize| if self.axes[i] { followed[i] } else { posed[i] };
        let place = Vec3::new(choose(0), choose(1), choose(2));
        let translation = parent_from_model.transform_point(place);
        scene.write(self.joint, Target::translation(translation));
    }
}
