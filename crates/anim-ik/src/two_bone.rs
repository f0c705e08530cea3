//! Two bones and a target: arms and legs, solved in closed form.
//!
//! Use it for any limb with one hinge between two ball joints. The hinge opens until the limb is as long as the target is
//! far, then the whole limb turns by the shortest arc until it points there, then, if a pole is given, it turns about that
//! line until the middle joint lies toward the pole. All three are deltas on the pose as it is, so the twist of each bone
//! stays the animator's. It computes with square roots alone, unless `softness` or a partial `weight` asks for more.

use anim_math::lanes::{Level, dispatch};
use anim_math::{Quat, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};
use serde::{Deserialize, Serialize};

use crate::error::check_line;
use crate::frame::{Frame, is_finite, position};
use crate::limb::{Limb, Way, eased, rest_hinge};
use crate::{BendPlane, IkError, Outcome};

/// A limb of two bones: the rotations of `root` and `mid` bring `end` to a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TwoBoneSpec")]
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

/// A [`TwoBone`] as it was written, not checked.
#[derive(Deserialize)]
struct TwoBoneSpec {
    root: JointId,
    mid: JointId,
    end: JointId,
    hinge: Vec3,
}

impl TryFrom<TwoBoneSpec> for TwoBone {
    type Error = IkError;

    /// Parents come first in any skeleton, so joints out of order make no limb in any.
    fn try_from(spec: TwoBoneSpec) -> Result<Self, IkError> {
        let TwoBoneSpec {
            root,
            mid,
            end,
            hinge,
        } = spec;
        for (joint, ancestor) in [(mid, root), (end, mid)] {
            if joint <= ancestor {
                return Err(IkError::NotBelow {
                    joint: joint.index(),
                    ancestor: ancestor.index(),
                });
            }
        }
        let unit = hinge.try_normalize(1e-18).filter(is_finite);
        let unit = unit.ok_or(IkError::Axes { joint: mid.index() })?;
        let is_unit = (hinge.norm_squared() - 1.0).abs() < 1e-6;
        Ok(Self {
            root,
            mid,
            end,
            hinge: if is_unit { hinge } else { unit },
        })
    }
}

/// Where a limb should go this frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoBoneGoal {
    /// Where `end` should be, model space, m.
    pub target: Vec3,
    /// How `end` should be turned in model space, once it is there; `None` leaves its local rotation alone.
    #[serde(default)]
    pub rotation: Option<Quat>,
    /// How much of the rotation to apply, 0 to 1; `None` for as much as `weight`.
    #[serde(default)]
    pub rotation_weight: Option<f32>,
    /// A point in model space that `mid` bends toward; `None` keeps the plane of the pose. A pole on the line to the
    /// target says nothing and counts as none.
    #[serde(default)]
    pub pole: Option<Vec3>,
    /// Fraction of the limb's length, 0 to 1, over which it eases into full extension so that the knee does not pop; 0 for
    /// none. Within it the end lags behind its target.
    #[serde(default)]
    pub softness: f32,
    /// How many times longer than at rest the bones may become to reach the target; 1 or less for not at all.
    ///
    /// With it bones are as long as at rest wherever the target is near enough, whatever the pose made of them; with
    /// softness too they grow instead of lagging behind.
    #[serde(default)]
    pub stretch: f32,
    /// How much of the solution to apply, 0 to 1, along the short arcs; 0 leaves the pose bit for bit.
    pub weight: f32,
}

impl TwoBoneGoal {
    /// Reach `target`, model space, m: full weight, no softness, no stretch, no pole, no rotation.
    pub fn new(target: Vec3) -> Self {
        Self {
            target,
            rotation: None,
            rotation_weight: None,
            pole: None,
            softness: 0.0,
            stretch: 1.0,
            weight: 1.0,
        }
    }

    pub(crate) fn is_finite(&self) -> bool {
        is_finite(&self.target) && self.softness.is_finite() && self.stretch.is_finite()
    }

