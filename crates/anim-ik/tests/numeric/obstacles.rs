//! Limbs keep clear of colliders and of each other.

use std::sync::Arc;

use anim_geom::{Collider, MeshBvh, Shape, primitives};
use anim_ik::{
    Goal, IkProblem, IkReport, IkSolver, IkStatus, Jacobian, LevenbergMarquardt, Limb, Mechanism,
    Obstacles, SearchOptions,
};
use anim_math::nalgebra::Vector3;
use anim_math::{Affine, Transform, Vec3};

use crate::arm::{drawn, frames, planar};

fn limbs(chain: &Mechanism, length: f64, radius: f64) -> Vec<Limb> {
    let ends = [Vector3::zeros(), Vector3::new(length, 0.0, 0.0)];
    (0..chain.len() - 1)
        .map(|joint| Limb {
            joint,
            ends,
            radius,
        })
        .collect()
}

fn at(shape: Shape, place: Vec3) -> Collider {
    Collider::new(shape, Affine::from(Transform::from_translation(place)))
}

#[test]
fn limbs_go_round_what_stands_in_their_way() {
    let chain = planar(&[0.5; 6], [-2.5, 2.5]);
    let limbs = limbs(&chain, 0.5, 0.05);
    let cuboid = MeshBvh::new(&primitives::cuboid(Vec3::new(0.2, 0.2, 0.2))).unwrap();
    let shapes = [
        Shape::Sphere { radius: 0.25 },
        Shape::Capsule {
            radius: 0.2,
            half_length: 0.3,
        },
        Shape::Mesh(Arc::new(cuboid)),
    ];
    let goals = [Goal::position(6, Vector3::new(2.4, 0.2, 0.0))];
    for shape in shapes {
        let colliders = [at(shape, Vec3::new(1.4, 0.0, 0.0))];
        let obstacles = Obstacles {
            limbs: &limbs,
            colliders: &colliders,
            ..Obstacles::default()
        };
        let problem = IkProblem {
            obstacles,
            ..IkProblem::new(&chain, &goals)
        };
        let options = SearchOptions {
            restarts: 30,
            ..SearchOptions::default()
        };
        let mut solver = LevenbergMarquardt::new(options);
        let (mut q, mut report) = (chain.rest(), IkReport::default());
        solver.solve(&problem, &mut q, &mut report);
        assert_eq!(report.status, IkStatus::Reached, "{report:?}");
        // By points along the limbs, with the radius.
        let there = frames(&chain, &q);
        for limb in &limbs {
            for k in 0..=50 {
                let own = limb.ends[1] * (f64::from(k) / 50.0);
                let frame = there.get(limb.joint);
                let point = frame.rotation * own + frame.translation.vector;
                let distance = colliders[0].contact(point.cast()).distance;
                assert!(distance > 0.05 - 2e-5, "{distance}");
            }
        }
    }
}

#[test]
fn the_floor_holds_and_says_how_deep_a_forbidden_goal_is() {
    let chain = planar(&[1.0, 1.0], [-3.1, 3.1]);
    let limbs = limbs(&chain, 1.0, 0.1);
    let floor = [at(Shape::Plane, Vec3::new(0.0, -0.5, 0.0))];
    let goals = [Goal::position(2, Vector3::new(1.0, -1.0, 0.0))];
    let obstacles = Obstacles {
        limbs: &limbs,
        colliders: &floor,
        weight: 100.0,
        ..Obstacles::default()
    };
    let problem = IkProblem {
        obstacles,
        ..IkProblem::new(&chain, &goals)
    };
    // From rest the elbow comes to lie on the floor; from elsewhere it bends upward.
    let options = SearchOptions {
        restarts: 5,
        ..SearchOptions::default()
    };
    let mut solver = LevenbergMarquardt::new(options);
    let (mut q, mut report) = (chain.rest(), IkReport::default());
    let status = solver.solve(&problem, &mut q, &mut report);
    assert_ne!(status, IkStatus::Reached);
    // 0.6 m are asked for beyond the floor: weights of 1 and 100 share them as 10⁴ to 1, less where the goal turns.
    assert!(
        report.penetration > 0.0 && report.penetration < 1e-4,
        "{report:?}"
    );
    assert!(
        (report.residuals[0].position - 0.6).abs() < 1e-3,
        "{report:?}"
    );
}

#[test]
fn limbs_of_a_pair_keep_apart() {
    let chain = planar(&[1.0; 4], [-3.1, 3.1]);
    let limbs = limbs(&chain, 1.0, 0.1);
    // The tip is asked into the first link.
    let goals = [Goal::position(4, Vector3::new(0.5, 0.0, 0.0))];
    let pairs = [[0, 2], [0, 3], [1, 3]];
    let obstacles = Obstacles {
        limbs: &limbs,
        pairs: &pairs,
        weight: 100.0,
        ..Obstacles::default()
    };
    let stiffness = [1.0, 0.0, 0.0, 0.0, 0.0];
    let problem = IkProblem {
        obstacles,
        stiffness: &stiffness,
        ..IkProblem::new(&chain, &goals)
    };
    let options = SearchOptions {
        restarts: 10,
        ..SearchOptions::default()
    };
    let mut solver = LevenbergMarquardt::new(options);
    let (mut q, mut report) = (chain.rest(), IkReport::default());
    solver.solve(&problem, &mut q, &mut report);
    assert!(report.penetration < 1e-4, "{report:?}");
    // The nearest the axis of the last link comes to that of the first is two radii.
    assert!(
        (report.residuals[0].position - 0.2).abs() < 1e-3,
        "{report:?}"
    );
}

/// Where a limb is deepest is a minimum of distances in f32, some 3 m: known to 3 √ε = 1e-3 m, and levers with it.
#[test]
fn derivatives_of_gaps_are_their_central_differences() {
    let chain = planar(&[0.5; 4], [-2.5, 2.5]);
    let limbs = limbs(&chain, 0.5, 0.05);
    let shape = Shape::Sphere { radius: 3.0 };
    let colliders = [at(shape, Vec3::new(0.3, 0.2, 0.1))];
    let problem = IkProblem {
        obstacles: Obstacles {
            limbs: &limbs,
            colliders: &colliders,
            weight: 1.0,
            ..Obstacles::default()
        },
        ..IkProblem::new(&chain, &[])
    };
    let step = 1e-3;
    for seed in 0..10 {
        let q = drawn(&chain, seed);
        let mut jacobian = Jacobian::default();
        jacobian.compute(&problem, &q);
        assert_eq!(jacobian.errors().len(), limbs.len());
        for dof in 0..chain.dof() {
            let errors_at = |step: f64| {
                let mut steps = vec![0.0; chain.dof()];
                steps[dof] = step;
                let mut moved = q.clone();
                q.integrate(&chain, &steps, &mut moved);
                let mut there = Jacobian::default();
                there.compute(&problem, &moved);
                there.errors().to_vec()
            };
            let (before, after) = (errors_at(-step), errors_at(step));
            for (row, value) in jacobian.column(dof).iter().enumerate() {
                let difference = (after[row] - before[row]) / (2.0 * step);
                assert!(
                    (difference - value).abs() < 1e-3,
                    "{seed}: row {row}, dof {dof}: {value} for {difference}"
                );
            }
        }
    }
}
