//! Known answers and properties of the look-at solver.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are test code, which the lint does not see"
)]

use std::f32::consts::{FRAC_PI_2, PI};

use anim_ik::{IkError, LookAt, LookAtGoal};
use anim_math::random::Random;
use anim_math::{Quat, Transform, Vec3, quat};
use anim_skeleton::{Globals, JointSpec, Pose, Skeleton};

/// A neck and a head that looks along its own z.
struct Head {
    skeleton: Skeleton,
    pose: Pose,
    globals: Globals,
}

impl Head {
    fn new(neck: Transform, head: Quat) -> Self {
        let head = Transform {
            translation: Vec3::y() * 0.2,
            rotation: head,
            ..Transform::IDENTITY
        };
        let joint = |parent, rest| JointSpec {
            name: None,
            parent,
            rest,
        };
        let skeleton = Skeleton::new(vec![joint(None, neck), joint(Some(0), head)]).unwrap();
        let pose = skeleton.rest().clone();
        let mut globals = Globals::new(&skeleton);
        skeleton.globals(&pose, &mut globals);
        Self {
            skeleton,
            pose,
            globals,
        }
    }

    fn plain() -> Self {
        Self::new(Transform::IDENTITY, Quat::identity())
    }

    fn gaze(&self, up: Vec3, limit: f32) -> LookAt {
        LookAt::new(self.skeleton.joint(1), Vec3::z(), up, limit).unwrap()
    }

    fn solve(&mut self, gaze: &LookAt, target: Vec3, weight: f32) -> anim_ik::Outcome {
        gaze.solve(
            &self.skeleton,
            target,
            weight,
            &mut self.pose,
            &mut self.globals,
        )
    }

    fn aim(&mut self, gaze: &LookAt, goal: &LookAtGoal) -> anim_ik::Outcome {
        gaze.aim(&self.skeleton, goal, &mut self.pose, &mut self.globals)
    }

    fn position(&self) -> Vec3 {
        self.globals.get(self.skeleton.joint(1)).translation
    }

    fn axis(&self, local: Vec3) -> Vec3 {
        self.globals
            .get(self.skeleton.joint(1))
            .transform_vector(local)
            .normalize()
    }
}

fn angle(a: Vec3, b: Vec3) -> f32 {
    a.cross(&b).norm().atan2(a.dot(&b))
}

#[test]
fn looking_aside_turns_about_the_vertical() {
    let mut head = Head::plain();
    let gaze = head.gaze(Vec3::y(), PI);
    let outcome = head.solve(&gaze, head.position() + Vec3::x() * 3.0, 1.0);
    assert!(outcome.reached && outcome.iterations == 1);
    let turn = quat::log(head.pose.rotation(head.skeleton.joint(1)));
    assert!((turn - Vec3::y() * FRAC_PI_2).norm() < 1e-6, "{turn}");
}

#[test]
fn every_target_is_looked_at_upright_whatever_the_parents() {
    let mut random = Random::new(1, 0, 0);
    let scales = [
        Vec3::repeat(1.0),
        Vec3::repeat(0.01),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::repeat(-2.0),
    ];
    for scale in scales.into_iter().cycle().take(4000) {
        let neck = Transform {
            rotation: quat::exp(random.on_sphere()),
            scale,
            ..Transform::IDENTITY
        };
        let mut head = Head::new(neck, quat::exp(random.on_sphere() * 2.0));
        let gaze = head.gaze(Vec3::y(), PI);
        let direction = random.on_sphere();
        let outcome = head.solve(&gaze, head.position() + direction * 2.0, 1.0);
        assert!(outcome.reached, "{outcome:?}");
        assert!(angle(head.axis(Vec3::z()), direction) < 2e-6);
        if direction.y.abs() < 0.97 {
            let beside = direction.cross(&Vec3::y()).normalize();
            assert!(
                head.axis(Vec3::y()).dot(&beside).abs() < 1e-5,
                "up leans aside"
            );
            assert!(head.axis(Vec3::y()).y > 0.0, "up is up");
        }
        let mut fresh = Globals::new(&head.skeleton);
        head.skeleton.globals(&head.pose, &mut fresh);
        assert_eq!(fresh, head.globals);
    }
}

#[test]
fn without_an_up_axis_the_turn_is_the_shortest() {
    let mut head = Head::new(Transform::IDENTITY, quat::exp(Vec3::new(0.3, -0.2, 0.5)));
    let gaze = head.gaze(Vec3::zeros(), PI);
    let (before, view) = (
        head.pose.rotation(head.skeleton.joint(1)),
        head.axis(Vec3::z()),
    );
    let direction = Vec3::new(1.0, 0.4, -0.3);
    head.solve(&gaze, head.position() + direction, 1.0);
    let after = head.pose.rotation(head.skeleton.joint(1));
    assert!((quat::angle_between(before, after) - angle(view, direction)).abs() < 1e-6);
}

