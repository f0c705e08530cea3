//! How surfaces follow their joints: every deformer of `anim-skin` by name, with what it prepares and what it needs a frame.
//!
//! A [`Deformer`] is the model, made once a mesh; a [`DeformScratch`] the buffers of one actor. [`Linear`](Deform::Linear)
//! is cheapest and right where joints bend little or stretch. Where they twist, take
//! [`DualQuaternion`](Deform::DualQuaternion), or [`RotationCenter`](Deform::RotationCenter), which does not bulge in
//! bends either. The others are there to be compared with and for tools. Where one is right for the shoulders and another for
//! the rest, [`Deformer::with_region`] mixes them vertex by vertex.
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

mod way;

use anim_math::nalgebra::Vector3;
use anim_skin::{Aabb, JointBounds, Palette, RegionMask, SkinError, SkinnedMesh, VertexBlocks};
use serde::{Deserialize, Serialize};

pub(crate) use way::{ROUNDING, USUAL_WEIGHTS};
use way::{Way, WayScratch};

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

/// How one mesh follows its joints, made ready; by the linear blend, which any mesh takes, by default.
///
/// One way for the whole mesh, and others in regions of it, each laid over those before.
#[derive(Clone, Debug, Default)]
pub struct Deformer {
    base: Way,
    regions: Vec<Region>,
}

/// Where a mesh follows in another way.
#[derive(Clone, Debug)]
struct Region {
    way: Way,
    mask: RegionMask,
}

/// What one actor's surface needs a frame; empty where nothing is needed.
#[derive(Clone, Debug)]
pub struct DeformScratch {
    ways: WayScratch,
    /// The surface as the way of a region makes it.
    other: VertexBlocks,
}

impl Deformer {
    /// Prepares a mesh: seconds for a large one with rotation centres or direct delta mush, nothing for most others.
    ///
    /// # Errors
    ///
    /// [`SkinError`] of direct delta mush, where the surface cannot be smoothed; the others take every mesh.
    pub fn new(deform: Deform, mesh: &SkinnedMesh) -> Result<Self, SkinError> {
        Ok(Self {
            base: Way::new(deform, mesh)?,
            regions: Vec::new(),
        })
    }

    /// Lets each vertex of `mesh`, the one that this was made for, follow `deform` by its share and what it followed so far by
    /// the rest: 0 keeps that to the bit, 1 is `deform` to the bit, and between them a vertex lies on the segment between both.
    ///
    /// * `shares`: one a vertex in the order of the file, in [0, 1]. Let them fade over some rings of vertices: where they jump,
    ///   the surface tears by as much as the two ways differ.
    ///
    /// A frame takes as long as both do on the whole mesh, and the mix.
    ///
    /// # Errors
    ///
    /// [`SkinError::Count`], [`SkinError::NotFinite`] or [`SkinError::NoShare`] for the shares, otherwise as [`new`](Self::new).
    pub fn with_region(
        mut self,
        deform: Deform,
        mesh: &SkinnedMesh,
        shares: &[f32],
    ) -> Result<Self, SkinError> {
        let mask = RegionMask::new(mesh, shares)?;
        let is_share = |share: &f32| (0.0..=1.0).contains(share);
        if let Some(vertex) = shares.iter().position(|share| !is_share(share)) {
            return Err(SkinError::NoShare { vertex });
        }
        let way = Way::new(deform, mesh)?;
        self.regions.push(Region { way, mask });
        Ok(self)
    }

    /// Which way it is where no region says otherwise.
    pub fn kind(&self) -> Deform {
        self.base.kind()
    }

    /// Buffers for `mesh`, the one that this was made for.
    pub fn scratch(&self, mesh: &SkinnedMesh) -> DeformScratch {
        let used: Vec<Deform> = self.ways().map(Way::kind).collect();
        let other_count = if self.regions.is_empty() {
            0
        } else {
            mesh.vertex_count()
        };
        DeformScratch {
            ways: WayScratch::new(mesh, &used),
            other: VertexBlocks::new(other_count),
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

    /// What depends on the joints alone, once for all ways: the first half of [`deform`](Self::deform).
    pub(crate) fn prepare(
        &self,
        mesh: &SkinnedMesh,
        palette: &Palette,
        scratch: &mut DeformScratch,
    ) {
        scratch.ways.set(mesh, palette);
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
        let DeformScratch { ways, other } = scratch;
        self.base.follow(mesh, source, palette, ways, out);
        for Region { way, mask } in &self.regions {
            way.follow(mesh, source, palette, ways, other);
            mask.mix(mesh, other, out);
        }
    }

    /// A box that holds all that [`deform`](Self::deform) makes of the mesh, from its joints alone; `None` where none is known
    /// for one of its ways: see [`Actor::bounds`](crate::Actor::bounds).
    ///
    /// * `joints`: of the same mesh. * `scratch`: [prepared](Self::prepare) with `palette`. * `weights`: one a morph target.
    pub(crate) fn bounds(
        &self,
        joints: &JointBounds,
        palette: &Palette,
        scratch: &DeformScratch,
        weights: &[f32],
    ) -> Option<Aabb> {
        let mut bounds = (self.ways())
            .map(|way| way.bounds(joints, palette, &scratch.ways, weights))
            .try_fold(Aabb::EMPTY, |all, bounds| Some(all.union(&bounds?)))?;
        for _ in &self.regions {
            // Segments between points of a box stay in it, but for the roundings of a difference, its part and a sum: five halves of
            // an epsilon of what lies farthest out.
            let size = bounds.min.abs().sup(&bounds.max.abs());
            bounds = bounds.grown(size * (4.0 * f32::EPSILON));
        }
        Some(bounds)
    }

    fn ways(&self) -> impl Iterator<Item = &Way> {
        let regions = self.regions.iter().map(|region| &region.way);
        [&self.base].into_iter().chain(regions)
    }
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
