//! Cyclic coordinate descent: each joint in turn, from the root to the tips, does the best it can alone.
//!
//! For a hinge the best angle has a closed form, for a ball it is the shortest arc, and either is clamped to the joint's
//! limits at once: every pass is cheap, every step lowers the error, and limits hold throughout. It converges fast far from
//! the goal and slowly near it. The usual way is from tip to root, which curls the tip up before the root has moved; from
//! the root on, with small steps and a share that is less toward the tip, the whole chain bends, and a chain of ten balls is
//! there in fifteen passes 99 times of 100 instead of 91. Where a joint at its limit, or a hinge that no turn of its own brings
//! nearer, stands in the way of all the others, it stays: of whole poses of an arm of seven hinges a quarter is out of its
//! way, and [`restarts`](Ccd::restarts) find most of them. Use it for tails, tentacles and mechanisms with hard limits; [`Fabrik`](crate::Fabrik) looks more natural on
//! long free chains.
//!
//! Source: Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical
//! manipulators", IEEE Transactions on Robotics and Automation 7(4), 1991.
//!
//! ```
//! use anim_ik::{Ccd, Goal, IkProblem, IkReport, IkSolver, IkStatus, Mechanism, MechanismJoint};
//! use anim_math::Vec3;
//! use anim_math::nalgebra::{Isometry3, Vector3};
//! use anim_skeleton::{JointLimit, JointLimitSpec};
//!
//! let hinge = JointLimit::new(JointLimitSpec::Hinge { axis: Vec3::z(), range: [-1.5, 1.5] })?;
//! let link = |n: usize| {
//!     let at = Isometry3::translation(if n == 0 { 0.0 } else { 0.3 }, 0.0, 0.0);
//!     MechanismJoint::new(n.checked_sub(1), at, hinge)
//! };
//! let mechanism = Mechanism::new((0..6).map(link).collect())?;
//! let goals = [Goal::position(5, Vector3::new(0.4, 0.9, 0.0))];
//! let (mut configuration, mut report) = (mechanism.rest(), IkReport::default());
//! let status = Ccd::new(50).solve(&IkProblem::new(&mechanism, &goals), &mut configuration, &mut report);
//! assert_eq!(status, IkStatus::Reached);
//! assert!(mechanism.is_within(&configuration));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use crate::correlation::Correlation;
use crate::descent::Descent;
use crate::joint_model::JointModel;
use crate::stride::Stride;
use crate::{Configuration, Goal, GoalKind, IkProblem, IkReport, IkSolver, IkStatus, lie};

/// Cyclic coordinate descent for position, orientation, pose and aim goals; it does not work toward others, but reports
/// them.
///
/// [`IkProblem::stiffness`] holds joints back, 1 locks them; postures, masses and obstacles are not heeded. Free joints turn
/// and keep their place.
#[derive(Clone, Debug)]
pub struct Ccd {
    /// Passes over all joints at most.
    pub max_iterations: u32,
    /// How far a joint turns in one pass at most, rad.
    pub most_turn: f64,
    /// From 0, every joint turns all the way, to 1, the n-th joint below the root of a chain of N turns 1 − n/N of it.
    pub uncurl: f64,
    /// Starts at most beyond the first, each of as many passes, drawn from within the limits; where hinges and limits shut in
    /// the first start, another finds what there is.
    pub restarts: u32,
    /// Of the draws.
    pub seed: u64,
    work: Descent,
    /// Where a second try begins.
    start: Configuration,
    carried: Vec<Carried>,
    links: Vec<Link>,
    /// For each joint, what it and those before it have turned since the pass began, in model space.
    turned: Vec<Isometry3<f64>>,
    stride: Stride,
}

/// A pass in which no joint turns further, rad, changes nothing.
const STILL: f64 = 1e-10;

/// A place this near to a joint, as a part of how far from the origin both are, is in it: the joint cannot move it.
const LEAST_LEVER: f64 = 1e-12;

/// How far joints are turned, rad, to get away from where none of them can do anything alone.
const NUDGE: f64 = 0.05;

/// How far each joint is turned, rad, before a second try: an arc, where the first was a zigzag.
const ARC: f64 = 0.2;

/// What a goal is about, moved by the joints that have turned since the pass began.
#[derive(Clone, Copy, Debug)]
struct Carried {
    frame: Isometry3<f64>,
    /// Joints of its chain.
    depth: usize,
}

