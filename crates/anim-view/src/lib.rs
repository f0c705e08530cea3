//! A software renderer for characters: PNG frames, contact sheets and onion skins.
//!
//! It needs no graphics card, no window and no driver, and gives the same bytes on every machine and for any number of
//! threads, so that pictures serve people, documentation and tests alike. Note down what to draw on a [`Canvas`], and
//! [`finish`](Canvas::finish) it to an [`Image`]; [`sheet()`] and [`animation`] make one picture of many. For
//! interaction, use a real renderer: this one takes tens of milliseconds a frame.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_view::{Camera, Canvas, Style};
//!
//! // A tetrahedron on the ground.
//! let positions = [Vec3::zeros(), Vec3::z(), Vec3::x(), Vec3::y()];
//! let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
//!
//! let mut canvas = Canvas::new(160, 120, 2)?;
//! let camera = Camera::framing(Vec3::zeros(), Vec3::repeat(1.0), 0.5, 0.3, canvas.aspect());
//! canvas.ground_grid(&camera, 0.0, 5.0);
//! canvas.mesh(&camera, &positions, &[], &triangles, &Style { wire: true, ..Style::default() });
//! canvas.text(6, 6, "rest pose", 7, [0.0; 3]);
//! let png = canvas.finish().to_png();
//! # assert!(png.len() > 500);
//! # Ok::<(), anim_view::ViewError>(())
//! ```

pub mod camera;
pub mod canvas;
pub mod collider;
pub mod color;
mod error;
mod frame;
pub mod image;
pub mod overlay;
pub mod plot;
mod raster;
mod shade;
mod shadow;
pub mod sheet;
pub mod text;

pub use camera::{Camera, Projection};
pub use canvas::{Canvas, Style};
pub use error::ViewError;
pub use image::{Image, animation};
pub use sheet::sheet;
