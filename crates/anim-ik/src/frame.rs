//! The orthonormal axes through which rotations pass from model space to a joint's own.

use anim_math::lanes::LANES;
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

use crate::real::{Real, Turn, Vector, cross, dot, scale};

/// Right-handed orthonormal axes in model space, for axes of rotation.
///
/// Its functions are always inlined: handing a few floats on through memory, to be read back as one vector, stalls the
/// processor for longer than they compute.
///
/// Under a mirror they are the directions of the space times −1: a mirror turns the sense of rotation round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    x: Vec3,
    y: Vec3,
    z: Vec3,
}

impl Frame {
    /// The axes of the space that `joint` is posed in: its parent's, or the model's for a root.
    #[inline(always)]
    pub(crate) fn of_parent(skeleton: &Skeleton, joint: JointId, globals: &Globals) -> Self {
        Self::of_even_parent(skeleton, joint, globals)
            .unwrap_or_else(|| Self::of_uneven_parent(skeleton, joint, globals))
    }

    /// As [`of_parent`](Self::of_parent), if that space is scaled evenly; whoever uses it at once keeps it in registers.
    #[inline(always)]
    pub(crate) fn of_even_parent(
        skeleton: &Skeleton,
        joint: JointId,
        globals: &Globals,
    ) -> Option<Self> {
        match skeleton.parent(joint) {
            Some(parent) => Self::of_even(globals, parent),
            None => Some(Self {
                x: Vec3::x(),
                y: Vec3::y(),
                z: Vec3::z(),
            }),
        }
    }

    #[cold]
    fn of_uneven_parent(skeleton: &Skeleton, joint: JointId, globals: &Globals) -> Self {
        let parent = skeleton.parent(joint);
        Self::of(globals, parent.unwrap_or(joint))
    }

    /// The axes of `joint` if they are [even](even_axes), as they almost always are.
    #[inline(always)]
    fn of_even(globals: &Globals, joint: JointId) -> Option<Self> {
        let [x, y, z] = columns(globals, joint);
        let ([x, y, z], is_even) = even_axes([x.into(), y.into(), z.into()]);
        // No closure: it would be one function for two joints, and its result would pass through memory.
        if is_even {
            Some(Self {
                x: x.into(),
                y: y.into(),
                z: z.into(),
            })
        } else {
            None
        }
    }

    /// The axes of `joint`, orthonormalised x first (Gram-Schmidt); x and y times the sign of the determinant.
    fn of(globals: &Globals, joint: JointId) -> Self {
        let [x, y, z] = columns(globals, joint);
        let normal = x.cross(&y);
        let (xx, yy, nn) = (x.norm_squared(), y.norm_squared(), normal.norm_squared());
        if nn.is_normal() && nn > 1e-12 * xx * yy {
            let sign = 1_f32.copysign(normal.dot(&z));
            let x = x * (sign / xx.sqrt());
            let z = normal * (1.0 / nn.sqrt());
            let y = z.cross(&x);
            Self { x, y, z }
        } else {
            Self::of_flat(globals, joint)
        }
    }

    /// As [`of`](Self::of), where axes are missing or their products leave the range of numbers.
    #[cold]
    fn of_flat(globals: &Globals, joint: JointId) -> Self {
        let local = globals.get(joint).to_transform();
        let sign = 1_f32.copysign(local.scale.x);
        Self {
            x: local.rotation * Vec3::x(),
            y: local.rotation * Vec3::y() * sign,
            z: local.rotation * Vec3::z() * sign,
        }
    }

    /// A rotation axis of this frame in model space.
    #[inline(always)]
    pub(crate) fn model_axis(&self, axis: Vec3) -> Vec3 {
        self.x * axis.x + self.y * axis.y + self.z * axis.z
    }

    /// A rotation axis of model space in this frame.
    #[inline(always)]
    pub(crate) fn local_axis(&self, axis: Vec3) -> Vec3 {
        Vec3::new(self.x.dot(&axis), self.y.dot(&axis), self.z.dot(&axis))
    }

