//! A crowd gets the bits that its characters get one by one.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

use anim_ik::{LookAt, LookAtGoal, Outcome, TwoBone, TwoBoneGoal};
use anim_math::random::Random;
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};

/// A hip on a pelvis, a knee, an ankle and two toes.
fn leg() -> Skeleton {
    let bone = |parent, y: f32, turn: Vec3| JointSpec {
        name: None,
        parent,
        rest: Transform {
            translation: Vec3::new(0.05, y, 0.02),
            rotation: quat::exp(turn),
            ..Transform::IDENTITY
        },
    };
    Skeleton::new(vec![
        bone(None, 1.0, Vec3::new(0.1, 0.2, 0.3)),
        bone(Some(0), -0.1, Vec3::new(-0.3, 0.1, 0.0)),
        bone(Some(1), -0.5, Vec3::new(0.5, 0.0, 0.1)),
        bone(Some(2), -0.4, Vec3::new(0.0, 0.3, 0.0)),
        bone(Some(3), 0.1, Vec3::zeros()),
        bone(Some(3), 0.15, Vec3::zeros()),
    ])
    .unwrap()
}

/// Characters in poses of their own; every seventh has a pelvis of uneven scale, every ninth is mirrored, every eleventh
/// has a straight leg.
fn crowd(skeleton: &Skeleton, count: usize) -> (Vec<Pose>, Vec<Globals>) {
    let mut random = Random::new(3, 0, 0);
    let mut poses = vec![skeleton.rest().clone(); count];
    for (n, pose) in poses.iter_mut().enumerate() {
        for joint in skeleton.joints() {
            pose.set_rotation(joint, quat::exp(random.on_sphere() * 0.6));
        }
        let pelvis = skeleton.joint(0);
        if n % 7 == 6 {
            pose.set_scale(pelvis, Vec3::new(1.0, 1.2, 0.9));
        } else if n % 9 == 8 {
            pose.set_scale(pelvis, Vec3::new(-1.5, 1.5, 1.5));
        }
        if n % 11 == 10 {
            let straight = Vec3::new(0.05, -0.5, 0.02);
            for joint in [2, 3].map(|joint| skeleton.joint(joint)) {
                pose.set_translation(joint, straight);
                pose.set_rotation(joint, quat::exp(Vec3::zeros()));
            }
        }
    }
    let mut globals = vec![Globals::new(skeleton); count];
    for (pose, globals) in poses.iter().zip(&mut globals) {
        skeleton.globals(pose, globals);
    }
    (poses, globals)
}

/// Goals of all kinds, most of them within reach.
fn goals(count: usize, kind: impl Fn(usize, &mut Random, &mut TwoBoneGoal)) -> Vec<TwoBoneGoal> {
    let mut random = Random::new(4, 0, 0);
    let goal = |n| {
        let place = Vec3::new(0.05, 0.9, 0.02) + random.in_ball() * 1.1;
        let mut goal = TwoBoneGoal::new(place);
        kind(n, &mut random, &mut goal);
        goal
    };
    (0..count).map(goal).collect()
}

type Crowd<'a, G> = &'a dyn Fn(&Skeleton, &[G], &mut [Pose], &mut [Globals], &mut [Outcome]);
type Alone<'a, G> = &'a dyn Fn(&Skeleton, &G, &mut Pose, &mut Globals) -> Outcome;

/// Solves both ways and compares every bit; the outcomes.
fn compared<G>(
    skeleton: &Skeleton,
    goals: &[G],
    crowd_of: Crowd<'_, G>,
    alone: Alone<'_, G>,
) -> Vec<Outcome> {
    let (mut poses, mut globals) = crowd(skeleton, goals.len());
    let (mut poses_alone, mut globals_alone) = (poses.clone(), globals.clone());
    let mut outcomes = vec![Outcome::default(); goals.len()];
    crowd_of(skeleton, goals, &mut poses, &mut globals, &mut outcomes);
    let each = poses_alone.iter_mut().zip(&mut globals_alone);
    for (n, ((pose, globals), goal)) in each.zip(goals).enumerate() {
        let outcome = alone(skeleton, goal, pose, globals);
        let bits = |o: &Outcome| (o.reached, o.residual.to_bits(), o.iterations);
        assert_eq!(bits(&outcome), bits(&outcomes[n]), "{n}");
    }
    for (n, (pose, alone)) in poses.iter().zip(&poses_alone).enumerate() {
        let bits = |pose: &Pose| -> Vec<u32> {
            let parts = pose.blocks().iter().flat_map(|block| block.rotation);
            parts.flatten().map(f32::to_bits).collect()
        };
        assert_eq!(bits(pose), bits(alone), "{n}");
    }
    assert_eq!(globals, globals_alone);
    outcomes
}

