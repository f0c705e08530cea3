//! All solvers of inverse kinematics on the same problems: `cargo run --release --example compare_ik_solvers -- ik.png`.
//!
//! First an arm of two bones whose joints turn at will, 1000 targets within reach, from a bent rest pose; then an arm of seven
//! hinges with limits, 1000 whole poses it can reach, from poses drawn at random. Then a target that moves on a knot for 600
//! frames, each solved from the frame before. Prints the tables of docs/ik.md and draws the errors of the moving target.
#![allow(
    clippy::print_stdout,
    reason = "an example shows its result where it is run"
)]

use std::time::Instant;

use anim_engine::ik::{
    Ccd, Configuration, DampedLeastSquares, Fabrik, Frames, GaussNewton, Goal, Gradient, IkProblem,
    IkReport, IkSolver, LevenbergMarquardt, Mechanism, MechanismJoint, SearchOptions, TwoBone,
    TwoBoneGoal,
};
use anim_engine::math::nalgebra::{Isometry3, Vector3};
use anim_engine::math::random::Random;
use anim_engine::math::{Transform, Vec3};
use anim_engine::skeleton::{Globals, JointLimit, JointLimitSpec, JointSpec, Skeleton};
use anim_view::plot::{Plot, Series};

type Error = Box<dyn std::error::Error>;

const PROBLEMS: u32 = 1000;
const FRAMES: u32 = 600;
/// A problem is solved within this, m and rad.
const TOLERANCE: f64 = 1e-4;

fn main() -> Result<(), Error> {
    let mut numeric: Vec<(&str, Box<dyn IkSolver>)> = vec![
        ("CCD", Box::new(Ccd::new(100))),
        ("FABRIK", Box::new(Fabrik::new(100))),
        ("gradient", Box::new(Gradient::new(100))),
        (
            "damped least squares",
            Box::new(DampedLeastSquares::new(100, 0.1)),
        ),
        ("Gauss-Newton", Box::new(GaussNewton::new(100))),
        ("Levenberg-Marquardt", Box::new(lm(0))),
        ("Levenberg-Marquardt, 50 restarts", Box::new(lm(50))),
    ];
    println!("Two bones, 0.3 m each, position of the wrist:\n");
    heading("mm", true);
    let limb = Limb::new()?;
    let mut curves = vec![("two-bone".to_owned(), limb.two_bone())];
    for (name, solver) in &mut numeric {
        curves.push(((*name).to_owned(), limb.numeric(name, solver.as_mut())));
    }
    println!("\nSeven hinges with limits, place and rotation of the flange:\n");
    heading("mm or mrad", false);
    let arm = hinges()?;
    let mut stubborn = Ccd::new(100);
    stubborn.restarts = 50;
    numeric.push(("CCD, 50 restarts", Box::new(stubborn)));
    for (name, solver) in &mut numeric {
        whole_poses(&arm, name, solver.as_mut());
    }
    if let Some(path) = std::env::args().nth(1) {
        let colors = [
            [0.02, 0.02, 0.02],
            [0.75, 0.25, 0.05],
            [0.85, 0.55, 0.05],
            [0.45, 0.1, 0.5],
            [0.1, 0.45, 0.15],
            [0.1, 0.5, 0.6],
            [0.1, 0.2, 0.7],
        ];
        let curves = &curves[..7];
        let series: Vec<Series<'_>> = curves
            .iter()
            .zip(colors)
            .map(|((label, points), color)| Series {
                label,
                points,
                color,
            })
            .collect();
        let picture = Plot {
            title: "Largest turn of a joint from frame to frame",
            x_label: "frame",
            y_label: "degrees",
            series: &series,
        }
        .draw(1100, 560)?;
        std::fs::write(path, picture.to_png())?;
    }
    Ok(())
}

fn lm(restarts: u32) -> LevenbergMarquardt {
    LevenbergMarquardt::new(SearchOptions {
        restarts,
        ..SearchOptions::default()
    })
}

/// * `unit`: of errors, thousandths. * `moves`: whether a moving target has its columns.
fn heading(unit: &str, moves: bool) {
    let own =
        format!("| solver | solved | median error, {unit} | worst error, {unit} | mean time, µs |");
    let moving = " moving target: mean error, mm | largest turn a frame, degrees |";
    println!("{own}{}", if moves { moving } else { "" });
    println!(
        "|---|---|---|---|---|{}",
        if moves { "---|---|" } else { "" }
    );
}

