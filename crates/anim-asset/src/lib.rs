//! Files: glTF and GLB in and out, OBJ in, Alembic out, and our own pack.
//!
//! A [`Document`] is everything animation needs of a file, in the file's own order, with a list of [`Finding`]s that say
//! what was wrong and what was done about it. Nothing here opens a file but [`load`].
//!
//! ```
//! let text = br#"{"asset": {"version": "2.0"}, "nodes": [{"rotation": [0, 0, 0, 2]}]}"#;
//! let document = anim_asset::gltf::read(text, &mut |uri| Err(format!("no {uri} here")))?;
//! assert_eq!(document.findings[1].code, "ROTATION_NON_UNIT");
//! assert_eq!(document.findings[1].location, "/nodes/0/rotation");
//! assert_eq!(document.skeleton().map(|skeleton| skeleton.len()), Ok(1));
//! # Ok::<(), anim_asset::AssetError>(())
//! ```

pub mod alembic;
pub mod baked;
mod bones;
pub mod builtin;
pub mod document;
mod document_check;
mod encode;
mod error;
pub mod file;
pub mod finding;
pub mod gltf;
pub mod obj;
pub mod pack;

pub use document::{Document, MeshSpec, Node, Primitive, SkinSpec, SurfaceSpec, TangentSpec};
pub use encode::{Format, encode};
pub use error::AssetError;
pub use file::{SourceFormat, load, load_as};
pub use finding::{Finding, Severity};
