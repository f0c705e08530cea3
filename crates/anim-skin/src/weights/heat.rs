//! Bone heat: each bone warms the vertices that see it, and the warmth spreads over the surface to equilibrium.
//!
//! The usual automatic weights, smooth and local, of any mesh: open, with seams, in loose parts, of any unit. Each vertex
//! draws on the nearest bone that it sees, and on several that are equally near; weights are never negative and sum to 1
//! without being forced to, as no weight of the Laplacian is negative. For limbs that touch on scales below the mesh's
//! cells prefer voxels.
//!
//! ```
//! use anim_geom::primitives;
//! use anim_math::Vec3;
//! use anim_skin::weights::{self, Bone, Bones, HeatOptions};
//!
//! let tube = primitives::capsule(0.2, 1.0, 12, 4);
//! let bone = |from: f32, joint| Bone { head: Vec3::y() * from, tail: Vec3::y() * (from + 1.0), joint };
//! let bones = Bones::new(vec![bone(-1.0, 0), bone(0.0, 1)], 2)?;
//! let (weights, report) = weights::heat(&tube, &bones, &HeatOptions::default())?;
//! assert!(weights.weight(0, 0) > 0.9);
//! assert!(report.islands.is_empty());
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_geom::sparse::Cholesky;
use anim_geom::{Laplacian, Mesh, chunks};

use super::surface::{Nearest, Surface};
use super::{BindReport, Bones, SkinWeights};
use crate::SkinError;

/// Bones are never nearer than this, in diagonals of the mesh.
const NEAREST: f64 = 1.0e-4;

/// What draws a vertex that sees no bone to its nearest one: too weak to matter where heat reaches, never 0.
const HIDDEN: f64 = 1.0e-9;

/// Half a step of the weights that a skin stores: less is nothing there.
const SMALLEST: f64 = 1.0 / (1 << 25) as f64;

/// Blends over a thousand distances to a thousandth of one; beyond, rounding would decide.
const STIFFNESS: std::ops::RangeInclusive<f64> = 1.0e-6..=1.0e6;

/// Right-hand sides solved at once.
const BLOCK: usize = 16;

/// How [`heat`] spreads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatOptions {
    /// c in [10⁻⁶, 10⁶]: how strongly bones hold what they see; weights blend over a length of d / √c, d the distance of the
    /// bone.
    ///
    /// Artists mostly blend over less than the 1 of the paper: of four published characters 4 comes nearest to what was
    /// painted (mean L1 difference .37, .40, .48 and .17; .43, .56, .55 and .26 by 1).
    pub stiffness: f64,
    /// The largest number of joints a vertex follows; `None` keeps all above 2⁻²⁵.
    pub influences: Option<usize>,
}

impl Default for HeatOptions {
    fn default() -> Self {
        Self {
            stiffness: 1.0,
            influences: Some(4),
        }
    }
}

/// (L + M·H) wⱼ = M·H pⱼ for each joint j, Hᵢᵢ = k·c / dᵢ² at vertices that see their k nearest bones, pᵢⱼ = 1/k for those.
///
/// L is the intrinsic Delaunay Laplacian, M the area of each vertex, d at least 10⁻⁴ of the mesh's diagonal. One
/// factorisation and J solves. A component of which no vertex sees a bone follows its nearest bone and is an island of the
/// report; vertices without triangles follow their nearest bones.
///
/// Departs from the paper, which takes the nearest bone whether visible or not and then drops it: here it is the nearest of
/// those visible, and ties are shared.
///
/// Source: Baran and Popović, "Automatic rigging and animation of 3D characters", SIGGRAPH 2007, section 4.
///
/// # Errors
///
/// [`SkinError::BadOption`] if the stiffness is not in its range, [`SkinError::Mesh`] for what [`Mesh::check`] finds.
pub fn heat(
    mesh: &Mesh,
    bones: &Bones,
    options: &HeatOptions,
) -> Result<(SkinWeights, BindReport), SkinError> {
    if !STIFFNESS.contains(&options.stiffness) {
        return Err(SkinError::BadOption {
            option: "stiffness",
        });
    }
    let surface = Surface::new(mesh, bones)?;
    let (nearest, laplacian) = chunks::join(
        || surface.nearest(true),
        || Laplacian::intrinsic_delaunay(&surface.positions, &surface.triangles),
    );
    let laplacian = laplacian?;
    let (anchors, islands) = surface.anchors(&nearest);
    let solved = equilibrium(&surface, &laplacian, &nearest, &anchors, options.stiffness)?;
    let row = |vertex: usize| {
        let weights = solved.joints.iter().copied().zip(solved.row(vertex));
        weights.filter(|(_, weight)| *weight > SMALLEST).collect()
    };
    let row = |vertex| {
        surface
            .anchored(vertex, &nearest, &anchors)
            .unwrap_or_else(|| row(vertex))
    };
    surface.finish(row, islands, options.influences)
}

