//! Numeric inverse kinematics: how often it succeeds, how long it takes, and whether limits hold.
//!
//! First a table: an arm of seven hinges with the measures and limits of a common industrial one, random poses it can
//! reach, random starts, 1e-5 m and rad. `ANIM_IK_SOLVES` says how many, 20 000 without. Then as many, some of them out of reach,
//! on one thread and again on two: what differs in a bit, is out of limits or not finite. Then criterion: one solve, a batch
//! of a thousand on one and two threads, and a frame of a body of 66 degrees of freedom that follows five effectors.
//! If `ANIM_PEERS_OUT` names a folder, the first 500 problems and our answers are left there as `arm7.json` for other
//! programs to solve: `cargo xtask bench --peers`.
#![allow(clippy::print_stdout, reason = "a bench says what it measured")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use anim_ik::{
    Configuration, Frames, Goal, IkBatch, IkProblem, IkReport, IkSolver, IkStatus, JointValue,
    LevenbergMarquardt, Mechanism, MechanismJoint, Posture, SearchOptions,
};
use anim_math::Vec3;
use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};
use anim_math::random::Random;
use anim_skeleton::{JointLimit, JointLimitSpec, Swing};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;

type Error = Box<dyn std::error::Error>;

/// Shoulder, elbow, wrist and flange are 0.36, 0.42, 0.40 and 0.126 m apart.
fn arm() -> Result<Mechanism, Error> {
    let degrees = [170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 175.0_f32];
    let offsets = [0.0, 0.36, 0.0, 0.42, 0.0, 0.40, 0.0];
    let (y, z) = (Vec3::y(), Vec3::z());
    let axes = [z, y, z, -y, z, y, z];
    let mut joints = Vec::new();
    for (joint, ((degrees, up), axis)) in degrees.into_iter().zip(offsets).zip(axes).enumerate() {
        let range = [-degrees.to_radians(), degrees.to_radians()];
        let limit = JointLimit::new(JointLimitSpec::Hinge { axis, range })?;
        let rest = Isometry3::translation(0.0, 0.0, up);
        joints.push(MechanismJoint::new(joint.checked_sub(1), rest, limit));
    }
    let flange = Isometry3::translation(0.0, 0.0, 0.126);
    let fixed = JointLimit::new(JointLimitSpec::Fixed)?;
    joints.push(MechanismJoint::new(Some(6), flange, fixed));
    Ok(Mechanism::new(joints)?)
}

/// A free body and twenty balls: a spine of three, a neck and a head, collar to hand and hip to toe.
fn body() -> Result<Mechanism, Error> {
    let up = |y: f64| (0.0, y, 0.0);
    let parents: [(usize, (f64, f64, f64)); 20] = [
        (0, up(0.1)),
        (1, up(0.12)),
        (2, up(0.15)),
        (3, up(0.2)),
        (4, up(0.1)),
        (3, (0.06, 0.15, 0.0)),
        (6, (0.12, 0.0, 0.0)),
        (7, (0.28, 0.0, 0.0)),
        (8, (0.25, 0.0, 0.0)),
        (3, (-0.06, 0.15, 0.0)),
        (10, (-0.12, 0.0, 0.0)),
        (11, (-0.28, 0.0, 0.0)),
        (12, (-0.25, 0.0, 0.0)),
        (0, (0.1, -0.05, 0.0)),
        (14, up(-0.42)),
        (15, up(-0.42)),
        (0, (-0.1, -0.05, 0.0)),
        (17, up(-0.42)),
        (18, up(-0.42)),
        (9, (0.1, 0.0, 0.0)),
    ];
    let root = Isometry3::translation(0.0, 1.0, 0.0);
    let mut joints = vec![MechanismJoint::new(None, root, JointLimit::FREE)];
    for (parent, (x, y, z)) in parents {
        let limit = JointLimit::new(JointLimitSpec::Ball {
            axis: Vec3::y(),
            swing: Swing::Cone { angle: 2.0 },
            twist: [-1.2, 1.2],
        })?;
        joints.push(MechanismJoint::new(
            Some(parent),
            Isometry3::translation(x, y, z),
            limit,
        ));
    }
    Ok(Mechanism::new(joints)?)
}

