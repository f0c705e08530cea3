//! The facade: one frame of character animation as keyframes → IK → simulation → skinning.
//!
//! A [`Character`] is the model that many [`Actor`]s share; an [`Engine`] owns the actors, what surrounds them and the
//! order of the four [`Stage`]s. It contains no algorithm: those live in the subsystem crates, re-exported here as
//! modules, each usable alone.
//!
//! ```
//! use std::sync::Arc;
//! use anim_engine::{Character, Config, Engine, asset};
//!
//! let document = asset::builtin::humanoid();
//! let character = Arc::new(Character::from_document(&document, &Default::default())?);
//! let mut engine = Engine::new(Config::default())?;
//! let id = engine.spawn(character);
//! let actor = engine.actor_mut(id).ok_or("no such actor")?;
//! actor.play("walk")?;
//! for _ in 0..60 {
//!     engine.step(1.0 / 60.0);
//! }
//! let surfaces = engine.actor(id).ok_or("no such actor")?.surfaces();
//! assert!(surfaces[0].position(0).norm() < 3.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actor;
mod actor_hair;
mod animate;
mod attach;
pub mod body;
mod bounds;
mod capsule;
mod character;
mod clock;
mod cloth;
pub mod deformer;
pub mod detail;
mod engine;
mod error;
mod event;
mod flesh;
mod goal;
pub mod hair;
mod hash;
#[cfg(feature = "asset")]
mod import;
mod kept;
pub mod layer;
pub mod muscle;
pub mod player;
#[cfg(feature = "asset")]
pub mod scene;
mod socket;
mod stage;
mod strands;
mod surface_tangents;
mod timing;
mod world;

pub use actor::{Actor, MAX_LAYERS};
pub use actor_hair::ActorHair;
pub use anim_ik::{Foot, FootContact, FootPlant};
pub use body::{Body, BodyMuscle, BodyOptions, HeldBy, Holder};
pub use capsule::BodyCapsule;
pub use character::{Character, CharacterClip, Surface};
pub use cloth::{Cloth, ClothOptions, Pins};
pub use deformer::{Deform, DeformScratch, Deformer};
pub use detail::Detail;
pub use engine::{ActorId, BodyId, Config, EffectId, Engine};
pub use error::EngineError;
pub use event::{ActorEvent, MOST_EVENTS};
pub use goal::Goal;
pub use hair::{CharacterHair, HairOptions};
pub use kept::Kept;
pub use layer::{ActorLayer, LayerMode, LayerSource};
pub use muscle::{ActorMuscle, CharacterMuscle, MuscleOptions, MuscleState};
pub use player::GraphPlayer;
#[cfg(feature = "asset")]
pub use scene::{Scene, SceneSpec};
pub use socket::Socket;
pub use stage::Stage;
pub use surface_tangents::SurfaceTangents;
pub use timing::Timings;
pub use world::World;

#[cfg(feature = "asset")]
pub use anim_asset as asset;
pub use anim_curves as curves;
pub use anim_geom as geom;
pub use anim_graph as graph;
pub use anim_ik as ik;
pub use anim_math as math;
pub use anim_particles as particles;
pub use anim_sim as sim;
pub use anim_skeleton as skeleton;
pub use anim_skin as skin;

/// Keeps the examples of the README compiling.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles and runs the code of the book, `docs/book`.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/book/01-frames-time-sampling.md")]
    struct FramesTimeSampling;
    #[doc = include_str!("../../../docs/book/02-curves.md")]
    struct Curves;
    #[doc = include_str!("../../../docs/book/03-rotations.md")]
    struct Rotations;
    #[doc = include_str!("../../../docs/book/04-skeletons-and-poses.md")]
    struct SkeletonsAndPoses;
    #[doc = include_str!("../../../docs/book/05-blending.md")]
    struct Blending;
    #[doc = include_str!("../../../docs/book/06-ik.md")]
    struct InverseKinematics;
    #[doc = include_str!("../../../docs/book/07-weights.md")]
    struct Weights;
    #[doc = include_str!("../../../docs/book/08-skinning.md")]
    struct Skinning;
    #[doc = include_str!("../../../docs/book/09-faces.md")]
    struct Faces;
    #[doc = include_str!("../../../docs/book/10-springs-and-integrators.md")]
    struct SpringsAndIntegrators;
    #[doc = include_str!("../../../docs/book/11-cloth-and-contact.md")]
    struct ClothAndContact;
    #[doc = include_str!("../../../docs/book/12-solids-hair-muscle.md")]
    struct SolidsHairMuscle;
}
