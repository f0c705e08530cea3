//! One way to follow the joints, made ready for one mesh: what it prepares, what it needs a frame, and how far it reaches.

use anim_math::Vec3;
use anim_skin::{
    Aabb, DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, JointBounds, LogMotions,
    MotionBounds, Palette, RotationCenterOptions, RotationCenters, SkinError, SkinnedMesh,
    VertexBlocks,
};
#[cfg(feature = "solve")]
use anim_skin::{DirectDeltaMush, DirectDeltaMushOptions};

use super::Deform;

/// A deformer and what it keeps of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    deform: Deform,
    prepared: Prepared,
}

/// What is computed once a mesh.
#[derive(Clone, Debug, Default)]
enum Prepared {
    #[default]
    Nothing,
    Motions(MotionBounds),
    Centers {
        centers: RotationCenters,
        /// The farthest that a vertex rests from its centre.
        reach: f32,
    },
    Mush(Box<DeltaMush>),
    #[cfg(feature = "solve")]
    Direct(Box<DirectDeltaMush>),
}

/// Morph weights that boxes are made for; others make them wider in the frame that has them.
pub(crate) const USUAL_WEIGHTS: std::ops::RangeInclusive<f32> = 0.0..=1.0;

/// What rounding can add to a length that is turned, as a part of it: some ten roundings of 2⁻²⁴, eightfold where the blend of
/// motions is short, and room.
pub(crate) const ROUNDING: f32 = 1.0 / (1 << 16) as f32;

/// What all ways of one mesh share in a frame; empty where nothing is needed.
#[derive(Clone, Debug)]
pub(super) struct WayScratch {
    motions: DualPalette,
    logs: LogMotions,
    base: VertexBlocks,
    mush: DeltaMushScratch,
}

impl WayScratch {
    /// Buffers for the ways of `mesh` that are `used`.
    pub(super) fn new(mesh: &SkinnedMesh, used: &[Deform]) -> Self {
        let count = |needed: bool, count: usize| if needed { count } else { 0 };
        let uses = |deform: Deform| used.contains(&deform);
        let needs_motions = used.iter().any(|deform| *deform != Deform::Linear);
        let (joint_count, vertex_count) = (mesh.joints().len(), mesh.vertex_count());
        Self {
            motions: DualPalette::new(count(needs_motions, joint_count)),
            logs: LogMotions::new(count(uses(Deform::Log), joint_count)),
            base: VertexBlocks::new(count(uses(Deform::DeltaMush), vertex_count)),
            mush: DeltaMushScratch::default(),
        }
    }

    /// What depends on the joints alone.
    pub(super) fn set(&mut self, mesh: &SkinnedMesh, palette: &Palette) {
        if !self.motions.is_empty() {
            mesh.dual_palette(palette, &mut self.motions);
        }
    }
}

impl Way {
    pub(super) fn new(deform: Deform, mesh: &SkinnedMesh) -> Result<Self, SkinError> {
        let prepared = match deform {
            Deform::DualQuaternion => Prepared::Motions(MotionBounds::new(mesh, USUAL_WEIGHTS)),
            Deform::RotationCenter => {
                let centers = RotationCenters::new(mesh, &RotationCenterOptions::default());
                let reach = centers.reach(mesh);
                Prepared::Centers { centers, reach }
            }
            Deform::DeltaMush => {
                let options = DeltaMushOptions::default();
                Prepared::Mush(Box::new(DeltaMush::new(mesh, &options)))
            }
            #[cfg(feature = "solve")]
            Deform::DirectDeltaMush => {
                let options = DirectDeltaMushOptions::default();
                Prepared::Direct(Box::new(DirectDeltaMush::new(mesh, &options)?))
            }
            _ => Prepared::Nothing,
        };
        Ok(Self { deform, prepared })
    }

    pub(super) fn kind(&self) -> Deform {
        self.deform
    }

    /// Moves `source` into `out`; `scratch` is [set](WayScratch::set) by `palette`.
    pub(super) fn follow(
        &self,
        mesh: &SkinnedMesh,
        source: &VertexBlocks,
        palette: &Palette,
        scratch: &mut WayScratch,
        out: &mut VertexBlocks,
    ) {
        let motions = &scratch.motions;
        match (&self.prepared, self.deform) {
            (Prepared::Motions(_), _) => mesh.dual_quaternion(source, motions, out),
            (Prepared::Centers { centers, .. }, _) => {
                centers.deform(mesh, source, palette, motions, out);
            }
            (Prepared::Mush(mush), _) => {
                mesh.linear(source, palette, &mut scratch.base);
                mush.deform(mesh, &scratch.base, motions, &mut scratch.mush, out);
            }
            #[cfg(feature = "solve")]
            (Prepared::Direct(mush), _) => mush.deform(source, palette, motions, out),
            (Prepared::Nothing, Deform::Log) => {
                scratch.logs.set(motions);
                mesh.log_blend(source, motions, &scratch.logs, out);
            }
            (Prepared::Nothing, Deform::Spherical) => mesh.spherical_blend(source, motions, out),
            (Prepared::Nothing, Deform::Trs) => mesh.trs_blend(source, motions, out),
            (Prepared::Nothing, _) => mesh.linear(source, palette, out),
        }
    }

    /// A box that holds all that [`follow`](Self::follow) makes, if one is known.
    pub(super) fn bounds(
        &self,
        joints: &JointBounds,
        palette: &Palette,
        scratch: &WayScratch,
        weights: &[f32],
    ) -> Option<Aabb> {
        let spare = joints.excess(weights);
        match (&self.prepared, self.deform) {
            (Prepared::Nothing, Deform::Linear) => Some(joints.grown(palette, spare)),
            // Turned as they are displaced, and stretched by no more than this.
            (Prepared::Motions(bounds), _) => {
                let margin = spare * (1.0 + ROUNDING);
                let bounds = bounds.bounds(&scratch.motions);
                Some(bounds.grown(Vec3::repeat(margin * largest_stretch(palette))))
            }
            // R S (v − p) is at most as long as the way to v times the largest stretch, and so is the linear blend of it.
            (Prepared::Centers { reach, .. }, _) => {
                let reach = reach + joints.displacement(weights);
                let margin = 2.0 * reach * largest_stretch(palette) * (1.0 + ROUNDING);
                Some(joints.grown(palette, spare).grown(Vec3::repeat(margin)))
            }
            _ => None,
        }
    }
}

/// No vector is made longer by any joint than by this factor.
///
/// |A|² is the largest eigenvalue of AᵀA, which no row sum of its sizes is below; it is 1 for rotations.
fn largest_stretch(palette: &Palette) -> f32 {
    let joints = (0..palette.len()).map(|place| palette.get(place).linear);
    let squares = joints.map(|linear| {
        let square = linear.tr_mul(&linear).abs();
        square.row_iter().map(|row| row.sum()).fold(0.0, f32::max)
    });
    squares.fold(0.0, f32::max).sqrt()
}
