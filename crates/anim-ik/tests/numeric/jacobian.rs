//! Analytic derivatives against central differences, for every kind of goal under every kind of joint.

use anim_ik::{Goal, GoalKind, IkProblem, Jacobian, Mechanism, PointMass};
use anim_math::nalgebra::Vector3;
use anim_math::random::Random;

use crate::arm::{drawn, placement, tree, vector};

/// Central differences of step h are off by h² of the third derivative and by rounding over h: 1e-7 at errors of some 10.
const STEP: f64 = 1e-5;

fn kinds(mechanism: &Mechanism, random: &mut Random) -> Vec<GoalKind> {
    let (near, far) = (3, 6);
    let mut kinds = vec![
        GoalKind::CentreOfMass {
            target: vector(random),
        },
        GoalKind::Pole {
            limb: [1, 4, far],
            toward: vector(random) * 3.0,
        },
        GoalKind::Pole {
            limb: [0, 2, 7],
            toward: vector(random) * 3.0,
        },
    ];
    for joint in [near, far, 7] {
        let (point, target) = (vector(random), vector(random) * 2.0);
        let (tool, place) = (placement(random), placement(random));
        kinds.extend([
            GoalKind::Position {
                joint,
                point,
                target,
            },
            GoalKind::Orientation {
                joint,
                target: place.rotation,
            },
            GoalKind::Pose {
                joint,
                tool,
                target: place,
            },
            GoalKind::Aim {
                joint,
                point,
                axis: vector(random),
                target,
            },
            GoalKind::Distance {
                joint,
                point,
                from: target,
                range: [9.0, 9.5],
            },
            GoalKind::Distance {
                joint,
                point,
                from: target,
                range: [0.0, 0.01],
            },
            GoalKind::Plane {
                joint,
                point,
                normal: vector(random),
                offset: 0.3,
                one_sided: false,
            },
            GoalKind::Plane {
                joint,
                point,
                normal: vector(random),
                offset: 20.0,
                one_sided: true,
            },
            GoalKind::Relative {
                joint,
                tool,
                reference: 5,
                target: place,
            },
        ]);
    }
    let other = drawn(mechanism, 99);
    for (joint, target) in other.values().iter().enumerate() {
        kinds.push(GoalKind::Posture {
            joint,
            target: *target,
        });
    }
    kinds
}

#[test]
fn every_derivative_is_the_central_difference_of_its_error() {
    let tree = tree();
    let masses: Vec<_> = (0..tree.len())
        .map(|joint| PointMass {
            mass: 1.0 + joint as f64,
            centre: Vector3::new(0.1, 0.2, 0.3),
        })
        .collect();
    let mut worst: f64 = 0.0;
    for seed in 0..4 {
        let mut random = Random::new(21, seed, 0);
        let at = drawn(&tree, seed);
        for kind in kinds(&tree, &mut random) {
            let goal = Goal {
                weight: 1.3,
                position_weights: [1.0, 0.5, 2.0],
                rotation_weights: [0.7, 1.0, 1.5],
                position_tolerances: [0.0, 0.05, 0.1].map(|t| t * (seed % 2) as f64),
                rotation_tolerances: [0.02, 0.0, 0.05].map(|t| t * (seed % 2) as f64),
                ..Goal::new(kind)
            };
            let problem = IkProblem {
                masses: &masses,
                ..IkProblem::new(&tree, std::slice::from_ref(&goal))
            };
            let mut jacobian = Jacobian::default();
            jacobian.compute(&problem, &at);
            assert!(!jacobian.errors().is_empty(), "{kind:?}");
            for dof in 0..tree.dof() {
                let errors_at = |step: f64| {
                    let mut steps = vec![0.0; tree.dof()];
                    steps[dof] = step;
                    let mut moved = at.clone();
                    at.integrate(&tree, &steps, &mut moved);
                    let mut there = Jacobian::default();
                    there.compute(&problem, &moved);
                    there.errors().to_vec()
                };
                let (before, after) = (errors_at(-STEP), errors_at(STEP));
                for (row, value) in jacobian.column(dof).iter().enumerate() {
                    let difference = (after[row] - before[row]) / (2.0 * STEP);
                    let off = (difference - value).abs();
                    worst = worst.max(off);
                    assert!(
                        off <= 1e-7,
                        "{kind:?}: row {row}, dof {dof}: {value} for {difference}"
                    );
                }
            }
        }
    }
    assert!(worst > 0.0);
}

/// With the error in the target's frame and the Jacobian in the joint's own, solvers turn away from half the targets.
#[test]
fn a_step_against_the_gradient_lowers_the_error_from_any_orientation() {
    let tree = tree();
    for seed in 0..200 {
        let at = drawn(&tree, seed);
        let goal = Goal::orientation(6, placement(&mut Random::new(22, seed, 0)).rotation);
        let problem = IkProblem::new(&tree, std::slice::from_ref(&goal));
        let mut jacobian = Jacobian::default();
        jacobian.compute(&problem, &at);
        let cost = |jacobian: &Jacobian| jacobian.errors().iter().map(|e| e * e).sum::<f64>();
        let before = cost(&jacobian);
        let steps: Vec<f64> = (0..tree.dof())
            .map(|dof| {
                let slopes = jacobian.column(dof).iter().zip(jacobian.errors());
                -1e-3 * slopes.map(|(j, e)| j * e).sum::<f64>()
            })
            .collect();
        let mut moved = at.clone();
        at.integrate(&tree, &steps, &mut moved);
        jacobian.compute(&problem, &moved);
        assert!(cost(&jacobian) < before);
    }
}
