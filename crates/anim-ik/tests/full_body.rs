//! Bodies that reach with several effectors at once.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use anim_ik::{Effector, FullBody, IkStatus, Root};
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, JointSpec, Pose, Skeleton};

/// Hips, two legs, a spine of three and two arms; 1.7 m.
struct Body {
    skeleton: Skeleton,
    feet: [JointId; 2],
    hands: [JointId; 2],
}

impl Body {
    fn new() -> Self {
        let mut joints = Vec::new();
        let mut add = |parent, at: [f32; 3]| {
            joints.push(JointSpec {
                name: None,
                parent,
                rest: Transform::from_translation(Vec3::from(at)),
            });
            joints.len() - 1
        };
        let hips = add(None, [0.0, 0.95, 0.0]);
        let mut feet = [0; 2];
        for (foot, x) in feet.iter_mut().zip([0.1, -0.1]) {
            let hip = add(Some(hips), [x, 0.0, 0.0]);
            let knee = add(Some(hip), [0.0, -0.43, 0.06]);
            *foot = add(Some(knee), [0.0, -0.43, -0.06]);
        }
        let mut chest = hips;
        for _ in 0..3 {
            chest = add(Some(chest), [0.0, 0.15, 0.0]);
        }
        let mut hands = [0; 2];
        for (hand, x) in hands.iter_mut().zip([1.0, -1.0]) {
            let shoulder = add(Some(chest), [0.18 * x, 0.05, 0.0]);
            let elbow = add(Some(shoulder), [0.1 * x, -0.25, -0.05]);
            *hand = add(Some(elbow), [0.02 * x, -0.2, 0.15]);
        }
        let skeleton = Skeleton::new(joints).unwrap();
        Self {
            feet: feet.map(|source| skeleton.joint(source)),
            hands: hands.map(|source| skeleton.joint(source)),
            skeleton,
        }
    }

    fn at(&self, pose: &Pose, joint: JointId) -> Vec3 {
        let mut globals = Globals::new(&self.skeleton);
        self.skeleton.globals(pose, &mut globals);
        globals.get(joint).translation
    }

    /// Feet where they are at rest, hands on either side of a box.
    fn hold(&self, center: Vec3) -> Vec<Effector> {
        let rest = self.skeleton.rest();
        let feet = self
            .feet
            .map(|foot| Effector::at(foot, self.at(rest, foot)));
        let sides = [0.2, -0.2].map(|x| center + Vec3::x() * x);
        let hands = [0, 1].map(|side| Effector::at(self.hands[side], sides[side]));
        feet.into_iter().chain(hands).collect()
    }
}

#[test]
fn hands_stay_on_a_moving_box_and_feet_on_the_floor() {
    let body = Body::new();
    let mut solver = FullBody::new(&body.skeleton, &[], Root::Free).unwrap();
    let (mut most, mut step, mut iterations) = (0.0_f32, 0.0_f32, 0);
    let mut last: Option<Pose> = None;
    for frame in 0..60 {
        let angle = frame as f32 / 60.0 * std::f32::consts::TAU;
        let center = Vec3::new(0.25 * angle.sin(), 1.1 - 0.4 * angle.cos(), 0.35);
        let effectors = body.hold(center);
        let mut pose = body.skeleton.rest().clone();
        iterations += solver.solve(&effectors, &mut pose).iterations;
        for effector in &effectors {
            let off = body.at(&pose, effector.joint) - effector.position.unwrap();
            most = most.max(off.norm());
        }
        if let Some(last) = &last {
            for joint in body.skeleton.joints() {
                step = step.max(quat::angle_between(
                    last.rotation(joint),
                    pose.rotation(joint),
                ));
            }
        }
        last = Some(pose);
    }
    assert!(most < 1e-3, "{most} m");
    // The box goes at most 4.2 cm a frame: no joint may jump.
    assert!(
        step.to_degrees() < 25.0,
        "{} degrees a frame",
        step.to_degrees()
    );
    assert!(iterations < 60 * 30, "{} a frame", iterations / 60);
}

#[test]
fn a_pinned_root_stays_to_the_bit_where_a_free_one_comes_along() {
    let body = Body::new();
    let hips = body.skeleton.joint(0);
    // Farther than an arm is long.
    let far = [Effector::at(body.hands[0], Vec3::new(0.3, 1.5, 1.2))];
    let solve = |root| {
        let mut pose = body.skeleton.rest().clone();
        let mut solver = FullBody::new(&body.skeleton, &[], root).unwrap();
        let status = solver.solve(&far, &mut pose).status;
        (status, pose)
    };
    let (status, pose) = solve(Root::Pinned);
    assert_ne!(status, IkStatus::Reached);
    assert_eq!(
        pose.translation(hips),
        body.skeleton.rest().translation(hips)
    );
    let (status, pose) = solve(Root::Free);
    assert_eq!(status, IkStatus::Reached);
    assert!((body.at(&pose, body.hands[0]) - far[0].position.unwrap()).norm() < 1e-3);
}

#[test]
fn the_stronger_pull_wins() {
    let body = Body::new();
    let mut solver = FullBody::new(&body.skeleton, &[], Root::Pinned).unwrap();
    // Both hands at places a body with its hips in place cannot have at once.
    let apart = [Vec3::new(1.1, 1.3, 0.0), Vec3::new(-1.1, 1.3, 0.0)];
    let mut left = |weights: [f32; 2]| {
        let mut pose = body.skeleton.rest().clone();
        let pull = |side: usize| Effector {
            weight: weights[side],
            ..Effector::at(body.hands[side], apart[side])
        };
        solver.forget();
        solver.solve(&[pull(0), pull(1)], &mut pose);
        [0, 1].map(|side| (body.at(&pose, body.hands[side]) - apart[side]).norm())
    };
    let even = left([1.0, 1.0]);
    assert!((even[0] - even[1]).abs() < 0.01, "{even:?}");
    let uneven = left([1.0, 0.1]);
    assert!(
        uneven[0] < even[0] && uneven[1] > even[1],
        "{uneven:?} {even:?}"
    );
}

#[test]
fn a_frame_of_nonsense_moves_nothing_and_the_next_recovers() {
    let body = Body::new();
    let mut solver = FullBody::new(&body.skeleton, &[], Root::Free).unwrap();
    let mut pose = body.skeleton.rest().clone();
    let lost = Effector::at(body.hands[0], Vec3::new(f32::NAN, 0.0, 0.0));
    assert_eq!(
        solver.solve(&[lost], &mut pose).status,
        IkStatus::BadProblem
    );
    assert!(pose == *body.skeleton.rest());
    let found = Effector::at(body.hands[0], Vec3::new(0.4, 1.2, 0.3));
    assert_eq!(solver.solve(&[found], &mut pose).status, IkStatus::Reached);
}
