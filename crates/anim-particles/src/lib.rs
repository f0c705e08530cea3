//! Particle effects that are the same on every machine and at every frame rate: sparks, smoke, rain, debris.
//!
//! An [`EffectSpec`] is edited, an [`Effect`] is valid and shared, [`Particles`] are one instance of it. Each step takes
//! what the emitters do now ([`Emission`]) and what is in the way, and reports what was born, died and found no room.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_particles::{Effect, EffectSpec, Emission, Particles};
//!
//! let fountain = Effect::new(EffectSpec { speed: [4.0, 5.0], ..EffectSpec::default() })?;
//! let mut particles = Particles::new(&fountain);
//! let nozzle = Emission { rate: 300.0, ..Emission::default() };
//! let mut born = 0;
//! for _ in 0..60 {
//!     born += fountain.step(1.0 / 60.0, &[nozzle], &[], &mut particles).born;
//! }
//! assert_eq!(born, 300);
//! assert_eq!(particles.len(), 300, "nothing dies in its first second");
//! # Ok::<(), anim_particles::ParticleError>(())
//! ```
//!
//! # What does not depend on the frame rate
//!
//! Births happen at their exact times between frames, gravity and drag are integrated in closed form, and each particle
//! draws its random numbers from its own id. Bounces are found on the chord of each step, so they differ by g dt² / 8.

mod collide;
pub mod effect;
mod emit;
mod error;
mod flight;
pub mod particles;

pub use effect::{Effect, EffectSpec, MAX_CAPACITY, StepReport};
pub use emit::Emission;
pub use error::ParticleError;
pub use particles::Particles;
