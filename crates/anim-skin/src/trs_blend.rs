//! Blends translations, rotations and stretches apart: the decomposition M = T·R·S that many texts propose.
//!
//! `v′ = R(Σ wⱼ qⱼ) · (Σ wⱼ Sⱼ) v + Σ wⱼ tⱼ`. It looks better than the linear blend only near the origin of the model: a
//! rotation about a far joint is split into a turn about the origin and a long shift, the two blend at different rates,
//! and the surface swings inward by up to |p|·(1 − cos(θ/2)) at distance |p| of the joint from the origin.
//! Moving the model in its own space changes its shape. Here for comparison; prefer
//! [`dual_quaternion`](crate::dual_quaternion) or [`rotation_center`](crate::rotation_center).
//!
//! ```
//! # use anim_geom::Mesh;
//! # use anim_math::{Affine, Transform};
//! # use anim_skeleton::{JointSpec, Skeleton};
//! # use anim_skin::{DualPalette, Influences, SkinnedMesh, VertexBlocks};
//! # let skeleton = Skeleton::new(vec![JointSpec { name: None, parent: None, rest: Transform::IDENTITY }])?;
//! # let skin = SkinnedMesh::new(
//! #     &Mesh::default(), &[skeleton.joint(0)], &[Affine::IDENTITY], &Influences::rigid(0), &[])?;
//! let mut surface = VertexBlocks::new(skin.vertex_count());
//! skin.trs_blend(skin.rest(), &DualPalette::new(1), &mut surface);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Vec3;

use crate::rigid_blend::{mean_place, mean_rotation};
use crate::{DualPalette, SkinnedMesh, VertexBlocks};

impl SkinnedMesh {
    /// Moves `source` by the separate means of translation, rotation and stretch; O(V · joints), not vectorised.
    ///
    /// Normals stay unit. The same bits for any number of threads; allocates nothing.
    ///
    /// # Panics
    ///
    /// If `source` or `out` has another number of vertices than this mesh, or `motions` another number of joints.
    pub fn trs_blend(&self, source: &VertexBlocks, motions: &DualPalette, out: &mut VertexBlocks) {
        self.move_each(source, motions, out, |_, _| {
            |influences, lane| {
                let influences = influences.of(lane);
                let shift = mean_place(influences.clone(), motions, Vec3::zeros());
                (mean_rotation(influences, motions), shift)
            }
        });
    }
}