/// One line of a table.
fn line(name: &str, mut errors: Vec<f64>, seconds: f64, moving: Option<(f64, f64)>) {
    let solved = errors.iter().filter(|error| **error <= TOLERANCE).count();
    errors.sort_by(f64::total_cmp);
    let [median, worst] = [errors.len() / 2, errors.len() - 1].map(|place| errors[place] * 1e3);
    let solved = 100.0 * solved as f64 / errors.len() as f64;
    let micros = seconds * 1e6 / errors.len() as f64;
    let moving = moving.map_or(String::new(), |(error, turn)| {
        format!(" {:.4} | {turn:.2} |", error * 1e3)
    });
    println!("| {name} | {solved:.1} % | {median:.4} | {worst:.2} | {micros:.1} |{moving}");
}

/// Shoulder, elbow and wrist, as a skeleton and as a mechanism.
struct Limb {
    skeleton: Skeleton,
    mechanism: Mechanism,
    targets: Vec<Vector3<f64>>,
    path: Vec<Vector3<f64>>,
}

impl Limb {
    fn new() -> Result<Self, Error> {
        let joint = |parent, at: [f32; 3]| JointSpec {
            name: None,
            parent,
            rest: Transform::from_translation(Vec3::from(at)),
        };
        let bent = [0.24, 0.18];
        let skeleton = Skeleton::new(vec![
            joint(None, [0.0; 3]),
            joint(Some(0), [bent[0], bent[1], 0.0]),
            joint(Some(1), [bent[0], -bent[1], 0.0]),
        ])?;
        // The shoulder turns and stays.
        let turns = JointLimitSpec::Ball {
            axis: Vec3::x(),
            swing: anim_engine::skeleton::Swing::Cone {
                angle: std::f32::consts::PI,
            },
            twist: [-std::f32::consts::PI, std::f32::consts::PI],
        };
        let limits = [JointLimit::new(turns)?; 3];
        let mechanism = Mechanism::from_skeleton(&skeleton, &limits, None)?;
        let target = |n: u32| {
            let way = Random::new(7, 0, n).in_ball();
            // From a twelfth of the limb's length to all but a fiftieth.
            let far = 0.05 + 0.54 * way.norm();
            (way.normalize() * far).cast::<f64>()
        };
        let knot = |frame: u32| {
            let t = f64::from(frame) / f64::from(FRAMES) * std::f64::consts::TAU;
            let wave = |rate: f64, phase: f64| (rate * t + phase).sin();
            Vector3::new(
                0.25 + 0.1 * wave(2.0, 0.0),
                0.3 * wave(3.0, 0.5),
                0.3 * wave(1.0, 0.0),
            )
        };
        Ok(Self {
            skeleton,
            mechanism,
            targets: (0..PROBLEMS).map(target).collect(),
            path: (0..=FRAMES).map(knot).collect(),
        })
    }

    fn two_bone(&self) -> Vec<[f32; 2]> {
        let Ok(limb) = TwoBone::new(&self.skeleton, self.skeleton.joint(2)) else {
            return Vec::new();
        };
        let mut globals = Globals::new(&self.skeleton);
        let (mut seconds, mut errors) = (0.0, Vec::new());
        for target in &self.targets {
            let mut pose = self.skeleton.rest().clone();
            self.skeleton.globals(&pose, &mut globals);
            let goal = TwoBoneGoal::new(target.cast());
            let start = Instant::now();
            limb.solve(&self.skeleton, &goal, &mut pose, &mut globals);
            seconds += start.elapsed().as_secs_f64();
            let at = globals.get(limb.end).translation.cast::<f64>();
            errors.push((at - target).norm());
        }
        let mut pose = self.skeleton.rest().clone();
        let mut at = self.mechanism.rest();
        let mut motion = Motion::new(&self.mechanism);
        for target in &self.path {
            self.skeleton.globals(&pose, &mut globals);
            limb.solve(
                &self.skeleton,
                &TwoBoneGoal::new(target.cast()),
                &mut pose,
                &mut globals,
            );
            self.mechanism.read(&pose, &mut at);
            motion.add(&self.mechanism, &at, target);
        }
        line(
            "two-bone, closed form",
            errors,
            seconds,
            Some(motion.figures()),
        );
        motion.turns
    }

