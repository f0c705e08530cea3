//! Layers: what an actor plays, and how each meets the others.
//!
//! Layers that [mix](LayerMode::Mix) are averaged by weight whatever their order; the others come on top of that, first to
//! last: a masked [override](LayerMode::Override) waves over a walk, an additive one leans it.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::skeleton::{Mask, Playback, Wrap};
//! use anim_engine::{ActorLayer, Character, LayerMode, LayerSource, asset};
//!
//! let character = Character::from_document(&asset::builtin::humanoid(), &Default::default())?;
//! let arm = Mask::subtree(character.skeleton(), character.joint_named("upper_arm_r")?, 1);
//! let wave = ActorLayer {
//!     weight: 0.8,
//!     mode: LayerMode::Override,
//!     mask: Some(Arc::new(arm)),
//!     ..ActorLayer::clip(character.clip_named("wave")?, Playback::new(1.0, Wrap::PingPong))
//! };
//! assert!(matches!(wave.source, LayerSource::Clip { .. }));
//! # Ok::<(), anim_engine::EngineError>(())
//! ```

use std::sync::Arc;

use anim_math::Transform;
use anim_skeleton::{Mask, Playback, Pose, Skeleton};

use crate::GraphPlayer;

/// One input of the blend.
#[derive(Clone, Debug)]
pub struct ActorLayer {
    /// Where its pose comes from.
    pub source: LayerSource,
    /// Its say; 0 is left out, and so is one that is not finite. Additive layers are taken off by a negative one.
    pub weight: f32,
    /// How it meets the other layers.
    pub mode: LayerMode,
    /// A factor of the weight for each joint; 1 for all if there is none. A layer whose mask is of another skeleton's size
    /// is left out.
    pub mask: Option<Arc<Mask>>,
    /// The pose that an additive layer is seen from; the rest pose if there is none.
    pub reference: Option<Arc<Pose>>,
}

/// Where the pose of a layer comes from.
#[derive(Clone, Debug)]
pub enum LayerSource {
    /// A clip that plays.
    Clip {
        /// Place in [`Character::clips`](crate::Character::clips); the rest pose if there is none.
        clip: usize,
        /// Where it is, how fast, and what happens at the ends.
        playback: Playback,
    },
    /// An animation graph; one of another skeleton's size is at rest.
    Graph(Box<GraphPlayer>),
    /// A pose that the caller writes each frame, such as live motion capture; one of another skeleton's size is at rest.
    Live(Pose),
}

/// How a layer meets the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerMode {
    /// Takes its share of the average; the rest pose takes what is missing to 1.
    #[default]
    Mix,
    /// Covers what is below it: at weight 1 nothing is left of that.
    Override,
    /// Adds what its pose is more than the reference, joint by joint.
    Additive,
    /// As [`LayerMode::Additive`], but turns keep their direction in the model, however the pose below has turned.
    AdditiveInModel,
}

impl ActorLayer {
    /// A whole, unmasked layer that mixes.
    pub const fn new(source: LayerSource) -> Self {
        Self {
            source,
            weight: 1.0,
            mode: LayerMode::Mix,
            mask: None,
            reference: None,
        }
    }

    /// A clip, at its place in [`Character::clips`](crate::Character::clips).
    pub const fn clip(clip: usize, playback: Playback) -> Self {
        Self::new(LayerSource::Clip { clip, playback })
    }

    /// The clock of a clip; `None` for other sources.
    pub fn playback_mut(&mut self) -> Option<&mut Playback> {
        match &mut self.source {
            LayerSource::Clip { playback, .. } => Some(playback),
            LayerSource::Graph(_) | LayerSource::Live(_) => None,
        }
    }

    /// The weight, 0 if it takes no part.
    pub(crate) fn effective_weight(&self, skeleton: &Skeleton) -> f32 {
        let fits = |mask: &Arc<Mask>| mask.as_slice().len() == skeleton.len();
        let least = if self.is_additive() { f32::MIN } else { 0.0 };
        if self.weight.is_finite() && self.mask.as_ref().is_none_or(fits) {
            self.weight.max(least)
        } else {
            0.0
        }
    }

    /// The factor of the root joint, which root motion goes by.
    pub(crate) fn mask_at_root(&self) -> f32 {
        let factors = self.mask.as_ref().map(|mask| mask.as_slice());
        factors.map_or(1.0, |factors| factors.first().copied().unwrap_or(0.0))
    }

    pub(crate) fn is_additive(&self) -> bool {
        matches!(self.mode, LayerMode::Additive | LayerMode::AdditiveInModel)
    }
}

/// What a frame makes of a layer.
#[derive(Clone, Debug)]
pub(crate) struct LayerState {
    pub(crate) pose: Pose,
    /// Its weight, and 0 if it takes no part.
    pub(crate) weight: f32,
    /// What is left of it in the pose: of an additive layer all.
    pub(crate) share: f32,
    /// The same for the root joint.
    pub(crate) share_of_motion: f32,
    /// How far the character goes with it alone.
    pub(crate) delta: Transform,
}

impl LayerState {
    pub(crate) fn new(rest: &Pose) -> Self {
        Self {
            pose: rest.clone(),
            weight: 0.0,
            share: 0.0,
            share_of_motion: 0.0,
            delta: Transform::IDENTITY,
        }
    }
}

/// Works out what is left of each layer once those above have covered it.
pub(crate) fn share_out(skeleton: &Skeleton, layers: &[ActorLayer], states: &mut [LayerState]) {
    // In f64, where no sum of them is infinite.
    let (mut mixed, mut mixed_at_root) = (0.0_f64, 0.0_f64);
    for (layer, state) in layers.iter().zip(&mut *states) {
        state.weight = layer.effective_weight(skeleton);
        if layer.mode == LayerMode::Mix {
            mixed += f64::from(state.weight);
            mixed_at_root += f64::from(state.weight * layer.mask_at_root());
        }
    }
    let (mut left, mut left_at_root) = (1.0, 1.0);
    for (layer, state) in layers.iter().zip(&mut *states).rev() {
        let at_root = layer.mask_at_root();
        (state.share, state.share_of_motion) = match layer.mode {
            LayerMode::Override => {
                let weight = state.weight.min(1.0);
                let shares = (weight * left, weight * at_root * left_at_root);
                left *= 1.0 - weight * at_root;
                left_at_root *= 1.0 - weight * at_root;
                shares
            }
            // Their turn comes below: they are under all others.
            LayerMode::Mix => (0.0, 0.0),
            LayerMode::Additive | LayerMode::AdditiveInModel => (state.weight, 0.0),
        };
    }
    for (layer, state) in layers.iter().zip(states) {
        if layer.mode == LayerMode::Mix {
            let part = |weight: f32, of: f64| (f64::from(weight) / of.max(1.0)) as f32;
            let at_root = state.weight * layer.mask_at_root();
            state.share = part(state.weight, mixed) * left;
            state.share_of_motion = part(at_root, mixed_at_root) * left_at_root;
        }
    }
}
