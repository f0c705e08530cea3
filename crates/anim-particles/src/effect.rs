//! What an effect's particles are like, and the step that moves them.
//!
//! [`Effect::step`] is [`integrate`](Effect::integrate), [`accelerate`](Effect::accelerate), [`retire`](Effect::retire),
//! [`emit`](Effect::emit) and [`collide`](Effect::collide), in that order; call them yourself to put your own forces
//! between.
//!
//! ```
//! use anim_math::Vec3;
//! use anim_particles::{Effect, EffectSpec, Emission, Particles};
//!
//! let effect = Effect::new(EffectSpec::default())?;
//! let mut particles = Particles::new(&effect);
//! let dt = 1.0 / 60.0;
//! effect.integrate(dt, &mut particles);
//! effect.accelerate(dt, &mut particles);
//! for (position, velocity) in particles.positions.iter().zip(&mut particles.velocities) {
//!     *velocity += Vec3::y().cross(position) * dt; // a whirl
//! }
//! effect.retire(&mut particles);
//! effect.emit(dt, &[Emission { burst: 3, ..Emission::default() }], &mut particles);
//! effect.collide(dt, &[], &mut particles);
//! assert_eq!(particles.len(), 3);
//! # Ok::<(), anim_particles::ParticleError>(())
//! ```

use anim_geom::Collider;
use anim_geom::chunks::{self, CHUNK};
use anim_math::Vec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::flight::Flight;
use crate::{Emission, ParticleError, Particles, collide, emit};

/// An effect; edit it, then make it an [`Effect`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EffectSpec {
    /// Same seed, same particles.
    pub seed: u64,
    /// How many may live at once, from 1 to [`MAX_CAPACITY`]; more are dropped and reported.
    pub capacity: u32,
    /// Shortest and longest life, s, positive.
    pub lifetime: [f32; 2],
    /// Slowest and fastest start, m/s.
    pub speed: [f32; 2],
    /// Where they start to, world space; not zero.
    pub direction: Vec3,
    /// Half the angle of the cone about `direction` that they start in, rad, from 0 to π.
    pub spread: f32,
    /// How much of the emitter's velocity they take along, from 0 to 1.
    pub inherit: f32,
    /// m/s².
    pub gravity: Vec3,
    /// Rate at which they take the speed of the air, 1/s, not negative.
    pub drag: f32,
    /// Velocity of the air, m/s; felt through drag.
    pub wind: Vec3,
    /// How far they stay from colliders, metres, not negative.
    pub radius: f32,
    /// How much of the speed into a collider comes back, from 0 to 1.
    pub restitution: f32,
    /// Coulomb coefficient, not negative; a contact has the geometric mean of this and the collider's.
    pub friction: f32,
}

impl Default for EffectSpec {
    /// Sparks: up, one or two seconds, in air.
    fn default() -> Self {
        Self {
            seed: 0,
            capacity: 10_000,
            lifetime: [1.0, 2.0],
            speed: [2.0, 4.0],
            direction: Vec3::y(),
            spread: 0.5,
            inherit: 1.0,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            drag: 0.2,
            wind: Vec3::zeros(),
            radius: 0.01,
            restitution: 0.4,
            friction: 0.3,
        }
    }
}

/// The most particles of one effect; they take some 100 MB.
pub const MAX_CAPACITY: u32 = 1 << 20;

/// A valid effect: nothing in it can make a step fail.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "EffectSpec", into = "EffectSpec")]
pub struct Effect {
    spec: EffectSpec,
}

/// What happened to the number of particles in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Born, including those that died before the step ended.
    pub born: u32,
    /// Reached their lifetimes.
    pub died: u32,
    /// Should have been born, but there was no room.
    pub dropped: u32,
}

impl Effect {
    /// Checks an effect; its direction may have any length.
    ///
    /// # Errors
    ///
    /// [`ParticleError`] with the first quantity out of the range that [`EffectSpec`] gives it.
    pub fn new(mut spec: EffectSpec) -> Result<Self, ParticleError> {
        if spec.capacity == 0 {
            return Err(ParticleError::NoCapacity);
        }
        if spec.capacity > MAX_CAPACITY {
            let value = spec.capacity as f32;
            let what = "capacity";
            return Err(ParticleError::OutOfRange { what, value });
        }
        check_range("lifetime", spec.lifetime[0], f32::MIN_POSITIVE, f32::MAX)?;
        check_range("lifetime", spec.lifetime[1], spec.lifetime[0], f32::MAX)?;
        check_range("speed", spec.speed[0], f32::MIN, f32::MAX)?;
        check_range("speed", spec.speed[1], spec.speed[0], f32::MAX)?;
        check_range("spread", spec.spread, 0.0, std::f32::consts::PI)?;
        check_range("inherit", spec.inherit, 0.0, 1.0)?;
        check_range("drag", spec.drag, 0.0, f32::MAX)?;
        check_range("radius", spec.radius, 0.0, f32::MAX)?;
        check_range("restitution", spec.restitution, 0.0, 1.0)?;
        check_range("friction", spec.friction, 0.0, f32::MAX)?;
        for (what, v) in [
            ("direction", spec.direction),
            ("gravity", spec.gravity),
            ("wind", spec.wind),
        ] {
            if !is_finite(&v) {
                return Err(ParticleError::NotFinite { what });
            }
        }
        let largest = spec.direction.amax();
        if largest == 0.0 {
            return Err(ParticleError::NoDirection);
        }
        spec.direction = (spec.direction / largest).normalize();
        Ok(Self { spec })
    }

