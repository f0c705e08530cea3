//! Known answers: singular chains, targets out of reach, methods that agree, goals that compete.

use anim_ik::{
    Configuration, DampedLeastSquares, GaussNewton, Goal, GoalKind, Gradient, IkBatch, IkProblem,
    IkReport, IkSolver, IkStatus, Jacobian, JointValue, LevenbergMarquardt, Mechanism,
    MechanismJoint, PointMass, Posture, SearchOptions,
};
use anim_math::Vec3;
use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};
use anim_math::random::Random;

use crate::arm::{ball, drawn, fixed, frames, hinge, limit, link, planar, seven};

fn search(restarts: u32) -> LevenbergMarquardt {
    LevenbergMarquardt::new(SearchOptions {
        restarts,
        ..SearchOptions::default()
    })
}

fn solved(solver: &mut dyn IkSolver, problem: &IkProblem<'_>, at: &mut Configuration) -> IkReport {
    let mut report = IkReport::default();
    let status = solver.solve(problem, at, &mut report);
    assert_eq!(status, report.status);
    report
}

#[test]
fn reachable_poses_of_a_seven_joint_arm_are_reached() {
    let arm = seven();
    let mut solver = search(50);
    let mut missed = 0;
    for seed in 0..500 {
        let target = *frames(&arm, &drawn(&arm, seed)).get(7);
        let goals = [Goal::pose(7, target)];
        let mut at = drawn(&arm, 10_000 + seed);
        let report = solved(&mut solver, &IkProblem::new(&arm, &goals), &mut at);
        missed += u32::from(report.status != IkStatus::Reached);
        if report.status == IkStatus::Reached {
            let there = frames(&arm, &at);
            let off = there.get(7).translation.vector - target.translation.vector;
            assert!(off.norm() <= 1e-5);
            assert!(there.get(7).rotation.angle_to(&target.rotation) <= 1.0001e-5);
        }
    }
    assert_eq!(missed, 0);
}

#[test]
fn a_straight_chain_bends_for_a_target_on_its_line() {
    let chain = planar(&[1.0; 4], [-3.1, 3.1]);
    for distance in [0.5, 1.7, 3.9] {
        let goals = [Goal::position(4, Vector3::new(distance, 0.0, 0.0))];
        let problem = IkProblem::new(&chain, &goals);
        let mut jacobian = Jacobian::default();
        jacobian.compute(&problem, &chain.rest());
        for dof in 0..4 {
            let slopes = jacobian.column(dof).iter().zip(jacobian.errors());
            assert_eq!(slopes.map(|(j, e)| j * e).sum::<f64>(), 0.0);
        }
        let mut at = chain.rest();
        let report = solved(&mut search(0), &problem, &mut at);
        assert_eq!(report.status, IkStatus::Reached, "{distance}: {report:?}");
    }
}

#[test]
fn out_of_reach_stops_at_the_nearest_point() {
    let chain = planar(&[1.0, 0.7, 0.5], [-3.1, 3.1]);
    for seed in 0..50 {
        let mut random = Random::new(31, seed, 0);
        let angle = f64::from(random.range(-2.0, 2.0));
        let distance = 2.2 + f64::from(random.range(0.1, 3.0));
        let target = Vector3::new(distance * angle.cos(), distance * angle.sin(), 0.0);
        let goals = [Goal::position(3, target)];
        let mut at = drawn(&chain, seed);
        let report = solved(&mut search(3), &IkProblem::new(&chain, &goals), &mut at);
        assert_eq!(report.status, IkStatus::Infeasible, "{report:?}");
        assert!(report.gradient <= 1e-8, "{report:?}");
        let residual = report.residuals[0].position;
        assert!(
            (residual - (distance - 2.2)).abs() < 1e-9,
            "{residual} {distance}"
        );
    }
}

#[test]
fn too_near_stops_folded() {
    let chain = planar(&[3.0, 1.0], [-3.2, 3.2]);
    let goals = [Goal::position(2, Vector3::new(1.0, 0.0, 0.0))];
    let mut at = drawn(&chain, 1);
    let report = solved(&mut search(3), &IkProblem::new(&chain, &goals), &mut at);
    assert!(
        (report.residuals[0].position - 1.0).abs() < 1e-9,
        "{report:?}"
    );
}

