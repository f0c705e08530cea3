//! Mechanisms of skeletons: which joint is which, and poses to and from configurations.

use anim_math::nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use anim_math::{Quat, Transform, Vec3};
use anim_skeleton::{JointId, JointLimit, JointLimitSpec, Pose, Skeleton, Swing};

use crate::{Configuration, IkError, Mechanism, MechanismJoint, lie};

/// What a mechanism remembers of the skeleton it was made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SkeletonMap {
    /// For each joint of the mechanism, parents first.
    joints: Vec<MappedJoint>,
    /// For each joint of the skeleton; `None` if it is not in the mechanism.
    mechanism_from_skeleton: Vec<Option<usize>>,
    /// The joints above the mechanism's root, from its parent up.
    above: Vec<JointId>,
}

#[derive(Clone, Debug, PartialEq)]
struct MappedJoint {
    id: JointId,
    rest: Transform,
    /// The mechanism's unit from the skeleton's, which a scaled parent stretches.
    metric_from_local: Matrix3<f64>,
    /// `None` if the parent is scaled to nothing.
    local_from_metric: Option<Matrix3<f64>>,
}

impl Mechanism {
    /// The mechanism of a skeleton, or of the part of it from `root` down.
    ///
    /// * `limits`: one a joint of the skeleton, by [`JointId::index`], or none at all. Where there are none, or
    ///   [`JointLimit::FREE`], roots are free and all others are balls without limits, so that bones keep their length.
    /// * `root`: a joint, which then moves as its limit says in a parent that stands as the pose has it.
    ///
    /// Goals are in the skeleton's model space. Scales are those at rest: an offset in a scaled parent is as long as it is
    /// in model space at rest, and frames are rotations without their scales. Uneven scales, which shear, are approximate.
    ///
    /// # Errors
    ///
    /// [`IkError::Count`] if `limits` are neither none nor one a joint, [`IkError::NoJoint`] if `root` is of another
    /// skeleton.
    pub fn from_skeleton(
        skeleton: &Skeleton,
        limits: &[JointLimit],
        root: Option<JointId>,
    ) -> Result<Self, IkError> {
        if !limits.is_empty() && limits.len() != skeleton.len() {
            return Err(IkError::Count {
                what: "limits",
                found: limits.len(),
                expected: skeleton.len(),
            });
        }
        if let Some(root) = root.filter(|root| root.index() >= skeleton.len()) {
            return Err(IkError::NoJoint {
                joint: root.index(),
            });
        }
        let ball = any_turn();
        let mut map = SkeletonMap {
            joints: Vec::new(),
            mechanism_from_skeleton: vec![None; skeleton.len()],
            above: root.map_or(Vec::new(), |root| skeleton.ancestors(root).collect()),
        };
        let mut joints = Vec::new();
        // Rest frames of all joints: rotations as the mechanism has them, and the scaled axes of model space.
        let mut rest_frames: Vec<(UnitQuaternion<f64>, Matrix3<f64>)> = Vec::new();
        for id in skeleton.joints() {
            let rest = skeleton.rest().get(id);
            let parent = skeleton.parent(id);
            let identity = (UnitQuaternion::identity(), Matrix3::identity());
            let (turn, axes) = parent.map_or(identity, |parent| rest_frames[parent.index()]);
            let rotation = wide(rest.rotation);
            let scaled = axes
                * rotation.to_rotation_matrix().matrix()
                * Matrix3::from_diagonal(&rest.scale.cast());
            rest_frames.push((turn * rotation, scaled));

            let mapped_parent =
                parent.and_then(|parent| map.mechanism_from_skeleton[parent.index()]);
            if root.is_some_and(|root| id != root) && mapped_parent.is_none() {
                continue;
            }
            let metric_from_local = if axes == Matrix3::identity() {
                axes
            } else {
                turn.inverse().to_rotation_matrix().matrix() * axes
            };
            let limit = limits.get(id.index()).copied().unwrap_or_default();
            let is_free = *limit.spec() == JointLimitSpec::Free;
            map.mechanism_from_skeleton[id.index()] = Some(joints.len());
            joints.push(MechanismJoint {
                name: skeleton.name(id).map(str::to_owned),
                parent: mapped_parent,
                parent_from_joint: Isometry3::from_parts(
                    Translation3::from(metric_from_local * rest.translation.cast::<f64>()),
                    rotation,
                ),
                limit: if is_free && mapped_parent.is_some() {
                    ball
                } else {
                    limit
                },
            });
            map.joints.push(MappedJoint {
                id,
                rest,
                metric_from_local,
                local_from_metric: metric_from_local.try_inverse(),
            });
        }
        let mut mechanism = Self::new(joints)?;
        mechanism.skeleton = Some(map);
        Ok(mechanism)
    }

    /// The mechanism's joint that is `joint` of the skeleton it was made of, if any.
    pub fn joint_of(&self, joint: JointId) -> Option<usize> {
        let map = self.skeleton.as_ref()?;
        *map.mechanism_from_skeleton.get(joint.index())?
    }

