//! Two bones and a target: arms and legs, solved in closed form.
//!
//! Use it for any limb with one hinge between two ball joints. The hinge opens until the limb is as long as the target is
//! far, then the whole limb turns by the shortest arc until it points there, then, if a pole is given, it turns about that
//! line until the middle joint lies toward the pole. All three are deltas on the pose as it is, so the twist of each bone
//! stays the animator's. It computes with square roots alone, unless `softness` or a partial `weight` asks for more.

use anim_math::nalgebra::Quaternion;
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::arc::{Arc, Roll};
use crate::frame::{Frame, is_finite, position};
use crate::{IkError, Outcome};

/// A limb of two bones: the rotations of `root` and `mid` bring `end` to a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoBone {
    /// Hip or shoulder.
    pub root: JointId,
    /// Knee or elbow.
    pub mid: JointId,
    /// Ankle or wrist.
    pub end: JointId,
    /// The axis about which the limb bends, in the space of mid's parent, unit length: counts where the pose is straight.
    ///
    /// Turning the upper bone's direction about it gives the lower one's. It comes from the bend of the rest pose; where
    /// that is straight too, it is such that the middle goes toward the model's +Z, or +Y for a limb along z.
    pub hinge: Vec3,
}

/// Where a limb should go this frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoBoneGoal {
    /// Where `end` should be, model space, m.
    pub target: Vec3,
    /// How `end` should be turned in model space, once it is there; `None` leaves its local rotation alone.
    #[serde(default)]
    pub rotation: Option<Quat>,
    /// A point in model space that `mid` bends toward; `None` keeps the plane of the pose. A pole on the line to the
    /// target says nothing and counts as none.
    #[serde(default)]
    pub pole: Option<Vec3>,
    /// Fraction of the limb's length, 0 to 1, over which it eases into full extension so that the knee does not pop; 0 for
    /// none. Within it the end lags behind its target.
    #[serde(default)]
    pub softness: f32,
    /// How much of the solution to apply, 0 to 1, along the short arcs; 0 leaves the pose bit for bit.
    pub weight: f32,
}

impl TwoBoneGoal {
    /// Reach `target`, model space, m: full weight, no softness, no pole, no rotation.
    pub fn new(target: Vec3) -> Self {
        Self {
            target,
            rotation: None,
            pole: None,
            softness: 0.0,
            weight: 1.0,
        }
    }

    fn is_finite(&self) -> bool {
        is_finite(&self.target) && self.softness.is_finite()
    }
}

impl TwoBone {
    /// The limb that ends in `end`: its grandparent, its parent and itself.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if the joint is not the skeleton's, [`IkError::NoParents`] if it has no grandparent.
    pub fn new(skeleton: &Skeleton, end: JointId) -> Result<Self, IkError> {
        check(skeleton, end)?;
        let no_parents = IkError::NoParents { joint: end.index() };
        let mid = skeleton.parent(end).ok_or(no_parents.clone())?;
        let root = skeleton.parent(mid).ok_or(no_parents)?;
        Self::of(skeleton, root, mid, end)
    }