#[test]
fn a_limit_on_the_way_hands_its_share_to_the_other_joints() {
    // The elbow may only bend by 0.5 rad, so that the nearest point to a near target is on that circle.
    let chain = Mechanism::new(vec![
        MechanismJoint::new(None, link(0.0, 0.0, 0.0), hinge(Vec3::z(), [-3.0, 3.0])),
        MechanismJoint::new(Some(0), link(1.0, 0.0, 0.0), hinge(Vec3::z(), [-0.5, 0.5])),
        MechanismJoint::new(Some(1), link(1.0, 0.0, 0.0), fixed()),
    ])
    .unwrap();
    let goals = [Goal::position(2, Vector3::new(0.0, 1.0, 0.0))];
    let mut at = chain.rest();
    let report = solved(&mut search(2), &IkProblem::new(&chain, &goals), &mut at);
    assert_eq!(
        (report.status, &report.limits_hit[..]),
        (IkStatus::Infeasible, &[1][..])
    );
    let reach = (2.0 + 2.0 * libm::cos(f64::from(0.5_f32))).sqrt();
    assert!((report.residuals[0].position - (reach - 1.0)).abs() < 1e-9);
}

#[test]
fn damped_least_squares_lies_between_gauss_newton_and_the_gradient() {
    let arm = seven();
    for seed in 0..20 {
        let start = drawn(&arm, seed);
        let mut near = start.clone();
        start.integrate(
            &arm,
            &[0.01, -0.01, 0.02, 0.01, -0.02, 0.01, 0.01],
            &mut near,
        );
        let goals = [Goal::pose(7, *frames(&arm, &near).get(7))];
        let problem = IkProblem::new(&arm, &goals);
        let step = |solver: &mut dyn IkSolver| {
            let mut at = start.clone();
            solved(solver, &problem, &mut at);
            let mut step = vec![0.0; arm.dof()];
            start.difference(&arm, &at, &mut step);
            step
        };
        let newton = step(&mut GaussNewton::new(1));
        let weak = step(&mut DampedLeastSquares::new(1, 1e-6));
        let size = newton.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
        for (a, b) in newton.iter().zip(&weak) {
            assert!((a - b).abs() < 1e-9 * (1.0 + size), "{seed}: {a} {b}");
        }
        let strong = step(&mut DampedLeastSquares::new(1, 1e4));
        let mut jacobian = Jacobian::default();
        jacobian.compute(&problem, &start);
        for (dof, y) in strong.iter().enumerate() {
            let slopes = jacobian.column(dof).iter().zip(jacobian.errors());
            let slope = slopes.map(|(j, e)| j * e).sum::<f64>();
            assert!((y * 1e8 + slope).abs() < 1e-6, "{y} {slope}");
        }
    }
}

#[test]
fn the_plain_methods_reach_what_is_near() {
    let arm = seven();
    let solvers: [&mut dyn IkSolver; 3] = [
        &mut Gradient::new(5000),
        &mut GaussNewton::new(50),
        &mut DampedLeastSquares::new(200, 0.05),
    ];
    for solver in solvers {
        let mut start = arm.rest();
        let bent = [0.3, 0.7, -0.2, 0.9, 0.1, -0.6, 0.2];
        arm.rest().integrate(&arm, &bent, &mut start);
        let mut near = start.clone();
        start.integrate(&arm, &[0.1; 7], &mut near);
        let target = frames(&arm, &near).get(7).translation.vector;
        let goals = [Goal::position(7, target)];
        let report = solved(solver, &IkProblem::new(&arm, &goals), &mut start);
        assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    }
}

#[test]
fn answers_are_the_same_bits_alone_in_a_batch_and_on_any_number_of_threads() {
    let arm = seven();
    let goals: Vec<_> = (0..100)
        .map(|seed| [Goal::pose(7, *frames(&arm, &drawn(&arm, seed)).get(7))])
        .collect();
    let problems: Vec<_> = goals
        .iter()
        .map(|goals| IkProblem::new(&arm, goals))
        .collect();
    let options = SearchOptions {
        restarts: 10,
        ..SearchOptions::default()
    };
    let batch = |threads| {
        let mut at = vec![arm.rest(); problems.len()];
        let mut reports = vec![IkReport::default(); problems.len()];
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| IkBatch::new(options).solve(&problems, &mut at, &mut reports));
        (at, reports)
    };
    let expected = batch(1);
    assert_eq!(batch(2), expected);
    assert_eq!(batch(3), expected);
    let mut solver = LevenbergMarquardt::new(options);
    for (n, problem) in problems.iter().enumerate() {
        let mut at = arm.rest();
        let report = solved(&mut solver, problem, &mut at);
        assert_eq!((&at, &report), (&expected.0[n], &expected.1[n]));
    }
}