    /// Nothing out of the ordinary is asked.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.weight >= 1.0 && self.stretch <= 1.0 && self.is_finite()
    }

    /// The rotation to apply and how much of it.
    #[inline(always)]
    fn turned(&self) -> Option<(Quat, f32)> {
        let rotation = self.rotation?;
        let weight = self.rotation_weight.unwrap_or(self.weight);
        let is_active = weight > 0.0 && self.is_finite();
        is_active
            .then(|| quat::from_xyzw(rotation.coords.into()))?
            .map(|rotation| (rotation, weight))
    }
}

impl TwoBone {
    /// The limb that ends in `end`: its grandparent, its parent and itself.
    ///
    /// # Errors
    ///
    /// [`IkError::NoJoint`] if the joint is not the skeleton's, [`IkError::NoParents`] if it has no grandparent.
    pub fn new(skeleton: &Skeleton, end: JointId) -> Result<Self, IkError> {
        check_line(skeleton, [end])?;
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
        check_line(skeleton, [root, mid, end])?;
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

    /// Checks a limb that was read from a file against a skeleton.
    ///
    /// # Errors
    ///
    /// Those of [`of`](Self::of).
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), IkError> {
        check_line(skeleton, [self.root, self.mid, self.end])
    }

    /// Brings `end` to its goal by turning `root` and `mid`, and `end` itself if a rotation is asked for.
    ///
    /// A target out of reach gets a straight limb that points at it, one too near a folded one; the residual is what is
    /// then left, m; it is reached if that is within 1e-5 of the limb's length. Exact where the scale above the limb is
    /// uniform, mirrored or not; under uneven scale bones change their length as they turn, and the residual says what that
    /// cost. A target that is not finite changes nothing.
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
        // Not for its lanes: the same arithmetic takes fewer instructions where operands are not overwritten.
        dispatch!(Level::new(), _simd => self.solve_in(skeleton, goal, None, pose, globals))
    }

    /// As [`solve`](Self::solve), but the plane of the bend turns from that of the last solve by no more than
    /// [`BendPlane::most`].
    ///
    /// For a pole that the target may pass behind, and for poses that come out straight: the side then changes gradually
    /// instead of in one frame. The same plane, pose and goal give the same bits.
    ///
    /// # Panics
    ///
    /// If skeleton, pose, globals and limb do not belong together.
    pub fn solve_steadily(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        plane: &mut BendPlane,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        self.solve_in(skeleton, goal, Some(plane), pose, globals)
    }

    #[inline(always)]
    fn solve_in(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        plane: Option<&mut BendPlane>,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let [a, b, c] = [self.root, self.mid, self.end].map(|joint| position(globals, joint));
        let limb = Limb::new(b - a, c - b);
        let length = limb.l1 + limb.l2;
        let is_active = goal.weight > 0.0 && goal.is_finite();
        if is_active {
            let is_plain = plane.is_none() && goal.is_plain();
            if !(is_plain && self.turn(skeleton, goal, a, &limb, pose, globals)) {
                self.turn_carefully(skeleton, goal, plane, a, limb, pose, globals);
            }
            skeleton.globals_below(self.root, pose, globals);
        }
        self.finish(skeleton, goal, is_active, length, pose, globals)
    }

    /// Turns root and mid where nothing is out of the ordinary; false, and nothing done, elsewhere.
    ///
    /// It hands nothing on through memory, which is half the time: all that may has its own function.
    #[inline(always)]
    fn turn(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        root: Vec3,
        limb: &Limb,
        pose: &mut Pose,
        globals: &Globals,
    ) -> bool {
        let way = Way::new((goal.target - root).into());
        let distance = eased(way.far, limb.l1 + limb.l2, goal.softness);
        let pole = goal.pole.map(|pole| (pole - root).into());
        let ([swing, bend], true) = limb.bones().turns(&way, distance, pole) else {
            return false;
        };
        let Some(mid_frame) = Frame::of_even_parent(skeleton, self.mid, globals) else {
            return false;
        };
        let Some(root_frame) = Frame::of_even_parent(skeleton, self.root, globals) else {
            return false;
        };
        mid_frame.turn_fully(self.mid, bend, pose);
        root_frame.turn_fully(self.root, swing, pose);
        true
    }

    /// Turns root and mid, whatever the pose and the goal.
    #[cold]
    #[inline(never)]
    #[allow(
        clippy::too_many_arguments,
        reason = "one body of two with what both have at hand"
    )]
    fn turn_carefully(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        plane: Option<&mut BendPlane>,
        root: Vec3,
        mut limb: Limb,
        pose: &mut Pose,
        globals: &Globals,
    ) {
        let mid_frame = Frame::of_parent(skeleton, self.mid, globals);
        let root_frame = Frame::of_parent(skeleton, self.root, globals);
        let way = Way::new((goal.target - root).into());
        let mut distance = eased(way.far, limb.l1 + limb.l2, goal.softness);
        if goal.stretch > 1.0 {
            (limb, distance) = self.stretch(skeleton, goal, &limb, way.far, pose);
        }
        let hinge = mid_frame.model_axis(self.hinge);
        let pole = goal.pole.map(|pole| pole - root);
        let (swing, bend) = limb.careful_turns(&way, distance, hinge, pole, plane);
        mid_frame.turn(self.mid, bend, goal.weight, pose);
        root_frame.turn(self.root, swing, goal.weight, pose);
    }

    /// Turns the end, and says what came of it all.
    ///
    /// * `is_active`: that the limb was turned. * `length`: its length, m.
    #[inline(always)]
    pub(crate) fn finish(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        is_active: bool,
        length: f32,
        pose: &mut Pose,
        globals: &mut Globals,
    ) -> Outcome {
        let turned = goal.turned();
        if let Some((rotation, weight)) = turned {
            self.turn_end(skeleton, rotation, weight, pose, globals);
        }
        let residual = (goal.target - position(globals, self.end)).norm();
        // Rounding of the chain, and of positions far from the origin.
        let slack = 1e-5 * length + 4.0 * f32::EPSILON * goal.target.norm();
        Outcome {
            reached: residual.is_finite() && residual <= slack,
            residual,
            iterations: u32::from(is_active || turned.is_some()),
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

    /// Stretches the bones in the pose, as far as a target `far` away needs it and `goal` allows; the limb then, at full
    /// weight, and how far it should reach.
    #[cold]
    fn stretch(
        &self,
        skeleton: &Skeleton,
        goal: &TwoBoneGoal,
        limb: &Limb,
        far: f32,
        pose: &mut Pose,
    ) -> (Limb, f32) {
        let segments = [(self.root, self.mid), (self.mid, self.end)];
        let joints = |(top, bottom): (JointId, JointId)| {
            std::iter::once(bottom)
                .chain(skeleton.ancestors(bottom))
                .take_while(move |joint| *joint != top)
        };
        let ratios = segments.map(|segment| {
            let length = |pose: &Pose| -> f32 {
                joints(segment)
                    .map(|joint| pose.translation(joint).norm())
                    .sum()
            };
            let ratio = length(skeleton.rest()) / length(pose);
            if ratio.is_normal() { ratio } else { 1.0 }
        });
        let length = limb.l1 * ratios[0] + limb.l2 * ratios[1];
        let reach = eased(far, length, goal.softness);
        let needed = if reach > 0.0 { far / reach } else { 1.0 };
        let factor = needed.clamp(1.0, goal.stretch);
        let factors = ratios.map(|ratio| ratio * factor);
        for (segment, factor) in segments.into_iter().zip(factors) {
            for joint in joints(segment) {
                let part = 1.0 + (factor - 1.0) * goal.weight.min(1.0);
                pose.set_translation(joint, pose.translation(joint) * part);
            }
        }
        let stretched = Limb::new(limb.upper * factors[0], limb.lower * factors[1]);
        (stretched, reach * factor)
    }
}
