//! The model of a character: skeleton, clips and surfaces, shared by all its actors.

use std::ops::Range;
use std::sync::Arc;

use anim_curves::WideTrack;
use anim_skeleton::{
    BakeOptions, BakeReport, Clip, ClipSpec, DriverSpec, Drivers, Events, JointId, RootMotion,
    RootMotionOptions, Skeleton, SkeletonLod,
};
use anim_skin::{JointBounds, SkinError, SkinnedMesh};

use crate::flesh::Flesh;
use crate::{
    CharacterHair, CharacterMuscle, Cloth, Deform, Deformer, EngineError, Socket, SurfaceTangents,
};

/// What many actors share; immutable once built.
#[derive(Debug)]
pub struct Character {
    pub(crate) skeleton: Skeleton,
    pub(crate) clips: Vec<CharacterClip>,
    pub(crate) surfaces: Vec<Surface>,
    pub(crate) cloths: Vec<Cloth>,
    pub(crate) hairs: Vec<CharacterHair>,
    pub(crate) muscles: Vec<CharacterMuscle>,
    /// What muscles lift, one a surface that they do.
    pub(crate) fleshes: Vec<Flesh>,
    pub(crate) rest_weights: Vec<f32>,
    /// One a morph weight.
    pub(crate) weight_names: Vec<Option<String>>,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) drivers: Drivers,
    /// The morph weight that each output of the drivers goes to.
    pub(crate) output_weights: Vec<Option<usize>>,
    pub(crate) levels: SkeletonLod,
}

/// A clip made ready for a character.
#[derive(Debug)]
pub struct CharacterClip {
    /// Optional, and need not be unique.
    pub name: Option<String>,
    /// Joint motion, baked; on the spot if there is root motion.
    pub clip: Arc<Clip>,
    /// Morph weight curves, each with the weights that it drives.
    pub morphs: Vec<(Range<usize>, WideTrack)>,
    /// How exact the baked motion is.
    pub report: BakeReport,
    /// What happens in it.
    pub events: Events,
    /// Moments that graphs keep clips in step at, such as each foot coming down.
    pub markers: Events,
    /// The way the character travels, taken out of the clip.
    pub motion: Option<RootMotion>,
}

/// One drawable part: a skinned mesh, or a rigid one as a mesh with a single joint.
#[derive(Debug)]
pub struct Surface {
    /// The joint of the node that carries the mesh.
    pub joint: JointId,
    /// Index of the node and place of the primitive in its mesh.
    pub source: (usize, usize),
    /// The name of the node.
    pub name: Option<String>,
    /// Vertices, triangles, weights and morph targets.
    pub mesh: SkinnedMesh,
    /// Its places in [`Actor::morph_weights`](crate::Actor::morph_weights); primitives of one mesh share them.
    pub weights: Range<usize>,
    /// How the vertices follow the joints.
    pub deformer: Deformer,
    /// A box a joint, for [`Actor::bounds`](crate::Actor::bounds); morph weights in [0, 1].
    pub bounds: JointBounds,
    /// For normal maps, if the file has them: then each actor has them a frame, too.
    pub tangents: Option<SurfaceTangents>,
    /// Linear RGB.
    pub color: [f32; 3],
}

impl Character {
    /// All joints.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// All clips, in file order.
    pub fn clips(&self) -> &[CharacterClip] {
        &self.clips
    }

    /// All surfaces, in node order.
    pub fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    /// Surfaces that are simulated.
    pub fn cloths(&self) -> &[Cloth] {
        &self.cloths
    }

    /// Heads of hair.
    pub fn hairs(&self) -> &[CharacterHair] {
        &self.hairs
    }

    /// Muscles.
    pub fn muscles(&self) -> &[CharacterMuscle] {
        &self.muscles
    }

    /// Morph weights at rest, of all surfaces.
    pub fn rest_weights(&self) -> &[f32] {
        &self.rest_weights
    }

    /// The names of the morph weights, as [`rest_weights`](Self::rest_weights) has them.
    pub fn weight_names(&self) -> &[Option<String>] {
        &self.weight_names
    }

    /// Joints that follow from other joints.
    pub fn drivers(&self) -> &Drivers {
        &self.drivers
    }

    /// Sets the events of the clip of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] if there is none.
    pub fn with_events(mut self, clip: &str, events: Events) -> Result<Self, EngineError> {
        let clip = self.clip_named(clip)?;
        self.clips[clip].events = events;
        Ok(self)
    }

    /// Sets the synchronisation markers of the clip of that name, for graphs.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] if there is none.
    pub fn with_markers(mut self, clip: &str, markers: Events) -> Result<Self, EngineError> {
        let clip = self.clip_named(clip)?;
        self.clips[clip].markers = markers;
        Ok(self)
    }