#[test]
fn what_comes_first_wins_and_the_rest_gets_what_is_left() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let first = Vector3::new(1.0, 1.0, 0.0);
    let goals = [
        Goal {
            priority: 1,
            ..Goal::position(2, Vector3::new(-1.0, 1.0, 0.0))
        },
        Goal::position(2, first),
    ];
    let mut at = drawn(&chain, 3);
    let report = solved(&mut search(5), &IkProblem::new(&chain, &goals), &mut at);
    assert!(report.residuals[1].position < 3e-6, "{report:?}");
    assert!((report.residuals[0].position - 2.0).abs() < 1e-5);
}

#[test]
fn axes_without_weight_are_free() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let goal = Goal {
        position_weights: [0.0, 1.0, 0.0],
        ..Goal::position(2, Vector3::new(50.0, 1.2, -7.0))
    };
    let mut at = chain.rest();
    let report = solved(&mut search(0), &IkProblem::new(&chain, &[goal]), &mut at);
    assert_eq!(report.status, IkStatus::Reached);
    assert!((frames(&chain, &at).get(2).translation.y - 1.2).abs() <= 1e-5);
}

#[test]
fn locked_joints_keep_their_bits_and_stiff_ones_move_less() {
    let arm = seven();
    let start = drawn(&arm, 5);
    let target = frames(&arm, &drawn(&arm, 6)).get(7).translation.vector;
    let goals = [Goal::position(7, target)];
    let mut stiffness = [0.0; 8];
    (stiffness[1], stiffness[4]) = (1.0, 1.0);
    let problem = IkProblem {
        stiffness: &stiffness,
        ..IkProblem::new(&arm, &goals)
    };
    let mut at = start.clone();
    solved(&mut search(20), &problem, &mut at);
    for joint in [1, 4] {
        assert_eq!(at.values()[joint], start.values()[joint]);
    }
    // One step of a two-link chain: the stiffer shoulder leaves more to the elbow.
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let goals = [Goal::position(2, Vector3::new(1.9, 0.3, 0.0))];
    let moved = |stiff: f64| {
        let stiffness = [stiff, 0.0, 0.0];
        let problem = IkProblem {
            stiffness: &stiffness,
            ..IkProblem::new(&chain, &goals)
        };
        let mut at = chain.rest();
        solved(&mut DampedLeastSquares::new(1, 0.5), &problem, &mut at);
        let JointValue::Angle(angle) = at.values()[0] else {
            panic!()
        };
        angle.abs()
    };
    assert!(moved(0.9) < 0.2 * moved(0.0));
}

#[test]
fn a_posture_settles_what_goals_leave_open() {
    let chain = planar(&[1.0; 5], [-3.1, 3.1]);
    let preferred = drawn(&chain, 8);
    let target = frames(&chain, &preferred).get(5).translation.vector;
    let goals = [Goal::position(5, target)];
    let posture = Some(Posture {
        target: &preferred,
        weight: 1e-2,
    });
    let problem = IkProblem {
        posture,
        ..IkProblem::new(&chain, &goals)
    };
    let mut at = preferred.clone();
    preferred.integrate(&chain, &[0.3, -0.2, 0.4, 0.1, -0.3], &mut at);
    let report = solved(&mut search(0), &problem, &mut at);
    assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    let mut off = [0.0; 5];
    preferred.difference(&chain, &at, &mut off);
    assert!(off.iter().all(|y| y.abs() < 1e-3), "{off:?}");
}

/// Two arms of balls and hinges on a free body.
fn body() -> Mechanism {
    let elbow = hinge(Vec3::z(), [0.0, 2.6]);
    let any = anim_skeleton::JointLimit::FREE;
    Mechanism::new(vec![
        MechanismJoint::new(None, link(0.0, 1.0, 0.0), any),
        MechanismJoint::new(Some(0), link(0.2, 0.4, 0.0), ball(1.9, 1.2)),
        MechanismJoint::new(Some(1), link(0.3, 0.0, 0.0), elbow),
        MechanismJoint::new(Some(2), link(0.3, 0.0, 0.0), ball(0.9, 0.8)),
        MechanismJoint::new(Some(0), link(-0.2, 0.4, 0.0), ball(1.9, 1.2)),
        MechanismJoint::new(Some(4), link(-0.3, 0.0, 0.0), elbow),
        MechanismJoint::new(Some(5), link(-0.3, 0.0, 0.0), ball(0.9, 0.8)),
    ])
    .unwrap()
}

