//! Bad input is a status, and leaves nothing behind.

use anim_ik::{
    Ccd, Configuration, DampedLeastSquares, GaussNewton, Goal, GoalKind, Gradient, IkError,
    IkProblem, IkReport, IkSolver, IkStatus, JointValue, LevenbergMarquardt, Limb, Mechanism,
    Obstacles, Posture, SearchOptions,
};
use anim_math::nalgebra::Vector3;

use crate::arm::{drawn, frames, planar, seven};

fn solvers() -> [Box<dyn IkSolver>; 4] {
    let options = SearchOptions {
        restarts: 5,
        ..SearchOptions::default()
    };
    [
        Box::new(LevenbergMarquardt::new(options)),
        Box::new(GaussNewton::new(50)),
        Box::new(DampedLeastSquares::new(100, 0.1)),
        Box::new(Gradient::new(100)),
    ]
}

#[test]
fn a_target_that_is_no_number_moves_nothing_and_the_next_one_is_reached() {
    let arm = seven();
    let start = drawn(&arm, 1);
    let mut near = start.clone();
    start.integrate(&arm, &[0.05; 7], &mut near);
    let good = [Goal::pose(7, *frames(&arm, &near).get(7))];
    let bad = [Goal::position(7, Vector3::new(0.1, f64::NAN, 0.0))];
    for mut solver in solvers() {
        let (mut at, mut report) = (start.clone(), IkReport::default());
        let status = solver.solve(&IkProblem::new(&arm, &bad), &mut at, &mut report);
        assert_eq!((status, &at), (IkStatus::BadProblem, &start));
        let (mut fresh, mut expected) = (start.clone(), IkReport::default());
        solver.solve(&IkProblem::new(&arm, &good), &mut at, &mut report);
        solver.solve(&IkProblem::new(&arm, &good), &mut fresh, &mut expected);
        assert_eq!((&at, &report), (&fresh, &expected));
        assert!(at.is_finite());
    }
}

#[test]
fn a_configuration_that_is_no_number_starts_from_rest() {
    let arm = seven();
    let goals = [Goal::position(7, Vector3::new(0.3, 0.2, 0.7))];
    for mut solver in solvers() {
        let (mut at, mut report) = (arm.rest(), IkReport::default());
        at.values_mut()[2] = JointValue::Angle(f64::NAN);
        at.base.translation.x = f64::INFINITY;
        solver.solve(&IkProblem::new(&arm, &goals), &mut at, &mut report);
        assert!(at.is_finite() && report.cost.is_finite());
        assert!(arm.is_within(&at));
    }
}

fn problem_with(mechanism: &Mechanism, change: impl FnOnce(&mut Goal)) -> Result<(), IkError> {
    let mut goal = Goal::position(1, Vector3::x());
    change(&mut goal);
    IkProblem::new(mechanism, &[goal]).check()
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let chain = planar(&[1.0, 1.0], [-1.0, 1.0]);
    assert_eq!(
        problem_with(&chain, |goal| goal.kind = GoalKind::Pole {
            limb: [0, 9, 2],
            toward: Vector3::x()
        }),
        Err(IkError::GoalJoint { goal: 0, joint: 9 })
    );
    for change in [
        |goal: &mut Goal| goal.weight = -1.0,
        |goal: &mut Goal| goal.position_weights[1] = f64::INFINITY,
        |goal: &mut Goal| goal.tolerance = f64::NAN,
        |goal: &mut Goal| {
            goal.kind = GoalKind::Posture {
                joint: 0,
                target: JointValue::Distance(1.0),
            }
        },
    ] {
        let found = problem_with(&chain, change);
        assert!(
            matches!(found, Err(IkError::BadGoal { goal: 0, .. })),
            "{found:?}"
        );
    }
    let stiffness = [0.5, 2.0, 0.0];
    let bad = IkProblem {
        stiffness: &stiffness,
        ..IkProblem::new(&chain, &[])
    };
    assert!(matches!(bad.check(), Err(IkError::Count { found: 3, .. })));
    let limbs = [Limb {
        joint: 7,
        ends: [Vector3::zeros(); 2],
        radius: 0.1,
    }];
    let obstacles = Obstacles {
        limbs: &limbs,
        ..Obstacles::default()
    };
    let bad = IkProblem {
        obstacles,
        ..IkProblem::new(&chain, &[])
    };
    assert!(matches!(bad.check(), Err(IkError::BadLimb { limb: 0, .. })));
    let other = planar(&[1.0], [-1.0, 1.0]);
    let rest: Configuration = other.rest();
    let posture = Some(Posture {
        target: &rest,
        weight: 1.0,
    });
    let bad = IkProblem {
        posture,
        ..IkProblem::new(&chain, &[])
    };
    assert!(matches!(
        bad.check(),
        Err(IkError::Count {
            found: 2,
            expected: 3,
            ..
        })
    ));
}

#[test]
fn what_one_start_of_ccd_misses_another_finds() {
    let arm = seven();
    let mut stiffness = [0.0; 8];
    stiffness[6] = 1.0;
    let reached = |restarts| {
        let mut solver = Ccd::new(100);
        solver.restarts = restarts;
        let mut count = 0;
        for seed in 0..60 {
            // The last hinge stands as it should and is locked.
            let mut at = drawn(&arm, 300 + seed);
            let mut shown = drawn(&arm, seed);
            shown.values_mut()[6] = at.values()[6];
            let goals = [Goal {
                tolerance: 1e-4,
                ..Goal::pose(7, *frames(&arm, &shown).get(7))
            }];
            let problem = IkProblem {
                stiffness: &stiffness,
                ..IkProblem::new(&arm, &goals)
            };
            let mut report = IkReport::default();
            let status = solver.solve(&problem, &mut at, &mut report);
            assert!(report.restarts <= restarts && arm.is_within(&at));
            assert_eq!(at.values()[6], shown.values()[6], "{seed}");
            count += u32::from(status == IkStatus::Reached);
        }
        count
    };
    let (once, often) = (reached(0), reached(20));
    assert!(once < 30 && often >= 40, "{once} {often}");
}
