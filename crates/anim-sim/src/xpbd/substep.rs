//! What one thread does to one block of particles.

use std::sync::atomic::{AtomicU32, Ordering};

use anim_math::Vec3;
use anim_math::lanes::{Lanes, Level, Simd, SimdBase, dispatch, f32x4};

use super::batch::Pass;
use super::blocks::{Block, Half};
use super::sweep::Sweep;
use crate::collide::MovingCollider;
use crate::model::SlotTether;

/// Nothing goes faster, m/s: beyond any bullet, and far below what would overflow.
const MAX_SPEED: f32 = 2000.0;

/// How much of the passage from one substep to the next is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// Tethers and colliders.
    Settle,
    /// What comes after them.
    Advance,
}

/// What is the same for every block of a substep.
#[derive(Clone, Copy)]
pub(super) struct Substep<'a> {
    pub(super) level: Level,
    pub(super) h: f32,
    /// e^(−ch).
    pub(super) damping: f32,
    pub(super) gravity: Vec3,
    pub(super) wind: Vec3,
    pub(super) has_air: bool,
    pub(super) has_loads: bool,
    pub(super) viscosity: f32,
    pub(super) seam_step: f32,
    /// Something has viscosity: then one substep is ended in a passage of its own, before the next begins.
    pub(super) is_damped: bool,
    pub(super) thickness: f32,
    pub(super) anchors: &'a [Vec3],
    pub(super) colliders: &'a [MovingCollider],
    /// A substep was begun before and must be ended.
    pub(super) ends: bool,
    pub(super) part: Part,
    /// Another one begins.
    pub(super) begins: bool,
    /// Counts the particles that were too fast.
    pub(super) slowed: &'a AtomicU32,
}

