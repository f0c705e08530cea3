//! Feet on uneven ground: each foot is carried from the flat ground of its clip to the ground below it.
//!
//! Clips walk on the plane y = 0 of model space. A rigid map takes the plane at a foot's ball to the tangent plane of the
//! real ground there; the ankle and the foot's rotation follow that map, the hips drop as far as the lower planted foot
//! needs, and an analytic two-bone solve bends the leg. Where the clip holds a foot still the map is constant, so a
//! planted foot does not slide. Stateless but for telling when a foot lands.
//!
//! ```
//! use anim_ik::{Foot, FootContact, FootPlant, Ground, TwoBone};
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//!
//! let joint = |parent, at: [f32; 3]| JointSpec {
//!     name: None,
//!     parent,
//!     rest: Transform::from_translation(Vec3::from(at)),
//! };
//! let skeleton = Skeleton::new(vec![
//!     joint(None, [0.0, 1.0, 0.0]),           // hips
//!     joint(Some(0), [0.1, 0.0, 0.0]),        // upper leg
//!     joint(Some(1), [0.0, -0.45, 0.02]),     // knee
//!     joint(Some(2), [0.0, -0.45, -0.02]),    // ankle, 0.1 m above the sole
//! ])?;
//! let ankle = skeleton.joint(3);
//! let feet = FootPlant {
//!     hips: skeleton.joint(0),
//!     feet: vec![Foot { leg: TwoBone::new(&skeleton, ankle)?, ankle, toes: None }],
//! };
//! let (mut pose, mut globals) = (skeleton.rest().clone(), Globals::new(&skeleton));
//! skeleton.globals(&pose, &mut globals);
//! let mut contacts = [FootContact::default()];
//! let step = |_| Some(Ground { height: -0.05, normal: Vec3::y() });
//! feet.solve(&skeleton, &step, &Affine::IDENTITY, &mut pose, &mut globals, &mut contacts);
//! assert!((globals.get(ankle).translation.y - 0.05).abs() < 1e-5); // 0.1 m above the step
//! assert!(contacts[0].landed);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

use crate::foot_lock::smoothstep;
use crate::{TwoBone, TwoBoneGoal};

/// The feet of a character.
#[derive(Clone, Debug)]
pub struct FootPlant {
    /// The joint above both legs.
    pub hips: JointId,
    /// Any number.
    pub feet: Vec<Foot>,
}

/// One leg.
#[derive(Clone, Debug)]
pub struct Foot {
    /// Hip, knee and ankle.
    pub leg: TwoBone,
    /// The ankle.
    pub ankle: JointId,
    /// The ball of the foot, where it rolls off; the ankle stands in for it.
    pub toes: Option<JointId>,
}

/// The ground at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// World space, m.
    pub height: f32,
    /// Unit, upward.
    pub normal: Vec3,
}

/// Where a foot is this frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FootContact {
    /// On the ground below the ball of the foot, world space.
    pub position: Vec3,
    /// True while the foot bears.
    pub planted: bool,
    /// True in the first frame of that.
    pub landed: bool,
}

/// A foot lifted this far, m, by its clip bears nothing and need not be within reach.
const LIFTED: f32 = 0.12;
/// A foot lifted less than this, m, by its clip and this near to where it should be is planted.
const PLANTED: f32 = 0.025;
/// How far, m, the hips may rise over a swinging foot's ground before it pulls them down.
const SWING_SLACK: f32 = 0.15;
/// The part of a leg's length that it reaches, unless its clip stretches it further.
const REACH: f32 = 0.995;

/// What one foot wants, before the hips are known.
#[derive(Clone, Copy, Debug)]
struct Plan {
    ankle: Vec3,
    rotation: Quat,
    offset: f32,
    bearing: f32,
    lift: f32,
    /// How far the hips may rise at most for the leg to reach.
    reach: f32,
}

