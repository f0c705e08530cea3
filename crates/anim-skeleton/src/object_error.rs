//! Object-space error: how far two motions of one skeleton are apart, where it is seen.
//!
//! A small error of a shoulder is a large one of a fingertip, so curves are not compared joint by joint in their own
//! spaces but by where they put points in model space: each joint, and three points around it (the virtual vertices of
//! the animation compression library ACL), `shell` away along its axes, where its skin may be. Baking, reduction and
//! compression all keep to a tolerance measured this way.
//!
//! ```
//! use anim_math::{Transform, Vec3, quat};
//! use anim_skeleton::{JointSpec, ObjectError, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![bone(None), bone(Some(0))])?;
//! let mut turned = skeleton.rest().clone();
//! turned.set_rotation(skeleton.joint(0), quat::from_axis_angle(Vec3::z(), 0.1));
//!
//! let mut error = ObjectError::new(&skeleton, 0.5);
//! error.add(0.0, skeleton.rest(), &turned);
//! // The farthest point is half a metre beyond the second joint, 1.5 m from the axis: a chord of 2 · 1.5 · sin(0.05).
//! assert_eq!(error.worst().joint, Some(skeleton.joint(1)));
//! assert!((error.worst().distance - 3.0 * 0.05_f32.sin()).abs() < 1e-6);
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use crate::globals::GlobalSlot;
use crate::{Globals, JointId, Pose, Skeleton};

/// The largest error met, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deviation {
    /// In the model's unit of length, model space; infinite where something is not a number.
    pub distance: f32,
    /// The joint it was met at, the first of equals; `None` if there is no error.
    pub joint: Option<JointId>,
    /// The time it was met at, s, the first of equals.
    pub time: f32,
}

/// Compares poses of one skeleton in model space and remembers the worst.
#[derive(Clone, Debug)]
pub struct ObjectError<'a> {
    skeleton: &'a Skeleton,
    shell: f32,
    exact: Globals,
    other: Globals,
    worst: Deviation,
}

impl<'a> ObjectError<'a> {
    /// Nothing compared yet. `shell`: distance of the points around each joint, in the model's unit; 0 compares joints only.
    pub fn new(skeleton: &'a Skeleton, shell: f32) -> Self {
        Self {
            skeleton,
            shell,
            exact: Globals::new(skeleton),
            other: Globals::new(skeleton),
            worst: Deviation::default(),
        }
    }

    /// Compares two poses at `time`, s, and returns the largest distance met so far.
    ///
    /// Two passes of forward kinematics; allocates nothing.
    ///
    /// # Panics
    ///
    /// If a pose belongs to a skeleton with another number of joints.
    pub fn add(&mut self, time: f32, exact: &Pose, other: &Pose) -> f32 {
        self.skeleton.globals(exact, &mut self.exact);
        self.skeleton.globals(other, &mut self.other);
        let mut worst = self.worst;
        for (joint, distance) in self.skeleton.joints().zip(self.distances()) {
            if distance > worst.distance {
                worst = Deviation {
                    distance,
                    joint: Some(joint),
                    time,
                };
            }
        }
        self.worst = worst;
        worst.distance
    }

    /// J distances of the two poses compared last, breadth-first, in the model's unit.
    pub fn distances(&self) -> impl ExactSizeIterator<Item = f32> {
        let slots = self.exact.slots().iter().zip(self.other.slots());
        slots.map(|(exact, other)| point_distance(exact, other, self.shell))
    }

    /// The largest error met so far.
    pub fn worst(&self) -> Deviation {
        self.worst
    }
}

/// How far two placements of one joint are apart, in model space: the largest distance between the joint's origins and
/// between the points `shell` away from them along each axis of the joint.
///
/// A scaled joint's axes count as unit: the points are `shell` away in model space. Infinite where something is not a
/// number.
pub fn point_distance(exact: &GlobalSlot, other: &GlobalSlot, shell: f32) -> f32 {
    let column = |slot: &GlobalSlot, c: usize| [slot.0[0][c], slot.0[1][c], slot.0[2][c]];
    let norm = |v: [f32; 3]| (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    let difference = |c| {
        let (exact, other) = (column(exact, c), column(other, c));
        [0, 1, 2].map(|r| exact[r] - other[r])
    };
    let origin = difference(3);
    let mut distance = norm(origin);
    for axis in 0..3 {
        let length = norm(column(exact, axis));
        if length > 0.0 {
            let off = difference(axis).map(|v| v * (shell / length));
            distance = distance.max(norm([0, 1, 2].map(|r| origin[r] + off[r])));
        }
    }
    if distance.is_nan() {
        f32::INFINITY
    } else {
        distance
    }
}

#[cfg(test)]
mod tests {
    use anim_math::{Affine, Transform, Vec3, quat};

    use super::*;
    use crate::JointSpec;

    fn slot(transform: Transform) -> GlobalSlot {
        Affine::from(transform).into()
    }

    #[test]
    fn a_shift_is_its_length_at_any_shell() {
        let shifted = slot(Transform::from_translation(Vec3::new(2.0, 3.0, 6.0)));
        for shell in [0.0, 0.1, 10.0] {
            assert_eq!(point_distance(&GlobalSlot::IDENTITY, &shifted, shell), 7.0);
        }
    }

    #[test]
    fn a_turn_is_the_chord_at_the_shell() {
        let turned = slot(Transform {
            rotation: quat::from_axis_angle(Vec3::y(), 0.6),
            ..Transform::IDENTITY
        });
        let chord = 2.0 * 0.25 * 0.3_f32.sin();
        let distance = point_distance(&GlobalSlot::IDENTITY, &turned, 0.25);
        assert!((distance - chord).abs() < 1e-6);
        assert_eq!(point_distance(&GlobalSlot::IDENTITY, &turned, 0.0), 0.0);
    }

    #[test]
    fn the_shell_is_a_distance_in_model_space_whatever_the_joint_scales() {
        let scaled = |factor: f32| {
            slot(Transform {
                scale: Vec3::new(factor, factor, factor),
                ..Transform::IDENTITY
            })
        };
        let distance = point_distance(&scaled(100.0), &scaled(101.0), 0.5);
        assert!((distance - 0.005).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_a_number_is_infinitely_far() {
        let lost = slot(Transform::from_translation(Vec3::new(f32::NAN, 0.0, 0.0)));
        assert_eq!(
            point_distance(&GlobalSlot::IDENTITY, &lost, 0.1),
            f32::INFINITY
        );
    }

    #[test]
    fn the_first_of_equal_errors_is_kept() {
        let joints = vec![
            JointSpec {
                name: None,
                parent: None,
                rest: Transform::IDENTITY
            };
            3
        ];
        let skeleton = Skeleton::new(joints).unwrap();
        let mut moved = skeleton.rest().clone();
        for source in [1, 2] {
            moved.set_translation(skeleton.joint(source), Vec3::x());
        }
        let mut error = ObjectError::new(&skeleton, 0.1);
        assert_eq!(error.worst(), Deviation::default());
        assert_eq!(error.add(0.5, skeleton.rest(), &moved), 1.0);
        assert_eq!(error.distances().collect::<Vec<_>>(), [0.0, 1.0, 1.0]);
        assert_eq!(error.add(0.7, skeleton.rest(), &moved), 1.0);
        let first = Deviation {
            distance: 1.0,
            joint: Some(skeleton.joint(1)),
            time: 0.5,
        };
        assert_eq!(error.worst(), first);
    }
}
