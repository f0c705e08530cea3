//! Once warm, numeric solves allocate nothing.

#![allow(unsafe_code, reason = "counting allocations takes an allocator")]
#![allow(clippy::unwrap_used, reason = "a broken test should say where")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anim_geom::{Collider, Shape};
use anim_ik::{
    Ccd, DampedLeastSquares, Fabrik, GaussNewton, Goal, Gradient, IkBatch, IkProblem, IkReport,
    IkSolver, LevenbergMarquardt, Limb, Mechanism, MechanismJoint, Obstacles, Posture,
    SearchOptions,
};
use anim_math::nalgebra::{Isometry3, Vector3};
use anim_math::random::Random;
use anim_math::{Affine, Vec3};
use anim_skeleton::{JointLimit, JointLimitSpec, Swing};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Six balls in a row.
fn chain() -> Mechanism {
    let swing = Swing::Cone { angle: 1.5 };
    let spec = JointLimitSpec::Ball {
        axis: Vec3::x(),
        swing,
        twist: [-1.0, 1.0],
    };
    let limit = JointLimit::new(spec).unwrap();
    let link = Isometry3::translation(0.4, 0.0, 0.0);
    let joints = (0..6_usize).map(|joint| MechanismJoint::new(joint.checked_sub(1), link, limit));
    Mechanism::new(joints.collect()).unwrap()
}

/// In one test, because tests of a binary run side by side and would count each other's memory.
#[test]
fn solvers_that_are_warm_allocate_nothing() {
    let chain = chain();
    let rest = chain.rest();
    let ends = [Vector3::zeros(), Vector3::new(0.4, 0.0, 0.0)];
    let limbs: Vec<_> = (0..5)
        .map(|joint| Limb {
            joint,
            ends,
            radius: 0.05,
        })
        .collect();
    let colliders = [Collider::new(
        Shape::Sphere { radius: 0.3 },
        Affine::IDENTITY,
    )];
    let pairs = [[0, 3], [1, 4]];
    let obstacles = Obstacles {
        limbs: &limbs,
        colliders: &colliders,
        pairs: &pairs,
        ..Obstacles::default()
    };
    let goals: Vec<_> = (0..40)
        .map(|n| {
            [Goal::position(
                5,
                Random::new(1, n, 0).in_ball().cast() * 3.0,
            )]
        })
        .collect();
    let problems: Vec<_> = goals
        .iter()
        .map(|goals| IkProblem {
            posture: Some(Posture {
                target: &rest,
                weight: 1e-3,
            }),
            obstacles,
            ..IkProblem::new(&chain, goals)
        })
        .collect();
    let options = SearchOptions {
        restarts: 2,
        ..SearchOptions::default()
    };
    let solvers: [&mut dyn IkSolver; 6] = [
        &mut Ccd::new(20),
        &mut Fabrik::new(20),
        &mut LevenbergMarquardt::new(options),
        &mut GaussNewton::new(10),
        &mut DampedLeastSquares::new(10, 0.1),
        &mut Gradient::new(10),
    ];
    let (mut at, mut report) = (rest.clone(), IkReport::default());
    for solver in solvers {
        let mut counts = [0; 2];
        for count in &mut counts {
            let before = COUNT.load(Ordering::Relaxed);
            at.copy_from(&rest);
            for problem in &problems {
                solver.solve(problem, &mut at, &mut report);
            }
            *count = COUNT.load(Ordering::Relaxed) - before;
        }
        assert_eq!(counts[1], 0, "after {} to get warm", counts[0]);
    }
    let mut batch = IkBatch::new(options);
    let mut all = vec![rest.clone(); problems.len()];
    let mut reports = vec![IkReport::default(); problems.len()];
    let mut counts = [0; 2];
    for count in &mut counts {
        let before = COUNT.load(Ordering::Relaxed);
        all.iter_mut().for_each(|at| at.copy_from(&rest));
        batch.solve(&problems, &mut all, &mut reports);
        *count = COUNT.load(Ordering::Relaxed) - before;
    }
    assert_eq!(counts[1], 0, "after {} to get warm", counts[0]);
}
