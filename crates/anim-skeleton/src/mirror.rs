//! Mirrored playback: what the left hand does, the right hand does.
//!
//! The pose is reflected in model space, as in a looking glass, relative to rest: a joint that is `motion · rest` in model
//! space makes its partner `(reflected motion) · (partner's rest)`. So the rest pose mirrors to itself, axes and rolls of the
//! joints do not matter, and of a symmetric skeleton every joint lands exactly where the looking glass shows it. Seen from
//! the parent that is one fixed rotation before and one after the joint's own, so no matrices are needed at run time.
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{JointSpec, Mirror, SideNames, Skeleton};
//!
//! let joint = |name: &str, parent, x| JointSpec {
//!     name: Some(name.into()),
//!     parent,
//!     rest: Transform::from_translation(Vec3::new(x, 0.0, 0.0)),
//! };
//! let skeleton = Skeleton::new(vec![joint("chest", None, 0.0), joint("hand_l", Some(0), 0.5), joint("hand_r", Some(0), -0.5)])?;
//! let mirror = Mirror::new(&skeleton, &skeleton.side_pairs(&SideNames::common()), Vec3::x())?;
//!
//! let [left, right] = ["hand_l", "hand_r"].map(|name| skeleton.find(name).unwrap());
//! let (mut pose, mut mirrored) = (skeleton.rest().clone(), skeleton.rest().clone());
//! pose.set_rotation(left, quat::from_axis_angle(Vec3::z(), 0.7));
//! mirror.apply(&pose, &mut mirrored);
//! assert!(quat::angle_between(mirrored.rotation(right), quat::from_axis_angle(Vec3::z(), -0.7)) < 1e-6);
//! assert!(quat::angle_between(mirrored.rotation(left), Default::default()) < 1e-6);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use std::ops::Mul;

use anim_math::nalgebra::{Quaternion, UnitQuaternion, Vector3};
use anim_math::{Quat, Transform, Vec3};

use crate::{Globals, JointId, Pose, Skeleton, SkeletonError};

/// Reflects poses of one skeleton in a plane through the model's origin.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// J.
    joints: Vec<Reflection>,
    asymmetry: f32,
    worst: Option<JointId>,
}

/// How a joint follows its partner.
#[derive(Clone, Copy, Debug)]
struct Reflection {
    partner: JointId,
    /// `None` for a joint that keeps its local pose.
    change: Option<Change>,
}

/// rotation′ = before · rotation · after, translation′ = rest′ + sign · before · (translation − rest).
#[derive(Clone, Copy, Debug)]
struct Change {
    before: Quat,
    after: Quat,
    sign: f32,
    rest: Transform,
    partner_rest: Transform,
    /// How the axes of the partner share in those of this joint: for each, three parts of 1.
    axes: [Vec3; 3],
}