#[test]
fn goals_of_all_kinds_are_met_together() {
    let body = body();
    let rest = body.rest();
    let hold = Isometry3::translation(-0.3, 0.0, 0.0);
    let kinds = [
        GoalKind::Position {
            joint: 3,
            point: Vector3::zeros(),
            target: Vector3::new(0.4, 1.3, 0.3),
        },
        GoalKind::Relative {
            joint: 6,
            tool: Isometry3::identity(),
            reference: 3,
            target: hold,
        },
        GoalKind::Aim {
            joint: 0,
            point: Vector3::zeros(),
            axis: Vector3::z(),
            target: Vector3::new(0.5, 1.2, 5.0),
        },
        GoalKind::Plane {
            joint: 2,
            point: Vector3::zeros(),
            normal: Vector3::y(),
            offset: 1.1,
            one_sided: true,
        },
        GoalKind::Distance {
            joint: 0,
            point: Vector3::zeros(),
            from: Vector3::new(0.0, 1.0, 0.0),
            range: [0.0, 0.2],
        },
    ];
    let goals: Vec<_> = kinds
        .map(|kind| match kind {
            // Only where it is held, not how it is turned.
            GoalKind::Relative { .. } => Goal {
                rotation_weights: [0.0; 3],
                ..Goal::new(kind)
            },
            _ => Goal::new(kind),
        })
        .into();
    let problem = IkProblem {
        posture: Some(Posture {
            target: &rest,
            weight: 1e-4,
        }),
        ..IkProblem::new(&body, &goals)
    };
    let mut at = body.rest();
    let report = solved(&mut search(20), &problem, &mut at);
    assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    assert!(body.is_within(&at));
    let there = frames(&body, &at);
    let held = there.get(3).inverse() * there.get(6);
    assert!((held.translation.vector - hold.translation.vector).norm() < 1e-5);
    let sight = there.get(0).rotation * Vector3::z();
    let way = Vector3::new(0.5, 1.2, 5.0) - there.get(0).translation.vector;
    assert!(sight.angle(&way) < 2e-5);
    assert!(there.get(2).translation.y > 1.1 - 1e-5);
}

#[test]
fn a_pole_turns_the_knee_and_balance_moves_the_hips() {
    let axis = Vec3::x();
    let leg = Mechanism::new(vec![
        MechanismJoint::new(None, link(0.0, 1.0, 0.0), ball(3.0, 3.0)),
        MechanismJoint::new(Some(0), link(0.5, 0.0, 0.0), hinge(Vec3::z(), [0.0, 2.5])),
        MechanismJoint::new(Some(1), link(0.5, 0.0, 0.0), fixed()),
    ])
    .unwrap();
    let toward = Vector3::new(0.7, 0.6, 1.0);
    let limb = [0, 1, 2];
    let goals = [
        Goal::position(2, Vector3::new(0.1, 0.2, 0.1)),
        Goal::new(GoalKind::Pole { limb, toward }),
    ];
    let mut at = leg.rest();
    let report = solved(&mut search(20), &IkProblem::new(&leg, &goals), &mut at);
    assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    let there = frames(&leg, &at);
    let [root, knee, tip] = limb.map(|joint| there.get(joint).translation.vector);
    let along = (tip - root).normalize();
    let aside = |p: Vector3<f64>| p - root - along * along.dot(&(p - root));
    assert!(aside(knee).angle(&aside(toward)) < 2e-5);

    let slide = limit(anim_skeleton::JointLimitSpec::Prismatic {
        axis,
        range: [-1.0, 1.0],
    });
    let hips = Mechanism::new(vec![
        MechanismJoint::new(None, link(0.0, 1.0, 0.0), slide),
        MechanismJoint::new(Some(0), link(0.5, 0.0, 0.0), fixed()),
    ])
    .unwrap();
    let masses = [10.0, 30.0].map(|mass| PointMass {
        mass,
        centre: Vector3::zeros(),
    });
    let balance = Goal {
        position_weights: [1.0, 0.0, 1.0],
        ..Goal::new(GoalKind::CentreOfMass {
            target: Vector3::zeros(),
        })
    };
    let problem = IkProblem {
        masses: &masses,
        ..IkProblem::new(&hips, std::slice::from_ref(&balance))
    };
    let mut at = hips.rest();
    solved(&mut search(0), &problem, &mut at);
    let JointValue::Distance(moved) = at.values()[0] else {
        panic!()
    };
    assert!((moved + 0.375).abs() < 1e-5);
}

#[test]
fn half_a_turn_away_is_reached() {
    let free = anim_skeleton::JointLimit::FREE;
    let top = Mechanism::new(vec![MechanismJoint::new(None, link(0.0, 0.0, 0.0), free)]).unwrap();
    for axis in [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()] {
        let target = UnitQuaternion::from_axis_angle(&axis, std::f64::consts::PI);
        let goals = [Goal::orientation(0, target)];
        let mut at = top.rest();
        let report = solved(&mut search(0), &IkProblem::new(&top, &goals), &mut at);
        assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    }
}
