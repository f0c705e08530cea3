//! What joints are asked to do: reach, turn, aim, keep a distance, stay on one side, balance, hold on to each other.
//!
//! A [`Goal`] is what is wanted, how much it counts, and how near is near enough. What cannot be had
//! together is traded by weight within a priority; across priorities, Levenberg-Marquardt lets what comes first have its way
//! whatever the weights, and the other solvers trade a thousandth.
//!
//! ```
//! use anim_ik::{Goal, GoalKind};
//! use anim_math::nalgebra::Vector3;
//!
//! let reach = Goal::position(3, Vector3::new(0.4, 1.2, 0.1));
//! // The same, whatever the height.
//! let over = Goal { position_weights: [1.0, 0.0, 1.0], ..reach };
//! // And better not below the table.
//! let table = GoalKind::Plane { joint: 2, point: Vector3::zeros(), normal: Vector3::y(), offset: 0.8, one_sided: true };
//! let goals = [over, Goal { priority: 1, ..Goal::new(table) }];
//! assert_eq!(goals[0].tolerance, 1e-5);
//! ```

use anim_math::nalgebra::{Isometry3, UnitQuaternion, Vector3};

use crate::configuration::is_finite;
use crate::{JointValue, Mechanism};

/// What is wanted of which joint; points `in` a joint are in its own frame, targets in model space, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum GoalKind {
    /// A point of a joint at a place.
    Position {
        /// The joint.
        joint: usize,
        /// The point in it.
        point: Vector3<f64>,
        /// Where it should be.
        target: Vector3<f64>,
    },
    /// A joint turned some way.
    Orientation {
        /// The joint.
        joint: usize,
        /// `model_from_joint`.
        target: UnitQuaternion<f64>,
    },
    /// A frame on a joint (a tool, a sole) at a place and turned some way.
    Pose {
        /// The joint.
        joint: usize,
        /// `joint_from_tool`.
        tool: Isometry3<f64>,
        /// `model_from_tool`.
        target: Isometry3<f64>,
    },
    /// An axis of a joint that points at something: eyes, a weapon, a foot.
    Aim {
        /// The joint.
        joint: usize,
        /// Where the axis starts in it.
        point: Vector3<f64>,
        /// Its direction in it, of any length but zero.
        axis: Vector3<f64>,
        /// What it should pass through.
        target: Vector3<f64>,
    },
    /// A point of a joint no nearer and no farther than so: a rope, a reach.
    Distance {
        /// The joint.
        joint: usize,
        /// The point in it.
        point: Vector3<f64>,
        /// From where.
        from: Vector3<f64>,
        /// Least and most, metres; the same twice for a rod.
        range: [f64; 2],
    },
    /// A point of a joint on a plane or above it: `normal · p = offset` or `≥ offset`.
    Plane {
        /// The joint.
        joint: usize,
        /// The point in it.
        point: Vector3<f64>,
        /// Of any length but zero.
        normal: Vector3<f64>,
        /// Of the plane from the origin along the unit normal, metres.
        offset: f64,
        /// If true, any height is right.
        one_sided: bool,
    },
    /// The centre of [`IkProblem::masses`](crate::IkProblem::masses) at a place: leave the height out for balance.
    CentreOfMass {
        /// Where it should be.
        target: Vector3<f64>,
    },
    /// A frame on a joint at a place relative to another joint: hands on a prop, a hand on a hip.
    Relative {
        /// The joint.
        joint: usize,
        /// `joint_from_tool`.
        tool: Isometry3<f64>,
        /// The joint it holds on to.
        reference: usize,
        /// `reference_from_tool`.
        target: Isometry3<f64>,
    },
    /// The middle of a limb in the half plane from its axis to a point: which way a knee looks.
    ///
    /// Asks nothing of a straight limb, nor of a point on its axis.
    Pole {
        /// The upper end of the limb, its bend and its lower end.
        limb: [usize; 3],
        /// Where the bend should look.
        toward: Vector3<f64>,
    },
    /// A joint's own value.
    Posture {
        /// The joint.
        joint: usize,
        /// Of the joint's kind.
        target: JointValue,
    },
}

/// A [`GoalKind`] and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// What is wanted.
    pub kind: GoalKind,
    /// Factor on the error, 0 or more: twice the weight counts four times in the sum of squares.
    pub weight: f64,
    /// More factors on positions, along the axes of model space, or of the reference's frame; 0 leaves an axis free.
    pub position_weights: [f64; 3],
    /// More factors on rotations, about the axes of the target's frame; 0 leaves an axis free.
    pub rotation_weights: [f64; 3],
    /// Positions may be off by this along the same axes, metres, at no cost: a cup that may stand anywhere on a tray.
    pub position_tolerances: [f64; 3],
    /// Rotations may be off by this about the same axes, rad, at no cost: a cup that may be turned, but not tilted. Not for
    /// [`GoalKind::Aim`] and [`GoalKind::Pole`].
    pub rotation_tolerances: [f64; 3],
    /// The goal is met within this of what it asks and its axes allow, in metres for positions and rad for rotations; infinite for a mere preference.
    pub tolerance: f64,
    /// 0 comes first, such as contacts. [`LevenbergMarquardt`](crate::LevenbergMarquardt) gives later ones only what earlier
    /// ones leave open; to other solvers each further step weighs a thousandth, and a conflict moves what comes first by a
    /// millionth of itself.
    pub priority: u8,
}