    /// What it was made from, with a direction of unit length.
    pub fn spec(&self) -> &EffectSpec {
        &self.spec
    }

    /// Advances all particles by `dt`, s, and brings new ones into the world. If `dt` is not positive and finite,
    /// nothing changes.
    ///
    /// * `emissions`: what each emitter does in this step; an index is the same emitter in every step.
    /// * `colliders`: where they are at the end of the step.
    ///
    /// # Panics
    ///
    /// If the arrays of `particles` were made to differ in length.
    pub fn step(
        &self,
        dt: f32,
        emissions: &[Emission],
        colliders: &[Collider],
        particles: &mut Particles,
    ) -> StepReport {
        particles.check();
        if !(dt > 0.0 && dt.is_finite()) {
            return StepReport::default();
        }
        self.integrate(dt, particles);
        self.accelerate(dt, particles);
        let died = self.retire(particles);
        let mut report = self.emit(dt, emissions, particles);
        report.died += died;
        self.collide(dt, colliders, particles);
        report
    }

    /// Moves particles along and makes them older: exact under gravity, drag and wind, from velocities that
    /// [`accelerate`](Self::accelerate) has not yet changed.
    pub fn integrate(&self, dt: f32, particles: &mut Particles) {
        let flight = self.flight(dt);
        let Particles {
            positions,
            previous,
            velocities,
            ages,
            ..
        } = particles;
        if positions.len() <= CHUNK || !chunks::in_pool() {
            return integrate_chunk(&flight, dt, positions, previous, velocities, ages);
        }
        positions
            .par_chunks_mut(CHUNK)
            .zip(previous.par_chunks_mut(CHUNK))
            .zip(velocities.par_chunks(CHUNK))
            .zip(ages.par_chunks_mut(CHUNK))
            .for_each(|(((positions, previous), velocities), ages)| {
                integrate_chunk(&flight, dt, positions, previous, velocities, ages);
            });
    }

    /// Changes velocities by gravity, drag and wind: exact.
    pub fn accelerate(&self, dt: f32, particles: &mut Particles) {
        let flight = self.flight(dt);
        chunks::for_each_mut(&mut particles.velocities, |_, velocities| {
            for velocity in velocities {
                *velocity = flight.velocity(*velocity);
            }
        });
    }

    /// Removes particles that have reached their lifetimes and returns how many; the others keep their order.
    pub fn retire(&self, particles: &mut Particles) -> u32 {
        particles.retire()
    }

    /// Brings new particles into the world, each flown on from the moment of its birth to the end of the step.
    ///
    /// Each emitter gives birth at (k + ½) / rate after its start, whatever the steps, and moves in a straight line from
    /// where it was at the last step. `died` counts those that did not live to the end of the step.
    pub fn emit(&self, dt: f32, emissions: &[Emission], particles: &mut Particles) -> StepReport {
        emit::emit(self, dt, emissions, particles)
    }

    /// Bounces particles off colliders along the paths that they took in the last `dt`, s.
    ///
    /// Paths are followed by signed distance, so nothing is too fast. A bounce keeps `restitution` of the speed into the
    /// surface and loses speed along it by Coulomb's law; one that would last less than two steps comes to rest.
    pub fn collide(&self, dt: f32, colliders: &[Collider], particles: &mut Particles) {
        collide::collide(self, dt, colliders, particles);
    }

    pub(crate) fn flight(&self, time: f32) -> Flight {
        Flight::new(self.spec.gravity, self.spec.drag, self.spec.wind, time)
    }
}

fn integrate_chunk(
    flight: &Flight,
    dt: f32,
    positions: &mut [Vec3],
    previous: &mut [Vec3],
    velocities: &[Vec3],
    ages: &mut [f32],
) {
    previous.copy_from_slice(positions);
    for (position, velocity) in positions.iter_mut().zip(velocities) {
        *position = flight.position(*position, *velocity);
    }
    for age in ages {
        *age += dt;
    }
}

impl TryFrom<EffectSpec> for Effect {
    type Error = ParticleError;

    fn try_from(spec: EffectSpec) -> Result<Self, ParticleError> {
        Self::new(spec)
    }
}

impl From<Effect> for EffectSpec {
    fn from(effect: Effect) -> Self {
        effect.spec
    }
}

pub(crate) fn is_finite(v: &Vec3) -> bool {
    v.iter().all(|c| c.is_finite())
}

fn check_range(what: &'static str, value: f32, min: f32, max: f32) -> Result<(), ParticleError> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(ParticleError::OutOfRange { what, value })
    }
}
