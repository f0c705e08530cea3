//! Geometry that skinning, simulation, particles and pictures share: meshes, normals, primitives, colliders and
//! neighbour search.
//!
//! ```
//! use anim_geom::{Collider, Shape};
//! use anim_math::{Affine, Vec3};
//!
//! let ball = Collider::new(Shape::Sphere { radius: 1.0 }, Affine::IDENTITY);
//! let contact = ball.contact(Vec3::new(0.0, 3.0, 0.0));
//! assert_eq!(contact.distance, 2.0);
//! assert_eq!(contact.normal, Vec3::y());
//! ```

mod error;
pub mod mesh;
pub mod shape;

pub use error::GeomError;
pub use mesh::{Mesh, Vertices};
pub use shape::{Collider, Contact, Shape};
