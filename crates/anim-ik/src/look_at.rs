//! Turning one joint so that an axis of it points at a target: heads, eyes, turrets.
//!
//! The joint turns by the shortest arc from where it looks now, no further than its limit, and then rolls about its view
//! until its up axis stands upright. Eyes that are not at the joint get an offset; [`LookAtGoal`] has another upright, a
//! twist and a weight. For a neck and a spine that share the turn, see [`SpineLook`](crate::SpineLook).
//!
//! ```
//! use anim_ik::LookAt;
//! use anim_math::{Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let head = JointSpec { name: None, parent: None, rest: Transform::from_translation(Vec3::y()) };
//! let skeleton = Skeleton::new(vec![head])?;
//! let mut pose = skeleton.rest().clone();
//! let mut globals = Globals::new(&skeleton);
//! skeleton.globals(&pose, &mut globals);
//!
//! let gaze = LookAt::new(skeleton.joint(0), Vec3::z(), Vec3::y(), 1.2)?;
//! let outcome = gaze.solve(&skeleton, Vec3::new(2.0, 1.0, 2.0), 1.0, &mut pose, &mut globals);
//! assert!(outcome.reached);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::f32::consts::PI;

use anim_math::lanes::{Level, dispatch};
use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::arc::{Arc, Roll, between_pairs};
use crate::frame::{Frame, is_finite, position, vector};
use crate::real::{Real, Turn, Vector, cross, dot, scale};
use crate::{IkError, Outcome};

/// A joint that looks along one of its axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "LookAtSpec")]
pub struct LookAt {
    /// What turns.
    pub joint: JointId,
    /// The joint's own axis that should point at the target, unit length.
    pub forward: Vec3,
    /// The joint's own axis that should lean toward the pole (the model's +Y) as far as the view allows, unit length; zero
    /// leaves the roll to the shortest arc.
    pub up: Vec3,
    /// How far the view may turn from where it points now, rad; π or more is no limit.
    pub limit: f32,
    /// Where the eye is in the joint's own space, m: the ray from there along `forward` should meet the target.
    pub offset: Vec3,
}

/// A [`LookAt`] as it was written, not checked.
#[derive(Deserialize)]
struct LookAtSpec {
    joint: JointId,
    forward: Vec3,
    up: Vec3,
    limit: f32,
    #[serde(default)]
    offset: Vec3,
}

impl TryFrom<LookAtSpec> for LookAt {
    type Error = IkError;

    fn try_from(spec: LookAtSpec) -> Result<Self, IkError> {
        Self::new(spec.joint, spec.forward, spec.up, spec.limit)?.with_offset(spec.offset)
    }
}

/// What to look at this frame, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LookAtGoal {
    /// Model space, m.
    pub target: Vec3,
    /// The direction in model space, of any length, that the joint's up axis leans toward; zero leaves the roll to the
    /// shortest arc.
    #[serde(default = "Vec3::y")]
    pub pole: Vec3,
    /// A roll about the view on top of that, rad, clockwise as seen by who looks.
    #[serde(default)]
    pub twist: f32,
    /// How much of the solution to apply, 0 to 1, along the short arc from the pose as it is; 0 leaves it bit for bit.
    pub weight: f32,
}

impl LookAtGoal {
    /// Look at `target`, model space, m: upright toward +Y, no twist, full weight.
    pub fn new(target: Vec3) -> Self {
        Self {
            target,
            pole: Vec3::y(),
            twist: 0.0,
            weight: 1.0,
        }
    }

    #[inline(always)]
    pub(crate) fn is_active(&self) -> bool {
        self.weight > 0.0 && is_finite(&self.pole) && self.twist.is_finite()
    }
}

