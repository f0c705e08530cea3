//! Feet on uneven ground: each foot is carried from the flat ground of its clip to the ground below it.
//!
//! Clips walk on the plane y = 0 of model space. A rigid map takes the plane at a foot's ball to the tangent plane of the
//! real ground there; the ankle and the foot's rotation follow that map, the hips drop as far as the lower planted foot
//! needs, and an analytic two-bone solve bends the leg. Where the clip holds a foot still the map is constant, so a
//! planted foot does not slide. Stateless but for telling when a foot lands.

use anim_ik::{TwoBone, TwoBoneGoal};
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, Pose, Skeleton};

use crate::World;

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
/// The ground is looked for from this far above the model's origin, m.
const ABOVE: f32 = 1.0;

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
    /// Plants all feet; `contacts` has one entry a foot and carries what was planted in the frame before.
    ///
    /// Over no ground a foot is left as it is. Up is world +Y.
    pub(crate) fn solve(
        &self,
        skeleton: &Skeleton,
        world: &World,
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
                world,
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
            let Some((plan, ground)) = planned else {
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
                position: ground,
                planted,
                landed: planted && !contact.planted,
            };
        }
    }

    /// Moves the hips up by `rise`, m (down where negative), along model +Y.
    fn lower_hips(&self, skeleton: &Skeleton, rise: f32, pose: &mut Pose, globals: &mut Globals) {
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
pub(crate) const MAX_FEET: usize = 8;

impl Foot {
    /// Where the ankle should be in model space, and the point on the ground below the ball of the foot.
    fn plan(
        &self,
        skeleton: &Skeleton,
        world: &World,
        world_from_model: &Affine,
        model_from_world: &Affine,
        globals: &Globals,
    ) -> Option<(Plan, Vec3)> {
        let ankle = globals.get(self.ankle);
        let ball = globals.get(self.toes.unwrap_or(self.ankle)).translation;
        let flat = Vec3::new(ball.x, 0.0, ball.z);
        let flat_world = world_from_model.transform_point(flat);
        let (height, normal) = world.ground_below(flat_world, ABOVE)?;
        let ground = Vec3::new(flat_world.x, height, flat_world.z);
        let ground_model = model_from_world.transform_point(ground);
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
        Some((plan, ground))
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

/// 0 below 0, 1 above 1, 3x² − 2x³ between.
fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
