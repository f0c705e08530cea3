//! Spherical blend skinning: blended rotations about the point on which the joints of a block agree best.
//!
//! The forerunner of dual quaternions: `v′ = R(Σ wⱼ qⱼ) (v − c) + Σ wⱼ Mⱼ c`. The centre c is found anew each frame for each
//! joint set, as the point that its joints take to nearly the same place: the elbow, for the two bones of an arm. Where
//! joint sets change from block to block so does the centre, and the surface may step there; nor is there a good centre
//! of three bones that do not meet. Prefer [`rotation_center`](crate::rotation_center), whose centres are smooth.
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
//! skin.spherical_blend(skin.rest(), &DualPalette::new(1), &mut surface);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Vec3;
use anim_math::lanes::LANES;
use anim_math::nalgebra::{Matrix3, Vector3};

use crate::rigid_blend::{mean_place, mean_rotation, mean_stretch};
use crate::{DualPalette, SkinnedMesh, VertexBlocks};

/// Pulls centres to the vertices in directions that no joint cares about, such as along a hinge.
const DAMPING: f64 = 1e-6;

impl SkinnedMesh {
    /// Moves `source` by mean rotations about each block's centre; O(V · joints + V/8 · joints²), not vectorised.
    ///
    /// Normals stay unit. The same bits for any number of threads; allocates nothing.
    ///
    /// Source: Kavan and Žára, "Spherical blend skinning: a real-time deformation of articulated models", I3D 2005;
    /// its centre is theirs, with a slight pull to the block in place of the pseudo-inverse.
    ///
    /// # Panics
    ///
    /// If `source` or `out` has another number of vertices than this mesh, or `motions` another number of joints.
    pub fn spherical_blend(
        &self,
        source: &VertexBlocks,
        motions: &DualPalette,
        out: &mut VertexBlocks,
    ) {
        self.move_each(source, motions, out, |block, influences| {
            let rest = self.rest().blocks()[block].position;
            let stretched = (0..LANES).map(|lane| {
                let position = Vec3::from(rest.map(|part| part[lane]));
                if motions.any_stretched() {
                    mean_stretch(influences.of(lane), motions).transform_point(position)
                } else {
                    position
                }
            });
            let middle = stretched.sum::<Vec3>() / LANES as f32;
            let center = center(influences.joints, motions, middle);
            move |influences, lane| {
                let influences = influences.of(lane);
                let turn = mean_rotation(influences.clone(), motions);
                (
                    turn,
                    mean_place(influences, motions, center) - turn * center,
                )
            }
        });
    }
}

/// The point c of least Σ |Mⱼ c − Mₖ c|² over all pairs of joints, near `middle` where that leaves a choice.
fn center(joints: &[u16], motions: &DualPalette, middle: Vec3) -> Vec3 {
    let mut normal = Matrix3::identity() * DAMPING;
    let mut right = Vector3::zeros();
    let motion = |joint: &u16| motions.motion(usize::from(*joint)).to_affine();
    let middle = middle.cast::<f64>();
    for (rank, j) in joints.iter().enumerate() {
        let first = motion(j);
        for k in &joints[rank + 1..] {
            let other = motion(k);
            let linear = (first.linear - other.linear).cast::<f64>();
            let shift = (first.translation - other.translation).cast::<f64>();
            normal += linear.tr_mul(&linear);
            right -= linear.tr_mul(&(linear * middle + shift));
        }
    }
    // Positive definite by the damping, unless a motion is not finite.
    let offset = normal
        .cholesky()
        .map_or_else(Vector3::zeros, |factor| factor.solve(&right));
    (middle + offset).cast()
}
