//! One instance of an effect: arrays of particles, oldest id first among those of one emission.

use anim_math::Vec3;

use crate::Effect;
use crate::emit::Emitter;

/// The living particles, array by array; all have the same length.
///
/// ```
/// use anim_particles::{Effect, EffectSpec, Emission, Particles};
///
/// let effect = Effect::new(EffectSpec::default())?;
/// let mut particles = Particles::new(&effect);
/// effect.step(0.1, &[Emission { burst: 5, ..Emission::default() }], &[], &mut particles);
/// assert_eq!(particles.ids, [0, 1, 2, 3, 4]);
/// # Ok::<(), anim_particles::ParticleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Particles {
    /// Where they are, world space, metres.
    pub positions: Vec<Vec3>,
    /// Where they were at the beginning of the last step, or were born in it; for collisions and motion blur.
    pub previous: Vec<Vec3>,
    /// m/s.
    pub velocities: Vec<Vec3>,
    /// Time since birth, s.
    pub ages: Vec<f32>,
    /// The age at which each dies, s.
    pub lifetimes: Vec<f32>,
    /// How many were born before it; never used twice.
    pub ids: Vec<u64>,
    pub(crate) emitters: Vec<Emitter>,
    pub(crate) next_id: u64,
    /// Scratch: indices of those that die in a step.
    dead: Vec<usize>,
}

impl Particles {
    /// None yet, and room for all that the effect may have.
    pub fn new(effect: &Effect) -> Self {
        let capacity = effect.spec().capacity as usize;
        Self {
            positions: Vec::with_capacity(capacity),
            previous: Vec::with_capacity(capacity),
            velocities: Vec::with_capacity(capacity),
            ages: Vec::with_capacity(capacity),
            lifetimes: Vec::with_capacity(capacity),
            ids: Vec::with_capacity(capacity),
            emitters: Vec::new(),
            next_id: 0,
            dead: Vec::with_capacity(capacity),
        }
    }

    /// How many live.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// True if none lives.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// Kills all; ids go on.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.previous.clear();
        self.velocities.clear();
        self.ages.clear();
        self.lifetimes.clear();
        self.ids.clear();
    }

    /// Forgets where the emitters were, so that one that jumps leaves no trail across the world.
    pub fn forget_emitters(&mut self) {
        for emitter in &mut self.emitters {
            emitter.position = None;
        }
    }

    /// The corners of the smallest box that holds all positions, or `None` if none lives.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        let fold = |(low, high): (Vec3, Vec3), p: &Vec3| (low.inf(p), high.sup(p));
        Some(self.positions.iter().fold((first, first), fold))
    }

    /// Removes those that have reached their lifetimes; the others keep their order. Returns how many.
    pub(crate) fn retire(&mut self) -> u32 {
        self.dead.clear();
        let lives = self.ages.iter().zip(&self.lifetimes).enumerate();
        self.dead
            .extend(lives.filter_map(|(i, (age, lifetime))| (age >= lifetime).then_some(i)));
        remove(&mut self.positions, &self.dead);
        remove(&mut self.previous, &self.dead);
        remove(&mut self.velocities, &self.dead);
        remove(&mut self.ages, &self.dead);
        remove(&mut self.lifetimes, &self.dead);
        remove(&mut self.ids, &self.dead);
        self.dead.len() as u32
    }

    pub(crate) fn check(&self) {
        let count = self.len();
        let equal = self.previous.len() == count
            && self.velocities.len() == count
            && self.ages.len() == count
            && self.lifetimes.len() == count
            && self.ids.len() == count;
        assert!(equal, "the arrays of the particles differ in length");
    }
}

/// Removes the elements at ascending `indices`, moving what lies between them as whole runs.
fn remove<T: Copy>(values: &mut Vec<T>, indices: &[usize]) {
    let Some(&first) = indices.first() else {
        return;
    };
    let ends = indices[1..].iter().copied().chain([values.len()]);
    let mut kept = first;
    for (gap, end) in indices.iter().zip(ends) {
        values.copy_within(gap + 1..end, kept);
        kept += end - (gap + 1);
    }
    values.truncate(kept);
}
