//! Skinning: any mesh, any number of influences, morph targets first, normals right.
//!
//! [`SkinnedMesh`] is the model: vertices in blocks of eight that share a joint list, with everything a frame needs
//! remapped once. [`VertexBlocks`] is what a frame writes, [`Palette`] the matrices between the two.
//!
//! One frame is three calls, none of which allocates: [`SkinnedMesh::morph`] displaces the rest vertices,
//! [`SkinnedMesh::palette`] turns a pose into `model_from_bind` matrices, [`SkinnedMesh::linear`] moves the vertices. Where
//! joints twist, [`SkinnedMesh::dual_palette`] and [`SkinnedMesh::dual_quaternion`] take the place of the last,
//! or one of [`rotation_center`], [`delta_mush`] and the other deformers of this crate.
//! All work in model space: a character a kilometre from the origin is as exact as one at it.
//!
//! ```
//! use anim_geom::{Mesh, Vertices};
//! use anim_math::{Affine, Transform, Vec3};
//! use anim_skeleton::{Globals, JointSpec, Skeleton};
//! use anim_skin::{Influences, SkinnedMesh, VertexBlocks};
//!
//! let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! let mesh = Mesh {
//!     rest: Vertices { positions: vec![Vec3::x(); 3], normals: vec![Vec3::z(); 3] },
//!     ..Mesh::default()
//! };
//! let joints = [skeleton.joint(0)];
//! let skin = SkinnedMesh::new(&mesh, &joints, &[Affine::IDENTITY], &Influences::rigid(3), &[])?;
//!
//! let mut globals = Globals::new(&skeleton);
//! globals.set(joints[0], Transform::from_translation(Vec3::y()).into());
//! let mut palette = skin.palette_buffer();
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! skin.palette(&globals, &mut palette);
//! skin.linear(skin.rest(), &palette, &mut surface);
//! assert_eq!(surface.position(0), Vec3::new(1.0, 1.0, 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bounds;
pub mod bulge;
pub mod delta_mush;
#[cfg(feature = "solve")]
pub mod direct_delta_mush;
pub mod dual_palette;
pub mod dual_quaternion;
mod error;
pub mod influences;
pub mod linear;
pub mod lod;
pub mod log_blend;
pub mod morph;
pub mod motion_bounds;
#[cfg(feature = "solve")]
mod nearest_rotation;
pub mod palette;
pub mod pose_space;
pub mod region_mask;
mod rigid_blend;
pub mod rotation_center;
pub mod simplify;
mod skin_blocks;
pub mod skinned_mesh;
pub mod spherical_blend;
mod surface_graph;
pub mod tangents;
pub mod trs_blend;
mod vectors;
pub mod vertex_blocks;
pub mod weight_rows;
pub mod weights;

pub use bounds::{Aabb, JointBounds};
pub use bulge::Bulge;
pub use delta_mush::{DeltaMush, DeltaMushOptions, DeltaMushScratch};
#[cfg(feature = "solve")]
pub use direct_delta_mush::{DirectDeltaMush, DirectDeltaMushOptions};
pub use dual_palette::DualPalette;
pub use error::SkinError;
pub use influences::Influences;
pub use lod::{LodState, MeshLod};
pub use log_blend::LogMotions;
pub use morph::MorphTarget;
pub use motion_bounds::MotionBounds;
pub use palette::Palette;
pub use pose_space::{Kernel, PoseSpace};
pub use region_mask::RegionMask;
pub use rotation_center::{RotationCenterOptions, RotationCenters};
pub use simplify::{SkinLevel, SkinLodOptions, simplify_skinned};
pub use skinned_mesh::SkinnedMesh;
pub use tangents::{TangentBlocks, TangentMorphs, TangentTarget};
pub use vertex_blocks::{VertexBlock, VertexBlocks};
pub use weight_rows::{WeightFault, WeightReport};
pub use weights::SkinWeights;

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
