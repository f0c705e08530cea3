//! Spring bones: hair, ears, tails and skirts as chains that swing, with the parameters and the look of VRM.
//!
//! Each bone of a chain is a pendulum on the end of the one before, in a field that pulls it toward its pose, so that a
//! chain waves along its length where single [`Jiggle`](super::Jiggle)s nod. All of a chain moves in one evaluation, from root
//! to tip, and alike at any frame rate; it starts at rest in its equilibrium, and no stiffness makes it explode.
//!
//! Against the reference algorithm of VRM it is based on the pose rather than the rest pose, so that animated hair swings
//! about its animation; forces and sizes grow with the bones, so that a scaled character swings as its model does; colliders
//! are met between frames, too.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_skeleton::driver::{DriverSpec, SpringBone, SpringJoint, SpringTip};
//!
//! let lock = SpringBone {
//!     joints: vec![
//!         SpringJoint { drag: 0.6, ..SpringJoint::new("hair 1") },
//!         SpringJoint { gravity: Vec3::new(0.0, -0.2, 0.0), ..SpringJoint::new("hair 2") },
//!     ],
//!     center: Some("head".into()), // walking does not move it, nodding does
//!     ..SpringBone::new(SpringTip::Offset(Vec3::new(0.0, -0.07, 0.0)))
//! };
//! let spec = DriverSpec::new("left lock", lock);
//! ```

use anim_math::{Affine, Mat3, Vec3, quat};
use serde::{Deserialize, Serialize};

use super::DriverError;
use super::order::{Part, Touched};
use super::scene::{Scene, Target};
use super::spec::{Binder, JointRef};
use super::spring_collider::{Placed, SpringCollider};
use super::spring_motion::{Bone, Response, Swing, settle, step, substeps};
use crate::JointId;

/// Swings a chain of joints.
///
/// Source: the VRM consortium's VRMC_springBone 1.0, as the differential equation of which its algorithm is a step; see
/// [`stiffness`](SpringJoint::stiffness) and [`drag`](SpringJoint::drag).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringBone<J = JointRef> {
    /// From root to tip, at least one; each hangs on the one before, directly or not.
    pub joints: Vec<SpringJoint<J>>,
    /// Where the last bone ends.
    pub tip: SpringTip<J>,
    /// What the bones stay out of, or inside; none may hang on them.
    #[serde(default = "Vec::new")]
    pub colliders: Vec<SpringCollider<J>>,
    /// Motion of this joint does not swing the chain; it may not hang on the chain. `None`: the world.
    #[serde(default = "none")]
    pub center: Option<J>,
    /// A move of the chain's root in one frame, m, ≥ 0, above which it has jumped rather than moved: the chain is at rest then.
    #[serde(default)]
    pub teleport: Option<f32>,
}

/// One bone of a chain: it turns its joint, and what is said of its end is at the next joint, or the tip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpringJoint<J = JointRef> {
    /// What turns.
    pub joint: J,
    /// Pull toward the pose, ≥ 0: the speed, m/s, that it gives the end in a sixtieth of a second. With a bone of length L it
    /// swings at about √(60 · stiffness / L) / 2π Hz.
    pub stiffness: f32,
    /// Pull in world space, likewise, m/s.
    pub gravity: Vec3,
    /// The part of its speed that the end loses in a sixtieth of a second, in [0, 1].
    pub drag: f32,
    /// Radius of the end where it meets colliders, m, ≥ 0.
    pub hit_radius: f32,
}

/// Where the last bone of a chain ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpringTip<J = JointRef> {
    /// At a joint that hangs on the last one.
    Joint(J),
    /// In the space of the last joint, m; not at its origin.
    Offset(Vec3),
}

fn none<J>() -> Option<J> {
    None
}

impl SpringJoint {
    /// With the defaults of VRM: stiffness 1, drag 0.5, no gravity and no size.
    pub fn new(joint: impl Into<JointRef>) -> Self {
        Self {
            joint: joint.into(),
            stiffness: 1.0,
            gravity: Vec3::zeros(),
            drag: 0.5,
            hit_radius: 0.0,
        }
    }
}

impl SpringBone {
    /// A chain without joints yet, colliders, center and teleport.
    pub fn new(tip: SpringTip) -> Self {
        Self {
            joints: Vec::new(),
            tip,
            colliders: Vec::new(),
            center: None,
            teleport: None,
        }
    }

