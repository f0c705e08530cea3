//! Moves apart what is nearer than its distance to keep, with Coulomb friction.
//!
//! C(x) = n·Σ wᵢ xᵢ − reach ≥ 0 for the shortest way of a pair, one projection a substep. What a pair had come too near
//! before is given back slowly and without speed, so contact adds no energy; pairs that move apart are left alone.

use super::{Contact, combine, corners};

/// Speed at which what was too near already is pushed apart, m/s.
const RECOVERY: f32 = 0.3;

impl Contact {
    /// Projects the first `count` pairs in order.
    pub(super) fn push_first(&mut self, count: usize, h: f32, predicted: &mut [[f32; 4]]) {
        for pair in &mut self.pairs[..count] {
            let points = corners(&self.points, pair.vertices);
            if pair.features.gap(&points, pair.axis) > pair.reach {
                continue;
            }
            let weights = pair.features.weights(&points);
            let way = combine(&points, &weights);
            let length = way.norm();
            let start = corners(&self.start, pair.vertices);
            let mut normal = if length > 1e-9 {
                way / length
            } else {
                pair.axis
            };
            let mut began = combine(&start, &weights).dot(&normal);
            let mut distance = way.dot(&normal);
            if began < 0.0 && -began > 1e-7 && length <= pair.reach {
                // The way points backwards: they have passed through each other in this substep.
                (normal, began, distance) = (-normal, -began, -distance);
            }
            let depth = pair.reach - distance;
            if depth <= 0.0 {
                pair.axis = normal;
                continue;
            }
            pair.axis = normal;
            let masses = pair.vertices.map(|v| self.points[v as usize][3]);
            let mobility: f32 = (0..4).map(|i| masses[i] * weights[i] * weights[i]).sum();
            if mobility <= 0.0 {
                continue;
            }
            let old = (pair.reach - began).clamp(0.0, depth);
            let given_back = old.min(RECOVERY * h);
            let push = depth - old + given_back;
            let shift = normal * (push / mobility);
            let slide = {
                let moved = combine(&points, &weights) - combine(&start, &weights);
                moved - normal * moved.dot(&normal)
            };
            let (slid, grip) = (slide.norm(), pair.friction * push);
            let rub = if slid <= grip {
                slide / mobility
            } else {
                slide * (grip / (slid * mobility))
            };
            let share = if push > 0.0 { given_back / push } else { 0.0 };
            for i in 0..4 {
                let scale = masses[i] * weights[i];
                if scale == 0.0 {
                    continue;
                }
                let slot = pair.vertices[i] as usize;
                let moved = (shift - rub) * scale;
                let free = shift * (scale * share);
                let (point, predicted) = (&mut self.points[slot], &mut predicted[slot]);
                for axis in 0..3 {
                    point[axis] += moved[axis];
                    predicted[axis] += free[axis];
                }
            }
        }
    }
}
