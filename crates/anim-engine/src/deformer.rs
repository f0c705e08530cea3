//! How surfaces follow their joints: every deformer of `anim-skin` by name, with what it prepares and what it needs a frame.
//!
//! A [`Deformer`] is the model, made once a mesh; a [`DeformScratch`] the buffers of one actor. [`Linear`](Deform::Linear)
//! is cheapest and right where joints bend little or stretch. Where they twist, take
//! [`DualQuaternion`](Deform::DualQuaternion), or [`RotationCenter`](Deform::RotationCenter), which does not bulge in
//! bends either. The others are there to be compared with and for tools.
//!
//! ```
//! use anim_engine::asset::builtin;
//! use anim_engine::{Character, Deform, Deformer};
//!
//! let character = Character::from_document(&builtin::humanoid(), &Default::default())?;
//! let mesh = &character.surfaces()[0].mesh;
//! let deformer = Deformer::new(Deform::RotationCenter, mesh)?;
//!
//! let mut scratch = deformer.scratch(mesh);
//! let mut surface = mesh.rest().clone();
//! deformer.deform(mesh, mesh.rest(), &mesh.palette_buffer(), &mut scratch, &mut surface);
//! assert!((surface.position(0) - mesh.rest().position(0)).norm() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use anim_math::Vec3;
use anim_math::nalgebra::Vector3;
use anim_skin::{
    Aabb, DeltaMush, DeltaMushOptions, DeltaMushScratch, DualPalette, JointBounds, LogMotions,
    MotionBounds, Palette, RotationCenterOptions, RotationCenters, SkinError, SkinnedMesh,
    VertexBlocks,
};
#[cfg(feature = "solve")]
use anim_skin::{DirectDeltaMush, DirectDeltaMushOptions};
use serde::{Deserialize, Serialize};

/// How a surface follows its joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Deform {
    /// The weighted mean of the joints' matrices.
    #[default]
    #[serde(rename = "lbs")]
    Linear,
    /// The mean of the joints' dual quaternions: twists keep their volume, bends bulge.
    #[serde(rename = "dqs")]
    DualQuaternion,
    /// Each vertex turns about a centre of its own.
    #[serde(rename = "cor")]
    RotationCenter,
    /// The mean of the joints' motions in logarithms.
    #[serde(rename = "log")]
    Log,
    /// The mean rotation about a centre that the joints agree on best.
    #[serde(rename = "spherical")]
    Spherical,
    /// Means of translations and of rotations apart, which depend on the origin.
    #[serde(rename = "trs")]
    Trs,
    /// The linear blend smoothed, and the detail of the rest surface put back.
    #[serde(rename = "delta-mush")]
    DeltaMush,
    /// The same without smoothing at run time.
    #[cfg(feature = "solve")]
    #[serde(rename = "ddm")]
    DirectDeltaMush,
}

impl Deform {
    /// All there are, cheapest first among equals.
    pub const ALL: &'static [Self] = &[
        Self::Linear,
        Self::DualQuaternion,
        Self::RotationCenter,
        Self::Log,
        Self::Spherical,
        Self::Trs,
        Self::DeltaMush,
        #[cfg(feature = "solve")]
        Self::DirectDeltaMush,
    ];

    /// The name that files and tools know it by: `lbs`, `dqs`, `cor`, `log`, `spherical`, `trs`, `delta-mush`, `ddm`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "lbs",
            Self::DualQuaternion => "dqs",
            Self::RotationCenter => "cor",
            Self::Log => "log",
            Self::Spherical => "spherical",
            Self::Trs => "trs",
            Self::DeltaMush => "delta-mush",
            #[cfg(feature = "solve")]
            Self::DirectDeltaMush => "ddm",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|deform| deform.name() == name)
    }
}

