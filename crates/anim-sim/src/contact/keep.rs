//! Cuts the motion of a substep so that nothing passes through the surface.
//!
//! Each pair is first asked for a certificate: an axis that keeps it apart at both ends of the substep. A pair without one
//! is first stopped along that axis alone, so that what presses on each other still slides; where that finds no end, it is
//! cut to its time of impact. Its vertices' neighbours are then looked at again, until all is certain. Against a pinned
//! surface that moves, motion is cut relative to it, so that it carries along what it meets, and what is between passes
//! the shift on. Where that finds no end, what is involved goes back to where the substep began, which is always safe among
//! free particles; what a pinned surface closes on then is pinched and recovers later.

use anim_math::Vec3;

use super::{Contact, combine, corners, vector};

/// Rounds in which motion is stopped across what it meets.
const SLIDING_ROUNDS: u32 = 10;
/// The last round in which motion is cut to its time of impact.
const SCALING_ROUNDS: u32 = SLIDING_ROUNDS + 6;
/// The last round in which what meets moves together.
const CARRYING_ROUNDS: u32 = SCALING_ROUNDS + 12;
/// Rounds before everything is stopped.
const MAX_ROUNDS: u32 = 96;

/// What cutting keeps between its rounds.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    /// By slot: the round that last moved it.
    round: Vec<u32>,
    /// By slot: how a pinned surface has shifted it.
    carry: Vec<Option<Vec3>>,
    /// By slot: back where the substep began.
    is_stopped: Vec<bool>,
    /// How often lines have been drawn anew.
    pub(super) draws: u32,
    /// The list could not hold all pairs: only what stands still is safe.
    pub(super) is_overrun: bool,
}

impl Scratch {
    pub(super) fn new(count: usize) -> Self {
        Self {
            round: vec![0; count],
            carry: vec![None; count],
            is_stopped: vec![false; count],
            draws: 0,
            is_overrun: false,
        }
    }
}

impl Contact {
    /// Cuts the motion from `start` to `points`.
    pub(super) fn keep(&mut self, h: f32) {
        self.keeper.round.fill(0);
        self.keeper.carry.fill(None);
        self.keeper.is_stopped.fill(false);
        let mut is_halted = false;
        let mut seen = 0;
        for round in 1..=MAX_ROUNDS {
            if round == MAX_ROUNDS {
                self.stop_all();
                seen = 0;
            }
            let draws = self.keeper.draws;
            let mut count = self.near_count(h, round);
            if self.keeper.is_overrun && !is_halted {
                // The list is not complete: only what stands still is safe.
                is_halted = true;
                self.is_suspect = true;
                self.stop_all();
                count = self.near_count(h, round);
            }
            if self.keeper.draws != draws {
                // Lines that were drawn anew list other pairs.
                seen = 0;
            }
            if !self.cut_first(count, seen, round) {
                break;
            }
            self.measured = None;
            seen = count;
        }
    }

    /// Looks at the first `count` pairs, of the first `seen` only at those that the round before moved; false if all of them
    /// are apart.
    fn cut_first(&mut self, count: usize, seen: usize, round: u32) -> bool {
        let vertex_count = self.vertex_count();
        let mut is_cut = false;
        for index in 0..count {
            let pair = &mut self.pairs[index];
            let is_moved = |v: &u32| {
                let slot = *v as usize;
                slot < vertex_count && self.keeper.round[slot] + 1 >= round
            };
            if index < seen && !pair.vertices.iter().any(is_moved) {
                continue;
            }
            let start = corners(&self.start, pair.vertices);
            let points = corners(&self.points, pair.vertices);
            let features = pair.features;
            if features.separated_throughout(&start, &points, pair.axis, pair.least) {
                continue;
            }
            let weights = features.weights(&start);
            let way = combine(&start, &weights);
            let distance = way.norm();
            if distance < 1e-7 {
                // They touch: no cut keeps them apart.
                continue;
            }
            pair.axis = way / distance;
            let least = pair.least.min(0.999 * distance);
            if features.separated_throughout(&start, &points, pair.axis, least) {
                continue;
            }
            let Some(time) = features.time_of_impact(&start, &points, least) else {
                continue;
            };
            is_cut |= (round <= SLIDING_ROUNDS && self.slide(index, least, round))
                || self.cut(index, time, &weights, round);
        }
        is_cut
    }

