//! One question of `anim ik` put to any solver, and what is left of each goal measured on the pose that came out.

use std::f32::consts::PI;

use anim_engine::ik::{
    Ccd, DampedLeastSquares, Fabrik, Goal, GoalKind, Gradient, IkProblem, IkReport, IkSolver,
    IkStatus, LevenbergMarquardt, Mechanism, Posture, SearchOptions, TwoBoneGoal,
};
use anim_engine::math::nalgebra::{Quaternion, UnitQuaternion};
use anim_engine::math::{Quat, Vec3, quat};
use anim_engine::skeleton::{Globals, JointId, JointLimit, JointLimitSpec, Pose, Skeleton, Swing};

use crate::ik::limb;
use crate::output::Failure;

/// The solvers by the names of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Solver {
    /// Levenberg-Marquardt: any goals, exact.
    Lm,
    /// Cyclic coordinate descent.
    Ccd,
    /// Forward and backward reaching.
    Fabrik,
    /// Closed form for one limb a goal.
    TwoBone,
    /// Damped least squares.
    Dls,
    /// Steepest descent.
    Gradient,
}

impl Solver {
    /// As on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lm => "lm",
            Self::Ccd => "ccd",
            Self::Fabrik => "fabrik",
            Self::TwoBone => "two-bone",
            Self::Dls => "dls",
            Self::Gradient => "gradient",
        }
    }
}

/// What is asked of one node, model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) joint: JointId,
    pub(crate) position: Option<Vec3>,
    pub(crate) rotation: Option<Quat>,
}

/// All that a solve depends on but the pose it starts from.
pub(crate) struct Question<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) asks: Vec<Ask>,
    pub(crate) chain: Option<(JointId, JointId)>,
    /// One a joint, by [`JointId::index`].
    pub(crate) limits: Vec<JointLimit>,
    pub(crate) pole: Option<Vec3>,
    /// The highest joint that may turn for a goal, where there is no chain.
    pub(crate) top: &'a dyn Fn(JointId) -> JointId,
    pub(crate) free_root: bool,
    pub(crate) tolerance: f32,
    pub(crate) iterations: u32,
    pub(crate) restarts: u32,
    pub(crate) seed: u64,
}

/// What is left of a goal; `None` where nothing was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) metres: Option<f64>,
    pub(crate) radians: Option<f64>,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Solved {
    pub(crate) is_met: bool,
    pub(crate) status: &'static str,
    pub(crate) iterations: u32,
    /// Nodes.
    pub(crate) limits_hit: Vec<usize>,
    /// One a goal.
    pub(crate) residuals: Vec<Left>,
}

/// Solves from `pose` and leaves the answer there.
pub(crate) fn solve(
    solver: Solver,
    question: &Question<'_>,
    pose: &mut Pose,
) -> Result<Solved, Failure> {
    let (status, iterations, limits_hit) = match solver {
        Solver::TwoBone => two_bone(question, pose)?,
        _ => numeric(solver, question, pose)?,
    };
    let mut globals = Globals::new(question.skeleton);
    question.skeleton.globals(pose, &mut globals);
    let residuals: Vec<Left> = question
        .asks
        .iter()
        .map(|ask| left(ask, &globals))
        .collect();
    let tolerance = f64::from(question.tolerance);
    let is_met = residuals
        .iter()
        .flat_map(|left| [left.metres, left.radians])
        .flatten()
        .all(|left| left <= tolerance);
    let status = match status {
        _ if is_met => "reached",
        // Met as solved, not as stored in single precision.
        IkStatus::Reached | IkStatus::Stalled => "stalled",
        IkStatus::IterationLimit => "iteration_limit",
        _ => "infeasible",
    };
    Ok(Solved {
        is_met,
        status,
        iterations,
        limits_hit,
        residuals,
    })
}

fn left(ask: &Ask, globals: &Globals) -> Left {
    let at = globals.get(ask.joint);
    let metres = ask
        .position
        .map(|wanted| f64::from((at.translation - wanted).norm()));
    let turned = |wanted| f64::from(quat::angle_between(at.to_transform().rotation, wanted));
    Left {
        metres,
        radians: ask.rotation.map(turned),
    }
}

