//! Verlet's method in its two forms, with velocities and with previous positions. Second order, symplectic, reversible.
//!
//! Both are the same motion up to rounding; the one with velocities is easier to start, the one with previous positions needs
//! no velocity to go on. Both take steps of varying length. The well-known x′ = 2x − x₋ + a·Δt² does not: it takes the
//! last displacement for a velocity and is wrong as soon as Δt changes.
//!
//! Stable for Δt < 2/ω. Forces that depend on the velocity are taken at a predicted one, which keeps the order.
//!
//! Source: Swope et al., J. Chem. Phys. 76, 1982, eq. 5; Verlet, Phys. Rev. 159, 1967, eq. 4, for equal steps.

use super::{DVec3, Integrator, Motion, System, begins, one_step};
use crate::Outcome;

/// x′ = x + Δt·v + ½Δt²·a, v′ = v + ½Δt·(a + a′).
#[derive(Clone, Debug, Default)]
pub struct VelocityVerlet {
    now: Evaluated,
    accelerations: Vec<DVec3>,
}

impl Integrator for VelocityVerlet {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        self.now.evaluate(system, motion);
        let before = &mut self.accelerations;
        before.clone_from(&self.now.accelerations);
        let moving = motion.positions.iter_mut().zip(&mut motion.velocities);
        for ((x, v), a) in moving.zip(&*before) {
            *v += 0.5 * dt * a;
            *x += dt * *v;
            *v += 0.5 * dt * a;
        }
        motion.time += dt;
        // With the velocity of constant acceleration, which is a second order prediction.
        self.now.evaluate(system, motion);
        let both = before.iter().zip(&self.now.accelerations);
        for (v, (before, after)) in motion.velocities.iter_mut().zip(both) {
            *v += 0.5 * dt * (after - before);
        }
        self.now.keep(motion);
        one_step()
    }
}

/// x′ = x + (x − x₋)·Δt/Δt₋ + a·Δt·(Δt + Δt₋)/2, where x₋ lies Δt₋ back.
///
/// The velocity it leaves is that of the end of the step, (x′ − x)/Δt + ½Δt·a′.
#[derive(Clone, Debug, Default)]
pub struct StormerVerlet {
    now: Evaluated,
    /// The displacement of the last step, and how long it was.
    displacements: Vec<DVec3>,
    previous_dt: f64,
}

impl Integrator for StormerVerlet {
    fn step(&mut self, system: &System, dt: f64, motion: &mut Motion) -> Outcome {
        if !begins(system, dt, motion) {
            return Outcome::default();
        }
        if !self.now.is_of(motion) {
            // A step that would have ended here with this velocity.
            self.now.evaluate(system, motion);
            self.previous_dt = dt;
            let both = motion.velocities.iter().zip(&self.now.accelerations);
            self.displacements.clear();
            self.displacements
                .extend(both.map(|(v, a)| dt * (v - 0.5 * dt * a)));
        }
        let (ratio, middle) = (dt / self.previous_dt, 0.5 * (dt + self.previous_dt));
        let moving = motion.positions.iter_mut().zip(&mut motion.velocities);
        let all = moving
            .zip(&mut self.displacements)
            .zip(&self.now.accelerations);
        for (((x, v), displacement), a) in all {
            *displacement = ratio * *displacement + dt * middle * a;
            *x += *displacement;
            *v = *displacement / dt + 0.5 * dt * a;
        }
        motion.time += dt;
        self.previous_dt = dt;
        self.now.evaluate(system, motion);
        let all = self.displacements.iter().zip(&self.now.accelerations);
        for (v, (displacement, after)) in motion.velocities.iter_mut().zip(all) {
            *v = displacement / dt + 0.5 * dt * after;
        }
        self.now.keep(motion);
        one_step()
    }
}

/// The accelerations of a moment, kept because the next step begins with those that this one ends with.
#[derive(Clone, Debug, Default)]
pub(super) struct Evaluated {
    moment: Motion,
    accelerations: Vec<DVec3>,
}

impl Evaluated {
    /// True if the step that kept it left `motion` as it is.
    fn is_of(&self, motion: &Motion) -> bool {
        self.moment == *motion
    }

    /// Finds the accelerations of `motion`, unless they are those that were kept.
    fn evaluate(&mut self, system: &System, motion: &Motion) {
        if !self.is_of(motion) {
            self.accelerations
                .resize(system.vertex_count(), DVec3::zeros());
            system.accelerations(motion, &mut self.accelerations);
        }
    }

    /// Says that the accelerations are those of `motion`.
    fn keep(&mut self, motion: &Motion) {
        self.moment.copy_from(motion);
    }
}
