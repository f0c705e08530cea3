//! The plane that a limb bends in, remembered from frame to frame.
//!
//! A two-bone solve has no plane of its own where the limb is straight or its pole lies on the line to the target; a target
//! that passes there would throw the knee to the other side in one frame. A solve that is handed the plane of the last one
//! ([`TwoBone::solve_steadily`](crate::TwoBone::solve_steadily)) turns it gradually instead. The plane is a plain value that
//! the caller keeps: no solver has hidden state, and the same input gives the same output.
//!
//! ```
//! use anim_ik::{BendPlane, TwoBone, TwoBoneGoal};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent, x: f32| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::x() * x) };
//! let skeleton = Skeleton::new(vec![bone(None, 0.0), bone(Some(0), 1.0), bone(Some(1), 1.0)])?;
//! let arm = TwoBone::new(&skeleton, skeleton.joint(2))?;
//! let mut plane = BendPlane::default();
//! for frame in 0..10 {
//!     let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//!     skeleton.globals(&pose, &mut globals);
//!     let goal = TwoBoneGoal {
//!         pole: Some(Vec3::z() * 3.0),
//!         ..TwoBoneGoal::new(Vec3::new(0.1 * (frame - 5) as f32, 0.0, 1.5))
//!     };
//!     assert!(arm.solve_steadily(&skeleton, &goal, &mut plane, &mut pose, &mut globals).reached);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::Quaternion;
use anim_math::{Vec3, quat};
use serde::{Deserialize, Serialize};

use crate::arc::{Arc, Roll, carried};

/// The plane of a limb's last solve, and how far it may turn in the next one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BendPlane {
    /// The unit directions from root to target and of the plane's normal, in model space; `None` before the first solve.
    pub last: Option<[Vec3; 2]>,
    /// How far the plane turns at most about the line to the target in one solve, rad.
    pub most: f32,
}

impl Default for BendPlane {
    /// No plane yet, 8 degrees a solve.
    fn default() -> Self {
        Self {
            last: None,
            most: 0.14,
        }
    }
}

impl BendPlane {
    /// `aim` and then the roll about the line that brings the limb's normal where it should be, remembering that.
    ///
    /// * `aim`: brings the limb onto the line, without regard to the plane. * `normal`: the limb's before that. * `pole`:
    ///   from the root. `None` if there is no line, or nothing to roll to.
    #[cold]
    pub(crate) fn roll(
        &mut self,
        line: Option<Vec3>,
        aim: Quaternion<f32>,
        normal: Vec3,
        pole: Option<Vec3>,
    ) -> Option<Quaternion<f32>> {
        let line = line?;
        let across = |v: Vec3| v - line * line.dot(&v);
        let now = across(carried(aim, normal)).try_normalize(1e-18)?;
        let before = self.last.filter(|[line, normal]| {
            let is_unit = |v: &Vec3| (v.norm_squared() - 1.0).abs() < 1e-3;
            is_unit(line) && is_unit(normal)
        });
        // Taken along with the line, so that it stays perpendicular wherever the target goes.
        let before = before.map(|[last_line, last_normal]| {
            let moved = Arc::new(last_line, line, last_normal).carry(last_normal);
            across(moved).try_normalize(1e-3).unwrap_or(now)
        });
        let to_pole =
            pole.and_then(|pole| pole.try_normalize(1e-18)?.cross(&line).try_normalize(1e-5));
        let wanted = to_pole.or(before.filter(|_| pole.is_some())).unwrap_or(now);
        let normal = before.map_or(wanted, |before| {
            let angle = angle_about(line, before, wanted);
            let most = self.most.max(0.0);
            if angle.abs() <= most {
                wanted
            } else {
                quat::from_axis_angle(line, most.copysign(angle)) * before
            }
        });
        self.last = Some([line, normal]);
        let roll = Roll::by(now.cross(&normal).dot(&line), now.dot(&normal));
        Some(roll.about(line) * aim)
    }
}

/// The angle from `a` to `b`, both perpendicular to the unit `axis`, about it, rad.
fn angle_about(axis: Vec3, a: Vec3, b: Vec3) -> f32 {
    libm::atan2f(axis.dot(&a.cross(&b)), a.dot(&b))
}