    /// Turns `joint`, which is posed in this frame, by the part `weight` of a model-space rotation.
    ///
    /// * `turn`: its quaternion, times any positive factor.
    ///
    /// A part of a turn is the short arc from no turn at all. Children do not follow.
    #[inline(always)]
    pub(crate) fn turn(&self, joint: JointId, turn: Quaternion<f32>, weight: f32, pose: &mut Pose) {
        if weight < 1.0 {
            self.turn_partly(joint, turn, weight, pose);
        } else {
            self.turn_fully(joint, turn.into(), pose);
        }
    }

    #[cold]
    fn turn_partly(&self, joint: JointId, turn: Quaternion<f32>, weight: f32, pose: &mut Pose) {
        let turn = Quat::new_normalize(turn);
        let part = quat::slerp(Quat::identity(), turn, weight);
        self.turn_fully(joint, part.into_inner().into(), pose);
    }

    /// As [`turn`](Self::turn), all of it.
    #[inline(always)]
    pub(crate) fn turn_fully(&self, joint: JointId, turn: Turn<f32>, pose: &mut Pose) {
        self.turn_by(joint, turn, turn.norm(), pose);
    }

    /// As [`turn_fully`](Self::turn_fully), where the norm of `turn` is known before all of `turn` is.
    #[inline(always)]
    pub(crate) fn turn_by(&self, joint: JointId, turn: Turn<f32>, norm: f32, pose: &mut Pose) {
        // Lane by lane: a load of the whole block would wait for what was just written to a neighbour.
        let (block, lane) = (joint.index() / LANES, joint.index() % LANES);
        let parts = &mut pose.blocks_mut()[block].rotation;
        let now = parts.each_ref().map(|part| part[lane]);
        let axes = [self.x.into(), self.y.into(), self.z.into()];
        let [x, y, z, w] = turned(axes, turn, norm, now);
        parts[0][lane] = x;
        parts[1][lane] = y;
        parts[2][lane] = z;
        parts[3][lane] = w;
    }
}

/// Columns made unit and right-handed, and whether they were of one length at right angles: their box is then a cube
/// (Hadamard).
#[inline(always)]
pub(crate) fn even_axes<T: Real>([x, y, z]: [Vector<T>; 3]) -> ([Vector<T>; 3], T::Mask) {
    let (xx, yy, zz) = (dot(x, x), dot(y, y), dot(z, z));
    let (even, one) = (xx.constant(EVEN), xx.constant(1.0));
    let det = dot(cross(x, y), z);
    let cube = xx * xx * xx;
    let unequal = (yy - xx).abs().max((zz - xx).abs());
    let is_even = (even * xx).is_least(unequal)
        & (even * cube).is_least((det * det - cube).abs())
        & cube.exceeds(cube.constant(f32::MIN_POSITIVE));
    let unit = one.copysign(det) / xx.sqrt();
    ([scale(x, unit), scale(y, unit), scale(z, unit)], is_even)
}

/// The local `rotation`, x, y, z, w, of a joint posed in a frame of these unit axes, after a model-space `turn`.
///
/// * `norm`: of the turn.
#[inline(always)]
pub(crate) fn turned<T: Real>(
    [x, y, z]: [Vector<T>; 3],
    Turn { w, v }: Turn<T>,
    norm: T,
    rotation: [T; 4],
) -> [T; 4] {
    let v = [dot(x, v), dot(y, v), dot(z, v)];
    // The rotation that was there is unit but for its rounding, which a Newton step takes away while the turn is still
    // being computed; so only the turn's length is left to divide out.
    let [rx, ry, rz, rw] = rotation;
    let unit = w.constant(1.5) - w.constant(0.5) * (rx * rx + ry * ry + rz * rz + rw * rw);
    let unit = unit / norm;
    let [x, y, z, w] = Turn { w, v }.after(rotation);
    [x * unit, y * unit, z * unit, w * unit]
}

/// How far, as a part, squared lengths and the volume of a joint's axes may be from those of a cube to count as one.
const EVEN: f32 = 1e-5;