impl LookAt {
    /// A joint with its axes and its limit, rad; the axes need not be unit. The eye is at the joint.
    ///
    /// # Errors
    ///
    /// [`IkError::Axes`] if `forward` is zero, `up` is along it, or either is not finite; [`IkError::Limit`] if `limit` is
    /// negative or not a number.
    pub fn new(joint: JointId, forward: Vec3, up: Vec3, limit: f32) -> Result<Self, IkError> {
        let axes = IkError::Axes {
            joint: joint.index(),
        };
        if !(is_finite(&forward) && is_finite(&up)) {
            return Err(axes);
        }
        let forward = forward.try_normalize(1e-18).ok_or(axes.clone())?;
        let up = up.try_normalize(1e-18).unwrap_or_else(Vec3::zeros);
        if up != Vec3::zeros() && forward.cross(&up).norm() < 1e-3 {
            return Err(axes);
        }
        if limit.is_nan() || limit < 0.0 {
            return Err(IkError::Limit {
                joint: joint.index(),
                limit,
            });
        }
        Ok(Self {
            joint,
            forward,
            up,
            limit,
            offset: Vec3::zeros(),
        })
    }

    /// The same with the eye at `offset` in the joint's own space, m.
    ///
    /// # Errors
    ///
    /// [`IkError::Offset`] if it is not finite.
    pub fn with_offset(self, offset: Vec3) -> Result<Self, IkError> {
        if is_finite(&offset) {
            Ok(Self { offset, ..self })
        } else {
            Err(IkError::Offset {
                joint: self.joint.index(),
            })
        }
    }