impl FootPlant {
    /// Plants all feet, at most [`MAX_FEET`].
    ///
    /// * `ground`: the ground above or below a point, world space, m; `None` where there is none: the foot is left as it
    ///   is. * `world_from_model`: rigid. * `globals`: those of `pose`; both are changed and agree after. * `contacts`: one
    ///   a foot; they carry what was planted in the frame before.
    ///
    /// Up is world +Y. Two forward passes below the hips and one two-bone solve a foot; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `pose` or `globals` belongs to a skeleton with another number of joints.
    pub fn solve(
        &self,
        skeleton: &Skeleton,
        ground: &dyn Fn(Vec3) -> Option<Ground>,
        world_from_model: &Affine,
        pose: &mut Pose,
        globals: &mut Globals,
        contacts: &mut [FootContact],
    ) {
        let Some(model_from_world) = world_from_model.inverse() else {
            return;
        };
        let plan = |foot: &Foot| {
            foot.plan(
                skeleton,
                ground,
                world_from_model,
                &model_from_world,
                globals,
            )
        };
        let mut plans = [None; MAX_FEET];
        for (slot, foot) in plans.iter_mut().zip(&self.feet) {
            *slot = plan(foot);
        }
        let planned = || plans.iter().flatten().map(|(plan, _)| plan);
        let bearing = planned().map(|plan| plan.bearing).fold(0.0, f32::max);
        let over_ground = |plan: &Plan| plan.offset + (bearing - plan.bearing) * SWING_SLACK;
        let drop = planned()
            .map(|plan| over_ground(plan).min(plan.reach))
            .reduce(f32::min);
        let Some(drop) = drop else {
            contacts.fill(FootContact::default());
            return;
        };
        self.lower_hips(skeleton, drop, pose, globals);
        for ((foot, planned), contact) in self.feet.iter().zip(plans).zip(contacts) {
            let Some((plan, point)) = planned else {
                *contact = FootContact::default();
                continue;
            };
            let goal = TwoBoneGoal {
                rotation: Some(plan.rotation),
                ..TwoBoneGoal::new(plan.ankle)
            };
            let outcome = foot.leg.solve(skeleton, &goal, pose, globals);
            let planted = plan.lift < PLANTED && outcome.residual < PLANTED;
            *contact = FootContact {
                position: point,
                planted,
                landed: planted && !contact.planted,
            };
        }
    }

    /// Moves the hips up by `rise`, m (down where negative), along model +Y.
    pub(crate) fn lower_hips(
        &self,
        skeleton: &Skeleton,
        rise: f32,
        pose: &mut Pose,
        globals: &mut Globals,
    ) {
        let parent = skeleton
            .parent(self.hips)
            .map_or(Affine::IDENTITY, |parent| globals.get(parent));
        let Some(parent_from_model) = parent.inverse() else {
            return;
        };
        let rise = parent_from_model.transform_vector(Vec3::y() * rise);
        pose.set_translation(self.hips, pose.translation(self.hips) + rise);
        skeleton.globals_below(self.hips, pose, globals);
    }
}

/// Legs that one [`FootPlant`] serves.
pub const MAX_FEET: usize = 8;

impl Foot {
    /// Where the ankle should be in model space, and the point on the ground below the ball of the foot.
    fn plan(
        &self,
        skeleton: &Skeleton,
        ground: &dyn Fn(Vec3) -> Option<Ground>,
        world_from_model: &Affine,
        model_from_world: &Affine,
        globals: &Globals,
    ) -> Option<(Plan, Vec3)> {
        let ankle = globals.get(self.ankle);
        let ball = globals.get(self.toes.unwrap_or(self.ankle)).translation;
        let flat = Vec3::new(ball.x, 0.0, ball.z);
        let flat_world = world_from_model.transform_point(flat);
        let Ground { height, normal } = ground(flat_world)?;
        let point = Vec3::new(flat_world.x, height, flat_world.z);
        let ground_model = model_from_world.transform_point(point);
        let up = model_from_world.transform_vector(normal);
        let slope = quat::between(Vec3::y(), up);
        let lift = self.lift(skeleton, globals);
        let target = ground_model + slope * (ankle.translation - flat);
        let plan = Plan {
            ankle: target,
            rotation: slope * ankle.to_transform().rotation,
            offset: ground_model.y - flat.y,
            bearing: 1.0 - smoothstep(lift / LIFTED),
            lift,
            reach: self.reach(globals, target) + smoothstep(lift / LIFTED) * SWING_SLACK,
        };
        Some((plan, point))
    }

    /// How far the hip may rise, m, for the leg to reach `target`; down where negative.
    fn reach(&self, globals: &Globals, target: Vec3) -> f32 {
        let at = |joint: JointId| globals.get(joint).translation;
        let (hip, knee, ankle) = (at(self.leg.root), at(self.leg.mid), at(self.ankle));
        let length = (knee - hip).norm() + (ankle - knee).norm();
        let length = (REACH * length).max((ankle - hip).norm());
        let way = target - hip;
        let level_squared = way.x * way.x + way.z * way.z;
        // Out of reach at any height, the hips go as low as the target and no further.
        way.y + (length * length - level_squared).max(0.0).sqrt()
    }

    /// How far the clip lifts the foot above where it rests, m: the lower of ankle and ball.
    fn lift(&self, skeleton: &Skeleton, globals: &Globals) -> f32 {
        let lift = |joint: JointId| globals.get(joint).translation.y - rest_height(skeleton, joint);
        self.toes.map_or(f32::INFINITY, lift).min(lift(self.ankle))
    }
}

/// Height of a joint in the rest pose, model space, m.
fn rest_height(skeleton: &Skeleton, joint: JointId) -> f32 {
    let mut model_from_joint = Affine::IDENTITY;
    let mut at = Some(joint);
    while let Some(joint) = at {
        let parent_from_joint: Transform = skeleton.rest().get(joint);
        model_from_joint = Affine::from(parent_from_joint) * model_from_joint;
        at = skeleton.parent(joint);
    }
    model_from_joint.translation.y
}
