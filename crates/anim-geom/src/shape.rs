//! Colliders: shapes placed in the world that answer how far a point is from their surface and where a ray meets it.
//!
//! Cloth, hair, particles and foot planting all ask the same two questions, [`Collider::contact`] and
//! [`Collider::ray`]. Answers are always finite: a collider whose frame is degenerate (scaled to nothing, NaN) is not
//! there, and a point that is not finite is near nothing.
//!
//! ```
//! use std::sync::Arc;
//!
//! use anim_geom::{Collider, MeshBvh, Shape, primitives};
//! use anim_math::{Affine, Vec3};
//!
//! let hills = MeshBvh::new(&primitives::grid(8, 8, 1.0))?;
//! let ground = Collider::new(Shape::Mesh(Arc::new(hills)), Affine::IDENTITY);
//! let hit = ground.ray(Vec3::new(0.3, 2.0, 0.1), -Vec3::y(), 5.0).ok_or("no ground below")?;
//! assert_eq!((hit.distance, hit.normal), (2.0, Vec3::y()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use anim_math::{Affine, Mat3, Vec3};

use crate::{DistanceField, HeightField, MeshBvh};

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
    /// A triangle mesh: solid if it is closed, otherwise a sheet with a front and a back.
    Mesh(Arc<MeshBvh>),
    /// A solid by its distances on a grid.
    Field(Arc<DistanceField>),
    /// Ground: solid below its surface.
    HeightField(Arc<HeightField>),
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

/// Where a ray meets a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// Metres from the origin of the ray.
    pub distance: f32,
    /// Outward unit normal of the surface there, world space.
    pub normal: Vec3,
}

impl Contact {
    /// The answer where there is nothing to touch.
    pub const FAR: Self = Self {
        distance: f32::MAX,
        normal: Vec3::new(0.0, 1.0, 0.0),
    };
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

    /// The collider made ready for many queries, or `None` if its frame is degenerate.
    ///
    /// A query costs a few nanoseconds then instead of taking the frame apart each time. Borrow one a step.
    pub fn placed(&self) -> Option<Placed<'_>> {
        let Affine {
            linear,
            translation,
        } = self.world_from_shape;
        let scale = linear.column(1).norm();
        let rotation = linear / scale;
        let finite = self.world_from_shape.is_finite() && scale.is_finite();
        let usable = scale > 0.0 && finite && rotation.iter().all(|c| c.is_finite());
        usable.then_some(Placed {
            shape: &self.shape,
            origin: translation,
            rotation,
            scale,
        })
    }

    /// The nearest surface point to `point`, world space.
    ///
    /// [`Contact::FAR`] if the frame is degenerate or `point` is not finite. A mesh costs a search of its hierarchy;
    /// prefer [`contact_within`](Self::contact_within) where a contact farther off does not matter.
    pub fn contact(&self, point: Vec3) -> Contact {
        self.contact_within(point, f32::INFINITY)
            .unwrap_or(Contact::FAR)
    }

    /// The nearest surface point to `point`, or `None` if its distance exceeds `max_distance`, metres.
    ///
    /// Solids answer at any depth, except a mesh, which is searched no deeper than `max_distance` below its surface.
    pub fn contact_within(&self, point: Vec3, max_distance: f32) -> Option<Contact> {
        self.placed()?.contact_within(point, max_distance)
    }

    /// Where the ray from `origin` along `direction` first meets the surface, from either side.
    ///
    /// World space; `direction` need not be of unit length; `max_distance` in metres. From inside, the hit is where the
    /// ray leaves, with the normal along it. `None` if there is no hit, the ray is zero or not finite, or the frame is
    /// degenerate.
    pub fn ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        self.placed()?.ray(origin, direction, max_distance)
    }
}

/// A [`Collider`] with its frame taken apart: world = origin + scale · rotation · shape.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    shape: &'a Shape,
    origin: Vec3,
    /// Orthogonal; a mirrored frame keeps its mirror.
    rotation: Mat3,
    scale: f32,
}

