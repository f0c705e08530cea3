//! The features of a database: what each is, where it lies in a row, and how it is scaled.

use std::ops::Range;

use anim_skeleton::{JointId, Skeleton};

use super::{FeatureSpec, MatchingError};

/// What a feature tells of a frame; all as the character sees it, z ahead and x to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureKind {
    /// Where the character will be: `[x, z]` for each trajectory time, metres.
    TrajectoryPosition,
    /// Where it will face: unit `[x, z]` for each trajectory time.
    TrajectoryDirection,
    /// Where a joint is: `[x, y, z]`, metres, from the ground below the character.
    JointPosition(JointId),
    /// How fast a joint moves over the ground: `[x, y, z]`, metres a second.
    JointVelocity(JointId),
}

/// One feature of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// What it tells.
    pub kind: FeatureKind,
    /// Where its values lie in a row.
    pub dimensions: Range<usize>,
    /// How much it counts.
    pub weight: f32,
    /// The root of its mean variance in the library, in its unit.
    pub deviation: f32,
    /// False if it hardly varies in the library, tells no frames apart and is not compared.
    pub varies: bool,
}

/// The features that a spec asks for.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Seconds.
    pub(crate) times: Vec<f32>,
    /// Each joint of the features once.
    pub(crate) joints: Vec<JointId>,
    /// Kind, first dimension and weight.
    features: Vec<(FeatureKind, Range<usize>, f32)>,
}

impl Layout {
    /// # Errors
    ///
    /// [`MatchingError::NoJoint`] and [`MatchingError::NoFeatures`].
    pub(crate) fn new(skeleton: &Skeleton, spec: &FeatureSpec) -> Result<Self, MatchingError> {
        let mut layout = Self {
            times: spec.trajectory.times.clone(),
            joints: Vec::new(),
            features: Vec::new(),
        };
        let planar = 2 * layout.times.len();
        let trajectory = &spec.trajectory;
        layout.push(
            FeatureKind::TrajectoryPosition,
            planar,
            trajectory.position_weight,
        );
        layout.push(
            FeatureKind::TrajectoryDirection,
            planar,
            trajectory.direction_weight,
        );
        for joint in &spec.joints {
            let id = find(skeleton, &joint.joint)?;
            layout.push(FeatureKind::JointPosition(id), 3, joint.position_weight);
            layout.push(FeatureKind::JointVelocity(id), 3, joint.velocity_weight);
            if !layout.joints.contains(&id) {
                layout.joints.push(id);
            }
        }
        if layout.features.is_empty() {
            return Err(MatchingError::NoFeatures);
        }
        Ok(layout)
    }

    /// D.
    pub(crate) fn dimensions(&self) -> usize {
        self.features.last().map_or(0, |(_, range, _)| range.end)
    }

    /// What the features tell, in order.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = FeatureKind> {
        self.features.iter().map(|(kind, ..)| *kind)
    }

    /// Where `joint` is among the joints.
    pub(crate) fn place(&self, joint: JointId) -> usize {
        self.joints
            .iter()
            .position(|own| *own == joint)
            .unwrap_or_default()
    }

    /// The features, with what the N × D `rows` tell of them: each deviates by itself, and counts as not varying if its
    /// deviation is below `least` or, of directions, a thousandth.
    pub(crate) fn measure(&self, rows: &[f64], mean: &[f64], least: f64) -> Vec<Feature> {
        let frames = rows.len() / self.dimensions();
        self.features
            .iter()
            .map(|(kind, dimensions, weight)| {
                let mut squares = 0.0;
                for row in rows.chunks_exact(self.dimensions()) {
                    for dimension in dimensions.clone() {
                        let difference = row[dimension] - mean[dimension];
                        squares += difference * difference;
                    }
                }
                let deviation = (squares / (frames * dimensions.len()) as f64).sqrt();
                let least = match kind {
                    FeatureKind::TrajectoryDirection => 1e-3,
                    _ => least,
                };
                Feature {
                    kind: *kind,
                    dimensions: dimensions.clone(),
                    weight: *weight,
                    deviation: deviation as f32,
                    varies: deviation > least,
                }
            })
            .collect()
    }

    fn push(&mut self, kind: FeatureKind, dimensions: usize, weight: f32) {
        let start = self.dimensions();
        if dimensions > 0 && weight > 0.0 {
            self.features
                .push((kind, start..start + dimensions, weight));
        }
    }
}

/// The joint of that name.
pub(crate) fn find(skeleton: &Skeleton, name: &str) -> Result<JointId, MatchingError> {
    skeleton.find(name).ok_or_else(|| MatchingError::NoJoint {
        name: name.to_owned(),
    })
}