/// Head, hands and feet.
const EFFECTORS: [usize; 5] = [5, 9, 13, 16, 19];

fn draw(mechanism: &Mechanism, seed: u64, stream: u64) -> Configuration {
    let mut at = mechanism.rest();
    mechanism.randomize(&mut Random::new(seed, stream, 0), &mut at);
    at
}

fn reached_by(mechanism: &Mechanism, at: &Configuration, joint: usize) -> Isometry3<f64> {
    let mut frames = Frames::new(mechanism);
    mechanism.forward(at, &mut frames);
    *frames.get(joint)
}

fn thorough() -> SearchOptions {
    SearchOptions {
        restarts: 50,
        max_iterations: 50,
        ..SearchOptions::default()
    }
}

/// Angles outside of their range, by exact comparison.
fn violations(mechanism: &Mechanism, at: &Configuration) -> usize {
    let joints = mechanism.joints().iter().zip(at.values());
    let broken = joints.filter(|(joint, value)| match (joint.limit.spec(), value) {
        (JointLimitSpec::Hinge { range, .. }, JointValue::Angle(angle)) => {
            !range.is_empty() && !(f64::from(range[0])..=f64::from(range[1])).contains(angle)
        }
        _ => false,
    });
    broken.count()
}

/// How many solves were asked for.
fn solve_count() -> u64 {
    let solves = std::env::var("ANIM_IK_SOLVES").ok();
    let solves = solves.and_then(|text| text.parse().ok());
    solves.unwrap_or(20_000)
}

fn table(c: &mut Criterion) {
    let _ = c;
    let solves = solve_count();
    let Ok(arm) = arm() else { return };
    println!("arm7, {solves} reachable poses, 1e-5 m and rad, random starts");
    println!("restarts  success %  mean us  median  p99  p99.9  steps  violations");
    for restarts in [0, 10, 50] {
        let options = SearchOptions {
            restarts,
            ..thorough()
        };
        let mut solver = LevenbergMarquardt::new(options);
        let (mut report, mut at) = (IkReport::default(), arm.rest());
        let (mut times, mut reached, mut broken, mut steps) = (Vec::new(), 0_u64, 0, 0_u64);
        for n in 0..solves {
            let goals = [Goal::pose(7, reached_by(&arm, &draw(&arm, 1, n), 7))];
            at.copy_from(&draw(&arm, 2, n));
            let start = Instant::now();
            let status = solver.solve(&IkProblem::new(&arm, &goals), &mut at, &mut report);
            times.push(start.elapsed().as_secs_f64() * 1e6);
            reached += u64::from(status == IkStatus::Reached);
            steps += u64::from(report.iterations);
            broken += violations(&arm, &at);
        }
        times.sort_by(f64::total_cmp);
        let part = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        println!(
            "{restarts:8} {:10.3} {:8.1} {:7.1} {:4.0} {:6.0} {:6.1} {broken:11}",
            100.0 * reached as f64 / solves as f64,
            times.iter().sum::<f64>() / times.len() as f64,
            part(0.5),
            part(0.99),
            part(0.999),
            steps as f64 / solves as f64,
        );
    }
}

