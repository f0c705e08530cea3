//! What an actor should reach or look at this frame, in world space.

use anim_ik::{LookAt, Outcome, TwoBone, TwoBoneGoal};
use anim_math::{Affine, Quat, Vec3};
use anim_skeleton::{Globals, Pose, Skeleton};

/// One demand on an actor; goals are met in order, so a later one sees what an earlier one did.
#[derive(Clone, Debug)]
pub enum Goal {
    /// The end of a two-bone chain goes to a point.
    Reach {
        /// Which chain.
        chain: TwoBone,
        /// World space, m.
        target: Vec3,
        /// World-space rotation of the chain's end, if it matters.
        rotation: Option<Quat>,
        /// Where the middle joint bends to, world space; the plane of the pose if `None`.
        pole: Option<Vec3>,
        /// Fraction of the chain's length over which it eases into full extension.
        softness: f32,
        /// 0 leaves the pose alone, 1 reaches.
        weight: f32,
    },
    /// A joint turns its forward axis to a point.
    LookAt {
        /// Which joint, and how.
        look: LookAt,
        /// World space, m.
        target: Vec3,
        /// 0 leaves the pose alone, 1 looks.
        weight: f32,
    },
}

impl Goal {
    /// Moves the target, world space.
    pub fn set_target(&mut self, to: Vec3) {
        match self {
            Self::Reach { target, .. } | Self::LookAt { target, .. } => *target = to,
        }
    }

    /// Solves for this goal in model space.
    pub(crate) fn solve(
        &self,
        skeleton: &Skeleton,
        model_from_world: &Affine,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let model = |point: Vec3| model_from_world.transform_point(point);
        match self {
            Self::Reach {
                chain,
                target,
                rotation,
                pole,
                softness,
                weight,
            } => {
                let turn = model_from_world.to_transform().rotation;
                let goal = TwoBoneGoal {
                    rotation: rotation.map(|rotation| turn * rotation),
                    pole: pole.map(model),
                    softness: *softness,
                    weight: *weight,
                    ..TwoBoneGoal::new(model(*target))
                };
                chain.solve(skeleton, &goal, pose, globals)
            }
            Self::LookAt {
                look,
                target,
                weight,
            } => look.solve(skeleton, model(*target), *weight, pose, globals),
        }
    }
}
