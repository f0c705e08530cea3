//! FABRIK: forward and backward reaching, on places first and on rotations after.
//!
//! Backward, from the tips to the root, every joint is put a bone's length from where its child wants to be; forward, from the
//! root to the tips, every joint turns its bone toward the place it was given. Few passes, and long chains bend evenly. Use it
//! for tails, ropes, spines and bodies held at several points; with tight hinges a damped solver such as
//! [`LevenbergMarquardt`](crate::LevenbergMarquardt) gets further.
//!
//! Departures from the paper: the forward pass turns joints and places their children by forward kinematics, so bones keep
//! their length and joints their limits exactly, whatever the pass asked for. A bone turns from where the configuration that
//! was handed in has it by the shortest arc (parallel transport), never by a look-at with an up vector of its own, so it does
//! not twist; a joint with several chains below it turns as serves all of them best. Limits count in both passes: backward,
//! a joint's limit restricts how its parent may lie.
//!
//! Source: Aristidou and Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem", Graphical Models
//! 73(5), 2011; limits and several ends: Aristidou, Chrysanthou, Lasenby, "Extending FABRIK with model constraints",
//! Computer Animation and Virtual Worlds 27(1), 2016.
//!
//! ```
//! use anim_ik::{Fabrik, Goal, IkProblem, IkReport, IkSolver, IkStatus, Mechanism};
//! use anim_math::{Transform, Vec3};
//! use anim_math::nalgebra::Vector3;
//! use anim_skeleton::{JointSpec, Skeleton};
//!
//! let bone = |n: usize| JointSpec {
//!     name: None,
//!     parent: n.checked_sub(1),
//!     rest: Transform::from_translation(Vec3::y() * 0.25),
//! };
//! let skeleton = Skeleton::new((0..9).map(bone).collect())?;
//! let mechanism = Mechanism::from_skeleton(&skeleton, &[], None)?;
//! let goals = [Goal::position(8, Vector3::new(0.8, 1.0, 0.3))];
//! let (mut configuration, mut report) = (mechanism.rest(), IkReport::default());
//! let problem = IkProblem::new(&mechanism, &goals);
//! assert_eq!(Fabrik::new(30).solve(&problem, &mut configuration, &mut report), IkStatus::Reached);
//! let mut pose = skeleton.rest().clone();
//! mechanism.write(&configuration, &mut pose);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};

use crate::ccd::{joint_of, nudge, position_of, rotation_of, zigzag};
use crate::correlation::Correlation;
use crate::descent::Descent;
use crate::joint_model::JointModel;
use crate::stride::Stride;
use crate::{Configuration, IkProblem, IkReport, IkSolver, IkStatus, JointValue, lie};

/// FABRIK for position, orientation and pose goals; it does not work toward others, but reports them.
///
/// [`IkProblem::stiffness`] holds joints back, 1 locks them; postures, masses and obstacles are not heeded. Slides stay, and
/// free joints turn and keep their place. Hand in the rest pose, or the animated one, each frame, for a twist that does not
/// depend on the frames before.
#[derive(Clone, Debug)]
pub struct Fabrik {
    /// Pairs of passes at most.
    pub max_iterations: u32,
    work: Descent,
    stride: Stride,
    /// The configuration that was handed in, within limits.
    start: Vec<JointValue>,
    reaches: Vec<Reach>,
    /// `model_from_joint` while the forward pass goes on.
    placed: Vec<Isometry3<f64>>,
}

/// Passes without a better result after which it gives up.
const PATIENCE: u32 = 12;

/// What the backward pass wants of one joint.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    /// Whether a goal hangs on it.
    is_active: bool,
    /// Its origin: Σ w place and Σ w, then their quotient.
    place: Vector3<f64>,
    weight: f64,
    /// Its rotation, if one goal or one child alone decides.
    rotation: Option<UnitQuaternion<f64>>,
    /// Whether a goal says how it is turned.
    is_held: bool,
    /// Chains and goals that pull at it.
    pulls: u32,
    /// Σ w u vᵀ and Σ w u over what hangs on it: u in its own frame, v where that should be.
    pairs: Correlation,
    levers: Vector3<f64>,
}

impl Reach {
    fn propose(&mut self, place: Vector3<f64>, rotation: UnitQuaternion<f64>, weight: f64) {
        self.place += place * weight;
        self.weight += weight;
        self.rotation =
            (self.pulls == 0 || self.is_held).then(|| self.rotation.unwrap_or(rotation));
        self.pulls += 1;
    }