impl Substep<'_> {
    /// Does to an even block, then to the odd ones beside it, what the passage to the next substep takes.
    pub(super) fn take(&self, half: Half, mut block: Block<'_>) {
        match half {
            Half::Even => self.run(block),
            Half::Odd => {
                if self.ends && self.is_damped {
                    let (sweep, slots) = (block.sweep, &mut block.slots);
                    sweep.damp(self.level, &self.pass(), slots.positions, slots.velocities);
                }
                if self.begins {
                    self.project(block, true);
                }
            }
        }
    }

    /// Ends the last substep and begins the next, all but the elements that only odd blocks hold.
    pub(super) fn run(&self, mut block: Block<'_>) {
        let (sweep, slots) = (block.sweep, &mut block.slots);
        let (positions, predicted) = (&mut *slots.positions, &mut *slots.predicted);
        let velocities = &mut *slots.velocities;
        if self.ends {
            if self.part != Part::Advance {
                self.pull_tethers(slots.tethers, positions);
                self.collide(positions, predicted, velocities);
            }
            if self.part == Part::Settle {
                return;
            }
            let slowed = dispatch!(self.level, simd =>
                update(simd, 1.0 / self.h, positions, predicted, velocities));
            if slowed > 0 {
                self.slowed.fetch_add(slowed, Ordering::Relaxed);
            }
            if self.is_damped {
                sweep.damp(self.level, &self.pass(), positions, velocities);
            }
        }
        if self.begins {
            if self.has_air {
                self.blow(slots.air, positions, velocities);
            }
            let loads = if self.has_loads { slots.loads } else { &[] };
            dispatch!(self.level, simd =>
                predict(simd, self, loads, positions, predicted, velocities));
            self.project(block, true);
        }
    }

    /// Projects the elements of a block once.
    ///
    /// * `is_first`: of the iterations of this substep.
    pub(super) fn project(&self, block: Block<'_>, is_first: bool) {
        let slots = block.slots;
        let pass = self.pass();
        if is_first {
            block.multipliers.fill([0.0; 8]);
        }
        if block.sweep.is_solid() {
            self.project_solid(
                block.sweep,
                &pass,
                block.multipliers,
                slots.positions,
                slots.predicted,
                slots.velocities,
            );
        } else {
            let multipliers = block.multipliers;
            block
                .sweep
                .project(self.level, &pass, multipliers, slots.positions);
        }
    }

    /// The same for a block of which the particles are shared by many elements: their displacements are added up by
    /// themselves and given to the velocities before they are rounded to positions, where some would get lost.
    fn project_solid(
        &self,
        sweep: &Sweep,
        pass: &Pass<'_>,
        multipliers: &mut [Lanes],
        positions: &mut [[f32; 4]],
        predicted: &mut [[f32; 4]],
        velocities: &mut [[f32; 4]],
    ) {
        for (x, base) in positions.iter_mut().zip(&*predicted) {
            *x = [x[0] - base[0], x[1] - base[1], x[2] - base[2], x[3]];
        }
        let relative = Pass {
            base: predicted,
            ..*pass
        };
        sweep.project(self.level, &relative, multipliers, positions);
        let inverse_h = 1.0 / self.h;
        for ((x, predicted), velocity) in positions.iter_mut().zip(predicted).zip(velocities) {
            let ([dx, dy, dz, inverse_mass], [bx, by, bz, lane]) = (*x, *predicted);
            let [vx, vy, vz, none] = *velocity;
            let gain = [dx, dy, dz].map(|d| d * inverse_h);
            *velocity = [vx + gain[0], vy + gain[1], vz + gain[2], none];
            *x = [bx + dx, by + dy, bz + dz, inverse_mass];
            *predicted = [x[0], x[1], x[2], lane];
        }
    }

    pub(super) fn pass(&self) -> Pass<'static> {
        Pass {
            h: self.h,
            viscosity: self.viscosity,
            seam_step: self.seam_step,
            base: &[],
        }
    }

    /// Moves particles back that are too far from their anchors.
    fn pull_tethers(&self, tethers: &[SlotTether], positions: &mut [[f32; 4]]) {
        if self.anchors.is_empty() {
            return;
        }
        for (position, tether) in positions.iter_mut().zip(tethers) {
            let Some(anchor) = self.anchors.get(tether.anchor as usize) else {
                continue;
            };
            let [x, y, z, inverse_mass] = *position;
            let offset = Vec3::new(x, y, z) - anchor;
            let squared = offset.norm_squared();
            if squared > tether.max_length * tether.max_length && inverse_mass > 0.0 {
                let kept = anchor + offset * (tether.max_length / squared.sqrt());
                *position = [kept.x, kept.y, kept.z, inverse_mass];
            }
        }
    }

    /// Pushes particles out of the colliders that the block may touch.
    fn collide(
        &self,
        positions: &mut [[f32; 4]],
        predicted: &mut [[f32; 4]],
        velocities: &[[f32; 4]],
    ) {
        if self.colliders.is_empty() {
            return;
        }
        let (center, radius) =
            dispatch!(self.level, simd => bounds(simd, self.h, positions, predicted, velocities));
        for obstacle in self.colliders.iter().filter_map(MovingCollider::obstacle) {
            if !obstacle.may_touch(center, radius, self.thickness) {
                continue;
            }
            let particles = positions.iter_mut().zip(predicted.iter_mut());
            for ((position, predicted), velocity) in particles.zip(velocities) {
                let [x, y, z, inverse_mass] = *position;
                if inverse_mass == 0.0 {
                    continue;
                }
                let step = Vec3::new(velocity[0], velocity[1], velocity[2]) * self.h;
                let began = Vec3::new(predicted[0], predicted[1], predicted[2]) - step;
                let Some(contact) = obstacle.resolve(began, Vec3::new(x, y, z), self.thickness)
                else {
                    continue;
                };
                let after = contact.position;
                *position = [after.x, after.y, after.z, inverse_mass];
                predicted[0] += contact.shift.x;
                predicted[1] += contact.shift.y;
                predicted[2] += contact.shift.z;
            }
        }
    }

    /// Takes along the part of the air's speed that goes across the surface, and turns part of it into lift.
    fn blow(&self, air: &[Air], positions: &[[f32; 4]], velocities: &mut [[f32; 4]]) {
        for ((velocity, air), position) in velocities.iter_mut().zip(air).zip(positions) {
            if position[3] == 0.0 {
                continue;
            }
            let relative = self.wind - Vec3::new(velocity[0], velocity[1], velocity[2]);
            let across = relative.dot(&air.normal);
            let mut gain = air.normal * (across * air.drag);
            let squared = relative.norm_squared();
            if air.lift > 0.0 && squared > 0.0 {
                // At right angles to the air, and nothing where the surface faces it or lies along it.
                let aside = air.normal - relative * (across / squared);
                gain += aside * (across * air.lift);
            }
            velocity[0] += gain.x;
            velocity[1] += gain.y;
            velocity[2] += gain.z;
        }
    }
}

