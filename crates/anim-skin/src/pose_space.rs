//! Pose space deformation: corrective shapes faded in by how near a pose is to those they were sculpted for.
//!
//! Sculpt what the skin should look like in a few poses; [`SkinnedMesh::corrective`] (for linear skinning, or
//! [`corrective_dual_quaternion`](SkinnedMesh::corrective_dual_quaternion)) turns each sculpt into a morph target that acts
//! before the skin. [`PoseSpace::weights`] then gives the targets' weights for any pose: 1 in a shape's own
//! pose, 0 in the others and at rest, and smooth between. A pose is the rotations of the joints that matter, relative to
//! their parents. Sculpt few poses: every one reaches everywhere.
//!
//! ```
//! use anim_math::{Quat, Vec3, quat};
//! use anim_skin::{Kernel, PoseSpace};
//!
//! let elbow = |degrees: f32| vec![quat::from_axis_angle(Vec3::z(), degrees.to_radians())];
//! let space = PoseSpace::new(&elbow(0.0), &[elbow(90.0)], &[1.0], Kernel::Linear)?;
//! let mut weights = [0.0];
//! space.weights(&elbow(90.0), &mut weights);
//! assert!((weights[0] - 1.0).abs() < 1e-4);
//! space.weights(&elbow(45.0), &mut weights);
//! assert!((weights[0] - 0.5).abs() < 1e-4);
//! # Ok::<(), anim_skin::SkinError>(())
//! ```

use anim_math::nalgebra::DMatrix;
use anim_math::{Mat3, Quat, Vec3, quat};

use crate::linear::{lane_matrix, turns_by_cofactors};
use crate::rigid_blend::{mean_matrix, mean_rotation};
use crate::{DualPalette, MorphTarget, Palette, SkinError, SkinnedMesh, VertexBlocks};

/// Added to the diagonal, as a share of the largest entry: near poses then fade smoothly at that error.
const RIDGE: f64 = 1e-6;
/// Poses nearer than this are one, rad.
const SAME: f64 = 1e-3;
/// Singular directions of a blended matrix are divided by no less than about the root of this.
const DAMPING: f32 = 1e-3;
/// Displacements below this share of the mesh's size are no part of a corrective.
const UNMOVED: f32 = 1e-6;
/// Normals that differ by less, 0.06°, are the same.
const UNTURNED: f32 = 1e-3;

/// How influence falls off with the distance of poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kernel {
    /// φ(r) = r: no width to choose, and along one axis straight lines between the poses.
    Linear,
    /// φ(r) = exp(−r² / 2σ²) with σ the mean distance of poses from their nearest: far from all poses, all weights fade.
    Gaussian,
}

/// N poses of J joints with a shape each, and the rest pose without one.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseSpace {
    joint_weights: Vec<f32>,
    /// (N + 1) × J, the rest pose first.
    rotations: Vec<Quat>,
    /// (N + 1) × N: what each pose's φ adds to each weight.
    coefficients: Vec<f64>,
    /// 1 / 2σ², or `None` for the linear kernel.
    falloff: Option<f64>,
}