type Ended = (IkStatus, u32, Vec<usize>);

/// Goals in order, each with a limb of its own.
fn two_bone(question: &Question<'_>, pose: &mut Pose) -> Result<Ended, Failure> {
    let skeleton = question.skeleton;
    let mut globals = Globals::new(skeleton);
    skeleton.globals(pose, &mut globals);
    if question
        .limits
        .iter()
        .any(|limit| *limit != JointLimit::FREE)
    {
        let message = "two-bone knows none; lm, ccd, fabrik, dls and gradient do";
        return Err(Failure::option("--limits", message));
    }
    let mut iterations = 0;
    for ask in &question.asks {
        let source = skeleton.source(ask.joint);
        let Some(target) = ask.position else {
            let message = format!("two-bone needs a --goal for #{source}");
            return Err(Failure::option("--orient", message));
        };
        if let Some((_, end)) = question.chain.filter(|(_, end)| *end != ask.joint) {
            let end = skeleton.source(end);
            let message = format!("two-bone brings #{end}, the end, to a goal, not #{source}");
            return Err(Failure::option("--chain", message));
        }
        let goal = TwoBoneGoal {
            rotation: ask.rotation,
            pole: question.pole,
            ..TwoBoneGoal::new(target)
        };
        let limb = limb(skeleton, question.chain, ask.joint)?;
        iterations += limb.solve(skeleton, &goal, pose, &mut globals).iterations;
    }
    Ok((IkStatus::Infeasible, iterations, Vec::new()))
}

fn numeric(solver: Solver, question: &Question<'_>, pose: &mut Pose) -> Result<Ended, Failure> {
    let skeleton = question.skeleton;
    let tops: Vec<JointId> = question
        .asks
        .iter()
        .map(|ask| top(question, ask.joint))
        .collect();
    let is_common = tops.iter().all(|top| *top == tops[0]);
    let root = is_common.then_some(tops[0]);
    let mut limits = question.limits.clone();
    if !question.free_root {
        let is_free = |joint: &JointId| question.limits[joint.index()] == JointLimit::FREE;
        let turns_only = |joint: &JointId| root.is_none_or(|root| root == *joint) && is_free(joint);
        for joint in skeleton.joints().filter(turns_only) {
            limits[joint.index()] = any_turn()?;
        }
    }
    let refused = |error| Failure::option("--chain", error);
    let mut mechanism = Mechanism::from_skeleton(skeleton, &limits, root).map_err(refused)?;
    mechanism.fit(pose);
    let mut at = mechanism.rest();
    mechanism.read(pose, &mut at);
    let start = at.clone();
    let (goals, stiffness) = (
        goals(solver, question, &mechanism)?,
        stiffness(question, &mechanism),
    );
    let posture = Posture {
        target: &start,
        weight: 1e-3,
    };
    let problem = IkProblem {
        posture: (solver == Solver::Lm).then_some(posture),
        stiffness: &stiffness,
        ..IkProblem::new(&mechanism, &goals)
    };
    problem
        .check()
        .map_err(|error| Failure::option("--goal", error))?;
    let mut report = IkReport::default();
    let iterations = question.iterations;
    let search = SearchOptions {
        max_iterations: iterations,
        restarts: question.restarts,
        seed: question.seed,
        ..SearchOptions::default()
    };
    let mut solver: Box<dyn IkSolver> = match solver {
        Solver::Ccd => {
            let mut ccd = Ccd::new(iterations);
            (ccd.restarts, ccd.seed) = (question.restarts, question.seed);
            Box::new(ccd)
        }
        Solver::Fabrik => Box::new(Fabrik::new(iterations)),
        Solver::Dls => Box::new(DampedLeastSquares::new(iterations, 0.1)),
        Solver::Gradient => Box::new(Gradient::new(iterations)),
        Solver::Lm | Solver::TwoBone => Box::new(LevenbergMarquardt::new(search)),
    };
    let status = solver.solve(&problem, &mut at, &mut report);
    // Where the way is flat, steps run out before the last digit: what is left has nowhere to go either way.
    let status = match status {
        IkStatus::IterationLimit if report.gradient <= FLAT => IkStatus::Infeasible,
        other => other,
    };
    write_changed(&mechanism, &stiffness, &at, pose);
    let hit = report
        .limits_hit
        .iter()
        .filter_map(|joint| mechanism.skeleton_joint(*joint));
    let limits_hit = hit.map(|joint| skeleton.source(joint)).collect();
    Ok((status, report.iterations, limits_hit))
}