/// The leg of every character.
fn both(goals: &[TwoBoneGoal]) -> Vec<Outcome> {
    let skeleton = leg();
    let limb = TwoBone::new(&skeleton, skeleton.joint(3)).unwrap();
    compared(
        &skeleton,
        goals,
        &|skeleton, goals, poses, globals, outcomes| {
            limb.solve_crowd(skeleton, goals, poses, globals, outcomes);
        },
        &|skeleton, goal, pose, globals| limb.solve(skeleton, goal, pose, globals),
    )
}

#[test]
fn a_crowd_without_poles_has_the_bits_of_its_characters() {
    // Sizes around whole groups of eight.
    for count in [0, 1, 7, 8, 9, 200] {
        let outcomes = both(&goals(count, |_, _, _| {}));
        let reached = outcomes.iter().filter(|outcome| outcome.reached).count();
        // Half of a ball of 1.1 m is within 0.87 m; uneven scales miss.
        assert!(count < 200 || reached > count / 4, "{reached} of {count}");
    }
}

#[test]
fn a_crowd_with_poles_has_the_bits_of_its_characters() {
    both(&goals(200, |_, random, goal| {
        goal.pole = Some(random.in_ball() * 3.0);
    }));
}

#[test]
fn goals_of_all_kinds_side_by_side_are_answered_as_alone() {
    let outcomes = both(&goals(200, |n, random, goal| {
        if n % 3 == 0 {
            goal.pole = Some(random.in_ball() * 3.0);
        }
        if n % 4 == 0 {
            goal.softness = 0.1;
        }
        if n % 5 == 0 {
            goal.rotation = Some(quat::exp(random.on_sphere()));
        }
        match n % 13 {
            2 => goal.weight = 0.5,
            3 => goal.weight = 0.0,
            4 => goal.stretch = 1.5,
            5 => goal.target.x = f32::NAN,
            6 => goal.pole = Some(Vec3::repeat(f32::INFINITY)),
            7 => goal.target *= 1e30,
            _ => {}
        }
    }));
    assert!(outcomes.iter().any(|outcome| outcome.iterations == 0));
}

/// How many of the characters look at their targets, whichever joint looks, each with the bits it has alone.
fn looking(joint: usize, change: impl Fn(LookAt) -> LookAt, goals: &[LookAtGoal]) -> usize {
    let skeleton = leg();
    let gaze = LookAt::new(
        skeleton.joint(joint),
        Vec3::z(),
        Vec3::new(0.1, 1.0, 0.2),
        4.0,
    );
    let gaze = change(gaze.unwrap());
    let outcomes = compared(
        &skeleton,
        goals,
        &|skeleton, goals, poses, globals, outcomes| {
            gaze.aim_crowd(skeleton, goals, poses, globals, outcomes);
        },
        &|skeleton, goal, pose, globals| gaze.aim(skeleton, goal, pose, globals),
    );
    outcomes.iter().filter(|outcome| outcome.reached).count()
}

#[test]
fn a_crowd_looks_to_the_bit_as_its_characters_do() {
    let mut random = Random::new(5, 0, 0);
    for count in [0, 1, 7, 8, 9, 200] {
        let goals: Vec<_> = (0..count)
            .map(|n| {
                let mut goal = LookAtGoal::new(random.in_ball() * 5.0);
                match n % 23 {
                    3 => goal.pole = random.on_sphere() * 0.3,
                    5 => goal.pole = Vec3::zeros(),
                    7 => goal.twist = 0.4,
                    9 => goal.weight = 0.5,
                    11 => goal.weight = 0.0,
                    13 => goal.target.y = f32::NAN,
                    15 => goal.target *= 1e30,
                    17 => goal.target = Vec3::y() * 4.0,
                    19 => goal.pole.x = f32::INFINITY,
                    21 => goal.weight = f32::NAN,
                    _ => {}
                }
                goal
            })
            .collect();
        for joint in 0..6 {
            let reached = looking(joint, |gaze| gaze, &goals);
            assert!(10 * reached >= 6 * count, "{reached} of {count}");
            looking(joint, |gaze| LookAt { limit: 0.7, ..gaze }, &goals);
            let eye = |gaze: LookAt| gaze.with_offset(Vec3::new(0.0, 0.1, 0.05)).unwrap();
            looking(joint, eye, &goals);
        }
    }
}