impl PoseSpace {
    /// Solves for weights that are 1 in a shape's pose and 0 in the others, to 10⁻⁶ or so; O(N³).
    ///
    /// * `rest`: J rotations. * `poses`: N of J rotations each. * `joint_weights`: J, how much a joint counts, ≥ 0.
    ///
    /// The distance of two poses is the root of Σ wⱼ² θⱼ², θ the angle between the joint's rotations, rad.
    ///
    /// Source: Lewis, Cordner, Fong, "Pose space deformation", SIGGRAPH 2000.
    ///
    /// # Errors
    ///
    /// [`SkinError::PoseCount`] if a pose or the joint weights are not one a joint of `rest`, [`SkinError::SamePose`] if
    /// two poses, or one and the rest, are nearer than 10⁻³ rad, [`SkinError::NotFinite`] if an angle or weight is not.
    pub fn new(
        rest: &[Quat],
        poses: &[Vec<Quat>],
        joint_weights: &[f32],
        kernel: Kernel,
    ) -> Result<Self, SkinError> {
        let joint_count = rest.len();
        let lengths = poses.iter().map(Vec::len).chain([joint_weights.len()]);
        for (pose, found) in lengths.enumerate() {
            if found != joint_count {
                return Err(SkinError::PoseCount {
                    pose,
                    found,
                    joint_count,
                });
            }
        }
        let mut space = Self {
            joint_weights: joint_weights.to_vec(),
            rotations: rest.iter().chain(poses.iter().flatten()).copied().collect(),
            coefficients: Vec::new(),
            falloff: None,
        };
        let count = poses.len() + 1;
        let distances = DMatrix::from_fn(count, count, |a, b| {
            space.distance(a, &space.rotations[b * joint_count..][..joint_count])
        });
        let mut spacing = 0.0;
        for a in 0..count {
            let mut nearest = f64::INFINITY;
            for b in (0..count).filter(|b| *b != a) {
                let distance = distances[(a, b)];
                if !distance.is_finite() {
                    return Err(SkinError::NotFinite {
                        what: "pose",
                        index: a.max(b) - 1,
                    });
                }
                if distance < SAME {
                    return Err(SkinError::SamePose {
                        pose: a.max(b) - 1,
                        other: a.min(b).checked_sub(1),
                    });
                }
                nearest = nearest.min(distance);
            }
            spacing += nearest / count as f64;
        }
        // All but one eigenvalue of a matrix of distances are negative, all of a Gaussian's positive.
        let ridge = match kernel {
            Kernel::Linear => -RIDGE * distances.max(),
            Kernel::Gaussian => {
                space.falloff = Some(0.5 / (spacing * spacing));
                RIDGE
            }
        };
        let mut matrix = distances.map(|distance| space.influence(distance));
        for place in 0..count {
            matrix[(place, place)] += ridge;
        }
        let shapes = DMatrix::from_fn(count, poses.len(), |a, b| f64::from(a == b + 1));
        if let Some(solution) = matrix.lu().solve(&shapes) {
            space.coefficients = solution.transpose().as_slice().to_vec();
        }
        Ok(space)
    }

    /// Number of shapes, N.
    pub fn len(&self) -> usize {
        self.coefficients
            .len()
            .checked_div(self.rotations.len() / self.joint_weights.len().max(1))
            .unwrap_or(0)
    }

    /// True without shapes.
    pub fn is_empty(&self) -> bool {
        self.coefficients.is_empty()
    }

    /// Writes the N weights of the shapes for the pose with the J rotations `pose`; O(N · (N + J)), without allocating.
    ///
    /// Weights may leave [0, 1] a little between poses; clamp them if the shapes cannot bear it.
    ///
    /// # Panics
    ///
    /// If `pose` is not one rotation a joint or `out` not one weight a shape.
    pub fn weights(&self, pose: &[Quat], out: &mut [f32]) {
        assert_eq!(pose.len(), self.joint_weights.len(), "one rotation a joint");
        assert_eq!(out.len(), self.len(), "one weight a shape");
        out.fill(0.0);
        for (place, row) in self.coefficients.chunks(out.len().max(1)).enumerate() {
            let influence = self.influence(self.distance(place, pose));
            for (weight, coefficient) in out.iter_mut().zip(row) {
                *weight += (influence * coefficient) as f32;
            }
        }
    }

    fn distance(&self, place: usize, pose: &[Quat]) -> f64 {
        let joint_count = self.joint_weights.len();
        let rotations = &self.rotations[place * joint_count..][..joint_count];
        let joints = rotations.iter().zip(pose).zip(&self.joint_weights);
        let squares = joints.map(|((a, b), weight)| {
            let angle = f64::from(quat::angle_between(*a, *b) * weight);
            angle * angle
        });
        squares.sum::<f64>().sqrt()
    }

    fn influence(&self, distance: f64) -> f64 {
        match self.falloff {
            None => distance,
            Some(falloff) => libm::exp(-distance * distance * falloff),
        }
    }
}

impl SkinnedMesh {
    /// The morph target that makes [`linear`](Self::linear) skinning of the rest mesh under `palette` look like `sculpt`,
    /// normals too.
    ///
    /// Its displacements are `M⁻¹ (sculpt − skinned)` with each vertex's blended matrix M; where M nearly collapses, as in a
    /// twist by half a turn, the inverse is damped and the target falls short of the sculpt rather than exploding.
    /// Normals are turned back as the skin turns them. Vertices that the sculpt leaves alone are left out.
    ///
    /// # Panics
    ///
    /// If `sculpt` is of another mesh or `palette` of another skin.
    pub fn corrective(&self, palette: &Palette, sculpt: &VertexBlocks) -> MorphTarget {
        assert_eq!(sculpt.len(), self.vertex_count(), "sculpt of another mesh");
        let mut skinned = VertexBlocks::new(self.vertex_count());
        self.linear(self.rest(), palette, &mut skinned);
        let unmoved = self.unmoved();
        let moved = (0..self.vertex_count()).filter_map(|vertex| {
            let change = sculpt.position(vertex) - skinned.position(vertex);
            let bend = sculpt.normal(vertex) - skinned.normal(vertex);
            if change.norm() <= unmoved && bend.norm() <= UNTURNED {
                return None;
            }
            let matrix = lane_matrix(self.skin_blocks(), palette, vertex).linear;
            let delta = undone(&matrix, change)?;
            let rest = self.rest().normal(vertex);
            // The inverse of the cofactors is the transpose, up to a positive factor.
            let normal = if turns_by_cofactors(self.skin_blocks(), palette, vertex) {
                matrix.tr_mul(&sculpt.normal(vertex))
            } else {
                undone(&matrix, sculpt.normal(vertex))?
            };
            let normal = normal.try_normalize(f32::MIN_POSITIVE).unwrap_or(rest);
            Some((self.source_from_vertex()[vertex], [delta, normal - rest]))
        });
        target(moved.collect())
    }

