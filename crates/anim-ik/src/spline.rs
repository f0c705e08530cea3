//! Spline IK: a chain of joints laid along a curve, for tails, tentacles, spines and ropes.
//!
//! The first joint is put on the curve and every following one where the curve next is a bone's length away, so bones keep
//! their length and joints lie on the curve; where it ends, the chain goes on straight. With stretch, the chain is as long as
//! the curve, as far as its bones allow. Bones do not twist: from each to the next the pose is taken along by the shortest arc
//! (parallel transport), and a roll at either end is shared out along the chain.
//!
//! ```
//! use anim_curves::BSpline;
//! use anim_ik::{SplineGoal, SplineIk, SplinePath};
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let bone = |parent| JointSpec { name: None, parent, rest: Transform::from_translation(Vec3::x() * 0.1) };
//! let tail = [None, Some(0), Some(1), Some(2), Some(3), Some(4)].map(bone);
//! let skeleton = Skeleton::new(tail.to_vec())?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let controls = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.3, 0.0], [0.6, 0.3, 0.2]].map(Vec3::from);
//! let path = SplinePath::new(BSpline::clamped(controls.to_vec())?, 1e-5)?;
//! let tail = SplineIk::new(&skeleton, skeleton.joint(0), skeleton.joint(5))?;
//! tail.solve(&skeleton, &path, &SplineGoal::default(), &mut pose, &mut globals);
//! let [a, b] = [4, 5].map(|source| globals.get(skeleton.joint(source)).translation);
//! assert!(((b - a).norm() - 0.1).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_curves::{ArcLength, BSpline, CurveError};
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::error::check_line;
use crate::frame::{Frame, position, rest_ratio};
use crate::{IkError, Outcome};

/// A curve in model space by its length, going on straight beyond its end.
#[derive(Clone, Debug)]
pub struct SplinePath {
    curve: BSpline<Vec3>,
    way: ArcLength,
    /// The unit direction in which it ends; zero if it stands still there.
    heading: Vec3,
}

impl SplinePath {
    /// Measures `curve`, m, within `accuracy`, m. A Bézier curve is the clamped B-spline of its four points.
    ///
    /// Allocates; make one whenever the curve changes.
    ///
    /// # Errors
    ///
    /// Those of [`ArcLength::new`].
    pub fn new(curve: BSpline<Vec3>, accuracy: f32) -> Result<Self, CurveError> {
        let [start, end] = curve.domain();
        let way = ArcLength::new(|u| curve.point(u), start, end, accuracy)?;
        let last = curve.point(end);
        let back = curve.point(way.parameter_at(way.length() - way.length() * 1e-3));
        let heading = (last - back).try_normalize(1e-18);
        Ok(Self {
            curve,
            way,
            heading: heading.unwrap_or_else(Vec3::zeros),
        })
    }

    /// Its length, m.
    pub fn length(&self) -> f32 {
        self.way.length()
    }

    /// The point after `length`, m, from the start; beyond the end, straight on.
    pub fn point(&self, length: f32) -> Vec3 {
        let beyond = (length - self.length()).max(0.0);
        self.curve.point(self.way.parameter_at(length)) + self.heading * beyond
    }

    /// The least length above `from` after which the path is `distance`, m, away from `center`, within 1e-6 of it.
    ///
    /// Along a path one comes no further from a point than one walks, so the distance that lacks is always a safe step: the
    /// search never passes a crossing.
    fn away(&self, center: Vec3, distance: f32, from: f32) -> f32 {
        let mut at = from + distance;
        for _ in 0..MOST_STEPS {
            let lacking = distance - (self.point(at) - center).norm();
            if lacking <= 1e-6 * distance {
                break;
            }
            at += lacking;
        }
        at
    }
}

/// A bend as tight as its bone needs some 20; a curve that runs round a point at the bone's length never gets further away.
const MOST_STEPS: usize = 64;

/// A chain of joints to lay along a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplineIk {
    joints: Vec<JointId>,
}

/// How a chain lies on its path.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SplineGoal {
    /// How far along the path the first joint is, m.
    pub start: f32,
    /// How many times longer each bone may become for the chain to end where the path does; 1 for not at all.
    pub stretch: f32,
    /// A roll about the bones at the first and at the last of them, rad, clockwise as seen along the chain.
    pub roll: [f32; 2],
}

impl Default for SplineGoal {
    fn default() -> Self {
        Self {
            start: 0.0,
            stretch: 1.0,
            roll: [0.0; 2],
        }
    }
}

