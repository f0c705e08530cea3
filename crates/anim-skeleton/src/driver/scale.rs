//! Scale: a joint that grows as others grow.
//!
//! ```
//! use anim_skeleton::driver::{DriverSpec, Scale, Source};
//!
//! let kind = Scale { joint: "ear.R".into(), sources: vec![Source::new("ear.L")], keep_offset: true };
//! let spec = DriverSpec::new("ears", kind);
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::orient::yes;
use super::scene::{Scene, Target, mean_vector};
use super::spec::{Binder, JointRef, Source};
use crate::JointId;

/// Gives a joint the mean local scale of its sources, component by component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale<J = JointRef> {
    /// What is scaled.
    pub joint: J,
    /// What it follows, at least one.
    pub sources: Vec<Source<J>>,
    /// True multiplies the joint's rest by how the sources are scaled from theirs; a source flat at rest leaves the joint
    /// as posed.
    #[serde(default = "yes")]
    pub keep_offset: bool,
}

impl Scale {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Scale<JointId>, DriverError> {
        Ok(Scale {
            joint: binder.joint(&self.joint)?,
            sources: binder.sources(&self.sources)?,
            keep_offset: self.keep_offset,
        })
    }
}

impl Scale<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Scale);
        for source in &self.sources {
            touched.read(source.joint, Part::Scale);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let rest = scene.skeleton.rest();
        let base = if self.keep_offset {
            rest.scale(self.joint)
        } else {
            Vec3::repeat(1.0)
        };
        let growth = |source| {
            if self.keep_offset {
                scene.pose.scale(source).component_div(&rest.scale(source))
            } else {
                scene.pose.scale(source)
            }
        };
        if let Some(growth) = mean_vector(&self.sources, growth) {
            let scale = base.component_mul(&growth);
            scene.write(self.joint, Target::scale(scale));
        }
    }
}
