//! A body cut into blocks, and the orders in which passes go through them.
//!
//! Blocks of one kind share no particle, and elements that cross from one block to the next lie inside a block that begins
//! half a block later. So an even block waits for nothing but the odd ones beside it, and an odd one for the two even ones
//! that it lies between: every order that keeps to that gives the same bits.

use std::ops::Range;

use anim_math::lanes::Lanes;

use super::substep::Air;
use super::sweep::Sweep;
use crate::model::SlotTether;

/// Which blocks: those that begin at multiples of the block size, or those that begin half a block later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Even,
    Odd,
}

/// Some even blocks in a row, with the odd ones between them.
pub(super) struct Blocks<'a> {
    /// Slots in a block; the last may have fewer.
    pub(super) size: usize,
    pub(super) slots: Slots<'a>,
    /// One an even block; empty vectors unless elements are projected several times.
    pub(super) even_multipliers: &'a mut [Vec<Lanes>],
    /// One an odd block.
    pub(super) odd_multipliers: &'a mut [Vec<Lanes>],
    pub(super) even: &'a [Sweep],
    /// The first lies between the first two even ones.
    pub(super) odd: &'a [Sweep],
}

/// What is kept for each of some slots in a row.
pub(super) struct Slots<'a> {
    pub(super) positions: &'a mut [[f32; 4]],
    pub(super) predicted: &'a mut [[f32; 4]],
    pub(super) velocities: &'a mut [[f32; 4]],
    pub(super) air: &'a [Air],
    pub(super) loads: &'a [[f32; 4]],
    pub(super) tethers: &'a [SlotTether],
}

/// One block: its particles and the elements inside it.
pub(super) struct Block<'a> {
    pub(super) slots: Slots<'a>,
    pub(super) multipliers: &'a mut [Lanes],
    pub(super) sweep: &'a Sweep,
}

impl Blocks<'_> {
    /// Does the work of each block, of an odd one after those of the two that it lies between: halves go to different
    /// threads if it `is_parallel`. Allocates nothing.
    ///
    /// Most odd blocks find their particles in the cache, where their neighbours left them.
    pub(super) fn for_each<F>(mut self, is_parallel: bool, work: &F)
    where
        F: Fn(Half, Block<'_>) + Sync,
    {
        match self.even.len() {
            0 => {}
            1 => work(Half::Even, self.block(Half::Even, 0)),
            count => {
                let (a, b) = self.halves(count / 2);
                if is_parallel {
                    rayon::join(|| a.for_each(true, work), || b.for_each(true, work));
                } else {
                    a.for_each(false, work);
                    b.for_each(false, work);
                }
                work(Half::Odd, self.block(Half::Odd, count / 2 - 1));
            }
        }
    }

    /// Does the work of each block for `count` passages in a row, each a block behind the one before it: for large
    /// bodies, whose blocks are read from memory once for all of them.
    ///
    /// An even block needs of the passage before no more than the two odd blocks around it, and an odd one no more than the
    /// two even ones of its own passage.
    pub(super) fn in_waves(mut self, count: usize, work: impl Fn(usize, Half, Block<'_>)) {
        for wave in 0..self.even.len() + count - 1 {
            for passage in 0..count.min(wave + 1) {
                let index = wave - passage;
                if index >= self.even.len() {
                    continue;
                }
                work(passage, Half::Even, self.block(Half::Even, index));
                if index > 0 {
                    work(passage, Half::Odd, self.block(Half::Odd, index - 1));
                }
            }
        }
    }

    fn block(&mut self, half: Half, index: usize) -> Block<'_> {
        let (first, sweeps, multipliers) = match half {
            Half::Even => (0, self.even, &mut *self.even_multipliers),
            Half::Odd => (self.size / 2, self.odd, &mut *self.odd_multipliers),
        };
        let first = first + index * self.size;
        Block {
            slots: self.slots.range(first..first + self.size),
            multipliers: &mut multipliers[index],
            sweep: &sweeps[index],
        }
    }

    /// Those before the even block `middle` and the others; the odd one between them is in neither.
    fn halves(&mut self, middle: usize) -> (Blocks<'_>, Blocks<'_>) {
        let (a, b) = self.slots.split_at(middle * self.size);
        let even_multipliers = self.even_multipliers.split_at_mut(middle);
        let odd_multipliers = self.odd_multipliers.split_at_mut(middle);
        let (even, odd) = (self.even.split_at(middle), self.odd.split_at(middle));
        (
            Blocks {
                size: self.size,
                slots: a,
                even_multipliers: even_multipliers.0,
                odd_multipliers: odd_multipliers.0,
                even: even.0,
                odd: odd.0,
            },
            Blocks {
                size: self.size,
                slots: b,
                even_multipliers: even_multipliers.1,
                odd_multipliers: odd_multipliers.1,
                even: even.1,
                odd: odd.1,
            },
        )
    }
}

impl Slots<'_> {
    fn split_at(&mut self, middle: usize) -> (Slots<'_>, Slots<'_>) {
        let positions = self.positions.split_at_mut(middle);
        let predicted = self.predicted.split_at_mut(middle);
        let velocities = self.velocities.split_at_mut(middle);
        let air = self.air.split_at(middle);
        let loads = self.loads.split_at(middle);
        let tethers = self.tethers.split_at(middle);
        (
            Slots {
                positions: positions.0,
                predicted: predicted.0,
                velocities: velocities.0,
                air: air.0,
                loads: loads.0,
                tethers: tethers.0,
            },
            Slots {
                positions: positions.1,
                predicted: predicted.1,
                velocities: velocities.1,
                air: air.1,
                loads: loads.1,
                tethers: tethers.1,
            },
        )
    }

    /// Those of `range` that are there.
    fn range(&mut self, range: Range<usize>) -> Slots<'_> {
        let end = range.end.min(self.positions.len());
        let range = range.start..end;
        Slots {
            positions: &mut self.positions[range.clone()],
            predicted: &mut self.predicted[range.clone()],
            velocities: &mut self.velocities[range.clone()],
            air: &self.air[range.clone()],
            loads: &self.loads[range.clone()],
            tethers: &self.tethers[range],
        }
    }
}
