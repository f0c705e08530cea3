//! Limits hold, exactly, whatever is asked.

use anim_ik::{
    Configuration, DampedLeastSquares, GaussNewton, Goal, GoalKind, Gradient, IkProblem, IkReport,
    IkSolver, IkStatus, JointValue, LevenbergMarquardt, Mechanism, MechanismJoint, SearchOptions,
};
use anim_math::Vec3;
use anim_math::nalgebra::{UnitQuaternion, Vector3};
use anim_math::random::Random;
use anim_skeleton::{JointLimitSpec, Swing};

use crate::arm::{drawn, limit, placement, seven, tree};

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

/// One ball whose x axis leans up to 0.5 rad and twists up to 0.3.
fn socket(swing: Swing) -> Mechanism {
    let axis = Vec3::x();
    let spec = JointLimitSpec::Ball {
        axis,
        swing,
        twist: [-0.3, 0.3],
    };
    let rest = placement(&mut Random::new(43, 0, 0));
    Mechanism::new(vec![MechanismJoint::new(None, rest, limit(spec))]).unwrap()
}

#[test]
fn a_ball_stops_at_the_edge_of_its_cone_on_the_way_to_what_is_beyond() {
    let socket = socket(Swing::Cone { angle: 0.5 });
    let rest = socket.joints()[0].parent_from_joint;
    let mut solver = LevenbergMarquardt::default();
    let mut report = IkReport::default();
    for n in 0..100 {
        let mut random = Random::new(44, n, 0);
        let lean = f64::from(random.range(0.6, 2.5));
        let around = f64::from(random.range(-3.0, 3.0));
        let (sine, cosine) = lean.sin_cos();
        let own = Vector3::new(cosine, sine * around.cos(), sine * around.sin());
        let goals = [Goal::new(GoalKind::Aim {
            joint: 0,
            point: Vector3::zeros(),
            axis: Vector3::x(),
            target: rest.translation.vector + rest.rotation * own * 2.0,
        })];
        // From anywhere: the way leads along the edge.
        let mut at = drawn(&socket, n);
        solver.solve(&IkProblem::new(&socket, &goals), &mut at, &mut report);
        assert_eq!(report.status, IkStatus::Infeasible, "{n}: {report:?}");
        assert!(
            (report.residuals[0].rotation - (lean - 0.5)).abs() < 1e-6,
            "{n}: {report:?}"
        );
        assert_eq!(report.limits_hit, [0]);
        assert!(socket.is_within(&at));
    }
}

#[test]
fn a_twist_beyond_its_range_stops_at_its_end() {
    let about = Vec3::y();
    let socket = socket(Swing::Ellipse {
        about,
        angles: [0.2, 1.0],
    });
    let rest = socket.joints()[0].parent_from_joint.rotation;
    let turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 1.1);
    let goals = [Goal::orientation(0, rest * turn)];
    let (mut at, mut report) = (socket.rest(), IkReport::default());
    LevenbergMarquardt::default().solve(&IkProblem::new(&socket, &goals), &mut at, &mut report);
    assert_eq!(report.status, IkStatus::Infeasible, "{report:?}");
    assert!((report.residuals[0].rotation - (1.1 - f64::from(0.3_f32))).abs() < 1e-6);
    // On the ellipse's narrow side the edge is nearer.
    let lean = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.7);
    let goals = [Goal::orientation(0, rest * lean)];
    let mut at = socket.rest();
    LevenbergMarquardt::default().solve(&IkProblem::new(&socket, &goals), &mut at, &mut report);
    assert!(
        (report.residuals[0].rotation - (0.7 - f64::from(0.2_f32))).abs() < 1e-6,
        "{report:?}"
    );
}