impl Placed<'_> {
    /// As [`Collider::contact_within`].
    #[inline]
    pub fn contact_within(&self, point: Vec3, max_distance: f32) -> Option<Contact> {
        let offset = point - self.origin;
        let axis = self.rotation.column(1).into_owned();
        let contact = match self.shape {
            Shape::Plane => Contact {
                distance: axis.dot(&offset),
                normal: axis,
            },
            Shape::Sphere { radius } => ball(offset, radius * self.scale),
            Shape::Capsule {
                radius,
                half_length,
            } => {
                let reach = half_length.max(0.0) * self.scale;
                let along = axis.dot(&offset).max(-reach).min(reach);
                ball(offset - axis * along, radius * self.scale)
            }
            Shape::Mesh(mesh) => {
                let nearest = mesh.nearest_within(self.local(point), max_distance / self.scale)?;
                Contact {
                    distance: nearest.distance * self.scale,
                    normal: self.rotation * nearest.normal,
                }
            }
            Shape::Field(field) => {
                let (distance, gradient) = field.sample(self.local(point));
                let normal = gradient.try_normalize(1.0e-6).unwrap_or(Vec3::y());
                Contact {
                    distance: distance * self.scale,
                    normal: self.rotation * normal,
                }
            }
            Shape::HeightField(ground) => {
                let limit = max_distance / self.scale;
                let nearest = ground.nearest_within(self.local(point), limit)?;
                Contact {
                    distance: nearest.distance * self.scale,
                    normal: self.rotation * nearest.normal,
                }
            }
        };
        // A point that is not finite has a distance that is not; a limit of ±∞ must not let it pass.
        (contact.distance <= max_distance && contact.distance.is_finite()).then_some(contact)
    }

    /// As [`Collider::ray`].
    pub fn ray(&self, origin: Vec3, direction: Vec3, max_distance: f32) -> Option<RayHit> {
        // Scaling first keeps the length of tiny and of huge directions.
        let direction = self
            .rotation
            .tr_mul(&(direction / direction.amax()))
            .try_normalize(0.5)?;
        let origin = self.local(origin);
        let (distance, normal) = match self.shape {
            Shape::Plane => (-origin.y / direction.y, Vec3::y()),
            Shape::Sphere { radius } => {
                let distance = ray_ball(origin, direction, *radius)?;
                (distance, (origin + direction * distance) / *radius)
            }
            Shape::Capsule {
                radius,
                half_length,
            } => ray_capsule(origin, direction, *radius, half_length.max(0.0))?,
            Shape::Mesh(mesh) => {
                let hit = mesh.ray(origin, direction, max_distance / self.scale)?;
                (hit.distance, hit.normal)
            }
            Shape::Field(field) => {
                let hit = field.ray(origin, direction, max_distance / self.scale)?;
                (hit.distance, hit.normal)
            }
            Shape::HeightField(ground) => {
                let hit = ground.ray(origin, direction, max_distance / self.scale)?;
                (hit.distance, hit.normal)
            }
        };
        let hit = RayHit {
            distance: distance * self.scale,
            normal: self.rotation * normal,
        };
        let usable = hit.distance.is_finite() && hit.normal.iter().all(|c| c.is_finite());
        (usable && hit.distance >= 0.0 && hit.distance <= max_distance).then_some(hit)
    }

    fn local(&self, world: Vec3) -> Vec3 {
        self.rotation.tr_mul(&(world - self.origin)) / self.scale
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

/// Where a unit ray first crosses a ball about the origin, at or after its start.
fn ray_ball(origin: Vec3, direction: Vec3, radius: f32) -> Option<f32> {
    // The perpendicular offset is formed before it is squared: b² − c would cancel for an origin far away.
    let along = -origin.dot(&direction);
    let offset = origin + direction * along;
    let half_chord_squared = radius * radius - offset.norm_squared();
    first_crossing(along, half_chord_squared)
}

/// The smaller of `middle` ∓ √`half_squared` that is not negative.
fn first_crossing(middle: f32, half_squared: f32) -> Option<f32> {
    if half_squared < 0.0 {
        return None;
    }
    let half = half_squared.sqrt();
    [middle - half, middle + half]
        .into_iter()
        .find(|distance| *distance >= 0.0)
}

/// Where a unit ray first crosses a capsule along y, and the normal there.
fn ray_capsule(
    origin: Vec3,
    direction: Vec3,
    radius: f32,
    half_length: f32,
) -> Option<(f32, Vec3)> {
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
    let (o, d) = (flat(origin), flat(direction));
    let d_squared = d.norm_squared();
    let mut best: Option<(f32, Vec3)> = None;
    let mut consider = |distance: f32, center: Vec3| {
        let hit = origin + direction * distance;
        if distance >= 0.0 && best.is_none_or(|(old, _)| distance < old) {
            best = Some((distance, (hit - center) / radius));
        }
    };
    if d_squared > 0.0 {
        let middle = -o.dot(&d) / d_squared;
        let offset = o + d * middle;
        let half_squared = (radius * radius - offset.norm_squared()) / d_squared;
        if half_squared >= 0.0 {
            let half = half_squared.sqrt();
            for distance in [middle - half, middle + half] {
                let y = origin.y + direction.y * distance;
                if y.abs() <= half_length {
                    consider(distance, Vec3::new(0.0, y, 0.0));
                }
            }
        }
    }
    for end in [-half_length, half_length] {
        let center = Vec3::new(0.0, end, 0.0);
        let along = (center - origin).dot(&direction);
        let offset = origin - center + direction * along;
        let half_squared = radius * radius - offset.norm_squared();
        if half_squared >= 0.0 {
            let half = half_squared.sqrt();
            for distance in [along - half, along + half] {
                // The half of the sphere inside the tube is not surface.
                if (origin.y + direction.y * distance) * end.signum() >= half_length {
                    consider(distance, center);
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives;
    use anim_math::{Quat, Transform, quat};
    use proptest::prelude::*;

    fn shapes() -> Vec<Shape> {
        let bvh = MeshBvh::new(&primitives::cuboid(Vec3::new(0.5, 0.7, 0.3))).unwrap();
        vec![
            Shape::Plane,
            Shape::Sphere { radius: 0.8 },
            Shape::Capsule {
                radius: 0.4,
                half_length: 0.6,
            },
            Shape::Mesh(Arc::new(bvh)),
        ]
    }

    fn frame(rotation: Quat, scale: f32, translation: Vec3) -> Affine {
        Affine::from(Transform {
            translation,
            rotation,
            scale: Vec3::repeat(scale),
        })
    }

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        let c = -size..size;
        [c.clone(), c.clone(), c].prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn contacts_move_turn_and_scale_with_their_frame(
            point in vector(2.0), axis in vector(1.0), translation in vector(3.0), scale in 0.1f32..5.0,
        ) {
            prop_assume!(axis.norm() > 0.1);
            let rotation = quat::from_axis_angle(axis.normalize(), 1.3);
            let world_from_shape = frame(rotation, scale, translation);
            for shape in shapes() {
                let here = Collider::new(shape.clone(), Affine::IDENTITY).contact(point);
                let there = Collider::new(shape, world_from_shape).contact(world_from_shape.transform_point(point));
                prop_assert!((there.distance - here.distance * scale).abs() < 1e-5 * (1.0 + scale) * 4.0);
                // Nearer than this the direction is rounding; at a box's medial axis it jumps.
                if here.distance.abs() > 0.01 && here.distance > -0.1 {
                    prop_assert!((there.normal - rotation * here.normal).norm() < 1e-3);
                }
            }
        }

        #[test]
        fn a_ray_ends_on_the_surface_and_nothing_lies_before(
            origin in vector(3.0), direction in vector(1.0), scale in 0.2f32..3.0,
        ) {
            prop_assume!(direction.norm() > 0.1);
            let world_from_shape = frame(quat::from_axis_angle(Vec3::z(), 0.4), scale, Vec3::new(0.3, -0.2, 0.1));
            let unit = direction.normalize();
            for shape in shapes() {
                let collider = Collider::new(shape, world_from_shape);
                let side = collider.contact(origin).distance;
                let hit = collider.ray(origin, direction, 20.0);
                if let Some(hit) = hit {
                    let contact = collider.contact(origin + unit * hit.distance);
                    prop_assert!(contact.distance.abs() < 2e-4, "{contact:?} {hit:?}");
                    prop_assert!((hit.normal.norm() - 1.0).abs() < 1e-4);
                    prop_assert!(hit.normal.dot(&unit) * side <= 1e-3);
                }
                let end = hit.map_or(20.0, |hit| hit.distance);
                for step in 0..50 {
                    let distance = collider.contact(origin + unit * (end * step as f32 / 50.0)).distance;
                    prop_assert!(distance * side.signum() > -2e-4);
                }
            }
        }
    }

    #[test]
    fn rays_meet_each_shape_at_the_closed_form_distance() {
        let down = |shape: &Shape, x: f32| {
            Collider::new(shape.clone(), Affine::IDENTITY).ray(
                Vec3::new(x, 3.0, 0.0),
                -2.0 * Vec3::y(),
                10.0,
            )
        };
        let shapes = shapes();
        let expected = [3.0, 2.2, 2.0, 2.3];
        for (shape, expected) in shapes.iter().zip(expected) {
            let hit = down(shape, 0.0).unwrap();
            assert!((hit.distance - expected).abs() < 1e-6, "{shape:?}");
            assert!((hit.normal - Vec3::y()).norm() < 1e-6);
        }
        for shape in &shapes[1..] {
            assert_eq!(down(shape, 0.9), None);
        }
        let capsule = Collider::new(shapes[2].clone(), Affine::IDENTITY);
        let side = capsule
            .ray(Vec3::new(2.0, 0.5, 0.0), -Vec3::x(), 10.0)
            .unwrap();
        assert!((side.distance - 1.6).abs() < 1e-6 && (side.normal - Vec3::x()).norm() < 1e-6);
        assert_eq!(capsule.ray(Vec3::new(2.0, 0.5, 0.0), -Vec3::x(), 1.5), None);
    }

    #[test]
    fn a_plane_is_met_from_above_and_from_below_and_not_along() {
        let plane = Collider::new(Shape::Plane, Affine::IDENTITY);
        assert_eq!(plane.ray(-Vec3::y(), Vec3::y(), 2.0).unwrap().distance, 1.0);
        assert_eq!(plane.ray(Vec3::y(), Vec3::x(), f32::INFINITY), None);
        assert_eq!(plane.ray(Vec3::y(), Vec3::y(), f32::INFINITY), None);
    }

    #[test]
    fn contacts_beyond_the_limit_are_none_and_depth_is_not_limited() {
        for shape in shapes() {
            let collider = Collider::new(shape, Affine::IDENTITY);
            let above = Vec3::new(0.0, 3.0, 0.0);
            assert_eq!(collider.contact_within(above, 1.0), None);
            assert_eq!(
                collider.contact_within(above, 4.0),
                Some(collider.contact(above))
            );
        }
        let ball = Collider::new(Shape::Sphere { radius: 5.0 }, Affine::IDENTITY);
        assert_eq!(ball.contact_within(Vec3::x(), 0.0).unwrap().distance, -4.0);
    }

    #[test]
    fn degenerate_frames_and_points_are_far_and_never_panic() {
        let bad = [
            frame(Quat::identity(), 0.0, Vec3::zeros()),
            frame(Quat::identity(), f32::NAN, Vec3::zeros()),
            frame(Quat::identity(), f32::INFINITY, Vec3::zeros()),
            frame(Quat::identity(), 1.0, Vec3::repeat(f32::NAN)),
            frame(Quat::identity(), 1.0e30, Vec3::zeros()),
        ];
        let mut shapes = shapes();
        shapes.push(Shape::Capsule {
            radius: f32::NAN,
            half_length: f32::NAN,
        });
        shapes.push(Shape::Capsule {
            radius: -1.0,
            half_length: -1.0,
        });
        for shape in shapes {
            for world_from_shape in bad {
                let collider = Collider::new(shape.clone(), world_from_shape);
                assert_eq!(collider.contact(Vec3::y()), Contact::FAR);
                assert_eq!(collider.ray(Vec3::y(), -Vec3::y(), 10.0), None);
            }
            let collider = Collider::new(shape, Affine::IDENTITY);
            for point in [Vec3::repeat(f32::NAN), Vec3::repeat(f32::INFINITY)] {
                assert_eq!(collider.contact(point), Contact::FAR);
                assert_eq!(collider.ray(point, Vec3::y(), 1.0), None);
                assert_eq!(collider.ray(Vec3::zeros(), point, 1.0), None);
            }
        }
    }

    #[test]
    fn the_centre_of_a_ball_is_inside_with_a_normal() {
        let ball = Collider::new(Shape::Sphere { radius: 2.0 }, Affine::IDENTITY);
        let contact = ball.contact(Vec3::zeros());
        assert_eq!((contact.distance, contact.normal), (-2.0, Vec3::y()));
    }
}
