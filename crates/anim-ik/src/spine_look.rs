//! Looking with the whole spine: several joints share the turn toward a target.
//!
//! Each joint, from the hips up, takes its share of the turn that the head still needs, no further than its own limit; what
//! a stiff joint cannot give, those above it take over, and the head, which comes last, takes what is left and looks exactly.
//! Use it where [`LookAt`] alone would break a neck. One solve costs one forward pass, however many joints take part.
//!
//! ```
//! use anim_ik::{LookAt, LookAtGoal, SpineJoint, SpineLook};
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y() * 0.2) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0)), bone(Some(1))])?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let head = LookAt::new(skeleton.joint(2), Vec3::z(), Vec3::y(), 1.2)?;
//! let share = |source, share| SpineJoint { joint: skeleton.joint(source), share, limit: 0.5 };
//! let spine = SpineLook::new(&skeleton, vec![share(0, 0.2), share(1, 0.3)], 0.5, head)?;
//!
//! let goal = LookAtGoal::new(Vec3::new(2.0, 0.6, 2.0));
//! assert!(spine.solve(&skeleton, &goal, &mut pose, &mut globals).reached);
//! // An eighth of a turn, a fifth of it in the hips.
//! let hips = quat::log(pose.rotation(skeleton.joint(0)));
//! assert!((hips.y - 0.2 * std::f32::consts::FRAC_PI_4).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::f32::consts::PI;

use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::error::check_line;
use crate::frame::{Frame, is_finite, position};
use crate::look_at::Sight;
use crate::{IkError, LookAt, LookAtGoal, Outcome};

/// A joint below the head that takes part in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpineJoint {
    /// Which.
    pub joint: JointId,
    /// Its part of the turn, against those of the others.
    pub share: f32,
    /// How far it turns at most from its pose, rad.
    pub limit: f32,
}

/// A head and the joints that turn with it.
#[derive(Clone, Debug, PartialEq)]
pub struct SpineLook {
    joints: Vec<SpineJoint>,
    head_share: f32,
    head: LookAt,
}

impl SpineLook {
    /// The `joints`, each above the next and all above the head's; `head_share` is the head's own share.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if a joint is not the skeleton's, [`IkError::NotBelow`] if they are not in line,
    /// [`IkError::Share`] if a share is negative or not finite, or the head's is 0, [`IkError::Limit`] if a limit is negative
    /// or not a number.
    pub fn new(
        skeleton: &Skeleton,
        joints: Vec<SpineJoint>,
        head_share: f32,
        head: LookAt,
    ) -> Result<Self, IkError> {
        let line = || joints.iter().map(|spine| spine.joint).chain([head.joint]);
        check_line(skeleton, line())?;
        for spine in &joints {
            let joint = spine.joint.index();
            check_share(joint, spine.share)?;
            if spine.limit.is_nan() || spine.limit < 0.0 {
                let limit = spine.limit;
                return Err(IkError::Limit { joint, limit });
            }
        }
        check_share(head.joint.index(), head_share)?;
        if head_share == 0.0 {
            return Err(IkError::Share {
                joint: head.joint.index(),
                share: 0.0,
            });
        }
        Ok(Self {
            joints,
            head_share,
            head,
        })
    }

    /// The joints below the head, from the lowest.
    pub fn joints(&self) -> &[SpineJoint] {
        &self.joints
    }

    /// The joint that looks.
    pub fn head(&self) -> &LookAt {
        &self.head
    }

    /// Turns all joints toward the goal.
    ///
    /// As [`LookAt::aim`]: the residual is the head's, rad, and weight 0, a target on the head and one that is not finite
    /// leave the pose bit for bit. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and joints do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        goal: &LookAtGoal,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let eye_before = position(globals, self.head.joint);
        let way = (goal.target - eye_before).try_normalize(1e-18);
        if way.filter(is_finite).is_none() || !goal.is_active() {
            let still = LookAtGoal {
                weight: 0.0,
                ..*goal
            };
            return self.head.aim(skeleton, &still, pose, globals);
        }
        let weight = goal.weight.min(1.0);
        let mut left: f32 = self.head_share + self.joints.iter().map(|j| j.share).sum::<f32>();
        // The globals stay those of the pose as it came; all above a joint follows the turns gathered up to it.
        let (mut gathered, mut eye) = (Quat::identity(), eye_before);
        let spine = self.joints.iter().map(|j| (j.joint, j.share, j.limit, PI));
        let head = (self.head.joint, self.head_share, PI, self.head.limit);
        for (joint, share, limit, view_limit) in spine.chain([head]) {
            let turn = self.turn_left(globals, goal, gathered, eye, view_limit);
            let turn = part(turn, (share * weight / left).min(1.0), limit);
            let pivot = eye - gathered * (eye_before - position(globals, joint));
            eye = pivot + turn * (eye - pivot);
            let before = gathered;
            gathered = turn * gathered;
            let frame = Frame::of_parent(skeleton, joint, globals);
            let local = before.inverse() * gathered;
            frame.turn(joint, local.into_inner(), 1.0, pose);
            left -= share * weight;
        }
        let lowest = self.joints.first().map_or(self.head.joint, |j| j.joint);
        skeleton.globals_below(lowest, pose, globals);
        let eye = position(globals, self.head.joint);
        let residual = self.head.residual(globals, goal.target - eye);
        Outcome {
            reached: residual <= 1e-5,
            residual,
            iterations: 1,
        }
    }

    /// The turn that would make the head look, once everything `gathered` is done and the head is at `eye`.
    fn turn_left(
        &self,
        globals: &Globals,
        goal: &LookAtGoal,
        gathered: Quat,
        eye: Vec3,
        limit: f32,
    ) -> Quat {
        let to_target = goal.target - eye;
        let Some(wanted) = to_target.try_normalize(1e-18) else {
            return Quat::identity();
        };
        let Sight { view, up } = self.head.sight(globals, to_target.norm());
        let sight = Sight {
            view: gathered * view,
            up: gathered * up,
        };
        Quat::new_normalize(sight.turn(wanted, goal, limit))
    }
}

/// The part `alpha` of `turn`, by the short way and no further than `limit`, rad.
fn part(turn: Quat, alpha: f32, limit: f32) -> Quat {
    let vector = quat::log(turn) * alpha;
    let angle = vector.norm();
    quat::exp(if angle > limit {
        vector * (limit / angle)
    } else {
        vector
    })
}

fn check_share(joint: usize, share: f32) -> Result<(), IkError> {
    if share.is_finite() && share >= 0.0 {
        Ok(())
    } else {
        Err(IkError::Share { joint, share })
    }
}