/// The same solves on one thread and on two, every eighth of a pose that most likely is out of reach.
fn reruns(c: &mut Criterion) {
    let _ = c;
    let Ok(arm) = arm() else { return };
    let options = SearchOptions {
        restarts: 10,
        ..thorough()
    };
    let mut batches = Vec::new();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let Ok(pool) = pool.build() else { return };
        batches.push((pool, IkBatch::new(options)));
    }
    let (mut solves, mut reached, mut unequal, mut broken, mut wild) = (0, 0, 0, 0, 0);
    while solves < solve_count() {
        let goals: Vec<_> = (solves..solves + 1000)
            .map(|n| {
                let mut target = reached_by(&arm, &draw(&arm, 3, n), 7);
                if n % 8 == 7 {
                    target.translation.vector *= 2.0;
                }
                [Goal::pose(7, target)]
            })
            .collect();
        let problems: Vec<_> = goals
            .iter()
            .map(|goals| IkProblem::new(&arm, goals))
            .collect();
        let starts: Vec<_> = (solves..solves + 1000).map(|n| draw(&arm, 4, n)).collect();
        let mut runs = batches.iter_mut().map(|(pool, batch)| {
            let mut at = starts.clone();
            let mut reports = vec![IkReport::default(); at.len()];
            pool.install(|| batch.solve(&problems, &mut at, &mut reports));
            (at, reports)
        });
        let (Some(once), Some(again)) = (runs.next(), runs.next()) else {
            return;
        };
        for ((at, report), (other, told)) in
            once.0.iter().zip(&once.1).zip(again.0.iter().zip(&again.1))
        {
            reached += u64::from(report.status == IkStatus::Reached);
            unequal += u64::from(at != other || report != told);
            broken += violations(&arm, at);
            wild += u64::from(!(at.is_finite() && report.cost.is_finite()));
        }
        solves += 1000;
    }
    println!(
        "{solves} solves on one thread and on two: {reached} reached, {unequal} differ, {broken} violations, {wild} not finite"
    );
}

/// Angles of the hinges.
fn angles(at: &Configuration) -> Vec<f64> {
    let angle = |value: &JointValue| match value {
        JointValue::Angle(angle) => Some(*angle),
        _ => None,
    };
    at.values().iter().filter_map(angle).collect()
}

/// The arm, its problems, and our times and answers with and without restarts.
fn for_peers(arm: &Mechanism) -> serde_json::Value {
    let origin = |joint: &MechanismJoint| joint.parent_from_joint.translation.vector;
    let hinges = arm.joints().iter().filter_map(|joint| {
        let JointLimitSpec::Hinge { axis, range } = joint.limit.spec() else {
            return None;
        };
        Some(json!({ "origin": origin(joint), "axis": axis, "range": range.map(f64::from) }))
    });
    let problems: Vec<_> = (0..500)
        .map(|n| (reached_by(arm, &draw(arm, 1, n), 7), draw(arm, 2, n)))
        .collect();
    let told = problems.iter().map(|(target, start)| {
        let (position, rotation) = (target.translation.vector, target.rotation.coords);
        json!({ "position": position, "rotation": rotation, "start": angles(start) })
    });
    let ours = [0, 20].map(|restarts| {
        let mut solver = LevenbergMarquardt::new(SearchOptions {
            restarts,
            ..thorough()
        });
        let (mut report, mut at) = (IkReport::default(), arm.rest());
        let (mut times, mut answers) = (Vec::new(), Vec::new());
        for (target, start) in &problems {
            let goals = [Goal::pose(7, *target)];
            at.copy_from(start);
            let start = Instant::now();
            solver.solve(&IkProblem::new(arm, &goals), &mut at, &mut report);
            times.push(start.elapsed().as_secs_f64() * 1e6);
            answers.push(angles(&at));
        }
        json!({ "restarts": restarts, "microseconds": times, "answers": answers })
    });
    json!({
        "joints": hinges.collect::<Vec<_>>(),
        "flange": origin(&arm.joints()[7]),
        "tolerance": 1e-5,
        "problems": told.collect::<Vec<_>>(),
        "ours": ours,
    })
}

fn peers(c: &mut Criterion) {
    let _ = c;
    let (Some(folder), Ok(arm)) = (std::env::var_os("ANIM_PEERS_OUT"), arm()) else {
        return;
    };
    let path = Path::new(&folder).join("arm7.json");
    if let Err(why) = std::fs::write(&path, for_peers(&arm).to_string()) {
        println!("{}: {why}", path.display());
    }
}

