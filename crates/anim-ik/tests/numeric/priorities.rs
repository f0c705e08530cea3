//! What comes first is met whatever comes later, and what gives way ends in order.

use anim_ik::{
    Configuration, Goal, GoalKind, IkProblem, IkReport, IkSolver, IkStatus, LevenbergMarquardt,
    Mechanism, MechanismJoint, Posture, SearchOptions,
};
use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};

use crate::arm::{ball, drawn, fixed, frames, link, planar, seven, tree};

fn solved(problem: &IkProblem<'_>, at: &mut Configuration, max_iterations: u32) -> IkReport {
    let mut solver = LevenbergMarquardt::new(SearchOptions {
        max_iterations,
        restarts: 3,
        ..SearchOptions::default()
    });
    let mut report = IkReport::default();
    solver.solve(problem, at, &mut report);
    report
}

/// The elbow of two bones can only be where the first goal puts it; the hand is then on a circle about it.
#[test]
fn the_first_of_two_goals_in_conflict_is_met_whatever_the_second_weighs() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let elbow = Vector3::new(1.0, 1.0, 0.0).normalize();
    let hand = Vector3::new(-2.0, 0.5, 0.0);
    let best = (hand - elbow).norm() - 1.0;
    for weight in [1e-3, 1.0, 1e3, 1e6] {
        let goals = [
            Goal {
                priority: 1,
                weight,
                ..Goal::position(2, hand)
            },
            Goal::position(1, elbow),
        ];
        let mut at = drawn(&chain, 3);
        let report = solved(&IkProblem::new(&chain, &goals), &mut at, 200);
        assert!(report.residuals[1].position < 1e-8, "{weight}: {report:?}");
        let off = report.residuals[0].position - best;
        assert!(off.abs() < 1e-6, "{weight}: {off} {report:?}");
    }
}

#[test]
fn a_first_goal_out_of_reach_stays_as_near_as_it_can_be() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let goals = [
        Goal::position(2, Vector3::new(3.0, 0.0, 0.0)),
        Goal {
            priority: 1,
            ..Goal::position(1, Vector3::new(0.0, 1.0, 0.0))
        },
    ];
    let mut at = drawn(&chain, 4);
    let report = solved(&IkProblem::new(&chain, &goals), &mut at, 200);
    assert!(
        (report.residuals[0].position - 1.0).abs() < 1e-6,
        "{report:?}"
    );
}

#[test]
fn contacts_hold_while_the_hand_reaches_and_limits_are_exact() {
    let arm = seven();
    let tip = arm.len() - 1;
    for seed in 0..20 {
        let mut at = drawn(&arm, seed);
        let held = frames(&arm, &at).get(4).translation.vector;
        let floor = GoalKind::Plane {
            joint: tip,
            point: Vector3::zeros(),
            normal: Vector3::z(),
            offset: 0.1,
            one_sided: true,
        };
        let goals = [
            Goal::position(4, held),
            Goal {
                priority: 1,
                ..Goal::new(floor)
            },
            Goal {
                priority: 2,
                weight: 10.0,
                ..Goal::position(tip, Vector3::new(1.5, 0.3, -0.4))
            },
        ];
        let report = solved(&IkProblem::new(&arm, &goals), &mut at, 200);
        assert!(report.residuals[0].position < 1e-6, "{seed}: {report:?}");
        assert!(arm.is_within(&at), "{seed}");
    }
}

/// A posture that weighs 1e-3 pulls by 1e-6 of its own error, against a residual of metres.
#[test]
fn out_of_reach_with_a_posture_ends_before_the_iterations_do() {
    let reach = [1.0, 0.7, 0.5, 0.4, 0.3];
    let chain = planar(&reach, [-3.1, 3.1]);
    let goals = [Goal::position(5, Vector3::new(0.6, 0.8, 0.0) * 4.0)];
    let short = 4.0 - reach.iter().sum::<f64>();
    for weight in [1e-4, 1e-3] {
        for seed in 0..30 {
            let preferred = drawn(&chain, 40 + seed);
            let problem = IkProblem {
                posture: Some(Posture {
                    target: &preferred,
                    weight,
                }),
                ..IkProblem::new(&chain, &goals)
            };
            let mut at = drawn(&chain, seed);
            let report = solved(&problem, &mut at, 100);
            assert!(
                matches!(report.status, IkStatus::Infeasible | IkStatus::Stalled),
                "{weight} {seed}: {report:?}"
            );
            let off = report.residuals[0].position - short;
            assert!(off.abs() < 1e-4, "{weight} {seed}: {off}");
        }
    }
}

