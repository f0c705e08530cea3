//! How much farther away the error of a joint's track is seen.

use anim_math::Affine;

use crate::{Globals, JointId, JointTrack, Skeleton};

/// Poses at which lever arms are measured.
const POSES: usize = 32;

/// Lever arms of all joints of a clip.
pub(crate) struct Levers {
    /// From each joint to the farthest point below it, along the bones, in the model's unit.
    pub(crate) reach: Vec<f32>,
    /// The most that each joint's ancestors stretch it.
    stretch: Vec<f32>,
    /// The least scale of each joint.
    shrink: Vec<f32>,
}

impl Levers {
    /// The largest of evenly many poses.
    pub(crate) fn measure(
        skeleton: &Skeleton,
        tracks: &[(JointId, &JointTrack)],
        times: &[f32],
        shell: f32,
    ) -> Self {
        let count = skeleton.len();
        let mut levers = Self {
            reach: vec![shell; count],
            stretch: vec![0.0; count],
            shrink: vec![f32::INFINITY; count],
        };
        let mut pose = skeleton.rest().clone();
        let mut globals = Globals::new(skeleton);
        let mut reach = vec![shell; count];
        for time in times.iter().step_by(times.len().div_ceil(POSES).max(1)) {
            for (joint, track) in tracks {
                track.write(*time, *joint, &mut pose);
            }
            skeleton.globals(&pose, &mut globals);
            reach.fill(shell);
            for joint in skeleton.joints().rev() {
                let here = joint.index();
                levers.reach[here] = levers.reach[here].max(reach[here]);
                levers.shrink[here] = levers.shrink[here].min(pose.scale(joint).abs().min());
                let Some(parent) = skeleton.parent(joint) else {
                    levers.stretch[here] = 1.0;
                    continue;
                };
                let model_from_parent = globals.get(parent);
                let bone = globals.get(joint).translation - model_from_parent.translation;
                let above = parent.index();
                reach[above] = reach[above].max(bone.norm() + reach[here]);
                levers.stretch[here] = levers.stretch[here].max(largest_stretch(model_from_parent));
            }
        }
        levers
    }

    /// Error in model space for a unit of error of `track`: 1/rad for a rotation.
    pub(crate) fn of(&self, joint: JointId, track: &JointTrack) -> f32 {
        let joint = joint.index();
        match track {
            JointTrack::Translation(_) => self.stretch[joint],
            JointTrack::Rotation(_) => self.reach[joint],
            JointTrack::Scale(_) => self.reach[joint] / self.shrink[joint].max(f32::MIN_POSITIVE),
        }
    }
}

/// The longest axis.
fn largest_stretch(affine: Affine) -> f32 {
    let axes = affine.linear.column_iter();
    axes.map(|axis| axis.norm()).fold(0.0, f32::max)
}
