//! What surrounds the actors.

use anim_geom::Collider;
use anim_ik::Ground;
use anim_math::{Affine, Vec3};

use crate::body::between;

/// The surroundings that all actors and effects share, world space.
#[derive(Clone, Debug)]
pub struct World {
    /// m/s².
    pub gravity: Vec3,
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Ground and obstacles. What moves one between two frames sweeps it along: nothing that is simulated is jumped over.
    pub colliders: Vec<Collider>,
}

impl Default for World {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            wind: Vec3::zeros(),
            colliders: Vec::new(),
        }
    }
}

/// A ray this long, m, finds the ground from above.
const REACH: f32 = 1000.0;

impl World {
    /// The highest surface below `point` raised by `above` metres: `None` over nothing.
    pub fn ground_below(&self, point: Vec3, above: f32) -> Option<Ground> {
        let origin = point + Vec3::y() * above;
        let mut highest: Option<Ground> = None;
        for collider in &self.colliders {
            if let Some(hit) = collider.ray(origin, -Vec3::y(), REACH) {
                let height = origin.y - hit.distance;
                if highest.is_none_or(|best| height > best.height) {
                    highest = Some(Ground {
                        height,
                        normal: hit.normal,
                    });
                }
            }
        }
        highest
    }
}

/// A world on its way through one frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passing<'a> {
    pub(crate) world: &'a World,
    /// Where its colliders were when simulation last ran; those missing rest.
    pub(crate) previous: &'a [Affine],
}

impl Passing<'_> {
    /// Appends the colliders as they are a fraction `alpha` of the way.
    pub(crate) fn append_colliders(&self, alpha: f32, out: &mut Vec<Collider>) {
        let colliders = self.world.colliders.iter().enumerate();
        out.extend(colliders.map(|(index, collider)| {
            let mut collider = collider.clone();
            if let Some(from) = self.previous.get(index) {
                collider.world_from_shape = between(from, &collider.world_from_shape, alpha);
            }
            collider
        }));
    }
}