/// The axes of `joint` in model space, scaled as they are.
#[inline(always)]
pub(crate) fn columns(globals: &Globals, joint: JointId) -> [Vec3; 3] {
    // No closure for the three: it would be a function of its own, called twice by whoever needs two frames.
    let [r0, r1, r2, _] = &globals.slots()[joint.index()].0;
    [
        Vec3::new(r0[0], r1[0], r2[0]),
        Vec3::new(r0[1], r1[1], r2[1]),
        Vec3::new(r0[2], r1[2], r2[2]),
    ]
}

/// Where `joint` is in model space.
#[inline(always)]
pub(crate) fn position(globals: &Globals, joint: JointId) -> Vec3 {
    let [x, y, z, _] = globals.slots()[joint.index()].0;
    Vec3::new(x[3], y[3], z[3])
}

/// A vector of `joint`'s own space in model space.
#[inline(always)]
pub(crate) fn vector(globals: &Globals, joint: JointId, own: Vec3) -> Vec3 {
    let [x, y, z, _] = &globals.slots()[joint.index()].0;
    let dot = |row: &[f32; 4]| row[0] * own.x + row[1] * own.y + row[2] * own.z;
    Vec3::new(dot(x), dot(y), dot(z))
}

/// How many times longer the bone to `joint` is at rest than in the pose; 1 where it has no length.
pub(crate) fn rest_ratio(skeleton: &Skeleton, pose: &Pose, joint: JointId) -> f32 {
    let ratio = skeleton.rest().translation(joint).norm() / pose.translation(joint).norm();
    if ratio.is_normal() { ratio } else { 1.0 }
}

/// True if no component is NaN or infinite.
#[inline(always)]
pub(crate) fn is_finite(vector: &Vec3) -> bool {
    vector.iter().all(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use anim_math::Transform;
    use anim_math::random::Random;
    use anim_skeleton::JointSpec;

    use super::*;

    /// One joint, turned and scaled.
    fn globals(rotation: Quat, scale: Vec3) -> (Globals, JointId) {
        let rest = Transform {
            rotation,
            scale,
            ..Transform::IDENTITY
        };
        let skeleton = Skeleton::new(vec![JointSpec {
            name: None,
            parent: None,
            rest,
        }])
        .unwrap();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        (globals, skeleton.joint(0))
    }

    #[test]
    fn axes_are_orthonormal_and_right_handed_whatever_the_scale() {
        let mut random = Random::new(1, 0, 0);
        let sizes = [1.0, -1.0, 0.01, -30.0, 1e-12, 1e12, 0.0];
        for x in sizes {
            for y in sizes {
                for z in sizes {
                    let turn = quat::exp(random.on_sphere() * 2.0);
                    let (globals, joint) = globals(turn, Vec3::new(x, y, z));
                    let Frame { x, y, z } = Frame::of(&globals, joint);
                    assert!((x.cross(&y) - z).norm() < 1e-6 && (y.cross(&z) - x).norm() < 1e-6);
                    assert!((x.norm() - 1.0).abs() < 1e-6 && (y.norm() - 1.0).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn all_ways_to_the_axes_agree() {
        let mut random = Random::new(2, 0, 0);
        for scale in [1.0, -1.0].map(|x| Vec3::new(2.0 * x, 0.5, 3.0)) {
            let (globals, joint) = globals(quat::exp(random.on_sphere()), scale);
            let (a, b) = (Frame::of(&globals, joint), Frame::of_flat(&globals, joint));
            for (a, b) in [(a.x, b.x), (a.y, b.y), (a.z, b.z)] {
                assert!((a - b).norm() < 1e-6);
            }
            assert!(Frame::of_even(&globals, joint).is_none());
        }
        for scale in [Vec3::repeat(0.02), Vec3::new(-3.0, 3.0, 3.0)] {
            let (globals, joint) = globals(quat::exp(random.on_sphere()), scale);
            let (a, b) = (
                Frame::of(&globals, joint),
                Frame::of_even(&globals, joint).unwrap(),
            );
            for (a, b) in [(a.x, b.x), (a.y, b.y), (a.z, b.z)] {
                assert!((a - b).norm() < 1e-6);
            }
        }
    }
}
