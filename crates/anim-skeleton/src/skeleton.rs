//! The joint hierarchy: breadth-first inside, the source's order outside.

use std::ops::Range;

use anim_math::Transform;
use serde::{Deserialize, Serialize};

use crate::{Pose, SkeletonError};

/// A joint of one skeleton: its place in breadth-first order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JointId(pub(crate) u16);

impl JointId {
    /// The place in breadth-first order, where poses, globals and palettes keep this joint.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What a joint is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointSpec {
    /// Optional, and need not be unique: bind by index.
    #[serde(default)]
    pub name: Option<String>,
    /// Index of the parent in the same list; `None` for a root.
    #[serde(default)]
    pub parent: Option<usize>,
    /// Where the joint rests in its parent.
    #[serde(default)]
    pub rest: Transform,
}

/// A validated forest of joints; parents precede children.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<JointSpec>", into = "Vec<JointSpec>")]
pub struct Skeleton {
    names: Vec<Option<String>>,
    parents: Vec<Option<JointId>>,
    /// J + 1 places: breadth-first order keeps the children of a joint together, and those of its neighbour behind them.
    first_child: Vec<u16>,
    rest: Pose,
    source_from_joint: Vec<u16>,
    joint_from_source: Vec<JointId>,
}

impl Skeleton {
    /// Builds a skeleton of joints in any order; many roots and none are fine.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::TooManyJoints`] over 65535, [`SkeletonError::NoParent`], [`SkeletonError::Cycle`] and
    /// [`SkeletonError::NotFinite`] with the joint's index in `joints`.
    pub fn new(joints: Vec<JointSpec>) -> Result<Self, SkeletonError> {
        let count = joints.len();
        if count > usize::from(u16::MAX) {
            return Err(SkeletonError::TooManyJoints { count });
        }
        for (joint, spec) in joints.iter().enumerate() {
            if let Some(parent) = spec.parent.filter(|parent| *parent >= count) {
                return Err(SkeletonError::NoParent { joint, parent });
            }
            if !spec.rest.is_finite() {
                return Err(SkeletonError::NotFinite { joint });
            }
        }
        let order = breadth_first(&joints)?;
        let mut joint_from_source = vec![JointId(0); count];
        for (joint, source) in order.iter().enumerate() {
            joint_from_source[*source] = JointId(joint as u16);
        }
        let mut rest = Pose::identity(count);
        let mut names = Vec::with_capacity(count);
        let mut parents = Vec::with_capacity(count);
        for (joint, source) in order.iter().enumerate() {
            let spec = &joints[*source];
            rest.set(JointId(joint as u16), spec.rest);
            names.push(spec.name.clone());
            parents.push(spec.parent.map(|parent| joint_from_source[parent]));
        }
        Ok(Self {
            names,
            first_child: first_children(&parents),
            parents,
            rest,
            source_from_joint: order.iter().map(|source| *source as u16).collect(),
            joint_from_source,
        })
    }

    /// Number of joints, J.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True without joints.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Every joint, parents before children.
    pub fn joints(&self) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator {
        (0..self.len() as u16).map(JointId)
    }

    /// The joint at place `source` of the list the skeleton was made of.
    ///
    /// # Panics
    ///
    /// If the list was shorter.
    pub fn joint(&self, source: usize) -> JointId {
        self.joint_from_source[source]
    }

    /// The place of `joint` in the list the skeleton was made of.
    pub fn source(&self, joint: JointId) -> usize {
        usize::from(self.source_from_joint[joint.index()])
    }

    /// The name of `joint`, if it has one.
    pub fn name(&self, joint: JointId) -> Option<&str> {
        self.names[joint.index()].as_deref()
    }

    /// The first joint of that name in breadth-first order.
    pub fn find(&self, name: &str) -> Option<JointId> {
        let place = self.names.iter().position(|n| n.as_deref() == Some(name))?;
        Some(JointId(place as u16))
    }

    /// The parent of `joint`; `None` for a root.
    pub fn parent(&self, joint: JointId) -> Option<JointId> {
        self.parents[joint.index()]
    }

    /// The parents of all joints, breadth-first: each is smaller than its own place.
    pub fn parents(&self) -> &[Option<JointId>] {
        &self.parents
    }

    /// The children of `joint`, breadth-first.
    pub fn children(
        &self,
        joint: JointId,
    ) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator + use<> {
        let children = self.children_of(joint.index()..joint.index() + 1);
        (children.start as u16..children.end as u16).map(JointId)
    }

    /// True if `joint` is a child of `ancestor`, or a child's child, and so on.
    pub fn is_below(&self, joint: JointId, ancestor: JointId) -> bool {
        let mut at = self.parent(joint);
        while let Some(parent) = at.filter(|parent| *parent >= ancestor) {
            if parent == ancestor {
                return true;
            }
            at = self.parent(parent);
        }
        false
    }

    /// The children of neighbouring joints, which are neighbours too: so is every generation below a joint.
    pub(crate) fn children_of(&self, joints: Range<usize>) -> Range<usize> {
        usize::from(self.first_child[joints.start])..usize::from(self.first_child[joints.end])
    }

    /// The default pose.
    pub fn rest(&self) -> &Pose {
        &self.rest
    }
}

/// For each joint, and for one past the last, the number of joints whose parents (if any) come before it.
fn first_children(parents: &[Option<JointId>]) -> Vec<u16> {
    (0..=parents.len())
        .map(|joint| parents.partition_point(|p| p.is_none_or(|p| p.index() < joint)) as u16)
        .collect()
}

/// Source indices, roots first, then their children level by level.
fn breadth_first(joints: &[JointSpec]) -> Result<Vec<usize>, SkeletonError> {
    let mut children = vec![Vec::new(); joints.len()];
    let mut order = Vec::with_capacity(joints.len());
    for (joint, spec) in joints.iter().enumerate() {
        match spec.parent {
            Some(parent) => children[parent].push(joint),
            None => order.push(joint),
        }
    }
    let mut next = 0;
    while next < order.len() {
        order.extend_from_slice(&children[order[next]]);
        next += 1;
    }
    if order.len() < joints.len() {
        let mut met = vec![false; joints.len()];
        order.iter().for_each(|joint| met[*joint] = true);
        let joint = met.iter().position(|m| !m).unwrap_or_default();
        return Err(SkeletonError::Cycle { joint });
    }
    Ok(order)
}

impl TryFrom<Vec<JointSpec>> for Skeleton {
    type Error = SkeletonError;

    fn try_from(joints: Vec<JointSpec>) -> Result<Self, SkeletonError> {
        Self::new(joints)
    }
}

impl From<Skeleton> for Vec<JointSpec> {
    fn from(skeleton: Skeleton) -> Self {
        (0..skeleton.len())
            .map(|source| {
                let joint = skeleton.joint(source);
                JointSpec {
                    name: skeleton.name(joint).map(str::to_owned),
                    parent: skeleton.parent(joint).map(|parent| skeleton.source(parent)),
                    rest: skeleton.rest.get(joint),
                }
            })
            .collect()
    }
}