#[test]
fn the_limit_stops_the_view_and_the_rest_is_reported() {
    for degrees in [0.0, 10.0, 60.0, 89.0] {
        let limit = f32::to_radians(degrees);
        let mut head = Head::plain();
        let gaze = head.gaze(Vec3::y(), limit);
        let outcome = head.solve(&gaze, head.position() + Vec3::x(), 1.0);
        assert!(!outcome.reached);
        assert!(
            (outcome.residual - (FRAC_PI_2 - limit)).abs() < 2e-6,
            "{outcome:?}"
        );
        assert!((angle(Vec3::z(), head.axis(Vec3::z())) - limit).abs() < 1e-6);
    }
}

#[test]
fn looking_straight_behind_keeps_the_head_upright() {
    let mut head = Head::plain();
    let gaze = head.gaze(Vec3::y(), PI);
    assert!(head.solve(&gaze, head.position() - Vec3::z(), 1.0).reached);
    assert!((head.axis(Vec3::y()) - Vec3::y()).norm() < 1e-6);
}

#[test]
fn looking_up_has_no_upright_and_does_not_jump() {
    // A target circling the zenith at 0.01 rad moves by less than 0.01 rad a step; so may the head, once roll has faded.
    let mut before: Option<Quat> = None;
    for n in 0..=24 {
        let (sine, cosine) = (n as f32 * PI / 12.0).sin_cos();
        let mut head = Head::plain();
        let gaze = head.gaze(Vec3::y(), PI);
        let direction = Vec3::new(0.01 * sine, 1.0, 0.01 * cosine);
        assert!(head.solve(&gaze, head.position() + direction, 1.0).reached);
        let now = head.pose.rotation(head.skeleton.joint(1));
        if let Some(before) = before {
            assert!(quat::angle_between(before, now) < 0.02);
        }
        before = Some(now);
    }
}

#[test]
fn half_weight_is_half_the_turn_by_the_short_way() {
    let mut random = Random::new(2, 0, 0);
    for _ in 0..2000 {
        let rotation = quat::exp(random.on_sphere() * random.range(0.0, 3.0));
        let target = random.on_sphere() * 3.0;
        let (mut full, mut half) = (
            Head::new(Transform::IDENTITY, rotation),
            Head::new(Transform::IDENTITY, rotation),
        );
        let gaze = full.gaze(Vec3::y(), PI);
        full.solve(&gaze, target, 1.0);
        half.solve(&gaze, target, 0.5);
        let [full, half] = [full, half].map(|head| head.pose.rotation(head.skeleton.joint(1)));
        let whole = quat::angle_between(rotation, full);
        assert!((quat::angle_between(rotation, half) - 0.5 * whole).abs() < 3e-6);
        assert!((quat::angle_between(half, full) - 0.5 * whole).abs() < 3e-6);
    }
}

#[test]
fn weight_zero_and_wild_targets_leave_every_bit() {
    let mut head = Head::new(Transform::IDENTITY, quat::exp(Vec3::new(0.3, -0.2, 0.5)));
    let gaze = head.gaze(Vec3::y(), PI);
    let before = (head.pose.clone(), head.globals.clone());
    let outcome = head.solve(&gaze, Vec3::x(), 0.0);
    assert!(!outcome.reached && outcome.iterations == 0);
    assert!(
        !head
            .solve(&gaze, Vec3::new(f32::NAN, 0.0, 0.0), 1.0)
            .reached
    );
    assert!(
        !head
            .solve(&gaze, Vec3::new(f32::INFINITY, 0.0, 0.0), 1.0)
            .reached
    );
    let here = head.position();
    assert!(
        head.solve(&gaze, here, 1.0).reached,
        "a target on the joint is seen from anywhere"
    );
    assert_eq!((head.pose, head.globals), before);
}

#[test]
fn axes_and_limits_that_mean_nothing_are_refused() {
    let head = Head::plain();
    let joint = head.skeleton.joint(1);
    let axes = Err(IkError::Axes { joint: 1 });
    assert_eq!(LookAt::new(joint, Vec3::zeros(), Vec3::y(), 1.0), axes);
    assert_eq!(LookAt::new(joint, Vec3::y(), Vec3::y() * -2.0, 1.0), axes);
    assert_eq!(
        LookAt::new(joint, Vec3::new(f32::NAN, 0.0, 1.0), Vec3::y(), 1.0),
        axes
    );
    let limit = LookAt::new(joint, Vec3::z(), Vec3::y(), -1.0);
    assert_eq!(
        limit,
        Err(IkError::Limit {
            joint: 1,
            limit: -1.0
        })
    );
    assert!(LookAt::new(joint, Vec3::z(), Vec3::y(), f32::NAN).is_err());
}

