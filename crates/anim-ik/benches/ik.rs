//! One solve of each solver on one limb or chain, the forward kinematics of what moved included.
//!
//! Successive solves are on different limbs, as in a crowd: each starts from the pose that its own last one left. What the
//! kinematics alone take is its own line, `…_kinematics`: a job of other libraries that hands out corrections and leaves it
//! to its caller to apply them compares with the difference.

use std::hint::black_box;

use anim_curves::BSpline;
use anim_ik::{
    Ccd, Fabrik, Goal, IkProblem, IkReport, IkSolver, LookAt, LookAtGoal, Mechanism, Outcome,
    SpineJoint, SpineLook, SplineGoal, SplineIk, SplinePath, ThreeBone, TwoBone, TwoBoneGoal,
};
use anim_math::nalgebra::Vector3;
use anim_math::{Transform, Vec3, quat};
use anim_skeleton::{Globals, JointId, JointSpec, Pose, Skeleton};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Limbs in turn.
const LIMBS: usize = 64;
/// Goals in turn; coprime to the limbs, so that each limb gets another one every time.
const GOALS: usize = 61;

fn limb() -> Option<Skeleton> {
    let bone = |parent, turn, y| JointSpec {
        name: None,
        parent,
        rest: Transform {
            translation: Vec3::new(0.0, y, 0.0),
            rotation: quat::exp(turn),
            ..Transform::IDENTITY
        },
    };
    Skeleton::new(vec![
        bone(None, Vec3::new(0.1, 0.2, 0.3), 1.0),
        bone(Some(0), Vec3::new(0.5, 0.0, 0.0), -0.5),
        bone(Some(1), Vec3::new(0.0, 0.3, 0.0), -0.4),
    ])
    .ok()
}

fn actors(skeleton: &Skeleton) -> Vec<(Pose, Globals)> {
    let pose = skeleton.rest().clone();
    let mut globals = Globals::new(skeleton);
    skeleton.globals(&pose, &mut globals);
    vec![(pose, globals); LIMBS]
}

fn two_bone(c: &mut Criterion) {
    let Some(skeleton) = limb() else { return };
    let Ok(leg) = TwoBone::new(&skeleton, skeleton.joint(2)) else {
        return;
    };
    let reach = |n: usize| {
        let angle = n as f32 * 0.1;
        TwoBoneGoal::new(Vec3::new(0.3 * angle.cos(), 0.4, 0.3 * angle.sin()))
    };
    let with_pole = |n: usize| TwoBoneGoal {
        pole: Some(Vec3::new(0.0, 0.8, 2.0)),
        ..reach(n)
    };
    let plain: Vec<_> = (0..GOALS).map(reach).collect();
    let poled: Vec<_> = (0..GOALS).map(with_pole).collect();
    for (name, goals) in [
        ("anim-ik/two_bone", plain),
        ("anim-ik/two_bone_pole", poled),
    ] {
        let mut limbs = actors(&skeleton);
        let mut n = 0;
        c.benchmark_group(name).bench_function("1", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut limbs[n % LIMBS];
                let goal = black_box(&goals[n % GOALS]);
                leg.solve(&skeleton, goal, pose, globals)
            });
        });

        let (mut poses, mut globals): (Vec<_>, Vec<_>) = actors(&skeleton).into_iter().unzip();
        let mut outcomes = [Outcome::default(); LIMBS];
        // As many more goals as limbs as it takes to start anywhere among them.
        let goals: Vec<_> = goals.iter().cycle().take(GOALS + LIMBS).cloned().collect();
        let mut n = 0;
        let mut group = c.benchmark_group(format!("{name}_crowd"));
        group.throughput(Throughput::Elements(LIMBS as u64));
        group.bench_function(format!("{LIMBS}"), |b| {
            b.iter(|| {
                n = (n + 1) % GOALS;
                let goals = black_box(&goals[n..n + LIMBS]);
                leg.solve_crowd(&skeleton, goals, &mut poses, &mut globals, &mut outcomes);
            });
        });
    }
    kinematics(c, "anim-ik/two_bone_kinematics", &skeleton, leg.root);
}

/// The part of it that brings globals up to date.
fn kinematics(c: &mut Criterion, name: &str, skeleton: &Skeleton, joint: JointId) {
    let (mut actors, mut n) = (actors(skeleton), 0);
    c.benchmark_group(name).bench_function("1", |b| {
        b.iter(|| {
            n += 1;
            let (pose, globals) = &mut actors[n % LIMBS];
            skeleton.globals_below(joint, black_box(pose), globals);
        });
    });
}

fn look_at(c: &mut Criterion) {
    let Some(skeleton) = limb() else { return };
    let joint = skeleton.joint(2);
    let Ok(gaze) = LookAt::new(joint, Vec3::z(), Vec3::y(), 3.2) else {
        return;
    };
    let target = |n: usize| {
        let angle = n as f32 * 0.1;
        Vec3::new(angle.cos(), 0.5, (0.7 * angle).sin() + 2.0)
    };
    let targets: Vec<_> = (0..GOALS).map(target).collect();
    let mut actors = actors(&skeleton);
    let mut n = 0;
    c.benchmark_group("anim-ik/look_at")
        .bench_function("1", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                let target = black_box(targets[n % GOALS]);
                gaze.solve(&skeleton, target, 1.0, pose, globals)
            });
        });

    let (mut poses, mut globals): (Vec<_>, Vec<_>) = actors.into_iter().unzip();
    let mut outcomes = [Outcome::default(); LIMBS];
    let goals = targets.iter().copied().map(LookAtGoal::new);
    let goals: Vec<_> = goals.cycle().take(GOALS + LIMBS).collect();
    let mut n = 0;
    let mut group = c.benchmark_group("anim-ik/look_at_crowd");
    group.throughput(Throughput::Elements(LIMBS as u64));
    group.bench_function(format!("{LIMBS}"), |b| {
        b.iter(|| {
            n = (n + 1) % GOALS;
            let goals = black_box(&goals[n..n + LIMBS]);
            gaze.aim_crowd(&skeleton, goals, &mut poses, &mut globals, &mut outcomes);
        });
    });
    group.finish();
    kinematics(c, "anim-ik/look_at_kinematics", &skeleton, joint);
}

