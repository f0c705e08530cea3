//! What surrounds the actors.

use anim_geom::Collider;
use anim_ik::Ground;
use anim_math::Vec3;

/// The surroundings that all actors and effects share, world space.
#[derive(Clone, Debug)]
pub struct World {
    /// m/s².
    pub gravity: Vec3,
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Ground and obstacles.
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
