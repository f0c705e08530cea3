//! Known answers and properties of the two-bone solver.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

use anim_ik::{IkError, Outcome, TwoBone, TwoBoneGoal};
use anim_math::random::Random;
use anim_math::{Affine, Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};

/// A posed limb whose last three joints are the chain.
struct Limb {
    skeleton: Skeleton,
    solver: TwoBone,
    pose: Pose,
    globals: Globals,
}

impl Limb {
    fn new(locals: &[Transform]) -> Self {
        let joints = locals.iter().enumerate().map(|(n, rest)| JointSpec {
            name: None,
            parent: n.checked_sub(1),
            rest: *rest,
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let solver = TwoBone::new(&skeleton, skeleton.joint(locals.len() - 1)).unwrap();
        let pose = skeleton.rest().clone();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        Self {
            skeleton,
            solver,
            pose,
            globals,
        }
    }

    /// Bones of lengths `l1`, `l2` along x from the origin, the second turned by `bend` about z.
    fn planar(l1: f32, l2: f32, bend: f32) -> Self {
        let turned = Transform {
            translation: Vec3::x() * l1,
            rotation: quat::from_axis_angle(Vec3::z(), bend),
            ..Transform::IDENTITY
        };
        Self::new(&[
            Transform::IDENTITY,
            turned,
            Transform::from_translation(Vec3::x() * l2),
        ])
    }

    fn solve(&mut self, goal: &TwoBoneGoal) -> Outcome {
        self.solver
            .solve(&self.skeleton, goal, &mut self.pose, &mut self.globals)
    }

    fn reach(&mut self, target: Vec3) -> Outcome {
        self.solve(&TwoBoneGoal::new(target))
    }

    fn positions(&self) -> [Vec3; 3] {
        [self.solver.root, self.solver.mid, self.solver.end]
            .map(|j| self.globals.get(j).translation)
    }

    fn lengths(&self) -> [f32; 2] {
        let [a, b, c] = self.positions();
        [(b - a).norm(), (c - b).norm()]
    }

    fn knee_interior(&self) -> f32 {
        let [a, b, c] = self.positions();
        angle(a - b, c - b)
    }

    fn rotations(&self) -> [Quat; 2] {
        [self.solver.root, self.solver.mid].map(|j| self.pose.rotation(j))
    }

    fn check_globals_agree(&self) {
        let mut fresh = Globals::new(&self.skeleton);
        self.skeleton.globals(&self.pose, &mut fresh);
        assert_eq!(fresh, self.globals);
    }
}

fn angle(a: Vec3, b: Vec3) -> f32 {
    a.cross(&b).norm().atan2(a.dot(&b))
}

#[test]
fn distances_from_folded_to_straight_give_the_known_angles() {
    // Target distance, knee interior, hip to target (degrees), distance left; bones of 3 and 2.
    let cases = [
        (5.0, 180.0, 0.0, 0.0),
        (5.001, 180.0, 0.0, 0.001),
        (6.0, 180.0, 0.0, 1.0),
        (4.0, 104.477_51, 28.955_024, 0.0),
        (1.0, 0.0, 0.0, 0.0),
        (1.0001, 0.330_806, 0.661_557, 0.0),
        (0.5, 0.0, 0.0, 0.5),
        (0.0, 0.0, 0.0, 1.0),
        (3.605_551, 90.0, 33.690_068, 0.0),
    ];
    let directions = [
        Vec3::x(),
        -Vec3::x(),
        Vec3::y(),
        -Vec3::z(),
        Vec3::new(2.0, -1.0, 2.0) / 3.0,
    ];
    for (distance, knee, hip, left) in cases {
        for start in [0.0, 1.0, -2.0, std::f32::consts::PI] {
            for pole in [None, Some(Vec3::new(0.0, 7.0, 1.0)), Some(Vec3::x())] {
                for direction in directions {
                    let mut limb = Limb::planar(3.0, 2.0, start);
                    let target = direction * distance;
                    let outcome = limb.solve(&TwoBoneGoal {
                        pole,
                        ..TwoBoneGoal::new(target)
                    });
                    let case = format!(
                        "{distance} from {start} to {direction:?} pole {pole:?}: {outcome:?}"
                    );
                    // Ends are within 1e-5 of the limb's length; where the limb is nearly straight or folded, an
                    // error of eps in its length is one of its root in the angle: 0.06 degrees.
                    assert!((outcome.residual - left).abs() < 1e-5 * 5.0, "{case}");
                    assert_eq!(outcome.reached, left == 0.0, "{case}");
                    assert!(
                        (limb.knee_interior().to_degrees() - knee).abs() < 0.06,
                        "{case}"
                    );
                    let [a, b, c] = limb.positions();
                    let hip_to_target = if distance > 0.0 {
                        angle(b - a, target)
                    } else {
                        angle(b - a, c - a)
                    };
                    assert!((hip_to_target.to_degrees() - hip).abs() < 0.06, "{case}");
                    let [l1, l2] = limb.lengths();
                    assert!((l1 - 3.0).abs() < 3e-6 && (l2 - 2.0).abs() < 3e-6, "{case}");
                    limb.check_globals_agree();
                }
            }
        }
    }
}

#[test]
fn three_four_five_bends_by_a_right_angle_on_the_side_of_the_pose() {
    for side in [1.0, -1.0] {
        let mut limb = Limb::planar(3.0, 4.0, 0.5 * side);
        assert!(limb.reach(Vec3::new(5.0, 0.0, 0.0)).reached);
        let [_, elbow, _] = limb.positions();
        assert!(
            (elbow - Vec3::new(1.8, -2.4 * side, 0.0)).norm() < 5e-6,
            "{elbow}"
        );
        let [root, mid] = limb.rotations().map(quat::log);
        assert!((root.z - -0.927_295_2 * side).abs() < 2e-6);
        assert!((mid.z - std::f32::consts::FRAC_PI_2 * side).abs() < 2e-6);
    }
}

#[test]
fn equal_bones_close_on_their_own_root() {
    let mut limb = Limb::planar(1.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::zeros());
    assert!(outcome.reached && limb.pose.is_finite(), "{outcome:?}");
}

#[test]
fn out_of_reach_is_straight_and_too_near_is_folded() {
    let mut limb = Limb::planar(1.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::new(3.0, 0.0, 0.0));
    assert!(!outcome.reached && (outcome.residual - 1.0).abs() < 1e-6);
    assert!((limb.positions()[2] - Vec3::new(2.0, 0.0, 0.0)).norm() < 1e-6);
    let mut limb = Limb::planar(3.0, 1.0, 0.3);
    let outcome = limb.reach(Vec3::new(1.0, 0.0, 0.0));
    assert!(!outcome.reached && (outcome.residual - 1.0).abs() < 2e-6);
    assert!((limb.positions()[2] - Vec3::new(2.0, 0.0, 0.0)).norm() < 2e-6);
}

#[test]
fn the_middle_goes_toward_the_pole() {
    let mut random = Random::new(3, 0, 0);
    for _ in 0..1000 {
        let mut limb = Limb::planar(1.0, 0.8, random.range(-2.0, 2.0));
        let target = random.on_sphere() * random.range(0.4, 1.6);
        let pole = random.on_sphere() * 3.0;
        let outcome = limb.solve(&TwoBoneGoal {
            pole: Some(pole),
            ..TwoBoneGoal::new(target)
        });
        assert!(outcome.reached);
        let line = target.normalize();
        let beside = |v: Vec3| v - line * line.dot(&v);
        let off = beside(limb.positions()[1]);
        assert!(angle(off, beside(pole)) < 1e-4, "{off} {pole}");
    }
}

#[test]
fn a_straight_limb_bends_where_its_rest_pose_bends() {
    let mut limb = Limb::planar(1.0, 1.0, 0.4);
    limb.pose.set_rotation(limb.solver.mid, Quat::identity());
    limb.skeleton.globals(&limb.pose, &mut limb.globals);
    limb.reach(Vec3::new(1.2, 0.0, 0.0));
    // Rest bends the lower bone toward +y, so the middle goes toward −y.
    let [_, mid, _] = limb.positions();
    assert!((mid - Vec3::new(0.6, -0.8, 0.0)).norm() < 3e-6, "{mid}");
}

#[test]
fn a_limb_that_rests_straight_bends_its_middle_toward_z() {
    let leg = |x: f32, y: f32, z: f32| {
        let bone = Transform::from_translation(Vec3::new(x, y, z));
        Limb::new(&[Transform::IDENTITY, bone, bone])
    };
    let mut hanging = leg(0.0, -1.0, 0.0);
    hanging.reach(Vec3::new(0.0, -1.0, 0.0));
    assert!(hanging.positions()[1].z > 0.8);
    let mut forward = leg(0.0, 0.0, 1.0);
    forward.reach(Vec3::new(0.0, 0.0, 1.0));
    assert!(forward.positions()[1].y > 0.8);
}

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
fn a_target_already_reached_moves_nothing() {
    let mut random = Random::new(4, 0, 0);
    for _ in 0..500 {
        let mut limb = Limb::planar(1.0, 0.7, random.range(0.1, 3.0));
        let twist = quat::from_axis_angle(Vec3::x(), random.range(-3.0, 3.0));
        limb.pose
            .set_rotation(limb.solver.root, quat::exp(random.on_sphere()) * twist);
        limb.skeleton.globals(&limb.pose, &mut limb.globals);
        let before = limb.rotations();
        limb.reach(limb.positions()[2]);
        for (before, after) in before.into_iter().zip(limb.rotations()) {
            // Close to folded, rounding of 1e-7 in the distance is 1e-3 of an angle at most.
            assert!(quat::angle_between(before, after) < 1e-3);
        }
    }
}

#[test]
fn bones_do_not_twist_when_the_target_stays_in_plane() {
    let mut limb = Limb::planar(1.0, 0.8, 0.7);
    let tilt = quat::exp(Vec3::new(0.4, -0.3, 0.8));
    limb.pose.set_rotation(limb.solver.root, tilt);
    limb.skeleton.globals(&limb.pose, &mut limb.globals);
    let [root, mid] = limb.rotations();
    limb.reach(tilt * Vec3::new(0.3, -0.9, 0.0));
    let [root_after, mid_after] = limb.rotations();
    for delta in [root.inverse() * root_after, mid.inverse() * mid_after] {
        let turn = quat::log(delta);
        assert!(turn.xy().norm() < 1e-5, "about the hinge only: {turn}");
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

#[test]
fn weight_zero_and_wild_goals_leave_every_bit() {
    let wild = [
        TwoBoneGoal {
            weight: 0.0,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal {
            weight: f32::NAN,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal {
            softness: f32::NAN,
            ..TwoBoneGoal::new(Vec3::y())
        },
        TwoBoneGoal::new(Vec3::new(f32::NAN, 0.0, 0.0)),
        TwoBoneGoal::new(Vec3::new(0.0, f32::INFINITY, 0.0)),
    ];
    for goal in wild {
        let mut limb = Limb::planar(1.0, 0.8, 0.7);
        let before = (limb.pose.clone(), limb.globals.clone());
        let outcome = limb.solve(&goal);
        assert!(!outcome.reached && outcome.iterations == 0);
        assert_eq!((limb.pose, limb.globals), before);
    }
}

#[test]
fn a_rotation_goal_turns_the_end_in_model_space() {
    let wanted = quat::exp(Vec3::new(1.0, -2.0, 0.5));
    for scale in [Vec3::repeat(1.0), Vec3::new(-2.0, 2.0, 2.0)] {
        let body = Transform {
            rotation: quat::exp(Vec3::new(0.2, 0.9, -0.4)),
            scale,
            ..Transform::IDENTITY
        };
        let bone = |bend| Transform {
            translation: Vec3::x(),
            rotation: quat::exp(Vec3::new(0.1, 0.0, bend)),
            ..Transform::IDENTITY
        };
        let mut limb = Limb::new(&[body, bone(0.2), bone(0.5), bone(0.1)]);
        let target = limb.positions()[0] + Vec3::new(0.7, 0.5, -0.6);
        let outcome = limb.solve(&TwoBoneGoal {
            rotation: Some(wanted),
            ..TwoBoneGoal::new(target)
        });
        assert!(outcome.reached, "{outcome:?}");
        let end = limb.globals.get(limb.solver.end).to_transform();
        assert!(quat::angle_between(end.rotation, wanted) < 3e-6);
        limb.check_globals_agree();
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

#[test]
fn bones_without_length_point_as_well_as_they_can() {
    for (l1, l2) in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
        let mut limb = Limb::planar(l1, l2, 0.4);
        let outcome = limb.solve(&TwoBoneGoal {
            pole: Some(Vec3::z()),
            ..TwoBoneGoal::new(Vec3::y() * 2.0)
        });
        assert!(limb.pose.is_finite());
        assert!((outcome.residual - (2.0 - l1 - l2)).abs() < 1e-6);
    }
}

#[test]
fn siblings_stay_and_everything_below_follows() {
    let bone = |parent, y: f32| JointSpec {
        name: None,
        parent,
        rest: Transform::from_translation(Vec3::new(0.0, y, 0.1)),
    };
    let joints = vec![
        bone(None, 1.0),
        bone(Some(0), -0.5),
        bone(Some(1), -0.5),
        bone(Some(2), -0.1),
        bone(None, 3.0),
    ];
    let skeleton = Skeleton::new(joints).unwrap();
    let leg = TwoBone::new(&skeleton, skeleton.joint(2)).unwrap();
    let mut pose = skeleton.rest().clone();
    let mut globals = Globals::new(&skeleton);
    skeleton.globals(&pose, &mut globals);
    let other = globals.get(skeleton.joint(4));
    assert!(
        leg.solve(
            &skeleton,
            &TwoBoneGoal::new(Vec3::new(0.3, 0.4, 0.2)),
            &mut pose,
            &mut globals
        )
        .reached
    );
    assert_eq!(globals.get(skeleton.joint(4)), other);
    let expected = globals.get(skeleton.joint(2)) * Affine::from(pose.get(skeleton.joint(3)));
    assert_eq!(globals.get(skeleton.joint(3)), expected);
}

#[test]
fn joints_that_make_no_limb_are_refused() {
    let limb = Limb::planar(1.0, 1.0, 0.1);
    let [a, b, c] = [0, 1, 2].map(|n| limb.skeleton.joint(n));
    assert_eq!(
        TwoBone::new(&limb.skeleton, b),
        Err(IkError::NoParents { joint: 1 })
    );
    assert_eq!(
        TwoBone::of(&limb.skeleton, b, a, c),
        Err(IkError::NotBelow {
            joint: 0,
            ancestor: 1
        })
    );
    assert_eq!(
        TwoBone::of(&limb.skeleton, a, b, b),
        Err(IkError::NotBelow {
            joint: 1,
            ancestor: 1
        })
    );
    let short = Skeleton::new(vec![JointSpec {
        name: None,
        parent: None,
        rest: Transform::IDENTITY,
    }])
    .unwrap();
    assert_eq!(TwoBone::new(&short, c), Err(IkError::NoJoint { joint: 2 }));
}