/// A joint that moves what a goal is about.
#[derive(Clone, Copy, Debug)]
struct Link {
    joint: usize,
    goal: usize,
    /// Joints of the chain between it and the root.
    below_root: usize,
}

impl Ccd {
    /// A solver of at most `max_iterations` passes, of a quarter of a radian a joint at most and half of all curl taken out.
    pub fn new(max_iterations: u32) -> Self {
        Self {
            max_iterations,
            most_turn: 0.25,
            uncurl: 0.5,
            restarts: 0,
            seed: 0,
            work: Descent::default(),
            start: Configuration::new(Vec::new()),
            carried: Vec::new(),
            links: Vec::new(),
            turned: Vec::new(),
            stride: Stride::default(),
        }
    }

    fn run(&mut self, problem: &IkProblem<'_>) -> IkStatus {
        self.start.assign(&self.work.current);
        self.stride.reset();
        self.link(problem);
        let mut stalls = 0;
        for _ in 0..self.max_iterations {
            if self.work.is_reached(problem) {
                return IkStatus::Reached;
            }
            self.lift(problem);
            self.stride.begin(&self.work);
            let mut largest = 0.0_f64;
            for joint in 0..problem.mechanism.len() {
                largest = largest.max(self.turn(problem, joint));
            }
            if largest < STILL {
                stalls += 1;
                match stalls {
                    1 => nudge(problem, &mut self.work.current, zigzag),
                    2 => {
                        // Limits may have shut in what began as a zigzag.
                        let values = self.work.current.values_mut();
                        values.copy_from_slice(self.start.values());
                        nudge(problem, &mut self.work.current, |_| ARC);
                        self.stride.reset();
                    }
                    _ => return IkStatus::Stalled,
                }
            }
            self.work.evaluate(problem);
            self.work.iterations += 1;
            self.stride.go_on(problem, &mut self.work);
        }
        if self.work.is_reached(problem) {
            IkStatus::Reached
        } else {
            IkStatus::IterationLimit
        }
    }

    /// Lists which joints move which goals, root first.
    fn link(&mut self, problem: &IkProblem<'_>) {
        self.links.clear();
        for (goal, of) in problem.goals.iter().enumerate() {
            let Some(tip) = joint_of(&of.kind) else {
                continue;
            };
            let depth = problem.mechanism.ancestry(tip).count();
            let chain = problem.mechanism.ancestry(tip).enumerate();
            self.links.extend(chain.map(|(above_tip, joint)| Link {
                joint,
                goal,
                below_root: depth - 1 - above_tip,
            }));
        }
        self.links
            .sort_unstable_by_key(|link| (link.joint, link.goal));
    }

    /// Takes hold of what the goals are about, where it is now.
    fn lift(&mut self, problem: &IkProblem<'_>) {
        let mechanism = problem.mechanism;
        let frames = &self.work.system.jacobian.rows.frames;
        self.carried.clear();
        self.carried.extend(problem.goals.iter().map(|goal| {
            let joint = joint_of(&goal.kind);
            let frame = joint.zip(frames.as_ref());
            Carried {
                frame: frame.map_or(Isometry3::identity(), |(joint, frames)| *frames.get(joint)),
                depth: joint.map_or(1, |joint| mechanism.ancestry(joint).count()),
            }
        }));
        self.turned.clear();
        self.turned.resize(mechanism.len(), Isometry3::identity());
    }

