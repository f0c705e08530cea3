//! What the blends of rigid motions share that are computed vertex by vertex: stretches first, mirrors last.

use anim_geom::chunks;
use anim_math::lanes::LANES;
use anim_math::nalgebra::Vector4;
use anim_math::{Affine, Mat3, Quat, Vec3};

use crate::dual_quaternion::SHORT;
use crate::skin_blocks::WeightLanes;
use crate::{DualPalette, SkinnedMesh, VertexBlock, VertexBlocks};

/// The joints of one block and their weights.
#[derive(Clone, Copy)]
pub(crate) struct BlockInfluences<'a> {
    pub(crate) joints: &'a [u16],
    weights: &'a [WeightLanes],
}

impl BlockInfluences<'_> {
    /// The places and weights of the joints that the vertex in `lane` follows.
    pub(crate) fn of(&self, lane: usize) -> impl Iterator<Item = (usize, f32)> + Clone {
        let weights = self.weights.iter().map(move |weights| weights.0[lane]);
        let influences = self.joints.iter().map(|joint| usize::from(*joint));
        influences.zip(weights).filter(|(_, weight)| *weight > 0.0)
    }
}

/// A rotation and the translation after it.
pub(crate) type Motion = (Quat, Vec3);

impl SkinnedMesh {
    /// Moves each vertex by the motion that the function `prepare` gives makes of its influences, after the mean stretch.
    ///
    /// `prepare` is called once a block with its number.
    pub(crate) fn move_each<F>(
        &self,
        source: &VertexBlocks,
        motions: &DualPalette,
        out: &mut VertexBlocks,
        prepare: impl Fn(usize, BlockInfluences<'_>) -> F + Sync,
    ) where
        F: Fn(BlockInfluences<'_>, usize) -> Motion,
    {
        assert_eq!(source.len(), self.vertex_count(), "source of another mesh");
        let mirror = if motions.is_mirrored() { -1.0 } else { 1.0 };
        self.for_each_block(motions, out, |block, influences, out| {
            let motion = prepare(block, influences);
            let source = &source.blocks()[block];
            for lane in 0..LANES {
                let mut position = Vec3::from(source.position.map(|part| part[lane]));
                let mut normal = Vec3::from(source.normal.map(|part| part[lane]));
                if motions.any_stretched() {
                    let stretch = mean_stretch(influences.of(lane), motions);
                    position = stretch.transform_point(position);
                    normal = turned_normal(&stretch.linear, normal);
                }
                let (turn, shift) = motion(influences, lane);
                position = turn * position + shift;
                normal = turn * normal;
                position.x *= mirror;
                normal.x *= mirror;
                for axis in 0..3 {
                    out.position[axis][lane] = position[axis];
                    out.normal[axis][lane] = normal[axis];
                }
            }
        });
    }

    /// Gives `work` each block, side by side inside a rayon pool: its number, what moves it, and where it goes.
    pub(crate) fn for_each_block(
        &self,
        motions: &DualPalette,
        out: &mut VertexBlocks,
        work: impl Fn(usize, BlockInfluences<'_>, &mut VertexBlock) + Sync,
    ) {
        assert_eq!(out.len(), self.vertex_count(), "vertices of another mesh");
        assert_eq!(
            motions.len(),
            self.joints().len(),
            "palette of another skin"
        );
        let blocks = self.skin_blocks();
        chunks::for_each_mut(out.blocks_mut(), |first, out| {
            let (mut start, ends) = blocks.ends_from(first);
            for ((block, out), end) in (first..).zip(out).zip(ends) {
                let influences = BlockInfluences {
                    joints: &blocks.joints()[start..*end],
                    weights: &blocks.weights()[start..*end],
                };
                start = *end;
                work(block, influences, out);
            }
        });
    }
}

/// Σ wⱼ Mⱼ of any matrices.
pub(crate) fn mean_matrix(
    influences: impl Iterator<Item = (usize, f32)>,
    matrix: impl Fn(usize) -> Affine,
) -> Affine {
    let zero = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    influences.fold(zero, |sum, (joint, weight)| {
        let matrix = matrix(joint);
        Affine {
            linear: sum.linear + matrix.linear * weight,
            translation: sum.translation + matrix.translation * weight,
        }
    })
}

/// The normalised sum of quaternions, with signs as in [`dual_quaternion`](crate::dual_quaternion).
pub(crate) fn mean_rotation(
    influences: impl Iterator<Item = (usize, f32)> + Clone,
    motions: &DualPalette,
) -> Quat {
    if motions.is_aligned() {
        let sum = influences
            .clone()
            .fold(Vector4::zeros(), |sum, (joint, weight)| {
                sum + motions.motion(joint).real.coords * weight
            });
        if sum.norm_squared() >= SHORT {
            return Quat::new_unchecked((sum / sum.norm()).into());
        }
    }
    let heaviest = influences.clone().fold(
        (0, 0.0),
        |best, other| {
            if other.1 > best.1 { other } else { best }
        },
    );
    let pivot = motions.motion(heaviest.0).real.coords;
    let mut sum = Vector4::zeros();
    for (joint, weight) in influences {
        let real = motions.motion(joint).real.coords;
        sum += real * weight.copysign(pivot.dot(&real));
    }
    // No other counts against the heaviest, so the sum is no shorter than its weight.
    Quat::new_unchecked((sum / sum.norm()).into())
}

/// Σ wⱼ (Rⱼ p + tⱼ).
pub(crate) fn mean_place(
    influences: impl Iterator<Item = (usize, f32)>,
    motions: &DualPalette,
    point: Vec3,
) -> Vec3 {
    influences.fold(Vec3::zeros(), |sum, (joint, weight)| {
        sum + motions.motion(joint).transform_point(point) * weight
    })
}

pub(crate) fn mean_stretch(
    influences: impl Iterator<Item = (usize, f32)>,
    motions: &DualPalette,
) -> Affine {
    mean_matrix(influences, |joint| motions.stretch(joint))
}

/// The matrix that turns areas as `linear` turns points.
pub(crate) fn cofactors(linear: &Mat3) -> Mat3 {
    let [x, y, z] = [0, 1, 2].map(|row| linear.row(row).transpose());
    Mat3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)]).transpose()
}

/// A normal of a surface that `linear` moves, unit; one that it collapses is kept.
pub(crate) fn turned_normal(linear: &Mat3, normal: Vec3) -> Vec3 {
    let cofactors = cofactors(linear);
    let outward = 1_f32.copysign(linear.row(0).dot(&cofactors.row(0)));
    (cofactors * normal)
        .try_normalize(f32::MIN_POSITIVE)
        .map_or(normal, |turned| turned * outward)
}