impl Goal {
    /// A goal of weight 1 and the first priority, met within 1e-5 m and rad.
    pub fn new(kind: GoalKind) -> Self {
        Self {
            kind,
            weight: 1.0,
            position_weights: [1.0; 3],
            rotation_weights: [1.0; 3],
            position_tolerances: [0.0; 3],
            rotation_tolerances: [0.0; 3],
            tolerance: 1e-5,
            priority: 0,
        }
    }

    /// The origin of `joint` at `target`.
    pub fn position(joint: usize, target: Vector3<f64>) -> Self {
        let point = Vector3::zeros();
        Self::new(GoalKind::Position {
            joint,
            point,
            target,
        })
    }

    /// `joint` turned to `target`.
    pub fn orientation(joint: usize, target: UnitQuaternion<f64>) -> Self {
        Self::new(GoalKind::Orientation { joint, target })
    }

    /// `joint` at `target` and turned as it.
    pub fn pose(joint: usize, target: Isometry3<f64>) -> Self {
        let tool = Isometry3::identity();
        Self::new(GoalKind::Pose {
            joint,
            tool,
            target,
        })
    }

    /// What is left of an error of position where its axes have their tolerances.
    pub(crate) fn beyond_tolerances(error: Vector3<f64>, tolerances: [f64; 3]) -> Vector3<f64> {
        error.zip_map(&Vector3::from(tolerances), |error, tolerance| {
            error - error.clamp(-tolerance, tolerance)
        })
    }

    /// The factor on the error with its priority.
    pub(crate) fn effective_weight(&self) -> f64 {
        (0..self.priority).fold(self.weight, |weight, _| weight * 1e-3)
    }

    /// What is wrong with it, if anything.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let weights = self.position_weights.iter().chain(&self.rotation_weights);
        if !weights
            .chain([&self.weight])
            .all(|w| *w >= 0.0 && w.is_finite())
        {
            return Some("a weight is negative or not finite");
        }
        let tolerances = self
            .position_tolerances
            .iter()
            .chain(&self.rotation_tolerances);
        if !tolerances.into_iter().all(|t| *t >= 0.0 && t.is_finite()) {
            return Some("a tolerance of an axis is negative or not finite");
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Some("its tolerance is negative or not a number");
        }
        self.kind.problem()
    }
}

impl GoalKind {
    /// The joints that it names; fewer repeat.
    pub(crate) fn joints(&self) -> [Option<usize>; 3] {
        match *self {
            Self::Position { joint, .. }
            | Self::Orientation { joint, .. }
            | Self::Pose { joint, .. }
            | Self::Aim { joint, .. }
            | Self::Distance { joint, .. }
            | Self::Plane { joint, .. }
            | Self::Posture { joint, .. } => [Some(joint), None, None],
            Self::Relative {
                joint, reference, ..
            } => [Some(joint), Some(reference), None],
            Self::Pole { limb, .. } => limb.map(Some),
            Self::CentreOfMass { .. } => [None; 3],
        }
    }

    /// True if its value is of another kind than the joint's.
    pub(crate) fn is_foreign(&self, mechanism: &Mechanism) -> bool {
        match self {
            Self::Posture { joint, target } => {
                let own = mechanism.models()[*joint].rest();
                std::mem::discriminant(&own) != std::mem::discriminant(target)
            }
            _ => false,
        }
    }

    fn problem(&self) -> Option<&'static str> {
        let finite = |v: &Vector3<f64>| v.iter().all(|v| v.is_finite());
        let directed = |v: &Vector3<f64>| v.norm().is_normal();
        let turned = |q: &UnitQuaternion<f64>| q.coords.iter().all(|v| v.is_finite());
        let is_good = match self {
            Self::Position { point, target, .. } => finite(point) && finite(target),
            Self::Orientation { target, .. } => turned(target),
            Self::Pose { tool, target, .. } | Self::Relative { tool, target, .. } => {
                is_finite(tool) && is_finite(target)
            }
            Self::Aim {
                point,
                axis,
                target,
                ..
            } => finite(point) && finite(target) && directed(axis),
            Self::Distance {
                point, from, range, ..
            } => finite(point) && finite(from) && range[0] <= range[1] && range[0].is_finite(),
            Self::Plane {
                point,
                normal,
                offset,
                ..
            } => finite(point) && directed(normal) && offset.is_finite(),
            Self::CentreOfMass { target } => finite(target),
            Self::Pole { toward, .. } => finite(toward),
            Self::Posture { target, .. } => target.is_finite(),
        };
        (!is_good)
            .then_some("a number is not finite, an axis has no direction or a range is reversed")
    }
}