    /// Turns or slides one joint the best way and takes what hangs on it along; how far, rad or m.
    fn turn(&mut self, problem: &IkProblem<'_>, joint: usize) -> f64 {
        let frames = &self.work.system.jacobian.rows.frames;
        let Some(frame) = frames.as_ref().map(|frames| *frames.get(joint)) else {
            return 0.0;
        };
        let so_far = problem
            .mechanism
            .parent(joint)
            .map(|parent| self.turned[parent]);
        let so_far = so_far.unwrap_or(Isometry3::identity());
        self.turned[joint] = so_far;
        let first = self.links.partition_point(|link| link.joint < joint);
        let moved_by_it = self.links[first..]
            .iter()
            .take_while(|link| link.joint == joint);
        if moved_by_it.clone().next().is_none() {
            return 0.0;
        }
        let frame = so_far * frame;
        let scale = problem.metres_per_radian;
        let mut pull = Pull::default();
        let mut share = 1.0 - problem.stiffness.get(joint).copied().unwrap_or(0.0);
        let mut least = 1.0_f64;
        for link in moved_by_it.clone() {
            let carried = &self.carried[link.goal];
            let goal = &problem.goals[link.goal];
            pull.add(goal, scale, &carried.frame, frame.translation.vector);
            let below_root = link.below_root as f64 / carried.depth as f64;
            least = least.min(1.0 - self.uncurl.clamp(0.0, 1.0) * below_root);
        }
        share *= least;
        let model = &problem.mechanism.models()[joint];
        let value = self.work.current.values()[joint];
        let next = match model {
            JointModel::Prismatic { axis, .. } => {
                let way = (frame.rotation * axis).dot(&pull.shift());
                model.clamp(&value.plus(&[way * share]))
            }
            _ => {
                let most = self.most_turn;
                // Not clamp, which panics where the option is negative or NaN.
                let step = |angle: f64| (angle * share).min(most).max(-most);
                pull.turns.improve(model, &value, &frame.rotation, step)
            }
        };
        let motion = model.motion(&value).inverse() * model.motion(&next);
        // From the old place of what hangs on the joint to the new one, in model space.
        let delta = frame * motion * frame.inverse();
        let moved = |carried: &Carried| {
            let mut frame = delta * carried.frame;
            frame.rotation = lie::normalized(frame.rotation.into_inner());
            frame
        };
        let (mut before, mut after) = (0.0, 0.0);
        for link in moved_by_it.clone() {
            let (carried, goal) = (&self.carried[link.goal], &problem.goals[link.goal]);
            before += squared_error(goal, scale, &carried.frame);
            after += squared_error(goal, scale, &moved(carried));
        }
        // A projection onto limits may undo more than the turn gained.
        let is_better = after < before;
        if !is_better {
            return 0.0;
        }
        for link in moved_by_it {
            let carried = &mut self.carried[link.goal];
            carried.frame = moved(carried);
        }
        self.turned[joint] = delta * so_far;
        self.work.current.values_mut()[joint] = next;
        motion.rotation.angle() + motion.translation.vector.norm()
    }
}

impl IkSolver for Ccd {
    fn solve(
        &mut self,
        problem: &IkProblem<'_>,
        configuration: &mut Configuration,
        report: &mut IkReport,
    ) -> IkStatus {
        if !self.work.begin(problem, configuration, report) {
            return report.status;
        }
        let mut status = self.run(problem);
        let mut start = 0;
        while status != IkStatus::Reached && start < self.restarts {
            start += 1;
            self.work.restart(problem, self.seed, start);
            status = self.run(problem);
        }
        status = self.work.finish(problem, status, configuration, report);
        report.restarts = start;
        status
    }
}

/// One way and the other, so that a straight limb becomes a zigzag.
pub(crate) fn zigzag(joint: usize) -> f64 {
    if joint.is_multiple_of(2) {
        NUDGE
    } else {
        -0.7 * NUDGE
    }
}

/// Turns all joints of the goals' chains by `bend`, rad: a straight limb whose target lies in its line does not bend
/// otherwise.
pub(crate) fn nudge(
    problem: &IkProblem<'_>,
    configuration: &mut Configuration,
    bend: impl Fn(usize) -> f64,
) {
    for goal in problem.goals {
        let joints = joint_of(&goal.kind).into_iter();
        for joint in joints.flat_map(|joint| problem.mechanism.ancestry(joint)) {
            let stiffness = problem.stiffness.get(joint).copied().unwrap_or(0.0);
            let model = &problem.mechanism.models()[joint];
            let angle = bend(joint) * (1.0 - stiffness);
            let value = &mut configuration.values_mut()[joint];
            *value = match model {
                JointModel::Hinge { .. } => model.clamp(&value.plus(&[angle])),
                JointModel::Fixed | JointModel::Prismatic { .. } => *value,
                _ => model.turned(value, &lie::exp(Vector3::new(1.0, 0.4, 0.7) * angle)),
            };
        }
    }
}

/// The joint that a goal moves, if it is of a kind that this solver knows.
pub(crate) fn joint_of(kind: &GoalKind) -> Option<usize> {
    match *kind {
        GoalKind::Position { joint, .. }
        | GoalKind::Orientation { joint, .. }
        | GoalKind::Pose { joint, .. }
        | GoalKind::Aim { joint, .. } => Some(joint),
        _ => None,
    }
}

/// What goals ask of a joint that everything they are about turns with.
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    turns: Correlation,
    /// Σ w (target − point), and Σ w.
    shift: Vector3<f64>,
    weight: f64,
}

