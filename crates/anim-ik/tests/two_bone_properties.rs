//! What holds for every target, pose and parent of the two-bone solver: lengths, reach, continuity, symmetry.

#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

mod limb;

use anim_ik::{TwoBone, TwoBoneGoal};
use anim_math::random::Random;
use anim_math::{Quat, Transform, Vec3, quat};
use limb::Limb;

#[test]
fn noise_about_straight_does_not_flip_the_knee() {
    // A knee pushed through by up to half a degree still bends the way of its rest pose.
    for millirad in -8..=8 {
        let mut limb = Limb::planar(1.0, 1.0, 0.4);
        let noise = quat::from_axis_angle(Vec3::z(), millirad as f32 * 1e-3);
        limb.pose.set_rotation(limb.solver.mid, noise);
        limb.skeleton.globals(&limb.pose, &mut limb.globals);
        limb.reach(Vec3::new(1.2, 0.0, 0.0));
        assert!(limb.positions()[1].y < -0.79, "{millirad}");
    }
}

#[test]
fn half_weight_is_half_the_angle_by_the_short_way() {
    let mut random = Random::new(5, 0, 0);
    for _ in 0..2000 {
        let bend = random.range(0.1, 2.9);
        let goal = TwoBoneGoal {
            pole: Some(random.on_sphere() * 2.0),
            ..TwoBoneGoal::new(random.on_sphere() * random.range(0.3, 1.7))
        };
        let (mut full, mut half) = (Limb::planar(1.0, 0.8, bend), Limb::planar(1.0, 0.8, bend));
        let start = full.rotations();
        full.solve(&goal);
        half.solve(&TwoBoneGoal {
            weight: 0.5,
            ..goal
        });
        for ((start, full), half) in start
            .into_iter()
            .zip(full.rotations())
            .zip(half.rotations())
        {
            let whole = quat::angle_between(start, full);
            assert!((quat::angle_between(start, half) - 0.5 * whole).abs() < 5e-6);
            assert!((quat::angle_between(half, full) - 0.5 * whole).abs() < 5e-6);
        }
        half.check_globals_agree();
    }
}

/// A body with a scale, a twist joint inside the upper limb, and something held at the end.
fn scaled_limb(scale: Vec3, random: &mut Random) -> Limb {
    let mut bone = |length: f32| Transform {
        translation: random.on_sphere() * length,
        rotation: quat::exp(random.on_sphere()),
        ..Transform::IDENTITY
    };
    let mut locals = [
        bone(1.0),
        bone(0.3),
        bone(0.25),
        bone(0.25),
        bone(0.4),
        bone(0.1),
    ];
    locals[0].scale = scale;
    let mut limb = Limb::new(&locals);
    let joint = |n| limb.skeleton.joint(n);
    limb.solver = TwoBone::of(&limb.skeleton, joint(1), joint(3), joint(4)).unwrap();
    limb
}

#[test]
fn scaled_and_mirrored_limbs_reach_with_a_twist_joint_between() {
    let mut random = Random::new(6, 0, 0);
    let scales = [
        Vec3::repeat(0.01),
        Vec3::repeat(2.5),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::repeat(-3.0),
    ];
    for scale in scales.into_iter().cycle().take(2000) {
        let mut limb = scaled_limb(scale, &mut random);
        let before = limb.lengths();
        let (near, far) = ((before[0] - before[1]).abs(), before[0] + before[1]);
        let distance = near + (far - near) * random.range(0.02, 0.98);
        let target = limb.positions()[0] + random.on_sphere() * distance;
        let outcome = limb.reach(target);
        assert!(outcome.reached, "{scale:?}: {outcome:?}");
        for (before, after) in before.into_iter().zip(limb.lengths()) {
            assert!((before - after).abs() < 2e-6 * before.max(1.0));
        }
        limb.check_globals_agree();
    }
}

#[test]
fn a_mirrored_limb_mirrors_its_solution() {
    let locals = [
        Transform::IDENTITY,
        Transform {
            translation: Vec3::new(0.2, 1.0, 0.0),
            rotation: quat::exp(Vec3::new(0.1, 0.2, 0.3)),
            ..Transform::IDENTITY
        },
        Transform {
            translation: Vec3::new(0.0, -0.5, 0.0),
            rotation: quat::exp(Vec3::new(0.6, 0.0, 0.0)),
            ..Transform::IDENTITY
        },
        Transform::from_translation(Vec3::new(0.0, -0.5, 0.0)),
    ];
    let mirror = |v: Vec3| Vec3::new(-v.x, v.y, v.z);
    let mut other = locals;
    other[0].scale.x = -1.0;
    let (mut left, mut right) = (Limb::new(&locals), Limb::new(&other));
    let goal = TwoBoneGoal {
        pole: Some(Vec3::new(0.5, 0.5, 2.0)),
        ..TwoBoneGoal::new(Vec3::new(0.6, 0.5, 0.3))
    };
    let mirrored = TwoBoneGoal {
        pole: goal.pole.map(mirror),
        ..TwoBoneGoal::new(mirror(goal.target))
    };
    assert!(left.solve(&goal).reached && right.solve(&mirrored).reached);
    for (left, right) in left.positions().into_iter().zip(right.positions()) {
        assert!((mirror(left) - right).norm() < 2e-6);
    }
}

#[test]
fn uneven_scale_above_keeps_everything_finite_and_the_residual_honest() {
    let mut random = Random::new(7, 0, 0);
    for _ in 0..500 {
        let mut limb = scaled_limb(Vec3::new(2.0, 0.5, -1.0), &mut random);
        let target = limb.positions()[0] + random.on_sphere() * 0.6;
        let outcome = limb.reach(target);
        assert!(limb.pose.is_finite());
        let left = (limb.positions()[2] - target).norm();
        assert_eq!(outcome.residual, left);
        limb.check_globals_agree();
    }
}

