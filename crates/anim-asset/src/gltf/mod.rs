//! glTF 2.0 in its two containers: JSON with buffers beside it, and GLB.
//!
//! [`write()`] makes what the official validator passes. [`read`] never panics, and its memory is bounded by the size of the file. What breaks the format's rules but leaves
//! no doubt is repaired and becomes a [`Finding`](crate::Finding) with the official validator's code and JSON pointer;
//! what has no meaning (a cycle of nodes, an unknown required extension) is an [`AssetError`](crate::AssetError).
//!
//! A file passes the stages one after the other: `container` splits it, `json` parses, `validate` holds the JSON
//! against the tables of `schema`, `buffer` fetches bytes, `accessor` opens typed arrays and `bounds` looks at their
//! values, then `node`, `skin`, `mesh` (with `morph` and `tangent`) and `animation` build the document, `spring_bone` the drivers of VRM, and `rig` checks how its parts fit. `budget`
//! bounds them all, and `log` collects what they find.
//!
//! ```
//! let text = br#"{"asset": {"version": "2.0"}, "nodes": [{"name": "hip", "translation": [0, 1, 0]}]}"#;
//! let document = anim_asset::gltf::read(text, &mut |uri| Err(format!("no {uri} here")))?;
//! assert_eq!(document.nodes[0].rest.translation.y, 1.0);
//! assert!(document.findings.is_empty());
//! # Ok::<(), anim_asset::AssetError>(())
//! ```

mod accessor;
mod animation;
mod attribute;
mod bounds;
mod budget;
mod buffer;
mod container;
mod element;
mod influence;
mod json;
mod log;
mod mesh;
mod morph;
mod node;
mod read;
mod rig;
mod sampler;
mod schema;
mod secondary_animation;
mod skin;
mod spring_bone;
mod tangent;
mod triangle;
mod uri;
mod validate;
pub mod write;

pub(crate) use mesh::smooth_normals;
pub use read::read;
pub use write::{write, write_json};
