//! Pole: keeps a helper where the pole of a limb is, so that IK can take over from animation without a jump.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{DriverSpec, Pole};
//!
//! let spec = DriverSpec::new("knee pole.L", Pole {
//!     joint: "knee pole.L".into(),
//!     limb: ["thigh.L".into(), "shin.L".into(), "foot.L".into()],
//!     bend: Vec3::z(), // forward, in the thigh's own axes
//!     distance: 0.5,
//! });
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use crate::JointId;

/// How far the middle joint must stand off the line from root to tip, as a part of the limb's length, for the limb to
/// count as bent: well above what rounding does.
const BENT: f32 = 1e-4;

/// Puts a joint in the plane of a limb of two bones, at a distance from the middle joint on the side it bends to.
///
/// The bend is away from the line from root to tip, at a right angle to it. A straight limb has no plane: there it is what
/// of `bend` is at a right angle to the limb, and if nothing is, or the limb has no length, the joint stays as posed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pole<J = JointRef> {
    /// What moves; it must not carry the limb.
    pub joint: J,
    /// Root, middle and tip, such as hip, knee and ankle.
    pub limb: [J; 3],
    /// Where a straight limb would bend to, in the root's own axes; need not be unit.
    pub bend: Vec3,
    /// From the middle joint, m; negative is the other side.
    pub distance: f32,
}

impl Pole {
    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<Pole<JointId>, DriverError> {
        let [root, middle, tip] = &self.limb;
        binder.require(self.distance.is_finite(), "distance")?;
        Ok(Pole {
            joint: binder.joint(&self.joint)?,
            limb: [
                binder.joint(root)?,
                binder.joint(middle)?,
                binder.joint(tip)?,
            ],
            bend: binder.axis(self.bend, "bend")?,
            distance: self.distance,
        })
    }
}

impl Pole<JointId> {
    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.write(self.joint, Part::Translation);
        touched.read_parent(self.joint);
        touched.read_global(self.limb[0]);
        touched.read_position(self.limb[1]);
        touched.read_position(self.limb[2]);
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let [root, middle, tip] = self.limb.map(|joint| scene.position(joint));
        let length = (middle - root).norm() + (tip - middle).norm();
        let Some(along) = (tip - root).try_normalize(BENT * length) else {
            return;
        };
        let across = |v: Vec3| v - along * along.dot(&v);
        let bend = scene.globals.get(self.limb[0]).transform_vector(self.bend);
        let direction = across(middle - root)
            .try_normalize(BENT * length)
            .or_else(|| across(bend.normalize()).try_normalize(1e-3));
        let parent_from_model = scene.parent_from_model(self.joint);
        if let Some((direction, parent_from_model)) = direction.zip(parent_from_model) {
            let place = middle + direction * self.distance;
            let translation = parent_from_model.transform_point(place);
            scene.write(self.joint, Target::translation(translation));
        }
    }
}