    /// Takes the root motion out of all clips, which then play on the spot, while it moves the actors.
    ///
    /// * `clips`: the exact curves that the character was made of, such as `Document::clips`.
    ///
    /// # Errors
    ///
    /// [`EngineError::OtherClips`] for another number of clips, [`EngineError::Skeleton`] for a joint that the skeleton
    /// lacks or curves that overflow.
    pub fn with_root_motion(
        mut self,
        clips: &[ClipSpec],
        root: &RootMotionOptions,
        bake: &BakeOptions,
    ) -> Result<Self, EngineError> {
        let (given, has) = (clips.len(), self.clips.len());
        if given != has {
            return Err(EngineError::OtherClips { given, has });
        }
        for (spec, clip) in clips.iter().zip(&mut self.clips) {
            let (motion, on_the_spot) = RootMotion::extract(spec, &self.skeleton, root)?;
            let (baked, report) = Clip::bake(&on_the_spot, &self.skeleton, bake)?;
            clip.clip = Arc::new(baked);
            clip.report = report;
            clip.motion = Some(motion);
        }
        Ok(self)
    }

    /// Lets joints follow from other joints at the end of [`Stage::Ik`](crate::Stage::Ik); replaces the drivers there were.
    ///
    /// An output of a driver is added to the first morph weight of its name, if there is one.
    ///
    /// # Errors
    ///
    /// [`EngineError::Driver`] if they do not fit the skeleton or need each other in a circle.
    pub fn with_drivers(mut self, drivers: Vec<DriverSpec>) -> Result<Self, EngineError> {
        self.drivers = Drivers::new(&self.skeleton, drivers)?;
        let names = self.drivers.output_names().iter();
        let weight = |output: &String| {
            let mut names = self.weight_names.iter();
            names.position(|name| name.as_deref() == Some(output))
        };
        self.output_weights = names.map(weight).collect();
        Ok(self)
    }

    /// Lets all surfaces follow their joints as `deform` says, all over; at first it is [`Deform::Linear`].
    ///
    /// Cloth hangs on the linear blend all the same. See [`Deformer::new`] for what it costs.
    ///
    /// # Errors
    ///
    /// [`EngineError::Skin`] for a surface that cannot follow like that.
    pub fn with_deformer(self, deform: Deform) -> Result<Self, EngineError> {
        let mut surfaces = 0..self.surfaces.len();
        surfaces.try_fold(self, |character, surface| {
            character.with_surface_deformer(surface, deform)
        })
    }

    /// Lets one surface follow its joints as `deform` says, all over.
    ///
    /// # Errors
    ///
    /// [`EngineError::NoSurface`], or [`EngineError::Skin`] if the surface cannot follow like that.
    pub fn with_surface_deformer(
        self,
        surface: usize,
        deform: Deform,
    ) -> Result<Self, EngineError> {
        self.deformed(surface, |mesh, _| Deformer::new(deform, mesh))
    }

    /// Lets a region of one surface follow its joints as `deform` says: each vertex by its share, and as it did so far by
    /// the rest. Regions lie over those that were added before.
    ///
    /// * `shares`: one a vertex in the order of the file, in [0, 1]; see [`Deformer::with_region`].
    ///
    /// ```
    /// use anim_engine::asset::builtin;
    /// use anim_engine::{Character, Deform};
    ///
    /// // Dual quaternions from a height of 1.2 m upwards, fading in over a tenth of a metre, and the linear blend below.
    /// let document = builtin::humanoid();
    /// let rest = &document.meshes[0].primitives[0].mesh.rest;
    /// let share = |height: f32| ((height - 1.1) / 0.1).clamp(0.0, 1.0);
    /// let shares: Vec<f32> = rest.positions.iter().map(|place| share(place.y)).collect();
    /// let character = Character::from_document(&document, &Default::default())?
    ///     .with_region(0, Deform::DualQuaternion, &shares)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`EngineError::NoSurface`], or [`EngineError::Skin`] for shares that are not one a vertex or not in [0, 1] and for a
    /// surface that cannot follow like that.
    pub fn with_region(
        self,
        surface: usize,
        deform: Deform,
        shares: &[f32],
    ) -> Result<Self, EngineError> {
        self.deformed(surface, |mesh, so_far| {
            so_far.with_region(deform, mesh, shares)
        })
    }

    /// Replaces the deformer of a surface.
    fn deformed(
        mut self,
        surface: usize,
        make: impl FnOnce(&SkinnedMesh, Deformer) -> Result<Deformer, SkinError>,
    ) -> Result<Self, EngineError> {
        let count = self.surfaces.len();
        let Some(changed) = self.surfaces.get_mut(surface) else {
            return Err(EngineError::NoSurface { surface, count });
        };
        let (node, primitive) = changed.source;
        let made = make(&changed.mesh, std::mem::take(&mut changed.deformer));
        changed.deformer = made.map_err(|source| EngineError::Skin {
            node,
            primitive,
            source,
        })?;
        Ok(self)
    }

    /// The place of the first clip of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] lists the clips there are.
    pub fn clip_named(&self, name: &str) -> Result<usize, EngineError> {
        let names = || {
            self.clips
                .iter()
                .map(|clip| clip.name.as_deref().unwrap_or(""))
        };
        names()
            .position(|n| n == name)
            .ok_or_else(|| EngineError::unknown("clip", name, names()))
    }

    /// The first joint of that name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] lists the joints there are.
    pub fn joint_named(&self, name: &str) -> Result<JointId, EngineError> {
        self.skeleton.find(name).ok_or_else(|| {
            let names = self
                .skeleton
                .joints()
                .filter_map(|joint| self.skeleton.name(joint));
            EngineError::unknown("joint", name, names)
        })
    }
}
