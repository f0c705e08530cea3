//! Inverse distance: every bone pulls on every vertex, the nearer the more; smooth, blind to the surface.
//!
//! Cheap and total, but a hand on a hip is as near to the hip as a hip is: take
//! [`geodesic`](fn@super::geodesic) or heat where limbs come close.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{self, Bone, Bones, InverseDistanceOptions};
//!
//! let sheet = primitives::grid(2, 2, 1.0);
//! let point = |x, joint| Bone { head: Vec3::x() * x, tail: Vec3::x() * x, joint };
//! let bones = Bones::new(vec![point(-2.0, 0), point(2.0, 1)], 2)?;
//! let (weights, _) = weights::inverse_distance(&sheet, &bones, &InverseDistanceOptions::default())?;
//! let halfway = sheet.rest.positions.iter().position(|p| p.norm() == 0.0);
//! assert_eq!(halfway.map(|vertex| weights.weight(vertex, 0)), Some(0.5));
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::Mesh;

use super::surface::{Surface, check_positive};
use super::{BindReport, Bones, SkinWeights};
use crate::SkinError;

/// How [`inverse_distance`] falls off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseDistanceOptions {
    /// p of w = d⁻ᵖ; 2 is soft, 4 crisp.
    pub power: f64,
    /// The largest number of joints a vertex follows; `None` keeps all.
    pub influences: Option<usize>,
}

impl Default for InverseDistanceOptions {
    fn default() -> Self {
        Self {
            power: 4.0,
            influences: Some(4),
        }
    }
}

/// w = (d + ε)⁻ᵖ of each bone, divided by their sum; ε is 10⁻⁶ of the mesh's diagonal.
///
/// Several bones of a joint add up. A vertex that lies on bones follows those alone, in equal parts. O(V · B).
///
/// # Errors
///
/// [`SkinError::BadOption`] if the power is not positive, [`SkinError::Mesh`] for what [`Mesh::check`] finds.
pub fn inverse_distance(
    mesh: &Mesh,
    bones: &Bones,
    options: &InverseDistanceOptions,
) -> Result<(SkinWeights, BindReport), SkinError> {
    check_positive("power", options.power)?;
    let surface = Surface::new(mesh, bones)?;
    let row = |vertex: usize| {
        let distances = surface.distances(surface.positions[vertex]);
        let mut row: Vec<(u16, f64)> = distances.map(|(d, joint)| (joint, d)).collect();
        fall_off(&mut row, 1.0e-6 * surface.diagonal, options.power);
        row
    };
    surface.finish(row, Vec::new(), options.influences)
}

/// Turns distances into (nearest / distance)ᵖ: at most 1, at least one of them 1.
pub(super) fn fall_off(row: &mut [(u16, f64)], epsilon: f64, power: f64) {
    let nearest = row.iter().map(|(_, d)| *d).fold(f64::INFINITY, f64::min);
    for (_, value) in row {
        *value = if nearest == 0.0 {
            f64::from(u8::from(*value == 0.0))
        } else {
            ((nearest + epsilon) / (*value + epsilon)).powf(power)
        };
    }
}