    /// The morph target that makes [`dual_quaternion`](Self::dual_quaternion) skinning of the rest mesh with `motions` look like
    /// `sculpt`, normals too.
    ///
    /// Its displacements are `S⁻¹ R⁻¹ (sculpt − skinned)` with each vertex's blended rotation R and stretch S: exact where
    /// joints are rigid, damped where a stretch nearly collapses. Vertices that the sculpt leaves alone are left out.
    ///
    /// # Panics
    ///
    /// If `sculpt` is of another mesh or `motions` of another skin.
    pub fn corrective_dual_quaternion(
        &self,
        motions: &DualPalette,
        sculpt: &VertexBlocks,
    ) -> MorphTarget {
        assert_eq!(sculpt.len(), self.vertex_count(), "sculpt of another mesh");
        let mut skinned = VertexBlocks::new(self.vertex_count());
        self.dual_quaternion(self.rest(), motions, &mut skinned);
        let unmoved = self.unmoved();
        let mirror = if motions.is_mirrored() { -1.0 } else { 1.0 };
        let moved = (0..self.vertex_count()).filter_map(|vertex| {
            let change = sculpt.position(vertex) - skinned.position(vertex);
            let bend = sculpt.normal(vertex) - skinned.normal(vertex);
            if change.norm() <= unmoved && bend.norm() <= UNTURNED {
                return None;
            }
            let influences = self.skin_blocks().influences(vertex);
            let turn = mean_rotation(influences.clone(), motions).inverse();
            let turned_back = |v: Vec3| turn * Vec3::new(v.x * mirror, v.y, v.z);
            let stretch = mean_matrix(influences, |joint| motions.stretch(joint)).linear;
            let delta = undone(&stretch, turned_back(change))?;
            let rest = self.rest().normal(vertex);
            let normal = stretch.tr_mul(&turned_back(sculpt.normal(vertex)));
            let normal = normal.try_normalize(f32::MIN_POSITIVE).unwrap_or(rest);
            Some((self.source_from_vertex()[vertex], [delta, normal - rest]))
        });
        target(moved.collect())
    }

    /// How far a vertex may be from its place and still count as there, metres.
    fn unmoved(&self) -> f32 {
        let bounds = self.rest().bounds();
        if bounds.is_empty() {
            return 0.0;
        }
        bounds.half_extents().norm() * UNMOVED
    }
}

/// The target of some source vertices, each with the displacements of its position and normal.
fn target(mut moved: Vec<(u32, [Vec3; 2])>) -> MorphTarget {
    moved.sort_unstable_by_key(|(source, _)| *source);
    MorphTarget {
        name: None,
        vertices: moved.iter().map(|(source, _)| *source).collect(),
        positions: moved.iter().map(|(_, [delta, _])| *delta).collect(),
        normals: moved.iter().map(|(_, [_, delta])| *delta).collect(),
    }
}

/// M⁻¹ · `change`, damped where M nearly collapses; `None` if M does.
fn undone(matrix: &Mat3, change: Vec3) -> Option<Vec3> {
    let square = matrix.tr_mul(matrix);
    let damped = square + Mat3::identity() * damping(matrix, &square);
    Some(damped.try_inverse()? * matrix.tr_mul(&change))
}

/// What is added to the diagonal of MᵀM: nothing unless M is nearly singular.
fn damping(matrix: &Mat3, square: &Mat3) -> f32 {
    let scale = square.trace() / 3.0;
    let flatness = matrix.determinant().abs() / (scale * scale.sqrt()).max(f32::MIN_POSITIVE);
    if flatness < 0.1 { scale * DAMPING } else { 0.0 }
}