    fn hang(&mut self, lever: Vector3<f64>, place: Vector3<f64>, weight: f64) {
        self.pairs.add(lever, place, weight);
        self.levers += lever * weight;
    }
}

impl Fabrik {
    /// A solver of at most `max_iterations` pairs of passes.
    pub fn new(max_iterations: u32) -> Self {
        Self {
            max_iterations,
            work: Descent::default(),
            stride: Stride::default(),
            start: Vec::new(),
            reaches: Vec::new(),
            placed: Vec::new(),
        }
    }

    fn run(&mut self, problem: &IkProblem<'_>) -> IkStatus {
        self.stride.reset();
        self.start.clear();
        self.start.extend_from_slice(self.work.current.values());
        if self.stretch_out(problem) {
            self.work.iterations += 1;
            return IkStatus::Infeasible;
        }
        let (mut since_best, mut is_nudged) = (0, false);
        for _ in 0..self.max_iterations {
            if self.work.is_reached(problem) {
                return IkStatus::Reached;
            }
            let before = self.work.best_cost;
            self.stride.begin(&self.work);
            self.backward(problem);
            self.forward(problem);
            self.work.evaluate(problem);
            self.stride.go_on(problem, &mut self.work);
            self.work.iterations += 1;
            if self.work.best_cost < before * (1.0 - 1e-6) {
                since_best = 0;
                continue;
            }
            since_best += 1;
            if since_best > PATIENCE {
                return IkStatus::Stalled;
            }
            if !is_nudged {
                is_nudged = true;
                nudge(problem, &mut self.work.current, zigzag);
                self.work.evaluate(problem);
            }
        }
        if self.work.is_reached(problem) {
            IkStatus::Reached
        } else {
            IkStatus::IterationLimit
        }
    }

    /// A chain of free balls whose one target is out of reach points at it, exactly; true if it is such a chain.
    fn stretch_out(&mut self, problem: &IkProblem<'_>) -> bool {
        let mechanism = problem.mechanism;
        let [goal] = problem.goals else { return false };
        let Some(end) = joint_of(&goal.kind) else {
            return false;
        };
        let Some(frames) = self.work.system.jacobian.rows.frames.take() else {
            return false;
        };
        let at = |joint: usize| frames.get(joint).translation.vector;
        let wanted = position_of(goal, frames.get(end));
        let is_plain = |target: &Vector3<f64>| {
            let is_origin = wanted.is_some_and(|(point, ..)| (point - at(end)).norm() < 1e-12);
            is_origin
                && rotation_of(goal, frames.get(end)).is_none()
                && target.iter().all(|v| v.is_finite())
        };
        let target = wanted.map(|(_, target, _)| target).filter(is_plain);
        let is_free = |joint: usize| {
            let is_stiff = problem.stiffness.get(joint).is_some_and(|s| *s > 0.0);
            let model = &mechanism.models()[joint];
            matches!(model, JointModel::FreeBall | JointModel::Free) && !is_stiff
        };
        let length = |joint: usize| {
            let parent = mechanism.parent(joint);
            parent.map_or(0.0, |parent| (at(joint) - at(parent)).norm())
        };
        let root = mechanism.ancestry(end).last().unwrap_or(end);
        let whole: f64 = mechanism.ancestry(end).map(length).sum();
        let way = target.map(|target| target - at(root));
        let is_far = way.is_some_and(|way| way.norm() >= whole && whole > 0.0);
        let are_free = mechanism.ancestry(end).skip(1).all(is_free);
        if let (true, true, Some(way)) = (is_far, are_free, way) {
            self.reaches.clear();
            self.reaches.resize(mechanism.len(), Reach::default());
            let line = way.normalize();
            let mut left = whole;
            for joint in mechanism.ancestry(end) {
                let place = at(root) + line * left;
                self.reaches[joint].is_active = true;
                self.reaches[joint].place = place;
                left -= length(joint);
                if let Some(parent) = mechanism.parent(joint) {
                    let lever = frames
                        .get(parent)
                        .inverse_transform_point(&at(joint).into());
                    self.reaches[parent].hang(lever.coords, place, 1.0);
                }
            }
            self.work.system.jacobian.rows.frames = Some(frames);
            self.forward(problem);
            self.work.evaluate(problem);
            return !self.work.is_reached(problem);
        }
        self.work.system.jacobian.rows.frames = Some(frames);
        false
    }

