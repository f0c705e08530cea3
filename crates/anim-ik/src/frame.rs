//! The orthonormal part of a joint's axes, through which rotations pass from model space to a joint's own.

use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Affine, Mat3, Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

/// Orthonormal axes as columns; a left-handed set if a scale mirrors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    axes: Mat3,
    /// The determinant of `axes`, 1 or −1.
    handedness: f32,
}

impl Frame {
    /// The axes of the space that `joint` is posed in: its parent's, or the model's for a root.
    #[inline]
    pub(crate) fn of_parent(skeleton: &Skeleton, joint: JointId, globals: &Globals) -> Self {
        match skeleton.parent(joint) {
            Some(parent) => Self::of(&globals.get(parent)),
            None => Self {
                axes: Mat3::identity(),
                handedness: 1.0,
            },
        }
    }

    /// The orthonormal axes nearest in order (Gram-Schmidt) to those of `model_from_joint`.
    pub(crate) fn of(model_from_joint: &Affine) -> Self {
        let linear = model_from_joint.linear;
        let [x, y, z] = [0, 1, 2].map(|c| linear.column(c).into_owned());
        let handedness = if x.cross(&y).dot(&z) < 0.0 { -1.0 } else { 1.0 };
        // Uniform scale without shear, the rule, needs one root.
        let size = x.norm_squared();
        let slack = 1e-5 * size;
        let is_even = (y.norm_squared() - size).abs() < slack
            && (z.norm_squared() - size).abs() < slack
            && x.dot(&y).abs() < slack
            && y.dot(&z).abs() < slack
            && z.dot(&x).abs() < slack;
        let axes = if is_even {
            linear * (1.0 / size.sqrt())
        } else {
            let rotation = model_from_joint.to_transform().rotation;
            let mut axes = rotation.to_rotation_matrix().into_inner();
            let mirrored = axes.column(0) * handedness;
            axes.set_column(0, &mirrored);
            axes
        };
        Self { axes, handedness }
    }

    /// A rotation axis of this frame in model space: a mirror turns the sense of rotation round.
    #[inline]
    pub(crate) fn model_axis(&self, axis: Vec3) -> Vec3 {
        self.axes * axis * self.handedness
    }

    /// A rotation axis of model space in this frame.
    #[inline]
    pub(crate) fn local_axis(&self, axis: Vec3) -> Vec3 {
        self.axes.tr_mul(&axis) * self.handedness
    }

    /// The rotation in this frame that does in model space what `turn` does.
    #[inline]
    fn local_rotation(&self, turn: Quat) -> Quat {
        let v = self.local_axis(turn.imag());
        Quat::new_unchecked(Quaternion::new(turn.w, v.x, v.y, v.z))
    }

    /// Turns `joint`, which is posed in this frame, by the part `weight` of the model-space rotation `turn`.
    ///
    /// A part of a turn is the short arc from no turn at all. Children do not follow.
    #[inline]
    pub(crate) fn turn(&self, joint: JointId, turn: Quat, weight: f32, pose: &mut Pose) {
        let local = self.local_rotation(turn);
        let local = if weight < 1.0 {
            quat::slerp(Quat::identity(), local, weight)
        } else {
            local
        };
        let product = (local * pose.rotation(joint)).coords;
        pose.set_rotation(joint, nearly_unit(product));
    }
}

/// Makes a quaternion unit whose length is off by rounding only: one Newton step for 1/√x at 1.
#[inline]
fn nearly_unit(coords: Vector4<f32>) -> Quat {
    let coords = coords * (1.5 - 0.5 * coords.norm_squared());
    Quat::new_unchecked(Quaternion::from_vector(coords))
}

/// Where `joint` is in model space.
#[inline]
pub(crate) fn position(globals: &Globals, joint: JointId) -> Vec3 {
    let [x, y, z, _] = globals.slots()[joint.index()].0;
    Vec3::new(x[3], y[3], z[3])
}

/// True if no component is NaN or infinite.
#[inline]
pub(crate) fn is_finite(vector: &Vec3) -> bool {
    vector.iter().all(|v| v.is_finite())
}