    /// The limb of three joints of which each lies below the one before; joints in between, such as twist joints, are
    /// kept as they are posed.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if a joint is not the skeleton's, [`IkError::NotBelow`] if they are not in line.
    pub fn of(
        skeleton: &Skeleton,
        root: JointId,
        mid: JointId,
        end: JointId,
    ) -> Result<Self, IkError> {
        for joint in [root, mid, end] {
            check(skeleton, joint)?;
        }
        for (joint, ancestor) in [(mid, root), (end, mid)] {
            if !skeleton.is_below(joint, ancestor) {
                return Err(IkError::NotBelow {
                    joint: joint.index(),
                    ancestor: ancestor.index(),
                });
            }
        }
        let mut globals = Globals::new(skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        let [a, b, c] = [root, mid, end].map(|joint| position(&globals, joint));
        let frame = Frame::of_parent(skeleton, mid, &globals);
        let hinge = frame.local_axis(rest_hinge(b - a, c - b));
        Ok(Self {
            root,
            mid,
            end,
            hinge,
        })
    }

    /// Brings `end` to its goal by turning `root` and `mid`, and `end` itself if a rotation is asked for.
    ///
    /// A target out of reach gets a straight limb that points at it, one too near a folded one; the residual is what is
    /// then left, m; it is reached if that is within 1e-5 of the limb's length. Exact where the scale above the limb is uniform, mirrored or not; under uneven scale bones change
    /// their length as they turn, and the residual says what that cost. A target that is not finite changes nothing.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and limb do not belong together.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let [a, b, c] = [self.root, self.mid, self.end].map(|joint| position(globals, joint));
        let (upper, lower, to_target) = (b - a, c - b, goal.target - a);
        let length = upper.norm() + lower.norm();
        let is_active = goal.weight > 0.0 && goal.is_finite();
        if is_active {
            let mid_frame = Frame::of_parent(skeleton, self.mid, globals);
            let root_frame = Frame::of_parent(skeleton, self.root, globals);
            let hinge = mid_frame.model_axis(self.hinge);
            let (swing, bend) = turns(upper, lower, to_target, hinge, goal, a);
            mid_frame.turn(self.mid, bend, goal.weight, pose);
            root_frame.turn(self.root, swing, goal.weight, pose);
            skeleton.globals_below(self.root, pose, globals);
            let rotation = goal.rotation.map(|rotation| rotation.coords.into());
            if let Some(rotation) = rotation.and_then(quat::from_xyzw) {
                self.turn_end(skeleton, rotation, goal.weight, pose, globals);
            }
        }
        let residual = (goal.target - position(globals, self.end)).norm();
        // Rounding of the chain, and of positions far from the origin.
        let slack = 1e-5 * length + 4.0 * f32::EPSILON * goal.target.norm();
        Outcome {
            reached: residual.is_finite() && residual <= slack,
            residual,
            iterations: u32::from(is_active),
        }
    }

    /// Turns `end` to a model-space rotation.
    fn turn_end(
        &self,
        skeleton: &Skeleton,
        rotation: Quat,
        weight: f32,
        pose: &mut Pose,
        globals: &mut Globals,
    ) {
        let now = globals.get(self.end).to_transform().rotation;
        let frame = Frame::of_parent(skeleton, self.end, globals);
        let turn = rotation * now.inverse();
        frame.turn(self.end, turn.into_inner(), weight, pose);
        skeleton.globals_below(self.end, pose, globals);
    }
}

/// Below this sine of the bend, rad, the pose's own plane gives way to the hinge: positions a few metres from the origin
/// do not know it better, and a knee that noise has pushed through must not bend backward.
const STRAIGHT: f32 = 0.02;

/// The model-space rotations of the root (all of the limb) and, before it, of the mid joint, as quaternions times positive
/// factors.
///
/// * `upper`, `lower`: from root to mid and from mid to end, m. * `hinge`: where the limb bends if it is straight.
///
/// With d the distance to go and φ the angle from upper to lower bone, 4·l₁·l₂·sin²(φ/2) = (l₁ + l₂)² − d² and
/// 4·l₁·l₂·cos²(φ/2) = d² − (l₁ − l₂)²: the law of cosines in half angles, which loses no digits at either end.
#[inline(always)]
fn turns(
    upper: Vec3,
    lower: Vec3,
    to_target: Vec3,
    hinge: Vec3,
    goal: &TwoBoneGoal,
    root: Vec3,
) -> (Quaternion<f32>, Quaternion<f32>) {
    let (l1, l2, far) = (upper.norm(), lower.norm(), to_target.norm());
    let (along, along_lower) = directions(upper, lower, l1, l2);
    let normal = bend_normal(along, along_lower, hinge);
    let four = 4.0 * l1 * l2;
    let (bent, bend) = if four > f32::MIN_POSITIVE {
        let distance = eased(far, l1 + l2, goal.softness);
        let gap = (l1 - l2).abs();
        let share = 1.0 / four;
        let sine2 = ((l1 + l2 - distance) * (l1 + l2 + distance) * share).clamp(0.0, 1.0);
        let cosine2 = ((distance - gap) * (distance + gap) * share).clamp(0.0, 1.0);
        let (sine, cosine) = (2.0 * (sine2 * cosine2).sqrt(), cosine2 - sine2);
        let bent = along * cosine + normal.cross(&along) * sine;
        let bend = Arc::new(along_lower, bent, normal).quaternion();
        (bent * l2, bend)
    } else {
        // A bone without length has nothing to bend.
        (lower, Quaternion::identity())
    };
    let reach = upper + bent;
    let reached = reach.norm();
    // A target at the root has no direction; the limb stays where it points.
    let (view, line) = match (reached > 0.0, far > 0.0) {
        (true, true) => (reach * (1.0 / reached), to_target * (1.0 / far)),
        (false, true) => (to_target / far, to_target / far),
        (_, false) => (along, along),
    };
    let aim = Arc::new(view, line, normal);
    let roll = goal.pole.filter(is_finite).and_then(|pole| {
        let to_pole = (pole - root).try_normalize(1e-18)?;
        let beside = to_pole.cross(&line);
        let normal = aim.carry(normal);
        // From where the middle is, line × normal, to where the pole is.
        let roll = || Roll::by(-normal.dot(&to_pole), normal.dot(&beside));
        (beside.norm_squared() > 1e-10).then(roll)
    });
    let swing = match roll {
        Some(roll) => aim.rolled(roll),
        None => aim.quaternion(),
    };
    (swing, bend)
}

