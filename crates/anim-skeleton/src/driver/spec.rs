//! Drivers as data, and how they are bound to a skeleton.
//!
//! ```
//! use anim_skeleton::driver::{DriverKind, DriverSpec};
//!
//! let text = r#"{
//!     "name": "left forearm",
//!     "kind": { "twist": { "source": { "name": "hand.L" }, "axis": [1, 0, 0], "helpers": [
//!         { "joint": { "name": "forearm roll.L" }, "fraction": 0.5 }
//!     ] } }
//! }"#;
//! let spec: DriverSpec = serde_json::from_str(text)?;
//! assert!(matches!(spec.kind, DriverKind::Twist(_)));
//! assert_eq!(spec.weight, 1.0);
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::fmt;

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::order::Touched;
use super::scene::Scene;
use super::{
    Aim, Breathe, Corrective, DriverError, Jiggle, Orient, Parent, Point, Pole, Roll, Scale,
    SpringBone, Sway, Twist,
};
use crate::{JointId, Skeleton};

/// How a specification names a joint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JointRef {
    /// The first joint of that name in breadth-first order.
    Name(String),
    /// Its place in source order.
    Index(usize),
}

impl From<&str> for JointRef {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for JointRef {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

impl fmt::Display for JointRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{name}'"),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// One of the joints that a constraint follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source<J = JointRef> {
    /// What is followed.
    pub joint: J,
    /// Its share, ≥ 0; shares are divided by their sum, and where that is 0 nothing is followed.
    #[serde(default = "one")]
    pub weight: f32,
}

impl Source {
    /// A joint with a share of 1.
    pub fn new(joint: impl Into<JointRef>) -> Self {
        Self {
            joint: joint.into(),
            weight: 1.0,
        }
    }
}

/// One driver: what it does, and how much of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverSpec {
    /// Unique in its set: names errors and outputs.
    pub name: String,
    /// In [0, 1]: 0 leaves the joint as it was posed, 1 is all of the driver. Between, rotations take the short arc.
    #[serde(default = "one")]
    pub weight: f32,
    /// What it does.
    pub kind: DriverKind,
}

impl DriverSpec {
    /// A driver at its full weight.
    pub fn new(name: impl Into<String>, kind: impl Into<DriverKind>) -> Self {
        Self {
            name: name.into(),
            weight: 1.0,
            kind: kind.into(),
        }
    }
}

pub(super) fn one() -> f32 {
    1.0
}

/// The enum of all kinds, and its functions, which hand on to the kind at hand.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)+) => {
        /// What a driver does; joints are named until they are bound to a skeleton.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum DriverKind<J = JointRef> {
            $($(#[$doc])* $kind($kind<J>),)+
        }

        $(impl From<$kind> for DriverKind {
            fn from(kind: $kind) -> Self {
                Self::$kind(kind)
            }
        })+

        impl DriverKind {
            /// Finds the joints and checks the numbers.
            pub(super) fn bind(self, binder: &Binder<'_>) -> Result<DriverKind<JointId>, DriverError> {
                match self {
                    $(Self::$kind(kind) => kind.bind(binder).map(DriverKind::$kind),)+
                }
            }
        }

        impl DriverKind<JointId> {
            /// Lists what it reads and writes.
            pub(super) fn touch(&self, touched: &mut Touched<'_>) {
                match self {
                    $(Self::$kind(kind) => kind.touch(touched),)+
                }
            }

            /// Does its work, once.
            pub(super) fn evaluate(&self, scene: &mut Scene<'_>) {
                match self {
                    $(Self::$kind(kind) => kind.evaluate(scene),)+
                }
            }
        }
    };
}

kinds! {
    /// Hands a part of a joint's twist to helper joints.
    Twist,
    /// Makes an offset or an output of a measured angle.
    Corrective,
    /// Points an axis at joints.
    Aim,
    /// Follows the rotation of joints.
    Orient,
    /// Follows joints as if it hung on them.
    Parent,
    /// Follows the position of joints.
    Point,
    /// Follows the scale of joints.
    Scale,
    /// Stays where the pole of a limb is.
    Pole,
    /// Takes over the turn of a joint about one axis.
    Roll,
    /// Swells and turns with the breath.
    Breathe,
    /// Drifts without ever repeating, or after a period.
    Sway,
    /// Lags behind like a weight on a spring.
    Jiggle,
    /// Swings as a chain, like hair.
    SpringBone,
}

/// What binding one driver needs to know.
#[derive(Debug)]
pub(super) struct Binder<'a> {
    pub(super) skeleton: &'a Skeleton,
    pub(super) driver: &'a str,
}

impl Binder<'_> {
    pub(super) fn joint(&self, joint: &JointRef) -> Result<JointId, DriverError> {
        let found = match joint {
            JointRef::Name(name) => self.skeleton.find(name),
            JointRef::Index(index) => {
                (*index < self.skeleton.len()).then(|| self.skeleton.joint(*index))
            }
        };
        found.ok_or_else(|| DriverError::NoJoint {
            driver: self.driver.to_owned(),
            joint: joint.to_string(),
        })
    }

    pub(super) fn sources(&self, sources: &[Source]) -> Result<Vec<Source<JointId>>, DriverError> {
        self.not_empty(sources, "sources")?;
        let bind = |source: &Source| {
            self.require(
                (0.0..=f32::MAX).contains(&source.weight),
                "a source's weight",
            )?;
            Ok(Source {
                joint: self.joint(&source.joint)?,
                weight: source.weight,
            })
        };
        sources.iter().map(bind).collect()
    }

    pub(super) fn not_empty<T>(&self, list: &[T], what: &'static str) -> Result<(), DriverError> {
        if list.is_empty() {
            return Err(DriverError::Empty {
                driver: self.driver.to_owned(),
                what,
            });
        }
        Ok(())
    }

    /// The unit vector along `axis`.
    pub(super) fn axis(&self, axis: Vec3, what: &'static str) -> Result<Vec3, DriverError> {
        let unit = axis.try_normalize(1e-18);
        unit.filter(|unit| unit.iter().all(|v| v.is_finite()))
            .ok_or_else(|| self.no_axis(what))
    }

    pub(super) fn no_axis(&self, what: &'static str) -> DriverError {
        DriverError::Axis {
            driver: self.driver.to_owned(),
            what,
        }
    }

    pub(super) fn finite(&self, vector: Vec3, what: &'static str) -> Result<(), DriverError> {
        self.require(vector.iter().all(|v| v.is_finite()), what)
    }

    pub(super) fn require(&self, is_met: bool, what: &'static str) -> Result<(), DriverError> {
        if !is_met {
            return Err(DriverError::OutOfRange {
                driver: self.driver.to_owned(),
                what,
            });
        }
        Ok(())
    }
}
