//! Alembic: moving meshes and curves as film tools exchange them, every vertex of every frame, out and in again.
//!
//! For simulated cloth, hair and solids on their way to a renderer, where glTF's morph targets are too few. The file is an
//! Ogawa archive of polygon meshes and linear curves, each under a transform, with positions, normals, velocities and
//! widths sampled at an even rate; what does not change is stored once. Subdivision surfaces, NURBS, points, cameras,
//! materials and texture coordinates are left out. [`read()`] takes in what [`write()`] makes, for going on with a cache and for tests.
//!
//! ```
//! use anim_asset::alembic::{self, AbcObject, AbcScene, AbcShape, AbcFrame};
//! use anim_math::Vec3;
//!
//! let frame = |height: f32| AbcFrame {
//!     positions: vec![Vec3::zeros(), Vec3::x(), Vec3::new(0.0, height, 0.0)],
//!     ..AbcFrame::default()
//! };
//! let scene = AbcScene {
//!     objects: vec![AbcObject {
//!         name: "flag".into(),
//!         shape: AbcShape::Mesh { faces: vec![vec![0, 1, 2]] },
//!         frames: vec![frame(1.0), frame(1.5)],
//!         ..AbcObject::default()
//!     }],
//!     ..AbcScene::default()
//! };
//! let bytes = alembic::write(&scene)?;
//! assert_eq!(&bytes[..5], b"Ogawa");
//! assert_eq!(alembic::read(&bytes)?, scene);
//! # Ok::<(), anim_asset::AssetError>(())
//! ```

mod archive;
mod digest;
mod property;
mod read;
mod write;

use anim_math::{Affine, Vec3};

use crate::AssetError;

pub use read::read;
pub use write::write;

/// What moves, frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub struct AbcScene {
    /// Time of the first frame, s.
    pub start: f64,
    /// From frame to frame, s, positive.
    pub step: f64,
    /// In any order; names differ.
    pub objects: Vec<AbcObject>,
}

impl Default for AbcScene {
    /// Nothing, at 24 frames a second.
    fn default() -> Self {
        Self {
            start: 0.0,
            step: 1.0 / 24.0,
            objects: Vec::new(),
        }
    }
}

/// A shape under a transform.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AbcObject {
    /// Not empty, without `/`.
    pub name: String,
    /// Where the shape is: once, or at each frame; empty: the identity.
    pub world_from_shape: Vec<Affine>,
    /// What it is, at all frames.
    pub shape: AbcShape,
    /// F: once, or at each frame.
    pub frames: Vec<AbcFrame>,
}

/// How the vertices of an object hang together.
#[derive(Clone, Debug, PartialEq)]
pub enum AbcShape {
    /// Polygons.
    Mesh {
        /// The vertices of each face, three or more, counter-clockwise seen from outside.
        faces: Vec<Vec<u32>>,
    },
    /// Polylines.
    Curves {
        /// Vertices of each curve, one after the other.
        counts: Vec<u32>,
        /// V, diameters, metres; or empty.
        widths: Vec<f32>,
    },
}

impl Default for AbcShape {
    fn default() -> Self {
        Self::Mesh { faces: Vec::new() }
    }
}

/// The vertices of an object at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AbcFrame {
    /// V, in the object's space, metres.
    pub positions: Vec<Vec3>,
    /// V, unit length; or empty, in all frames.
    pub normals: Vec<Vec3>,
    /// V, m/s, which renderers blur motion by; or empty, in all frames.
    pub velocities: Vec<Vec3>,
}

impl AbcScene {
    /// Checks what [`write()`] relies on.
    ///
    /// # Errors
    ///
    /// With a pointer such as `/objects/2/frames/0`: `ABC_TIME` for a step that is not positive, `ABC_NAME` for a name that is
    /// empty, repeated or holds a `/` or a NUL, `ABC_COUNT` for arrays that do not fit each other, `ABC_INDEX` for a face
    /// that is too small or names a vertex that is not there, `ABC_NUMBER` for what is not finite.
    pub fn check(&self) -> Result<(), AssetError> {
        if !(self.step > 0.0 && self.step.is_finite() && self.start.is_finite()) {
            return Err(fault("ABC_TIME", "/step".into(), "not positive and finite"));
        }
        let mut names: Vec<&str> = self
            .objects
            .iter()
            .map(|object| object.name.as_str())
            .collect();
        names.sort_unstable();
        let repeated = names.windows(2).find(|pair| pair[0] == pair[1]);
        for (index, object) in self.objects.iter().enumerate() {
            let unusable = object.name.is_empty() || object.name.contains(['/', '\0']);
            if unusable || repeated.is_some_and(|pair| pair[0] == object.name) {
                let location = format!("/objects/{index}/name");
                return Err(fault(
                    "ABC_NAME",
                    location,
                    "empty, repeated, or with a slash",
                ));
            }
            object.check(&format!("/objects/{index}"))?;
        }
        Ok(())
    }
}

impl AbcObject {
    fn check(&self, location: &str) -> Result<(), AssetError> {
        let count =
            |what: &str, message| Err(fault("ABC_COUNT", format!("{location}/{what}"), message));
        let number = |what: String| Err(fault("ABC_NUMBER", what, "not finite"));
        let Some(first) = self.frames.first() else {
            return count("frames", "none");
        };
        let transforms = self.world_from_shape.len();
        if transforms > 1 && self.frames.len() > 1 && transforms != self.frames.len() {
            return count("world_from_shape", "not as many as frames");
        }
        if !self.world_from_shape.iter().all(Affine::is_finite) {
            return number(format!("{location}/world_from_shape"));
        }
        let vertices = first.positions.len();
        for (index, frame) in self.frames.iter().enumerate() {
            let place = format!("frames/{index}");
            let normals = frame.normals.len() == first.normals.len();
            let velocities = frame.velocities.len() == first.velocities.len();
            if frame.positions.len() != vertices || !normals || !velocities {
                return count(&place, "not as many values as in the first frame");
            }
            let values = [&frame.positions, &frame.normals, &frame.velocities];
            if values
                .iter()
                .any(|values| !(values.is_empty() || values.len() == vertices))
            {
                return count(&place, "not one value a vertex");
            }
            if !values
                .into_iter()
                .flatten()
                .flatten()
                .all(|c| c.is_finite())
            {
                return number(format!("{location}/{place}"));
            }
        }
        match &self.shape {
            AbcShape::Mesh { faces } => {
                let unusable = |face: &Vec<u32>| {
                    face.len() < 3 || face.iter().any(|v| *v as usize >= vertices)
                };
                if let Some(face) = faces.iter().position(unusable) {
                    let location = format!("{location}/faces/{face}");
                    let message = "fewer than three corners, or a vertex that does not exist";
                    return Err(fault("ABC_INDEX", location, message));
                }
            }
            AbcShape::Curves { counts, widths } => {
                if counts.iter().map(|n| u64::from(*n)).sum::<u64>() != vertices as u64 {
                    return count("counts", "their sum is not the number of vertices");
                }
                if !(widths.is_empty() || widths.len() == vertices) {
                    return count("widths", "not one a vertex");
                }
                if !widths.iter().all(|width| width.is_finite()) {
                    return number(format!("{location}/widths"));
                }
            }
        }
        Ok(())
    }
}

fn fault(code: &'static str, location: String, message: &str) -> AssetError {
    AssetError {
        code,
        location,
        message: message.into(),
    }
}
