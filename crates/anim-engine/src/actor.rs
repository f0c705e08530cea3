//! The state of one character in the world.

use std::sync::Arc;

use anim_ik::foot::MAX_FEET;
use anim_ik::{FootContact, FootPlant, Outcome};
use anim_math::{Affine, Vec3};
use anim_skeleton::{Globals, JointId, Pose, Wrap};
use anim_skin::{Palette, VertexBlocks};

use crate::cloth::ClothState;
use crate::{Character, EngineError, Goal};

/// Layers that one actor can blend.
pub const MAX_LAYERS: usize = 16;

/// One input of the blend.
#[derive(Clone, Debug)]
pub struct ActorLayer {
    /// Where its pose comes from.
    pub source: LayerSource,
    /// Share of the blend, of the pose as of the morph weights; 0, a negative one and one that is no number are left out.
    pub weight: f32,
}

/// Where the pose of a layer comes from.
#[derive(Clone, Debug)]
pub enum LayerSource {
    /// A clip that plays.
    Clip {
        /// Place in [`Character::clips`].
        clip: usize,
        /// Seconds since its start, beyond its end where it loops.
        time: f64,
        /// Factor of time; negative plays backwards.
        speed: f32,
        /// What happens at the ends.
        wrap: Wrap,
    },
    /// A pose that the caller writes each frame, such as live motion capture.
    Live(Pose),
}

/// One character in the world: what plays, what it aims at, and what a frame made of it.
#[derive(Debug)]
pub struct Actor {
    /// Where the actor was put; root motion moves it from here. A rigid map.
    pub placement: Affine,
    /// What is blended, first to last.
    pub layers: Vec<ActorLayer>,
    /// What it reaches for and looks at, met in order after the feet.
    pub goals: Vec<Goal>,
    /// Plants the feet on the ground, if set.
    pub feet: Option<FootPlant>,
    /// The joint whose horizontal travel moves the actor instead of the pose, if set.
    pub root_motion: Option<JointId>,
    /// Morph weights by surface, where no clip drives them; one that is missing or no number is that at rest.
    pub morph_weights: Vec<f32>,
    pub(crate) character: Arc<Character>,
    pub(crate) world_from_model: Affine,
    pub(crate) pose: Pose,
    pub(crate) layer_poses: Vec<Pose>,
    pub(crate) globals: Globals,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) contacts: Vec<FootContact>,
    pub(crate) current_weights: Vec<f32>,
    pub(crate) sampled_weights: Vec<f32>,
    pub(crate) palettes: Vec<Palette>,
    pub(crate) morphed: Vec<Option<VertexBlocks>>,
    pub(crate) surfaces: Vec<VertexBlocks>,
    pub(crate) cloths: Vec<ClothState>,
    pub(crate) last_finite: Pose,
    pub(crate) quarantined: bool,
}

impl Actor {
    /// An actor at rest at the origin, with all buffers that a frame needs.
    pub(crate) fn new(character: Arc<Character>) -> Self {
        let rest = character.skeleton.rest().clone();
        let meshes = || character.surfaces.iter().map(|surface| &surface.mesh);
        Self {
            placement: Affine::IDENTITY,
            layers: Vec::new(),
            goals: Vec::new(),
            feet: None,
            root_motion: None,
            morph_weights: character.rest_weights.clone(),
            world_from_model: Affine::IDENTITY,
            layer_poses: Vec::new(),
            globals: Globals::new(&character.skeleton),
            outcomes: Vec::new(),
            contacts: Vec::new(),
            current_weights: character.rest_weights.clone(),
            sampled_weights: character.rest_weights.clone(),
            palettes: meshes()
                .map(|mesh| Palette::new(mesh.joints().len()))
                .collect(),
            morphed: meshes()
                .map(|mesh| (mesh.target_count() > 0).then(|| mesh.rest().clone()))
                .collect(),
            surfaces: meshes().map(|mesh| mesh.rest().clone()).collect(),
            cloths: character.cloths.iter().map(ClothState::new).collect(),
            last_finite: rest.clone(),
            pose: rest,
            quarantined: false,
            character,
        }
    }

    /// Plays a clip alone, from its start, in a loop.
    ///
    /// # Errors
    ///
    /// [`EngineError::Unknown`] if no clip has that name.
    pub fn play(&mut self, clip: &str) -> Result<(), EngineError> {
        let clip = self.character.clip_named(clip)?;
        self.play_clip(clip);
        Ok(())
    }

    /// Plays the clip at a place of [`Character::clips`] alone, from its start, in a loop; rests if there is none.
    pub fn play_clip(&mut self, clip: usize) {
        self.layers.clear();
        self.layers.push(ActorLayer {
            source: LayerSource::Clip {
                clip,
                time: 0.0,
                speed: 1.0,
                wrap: Wrap::Loop,
            },
            weight: 1.0,
        });
    }

    /// The model that this actor shares.
    pub fn character(&self) -> &Arc<Character> {
        &self.character
    }

    /// The pose of the last frame, after IK.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// `model_from_joint` of all joints after IK.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// Where the actor is: its placement moved by root motion.
    pub fn world_from_model(&self) -> Affine {
        self.world_from_model
    }

    /// The place of `joint` in the world.
    pub fn world_from_joint(&self, joint: JointId) -> Affine {
        self.world_from_model * self.globals.get(joint)
    }

    /// One block list a surface, model space, skin-block order.
    pub fn surfaces(&self) -> &[VertexBlocks] {
        &self.surfaces
    }

    /// What became of each goal, in order.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Where each foot of [`feet`](Self::feet) is.
    pub fn contacts(&self) -> &[FootContact] {
        &self.contacts
    }

    /// The morph weights of the last frame.
    pub fn weights(&self) -> &[f32] {
        &self.current_weights
    }

    /// The particles of one cloth, world space, m; see [`Character::cloths`].
    pub fn cloth_positions(&self, cloth: usize) -> &[Vec3] {
        &self.cloths[cloth].state.positions
    }

    /// True if the actor produced NaN or infinity and was put back to its last finite state and stopped.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined
    }

    /// Lets a quarantined actor move again, and cloth start anew from its skinned shape: after a teleport, too.
    pub fn restart(&mut self) {
        self.quarantined = false;
        self.cloths.iter_mut().for_each(ClothState::restart);
    }

    /// Grows the buffers that follow the caller's lists; allocates only when those have grown.
    pub(crate) fn fit_buffers(&mut self) {
        let rest = self.character.skeleton.rest();
        let layers = self.layers.len().min(MAX_LAYERS);
        while self.layer_poses.len() < layers {
            self.layer_poses.push(rest.clone());
        }
        self.outcomes.resize(self.goals.len(), Outcome::default());
        let feet = self
            .feet
            .as_ref()
            .map_or(0, |feet| feet.feet.len().min(MAX_FEET));
        self.contacts.resize(feet, FootContact::default());
    }
}
