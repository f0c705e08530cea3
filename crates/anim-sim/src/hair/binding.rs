//! Which guides a strand follows, and how they have turned.

use anim_math::nalgebra::{Quaternion, Vector4};
use anim_math::{Quat, Vec3, quat};

use super::model::{Hair, HairState};

/// Guides that a follower has at most.
const MAX_GUIDES: usize = 4;

/// How far each segment of the guides has turned since the groom: what followers follow.
#[derive(Clone, Debug, PartialEq)]
pub struct GuideTurns {
    /// Of each segment, guide after guide, in the space of the root.
    turns: Vec<Quat>,
}

impl GuideTurns {
    /// Those of the groom: none.
    pub fn new(hair: &Hair) -> Self {
        Self {
            turns: vec![Quat::identity(); hair.segment_count()],
        }
    }

    /// Takes them from a state. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If it or the state was made for other hair.
    pub fn update(&mut self, hair: &Hair, state: &HairState) {
        state.check(hair);
        self.check(hair);
        let segments = state.orientations.iter().zip(&hair.frames);
        for (turn, (now, groom)) in self.turns.iter_mut().zip(segments) {
            *turn = now * groom.inverse();
        }
    }

    pub(super) fn check(&self, hair: &Hair) {
        assert_eq!(
            self.turns.len(),
            hair.segment_count(),
            "the turns are those of other hair"
        );
    }
}

/// The guides of one follower; weights sum to 1, unused ones are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Binding {
    pub(super) guides: [u32; MAX_GUIDES],
    pub(super) weights: [f32; MAX_GUIDES],
}

impl Binding {
    /// The guides nearest to a root, weighted by (1 − d/D)² / d of the distance d, where D is that of the first left out.
    pub(super) fn new(hair: &Hair, root: Vec3, count: usize) -> Self {
        let count = count.clamp(1, MAX_GUIDES);
        // In f64 the square of no distance between two points of f32 overflows.
        let mut nearest = [(f64::INFINITY, u32::MAX); MAX_GUIDES + 1];
        for (guide, strand) in (0..).zip(&hair.strands) {
            let way = hair.points[strand.first_vertex].cast::<f64>() - root.cast();
            let distance = way.norm();
            let place = nearest[..=count].partition_point(|(d, _)| *d <= distance);
            if place <= count {
                nearest[place..=count].rotate_right(1);
                nearest[place] = (distance, guide);
            }
        }
        let (beyond, _) = nearest[count];
        let mut binding = Self::default();
        let (first, guide) = nearest[0];
        if first <= 1e-6 {
            binding.guides[0] = guide;
            binding.weights[0] = 1.0;
            return binding;
        }
        let mut sum = 0.0;
        for (slot, (distance, guide)) in nearest[..count].iter().enumerate() {
            if *guide == u32::MAX {
                break;
            }
            let reach = if beyond.is_finite() {
                (1.0 - distance / beyond).max(0.0)
            } else {
                1.0
            };
            let weight = (reach * reach * first / distance) as f32;
            binding.guides[slot] = *guide;
            binding.weights[slot] = weight;
            sum += weight;
        }
        if sum > 0.0 {
            binding.weights = binding.weights.map(|weight| weight / sum);
        } else {
            // All equally far: any of them.
            binding.guides[0] = guide;
            binding.weights[0] = 1.0;
        }
        binding
    }

    /// The guides as they have turned.
    #[inline]
    pub(super) fn leaders<'a>(&self, hair: &Hair, turns: &'a GuideTurns) -> Leaders<'a> {
        let mut leaders = Leaders {
            turns: [&[]; MAX_GUIDES],
            weights: self.weights,
        };
        let guides = self.guides.iter().zip(self.weights);
        for (slot, (guide, weight)) in leaders.turns.iter_mut().zip(guides) {
            if weight > 0.0 {
                let strand = &hair.strands[*guide as usize];
                let end = strand.first_segment + strand.segments;
                *slot = &turns.turns[strand.first_segment..end];
            }
        }
        leaders
    }

    /// The mean velocity of the guides at a fraction of their length, along the root's axes.
    pub(super) fn velocity(&self, hair: &Hair, state: &HairState, fraction: f32) -> Vec3 {
        let mut sum = Vec3::zeros();
        for (guide, weight) in self.guides.iter().zip(self.weights) {
            let strand = &hair.strands[*guide as usize];
            let place = fraction * strand.segments as f32;
            let index = (place as usize).min(strand.segments - 1);
            let alpha = place - index as f32;
            let [a, b] = [index, index + 1].map(|i| state.velocities[strand.first_vertex + i]);
            sum += (a + (b - a) * alpha) * weight;
        }
        sum
    }
}

/// How the guides of one follower have turned; those without weight are empty.
pub(super) struct Leaders<'a> {
    turns: [&'a [Quat]; MAX_GUIDES],
    weights: [f32; MAX_GUIDES],
}

impl Leaders<'_> {
    /// Their mean rotation since the groom, at the middle of segment `index` of `segments`.
    #[inline]
    pub(super) fn turn(&self, index: usize, segments: usize) -> Quat {
        let mut sum = Vector4::zeros();
        for (turns, weight) in self.turns.iter().zip(self.weights) {
            if turns.is_empty() {
                continue;
            }
            let turned = if turns.len() == segments {
                turns[index]
            } else {
                turn_between(turns, index, segments)
            };
            let sign = if turned.coords.dot(&sum) < 0.0 {
                -weight
            } else {
                weight
            };
            sum += turned.coords * sign;
        }
        // As much as the guides disagree the sum is short; it is zero only if they are opposite.
        let norm = sum.norm();
        if norm > 1e-6 {
            Quat::new_unchecked(Quaternion::from_vector(sum / norm))
        } else {
            Quat::identity()
        }
    }
}

/// The turn of a guide at the middle of segment `index` of `segments`, of which it has another number.
fn turn_between(turns: &[Quat], index: usize, segments: usize) -> Quat {
    let last = turns.len() - 1;
    let place = (index as f32 + 0.5) / segments as f32 * turns.len() as f32 - 0.5;
    let place = place.clamp(0.0, last as f32);
    let before = (place as usize).min(last);
    let after = (before + 1).min(last);
    quat::nlerp(turns[before], turns[after], place - before as f32)
}