    /// Turns the joint toward `target`, model space, m, by the part `weight` of what it takes, along the short arc.
    ///
    /// The residual is the angle that is left, rad. Weight 0, a target on the joint itself and one that is not finite
    /// leave the pose bit for bit. Where the view is within 0.2 rad of the vertical the roll fades out, for there is no
    /// upright there.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and joint do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        target: Vec3,
        weight: f32,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        // Not for its lanes: the same arithmetic takes fewer instructions where operands are not overwritten.
        dispatch!(Level::new(), _simd => self.look(skeleton, target, Vec3::y(), [0.0, weight], pose, globals))
    }

    /// As [`solve`](Self::solve), with a pole and a twist.
    ///
    /// With an offset eye, a target nearer to the joint than the eye's ray ever comes cannot be met; the outcome says what
    /// is left.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and joint do not belong together.
    pub fn aim(
        &self,
        skeleton: &Skeleton,
        goal: &LookAtGoal,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let LookAtGoal {
            target,
            pole,
            twist,
            weight,
        } = *goal;
        self.look(skeleton, target, pole, [twist, weight], pose, globals)
    }

    /// What both do, on plain numbers: a goal that a function is handed a reference to would have to be in memory.
    #[inline(always)]
    fn look(
        &self,
        skeleton: &Skeleton,
        target: Vec3,
        pole: Vec3,
        [twist, weight]: [f32; 2],
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let to_target = target - position(globals, self.joint);
        let far2 = to_target.norm_squared();
        let is_active = weight > 0.0 && is_finite(&pole) && twist.is_finite();
        let is_plain = is_active && weight >= 1.0 && twist == 0.0 && self.is_plain();
        if !(is_plain && self.turn(skeleton, to_target, far2, pole, pose, globals)) {
            let far = to_target.norm();
            if !(far > 1e-18 && far.is_finite()) {
                return Outcome {
                    reached: is_finite(&target),
                    residual: 0.0,
                    iterations: 0,
                };
            }
            if is_active {
                let goal = LookAtGoal {
                    target,
                    pole,
                    twist,
                    weight,
                };
                self.turn_carefully(skeleton, to_target, far, &goal, pose, globals);
            }
        }
        if is_active {
            skeleton.globals_below(self.joint, pose, globals);
        }
        self.outcome(globals, to_target, is_active)
    }

    /// True if neither a limit nor an eye aside makes it out of the ordinary.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.limit >= PI && self.offset == Vec3::zeros()
    }

    /// What is left once the joint has turned.
    #[inline(always)]
    pub(crate) fn outcome(&self, globals: &Globals, to_target: Vec3, is_active: bool) -> Outcome {
        let residual = self.residual(globals, to_target);
        Outcome {
            reached: residual <= 1e-5,
            residual,
            iterations: u32::from(is_active),
        }
    }

    /// Turns the joint where nothing is out of the ordinary; false, and nothing done, elsewhere.
    ///
    /// It hands nothing on through memory, which is half the time: all that may has its own function.
    #[inline(always)]
    fn turn(
        &self,
        skeleton: &Skeleton,
        to_target: Vec3,
        far2: f32,
        pole: Vec3,
        pose: &mut Pose,
        globals: &Globals,
    ) -> bool {
        let view = vector(globals, self.joint, self.forward);
        let up = vector(globals, self.joint, self.up);
        let sight = [view.into(), up.into()];
        let (turn, true) = gaze(sight, to_target.into(), far2, pole.into()) else {
            return false;
        };
        let Some(frame) = Frame::of_even_parent(skeleton, self.joint, globals) else {
            return false;
        };
        frame.turn_by(self.joint, turn, 2.0 * turn.w.sqrt(), pose);
        true
    }

    /// Turns the joint, whatever the pose and the goal; the target is `far`, m, from it.
    #[cold]
    #[inline(never)]
    fn turn_carefully(
        &self,
        skeleton: &Skeleton,
        to_target: Vec3,
        far: f32,
        goal: &LookAtGoal,
        pose: &mut Pose,
        globals: &Globals,
    ) {
        let wanted = to_target * (1.0 / far);
        let turn = self.sight(globals, far).turn(wanted, goal, self.limit);
        let frame = Frame::of_parent(skeleton, self.joint, globals);
        frame.turn(self.joint, turn, goal.weight, pose);
    }

    /// The angle between the view and the way from the eye to the target, rad.
    ///
    /// * `to_target`: from the joint, m.
    #[inline(always)]
    pub(crate) fn residual(&self, globals: &Globals, to_target: Vec3) -> f32 {
        let way = if self.offset == Vec3::zeros() {
            to_target
        } else {
            to_target - vector(globals, self.joint, self.offset)
        };
        angle(vector(globals, self.joint, self.forward), way)
    }

    /// What the joint looks like in model space to a target at the distance `far`, m.
    #[inline(always)]
    pub(crate) fn sight(&self, globals: &Globals, far: f32) -> Sight {
        let view = vector(globals, self.joint, self.forward);
        let length = view.norm();
        if length <= 1e-18 {
            return Sight {
                view: Vec3::zeros(),
                up: Vec3::zeros(),
            };
        }
        let scale = 1.0 / length;
        let up = vector(globals, self.joint, self.up) * scale;
        let mut view = view * scale;
        if self.offset != Vec3::zeros() {
            view = through_eye(view, vector(globals, self.joint, self.offset), far);
        }
        Sight { view, up }
    }
}

/// The model-space rotation from how a joint looks to a target seen upright, times twice the root of its w, and whether to
/// use it.
///
/// * `view`, `up`: as the joint has them, of any length. * `way`: to the target, m, `far2` its square.
///
/// Two pairs of directions, each view and what is beside it, have one rotation between them. Not to be used where a pair is
/// none, or the view is so near the pole that the roll fades out.
#[inline(always)]
pub(crate) fn gaze<T: Real>(
    [view, up]: [Vector<T>; 2],
    way: Vector<T>,
    far2: T,
    pole: Vector<T>,
) -> (Turn<T>, T::Mask) {
    let (across, beside) = (cross(view, up), cross(way, pole));
    let squares = [
        far2,
        dot(beside, beside),
        dot(view, view),
        dot(across, across),
    ];
    let [far2, slope, size, width] = squares;
    let steep = far2.constant(STEEP) * far2 * dot(pole, pole);
    let (least, most) = (far2.constant(f32::MIN_POSITIVE), far2.constant(f32::MAX));
    let is_usual = slope.is_least(steep)
        & slope.min(far2).min(size.min(width)).is_least(least)
        & most.is_least(slope.max(far2).max(size.max(width)));
    let one = far2.constant(1.0);
    let [far, slope, size, width] = [far2.sqrt(), slope.sqrt(), size.sqrt(), width.sqrt()];
    let [far, slope, size, width] = [one / far, one / slope, one / size, one / width];
    let now = [scale(view, size), scale(across, width)];
    let upright = [scale(way, far), scale(beside, slope)];
    let (turn, is_short) = between_pairs(now, upright);
    (turn, is_usual & is_short)
}