/// `joints` bones of 0.1 m, bent a little from each to the next.
fn chain(joints: usize) -> Option<Skeleton> {
    let joint = |n: usize| JointSpec {
        name: None,
        parent: n.checked_sub(1),
        rest: Transform {
            translation: Vec3::y() * 0.1,
            rotation: quat::exp(Vec3::new(
                if n.is_multiple_of(2) { 0.4 } else { -0.5 },
                0.1,
                0.0,
            )),
            ..Transform::IDENTITY
        },
    };
    Skeleton::new((0..joints).map(joint).collect()).ok()
}

fn place(n: usize) -> Vec3 {
    let angle = n as f32 * 0.1;
    Vec3::new(0.1 * angle.cos(), 0.25, 0.1 * angle.sin())
}

fn three_bone(c: &mut Criterion) {
    let Some(skeleton) = chain(4) else { return };
    let Ok(leg) = ThreeBone::new(&skeleton, skeleton.joint(3)) else {
        return;
    };
    let goals: Vec<_> = (0..GOALS).map(|n| TwoBoneGoal::new(place(n))).collect();
    let (mut actors, mut n) = (actors(&skeleton), 0);
    c.benchmark_group("anim-ik/three_bone")
        .bench_function("1", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                leg.solve(&skeleton, black_box(&goals[n % GOALS]), pose, globals)
            });
        });
}

fn spine_look(c: &mut Criterion) {
    let Some(skeleton) = chain(4) else { return };
    let joint = |n| skeleton.joint(n);
    let part = |n| SpineJoint {
        joint: joint(n),
        share: 0.2,
        limit: 1.0,
    };
    let head = LookAt::new(joint(3), Vec3::z(), Vec3::y(), 2.0);
    let parts = (0..3).map(part).collect();
    let Ok(spine) = head.and_then(|head| SpineLook::new(&skeleton, parts, 0.4, head)) else {
        return;
    };
    let goals: Vec<_> = (0..GOALS)
        .map(|n| LookAtGoal::new(place(n) * 10.0))
        .collect();
    let (mut actors, mut n) = (actors(&skeleton), 0);
    c.benchmark_group("anim-ik/spine_look")
        .bench_function("4", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                spine.solve(&skeleton, black_box(&goals[n % GOALS]), pose, globals)
            });
        });
}

fn spline(c: &mut Criterion) {
    let Some(skeleton) = chain(11) else { return };
    let controls = [[0.0; 3], [0.2, 0.3, 0.0], [0.5, 0.2, 0.4], [0.9, 0.6, 0.2]].map(Vec3::from);
    let path = BSpline::clamped(controls.to_vec()).and_then(|c| SplinePath::new(c, 1e-5));
    let tail = SplineIk::new(&skeleton, skeleton.joint(0), skeleton.joint(10));
    let (Ok(path), Ok(tail)) = (path, tail) else {
        return;
    };
    let (mut actors, mut n) = (actors(&skeleton), 0);
    c.benchmark_group("anim-ik/spline")
        .bench_function("10", |b| {
            b.iter(|| {
                n += 1;
                let (pose, globals) = &mut actors[n % LIMBS];
                let goal = SplineGoal {
                    start: (n % GOALS) as f32 * 1e-3,
                    ..SplineGoal::default()
                };
                tail.solve(&skeleton, &path, black_box(&goal), pose, globals)
            });
        });
}

/// Ten links to 1e-4 m, from rest.
fn chains(c: &mut Criterion) {
    let Some(skeleton) = chain(11) else { return };
    let Ok(mechanism) = Mechanism::from_skeleton(&skeleton, &[], None) else {
        return;
    };
    let goals: Vec<_> = (0..GOALS)
        .map(|n| {
            let target: Vector3<f64> = (place(n) * 2.0).cast();
            [Goal {
                tolerance: 1e-4,
                ..Goal::position(10, target)
            }]
        })
        .collect();
    let rest = mechanism.rest();
    let solvers: [(&str, Box<dyn IkSolver>); 2] = [
        ("anim-ik/ccd", Box::new(Ccd::new(100))),
        ("anim-ik/fabrik", Box::new(Fabrik::new(100))),
    ];
    for (name, mut solver) in solvers {
        let (mut at, mut report, mut n) = (rest.clone(), IkReport::default(), 0);
        c.benchmark_group(name).bench_function("10", |b| {
            b.iter(|| {
                n += 1;
                at.clone_from(&rest);
                let problem = IkProblem::new(&mechanism, &goals[n % GOALS]);
                solver.solve(black_box(&problem), &mut at, &mut report)
            });
        });
    }
}

criterion_group!(
    benches, two_bone, look_at, three_bone, spine_look, spline, chains
);
criterion_main!(benches);