/// What may not move keeps its bits.
fn write_changed(
    mechanism: &Mechanism,
    stiffness: &[f64],
    at: &anim_engine::ik::Configuration,
    pose: &mut Pose,
) {
    let before = pose.clone();
    mechanism.write(at, pose);
    for (joint, stiffness) in stiffness.iter().enumerate() {
        if let Some(id) = mechanism
            .skeleton_joint(joint)
            .filter(|_| *stiffness >= 1.0)
        {
            pose.set(id, before.get(id));
        }
    }
}

/// The highest joint that turns for a goal at `joint`.
fn top(question: &Question<'_>, joint: JointId) -> JointId {
    question
        .chain
        .map_or_else(|| (question.top)(joint), |(root, _)| root)
}

/// A gradient of the cost, m, along which nothing that matters is to be gained.
const FLAT: f64 = 1e-5;

/// 0 for what may move, 1 for all else.
fn stiffness(question: &Question<'_>, mechanism: &Mechanism) -> Vec<f64> {
    let mut stiffness = vec![1.0; mechanism.len()];
    let mut free = |top: JointId, end: JointId| {
        let (top, end) = (mechanism.joint_of(top), mechanism.joint_of(end));
        for joint in end.into_iter().flat_map(|end| mechanism.ancestry(end)) {
            stiffness[joint] = 0.0;
            if Some(joint) == top {
                break;
            }
        }
    };
    match question.chain {
        Some((root, end)) => free(root, end),
        None => question
            .asks
            .iter()
            .for_each(|ask| free(top(question, ask.joint), ask.joint)),
    }
    stiffness
}

fn goals(
    solver: Solver,
    question: &Question<'_>,
    mechanism: &Mechanism,
) -> Result<Vec<Goal>, Failure> {
    // A tenth leaves room for what is stored in single precision.
    let tolerance = f64::from(question.tolerance) * 0.1;
    let mut goals = Vec::new();
    for ask in &question.asks {
        let Some(joint) = mechanism.joint_of(ask.joint) else {
            let node = question.skeleton.source(ask.joint);
            let message = format!("#{node} is not below the root of the chain");
            return Err(Failure::option("--chain", message));
        };
        if let Some(position) = ask.position {
            goals.push(Goal {
                tolerance,
                ..Goal::position(joint, position.cast())
            });
        }
        if let Some(rotation) = ask.rotation {
            let wide: Quaternion<f64> = rotation.into_inner().cast();
            let wide = UnitQuaternion::new_normalize(wide);
            goals.push(Goal {
                tolerance,
                ..Goal::orientation(joint, wide)
            });
        }
        if let Some(pole) = question.pole {
            if matches!(solver, Solver::Ccd | Solver::Fabrik) {
                let message =
                    "ccd and fabrik bend toward no pole; lm, dls, gradient and two-bone do";
                return Err(Failure::option("--pole", message));
            }
            let limb = limb(question.skeleton, question.chain, ask.joint)?;
            let joints = [limb.root, limb.mid, limb.end].map(|joint| mechanism.joint_of(joint));
            let [Some(root), Some(mid), Some(end)] = joints else {
                return Err(Failure::option(
                    "--pole",
                    "the limb it bends is not below the root",
                ));
            };
            let toward = pole.cast();
            let pole = GoalKind::Pole {
                limb: [root, mid, end],
                toward,
            };
            // How a limb bends is no reason to miss.
            goals.push(Goal {
                tolerance: f64::INFINITY,
                ..Goal::new(pole)
            });
        }
    }
    Ok(goals)
}

/// A joint that stays where it is and turns at will.
fn any_turn() -> Result<JointLimit, Failure> {
    let spec = JointLimitSpec::Ball {
        axis: Vec3::y(),
        swing: Swing::Cone { angle: PI },
        twist: [-PI, PI],
    };
    JointLimit::new(spec).map_err(|error| Failure::option("--chain", error))
}