/// An offset of the eye, a pole and a twist at once.
fn elaborate(head: &Head, random: &mut Random) -> (LookAt, LookAtGoal) {
    let offset = random.on_sphere() * 0.1;
    let gaze = head.gaze(Vec3::y(), PI).with_offset(offset).unwrap();
    let goal = LookAtGoal {
        pole: random.on_sphere() * 2.0,
        twist: random.range(-3.0, 3.0),
        ..LookAtGoal::new(head.position() + random.on_sphere() * random.range(0.5, 3.0))
    };
    (gaze, goal)
}

#[test]
fn an_offset_eye_sees_the_target_whatever_the_twist() {
    let mut random = Random::new(4, 0, 0);
    for _ in 0..5000 {
        let rotation = quat::exp(random.on_sphere() * random.range(0.0, 3.0));
        let mut head = Head::new(Transform::IDENTITY, rotation);
        let (gaze, goal) = elaborate(&head, &mut random);
        let outcome = head.aim(&gaze, &goal);
        assert!(outcome.reached, "{outcome:?}");
        let eye = head.position() + head.axis(gaze.offset) * gaze.offset.norm();
        let to_target = goal.target - eye;
        assert!(angle(head.axis(Vec3::z()), to_target) < 3e-6);
        assert!(to_target.dot(&head.axis(Vec3::z())) > 0.0);
    }
}

#[test]
fn a_target_inside_the_eyes_orbit_gets_an_honest_residual() {
    let mut head = Head::plain();
    let gaze = head.gaze(Vec3::y(), PI).with_offset(Vec3::x()).unwrap();
    let outcome = head.aim(&gaze, &LookAtGoal::new(head.position() + Vec3::z() * 0.5));
    assert!(!outcome.reached && head.pose.is_finite());
    // The eye stands beyond the target, which lies at a right angle to its view.
    assert!((outcome.residual - FRAC_PI_2).abs() < 1e-6, "{outcome:?}");
}

#[test]
fn the_up_axis_leans_to_the_pole_and_the_twist_comes_on_top() {
    let mut random = Random::new(5, 0, 0);
    for _ in 0..2000 {
        let mut head = Head::new(Transform::IDENTITY, quat::exp(random.on_sphere() * 2.0));
        let direction = random.on_sphere();
        let goal = LookAtGoal {
            pole: random.on_sphere() * 3.0,
            twist: random.range(-3.0, 3.0),
            ..LookAtGoal::new(head.position() + direction)
        };
        if direction.cross(&goal.pole.normalize()).norm() < 0.21 {
            continue;
        }
        let gaze = head.gaze(Vec3::y(), PI);
        assert!(head.aim(&gaze, &goal).reached);
        let upright = goal.pole - direction * direction.dot(&goal.pole);
        let expected = quat::from_axis_angle(direction, goal.twist) * upright;
        assert!(angle(head.axis(Vec3::y()), expected) < 1e-5);
    }
}

#[test]
fn half_weight_with_a_twist_is_half_the_angle_for_every_target() {
    let mut random = Random::new(6, 0, 0);
    let mut wrong = 0;
    for _ in 0..20_000 {
        let rotation = quat::exp(random.on_sphere() * random.range(0.0, 3.1));
        let mut full = Head::new(Transform::IDENTITY, rotation);
        let (gaze, goal) = elaborate(&full, &mut random);
        let mut half = Head::new(Transform::IDENTITY, rotation);
        full.aim(&gaze, &goal);
        half.aim(
            &gaze,
            &LookAtGoal {
                weight: 0.5,
                ..goal
            },
        );
        let [full, half] = [full, half].map(|head| head.pose.rotation(head.skeleton.joint(1)));
        let whole = quat::angle_between(rotation, full);
        wrong += u32::from((quat::angle_between(rotation, half) - 0.5 * whole).abs() > 5e-6);
    }
    assert_eq!(wrong, 0);
}

#[test]
fn poles_twists_and_offsets_that_are_not_finite_change_nothing() {
    let mut head = Head::plain();
    let gaze = head.gaze(Vec3::y(), PI);
    let goal = LookAtGoal::new(Vec3::new(1.0, 2.0, 3.0));
    let before = (head.pose.clone(), head.globals.clone());
    for wild in [
        LookAtGoal {
            pole: Vec3::new(f32::NAN, 0.0, 0.0),
            ..goal
        },
        LookAtGoal {
            twist: f32::INFINITY,
            ..goal
        },
        LookAtGoal {
            weight: f32::NAN,
            ..goal
        },
    ] {
        assert_eq!(head.aim(&gaze, &wild).iterations, 0);
    }
    assert_eq!((head.pose, head.globals), before);
    let nowhere = gaze.with_offset(Vec3::new(0.0, f32::NAN, 0.0));
    assert_eq!(nowhere, Err(IkError::Offset { joint: 1 }));
}
