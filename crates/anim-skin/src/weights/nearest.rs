//! Nearest bone: each vertex follows one bone, whole; robots, armour and a first look.
//!
//! Weights jump where bones meet, so anything soft wants another method. Bones that are equally near share a vertex, so that
//! a symmetric mesh has symmetric weights.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{self, Bone, Bones, NearestOptions};
//!
//! let tube = primitives::tube(0.2, 1.0, 8, 4);
//! let bone = |from: f32, joint| Bone { head: Vec3::y() * from, tail: Vec3::y() * (from + 1.0), joint };
//! let bones = Bones::new(vec![bone(-1.0, 0), bone(0.0, 1)], 2)?;
//! let (weights, _) = weights::nearest(&tube, &bones, &NearestOptions::default())?;
//! assert_eq!(weights.row(0).collect::<Vec<_>>(), [(0, 1.0)]);
//! assert_eq!(weights.weight(2 * 9, 0), 0.5, "the ring where they meet");
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Mesh;

use super::surface::Surface;
use super::{BindReport, Bones, SkinWeights};
use crate::SkinError;

/// How [`nearest`] chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearestOptions {
    /// Bones behind other parts of the mesh count only for vertices that see none.
    pub visible_only: bool,
}

/// Each vertex follows the bone with the least distance from it; those within 10⁻⁴ of that share it.
///
/// O(V · B), and a ray each if only visible bones count.
///
/// # Errors
///
/// [`SkinError::Mesh`] for what [`Mesh::check`] finds.
pub fn nearest(
    mesh: &Mesh,
    bones: &Bones,
    options: &NearestOptions,
) -> Result<(SkinWeights, BindReport), SkinError> {
    let surface = Surface::new(mesh, bones)?;
    let nearest = surface.nearest(options.visible_only);
    surface.finish(
        |vertex| nearest[vertex].shares(1.0).collect(),
        Vec::new(),
        None,
    )
}
