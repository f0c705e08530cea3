//! Masks: how much each joint takes part in a layer.
//!
//! A [`Mask`] is J factors in [0, 1] and goes into [`Layer::mask`](crate::Layer::mask) as a slice. A [`MaskSpec`] says the
//! same in names, so that it can live in a file and be used for every skeleton that has joints called like that.
//!
//! ```
//! use anim_skeleton::{JointSpec, MaskSpec, Skeleton};
//!
//! let bone = |name: &str, parent| JointSpec { name: Some(name.into()), parent, rest: Default::default() };
//! let skeleton = Skeleton::new(vec![
//!     bone("Hips", None), bone("Spine", Some(0)), bone("Spine1", Some(1)), bone("Arm", Some(2)), bone("Leg", Some(0)),
//! ])?;
//! // The upper body, coming in over the first two joints of the spine.
//! let upper = MaskSpec { subtree: vec!["Spine".into()], feather: 2, ..MaskSpec::default() }.resolve(&skeleton)?;
//! let factors = ["Hips", "Spine", "Spine1", "Arm", "Leg"].map(|name| upper.get(skeleton.find(name).unwrap()));
//! assert_eq!(factors, [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 0.0]);
//!
//! let misspelt = MaskSpec { subtree: vec!["Spnie".into()], ..MaskSpec::default() }.resolve(&skeleton);
//! assert_eq!(misspelt.unwrap_err().to_string(), "no joint is named 'Spnie'; the nearest are 'Spine', 'Spine1'");
//! # Ok::<(), anim_skeleton::SkeletonError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::{JointId, Skeleton, SkeletonError};

/// J factors in [0, 1], breadth-first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<f32>", into = "Vec<f32>")]
pub struct Mask(Vec<f32>);

impl Mask {
    /// The same factor for all joints of `skeleton`; clamped to [0, 1], NaN is 0.
    pub fn uniform(skeleton: &Skeleton, factor: f32) -> Self {
        Self(vec![limited(factor); skeleton.len()])
    }

    /// A mask of J factors, breadth-first.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::BadFactor`] for the first that is not in [0, 1].
    pub fn new(factors: Vec<f32>) -> Result<Self, SkeletonError> {
        match factors.iter().position(|f| !(0.0..=1.0).contains(f)) {
            Some(place) => Err(SkeletonError::BadFactor {
                place,
                factor: factors[place],
            }),
            None => Ok(Self(factors)),
        }
    }

    /// 1 for `joint` and everything below it, 0 for the others.
    ///
    /// With `feather` k the first k generations come in evenly: `joint` has 1/(k + 1), its children 2/(k + 1), and so on.
    pub fn subtree(skeleton: &Skeleton, joint: JointId, feather: usize) -> Self {
        let mut mask = Self::uniform(skeleton, 0.0);
        for (generation, joints) in skeleton.generations(joint).enumerate() {
            let factor = (generation + 1) as f32 / (feather.saturating_add(1)) as f32;
            mask.0[joints].fill(factor.min(1.0));
        }
        mask
    }

    /// 1 for the joints whose names match `pattern` (`*` is anything, `?` one character), 0 for the others.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoName`] if there are none.
    pub fn named(skeleton: &Skeleton, pattern: &str) -> Result<Self, SkeletonError> {
        let mut mask = Self::uniform(skeleton, 0.0);
        for joint in skeleton.find_all(pattern)? {
            mask.0[joint.index()] = 1.0;
        }
        Ok(mask)
    }

    /// The factor of `joint`.
    pub fn get(&self, joint: JointId) -> f32 {
        self.0[joint.index()]
    }

    /// Sets the factor of `joint`; clamped to [0, 1], NaN is 0.
    pub fn set(&mut self, joint: JointId, factor: f32) {
        self.0[joint.index()] = limited(factor);
    }

    /// What [`Layer::mask`](crate::Layer::mask) takes.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    /// 1 − each factor.
    pub fn invert(&mut self) {
        self.0.iter_mut().for_each(|factor| *factor = 1.0 - *factor);
    }

    /// Multiplies by the factors of `other`: what both have.
    ///
    /// # Panics
    ///
    /// If `other` is of another skeleton's size.
    pub fn multiply(&mut self, other: &Self) {
        self.combine(other, |a, b| a * b);
    }

    /// Takes the larger of each two factors: what either has.
    ///
    /// # Panics
    ///
    /// If `other` is of another skeleton's size.
    pub fn max(&mut self, other: &Self) {
        self.combine(other, f32::max);
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(f32, f32) -> f32) {
        assert_eq!(self.0.len(), other.0.len(), "mask of another skeleton");
        for (factor, other) in self.0.iter_mut().zip(&other.0) {
            *factor = operation(*factor, *other);
        }
    }
}

/// In [0, 1]; NaN is 0.
fn limited(factor: f32) -> f32 {
    if factor > 0.0 { factor.min(1.0) } else { 0.0 }
}

impl TryFrom<Vec<f32>> for Mask {
    type Error = SkeletonError;

    fn try_from(factors: Vec<f32>) -> Result<Self, SkeletonError> {
        Self::new(factors)
    }
}

impl From<Mask> for Vec<f32> {
    fn from(mask: Mask) -> Self {
        mask.0
    }
}

/// A mask in names, all of which may hold `*` and `?`; for any skeleton.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaskSpec {
    /// Joints that have 1. If this and `subtree` are empty, all have.
    pub include: Vec<String>,
    /// Joints that come in with everything below them.
    pub subtree: Vec<String>,
    /// Over so many generations a subtree [comes in](Mask::subtree).
    pub feather: usize,
    /// Joints that have 0 all the same; what is below them is not meant.
    pub exclude: Vec<String>,
}

impl MaskSpec {
    /// The mask for `skeleton`: the larger of what `include` and `subtree` give, but for `exclude`.
    ///
    /// # Errors
    ///
    /// [`SkeletonError::NoName`] for the first pattern that matches no joint.
    pub fn resolve(&self, skeleton: &Skeleton) -> Result<Mask, SkeletonError> {
        let is_all = self.include.is_empty() && self.subtree.is_empty();
        let mut mask = Mask::uniform(skeleton, if is_all { 1.0 } else { 0.0 });
        for pattern in &self.include {
            mask.max(&Mask::named(skeleton, pattern)?);
        }
        for pattern in &self.subtree {
            for joint in skeleton.find_all(pattern)? {
                mask.max(&Mask::subtree(skeleton, joint, self.feather));
            }
        }
        for pattern in &self.exclude {
            for joint in skeleton.find_all(pattern)? {
                mask.set(joint, 0.0);
            }
        }
        Ok(mask)
    }
}
