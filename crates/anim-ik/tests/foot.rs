//! Feet on ground that is known in closed form.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use anim_ik::{Foot, FootContact, FootPlant, Ground, TwoBone};
use anim_math::{Affine, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, JointSpec, Pose, Skeleton};

/// Hips 1 m up on two legs that bend a little forward; ankles 0.1 m, balls 0.02 m above the soles.
struct Biped {
    skeleton: Skeleton,
    feet: FootPlant,
    pose: Pose,
    globals: Globals,
    contacts: Vec<FootContact>,
}

const SIDES: usize = 2;

impl Biped {
    fn new() -> Self {
        let joint = |parent, at: [f32; 3]| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(Vec3::from(at)),
        };
        let mut joints = vec![joint(None, [0.0, 1.0, 0.0])];
        for x in [0.1, -0.1] {
            let first = joints.len();
            joints.push(joint(Some(0), [x, 0.0, 0.0]));
            joints.push(joint(Some(first), [0.0, -0.45, 0.06]));
            joints.push(joint(Some(first + 1), [0.0, -0.45, -0.06]));
            joints.push(joint(Some(first + 2), [0.0, -0.08, 0.15]));
        }
        let skeleton = Skeleton::new(joints).unwrap();
        let foot = |side: usize| {
            let ankle = skeleton.joint(side * 4 + 3);
            Foot {
                leg: TwoBone::new(&skeleton, ankle).unwrap(),
                ankle,
                toes: Some(skeleton.joint(side * 4 + 4)),
            }
        };
        let feet = FootPlant {
            hips: skeleton.joint(0),
            feet: (0..SIDES).map(foot).collect(),
        };
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(skeleton.rest(), &mut globals);
        Self {
            pose: skeleton.rest().clone(),
            contacts: vec![FootContact::default(); SIDES],
            skeleton,
            feet,
            globals,
        }
    }

    fn solve(&mut self, ground: impl Fn(Vec3) -> Option<Ground>, world_from_model: Affine) {
        let Self {
            skeleton,
            feet,
            pose,
            globals,
            contacts,
        } = self;
        feet.solve(
            skeleton,
            &ground,
            &world_from_model,
            pose,
            globals,
            contacts,
        );
    }

    fn at(&self, joint: JointId) -> Vec3 {
        self.globals.get(joint).translation
    }

    fn ankle(&self, side: usize) -> Vec3 {
        self.at(self.feet.feet[side].ankle)
    }
}

fn level(height: f32) -> impl Fn(Vec3) -> Option<Ground> {
    move |_| {
        Some(Ground {
            height,
            normal: Vec3::y(),
        })
    }
}

#[test]
fn level_ground_where_the_clip_has_it_changes_nothing() {
    let mut biped = Biped::new();
    let before = biped.globals.clone();
    biped.solve(level(0.0), Affine::IDENTITY);
    for joint in biped.skeleton.joints() {
        let moved = biped.at(joint) - before.get(joint).translation;
        // Rounding of two solves and a pass over a body of 1 m.
        assert!(moved.norm() < 1e-5, "{moved:?}");
    }
    assert!(
        biped
            .contacts
            .iter()
            .all(|contact| contact.planted && contact.landed)
    );
}

#[test]
fn a_foot_lands_once_and_stays_planted() {
    let mut biped = Biped::new();
    biped.solve(level(0.0), Affine::IDENTITY);
    biped.solve(level(0.0), Affine::IDENTITY);
    assert!(
        biped
            .contacts
            .iter()
            .all(|contact| contact.planted && !contact.landed)
    );
}

#[test]
fn the_hips_follow_the_lower_foot_and_the_other_leg_bends() {
    let mut biped = Biped::new();
    let hips = biped.at(biped.feet.hips);
    let steps = |point: Vec3| {
        Some(Ground {
            height: if point.x > 0.0 { 0.0 } else { -0.1 },
            normal: Vec3::y(),
        })
    };
    biped.solve(steps, Affine::IDENTITY);
    assert!((biped.at(biped.feet.hips).y - (hips.y - 0.1)).abs() < 1e-5);
    assert!(
        (biped.ankle(0).y - 0.1).abs() < 1e-5,
        "{:?}",
        biped.ankle(0)
    );
    assert!(
        (biped.ankle(1).y - 0.0).abs() < 1e-5,
        "{:?}",
        biped.ankle(1)
    );
}

#[test]
fn a_sole_lies_on_its_slope() {
    let mut biped = Biped::new();
    let slope = quat::from_axis_angle(Vec3::x(), -0.2);
    let normal = slope * Vec3::y();
    // The plane through the origin with that normal.
    let plane = move |point: Vec3| {
        Some(Ground {
            height: -(normal.x * point.x + normal.z * point.z) / normal.y,
            normal,
        })
    };
    biped.solve(plane, Affine::IDENTITY);
    for foot in &biped.feet.feet {
        let (ankle, ball) = (biped.at(foot.ankle), biped.at(foot.toes.unwrap()));
        // Both are as far above the slope as they were above the floor.
        assert!((normal.dot(&ankle) - 0.1).abs() < 1e-4, "{ankle:?}");
        assert!((normal.dot(&ball) - 0.02).abs() < 1e-4, "{ball:?}");
    }
}

#[test]
fn where_there_is_no_ground_nothing_moves() {
    let mut biped = Biped::new();
    let pose = biped.pose.clone();
    biped.solve(|_| None, Affine::IDENTITY);
    assert_eq!(biped.pose, pose);
    assert!(biped.contacts.iter().all(|contact| !contact.planted));
}

#[test]
fn a_body_that_was_put_elsewhere_stands_there_the_same_way() {
    let turn = quat::from_axis_angle(Vec3::y(), 2.1);
    let world_from_model = Affine {
        linear: turn.to_rotation_matrix().into_inner(),
        translation: Vec3::new(30.0, 2.0, -7.0),
    };
    let (mut here, mut there) = (Biped::new(), Biped::new());
    here.solve(level(-0.05), Affine::IDENTITY);
    there.solve(level(1.95), world_from_model);
    for side in 0..SIDES {
        // Rounding at 30 m from the origin.
        assert!((here.ankle(side) - there.ankle(side)).norm() < 2e-5);
    }
}