impl Pull {
    fn add(&mut self, goal: &Goal, scale: f64, frame: &Isometry3<f64>, pivot: Vector3<f64>) {
        if let Some((at, target, weight)) = position_of(goal, frame) {
            // What rounding leaves of no lever would turn the joint as far as it may.
            let size = at.norm_squared().max(pivot.norm_squared());
            if (at - pivot).norm_squared() > LEAST_LEVER * LEAST_LEVER * size {
                self.turns.add(at - pivot, target - pivot, weight);
            }
            self.shift += (target - at) * weight;
            self.weight += weight;
        }
        if let Some((now, target, weight)) = rotation_of(goal, frame) {
            // |Σ Δ axis|² is twice the squared angle.
            let weight = weight * scale * scale * 0.5;
            self.turns.add_rotation(&now, &target, weight);
        }
        if let Some((now, target, weight)) = direction_of(goal, frame) {
            self.turns.add(now, target, weight * scale * scale);
        }
    }

    fn shift(&self) -> Vector3<f64> {
        if self.weight > 0.0 {
            self.shift / self.weight
        } else {
            Vector3::zeros()
        }
    }
}

/// The weighted square of what is left of a goal, as the pulls see it.
fn squared_error(goal: &Goal, scale: f64, frame: &Isometry3<f64>) -> f64 {
    let mut sum = 0.0;
    if let Some((at, target, weight)) = position_of(goal, frame) {
        sum += weight * (target - at).norm_squared();
    }
    if let Some((now, target, weight)) = rotation_of(goal, frame) {
        let sine = (now.inverse() * target).imag().norm_squared();
        // Over the three axes, Σ |Δ axis|² / 2 = 4 sin²(θ/2).
        sum += weight * scale * scale * 4.0 * sine;
    }
    if let Some((now, target, weight)) = direction_of(goal, frame) {
        sum += weight * scale * scale * (target - now).norm_squared();
    }
    sum
}

/// A goal's point, where it should be at the nearest, and its weight; axes that count less lie less far away.
pub(crate) fn position_of(
    goal: &Goal,
    frame: &Isometry3<f64>,
) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
    let (at, target) = match goal.kind {
        GoalKind::Position { point, target, .. } => (
            (frame * Translation3::from(point)).translation.vector,
            target,
        ),
        GoalKind::Pose { tool, target, .. } => {
            let at = (frame * tool).translation.vector;
            (at, target.translation.vector)
        }
        _ => return None,
    };
    let weights = Vector3::from(goal.position_weights);
    let largest = weights.max();
    let weight = largest * goal.effective_weight();
    let off = Goal::beyond_tolerances(target - at, goal.position_tolerances);
    let near = at + off.component_mul(&(weights / largest));
    (weight > 0.0).then_some((at, near, weight * weight))
}

/// A goal's rotation, what it should be at the nearest, and its weight.
pub(crate) fn rotation_of(
    goal: &Goal,
    frame: &Isometry3<f64>,
) -> Option<(UnitQuaternion<f64>, UnitQuaternion<f64>, f64)> {
    let (now, target) = match goal.kind {
        GoalKind::Orientation { target, .. } => (frame.rotation, target),
        GoalKind::Pose { tool, target, .. } => ((frame * tool).rotation, target.rotation),
        _ => return None,
    };
    let target = if goal.rotation_tolerances == [0.0; 3] {
        target
    } else {
        // The nearest rotation that its tolerances allow.
        let off = lie::log(&(target.inverse() * now));
        let left = Goal::beyond_tolerances(off, goal.rotation_tolerances);
        now * lie::exp(-left)
    };
    let weight = Vector3::from(goal.rotation_weights).max() * goal.effective_weight();
    (weight > 0.0).then_some((now, target, weight * weight))
}

/// The axis that should point at something, the direction there, both unit, and its weight.
fn direction_of(goal: &Goal, frame: &Isometry3<f64>) -> Option<(Vector3<f64>, Vector3<f64>, f64)> {
    let GoalKind::Aim {
        point,
        axis,
        target,
        ..
    } = goal.kind
    else {
        return None;
    };
    let start = (frame * Translation3::from(point)).translation.vector;
    let wanted = (target - start).try_normalize(1e-300)?;
    let now = (frame.rotation * axis).normalize();
    let weight = Vector3::from(goal.rotation_weights).max() * goal.effective_weight();
    (weight > 0.0).then_some((now, wanted, weight * weight))
}
