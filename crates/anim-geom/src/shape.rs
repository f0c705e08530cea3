//! Colliders: shapes placed in the world that answer how far a point is from their surface.

use anim_math::{Affine, Vec3};

/// A shape in its own space.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// The half space below y = 0; its surface is y = 0.
    Plane,
    /// A ball about the origin.
    Sphere {
        /// Metres.
        radius: f32,
    },
    /// A segment along y from −half_length to +half_length, thickened.
    Capsule {
        /// Metres.
        radius: f32,
        /// Half the distance between the centres of the caps, metres.
        half_length: f32,
    },
}

/// A shape in the world.
#[derive(Clone, Debug)]
pub struct Collider {
    /// What it is.
    pub shape: Shape,
    /// Where it is: a rigid map, scaled uniformly at most.
    pub world_from_shape: Affine,
    /// Coulomb coefficient, 0 slides.
    pub friction: f32,
}

/// The nearest point of a collider's surface, as seen from a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Metres, negative inside.
    pub distance: f32,
    /// Outward unit normal at the nearest surface point, world space.
    pub normal: Vec3,
}

impl Collider {
    /// A collider without friction.
    pub fn new(shape: Shape, world_from_shape: Affine) -> Self {
        Self {
            shape,
            world_from_shape,
            friction: 0.0,
        }
    }

    /// The nearest surface point to `point`, world space.
    pub fn contact(&self, point: Vec3) -> Contact {
        let origin = self.world_from_shape.translation;
        let y = self.world_from_shape.linear.column(1).into_owned();
        let scale = y.norm();
        match self.shape {
            Shape::Plane => {
                let normal = y / scale;
                Contact {
                    distance: normal.dot(&(point - origin)),
                    normal,
                }
            }
            Shape::Sphere { radius } => ball(point - origin, radius * scale),
            Shape::Capsule {
                radius,
                half_length,
            } => {
                let axis = y / scale;
                let reach = half_length * scale;
                let along = axis.dot(&(point - origin)).clamp(-reach, reach);
                ball(point - origin - axis * along, radius * scale)
            }
        }
    }
}

/// The contact with a ball about the origin; at its centre, where no direction is nearest, up.
fn ball(offset: Vec3, radius: f32) -> Contact {
    let distance = offset.norm();
    let normal = if distance > 0.0 {
        offset / distance
    } else {
        Vec3::y()
    };
    Contact {
        distance: distance - radius,
        normal,
    }
}
