//! What the axes of a goal may be off by costs nothing and is made use of.

use anim_ik::{
    Ccd, Configuration, Fabrik, Goal, IkProblem, IkReport, IkSolver, IkStatus, LevenbergMarquardt,
    Mechanism, MechanismJoint, Posture, SearchOptions,
};
use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};
use anim_skeleton::JointLimit;

use crate::arm::{drawn, frames, link, planar, seven};

fn search() -> LevenbergMarquardt {
    LevenbergMarquardt::new(SearchOptions {
        restarts: 20,
        ..SearchOptions::default()
    })
}

fn solved(problem: &IkProblem<'_>, at: &mut Configuration) -> IkReport {
    let mut report = IkReport::default();
    search().solve(problem, at, &mut report);
    report
}

#[test]
fn what_is_preferred_elsewhere_ends_at_the_edge_of_the_tolerances() {
    let place = MechanismJoint::new(None, link(0.0, 0.0, 0.0), JointLimit::FREE);
    let thing = Mechanism::new(vec![place]).unwrap();
    let mut preferred = thing.rest();
    let turn = UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 1.0, 0.0));
    preferred.values_mut()[0] = anim_ik::JointValue::Placement(Isometry3::from_parts(
        Vector3::new(1.0, -1.0, 0.0).into(),
        turn,
    ));
    let goals = [Goal {
        position_tolerances: [0.1, 0.2, 0.3],
        rotation_tolerances: [0.0, 0.4, 0.0],
        ..Goal::pose(0, Isometry3::identity())
    }];
    let problem = IkProblem {
        posture: Some(Posture {
            target: &preferred,
            weight: 1e-4,
        }),
        ..IkProblem::new(&thing, &goals)
    };
    let mut at = thing.rest();
    let report = solved(&problem, &mut at);
    assert_eq!(report.status, IkStatus::Reached, "{report:?}");
    let there = *frames(&thing, &at).get(0);
    // The posture pulls by 1e-8 of what it is off against a weight of one, or of a quarter for rotations.
    let off = there.translation.vector - Vector3::new(0.1, -0.2, 0.0);
    assert!(off.norm() < 1e-7, "{off}");
    let off = there.rotation.scaled_axis() - Vector3::new(0.0, 0.4, 0.0);
    assert!(off.norm() < 1e-7, "{off}");
}

#[test]
fn a_target_beyond_reach_is_met_if_its_tolerance_reaches_back() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    for (tolerance, left) in [(0.3, 0.0), (0.1, 0.15)] {
        let goals = [Goal {
            position_tolerances: [tolerance, 0.0, 0.0],
            ..Goal::position(2, Vector3::new(2.25, 0.0, 0.0))
        }];
        let mut at = drawn(&chain, 3);
        let mut report = solved(&IkProblem::new(&chain, &goals), &mut at);
        let is_met = report.status == IkStatus::Reached;
        assert_eq!(is_met, left == 0.0, "{report:?}");
        assert!((report.residuals[0].position - left).abs() < 1e-5);
        let solvers: [Box<dyn IkSolver>; 2] = [Box::new(Ccd::new(300)), Box::new(Fabrik::new(300))];
        for mut solver in solvers {
            let mut at = drawn(&chain, 3);
            solver.solve(&IkProblem::new(&chain, &goals), &mut at, &mut report);
            let off = report.residuals[0].position - left;
            assert!(off.abs() < 1e-3, "{report:?}");
        }
    }
}

#[test]
fn a_cup_that_may_turn_and_stand_anywhere_on_a_tray_is_placed() {
    let arm = seven();
    let solvers: [(&str, Box<dyn IkSolver>, usize); 2] = [
        ("levenberg-marquardt", Box::new(search()), 50),
        ("ccd", Box::new(Ccd::new(300)), 40),
    ];
    let (tray, tilt) = ([0.1, 0.1, 0.0], [0.02, 0.02, std::f64::consts::PI]);
    for (name, mut solver, least) in solvers {
        let mut met = 0;
        for seed in 0..50 {
            let target = *frames(&arm, &drawn(&arm, seed)).get(7);
            let goals = [Goal {
                position_tolerances: tray,
                rotation_tolerances: tilt,
                tolerance: 1e-4,
                ..Goal::pose(7, target)
            }];
            let mut at = drawn(&arm, 100 + seed);
            let mut report = IkReport::default();
            let status = solver.solve(&IkProblem::new(&arm, &goals), &mut at, &mut report);
            if status != IkStatus::Reached {
                continue;
            }
            met += 1;
            let there = *frames(&arm, &at).get(7);
            let off = there.translation.vector - target.translation.vector;
            let turn = (target.rotation.inverse() * there.rotation).scaled_axis();
            for k in 0..3 {
                assert!(off[k].abs() <= tray[k] + 1.001e-4, "{name} {seed}: {off}");
                assert!(turn[k].abs() <= tilt[k] + 1.001e-4, "{name} {seed}: {turn}");
            }
        }
        assert!(met >= least, "{name}: {met} of 50");
    }
}
