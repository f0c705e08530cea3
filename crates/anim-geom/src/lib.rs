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

pub mod ccd;
pub mod chunks;
pub mod closest;
pub mod components;
pub mod distance_field;
mod error;
pub mod geodesic;
pub mod height_field;
pub mod intersect;
mod intrinsic;
pub mod laplacian;
pub mod mesh;
pub mod mesh_bvh;
pub mod moving_bvh;
pub mod neighbors;
pub mod normals;
pub mod primitives;
pub mod shape;
pub mod simplify;
#[cfg(feature = "solve")]
pub mod sparse;
pub mod tangents;
pub mod tet;
pub mod topology;
pub mod voxel;
pub mod winding;

pub use components::Components;
pub use distance_field::DistanceField;
pub use error::GeomError;
pub use height_field::HeightField;
pub use laplacian::{Laplacian, LaplacianEdge};
pub use mesh::{Mesh, Vertices};
pub use mesh_bvh::{MeshBvh, MeshHit, MeshPoint, Occluder, Ridge};
pub use moving_bvh::MovingBvh;
pub use neighbors::Neighbors;
pub use shape::{Collider, Contact, Placed, RayHit, Shape};
pub use tet::TetMesh;
pub use voxel::{Cell, VoxelGrid, VoxelOptions};
pub use winding::WindingNumber;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
