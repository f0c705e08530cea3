//! Additive layers whose turns keep their direction in the model, whatever the base pose does below them.
//!
//! An aim offset made on a standing character turns the chest about the model's axes. Added with
//! [`blend`](crate::blend()), joint by joint on the joint's own side, it leans with a base that leans, and the weapon
//! points off. Here turns are taken and applied in model space (Unreal's mesh space), so up stays up. Translations and
//! scales are local, as in [`difference`](crate::difference). Where bases hardly turn, the local form is as good and
//! cheaper.
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{JointSpec, Layer, Mode, Skeleton, add_in_model_space, difference_in_model_space};
//!
//! let joint = |parent| JointSpec { name: None, parent, rest: Transform::IDENTITY };
//! let skeleton = Skeleton::new(vec![joint(None), joint(Some(0))])?;
//! let (hips, chest) = (skeleton.joint(0), skeleton.joint(1));
//! let (mut aim, mut base) = (skeleton.rest().clone(), skeleton.rest().clone());
//! aim.set_rotation(chest, quat::from_axis_angle(Vec3::y(), 0.5)); // look aside
//! base.set_rotation(hips, quat::from_axis_angle(Vec3::x(), 1.0)); // lean
//!
//! let (mut scratch, mut delta) = (base.clone(), base.clone());
//! difference_in_model_space(&skeleton, skeleton.rest(), &aim, &mut scratch, &mut delta);
//! let layer = Layer { pose: &delta, weight: 1.0, mask: None, mode: Mode::Additive };
//! add_in_model_space(&skeleton, &layer, &mut scratch, &mut base);
//!
//! let model_from_chest = base.rotation(hips) * base.rotation(chest);
//! let expected = quat::from_axis_angle(Vec3::y(), 0.5) * quat::from_axis_angle(Vec3::x(), 1.0);
//! assert!(quat::angle_between(model_from_chest, expected) < 1e-6); // turned about the model's y
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Transform, Vec3};

use crate::blend::{is_flat, parts_between};
use crate::kernel::product;
use crate::{JointId, Layer, Pose, Skeleton};

/// What [`add_in_model_space`] adds: the way from `reference` to `pose`, turns seen in the model.
///
/// δqⱼ = Mⱼ(pose) · Mⱼ(reference)⁻¹ with Mⱼ the rotation of joint j in the model, the product of the local ones; δt and δs
/// as [`difference`](crate::difference) has them. Between equal poses it is the identity to the bit. `scratch` holds
/// nothing that matters before or after. O(J); allocates nothing.
///
/// # Panics
///
/// If poses are of another number of joints.
pub fn difference_in_model_space(
    skeleton: &Skeleton,
    reference: &Pose,
    pose: &Pose,
    scratch: &mut Pose,
    out: &mut Pose,
) {
    for pose in [reference, pose, scratch, out] {
        assert_eq!(pose.len(), skeleton.len(), "pose of another skeleton");
    }
    model_rotations(skeleton, reference, scratch);
    model_rotations(skeleton, pose, out);
    for joint in skeleton.joints() {
        let turn = times(out.rotation(joint), scratch.rotation(joint).inverse());
        let delta = Transform {
            rotation: unit(turn.coords),
            ..parts_between(reference.get(joint), pose.get(joint))
        };
        out.set(joint, delta);
    }
}

/// Adds a layer made by [`difference_in_model_space`] to the pose in `out`, whatever the layer's mode.
///
/// Mⱼ ← Dⱼ Mⱼ with Dⱼ = nlerp(1, δqⱼ, wⱼ), as local rotations qⱼ ← Mₚ⁻¹ Dₚ⁻¹ Dⱼ Mₚ qⱼ (p is the parent); t ← t + w δt,
/// s ← s (1 + w (δs − 1)). A joint that turns as its parent does keeps its bits, so weights of 0 and differences of
/// nothing change none. A negative weight undoes a positive one, as in [`blend`](crate::blend()). `scratch` holds nothing
/// that matters before or after. O(J); allocates nothing.
///
/// # Panics
///
/// If poses or masks are of another number of joints.
pub fn add_in_model_space(
    skeleton: &Skeleton,
    layer: &Layer<'_>,
    scratch: &mut Pose,
    out: &mut Pose,
) {
    for pose in [layer.pose, scratch, out] {
        assert_eq!(pose.len(), skeleton.len(), "pose of another skeleton");
    }
    let mask_len = layer.mask.map_or(out.len(), <[f32]>::len);
    assert_eq!(mask_len, out.len(), "mask of another skeleton");
    if layer.weight == 0.0 || !layer.weight.is_finite() {
        return;
    }
    model_rotations(skeleton, out, scratch);
    for joint in skeleton.joints() {
        add_parts(layer, joint, out);
        let turn = part_of_turn(layer, joint);
        let (turn, parent) = match skeleton.parent(joint) {
            Some(parent) => (
                times(part_of_turn(layer, parent).inverse(), turn),
                scratch.rotation(parent),
            ),
            None => (turn, Quat::identity()),
        };
        if turn.coords.xyz() != Vec3::zeros() {
            let model_from_joint = times(turn, times(parent, out.rotation(joint)));
            let parent_from_joint = times(parent.inverse(), model_from_joint);
            out.set_rotation(joint, unit(parent_from_joint.coords));
        }
    }
}

/// Writes the rotation of each joint in the model, unit but for rounding; leaves the other parts.
fn model_rotations(skeleton: &Skeleton, pose: &Pose, out: &mut Pose) {
    for joint in skeleton.joints() {
        let local = pose.rotation(joint);
        let rotation = match skeleton.parent(joint) {
            Some(parent) => times(out.rotation(parent), local),
            None => local,
        };
        out.set_rotation(joint, rotation);
    }
}

fn add_parts(layer: &Layer<'_>, joint: JointId, out: &mut Pose) {
    let weight = weight_of(layer, joint);
    if weight == 0.0 {
        return;
    }
    let delta = layer.pose.get(joint);
    out.set_translation(joint, out.translation(joint) + delta.translation * weight);
    let grow = |part: f32, delta: f32| {
        let factor = 1.0 + (delta - 1.0) * weight.abs();
        match weight > 0.0 {
            true => part * factor,
            false if is_flat(factor) => part,
            false => part / factor,
        }
    };
    out.set_scale(joint, out.scale(joint).zip_map(&delta.scale, grow));
}

/// nlerp(1, δq, w), or its inverse for a negative weight.
fn part_of_turn(layer: &Layer<'_>, joint: JointId) -> Quat {
    let weight = weight_of(layer, joint);
    if weight == 0.0 {
        return Quat::identity();
    }
    let delta = layer.pose.rotation(joint).coords;
    let size = weight.abs();
    let part = unit(delta * size.copysign(delta.w) + Vector4::w() * (1.0 - size));
    if weight < 0.0 { part.inverse() } else { part }
}

/// The weight for one joint; masks are clamped to [0, 1], and NaN is 0.
fn weight_of(layer: &Layer<'_>, joint: JointId) -> f32 {
    match layer.mask {
        Some(mask) if mask[joint.index()] > 0.0 => layer.weight * mask[joint.index()].min(1.0),
        Some(_) => 0.0,
        None => layer.weight,
    }
}

/// The product, not made unit; without a direction, to the bit, for q · q⁻¹.
fn times(a: Quat, b: Quat) -> Quat {
    let coords = product(a.coords.into(), b.coords.into());
    Quat::new_unchecked(Quaternion::from(coords))
}

fn unit(coords: Vector4<f32>) -> Quat {
    Quat::new_unchecked(Quaternion::from_vector(coords / coords.norm()))
}
