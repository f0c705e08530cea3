//! What a driver sees of the frame, and how it writes.
//!
//! The *frame* of a joint is its rotation in model space: that of its parent's axes, orthonormalised x first so that
//! shear is ignored, times its local one. Of mirrored axes it is the rotation of the axes times −1: conjugation by either
//! is the same, and turns keep their sense.

use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Affine, Quat, Vec3, quat};

use super::breathe::Breath;
use super::jiggle::Spring;
use super::spec::Source;
use super::spring_bone::Chain;
use crate::{Globals, JointId, Pose, Skeleton};

/// The rest pose in model space.
#[derive(Clone, Debug)]
pub(super) struct Rest {
    globals: Globals,
    /// Of all J joints.
    frames: Vec<Quat>,
}

impl Rest {
    pub(super) fn new(skeleton: &Skeleton) -> Self {
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let frame =
            |joint| parent_frame(skeleton, &globals, joint) * skeleton.rest().rotation(joint);
        Self {
            frames: skeleton.joints().map(frame).collect(),
            globals,
        }
    }

    pub(super) fn frame(&self, joint: JointId) -> Quat {
        self.frames[joint.index()]
    }

    pub(super) fn position(&self, joint: JointId) -> Vec3 {
        self.globals.get(joint).translation
    }

    /// A point of a joint's own space, in model space.
    pub(super) fn point(&self, joint: JointId, point: Vec3) -> Vec3 {
        self.globals.get(joint).transform_point(point)
    }
}

/// Everything one driver may look at and change.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) rest: &'a Rest,
    pub(super) pose: &'a mut Pose,
    pub(super) globals: &'a mut Globals,
    /// In (0, 1].
    pub(super) weight: f32,
    /// Seconds, finite and not negative.
    pub(super) dt: f32,
    /// Seconds since the state was made.
    pub(super) time: f64,
    pub(super) breath: Breath,
    pub(super) world_from_model: Affine,
    /// What the driver keeps from frame to frame.
    pub(super) spring: &'a mut Option<Spring>,
    pub(super) chain: &'a mut Chain,
    /// What it says besides moving joints.
    pub(super) output: &'a mut f32,
}

/// Where a driver at full weight would put a joint; `None` leaves a part alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    pub(super) translation: Option<Vec3>,
    pub(super) rotation: Option<Quat>,
    pub(super) scale: Option<Vec3>,
}

impl Target {
    pub(super) fn rotation(rotation: Quat) -> Self {
        Self {
            rotation: Some(rotation),
            ..Self::default()
        }
    }

    pub(super) fn translation(translation: Vec3) -> Self {
        Self {
            translation: Some(translation),
            ..Self::default()
        }
    }

    pub(super) fn scale(scale: Vec3) -> Self {
        Self {
            scale: Some(scale),
            ..Self::default()
        }
    }
}