/// How the surface lies in the air at a particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Air {
    pub(super) normal: Vec3,
    /// Share of the air's speed across the surface that is taken along in a substep.
    pub(super) drag: f32,
    pub(super) lift: f32,
}

/// v ← v e^(−ch) + gh for particles that are free, x ← x + vh for all.
///
/// * `loads`: accelerations, m/s², none for pinned particles; may be empty.
#[inline(always)]
fn predict<S: Simd>(
    simd: S,
    substep: &Substep<'_>,
    loads: &[[f32; 4]],
    positions: &mut [[f32; 4]],
    predicted: &mut [[f32; 4]],
    velocities: &mut [[f32; 4]],
) {
    let (h, damping) = (substep.h, substep.damping);
    let gravity = substep.gravity * h;
    let gravity = f32x4::from_slice(simd, &[gravity.x, gravity.y, gravity.z, 0.0]);
    let mut loads = loads.iter();
    for ((position, predicted), velocity) in positions.iter_mut().zip(predicted).zip(velocities) {
        let x = f32x4::from_slice(simd, position);
        let mut v = f32x4::from_slice(simd, velocity);
        if position[3] > 0.0 {
            v = v * damping + gravity;
        }
        if let Some(load) = loads.next() {
            v += f32x4::from_slice(simd, load) * h;
        }
        v.store_slice(velocity);
        let x = x + v * h;
        x.store_slice(position);
        x.store_slice(predicted);
    }
}

/// v ← v + (x − x_predicted) / h for particles that are free; one that is not finite goes back and stops. Returns how many
/// were too fast.
///
/// Equal to (x − x_before) / h, but the speed of a particle that nothing touches keeps all its bits, where the difference
/// of two positions would keep only those that a position has left.
#[inline(always)]
fn update<S: Simd>(
    simd: S,
    inverse_h: f32,
    positions: &mut [[f32; 4]],
    predicted: &[[f32; 4]],
    velocities: &mut [[f32; 4]],
) -> u32 {
    let mut slowed = 0;
    for ((position, predicted), velocity) in positions.iter_mut().zip(predicted).zip(velocities) {
        if position[3] == 0.0 {
            *position = *predicted;
            continue;
        }
        let change = f32x4::from_slice(simd, position) - f32x4::from_slice(simd, predicted);
        let v = f32x4::from_slice(simd, velocity) + change * inverse_h;
        v.store_slice(velocity);
        let [vx, vy, vz, _] = *velocity;
        let squared = vx * vx + vy * vy + vz * vz;
        if squared <= MAX_SPEED * MAX_SPEED {
            continue;
        }
        slowed += 1;
        if squared.is_finite() {
            let scale = MAX_SPEED / squared.sqrt();
            *velocity = [vx * scale, vy * scale, vz * scale, 0.0];
        } else {
            *position = *predicted;
            *velocity = [0.0; 4];
        }
    }
    slowed
}

/// A ball about where the particles are and where they were at the beginning of the substep.
#[inline(always)]
fn bounds<S: Simd>(
    simd: S,
    h: f32,
    positions: &[[f32; 4]],
    predicted: &[[f32; 4]],
    velocities: &[[f32; 4]],
) -> (Vec3, f32) {
    let mut low = f32x4::splat(simd, f32::INFINITY);
    let mut high = f32x4::splat(simd, f32::NEG_INFINITY);
    for ((position, predicted), velocity) in positions.iter().zip(predicted).zip(velocities) {
        let now = f32x4::from_slice(simd, position);
        let began = f32x4::from_slice(simd, predicted) - f32x4::from_slice(simd, velocity) * h;
        low = low.min(now.min(began));
        high = high.max(now.max(began));
    }
    let (mut l, mut h) = ([0.0; 4], [0.0; 4]);
    low.store_slice(&mut l);
    high.store_slice(&mut h);
    let (low, high) = (Vec3::new(l[0], l[1], l[2]), Vec3::new(h[0], h[1], h[2]));
    ((low + high) * 0.5, (high - low).norm() * 0.5)
}
