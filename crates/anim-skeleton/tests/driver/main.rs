//! Drivers against closed forms, other formulas for the same thing, and chance.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a broken test should say where"
)]

#[path = "../common/mod.rs"]
mod common;
mod constraints;
mod motion;
mod order;
mod random;
mod shaping;
mod spring_bone;
mod vrm;

use anim_math::{Transform, Vec3, quat};
use anim_skeleton::driver::{DriverError, DriverKind, DriverSpec, DriverState, Drivers};
use anim_skeleton::{Globals, JointId, JointSpec, Pose, Skeleton};

/// A skeleton with its drivers, posed and run.
struct Rig {
    skeleton: Skeleton,
    drivers: Drivers,
    state: DriverState,
    pose: Pose,
    globals: Globals,
}

impl Rig {
    fn new(joints: Vec<JointSpec>, specs: Vec<DriverSpec>) -> Self {
        Self::of(Skeleton::new(joints).unwrap(), specs).unwrap()
    }

    /// One driver at its full weight.
    fn one(joints: Vec<JointSpec>, kind: impl Into<DriverKind>) -> Self {
        Self::new(joints, vec![DriverSpec::new("driver", kind)])
    }

    fn of(skeleton: Skeleton, specs: Vec<DriverSpec>) -> Result<Self, DriverError> {
        let drivers = Drivers::new(&skeleton, specs)?;
        Ok(Self {
            state: DriverState::new(&drivers),
            pose: skeleton.rest().clone(),
            globals: Globals::new(&skeleton),
            drivers,
            skeleton,
        })
    }

    /// Runs the drivers on `pose` as it is; the globals must come out as those of the pose, to the bit.
    fn run(&mut self, dt: f32) {
        self.skeleton.globals(&self.pose, &mut self.globals);
        self.drivers.evaluate(
            &self.skeleton,
            dt,
            &mut self.state,
            &mut self.pose,
            &mut self.globals,
        );
        let mut whole = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.pose, &mut whole);
        assert_eq!(self.globals, whole);
    }

    fn joint(&self, name: &str) -> JointId {
        self.skeleton.find(name).unwrap()
    }

    fn turn(&mut self, name: &str, rotation_vector: Vec3) {
        let joint = self.joint(name);
        self.pose.set_rotation(joint, quat::exp(rotation_vector));
    }

    fn put(&mut self, name: &str, translation: Vec3) {
        let joint = self.joint(name);
        self.pose.set_translation(joint, translation);
    }

    /// The rotation vector of a joint's local rotation.
    fn turned(&self, name: &str) -> Vec3 {
        quat::log(self.pose.rotation(self.joint(name)))
    }

    fn position(&self, name: &str) -> Vec3 {
        self.globals.get(self.joint(name)).translation
    }
}

fn bone(name: &str, parent: Option<usize>, rest: Transform) -> JointSpec {
    JointSpec {
        name: Some(name.into()),
        parent,
        rest,
    }
}

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::from_translation(Vec3::new(x, y, z))
}

/// `difference` of two vectors is within `tolerance`.
fn check(found: Vec3, expected: Vec3, tolerance: f32) {
    let difference = (found - expected).norm();
    assert!(difference < tolerance, "{found} instead of {expected}");
}