/// Weights as they are solved for: a column of W values for each joint that is some vertex's nearest.
struct Solved {
    joints: Vec<u16>,
    columns: Vec<f64>,
    vertex_count: usize,
}

impl Solved {
    /// The weights of a vertex, joint by joint.
    fn row(&self, vertex: usize) -> impl Iterator<Item = f64> {
        let columns = self.columns.chunks_exact(self.vertex_count);
        columns.map(move |column| column[vertex])
    }
}

/// Solves for the weights of the components that are no islands; elsewhere they are 0.
fn equilibrium(
    surface: &Surface,
    laplacian: &Laplacian,
    nearest: &[Nearest],
    anchors: &[Option<u16>],
    stiffness: f64,
) -> Result<Solved, SkinError> {
    let count = surface.positions.len();
    let is_free = |vertex: usize| {
        let label = surface.components.label(vertex);
        label.is_some_and(|label| anchors[label as usize].is_none())
    };
    // M·H: how strongly each vertex is held.
    let held: Vec<f64> = nearest
        .iter()
        .zip(laplacian.mass())
        .map(|(near, mass)| {
            let k = near.joints.len() as f64;
            let distance = near.distance.max(NEAREST * surface.diagonal);
            if near.is_visible {
                mass * k * stiffness / (distance * distance)
            } else {
                HIDDEN * mass * stiffness / (surface.diagonal * surface.diagonal)
            }
        })
        .collect();
    let lower = laplacian.system(1.0, &held, |vertex| !is_free(vertex));
    let system = Cholesky::new(count, &lower)?;

    let mut joints: Vec<u16> = nearest
        .iter()
        .flat_map(|near| near.joints.iter().copied())
        .collect();
    joints.sort_unstable();
    joints.dedup();
    let mut columns = vec![0.0; joints.len() * count];
    for (vertex, (near, held)) in nearest.iter().zip(&held).enumerate() {
        if is_free(vertex) {
            for (joint, share) in near.shares(*held) {
                let column = joints.partition_point(|other| *other < joint);
                columns[column * count + vertex] = share;
            }
        }
    }
    let mut blocks: Vec<&mut [f64]> = columns.chunks_mut((BLOCK * count).max(1)).collect();
    chunks::for_each_large_mut(&mut blocks, |_, block| system.solve_in_place(block));
    Ok(Solved {
        joints,
        columns,
        vertex_count: count,
    })
}

#[cfg(test)]
mod tests {
    use anim_geom::primitives;
    use anim_math::Vec3;

    use super::*;
    use crate::weights::Bone;

    #[test]
    fn solved_weights_are_in_bounds_and_sum_to_one_before_any_clamp() {
        // Sheared until many angles are obtuse: plain cotangent weights go below 0 here.
        let mut mesh = primitives::tube(0.3, 1.0, 24, 20);
        for p in &mut mesh.rest.positions {
            *p = Vec3::new(p.x + 2.5 * p.y, p.y, p.z + 0.4 * p.x * p.x);
        }
        let place = |i: usize| Vec3::new(2.5, 1.0, 0.0) * (i as f32 - 3.0) / 3.0;
        let bones = (0..6).map(|i| Bone {
            head: place(i),
            tail: place(i + 1),
            joint: i as u16,
        });
        let bones = Bones::new(bones.collect(), 6).unwrap();
        let surface = Surface::new(&mesh, &bones).unwrap();
        let plain = Laplacian::cotangent(&surface.positions, &surface.triangles).unwrap();
        assert!(plain.edges().iter().any(|edge| edge.weight < -1.0));
        let nearest = surface.nearest(true);
        let (anchors, islands) = surface.anchors(&nearest);
        assert!(islands.is_empty());
        let even = Laplacian::intrinsic_delaunay(&surface.positions, &surface.triangles).unwrap();
        let solved = equilibrium(&surface, &even, &nearest, &anchors, 1.0).unwrap();
        let bounds = -1e-12..=1.0 + 1e-12;
        assert!(solved.columns.iter().all(|w| bounds.contains(w)));
        for vertex in 0..surface.positions.len() {
            let sum: f64 = solved.row(vertex).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        }
    }
}