    fn numeric(&self, name: &str, solver: &mut dyn IkSolver) -> Vec<[f32; 2]> {
        let mut report = IkReport::default();
        let (mut seconds, mut errors) = (0.0, Vec::new());
        let mut frames = Frames::new(&self.mechanism);
        for target in &self.targets {
            let goals = [Goal {
                tolerance: 1e-5,
                ..Goal::position(2, *target)
            }];
            let mut at = self.mechanism.rest();
            let start = Instant::now();
            solver.solve(
                &IkProblem::new(&self.mechanism, &goals),
                &mut at,
                &mut report,
            );
            seconds += start.elapsed().as_secs_f64();
            self.mechanism.forward(&at, &mut frames);
            errors.push((frames.get(2).translation.vector - target).norm());
        }
        let mut at = self.mechanism.rest();
        let mut motion = Motion::new(&self.mechanism);
        for target in &self.path {
            let goals = [Goal {
                tolerance: 1e-5,
                ..Goal::position(2, *target)
            }];
            solver.solve(
                &IkProblem::new(&self.mechanism, &goals),
                &mut at,
                &mut report,
            );
            motion.add(&self.mechanism, &at, target);
        }
        line(name, errors, seconds, Some(motion.figures()));
        motion.turns
    }
}

/// What a limb does on the way along the path.
struct Motion {
    last: Option<Configuration>,
    step: Vec<f64>,
    frames: Frames,
    errors: Vec<f64>,
    /// Frame and degrees.
    turns: Vec<[f32; 2]>,
}

impl Motion {
    fn new(mechanism: &Mechanism) -> Self {
        Self {
            last: None,
            step: vec![0.0; mechanism.dof()],
            frames: Frames::new(mechanism),
            errors: Vec::new(),
            turns: Vec::new(),
        }
    }

    fn add(&mut self, mechanism: &Mechanism, at: &Configuration, target: &Vector3<f64>) {
        mechanism.forward(at, &mut self.frames);
        self.errors
            .push((self.frames.get(2).translation.vector - target).norm());
        if let Some(last) = &self.last {
            last.difference(mechanism, at, &mut self.step);
            let turns = self
                .step
                .chunks(3)
                .map(|turn| Vector3::from_row_slice(turn).norm());
            let most = turns.fold(0.0, f64::max).to_degrees();
            // The first frames lead from rest to the path.
            if self.errors.len() > 3 {
                self.turns.push([self.errors.len() as f32, most as f32]);
            }
        }
        self.last = Some(at.clone());
    }

    /// Mean error, m, and largest turn, degrees.
    fn figures(&self) -> (f64, f64) {
        let mean = self.errors.iter().sum::<f64>() / self.errors.len() as f64;
        let most = self.turns.iter().map(|[_, turn]| *turn).fold(0.0, f32::max);
        (mean, f64::from(most))
    }
}

/// Shoulder, elbow, wrist and flange 0.36, 0.42, 0.40 and 0.126 m apart, with the limits of a common industrial arm.
fn hinges() -> Result<Mechanism, Error> {
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

fn whole_poses(arm: &Mechanism, name: &str, solver: &mut dyn IkSolver) {
    let draw = |seed: u64, n: u32| {
        let mut drawn = arm.rest();
        arm.randomize(&mut Random::new(seed, 0, n), &mut drawn);
        drawn
    };
    let mut report = IkReport::default();
    let mut frames = Frames::new(arm);
    let (mut seconds, mut errors) = (0.0, Vec::new());
    for n in 0..PROBLEMS {
        arm.forward(&draw(1, n), &mut frames);
        let target = *frames.get(7);
        let goals = [Goal {
            tolerance: 1e-5,
            ..Goal::pose(7, target)
        }];
        let mut at = draw(2, n);
        let start = Instant::now();
        solver.solve(&IkProblem::new(arm, &goals), &mut at, &mut report);
        seconds += start.elapsed().as_secs_f64();
        arm.forward(&at, &mut frames);
        let off = target.translation.vector - frames.get(7).translation.vector;
        let turned = target.rotation.angle_to(&frames.get(7).rotation);
        errors.push(off.norm().max(turned));
    }
    line(name, errors, seconds, None);
}