/// A way to follow the joints, made ready for one mesh; the linear blend, which any mesh takes, by default.
#[derive(Clone, Debug, Default)]
pub struct Deformer {
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

/// What one actor's surface needs a frame; empty where nothing is needed.
#[derive(Clone, Debug)]
pub struct DeformScratch {
    motions: DualPalette,
    logs: LogMotions,
    base: VertexBlocks,
    mush: DeltaMushScratch,
}

impl Deformer {
    /// Prepares a mesh: seconds for a large one with rotation centres or direct delta mush, nothing for most others.
    ///
    /// # Errors
    ///
    /// [`SkinError`] of direct delta mush, where the surface cannot be smoothed; the others take every mesh.
    pub fn new(deform: Deform, mesh: &SkinnedMesh) -> Result<Self, SkinError> {
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

    /// Which way it is.
    pub fn kind(&self) -> Deform {
        self.deform
    }

    /// Buffers for `mesh`, the one that this was made for.
    pub fn scratch(&self, mesh: &SkinnedMesh) -> DeformScratch {
        let count = |needed: bool, count: usize| if needed { count } else { 0 };
        let needs_motions = self.deform != Deform::Linear;
        let (joint_count, vertex_count) = (mesh.joints().len(), mesh.vertex_count());
        DeformScratch {
            motions: DualPalette::new(count(needs_motions, joint_count)),
            logs: LogMotions::new(count(self.deform == Deform::Log, joint_count)),
            base: VertexBlocks::new(count(self.deform == Deform::DeltaMush, vertex_count)),
            mush: DeltaMushScratch::default(),
        }
    }

    /// Moves `source` (the rest vertices of `mesh`, or morphed ones) into `out`; allocates nothing after the first time.
    ///
    /// # Panics
    ///
    /// If anything is of another mesh than the one that this was made for.
    pub fn deform(
        &self,
        mesh: &SkinnedMesh,
        source: &VertexBlocks,
        palette: &Palette,
        scratch: &mut DeformScratch,
        out: &mut VertexBlocks,
    ) {
        self.prepare(mesh, palette, scratch);
        self.follow(mesh, source, palette, scratch, out);
    }

    /// What depends on the joints alone: the first half of [`deform`](Self::deform).
    pub(crate) fn prepare(
        &self,
        mesh: &SkinnedMesh,
        palette: &Palette,
        scratch: &mut DeformScratch,
    ) {
        if !scratch.motions.is_empty() {
            mesh.dual_palette(palette, &mut scratch.motions);
        }
    }

    /// The second half of [`deform`](Self::deform): moves the vertices.
    pub(crate) fn follow(
        &self,
        mesh: &SkinnedMesh,
        source: &VertexBlocks,
        palette: &Palette,
        scratch: &mut DeformScratch,
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

    /// A box that holds all that [`deform`](Self::deform) makes of the mesh, from its joints alone; `None` where none is known:
    /// see [`Actor::bounds`](crate::Actor::bounds).
    ///
    /// * `joints`: of the same mesh. * `scratch`: [prepared](Self::prepare) with `palette`. * `weights`: one a morph target.
    pub(crate) fn bounds(
        &self,
        joints: &JointBounds,
        palette: &Palette,
        scratch: &DeformScratch,
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

/// The volume inside a surface, m³, with a sign as its triangles face; an open one is closed by cones to the middle of its
/// vertices. O(V), in f64: how deformers are compared.
///
/// # Panics
///
/// If `surface` is of another mesh.
pub fn volume(mesh: &SkinnedMesh, surface: &VertexBlocks) -> f64 {
    assert_eq!(
        surface.len(),
        mesh.vertex_count(),
        "vertices of another mesh"
    );
    let at = |vertex: u32| surface.position(vertex as usize).cast::<f64>();
    let sum: Vector3<f64> = (0..surface.len() as u32).map(at).sum();
    let middle = sum / surface.len().max(1) as f64;
    let triangles = mesh.triangles().iter().map(|corners| {
        let [a, b, c] = corners.map(|vertex| at(vertex) - middle);
        a.dot(&b.cross(&c)) / 6.0
    });
    triangles.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_deformers() {
        for deform in Deform::ALL {
            assert_eq!(Deform::named(deform.name()), Some(*deform));
            assert_eq!(serde_json::to_value(deform).unwrap(), deform.name());
        }
        assert_eq!(Deform::named("LBS"), None);
    }

    #[cfg(feature = "asset")]
    #[test]
    fn actors_are_deformed_as_their_character_says() {
        use crate::{Character, Config, Engine, Stage};
        use anim_math::{Vec3, quat};
        use std::sync::Arc;

        let document = anim_asset::builtin::humanoid();
        let surface = |deform| {
            let character = Character::from_document(&document, &Default::default()).unwrap();
            let character = Arc::new(character.with_deformer(deform).unwrap());
            let config = Config {
                threads: Some(1),
                ..Config::default()
            };
            let mut engine = Engine::new(config).unwrap();
            let id = engine.spawn(character);
            let actor = engine.actor_mut(id).unwrap();
            let skeleton = actor.character.skeleton();
            let turn = quat::from_axis_angle(Vec3::x(), 1.5);
            let mut pose = skeleton.rest().clone();
            let bent = skeleton.joints().filter(|joint| joint.index() % 3 == 1);
            bent.for_each(|joint| pose.set_rotation(joint, turn));
            actor.pose.copy_from(&pose);
            engine.run(Stage::Ik, 0.0);
            engine.run(Stage::Skin, 0.0);
            engine.actor(id).unwrap().surfaces()[0].clone()
        };
        let linear = surface(Deform::Linear);
        for deform in &Deform::ALL[1..] {
            assert!(surface(*deform) != linear, "{deform:?}");
        }
    }
}