impl Mirror {
    /// Makes a mirror.
    ///
    /// * `pairs`: joints that are each other's reflection, left and right in any order; [`Skeleton::side_pairs`] finds them
    ///   by name. Joints in no pair are their own reflection. * `plane_normal`: of the plane through the model's origin,
    ///   model space at rest, any length; `Vec3::x()` for models that face along z.
    ///
    /// A joint in no pair that hangs on one of a pair (a sword in the right hand) has nothing to follow; it and what hangs
    /// on it keep their local poses.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BadPlane`] if the normal has no direction, [`SkeletonError::PairedTwice`] for a joint in two pairs
    /// or both sides of one, [`SkeletonError::NotPartners`] for a pair whose parents are neither partners nor one and the
    /// same joint that is its own reflection.
    ///
    /// # Panics
    ///
    /// If a pair names a joint that `skeleton` lacks.
    pub fn new(
        skeleton: &Skeleton,
        pairs: &[[JointId; 2]],
        plane_normal: Vec3,
    ) -> Result<Self, SkeletonError> {
        let normal = plane_normal.cast::<f64>();
        let normal = normal
            .try_normalize(1e-30)
            .filter(|n| n.iter().all(|part| part.is_finite()))
            .ok_or(SkeletonError::BadPlane)?;
        let partners = partners(skeleton, pairs)?;
        let model_from_joint = rest_orientations(skeleton);
        let reflect = Orientation::reflection(normal);
        // Takes the axes of a joint's partner to its own: reflected in model space, the joint at rest is its partner.
        let joint_from_partner = |joint: JointId, partner: JointId| {
            model_from_joint[joint.index()].inverse() * reflect * model_from_joint[partner.index()]
        };
        let mut joints: Vec<Reflection> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let partner = partners[joint.index()];
            let (parent, other) = (skeleton.parent(joint), skeleton.parent(partner));
            let is_kept = parent.is_some_and(|parent| {
                let above = &joints[parent.index()];
                above.change.is_none() || (joint == partner && above.partner != parent)
            });
            let change = (!is_kept).then(|| {
                let before = match parent.zip(other) {
                    Some((parent, other)) => joint_from_partner(parent, other),
                    None => reflect,
                };
                let signs = [partner, joint].map(|j| Orientation::signs(skeleton.rest().scale(j)));
                let [partner_signs, signs] = signs;
                let after = joint_from_partner(partner, joint);
                Change::new(
                    before,
                    partner_signs * after * signs,
                    skeleton.rest().get(joint),
                    skeleton.rest().get(partner),
                )
            });
            joints.push(Reflection {
                partner: if is_kept { joint } else { partner },
                change,
            });
        }
        let (asymmetry, worst) = asymmetry(skeleton, &joints, normal.cast());
        Ok(Self {
            joints,
            asymmetry,
            worst,
        })
    }

    /// Writes the mirror image of `pose`.
    ///
    /// O(J); allocates nothing. Uniform scales and scales along axes that mirror to axes are exact; another scale is shared
    /// out among the axes it mirrors to, since a joint cannot shear.
    ///
    /// # Panics
    ///
    /// If `pose` or `out` has another number of joints than the skeleton.
    pub fn apply(&self, pose: &Pose, out: &mut Pose) {
        assert_eq!(pose.len(), self.joints.len(), "pose of another skeleton");
        assert_eq!(out.len(), self.joints.len(), "pose of another skeleton");
        for (place, reflection) in self.joints.iter().enumerate() {
            let local = pose.get(reflection.partner);
            let local = match &reflection.change {
                Some(change) => change.apply(local),
                None => local,
            };
            out.set(JointId(place as u16), local);
        }
    }

    /// Which joint `joint` takes its pose from: itself on the centre line.
    pub fn partner(&self, joint: JointId) -> JointId {
        self.joints[joint.index()].partner
    }

    /// How far the rest pose is from its own mirror image: the largest distance, in the model's unit, of a joint's
    /// reflection from its partner, and that joint; joints that keep their local poses do not count.
    ///
    /// Up to so much, times how far the limbs have turned, mirrored joints miss the true reflection.
    pub fn asymmetry(&self) -> (f32, Option<JointId>) {
        (self.asymmetry, self.worst)
    }
}

impl Change {
    /// `before` and `after` have the same sign, as their product with a rotation in between is a rotation.
    fn new(before: Orientation, after: Orientation, rest: Transform, partner: Transform) -> Self {
        let quat = |q: UnitQuaternion<f64>| Quat::new_unchecked(q.into_inner().cast());
        let partner_from_joint = after.rotation.to_rotation_matrix();
        let axes = [0, 1, 2].map(|axis| {
            let axis = partner_from_joint.matrix().column(axis);
            axis.component_mul(&axis).cast()
        });
        Self {
            before: quat(before.rotation),
            after: quat(after.rotation),
            sign: before.sign as f32,
            rest,
            partner_rest: partner,
            axes,
        }
    }

