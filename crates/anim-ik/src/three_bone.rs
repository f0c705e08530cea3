//! Three bones and a target: the hind legs of animals, whose hock bends against the knee.
//!
//! Hip, knee and hock have one angle more than a target decides, so a rule decides it: the pair of bones below the knee keeps
//! its share of the limb's slack. Slack is what a limb lacks of being straight, l₁ + l₂ + l₃ − d for the whole and
//! l₂ + l₃ − |end − knee| for the pair; the share is that of the pose, or of the rest pose where the pose is nearly straight.
//! So both middle joints open and close together, are straight at the same time, and a pose that is already on its target
//! stays. The hock opens by that rule, and hip and knee solve what is left as the two bones of a [`TwoBone`].
//!
//! ```
//! use anim_ik::{ThreeBone, TwoBoneGoal};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent, y: f32, z: f32| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::new(0.0, y, z)),
//! };
//! // Hip, knee in front of it, hock behind, paw.
//! let leg = [bone(None, 0.9, 0.0), bone(Some(0), -0.3, 0.15), bone(Some(1), -0.3, -0.2), bone(Some(2), -0.25, 0.05)];
//! let skeleton = Skeleton::new(leg.to_vec())?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let leg = ThreeBone::new(&skeleton, skeleton.joint(3))?;
//! let goal = TwoBoneGoal::new(Vec3::new(0.0, 0.2, 0.1));
//! assert!(leg.solve(&skeleton, &goal, &mut pose, &mut globals).reached);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::frame::{Frame, position};
use crate::limb::{Limb, Way, eased};
use crate::{BendPlane, IkError, Outcome, TwoBone, TwoBoneGoal};

/// A limb of three bones: the rotations of hip, knee and hock bring the end to a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreeBone {
    /// Hip, knee and end, as if the bones below the knee were one.
    pub limb: TwoBone,
    /// Knee, hock and end.
    pub lower: TwoBone,
    /// The lower pair's share of the slack, 0 to 1, where the pose is straight: that of the rest pose, or a half if that is
    /// straight too.
    pub share: f32,
}

/// Where the slack is below this part of a limb's length, the share of the pose gives way to the one set.
const STRAIGHT: f32 = 1e-3;

impl ThreeBone {
    /// The limb that ends in `end`, and begins three joints above it.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if the joint is not the skeleton's, [`IkError::NoParents`] if there are not three above it.
    pub fn new(skeleton: &Skeleton, end: JointId) -> Result<Self, IkError> {
        let lower = TwoBone::new(skeleton, end)?;
        let hip = skeleton.parent(lower.root);
        let hip = hip.ok_or(IkError::NoParents { joint: end.index() })?;
        Self::of(skeleton, [hip, lower.root, lower.mid, end])
    }

    /// The limb of hip, knee, hock and end, each below the one before; joints in between are kept as they are posed.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if a joint is not the skeleton's, [`IkError::NotBelow`] if they are not in line.
    pub fn of(skeleton: &Skeleton, [hip, knee, hock, end]: [JointId; 4]) -> Result<Self, IkError> {
        let limb = TwoBone::of(skeleton, hip, knee, end)?;
        let lower = TwoBone::of(skeleton, knee, hock, end)?;
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let mut leg = Self {
            limb,
            lower,
            share: 0.5,
        };
        leg.share = leg.bones(&globals).share(leg.share);
        Ok(leg)
    }

    /// Brings the end to its goal by turning hip, knee and hock, and the end itself if a rotation is asked for.
    ///
    /// As [`TwoBone::solve`]: the pole is the knee's, weights and softness mean the same, out of reach all three bones are
    /// straight, too near they are folded. Bones do not stretch. With a partial weight each joint does its part of the way.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and limb do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        self.solve_in(skeleton, goal, None, pose, globals)
    }

    /// As [`solve`](Self::solve), with the plane of the knee remembered: see [`TwoBone::solve_steadily`].
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and limb do not belong together.
    pub fn solve_steadily(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        plane: &mut BendPlane,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        self.solve_in(skeleton, goal, Some(plane), pose, globals)
    }

    fn solve_in(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        plane: Option<&mut BendPlane>,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let bones = self.bones(globals);
        let length = bones.length();
        let is_active = goal.weight > 0.0 && goal.is_finite() && length.is_finite();
        if is_active {
            let hip = position(globals, self.limb.root);
            let knee_from_hip = position(globals, self.limb.mid) - hip;
            let [hip_frame, knee_frame, hock_frame] =
                [self.limb.root, self.limb.mid, self.lower.mid]
                    .map(|joint| Frame::of_parent(skeleton, joint, globals));
            let way = Way::new((goal.target - hip).into());
            let distance = eased(way.far, length, goal.softness);
            let hock_axis = hock_frame.model_axis(self.lower.hinge);
            let chord = bones.chord(distance, bones.share(self.share));
            let normal = bones.lower.normal(hock_axis);
            let (shank, open) = bones.lower.opening(chord, normal);
            let below_knee = bones.lower.upper + shank;
            let limb = Limb::new(knee_from_hip, below_knee);
            let knee_axis = knee_frame.model_axis(self.limb.hinge);
            let pole = goal.pole.map(|pole| pole - hip);
            let (swing, bend) = limb.careful_turns(&way, distance, knee_axis, pole, plane);
            hock_frame.turn(self.lower.mid, open, goal.weight, pose);
            knee_frame.turn(self.limb.mid, bend, goal.weight, pose);
            hip_frame.turn(self.limb.root, swing, goal.weight, pose);
            skeleton.globals_below(self.limb.root, pose, globals);
        }
        self.limb
            .finish(skeleton, goal, is_active, length, pose, globals)
    }

    fn bones(&self, globals: &Globals) -> Bones {
        let joints = [self.limb.root, self.limb.mid, self.lower.mid, self.limb.end];
        let [a, b, c, d] = joints.map(|joint| position(globals, joint));
        Bones {
            l1: (b - a).norm(),
            reach: (d - a).norm(),
            chord: (d - b).norm(),
            lower: Limb::new(c - b, d - c),
        }
    }
}

/// Three bones in model space, m.
struct Bones {
    l1: f32,
    /// From hip to end.
    reach: f32,
    /// From knee to end.
    chord: f32,
    lower: Limb,
}

impl Bones {
    fn length(&self) -> f32 {
        self.l1 + self.lower.l1 + self.lower.l2
    }

    /// The lower pair's share of the slack as it is, `otherwise` where there is none.
    fn share(&self, otherwise: f32) -> f32 {
        let slack = self.length() - self.reach;
        let least = STRAIGHT * self.length();
        let own = (self.lower.l1 + self.lower.l2 - self.chord).max(0.0);
        // As if the limb had a little more slack, shared as set.
        let missing = (least - slack).max(0.0);
        if least > 0.0 {
            ((own + otherwise * missing) / (slack.max(0.0) + missing)).clamp(0.0, 1.0)
        } else {
            otherwise
        }
    }

    /// How far the end should be from the knee for it to be `distance` from the hip, m.
    ///
    /// It follows the slack, and stays where the triangle of thigh, chord and distance closes.
    fn chord(&self, distance: f32, share: f32) -> f32 {
        let (l1, l2, l3) = (self.l1, self.lower.l1, self.lower.l2);
        let slack = (self.length() - distance).max(0.0);
        let wanted = l2 + l3 - share * slack;
        let most = (l2 + l3).min(l1 + distance);
        let least = (l2 - l3).abs().max((l1 - distance).abs()).min(most);
        wanted.clamp(least, most)
    }
}