impl Scene<'_> {
    /// Moves `joint` by the driver's weight from where it is to `target`, and what hangs on it along.
    ///
    /// A part that is not finite is left alone.
    pub(super) fn write(&mut self, joint: JointId, target: Target) {
        let weight = self.weight;
        let finite = |v: &Vec3| v.iter().all(|v| v.is_finite());
        let lerp = |from: Vec3, to: Vec3| {
            if weight < 1.0 {
                from * (1.0 - weight) + to * weight
            } else {
                to
            }
        };
        if let Some(to) = target.translation.filter(finite) {
            let from = self.pose.translation(joint);
            self.pose.set_translation(joint, lerp(from, to));
        }
        if let Some(to) = target.scale.filter(finite) {
            let from = self.pose.scale(joint);
            self.pose.set_scale(joint, lerp(from, to));
        }
        // Products of unit quaternions drift by a rounding each; the pose keeps them unit.
        let rotation = target.rotation;
        if let Some(to) = rotation.and_then(|q| quat::from_xyzw(q.coords.into())) {
            let to = if weight < 1.0 {
                quat::slerp(self.pose.rotation(joint), to, weight)
            } else {
                to
            };
            self.pose.set_rotation(joint, to);
        }
        self.skeleton.globals_below(joint, self.pose, self.globals);
    }

    /// How `joint` is turned from its rest, in its own axes: rest⁻¹ · now.
    pub(super) fn turn_from_rest(&self, joint: JointId) -> Quat {
        self.rest_rotation(joint).inverse() * self.pose.rotation(joint)
    }

    /// How `joint` is turned from its rest in model space: now · rest⁻¹.
    pub(super) fn model_turn_from_rest(&self, joint: JointId) -> Quat {
        self.frame(joint) * self.rest.frame(joint).inverse()
    }

    /// The local rotation `joint` has at rest.
    pub(super) fn rest_rotation(&self, joint: JointId) -> Quat {
        self.skeleton.rest().rotation(joint)
    }

    /// The local rotation of `joint` at which its model-space turn from rest is `turn`.
    pub(super) fn local_of_model_turn(&self, joint: JointId, turn: Quat) -> Quat {
        self.parent_frame(joint).inverse() * turn * self.rest.frame(joint)
    }

    /// The rotation of `joint` in model space.
    pub(super) fn frame(&self, joint: JointId) -> Quat {
        self.parent_frame(joint) * self.pose.rotation(joint)
    }

    /// The rotation of the space that `joint` is posed in.
    pub(super) fn parent_frame(&self, joint: JointId) -> Quat {
        parent_frame(self.skeleton, self.globals, joint)
    }

    /// From model space into the space that `joint` is posed in; `None` where that is flat.
    pub(super) fn parent_from_model(&self, joint: JointId) -> Option<Affine> {
        match self.skeleton.parent(joint) {
            Some(parent) => self.globals.get(parent).inverse(),
            None => Some(Affine::IDENTITY),
        }
    }

    /// The origin of `joint` in model space.
    pub(super) fn position(&self, joint: JointId) -> Vec3 {
        self.globals.get(joint).translation
    }
}

/// The weighted mean of a vector over `sources`; `None` if the weights sum to 0.
pub(super) fn mean_vector(
    sources: &[Source<JointId>],
    vector: impl Fn(JointId) -> Vec3,
) -> Option<Vec3> {
    let sum: f32 = sources.iter().map(|source| source.weight).sum();
    let term = |source: &Source<JointId>| vector(source.joint) * (source.weight / sum);
    let mean = sources
        .iter()
        .map(term)
        .fold(Vec3::zeros(), |mean, term| mean + term);
    (sum > 0.0).then_some(mean)
}

/// The weighted mean of a rotation over `sources`: the normalised sum of quaternions, each with the sign that is nearer
/// to the sum so far. `None` if weights or quaternions sum to 0.
pub(super) fn mean_rotation(
    sources: &[Source<JointId>],
    rotation: impl Fn(JointId) -> Quat,
) -> Option<Quat> {
    let sum: f32 = sources.iter().map(|source| source.weight).sum();
    let mut mean = Vector4::zeros();
    for source in sources {
        let coords = rotation(source.joint).coords;
        let sign = if coords.dot(&mean) < 0.0 { -1.0 } else { 1.0 };
        mean += coords * (sign * source.weight / sum);
    }
    quat::from_xyzw(mean.into())
}

/// The frame of the space that `joint` is posed in.
fn parent_frame(skeleton: &Skeleton, globals: &Globals, joint: JointId) -> Quat {
    let Some(parent) = skeleton.parent(joint) else {
        return Quat::identity();
    };
    let axes = globals.get(parent).to_transform();
    if axes.scale.x < 0.0 {
        let half_turn_about_x = Quaternion::new(0.0, 1.0, 0.0, 0.0);
        return axes.rotation * Quat::new_unchecked(half_turn_about_x);
    }
    axes.rotation
}