/// The unit axis about which the limb bends: the pose's own, the hinge's share growing as it straightens.
#[inline(always)]
fn bend_normal(along: Vec3, lower: Vec3, hinge: Vec3) -> Vec3 {
    let own = along.cross(&lower);
    let sine = own.norm();
    if sine >= STRAIGHT {
        return own * (1.0 / sine);
    }
    let normal = own + (hinge - along * along.dot(&hinge)) * (STRAIGHT - sine);
    normal
        .try_normalize(1e-7)
        .unwrap_or_else(|| quat::any_perpendicular(along))
}

/// The axis of the rest pose's bend, or the documented one where it is straight.
fn rest_hinge(upper: Vec3, lower: Vec3) -> Vec3 {
    let (along, along_lower) = directions(upper, lower, upper.norm(), lower.norm());
    let bend = along.cross(&along_lower);
    bend.try_normalize(1e-4).unwrap_or_else(|| {
        // The middle bulges toward the normal's cross product with the bone.
        [Vec3::z(), Vec3::y()]
            .into_iter()
            .find_map(|toward| toward.cross(&along).try_normalize(0.1))
            .unwrap_or_else(Vec3::x)
    })
}

/// The unit directions of two bones of lengths `l1` and `l2`; a bone without length takes the other's.
#[inline(always)]
fn directions(upper: Vec3, lower: Vec3, l1: f32, l2: f32) -> (Vec3, Vec3) {
    match (l1 > 0.0, l2 > 0.0) {
        (true, true) => (upper * (1.0 / l1), lower * (1.0 / l2)),
        (true, false) => (upper / l1, upper / l1),
        (false, true) => (lower / l2, lower / l2),
        (false, false) => (Vec3::y(), Vec3::y()),
    }
}

/// How far the end goes of `distance`, m, for a limb of `length`, m.
///
/// Up to dₐ = length − dₛ, dₛ = softness·length, the distance itself; beyond it dₐ + dₛ·(1 − exp((dₐ − distance)/dₛ)), which
/// has the same slope there and never quite reaches the length.
///
/// Source: Nicholas, "Soft IK", 2009.
#[inline(always)]
fn eased(distance: f32, length: f32, softness: f32) -> f32 {
    let span = softness.clamp(0.0, 1.0) * length;
    let start = length - span;
    if span > 0.0 && distance > start {
        start + span * (1.0 - libm::expf((start - distance) / span))
    } else {
        distance.min(length)
    }
}

fn check(skeleton: &Skeleton, joint: JointId) -> Result<(), IkError> {
    if joint.index() < skeleton.len() {
        Ok(())
    } else {
        Err(IkError::NoJoint {
            joint: joint.index(),
        })
    }
}
