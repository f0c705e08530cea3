//! Things of a scene that move as a file says: obstacles, and what holds bodies.

use anim_curves::{Track, TrackSpec};
use anim_geom::{Collider, GeomError, MeshBvh, Shape, primitives};
use anim_math::{Affine, Transform, Vec3, quat};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::check::refusal;
use crate::EngineError;

/// A rigid motion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotionSpec {
    /// Where it is over time, m; at the origin if left out.
    pub position: Option<TrackSpec<Vec3>>,
    /// Where it is turned over time: the axis times degrees, which may be many turns; not turned if left out.
    pub rotation_deg: Option<TrackSpec<Vec3>>,
}

/// A motion that can be sampled.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    position: Option<Track<Vec3>>,
    rotation_deg: Option<Track<Vec3>>,
}

impl Motion {
    pub(super) fn new(spec: &MotionSpec, place: &str) -> Result<Self, EngineError> {
        let track = |spec: &Option<TrackSpec<Vec3>>, field: &str| {
            spec.clone()
                .map(Track::try_from)
                .transpose()
                .map_err(|error| refusal(&format!("{place}/{field}"), error.to_string()))
        };
        Ok(Self {
            position: track(&spec.position, "position")?,
            rotation_deg: track(&spec.rotation_deg, "rotation_deg")?,
        })
    }

    /// Where it is at `time`, s.
    pub(super) fn at(&self, time: f64) -> Affine {
        let sample = |track: &Option<Track<Vec3>>| {
            track
                .as_ref()
                .map_or(Vec3::zeros(), |track| track.sample(time as f32))
        };
        Affine::from(Transform {
            translation: sample(&self.position),
            ..Transform::from_rotation(quat::exp(sample(&self.rotation_deg).map(f32::to_radians)))
        })
    }
}

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObstacleSpec {
    /// Its shape, about its own origin.
    pub shape: ObstacleShape,
    /// Coulomb coefficient.
    #[serde(default = "half")]
    pub friction: f32,
    /// How it moves.
    #[serde(default)]
    pub motion: MotionSpec,
}

fn half() -> f32 {
    0.5
}

/// The shape of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ObstacleShape {
    /// A ball.
    Sphere {
        /// Metres.
        radius: f32,
    },
    /// A capsule along y.
    Capsule {
        /// Metres.
        radius: f32,
        /// From the middle to the centre of either cap, m.
        half_length: f32,
    },
    /// A box.
    Cuboid {
        /// Half its edges, m.
        half_extents: Vec3,
    },
    /// All that is below y = 0.
    Plane,
}

impl ObstacleSpec {
    /// The collider where it starts.
    pub(super) fn build(&self, motion: &Motion) -> Result<Collider, GeomError> {
        let shape = match self.shape {
            ObstacleShape::Sphere { radius } => Shape::Sphere { radius },
            ObstacleShape::Capsule {
                radius,
                half_length,
            } => Shape::Capsule {
                radius,
                half_length,
            },
            ObstacleShape::Cuboid { half_extents } => {
                Shape::Mesh(Arc::new(MeshBvh::new(&primitives::cuboid(half_extents))?))
            }
            ObstacleShape::Plane => Shape::Plane,
        };
        let mut collider = Collider::new(shape, motion.at(0.0));
        collider.friction = self.friction;
        Ok(collider)
    }
}
