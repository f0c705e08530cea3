//! Muscles that swell as joints bend: vertices pushed out along their normals before the skin moves them.
//!
//! A muscle keeps its volume V = A·L: at half its length it has twice the cross-section and √2 times the radius. One
//! [`Bulge`] is one muscle's painted vertices; a frame gives it the muscle's length, say that of
//! [`Bulge::length_ratio`] from the bend of an elbow. For anatomy use a simulated muscle; this costs a multiply.
//!
//! ```
//! use anim_skin::Bulge;
//!
//! // A straight elbow has the muscle at rest; at 90° it is the hypotenuse of 0.2 m and 0.1 m.
//! assert_eq!(Bulge::length_ratio(0.0, 0.2, 0.1), 1.0);
//! let ratio = Bulge::length_ratio(90_f32.to_radians(), 0.2, 0.1);
//! assert!((ratio - 0.05_f32.sqrt() / 0.3).abs() < 1e-6);
//! ```

use crate::region_mask::check_factors;
use crate::{SkinError, SkinnedMesh, VertexBlocks};

/// Lengths below this share of the rest length bulge no further.
const SHORTEST: f32 = 0.1;

/// The vertices over one muscle.
#[derive(Clone, Debug, PartialEq)]
pub struct Bulge {
    vertex_count: usize,
    /// Bind units.
    radius: f32,
    /// Vertices in block order and their weights.
    weights: Vec<(u32, f32)>,
}

impl Bulge {
    /// A muscle that is `radius` thick at rest under the vertices with weight (source order, one each, 1 at the belly).
    ///
    /// * `radius`: in the units that the mesh is stored in, as the skin moves the vertices afterwards: metres for most, but
    ///   centimetres where bind matrices make metres of centimetres.
    ///
    /// # Errors
    ///
    /// [`SkinError::Count`] if the weights are not one a vertex, [`SkinError::NotFinite`] if one or the radius is NaN or
    /// infinite.
    pub fn new(skin: &SkinnedMesh, weights: &[f32], radius: f32) -> Result<Self, SkinError> {
        check_factors("bulge", skin, weights)?;
        if !radius.is_finite() {
            return Err(SkinError::NotFinite {
                what: "radius of bulge",
                index: 0,
            });
        }
        let sources = skin.source_from_vertex().iter().enumerate();
        let weights = sources.map(|(vertex, source)| (vertex as u32, weights[*source as usize]));
        Ok(Self {
            vertex_count: skin.vertex_count(),
            radius,
            weights: weights.filter(|(_, weight)| *weight != 0.0).collect(),
        })
    }

    /// The length of a muscle over that at rest, when its joint is bent by `angle`, rad, from straight.
    ///
    /// * `origin`, `insertion`: distances of its ends from the joint, metres, positive. By the law of cosines
    ///   L² = a² + b² + 2ab cos θ.
    pub fn length_ratio(angle: f32, origin: f32, insertion: f32) -> f32 {
        let product = 2.0 * origin * insertion * libm::cosf(angle);
        let square = origin * origin + insertion * insertion + product;
        square.max(0.0).sqrt() / (origin + insertion)
    }

    /// Pushes the vertices of `vertices` (morphed ones, not yet skinned) out by `radius · (√(1 / length_ratio) − 1)`, in the
    /// units of the mesh.
    ///
    /// Ratios below 0.1 count as 0.1, those above 1 thin the limb. O(vertices with weight); allocates nothing.
    ///
    /// # Panics
    ///
    /// If `vertices` is of another mesh.
    pub fn apply(&self, length_ratio: f32, vertices: &mut VertexBlocks) {
        assert_eq!(
            vertices.len(),
            self.vertex_count,
            "vertices of another mesh"
        );
        let growth = self.radius * ((1.0 / length_ratio.max(SHORTEST)).sqrt() - 1.0);
        for (vertex, weight) in &self.weights {
            let vertex = *vertex as usize;
            let out = vertices.normal(vertex) * (growth * weight);
            vertices.set_position(vertex, vertices.position(vertex) + out);
        }
    }
}