#[test]
fn a_hundred_thousand_random_targets_are_hit_or_pointed_at() {
    let mut random = Random::new(8, 0, 0);
    let mut limb = Limb::planar(0.55, 0.45, 0.3);
    for n in 0..100_000 {
        // Half of them start where the one before ended.
        if n % 2 == 0 {
            limb.pose.set_rotation(
                limb.solver.root,
                quat::exp(random.on_sphere() * random.range(0.0, 3.0)),
            );
            let bend = quat::exp(random.on_sphere() * random.range(0.0, 3.1));
            limb.pose.set_rotation(limb.solver.mid, bend);
            limb.skeleton.globals(&limb.pose, &mut limb.globals);
        }
        let distance = random.range(0.0, 1.3);
        let target = random.on_sphere() * distance;
        let pole = (n % 3 == 0).then(|| random.on_sphere());
        let outcome = limb.solve(&TwoBoneGoal {
            pole,
            ..TwoBoneGoal::new(target)
        });
        let [_, mid, end] = limb.positions();
        let expected = (target.norm() - 1.0).max(0.1 - target.norm()).max(0.0);
        assert!(
            (outcome.residual - expected).abs() < 1e-5,
            "{n} {distance}: {outcome:?}"
        );
        assert!(
            (mid.norm() - 0.55).abs() < 2e-6 && ((end - mid).norm() - 0.45).abs() < 2e-6,
            "{n}"
        );
    }
    // Renormalised at every solve, rotations are still unit after all of them.
    assert!(
        limb.rotations()
            .iter()
            .all(|q| (q.coords.norm() - 1.0).abs() < 3e-7)
    );
}

/// The largest turn of either joint between neighbouring targets, in turns of the target.
fn steepest(targets: impl Iterator<Item = Vec3>, pole: Option<Vec3>, step: f32) -> f32 {
    let mut before: Option<[Quat; 2]> = None;
    let mut steepest = 0.0_f32;
    for target in targets {
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        limb.solve(&TwoBoneGoal {
            pole,
            ..TwoBoneGoal::new(target)
        });
        if let Some(before) = before {
            for (a, b) in before.into_iter().zip(limb.rotations()) {
                steepest = steepest.max(quat::angle_between(a, b) / step);
            }
        }
        before = Some(limb.rotations());
    }
    steepest
}

#[test]
fn a_target_sweeping_the_sphere_turns_the_limb_steadily() {
    let degree = 1_f32.to_radians();
    let circle = |polar: f32, axis: Vec3| {
        let (x, y) = anim_math::random::basis(axis);
        (0..=360).map(move |n| {
            let (sine, cosine) = (n as f32 * degree).sin_cos();
            ((x * cosine + y * sine) * polar.sin() + axis * polar.cos()) * 1.1
        })
    };
    // With a pole, the limb's frame turns by 1 / sin of the angle between target and pole for each degree of the target.
    for polar in [30_f32, 60.0, 90.0, 120.0, 150.0].map(f32::to_radians) {
        let step = degree * polar.sin();
        let turned = steepest(circle(polar, Vec3::z()), Some(Vec3::z() * 5.0), step);
        assert!(turned < 1.05 / polar.sin(), "{polar}: {turned}");
        // Without one it turns by the shortest arc from where the bent limb points: 2·sin(θ/2) / sin θ = 1 / cos(θ/2).
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        limb.reach(Vec3::x() * 1.1);
        let rest = limb.rotations()[0].inverse() * Vec3::x();
        let turned = steepest(circle(polar, rest), None, step);
        assert!(turned < 1.01 / (0.5 * polar).cos(), "{polar}: {turned}");
    }
    // Meridians that pass two degrees beside the pole turn fast, but without a jump.
    let beside = circle(92_f32.to_radians(), Vec3::x());
    let turned = steepest(beside, Some(Vec3::z() * 5.0), degree);
    assert!(turned < 1.05 / 2_f32.to_radians().sin(), "{turned}");
}

#[test]
fn softness_eases_into_full_extension() {
    let knee_steps = |softness: f32| {
        let mut steps: Vec<f32> = Vec::new();
        let mut before = None;
        for n in 100..3000 {
            let mut limb = Limb::planar(1.0, 1.0, 0.3);
            let target = Vec3::new(n as f32 * 1e-3, 0.0, 0.0);
            limb.solve(&TwoBoneGoal {
                softness,
                ..TwoBoneGoal::new(target)
            });
            let knee = limb.knee_interior().to_degrees();
            steps.extend(before.map(|before: f32| (knee - before).abs()));
            before = Some(knee);
        }
        steps.into_iter().fold(0.0, f32::max)
    };
    assert!(
        knee_steps(0.0) > 3.0,
        "the last millimetre of a hard reach pops"
    );
    assert!(knee_steps(0.05) < 0.5);
    // At the start of the easing it reaches exactly; beyond it lags by d − da − ds·(1 − e^−1) where d = da + ds.
    let mut limb = Limb::planar(1.0, 1.0, 0.3);
    let goal = |x: f32| TwoBoneGoal {
        softness: 0.1,
        ..TwoBoneGoal::new(Vec3::new(x, 0.0, 0.0))
    };
    assert!(limb.solve(&goal(1.8)).reached);
    let outcome = limb.solve(&goal(2.0));
    assert!(
        (outcome.residual - 0.2 * (-1_f32).exp()).abs() < 2e-6,
        "{outcome:?}"
    );
}
