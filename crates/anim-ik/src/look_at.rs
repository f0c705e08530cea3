//! Turning one joint so that an axis of it points at a target: heads, eyes, turrets.
//!
//! The joint turns by the shortest arc from where it looks now, no further than its limit, and then rolls about its view
//! until its up axis stands upright. Chain several with rising weights for neck and head.
//!
//! ```
//! use anim_ik::LookAt;
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let head = JointSpec { name: None, parent: None, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![head])?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let gaze = LookAt::new(skeleton.joint(0), Vec3::z(), Vec3::y(), 1.2)?;
//! let outcome = gaze.solve(&skeleton, Vec3::new(2.0, 1.0, 2.0), 1.0, &mut pose, &mut globals);
//! assert!(outcome.reached);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::f32::consts::PI;

use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::arc::{Arc, Roll};
use crate::frame::{Frame, is_finite, position, vector};
use crate::{IkError, Outcome};

/// A joint that looks along one of its axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookAt {
    /// What turns.
    pub joint: JointId,
    /// The joint's own axis that should point at the target, unit length.
    pub forward: Vec3,
    /// The joint's own axis that should lean toward the model's +Y as far as the view allows, unit length; zero leaves the
    /// roll to the shortest arc.
    pub up: Vec3,
    /// How far the view may turn from where it points now, rad; π or more is no limit.
    pub limit: f32,
}

impl LookAt {
    /// A joint with its axes and its limit, rad; the axes need not be unit.
    ///
    /// # Errors
    ///
    /// [`IkError::Axes`] if `forward` is zero, `up` is along it, or either is not finite; [`IkError::Limit`] if `limit` is
    /// negative or not a number.
    pub fn new(joint: JointId, forward: Vec3, up: Vec3, limit: f32) -> Result<Self, IkError> {
        let axes = IkError::Axes {
            joint: joint.index(),
        };
        if !(is_finite(&forward) && is_finite(&up)) {
            return Err(axes);
        }
        let forward = forward.try_normalize(1e-18).ok_or(axes.clone())?;
        let up = up.try_normalize(1e-18).unwrap_or_else(Vec3::zeros);
        if up != Vec3::zeros() && forward.cross(&up).norm() < 1e-3 {
            return Err(axes);
        }
        if limit.is_nan() || limit < 0.0 {
            return Err(IkError::Limit {
                joint: joint.index(),
                limit,
            });
        }
        Ok(Self {
            joint,
            forward,
            up,
            limit,
        })
    }

    /// Turns the joint toward `target`, model space, m, by the part `weight` of what it takes, along the short arc.
    ///
    /// The residual is the angle that is left, rad. Weight 0, a target on the joint itself and one that is not finite
    /// leave the pose bit for bit. Where the view is within 0.2 rad of the vertical the roll fades out, for there is no
    /// upright there.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and joint do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        target: Vec3,
        weight: f32,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let to_target = target - position(globals, self.joint);
        let wanted = to_target.try_normalize(1e-18).filter(is_finite);
        let Some(wanted) = wanted else {
            return Outcome {
                reached: is_finite(&target),
                residual: 0.0,
                iterations: 0,
            };
        };
        let is_active = weight > 0.0;
        if is_active {
            let turn = self.turn(globals, wanted);
            let frame = Frame::of_parent(skeleton, self.joint, globals);
            frame.turn(self.joint, turn, weight, pose);
            skeleton.globals_below(self.joint, pose, globals);
        }
        let residual = angle(vector(globals, self.joint, self.forward), wanted);
        Outcome {
            reached: residual <= 1e-5,
            residual,
            iterations: u32::from(is_active),
        }
    }

    /// The model-space rotation that makes the joint look along the unit vector `wanted`, or as near as its limit allows,
    /// and its up axis upright: a quaternion times a positive factor.
    #[inline(always)]
    fn turn(&self, globals: &Globals, mut wanted: Vec3) -> Quaternion<f32> {
        let view = vector(globals, self.joint, self.forward);
        let length = view.norm();
        if length <= 1e-18 {
            return Quaternion::identity();
        }
        let scale = 1.0 / length;
        let (view, up) = (view * scale, vector(globals, self.joint, self.up) * scale);
        if self.limit < PI {
            let aim = quat::between_equal(view, wanted, up);
            wanted = limited(aim, self.limit) * view;
        }
        // Were it opposite, it would turn about the up axis.
        let arc = Arc::new(view, wanted, up);
        arc.rolled(upright(wanted, arc.carry(up), view.dot(&up)))
    }
}

/// The roll about the unit vector `view` that makes `up` lean toward +Y.
///
/// * `lean`: `view` · `up`.
#[inline(always)]
fn upright(view: Vec3, up: Vec3, lean: f32) -> Roll {
    let sine = up.x * view.z - up.z * view.x;
    let roll = Roll::by(sine, up.y - lean * view.y);
    let slope = view.x * view.x + view.z * view.z;
    if slope < STEEP {
        roll.part(slope / STEEP)
    } else {
        roll
    }
}

/// The squared sine of the angle to the vertical, 0.2 rad, under which the roll fades out.
const STEEP: f32 = 0.04;

/// The angle between two vectors of any length, rad.
#[inline(always)]
fn angle(a: Vec3, b: Vec3) -> f32 {
    let (sine2, cosine) = (a.cross(&b).norm_squared(), a.dot(&b));
    let cosine2 = cosine * cosine;
    if cosine > 0.0 && sine2 < 2.5e-7 * cosine2 {
        // A target that was met, as a rule: the tangent is the angle to f32 precision.
        (sine2 / cosine2).sqrt()
    } else {
        libm::atan2f(sine2.sqrt(), cosine)
    }
}

/// The same turn, but by no more than `limit`, rad.
fn limited(turn: Quat, limit: f32) -> Quat {
    let sine = turn.imag().norm();
    let angle = 2.0 * libm::atan2f(sine, turn.w);
    if angle > limit {
        quat::from_axis_angle(turn.imag() / sine, limit)
    } else {
        turn
    }
}
