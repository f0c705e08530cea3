//! Births at their exact times.
//!
//! An emitter counts in units of 2⁻³² births, so a fraction of a birth that is left at the end of a step is never lost,
//! and a rate that a step divides unevenly is still met. It begins half a birth in: then n births are due at n / rate for
//! every rounding of the steps, and particles of the same id are born at the same time at every frame rate.

use anim_math::Vec3;
use anim_math::random::Random;

use crate::effect::{Effect, StepReport, is_finite};
use crate::particles::Particles;

/// What one emitter does in one step.
///
/// ```
/// use anim_math::Vec3;
/// use anim_particles::Emission;
///
/// // A torch carried at walking pace.
/// let torch = Emission { velocity: Vec3::x() * 1.4, rate: 200.0, ..Emission::default() };
/// assert_eq!(torch.burst, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Emission {
    /// Where it is at the end of the step, world space, metres.
    pub position: Vec3,
    /// Its own velocity, m/s, which particles inherit; also says where it was before its first step.
    pub velocity: Vec3,
    /// Births a second; a negative or NaN rate is 0.
    pub rate: f32,
    /// Births at once at the beginning of the step, besides the rate.
    pub burst: u32,
}

impl Default for Emission {
    /// Nothing, at the origin.
    fn default() -> Self {
        Self {
            position: Vec3::zeros(),
            velocity: Vec3::zeros(),
            rate: 0.0,
            burst: 0,
        }
    }
}

/// What an emitter remembers between steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emitter {
    /// Where it was at the end of the last step.
    pub(crate) position: Option<Vec3>,
    /// Births due, in units of 1 / [`BIRTH`]; below one birth between steps.
    credit: u64,
}

/// One birth.
const BIRTH: u64 = 1 << 32;

/// As [`Effect::emit`]. An emission whose position or velocity is not finite emits nothing.
pub(crate) fn emit(
    effect: &Effect,
    dt: f32,
    emissions: &[Emission],
    particles: &mut Particles,
) -> StepReport {
    if particles.emitters.len() < emissions.len() {
        let fresh = Emitter {
            position: None,
            credit: BIRTH / 2,
        };
        particles.emitters.resize(emissions.len(), fresh);
    }
    let mut report = StepReport::default();
    for (index, emission) in emissions.iter().enumerate() {
        if !(is_finite(&emission.position) && is_finite(&emission.velocity)) {
            continue;
        }
        let emitter = &mut particles.emitters[index];
        let start = emitter
            .position
            .unwrap_or(emission.position - emission.velocity * dt);
        emitter.position = Some(emission.position);
        // Saturates: a NaN or negative rate gives 0.
        let earned = (f64::from(emission.rate) * f64::from(dt) * BIRTH as f64) as u64;
        let earned = earned.min(u64::MAX / 4);
        let before = emitter.credit;
        let due = (before + earned) / BIRTH;
        emitter.credit = (before + earned) % BIRTH;

        let burst = u64::from(emission.burst);
        // Whatever happens, no more than fill the effect are looked at.
        let looked_at = (burst + due).min(u64::from(effect.spec().capacity));
        for k in 0..looked_at {
            let fraction = if k < burst {
                0.0
            } else {
                let wanted = (k - burst + 1) * BIRTH;
                ((wanted - before) as f64 / earned as f64) as f32
            };
            let place = start + (emission.position - start) * fraction;
            let left = dt * (1.0 - fraction);
            give_birth(
                effect,
                place,
                emission.velocity,
                left,
                particles,
                &mut report,
            );
        }
        let unseen = burst + due - looked_at;
        particles.next_id += unseen;
        report.dropped = report
            .dropped
            .saturating_add(u32::try_from(unseen).unwrap_or(u32::MAX));
    }
    report
}

/// One particle, born `left` seconds before the end of the step.
fn give_birth(
    effect: &Effect,
    position: Vec3,
    emitter_velocity: Vec3,
    left: f32,
    particles: &mut Particles,
    report: &mut StepReport,
) {
    let spec = effect.spec();
    let id = particles.next_id;
    particles.next_id += 1;
    if particles.len() >= spec.capacity as usize {
        report.dropped = report.dropped.saturating_add(1);
        return;
    }
    report.born += 1;
    let mut random = Random::new(spec.seed, id, 0);
    let lifetime = random.range(spec.lifetime[0], spec.lifetime[1]);
    if left >= lifetime {
        report.died += 1;
        return;
    }
    let speed = random.range(spec.speed[0], spec.speed[1]);
    let direction = random.in_cone(spec.direction, spec.spread);
    let velocity = direction * speed + emitter_velocity * spec.inherit;
    let flight = effect.flight(left);
    particles
        .positions
        .push(flight.position(position, velocity));
    particles.previous.push(position);
    particles.velocities.push(flight.velocity(velocity));
    particles.ages.push(left);
    particles.lifetimes.push(lifetime);
    particles.ids.push(id);
}