    pub(super) fn bind(self, binder: &Binder<'_>) -> Result<SpringBone<JointId>, DriverError> {
        binder.not_empty(&self.joints, "joints")?;
        let bind = |joint: &SpringJoint| {
            let is_size = |v: f32| (0.0..=f32::MAX).contains(&v);
            binder.require(is_size(joint.stiffness), "a stiffness")?;
            binder.finite(joint.gravity, "a gravity")?;
            binder.require((0.0..=1.0).contains(&joint.drag), "a drag")?;
            binder.require(is_size(joint.hit_radius), "a hit radius")?;
            Ok(SpringJoint {
                joint: binder.joint(&joint.joint)?,
                stiffness: joint.stiffness,
                gravity: joint.gravity,
                drag: joint.drag,
                hit_radius: joint.hit_radius,
            })
        };
        let joints: Vec<_> = self.joints.iter().map(bind).collect::<Result<_, _>>()?;
        let tip = match &self.tip {
            SpringTip::Joint(joint) => SpringTip::Joint(binder.joint(joint)?),
            SpringTip::Offset(offset) => {
                binder.axis(*offset, "tip")?;
                SpringTip::Offset(*offset)
            }
        };
        let colliders = self.colliders.iter().map(|collider| collider.bind(binder));
        let center = self.center.as_ref().map(|center| binder.joint(center));
        binder.require(self.teleport.is_none_or(|v| v >= 0.0), "teleport")?;
        let bound = SpringBone {
            tip,
            colliders: colliders.collect::<Result<_, _>>()?,
            center: center.transpose()?,
            teleport: self.teleport,
            joints,
        };
        for (joint, next) in bound.pairs() {
            if next.is_some_and(|next| !binder.skeleton.ancestors(next).any(|a| a == joint)) {
                return Err(DriverError::NotBelow {
                    driver: binder.driver.to_owned(),
                });
            }
        }
        Ok(bound)
    }
}

/// What a chain keeps from frame to frame; of other drivers it is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Chain {
    /// False puts it to rest at the next evaluation.
    is_swinging: bool,
    /// Of each joint.
    swings: Vec<Swing>,
    /// Where the chain began in the last frame, world space, m.
    root: Vec3,
    /// Where the center was in the last frame.
    world_from_center: Affine,
    /// Where the colliders were in the last frame, from the root there.
    placed: Vec<Placed>,
    /// Of this frame.
    bones: Vec<Bone>,
    now: Vec<Placed>,
}

impl Chain {
    /// For a chain of so many joints and colliders.
    fn new(joints: usize, colliders: usize) -> Self {
        Self {
            is_swinging: false,
            swings: vec![Swing::default(); joints],
            root: Vec3::zeros(),
            world_from_center: Affine::IDENTITY,
            placed: vec![Placed::Nothing; colliders],
            bones: Vec::with_capacity(joints),
            now: Vec::with_capacity(colliders),
        }
    }

    /// Puts it to rest where the next evaluation finds it.
    pub(super) fn settle(&mut self) {
        self.is_swinging = false;
    }
}

impl SpringBone<JointId> {
    pub(super) fn chain(&self) -> Chain {
        Chain::new(self.joints.len(), self.colliders.len())
    }

    /// Each joint and the joint at its end, if that is one.
    fn pairs(&self) -> impl Iterator<Item = (JointId, Option<JointId>)> {
        let tip = match self.tip {
            SpringTip::Joint(joint) => Some(joint),
            SpringTip::Offset(_) => None,
        };
        let next = self.joints.iter().skip(1).map(|next| Some(next.joint));
        let joints = self.joints.iter().map(|joint| joint.joint);
        joints.zip(next.chain(std::iter::once(tip)))
    }

    pub(super) fn touch(&self, touched: &mut Touched<'_>) {
        touched.read_parent(self.joints[0].joint);
        touched.read(self.joints[0].joint, Part::Translation);
        for (joint, next) in self.pairs() {
            touched.read(joint, Part::Scale);
            touched.write(joint, Part::Rotation);
            let Some(next) = next else { continue };
            touched.read(next, Part::Translation);
            touched.read_between(joint, next);
        }
        for collider in &self.colliders {
            touched.read_global(collider.joint);
        }
        if let Some(center) = self.center {
            touched.read_global(center);
        }
    }

    pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
        let mut chain = std::mem::take(scene.chain);
        self.advance(scene, &mut chain);
        if chain.swings.iter().all(Swing::is_finite) {
            self.pose(scene, &chain.swings);
        } else {
            chain.settle();
        }
        *scene.chain = chain;
    }

    fn advance(&self, scene: &Scene<'_>, chain: &mut Chain) {
        let world = scene.world_from_model;
        let root_model = scene.position(self.joints[0].joint);
        let root = world.transform_point(root_model);
        chain.bones.clear();
        let ends = self.joints.iter().zip(self.pairs());
        chain.bones.extend(ends.map(|(spec, (joint, next))| {
            let posed =
                world.transform_vector(self.end(scene, joint, next) - scene.position(joint));
            let rest = (self.rest_end(scene, joint, next) - scene.rest.position(joint)).norm();
            let growth = posed.norm() / rest;
            Bone {
                response: Response::new(spec.stiffness, spec.gravity, spec.drag),
                hit: spec.hit_radius,
                growth: if growth.is_finite() { growth } else { 1.0 },
                posed,
            }
        }));
        chain.now.clear();
        chain.now.extend(self.colliders.iter().map(|collider| {
            let model_from_joint = scene.globals.get(collider.joint);
            let from_root = model_from_joint.translation - root_model;
            let root_from_joint = Affine {
                linear: world.linear * model_from_joint.linear,
                translation: world.transform_vector(from_root),
            };
            Placed::new(&collider.shape, &root_from_joint)
        }));
        let world_from_center = match self.center {
            Some(center) => world * scene.globals.get(center),
            None => Affine::IDENTITY,
        };
        // The last frame, taken along by the motion of the center.
        let motion = match chain.world_from_center.inverse() {
            Some(inverse) if self.center.is_some() => world_from_center * inverse,
            _ => Affine::IDENTITY,
        };
        let shift = root - motion.transform_point(chain.root);
        let limit = self.teleport.unwrap_or(f32::INFINITY);
        if chain.is_swinging && shift.norm() <= limit {
            let motion = Affine {
                linear: motion.linear,
                translation: -shift,
            };
            chain.swing(&motion, shift, scene.dt);
        } else {
            settle(&chain.bones, &mut chain.swings, Vec3::zeros(), &chain.now);
            chain.is_swinging = true;
        }
        for (swing, bone) in chain.swings.iter_mut().zip(&chain.bones) {
            swing.posed = bone.posed;
        }
        chain.root = root;
        chain.world_from_center = world_from_center;
        std::mem::swap(&mut chain.placed, &mut chain.now);
    }

    /// Turns the joints so that the bones point as they swing.
    fn pose(&self, scene: &mut Scene<'_>, swings: &[Swing]) {
        for ((joint, next), swing) in self.pairs().zip(swings) {
            let Some(parent_from_model) = scene.parent_from_model(joint) else {
                continue;
            };
            let Some(model_from_world) = scene.world_from_model.inverse() else {
                continue;
            };
            let posed = self.end(scene, joint, next) - scene.position(joint);
            let swung = model_from_world.transform_vector(swing.direction);
            let [posed, swung] = [posed, swung].map(|v| parent_from_model.transform_vector(v));
            let turn = quat::between(posed, swung);
            let rotation = turn * scene.pose.rotation(joint);
            scene.write(joint, Target::rotation(rotation));
        }
    }

    /// Where a bone ends, model space.
    fn end(&self, scene: &Scene<'_>, joint: JointId, next: Option<JointId>) -> Vec3 {
        match (next, &self.tip) {
            (Some(next), _) => scene.position(next),
            (None, SpringTip::Offset(offset)) => scene.globals.get(joint).transform_point(*offset),
            (None, SpringTip::Joint(tip)) => scene.position(*tip),
        }
    }

    /// Where a bone ends at rest, model space.
    fn rest_end(&self, scene: &Scene<'_>, joint: JointId, next: Option<JointId>) -> Vec3 {
        match (next, &self.tip) {
            (Some(next), _) => scene.rest.position(next),
            (None, SpringTip::Offset(offset)) => scene.rest.point(joint, *offset),
            (None, SpringTip::Joint(tip)) => scene.rest.position(*tip),
        }
    }
}

impl Chain {
    /// Moves on by `dt`, s, in which the root has come by `shift`; `motion` brings the last frame's places to this root.
    fn swing(&mut self, motion: &Affine, shift: Vec3, dt: f32) {
        if motion.linear != Mat3::identity() {
            for swing in &mut self.swings {
                swing.carried(motion);
            }
        }
        for placed in &mut self.placed {
            *placed = placed.moved(motion);
        }
        if dt <= 0.0 {
            return;
        }
        let (count, h) = substeps(dt);
        let rate = 1.0 / dt;
        for substep in 0..count {
            let [before, alpha] = [substep, substep + 1].map(|k| k as f32 / count as f32);
            let head = [before, alpha].map(|alpha| -shift * (1.0 - alpha));
            let colliders = [&*self.placed, &*self.now];
            step(
                &self.bones,
                &mut self.swings,
                head,
                colliders,
                rate,
                alpha,
                h,
            );
        }
    }
}