    /// The skeleton's joint that `joint` of the mechanism is; `None` if it was not made of a skeleton.
    pub fn skeleton_joint(&self, joint: usize) -> Option<JointId> {
        Some(self.skeleton.as_ref()?.joints.get(joint)?.id)
    }

    /// Takes the offsets of joints that only turn from `pose`, so that clips that move them, as those of toys and creatures
    /// do, are met where they are; [`read`](Self::read) after it.
    ///
    /// A mechanism without a skeleton keeps its own. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` has another number of joints.
    pub fn fit(&mut self, pose: &Pose) {
        let Some(map) = &self.skeleton else { return };
        assert_eq!(
            pose.len(),
            map.mechanism_from_skeleton.len(),
            "a pose of the skeleton"
        );
        for ((spec, model), joint) in self.joints.iter_mut().zip(&self.models).zip(&map.joints) {
            let offset = pose.translation(joint.id);
            if !model.translates() && offset.iter().all(|v| v.is_finite()) {
                let offset = joint.metric_from_local * offset.cast::<f64>();
                spec.parent_from_joint.translation = Translation3::from(offset);
            }
        }
    }

    /// Takes each joint's value from `pose`, the nearest its kind of joint can do, and the base from what is above.
    ///
    /// Limits are not looked at: solvers clamp what they start from. Where a clip moves a joint that only turns, that is not
    /// in the values: [`fit`](Self::fit) first, which takes it as the joint's offset. A mechanism without a skeleton reads
    /// nothing. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `configuration` have another number of joints.
    pub fn read(&self, pose: &Pose, configuration: &mut Configuration) {
        let Some(map) = &self.skeleton else { return };
        assert_eq!(
            pose.len(),
            map.mechanism_from_skeleton.len(),
            "a pose of the skeleton"
        );
        assert_eq!(configuration.values().len(), self.len(), "a value a joint");
        configuration.base = map.base(pose);
        let values = configuration.values_mut().iter_mut();
        for ((value, model), joint) in values.zip(self.models()).zip(&map.joints) {
            let local = pose.get(joint.id);
            let back = wide(joint.rest.rotation).inverse();
            let moved = (local.translation - joint.rest.translation).cast::<f64>();
            *value = model.value(&Isometry3::from_parts(
                Translation3::from(back * (joint.metric_from_local * moved)),
                lie::normalized((back * wide(local.rotation)).into_inner()),
            ));
        }
    }

    /// Sets the rotation of each joint in `pose`, and the translation of slides and free joints; scales stay.
    ///
    /// A mechanism without a skeleton writes nothing. O(J); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `configuration` have another number of joints.
    pub fn write(&self, configuration: &Configuration, pose: &mut Pose) {
        let Some(map) = &self.skeleton else { return };
        assert_eq!(
            pose.len(),
            map.mechanism_from_skeleton.len(),
            "a pose of the skeleton"
        );
        assert_eq!(configuration.values().len(), self.len(), "a value a joint");
        let values = configuration.values().iter();
        for ((value, model), joint) in values.zip(self.models()).zip(&map.joints) {
            let motion = model.motion(value);
            let rest = wide(joint.rest.rotation);
            let rotation = (rest * motion.rotation).into_inner();
            pose.set_rotation(joint.id, Quat::new_unchecked(rotation.cast()));
            if let (true, Some(local)) = (model.translates(), joint.local_from_metric) {
                let moved: Vec3 = (local * (rest * motion.translation.vector)).cast();
                pose.set_translation(joint.id, joint.rest.translation + moved);
            }
        }
    }
}

impl SkeletonMap {
    /// Where the parent of the root is in model space: positions as they are, frames without their scales.
    fn base(&self, pose: &Pose) -> Isometry3<f64> {
        let (mut turn, mut axes) = (UnitQuaternion::identity(), Matrix3::identity());
        let mut origin = Vector3::zeros();
        for id in self.above.iter().rev() {
            let local = pose.get(*id);
            let rotation = wide(local.rotation);
            origin += axes * local.translation.cast::<f64>();
            axes *= rotation.to_rotation_matrix().matrix();
            axes *= Matrix3::from_diagonal(&local.scale.cast());
            turn *= rotation;
        }
        Isometry3::from_parts(
            Translation3::from(origin),
            lie::normalized(turn.into_inner()),
        )
    }
}

/// A ball without limits.
fn any_turn() -> JointLimit {
    use std::f32::consts::PI;
    let spec = JointLimitSpec::Ball {
        axis: Vec3::y(),
        swing: Swing::Cone { angle: PI },
        twist: [-PI, PI],
    };
    JointLimit::new(spec).unwrap_or(JointLimit::FREE)
}

fn wide(rotation: Quat) -> UnitQuaternion<f64> {
    let wide: Quaternion<f64> = rotation.into_inner().cast();
    lie::normalized(wide)
}