/// From the joint to where the ray from the eye is `far` from it, unit length.
///
/// With o the eye's offset and f the view, |o + s f| = far has the root s = √(far² − |o|² + (o·f)²) − o·f ahead of the eye's
/// foot point; a nearer target leaves the foot point, s = −o·f.
#[cold]
fn through_eye(view: Vec3, offset: Vec3, far: f32) -> Vec3 {
    let along = offset.dot(&view);
    let foot = offset - view * along;
    let ahead = (far * far - foot.norm_squared()).max(0.0).sqrt();
    (foot + view * ahead).try_normalize(1e-18).unwrap_or(view)
}

/// A view and an up direction in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight {
    /// Unit; zero if there is none.
    pub(crate) view: Vec3,
    /// As long as the joint's scale makes it against the view.
    pub(crate) up: Vec3,
}

impl Sight {
    /// The model-space rotation that makes it look along the unit vector `wanted`, or as near as `limit`, rad, allows, and
    /// its up axis upright: a quaternion times a positive factor.
    #[inline(always)]
    pub(crate) fn turn(&self, wanted: Vec3, goal: &LookAtGoal, limit: f32) -> Quaternion<f32> {
        let Self { view, up } = *self;
        if view == Vec3::zeros() {
            return Quaternion::identity();
        }
        let wanted = if limit < PI {
            limited(view, wanted, up, limit)
        } else {
            wanted
        };
        // Were it opposite, it would turn about the up axis.
        let arc = Arc::new(view, wanted, up);
        let mut roll = upright(wanted, arc.carry(up), view.dot(&up), goal.pole);
        if goal.twist != 0.0 {
            roll = roll.then(goal.twist);
        }
        arc.rolled(roll)
    }
}

/// The roll about the unit vector `view` that makes `up` lean toward `pole`.
///
/// * `lean`: `view` · `up`.
#[inline(always)]
fn upright(view: Vec3, up: Vec3, lean: f32, pole: Vec3) -> Roll {
    let beside = pole.cross(&view);
    let roll = Roll::by(up.dot(&beside), up.dot(&pole) - lean * view.dot(&pole));
    let (slope, size) = (beside.norm_squared(), pole.norm_squared());
    if slope < STEEP * size {
        roll.part(slope / (STEEP * size))
    } else {
        roll
    }
}

/// The squared sine of the angle to the pole, 0.2 rad, under which the roll fades out.
const STEEP: f32 = 0.04;

/// The angle between two vectors of any length, rad.
#[inline(always)]
pub(crate) fn angle(a: Vec3, b: Vec3) -> f32 {
    let (sine2, cosine) = (a.cross(&b).norm_squared(), a.dot(&b));
    let cosine2 = cosine * cosine;
    if cosine > 0.0 && sine2 < 2.5e-7 * cosine2 {
        // A target that was met, as a rule: the tangent is the angle to f32 precision.
        (sine2 / cosine2).sqrt()
    } else {
        libm::atan2f(sine2.sqrt(), cosine)
    }
}

/// The direction on the way from `view` to `wanted`, both unit, by no more than `limit`, rad; about `up` if opposite.
#[cold]
fn limited(view: Vec3, wanted: Vec3, up: Vec3, limit: f32) -> Vec3 {
    let turn = quat::between_equal(view, wanted, up);
    let sine = turn.imag().norm();
    if 2.0 * libm::atan2f(sine, turn.w) <= limit {
        return wanted;
    }
    let turn: Quat = quat::from_axis_angle(turn.imag() / sine, limit);
    turn * view
}