    /// From the tips to the roots: where every joint should be.
    fn backward(&mut self, problem: &IkProblem<'_>) {
        let mechanism = problem.mechanism;
        let Some(frames) = self.work.system.jacobian.rows.frames.as_ref() else {
            return;
        };
        self.reaches.clear();
        self.reaches.resize(mechanism.len(), Reach::default());
        for goal in problem.goals {
            let Some(joint) = joint_of(&goal.kind) else {
                continue;
            };
            let (frame, reach) = (frames.get(joint), &mut self.reaches[joint]);
            let held = rotation_of(goal, frame);
            let rotation = held.map_or(frame.rotation, |(now, target, _)| {
                target * now.inverse() * frame.rotation
            });
            reach.is_active |= held.is_some();
            if held.is_some() {
                reach.rotation = Some(rotation);
                reach.is_held = true;
            }
            if let Some((at, target, weight)) = position_of(goal, frame) {
                let lever = frame.inverse_transform_point(&at.into()).coords;
                let now = rotation * lever;
                let turn = match held {
                    Some(_) => UnitQuaternion::identity(),
                    None => shortest(now, target - frame.translation.vector),
                };
                reach.is_active = true;
                reach.hang(lever, target, weight);
                reach.propose(target - turn * now, turn * rotation, weight);
            }
        }
        for joint in (0..mechanism.len()).rev() {
            let mut reach = self.reaches[joint];
            if !reach.is_active {
                continue;
            }
            let frame = frames.get(joint);
            reach.place = if reach.weight > 0.0 {
                reach.place / reach.weight
            } else {
                frame.translation.vector
            };
            let rotation = reach.rotation.unwrap_or_else(|| {
                let pairs = reach
                    .pairs
                    .carried(&frame.rotation, reach.levers, reach.place);
                pairs.best_rotation() * frame.rotation
            });
            self.reaches[joint] = reach;
            let Some(parent) = mechanism.parent(joint) else {
                continue;
            };
            // The parent turns its bone to where this joint should be, and no further than this joint's limit allows.
            let above = frames.get(parent);
            let model = &mechanism.models()[joint];
            let rest = mechanism.joints()[joint].parent_from_joint;
            let motion = model.motion(&self.work.current.values()[joint]);
            let lever = (rest * motion).translation.vector;
            let now = above.rotation * lever;
            let turned = shortest(now, reach.place - above.translation.vector) * above.rotation;
            let mut wanted = motion;
            wanted.rotation = (turned * rest.rotation).inverse() * rotation;
            let allowed = model.motion(&model.clamp(&model.value(&wanted))).rotation;
            let turned = match model {
                JointModel::FreeBall | JointModel::Free => turned,
                _ => lie::normalized(
                    (rotation * allowed.inverse() * rest.rotation.inverse()).into_inner(),
                ),
            };
            let parent = &mut self.reaches[parent];
            parent.is_active = true;
            parent.hang(lever, reach.place, 1.0);
            parent.propose(reach.place - turned * lever, turned, 1.0);
        }
    }

    /// From the roots to the tips: turns every joint toward what hangs on it, starting where it started.
    fn forward(&mut self, problem: &IkProblem<'_>) {
        let mechanism = problem.mechanism;
        self.placed.clear();
        let base = self.work.current.base;
        for (joint, spec) in mechanism.joints().iter().enumerate() {
            let rest =
                spec.parent.map_or(base, |parent| self.placed[parent]) * spec.parent_from_joint;
            let (model, start) = (&mechanism.models()[joint], self.start[joint]);
            let reach = &self.reaches[joint];
            let mut value = start;
            if reach.is_active {
                let frame = rest * model.motion(&start);
                let at = frame.translation.vector;
                let mut pairs = reach.pairs.carried(&frame.rotation, reach.levers, at);
                if let Some(rotation) = reach.rotation.filter(|_| reach.is_held) {
                    // A goal's word counts more than what hangs on the joint.
                    pairs.add_rotation(&frame.rotation, &rotation, 1e3);
                }
                let share = 1.0 - problem.stiffness.get(joint).copied().unwrap_or(0.0);
                value = pairs.improve(model, &start, &frame.rotation, |angle| angle * share);
            }
            self.work.current.values_mut()[joint] = value;
            self.placed.push(rest * model.motion(&value));
        }
    }
}

impl IkSolver for Fabrik {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let status = self.run(problem);
        self.work.finish(problem, status, configuration, report)
    }
}

/// The shortest arc from one direction to another; none if either has no length.
fn shortest(from: Vector3<f64>, to: Vector3<f64>) -> UnitQuaternion<f64> {
    let mut pair = Correlation::default();
    pair.add(from, to, 1.0);
    pair.best_rotation()
}
