//! Limits hold, exactly, whatever is asked.

use anim_ik::{
    Configuration, DampedLeastSquares, GaussNewton, Goal, Gradient, IkProblem, IkReport, IkSolver,
    JointValue, LevenbergMarquardt, Mechanism, SearchOptions,
};
use anim_math::random::Random;
use anim_skeleton::JointLimitSpec;

use crate::arm::{drawn, placement, seven, tree};

/// Angles and distances beyond their range, by exact comparison.
fn violations(mechanism: &Mechanism, at: &Configuration) -> usize {
    let joints = mechanism.joints().iter().zip(at.values());
    let broken = joints.filter(|(joint, value)| match (joint.limit.spec(), value) {
        (JointLimitSpec::Hinge { range, .. }, JointValue::Angle(value))
        | (JointLimitSpec::Prismatic { range, .. }, JointValue::Distance(value)) => {
            !(f64::from(range[0]) <= *value && *value <= f64::from(range[1]))
        }
        _ => false,
    });
    broken.count()
}

#[test]
fn no_limit_is_exceeded_in_twenty_thousand_solves() {
    let (arm, tree) = (seven(), tree());
    let options = SearchOptions {
        max_iterations: 20,
        ..SearchOptions::default()
    };
    let mut search = LevenbergMarquardt::new(options);
    let mut newton = GaussNewton::new(3);
    let mut damped = DampedLeastSquares::new(3, 0.1);
    let mut gradient = Gradient::new(3);
    let mut report = IkReport::default();
    for n in 0..20_000 {
        let mechanism = if n % 8 == 0 { &tree } else { &arm };
        let mut random = Random::new(41, n, 0);
        // Some are reachable and most are not.
        let mut target = placement(&mut random);
        target.translation.vector *= 1.5;
        let goals = [Goal::pose(mechanism.len() - 1, target)];
        let problem = IkProblem::new(mechanism, &goals);
        let mut at = drawn(mechanism, n);
        let solver: &mut dyn IkSolver = match n % 16 {
            13 => &mut newton,
            14 => &mut damped,
            15 => &mut gradient,
            _ => &mut search,
        };
        solver.solve(&problem, &mut at, &mut report);
        assert_eq!(violations(mechanism, &at), 0, "solve {n}");
        assert!(mechanism.is_within(&at), "solve {n}");
        assert!(at.is_finite());
    }
}

#[test]
fn a_start_beyond_its_limits_is_brought_within() {
    let arm = seven();
    let mut at = arm.rest();
    for value in at.values_mut() {
        if let JointValue::Angle(angle) = value {
            *angle = 40.0;
        }
    }
    let goals = [];
    let mut solver = LevenbergMarquardt::default();
    solver.solve(
        &IkProblem::new(&arm, &goals),
        &mut at,
        &mut IkReport::default(),
    );
    assert_eq!(violations(&arm, &at), 0);
}