    fn apply(&self, local: Transform) -> Transform {
        let rotation = self.before * local.rotation * self.after;
        let moved = local.translation - self.partner_rest.translation;
        let stretch = local
            .scale
            .zip_map(&self.partner_rest.scale, |scale, rest| {
                if rest == 0.0 { 1.0 } else { scale / rest }
            });
        let factor = self.axes.map(|shares| shares.dot(&stretch));
        Transform {
            translation: self.rest.translation + self.before * moved * self.sign,
            rotation: Quat::new_normalize(rotation.into_inner()),
            scale: self.rest.scale.component_mul(&Vec3::from(factor)),
        }
    }
}

/// A rotation, perhaps with a point reflection: any orthogonal matrix is `sign · rotation`.
#[derive(Clone, Copy, Debug)]
struct Orientation {
    sign: f64,
    rotation: UnitQuaternion<f64>,
}

impl Orientation {
    /// In the plane through the origin with unit `normal`: half a turn about it and a point reflection.
    fn reflection(normal: Vector3<f64>) -> Self {
        Self {
            sign: -1.0,
            rotation: half_turn(normal),
        }
    }

    /// Of the matrix diag(sign x, sign y, sign z); 0 counts as positive.
    fn signs(scale: Vec3) -> Self {
        let signs = scale.map(|s| if s < 0.0 { -1.0 } else { 1.0 });
        let sign = signs.product();
        // What is left has an even number of −1: none, or half a turn about the axis that has none.
        let even = signs * sign;
        let is_turned = even.iter().any(|s| *s < 0.0);
        let axis = even.iter().position(|s| is_turned && *s > 0.0);
        let rotation = axis.map_or_else(UnitQuaternion::identity, |axis| {
            half_turn(Vector3::ith(axis, 1.0))
        });
        Self { sign, rotation }
    }

    fn inverse(self) -> Self {
        Self {
            sign: self.sign,
            rotation: self.rotation.inverse(),
        }
    }
}

impl Mul for Orientation {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self {
            sign: self.sign * other.sign,
            rotation: self.rotation * other.rotation,
        }
    }
}

fn half_turn(axis: Vector3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::new_unchecked(Quaternion::from_parts(0.0, axis))
}

/// How each joint's axes lie in model space at rest, without the sizes of scales but with their signs.
fn rest_orientations(skeleton: &Skeleton) -> Vec<Orientation> {
    let mut all: Vec<Orientation> = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let rest = skeleton.rest().get(joint);
        let rotation = UnitQuaternion::new_normalize(rest.rotation.into_inner().cast());
        let local = Orientation {
            sign: 1.0,
            rotation,
        } * Orientation::signs(rest.scale);
        all.push(match skeleton.parent(joint) {
            Some(parent) => all[parent.index()] * local,
            None => local,
        });
    }
    all
}

fn partners(skeleton: &Skeleton, pairs: &[[JointId; 2]]) -> Result<Vec<JointId>, SkeletonError> {
    let mut partners: Vec<_> = skeleton.joints().collect();
    for [left, right] in pairs {
        for (joint, other) in [(left, right), (right, left)] {
            if partners[joint.index()] != *joint || joint == other {
                let joint = skeleton.source(*joint);
                return Err(SkeletonError::PairedTwice { joint });
            }
            partners[joint.index()] = *other;
        }
    }
    for [left, right] in pairs {
        let reflected = skeleton
            .parent(*left)
            .map(|parent| partners[parent.index()]);
        if reflected != skeleton.parent(*right) {
            let (left, right) = (skeleton.source(*left), skeleton.source(*right));
            return Err(SkeletonError::NotPartners { left, right });
        }
    }
    Ok(partners)
}

fn asymmetry(skeleton: &Skeleton, joints: &[Reflection], normal: Vec3) -> (f32, Option<JointId>) {
    let mut globals = Globals::new(skeleton);
    skeleton.globals(skeleton.rest(), &mut globals);
    let place = |joint| globals.get(joint).translation;
    let mut worst = (0.0, None);
    for (joint, reflection) in skeleton.joints().zip(joints) {
        let at = place(joint);
        let image = at - normal * (2.0 * normal.dot(&at));
        let distance = (image - place(reflection.partner)).norm();
        if reflection.change.is_some() && distance > worst.0 {
            worst = (distance, Some(joint));
        }
    }
    worst
}