    /// Stops a pair's motion along its axis, a little beyond the least distance; false if it cannot be.
    ///
    /// Both sides keep what is theirs of the way between them, so that an axis is left that separates them at both ends.
    fn slide(&mut self, index: usize, least: f32, round: u32) -> bool {
        let pair = self.pairs[index];
        let split = pair.features.split();
        let height = |v: u32, contact: &Self| {
            let slot = v as usize;
            (vector(contact.points[slot]) - vector(contact.start[pair.vertices[0] as usize]))
                .dot(&pair.axis)
        };
        // The vertex of each side that is nearest to the other, and whether that can be moved.
        let (mut above, mut below) = ((f32::INFINITY, 0.0), (f32::NEG_INFINITY, 0.0));
        for (place, v) in pair.vertices.iter().enumerate() {
            let (height, mobility) = (height(*v, self), self.points[*v as usize][3]);
            if place < split && height < above.0 {
                above = (height, mobility);
            } else if place >= split && height > below.0 {
                below = (height, mobility);
            }
        }
        let total = above.1 + below.1;
        let missing = 1.05 * least + 1e-6 - (above.0 - below.0);
        if !(total > 0.0 && missing > 0.0) {
            return false;
        }
        let lowest = above.0 + missing * (above.1 / total);
        let highest = below.0 - missing * (below.1 / total);
        for (place, v) in pair.vertices.into_iter().enumerate() {
            let slot = v as usize;
            let height = height(v, self);
            let shift = if place < split {
                (lowest - height).max(0.0)
            } else {
                (highest - height).min(0.0)
            };
            if shift == 0.0 || self.points[slot][3] == 0.0 {
                continue;
            }
            for (coordinate, axis) in self.points[slot].iter_mut().zip(pair.axis.iter()) {
                *coordinate += axis * shift;
            }
            self.keeper.round[slot] = round;
            self.cut[slot] = true;
        }
        true
    }

    /// Cuts a pair's motion to `time`; false if it cannot be.
    fn cut(&mut self, index: usize, time: f32, weights: &[f32; 4], round: u32) -> bool {
        let pair = self.pairs[index];
        let is_free = |v: u32, points: &[[f32; 4]]| points[v as usize][3] > 0.0;
        let is_held = pair.vertices.iter().any(|v| !is_free(*v, &self.points));
        if round > CARRYING_ROUNDS {
            return self.stop(index, is_held, weights, round);
        }
        let frame = self.frame(index, is_held, weights);
        let time = if round > SCALING_ROUNDS { 0.0 } else { time };
        let mut is_any = false;
        for v in pair.vertices {
            if !is_free(v, &self.points) || self.keeper.is_stopped[v as usize] {
                continue;
            }
            let carry = frame.unwrap_or_default();
            self.put(v, time, carry, round);
            self.keeper.carry[v as usize] = frame;
            is_any = true;
        }
        if !is_any {
            self.pinch(index);
        }
        is_any
    }

    /// The shift that a pair's motion is relative to: that of its pinned side, or what others have passed on.
    fn frame(&self, index: usize, is_held: bool, weights: &[f32; 4]) -> Option<Vec3> {
        let pair = &self.pairs[index];
        let (mut sum, mut total) = (Vec3::zeros(), 0.0);
        for (v, weight) in pair.vertices.iter().zip(weights) {
            let slot = *v as usize;
            let weight = weight.abs() + 1e-6;
            if is_held {
                if self.points[slot][3] == 0.0 {
                    sum += (vector(self.points[slot]) - vector(self.start[slot])) * weight;
                    total += weight;
                }
            } else if let Some(carry) = self.keeper.carry[slot] {
                sum += carry * weight;
                total += weight;
            }
        }
        (total > 0.0).then(|| sum / total)
    }

    /// Puts a vertex at the fraction `time` of its motion relative to a shift.
    fn put(&mut self, v: u32, time: f32, carry: Vec3, round: u32) {
        let slot = v as usize;
        let from = vector(self.start[slot]);
        let motion = vector(self.points[slot]) - from - carry;
        let to = from + carry + motion * time;
        let mass = self.points[slot][3];
        self.points[slot] = [to.x, to.y, to.z, mass];
        self.keeper.round[slot] = round;
        self.cut[slot] = true;
    }

    /// Sends the free vertices of a pair back to where the substep began; beside a pinned one, first lets it carry them.
    fn stop(&mut self, index: usize, is_held: bool, weights: &[f32; 4], round: u32) -> bool {
        let pair = self.pairs[index];
        let frame = if is_held && round < MAX_ROUNDS / 2 {
            self.frame(index, true, weights)
        } else {
            None
        };
        let mut is_any = false;
        for v in pair.vertices {
            let slot = v as usize;
            if self.points[slot][3] == 0.0 || self.keeper.is_stopped[slot] {
                continue;
            }
            self.put(v, 0.0, frame.unwrap_or_default(), round);
            self.keeper.carry[slot] = frame;
            self.keeper.is_stopped[slot] = frame.is_none();
            is_any = true;
        }
        if !is_any {
            self.pinch(index);
        }
        is_any
    }

    /// Sends every free vertex back.
    fn stop_all(&mut self) {
        for slot in 0..self.vertex_count() {
            if self.points[slot][3] > 0.0 {
                self.cut[slot] |= self.points[slot] != self.start[slot];
                self.points[slot] = self.start[slot];
                self.keeper.is_stopped[slot] = true;
            }
        }
    }

    /// Reports the free vertices of a pair that nothing keeps apart.
    fn pinch(&mut self, index: usize) {
        for v in self.pairs[index].vertices {
            if self.points[v as usize][3] > 0.0 {
                self.pinched[v as usize] = true;
            }
        }
    }
}
