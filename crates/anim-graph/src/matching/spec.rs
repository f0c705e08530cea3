//! What a search compares: the features of a frame, and how much each counts.
//!
//! ```
//! use anim_graph::matching::FeatureSpec;
//!
//! let mut spec = FeatureSpec::biped("hips", "left foot", "right foot");
//! spec.trajectory.times = vec![0.25, 0.5, 1.0];
//! spec.trajectory.direction_weight = 3.0; // facing the right way matters more
//! ```

use anim_math::Vec3;
use serde::{Deserialize, Serialize};

use super::MatchingError;

/// What a search compares, and how much each feature counts.
///
/// A feature's differences are divided by how much it deviates in the library and multiplied by its weight, so a weight
/// of 2 makes the same unlikeness cost four times as much; one of 0 leaves the feature out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSpec {
    /// Name of the joint that leads the character, such as the hips.
    pub root: String,
    /// Where the character faces in its rest pose, model space; any length but 0, and not straight up.
    #[serde(default = "forward")]
    pub forward: Vec3,
    /// Seconds before and after a moment that its place and heading are smoothed over, in [0, 10]; takes the sway out of
    /// the hips.
    #[serde(default = "smoothing")]
    pub smoothing: f32,
    /// Where the character is going.
    #[serde(default)]
    pub trajectory: TrajectorySpec,
    /// How the body moves.
    #[serde(default)]
    pub joints: Vec<JointFeature>,
    /// What comes after the end, and before the start, of a clip that does not loop.
    #[serde(default)]
    pub ends: ClipEnds,
    /// Seconds that must be left of a clip that does not loop for a search to return a frame, ≥ 0. As long as the
    /// longest trajectory time, it leaves out every frame whose future is a guess.
    #[serde(default = "min_remaining")]
    pub min_remaining: f32,
}

/// Where the character is going, as it sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectorySpec {
    /// Seconds from now, in [−10, 10]; negative ones look back.
    pub times: Vec<f32>,
    /// Of the places at all times together, in [0, 1000].
    pub position_weight: f32,
    /// Of the facing directions at all times together, in [0, 1000].
    pub direction_weight: f32,
}

/// How one joint moves, as the character sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointFeature {
    /// Name of the joint.
    pub joint: String,
    /// In [0, 1000].
    #[serde(default)]
    pub position_weight: f32,
    /// In [0, 1000].
    #[serde(default)]
    pub velocity_weight: f32,
}

/// Where a character goes when its clip has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClipEnds {
    /// It stays where the clip ends.
    Hold,
    /// It goes on along its arc.
    #[default]
    Extrapolate,
}

impl FeatureSpec {
    /// The features and weights of the paper for a character on two feet: both feet, the speed of the hips, and the
    /// trajectory.
    pub fn biped(root: &str, left_foot: &str, right_foot: &str) -> Self {
        let joint = |joint: &str, position_weight| JointFeature {
            joint: joint.to_owned(),
            position_weight,
            velocity_weight: 1.0,
        };
        Self {
            root: root.to_owned(),
            forward: forward(),
            smoothing: smoothing(),
            trajectory: TrajectorySpec::default(),
            joints: vec![
                joint(left_foot, 0.75),
                joint(right_foot, 0.75),
                joint(root, 0.0),
            ],
            ends: ClipEnds::default(),
            min_remaining: min_remaining(),
        }
    }

    /// Checks every number, and that something is compared.
    pub(crate) fn check(&self) -> Result<(), MatchingError> {
        let within = |value: f32, low: f32, high: f32, what| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(MatchingError::OutOfRange { what, value })
            }
        };
        for value in self.forward.iter() {
            within(*value, f32::MIN, f32::MAX, "forward")?;
        }
        within(self.smoothing, 0.0, 10.0, "smoothing")?;
        within(self.min_remaining, 0.0, f32::MAX, "min_remaining")?;
        for time in &self.trajectory.times {
            within(*time, -10.0, 10.0, "trajectory time")?;
        }
        within(
            self.trajectory.position_weight,
            0.0,
            1000.0,
            "position_weight",
        )?;
        within(
            self.trajectory.direction_weight,
            0.0,
            1000.0,
            "direction_weight",
        )?;
        for joint in &self.joints {
            within(joint.position_weight, 0.0, 1000.0, "position_weight")?;
            within(joint.velocity_weight, 0.0, 1000.0, "velocity_weight")?;
        }
        Ok(())
    }
}

impl Default for TrajectorySpec {
    /// A third, two thirds and all of the next second; directions count half more than places.
    fn default() -> Self {
        Self {
            times: vec![20.0 / 60.0, 40.0 / 60.0, 1.0],
            position_weight: 1.0,
            direction_weight: 1.5,
        }
    }
}

fn forward() -> Vec3 {
    Vec3::z()
}

fn smoothing() -> f32 {
    0.25
}

fn min_remaining() -> f32 {
    0.2
}