#[test]
fn an_arm_out_of_reach_with_a_posture_is_as_near_as_without() {
    let arm = seven();
    let tip = arm.len() - 1;
    let goals = [Goal::position(tip, Vector3::new(2.0, 2.5, 1.0))];
    let mut at = drawn(&arm, 1);
    let nearest = solved(&IkProblem::new(&arm, &goals), &mut at, 200).residuals[0].position;
    for seed in 0..20 {
        let preferred = drawn(&arm, 40 + seed);
        let problem = IkProblem {
            posture: Some(Posture {
                target: &preferred,
                weight: 1e-3,
            }),
            ..IkProblem::new(&arm, &goals)
        };
        let mut at = drawn(&arm, seed);
        let report = solved(&problem, &mut at, 100);
        assert_ne!(report.status, IkStatus::IterationLimit, "{seed}");
        let off = report.residuals[0].position - nearest;
        assert!(off.abs() < 1e-4, "{seed}: {off}");
    }
}

/// The stiffer a posture, the further it and the goal are at odds: the least of both is what counts, and no longer search
/// finds less.
#[test]
fn what_is_out_of_reach_settles_its_posture_whatever_that_weighs() {
    let (arm, tree) = (seven(), tree());
    let far = Vector3::new(2.0, 2.5, 1.0);
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(1.0, 2.0, -0.7));
    let pose = Isometry3::from_parts(far.into(), turn);
    let cases = [
        (&arm, Goal::position(7, far)),
        (&arm, Goal::pose(7, pose)),
        (&tree, Goal::position(6, far * 3.0)),
        (&tree, Goal::pose(6, pose)),
    ];
    for (case, (mechanism, goal)) in cases.into_iter().enumerate() {
        let goals = [goal];
        // The tree would go along otherwise.
        let mut stiffness = vec![0.0; mechanism.len()];
        stiffness[0] = if case < 2 { 0.0 } else { 1.0 };
        for weight in [0.0, 1e-3, 1e-2, 3e-2, 0.1, 0.3] {
            for seed in 0..20 {
                let preferred = drawn(mechanism, 40 + seed);
                let posture = Posture {
                    target: &preferred,
                    weight,
                };
                let problem = IkProblem {
                    posture: (weight > 0.0).then_some(posture),
                    stiffness: &stiffness,
                    ..IkProblem::new(mechanism, &goals)
                };
                let mut search = LevenbergMarquardt::default();
                let (mut at, mut report) = (drawn(mechanism, seed), IkReport::default());
                search.options.max_iterations = 120;
                search.solve(&problem, &mut at, &mut report);
                assert_eq!(
                    report.status,
                    IkStatus::Infeasible,
                    "{case} {weight} {seed}"
                );
                let cost = report.cost;
                search.options.max_iterations = 1000;
                search.solve(&problem, &mut at, &mut report);
                assert!(
                    cost - report.cost < 1e-8 * cost,
                    "{case} {weight} {seed}: {cost} {report:?}"
                );
            }
        }
    }
}

#[test]
fn a_twist_that_is_locked_is_no_limit_that_was_hit() {
    let joint = |parent, at, limit| MechanismJoint::new(parent, at, limit);
    let arm = Mechanism::new(vec![
        joint(None, link(0.0, 0.0, 0.0), ball(1.0, 0.0)),
        joint(Some(0), link(1.0, 0.0, 0.0), fixed()),
    ])
    .unwrap();
    let goals = [Goal::position(1, Vector3::new(0.9, 0.3, 0.1).normalize())];
    let mut at = arm.rest();
    let report = solved(&IkProblem::new(&arm, &goals), &mut at, 100);
    assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    assert!(report.limits_hit.is_empty(), "{report:?}");
}