impl SplineIk {
    /// The joints from `root` down to `end`.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if a joint is not the skeleton's, [`IkError::NotBelow`] if `end` is not below `root`.
    pub fn new(skeleton: &Skeleton, root: JointId, end: JointId) -> Result<Self, IkError> {
        check_line(skeleton, [root, end])?;
        let joints = skeleton.chain(root, end).unwrap_or_default();
        Ok(Self { joints })
    }

    /// The chain, from its root.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// Moves the first joint onto the path and turns all but the last, so that each following joint lies on it too.
    ///
    /// With stretch the joints share the length of the path as their bones share that of the chain, and the bones are then as
    /// long as the straight way from joint to joint: in tight bends a little shorter than their share. The residual is the
    /// distance from the last joint to the end of the path, m; it is reached within 1e-3 of the chain's length. Bones are
    /// as long as in the pose, or with stretch a factor longer than at rest; their parents' scale should be uniform. A goal
    /// that is not finite changes nothing.
    ///
    /// One forward pass, and some ten points of the curve a joint; allocates nothing.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and chain do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        path: &SplinePath,
        goal: &SplineGoal,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let stretches = goal.stretch > 1.0;
        let size = |pair: &[JointId]| {
            let ratio = if stretches {
                rest_ratio(skeleton, pose, pair[1])
            } else {
                1.0
            };
            bone(globals, pair).norm() * ratio
        };
        let length: f32 = self.joints.windows(2).map(size).sum();
        let [first, .., last] = *self.joints.as_slice() else {
            return Outcome::default();
        };
        let is_finite = [goal.start, goal.stretch, goal.roll[0], goal.roll[1]]
            .iter()
            .all(|value| value.is_finite());
        if is_finite {
            let factor = (stretches && length > 0.0)
                .then(|| ((path.length() - goal.start) / length).clamp(1.0, goal.stretch));
            self.lay(skeleton, path, goal, (length, factor), pose, globals);
            move_to(skeleton, first, path.point(goal.start), pose, globals);
            skeleton.globals_below(first, pose, globals);
        }
        let residual = (position(globals, last) - path.point(path.length())).norm();
        Outcome {
            reached: residual <= 1e-3 * length,
            residual,
            iterations: u32::from(is_finite),
        }
    }

    /// Turns all bones, and with a `factor` stretches them from rest; `length` is that of the chain, m.
    fn lay(
        &self,
        skeleton: &Skeleton,
        path: &SplinePath,
        goal: &SplineGoal,
        (length, factor): (f32, Option<f32>),
        pose: &mut Pose,
        globals: &Globals,
    ) {
        let (mut along, mut at) = (goal.start, path.point(goal.start));
        // What the joint above has turned by; `carried` leaves out the rolls, which must not add up.
        let (mut before, mut carried) = (Quat::identity(), Quat::identity());
        let mut done = 0.0;
        for pair in self.joints.windows(2) {
            let bone = bone(globals, pair);
            let (size, next_along) = match factor {
                Some(factor) => {
                    let size = bone.norm() * rest_ratio(skeleton, pose, pair[1]);
                    (size, along + size * factor)
                }
                None => (bone.norm(), path.away(at, bone.norm(), along)),
            };
            along = next_along;
            let next = path.point(along);
            let direction = carried * bone;
            let wanted = next - at;
            carried = quat::between(direction, wanted) * carried;
            let share = if length > size {
                done / (length - size)
            } else {
                0.0
            };
            let roll = goal.roll[0] + (goal.roll[1] - goal.roll[0]) * share;
            let axis = wanted.try_normalize(1e-18).unwrap_or_else(Vec3::zeros);
            let turned = quat::from_axis_angle(axis, roll) * carried;
            let local = (before.inverse() * turned).into_inner();
            let frame = Frame::of_parent(skeleton, pair[0], globals);
            frame.turn(pair[0], local, 1.0, pose);
            if factor.is_some() && bone != Vec3::zeros() {
                let stretched = pose.translation(pair[1]) * (wanted.norm() / bone.norm());
                pose.set_translation(pair[1], stretched);
            }
            before = turned;
            done += size;
            at = next;
        }
    }
}

/// From the first of two joints to the second, model space, m.
fn bone(globals: &Globals, pair: &[JointId]) -> Vec3 {
    position(globals, pair[1]) - position(globals, pair[0])
}

/// Moves `joint` to a point in model space; globals do not follow.
fn move_to(skeleton: &Skeleton, joint: JointId, to: Vec3, pose: &mut Pose, globals: &Globals) {
    let local = match skeleton.parent(joint) {
        Some(parent) => globals.get(parent).inverse().map(|p| p.transform_point(to)),
        None => Some(to),
    };
    if let Some(local) = local {
        pose.set_translation(joint, local);
    }
}
