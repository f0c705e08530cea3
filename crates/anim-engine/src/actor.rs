//! The state of one character in the world.

use std::sync::Arc;

use anim_ik::foot::MAX_FEET;
use anim_ik::{FootContact, FootPlant, Outcome};
use anim_math::{Affine, Transform, Vec3};
use anim_skeleton::{DriverState, Globals, JointId, Playback, Pose, RateReducer, Wrap};
use anim_skin::{Palette, TangentBlocks, VertexBlocks};

use crate::attach::Attachment;
use crate::cloth::ClothState;
use crate::event::{ActorEvent, MOST_EVENTS, Met};
use crate::flesh::FleshScratch;
use crate::layer::{ActorLayer, LayerMode, LayerState};
use crate::surface_tangents::ActorTangents;
use crate::{ActorHair, ActorMuscle, Character, DeformScratch, Detail, EngineError, Goal};

/// Layers that one actor blends without allocating; more are blended all the same, but a frame then allocates.
pub const MAX_LAYERS: usize = 16;

/// One character in the world: what plays, what it aims at, and what a frame made of it.
#[derive(Debug)]
pub struct Actor {
    /// Where the actor stands, a rigid map: in the world, or in the socket it hangs on. Root motion moves it; write it at any
    /// time to put the actor elsewhere.
    pub placement: Affine,
    /// What is blended, first to last.
    pub layers: Vec<ActorLayer>,
    /// True if root motion moves [`placement`](Self::placement), as it does at first; if not, do it yourself by
    /// [`root_delta`](Self::root_delta).
    pub follows_root_motion: bool,
    /// How finely the actor is animated.
    pub detail: Detail,
    /// True at first. If not, [`Stage::Skin`](crate::Stage::Skin) leaves the actor out: surfaces, tangents and strands stay those
    /// of the last frame that saw it, while it goes on moving, simulating and carrying others.
    ///
    /// Set it at any time before that stage, by [`world_bounds`](Self::world_bounds) for example; the first frame that sees
    /// the actor again has it right. Strands that had just let go of something then lie where they rest.
    pub is_visible: bool,
    /// Weights and springs of the character's drivers.
    pub drivers: DriverState,
    /// What it reaches for and looks at, met in order after the feet.
    pub goals: Vec<Goal>,
    /// Plants the feet on the ground, if set.
    pub feet: Option<FootPlant>,
    /// Morph weights by surface, where no clip drives them; one that is missing or no number is that at rest.
    pub morph_weights: Vec<f32>,
    /// How much the nerve excites each muscle, see [`Character::muscles`], in [0, 1]; one that is missing or no number is 0.
    pub excitations: Vec<f32>,
    pub(crate) character: Arc<Character>,
    pub(crate) world_from_model: Affine,
    pub(crate) pose: Pose,
    pub(crate) layer_states: Vec<LayerState>,
    /// What layers on top of others need; empty without such layers.
    pub(crate) scratch: Vec<Pose>,
    pub(crate) reducer: Option<Reducer>,
    pub(crate) met: Vec<Met>,
    pub(crate) lost_events: usize,
    pub(crate) deltas: Vec<(Transform, f32)>,
    pub(crate) root_delta: Transform,
    pub(crate) sampled_clips: u64,
    pub(crate) attached_to: Option<Attachment>,
    /// How many actors it hangs on, one on the other.
    pub(crate) depth: usize,
    pub(crate) globals: Globals,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) contacts: Vec<FootContact>,
    pub(crate) current_weights: Vec<f32>,
    pub(crate) sampled_weights: Vec<f32>,
    pub(crate) palettes: Vec<Palette>,
    pub(crate) morphed: Vec<Option<VertexBlocks>>,
    pub(crate) surfaces: Vec<VertexBlocks>,
    /// One a surface, if it has tangents.
    pub(crate) tangents: Vec<Option<ActorTangents>>,
    pub(crate) deform_scratch: Vec<DeformScratch>,
    pub(crate) cloths: Vec<ClothState>,
    pub(crate) hairs: Vec<ActorHair>,
    pub(crate) muscles: Vec<ActorMuscle>,
    pub(crate) flesh_scratch: FleshScratch,
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
            follows_root_motion: true,
            detail: Detail::default(),
            is_visible: true,
            drivers: DriverState::new(&character.drivers),
            morph_weights: character.rest_weights.clone(),
            excitations: vec![0.0; character.muscles.len()],
            world_from_model: Affine::IDENTITY,
            layer_states: Vec::new(),
            scratch: Vec::new(),
            reducer: None,
            met: Vec::with_capacity(most_events(&character)),
            lost_events: 0,
            deltas: Vec::new(),
            root_delta: Transform::IDENTITY,
            sampled_clips: 0,
            attached_to: None,
            depth: 0,
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
            tangents: (character.surfaces.iter())
                .map(|surface| surface.tangents.as_ref().map(ActorTangents::new))
                .collect(),
            deform_scratch: (character.surfaces.iter())
                .map(|surface| surface.deformer.scratch(&surface.mesh))
                .collect(),
            cloths: character.cloths.iter().map(ClothState::new).collect(),
            hairs: character.hairs.iter().map(ActorHair::new).collect(),
            muscles: character.muscles.iter().map(ActorMuscle::new).collect(),
            flesh_scratch: FleshScratch::default(),
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
        let playback = Playback::new(1.0, Wrap::Loop);
        self.layers.push(ActorLayer::clip(clip, playback));
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

    /// The events that the clips met in the last frame, layer by layer, each as often as it was met; none of layers that
    /// have nothing of the pose.
    pub fn events(&self) -> impl Iterator<Item = ActorEvent<'_>> {
        self.met.iter().filter_map(|met| {
            let clip = self.character.clips.get(met.clip)?;
            Some(ActorEvent {
                name: &clip.events.as_slice().get(met.index)?.name,
                clip: met.clip,
                index: met.index,
                layer: met.layer,
                weight: met.weight,
                backward: met.backward,
            })
        })
    }

    /// Events of the last frame beyond the first [`MOST_EVENTS`]; counted up to as many again a layer.
    pub fn lost_events(&self) -> usize {
        self.lost_events
    }

    /// How far the layers carried the character in the last frame, by what they have of the pose, seen from where it stood:
    /// `placement · root_delta` is where it stands now. The identity after a seek.
    pub fn root_delta(&self) -> Transform {
        self.root_delta
    }

    /// Clips sampled for poses since the actor was spawned: what [`detail`](Self::detail) saves.
    pub fn sampled_clips(&self) -> u64 {
        self.sampled_clips
    }

    /// Where the actor is in the world: its placement, in the socket it hangs on if it does.
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

    /// The tangents of one surface, model space, skin-block order, perpendicular to its normals; `None` if its file has none.
    ///
    /// # Panics
    ///
    /// If there is no such surface.
    pub fn tangents(&self, surface: usize) -> Option<&TangentBlocks> {
        self.tangents[surface]
            .as_ref()
            .map(|tangents| &tangents.out)
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

    /// Where one cloth is and how it moves, world space; see [`Character::cloths`].
    pub fn cloth_state(&self, cloth: usize) -> &anim_sim::State {
        &self.cloths[cloth].state
    }

    /// The particles of one cloth, world space, m; see [`Character::cloths`].
    pub fn cloth_positions(&self, cloth: usize) -> &[Vec3] {
        &self.cloths[cloth].state.positions
    }

    /// The heads of hair, see [`Character::hairs`].
    pub fn hairs(&self) -> &[ActorHair] {
        &self.hairs
    }

    /// The heads of hair, to put them into other states.
    pub fn hairs_mut(&mut self) -> &mut [ActorHair] {
        &mut self.hairs
    }

    /// What the muscles do, see [`Character::muscles`].
    pub fn muscles(&self) -> &[ActorMuscle] {
        &self.muscles
    }

    /// The muscles, to put them into other states.
    pub fn muscles_mut(&mut self) -> &mut [ActorMuscle] {
        &mut self.muscles
    }

    /// True if the actor produced NaN or infinity and was put back to its last finite state and stopped.
    pub fn is_quarantined(&self) -> bool {
        self.quarantined
    }

    /// Lets a quarantined actor move again, and lets cloth and springs start anew from the pose: after a teleport, too. Hair
    /// comes along as it lies, muscles as they pull.
    pub fn restart(&mut self) {
        self.quarantined = false;
        self.drivers.settle();
        self.reducer = None;
        self.cloths.iter_mut().for_each(ClothState::restart);
        self.hairs.iter_mut().for_each(ActorHair::restart);
        self.muscles.iter_mut().for_each(ActorMuscle::restart);
    }

    /// Grows the buffers that follow the caller's lists; allocates only when those have grown.
    pub(crate) fn fit_buffers(&mut self) {
        let rest = self.character.skeleton.rest();
        while self.layer_states.len() < self.layers.len() {
            self.layer_states.push(LayerState::new(rest));
        }
        self.deltas.reserve(self.layers.len());
        let is_on_top = |layer: &ActorLayer| layer.mode != LayerMode::Mix;
        if self.scratch.is_empty() && self.layers.iter().any(is_on_top) {
            self.scratch = vec![rest.clone(); 2];
        }
        self.outcomes.resize(self.goals.len(), Outcome::default());
        let feet = self
            .feet
            .as_ref()
            .map_or(0, |feet| feet.feet.len().min(MAX_FEET));
        self.contacts.resize(feet, FootContact::default());
    }
}

/// The pose of an actor that gets a new one every few frames only.
#[derive(Clone, Debug)]
pub(crate) struct Reducer {
    pub(crate) detail: Detail,
    pub(crate) reducer: RateReducer,
}

/// Events that an actor has room for.
fn most_events(character: &Character) -> usize {
    let has_events = |clip: &crate::CharacterClip| !clip.events.as_slice().is_empty();
    if character.clips.iter().any(has_events) {
        MOST_EVENTS
    } else {
        0
    }
}
