//! What one thread does to one block of particles.

use anim_math::Vec3;
use anim_math::lanes::{Level, Simd, SimdBase, dispatch, f32x4};

use super::distance::{self, Batch};
use crate::collide::MovingCollider;
use crate::model::SlotTether;

/// Nothing goes faster, m/s: about the speed of sound, beyond anything that a body in air does, and far below what
/// would overflow.
const MAX_SPEED: f32 = 340.0;

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
pub(super) struct Substep<'a> {
    pub(super) level: Level,
    pub(super) h: f32,
    /// e^(−ch).
    pub(super) damping: f32,
    pub(super) gravity: Vec3,
    pub(super) wind: Vec3,
    pub(super) has_air: bool,
    pub(super) thickness: f32,
    pub(super) anchors: &'a [Vec3],
    pub(super) colliders: &'a [MovingCollider],
    /// A substep was begun before and must be ended.
    pub(super) ends: bool,
    pub(super) part: Part,
    /// Another one begins.
    pub(super) begins: bool,
}

/// The particles of a block and the links inside it.
pub(super) struct Block<'a> {
    pub(super) positions: &'a mut [[f32; 4]],
    pub(super) predicted: &'a mut [[f32; 4]],
    pub(super) velocities: &'a mut [[f32; 4]],
    pub(super) air: &'a [[f32; 4]],
    pub(super) tethers: &'a [SlotTether],
    pub(super) batches: &'a [Batch],
}

/// What zipping the arrays of all blocks gives for one.
pub(super) type Zipped<'a> = (
    (
        (
            ((&'a mut [[f32; 4]], &'a mut [[f32; 4]]), &'a mut [[f32; 4]]),
            &'a [[f32; 4]],
        ),
        &'a [SlotTether],
    ),
    &'a Vec<Batch>,
);

impl<'a> From<Zipped<'a>> for Block<'a> {
    fn from(zipped: Zipped<'a>) -> Self {
        let (((((positions, predicted), velocities), air), tethers), batches) = zipped;
        Self {
            positions,
            predicted,
            velocities,
            air,
            tethers,
            batches,
        }
    }
}

/// Projects links once.
pub(super) fn project(level: Level, batches: &[Batch], h: f32, positions: &mut [[f32; 4]]) {
    dispatch!(level, simd => distance::project(simd, batches, 1.0 / (h * h), positions));
}

impl Substep<'_> {
    /// Ends the last substep and begins the next.
    pub(super) fn run(&self, block: Block<'_>) {
        let Block {
            positions,
            predicted,
            velocities,
            air,
            tethers,
            batches,
        } = block;
        if self.ends {
            if self.part != Part::Advance {
                self.pull_tethers(tethers, positions);
                self.collide(positions, predicted, velocities);
            }
            if self.part == Part::Settle {
                return;
            }
            dispatch!(self.level, simd => update(simd, 1.0 / self.h, positions, predicted, velocities));
        }
        if self.begins {
            if self.has_air {
                self.blow(air, positions, velocities);
            }
            let gravity = self.gravity * self.h;
            dispatch!(self.level, simd =>
                predict(simd, self.h, self.damping, gravity, positions, predicted, velocities));
            project(self.level, batches, self.h, positions);
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

    /// Takes along the part of the air's speed that goes across the surface.
    fn blow(&self, air: &[[f32; 4]], positions: &[[f32; 4]], velocities: &mut [[f32; 4]]) {
        for ((velocity, air), position) in velocities.iter_mut().zip(air).zip(positions) {
            if position[3] == 0.0 {
                continue;
            }
            let [nx, ny, nz, share] = *air;
            let across = (self.wind.x - velocity[0]) * nx
                + (self.wind.y - velocity[1]) * ny
                + (self.wind.z - velocity[2]) * nz;
            let gain = across * share;
            velocity[0] += nx * gain;
            velocity[1] += ny * gain;
            velocity[2] += nz * gain;
        }
    }
}

/// v ← v e^(−ch) + gh for particles that are free, x ← x + vh for all.
#[inline(always)]
fn predict<S: Simd>(
    simd: S,
    h: f32,
    damping: f32,
    gravity: Vec3,
    positions: &mut [[f32; 4]],
    predicted: &mut [[f32; 4]],
    velocities: &mut [[f32; 4]],
) {
    let gravity = f32x4::from_slice(simd, &[gravity.x, gravity.y, gravity.z, 0.0]);
    for ((position, predicted), velocity) in positions.iter_mut().zip(predicted).zip(velocities) {
        let x = f32x4::from_slice(simd, position);
        let mut v = f32x4::from_slice(simd, velocity);
        if position[3] > 0.0 {
            v = v * damping + gravity;
            v.store_slice(velocity);
        }
        let x = x + v * h;
        x.store_slice(position);
        x.store_slice(predicted);
    }
}

/// v ← v + (x − x_predicted) / h for particles that are free; one that is not finite goes back and stops.
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
) {
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
        if squared.is_finite() {
            let scale = MAX_SPEED / squared.sqrt();
            *velocity = [vx * scale, vy * scale, vz * scale, 0.0];
        } else {
            *position = *predicted;
            *velocity = [0.0; 4];
        }
    }
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