fn arm7(c: &mut Criterion) {
    let Ok(arm) = arm() else { return };
    let pairs: Vec<_> = (0..1000)
        .map(|n| {
            let target = reached_by(&arm, &draw(&arm, 1, n), 7);
            ([Goal::pose(7, target)], draw(&arm, 2, n))
        })
        .collect();
    let mut solver = LevenbergMarquardt::new(thorough());
    let (mut report, mut at, mut n) = (IkReport::default(), arm.rest(), 0);
    c.benchmark_group("anim-ik/arm7").bench_function("1", |b| {
        b.iter(|| {
            n = (n + 1) % pairs.len();
            let (goals, start) = black_box(&pairs[n]);
            at.copy_from(start);
            solver.solve(&IkProblem::new(&arm, goals), &mut at, &mut report)
        });
    });

    let problems: Vec<_> = pairs
        .iter()
        .map(|(goals, _)| IkProblem::new(&arm, goals))
        .collect();
    let starts: Vec<_> = pairs.iter().map(|(_, start)| start.clone()).collect();
    let mut configurations = starts.clone();
    let mut reports = vec![IkReport::default(); problems.len()];
    let mut batch = IkBatch::new(thorough());
    let mut group = c.benchmark_group("anim-ik/batch");
    group
        .throughput(Throughput::Elements(problems.len() as u64))
        .sample_size(20);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let Ok(pool) = pool.build() else { return };
        let id = BenchmarkId::new("1000", format!("{threads}_threads"));
        group.bench_function(id, |b| {
            pool.install(|| {
                b.iter(|| {
                    for (at, start) in configurations.iter_mut().zip(&starts) {
                        at.copy_from(start);
                    }
                    batch.solve(&problems, &mut configurations, &mut reports);
                });
            });
        });
    }
}

/// A frame of a motion in which every joint swings.
fn moving(body: &Mechanism, rest: &Configuration, frame: usize) -> Configuration {
    let time = frame as f64 / 60.0;
    let mut at = rest.clone();
    for (joint, value) in at.values_mut().iter_mut().enumerate() {
        let phase = joint as f64 * 1.7;
        let swing = |k: f64| 0.3 * (2.0 * time * (1.0 + 0.1 * k) + phase + k).sin();
        let turn = UnitQuaternion::new(Vector3::new(swing(0.0), swing(1.0), swing(2.0)));
        match value {
            JointValue::Rotation(rotation) => *rotation = turn,
            JointValue::Placement(placement) => {
                placement.rotation = turn;
                placement.translation.vector = Vector3::new(swing(3.0), 0.2 * swing(4.0), time);
            }
            _ => {}
        }
    }
    body.clamp(&mut at);
    at
}

fn full_body(c: &mut Criterion) {
    let Ok(body) = body() else { return };
    assert_eq!(body.dof(), 66, "6 of the root and 3 for each of 20 balls");
    let rest = body.rest();
    let frames: Vec<_> = (0..600)
        .map(|frame| {
            let at = moving(&body, &rest, frame);
            EFFECTORS.map(|joint| Goal::pose(joint, reached_by(&body, &at, joint)))
        })
        .collect();
    let mut solver = LevenbergMarquardt::default();
    let (mut at, mut report) = (moving(&body, &rest, 0), IkReport::default());
    let mut last = at.clone();
    let (mut reached, mut steps) = (0, 0);
    for goals in &frames {
        let posture = Some(Posture {
            target: &last,
            weight: 1e-3,
        });
        let problem = IkProblem {
            posture,
            ..IkProblem::new(&body, goals)
        };
        let status = solver.solve(&problem, &mut at, &mut report);
        reached += usize::from(status == IkStatus::Reached);
        steps += report.iterations;
        last.copy_from(&at);
    }
    let count = frames.len();
    println!(
        "full body: {reached} of {count} frames reached, {:.1} steps each",
        f64::from(steps) / count as f64
    );
    let mut n = 0;
    c.benchmark_group("anim-ik/full_body_66")
        .bench_function("5", |b| {
            b.iter(|| {
                // There and back, so that every frame follows its neighbour.
                n = (n + 1) % (2 * count - 2);
                let goals = black_box(&frames[n.min(2 * count - 2 - n)]);
                last.copy_from(&at);
                let posture = Some(Posture {
                    target: &last,
                    weight: 1e-3,
                });
                let problem = IkProblem {
                    posture,
                    ..IkProblem::new(&body, goals)
                };
                solver.solve(&problem, &mut at, &mut report)
            });
        });
}

criterion_group!(benches, table, reruns, peers, arm7, full_body);
criterion_main!(benches);
